"""Many bodies: mr2 in SIMD lanes against C with explicit vectors, JAX, and whole libraries.

Heavy tops, each with its own inertia, strength and start, one thread, nanoseconds of CPU time a
body and step.  ``C, same operations`` is ``ensemble.c`` with explicit vectors, compiled without
liberties: it must give our results to the last bit, and this is checked.  ``C, fastest`` drops what
can be dropped (kicks merged, the sign of q lost, fast-math); with short turns it does not even look
whether an angle is beyond half a turn, which our quick lanes do.  ``C, one by one`` is the natural
loop with libm.  Of all compilers, widths and flags the fastest counts.  JAX runs the same map, jit,
vmap and scan, in double precision.

The second table is what an accuracy costs, with whole libraries: heyoka's batch and ensemble modes,
MuJoCo's batched rollout, diffrax, against our maps with fixed steps; the error is the root mean
square over bodies of the attitude error at the end, the truth SciPy's DOP853 at its tightest.

The third table takes every map of the registry that has lanes: its speed over that of one body.
The last ones look at many bodies: the cost of a body and step, and the memory; in the lanes alone,
and of ``ph.solve_ensemble`` with reductions.
"""

import ctypes
import dataclasses
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from polhode._compile import LANES
from polhode.bench.in_c import compilers, workshop
from polhode.bench.peers import COMPILER, installed, peer
from polhode.bench.records import Asked, Bench, Finding, Key, Note, Table, at_least, at_most
from polhode.bench.timing import Times, columns, round_robin, row
from polhode.bench.tops import BUSY, HEAVY, PLAIN, Lanes, Tops, recorder
from polhode.lanes.blocks import pack, unpack
from polhode.methods import METHODS
from polhode.models import free

H, STEPS = 5e-3, 50
WIDTHS = 4, 8, 16
STRICT = "-O3", "-march=native", "-ffp-contract=off", "-Wno-psabi"
FAST = "-O3", "-march=native", "-ffast-math", "-Wno-psabi"
PLAIN_C = "-O3", "-march=native"
SAME, FASTEST, ONE = "C, same operations", "C, fastest", "C, one by one, libm"
UNSAFE = "C, fastest, short turns alone"
KINDS = {  # -> function in ensemble.c, sets of flags, widths
    SAME: ("same_operations", (STRICT,), WIDTHS),
    FASTEST: ("fastest", (FAST,), WIDTHS),
    UNSAFE: ("fastest_short", (FAST,), WIDTHS),
    ONE: ("one_after_another", (PLAIN_C, FAST), (4,)),
}
LEAST = {SAME: 0.95, FASTEST: 0.83, ONE: 7.5, "JAX": 35.0}
LEAST_OF_USER, LEAST_OF_THREADS = 0.6, 1.8
LEAST_OF_EXPLICIT, LEAST_OF_IMPLICIT = 5.0, {"imidm": 3.5}
OURS = "polhode, mr2"
SLICE = 16  # blocks that are timed at a time
PARTS = "same", "others", "registry", "scale", "front"


# ---- the same map in C
class InC:
    """The tops in the layout of ensemble.c, and a function of it."""

    SLOTS = 14

    def __init__(self, library: ctypes.CDLL, name: str, tops: Tops, torque: np.ndarray):
        array = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")
        self.function = getattr(library, name)
        self.function.restype = None
        self.function.argtypes = array, ctypes.c_long, ctypes.c_long, ctypes.c_double
        rows = [*tops.q, *tops.m, *(1.0 / tops.inertia), tops.strength, *torque]
        self.bodies, self.start = len(tops), pack(rows, len(tops))
        self.work = self.start.copy()

    def reset(self) -> None:
        self.work[:] = self.start

    def advance(self, steps: int, threads: int = 1, blocks: np.ndarray | None = None) -> None:
        given = self.work if blocks is None else blocks
        self.function(given, len(given), steps, H)

    def states(self) -> np.ndarray:
        return unpack(self.work, self.bodies, 0, 7)


