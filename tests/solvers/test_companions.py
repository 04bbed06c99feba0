"""Variables of a model, integrated with the body: every method and integrator of the registry.

The reference is SciPy's, on equations that are written out in ``support/companions.py``.
"""

from contextlib import nullcontext

import numpy as np
import pytest

import polhode as ph
from polhode.contracts.company import company_of
from polhode.methods.companions import with_companions
from polhode.methods.translation import with_translation
from support.bits import plain_bits
from support.companions import BODY, END, FIRST, NUMBERS, START, error, problem, sloshing
from support.given_motion import plain_python

plain = pytest.mark.usefixtures("plain")


def wrapped(method, name):
    """The record of a method for a problem."""
    given = problem(name)
    if given.moves:
        method = with_translation(method, given.model.depends_on_velocity)
    return with_companions(method, given.moves, company_of(given.model))


# ---- maps
def pairs():
    for method in ph.METHODS:
        for name in ("sloshing", "sloshing_fast", "drifting"):
            yield pytest.param(method, name, id=f"{method}-{name}")


@plain
@pytest.mark.parametrize(("method", "name"), list(pairs()))
def test_every_map_has_its_declared_order_or_is_refused(method, name):
    record, given = ph.METHODS[method], problem(name)
    if not record.takes(given.model):
        with pytest.raises(ph.MethodError, match=f"method '{method}'"):
            ph.solve(given, (0, END), method=method, dt=0.1)
        return
    order = wrapped(record, name).order
    sizes = (0.05, 0.025) if order <= 4 else (0.1, 0.05)
    errors = [error(ph.solve(given, (0, END), method=method, dt=dt), name) for dt in sizes]
    if errors[1] < 1e-12:
        return
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


@plain
@pytest.mark.parametrize("method", ph.METHODS)
def test_symmetric_maps_go_back_to_where_they_began(method):
    record, given = ph.METHODS[method], problem("sloshing")
    if not (record.takes(given.model) and record.symmetric):
        pytest.skip("not symmetric, or refused")
    there = ph.solve(given, (0, 1.0), method=method, dt=0.05)
    solver = ph.prepare(given, method=method, dt=0.05)
    last = {"attitude": there.rotation[-1], "omega": there.omega[-1]}
    ends = {name: values[-1] for name, values in there.variables.items()}
    back = solver((1.0, 0.0), **last, variables=ends)
    assert back.variables["slosh"][-1] == pytest.approx(FIRST["slosh"], abs=1e-13)
    assert back.variables["heat"][-1] == pytest.approx(FIRST["heat"], abs=1e-13)
    assert back.omega[-1] == pytest.approx(START["omega"], abs=1e-13)


# ---- integrators
BODIES = [record.name for record in ph.INTEGRATORS.values() if not record.linear]


@plain
@pytest.mark.parametrize("name", ["sloshing_fast", "drifting"])
@pytest.mark.parametrize("method", BODIES)
def test_every_integrator_agrees_with_scipy(method, name):
    adaptive = ph.INTEGRATORS[method].adaptive
    run = ph.solve(problem(name), (0, END), method=method, **steps(adaptive, 1e-11))
    assert run.success
    assert error(run, name) < (1e-9 if adaptive or method == "gauss" else 1e-6)


@plain
@pytest.mark.parametrize("variables", [*ph.FORMULATIONS, *ph.COORDINATES])
def test_every_formulation_agrees_with_scipy(variables):
    asked = {"method": "dop853", "rtol": 1e-10, "formulation": variables}
    run = ph.solve(problem("sloshing_fast"), (0, END), **asked)
    assert error(run, "sloshing_fast") < 1e-7


def steps(adaptive, rtol=1e-8):
    return {"rtol": rtol} if adaptive else {"dt": 0.02}


