"""Measurements of section V of Boyle (2017): integration by generators in other Lie groups."""

from math import comb
from typing import Any

import numpy as np

from polhode import lie
from polhode.papers.boyle2017 import by_hand
from polhode.papers.boyle2017.formulas import EXACT, gap, samples
from polhode.papers.boyle2017.laboratory import Laboratory
from polhode.papers.quaternions import product, pure, square
from polhode.papers.rotations import skew
from polhode.papers.verdicts import Measured, below, holds_if, largest

LORENTZ: Any = lie.Lorentz("left")
GENERATORS = samples(2) + 1j * samples(2, seed=9)  # rotation and boost


def _matrix(a: np.ndarray) -> np.ndarray:
    """ω + i b as a matrix on (t, x, y, z)."""
    boosts = np.outer([1, 0, 0, 0], [0, *a.imag])
    turns = np.zeros((4, 4))
    turns[1:, 1:] = skew(a.real)
    return boosts + boosts.T + turns


def _straight(a: np.ndarray, x: np.ndarray, end: float, rtol: float) -> tuple[Any, float]:
    """(path, error) of A(t) = Ad_exp(tX) A0, whose solution is exp(tX) exp(t (A0 - X))."""
    path = lie.integrate(
        LORENTZ, lambda t: LORENTZ.adjoint(LORENTZ.exp(t * x), a), (0.0, end), rtol=rtol, atol=rtol
    )
    right = LORENTZ.compose(LORENTZ.exp(end * x), LORENTZ.exp(end * (a - x)))
    return path, gap(LORENTZ.matrix(path.y[-1]), LORENTZ.matrix(right))


def _bracket(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a @ b - b @ a


def any_group(_: Laboratory) -> Measured:
    from scipy.linalg import expm

    r, slope = 0.6 * _matrix(GENERATORS[0]), _matrix(GENERATORS[1])
    found = by_hand.differentiate(lambda t: expm(r + t * slope), 0.0, 0.01) @ expm(-r)
    total, term = np.zeros((4, 4)), slope
    for k in range(1, 40):
        total = total + term / k  # ∫ s^(k-1) ds / (k-1)!
        term = _bracket(r, term) / k
    return below(1e-9, gap(found, total))


def truncation(_: Laboratory) -> Measured:
    group = lie.SO3("left")
    a, b = 1.5 * samples(2) / np.linalg.norm(samples(2), axis=1, keepdims=True)
    closed = group.dexpinv(a, b)
    errors = [gap(lie.dexpinv_series(group.bracket, a, b, n), closed) for n in (3, 7, 13, 29)]
    back = gap(by_hand.rate_of(pure(a / 2), pure(closed / 2))[1:], b)
    return holds_if(back < EXACT and errors[0] > 1e-4 and errors[-1] < 1e-9, *errors, back)


def nilpotent(_: Laboratory) -> Measured:
    a, b = np.triu(samples(5, 5), 1), np.triu(samples(5, 5, seed=12), 1)
    two, four, many = (lie.dexpinv_series(_bracket, a, b, n) for n in (2, 4, 29))
    first, last = gap(two, many), gap(four, many)
    return holds_if(last == 0.0 < first, first, last)


def enveloping(_: Laboratory) -> Measured:
    p, q = samples(4, 4) / 4, samples(4, 4, seed=13) / 4
    worst, power = 0.0, q
    for k in range(1, 8):
        power = _bracket(p, power)
        worst = max(worst, gap(power, by_hand.enveloping_power(p, q, k)))
    return below(EXACT, worst)


def collapse(_: Laboratory) -> Measured:
    p, q = pure(samples(2))
    scalar, *vector = product(p, p)
    apart = gap(by_hand.powers(p, q, 3), -4 * square(p) * by_hand.bracket(p, q))
    return holds_if(largest(vector) < EXACT and apart < EXACT, scalar, largest(vector), apart)


def three_dimensions(_: Laboratory) -> Measured:
    a = np.array([0.9j, 0.3j, 0.2 + 0j])  # SO(2,1): two boosts and a rotation
    x = np.array([-0.2j, 0.5j, 0.4 + 0j])
    square = complex(a @ a).real
    _path, error = _straight(a, x, 2.0, 1e-10)
    return holds_if(error < 1e-8 and square < 0, square, error)


def complex_(_: Laboratory) -> Measured:
    from scipy.linalg import expm

    a, b = 0.7 * GENERATORS
    slope = LORENTZ.dexpinv(a, b)
    moved = by_hand.differentiate(lambda t: expm(_matrix(a + t * slope)), 0.0, 0.01)
    apart = gap(moved @ expm(-_matrix(a)), _matrix(b))
    _path, error = _straight(a, b, 2.0, 1e-10)
    return holds_if(apart < 1e-9 and error < 1e-7, apart, error)


def fewer_equations(_: Laboratory) -> Measured:
    counts = {n: (comb(n, 2), 2 ** (n - 1)) for n in range(2, 11)}
    shares = [a / b for a, b in counts.values()]
    shown = [count for n in (3, 4, 6, 10) for count in counts[n]]
    return holds_if(max(shares) < 1 and shares[-1] < shares[1] / 5, *shown)


def accurate_in_groups(_: Laboratory) -> Measured:
    a, x = 0.5 * GENERATORS
    found = [_straight(a, x, 3.0, tol) for tol in (1e-6, 1e-9, 1e-12)]
    first, second, third = (error for _, error in found)
    shown = [number for path, error in found for number in (error, path.nfev)]
    return holds_if(third < 1e-9 and first > second > third, *shown)
