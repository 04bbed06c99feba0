"""Count the hops of one call: python design/hops.py [--list NAME]

A hop is a call from one module of the library into another.  Kernels, tableaus, the registries
(methods, models, formulations, integrators, bodies) and the compiler don't count: they are leaves.
Each call is made twice and the second one is counted, when everything is compiled and cached.
``--list NAME`` prints the hops of one call, in order.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import polhode as ph

LEAVES = ("kernels", "tableaus", "methods", "models", "formulations", "integrators", "body",
          "compiler", "_tree", "_compile", "_simd", "_vector")  # fmt: skip
LIMITS = {
    "solve with a map": 20,
    "solve, adaptive": 20,
    "solve, adaptive, t_eval": 30,
    "solve, auto with dt": 30,
    "solve_ensemble": 60,
    "resume a run": 40,
    "resume an ensemble": 40,
}


def room(frame: FrameType | None) -> str | None:
    """The module of a frame, if it is one of the library's that counts."""
    name = "" if frame is None else frame.f_globals.get("__name__", "")
    parts = name.split(".")
    return name if parts[0] == "polhode" and len(parts) > 1 and parts[1] not in LEAVES else None


def hops(call: Callable[[], Any]) -> list[str]:
    """The calls from module to module while ``call`` runs."""
    found: list[str] = []

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            caller, callee = room(frame.f_back), room(frame)
            if caller and callee and caller != callee:
                found.append(f"{caller} -> {callee}.{frame.f_code.co_name}")

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def calls(place: Path) -> dict[str, Callable[[], Any]]:
    top, times = ph.problems.fast_top(), np.linspace(0.0, 1.0, 5)
    spins = {"omega": ph.distributions.Normal([0.0, 0.0, 50.0], 0.5)}
    many = {"members": 100, "vary": spins, "seed": 1, "method": "mr2", "dt": 1e-2}
    run, ensemble = place / "run.ckpt", place / "many.ckpt"
    ph.solve(top, (0, 1), method="mr2", dt=1e-2, checkpoint=run)
    ph.solve_ensemble(top, (0, 1), **many, checkpoint=ensemble)
    return {
        "solve with a map": lambda: ph.solve(top, (0, 1), method="mr2", dt=1e-2),
        "solve, adaptive": lambda: ph.solve(top, (0, 1), method="dop853", rtol=1e-9),
        "solve, adaptive, t_eval": lambda: ph.solve(top, (0, 1), rtol=1e-9, t_eval=times),
        "solve, auto with dt": lambda: ph.solve(top, (0, 1), dt=1e-2),
        "solve_ensemble": lambda: ph.solve_ensemble(top, (0, 1), **many),
        "resume a run": lambda: ph.resume(run),
        "resume an ensemble": lambda: ph.resume(ensemble),
    }


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--list", metavar="NAME", help="print the hops of this call")
    options = asked.parse_args()
    with tempfile.TemporaryDirectory() as place:
        for name, call in calls(Path(place)).items():
            if options.list not in (None, name):
                continue
            call()
            found = hops(call)
            print(f"{name}: {len(found)} hops, at most {LIMITS[name]}")
            if options.list:
                print("\n".join(found))


if __name__ == "__main__":
    main()
