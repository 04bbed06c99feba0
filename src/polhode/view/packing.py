"""Runs as the viewer gets them: a header of plain data, and one blob of numbers.

The header refers to parts of the blob by ``[byte offset, number of elements]``.  Numbers are
rounded to what can be seen, far below the tolerance, so that they pack well; keyframes are chosen
for the rounded numbers.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.contracts.checks import positive, three
from polhode.contracts.conserved import is_free
from polhode.errors import InputError
from polhode.view import keyframes
from polhode.view.curves import (
    BUCKETS,
    Curve,
    apart,
    curves_of,
    facts_of,
    problem_of,
    steps_of,
)
from polhode.view.keyframes import Motion
from polhode.view.solids import MOST_FACES, Solid, solid_of, time_unit

FORMAT = 1
MOST_RUNS = 16
MOST_KEYFRAMES = 30_000  # of all runs together: about a megabyte
TOLERANCE, FINEST = 1e-3, 1e-6  # radians
THEMES, LAYOUTS = ("auto", "light", "dark"), ("side", "ghosts")
SWITCHES = (
    *("body", "axes", "omega", "momentum", "torque", "trail", "poinsot", "path", "ground"),
    *("grid", "plots", "corner"),
)
SHOWN = {"torque": False}
TRAIL = 8.0  # turns
TURNS_PER_SECOND = 0.5  # of the film
SHORTEST_FILM = 5.0  # seconds
BEYOND = 1.25  # of the reach: where the trail of body axis 3 is drawn
NO_TORQUE = 1e-9  # of the momentum times the rate: rounding
SMALLEST, LARGEST = 1e-30, 1e30  # that four bytes hold well
NEAR = 2e-4  # of the extent of a path: less than a pixel


class Packed(NamedTuple):
    """What a viewer shows."""

    header: dict[str, Any]
    data: bytes


class Options(NamedTuple):
    """How to show runs; ``view`` describes them."""

    names: Any = None
    points: Any = None
    show: Any = None
    theme: str = "auto"
    layout: str = "side"
    tolerance: float = TOLERANCE
    title: str | None = None
    globe: Any = None


class Blob:
    """Arrays one after the other, each once, at multiples of eight bytes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self._places: dict[bytes, int] = {}

    def put(self, values: Any, kind: str) -> list[int]:
        """Add an array of a ``kind`` ("f8", "f4", "u4", …) and return its reference."""
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(values, dtype=f"<{kind}")
        raw = array.tobytes()
        place = self._places.get(raw)
        if place is None:
            place = self._places[raw] = self.size
            self.parts.append(raw + bytes(-len(raw) % 8))
            self.size += len(self.parts[-1])
        return [place, array.size]

    def data(self) -> bytes:
        """Return all of them."""
        return b"".join(self.parts)


def rounded(values: np.ndarray, step: float) -> np.ndarray:
    """Return multiples of the power of two below ``step``."""
    if not (np.isfinite(step) and step > 0.0):
        return values
    power = 2.0 ** np.floor(np.log2(step))
    return np.round(values / power) * power


# ---- options
def runs_of(runs: Any) -> list[Any]:
    """Return a list of runs that can be shown."""
    found = list(runs) if isinstance(runs, (list, tuple)) else [runs]
    if not 1 <= len(found) <= MOST_RUNS:
        raise InputError(
            f"runs must be one to {MOST_RUNS} trajectories, got {len(found)}; many bodies together"
            " are an ensemble: ph.solve_ensemble"
        )
    for run in found:
        if not all(hasattr(run, name) for name in ("t", "q", "omega", "body", "problem")):
            raise InputError(f"runs must be trajectories, as ph.solve returns them, got {run!r}")
        if not len(keyframes.in_order(run.t, run.q, run.omega)):
            raise InputError(f"runs must have states to show, got a run of {len(run.t)} states")
    return found


def one_of(value: Any, known: Sequence[str], argument: str) -> str:
    """Check that a value is one of some words."""
    if value not in known:
        raise InputError(f"{argument} must be one of {', '.join(known)}, got {value!r}")
    return str(value)


