"""Events: zeros of functions of time, attitude and rate along a run."""

import math
import warnings

import numpy as np
import pytest

import polhode as ph
from polhode.solvers import events
from support import given_motion
from support.bodies import TIME

ROOT = 1e-12  # what roots are promised to


@pytest.fixture(autouse=True)
def in_plain_python(request):
    """All but one test run in plain Python."""
    if request.function is test_compiled_runs:
        yield
        return
    with given_motion.plain_python():
        yield


def event(function=None, *, terminal=False, direction=0.0):
    """``function`` with the attributes that SciPy reads."""

    def marked(function):
        function.terminal, function.direction = terminal, direction
        return function

    return marked if function is None else marked(function)


# ---- a turn about z at a constant rate: q = (cos a/2, 0, 0, sin a/2), a = 2 t
def steady(t):
    return 0.0, 0.0, 2.0


def turning(t_span, events, method="dop853", **options):
    half = t_span[0]
    return ph.integrate_angular_velocity(
        steady, t_span, frame="body", method=method, events=events,
        attitude=(math.cos(half), 0.0, 0.0, math.sin(half)), scalar_first=True, **options,
    )  # fmt: skip


def upright(t, q, omega):
    """Zero at odd multiples of π/2; it falls at the first."""
    return q[0]


def near(found, right):
    assert len(found) == len(right)
    assert np.abs(np.array(found) - right).max() < ROOT if len(right) else True


QUARTERS = math.pi / 2 + math.pi * np.arange(6)


def quarters(end):
    return QUARTERS[: round(end / math.pi)]


METHODS = {
    "dop853": {"rtol": 1e-14},
    "vern9": {"rtol": 1e-14},
    "bulirsch-stoer": {"rtol": 1e-14},
    "gauss-taylor": {},
    "magnus4": {"dt": 0.3},
    "rk4": {"dt": 0.002},
}


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_rate(method):
    end = 1.7 if method == "rk4" else 18.0
    run = turning((0.0, end), upright, method, **METHODS[method])
    near(run.t_events[0], quarters(end))
    assert np.abs(run.events[0].q[:, 0]).max() < 1e-12
    assert np.abs(run.events[0].omega - steady(0)).max() == 0.0
    assert run.success
    assert run.message == ""
    assert run.t[-1] == end
    back = turning((end, 0.0), upright, method, **METHODS[method])
    near(back.t_events[0], quarters(end)[::-1])


