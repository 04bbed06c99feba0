"""The satellite of Celledoni & Säfström."""

from polhode.body import RigidBody
from polhode.models import gravity_gradient
from polhode.problems.catalogue import Entry
from polhode.problems.problem import Problem


def satellite() -> Problem:
    """Celledoni & Säfström 2006, section 4.3: a satellite, r = 1.5e5 m as printed."""
    return Problem(  # r lies inside the Earth; the paper's figures belong to it
        RigidBody([1.7e4, 3.7e4, 5.4e4]),
        gravity_gradient(mu=3.986e14, r=1.5e5),
        omega=[15.0, -15.0, 15.0],
        name="satellite",
    )


PLACE = 80
PROBLEM = Entry(satellite, t_end=400.0, dt=0.05, method="mr2", references=("celledoni2006",))
