"""Sampled angular velocities: orders on any times, estimates, gaps, mistakes, results."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import plot
from polhode.compiler.machine import fma
from polhode.compiler.tree import bind
from polhode.loops import sampled_rates
from support.convergence import estimate_order
from support.gyros import BINARY, CONING, ORBIT, jittered, stretched
from support.precise import exact_fma

ORDERS = 2, 4, 6, 8
both_frames = pytest.mark.parametrize("frame", ["body", "inertial"])
both_kinds = pytest.mark.parametrize("kind", ["rate", "increment"])
all_orders = pytest.mark.parametrize("order", ORDERS)


def integrated(motion, t, frame="body", kind="rate", **options):
    values = motion.samples(t, frame, kind)
    start = motion.attitude(t[0])
    return ph.integrate_samples(values, t, frame=frame, kind=kind, attitude=start, **options)


# ---- accuracy
@both_kinds
@pytest.mark.parametrize(("order", "largest"), [(2, 6e-3), (4, 8e-6), (6, 1.5e-8)])
def test_twenty_orbits_of_a_precessing_binary(kind, order, largest):
    t = np.linspace(0, 20 * ORBIT, 20 * 64 + 1)
    assert BINARY.errors(integrated(BINARY, t, kind=kind, order=order)).max() < largest


@both_frames
@both_kinds
@all_orders
def test_the_order_holds_on_jittered_times(frame, kind, order):
    """Random times make the slope of a few points waver."""
    counts = np.array([160, 320, 640, 1280] if order < 8 else [120, 180, 270, 405])
    errors = [
        np.mean(
            [
                BINARY.errors(
                    integrated(BINARY, jittered(1e4, n, seed), frame, kind, order=order)
                ).max()
                for seed in (1, 2)
            ]
        )
        for n in counts
    ]
    assert estimate_order(1 / counts, errors, floor=1e-12) > order - 0.35


@both_frames
@both_kinds
@all_orders
def test_the_order_holds_on_stretched_times(frame, kind, order):
    counts = np.array([200, 300, 450, 675])
    runs = [integrated(CONING, stretched(40.0, n), frame, kind, order=order) for n in counts]
    errors = [CONING.errors(run).max() for run in runs]
    found = estimate_order(1 / counts, errors, floor=1e-13)
    assert order - 0.25 < found < order + 1.25  # increments do better where times are even


@both_kinds
@all_orders
def test_the_ends_have_the_order_too(kind, order):
    """As many times as the order needs and no more: all polynomials are one-sided."""
    spans = 0.4 * order * 0.5 ** np.arange(4)
    errors = [
        CONING.errors(integrated(CONING, np.linspace(0, s, order), kind=kind, order=order)).max()
        for s in spans
    ]
    assert estimate_order(spans, errors, floor=3e-15) > order - 0.1


@both_frames
@both_kinds
@pytest.mark.parametrize("order", [2, 4, 6])
def test_the_estimate_is_close(frame, kind, order):
    run = integrated(BINARY, jittered(1e4, 640), frame, kind, order=order)
    errors = BINARY.errors(run)
    assert run.problem["compared_with"] == order + 2
    assert 0.8 < run.error.max() / errors.max() < 1.25
    assert np.abs(run.error - errors).max() < 0.1 * errors.max()


@both_kinds
def test_the_estimate_of_order_8_is_that_of_order_6(kind):
    t = jittered(1e4, 640)
    run, lower = (integrated(BINARY, t, kind=kind, order=order) for order in (8, 6))
    assert BINARY.errors(run).max() < 0.1 * run.error.max()
    assert np.allclose(run.error, lower.error, rtol=1e-6, atol=1e-14)


def test_a_rate_without_a_closed_form():
    def omega(t):
        return np.array([0.5 * np.sin(3 * t), np.cos(t * t / 9), 0.3 + 0.1 * t])

    def change(t, q):
        (w, x, y, z), (a, b, c) = q, omega(t)
        return 0.5 * np.array(
            [
                -x * a - y * b - z * c,
                w * a + y * c - z * b,
                w * b + z * a - x * c,
                w * c + x * b - y * a,
            ]
        )

    t = jittered(10.0, 1000)
    right = solve_ivp(change, (0, 10), [1, 0, 0, 0], "DOP853", t, rtol=1e-13, atol=1e-14).y.T
    run = ph.integrate_samples(omega(t).T, t, frame="body", kind="rate", order=8)
    assert np.abs(run.q - right).max() < 1e-11


def test_body_and_inertial_rates_of_one_motion_agree():
    t = jittered(1e4, 640)
    body, inertial = (integrated(BINARY, t, frame) for frame in ("body", "inertial"))
    assert (body.rotation.inv() * inertial.rotation).magnitude().max() < 1e-8
    rates = BINARY.body_rate(t)
    assert np.abs(body.omega - rates).max() == 0
    assert np.abs(inertial.omega - rates).max() < 1e-8 * np.abs(rates).max()


@both_frames
def test_an_inertial_rate_is_a_body_rate_of_the_conjugate(frame):
    """Which changes the side of the product and the sign of every bracket."""
    values, t = CONING.rate(np.linspace(0, 5, 51), "body"), np.linspace(0, 5, 51)
    swapped = "inertial" if frame == "body" else "body"
    run = ph.integrate_samples(values, t, frame=frame, kind="rate")
    mirror = ph.integrate_samples(-values, t, frame=swapped, kind="rate")
    assert np.array_equal(run.q, mirror.q * [1, -1, -1, -1])


@both_kinds
def test_the_rate_of_increments_is_their_derivative(kind):
    t = jittered(40.0, 800)
    run = integrated(CONING, t, kind=kind, order=8)
    assert np.abs(run.omega - CONING.body_rate(t)).max() < 1e-8


@both_frames
@both_kinds
@all_orders
def test_a_constant_rate_is_exact(frame, kind, order):
    t = jittered(1.0, 100)
    rates = np.radians([[0.0, 0.0, 90.0]] * 101)
    values = rates if kind == "rate" else rates[1:] * np.diff(t)[:, None]
    run = ph.integrate_samples(values, t, frame=frame, kind=kind, order=order)
    right = Rotation.from_rotvec([0, 0, np.pi / 2])
    assert (run.rotation[-1].inv() * right).magnitude() < 2e-15
    assert run.error.max() < 4e-15


@both_kinds
@all_orders
def test_polynomials_about_one_axis_are_exact(kind, order):
    degree = order - 1 if kind == "rate" else order - 2
    t = jittered(1.0, 40)
    turned = t ** (degree + 1) / (degree + 1)
    values = np.zeros((41 if kind == "rate" else 40, 3))
    values[:, 1] = t**degree if kind == "rate" else np.diff(turned)
    run = ph.integrate_samples(values, t, frame="body", kind=kind, order=order)
    right = Rotation.from_rotvec(np.outer(turned, [0, 1, 0]))
    assert (run.rotation.inv() * right).magnitude().max() < 2e-14


@both_kinds
def test_compiled_and_plain_give_the_same_bits(kind):
    t = jittered(10.0, 30)
    values = CONING.samples(t, "body", kind)
    scratch = np.empty((8, 3)), np.empty((8, 4))
    plain = bind(sampled_rates.plain_loop(kind), {fma: exact_fma})
    others = values + 1e-3
    for order, other in ((2, 4), (4, 6), (6, 8), (8, 6)):
        for second in (values, others):
            tables = [np.empty((31, 8)) for _ in range(2)]
            alike = second is values
            given = t, values, order, second, other, alike, (1.0, 0.0, 0.0, 0.0), *scratch
            sampled_rates.loop(kind)(*given, tables[0])
            plain(*given, tables[1])
            assert np.array_equal(*tables)


def test_the_first_attitude_is_the_given_one():
    t, start = np.linspace(0, 1, 11), Rotation.from_rotvec([0.3, -0.2, 0.5])
    values = CONING.body_rate(t)
    run = ph.integrate_samples(values, t, frame="body", kind="rate", attitude=start)
    same = ph.integrate_samples(
        values,
        t,
        frame="body",
        kind="rate",
        attitude=start.as_quat(),
        scalar_first=False,
    )
    assert np.array_equal(run.q[0], start.as_quat(scalar_first=True))
    assert np.abs(same.q - run.q).max() < 1e-15


# ---- missing samples and gaps
def thinned_out(t, kind, lost):
    values = CONING.samples(t, "body", kind)
    values[lost] = np.nan
    return values


@both_kinds
@all_orders
def test_missing_samples_keep_the_order(kind, order):
    counts = np.array([200, 300, 450, 675])
    errors, estimates = [], []
    for n in counts:
        t = stretched(40.0, n)
        values = thinned_out(t, kind, np.r_[n // 3 : n // 3 + 3, n // 2, 2, n - 4])
        run = ph.integrate_samples(
            values,
            t,
            frame="body",
            kind=kind,
            order=order,
            attitude=CONING.attitude(0.0),
            missing="bridge",
            max_gap=10.0,
        )
        errors.append(CONING.errors(run).max())
        estimates.append(run.error.max())
    assert estimate_order(1 / counts, errors, floor=1e-13) > order - 0.3
    if order < 8:
        assert 0.7 < estimates[-1] / errors[-1] < 1.4
    else:
        assert errors[-1] < estimates[-1]


@both_kinds
def test_gaps_are_reported(kind):
    t = np.linspace(0, 10, 101)
    run = ph.integrate_samples(
        thinned_out(t, kind, [40, 41, 70]), t, frame="body", kind=kind, missing="bridge"
    )
    right = {"rate": [(3.9, 4.2), (6.9, 7.1)], "increment": [(4.0, 4.2), (7.0, 7.1)]}[kind]
    assert np.allclose(run.gaps, right, rtol=0, atol=1e-12)
    assert [lost for _, _, lost in run.problem["gaps"]] == [2, 1]
    assert run.problem["missing"] == 3
    assert "2 bridged" in repr(run)
    assert len(run.t) == 101


@both_kinds
def test_steps_that_are_left_out_are_gaps_too(kind):
    t = np.delete(np.linspace(0, 10, 101), [50, 51])
    run = integrated(CONING, t, kind=kind)
    ((start, end),) = run.gaps
    assert (start, end) == (t[49], t[50])
    assert 1e-11 < CONING.errors(run).max() < 2 * run.error.max()
    assert integrated(CONING, jittered(10.0, 100)).gaps == []


@both_kinds
def test_a_long_gap_is_refused(kind):
    t = np.delete(np.linspace(0, 10, 101), np.arange(30, 45))
    with pytest.raises(
        ph.InputError, match=r"gap of 1\.6 s from times\[29\] = 2\.9 to times\[30\]"
    ):
        integrated(CONING, t, kind=kind)
    with pytest.raises(ph.InputError, match=r"longer than max_gap = 1\.5 s \(as given\)"):
        integrated(CONING, t, kind=kind, max_gap=1.5)
    assert len(integrated(CONING, t, kind=kind, max_gap=1.7).gaps) == 1
    t = np.linspace(0, 10, 101)
    with pytest.raises(ph.InputError, match=r"gap of 1\.\d s from times"):
        ph.integrate_samples(
            thinned_out(t, kind, np.arange(30, 44)), t, frame="body", kind=kind, missing="bridge"
        )


@both_kinds
def test_a_nan_is_refused_with_its_index(kind):
    t = np.linspace(0, 10, 101)
    values = thinned_out(t, kind, [17, 30])
    with pytest.raises(ph.InputError, match=r"values\[17\].*2 such rows.*missing='bridge'"):
        ph.integrate_samples(values, t, frame="body", kind=kind)
    values[30, 1] = np.inf
    with pytest.raises(ph.InputError, match=r"values\[30\]"):
        ph.integrate_samples(values, t, frame="body", kind=kind, missing="bridge")


@both_kinds
def test_nothing_is_extrapolated(kind):
    t = np.linspace(0, 10, 101)
    for k, end in ((0, "first"), (-1, "last")):
        values = thinned_out(t, kind, [k])
        with pytest.raises(ph.InputError, match=f"the {end} {kind}, values"):
            ph.integrate_samples(values, t, frame="body", kind=kind, missing="bridge")


# ---- mistakes
T = np.linspace(0, 1, 11)
W = np.zeros((11, 3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"frame": "space"}, "frame must be 'body' or 'inertial', got 'space'"),
        ({"kind": "rates"}, "kind must be 'rate' or 'increment'"),
        ({"order": 5}, "order must be 2, 4, 6 or 8, got 5"),
        ({"order": True}, "order must be"),
        ({"missing": "drop"}, "missing must be 'refuse' or 'bridge'"),
        ({"max_gap": -1}, "max_gap must be a positive number of seconds, got -1"),
        ({"max_gap": "long"}, "max_gap must be"),
        ({"times": T[:-1]}, "n rates take n times: got 11 values and 10 times"),
        ({"kind": "increment"}, r"n increments take n \+ 1 times.*got 11 values and 11 times"),
        ({"values": W[:, :2]}, r"rows of three numbers, got an array of shape \(11, 2\)"),
        ({"values": "fast"}, "values must be rows of three numbers, got 'fast'"),
        ({"times": T[None]}, r"a list of times, got an array of shape \(1, 11\)"),
        ({"times": ["noon"] * 11}, "times must be numbers of seconds"),
        ({"times": np.where(T == 0.5, np.nan, T)}, r"times must be finite, but times\[5\] is nan"),
        ({"times": -T}, r"times\[1\] = -0\.1 is before times\[0\] = -0 \(10 such places\)"),
        ({"times": np.minimum(T, 0.9)}, r"times\[10\] = 0\.9 repeats times\[9\]"),
        ({"times": T[:3], "values": W[:3]}, "order 6 needs at least 6 times, got 3.*order=2"),
        ({"times": T[:1], "values": W[:1]}, "give two times or more"),
        ({"attitude": [1, 0, 0, 0]}, "scalar_first"),
    ],
)
def test_mistakes_are_named(change, message):
    given = {"values": W, "times": T, "frame": "body", "kind": "rate"} | change
    with pytest.raises(ph.InputError, match=message):
        ph.integrate_samples(**given)


def test_frame_and_kind_have_no_default():
    with pytest.raises(TypeError, match="frame"):
        ph.integrate_samples(W, T, kind="rate")
    with pytest.raises(TypeError, match="kind"):
        ph.integrate_samples(W, T, frame="body")


def test_degrees_are_suspected():
    with pytest.warns(ph.PolhodeWarning, match=r"turns by 9 rad between times\[0\].*np\.radians"):
        ph.integrate_samples(W + np.array([0, 0, 90.0]), T, frame="body", kind="rate")
    with pytest.warns(ph.PolhodeWarning, match=r"not in rad \(np\.radians\)"):
        ph.integrate_samples(W[1:] + np.array([0, 0, 9.0]), T, frame="body", kind="increment")


def test_input_is_left_alone():
    t, values = jittered(10.0, 100), CONING.body_rate(jittered(10.0, 100))
    values[50] = np.nan
    copies = t.copy(), values.copy()
    ph.integrate_samples(values, t, frame="inertial", kind="rate", missing="bridge")
    assert np.array_equal(t, copies[0])
    assert np.array_equal(values, copies[1], equal_nan=True)


def test_few_samples():
    t = np.linspace(0, 1, 3)
    run = ph.integrate_samples(CONING.body_rate(t), t, frame="body", kind="rate", order=2)
    assert np.isnan(run.error).all()
    assert "estimated" not in repr(run)
    t = np.linspace(0, 1, 6)
    run = ph.integrate_samples(CONING.body_rate(t), t, frame="body", kind="rate", order=6)
    assert run.problem["compared_with"] == 4


# ---- results
@pytest.fixture(scope="module")
def run():
    t = np.delete(jittered(10.0, 200), [70, 71])
    return integrated(CONING, t, name="platform")


def test_a_motion_without_a_body_has_no_momentum_and_no_energy(run):
    assert run.body is None
    assert run.angular_momentum is run.angular_momentum_inertial is None
    assert run.kinetic_energy is run.potential_energy is run.energy is None
    assert run.success
    for words in ("platform", "magnus", "frame='body'", "198 intervals", "1 bridged", "estimated"):
        assert words in repr(run)


def test_the_sign_is_continuous_and_the_length_one():
    long = integrated(BINARY, np.linspace(0, 20 * ORBIT, 1281))
    assert (np.einsum("ni,ni->n", long.q[1:], long.q[:-1]) > 0.9).all()
    assert np.abs(np.linalg.norm(long.q, axis=1) - 1).max() < 1e-14


def test_a_file_gives_everything_back(run, tmp_path):
    again = ph.load(run.save(tmp_path / "platform.nc"))
    for name in ("t", "q", "omega", "error"):
        assert np.array_equal(getattr(again, name), getattr(run, name)), name
    assert again.gaps == run.gaps
    assert again.arguments == run.arguments
    assert again.body is None
    assert again.energy is None
    assert repr(again) == repr(run)


def test_tables_and_parts(run):
    table, part = run.to_dataframe(), run[10:20]
    assert list(table) == [*(f"q_{c}" for c in "wxyz"), *(f"omega_{c}" for c in "xyz"), "error"]
    assert np.array_equal(table["error"], run.error)
    assert "angular_momentum" not in run.to_xarray()
    for name in ("t", "q", "omega", "error"):
        assert np.array_equal(getattr(part, name), getattr(run, name)[10:20])


def test_pictures(run):
    axes = run.plot()
    assert axes[1, 1].get_title(loc="left") == "Estimated error of the attitude"
    assert all(len(ax.lines) + len(ax.collections) for ax in axes.flat)
    for panel in ("tilt", "rates", "trace", "error"):
        assert run.plot(panel) is not None
    for panel in ("drift", "polhode", "herpolhode", "poinsot"):
        with pytest.raises(ph.InputError, match=f"{panel}.*needs a body"):
            run.plot(panel)
    with pytest.raises(ph.InputError, match="needs a run with an error estimate"):
        plot.error(ph.exact_free_motion(ph.RigidBody([1, 2, 2.5]), None, [1, 0, 0], [0, 1]))


# ---- bias and dates
def test_a_bias_is_subtracted_from_rates_and_increments():
    t = jittered(4.0, 200)
    bias = np.array([0.01, -0.02, 0.005])
    for kind, shift in (("rate", bias), ("increment", np.outer(np.diff(t), bias))):
        values = CONING.samples(t, "body", kind)
        given = {"frame": "body", "kind": kind, "order": 4}
        right = ph.integrate_samples(values, t, **given)
        run = ph.integrate_samples(values + shift, t, bias=bias, **given)
        assert np.allclose(run.q, right.q, rtol=0, atol=1e-13)
        assert run.arguments["bias"] == bias.tolist()
        quiet = np.where((t[-len(values) :] > 1.0)[:, None], values, 0.0)
        run = ph.integrate_samples(quiet + shift, t, bias=1.0, **given)
        assert np.allclose(run.arguments["bias"], bias, rtol=0, atol=1e-15)


@pytest.mark.parametrize("bias", [0.0, -1.0, [1.0, 2.0], "rest", [0.0, 0.0, np.nan], 0.001, 1e3])
def test_a_bias_that_is_none(bias):
    t = np.linspace(0, 1, 11)
    with pytest.raises(ph.InputError, match="bias"):
        ph.integrate_samples(np.zeros((11, 3)), t, frame="body", kind="rate", bias=bias)
    with pytest.raises(ph.InputError, match="needs frame='body'"):
        ph.integrate_samples(np.zeros((11, 3)), t, frame="inertial", kind="rate", bias=[0, 0, 0])


def test_a_body_that_moves_is_not_at_rest():
    t = np.linspace(0, 1, 11)
    with pytest.warns(
        ph.PolhodeWarning, match=r"in the first 0\.5 s the body does not look at rest"
    ):
        ph.integrate_samples(np.ones((11, 3)), t, frame="body", kind="rate", bias=0.5)


def test_dates_are_counted_from_the_first():
    from datetime import UTC, datetime, timedelta

    import pandas

    t = np.arange(11) / 64
    stamps = np.datetime64("2026-03-01T12:00:00.000000001") + np.rint(t * 1e9).astype("m8[ns]")
    zoned = [datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=x) for x in t]
    given = {"frame": "body", "kind": "rate"}
    for times in (
        *(stamps, stamps.astype(str).tolist(), stamps - stamps[0], zoned),
        *(pandas.DatetimeIndex(stamps), pandas.Series(stamps).dt.tz_localize("Europe/Oslo")),
    ):
        assert np.array_equal(ph.integrate_samples(np.ones((11, 3)), times, **given).t, t)
    for wrong, message in (
        ([*zoned[:-1], zoned[-1].replace(tzinfo=None)], "some have a zone"),
        ([*zoned[:-1], "later"], r"times\[10\] is 'later'"),
        (np.array([*stamps[:-1], np.datetime64("NaT")]), r"times\[10\] is nan"),
    ):
        with pytest.raises(ph.InputError, match=message):
            ph.integrate_samples(np.ones((11, 3)), wrong, **given)


def test_rates_beyond_the_range_of_gyros_look_like_degrees():
    t = np.linspace(0, 1, 101)
    with pytest.warns(ph.PolhodeWarning, match="look like degrees per second: as rad/s they reach"):
        ph.integrate_samples(np.full((101, 3), 30.0), t, frame="body", kind="rate")
