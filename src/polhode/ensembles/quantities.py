"""Quantities of members: how to compute them from states, and how results and files label them."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from polhode import loops
from polhode.body.rigid_body import angular_velocities
from polhode.compiler.machine import CompiledOrPlain, take
from polhode.compiler.tree import bind
from polhode.contracts import ORIGIN, Model, potential_at
from polhode.ensembles.members import AXES, INVERSE, INVERSE_MASS, Members, Rows
from polhode.files.netcdf import BESIDE
from polhode.kernels.quaternion import conjugate, product, to_inertial

# ---- labels
XYZ, WXYZ = "component", "quaternion"
COMPONENTS = {WXYZ: list("wxyz"), XYZ: list("xyz")}
ATTITUDE = "attitude, body to inertial, Hamilton, scalar first"


class Caption(NamedTuple):
    """The dimensions of one value, its units and a description."""

    dims: tuple[str, ...]
    units: str
    text: str

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(COMPONENTS[dim]) for dim in self.dims)


QUANTITIES = {  # what ``Snapshot`` computes, and reductions take
    "q": Caption((WXYZ,), "", ATTITUDE),
    "omega": Caption((XYZ,), "rad/s", "angular velocity, body axes"),
    "angular_momentum": Caption((XYZ,), "kg m2/s", "angular momentum, body axes"),
    "omega_inertial": Caption((XYZ,), "rad/s", "angular velocity, inertial axes"),
    "angular_momentum_inertial": Caption((XYZ,), "kg m2/s", "angular momentum, inertial axes"),
    "speed": Caption((), "rad/s", "magnitude of the angular velocity"),
    "kinetic_energy": Caption((), "J", "kinetic energy"),
    "energy": Caption((), "J", "kinetic and potential energy"),
    "position": Caption((XYZ,), "m", "position of the centre of mass, inertial axes"),
    "velocity": Caption((XYZ,), "m/s", "velocity of the centre of mass, inertial axes"),
}
CAPTIONS = QUANTITIES | {
    "attitude": QUANTITIES["q"],
    "inertia": Caption((XYZ,), "kg m2", "moments of inertia, body axes"),
    "mass": Caption((), "kg", "mass"),
    "status": Caption((), "", "status of the member at its end; 0: success"),
    "t_reached": Caption((), "s", "time of the last good state"),
    "nsteps": Caption((), "", "steps"),
    "niter": Caption((), "", "Newton iterations, or rejected trial steps"),
    "count": Caption((), "", "members that had not failed"),
    "time": Caption((), "s", "time"),
    "time_reduced": Caption((), "s", "time of the reductions"),
}


class Labelled(NamedTuple):
    """Values with the names of their dimensions, attributes and coordinates, as for xarray."""

    dims: tuple[str, ...]
    values: Any
    attrs: dict[str, Any]
    coords: dict[str, Any]


def caption(name: str, shape: tuple[int, ...] = ()) -> Caption:
    """The caption of a quantity, or of a variable of the model with values of this shape."""
    if name in CAPTIONS:
        return CAPTIONS[name]
    dims = (f"{BESIDE}{name}_part",) if shape else ()
    return Caption(dims, "", f"{name}, a variable of the model")


def label(name: str, before: tuple[str, ...], values: Any, shape: tuple[int, ...] = ()) -> Labelled:
    """Label a quantity; ``before`` are the dimensions before its own, ``shape`` as above."""
    dims, units, text = caption(name, shape)
    attrs = {"long_name": text} | ({"units": units} if units else {})
    return Labelled((*before, *dims), values, attrs, {})


def label_varied(name: str, values: np.ndarray) -> Labelled:
    """Label values that were varied, (members, …)."""
    dims, units, text = CAPTIONS.get(name, ((), "", f"parameter {name} of the model"))
    if name == "inertia" and values.ndim == 3:
        dims, text = (XYZ, "component_2"), "tensor of inertia, body axes"
    elif name not in CAPTIONS and values.ndim > 1:
        dims = (XYZ,) if values.shape[1] == 3 else (f"{name}_part",)
    attrs = {"long_name": f"varied: {text}"} | ({"units": units} if units else {})
    return Labelled(("member", *dims), values, attrs, {})


# ---- values
class Snapshot:
    """Quantities of members at one time, in the user's axes, each computed on first use.

    ``states`` are (q, m), (x, p) if the bodies move, and the variables of the model, in principal
    axes; every quantity is an array (members, components).
    """

    def __init__(self, members: Members, rows: Rows, t: float, states: np.ndarray):
        self.problem, self.aligned, self.members = members.problem, members.is_aligned, members
        self.rows, self.t, self.states = rows, t, states
        self._inverse = rows.bodies[:, INVERSE]

    def __getitem__(self, name: str) -> np.ndarray:
        """A quantity, or a variable of the model."""
        if name in QUANTITIES:
            return getattr(self, name)
        company = self.members.company
        if company is None or name not in company.names:
            raise KeyError(name)
        return self.variables[:, company.places[name]]

    @property
    def variables(self) -> np.ndarray:
        """All variables of the model."""
        return self.states[:, self.members.beside :]

    def _from_body(self, v: np.ndarray) -> np.ndarray:
        return np.stack(to_inertial(tuple(self.states[:, :4].T), tuple(v.T)), axis=1)

    @cached_property
    def q(self) -> np.ndarray:
        q = self.states[:, :4]
        if self.aligned:
            return q
        axes = tuple(self.rows.bodies[:, AXES].T)
        return np.stack(product(tuple(q.T), conjugate(axes)), axis=1)

    @cached_property
    def angular_momentum(self) -> np.ndarray:
        m = self.states[:, 4:7]
        if self.aligned:
            return m
        return np.stack(to_inertial(tuple(self.rows.bodies[:, AXES].T), tuple(m.T)), axis=1)

    @cached_property
    def omega(self) -> np.ndarray:
        if self.aligned:
            return self.states[:, 4:7] * self._inverse
        axes, inverse = self.rows.bodies[:, AXES], self._inverse
        return angular_velocities(self.angular_momentum, tuple(axes.T), tuple(inverse.T))

    @property
    def omega_inertial(self) -> np.ndarray:
        return self._from_body(self.states[:, 4:7] * self._inverse)

    @property
    def angular_momentum_inertial(self) -> np.ndarray:
        return self._from_body(self.states[:, 4:7])

    @property
    def speed(self) -> np.ndarray:
        return np.linalg.norm(self.omega, axis=1, keepdims=True)

    @property
    def position(self) -> np.ndarray:
        return self.states[:, 7:10]

    @property
    def velocity(self) -> np.ndarray:
        return self.states[:, 10:13] * self.rows.bodies[:, INVERSE_MASS]

    @cached_property
    def kinetic_energy(self) -> np.ndarray:
        m = self.states[:, 4:7]
        rotation = 0.5 * (m * m * self._inverse).sum(axis=1, keepdims=True)
        if not self.problem.moves:
            return rotation
        p = self.states[:, 10:13]
        return rotation + 0.5 * (p * p * self.rows.bodies[:, INVERSE_MASS]).sum(1, keepdims=True)

    @property
    def energy(self) -> np.ndarray:
        problem, model = self.problem, self.problem.model
        pattern = problem.state, problem.body.data, model.numbers
        table = np.hstack([self.states, self.rows.bodies, self.rows.numbers])
        potential = np.empty(len(table))
        run = potential_loop(model, self.aligned, problem.moves)
        run(self.t, table, pattern, model.tables, potential)
        return self.kinetic_energy + potential[:, None]

    @cached_property
    def event_rows(self) -> np.ndarray:
        """Rows (q, omega), (x, v) if the bodies move, and variables: the arguments of events."""
        translation = (self.position, self.velocity) if self.problem.moves else ()
        return np.hstack([self.q, self.omega, *translation, self.variables])


def member_potentials(t, rows, pattern, tables, out):
    """The potential energy of every member: rows (state, body, numbers)."""
    for i in range(len(rows)):
        (q, _, x, _), body, numbers = with_position(take(rows, i, 0, pattern))
        out[i] = potential_at(t, q, x, body, (numbers, tables))


def with_position(member):
    """((q, m, x, p), body, numbers) of a member that does not move; replaced for one that does."""
    (q, m), body, numbers = member
    return (q, m, ORIGIN, ORIGIN), body, numbers


def moving_as_is(member):
    return member


_potential_loops: dict = {}


def potential_loop(model: Model, aligned: bool, moving: bool) -> CompiledOrPlain:
    key = model.potential, model.potential_at, aligned, moving
    if key not in _potential_loops:
        template = bind(member_potentials, {with_position: moving_as_is} if moving else {})
        _potential_loops[key] = loops.build(template, None, model, aligned)
    return _potential_loops[key]
