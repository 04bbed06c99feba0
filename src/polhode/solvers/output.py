"""What a run returns besides its last state: which states, events, progress and checkpoints."""

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from polhode.contracts import ADVICE, OK, Status
from polhode.errors import InputError
from polhode.solvers.adaptive_steps import Motion, StepsTaken
from polhode.solvers.arguments import Arguments, in_order, times_of
from polhode.solvers.checkpoint import Checkpoint
from polhode.solvers.events import Watch, watch_for
from polhode.solvers.fixed_steps import Plan, make_plan


class Output:
    """Which states a run returns: those of all steps, of every n-th step, or at given times.

    Attributes
    ----------
    t_eval, save_every, progress : as in ``solve``
    every_step : whether the states of all steps are returned
    watch : the events to look for; None if there are none
    checkpoint : where the run is stored; None if nowhere
    side_steps : how many there are in the last plan
    """

    def __init__(self, arguments: Arguments):
        t_eval, save_every = arguments.t_eval, arguments.save_every
        if not isinstance(save_every, (int, np.integer)) or save_every < 1:
            raise InputError(f"save_every must be a whole number of steps, got {save_every!r}")
        if t_eval is not None and save_every != 1:
            raise InputError("give t_eval or save_every, not both")
        self.save_every = int(save_every)
        self.t_eval = None if t_eval is None else times_of(t_eval)
        self.every_step = t_eval is None and save_every == 1
        self.watch = None if arguments.events is None else watch_for(arguments.events)
        self.progress = arguments.progress
        self.checkpoint: Checkpoint | None = None
        self.side_steps = 0
        self._span: tuple[float, float, float] | None = None
        self._plan: Plan

    @property
    def in_background(self) -> bool:
        """Whether a run needs neither a progress report nor a checkpoint."""
        return not self.progress and self.checkpoint is None

    def plan(self, t0: float, t1: float, dt: float) -> Plan:
        """Plan fixed steps; kept for the next call, which often has the same span."""
        if self._span != (t0, t1, dt):
            self._span = t0, t1, dt
            self._plan = make_plan(t0, t1, dt, self.t_eval, self.save_every)
            self.side_steps = int(np.count_nonzero(self._plan.sides))
        count, h, times, ends, sides = self._plan
        return Plan(count, h, times.copy(), ends, sides)

    def select_times(
        self, times: np.ndarray, stop: float | None, t0: float, t1: float
    ) -> np.ndarray:
        """Select the times to return, from those of the steps that an adaptive run took."""
        end = float(times[-1])
        if self.t_eval is not None:
            times = in_order(self.t_eval, t0, t1)
            times = times[times <= end] if t1 >= t0 else times[times >= end]
        elif self.save_every != 1:
            times = np.append(times[: -1 : self.save_every], times[-1])
        return times if stop is None else self.cut(times, stop, t1 >= t0)

    def cut(self, times: np.ndarray, stop: float, forward: bool) -> np.ndarray:
        """Cut times at a terminal event, and append its own unless there is ``t_eval``."""
        before = times[times <= stop] if forward else times[times >= stop]
        if self.t_eval is None and (len(before) == 0 or before[-1] != stop):
            before = np.append(before, stop)
        return before


class Source(Protocol):
    """A solver, as the output of an adaptive run needs it."""

    output: Output

    @property
    def name(self) -> str: ...

    def see(self, motion: Motion) -> Callable: ...

    def describe_failure(
        self, status: int, t: float, steps: int, h: float, size: float = 0.0
    ) -> str: ...


def collect_steps(
    solver: Source, taken: StepsTaken, watch: Watch | None, t0: float, t1: float
) -> tuple[np.ndarray, np.ndarray | None, dict[str, Any]]:
    """Return (times, rows, facts) of an adaptive run; rows are None for those of all steps."""
    facts: dict[str, Any] = {"method": solver.name, "status": Status(taken.status)}
    stop = None
    if watch is not None:
        watch.look(taken.times, solver.see(taken))
        stop = note_events(watch, facts)
    times, rows = taken.times, None
    if taken.status != OK and stop is None:
        facts["message"] = solver.describe_failure(
            taken.status, float(times[-1]), taken.nsteps, taken.next_step
        )
    if stop is not None or not solver.output.every_step:
        times = solver.output.select_times(times, stop, t0, t1)
        rows = taken.at(times)
    facts["nsteps"], facts["rejected"] = taken.nsteps, taken.rejected
    facts["nfev"] = taken.evaluations
    return times, rows, facts


def note_events(watch: Watch, facts: dict[str, Any]) -> float | None:
    """Add events to the facts of a trajectory; return the time of a terminal one."""
    facts["t_events"] = [np.array(times) for times in watch.times]
    if watch.stop is not None:
        k = next(k for k, times in enumerate(watch.times) if times[-1:] == [watch.stop])
        facts["message"] = f"stopped at t = {watch.stop:.10g} by events[{k}]"
        facts["status"] = Status.OK
    return watch.stop


def failure(status: int, t: float, steps: int, h: float, size: float) -> str:
    """Say what went wrong, and what to try."""
    residual = f", last correction {math.sqrt(size):.1e}" if size > 0 else ""
    return (
        f"stopped at t = {t:.10g} after {steps} steps of {h:g}{residual}: {ADVICE[Status(status)]}"
    )
