"""Points (a run's errors and cost), curves of one integrator, and comparisons of them."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from polhode.bench.engines.ours import OURS
from polhode.bench.engines.tumbling import END, METRICS, Variant
from polhode.bench.timing import Times, timed

TARGETS = {"attitude": (1e-3, 1e-6, 1e-9, 1e-12), "energy": (1e-3, 1e-6, 1e-9, 1e-12)}
EPS = 1.1e-16


@dataclass(frozen=True)
class Point:
    variant: Variant
    errors: dict[str, float]
    times: Times  # of the whole span

    @property
    def cost(self) -> float:
        """Microseconds for a simulated second."""
        return self.times.minimum / END / 1e3

    @property
    def row(self) -> dict:
        v = self.variant
        return {
            "what": f"{v.engine} {v.integrator}",
            "engine": v.engine,
            "general": v.general,
            "placed": v.placed,
            "setting": v.setting,
            "us_min": self.cost,
            "us_median": self.times.median / END / 1e3,
            **{name: float(self.errors[name]) for name in METRICS},
        }


def measure_times(
    calls: Mapping[Any, Callable], repeats: int, resets: Mapping[Any, Callable]
) -> dict[Any, Times]:
    """CPU times of the process, without samples that are far too short.

    On a virtual machine the clock of the process sometimes loses time that others took.
    """
    times = timed(calls, repeats, clock=time.process_time_ns, resets=resets)
    return {
        key: Times(tuple(ns for ns in taken.ns if ns > taken.median / 3.0))
        for key, taken in times.items()
    }


class Curve:
    """The points of one integrator, from the coarsest."""

    def __init__(self, points: list[Point]):
        self.points = points
        self.variant = points[0].variant
        self.name = f"{self.variant.engine} {self.variant.integrator}"

    @property
    def order(self) -> float | None:
        """The order observed at the two smallest steps whose early error is above rounding."""
        good = sorted(
            (p.variant.steps, p.errors["early"])
            for p in self.points
            if p.variant.steps and 1e-12 < p.errors["early"] < 0.3
        )
        if len(good) < 2:
            return None
        (m, e), (n, f) = good[-2:]
        return math.log(e / f) / math.log(n / m)

    @property
    def row(self) -> tuple:
        """The name, the order expected and observed, nanoseconds a step, and a verdict."""
        expected, observed, longest = self.variant.order, self.order, self.points[-1]
        assert expected is not None
        assert longest.variant.steps is not None
        right = observed is not None and observed > expected - 0.3
        verdict = "" if right else "too few points" if observed is None else "NOT ITS ORDER"
        step = round(longest.times.minimum / longest.variant.steps)
        return self.name, expected, observed, step, verdict

    def against(self, rivals: list[Point]) -> dict[str, dict[str, tuple[float, float]]]:
        """The least and the largest ratio of cost and of error, theirs to ours, for each metric."""
        found = {}
        for name in METRICS:
            good = [p for p in self.points if math.isfinite(p.errors[name])]
            costs = [p.cost / least(rivals, name, p.errors[name]) for p in good]
            factors = [p.errors[name] / smallest(rivals, name, p.cost) for p in good]
            found[name] = {
                "cost": (min(costs), max(costs)),
                "error": (min(factors), max(factors)),
            }
        return found


def least(points: list[Point], name: str, error: float) -> float:
    """Return the least cost that reaches an error."""
    return min((p.cost for p in points if p.errors[name] <= error), default=math.inf)


def smallest(points: list[Point], name: str, cost: float) -> float:
    """Return the smallest error at a cost; anything below one rounding counts as one rounding."""
    return min((max(p.errors[name], EPS) for p in points if p.cost <= cost), default=math.inf)


def curves(points: list[Point]) -> list[Curve]:
    found: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        found.setdefault((point.variant.engine, point.variant.integrator), []).append(point)
    return [Curve(group) for group in found.values()]


def compare(peers: list[Curve], rivals: list[Point]) -> tuple[list[tuple], bool]:
    """Rows of ratios, theirs to ours, and whether ours is ahead of all in error at equal cost."""
    rows, ahead = [], True
    for curve in peers:
        ratios = curve.against(rivals)
        ahead &= all(pair["error"][0] > 1.0 for pair in ratios.values())
        pairs = (ratios[name][what] for what in ("cost", "error") for name in METRICS)
        rows.append((curve.name, *(" … ".join(map(_short, pair)) for pair in pairs)))
    return rows, ahead


def reached(curve: Curve) -> tuple:
    """Microseconds for a simulated second to reach ``TARGETS``; empty where not reached."""
    costs = [least(curve.points, name, e) for name, sizes in TARGETS.items() for e in sizes]
    return curve.name, *(_short(cost) if cost < math.inf else "" for cost in costs)


TWINS = (("MuJoCo RK4", "rk4"), ("Basilisk RK4", "rk4"), ("SciPy DOP853", "dop853"))


def twins(found: list[Curve]) -> list[str]:
    """Ratios of cost for the same formula and setting, where only the machinery differs."""
    by_name = {curve.name: curve for curve in found}
    lines = []
    for theirs, name in TWINS:
        if theirs in by_name:
            costs = {p.variant.setting: p.cost for p in by_name[f"{OURS} {name}"].points}
            same = [p for p in by_name[theirs].points if p.variant.setting in costs]
            ratios = [p.cost / costs[p.variant.setting] for p in same]
            lines.append(f"{theirs} / our {name}: {min(ratios):.1f} … {max(ratios):.1f}")
    return lines


def _short(x: float) -> str:
    """Two digits."""
    if 0.01 < x < 1e5:
        return f"{float(f'{x:.2g}'):g}"
    return f"{x:.0e}".replace("e+0", "e").replace("e+", "e")