def test_compiled_runs():
    """The one and the same; a rate and an event that Numba takes, and an event that it refuses."""
    seen = []

    def refused(t, q, omega):
        seen.append({t: str(t)})
        return q[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        run = turning((0.0, 18.0), [upright, refused], "auto")
    near(run.t_events[0], QUARTERS)
    assert np.array_equal(*run.t_events)


@pytest.mark.parametrize("direction", [1.0, -1.0, 0.0])
@pytest.mark.parametrize("t_span", [(0.0, 18.0), (18.0, 0.0)], ids=["forward", "backward"])
def test_direction_is_that_along_the_run(direction, t_span):
    """As in SciPy: backwards, what rises in time falls."""

    @event(direction=direction)
    def watched(t, q, omega):
        return q[0]

    along = 1.0 if t_span[1] > 0 else -1.0
    wanted = {1.0: QUARTERS[1::2], -1.0: QUARTERS[::2], 0.0: QUARTERS}[along * direction]
    run = turning(t_span, watched, "gauss-taylor")
    near(run.t_events[0], wanted[:: 1 if t_span[1] > 0 else -1])


@pytest.mark.parametrize(
    ("terminal", "count"), [(False, 6), (0, 6), (True, 1), (1, 1), (3, 3), (9, 6)]
)
@pytest.mark.parametrize("t_span", [(0.0, 18.0), (18.0, 0.0)], ids=["forward", "backward"])
def test_terminal(terminal, count, t_span):
    @event(terminal=terminal)
    def watched(t, q, omega):
        return q[0]

    run = turning(t_span, watched, "gauss-taylor")
    right = QUARTERS[:: 1 if t_span[1] > 0 else -1][:count]
    near(run.t_events[0], right)
    if terminal in (False, 9):
        assert (run.message, run.t[-1]) == ("", t_span[1])
    else:
        assert run.t[-1] == run.t_events[0][-1]
        assert run.message == f"stopped at t = {right[-1]:.10g} by events[0]"
        assert abs(run.q[-1, 0]) < 1e-12
    assert run.success
    assert (np.diff(run.t) * np.sign(t_span[1] - t_span[0]) > 0).all()


def test_several_events():
    """The first terminal event ends the run; later ones are not reported."""

    @event(terminal=True)
    def late(t, q, omega):
        return t - 11.0

    @event(terminal=2)
    def second(t, q, omega):
        return q[0]

    def often(t, q, omega):
        return math.sin(3.0 * t)

    never = lambda t, q, omega: 1.0  # noqa: E731
    run = turning((0.0, 18.0), [late, second, often, never], "gauss-taylor")
    near(run.t_events[0], [])
    near(run.t_events[1], QUARTERS[:2])
    near(run.t_events[2], math.pi / 3 * np.arange(1, 5))
    assert run.t_events[3].tolist() == []
    assert run.message == f"stopped at t = {QUARTERS[1]:.10g} by events[1]"
    assert [len(e) for e in run.events] == [0, 2, 4, 0]
    assert "0, 2, 4, 0 found" in repr(run)


def test_no_events_at_all():
    for none in (None, [], ()):
        run = turning((0.0, 1.0), none, "gauss-taylor")
        assert list(run.t_events) == []
        assert run.events == []


# ---- two zeros inside one step
@pytest.mark.parametrize("t_span", [(0.0, 8.0), (8.0, 0.0)], ids=["forward", "backward"])
@pytest.mark.parametrize("share", [0.6, 0.1, 1e-3], ids=str)
@pytest.mark.parametrize("place", [0.31, 0.5, 0.77])
def test_two_zeros_inside_one_step(t_span, share, place):
    """Also where they are a thousandth of the step apart, and rising and falling ones alone."""
    knots = turning(t_span, None, "gauss-taylor").t
    begin, end = knots[1], knots[2]
    h = abs(end - begin)
    middle, apart = begin + place * (end - begin), share * h

    def dip(t, q, omega):
        return ((t - middle) / h) ** 2 - (apart / (2 * h)) ** 2

    @event(direction=1)
    def rising(t, q, omega):
        return dip(t, q, omega)

    @event(direction=-1)
    def hill(t, q, omega):
        return -dip(t, q, omega)

    right = np.array([middle - apart / 2, middle + apart / 2])
    run = turning(t_span, [dip, rising, hill], "gauss-taylor")
    # the slope at the zeros is share/h: rounding of the value is worth 1e-16 h / share
    close = 1e-12 + 4e-16 * h / share
    order = 1 if t_span[1] > 0 else -1
    assert np.abs(run.t_events[0] - right[::order]).max() < close
    last = right[::order][1:]  # where dip rises along the run, and the hill falls
    assert np.abs(run.t_events[1] - last).max() < close
    assert np.abs(run.t_events[2] - last).max() < close


def test_a_near_miss_is_not_an_event():
    def near_zero(t, q, omega):
        return (t - 2.0) ** 2 + 1e-9

    assert len(turning((0.0, 8.0), near_zero, "gauss-taylor").t_events[0]) == 0


@pytest.mark.parametrize("chunk", [2, 5])
def test_chunks_and_blocks_do_not_matter(chunk):
    """Zeros, and pairs of them, at and around the boundaries between searched blocks."""
    options = {"rtol": 1e-9, "max_step": 0.37}
    knots = turning((0.0, 5.0), None, "dopri5", **options).t

    def pairs(t, q, omega):  # two zeros around every knot
        return math.sin(math.pi * (t - 0.001) / step) ** 2 - 1e-4

    def at_knots(t, q, omega):
        return math.sin(math.pi * t / step)

    step = float(knots[-2] - knots[-3])
    whole = turning((0.0, 5.0), [upright, pairs, at_knots], "dopri5", **options)
    with given_motion.small_chunks(chunk + 1, chunk + 2), pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "BLOCK", chunk)
        parts = turning((0.0, 5.0), [upright, pairs, at_knots], "dopri5", **options)
    assert [len(t) for t in whole.t_events] == [len(t) for t in parts.t_events]
    assert len(whole.t_events[1]) >= 2 * int(4.5 / step)
    for one, other in zip(whole.t_events, parts.t_events, strict=True):
        assert np.abs(one - other).max() < ROOT


