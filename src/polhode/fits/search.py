"""The search for the least sum of squares: SciPy's, over the unknowns that are left.

The numbers x of SciPy count in the sizes of the unknowns, so that steps are short where the data
say little; where that does not converge, in standard deviations that each unknown would have alone.
Their origin is so far away that first steps may be as long as the unknowns are large.  Steps to
numbers for which there is no motion, as those of an impossible body, are cut.

A start from which the motion loses its phase before the last observation may lead to a minimum
that has nothing to do with the truth.  A search that ends badly is therefore repeated on a short
arc from the start of the motion, and continued on longer ones; on these the unknowns keep a weak
memory of where they began.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError
from polhode.fits.holds import Chart, Hold
from polhode.fits.motion import Evaluation, Impossible, Motion
from polhode.fits.unknowns import ATTITUDE, Unknowns

FAR = 1e100  # residuals where there is no motion, for the method that must have numbers
TOLERANCE = 1e-10  # of SciPy, relative, for sums of squares and gradients
LEAST = 1e-15  # relative, of a step that ends a search
FLOOR = 1e-11  # relative, of what unknowns do to the residuals; below, it is rounding
HALF = 3.0  # rad, the longest rotation vector from the reference
TURNED = 1.0  # rad, beyond which the reference is moved, and the search goes on
ROUNDS = 8  # of searches with new references
CLOSE = 1e-3  # standard deviations from the optimum at which a search ends
NEAR, SLOW = 0.3, 1e-2  # those at which it ends where χ² changes by less than this
BAD = 2.0  # chi square of a degree of freedom, beyond which a search looks for a better minimum
SHARES = 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0  # of the motion, in arcs that grow
ENOUGH = 3  # observed numbers in the shortest arc, for each unknown
LOSSES = "linear", "soft_l1", "huber", "cauchy", "arctan"
STAGES = {  # the losses of the searches that follow least squares
    "linear": (),
    "cauchy": ("soft_l1", "cauchy"),
    "arctan": ("soft_l1", "arctan"),
}


@dataclass(frozen=True, eq=False)
class Reached:
    """Where a search ended, and why.

    ``slopes`` are du/dx there; ``message`` is empty if the search converged.
    """

    motion: Motion
    u: np.ndarray
    here: Evaluation
    slopes: np.ndarray
    iterations: int
    message: str

    @property
    def unknowns(self) -> Unknowns:
        return self.motion.unknowns


class Found(NamedTuple):
    """Where SciPy's search ended: x, the Jacobian and the gradient there, whether it was done.

    ``left`` is the distance from the optimum in sigma, if it is known.
    """

    x: np.ndarray
    slopes: np.ndarray
    gradient: np.ndarray
    done: bool
    left: float = np.inf


class Settled(Exception):
    """The optimum is near; the argument is where, a ``Found``."""


class Descent:
    """One search of SciPy's from u on, over the first ``share`` of the motion.

    ``lost`` tells why the last step was cut, ``steps`` how many were tried; ``before`` is χ² where
    the last Jacobian was made, minus infinity if the search is not ended by looking at it.
    """

    def __init__(
        self,
        motion: Motion,
        holds: tuple[Hold, ...],
        start: np.ndarray,
        share: float = 1.0,
        by_size: bool = True,
    ):
        self.motion, self.start = motion, start
        self.rows = None if share >= 1.0 else np.flatnonzero(motion.shares <= share)
        unknowns, here = motion.unknowns, self._part(motion.at(start), start)
        scales = sizes = unknowns.sizes
        if not by_size:
            alone = np.sqrt(np.einsum("ij,ij->j", here[1], here[1]))
            seen = alone * sizes > FLOOR * float((alone * sizes).max())
            scales = np.where(seen, 1.0 / np.where(seen, alone, 1.0), sizes)
        self.chart = Chart(unknowns, holds, start, scales)
        reach = float(np.linalg.norm(sizes / scales) / np.sqrt(len(sizes)))
        self.origin = np.full(len(self.chart), reach)
        self.count = len(here[0])
        self.lost, self.reached = "", np.zeros(len(self.chart))
        self.steps, self.before = 0, np.inf
        self._last: tuple[bytes, np.ndarray | None] = b"", None  # x as bytes, and the numbers there

    def _part(self, here: Evaluation, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals and slopes of the arc, and of the memory of the start."""
        if self.rows is None:
            return here.residuals, here.slopes
        sizes = self.motion.unknowns.sizes
        return (
            np.concatenate([here.residuals[self.rows], (u - self.start) / sizes]),
            np.concatenate([here.slopes[self.rows], np.diag(1.0 / sizes)]),
        )

    def run(self, loss: str, loss_scale: float, most: int) -> tuple[Found, np.ndarray]:
        """Return where SciPy's search ended, and the numbers there."""
        from scipy.optimize import least_squares

        origin, stands_for = self.origin, np.nan
        options: dict[str, Any] = {"method": "trf", "loss": loss, "f_scale": loss_scale}
        if loss == "linear":
            origin, stands_for = 0.01 * origin, FAR  # its first step is up to 100 times this
            options = {"method": "lm"}
        self.before = np.inf if loss == "linear" else -np.inf
        try:
            result = least_squares(
                lambda x: self._residuals(x - origin, stands_for),
                origin,
                jac=lambda x: self._slopes(x - origin),
                x_scale=1.0,
                ftol=TOLERANCE,
                xtol=LEAST,
                gtol=TOLERANCE,
                max_nfev=most,
                **options,
            )
            end = Found(result.x - origin, result.jac, result.grad, result.status > 0)
        except Settled as settled:
            end = settled.args[0]
        self.reached = end.x
        u = self.chart.numbers(end.x)
        assert u is not None
        return end, u

    def _residuals(self, x: np.ndarray, stands_for: float) -> np.ndarray:
        self.steps += 1
        try:
            return self._at(x)[1][0]
        except Impossible as why:
            self.lost = str(why)
            return np.full(self.count, stands_for)

    def _slopes(self, x: np.ndarray) -> np.ndarray:
        u, (residuals, slopes) = self._at(x)
        matrix = without_noise(slopes @ self.chart.slopes(u))
        if self.before > -np.inf:
            square, left = float(residuals @ residuals), distance(matrix, residuals)
            if left < CLOSE or (left < NEAR and self.before - square < SLOW):
                raise Settled(Found(x, matrix, matrix.T @ residuals, True, left))
            self.before = square
        return matrix

    def _at(self, x: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        if self._last[0] != (key := x.tobytes()):  # SciPy asks twice for the same
            self._last = key, self.chart.numbers(x)
        u = self._last[1]
        if u is None:
            raise Impossible("what is held cannot be kept there")
        by_name = self.motion.unknowns.by_name
        if ATTITUDE in by_name and np.linalg.norm(u[by_name[ATTITUDE].place]) > HALF:
            raise Impossible("the attitude turned by more than half a turn")
        return u, self._part(self.motion.at(u), u)

    def impossible(self, x: np.ndarray) -> str:
        """Return why there is no motion at x, counted from the start; empty if there is one."""
        try:
            self._at(x)
        except Impossible as why:
            return str(why)
        return ""


def without_noise(slopes: np.ndarray) -> np.ndarray:
    """Return slopes by x, with zeros in columns that are nothing but rounding."""
    sizes = np.linalg.norm(slopes, axis=0)
    return np.where(sizes > FLOOR * float(sizes.max()), slopes, 0.0)


@dataclass(frozen=True, eq=False)
class Place:
    """Where a descent ended: the motion whose unknowns are u there, and all steps so far."""

    motion: Motion
    u: np.ndarray
    descent: Descent
    found: Found
    steps: int

    @property
    def chi_square(self) -> float:
        residuals = self.motion.at(self.u).residuals
        return float(residuals @ residuals)

    @property
    def is_good(self) -> bool:
        """Whether the search converged to a place that explains the observations."""
        freedom = len(self.motion.shares) - len(self.descent.chart)
        return not self.judged and self.chi_square < BAD * max(freedom, 1)

    @cached_property
    def judged(self) -> str:
        """Why the search did not converge; empty if it did."""
        return _judged(self.descent, self.found)


def search(
    motion: Motion, holds: tuple[Hold, ...], loss: str, loss_scale: float, most: int
) -> Reached:
    """Search from the problem as it was given; robust losses begin where least squares end.

    Those to which far outliers mean nothing begin where a convex one ends: where least squares end,
    everything may look like an outlier.
    """
    start = motion.unknowns.start
    try:
        count = len(motion.at(start).residuals)
    except Impossible as why:
        raise InputError(
            f"the motion cannot be compared with the observations at the start: {why}"
        ) from why
    free = len(motion.unknowns) - len(holds)
    if count < free:
        raise InputError(
            f"{count} observed numbers are fewer than the {free} unknowns; hold some, or observe"
            " more"
        )
    place = _polished(_descended(motion, holds, start, most), holds, most)
    if not place.is_good and place.steps < most:
        place = _polished(_grown(place, motion, holds, start, most), holds, most)
    for each in STAGES.get(loss, (loss,)):
        given = (each, loss_scale), place.steps
        place = _descended(place.motion, holds, place.u, most, *given, by_size=False)
    here, slopes = place.motion.at(place.u), place.descent.chart.slopes(place.u)
    return Reached(place.motion, place.u, here, slopes, place.steps, place.judged)


def _grown(
    before: Place, motion: Motion, holds: tuple[Hold, ...], start: np.ndarray, most: int
) -> Place:
    """Search on arcs that grow; return where that ends, or the place before if it is better."""
    enough = ENOUGH * (len(motion.unknowns) - len(holds))
    u, steps = start, before.steps
    for share in SHARES:
        if share < 1.0 and np.count_nonzero(motion.shares <= share) < enough:
            continue
        place = _descended(motion, holds, u, most, steps=steps, share=share)
        motion, u, steps = place.motion, place.u, place.steps
        if steps >= most:
            break
    best = before if before.chi_square <= place.chi_square or share < 1.0 else place
    return replace(best, steps=steps)


def _polished(place: Place, holds: tuple[Hold, ...], most: int) -> Place:
    """Search on by standard deviations, where a search by sizes has not converged."""
    if place.steps >= most or not place.judged:
        return place
    return _descended(place.motion, holds, place.u, most, steps=place.steps, by_size=False)


def _descended(
    motion: Motion,
    holds: tuple[Hold, ...],
    u: np.ndarray,
    most: int,
    loss: tuple[str, float] = ("linear", 1.0),
    steps: int = 0,
    share: float = 1.0,
    by_size: bool = True,
) -> Place:
    """Search from u on, with new references where the attitude turns far."""
    for _ in range(ROUNDS):
        descent = Descent(motion, holds, u, share, by_size)
        found, u = descent.run(*loss, max(most - steps, 1))
        steps += descent.steps
        by_name = motion.unknowns.by_name
        turned = ATTITUDE in by_name and np.linalg.norm(u[by_name[ATTITUDE].place]) > TURNED
        if not turned or steps >= most:
            break
        motion = motion.moved(u)
        u = motion.unknowns.moved(u)
    return Place(motion, u, descent, found, steps)


def _judged(descent: Descent, found: Found) -> str:
    """Return why a search did not converge; empty if it did."""
    if found.left <= NEAR:
        return ""
    step, left = remaining(found.slopes, found.gradient)
    if left <= NEAR:
        return ""
    why = descent.lost and descent.impossible(descent.reached + step)
    if why:
        return (
            f"the search ended {left:.3g} standard deviations from the optimum, which lies where"
            f" there is no motion: {why}"
        )
    if not found.done:
        return "not converged within max_iterations; start nearer, or allow more"
    return f"the search ended {left:.3g} standard deviations from the optimum; start nearer"


def distance(slopes: np.ndarray, residuals: np.ndarray) -> float:
    """Return the distance in sigma from the optimum of the linear problem, if it has only one.

    With J = Q R, it is the length of Qᵀ r.
    """
    count = slopes.shape[1]
    triangle: Any = np.linalg.qr(np.column_stack([slopes, residuals]), mode="r")
    return float(np.linalg.norm(triangle[:count, count]))


def remaining(slopes: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the step to the optimum of the linear problem, and its length in sigma."""
    _, sizes, axes = np.linalg.svd(np.linalg.qr(slopes, mode="r"))
    good = sizes > 1e-9 * sizes[0]
    along = (axes[good] @ gradient) / sizes[good]
    return -axes[good].T @ (along / sizes[good]), float(np.linalg.norm(along))
