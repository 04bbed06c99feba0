"""Measurements of sections 2 to 4 of Mandre (2008): forces, tensors, frames."""

from functools import cache
from itertools import product

import numpy as np

from polhode.body import RigidBody, shapes
from polhode.papers.mandre2008 import by_hand, series
from polhode.papers.mandre2008.laboratory import Laboratory, coupled
from polhode.papers.mandre2008.reference import Array, five, spread
from polhode.papers.maps import EXACT, VISIBLE
from polhode.papers.quaternions import conjugate, cross
from polhode.papers.rotations import exp, matrix, skew
from polhode.papers.verdicts import Measured, above, below, holds_if, largest
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.exact import exact_free_motion

BODY = five()
OMEGA, VELOCITY = np.array([0.5, 1.0, -0.7]), np.array([0.3, -0.2, 0.1])
FORCE = np.array([0.7, -1.1, 0.9])
TIMES = np.linspace(0.0, 5.0, 51)
INTEGRATED = 1e-10  # the error of DOP853 at 1e-12 over five seconds
NOTHING = np.zeros((5, 3))
CENTRE = 4  # the particle at the centre of mass


# ---- five particles on rods
def on(particle: int, force: Array) -> Array:
    """A force on one of the particles alone."""
    forces = np.zeros((5, 3))
    forces[particle] = force
    return forces


@cache
def moving_particles(particle: int | None) -> tuple[Array, Array]:
    """(places, velocities) over time; a force acts on one of the particles, or on none."""
    forces = NOTHING if particle is None else on(particle, FORCE)
    return BODY.move(VELOCITY + np.cross(OMEGA, BODY.places), lambda t: forces, TIMES)


def around_centre(particle: int | None) -> Array:
    """Return the places of ``moving_particles``, relative to the centre of mass."""
    places = moving_particles(particle)[0]
    return places - BODY.centre(places)[:, None]


@cache
def as_one_body() -> Trajectory:
    """The particles without a force as a rigid body, in closed form."""
    return exact_free_motion(RigidBody(BODY.tensor), None, OMEGA, TIMES)


def at_rest(forces: Array) -> tuple[Array, Array]:
    """(acceleration of the centre, angular acceleration) of the particles at rest."""
    found = BODY.accelerations(BODY.places, NOTHING, forces)
    centre = BODY.centre(found)
    arms = np.concatenate([-skew(r) for r in BODY.places])  # α × r
    return centre, np.linalg.lstsq(arms, (found - centre).ravel(), rcond=None)[0]


# ---- section 2
def straight(_: Laboratory) -> Measured:
    off = largest(BODY.centre(moving_particles(None)[0]) - TIMES[:, None] * VELOCITY)
    turned = largest(around_centre(None) - BODY.places)
    return holds_if(off < INTEGRATED and turned > VISIBLE, off, turned)


def wobble(_: Laboratory) -> Measured:
    body, axes = RigidBody([1.0, 2.0, 3.0]), np.eye(3).tolist()
    still = max(largest(exact_free_motion(body, None, a, TIMES).omega - np.array(a)) for a in axes)
    velocities = moving_particles(None)[1]
    arms, speeds = around_centre(None), velocities - BODY.centre(velocities)[:, None]
    momentum = np.einsum("c,tci->ti", BODY.masses, np.cross(arms, speeds))
    kept = largest(momentum - momentum[0]) / float(np.linalg.norm(momentum[0]))
    rate = as_one_body().to_inertial(as_one_body().omega)
    moved = largest(rate - rate[0])
    return holds_if(kept < INTEGRATED and moved > VISIBLE and still < EXACT, kept, moved, still)


def central_force(_: Laboratory) -> Measured:
    turn = largest(around_centre(CENTRE) - around_centre(None))
    path = TIMES[:, None] * VELOCITY + 0.5 * TIMES[:, None] ** 2 * FORCE / BODY.mass
    off = largest(BODY.centre(moving_particles(CENTRE)[0]) - path)
    return below(INTEGRATED, turn, off)


