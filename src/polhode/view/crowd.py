"""Ensembles as points: one for every member, on a sphere or in space, within a size.

**What is shown.**  A page of ``budget`` bytes has room for about ``ROOM = 3/4 (budget - 150 000)``
bytes of data: 4 for a direction, 6 for a position, one more where the colour changes with time.
All members are shown at all saved times if they fit.  If not, members come first, but not at the
price of the motion: at most as many as leave room for 24 times (for all, if there are fewer), and
then as many times as fit.  Members are evenly spaced in the result, from the first to the last, and
so are the times.  ``members`` and ``frames`` set the numbers.  The notes of the page say how many
are shown.

**Directions** are octahedral: the sphere is projected onto an octahedron, which unfolds into a
square; each of its two coordinates is a 16-bit number.  The error is less than 1e-4 rad.
**Positions** are three 16-bit numbers within a box.  States are read a few times at once.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from polhode.contracts import OK
from polhode.errors import InputError
from polhode.kernels.quaternion import to_inertial
from polhode.view.colouring import Colouring, colouring
from polhode.view.colours import palette, robust_range, scale
from polhode.view.packing import Blob, Packed, one_of, switches_of

BUDGET = 2_000_000  # bytes of a page
PAGE = 150_000  # bytes of a page without data, about
FRAMES = 24  # times that are worth more than further members
BLOCK = 2**24  # bytes of attitudes in a store, of which some are read at once
MOST = 32767  # of 16-bit numbers; below -MOST: nothing to draw
NOTHING = -32768
JUMP = np.radians(60.0)  # between two frames: points that turn by more are not interpolated
STRAY = 20.0  # times the range of the middle 98 % of positions that the box may span
SECONDS = 12.0  # that the film takes
LINES = 1000  # rows of a series, at most
WHERE = {
    "axis": "{axis}, seen from inertial axes",
    "momentum": "direction of the angular momentum, inertial axes",
    "momentum_body": "direction of the angular momentum, body axes",
    "omega": "direction of the angular velocity, inertial axes",
    "omega_body": "direction of the angular velocity, body axes",
    "space": "positions of the centres of mass",
}


def is_ensemble(result: Any) -> bool:
    """Whether this is the result of many bodies, not of one."""
    return all(hasattr(result, name) for name in ("members", "select", "varied_names", "status"))


def pack(
    result: Any,
    *,
    where: str = "axis",
    axis: Any = (0.0, 0.0, 1.0),
    colour: Any = None,
    colour_label: str = "",
    colour_range: tuple[float, float] | None = None,
    members: int | None = None,
    frames: int | None = None,
    budget: float = BUDGET,
    title: str | None = None,
    theme: str = "auto",
    show: Any = None,
) -> Packed:
    """Pack an ensemble for the viewer; the options are those of ``EnsembleResult.view``."""
    body_axis = _check(result, where, axis, theme)
    painted = colouring(result, colour, colour_label, colour_range, body_axis, where)
    here = np.flatnonzero(result.status >= 0)  # the others were not run
    size = _bytes(result, where, painted)
    shown = thin(len(here), len(result.t), _room(budget), size, (members, frames))
    places, rows = here[spread(len(here), shown[0])], spread(len(result.t), shown[1])
    rows = rows[np.argsort(result.t[rows], kind="stable")]  # also of runs back in time
    cloud = _read(result, rows, places, where, body_axis, painted)
    blob = Blob()
    crowd, notes = _crowd(result, rows, places, where, body_axis, painted, cloud, blob)
    parts = _part(len(here), len(places), "members"), _part(len(result.t), len(rows), "times")
    notes.insert(0, ", ".join(parts))
    if len(here) < len(result):
        notes.insert(1, f"{count(len(result) - len(here))} members were not run")
    t = result.t[rows]
    header = {
        "format": 1,
        "kind": "crowd",
        "title": title or str(result.problem_data["name"] or result.problem_data["model"]),
        "theme": theme,
        "layout": "side",
        "speed": float(t[-1] - t[0]) / SECONDS or 1.0,
        "time": {"unit": "s", "label": "t"},
        "show": switches_of(show),
        "notes": notes,
        "runs": [],
        "crowd": crowd,
    }
    return Packed(header, blob.data())


def _check(result: Any, where: str, axis: Any, theme: str) -> np.ndarray:
    """Refuse what cannot be drawn; return the body axis with unit length."""
    one_of(where, list(WHERE), "where")
    one_of(theme, ("auto", "light", "dark"), "theme")
    if not len(result.t):
        raise InputError(
            "the result holds no states to show: pass save='final', a list of times or 'all' to"
            " solve_ensemble"
        )
    if not (result.status >= 0).any():
        raise InputError("the result holds no members that were run")
    if where == "space" and result.select(times=[0], members=[0]).x is None:
        raise InputError("where='space' needs positions, but the members do not move: use 'axis'")
    try:
        vector = np.array(axis, dtype=float)
    except (TypeError, ValueError):
        vector = np.empty(0)
    length = float(np.linalg.norm(vector)) if vector.shape == (3,) else 0.0
    if not 0.0 < length < np.inf:
        raise InputError(f"axis must be three numbers, not all zero, in body axes; got {axis!r}")
    return vector / length


# ---- how much is shown
def _room(budget: float) -> float:
    """Return the bytes of data that fit into a page of so many; in the page they are base64."""
    try:
        room = 0.75 * (float(budget) - PAGE)
    except (TypeError, ValueError):
        room = np.nan
    if not 0.0 < room < np.inf:
        raise InputError(
            f"budget must be a number of bytes above {PAGE}, which the page itself takes, got"
            f" {budget!r}"
        )
    return room


def _bytes(result: Any, where: str, paint: Colouring) -> tuple[float, float]:
    """Return the bytes of a member at one time, and of a member besides."""
    point = 6 if where == "space" else 4
    failed = 12.0 * float((result.status != OK).mean())
    number = 0.5  # packed
    return (point + 1, failed + number) if paint.changes else (point, failed + number + 1)


def thin(
    members: int,
    times: int,
    room: float,
    size: tuple[float, float],
    most: tuple[int | None, int | None] = (None, None),
) -> tuple[int, int]:
    """Choose how many members and times to show in ``room`` bytes.

    ``size``: bytes of a member at one time, and of a member besides.  ``most``: members and times
    that the user wants, None for as many as fit.
    """
    for name, value in zip(("members", "frames"), most, strict=True):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if value is not None and not (whole and value > 0):
            raise InputError(
                f"{name} must be a positive whole number, got {value!r}; to choose some of them"
                " select first: result.select(times=…, members=…)"
            )
    each, besides = size
    some = members if most[0] is None else min(members, int(most[0]))
    frames = times if most[1] is None else min(times, int(most[1]))
    if most[0] is None:
        least = frames if most[1] is not None else min(frames, FRAMES)
        some = max(1, min(some, int(room / (least * each + besides))))
    if most[1] is None:
        frames = max(1, min(frames, int((room / some - besides) / each)))
    if some * (frames * each + besides) > room:
        total = PAGE + some * (frames * each + besides) / 0.75
        raise InputError(
            f"{some} members at {frames} times take about {total:.3g} bytes, more than"
            f" budget={PAGE + room / 0.75:.3g}: show fewer, or raise the budget"
        )
    return some, frames


def spread(total: int, some: int) -> np.ndarray:
    """Return ``some`` evenly spaced indices out of ``total``, the first and last among them.

    One alone is the last: of the times, the final one.
    """
    if some == 1:
        return np.array([total - 1])
    return np.arange(some) * (total - 1) // (some - 1)


def count(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def _part(total: int, some: int, what: str) -> str:
    one = what[:-1] if total == 1 else what
    return f"{count(some)} of {count(total)} {what}" if some < total else f"{count(total)} {one}"


# ---- reading
class Cloud(NamedTuple):
    """Points (frames, members, 3): directions or positions; values of the colour, or None."""

    points: np.ndarray
    values: np.ndarray | None


def _read(
    result: Any,
    rows: np.ndarray,
    places: np.ndarray,
    where: str,
    axis: np.ndarray,
    paint: Colouring,
) -> Cloud:
    """Read what is shown, a few times at once."""
    points = np.empty((len(rows), len(places), 3), np.float64 if where == "space" else np.float32)
    values = np.empty(points.shape[:2], np.float64) if paint.changes else None
    done = 0
    for block in _blocks(rows, len(result)):
        part = result.select(times=block, members=places)
        stop = done + len(block)
        points[done:stop] = _points(part, where, axis)
        if values is not None:
            values[done:stop] = paint.at(part, block, places)
        done = stop
    return Cloud(points, values)


def _blocks(rows: np.ndarray, members: int) -> list[np.ndarray]:
    """Split times into blocks that are read at once.

    A store decodes all members of neighbouring times together, also where few are wanted.
    """
    most = max(1, BLOCK // (32 * members))
    return np.split(rows, np.flatnonzero(np.diff(rows // most)) + 1)


def _points(part: Any, where: str, axis: np.ndarray) -> np.ndarray:
    """Return the vectors to be drawn, (times, members, 3)."""
    if where == "space":
        return part.x
    if where == "axis":
        return turn(part.q, axis)
    if where == "omega":
        return turn(part.q, part.omega)
    if where == "omega_body":
        return part.omega
    return part.angular_momentum if where == "momentum_body" else part.angular_momentum_inertial


def turn(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return vectors in body axes in inertial ones."""
    turned = to_inertial(tuple(np.moveaxis(q, -1, 0)), tuple(np.moveaxis(v, -1, 0)))
    return np.stack(np.broadcast_arrays(*turned), axis=-1)


