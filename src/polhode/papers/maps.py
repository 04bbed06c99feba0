"""One-step maps of the library: single steps, orders of differences, symplecticity.

The steps run as plain Python, not compiled, on a body with three different moments: without torque
("free"), with a top and a soft wall together ("torque"), and with a top whose strength changes in
time ("swinging").
"""

from collections.abc import Callable, Sequence
from functools import cache
from math import cos

import numpy as np

from polhode import loops, problems
from polhode.body import RigidBody
from polhode.contracts import Model
from polhode.methods import METHODS
from polhode.models import free, heavy_top, soft_wall, torque
from polhode.papers import reference
from polhode.papers.rotations import exp, log, matrix, quaternion, skew
from polhode.papers.verdicts import Untestable, largest, slope

State = tuple[tuple[float, ...], tuple[float, ...]]  # (q, m)
Map = Callable[..., State]  # (h, state, t=0) -> state
Matrices = tuple[np.ndarray, np.ndarray]  # (R, Π)
Chain = Sequence[tuple[str, float]]  # (method, h) of steps in turn

BODY = problems.soft_wall().body
INERTIA = np.array(BODY.data[0])
STEP = 0.2  # a turn of about 10 degrees
HALVINGS = (0.4, 0.2, 0.1, 0.05)
T_END = 2.0  # where orders are measured
SEED, UPRIGHT = 20060420, np.array([3.0, 0.0, 0.0, 0.0])

EXACT = 1e-13  # rounding of one to four steps, a few 1e-16 each
VISIBLE = 1e-5  # far above rounding


# ---- torques
def swinging(t, q, omega, params):
    """A top whose strength is 3 cos(2t)."""
    w, x, y, z = q
    c = 6.0 * cos(2.0 * t)
    return c * (y * z + w * x), -c * (x * z - w * y), 0.0


MODELS = {
    "free": free(),
    "torque": heavy_top(-3.0) + soft_wall("printed"),
    "swinging": torque(swinging),
}
BOTH = "free", "torque"
LAWS: dict[str, reference.Law] = {
    "free": reference.none,
    "torque": reference.tilting(lambda t, z: reference.wall(t, z) - 3.0),
    "swinging": reference.tilting(lambda t, z: 3.0 * cos(2.0 * t)),
}


def torque_by_hand(model: str) -> Callable[[float, np.ndarray], np.ndarray]:
    """Return the same torques as functions of t and R."""
    law = LAWS[model]
    return lambda t, r: np.array(law(t, *r[2]))


# ---- states
def states(count: int = 4) -> list[State]:
    """Seeded attitudes and momenta; none upside down, where the printed wall is singular."""
    rng = np.random.default_rng(SEED)
    made = []
    for _ in range(count):
        q, m = rng.normal(size=4) + UPRIGHT, rng.normal(size=3)
        q, m = q / np.linalg.norm(q), 3 * m / np.linalg.norm(m)
        made.append((tuple(q.tolist()), tuple(m.tolist())))
    return made


def gap(a: State, b: State) -> float:
    """The largest difference in attitude (q and -q are the same) and, relative, in momentum."""
    (q, m), (p, n) = ((np.array(part) for part in state) for state in (a, b))
    turned = min(largest(q - p), largest(q + p))
    return max(turned, largest(m - n) / float(np.linalg.norm(n)))


# ---- maps
@cache
def step(method: str, model: str = "free") -> Map:
    """Return the map (h, state, t=0) of one step of a method."""
    record, acting = METHODS[method], MODELS[model]
    whole, start = (loops.joined(f, record, acting) for f in (loops.whole_step, record.start))
    parts = [array.tolist() for array in loops.substeps(record)]
    rest = BODY.data, acting.params

    def mapped(h: float, state: State, t: float = 0.0) -> State:
        new, _, status, _, _ = whole(t, h, *parts, state, start(t, h, state, *rest), *rest)
        if status:
            raise Untestable(f"a step of {method} with h = {h} did not converge")
        return new

    return mapped


def march(method: str, model: str, t_end: float, count: int, state: State) -> list[State]:
    """Return the states of ``count`` steps from 0 to ``t_end``."""
    h, path, mapped = t_end / count, [state], step(method, model)
    for k in range(count):
        path.append(mapped(h, path[-1], k * h))
    return path


# ---- differences
def chained(chain: Chain, model: str, state: State) -> State:
    """Return the state after a chain of steps from t = 0."""
    t = 0.0
    for method, h in chain:
        state = step(method, model)(h, state, t)
        t += h
    return state


