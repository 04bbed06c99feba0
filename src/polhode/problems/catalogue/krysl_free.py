"""Krysl's free asymmetric body."""

from polhode.body import RigidBody
from polhode.problems.catalogue import Entry
from polhode.problems.problem import Problem


def krysl_free() -> Problem:
    """Krysl 2006, section 5.1: a free asymmetric body (R0 is not given: the identity)."""
    body = RigidBody([0.9144, 1.098, 1.66])
    return Problem(body, omega=[0.45549, 0.82623, 0.03476], name="krysl-free")


PLACE = 10
PROBLEM = Entry(krysl_free, t_end=100.0, dt=0.01, references=("krysl2006",))