# ---- encoding
def to_octahedron(v: np.ndarray) -> np.ndarray:
    """Encode directions (…, 3) of any length as 16-bit numbers (…, 2).

    With p = v/(|v₁| + |v₂| + |v₃|), the upper half of the octahedron is (p₁, p₂); the lower half is
    folded outwards: ((1 - |p₂|) sign p₁, (1 - |p₁|) sign p₂).
    """
    v = np.asarray(v, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        size = np.abs(v).sum(axis=-1, keepdims=True)
        p = v / size
        x, y, z = np.moveaxis(p, -1, 0)
        below = z < 0
        folded = np.where(below, (1 - np.abs(y)) * np.where(x < 0, -1, 1), x)
        other = np.where(below, (1 - np.abs(x)) * np.where(y < 0, -1, 1), y)
    square = np.stack([folded, other], axis=-1)
    good = np.isfinite(square).all(axis=-1, keepdims=True)
    return np.where(good, np.rint(MOST * np.where(good, square, 0.0)), NOTHING).astype(np.int16)


def from_octahedron(code: np.ndarray) -> np.ndarray:
    """Return the unit vectors of ``to_octahedron``; NaN where there is nothing."""
    x, y = np.moveaxis(np.asarray(code, dtype=float) / MOST, -1, 0)
    z = 1.0 - np.abs(x) - np.abs(y)
    fold = np.maximum(-z, 0.0)
    v = np.stack([x - np.where(x < 0, -fold, fold), y - np.where(y < 0, -fold, fold), z], axis=-1)
    v /= np.linalg.norm(v, axis=-1, keepdims=True)
    return np.where(np.asarray(code)[..., :1] == NOTHING, np.nan, v)


def to_box(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Encode positions as three 16-bit numbers within a box; outside of it there is nothing."""
    share = (x - 0.5 * (low + high)) / (0.5 * (high - low))
    with np.errstate(invalid="ignore"):
        inside = (np.abs(share) <= 1.0 + 1e-9).all(axis=-1, keepdims=True)
    return np.where(inside, np.rint(MOST * np.where(inside, share, 0.0)), NOTHING).astype(np.int16)


def box_around(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the low and the high corner of a box around positions, without those that stray."""
    ends = np.array([robust_range(x[..., k], STRAY) for k in range(3)]).T
    size = ends[1] - ends[0]
    wide = float(size.max()) or max(float(np.abs(ends).max()), 1.0) * 1e-3
    pad = np.where(size > 1e-3 * wide, 0.0, 0.05 * wide)  # a flat cloud in a flat box
    return ends[0] - pad, ends[1] + pad


# ---- motion between frames
def moves_too_far(points: np.ndarray, where: str) -> bool:
    """Return whether more than one point in twenty turns by more than 60° between two frames.

    In space, what turns is the direction of the path, where a point moves visibly.
    """
    points = points[:, :: max(1, points.shape[1] // 5000)].astype(float)
    if where == "space":
        step = np.diff(points, axis=0)
        size = np.nanmax(np.ptp(points.reshape(-1, 3), axis=0)) if len(points) else 0.0
        points = np.where(np.linalg.norm(step, axis=-1, keepdims=True) > 0.02 * size, step, np.nan)
    if len(points) < 2:
        return False
    a, b = points[:-1], points[1:]
    angle = np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1))
    angle = angle[np.isfinite(angle)]
    return bool(angle.size) and float((angle > JUMP).mean()) > 0.05


# ---- the header
def _crowd(
    result: Any,
    rows: np.ndarray,
    places: np.ndarray,
    where: str,
    axis: np.ndarray,
    paint: Colouring,
    cloud: Cloud,
    blob: Blob,
) -> tuple[dict[str, Any], list[str]]:
    """Return the part of the header for the crowd, and notes."""
    notes, box = [], None
    if where == "space":
        low, high = box_around(cloud.points)
        code = to_box(cloud.points, low, high)
        box = {"low": low.tolist(), "high": high.tolist()}
    else:
        code = to_octahedron(cloud.points)
    lost = int(((code[..., 0] == NOTHING) & np.isfinite(cloud.points[..., 0])).any(axis=0).sum())
    if lost:
        there = "outside the box at times" if where == "space" else "without a direction at times"
        notes.append(f"{count(lost)} members are {there}, and not drawn then")
    jumps = moves_too_far(cloud.points, where)
    if len(rows) > 1 and jumps:
        notes.append("points jump from frame to frame: they move too far in between")
    failed = _failed(result, places, blob)
    if failed is not None:
        notes.append(
            f"{count(failed['bodies'][1])} of those shown failed: a cross where they stopped"
        )
    colour = _colour(paint, places, cloud, blob, notes)
    numbers = np.diff(result.members[places], prepend=0)  # repeated steps pack well
    crowd = {
        "where": where,
        "label": WHERE[where].format(axis=_axis_name(axis)),
        "axes": _axis_names(where, box),
        "facts": _facts(result, WHERE[where].format(axis=_axis_name(axis))),
        "t": blob.put(result.t[rows], "f8"),
        "points": blob.put(code, "i2"),
        "box": box,
        "between": "jump" if jumps else "linear" if where == "space" else "slerp",
        "members": blob.put(numbers.astype(np.uint32), "u4"),
        "of": [len(result), len(result.t)],
        "colour": colour,
        "failed": failed,
        "series": list(_series(result, blob)),
    }
    return crowd, notes


def _colour(
    paint: Colouring, places: np.ndarray, cloud: Cloud, blob: Blob, notes: list[str]
) -> dict[str, Any]:
    """Return the colours of the points; say in the notes how many values are off the scale."""
    values = paint.values[places] if cloud.values is None else cloud.values
    found = scale(values, paint.range)
    if found.beyond:
        notes.append(
            f"{count(found.beyond)} of {count(values.size)} values are beyond the colour bar"
        )
    return {
        "name": paint.name,
        "unit": paint.unit,
        "each": "member" if cloud.values is None else "frame",
        "low": found.low,
        "high": found.high,
        "ticks": paint.ticks,
        "values": blob.put(found.levels(values), "u1"),
        "palette": blob.put(palette(), "u1"),
    }


def _axis_names(where: str, box: dict[str, list[float]] | None) -> list[str]:
    """Return what stands at the three axes: of the box with its extent."""
    if box is None:
        return list("123" if where.endswith("_body") else "xyz")
    ends = zip("xyz", box["low"], box["high"], strict=True)
    return [f"{letter}: {low:.3g} … {high:.3g} m".replace("-", "−") for letter, low, high in ends]


def _axis_name(axis: np.ndarray) -> str:
    place = np.flatnonzero(axis == 1.0)
    if len(place):
        return f"body axis {place[0] + 1}"
    return "body axis ({:.3g}, {:.3g}, {:.3g})".format(*axis)


def _facts(result: Any, shown: str) -> list[list[str]]:
    """Return what the corner says: what the points are, and the facts of the result."""
    known = result.summary().items()
    return [["points", shown], *([k, v] for k, v in known if k not in ("states", "store"))]


def _failed(result: Any, places: np.ndarray, blob: Blob) -> dict[str, Any] | None:
    """Return the indices of the bodies that failed, and when."""
    bodies = np.flatnonzero(result.status[places] != OK)
    if not len(bodies):
        return None
    when = result.t_reached[places][bodies]
    return {"bodies": blob.put(bodies, "u4"), "t": blob.put(when, "f8")}


def _series(result: Any, blob: Blob) -> Iterator[dict[str, Any]]:
    """Yield the reductions over time as lines of plots."""
    t = np.asarray(result.t_reduced)
    if len(t) < 2:
        return
    rows = spread(len(t), min(len(t), LINES))
    rows = rows[np.argsort(t[rows], kind="stable")]
    for name, unit, lines in _lines(result):
        yield {
            "name": name,
            "unit": unit,
            "labels": list(lines),
            "t": blob.put(t[rows], "f8"),
            "values": [blob.put(line[rows], "f4") for line in lines.values()],
            "log": False,
        }


def _lines(result: Any) -> Iterator[tuple[str, str, dict[str, np.ndarray]]]:
    """Yield (name, unit, lines by label) of each reduction that is a few numbers over time."""
    for name, one in result.labelled.items():
        values, (stem, _, what) = np.asarray(one.values), name.rpartition("_")
        spare = what in ("std", "max", "histogram") or name == "attitude_mean"
        if one.dims[:1] != ("time_reduced",) or values.ndim > 2 or spare:
            continue
        text, unit = stem.replace("_", " "), str(one.attrs.get("units", ""))
        if values.ndim == 1 and what == "mean" and f"{stem}_std" in result.labelled:
            std = np.asarray(result.labelled[f"{stem}_std"].values)
            yield text, unit, {"mean": values, "− σ": values - std, "+ σ": values + std}
        elif values.ndim == 1 and what == "min" and f"{stem}_max" in result.labelled:
            high = np.asarray(result.labelled[f"{stem}_max"].values)
            yield text, unit, {"least": values, "greatest": high}
        elif values.ndim == 1:
            yield name.replace("_", " "), unit, {"": values}
        elif values.shape[1] <= 6:
            yield name.replace("_", " "), unit, dict(zip(_labels(one), values.T, strict=True))


def _labels(one: Any) -> list[str]:
    width = one.values.shape[1]
    if one.dims[1] in one.coords:
        return [f"{value:g}" for value in np.asarray(one.coords[one.dims[1]], dtype=float)]
    return list({3: "xyz", 4: "wxyz"}.get(width, "")) or [str(k) for k in range(width)]
