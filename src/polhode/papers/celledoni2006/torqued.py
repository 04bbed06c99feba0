"""Claims of sections 4.2, 4.3 and 5 of Celledoni & Säfström (2006): the top and the satellite."""

import numpy as np

from polhode import problems
from polhode.contracts import Model
from polhode.papers.celledoni2006 import by_hand
from polhode.papers.celledoni2006.laboratory import (
    NEAR,
    SATELLITE_STEPS,
    TOP_STEPS,
    Laboratory,
    Study,
    astray,
    swing,
    vertical,
)
from polhode.papers.celledoni2006.maps import ROUNDING, small
from polhode.papers.maps import EXACT, near, slope, states
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import Measured, judged
from polhode.problems.problem import Problem

EARTH = 6.371e6  # m, mean radius
GRAVITY, MASS = 6.6743e-11, 5.9722e24  # of the Earth, SI


def model_gap(problem: Problem, page: by_hand.Torque) -> float:
    """How far a model of the library is from the torque of the page, relative."""
    model: Model = problem.model
    found = 0.0
    for q, m in states():
        right = page(matrix(q).T)
        torque = model.torque(0.0, q, m, problem.body.data, model.params)
        found = max(found, float(np.abs(torque - right).max() / np.abs(right).max()))
    return found


def times_to(study: Study, aim: float) -> dict[str, float]:
    return {n: study.time_to(study.attitude, n, aim) for n in ("mr2", "sej", "sej4")}


# ---- 4.2, the model
def top_torque(_: Laboratory) -> Measured:
    given = problems.celledoni_heavy_top()
    gap = model_gap(given, by_hand.top)
    moments = given.body.data[0]
    same = moments == (1000.0, 5000.0, 6000.0) and tuple(given.omega) == (10.0, 10.0, 10.0)
    text = f"the model heavy_top(1) differs by {small(gap)}"
    return text, judged(gap < ROUNDING and same)


def centre(lab: Laboratory) -> Measured:
    attitude = lab.top_runs["strang", 0.01].rotation.as_matrix()
    u, mass = attitude[:, 2, :], attitude[:, :, 2]
    apart = float(np.linalg.norm(u - mass, axis=1).max())
    height = float(np.abs(u[:, 2] - mass[:, 2]).max())
    text = (
        f"figure 4: u and Qᵀe3 are up to {apart:.2f} apart; their heights differ by {small(height)}"
    )
    return text, judged(apart < EXACT, height < EXACT)


