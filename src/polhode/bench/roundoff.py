"""How rounding makes the invariants of a motion drift, with plain and with compensated sums.

First, free and heavy bodies in one block of SIMD lanes, by turns about their principal axes, which
conserve |q|, the momentum about the vertical and, without torque, |L|, up to rounding.  The table
shows the root mean square over the bodies of their changes after 1e3, 1e4, … steps, and the power
of the number of steps with which it grows.  The remainders that compensated sums carry count as
part of the state, and the invariants are computed in extended precision.  A step turns by 0.09 on
average.

Then the energy of Lagrange tops, by a method so accurate that only rounding is left: root mean
square, over tops and starts, of the growth of its relative error in 3, 10, 30 and 90 % of all
steps; the power; and the trend: the mean change over a fiftieth of the run divided by the standard
error of that mean, root mean square over tops.

Then one symmetric and one asymmetric body, for as long as one likes (``walks``): a heavy top, and a
free body.  C compares their random walks with one rounding of the invariant in every step, 2⁻⁵³ √N.

A random walk has the power 1/2 and a trend of about 1, for any number of steps; a steady drift has
the power 1 and a trend that grows.  Costs are of short runs, plain and compensated in turn.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.records import (
    Bench,
    Finding,
    Key,
    Note,
    Result,
    Settings,
    Table,
    Verdict,
    at_most,
)
from polhode.bench.timing import columns, round_robin, row
from polhode.bench.tops import HEAVY, Lanes, Tops
from polhode.bench.walks import LAGS as WALKS
from polhode.bench.walks import WINDOWS, Course, constant
from polhode.loops.join import variant
from polhode.loops.lanes.blocks import unpack

PARTS = "turns", "energy", "walks"
SUMS = {"plain": False, "compensated": True}
POWER, COST = 0.7, 1.8  # at most
Calls = dict[Any, tuple[Callable, float]]
FAR, FAR_ERROR = 1e8, 3e-14  # steps, and the error after them, at most


# ---- turns about the principal axes
BODIES, H = 64, 5e-3
SLICE = 500  # steps that are timed
CHUNK = 1_000_000  # steps in a call
MODELS = {"free": ph.models.free(), "heavy": HEAVY}
INVARIANTS = {
    "free": ("|q|² - 1", "momentum about the vertical", "|L|"),
    "heavy": ("|q|² - 1", "momentum about the vertical"),
}


def invariants(lanes: Lanes, compensated: bool) -> np.ndarray:
    """Return rows of |q|², the momentum about the vertical, and |L|."""
    first, carried, _ = lanes.places
    table = unpack(lanes.work, BODIES).astype(np.longdouble)
    state = table[first : first + 7]
    if compensated:  # it carries the torque, and the remainders of q and of m
        state = state + table[carried + 3 : carried + 10]
    w, x, y, z, *m = state
    square = w * w + x * x + y * y + z * z
    vertical = 2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z
    along = sum(a * b for a, b in zip(vertical, m, strict=True)) / square
    return np.array([square, along, np.sqrt(sum(a * a for a in m))])


def marks(steps: int) -> list[int]:
    """1e3, 1e4, … and the last step."""
    powers = [10**k for k in range(3, 16) if 10**k < steps]
    return [*powers, steps]


def growth(lanes: Lanes, compensated: bool, steps: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (steps done, root mean squares of the relative changes) at each mark."""
    lanes.reset()
    first, done = invariants(lanes, compensated), 0
    scale = np.array([np.ones(BODIES), first[2], first[2]])
    for mark in marks(steps):
        while done < mark:
            some = min(CHUNK, mark - done)
            lanes.advance(some)
            done += some
        change = (invariants(lanes, compensated) - first) / scale
        yield done, np.sqrt(np.mean(change**2, axis=1)).astype(float)


def slope(counts: Any, errors: Any) -> float:
    """Return the power of the number of steps with which errors grow."""
    return float(np.polyfit(np.log(counts), np.log(errors), 1)[0])


