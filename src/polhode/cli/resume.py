"""``polhode resume``: continue a run or an ensemble from a checkpoint."""

from pathlib import Path
from typing import Annotated, Any

from polhode.cli import options
from polhode.cli.ensemble import resume_ensemble
from polhode.cli.output import bar, place, stoppable, title
from polhode.cli.run import write
from polhode.errors import InputError


def resume(
    file: Annotated[Path, options.CHECKPOINT_FILE],
    threads: Annotated[int | None, options.THREADS] = None,
    dask: Annotated[str | None, options.DASK] = None,
    out: Annotated[Path | None, options.OUT] = None,
    html: Annotated[bool, options.HTML] = False,
    no_plot: Annotated[bool, options.NO_PLOT] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Continue a run that was killed; write what `polhode run` or `polhode ensemble` would have
    written.

    The motion (NAME.nc, or the store of an ensemble) and its picture (NAME.png) are those of the
    whole run, bit for bit those of a run without interruption. FILE stays; if the run is finished
    already, its result is written again. `--threads` and `--dask` are for ensembles, `--html` for
    single runs.

    Examples:

    - `polhode run fast-top --t-end 1e5 --save-every 1000 --checkpoint top.ckpt`
    - `polhode resume top.ckpt`
    - `polhode ensemble tumbling.toml --checkpoint tumbling.ckpt`
    - `polhode resume tumbling.ckpt --dask`
    """
    from polhode import resume
    from polhode.ensembles.checkpoint import KIND as ENSEMBLE
    from polhode.files.checkpoint import head, kind_of
    from polhode.solvers.checkpoint import FORM, KIND

    if kind_of(file) == ENSEMBLE:
        if html:
            raise InputError(f"{file} holds an ensemble: --html is for single runs")
        resume_ensemble(file, threads, dask, out, no_plot, quiet)
        return
    if threads is not None or dask is not None:
        raise InputError(f"{file} holds a single run: --threads and --dask are for ensembles")
    about = head(file, KIND, FORM)
    name = title(about["problem"]["name"], file)
    to = place(out, f"{name}.nc", (".nc",))
    steps = (about["counts"] or {}).get("steps", 0)
    after = "finished before" if about["finished"] else f"resumed after {steps} steps"
    with stoppable(file), bar(f"{name}: compiling", lambda _: name, quiet) as report:
        result: Any = resume(file, progress=report)
    write(name, f"{after}, from {file}", result, to, no_plot, quiet, html=html)
