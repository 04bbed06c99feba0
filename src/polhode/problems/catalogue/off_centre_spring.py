"""A box on a spring."""

from polhode.body import RigidBody, shapes
from polhode.models import spring, uniform_gravity
from polhode.problems.catalogue import Entry
from polhode.problems.problem import Problem


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


PLACE = 110
PROBLEM = Entry(off_centre_spring, t_end=20.0, dt=0.002, method="mr4", references=("mandre2008",))
