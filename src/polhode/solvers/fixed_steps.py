"""Fixed steps: after which of them a state is kept, and how they are taken in chunks."""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from polhode.contracts import OK, Status
from polhode.errors import InputError
from polhode.files.given import damage_refused, memory, shortage
from polhode.solvers.arguments import in_order
from polhode.solvers.checkpoint import Saver
from polhode.solvers.raised import call_fixed

FIRST_CHUNK = 20_000  # steps in the first call of a compiled loop
CHUNK_SECONDS = 0.2  # of later calls, between which Ctrl-C and a progress bar are served
EPS = 2.0**-52
COUNTS = {"steps": int, "iterations": int}  # in a checkpoint
LITTLE = 10**8  # bytes, which any machine has
ROW = 80  # bytes for a state that is kept, with its time and its place
SAVE_FEWER = "keep fewer with save_every={:.0e} or more"


class Plan(NamedTuple):
    """``steps`` of ``h``; row r, at ``times[r]``, is ``ends[r]`` steps from the start and a side
    step ``sides[r]``.
    """

    steps: int
    h: float
    times: np.ndarray
    ends: np.ndarray
    sides: np.ndarray


def count_steps(t0: float, t1: float, dt: float) -> tuple[int, float, float]:
    """Return (n, h, rest): n steps of h from t0 to t1, and a shorter one if they do not fit."""
    length = t1 - t0
    exact = abs(length) / dt
    if exact >= 2**53:
        raise InputError(f"t_span and dt ask for {exact:.3g} steps, more than can be counted")
    n = round(exact)
    if n and abs(exact - n) <= max(1e-9, 4 * n * EPS):
        return n, length / n, 0.0
    n, h = math.floor(exact), math.copysign(dt, length)
    return n, h, length - n * h


def plan(
    t0: float,
    t1: float,
    dt: float,
    t_eval: np.ndarray | None = None,
    save_every: int = 1,
    remedy: str = SAVE_FEWER,
    size: int = ROW,
) -> Plan:
    """Plan steps of ``dt`` from t0 to t1, the last one shorter if they do not fit.

    ``remedy`` says what to do if the states, each of some ``size``, do not fit into memory.
    """
    n, h, rest = count_steps(t0, t1, dt)
    if t_eval is not None:
        times = in_order(t_eval, t0, t1)
        return Plan(n, h, times, *_side_steps(times, t0, h, n))
    save_every = min(save_every, n + 1)  # more is the same, and may be more than can be counted
    _check_memory(n, save_every, remedy, size)
    ends = np.arange(0, n + save_every, save_every)
    ends[-1] = n  # also when n is not a multiple
    if rest != 0.0 and n % save_every == 0:
        ends = np.append(ends, n)
    times, sides = t0 + ends * h, np.zeros(len(ends))
    times[-1], sides[-1] = t1, rest
    return Plan(n, h, times, ends, sides)


def _check_memory(steps: int, save_every: int, remedy: str, size: int) -> None:
    """Raise an error if the states that would be kept do not fit into memory."""
    rows = steps // save_every + 1
    if rows * size > LITTLE and (short := shortage(rows * size)):
        enough = math.ceil(steps * size / (0.1 * memory()))
        raise InputError(
            f"t_span and dt ask for {steps:.3g} steps and would keep {rows:.3g} states, some"
            f" {short}: {remedy.format(enough)}"
        )


def _side_steps(times: np.ndarray, t0: float, h: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (ends, sides): the grid point before each time, and the step from there."""
    if h == 0.0:
        return np.zeros(len(times), dtype=np.int64), np.zeros(len(times))
    near = np.rint((times - t0) / h)
    slack = 4 * np.spacing(np.maximum(np.abs(times), abs(t0)))
    on_grid = np.abs(times - (t0 + near * h)) <= slack
    ends = np.where(on_grid, near, np.floor((times - t0) / h))
    ends = np.clip(ends, 0, n).astype(np.int64)
    return ends, np.where(on_grid & (near <= n), 0.0, times - (t0 + ends * h))


def _restore(
    saver: Saver, row: np.ndarray, grid: Plan, out: np.ndarray
) -> tuple[int | None, int, int, int, float] | None:
    """Return what ``take_steps`` returns, from a checkpoint; the status is None under way."""
    with damage_refused(saver.path):
        found = saver.restore(row, out.shape[1], COUNTS)
        if found is None:
            return None
        counts, old, numbers = found
        place, done, status, size = len(old), counts["steps"], None, 0.0
        due = int(np.searchsorted(grid.ends, done, side="right"))
        if "status" in counts:
            status, size = int(Status(counts["status"])), float(numbers["size"][0])
            due = len(out) if status == OK else min(place, due)
        if place != due or done > grid.steps:
            raise ValueError(f"it has {place} rows after {done} steps")
        out[:place] = old
        return status, place, done, counts["iterations"], size


def take_steps(
    run: Callable,
    row: np.ndarray,
    t0: float,
    grid: Plan,
    weights: np.ndarray,
    offsets: np.ndarray,
    tables: tuple,
    out: np.ndarray,
    report: Callable[[float], None],
    saver: Saver | None = None,
) -> tuple:
    """Take the steps in chunks short enough for Ctrl-C and a progress bar, with the same result.

    ``run`` is ``loops.packed_record``; returns (status, rows, steps, iterations, size) as it does,
    then what a user's function raised.  ``saver`` stores the run in a checkpoint, or continues one.
    """
    h, ends, sides, settings = grid.h, grid.ends, grid.sides, (weights, offsets, tables)
    fresh, place, done, iterations, saved, raised = True, 0, 0, 0, 0, []
    chunk, scratch = FIRST_CHUNK, np.empty((1, out.shape[1]))
    before = None if saver is None else _restore(saver, row, grid, out)
    if before is not None:
        status, place, done, iterations, size = before
        fresh, saved = False, place
        if status is not None:
            return status, place, done, iterations, size
    while place < len(ends):
        ahead = chunk if saver is None else min(chunk, saver.left(done))
        last = int(np.searchsorted(ends, done + ahead, side="right"))
        if last > place:
            part, aside, room = ends[place:last] - done, sides[place:last], out[place:last]
        else:  # the next row is further away
            part, aside, room = np.array([ahead]), np.zeros(1), scratch
        clock = time.perf_counter()
        now = row, t0, h, done, fresh, part, aside, *settings, room
        found = call_fixed(run, now, ahead == 1)
        if found is None:
            chunk = ahead // 2
            continue
        status, rows, steps, count, size, *raised = found
        took = time.perf_counter() - clock
        fresh = False
        done, iterations = done + steps, iterations + count
        place += rows if last > place else 0
        if status != OK:
            break
        report(done / max(int(ends[-1]), 1))
        if saver is not None and place < len(ends) and saver.due(done):
            saver.mark({"steps": done, "iterations": iterations}, {"row": row}, out[saved:place])
            saved = place
        if ahead == chunk:
            chunk = max(1, min(int(chunk * CHUNK_SECONDS / max(took, 1e-9)), 8 * chunk))
    else:
        status, size = OK, 0.0
    if saver is not None and not raised:
        counts = {"steps": done, "iterations": iterations, "status": status}
        saver.finish(counts, {"row": row, "size": np.array([size])}, out[:place])
    return status, place, done, iterations, size, *raised
