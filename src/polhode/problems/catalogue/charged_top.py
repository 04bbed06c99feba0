"""A top in electric and magnetic fields."""

from polhode.body import RigidBody, shapes
from polhode.models import lorentz, uniform_gravity
from polhode.problems.catalogue import Entry, tilted
from polhode.problems.problem import Problem


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
        **tilted(0.3),
    )


PLACE = 130
PROBLEM = Entry(charged_top, t_end=5.0, dt=0.00025, method="rkn4", references=("mandre2008",))
