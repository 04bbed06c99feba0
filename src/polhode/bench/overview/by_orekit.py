"""Orekit by way of JPype: Hipparchus' integrators, and for a free body Orekit's own closed form.

Orekit does not integrate attitudes: its attitude laws are formulas, and its propagators integrate
orbits, with equations of the user beside them.  Those who integrate an attitude use the integrators
of Hipparchus, the mathematics below Orekit.  The right-hand sides are in Java (``Slopes.java``) if
there is a compiler, ``javac``; otherwise in Python, called from Java.
"""

import atexit
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from polhode.bench.engines.tumbling import INERTIA as OF_FREE
from polhode.bench.overview.cases import (
    FREE,
    INERTIA,
    MOMENTS,
    RATE,
    SATELLITE,
    TOP,
    WEIGHT,
    Case,
    Run,
    decades,
)
from polhode.bench.peers import installed, peer
from polhode.problems import given_motions as motions

NAMES = {FREE: "Free", TOP: "Top", SATELLITE: "Satellite"}
WARM = 30  # calls before timing, for the compiler of the virtual machine


@cache
def machine() -> Any:
    """Start the virtual machine with our classes, and return JPype; None where there is none."""
    orekit, jpype = peer("Orekit"), installed("jpype")
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)  # classes are loaded when they are needed
    if shutil.which("javac"):
        jars = str(Path(orekit.__file__).with_name("jars") / "*")
        source = str(Path(__file__).with_name("Slopes.java"))
        options = "--release", "11", "-encoding", "UTF-8", "-cp", jars, "-d", folder.name
        subprocess.run(["javac", *options, source], check=True)
    try:
        orekit.initVM(additional_classpaths=[folder.name])
    except (jpype.JVMNotFoundException, OSError, RuntimeError):
        return None
    return jpype


def numbers(case: Case) -> tuple[float, ...]:
    """What the classes of ``Slopes.java`` are given."""
    of_turning = motions.ORBIT, motions.PRECESSION, motions.OPENING, motions.CONE
    return {
        FREE: OF_FREE,
        TOP: (*MOMENTS, *WEIGHT),
        SATELLITE: (*INERTIA, RATE),
    }.get(case.name, (*of_turning, motions.NUTATION, motions.TILT))


def equations(case: Case) -> tuple[str, Any]:
    """Return the language of the right-hand side, and the right-hand side."""
    jpype = machine()
    array = jpype.JArray(jpype.JDouble)
    if shutil.which("javac"):
        name = NAMES.get(case.name, "Turning")
        return "Java", jpype.JClass(f"Slopes${name}")(array(numbers(case)))
    slope, size = case.slope, len(case.start)

    @jpype.JImplements("org.hipparchus.ode.OrdinaryDifferentialEquation")
    class InPython:
        @jpype.JOverride
        def getDimension(self):
            return size

        @jpype.JOverride
        def init(self, *start):
            pass

        @jpype.JOverride
        def computeDerivatives(self, t, y):
            return array(slope(t, tuple(y)))

    return "Python", InPython()


def by_orekit(case: Case, quick: bool) -> Iterator[Run]:
    jpype = machine()
    if jpype is None:
        return
    if case.name == FREE:
        yield torque_free(case)
    language, slope = equations(case)
    begin = jpype.JClass("org.hipparchus.ode.ODEState")(
        0.0, jpype.JArray(jpype.JDouble)(case.start)
    )
    make = jpype.JClass("org.hipparchus.ode.nonstiff.DormandPrince853Integrator")
    for tolerance in decades(4, 14, quick):
        solver = make(1e-9 * case.end, case.end, tolerance, tolerance)

        def call(solver: Any = solver) -> np.ndarray:
            return np.array(solver.integrate(slope, begin, case.end).getPrimaryState())

        if language == "Java":
            for _ in range(WARM):
                call()
        form = f"DormandPrince853, {language}"
        yield Run("Orekit", form, f"tol {tolerance:.0e}", call, lambda y: y[:4])


def torque_free(case: Case) -> Run:
    """Orekit's closed form of the free body; what it prepares is not timed."""
    java = installed("jpype").JClass
    vector, laws = java("org.hipparchus.geometry.euclidean.threed.Vector3D"), "org.orekit.attitudes"
    rotation = java("org.hipparchus.geometry.euclidean.threed.Rotation")
    date = java("org.orekit.time.AbsoluteDate").ARBITRARY_EPOCH
    frame = java("org.orekit.frames.FramesFactory").getGCRF()
    axes = vector.PLUS_I, vector.PLUS_J, vector.PLUS_K
    axis = java(f"{laws}.InertiaAxis")
    inertia = java(f"{laws}.Inertia")(*(axis(i, v) for i, v in zip(OF_FREE, axes, strict=True)))
    spin, zero = vector(*case.start[4:]), vector.ZERO
    first = java(f"{laws}.Attitude")(date, frame, rotation.IDENTITY, spin, zero)
    law = java(f"{laws}.TorqueFree")(first, inertia)

    def call() -> Any:
        return law.getAttitude(None, date.shiftedBy(case.end), frame).getRotation()

    def read(turn: Any) -> np.ndarray:
        return np.array([turn.getQ0(), turn.getQ1(), turn.getQ2(), turn.getQ3()])

    for _ in range(100 * WARM):
        call()
    return Run("Orekit, closed form", "TorqueFree", "", call, read)
