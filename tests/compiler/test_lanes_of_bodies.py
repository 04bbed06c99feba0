"""Numbers in as many lanes as hold bodies: in each lane, the bits of one number."""

import math
import os
import subprocess
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest

from polhode.compiler.four import (
    BODIES,
    at_once,
    column,
    columns,
    combined_fours,
    of_bodies,
    put_column,
    put_columns,
    where,
)
from polhode.compiler.machine import blend, combined, compiled, finite, fma, mask, rint
from polhode.compiler.tree import bind
from polhode.kernels.powers import power
from polhode.kernels.trig import sincos1
from support import extra_methods
from support.bits import EXACT


@pytest.fixture(scope="module", autouse=True)
def compiled_here():
    with extra_methods.no_disk_cache():
        yield


def branched(x, y):
    return (x - y, 1.0) if x > y else (y, 0.0)


def operations(x, y):
    """What the loops of bodies use; the result is a tuple of numbers."""
    s, c = sincos1(x)
    return (
        x + 2.0 * y - 1,
        1.0 / y + abs(-x),
        fma(x, y, 0.1),
        blend(mask((x < y) & (y != 1.0)), x, y),
        blend(mask((x >= y) | (y == 1.0)), 0.5, x),
        max(x, y, 0.25),
        min(x, y),
        rint(3.0 * x),
        x**3,
        abs(x) ** 0.5,
        math.sqrt(abs(x)) + math.exp(-abs(y)) + math.atan2(x, y),
        power(abs(x), -0.125),
        s + c,
        *combined((0.3, x), ((x, y), (y, 1.0))),
    )


@pytest.mark.parametrize("function", [operations, branched])
def test_a_lane_has_the_bits_of_one_number(function, rng):
    def in_lanes(array, out):
        put_columns(out, 0, BODIES, at_once(function, columns(array, 0, BODIES, (0.0, 0.0)), ()))

    def alone(array, out):
        for lane in range(BODIES):
            x, y = column(array, lane, BODIES, (0.0, 0.0))
            put_column(out, lane, BODIES, function(x, y))

    many = bind(in_lanes, {combined: combined_fours}) if function is operations else in_lanes
    machine, single = compiled(many), compiled(alone)
    for scale in (1.0, 1e-200, 1e150):
        array = scale * rng.normal(size=2 * BODIES)
        found, right = np.zeros((2, 20 * BODIES))
        machine(array, found)
        single(array, right)
        assert found.tobytes() == right.tobytes()
        assert np.count_nonzero(right) > BODIES


def test_choices_and_broadcasts():
    def chosen(array, out):
        x, y = columns(array, 0, BODIES, (0.0, 0.0))
        both = where(x < y, (x, of_bodies(7.0)), (y, x))
        put_columns(out, 0, BODIES, (*both, where(x - x, y, x)))
        out[3 * BODIES] = 1.0 if finite((x, y)) else 0.0

    array = np.concatenate([np.arange(BODIES), np.full(BODIES, 2.0)])
    x, y = np.split(array, 2)
    run = compiled(chosen)
    for function in (run, bind(chosen, EXACT)):
        out = np.zeros(3 * BODIES + 1)
        function(array, out)
        right = [*np.minimum(x, y), *np.where(x < y, 7.0, x), *x, 1.0]
        assert out.tolist() == right
    array[BODIES - 1] = math.inf
    run(array, out)
    assert out[-1] == 0.0


PROGRAM = """
import hashlib
import polhode as ph
from polhode.compiler.four import BODIES
top = ph.Problem(ph.RigidBody([2.0, 3.0, 4.5]), ph.models.heavy_top(20.0), omega=[2.0, 3.0, 10.0])
sphere = ph.distributions.OnSphere(8.0)
print(BODIES)
run = ph.solve_ensemble(
    top, (0, 2), members=21, vary={"omega": sphere}, seed=3, rtol=1e-8, save=[1, 2]
)
print(hashlib.sha256(run.q.tobytes()).hexdigest())
"""


@pytest.mark.skipif(BODIES == 4, reason="a processor without AVX-512")
def test_narrow_registers_give_the_same_bits():
    features = llvm.get_host_cpu_features().flatten().split(",")
    narrow = ",".join(f"-{f[1:]}" if "avx512" in f or "avx10" in f else f for f in features)
    found = []
    for asked in ({}, {"NUMBA_CPU_FEATURES": narrow}):
        environment = {**os.environ, **asked, "POLHODE_CACHE": "0"}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.split())
    (wide, bits), (four, same) = found
    assert (wide, four) == ("8", "4")
    assert bits == same
