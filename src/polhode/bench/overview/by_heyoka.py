"""heyoka's Taylor series in its best forms, ``fast_math=True``, compiled beforehand."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from polhode.bench.overview.cases import (
    HEAVY,
    RATE,
    SATELLITE,
    TOP,
    Case,
    Run,
    decades,
    gradient,
    to_the_earth,
    turning,
)
from polhode.bench.peers import peer
from polhode.bench.time_to_accuracy import heyoka
from polhode.kernels.quaternion import product

Form = tuple[str, list, np.ndarray, Callable]  # name, equations, start, attitude of a state


def forms(case: Case, quick: bool) -> Iterator[Form]:
    """Yield the equations in every form that may be the fastest; in a quick run the likely one."""
    if case.name == TOP:
        for form in ("axes",) if quick else ("axes", "quaternion"):
            attitude = partial(heyoka.attitude, form)
            yield form, HEAVY.equations(form), HEAVY.start(form), attitude
        return
    if case.name == SATELLITE:
        yield beside_the_orbit(case)
        if quick:
            return
    yield "quaternion", case.equations(), np.array(case.start), lambda state: state[:4]


def beside_the_orbit(case: Case) -> Form:
    """The attitude against axes that turn with the orbit, which needs no sines and cosines."""
    w, x, y, z, a, b, c = state = peer("heyoka").make_vars("w", "x", "y", "z", "a", "b", "c")
    u, f = to_the_earth(w, x, y, z, 1.0, 0.0), 0.5 * RATE
    own, frame = turning((w, x, y, z), (a, b, c)), (f * z, f * y, -f * x, -f * w)
    rates = [p + r for p, r in zip(own, frame, strict=True)] + list(gradient(u, (a, b, c)))
    half = 0.5 * RATE * case.end
    turn = math.cos(half), 0.0, 0.0, math.sin(half)
    system = list(zip(state, rates, strict=True))
    return "orbital axes", system, np.array(case.start), lambda s: product(turn, tuple(s[:4]))


def first_of(attitude: Callable, end: Any) -> Any:
    """Return the attitude of the first of several states."""
    return attitude(end[0])


def by_heyoka(case: Case, quick: bool) -> Iterator[Run]:
    for form, system, first, attitude in forms(case, quick):
        for tolerance in (*decades(4, 15, quick), 2.3e-16):
            call = partial(heyoka.taylor(system, first, tolerance), case.end)
            setting = f"tol {tolerance:.0e}"
            yield Run("heyoka", form, setting, call, partial(first_of, attitude))
