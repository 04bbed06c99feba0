"""MuJoCo: a free joint, by each of its integrators."""

from collections.abc import Iterator

import numpy as np

from polhode.bench.engines.tumbling import (
    END,
    INERTIA,
    LOOKS,
    OMEGA,
    TIMES,
    Motion,
    Variant,
    ladder,
)
from polhode.bench.peers import peer


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
