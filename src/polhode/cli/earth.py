"""``polhode earth``: the precession and nutation of a rigid Earth against IAU 2006/2000A."""

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from polhode.cli import options
from polhode.cli.consoles import plain, stdout
from polhode.cli.files import place
from polhode.cli.progress import bar
from polhode.cli.sky import FORMATS, METHOD, YEAR, check_span, date_of, rms
from polhode.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from polhode.celestial.nutation import Nutation, Resonance

UTC = 2436934.5  # Julian date of 1960
LEAST = 18.0  # years: the nutation of the Moon's node is to be told apart from a trend


class Found(NamedTuple):
    years: "np.ndarray"
    gaps: "np.ndarray"
    terms: "list[Nutation]"
    core: "Resonance | None"
    steps: int
    evaluations: int
    seconds: float


def earth(
    start: options.StartDate = "1975-01-01",
    years: options.Years = 50.0,
    planets: options.Planets = False,
    rtol: options.MoonTolerance = 1e-12,
    out: options.Rows = None,
    no_plot: options.NoPlot = False,
    quiet: options.Quiet = False,
) -> None:
    """Integrate the rotation of a rigid Earth, and compare its pole with IAU 2006/2000A.

    Starts as IAU 2006/2000A has it, in the field of Moon and Sun of JPL's ephemeris DE421.  Prints
    the differences of the pole's X and Y in milliarcseconds, offset and trend taken out; of 18
    years or more the main nutations and their ratios too, which differ from 1 because the core is
    fluid, and the period of its free nutation from a resonance fitted to them.  Writes the
    differences day by day (earth.csv) and a picture (earth.png).  Needs
    `pip install 'polhode[celestial]'`.

    Examples:

    - `polhode earth`
    - `polhode earth --start 1975-01-01 --years 50`
    - `polhode earth --start 2000-01-01 --years 1 --planets --out earth`
    """
    if not 0.05 <= abs(years) <= 300:
        raise InputError(f"--years must be between 0.05 and 300, or negative, got {years!r}")
    if not 1e-15 <= rtol < 1e-3:
        raise InputError(f"--rtol must be between 1e-15 and 1e-3, got {rtol!r}")
    file = place(out, "earth.csv", FORMATS).with_suffix(".csv")
    check_span(start, years)
    with bar("earth", lambda done: "earth", quiet) as on:
        found = _found(start, years, planets, rtol)
        on(1.0)
    written = [_save(found, file)]
    if not no_plot:
        written.append(_draw(found, file))
    if not quiet:
        _print(found, start, planets, written)


def _found(start: str, years: float, planets: bool, rtol: float) -> Found:
    import numpy as np

    from polhode import prepare
    from polhode.celestial import core_resonance, earth, earth_nutations, earth_residuals
    from polhode.celestial.ephemeris import DAY

    begin = date_of(start)
    count = int(abs(years) * YEAR / DAY)
    days = np.arange(count + 1) * np.copysign(DAY, years)
    offset = None if begin >= UTC else 30.0  # the pole does not feel some seconds of TT - UT1
    problem = earth(begin, planets=planets, delta_t=offset)
    solver = prepare(problem, method=METHOD, rtol=rtol, t_eval=days)
    begun = time.perf_counter()
    run = solver((0.0, float(days[-1])))
    took = time.perf_counter() - begun
    if not run.success:
        raise InputError(f"the run stopped early: {run.message}")
    gaps = earth_residuals(run, begin)
    terms = earth_nutations(run, begin) if count >= LEAST * YEAR / DAY else []
    core = core_resonance(terms) if terms else None
    return Found(run.t / YEAR, gaps, terms, core, run.nsteps, run.nfev, took)


def _save(found: Found, file: Any) -> Any:
    import csv

    with file.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["years", "x_mas", "y_mas"])
        for when, gap in zip(found.years.tolist(), found.gaps.tolist(), strict=True):
            rows.writerow([when, *gap])
    return file


def _draw(found: Found, file: Any) -> Any:
    from polhode import plot

    core = found.core
    terms = {term.name: (365.25 / term.period, term.ratio.real) for term in found.terms}
    curve = None if core is None else lambda x: core.ratio(365.25 / x)
    return plot.save(plot.nutation(found.years, found.gaps, terms, curve), file.with_suffix(".png"))


def _print(found: Found, start: str, planets: bool, written: list) -> None:
    from rich.table import Table

    console = stdout()
    console.print(
        f"[bold]a rigid Earth from {plain(start)} (TDB) to {found.years[-1]:+.4g} years[/]   [dim]"
        f"against IAU 2006/2000A{', with planets' if planets else ''}; {found.steps} steps,"
        f" {found.evaluations} torques, {found.seconds:.2g} s[/]"
    )
    x, y = map(rms, found.gaps.T)
    console.print(f"pole, less offset and trend: rms {x:.3g} mas in X, {y:.3g} mas in Y")
    if found.core is None:
        console.print(f"[dim]nutations need a run of {LEAST:g} years or more[/]")
    else:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for head in ("nutation", "days", "rigid, mas", "IAU, mas", "IAU / rigid", "resonance"):
            table.add_column(head, justify="left" if head == "nutation" else "right", no_wrap=True)
        for term in found.terms:
            table.add_row(
                term.name,
                f"{term.period:.2f}",
                f"{abs(term.rigid):.2f}",
                f"{abs(term.iau):.2f}",
                f"{term.ratio.real:.4f}",
                f"{found.core.ratio(term.period):.4f}",
            )
        console.print(table)
        console.print(f"free core nutation: {-found.core.period:.1f} days, retrograde")
    console.print(plain(", ".join(map(str, written))))
