"""``solve_ensemble``: many bodies at once, in chunks of members."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from polhode.contracts import Formulation, Integrator, Method, Model
from polhode.ensembles.checkpoint import (
    KIND,
    STATE,
    EnsembleSaver,
    Layout,
    Numbers,
    begun,
    rows_beside,
)
from polhode.ensembles.chunk import Arrays, Chunk, Task
from polhode.ensembles.dask_cluster import connected, run_chunks
from polhode.ensembles.distributions import GROUP
from polhode.ensembles.gather import Gathering, solver_name
from polhode.ensembles.members import Members, members_of
from polhode.ensembles.plain_data import (
    described_reductions,
    described_vary,
    reductions_again,
    vary_of,
)
from polhode.ensembles.reductions import reductions_of
from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.store import checked_place, clear_remains
from polhode.ensembles.task import (
    FINAL,
    check_results,
    check_size,
    chunk_size,
    task_of,
    threads_of,
)
from polhode.errors import FileError, InputError
from polhode.files.checkpoint import Journal, Mark, read
from polhode.problems.problem import Problem
from polhode.solvers.arguments import AUTO, span
from polhode.solvers.base import reporter
from polhode.solvers.checkpoint import checked
from polhode.solvers.entry import prepare
from polhode.solvers.plain_data import NUMBERS, arguments_of, described, described_asked, problem_of

ARGUMENTS = "method", "formulation", *NUMBERS, "compensated", "options"  # of ``prepare``


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
    compensated: bool = False,
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
) -> EnsembleResult:
    """The motion of many bodies over ``t_span``, each as ``solve`` would find it alone.

    Parameters
    ----------
    problem : what all members have in common
    t_span : (start, end)
    members : how many
    vary : what differs, by name: ``omega`` or ``angular_momentum``, ``attitude``, ``position``,
        ``velocity``, ``inertia``, ``mass``, and the parameters of the model, ``model.strength``
        (``model.heavy_top.strength`` in a sum).  To each an array with the members first, a SciPy
        ``Rotation`` or an xarray array with the dimension ``member``; something of
        ``ph.distributions`` to draw from; or ``ph.distributions.Sweep(values)``: several of them
        make a grid, the first the slowest
    samples : the same as a mapping of arrays, or an xarray data set
    seed : of what is drawn: a whole number.  Member i does not depend on how many there are
    method, formulation, dt, rtol, atol, first_step, max_step, compensated, options : as in
        ``solve``.  With tolerances every member finds its own steps
    save : which states to keep: "final", "all" of a map, a whole number (every so manyth step), a
        list of times, or None
    reduce : what to keep instead, made on the way: one or several of ``ph.reductions``, or texts
        such as "mean(omega)", "attitude", "quantiles(speed, 0.05, 0.5, 0.95)"
    reduce_times : when: times, or how many, evenly spaced with both ends; 101 if nobody says
    threads : as many as there are processors, if nobody says
    chunk : members on their way at the same time; decides over memory, and over no bit
    out : the name of a Zarr store, "name.zarr", into which the saved states are written while the
        members run, never all of them in memory; the result reads from it what it is asked for.
        So do ``ph.load`` and ``xarray.open_zarr``.  Until all is there its attribute ``complete``
        is false.  An older ensemble of this name is replaced
    client : a ``dask.distributed.Client``, or the address of a scheduler: chunks then run on its
        workers, of one thread each and some two seconds long if nobody says; the same bits
    progress : True for a bar on stderr, or a function of the fraction done
    checkpoint : a file that keeps the ensemble while it is under way; ``ph.resume`` goes on with it
        after the process ended, and returns the same bits as the uninterrupted run.  With
        ``client`` it keeps the chunks that are done, not those that are on the workers
    checkpoint_every : steps between two checkpoints of the members on their way; about ten seconds
        if nobody says.  Where members find their own steps it is looked for at every row and every
        hundredth of the span whether one of them took so many; the closed form has rows in the
        place of steps.  The result does not depend on it

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
    arguments: dict[str, Any] = {
        "method": method, "formulation": formulation, "dt": dt, "rtol": rtol, "atol": atol,
        "first_step": first_step, "max_step": max_step, "compensated": compensated,
        "options": options,
    }  # fmt: skip
    place = checked(checkpoint, checkpoint_every)
    threads_of(threads)
    if out is not None:
        checked_place(out)
    crowd = members_of(problem, members, samples, vary, seed)
    solver = prepare(problem, **arguments)
    t0, t1 = span(t_span)
    task = task_of(crowd, arguments, solver, t0, t1, save, reductions_of(reduce), reduce_times)
    check_results(task)
    size = chunk_size(chunk)
    check_size(task, out is None)
    asked = None if chunk is None else size
    crowd.rows(0, min(crowd.count, GROUP))  # what is wrong is told before anything is written
    with _workers(client) as workers:
        if place is None:
            gathering = Gathering(task, solver, out, size)
            return _run(gathering, None, size, asked, threads, workers, progress)
        path, every = place
        about, tables, given = _told(task, solver, path, out, size)
        about["every"] = every
        with begun(path, task, out is not None, about, tables, given) as saver:
            gathering = Gathering(task, solver, out, size)
            saver.write(store=out is not None)
            return _run(gathering, saver, size, asked, threads, workers, progress)


def _workers(client: Any) -> AbstractContextManager:
    return nullcontext() if client is None else connected(client)


