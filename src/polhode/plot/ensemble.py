"""Pictures of ensembles: reductions over time, and distributions over the members at the end."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 60
INITIALS = "fli", "megno"  # names that are initials
TIME = "time (s)"


@style.themed
def ensemble(
    result: Any,
    axes: Any = None,
    figsize: tuple[float, float] | None = None,
    *,
    theme: str | None = None,
) -> np.ndarray:
    """Draw one panel for each reduction, and two for the last saved states.

    ``axes`` is one for each panel, or None for a new figure of ``figsize`` inches; returns them.
    ``theme`` is "light" (the default) or "dark".
    """
    panels = _panels(result)
    if axes is None:
        wide = min(len(panels), 2 if len(panels) < 5 else 3)
        high = -(-len(panels) // wide)
        sheet = style.figure(figsize or (5.2 * wide, 3.1 * high + 0.4), _heading(result))
        axes = sheet.subplots(high, wide, squeeze=False)
    axes = np.ravel(axes)
    for ax, draw in zip(axes, panels, strict=False):
        draw(ax)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    return axes


def _heading(result: Any) -> str:
    facts = result.problem_data
    parts = [facts["name"] or facts["model"], f"{len(result)} members", result.method]
    bad = len(result) - int(result.success.sum())
    return "   ·   ".join([*parts, *([f"{bad} failed"] if bad else [])])


def _panels(result: Any) -> list[Callable[["Axes"], Any]]:
    found: list[Callable[[Axes], Any]] = []
    reduced = result.labelled
    for name, label in reduced.items():
        stem, _, what = name.rpartition("_")
        if label.dims == ("member",):
            draw = _first_times if label.attrs.get("units") else _of_members
            found.append(partial(draw, result, name))
        elif what in PAIRS and f"{stem}_{PAIRS[what][0]}" in reduced:
            found += [partial(draw, result, stem) for draw in PAIRS[what][1:]]
        elif what in PANELS and (label.coords or name == "attitude_spread"):
            found.append(partial(PANELS[what], result, name))
        elif name != "attitude_mean":
            found.append(partial(_lines, result, name))
    if len(result.t):
        found += [partial(_speeds, result), partial(_tilts, result)]
    return found or [partial(_ends, result)]


# ---- over time
def _line(ax: "Axes", result: Any, values: np.ndarray, colour: str, label: str = "") -> None:
    marker = "o" if len(result.t_reduced) == 1 else None
    ax.plot(
        result.t_reduced, values, color=colour, linewidth=1.2, marker=marker, label=label or None
    )


def _band(ax: "Axes", result: Any, low: Any, high: Any, colour: str, alpha: float = 0.2) -> Any:
    return ax.fill_between(result.t_reduced, low, high, color=colour, alpha=alpha, linewidth=0)


def _unit(result: Any, name: str) -> str:
    about = result.labelled[name].attrs
    return f"({about['units']})" if about.get("units") else ""


def _components(values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Return (letter, values) of each component."""
    if values.ndim == 1:
        return [("", values)]
    letters = {3: "xyz", 4: "wxyz"}.get(values.shape[1], "")
    names = letters or [str(k) for k in range(values.shape[1])]
    return list(zip(names, values.T, strict=True))


def _pairs(
    result: Any, first: str, second: str
) -> Iterator[tuple[str, np.ndarray, np.ndarray, str]]:
    """Yield the letter, the values and the colour of each component of two reductions."""
    several = (_components(result.labelled[name].values) for name in (first, second))
    for (letter, a), (_, b), colour in zip(*several, style.theme().colours, strict=False):
        yield letter, a, b, colour


def _mean(result: Any, stem: str, ax: "Axes") -> "Axes":
    for letter, mean, std, colour in _pairs(result, f"{stem}_mean", f"{stem}_std"):
        _band(ax, result, mean - std, mean + std, colour, 0.1)
        for edge in (mean - std, mean + std):
            ax.plot(result.t_reduced, edge, color=colour, linewidth=0.5, alpha=0.7)
        _line(ax, result, mean, colour, letter)
    style.dress(ax, f"{_title(stem)}: mean ± σ", TIME, _unit(result, f"{stem}_mean"))
    return style.legend(ax)


def _range(result: Any, stem: str, ax: "Axes") -> "Axes":
    for letter, low, high, colour in _pairs(result, f"{stem}_min", f"{stem}_max"):
        _band(ax, result, low, high, colour)
        _line(ax, result, low, colour, letter)
        _line(ax, result, high, colour)
    style.dress(ax, f"{_title(stem)}: range", TIME, _unit(result, f"{stem}_min"))
    return style.legend(ax)


def _quantiles(result: Any, name: str, ax: "Axes") -> "Axes":
    label = result.labelled[name]
    (levels,) = label.coords.values()
    order = np.argsort(levels)
    levels, values = np.asarray(levels)[order], label.values[:, order]
    pairs = len(levels) // 2
    for k in range(pairs):
        text = f"{100 * levels[k]:g} % to {100 * levels[-1 - k]:g} %"
        low, high, colour = values[:, k], values[:, -1 - k], style.theme().blue
        band = _band(ax, result, low, high, colour, 0.15 + 0.15 * k)
        band.set_label(text)
    if len(levels) % 2:
        _line(ax, result, values[:, pairs], style.theme().blue, f"{100 * levels[pairs]:g} %")
    style.dress(ax, f"{_title(name)[: -len('_quantiles')]}: quantiles", TIME, _unit(result, name))
    return style.legend(ax)


