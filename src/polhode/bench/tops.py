"""Heavy tops for the benchmarks: one torque as a user would write it, and many random tops."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode import loops
from polhode.compiler.tree import flat
from polhode.contracts import OK, Method, Model
from polhode.loops.lanes import fixed
from polhode.loops.lanes.blocks import in_threads, pack, unpack
from polhode.models import heavy_top, torque

DT = 1e-3  # of the debris
AXES = (1.0, 0.0, 0.0, 0.0)  # principal axes are the body's own


def plain_torque(t, q, omega, params):
    """Return the torque of a heavy top as a user would write it."""
    w, x, y, z = q
    (strength,) = params
    return 2.0 * (y * z + w * x) * strength, -strength * (2.0 * (x * z - w * y)), 0.0


def busy_torque(t, q, omega, params):
    """A swaying weight and a spring that only pushes: sine, cosine, square root, a branch."""
    w, x, y, z = q
    (strength,) = params
    g1, g2 = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x)
    f = strength * (1.0 + 0.1 * math.sin(3.0 * t) * math.cos(g1))
    push = 0.5 * math.sqrt(1.0 + g2 * g2) if g2 > 0.0 else 0.0
    return f * g2 - push, -f * g1, 0.0


def rates(state: Any, inverse: Any, strength: Any) -> list:
    """Return (q', m') of heavy tops, for any kind of numbers: rows of NumPy's or JAX's arrays."""
    w, x, y, z, m1, m2, m3 = state
    o1, o2, o3 = m1 * inverse[0], m2 * inverse[1], m3 * inverse[2]
    return [
        -0.5 * (x * o1 + y * o2 + z * o3),
        0.5 * (w * o1 + y * o3 - z * o2),
        0.5 * (w * o2 + z * o1 - x * o3),
        0.5 * (w * o3 + x * o2 - y * o1),
        m2 * o3 - m3 * o2 + strength * (2.0 * (y * z + w * x)),
        m3 * o1 - m1 * o3 - strength * (2.0 * (x * z - w * y)),
        m1 * o2 - m2 * o1,
    ]


def solve_debris(members: int, steps: int, **given: Any) -> Any:
    """Solve an ensemble of fast tops, each with its own rate and strength; keep statistics."""
    import polhode as ph

    rate, strength = ph.distributions.Normal([0, 0, 50], 0.5), ph.distributions.Uniform(10, 30)
    vary = {"omega": rate, "model.strength": strength}
    given |= {"reduce": ["mean(omega)", "attitude", "extremes(speed)"], "reduce_times": 11}
    given |= {"vary": vary, "seed": 1, "save": None, "method": "mr2", "dt": DT}
    return ph.solve_ensemble(ph.problems.fast_top(), (0.0, steps * DT), members=members, **given)


HEAVY, PLAIN = heavy_top(20.0), torque(plain_torque, [20.0])
BUSY = torque(busy_torque, [20.0])


def body_of(inertia: Any) -> tuple:
    inertia = tuple(map(float, inertia))
    return inertia, tuple(1.0 / moment for moment in inertia), AXES, 1.0, 1.0


def part_of(weights: np.ndarray, h: float) -> Any:
    """Return the h of the first part of a step."""
    return h * weights[0] if weights.ndim == 1 else tuple((h * weights[0]).tolist())


def recorder(method: Method, model: Model, numbers: int = 7) -> Callable:
    """Return a call of the compiled loop: (steps, h, state, body, params) -> (state, iterations).

    A state has 7 numbers, or 13 with a position and a velocity.
    """
    run = loops.build(loops.record, method, model)
    start = loops.joined(method.start, None, model)
    weights, offsets = loops.substeps(method)
    out, sides = np.empty((1, numbers)), np.zeros(1)

    def go(steps: int, h: float, state: tuple, body: tuple, params: tuple) -> tuple:
        carry = start(0.0, part_of(weights, h), state, body, params)
        grid = 0.0, h, 0, np.array([steps]), sides, weights, offsets
        state, _, status, *_, iterations, _ = run(*grid, True, state, carry, body, params, out)
        assert status == OK
        return state, iterations

    return go


@dataclass(frozen=True)
class Tops:
    """Many tops: rows of quaternions, of momenta in body axes and of moments; strengths."""

    q: np.ndarray
    m: np.ndarray
    inertia: np.ndarray
    strength: np.ndarray

    @staticmethod
    def random(count: int, seed: int = 1, rate: float = 10.0) -> "Tops":
        """Tops with inertia, strength and start drawn for each."""
        random = np.random.default_rng(seed)
        a, b, c = random.uniform(0.5, 2.0, (3, count))
        inertia = np.array([b + c, c + a, a + b])
        q = random.normal(size=(4, count))
        m = inertia * random.normal(scale=rate, size=(3, count))
        return Tops(q / np.linalg.norm(q, axis=0), m, inertia, random.uniform(5.0, 50.0, count))

    def __len__(self) -> int:
        return len(self.strength)

    def first(self, count: int) -> "Tops":
        return Tops(*(x[..., :count] for x in (self.q, self.m, self.inertia, self.strength)))

    def symmetric(self) -> "Tops":
        """The same tops with two equal moments, symmetric about axis 3."""
        first, _, third = self.inertia
        inertia = np.array([first, first, np.minimum(third, 1.9 * first)])
        return Tops(self.q, self.m, inertia, self.strength)

    def members(self) -> Iterator[tuple]:
        """Yield (state, body, params) of each top."""
        for q, m, inertia, s in zip(self.q.T, self.m.T, self.inertia.T, self.strength, strict=True):
            state = tuple(q.tolist()), tuple(m.tolist())
            yield state, body_of(inertia), ((float(s),), ())


class Lanes:
    """Tops in SIMD lanes by the compiled loop of a method and a model."""

    def __init__(self, method: Method, model: Model, tops: Tops, h: float):
        self.method, self.tops, self.h = method, tops, h
        state, body, params = next(tops.members())
        params = params if model.numbers else ((), ())
        self.weights, self.offsets = loops.substeps(method)
        size = part_of(self.weights, h)
        carry = loops.joined(method.start, None, model)(0.0, size, state, body, params)
        self.slots = fixed.slots_of(method, state, carry, body, params)
        first, _, third = self.places = fixed.places(self.slots)
        columns: list = list(flat(self.slots))
        columns[first : first + 7] = [*tops.q, *tops.m]
        columns[third : third + 6] = [*tops.inertia, *(1.0 / tops.inertia)]
        if model.numbers:
            columns[-1] = tops.strength
        self.work = pack(columns, len(tops))
        begin = fixed.build(fixed.start_lanes, method, model)
        begin(self.work, 0.0, h, self.weights, (), self.slots)
        self.start = self.work.copy()
        self.compiled = fixed.build(fixed.advance_lanes, method, model)

    def reset(self) -> None:
        self.work[:] = self.start

    def advance(self, steps: int, threads: int = 1, blocks: np.ndarray | None = None) -> None:
        """Advance all tops, or those in some blocks, from where they are."""
        grid = 0.0, self.h, self.h, 0, steps, self.weights, self.offsets

        def run(blocks: np.ndarray) -> None:
            room = np.empty_like(blocks[0])
            self.compiled(blocks, room, (*self.places[:2], 1), *grid, (), self.slots)

        in_threads(run, self.work if blocks is None else blocks, threads)

    def states(self) -> np.ndarray:
        """Return rows of q and m, with a column for each top."""
        first = self.places[0]
        return unpack(self.work, len(self.tops), first, first + 7)

    def iterations(self) -> float:
        """Return all iterations of Newton's method together."""
        return float(unpack(self.work, len(self.tops), fixed.COUNT, fixed.COUNT + 1).sum())
