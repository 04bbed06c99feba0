"""``polhode methods``: the registry."""

import json

from polhode.cli import options
from polhode.cli.consoles import plain, stdout

WIDE = 130  # columns of a terminal from which on the titles fit


def methods(as_json: options.Json = False) -> None:
    """List the methods, and what they keep to rounding.

    Examples:

    - `polhode methods`
    - `polhode methods --json`
    """
    from polhode.methods import methods_table

    console = stdout()
    if as_json:
        console.print(json.dumps(methods_table(), indent=2), soft_wrap=True, markup=False)
        return
    from rich.table import Table

    from polhode.contracts import MOTIONS

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    headings = ["name", "order", "kind", "symmetric", "symplectic", "energy", "momentum"]
    for heading in headings + (["title"] if console.width >= WIDE else []):
        table.add_column(heading, no_wrap=True)
    for row in methods_table():
        cells = [row["name"], str(row["order"]), row["kind"]]
        cells += ["yes" if row[key] else "" for key in ("symmetric", "symplectic")]
        cells += [_letters(row[key]) for key in ("keeps_energy", "keeps_momentum")]
        table.add_row(*map(plain, cells + ([row["title"]] if console.width >= WIDE else [])))
    console.print(table)
    console.print("\nEnergy and momentum kept to rounding:")
    for name, meaning in MOTIONS.items():
        console.print(f"  {_letters([name])}  {meaning}")


def _letters(motions: list[str]) -> str:
    return " ".join(motion[0].upper() for motion in motions)
