"""``polhode gyro``: integrate a gyro's log."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from polhode.cli import options
from polhode.cli.output import place, plain, print_summary, save_picture, warn
from polhode.errors import FileError, InputError

if TYPE_CHECKING:
    from polhode.files.samples import Log
    from polhode.results.trajectory import Trajectory

FORMATS = ".nc", ".csv"


def gyro(
    log: Annotated[Path, options.LOG_FILE],
    frame: Annotated[str, options.FRAME] = "body",
    kind: Annotated[str, options.KIND] = "rate",
    columns: Annotated[str | None, options.COLUMNS] = None,
    degrees: Annotated[bool, options.DEGREES] = False,
    radians: Annotated[bool, options.RADIANS] = False,
    time_unit: Annotated[str | None, options.TIME_UNIT] = None,
    bias: Annotated[str | None, options.BIAS] = None,
    order: Annotated[int, options.ORDER] = 6,
    attitude: Annotated[str | None, options.ATTITUDE] = None,
    bridge: Annotated[bool, options.BRIDGE] = False,
    max_gap: Annotated[float | None, options.MAX_GAP] = None,
    out: Annotated[Path | None, options.ATTITUDE_FILE] = None,
    no_plot: Annotated[bool, options.NO_PLOT] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Integrate a gyro's log; write the attitude (LOG-attitude.nc) and a picture of it.

    The log is a text table. Time and rates are the columns with such names (gx, gyro_x, GyrX,
    angular_velocity.x), or those given by --columns; units are taken from the names (gyro_x_dps,
    time_ms), else radians and seconds. The summary says how the log was read, how even its times
    are, which gaps were bridged, and estimates the error of the attitude (that of the integration:
    the noise and bias of the gyro are unknown).

    Examples:

    - `polhode gyro log.csv`
    - `polhode gyro log.csv --degrees --columns stamp,gx,gy,gz --time-unit ms`
    - `polhode gyro log.csv --bias 5` (at rest in the first five seconds)
    - `polhode gyro log.csv --kind increment --order 4 --attitude 0.8,0,0.6,0`
    - `polhode gyro log.csv --bridge --max-gap 0.5 --out attitude.csv`
    """
    from polhode import integrate_samples
    from polhode.errors import PolhodeWarning
    from polhode.files.samples import read_log

    if degrees and radians:
        raise InputError("give --degrees or --radians, not both")
    start = None if attitude is None else _numbers(attitude, (4,), "--attitude takes w,x,y,z")
    rest = None if bias is None else _numbers(bias, (1, 3), "--bias takes X,Y,Z or seconds at rest")
    chosen = None if columns is None else columns.split(",")
    unit = True if degrees else False if radians else None
    found = read_log(log, chosen, time_unit, kind=kind, degrees=unit)
    values, lines = found.values, found.lines
    if kind == "increment":
        values, lines = values[1:], lines[1:]
    if not bridge:
        _check_complete(values, lines, log)
    file = _place(out, log)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PolhodeWarning)
        run = integrate_samples(
            values,
            found.times,
            frame=frame,
            kind=kind,
            order=order,
            attitude=start,
            scalar_first=True,
            missing="bridge" if bridge else "refuse",
            max_gap=max_gap,
            name=log.stem,
            bias=None if rest is None else rest[0] if len(rest) == 1 else found.in_radians(rest),
        )
    for message in found.doubts or [str(warning.message) for warning in caught]:
        warn(message)  # a wrong unit explains the others
    written = [run.save(file)]
    if not no_plot:
        written.append(save_picture(run.plot, file))
    if not quiet:
        _print(log, found, run, written)


def _numbers(text: str, counts: tuple[int, ...], rule: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in counts:
        raise InputError(f"{rule}, separated by commas, got {text!r}")
    return numbers


def _check_complete(values, lines, log: Path) -> None:
    import numpy as np

    bad = np.isnan(values).any(axis=1)
    if bad.any():
        raise FileError(
            f"line {lines[int(np.argmax(bad))]} of {log.name!r} lacks a value"
            f" ({int(bad.sum())} such lines); bridge missing samples with --bridge"
        )


def _place(out: Path | None, log: Path) -> Path:
    """Return the file to write, which must not be the log."""
    file = place(out, f"{log.stem}-attitude.nc", FORMATS)
    if file.resolve() == log.resolve():
        raise FileError(f"--out would replace the log itself, {str(log)!r}")
    return file


def _print(log: Path, found: "Log", run: "Trajectory", written: list[Path]) -> None:
    import numpy as np

    steps = np.diff(run.t)
    middle = float(np.median(steps))
    settings = run.arguments
    unit = found.unit.replace("deg", "degrees") + ("/s" if settings["kind"] == "rate" else "")
    clock = "dates, counted from the first" if found.time_unit == "dates" else found.time_unit
    gaps = run.gaps
    gap_text = "none"
    if gaps:
        start, end = max(gaps, key=lambda gap: gap[1] - gap[0])
        gap_text = f"{len(gaps)} bridged, the longest {end - start:.3g} s at t = {start:.6g} s"
        gap_text += f"; {run.problem['missing']} samples missing"
    bias = {}
    if "bias" in settings:
        bias["bias"] = ", ".join(f"{x:.4g}" for x in settings["bias"]) + " rad/s, subtracted"
    w, x, y, z = run.q[-1]
    error, other = "too few samples for an estimate", run.problem["compared_with"]
    if other:
        error = f"{np.max(np.asarray(run.error)):.1e} rad at most"
        error += f"   [dim]estimated, against order {other}[/]"
    rows = {
        "log": f"{log.name}   [dim]{len(found.times)} lines, columns"
        f" {plain(', '.join(found.columns))}[/]",
        "read as": f"{settings['frame']} {settings['kind']}s in {unit}, times in {clock}"
        + ("   [dim]as the names of the columns say[/]" if found.told else ""),
        **bias,
        "time": f"{run.t[0]:.6g} to {run.t[-1]:.6g} s, {1 / middle:.4g} Hz, steps of"
        f" {steps.min():.3g} to {steps.max():.3g} s",
        "gaps": gap_text,
        "method": f"magnus, order {settings['order']}",
        "error": error,
        "turned by": f"{np.degrees(run.rotation[-1].magnitude()):.6g} degrees at the end, q = "
        f"({w:.6f}, {x:.6f}, {y:.6f}, {z:.6f}) (w, x, y, z)",
        "files": plain(", ".join(map(str, written))),
    }
    print_summary(rows)
