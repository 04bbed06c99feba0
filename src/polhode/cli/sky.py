"""``polhode moon`` and ``polhode earth``: their rotations against DE421 and IAU 2006/2000A."""

import csv
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from polhode.cli import options
from polhode.cli.output import bar, place, plain, save_picture, stdout, table
from polhode.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from polhode.celestial.nutation import Nutation, Resonance
    from polhode.results.trajectory import Trajectory

METHOD = "extrapolation"
DAY = 86400.0  # s
YEAR = 365.25 * DAY
LONGEST = 300.0  # years


class Run(NamedTuple):
    """A run, its residuals in rows, and how long it took."""

    trajectory: "Trajectory"
    gaps: "np.ndarray"
    seconds: float

    @property
    def years(self) -> "np.ndarray":
        return self.trajectory.t / YEAR

    @property
    def rows(self) -> Iterator[list[float]]:
        """Rows of the time and the residuals."""
        for when, gap in zip(self.years.tolist(), self.gaps.tolist(), strict=True):
            yield [when, *gap]


# ---- the Moon
SAMPLES = 2 * DAY  # s: residuals have terms of some days
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "degree-2": ("rigid, figure of degree 2, Earth and Sun", {"degree": 2}),
    "degree-3": ("rigid, degrees 2 and 3", {"degree": 3}),
    "rigid": ("rigid, degrees 2 to 4", {}),
    "mantle": ("the mantle alone turns", {"mantle": True}),
    "layered": ("tides, fluid core, Earth's oblateness, geodetic precession", {}),
}


