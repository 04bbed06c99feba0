"""MuJoCo: a free joint, with each of its integrators."""

from collections.abc import Iterator

import numpy as np

from polhode.bench.engines import tumbling
from polhode.bench.engines.tumbling import Motion, Variant
from polhode.bench.peers import peer


class MuJoCo:
    """A free joint with a body of given inertia; everything else is switched off."""

    XML = """<mujoco><worldbody><body><freejoint/>
        <inertial pos="0 0 0" mass="1" diaginertia="{} {} {}"/></body></worldbody></mujoco>"""

    def __init__(self, name: str, steps: int):
        mujoco = peer("MuJoCo")
        self.steps = steps
        self.model = model = mujoco.MjModel.from_xml_string(self.XML.format(*tumbling.INERTIA))
        assert tuple(model.body_inertia[1]) == tumbling.INERTIA
        model.opt.timestep = tumbling.END / steps
        model.opt.integrator = self.integrators()[name]
        model.opt.disableflags = (1 << int(mujoco.mjtDisableBit.mjNDISABLE)) - 1
        self.data = mujoco.MjData(model)
        self.first = self.data.qpos.copy(), np.array([0.0, 0.0, 0.0, *tumbling.OMEGA])

    @staticmethod
    def integrators() -> dict[str, int]:
        """Return the integrators of this version, by their names in XML."""
        members = peer("MuJoCo").mjtIntegrator.__members__
        known = {"EULER": "Euler", "RK4": "RK4"}
        names = {word: word.removeprefix("mjINT_") for word in members}
        return {known.get(name, name.lower()): members[word] for word, name in names.items()}

    def advance(self, steps: int) -> None:
        peer("MuJoCo").mj_step(self.model, self.data, steps)

    def call(self, steps: int | None = None) -> None:
        self.data.qpos[:], self.data.qvel[:] = self.first
        self.advance(steps or self.steps)

    def motion(self) -> Motion:
        self.data.qpos[:], self.data.qvel[:] = self.first
        return tumbling.looks(
            lambda: (*self.data.qpos[3:], *self.data.qvel[3:]),
            lambda: self.advance(self.steps // tumbling.LOOKS),
        )


def by_mujoco(quick: bool) -> Iterator[Variant]:
    for name in MuJoCo.integrators():
        order, first = (4, 1) if name == "RK4" else (1, 4)  # order 1 overflows earlier
        for steps in tumbling.ladder(first, 10, quick):
            made = MuJoCo(name, steps)
            yield Variant("MuJoCo", name, made.call, made.motion, steps, order=order)
