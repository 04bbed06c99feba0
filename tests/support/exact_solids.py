"""Solids in exact fractions, and meshes to try."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial import ConvexHull

ULPS = 1e-14  # a few roundings of closed forms without cancellation, relative


# ---- exact
def exactly(points):
    """(mass, centre, second moment about it) of [(mass, point)], in fractions."""
    mass = sum(m for m, _ in points)
    centre = [sum(m * p[k] for m, p in points) / mass for k in range(3)]
    second = [
        [sum(m * (p[j] - centre[j]) * (p[k] - centre[k]) for m, p in points) for k in range(3)]
        for j in range(3)
    ]
    return mass, centre, second


def of_tetrahedron(corners):
    """Ten points with the volume, centre and second moment of a tetrahedron: exact to degree 2."""
    corners = [[Fraction(float(x)) for x in corner] for corner in corners]
    a, b, c = ([x - y for x, y in zip(p, corners[0], strict=True)] for p in corners[1:])
    volume = (
        abs(
            a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
        )
        / 6
    )
    points = [(-volume / 20, p) for p in corners]
    for i in range(4):
        for j in range(i):
            middle = [(x + y) / 2 for x, y in zip(corners[i], corners[j], strict=True)]
            points.append((volume / 5, middle))
    return points


def compare(shape, points, tolerance=ULPS):
    mass, centre, second = exactly(points)
    second = np.array([[float(x) for x in row] for row in second])
    inertia = np.trace(second) * np.eye(3) - second
    assert shape.mass == pytest.approx(float(mass), rel=tolerance)
    size = np.sqrt(np.trace(inertia) / float(mass))
    from_origin = size + max(abs(float(c)) for c in centre)
    assert shape.centre == pytest.approx([float(c) for c in centre], abs=tolerance * from_origin)
    assert np.abs(shape.inertia - inertia).max() <= tolerance * np.abs(inertia).max()


# ---- meshes: (vertices, faces)
CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
SIDES = (
    np.array(["013", "032", "467", "475", "045", "051", "237", "276", "026", "064", "157", "173"])
    .reshape(-1, 1)
    .view("U1")
    .astype(int)
)


def block(size, centre=(0, 0, 0)):
    return (CUBE - 0.5) * size + centre, SIDES


def together(*meshes):
    vertices, faces, n = [], [], 0
    for points, triangles in meshes:
        vertices.append(points)
        faces.append(triangles + n)
        n += len(points)
    return np.concatenate(vertices), np.concatenate(faces)


def over(mesh):
    return mesh[0], mesh[1][:, ::-1]


def hull(points):
    """The mesh of a convex hull, all faces counterclockwise from outside."""
    found = ConvexHull(points)
    faces = found.simplices.copy()
    a, b, c = (points[faces[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    return points, faces


def surface(points, tetrahedra):
    """The faces that tetrahedra do not share, counterclockwise from outside."""
    edges = points[tetrahedra[:, 1:]] - points[tetrahedra[:, :1]]
    left = np.linalg.det(edges) < 0
    tetrahedra[left, :2] = tetrahedra[left, 1::-1]
    sides = tetrahedra[:, [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]].reshape(-1, 3)
    _, place, count = np.unique(
        np.sort(sides, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    return points, sides[count[place.ravel()] == 1]
