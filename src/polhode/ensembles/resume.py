"""``resume``: continue a run or an ensemble from its checkpoint."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from polhode.contracts import Coordinates, Formulation, Integrator, Method, Model
from polhode.ensembles.checkpoint import KIND, STATE, EnsembleSaver, Layout, Numbers, journal_of
from polhode.ensembles.dask_cluster import connect
from polhode.ensembles.members import Members
from polhode.ensembles.plain_data import rebuild_reductions, rebuild_vary
from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.run import Run
from polhode.ensembles.store import clear_remains
from polhode.ensembles.task import Task, threads_of
from polhode.errors import FileError, InputError
from polhode.files.checkpoint import Journal, Mark, kind_of, read
from polhode.results.trajectory import Trajectory
from polhode.solvers.entry import prepare, resume_run
from polhode.solvers.plain_data import NUMBERS, rebuild_arguments, rebuild_problem

ARGUMENTS = "method", "formulation", *NUMBERS, "compensated", "options"  # of ``prepare``


def resume(
    file: str | os.PathLike,
    *,
    model: Model | None = None,
    events: Any = None,
    reduce: Any = None,
    method: Method | Integrator | None = None,
    formulation: Formulation | Coordinates | None = None,
    threads: int | None = None,
    client: Any = None,
    progress: bool | Callable[[float], None] = False,
) -> Trajectory | EnsembleResult:
    """Continue a run from its checkpoint, and return the whole run from its start.

    The result has the same bits as an uninterrupted run, and checkpoints are written as before.  If
    the run was finished, its result is returned at once.

    Parameters
    ----------
    file : the ``checkpoint`` of ``solve``, ``prepare`` or ``solve_ensemble``
    model, events, reduce, method, formulation : what the file holds only as a digest because it is
        not part of this library: user-defined functions and records, models with large tables.
        Give the same again; anything else is refused, with the differences
    threads, client : for an ensemble, as in ``solve_ensemble``; those of the first run are not
        stored.  With ``client`` an unfinished chunk starts again on the workers
    progress : True for a bar on stderr, or a function of the fraction done

    Returns
    -------
    Trajectory, or EnsembleResult for the checkpoint of an ensemble

    Examples
    --------
    >>> import polhode as ph, tempfile
    >>> place = tempfile.mkdtemp() + "/run.ckpt"
    >>> run = ph.solve(ph.problems.fast_top(), (0, 2), method="mr2", dt=0.001, checkpoint=place)
    >>> again = ph.resume(place)
    >>> bool((again.q == run.q).all())
    True
    """
    is_ensemble = kind_of(file) == KIND
    others = {"reduce": reduce, "threads": threads, "client": client}
    for name, value in ({"events": events} if is_ensemble else others).items():
        if value is not None:
            what, whose = ("an ensemble", "runs") if is_ensemble else ("a run", "ensembles")
            raise InputError(
                f"{str(file)!r} is the checkpoint of {what}, and {name}= is for {whose}: leave it"
                " out"
            )
    common: dict[str, Any] = {
        "model": model, "method": method, "formulation": formulation, "progress": progress
    }  # fmt: skip
    if is_ensemble:
        return resume_ensemble(file, **others, **common)
    return resume_run(file, events=events, **common)


def resume_ensemble(
    file: str | os.PathLike,
    *,
    model: Model | None = None,
    method: Method | Integrator | None = None,
    formulation: Formulation | None = None,
    reduce: Any = None,
    threads: int | None = None,
    client: Any = None,
    progress: bool | Callable[[float], None] = False,
) -> EnsembleResult:
    """Continue an ensemble from its checkpoint, as described in ``ph.resume``."""
    path, name = Path(file), str(file)
    threads = threads_of(threads, client)
    data, arrays = read(path, KIND)
    problem = rebuild_problem(name, data["problem"], arrays, model)
    known = rebuild_arguments(name, data["asked"], arrays, method, formulation, None)
    arguments = {key: known[key] for key in ARGUMENTS}
    solver = prepare(problem, **arguments)
    bound = solver.bound
    if bound.name != data["chosen"]:
        raise FileError(
            f"the ensemble was begun with method {data['chosen']!r}, and 'auto' now chooses"
            f" {bound.name!r}; resume with the version of polhode that began it"
        )
    reductions = rebuild_reductions(name, data["reductions"], reduce)
    out = None if data["out"] is None else Path(os.path.normpath(path.parent / data["out"]))
    with Journal(journal_of(path), Mark(*data["mark"])) as journal:
        numbers, journal.rows = Numbers(journal.path, journal.rows), np.empty(0)
        given = numbers.arrays(data["given"])
        about = data["members"]
        vary = rebuild_vary(name, about["vary"], given)
        members = Members(problem, about["count"], vary, about["seed"])
        flags, (t0, t1) = given["flags"].astype(int), data["span"]
        rows = given["times"], flags & 1 != 0, flags & 2 != 0, flags & 4 != 0
        task = Task(members, arguments, t0, t1, *rows, reductions, bound)
        layout = Layout(task, out is not None, data["widths"])
        tables = {key: arrays[key] for key in arrays if not key.startswith(STATE)}
        saver = EnsembleSaver(path, journal, layout, data, tables)
        parts = saver.read(numbers, arrays)
        del numbers, arrays
        if out is not None and not data["store"]:
            clear_remains(out)
        run = Run(task, solver, out, data["size"], saver, parts, data["store"])
        if data["finished"]:
            return run.result(written=True)
        if out is not None and not data["store"]:
            saver.write(store=True)
        with nullcontext() if client is None else connect(client) as workers:
            return run.finish(threads, progress, workers, data["size"])
