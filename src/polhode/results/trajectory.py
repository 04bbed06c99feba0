"""``Trajectory``: what a solver returns."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from polhode.body import Geometry, RigidBody
from polhode.body.rigid_body import angular_velocities
from polhode.contracts import OK, Status
from polhode.errors import InputError
from polhode.files import netcdf
from polhode.files.given import damage_refused, has_form
from polhode.results import export
from polhode.results.derivatives import Derivatives, joined, known, looked_at
from polhode.results.details import Details, GivenDetails, PartDetails

if TYPE_CHECKING:
    import pandas
    import xarray
    from scipy.spatial.transform import Rotation

    from polhode.plot.style import Axes


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
    error : (n,) estimated error of the attitude, rad; None if there is no estimate
    gaps : (start, end) of each gap between samples that was bridged
    success, status, message : how the run ended; a failed run holds everything up to the last good
        step
    angular_acceleration : (n, 3) dω/dt in body axes; None if no torque is known
    x, v : (n, 3) position and velocity of the centre of mass in inertial axes
    linear_momentum, acceleration : (n, 3) in inertial axes; all four are None without a position
    variables : the variables of the model by name, (n,) or (n, k) each; empty if it has none
    stm : (n, 6, 6) matrices d(θ, m) / d(θ₀, m₀), if ``sensitivities`` had "state": θ is a small
        turn in body axes, m the angular momentum; 12×12 with a position, in the order θ, m, x,
        linear momentum; variables of the model last.  Of the states at a fixed time; but where an
        event ended the run, and in ``events``, of those at the event, whose time changes, too
    sensitivity : by name, (n, 6, k) each, or (n, 6) by one number
    sol(t) : the trajectory at any times of the run, not only those of ``t``
    t_events, events : for each event, its times and the trajectory at them
    nsteps, nfev, niter, rejected : steps, evaluations of the torque, Newton iterations, and
        rejected trial steps
    method, reason : the name of the method, and why "auto" chose it
    arguments : the arguments of ``solve``;  problem : what was solved (both plain data)

    A motion with a given angular velocity has no ``body``: it is None, and so are angular momenta
    and energies.

    Examples
    --------
    >>> import polhode as ph
    >>> run = ph.solve(ph.problems.fast_top(), (0, 1), method="strang", dt=0.01)
    >>> run.q.shape, run.success
    ((101, 4), True)
    >>> float(run[50:].t[0]), run.sol([0.123, 0.456]).omega.shape
    (0.5, (2, 3))
    >>> bool(abs(run.energy / run.energy[0] - 1).max() < 1e-6)
    True
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
        variables: dict[str, np.ndarray] | None = None,
        derivatives: Derivatives | None = None,
    ):
        self.t: np.ndarray = t
        self.angular_momentum, self.error = angular_momentum, error
        self.q: np.ndarray = q  # type: ignore[assignment]
        self.body: Any = body
        self.method, self.reason, self.arguments = method, reason, arguments or {}
        self.status, self.message, self.t_events = Status(status), message, t_events
        self.nsteps, self.nfev, self.niter, self.rejected = nsteps, nfev, niter, rejected
        known = (q, angular_momentum), omega, (x, v), potential, problem
        self._details = GivenDetails(*known, variables or {}, derivatives)

    @classmethod
    def of(cls, attributes: dict[str, Any]) -> "Trajectory":
        """Make one from all attributes that differ from the defaults, including ``_details``."""
        self = cls.__new__(cls)
        self.__dict__ = attributes
        return self

    # ---- derived quantities
    @cached_property
    def t(self) -> np.ndarray:
        return self._details.times

    @cached_property
    def q(self) -> np.ndarray:
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

    @cached_property
    def variables(self) -> dict[str, np.ndarray]:
        return self._details.variables()

    # ---- derivatives
    derivatives = cached_property(lambda self: looked_at(self._details.derivatives(), self.t))
    sensitivity = property(lambda self: known(self.derivatives))
    stm = property(lambda self: self.sensitivity.stm)

    def covariance(self, initial: Any) -> np.ndarray:
        """Return the covariance matrices (n, 6, 6) of the states, M P Mᵀ.

        ``initial`` is that of the initial state (θ, m), P, or those of independent quantities by
        name, of which the run has sensitivities: ``{"state": P, "mass": 0.1**2}``.
        """
        return self.sensitivity.covariance(initial)

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
        _, inverse, axes, *_ = self.body.data
        if self.body.is_aligned:
            return self.angular_momentum * np.array(inverse)
        return angular_velocities(self.angular_momentum, axes, inverse)

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
        """The kinetic energy of the rotation, and of the centre of mass if it moves."""
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
        """Return the angular momentum about a fixed point, inertial axes: L + (x - point) × p."""
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
        """Return the inertial components of vectors given in body axes.

        ``v`` is one vector (3,), the same at all times, or one for each time (n, 3), or k of them
        (n, k, 3): ``run.to_inertial(run.omega)``.
        """
        return self._turned(v, back=False)

    def to_body(self, v: Any) -> np.ndarray:
        """Return the body components of vectors given in inertial axes, of the same shapes."""
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
        """Return the positions of points of the body at each time, in inertial axes.

        Without a position (``x``) they are relative to the centre of mass.

        ``p`` is one point (3,) or k of them (k, 3) in body axes, from the centre of mass (subtract
        ``body.centre`` from coordinates of shapes and meshes); returns (n, 3) or (n, k, 3).
        """
        p = self._points(p)
        return self._from_centre(self.to_inertial(p), self.x)

    def point_velocity(self, p: Any) -> np.ndarray:
        """Return the velocities of points of the body, inertial axes, v + R (ω × p).

        ``p`` is as in ``point_position``.
        """
        p = self._points(p)
        omega = self.omega.reshape(len(self), *(1,) * (p.ndim - 2), 3)
        return self._from_centre(self.to_inertial(np.cross(omega, p)), self.v)

    def _points(self, p: Any) -> np.ndarray:
        p = _rows(p, "p")
        if p.ndim > 2:
            raise InputError(f"p must be a point (3,) or points (k, 3), got shape {p.shape}")
        return np.broadcast_to(p, (len(self), *p.shape))

    def _from_centre(self, values: np.ndarray, centre: np.ndarray | None) -> np.ndarray:
        """Add the values of the centre of mass, if they are known, to those of points."""
        if centre is None:
            return values
        return values + np.reshape(centre, (len(self), *(1,) * (values.ndim - 2), 3))

    def frame_error(self, exact: Any) -> np.ndarray:
        """Return the distance of the body axes from exact ones at each time (Boyle 2017, (25)).

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
        """Return the attributes that do not depend on the selection of times."""
        return {name: value for name, value in vars(self).items() if name in FACTS}

    # ---- between the steps
    def sol(self, t: Any) -> "Trajectory":
        """Return the trajectory at any time or times of the run, in any order."""
        return self._details.sol(list_of_times(t), self._facts())

    @cached_property
    def events(self) -> "list[Trajectory]":
        at_event, facts = self._details.at_event, self._facts
        return [at_event(k, times, facts()) for k, times in enumerate(self.t_events)]

    # ---- parts
    def __len__(self) -> int:
        return len(self.t)

    def __iter__(self) -> "Iterator[Trajectory]":
        """One state after another."""
        return (self[place] for place in range(len(self)))

    def __getitem__(self, key) -> "Trajectory":
        """Return the states at an index, a slice, a mask or a list of indices."""
        if isinstance(key, (int, np.integer)):
            if not -len(self) <= key < len(self):
                raise IndexError(f"the index {key} is outside a trajectory of {len(self)} states")
            key = slice(key, key + 1 or None)
        facts = self._facts()
        facts["error"] = None if self.error is None else self.error[key]
        facts["t"], facts["_details"] = self.t[key], PartDetails(self, self._details, key)
        return Trajectory.of(facts)

    # ---- texts
    def __repr__(self) -> str:
        return export.as_text("Trajectory", export.summary(self))

    def _repr_html_(self) -> str:
        return export.as_html("Trajectory", export.summary(self))

    # ---- other formats
    def to_xarray(self) -> "xarray.Dataset":
        """Return a data set over time, component (x, y, z) and quaternion (w, x, y, z).

        If the body has a geometry, its triangles are there, too, over vertex and face.
        """
        import xarray

        return xarray.Dataset(*export.data(self))

    def to_dataframe(self) -> "pandas.DataFrame":
        """Return a table indexed by time, one column per component (q_w, omega_x, …, energy)."""
        return export.dataframe(self)

    def save(self, path: str | os.PathLike) -> Path:
        """Write everything, with its origin, to a NetCDF file (.nc) or a Zarr store (.zarr).

        ``ph.load`` reads them.  For other programs, .csv and .parquet are the table of
        ``to_dataframe``, with all digits (Parquet takes ``pip install 'polhode[parquet]'``).
        """
        return export.save(self, path)

    @overload
    def plot(self, panel: None = None, axes: Any = None, **options: Any) -> np.ndarray: ...
    @overload
    def plot(self, panel: str, axes: Any = None, **options: Any) -> "Axes": ...
    def plot(self, panel: str | None = None, axes: Any = None, **options: Any) -> Any:
        """Plot four panels: attitude, rates, the path of body axis 3, the drift of invariants.

        With a position: position, rates, the path, the drift of the energy.

        Or one panel by name, "polhode", "herpolhode", "poinsot", "trace" and others in
        ``polhode.plot.PANELS``, with the options of that function: ``run.plot("trace",
        point=(1, 0, 0))``.  ``axes`` (or ``ax``) are matplotlib's, to draw into; they are
        returned.  ``figsize`` is the size of a new figure in inches, ``theme`` "light" (the
        default) or "dark".
        """
        from polhode import plot

        return plot.draw(self, panel, axes, **options)

    def view(self, **options: Any) -> Any:
        """Show the motion in the browser, or in the cell of a notebook.

        The options are those of ``ph.view``, which shows several runs together.
        """
        from polhode.view import view

        return view(self, **options)

    def save_html(self, path: str | os.PathLike, **options: Any) -> Path:
        """Write the moving picture as one HTML file that needs nothing else.

        The options are those of ``ph.view``.
        """
        from polhode.view import save_html

        return save_html(self, path, **options)

    def animate(
        self,
        path: str | os.PathLike,
        *,
        fps: float = 25.0,
        speed: float | None = None,
        views: str | Sequence[str] | None = None,
        size: tuple[int, int] | None = None,
        dpi: float | None = None,
        theme: str | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Path:
        """Write a film: .mp4 or .webm (with ffmpeg), .gif, .webp or .png (APNG).

        Parameters
        ----------
        path : the file to write, completely or not at all; its suffix determines the format
        fps : frames per second of film
        speed : seconds of motion per second of film.  By default a turn takes two seconds, but the
            film lasts at least 4 and at most 10 seconds
        views : "body", "poinsot" or panels of ``polhode.plot.PANELS``, side by side; by default
            ("body", "rates")
        size, dpi : width and height in pixels; and pixels per inch, by which texts are measured
        theme : "light" (the default) or "dark"
        progress : a function that is called with the fraction done
        """
        from polhode import plot

        options: dict[str, Any] = {"views": views, "size": size, "dpi": dpi, "theme": theme}
        return plot.animate(self, path, fps=fps, speed=speed, progress=progress, **options)


def list_of_times(t: Any) -> np.ndarray:
    """Return a time or a list of times as an array."""
    try:
        times = np.atleast_1d(np.array(t, dtype=float))
    except (TypeError, ValueError):
        raise InputError(f"t must be a time or a list of times, got {t!r}") from None
    if times.ndim != 1:
        raise InputError(
            f"t must be a time or a list of times, got an array of shape {times.shape}"
        )
    if not np.isfinite(times).all():
        wrong = int(np.argmin(np.isfinite(times)))
        raise InputError(f"t must be a time or a list of times, but t[{wrong}] is not finite")
    return times


def _rows(values: Any, argument: str) -> np.ndarray:
    """Check that values are finite numbers, three in each row."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim == 0 or array.shape[-1] != 3 or not np.isfinite(array).all():
        raise InputError(f"{argument} must be rows of three finite numbers, got {values!r}")
    return array


def load(path: str | os.PathLike) -> Trajectory:
    """Read the trajectory in a file that ``Trajectory.save`` wrote."""
    if Path(path).is_dir():
        from polhode.files import zarr_folder

        return rebuild(path, zarr_folder.read(path, netcdf.FORMAT))
    return rebuild(path, netcdf.read(path))


def rebuild(path: str | os.PathLike, data: "xarray.Dataset") -> Trajectory:
    """Make the trajectory that was read from ``path``."""
    with damage_refused(path):
        return _rebuild(data)


def _geometry(data: "xarray.Dataset") -> Geometry | None:
    """Return the triangles of the body; older files, and those of other bodies, have none."""
    names = [name for name in ("geometry", *netcdf.GEOMETRY) if name in {**data.attrs, **data}]
    if not names:
        return None
    if len(names) < 3:
        raise ValueError(f"of its geometry it has only {' and '.join(names)}")
    vertices, faces = (data[name].values for name in netcdf.GEOMETRY)
    return Geometry(vertices, faces, data.attrs["geometry"])


def _derivatives(data: "xarray.Dataset", count: int) -> Derivatives | None:
    """Return the derivatives in a file; older files, and those of other runs, have none."""
    names = json.loads(data.attrs.get("sensitivities", "[]"))
    there = {str(name) for name in data if str(name).startswith(netcdf.SENSITIVITY)}
    if not has_form(names, [str]) or there != {netcdf.SENSITIVITY + name for name in names}:
        raise ValueError(f"its derivatives are by {names!r}, and it has {sorted(there)}")
    blocks = {
        name: np.asarray(data[netcdf.SENSITIVITY + name].values, dtype=float) for name in names
    }
    for name, block in blocks.items():
        rows = next(iter(blocks.values())).shape[1:2]
        if block.ndim not in (2, 3) or block.shape[:2] != (count, *rows):
            raise ValueError(f"the derivatives by {name} have the shape {block.shape}")
    return joined(blocks) if blocks else None


def _rebuild(data: "xarray.Dataset") -> Trajectory:
    facts, count = data.attrs, data["time"].size

    def stored(name: str, *shape: int) -> np.ndarray:
        values = np.asarray(data[name].values, dtype=float)
        if values.shape != (count, *shape):
            raise ValueError(f"{name} has the shape {values.shape}, not {(count, *shape)}")
        return values

    potential = stored("potential_energy") if "potential_energy" in data else None
    problem = json.loads(facts["problem"])
    body = None
    if "inertia" in facts:
        inertia, centre = np.reshape(facts["inertia"], (3, 3)), facts.get("centre", np.zeros(3))
        body = RigidBody(inertia, float(facts["mass"]), centre=centre, geometry=_geometry(data))
    shapes = {"error": (), "x": (3,), "v": (3,)}
    found: dict[str, Any] = {n: stored(n, *shape) for n, shape in shapes.items() if n in data}
    found |= {name: int(facts.get(name, 0)) for name in ("status", *export.COUNTS)}
    variables = problem.get("variables", {})
    if not has_form(variables, netcdf.VARIABLES):
        raise ValueError(f"its variables are {variables!r}")
    found["derivatives"] = _derivatives(data, count)
    found["variables"] = {
        name: stored(netcdf.BESIDE + name, *np.shape(value)) for name, value in variables.items()
    }
    return Trajectory(
        stored("time"),
        stored("q", 4),
        None if body is None else stored("angular_momentum", 3),
        body,
        potential=None if potential is None else lambda: potential,
        omega=stored("omega", 3) if body is None else None,
        method=str(facts["method"]),
        message=str(facts["message"]),
        arguments=dict(json.loads(facts["arguments"])),
        reason=str(facts.get("reason", "")),
        problem=lambda: problem,
        **found,
    )
