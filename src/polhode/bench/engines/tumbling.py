"""The motion that all engines compute, its reference, its errors, and variants of computing it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import reduce
from typing import Any

import numpy as np

import polhode as ph
from polhode.bench.angles import angle

INERTIA, OMEGA, END = (1.0, 2.0, 3.0), (0.3, 1.0, 0.4), 100.0
MOTION: dict[str, Any] = {"body": ph.RigidBody(INERTIA), "omega": OMEGA, "name": "tumbling body"}
PROBLEM = ph.Problem(**MOTION)
AT_REST: dict[str, Any] = {"position": (0.0, 0.0, 0.0), "velocity": (0.0, 0.0, 0.0)}
FEWEST = 100  # steps; all numbers of steps are this, doubled several times
LOOKS = 20  # times at which errors are measured, along a run with a given step
TIMES = np.linspace(0.0, END, LOOKS + 1)
METRICS = {"attitude": "attitude (rad)", "energy": "energy", "momentum": "momentum"}
Motion = tuple[np.ndarray, np.ndarray, np.ndarray]  # times, quaternions, rates in body axes


# ---- the reference
class Truth:
    """The motion by Taylor series of ω' = I⁻¹(Iω × ω) and q' = qω/2 in decimal numbers.

    There is one series every ``STEP`` seconds; in between it is summed in double precision, which
    loses nothing but the last rounding.
    """

    STEP, ORDER, DIGITS = 0.25, 40, 34  # the step is exact; 400 of them make the end

    def __init__(self) -> None:
        with localcontext() as context:
            context.prec = self.DIGITS
            i, w, q = ([Decimal(x) for x in v] for v in (INERTIA, OMEGA, (1, 0, 0, 0)))
            ratios = (i[1] - i[2]) / i[0], (i[2] - i[0]) / i[1], (i[0] - i[1]) / i[2]
            rows, h = [], Decimal(self.STEP)
            for _ in range(round(END / self.STEP) + 1):
                series = self._series(w, q, ratios)
                rows.append([[float(c) for c in s] for s in series])
                *q, a, b, c = (reduce(lambda x, y: x * h + y, reversed(s)) for s in series)
                w = [a, b, c]
        self.series = np.array(rows)  # (step, variable, power)

    def _series(self, w: list, q: list, ratios: tuple) -> list[list[Decimal]]:
        c, x, y, z, p, r, s = series = [[value] for value in (*q, *w)]

        def times(u, v):
            return sum(map(Decimal.__mul__, u, reversed(v)))

        for k in range(1, self.ORDER + 1):
            new = (
                -(times(x, p) + times(y, r) + times(z, s)) / 2,
                (times(c, p) + times(y, s) - times(z, r)) / 2,
                (times(c, r) + times(z, p) - times(x, s)) / 2,
                (times(c, s) + times(x, r) - times(y, p)) / 2,
                ratios[0] * times(r, s),
                ratios[1] * times(s, p),
                ratios[2] * times(p, r),
            )
            for coefficients, value in zip(series, new, strict=True):
                coefficients.append(value / k)
        return series

    def attitude(self, times: np.ndarray) -> np.ndarray:
        places = np.floor(times / self.STEP).astype(int)
        h = (times - places * self.STEP)[:, None]
        return reduce(lambda x, y: x * h + y, np.moveaxis(self.series[places, :4], 2, 0)[::-1])


def errors(motion: Motion, truth: Truth) -> dict[str, float]:
    """The largest errors along the motion; ``early``: of the attitude, up to the first look."""
    times, q, omega = motion
    if not (np.isfinite(q).all() and np.isfinite(omega).all()):
        return dict.fromkeys((*METRICS, "early"), math.inf)
    moments = np.array(INERTIA)
    first = moments * OMEGA
    momenta = turned(q / np.linalg.norm(q, axis=1)[:, None], moments * omega)
    off = angle(q.T, truth.attitude(times).T)
    return {
        "attitude": off.max(),
        "energy": abs(omega**2 @ moments / (first @ OMEGA) - 1.0).max(),
        "momentum": np.linalg.norm(momenta - first, axis=1).max() / np.linalg.norm(first),
        "early": off[times <= TIMES[1]].max(),
    }


def turned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Turn vectors from body axes to inertial axes."""
    a = 2.0 * np.cross(q[:, 1:], v)
    return v + q[:, :1] * a + np.cross(q[:, 1:], a)


# ---- variants
@dataclass(frozen=True, eq=False)
class Variant:
    """A run over the whole span: ``call`` is timed, ``motion`` returns its states on the way."""

    engine: str
    integrator: str
    call: Callable[[], Any]
    motion: Callable[[], Motion]
    steps: int | None = None  # if it has given steps
    tolerance: float | None = None  # if it is adaptive
    order: int | None = None  # expected
    reset: Callable[[], None] | None = None  # before a call, not timed
    general: bool = True
    placed: bool = False  # with a position

    @property
    def setting(self) -> str:
        if self.tolerance is not None:
            return f"tol {self.tolerance:.0e}"
        return "" if self.steps is None else f"dt {END / self.steps:.3g}"


def looks(state: Callable[[], tuple], advance: Callable[[], None]) -> Motion:
    """Return the motion at ``TIMES`` from the states (q, ω) between calls of ``advance``."""
    rows = [state()]
    for _ in range(LOOKS):
        advance()
        rows.append(state())
    found = np.array(rows)
    return TIMES, found[:, :4], found[:, 4:]


def ladder(first: int, last: int, quick: bool) -> list[int]:
    """Numbers of steps, each twice the last; fewer in a quick run."""
    return [FEWEST * 2**k for k in range(first, (first + 2 if quick else last) + 1)]


def decades(first: int, last: int, quick: bool) -> list[float]:
    """Tolerances; fewer in a quick run."""
    return [10.0**-k for k in range(first, last + 1, 4 if quick else 1)]
