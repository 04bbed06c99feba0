"""How short a step of ``fukushima-departures`` can be: python design/chain_of_departures.py

The slope of a formulation, with the torque of the model Earth, runs on numbers that know when they
are ready: on a processor with unlimited units, which starts every operation as soon as its operands
are there.  The time of the last result is the longest chain of dependent operations, and no
arrangement of the same formulas takes less.  The number of operations is a second bound, with two
units for products, two for sums, and one for roots and quotients.

A step of Adams's method evaluates the slope twice, and each evaluation needs the one before.  What
depends on time alone (positions of Sun and Moon, the nominal angle) is ready before, and counts for
nothing here.  Guards against NaN are branches, which processors predict.
"""

import math
from collections import Counter
from collections.abc import Callable
from operator import add, mul, sub, truediv
from typing import Any

import polhode as ph
from polhode.compiler.machine import blend, fma, mask, rint
from polhode.compiler.tree import bind
from polhode.contracts import torque

NAMES = "euler-angles", "encke-euler", "encke-quaternion", "fukushima", "fukushima-departures"
# cycles of a Zen 5, as chains of single instructions show them
LATENCY = {"sum": 2, "product": 3, "fused": 4, "root": 20, "quotient": 13, "rounding": 3}
OCCUPIED = {"root": 7.5, "quotient": 4.0}  # cycles until the unit takes the next one
ADAMS = 36  # twice: differences of slopes, the last terms of (1) or (2), the new variables
done: Counter = Counter()


class Timed(float):
    """A number with the cycle at which it is ready.  Plain numbers are ready from the start."""

    ready = 0

    def __neg__(self) -> "Timed":
        return at(self.ready, -float(self))

    def __abs__(self) -> "Timed":
        return at(self.ready, abs(float(self)))


def at(cycle: int, value: float) -> Timed:
    number = Timed(value)
    number.ready = cycle
    return number


def of_kind(kind: str, function: Callable) -> Callable:
    def operation(*numbers: float) -> float:
        value = function(*map(float, numbers))
        cycles = [x.ready for x in numbers if isinstance(x, Timed)]
        if not cycles:
            return value  # constant, or of time alone
        done[kind] += 1
        return at(max(cycles) + LATENCY[kind], value)

    return operation


for _name, _kind, _function in (
    ("add", "sum", add),
    ("sub", "sum", sub),
    ("mul", "product", mul),
    ("truediv", "quotient", truediv),
):
    setattr(Timed, f"__{_name}__", of_kind(_kind, _function))
    setattr(Timed, f"__r{_name}__", of_kind(_kind, lambda a, b, f=_function: f(b, a)))
TIMED: dict[Any, Any] = {
    fma: of_kind("fused", lambda a, b, c: a * b + c),
    rint: of_kind("rounding", rint),
    math.sqrt: of_kind("root", math.sqrt),
    blend: lambda m, a, b: a if m else b,
    mask: bool,
}


def latest(value: Any) -> int:
    if isinstance(value, tuple):
        return max(map(latest, value))
    return value.ready if isinstance(value, Timed) else 0


def timed(value: tuple[float, ...]) -> tuple[Timed, ...]:
    return tuple(map(Timed, value))


def evaluation(name: str, problem: ph.Problem) -> tuple[int, int, int, Counter]:
    """Return when attitude, torque and slope are ready, and the operations by kind."""
    form: Any = ph.COORDINATES.get(name) or ph.FORMULATIONS[name]
    model, seen = problem.model, []
    acts = bind(model.torque, TIMED)

    def watched(t, q, m, body, params):
        seen.append(latest(q))
        n = acts(t, q, m, body, params)
        seen.append(latest(n))
        return n

    bound = TIMED | {torque: watched}
    body, (q, m) = problem.body.data, problem.state
    if form.nominal is not None:
        body = *body, form.nominal(0.0, q, m, body)
    y, params = form.enter(0.0, q, m, body), (model.numbers, model.tables)
    done.clear()
    if form.settled is None:
        slope = bind(form.slope, bound)(0.3, timed(y), body, params)
    else:
        here, moving = form.settled.numbers(y, body), timed(y[: form.settled.moving])
        slope = bind(form.settled.slope, bound)(0.3, moving, here, body, params)
    return (*seen, latest(slope), Counter(done))


def main() -> None:
    problem = ph.celestial.rigid_earth_model()
    print(
        "cycles until attitude, torque, slope are ready | operations, roots, quotients | of a step:"
    )
    print("its longest chain, its products over two units, its roots and quotients over one")
    for name in NAMES:
        attitude, turning, slope, kinds = evaluation(name, problem)
        chain = 2 * slope + ADAMS
        products = kinds["product"] + kinds["fused"] + kinds["rounding"]
        slow = sum(2 * kinds[kind] * cycles for kind, cycles in OCCUPIED.items())
        work = f"{sum(kinds.values()):4d} {kinds['root']:2d} {kinds['quotient']:2d}"
        times = f"{attitude:4d} {turning:4d} {slope:4d}"
        print(f"{name:21s} {times} | {work} | {chain:4d} {products:4d} {slow:5.0f}")


if __name__ == "__main__":
    main()
