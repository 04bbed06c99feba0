"""Krysl's soft wall, repulsive."""

from polhode.body import RigidBody
from polhode.models import soft_wall as soft_wall_model
from polhode.problems.catalogue import Entry
from polhode.problems.problem import Problem


def soft_wall() -> Problem:
    """Krysl 2006, section 5.4, with the printed sign: a repulsion, no wall is ever met."""
    return Problem(
        RigidBody([2.0, 3.0, 4.5]),
        soft_wall_model("printed"),
        angular_momentum=[2.0, 2.0, 2.0],
        name="soft-wall",
    )


PLACE = 40
PROBLEM = Entry(soft_wall, t_end=2000.0, dt=0.05, references=("krysl2006", "holder2001"))
