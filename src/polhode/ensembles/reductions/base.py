"""Reductions: what they have in common.

A reduction is computed at each of its times for groups of ``distributions.GROUP`` members, and the
groups are joined in the order of the members, so that results depend neither on chunks nor on
threads.  Members that have failed are left out from then on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np

from polhode.contracts.checks import number
from polhode.ensembles.quantities import Caption, Labelled, caption
from polhode.errors import InputError

UNNAMED = "<lambda>"


class Gauges(NamedTuple):
    """What the gauges of tangents show: the ``time`` of the last look, (members,), and beyond that
    (members, tangents): their logarithms then, the largest ones so far, ∫ t dl of these logarithms,
    and ∫ Y dt of Y = (2/t) ∫ t dl.
    """

    time: np.ndarray
    logarithm: np.ndarray
    largest: np.ndarray
    moment: np.ndarray
    sum: np.ndarray


TIME = "time_reduced"
Results = dict[str, np.ndarray]


@dataclass(frozen=True)
class Reduction:
    """A few numbers computed from the values of a quantity over all members.

    ``of`` is the name of a quantity, one of ``QUANTITIES``, or of a variable of the model, or a
    function like those for events, ``f(t, q, omega)`` or ``f(t, x, v, q, omega)`` of tuples, that
    returns a number; it is compiled.

    A new reduction defines ``part(values)``: a row of numbers for a group of members, from values
    (members, components), where members may be 0; ``join(a, b)``: the row of two groups together;
    and ``end(row)``: the results, numbers or arrays by name, always with the same names and shapes.

    One in this package may also declare its ``text``, an example of how it is written in run files
    and on the command line; ``words``, the meaning of each result's ending; and ``one_component``.
    """

    text: ClassVar[str] = ""
    words: ClassVar[Mapping[str, str]] = {}
    one_component: ClassVar[bool] = False

    of: str | Callable
    name: str = field(default="", kw_only=True)

    @property
    def label(self) -> str:
        """The name of the quantity."""
        if self.name or isinstance(self.of, str):
            return self.name or str(self.of)
        return getattr(self.of, "__name__", UNNAMED)

    @property
    def key(self) -> str:
        return f"{type(self).__name__}({self.label})"

    @property
    def caption(self) -> Caption:
        """That of the quantity."""
        if isinstance(self.of, str):
            return caption(self.of)
        return Caption((), "", self.label)

    # ---- what a reduction defines
    def part(self, values: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def join(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def end(self, row: np.ndarray) -> Results:
        raise NotImplementedError

    def check(self) -> None:
        """Raise an ``InputError`` if its own arguments make no sense."""

    # ---- what the rest of the library calls
    def joined(self, rows: np.ndarray, before: list[np.ndarray] | None) -> list[np.ndarray]:
        """A row for each time: of groups, (times, groups, numbers), and of all groups before."""
        if before is None:
            return [reduce(self.join, groups) for groups in rows]
        pairs = zip(rows, before, strict=True)
        return [reduce(self.join, groups, row) for groups, row in pairs]

    def combine(self, rows: Any) -> Results:
        """The results at all times, from one row for each."""
        ends = [self.end(row) for row in rows]
        return {name: np.array([end[name] for end in ends]) for name in ends[0]}

    def describe(self, name: str, values: np.ndarray) -> Labelled:
        """One of its results, (times, …), with dimensions and attributes."""
        dims, units, text = self.caption
        word = self.words.get(name.rpartition("_")[2])
        if word is None:  # the units are unknown
            attrs = {"long_name": f"{name}, of: {text}"}
        else:
            attrs = ({"units": units} if units else {}) | {"long_name": f"{word} of: {text}"}
        if values.ndim == 1 or values.shape[1:] == (1,):
            return Labelled((TIME,), values.reshape(len(values)), attrs, {})
        if values.shape[1:] != self.caption.shape:
            dims = tuple(f"{name}_{k}" for k in range(1, values.ndim))
        return Labelled((TIME, *dims), values, attrs, {})

    def trial(self, values: np.ndarray) -> dict[str, Labelled]:
        """The labelled results for some values (members, components); mistakes are errors here."""
        who = type(self).__name__
        try:
            results = self._trial(values)
        except InputError as error:
            raise InputError(f"reduce: a trial of {who} failed: {error}") from None
        except Exception as error:  # user-defined reductions may raise anything
            raise InputError(
                f"reduce: a trial of {who} failed with {type(error).__name__}: {error}; it needs"
                " part(values), also for no members, values of shape (0, components), join(a, b)"
                " and end(row), as described in ph.reductions.Reduction"
            ) from error
        return {name: self.describe(name, value[None]) for name, value in results.items()}

    def _trial(self, values: np.ndarray) -> Results:
        some, empty = (np.array(self.part(group), dtype=float) for group in (values, values[:0]))
        rows = some, empty, *(np.array(self.join(some, other)) for other in (empty, some))
        if any(row.shape != (some.size,) for row in rows):
            raise InputError(
                f"its rows have the shapes {[row.shape for row in rows]}: part and join must return"
                " rows of numbers of one length, also for no members"
            )
        ends = [{name: np.array(found) for name, found in self.end(row).items()} for row in rows]
        shapes = [{name: found.shape for name, found in end.items()} for end in ends]
        numbers = all(found.dtype.kind in "fiub" for found in ends[0].values())
        if not shapes[0] or not numbers or any(other != shapes[0] for other in shapes):
            raise InputError(
                f"end returns {shapes}: it must return numbers by name, always with the same names"
                " and shapes, also for no members"
            )
        return ends[0]


class ValuesReduction(Reduction):
    """A reduction that needs the values of all members at once, 8 bytes each at each time."""

    one_component = True

    def of_values(self, values: np.ndarray) -> Results:
        """The results, from values (times, members); NaN for members that have failed."""
        raise NotImplementedError

    def combine(self, rows: Any) -> Results:
        return self.of_values(rows)

    def _trial(self, values: np.ndarray) -> Results:
        return {name: found[0] for name, found in self.of_values(values.T).items()}


@dataclass(frozen=True)
class GrowthReduction(Reduction):
    """For every member, how its tangents grow: a number from the gauges of all of them.

    A tangent is a small change of the initial state, (θ, m), (x, p) and the model's variables, in
    the user's body axes.  It is measured every so many steps of a map, with θ in rad and the other
    parts relative to their lengths at the start of the problem that the members share (or in SI
    units where one is 0 there), and scaled down before it overflows.

    tangents : how many, in directions of no meaning; or their columns, rows of numbers
    every : steps between two looks at them
    """

    of: str | Callable = "tangents"
    tangents: int | Sequence[Sequence[float]] = 1
    every: int = 10

    def of_gauges(self, gauges: Gauges) -> np.ndarray:
        """The numbers, (members,)."""
        raise NotImplementedError

    @property
    def result(self) -> str:
        return self.name or type(self).__name__.lower()

    @property
    def measured(self) -> tuple[Any, int]:
        """(tangents, every), the same for all reductions of a run."""
        given: Any = self.tangents
        if np.ndim(given) == 0:
            return int(given), int(self.every)
        return tuple(map(tuple, np.array(given, dtype=float).tolist())), int(self.every)

    def check(self) -> None:
        if self.of != "tangents":
            raise InputError(f"reduce: {type(self).__name__} is of tangents, not of {self.of!r}")
        for name, value in {"every": self.every, "tangents": self.tangents}.items():
            found = 1.0 if np.ndim(value) else number(value, name)
            if not (found >= 1.0 and found == int(found)):
                raise InputError(
                    f"{name} of {type(self).__name__} must be a whole number, 1 or more, got"
                    f" {value!r}"
                )

    def combine(self, rows: Any) -> Results:
        """The result, from the numbers found, (members,)."""
        return {self.result: rows}

    def describe(self, name: str, values: np.ndarray) -> Labelled:
        return Labelled(("member",), values, {"long_name": self.words[""]}, {})

    def trial(self, values: np.ndarray) -> dict[str, Labelled]:
        return {self.result: self.describe(self.result, np.empty(0))}


def numbers(values: Any) -> np.ndarray:
    """A row of numbers; an empty one if ``values`` are not."""
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        return np.empty(0)
    return found if found.ndim == 1 else np.empty(0)
