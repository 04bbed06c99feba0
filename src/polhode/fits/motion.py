"""``Motion``: what a problem with given numbers predicts for all observations, with derivatives."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from polhode.contracts.checks import span
from polhode.errors import InputError
from polhode.fits.seen import Seen
from polhode.fits.unknowns import Unknowns
from polhode.results.trajectory import Trajectory
from polhode.solvers.arguments import AUTO

KEPT = 2  # evaluations: that of the numbers so far best, and the last one


class Evaluation(NamedTuple):
    """Residuals and slopes of all observations at one place, in standard deviations.

    ``problem`` and ``run`` are what was solved, ``seen`` what each set of observations sees of it.
    """

    residuals: np.ndarray
    slopes: np.ndarray
    problem: Any
    run: Trajectory
    seen: list[Seen]


class Impossible(Exception):
    """There is no motion for these numbers."""


class Motion:
    """The motion over ``t_span`` at the times of all observations of some unknowns.

    ``shares`` are the share of the span that has passed at each observed number; ``count`` is how
    often it was solved.
    """

    def __init__(
        self, unknowns: Unknowns, t_span: tuple[float, float], arguments: Mapping[str, Any]
    ):
        self.unknowns, self.t_span, self.count = unknowns, t_span, 0
        self.times, self.rows = _merged(unknowns.observations, t_span)
        self.shares = _shares(unknowns.observations, t_span)
        self.arguments = unknowns.chosen({"method": AUTO, **arguments, "t_eval": self.times})
        self._kept: dict[bytes, Evaluation] = {}
        self._prepared: Any = None

    def at(self, u: np.ndarray) -> Evaluation:
        """Evaluate all observations; raise ``Impossible`` where that cannot be done."""
        key = u.tobytes()
        if key not in self._kept:
            while len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._evaluated(u)
        else:
            self._kept[key] = self._kept.pop(key)  # the last to go
        return self._kept[key]

    def moved(self, u: np.ndarray) -> "Motion":
        """Return the same motion, whose attitude counts from that of these numbers."""
        other = object.__new__(Motion)
        other.__dict__.update(vars(self), unknowns=self.unknowns.about(u), _kept={})
        return other

    def _evaluated(self, u: np.ndarray) -> Evaluation:
        unknowns = self.unknowns
        try:
            problem = unknowns.of(u, general=True)
        except InputError as error:
            raise Impossible(str(error)) from error
        self.count += 1
        solver = unknowns.solver(problem, self.arguments, self._prepared)
        if self._prepared is None:
            self._prepared = solver
        run = solver(self.t_span)
        if not run.success:
            raise Impossible(run.message)
        found = {name: run.sensitivity[name] for name in unknowns.sensitivities}
        slopes = unknowns.slopes(found, u, problem, len(self.times))
        seen = self._seen(u, problem, run, slopes)
        try:
            parts = [
                observation.spread.whiten(*observation.compare(what))
                for observation, what in zip(unknowns.observations, seen, strict=True)
            ]
        except InputError as error:  # an observed function that is not defined there
            raise Impossible(str(error)) from error
        residuals = np.concatenate([np.ravel(r) for r, _ in parts])
        matrix = np.concatenate([j.reshape(-1, len(unknowns)) for _, j in parts])
        if not (np.isfinite(residuals).all() and np.isfinite(matrix).all()):
            raise Impossible("the motion or its derivatives are not finite")
        return Evaluation(residuals, matrix, problem, run, seen)

    def _seen(self, u: np.ndarray, problem: Any, run: Trajectory, slopes: np.ndarray) -> list[Seen]:
        """Return what each set of observations sees."""
        unknowns, found = self.unknowns, []
        for place, rows in enumerate(self.rows):
            own = unknowns.own(u, place), unknowns.own_places(place)
            found.append(Seen(problem, run, rows, slopes, unknowns.tensors, *own))
        return found


def _merged(observations: Any, t_span: tuple[float, float]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return all times in the order of the motion, and the places of those of each set."""
    t0, t1 = t_span
    for observation in observations:
        outside = (observation.times < min(t0, t1)) | (observation.times > max(t0, t1))
        if outside.any():
            place = int(np.argmax(outside))
            raise InputError(
                f"{observation.name}: t[{place}] = {observation.times[place]:g} is outside t_span"
                f" ({t0:g}, {t1:g})"
            )
    every = np.concatenate([observation.times for observation in observations])
    times, places = np.unique(every, return_inverse=True)
    if t1 < t0:
        times, places = times[::-1].copy(), len(times) - 1 - places
    sizes = [len(observation) for observation in observations]
    return times, np.split(places, np.cumsum(sizes)[:-1])


def _shares(observations: Any, t_span: tuple[float, float]) -> np.ndarray:
    t0, t1 = t_span
    parts = [np.repeat(one.times, len(one.labels)) for one in observations]
    return np.abs(np.concatenate(parts) - t0) / (abs(t1 - t0) or 1.0)


def span_of(observations: Any, t_span: Any) -> tuple[float, float]:
    """Return the span of a fit: by default from the first observation to the last."""
    if t_span is not None:
        return span(t_span)
    every = np.concatenate([observation.times for observation in observations])
    return float(every.min()), float(every.max())
