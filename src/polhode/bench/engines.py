"""A freely tumbling body in physics engines and in ours: what an error costs.

I = (1, 2, 3), ω = (0.3, 1, 0.4) rad/s, no torque, 100 s, some twenty turns.  Peers: MuJoCo with
each of its integrators, Basilisk's spacecraft with a rigid hub alone, SciPy with a compiled
right-hand side.  Errors are the largest along the run: of the energy, of the momentum in inertial
axes (both relative) and of the attitude (rad).  Where the step is given they are looked at every
five seconds, else after every step.  The truth is a Taylor series in decimal numbers of 34 digits.

Cost is CPU time a simulated second, from one call that does the whole span and gives its end:
MuJoCo's ``mj_step(nstep=…)``, a loop in C, with everything switched off that can be; Basilisk's
``ExecuteSimulation`` without its initialisation; ``solve_ivp``; a solver of ``ph.prepare``.
All have costs that do not depend on the method; these are printed.

Ours are of three kinds.  General ones do what they would do with a torque as well.  Of these, some
also carry a position and a velocity, as the engines do (``+ x``).  The others (``strang``,
``srkn14``, ``auto``, ``exact_free_motion``) know the motion of a free body, and are right at any
step.

All variants take turns in one process; ratios are of least times.  Basilisk works in a thread of
its own, so the clock is the CPU time of the process.  The observed order of every integrator with a
given step shows that it solves this problem.
"""

import inspect
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache, partial, reduce
from itertools import cycle
from typing import Any

import numpy as np

import polhode as ph
from polhode.bench.peers import installed, missing, peer
from polhode.bench.records import Asked, Bench, Finding, Key, Note, Result, Table, Verdict
from polhode.bench.timing import SAMPLE, Times, repeated, round_robin
from polhode.plot import style

INERTIA, OMEGA, END = (1.0, 2.0, 3.0), (0.3, 1.0, 0.4), 100.0
MOTION: dict[str, Any] = {"body": ph.RigidBody(INERTIA), "omega": OMEGA, "name": "tumbling body"}
PROBLEM = ph.Problem(**MOTION)
AT_REST: dict[str, Any] = {"position": (0.0, 0.0, 0.0), "velocity": (0.0, 0.0, 0.0)}
FEWEST = 100  # steps; all numbers of steps that are compared are this, doubled
LOOKS = 20  # at errors, along a run with a given step
TIMES = np.linspace(0.0, END, LOOKS + 1)
METRICS = {"attitude": "attitude (rad)", "energy": "energy", "momentum": "momentum"}
TARGETS = {"attitude": (1e-3, 1e-6, 1e-9, 1e-12), "energy": (1e-3, 1e-6, 1e-9, 1e-12)}
EPS = 1.1e-16
OURS, PEERS = "polhode", ("MuJoCo", "Basilisk", "SciPy")
MARKERS, ROWS = "os^DvpP*X<>h", 5  # of a legend
Motion = tuple[np.ndarray, np.ndarray, np.ndarray]  # times, quaternions, rates in body axes


# ---- truth
class Truth:
    """The motion by Taylor series of ω' = I⁻¹(Iω × ω) and q' = qω/2 in decimal numbers.

    One series each ``STEP`` seconds; between its two ends it is summed in double precision, where
    it loses nothing but the last rounding.
    """

    STEP, ORDER, DIGITS = 0.25, 40, 34  # the step without rounding; 400 times it is the end

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


