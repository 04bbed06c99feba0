"""Pages of the viewer.

The size of the page of a run, the CPU time to write it, its keyframes, and by how much the motion
between them misses the rows of the run.  A run of 100 000 rows must fit into 150 kB, and any page
into 2 MB.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import polhode as ph
from polhode.bench.mesh import wavy
from polhode.bench.records import Bench, Finding, Key, Settings, Table, at_most
from polhode.bench.timing import round_robin
from polhode.view import packing
from polhode.view.keyframes import angle_apart, between, rows_of

LONG, MESHED = "fast top", "mesh of a million triangles"
COLUMNS = {
    "case": "run",
    "rows": "rows",
    "turns": "turns",
    "keyframes": "keyframes",
    "size": "kB",
    "time": "s",
    "missed": "missed by, rad",
}


def cases(rows: int, triangles: int) -> dict[str, Any]:
    """Return the runs to show."""
    top = ph.problems.fast_top()
    body = ph.RigidBody.from_mesh(wavy(round((triangles / 2) ** 0.5)), density=1000.0)
    tumbling = ph.Problem(body, omega=[0.3, 2.0, 0.1])
    return {
        LONG: ph.solve(top, (0, 1e-3 * rows), method="strang4", dt=1e-3),
        "  adaptive steps": ph.solve(top, (0, 1e-3 * rows), method="extrapolation", rtol=1e-10),
        "tennis racket": ph.solve(ph.problems.tennis_racket(), (0, 20), dt=0.01),
        MESHED: ph.solve(tumbling, (0, 20), dt=0.01),
    }


def missed(run: Any, packed: packing.Packed) -> float:
    """Return the largest angle between the rows of a run and the motion between its keyframes."""
    (entry,) = packed.header["runs"]
    (t, q, omega) = (
        np.frombuffer(packed.data, f"<{kind}", entry[name][1], entry[name][0]).reshape(-1, width)
        for name, kind, width in (("t", "f8", 1), ("q", "f4", 4), ("omega", "f4", 3))
    )
    rows = rows_of(run)
    return float(angle_apart(between(t.ravel(), q, omega, rows.t)[0], rows.q).max())


@Bench(
    name="viewer",
    place=190,
    summary="size of the viewer's pages, and the time to write them",
    repeats=5,
    keys={"rows": Key("1e5", "rows of the long run"), "triangles": Key("1e6", "of the mesh")},
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    runs = cases(settings.count("rows", quick=2000), settings.count("triangles", quick=50_000))
    with TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        calls = {name: (lambda run=run: run.save_html(page), 1) for name, run in runs.items()}
        times = round_robin(calls, settings.repeats)
        sizes = {name: run.save_html(page).stat().st_size for name, run in runs.items()}
    rows = []
    for name, run in runs.items():
        packed = packing.pack(run, packing.Options())
        (entry,) = packed.header["runs"]
        found = len(run), entry["turns"], entry["t"][1], sizes[name] / 1e3
        rows.append((name, *found, times[name].minimum / 1e9, missed(run, packed)))
    yield Table.of("Pages of the viewer", COLUMNS, rows, bars="size")
    yield at_most(f"page of {LONG}, kB", sizes[LONG] / 1e3, 150.0)
    yield at_most(f"page with a {MESHED}, kB", sizes[MESHED] / 1e3, 2000.0)
    yield at_most(f"time to write the page of {LONG}, s", times[LONG].minimum / 1e9, 2.0)
    yield at_most("rows missed by, rad", max(row[-1] for row in rows), packing.TOLERANCE)
