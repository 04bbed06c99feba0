"""Measurements of section VI of Boyle (2017): errors, the binary, and its variables (figure 4)."""

import numpy as np

from polhode.papers.boyle2017 import by_hand
from polhode.papers.boyle2017.by_hand import (
    CONE,
    OPENING,
    ORBIT,
    PRECESSION,
    binary,
    binary_rate,
    differentiate,
    exponential,
    frame,
    rotate,
)
from polhode.papers.boyle2017.courses import Course, in_words
from polhode.papers.boyle2017.formulas import DIFFERENCE, EXACT, gap, relative_speed, samples
from polhode.papers.boyle2017.laboratory import (
    BINARY,
    BS,
    DP,
    EARLY,
    NAIVE,
    RESET,
    ROTOR,
    TWO,
    Laboratory,
    Run,
    Study,
    distance,
    formulation,
    frames,
    rates,
    spread,
)
from polhode.papers.quaternions import inverse, product, pure, times
from polhode.papers.verdicts import Measured, below, holds_if, series, slope
from polhode.problems.given_motions import about


# ---- section VI.A
def fixed_axis(_: Laboratory) -> Measured:
    axes, t = [pure(x) for x in samples(3)], 0.4

    def rotors(t: float) -> list[np.ndarray]:
        angles = np.sin(t), t * t, np.cos(t)
        return [exponential(f * v) for f, v in zip(angles, axes, strict=True)]

    def slope_of(count: int) -> np.ndarray:
        """Differentiate the product of the first rotors."""
        return differentiate(lambda t: times(*rotors(t)[:count]), t, 0.02)

    r = rotors(t)
    rates = np.cos(t), 2 * t, -np.sin(t)
    before = [f * product(v, x) for f, v, x in zip(rates, axes, r, strict=True)]  # (22)
    after = [f * product(x, v) for f, v, x in zip(rates, axes, r, strict=True)]
    alone = max(gap(slope_of(1), before[0]), *map(gap, before, after))
    pair = product(before[0], r[1]) + product(r[0], before[1])  # (23)
    triple = product(pair, r[2]) + times(r[0], r[1], before[2])
    return below(DIFFERENCE, alone, gap(slope_of(2), pair), gap(slope_of(3), triple))


def composed(_: Laboratory) -> Measured:
    v, w, t = pure(samples(1)[0]), pure(np.array([0.6, 0.0, -0.8])), 0.4

    def parts(t: float) -> tuple[np.ndarray, np.ndarray]:
        return exponential(np.sin(t) * v), exponential(t * t * w)

    def whole(t: float) -> np.ndarray:
        first, second = parts(t)
        return times(first, second, inverse(first))

    (first, second), total = parts(t), whole(t)
    f, g = np.cos(t), 2 * t
    middle = g * times(first, second, w, inverse(first))
    slope = f * product(v, total) + middle - f * product(total, v)
    apart = gap(differentiate(whole, t, 0.02), slope)
    same = gap(total, exponential(t * t * pure(rotate(first, w[1:]))))
    helper = about((0.6, 0.0, -0.8), lambda s: 2 * s * s, lambda s: 4 * s)
    library = gap(helper.attitude(t), second)
    return holds_if(max(same, library) < EXACT and apart < DIFFERENCE, apart, same, library)


def error_norm(lab: Laboratory) -> Measured:
    from scipy.spatial.transform import Rotation

    a, b = (Rotation.from_rotvec(v) for v in samples(2))
    first = float(distance(a.as_matrix(), b.as_matrix()))
    formula = abs(first - np.sqrt(8) * np.sin((a * b.inv()).magnitude() / 2))
    run = lab.study.runs[DP, TWO][0]
    u, _, v = np.linalg.svd(frames(TWO, run.y))
    nearest = float(distance(u @ v, frame(binary(run.t))).max())
    hides = nearest < 0.95 * run.worst
    return holds_if(formula < EXACT and hides, formula, lab.tolerances[0], run.worst, nearest)


def fewer_steps(lab: Laboratory) -> Measured:
    course = lab.study.bs_to_dp(ROTOR, "steps")
    times = Course(course.errors, 1 / course.ratios)
    first, *_ = times.ratios
    largest = times.errors[times.ratios.argmax()]
    others = [1 / study.bs_to_dp(ROTOR, "steps").least for study in lab.stand_ins.values()]
    shown = in_words(times.errors), first, times.mean, times.most, largest, spread(others, ".1f")
    return holds_if(times.mean > 9, *shown, corrected=first > 1.5 and times.most > 5)