@plain
def test_errors_of_variables_count_relative_to_their_scale():
    """A variable of another size neither ruins the steps nor is ignored."""

    def grown(size):
        def function(t, q, omega, y, params):
            (n1, n2, n3), ((ds, dds), heat) = sloshing(
                t, q, omega, ((y[0][0] / size, y[0][1] / size), y[1]), params
            )
            return (n1, n2, n3), ((ds * size, dds * size), heat)

        first = {"slosh": (0.2 * size, -0.1 * size), "heat": 0.5}
        model = ph.coupled(function, first, NUMBERS)
        run = ph.solve(ph.Problem(BODY, model, **START), (0, END), method="dop853", rtol=1e-9)
        return run.nsteps, run.variables["slosh"][-1] / size

    counts, ends = zip(*map(grown, (1e-6, 1.0, 1e6)), strict=True)
    assert len(set(counts)) == 1
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9)
    asked = {"method": "dop853", "rtol": 1e-9}
    loose = ph.coupled(sloshing, FIRST, NUMBERS, scale={"slosh": 1e6, "heat": 1e6})
    fewer = ph.solve(ph.Problem(BODY, loose, **START), (0, END), **asked).nsteps
    assert fewer <= counts[1]


# ---- bits
MANY = 9
MODEL = problem("sloshing").model
ALL = [*(name for name, record in ph.METHODS.items() if record.takes(MODEL)), *BODIES]


@plain
@pytest.mark.parametrize("method", ALL)
def test_blocks_of_bodies_do_what_single_ones_do(method, rng):
    """Every method, in plain Python; machine code is compared below."""
    record = ph.INTEGRATORS.get(method)
    given = {"method": method, **steps(record is not None and record.adaptive, 1e-5)}
    vary = {"model.slosh": rng.normal(size=(3, 2)), "model.heat": rng.normal(size=3)}
    many = ph.solve_ensemble(problem("sloshing"), (0, 0.05), vary=vary, save=[0.03, 0.05], **given)
    assert many.success.all()
    for k in range(3):
        alone = ph.solve(many.problem(k), (0, 0.05), t_eval=[0.03, 0.05], **given)
        assert alone.q.tobytes() == many.q[:, k].tobytes()
        for key, values in alone.variables.items():
            assert values.tobytes() == many.variables[key][:, k].tobytes()


@pytest.mark.parametrize("method", ["mr2", "imidm", "rk4", "gauss", "dop853", "extrapolation"])
def test_members_of_ensembles_have_the_bits_of_single_runs(method, rng):
    name = "sloshing" if method == "mr2" else "sloshing_fast"
    record = ph.INTEGRATORS.get(method)
    given = steps(record is not None and record.adaptive)
    vary = {"model.slosh": rng.normal(size=(MANY, 2)), "model.heat": rng.normal(size=MANY)}
    times = [0.31, 0.5]
    many = ph.solve_ensemble(problem(name), (0, 0.5), vary=vary, save=times, method=method, **given)
    assert many.success.all()
    fours = method in ("gauss", "extrapolation")  # plain Python rounds them otherwise
    with nullcontext() if fours else plain_bits():
        for k in (0, MANY - 1):
            alone = ph.solve(many.problem(k), (0, 0.5), method=method, t_eval=times, **given)
            assert alone.q.tobytes() == many.q[:, k].tobytes()
            for key, values in alone.variables.items():
                assert values.tobytes() == many.variables[key][:, k].tobytes()


@plain
@pytest.mark.parametrize("method", ALL)
def test_interrupted_runs_resume_to_the_same_bits(method, tmp_path, monkeypatch):
    from polhode.solvers import checkpoint

    class Killed(Exception):
        pass

    def flaky(*given, real=checkpoint.write, count=[0]):  # noqa: B006
        count[0] += 1
        if count[0] == 2:
            raise Killed
        real(*given)

    given, record = problem("sloshing"), ph.INTEGRATORS.get(method)
    asked = {"method": method, **steps(record is not None and record.adaptive)}
    end = END if "rtol" in asked else 0.3
    whole = ph.solve(given, (0, end), **asked)
    file = tmp_path / "run.ckpt"
    monkeypatch.setattr(checkpoint, "write", flaky)
    with pytest.raises(Killed):
        ph.solve(given, (0, end), checkpoint=file, checkpoint_every=2, **asked)
    again = ph.resume(file, model=given.model)
    assert again.q.tobytes() == whole.q.tobytes()
    for key, values in whole.variables.items():
        assert again.variables[key].tobytes() == values.tobytes()
    other = ph.coupled(sloshing, FIRST | {"heat": 0.6}, NUMBERS, scale={"slosh": 0.2})
    with pytest.raises(ph.InputError, match="model"):
        ph.resume(file, model=other)


