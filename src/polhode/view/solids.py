"""What is drawn as the body: its own surface, the box with its inertia, or a globe."""

from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError

MOST_FACES = 20_000  # of all bodies of a view together
THIN = 1e-3  # the least square of a half side of a box, of the largest
BRICK = np.array([1.0, 0.7, 0.4])  # half sides, where no body is given
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
SIDES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)
MERIDIANS, PARALLELS = 24, 12
RADII = {"Moon": 1.7374e6, "Earth": 6.3781e6}  # m
UNITS = {"rigid-earth-model": "sidereal days", "rigid-moon-model": "sidereal months"}


class Solid(NamedTuple):
    """A surface in body axes, from the centre of mass; ``drawn`` says what it is."""

    vertices: np.ndarray
    faces: np.ndarray
    drawn: str
    globe: dict[str, Any] | None = None
    note: str = ""

    @property
    def reach(self) -> float:
        """The radius of the surface about the centre of mass."""
        return float(np.sqrt((self.vertices**2).sum(axis=1).max()))


def solid_of(run: Any, globe: Any, most: int) -> Solid:
    """Return what to draw for a run, with at most about ``most`` faces."""
    name = _globe_name(run, globe)
    if name is not None:
        return _globe(run, name)
    given = getattr(run.body, "geometry", None)
    if given is None:
        return _box(run.body)
    vertices = np.asarray(given.vertices, dtype=float) - run.body.centre
    faces = np.asarray(given.faces, dtype=np.int64)
    drawn = "shapes" if getattr(given, "kind", "mesh") == "shapes" else "mesh"
    vertices, shown = thinned(vertices, faces, most)
    note = ""
    if len(shown) < len(faces):
        note = f"the surface is drawn with {len(shown)} of its {len(faces)} triangles"
    return Solid(vertices, shown, drawn, None, note)


# ---- globes
def _globe_name(run: Any, globe: Any) -> str | None:
    """Return the globe asked for, or by default that of a celestial run."""
    if globe is False or (isinstance(globe, str) and globe in RADII):
        return globe or None
    if globe is not None:
        raise InputError(
            f"globe must be {', '.join(map(repr, RADII))}, False or None, got {globe!r}"
        )
    name, model = (str(run.problem.get(key) or "") for key in ("name", "model"))
    for heavenly in RADII:
        word = heavenly.lower()
        layered = name.startswith(f"layered {word} from")
        if model == word or name == f"rigid-{word}-model" or layered:
            return heavenly
    return None


def _globe(run: Any, name: str) -> Solid:
    radius = RADII[name]
    if run.body is not None:
        mean = float(np.mean(run.body.principal_moments)) / run.body.mass
        even = (2.5 * mean) ** 0.5  # a ball of one density with these moments
        radius = radius if 0.5 < even / radius < 2.0 else even  # models have other units
    around = 2.0 * np.pi * np.arange(MERIDIANS) / MERIDIANS
    down = np.pi * np.arange(PARALLELS + 1) / PARALLELS
    ring = np.stack([np.cos(around), np.sin(around), np.zeros(MERIDIANS)], axis=1)
    points = np.sin(down)[:, None, None] * ring + np.cos(down)[:, None, None] * [0.0, 0.0, 1.0]
    k, j = np.meshgrid(np.arange(PARALLELS), np.arange(MERIDIANS), indexing="ij")
    a, b = k * MERIDIANS + j, k * MERIDIANS + (j + 1) % MERIDIANS
    upper = np.stack([a, a + MERIDIANS, b + MERIDIANS], axis=-1)[:-1]
    lower = np.stack([a, b + MERIDIANS, b], axis=-1)[1:]
    faces = np.concatenate([upper.reshape(-1, 3), lower.reshape(-1, 3)])
    about = {"name": name, "radius": radius}
    return Solid(radius * points.reshape(-1, 3), faces, "globe", about)


def time_unit(run: Any) -> str:
    """Return the unit of a run's times."""
    return UNITS.get(run.problem.get("name") or "", "s")


# ---- boxes
def _box(body: Any) -> Solid:
    """Return the box with the inertia of a body, in its principal axes; a brick without a body."""
    if body is None:
        return Solid(CORNERS * BRICK, SIDES, "box", note="no body is known: a brick is drawn")
    moments = body.principal_moments
    squares = 1.5 / body.mass * (moments.sum() - 2.0 * moments)
    half = np.sqrt(np.maximum(squares, THIN * squares.max()))
    axes = np.array(body.principal_axes)
    axes[:, 2] *= np.sign(np.linalg.det(axes))  # faces stay outside
    return Solid((CORNERS * half) @ axes.T, SIDES, "box")


# ---- fewer triangles
def thinned(vertices: np.ndarray, faces: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a surface of at most ``most`` faces: vertices in a cell of a grid become one."""
    if len(faces) <= most:
        return vertices, faces
    low = vertices.min(axis=0)
    extent = float((vertices - low).max(initial=0.0)) or 1.0
    cells = 0.5 * most**0.5  # along the longest side
    best: tuple[np.ndarray, np.ndarray] | None = None
    for _ in range(6):
        found = _clustered(vertices, faces, np.floor((vertices - low) * (cells / extent)))
        count = len(found[1])
        if count <= most and (best is None or count > len(best[1])):
            best = found
            if count > 0.6 * most:
                break
        cells *= 0.9 * (most / max(count, 1)) ** 0.5
    return best if best is not None else _clustered(vertices, faces, np.zeros_like(vertices))


def _clustered(vertices: np.ndarray, faces: np.ndarray, cells: np.ndarray):
    """Return the surface whose vertices are the means of those in the same cell."""
    size = cells.max(axis=0) + 1.0
    key = (cells[:, 0] * size[1] + cells[:, 1]) * size[2] + cells[:, 2]
    _, which, counts = np.unique(key, return_inverse=True, return_counts=True)
    means = [np.bincount(which, weights=column) / counts for column in vertices.T]
    corners = which[faces]
    a, b, c = corners.T
    corners = corners[(a != b) & (b != c) & (c != a)]
    first = np.argmin(corners, axis=1)[:, None]
    turned = np.take_along_axis(corners, (first + np.arange(3)) % 3, axis=1)
    return np.stack(means, axis=1), np.unique(turned, axis=0)
