"""Trees of plain functions: everything a function reaches through globals, cells and modules.

``bind(function, {stub: value})``  a copy in which each stub is replaced, by identity, at any depth
``digest(function)``               a short hash of everything that determines what it computes

There is no compiler here.  A bound tree is plain Python and runs as it is on floats, on mpmath
numbers or on anything else with arithmetic.
"""

import builtins
import enum
import hashlib
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

PRIMITIVES: dict[Callable, Any] = {}  # plain function -> its compiled form; filled by the compiler


class Later:
    """Stands in ``PRIMITIVES`` for a compiled form until that is needed: imports take time."""

    def __init__(self, name: str, module: str):
        self.__name__, self.module = name, module


def form_of(primitive: Callable) -> Any:
    """Return the compiled form of a primitive."""
    if isinstance(PRIMITIVES[primitive], Later):
        importlib.import_module(PRIMITIVES[primitive].module)  # which enters it
    return PRIMITIVES[primitive]


KNOWN = ("math", "cmath", "numpy")  # modules whose functions the compiler knows


class Uncacheable(Exception):
    """Raised when a tree depends on something whose content cannot be digested."""


# ---- nested tuples of floats
class Wide:
    """Base class of numbers that take several floats in a row."""

    __slots__ = ()

    def spread(self) -> list:
        """List the floats."""
        raise NotImplementedError

    def gather(self, gather: Callable) -> "Wide":
        """Return a number of the same kind, each of whose parts is made by ``gather(part)``."""
        raise NotImplementedError

    def content(self) -> tuple:
        """Return all that the number is made of."""
        raise NotImplementedError

    def kind(self) -> Any:
        """Return the compiler's type; what compiles such numbers is imported then."""
        raise NotImplementedError


def flat(value) -> list:
    """Return the numbers of a nested tuple, in order."""
    if not isinstance(value, tuple):
        return [value]
    numbers = []
    for part in value:
        if isinstance(part, tuple):
            numbers += flat(part)
        else:
            numbers.append(part)
    return numbers


def like(value, numbers: Iterator):
    """Return the next ``numbers``, nested like ``value``."""
    if not isinstance(value, tuple):
        return next(numbers)
    return tuple(like(part, numbers) for part in value)


def spread(value) -> list:
    """Return the floats of a nested tuple, several for numbers that are ``Wide``, in order."""
    if not isinstance(value, tuple):
        return value.spread() if isinstance(value, Wide) else [value]
    numbers: list = []
    for part in value:
        if type(part) is float:
            numbers.append(part)
        else:
            numbers += spread(part)
    return numbers


def gather(pattern, numbers: Iterator):
    """Return the next ``numbers``, nested like ``pattern``, as numbers of the kinds in it."""
    if isinstance(pattern, tuple):
        return tuple(gather(part, numbers) for part in pattern)
    if isinstance(pattern, Wide):
        return pattern.gather(lambda part: gather(part, numbers))
    return next(numbers)


# ---- walking
def _names(code: types.CodeType) -> list[str]:
    """List the global and attribute names of a code object and those nested in it, in order."""
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return [*code.co_names, *(name for c in inner for name in _names(c))]


def _root(value) -> str:
    return str(getattr(value, "__module__", "")).split(".")[0]


def walkable(value) -> bool:
    """Whether a value is a Python function that the compiler does not already know."""
    return isinstance(value, types.FunctionType) and _root(value) not in ("numpy", "numba")


def _known(module: types.ModuleType) -> bool:
    name = module.__name__
    return name.split(".")[0] in KNOWN and module is sys.modules.get(name)


def _plain(value):
    """Return the Python function of something that the user has already compiled."""
    return getattr(value, "py_func", value)


def _cells(function: types.FunctionType) -> list:
    return [cell.cell_contents for cell in function.__closure__ or ()]


def _visited(value, change: Callable, names: list[str]):
    """Return ``change(value)``; for a module whose used attributes change, a stand-in."""
    value = _plain(value)
    if not isinstance(value, types.ModuleType):
        return change(value)
    used = {name: getattr(value, name) for name in names if hasattr(value, name)}
    if _known(value):
        new = {name: change(v) if callable(v) else v for name, v in used.items()}
    else:
        new = {name: _visited(v, change, names) for name, v in used.items()}
    if all(new[name] is used[name] for name in used):
        return value
    stand_in = types.ModuleType(value.__name__)
    vars(stand_in).update(new)
    return stand_in


