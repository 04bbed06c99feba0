"""``polhode methods``: list methods, integrators and formulations."""

import json
from typing import Annotated, Any

from polhode.cli import options
from polhode.cli.consoles import plain, stdout, table

WIDE = 130  # columns of a terminal in which the titles fit


def methods(as_json: Annotated[bool, options.JSON] = False) -> None:
    """List the methods and what they conserve to rounding, the integrators, the formulations.

    Examples:

    - `polhode methods`
    - `polhode methods --json`
    """
    from polhode.methods import methods_table

    console = stdout()
    if as_json:
        tables = {
            "methods": methods_table(),
            "integrators": integrators_table(),
            "formulations": formulations_table(),
            "coordinates": coordinates_table(),
        }
        console.print(json.dumps(tables, indent=2), soft_wrap=True, markup=False)
        return
    from polhode.contracts import MOTIONS

    headings = ["name", "order", "kind", "symmetric", "symplectic", "energy", "momentum"]
    rows = table(headings + (["title"] if console.width >= WIDE else []))
    for row in methods_table():
        cells = [row["name"], str(row["order"]), row["kind"]]
        cells += ["yes" if row[key] else "" for key in ("symmetric", "symplectic")]
        cells += [_letters(row[key]) for key in ("keeps_energy", "keeps_momentum")]
        rows.add_row(*map(plain, cells + ([row["title"]] if console.width >= WIDE else [])))
    console.print(rows)
    console.print("\nEnergy and momentum conserved to rounding:")
    for name, meaning in MOTIONS.items():
        console.print(f"  {_letters([name])}  {meaning}")
    _list(
        "\nIntegrators, for bodies in a formulation of your choice or for a given ω(t):",
        {
            "name": "name",
            "order": "order",
            "dense_order": "dense output",
            "steps": "steps",
            "for": "for",
            "title": "title",
        },
        integrators_table(),
    )
    _list(
        "\nFormulations, the variables that integrators use:",
        {"name": "name", "numbers": "numbers", "title": "title"},
        formulations_table(),
    )
    _list(
        "\nFormulations of attitude and momentum together, for bodies:",
        {"name": "name", "numbers": "numbers", "title": "title"},
        coordinates_table(),
    )


def integrators_table() -> list[dict[str, Any]]:
    """The integrators, as plain data."""
    from polhode.integrators import INTEGRATORS

    return [
        {
            "name": i.name,
            "title": i.title,
            "order": i.order,
            "dense_order": i.dense_order,
            "steps": "adaptive" if i.adaptive else "fixed",
            "for": "ω(t)" if i.linear else "any",
            "symmetric": i.symmetric,
            "references": list(i.references),
        }
        for i in INTEGRATORS.values()
    ]


def formulations_table() -> list[dict[str, Any]]:
    """The formulations of the attitude, as plain data."""
    from polhode.formulations import FORMULATIONS
    from polhode.formulations.equations import IDENTITY

    return [
        {
            "name": f.name,
            "title": f.title,
            "numbers": len(f.enter(IDENTITY)),
            "resets": f.resets,
            "references": list(f.references),
        }
        for f in FORMULATIONS.values()
    ]


def coordinates_table() -> list[dict[str, Any]]:
    """The formulations of attitude and momentum together, as plain data."""
    from polhode.formulations import COORDINATES

    return [
        {
            "name": c.name,
            "title": c.title,
            "numbers": c.numbers,
            "resets": c.resets,
            "departures": c.nominal is not None,
            "singular": c.singular,
            "references": list(c.references),
        }
        for c in COORDINATES.values()
    ]


def _list(heading: str, columns: dict[str, str], rows: list[dict[str, Any]]) -> None:
    shown = table([*columns.values()])
    for row in rows:
        shown.add_row(*(plain(str(row[key])) for key in columns))
    console = stdout()
    console.print(heading)
    console.print(shown)


def _letters(motions: list[str]) -> str:
    return " ".join(motion[0].upper() for motion in motions)
