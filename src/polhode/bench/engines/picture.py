"""The figure of the benchmark: error over cost."""

from itertools import cycle
from typing import Any

import numpy as np

from polhode.bench.engines.ours import OURS
from polhode.bench.engines.results import EPS
from polhode.bench.engines.tumbling import END, METRICS
from polhode.bench.records import Result
from polhode.plot import style

MARKERS, ROWS = "os^DvpP*X<>h", 5  # of a legend


def picture(result: Result) -> Any:
    """Draw error over cost, a panel for each error; colours are engines, markers integrators."""
    names = OURS, "MuJoCo", "Basilisk", "SciPy"
    colours = dict(zip(names, (style.BLUE, style.RED, style.GREEN, style.ORANGE), strict=True))
    groups: dict[str, dict[str, list]] = {}
    for row in result.tables[0].rows:
        if not row["placed"]:  # runs with a position hardly differ
            groups.setdefault(row["engine"], {}).setdefault(row["what"], []).append(row)
    title = f"A freely tumbling body, I = (1, 2, 3), {END:g} s: the largest error along the run"
    sheet = style.figure((11.0, 6.4), title)
    upper, lower = sheet.subfigures(2, 1, height_ratios=(5.2, 1.2))
    axes = upper.subplots(1, len(METRICS), sharex=True, sharey=True)
    shares = [1.0 + (len(group) > ROWS) for group in groups.values()]
    words = lower.subplots(1, len(groups), width_ratios=shares, squeeze=False)[0]
    for word, (engine, group) in zip(words, groups.items(), strict=True):
        for (what, rows), marker in zip(group.items(), cycle(MARKERS), strict=False):
            known = not rows[0]["general"]
            look: dict[str, Any] = {
                "color": colours[engine],
                "marker": marker,
                "markersize": 4.5,
                "markerfacecolor": "white" if known else colours[engine],
                "linewidth": 1.0,
                "linestyle": ":" if known else "-",
            }
            for ax, name in zip(axes, METRICS, strict=True):
                points = [(row["us_min"], max(row[name], EPS)) for row in rows]
                shown = [point for point in points if point[1] < 10.0]
                ax.plot(*np.array(shown).reshape(-1, 2).T, **look)
            word.plot([], [], label=what.removeprefix(f"{engine} "), **look)
        word.axis("off")
        legend = word.legend(
            loc="upper left",
            ncols=-(-len(group) // ROWS),
            title=engine + ", white: knows free bodies" * (engine == OURS),
            fontsize=8,
            title_fontsize=8.5,
            labelcolor=style.INK,
            frameon=False,
            columnspacing=1.2,
            handlelength=2.0,
            alignment="left",
        )
        legend.get_title().set_color(colours[engine])
    for ax, text in zip(axes, METRICS.values(), strict=True):
        ax.set(xscale="log", yscale="log")
        style.dress(ax, text[0].upper() + text[1:], "CPU time a simulated second (µs)")
    return sheet
