"""``integrate_samples``: the attitude from sampled angular velocities, as a gyro logs them."""

import warnings
from typing import Any

import numpy as np

from polhode.errors import InputError, PolhodeWarning
from polhode.files.samples import date, looks_like_degrees
from polhode.kernels.quaternion import to_body
from polhode.loops import sampled_rates
from polhode.problems.problem import quaternion
from polhode.results.trajectory import Trajectory
from polhode.solvers.arguments import number_or_nan

ORDERS = 2, 4, 6, 8
CHOICES: dict[str, tuple] = {
    "frame": ("body", "inertial"),
    "kind": ("rate", "increment"),
    "missing": ("refuse", "bridge"),
    "order": ORDERS,
}
GAP = 1.5  # median steps: a longer one is a gap
BRIDGED = 10.0  # median steps: the default of max_gap
RESTLESS = 0.05  # rad/s, 3 degrees a second: the noise of a gyro at rest is less
LARGEST_BIAS = 0.35  # rad/s, 20 degrees a second: the bias of a cheap gyro is less


def integrate_samples(
    values: Any,
    times: Any,
    *,
    frame: str,
    kind: str,
    order: int = 6,
    attitude: Any = None,
    scalar_first: bool | None = None,
    missing: str = "refuse",
    max_gap: float | None = None,
    name: str = "",
    bias: Any = None,
) -> Trajectory:
    """Integrate sampled angular velocities to attitudes, by the Magnus series at the actual times.

    Parameters
    ----------
    values : (n, 3) rates in rad/s, or (n - 1, 3) increments in rad
    times : (n,) in seconds, or dates (``datetime64``, ``datetime``, ISO texts), which are counted
        from the first one; increasing; their spacing may vary
    frame : "body" (a gyro fixed to the body) or "inertial", the axes of the values
    kind : "rate" (the angular velocity at each time) or "increment" (its integral from each time to
        the next, component by component, as integrating gyros give it)
    order : 2, 4, 6 or 8.  The error falls as this power of the spacing, also at uneven times and at
        the ends.  At least that many times are needed.
    attitude : at the first time: a SciPy ``Rotation`` or a 3×3 matrix, body to inertial, or four
        numbers with ``scalar_first``; by default the identity
    missing : what to do with a row that has a NaN: "refuse" (an error that names it) or "bridge"
        (interpolate by the polynomial through its neighbours)
    max_gap : seconds; a longer gap between two samples is an error.  Default: 10 median steps
    name : for results and files
    bias : the rates that a gyro at rest shows, three numbers in rad/s, which are subtracted; or one
        number N: their mean over the first N seconds, in which the body must be at rest

    Returns
    -------
    Trajectory at all times, with ``omega`` in body axes and no body.  ``error`` estimates the error
    of each attitude in rad: its distance from the motion of the next higher order on the same
    samples (with order 8 or too few samples, of the next lower order, which is larger than the
    error).  It covers what happens between samples, not the gyro's noise or bias.  NaN if neither
    is possible.  ``gaps`` are the gaps that were bridged: missing samples, and steps longer than
    1.5 median steps.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> t = np.linspace(0, 1, 11)
    >>> rates = np.radians([[0.0, 0.0, 90.0]] * 11)  # 90 degrees a second about z
    >>> run = ph.integrate_samples(rates, t, frame="body", kind="rate")
    >>> run.rotation[-1].as_euler("xyz", degrees=True).round(6).tolist()
    [0.0, 0.0, 90.0]
    """
    given: dict[str, Any] = {"frame": frame, "kind": kind, "missing": missing, "order": order}
    for argument, value in given.items():
        _choice(value, CHOICES[argument], argument)
    t = _times(times)
    samples = _samples(values, t, kind)
    start = quaternion(attitude, scalar_first)
    _check_count(len(t), order, kind)
    other = _other(len(t), order)
    bad = ~np.isfinite(samples).all(axis=1)
    _check_bad(samples, bad, kind, missing)
    samples, shown = _without_bias(bias, samples, t, given)
    step = float(np.median(np.diff(t)))
    gaps = _gaps(t, step, bad, kind, max_gap)
    good = others = samples
    if bad.any():
        good = _bridged(samples, t, bad, kind, order)
        others = _bridged(samples, t, bad, kind, other)
    _check_turns(good, t, kind)
    q, omega, error = _integrate(t, good, others, given, other, start)
    facts = {
        "name": name,
        "model": f"sampled {frame} {kind}s",
        "samples": len(samples),
        "missing": int(bad.sum()),
        "median_step": step,
        "gaps": gaps,
        "compared_with": other,
    }
    arguments = {"frame": frame, "kind": kind, "order": order, **shown}
    if missing != "refuse":
        arguments["missing"] = missing
    if max_gap is not None:
        arguments["max_gap"] = float(max_gap)
    return Trajectory(
        t,
        q,
        None,
        None,
        potential=None,
        omega=omega,
        error=error,
        method="magnus",
        nsteps=len(t) - 1,
        arguments=arguments,
        problem=lambda: facts,
    )


