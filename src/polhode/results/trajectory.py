"""``Trajectory``: what a solver returns."""

import html
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode._version import __version__
from polhode.body import RigidBody
from polhode.contracts import OK, Status
from polhode.errors import InputError
from polhode.files import netcdf as storage

if TYPE_CHECKING:
    import pandas
    import xarray
    from scipy.spatial.transform import Rotation


def as_text(title: str, words: Mapping[str, str]) -> str:
    """What is told of a result, a line each."""
    return f"{title}\n" + "\n".join(f"  {k:<8} {v}" for k, v in words.items())


def as_html(title: str, words: Mapping[str, str]) -> str:
    """The same as a table, for notebooks."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(k)}</th>"
        f"<td style='text-align:left'>{html.escape(v)}</td></tr>"
        for k, v in words.items()
    )
    return f"<table><caption>{title}</caption>{rows}</table>"


class Details:
    """What a trajectory computes only when it is asked for; None is what it does not know."""

    def motion(self) -> tuple[Any, Any]:
        """(attitudes, angular momenta in body axes)."""
        raise NotImplementedError

    def omega(self) -> np.ndarray | None:
        """Angular velocities in body axes, where they do not follow from the momenta."""
        return None

    def translation(self) -> tuple[Any, Any]:
        """(positions, velocities) of the centre of mass."""
        return None, None

    def potential(self) -> np.ndarray | None:
        return None

    def accelerations(self) -> tuple[Any, Any]:
        """(angular accelerations in body axes, accelerations of the centre of mass)."""
        return None, None

    def sol(self, times: np.ndarray, facts: dict[str, Any]) -> "Trajectory":
        """The trajectory at other times, with these attributes."""
        raise InputError(
            "this trajectory has no dense output (it was read from a file, or made from samples);"
            " give the times as t_eval= when it is made"
        )

    def problem(self) -> dict:
        return {}


class Known(Details):
    """The same where it is known already, or a function says it."""

    def __init__(self, omega, potential, problem, x=None, v=None):
        self._omega, self._potential, self._problem = omega, potential, problem
        self._place = x, v

    def omega(self):
        return self._omega

    def translation(self):
        return self._place

    def potential(self):
        return None if self._potential is None else self._potential()

    def problem(self):
        return {} if self._problem is None else self._problem()


class Part(Details):
    """Some rows of another trajectory."""

    def __init__(self, whole: "Trajectory", key: Any):
        self.whole, self.key = whole, key

    def _of(self, values):
        return None if values is None else values[self.key]

    def motion(self):
        return self.whole.q[self.key], self._of(self.whole.angular_momentum)

    def omega(self):
        return self._of(self.whole.omega) if self.whole.body is None else None

    def potential(self):
        return self._of(self.whole.potential_energy)

    def translation(self):
        return self._of(self.whole.x), self._of(self.whole.v)

    def accelerations(self):
        return self._of(self.whole.angular_acceleration), self._of(self.whole.acceleration)

    def sol(self, times, facts):
        return self.whole._details.sol(times, facts)

    def problem(self):
        return self.whole.problem


FACTS = (
    *("body", "method", "status", "message", "nsteps", "nfev", "niter", "rejected", "t_events"),
    *("arguments", "reason"),
)


class Trajectory:
    """The motion of one body; the time axis comes first.

    Attributes
    ----------
    t : (n,) times
    q : (n, 4) attitude (w, x, y, z), body to inertial, of continuous sign
    angular_momentum : (n, 3) in body axes
    omega : (n, 3) angular velocity in body axes
    angular_momentum_inertial : (n, 3)
    kinetic_energy, potential_energy, energy : (n,), the last two None if no potential is known
    rotation : SciPy ``Rotation`` of n attitudes
    error : (n,) estimated error of the attitude, rad; None where nothing estimates it
    gaps : (start, end) of every stretch of time that was bridged, between samples
    success, status, message : how the run ended; a failed run holds everything up to the last good
        step
    angular_acceleration : (n, 3) dω/dt in body axes; None where no torque is known
    x, v : (n, 3) position and velocity of the centre of mass in inertial axes, None if the problem
        has none; so are
    linear_momentum, acceleration : (n, 3) in inertial axes
    sol(t) : the trajectory at any times of the run, not only those of ``t``
    t_events, events : for each event that was asked for, the times and the trajectory at them
    nsteps, nfev, niter, rejected : steps, evaluations of the torque, Newton iterations, and trial
        steps that did not count
    method, reason : its name, and why it was chosen if nobody said which
    arguments : what ``solve`` was given;  problem : what it was about (both plain data)

    A motion by given angular velocities has no ``body``: it is None, and so are angular momenta and
    energies.
    """

    _details: Details
    error: np.ndarray | None = None
    status: Status = Status.OK
    message: str = ""
    nsteps = nfev = niter = rejected = 0
    t_events: "Sequence[np.ndarray]" = ()
    arguments: Mapping[str, Any] = MappingProxyType({})
    reason: str = ""

    def __init__(
        self,
        t: np.ndarray,
        q: np.ndarray | None,
        angular_momentum: np.ndarray | None,
        body: RigidBody | None,
        *,
        potential: "Callable[[], np.ndarray] | None" = None,
        omega: np.ndarray | None = None,
        error: np.ndarray | None = None,
        method: str,
        status: int = 0,
        message: str = "",
        nsteps: int = 0,
        nfev: int = 0,
        niter: int = 0,
        rejected: int = 0,
        t_events: "Sequence[np.ndarray]" = (),
        arguments: Mapping[str, Any] | None = None,
        reason: str = "",
        problem: Callable[[], dict] | None = None,
        x: np.ndarray | None = None,
        v: np.ndarray | None = None,
    ):
        self.t = t
        self.body: Any = body
        self.error = error
        self.method = method
        self.status = Status(status)
        self.message = message
        self.nsteps, self.nfev, self.niter, self.rejected = nsteps, nfev, niter, rejected
        self.t_events = t_events
        self.arguments = arguments or {}
        self.reason = reason
        self.q, self.angular_momentum = q, angular_momentum
        self._details = Known(omega, potential, problem, x, v)

    @classmethod
    def of(cls, attributes: dict[str, Any]) -> "Trajectory":
        """From all attributes that differ from the defaults, ``_details`` among them."""
        self = cls.__new__(cls)
        self.__dict__ = attributes
        return self

    # ---- derived quantities
    @cached_property
    def q(self) -> Any:
        self.q, self.angular_momentum = self._details.motion()
        return self.q

    @cached_property
    def angular_momentum(self) -> Any:
        self.q, self.angular_momentum = self._details.motion()
        return self.angular_momentum

    @cached_property
    def x(self) -> Any:
        self.x, self.v = self._details.translation()
        return self.x

    @cached_property
    def v(self) -> Any:
        self.x, self.v = self._details.translation()
        return self.v

    @property
    def linear_momentum(self) -> Any:
        return None if self.v is None else self.body.mass * self.v

    @property
    def success(self) -> bool:
        return self.status == OK

    @cached_property
    def problem(self) -> dict:
        """The problem as plain data: name, inertia, mass, model, parameters, initial state."""
        return self._details.problem()

    @property
    def gaps(self) -> list[tuple[float, float]]:
        return [(start, end) for start, end, *_ in self.problem.get("gaps", ())]

    @cached_property
    def omega(self) -> np.ndarray:
        given = self._details.omega()
        if given is not None:
            return given
        axes = self.body.principal_axes
        inverse = np.array(self.body.data[1])
        if self.body.is_aligned:
            return self.angular_momentum * inverse
        return (self.angular_momentum @ axes * inverse) @ axes.T

    @cached_property
    def rotation(self) -> "Rotation":
        from scipy.spatial.transform import Rotation

        return Rotation.from_quat(self.q, scalar_first=True)

    @cached_property
    def angular_momentum_inertial(self) -> Any:
        if self.body is None:
            return None
        w, v, m = self.q[:, :1], self.q[:, 1:], self.angular_momentum
        k = 2 * np.cross(v, m)
        return m + w * k + np.cross(v, k)

    @cached_property
    def kinetic_energy(self) -> Any:
        """Of rotation, and of the centre of mass if it moves."""
        if self.body is None:
            return None
        turning = 0.5 * np.einsum("ij,ij->i", self.angular_momentum, self.omega)
        if self.v is None:
            return turning
        return turning + 0.5 * self.body.mass * np.einsum("ij,ij->i", self.v, self.v)

    @cached_property
    def potential_energy(self) -> np.ndarray | None:
        return self._details.potential()

    @cached_property
    def angular_acceleration(self) -> np.ndarray | None:
        self.angular_acceleration, self.acceleration = self._details.accelerations()
        return self.angular_acceleration

    @cached_property
    def acceleration(self) -> np.ndarray | None:
        self.angular_acceleration, self.acceleration = self._details.accelerations()
        return self.acceleration

    @property
    def energy(self) -> np.ndarray | None:
        """Kinetic and potential energy; None if no potential is known."""
        if self.potential_energy is None:
            return None
        return self.kinetic_energy + self.potential_energy

    def angular_momentum_about(self, point: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
        """The angular momentum about a fixed point, in inertial axes: L + (x - point) × p."""
        around = _rows(point, "point")
        if around.shape != (3,):
            raise InputError(f"point must be three numbers, got shape {around.shape}")
        if self.x is None:
            raise InputError(
                "the angular momentum about a point needs a position: give position= to the Problem"
            )
        return self.angular_momentum_inertial + np.cross(self.x - around, self.linear_momentum)

    # ---- vectors and points
    def to_inertial(self, v: Any) -> np.ndarray:
        """Inertial components of vectors given in body axes.

        ``v`` is one vector (3,), the same at all times, or one for each time (n, 3), or k of them
        (n, k, 3): ``run.to_inertial(run.omega)``.
        """
        return self._turned(v, back=False)

    def to_body(self, v: Any) -> np.ndarray:
        """Body components of vectors given in inertial axes, of the same shapes."""
        return self._turned(v, back=True)

    def _turned(self, v: Any, back: bool) -> np.ndarray:
        v = _rows(v, "v")
        n = len(self)
        if v.ndim > 3 or (v.ndim > 1 and len(v) != n):
            raise InputError(
                f"v must be a vector (3,), or one or more for each of {n} times, (n, 3) or"
                f" (n, k, 3), got shape {v.shape}"
            )
        v = np.broadcast_to(v, (n, 3)) if v.ndim == 1 else v
        turns = "nji,n...j->n...i" if back else "nij,n...j->n...i"
        return np.einsum(turns, self.rotation.as_matrix(), v)

    def point_position(self, p: Any) -> np.ndarray:
        """Where points of the body are at each time, in inertial axes.

        Without a position (``x``) they are seen from the centre of mass.

        ``p`` is one point (3,) or k of them (k, 3) in body axes, from the centre of mass (subtract
        ``body.centre`` from coordinates of shapes and meshes); returns (n, 3) or (n, k, 3).
        """
        p = self._points(p)
        return self._from_centre(self.to_inertial(p), self.x)

    def point_velocity(self, p: Any) -> np.ndarray:
        """The velocities of points of the body in inertial axes, v + R (ω × p); ``p`` as above."""
        p = self._points(p)
        omega = self.omega.reshape(len(self), *(1,) * (p.ndim - 2), 3)
        return self._from_centre(self.to_inertial(np.cross(omega, p)), self.v)

    def _points(self, p: Any) -> np.ndarray:
        p = _rows(p, "p")
        if p.ndim > 2:
            raise InputError(f"p must be a point (3,) or points (k, 3), got shape {p.shape}")
        return np.broadcast_to(p, (len(self), *p.shape))

    def _from_centre(self, values: np.ndarray, centre: np.ndarray | None) -> np.ndarray:
        """Values of points, to which those of the centre of mass are added if they are known."""
        if centre is None:
            return values
        return values + np.reshape(centre, (len(self), *(1,) * (values.ndim - 2), 3))

    def frame_error(self, exact: Any) -> np.ndarray:
        """How far the body axes are from exact ones at each time (Boyle 2017, (25)).

        The root of the sum of |e_i - a_i|² over the three axes, √8 |sin θ/2| for attitudes that are
        a turn by θ apart; q and -q are the same attitude.

        Parameters
        ----------
        exact : a ``Trajectory`` at the same times, or one with dense output; a function
            ``attitude(t)`` that returns (w, x, y, z); or an (n, 4) array of such quaternions
        """
        if isinstance(exact, Trajectory):
            there = exact if np.array_equal(exact.t, self.t) else exact.sol(self.t)
            q = there.q
        elif callable(exact):
            q = np.array([exact(float(t)) for t in self.t], dtype=float)
        else:
            q = np.array(exact, dtype=float)
        if q.shape != self.q.shape or not np.isfinite(q).all() or not q.any(axis=1).all():
            raise InputError(
                f"exact must give four finite numbers (w, x, y, z), not all 0, for each of"
                f" {len(self)} times, got an array of shape {q.shape}"
            )
        p = self.q / np.linalg.norm(self.q, axis=1, keepdims=True)
        q = q / np.linalg.norm(q, axis=1, keepdims=True)
        # p q*: its vector part is the axis times sin θ/2, without cancellation
        w, v, s, u = p[:, :1], p[:, 1:], q[:, :1], q[:, 1:]
        return np.sqrt(8.0) * np.linalg.norm(s * v - w * u - np.cross(v, u), axis=1)

    def _facts(self) -> dict[str, Any]:
        """The attributes that another selection of times has too."""
        return {name: value for name, value in vars(self).items() if name in FACTS}

    # ---- between the steps
    def sol(self, t: Any) -> "Trajectory":
        """The trajectory at any time or times of the run, in any order."""
        try:
            times = np.atleast_1d(np.array(t, dtype=float))
        except (TypeError, ValueError):
            raise InputError(f"t must be a time or a list of times, got {t!r}") from None
        if times.ndim != 1 or not np.isfinite(times).all():
            raise InputError(f"t must be a time or a list of times, got {t!r}")
        return self._details.sol(times, self._facts())

    @cached_property
    def events(self) -> "list[Trajectory]":
        return [self.sol(times) for times in self.t_events]

    # ---- parts
    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, key) -> "Trajectory":
        """The states at an index, a slice, a mask or a list of indices."""
        if isinstance(key, (int, np.integer)):
            key = slice(key, key + 1 or None)
        facts = self._facts()
        facts["error"] = None if self.error is None else self.error[key]
        return Trajectory.of({**facts, "t": self.t[key], "_details": Part(self, key)})

    # ---- words
    def _words(self) -> dict[str, str]:
        span = f"{self.t[0]:g} to {self.t[-1]:g}" if len(self) else "empty"
        counts = f"{self.nsteps} steps, {self.nfev} torque evaluations"
        if self.rejected:
            counts += f", {self.rejected} trials rejected"
        if self.niter:
            counts += f", {self.niter} Newton iterations"
        if self.body is None:
            counts = f"{self.nsteps} {'steps' if self.nfev else 'intervals'}"
            counts += f", {self.nfev} evaluations" if self.nfev else ""
        facts = {
            "states": f"{len(self)}, t = {span}",
            "method": ", ".join([self.method, *(f"{k}={v!r}" for k, v in self.arguments.items())]),
            **({"chosen": self.reason} if self.reason else {}),
            "work": counts,
            "ended": (self.message or "success")
            if self.success
            else f"{self.status.name}: {self.message}",
        }
        if self.t_events:
            facts["events"] = ", ".join(str(len(times)) for times in self.t_events) + " found"
        if self.gaps:
            longest = max(end - start for start, end in self.gaps)
            facts["gaps"] = f"{len(self.gaps)} bridged, the longest {longest:.3g} s"
        if self.error is not None and len(self) and not np.isnan(self.error).all():
            facts["error"] = f"{np.nanmax(self.error):.1e} rad at most, as estimated"
        if self.problem:
            facts = {"problem": f"{self.problem['name'] or self.problem['model']}", **facts}
        return facts

    def __repr__(self) -> str:
        return as_text("Trajectory", self._words())

    def _repr_html_(self) -> str:
        return as_html("Trajectory", self._words())

    # ---- elsewhere
    def to_xarray(self) -> "xarray.Dataset":
        """A data set with dimensions time, component (x, y, z) and quaternion (w, x, y, z)."""
        import xarray

        return xarray.Dataset(*self._data())

    def _data(self) -> storage.Data:
        """The variables, coordinates and attributes of its data set."""
        vectors = {
            "omega": ("angular velocity, body axes", "rad/s", self.omega),
            "angular_momentum": ("angular momentum, body axes", "kg m2/s", self.angular_momentum),
            "angular_momentum_inertial": (
                "angular momentum, inertial axes",
                "kg m2/s",
                self.angular_momentum_inertial,
            ),
        }
        if self.body is None:
            vectors = {"omega": vectors["omega"]}
        if self.x is not None:
            vectors["x"] = "position of the centre of mass, inertial axes", "m", self.x
            vectors["v"] = "velocity of the centre of mass, inertial axes", "m/s", self.v
        variables: dict[str, Any] = {
            "q": (
                ("time", "quaternion"),
                self.q,
                {"long_name": "attitude, body to inertial, Hamilton, scalar first"},
            )
        }
        for name, (text, unit, values) in vectors.items():
            variables[name] = ("time", "component"), values, {"long_name": text, "units": unit}
        if self.potential_energy is not None:
            variables["potential_energy"] = ("time",), self.potential_energy, {"units": "J"}
            variables["energy"] = ("time",), self.energy, {"units": "J"}
        if self.error is not None:
            about = {"long_name": "estimated error of the attitude", "units": "rad"}
            variables["error"] = ("time",), self.error, about
        return storage.Data(
            variables,
            {
                "time": (("time",), self.t, {"units": "s", "long_name": "time"}),
                "component": list("xyz"),
                "quaternion": list("wxyz"),
            },
            {
                "format": storage.FORMAT,
                "polhode_version": __version__,
                "method": self.method,
                "reason": self.reason,
                "arguments": json.dumps(dict(self.arguments)),
                "problem": json.dumps(self.problem),
                **self._body_facts(),
                "status": int(self.status),
                "message": self.message,
                "nsteps": self.nsteps,
                "nfev": self.nfev,
                "niter": self.niter,
                "rejected": self.rejected,
            },
        )

    def _body_facts(self) -> dict[str, Any]:
        if self.body is None:
            return {}
        body = self.body
        return {"inertia": body.inertia.ravel(), "mass": body.mass, "centre": body.centre}

    def to_dataframe(self) -> "pandas.DataFrame":
        """A table indexed by time, one column for each component (q_w, omega_x, …, energy)."""
        import pandas

        columns = {f"q_{c}": self.q[:, i] for i, c in enumerate("wxyz")}
        for name in ("omega", "angular_momentum", "angular_momentum_inertial", "x", "v"):
            values = getattr(self, name)
            if values is None:
                continue
            columns |= {f"{name}_{c}": values[:, i] for i, c in enumerate("xyz")}
        if self.energy is not None:
            columns["energy"] = self.energy
        if self.error is not None:
            columns["error"] = self.error
        return pandas.DataFrame(columns, index=pandas.Index(self.t, name="time"))

    def save(self, path: str | os.PathLike) -> Path:
        """Write a NetCDF file (.nc) with everything, and where it came from."""
        return storage.write(path, self._data())

    def plot(self, panel: str | None = None, axes: Any = None, **options: Any) -> Any:
        """Four panels: attitude, rates, the path of body axis 3, the drift of invariants.

        With a position: that, rates, the path, the drift of the energy.

        Or one by its name, "polhode", "herpolhode", "poinsot", "trace" and others in
        ``polhode.plot.PANELS``, with the options of that function: ``run.plot("trace",
        point=(1, 0, 0))``.  ``axes`` are matplotlib's, to draw into; returned.
        """
        from polhode import plot

        return plot.draw(self, panel, axes, **options)


def _rows(values: Any, argument: str) -> np.ndarray:
    """Finite numbers, three in each row."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim == 0 or array.shape[-1] != 3 or not np.isfinite(array).all():
        raise InputError(f"{argument} must be rows of three finite numbers, got {values!r}")
    return array


def load(path: str | os.PathLike) -> Trajectory:
    """The trajectory in a file that ``Trajectory.save`` wrote."""
    data = storage.read(path)
    facts = data.attrs
    stored = data["potential_energy"].values if "potential_energy" in data else None
    problem = json.loads(facts["problem"])
    body = None
    if "inertia" in facts:
        inertia, centre = np.reshape(facts["inertia"], (3, 3)), facts.get("centre", np.zeros(3))
        body = RigidBody(inertia, float(facts["mass"]), centre=centre)
    return Trajectory(
        data["time"].values,
        data["q"].values,
        None if body is None else data["angular_momentum"].values,
        body,
        potential=None if stored is None else lambda: stored,
        omega=data["omega"].values if body is None else None,
        error=data["error"].values if "error" in data else None,
        method=facts["method"],
        status=int(facts["status"]),
        message=facts["message"],
        nsteps=int(facts["nsteps"]),
        nfev=int(facts["nfev"]),
        niter=int(facts["niter"]),
        rejected=int(facts.get("rejected", 0)),
        arguments=json.loads(facts["arguments"]),
        reason=facts.get("reason", ""),
        problem=lambda: problem,
        x=data["x"].values if "x" in data else None,
        v=data["v"].values if "v" in data else None,
    )
