import enum
import functools
import math
import types
from collections import namedtuple

import numpy as np
import pytest

from polhode.compiler.tree import Uncacheable, bind, digest, flat, like
from polhode.kernels.trig import sincos1


def stub():
    return "stub"


def made(text, name="f", **scope):
    """The function ``name`` of a source text."""
    exec(text, scope)
    return scope[name]


def module(name, text, **scope):
    new = types.ModuleType(name)
    vars(new).update(scope)
    exec(text, vars(new))
    return new


# ---- nested tuples
def test_flat_and_like_are_inverse():
    nested = (1.0, (2.0, (), (3.0,)), 4.0)
    assert flat(nested) == [1.0, 2.0, 3.0, 4.0]
    assert like(nested, iter("abcd")) == ("a", ("b", (), ("c",)), "d")
    assert flat(5.0) == [5.0]


# ---- bind
def direct():
    return stub()


def deeper():
    return "deeper", direct()


def deepest():
    return [deeper() for _ in range(1)]  # a comprehension is a code object of its own


def enclosed(function):
    def inner():
        return function()

    return inner


def recursive(n):
    return stub() if n == 0 else recursive(n - 1)


def even(n):
    return stub() if n == 0 else odd(n - 1)


def odd(n):
    return stub() if n == 0 else even(n - 1)


def local_recursive():
    def countdown(n):
        return stub() if n == 0 else countdown(n - 1)

    return countdown


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (stub, (), "new"),
        (direct, (), "new"),
        (deeper, (), ("deeper", "new")),
        (deepest, (), [("deeper", "new")]),
        (enclosed(stub), (), "new"),
        (enclosed(deeper), (), ("deeper", "new")),
        (lambda: direct(), (), "new"),
        (recursive, (3,), "new"),
        (even, (5,), "new"),
        (local_recursive(), (3,), "new"),
    ],
)
def test_bind_at_any_depth(function, args, expected):
    before = function(*args)
    assert bind(function, {stub: lambda: "new"})(*args) == expected
    assert function(*args) == before != expected  # the original is untouched


def test_bind_through_modules():
    inner = module("inner", "def g():\n    return stub()", stub=stub)
    outer = module("outer", "SIZE = 3")
    outer.inner = inner
    function = made("def f():\n    return outer.inner.g(), outer.SIZE", outer=outer)
    assert bind(function, {stub: lambda: "new"})() == ("new", 3)
    assert function() == ("stub", 3)


def test_functions_of_math_are_replaced_through_a_stand_in():
    def user(x):
        return math.sin(x) + math.pi + math.sqrt(x)

    bound = bind(user, {math.sin: lambda x: 100.0 * x})
    assert bound(4.0) == 400.0 + math.pi + 2.0
    assert user(4.0) == math.sin(4.0) + math.pi + 2.0


def test_names_imported_from_math_and_builtins_are_replaced():
    function = made("def f(x):\n    return root(x) + abs(x)", root=math.sqrt)
    assert bind(function, {math.sqrt: lambda x: 10.0, abs: lambda x: 5.0})(-4.0) == 15.0


def test_bind_goes_by_identity_not_by_name():
    mine = made("def stub():\n    return 'mine'", "stub")
    function = made("def f():\n    return stub(), library()", stub=mine, library=direct)
    assert bind(function, {stub: lambda: "new"})() == ("mine", "new")


def test_bind_keeps_what_does_not_change():
    assert bind(deepest, {sincos1: stub}) is deepest
    bound = bind(deeper, {stub: lambda: "new"})
    assert (bound.__name__, bound.__module__) == ("deeper", deeper.__module__)


def test_bind_keeps_defaults():
    function = made("def f(a, b=2, *, c=3):\n    return a, b, c, stub()", stub=stub)
    assert bind(function, {stub: lambda: "new"})(1) == (1, 2, 3, "new")


def test_bind_sees_through_a_compiled_function():
    dispatcher = types.SimpleNamespace(py_func=direct)
    function = made("def f():\n    return helper()", helper=dispatcher)
    assert bind(function, {stub: lambda: "new"})() == "new"


def test_two_places_share_one_copy():
    function = made("def f():\n    return a, b", a=direct, b=direct)
    first, second = bind(function, {stub: lambda: "new"})()
    assert first is second is not direct


# ---- digest
TEXT = '''
K = 0.5
TABLE = array([1.0, 2.0])
def helper(x):
    return 2.0 * x
def other(x):
    return x + 1.0
def make(c):
    def f(x, factor=3.0, *, offset=1.0):
        """Doc."""
        y = helper(other(x))
        return [K * y * c + factor * TABLE[0] + library.scaled(x) + offset for _ in range(2)]
    return f
f = make(7.0)
'''
LIBRARY = "def scaled(x):\n    return 0.25 * x\nunused = 1"


