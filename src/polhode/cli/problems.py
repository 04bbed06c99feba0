"""``polhode problems``: list the catalogue."""

from polhode.cli.consoles import plain, stdout


def problems() -> None:
    """List the problems that can be run by name.

    Example:

    - `polhode problems`
    """
    from rich.table import Table

    from polhode.problems import CATALOGUE, RATES

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("name", no_wrap=True)
    for heading in ("method", "dt (s)", "t_end (s)"):
        table.add_column(heading)
    table.add_column("summary")
    for name, entry in CATALOGUE.items():
        table.add_row(name, entry.method, f"{entry.dt:g}", f"{entry.t_end:g}", plain(entry.summary))
    stdout().print(table)
    names = ", ".join(name.replace("-", "_") for name in RATES)
    stdout().print(
        plain(f"\nAngular velocities in closed form, for use from Python (ph.problems): {names}")
    )
