"""Arguments of SciPy's solvers are answered with what replaces them."""

import inspect

import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from polhode.solvers.arguments import HABITS

START = ph.Problem(ph.RigidBody([2.0, 3.0, 4.5]), ph.models.heavy_top(1.0), omega=[0.3, 0.2, 0.9])


@pytest.mark.parametrize(
    ("keyword", "words"),
    [
        (
            {"dense_output": True},
            r"solve has no argument dense_output=: every run has run\.sol\(t\)",
        ),
        ({"args": (1.0,)}, r"params= of ph\.torque"),
        ({"vectorized": True}, r"ph\.solve_ensemble"),
        ({"jac": None}, "no method needs a Jacobian"),
        ({"min_step": 1e-9}, "no smallest size"),
        ({"y0": [0.0]}, "belongs to the Problem: attitude="),
    ],
    ids=str,
)
def test_arguments_of_scipy_are_answered(keyword, words):
    with pytest.raises(ph.InputError, match=words):
        ph.solve(START, (0, 1), **keyword)


def test_other_solvers_answer_too():
    with pytest.raises(ph.InputError, match=r"prepare has no argument args="):
        ph.prepare(START, args=())
    with pytest.raises(ph.InputError, match=r"solve_ensemble has no argument t_eval=: use save="):
        ph.solve_ensemble(START, (0, 1), members=2, t_eval=[1.0])
    with pytest.raises(ph.InputError, match=r"run\.sol\(t\)"):
        ph.integrate_angular_velocity(START, (0, 1), frame="body", dense_output=True)
    with pytest.raises(ph.InputError, match=r"make one: ph\.Problem"):
        ph.solve(lambda t, y: y, (0, 1))


def test_other_unknown_arguments_are_python_s_own_error():
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        ph.solve(START, (0, 1), colour="red")


def test_every_argument_of_solve_ivp_is_known_or_answered():
    known = inspect.signature(ph.solve).parameters
    theirs = [name for name in inspect.signature(solve_ivp).parameters if name != "options"]
    assert [name for name in theirs if name not in known and name not in HABITS] == []
    assert {"rtol", "atol", "first_step", "max_step", "t_eval", "events"} <= set(known)