def turns(settings: Settings) -> Iterator[Finding]:
    steps = settings.count("steps", quick=10_000)
    ends = {"plain": min(steps, settings.count("plain")), "compensated": steps}
    many = Tops.random(BODIES)
    runs = {
        (kind, sums): Lanes(variant(ph.METHODS["mr2"], None, compensated), model, many, H)
        for kind, model in MODELS.items()
        for sums, compensated in SUMS.items()
    }
    settings.report("timing")
    calls: Calls = {
        key: (partial(lanes.advance, SLICE), SLICE * BODIES) for key, lanes in runs.items()
    }
    yield from costs("mr2, a body and step", calls, ends, BODIES, settings)
    rows: list[Any] = []
    verdicts: list[Finding] = []
    for (kind, sums), lanes in runs.items():
        settings.report(f"{kind} bodies, {sums} sums")
        found = dict(growth(lanes, SUMS[sums], ends[sums]))
        for k, what in enumerate(INVARIANTS[kind]):
            errors = {done: float(each[k]) for done, each in found.items()}
            power = slope([*errors], [*errors.values()])
            shown = {f"after_{done}": each for done, each in errors.items()}
            rows.append({"what": f"{kind}, {what}", "sums": sums, **shown, "power": power})
            verdicts += judge(f"{kind} bodies, {what}, {sums}", power, errors[ends[sums]], steps)
    head = {"what": "bodies, invariant", "sums": "sums"}
    head |= {f"after_{done}": f"after {done:.0e}" for done in marks(steps)} | {"power": "power"}
    yield Table(f"Rounding of mr2, {BODIES} bodies, root mean square", head, rows)
    yield from verdicts


def judge(what: str, power: float, error: float, steps: int) -> Iterator[Finding]:
    """Yield the verdicts on the growth and on the final error."""
    yield at_most(f"{what}: grows with the power", power, POWER)
    if what.endswith("compensated"):
        limit = FAR_ERROR * (steps / FAR) ** 0.5
        yield at_most(f"{what}: after {steps:.0e} steps", error, float(f"{limit:.1e}"))


def costs(
    what: str, calls: Calls, ends: dict[str, int], bodies: int, settings: Settings
) -> Iterator[Finding]:
    """Time short runs by (kind, sums), plain and compensated; report how long all will take."""
    times = round_robin(calls, settings.repeats)
    rows, ratios = [], {}
    for (kind, sums), taken in times.items():
        ratio = taken.minimum / times[kind, "plain"].minimum
        rows.append(row(f"{kind}, {sums} sums", taken, ratio if SUMS[sums] else None))
        ratios[kind] = ratio
    yield Table("Cost", columns(what, "/ plain"), rows)
    for kind, ratio in ratios.items():
        yield at_most(f"{what.partition(',')[0]}, {kind}: cost compensated / plain", ratio, COST)
    seconds = sum(times[key].minimum * ends[key[1]] for key in times) * bodies * 1e-9
    text = f"{ends['compensated']:.0e} steps: about {seconds:.0f} s on a quiet processor"
    settings.report(text)


# ---- energies of Lagrange tops
DT, ROWS, WINDOW = 0.02, 1000, 10  # energies are averaged over WINDOW rows
LAGS = 30, 100, 300, 900  # rows
STRIDE = ROWS // 50


def tops(count: int) -> Iterator[ph.Problem]:
    random = np.random.default_rng(3)
    for _ in range(count):
        tilt = Rotation.from_rotvec([random.uniform(0.2, 1.2), 0, 0])
        omega = [random.normal(), random.normal(), random.uniform(10, 30)]
        yield ph.Problem(ph.RigidBody([5, 5, 1]), ph.models.heavy_top(20), tilt, omega)


