"""``Unknowns``: the numbers of a fit, and the problem that they describe.

An attitude is three numbers, the rotation vector in body axes from a reference to it.  Everything
else is as the problem has it.  Sensitivities are those of solvers; the attitude at the start turns
by dθ₀ = R(u) du for the rotation vector u.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from polhode.errors import InputError
from polhode.fits.observe import Observation
from polhode.fits.turns import products, quaternions, right_matrix
from polhode.results.trajectory import Trajectory

STATE, ATTITUDE = "state", "attitude"
XYZ = "x", "y", "z"
Solve = Callable[[tuple[float, float]], Trajectory]


@dataclass(frozen=True)
class Quantity:
    """Some of the unknowns: their name, where they stand, and the shape of what they describe."""

    name: str
    place: slice
    shape: tuple[int, ...]
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return self.place.stop - self.place.start


@dataclass(frozen=True, eq=False)
class Unknowns(ABC):
    """The unknowns of a fit that starts from a problem; there is a class for each kind of problem.

    ``reference`` is the attitude (w, x, y, z) from which rotation vectors count; ``owners`` tells
    for names such as ``rates.bias`` which of the observations they belong to.
    """

    problem: Any
    observations: tuple[Observation, ...]
    quantities: tuple[Quantity, ...]
    owners: Mapping[str, tuple[int, str]]
    reference: np.ndarray

    has_body: ClassVar[bool] = True
    apart: ClassVar[tuple[tuple[str, str], ...]] = ()  # of which one at most can be free
    parts: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # names of numbers in some quantities

    # ---- the problem
    @staticmethod
    @abstractmethod
    def shapes(problem: Any) -> dict[str, tuple[int, ...]]:
        """Return what can be free in a problem, and the shapes of its values."""

    @staticmethod
    @abstractmethod
    def state(problem: Any) -> list[str]:
        """Return the names that make the initial state."""

    @abstractmethod
    def first(self, name: str) -> Any:
        """Return the value of a quantity in the problem as it was given; not of the attitude."""

    @abstractmethod
    def of(self, u: np.ndarray, general: bool = False) -> Any:
        """Return the problem that the numbers describe; an impossible one is an ``InputError``.

        A ``general`` one takes the same code for all numbers.
        """

    @property
    @abstractmethod
    def tensors(self) -> np.ndarray:
        """The derivatives (3, 3, u) of the inertia tensor in body axes."""

    @property
    @abstractmethod
    def sensitivities(self) -> tuple[str, ...]:
        """The names that a run is to be differentiated by."""

    @abstractmethod
    def dynamic_slopes(
        self, found: Mapping[str, np.ndarray], problem: Any, slopes: np.ndarray
    ) -> None:
        """Write the derivatives (rows, outputs, u) by all but the attitude."""

    @abstractmethod
    def chosen(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of solvers, with the method that "auto" takes."""

    @abstractmethod
    def solver(self, problem: Any, arguments: Mapping[str, Any], before: Any) -> Any:
        """Return what solves a problem over a span; ``before`` is what did for another one."""

    @abstractmethod
    def facts(self, problem: Any) -> dict[str, Any]:
        """Return a problem as plain data."""

    # ---- names and numbers
    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of single numbers."""
        return tuple(label for quantity in self.quantities for label in quantity.labels)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def by_name(self) -> dict[str, Quantity]:
        return {quantity.name: quantity for quantity in self.quantities}

    @cached_property
    def start(self) -> np.ndarray:
        """The numbers of the problem and the observations as they were given."""
        found = [self._first(quantity.name) for quantity in self.quantities]
        return np.concatenate([np.ravel(value) for value in found])

    def _first(self, name: str) -> Any:
        if name in self.owners:
            place, own = self.owners[name]
            return self.observations[place].own[own]
        return np.zeros(3) if name == ATTITUDE else self.first(name)

    @cached_property
    def sizes(self) -> np.ndarray:
        """A size for each number: that of the quantity, or 1."""
        found = np.ones(len(self))
        for quantity in self.quantities:
            size = float(np.linalg.norm(self.start[quantity.place]))
            if size == 0.0 and quantity.name in self.owners:
                place, own = self.owners[quantity.name]
                size = self.observations[place].sizes.get(own, 0.0)
            if quantity.name != ATTITUDE and size > 0.0:
                found[quantity.place] = size
        return found

    def about(self, u: np.ndarray) -> "Unknowns":
        """Return the same unknowns, with rotation vectors from the attitude of these numbers."""
        return replace(self, reference=self.attitude(u))

    def moved(self, u: np.ndarray) -> np.ndarray:
        """Return the numbers of the same problem for ``about(u)``."""
        if ATTITUDE in self.by_name:
            u = u.copy()
            u[self.by_name[ATTITUDE].place] = 0.0
        return u

    def value(self, name: str, u: np.ndarray) -> np.ndarray:
        """Return the numbers of a quantity in its shape, an attitude as (w, x, y, z)."""
        if name == ATTITUDE:
            return self.attitude(u)
        quantity = self.by_name[name]
        return shaped(quantity, u[quantity.place])

    def attitude(self, u: np.ndarray) -> np.ndarray:
        """Return the attitude at the start, (w, x, y, z)."""
        if ATTITUDE not in self.by_name:
            return self.reference
        turn = quaternions(u[self.by_name[ATTITUDE].place])
        q = products(self.reference, turn)
        return q / np.linalg.norm(q)

    def own(self, u: np.ndarray, place: int) -> dict[str, np.ndarray]:
        """Return the own values of one of the observations."""
        found = dict(self.observations[place].own)
        for name, (owner, own) in self.owners.items():
            if owner == place:
                found[own] = self.value(name, u)
        return found

    def own_places(self, place: int) -> dict[str, slice]:
        """Return where the unknowns of one of the observations stand."""
        return {
            own: self.by_name[name].place
            for name, (owner, own) in self.owners.items()
            if owner == place
        }

    def numbers_of(self, name: str, u: np.ndarray, otherwise: Any) -> Any:
        """Return the numbers of a quantity that is free, and what it is otherwise."""
        return u[self.by_name[name].place] if name in self.by_name else otherwise

    # ---- derivatives
    def slopes(
        self, found: Mapping[str, np.ndarray], u: np.ndarray, problem: Any, rows: int
    ) -> np.ndarray:
        """Return derivatives (rows, outputs, u) by all unknowns, from those of a run."""
        outputs = next(iter(found.values())).shape[1] if found else 6
        slopes = np.zeros((rows, outputs, len(self)))
        self.dynamic_slopes(found, problem, slopes)
        if ATTITUDE in self.by_name:
            place = self.by_name[ATTITUDE].place
            slopes[:, :, place] = found[ATTITUDE] @ right_matrix(u[place])
        return slopes

    @property
    def dynamic(self) -> list[Quantity]:
        """The quantities that the motion depends on."""
        return [quantity for quantity in self.quantities if quantity.name not in self.owners]


def shaped(quantity: Quantity, numbers: np.ndarray) -> np.ndarray:
    """Return numbers of a quantity in its shape; six of a (3, 3) are those of a tensor."""
    if quantity.shape != (3, 3):
        return numbers.reshape(quantity.shape)
    xx, yy, zz, xy, xz, yz = numbers
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


# ---- the argument ``free``
def unknowns_of(
    kind: type[Unknowns],
    problem: Any,
    observations: Sequence[Observation],
    free: str | Iterable[str],
) -> Unknowns:
    """Return the unknowns with these names, and those that observations always have."""
    owners = {
        f"{observation.name}.{own}": (place, own)
        for place, observation in enumerate(observations)
        for own in observation.own
    }
    shapes = kind.shapes(problem) | {
        name: observations[place].own[own].shape for name, (place, own) in owners.items()
    }
    always = [name for name, (place, own) in owners.items() if own in observations[place].always]
    asked = [*_asked(free, [STATE, *shapes], kind.state(problem)), *always]
    names = [name for name in shapes if name in asked]
    for one, other in kind.apart:
        if one in names and other in names:
            why = ", which 'state' includes" if STATE in free and one not in free else ""
            raise InputError(f"free has {one!r}{why} and {other!r}: leave out one of them")
    quantities, first = [], 0
    for name in names:
        labels = _labels(name, shapes[name], kind.parts)
        place = slice(first, first + len(labels))
        quantities.append(Quantity(name, place, shapes[name], labels))
        first = place.stop
    owned = {name: owner for name, owner in owners.items() if name in names}
    attitude = np.array(problem.attitude)
    return kind(problem, tuple(observations), tuple(quantities), owned, attitude)


def _asked(free: Any, known: list[str], state: list[str]) -> list[str]:
    """Return the names in ``free``, with the parts of the state in place of it."""
    try:
        given = [free] if isinstance(free, str) else list(free)
    except TypeError:
        given = [free]
    found: list[str] = []
    for name in given:
        if name not in known:
            close = get_close_matches(str(name), known, n=1)
            raise InputError(
                f"free has {name!r}, which this problem has not"
                + (f" (did you mean {close[0]!r}?)" if close else "")
                + f"; choose from {', '.join(known)}"
            )
        found += state if name == STATE else [name]
    return found


def _labels(
    name: str, shape: tuple[int, ...], parts: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the names of the single numbers of a quantity."""
    if shape == ():
        return (name,)
    usual: Sequence[str] = XYZ if shape == (3,) else [str(1 + k) for k in range(shape[0])]
    return tuple(f"{name}.{part}" for part in parts.get(name, usual))
