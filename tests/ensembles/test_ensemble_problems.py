"""Ensembles of every kind of problem: every member has the bits of its run alone."""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.contracts import Model
from polhode.ensembles.distributions import GROUP
from support.bits import plain_bits
from support.ensembles import (
    BODY,
    COUNT,
    DT,
    FREE,
    HEAVY,
    MANY,
    OFF_GRID,
    OWN,
    RATES,
    SPAN,
    SPINS,
    START,
    check_bits,
    same,
    solve_many,
)

# ---- every map
ALWAYS = {
    "forward-euler", "imidm", "trap", "swc1", "akw", "bbtrapwd", "mr2", "strang4", "dmv4", "jem4",
    "sej", "rkn4", "mkrk:rk4",
}  # fmt: skip
MAPS = [pytest.param(name, marks=() if name in ALWAYS else pytest.mark.slow) for name in ph.METHODS]


@pytest.mark.parametrize("name", MAPS)
def test_maps_have_the_bits_of_single_runs(name):
    free = ph.METHODS[name].free_only
    problem, vary = (FREE, {"omega": RATES}) if free else (HEAVY, SPINS)
    result = ph.solve_ensemble(problem, (0.0, 0.25), vary=vary, method=name, dt=0.02)
    check_bits(result, (0.0, 0.25), method=name, dt=0.02)
    assert result.method == name


@pytest.mark.parametrize("name", ["mr2", "forward-euler"])
def test_members_that_turn_by_more_than_a_turn_a_step(name):
    rates = np.array([[1.0, 2.0, 3.0], [1.0, 0.5, 300.0], [0.2, 0.1, 0.3], [500.0, 1.0, -700.0]])
    asked = {"method": name, "dt": 0.05}
    result = ph.solve_ensemble(HEAVY, (0.0, 0.15), vary={"omega": rates}, **asked)
    check_bits(result, (0.0, 0.15), **asked)


def test_the_maps_that_always_run_exist():
    assert set(ph.METHODS) >= ALWAYS


# ---- every kind of problem
def test_symmetric_and_asymmetric_members_together():
    inertia = [[2.0, 2.0, 1.0], [2.0, 3.0, 4.5], [2.0, 2.0, 2.0], [4.0, 3.0, 2.0], [4.0, 4.0, 4.5]]
    asked = {"method": "srkn14", "dt": 0.1}
    result = ph.solve_ensemble(HEAVY, SPAN, vary={"inertia": inertia}, save="all", **asked)
    assert result.q.shape == (6, 5, 4)
    check_bits(result, SPAN, **asked)


def test_axes_that_are_not_principal():
    """Attitudes, momenta and angular velocities in body axes, turned from principal ones."""
    turn = Rotation.from_rotvec([0.3, 0.5, -0.2]).as_matrix()
    body = ph.RigidBody(turn @ np.diag([2.0, 3.0, 4.5]) @ turn.T)
    rates, asked = np.array([[2.0, 3.0, 10.0], [1.0, 2.0, 3.0]]), {"method": "mr2", "dt": DT}
    problem = ph.Problem(body, ph.models.heavy_top(10.0), omega=rates[0])
    result = ph.solve_ensemble(problem, SPAN, vary={"omega": rates}, save="all", **asked)
    for member, omega in enumerate(rates):
        alone = ph.solve(ph.Problem(body, problem.model, omega=omega), SPAN, **asked)
        for name in ("q", "angular_momentum", "omega"):
            assert np.array_equal(getattr(alone, name), getattr(result, name)[:, member]), name
            last = getattr(alone[-1:], name)
            assert np.array_equal(last, getattr(alone, name)[-1:]), name


def test_compensated_sums():
    asked = {"method": "mr2", "dt": DT, "compensated": True}
    result = ph.solve_ensemble(HEAVY, SPAN, vary=SPINS, save=OFF_GRID, **asked)
    check_bits(result, SPAN, **asked)


