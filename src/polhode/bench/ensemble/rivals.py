"""The same map in C with explicit vectors, in JAX, and one body after another; and slices of it."""

import ctypes
import os
from collections.abc import Callable
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from polhode.bench.in_c import compilers, workshop
from polhode.bench.peers import peer
from polhode.bench.timing import Times
from polhode.bench.tops import Lanes, Tops, recorder
from polhode.compiler.machine import LANES
from polhode.loops.lanes.blocks import pack, unpack

H, STEPS = 5e-3, 50
SLICE = 16  # blocks in one sample
WIDTHS = 4, 8, 16
STRICT = "-O3", "-march=native", "-ffp-contract=off", "-Wno-psabi"
FAST = "-O3", "-march=native", "-ffast-math", "-Wno-psabi"
PLAIN_C = "-O3", "-march=native"
SAME, FASTEST, ONE = "C, same operations", "C, fastest", "C, one by one, libm"
SAME_SHORT, FASTEST_SHORT = "C, same operations, short turns", "C, fastest, short turns"
KINDS = {  # -> function in ensemble.c, sets of flags, widths
    SAME: ("same_operations", (STRICT,), WIDTHS),
    SAME_SHORT: ("same_short", (STRICT,), WIDTHS),
    FASTEST: ("fastest", (FAST,), WIDTHS),
    FASTEST_SHORT: ("fastest_short", (FAST,), WIDTHS),
    ONE: ("one_after_another", (PLAIN_C, FAST), (4,)),
}


class InC:
    """The tops in the layout of ensemble.c, and a function of it."""

    def __init__(self, library: ctypes.CDLL, name: str, tops: Tops, torque: np.ndarray):
        array = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")
        self.function, self.in_two_threads = getattr(library, name), library.same_in_two_threads
        for each in (self.function, self.in_two_threads):
            each.restype = None
            each.argtypes = array, ctypes.c_long, ctypes.c_long, ctypes.c_double
        rows = [*tops.q, *tops.m, *(1.0 / tops.inertia), tops.strength, *torque]
        self.bodies, self.start = len(tops), pack(rows, len(tops))
        self.work = self.start.copy()

    def reset(self) -> None:
        self.work[:] = self.start

    def advance(self, steps: int, threads: int = 1, blocks: np.ndarray | None = None) -> None:
        """Advance the tops; only the same operations can be had in two threads."""
        given = self.work if blocks is None else blocks
        function = self.function if threads == 1 else self.in_two_threads
        function(given, len(given), steps, H)

    def states(self) -> np.ndarray:
        return unpack(self.work, self.bodies, 0, 7)


def in_c(tops: Tops, ours: Lanes) -> dict[tuple[str, str], InC]:
    """All variants in C by (kind, compiler and flags); the same operations must give our bits."""
    _, second, _ = ours.places
    torque = unpack(ours.start, len(tops), second, second + 3)
    found = {}
    ours.reset()
    ours.advance(STEPS)
    expected = ours.states()
    with workshop() as shop:
        for kind, (name, flags, widths) in KINDS.items():
            for compiler in compilers():
                for each in flags:
                    for width in widths:
                        sizes = f"-DWIDTH={width}", f"-DLANES={LANES}"
                        library = shop.library(compiler, (*each, *sizes), "ensemble.c")
                        made = InC(library, name, tops, torque)
                        made.advance(STEPS)
                        off = difference(made.states(), expected)
                        same = np.array_equal(made.states(), expected)
                        assert off < 1e-10, f"{kind}, {compiler}: wrong by {off}"
                        assert same or each is not STRICT, f"{compiler}, width {width}: other bits"
                        fast = ", fast-math" if each is FAST else ""
                        wide = f", width {width}" if len(widths) > 1 else ""
                        found[kind, f"{compiler}{wide}{fast}"] = made
    return found


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """The difference of rows (q, m), up to the sign of q; momenta relative to the largest."""
    q = np.minimum(abs(a[:4] - b[:4]).max(axis=0), abs(a[:4] + b[:4]).max(axis=0)).max()
    return float(max(q, abs(a[4:] - b[4:]).max() / abs(b[4:]).max()))