def _histogram(result: Any, name: str, ax: "Axes") -> "Axes":
    """The share of members between the edges, over time; those beyond are not shown."""
    label = result.labelled[name]
    (edges,) = label.coords.values()
    edges, counts = np.asarray(edges)[1:], label.values
    shares = counts[:, 1:-1] / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    times = result.t_reduced
    if len(times) == 1:
        ax.stairs(shares[0], edges, fill=True, color=style.theme().blue)
        return style.dress(ax, _title(name), "", "share of members")
    middle = 0.5 * (times[1:] + times[:-1])
    borders = np.concatenate([times[:1], middle, times[-1:]])
    drawn = ax.pcolormesh(borders, edges, shares.T, cmap=style.theme().shades, shading="flat")
    bar = ax.figure.colorbar(drawn, ax=ax)
    bar.set_label("share of members", color=style.theme().ink)
    bar.ax.tick_params(colors=style.theme().ink)
    return style.dress(ax, _title(name), TIME)


def _spread(result: Any, name: str, ax: "Axes") -> "Axes":
    values = result.labelled[name].values
    _line(ax, result, values, style.theme().blue)
    if np.isfinite(values).any():
        ax.set_ylim(0.0, 1.08 * np.nanmax(values) or 1.0)
    return style.dress(ax, "Attitudes: spread about their mean", TIME, "2 sin(θ/2), r.m.s.")


def _lines(result: Any, name: str, ax: "Axes") -> "Axes":
    """The result of a user-defined reduction, as lines."""
    values = result.labelled[name].values
    parts = _components(values.reshape(len(values), -1) if values.ndim > 2 else values)
    for (letter, line), colour in zip(parts, style.theme().colours, strict=False):
        _line(ax, result, line, colour, letter)
    style.dress(ax, _title(name), TIME, _unit(result, name))
    return style.legend(ax)


PAIRS: dict[str, tuple] = {  # the other of a pair, and the function that draws both
    "mean": ("std", _mean), "std": ("mean",), "min": ("max", _range), "max": ("min",),
}  # fmt: skip
PANELS = {"quantiles": _quantiles, "histogram": _histogram, "spread": _spread}


# ---- over members
def _distribution(ax: "Axes", values: np.ndarray, title: str, xlabel: str) -> "Axes":
    values = values[np.isfinite(values)]
    bins = min(BINS, 5 + int(2 * len(values) ** (1 / 3)))
    ax.hist(values, bins=bins, color=style.theme().blue, linewidth=0)
    return style.dress(ax, title, xlabel, "members")


def _speeds(result: Any, ax: "Axes") -> "Axes":
    speeds = np.linalg.norm(_last(result).omega[0], axis=1)
    return _distribution(ax, speeds, f"Rates at t = {result.t[-1]:g} s", "|ω| (rad/s)")


def _tilts(result: Any, ax: "Axes") -> "Axes":
    w, x, y, z = _last(result).q[0].T
    angle = 2.0 * np.degrees(np.arctan2(np.hypot(x, y), np.hypot(w, z)))
    title = f"Tilts of body axis 3 at t = {result.t[-1]:g} s"
    return _distribution(ax, angle, title, "angle to inertial z (degrees)")


def _first_times(result: Any, name: str, ax: "Axes") -> "Axes":
    values = result.labelled[name].values
    never = int(np.isnan(values).sum())
    title = _title(name) + (f"   ({never} never)" if never else "")
    return _distribution(ax, values, title, TIME)


def _of_members(result: Any, name: str, ax: "Axes") -> "Axes":
    """Draw a number of each member: over a grid of two sweeps as a map, else their distribution."""
    values, swept = result.labelled[name].values, list(getattr(result, "grid", {}).items())
    title = name.upper() if name in INITIALS else _title(name)
    if len(swept) != 2:
        return _distribution(ax, values, title, name)
    (x_label, x), (y_label, y) = (_swept(*one) for one in swept)
    across, up = np.argsort(x), np.argsort(y)
    table = values.reshape(len(x), len(y))[across][:, up].T
    drawn = ax.pcolormesh(
        x[across], y[up], table, cmap="viridis", shading="nearest", rasterized=True
    )
    bar = ax.figure.colorbar(drawn, ax=ax)
    bar.ax.tick_params(colors=style.theme().ink, labelsize=8)
    style.dress(ax, title, x_label, y_label)
    ax.grid(False)
    return ax


def _swept(name: str, values: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the label and the values of what changes most along a sweep."""
    columns = values.reshape(len(values), -1)
    place = int(np.argmax(np.ptp(columns, axis=0)))
    letters = {3: "xyz", 4: "wxyz"}.get(columns.shape[1], "")
    return f"{name} {letters[place]}" if letters else name, columns[:, place]


def _ends(result: Any, ax: "Axes") -> "Axes":
    return _distribution(ax, result.t_reached, "Last good states", TIME)


def _last(result: Any) -> Any:
    """Return the last states of the members that succeeded."""
    return result.select(times=-1, members=result.success)


def _title(name: str) -> str:
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]