@pytest.mark.parametrize("formulation", ["vectors3", "generator-reset"])
def test_signs_do_not_jump_while_a_run_grows(formulation):
    """Events see attitudes of continuous sign, also where a formulation has none."""
    options = {"rtol": 1e-7, "formulation": formulation}
    with given_motion.small_chunks(4, 5):
        run = turning((0.0, 9.0), upright, "dopri5", **options)
    assert np.abs(run.t_events[0] - QUARTERS[:3]).max() < 1e-4


# ---- the ends
@pytest.mark.parametrize("method", ["gauss-taylor", "dop853", "magnus4"])
def test_a_zero_at_the_start_is_none(method):
    @event(terminal=True)
    def start(t, q, omega):
        return math.sin(t)

    run = turning((0.0, 8.0), start, method, **METHODS[method])
    near(run.t_events[0], [math.pi])
    again = turning((math.pi, 8.0), upright, method, **METHODS[method])
    near(again.t_events[0], QUARTERS[1:3])


def test_a_run_continues_where_an_event_stopped_it():
    @event(terminal=True)
    def stop(t, q, omega):
        return q[3]

    first = turning((0.5, 20.0), stop, "gauss-taylor")
    second = ph.integrate_angular_velocity(
        steady, (first.t[-1], 20.0), frame="body", attitude=first.q[-1], scalar_first=True,
        events=stop,
    )  # fmt: skip
    assert second.t[-1] > first.t[-1] + 1e-6
    assert second.t[-1] == pytest.approx(2 * math.pi, abs=1e-11) or second.nsteps == 0


def test_t_eval_save_every_and_a_terminal_event():
    @event(terminal=True)
    def stop(t, q, omega):
        return t - 4.25

    run = turning((0.0, 8.0), stop, "dop853", t_eval=[1.0, 4.0, 4.25, 5.0, 8.0])
    assert run.t.tolist()[:2] == [1.0, 4.0]
    assert run.t[-1] <= 4.25
    run = turning((0.0, 8.0), stop, "dop853", t_eval=[5.0, 8.0])
    assert len(run) == len(run.q) == 0
    run = turning((0.0, 8.0), stop, "dop853", save_every=2, rtol=1e-6)
    assert run.t[-1] == pytest.approx(4.25, abs=ROOT)

    @event(terminal=True)
    def stop_back(t, q, omega):
        return t + 5.0

    run = turning((0.0, -8.0), stop_back, "gauss-taylor", t_eval=[-2.0])
    assert run.t.tolist() == [-2.0]
    run = turning((0.0, -8.0), stop_back, "gauss-taylor", t_eval=[-6.0])
    assert run.t.tolist() == []


# ---- bodies
SYMMETRIC = ph.RigidBody([2.0, 2.0, 3.0])
RATES = 0.3, 0.4, 1.2
PRECESSION = (3.0 - 2.0) / 2.0 * 1.2  # (I3 - I1)/I1 ω3: the angle of (ω1, ω2) grows at this rate


def free_problem():
    return ph.Problem(SYMMETRIC, ph.models.free(), omega=RATES)


def across(t, q, omega):
    """Zero where the transverse rate points along axis 2."""
    return omega[0]


def right_times(end):
    """ω1 + i ω2 = 0.5 exp(i (a + p t)) for a free symmetric body."""
    first = (math.pi / 2 - math.atan2(0.4, 0.3)) / PRECESSION
    return np.arange(first, end, math.pi / PRECESSION)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dt": 0.7},
        {"method": "vern9", "rtol": 1e-14},
        {"method": "dop853", "rtol": 1e-14, "formulation": "vectors2"},
        {"method": "strang", "dt": 0.1},
        {"method": "strang", "dt": 0.1, "save_every": 5},
        {"method": "strang", "dt": 0.1, "t_eval": [3.0, 7.0]},
    ],
    ids=["closed form", "closed form, dt", "vern9", "vectors2", "map", "saved", "at times"],
)
def test_the_precession_of_a_free_body(options):
    run = ph.solve(free_problem(), (0.0, 15.0), events=across, **options)
    assert np.abs(run.t_events[0] - right_times(15.0)).max() < 2e-12
    assert np.abs(run.events[0].omega[:, 0]).max() < 2e-12

    @event(terminal=2)
    def stop(t, q, omega):
        return omega[0]

    run = ph.solve(free_problem(), (0.0, 15.0), events=stop, **options)
    assert abs(run.t_events[0][-1] - right_times(15.0)[1]) < 2e-12
    assert run.message.startswith("stopped at t = ")
    if "t_eval" in options:
        assert run.t.tolist() == [3.0, 7.0][: int(np.sum(right_times(15.0)[1] > [3.0, 7.0]))]
    else:
        assert run.t[-1] == run.t_events[0][-1]
    assert run.success


