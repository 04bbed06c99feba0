"""``Geometry``: the surface of a body as triangles, for pictures.  No motion depends on it.

A shape does not hold its triangles, only how they are made: parts, each a function with its sizes,
then turned, moved, and turned inside out if it is a hole.  The triangles are made when somebody
asks for them.  Parts are put side by side; where they overlap, nothing is cut.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError

KINDS = "mesh", "shapes"
SYMBOL = "symbol"  # the kind of a part without a size of its own
MOST = 2**31 - 1  # vertices: faces are 32-bit integers

Surface = tuple[np.ndarray, np.ndarray]  # vertices (n, 3), faces (k, 3)


@dataclass(frozen=True, eq=False, repr=False)
class Geometry:
    """Triangles of a body, in the coordinates in which it was described.

    Parameters
    ----------
    vertices : (n, 3) points (m)
    faces : (k, 3) indices of vertices, counterclockwise from outside
    kind : "mesh", or "shapes" if it was made from shapes of ``ph.shapes``

    The arrays are read-only, of 64-bit floats and 32-bit integers.  The surface need not be closed.

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.RigidBody.from_shapes(ph.shapes.box([0.3, 0.2, 0.1], mass=1.0))
    >>> body.geometry.kind, body.geometry.faces.shape
    ('shapes', (12, 3))
    """

    vertices: np.ndarray
    faces: np.ndarray
    kind: str = "mesh"

    def __post_init__(self):
        if self.kind not in KINDS:
            raise InputError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        vertices = _checked_vertices(self.vertices)
        faces = _checked_faces(self.faces, len(vertices))
        for name, array in (("vertices", vertices), ("faces", faces)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        return f"Geometry({self.kind}: {len(self.vertices)} vertices, {len(self.faces)} faces)"

    def __reduce__(self) -> tuple:
        return Geometry, (self.vertices, self.faces, self.kind)  # read-only again in its new place


def geometry_of(given: Any) -> Geometry:
    """Return what a user gives as a geometry: a ``Geometry``, a pair, or an object with both."""
    if isinstance(given, Geometry):
        return given
    if hasattr(given, "vertices") and hasattr(given, "faces"):
        given = given.vertices, given.faces
    try:
        vertices, faces = given
    except (TypeError, ValueError):
        raise InputError(
            "geometry must be a Geometry, a pair (vertices, faces), or an object with these, got"
            f" {given!r}; RigidBody.from_mesh reads files"
        ) from None
    return Geometry(vertices, faces)


def _checked_vertices(given: Any) -> np.ndarray:
    try:
        vertices = _own(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        raise InputError(f"vertices must be rows of three numbers, got {given!r}") from None
    if vertices.ndim != 2 or vertices.shape[1] != 3 or len(vertices) > MOST:
        raise InputError(
            f"vertices must be at most {MOST} rows of three numbers, got shape {vertices.shape}"
        )
    if not np.isfinite(vertices).all():
        row = int(np.flatnonzero(~np.isfinite(vertices).all(axis=1))[0])
        raise InputError(f"vertices must be finite, got {vertices[row].tolist()} in row {row}")
    return vertices


def _checked_faces(given: Any, count: int) -> np.ndarray:
    try:
        faces = np.asarray(given)
    except (TypeError, ValueError):
        raise InputError(f"faces must be rows of three whole numbers, got {given!r}") from None
    if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu" or not len(faces):
        raise InputError(
            "faces must be rows of three whole numbers, the indices of vertices, got"
            f" {faces.dtype} of shape {faces.shape}"
        )
    wrong = (faces < 0) | (faces >= count)
    if wrong.any():
        row = int(np.flatnonzero(wrong.any(axis=1))[0])
        raise InputError(
            f"faces must be indices of vertices, 0 to {count - 1}, got {faces[row].tolist()} in"
            f" row {row}"
        )
    return _own(np.asarray(faces, dtype=np.int32))


def _own(array: np.ndarray) -> np.ndarray:
    """Return an array that nobody else can write to: a copy, unless it is read-only already."""
    fixed = not array.flags.writeable and array.base is None and array.flags.c_contiguous
    return array if fixed else np.array(array, order="C")


# ---- parts
class Part(NamedTuple):
    """A surface as it is described: ``make(*sizes)``, then turned, then moved.

    The function of a ``SYMBOL`` takes one size more, the extent of the whole body.
    """

    make: Callable[..., Surface]
    sizes: tuple
    kind: str
    turn: np.ndarray | None = None
    by: np.ndarray | None = None
    hole: bool = False

    def moved(self, by: np.ndarray) -> "Part":
        return self._replace(by=by if self.by is None else self.by + by)

    def turned(self, turn: np.ndarray) -> "Part":
        return self._replace(
            turn=turn if self.turn is None else turn @ self.turn,
            by=None if self.by is None else turn @ self.by,
        )

    def cut(self) -> "Part":
        """Return the part as a hole, and a hole as a part."""
        return self._replace(hole=not self.hole)

    def surface(self, *extent: float) -> Surface:
        vertices, faces = self.make(*self.sizes, *extent)
        if self.turn is not None:
            vertices = vertices @ self.turn.T
        if self.by is not None:
            vertices = vertices + self.by
        return vertices, faces[:, ::-1] if self.hole else faces


def assemble(parts: Sequence[Part]) -> Geometry | None:
    """Return the surfaces of all parts side by side; None if there are no parts.

    The extent is the diagonal of the box around everything that has a place: surfaces, points, and
    the ends of rods.  A point alone has none, and gets 1 m.
    """
    if not parts:
        return None
    found = [part.surface(0.0) if part.kind == SYMBOL else part.surface() for part in parts]
    if any(part.kind == SYMBOL for part in parts):
        low = np.min([vertices.min(axis=0) for vertices, _ in found], axis=0)
        high = np.max([vertices.max(axis=0) for vertices, _ in found], axis=0)
        extent = float(np.linalg.norm(high - low)) or 1.0
        found = [
            part.surface(extent) if part.kind == SYMBOL else known
            for part, known in zip(parts, found, strict=True)
        ]
    kind = "mesh" if all(part.kind == "mesh" for part in parts) else "shapes"
    return Geometry(*side_by_side(*found), kind)


def side_by_side(*surfaces: Surface) -> Surface:
    """Return several surfaces as one."""
    if len(surfaces) == 1:
        return surfaces[0]
    before = np.cumsum([0, *(len(vertices) for vertices, _ in surfaces[:-1])])
    faces = [faces + np.int64(first) for first, (_, faces) in zip(before, surfaces, strict=True)]
    return np.concatenate([vertices for vertices, _ in surfaces]), np.concatenate(faces)


def inside_out(surface: Surface) -> Surface:
    """Return a surface with its faces reversed, as that of a hole."""
    vertices, faces = surface
    return vertices, faces[:, ::-1]