def _integrate(
    t: np.ndarray, good: np.ndarray, others: np.ndarray, given: dict, other: int, start: tuple
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (attitudes, rates in body axes, estimated errors).

    ``good`` are the samples for ``order``, ``others`` those for the order to compare with.
    """
    # an inertial rate is the negative body rate of the conjugate (kernels/magnus)
    frame, kind, order = given["frame"], given["kind"], given["order"]
    sign = 1.0 if frame == "body" else -1.0
    w, *v = start
    out = np.empty((len(t), 8))
    scratch = np.empty((sampled_rates.MOST_POINTS, 3)), np.empty((sampled_rates.MOST_POINTS, 4))
    both = sign * good, order, sign * others, other or order, others is good
    sampled_rates.loop(kind)(t, *both, (w, *(sign * x for x in v)), *scratch, out)
    q = out[:, :4].copy()
    omega = good if kind == "rate" else sign * out[:, 4:7]
    if frame == "inertial":
        q[:, 1:] *= -1
        omega = np.stack(to_body(tuple(q.T), tuple(omega.T)), axis=1)
    error = 4 * np.arcsin(np.minimum(0.5 * np.sqrt(out[:, 7]), 1.0))  # from the chord of q
    if not other:
        error[:] = np.nan
    return q, omega, error


def _other(n: int, order: int) -> int:
    """Return the order to compare with, 0 for none."""
    higher = order + 2
    return higher if higher in ORDERS and n >= higher else order - 2


# ---- checks
def _choice(value: Any, choices: tuple, argument: str) -> None:
    if isinstance(value, bool) or value not in choices:
        listed = ", ".join(map(repr, choices[:-1])) + f" or {choices[-1]!r}"
        raise InputError(f"{argument} must be {listed}, got {value!r}")


def _array(value: Any, argument: str, form: str) -> np.ndarray:
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{argument} must be {form}, got {value!r}") from None


def _times(times: Any) -> np.ndarray:
    stamps = times if hasattr(times, "dtype") else np.asarray(times)
    dated = getattr(stamps.dtype, "kind", "O") in "MmOU"
    t = _dates(stamps) if dated else _array(times, "times", "numbers of seconds, or dates")
    if t.ndim != 1:
        raise InputError(f"times must be a list of times, got an array of shape {t.shape}")
    if not np.isfinite(t).all():
        k = int(np.argmin(np.isfinite(t)))
        raise InputError(
            f"times must be finite, but times[{k}] is {t[k]}; leave that sample out, or give it"
            " its time"
        )
    backward = np.flatnonzero(np.diff(t) <= 0)
    if len(backward):
        k = int(backward[0]) + 1
        what = "repeats" if t[k] == t[k - 1] else "is before"
        more = f" ({len(backward)} such places)" if len(backward) > 1 else ""
        raise InputError(
            f"times must increase, but times[{k}] = {t[k]:.12g} {what} times[{k - 1}] ="
            f" {t[k - 1]:.12g}{more}; sort the samples, or leave the repeated ones out"
        )
    return t


def _dates(stamps: Any) -> np.ndarray:
    """Return dates as seconds since the first one, and lengths of time as seconds."""
    array = np.asarray(stamps)
    if array.dtype.kind in "Mm":
        first = array[:1] if array.dtype.kind == "M" else np.zeros(1, array.dtype)
        return (array - first) / np.timedelta64(1, "s")
    texts = [x.isoformat() if hasattr(x, "isoformat") else str(x) for x in array.ravel()]
    found = [date(text) for text in texts]
    if None in found or len({zoned for _, zoned in filter(None, found)}) > 1:
        wrong = next((k for k, each in enumerate(found) if each is None), None)
        what = "some have a zone and some have none"
        what = what if wrong is None else f"times[{wrong}] is {texts[wrong]!r}"
        raise InputError(f"times must be numbers of seconds, or dates all alike, but {what}")
    counts = [count for count, _ in filter(None, found)]
    return np.reshape([(count - counts[0]) / 10**9 for count in counts], array.shape)


def _without_bias(
    bias: Any, samples: np.ndarray, t: np.ndarray, given: dict
) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the samples without the bias, and what the arguments of the run say of it."""
    if bias is None:
        return samples, {}
    rest = _bias(bias, samples, t, given)
    lost = rest if given["kind"] == "rate" else np.outer(np.diff(t), rest)
    return samples - lost, {"bias": rest.tolist()}


def _bias(bias: Any, samples: np.ndarray, t: np.ndarray, given: dict) -> np.ndarray:
    """Return the bias in rad/s: three numbers as given, or the mean of the first seconds."""
    if given["frame"] != "body":
        raise InputError("bias is fixed to the gyro and needs frame='body', got 'inertial'")
    try:
        value = np.array(bias, dtype=float)
    except (TypeError, ValueError):
        value = np.empty(0)
    if value.shape not in ((), (3,)) or not np.isfinite(value).all() or (value <= 0) is np.True_:
        raise InputError(
            "bias must be three numbers in rad/s, or a positive number of seconds at rest at the"
            f" start, got {bias!r}"
        )
    if value.shape == (3,):
        return value
    rates = samples if given["kind"] == "rate" else samples / np.diff(t)[:, None]
    ends = t if given["kind"] == "rate" else t[1:]
    quiet = rates[(ends <= t[0] + value) & np.isfinite(rates).all(axis=1)]
    if len(quiet) < 2 or t[-1] < t[0] + value:
        raise InputError(
            f"bias={bias!r} needs two samples or more in the first {bias!r} s, and a longer log:"
            f" got {len(quiet)} samples there, and {t[-1] - t[0]:.6g} s in all"
        )
    mean, spread = quiet.mean(axis=0), quiet.std(axis=0)
    if spread.max() > RESTLESS or np.abs(mean).max() > LARGEST_BIAS:
        warnings.warn(
            f"in the first {bias!r} s the body does not look at rest: rates of"
            f" {', '.join(f'{x:.3g}' for x in mean)} rad/s with a spread of"
            f" {', '.join(f'{x:.3g}' for x in spread)} rad/s; see bias=",
            PolhodeWarning,
            stacklevel=4,
        )
    return mean


def _samples(values: Any, t: np.ndarray, kind: str) -> np.ndarray:
    samples = _array(values, "values", "rows of three numbers")
    wanted = len(t) if kind == "rate" else len(t) - 1
    if samples.shape == (wanted, 3):
        return np.ascontiguousarray(samples)
    if samples.ndim != 2 or samples.shape[1] != 3:
        raise InputError(
            f"values must be rows of three numbers, got an array of shape {samples.shape}"
        )
    rule = (
        "n rates take n times"
        if kind == "rate"
        else "n increments take n + 1 times, the first one before the first increment"
    )
    raise InputError(f"{rule}: got {len(samples)} values and {len(t)} times")


def _check_count(n: int, order: int, kind: str) -> None:
    if n < order:
        possible = [o for o in ORDERS if o <= n]
        remedy = f"use order={possible[-1]}" if possible else "give two times or more"
        raise InputError(
            f"order {order} needs at least {order} times, got {n} (kind={kind!r}); {remedy}"
        )


def _check_bad(samples: np.ndarray, bad: np.ndarray, kind: str, missing: str) -> None:
    if not bad.any():
        return
    k = int(np.argmax(bad))
    if missing == "refuse" or np.isinf(samples).any():
        k = k if missing == "refuse" else int(np.argmax(np.isinf(samples).any(axis=1)))
        raise InputError(
            f"values must be finite, but values[{k}] is {samples[k].tolist()}"
            f" ({int(bad.sum())} such rows); if NaN marks missing samples, give missing='bridge'"
        )
    for k, end, cut in ((0, "first", "values[1:]"), (len(bad) - 1, "last", "values[:-1]")):
        if bad[k]:
            raise InputError(
                f"the {end} {kind}, values[{k}], is missing, and nothing lies beyond it to bridge"
                f" from; leave it out with its time ({cut}, and times alike)"
            )


def _gaps(t: np.ndarray, step: float, bad: np.ndarray, kind: str, max_gap: Any) -> list:
    """Return [start, end, missing samples] of each gap; one that is too long is an error."""
    longest = BRIDGED * step if max_gap is None else _positive(max_gap)
    if kind == "rate":
        first = np.flatnonzero(~bad)
        first, last = first[:-1], first[1:]
        lost = last - first - 1
    else:  # a missing increment is a gap of its own; neighbours are one gap
        known = ~bad
        edges = np.flatnonzero(np.r_[True, known[1:] | known[:-1]])
        first, last = edges, np.r_[edges[1:], len(bad)]
        lost = np.where(bad[first], last - first, 0)
    spans = t[last] - t[first]
    found = np.flatnonzero((lost > 0) | (spans > GAP * step))
    for g in found:
        i, j = int(first[g]), int(last[g])
        if spans[g] > longest:
            raise InputError(
                f"the gap of {spans[g]:.6g} s from times[{i}] = {t[i]:.12g} to times[{j}] ="
                f" {t[j]:.12g} is longer than max_gap = {longest:.6g} s"
                f" ({'10 median steps' if max_gap is None else 'as given'}); integrate the parts"
                " before and after it by themselves, or allow it with a larger max_gap"
            )
    return [[float(t[first[g]]), float(t[last[g]]), int(lost[g])] for g in found]


def _positive(max_gap: Any) -> float:
    value = number_or_nan(max_gap)
    if not value > 0:
        raise InputError(f"max_gap must be a positive number of seconds, got {max_gap!r}")
    return value


def _check_turns(samples: np.ndarray, t: np.ndarray, kind: str) -> None:
    """Warn of more than half a turn between samples, or of rates beyond the range of most gyros.

    Most often, the unit is wrong.
    """
    angles = np.sqrt(np.einsum("ij,ij->i", samples, samples))
    if kind == "rate":
        angles = np.maximum(angles[1:], angles[:-1]) * np.diff(t)
    k = int(np.argmax(angles > np.pi))
    if angles[k] > np.pi:
        warnings.warn(
            f"the body turns by {angles[k]:.3g} rad between times[{k}] and times[{k + 1}], more"
            " than half a turn: too few samples to follow it, or values not in rad"
            f"{'/s' if kind == 'rate' else ''} (np.radians) or times not in seconds",
            PolhodeWarning,
            stacklevel=3,
        )
    elif kind == "rate":
        for doubt in looks_like_degrees(samples, busy=np.inf):
            warnings.warn(f"{doubt}, or np.radians(values)", PolhodeWarning, stacklevel=3)


# ---- missing samples
def _bridged(
    samples: np.ndarray, t: np.ndarray, bad: np.ndarray, kind: str, size: int
) -> np.ndarray:
    """Fill in missing samples by the rate polynomial through ``size`` known ones around them."""
    known = np.flatnonzero(~bad)
    size = max(size, 2)
    if len(known) < size:
        raise InputError(f"only {len(known)} samples are not missing; order {size} needs {size}")
    full = samples.copy()
    changes = np.flatnonzero(np.diff(np.r_[False, bad, False]))
    for a, b in changes.reshape(-1, 2):
        place = int(np.searchsorted(known, a)) - size // 2
        near = known[min(max(place, 0), len(known) - size) :][:size]
        first, last = near[0], min(near[-1] + 2, len(t))
        u = 2 * (t[first:last] - t[first]) / (t[last - 1] - t[first]) - 1
        rows = _conditions(u, near - first, size, kind)
        wanted = _conditions(u, np.arange(a, b) - first, size, kind)
        full[a:b] = wanted @ np.linalg.solve(rows, samples[near])
    return full


def _conditions(u: np.ndarray, places: np.ndarray, size: int, kind: str) -> np.ndarray:
    """Return what the monomials of the rate contribute to the samples at ``places``."""
    powers = np.arange(size)
    if kind == "rate":
        return u[places, None] ** powers
    return (u[places + 1, None] ** (powers + 1) - u[places, None] ** (powers + 1)) / (powers + 1)
