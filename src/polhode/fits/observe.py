"""What was observed of a motion, for ``ph.fit``.

Times are seconds, as those of the problem; they may come in any order, and differ from one set of
observations to the next.  Standard deviations ``sigma`` are a positive number, three for the axes,
one for each time, or rows of both; or ``covariance`` is a matrix, or one for each time.  Errors of
different times are independent.  Residuals are what was observed less what the motion predicts.

Examples
--------
>>> import numpy as np, polhode as ph
>>> t = np.linspace(0, 10, 20)
>>> run = ph.exact_free_motion(ph.RigidBody([1.0, 1.5, 2.0]), None, [0.3, 1.0, 0.2], t)
>>> ph.observe.attitudes(t, run.rotation, sigma=1e-3)
<attitudes: 20 times, t = 0 to 10>
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from polhode.errors import InputError
from polhode.fits.function import Function
from polhode.fits.seen import Seen
from polhode.fits.spread import Spread, spread_of
from polhode.fits.turns import (
    conjugates,
    crosses,
    left_inverses,
    products,
    rotation_vectors,
    unit_rows,
)

__all__ = ["attitudes", "directions", "function", "positions", "rates"]
XYZ = ("x", "y", "z")
SIDE = 1e-6  # rad, below which series stand for what divides by an angle


class Observation:
    """Observations of one kind at ``times``, and their ``spread``.

    ``own`` are the first values of unknowns that belong to the observation itself, by name; those
    in ``always`` are free in every fit, and ``sizes`` are those of what starts at zero.
    """

    kind: ClassVar[str]
    labels: tuple[str, ...] = XYZ
    unit: ClassVar[str] = "rad"
    moves: bool = False  # whether it depends on the position
    has_rates: ClassVar[bool] = False  # whether it depends on the angular velocity
    spread: Spread

    def __init__(self, times: Any, name: str | None):
        self.name = self.kind if name is None else name
        if not isinstance(self.name, str) or not self.name or "." in self.name:
            raise InputError(f"name must be a text without dots, got {name!r}")
        self.times = self._times(times)
        self.own: dict[str, np.ndarray] = {}
        self.always: tuple[str, ...] = ()
        self.sizes: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        t = self.times
        return f"<{self.name}: {len(t)} times, t = {t.min():g} to {t.max():g}>"

    def compare(self, seen: Seen) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals (n, k), and their derivatives by the unknowns (n, k, u)."""
        raise NotImplementedError

    def _times(self, times: Any) -> np.ndarray:
        try:
            array = np.array(times, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{self.name}: t must be times, got {times!r}") from None
        if array.ndim != 1 or not len(array) or not np.isfinite(array).all():
            shown = _shown(array, times) if np.isfinite(array).all() else repr(times)
            raise InputError(f"{self.name}: t must be a list of finite times, got {shown}")
        return array

    def _rows(self, values: Any, argument: str) -> np.ndarray:
        """Return rows of three finite numbers, one for each time."""
        try:
            array = np.array(values, dtype=float)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.shape != (len(self), 3):
            raise InputError(
                f"{self.name}: {argument} must be rows of three numbers, one for each of"
                f" {len(self)} times, got {_shown(array, values)}"
            )
        return self._finite(array, argument)

    def _finite(self, array: np.ndarray, argument: str) -> np.ndarray:
        good = np.isfinite(array.reshape(len(array), -1)).all(axis=1)
        if not good.all():
            raise InputError(
                f"{self.name}: {argument}[{int(np.argmin(good))}] is not finite; leave out times"
                " at which nothing was observed"
            )
        return array


class Attitudes(Observation):
    """Attitudes, with residuals as small turns about the body axes."""

    kind = "attitudes"

    def __init__(self, times, rotations, scalar_first, sigma, covariance, name):
        super().__init__(times, name)
        self.q = self._quaternions(rotations, scalar_first)
        self.spread = spread_of(sigma, covariance, len(self), 3, self.name)

    def compare(self, seen):
        turns = rotation_vectors(products(conjugates(seen.q), self.q))
        return turns, -left_inverses(turns) @ seen.turns

    def _quaternions(self, rotations: Any, scalar_first: bool | None) -> np.ndarray:
        from scipy.spatial.transform import Rotation

        if isinstance(rotations, Rotation):
            q = np.atleast_2d(rotations.as_quat(scalar_first=True))
        else:
            try:
                array = np.array(rotations, dtype=float)
            except (TypeError, ValueError):
                array = np.empty(0)
            if array.ndim == 2 and array.shape[1:] == (4,) and scalar_first is None:
                raise InputError(
                    f"{self.name}: attitudes have four numbers: give scalar_first=True for"
                    " (w, x, y, z) or scalar_first=False for (x, y, z, w), or a SciPy Rotation"
                )
            if array.ndim != 2 or array.shape[1:] != (4,):
                raise InputError(
                    f"{self.name}: attitudes must be a SciPy Rotation, or quaternions (n, 4) with"
                    f" scalar_first=, got {_shown(array, rotations)}"
                )
            sizes = np.linalg.norm(self._finite(array, "attitudes"), axis=1)
            if (np.abs(sizes - 1.0) > 1e-3).any():
                place = int(np.argmax(np.abs(sizes - 1.0)))
                raise InputError(
                    f"{self.name}: attitudes[{place}] must be a unit quaternion, but its norm is"
                    f" {sizes[place]:.6g}"
                )
            q = unit_rows(array if scalar_first else np.roll(array, 1, axis=1))
        if len(q) != len(self):
            raise InputError(f"{self.name}: there are {len(self)} times and {len(q)} attitudes")
        return q


class Rates(Observation):
    """Angular velocities in body axes, as gyros measure them, perhaps with a constant bias."""

    kind, unit, has_rates = "rates", "rad/s", True

    def __init__(self, times, omega, sigma, covariance, bias, name):
        super().__init__(times, name)
        self.omega = self._rows(omega, "omega")
        self.spread = spread_of(sigma, covariance, len(self), 3, self.name)
        if bias is not False:
            start = np.zeros(3) if bias is True else self._bias(bias)
            self.own, self.always = {"bias": start}, ("bias",)
            self.sizes = {"bias": float(np.sqrt(np.mean(self.omega**2))) or 1.0}

    def compare(self, seen):
        residuals, slopes = self.omega - seen.omega, -seen.rates
        if self.own:
            residuals = residuals - seen.own["bias"]
            slopes = slopes - seen.by_own("bias", 3)
        return residuals, slopes

    def _bias(self, bias: Any) -> np.ndarray:
        try:
            start = np.array(bias, dtype=float)
        except (TypeError, ValueError):
            start = np.empty(0)
        if start.shape != (3,) or not np.isfinite(start).all():
            raise InputError(
                f"{self.name}: bias must be True, False, or three numbers to start from,"
                f" got {bias!r}"
            )
        return start


class Directions(Observation):
    """Directions in body axes, with residuals as angles along two axes across what was measured."""

    kind, labels = "directions", ("across 1", "across 2")

    def __init__(self, times, measured, known, sigma, covariance, name):
        super().__init__(times, name)
        self.measured = self._unit(measured, "measured")
        self.known = self._unit(self._given(known), "known")
        self.frames = _across(self.measured)
        self.spread = spread_of(sigma, covariance, len(self), 3, self.name).across(self.frames)

    def compare(self, seen):
        u = np.einsum("nji,nj->ni", seen.matrices, self.known)
        du = crosses(u) @ seen.turns
        b = self.measured
        cosine = np.einsum("ni,ni->n", u, b)
        across = u - cosine[:, None] * b
        sine = np.sqrt(np.einsum("ni,ni->n", across, across))
        angle = np.arctan2(sine, cosine)
        near = sine < SIDE
        safe = np.where(near, 1.0, sine)
        factor = np.where(near, 1.0 + angle**2 / 6.0, angle / safe)  # angle/sine
        slope = np.where(near, -1.0 / 3.0, (cosine * factor - 1.0) / safe**2)  # d factor/d cosine
        change = np.einsum("ni,niu->nu", b, du)
        moved = factor[:, None, None] * du + (slope[:, None] * across)[:, :, None] * change[:, None]
        residuals = -np.einsum("nij,nj->ni", self.frames, factor[:, None] * across)
        return residuals, -self.frames @ moved

    def _given(self, known: Any) -> np.ndarray:
        if callable(known):
            return np.array([np.asarray(known(float(t)), dtype=float) for t in self.times])
        try:
            array = np.array(known, dtype=float)
        except (TypeError, ValueError):
            array = np.empty(0)
        return np.tile(array, (len(self), 1)) if array.shape == (3,) else array

    def _unit(self, values: Any, argument: str) -> np.ndarray:
        rows = self._rows(values, argument)
        sizes = np.linalg.norm(rows, axis=1)
        if not sizes.all():
            raise InputError(
                f"{self.name}: {argument}[{int(np.argmin(sizes))}] is zero and has no direction"
            )
        return rows / sizes[:, None]


class Positions(Observation):
    """Positions of the centre of mass in inertial axes."""

    kind, unit, moves = "positions", "m", True

    def __init__(self, times, x, sigma, covariance, name):
        super().__init__(times, name)
        self.x = self._rows(x, "x")
        self.spread = spread_of(sigma, covariance, len(self), 3, self.name)

    def compare(self, seen):
        return self.x - seen.x, -seen.shifts


class Values(Observation):
    """Values of a function of time and attitude, such as a light curve."""

    kind, unit, labels = "function", "", ("value",)

    def __init__(self, function, times, values, sigma, params, name):
        super().__init__(times, name)
        self.function = Function(function, params)
        self.moves = self.function.moves
        self.own = dict(self.function.start)
        try:
            array = np.array(values, dtype=float)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.shape != (len(self),):
            raise InputError(
                f"{self.name}: values must be {len(self)} numbers, one for each time, got"
                f" {_shown(array, values)}"
            )
        self.values = self._finite(array, "values")
        self.spread = spread_of(sigma, None, len(self), 1, self.name)

    def compare(self, seen):
        x = seen.x if self.moves else None
        found = self.function.along(seen.t, seen.q, x, seen.own, tuple(seen.places))
        slopes = np.einsum("ni,niu->nu", found.by_turn, seen.turns)
        if self.moves:
            slopes = slopes + np.einsum("ni,niu->nu", found.by_shift, seen.shifts)
        for name, by in found.by_own.items():
            slopes = slopes + by @ seen.by_own(name, by.shape[1])
        return (self.values - found.values)[:, None], -slopes[:, None, :]


def _shown(array: np.ndarray, given: Any) -> str:
    """Return what was given in words: its shape, if it is an array."""
    return f"shape {array.shape}" if array.size else repr(given)


def _across(v: np.ndarray) -> np.ndarray:
    """Return two unit rows (n, 2, 3) across each of n unit vectors."""
    far = np.eye(3)[np.argmin(np.abs(v), axis=1)]
    first = unit_rows(np.cross(v, far))
    return np.stack([first, np.cross(v, first)], axis=1)


# ---- the public functions
def attitudes(
    t: Any,
    attitudes: Any,
    *,
    sigma: Any = None,
    covariance: Any = None,
    scalar_first: bool | None = None,
    name: str | None = None,
) -> Observation:
    """Observe attitudes, body to inertial, at times t.

    Parameters
    ----------
    t : (n,) times
    attitudes : a SciPy ``Rotation`` of n attitudes, or quaternions (n, 4) with ``scalar_first``
    sigma : standard deviations in rad, about the body axes: a number, (3,), (n,) or (n, 3)
    covariance : instead of ``sigma``, in rad² and body axes, (3, 3) or (n, 3, 3)
    name : of the set in results, by default "attitudes"

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> t = np.linspace(0, 10, 20)
    >>> run = ph.exact_free_motion(ph.RigidBody([1.0, 1.5, 2.0]), None, [0.3, 1.0, 0.2], t)
    >>> ph.observe.attitudes(t, run.rotation, sigma=1e-3)
    <attitudes: 20 times, t = 0 to 10>
    """
    return Attitudes(t, attitudes, scalar_first, sigma, covariance, name)


def rates(
    t: Any,
    omega: Any,
    *,
    sigma: Any = None,
    covariance: Any = None,
    bias: Any = False,
    name: str | None = None,
) -> Observation:
    """Observe angular velocities (n, 3) in body axes, rad/s, at times t: the log of a gyro.

    ``bias=True`` adds a constant bias to the unknowns, three numbers ``rates.bias``; or give the
    three to start from.  ``sigma``, ``covariance`` and ``name`` are as in ``attitudes``, in rad/s.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> t = np.linspace(0, 10, 20)
    >>> run = ph.exact_free_motion(ph.RigidBody([1.0, 1.5, 2.0]), None, [0.3, 1.0, 0.2], t)
    >>> ph.observe.rates(t, run.omega, sigma=1e-3)
    <rates: 20 times, t = 0 to 10>
    """
    return Rates(t, omega, sigma, covariance, bias, name)


def directions(
    t: Any,
    measured: Any,
    known: Any,
    *,
    sigma: Any = None,
    covariance: Any = None,
    name: str | None = None,
) -> Observation:
    """Observe known directions in body axes at times t: a star, the Sun, a magnetic field.

    Parameters
    ----------
    t : (n,) times
    measured : (n, 3) vectors in body axes; their lengths do not matter
    known : the same directions in inertial axes: (3,), (n, 3), or a function of the time
    sigma : standard deviations in rad, as in ``attitudes``, as is ``covariance``; what is along the
        direction does not count

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> t = np.linspace(0, 10, 20)
    >>> run = ph.exact_free_motion(ph.RigidBody([1.0, 1.5, 2.0]), None, [0.3, 1.0, 0.2], t)
    >>> star = [0, 0, 1]
    >>> ph.observe.directions(t, run.to_body(np.tile(star, (20, 1))), star, sigma=1e-4)
    <directions: 20 times, t = 0 to 10>
    """
    return Directions(t, measured, known, sigma, covariance, name)


def positions(
    t: Any, x: Any, *, sigma: Any = None, covariance: Any = None, name: str | None = None
) -> Observation:
    """Observe positions (n, 3) of the centre of mass in inertial axes, m, at times t.

    ``sigma``, ``covariance`` and ``name`` are as in ``attitudes``, in m and inertial axes.
    """
    return Positions(t, x, sigma, covariance, name)


def function(
    f: Callable,
    t: Any,
    values: Any,
    *,
    sigma: Any = None,
    params: Mapping[str, Any] | Any = (),
    name: str | None = None,
) -> Observation:
    """Observe the values (n,) of a function of time and attitude: a light curve.

    Parameters
    ----------
    f : ``f(t, q, params)``, or ``f(t, x, q, params)`` with the position, returning a number; q is
        (w, x, y, z), body to inertial.  It is compiled if possible, as a torque is, and
        differentiated
    t, values : (n,) times, and what was observed then
    sigma : standard deviation, a number or (n,)
    params : as in ``ph.torque``.  With names, ``{"albedo": 0.3}``, some of them can be unknowns:
        ``free=["function.albedo"]``, with the ``name`` of the set in front
    """
    return Values(f, t, values, sigma, params, name)
