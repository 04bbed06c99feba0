"""``solve_ensemble``: many bodies at once, in chunks of members."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from functools import reduce as folded
from pathlib import Path
from typing import Any

import numpy as np

from polhode._checkpoint import Journal, Mark, read
from polhode._checks import AUTO, in_order, span, times_of
from polhode._chunk import Arrays, Chunk, Quantities, Task
from polhode._cluster import run_chunks
from polhode._crowd import Reached
from polhode._described import NUMBERS, arguments_of, described, described_asked, problem_of
from polhode._door import plain_data, reporter
from polhode._ensemble_described import (
    described_reductions,
    described_vary,
    reductions_again,
    vary_of,
)
from polhode._ensemble_saver import (
    KIND,
    STATE,
    EnsembleSaver,
    Layout,
    Numbers,
    begun,
    rows_beside,
)
from polhode._members import Members, members_of
from polhode._saver import checked
from polhode._solve import prepare
from polhode._solvers import AdaptiveSolver, FreeSolver, Solver
from polhode._steps import plan
from polhode._store import (
    TAKEN,
    VARIED,
    Kept,
    Labelled,
    Store,
    checked_place,
    clear_remains,
    reduced,
)
from polhode.contracts import Coordinates, Formulation, Integrator, Method, Model
from polhode.distributions import GROUP
from polhode.ensemble import EnsembleResult
from polhode.errors import FileError, InputError, MethodError
from polhode.problem import Problem
from polhode.reductions import (
    OURS,
    VECTORS,
    FirstTime,
    Quantiles,
    Reduction,
    reductions_of,
    tried,
)

CHUNK = 64 * GROUP  # members that are on their way at the same time
LOOKS = 1001  # at events, where there are no steps that all members share
REDUCED = 101  # times of reductions, if nobody says
MOST = 2**31  # bytes of states, or of values for quantiles, that are kept in memory
ALL, FINAL = "all", "final"
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
    if out is not None:
        checked_place(out)
    crowd = members_of(problem, members, samples, vary, seed)
    solver = prepare(problem, **arguments)
    t0, t1 = span(t_span)
    task = _task(crowd, arguments, solver, t0, t1, save, reductions_of(reduce), reduce_times)
    _check_results(task)
    size = _chunk_size(chunk)
    _check_size(task, out is None)
    asked = None if chunk is None else size
    if place is None:
        gathering = Gathering(task, solver, out, size)
        return _run(gathering, None, size, asked, threads, client, progress)
    path, every = place
    for name in crowd.vary:
        crowd.values(name, 0, 1)  # what cannot be drawn is told before anything is written
    about, tables, given = _told(task, solver, path, out, size)
    with begun(path, task, out is not None, {**about, "every": every}, tables, given) as saver:
        gathering = Gathering(task, solver, out, size)
        saver.write(store=out is not None)
        return _run(gathering, saver, size, asked, threads, client, progress)


def _run(
    gathering: "Gathering",
    saver: EnsembleSaver | None,
    size: int,
    asked: int | None,
    threads: int | None,
    client: Any,
    progress: bool | Callable[[float], None],
) -> EnsembleResult:
    """All chunks that are left, here or on the workers of ``client``, and what they make."""
    task = gathering.task
    gaps = [(0, task.members.count)] if saver is None else saver.gaps()

    def put(first: int, last: int, arrays: Arrays) -> None:
        gathering.put(first, last, arrays)
        if saver is not None:
            saver.put(first, last, arrays)

    with reporter(progress) as report:
        if client is not None and gaps:
            if saver is not None:
                saver.forget()
            run_chunks(client, task, asked, _threads(threads or 1), put, report, gaps)
        elif gaps:
            for first, last in _chunks(gaps, size, None if saver is None else saver.chunk):
                drain = gathering.drain(first)
                put(
                    first,
                    last,
                    run_chunk(task, first, last, _threads(threads), report, saver, *drain),
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


# ---- what was asked for
def _task(
    members: Members,
    arguments: Mapping[str, Any],
    solver: Any,
    t0: float,
    t1: float,
    save: Any,
    reductions: tuple[Reduction, ...],
    reduce_times: Any,
) -> Task:
    _check_solver(solver)
    _check_quantities(reductions, members.problem)
    fixed = isinstance(solver, Solver)
    grid = plan(t0, t1, solver.dt).times if fixed and _needs_grid(save, reductions) else None
    saved = _saved_times(save, t0, t1, grid)
    reduced, looked = np.empty(0), np.empty(0)
    if any(not isinstance(r, FirstTime) for r in reductions):
        reduced = _reduced_times(reduce_times, t0, t1)
    elif reduce_times is not None:
        instead = "; FirstTime is looked for at times of its own, every=" if reductions else ""
        raise InputError(f"reduce_times= needs reduce= of all members at a time{instead}")
    if any(isinstance(r, FirstTime) for r in reductions):
        looked = _looks(reductions, t0, t1, grid, solver.dt if fixed else 0.0)
    times = np.unique(np.concatenate([saved, reduced, looked, [t0, t1]]))  # all go to the end
    times = times if t1 >= t0 else times[::-1]
    kept, folded_up, watched = (np.isin(times, some) for some in (saved, reduced, looked))
    return Task(members, dict(arguments), t0, t1, times, kept, folded_up, watched, reductions)


def _needs_grid(save: Any, reductions: tuple[Reduction, ...]) -> bool:
    stride = isinstance(save, (int, np.integer)) and not isinstance(save, bool)
    events = any(isinstance(r, FirstTime) for r in reductions)
    return stride or events or (isinstance(save, str) and save == ALL)


def _check_solver(solver: Any) -> None:
    variables = getattr(solver, "_variables", None)
    if isinstance(variables, Coordinates) or (variables is not None and not variables.continuous):
        raise MethodError(
            f"formulation {variables.name!r} is not for ensembles: take 'quaternion', or leave out"
            " formulation="
        )


def _check_quantities(reductions: tuple[Reduction, ...], problem: Problem) -> None:
    for one in reductions:
        if one.of in ("position", "velocity") and not problem.moves:
            raise InputError(
                f"reduce: members have no {one.of}: give position= to the Problem, or leave it out"
            )
        if one.of == "energy" and not problem.model.has_potential:
            raise InputError(
                f"reduce: the model {problem.model.name!r} has no potential, and members no"
                " energy: take kinetic_energy"
            )


def _check_results(task: Task) -> None:
    """Try what is made of reductions: a mistake is told now, and no two results have one name."""
    taken = dict.fromkeys(TAKEN, "what is saved")
    for one in task.reductions:
        for name, found in tried(one, _trial_values(task, one)).items():
            if not isinstance(one, FirstTime):
                found = np.asarray(found)[None]
            label = reduced(one, name, found)
            for new in (name, *label.coords):
                if new in taken or new.startswith(VARIED) or "/" in new:
                    raise InputError(
                        f"reduce: {one.key} has a result of the name {new!r}, which belongs to"
                        f" {taken.get(new, 'something else in files')}: give it another name"
                    )
                taken[new] = one.key


def _trial_values(task: Task, one: Reduction) -> np.ndarray:
    """(members, components) of a quantity: where something is a user's, those of real members."""
    if type(one) in OURS and isinstance(one.of, str):
        return np.ones((1, (4 if one.of == "q" else 3) if one.of in VECTORS else 1))
    rows = task.members.rows(0, min(task.members.count, 64))
    return Quantities(task.members, rows).at(task.t0, rows.states).of(one, task.functions)


