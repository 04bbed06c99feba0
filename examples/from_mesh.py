"""From a mesh to a tumbling body: write an STL file of a hollow ring, weigh it, throw it.

The mesh is what a CAD program exports: triangles in millimetres, all corners repeated.  Its
mass and moments approach those of the true ring as 1/n², with n facets around it; the solid
between the facets is integrated exactly.
"""

import struct
from pathlib import Path

import numpy as np

import polhode as ph

RADIUS, TUBE, WALL = 80.0, 20.0, 2.0  # mm
STEEL = 7800.0  # kg/m³


def ring(radius, tube, n, m):
    """Return (vertices, faces) of a torus, counterclockwise seen from outside."""
    u, v = (k.ravel() for k in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    a, b = 2 * np.pi * u / n, 2 * np.pi * v / m
    r = radius + tube * np.cos(b)
    vertices = np.stack([r * np.cos(a), r * np.sin(a), tube * np.sin(b)], axis=1)
    i, j, k, l = ((u + du) % n * m + (v + dv) % m for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1)))  # noqa: E741
    return vertices, np.concatenate([np.stack((i, j, k), 1), np.stack((i, k, l), 1)])


def write_stl(path, triangles):
    """Write binary STL: for each triangle a normal (left 0), three corners, two bytes."""
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    rows = np.zeros(len(triangles), record)
    rows["corners"] = triangles
    Path(path).write_bytes(bytes(80) + struct.pack("<I", len(rows)) + rows.tobytes())


outer, faces = ring(RADIUS, TUBE, 240, 120)
inner, _ = ring(RADIUS, TUBE - WALL, 240, 120)
hollow = np.concatenate([outer[faces], inner[faces[:, ::-1]]])  # the inner surface faces inwards
off_centre = hollow + np.array([500.0, 200.0, -100.0])  # like a part in an assembly
write_stl("ring.stl", off_centre)

body = ph.RigidBody.from_mesh("ring.stl", density=STEEL, scale=1e-3)
exact = ph.shapes.torus(0.08, 0.02, density=STEEL) - ph.shapes.torus(0.08, 0.018, density=STEEL)
print(f"mass {body.mass:.6f} kg, of the true ring {exact.mass:.6f} kg")
print("moments", body.principal_moments, "against", np.diag(exact.inertia))
assert abs(body.mass / exact.mass - 1) < 2e-3
assert np.allclose(body.centre, [0.5, 0.2, -0.1], atol=1e-8)

problem = ph.Problem(body, omega=[0.5, 0.0, 12.0], name="ring")
run = ph.solve(problem, (0, 5))
print(run)
rim = run.point_position([0.1, 0.0, 0.0])
speed = np.linalg.norm(run.point_velocity([0.1, 0.0, 0.0]), axis=1)
print(f"the rim moves at {speed.min():.4f} to {speed.max():.4f} m/s")
assert np.allclose(np.linalg.norm(rim, axis=1), 0.1, rtol=1e-12)
run.save("ring.nc")
