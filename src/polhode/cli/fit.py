"""``polhode fit``: the state, the body and the parameters of a model from a log."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polhode.cli import options
from polhode.cli.output import (
    complain,
    place,
    plain,
    print_summary,
    save_picture,
    stdout,
    table,
    warn,
)
from polhode.errors import FileError, InputError

if TYPE_CHECKING:
    import numpy as np

    from polhode.fits.observe import Observation
    from polhode.fits.result import Fit


def fit(
    log: Annotated[Path, options.LOG_FILE],
    problem: Annotated[str, options.FIT_PROBLEM],
    free: Annotated[str, options.FREE],
    hold: Annotated[list[str] | None, options.HOLD] = None,
    rates: Annotated[str | None, options.RATES] = None,
    attitudes: Annotated[str | None, options.ATTITUDES] = None,
    sigma: Annotated[float | None, options.SIGMA] = None,
    attitude_sigma: Annotated[float | None, options.ATTITUDE_SIGMA] = None,
    bias: Annotated[bool, options.WITH_BIAS] = False,
    degrees: Annotated[bool, options.DEGREES] = False,
    radians: Annotated[bool, options.RADIANS] = False,
    time_unit: Annotated[str | None, options.TIME_UNIT] = None,
    method: Annotated[str | None, options.METHOD_NAME] = None,
    dt: Annotated[float | None, options.STEP] = None,
    rtol: Annotated[float | None, options.TOLERANCE] = None,
    loss: Annotated[str, options.LOSS] = "linear",
    most: Annotated[int | None, options.MAX_ITERATIONS] = None,
    changes: Annotated[list[str] | None, options.SET] = None,
    out: Annotated[Path | None, options.FIT_FILE] = None,
    no_plot: Annotated[bool, options.NO_PLOT] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Fit a problem to a log; write the result (LOG-fit.json) and a picture of what is left.

    The log is a text table, read as by `polhode gyro`: a time, angular velocities in body axes, and
    perhaps attitudes. Lines without a value are left out. Prints each unknown with its standard
    deviation. What the log does not determine is named: without a torque, for instance, rates show
    only ratios of moments, so `--hold` one.

    Examples:

    - `polhode fit log.csv --problem satellite.toml --free angular_momentum,inertia
      --hold "trace of inertia" --sigma 1e-3`
    - `polhode fit log.csv --problem satellite.toml --free omega,moments --hold "largest moment"
      --rates gx,gy,gz --degrees --sigma 0.05 --bias`
    - `polhode fit log.csv --problem satellite.toml --free state,moments
      --attitudes qw,qx,qy,qz --attitude-sigma 2e-3`
    """
    import polhode
    from polhode.cli.plan import make_plan, option_changes, set_changes
    from polhode.fits.entry import OURS

    if degrees and radians:
        raise InputError("give --degrees or --radians, not both")
    file = place(out, f"{log.stem}-fit.json", (".json",))
    if file.resolve() == log.resolve():
        raise FileError(f"--out would replace the log itself, {str(log)!r}")
    settings = option_changes("run", method=method, dt=dt, rtol=rtol)
    plan = make_plan(problem, [*set_changes(changes), *settings])
    unit = True if degrees else False if radians else None
    sets: list[tuple[Observation, np.ndarray]] = []
    if rates is not None or attitudes is None:
        sets.append(_rates(log, rates, _sigma(sigma, "--sigma"), bias, unit, time_unit))
    elif sigma is not None or bias:
        raise InputError("--sigma and --bias are about angular velocities: give --rates, too")
    if attitudes is not None:
        spread = _sigma(attitude_sigma, "--attitude-sigma")
        sets.append(_attitudes(log, attitudes, spread, degrees, time_unit))
    elif attitude_sigma is not None:
        raise InputError("--attitude-sigma is about attitudes: give --attitudes, too")
    given = {name: value for name, value in plan.run.arguments.items() if name not in OURS}
    if most is not None:
        given["max_iterations"] = most
    given |= {"free": [part.strip() for part in free.split(",")], "hold": hold or ()}
    span = [f(f(times) for _, times in sets) for f in (min, max)]
    observations = [observation for observation, _ in sets]
    found = polhode.fit(plan.problem, observations, t_span=span, loss=loss, **given)
    written = [found.save(file)]
    if not no_plot:
        written.append(save_picture(found.plot, file))
    if not quiet:
        _print(log, plan.summary, found, written)
    if not found.success:
        complain(found.message)
        raise typer.Exit(1)


def _sigma(value: float | None, option: str) -> float:
    if value is None:
        raise InputError(f"the standard deviation of the observations is missing: give {option}")
    if not value > 0.0:
        raise InputError(f"{option} must be positive, got {value:g}")
    return value


def _rates(
    log: Path,
    columns: str | None,
    sigma: float,
    bias: bool,
    degrees: bool | None,
    time_unit: str | None,
) -> "tuple[Observation, np.ndarray]":
    """Return the angular velocities of a log, and all its times; ``sigma`` is in their unit."""
    from polhode.files.samples import read_log
    from polhode.fits import observe

    chosen = None if columns is None else _columns(columns, 3, "--rates")
    found = read_log(log, chosen, time_unit, degrees=degrees)
    for message in found.doubts:
        warn(message)
    times, values = _complete(found.times, found.values, log)
    size = float(found.in_radians(sigma))
    return observe.rates(times, values, sigma=size, bias=bias), found.times


def _attitudes(
    log: Path, columns: str, sigma: float, degrees: bool, time_unit: str | None
) -> "tuple[Observation, np.ndarray]":
    import numpy as np

    from polhode.files.samples import read_columns
    from polhode.fits import observe

    found = read_columns(log, _columns(columns, 4, "--attitudes"), time_unit)
    times, values = _complete(found.times, found.values, log)
    size = float(np.radians(sigma)) if degrees else sigma
    return observe.attitudes(times, values, sigma=size, scalar_first=True), found.times


def _columns(text: str, count: int, option: str) -> list[str | int]:
    found: list[str | int] = [part.strip() for part in text.split(",")]
    if len(found) != count:
        raise InputError(f"{option} takes {count} columns, separated by commas, got {text!r}")
    return found


def _complete(
    times: "np.ndarray", values: "np.ndarray", log: Path
) -> "tuple[np.ndarray, np.ndarray]":
    """Return the lines that have all values."""
    import numpy as np

    good = np.isfinite(values).all(axis=1)
    if not good.any():
        raise FileError(f"no line of {log.name!r} has all values")
    if not good.all():
        warn(f"{int((~good).sum())} lines of {log.name!r} lack a value and were left out")
    return times[good], values[good]


def _print(log: Path, summary: str, found: "Fit", written: list[Path]) -> None:
    from polhode.fits.table import HEAD, facts_of, rows_of

    facts: dict[str, Any] = {"log": plain(log.name), "problem": f"[dim]{plain(summary)}[/]"}
    facts |= {topic: plain(text) for topic, text in facts_of(found).items()}
    facts["ended"] = "[green]success[/]" if found.success else "[red]not converged[/]"
    print_summary(facts | {"files": plain(", ".join(map(str, written)))})
    stdout().print(table(HEAD, rows_of(found), left=1))