def test_six_degrees_of_freedom_and_parameters_of_terms():
    problem = ph.problems.off_centre_spring()
    vary = {
        "model.spring.stiffness": [150.0, 120.0, 10.0],
        "model.uniform_gravity.g": [[0, 0, -9.8], [0, 0, -1.6], [0.1, 0, -9.8]],
        "position": [[0, -0.1, 0.4], [0.1, 0, 0.5], [0, 0, 0.3]],
        "velocity": [[0.3, 0, 0], [0, 0, 0], [0, 0.2, 0]],
        "mass": [2.0, 3.0, 0.5],
    }
    names = [f"model.{term.name}" for term in problem.model.terms]
    assert names == ["model.spring", "model.uniform_gravity"]
    result = ph.solve_ensemble(problem, SPAN, vary=vary, save=OFF_GRID, method="mr2", dt=DT)
    check_bits(result, SPAN, method="mr2", dt=DT)
    for i in range(3):
        run = ph.solve(result.problem(i), SPAN, t_eval=result.t, method="mr2", dt=DT)
        np.testing.assert_allclose(result.energy[:, i], run.energy, rtol=1e-13)
        np.testing.assert_allclose(result.kinetic_energy[:, i], run.kinetic_energy, rtol=1e-13)


def test_a_user_defined_torque():
    vary = {"model.pull": [1.0, 0.0, -3.0], "model.damping": [0.1, 0.0, 2.0]}
    asked = {"method": "rkn4", "dt": DT}
    check_bits(ph.solve_ensemble(OWN, SPAN, vary=vary, **asked), SPAN, **asked)


def sorted_out(t, q, omega, params):
    return sorted([params[0], 0.2, 0.3], key=lambda x: -x)  # Numba refuses this


def test_a_torque_that_cannot_be_compiled():
    problem = ph.Problem(BODY, ph.torque(sorted_out, {"a": 0.1}), **START)
    asked = {"method": "mr2", "dt": 0.25}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        result = ph.solve_ensemble(problem, SPAN, vary={"model.a": [0.1, 0.25, 3.0]}, **asked)
        check_bits(result, SPAN, **asked)


def looked_up(t, q, m, body, params):
    (strength,), (table,) = params
    return strength * table[0], strength * table[1] * q[1], table[2]


@pytest.mark.usefixtures("plain")
def test_tables_are_shared():
    table = np.array([0.5, -2.0, 0.25])
    model = Model(
        name="looked_up", torque=looked_up, potential=None, names=("strength",), numbers=(1.0,),
        tables=(table,),
    )  # fmt: skip
    problem = ph.Problem(BODY, model, **START)
    asked = {"method": "mr2", "dt": DT}
    result = ph.solve_ensemble(problem, SPAN, vary={"model.strength": [1.0, -4.0]}, **asked)
    check_bits(result, SPAN, alone=nullcontext, **asked)
    assert result.energy is None


def test_tensors_of_inertia(rng):
    turns = Rotation.random(5, random_state=rng).as_matrix()
    tensors = turns @ np.diag([2.0, 3.0, 4.5]) @ turns.transpose(0, 2, 1)
    tensors = (tensors + tensors.transpose(0, 2, 1)) / 2
    tensors[1] = np.diag([4.0, 2.0, 3.0])  # principal already
    asked = {"method": "mr2", "dt": DT}
    vary = {"inertia": tensors, "angular_momentum": rng.normal(size=(5, 3))}
    result = ph.solve_ensemble(HEAVY, SPAN, vary=vary, save=OFF_GRID, **asked)
    check_bits(result, SPAN, rounding=1e-15, **asked)
    for i in range(5):
        run = ph.solve(result.problem(i), SPAN, t_eval=result.t, **asked)
        np.testing.assert_allclose(result.energy[:, i], run.energy, rtol=1e-13)
        space = result.angular_momentum_inertial[:, i]
        np.testing.assert_allclose(space, run.angular_momentum_inertial, atol=1e-13)


def test_a_body_whose_axes_are_not_principal():
    body = ph.RigidBody([[2.0, 0.1, 0.0], [0.1, 3.0, 0.2], [0.0, 0.2, 4.5]])
    problem = ph.Problem(body, ph.models.heavy_top(20.0), **START)
    asked = {"method": "mr2", "dt": DT}
    check_bits(ph.solve_ensemble(problem, SPAN, vary=SPINS, **asked), SPAN, rounding=1e-15, **asked)