# ---- results
@plain
def test_dense_output_events_and_files(tmp_path):
    def cold(t, q, omega, y):
        return y[1] - 0.3

    cold.terminal = True
    run = ph.solve(problem("sloshing"), (0, END), rtol=1e-9, method="dop853", events=cold)
    assert run.t[-1] == run.t_events[0][0]
    assert run.variables["heat"][-1] == pytest.approx(0.3, abs=1e-12)
    there = run.sol([0.1, 0.2])
    assert there.variables["slosh"].shape == (2, 2)
    assert there[1].variables["heat"].shape == (1,)
    slope = (run.sol(0.1 + 1e-5).omega - run.sol(0.1 - 1e-5).omega) / 2e-5
    np.testing.assert_allclose(there.angular_acceleration[0], slope[0], atol=1e-8)
    for file in ("run.nc", "run.zarr"):
        run.save(tmp_path / file)
        back = ph.load(tmp_path / file)
        assert back.problem["variables"] == {"slosh": [0.2, -0.1], "heat": 0.5}
        for key, values in run.variables.items():
            assert back.variables[key].tobytes() == values.tobytes()
    assert {"slosh_0", "slosh_1", "heat"} <= set(run.to_dataframe().columns)
    assert run.to_xarray()["variable_slosh"].shape == (len(run), 2)
    assert run.energy is None
    run.plot("variables")
    with pytest.raises(
        ph.InputError, match=r"needs the variable 'x', and this run has slosh, heat"
    ):
        run.plot("variables", name="x")


@plain
def test_terms_keep_their_variables_apart():
    lag = ph.coupled(
        lambda t, q, w, y, p: ((0.0, 0.0, -0.1 * y), w[2] - y), {"heat": 0.3}, name="lag"
    )
    top = ph.models.heavy_top(2.0)
    asked = {"method": "dop853", "rtol": 1e-10, "t_eval": [1.0]}
    slosh = problem("sloshing").model
    runs = [
        ph.solve(ph.Problem(BODY, model, **START), (0, 1.0), **asked)
        for model in (slosh + top + lag, lag + slosh + top)
    ]
    assert set(runs[0].variables) == {"slosh", "sloshing.heat", "lag.heat"}
    for key, values in runs[0].variables.items():
        np.testing.assert_allclose(values, runs[1].variables[key], atol=1e-9)
    np.testing.assert_allclose(runs[0].omega, runs[1].omega, atol=1e-9)
    alone = ph.solve(ph.Problem(BODY, top + lag, **START), (0, 1.0), **asked)
    assert list(alone.variables) == ["heat"]


@plain
def test_ensembles_reduce_variables_and_store_them(tmp_path):
    from polhode.ensembles.reductions import FirstTime

    def cold(t, q, omega, y):
        return y[1] - 0.5

    vary = {"model.heat": np.linspace(0.4, 0.8, 5)}
    asked = {"vary": vary, "method": "rk4", "dt": 0.05, "save": [0.5, 1.0], "reduce_times": 3}
    asked["reduce"] = ["mean(heat)", "mean(slosh)", "quantiles(heat)", FirstTime(cold)]
    memory = ph.solve_ensemble(problem("sloshing"), (0, 1.0), **asked)
    stored = ph.solve_ensemble(problem("sloshing"), (0, 1.0), out=tmp_path / "many.zarr", **asked)
    memory.save(tmp_path / "many.nc")
    for result in (stored, ph.load(tmp_path / "many.zarr"), ph.load(tmp_path / "many.nc")):
        for key, values in memory.variables.items():
            assert result.variables[key].tobytes() == values.tobytes()
        assert set(result.reductions) == set(memory.reductions)
    np.testing.assert_allclose(
        memory.reductions["heat_mean"][-1], memory.variables["heat"][-1].mean(), rtol=1e-14
    )
    assert memory.reductions["slosh_mean"].shape == (3, 2)
    assert np.isfinite(memory.reductions["cold_first_time"]).any()
    assert memory[2:4].variables["slosh"].shape == (2, 2, 2)
    assert {"slosh_0", "heat", "varied_model.heat"} <= set(memory.to_dataframe().columns)
    with pytest.raises(
        ph.InputError, match=r"no quantity 'cool'; choose from q, .*, slosh, heat, or"
    ):
        ph.solve_ensemble(problem("sloshing"), (0, 1), **asked | {"reduce": "mean(cool)"})
    with pytest.raises(ph.InputError, match="'slosh' has several components"):
        ph.solve_ensemble(problem("sloshing"), (0, 1), **asked | {"reduce": "quantiles(slosh)"})


