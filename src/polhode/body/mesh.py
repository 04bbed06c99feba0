"""Mass, centre of mass and inertia of the solid inside a closed triangle mesh, exactly.

A face (a, b, c) and the origin make a tetrahedron with the signed volume d/6, d = a · (b × c).  The
signs add up to the solid, convex or not, with hollows whose faces are turned inwards:

    V = Σ d/6,    V c = Σ d s/24,    s = a + b + c                                        (1)
    S = Σ d (s ⊗ s + a ⊗ a + b ⊗ b + c ⊗ c)/120,    I = (tr S) 1 - S                      (2)

with the origin in the middle of the mesh and then, where it matters, at the centre of mass, so that
no large numbers are subtracted.  The sums belong to a solid if every edge is traversed equally
often in both directions.  This is checked, and also that hollows lie inside solids, and solids
outside each other.
"""

import os
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.body.geometry import Surface
from polhode.body.inertia import EPS, spread
from polhode.body.shape import Shape, at, weighed, with_surface
from polhode.contracts.checks import positive
from polhode.errors import FileError, InputError, PolhodeWarning

SUFFIXES = ".stl", ".obj", ".ply"
CHUNK = 1 << 14  # faces at a time: few enough for the cache and for one thread


def mesh(
    mesh: Any, *, mass: float | None = None, density: float | None = None, scale: float = 1.0
) -> Shape:
    """The solid inside a closed triangle mesh, in the coordinates of the mesh.

    Parameters
    ----------
    mesh : a file (STL, OBJ, PLY; needs trimesh), a pair (vertices, faces), or an object with these
        attributes
        ``vertices`` is (n, 3), ``faces`` (k, 3) indices of vertices, counterclockwise from outside.
        Vertices with equal coordinates are merged.  Inner surfaces with the opposite orientation
        are hollows.  A mesh that is inside out as a whole is reversed, with a warning.  Surfaces
        must not intersect, which is not checked.
    mass, density : kg, or kg/m³; give one of them
    scale : metres per unit of the mesh: 1e-3 for a mesh in millimetres
    """
    scale = positive(scale, "scale")
    vertices, faces = _arrays(mesh)
    vertices, faces, number = _closed(vertices, faces)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    extent = high - low
    middle = low + extent / 2
    x = np.ascontiguousarray((vertices - middle).T)
    base = [Fraction(c) for c in middle.tolist()]
    _nested(x, faces, number)
    for _ in range(3):
        sums = integrals(x, faces)
        if abs(sums.volume) <= 64 * EPS * sums.total_volume:
            raise InputError("mesh encloses no volume: its faces lie in a plane, or cancel")
        c = sums.first / sums.volume
        base = [b + Fraction(step) for b, step in zip(base, c.tolist(), strict=True)]
        about = sums.second - sums.volume * np.outer(c, c)
        if sums.volume * (c @ c) <= np.trace(about):
            break
        x -= c[:, None]  # the middle is far from the centre of mass
    if sums.volume < 0:
        warnings.warn(
            "the faces of mesh are clockwise from outside; it is taken as turned over",
            PolhodeWarning,
            stacklevel=2,
        )
    volume, about = abs(sums.volume), about * np.sign(sums.volume)
    m = weighed(volume * scale**3, mass, density)
    factor = m / volume * scale**2
    # rounding of the sums, and of the coordinates of distant parts or thin walls
    blur = 1 + max(np.abs(low).max(), np.abs(high).max()) / extent.min()
    rounding = float(EPS * blur * sums.total_second * factor)
    there = [b * Fraction(scale) for b in base]
    shape = at(there, m, spread(about * factor), rounding)
    corners = np.array((faces if sums.volume > 0 else faces[::-1]).T, np.int32, order="C")
    for array in (vertices, corners):
        array.setflags(write=False)
    return with_surface(shape, surface, vertices, corners, scale, kind="mesh")


def surface(vertices: np.ndarray, faces: np.ndarray, scale: float) -> Surface:
    """The mesh itself, in metres."""
    return vertices if scale == 1.0 else vertices * scale, faces


class _Sums(NamedTuple):
    volume: float
    first: np.ndarray
    second: np.ndarray
    total_volume: float  # of |d|
    total_second: float