def b_s_slower(lab: Laboratory) -> Measured:
    work, seconds = (
        np.array([
            lab.study.costs(BS, name, lab.errors, of) / lab.study.costs(DP, name, lab.errors, of)
            for name in (ROTOR, TWO, RESET)
        ])
        for of in ("work", "seconds")
    )  # fmt: skip
    shown = lab.error_range, *map(spread, work), lab.form, *map(spread, seconds)
    return holds_if((work > 1).mean() > 0.5, *shown)


def grows(lab: Laboratory) -> Measured:
    """Fit the highest error so far to the number of steps taken, from a twentieth of them on."""
    tolerances, end = (1e-5, 1e-7, 1e-9)[: 2 if lab.quick else 3], lab.end * (4 if lab.quick else 1)
    runs = [lab.integrate(BINARY, DP, ROTOR, tolerance, end) for tolerance in tolerances]
    powers = []
    for run in runs:
        taken, highest = np.arange(run.steps + 1), np.maximum.accumulate(run.error)
        late = taken > run.steps / 20
        powers.append(slope(taken[late].tolist(), highest[late].tolist()))
    in_steps = [r.worst / (tol * r.steps) for tol, r in zip(tolerances, runs, strict=True)]
    good = min(powers) > 0.6 and max(powers) < 1.5
    good = good and all(r.worst > 3 * tol for tol, r in zip(tolerances, runs, strict=True))
    sizes = series(tolerances, ".0e"), ", ".join(str(r.steps) for r in runs)
    errors = series((r.worst for r in runs), ".1e"), series(in_steps, ".3f")
    return holds_if(good, *sizes, *errors, series(powers, ".2f"))


# ---- section VI.B, the motion
def motion(_: Laboratory) -> Measured:
    t = np.linspace(0.0, EARLY, 41)
    apart = gap(differentiate(binary, 1234.5, 25.0), by_hand.binary_slope(1234.5))
    rate = gap(rates(BINARY, t), binary_rate(t)) / ORBIT
    turn = gap(frame(BINARY.exact(t)), frame(binary(t)))
    return holds_if(apart < DIFFERENCE and turn < EXACT and rate < 1e-12, apart, turn, rate)


def orbits(_: Laboratory) -> Measured:
    first, second = (BINARY.span[1] * rate / (2 * np.pi) for rate in (ORBIT, PRECESSION))
    return holds_if(abs(first - 1000) < 1e-6 and abs(second - 100) < 1e-6, first, second)


def cone(_: Laboratory) -> Measured:
    end = BINARY.span[1]
    ratio, tenth = (1 + OPENING * t / CONE for t in (end, end / 10))
    return holds_if(abs(ratio - 3) < 0.1, ratio, tenth)


def figure_1(_: Laboratory) -> Measured:
    t = np.linspace(0.0, EARLY, 20_001)
    x, z = (rotate(binary(t), np.eye(3)[k]) for k in (0, 2))
    z = rotate(inverse(exponential(by_hand.TILT * by_hand.X)), z)
    height = np.arccos(np.clip(z[:, 2], -1, 1))
    turns = int((np.diff(np.sign(np.diff(height))) > 0).sum())
    count, cycles = (
        np.ptp(np.unwrap(np.arctan2(v[:, 1], v[:, 0]))[[0, -1]]) / (2 * np.pi) for v in (x, z)
    )
    first, last = height[:10_001].mean(), height[10_001:].mean()
    good = abs(count - 20) < 1 and abs(cycles - 2) < 0.2 and 16 <= turns <= 22 and last > first
    return holds_if(good, count, cycles, turns, np.degrees(first), np.degrees(last))


# ---- figure 4
def _strongest_frequency(curves: np.ndarray) -> float:
    """Return the strongest frequency of some curves, in cycles over their length."""
    power = (np.abs(np.fft.rfft(curves - curves.mean(0), axis=0)) ** 2).sum(1)
    return float(power.argmax())


def twice_as_fast(_: Laboratory) -> Measured:
    t = np.linspace(0.0, EARLY, 4096, endpoint=False)
    vectors = frame(binary(t))[:, :2].reshape(-1, 6)
    first, second = map(_strongest_frequency, (vectors, binary(t)))
    return holds_if(abs(first / second - 2) < 0.1, first, second)


def twice_the_steps(lab: Laboratory) -> Measured:
    found = [lab.ratio(i, TWO, "steps") for i in (DP, BS)]
    good = all(1.6 < course.mean < 2.4 for course in found)
    shown = ((in_words(course.errors), course, course.mean) for course in found)
    return holds_if(good, *(part for parts in shown for part in parts))


