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


@style.themed
def polhode(
    run: Any,
    ax: "Axes | None" = None,
    view: tuple[float, float] = FROM_SIDE,
    curves: int = 4,
    *,
    theme: str | None = None,
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
        (low, style.theme().blue, 0.8, f"about $I_{least}$"),
        (high, style.theme().green, 0.8, f"about $I_{largest}$"),
        (between, style.theme().red, 1.0, "separatrix"),
    )
    outward = np.linalg.solve(surface, basis[2])  # x is on the near side where x · outward > 0
    for group, colour, width, name in groups:
        for number, curve in enumerate(group):
            look: dict[str, Any] = {"color": colour, "linewidth": width, "zorder": 2}
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


@style.themed
def herpolhode(run: Any, ax: "Axes | None" = None, *, theme: str | None = None) -> "Axes":
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
            look: dict[str, Any] = {
                "color": style.theme().red,
                "linewidth": 0.9,
                "linestyle": (0, (4, 2)),
            }
            ax.plot(x, y, zorder=2, **look)
            size = max(size, radius)
    draw_path(ax, seen, np.full(len(seen), True), unit=size)
    draw_ends(ax, seen)
    ax.plot(0, 0, "+", color=style.theme().grey, ms=7, zorder=2)
    frame(ax, np.zeros(2), 1.1 * size)
    return style.legend(ax)


@style.themed
def poinsot(
    run: Any,
    ax: "Axes | None" = None,
    at: int = 0,
    view: tuple[float, float] | None = None,
    *,
    theme: str | None = None,
) -> "Axes":
    """Draw Poinsot's construction: the ellipsoid of inertia of a free body rolls on a fixed plane.

    Its centre is fixed; it touches the plane at the tip of ω/√(2T), which traces the herpolhode on
    the plane and the polhode on the ellipsoid.  The angular momentum points down, normal to the
    plane.  ``at`` is the index of the state to draw.  ``view`` is (elevation, azimuth) of the eye
    above the plane in degrees; by default it is low, on the side of the polhode.
    """
    check_free(run)
    if not -len(run.t) <= at < len(run.t):
        raise InputError(f"at must be the index of one of {len(run.t)} states, got {at!r}")
    ax = style.axes_or_new(ax)
    style.dress(ax, "Poinsot's rolling ellipsoid")
    ax.set_axis_off()
    attitude = run.rotation[at].as_matrix()
    surface = attitude @ ellipsoid.matrix(run.body)
    touch = rate_inertial(run)[at] / np.sqrt(ellipsoid.twice_energy(run)[at])
    run = smooth(run)
    every = slice(None, None, -(-len(run.t) // POINTS))
    tips = rate_inertial(run)[every] / np.sqrt(ellipsoid.twice_energy(run)[every, None])
    path = on_ellipsoid(run)[every] @ attitude.T
    to_eye = table(run, path, view)
    plane = (corners_of_plane(tips, invariable_plane(run)) @ to_eye.T)[:, :2]
    ax.fill(*plane.T, color=style.theme().faint, alpha=0.5, zorder=0)
    draw_path(ax, tips @ to_eye.T, np.full(len(tips), True))
    half = _draw_ellipsoid(ax, to_eye @ surface, alpha=0.75, zorder=3.2)
    near = np.linalg.solve(surface, path.T).T @ np.linalg.solve(surface, to_eye[2]) >= 0
    look: dict[str, Any] = {"color": style.theme().blue, "linewidth": 1.4, "zorder": 3.5}
    draw_line(ax, path @ to_eye.T, near, label="polhode", **look)
    draw_line(ax, path @ to_eye.T, ~near, **look, alpha=0.25)
    arrow = {"arrowstyle": "-|>", "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    end = (touch @ to_eye.T)[:2]
    ax.annotate("", end, (0, 0), arrowprops={**arrow, "color": style.theme().red}, zorder=5)
    ax.plot([], [], color=style.theme().red, label="ω")
    ax.plot(*end, "o", ms=5, color=style.theme().ink, label="contact", zorder=6)
    frame(ax, np.array([0.0, -0.1 * half]), 1.2 * half)
    return style.legend(ax, "below")


def check_free(run: Any) -> None:
    """Refuse a run in which no ellipsoid rolls on a fixed plane."""
    if not keeps_momentum(run):
        raise InputError(
            "the picture 'poinsot' is for a rotating free body, but this one has a torque: its"
            " angular momentum changes; draw 'polhode' or 'herpolhode' instead"
        )


def keeps_momentum(run: Any) -> bool:
    """Return whether the angular momentum stays as it is; a run at rest is refused."""
    m = run.angular_momentum_inertial
    if not m.any():
        raise InputError(
            "the picture 'poinsot' is for a rotating body, but this one is at rest; draw 'body' or"
            " 'tilt' instead"
        )
    return bool(np.abs(m - m[0]).max() <= CONSERVED * np.linalg.norm(m[0]))


def corners_of_plane(tips: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Return the corners of the part of the invariable plane to draw, in inertial axes.

    ``axes`` are its directions and its normal as rows; ``tips`` the points of contact.
    """
    across, aside, along = axes
    radius = float(np.hypot(tips @ across, tips @ aside).max())
    half = max(1.2 * radius, float(np.linalg.norm(tips, axis=1).max()))
    signs = ((-1, -1), (-1, 1), (1, 1), (1, -1))
    return np.array([half * (a * across + b * aside) for a, b in signs]) + tips[0] @ along * along


def table(run: Any, path: np.ndarray, view: tuple[float, float] | None = None) -> np.ndarray:
    """Return the matrix from inertial axes to those of an eye that looks at the plane.

    The momentum points down.  By default the eye is low, on the side of the ``path`` of contacts on
    the ellipsoid.  The least moment has an axis of length 1.
    """
    across, aside, along = invariable_plane(run)
    room = np.stack([aside, across, -along])
    return camera(run.body, room @ path.mean(axis=0), view) @ room


def camera(body: Any, towards: np.ndarray, view: tuple[float, float] | None = None) -> np.ndarray:
    """Return the scaled axes of an eye above a horizontal plane, by default on the side given."""
    scale = float(np.sqrt(drawn_moments(body).min()))
    return scale * eye(*(view or (LOW, np.degrees(np.arctan2(towards[1], towards[0])))))


def _draw_ellipsoid(
    ax: "Axes", surface: np.ndarray, alpha: float = 1.0, zorder: float = 1
) -> float:
    """Draw the image of the unit sphere under ``surface`` and its principal sections.

    Returns half its size.
    """
    outline = ellipsoid.outline(surface)
    ax.fill(*outline.T, color=style.theme().surface, alpha=alpha, linewidth=0, zorder=zorder)
    ax.plot(*outline.T, color=style.theme().grey, linewidth=0.8, zorder=zorder + 0.1)
    look: dict[str, Any] = {"color": style.theme().faint, "linewidth": 0.6}
    ax.plot(*ellipsoid.sections(surface).T, zorder=zorder + 0.1, **look)
    return float(np.abs(outline).max())
