"""``polhode run``: solve a problem; write the motion and a picture of it."""

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polhode.cli import options
from polhode.cli.output import (
    bar,
    checkpoint_arguments,
    complain,
    duration,
    place,
    plain,
    print_summary,
    save_picture,
    stoppable,
)
from polhode.errors import InputError

if TYPE_CHECKING:
    from polhode.cli.plan import Plan
    from polhode.results.trajectory import Trajectory

MOST_STATES = 50_000_000  # to keep; writing them to a file takes about 8 GB of memory
SHORT = 0.1  # seconds; a shorter run is timed again, since its first time is mostly noise
REPEATS = 5


def run(
    target: Annotated[str | None, options.MESH_OR_TARGET] = None,
    method: Annotated[str | None, options.METHOD_NAME] = None,
    dt: Annotated[float | None, options.STEP] = None,
    rtol: Annotated[float | None, options.TOLERANCE] = None,
    max_steps: Annotated[int | None, options.MAX_STEPS] = None,
    t_end: Annotated[float | None, options.END] = None,
    changes: Annotated[list[str] | None, options.SET] = None,
    mesh: Annotated[str | None, options.MESH] = None,
    density: Annotated[float | None, options.DENSITY] = None,
    scale: Annotated[float | None, options.SCALE] = None,
    save_every: Annotated[int | None, options.SAVE_EVERY] = None,
    sensitivities: Annotated[str | None, options.SENSITIVITIES] = None,
    checkpoint: Annotated[Path | None, options.CHECKPOINT] = None,
    checkpoint_every: Annotated[int | None, options.CHECKPOINT_EVERY] = None,
    out: Annotated[Path | None, options.OUT] = None,
    html: Annotated[bool, options.HTML] = False,
    no_plot: Annotated[bool, options.NO_PLOT] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Solve a problem; write the motion (NAME.nc) and a picture of it (NAME.png).

    With `--html`, also write a moving picture for any browser (NAME.html). Existing files of these
    names are replaced. A run that fails on the way writes what it has reached and exits with 1; bad
    input exits with 2 and writes nothing. With `--checkpoint FILE` a run that is killed can be
    continued by `polhode resume FILE`, with the same bits.

    Examples:

    - `polhode run fast-top`
    - `polhode run fast-top --method akw --dt 0.01 --t-end 100`
    - `polhode run fast-top --method extrapolation --rtol 1e-12`
    - `polhode run fast-top --set model.strength=30 --set "omega=[0, 0, 40]"`
    - `polhode run spinning_box.toml --out results --html`
    - `polhode run fast-top --t-end 1e5 --save-every 1000 --checkpoint top.ckpt`
    - `polhode run fast-top --sensitivities state,moments,model.strength`
    - `polhode run --mesh part.stl --density 2700 --set "omega=[0.1, 5, 0]" --t-end 10 --dt 0.01`
    """
    from polhode.cli.plan import make_plan, option_changes, set_changes

    if not (target or mesh):
        raise InputError("name a problem of the catalogue, a run file, or the body's --mesh")
    plan = make_plan(
        target or str(mesh),
        [
            *option_changes("body", mesh=mesh if target else None, density=density, scale=scale),
            *set_changes(changes),
            *option_changes(
                "run",
                method=method,
                dt=dt,
                rtol=rtol,
                max_steps=max_steps,
                t_end=t_end,
                save_every=save_every,
                sensitivities=None if sensitivities is None else sensitivities.split(","),
            ),
        ],
    )
    _check_size(plan)
    file = place(out, f"{plan.name}.nc", (".nc",))
    keep = checkpoint_arguments(checkpoint, checkpoint_every, file)
    result, per_step, compiling = _solve(plan, quiet, keep)
    timing = f"{duration(per_step)} per step   [dim]after {duration(compiling)} to get ready[/]"
    write(plan.name, plan.summary, result, file, no_plot, quiet, timing, html)


def write(
    name: str,
    summary: str,
    result: "Trajectory",
    file: Path,
    no_plot: bool,
    quiet: bool,
    timing: str = "",
    html: bool = False,
) -> None:
    """Write the motion and the pictures, print a summary; exit with 1 if the run failed."""
    written = [result.save(file)]
    if not no_plot:
        written.append(save_picture(result.plot, file))
    if html:
        written.append(result.save_html(file.with_suffix(".html")))
    if not quiet:
        _print(name, summary, result, timing, written)
    if not result.success:
        complain(f"{result.status.name}: {result.message}")
        raise typer.Exit(1)


def _check_size(plan: "Plan") -> None:
    settings = plan.run
    if settings.dt is None:
        return
    states = abs(settings.t_end - settings.t_start) / settings.dt / settings.save_every
    if states > MOST_STATES:
        enough = math.ceil(settings.save_every * states / MOST_STATES)
        raise InputError(
            f"the run would keep {states:.3g} states, more than {MOST_STATES:.0e}; keep fewer with"
            f" --save-every {enough} or more"
        )


def _solve(plan: "Plan", quiet: bool, keep: dict[str, Any]) -> tuple["Trajectory", float, float]:
    """(trajectory, seconds per step, seconds to compile); a first step alone compiles."""
    from polhode import prepare

    settings = plan.run
    span = settings.t_start, settings.t_end
    first = settings.t_start + math.copysign(settings.dt or 0.0, settings.t_end - settings.t_start)
    with (
        stoppable(keep["checkpoint"]),
        bar(f"{plan.name}: compiling", lambda _: plan.name, quiet) as report,
    ):
        start = time.perf_counter()
        solver = prepare(plan.problem, **settings.arguments)
        solver((settings.t_start, first))
        compiled = time.perf_counter()
        result = solver.replace(progress=report, **keep)(span)
        took = time.perf_counter() - compiled
    for _ in range(REPEATS if took < SHORT and not quiet else 0):
        again = time.perf_counter()
        solver(span)
        took = min(took, time.perf_counter() - again)
    return result, took / max(result.nsteps, 1), compiled - start


def _print(name: str, summary: str, result: "Trajectory", timing: str, written: list[Path]) -> None:
    from polhode import plot

    work = f"{result.nsteps}, {result.nfev} torque evaluations"
    if result.rejected:
        work += f", {result.rejected} rejected trials"
    if result.niter:
        work += f", {result.niter / max(result.nsteps, 1):.1f} Newton iterations per step"
    rows = {
        "problem": f"{name}   [dim]{plain(summary)}[/]",
        "method": f"{result.method}, {_step(result)} t = {result.t[0]:g} to {result.t[-1]:g} s",
        "steps": work,
    }
    if result.reason:
        rows["chosen"] = plain(result.reason)
    if result.nsteps and timing:
        rows["time"] = timing
    for quantity, values in plot.changes(result).items():
        rows[quantity] = f"relative change at most {values.max():.1e}"
    rows["ended"] = "[green]success[/]" if result.success else f"[red]{result.status.name}[/]"
    rows["files"] = plain(", ".join(map(str, written)))
    print_summary(rows)


def _step(result: "Trajectory") -> str:
    """The step, or the tolerance that determined the steps."""
    if "dt" in result.arguments:
        return f"dt = {result.arguments['dt']:g} s,"
    return f"rtol = {result.arguments['rtol']:g}," if "rtol" in result.arguments else ""
