"""``polhode compare``: what accuracy costs with each method."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from polhode.cli import options
from polhode.cli.output import bar, place, plain, stderr, stdout, table
from polhode.errors import InputError

if TYPE_CHECKING:
    from polhode.comparison.compare import Comparison, Row

FACTORS = tuple(2.0**k for k in range(4, -4, -1))  # times the problem's step
QUICK_FACTORS, QUICK_REPEATS, QUICK_PART = (4.0, 2.0, 1.0), 2, 0.1
FORMATS = ".csv", ".json"
ALL = "all"


def compare(
    target: Annotated[str, options.TARGET],
    methods: Annotated[str | None, options.METHODS] = None,
    dts: Annotated[str | None, options.STEPS] = None,
    errors: Annotated[str | None, options.ERRORS] = None,
    t_end: Annotated[float | None, options.END] = None,
    changes: Annotated[list[str] | None, options.SET] = None,
    repeats: Annotated[int, options.REPEATS] = 7,
    out: Annotated[Path | None, options.ROWS] = None,
    no_plot: Annotated[bool, options.NO_PLOT] = False,
    quick: Annotated[bool, options.QUICK_COMPARE] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Compare methods on a problem: error against time and against torque evaluations.

    Writes the rows (NAME-compare.csv) and the work-precision diagram (NAME-compare.png), and prints
    both the rows and the cheapest run for each accuracy. Errors are taken at the end: against the
    closed form if nothing acts on the body, else against a method of order 8 on Newton's and
    Euler's equations with its step halved down to rounding. Errors smaller than that of this
    reference are shown as ≤. With six degrees of freedom there are errors of position and velocity,
    too, and an accuracy means that of attitude (rad) and position (relative).

    Examples:

    - `polhode compare fast-top`
    - `polhode compare fast-top --methods imidm,mr4,strang6 --dts 0.01,0.005,0.0025`
    - `polhode compare satellite --errors 1e-4,1e-8 --t-end 10`
    - `polhode compare off-centre-spring --methods rkn4,mkrk:rk4,mr4 --errors 1e-4,1e-8`
    - `polhode compare spinning_box.toml --methods all --out results --quick`
    """
    import polhode
    from polhode.cli.plan import make_plan, option_changes, set_changes

    plan = make_plan(target, [*set_changes(changes), *option_changes("run", t_end=t_end)])
    start, end = plan.run.t_start, plan.run.t_end
    if quick and t_end is None:
        end = start + QUICK_PART * (end - start)
    file = place(out, f"{plan.name}-compare.csv", FORMATS)
    steps = None if dts is None else _numbers(dts, "--dts")
    targets = None if errors is None else _numbers(errors, "--errors")
    if steps is None and targets is None:
        steps = _default_steps(abs(end - start) / 2, plan.run.dt, quick)
    with bar(
        f"{plan.name}: the reference",
        lambda fraction: f"{plan.name}: {'errors' if fraction < 0.5 else 'times'}",
        quiet,
    ) as report:
        comparison = polhode.compare(
            plan.problem,
            (start, end),
            methods=_methods(methods, plan.problem.model),
            dts=steps,
            errors=targets,
            repeats=min(repeats, QUICK_REPEATS) if quick else repeats,
            progress=report,
        )
    written = [comparison.save(file)]
    if not no_plot:
        comparison.plot(file.with_suffix(".png"))
        written.append(file.with_suffix(".png"))
    if not quiet:
        _print(comparison, plan.summary, written)


def _default_steps(longest: float, dt: float | None, quick: bool) -> list[float]:
    """Return multiples of the problem's own step, none longer than ``longest``."""
    base = dt or longest / 500
    steps = [f * base for f in (QUICK_FACTORS if quick else FACTORS) if f * base <= longest]
    return steps or [longest, longest / 2, longest / 4]


def _methods(text: str | None, model: Any) -> list[str] | None:
    from polhode.integrators import OF_BODIES
    from polhode.methods import METHODS

    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == [ALL]:
        return [*(name for name, method in METHODS.items() if method.takes(model)), *OF_BODIES]
    if not names:
        raise InputError(
            f"--methods takes names separated by commas, or {ALL}, got {text!r};"
            f" available: {', '.join((*METHODS, *OF_BODIES))}"
        )
    return names


def _numbers(text: str, option: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(0 < x < float("inf") for x in numbers):
        raise InputError(f"{option} takes positive numbers separated by commas, got {text!r}")
    return numbers


# ---- tables
def _print(found: "Comparison", summary: str, written: list[Path]) -> None:
    console, reference = stdout(), found.reference
    t0, t1 = found.t_span
    console.print(f"[bold]{plain(found.problem)}[/]   [dim]{plain(summary)}[/]")
    console.print(f"t = {t0:g} to {t1:g} s; errors at the end, of the energy the largest")
    errors = f"{reference.attitude_error:.1e} rad, momentum {reference.momentum_error:.1e}"
    if (place := reference.place) is not None:
        errors += f", position {place.position_error:.1e}, velocity {place.velocity_error:.1e}"
    console.print(f"reference: {plain(reference.route)}; its error: {errors}\n")
    console.print(_rows(found))
    if found.frontier():
        what = "an attitude error" if place is None else "errors of attitude and position"
        console.print(f"\n[bold]cheapest for {what} of[/]")
        console.print(_cheapest(found))
    for row in found.rows:
        if row.message:
            stderr().print(plain(f"{row.method}, {row.setting}: {row.message}"))
    console.print(plain("\n" + ", ".join(map(str, written))))


def _rows(found: "Comparison") -> Any:
    work = [] if found.is_free else ["torques"]
    headings = ["method", "step or rtol", "steps", *work, "time"]
    kinds = list(_least(found))
    rows = []
    for row in found.rows:
        cells = [row.method, row.setting, str(row.steps), *_work(row, found), _ms(row.seconds)]
        failed = ["failed", *[""] * len(kinds)]
        errors = failed if row.attitude_error is None else _errors(row, found)
        rows.append([*map(plain, cells), *errors])
    return table([*headings, *kinds, "energy"], rows, left=1)


def _work(row: "Row", found: "Comparison") -> list[str]:
    return [] if found.is_free else [str(row.torques)]


def _least(found: "Comparison") -> dict[str, float]:
    """The errors of the reference, by kind."""
    reference, place = found.reference, found.reference.place
    least = {"attitude": reference.attitude_error, "momentum": reference.momentum_error}
    if place is not None:
        least |= {"position": place.position_error, "velocity": place.velocity_error}
    return least


def _errors(row: "Row", found: "Comparison") -> list[str]:
    """The errors of a run; one that equals the reference's own error is only an upper bound."""
    cells = []
    for kind, least in _least(found).items():
        value = getattr(row, f"{kind}_error")
        cells.append(("≤ " if value <= least else "") + f"{value:.1e}")
    return [*cells, "" if row.energy_error is None else f"{row.energy_error:.1e}"]


def _cheapest(found: "Comparison") -> Any:
    """One row per run, at the smallest error for which it is the cheapest."""
    runs = {row: level for level, row in found.frontier().items()}
    work = [] if found.is_free else ["torques"]
    rows = []
    for row, level in runs.items():
        cells = [f"{level:.0e}", row.method, row.setting, str(row.steps)]
        rows.append([*map(plain, cells), *_work(row, found), _ms(row.seconds)])
    return table(["error", "method", "step or rtol", "steps", *work, "time"], rows, left=2)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"
