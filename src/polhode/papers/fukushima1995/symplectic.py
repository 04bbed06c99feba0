"""Measurements of section 4 of Fukushima (1995): the symplectic integrator that it suggests.

The canonical set is ``fukushima-canonical`` of the library, or its departures; Gauss's collocation
is symplectic in canonical variables.  The quick form takes its steps in plain Python.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode import loops
from polhode.celestial.model_orbits import orientation_error, truth
from polhode.contracts import Coordinates, Integrator, Method, Model
from polhode.formulations import COORDINATES
from polhode.integrators.gauss import gauss
from polhode.kernels.quaternion import to_body
from polhode.loops.join import fixed
from polhode.methods import METHODS
from polhode.models import torque
from polhode.papers.fukushima1995 import canonical
from polhode.papers.fukushima1995.by_hand import Array
from polhode.papers.fukushima1995.laboratory import BODIES, EARTH, FULL, Laboratory, enter
from polhode.papers.maps import Matrices, symplectic_defect
from polhode.papers.rotations import matrix, quaternion
from polhode.papers.verdicts import Measured, Untestable, added_if, holds_if, largest

SOME, STEP, ROUGH = 3, 0.1, 1e-8  # ROUGH: the error of differences in place of derivatives
SET, DEPARTURES = "fukushima-canonical", "fukushima-canonical-departures"
STRANG = "strang"
A_TURN, A_TURN_OF_STRANG = 4, 128  # steps
QUICK = 32  # revolutions
LOST = 2e-14  # rad: what the set as departures may lose


# ---- steps in plain Python
def march(
    method: Method, model: Model, body: tuple, state: Any, h: float, count: int, every: int
) -> tuple[list[Any], int]:
    """The states after every ``every`` of ``count`` steps, and the first; iterations in all."""
    whole, start = (loops.joined(f, method, model) for f in (loops.whole_step, method.start))
    parts, rest = [array.tolist() for array in loops.substeps(method)], (body, model.params)
    carry, path, iterations = start(0.0, h, state, *rest), [state], 0
    for k in range(count):
        state, carry, status, taken, _ = whole(k * h, h, *parts, state, carry, *rest)
        if status:
            raise Untestable(f"a step of {method.name} did not converge at t = {k * h}")
        iterations += taken
        if (k + 1) % every == 0:
            path.append(state)
    return path, iterations


def pulled(t, q, omega, params):
    """The torque of the potential Σ k_ij R_ij; ``params`` are its nine coefficients by columns."""
    a, b, c = to_body(q, params[:3]), to_body(q, params[3:6]), to_body(q, params[6:])
    return c[1] - b[2], a[2] - c[0], b[0] - a[1]


def library_step(integrator: Integrator, r: Array, m: Array, moments: Array, k: Array) -> Matrices:
    """(R, m) after a step in the canonical set."""
    record: Coordinates = COORDINATES[SET]
    model = torque(pulled, k.T.ravel().tolist())
    inertia = tuple(moments.tolist())
    body = inertia, tuple((1 / moments).tolist()), (1.0, 0.0, 0.0, 0.0), 1.0, 1.0
    y = record.enter(0.0, quaternion(r), tuple(m.tolist()), body)
    path, _ = march(fixed(integrator, record), model, body, y, STEP, 1, 1)
    q, after = record.leave(STEP, path[-1], body)
    return matrix(q), np.array(after)


def mover(integrator: Integrator, moments: Array, k: Array) -> Callable[[Matrices], Matrices]:
    """The map of a step."""
    return lambda state: library_step(integrator, *state, moments=moments, k=k)


# ---- 4
def symplectic(_: Laboratory) -> Measured:
    cases = canonical.bodies(SOME)
    a, b = ([canonical.defect(*case, implicit) for case in cases] for implicit in (True, False))
    midpoint, fourth, same, kept = gauss(2), gauss(4), 0.0, 0.0
    for r, m, moments, k in cases:
        u = canonical.midpoint(canonical.variables_of(r, m), STEP, moments, k, True)
        ends = zip(library_step(midpoint, r, m, moments, k), canonical.state_of(u), strict=True)
        same = max(same, *(largest(x - y) for x, y in ends))
        kept = max(kept, symplectic_defect(mover(fourth, moments, k), (r, m)))
    good = max(*a, kept) < ROUGH < 1e3 * ROUGH < min(b) and same < 1e-12
    return holds_if(good, max(a), min(b), same, kept)


# ---- beyond
def earth_errors(lab: Laboratory, turns: int) -> list[tuple[float, float]]:
    """(The worst error, torques a revolution) of Gauss's collocation in the set and of Strang's."""
    problem = BODIES[EARTH]
    right = {n: q for n, (q, _) in truth(problem.name).items() if n <= turns}
    found = []
    for name, a_turn in ((DEPARTURES, A_TURN), (SET, A_TURN), (None, A_TURN_OF_STRANG)):
        lab.progress(f"Earth, {name or STRANG}")
        if lab.quick:
            path, torques = _in_plain_python(name, a_turn, turns)
        else:
            plan = float(turns), 1 / a_turn, a_turn
            run = lab.run(problem, "gauss" if name else STRANG, *plan, formulation=name)
            path, torques = list(run.q), run.nfev / turns
        found.append((max(orientation_error(path[n], q) for n, q in right.items()), torques))
    return found


def _in_plain_python(name: str | None, a_turn: int, turns: int) -> tuple[list[Any], float]:
    """Attitudes after each revolution, and the torques of one."""
    problem, plan = BODIES[EARTH], (1 / a_turn, turns * a_turn, a_turn)
    if name is None:
        state = problem.attitude, problem.angular_momentum
        path, _ = march(METHODS[STRANG], problem.model, problem.body.data, state, *plan)
        return [q for q, _ in path], float(a_turn)
    record, integrator = COORDINATES[name], gauss()
    y, body = enter(problem, record)
    path, iterations = march(fixed(integrator, record), problem.model, body, y, *plan)
    torques = iterations * integrator.evaluations_per_iteration / turns
    return [record.leave(float(n), y, body)[0] for n, y in enumerate(path)], torques


def symplectic_earth(lab: Laboratory) -> Measured:
    turns = QUICK if lab.quick else FULL
    found = earth_errors(lab, turns)
    (departures, _), (whole, _), (strang, _) = found
    good = departures < LOST and strang > 100 * whole
    shown = [number for pair in found for number in pair]
    return added_if(good, turns, *shown)