# ---- refusals
def test_wrong_functions_and_arguments():
    def short(t, q, omega, y, params):
        return (0.0, 0.0, 0.0)

    def wide(t, q, omega, y, params):
        return (0.0, 0.0, 0.0), ((1.0, 2.0, 3.0), 1.0)

    for function, message in (
        (short, r"the function of model 'short' fails at the initial state: .* \(torque, dy\)"),
        (wide, r"the slope of y must be of the form of y, \(\(0.0, 0.0\), 0.0\), not"),
    ):
        with pytest.raises(ph.InputError, match=message):
            ph.solve(ph.Problem(BODY, ph.coupled(function, FIRST), **START), (0, 1), rtol=1e-6)
    for variables, message in (
        ({}, "variables must map names to initial values"),
        ({"a b": 1.0}, "variables must have names such as 'ring', got 'a b'"),
        ({"a": "x"}, r"variables\['a'\] must be a number or a sequence of numbers, got 'x'"),
        ({"a": (1.0, float("nan"))}, r"variables\['a'\]\[1\] must be finite"),
        ({"a": ()}, r"variables\['a'\] must have 1 to 64 numbers, got 0"),
    ):
        with pytest.raises(ph.InputError, match=message):
            ph.coupled(sloshing, variables)
    with pytest.raises(ph.InputError, match="scale has no variable 'b' to scale, only a"):
        ph.coupled(sloshing, {"a": 1.0}, scale={"b": 1.0})
    with pytest.raises(ph.InputError, match=r"scale\['a'\] must be positive and finite, got 0"):
        ph.coupled(sloshing, {"a": 1.0}, scale={"a": 0})
    with pytest.raises(ph.InputError, match="must take 5 arguments"):
        ph.coupled(lambda t, q, omega, y: None, {"a": 1.0})


def test_what_cannot_be_is_refused_by_name():
    given = problem("sloshing")
    with pytest.raises(ph.MethodError, match="'strang' merges its kicks"):
        ph.solve(given, (0, 1), method="strang", dt=0.1)
    with pytest.raises(ph.MethodError, match="no sums are compensated beside the variables"):
        ph.solve(given, (0, 1), method="mr2", dt=0.1, compensated=True)
    with pytest.raises(ph.InputError, match="a Simulator takes no model with variables"):
        ph.Simulator(BODY, model=given.model)
    with pytest.raises(ph.InputError, match="compare takes no model with variables"):
        ph.compare(given, (0, 1))
    asked = {"events": lambda t, q, omega, y: y, "rtol": 1e-6, "method": "dop853"}
    free = ph.Problem(BODY, **START)
    with pytest.raises(ph.InputError, match=r"takes \(t, q, omega, y\), but the model has no var"):
        ph.solve(free, (0, 1), **asked)
    solver = ph.prepare(given, method="rk4", dt=0.1)
    with pytest.raises(ph.InputError, match="there is no 'cool'; the model has slosh, heat"):
        solver((0, 1), variables={"cool": 1.0})
    with pytest.raises(ph.InputError, match=r"variables\['slosh'\] must have 2 numbers, got 1.0"):
        solver((0, 1), variables={"slosh": 1.0})


