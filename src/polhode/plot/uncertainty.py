"""How an uncertainty spreads, and how fast neighbouring motions part."""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError
from polhode.plot import style
from polhode.plot.labels import label_ends
from polhode.plot.panels import curve
from polhode.plot.smooth import smooth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARTS = "rotation", "position"


@style.themed
def uncertainty(
    run: Any,
    ax: "Axes | None" = None,
    covariance: Any = None,
    of: str = "rotation",
    *,
    theme: str | None = None,
) -> "Axes":
    """Draw standard deviations over time, from a ``covariance`` as ``run.covariance`` takes it.

    ``of`` "rotation": of the attitude, as small angles about the body axes, and of the momentum in
    these axes, relative to its length at the start; "position": of the centre of mass.
    """
    if covariance is None:
        raise InputError(
            "the panel 'uncertainty' needs covariance=, that of the initial state, and a run with"
            " sensitivities=['state']"
        )
    moves = getattr(run, "x", None) is not None
    known = PARTS if moves else PARTS[:1]
    if of not in known:
        raise InputError(f"of must be one of {', '.join(map(repr, known))} here, got {of!r}")
    run.covariance(covariance)  # mistakes show before anything is drawn
    ax, run = style.axes_or_new(ax), smooth(run)
    spread = np.sqrt(np.diagonal(run.covariance(covariance), axis1=1, axis2=2).clip(0.0))
    if of == "position":
        names, columns = [f"$x_{k}$" for k in (1, 2, 3)], spread[:, 6:9]
        title, unit = "Uncertainty of the position", "standard deviation (m)"
    else:
        size = float(np.linalg.norm(run.angular_momentum[0])) or 1.0
        names = [f"$\\{letter}_{k}$" for letter in ("theta", "mu") for k in (1, 2, 3)]
        columns = spread[:, :6] / np.array([1.0] * 3 + [size] * 3)
        title = "Uncertainty of attitude θ and momentum μ = m/|m|"
        unit = "standard deviation (rad, relative)"
    for name, values, colour in zip(names, columns.T, style.theme().colours, strict=False):
        curve(ax, run.t, np.where(values > 0.0, values, np.nan), colour, name)
    ax.set_yscale("log")
    style.dress(ax, title, "time (s)", unit)
    return label_ends(ax)


@style.themed
def exponents(found: Any, ax: "Axes | None" = None, *, theme: str | None = None) -> "Axes":
    """Draw the running values of Lyapunov exponents over time, and 1/t.

    Those of regular motions fall as 1/t; a single positive one is drawn on a logarithmic scale.
    """
    ax, look = style.axes_or_new(ax), style.theme()
    t = np.abs(found.t)
    alone = found.running.shape[1] == 1 and bool((found.running > 0).all())
    for k, values in enumerate(found.running.T):
        label = "" if alone else f"$\\lambda_{{{k + 1}}}$"
        ax.plot(t, values, **{**style.look(k), "marker": ""}, label=label)
    ax.plot(t, 1.0 / t, color=look.grey, linewidth=0.8, linestyle=(0, (4, 3)))
    ax.set_xscale("log")
    if alone:
        ax.set_yscale("log")
    else:
        ax.axhline(0.0, color=look.grey, linewidth=0.8)
        largest = float(np.abs(found.running[len(t) // 4 :]).max())
        ax.set_ylim(-1.3 * largest, 1.3 * largest)
    style.note(ax, "1/t", (t[0], 1.0 / t[0]), (4, 4), color=look.grey, annotation_clip=True)
    style.dress(ax, "Lyapunov exponents up to a time", "time (s)", "exponent (1/s)")
    return ax if alone else label_ends(ax)
