"""Three frame vectors, the columns of the attitude matrix (Boyle 2017, section II).

    df_i/dt = ω x f_i,    i = 0, 1, 2                                                  (1)

Nine numbers; nothing keeps the vectors at unit length or at right angles.  The attitude is the one
nearest to the frame: the quaternion of its columns, normalised.
"""

from polhode.contracts import Formulation
from polhode.kernels.quaternion import columns, of_columns
from polhode.kernels.vector import cross


def enter(q):
    a, b, c = columns(q)
    return (*a, *b, *c)


def attitude(y):
    return of_columns(y[:3], y[3:6], y[6:])


def rate(y, omega):
    return (*cross(omega, y[:3]), *cross(omega, y[3:6]), *cross(omega, y[6:]))


PLACE = 30
FORMULATION = Formulation(
    name="vectors3",
    title="three frame vectors",
    enter=enter,
    attitude=attitude,
    rate=rate,
    angle=0.5**0.5,
    continuous=False,
    references=("boyle2017",),
)