def off_centre_force(_: Laboratory) -> Measured:
    turn = largest(around_centre(0) - around_centre(None))
    path = largest(BODY.centre(moving_particles(0)[0]) - TIMES[:, None] * VELOCITY)
    return above(VISIBLE, path, turn)


def split(r: Array, force: Array) -> tuple[Array, Array]:
    """(F∥, F⊥) as printed."""
    along = (r @ force) / (r @ r) * r
    return along, force - along


ARM, PULL = by_hand.fractions([(3, -1, 2), (1, 4, -2)])


def split_(_: Laboratory) -> Measured:
    along, across = split(ARM, PULL)
    found = largest([*cross(ARM, along), ARM @ across, *(along + across - PULL)])
    return holds_if(found == 0, found)


def perpendicular(_: Laboratory) -> Measured:
    across = split(BODY.places[0], FORCE)[1]
    centre = at_rest(on(0, across))[0]
    right = largest(centre - across / BODY.mass)
    return holds_if(largest(centre) < EXACT, np.linalg.norm(centre), right, corrected=right < EXACT)


def full_force(_: Laboratory) -> Measured:
    off = max(largest(at_rest(on(k, FORCE))[0] - FORCE / BODY.mass) for k in range(5))
    old = largest((split(BODY.places[0], FORCE)[0] - FORCE) / BODY.mass)
    return holds_if(off < EXACT < old, off, old)


def lever(_: Laboratory) -> Measured:
    shares = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
    found = np.array([at_rest(on(0, s * FORCE) + on(CENTRE, (1 - s) * FORCE))[1] for s in shares])
    return below(EXACT, largest(found / shares[:, None] - found[2]) / largest(found[2]))


def torque(_: Laboratory) -> Measured:
    found = largest(cross(ARM, PULL) - cross(ARM, split(ARM, PULL)[1]))
    euler = largest(BODY.tensor @ at_rest(on(0, FORCE))[1] - np.cross(BODY.places[0], FORCE))
    return holds_if(found == 0 and euler < EXACT, found, euler)


# ---- section 3
def shape_matters(_: Laboratory) -> Measured:
    ball, shell = shapes.sphere(1.0, mass=1.0), shapes.shell(1.0, mass=1.0)
    ratio = float(shell.inertia[0, 0] / ball.inertia[0, 0])
    book = RigidBody.from_shapes(shapes.box([0.24, 0.17, 0.03], mass=0.8)).principal_moments
    long, middle, short = book
    return holds_if(ratio > 1 and short > middle > long, ratio, middle / long, short / long)


def world_tensor(_: Laboratory) -> Measured:
    a = exp(np.array([0.7, -0.4, 1.1]))
    moved = spread(BODY.masses, BODY.places @ a.T)
    off = largest(moved - a @ BODY.tensor @ a.T)
    path = around_centre(None)
    changes = max(largest(spread(BODY.masses, x) - BODY.tensor) for x in path)
    pairs = zip(path, as_one_body().rotation.as_matrix(), strict=True)
    back = max(largest(spread(BODY.masses, x @ r) - BODY.tensor) for x, r in pairs)
    return holds_if(off < EXACT and back < INTEGRATED < changes, off, changes, back)


def box_integral(sides: Array, place: Array, turn: Array) -> Array:
    """∫ (r·r 1 - r ⊗ r) over a box of mass 1, by Gauss's points, which are exact here."""
    nodes, weights = np.polynomial.legendre.leggauss(2)
    corners = np.array(list(product(nodes, repeat=3))) * sides / 2
    masses = np.array([a * b * c for a, b, c in product(weights, repeat=3)]) / 8
    return spread(masses, corners @ turn.T + place)


SIDES, PLACE = np.array([0.3, 0.5, 0.2]), np.array([1.2, -0.7, 0.4])


def displaced(_: Laboratory) -> Measured:
    still = box_integral(SIDES, np.zeros(3), np.eye(3))
    page = still + spread(np.ones(1), PLACE[None])
    off = largest(page - box_integral(SIDES, PLACE, np.eye(3)))
    library = largest(shapes.box(SIDES.tolist(), mass=1.0).inertia - still)
    return below(EXACT, off, library)


