"""``polhode ensemble``: solve a problem for many bodies; write states and statistics."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

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
    title,
    warn,
)

if TYPE_CHECKING:
    from polhode.cli.plan import Plan
    from polhode.ensembles.result import EnsembleResult

HERE = "here"  # instead of an address


class OptionalAddress(TyperCommand):
    """A command whose ``--dask`` may be given without an address."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, complete_dask(args))


def complete_dask(args: list[str]) -> list[str]:
    """Add ``HERE`` after a ``--dask`` without an address; addresses contain a colon (host:8786)."""
    complete = []
    for arg, following in pairwise([*args, ""]):
        complete.append(arg)
        if arg == "--dask" and (":" not in following or following.startswith("-")):
            complete.append(HERE)
    return complete


def ensemble(
    target: Annotated[str, options.ENSEMBLE_FILE],
    members: Annotated[int | None, options.MEMBERS] = None,
    seed: Annotated[int | None, options.SEED] = None,
    method: Annotated[str | None, options.METHOD_NAME] = None,
    dt: Annotated[float | None, options.STEP] = None,
    rtol: Annotated[float | None, options.TOLERANCE] = None,
    max_steps: Annotated[int | None, options.MAX_STEPS] = None,
    t_end: Annotated[float | None, options.END] = None,
    changes: Annotated[list[str] | None, options.SET] = None,
    threads: Annotated[int | None, options.THREADS] = None,
    dask: Annotated[str | None, options.DASK] = None,
    out: Annotated[Path | None, options.ENSEMBLE_OUT] = None,
    checkpoint: Annotated[Path | None, options.CHECKPOINT] = None,
    checkpoint_every: Annotated[int | None, options.CHECKPOINT_EVERY] = None,
    no_plot: Annotated[bool, options.NO_PLOT] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Solve a problem for many different bodies; write states and statistics (NAME.zarr or .nc),
    and a picture of them (NAME.png).

    The file is a run file with two more tables: `[vary]` says what differs between members,
    `[ensemble]` how many there are and what is kept of them.

    Members that fail on the way do not affect the others: a warning says how many failed and why.
    If all fail the exit code is 1; bad input exits with 2 and writes nothing. With
    `--checkpoint FILE` an ensemble that is killed can be continued by `polhode resume FILE`.

    Examples:

    - `polhode ensemble tumbling.toml` (`examples/tumbling.toml`, explained in
      docs/guide/many-machines.md)
    - `polhode ensemble tumbling.toml --members 100000 --seed 7 --out debris.zarr`
    - `polhode ensemble tumbling.toml --set vary.omega.normal.sigma=0.002`
    - `polhode ensemble tumbling.toml --dask` on the processors of this machine
    - `polhode ensemble tumbling.toml --dask tcp://10.0.0.5:8786` on those of a cluster
    """
    from polhode.cli.plan import make_plan, option_changes, set_changes
    from polhode.cli.schema import EnsembleFile

    all_changes = [
        *set_changes(changes),
        *option_changes("run", method=method, dt=dt, rtol=rtol, max_steps=max_steps, t_end=t_end),
        *option_changes("ensemble", members=members, seed=seed, threads=threads),
    ]
    plan = make_plan(target, all_changes, EnsembleFile)
    _check_bodies(plan)
    file = place(out, f"{plan.name}.zarr", (".zarr", ".nc"))
    keep = checkpoint_arguments(checkpoint, checkpoint_every, file)
    result, clock = _solve(plan, dask, file, quiet, keep)
    _write(plan.name, plan.summary, result, clock, file, no_plot, quiet)


def resume_ensemble(
    checkpoint: Path,
    threads: int | None,
    dask: str | None,
    out: Path | None,
    no_plot: bool,
    quiet: bool,
) -> None:
    """Continue an ensemble from its checkpoint; write what ``ensemble`` would have written."""
    from polhode import resume
    from polhode.ensembles.checkpoint import FORM, KIND, place_of_store, progress
    from polhode.files.checkpoint import head
    from polhode.files.given import damage_refused

    about = head(checkpoint, KIND, FORM)
    name = title(about["problem"]["name"], checkpoint)
    with damage_refused(checkpoint):
        after = "finished before" if about["finished"] else f"resumed after {progress(about)}"
        store = place_of_store(checkpoint, about, None if about["out"] is None else out)
    file = place(out, f"{name}.nc", (".nc",)) if store is None else store
    with (
        stoppable(checkpoint),
        _client(dask, threads) as client,
        bar(f"{name}: compiling", lambda _: name, quiet) as report,
    ):
        local_threads = None if dask == HERE else threads
        confirmed = None if store is None else out
        result: Any = resume(
            checkpoint, threads=local_threads, client=client, out=confirmed, progress=report
        )
    _write(name, f"{after}, from {checkpoint}", result, None, file, no_plot, quiet)


def _write(
    name: str,
    summary: str,
    result: "EnsembleResult",
    clock: "Clock | None",
    file: Path,
    no_plot: bool,
    quiet: bool,
) -> None:
    from polhode import plot

    written = [file if file.suffix == ".zarr" else result.save(file)]
    if not no_plot:
        written.append(save_picture(lambda: plot.ensemble(result), file))
    if not quiet:
        _print(name, summary, result, clock, written)
    _report_failures(result)


def _check_bodies(plan: "Plan") -> None:
    """Draw all bodies once: an impossible one is bad input, not a member that failed."""
    from polhode.ensembles.distributions import GROUP
    from polhode.ensembles.members import members_of

    arguments = plan.ensemble
    if not {"inertia", "mass"} & {*plan.vary}:
        return
    members = members_of(plan.problem, arguments.members, None, plan.vary, arguments.seed or 0)
    for first in range(0, members.count, 64 * GROUP):
        members.rows(first, min(first + 64 * GROUP, members.count))


class Clock:
    """Measures how long a run takes from its first report on, which excludes compiling."""

    def __init__(self, report: Any):
        self.report, self.start = report, time.perf_counter()
        self.first: tuple[float, float] | None = None
        self.seconds, self.warm = 0.0, True

    def __call__(self, fraction: float) -> None:
        if self.first is None:
            self.first = fraction, time.perf_counter()
        self.report(fraction)

    def stop(self) -> None:
        now = time.perf_counter()
        done, since = self.first or (0.0, self.start)
        self.warm = done < 0.5  # else too little of the run is left to time it
        if not self.warm:
            done, since = 0.0, self.start
        self.seconds = (now - since) / (1.0 - done)


def _solve(
    plan: "Plan", dask: str | None, file: Path, quiet: bool, keep: Mapping[str, Any]
) -> tuple["EnsembleResult", Clock]:
    from polhode import solve_ensemble

    arguments, settings = plan.ensemble.arguments, plan.run.arguments
    del settings["save_every"]
    if settings["sensitivities"] is None:
        del settings["sensitivities"]
    workers = arguments["threads"]
    if dask == HERE:
        arguments["threads"] = None
    with (
        stoppable(keep["checkpoint"]),
        _client(dask, workers) as client,
        bar(f"{plan.name}: compiling", lambda _: plan.name, quiet) as report,
    ):
        clock = Clock(report)
        result = solve_ensemble(
            plan.problem,
            (plan.run.t_start, plan.run.t_end),
            vary=plan.vary,
            **settings,
            **arguments,
            client=client,
            out=file if file.suffix == ".zarr" else None,
            progress=clock,
            **keep,
        )
        clock.stop()
    return result, clock


@contextmanager
def _client(dask: str | None, workers: int | None) -> Iterator[Any]:
    """Yield a scheduler's address, a cluster on this machine, or None."""
    if dask != HERE:
        yield dask
        return
    from polhode.ensembles.dask_cluster import local
    from polhode.ensembles.task import threads_of

    with local(threads_of(workers)) as client:
        yield client


# ---- messages
def _report_failures(result: "EnsembleResult") -> None:
    import numpy as np

    bad = np.flatnonzero(~result.success)
    if len(bad) == 0:
        return
    first = result.message(int(result.members[bad[0]]))
    if len(bad) == len(result):
        complain(f"all {len(bad)} members failed; {first}")
        raise typer.Exit(1)
    warn(f"{len(bad)} of {len(result)} members failed; the first: {first}")


def _print(
    name: str, summary: str, result: "EnsembleResult", clock: Clock | None, written: list[Path]
) -> None:
    words = result.summary()
    rows = {"problem": f"{name}   [dim]{plain(summary)}[/]"}
    rows |= {key: plain(words[key]) for key in ("members", "varied", "method")}
    if result.reason:
        rows["chosen"] = plain(result.reason)
    failed = not result.success.all()
    rows["ended"] = f"[{'red' if failed else 'green'}]{plain(words['ended'])}[/]"
    steps = int(result.nsteps.sum())
    if steps and clock is not None:
        rows["time"] = (
            f"{duration(clock.seconds / steps)} per step and body   [dim]{steps:.3g} of them in"
            f" {duration(clock.seconds)}{'' if clock.warm else ', compiling included'}[/]"
        )
    rows |= {key: plain(text) for key, text in at_the_end(result.labelled).items()}
    rows["files"] = plain(", ".join(map(str, written)))
    print_summary(rows)


def at_the_end(reduced: Mapping[str, Any]) -> dict[str, str]:
    """Write the reductions at the last time as text."""
    import numpy as np

    found = {}
    for name, label in reduced.items():
        values, unit = np.asarray(label.values), label.attrs.get("units", "")
        if label.dims == ("member",):  # first times
            known = values[np.isfinite(values)]
            text = f"{len(known)} of {len(values)} members"
            if len(known):
                text += f", median {np.median(known):.6g} {unit}"
        else:
            last, coordinate = values[-1], next(iter(label.coords.values()), None)
            if coordinate is None:
                text = f"{', '.join(f'{x:.6g}' for x in np.ravel(last))} {unit}"
            elif name.endswith("_quantiles"):
                pairs = zip(coordinate, last, strict=True)
                text = ", ".join(f"{100 * level:g} %: {x:.6g}" for level, x in pairs) + f" {unit}"
            else:
                pairs = zip(coordinate, last, strict=True)
                text = ", ".join(f"{n:g} from {edge:g}" for edge, n in pairs if n)
        found[name] = text.strip()
    return found