def integrals(x: np.ndarray, faces: np.ndarray) -> _Sums:
    squares = (x * x).sum(axis=0)
    parts = []
    for start in range(0, faces.shape[1], CHUNK):
        i = faces[:, start : start + CHUNK]
        a, b, c = _corners(x, i)
        d, s = _determinant(a, b, c), a + b + c
        moment = d * s
        second = moment @ s.T
        for corner in (a, b, c):
            second += (d * corner) @ corner.T
        size = np.abs(d)
        total_second = size * ((s * s).sum(axis=0) + squares.take(i).sum(axis=0))
        parts.append((d.sum(), moment.sum(axis=1), second, size.sum(), total_second.sum()))
    volume, first, second, total, total_second = (
        np.sum(part, axis=0) for part in zip(*parts, strict=True)
    )
    second = (second + second.T) / 240
    return _Sums(float(volume) / 6, first / 24, second, float(total) / 6, float(total_second) / 120)


def _corners(x: np.ndarray, faces: np.ndarray) -> list[np.ndarray]:
    return [x.take(index, axis=1) for index in faces]


def _determinant(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return a · (b × c), from rows of components."""
    return (
        a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
    )


# ---- reading meshes
def _arrays(mesh: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices (n, 3), and faces in columns, (3, k)."""
    if isinstance(mesh, (str, os.PathLike)):
        mesh = _read(Path(mesh))
    if hasattr(mesh, "vertices") and hasattr(mesh, "faces"):
        mesh = mesh.vertices, mesh.faces
    try:
        given, indices = mesh
        vertices, faces = np.array(given, dtype=float), np.asarray(indices)
    except (TypeError, ValueError):
        raise InputError(
            f"mesh must be a file, a pair (vertices, faces), or an object with them, got {mesh!r}"
        ) from None
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise InputError(f"vertices must be rows of three numbers, got shape {vertices.shape}")
    if not np.isfinite(vertices).all():
        row = int(np.flatnonzero(~np.isfinite(vertices).all(axis=1))[0])
        raise InputError(f"vertices must be finite, got {vertices[row].tolist()} in row {row}")
    if faces.ndim != 2 or faces.shape[1] != 3 or not np.issubdtype(faces.dtype, np.integer):
        raise InputError(
            "faces must be rows of three whole numbers, the indices of vertices, got"
            f" {faces.dtype} of shape {faces.shape}; split faces with more corners into triangles"
        )
    if len(faces) < 4:
        raise InputError(f"a closed mesh has at least 4 faces, got {len(faces)}")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise InputError(
            f"faces must be indices from 0 to {len(vertices) - 1}, got {faces.min()} to"
            f" {faces.max()}; some files count from 1"
        )
    return vertices, np.ascontiguousarray(faces.T, dtype=np.int64)


def _read(path: Path) -> Any:
    if path.suffix.lower() not in SUFFIXES:
        raise FileError(f"mesh must be a file ending in {', '.join(SUFFIXES)}, got {str(path)!r}")
    if not path.is_file():
        raise FileError(f"there is no file {str(path)!r}")
    try:
        import trimesh
    except ImportError:
        raise FileError(
            f"reading {path.name!r} needs trimesh: pip install 'polhode[mesh]'; or give mesh as"
            " arrays (vertices, faces)"
        ) from None
    try:
        return trimesh.load_mesh(path, process=False)
    except Exception as error:  # a reader may raise anything on a broken file
        raise FileError(f"{str(path)!r} cannot be read as a mesh: {error}") from error


# ---- closed and consistently oriented
def _closed(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return (vertices, faces, original vertex indices); refuse a mesh that is not closed."""
    apart = len(vertices) == faces.size  # no two faces share a vertex
    if not apart and is_balanced(faces, len(vertices)):
        return vertices, faces, np.arange(len(vertices))
    number, place = _same(vertices)
    vertices, faces = vertices[number], place[faces]
    if is_balanced(faces, len(vertices)):
        return vertices, faces, number
    edges = _edges(faces)
    key = np.minimum(*edges) * len(vertices) + np.maximum(*edges)
    _, first, place, count = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    net = np.bincount(place, np.sign(edges[1] - edges[0]))
    open_ = np.flatnonzero(count % 2 * (net != 0))
    if len(open_):
        ends = edges[:, first[open_[0]]]
        raise InputError(
            f"mesh is not closed: {_counted(len(open_))} of {len(count)} belong to an odd number of"
            f" faces, such as that {_between(vertices, number, ends)}; fill its holes, or merge"
            " vertices that nearly coincide"
        )
    wrong = np.flatnonzero(net)
    ends = edges[:, first[wrong[0]]]
    raise InputError(
        f"the faces of mesh are not turned one way: {_counted(len(wrong))} of {len(count)} are"
        f" passed twice in the same direction, such as that {_between(vertices, number, ends)};"
        " turn faces so that all are counterclockwise from outside"
    )


def _counted(edges: int) -> str:
    return "1 edge" if edges == 1 else f"{edges} edges"


def _between(vertices: np.ndarray, number: np.ndarray, ends: np.ndarray) -> str:
    i, j = ends
    return (
        f"between vertices {number[i]} at {vertices[i].tolist()} and {number[j]} at"
        f" {vertices[j].tolist()}"
    )


def _edges(faces: np.ndarray) -> np.ndarray:
    """Return (from, to) of every edge of every face."""
    a, b, c = faces
    return np.array([np.concatenate((a, b, c)), np.concatenate((b, c, a))])


def is_balanced(faces: np.ndarray, n: int) -> bool:
    start, end = _edges(faces)
    there, back = start * n + end, end * n + start
    there.sort()
    back.sort()
    return np.array_equal(there, back)


def _same(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (first, place): ``first[place[k]]`` is the first vertex where vertex k lies."""
    rows = vertices + 0.0  # -0 is 0
    bits = np.uint64(len(rows).bit_length())
    for salt in range(4):  # sorting keys that end in the index is faster than sorting indices
        key = _mixed(rows, salt) >> bits << bits | np.arange(len(rows), dtype=np.uint64)
        key.sort()
        order = (key & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
        new = np.append(True, np.diff(key >> bits) != 0)
        leads = np.zeros(len(rows), bool)
        leads[order[new]] = True
        first, place = np.flatnonzero(leads), np.empty(len(rows), np.int64)
        rank = np.cumsum(leads) - 1  # in the order of the mesh, where neighbours are close together
        place[order] = rank[order[new]][np.cumsum(new) - 1]
        if np.array_equal(rows[first][place], rows):  # no keys collided
            return first, place
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


def _mixed(rows: np.ndarray, salt: int) -> np.ndarray:
    """Return a 64-bit hash of each row, by splitmix64."""
    key = np.full(len(rows), salt, np.uint64)
    for bits in rows.view(np.uint64).T:
        key = (key ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        key ^= key >> np.uint64(31)
    return key


# ---- solids outside, hollows inside
def _nested(x: np.ndarray, faces: np.ndarray, number: np.ndarray) -> None:
    """Refuse a solid inside another, or a hollow outside: its volume would have the wrong sign."""
    surfaces = split_surfaces(x.shape[1], faces)
    if len(surfaces) == 1:
        return
    volumes = [float(_determinant(*_corners(x, part)).sum()) for part in surfaces]
    outward = np.sign(sum(volumes))
    low = np.array([x[:, part].min(axis=(1, 2)) for part in surfaces])
    high = np.array([x[:, part].max(axis=(1, 2)) for part in surfaces])
    for k, part in enumerate(surfaces):
        point = x[:, part[0, 0]]
        around = np.flatnonzero(((low <= point) & (point <= high)).all(axis=1))
        turns = outward * sum(_winding(x, surfaces[i], point) for i in around if i != k)
        if abs(turns - round(turns)) > 0.01:  # they touch
            continue
        if volumes[k] * outward > 0 and round(turns) != 0:
            what = "lies inside another and is turned the same way, so that its volume counts twice"
            remedy = "turn its faces over if it is a hollow, or leave it out"
        elif volumes[k] * outward < 0 and round(turns) != 1:
            what = "is turned inside out, but no hollow of another"
            remedy = "turn its faces over"
        else:
            continue
        raise InputError(
            f"the surface of mesh with vertex {number[part[0, 0]]}, one of {len(surfaces)}, {what};"
            f" {remedy}"
        )


def split_surfaces(n: int, faces: np.ndarray) -> list[np.ndarray]:
    """Return the faces of each connected surface."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    a, b, c = faces
    pairs = np.concatenate((a, b)), np.concatenate((b, c))
    graph = csr_array((np.ones(2 * len(a), np.int8), pairs), shape=(n, n))
    label = connected_components(graph, directed=False)[1]
    of = label[a]
    if (of == of[0]).all():
        return [faces]
    order = np.argsort(of, kind="stable")
    return np.split(faces[:, order], np.flatnonzero(np.diff(of[order])) + 1, axis=1)


def _winding(x: np.ndarray, faces: np.ndarray, point: np.ndarray) -> float:
    """Return the winding number of a surface around a point: the solid angle of its faces over 4π.

    tan(Ω/2) = a · (b × c)/(abc + (a·b) c + (b·c) a + (c·a) b), van Oosterom and Strackee 1983.
    """
    a, b, c = (corner - point[:, None] for corner in _corners(x, faces))
    u, v, w = (np.sqrt((r * r).sum(axis=0)) for r in (a, b, c))
    below = u * v * w + (a * b).sum(axis=0) * w + (b * c).sum(axis=0) * u + (c * a).sum(axis=0) * v
    return float(np.arctan2(_determinant(a, b, c), below).sum()) / (2 * np.pi)
