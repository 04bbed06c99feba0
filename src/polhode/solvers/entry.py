"""``solve`` and ``prepare``: the motion of one body."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from polhode.contracts import Coordinates, Formulation, Integrator, Method, Model
from polhode.errors import FileError, InputError
from polhode.files.given import damage_refused
from polhode.integrators import INTEGRATORS
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.adaptive import prepare_adaptive
from polhode.solvers.arguments import AUTO, Arguments, answers_habits, with_options
from polhode.solvers.checkpoint import Stored, check_checkpoint, describe_checkpoint
from polhode.solvers.closed_form import prepare_closed_form
from polhode.solvers.events import watch_for
from polhode.solvers.maps import prepare_map
from polhode.solvers.plain_data import rebuild_run
from polhode.solvers.solver import Solver


@answers_habits
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
    max_steps: float | None = None,
    breakpoints: Any = None,
    t_eval: Any = None,
    save_every: int = 1,
    events: Any = None,
    compensated: bool | None = None,
    progress: bool | Callable[[float], None] = False,
    options: Mapping[str, Any] | None = None,
    checkpoint: str | os.PathLike | None = None,
    checkpoint_every: int | None = None,
    sensitivities: Any = None,
) -> Trajectory:
    """Solve for the motion of one body over ``t_span``.

    Parameters
    ----------
    problem : Problem
    t_span : (start, end); the end may be before the start
    method : a name from ``ph.METHODS`` (maps, with ``dt``) or ``ph.INTEGRATORS`` (most with
        ``rtol``), a ``Method``, an ``Integrator``, or "auto": without torque the closed form; with
        ``dt`` the cheapest map that was measured to be accurate enough with this step on problems
        of this kind; otherwise an adaptive integrator.  ``run.method`` and ``run.reason`` say which
        one and why
    formulation : the variables of an integrator, a name from ``ph.FORMULATIONS`` or, for attitude
        and momentum together, from ``ph.COORDINATES``; by default "quaternion"
    dt : the step of a map.  If the span is a whole number of steps within 1e-9, exactly that many
        are taken; otherwise the last step is shortened to reach the end.  "auto" without torque
        does not need it, and then returns a state every 0.1 rad, 201 to 20001 of them
    rtol, atol : tolerances of an adaptive integrator for the error of one step: ``rtol`` for the
        attitude as an angle and for the momentum relative to its size, by default 1e-9; ``atol``
        for both in SI units.  With "auto" and ``dt``, ``rtol`` is the error of the attitude to aim
        at after some 40 radians, by default 1e-6
    first_step, max_step : of an adaptive integrator; a torque with a short pulse needs ``max_step``
    max_steps : an adaptive run ends after this number of trial steps, accepted or rejected, with
        the status TOO_MANY_STEPS; by default 10 million, ``math.inf`` for no limit
    breakpoints : times at which the torque is not smooth; an adaptive run restarts there
    t_eval : times at which to return the state, in the order of the motion; by default, after every
        step.  A time between the steps of a map is reached by a side step that is never fed back.
        ``run.sol(t)`` gives the state at any time afterwards
    save_every : keep every n-th step (and the last one); not with ``t_eval``
    events : a function ``event(t, q, omega)`` or several, whose zeros are located: q is
        (w, x, y, z), omega in body axes; ``event(t, x, v, q, omega)`` also takes the position and
        velocity of the centre of mass.  As in SciPy, the attributes ``terminal`` (stop there; n:
        at the n-th zero) and ``direction`` (only zeros where it rises along the run, > 0, or falls,
        < 0) are respected.  ``run.t_events`` are the times, ``run.events`` the states
    compensated : whether a map carries what its sums lose to rounding, for runs of many million
        steps; by default where that costs at most a tenth (integrators always do)
    progress : True for a bar on stderr, or a function of the fraction done
    options : of the method, by name: ``{"order": 8}`` for "gauss", ``{"substeps": 4}`` and others
        for "rkn4"
    checkpoint : a file that stores the run while it is under way; after the process has ended,
        ``ph.resume`` continues it and returns the same bits as the uninterrupted run
    checkpoint_every : accepted steps between two checkpoints; by default about every ten seconds.
        It does not affect the result
    sensitivities : names of what the motion is differentiated by, such as ["state", "moments",
        "model.strength"], or a ``ph.Sensitivities``.  ``run.stm``, ``run.sensitivity`` and
        ``run.covariance`` are then there; the states have the same bits as without

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
    arguments = Arguments(
        method, formulation, dt, rtol, atol, first_step, max_step, max_steps, breakpoints, t_eval,
        save_every, events, compensated, progress, options, checkpoint, checkpoint_every,
        sensitivities,
    )  # fmt: skip
    return prepare_from(problem, arguments)(t_span)


