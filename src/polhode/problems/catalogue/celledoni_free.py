"""The free asymmetric body of Celledoni & Säfström."""

from polhode.body import RigidBody
from polhode.problems.catalogue import Entry
from polhode.problems.problem import Problem


def celledoni_free() -> Problem:
    """Celledoni & Säfström 2006, section 4.1: a free asymmetric body."""
    body = RigidBody([5.0, 4.0, 3.0])  # the captions' start; the text has (1, 0, 2)
    return Problem(body, angular_momentum=[-1.0, 0.0, 2.0], name="celledoni-free")


PLACE = 60
PROBLEM = Entry(celledoni_free, t_end=400.0, dt=0.4, method="mr2", references=("celledoni2006",))