def _saved_times(save: Any, t0: float, t1: float, grid: np.ndarray | None) -> np.ndarray:
    what = (
        "save must be 'final', 'all', a whole number of steps, a list of times or None,"
        f" got {save!r}"
    )
    if save is None:
        return np.empty(0)
    if isinstance(save, str):
        if save == FINAL:
            return np.array([t1])
        if save != ALL:
            raise InputError(what)
        save = 1
    if isinstance(save, (int, np.integer)) and not isinstance(save, bool):
        if save < 1:
            raise InputError(what)
        if grid is None:
            raise MethodError(
                "members have no steps in common here: give the times to save, save=[…]"
            )
        return np.unique(np.append(grid[:: int(save)], grid[-1]))
    if np.ndim(save) == 0:
        raise InputError(what)
    return in_order(times_of(save, "save"), t0, t1, "save")


def _reduced_times(reduce_times: Any, t0: float, t1: float) -> np.ndarray:
    if reduce_times is None:
        reduce_times = REDUCED
    if isinstance(reduce_times, (int, np.integer)) and not isinstance(reduce_times, bool):
        if reduce_times < 1:
            raise InputError(f"reduce_times must be at least 1, got {reduce_times!r}")
        return np.linspace(t0, t1, int(reduce_times)) if reduce_times > 1 else np.array([t1])
    return in_order(times_of(reduce_times, "reduce_times"), t0, t1, "reduce_times")


def _looks(
    reductions: tuple[Reduction, ...], t0: float, t1: float, grid: np.ndarray | None, dt: float
) -> np.ndarray:
    """Where to look for events: at some of the common steps, or evenly where there are none."""
    found = []
    for every in {r.every for r in reductions if isinstance(r, FirstTime)}:
        if grid is None:
            count = LOOKS if every is None else 1 + int(np.ceil(abs(t1 - t0) / every - 1e-9))
            found.append(np.linspace(t0, t1, count))
            continue
        steps = 1 if every is None else int(every / dt + 1e-9)
        if steps < 1:
            raise InputError(
                f"FirstTime: every={every!r} is shorter than a step, dt={dt!r}: leave it out to"
                " look after every step, or take a smaller dt"
            )
        found.append(np.append(grid[::steps], grid[-1]))
    return np.unique(np.concatenate(found))