def in_c(tops: Tops, ours: Lanes) -> dict[tuple[str, str], InC]:
    """Every (kind, compiler and flags); those of the same operations are checked bit by bit."""
    _, second, _ = ours.places
    torque = unpack(ours.start, len(tops), second, second + 3)
    found = {}
    ours.reset()
    ours.advance(STEPS)
    expected = ours.states()
    with workshop() as shop:
        for kind, (name, flags, widths) in KINDS.items():
            for compiler in compilers():
                for each in flags:
                    for width in widths:
                        sizes = f"-DWIDTH={width}", f"-DLANES={LANES}"
                        library = shop.library(compiler, (*each, *sizes), "ensemble.c")
                        made = InC(library, name, tops, torque)
                        made.advance(STEPS)
                        off = difference(made.states(), expected)
                        same = np.array_equal(made.states(), expected)
                        assert off < 1e-10, f"{kind}, {compiler}: wrong by {off}"
                        assert same or kind != SAME, f"{compiler}, width {width}: other bits"
                        fast = ", fast-math" if each is FAST else ""
                        wide = f", width {width}" if len(widths) > 1 else ""
                        found[kind, f"{compiler}{wide}{fast}"] = made
    return found


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """Between rows (q, m), q and -q being the same; relative to the largest momentum."""
    q = np.minimum(abs(a[:4] - b[:4]).max(axis=0), abs(a[:4] + b[:4]).max(axis=0)).max()
    return float(max(q, abs(a[4:] - b[4:]).max() / abs(b[4:]).max()))


# ---- the same map in JAX
def in_jax(tops: Tops) -> Callable[[], np.ndarray] | None:
    """A call that gives the states after the steps, or None without JAX."""
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ.setdefault("XLA_FLAGS", flags)
    jax = peer("JAX")
    if jax is None:
        return None
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    def turn(half, w, x, y, z, m2, m3):
        s, c = jnp.sin(half), jnp.cos(half)
        s2, c2 = 2.0 * s * c, 1.0 - 2.0 * s * s
        w, x, y, z = w * c - x * s, x * c + w * s, y * c + z * s, z * c - y * s
        return w, x, y, z, m2 * c2 + m3 * s2, m3 * c2 - m2 * s2

    def step(state, inverse, strength):
        w, x, y, z, m1, m2, m3 = state
        f1, f2, f3 = H / 4 * inverse[0], H / 4 * inverse[1], H / 2 * inverse[2]
        w, x, y, z, m2, m3 = turn(f1 * m1, w, x, y, z, m2, m3)
        w, y, z, x, m3, m1 = turn(f2 * m2, w, y, z, x, m3, m1)
        w, z, x, y, m1, m2 = turn(f3 * m3, w, z, x, y, m1, m2)
        w, y, z, x, m3, m1 = turn(f2 * m2, w, y, z, x, m3, m1)
        w, x, y, z, m2, m3 = turn(f1 * m1, w, x, y, z, m2, m3)
        return kicked(H, (w, x, y, z, m1, m2, m3), strength)

    def kicked(h, state, strength):
        w, x, y, z, m1, m2, m3 = state
        m1 = m1 + 2.0 * h * strength * (y * z + w * x)
        m2 = m2 - 2.0 * h * strength * (x * z - w * y)
        return w, x, y, z, m1, m2, m3

    def run(state, inverse, strength):
        def body(state, _):
            return step(state, inverse, strength), None

        state = kicked(H / 2, tuple(state), strength)
        state, _ = jax.lax.scan(body, state, length=STEPS)
        return jnp.stack(kicked(-H / 2, state, strength))

    many = jax.jit(jax.vmap(run, in_axes=(1, 1, 0), out_axes=1))
    given = [jnp.asarray(x) for x in (np.vstack([tops.q, tops.m]), 1 / tops.inertia, tops.strength)]
    return lambda: np.asarray(many(*given).block_until_ready())