def drift(method: str, steps: int, count: int, compensated: bool) -> tuple[np.ndarray, float]:
    """Return the growth of the energy error over each of LAGS, and its trend."""
    growths, trends = [], []
    for top in tops(count):
        given: dict[str, Any] = {"method": method, "dt": DT, "save_every": steps // ROWS}
        run = ph.solve(top, (0, DT * steps), compensated=compensated, **given)
        energy: Any = run.energy
        error = np.convolve(energy / energy[0] - 1, np.full(WINDOW, 1 / WINDOW), "valid")
        growths.append([np.mean((error[lag:] - error[:-lag]) ** 2) for lag in LAGS])
        change = np.diff(error[::STRIDE])
        trends.append(np.mean(change) / np.std(change, ddof=1) * np.sqrt(len(change)))
    return np.sqrt(np.mean(growths, axis=0)), float(np.sqrt(np.mean(np.square(trends))))


def energies(settings: Settings) -> Iterator[Finding]:
    steps, count = settings.count("steps", quick=100_000), settings.count("tops", quick=2)
    method = settings.values["method"]
    ends = {"plain": min(steps, settings.count("plain")), "compensated": steps}
    (top,) = tops(1)
    calls: Calls = {}
    for sums, compensated in SUMS.items():
        solver = ph.prepare(top, method=method, dt=DT, save_every=SLICE, compensated=compensated)
        calls["one top", sums] = partial(solver, (0.0, DT * SLICE)), SLICE
    yield from costs(f"{method}, a step", calls, ends, count, settings)
    rows: list[Any] = []
    verdicts: list[Finding] = []
    for sums, compensated in SUMS.items():
        settings.report(f"{count} tops, {sums} sums")
        found, trend = drift(method, ends[sums], count, compensated)
        power = slope(LAGS, found)
        rows.append((sums, f"{ends[sums]:.0e}", *found.tolist(), power, trend))
        verdicts += judge(f"energy of tops, {sums}", power, float(found[-1]), steps)
    head = {"sums": "sums", "steps": "steps"}
    head |= {f"lag_{lag}": f"in {lag / ROWS:.0%}" for lag in LAGS}
    head |= {"power": "power", "trend": "trend"}
    yield Table.of(f"Growth of the relative energy error of {count} tops, {method}", head, rows)
    yield from verdicts


# ---- one body for very many steps
STRANG = ph.METHODS["strang"]
START = (0.9, 0.3, -0.1, 0.3)
COURSES = {  # body: method for its symmetry axis, model, moments, rate, step
    "symmetric": (2, HEAVY, (5.0, 5.0, 1.0), (0.3, -0.7, 20.0), 0.01),
    "asymmetric": (None, ph.models.free(), (1.03, 1.61, 2.29), (0.61, 0.37, 0.53), 0.1),
}
TITLE = "Random walks of one body by strang: root mean square of the changes"
NAMES = "|q|² - 1", "momentum about the vertical", "|L|", "energy"
TREND, BOUND = 3.5, 1.0  # at most


def course(body: str, compensated: bool) -> Course:
    axis, model, inertia, omega, h = COURSES[body]
    q = tuple((np.array(START) / np.linalg.norm(START)).tolist())
    return Course(variant(STRANG, axis, compensated), model, inertia, q, omega, h)


def walks(settings: Settings) -> Iterator[Finding]:
    steps = settings.count("steps", quick=100_000)
    ends = {"plain": min(steps, settings.count("plain")), "compensated": steps}
    rows: list[Any] = []
    verdicts: list[Finding] = []
    for body in COURSES:
        for sums, compensated in SUMS.items():
            settings.report(f"{body} body, {sums} sums, {ends[sums]:.0e} steps")
            walk = course(body, compensated).followed(ends[sums])
            for place, name in enumerate(NAMES):
                if name == "|L|" and body == "symmetric":
                    continue  # it has a torque
                growth, trend = walk.growth(place), walk.trend(place)
                power, law = slope([*growth], [*growth.values()]), constant(growth)
                shown = {f"lag_{k}": each for k, each in zip(WALKS, growth.values(), strict=True)}
                row = {"what": f"{body}, {name}", "sums": sums, "steps": float(ends[sums])}
                rows.append(row | shown | {"power": power, "c": law, "trend": trend})
                what = f"{body} body, {name}, {sums}"
                verdicts.append(at_most(f"{what}: grows with the power", power, POWER + 0.05))
                verdicts.append(at_most(f"{what}: trend, of either sign", abs(trend), TREND))
                verdicts.append(at_most(f"{what}: C, of C 2⁻⁵³ √N", law, BOUND))
    head = {"what": "body, invariant", "sums": "sums", "steps": "steps"}
    head |= {f"lag_{k}": f"in {k / WINDOWS:.1%}" for k in WALKS}
    yield Table(TITLE, head | {"power": "power", "c": "C", "trend": "trend"}, rows)
    yield from verdicts


def picture(result: Result) -> Any:
    """Draw the growth of the walks; without them, bars."""
    found = [table for table in result.tables if table.title == TITLE]
    if not found:
        from polhode.plot import benchmark

        return benchmark(result)
    from polhode.bench.walks import draw

    return draw(found[0].rows)


@Bench(
    name="roundoff",
    place=130,
    summary="how invariants drift by rounding, with plain and with compensated sums",
    long=True,
    repeats=301,
    keys={
        "method": Key("srkn14", "for the energy of tops; must have compensated sums"),
        "steps": Key(
            "1e6",
            "of every body; 1e8 take minutes, more for the energy; so do 1e9 for the walks",
        ),
        "tops": Key("8", "number of tops"),
        "parts": Key("", f"of {', '.join(PARTS)}; default: all"),
        "plain": Key("1e7", "the most steps with plain sums"),
    },
    draw=picture,
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    tables = {"turns": turns, "energy": energies, "walks": walks}
    for part in settings.choose("parts", PARTS):
        for finding in tables[part](settings):
            if not (settings.quick and isinstance(finding, Verdict)):
                yield finding
    if settings.count("steps") < FAR and not settings.quick:
        yield Note(f"the limit is {FAR_ERROR:g} after {FAR:.0e} steps, and less as the square root")
