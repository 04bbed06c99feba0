"""Measurements of sections II to IV of Boyle (2017): vectors, rotors and generators as formulas."""

from math import fsum

import numpy as np

from polhode.contracts import square_size
from polhode.formulations import FORMULATIONS, vectors2_damped
from polhode.formulations.equations import given
from polhode.formulations.generator_reset import reset
from polhode.formulations.vectors3 import rate as rate_of_three
from polhode.kernels.so3 import dexpinv
from polhode.papers.boyle2017 import by_hand
from polhode.papers.boyle2017.by_hand import (
    binary,
    binary_rate,
    binary_slope,
    bracket,
    differentiate,
    exponential,
    frame,
    rotate,
)
from polhode.papers.boyle2017.courses import in_words
from polhode.papers.boyle2017.laboratory import (
    BINARY,
    DP,
    EARLY,
    NAIVE,
    ROTOR,
    THREE,
    TWO,
    Laboratory,
    Run,
    Study,
    distance,
    frames,
    spread,
)
from polhode.papers.counted import Counted, count_operations
from polhode.papers.quaternions import conjugate, cross, inverse, product, pure, square, times
from polhode.papers.rotations import skew
from polhode.papers.verdicts import Measured, below, holds_if, largest

EXACT = 1e-13  # rounding of a few dozen operations on numbers of size 1
DIFFERENCE = 1e-10  # differences of order 8
VISIBLE = 1e-3


def samples(count: int, width: int = 3, seed: int = 17) -> np.ndarray:
    """Seeded normal numbers in rows."""
    return np.random.default_rng(seed).normal(size=(count, width))


def gap(a, b) -> float:
    """Return the largest difference."""
    return largest(np.asarray(a) - np.asarray(b))


# ---- section II
def matrix(_: Laboratory) -> Measured:
    omega, columns = samples(1)[0], np.linalg.qr(samples(3))[0]
    found = np.reshape(rate_of_three(tuple(columns.T.ravel()), tuple(omega)), (3, 3)).T
    return below(EXACT, gap(found, skew(omega) @ columns))


def redundant(lab: Laboratory) -> Measured:
    counts, errors = (
        lab.study.numbers(DP, TWO, of) / lab.study.numbers(DP, THREE, of)
        for of in ("evaluations", "worst")
    )
    more = counts - 1
    shown = spread(100 * more, ".1f"), spread(errors)
    return holds_if(max(more.max(), errors.max() - 1) < 0, *shown, corrected=more.max() < -0.05)


def violations(lab: Laboratory) -> Measured:
    run = lab.study.runs[DP, THREE][1]
    squares = np.einsum("tij,tkj->tik", *2 * (frames(THREE, run.y),))
    off = distance(squares, np.eye(3))
    early = float(off[run.t <= lab.end / 10].max())
    shown = lab.tolerances[1], early, lab.end / 1e4, off[-1], lab.end / 1e3
    return holds_if(off[-1] > 3 * early, *shown)


def _decay(length: float, angle: float, start: np.ndarray, watch) -> float:
    """Return the rate at which a small violation decays without any rotation."""
    rate = vectors2_damped.damped(length, angle)
    y, h, values = start, 1e-3, []
    for _ in range(2):
        values.append(watch(y))
        for _ in range(100):
            k1 = np.array(rate(tuple(y), (0.0, 0.0, 0.0)))
            k2 = np.array(rate(tuple(y + h * k1 / 2), (0.0, 0.0, 0.0)))
            y = y + h * k2
    return float(np.log(values[0] / values[1]) / 0.1)


def damping_lengths(_: Laboratory) -> Measured:
    start = np.array([1 + 1e-6, 0, 0, 0, 1, 0])
    found = _decay(1.0, 0.0, start, lambda y: np.linalg.norm(y[:3]) - 1)
    return holds_if(abs(found - 1) < 0.01, found, corrected=abs(found - 2) < 0.01)


def damping_angle(_: Laboratory) -> Measured:
    start = np.array([1, 0, 0, 1e-6, 1, 0])
    found = _decay(0.0, 1.0, start, lambda y: y[:3] @ y[3:])
    return holds_if(abs(found - 1) < 0.01, found)


