"""Measurements of section V of Boyle (2017): integration by generators in other Lie groups."""

from math import comb
from typing import Any

import numpy as np

from polhode import lie
from polhode.papers.boyle2017 import by_hand
from polhode.papers.boyle2017.formulas import EXACT, gap, samples
from polhode.papers.boyle2017.laboratory import Laboratory
from polhode.papers.rotations import skew
from polhode.papers.verdicts import Measured, below, judge, largest, series

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
    text = "SO⁺(3,1), 4x4 matrices: R' R⁻¹ by differences and by (15) differ by {:.0e}"
    return below(1e-9, text, gap(found, total))


def truncation(_: Laboratory) -> Measured:
    group = lie.SO3("left")
    a, b = 1.5 * samples(2) / np.linalg.norm(samples(2), axis=1, keepdims=True)
    closed = group.dexpinv(a, b)
    errors = [gap(lie.dexpinv_series(group.bracket, a, b, n), closed) for n in (3, 7, 13, 29)]
    back = gap(by_hand.rate_of(by_hand.pure(a / 2), by_hand.pure(closed / 2))[1:], b)
    text = (
        f"turn of 1.5 rad: 3, 7, 13, 29 terms of the series err by {series(errors, '.0e')}; the"
        f" closed form, put into (17), by {back:.0e}"
    )
    return text, judge(back < EXACT and errors[0] > 1e-4 and errors[-1] < 1e-9)


def nilpotent(_: Laboratory) -> Measured:
    a, b = np.triu(samples(5, 5), 1), np.triu(samples(5, 5, seed=12), 1)
    two, four, many = (lie.dexpinv_series(_bracket, a, b, n) for n in (2, 4, 29))
    first, last = gap(two, many), gap(four, many)
    text = f"triangular 5x5 matrices: 2 terms err by {first:.1g}, 4 terms by {last:.0e} of 29"
    return text, judge(last == 0.0 < first)


def enveloping(_: Laboratory) -> Measured:
    p, q = samples(4, 4) / 4, samples(4, 4, seed=13) / 4
    worst, power = 0.0, q
    for k in range(1, 8):
        power = _bracket(p, power)
        worst = max(worst, gap(power, by_hand.enveloping_power(p, q, k)))
    return below(EXACT, "4x4 matrices, k = 1 … 7: {:.0e}", worst)


def collapse(_: Laboratory) -> Measured:
    p, q = by_hand.pure(samples(2))
    scalar, *vector = by_hand.product(p, p)
    apart = gap(by_hand.powers(p, q, 3), -4 * by_hand.square(p) * by_hand.bracket(p, q))
    text = f"p p = {scalar:.3f}, its vector part {largest(vector):.0e}; {apart:.0e}"
    return text, judge(largest(vector) < EXACT and apart < EXACT)


def three_dimensions(_: Laboratory) -> Measured:
    a = np.array([0.9j, 0.3j, 0.2 + 0j])  # SO(2,1): two boosts and a rotation
    x = np.array([-0.2j, 0.5j, 0.4 + 0j])
    square = complex(a @ a).real
    _path, error = _straight(a, x, 2.0, 1e-10)
    text = f"SO(2,1), a·a = {square:.2f} < 0: a path of known end comes out to {error:.0e}"
    return text, judge(error < 1e-8 and square < 0)


def complex_(_: Laboratory) -> Measured:
    from scipy.linalg import expm

    a, b = 0.7 * GENERATORS
    slope = LORENTZ.dexpinv(a, b)
    moved = by_hand.differentiate(lambda t: expm(_matrix(a + t * slope)), 0.0, 0.01)
    apart = gap(moved @ expm(-_matrix(a)), _matrix(b))
    _path, error = _straight(a, b, 2.0, 1e-10)
    text = (
        f"SO⁺(3,1): (18) is right to {apart:.0e} by differences of matrices; a path of known end"
        f" comes out to {error:.0e}"
    )
    return text, judge(apart < 1e-9 and error < 1e-7)


def fewer_equations(_: Laboratory) -> Measured:
    counts = {n: (comb(n, 2), 2 ** (n - 1)) for n in range(2, 11)}
    text = ", ".join(f"n = {n}: {a} and {b}" for n, (a, b) in counts.items() if n in (3, 4, 6, 10))
    shares = [a / b for a, b in counts.values()]
    return text, judge(max(shares) < 1 and shares[-1] < shares[1] / 5)


def accurate_in_groups(_: Laboratory) -> Measured:
    a, x = 0.5 * GENERATORS
    found = [(tol, *_straight(a, x, 3.0, tol)) for tol in (1e-6, 1e-9, 1e-12)]
    text = "SO⁺(3,1), adaptive: " + ", ".join(
        f"error {error:.0e} in {path.nfev} evaluations" for _, path, error in found
    )
    errors = [error for *_, error in found]
    return text, judge(errors[-1] < 1e-9 and errors[0] > errors[1] > errors[2])