def copied(function: Any, change: Callable, always: bool = False, done: dict | None = None):
    """Copy ``function``, its globals and cells passed through ``change``; itself if none changes.

    ``done[function]`` is set while the copy is being made, for recursive functions.
    """
    new: dict[str, Any] = {"__name__": function.__module__}
    new_cells = tuple(types.CellType() for _ in function.__closure__ or ())
    copy = types.FunctionType(
        function.__code__, new, function.__name__, function.__defaults__, new_cells
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    for attribute in ("__module__", "__qualname__", "__doc__"):
        setattr(copy, attribute, getattr(function, attribute))
    if done is not None:
        done[function] = copy
    scope = {**vars(builtins), **function.__globals__}
    names = _names(function.__code__)
    used = {name: scope[name] for name in names if name in scope}
    new |= {name: _visited(value, change, names) for name, value in used.items()}
    cells = _cells(function)
    for cell, value in zip(new_cells, cells, strict=True):
        cell.cell_contents = _visited(value, change, names)
    same = all(new[name] is value for name, value in used.items()) and all(
        cell.cell_contents is value for cell, value in zip(new_cells, cells, strict=True)
    )
    return function if same and not always else copy


def bind(function: Callable, replacements: Mapping[Any, Any]) -> Callable:
    """Copy the tree with each key of ``replacements`` replaced by its value, at any depth.

    Keys are matched by identity, never by name: a user's function called ``step`` is safe.
    """
    table = {id(stub): value for stub, value in replacements.items()}
    done: dict[types.FunctionType, Any] = {}

    def change(value):
        if id(value) in table:
            return table[id(value)]
        if not walkable(value) or value in PRIMITIVES:
            return value
        if value not in done:
            done[value] = copied(value, change, done=done)
        return done[value]

    return change(function)


# ---- digesting
def _content(value, seen: dict, names: list[str]) -> str:
    """Describe everything that determines what ``value`` computes, as text."""
    value = _plain(value)
    if isinstance(value, types.FunctionType) and value in PRIMITIVES:
        return PRIMITIVES[value].__name__
    if walkable(value):
        if value in seen:
            return f"<again {seen[value]}>"
        seen[value] = len(seen)
        code = value.__code__
        names = _names(code)
        scope = {n: value.__globals__[n] for n in sorted(set(names)) if n in value.__globals__}
        rest = scope, tuple(_cells(value)), value.__defaults__, value.__kwdefaults__
        documented = code.co_consts[:1] == (value.__doc__,) and value.__doc__ is not None
        return _code(code, seen, names, documented) + _content(rest, seen, names)
    if isinstance(value, types.CodeType):
        return _code(value, seen, names, False)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return f"{type(value).__name__}:{value!r}"
    if isinstance(value, Wide):
        return type(value).__qualname__ + _content(value.content(), seen, names)
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{_content(v, seen, names)}" for k, v in value.items()) + "}"
    if isinstance(value, (tuple, frozenset)):
        parts = [_content(part, seen, names) for part in value]
        kind = f"{type(value).__name__}{getattr(value, '_fields', '')}"
        return f"{kind}({','.join(parts if isinstance(value, tuple) else sorted(parts))})"
    if hasattr(value, "tobytes") and not value.dtype.hasobject:
        return f"{value.dtype}{value.shape}{value.tobytes().hex()}"
    if isinstance(value, types.ModuleType):
        if _known(value):
            return value.__name__
        used = {name: getattr(value, name) for name in names if hasattr(value, name)}
        return value.__name__ + _content(used, seen, names)
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        fields = value._fields, getattr(value, "_field_defaults", None)
        return value.__qualname__ + _content(fields, seen, names)
    if isinstance(value, enum.EnumType):
        members: dict = {name: value[name].value for name in value.__members__}
        return value.__qualname__ + _content(members, seen, names)
    named = _root(value) in ("numpy", "builtins") or isinstance(value, types.BuiltinFunctionType)
    if named and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    raise Uncacheable(repr(value))


def _code(code: types.CodeType, seen: dict, names: list[str], documented: bool) -> str:
    """Describe a code object: its bytes mean nothing without its names and constants, in order."""
    constants = code.co_consts[documented:]
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    shape = arguments, code.co_kwonlyargcount, code.co_flags, code.co_names
    return f"{code.co_code.hex()}{shape}{_content(constants, seen, names)}"


def digest(function: Callable, salt: str = "") -> str:
    """Hash a tree to sixteen hexadecimal digits; raises ``Uncacheable`` if content is hidden."""
    return hashlib.sha256((salt + _content(function, {}, [])).encode()).hexdigest()[:16]
