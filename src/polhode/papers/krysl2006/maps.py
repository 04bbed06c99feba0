"""One-step maps, taken apart: compositions, inverses, orders of differences, symplecticity.

The steps are the library's own, as plain Python without a compiler, one at a time, on a body with
three different moments, without torque ("free"), with a top and a soft wall together ("torque"),
and with a top whose strength changes in time ("swinging").
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import cos
from typing import Any

import numpy as np

from polhode import loops, problems
from polhode.contracts import Model
from polhode.methods import METHODS
from polhode.models import free, heavy_top, soft_wall, torque
from polhode.papers.claims import Untestable
from polhode.papers.krysl2006 import by_hand, reference

State = tuple[tuple[float, ...], tuple[float, ...]]  # (q, m)
Map = Callable[..., State]  # (h, state, t=0) -> state

BODY = problems.soft_wall().body
INERTIA = np.array(BODY.data[0])
STEP = 0.2  # a turn of about 10 degrees
HALVINGS = (0.4, 0.2, 0.1, 0.05)
T_END = 2.0  # where orders are measured
SEED, UPRIGHT = 20060420, np.array([3.0, 0.0, 0.0, 0.0])

EXACT = 1e-13  # of one to four steps with errors of a few 1e-16 each
VISIBLE = 1e-5  # far above any rounding


# ---- torques
TORQUES = heavy_top(0.0) + soft_wall("printed")


def torques(strength: float = 0.0, wall: float = 0.0) -> Model:
    """A top of that strength, and so much of the printed soft wall.

    All torques of the paper are one model with other numbers: one loop to compile for each method.
    """
    return replace(TORQUES, numbers=((float(strength),), (float(wall),)))


def swinging(t, q, omega, params):
    """A top whose strength is 3 cos(2t)."""
    w, x, y, z = q
    c = 6.0 * cos(2.0 * t)
    return c * (y * z + w * x), -c * (x * z - w * y), 0.0


MODELS = {"free": free(), "torque": torques(-3.0, 1.0), "swinging": torque(swinging)}
LAWS: dict[str, reference.Law] = {
    "free": lambda t, z: 0.0,
    "torque": lambda t, z: reference.wall(t, z) - 3.0,
    "swinging": lambda t, z: 3.0 * cos(2.0 * t),
}


def torque_by_hand(model: str) -> by_hand.Torque:
    law = LAWS[model]
    return lambda t, r: law(t, r[2, 2]) * np.array([r[2, 1], -r[2, 0], 0.0])


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
    """The largest difference of attitude (q is -q) and of momentum, relative to its size."""
    (q, m), (p, n) = ((np.array(part) for part in state) for state in (a, b))
    turned = min(np.abs(q - p).max(), np.abs(q + p).max())
    return float(max(turned, np.abs(m - n).max() / np.linalg.norm(n)))


def kinetic(state: State) -> float:
    m = np.array(state[1])
    return float(m @ (m / INERTIA)) / 2


def matrix(q: Any) -> np.ndarray:
    """The attitude matrix of a quaternion."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(q, scalar_first=True).as_matrix()


# ---- maps
@cache
def step(method: str, model: str = "free") -> Map:
    """The map (h, state, t=0) of one step of a method."""
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
    """The states of ``count`` steps from 0 to ``t_end``."""
    h, path, mapped = t_end / count, [state], step(method, model)
    for k in range(count):
        path.append(mapped(h, path[-1], k * h))
    return path


# ---- differences, the largest of several states, without torque and with it
def worst(difference: Callable[[State, str], float]) -> float:
    return max(difference(state, model) for state in states() for model in ("free", "torque"))


def same_step(one: str, other: str) -> float:
    """How far a step of one method ends from a step of another."""

    def difference(state: State, model: str) -> float:
        return gap(step(one, model)(STEP, state), step(other, model)(STEP, state))

    return worst(difference)


def composed_gap(whole: str, first: str, second: str) -> float:
    """How far a step of one method ends from half steps of two others."""

    def difference(state: State, model: str) -> float:
        middle = step(first, model)(STEP / 2, state)
        end = step(second, model)(STEP / 2, middle, STEP / 2)
        return gap(end, step(whole, model)(STEP, state))

    return worst(difference)


def undone(first: str, second: str, h: float = STEP) -> float:
    """How far from the start a step of one method and a step back of another end."""

    def difference(state: State, model: str) -> float:
        there = step(first, model)(h, state)
        return gap(step(second, model)(-h, there, h), state)

    return worst(difference)


def asymmetry(method: str) -> float:
    return undone(method, method)


def page_gap(method: str, **reading: Any) -> float:
    """How far a step of the library ends from the formula of the page."""
    formula = getattr(by_hand, method.partition(":")[0])

    def difference(state: State, model: str) -> float:
        start = matrix(state[0]), np.array(state[1])
        r, p = formula(0.0, STEP, start, INERTIA, torque_by_hand(model), **reading)
        q, m = step(method, model)(STEP, state)
        apart = np.abs(matrix(q) - r).max(), np.abs(np.array(m) - p).max() / np.linalg.norm(p)
        return float(max(apart))

    return worst(difference)


