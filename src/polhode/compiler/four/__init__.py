"""Four numbers at once: one SIMD register when compiled, the class ``Four`` in plain Python.

Functions written for floats run on four numbers unchanged: + - * / and powers, comparisons with
``mask`` and ``blend``, ``fma``, ``rint``, ``abs`` and everything in ``math``; a plain number is
broadcast to all lanes.  Each lane does the IEEE operations of a single float, so four columns,
stages or bodies side by side have the bits that each has alone.  What has no meaning for four
numbers at once (``if x > 0``, ``int(x)``) is refused by the compiler and raises ``TypeError`` in
plain Python.  ``at_once(function, …)`` is for user functions: it falls back to one lane after the
other where the compiler refuses, and ``takes_fours`` says whether it does not.

``pack`` and ``unpack`` convert, ``swapped`` permutes lanes, ``where`` selects, ``each`` maps a
function over tuples of any length, and ``table(rows)`` is a function of an index that reads
constants.  ``if_it_can`` chooses between two functions.  All run in plain Python as they are;
functions written for floats need ``ON_FOUR`` bound there, because
``rint``, ``mask``, ``blend``, ``exponent``, ``power_of_two``, ``min``, ``max``, ``float`` and the
functions of ``math`` take one number only.

Bodies side by side are as many as a register holds, ``BODIES``: four, or eight with AVX-512.
``column`` and ``columns`` read one of them, or all, from a strided array; ``put_column`` and
``put_columns`` write them; ``of_bodies`` broadcasts a number to their lanes.

``plain`` is the plain Python form.  The other modules are the compiled forms: ``kinds`` has the
types, ``machine``, ``calls`` and ``arrays`` the functions, ``operators`` the operators.
"""

from polhode.compiler import machine as scalar
from polhode.compiler.four import arrays, calls, machine, operators
from polhode.compiler.four.arrays import table
from polhode.compiler.four.plain import (
    BODIES,
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
    of_bodies,
    on_aligned_stack,
    pack,
    put_column,
    put_columns,
    swapped,
    takes_fours,
    total,
    unpack,
    where,
)
from polhode.compiler.tree import PRIMITIVES

__all__ = [
    "BODIES",
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
    "of_bodies",
    "on_aligned_stack",
    "operators",
    "pack",
    "put_column",
    "put_columns",
    "swapped",
    "table",
    "takes_fours",
    "total",
    "unpack",
    "where",
]

FORMS = {
    machine: (
        *(scalar.fma, scalar.rint, scalar.mask, scalar.blend, scalar.finite),
        *(scalar.exponent, scalar.power_of_two),
        *(pack, unpack, swapped, where, of_bodies),
    ),
    calls: (each, at_once, takes_fours, on_aligned_stack, if_it_can),
    arrays: (column, put_column, columns, put_columns, combined_fours),
}
PRIMITIVES.update(
    {function: getattr(home, function.__name__) for home, of in FORMS.items() for function in of}
)
