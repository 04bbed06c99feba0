"""``resume``: continue a run or an ensemble from its checkpoint."""

import os
from collections.abc import Callable
from typing import Any

from polhode.contracts import Coordinates, Formulation, Integrator, Method, Model
from polhode.ensembles.checkpoint import KIND, resume_ensemble
from polhode.ensembles.result import EnsembleResult
from polhode.errors import InputError
from polhode.files.checkpoint import kind_of
from polhode.results.trajectory import Trajectory
from polhode.solvers.entry import resume_run


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
    is_ensemble = kind_of(file) == KIND
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
        return resume_ensemble(file, **others, **common)
    return resume_run(file, events=events, **common)