@plain
def test_auto_takes_one_method_for_all():
    run = ph.solve(problem("sloshing"), (0, 1), dt=0.01)
    assert run.method == "rk4"
    assert "variables of its model" in run.reason


# ---- beside a given angular velocity
def spun(t, q, y, params):
    """Rates of a body that follow a filter, y = (rate, its lag)."""
    (a, b, c), _ = y
    return a + 0.1 * q[1], b, c * params[0]


def spun_slope(t, q, y, params):
    (a, b, c), lag = y
    return (b - a, 0.2 * lag, -0.5 * c + q[2]), a - lag


SPUN = {"variables": {"rate": (0.3, 0.2, 1.0), "lag": 0.1}, "slope": spun_slope, "params": (1.5,)}


def spun_reference(inertial):
    def rate(t, z):
        q, y = z[:4], ((z[4], z[5], z[6]), z[7])
        w, u, omega = q[0], q[1:], np.array(spun(t, q, y, SPUN["params"]))
        side = -1.0 if inertial else 1.0
        dq = 0.5 * np.array([-u @ omega, *(w * omega + side * np.cross(u, omega))])
        slope = spun_slope(t, q, y, SPUN["params"])
        return [*dq, *slope[0], slope[1]]

    first = [1.0, 0.0, 0.0, 0.0, 0.3, 0.2, 1.0, 0.1]
    return solve(rate, first)


def solve(rate, first):
    from scipy.integrate import solve_ivp

    return solve_ivp(rate, (0.0, 3.0), first, "DOP853", rtol=3e-14, atol=1e-15).y[:, -1]


@plain
@pytest.mark.parametrize("frame", ["body", "inertial"])
@pytest.mark.parametrize("method", ph.INTEGRATORS)
def test_variables_beside_a_given_angular_velocity(method, frame):
    record = ph.INTEGRATORS[method]
    asked = {"frame": frame, "method": method, **SPUN, **steps(record.adaptive, 1e-11)}
    if record.linear:
        with pytest.raises(ph.MethodError, match=r"with omega\(t, q\) or variables use extrap"):
            ph.integrate_angular_velocity(spun, (0, 3), **asked)
        return
    run = ph.integrate_angular_velocity(spun, (0, 3), **asked)
    right = spun_reference(frame == "inertial")
    found = [*run.q[-1], *run.variables["rate"][-1], run.variables["lag"][-1]]
    assert found == pytest.approx(right, abs=1e-9 if record.adaptive or method == "gauss" else 1e-6)


@plain
def test_events_and_files_beside_a_given_angular_velocity(tmp_path):
    def level(t, q, omega, y):
        return y[1] - 0.2

    asked = {"frame": "body", "method": "dop853", "rtol": 1e-10, **SPUN}
    run = ph.integrate_angular_velocity(spun, (0, 3), events=level, **asked)
    assert run.sol(run.t_events[0]).variables["lag"] == pytest.approx([0.2], abs=1e-10)
    run.save(tmp_path / "run.nc")
    assert (
        ph.load(tmp_path / "run.nc").variables["rate"].tobytes() == run.variables["rate"].tobytes()
    )
    slope = (run.sol(1 + 1e-4).omega - run.sol(1 - 1e-4).omega) / 2e-4
    np.testing.assert_allclose(run.sol(1.0).angular_acceleration, slope, atol=1e-6)
    with pytest.raises(ph.InputError, match=r"slope= and scale= are for variables"):
        ph.integrate_angular_velocity(lambda t: (0, 0, 1), (0, 1), frame="body", slope=spun_slope)
    with pytest.raises(ph.InputError, match=r"omega must take \(t, q, y, params\)"):
        ph.integrate_angular_velocity(lambda t: (0, 0, 1), (0, 1), **asked)
    wrong = asked | {"slope": lambda t, q, y, params: (1.0, 2.0)}
    with pytest.raises(ph.InputError, match=r"omega or slope fails at t = 0.0: .*form of y"):
        ph.integrate_angular_velocity(spun, (0, 1), **wrong)


