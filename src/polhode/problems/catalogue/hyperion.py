"""Hyperion, the moon of Saturn that tumbles."""

from polhode.body import RigidBody
from polhode.models import gravity_gradient
from polhode.problems.catalogue import Entry, tilted
from polhode.problems.problem import Problem


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
        **tilted(0.01),
    )


PLACE = 90
PROBLEM = Entry(hyperion, t_end=250.0, dt=0.05, method="mr4", references=("wisdom1984",))