def _check_size(task: Task, in_memory: bool) -> None:
    count, moves = task.members.count, task.members.problem.moves
    if count > MOST:
        raise InputError(
            f"{count} members are more than {MOST}, whose ends alone would fill the memory: make"
            " several ensembles of them, with other seeds"
        )
    states = int(task.saved.sum()) * count * 8 * (13 if moves else 7)
    if in_memory and states > MOST:
        raise InputError(
            f"save= would keep {states / 2**30:.1f} GB of states in memory: save fewer times,"
            " reduce= them on the way, or write them to a file with out="
        )
    values = len(task.quantiles) * int(task.reduced.sum()) * count * 8
    if values > MOST:
        raise InputError(
            f"quantiles would keep {values / 2**30:.1f} GB of values: give fewer reduce_times=, or"
            " take a histogram"
        )


def _threads(threads: Any) -> int:
    if threads is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else (os.cpu_count() or 1)
        )
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise InputError(f"threads must be a positive whole number, got {threads!r}")
    return int(threads)


def _chunk_size(chunk: Any) -> int:
    if chunk is None:
        return CHUNK
    if isinstance(chunk, bool) or not isinstance(chunk, (int, np.integer)) or chunk < 1:
        raise InputError(f"chunk must be a positive number of members, got {chunk!r}")
    return -(-int(chunk) // GROUP) * GROUP


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
        return _run(gathering, saver, data["size"], data["size"], threads, client, progress)


# ---- what came out
class Gathering:
    """The results of chunks, put together in the order of the members.

    With ``out`` their states go into a store, in pieces of ``size`` members.  ``parts`` are known
    already, and so is the store if it was ``stored`` before.
    """

    def __init__(
        self,
        task: Task,
        solver: Solver | FreeSolver | AdaptiveSolver,
        out: str | os.PathLike | None = None,
        size: int = CHUNK,
        parts: Mapping[int, Arrays] | None = None,
        stored: bool = False,
    ):
        self.task, problem = task, task.members.problem
        self.parts: dict[int, Arrays] = dict(parts or {})
        self.facts: dict[str, Any] = {
            "method": solver_name(solver),
            "reason": solver.reason,
            "arguments": solver.arguments,
            "problem": plain_data(problem, problem.state, problem.model.params),
        }
        self.store = None if out is None else Store(out, task, size, self.facts, stored)

    def drain(self, first: int) -> tuple:
        """Where the states of a chunk go while it runs."""
        store = self.store
        return () if store is None else (partial(store.write, first), store.rows)

    def put(self, first: int, last: int, arrays: Arrays) -> None:
        if self.store is not None:
            self.store.put(first, last, arrays)
            arrays = {key: value for key, value in arrays.items() if key != "states"}
        self.parts[first] = arrays

    def _joined(self, key: str, axis: int) -> np.ndarray:
        return np.concatenate([self.parts[first][key] for first in sorted(self.parts)], axis=axis)

    def result(self, finished: bool = False) -> EnsembleResult:
        """All that is known; a store that is ``finished`` is not written again."""
        task = self.task
        reached = {name: self._joined(f"reached {name}", 0) for name in Reached._fields}
        facts = {
            **self.facts,
            "t_reduced": task.times[task.reduced],
            "count": self._joined("count", 1).sum(axis=1) if task.reductions else np.empty(0),
        }
        reductions = self._reductions()
        if self.store is None:
            saved: Any = Kept(task.members, task.times[task.saved], self._joined("states", 1))
        else:
            saved = self.store.stored() if finished else self.store.finish(reductions, facts)
            facts["path"] = self.store.path
        return EnsembleResult(task.members, saved, reached, reductions, facts)

    def _reductions(self) -> dict[str, Labelled]:
        found: dict[str, Labelled] = {}
        for one in self.task.reductions:
            if isinstance(one, FirstTime):
                made = {one.result: self._joined(one.key, 0)}
            elif isinstance(one, Quantiles):
                made = one.of_values(self._joined(one.key, 1))
            else:
                ends = [one.end(folded(one.join, groups)) for groups in self._joined(one.key, 1)]
                made = {name: np.array([end[name] for end in ends]) for name in ends[0]}
            found |= {name: reduced(one, name, values) for name, values in made.items()}
        return found


def solver_name(solver: Any) -> str:
    from polhode.exact import EXACT

    if isinstance(solver, FreeSolver):
        return EXACT
    return solver.method.name if isinstance(solver, Solver) else solver.integrator.name
