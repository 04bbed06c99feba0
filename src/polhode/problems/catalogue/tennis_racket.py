"""The tennis racket."""

from polhode.body import RigidBody, shapes
from polhode.models import uniform_gravity
from polhode.problems.catalogue import Entry
from polhode.problems.problem import Problem


def tennis_racket() -> Problem:
    """A tennis racket thrown up, spinning about its middle axis: it turns over before it falls."""
    along_x = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
    handle = shapes.tube(0.014, 0.011, 0.42, mass=0.14).turned(along_x).moved([-0.345, 0.0, 0.0])
    frame, strings = shapes.torus(0.13, 0.008, mass=0.17), shapes.disc(0.122, mass=0.02)
    return Problem(  # the face across z; coordinates of the shapes from the middle of the head
        RigidBody.from_shapes(frame, strings, handle),
        uniform_gravity(),
        omega=[0.1, 9.0, 0.0],
        position=[0.0, 0.0, 1.5],
        velocity=[0.0, 0.3, 4.9],
        name="tennis-racket",
    )


PLACE = 100
PROBLEM = Entry(tennis_racket, t_end=1.0, dt=0.002, method="rkn4", references=("mandre2008",))