def test_the_sign_of_an_attitude_in_closed_form():
    """As integrated: a zero of q itself, every other turn."""
    p = ph.Problem(ph.RigidBody([2.0, 3.0, 4.5]), ph.models.free(), omega=(0.5, 0.7, -0.6))
    closed = ph.solve(p, (0.0, 60.0), events=upright)
    integrated = ph.solve(p, (0.0, 60.0), method="vern9", rtol=1e-13, events=upright)
    assert len(closed.t_events[0]) > 5
    assert np.abs(closed.t_events[0] - integrated.t_events[0]).max() < 1e-10


@pytest.mark.parametrize("method", ["mr4", "imidm", "rk4"])
def test_maps_are_cut_where_an_event_stops_them(method):
    """Also in the last step."""
    for time in (0.05, 0.55, 0.95, 1.0 - 1e-6):

        @event(terminal=True)
        def stop(t, q, omega, time=time):
            return t - time

        run = ph.solve(TIME.problem, (0.0, 1.0), method=method, dt=0.1, events=stop)
        assert run.t[-1] == pytest.approx(time, abs=ROOT)
        assert len(run) == math.floor(time / 0.1) + 2
        assert np.array_equal(run.sol(run.t[-1]).q[0], run.q[-1])


def test_events_see_what_the_user_sees():
    """q and ω in the user's axes, for a body with a full tensor, as the trajectory has them."""
    tensor = np.array([[2.6, 0.3, -0.2], [0.3, 3.1, 0.4], [-0.2, 0.4, 4.2]])
    p = ph.Problem(ph.RigidBody(tensor), TIME.problem.model, omega=(0.5, 0.7, -0.6))
    run = ph.solve(
        p, (0.0, 8.0), method="dop853", rtol=1e-11, events=[across, lambda t, q, omega: q[2]]
    )
    assert len(run.t_events[0]) > 0
    assert len(run.t_events[1]) > 0
    assert np.abs(run.events[0].omega[:, 0]).max() < 1e-11
    assert np.abs(run.events[1].q[:, 2]).max() < 1e-11


# ---- what cannot be
@pytest.mark.parametrize(
    ("events", "message"),
    [
        (3, "events must be a function"),
        ([upright, "x"], r"events\[1\] must be a function event\(t, q, omega\), .*, got 'x'"),
        (event(lambda t, q, w: 1.0, terminal=-1), r"events\[0\]: terminal must be"),
        (event(lambda t, q, w: 1.0, terminal=1.5), "got 1.5 and"),
        (event(lambda t, q, w: 1.0, terminal="yes"), "'yes'"),
        (event(lambda t, q, w: 1.0, direction=math.nan), "direction a number"),
        (event(lambda t, q, w: 1.0, direction="up"), "'up'"),
        (lambda t, q: 1.0, r"events\[0\] fails at t = 0.0: TypeError: .*it takes \(t, q, omega\)"),
        (lambda t, q, w: q[7], r"events\[0\] fails at t = 0.0: IndexError"),
        (lambda t, q, w: None, r"events\[0\] fails at t = 0.0: TypeError"),
        (lambda t, q, w: math.nan, "an event is not finite at t = 0.0"),
        (
            lambda t, q, w: 1.0 if t < 2 else math.inf,
            r"an event is not finite at t = 2\.\d*; it must return a number",
        ),
    ],
)
def test_events_that_cannot_be(events, message):
    with pytest.raises(ph.InputError, match=message):
        turning((0.0, 8.0), events, "gauss-taylor")
