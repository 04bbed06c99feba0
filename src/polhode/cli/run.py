"""``polhode run``: solve a problem; write the motion and a picture of it."""

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from polhode.cli import options
from polhode.cli.consoles import complain, plain, stdout
from polhode.cli.files import place
from polhode.cli.progress import bar
from polhode.errors import InputError

if TYPE_CHECKING:
    from polhode.cli.plan import Plan
    from polhode.results.trajectory import Trajectory

MOST = 50_000_000  # states to keep; they take about 8 GB on the way to a file
SHORT = 0.1  # seconds; a shorter run is timed again, since its first time is mostly noise


def run(
    target: options.MeshOrTarget = None,
    method: options.MethodName = None,
    dt: options.Step = None,
    rtol: options.Tolerance = None,
    t_end: options.End = None,
    changes: options.Set = None,
    mesh: options.Mesh = None,
    density: options.Density = None,
    scale: options.Scale = None,
    save_every: options.SaveEvery = None,
    checkpoint: options.Checkpoint = None,
    checkpoint_every: options.CheckpointEvery = None,
    out: options.Out = None,
    no_plot: options.NoPlot = False,
    quiet: options.Quiet = False,
) -> None:
    """Solve a problem; write the motion (NAME.nc) and a picture of it (NAME.png).

    Existing files of these names are replaced. A run that fails on the way writes what it has
    reached, and exits with 1; bad input exits with 2 and writes nothing. With `--checkpoint FILE` a
    run that is killed can be continued by `polhode resume FILE`, to the same bits.

    Examples:

    - `polhode run fast-top`
    - `polhode run fast-top --method akw --dt 0.01 --t-end 100`
    - `polhode run fast-top --method extrapolation --rtol 1e-12`
    - `polhode run fast-top --set model.strength=30 --set "omega=[0, 0, 40]"`
    - `polhode run spinning_box.toml --out results`
    - `polhode run fast-top --t-end 1e5 --save-every 1000 --checkpoint top.ckpt`
    - `polhode run --mesh part.stl --density 2700 --set "omega=[0.1, 5, 0]" --t-end 10 --dt 0.01`
    """
    from polhode.cli.plan import parsed, plan

    given = {"method": method, "dt": dt, "rtol": rtol, "t_end": t_end, "save_every": save_every}
    body = {"mesh": mesh if target else None, "density": density, "scale": scale}
    if not (target or mesh):
        raise InputError("name a problem of the catalogue, a run file, or the body's --mesh")
    asked: list[tuple[str, Any]] = [
        (f"body.{key}", value) for key, value in body.items() if value is not None
    ]
    asked += [parsed(text) for text in changes or ()]
    asked += [(f"run.{key}", value) for key, value in given.items() if value is not None]
    todo = plan(target or str(mesh), asked)
    _check_size(todo)
    file = place(out, f"{todo.name}.nc", (".nc",))
    keep = {"checkpoint": checkpoint, "checkpoint_every": checkpoint_every}
    result, per_step, compiling = _solved(todo, quiet, keep)
    timing = f"{_seconds(per_step)} a step   [dim]after {_seconds(compiling)} to get ready[/]"
    write(todo.name, todo.summary, result, file, no_plot, quiet, timing)


def write(
    name: str, summary: str, result: "Trajectory", file: Path, no_plot: bool, quiet: bool, time: str
) -> None:
    """The motion and the picture into files, and a summary; exits with 1 if the run failed."""
    from polhode import plot

    written = [result.save(file)]
    if not no_plot:
        written.append(plot.save(result.plot(), file.with_suffix(".png")))
    if not quiet:
        _summarise(name, summary, result, time, written)
    if not result.success:
        complain(f"{result.status.name}: {result.message}")
        raise typer.Exit(1)


def _check_size(todo: "Plan") -> None:
    order = todo.run
    if order.dt is None:
        return
    states = abs(order.t_end - order.t_start) / order.dt / order.save_every
    if states > MOST:
        enough = math.ceil(order.save_every * states / MOST)
        raise InputError(
            f"the run would keep {states:.3g} states, more than {MOST:.0e}; keep fewer with"
            f" --save-every {enough} or more"
        )


def _solved(todo: "Plan", quiet: bool, keep: dict[str, Any]) -> tuple["Trajectory", float, float]:
    """(trajectory, seconds for each step, seconds to compile): one step first, which compiles."""
    from polhode import prepare

    order = todo.run
    span = order.t_start, order.t_end
    first = order.t_start + math.copysign(order.dt or 0.0, order.t_end - order.t_start)
    with bar(f"{todo.name}: compiling", lambda _: todo.name, quiet) as report:
        begun = time.perf_counter()
        solver = prepare(todo.problem, **order.arguments)
        solver((order.t_start, first))
        compiled = time.perf_counter()
        result = solver.replace(progress=report, **keep)(span)
        took = time.perf_counter() - compiled
    for _ in range(5 if took < SHORT and not quiet else 0):
        again = time.perf_counter()
        solver(span)
        took = min(took, time.perf_counter() - again)
    return result, took / max(result.nsteps, 1), compiled - begun


def _summarise(
    name: str, summary: str, result: "Trajectory", time: str, written: list[Path]
) -> None:
    from rich.table import Table

    from polhode import plot

    work = f"{result.nsteps}, {result.nfev} torque evaluations"
    if result.rejected:
        work += f", {result.rejected} trials rejected"
    if result.niter:
        work += f", {result.niter / max(result.nsteps, 1):.1f} Newton iterations a step"
    rows = {
        "problem": f"{name}   [dim]{plain(summary)}[/]",
        "method": f"{result.method}, {_steps(result)} t = {result.t[0]:g} to {result.t[-1]:g} s",
        "steps": work,
    }
    if result.reason:
        rows["chosen"] = plain(result.reason)
    if result.nsteps and time:
        rows["time"] = time
    for quantity, values in plot.changes(result).items():
        rows[quantity] = f"relative change at most {values.max():.1e}"
    rows["ended"] = "[green]success[/]" if result.success else f"[red]{result.status.name}[/]"
    rows["files"] = plain(", ".join(str(path) for path in written))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for key, value in rows.items():
        table.add_row(key, value)
    stdout().print(table)


def _steps(result: "Trajectory") -> str:
    """How steps were found."""
    if "dt" in result.arguments:
        return f"dt = {result.arguments['dt']:g} s,"
    return f"rtol = {result.arguments['rtol']:g}," if "rtol" in result.arguments else ""


def _seconds(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"
