"""``solve_ensemble``: the motion of many bodies, in chunks of members."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from polhode.contracts import Formulation, Integrator, Method
from polhode.contracts.checks import span
from polhode.ensembles.checkpoint import new_checkpoint
from polhode.ensembles.dask_cluster import connect
from polhode.ensembles.members import members_of
from polhode.ensembles.places import check_place
from polhode.ensembles.reductions import reductions_of
from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.run import Run
from polhode.ensembles.task import FINAL, chunk_size, make_task, threads_of
from polhode.errors import InputError
from polhode.problems.problem import Problem
from polhode.solvers.arguments import AUTO, Arguments, answers_habits
from polhode.solvers.checkpoint import check_checkpoint
from polhode.solvers.entry import prepare_from


@answers_habits
def solve_ensemble(
    problem: Problem,
    t_span: Sequence[float],
    *,
    members: int | None = None,
    samples: Any = None,
    vary: Mapping[str, Any] | None = None,
    seed: int | None = None,
    method: str | Method | Integrator = AUTO,
    formulation: str | Formulation | None = None,
    dt: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    first_step: float | None = None,
    max_step: float | None = None,
    max_steps: float | None = None,
    compensated: bool | None = None,
    options: Mapping[str, Any] | None = None,
    save: Any = FINAL,
    reduce: Any = None,
    reduce_times: Any = None,
    threads: int | None = None,
    chunk: int | None = None,
    out: str | os.PathLike | None = None,
    client: Any = None,
    progress: bool | Callable[[float], None] = False,
    checkpoint: str | os.PathLike | None = None,
    checkpoint_every: int | None = None,
    sensitivities: Any = None,
) -> EnsembleResult:
    """Solve the motion of many bodies over ``t_span``, each as ``solve`` would alone.

    Parameters
    ----------
    problem : what all members share
    t_span : (start, end)
    members : their number
    vary : what differs, by name: ``omega`` or ``angular_momentum``, ``attitude``, ``position``,
        ``velocity``, ``inertia``, ``mass``, and the parameters of the model, ``model.strength``
        (``model.heavy_top.strength`` in a sum).  Each is an array with the members first, a SciPy
        ``Rotation`` or an xarray array with the dimension ``member``; a distribution from
        ``ph.distributions`` to draw from; or ``ph.distributions.Sweep(values)``: several sweeps
        make a grid, whose first varies slowest
    samples : the same as a mapping of arrays, or an xarray data set
    seed : for the random draws, a whole number.  Member i does not depend on the number of members
    method, formulation, dt, rtol, atol, first_step, max_step, max_steps, compensated, options : as
        in ``solve``.  With tolerances every member finds its own steps, ``max_steps`` at most
    save : which states to keep: "final", "all" steps of a map, a whole number n (every n-th step),
        a list of times, or None
    reduce : what to compute from all members during the run: one or several of ``ph.reductions``,
        or texts such as "mean(omega)", "attitude", "quantiles(speed, 0.05, 0.5, 0.95)"; "fli" and
        "megno" tell chaotic members of maps from regular ones
    reduce_times : when to reduce: times, or their number, evenly spaced with both ends; default 101
    threads : default: the number of processors
    chunk : members in memory at the same time; affects memory, never results
    out : the name of a Zarr store, "name.zarr", that the saved states are written to during the
        run, so that they are never all in memory; the result, ``ph.load`` and ``xarray.open_zarr``
        read from it on demand.  Its attribute ``complete`` is false until everything is written.
        A store of this name is replaced if it has the mark of a run; those of 0.1.0 have none
    client : a ``dask.distributed.Client``, or the address of a scheduler: chunks then run on its
        workers, by default with one thread each and about two seconds long; the bits are the same
    progress : True for a bar on stderr, or a function of the fraction done
    checkpoint : a file that saves the ensemble while it runs; ``ph.resume`` continues from it after
        the process has ended, and returns the same bits as an uninterrupted run.  With ``client``
        it holds the finished chunks, not those on the workers
    checkpoint_every : steps between two checkpoints of the running members; by default one is
        written about every ten seconds.  Where members find their own steps, the one that took most
        counts, at every row and every hundredth of the span; the closed form counts rows.  Results
        do not depend on it
    sensitivities : names of what the motion is differentiated by, or a ``ph.Sensitivities``, as in
        ``solve``.  ``result.stm``, ``result.sensitivity`` and ``result.covariance`` are then there;
        the states have the same bits as without

    Returns
    -------
    EnsembleResult; a member that fails keeps its last good state, and its ``status`` says why

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.problems.fast_top()
    >>> spins = ph.distributions.Normal([0, 0, 50], 0.5)
    >>> result = ph.solve_ensemble(
    ...     top, (0, 1), members=100, vary={"omega": spins}, seed=1, method="mr2", dt=1e-2
    ... )
    >>> result.q.shape
    (1, 100, 4)
    """
    if not isinstance(problem, Problem):
        raise InputError(f"problem must be a Problem, got {problem!r}")
    arguments = Arguments(
        method, formulation, dt, rtol, atol, first_step, max_step, max_steps,
        compensated=compensated, options=options, sensitivities=sensitivities,
    )  # fmt: skip
    place = check_checkpoint(checkpoint, checkpoint_every)
    threads = threads_of(threads, client)
    if out is not None:
        check_place(out)
        if place is not None and Path(out).resolve() == place[0].resolve():
            raise InputError(f"out and checkpoint must be different files, got {str(out)!r} twice")
    crowd = members_of(problem, members, samples, vary, seed)
    solver = prepare_from(problem, arguments)
    t0, t1 = span(t_span)
    rows = t0, t1, save, reductions_of(reduce), reduce_times
    task = make_task(crowd, arguments, solver, *rows, out is None)
    size = chunk_size(chunk)
    length = None if chunk is None else size
    with nullcontext() if client is None else connect(client) as workers:
        if place is None:
            return Run(task, solver, out, size).finish(threads, progress, workers, length)
        path, every = place
        with new_checkpoint(path, task, out, size=size, every=every) as saver:
            run = Run(task, solver, out, size, saver, run=saver.data["run"])
            saver.write(store=out is not None)
            return run.finish(threads, progress, workers, length)