def damping_idle(_: Laboratory) -> Measured:
    turn, omega = np.linalg.qr(samples(3))[0], tuple(samples(1)[0])
    y = tuple(turn[:2].ravel())
    damped = vectors2_damped.damped(1.0, 1.0)(y, omega)
    return below(EXACT, gap(damped, FORMULATIONS[TWO].rate(y, omega)))


def stiff(lab: Laboratory) -> Measured:
    weak, strong = lab.damped["weak"], lab.damped["strong"]

    def relative(study: Study, kind: str, of: str) -> np.ndarray:
        return study.numbers(DP, kind, of) / study.numbers(DP, TWO, of)

    slow = relative(strong, "strong", "evaluations").min()
    cost, error = (relative(weak, "weak", of) for of in ("evaluations", "worst"))
    saved = weak.course((DP, "weak"), (DP, TWO), weak.whole(*weak.runs))
    idle = error.max() < 0.7 and cost.max() < 1.2
    ranges = [in_words(np.array(study.tolerances)) for study in (strong, weak)]
    shown = ranges[0], slow, ranges[1], spread(cost), spread(error), in_words(saved.errors), saved
    return holds_if(slow > 30 and not idle, *shown, corrected=slow > 30 and idle)


# ---- section III
def rotation(_: Laboratory) -> Measured:
    from scipy.spatial.transform import Rotation

    rotor, v = 3 * samples(8, 4), samples(8, seed=3)
    sizes, norms = np.linalg.norm(rotor[:, 1:], axis=1), np.sqrt(square(rotor))
    axis, angle = rotor[:, 1:] / sizes[:, None], 2 * np.arctan2(sizes, rotor[:, 0])
    apart = gap(rotate(rotor, v), Rotation.from_rotvec(angle[:, None] * axis).apply(v))
    return holds_if(apart < EXACT, spread(norms, ".1f"), apart)


def _hamilton(a, b):
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]


def footnote_3(_: Laboratory) -> Measured:
    def by_products(q, v):
        back = np.concatenate([q[:1], -q[1:]]) / square(q)
        return np.array(_hamilton(_hamilton(q, [Counted(0.0), *v]), back)[1:])

    def by_footnote(q, v):
        inner, two = q[:1] * v + cross(q[1:], v), np.array([Counted(2.0)], dtype=object)
        return v + two / square(q) * cross(q[1:], inner)

    case = samples(1, 4)[0], samples(1)[0]
    (long, first), (short, second) = (
        count_operations(f, *case) for f in (by_products, by_footnote)
    )
    apart = gap(long.astype(float), short.astype(float))
    share = first / second
    return holds_if(apart < EXACT and 1.5 < share < 2.5, apart, first, second, share)


def conjugate_(lab: Laboratory) -> Measured:
    rotor, v = lab.study.runs[DP, ROTOR][0].y[-1], np.array([0.0, 0.0, 1.0])
    wrong = float(np.linalg.norm(times(rotor, pure(v), conjugate(rotor))[1:]))
    off = abs(float(np.linalg.norm(rotate(rotor, v))) - 1)
    shown = lab.tolerances[0], square(rotor)[0], wrong, off
    return holds_if(abs(wrong - 1) > 1e-6 and off < EXACT, *shown)


def inverse_slope(_: Laboratory) -> Measured:
    t, h = 300.0, 20.0
    found = differentiate(lambda s: (1 + s / 1000) * inverse(binary(s)), t, h)
    rotor = binary(t) / (1 + t / 1000)
    slope = binary_slope(t) / (1 + t / 1000) - rotor / (1000 + t)
    return below(DIFFERENCE, gap(found, -times(inverse(rotor), slope, inverse(rotor))))


def pure_(_: Laboratory) -> Measured:
    t, h = 300.0, 20.0
    constant = product(3 * binary_slope(t), inverse(3 * binary(t)))
    growing = differentiate(lambda s: np.exp(s / 1000) * binary(s), t, h)
    changing = product(growing, inverse(np.exp(0.3) * binary(t)))
    v = np.array([0.2, -0.5, 1.0])
    moved = differentiate(lambda s: rotate(binary(s), v), t, h)
    apart = gap(moved, np.cross(2 * constant[1:], rotate(binary(t), v)))
    good = abs(constant[0]) < EXACT and abs(changing[0] - 1e-3) < 1e-9 and apart < DIFFERENCE
    return holds_if(good, abs(constant[0]), changing[0], apart)


