"""One step of a simulator, called from Python.

Microseconds of CPU time for what a loop does in a step: apply forces, step, read the state.  The
body has three different moments; ``+`` marks what is done besides ``step(dt)``.  Then the parts of
it, and, where MuJoCo is installed, its ``mj_step`` on the same free body, driven in the same way.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.peers import peer
from polhode.bench.records import Bench, Finding, Settings, at_most
from polhode.bench.timing import time_table, timed

LIMIT = 20.0  # microseconds of a step from Python
DT = 1e-3
MOMENTS, MASS, OMEGA = (1.0, 2.0, 3.0), 2.0, (0.3, 1.0, 0.4)
FORCE, TORQUE, POINT, OTHER = (0.1, 0.2, 0.3), (0.0, 0.1, 0.0), (0.3, 0.1, 0.2), (-0.3, 0.1, 0.0)
TURN = Rotation.from_rotvec([0.4, -0.7, 0.3]).as_matrix()
BODY = ph.RigidBody(MOMENTS, mass=MASS)
TURNED = ph.RigidBody(TURN @ np.diag(MOMENTS) @ TURN.T, mass=MASS)
XML = f"""<mujoco><option timestep="{DT}" integrator="RK4"/><worldbody><body><freejoint/>
    <inertial pos="0 0 0" mass="{MASS}" diaginertia="{" ".join(map(str, MOMENTS))}"/>
    </body></worldbody></mujoco>"""
Calls = Iterator[tuple[str, Callable[[], Any]]]


def steps() -> Calls:
    """Yield whole steps, which have to be within the limit."""

    def made(body: ph.RigidBody = BODY, **arguments) -> ph.Simulator:
        return ph.Simulator(body, omega=OMEGA, **arguments)

    def pushed(sim: ph.Simulator) -> Callable:
        def call():
            sim.apply_force(FORCE, at=POINT)
            return sim.step(DT).x

        return call

    yield "step", partial(made().step, DT)
    viewed = made()
    viewed.view(browser=False)
    yield "step, viewed by no page", partial(viewed.step, DT)
    yield "step + a force at a point, x", pushed(made())
    sim = made()

    def loop():
        sim.apply_force(FORCE, at=POINT)
        sim.apply_force(FORCE, at=OTHER, frame="body")
        sim.apply_torque(TORQUE)
        state = sim.step(DT)
        return state.x, state.q, state.omega

    yield "step + two forces, a torque, x, q, ω", loop
    for order in (1, 2):
        yield f"  the second, extrapolation {order}", pushed(made(extrapolation=order))
    yield "  the second, full tensor", pushed(made(TURNED))
    yield "  the second, 10 substeps", pushed(made(substeps=10))
    model = ph.models.uniform_gravity() + ph.models.spring(20.0, (0, 0, 3), POINT)
    yield "  the second, gravity and a spring", pushed(made(model=model))
    for method in ("rk4", "mr2", "imidm", "gauss"):
        yield f"  the second, {method}", pushed(made(method=method))


def parts() -> Calls:
    sim = ph.Simulator(BODY, omega=OMEGA)
    yield "apply_force, at the centre", lambda: sim.apply_force(FORCE)
    yield "apply_force, at a point", lambda: sim.apply_force(FORCE, at=POINT)
    array = np.array(FORCE)
    yield "apply_force, an array", lambda: sim.apply_force(array)
    yield "apply_torque", lambda: sim.apply_torque(TORQUE)
    yield "state", lambda: sim.state
    state = sim.state
    yield "state.x", lambda: state.x
    yield "state.point_velocity", lambda: state.point_velocity(POINT)
    back = ph.Simulator(BODY, omega=OMEGA)

    def to_and_fro():
        back.step(DT)
        back.rewind()

    yield "step and rewind", to_and_fro


def peers() -> Calls:
    mujoco = peer("MuJoCo")
    if mujoco is None:
        return
    model = mujoco.MjModel.from_xml_string(XML)
    model.opt.disableflags = (1 << int(mujoco.mjtDisableBit.mjNDISABLE)) - 1  # all of them
    data = mujoco.MjData(model)
    data.qvel[3:] = OMEGA
    mujoco.mj_forward(model, data)
    yield "MuJoCo, RK4: mj_step", lambda: mujoco.mj_step(model, data)
    wrench, point = np.array([*FORCE, *TORQUE]), np.array(POINT)

    def loop():
        data.qfrc_applied[:] = 0.0
        at = data.xpos[1] + data.xmat[1].reshape(3, 3) @ point
        mujoco.mj_applyFT(model, data, wrench[:3], wrench[3:], at, 1, data.qfrc_applied)
        mujoco.mj_step(model, data)
        return data.qpos[:3].copy()

    loop()
    assert np.allclose(data.qvel[:3], np.array(FORCE) / MASS * DT)  # it acts, and nothing else does
    yield "MuJoCo, RK4: + a force at a point, x", loop


@Bench(
    name="simulator",
    place=110,
    summary="one step of ph.Simulator, called from Python, against MuJoCo's",
    needs=("MuJoCo",),
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    settings.report("compiling and timing")
    whole = dict(steps())
    times = timed(whole | dict(parts()) | dict(peers()), settings.repeats)
    yield time_table("Steps", "a step from Python", times, "us", bars="us_median")
    worst, name = max((times[name].median / 1e3, name) for name in whole)
    what = f"the slowest step, {name.strip()}, median in µs"
    yield at_most(what, worst, LIMIT)
