"""``polhode problems``: list the catalogue."""

from polhode.cli.consoles import plain, stdout, table


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
