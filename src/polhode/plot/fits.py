"""Pictures of fits: what is left of the observations."""

from typing import Any

import numpy as np

from polhode.plot import style

WIDEST = 5.0  # standard deviations that a histogram shows at least


@style.themed
def fit(result: Any, axes: Any = None, *, theme: str | None = None) -> np.ndarray:
    """Draw the residuals of each set of observations over time, and the pulls of all.

    Bands are one and two standard deviations wide; crosses are outliers.  The curve over the
    histogram is the normal distribution.  ``axes`` are one for each set and one for the pulls, or
    None for a new figure; they are returned.
    """
    names = list(result.residuals)
    if axes is None:
        sheet = style.figure((9.0, 2.3 * (1 + len(names))))
        axes = sheet.subplots(1 + len(names), 1)
    axes = np.ravel(axes)
    for ax, name in zip(axes, names, strict=False):
        _residuals(ax, result, name)
    _pulls(axes[len(names)], result)
    return axes


def _residuals(ax: Any, result: Any, name: str) -> None:
    """Draw what was observed less what was predicted."""
    order = np.argsort(result.times[name], kind="stable")
    times, sigmas = result.times[name][order], result.sigmas[name][order]
    residuals, (unit, labels) = result.residuals[name][order], result.units[name]
    look, band = style.theme(), sigmas.max(axis=1)
    for width, alpha in ((2.0, 0.5), (1.0, 1.0)):
        ax.fill_between(
            times, -width * band, width * band, color=look.faint, alpha=alpha, linewidth=0
        )
    for values, label, colour in zip(residuals.T, labels, look.colours, strict=False):
        ax.plot(times, values, ".", color=colour, markersize=3, label=label)
    places = result.outliers[name]
    if len(places):
        rows = result.residuals[name][places]
        worst = np.argmax(np.abs(result.pulls[name][places]), axis=1)
        heights = rows[np.arange(len(rows)), np.minimum(worst, rows.shape[1] - 1)]
        marks = {"color": look.ink, "markersize": 5, "linestyle": "none"}
        ax.plot(result.times[name][places], heights, "x", **marks, label="outliers")
    style.dress(ax, name, "time (s)", f"residual ({unit})" if unit else "residual")
    style.legend(ax)


def _pulls(ax: Any, result: Any) -> None:
    """Draw the histogram of all pulls, and the normal distribution."""
    pulls = np.concatenate([np.ravel(values) for values in result.pulls.values()])
    reach = max(WIDEST, float(np.abs(pulls).max()))
    edges = np.linspace(-reach, reach, 2 * int(np.clip(len(pulls) ** 0.5, 8, 40)) + 1)
    ax.hist(pulls, edges, density=True, color=style.theme().blue, alpha=0.7)
    x = np.linspace(-reach, reach, 400)
    ax.plot(x, np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi), color=style.theme().red, linewidth=1.2)
    title = f"Pulls: mean {round(float(pulls.mean()), 2) + 0.0:.2f}, spread {pulls.std():.2f}"
    style.dress(ax, title, "standard deviations", "density")
