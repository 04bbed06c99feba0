"""Krysl's fast Lagrange top."""

from polhode.body import RigidBody
from polhode.models import heavy_top
from polhode.problems.catalogue import Entry, tilted
from polhode.problems.problem import Problem


def fast_top() -> Problem:
    """Krysl 2006, section 5.3: the fast Lagrange top (Simo & Wong 1991)."""
    return Problem(
        RigidBody([5.0, 5.0, 1.0]),
        heavy_top(20.0),
        omega=[0.0, 0.0, 50.0],
        name="fast-top",
        **tilted(0.3),
    )


PLACE = 30
PROBLEM = Entry(fast_top, t_end=10.0, dt=0.001, references=("krysl2006", "simo1991"))
