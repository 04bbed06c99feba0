"""The cost of an accuracy, with whole libraries."""

import dataclasses
import time
from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from polhode.bench.angles import rms_angle
from polhode.bench.peers import installed, peer
from polhode.bench.records import Finding, Settings, Table
from polhode.bench.time_to_accuracy import heyoka
from polhode.bench.timing import round_robin
from polhode.bench.tops import HEAVY, Lanes, Tops, rates
from polhode.methods import METHODS

END = 2.0


@dataclasses.dataclass(frozen=True)
class Run:
    """A call that gives the attitudes of a number of bodies at the end."""

    kind: str
    setting: str
    call: Callable[[], np.ndarray]  # quaternions in columns
    bodies: int


def others(settings: Settings) -> Iterator[Finding]:
    tops = Tops.random(256 if settings.quick else 1024, rate=3.0)
    settings.report("the reference")
    truth = true_ends(tops)
    runs: list[Run] = []
    for make in (ours_to, heyoka_to, mujoco_to, diffrax_to):
        settings.report(f"compiling: {make.__name__.split('_')[0]}")
        runs += make(tops, settings.quick)
    errors = {}
    for run in runs:
        errors[run.kind, run.setting] = rms_angle(run.call(), truth[:, : run.bodies])
    settings.report("timing")
    variants = {(run.kind, run.setting): (run.call, run.bodies) for run in runs}
    times = round_robin(variants, min(settings.repeats, 5), time.process_time_ns)
    mine = {key: t.minimum for key, t in times.items() if key[0].startswith("polhode")}
    rows = []
    for key, taken in times.items():
        good = [ns for k, ns in mine.items() if errors[k] <= errors[key]]
        ratio = taken.minimum / min(good) if good and key not in mine else None
        rows.append((*key, errors[key], taken.minimum / 1e3, taken.median / 1e3, ratio))
    head = {
        "what": f"{len(tops)} tops, {END:g} s, a body",
        "setting": "setting",
        "error": "error (rad)",
        "us_min": "µs min",
        "us_median": "µs median",
        "ratio": "/ ours as accurate",
    }
    yield Table.of("What an accuracy costs", head, rows)


def true_ends(tops: Tops) -> np.ndarray:
    """Return attitudes at the end as columns, by DOP853 of SciPy over all bodies at once."""
    from scipy.integrate import solve_ivp

    inverse, n = 1.0 / tops.inertia, len(tops)

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate(rates(y.reshape(7, n), inverse, tops.strength))

    start = np.concatenate([*tops.q, *tops.m])
    run = solve_ivp(slope, (0.0, END), start, method="DOP853", rtol=2.3e-14, atol=1e-15)
    return run.y[:, -1].reshape(7, n)[:4]


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
    package = peer("heyoka")
    if package is None:
        return
    par = [package.par[k] for k in range(7)]
    system = heyoka.top_equations("quaternion", par[:3], (0.0, 0.0, par[6]), par[3:6])
    i1, i2, i3 = 1.0 / tops.inertia
    pars = np.array([i1, i2, i3, i3 - i2, i1 - i3, i2 - i1, tops.strength])
    first = np.vstack([tops.m, tops.q])
    for tolerance in (1e-6,) if quick else (1e-6, 1e-9, 1e-12, 1e-15):
        batch = heyoka.batches(system, first, pars, 4, tolerance, END)

        def attitudes(batch: Callable = batch) -> np.ndarray:
            return batch()[3:]  # after the momenta

        yield Run("heyoka, batches of 4", f"tol {tolerance:.0e}", attitudes, len(tops))
    few = 64 if quick else 256
    single = package.taylor_adaptive(system, first[:, 0].copy(), tol=1e-9, pars=pars[:, 0].copy())

    def prepare(solver: Any, k: int) -> Any:
        solver.time = 0.0
        solver.state[:], solver.pars[:] = first[:, k], pars[:, k]
        return solver

    def ensemble() -> np.ndarray:
        found = package.ensemble_propagate_until(single, END, few, prepare, max_workers=1)
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
    flags = mujoco.mjtDisableBit
    off = ((1 << int(flags.mjNDISABLE)) - 1) & ~int(flags.mjDSBL_GRAVITY)
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
        return jnp.stack(rates(state, *args))

    start, term = np.vstack([tops.q, tops.m]), diffrax.ODETerm(slope)
    for steps in (100,) if quick else (100, 400):

        def run(first, inverse, strength, steps=steps):
            options = {"saveat": diffrax.SaveAt(t1=True), "max_steps": steps + 2}
            grid, args = (0.0, END, END / steps), (inverse, strength)
            found = diffrax.diffeqsolve(term, diffrax.Tsit5(), *grid, first, args=args, **options)
            return found.ys[0][:4]

        many = jax.jit(jax.vmap(run, in_axes=(1, 1, 0), out_axes=1))
        given = [jnp.asarray(x) for x in (start, 1.0 / tops.inertia, tops.strength)]
        call = partial(_ready, many, given)
        yield Run("diffrax, Tsit5", f"dt {END / steps:g}", call, len(tops))


def _ready(many: Callable, given: list) -> np.ndarray:
    return np.asarray(many(*given).block_until_ready())
