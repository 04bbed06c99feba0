"""The generator, brought back below π/2 between steps (Boyle 2017, (20)).

    r -> r - n π r/|r|,    n = round(|r| / π)

when |r| exceeds π/2: the same rotation, far from where the components turn sharply.  (The paper
takes n = 1, which is not enough beyond 3π/2.)
"""

from dataclasses import replace
from math import pi, sqrt

from polhode.compiler.machine import rint
from polhode.formulations import generator
from polhode.kernels.trig import in_reach
from polhode.kernels.vector import dot


def reset(y):
    r = sqrt(dot(y[:3], y[:3]))
    n = rint(r / pi)
    if n == 0.0:
        return y, False
    f = in_reach(r, 1.0 - n * pi / r)
    return (f * y[0], f * y[1], f * y[2], *y[3:]), True


PLACE = 70
FORMULATION = replace(
    generator.FORMULATION,
    name="generator-reset",
    title="generator, reset beyond half a turn",
    reset=reset,
    continuous=False,
)
