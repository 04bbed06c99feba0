"""Basilisk: a spacecraft of one rigid hub, with each of its integrators."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from polhode.bench.engines import tumbling
from polhode.bench.engines.tumbling import Motion, Variant
from polhode.bench.peers import installed, peer

NANO = 10**9
BASILISK = {  # order, numbers of steps from and to
    "Euler": (1, 4, 8),
    "RK2": (2, 1, 7),
    "RK4": (4, 1, 7),
    "RKF45": (4, 1, 6),
    "RKF78": (7, 0, 4),
}


class Spacecraft:
    """Basilisk's simulation of a rigid hub, or of nothing; ``reset`` restores the hub's start."""

    def __init__(self, name: str | None, steps: int, tolerance: float = 1e9):
        self.now = 0
        base = installed("Basilisk.utilities.SimulationBaseClass")
        self.sim = base.SimBaseClass()
        process = self.sim.CreateNewProcess("process")
        process.addTask(self.sim.CreateNewTask("task", round(tumbling.END * NANO) // steps))
        if name is None:
            self.sim.InitializeSimulation()
            return
        integrators = installed("Basilisk.simulation.svIntegrators")
        self.craft = craft = peer("Basilisk").Spacecraft()
        craft.hub.mHub = 1.0
        craft.hub.r_BcB_B = [[0.0], [0.0], [0.0]]
        craft.hub.IHubPntBc_B = np.diag(tumbling.INERTIA).tolist()
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
        omega.setState([[x] for x in tumbling.OMEGA])

    def advance(self, nanoseconds: int = round(tumbling.END * NANO)) -> None:
        self.now += nanoseconds
        self.sim.ConfigureStopTime(self.now)
        self.sim.ExecuteSimulation()

    def motion(self) -> Motion:
        self.reset()

        def state() -> tuple:
            sigma, omega = (np.ravel(state.getState()) for state in self.states)
            return 1.0 - sigma @ sigma, *(2.0 * sigma), *omega  # q times 1 + σ²

        nanoseconds = round(tumbling.END * NANO) // tumbling.LOOKS
        return tumbling.looks(state, lambda: self.advance(nanoseconds))


def by_basilisk(quick: bool) -> Iterator[Variant]:
    """Runs by the step of the task; adaptive ones also by tolerance, with a task every second.

    Longer tasks are not possible: Rodrigues parameters are switched only at the end of a task, and
    become infinite after one turn.
    """

    def variant(name: str, craft: Spacecraft, **facts: Any) -> Variant:
        return Variant("Basilisk", name, craft.advance, craft.motion, reset=craft.reset, **facts)

    for name, (order, first, last) in BASILISK.items():
        for steps in tumbling.ladder(first, last, quick):
            yield variant(name, Spacecraft(name, steps), steps=steps, order=order)
    for name in ("RKF45", "RKF78"):
        for tolerance in tumbling.decades(5, 13, quick):
            craft = Spacecraft(name, round(tumbling.END), tolerance)
            yield variant(f"{name} adaptive", craft, tolerance=tolerance)
