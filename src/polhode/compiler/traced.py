"""Straight functions, compiled by calling them once: no analysis, no inference, one list of code.

A function of the library without a branch or a loop does the same operations for all numbers.  It
is called in Python with ``Number``s, which stand for values of machine code: what they go through
is written on a ``Tape``, and played into the LLVM code of whoever calls the function.  Types of
operations, their meaning and their code are Numba's own.

What cannot be recorded (arrays that are returned, a ``Number`` as a condition) is left to Numba:
the function then gets a dispatcher, as those with branches have.  A mistake in a user's function
is Numba's error in either case.
"""

import builtins
import dis
import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

from llvmlite import ir
from numba import types as nt
from numba.core.datamodel.models import OpaqueModel
from numba.core.datamodel.registry import register_default
from numba.core.errors import NumbaError
from numba.core.extending import _Intrinsic
from numba.core.registry import cpu_target
from numba.core.typing.templates import fold_arguments
from numba.cpython.builtins import max_vararg, min_vararg
from numba.extending import typeof_impl

from polhode.compiler.tree import Wide
from polhode.compiler.wide import WideType

PLAIN = (float, int, bool, complex, abs)  # what Python does with its own numbers
CONSTANTS = {bool: nt.boolean, int: nt.int64, float: nt.float64, complex: nt.complex128}
EXTREMES = {min: min_vararg, max: max_vararg}
JUMPS = {*dis.hasjrel, *dis.hasjabs}
REFUSED = (
    "FOR_ITER",
    "STORE_GLOBAL",
    "STORE_ATTR",
    "STORE_SUBSCR",
    "STORE_DEREF",
    "DELETE",
    "IMPORT",
)
STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR


class Untraceable(Exception):
    """Raised for what cannot be recorded, but perhaps compiled by Numba."""


class Choice(BaseException):
    """Raised by a ``Number`` as a condition, where both ways have yet to be recorded."""

    def __init__(self, number: "Number"):
        self.number = number


@functools.cache
def can_be_called(code: types.CodeType) -> bool:
    """Whether a code object has no loops, no star arguments, no inner functions, no effects."""
    inner = any(isinstance(c, types.CodeType) for c in code.co_consts)
    if code.co_flags & STARRED or code.co_exceptiontable or inner:
        return False
    return not any(
        name.startswith(REFUSED) or "BACKWARD" in name
        for name in (instruction.opname for instruction in dis.get_instructions(code))
    )


@functools.cache
def has_branches(code: types.CodeType) -> bool:
    """Whether a code object has conditions."""
    return any(instruction.opcode in JUMPS for instruction in dis.get_instructions(code))


# ---- the record
class Tape:
    """A list of steps: functions of (context, builder, values so far) that return LLVM values."""

    def __init__(self, count: int):
        self.first = count  # of the values that come from outside
        self.steps: list[Callable] = []

    def add(self, kind: nt.Type, step: Callable) -> "Number":
        """Record a step; return its value."""
        self.steps.append(step)
        return Number(kind, self.first + len(self.steps) - 1)


_tapes: list[Tape] = []  # those that are being recorded, the inner ones last


class Number:
    """A value of machine code: its type, and its place among the values of the tape."""

    __slots__ = ("kind", "place")
    __hash__ = None  # type: ignore[assignment]
    __iter__ = None
    __array_ufunc__ = None  # NumPy's numbers leave operations to this class

    def __init__(self, kind: nt.Type, place: int):
        self.kind, self.place = kind, place

    def __bool__(self) -> bool:
        path = _paths[-1]
        if path is None or not isinstance(self.kind, (nt.Boolean, nt.Number)):
            raise Untraceable("a condition")
        if path.taken == len(path.decided):
            raise Choice(self)
        path.taken += 1
        return path.decided[path.taken - 1]

    def __getitem__(self, index):
        return _ITEM(self, index)

    def __getattr__(self, name: str):
        kind = None if name.startswith("__") else _typing().resolve_getattr(self.kind, name)
        if kind is None or _counted(kind):
            raise AttributeError(name)
        had, place = self.kind, self.place

        def step(context, builder, values):
            return context.get_getattr(had, name)(context, builder, had, values[place], name)

        return _tapes[-1].add(kind, step)


def _typing():
    return cpu_target.typing_context


