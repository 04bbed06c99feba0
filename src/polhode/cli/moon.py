"""``polhode moon``: the Moon's rotation against DE421."""

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

SAMPLES = 2 * 86400.0  # s: residuals have terms of some days
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "degree-2": ("rigid, figure of degree 2, Earth and Sun", {"degree": 2}),
    "degree-3": ("rigid, degrees 2 and 3", {"degree": 3}),
    "rigid": ("rigid, degrees 2 to 4", {}),
    "mantle": ("the mantle alone turns", {"mantle": True}),
    "layered": ("tides, fluid core, Earth's oblateness, geodetic precession", {}),
}


class Found(NamedTuple):
    years: "np.ndarray"
    turns: "np.ndarray"
    steps: int
    evaluations: int
    seconds: float


def moon(
    start: options.StartDate = "2000-01-01",
    years: options.Years = 1.0,
    models: options.Variants = None,
    planets: options.Planets = False,
    rtol: options.MoonTolerance = 1e-12,
    out: options.Rows = None,
    no_plot: options.NoPlot = False,
    quiet: options.Quiet = False,
) -> None:
    """Integrate the Moon's rotation from a date on, and compare with JPL's ephemeris DE421.

    Starts from DE421's own attitude and angular velocity.  Prints how far each model departs from
    DE421's librations, in arcseconds about the Moon's axes; writes the residuals (moon.csv) and a
    picture of them (moon.png).  Needs `pip install 'polhode[celestial]'`.

    The models: degree-2, degree-3 and rigid (degrees 2 to 4) are a rigid Moon in the field of Earth
    and Sun; in mantle the fluid core does not turn along; layered has tides and a fluid core too.
    The first run ever compiles the motion, which takes about a minute; later ones find it again.

    Examples:

    - `polhode moon`
    - `polhode moon --start 2000-01-01 --years 1`
    - `polhode moon --start 1970-01-01 --years 50 --models rigid,mantle,layered --out moon`
    """
    names = _variants(models)
    if not years or abs(years) > 300:
        raise InputError(f"--years must be between -300 and 300 and not 0, got {years!r}")
    if not 1e-15 <= rtol < 1e-3:
        raise InputError(f"--rtol must be between 1e-15 and 1e-3, got {rtol!r}")
    file = place(out, "moon.csv", FORMATS).with_suffix(".csv")
    check_span(start, years)
    found: dict[str, Found] = {}
    with bar(f"moon: {names[0]}", lambda done: f"moon: {len(found)} of {len(names)}", quiet) as on:
        for name in names:
            found[name] = _departure(name, start, years, planets, rtol)
            on(len(found) / len(names))
    written = [_save(found, file)]
    if not no_plot:
        written.append(_draw(found, file))
    if not quiet:
        _print(found, start, years, planets, written)


def _variants(text: str | None) -> list[str]:
    names = list(VARIANTS) if text is None else [part.strip() for part in text.split(",")]
    for name in names:
        if name not in VARIANTS:
            raise InputError(f"--models takes some of {', '.join(VARIANTS)}, got {text!r}")
    return list(dict.fromkeys(names))


def _departure(name: str, start: str, years: float, planets: bool, rtol: float) -> Found:
    from polhode import prepare
    from polhode.celestial import layered_moon, moon, moon_residuals

    begin, settings = date_of(start), VARIANTS[name][1]
    formulation = None
    if name == "layered":
        problem, formulation = layered_moon(begin, planets=planets)
    else:
        problem = moon(begin, planets=planets, **settings)
    solver = prepare(problem, method=METHOD, formulation=formulation, rtol=rtol, max_step=SAMPLES)
    solver((0.0, 60.0))  # compiles
    begun = time.perf_counter()
    run = solver((0.0, years * YEAR))
    took = time.perf_counter() - begun
    if not run.success:
        raise InputError(f"the run of {name!r} stopped early: {run.message}")
    return Found(run.t / YEAR, moon_residuals(run, begin), run.nsteps, run.nfev, took)


def _save(found: dict[str, Found], file: Any) -> Any:
    import csv

    with file.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["model", "years", "x_arcsec", "y_arcsec", "z_arcsec"])
        for name, of in found.items():
            for when, turn in zip(of.years.tolist(), of.turns.tolist(), strict=True):
                rows.writerow([name, when, *turn])
    return file


def _draw(found: dict[str, Found], file: Any) -> Any:
    from polhode import plot

    axes = plot.residuals(
        {name: of.years for name, of in found.items()},
        {name: of.turns for name, of in found.items()},
    )
    return plot.save(axes, file.with_suffix(".png"))


def _print(found: dict[str, Found], start: str, years: float, planets: bool, written: list) -> None:
    from rich.table import Table

    console, span = stdout(), "1 year" if years == 1 else f"{years:g} years"
    console.print(
        f"[bold]the Moon from {plain(start)} (TDB) over {span}[/]   [dim]departure from DE421's"
        f" librations, rms in arcseconds{', with planets' if planets else ''}[/]"
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for k, head in enumerate(
        ["model", "x", "y", "z", "total", "largest", "steps", "torques", "time", ""]
    ):
        table.add_column(head, justify="left" if k in (0, 9) else "right", no_wrap=k < 9)
    for name, of in found.items():
        sizes = (of.turns**2).sum(axis=1) ** 0.5
        numbers = [*(rms(column) for column in of.turns.T), rms(of.turns), float(sizes.max())]
        table.add_row(
            name,
            *(f"{x:.3g}" for x in numbers),
            str(of.steps),
            str(of.evaluations),
            f"{of.seconds:.2g} s",
            f"[dim]{plain(VARIANTS[name][0])}[/]",
        )
    console.print(table)
    console.print(plain(", ".join(map(str, written))))