def sum_of_shapes(_: Laboratory) -> Measured:
    parts = [
        (2.0, SIDES, PLACE, exp(np.array([0.3, 0.1, -0.5]))),
        (0.5, 2 * SIDES, -PLACE, exp(np.array([-1.0, 0.4, 0.2]))),
        (1.2, SIDES / 3, np.array([0.1, 0.9, 0.6]), exp(np.array([0.2, 2.0, 0.7]))),
    ]
    mass = sum(m for m, *_ in parts)
    centre = sum((m * place for m, _, place, _ in parts), np.zeros(3)) / mass
    page, whole = np.zeros((3, 3)), np.zeros((3, 3))
    for m, sides, place, turn in parts:
        own = m * box_integral(sides, np.zeros(3), np.eye(3))
        page += turn @ own @ turn.T + spread(np.array([m]), (place - centre)[None])
        whole += m * box_integral(sides, place - centre, turn)
    boxes = (
        shapes.box(s.tolist(), mass=m).turned(turn).moved(place) for m, s, place, turn in parts
    )
    body = RigidBody.from_shapes(*boxes)
    return below(EXACT, largest(page - whole), largest(body.inertia - whole))


# ---- section 4
def complete(lab: Laboratory) -> Measured:
    given = coupled()["spring"].problem
    whole = lab.rkn4(given, 2.0, 0.005)
    q, motion = whole.q[200], {"position": whole.x[200], "velocity": whole.v[200]}
    again = Problem(given.body, given.model, q, omega=whole.omega[200], scalar_first=True, **motion)
    rest = lab.rkn4(again, 1.0, 0.005)
    off = max(largest(rest.x - whole.x[200:]), largest(rest.omega - whole.omega[200:]))
    return below(1e-12, off)  # 200 steps of 1e-16 each; neighbours diverge


Q = by_hand.normalise(np.array([0.8, 0.3, -0.5, 0.4]))
X, P = np.array([0.4, -0.2, 0.7]), np.array([3.0, -1.0, 2.0])


def points(lab: Laboratory) -> Measured:
    a = matrix(Q)
    there = P + by_hand.rotate(Q, X)
    back = by_hand.rotate(conjugate(Q), there - P)
    run = lab.rkn4(coupled()["spring"].problem, 0.5, 0.005)
    page = run.x + by_hand.rotate(run.q, X)
    there_apart = largest(there - P - a @ X)
    back_apart = max(largest(back - X), largest(np.linalg.inv(a) @ (there - P) - X))
    return below(EXACT, there_apart, back_apart, largest(run.point_position(X) - page))


def vectors(_: Laboratory) -> Measured:
    a, tensor = matrix(Q), BODY.tensor
    torque = np.cross(X, a.T @ FORCE)
    right = np.cross(a @ X, FORCE)  # τ in inertial axes, from r and F there
    printed = largest(P + a @ torque - right)
    found = largest(a @ torque - right)
    momentum = largest(a @ tensor @ a.T @ (a @ OMEGA) - a @ (tensor @ OMEGA))
    good = max(found, momentum) < EXACT
    return holds_if(printed < EXACT, printed, found, momentum, corrected=good)


def velocities(lab: Laboratory) -> Measured:
    q, x = series.turning(), by_hand.fractions((2, -1, 3))
    p = np.array([series.Series(1, 2, -1), series.Series(0, 1, 3), series.Series(-2, 1, 0, 1)])
    there = p + by_hand.rotate(q, x)
    omega = by_hand.omega_of(q, series.rates(q))
    world, arm = by_hand.rotate(q, omega), by_hand.rotate(q, x)
    forms = cross(world, there - p), cross(world, arm), by_hand.rotate(q, cross(omega, x))
    right = series.rates(there) - series.rates(p)
    off = max(series.apart(form, right, series.TERMS - 1) for form in forms)
    run = lab.rkn4(coupled()["spring"].problem, 0.5, 0.005)
    page = by_hand.rotate(run.q, np.cross(run.omega, X))
    library = largest(run.point_velocity(X) - run.v - page)
    return holds_if(off == 0 and library < EXACT, off, library)