def _counted(kind: nt.Type) -> bool:
    """Whether values of a type hold memory, whose references are counted."""
    return cpu_target.target_context.data_model_manager[kind].contains_nrt_meminfo()


# ---- values and types
def kind_of(value: Any) -> nt.Type:
    """Return the type of a value, or of a nested tuple of them."""
    if isinstance(value, (Number, Traced, Known)):
        return value.kind
    if type(value) is tuple:
        return nt.BaseTuple.from_types(tuple(map(kind_of, value)))
    if type(value) in CONSTANTS:
        return CONSTANTS[type(value)]
    if value is None:
        return nt.none
    if isinstance(value, Wide):
        return value.kind()
    raise Untraceable(repr(value))


def made(value: Any) -> Callable:
    """Return the function of (context, builder, values) that makes the LLVM value of a value."""
    if isinstance(value, Number):
        place = value.place
        return lambda context, builder, values: values[place]
    kind = kind_of(value)
    if isinstance(value, tuple):
        parts = [made(part) for part in value]

        def whole(context, builder, values):
            return context.make_tuple(
                builder, kind, [part(context, builder, values) for part in parts]
            )

        return whole
    if type(value) in CONSTANTS or isinstance(value, Wide):
        return lambda context, builder, values: context.get_constant_generic(builder, kind, value)
    return lambda context, builder, values: context.get_dummy_value()


def taken_apart(kind: nt.Type, place: int) -> Any:
    """Return the value at a place; tuples become tuples of their parts."""
    if isinstance(kind, (nt.UniTuple, nt.Tuple)):
        return tuple(taken_apart(part, _part(part, place, i).place) for i, part in enumerate(kind))
    if isinstance(kind, nt.Omitted):
        return kind.value
    if isinstance(kind, TracedType):
        return kind.traced
    if kind == nt.none:
        return None
    if isinstance(kind, nt.Callable):
        return Known(kind)
    return Number(kind, place)


def _part(kind: nt.Type, place: int, i: int) -> Number:
    return _tapes[-1].add(kind, lambda _, builder, values: builder.extract_value(values[place], i))


# ---- functions that Numba knows
class Known:
    """A function that Numba knows, to be called with numbers; or the type of one."""

    def __init__(self, function: Any):
        self.function = function
        self.calls: dict[tuple, tuple] = {}  # types of arguments -> signature and code

    @property
    def kind(self) -> nt.Type:
        """Return the type of the function; more may become known about the same one."""
        given = isinstance(self.function, nt.Type)
        return self.function if given else _typing().resolve_value_type(self.function)

    def __call__(self, *args):
        if self.function in PLAIN and all(type(x) in CONSTANTS for x in args):
            return self.function(*args)
        kinds = tuple(map(kind_of, args))
        key = tuple(x if type(x) is int else k for x, k in zip(args, kinds, strict=True))
        if key not in self.calls:
            self.calls[key] = self._resolved(args, kinds)
        call, code = self.calls[key]
        if call.pysig is not None and len(call.args) != len(args):
            args = fold_arguments(call.pysig, args, {}, _third, _third, _third)
        if len(call.args) != len(args) or _counted(call.return_type):
            raise Untraceable(str(self.function))
        parts = [converted(x, kind) for x, kind in zip(args, call.args, strict=True)]

        def step(context, builder, values):
            return code(context, builder, [part(context, builder, values) for part in parts])

        return taken_apart(call.return_type, _tapes[-1].add(call.return_type, step).place)

    def _resolved(self, args: tuple, kinds: tuple) -> tuple:
        """Return the signature and the code for arguments of these types."""
        pairs = zip(args, kinds, strict=True)
        literal = tuple(nt.literal(x) if type(x) is int else kind for x, kind in pairs)
        if isinstance(self.function, _Intrinsic):
            found = None
            for given in dict.fromkeys((kinds, literal)):
                found = found or self.function._defn(_typing(), *given)
            if found is None:
                raise Untraceable(str(self.function))
            call, lower = found
            return call, lambda context, builder, values: lower(context, builder, call, values)
        kind = self.kind
        call = kind.get_call_type(_typing(), kinds if _is_ours(kind) else literal, {})
        if call is None:
            raise Untraceable(str(kind))
        return call, lambda context, builder, values: context.get_function(kind, call)(
            builder, values
        )


