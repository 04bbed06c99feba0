"""A dumbbell around an asteroid."""

from math import cos, sin, sqrt

from polhode.body import RigidBody, shapes
from polhode.models import point_gravity
from polhode.problems.catalogue import Entry
from polhode.problems.problem import Problem


def dipole_satellite() -> Problem:
    """Two balls on a rod of 100 m around an asteroid: attitude and orbit are coupled."""
    mu, nearest, eccentricity = 4.892, 400.0, 0.2  # Bennu's; a point mass would have an ellipse
    speed = sqrt(mu * (1 + eccentricity) / nearest)
    ball = shapes.sphere(2.0, mass=50.0)
    tilt = 0.3  # of the rod out of the orbit
    return Problem(
        RigidBody.from_shapes(ball.moved([50.0, 0.0, 0.0]), ball.moved([-50.0, 0.0, 0.0])),
        point_gravity(mu),
        attitude=[cos(tilt / 2), 0.0, sin(tilt / 2), 0.0],
        scalar_first=True,
        omega=[0.0, 0.0, speed / nearest],
        position=[nearest, 0.0, 0.0],
        velocity=[0.0, speed, 0.0],
        name="dipole-satellite",
    )


PLACE = 120
PROBLEM = Entry(
    dipole_satellite, t_end=640_000.0, dt=100.0, method="mr4", references=("mandre2008",)
)