def same_map(asked: Asked) -> Iterator[Finding]:
    """mr2 by everyone."""
    tops, mr2 = Tops.random(asked.count("bodies")), METHODS["mr2"]
    asked.say("compiling the lanes")
    ours = {
        OURS: Lanes(mr2, HEAVY, tops, H),
        "polhode, a user's torque": Lanes(mr2, PLAIN, tops, H),
        "polhode, a user's torque with sine, root and branch": Lanes(mr2, BUSY, tops, H),
    }
    yield from check_against_one(ours[OURS], tops)
    asked.say("compiling C")
    theirs = in_c(tops, ours[OURS])
    if theirs:
        text = "C with the same operations gives our results bit for bit"
        yield Note(f"{text}, {len(tops)} bodies, {STEPS} steps.")
    asked.say("compiling JAX")
    by_jax = in_jax(tops)
    count, few, longer = len(tops) * STEPS, tops.first(min(16, len(tops))), 40 * STEPS
    alone = one_by_one(mr2, HEAVY, few, longer)
    variants: dict[Any, tuple[Callable, float]] = {}
    for name, lanes in ours.items():
        variants |= in_slices((name, ""), lanes)
    variants["polhode, one by one", "", 0] = alone, len(few) * longer
    for key, made in theirs.items():
        variants |= in_slices(key, made)
    asked.say("timing")
    times = over_slices(round_robin(variants, asked.repeats))
    mine, rows = times[OURS, ""], []
    for (kind, how), taken in times.items():
        title = f"{kind}, {how}" if how else kind
        ratio = None if kind == OURS else taken.minimum / mine.minimum
        rows.append(row(title, taken, ratio))
    best = fastest_of(times)
    ratios = {kind: best[kind].minimum / mine.minimum for kind in KINDS if kind in best}
    if by_jax is not None:  # which works in threads of its own
        ours[OURS].reset()
        ours[OURS].advance(STEPS)
        off = difference(by_jax(), ours[OURS].states())
        assert off < 1e-10, f"JAX: wrong by {off}"
        pair: dict[str, tuple[Callable, float]]
        pair = {"JAX": (by_jax, count), OURS: (partial(ours[OURS].advance, STEPS), count)}
        both = round_robin(pair, asked.repeats, time.process_time_ns)
        ratios["JAX"] = both["JAX"].minimum / both[OURS].minimum
        rows.append(row("JAX", both["JAX"], ratios["JAX"]))
    yield Table("The same map", columns("mr2, a body and step", "/ ours"), rows, bars="ns_min")
    for kind, ratio in ratios.items():
        if kind in LEAST:
            yield at_least(f"mr2 in lanes: speed over {kind}", ratio, LEAST[kind])
    if FASTEST in best:
        user = times["polhode, a user's torque", ""].minimum
        what = "mr2 in lanes with a user's torque: speed over C, fastest"
        yield at_least(what, best[FASTEST].minimum / user, LEAST_OF_USER)
    yield from in_two_threads(ours[OURS], asked)


def in_slices(key: tuple[str, str], made: "Lanes | InC") -> dict[Any, tuple[Callable, float]]:
    """Calls that advance ``SLICE`` blocks each: short samples find quiet moments."""
    slices: dict[Any, tuple[Callable, float]] = {}
    for k in range(0, len(made.work), SLICE):
        part = made.work[k : k + SLICE]
        slices[*key, k] = partial(made.advance, STEPS, 1, part), len(part) * LANES * STEPS
    return slices


def over_slices(found: dict[Any, Times]) -> dict[Any, Times]:
    """All slices of a variant together, each at its best, second best and so on."""
    groups: dict[Any, list[Times]] = {}
    for (*key, _), taken in found.items():
        groups.setdefault(tuple(key), []).append(taken)
    return {
        key: Times(tuple(map(fmean, zip(*(sorted(each.ns) for each in group), strict=True))))
        for key, group in groups.items()
    }


def fastest_of(times: dict[Any, Times]) -> dict[str, Times]:
    best: dict[str, Times] = {}
    for (kind, _), taken in times.items():
        if kind not in best or taken.minimum < best[kind].minimum:
            best[kind] = taken
    return best


def check_against_one(lanes: Lanes, tops: Tops) -> Iterator[Finding]:
    few = tops.first(8)
    lanes.advance(STEPS)
    record, found = recorder(lanes.method, HEAVY), lanes.states()
    for k, (state, body, params) in enumerate(few.members()):
        (q, m), _ = record(STEPS, H, state, body, params)
        assert np.array_equal(found[:, k], [*q, *m]), "lanes give other bits than one body"
    yield Note("Lanes give the results of one body bit for bit.")


def one_by_one(method: Any, model: Any, tops: Tops, steps: int = STEPS, h: float = H) -> Callable:
    """The compiled loop of one body, over some of the tops."""
    record, members = recorder(method, model), list(tops.members())
    empty: tuple = ((), ())

    def go() -> int:
        total = 0
        for state, body, params in members:
            total += record(steps, h, state, body, params if model.numbers else empty)[1]
        return total

    return go


