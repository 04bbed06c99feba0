"""The motion between keyframes, as the viewer draws it; and which states to take as keyframes.

A keyframe is a time t, an attitude q and an angular velocity ω in body axes.  Between two of them,
a time h apart and with s from 0 to 1,

    q = q₀ exp(ψ),    ψ = (s³ - 2s² + s) h ω₀ + (3s² - 2s³) ψ₁ + (s³ - s²) h dexp⁻¹(ψ₁) ω₁   (1)
    ω = dexp(ψ) ψ'/h                                                                   (2)
    dexp(ψ) v = v - (1 - cos a)/a² ψ × v + (a - sin a)/a³ ψ × (ψ × v),    a = |ψ|          (3)
    dexp⁻¹(ψ) v = v + ψ × v/2 + (1 - a/2 cot a/2)/a² ψ × (ψ × v)                         (4)

ψ₁ is the logarithm of q₀* q₁, with the multiple of 2π that is nearest to the mean rate: keyframes
may be turns apart.  ``web/keyframes.js`` computes the same.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError

TAU = 2.0 * np.pi
BLOCK = 2**16  # rows that are looked at together, to bound the memory
SHARES = np.arange(1, 8)  # eighths of an interval, which are looked at before all its rows
RATE = 0.01  # of the largest rate, by which ω may be missed
STRIDE = 0.5  # radians between rows, more than which ``sol`` is asked for states between
FEW = 2000  # rows, up to which it is asked in any case
PARTS = 4
MOST_ROWS = 400_000  # with those from ``sol``
NEAR = 0.1  # radians between rows, up to which nothing between them is looked at
ROUNDS = 6
FASTEST = 1e30  # a faster rate is of a run that fails, and the viewer's numbers end at 3e38
MARGIN = 0.75  # of what is allowed, for times between those that are looked at


class Motion(NamedTuple):
    """Rows of a motion, in the order of time."""

    t: np.ndarray
    q: np.ndarray
    omega: np.ndarray


class Pieces(NamedTuple):
    """The cubics (1) of some intervals."""

    t: np.ndarray
    h: np.ndarray
    q: np.ndarray
    first: np.ndarray  # h ω₀
    whole: np.ndarray  # ψ₁
    last: np.ndarray  # h dexp⁻¹ ω₁


# ---- quaternions
def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the products of rows of quaternions."""
    a, b, c, d = p.T
    w, x, y, z = q.T
    return np.stack(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ],
        axis=1,
    )


def conjugate(q: np.ndarray) -> np.ndarray:
    """Return the inverses of unit quaternions."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def angle_apart(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the angles of the turns between attitudes, in radians."""
    d = product(conjugate(p), q)
    return 2.0 * np.arctan2(_length(d[:, 1:])[:, 0], np.abs(d[:, 0]))


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    x, y, z = a.T
    u, v, w = b.T
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=1)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", a, b)[:, None]


def _length(v: np.ndarray) -> np.ndarray:
    return np.sqrt(_dot(v, v))


def _exp(psi: np.ndarray) -> np.ndarray:
    half = 0.5 * _length(psi)
    return np.hstack([np.cos(half), 0.5 * np.sinc(half / np.pi) * psi])


