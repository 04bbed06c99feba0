"""This library's runs of the tumbling body."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import polhode as ph
from polhode.bench.engines import tumbling
from polhode.bench.engines.tumbling import Motion, Variant

OURS = "polhode"
FIXED = {  # numbers of steps from and to
    "mr2": (1, 9),
    "imidm": (1, 8),
    "rkn4": (1, 8),
    "mkrk:rk4": (1, 8),
    "mkrk:butcher6": (1, 6),
    "rk4": (1, 8),
}
ADAPTIVE = "dop853", "vern9", "extrapolation"
PLACED = "mr2", "rkn4", "mkrk:rk4", "mkrk:butcher6", "vern9", "extrapolation"
FREE = "strang", "srkn14"  # exact for a free body


def ours(quick: bool) -> Iterator[Variant]:
    """Yield a run for every method and setting."""
    for placed in (False, True):
        for name, (first, last) in FIXED.items():
            method = ph.METHODS.get(name) or ph.INTEGRATORS[name]
            if name in PLACED or not placed:
                for steps in tumbling.ladder(first, last, quick):
                    yield prepared(name, steps, order=method.order, placed=placed)
        for name in ADAPTIVE:
            if name in PLACED or not placed:
                for tolerance in tumbling.decades(3, 14, quick):
                    yield prepared(name, tolerance=tolerance, placed=placed)
    for name in FREE:
        for steps in (1, tumbling.LOOKS, 10 * tumbling.LOOKS):
            yield prepared(name, steps, general=False)
    yield prepared("auto", general=False)
    yield closed_form()


def prepared(
    name: str,
    steps: int | None = None,
    tolerance: float | None = None,
    placed: bool = False,
    **facts: Any,
) -> Variant:
    """A prepared solver, as users call it; reading the last state evaluates the trajectory."""
    problem = ph.Problem(**tumbling.MOTION, **tumbling.AT_REST) if placed else tumbling.PROBLEM
    looks: dict[str, Any] = {"t_eval": tumbling.TIMES}
    last: dict[str, Any] = {"t_eval": [tumbling.END]}
    if steps is not None:
        dt, every = tumbling.END / steps, max(1, steps // tumbling.LOOKS)
        looks, last = {"dt": dt, "save_every": every}, {"dt": dt, "save_every": steps}
    elif tolerance is not None:
        looks = last = {"rtol": tolerance, "atol": 0.0}
    looked, solver = (ph.prepare(problem, method=name, **given) for given in (looks, last))

    def call() -> tuple:
        run = solver((0.0, tumbling.END))
        return run.q[-1], run.angular_momentum[-1]

    def motion() -> Motion:
        run = looked((0.0, tumbling.END))
        return run.t, run.q, run.omega

    name = f"{name} + x" if placed else name
    return Variant(OURS, name, call, motion, steps, tolerance, placed=placed, **facts)


def closed_form() -> Variant:
    def motion(times: Any = tumbling.TIMES) -> Motion:
        run = ph.exact_free_motion(tumbling.MOTION["body"], None, tumbling.OMEGA, times)
        return run.t, run.q, run.omega

    return Variant(OURS, "exact_free_motion", partial(motion, tumbling.END), motion, general=False)
