"""Derivatives at events, whose times depend on what a run is differentiated by.

Where an event function g(t, s) of the state s vanishes, with s' the derivatives of s at a fixed
time, and the slope f = ds/dt of the motion,

    dt = -(∂g/∂s · s') / (dg/dt),    d(s at the event) = s' + f dt                     (1)

Dual numbers give ∂g/∂s · s'; f and dg/dt are differences over five times inside the step, of the
motion as it is interpolated.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.compiler.dual import lifted
from polhode.errors import InputError, PolhodeWarning
from polhode.kernels.quaternion import conjugate, hamilton
from polhode.solvers.adaptive_steps import Motion, differentiated, turn_towards
from polhode.solvers.events import Event, Watch

SPACING, TURN = 0.125, 2e-3  # of the times of differences: at most, in steps and in radians


def with_jump(
    solver: Any, motion: Motion, watch: Watch, times: np.ndarray, rows: np.ndarray, first: tuple
) -> np.ndarray:
    """Return the rows of a run, of which the last is at the event that ended it: (1)."""
    stopped = solver.output.t_eval is None and len(times) and times[-1] == watch.stop
    if solver.directions is None or not stopped:
        return rows
    event = watch.events[watch.stopped_by]
    last = _jumped(solver, motion, event, times[-1:], rows[-1:], first)
    return np.concatenate([rows[:-1], last])


def rows_at_event(
    solver: Any, motion: Motion, k: int, times: np.ndarray, first: tuple
) -> np.ndarray:
    """Return rows of states at zeros of the k-th event, with derivatives of these: (1)."""
    rows, watch = motion.at(times), solver.output.watch
    if solver.directions is None or watch is None:
        return rows
    return _jumped(solver, motion, watch.events[k], times, rows, first)


def _jumped(
    solver: Any, motion: Motion, event: Event, times: np.ndarray, rows: np.ndarray, first: tuple
) -> np.ndarray:
    """``first`` is what ``solver.seen_on_duals`` needs of the start."""
    rows = rows.copy()
    directions, see = solver.directions, solver.see(motion)
    numbers = directions.outputs + 1
    for i, t in enumerate(times):
        here, nodes = rows[i : i + 1], _nodes_at(motion, float(t), see)

        def values(times, here=here):
            states = motion.at(times)[:, :numbers]
            turn_towards(np.repeat(here[:, :4], len(states), axis=0), states)
            return np.hstack([states, event.values(times, see(times))[:, None]])

        change = differentiated(values, times[i : i + 1], *nodes)[0]
        gradient = _gradient(event, float(t), solver.seen_on_duals(float(t), here[0], first))
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = -gradient / change[-1]
        if not np.isfinite(shift).all():
            warnings.warn(
                f"{event.called} only touches zero at t = {float(t)!r}: the time of such an event"
                " has no derivative",
                PolhodeWarning,
                stacklevel=2,
            )
        rows[i, numbers:] += np.outer(_slope(here[0], change[:-1]), shift).ravel()
    return rows


def _nodes_at(motion: Motion, t: float, see: Callable) -> tuple:
    """Return the spacing of times inside the step at t, and its first and last time."""
    knots = np.sort(motion.times)
    place = int(np.clip(np.searchsorted(knots, t) - 1, 0, len(knots) - 2))
    low, high = knots[place : place + 2]
    rate = float(np.linalg.norm(see(np.array([t]))[0, 4:7]))
    spacing = min(SPACING * (high - low), TURN / rate if rate > 0.0 else np.inf)
    return np.array([spacing]), low, high


def _slope(row: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return f: 2 q* dq/dt in place of dq/dt, and what follows."""
    q = tuple(row[:4])
    _, *turn = hamilton(conjugate(q), tuple(change[:4]))
    return np.concatenate([2.0 * np.array(turn) / np.dot(q, q), change[4:]])


def _gradient(event: Event, t: float, seen: tuple) -> np.ndarray:
    """Return ∂g/∂s · s' along all directions, padded as the numbers in ``seen`` are."""
    try:
        value = event.on_duals(t, *seen)
    except InputError as error:
        raise InputError(f"{event.called}: {error}") from error
    return np.array(lifted(value, seen).d)
