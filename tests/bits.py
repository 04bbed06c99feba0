"""Plain functions that round as compiled code does, primitives included."""

from polhode._compile import fma
from polhode._tree import PRIMITIVES, bind, copied
from precise import exact_fma


def exactly(function):
    """A copy of the tree in which every ``fma``, also that inside a primitive, rounds once."""

    def change(value):
        return exact_fma if value is fma else value

    plain = {primitive: copied(primitive, change, always=True) for primitive in PRIMITIVES}
    return bind(function, plain | {fma: exact_fma})