def torque_gap(model: Model, printed: Callable[[np.ndarray], np.ndarray]) -> float:
    """How far a model is from the inertial torque of the page, a function of R; relative."""
    found = 0.0
    for q, m in states():
        r = matrix(q)
        library = r @ np.array(model.torque(0.0, q, m, BODY.data, model.params))
        right = printed(r)
        found = max(found, float(np.abs(library - right).max() / np.abs(right).max()))
    return found


# ---- orders
def slope(steps: Sequence[float], values: Sequence[float]) -> float:
    """The exponent p of values ~ steps^p, by least squares on the logarithms."""
    return float(np.polyfit(np.log(steps), np.log(values), 1)[0])


def order_of(difference: Callable[[float], float]) -> tuple[float, float]:
    """(order in h, value at the largest h) of a difference."""
    values = [difference(h) for h in HALVINGS]
    return slope(HALVINGS, values), values[0]


def step_difference(one: str, other: str) -> tuple[float, float]:
    """(order in h, value at the largest h) of the difference of one step, with torque."""
    state = states(1)[0]
    return order_of(lambda h: gap(step(one, "torque")(h, state), step(other, "torque")(h, state)))


@cache
def end_state(model: str) -> tuple[np.ndarray, np.ndarray]:
    """(R, Π) at T_END, by the reference."""
    q, m = reference.solution(INERTIA.tolist(), *states(1)[0], LAWS[model], T_END)
    return matrix(q[-1]), m[-1]


def orders(method: str, model: str, counts: Sequence[int]) -> tuple[float, float]:
    """The orders in Π and R of a method, from runs of so many steps."""
    ends = [march(method, model, T_END, n, states(1)[0])[-1] for n in counts]
    return _orders(model, counts, [(matrix(q), np.array(m)) for q, m in ends])


def orders_by_hand(
    formula: Callable[..., by_hand.State], model: str, counts: Sequence[int], **reading: Any
) -> tuple[float, float]:
    """The same of a formula of the page, read in some way."""
    ends, acting = [], torque_by_hand(model)
    for n in counts:
        q, m = states(1)[0]
        state = matrix(q), np.array(m)
        for k in range(n):
            state = formula(k * T_END / n, T_END / n, state, INERTIA, acting, **reading)
        ends.append(state)
    return _orders(model, counts, ends)


def _orders(
    model: str, counts: Sequence[int], ends: Sequence[by_hand.State]
) -> tuple[float, float]:
    attitude, momentum = end_state(model)
    steps = [T_END / n for n in counts]
    return (
        slope(steps, [float(np.linalg.norm(p - momentum)) for _, p in ends]),
        slope(steps, [float(np.linalg.norm(r - attitude, 2)) for r, _ in ends]),
    )


def near(order: float, expected: float, band: float = 0.15) -> bool:
    return abs(order - expected) < band


# ---- symplecticity
def symplectic_form(p: np.ndarray) -> np.ndarray:
    """The canonical form of the cotangent bundle on (Rᵀδr, δΠ), both in body axes."""
    return np.block([[-by_hand.skew(p), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])


def symplectic_defect(
    move: Callable[[by_hand.State], by_hand.State], state: by_hand.State
) -> float:
    """|Jᵀ Ω' J - Ω|, J by differences of fourth order in the coordinates of ``symplectic_form``."""
    size = 2e-3  # truncation size⁴ and rounding 1e-16/size are then both near 1e-12
    r, p = state
    end, after = move(state)

    def moved(direction: np.ndarray, factor: float) -> np.ndarray:
        change = factor * size * direction
        new, momentum = move((r @ by_hand.exp(change[:3]), p + change[3:]))
        return np.concatenate([by_hand.log(end.T @ new), momentum - after])

    columns = [
        (8 * (moved(e, 1) - moved(e, -1)) - (moved(e, 2) - moved(e, -2))) / (12 * size)
        for e in np.eye(6)
    ]
    jacobian = np.stack(columns, axis=1)
    pulled = jacobian.T @ symplectic_form(after) @ jacobian
    return float(np.abs(pulled - symplectic_form(p)).max())


def defects(method: str) -> tuple[float, float, float]:
    """(order of the defect of one free step, its value at the largest h, that of a control there).

    The control is a splitting that is symplectic: what it shows is the error of the measurement.
    """
    from scipy.spatial.transform import Rotation

    q, m = states(1)[0]
    start = matrix(q), np.array(m)

    def library(h: float) -> float:
        def move(state: by_hand.State) -> by_hand.State:
            q = tuple(Rotation.from_matrix(state[0]).as_quat(scalar_first=True).tolist())
            q, m = step(method)(h, (q, tuple(state[1].tolist())))
            return matrix(q), np.array(m)

        return symplectic_defect(move, start)

    control = symplectic_defect(
        lambda state: by_hand.axis_splitting(HALVINGS[0], state, INERTIA), start
    )
    return *order_of(library), control
