"""Compiled forms of the functions that read and write bodies in arrays, their sums, and tables."""

import hashlib
import itertools
from collections.abc import Callable, Sequence

from llvmlite import ir
from numba import types as nt
from numba.core import cgutils

from polhode.compiler.four.kinds import (
    FOUR,
    SEVERAL,
    V,
    declared,
    lanes_among,
    primitive,
    with_numbers,
)
from polhode.compiler.four.plain import BODIES, Four
from polhode.compiler.machine import F8, I64
from polhode.compiler.tree import PRIMITIVES


def _places(context, builder, sig, args):
    """Yield the addresses of ``array[place]``, ``array[place + stride]``, …."""
    data = context.make_array(sig.args[0])(context, builder, args[0]).data
    for i in itertools.count():
        place = builder.add(args[1], builder.mul(args[2], I64(i)))
        yield builder.gep(data, [place], inbounds=True)


def _wide_places(context, builder, sig, args):
    for place in _places(context, builder, sig, args):
        yield builder.bitcast(place, SEVERAL[BODIES].vector.as_pointer())


def _reader(name: str, number: nt.Type, addresses: Callable) -> Callable:
    @primitive(name)
    def reader(_, array, place, stride, pattern):
        kind = with_numbers(pattern, number)

        def lower(context, builder, sig, args):
            places = addresses(context, builder, sig, args)

            def read(kind):
                if isinstance(kind, nt.BaseTuple):
                    return context.make_tuple(builder, kind, [read(k) for k in kind])
                loaded = builder.load(next(places))
                loaded.align = 8
                return loaded

            return read(kind)

        return kind(array, nt.int64, nt.int64, pattern), lower

    return reader


def _writer(name: str, number: nt.Type, addresses: Callable) -> Callable:
    @primitive(name)
    def writer(_, array, place, stride, value):
        def lower(context, builder, sig, args):
            places = addresses(context, builder, sig, args)

            def write(kind, value):
                if isinstance(kind, nt.BaseTuple):
                    for i, k in enumerate(kind):
                        write(k, builder.extract_value(value, i))
                    return
                stored = builder.store(context.cast(builder, value, kind, number), next(places))
                stored.align = 8

            write(value, args[3])
            return context.get_dummy_value()

        return nt.void(array, nt.int64, nt.int64, value), lower

    return writer


column = _reader("column", nt.float64, _places)
put_column = _writer("put_column", nt.float64, _places)
columns = _reader("columns", SEVERAL[BODIES], _wide_places)
put_columns = _writer("put_columns", SEVERAL[BODIES], _wide_places)


@primitive("combined_fours")
def combined_fours(_, weights, rows):
    several = lanes_among([*weights, *(kind for row in rows for kind in row)]) or FOUR

    def lower(context, builder, sig, args):
        part = builder.extract_value

        def wide(kind, value):
            return context.cast(builder, value, kind, several)

        factors = [wide(kind, part(args[0], j)) for j, kind in enumerate(weights)]
        sums = []
        for i in range(len(rows[0])):
            terms = [wide(row[i], part(part(args[1], j), i)) for j, row in enumerate(rows)]
            done = builder.fmul(factors[0], terms[0])
            for factor, term in zip(factors[1:], terms[1:], strict=True):
                fused = declared(builder, "fma", 3, several.vector)
                done = builder.call(fused, [factor, term, done])
            sums.append(done)
        return context.make_tuple(builder, sig.return_type, sums)

    return nt.UniTuple(several, len(rows[0]))(weights, rows), lower


def table(rows: Sequence) -> Callable:
    """Make the function i -> rows[i], one load; rows of four numbers become a ``Four``."""
    rows = tuple(rows)
    kind, memory_kind = {tuple: (FOUR, V), int: (nt.int64, I64)}.get(
        type(rows[0]), (nt.float64, F8)
    )
    name = f"table_{hashlib.sha256(repr(rows).encode()).hexdigest()[:16]}"

    def looked_up(i):
        row = rows[i]
        return Four(*row) if isinstance(row, tuple) else row

    @primitive(name)
    def machine(_, i):
        def lower(context, builder, sig, args):
            constants = [ir.Constant(memory_kind, _listed(row)) for row in rows]
            values = ir.Constant(ir.ArrayType(memory_kind, len(rows)), constants)
            memory = cgutils.global_constant(builder, name, values)
            return builder.load(builder.gep(memory, [I64(0), args[0]], inbounds=True))

        return kind(nt.int64), lower

    PRIMITIVES[looked_up] = machine
    return looked_up


def _listed(row):
    return list(map(float, row)) if isinstance(row, tuple) else row
