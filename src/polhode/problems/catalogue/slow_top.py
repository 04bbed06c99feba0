"""Krysl's slow Lagrange top."""

from polhode.body import RigidBody
from polhode.models import heavy_top
from polhode.problems.catalogue import Entry, tilted
from polhode.problems.problem import Problem


def slow_top() -> Problem:
    """Krysl 2006, section 5.2: the slow Lagrange top."""
    return Problem(
        RigidBody([5.0, 5.0, 1.0]),
        heavy_top(20.0),
        omega=[0.0, 0.0, 5.0],
        name="slow-top",
        **tilted(0.05),
    )


PLACE = 20
PROBLEM = Entry(slow_top, t_end=20.0, dt=0.001, references=("krysl2006",))
