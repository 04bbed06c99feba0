"""Fits: kinds of observations and unknowns, holds, losses, edges, results."""

import json

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from support.fits import METHOD, SPAN, distance, disturbed, observed, top

pytestmark = pytest.mark.usefixtures("plain")
TENSOR = [[2.0, 0.1, -0.2], [0.1, 3.0, 0.15], [-0.2, 0.15, 4.2]]
TIMES = np.arange(1, 21) * 0.1


def pulls(fit, truth):
    sigmas = np.sqrt(np.diag(fit.covariance))
    free = sigmas > 1e-12
    return distance(fit, truth)[free] / sigmas[free]


@pytest.fixture
def seen(rng):
    return observed(top(), rng, TIMES)


def test_attitudes_fix_everything_but_one_factor(seen, rng):
    start = disturbed(seen.truth, rng)
    free = ["state", "moments", "model.strength"]
    fit = ph.fit(start, seen.attitudes(), free=free, hold="model.strength", t_span=SPAN, **METHOD)
    assert fit.success
    assert fit.values["model.strength"] == start.model.numbers[0]
    assert fit.standard_deviations["model.strength"] == 0.0
    factor = start.model.numbers[0] / seen.truth.model.numbers[0]
    assert np.allclose(fit.values["moments"], factor * np.array([2.0, 3.0, 4.5]), rtol=0.1)
    assert fit.degrees_of_freedom == 60 - 9
    assert 0.5 < fit.chi_square / fit.degrees_of_freedom < 2.0


def test_products_of_inertia(rng):
    truth = top(TENSOR)
    seen = observed(truth, rng, TIMES)
    start = top((2.05, 3.0, 4.15), omega=(2.02, 3.0, 3.95))
    sets = [seen.attitudes(), seen.rates()]
    fit = ph.fit(start, sets, free=["state", "inertia"], t_span=SPAN, **METHOD)
    assert fit.success
    assert fit.values["inertia"].shape == fit.standard_deviations["inertia"].shape == (3, 3)
    assert np.abs(pulls(fit, truth)).max() < 4.0
    assert np.array_equal(fit.problem.body.inertia, fit.values["inertia"])


def test_products_of_inertia_from_a_symmetric_start(rng):
    truth = top(TENSOR)
    seen = observed(truth, rng, TIMES)
    start = top((2.5, 2.5, 4.15), omega=(2.02, 3.0, 3.95))
    sets = [seen.attitudes(), seen.rates()]
    fit = ph.fit(start, sets, free=["state", "inertia"], t_span=SPAN, **METHOD)
    assert fit.success
    assert np.abs(pulls(fit, truth)).max() < 4.0


def test_directions_and_a_far_start(rng):
    truth = top(attitude=Rotation.from_rotvec([0.2, -0.4, 0.3]))
    run = observed(truth, rng, TIMES).run
    stars = np.array([[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]])
    sets = [
        ph.observe.directions(
            run.t, run.to_body(star) + 1e-4 * rng.normal(size=(20, 3)), star, sigma=1e-4, name=name
        )
        for star, name in zip(stars, ["Sun", "Vega"], strict=True)
    ]
    start = top(attitude=Rotation.from_rotvec([1.6, 0.3, -0.5]))
    fit = ph.fit(start, sets, free="attitude", t_span=SPAN, **METHOD)
    assert fit.success
    there = Rotation.from_quat(truth.attitude, scalar_first=True)
    assert (fit.values["attitude"].inv() * there).magnitude() < 1e-3
    assert fit.degrees_of_freedom == 2 * 2 * 20 - 3
    turn = [fit.value_of(f"attitude.{c}")[0] for c in "xyz"]
    given = Rotation.from_quat(start.attitude, scalar_first=True)
    assert (given * Rotation.from_rotvec(turn) * there.inv()).magnitude() < 1e-3


def test_known_directions_may_depend_on_time(seen):
    def sun(t):
        return np.cos(0.1 * t), np.sin(0.1 * t), 0.0

    known = np.array([sun(t) for t in seen.run.t])
    measured = 3.0 * seen.run.to_body(known)
    start = disturbed(seen.truth, seen.rng)
    values = [
        ph.fit(
            start,
            ph.observe.directions(seen.run.t, measured, what, sigma=1e-3),
            free="omega",
            t_span=SPAN,
            **METHOD,
        ).values["omega"]
        for what in (sun, known)
    ]
    assert np.array_equal(*values)


