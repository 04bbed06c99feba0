"""Krysl's soft wall, attractive."""

from polhode.body import RigidBody
from polhode.models import soft_wall as soft_wall_model
from polhode.problems.catalogue import Entry
from polhode.problems.problem import Problem


def soft_wall_attractive() -> Problem:
    """Krysl 2006, section 5.4, with the sign its text describes: attraction and a soft wall."""
    return Problem(
        RigidBody([2.0, 3.0, 4.5]),
        soft_wall_model("attractive"),
        angular_momentum=[2.0, 2.0, 2.0],
        name="soft-wall-attractive",
    )


PLACE = 50
PROBLEM = Entry(soft_wall_attractive, t_end=200.0, dt=0.002, references=("krysl2006", "holder2001"))
