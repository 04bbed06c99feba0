"""Dual numbers: values with derivatives along directions, by the rules of differentiation.

A tree of functions written for floats runs on duals unchanged, gives values of the same bits, and
carries the derivatives along.  Conditions look at values alone.  ``value``, ``stripped``,
``with_values``, ``lifted`` and ``largest_change`` take numbers apart and put them together;
``chain`` makes a number whose slope is known, for functions whose source should not be
differentiated (``kernels/rules.py``).

In plain Python most functions take duals as they are; those that are in ``math``, or ask for a
float, need ``ON_DUAL`` bound.  ``plain`` and ``functions`` are the plain Python form.  The other
modules are the compiled form, imported once they are needed: ``kinds`` has the types, ``machine``
the functions, ``operators`` the operators, ``boxes`` the way from plain Python and back.
"""

from polhode.compiler import four  # noqa: F401, whose forms of the primitives are extended
from polhode.compiler.dual.functions import ON_DUAL, ratio
from polhode.compiler.dual.plain import (
    SALT,
    Dual,
    Single,
    along,
    bare,
    chain,
    chained,
    differentiated,
    finite_tangents,
    largest_change,
    level,
    lifted,
    slopes_of,
    stripped,
    value,
    value_beside,
    with_values,
)
from polhode.compiler.tree import PRIMITIVES, Later

__all__ = [
    "ON_DUAL",
    "Dual",
    "Single",
    "along",
    "bare",
    "chain",
    "chained",
    "differentiated",
    "finite_tangents",
    "largest_change",
    "level",
    "lifted",
    "slopes_of",
    "stripped",
    "value",
    "with_values",
]

PRIMITIVES.update(
    {
        function: Later(f"{function.__name__}_{SALT}", "polhode.compiler.dual.operators")
        for function in (
            *(value, value_beside, bare, stripped, with_values, lifted, slopes_of, along),
            *(chain, chained, ratio, largest_change, finite_tangents),
        )
    }
)