def norm(lab: Laboratory) -> Measured:
    runs = [lab.integrate(BINARY, DP, ROTOR, 1e-8, EARLY, scale=s) for s in (1.0, 1024.0, -4.0)]
    apart = max(distance(frames(ROTOR, r.y), frames(ROTOR, runs[0].y)).max() for r in runs)
    count, *more = {run.evaluations for run in runs}
    return holds_if(apart < EXACT and not more, apart, count)


def no_normalising(lab: Laboratory) -> Measured:
    pairs = [
        (lab.integrate(BINARY, DP, "normalised", tol, lab.end), lab.study.runs[DP, ROTOR][k])
        for k, tol in enumerate(lab.tolerances[:3])
    ]
    gains = [plain.worst / forced.worst for forced, plain in pairs]
    costs = [forced.evaluations / plain.evaluations for forced, plain in pairs]
    good = max(gains) < 1.5 and max(abs(cost - 1) for cost in costs) < 0.05
    return holds_if(good, spread(costs, ".3f"), min(gains), max(gains))


def footnote_5(_: Laboratory) -> Measured:
    rotor, rate = samples(1, 4)[0], samples(1, 4, seed=5)[0]
    slope = product(rate, rotor) / 2  # (10) with s + ω
    growth = product(slope, conjugate(rotor)) + product(rotor, conjugate(slope))
    found = float(growth[0] / square(rotor)[0] / rate[0])
    return holds_if(abs(found - 0.5) < EXACT, found, corrected=abs(found - 1) < EXACT)


def exponential_(_: Laboratory) -> Measured:
    first = samples(1, 4)[0] / np.linalg.norm(samples(1, 4)[0])
    axis = pure(np.array([0.0, 0.6, 0.8]))

    def turned(t: float) -> np.ndarray:
        return product(exponential(0.5 * (t + np.sin(t)) * axis), first)

    slope = differentiate(turned, 1.3, 0.05)
    apart = gap(slope, 0.5 * product((1 + np.cos(1.3)) * axis, turned(1.3)))
    clash = largest(bracket(axis, first))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    t = 500.0  # half an orbit
    integral = weights @ binary_rate(t / 2 * (1 + nodes)) * t / 2
    found = product(exponential(0.5 * pure(integral)), binary(0.0))
    off = float(distance(frame(found), frame(binary(t))))
    good = apart < DIFFERENCE and off > VISIBLE
    return holds_if(good and clash < EXACT, clash, apart, off, corrected=good)


# ---- section IV
def derivative(_: Laboratory) -> Measured:
    def r(t: float) -> np.ndarray:
        return pure(np.array([np.sin(t), t * t / 2, 0.3 + t]))

    found = differentiate(lambda t: exponential(r(t)), 0.7, 0.02)
    slope = pure(np.array([np.cos(0.7), 0.7, 1.0]))
    nodes, weights = np.polynomial.legendre.leggauss(16)
    s = ((1 + nodes) / 2)[:, None]
    values = times(exponential(s * r(0.7)), slope, exponential((1 - s) * r(0.7)))
    return below(DIFFERENCE, gap(found, weights @ values / 2))


def adjoint_series(_: Laboratory) -> Measured:
    p, q = pure(samples(2))
    terms = [q]
    for k in range(1, 60):
        terms.append(bracket(p, terms[-1]) / k)
    total = np.array([fsum(column) for column in np.array(terms).T])
    return below(1e-12, gap(total, times(exponential(p), q, exponential(-p))))


def powers(_: Laboratory) -> Measured:
    p, q = (pure(v) / 2 for v in samples(2))
    apart = max(gap(by_hand.powers(p, q, k), by_hand.power_closed(p, q, k)) for k in range(9))
    printed = product(-bracket(p, q), times(2 * p, 2 * p))  # k = 3, p a quaternion
    wrong = gap(by_hand.powers(p, q, 3), printed)
    return holds_if(wrong < EXACT, apart, wrong, corrected=apart < EXACT)


