"""``Trajectory``: what a solver returns."""

import html
import json
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import storage
from polhode._version import __version__
from polhode.body import RigidBody
from polhode.contracts import OK, Status

if TYPE_CHECKING:
    import pandas
    import xarray
    from scipy.spatial.transform import Rotation


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
    success, status, message : how the run ended; a failed run holds everything up to the last good
        step
    nsteps, nfev, niter : steps, evaluations of the torque, Newton iterations
    method, reason : its name, and why it was chosen if nobody said which
    arguments : what ``solve`` was given;  problem : what it was about (both plain data)
    """

    def __init__(
        self,
        t: np.ndarray,
        q: np.ndarray,
        angular_momentum: np.ndarray,
        body: RigidBody,
        *,
        potential: "Callable[[], np.ndarray] | None",
        method: str,
        status: int = 0,
        message: str = "",
        nsteps: int = 0,
        nfev: int = 0,
        niter: int = 0,
        arguments: Mapping[str, Any] | None = None,
        reason: str = "",
        problem: Callable[[], dict] | None = None,
    ):
        self.t = t
        self.q = q
        self.angular_momentum = angular_momentum
        self.body = body
        self.method = method
        self._status = status
        self.message = message
        self.nsteps, self.nfev, self.niter = nsteps, nfev, niter
        self.arguments = arguments or {}
        self.reason = reason
        self._potential = potential
        self._problem = problem

    # ---- derived quantities
    @property
    def status(self) -> Status:
        return Status(self._status)

    @property
    def success(self) -> bool:
        return self._status == OK

    @cached_property
    def problem(self) -> dict:
        """The problem as plain data: name, inertia, mass, model, parameters, initial state."""
        return {} if self._problem is None else self._problem()

    @cached_property
    def omega(self) -> np.ndarray:
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
    def angular_momentum_inertial(self) -> np.ndarray:
        w, v, m = self.q[:, :1], self.q[:, 1:], self.angular_momentum
        k = 2 * np.cross(v, m)
        return m + w * k + np.cross(v, k)

    @cached_property
    def kinetic_energy(self) -> np.ndarray:
        return 0.5 * np.einsum("ij,ij->i", self.angular_momentum, self.omega)

    @cached_property
    def potential_energy(self) -> np.ndarray | None:
        return None if self._potential is None else self._potential()

    @property
    def energy(self) -> np.ndarray | None:
        """Kinetic and potential energy; None if no potential is known."""
        if self.potential_energy is None:
            return None
        return self.kinetic_energy + self.potential_energy

    # ---- parts
    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, key) -> "Trajectory":
        """The states at an index, a slice, a mask or a list of indices."""
        if isinstance(key, (int, np.integer)):
            key = slice(key, key + 1 or None)
        return Trajectory(
            self.t[key],
            self.q[key],
            self.angular_momentum[key],
            self.body,
            potential=None
            if self._potential is None
            else lambda: np.asarray(self.potential_energy)[key],
            method=self.method,
            status=self.status,
            message=self.message,
            nsteps=self.nsteps,
            nfev=self.nfev,
            niter=self.niter,
            arguments=self.arguments,
            reason=self.reason,
            problem=self._problem,
        )

    # ---- words
    def _facts(self) -> dict[str, str]:
        span = f"{self.t[0]:g} to {self.t[-1]:g}" if len(self) else "empty"
        counts = f"{self.nsteps} steps, {self.nfev} torque evaluations"
        if self.niter:
            counts += f", {self.niter} Newton iterations"
        facts = {
            "states": f"{len(self)}, t = {span}",
            "method": ", ".join([self.method, *(f"{k}={v!r}" for k, v in self.arguments.items())]),
            **({"chosen": self.reason} if self.reason else {}),
            "work": counts,
            "ended": "success" if self.success else f"{self.status.name}: {self.message}",
        }
        if self.problem:
            facts = {"problem": f"{self.problem['name'] or self.problem['model']}", **facts}
        return facts

    def __repr__(self) -> str:
        return "Trajectory\n" + "\n".join(f"  {k:<8} {v}" for k, v in self._facts().items())

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(k)}</th>"
            f"<td style='text-align:left'>{html.escape(v)}</td></tr>"
            for k, v in self._facts().items()
        )
        return f"<table><caption>Trajectory</caption>{rows}</table>"

    # ---- elsewhere
    def to_xarray(self) -> "xarray.Dataset":
        """A data set with dimensions time, component (x, y, z) and quaternion (w, x, y, z)."""
        import xarray

        vectors = {
            "omega": ("angular velocity, body axes", "rad/s", self.omega),
            "angular_momentum": ("angular momentum, body axes", "kg m2/s", self.angular_momentum),
            "angular_momentum_inertial": (
                "angular momentum, inertial axes",
                "kg m2/s",
                self.angular_momentum_inertial,
            ),
        }
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
        return xarray.Dataset(
            variables,
            {
                "time": ("time", self.t, {"units": "s", "long_name": "time"}),
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
                "inertia": self.body.inertia.ravel(),
                "mass": self.body.mass,
                "status": int(self.status),
                "message": self.message,
                "nsteps": self.nsteps,
                "nfev": self.nfev,
                "niter": self.niter,
            },
        )

    def to_dataframe(self) -> "pandas.DataFrame":
        """A table indexed by time, one column for each component (q_w, omega_x, …, energy)."""
        import pandas

        columns = {f"q_{c}": self.q[:, i] for i, c in enumerate("wxyz")}
        for name in ("omega", "angular_momentum", "angular_momentum_inertial"):
            values = getattr(self, name)
            columns |= {f"{name}_{c}": values[:, i] for i, c in enumerate("xyz")}
        if self.energy is not None:
            columns["energy"] = self.energy
        return pandas.DataFrame(columns, index=pandas.Index(self.t, name="time"))

    def save(self, path: str | os.PathLike) -> Path:
        """Write a NetCDF file (.nc) with everything, and where it came from."""
        return storage.write(path, self.to_xarray())

    def plot(self, panel: str | None = None, axes: Any = None, **options: Any) -> Any:
        """Four panels: attitude, rates, the path of body axis 3, the drift of invariants.

        Or one by its name, "polhode", "herpolhode", "poinsot", "trace" and others in
        ``polhode.plot.PANELS``, with the options of that function: ``run.plot("trace",
        point=(1, 0, 0))``.  ``axes`` are matplotlib's, to draw into; returned.
        """
        from polhode import plot

        return plot.draw(self, panel, axes, **options)


def load(path: str | os.PathLike) -> Trajectory:
    """The trajectory in a file that ``Trajectory.save`` wrote."""
    data = storage.read(path)
    facts = data.attrs
    stored = data["potential_energy"].values if "potential_energy" in data else None
    problem = json.loads(facts["problem"])
    return Trajectory(
        data["time"].values,
        data["q"].values,
        data["angular_momentum"].values,
        RigidBody(np.reshape(facts["inertia"], (3, 3)), float(facts["mass"])),
        potential=None if stored is None else lambda: stored,
        method=facts["method"],
        status=int(facts["status"]),
        message=facts["message"],
        nsteps=int(facts["nsteps"]),
        nfev=int(facts["nfev"]),
        niter=int(facts["niter"]),
        arguments=json.loads(facts["arguments"]),
        reason=facts.get("reason", ""),
        problem=lambda: problem,
    )