def test_positions_of_a_moving_body(rng):
    model = ph.models.spring(3.0, (0.0, 0.0, 1.0), (0.1, 0.2, -0.1))
    given = {"omega": [0.4, 0.5, -0.3], "position": [0.1, 0.2, 0.3], "velocity": [0.4, -0.2, 0.1]}
    truth = ph.Problem(ph.RigidBody([2.0, 3.0, 4.5], mass=2.0), model, **given)
    run = ph.solve(truth, SPAN, t_eval=TIMES, **METHOD)
    sets = [
        ph.observe.positions(run.t, run.x + 1e-3 * rng.normal(size=run.x.shape), sigma=1e-3),
        ph.observe.attitudes(run.t, run.rotation, sigma=1e-3),
    ]
    given["velocity"] = [0.5, -0.1, 0.0]
    start = ph.Problem(ph.RigidBody([2.0, 3.0, 4.5], mass=2.2), model, **given)
    fit = ph.fit(start, sets, free=["state", "mass"], t_span=SPAN, **METHOD)
    assert fit.success
    assert abs(fit.values["mass"] - 2.0) < 4 * fit.standard_deviations["mass"] < 0.1
    assert fit.problem.body.mass == fit.values["mass"]
    off = (fit.values["velocity"] - truth.velocity) / fit.standard_deviations["velocity"]
    assert np.abs(off).max() < 4.0


def light(t, q, params):
    w, x, y, z = q
    height = w * w - x * x - y * y + z * z
    return params[0] + params[1] * height * height


def test_a_light_curve_with_unknown_parameters(seen):
    run, rng = seen.run, seen.rng
    clean = np.array([light(t, q, (0.4, 2.0)) for t, q in zip(run.t, run.q, strict=True)])
    curve = ph.observe.function(
        light,
        run.t,
        clean + 1e-3 * rng.normal(size=20),
        sigma=1e-3,
        params={"dark": 0.5, "bright": 1.8},
        name="light",
    )
    free = ["angular_momentum", "light.dark", "light.bright"]
    start = disturbed(seen.truth, rng, 1e-3)
    start = ph.Problem(seen.truth.body, seen.truth.model, omega=start.omega)
    fit = ph.fit(start, curve, free=free, t_span=SPAN, **METHOD)
    assert fit.success
    for name, value in (("light.dark", 0.4), ("light.bright", 2.0)):
        assert abs(fit.values[name] - value) < 4 * fit.standard_deviations[name] < 0.1
    assert fit.run.sensitivity["angular_momentum"].shape == (20, 6, 3)


def test_without_a_momentum_the_rate_stays(seen):
    fit = ph.fit(top((2.1, 3.0, 4.5)), seen.attitudes(), free="moments", t_span=SPAN, **METHOD)
    assert np.allclose(fit.problem.omega, (2.0, 3.0, 4.0), rtol=1e-14)
    assert np.abs(pulls(fit, seen.truth)).max() < 4.0


# ---- holds
def holding(seen, hold, free=("state", "moments", "model.strength")):
    start = disturbed(seen.truth, np.random.default_rng(4))
    sets = [seen.attitudes(), seen.rates()]
    return start, ph.fit(start, sets, free=free, hold=hold, t_span=SPAN, **METHOD)


def test_named_holds(seen):
    start, fit = holding(seen, ["trace of inertia"])
    assert np.isclose(fit.values["moments"].sum(), start.body.principal_moments.sum(), rtol=1e-12)
    start, fit = holding(seen, "largest moment")
    assert np.isclose(fit.values["moments"].max(), start.body.principal_moments.max(), rtol=1e-12)
    start, fit = holding(seen, "|angular momentum|")
    sizes = [np.linalg.norm(p.angular_momentum) for p in (start, fit.problem)]
    assert np.isclose(*sizes, rtol=1e-12)
    _, fit = holding(seen, "|angular momentum|", ["attitude", "omega", "moments"])
    sizes = [np.linalg.norm(p.angular_momentum) for p in (start, fit.problem)]
    assert np.isclose(*sizes, rtol=1e-12)


