"""The heavy top of Celledoni & Säfström."""

from polhode.body import RigidBody
from polhode.models import heavy_top
from polhode.problems.catalogue import Entry
from polhode.problems.problem import Problem


def celledoni_heavy_top() -> Problem:
    """Celledoni & Säfström 2006, section 4.2: a fast asymmetric top, weak gravity."""
    return Problem(
        RigidBody([1000.0, 5000.0, 6000.0]),
        heavy_top(1.0),
        omega=[10.0, 10.0, 10.0],
        name="celledoni-heavy-top",
    )


PLACE = 70
PROBLEM = Entry(
    celledoni_heavy_top, t_end=100.0, dt=0.01, method="mr2", references=("celledoni2006",)
)
