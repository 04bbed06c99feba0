"""What a run is differentiated by, and its derivatives in the user's axes.

Loops integrate dual numbers in principal axes: each number has a derivative along every direction.
With A the matrix from principal to the user's body axes, a its quaternion, and [α] the matrix of
α x, a change dI of the tensor, in principal axes, changes moments and axes by

    dI_i = dI_ii,    α_k = dI_ij / (I_i - I_j) for k, i, j cyclic                      (1)
    dA = A [α],    da = a (0, α)/2                                                     (2)

and the attitude q of the user's axes and the momentum m in them belong to q a and Aᵀ m:

    d(q a) = dq a + q da,    d(Aᵀ m) = Aᵀ dm - α x Aᵀ m                                (3)

θ is the rotation vector of a small turn in body axes, dq = q (0, θ)/2; in inertial axes θ and the
momentum L = R m change by

    θ' = R θ,    dL = R (dm + θ x m)                                                   (4)
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np

from polhode.body import RigidBody
from polhode.compiler.dual import Dual
from polhode.compiler.tree import flat, like
from polhode.contracts import ORIGIN, Rate
from polhode.contracts.company import company_of
from polhode.errors import InputError
from polhode.kernels.quaternion import product
from polhode.loops.tangents import BLOCK
from polhode.problems.names import places_of_parameters, shapes_in
from polhode.problems.problem import Problem
from polhode.results.derivatives import STATE, Derivatives

FRAMES, CONSTANTS = ("body", "inertial"), ("momentum", "omega")
ATTITUDE, MOMENTUM, POSITION, LINEAR = "attitude", "angular_momentum", "position", "momentum"
SAME = {"omega": MOMENTUM, "velocity": LINEAR}  # directions along a multiple of others
COMPONENTS = (0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)  # of the tensor, Ixx … Iyz
CLOSE = 1e-9  # moments that differ by less than this share are equal: their axes are not defined
WIDTH = 4  # directions in a vector


class Sensitivities:
    """What a run is to be differentiated by, for ``sensitivities=`` of solvers.

    A list of names does for the defaults: ``sensitivities=["state", "moments"]``.

    Parameters
    ----------
    names : of quantities.  "state" is all of the initial state: the attitude (a small rotation
        vector θ), the angular momentum, position and momentum, and the model's variables; parts of
        it are "attitude", "angular_momentum", "omega", "position", "velocity".  "inertia" is the
        tensor (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) in body axes, "moments" the three principal moments,
        "mass" the mass, and "model.strength", "model.heavy_top.strength" are parameters
    frame : "body" or "inertial", the axes of θ and of the angular momentum, at the start and later
    at_constant : what derivatives by inertia, moments and mass hold at the start, "momentum" or
        "omega" (and the velocity)

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.problems.celledoni_heavy_top()
    >>> by = ph.Sensitivities(["state", "moments"], at_constant="omega")
    >>> run = ph.solve(top, (0, 1), dt=0.01, sensitivities=by)
    >>> run.stm.shape, run.sensitivity["moments"].shape
    ((101, 6, 6), (101, 6, 3))
    """

    def __init__(
        self, names: str | Iterable[str], *, frame: str = "body", at_constant: str = "momentum"
    ):
        given = (names,) if isinstance(names, str) else names
        try:
            self.names = tuple(n.strip() if isinstance(n, str) else n for n in given)
        except TypeError:
            self.names = (given,)  # type: ignore[assignment]
        if not self.names or not all(isinstance(name, str) for name in self.names):
            raise InputError(
                "sensitivities must be names, for instance ['state', 'moments'], got"
                f" {list(self.names)!r}; for none leave it out"
            )
        if frame not in FRAMES:
            raise InputError(f"frame must be 'body' or 'inertial', got {frame!r}")
        if at_constant not in CONSTANTS:
            raise InputError(f"at_constant must be 'momentum' or 'omega', got {at_constant!r}")
        self.frame, self.at_constant = frame, at_constant

    def __repr__(self) -> str:
        options = "" if self.frame == FRAMES[0] else f", frame={self.frame!r}"
        if self.at_constant != CONSTANTS[0]:
            options += f", at_constant={self.at_constant!r}"
        return f"Sensitivities({list(self.names)}{options})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sensitivities) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.names, self.frame, self.at_constant))

    @property
    def plain_data(self) -> dict[str, Any]:
        """What a file holds of it."""
        return {
            "names": list(self.names),
            "frame": self.frame,
            "at_constant": self.at_constant,
        }


class Tangents(Sensitivities):
    """Directions along given changes of the initial state, in the user's body axes.

    ``columns`` are rows of numbers: those of θ, m, and x, p if the body moves, then those of the
    model's variables, with one number for each direction.
    """

    def __init__(self, columns: np.ndarray):
        super().__init__((STATE,))
        self.columns = tuple(map(tuple, np.asarray(columns, dtype=float).tolist()))


def asked(sensitivities: Any) -> Sensitivities | None:
    """Return the argument of a solver as a record; None if it was not given."""
    if sensitivities is None or isinstance(sensitivities, Sensitivities):
        return sensitivities
    if isinstance(sensitivities, Mapping):
        if set(sensitivities) != {"names", "frame", "at_constant"}:
            raise InputError(
                "sensitivities must be names, for instance ['state', 'moments'], or a"
                f" ph.Sensitivities, got {dict(sensitivities)!r}"
            )
        return Sensitivities(**sensitivities)  # from a file
    return Sensitivities(sensitivities)


@dataclass(frozen=True, eq=False)
class Blocks:
    """The directions of a run.

    ``blocks`` are the places of the quantities that loops differentiate by; what is asked for is
    made of them.
    """

    by: Sensitivities
    blocks: Mapping[str, slice]
    count: int

    @property
    def vectors(self) -> int:
        """The number of SIMD vectors that hold the directions."""
        return -(-self.count // WIDTH)

    @property
    def width(self) -> int:
        """The number of floats of a dual number."""
        return 1 + WIDTH * self.vectors

    @property
    def outputs(self) -> int:
        """The number of rows of a matrix of derivatives."""
        raise NotImplementedError

    @property
    def room(self) -> int:
        """The bytes for one state: its dual numbers, its derivatives, and their matrix."""
        return 3 * 8 * self.width * (1 + self.outputs)

    def _duals(self, values: Iterable, rows: np.ndarray) -> tuple:
        rest = (0.0,) * (WIDTH * self.vectors - self.count)
        pairs = zip(values, rows.tolist(), strict=True)
        return tuple(Dual(float(x), (*row, *rest)) for x, row in pairs)

    def _numbers(self, numbers: tuple, named: Mapping[str, list[int]]) -> tuple:
        """Return nested parameters, dual where they are differentiated by."""
        values = flat(numbers)
        for name, places in named.items():
            if name in self.blocks:
                units = np.eye(self.count)[self.blocks[name]]
                duals = self._duals([values[place] for place in places], units)
                for place, dual in zip(places, duals, strict=True):
                    values[place] = dual
        return like(numbers, iter(values))

    def _slopes(self, rows: np.ndarray, outputs: int) -> np.ndarray:
        """Return derivatives (times, outputs, directions), after ``outputs`` + 1 numbers."""
        slopes = rows[:, outputs + 1 :].reshape(len(rows), outputs, WIDTH * self.vectors)
        return slopes[:, :, : self.count]


@dataclass(frozen=True, eq=False)
class Directions(Blocks):
    """The directions in which a problem is differentiated."""

    problem: Problem

    @property
    def turns_axes(self) -> bool:
        """Whether the principal axes turn in some direction."""
        return "inertia" in self.blocks

    @cached_property
    def outputs(self) -> int:
        return self._beside + (len(flat(self.problem.model.variables)) if self._coupled else 0)

    @property
    def _beside(self) -> int:
        return 12 if self.problem.moves else 6

    @property
    def _coupled(self) -> bool:
        return self.problem.model.coupled is not None

    # ---- to the loops
    def lifted(self, state: tuple, body: tuple, params: tuple) -> tuple[tuple, tuple, tuple]:
        """Return a state in principal axes, ``body.data`` and params as dual numbers.

        What does not depend on any direction of the body and the params stays a float.
        """
        numbers, *tables = params
        key = np.array(flat((state, body, numbers))).tobytes()  # the sign of 0 counts
        known = self._last.get("known")
        if known is None or known[0] != key:
            known = self._last["known"] = key, self._lifted(state, body, numbers)
        state, body, numbers = known[1]
        return state, body, (numbers, *tables)

    @cached_property
    def _last(self) -> dict[str, tuple]:
        """What was lifted last: a prepared run asks for the same several times."""
        return {}

    def _lifted(self, state: tuple, body: tuple, numbers: tuple) -> tuple[tuple, tuple, tuple]:
        ours, data = flat(state), flat(body)
        states, bodies = self.slopes(np.array([ours]), np.array([data]))
        new_state, places = like(state, iter(self._duals(ours, states[0]))), self.dual_in_body
        duals = self._duals([data[place] for place in places], bodies[0, places])
        for place, dual in zip(places, duals, strict=True):
            data[place] = dual
        named = places_of_parameters(self.problem.model)
        return new_state, like(body, iter(data)), self._numbers(numbers, named)

    @cached_property
    def dual_in_body(self) -> list[int]:
        """Which numbers of ``body.data`` depend on a direction."""
        found: list[int] = []
        if {"inertia", "moments"} & set(self.blocks):
            found += range(6)
        if self.turns_axes:
            found += range(6, 10)
        return found + ([10, 11] if "mass" in self.blocks else [])

    @cached_property
    def dual_in_numbers(self) -> dict[int, int]:
        """The places of parameters that are directions, and of these directions."""
        named = places_of_parameters(self.problem.model).items()
        pairs = ((places, self.blocks[name]) for name, places in named if name in self.blocks)
        return {place: block.start + k for places, block in pairs for k, place in enumerate(places)}

    def slopes(self, states: np.ndarray, bodies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of rows of states and of ``body.data``: (rows, numbers, n)."""
        change = self._changes(states, bodies)
        axes, alpha = self._turning(bodies, change)
        back = axes.transpose(0, 2, 1)
        dq = _turned(states[:, :4]) @ (0.5 * (back @ change["θ"] + alpha))  # (3)
        dm = back @ change["m"]
        beside = [change["x"], change["p"]] if self.problem.moves else []
        of_bodies = np.zeros((*bodies.shape, self.count))
        if self.dual_in_body:
            of_bodies[:, 0:3] = np.einsum("niik->nik", change["inertia"])
            of_bodies[:, 3:6] = -((bodies[:, 3:6] ** 2)[..., None]) * of_bodies[:, 0:3]
            of_bodies[:, 10] = change["mass"]
            of_bodies[:, 11] = -((bodies[:, 11] ** 2)[:, None]) * change["mass"]
        if self.turns_axes:
            dm = dm - np.cross(alpha, states[:, 4:7, None], axis=1)
            of_bodies[:, 6:10] = _turned(bodies[:, 6:10]) @ (0.5 * alpha)  # (2)
        return np.concatenate([dq, dm, *beside, change["y"]], axis=1), of_bodies

    def _changes(self, states: np.ndarray, bodies: np.ndarray) -> dict[str, np.ndarray]:
        """Return how the user's quantities change along each direction, (rows, numbers, n).

        θ and m in the user's body axes; the tensor in principal axes; x, p, mass and variables.
        """
        rows, n = len(states), self.count
        change: dict[str, np.ndarray] = {name: np.zeros((rows, 3, n)) for name in "θmxp"}
        change["y"] = np.zeros((rows, self.outputs - self._beside, n))
        change |= {"inertia": np.zeros((rows, 3, 3, n)), "mass": np.zeros((rows, n))}
        axes = _axes(bodies)
        m, turn = None, (eye := np.eye(3))
        if self.by.frame == "inertial":  # (4)
            m = np.einsum("nij,nj->ni", axes, states[:, 4:7])
            outer = _products(states[:, :4], _conjugates(bodies[:, 6:10]))
            turn = _matrices(outer).transpose(0, 2, 1)
        for name, place in self.blocks.items():
            if name == ATTITUDE:
                change["θ"][:, :, place] = turn
                if m is not None:
                    change["m"][:, :, place] = np.cross(m[..., None], turn, axis=1)
            elif name == MOMENTUM:
                change["m"][:, :, place] = turn
            elif name == POSITION:
                change["x"][:, :, place] = eye
            elif name == LINEAR:
                change["p"][:, :, place] = eye
            elif name == "mass":
                change["mass"][:, place] = 1.0
                if self.by.at_constant == "omega" and self.problem.moves:
                    change["p"][:, :, place] = (states[:, 10:13] / bodies[:, 10:11])[..., None]
            elif name in ("inertia", "moments"):
                self._change_inertia(change, name, place, axes, states, bodies)
            elif name in self._variables:
                first = self._variables[name].start
                for k in range(place.stop - place.start):
                    change["y"][:, first + k, place.start + k] = 1.0
        if isinstance(self.by, Tangents):
            parts = ("θ", "m", "x", "p")[: 4 if self.problem.moves else 2]
            given = np.split(np.array(self.by.columns), 3 * np.arange(1, len(parts) + 1))
            for name, columns in zip((*parts, "y"), given, strict=True):
                change[name][...] = columns
        return change

    def _change_inertia(self, change, name, place, axes, states, bodies) -> None:
        if name == "moments":
            change["inertia"][:, range(3), range(3), range(place.start, place.stop)] = 1.0
        else:
            for k, (i, j) in enumerate(COMPONENTS, start=place.start):
                tensor = np.zeros((3, 3))
                tensor[i, j] = tensor[j, i] = 1.0
                change["inertia"][..., k] = axes.transpose(0, 2, 1) @ tensor @ axes
        if self.by.at_constant == "omega":
            omega = bodies[:, 3:6] * states[:, 4:7]
            inside = np.einsum("nijk,nj->nik", change["inertia"][..., place], omega)
            change["m"][:, :, place] += axes @ inside

    @cached_property
    def _variables(self) -> dict[str, slice]:
        company = company_of(self.problem.model) if self._coupled else None
        places = {} if company is None else company.places
        return {f"model.{name}": place for name, place in places.items()}

    def _turning(
        self, bodies: np.ndarray, change: Mapping[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the matrices A, and α of (1) in principal axes."""
        tensor, moments = change["inertia"], bodies[:, :3]
        turning = np.zeros((len(bodies), 3, self.count))
        if self.turns_axes:
            for k in range(3):
                i, j = (k + 1) % 3, (k + 2) % 3
                turning[:, k] = tensor[:, i, j] / (moments[:, i] - moments[:, j])[:, None]
        return _axes(bodies), turning

    # ---- from the loops
    def derivatives(self, rows: np.ndarray, state: tuple, body: tuple) -> Derivatives:
        """Return derivatives from rows of states in principal axes, which they follow.

        ``state`` is that at the start of the run; see ``loops.tangents.with_tangents``.
        """
        starts = np.array([flat(state)]), np.array([flat(body)])
        places, shapes, scales = self.layout(*starts)
        scales = {name: scale[0] for name, scale in scales.items()}
        return Derivatives(self.along(rows, state, body), places, shapes, scales)

    def along(self, rows: np.ndarray, state: tuple, body: tuple) -> np.ndarray:
        """Return the matrices of these derivatives, (rows, outputs, directions)."""
        starts = np.array([flat(state)]), np.array([flat(body)])
        slopes = self._slopes(rows, self.outputs)
        if self._as_they_are(starts[1]):
            return slopes
        out = np.empty_like(slopes)
        for first in range(0, len(rows), BLOCK):
            block = slice(first, first + BLOCK)
            out[block] = self.matrices(rows[block], slopes[block], *starts)
        return out

    def _as_they_are(self, bodies: np.ndarray) -> bool:
        """Whether derivatives in the user's axes are those in principal axes."""
        still = self.by.frame == FRAMES[0] and not self.turns_axes
        return still and _are_aligned(bodies)

    def matrices(
        self, rows: np.ndarray, slopes: np.ndarray, states: np.ndarray, bodies: np.ndarray
    ) -> np.ndarray:
        """Return derivatives in the user's axes, from rows of states and their derivatives.

        ``states`` and ``bodies`` are those at the start, of all rows or of each.
        """
        if self._as_they_are(bodies):
            return slopes
        m, a = rows[:, 4:7], bodies[:, 6:10]
        axes, alpha = self._turning(bodies, self._changes(states, bodies))
        # the user's axes turn with principal ones, and back by α
        turn = axes @ (slopes[:, :3] - alpha)
        dm = axes @ (slopes[:, 3:6] + np.cross(alpha, m[..., None], axis=1))
        if self.by.frame == "inertial":  # (4)
            outer = _matrices(_products(rows[:, :4], _conjugates(a)))
            shown = axes @ m[..., None]
            dm = outer @ (dm - np.cross(shown, turn, axis=1))
            turn = outer @ turn
        return np.concatenate([turn, dm, slopes[:, 6:]], axis=1)

    def seen(self, row: np.ndarray, state: tuple, body: tuple) -> tuple:
        """Return (x, v, q, ω, y) of one row in the user's axes, as numbers with derivatives."""
        inner = self
        if self.by.frame != FRAMES[0]:
            by = Sensitivities(self.by.names, at_constant=self.by.at_constant)
            inner = replace(self, by=by)
        slopes = inner.along(row[None], state, body)[0]
        change = self._changes(np.array([flat(state)]), np.array([flat(body)]))
        back, axes = _conjugates(np.array([body[2]])), _matrices(np.array([body[2]]))[0]
        q = _products(row[None, :4], back)
        inverse = (axes * np.array(body[1])) @ axes.T
        omega = inverse @ axes @ row[4:7]
        inertia = np.einsum("ai,ijn,bj,b->an", axes, change["inertia"][0], axes, omega)
        x = v = ORIGIN
        if self.problem.moves:
            speed = row[10:13] / body[3]
            dv = (slopes[9:12] - speed[:, None] * change["mass"][0]) / body[3]
            x, v = self._duals(row[7:10], slopes[6:9]), self._duals(speed, dv)
        turned = self._duals(q[0], _turned(q)[0] @ (0.5 * slopes[:3]))
        spun = self._duals(omega, inverse @ (slopes[3:6] - inertia))
        numbers = self._duals(row[self._beside + 1 : self.outputs + 1], slopes[self._beside :])
        return x, v, turned, spun, like(self.problem.model.variables, iter(numbers))

    def layout(self, states: np.ndarray, bodies: np.ndarray) -> tuple:
        """Return the places, shapes and scales of all names that were asked for.

        Scales are matrices, one for each row of states and bodies at the start.
        """
        places: dict[str, slice] = {}
        shapes: dict[str, tuple[int, ...]] = {}
        scales: dict[str, np.ndarray] = {}
        for name in self.by.names:
            block = SAME.get(name, name)
            place = slice(0, self.outputs) if name == STATE else self.blocks[block]
            size = place.stop - place.start
            places[name] = place
            shapes[name] = () if name in self._single else (size,)
            if name == "omega":
                inertial = self.by.frame == "inertial"
                axes = _matrices(states[:, :4] if inertial else bodies[:, 6:10])
                scales[name] = (axes * bodies[:, None, :3]) @ axes.transpose(0, 2, 1)
            elif name == "velocity":
                scales[name] = bodies[:, 10, None, None] * np.eye(3)
        return places, shapes, scales

    @cached_property
    def _single(self) -> set[str]:
        """The names of single numbers."""
        shapes = shapes_in(self.problem.model)
        return {"mass"} | {name for name, shape in shapes.items() if not shape}


def directions_of(problem: Problem, by: Sensitivities) -> Directions:
    """Find the directions for the names that were asked for; raise an error about a wrong one."""
    if isinstance(by, Tangents):
        return Directions(by, {}, len(by.columns[0]), problem)
    for name in by.names:
        if name in (POSITION, "velocity", "mass") and not problem.moves:
            raise InputError(
                f"sensitivities: without a position nothing depends on {name!r}; give position= to"
                " the Problem, or leave it out"
            )
    sizes = sizes_of(problem)
    blocks, first = _places(
        by, sizes | ({LINEAR: 3} if problem.moves else {}), _state(problem), sizes
    )
    _check_body(problem.body, blocks)
    return Directions(by, blocks, first, problem)


def _places(
    by: Sensitivities, sizes: Mapping[str, int], state: list[str], allowed: Iterable[str]
) -> tuple[dict[str, slice], int]:
    """Return the places of the quantities that were asked for, and how many numbers they are.

    The parts of the ``state`` come first.
    """
    for name in by.names:
        if name not in (STATE, *allowed):
            close = _close(name, [STATE, *allowed])
            raise InputError(
                f"sensitivities: there is no {name!r} in this problem"
                + (f" (did you mean {' or '.join(map(repr, close))}?)" if close else "")
                + f"; choose from {', '.join([STATE, *allowed])}"
            )
    wanted = {SAME.get(name, name) for name in by.names}
    if STATE in wanted:
        wanted |= set(state)
    blocks, first = {}, 0
    for name in dict.fromkeys((*state, *sizes)):
        if name in wanted:
            blocks[name] = slice(first, first + sizes[name])
            first += sizes[name]
    return blocks, first


def _close(name: str, allowed: list[str]) -> list[str]:
    """Return the names that have a word in common with this one, or else the most similar."""
    words = [set(re.split(r"[._]", other)) for other in (name, *allowed)]
    found = [a for a, own in zip(allowed, words[1:], strict=True) if name in own or a in words[0]]
    return found or get_close_matches(name, allowed, n=1)


def scales_of(problem: Problem) -> np.ndarray:
    """Return sizes of the rows of a matrix, by which tangents are measured.

    That of θ is 1 rad.  Those of the other parts are their lengths at the start, or 1 SI unit where
    a part is 0 there: of the momenta, those of 1 rad/s and of 1 m/s.
    """

    def size(values: Any, else_one: float) -> float:
        return float(np.linalg.norm(values)) or else_one

    moment, mass = max(problem.body.data[0]), problem.body.mass
    found = [1.0] * 3 + [size(problem.angular_momentum, moment)] * 3
    if problem.moves:
        found += [size(problem.position, 1.0)] * 3
        found += [mass * size(problem.velocity, 1.0)] * 3
    if problem.model.coupled is not None:
        company = company_of(problem.model)
        assert company is not None
        values = np.array(flat(problem.model.variables))
        for place, scale in zip(company.places.values(), company.scales, strict=True):
            found += [size(values[place], scale or 1.0)] * (place.stop - place.start)
    return np.array(found)


def sizes_of(problem: Problem) -> dict[str, int]:
    """Return the names that a problem can be differentiated by, with their counts of numbers."""
    sizes = {ATTITUDE: 3, MOMENTUM: 3, "omega": 3}
    if problem.moves:
        sizes |= {POSITION: 3, "velocity": 3}
    sizes |= {"inertia": 6, "moments": 3}
    if problem.moves:
        sizes["mass"] = 1
    model = problem.model
    sizes |= {name: len(places) for name, places in places_of_parameters(model).items()}
    company = None if model.coupled is None else company_of(model)
    if company is not None:
        sizes |= {f"model.{name}": p.stop - p.start for name, p in company.places.items()}
    return sizes


def _state(problem: Problem) -> list[str]:
    """List the parts of the state, in the order of the rows of a matrix."""
    company = None if problem.model.coupled is None else company_of(problem.model)
    names = [ATTITUDE, MOMENTUM, *((POSITION, LINEAR) if problem.moves else ())]
    return names + ([] if company is None else [f"model.{name}" for name in company.names])


def _check_body(body: RigidBody, blocks: Mapping[str, slice]) -> None:
    """Raise an error about derivatives that a body does not have."""
    moments = body.data[0]
    asked = [name for name in ("inertia", "moments") if name in blocks]
    if asked and min(moments) <= 0.0:
        raise InputError(
            f"sensitivities: a rod, which has the moments {list(moments)}, has no derivative by"
            f" {asked[0]!r}; leave it out"
        )
    gaps = [abs(moments[i] - moments[i - 1]) for i in range(3)]
    if "inertia" in blocks and min(gaps) <= CLOSE * max(moments):
        raise InputError(
            f"sensitivities: two of the moments {list(moments)} are equal, so there are no"
            " principal axes that products of inertia would turn; use 'moments' in place of"
            " 'inertia', or moments that differ"
        )


# ---- a given angular velocity
@dataclass(frozen=True, eq=False)
class RateDirections(Blocks):
    """The directions in which a motion with a given angular velocity is differentiated."""

    rate: Rate
    parameters: Mapping[str, list[int]]

    @property
    def outputs(self) -> int:
        return 3 + len(flat(self.rate.variables))

    def lifted(self, q: tuple) -> tuple[tuple, tuple, tuple]:
        """Return the attitude, the variables and the params as dual numbers."""
        seeds, quat = np.zeros((self.outputs, self.count)), np.array([q])
        first = 3
        for name, place in self.blocks.items():
            if name == ATTITUDE:
                inner = np.eye(3)
                seeds[:3, place] = inner if self.by.frame == "body" else _matrices(quat)[0].T
            elif name not in self.parameters:
                size = place.stop - place.start
                start = first + self._company.places[name].start
                seeds[start : start + size, place] = np.eye(size)
        dq = _turned(quat)[0] @ (0.5 * seeds[:3])
        variables = self._duals(flat(self.rate.variables), seeds[3:])
        numbers, *tables = self.rate.params
        return (
            self._duals(q, dq),
            variables,
            (self._numbers(numbers, self.parameters), *tables),
        )

    @cached_property
    def _company(self) -> Any:
        return company_of(self.rate)

    def seen(self, row: np.ndarray) -> tuple[tuple, Any, tuple]:
        """Return (q, y, params) of one row as numbers with derivatives."""
        slopes = self._slopes(row[None], self.outputs)[0]
        q = self._duals(row[:4], _turned(row[None, :4])[0] @ (0.5 * slopes[:3]))
        y = self._duals(row[4 : self.outputs + 1], slopes[3:])
        numbers, *tables = self.rate.params
        params = self._numbers(numbers, self.parameters), *tables
        return q, like(self.rate.variables, iter(y)), params

    def derivatives(self, rows: np.ndarray) -> Derivatives:
        """Return derivatives from rows of attitudes and variables, which they follow."""
        slopes = np.array(self._slopes(rows, self.outputs))
        if self.by.frame == "inertial":
            slopes[:, :3] = _matrices(rows[:, :4]) @ slopes[:, :3]
        places = {
            n: slice(0, self.outputs) if n == STATE else self.blocks[n] for n in self.by.names
        }
        single = {name for name, found in self.parameters.items() if len(found) == 1}
        if self._company is not None:
            pairs = zip(self._company.names, self._company.shapes, strict=True)
            single |= {name for name, shape in pairs if not shape}
        shapes = {n: () if n in single else (p.stop - p.start,) for n, p in places.items()}
        return Derivatives(slopes, places, shapes, {})


def rate_directions_of(rate: Rate, by: Sensitivities | None) -> RateDirections | None:
    """Find the directions of a given angular velocity."""
    if by is None:
        return None
    company, numbers = company_of(rate), rate.params[0]
    sizes = {ATTITUDE: 3}
    if company is not None:
        sizes |= {name: place.stop - place.start for name, place in company.places.items()}
    state = list(sizes)
    indices = like(numbers, iter(range(len(flat(numbers)))))
    pairs = zip(rate.names, indices, strict=True)
    parameters = {
        name: flat(found) if isinstance(found, tuple) else [found] for name, found in pairs
    }
    sizes |= {name: len(found) for name, found in parameters.items() if found}
    for name in (STATE, ATTITUDE):
        if name in by.names and name in (*parameters, *rate.variable_names):
            raise InputError(
                f"sensitivities: {name!r} is the {name} of the motion, and a parameter or variable"
                " has this name, too: give that one another"
            )
    return RateDirections(by, *_places(by, sizes, state, sizes), rate, parameters)


# ---- quaternions and vectors along the second axis of arrays
def _products(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    both = (tuple(np.moveaxis(x, 1, 0)) for x in (p, q))
    return np.stack(np.broadcast_arrays(*product(*both)), axis=1)


def _conjugates(q: np.ndarray) -> np.ndarray:
    return q * (1.0, -1.0, -1.0, -1.0)


def _turned(q: np.ndarray) -> np.ndarray:
    """Return the matrices of v -> q (0, v)."""
    w, x, y, z = q.T
    rows = [[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]
    return np.array(rows).transpose(2, 0, 1)


def _axes(bodies: np.ndarray) -> np.ndarray:
    """Return the matrices from principal axes to body axes."""
    if _are_aligned(bodies):
        return np.tile(np.eye(3), (len(bodies), 1, 1)) if len(bodies) > 1 else np.eye(3)[None]
    return _matrices(bodies[:, 6:10])


def _are_aligned(bodies: np.ndarray) -> bool:
    """Return whether the body axes of all are principal axes."""
    return bool((bodies[:, 6] == 1.0).all())


def _matrices(q: np.ndarray) -> np.ndarray:
    """Return the matrices of quaternions of any length."""
    w, x, y, z = q.T
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    squares = np.einsum("ni,ni->n", q, q)[:, None, None]
    return np.array(rows).transpose(2, 0, 1) / squares