# ---- between keyframes
def dexp(psi: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return rows of (3)."""
    square = _dot(psi, psi)
    a = np.sqrt(square)
    small = square < 1e-6
    safe = np.where(small, 1.0, a)
    half = np.sin(0.5 * safe) / safe
    c = np.where(small, 0.5 - square / 24.0, 2.0 * half * half)
    d = np.where(small, 1.0 / 6.0 - square / 120.0, (safe - np.sin(safe)) / safe**3)
    k = _cross(psi, v)
    return v - c * k + d * _cross(psi, k)


def dexp_inverse(psi: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return rows of (4)."""
    square = _dot(psi, psi)
    small = square < 1e-6
    safe = np.where(small, 1.0, square)
    half = 0.5 * np.sqrt(safe)
    c = np.where(small, 1.0 / 12.0 + square / 720.0, (1.0 - half / np.tan(half)) / safe)
    k = _cross(psi, v)
    return v + 0.5 * k + c * _cross(psi, k)


def pieces(motion: Motion, left: np.ndarray, right: np.ndarray) -> Pieces:
    """Return the cubics between rows ``left`` and ``right``."""
    t, q, omega = motion
    h = (t[right] - t[left])[:, None]
    d = product(conjugate(q[left]), q[right])
    v = d[:, 1:]
    sine = _length(v)
    mean = 0.5 * h * (omega[left] + omega[right])
    is_turned = sine > 1e-12
    size = np.where(is_turned, sine, 1.0)
    psi = np.where(is_turned, 2.0 * np.arctan2(sine, d[:, :1]) / size, 2.0) * v
    rate = _length(mean)
    axis = np.where(is_turned, v / size, mean / np.where(rate > 0.0, rate, 1.0))
    psi = psi + axis * (TAU * np.floor(_dot(mean - psi, axis) / TAU + 0.5))
    return Pieces(t[left], h, q[left], h * omega[left], psi, h * dexp_inverse(psi, omega[right]))


def within(cubics: Pieces, which: Any, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return attitudes and angular velocities at times of the cubics ``which``."""
    start, h, q, first, whole, last = (values[which] for values in cubics)
    s = (t - start)[:, None] / h
    psi = s * (1 - s) ** 2 * first + s * s * (3 - 2 * s) * whole + s * s * (s - 1) * last  # (1)
    rate = (1 - s) * (1 - 3 * s) * first + 6 * s * (1 - s) * whole + s * (3 * s - 2) * last
    return product(q, _exp(psi)), dexp(psi, rate) / h  # (2)


def between(
    t: np.ndarray, q: np.ndarray, omega: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return attitudes (w, x, y, z) and angular velocities in body axes at times ``x``.

    ``t`` increases.  Times outside of it are moved to its ends.
    """
    motion = Motion(*(np.asarray(values, dtype=float) for values in (t, q, omega)))
    x = np.clip(np.asarray(x, dtype=float), motion.t[0], motion.t[-1])
    if len(motion.t) == 1:
        return np.repeat(motion.q, len(x), axis=0), np.repeat(motion.omega, len(x), axis=0)
    left = np.clip(np.searchsorted(motion.t, x, side="right") - 1, 0, len(motion.t) - 2)
    intervals, which = np.unique(left, return_inverse=True)
    return within(pieces(motion, intervals, intervals + 1), which, x)


# ---- the rows of a run
def usable(t: np.ndarray, q: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Return which rows can be shown: with finite numbers, and no rate beyond all measure."""
    whole = np.isfinite(t) & np.isfinite(q).all(axis=1) & (np.abs(omega) <= FASTEST).all(axis=1)
    return whole & q.any(axis=1)


def in_order(t: np.ndarray, q: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Return the indices of usable rows, in the order of time: each time once."""
    places = np.flatnonzero(usable(t, q, omega))
    places = places[np.argsort(t[places], kind="stable")]
    new = np.append(True, np.diff(t[places]) > 0.0) if len(places) else np.empty(0, dtype=bool)
    return places[new]


def of_unit_length(q: np.ndarray) -> np.ndarray:
    """Return quaternions divided by their lengths; some methods let them drift."""
    return q / _length(q)


def rows_of(run: Any) -> Motion:
    """Return the usable rows of a run, in the order of time, with attitudes of unit length."""
    t, q, omega = run.t, run.q, run.omega
    places = in_order(t, q, omega)
    return Motion(t[places], of_unit_length(q[places]), omega[places])


def refined(run: Any, tolerance: float) -> tuple[Any, bool]:
    """Return a run with states that are close together, and whether they are close enough.

    Where states are far apart, ``run.sol`` gives those between them, if it can, until cubics
    between neighbours meet the states in their middles.
    """
    motion = rows_of(run)
    turn = turns(motion)
    is_close = bool((turn <= np.pi).all())
    parts = np.ceil(turn / STRIDE).clip(PARTS if len(turn) < FEW else 1, MOST_ROWS)
    if not hasattr(run, "sol") or not (parts > 1).any() or parts.sum() > MOST_ROWS:
        return run, is_close
    try:
        fine = run.sol(_divided(motion.t, parts.astype(int)))
        for _ in range(ROUNDS):
            motion = rows_of(fine)
            apart = np.flatnonzero(turns(motion) > NEAR)
            middles = run.sol(motion.t[apart] + 0.5 * np.diff(motion.t)[apart])
            q, _ = within(pieces(motion, apart, apart + 1), slice(None), middles.t)
            is_missed = angle_apart(q, of_unit_length(middles.q)) > 0.5 * MARGIN * tolerance
            if not is_missed.any() or len(motion.t) + is_missed.sum() > MOST_ROWS:
                break
            fine = run.sol(np.sort(np.append(motion.t, middles.t[is_missed])))
    except InputError:  # read from a file, or made from samples
        return run, is_close
    return fine, True


def turns(motion: Motion) -> np.ndarray:
    """Return by how much the body turns from row to row, at most, in radians."""
    speed = _length(motion.omega)[:, 0]
    return np.maximum(speed[1:], speed[:-1]) * np.diff(motion.t)


def _divided(t: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return times with each interval divided into parts."""
    inside = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    times = np.repeat(t[:-1], parts) + inside * np.repeat(np.diff(t) / parts, parts)
    return np.append(times, t[-1])


# ---- the choice of keyframes
def halved(
    count: int,
    most: int,
    misses: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Return rows of 0 to ``count`` - 1 between which no row is missed, by halving intervals.

    ``misses(left, right, which, rows)`` says which rows are missed, each by the interval ``which``
    from ``left`` to ``right``.  Blocks of rows come one after the other; once there are more than
    ``most``, the rows up to there are returned.
    """
    found = [np.zeros(1, dtype=int)]
    total = 1
    for start in range(0, max(count - 1, 0), BLOCK):
        cuts = _halved(start, min(start + BLOCK, count - 1), misses)[1:]
        found.append(cuts[: max(most - total, 0)])
        total += len(cuts)
        if total > most:
            break
    return np.concatenate(found)


def _halved(start: int, end: int, misses: Callable) -> np.ndarray:
    """Return rows between which no row is missed, ``start`` and ``end`` among them."""
    cuts = [np.array([start, end])]
    left, right = np.array([start]), np.array([end])
    while True:
        is_open = right - left > 1
        left, right = left[is_open], right[is_open]
        if not len(left):
            return np.unique(np.concatenate(cuts))
        number = np.arange(len(left))
        some = left[:, None] + (right - left)[:, None] * SHARES // 8
        bad = misses(left, right, np.repeat(number, len(SHARES)), some.ravel())
        bad = bad.reshape(some.shape).any(axis=1)
        held = np.flatnonzero(~bad)
        inside = right[held] - left[held] - 1
        which = np.repeat(held, inside)
        rows = np.arange(inside.sum()) - np.repeat(np.cumsum(inside) - inside, inside)
        bad[which[misses(left, right, which, left[which] + 1 + rows)]] = True
        left, right = left[bad], right[bad]
        middle = (left + right) // 2
        cuts.append(middle)
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])


def choose(motion: Motion, stored: Motion, tolerance: float, most: int) -> np.ndarray:
    """Return the rows to take as keyframes, at most ``most``.

    Between those of ``stored``, which are the rows as the viewer gets them, every row is met
    within ``tolerance`` radians, and its angular velocity within ``RATE`` of the largest.
    """
    fastest = float(_length(motion.omega).max())

    def misses(left, right, which, rows):
        q, omega = within(pieces(stored, left, right), which, motion.t[rows])
        is_near = angle_apart(q, motion.q[rows]) <= MARGIN * tolerance
        off = _length(omega - motion.omega[rows])[:, 0]
        return ~(is_near & (off <= MARGIN * RATE * fastest))

    return halved(len(motion.t), most, misses)


def choose_path(t: np.ndarray, x: np.ndarray, v: np.ndarray, near: float, most: int) -> np.ndarray:
    """Return rows between which cubics with the velocities ``v`` meet all ``x`` within ``near``."""

    def misses(left, right, which, rows):
        return _length(_hermite(t, x, v, left[which], right[which], rows) - x[rows])[:, 0] > near

    return halved(len(t), most, misses)


def _hermite(t, x, v, left, right, rows):
    h = (t[right] - t[left])[:, None]
    s = (t[rows] - t[left])[:, None] / h
    a, b = h * v[left], h * v[right]
    return (
        x[left]
        + s * (1 - s) ** 2 * a
        + s * s * (3 - 2 * s) * (x[right] - x[left])
        + (s * s * (s - 1) * b)
    )
