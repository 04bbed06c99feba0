"""Poinsot's pictures: the polhode on the ellipsoid, the herpolhode in its plane, and both."""

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.contracts.conserved import is_free
from polhode.errors import InputError
from polhode.plot import ellipsoid, style
from polhode.plot.ellipsoid import drawn_moments, invariable_plane, on_ellipsoid, rate_inertial
from polhode.plot.quantities import POINTS
from polhode.plot.smooth import smooth
from polhode.plot.space import draw_axes, draw_ends, draw_line, draw_path, eye, frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FROM_SIDE = (22.0, 60.0)
LOW = 16.0  # degrees of the eye above the plane
CONSERVED = 1e-6  # a momentum that changes by more, relatively, shows that there is a torque


def polhode(
    run: Any,
    ax: "Axes | None" = None,
    view: tuple[float, float] = FROM_SIDE,
    curves: int = 4,
) -> "Axes":
    """Draw the path of ω/√(2T) on the ellipsoid of inertia, in body axes.

    Without torque it is a polhode, like the thin curves (``curves`` of each family); a torque makes
    it wander across them.  The labels give the principal axes and their moments.  ``view`` is
    (elevation, azimuth) of the eye in degrees, in body axes.
    """
    ax, run = style.axes_or_new(ax), smooth(run)
    style.dress(ax, "Polhode on the ellipsoid of inertia")
    ax.set_axis_off()
    moments, surface = drawn_moments(run.body), ellipsoid.matrix(run.body)
    scale = float(np.sqrt(moments.min()))
    basis = eye(*view) * scale
    half = _draw_ellipsoid(ax, basis @ surface)
    low, high = ellipsoid.families(moments, curves)
    i1, i2, i3 = np.sort(moments)
    between = ellipsoid.polhode(moments, i2) if i1 < i2 < i3 else []
    least, _, largest = np.argsort(moments) + 1
    groups = (
        (low, style.BLUE, 0.8, f"about $I_{least}$"),
        (high, style.GREEN, 0.8, f"about $I_{largest}$"),
        (between, style.RED, 1.0, "separatrix"),
    )
    outward = np.linalg.solve(surface, basis[2])  # x is on the near side where x · outward > 0
    for group, colour, width, name in groups:
        for number, curve in enumerate(group):
            look = {"color": colour, "linewidth": width, "zorder": 2}
            label = name if number == 0 else ""
            draw_line(ax, curve @ (basis @ surface).T, curve @ outward >= 0, label=label, **look)
    path = on_ellipsoid(run)[:: -(-len(run.t) // POINTS)]
    x = np.linalg.solve(surface, path.T).T
    draw_path(ax, path @ basis.T, x @ outward >= 0, width=2.2)
    draw_ends(ax, path @ basis.T)
    names = [f"$I_{k + 1}$ = {i:.4g}" for k, i in enumerate(run.body.principal_moments)]
    draw_axes(ax, (basis @ surface).T, names, gap=28)
    frame(ax, np.zeros(2), 1.2 * half)
    return style.legend(ax, "below")


def herpolhode(run: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the tip of ω in inertial axes, seen along the angular momentum at the start.

    Without torque the tip stays in one plane, the invariable plane, between the two circles.
    """
    ax, run = style.axes_or_new(ax), smooth(run)
    style.dress(ax, "Herpolhode", "rate across the angular momentum (rad/s)", "rad/s")
    seen = (rate_inertial(run) @ invariable_plane(run).T)[:: -(-len(run.t) // POINTS)]
    size = float(np.hypot(*seen.T[:2]).max()) or 1.0
    if is_free(run):
        angle = np.linspace(0, 2 * np.pi, 361)
        for radius in ellipsoid.radii(run):
            x, y = radius * np.cos(angle), radius * np.sin(angle)
            ax.plot(x, y, color=style.RED, linewidth=0.9, linestyle=(0, (4, 2)), zorder=2)
            size = max(size, radius)
    draw_path(ax, seen, np.full(len(seen), True), unit=size)
    draw_ends(ax, seen)
    ax.plot(0, 0, "+", color=style.GREY, ms=7, zorder=2)
    frame(ax, np.zeros(2), 1.1 * size)
    return style.legend(ax)


def poinsot(
    run: Any,
    ax: "Axes | None" = None,
    at: int = 0,
    view: tuple[float, float] | None = None,
) -> "Axes":
    """Draw Poinsot's construction: the ellipsoid of inertia of a free body rolls on a fixed plane.

    Its centre is fixed; it touches the plane at the tip of ω/√(2T), which traces the herpolhode on
    the plane and the polhode on the ellipsoid.  The angular momentum points down, normal to the
    plane.  ``at`` is the index of the state to draw.  ``view`` is (elevation, azimuth) of the eye
    above the plane in degrees; by default it is low, on the side of the polhode.
    """
    m = run.angular_momentum_inertial
    size = np.linalg.norm(m[0])
    if size == 0 or np.abs(m - m[0]).max() > CONSERVED * size:
        reason = "is at rest" if size == 0 else "has a torque: its angular momentum changes"
        raise InputError(
            f"the picture 'poinsot' is for a rotating free body, but this one {reason};"
            " draw 'polhode' or 'herpolhode' instead"
        )
    if not -len(run.t) <= at < len(run.t):
        raise InputError(f"at must be the index of one of {len(run.t)} states, got {at!r}")
    ax = style.axes_or_new(ax)
    style.dress(ax, "Poinsot's rolling ellipsoid")
    ax.set_axis_off()
    across, aside, along = invariable_plane(run)
    scale = float(np.sqrt(drawn_moments(run.body).min()))
    room = np.stack([aside, across, -along])  # the momentum points down
    attitude = run.rotation[at].as_matrix()
    surface = attitude @ ellipsoid.matrix(run.body)
    touch = rate_inertial(run)[at] / np.sqrt(2 * run.kinetic_energy[at])
    run = smooth(run)
    every = slice(None, None, -(-len(run.t) // POINTS))
    tips = rate_inertial(run)[every] / np.sqrt(2 * run.kinetic_energy[every, None])
    path = on_ellipsoid(run)[every] @ attitude.T
    x, y, _ = room @ path.mean(axis=0)
    table = scale * eye(*(view or (LOW, np.degrees(np.arctan2(y, x))))) @ room
    _draw_plane(ax, tips, (across, aside, along), table)
    draw_path(ax, tips @ table.T, np.full(len(tips), True))
    half = _draw_ellipsoid(ax, table @ surface, alpha=0.75, zorder=3.2)
    near = np.linalg.solve(surface, path.T).T @ np.linalg.solve(surface, table[2]) >= 0
    look = {"color": style.BLUE, "linewidth": 1.4, "zorder": 3.5}
    draw_line(ax, path @ table.T, near, label="polhode", **look)
    draw_line(ax, path @ table.T, ~near, **look, alpha=0.25)
    arrow = {"arrowstyle": "-|>", "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    end = (touch @ table.T)[:2]
    ax.annotate("", end, (0, 0), arrowprops={**arrow, "color": style.RED}, zorder=5)
    ax.plot([], [], color=style.RED, label="ω")
    ax.plot(*end, "o", ms=5, color=style.INK, label="contact", zorder=6)
    frame(ax, np.array([0.0, -0.1 * half]), 1.2 * half)
    return style.legend(ax, "below")


def _draw_plane(ax: "Axes", tips: np.ndarray, axes: tuple, table: np.ndarray) -> None:
    across, aside, along = axes
    radius = float(np.hypot(tips @ across, tips @ aside).max())
    half = max(1.2 * radius, float(np.linalg.norm(tips, axis=1).max()))
    corners = [
        half * (a * across + b * aside) + (tips[0] @ along) * along
        for a, b in ((-1, -1), (-1, 1), (1, 1), (1, -1))
    ]
    ax.fill(*(np.array(corners) @ table.T)[:, :2].T, color=style.FAINT, alpha=0.5, zorder=0)


def _draw_ellipsoid(
    ax: "Axes", surface: np.ndarray, alpha: float = 1.0, zorder: float = 1
) -> float:
    """Draw the image of the unit sphere under ``surface`` and its principal sections.

    Returns half its size.
    """
    outward = np.linalg.inv(surface)[:, 2]
    side = np.linalg.svd(outward[None])[2][1:]  # the outline: x normal to ``outward``
    angle = np.linspace(0, 2 * np.pi, 361)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    outline = (circle @ side @ surface.T)[:, :2]
    ax.fill(*outline.T, color="#f7f7f4", alpha=alpha, linewidth=0, zorder=zorder)
    ax.plot(*outline.T, color=style.GREY, linewidth=0.8, zorder=zorder + 0.1)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        x = circle @ np.eye(3)[[a, b]]
        look = {"color": style.FAINT, "linewidth": 0.6, "zorder": zorder + 0.1}
        draw_line(ax, x @ surface.T, x @ outward >= 0, **look)
    return float(np.abs(outline).max())