def _is_ours(kind: nt.Type) -> bool:
    return isinstance(kind, (nt.Dispatcher, TracedType))


def _third(index, parameter, value):
    return value


def converted(value: Any, kind: nt.Type) -> Callable:
    """Return the function of (context, builder, values) that makes a value of a type."""
    had, part = kind_of(value), made(value)
    if had == kind:
        return part
    return lambda context, builder, values: context.cast(
        builder, part(context, builder, values), had, kind
    )


_ITEM = Known(operator.getitem)


def _operation(name: str) -> Callable:
    function = Known(getattr(operator, name))

    def operation(*args):
        if not all(isinstance(x, (Number, Wide)) or type(x) in CONSTANTS for x in args):
            return NotImplemented
        return function(*args)

    return operation


def _arithmetic(name: str, instruction: str) -> Callable:
    """Make an operation of two floats, which needs none of Numba's ways."""
    general = _operation(name)

    def operation(a, b):
        for x in (a, b):
            kind = x.kind if isinstance(x, Number) else CONSTANTS.get(type(x))
            if kind is not nt.float64:
                return general(a, b)
        left, right = _float(a), _float(b)

        def step(context, builder, values):
            return getattr(builder, instruction)(left(values), right(values))

        return _tapes[-1].add(nt.float64, step)

    return operation


def _float(x) -> Callable:
    if isinstance(x, Number):
        return operator.itemgetter(x.place)
    constant = ir.Constant(ir.DoubleType(), x)
    return lambda values: constant


def _swapped(function: Callable) -> Callable:
    return lambda a, b: function(b, a)


_OPERATIONS: dict[str, Callable] = {
    "add": _arithmetic("add", "fadd"),
    "sub": _arithmetic("sub", "fsub"),
    "mul": _arithmetic("mul", "fmul"),
    "truediv": _arithmetic("truediv", "fdiv"),
    **{name: _operation(name) for name in ("pow", "floordiv", "mod", "and_", "or_")},
}
for _name, _function in _OPERATIONS.items():
    setattr(Number, f"__{_name.strip('_')}__", _function)
    setattr(Number, f"__r{_name.strip('_')}__", _swapped(_function))