def test_largest_moment_of_a_tensor(rng):
    seen = observed(top(TENSOR), rng, TIMES)
    start, fit = holding(seen, "largest moment", ["state", "inertia", "model.strength"])
    sizes = [p.body.principal_moments.max() for p in (start, fit.problem)]
    assert np.isclose(*sizes, rtol=1e-12)
    v = np.linalg.eigh(fit.values["inertia"])[1][:, 2]
    places = [fit.names.index(f"inertia.I{c}") for c in ("xx", "yy", "zz", "xy", "xz", "yz")]
    row = [v[0] ** 2, v[1] ** 2, v[2] ** 2, 2 * v[0] * v[1], 2 * v[0] * v[2], 2 * v[1] * v[2]]
    assert abs(row @ fit.covariance[np.ix_(places, places)] @ row) < 1e-18


def test_sums_and_functions(seen):
    start, fit = holding(seen, {"moments.I1": 1.0, "moments.I2": -2.0})
    both = [p.body.principal_moments @ [1.0, -2.0, 0.0] for p in (start, fit.problem)]
    assert np.isclose(*both, rtol=1e-12)

    def product(values):
        return values["moments"][0] * values["model.strength"]

    start, fit = holding(seen, [product])
    held = start.body.principal_moments[0] * start.model.numbers[0]
    assert np.isclose(product(fit.values), held, rtol=1e-12)
    assert fit.hold == ("product",)


# ---- outliers, edges, ends
def test_outliers_are_flagged_and_a_robust_loss_does_not_follow_them(seen):
    clean = seen.rates()
    clean.omega[[3, 11]] += [0.05, -0.02, 0.03]
    start = disturbed(seen.truth, seen.rng)
    given = {"free": ["omega", "moments"], "hold": "trace of inertia", "t_span": SPAN, **METHOD}
    start = ph.Problem(seen.truth.body, seen.truth.model, omega=start.omega)
    plain = ph.fit(start, clean, **given)
    robust = ph.fit(start, clean, loss="soft_l1", **given)
    assert set(plain.outliers["rates"]) >= {3, 11}
    assert robust.outliers["rates"].tolist() == [3, 11]
    assert np.abs(pulls(robust, seen.truth)).max() < 4.0
    assert np.abs(pulls(plain, seen.truth)).max() > 5.0
    assert "soft_l1" in repr(plain)
    assert "2 in rates" in repr(robust)


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy", "arctan"])
def test_outliers_that_are_far_away(seen, loss):
    """Least squares end so far from the truth that most observations look like outliers there."""
    gross = seen.rates()
    gross.omega[[3, 4, 11]] += [0.5, -0.2, 0.3]
    start = disturbed(seen.truth, seen.rng)
    given = {"free": ["omega", "moments"], "hold": "trace of inertia", "t_span": SPAN, **METHOD}
    start = ph.Problem(seen.truth.body, seen.truth.model, omega=start.omega)
    fit = ph.fit(start, gross, loss=loss, **given)
    assert fit.success
    assert fit.outliers["rates"].tolist() == [3, 4, 11]
    assert np.abs(pulls(fit, seen.truth)).max() < 4.0


def test_bodies_that_cannot_be_are_said_to_be_so(rng):
    """Euler's equations turn a body with I3 > I1 + I2 as well, and no body has these moments."""
    moments = np.array([1.0, 1.1, 2.4])

    def slope(t, m):
        return np.cross(m, m / moments)

    found = solve_ivp(slope, SPAN, moments * [1.0, 0.5, 1.5], t_eval=TIMES, rtol=1e-10, atol=1e-12)
    omega = (found.y.T / moments) + 1e-3 * rng.normal(size=(20, 3))
    start = ph.Problem(ph.RigidBody([1.2, 1.2, 2.1]), omega=[1.0, 0.5, 1.5])
    fit = ph.fit(
        start,
        ph.observe.rates(TIMES, omega, sigma=1e-3),
        free=["omega", "moments"],
        hold="trace of inertia",
        t_span=SPAN,
        method="mr2",
        dt=0.02,
    )
    assert not fit.success
    assert "no body has the moments" in fit.message
    assert "not converged: " in repr(fit)
    assert np.ptp(fit.problem.body.principal_moments) < 1.5


