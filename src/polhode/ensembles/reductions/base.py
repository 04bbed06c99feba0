"""Reductions: what they have in common.

A reduction is computed at each of its times for groups of ``distributions.GROUP`` members, and the
groups are joined in the order of the members, so that results depend neither on chunks nor on
threads.  Members that have failed are left out from then on.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from polhode.ensembles.quantities import Caption, Labelled, caption
from polhode.errors import InputError

UNNAMED = "<lambda>"
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
    def combine(self, rows: np.ndarray) -> Results:
        """The results at all times, from the rows of all groups, (times, groups, numbers)."""
        ends = [self.end(reduce(self.join, groups)) for groups in rows]
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

    def combine(self, rows: np.ndarray) -> Results:
        return self.of_values(rows)

    def _trial(self, values: np.ndarray) -> Results:
        return {name: found[0] for name, found in self.of_values(values.T).items()}


def numbers(values: Any) -> np.ndarray:
    """A row of numbers; an empty one if ``values`` are not."""
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        return np.empty(0)
    return found if found.ndim == 1 else np.empty(0)
