"""The compiler's types for four numbers and four conditions, and the decorator of primitives."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from llvmlite import ir
from numba import types as nt
from numba.core import cgutils
from numba.core.imputils import lower_cast
from numba.extending import intrinsic, models, register_model

from polhode.compiler.four.plain import WIDTH
from polhode.compiler.machine import F8, I32, I64, extensible

FILES = sorted(Path(__file__).parent.glob("*.py"))
SALT = hashlib.sha256(b"".join(file.read_bytes() for file in FILES)).hexdigest()[:16]


class FourType(nt.Type):
    def __init__(self):
        super().__init__(name="Four")

    def can_convert_from(self, typingctx, other):
        return typingctx.can_convert(other, nt.float64) and None

    def unify(self, typingctx, other):
        """Unify a variable that is a number in one branch and four in another: it is four."""
        return self if isinstance(other, nt.Number) else None


class FlagsType(nt.Type):
    """Four conditions."""

    def __init__(self):
        super().__init__(name="FourFlags")


FOUR, FLAGS = FourType(), FlagsType()
V, B = ir.VectorType(F8, WIDTH), ir.VectorType(ir.IntType(1), WIDTH)
VI = ir.VectorType(I64, WIDTH)


@register_model(FourType)
class _FourModel(models.PrimitiveModel):
    """In registers a vector; in lists four floats, as their memory is not aligned for vectors."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind, V)

    def get_data_type(self):
        return ir.ArrayType(F8, WIDTH)

    def as_data(self, builder, value):
        lanes = [builder.extract_element(value, I32(i)) for i in range(WIDTH)]
        return cgutils.pack_array(builder, lanes, F8)

    def from_data(self, builder, value):
        vector = ir.Constant(V, ir.Undefined)
        for i in range(WIDTH):
            lane = builder.extract_value(value, i)
            vector = builder.insert_element(vector, lane, I32(i))
        return vector


@register_model(FlagsType)
class _FlagsModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, B)


def spread(builder, x):
    """Broadcast a scalar to all lanes."""
    kind = ir.VectorType(x.type, WIDTH)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), x, I32(0))
    places = ir.Constant(ir.VectorType(I32, WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), places)


def wide(builder, x):
    return x if isinstance(x.type, ir.VectorType) else spread(builder, x)


def fours(args) -> bool:
    """Whether all arguments are numbers, and at least one is four."""
    numbers = FourType, nt.Float, nt.Integer
    return any(isinstance(a, FourType) for a in args) and all(isinstance(a, numbers) for a in args)


def as_given(args) -> list:
    return [a if isinstance(a, FourType) else nt.float64 for a in args]


@lower_cast(nt.Number, FourType)
def _cast(context, builder, from_type, to_type, x):
    return spread(builder, context.cast(builder, x, from_type, nt.float64))


def declared(builder, name: str, count: int):
    kind = ir.FunctionType(V, [V] * count)
    return cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{WIDTH}f64")


def with_numbers(kind, number: nt.Type):
    """Replace the type of the numbers in a nested tuple type."""
    if isinstance(kind, nt.BaseTuple):
        return nt.BaseTuple.from_types([with_numbers(k, number) for k in kind])
    return number


def primitive(name: str) -> Callable:
    """Make an intrinsic whose name tells which version of these files it comes from.

    Other numbers can be added to it, see ``extensible``.
    """

    def made(function):
        function.__name__ = f"{name}_{SALT}"
        return intrinsic(extensible(name, function))

    return made