def names_of(names: Any, runs: Sequence[Any]) -> list[str]:
    """Return the names of runs: those given, or what tells the runs apart."""
    if names is not None:
        given = [names] if isinstance(names, str) else list(names)
        if len(given) != len(runs) or not all(isinstance(name, str) for name in given):
            raise InputError(f"names must be {len(runs)} texts, one for each run, got {names!r}")
        return given
    problems, methods = [problem_of(run) for run in runs], [str(run.method) for run in runs]
    steps = [", ".join(steps_of(run, "")) for run in runs]
    differ = [part for part in (problems, methods, steps) if len(set(part)) > 1]
    parts = differ or [problems if any(problems) else methods]
    labels = [", ".join(filter(None, label)) or "run" for label in zip(*parts, strict=True)]
    if len(set(labels)) < len(labels):
        labels = [f"{k}: {label}" for k, label in enumerate(labels, 1)]
    return labels


def switches_of(show: Any) -> dict[str, bool]:
    """Return what is shown at first."""
    if show is not None and not isinstance(show, Mapping):
        raise InputError(f'show must be switches such as {{"trail": False}}, got {show!r}')
    for name in show or ():
        one_of(name, SWITCHES, "a name in show")
    return {name: SHOWN.get(name, True) for name in SWITCHES} | {
        name: bool(on) for name, on in (show or {}).items()
    }


def points_of(points: Any, reach: float) -> list[list[float]]:
    """Return the points of the body whose trails are drawn."""
    if points is None:
        return [[0.0, 0.0, BEYOND * reach]]
    rows = [points] if np.ndim(points) == 1 and np.size(points) else points
    if not isinstance(rows, (list, tuple, np.ndarray)):
        raise InputError(f"points must be points of the body, three numbers each, got {points!r}")
    return [list(three(row, "each of points")) for row in rows]


# ---- runs
@np.errstate(invalid="ignore", over="ignore")  # the last rows of a run may be infinite
def pack(runs: Any, options: Options) -> Packed:
    """Return the header and the data of one or several runs."""
    found = runs_of(runs)
    names = names_of(options.names, found)
    tolerance = positive(options.tolerance, "tolerance")
    if not FINEST <= tolerance <= 1.0:
        raise InputError(f"tolerance must be from {FINEST:g} to 1 radian, got {tolerance!r}")
    title = options.title if options.title is not None else _title(found, names)
    if not isinstance(title, str):
        raise InputError(f"title must be a text, got {title!r}")
    blob, notes, packed = Blob(), list[str](), list[dict[str, Any]]()
    faces = MOST_FACES // len({id(run.body) for run in found})
    solids: dict[int, Solid] = {}  # of bodies, several runs of which may be shown
    for run, name in zip(found, names, strict=True):
        label = f"{name}: " if len(found) > 1 else ""
        if id(run.body) not in solids:
            solids[id(run.body)] = solid_of(run, options.globe, faces)
        solid = solids[id(run.body)]
        entry, own = _pack_run(run, name, solid, tolerance, len(found), blob)
        entry["points"] = points_of(options.points, solid.reach)
        if packed and (curve := apart(found[0], run)) is not None:
            entry["series"].append(_pack_curve(curve, entry["t_span"], len(found), blob))
        notes += [label + note for note in own]
        packed.append(entry)
    header = {
        "format": FORMAT,
        "kind": "runs",
        "title": title,
        "theme": one_of(options.theme, THEMES, "theme"),
        "layout": one_of(options.layout, LAYOUTS, "layout"),
        "speed": min(entry.pop("speed") for entry in packed),
        "time": {"unit": time_unit(found[0]), "label": "t"},
        "show": switches_of(options.show),
        "notes": list(dict.fromkeys(notes)),
        "runs": [{k: v for k, v in entry.items() if k != "t_span"} for entry in packed],
        "crowd": None,
    }
    return Packed(header, blob.data())


def _title(runs: Sequence[Any], names: Sequence[str]) -> str:
    problems = {problem_of(run) for run in runs}
    return problems.pop() or names[0] if len(problems) == 1 else " · ".join(names)