def test_too_few_iterations(seen):
    fit = ph.fit(
        disturbed(seen.truth, seen.rng, 0.03),
        [seen.attitudes(), seen.rates()],
        free=["state", "moments"],
        max_iterations=2,
        t_span=SPAN,
        **METHOD,
    )
    assert not fit.success
    assert "not converged within max_iterations" in fit.message


# ---- results
def test_what_a_fit_tells(seen, tmp_path):
    start = disturbed(seen.truth, seen.rng)
    free = ["state", "moments"]
    sets = [seen.rates(bias=True), seen.attitudes(name="star tracker")]
    fit = ph.fit(start, sets, free=free, t_span=SPAN, **METHOD)
    assert list(fit.residuals) == list(fit.pulls) == ["rates", "star tracker"]
    assert fit.residuals["rates"].shape == (20, 3)
    assert fit.names[-1] == "rates.bias.z"
    assert np.allclose(np.diag(fit.correlations), 1.0)
    value, sigma = fit.value_of("moments.I2")
    assert (value, sigma) == (fit.values["moments"][1], fit.standard_deviations["moments"][1])
    text = repr(fit)
    assert "rates at 20 times, star tracker at 20 times" in text
    assert "moments.I3" in text
    assert "<td>moments.I3</td>" in fit._repr_html_()
    axes = fit.plot()
    assert [ax.get_title(loc="left").split(":")[0] for ax in axes] == [
        "rates",
        "star tracker",
        "Pulls",
    ]
    data = json.loads(fit.save(tmp_path / "fit.json").read_text())
    assert data["values"]["moments"] == fit.values["moments"].tolist()
    assert np.allclose(data["covariance"], fit.covariance)
    assert data["problem"]["model"] == "heavy_top"
    with pytest.raises(ph.InputError, match=r"name must be one of attitude\.x, .* got 'moments'"):
        fit.value_of("moments")


def test_times_of_sets_may_differ_and_be_in_any_order(seen, rng):
    order = rng.permutation(20)
    shuffled = ph.observe.attitudes(seen.run.t[order], seen.run.rotation[order], sigma=1e-3)
    late = seen.run[7:]
    some = ph.observe.rates(late.t, late.omega, sigma=1e-3)
    start = disturbed(seen.truth, rng)
    start = ph.Problem(
        start.body, seen.truth.model, attitude=start.attitude, scalar_first=True, omega=start.omega
    )
    fit = ph.fit(start, [shuffled, some], free=["state", "moments"], t_span=SPAN, **METHOD)
    assert fit.chi_square < 1e-12
    assert np.abs(distance(fit, seen.truth)).max() < 1e-7
    assert np.array_equal(fit.run.t, seen.run.t)


def test_by_default_the_state_is_that_at_the_first_observation(seen):
    first = ph.Problem(
        seen.truth.body,
        seen.truth.model,
        attitude=seen.run.rotation[0],
        angular_momentum=seen.run.angular_momentum[0],
    )
    fit = ph.fit(first, seen.attitudes(), free="angular_momentum", **METHOD)
    off = fit.values["angular_momentum"] - seen.run.angular_momentum[0]
    assert np.abs(off / fit.standard_deviations["angular_momentum"]).max() < 4.0


def test_back_in_time(seen):
    end = seen.run[-1]
    last = ph.Problem(
        seen.truth.body,
        seen.truth.model,
        attitude=end.rotation[0],
        omega=end.omega[0] + 0.01,
    )
    fit = ph.fit(last, seen.attitudes(), free="omega", t_span=(2.0, 0.0), **METHOD)
    assert np.abs(fit.values["omega"] - end.omega[0]).max() < 0.005
    assert fit.run.t[0] == 2.0


def test_adaptive_and_automatic_methods(seen):
    start = disturbed(seen.truth, seen.rng)
    start = ph.Problem(start.body, seen.truth.model, omega=start.omega)
    few = seen.run[:3]
    sets = [ph.observe.attitudes(few.t, few.rotation, sigma=1e-2)]
    given = {"free": "angular_momentum", "t_span": (0.0, 0.5)}
    fits = [ph.fit(start, sets, **given, **how) for how in ({"dt": 0.05}, {"rtol": 1e-6})]
    assert [fit.success for fit in fits] == [True, True]
    assert fits[0].run.method in ph.METHODS
    assert fits[1].run.method == "vern9"