def _run(
    gathering: Gathering,
    saver: EnsembleSaver | None,
    size: int,
    asked: int | None,
    threads: int | None,
    workers: Any,
    progress: bool | Callable[[float], None],
) -> EnsembleResult:
    """All chunks that are left, here or on ``workers``, and what they make."""
    task = gathering.task
    gaps = [(0, task.members.count)] if saver is None else saver.gaps()

    def put(first: int, last: int, arrays: Arrays) -> None:
        gathering.put(first, last, arrays)
        if saver is not None:
            saver.put(first, last, arrays)

    with gathering, reporter(progress) as report:
        if workers is not None and gaps:
            if saver is not None:
                saver.forget()
            own = 1 if threads is None else threads
            run_chunks(workers, task, asked, own, put, report, gaps)
        elif gaps:
            for first, last in _chunks(gaps, size, None if saver is None else saver.chunk):
                drain = gathering.drain(first)
                put(
                    first,
                    last,
                    run_chunk(task, first, last, threads_of(threads), report, saver, *drain),
                )
    result = gathering.result()
    if saver is not None:
        saver.write(finished=True)
    return result


def run_chunk(
    task: Task,
    first: int,
    last: int,
    threads: int,
    report: Callable[[float], None],
    saver: EnsembleSaver | None = None,
    *drain: Any,
) -> Arrays:
    """The members from ``first`` to ``last``, from start to end; ``drain`` as of a ``Chunk``."""
    part, rows = (last - first) / task.members.count, len(task.times)
    begin = first / task.members.count
    made = Chunk(task, first, last, threads, *drain)
    if saver is not None:
        saver.enter(made)
    return made.run(lambda row: report(begin + part * row / rows), saver)


def _chunks(
    gaps: Sequence[tuple[int, int]], size: int, begun: tuple[int, int] | None
) -> Iterator[tuple[int, int]]:
    """The members that are left, in chunks: one that was begun is the first."""
    if begun is not None:
        yield begun
        a, b = begun
        gaps = [some for x, y in gaps for some in ((x, min(y, a)), (max(x, b), y))]
    for first, last in gaps:
        yield from ((k, min(k + size, last)) for k in range(first, last, size))


# ---- checkpoints
def _told(
    task: Task, solver: Any, path: Path, out: str | os.PathLike | None, size: int
) -> tuple[dict[str, Any], Arrays, Arrays]:
    """(plain data, tables, arrays with an entry for each member or row): all that is asked."""
    members, asked = task.members, task.arguments
    about, tables = described(members.problem)
    numbers = {name: asked[name] for name in NUMBERS}
    others = {"save_every": 1, "compensated": bool(asked["compensated"])}
    told, _ = described_asked(
        asked["method"], asked["formulation"], asked["options"], None, numbers, {}, **others
    )
    vary, arrays = described_vary(members.vary)
    data = {
        "problem": about,
        "asked": told,
        "span": [task.t0, task.t1],
        "chosen": solver_name(solver),
        "members": {"count": members.count, "seed": members.seed, "vary": vary},
        "reductions": described_reductions(task.reductions),
        "out": None if out is None else _beside(path, out),
        "size": size,
        "store": False,  # whether it was made
    }
    flags = task.saved + 2.0 * task.reduced + 4.0 * task.looked
    return data, tables, {"times": task.times, "flags": flags, **arrays}


def _beside(path: Path, out: str | os.PathLike) -> str:
    """Where a store lies as seen from the checkpoint: they may move together."""
    try:
        return os.path.relpath(os.path.abspath(out), os.path.abspath(path.parent))
    except ValueError:  # on another drive
        return os.path.abspath(out)


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
    """Go on with the ensemble that a checkpoint holds, as ``ph.resume`` says."""
    path, name = Path(file), str(file)
    threads_of(threads)
    data, arrays = read(path, KIND)
    problem = problem_of(name, data["problem"], arrays, model)
    asked = arguments_of(name, data["asked"], arrays, method, formulation, None)
    arguments = {key: asked[key] for key in ARGUMENTS}
    solver = prepare(problem, **arguments)
    if solver_name(solver) != data["chosen"]:
        raise FileError(
            f"the ensemble was begun with method {data['chosen']!r}, and 'auto' now chooses"
            f" {solver_name(solver)!r}; go on with the version of polhode that began it"
        )
    reductions = reductions_again(name, data["reductions"], reduce)
    beside = rows_beside(path)
    with Journal(beside, Mark(*data["mark"])) as journal:
        numbers, journal.rows = Numbers(beside, journal.rows), np.empty(0)
        given = numbers.arrays(data["given"])
        crowd, (t0, t1) = data["members"], data["span"]
        members = Members(
            problem, crowd["count"], vary_of(name, crowd["vary"], given), crowd["seed"]
        )
        flags = given["flags"].astype(int)
        saved, reduced, looked = (flags & bit != 0 for bit in (1, 2, 4))
        rows = given["times"], saved, reduced, looked
        task = Task(members, arguments, t0, t1, *rows, reductions)
        out = None if data["out"] is None else Path(os.path.normpath(path.parent / data["out"]))
        layout = Layout(task, out is not None, data["widths"])
        tables = {key: arrays[key] for key in arrays if not key.startswith(STATE)}
        saver = EnsembleSaver(path, journal, layout, data, tables)
        parts = saver.read(numbers, arrays)
        del numbers, arrays
        if out is not None and not data["store"]:
            clear_remains(out)
        gathering = Gathering(task, solver, out, data["size"], parts, data["store"])
        if data["finished"]:
            return gathering.result(finished=True)
        if out is not None and not data["store"]:
            saver.write(store=True)
        with _workers(client) as workers:
            return _run(gathering, saver, data["size"], data["size"], threads, workers, progress)