for _name in ("neg", "pos", "lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Number, f"__{_name}__", _operation(_name))


def cast(value: Any, kind: nt.Type) -> Any:
    """Convert a number to a type."""
    return value if kind_of(value) == kind else _tapes[-1].add(kind, converted(value, kind))


def attempted(function: Callable, args: tuple) -> tuple | None:
    """Return (function(*args),), or None if Numba refuses it; then nothing is recorded."""
    steps = _tapes[-1].steps
    before = len(steps)
    try:
        return (function(*args),)
    except NumbaError:
        del steps[before:]
        return None


# ---- both ways of a condition
class Path:
    """The decisions at the conditions of a function, and how many of them have been met."""

    def __init__(self, decided: tuple[bool, ...]):
        self.decided, self.taken = decided, 0


_paths: list[Path | None] = []  # of the functions that are being recorded; None: no conditions


class Way:
    """What a function does up to a condition, and the two ways from there; or up to its end."""

    def __init__(self, steps: list[Callable], value: Any, ways: "tuple[Way, ...]" = ()):
        self.steps, self.value, self.ways = steps, value, ways

    def ends(self) -> "list[Way]":
        """List the ways that reach the end."""
        return [end for way in self.ways for end in way.ends()] if self.ways else [self]

    def write(self, context, builder, values: list, begin: int, after, found: list) -> None:
        """Write the code; collect (values at the end, block) of each way."""
        values = list(values)
        for step in self.steps[begin:]:
            values.append(step(context, builder, values))
        if not self.ways:
            found.append((self.value(context, builder, values), builder.block))
            builder.branch(after)
            return
        condition = context.is_true(builder, self.value.kind, values[self.value.place])
        blocks = [builder.append_basic_block(name) for name in ("yes", "no")]
        builder.cbranch(condition, *blocks)
        for block, way in zip(blocks, self.ways, strict=True):
            builder.position_at_end(block)
            way.write(context, builder, values, len(self.steps), after, found)


def both_ways(function: Callable, args: tuple) -> Any:
    """Call a function with conditions once for each way through it; the ways meet at its end."""
    tape = _tapes[-1]
    count = 0

    def explored(decided: tuple[bool, ...]) -> Way:
        nonlocal count
        count += 1
        if count > MOST_WAYS:
            raise Untraceable("too many ways")
        _paths.append(Path(decided))
        _tapes.append(Tape(tape.first + len(tape.steps)))
        try:
            return Way(_tapes[-1].steps, function(*args))
        except Choice as choice:
            condition, steps = choice.number, _tapes[-1].steps
        finally:
            _tapes.pop()
            _paths.pop()
        return Way(steps, condition, (explored((*decided, True)), explored((*decided, False))))

    way = explored(())
    if not way.ways:
        tape.steps += way.steps
        return way.value
    ends = way.ends()
    kind = _typing().unify_types(*(kind_of(end.value) for end in ends))
    if kind is None or _counted(kind):
        raise Untraceable("ways that end in different types")
    for end in ends:
        end.value = converted(end.value, kind)

    def step(context, builder, values):
        after = builder.append_basic_block("met")
        found: list = []
        way.write(context, builder, values, 0, after, found)
        builder.position_at_end(after)
        return _met(context, builder, kind, found)

    return taken_apart(kind, tape.add(kind, step).place)


def _met(context, builder, kind: nt.Type, found: list) -> Any:
    """Return the value that is one of several, by the block that was left."""
    rows = []
    for value, block in found:
        with builder.goto_block(block):
            rows.append(list(leaves(builder, kind, value)))
    phis = []
    for row in zip(*rows, strict=True):
        phi = builder.phi(row[0].type)
        for part, (_, block) in zip(row, found, strict=True):
            phi.add_incoming(part, block)
        phis.append(phi)
    return nested(context, builder, kind, iter(phis))


def leaves(builder, kind: nt.Type, value) -> Iterator:
    """Yield the parts of a value of a nested tuple type."""
    if isinstance(kind, nt.BaseTuple):
        for i, part in enumerate(kind):
            yield from leaves(builder, part, builder.extract_value(value, i))
    elif isinstance(kind, WideType):
        yield from kind.taken_apart(builder, value)
    else:
        yield value


def nested(context, builder, kind: nt.Type, leaves: Iterator) -> Any:
    """Return the value of a nested tuple type that consists of the next parts."""
    if isinstance(kind, nt.BaseTuple):
        parts = [nested(context, builder, part, leaves) for part in kind]
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, WideType):
        return kind.put_together(context, builder, leaves)
    return next(leaves)


# ---- functions of the library
FORMS: dict[Callable, Callable] = {}  # functions with a form of their own for numbers
MOST_WAYS, DEEPEST = 13, 2


class Traced:
    """A function that can be called with numbers, and by functions that Numba compiles.

    ``dispatcher()`` makes Numba's own, for what cannot be recorded.  ``depth`` is how many
    functions with conditions call each other, with this one; one that is ``checked`` is a user's.
    """

    def __init__(
        self,
        function: Callable,
        copy: Callable,
        dispatcher: Callable[[], Any],
        depth: int = 0,
        checked: bool = False,
    ):
        self.function, self.copy, self.dispatcher = function, copy, dispatcher
        self.depth, self.checked = depth, checked
        self.kind, self.__name__ = TracedType(self), function.__name__
        self.branches = has_branches(function.__code__)
        self.refused: set = set()  # types of arguments

    def __reduce__(self):
        """Let Numba describe closures of what it stores, which is named by its content anyway."""
        return str, (self.copy.__qualname__,)

    def value(self, *args):
        """Record the function on the last tape."""
        if self.checked and any(map(_has_array, map(kind_of, args))):
            raise Untraceable("an array, whose indices are checked")
        if self.branches:
            return both_ways(self.copy, args)
        _paths.append(None)
        try:
            return self.copy(*args)
        finally:
            _paths.pop()

    def __call__(self, *args):
        """Record the function on the tape of the caller."""
        if self.refused and kind_of(args) in self.refused:
            return Known(nt.Dispatcher(self.dispatcher()))(*args)
        steps = _tapes[-1].steps
        before = len(steps)
        try:
            return self.value(*args)
        except NumbaError:
            raise
        except Exception:  # whatever comes from a number that is not one of Python's
            del steps[before:]
            self.refused.add(kind_of(args))
            return Known(nt.Dispatcher(self.dispatcher()))(*args)


