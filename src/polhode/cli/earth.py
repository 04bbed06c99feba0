"""``polhode earth``: the rotation of a rigid Earth, against IAU 2006/2000A."""

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
    from polhode.celestial import core_resonance, earth_nutations

    file, begin = rows_file(out, "earth.csv", start, years, rtol, SHORTEST), date_of(start)
    with bar("earth", lambda done: "earth", quiet) as on:
        run = _run_earth(begin, years, planets, rtol)
        is_long = len(run.gaps) - 1 >= LEAST * YEAR / DAY
        terms = earth_nutations(run.trajectory, begin) if is_long else []
        core = core_resonance(terms) if terms else None
        on(1.0)
    draw = None if no_plot else lambda: _draw_nutations(run, terms, core)
    written = write(file, ["years", "x_mas", "y_mas"], run.rows, draw)
    if not quiet:
        print_line(
            f"a rigid Earth from {start} (TDB) to {run.years[-1]:+.4g} years",
            f"against IAU 2006/2000A{', with planets' * planets}; {run.trajectory.nsteps} steps,"
            f" {run.trajectory.nfev} torques, {run.seconds:.2g} s",
        )
        x, y = map(rms, run.gaps.T)
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
    return timed("earth", solver, float(days[-1]), lambda run: earth_residuals(run, begin))


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
