"""The members of an ensemble: a problem, and what varies from member to member."""

import math
import secrets
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np

from polhode.body import RigidBody
from polhode.body.inertia import TOLERANCE, checked
from polhode.compiler.tree import flat, like
from polhode.contracts.checks import whole
from polhode.contracts.company import company_of, count_numbers
from polhode.ensembles.distributions import GROUP, Around, Distribution, Sweep, draw_members
from polhode.errors import InputError
from polhode.kernels.quaternion import product, to_body, to_inertial
from polhode.kernels.vector import scale
from polhode.problems.names import (
    TRANSLATION,
    places_of_parameters,
    shapes_of,
    with_numbers,
    with_variables,
)
from polhode.problems.problem import Problem, inner_state
from polhode.solvers.bound import problem_facts

INERTIA, INVERSE, AXES = slice(0, 3), slice(3, 6), slice(6, 10)  # columns of ``Rows.bodies``
MASS, INVERSE_MASS = slice(10, 11), slice(11, 12)


@dataclass(frozen=True)
class Rows:
    """Some members as the loops take them, one row each.

    ``states``: (q, m), and (x, p) if the bodies move, in principal axes; ``bodies``: the numbers of
    ``RigidBody.data``; ``numbers``: the parameters of the model; ``axes``: the axis of symmetry,
    -1 if there is none.
    """

    states: np.ndarray
    bodies: np.ndarray
    numbers: np.ndarray
    axes: np.ndarray

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, key: Any) -> "Rows":
        return Rows(self.states[key], self.bodies[key], self.numbers[key], self.axes[key])


