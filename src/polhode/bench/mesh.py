"""Mass properties of meshes.

Seconds of CPU time for a bumpy torus of a million triangles, from arrays with shared vertices, from
arrays where every triangle has its own (as in STL files), and of the parts; and trimesh's
integrals.
"""

from collections.abc import Iterator

import numpy as np

import polhode as ph
from polhode.bench.peers import peer
from polhode.bench.records import Bench, Finding, Key, Settings
from polhode.bench.timing import round_robin, time_table
from polhode.body import mesh as inside


def wavy(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A closed surface around the origin that is not convex: a bumpy torus of 2 n² triangles."""
    u, v = (k.ravel() for k in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    a, b = 2 * np.pi * u / n, 2 * np.pi * v / n
    tube = 1 + 0.2 * np.cos(3 * a + b)
    r = 3 + tube * np.cos(b)
    vertices = np.stack([r * np.cos(a), r * np.sin(a), tube * np.sin(b)], axis=1)
    i, j, k, m = ((u + du) % n * n + (v + dv) % n for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1)))
    return vertices, np.concatenate([np.stack((i, j, k), 1), np.stack((i, k, m), 1)])


@Bench(
    name="mesh",
    place=160,
    summary="mass properties of a mesh of a million triangles",
    needs=("trimesh",),
    repeats=5,
    keys={"triangles": Key("1e6", "number of triangles, about")},
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    triangles = settings.count("triangles", quick=20_000)
    vertices, faces = wavy(round((triangles / 2) ** 0.5))
    soup = vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)
    columns, x = np.ascontiguousarray(faces.T), np.ascontiguousarray(vertices.T)
    calls = {
        "shared vertices": lambda: ph.shapes.mesh((vertices, faces), density=1.0),
        "  closed, one way": lambda: inside.is_balanced(columns, len(vertices)),
        "  surfaces": lambda: inside.split_surfaces(len(vertices), columns),
        "  integrals": lambda: inside.integrals(x, columns),
        "own vertices": lambda: ph.shapes.mesh(soup, density=1.0),
    }
    trimesh = peer("trimesh")
    if trimesh is not None:
        calls["trimesh, integrals alone"] = lambda: trimesh.triangles.mass_properties(
            vertices[faces], density=1.0
        )
    times = round_robin({name: (call, 1) for name, call in calls.items()}, settings.repeats)
    yield time_table("Mass properties", f"{len(faces)} triangles", times, "s")
