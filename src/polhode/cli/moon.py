"""``polhode moon``: the Moon's rotation against DE421."""

from pathlib import Path
from typing import Annotated, Any

from polhode.cli import options, sky
from polhode.cli.consoles import plain, stdout
from polhode.cli.progress import bar
from polhode.errors import InputError

SAMPLES = 2 * 86400.0  # s: residuals have terms of some days
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
    file = sky.rows_file(out, "moon.csv", start, years, rtol)
    runs: dict[str, sky.Run] = {}
    with bar(f"moon: {names[0]}", lambda done: f"moon: {len(runs)} of {len(names)}", quiet) as on:
        for name in names:
            runs[name] = _run(name, start, years, planets, rtol)
            on(len(runs) / len(names))
    rows = (
        [name, when, *gap]
        for name, run in runs.items()
        for when, gap in zip(run.years.tolist(), run.gaps.tolist(), strict=True)
    )
    head = ["model", "years", "x_arcsec", "y_arcsec", "z_arcsec"]
    written = sky.write(file, head, rows, None if no_plot else lambda: _draw(runs))
    if not quiet:
        span = "1 year" if years == 1 else f"{years:g} years"
        remarks = "departure from DE421's librations, rms in arcseconds"
        sky.print_line(
            f"the Moon from {start} (TDB) over {span}", remarks + ", with planets" * planets
        )
        _print(runs)
        stdout().print(plain(written))


def _variants(text: str | None) -> list[str]:
    names = list(VARIANTS) if text is None else [part.strip() for part in text.split(",")]
    for name in names:
        if name not in VARIANTS:
            raise InputError(f"--models takes some of {', '.join(VARIANTS)}, got {text!r}")
    return list(dict.fromkeys(names))


def _run(name: str, start: str, years: float, planets: bool, rtol: float) -> sky.Run:
    from polhode import prepare
    from polhode.celestial import layered_moon, moon, moon_residuals

    begin, formulation = sky.date_of(start), None
    if name == "layered":
        problem, formulation = layered_moon(begin, planets=planets)
    else:
        problem = moon(begin, planets=planets, **VARIANTS[name][1])
    solver = prepare(
        problem, method=sky.METHOD, formulation=formulation, rtol=rtol, max_step=SAMPLES
    )
    solver((0.0, 60.0))  # compiles
    run, seconds = sky.timed_run(name, solver, years * sky.YEAR)
    return sky.Run(run.t / sky.YEAR, moon_residuals(run, begin), run.nsteps, run.nfev, seconds)


def _draw(runs: dict[str, sky.Run]) -> Any:
    from polhode import plot

    years = {name: run.years for name, run in runs.items()}
    return plot.residuals(years, {name: run.gaps for name, run in runs.items()})


def _print(runs: dict[str, sky.Run]) -> None:
    rows = []
    for name, run in runs.items():
        largest = float(((run.gaps**2).sum(axis=1) ** 0.5).max())
        numbers = [*(sky.rms(column) for column in run.gaps.T), sky.rms(run.gaps), largest]
        cost = str(run.steps), str(run.evaluations), f"{run.seconds:.2g} s"
        remark = f"[dim]{plain(VARIANTS[name][0])}[/]"
        rows.append([name, *(f"{x:.3g}" for x in numbers), *cost, remark])
    heads = "model", "x", "y", "z", "total", "largest", "steps", "torques", "time", ""
    sky.print_table(heads, rows)
