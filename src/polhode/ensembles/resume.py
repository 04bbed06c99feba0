"""``resume``: continue a run or an ensemble from its checkpoint."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from polhode.contracts import Coordinates, Formulation, Integrator, Method, Model
from polhode.ensembles import checkpoint as ensemble_checkpoint
from polhode.ensembles.checkpoint import old_checkpoint
from polhode.ensembles.dask_cluster import connect
from polhode.ensembles.places import clear_remains, new_run
from polhode.ensembles.reductions import reductions_of
from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.run import Run
from polhode.ensembles.task import threads_of
from polhode.errors import InputError
from polhode.files.checkpoint import read_any
from polhode.files.given import damage_refused
from polhode.results.trajectory import Trajectory
from polhode.solvers import checkpoint as run_checkpoint
from polhode.solvers.checkpoint import Stored
from polhode.solvers.entry import prepare_again, resume_run

RUN, ENSEMBLE = run_checkpoint.KIND, ensemble_checkpoint.KIND
FORMS = {RUN: run_checkpoint.FORM, ENSEMBLE: ensemble_checkpoint.FORM}


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
    out: str | os.PathLike | None = None,
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
    out : for an ensemble, its store again.  Needed only where the store is outside the directory of
        the checkpoint: a file that comes from elsewhere must not choose what is written
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
    kind, data, arrays = read_any(file, FORMS)
    stored, is_ensemble = Stored(data, arrays), kind == ENSEMBLE
    others = {"reduce": reduce, "threads": threads, "client": client, "out": out}
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
        return _resume_ensemble(Path(file), stored, **others, **common)
    return resume_run(file, stored, events=events, **common)


def _resume_ensemble(
    path: Path,
    stored: Stored,
    model: Model | None,
    method: Method | Integrator | None,
    formulation: Formulation | None,
    reduce: Any,
    threads: int | None,
    client: Any,
    out: str | os.PathLike | None,
    progress: bool | Callable[[float], None],
) -> EnsembleResult:
    """Continue an ensemble, as described in ``resume``."""
    data = stored.data
    threads = threads_of(threads, client)
    wanted = None if reduce is None else reductions_of(reduce)  # the caller's mistakes first
    with damage_refused(path):
        solver = prepare_again(str(path), stored, model, method, formulation)
    with old_checkpoint(path, stored, solver, wanted, out) as (saver, parts, store):
        if store is not None and not data["store"]:
            saver.data["run"] = data.get("run") or new_run()
            clear_remains(store, saver.data["run"], confirmed=out is not None)
        task, number = saver.layout.task, saver.data.get("run")
        run = Run(task, solver, store, data["size"], saver, parts, data["store"], number)
        if data["finished"]:
            return run.result(written=True)
        if store is not None and not data["store"]:
            saver.write(store=True)
        with nullcontext() if client is None else connect(client) as workers:
            return run.finish(threads, progress, workers, data["size"])