def angles(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Between attitudes, row by row, right also where they are small."""
    p, q = (x / np.linalg.norm(x, axis=1)[:, None] for x in (p, q))
    chord = np.minimum(np.linalg.norm(p - q, axis=1), np.linalg.norm(p + q, axis=1))
    return 4.0 * np.arcsin(np.minimum(1.0, chord / 2.0))


def errors(motion: Motion, truth: Truth) -> dict[str, float]:
    """The largest along the motion; ``early``: of the attitude, up to the first look."""
    times, q, omega = motion
    if not (np.isfinite(q).all() and np.isfinite(omega).all()):
        return dict.fromkeys((*METRICS, "early"), math.inf)
    moments = np.array(INERTIA)
    first = moments * OMEGA
    momenta = turned(q / np.linalg.norm(q, axis=1)[:, None], moments * omega)
    off = angles(q, truth.attitude(times))
    return {
        "attitude": off.max(),
        "energy": abs(omega**2 @ moments / (first @ OMEGA) - 1.0).max(),
        "momentum": np.linalg.norm(momenta - first, axis=1).max() / np.linalg.norm(first),
        "early": off[times <= TIMES[1]].max(),
    }


def turned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors in inertial axes, from body axes."""
    a = 2.0 * np.cross(q[:, 1:], v)
    return v + q[:, :1] * a + np.cross(q[:, 1:], a)


# ---- variants
@dataclass(frozen=True, eq=False)
class Variant:
    """A run over the whole span: ``call`` is timed, ``motion`` is the same with looks at it."""

    engine: str
    integrator: str
    call: Callable[[], Any]
    motion: Callable[[], Motion]
    steps: int | None = None  # if they are given
    tolerance: float | None = None  # if that is given
    order: int | None = None  # that should be seen
    reset: Callable[[], None] | None = None  # before a call, not timed
    general: bool = True
    placed: bool = False  # with a position

    @property
    def setting(self) -> str:
        if self.tolerance is not None:
            return f"tol {self.tolerance:.0e}"
        return "" if self.steps is None else f"dt {END / self.steps:.3g}"


def ladder(first: int, last: int, quick: bool) -> list[int]:
    """Numbers of steps, each twice the one before."""
    return [FEWEST * 2**k for k in range(first, (first + 2 if quick else last) + 1)]


def decades(first: int, last: int, quick: bool) -> list[float]:
    return [10.0**-k for k in range(first, last + 1, 4 if quick else 1)]


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
    """What this version has of them."""
    has_position = "position" in inspect.signature(ph.Problem).parameters
    for placed in (False, True) if has_position else (False,):
        for name, (first, last) in FIXED.items():
            method = ph.METHODS.get(name) or ph.INTEGRATORS.get(name)
            if method is not None and (name in PLACED or not placed):
                for steps in ladder(first, last, quick):
                    yield prepared(name, steps, order=method.order, placed=placed)
        for name in ADAPTIVE:
            if name in PLACED or not placed:
                for tolerance in decades(3, 14, quick):
                    yield prepared(name, tolerance=tolerance, placed=placed)
    for name in FREE:
        for steps in (1, LOOKS, 10 * LOOKS):
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
    """By the front door; the state at the end is asked for, because a trajectory is lazy."""
    problem = ph.Problem(**MOTION, **AT_REST) if placed else PROBLEM
    given: dict[str, Any]
    looks: dict[str, Any]
    last: dict[str, Any]
    if steps is not None:
        given, looks = {"dt": END / steps}, {"save_every": max(1, steps // LOOKS)}
        last = {"save_every": steps}
    elif tolerance is not None:
        given, looks, last = {"rtol": tolerance, "atol": 0.0}, {}, {}
    else:
        given, looks, last = {}, {"t_eval": TIMES}, {"t_eval": [END]}
    looked = ph.prepare(problem, method=name, **given, **looks)
    solver = ph.prepare(problem, method=name, **given, **last)

    def call() -> tuple:
        run = solver((0.0, END))
        return run.q[-1], run.angular_momentum[-1]

    def motion() -> Motion:
        run = looked((0.0, END))
        return run.t, run.q, run.omega

    name = f"{name} + x" if placed else name
    return Variant(OURS, name, call, motion, steps, tolerance, placed=placed, **facts)


def closed_form() -> Variant:
    def motion(times: Any = TIMES) -> Motion:
        run = ph.exact_free_motion(MOTION["body"], None, OMEGA, times)
        return run.t, run.q, run.omega

    return Variant(OURS, "exact_free_motion", partial(motion, END), motion, general=False)


class MuJoCo:
    """A free joint with a body of given inertia; no gravity, and all else switched off."""

    XML = """<mujoco><worldbody><body><freejoint/>
        <inertial pos="0 0 0" mass="1" diaginertia="{} {} {}"/></body></worldbody></mujoco>"""

    def __init__(self, name: str, steps: int):
        mujoco = peer("MuJoCo")
        self.steps = steps
        self.model = model = mujoco.MjModel.from_xml_string(self.XML.format(*INERTIA))
        assert tuple(model.body_inertia[1]) == INERTIA
        model.opt.timestep = END / steps
        model.opt.integrator = self.integrators()[name]
        model.opt.disableflags = (1 << int(mujoco.mjtDisableBit.mjNDISABLE)) - 1
        self.data = mujoco.MjData(model)
        self.first = self.data.qpos.copy(), np.array([0.0, 0.0, 0.0, *OMEGA])

    @staticmethod
    def integrators() -> dict[str, int]:
        """All that this version has, as its XML writes them."""
        members = peer("MuJoCo").mjtIntegrator.__members__
        known = {"EULER": "Euler", "RK4": "RK4"}
        names = {word: word.removeprefix("mjINT_") for word in members}
        return {known.get(name, name.lower()): members[word] for word, name in names.items()}

    def call(self, steps: int | None = None) -> None:
        self.data.qpos[:], self.data.qvel[:] = self.first
        peer("MuJoCo").mj_step(self.model, self.data, steps or self.steps)

    def motion(self) -> Motion:
        rows = [(*self.first[0][3:], *OMEGA)]
        for k in range(LOOKS):
            if k == 0:
                self.call(self.steps // LOOKS)
            else:
                peer("MuJoCo").mj_step(self.model, self.data, self.steps // LOOKS)
            rows.append((*self.data.qpos[3:], *self.data.qvel[3:]))
        found = np.array(rows)
        return TIMES, found[:, :4], found[:, 4:]


def by_mujoco(quick: bool) -> Iterator[Variant]:
    for name in MuJoCo.integrators():
        order = 4 if name == "RK4" else 1
        for steps in ladder(4 if order == 1 else 1, 10, quick):  # those of order 1 overflow earlier
            made = MuJoCo(name, steps)
            yield Variant("MuJoCo", name, made.call, made.motion, steps, order=order)


NANO = 10**9
BASILISK = {  # order, numbers of steps from and to
    "Euler": (1, 4, 8),
    "RK2": (2, 1, 7),
    "RK4": (4, 1, 7),
    "RKF45": (4, 1, 6),
    "RKF78": (7, 0, 4),
}


class Spacecraft:
    """Basilisk's simulation of a rigid hub, or of nothing; ``reset`` sets the hub's state."""

    def __init__(self, name: str | None, steps: int, tolerance: float = 1e9):
        self.now = 0
        base = installed("Basilisk.utilities.SimulationBaseClass")
        self.sim = base.SimBaseClass()
        process = self.sim.CreateNewProcess("process")
        process.addTask(self.sim.CreateNewTask("task", round(END * NANO) // steps))
        if name is None:
            self.sim.InitializeSimulation()
            return
        integrators = installed("Basilisk.simulation.svIntegrators")
        self.craft = craft = peer("Basilisk").Spacecraft()
        craft.hub.mHub = 1.0
        craft.hub.r_BcB_B = [[0.0], [0.0], [0.0]]
        craft.hub.IHubPntBc_B = np.diag(INERTIA).tolist()
        self.integrator = getattr(integrators, f"svIntegrator{name}")(craft)
        if name.startswith("RKF"):
            self.integrator.relTol = self.integrator.absTol = tolerance
        craft.setIntegrator(self.integrator)
        self.sim.AddModelToTask("task", craft)
        self.sim.InitializeSimulation()
        self.advance(0)
        state = craft.dynManager.getStateObject
        self.states = state(craft.hub.nameOfHubSigma), state(craft.hub.nameOfHubOmega)
        self.reset()

    def reset(self) -> None:
        sigma, omega = self.states
        sigma.setState([[0.0], [0.0], [0.0]])
        omega.setState([[x] for x in OMEGA])

    def advance(self, nanoseconds: int = round(END * NANO)) -> None:
        self.now += nanoseconds
        self.sim.ConfigureStopTime(self.now)
        self.sim.ExecuteSimulation()

    def motion(self) -> Motion:
        self.reset()
        rows = []
        for k in range(LOOKS + 1):
            if k:
                self.advance(round(END * NANO) // LOOKS)
            sigma, omega = (np.ravel(state.getState()) for state in self.states)
            rows.append((1.0 - sigma @ sigma, *(2.0 * sigma), *omega))  # times 1 + σ²
        found = np.array(rows)
        return TIMES, found[:, :4], found[:, 4:]


def by_basilisk(quick: bool) -> Iterator[Variant]:
    """With the step of the task; the adaptive ones also by tolerance, with a task every second.

    Longer tasks are not possible: Rodrigues parameters are switched at the end of a task alone, and
    become infinite after one turn.
    """

    def variant(name: str, craft: Spacecraft, **facts: Any) -> Variant:
        return Variant("Basilisk", name, craft.advance, craft.motion, reset=craft.reset, **facts)

    for name, (order, first, last) in BASILISK.items():
        for steps in ladder(first, last, quick):
            yield variant(name, Spacecraft(name, steps), steps=steps, order=order)
    for name in ("RKF45", "RKF78"):
        for tolerance in decades(5, 13, quick):
            craft = Spacecraft(name, round(END), tolerance)
            yield variant(f"{name} adaptive", craft, tolerance=tolerance)


@cache
def slope() -> Callable:
    """The right-hand side for SciPy, compiled as its user would."""
    import numba

    @numba.njit
    def compiled(t, state):
        c, x, y, z, p, r, s = state
        i1, i2, i3 = INERTIA
        return np.array(
            [
                -0.5 * (x * p + y * r + z * s),
                0.5 * (c * p + y * s - z * r),
                0.5 * (c * r + z * p - x * s),
                0.5 * (c * s + x * r - y * p),
                (i2 - i3) / i1 * r * s,
                (i3 - i1) / i2 * s * p,
                (i1 - i2) / i3 * p * r,
            ]
        )

    made: Callable = compiled
    return made


START = np.array([1.0, 0.0, 0.0, 0.0, *OMEGA])


def by_scipy(quick: bool) -> Iterator[Variant]:
    from scipy.integrate import solve_ivp

    def variant(name: str, tolerance: float) -> Variant:
        accuracy = {"rtol": max(tolerance, 2.3e-14), "atol": tolerance}  # its least

        def call() -> Any:
            return solve_ivp(slope(), (0.0, END), START, method=name, **accuracy)

        def motion() -> Motion:
            run = call()
            return run.t, run.y[:4].T, run.y[4:].T

        return Variant("SciPy", name, call, motion, tolerance=tolerance)

    for name, last in (("RK45", 10), ("DOP853", 14), ("LSODA", 13)):
        for tolerance in decades(3, last, quick):
            yield variant(name, tolerance)


MAKERS = {OURS: ours, "MuJoCo": by_mujoco, "Basilisk": by_basilisk, "SciPy": by_scipy}


# ---- results
@dataclass(frozen=True)
class Point:
    variant: Variant
    errors: dict[str, float]
    times: Times  # of the whole span

    @property
    def cost(self) -> float:
        """Microseconds a simulated second."""
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


def timed(
    calls: Mapping[Any, Callable], repeats: int, resets: Mapping[Any, Callable]
) -> dict[Any, Times]:
    """Times of each call; short ones are made several at a time, unless they need a reset."""
    clock, before = time.process_time_ns, lambda name: resets.get(name, lambda: None)()
    first = round_robin({name: (call, 1) for name, call in calls.items()}, 1, clock, before)
    several = {}
    for name, call in calls.items():
        count = 1 if name in resets else max(1, int(SAMPLE / max(1e3, first[name].minimum)))
        several[name] = partial(repeated, call, count), count
    return {k: credible(times) for k, times in round_robin(several, repeats, clock, before).items()}


def credible(times: Times) -> Times:
    """Without the rare samples that are much too short: where a machine is virtual, the clock of
    the process can lose time that others took."""
    return Times(tuple(ns for ns in times.ns if ns > times.median / 3.0))


class Curve:
    """The points of one integrator, from the coarsest."""

    def __init__(self, points: list[Point]):
        self.points = points
        self.variant = points[0].variant
        self.name = f"{self.variant.engine} {self.variant.integrator}"

    @property
    def order(self) -> float | None:
        """As the two smallest steps show it whose early error is between rounding and chaos."""
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
    def row(self) -> dict:
        expected, seen, longest = self.variant.order, self.order, self.points[-1]
        assert expected is not None
        assert longest.variant.steps is not None
        right = seen is not None and seen > expected - 0.3
        return {
            "what": self.name,
            "order": expected,
            "observed": seen,
            "ns_a_step": round(longest.times.minimum / longest.variant.steps),
            "verdict": "" if right else "too few points" if seen is None else "NOT ITS ORDER",
        }

    def against(self, rivals: list[Point]) -> dict[str, dict[str, tuple[float, float]]]:
        """For each error the least and the largest ratio of cost, and of error, theirs to ours."""
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
    """The least cost that reaches an error."""
    return min((p.cost for p in points if p.errors[name] <= error), default=math.inf)


def smallest(points: list[Point], name: str, cost: float) -> float:
    """The smallest error at a cost; what is smaller than one rounding counts as that."""
    return min((max(p.errors[name], EPS) for p in points if p.cost <= cost), default=math.inf)


def curves(points: list[Point]) -> list[Curve]:
    found: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        found.setdefault((point.variant.engine, point.variant.integrator), []).append(point)
    return [Curve(group) for group in found.values()]


def judged(peers: list[Curve], rivals: list[Point]) -> tuple[list[dict], bool]:
    rows, ahead = [], True
    for curve in peers:
        ratios = curve.against(rivals)
        ahead &= all(pair["error"][0] > 1.0 for pair in ratios.values())
        rows.append(
            {"what": curve.name}
            | {
                f"{what}_{name}": " … ".join(map(_short, ratios[name][what]))
                for what in ("cost", "error")
                for name in METRICS
            }
        )
    return rows, ahead


def reached(curve: Curve) -> dict:
    """Microseconds a simulated second for given errors; empty: not reached."""
    costs = {
        f"{name}_{error:.0e}": least(curve.points, name, error)
        for name, sizes in TARGETS.items()
        for error in sizes
    }
    short = {key: _short(cost) if cost < math.inf else "" for key, cost in costs.items()}
    return {"what": curve.name} | short


TWINS = (("MuJoCo RK4", "rk4"), ("Basilisk RK4", "rk4"), ("SciPy DOP853", "dop853"))


def twins(found: list[Curve]) -> list[str]:
    """The same formula, the same step or tolerance: what is left is the machinery."""
    by_name = {curve.name: curve for curve in found}
    lines = []
    for theirs, name in TWINS:
        if theirs in by_name:
            costs = {p.variant.setting: p.cost for p in by_name[f"{OURS} {name}"].points}
            same = [p for p in by_name[theirs].points if p.variant.setting in costs]
            ratios = [p.cost / costs[p.variant.setting] for p in same]
            lines.append(f"{theirs} / our {name}: {min(ratios):.1f} … {max(ratios):.1f}")
    return lines


# ---- what does not depend on the method
def overheads(engines: list[str], repeats: int) -> list[dict]:
    one = ph.prepare(PROBLEM, method="mr2", dt=1.0)
    calls: dict[str, Callable] = {
        f"{OURS}: a prepared call, one step of mr2": lambda: one((0.0, 1.0)),
        f"{OURS}: ph.solve, the same": lambda: ph.solve(PROBLEM, (0.0, 1.0), method="mr2", dt=1.0),
    }
    if "MuJoCo" in engines:
        single = MuJoCo("Euler", FEWEST)
        calls["MuJoCo: state set, mj_step from Python, one step of Euler"] = partial(single.call, 1)
    if "Basilisk" in engines:
        craft, empty = Spacecraft("Euler", 100), Spacecraft(None, 1000)
        calls |= {
            "Basilisk: initialisation (not counted elsewhere)": lambda: Spacecraft("Euler", 100),
            "Basilisk: ExecuteSimulation, one step of Euler": partial(craft.advance, NANO),
            "Basilisk: ExecuteSimulation, 1000 steps without a body": empty.advance,
        }
    if "SciPy" in engines:
        from scipy.integrate import solve_ivp

        calls |= {
            "SciPy: the right-hand side from Python": lambda: slope()(0.0, START),
            "SciPy: solve_ivp, one step of RK45": lambda: solve_ivp(slope(), (0.0, 1e-3), START),
        }
    times = timed(calls, repeats, {})
    return [
        {"what": name, "us_min": t.minimum / 1e3, "us_median": t.median / 1e3}
        for name, t in times.items()
    ]


# ---- output
def picture(result: Result) -> Any:
    """Error over cost, a panel for each error; colours are engines, markers integrators."""
    colours = {
        OURS: style.BLUE,
        "MuJoCo": style.RED,
        "Basilisk": style.GREEN,
        "SciPy": style.ORANGE,
    }
    groups: dict[str, dict[str, list]] = {}
    for row in result.tables[0].rows:
        if not row["placed"]:  # they hardly differ
            groups.setdefault(row["engine"], {}).setdefault(row["what"], []).append(row)
    sheet = style.figure((11.0, 6.4))
    title = f"A freely tumbling body, I = (1, 2, 3), {END:g} s: the largest error along the run"
    sheet.suptitle(title, fontsize=11, color=style.INK)
    upper, lower = sheet.subfigures(2, 1, height_ratios=(5.2, 1.2))
    axes = upper.subplots(1, len(METRICS), sharex=True, sharey=True)
    shares = [1.0 + (len(group) > ROWS) for group in groups.values()]
    words = lower.subplots(1, len(groups), width_ratios=shares, squeeze=False)[0]
    for word, (engine, group) in zip(words, groups.items(), strict=True):
        for (what, rows), marker in zip(group.items(), cycle(MARKERS), strict=False):
            known = not rows[0]["general"]
            look: dict[str, Any] = {
                "color": colours[engine],
                "marker": marker,
                "markersize": 4.5,
                "markerfacecolor": "white" if known else colours[engine],
                "linewidth": 1.0,
                "linestyle": ":" if known else "-",
            }
            for ax, name in zip(axes, METRICS, strict=True):
                points = [(row["us_min"], max(row[name], EPS)) for row in rows]
                shown = [point for point in points if point[1] < 10.0]
                ax.plot(*np.array(shown).reshape(-1, 2).T, **look)
            word.plot([], [], label=what.removeprefix(f"{engine} "), **look)
        word.axis("off")
        legend = word.legend(
            loc="upper left",
            ncols=-(-len(group) // ROWS),
            title=engine + ", white: knows free bodies" * (engine == OURS),
            fontsize=8,
            title_fontsize=8.5,
            labelcolor=style.INK,
            frameon=False,
            columnspacing=1.2,
            handlelength=2.0,
            alignment="left",
        )
        legend.get_title().set_color(colours[engine])
    for ax, text in zip(axes, METRICS.values(), strict=True):
        ax.set(xscale="log", yscale="log")
        style.dress(ax, text[0].upper() + text[1:], "CPU time a simulated second (µs)")
    return sheet


POINTS = {"what": "integrator", "setting": "setting", "us_min": "µs / s min", "us_median": "median"}
ORDERS = {
    "what": "integrator",
    "order": "order",
    "observed": "observed",
    "ns_a_step": "ns a step",
    "verdict": "",
}
FIXED_COSTS = {"what": "what does not depend on the method", "us_min": "µs min"}


def measure(asked: Asked) -> Iterator[Finding]:
    chosen = asked.chosen("only", PEERS)
    absent = [each.name for each in missing(chosen)]
    peers = [name for name in chosen if name not in absent]
    asked.say("the truth and the errors")
    truth = Truth()
    variants = [v for name in (OURS, *peers) for v in MAKERS[name](asked.quick)]
    wrong = {v: errors(v.motion(), truth) for v in variants}
    resets = {v: v.reset for v in variants if v.reset is not None}
    asked.say("timing")
    times = timed({v: v.call for v in variants}, asked.repeats, resets)
    points = [Point(v, wrong[v], times[v]) for v in variants]
    yield Table(f"{END:g} s", POINTS | METRICS, [point.row for point in points])

    found = curves(points)
    steps = [curve.row for curve in found if curve.variant.order is not None]
    yield Table("Orders", ORDERS, steps)
    head = {"what": "µs / s to reach"}
    head |= {f"{n}_{e:.0e}": f"{n} {e:.0e}" for n, sizes in TARGETS.items() for e in sizes}
    yield Table("Cost of an error", head, [reached(curve) for curve in found])
    fixed = overheads(peers, asked.repeats)
    yield Table("Overheads", FIXED_COSTS | {"us_median": "median"}, fixed)

    theirs = [curve for curve in found if curve.variant.engine != OURS]
    mine = [p for p in points if p.variant.engine == OURS]
    kinds = {
        "general": [p for p in mine if p.variant.general and not p.variant.placed],
        "general, with a position": [p for p in mine if p.variant.placed],
        "with those that know free bodies": mine,
    }
    yield from (Note(text) for text in twins(found))
    head = {"what": "theirs / ours"}
    head |= {f"{what}_{m}": f"{what}: {m}" for what in ("cost", "error") for m in METRICS}
    for kind, rivals in kinds.items():
        if rivals and theirs:
            rows, ahead = judged(theirs, rivals)
            yield Table(f"Ours, {kind}: cost at equal error, error at equal cost", head, rows)
            what = f"ours, {kind}: ahead of all in error at equal cost"
            yield Verdict(what, "yes", "yes" if ahead else "no", ahead)


def _short(x: float) -> str:
    """Two digits."""
    return (
        f"{float(f'{x:.2g}'):g}"
        if 0.01 < x < 1e5
        else f"{x:.0e}".replace("e+0", "e").replace("e+", "e")
    )


BENCH = Bench(
    name="engines",
    summary="a freely tumbling body in MuJoCo, Basilisk, SciPy and ours: what an error costs",
    measure=measure,
    needs=PEERS,
    keys={"only": Key("", f"peers of {', '.join(PEERS)}; default all")},
    draw=picture,
)