def _pack_run(
    run: Any, name: str, solid: Solid, tolerance: float, count: int, blob: Blob
) -> tuple[dict[str, Any], list[str]]:
    """Return the entry of a run in the header, and notes about it."""
    fine, is_close = keyframes.refined(run, tolerance)
    motion = keyframes.rows_of(fine)
    stored = _stored(motion, tolerance)
    most = max(MOST_KEYFRAMES // count, 2)
    keys = keyframes.choose(motion, stored, tolerance, most)
    notes = [solid.note] if solid.note else []
    times = stored.t[keys]
    times[-1] = motion.t[keys[-1]]
    start, end = float(times[0]), float(times[-1])
    unit, is_cut = time_unit(run), keys[-1] < len(motion.t) - 1
    if is_cut:
        notes.append(
            f"t = {start:.6g} to {end:.6g} {unit} is shown: the whole run, to {motion.t[-1]:.6g},"
            f" takes more than {most} keyframes"
        )
    lost = len(run.t) - int(keyframes.usable(run.t, run.q, run.omega).sum())
    if lost:
        notes.append(f"{lost} of {len(run.t)} states are not finite, and are left out")
    if not is_close:
        notes.append("states are more than half a turn apart; the motion between them is a guess")
    rate = np.sqrt((motion.omega**2).sum(axis=1))
    turns = float(np.trapezoid(rate, motion.t)) / (2.0 * np.pi)
    span = float(motion.t[-1] - motion.t[0])
    curves = curves_of(run, fine, unit)
    torque, free = _pack_torque(fine, keys, blob)
    entry = {
        "name": name,
        "facts": facts_of(run, unit),
        "failed": not run.success,
        "t": blob.put(times, "f8"),
        "q": blob.put(stored.q[keys], "f4"),
        "omega": blob.put(stored.omega[keys], "f4"),
        "torque": torque,
        "inertia": None if run.body is None else np.ravel(run.body.inertia).tolist(),
        "path": _pack_path(fine, end, most, blob),
        **_pack_solid(solid, blob),
        "trail": span * min(1.0, TRAIL / max(turns, 1e-9)),
        "turns": turns * ((end - start) / span if span else 1.0),
        "free": free,
        **_ground(fine, solid.reach),
        "series": [_pack_curve(curve, (start, end), count, blob) for curve in curves],
        "speed": _speed(span, turns),
        "t_span": (start, end),
    }
    return entry, notes


def _stored(motion: Motion, tolerance: float) -> Motion:
    """Return rows as the viewer gets them: rounded, but for the first and the last time."""
    t, q, omega = motion
    rates = np.sqrt((omega**2).sum(axis=1))
    fastest = float(rates.max())
    usual = min(fastest, 100.0 * float(np.median(rates)) or fastest)  # a run may end in infinity
    steps = np.diff(t)
    finest = 1e-3 * float(steps.min()) if len(steps) else 0.0
    times = rounded(t, min(0.01 * tolerance / fastest, finest) if fastest else finest)
    times[[0, -1]] = t[[0, -1]]
    turned = rounded(q, min(tolerance / 32.0, 2.0**-14)).astype("f4").astype(float)
    turning = rounded(omega, usual * min(tolerance / 64.0, 2.0**-14)).astype("f4").astype(float)
    return Motion(times, turned, turning)


def _speed(span: float, turns: float) -> float:
    """Return time per second of film: half a turn, as 1, 2 or 5; films are not too short."""
    if span == 0.0:
        return 1.0
    speed = min(TURNS_PER_SECOND * span / max(turns, 1e-9), span / SHORTEST_FILM)
    power = 10.0 ** np.floor(np.log10(speed))
    return float(max(k * power for k in (1, 2, 5) if k * power <= speed * (1 + 1e-9)))


def _pack_solid(solid: Solid, blob: Blob) -> dict[str, Any]:
    vertices = rounded(solid.vertices, solid.reach * 2.0**-16)
    return {
        "geometry": {"vertices": blob.put(vertices, "f4"), "faces": blob.put(solid.faces, "u4")},
        "drawn": solid.drawn,
        "globe": solid.globe,
        "reach": solid.reach,
    }


def _pack_curve(curve: Curve, span: tuple[float, float], count: int, blob: Blob) -> dict[str, Any]:
    inside = (curve.t >= span[0]) & (curve.t <= span[1])
    if not inside.all():
        columns = [column[inside] for column in curve.columns]
        curve = Curve(curve.name, curve.unit, curve.labels, curve.t[inside], columns, curve.log)
    t, lines = curve.thinned(BUCKETS if count <= 4 else BUCKETS // 2)
    if len(t) > 2:
        t[1:-1] = rounded(t[1:-1], (t[-1] - t[0]) * 2.0**-14)
        t[1:-1] = np.clip(t[1:-1], t[0], t[-1])
    wide = not all(map(_is_ordinary, lines))
    return {
        "name": curve.name,
        "unit": curve.unit,
        "labels": curve.labels,
        "t": blob.put(t, "f8"),
        "values": [blob.put(line, "f8" if wide else "f4") for line in lines],
        "wide": wide,
        "log": curve.log,
    }


def _is_ordinary(values: np.ndarray) -> bool:
    """Return whether numbers of four bytes hold the largest of values."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    return largest == 0.0 or SMALLEST <= largest <= LARGEST


# ---- torque, path and ground
def _torque(run: Any, keys: np.ndarray) -> np.ndarray | None:
    """Return the torque at rows ``keys`` in inertial axes, as far as it is known.

    It is I dω/dt + ω × I ω; without dω/dt, as in a run from a file, the change of the momentum from
    row to row, if rows are close together.
    """
    if run.body is None:
        return None
    order = keyframes.in_order(run.t, run.q, run.omega)
    places = order[keys]
    rate = None if is_free(run) else run.angular_acceleration
    if rate is None:
        motion = keyframes.rows_of(run)
        if is_free(run) or len(order) < 3 or keyframes.turns(motion).max() > keyframes.STRIDE:
            return None
        return np.gradient(run.angular_momentum_inertial[order], motion.t, axis=0)[keys]
    own = rate[places] @ np.array(run.body.inertia).T
    own = own + np.cross(run.omega[places], run.angular_momentum[places])
    w, v = run.q[places, :1], run.q[places, 1:]
    k = 2.0 * np.cross(v, own)
    return own + w * k + np.cross(v, k)


def _pack_torque(run: Any, keys: np.ndarray, blob: Blob) -> tuple[list[int] | None, bool]:
    """Pack the torque at keyframes; also return whether there is none at all."""
    torque = _torque(run, keys)
    if torque is None or not np.isfinite(torque).all():
        return None, is_free(run)
    largest = float(np.abs(torque).max(initial=0.0))
    sizes = (float(np.abs(values).max()) for values in (run.angular_momentum, run.omega))
    if largest <= NO_TORQUE * math.prod(sizes):
        return None, True
    if not _is_ordinary(torque):
        torque, largest = torque / largest, 1.0  # arrows are drawn relative to the longest
    return blob.put(rounded(torque, largest * 2.0**-10), "f4"), False


def _pack_path(run: Any, end: float, most: int, blob: Blob) -> dict[str, Any] | None:
    """Pack the path of the centre of mass, by rows between which cubics meet it."""
    if run.x is None:
        return None
    order = keyframes.in_order(run.t, run.q, run.omega)
    order = order[run.t[order] <= end]
    order = order[np.isfinite(run.x[order]).all(axis=1) & np.isfinite(run.v[order]).all(axis=1)]
    if not len(order):
        return None
    t, x, v = run.t[order], run.x[order], run.v[order]
    origin = x[0]
    extent = float(np.ptp(x, axis=0).max())
    x = rounded(x - origin, extent * 2.0**-18)
    keys = keyframes.choose_path(t, x, v, NEAR * extent, most)
    fastest = float(np.abs(v).max())
    return {
        "t": blob.put(t[keys], "f8"),
        "x": blob.put(x[keys], "f4"),
        "v": blob.put(rounded(v[keys], fastest * 2.0**-16), "f4"),
        "origin": origin.tolist(),
    }


def _ground(run: Any, reach: float) -> dict[str, Any]:
    """Return what is up, and the ground below a body that falls: as low as it reaches."""
    up = np.array([0.0, 0.0, 1.0])
    nowhere = {"up": up.tolist(), "ground": None}
    if run.x is None or "uniform_gravity" not in str(run.problem.get("model") or ""):
        return nowhere
    g = gravity_of(run.problem.get("parameters"))
    if g is not None:
        size = float(np.sqrt((g**2).sum()))
        if not (np.isfinite(size) and size > 0.0):
            return nowhere
        up = 0.0 - g / size
    heights = run.x[np.isfinite(run.x).all(axis=1)] @ up
    if not len(heights):
        return nowhere
    return {"up": up.tolist(), "ground": {"height": float(heights.min()) - reach}}


def gravity_of(parameters: Any) -> np.ndarray | None:
    """Return the acceleration of ``uniform_gravity``, alone or among other models, if told."""
    told = parameters if isinstance(parameters, Mapping) else {}
    found = told["g"] if "g" in told else told.get("uniform_gravity")
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if not (isinstance(found, list) and len(found) == 3):
        return None
    return np.array(found, dtype=float) if all(type(x) in (int, float) for x in found) else None