def in_jax(tops: Tops) -> Callable[[], np.ndarray] | None:
    """Return a call that returns the states after the steps, or None without JAX."""
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ.setdefault("XLA_FLAGS", flags)
    jax = peer("JAX")
    if jax is None:
        return None
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    def turn(half, w, x, y, z, m2, m3):
        s, c = jnp.sin(half), jnp.cos(half)
        s2, c2 = 2.0 * s * c, 1.0 - 2.0 * s * s
        w, x, y, z = w * c - x * s, x * c + w * s, y * c + z * s, z * c - y * s
        return w, x, y, z, m2 * c2 + m3 * s2, m3 * c2 - m2 * s2

    def step(state, inverse, strength):
        w, x, y, z, m1, m2, m3 = state
        f1, f2, f3 = H / 4 * inverse[0], H / 4 * inverse[1], H / 2 * inverse[2]
        w, x, y, z, m2, m3 = turn(f1 * m1, w, x, y, z, m2, m3)
        w, y, z, x, m3, m1 = turn(f2 * m2, w, y, z, x, m3, m1)
        w, z, x, y, m1, m2 = turn(f3 * m3, w, z, x, y, m1, m2)
        w, y, z, x, m3, m1 = turn(f2 * m2, w, y, z, x, m3, m1)
        w, x, y, z, m2, m3 = turn(f1 * m1, w, x, y, z, m2, m3)
        return kicked(H, (w, x, y, z, m1, m2, m3), strength)

    def kicked(h, state, strength):
        w, x, y, z, m1, m2, m3 = state
        m1 = m1 + 2.0 * h * strength * (y * z + w * x)
        m2 = m2 - 2.0 * h * strength * (x * z - w * y)
        return w, x, y, z, m1, m2, m3

    def run(state, inverse, strength):
        def body(state, _):
            return step(state, inverse, strength), None

        state = kicked(H / 2, tuple(state), strength)
        state, _ = jax.lax.scan(body, state, length=STEPS)
        return jnp.stack(kicked(-H / 2, state, strength))

    many = jax.jit(jax.vmap(run, in_axes=(1, 1, 0), out_axes=1))
    given = [jnp.asarray(x) for x in (np.vstack([tops.q, tops.m]), 1 / tops.inertia, tops.strength)]
    return lambda: np.asarray(many(*given).block_until_ready())


# ---- for several tables: blocks in short slices, and one body after another
def in_slices(key: tuple[str, str], made: Lanes | InC) -> dict[Any, tuple[Callable, float]]:
    """Calls that advance ``SLICE`` blocks each; short samples find quiet moments."""
    slices: dict[Any, tuple[Callable, float]] = {}
    for k in range(0, len(made.work), SLICE):
        part = made.work[k : k + SLICE]
        slices[*key, k] = partial(made.advance, STEPS, 1, part), len(part) * LANES * STEPS
    return slices


def over_slices(found: dict[Any, Times]) -> dict[Any, Times]:
    """The means over the slices of a variant: of the best times, the second best, and so on."""
    groups: dict[Any, list[Times]] = {}
    for (*key, _), taken in found.items():
        groups.setdefault(tuple(key), []).append(taken)
    return {
        key: Times(tuple(map(fmean, zip(*(sorted(each.ns) for each in group), strict=True))))
        for key, group in groups.items()
    }


def one_by_one(method: Any, model: Any, tops: Tops, steps: int = STEPS, h: float = H) -> Callable:
    """Return the compiled loop of one body, over some of the tops."""
    record, members = recorder(method, model), list(tops.members())
    empty: tuple = ((), ())

    def go() -> int:
        total = 0
        for state, body, params in members:
            total += record(steps, h, state, body, params if model.numbers else empty)[1]
        return total

    return go
