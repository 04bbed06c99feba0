"""Basilisk's spacecraft of one rigid hub, by its Runge-Kutta-Fehlberg method of order 7.

The satellite is on its orbit about the Earth, a point, with Basilisk's gravity gradient.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from polhode.bench.engines.basilisk import NANO
from polhode.bench.engines.tumbling import INERTIA as OF_FREE
from polhode.bench.overview.cases import FREE, INERTIA, MU, RADIUS, SATELLITE, Case, Run, doubled
from polhode.bench.peers import installed, peer


class Spacecraft:
    """A simulation of the hub with a step; ``reset`` restores the start."""

    def __init__(self, case: Case, steps: int):
        self.now, self.case = 0, case
        base = installed("Basilisk.utilities.SimulationBaseClass")
        integrators = installed("Basilisk.simulation.svIntegrators")
        self.sim = base.SimBaseClass()
        self.span = round(case.end * NANO)
        self.sim.CreateNewProcess("process").addTask(
            self.sim.CreateNewTask("task", self.span // steps)
        )
        self.craft = craft = peer("Basilisk").Spacecraft()
        craft.hub.mHub = 1.0
        craft.hub.r_BcB_B = [[0.0], [0.0], [0.0]]
        inertia = OF_FREE if case.name == FREE else INERTIA
        craft.hub.IHubPntBc_B = np.diag(inertia).tolist()
        self.integrator = integrators.svIntegratorRKF78(craft)
        self.integrator.relTol = self.integrator.absTol = 1e9  # the step is given
        craft.setIntegrator(self.integrator)
        self.sim.AddModelToTask("task", craft)
        self.start = self._first_state()
        if case.name == SATELLITE:
            self._add_the_earth()
        self.sim.InitializeSimulation()
        self.sim.ConfigureStopTime(0)
        self.sim.ExecuteSimulation()
        hub, state = craft.hub, craft.dynManager.getStateObject
        names = hub.nameOfHubSigma, hub.nameOfHubOmega, hub.nameOfHubPosition, hub.nameOfHubVelocity
        self.states = [state(name) for name in names]
        self.reset()

    def _first_state(self) -> list[np.ndarray]:
        w, *v = self.case.start[:4]
        place = (RADIUS, 0.0, 0.0) if self.case.name == SATELLITE else (0.0, 0.0, 0.0)
        speed = (MU / RADIUS) ** 0.5 if self.case.name == SATELLITE else 0.0
        rows = np.array(v) / (1.0 + w), self.case.start[4:], place, (0.0, speed, 0.0)
        return [np.reshape(row, (3, 1)) for row in rows]

    def _add_the_earth(self) -> None:
        body = installed("Basilisk.simulation.gravityEffector").GravBodyData()
        body.planetName, body.mu, body.isCentralBody = "earth", MU, True
        module = installed("Basilisk.simulation.GravityGradientEffector")
        self.planet, self.gradient = body, module.GravityGradientEffector()
        bodies = peer("Basilisk").GravBodyVector([body])
        self.craft.gravField.gravBodies = bodies
        hub = self.craft.hub
        hub.r_CN_NInit, hub.v_CN_NInit = (each.tolist() for each in self.start[2:])
        self.gradient.addPlanetName(body.planetName)
        self.craft.addDynamicEffector(self.gradient)
        self.sim.AddModelToTask("task", self.gradient)

    def reset(self) -> None:
        for state, value in zip(self.states, self.start, strict=True):
            state.setState(value.tolist())

    def run(self) -> np.ndarray:
        self.now += self.span
        self.sim.ConfigureStopTime(self.now)
        self.sim.ExecuteSimulation()
        sigma = np.ravel(self.states[0].getState())
        return np.array([1.0 - sigma @ sigma, *(2.0 * sigma)])  # q times 1 + σ²


def by_basilisk(case: Case, quick: bool) -> Iterator[Run]:
    if case.name not in (FREE, SATELLITE):
        return

    def end(q: Any) -> Any:
        return q

    for steps in doubled(0, 4, quick):
        craft = Spacecraft(case, steps)
        yield Run("Basilisk", "RKF78", f"{steps} steps", craft.run, end, craft.reset)