@plain
def test_other_params_are_not_mistaken_for_those_before():
    """The same functions with numbers, a table, and more numbers."""

    def turn(t, q, y, params):
        return 0.0, 0.0, params[0][0] + y

    def still(t, q, y, params):
        return 0.0

    asked = {"frame": "body", "method": "rk4", "dt": 0.1, "variables": {"y": 0.0}, "slope": still}
    for rates in ((1.0, 5.0), np.linspace(2.0, 3.0, 40), (3.0, 1.0, 1.0), np.full(20, 4.0)):
        run = ph.integrate_angular_velocity(turn, (0, 0.1), params=[rates], **asked)
        assert run.omega[0].tolist() == [0.0, 0.0, rates[0]]


@plain
def test_one_function_may_return_both():
    def both(t, q, y, params):
        return spun(t, q, y, params), spun_slope(t, q, y, params)

    asked = {"frame": "body", "method": "dop853", "rtol": 1e-10, **SPUN}
    apart = ph.integrate_angular_velocity(spun, (0, 3), **asked)
    together = ph.integrate_angular_velocity(both, (0, 3), **asked | {"slope": None})
    assert together.q.tobytes() == apart.q.tobytes()
    assert together.omega.tobytes() == apart.omega.tobytes()
    with pytest.raises(ph.InputError, match=r"omega fails at t = 0.0: .*; it must return three"):
        ph.integrate_angular_velocity(spun, (0, 3), **asked | {"slope": None})


def test_formulations_beside_a_given_angular_velocity():
    with plain_python():
        for variables in ph.FORMULATIONS:
            asked = {"frame": "body", "method": "dop853", "rtol": 1e-9, **SPUN}
            run = ph.integrate_angular_velocity(spun, (0, 3), formulation=variables, **asked)
            assert run.variables["lag"][-1] == pytest.approx(spun_reference(False)[7], abs=1e-7)


# ---- found by hostile use
def decay(t, q, omega, y, params):
    return (0.0, 0.0, 0.0), -y


@plain
def test_results_do_not_depend_on_what_ran_before():
    """The scales of a library's model were those of the first one that was solved."""

    def ends(*inertias):
        found = []
        for inertia in inertias:
            model = ph.models.ring_damper(0.1 * inertia, inertia)
            given = ph.Problem(BODY, model, **START)
            found.append(ph.solve(given, (0, 5), method="dop853", rtol=1e-9).nsteps)
        return found

    a, b = ends(1e3, 1e-9)
    c, d = ends(1e-9, 1e3)
    assert (a, b) == (d, c)
    assert a != b


@plain
def test_small_differences_converge():
    """The slope of the second variable is a difference of large numbers, and was never settled."""

    def function(t, q, omega, y, params):
        (a, b, c), _ = y
        k, size = params
        return (0.0, 0.0, 0.0), (
            (k * (b - c), k * (c - a), k * (a - b)),
            a * a + b * b + c * c - size,
        )

    rng = np.random.default_rng(0)
    for _ in range(40):
        v, k = rng.normal(size=3) * 100, rng.uniform(1, 8)
        first = {"v": tuple(v), "s": 0.0}
        model = ph.coupled(function, first, [k, float(v @ v)], scale={"v": 100.0})
        run = ph.solve(ph.Problem(BODY, model, **START), (0, 0.5), method="mr2", dt=0.05)
        assert run.success, run.message


def test_names_that_a_run_has_already_are_refused():
    for name in ("q", "omega", "velocity", "energy", "time", "status", "q_w"):
        with pytest.raises(ph.InputError, match=f"must not be called '{name}', which a run has"):
            ph.coupled(decay, {name: 1.0})
    with pytest.raises(ph.InputError, match=r"would be the column 'h_0' of tables"):
        ph.coupled(decay, {"h": (1.0, 2.0), "h_0": 1.0})
    with pytest.raises(ph.InputError, match="'h' is in variables and in params"):
        ph.coupled(decay, {"h": 1.0}, params={"h": 3.0})


