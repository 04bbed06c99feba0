"""Bits: plain functions that round like compiled code, lanes one by one, comparisons."""

from polhode.compiler.four import ON_FOUR, each, lanewise, pack, unpack
from polhode.compiler.machine import fma
from polhode.compiler.tree import PRIMITIVES, bind, copied, flat
from support.precise import exact_fma

EXACT = ON_FOUR | {fma: lanewise(exact_fma)}  # four-wide numbers in plain Python


def bits_of(result):
    """Every number of a nesting, floats to the last bit."""
    return [x.hex() if isinstance(x, float) else x for x in flat(result)]


def exactly(function):
    """A copy of the tree in which every ``fma``, also that inside a primitive, rounds once."""

    def change(value):
        return exact_fma if value is fma else value

    plain = {primitive: copied(primitive, change, always=True) for primitive in PRIMITIVES}
    return bind(function, plain | {fma: exact_fma})


def lane_by_lane(function, fours, shared):
    """``at_once``, with no chance of being SIMD."""
    (t, y), (body, params) = fours, shared
    ts, ys = unpack(t), each(unpack, (y,))
    a = function(ts[0], each(lambda x: x[0], (ys,)), body, params)
    b = function(ts[1], each(lambda x: x[1], (ys,)), body, params)
    c = function(ts[2], each(lambda x: x[2], (ys,)), body, params)
    d = function(ts[3], each(lambda x: x[3], (ys,)), body, params)
    return each(pack, (a, b, c, d))