def rate_of_generator(_: Laboratory) -> Measured:
    r, slope = pure(samples(6)), pure(samples(6, seed=2))
    found = differentiate(lambda t: exponential(r + t * slope), 0.0, 0.01)
    omega = 2 * product(found, inverse(exponential(r)))
    return below(DIFFERENCE, gap(omega, by_hand.rate_of(r, slope)))


def half_turn(_: Laboratory) -> Measured:
    r = np.pi * pure(np.array([0.0, 0.0, 1.0]))
    along, across = (pure(np.eye(3)[k]) for k in (2, 0))
    first = gap(by_hand.rate_of(r, along), 2 * along)
    second = largest(by_hand.rate_of(r, across))
    return holds_if(abs(second - 2) < EXACT, first, second, corrected=max(first, second) < EXACT)


def slope_of_generator(_: Laboratory) -> Measured:
    r, omega = samples(8), samples(8, seed=4)
    back = by_hand.rate_of(pure(r), pure(by_hand.slope_of(r, omega)))
    worst = gap(back[:, 1:], omega)
    library = max(
        gap(0.5 * np.array(dexpinv(tuple(2 * a), tuple(w))), by_hand.slope_of(a, w))
        for a, w in zip(r, omega, strict=True)
    )
    size_ = 1e-5
    lost = abs((1 - size_ / np.tan(size_)) / size_**2 * 3 - 1)
    good = worst < 1e-12 and library < 1e-12
    return holds_if(good and lost < EXACT, worst, library, lost, corrected=good)


def relative_speed(run: Run) -> np.ndarray:
    """|r'| of the generators of a run of the binary, in |ω|/2."""
    omega = binary_rate(run.t)
    slopes = np.linalg.norm(by_hand.slope_of(run.y, omega), axis=1)
    return slopes / (np.linalg.norm(omega, axis=1) / 2)


def delicate(lab: Laboratory) -> Measured:
    run = lab.early[NAIVE]
    speed, size_ = relative_speed(run), np.linalg.norm(run.y, axis=1) / np.pi
    k = int(speed.argmax())
    return holds_if(speed[k] > 5 and size_[k] > 0.75, speed[k], size_[k])


def same_rotation(_: Laboratory) -> Measured:
    r = samples(5)
    unit = r / np.linalg.norm(r, axis=1, keepdims=True)
    worst = signs = 0.0
    for n in range(-3, 4):
        other = exponential(pure(r + n * np.pi * unit))
        worst = max(worst, gap(frame(other), frame(exponential(pure(r)))))
        signs = max(signs, gap(other, (-1) ** n * exponential(pure(r))))
    return below(EXACT, worst, signs)


def reset_(_: Laboratory) -> Measured:
    turn, once = np.array([0.0, np.pi / 2, 0.0]), abs(5.0 - np.pi)
    flipped = gap(turn - np.pi * turn / np.linalg.norm(turn), -turn)
    sizes = np.linspace(1.6, 12.0, 40)
    after = max(float(np.linalg.norm(reset((0.6 * r, 0.0, 0.8 * r))[0])) for r in sizes)
    good = after <= np.pi / 2 + EXACT and flipped < EXACT
    return holds_if(good and once < np.pi / 2, once, once / np.pi, after, flipped, corrected=good)


def decrease(_: Laboratory) -> Measured:
    worst = -np.inf
    for size_ in np.linspace(np.pi / 2, 3.1, 20):
        for axis, omega in zip(samples(6), samples(6, seed=8), strict=True):
            r = size_ * axis / np.linalg.norm(axis)
            w = omega if omega @ r > 0 else -omega  # r grows
            other = r * (1 - np.pi / size_)
            grows = other @ by_hand.slope_of(other, w) / np.linalg.norm(other) / np.linalg.norm(w)
            worst = max(worst, float(grows))
    return below(0, worst)


def error_norm_of_a_step(_: Laboratory) -> Measured:
    d, y, rtol, atol = 1e-6 * samples(1, 4)[0], samples(1, 4, seed=6)[0], 1e-5, 2e-6
    square = given(FORMULATIONS[ROTOR], True)[square_size]
    found = square(tuple(d), tuple(y), tuple(y), (), (rtol, atol))
    return below(EXACT, abs(found - np.mean((d / (atol + np.abs(y) * rtol)) ** 2)))