def in_two_threads(lanes: Lanes, asked: Asked) -> Iterator[Finding]:
    """By the clock on the wall, which a busy machine spoils: the best of many short runs counts."""
    cores = os.cpu_count() or 1
    if cores < 2:
        yield Note("One core: nothing to say about threads.")
        return
    asked.say("two threads")
    steps, count = 4 * STEPS, len(lanes.tops) * 4 * STEPS
    variants = {n: (partial(lanes.advance, steps, n), count) for n in (1, 2)}
    times = round_robin(variants, 3 * asked.repeats, time.perf_counter_ns)
    rows = [
        row(f"{n} thread{'s' * (n > 1)}", times[n], times[1].minimum / times[n].minimum)
        for n in times
    ]
    head = columns("mr2, a body and step, on the wall", "gain")
    yield Table("Threads", head, rows)
    yield at_least("mr2 in lanes: two threads over one", rows[-1]["ratio"], LEAST_OF_THREADS)


# ---- others, to an accuracy
END = 2.0


@dataclasses.dataclass(frozen=True)
class Run:
    """A way to the states at the end; ``bodies`` it is done for."""

    kind: str
    setting: str
    call: Callable[[], np.ndarray]  # rows q of the bodies
    bodies: int


def others(asked: Asked) -> Iterator[Finding]:
    tops = Tops.random(256 if asked.quick else 1024, rate=3.0)
    asked.say("the truth")
    truth = true_ends(tops)
    runs: list[Run] = []
    for make in (ours_to, heyoka_to, mujoco_to, diffrax_to):
        asked.say(f"compiling: {make.__name__.split('_')[0]}")
        runs += make(tops, asked.quick)
    errors = {}
    for run in runs:
        errors[run.kind, run.setting] = rms_angle(run.call(), truth[:, : run.bodies])
    asked.say("timing")
    variants = {(run.kind, run.setting): (run.call, run.bodies) for run in runs}
    times = round_robin(variants, min(asked.repeats, 5), time.process_time_ns)
    mine = {key: t.minimum for key, t in times.items() if key[0].startswith("polhode")}
    rows = []
    for key, taken in times.items():
        good = [ns for k, ns in mine.items() if errors[k] <= errors[key]]
        is_ours = key[0].startswith("polhode")
        rows.append(
            {
                "what": key[0],
                "setting": key[1],
                "error": errors[key],
                "us_min": taken.minimum / 1e3,
                "us_median": taken.median / 1e3,
                "ratio": None if is_ours or not good else taken.minimum / min(good),
            }
        )
    head = {
        "what": f"{len(tops)} tops, {END:g} s, a body",
        "setting": "setting",
        "error": "error (rad)",
        "us_min": "µs min",
        "us_median": "µs median",
        "ratio": "/ ours as accurate",
    }
    yield Table("What an accuracy costs", head, rows)


def true_ends(tops: Tops) -> np.ndarray:
    """Attitudes at the end as columns, by DOP853 of SciPy over all bodies at once."""
    from scipy.integrate import solve_ivp

    inverse, n = 1.0 / tops.inertia, len(tops)

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        w, x, y_, z, m1, m2, m3 = y.reshape(7, n)
        o1, o2, o3 = m1 * inverse[0], m2 * inverse[1], m3 * inverse[2]
        g1, g2 = 2.0 * (x * z - w * y_), 2.0 * (y_ * z + w * x)
        return np.concatenate(
            [
                -0.5 * (x * o1 + y_ * o2 + z * o3),
                0.5 * (w * o1 + y_ * o3 - z * o2),
                0.5 * (w * o2 + z * o1 - x * o3),
                0.5 * (w * o3 + x * o2 - y_ * o1),
                m2 * o3 - m3 * o2 + tops.strength * g2,
                m3 * o1 - m1 * o3 - tops.strength * g1,
                m1 * o2 - m2 * o1,
            ]
        )

    start = np.concatenate([*tops.q, *tops.m])
    run = solve_ivp(slope, (0.0, END), start, method="DOP853", rtol=2.3e-14, atol=1e-15)
    return run.y[:, -1].reshape(7, n)[:4]


def rms_angle(q: np.ndarray, right: np.ndarray) -> float:
    p, r = q / np.linalg.norm(q, axis=0), right / np.linalg.norm(right, axis=0)
    chord = np.minimum(np.linalg.norm(p - r, axis=0), np.linalg.norm(p + r, axis=0))
    return float(np.sqrt(np.mean((4.0 * np.arcsin(np.minimum(1.0, chord / 2.0))) ** 2)))