@pytest.mark.parametrize("name", ["rk4", "adams", "gauss"])
def test_integrators_with_fixed_steps(name):
    asked = {"method": name, "dt": DT}
    result = ph.solve_ensemble(HEAVY, SPAN, vary=SPINS, save=OFF_GRID, **asked)
    check_bits(result, SPAN, alone=nullcontext if name == "gauss" else plain_bits, **asked)


def test_adaptive_members_take_their_own_steps():
    asked = {"method": "dopri5", "rtol": 1e-9}
    result = ph.solve_ensemble(HEAVY, SPAN, vary=SPINS, **asked)
    check_bits(result, SPAN, **asked)
    assert len(set(result.nsteps.tolist())) > 1


def test_free_members_have_the_closed_form():
    result = ph.solve_ensemble(FREE, (0.0, 20.0), vary={"omega": RATES}, save=[0.0, 7.0, 20.0])
    assert result.method == "exact free motion"
    for i in range(3):
        run = ph.solve(result.problem(i), (0.0, 20.0), t_eval=[0.0, 7.0, 20.0])
        np.testing.assert_array_equal(result.omega[:, i], run.omega)
        np.testing.assert_array_equal(result.q[:, i], run.q)


@pytest.mark.parametrize(
    ("span", "dt"), [((0.5, 0.0), 0.02), ((0.3, 1.0), 0.03), ((1.0, -1.0), 0.3)]
)
def test_backward_spans_and_shortened_last_steps(span, dt):
    asked = {"method": "mr2", "dt": dt}
    times = [span[0] + x * (span[1] - span[0]) for x in (0.0, 0.123, 0.5, 1.0)]
    result = ph.solve_ensemble(HEAVY, span, vary=SPINS, save=times, **asked)
    assert result.t.tolist() == times
    check_bits(result, span, **asked)
    final = ph.solve_ensemble(HEAVY, span, vary=SPINS, **asked)
    np.testing.assert_array_equal(final.q[0], result.q[-1])
    grid = ph.solve_ensemble(HEAVY, span, vary=SPINS, save="all", **asked)
    alone = ph.solve(grid.problem(1), span, **asked)
    np.testing.assert_array_equal(grid.t, alone.t)
    np.testing.assert_array_equal(grid.q[:, 1], alone.q)
    some = ph.solve_ensemble(HEAVY, span, vary=SPINS, save=4, **asked)
    rows = [*range(0, len(alone.t) - 1, 4), len(alone.t) - 1]
    np.testing.assert_array_equal(some.t, alone.t[rows])
    np.testing.assert_array_equal(some.omega[:, 2], grid.omega[rows, 2])


def test_a_span_of_nothing():
    result = ph.solve_ensemble(HEAVY, (1.0, 1.0), vary=SPINS, method="mr2", dt=DT)
    np.testing.assert_array_equal(result.omega[0], RATES)
    assert result.nsteps.tolist() == [0, 0, 0]


# ---- many members
@pytest.mark.parametrize("others", [{"chunk": GROUP, "threads": 1}, {"chunk": GROUP, "threads": 3}])
def test_results_do_not_depend_on_chunks_or_threads(many, others):
    assert same(many, solve_many(**others))


def test_members_do_not_depend_on_their_number(many):
    few = solve_many(GROUP + 5, reduce=None, reduce_times=None)
    np.testing.assert_array_equal(few.q, many.q[:, : GROUP + 5])
    for name in MANY["vary"]:
        np.testing.assert_array_equal(few.varied(name), many.varied(name)[: GROUP + 5])


def test_draws_do_not_depend_on_other_varied_quantities(many):
    alone = solve_many(50, vary={"omega": MANY["vary"]["omega"]}, reduce=None, reduce_times=None)
    np.testing.assert_array_equal(alone.varied("omega"), many.varied("omega")[:50])
    other = solve_many(50, seed=12, reduce=None, reduce_times=None)
    assert not (other.varied("omega") == many.varied("omega")[:50]).any()


def test_some_of_many_have_the_bits_of_single_runs(many):
    check_bits(many, SPAN, members=(0, GROUP - 1, GROUP, COUNT - 1), method="mr2", dt=DT)


