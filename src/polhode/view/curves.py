"""The corner's facts and the curves below the picture."""

from typing import Any

import numpy as np

from polhode.contracts.conserved import changes
from polhode.errors import InputError
from polhode.view.keyframes import Motion, angle_apart, between, of_unit_length

BUCKETS = 300  # of a curve; each keeps its least and its largest value
FLOOR = 1e-17  # stands for a change of exactly zero
LEVELS = 4096  # of a curve's height: more than a plot has pixels
KEPT = 1e-3  # a larger change is no longer called kept
SMOOTH = 200  # times of a curve that shows no corners
SHORT = {"momentum": "L", "momentum along z": "Lz"}  # labels in a plot


class Curve:
    """One or more lines over the same times."""

    def __init__(self, name: str, unit: str, labels: list[str], t: Any, columns: Any, log=False):
        self.name, self.unit, self.labels, self.log = name, unit, labels, log
        self.t = np.asarray(t, dtype=float)
        self.columns = [np.asarray(column, dtype=float) for column in columns]

    def thinned(self, buckets: int = BUCKETS) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the times and, for each line, the least and largest values of each bucket."""
        order = np.argsort(self.t, kind="stable")
        t, columns = self.t[order], [self._rounded(column[order]) for column in self.columns]
        if len(t) <= 2 * buckets:
            return t, columns
        edges = np.linspace(0, len(t), buckets + 1).astype(int)
        first, last = edges[:-1], edges[1:] - 1
        times = np.stack([t[first], t[last]], axis=1).ravel()
        ends = []
        for c in columns:
            pairs = np.stack([np.fmin.reduceat(c, first), np.fmax.reduceat(c, first)], axis=1)
            falling = c[last] < c[first]
            pairs[falling] = pairs[falling, ::-1]  # in the order of time: no teeth where it falls
            ends.append(pairs.ravel())
        return times, ends

    def _rounded(self, values: np.ndarray) -> np.ndarray:
        """Return values with as many digits as a plot shows, which pack well."""
        values = np.where(np.isfinite(values), values, np.nan)
        if self.log:
            mantissa, exponent = np.frexp(np.maximum(values, FLOOR))
            return np.ldexp(np.round(mantissa * 256) / 256, exponent)
        size = np.nanmax(np.abs(values), initial=0.0)
        if not np.isfinite(size) or size == 0.0:
            return values
        height = np.nanmax(values) - np.nanmin(values)
        step = 2.0 ** np.floor(np.log2(max(height, 1e-6 * size) / LEVELS))
        return np.round(values / step) * step


def curves_of(run: Any, fine: Any, unit: str) -> list[Curve]:
    """Return the curves of a run; ``fine`` is the same run with states close together."""
    fine = _smooth(run, fine)
    is_si = unit == "s"  # models with other units of time have others of energy, too
    one = unit if is_si else unit.removesuffix("s")
    found = [Curve("rates", f"rad/{one}", ["ω1", "ω2", "ω3"], fine.t, fine.omega.T)]
    if fine.kinetic_energy is not None:
        energies = {"kinetic": fine.kinetic_energy}
        if fine.potential_energy is not None and np.any(fine.potential_energy):
            energies |= {"potential": fine.potential_energy, "total": fine.energy}
        found.append(
            Curve("energy", "J" if is_si else "", list(energies), fine.t, energies.values())
        )
        momentum = fine.angular_momentum_inertial.T
        of_momentum = "kg m²/s" if is_si else ""
        found.append(Curve("momentum", of_momentum, ["Lx", "Ly", "Lz"], fine.t, momentum))
    if fine.x is not None:
        found.append(Curve("position", "m", ["x", "y", "z"], fine.t, fine.x.T))
    drift = changes(run) if len(run) else {}
    if drift:
        labels = [SHORT.get(name, name) for name in drift]
        found.append(Curve("drift", "relative", labels, run.t, drift.values(), log=True))
    return found


def _smooth(run: Any, fine: Any) -> Any:
    """Return a run with few states at more times, if it knows what lies between them."""
    intervals = len(fine.t) - 1
    if not 0 < intervals < SMOOTH or not hasattr(run, "sol"):
        return fine
    parts = -(-SMOOTH // intervals)
    inner = fine.t[:-1, None] + np.diff(fine.t)[:, None] * np.arange(parts) / parts
    try:
        return run.sol(np.append(inner.ravel(), fine.t[-1]))
    except InputError:  # read from a file, or made from samples
        return fine


def apart(first: Any, other: Any) -> Curve | None:
    """Return the angle between the attitudes of two runs, at times of both."""
    low, high = max(first.t.min(), other.t.min()), min(first.t.max(), other.t.max())
    both = (first.t >= low) & (first.t <= high)
    if not both.any():
        return None
    t, q = first.t[both], of_unit_length(first.q[both])
    if np.array_equal(first.t, other.t):
        there = of_unit_length(other.q[both])
    else:
        there = _attitudes(other, t)
    return Curve("angle apart", "rad", ["angle apart"], t, [angle_apart(q, there)], log=True)


def _attitudes(run: Any, t: np.ndarray) -> np.ndarray:
    """Return the attitudes of a run at other times."""
    try:
        return of_unit_length(run.sol(t).q)
    except InputError:  # it has no dense output
        order = np.argsort(run.t, kind="stable")
        order = order[np.append(True, np.diff(run.t[order]) > 0.0)]
        rows = Motion(run.t[order], of_unit_length(run.q[order]), run.omega[order])
        return of_unit_length(between(*rows, t)[0])


# ---- the corner
def facts_of(run: Any, unit: str) -> list[list[str]]:
    """Return labels and texts about a run: what was solved, how, how it ended, what it kept."""
    rows = {
        "problem": problem_of(run),
        "method": ", ".join([str(run.method), *steps_of(run, unit)]),
        "states": f"{len(run)}, t = {span_text(float(run.t[0]), float(run.t[-1]))} {unit}",
        "ended": _ending(run),
    }
    for name, values in changes(run).items():
        rows[name] = kept(float(np.nanmax(values, initial=0.0)))
    if run.error is not None and np.isfinite(run.error).any():
        rows["error"] = f"{np.nanmax(run.error):.1e} rad at most, as estimated"
    return [[label, text] for label, text in rows.items() if text]


def span_text(start: float, end: float) -> str:
    """Return two times with as many digits as tell them apart, and at least six."""
    size, span = max(abs(start), abs(end)), abs(end - start)
    digits = 6
    if span > 0.0 and np.isfinite(size):
        digits = int(np.clip(np.ceil(np.log10(size / span)) + 4, 6, 17))
    return f"{start:.{digits}g} to {end:.{digits}g}"


def problem_of(run: Any) -> str:
    """Return the name of a run's problem, or of its model."""
    return str(run.problem.get("name") or run.problem.get("model") or "")


def steps_of(run: Any, unit: str) -> list[str]:
    """Return the step of a run, or the tolerances that determined its steps."""
    known = {"dt": f" {unit}".rstrip(), "rtol": "", "atol": ""}
    given = ((name, run.arguments.get(name), after) for name, after in known.items())
    return [f"{name} = {x:g}{after}" for name, x, after in given if isinstance(x, (int, float))]


def _ending(run: Any) -> str:
    if run.success:
        return str(run.message or "success")
    return f"{run.status.name}: {run.message}"


def kept(change: float) -> str:
    """Say how well a quantity is kept that changes by so much, relatively."""
    if not np.isfinite(change):
        return "not known"
    if change == 0.0:
        return "kept exactly"
    if change < KEPT:
        return f"kept to {change:.0e}"
    if change < 0.1:
        return f"changes by {100 * change:.2g} %"
    return f"changes by {100 * change:.0f} %" if change < 10.0 else f"changes {change:.0e}-fold"
