"""``polhode moon``: the rotation of the Moon, against JPL's librations."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from polhode.cli import options
from polhode.cli.output import bar, plain, stdout, table
from polhode.cli.sky import (
    DAY,
    METHOD,
    YEAR,
    Run,
    date_of,
    print_line,
    rms,
    rows_file,
    timed,
    write,
)
from polhode.errors import InputError

if TYPE_CHECKING:
    import numpy as np

SAMPLES = 1.0  # days: residuals have terms of some days
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "degree-2": ("rigid, figure of degree 2, Earth and Sun", {"degree": 2}),
    "degree-3": ("rigid, degrees 2 and 3", {"degree": 3}),
    "rigid": ("rigid, degrees 2 to 4", {}),
    "mantle": ("the mantle alone turns", {"mantle": True}),
    "layered": (
        "tides, fluid core, Earth's oblateness, geodetic precession",
        {"model": "layered"},
    ),
    "de421": ("all terms of DE421's own model, no others", {"model": "de421"}),
}
MODEL, ALL = "de421", "all"  # the default, and the word for every model
HEAD = "model", "years", "x_arcsec", "y_arcsec", "z_arcsec"
SIZES = "model", "x_mas", "y_mas", "z_mas", "total_mas", "largest_mas", "at_ends_mas"
MAS = 1e3  # milliarcseconds in an arcsecond


def moon(
    start: Annotated[str, options.START_DATE] = "2000-01-01",
    years: Annotated[float, options.YEARS] = 1.0,
    models: Annotated[str | None, options.VARIANTS] = None,
    terms: Annotated[bool, options.TERMS] = False,
    planets: Annotated[bool, options.PLANETS] = False,
    ephemeris: Annotated[str, options.EPHEMERIS] = "de421",
    rtol: Annotated[float, options.MOON_TOLERANCE] = 1e-13,
    out: Annotated[Path | None, options.ROWS] = None,
    no_plot: Annotated[bool, options.NO_PLOT] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Integrate the Moon's rotation from a date on, and compare it with JPL's ephemeris DE421.

    Starts from DE421's own attitude and angular velocity.  Prints how far a model departs from
    DE421's librations, in milliarcseconds about the Moon's axes; writes the residuals (moon.csv)
    and a picture of them with their spectrum (moon.png).  Needs `pip install 'polhode[celestial]'`.

    The model is de421, with every term of DE421's own.  `--models` takes simpler ones, or all:
    degree-2, degree-3 and rigid (degrees 2 to 4) are a rigid Moon in the field of Earth and Sun; in
    mantle the fluid core does not turn along; layered has tides and a fluid core too.  `--terms`
    leaves out the terms of de421 in turn.

    The first run compiles the motion, which takes about a minute; later runs reuse it.

    Examples:

    - `polhode moon`
    - `polhode moon --start 2000-01-01 --years 1`
    - `polhode moon --start 1970-01-01 --years 50 --models all`
    - `polhode moon --start 1970-01-01 --years 50 --models rigid,mantle,de421 --out moon`
    - `polhode moon --start 1970-01-01 --years 50 --terms`
    """
    if terms and models is not None:
        raise InputError("--terms is about the model de421; leave out --models, or --terms")
    cases = _without_terms() if terms else _variants(models)
    file = rows_file(out, "moon.csv", start, years, rtol, ephemeris=ephemeris)
    begin, runs = date_of(start), dict[str, Run]()
    times, ends = _times(begin, years, ephemeris)
    with bar(f"moon: {next(iter(cases))}", lambda _: f"{len(runs)} of {len(cases)}", quiet) as on:
        for name, (_, switches) in cases.items():
            given = switches | {"ephemeris": ephemeris} | ({"planets": True} if planets else {})
            runs[name] = _run(name, begin, times, given, rtol)
            on(len(runs) / len(cases))
    sizes = {name: _sizes(run.gaps, ends) for name, run in runs.items()}
    if terms:
        written = write(file, SIZES, ([name, *row] for name, row in sizes.items()), None)
    else:
        rows = ([name, *row] for name, run in runs.items() for row in run.rows)
        written = write(file, HEAD, rows, None if no_plot else lambda: _draw(runs, ends))
    if not quiet:
        span = "1 year" if years == 1 else f"{years:g} years"
        remarks = f"departure from {ephemeris.upper()}'s librations, rms in milliarcseconds"
        print_line(f"the Moon from {start} (TDB) over {span}", remarks + ", with planets" * planets)
        _print(runs, sizes, {name: text for name, (text, _) in cases.items()})
        stdout().print(plain(written))