def chain_gap(one: Chain, other: Chain = (), models: Sequence[str] = BOTH) -> float:
    """Return the largest difference of two chains of steps, over several states and models."""
    return max(
        gap(chained(one, model, state), chained(other, model, state))
        for state in states()
        for model in models
    )


def asymmetry(method: str, models: Sequence[str] = BOTH) -> float:
    """Return the distance from the start after a step forward and a step back."""
    return chain_gap([(method, STEP), (method, -STEP)], models=models)


def torque_gap(
    model: Model,
    page: Callable[[np.ndarray], np.ndarray],
    body: RigidBody = BODY,
    inertial: bool = False,
) -> float:
    """The relative difference between a model and the torque of the page, a function of R.

    The torque of the page is in body axes, unless it is ``inertial``.
    """
    found = 0.0
    for q, m in states():
        r, acting = matrix(q), np.array(model.torque(0.0, q, m, body.data, model.params))
        right = page(r)
        found = max(found, largest((r @ acting if inertial else acting) - right) / largest(right))
    return found


# ---- orders
def order_of(difference: Callable[[float], float]) -> tuple[float, float]:
    """(order in h, value at the largest h) of a difference."""
    values = [difference(h) for h in HALVINGS]
    return slope(HALVINGS, values), values[0]


def step_difference(one: str, other: str) -> tuple[float, float]:
    """(order in h, value at the largest h) of the difference of one step, with torque."""
    state = states(1)[0]
    return order_of(lambda h: gap(step(one, "torque")(h, state), step(other, "torque")(h, state)))


@cache
def end_state(model: str) -> Matrices:
    """(R, Π) at T_END, by the reference."""
    q, m = reference.motion(INERTIA.tolist(), *states(1)[0], LAWS[model], T_END)
    return matrix(q[-1]), m[-1]


def orders(method: str, model: str, counts: Sequence[int]) -> tuple[float, float]:
    """Return the orders in Π and R of a method, from runs with these numbers of steps."""
    ends = [march(method, model, T_END, n, states(1)[0])[-1] for n in counts]
    return orders_of_ends(model, counts, [(matrix(q), np.array(m)) for q, m in ends])


def orders_of_ends(
    model: str, counts: Sequence[int], ends: Sequence[Matrices]
) -> tuple[float, float]:
    """Return the orders in Π and R, from the ends of runs with these numbers of steps."""
    attitude, momentum = end_state(model)
    steps = [T_END / n for n in counts]
    return (
        slope(steps, [float(np.linalg.norm(p - momentum)) for _, p in ends]),
        slope(steps, [float(np.linalg.norm(r - attitude, 2)) for r, _ in ends]),
    )


# ---- symplecticity
def symplectic_form(p: np.ndarray) -> np.ndarray:
    """Return the canonical form of the cotangent bundle on (Rᵀδr, δΠ), both in body axes."""
    return np.block([[-skew(p), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])


def symplectic_defect(move: Callable[[Matrices], Matrices], state: Matrices) -> float:
    """|Jᵀ Ω' J - Ω|; J by fourth-order differences in the coordinates of ``symplectic_form``."""
    size = 2e-3  # truncation size⁴ and rounding 1e-16/size are then both near 1e-12
    r, p = state
    end, after = move(state)

    def moved(direction: np.ndarray) -> np.ndarray:
        new, momentum = move((r @ exp(direction[:3]), p + direction[3:]))
        return np.concatenate([log(end.T @ new), momentum - after])

    jacobian = derivatives(moved, size, 6)
    pulled = jacobian.T @ symplectic_form(after) @ jacobian
    return largest(pulled - symplectic_form(p))


def derivatives(
    moved: Callable[[np.ndarray], np.ndarray], size: float, dimension: int
) -> np.ndarray:
    """Return the Jacobian of a function of a displacement, by fourth-order differences."""

    def along(e: np.ndarray, factor: int) -> np.ndarray:
        return moved(factor * size * e)

    columns = [
        (8 * (along(e, 1) - along(e, -1)) - (along(e, 2) - along(e, -2))) / (12 * size)
        for e in np.eye(dimension)
    ]
    return np.stack(columns, axis=1)


def defect(method: str, model: str, h: float) -> float:
    """|Jᵀ Ω' J - Ω| of one step, in the coordinates of the cotangent bundle."""
    q, m = states(1)[0]

    def move(state: Matrices) -> Matrices:
        r, p = state
        new, after = step(method, model)(h, (quaternion(r), tuple(p.tolist())))
        return matrix(new), np.array(after)

    return symplectic_defect(move, (matrix(q), np.array(m)))


def defect_order(method: str, model: str) -> tuple[float, float]:
    """(order in h, value at the largest h) of the symplectic defect of one step."""
    return order_of(lambda h: defect(method, model, h))