def test_every_quantity_and_column_is_taken():
    from polhode.contracts.company import TAKEN
    from polhode.ensembles.quantities import QUANTITIES
    from polhode.ensembles.store import REACHED

    run = ph.solve(ph.problems.off_centre_spring(), (0, 0.01), method="mr2", dt=0.01)
    assert set(QUANTITIES) | set(REACHED) | set(run.to_dataframe().columns) <= TAKEN


@plain
def test_stores_hold_names_with_dots(tmp_path):
    given = ph.coupled(decay, {"h": 1.0}, name="wheel") + ph.coupled(decay, {"h": 2.0}, name="b")
    run = ph.solve(ph.Problem(BODY, given, **START), (0, 0.3), method="rk4", dt=0.1)
    for file in ("run.zarr", "run.nc"):
        run.save(tmp_path / file)
        assert (
            ph.load(tmp_path / file).variables["wheel.h"].tolist()
            == run.variables["wheel.h"].tolist()
        )
    slash = ph.coupled(decay, {"h": 1.0}, name="a/b") + ph.coupled(decay, {"h": 2.0}, name="c")
    run = ph.solve(ph.Problem(BODY, slash, **START), (0, 0.3), method="rk4", dt=0.1)
    with pytest.raises(ph.FileError, match="must not contain /"):
        run.save(tmp_path / "other.zarr")
    assert not (tmp_path / "other.zarr").exists()


@plain
def test_terms_of_any_names_are_told_apart():
    names = ("w", "w", "w1")
    model = ph.models.free()
    for k, name in enumerate(names):
        model = model + ph.coupled(decay, {"h": float(k + 1)}, name=name)
    run = ph.solve(ph.Problem(BODY, model, **START), (0, 0.1), method="rk4", dt=0.1)
    assert sorted(values[0] for values in run.variables.values()) == [1.0, 2.0, 3.0]


def test_errors_name_the_term_that_is_wrong():
    wrong = ph.torque(lambda t, q, w, p: (1.0 / 0.0, 0.0, 0.0), name="wrong")
    model = ph.coupled(decay, {"h": 1.0}) + wrong
    with pytest.raises(ph.InputError, match="model 'wrong' fails at the initial state: ZeroDiv"):
        ph.solve(ph.Problem(BODY, model, **START), (0, 1), rtol=1e-6)
    odd = ph.coupled(lambda t, q, w, y, p: ((0.0, 0.0, 0.0), 1j), {"h": 1.0}, name="odd")
    with pytest.raises(ph.InputError, match="the function of model 'odd' fails at the initial"):
        ph.solve(ph.Problem(BODY, odd, **START), (0, 1), rtol=1e-6)
    assert ph.coupled(decay, {"a": np.array(1.0)}).variables == 1.0
    for value, message in (
        (10**400, "must be finite"),
        (b"ab", "must be a number or a sequence"),
        ({1.0}, "seq"),
    ):
        with pytest.raises(ph.InputError, match=message):
            ph.coupled(decay, {"a": value})
    with pytest.raises(ph.InputError, match=r"scale\['a'\] must be from 1e-100 to 1e\+100"):
        ph.coupled(decay, {"a": 1.0}, scale={"a": 1e-200})
    with pytest.raises(ph.InputError, match="variables must have at most 64 numbers, got 65"):
        ph.coupled(decay, {f"a{k}": 1.0 for k in range(65)})
    asked = {"frame": "body", "params": np.array([1.0, 2.0])}
    with pytest.raises(ph.InputError, match=r"omega must be a function omega\(t, q, params\)"):
        ph.integrate_angular_velocity(lambda t: (0.0, 0.0, 1.0), (0, 1), **asked)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dop853", "extrapolation", "imidm", "gauss"])
def test_as_many_numbers_as_there_may_be_compile(method):
    slopes = ", ".join(f"w[0] - y[{k}]" for k in range(64))
    space: dict = {}
    exec(f"def many(t, q, w, y, p):\n    return (0.0, 0.0, 0.0), ({slopes})", space)
    given = ph.Problem(BODY, ph.coupled(space["many"], {"a": (1.0,) * 64}), **START)
    record = ph.INTEGRATORS.get(method)
    assert ph.solve(
        given, (0, 1), method=method, **steps(record is not None and record.adaptive)
    ).success
