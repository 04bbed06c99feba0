"""Four numbers at once: one SIMD register when compiled, the class ``Four`` in plain Python.

Functions written for floats run on them unchanged: + - * / and powers, comparisons with ``mask``
and ``blend``, ``fma``, ``rint``, ``abs`` and everything in ``math``; a plain number is the same in
all lanes.  Each lane does the IEEE operations of a single float, so that four columns, stages or
bodies side by side have the bits that each has alone.  What cannot be said of four numbers at once
(``if x > 0``, ``int(x)``) is refused by the compiler, and raises ``TypeError`` in plain Python.
``at_once(function, …)`` is for functions that are somebody else's: what is refused is done lane by
lane then.

``pack`` and ``unpack`` go in and out, ``swapped`` exchanges lanes, ``where`` chooses, ``each`` maps
a function over tuples of any length, and ``table(rows)`` is a function of an index that reads
constants.  ``column`` and ``columns`` read a body, or four neighbours, of which an array holds one
number every so many places; ``put_column`` and ``put_columns`` write them; ``if_it_can`` has two
functions to choose from.  All run in plain Python as they are; functions written for floats need
``ON_FOUR`` bound in there, for ``rint``, ``mask``, ``blend``, ``min``, ``max``, ``float`` and
functions of ``math`` know one number only.

``plain`` has all this in plain Python.  The rest are the compiled forms, together with ``_compile``
and ``_simd`` what knows the compiler (Numba): ``kinds`` the types, ``machine``, ``calls`` and
``arrays`` the functions, ``operators`` what is written with signs.
"""

from polhode.compiler import machine as _compile
from polhode.compiler.four import arrays, calls, machine, operators
from polhode.compiler.four.arrays import table
from polhode.compiler.four.plain import (
    LANES,
    ON_FOUR,
    WIDTH,
    Four,
    at_once,
    column,
    columns,
    combined_fours,
    each,
    everywhere,
    if_it_can,
    lanewise,
    on_aligned_stack,
    pack,
    put_column,
    put_columns,
    swapped,
    total,
    unpack,
    where,
)
from polhode.compiler.tree import PRIMITIVES

__all__ = [
    "LANES",
    "ON_FOUR",
    "WIDTH",
    "Four",
    "at_once",
    "column",
    "columns",
    "combined_fours",
    "each",
    "everywhere",
    "if_it_can",
    "lanewise",
    "on_aligned_stack",
    "operators",
    "pack",
    "put_column",
    "put_columns",
    "swapped",
    "table",
    "total",
    "unpack",
    "where",
]

FORMS = {
    machine: (
        *(_compile.fma, _compile.rint, _compile.mask, _compile.blend, _compile.finite),
        *(pack, unpack, swapped, where),
    ),
    calls: (each, at_once, on_aligned_stack, if_it_can),
    arrays: (column, put_column, columns, put_columns, combined_fours),
}
PRIMITIVES.update(
    {function: getattr(home, function.__name__) for home, of in FORMS.items() for function in of}
)
