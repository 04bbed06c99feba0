"""``solve`` and ``prepare``: the front door of bodies."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from polhode.contracts import Coordinates, Formulation, Integrator, Method, Model
from polhode.errors import InputError, MethodError
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.arguments import AUTO, Arguments, find_integrator, is_integrator, with_options
from polhode.solvers.checkpoint import Checkpoint, check_checkpoint, known
from polhode.solvers.plain_data import (
    NUMBERS,
    TIMES,
    describe_arguments,
    describe_problem,
    rebuild_arguments,
    rebuild_problem,
)
from polhode.solvers.solvers import AdaptiveSolver, FreeSolver, Solver


def solve(
    problem: Problem,
    t_span: Sequence[float],
    *,
    method: str | Method | Integrator = AUTO,
    formulation: str | Formulation | Coordinates | None = None,
    dt: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    first_step: float | None = None,
    max_step: float | None = None,
    breakpoints: Any = None,
    t_eval: Any = None,
    save_every: int = 1,
    events: Any = None,
    compensated: bool = False,
    progress: bool | Callable[[float], None] = False,
    options: Mapping[str, Any] | None = None,
    checkpoint: str | os.PathLike | None = None,
    checkpoint_every: int | None = None,
) -> Trajectory:
    """The motion of one body over ``t_span``.

    Parameters
    ----------
    problem : Problem
    t_span : (start, end); the end may be before the start
    method : a name from ``ph.METHODS`` (maps, with ``dt``) or ``ph.INTEGRATORS`` (most with
        ``rtol``), a ``Method``, an ``Integrator``, or "auto": without torque the closed form; with
        ``dt`` the cheapest map that was measured to be accurate enough with this step on problems
        of this kind; else an adaptive integrator.  ``run.method`` and ``run.reason`` say which and
        why
    formulation : the variables of an integrator, a name from ``ph.FORMULATIONS`` or, attitude and
        momentum together, from ``ph.COORDINATES``; "quaternion" if nobody says
    dt : the step of a map.  If the span is a whole number of steps within 1e-9, exactly that many
        are taken; otherwise the last one is shortened to hit the end.  "auto" without torque needs
        none, and then returns 201 states
    rtol, atol : of an adaptive integrator, for the error of one step: the attitude as an angle and
        the momentum relative to its own size by ``rtol``, 1e-9 if nothing is given, both in SI
        units by ``atol``.  With "auto" and ``dt``, ``rtol`` is the error of the attitude to aim at,
        after some 40 radians: 1e-6 if not given
    first_step, max_step : of an adaptive integrator; a torque with a short pulse in it needs
        ``max_step``
    breakpoints : times at which the torque is not smooth; an adaptive run starts anew there
    t_eval : times at which to return the state, in the order of the motion; otherwise it is that
        after every step.  A time off the grid of a map is reached by a side step that is never fed
        back.  ``run.sol(t)`` gives the state at any time afterwards
    save_every : keep every so manyth step (and the last); not with ``t_eval``
    events : a function ``event(t, q, omega)`` or several, whose zeros are looked for: q is
        (w, x, y, z), omega in body axes; ``event(t, x, v, q, omega)`` sees the centre of mass,
        too.  As in SciPy, its attributes ``terminal`` (stop there; a
        number: at the so manyth) and ``direction`` (only zeros where it rises along the run, > 0,
        or falls, < 0) are heeded.  ``run.t_events`` are the times, ``run.events`` the states
    compensated : carry what the sums of a map's state lose, for runs of many million steps
        (integrators always do)
    progress : True for a bar on stderr, or a function of the fraction done
    options : of the method, by name: ``{"order": 8}`` for "gauss", ``{"substeps": 4}`` and others
        for "rkn4"
    checkpoint : a file that keeps the run while it is under way; ``ph.resume`` goes on with it
        after the process ended, and returns the same bits as the uninterrupted run
    checkpoint_every : steps (that counted) between two checkpoints; about ten seconds if nobody
        says.  The result does not depend on it

    Returns
    -------
    Trajectory; ``success`` is False if a step failed, and ``message`` says when and what to try

    Examples
    --------
    >>> import polhode as ph
    >>> run = ph.solve(ph.problems.krysl_free(), (0, 10), method="imidm", dt=0.01)
    >>> run.nsteps
    1000
    >>> run = ph.solve(ph.problems.celledoni_heavy_top(), (0, 1), method="dop853", rtol=1e-10)
    >>> run.sol([0.25, 0.5]).q.shape
    (2, 4)
    """
    asked = dict(locals())
    del asked["problem"], asked["t_span"]
    return prepare(problem, **asked)(t_span)


def prepare(
    problem: Problem,
    *,
    method: str | Method | Integrator = AUTO,
    formulation: str | Formulation | Coordinates | None = None,
    dt: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    first_step: float | None = None,
    max_step: float | None = None,
    breakpoints: Any = None,
    t_eval: Any = None,
    save_every: int = 1,
    events: Any = None,
    compensated: bool = False,
    progress: bool | Callable[[float], None] = False,
    options: Mapping[str, Any] | None = None,
    checkpoint: str | os.PathLike | None = None,
    checkpoint_every: int | None = None,
) -> "Solver | FreeSolver | AdaptiveSolver":
    """A reusable compiled solver: ``solver(t_span, attitude=…, omega=…, params=…)``.

    Takes the arguments of ``solve`` but the span.  A call costs a few microseconds.  The model is
    taken as it is now: functions and constants changed later need a new ``prepare``.
    """
    arguments = Arguments(
        method, formulation, dt, rtol, atol, first_step, max_step, breakpoints, t_eval, save_every,
        events, bool(compensated), progress, options, checkpoint, checkpoint_every,
    )  # fmt: skip
    return prepare_from(problem, arguments)


def prepare_from(problem: Problem, arguments: Arguments) -> "Solver | FreeSolver | AdaptiveSolver":
    """The solver of a problem for the arguments of ``solve``."""
    if not isinstance(problem, Problem):
        raise InputError(f"problem must be a Problem, got {problem!r}")
    place = check_checkpoint(arguments.checkpoint, arguments.checkpoint_every)
    if place is not None and hasattr(arguments.events, "__next__"):
        arguments = replace(arguments, events=tuple(arguments.events))  # read twice
    given = arguments.method
    if arguments.options:
        arguments = replace(arguments, method=with_options(given, arguments.options))
    solver = _solver(problem, arguments)
    if place is not None:
        if isinstance(solver, FreeSolver):
            raise MethodError(
                "the closed form of the free motion takes no steps to keep: leave out checkpoint="
            )
        solver.checkpoint = _kept(problem, given, arguments, *place)
    return solver


def _solver(problem: Problem, asked: Arguments) -> Solver | FreeSolver | AdaptiveSolver:
    method, model = asked.method, problem.model
    if method == AUTO and model.is_free and not model.moves:
        return FreeSolver(problem, asked)
    if (method == AUTO and asked.dt is None) or (
        is_integrator(method) and find_integrator(method).adaptive
    ):
        return AdaptiveSolver(problem, asked)
    return Solver(problem, asked)


def _kept(
    problem: Problem, method: Any, asked: Arguments, path: Path, every: int | None
) -> Checkpoint:
    """A checkpoint that knows all that a new process needs."""
    about, tables = describe_problem(problem)
    found, times = describe_arguments(
        method,
        asked.formulation,
        asked.options,
        asked.events,
        {name: getattr(asked, name) for name in NUMBERS},
        {name: getattr(asked, name) for name in TIMES},
        save_every=int(asked.save_every),
        compensated=asked.compensated,
    )
    return Checkpoint(path, every, {"problem": about, "asked": found}, {**tables, **times})


def resume_run(
    file: str | os.PathLike,
    *,
    model: Model | None = None,
    events: Any = None,
    method: Method | Integrator | None = None,
    formulation: Formulation | Coordinates | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Trajectory:
    """Go on with the run of one body that a checkpoint holds, as ``ph.resume`` says."""
    path, name = Path(file), str(file)
    before = known(path)
    data, arrays = before.data, before.arrays
    problem = rebuild_problem(name, data["problem"], arrays, model)
    asked = rebuild_arguments(name, data["asked"], arrays, method, formulation, events)
    solver = prepare(
        problem, **asked, progress=progress, checkpoint=path, checkpoint_every=data["every"]
    )
    return solver.resumed(before)
