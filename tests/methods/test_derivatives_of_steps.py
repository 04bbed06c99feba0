"""Derivatives of one step of every method, against differences of the same source in 40 digits.

By the state, the moments and all parameters: along each of them where nothing is special, along
mixtures of all at special places.
"""

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode.methods.translation import with_translation
from support.bodies import ATTITUDE, DAMPED, DRIVEN, INERTIA, OMEGA, forced
from support.precise_steps import mixtures, mp_derivatives, mp_step, quantities
from support.translating_bodies import CHARGED, SPRUNG

pytestmark = pytest.mark.usefixtures("plain")

METHODS = list(ph.METHODS.values())
T, H = 0.5, 0.3125  # a third of a radian in one step; both are exact
CLOSE = 1e-14  # of the largest derivative
FREE = ph.models.free()
TIME = ph.torque(forced, DRIVEN, depends_on_omega=False)
RATE = ph.torque(forced, DAMPED)
PLACES = {
    "no scalar part": {"attitude": (0.0, 0.6, 0.0, 0.8)},
    "identity": {"attitude": (1.0, 0.0, 0.0, 0.0)},
    "axis 1": {"omega": (0.9, 0.0, 0.0)},
    "axis 2": {"omega": (0.0, 0.9, 0.0)},
    "axis 3": {"omega": (0.0, 0.0, 0.9)},
    "at rest": {"omega": (0.0, 0.0, 0.0)},
    "symmetric about 1": {"inertia": (3.0, 2.0, 2.0)},
    "symmetric about 2": {"inertia": (2.0, 3.0, 2.0)},
    "symmetric about 3": {"inertia": (2.0, 2.0, 3.0)},
    "sphere": {"inertia": (2.0, 2.0, 2.0)},
}


def problem_of(model, inertia=INERTIA, attitude=ATTITUDE, omega=OMEGA):
    start = {"attitude": attitude, "scalar_first": True, "omega": omega}
    return ph.Problem(ph.RigidBody(inertia), model, **start)


def models_of(method):
    return [model for model in (FREE, TIME, RATE) if method.takes(model)]


def check(method, problem, directions=None):
    """One step, its sums as they are and compensated: derivatives, and the bits of the values."""
    sizes = quantities(problem)
    whole = method if not problem.moves else with_translation(method, True)
    right = mp_derivatives(mp_step(whole, problem, mp.mpf(H), T), problem, directions)
    for compensated in (False, True) if method.compensates else (None,):
        options = {"method": method, "dt": H, "compensated": compensated}
        run = ph.solve(problem, (T, T + H), **options, sensitivities=list(sizes))
        alone = ph.solve(problem, (T, T + H), **options)
        for name in ("q", "angular_momentum", *(("x", "v") if problem.moves else ())):
            assert getattr(run, name).tolist() == getattr(alone, name).tolist()
        parts = [run.sensitivity[name][-1].reshape(-1, size) for name, size in sizes.items()]
        found = np.hstack(parts)
        size = np.abs(found).max()
        found = found if directions is None else found @ directions
        assert np.abs(found - right).max() < CLOSE * size


@pytest.fixture(params=METHODS, ids=lambda method: method.name)
def method(request):
    return request.param


def test_along_everything(method):
    for model in models_of(method):
        check(method, problem_of(model))


@pytest.mark.parametrize("place", PLACES)
def test_at_special_places(method, place, rng):
    *_, model = models_of(method)[:2]
    problem = problem_of(model, **PLACES[place])
    check(method, problem, mixtures(sum(quantities(problem).values()), rng))


@pytest.mark.parametrize("name", [method.name for method in METHODS if not method.free_only])
def test_with_a_position(name, rng):
    """Six degrees of freedom, with a force that depends on the velocity where it may."""
    method = ph.METHODS[name]
    problem = (CHARGED if method.takes(CHARGED.problem.model) else SPRUNG).problem
    check(method, problem, mixtures(sum(quantities(problem).values()), rng))
