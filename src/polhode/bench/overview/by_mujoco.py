"""MuJoCo's RK4, its most accurate integrator: a ball joint, and everything else switched off.

The weight of the top is MuJoCo's gravity.  The gravity gradient is a torque by a function in
Python, MuJoCo's ``mjcb_control``, which it calls in every stage.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from polhode.bench.engines.tumbling import INERTIA as OF_FREE
from polhode.bench.overview.cases import (
    FREE,
    INERTIA,
    MOMENTS,
    RATE,
    TOP,
    TURNING,
    WEIGHT,
    Case,
    Run,
    doubled,
    to_the_earth,
)
from polhode.bench.peers import peer

XML = """<mujoco><option gravity="0 0 -1" integrator="RK4"/><worldbody><body><joint type="ball"/>
    <inertial pos="{} {} {}" mass="{}" fullinertia="{} {} {} {} {} {}"/>
    </body></worldbody></mujoco>"""
HEAVY = 1e4  # the mass of the top; the smaller its centre's distance


def inertial(case: Case) -> tuple[float, ...]:
    """The centre of mass, the mass, and the tensor there: three moments, then xy, xz, yz."""
    if case.name != TOP:
        return 0.0, 0.0, 0.0, 1.0, *(OF_FREE if case.name == FREE else INERTIA), 0.0, 0.0, 0.0
    at = np.array(WEIGHT) / HEAVY
    tensor = np.diag(MOMENTS) - HEAVY * (at @ at * np.eye(3) - np.outer(at, at))
    off = tensor[0, 1], tensor[0, 2], tensor[1, 2]
    return tuple(map(float, (*at, HEAVY, *tensor.diagonal(), *off)))


def push(model: Any, data: Any) -> None:
    """Apply the torque of the gravity gradient."""
    angle = RATE * data.time
    w, x, y, z = data.qpos.tolist()
    u1, u2, u3 = to_the_earth(w, x, y, z, math.cos(angle), math.sin(angle))
    (i1, i2, i3), f = INERTIA, 3.0 * RATE * RATE
    torque = f * (i3 - i2) * u2 * u3, f * (i1 - i3) * u3 * u1, f * (i2 - i1) * u1 * u2
    data.qfrc_applied[:] = torque


def by_mujoco(case: Case, quick: bool) -> Iterator[Run]:
    if case.name == TURNING:
        return
    mujoco, off = peer("MuJoCo"), peer("MuJoCo").mjtDisableBit
    needed = {FREE: 0, TOP: off.mjDSBL_GRAVITY}.get(case.name, off.mjDSBL_ACTUATION)
    control = push if case.name not in (FREE, TOP) else None

    def ran(model: Any, data: Any, steps: int) -> np.ndarray:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = case.start[:4], case.start[4:]
        mujoco.set_mjcb_control(control)
        try:
            mujoco.mj_step(model, data, steps)
        finally:
            mujoco.set_mjcb_control(None)
        return np.array(data.qpos)

    for steps in doubled(0, 6 if control else 7, quick):
        model = mujoco.MjModel.from_xml_string(XML.format(*inertial(case)))
        model.opt.timestep = case.end / steps
        model.opt.disableflags = ((1 << int(off.mjNDISABLE)) - 1) & ~int(needed)
        call = partial(ran, model, mujoco.MjData(model), steps)
        yield Run("MuJoCo", "RK4", f"{steps} steps", call, lambda q: q)