# ---- members that fail
def growing(t, q, omega, params):
    (growth,) = params
    return growth * omega[0] * omega[0], 0.0, 0.0


EXPLODING = ph.Problem(BODY, ph.torque(growing, {"growth": 0.1}), omega=[1.0, 0.2, 0.1])


def test_a_failed_member_does_not_affect_the_others():
    growth = [0.1, 0.2, 40.0, 0.0, 0.3]  # the third goes to infinity within the span
    asked = {"method": "forward-euler", "dt": 0.01}
    given = {"vary": {"model.growth": growth}, "save": [0.0, 0.02, 1.0]}
    reduce = ["mean(speed)", "quantiles(speed, 0.5)", "attitude", "extremes(omega)"]
    times = {"reduce": reduce, "reduce_times": [0.0, 1.0]}
    result = ph.solve_ensemble(EXPLODING, (0.0, 1.0), **given, **times, **asked)
    alone = ph.solve(result.problem(2), (0.0, 1.0), **asked)
    assert not alone.success
    assert result.success.tolist() == [True, True, False, True, True]
    assert result.status[2] == alone.status
    assert result.nsteps[2] == alone.nsteps
    assert result.t_reached[2] == alone.t[-1]
    np.testing.assert_array_equal(result.omega[-1, 2], alone.omega[-1])
    np.testing.assert_array_equal(result.q[-1, 2], alone.q[-1])
    assert np.isfinite(result.omega).all()
    assert result.message(2).startswith("member 2 stopped at t = ")
    assert result.message(1) == ""
    good = result[result.success]
    assert good.members.tolist() == [0, 1, 3, 4]
    check_bits(good, (0.0, 1.0), members=(), **asked)
    for i in (0, 1, 3, 4):
        run = ph.solve(result.problem(i), (0.0, 1.0), t_eval=result.t, **asked)
        np.testing.assert_array_equal(result.omega[:, i], run.omega)
    assert result.count.tolist() == [5, 4]
    speed = np.linalg.norm(good.omega[-1], axis=1)
    assert result.reductions["speed_mean"][-1] == pytest.approx(speed.mean(), rel=1e-13)
    assert result.reductions["speed_quantiles"][-1, 0] == np.median(speed)
    assert (result.reductions["omega_max"][-1] == good.omega[-1].max(axis=0)).all()
    assert "1 NOT_FINITE" in repr(result)


def test_one_member_without_a_solution():
    strength = [20.0, 1e9, 0.0]
    result = ph.solve_ensemble(
        HEAVY, (0.0, 0.25), vary={"model.strength": strength}, method="imidm", dt=0.02
    )
    alone = ph.solve(result.problem(1), (0.0, 0.25), method="imidm", dt=0.02)
    assert result.status.tolist() == [0, int(alone.status), 0]
    assert not alone.success
    assert (result.nsteps[1], result.t_reached[1]) == (alone.nsteps, alone.t[-1])
    np.testing.assert_array_equal(result.q[0, 1], alone.q[-1])


def test_members_without_common_steps_save_times():
    with pytest.raises(ph.MethodError, match="give the times to save"):
        ph.solve_ensemble(FREE, SPAN, members=2, save="all")
    with pytest.raises(ph.InputError, match="problem must be a Problem, got 3"):
        ph.solve_ensemble(3, SPAN, members=2)


def spin(t, q, omega):
    return omega[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"reduce_times": 10**12}, r"reduce_times=1000000000000 asks for 1e\+12 times, some"),
        ({"members": 10**11}, "100000000000 members are more than"),
        (
            {"method": "dop853", "dt": None, "reduce": ph.reductions.FirstTime(spin, every=1e-13)},
            r"FirstTime: every=1e-13 asks for 1e\+13 times",
        ),
    ],
)
def test_what_does_not_fit_into_memory_is_refused_with_the_numbers(arguments, words):
    arguments = {"members": 5, "method": "mr2", "dt": 0.01, "reduce": "mean(omega)"} | arguments
    vary = {"omega": ph.distributions.Normal([0, 0, 5], 1.0)}
    with pytest.raises(ph.InputError, match=words):
        ph.solve_ensemble(ph.problems.fast_top(), (0, 1), vary=vary, **arguments)
