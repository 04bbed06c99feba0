"""Poinsot's geometry of a free body, as arrays; nothing is drawn here.

With the moments I in principal axes and r = ω/√(2T), every motion stays on the ellipsoid of inertia

    I1 r1² + I2 r2² + I3 r3² = 1                                                       (1)

and a free one on its section with I1² r1² + I2² r2² + I3² r3² = J, J = |m|²/(2T): the polhode.  In
x = √I r these are the unit sphere and I1 x1² + I2 x2² + I3 x3² = J.  Sorted, I1 <= I2 <= I3, it is

    (I2 - I1) x2² + (I3 - I1) x3² = J - I1      for J < I2, about axis 1
    (I3 - I1) x1² + (I3 - I2) x2² = I3 - J      for J > I2, about axis 3
    (I2 - I1) x1² = (I3 - I2) x3²               for J = I2, the separatrix             (2)

The distance of ω from the line of m is the radius of the herpolhode,

    |ω|² - (2T/|m|)²,    |ω|² = 2T Σ x²/I                                              (3)

which has its extremes where the polhode crosses the planes of symmetry through its axis.
"""

from typing import Any

import numpy as np

from polhode.plot.quantities import to_inertial

ROD = 1 / 9  # of the largest moment: stands for a moment of zero


def drawn_moments(body: Any) -> np.ndarray:
    """Return the principal moments, none of them zero (as of a rod), so that (1) is bounded."""
    moments = np.array(body.principal_moments)
    return np.maximum(moments, ROD * moments.max() if moments.min() == 0 else 0)


def matrix(body: Any) -> np.ndarray:
    """The matrix that takes the unit sphere of x to the ellipsoid (1), in the user's body axes."""
    return body.principal_axes / np.sqrt(drawn_moments(body))


def on_ellipsoid(run: Any) -> np.ndarray:
    """r = ω/√(2T) in the user's body axes, (n, 3); rows of zero where the body is at rest."""
    twice = twice_energy(run)[:, None]
    return np.divide(run.omega, np.sqrt(twice), out=np.zeros_like(run.omega), where=twice > 0)


def twice_energy(run: Any) -> np.ndarray:
    """Return 2T of the rotation, (n,), without that of the centre of mass."""
    return np.einsum("ni,ni->n", run.omega, run.angular_momentum)


def polhode(moments: np.ndarray, J: float, points: int = 361) -> list[np.ndarray]:
    """Return the closed curves (2) of x, (points, 3) each: two, or four arcs of the separatrix."""
    order = np.argsort(moments)
    i1, i2, i3 = moments[order]
    angle = np.linspace(0, 2 * np.pi, points)
    c, s = np.cos(angle), np.sin(angle)
    if i2 == J:
        if i1 == i3:
            return []
        a, b = np.sqrt([(i3 - i2) / (i3 - i1), (i2 - i1) / (i3 - i1)])
        halves = [np.stack([sign * a * c, s, b * c]) for sign in (1, -1)]
        return [_unsorted(half, order) for half in halves]
    low, high = ((i2 - i1, i3 - i1), J - i1), ((i3 - i1, i3 - i2), i3 - J)
    (a, b), part = low if i2 > J else high
    y = np.stack([np.sqrt(part / a) * c, np.sqrt(part / b) * s])
    rest = np.sqrt(np.maximum(1 - (y * y).sum(axis=0), 0))
    halves = [np.stack([sign * rest, *y] if i2 > J else [*y, sign * rest]) for sign in (1, -1)]
    return [_unsorted(half, order) for half in halves]


def _unsorted(x: np.ndarray, order: np.ndarray) -> np.ndarray:
    result = np.empty_like(x)
    result[order] = x
    return result.T


def families(moments: np.ndarray, count: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Evenly spaced curves (2) about the axes of the smallest and of the largest moment."""
    i1, i2, i3 = np.sort(moments)
    parts = (np.arange(1, count + 1) / (count + 1)) ** 2
    low = [curve for p in parts if i1 < i2 for curve in polhode(moments, i1 + p * (i2 - i1))]
    high = [curve for p in parts if i2 < i3 for curve in polhode(moments, i3 - p * (i3 - i2))]
    return low, high


def radii(run: Any) -> tuple[float, float]:
    """Return the smallest and the largest radius (3) of the herpolhode of a free run."""
    moments = run.body.principal_moments
    x = (run.omega[0] @ run.body.principal_axes) ** 2 * moments
    twice = float(x.sum())
    if twice == 0:
        return 0.0, 0.0
    order = np.argsort(moments)
    (i1, i2, i3), (x1, x2, x3) = moments[order], x[order] / twice
    low, high = x2 * (i2 - i1) + x3 * (i3 - i1), x1 * (i3 - i1) + x2 * (i3 - i2)  # J - I1, I3 - J
    if low == 0 or high == 0 or np.count_nonzero(x) == 1:  # a permanent rotation
        return (_radius((i1, i2, i3), (x1, x2, x3), twice),) * 2
    about_1 = x1 * (i2 - i1) >= x3 * (i3 - i2)
    ends = [(high / (i3 - i1), 0.0, low / (i3 - i1))]  # in the plane of axes 1 and 3
    if about_1:
        part = min(low / (i2 - i1), 1.0) if i2 > i1 else 1.0
        ends.append((1 - part, part, 0.0))
    else:
        part = min(high / (i3 - i2), 1.0) if i3 > i2 else 1.0
        ends.append((0.0, part, 1 - part))
    first, second = sorted(_radius((i1, i2, i3), end, twice) for end in ends)
    return first, second


def _radius(moments: tuple, x: tuple, twice: float) -> float:
    """The radius (3) for the squares ``x`` of a point on the unit sphere, as a sum of squares."""
    J = sum(i * y for i, y in zip(moments, x, strict=True))
    square = sum(y * (i - J) ** 2 / i for i, y in zip(moments, x, strict=True) if i > 0)
    return float(np.sqrt(twice * square) / J)


def invariable_plane(run: Any) -> np.ndarray:
    """Two directions normal to the first inertial angular momentum, and its own, as rows."""
    return directions(run.angular_momentum_inertial[0])


def directions(vector: np.ndarray) -> np.ndarray:
    """Two directions normal to a vector, and its own (z for none), as rows."""
    size = np.linalg.norm(vector)
    along = vector / size if size > 0 else np.array([0.0, 0.0, 1.0])
    across = np.eye(3)[0 if abs(along[0]) < 0.9 else 1]
    across = across - (across @ along) * along
    across /= np.linalg.norm(across)
    return np.stack([across, np.cross(along, across), along])


def rate_inertial(run: Any) -> np.ndarray:
    """Return the angular velocity in inertial axes, (n, 3)."""
    return to_inertial(run, run.omega)


def outline(surface: np.ndarray) -> np.ndarray:
    """Return the outline of the image of the unit sphere under ``surface``, seen along axis 3."""
    side = np.linalg.svd(np.linalg.inv(surface)[:, 2][None])[2][1:]  # x normal to the line of sight
    return (_circle() @ side @ surface.T)[:, :2]


def sections(surface: np.ndarray) -> np.ndarray:
    """Return the near parts of the principal sections, with rows of nan between them."""
    outward = np.linalg.inv(surface)[:, 2]
    gap = np.full((1, 2), np.nan)
    parts = []
    for pair in ((0, 1), (1, 2), (2, 0)):
        x = _circle() @ np.eye(3)[list(pair)]
        parts += [np.where(x @ outward[:, None] >= 0, (x @ surface.T)[:, :2], np.nan), gap]
    return np.concatenate(parts)


def _circle() -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, 361)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)
