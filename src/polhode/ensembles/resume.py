"""``resume``: go on with a run or an ensemble that was kept in a checkpoint."""

import os
from collections.abc import Callable
from typing import Any

from polhode.contracts import Coordinates, Formulation, Integrator, Method, Model
from polhode.ensembles.checkpoint import KIND
from polhode.ensembles.entry import resume_ensemble
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
    progress: bool | Callable[[float], None] = False,
) -> Trajectory | EnsembleResult:
    """Go on with a run that was kept in a checkpoint; the whole run from its start.

    It is, bit for bit, what the uninterrupted run would have been, and goes on to write its
    checkpoints.  If it had finished, its result is returned at once.

    Parameters
    ----------
    file : the ``checkpoint`` of ``solve``, ``prepare`` or ``solve_ensemble``
    model, events, reduce, method, formulation : what the file knows by a digest only, because it is
        not part of this library: a user's functions, records of his own, models with large tables.
        The same must be given again; others are refused with what differs
    threads, client : of an ensemble, as in ``solve_ensemble``; those of the first run are not kept.
        With ``client`` a chunk that was on its way here begins anew on the workers
    progress : True for a bar on stderr, or a function of the fraction done

    Returns
    -------
    Trajectory, or EnsembleResult if it is the checkpoint of an ensemble

    Examples
    --------
    >>> import polhode as ph, tempfile
    >>> place = tempfile.mkdtemp() + "/run.ckpt"
    >>> run = ph.solve(ph.problems.fast_top(), (0, 2), method="mr2", dt=0.001, checkpoint=place)
    >>> again = ph.resume(place)
    >>> bool((again.q == run.q).all())
    True
    """
    ensemble = kind_of(file) == KIND
    others = (
        {"events": events} if ensemble else {"reduce": reduce, "threads": threads, "client": client}
    )
    for name, value in others.items():
        if value is not None:
            what, whose = ("an ensemble", "runs") if ensemble else ("a run", "ensembles")
            raise InputError(
                f"{str(file)!r} is of {what}, and {name}= is for {whose}: leave it out"
            )
    common: dict[str, Any] = {
        "model": model, "method": method, "formulation": formulation, "progress": progress
    }  # fmt: skip
    if ensemble:
        return resume_ensemble(file, reduce=reduce, threads=threads, client=client, **common)
    return resume_run(file, events=events, **common)
