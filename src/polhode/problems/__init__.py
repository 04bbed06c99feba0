"""The catalogue: examples of the papers by name.  On the command line with dashes.

``CATALOGUE`` holds bodies, for ``solve``; ``RATES`` given angular velocities with their exact
attitudes, for ``integrate_angular_velocity``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import cos, sin, sqrt
from types import MappingProxyType
from typing import Any

import numpy as np

from polhode.body import RigidBody, shapes
from polhode.models import (
    gravity_gradient,
    heavy_top,
    lorentz,
    point_gravity,
    spring,
    uniform_gravity,
)
from polhode.models import soft_wall as soft_wall_model
from polhode.problems.given_motions import PRECESSING_BINARY, Quaternion, Turning, Vector
from polhode.problems.given_motions import ZUPAN_SAJE as STAND_INS
from polhode.problems.problem import Problem


def _tilted(angle: float) -> dict:
    """The attitude of a body turned by ``angle`` about its axis 1."""
    return {"attitude": [cos(angle / 2), sin(angle / 2), 0.0, 0.0], "scalar_first": True}


def krysl_free() -> Problem:
    """Krysl 2006, section 5.1: a free asymmetric body (R0 is not given: the identity)."""
    body = RigidBody([0.9144, 1.098, 1.66])
    return Problem(body, omega=[0.45549, 0.82623, 0.03476], name="krysl-free")


def slow_top() -> Problem:
    """Krysl 2006, section 5.2: the slow Lagrange top."""
    return Problem(
        RigidBody([5.0, 5.0, 1.0]),
        heavy_top(20.0),
        omega=[0.0, 0.0, 5.0],
        name="slow-top",
        **_tilted(0.05),
    )


def fast_top() -> Problem:
    """Krysl 2006, section 5.3: the fast Lagrange top (Simo & Wong 1991)."""
    return Problem(
        RigidBody([5.0, 5.0, 1.0]),
        heavy_top(20.0),
        omega=[0.0, 0.0, 50.0],
        name="fast-top",
        **_tilted(0.3),
    )


def soft_wall() -> Problem:
    """Krysl 2006, section 5.4, with the printed sign: a repulsion, no wall is ever met."""
    return Problem(
        RigidBody([2.0, 3.0, 4.5]),
        soft_wall_model("printed"),
        angular_momentum=[2.0, 2.0, 2.0],
        name="soft-wall",
    )


def soft_wall_attractive() -> Problem:
    """Krysl 2006, section 5.4, with the sign its text describes: attraction and a soft wall."""
    return Problem(
        RigidBody([2.0, 3.0, 4.5]),
        soft_wall_model("attractive"),
        angular_momentum=[2.0, 2.0, 2.0],
        name="soft-wall-attractive",
    )


def celledoni_free() -> Problem:
    """Celledoni & Säfström 2006, section 4.1: a free asymmetric body."""
    body = RigidBody([5.0, 4.0, 3.0])  # the captions' start; the text has (1, 0, 2)
    return Problem(body, angular_momentum=[-1.0, 0.0, 2.0], name="celledoni-free")


def celledoni_heavy_top() -> Problem:
    """Celledoni & Säfström 2006, section 4.2: a fast asymmetric top, weak gravity."""
    return Problem(
        RigidBody([1000.0, 5000.0, 6000.0]),
        heavy_top(1.0),
        omega=[10.0, 10.0, 10.0],
        name="celledoni-heavy-top",
    )


def satellite() -> Problem:
    """Celledoni & Säfström 2006, section 4.3: a satellite, r = 1.5e5 m as printed."""
    return Problem(  # r lies inside the Earth; the paper's figures belong to it
        RigidBody([1.7e4, 3.7e4, 5.4e4]),
        gravity_gradient(mu=3.986e14, r=1.5e5),
        omega=[15.0, -15.0, 15.0],
        name="satellite",
    )


def hyperion() -> Problem:
    """Wisdom, Peale & Mignard 1984: Hyperion, almost synchronous and almost upright, tumbles."""
    a, b, c = 190.0, 145.0, 114.0  # semi-axes in km, as Voyager saw them
    c_moment = (a * a + b * b) / 5
    body = RigidBody([(b * b + c * c) / 5 / c_moment, (a * a + c * c) / 5 / c_moment, 1.0])
    return Problem(  # units: C = 1, and an orbit takes 2 pi
        body,
        gravity_gradient(1.0, 1.0, "orbit", eccentricity=0.1),
        omega=[0.0, 0.0, 1.0],
        name="hyperion",
        **_tilted(0.01),
    )


# ---- six degrees of freedom
def tennis_racket() -> Problem:
    """A tennis racket thrown up, spinning about its middle axis: it turns over before it falls."""
    along_x = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
    handle = shapes.tube(0.014, 0.011, 0.42, mass=0.14).turned(along_x).moved([-0.345, 0.0, 0.0])
    frame, strings = shapes.torus(0.13, 0.008, mass=0.17), shapes.disc(0.122, mass=0.02)
    return Problem(  # the face across z; coordinates of the shapes from the middle of the head
        RigidBody.from_shapes(frame, strings, handle),
        uniform_gravity(),
        omega=[0.1, 9.0, 0.0],
        position=[0.0, 0.0, 1.5],
        velocity=[0.0, 0.3, 4.9],
        name="tennis-racket",
    )


def off_centre_spring() -> Problem:
    """A box that hangs by a corner from a spring: swinging, bouncing and tumbling are coupled."""
    anchor, corner = (0.0, 0.0, 1.0), (0.15, 0.1, 0.05)
    return Problem(
        RigidBody.from_shapes(shapes.box([0.3, 0.2, 0.1], mass=2.0)),
        spring(150.0, anchor, corner, length=0.4) + uniform_gravity(),
        omega=[0.5, 0.3, 3.0],
        position=[-0.05, -0.1, 0.4],
        velocity=[0.3, 0.0, 0.0],
        name="off-centre-spring",
    )


def dipole_satellite() -> Problem:
    """Two balls on a rod of 100 m around an asteroid: attitude and orbit are coupled."""
    mu, nearest, eccentricity = 4.892, 400.0, 0.2  # Bennu's; a point mass would have an ellipse
    speed = sqrt(mu * (1 + eccentricity) / nearest)
    ball = shapes.sphere(2.0, mass=50.0)
    tilt = 0.3  # of the rod out of the orbit
    return Problem(
        RigidBody.from_shapes(ball.moved([50.0, 0.0, 0.0]), ball.moved([-50.0, 0.0, 0.0])),
        point_gravity(mu),
        attitude=[cos(tilt / 2), 0.0, sin(tilt / 2), 0.0],
        scalar_first=True,
        omega=[0.0, 0.0, speed / nearest],
        position=[nearest, 0.0, 0.0],
        velocity=[0.0, speed, 0.0],
        name="dipole-satellite",
    )


def charged_top() -> Problem:
    """A spinning disc, held up in electric and magnetic fields by a charge below its centre."""
    disc = RigidBody.from_shapes(shapes.cylinder(0.03, 0.01, mass=0.1))
    gravity, charge = uniform_gravity(), 0.05
    (g,) = gravity.numbers
    field = -disc.mass * g[2] / charge  # carries the weight; the couple is that of a heavy top
    return Problem(
        disc,
        lorentz(charge, (0.0, 0.0, field), (0.0, 0.0, 4.0), (0.0, 0.0, -0.02)) + gravity,
        omega=[0.0, 0.0, 150.0],
        position=[0.0, 0.0, 0.0],
        velocity=[0.05, 0.0, 0.0],
        name="charged-top",
        **_tilted(0.3),
    )


CELLEDONI, MANDRE, WISDOM = ("celledoni2006",), ("mandre2008",), ("wisdom1984",)


@dataclass(frozen=True)
class Entry:
    """A problem of the catalogue, and how the paper runs it."""

    make: Callable[[], Problem]
    t_end: float
    dt: float
    method: str = "imidm"
    references: tuple[str, ...] = ("krysl2006",)

    @property
    def summary(self) -> str:
        return (self.make.__doc__ or "").strip()


CATALOGUE: Mapping[str, Entry] = MappingProxyType(
    {
        "krysl-free": Entry(krysl_free, t_end=100.0, dt=0.01),
        "slow-top": Entry(slow_top, t_end=20.0, dt=0.001),
        "fast-top": Entry(fast_top, t_end=10.0, dt=0.001, references=("krysl2006", "simo1991")),
        "soft-wall": Entry(
            soft_wall, t_end=2000.0, dt=0.05, references=("krysl2006", "holder2001")
        ),
        "soft-wall-attractive": Entry(
            soft_wall_attractive, t_end=200.0, dt=0.002, references=("krysl2006", "holder2001")
        ),
        "celledoni-free": Entry(
            celledoni_free, t_end=400.0, dt=0.4, method="mr2", references=CELLEDONI
        ),
        "celledoni-heavy-top": Entry(
            celledoni_heavy_top, t_end=100.0, dt=0.01, method="mr2", references=CELLEDONI
        ),
        "satellite": Entry(satellite, t_end=400.0, dt=0.05, method="mr2", references=CELLEDONI),
        "hyperion": Entry(hyperion, t_end=250.0, dt=0.05, method="mr4", references=WISDOM),
        "tennis-racket": Entry(
            tennis_racket, t_end=1.0, dt=0.002, method="rkn4", references=MANDRE
        ),
        "off-centre-spring": Entry(
            off_centre_spring, t_end=20.0, dt=0.002, method="mr4", references=MANDRE
        ),
        "dipole-satellite": Entry(
            dipole_satellite, t_end=640_000.0, dt=100.0, method="mr4", references=MANDRE
        ),
        "charged-top": Entry(charged_top, t_end=5.0, dt=0.00025, method="rkn4", references=MANDRE),
    }
)


# ---- given angular velocities
@dataclass(frozen=True)
class GivenRate:
    """A motion of which the angular velocity is given, and the attitude known in closed form.

    >>> import polhode as ph
    >>> binary = ph.problems.precessing_binary()
    >>> run = ph.integrate_angular_velocity(
    ...     binary.omega, (0, 1e4), frame=binary.frame, attitude=binary.attitude, scalar_first=True
    ... )
    >>> bool(run.frame_error(binary.exact).max() < 1e-8)
    True
    """

    name: str
    motion: Turning
    span: tuple[float, float]
    references: tuple[str, ...] = ("boyle2017",)
    frame = "inertial"  # the axes of omega

    @property
    def omega(self) -> Callable[[float], Vector]:
        return self.motion.omega

    @property
    def attitude(self) -> Quaternion:
        """At the start of the span, (w, x, y, z)."""
        return self.motion.attitude(self.span[0])

    def exact(self, t: Any) -> np.ndarray:
        """The attitude (w, x, y, z) at a time, or at each of several."""
        rows = [self.motion.attitude(float(x)) for x in np.ravel(t)]
        return np.array(rows).reshape(*np.shape(t), 4)


def precessing_binary() -> GivenRate:
    """Boyle 2017, section VI.B: 1000 orbits of a precessing and nutating black-hole binary."""
    return GivenRate("precessing-binary", PRECESSING_BINARY, (0.0, 1e6))


def _stand_in(key: str) -> GivenRate:
    motion, span = STAND_INS[key]
    name = f"zupan-saje-{key.replace(' ', '-')}"
    return GivenRate(name, motion, span, ("boyle2017", "zupan2011"))


def zupan_saje_regular() -> GivenRate:
    """Boyle 2017, appendix: a stand-in for the first example of Zupan & Saje."""
    return _stand_in("regular")


def zupan_saje_vibrational() -> GivenRate:
    """Boyle 2017, appendix: a stand-in for the second, whose rate varies faster than its frame."""
    return _stand_in("vibrational")


def zupan_saje_strongly_vibrational() -> GivenRate:
    """Boyle 2017, appendix: a stand-in for the third, which does so much more."""
    return _stand_in("strongly vibrational")


def zupan_saje_unbounded() -> GivenRate:
    """Boyle 2017, appendix: a stand-in for the fourth, whose rotation vector grows for ever."""
    return _stand_in("unbounded")


RATES: Mapping[str, Callable[[], GivenRate]] = MappingProxyType(
    {
        make().name: make
        for make in (
            precessing_binary,
            zupan_saje_regular,
            zupan_saje_vibrational,
            zupan_saje_strongly_vibrational,
            zupan_saje_unbounded,
        )
    }
)