def _has_array(kind: nt.Type) -> bool:
    if isinstance(kind, nt.BaseTuple):
        return any(map(_has_array, kind))
    return isinstance(kind, nt.Array)


class TracedType(nt.Callable, nt.Opaque):
    """The type of a straight function, for callers that Numba compiles."""

    def __init__(self, traced: Traced):
        self.traced = traced
        self.calls: dict[tuple, Any] = {}  # types of arguments -> signature
        self.signature = inspect.signature(traced.function)
        super().__init__(name=f"traced({traced.function.__qualname__}, {id(traced)})")

    def get_call_type(self, context, args, kws):
        """Record the function for these types; returns its signature."""
        kinds = fold_arguments(
            self.signature,
            args,
            kws,
            lambda i, parameter, kind: nt.unliteral(kind),
            lambda i, parameter, default: nt.Omitted(default),
            lambda i, parameter, kinds: nt.StarArgTuple(kinds),
        )
        if kinds not in self.calls:
            self.calls[kinds], code = self._recorded(context, kinds)
            call = self.calls[kinds]
            cpu_target.target_context.insert_func_defn([(code, self.get_impl_key(call), call.args)])
        return self.calls[kinds]

    def _recorded(self, context, kinds: tuple) -> tuple:
        """Return the signature, and the function that writes the code."""
        tape = Tape(len(kinds))
        _tapes.append(tape)
        try:
            given = [taken_apart(kind, place) for place, kind in enumerate(kinds)]
            value = self.traced.value(*given)
            result = kind_of(value)
            if _counted(result):
                raise Untraceable("an array")
            end = made(value)
        except NumbaError:
            raise
        except Exception:
            return self._left_to_numba(context, kinds)
        finally:
            _tapes.pop()

        def code(context, builder, call, args):
            values = list(args)
            for step in tape.steps:
                values.append(step(context, builder, values))
            return end(context, builder, values)

        return result(*kinds).replace(pysig=self.signature), code

    def _left_to_numba(self, context, kinds: tuple) -> tuple:
        kind = nt.Dispatcher(self.traced.dispatcher())
        call = kind.get_call_type(context, kinds, {})

        def code(context, builder, _, args):
            return context.get_function(kind, call)(builder, args)

        return call, code

    def get_call_signatures(self):
        return list(self.calls.values()), True

    def get_impl_key(self, sig):
        return self, sig.args


register_default(TracedType)(OpaqueModel)


@typeof_impl.register(Wide)
def _kind(value: Wide, _) -> nt.Type:
    return value.kind()


@typeof_impl.register(Traced)
def _type_of(value: Traced, _) -> nt.Type:
    return value.kind


def for_numbers(value: Any) -> Any:
    """Return what stands for a global or a cell of a straight function, to be called by numbers."""
    if isinstance(value, (Traced, Known)) or not callable(value) or value in (tuple, len, range):
        return value
    if value in EXTREMES:
        return _extreme(value)
    return _known(value)


@functools.cache
def _extreme(function: Callable) -> Callable:
    """Return ``min`` or ``max`` of numbers, without the function around it that Numba compiles."""
    known, general = Known(EXTREMES[function]), Known(function)

    def extreme(*args):
        if any(type(x) in CONSTANTS for x in args) and not any(isinstance(x, Number) for x in args):
            return function(*args)
        single = all(kind_of(x) == nt.float64 for x in args) and len(args) > 1
        return known(args) if single else general(*args)

    return extreme


@functools.cache
def _known(value: Any) -> Known:
    return Known(value)


def is_pure(function: Any) -> bool:
    """Whether all that a user's function reaches are numbers and functions, which nothing changes.

    What it did to a list would happen once, when it is recorded, instead of at every call.
    """
    scope = {**vars(builtins), **function.__globals__}
    used = [scope[name] for name in function.__code__.co_names if name in scope]
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return all(map(_is_pure, (*used, *cells, *(function.__defaults__ or ()))))


def _is_pure(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_pure, value))
    if isinstance(value, types.ModuleType):
        return value.__name__ in ("math", "cmath")
    known = (*PLAIN, *EXTREMES, tuple, len)
    return type(value) in (*CONSTANTS, types.FunctionType) or value in known or _is_math(value)


def _is_math(value: Any) -> bool:
    return isinstance(value, types.BuiltinFunctionType) and value.__module__ in ("math", "cmath")
