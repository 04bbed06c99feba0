"""What observations do not determine is named, with what to hold."""

import numpy as np
import pytest

import polhode as ph
from support.fits import METHOD, SPAN, disturbed, observed, top

TIMES = np.arange(1, 21) * 0.1
pytestmark = pytest.mark.usefixtures("plain")


def message(problem, observations, free, **options):
    method = {"t_span": SPAN, **METHOD} | options
    with pytest.raises(ph.InputError) as caught:
        ph.fit(problem, observations, free=free, **method)
    return str(caught.value)


def test_attitudes_leave_one_factor(rng):
    seen = observed(top(), rng, TIMES)
    text = message(
        disturbed(seen.truth, rng), seen.attitudes(), ["state", "moments", "model.strength"]
    )
    assert "angular_momentum, moments and model.strength are known only up to one common" in text
    assert "hold one of: 'trace of inertia', 'largest moment', '|angular momentum|'" in text
    assert "'model.strength'" in text


def test_so_do_rates_of_a_free_body_and_each_proposal_helps(rng):
    truth = ph.Problem(ph.RigidBody([2.0, 3.0, 4.2]), omega=[2.0, 3.0, 4.0])
    seen = observed(truth, rng, TIMES)
    start = ph.Problem(ph.RigidBody([2.1, 2.95, 4.2]), omega=[2.01, 3.0, 3.99])
    free = ["angular_momentum", "inertia"]
    text = message(start, seen.rates(), free)
    assert "angular_momentum and inertia are known only up to one common factor" in text
    for name in text.split("hold one of: ")[1].replace("'", "").split(", "):
        fit = ph.fit(start, seen.rates(), free=free, hold=name, t_span=SPAN, **METHOD)
        assert fit.success, name
        ratios = fit.values["inertia"] / fit.values["inertia"][0, 0]
        sigmas = fit.standard_deviations["inertia"] / fit.values["inertia"][0, 0]
        assert np.abs(ratios - np.diag([1.0, 1.5, 2.1])).max() < 8 * sigmas.max() < 0.05


def test_rates_of_a_free_body_say_nothing_about_its_attitude(rng):
    truth = ph.Problem(ph.RigidBody([2.0, 3.0, 4.2]), omega=[2.0, 3.0, 4.0])
    text = message(truth, observed(truth, rng, TIMES).rates(), ["state"])
    assert "no observation depends on attitude: leave it out of free=" in text
    assert "hold" not in text


def test_one_star_leaves_a_turn_about_it(rng):
    truth = top()
    run = observed(truth, rng, TIMES).run
    star = ph.observe.directions(run.t[:1], run.to_body([0.0, 0, 1])[:1], [0.0, 0, 1], sigma=1e-3)
    text = message(truth, [star, observed(truth, rng, TIMES).rates()], ["attitude"])
    assert "no observation changes along" in text  # the torque is about the same vertical
    assert "attitude.z" in text


def test_a_single_number_and_what_is_held_are_named(rng):
    seen = observed(top(strength=0.0), rng, TIMES)
    rate = ph.observe.function(
        lambda t, q, p: p[0] * q[0] * q[0] + p[1] * t * 0.0,
        TIMES,
        seen.run.q[:, 0] ** 2,
        sigma=1e-3,
        params={"size": 1.0, "tilt": 1.0},
    )
    text = message(
        seen.truth,
        [seen.attitudes(), rate],
        ["state", "function.size", "function.tilt"],
        hold="attitude.x",
    )
    assert "with 'attitude.x' held" in text
    assert "no observation depends on function.tilt" in text


def test_powers_of_a_factor(rng):
    """The torque grows as the square of its parameter, momentum and moments as the first power."""
    squared = ph.torque(
        lambda t, q, omega, p: (p[0] * p[0] * (q[2] * q[3] + q[0] * q[1]), 0.0, 0.0), {"root": 1.2}
    )
    start = ph.Problem(ph.RigidBody([2.0, 3.0, 4.5]), squared, omega=[0.1, 0.2, 0.1])
    run = observed(start, rng, TIMES).run
    sets = ph.observe.attitudes(run.t, run.rotation, sigma=1e-3)
    text = message(start, sets, ["angular_momentum", "moments", "model.root"])
    assert "no observation changes if one changes angular_momentum by 1 %, moments by 1 %" in text
    assert "model.root by 0.5 %" in text


def test_too_few_numbers(rng):
    seen = observed(top(), rng, TIMES[:2])
    text = message(seen.truth, seen.attitudes(), ["state", "moments"])
    assert "6 observed numbers are fewer than the 9 unknowns" in text
