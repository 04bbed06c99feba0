"""Measurements of what Boyle (2017) suggests and did not try: projection, noise, beams, groups."""

from collections.abc import Callable

import numpy as np

from polhode import lie
from polhode.papers.boyle2017 import by_hand
from polhode.papers.boyle2017.courses import in_words
from polhode.papers.boyle2017.formulas import gap, samples
from polhode.papers.boyle2017.laboratory import (
    BEAM,
    DP,
    PROJECTED,
    ROTOR,
    TWO,
    Laboratory,
    distance,
    spread,
)
from polhode.papers.quaternions import cross, inverse, product, pure, square
from polhode.papers.verdicts import Measured, holds_if, series
from polhode.solvers.samples import integrate_samples

NOISES = 1e-6, 1e-4, 1e-2, 1e-1  # of a sample, relative to the orbital rate


# ---- projection
def gram_schmidt(lab: Laboratory) -> Measured:
    study = lab.projected
    plain, forced = ((DP, name) for name in (TWO, PROJECTED))
    gains, costs = (
        study.numbers(*forced, of) / study.numbers(*plain, of) for of in ("worst", "evaluations")
    )
    errors = study.whole(*study.runs)
    to_plain, to_rotor = (study.course(forced, (DP, name), errors) for name in (TWO, ROTOR))
    helps = gains[0] < 0.5 and abs(costs - 1).max() < 0.05 and to_plain.mean < 1
    tolerances = in_words(np.array(study.tolerances))
    shown = tolerances, spread(gains), spread(costs, ".3f"), in_words(errors), to_plain, to_rotor
    return holds_if(helps and to_rotor.mean > 1.3, *shown)


# ---- noise
def _sample_times(orbits: int, per_orbit: int) -> np.ndarray:
    return np.linspace(0.0, 1000.0 * orbits, per_orbit * orbits + 1)


def _noisy(rates: np.ndarray, noise: float, count: int) -> np.ndarray:
    """Return samples (count, times, 3) with white noise, in units of the orbital rate."""
    random = np.random.default_rng(20170519).normal(size=(count, *rates.shape))
    return rates + noise * by_hand.ORBIT * random


def _typical(errors: np.ndarray) -> float:
    """Return the root mean square over trials of the largest error in each."""
    return float(np.sqrt((errors.max(axis=-1) ** 2).mean()))


def noisy_gyros(lab: Laboratory) -> Measured:
    orders, trials = (2, 4, 6, 8), 4 if lab.quick else 16
    times = _sample_times(20, 64)
    rotors = by_hand.binary(times)
    exact, start = by_hand.frame(rotors), rotors[0]
    in_body = by_hand.rotate(inverse(rotors), by_hand.binary_rate(times))
    table = {}
    for noise in (0.0, *NOISES):
        rates = _noisy(in_body, noise, trials if noise else 1)
        for order in orders:
            options = {"order": order, "attitude": start, "scalar_first": True}
            runs = [
                integrate_samples(r, times, frame="body", kind="rate", **options) for r in rates
            ]
            found = np.array([distance(by_hand.frame(run.q), exact) for run in runs])
            table[noise, order] = _typical(found)
    best = {noise: min(table[noise, n] for n in orders) for noise in NOISES}
    enough = {n: [x for x in NOISES if table[x, n] < 1.1 * best[x]] for n in orders}
    harm = max(table[x, 8] / best[x] for x in NOISES)
    shown = [series((table[noise, n] for n in orders), ".1e") for noise in (0.0, *NOISES)]
    better = all(table[x, 2] < 0.9 * table[x, 8] for x in NOISES[-2:])
    good_enough = 1e-1 in enough[2] and 1e-4 not in enough[2] and 1e-4 in enough[4] and harm < 1.1
    numbers = min(enough[2]), min(enough[4]), harm
    return holds_if(better, *shown, *numbers, corrected=good_enough)


def _slope_of_vectors(rate: float) -> Callable:
    """Make the slope of two vectors, (1), damped by (2) and (3) at a rate."""

    def slope(y: np.ndarray, omega: np.ndarray) -> np.ndarray:
        a, b = y[:, :3], y[:, 3:]
        u = cross(a, cross(b, a))
        u = u / np.linalg.norm(u, axis=1, keepdims=True)
        da, db = (cross(omega, v) + rate * (1 - square(v)) * v for v in (a, b))
        return np.concatenate([da, db + rate * (u - b)], axis=1)

    return slope


def _slope_of_rotor(y: np.ndarray, omega: np.ndarray) -> np.ndarray:
    return product(pure(omega), y) / 2


def _euler(slope: Callable, y: np.ndarray, h: float, rates: np.ndarray) -> np.ndarray:
    return y + 2 * h * slope(y, rates[0])


def _heun(slope: Callable, y: np.ndarray, h: float, rates: np.ndarray) -> np.ndarray:
    first = slope(y, rates[0])
    return y + h * (first + slope(y + 2 * h * first, rates[2]))


def _kutta(slope: Callable, y: np.ndarray, h: float, rates: np.ndarray) -> np.ndarray:
    first = slope(y, rates[0])
    second = slope(y + h * first, rates[1])
    third = slope(y + h * second, rates[1])
    fourth = slope(y + 2 * h * third, rates[2])
    return y + h / 3 * (first + 2 * second + 2 * third + fourth)


LOW_ORDERS = {1: _euler, 2: _heun, 4: _kutta}  # of two samples each


