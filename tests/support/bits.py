"""Bits: plain functions that round like compiled code, lanes one by one, comparisons."""

import ctypes
from contextlib import contextmanager
from functools import cache

import pytest

from polhode.compiler.four import ON_FOUR, each, lanewise, pack, unpack
from polhode.compiler.machine import CompiledOrPlain, fma
from polhode.compiler.tree import PRIMITIVES, bind, copied, flat
from support.precise import exact_fma

EXACT = ON_FOUR | {fma: lanewise(exact_fma)}  # four-wide numbers in plain Python


def bits_of(result):
    """Every number of a nesting, floats to the last bit."""
    return [x.hex() if isinstance(x, float) else x for x in flat(result)]


def exactly(function, fused=exact_fma):
    """A copy of the tree in which every ``fma``, also that inside a primitive, rounds once."""

    def change(value):
        return fused if value is fma else value

    plain = {primitive: copied(primitive, change, always=True) for primitive in PRIMITIVES}
    return bind(getattr(function, "function", function), plain | {fma: fused})


_libm = ctypes.CDLL(None).fma
_libm.restype, _libm.argtypes = ctypes.c_double, [ctypes.c_double] * 3


def quick_fma(a, b, c):
    """``exact_fma`` by the C library; of other numbers than floats as it stands there."""
    try:
        return _libm(a, b, c)
    except ctypes.ArgumentError:
        return a * b + c


@contextmanager
def plain_bits():
    """Run loops in plain Python, with the bits of machine code: few steps, and nothing compiled."""

    @cache
    def plain(loop):
        return exactly(loop.function, quick_fma)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CompiledOrPlain, "__call__", lambda self, *args: plain(self)(*args))
        yield


def lane_by_lane(function, fours, shared):
    """``at_once``, with no chance of being SIMD."""
    (t, y), (body, params) = fours, shared
    ts, ys = unpack(t), each(unpack, (y,))
    a = function(ts[0], each(lambda x: x[0], (ys,)), body, params)
    b = function(ts[1], each(lambda x: x[1], (ys,)), body, params)
    c = function(ts[2], each(lambda x: x[2], (ys,)), body, params)
    d = function(ts[3], each(lambda x: x[3], (ys,)), body, params)
    return each(pack, (a, b, c, d))
