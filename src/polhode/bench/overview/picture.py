"""The figure of the benchmark: error against time, a panel for each problem."""

from typing import Any

from polhode.bench.overview.cases import cases
from polhode.bench.overview.ours import OURS
from polhode.bench.records import Result
from polhode.plot import style

CLOSED = "closed form"
LEAST = 5e-15  # smaller errors are drawn here


def picture(result: Result) -> Any:
    """Draw the error over the time of a call, a line for each library; ours is the thick one."""
    rows = result.tables[1].rows
    names = list(dict.fromkeys(row["peer"] for row in rows))
    general = [name for name in names if CLOSED not in name]
    looks = {name: style.look(place) for place, name in enumerate(general)}
    sheet = style.figure((9.6, 7.4), "What an accuracy costs: one call, from its start to its end")
    grid = sheet.subplots(2, 2, sharey=True)
    for ax, case in zip(grid.flat, cases().values(), strict=True):
        for name in names:
            mine = [r for r in rows if r["peer"] == name and r["problem"] == case.name]
            points = [(r["us_min"], max(r["error"], LEAST)) for r in mine]
            if not points:
                continue
            x, y = zip(*sorted(points), strict=True)
            if CLOSED in name:
                base = name.partition(",")[0]
                look = looks[base] | {"markerfacecolor": "none", "linestyle": "", "markersize": 8}
            else:
                width, size = (2.4, 5.5) if name == OURS else (1.1, 4.0)
                look = looks[name] | {"linewidth": width, "markersize": size}
            ax.plot(x, y, **look, zorder=3 if name.startswith(OURS) else 2)
        ax.set(xscale="log", yscale="log", ylim=(3e-15, 1e-2))
        title = case.text[0].upper() + case.text[1:]
        left = ax in grid[:, 0]
        what = "attitude error at the end (rad)" if left else ""
        style.dress(ax, title, "CPU time of a call (µs)", what)
    handles = [
        grid[0, 0].plot([], [], **looks[name] | {"linewidth": 2.4 if name == OURS else 1.1})[0]
        for name in general
    ]
    words = [*general]
    for name in names:
        if CLOSED in name:
            look = looks[name.partition(",")[0]] | {"markerfacecolor": "none", "linestyle": ""}
            handles += grid[0, 0].plot([], [], **look, markersize=8)
            words.append(name)
    sheet.legend(
        handles, words, loc="outside lower center", ncols=6, fontsize=8.5, frameon=False,
        labelcolor=style.theme().ink,
    )  # fmt: skip
    return sheet