def _integrated(step: Callable, slope: Callable, first: np.ndarray, rates: np.ndarray, h: float):
    """Return the end of a run over samples (trials, times, 3) in steps of two samples."""
    y = np.repeat(first[None], len(rates), axis=0)
    moved = np.swapaxes(rates, 0, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(0, len(moved) - 2, 2):
            y = step(slope, y, h, moved[k : k + 3])
    return y


def _errors_of(order: int, noise: float, trials: int) -> dict[str, float]:
    """The errors of vectors, of the best damped ones, and of the rotor after five orbits."""
    times = _sample_times(5, 256)
    rates = _noisy(by_hand.binary_rate(times), noise, trials)
    h, step = times[1], LOW_ORDERS[order]
    begin, end = by_hand.binary(0.0), by_hand.frame(by_hand.binary(times[-1]))
    vectors = by_hand.frame(begin)[:2].ravel()

    def error(frames: np.ndarray) -> float:
        return float(np.sqrt((distance(frames, end) ** 2).mean()))

    def of_vectors(rate: float) -> float:
        y = _integrated(step, _slope_of_vectors(rate), vectors, rates, h)
        pairs = y.reshape(-1, 2, 3)
        return error(np.concatenate([pairs, np.cross(pairs[:, :1], pairs[:, 1:])], axis=1))

    damped = [of_vectors(rate / h) for rate in (0.003, 0.03, 0.3)]
    rotor = error(by_hand.frame(_integrated(step, _slope_of_rotor, begin, rates, h)))
    return {"plain": of_vectors(0.0), "damped": float(np.nanmin(damped)), "rotor": rotor}


def noisy_damping(lab: Laboratory) -> Measured:
    trials = 4 if lab.quick else 16
    found = {
        (order, noise): _errors_of(order, noise, trials)
        for order in LOW_ORDERS
        for noise in (0.0, 1e-2, 1e-1)
    }
    shown = [
        ", ".join(
            "/".join(f"{x:.2g}" for x in found[order, noise].values()) for order in LOW_ORDERS
        )
        for noise in (0.0, 1e-2, 1e-1)
    ]
    helps = found[1, 1e-2]["damped"] < 0.1 * found[1, 1e-2]["plain"]
    ratios = {case: x["damped"] / x["rotor"] for case, x in found.items()}
    odd = ratios.pop((1, 1e-1))
    better = helps and min(ratios.values()) > 0.95
    return holds_if(
        better and odd > 0.95, *shown, spread(ratios.values()), odd, corrected=better and odd > 0.7
    )


# ---- beams
def beams(lab: Laboratory) -> Measured:
    runs = [lab.integrate(BEAM, DP, ROTOR, tol, BEAM.span[1]) for tol in (1e-6, 1e-9, 1e-12)]
    errors = [run.worst for run in runs]
    frames, line = _elastica()
    good = errors[-1] < 1e-10 and max(frames, line) < 1e-9
    return holds_if(good, series(errors, ".0e"), frames, line)


def _elastica() -> tuple[float, float]:
    """Errors of frame and centre line of a bent strip, R' = R k, x' = R e₁, against closed forms.

    θ = 2 arcsin(k sn s), κ = 2k cn s, x = 2E(am s) - s, y = 2k (1 - cn s).
    """
    from scipy.special import ellipeinc, ellipj

    k, end = 0.8, 8.0
    group = lie.SE3("right")

    def rate(s: float) -> np.ndarray:
        return np.array([0.0, 0.0, 2 * k * ellipj(s, k * k)[1], 1.0, 0.0, 0.0])

    path = lie.integrate(group, rate, (0.0, end), rtol=1e-12, atol=1e-14)
    sn, cn, _, am = ellipj(path.t, k * k)
    angle = 2 * np.arcsin(k * sn)
    tangent = np.stack([np.cos(angle), np.sin(angle)], -1)
    place = np.stack([2 * ellipeinc(am, k * k) - path.t, 2 * k * (1 - cn)], -1)
    moved = path.act([0.0, 0.0, 0.0])
    return gap((path.act([1.0, 0.0, 0.0]) - moved)[:, :2], tangent), gap(moved[:, :2], place)


# ---- other groups
def conformal(_: Laboratory) -> Measured:
    group = lie.Conformal("left")
    a, x = 0.2 * np.concatenate([samples(2, 9), samples(2, 6, seed=4)], axis=1)
    found = []
    for tol in (1e-6, 1e-9, 1e-12):
        path = lie.integrate(
            group, lambda t: group.adjoint(group.exp(t * x), a), (0.0, 3.0), rtol=tol, atol=tol
        )
        right = group.compose(group.exp(3 * x), group.exp(3 * (a - x)))
        found += [gap(group.matrix(path.y[-1]), group.matrix(right)), path.nfev]
    ad = np.array([group.bracket(a, unit) for unit in np.eye(len(a))]).T
    values = np.linalg.eigvals(ad)
    different = len({complex(np.round(value, 6)) for value in values})
    rigid, omega, v = lie.SE3("left"), *samples(2, seed=8)
    moved = group.act(group.exp(group.generator(omega, shift=[0.0, *v])), [0.0, *v])
    shift = gap(moved[1:], rigid.act(rigid.exp([*omega, *v]), v))
    good = found[4] < 1e-9 and found[0] > found[2] > found[4] and shift < 1e-13
    return holds_if(good, *found, shift, different)
