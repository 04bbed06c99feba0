"""The compiler's type of dual numbers, and dual numbers whose parts are values of machine code.

The rules of differentiation are those of ``plain``: compiled code is what they write down when they
are called with ``Emitted`` numbers, so that both have the same bits.
"""

from collections.abc import Callable, Iterator
from typing import Any

from llvmlite import ir
from numba import types as nt
from numba.core import cgutils
from numba.core.imputils import lower_cast, lower_constant
from numba.extending import models, register_model

from polhode.compiler.dual.plain import SALT, Dual, bare, level, lifted, product_sum, swapped
from polhode.compiler.four.kinds import SEVERAL, LanesType, declared, wide
from polhode.compiler.four.plain import BODIES, WIDTH
from polhode.compiler.machine import F8, constant
from polhode.compiler.wide import WideType


class DualType(WideType):
    """A value and ``count`` parts with its directions: numbers in lanes, or single numbers.

    Those of a number that is made of duals, its ``base``, are single.
    """

    def __init__(self, count: int, part: nt.Type = nt.float64, base: nt.Type = nt.float64):
        self.count, self.base = count, base
        self.part = base if is_dual(base) else part
        self.level: int = 1 + kind_level(base)
        super().__init__(name=f"Dual_{SALT}({count} of {part}, {base})")

    def unify(self, typingctx, other):
        """Unify with a number, or with a dual of fewer levels, in another branch."""
        return self if is_number(other) and kind_level(other) < self.level else None

    @property
    def members(self) -> list:
        """List the types of the value and the directions."""
        return [self.base, *[self.part] * self.count]

    def part_kinds(self) -> list:
        if is_dual(self.base):
            return self.base.part_kinds() * (1 + self.count)
        part = self.part.vector if isinstance(self.part, LanesType) else F8
        return [F8, *[part] * self.count]

    def taken_apart(self, builder, value) -> list:
        members = [builder.extract_value(value, i) for i in range(1 + self.count)]
        if is_dual(self.base):
            return [part for member in members for part in self.base.taken_apart(builder, member)]
        return members

    def put_together(self, context, builder, parts: Iterator):
        value = ir.Constant(context.get_value_type(self), ir.Undefined)
        for i in range(1 + self.count):
            base = self.base
            part = base.put_together(context, builder, parts) if is_dual(base) else next(parts)
            value = builder.insert_value(value, part, i)
        return value


@register_model(DualType)
class _DualModel(models.StructModel):
    def __init__(self, manager, kind):
        names = (f"m{i}" for i in range(1 + kind.count))
        super().__init__(manager, kind, list(zip(names, kind.members, strict=True)))


def is_dual(kind: Any) -> bool:
    return isinstance(kind, DualType)


def is_number(kind: Any) -> bool:
    return isinstance(kind, (DualType, nt.Float, nt.Integer))


def has_duals(*kinds: Any) -> bool:
    """Whether there are duals in nested tuple types."""
    return any(has_duals(*k) if isinstance(k, nt.BaseTuple) else is_dual(k) for k in kinds)


def kind_level(kind: Any) -> int:
    return kind.level if is_dual(kind) else 0


def highest(kinds) -> Any:
    """Return the type with most levels if all are numbers and one is dual, else None."""
    top = max(kinds, key=kind_level)
    alike = all(kind == top for kind in kinds if kind_level(kind) == kind_level(top))
    return top if is_dual(top) and alike and all(map(is_number, kinds)) else None


def as_given(kinds) -> list:
    return [kind if is_dual(kind) else nt.float64 for kind in kinds]


