"""Measurements for table 1 of Fukushima (1995): times of evaluations, as ratios."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache, partial
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

from polhode import loops
from polhode.compiler.machine import CompiledOrPlain
from polhode.contracts import Coordinates, slope
from polhode.integrators import INTEGRATORS
from polhode.integrators._runge_kutta import moved
from polhode.loops.join import BoundIntegrator
from polhode.papers.fukushima1995.laboratory import (
    ANDOYER,
    BODIES,
    EARTH,
    ENCKE,
    EULER,
    NEW,
    SCHEMES,
    Laboratory,
    enter,
    formulation,
)
from polhode.papers.verdicts import Measured, holds_if

SOURCE = Path(__file__).with_name("clock.c")
DOUBLE = "-DREAL=double", "-DSIN=sin", "-DCOS=cos", "-DNUMBER(x)=x", "-include", "math.h"
QUADRUPLE = "-DQUADRUPLE", "-DREAL=__float128", "-DSIN=sinq", "-DCOS=cosq", "-DNUMBER(x)=x##Q"
STORED = 110.0, 138.0  # quadruple over double of clock.c, gcc -O2 on x86-64


# ---- loops in which every turn needs the one before, so that nothing is hoisted out of them
def leaving(t, y, body):
    """Return the place of the variables' ``leave``."""
    raise NotImplementedError


def orientations(y, body, params, count):
    rate = slope(0.0, y, body, params)
    for k in range(count):
        q, _ = leaving(0.0078125 * k, y, body)
        y = moved(y, 1e-9 * q[0], rate)
    return y


def equations(y, body, params, count):
    for k in range(count):
        y = moved(y, 1e-9, slope(0.0078125 * k, y, body, params))
    return y


@cache
def clocks(quick: bool) -> dict[str, list[float]]:
    """Seconds of an attitude and of the equations of motion, the least of interleaved repeats."""
    problem = BODIES[EARTH]
    count, repeats = (300, 5) if quick else (50_000, 11)
    timed: dict[str, list[Callable[[int], object]]] = {}
    for scheme in (NEW, EULER, ANDOYER, ENCKE):
        variables = formulation(SCHEMES[scheme])
        assert isinstance(variables, Coordinates)
        parts = BoundIntegrator(INTEGRATORS["rk4"], variables, problem.model, True, plain=True)
        layers = {**parts.layers[0], **parts.layers[1], leaving: variables.leave}
        arguments = *enter(problem, variables), problem.model.params
        timed[scheme] = []
        for template in (orientations, equations):
            loop: Any = loops.bound(template, layers, parts.layers[2])
            loop = loop if quick else CompiledOrPlain(loop, "the torque")
            loop(*arguments, 1)
            timed[scheme].append(partial(loop, *arguments))
    least = {scheme: [inf, inf] for scheme in timed}
    for _ in range(repeats):
        for scheme, pair in timed.items():
            for k, run in enumerate(pair):
                begin = perf_counter()
                run(count)
                least[scheme][k] = min(least[scheme][k], (perf_counter() - begin) / count)
    return least


def ratios(lab: Laboratory, scheme: str) -> tuple[float, float]:
    """Times in those of Euler's angles: (of the attitude, of the equations)."""
    found = clocks(lab.quick)
    (a, b), (c, d) = found[scheme], found[EULER]
    return a / c, b / d


# ---- quadruple precision
def quadruple() -> tuple[tuple[float, float], str]:
    """Times of quadruple over double precision, (of E, of the equations), and their source."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return STORED, "no C compiler here; stored numbers of clock.c by gcc -O2 on x86-64"
    try:
        with tempfile.TemporaryDirectory() as folder:
            times = []
            for options in (DOUBLE, QUADRUPLE):
                program = str(Path(folder) / options[0][2:])
                words = compiler, "-O2", *options, str(SOURCE), "-o", program, "-lquadmath", "-lm"
                subprocess.run(words, check=True, capture_output=True)
                out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
                times.append([float(word) for word in out.split()])
    except (subprocess.CalledProcessError, OSError):
        return STORED, "no libquadmath here; stored numbers of clock.c by gcc -O2 on x86-64"
    (a, b), (c, d) = times
    return (c / a, d / b), "clock.c by gcc -O2"


def thirty_times(_: Laboratory) -> Measured:
    found, whence = quadruple()
    return holds_if(min(found) > 15 and max(found) < 60, *found, whence)


# ---- table 1
def no_difference(lab: Laboratory) -> Measured:
    new = ratios(lab, NEW)
    return holds_if(max(new) < 1.2, lab.form, *new, *ratios(lab, ENCKE))


def andoyer_slower(lab: Laboratory) -> Measured:
    found = ratios(lab, ANDOYER)
    return holds_if(min(found) > 1, lab.form, *found)
