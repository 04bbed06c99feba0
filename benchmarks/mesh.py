"""Mass properties of meshes: ``python benchmarks/mesh.py``.

Seconds of CPU time for a bumpy torus of a million triangles, from arrays with shared vertices, from
arrays where every triangle has its own (as in STL files), and of the parts; peers where installed.
"""

import sys
from pathlib import Path

import numpy as np

import polhode as ph
from common import installed, parser, round_robin, table
from polhode.body import mesh as inside

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from solids import wavy


def speed(triangles: int, repeats: int) -> str:
    vertices, faces = wavy(round((triangles / 2) ** 0.5))
    soup = vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)
    columns, x = np.ascontiguousarray(faces.T), np.ascontiguousarray(vertices.T)
    calls = {
        "shared vertices": lambda: ph.shapes.mesh((vertices, faces), density=1.0),
        "  closed, one way": lambda: inside._balanced(columns, len(vertices)),
        "  surfaces": lambda: inside._surfaces(len(vertices), columns),
        "  integrals": lambda: inside._integrals(x, columns),
        "own vertices": lambda: ph.shapes.mesh(soup, density=1.0),
    }
    trimesh = installed("trimesh")
    if trimesh is not None:
        calls["trimesh, integrals alone"] = lambda: trimesh.triangles.mass_properties(
            vertices[faces], density=1.0
        )
    times = round_robin({name: (call, 1e9) for name, call in calls.items()}, repeats)
    rows = [{"n": k, "m": v.minimum, "d": v.median} for k, v in times.items()]
    return table([f"{len(faces)} triangles, s", "minimum", "median"], rows)


if __name__ == "__main__":
    asked = parser(__doc__, 5, 1, results=False)
    asked.add_argument("--triangles", type=int, default=1_000_000)
    args = asked.parse_args()
    print(speed(args.triangles, args.repeats))
