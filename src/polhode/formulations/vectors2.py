"""Two frame vectors; the third is their cross product (Boyle 2017, section II).

df_0/dt = ω x f_0,    df_1/dt = ω x f_1,    f_2 = f_0 x f_1                        (1)
"""

from dataclasses import replace

from polhode.formulations import vectors3
from polhode.kernels.quaternion import columns, of_columns
from polhode.kernels.vector import cross


def enter(q):
    a, b, _ = columns(q)
    return (*a, *b)


def attitude(y):
    a, b = y[:3], y[3:]
    return of_columns(a, b, cross(a, b))


def rate(y, omega):
    return (*cross(omega, y[:3]), *cross(omega, y[3:]))


PLACE = 40
FORMULATION = replace(
    vectors3.FORMULATION,
    name="vectors2",
    title="two frame vectors",
    enter=enter,
    attitude=attitude,
    rate=rate,
)