# ---- 4.2, figure 3
def figure3_order(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    momentum = {n: study.order(study.momentum, n, 3) for n in ("mr2", "sej", "sej4")}
    attitude = {n: study.order(study.attitude, n, 3) for n in momentum}
    text = "order in π " + ", ".join(f"{p:.2f}" for p in momentum.values())
    text += "; in Q " + ", ".join(f"{p:.2f}" for p in attitude.values()) + " (MR, SEJ, SEJ4)"
    second = all(near(p, 2) for p in (*momentum.values(), attitude["mr2"], attitude["sej"]))
    return text, judged(second and near(attitude["sej4"], 2), second and near(attitude["sej4"], 4))


def figure3_sej4(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    gains = {}
    for aim in (1e-3, 1e-5):
        times = times_to(study, aim)
        gains[aim] = min(times["mr2"], times["sej"]) / times["sej4"]
    today = study.time_to(study.attitude, "sej4", 1e-5) / study.time_to(
        study.attitude, "strang", 1e-5
    )
    text = (
        f"time to an error in Q of 1e-3 and 1e-5: the better of MR and SEJ takes"
        f" {gains[1e-3]:.1f} and {gains[1e-5]:.1f} times that of SEJ4 (and SEJ4 {today:.0f} times"
        f" that of strang)"
    )
    return text, judged(gains[1e-3] > 1.2 and gains[1e-5] > 3)


def figure3_similar(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    times = times_to(study, 1e-3)
    time = times["sej"] / times["mr2"]
    k = -1
    attitude = float(study.attitude["mr2"][k] / study.attitude["sej"][k])
    momentum = float(study.momentum["mr2"][k] / study.momentum["sej"][k])
    text = (
        f"at equal steps the error of MR in Q is {attitude:.1f} times, in π {momentum:.0e} times"
        f" that of SEJ; time of SEJ to 1e-3 in Q {time:.1f} times that of MR"
    )
    similar = 0.2 < time < 5 and 1 < attitude < 5
    return text, judged(similar and momentum < 5, similar)


# ---- 4.2, figures 4 and 5
def small_steps(lab: Laboratory) -> Measured:
    found = [
        float(np.linalg.norm(vertical(a) - vertical(b), axis=1).mean())
        for a, b in ((lab.top_runs["sej", h], lab.top_runs["mr2", h]) for h in TOP_STEPS)
    ]
    given = problems.celledoni_heavy_top()
    fine = [vertical(lab.run(given, n, 100.0, 0.001, 10)) for n in ("sej", "mr2")]
    last = float(np.linalg.norm(fine[0] - fine[1], axis=1).mean())
    curves = lab.curve_errors()
    text = (
        "mean distance of u "
        + ", ".join(f"{x:.2f} (h = {h})" for x, h in zip(found, TOP_STEPS, strict=True))
        + f", {last:.4f} (h = 0.001); our exact curves and DOP853: {curves[0]:.0e} (top),"
        f" {curves[1]:.0e} (satellite)"
    )
    return text, judged(found[0] > found[1] > found[2] > 10 * last and max(curves) < 1e-4)


def distance(lab: Laboratory) -> Measured:
    sej, mr = (vertical(lab.top_runs[n, 0.01]) for n in ("sej", "mr2"))
    found = float(np.linalg.norm(sej - mr, axis=1)[1:].mean())
    errors = [float(np.linalg.norm(u - lab.top_curve, axis=1).mean()) for u in (sej, mr)]
    fourth = float(
        np.linalg.norm(vertical(lab.top_runs["sej4", 0.01]) - lab.top_curve, axis=1).mean()
    )
    text = (
        f"{found:.2f}; from the exact trajectory: SEJ {errors[0]:.2f}, MR {errors[1]:.2f}, SEJ4"
        f" {fourth:.4f}"
    )
    return text, judged(0.03 < found < 0.5)


def energy_factor(lab: Laboratory) -> Measured:
    sej, mr = (swing(lab.top_runs[n, 0.01]).largest for n in ("sej", "mr2"))
    return f"{sej:.1e} / {mr:.0f} = {sej / mr:.1e}", judged(3e-5 < sej / mr < 3e-4)


def energy_steps(lab: Laboratory) -> Measured:
    found = {n: [swing(lab.top_runs[n, h]).amplitude for h in TOP_STEPS] for n in ("sej", "mr2")}
    text = "; ".join(
        f"{n}: " + ", ".join(f"{x:.1g}" for x in found[key])
        for n, key in (("SEJ", "sej"), ("MR", "mr2"))
    )
    return f"amplitudes at h = 0.1, 0.05, 0.01: {text}", judged(
        all(a > b > c for a, b, c in found.values())
    )


def energy_consistently(lab: Laboratory) -> Measured:
    ratios = [
        swing(lab.top_runs["mr2", h]).largest / swing(lab.top_runs["sej", h]).largest
        for h in TOP_STEPS
    ]
    text = "MR over SEJ: " + ", ".join(
        f"{x:.0e} (h = {h})" for x, h in zip(ratios, TOP_STEPS, strict=True)
    )
    return text, judged(min(ratios) > 100)


def mr_trajectory(lab: Laboratory) -> Measured:
    far = {h: astray(vertical(lab.top_runs["mr2", h]), lab.top_curve) for h in TOP_STEPS}
    text = "farthest from the exact curve: " + ", ".join(
        f"{x.max():.2f} (h = {h})" for h, x in far.items()
    )
    text += f"; {np.mean(far[0.1] > NEAR):.0%} of the points of h = 0.1 are more than {NEAR} away"
    return text, judged(far[0.1].max() > 3 * NEAR and far[0.01].max() < 0.1)


def sej_trajectory(lab: Laboratory) -> Measured:
    far = {h: astray(vertical(lab.top_runs["sej", h]), lab.top_curve).max() for h in TOP_STEPS}
    fourth = astray(vertical(lab.top_runs["sej4", 0.1]), lab.top_curve).max()
    text = "farthest from the exact curve: " + ", ".join(
        f"{x:.2f} (h = {h})" for h, x in far.items()
    )
    return f"{text}; SEJ4 {fourth:.2f} (h = 0.1)", judged(max(far.values()) < NEAR)


# ---- 4.2, figure 6
def figure6(lab: Laboratory) -> Measured:
    text, smaller = [], []
    for panel, errors in lab.alpha_errors.items():
        ratio = errors["mr2"] / errors["sej"]
        smaller.append(bool((ratio > 1).any()))
        text.append(
            f"({panel}) {np.count_nonzero(ratio > 1)} of {len(ratio)} values of α, MR over SEJ"
            f" {ratio.min():.2f} to {ratio.max():.1e}"
        )
    return "; ".join(text), judged(all(smaller))


def figure6_when(lab: Laboratory) -> Measured:
    found, right = [], []
    for panel, errors in lab.alpha_errors.items():
        alpha, ratio = lab.alphas[panel], errors["mr2"] / errors["sej"]
        large = alpha > 1.5
        right.append(bool((ratio[large] > 1).all() and (ratio[alpha < 0.8] < 1.2).all()))
        power = slope(alpha[alpha > 5].tolist(), ratio[alpha > 5].tolist())
        found.append(f"({panel}) {ratio[large].min():.1f} or more above α = 1.5, ~ α^{power:.1f}")
    return "MR over SEJ: " + "; ".join(found), judged(all(right))


# ---- 4.3, the model
def satellite_torque(_: Laboratory) -> Measured:
    given = problems.satellite()
    inertia = np.array(given.body.data[0])
    gap = model_gap(given, by_hand.satellite(inertia))
    same = given.body.data[0] == (1.7e4, 3.7e4, 5.4e4)
    text = f"3μ/r³ (Qe3) × (TQe3) and the model gravity_gradient differ by {gap:.0e}; in (4)"
    return text, judged(False, gap < ROUNDING and same)


def satellite_energy(lab: Laboratory) -> Measured:
    run = lab.run(problems.satellite(), "strang6", 40.0, 0.01)
    found = swing(run)
    text = f"to {found.largest / abs(found.start):.0e} along the exact curve (40 s)"
    return text, judged(found.largest / abs(found.start) < 1e-8)


def radius(_: Laboratory) -> Measured:
    share = by_hand.RADIUS / EARTH
    product = GRAVITY * MASS
    weaker = (by_hand.RADIUS / 7e6) ** 3
    text = (
        f"GM = {product:.4g}; r is {share:.3f} of the Earth's radius; at r = 7e6 the torque would"
        f" be {weaker:.0e} of it"
    )
    return text, judged(share > 1, abs(product / by_hand.MU - 1) < 1e-3)


# ---- 4.3, figures 7 and 8
def figure7_best(lab: Laboratory) -> Measured:
    far = {
        n: astray(vertical(lab.satellite_runs[n, 0.1]), lab.satellite_curve).max()
        for n in ("mr2", "sej", "sej4", "strang")
    }
    text = (
        f"Qe3 farthest from the exact curve: MR {far['mr2']:.2f}, SEJ {far['sej']:.2f}, SEJ4"
        f" {far['sej4']:.2f} (strang {far['strang']:.2f})"
    )
    return text, judged(far["sej4"] < NEAR and far["sej4"] < 0.3 * min(far["mr2"], far["sej"]))


def figure7_energy(lab: Laboratory) -> Measured:
    return _satellite_energy(lab, 0.1, 100)


def figure8_similar(lab: Laboratory) -> Measured:
    paths = {n: vertical(lab.satellite_runs[n, 0.05]) for n in ("mr2", "sej", "sej4", "strang")}
    far = {n: float(astray(u, lab.satellite_curve).max()) for n, u in paths.items()}
    exact = lab.satellite_curve[::5]
    mean = {n: float(np.linalg.norm(u - exact, axis=1).mean()) for n, u in paths.items()}
    text = (
        f"farthest from the exact curve: MR {far['mr2']:.2f}, SEJ {far['sej']:.2f}, SEJ4"
        f" {far['sej4']:.2f}; mean error of Qe3 {mean['mr2']:.1f}, {mean['sej']:.1f},"
        f" {mean['sej4']:.1f} (strang {mean['strang']:.1f})"
    )
    return text, judged(max(far["mr2"], far["sej"], far["sej4"]) < NEAR)


def figure8_energy(lab: Laboratory) -> Measured:
    return _satellite_energy(lab, 0.05, 3)


def _satellite_energy(lab: Laboratory, h: float, factor: float) -> Measured:
    found = {n: swing(lab.satellite_runs[n, h]) for n in ("mr2", "sej", "sej4")}
    error = {n: s.largest / abs(s.start) for n, s in found.items()}
    text = (
        f"largest relative energy error: MR {error['mr2']:.1e}, SEJ {error['sej']:.1e}, SEJ4"
        f" {error['sej4']:.1e}"
    )
    return text, judged(error["mr2"] > factor * max(error["sej"], error["sej4"]))


def orderings(lab: Laboratory) -> Measured:
    found = {name: list(errors.values()) for name, errors in lab.orderings.items()}
    text = "energy errors of the six orders, relative: " + "; ".join(
        f"{name} {min(errors):.1e} to {max(errors):.1e} ({errors[0]:.1e} as printed)"
        for name, errors in found.items()
    )
    return text, judged(all(max(errors) < 3 * min(errors) for errors in found.values()))


def better_orderings(lab: Laboratory) -> Measured:
    gains = {name: errors[0, 1, 2] / min(errors.values()) for name, errors in lab.orderings.items()}
    text = "the best order has 1/" + ", 1/".join(f"{x:.1f} ({n})" for n, x in gains.items())
    return f"{text} of the energy error of the one printed", judged(max(gains.values()) > 2)


# ---- 5
def efficient(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    aims = (1e-2, 1e-3, 1e-4, 1e-5)
    fourth = [times_to(study, aim) for aim in aims]
    wins = {n: sum(t["mr2"] > t[n] for t in fourth) for n in ("sej", "sej4")}
    top = swing(lab.top_runs["mr2", 0.01]).largest / swing(lab.top_runs["sej", 0.01]).largest
    cost = float(np.median(study.cost["sej"]))
    gain = np.sqrt(top) / cost  # both errors are O(h²)
    text = (
        f"heavy top: to 4 errors in Q, 1e-2 to 1e-5, SEJ4 is faster than MR in {wins['sej4']}, SEJ"
        f" in {wins['sej']}; to the same energy error SEJ by a factor of {gain:.0f}"
    )
    return text, judged(wins["sej"] == 4, wins["sej4"] >= 3 and gain > 3)


def energy_many(lab: Laboratory) -> Measured:
    ratios = lab.energy_ratios
    runs = len(TOP_STEPS) + len(SATELLITE_STEPS)
    text = (
        f"in {sum(r > 1 for r in ratios[:runs])} of {runs} runs of figures 4, 5, 7 and 8, and"
        f" {sum(r > 1 for r in ratios[runs:])} of {len(ratios) - runs} of figure 6"
    )
    return text, judged(sum(r > 1 for r in ratios) > len(ratios) / 2)


def large_inertia(lab: Laboratory) -> Measured:
    alpha, errors = lab.alphas["b"], lab.alpha_errors["b"]
    large = alpha > 5
    powers = [slope(alpha[large].tolist(), errors[n][large].tolist()) for n in ("mr2", "sej")]
    ratio = float(errors["mr2"][-1] / errors["sej"][-1])
    text = (
        f"figure 6(b): the error of MR ~ α^{powers[0]:.2f}, of SEJ ~ α^{powers[1]:.2f}; {ratio:.0f}"
        f" to 1 at α = {alpha[-1]:.0f}"
    )
    return text, judged(near(powers[0], 1, 0.2) and near(powers[1], 0, 0.2) and ratio > 100)