def ours_to(tops: Tops, quick: bool) -> Iterator[Run]:
    for name, counts in (
        ("mr2", (100, 400, 1600)),
        ("mr4", (100, 200, 800)),
        ("rkn4", (200, 800)),
        ("mkrk:butcher6", (100, 400)),
    ):
        for steps in counts[:1] if quick else counts:
            lanes = Lanes(METHODS[name], HEAVY, tops, END / steps)

            def call(lanes: Lanes = lanes, steps: int = steps) -> np.ndarray:
                lanes.reset()
                lanes.advance(steps)
                return lanes.states()[:4]

            yield Run(f"polhode {name}", f"dt {END / steps:g}", call, len(tops))


def heyoka_to(tops: Tops, quick: bool) -> Iterator[Run]:
    """Batches of 4, reduced equations, the parameters of each body its own."""
    heyoka = peer("heyoka")
    if heyoka is None:
        return
    p1, p2, p3, w, x, y, z = heyoka.make_vars("p1", "p2", "p3", "w", "x", "y", "z")
    par = [heyoka.par[i] for i in range(7)]
    o1, o2, o3 = p1 * par[0], p2 * par[1], p3 * par[2]
    system = [
        (p1, par[3] * p2 * p3 + par[6] * (2.0 * (y * z + w * x))),
        (p2, par[4] * p3 * p1 - par[6] * (2.0 * (x * z - w * y))),
        (p3, par[5] * p1 * p2),
        (w, -0.5 * (x * o1 + y * o2 + z * o3)),
        (x, 0.5 * (w * o1 + y * o3 - z * o2)),
        (y, 0.5 * (w * o2 + z * o1 - x * o3)),
        (z, 0.5 * (w * o3 + x * o2 - y * o1)),
    ]
    i1, i2, i3 = 1.0 / tops.inertia
    pars = np.array([i1, i2, i3, i3 - i2, i1 - i3, i2 - i1, tops.strength])
    first, size = np.vstack([tops.m, tops.q]), 4
    for tolerance in (1e-6,) if quick else (1e-6, 1e-9, 1e-12, 1e-15):
        batch = heyoka.taylor_adaptive_batch(
            system, first[:, :size].copy(), tol=tolerance, pars=pars[:, :size].copy()
        )

        def call(batch: Any = batch) -> np.ndarray:
            out = np.empty((7, len(tops)))
            for k in range(0, len(tops), size):
                batch.set_time(0.0)
                batch.state[:], batch.pars[:] = first[:, k : k + size], pars[:, k : k + size]
                batch.propagate_until(END)
                out[:, k : k + size] = batch.state
            return out[3:]

        yield Run("heyoka, batches of 4", f"tol {tolerance:.0e}", call, len(tops))
    few = 64 if quick else 256
    single = heyoka.taylor_adaptive(system, first[:, 0].copy(), tol=1e-9, pars=pars[:, 0].copy())

    def prepare(solver: Any, k: int) -> Any:
        solver.time = 0.0
        solver.state[:], solver.pars[:] = first[:, k], pars[:, k]
        return solver

    def ensemble() -> np.ndarray:
        found = heyoka.ensemble_propagate_until(single, END, few, prepare, max_workers=1)
        return np.array([each[0].state for each in found]).T[3:]

    yield Run("heyoka, ensemble", "tol 1e-09", ensemble, few)