def from_text(text=TEXT, library=LIBRARY):
    return made(text, array=np.array, library=module("library", library))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("K = 0.5", "K = 0.5  # a comment"),
        ("def helper", "\n\n# far below\ndef helper"),
        ('"""Doc."""', '"""Another."""'),
        ("def make", "UNUSED = 3\ndef make"),
    ],
)
def test_the_same_content_has_the_same_digest(old, new):
    assert digest(from_text(TEXT.replace(old, new))) == digest(from_text())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2.0 * x", "2.5 * x"),  # a constant of a function that is called
        ("2.0 * x", "x * 2.0"),  # its operations
        ("K = 0.5", "K = 0.6"),  # a global
        ("K = 0.5", "K = 1"),
        ("[1.0, 2.0]", "[1.0, 2.5]"),  # a global array
        ("[1.0, 2.0]", "[1.0, 2.0, 3.0]"),
        ("make(7.0)", "make(8.0)"),  # a closure value
        ("factor=3.0", "factor=4.0"),  # defaults
        ("offset=1.0", "offset=2.0"),
        ("helper(other(x))", "other(helper(x))"),  # the order of names
        ("range(2)", "range(3)"),
    ],
)
def test_other_content_has_another_digest(old, new):
    assert TEXT.count(old) == 1
    assert digest(from_text(TEXT.replace(old, new))) != digest(from_text())


def test_functions_of_imported_modules_count_and_their_neighbours_do_not():
    plain = digest(from_text())
    assert digest(from_text(library=LIBRARY.replace("0.25", "0.75"))) != plain
    assert digest(from_text(library=LIBRARY.replace("unused = 1", "unused = 2"))) == plain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("K = 0.0", "K = -0.0"),
        ("K = 1", "K = 1.0"),
        ("K = True", "K = 1"),
        ("K = (1, (2, 3))", "K = ((1, 2), 3)"),
    ],
)
def test_values_that_are_equal_but_not_the_same(one, other):
    one, other = (made(f"{line}\ndef f():\n    return K") for line in (one, other))
    assert digest(one) != digest(other)


def test_names_of_arguments_count_where_they_are_called_by_name():
    text = "def g({}):\n    return {} - {}\ndef f():\n    return g(a=1, b=2)"
    one, other = made(text.format("a, b", "a", "b")), made(text.format("b, a", "b", "a"))
    assert one() != other()
    assert digest(one) != digest(other)


def test_a_docstring_given_later_hides_no_constant():
    one, other = (made(f"def f():\n    return {text!r}") for text in ("a", "b"))
    one.__doc__ = other.__doc__ = "a"
    assert digest(one) != digest(other)


def test_members_of_an_enumeration_count():
    def reads(value):
        choice = enum.IntEnum("Choice", {"ON": value})
        return made("def f():\n    return Choice.ON", Choice=choice)

    assert digest(reads(1)) == digest(reads(1)) != digest(reads(2))


@pytest.mark.parametrize(
    "text", ["def f():\n    return pair.a", "def f():\n    return Pair(1, 2).a"]
)
def test_names_of_fields_count(text):
    def reads(fields):
        kind = namedtuple("Pair", fields)
        return made(text, Pair=kind, pair=kind(1, 2))

    assert reads("a b")() != reads("b a")()
    assert digest(reads("a b")) == digest(reads("a b")) != digest(reads("b a"))


def test_what_is_bound_counts():
    one, other = (bind(deepest, {stub: made(f"def f():\n    return {k}")}) for k in (1, 2))
    assert digest(one) != digest(other)
    assert digest(one) == digest(bind(deepest, {stub: made("def f():\n    return 1")}))


def test_salt_and_recursion():
    assert digest(even, "one") != digest(even, "two")
    assert digest(recursive) == digest(recursive)
    assert len(digest(recursive)) == 16


class Callable:
    def __call__(self):
        return 1.0


@pytest.mark.parametrize(
    "value",
    [
        Callable(),
        Callable,
        functools.partial(stub),
        [1.0],
        np.random.default_rng(),
        np.array([None]),
    ],
    ids=["instance", "class", "partial", "list", "generator", "objects"],
)
def test_content_that_cannot_be_seen(value):
    with pytest.raises(Uncacheable):
        digest(made("def f():\n    return value", value=value))
