"""``polhode methods`` and ``polhode problems``: lists of what there is."""

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from polhode.cli import options
from polhode.cli.output import plain, stdout, table

WIDE = 130  # columns of a terminal in which the titles fit
NUMBERS = {"name": "name", "numbers": "numbers", "title": "title"}
STEPS = {"order": "order", "dense_order": "dense output", "steps": "steps", "for": "for"}
SHOWN = {  # tables besides that of the methods -> what they are, and their columns
    "integrators": (
        "Integrators, for bodies in a formulation of your choice or for a given ω(t)",
        {"name": "name", **STEPS, "title": "title"},
    ),
    "formulations": ("Formulations, the variables that integrators use", NUMBERS),
    "coordinates": ("Formulations of attitude and momentum together, for bodies", NUMBERS),
}


def methods(as_json: Annotated[bool, options.JSON] = False) -> None:
    """List the methods and what they conserve to rounding, the integrators, the formulations.

    Examples:

    - `polhode methods`
    - `polhode methods --json`
    """
    from polhode.contracts import MOTIONS
    from polhode.methods import methods_table

    console, others = stdout(), _other_tables()
    if as_json:
        tables = {"methods": methods_table()} | others
        console.print(json.dumps(tables, indent=2), soft_wrap=True, markup=False)
        return
    headings = ["name", "order", "kind", "symmetric", "symplectic", "energy", "momentum"]
    headings += ["title"] if console.width >= WIDE else []
    rows = []
    for row in methods_table():
        cells = [row["name"], str(row["order"]), row["kind"]]
        cells += ["yes" if row[key] else "" for key in ("symmetric", "symplectic")]
        cells += [_letters(row[key]) for key in ("keeps_energy", "keeps_momentum")]
        rows.append([*map(plain, [*cells, row["title"]])][: len(headings)])
    console.print(table(headings, rows))
    console.print("\nEnergy and momentum conserved to rounding:")
    for name, meaning in MOTIONS.items():
        console.print(f"  {_letters([name])}  {meaning}")
    for name, (sentence, columns) in SHOWN.items():
        console.print(f"\n{sentence}:")
        rows = [[plain(str(row[key])) for key in columns] for row in others[name]]
        console.print(table([*columns.values()], rows))


def _other_tables() -> dict[str, list[dict[str, Any]]]:
    """Return the integrators and the formulations of both kinds as plain data."""
    from polhode.formulations import COORDINATES, FORMULATIONS
    from polhode.formulations.equations import IDENTITY
    from polhode.integrators import INTEGRATORS

    return {
        "integrators": _plain_data(
            INTEGRATORS,
            lambda each: {
                "order": each.order,
                "dense_order": each.dense_order,
                "steps": "adaptive" if each.adaptive else "fixed",
                "for": "ω(t)" if each.linear else "any",
                "symmetric": each.symmetric,
            },
        ),
        "formulations": _plain_data(
            FORMULATIONS,
            lambda each: {"numbers": len(each.enter(IDENTITY)), "resets": each.resets},
        ),
        "coordinates": _plain_data(
            COORDINATES,
            lambda each: {
                "numbers": each.numbers,
                "resets": each.resets,
                "departures": each.nominal is not None,
                "singular": each.singular,
            },
        ),
    }


def _plain_data(registry: Mapping[str, Any], facts: Callable[[Any], dict]) -> list[dict[str, Any]]:
    return [
        {"name": each.name, "title": each.title}
        | facts(each)
        | {"references": list(each.references)}
        for each in registry.values()
    ]


def _letters(motions: list[str]) -> str:
    return " ".join(motion[0].upper() for motion in motions)


# ---- problems
def problems() -> None:
    """List the problems that can be run by name.

    Example:

    - `polhode problems`
    """
    from polhode.problems import CATALOGUE, RATES

    headings = "name", "method", "dt (s)", "t_end (s)", "summary"
    rows = (
        (name, entry.method, f"{entry.dt:g}", f"{entry.t_end:g}", plain(entry.summary))
        for name, entry in CATALOGUE.items()
    )
    stdout().print(table(headings, rows, wrapped=headings[1:]))
    names = ", ".join(name.replace("-", "_") for name in RATES)
    stdout().print(
        plain(f"\nAngular velocities in closed form, for use from Python (ph.problems): {names}")
    )
