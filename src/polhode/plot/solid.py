"""Bodies as polygons: which are seen, in which order, and how much light falls on them.

Polygons are sorted by depth and drawn from the far ones to the near ones; long triangles are split,
since only small ones have one depth.  Those of a closed surface that face away are left out.
"""

from typing import Any, NamedTuple

import numpy as np

MOST_FACES = 3000
LONGEST = 0.15  # of the reach: an edge of a triangle
FLAT = 0.05  # of the longest side: stands for a side of zero
LIGHT = np.array([-0.35, 0.55, 0.76])  # towards the lamp: to the right, up, towards the eye
DIM = 0.6  # the light in the shade
CORNERS = np.array(
    [[2 * (i & 1) - 1, (i & 2) - 1, (i & 4) // 2 - 1] for i in range(8)], dtype=float
)
SIDES = np.array(
    [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
)


class Solid(NamedTuple):
    """Polygons (n, k, 3) in body axes from the centre of mass, and their outward normals."""

    polygons: np.ndarray
    normals: np.ndarray
    is_closed: bool
    has_edges: bool

    @property
    def reach(self) -> float:
        """The distance of the farthest point from the centre of mass."""
        return float(np.linalg.norm(self.polygons, axis=2).max())


def solid_of(body: Any) -> Solid:
    """Return the surface of a body: its own, or the box with its inertia and mass.

    A motion without a body is shown as that of a box with the sides 3 : 2 : 1.
    """
    geometry = getattr(body, "geometry", None)
    if geometry is not None and len(geometry.faces):
        vertices = np.asarray(geometry.vertices, dtype=float) - body.centre
        return of_mesh(vertices, np.asarray(geometry.faces, dtype=int))
    half, axes = np.array([1.5, 1.0, 0.5]), np.eye(3)
    if body is not None:
        half, axes = half_sides(body), body.principal_axes
        axes = axes * (1.0 if np.linalg.det(axes) > 0 else -1.0)  # the box is its own mirror image
    return _with_normals((CORNERS * half @ axes.T)[SIDES], True, True)


def half_sides(body: Any) -> np.ndarray:
    """Return half the sides of the box with the body's principal moments and mass.

    A box with the sides 2a, 2b, 2c has I1 = m (b² + c²)/3, and so on.
    """
    moments = np.asarray(body.principal_moments)
    squares = np.maximum(1.5 * (moments.sum() - 2 * moments) / body.mass, 0.0)
    half = np.sqrt(squares)
    return np.maximum(half, FLAT * half.max())


def of_mesh(vertices: np.ndarray, faces: np.ndarray, most: int = MOST_FACES) -> Solid:
    """Return a mesh as a solid, with at most about ``most`` faces."""
    vertices, faces = fewer(vertices, faces, most)
    is_closed = _is_closed(faces)
    triangles = vertices[faces]
    if is_closed and np.einsum("ni,ni->", triangles[:, 0], _normals(triangles)) < 0:
        triangles = triangles[:, ::-1]  # the faces were given from the inside
    reach = float(np.linalg.norm(triangles, axis=2).max())
    return _with_normals(split(triangles, LONGEST * reach, most), is_closed, False)


def split(triangles: np.ndarray, longest: float, most: int) -> np.ndarray:
    """Halve triangles at their longest edges while these are too long, up to ``most`` triangles."""
    done = [triangles[:0]]
    count = len(triangles)
    while True:
        ends = np.roll(triangles, -1, axis=1)
        lengths = np.linalg.norm(ends - triangles, axis=2)
        is_long = lengths.max(axis=1) > longest
        done.append(triangles[~is_long])
        triangles, lengths = triangles[is_long], lengths[is_long]
        count += len(triangles)
        if not len(triangles) or count > most:
            return np.concatenate([*done, triangles])
        rows, first = np.arange(len(triangles)), lengths.argmax(axis=1)
        a, b, c = (triangles[rows, (first + k) % 3] for k in range(3))
        middle = 0.5 * (a + b)
        halves = np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)
        triangles = np.concatenate(halves)


def fewer(vertices: np.ndarray, faces: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Join vertices in the cells of ever coarser grids until there are at most ``most`` faces.

    A closed surface stays closed.
    """
    cells = np.sqrt(most)
    low = vertices.min(axis=0)
    extent = float(np.ptp(vertices, axis=0).max()) or 1.0
    given_vertices, given_faces = vertices, faces
    while len(faces) > most and cells > 2:
        grid = np.floor((given_vertices - low) / extent * cells).astype(int)
        _, place, counts = np.unique(grid, axis=0, return_inverse=True, return_counts=True)
        place = place.ravel()
        sums = [np.bincount(place, column) for column in given_vertices.T]
        vertices = np.stack(sums, axis=1) / counts[:, None]
        faces = place[given_faces]
        a, b, c = faces.T
        faces = faces[(a != b) & (b != c) & (c != a)]
        cells *= 0.85
    return vertices, faces


def _is_closed(faces: np.ndarray) -> bool:
    """Return whether every edge is passed as often in one direction as in the other."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    size = int(faces.max()) + 1
    there, back = edges[:, 0] * size + edges[:, 1], edges[:, 1] * size + edges[:, 0]
    return bool(np.array_equal(np.sort(there), np.sort(back)))


def _normals(polygons: np.ndarray) -> np.ndarray:
    """Return normals of polygons, as long as twice the area of their first triangles."""
    return np.cross(polygons[:, 1] - polygons[:, 0], polygons[:, 2] - polygons[:, 0])


def _with_normals(polygons: np.ndarray, is_closed: bool, has_edges: bool) -> Solid:
    normals = _normals(polygons)
    size = np.linalg.norm(normals, axis=1, keepdims=True)
    keep = size[:, 0] > 0
    return Solid(polygons[keep], normals[keep] / size[keep], is_closed, has_edges)


def seen(solid: Solid, turn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the polygons that are seen, (n, k, 2), from far to near, and the light on each.

    ``turn`` takes body axes to those of the eye: to the right, up, towards it.
    """
    normals = solid.normals @ turn.T
    front = normals[:, 2] > 0 if solid.is_closed else np.full(len(normals), True)
    polygons = solid.polygons[front] @ turn.T
    normals = normals[front]
    normals = np.where(normals[:, 2:] < 0, -normals, normals)  # of an open surface, from behind
    order = np.argsort(polygons[:, :, 2].mean(axis=1), kind="stable")
    light = DIM + (1 - DIM) * np.maximum(normals @ (LIGHT / np.linalg.norm(LIGHT)), 0.0)
    return polygons[order, :, :2], light[order]


def exits(solid: Solid, direction: np.ndarray) -> float:
    """Return where a ray from the centre of mass leaves the body, in lengths of ``direction``."""
    corner = solid.polygons[:, 0]
    found = 0.0
    for k in range(1, solid.polygons.shape[1] - 1):
        one, other = solid.polygons[:, k] - corner, solid.polygons[:, k + 1] - corner
        across = np.cross(direction, other)
        volume = np.sum(one * across, axis=1)
        usable = np.abs(volume) > 0
        scale = np.divide(1.0, volume, out=np.zeros_like(volume), where=usable)
        u = -np.sum(corner * across, axis=1) * scale
        second = np.cross(-corner, one)
        v = second @ direction * scale
        length = np.sum(other * second, axis=1) * scale
        edge = 1e-9
        hit = usable & (u >= -edge) & (v >= -edge) & (u + v <= 1 + edge)
        if hit.any():
            found = max(found, float(length[hit].max()))
    return found