def mujoco_to(tops: Tops, quick: bool) -> Iterator[Run]:
    """Bodies on a ball joint, the centre of mass on axis 3; a model for each body."""
    mujoco, rollout = peer("MuJoCo"), installed("mujoco.rollout")
    if mujoco is None or rollout is None:
        return

    few, arm, models = min(64 if quick else 256, len(tops)), 0.05, []
    text = """<mujoco><worldbody><body><joint type="ball"/>
        <inertial pos="0 0 {}" mass="1" diaginertia="{} {} {}"/></body></worldbody></mujoco>"""
    off = 0
    for flag in mujoco.mjtDisableBit.__members__.values():
        if flag not in (mujoco.mjtDisableBit.mjNDISABLE, mujoco.mjtDisableBit.mjDSBL_GRAVITY):
            off |= int(flag)
    for k in range(few):
        a, b, c = tops.inertia[:, k]
        model = mujoco.MjModel.from_xml_string(text.format(arm, a - arm**2, b - arm**2, c))
        model.opt.gravity[:] = 0.0, 0.0, -tops.strength[k] / arm
        model.opt.disableflags = off
        models.append(model)
    for name, steps in (("RK4", 400), ("RK4", 1600), ("EULER", 1600))[: 1 if quick else 3]:
        for model in models:
            model.opt.timestep = END / steps
            model.opt.integrator = mujoco.mjtIntegrator.__members__[f"mjINT_{name}"]
        size = mujoco.mj_stateSize(models[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
        data, start = mujoco.MjData(models[0]), np.zeros((few, size))
        start[:, 1:5] = tops.q.T[:few]
        start[:, 5:8] = (tops.m / tops.inertia).T[:few]
        copies = [copy(model) for model in models]

        def call(copies: list = copies, data: Any = data, start: Any = start, n: int = steps):
            state, _ = rollout.rollout(copies, data, start, nstep=n)
            return state[:, -1, 1:5].T

        yield Run(f"MuJoCo's rollout, {name}", f"dt {END / steps:g}", call, few)


def diffrax_to(tops: Tops, quick: bool) -> Iterator[Run]:
    """Tsitouras 5 with fixed steps, vmap over the bodies, in double precision."""
    diffrax, jax = peer("diffrax"), peer("JAX")
    if diffrax is None or jax is None:
        return
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    def slope(t, state, args):
        w, x, y, z, m1, m2, m3 = state
        (i1, i2, i3), strength = args
        o1, o2, o3 = m1 * i1, m2 * i2, m3 * i3
        return jnp.stack(
            [
                -0.5 * (x * o1 + y * o2 + z * o3),
                0.5 * (w * o1 + y * o3 - z * o2),
                0.5 * (w * o2 + z * o1 - x * o3),
                0.5 * (w * o3 + x * o2 - y * o1),
                m2 * o3 - m3 * o2 + strength * 2.0 * (y * z + w * x),
                m3 * o1 - m1 * o3 - strength * 2.0 * (x * z - w * y),
                m1 * o2 - m2 * o1,
            ]
        )

    start, term = np.vstack([tops.q, tops.m]), diffrax.ODETerm(slope)
    for steps in (100,) if quick else (100, 400):

        def run(first, inverse, strength, steps=steps):
            found = diffrax.diffeqsolve(
                term,
                diffrax.Tsit5(),
                0.0,
                END,
                END / steps,
                first,
                args=(inverse, strength),
                saveat=diffrax.SaveAt(t1=True),
                max_steps=steps + 2,
            )
            return found.ys[0][:4]

        many = jax.jit(jax.vmap(run, in_axes=(1, 1, 0), out_axes=1))
        given = [jnp.asarray(x) for x in (start, 1.0 / tops.inertia, tops.strength)]
        call = partial(_ready, many, given)
        yield Run("diffrax, Tsit5", f"dt {END / steps:g}", call, len(tops))


def _ready(many: Callable, given: list) -> np.ndarray:
    return np.asarray(many(*given).block_until_ready())


# ---- the registry
def registry(asked: Asked) -> Iterator[Finding]:
    """Every map with lanes: its cost in lanes against one body's, the same results."""
    bodies, alone, steps = 64, 8, 100 if asked.quick else 1000
    tops = Tops.random(bodies)
    few, rows, verdicts = tops.first(alone), [], []
    names = [name for name, method in METHODS.items() if method.width > 1]
    wanted = asked.chosen("methods", names)
    for name in wanted:
        asked.say(f"{name} in lanes")
        method = METHODS[name]
        model = free() if method.free_only else HEAVY
        lanes = Lanes(method, model, tops, H / 5)
        one = one_by_one(method, model, few, steps, H / 5)
        calls: dict[str, tuple[Callable, float]] = {
            "lanes": (partial(lanes.advance, steps), bodies * steps),
            "one": (one, alone * steps),
        }
        times = round_robin(calls, asked.repeats, before=partial(_reset, lanes))
        gain = times["one"].minimum / times["lanes"].minimum
        kind = "implicit" if method.implicit else "explicit"
        facts = {"what": name, "kind": kind, "width": method.width}
        ns = {key: taken.minimum for key, taken in times.items()}
        rows.append(facts | {"ns_one": ns["one"], "ns_lanes": ns["lanes"], "gain": gain})
        least = LEAST_OF_IMPLICIT.get(name) if method.implicit else LEAST_OF_EXPLICIT
        if least is not None:
            verdicts.append(at_least(f"{name}: lanes over one body", gain, least))
    head = {
        "what": "method",
        "kind": "kind",
        "width": "width",
        "ns_one": "one body, ns",
        "ns_lanes": "in lanes, ns",
        "gain": "gain",
    }
    yield Table("Lanes over one body, a body and step", head, rows, bars="gain")
    yield from verdicts


def _reset(lanes: Lanes, key: str) -> None:
    lanes.reset()


# ---- many bodies
def scale(asked: Asked) -> Iterator[Finding]:
    """The cost of a body and step, and the memory, from a thousand bodies to a million."""
    counts = (1_000, 10_000) if asked.quick else (1_000, 10_000, 100_000, 1_000_000)
    method, rows = METHODS["mr2"], []
    made: dict[int, Lanes] = {}
    slices: dict[Any, tuple[Callable, float]] = {}
    for count in counts:
        asked.say(f"{count} bodies")
        made[count] = Lanes(method, HEAVY, Tops.random(count), H)
        slices |= in_slices((str(count), ""), made[count])
    asked.say("timing")
    found = over_slices(round_robin(slices, min(asked.repeats, 11)))
    times = {count: found[str(count), ""] for count in counts}
    lowest = min(taken.minimum for taken in times.values())
    for count, taken in times.items():
        facts = row(f"{count} bodies", taken, taken.minimum / lowest)
        rows.append(facts | {"megabytes": made[count].work.nbytes / 1e6})
    head = columns("mr2, a body and step", "/ least") | {"megabytes": "MB of states"}
    yield Table("Many bodies", head, rows)
    worst = max(taken.minimum for taken in times.values()) / lowest - 1.0
    yield at_most(f"cost from {counts[0]} to {counts[-1]} bodies: changes by", worst, 0.15)


# ---- by the front door
DEBRIS = """
import resource, sys, time
from pathlib import Path
import polhode as ph
def most():  # megabytes; what a process says of itself on Linux does not count its parent's
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 2**20 if sys.platform == "darwin" else used / 2**10
members, steps = int(sys.argv[1]), int(sys.argv[2])
top = ph.problems.fast_top()
vary = {"omega": ph.distributions.Normal([0, 0, 50], 0.5)}
vary["model.strength"] = ph.distributions.Uniform(10, 30)
kinds = ["mean(omega)", "attitude", "extremes(speed)"]
given = dict(vary=vary, seed=1, method="mr2", dt=1e-3, reduce=kinds, reduce_times=11, save=None)
ph.solve_ensemble(top, (0, 0.01), members=64, **given)
before = most()
begun = time.process_time()
ph.solve_ensemble(top, (0, steps * 1e-3), members=members, threads=1, **given)
used = time.process_time() - begun
print(used / members / steps * 1e9, before, most())
"""


def front(asked: Asked) -> Iterator[Finding]:
    """``solve_ensemble`` with reductions, in a process of its own: its cost and its memory."""
    rows, steps = [], 100 if asked.quick else 1000
    for members in (1_000, 10_000) if asked.quick else (1_000, 30_000, 1_000_000):
        asked.say(f"solve_ensemble, {members} members")
        said = subprocess.run(
            [sys.executable, "-c", DEBRIS, str(members), str(steps)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        ns, before, after = map(float, said.split())
        facts: dict[str, Any] = {"what": f"{members} members, {steps} steps", "ns": ns}
        rows.append(facts | {"before": before, "peak": after})
    head = {
        "what": "mr2, mean, attitude and extremes at 11 times",
        "ns": "ns a body and step",
        "before": "MB before",
        "peak": "MB at most",
    }
    yield Table("solve_ensemble", head, rows)
    if not asked.quick:
        yield at_most("memory of a million members with reductions, in MB", rows[-1]["peak"], 1500)


def measure(asked: Asked) -> Iterator[Finding]:
    tables = {"same": same_map, "others": others, "registry": registry}
    tables |= {"scale": scale, "front": front}
    for part in asked.chosen("parts", PARTS):
        yield from tables[part](asked)


BENCH = Bench(
    name="ensemble",
    summary="many bodies in SIMD lanes, against C with explicit vectors, JAX, heyoka, MuJoCo",
    measure=measure,
    needs=(COMPILER, "JAX", "diffrax", "heyoka", "MuJoCo"),
    repeats=61,
    keys={
        "parts": Key("", f"of {', '.join(PARTS)}; default all"),
        "bodies": Key("4096", "of the first table"),
        "methods": Key("", "of the third table; default all that have lanes"),
    },
)