class Members:
    """``count`` members; any range of them is computed on demand.

    ``vary`` maps the name of a quantity to an array with one entry for each member, to a
    ``Distribution`` or to a ``Sweep``; all other quantities are those of the problem.
    """

    def __init__(self, problem: Problem, count: int, vary: Mapping[str, Any], seed: int):
        self.problem, self.count, self.seed = problem, count, seed
        self.vary = dict(vary)
        self.moves = problem.moves
        self.shapes = shapes_of(problem)
        self.company = None if problem.model.coupled is None else company_of(problem.model)
        self.beside = 13 if self.moves else 7  # where the variables of the model begin in a state
        self.width = self.beside  # numbers of a state
        if self.company is not None:
            self.width += count_numbers(self.company)
        if "angular_momentum" in vary and "omega" in vary:
            raise InputError("vary omega or angular_momentum, not both")
        given: Any = getattr(vary.get("inertia"), "values", vary.get("inertia"))
        self.tensors = np.ndim(given) == 3
        self.is_aligned = not self.tensors if "inertia" in vary else problem.body.is_aligned
        self._group: tuple[tuple[int, int], Rows] | None = None

    @cached_property
    def problem_data(self) -> dict[str, Any]:
        """The problem as plain data, for results and files."""
        return problem_facts(self.problem, self.problem.state, self.problem.model.params)

    def with_vary(self, vary: dict[str, Any]) -> "Members":
        """The same members, with some of their values held in another form."""
        made = copy(self)
        made.vary, made._group = self.vary | vary, None
        return made

    def values(self, name: str, first: int, last: int) -> np.ndarray:
        """The values of a varied quantity for the members from ``first`` to ``last``."""
        source, shape = self.vary[name], self.shapes[name]
        if isinstance(source, Distribution):
            try:
                found = draw_members(source, self.seed, name, first, last, shape)
            except InputError as error:
                raise InputError(f"vary[{name!r}]: {error}") from None
            if isinstance(source, Around):
                own = tuple(self.problem.attitude)
                found = np.stack(product(own, tuple(found.T)), axis=1)
        elif isinstance(source, Sweep):
            inner, length = self._grid[name]
            found = source.values[np.arange(first, last) // inner % length]
        else:
            found = source[first:last]
        return found

    @cached_property
    def _grid(self) -> dict[str, tuple[int, int]]:
        """For each sweep: how many members in a row share a value, and the number of values."""
        sweeps = {k: len(v) for k, v in self.vary.items() if isinstance(v, Sweep)}
        found, inner = {}, 1
        for name, length in reversed(sweeps.items()):
            found[name] = inner, length
            inner *= length
        return found

    def rows(self, first: int, last: int) -> Rows:
        """The members from ``first`` to ``last``, checked; the last group computed is kept."""
        if self._group is not None and self._group[0] == (first, last):
            return self._group[1]
        rows = self._rows(first, last)
        if last - first <= GROUP:
            self._group = (first, last), rows
        return rows

    def _rows(self, first: int, last: int) -> Rows:
        n, problem = last - first, self.problem
        varied = {name: self.values(name, first, last) for name in self.vary}
        bodies = self._bodies(varied, n, first)
        axes = tuple(bodies[:, AXES].T)
        q = tuple(varied["attitude"].T) if "attitude" in varied else problem.attitude
        if "angular_momentum" in varied:
            m = tuple(varied["angular_momentum"].T)
        else:
            omega = tuple(varied["omega"].T) if "omega" in varied else problem.omega
            inside = omega if self.is_aligned else to_body(axes, omega)
            m = scale(tuple(bodies[:, INERTIA].T), inside)
            m = m if self.is_aligned else to_inertial(axes, m)
        translation: tuple = ()
        if self.moves:
            translation = tuple(
                tuple(varied[name].T) if name in varied else getattr(problem, name)
                for name in TRANSLATION
            )
        many: Any = _Bodies(self.is_aligned, axes, bodies[:, 10])
        state = inner_state(many, q, m, *translation)
        columns = [np.broadcast_to(column, n) for column in flat(state)]
        columns += self._variables(varied, n)
        numbers = np.tile(np.array(flat(problem.model.numbers), dtype=float), (n, 1))
        for name, values in varied.items():
            if name in self._columns:
                numbers[:, self._columns[name]] = values.reshape(n, -1)
        rows = Rows(np.stack(columns, axis=1), bodies, numbers, symmetry_axes(bodies))
        tables = rows.states, rows.bodies, rows.numbers
        if not all(np.isfinite(table).all() for table in tables):
            bad = ~np.isfinite(np.hstack(tables)).all(axis=1)
            raise InputError(f"member {first + int(np.argmax(bad))} has a value that is not finite")
        return rows

    def _variables(self, varied: dict, n: int) -> list[np.ndarray]:
        """Columns of the initial values of the model's variables."""
        if self.company is None:
            return []
        rows = np.tile(np.array(flat(self.problem.model.variables)), (n, 1))
        for name, place in self.company.places.items():
            if (key := f"model.{name}") in varied:
                rows[:, place] = varied[key].reshape(n, -1)
        return list(rows.T)

    def _bodies(self, varied: dict, n: int, first: int) -> np.ndarray:
        """Rows (inertia, inverse, axes, mass, 1/mass)."""
        rows = np.tile(np.array(flat(self.problem.body.data)), (n, 1))
        if self.tensors:
            for i, tensor in enumerate(varied["inertia"]):
                try:
                    rows[i] = flat(RigidBody(tensor, self.problem.body.mass).data)
                except InputError as error:
                    raise InputError(f"member {first + i}: {error}") from None
        elif "inertia" in varied:
            moments = varied["inertia"]
            a, b, c = moments.T
            largest, least = np.maximum(np.maximum(a, b), c), np.minimum(np.minimum(a, b), c)
            bad = (least < 0) | (largest <= 0) | ~np.isfinite(largest)
            bad |= largest > (a + b + c - largest) * (1 + TOLERANCE)
            for i in np.flatnonzero(bad).tolist():
                try:
                    checked(moments[i])
                except InputError as error:
                    raise InputError(f"member {first + i}: {error}") from None
            rows[:, INERTIA], rows[:, AXES] = moments, (1.0, 0.0, 0.0, 0.0)
            with np.errstate(divide="ignore"):
                rows[:, INVERSE] = np.where(moments > 0, 1.0 / moments, 0.0)
        if "mass" in varied:
            mass = varied["mass"]
            if not (mass > 0).all():
                i = int(np.argmin(mass > 0))
                raise InputError(f"member {first + i}: mass must be positive, got {mass[i]!r}")
            rows[:, 10], rows[:, 11] = mass, 1.0 / mass
        return rows

    @cached_property
    def _columns(self) -> dict[str, np.ndarray]:
        """The columns of each parameter of the model in ``Rows.numbers``."""
        places = places_of_parameters(self.problem.model)
        return {name: np.array(found) for name, found in places.items()}

    def of(self, member: int) -> Problem:
        """The problem of one member, to run it alone."""
        if not 0 <= member < self.count:
            raise InputError(
                f"there is no member {member}: members are numbered 0 to {self.count - 1}"
            )
        varied = {name: self.values(name, member, member + 1)[0] for name in self.vary}
        problem, body = self.problem, self.problem.body
        if "inertia" in varied or "mass" in varied:
            body = RigidBody(varied.get("inertia", body.inertia), varied.get("mass", body.mass))
        rate = "angular_momentum" if "angular_momentum" in varied else "omega"
        rows = self.rows(member, member + 1)
        numbers, beside = rows.numbers[0].tolist(), rows.states[0, self.beside :].tolist()
        model = with_numbers(problem.model, like(problem.model.numbers, iter(numbers)))
        names = TRANSLATION if self.moves else ()
        return Problem(
            body,
            model if self.company is None else with_variables(model, iter(beside)),
            attitude=varied.get("attitude", problem.attitude),
            scalar_first=True,
            **{rate: varied.get(rate, getattr(problem, rate))},
            **{name: varied.get(name, getattr(problem, name)) for name in names},
            name=f"{problem.name or 'member'} {member}",
        )


class _Bodies:
    """Many bodies in the form in which ``inner_state`` takes one."""

    def __init__(self, is_aligned: bool, axes: tuple, mass: np.ndarray):
        self.is_aligned, self.mass = is_aligned, mass
        self.data = None, None, axes


def symmetry_axes(bodies: np.ndarray) -> np.ndarray:
    """``RigidBody.symmetry_axis`` of every row, -1 if there is none."""
    a, b, c = bodies[:, INERTIA].T
    return np.select([a == b, b == c, a == c], [2, 0, 1], -1)


# ---- arguments of ``solve_ensemble``
def members_of(problem: Problem, members: Any, samples: Any, vary: Any, seed: Any) -> Members:
    """The members that these arguments describe; the first group of them is checked."""
    given, also = _mapping(samples, "samples"), _mapping(vary, "vary")
    for name in given:
        if name in also:
            raise InputError(f"{name!r} is in samples= and in vary=: leave out one of them")
    shapes = shapes_of(problem)
    sources: dict[str, Any] = {}
    lengths: dict[str, int] = {}
    for name, value in (given | also).items():
        argument = f"{'samples' if name in given else 'vary'}[{name!r}]"
        if name not in shapes:
            close = get_close_matches(str(name), shapes, n=1)
            raise InputError(
                f"{argument}: there is nothing of this name to vary"
                + (f" (did you mean {close[0]!r}?)" if close else "")
                + f"; choose from {', '.join(shapes)}"
            )
        if isinstance(value, Distribution):
            sources[name] = value
        elif isinstance(value, Sweep):
            sources[name] = Sweep(member_array(name, value.values, shapes[name], argument))
        else:
            sources[name] = member_array(name, value, shapes[name], argument)
            lengths[argument] = len(sources[name])
    swept = [len(s) for s in sources.values() if isinstance(s, Sweep)]
    if swept:
        lengths["the grid of sweeps"] = math.prod(swept)
    if members is not None:
        lengths["members"] = whole(members, "members", 1)
    if not lengths:
        raise InputError("the number of members is missing: give members=, samples=, or arrays or"
                         " sweeps in vary=")  # fmt: skip
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{what} has {n}" for what, n in lengths.items())
        raise InputError(f"the number of members is not clear: {counts}")
    number = secrets.randbits(64) if seed is None else whole(seed, "seed", 0)
    return make_members(problem, next(iter(lengths.values())), sources, number)


def make_members(problem: Problem, count: int, vary: Mapping[str, Any], seed: int) -> Members:
    """Make ``Members``; the first group of them is checked."""
    found = Members(problem, count, vary, seed)
    found.rows(0, min(count, GROUP))
    return found


def _mapping(given: Any, argument: str) -> dict[str, Any]:
    """The names and values of a mapping, or the variables of an xarray data set."""
    if given is None:
        return {}
    if hasattr(given, "data_vars"):
        return {str(name): given[name] for name in given.data_vars}
    if not isinstance(given, Mapping):
        raise InputError(
            f"{argument} must map names to arrays (or distributions, in vary), got {given!r}"
        )
    return dict(given)


def member_array(name: str, value: Any, shape: tuple[int, ...], argument: str = "") -> np.ndarray:
    """One value for each member, the members first; messages call it ``argument``."""
    argument = argument or f"vary[{name!r}]"
    wanted = f"of shape (members, {shape[0]})" if shape else "of shape (members,)"
    if name == "inertia":
        wanted += " or (members, 3, 3)"
    if hasattr(value, "dims"):  # xarray
        if "member" not in value.dims:
            raise InputError(f"{argument} must have the dimension 'member', got {value.dims}")
        value = value.transpose("member", ...).values
    try:
        if name == "attitude":
            wanted = "a SciPy Rotation of all members, or matrices (members, 3, 3)"
            array = _quaternions(value, argument)
        else:
            array = np.array(value, dtype=float)
    except InputError:
        raise
    except (TypeError, ValueError):
        raise InputError(f"{argument} must be {wanted}, got {value!r}") from None
    allowed = [shape, (3, 3)] if name == "inertia" else [shape]
    if array.ndim == 0 or (isinstance(value, np.ndarray) and np.iscomplexobj(value)):
        raise InputError(f"{argument} must be {wanted}, got {value!r}")
    if array.shape[1:] not in allowed or len(array) == 0:
        raise InputError(f"{argument} must be {wanted}, got shape {array.shape}")
    if not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0].tolist()
        raise InputError(f"{argument} must be finite, but {place} is not")
    return array


def _quaternions(value: Any, argument: str) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    if isinstance(value, Rotation):
        return np.atleast_2d(value.as_quat(scalar_first=True))
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], Rotation):
        return np.array([one.as_quat(scalar_first=True) for one in value])
    array = np.asarray(value, dtype=float)
    if array.ndim != 3 or array.shape[1:] != (3, 3):
        raise InputError(
            f"{argument} must be a SciPy Rotation of all members, or matrices (members, 3, 3), got"
            f" shape {array.shape}"
        )
    off = np.abs(array @ array.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2), initial=0.0)
    bad = ~((off <= 1e-6) & (np.linalg.det(array) > 0))
    if bad.any():
        i = int(np.argmax(bad))
        raise InputError(
            f"{argument}: the matrix of member {i} must be a proper rotation, but R Rᵀ differs from"
            f" 1 by {off[i]:.3g}, and its determinant is {np.linalg.det(array[i]):.6g}"
        )
    return Rotation.from_matrix(array).as_quat(scalar_first=True)