def _variants(text: str | None) -> dict[str, tuple[str, dict[str, Any]]]:
    names = [MODEL] if text is None else [part.strip() for part in text.split(",")]
    if names == [ALL]:
        names = list(VARIANTS)
    for name in names:
        if name not in VARIANTS:
            some = ", ".join(VARIANTS)
            raise InputError(f"--models takes some of {some}, or {ALL}, got {text!r}")
    return {name: VARIANTS[name] for name in names}


def _without_terms() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the model de421, without each of its terms, and with geodetic precession."""
    from polhode.celestial.layers import TERMS

    found: dict[str, tuple[str, dict[str, Any]]] = {"de421": ("all its terms", {"model": "de421"})}
    for name, text in TERMS.items():
        found[name] = f"without {text}", {"model": "de421", "without": (name,)}
    found["geodetic"] = "with geodetic precession", {"model": "de421", "geodetic": True}
    return found


def _run(name: str, begin: float, times: "np.ndarray", switches: Any, rtol: float) -> Run:
    from polhode import prepare
    from polhode.celestial import layered_moon, moon, moon_residuals

    ephemeris, asked = switches["ephemeris"], {"method": METHOD, "rtol": rtol}
    if "model" in switches:
        ready: Any = layered_moon(begin, **switches).prepare
    else:
        ready = partial(prepare, moon(begin, **switches))
    ready(**asked, t_eval=times[:2])((0.0, times[1]))  # compiles
    solver = ready(**asked, t_eval=times)
    return timed(name, solver, times[-1], lambda run: moon_residuals(run, begin, ephemeris))


def _times(begin: float, years: float, ephemeris: str) -> tuple["np.ndarray", "np.ndarray"]:
    """Return the times of samples in seconds, and which are ends of intervals of the librations."""
    import numpy as np

    from polhode.celestial.ephemeris import opened

    source, days = opened(ephemeris), years * YEAR / DAY
    interval, end = source.interval("librations"), source.latest_end("librations", begin) - begin
    first = end if days > 0.0 else end + interval
    grid = np.arange(first, days, np.copysign(SAMPLES, days))
    samples = np.array([0.0, *grid[grid * days > 0.0], days])
    count = (samples - end) / interval
    return samples * DAY, np.abs(count - np.round(count)) < 1e-6


def _sizes(gaps: "np.ndarray", ends: "np.ndarray") -> list[float]:
    """Return the sizes of residuals in milliarcseconds, as named in ``SIZES``."""
    largest = float(((gaps**2).sum(axis=1) ** 0.5).max())
    exact = gaps[ends] if ends.any() else gaps
    return [MAS * x for x in (*map(rms, gaps.T), rms(gaps), largest, rms(exact))]


# ---- output
def _draw(runs: dict[str, Run], ends: "np.ndarray") -> Any:
    from polhode import plot

    years = {name: run.years for name, run in runs.items()}
    gaps = {name: run.gaps for name, run in runs.items()}
    return plot.residuals(years, gaps, exact=ends)


def _print(runs: Mapping[str, Run], sizes: Mapping[str, list[float]], texts: Mapping) -> None:
    rows = []
    for name, run in runs.items():
        cost = str(run.trajectory.nsteps), str(run.trajectory.nfev), f"{run.seconds:.2g} s"
        numbers = (f"{x:.3g}" if x < 1000.0 else f"{x:.0f}" for x in sizes[name])
        rows.append([name, *numbers, *cost, f"[dim]{plain(texts[name])}[/]"])
    heads = "model", "x", "y", "z", "total", "largest", "at ends", "steps", "torques", "time", ""
    stdout().print(table(heads, rows, left=1, wrapped=[""]))
    stdout().print("[dim]at ends: total where JPL's series have their ends and are exact[/]")
