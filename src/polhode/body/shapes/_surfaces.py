"""Triangles of the shapes' surfaces: outlines revolved about z, and boxes.

Faces are counterclockwise from outside.  Vertices lie on the surface, so a curved solid is a little
larger than its triangles: by the square of the angle of a segment.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from polhode.body.geometry import Surface

SEGMENTS = 40  # of a turn; a multiple of 4, so that the surface reaches as far as the shape
STEPS = 5  # segments of a turn for each step of a quarter of an arc: a ball has 1200 triangles


def revolved(
    outline: Sequence[Sequence[float]], segments: int = SEGMENTS, closed: bool = False
) -> Surface:
    """The surface that points (r, z) sweep about z: upwards on the outside, inwards on top.

    A ``closed`` outline goes back to its first point.
    """
    turn = 2 * math.pi / segments * np.arange(segments)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    vertices, rings, count = [], [], 0
    for r, z in outline:
        ring = np.column_stack([r * circle, np.full(segments, z)]) if r > 0 else [(0.0, 0.0, z)]
        vertices.append(np.array(ring))
        rings.append(np.broadcast_to(np.arange(count, count + len(ring)), segments))
        count += len(ring)
    faces = []
    for a, b in pairwise([*rings, rings[0]] if closed else rings):
        after, beyond = np.roll(a, -1), np.roll(b, -1)
        faces += [np.column_stack([a, after, beyond]), np.column_stack([a, beyond, b])]
    found = np.concatenate(faces)
    corners = (found != np.roll(found, 1, axis=1)).all(axis=1)  # none twice, as at the poles
    return np.concatenate(vertices), found[corners]


def arc(
    radius: float, start: int, end: int, segments: int, height: float = 0.0
) -> list[tuple[float, float]]:
    """Points (r, z) of a circle about z = height: -1 is below, 0 outside, 1 on top."""
    steps = segments // STEPS * (end - start)
    angles = math.pi / 2 * (start + (end - start) / steps * np.arange(steps + 1))
    r = radius * np.cos(angles)
    r[np.abs(r) < 1e-12 * radius] = 0.0  # the axis, exactly
    return list(zip(r.tolist(), (height + radius * np.sin(angles)).tolist(), strict=True))


def ball(radius: float, segments: int = SEGMENTS) -> Surface:
    return revolved(arc(radius, -1, 1, segments), segments)


def ring(radius: float, tube: float, segments: int = SEGMENTS) -> Surface:
    """A torus, with 3 segments round its tube for 5 round the ring."""
    around = 3 * segments // 5
    turn = 2 * math.pi / around * np.arange(around)
    r, z = np.maximum(radius + tube * np.cos(turn), 0.0), tube * np.sin(turn)
    return revolved(np.column_stack([r, z]).tolist(), segments, closed=True)


def column(radius: float, length: float, segments: int = SEGMENTS) -> Surface:
    """A cylinder with its ends."""
    z = length / 2
    return revolved([(0, -z), (radius, -z), (radius, z), (0, z)], segments)


def cells(planes: Sequence[np.ndarray], full: np.ndarray) -> Surface:
    """The surface of the ``full`` cells between planes across x, y and z."""
    points = np.stack(np.meshgrid(*planes, indexing="ij"), axis=-1)
    number = np.arange(points[..., 0].size).reshape(points.shape[:3])
    faces = []
    for axis in range(3):
        order = axis, (axis + 1) % 3, (axis + 2) % 3
        n, here = number.transpose(order), full.transpose(order).astype(int)
        wall = np.diff(here, axis=0, prepend=0, append=0)  # 1 where solid begins, -1 where it ends
        a, b, c, d = n[:, :-1, :-1], n[:, 1:, :-1], n[:, 1:, 1:], n[:, :-1, 1:]
        for side, quad in ((-1, (a, b, c, d)), (1, (d, c, b, a))):
            i, j, k, m = (corner[wall == side] for corner in quad)
            faces += [np.column_stack([i, j, k]), np.column_stack([i, k, m])]
    return points.reshape(-1, 3), np.concatenate(faces)
