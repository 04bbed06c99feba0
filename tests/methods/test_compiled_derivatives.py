"""Machine code has the derivatives of plain Python, which are checked in 40 digits."""

import numpy as np
import pytest

import polhode as ph
from polhode.compiler.machine import CompiledOrPlain
from support.bodies import ATTITUDE, DAMPED, DRIVEN, INERTIA, OMEGA, forced
from support.precise_steps import quantities

H, CLOSE = 0.3125, 1e-14
TORQUES = ph.torque(forced, DAMPED), ph.torque(forced, DRIVEN, depends_on_omega=False)
QUICK = "mr2", "imidm", "extrapolation"
STEPPING = {name: record for name, record in ph.INTEGRATORS.items() if not record.linear}


def problem_of(method):
    """A body under a torque that depends on as much as the method takes."""
    takes = getattr(method, "takes", lambda model: True)
    model = next(filter(takes, (*TORQUES, ph.models.free())))
    start = {"attitude": ATTITUDE, "scalar_first": True, "omega": OMEGA}
    return ph.Problem(ph.RigidBody(INERTIA), model, **start)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
        for name in (*ph.METHODS, *STEPPING)
    ],
)
def test_machine_code_has_the_derivatives_of_plain_python(name, monkeypatch):
    method = ph.METHODS.get(name) or STEPPING[name]
    problem, adaptive = problem_of(method), getattr(method, "adaptive", False)
    # one step of adaptive integrators: the next one follows from an error that is mostly rounding
    steps = {"atol": 0.9, "rtol": 0.0, "first_step": H} if adaptive else {"dt": H}
    span = 0.5, 0.5 + (1 if adaptive else 2) * H
    names = list(quantities(problem))
    given = {"method": name, **steps, "sensitivities": names}
    compiled = ph.solve(problem, span, **given)
    monkeypatch.setattr(CompiledOrPlain, "__call__", lambda self, *args: self.function(*args))
    plain = ph.solve(problem, span, **given)
    assert np.array_equal(compiled.t, plain.t)
    for one in names:
        right = plain.sensitivity[one]
        assert np.abs(compiled.sensitivity[one] - right).max() < CLOSE * max(
            1.0, np.abs(right).max()
        )
