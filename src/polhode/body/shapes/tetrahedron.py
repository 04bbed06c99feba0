"""The solid between four points."""

from typing import Any

import numpy as np

from polhode.body.geometry import Surface
from polhode.body.inertia import spread
from polhode.body.shape import Shape, weighed, with_surface
from polhode.errors import InputError


def tetrahedron(vertices: Any, *, mass: float | None = None, density: float | None = None) -> Shape:
    """The solid between four points, where they are: S = m/20 Σ rᵢ ⊗ rᵢ from their mean."""
    try:
        points = np.array(vertices, dtype=float)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.shape != (4, 3) or not np.isfinite(points).all():
        raise InputError(f"vertices must be four points of three numbers, got {vertices!r}")
    edges = points - points[0]
    mean = edges.sum(axis=0) / 4
    r = edges - mean
    volume = abs(float(np.linalg.det(edges[1:]))) / 6
    if volume <= 1e-14 * float(np.prod(np.linalg.norm(edges[1:], axis=1))):
        raise InputError(f"vertices lie in one plane, got {points.tolist()}")
    m = weighed(volume, mass, density)
    shape = Shape(m, mean, spread(m / 20 * (r.T @ r))).moved(points[0])
    return with_surface(shape, surface, points)


def surface(points: np.ndarray) -> Surface:
    faces = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    inverted = np.linalg.det(points[1:] - points[0]) < 0
    return points, faces[:, ::-1] if inverted else faces


PLACE = 170
EXAMPLES = ({"vertices": ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.2, 1.0, 0.0), (0.1, 0.3, 0.9))},)
