"""Benchmarks as bar charts."""

from typing import Any

from polhode.plot import style

BAR, MOST_BARS = 0.22, 40  # height of a bar in inches; bars in a panel


@style.themed
def benchmark(result: Any, *, theme: str | None = None) -> Any:
    """Draw the results of a benchmark: one panel for each table that has a column to show.

    ``theme`` is "light" (the default) or "dark".
    """
    tables = [table for table in result.tables if table.bars is not None] or result.tables
    counts = [min(len(table.rows), MOST_BARS) for table in tables]
    high = 1.0 + sum(0.8 + BAR * count for count in counts)
    sheet = style.figure((9.0, high), f"{result.bench.name}: {result.bench.summary}")
    axes = sheet.subplots(len(tables), 1, squeeze=False, height_ratios=[4 + n for n in counts])
    for ax, table in zip(axes[:, 0], tables, strict=True):
        _bars(ax, table)
    return sheet


def _bars(ax: Any, table: Any) -> None:
    label, *others = table.columns
    numbers = [key for key in others if any(isinstance(r.get(key), float) for r in table.rows)]
    key = table.bars or (numbers[0] if numbers else None)
    rows = [row for row in table.rows if key is not None and isinstance(row.get(key), float)][
        :MOST_BARS
    ]
    if not rows:
        ax.set_axis_off()
        return
    places, sizes = range(len(rows)), [row[key] for row in rows]
    mine = [str(row[label]).startswith("polhode") for row in rows]
    own, other = style.theme().blue, style.theme().grey
    ax.barh(places, sizes, color=[own if mine_too else other for mine_too in mine], height=0.7)
    ax.set_yticks(places, [str(row[label]).strip() for row in rows])
    ax.invert_yaxis()
    if max(sizes) > 30.0 * min(size for size in sizes if size > 0):
        ax.set_xscale("log")
    style.dress(ax, table.title, table.columns[key])