@answers_habits
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
    max_steps: float | None = None,
    breakpoints: Any = None,
    t_eval: Any = None,
    save_every: int = 1,
    events: Any = None,
    compensated: bool | None = None,
    progress: bool | Callable[[float], None] = False,
    options: Mapping[str, Any] | None = None,
    checkpoint: str | os.PathLike | None = None,
    checkpoint_every: int | None = None,
    sensitivities: Any = None,
) -> Solver:
    """Prepare a reusable compiled solver: ``solver(t_span, attitude=…, omega=…, params=…)``.

    It takes the arguments of ``solve`` except the span.  A call costs a few microseconds.  The
    model is taken as it is now: functions and constants changed later need a new ``prepare``.

    Examples
    --------
    >>> import polhode as ph
    >>> solver = ph.prepare(ph.problems.fast_top(), method="mr2", dt=0.01)
    >>> [solver((0, 1), omega=[0, 0, spin]).nsteps for spin in (40, 60)]
    [100, 100]
    """
    arguments = Arguments(
        method, formulation, dt, rtol, atol, first_step, max_step, max_steps, breakpoints, t_eval,
        save_every, events, compensated, progress, options, checkpoint, checkpoint_every,
        sensitivities,
    )  # fmt: skip
    return prepare_from(problem, arguments)


def prepare_from(problem: Problem, arguments: Arguments) -> Solver:
    """Prepare a solver from a record of arguments."""
    if not isinstance(problem, Problem):
        made = "; make one: ph.Problem(body, ph.torque(function), omega=…)"
        raise InputError(
            f"problem must be a Problem, got {problem!r}{made if callable(problem) else ''}"
        )
    place = None
    if arguments.checkpoint is not None or arguments.checkpoint_every is not None:
        place = check_checkpoint(arguments.checkpoint, arguments.checkpoint_every)
    if hasattr(arguments.events, "__next__"):
        arguments = replace(arguments, events=tuple(arguments.events))  # read more than once
    method, model = arguments.method, problem.model
    if arguments.options:
        method = with_options(method, arguments.options)
    if method == AUTO and model.is_free and not model.moves:
        return prepare_closed_form(problem, arguments)
    integrator = INTEGRATORS.get(method) if isinstance(method, str) else method
    if (method == AUTO and arguments.dt is None) or (
        isinstance(integrator, Integrator) and integrator.adaptive
    ):
        solver = prepare_adaptive(problem, arguments, method)
    else:
        solver = prepare_map(problem, arguments, method)
    if place is not None:
        solver.output.checkpoint = describe_checkpoint(place, problem, arguments)
    return solver


def prepare_again(
    file: str,
    stored: Stored,
    model: Model | None,
    method: Method | Integrator | None,
    formulation: Formulation | Coordinates | None,
    events: Any = None,
    **others: Any,
) -> Solver:
    """Prepare the solver of the run that a checkpoint holds, with what must be given again."""
    data, arrays = stored
    given = model, method, formulation, events
    solver = prepare_from(*rebuild_run(file, data, arrays, *given, **others))
    if data["chosen"] != solver.name:
        raise FileError(
            f"the run was begun with method {data['chosen']!r}, and 'auto' now chooses"
            f" {solver.name!r}; continue it with the version of polhode that began it"
        )
    return solver


def resume_run(
    file: str | os.PathLike,
    stored: Stored,
    *,
    model: Model | None = None,
    events: Any = None,
    method: Method | Integrator | None = None,
    formulation: Formulation | Coordinates | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Trajectory:
    """Continue the run of one body that a checkpoint holds, as described in ``ph.resume``."""
    if events is not None:
        watch_for(events)  # the caller's mistakes first
    others: dict[str, Any] = {
        "progress": progress,
        "checkpoint": Path(file),
        "checkpoint_every": stored.data["every"],
    }
    with damage_refused(file):
        solver = prepare_again(str(file), stored, model, method, formulation, events, **others)
    return solver.resume(stored)
