"""The compiler's types for numbers and conditions in lanes, and the decorator of primitives."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from llvmlite import ir
from numba import types as nt
from numba.core import cgutils
from numba.core.imputils import lower_cast
from numba.extending import intrinsic, models, register_model

from polhode.compiler.four.plain import BODIES, WIDTH
from polhode.compiler.machine import F8, I32, I64, extensible

FILES = sorted(Path(__file__).parent.glob("*.py"))
SALT = hashlib.sha256(b"".join(file.read_bytes() for file in FILES)).hexdigest()[:16]


class LanesType(nt.Type):
    """Numbers in the lanes of a register: four, or eight."""

    def __init__(self, width: int):
        self.width = width
        self.vector = ir.VectorType(F8, width)
        self.whole = ir.VectorType(I64, width)  # the same bits as integers
        super().__init__(name=f"Lanes{width}")

    def can_convert_from(self, typingctx, other):
        return typingctx.can_convert(other, nt.float64) and None

    def unify(self, typingctx, other):
        """Unify a variable that is a number in one branch and four in another: it is four."""
        return self if isinstance(other, nt.Number) else None


class FlagsType(nt.Type):
    """A condition in each lane."""

    def __init__(self, width: int):
        self.width = width
        super().__init__(name=f"Flags{width}")


FOUR = LanesType(WIDTH)
SEVERAL = {width: LanesType(width) for width in (WIDTH, BODIES)}
FLAGS = {width: FlagsType(width) for width in SEVERAL}
V = FOUR.vector


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    """In registers a vector; in lists floats, as their memory is not aligned for vectors."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind, kind.vector)

    def get_data_type(self):
        return ir.ArrayType(F8, self.fe_type.width)

    def as_data(self, builder, value):
        lanes = [builder.extract_element(value, I32(i)) for i in range(self.fe_type.width)]
        return cgutils.pack_array(builder, lanes, F8)

    def from_data(self, builder, value):
        count = range(self.fe_type.width)
        return in_lanes(builder, [builder.extract_value(value, i) for i in count])


@register_model(FlagsType)
class _FlagsModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.VectorType(ir.IntType(1), kind.width))


def in_lanes(builder, numbers):
    """Put scalars into the lanes of a vector."""
    vector = ir.Constant(ir.VectorType(F8, len(numbers)), ir.Undefined)
    for lane, x in enumerate(numbers):
        vector = builder.insert_element(vector, x, I32(lane))
    return vector


def spread(builder, x, width: int = WIDTH):
    """Broadcast a scalar to all lanes."""
    kind = ir.VectorType(x.type, width)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), x, I32(0))
    places = ir.Constant(ir.VectorType(I32, width), [0] * width)
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), places)


def wide(builder, x, width: int = WIDTH):
    return x if isinstance(x.type, ir.VectorType) else spread(builder, x, width)


def lanes_among(args) -> LanesType | None:
    """Return the type of the numbers in lanes among arguments, None if there are none."""
    return next((a for a in args if isinstance(a, LanesType)), None)


def common(args) -> LanesType | None:
    """Return the type of the numbers in lanes if all arguments are numbers and one is in lanes."""
    numbers = LanesType, nt.Float, nt.Integer
    return lanes_among(args) if all(isinstance(a, numbers) for a in args) else None


def as_given(args) -> list:
    return [a if isinstance(a, LanesType) else nt.float64 for a in args]


@lower_cast(nt.Number, LanesType)
def _cast(context, builder, from_type, to_type, x):
    return spread(builder, context.cast(builder, x, from_type, nt.float64), to_type.width)


def declared(builder, name: str, count: int, vector: ir.VectorType = V):
    kind = ir.FunctionType(vector, [vector] * count)
    name = f"llvm.{name}.v{vector.count}f64"
    return cgutils.get_or_insert_function(builder.module, kind, name)


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