def sharp(lab: Laboratory) -> Measured:
    run = lab.early[NAIVE]
    size = np.linalg.norm(run.y, axis=1) / np.pi
    rate = np.linalg.norm(by_hand.slope_of(run.y, binary_rate(run.t)), axis=1)
    near, far = rate[size > 0.9].max(), rate[size < 0.6].max()
    return holds_if(near > 5 * far, *np.divide([near, far], np.median(rate)), size.max())


def sensitive(_: Laboratory) -> Measured:
    path = binary(np.linspace(0.0, EARLY, 40_001))
    rotors = (product(exponential(extra * by_hand.X), path) for extra in (0.0, -0.05, 0.05))
    found = [float(np.linalg.norm(rotor[:, 1:], axis=1).min()) for rotor in rotors]
    return holds_if(max(found) / min(found) > 2, *found)


def once_an_orbit(lab: Laboratory) -> Measured:
    run = lab.early[RESET]
    jumps = int((np.linalg.norm(np.diff(run.y, axis=0), axis=1) > 1.0).sum())
    speed = relative_speed(run).max()
    return holds_if(18 <= jumps <= 22 and speed < 1.8, jumps, speed)


def not_resolved(lab: Laboratory) -> Measured:
    study = lab.after_resets
    errors, right = (study.numbers("dopri5", name, "worst") for name in ("stale", RESET))
    error = float(np.sqrt(errors.min() * min(errors[-2], right[0])))
    stale, reset, rotor = (study.cost("dopri5", n, error) for n in ("stale", RESET, ROTOR))
    lost, extra = stale / reset, reset / rotor
    restarted = lost > 2 and extra < 1.4
    return holds_if(lost < 1.2 and extra < 1.4, error, extra, lost, corrected=restarted)


def past_the_reset(lab: Laboratory) -> Measured:
    past, short = (
        float(np.diff(lab.study.runs[i, RESET][2].t).max()) * ORBIT / 2 for i in (BS, DP)
    )
    return holds_if(past > np.pi / 2 > short, lab.tolerances[2], past / np.pi, short / np.pi)


def second_derivative(_: Laboratory) -> Measured:
    t, h = 1234.5, 25.0
    rotor, omega = binary(t), pure(binary_rate(t))
    slope = differentiate(lambda s: pure(binary_rate(s)), t, h)
    second = differentiate(by_hand.binary_slope, t, h)
    good, wrong = (
        gap(second, product(slope, rotor) / 2 + sign * float(omega @ omega) * rotor / 4) / ORBIT**2
        for sign in (-1, 1)
    )
    return holds_if(wrong < DIFFERENCE, good, wrong, corrected=good < 1e-8)


def slow_rate(_: Laboratory) -> Measured:
    change = by_hand.change_of_rate(binary_rate, np.linspace(100.0, EARLY, 400), 25.0)
    return below(1, change.min(), change.max())


def lsoda(lab: Laboratory) -> Measured:
    """Compare with other integrators of the damped vectors, and with vectors without damping."""
    tolerances, end = (1e-4, 1e-6, 1e-8, 1e-10), 2_000.0
    pairs = stiff, *others = ("lsoda", "strong"), (DP, "strong"), (BS, "strong"), (DP, TWO)
    runs = {stiff: [_by_lsoda(tolerance, end) for tolerance in tolerances]}
    for pair in others:
        runs[pair] = [lab.integrate(BINARY, *pair, tolerance, end) for tolerance in tolerances]
    study = Study(tolerances, runs)
    errors = study.whole(*pairs)
    d_p, b_s = (study.course(pair, stiff, errors) for pair in others[:2])
    plain = study.course(stiff, others[2], errors)
    better = min(d_p.share_above, b_s.share_above) > 0.5
    return holds_if(better and plain.least > 1, in_words(errors), d_p, b_s, plain)


def _by_lsoda(tolerance: float, end: float) -> Run:
    from scipy.integrate import solve_ivp

    strong = formulation("strong")
    start = np.array(strong.enter(BINARY.attitude))

    def slope(t: float, y: np.ndarray) -> tuple:
        return strong.rate(tuple(y), BINARY.omega(t))

    found = solve_ivp(slope, (0.0, end), start, method="LSODA", rtol=1e-13, atol=tolerance)
    error = distance(frames(TWO, found.y.T), frame(binary(found.t)))
    return Run(found.t, found.y.T, error, 0, found.nfev, 0.0)
