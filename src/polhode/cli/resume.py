"""``polhode resume``: go on with a run that was kept in a checkpoint."""

from polhode.cli import options
from polhode.cli.files import place
from polhode.cli.progress import bar
from polhode.cli.run import write


def resume(
    file: options.CheckpointFile,
    out: options.Out = None,
    no_plot: options.NoPlot = False,
    quiet: options.Quiet = False,
) -> None:
    """Go on with a run that was killed; write what `polhode run` would have written.

    The motion (NAME.nc) and its picture (NAME.png) are those of the whole run, bit for bit those of
    the run without a break. FILE stays; of a run that is finished the result is written again.

    Examples:

    - `polhode run fast-top --t-end 1e5 --save-every 1000 --checkpoint top.ckpt`
    - `polhode resume top.ckpt`
    """
    from polhode import resume
    from polhode._checkpoint import head
    from polhode._saver import KIND

    about = head(file, KIND)
    name = about["problem"]["name"] or file.stem
    to = place(out, f"{name}.nc", (".nc",))
    steps = (about["counts"] or {}).get("steps", 0)
    after = "finished before" if about["finished"] else f"resumed after {steps} steps"
    with bar(f"{name}: compiling", lambda _: name, quiet) as report:
        result = resume(file, progress=report)
    write(name, f"{after}, from {file}", result, to, no_plot, quiet, "")