def moon(
    start: Annotated[str, options.START_DATE] = "2000-01-01",
    years: Annotated[float, options.YEARS] = 1.0,
    models: Annotated[str | None, options.VARIANTS] = None,
    planets: Annotated[bool, options.PLANETS] = False,
    rtol: Annotated[float, options.MOON_TOLERANCE] = 1e-12,
    out: Annotated[Path | None, options.ROWS] = None,
    no_plot: Annotated[bool, options.NO_PLOT] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Integrate the Moon's rotation from a date on, and compare it with JPL's ephemeris DE421.

    Starts from DE421's own attitude and angular velocity.  Prints how far each model departs from
    DE421's librations, in arcseconds about the Moon's axes; writes the residuals (moon.csv) and a
    picture of them (moon.png).  Needs `pip install 'polhode[celestial]'`.

    The models: degree-2, degree-3 and rigid (degrees 2 to 4) are a rigid Moon in the field of Earth
    and Sun; in mantle the fluid core does not turn along; layered has tides and a fluid core too.
    The first run compiles the motion, which takes about a minute; later runs reuse it.

    Examples:

    - `polhode moon`
    - `polhode moon --start 2000-01-01 --years 1`
    - `polhode moon --start 1970-01-01 --years 50 --models rigid,mantle,layered --out moon`
    """
    names = _variants(models)
    file = _rows_file(out, "moon.csv", start, years, rtol)
    runs: dict[str, Run] = {}
    with bar(f"moon: {names[0]}", lambda done: f"moon: {len(runs)} of {len(names)}", quiet) as on:
        for name in names:
            runs[name] = _run_moon(name, _date_of(start), years, planets, rtol)
            on(len(runs) / len(names))
    rows = ([name, *row] for name, run in runs.items() for row in run.rows)
    head = ["model", "years", "x_arcsec", "y_arcsec", "z_arcsec"]
    written = _write(file, head, rows, None if no_plot else lambda: _draw_departures(runs))
    if not quiet:
        span = "1 year" if years == 1 else f"{years:g} years"
        remarks = "departure from DE421's librations, rms in arcseconds"
        _print_line(
            f"the Moon from {start} (TDB) over {span}", remarks + ", with planets" * planets
        )
        _print_departures(runs)
        stdout().print(plain(written))


def _variants(text: str | None) -> list[str]:
    names = list(VARIANTS) if text is None else [part.strip() for part in text.split(",")]
    for name in names:
        if name not in VARIANTS:
            raise InputError(f"--models takes some of {', '.join(VARIANTS)}, got {text!r}")
    return list(dict.fromkeys(names))


def _run_moon(name: str, begin: float, years: float, planets: bool, rtol: float) -> Run:
    from polhode import prepare
    from polhode.celestial import layered_moon, moon, moon_residuals

    formulation = None
    if name == "layered":
        problem, formulation = layered_moon(begin, planets=planets)
    else:
        problem = moon(begin, planets=planets, **VARIANTS[name][1])
    solver = prepare(problem, method=METHOD, formulation=formulation, rtol=rtol, max_step=SAMPLES)
    solver((0.0, 60.0))  # compiles
    return _timed(name, solver, years * YEAR, lambda run: moon_residuals(run, begin))


def _draw_departures(runs: dict[str, Run]) -> Any:
    from polhode import plot

    years = {name: run.years for name, run in runs.items()}
    return plot.residuals(years, {name: run.gaps for name, run in runs.items()})


def _print_departures(runs: dict[str, Run]) -> None:
    rows = []
    for name, run in runs.items():
        largest = float(((run.gaps**2).sum(axis=1) ** 0.5).max())
        numbers = [*(_rms(column) for column in run.gaps.T), _rms(run.gaps), largest]
        cost = str(run.trajectory.nsteps), str(run.trajectory.nfev), f"{run.seconds:.2g} s"
        remark = f"[dim]{plain(VARIANTS[name][0])}[/]"
        rows.append([name, *(f"{x:.3g}" for x in numbers), *cost, remark])
    heads = "model", "x", "y", "z", "total", "largest", "steps", "torques", "time", ""
    stdout().print(table(heads, rows, left=1, wrapped=[""]))


# ---- the Earth
UTC = 2436934.5  # Julian date of 1960
SHORTEST = 0.05  # years
LEAST = 18.0  # years: to tell the nutation of the Moon's node from a trend


def earth(
    start: Annotated[str, options.START_DATE] = "1975-01-01",
    years: Annotated[float, options.YEARS] = 50.0,
    planets: Annotated[bool, options.PLANETS] = False,
    rtol: Annotated[float, options.MOON_TOLERANCE] = 1e-12,
    out: Annotated[Path | None, options.ROWS] = None,
    no_plot: Annotated[bool, options.NO_PLOT] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Integrate the rotation of a rigid Earth, and compare its pole with IAU 2006/2000A.

    Starts from IAU 2006/2000A, in the field of Moon and Sun of JPL's ephemeris DE421.  Prints the
    differences of the pole's X and Y in milliarcseconds, without offset and trend.  For 18 years or
    more it also prints the main nutations, their ratios, which differ from 1 because the core is
    fluid, and the period of the free core nutation from a resonance fitted to the ratios.  Writes
    the differences day by day (earth.csv) and a picture (earth.png).  Needs
    `pip install 'polhode[celestial]'`.

    Examples:

    - `polhode earth`
    - `polhode earth --start 1975-01-01 --years 50`
    - `polhode earth --start 2000-01-01 --years 1 --planets --out earth`
    """
    from polhode.celestial import core_resonance, earth_nutations

    file, begin = _rows_file(out, "earth.csv", start, years, rtol, SHORTEST), _date_of(start)
    with bar("earth", lambda done: "earth", quiet) as on:
        run = _run_earth(begin, years, planets, rtol)
        is_long = len(run.gaps) - 1 >= LEAST * YEAR / DAY
        terms = earth_nutations(run.trajectory, begin) if is_long else []
        core = core_resonance(terms) if terms else None
        on(1.0)
    draw = None if no_plot else lambda: _draw_nutations(run, terms, core)
    written = _write(file, ["years", "x_mas", "y_mas"], run.rows, draw)
    if not quiet:
        _print_line(
            f"a rigid Earth from {start} (TDB) to {run.years[-1]:+.4g} years",
            f"against IAU 2006/2000A{', with planets' * planets}; {run.trajectory.nsteps} steps,"
            f" {run.trajectory.nfev} torques, {run.seconds:.2g} s",
        )
        x, y = map(_rms, run.gaps.T)
        stdout().print(f"pole, less offset and trend: rms {x:.3g} mas in X, {y:.3g} mas in Y")
        _print_nutations(terms, core)
        stdout().print(plain(written))


def _run_earth(begin: float, years: float, planets: bool, rtol: float) -> Run:
    import numpy as np

    from polhode import prepare
    from polhode.celestial import earth, earth_residuals

    days = np.arange(int(abs(years) * YEAR / DAY) + 1) * np.copysign(DAY, years)
    offset = None if begin >= UTC else 30.0  # the pole does not feel some seconds of TT - UT1
    problem = earth(begin, planets=planets, delta_t=offset)
    solver = prepare(problem, method=METHOD, rtol=rtol, t_eval=days)
    return _timed("earth", solver, float(days[-1]), lambda run: earth_residuals(run, begin))


def _draw_nutations(run: Run, terms: "list[Nutation]", core: "Resonance | None") -> Any:
    from polhode import plot

    ratios = {term.name: (365.25 / term.period, term.ratio.real) for term in terms}
    curve = None if core is None else lambda x: core.ratio(365.25 / x)
    return plot.nutation(run.years, run.gaps, ratios, curve)


def _print_nutations(terms: "list[Nutation]", core: "Resonance | None") -> None:
    if core is None:
        stdout().print(f"[dim]nutations need a run of {LEAST:g} years or more[/]")
        return
    rows = []
    for term in terms:
        ratios = term.ratio.real, core.ratio(term.period)
        numbers = term.period, abs(term.rigid), abs(term.iau)
        rows.append([term.name, *(f"{x:.2f}" for x in numbers), *(f"{x:.4f}" for x in ratios)])
    heads = "nutation", "days", "rigid, mas", "IAU, mas", "IAU / rigid", "resonance"
    stdout().print(table(heads, rows, left=1))
    stdout().print(f"free core nutation: {-core.period:.1f} days, retrograde")


# ---- both
def _date_of(start: str) -> float:
    """Return the TDB Julian date of a date or of a number."""
    from polhode.celestial.ephemeris import julian_date

    try:
        return float(start)
    except ValueError:
        return julian_date(start)


def _rows_file(
    out: Path | None, name: str, start: str, years: float, rtol: float, shortest: float = 0.0
) -> Path:
    """Return the CSV file to write, once all options are found to be right."""
    from polhode.celestial.ephemeris import de421

    if not years or not shortest <= abs(years) <= LONGEST:
        least = f"at least {shortest:g}" if shortest else "not 0"
        raise InputError(
            f"--years must be {least} and at most {LONGEST:g}, or as much back in time (negative),"
            f" got {years!r}"
        )
    if not 1e-15 <= rtol < 1e-3:
        raise InputError(f"--rtol must be between 1e-15 and 1e-3, got {rtol!r}")
    file = place(out, name, (".csv", ".png")).with_suffix(".csv")
    days = years * YEAR / DAY
    de421().check(_date_of(start), min(days, 0.0), max(days, 0.0))
    return file


def _timed(name: str, solver: Any, end: float, residuals: Callable[[Any], "np.ndarray"]) -> Run:
    """Run a solver up to a time, and find the residuals of the run."""
    begin = time.perf_counter()
    run = solver((0.0, end))
    seconds = time.perf_counter() - begin
    if not run.success:
        raise InputError(f"the run of {name!r} stopped early: {run.message}")
    return Run(run, residuals(run), seconds)


def _rms(values: "np.ndarray") -> float:
    """Return the root mean square over time, of numbers or of the lengths of rows."""
    import numpy as np

    return float(np.sqrt(np.mean(np.square(values).reshape(len(values), -1).sum(axis=1))))


# ---- output
def _write(
    file: Path, head: Sequence[str], rows: Iterable[Sequence], draw: Callable[[], Any] | None
) -> str:
    """Write a CSV file, and a picture beside it; return the names of the files written."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(head)
        writer.writerows(rows)
    return str(file) if draw is None else f"{file}, {save_picture(draw, file)}"


def _print_line(bold: str, dim: str) -> None:
    """Print a heading, and remarks in grey."""
    stdout().print(f"[bold]{plain(bold)}[/]   [dim]{plain(dim)}[/]")