# ---- constants and conversions
def type_of(value: Dual) -> DualType:
    """Return the type of a dual: directions lie in the widest lanes they fill, if any."""
    count = len(value.d)
    if value.level > 1:
        return DualType(count, base=type_of(value.x))
    for width in (BODIES, WIDTH):
        if count % width == 0 and not value.single:
            return DualType(count // width, SEVERAL[width])
    return DualType(count)


@lower_constant(DualType)
def _constant(context, builder, kind, value):
    return whole(context, builder, kind, value)


@lower_cast(nt.Number, DualType)
def _cast_number(context, builder, from_type, to_type, x):
    number = context.cast(builder, x, from_type, nt.float64)
    return whole(context, builder, to_type, Emitted(builder, number))


@lower_cast(DualType, DualType)
def _cast(context, builder, from_type, to_type, x):
    return whole(context, builder, to_type, emitted(builder, from_type, x))


# ---- numbers of machine code
class Emitted:
    """A double or a vector of machine code, on which operations write instructions."""

    __slots__ = "builder", "code", "vector"

    def __init__(self, builder, code):
        self.builder, self.code, self.vector = builder, code, None

    def __neg__(self) -> "Emitted":
        return Emitted(self.builder, self.builder.fneg(self.code))

    def __abs__(self) -> "Emitted":
        kind = self.code.type
        if is_vector(kind):
            function = declared(self.builder, "fabs", 1, kind)
        else:
            declaration = ir.FunctionType(kind, [kind]), "llvm.fabs.f64"
            function = cgutils.get_or_insert_function(self.builder.module, *declaration)
        return Emitted(self.builder, self.builder.call(function, [self.code]))

    def widened(self, width: int):
        """Return the code as a vector."""
        if self.vector is None:
            self.vector = wide(self.builder, self.code, width)
        return self.vector


def is_vector(kind) -> bool:
    return isinstance(kind, ir.VectorType)


def codes(*numbers) -> tuple:
    """Return (builder, the LLVM values of numbers), all vectors if one is."""
    builder = next(x.builder for x in numbers if isinstance(x, Emitted))
    kinds = [x.code.type for x in numbers if isinstance(x, Emitted)]
    vector = next(filter(is_vector, kinds), None)
    if vector is not None:
        return builder, [
            x.widened(vector.count) if isinstance(x, Emitted) else constant(vector, float(x))
            for x in numbers
        ]
    return builder, [x.code if isinstance(x, Emitted) else F8(float(x)) for x in numbers]


def _instruction(name: str) -> Callable:
    def operation(a, b):
        if isinstance(b, Dual):
            return NotImplemented
        builder, both = codes(a, b)
        return Emitted(builder, getattr(builder, name)(*both))

    return operation


for _name, _code in (("add", "fadd"), ("sub", "fsub"), ("mul", "fmul"), ("truediv", "fdiv")):
    _operation = _instruction(_code)
    setattr(Emitted, f"__{_name}__", _operation)
    setattr(Emitted, f"__r{_name}__", swapped(_operation))


def fused(a, b, c):
    """Return fma(a, b, c) of numbers of machine code, or of duals; of examples unfused."""
    if max(map(level, (a, b, c))):
        return product_sum(a, b, c)
    if not any(isinstance(x, Emitted) for x in (a, b, c)):
        return a * b + c
    builder, all_three = codes(a, b, c)
    kind = all_three[0].type
    if is_vector(kind):
        return Emitted(builder, builder.call(declared(builder, "fma", 3, kind), all_three))
    return Emitted(builder, builder.fma(*all_three))


class EmittedDual(Dual):
    """A dual number of machine code."""

    __slots__ = ()

    def fused(self, a, b, c):
        return fused(a, b, c)

    def __abs__(self) -> "EmittedDual":
        minus = compared("<", self, 0.0)
        return EmittedDual(abs(self.x), [chosen(minus, -d, d) for d in self.d])


def compared(sign: str, a, b):
    """Return a comparison of the values of two numbers, one bit of code."""
    builder, both = codes(bare(a), bare(b))
    if sign == "!=":
        return builder.fcmp_unordered(sign, *both)
    return builder.fcmp_ordered(sign, *both)


def chosen(condition, a, b):
    """Return the number a where a bit of code is set, else b."""
    a, b = lifted((a, b), (a, b))
    if isinstance(a, Dual):
        pairs = zip((a.x, *a.d), (b.x, *b.d), strict=True)
        x, *d = (chosen(condition, *pair) for pair in pairs)
        return EmittedDual(x, d)
    builder, both = codes(a, b)
    return Emitted(builder, builder.select(condition, *both))


class Other(int):
    """What is handed on as it is, like an integer: its type and LLVM value, if that is known."""

    kind: nt.Type
    code: Any


def other(kind: nt.Type, code: Any = None) -> Other:
    made = Other()
    made.kind, made.code = nt.unliteral(kind), code
    return made


def emitted(builder, kind, value):
    """Return a value of machine code as a nested tuple of numbers that write code."""
    part = builder.extract_value
    if isinstance(kind, nt.BaseTuple):
        return tuple(emitted(builder, k, part(value, i)) for i, k in enumerate(kind))
    if is_dual(kind):
        parts = enumerate(kind.members)
        x, *d = (emitted(builder, member, part(value, i)) for i, member in parts)
        return EmittedDual(x, d)
    single = isinstance(kind, LanesType) or kind == nt.float64
    return Emitted(builder, value) if single else other(kind, value)


def whole(context, builder, kind, number):
    """Return a nested tuple of numbers as a value of machine code, of a type."""
    if isinstance(kind, nt.BaseTuple):
        parts = [whole(context, builder, k, x) for k, x in zip(kind, number, strict=True)]
        return context.make_tuple(builder, kind, parts)
    if is_dual(kind):
        x, d = number, [0.0] * kind.count
        if level(number) == kind.level:
            x, d = number.x, _parted(number.d, kind.count)
        value = ir.Constant(context.get_value_type(kind), ir.Undefined)
        for i, (member, part) in enumerate(zip(kind.members, (x, *d), strict=True)):
            value = builder.insert_value(value, whole(context, builder, member, part), i)
        return value
    if isinstance(number, Other):
        return context.cast(builder, number.code, number.kind, kind)
    if isinstance(kind, LanesType):
        return _vector(kind, number)
    return number.code if isinstance(number, Emitted) else F8(float(number))


def _parted(d: tuple, count: int) -> list:
    """Return directions in as many parts as a type has: those of constants come one by one."""
    size = len(d) // count if count else 1
    return list(d) if size == 1 else [d[i : i + size] for i in range(0, len(d), size)]


def _vector(kind: LanesType, number):
    if isinstance(number, tuple):
        return ir.Constant(kind.vector, [float(x) for x in number])
    if isinstance(number, Emitted):
        return number.widened(kind.width)
    return constant(kind.vector, float(number))


# ---- numbers that stand for their types
class ExampleDual(Dual):
    """A dual that stands for the type that it has."""

    __slots__ = ("example_of",)

    def __init__(self, x, d, example_of: DualType):
        super().__init__(x, d)
        self.example_of = example_of

    def kind(self) -> DualType:
        return self.example_of

    def like(self, x, d) -> "ExampleDual":
        return ExampleDual(x, d, self.example_of)


def example(kind):
    """Return a nested tuple of numbers that stand for a type."""
    if isinstance(kind, nt.BaseTuple):
        return tuple(map(example, kind))
    if is_dual(kind):
        base = example(kind.base)
        return ExampleDual(base, [base] * kind.count, kind)
    return 0.5 if kind == nt.float64 else other(kind)


def kind_of_example(number) -> nt.Type:
    """Return the type for which a nested tuple of examples stands; that of a float is float64."""
    if isinstance(number, tuple):
        return nt.BaseTuple.from_types(tuple(map(kind_of_example, number)))
    if isinstance(number, ExampleDual):
        return number.kind()
    return nt.float64 if isinstance(number, float) else number.kind
