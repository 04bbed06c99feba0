"""``polhode compare``: what accuracy costs, method by method."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from polhode.cli import options
from polhode.cli.consoles import plain, stderr, stdout
from polhode.cli.files import place
from polhode.cli.progress import bar
from polhode.errors import InputError

if TYPE_CHECKING:
    from polhode.comparison.compare import Comparison, Row

FACTORS = tuple(2.0**k for k in range(4, -4, -1))  # of the problem's step
QUICK_FACTORS, QUICK_REPEATS, QUICK_PART = (4.0, 2.0, 1.0), 2, 0.1
FORMATS = ".csv", ".json"
ALL = "all"


def compare(
    target: options.Target,
    methods: options.Methods = None,
    dts: options.Steps = None,
    errors: options.Errors = None,
    t_end: options.End = None,
    changes: options.Set = None,
    repeats: options.Repeats = 7,
    out: options.Rows = None,
    no_plot: options.NoPlot = False,
    quick: options.QuickCompare = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare methods on a problem: error against time and against torque evaluations.

    Writes the rows (NAME-compare.csv) and the work-precision diagram (NAME-compare.png), and prints
    both the rows and the cheapest run for each accuracy. Errors are those at the end, against the
    closed form if there is no torque, else against a method of order 8 on Euler's equations with
    its step halved down to rounding; errors smaller than that of this reference are shown as ≤.

    Examples:

    - `polhode compare fast-top`
    - `polhode compare fast-top --methods imidm,mr4,strang6 --dts 0.01,0.005,0.0025`
    - `polhode compare satellite --errors 1e-4,1e-8 --t-end 10`
    - `polhode compare spinning_box.toml --methods all --out results --quick`
    """
    from polhode import compare as compared
    from polhode.cli.plan import parsed, plan

    asked = [parsed(text) for text in changes or ()]
    asked += [] if t_end is None else [("run.t_end", t_end)]
    todo = plan(target, asked)
    start, end = todo.run.t_start, todo.run.t_end
    if quick and t_end is None:
        end = start + QUICK_PART * (end - start)
    file = place(out, f"{todo.name}-compare.csv", FORMATS)
    sizes = None if dts is None else _numbers(dts, "--dts")
    wanted = None if errors is None else _numbers(errors, "--errors")
    if sizes is None and wanted is None:
        longest = abs(end - start) / 2
        base = todo.run.dt or longest / 500
        factors = QUICK_FACTORS if quick else FACTORS
        sizes = [f * base for f in factors if f * base <= longest]
        sizes = sizes or [longest, longest / 2, longest / 4]
    with bar(
        f"{todo.name}: the true motion",
        lambda fraction: f"{todo.name}: {'errors' if fraction < 0.5 else 'times'}",
        quiet,
    ) as report:
        found = compared(
            todo.problem,
            (start, end),
            methods=_methods(methods, todo.problem.model),
            dts=sizes,
            errors=wanted,
            repeats=min(repeats, QUICK_REPEATS) if quick else repeats,
            progress=report,
        )
    written = [found.save(file)]
    if not no_plot:
        found.plot(file.with_suffix(".png"))
        written.append(file.with_suffix(".png"))
    if not quiet:
        _print(found, todo.summary, written)


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
            f" there are {', '.join((*METHODS, *OF_BODIES))}"
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
    console.print(f"t = {t0:g} to {t1:g} s; errors at the end, the energy's at its largest")
    console.print(
        f"reference: {plain(reference.route)}; its error: {reference.attitude_error:.1e} rad,"
        f" momentum {reference.momentum_error:.1e}\n"
    )
    console.print(_rows(found))
    if found.frontier():
        console.print("\n[bold]cheapest for an attitude error of[/]")
        console.print(_cheapest(found))
    for row in found.rows:
        if row.message:
            stderr().print(plain(f"{row.method}, {row.setting}: {row.message}"))
    console.print(plain("\n" + ", ".join(map(str, written))))


def _rows(found: "Comparison") -> Any:
    work = [] if found.is_free else ["torques"]
    table = _table(
        ["method", "step or rtol", "steps", *work, "time", "attitude", "momentum", "energy"]
    )
    for row in found.rows:
        failed = row.attitude_error is None
        cells = [row.method, row.setting, str(row.steps), *_work(row, found), _ms(row.seconds)]
        cells += ["failed", "", ""] if failed else _errors(row, found)
        table.add_row(*map(plain, cells))
    return table


def _work(row: "Row", found: "Comparison") -> list[str]:
    return [] if found.is_free else [str(row.torques)]


def _errors(row: "Row", found: "Comparison") -> list[str]:
    """A value that equals the reference's own error is only known to be smaller."""
    pairs = (
        (row.attitude_error, found.reference.attitude_error),
        (row.momentum_error, found.reference.momentum_error),
    )
    cells = [
        ("≤ " if value <= least else "") + f"{value:.1e}"
        for value, least in pairs
        if value is not None
    ]
    return [*cells, "" if row.energy_error is None else f"{row.energy_error:.1e}"]


def _cheapest(found: "Comparison") -> Any:
    """One line for each run, at the smallest error for which it is the cheapest."""
    runs = {row: level for level, row in found.frontier().items()}
    work = [] if found.is_free else ["torques"]
    table = _table(["error", "method", "step or rtol", "steps", *work, "time"], left=2)
    for row, level in runs.items():
        cells = [f"{level:.0e}", row.method, row.setting, str(row.steps)]
        table.add_row(*map(plain, [*cells, *_work(row, found), _ms(row.seconds)]))
    return table


def _table(head: list[str], left: int = 1) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for k, name in enumerate(head):
        table.add_column(name, justify="left" if k < left else "right", no_wrap=True)
    return table


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"
