"""``polhode earth``: the precession and nutation of a rigid Earth against IAU 2006/2000A."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from polhode.cli import options, sky
from polhode.cli.consoles import plain, stdout
from polhode.cli.progress import bar

if TYPE_CHECKING:
    from polhode.celestial.nutation import Nutation, Resonance

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
    file = sky.rows_file(out, "earth.csv", start, years, rtol, SHORTEST)
    with bar("earth", lambda done: "earth", quiet) as on:
        run, terms, core = _run(start, years, planets, rtol)
        on(1.0)
    rows = ([when, *gap] for when, gap in zip(run.years.tolist(), run.gaps.tolist(), strict=True))
    draw = None if no_plot else lambda: _draw(run, terms, core)
    written = sky.write(file, ["years", "x_mas", "y_mas"], rows, draw)
    if not quiet:
        sky.print_line(
            f"a rigid Earth from {start} (TDB) to {run.years[-1]:+.4g} years",
            f"against IAU 2006/2000A{', with planets' * planets}; {run.steps} steps,"
            f" {run.evaluations} torques, {run.seconds:.2g} s",
        )
        x, y = map(sky.rms, run.gaps.T)
        stdout().print(f"pole, less offset and trend: rms {x:.3g} mas in X, {y:.3g} mas in Y")
        _print(terms, core)
        stdout().print(plain(written))


def _run(
    start: str, years: float, planets: bool, rtol: float
) -> "tuple[sky.Run, list[Nutation], Resonance | None]":
    """The run, and its nutations and their resonance if it is long enough."""
    import numpy as np

    from polhode import prepare
    from polhode.celestial import core_resonance, earth, earth_nutations, earth_residuals
    from polhode.celestial.ephemeris import DAY

    begin = sky.date_of(start)
    count = int(abs(years) * sky.YEAR / DAY)
    days = np.arange(count + 1) * np.copysign(DAY, years)
    offset = None if begin >= UTC else 30.0  # the pole does not feel some seconds of TT - UT1
    problem = earth(begin, planets=planets, delta_t=offset)
    solver = prepare(problem, method=sky.METHOD, rtol=rtol, t_eval=days)
    run, seconds = sky.timed_run("earth", solver, float(days[-1]))
    gaps = earth_residuals(run, begin)
    terms = earth_nutations(run, begin) if count >= LEAST * sky.YEAR / DAY else []
    core = core_resonance(terms) if terms else None
    return sky.Run(run.t / sky.YEAR, gaps, run.nsteps, run.nfev, seconds), terms, core


def _draw(run: sky.Run, terms: "list[Nutation]", core: "Resonance | None") -> Any:
    from polhode import plot

    ratios = {term.name: (365.25 / term.period, term.ratio.real) for term in terms}
    curve = None if core is None else lambda x: core.ratio(365.25 / x)
    return plot.nutation(run.years, run.gaps, ratios, curve)


def _print(terms: "list[Nutation]", core: "Resonance | None") -> None:
    if core is None:
        stdout().print(f"[dim]nutations need a run of {LEAST:g} years or more[/]")
        return
    rows = []
    for term in terms:
        ratios = term.ratio.real, core.ratio(term.period)
        numbers = term.period, abs(term.rigid), abs(term.iau)
        rows.append([term.name, *(f"{x:.2f}" for x in numbers), *(f"{x:.4f}" for x in ratios)])
    sky.print_table(
        ("nutation", "days", "rigid, mas", "IAU, mas", "IAU / rigid", "resonance"), rows
    )
    stdout().print(f"free core nutation: {-core.period:.1f} days, retrograde")
