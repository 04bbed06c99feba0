"""Variables of attitude and momentum together: definitions at 50 digits, labels, runs.

Definitions are written once more, with matrices and planes; runs are compared with the closed form
of the free motion, with SciPy, and with each other.  Most runs are in plain Python.
"""

import contextlib
import itertools
import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.compiler.tree import bind
from polhode.contracts import Coordinates, Status, ahead, torque
from polhode.formulations import _labels, fukushima
from polhode.integrators import OF_BODIES
from polhode.kernels.quaternion import to_body, to_inertial
from polhode.loops.binding import model_pieces
from polhode.papers.maps import symplectic_defect
from polhode.references import bibliography
from support import given_motion
from support.bodies import ATTITUDE, DAMPED, INERTIA, OMEGA, TIME, angle, errors, forced
from support.bodies import matrix as matrix_of
from support.precise import hamilton
from support.translating_bodies import SPRUNG

RECORDS = tuple(ph.COORDINATES.values())
EACH = pytest.mark.parametrize("record", RECORDS, ids=lambda r: r.name)
DEFINED = (  # those whose definition is written once more below
    "euler-angles", "serret-andoyer", "fukushima", "fukushima-departures", "encke-quaternion",
    "encke-euler", "fukushima-canonical", "fukushima-canonical-departures",
)  # fmt: skip
CANONICAL = "fukushima-canonical", "fukushima-canonical-departures"
EACH_DEFINED = pytest.mark.parametrize(
    "record", [ph.COORDINATES[name] for name in DEFINED], ids=DEFINED
)
DIGITS = 50
PUSH = 0.7, -0.5, 0.9  # a torque of order 1, in body axes
NAMED = (0.7, 0.1, -0.1, 0.7), (0.1, -0.3, 0.9)  # the momentum is near both third axes


@pytest.fixture
def plain():
    with given_motion.plain_python():
        yield


def body_of(moments=INERTIA):
    moments = tuple(map(float, moments))
    return moments, tuple(1.0 / x for x in moments), (1.0, 0.0, 0.0, 0.0), 1.0, 1.0


def random_state(rng):
    q, m = rng.normal(size=4), rng.normal(size=3)
    return tuple((q / np.linalg.norm(q)).tolist()), tuple(m.tolist())


def started(record, rng, body, t0=0.3, state=None):
    """The body with the numbers of a nominal motion, and where that begins."""
    q, m = state or random_state(rng)
    return (body if record.nominal is None else (*body, record.nominal(t0, q, m, body))), q, m


# ---- definitions, with many digits
def matrix(q):
    w, x, y, z = q
    n = w * w + x * x + y * y + z * z
    rows = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return mp.matrix([[mp.mpf(x) / n for x in row] for row in rows])


def dot(a, b):
    return mp.fsum(x * y for x, y in zip(a, b, strict=True))


def cross(a, b):
    return mp.matrix([
        a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
    ])  # fmt: skip


def signed_angle(a, b, axis):
    return mp.atan2(dot(axis, cross(a, b)), dot(a, b))


def euler(r):
    return mp.atan2(r[0, 2], -r[1, 2]), mp.acos(r[2, 2]), mp.atan2(r[2, 0], r[2, 1])


def rotations():
    """The 24 signed permutations of determinant 1."""
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1, -1), repeat=3):
            p = np.zeros((3, 3), dtype=int)
            p[range(3), order] = signs
            if round(np.linalg.det(p)) == 1:
                yield p


def axes_for(v):
    """The one that makes |a| smallest and c largest and positive; A points as its axis does.

    The axes as they are, if they have as much as that one would have at least.
    """
    if v[2] > 0 and v[0] ** 2 <= sum(x * x for x in v) / 3 <= v[2] ** 2:
        return mp.matrix(np.eye(3, dtype=int).tolist())
    for p in rotations():
        a, b, c = (int(x) * y for row in p for x, y in zip(row, v, strict=True) if x)
        if abs(a) <= abs(b) <= c and p[0].max() == 1:
            return mp.matrix(p.tolist())
    raise AssertionError(v)


def fukushima_of(r, m, inner, outer):
    """With the axes that rows of ``inner`` and ``outer`` have in body and inertial axes."""
    outside = r * m
    n = mp.norm(m)
    up = outside / n
    x, a = outer[0, :].T, r * inner[0, :].T
    f = signed_angle(x - dot(x, up) * up, a - dot(a, up) * up, up)
    mine, theirs = inner * m, outer * outside
    return n, theirs[0], theirs[1], mine[0], mine[1], f


def serret_andoyer_of(r, m):
    outside, n = r * m, mp.norm(m)
    lower, upper = mp.atan2(m[0], m[1]), mp.atan2(outside[0], -outside[1])
    first = mp.matrix([mp.cos(upper), mp.sin(upper), 0])
    second = r * mp.matrix([mp.cos(lower), -mp.sin(lower), 0])
    g = signed_angle(first, second, outside / n)
    return lower, g, upper, m[2], n, outside[2]


def canonical_of(r, m):
    """(L, L_X, L_A, f, -σ, ξ), with the axes as they are."""
    outside = r * m
    whole, x, _, a, _, f = fukushima_of(r, m, mp.eye(3), mp.eye(3))
    return whole, x, a, f, -mp.atan2(outside[1], outside[2]), mp.atan2(m[1], m[2])


def definition(record, t, q, m, begin, body, labels):
    """The variables by their definition; ``begin`` is (t, q, m) of a nominal motion."""
    r, m = matrix(q), mp.matrix(list(m))
    t0, q0, m0 = begin
    r0, m0 = matrix(q0), mp.matrix(list(map(mp.mpf, m0)))
    omega = mp.matrix([x / mp.mpf(i) for x, i in zip(m0, body[0], strict=True)])
    if record.name == "euler-angles":
        return (*euler(r), *m)
    if record.name == "encke-euler":
        now, then = euler(r), euler(r0)
        spin = then[2] + omega[2] * (t - t0)
        return now[0] - then[0], now[1] - then[1], now[2] - spin, m[0], m[1], m[2] - m0[2]
    if record.name == "serret-andoyer":
        return serret_andoyer_of(r, m)
    if record.name == "fukushima":
        return fukushima_of(r, m, *labels)
    if record.name in CANONICAL:
        now, then = canonical_of(r, m), canonical_of(r0, m0)
        if record.nominal is None:
            return now
        spin = then[0] / mp.mpf(body[0][2]) * (t - t0)
        off = [a - b for a, b in zip(now, then, strict=True)]
        return *off[:3], off[3] - spin, *off[4:]
    if record.name == "fukushima-departures":
        now, then = fukushima_of(r, m, *labels), fukushima_of(r0, m0, *labels)
        inner = np.array([[int(x) for x in row] for row in labels[0].tolist()])
        axis = int(np.flatnonzero(inner[2])[0])
        # f of the beginning is that in the axes of the beginning
        f0 = fukushima_of(r0, m0, axes_for(list(m0)), axes_for(list(r0 * m0)))[5]
        spin = f0 + then[0] / mp.mpf(body[0][axis]) * (t - t0)
        return *(a - b for a, b in zip(now[:5], then[:5], strict=True)), now[5] - spin
    assert record.name == "encke-quaternion"
    n = mp.norm(omega)
    half = n * (t - t0) / 2
    turn = mp.cos(half), *(mp.sin(half) / n * x for x in omega)
    w, x, y, z = hamilton(tuple(map(mp.mpf, q0)), turn)
    d = hamilton(tuple(q), (w, -x, -y, -z))
    return d[0] - 1, d[1], d[2], d[3], *(m - m0)


def modulo_turns(record, found, right):
    """The differences, of angles modulo one turn."""
    angles = {"euler-angles": (0, 1, 2), "encke-euler": (0, 1, 2), "serret-andoyer": (0, 1, 2)}
    angles |= dict.fromkeys(CANONICAL, (3, 4, 5))
    places = angles.get(record.name, (5,) if "fukushima" in record.name else ())
    off = [mp.mpf(a) - b for a, b in zip(found, right, strict=False)]
    for i in places:
        off[i] -= 2 * mp.pi * mp.nint(off[i] / (2 * mp.pi))
    return off


def labels_of(q, m):
    with mp.workdps(DIGITS):
        outside = matrix(q) * mp.matrix(list(map(mp.mpf, m)))
        return axes_for(m), axes_for(list(outside))


# ---- records and conversions
@EACH
def test_records_are_complete(record):
    assert isinstance(record, Coordinates)
    assert record.title
    assert record.singular
    assert set(record.references) <= set(bibliography())
    assert record.name not in ph.FORMULATIONS


@EACH
def test_there_and_back(record, rng):
    """Random states of random bodies, with the sign of the attitude."""
    for _ in range(500):
        body, _, first = started(record, rng, body_of(rng.uniform(1.0, 2.0, 3)))
        q, m = random_state(rng)
        t = 0.3 + rng.uniform(-5.0, 5.0)
        y = record.enter(t, q, m, body)
        assert len(y) == record.numbers
        assert all(isinstance(x, float) for x in y)
        p, n = record.leave(t, y, body)
        assert np.abs(np.subtract(p, q)).max() < 1e-13
        assert np.abs(np.subtract(n, m)).max() < 1e-13 * max(math.hypot(*m), math.hypot(*first))


@EACH_DEFINED
def test_variables_are_what_they_are_called(record, rng):
    """``enter`` against the definitions at 50 digits."""
    for _ in range(20):
        body, q0, m0 = started(record, rng, body_of())
        q, m = random_state(rng)
        t = rng.uniform(-3.0, 3.0)
        y = record.enter(t, q, m, body)
        with mp.workdps(DIGITS):
            right = definition(
                record, mp.mpf(t), tuple(map(mp.mpf, q)), tuple(map(mp.mpf, m)),
                (mp.mpf(0.3), q0, m0), body, labels_of(q, m),
            )  # fmt: skip
            # the angles of Serret and Andoyer are ill-conditioned near their poles
            assert max(map(abs, modulo_turns(record, y, right))) < 1e-13


@EACH
def test_a_nominal_motion_begins_with_no_departure(record, rng):
    if record.nominal is None:
        return
    for _ in range(50):
        body, q, m = started(record, rng, body_of())
        y = record.enter(0.3, q, m, body)
        if record.name == "encke-euler":  # it departs from a turn about the third axis
            assert y[3:5] == m[:2]
            y = *y[:3], y[5]
        assert np.abs(y[:6]).max() < 1e-15


# ---- slopes
@EACH
def test_slopes_are_derivatives_of_the_variables(record, rng):
    """d/dt of ``enter`` along the motion of a body with a torque, by differences."""
    slope = bind(record.slope, {torque: lambda t, q, m, body, params: PUSH})
    for _ in range(12):
        body, _, _ = started(record, rng, body_of())
        q, m = random_state(rng)
        y = record.enter(0.5, q, m, body)
        found = np.array(slope(0.5, y, body, ((), ())))
        h, ends = 1e-3, {}
        for k in (-2, -1, 1, 2):
            there = record.enter(0.5 + k * h, *carried(q, m, k * h), body)
            ends[k] = np.array([float(x) for x in modulo_turns(record, there, y)])
        if any(np.abs(end).max() > 0.1 for end in ends.values()):
            continue  # other labels, or near a pole
        right = (8 * (ends[1] - ends[-1]) - (ends[2] - ends[-2])) / (12 * h)
        assert np.abs(found - right).max() < 1e-6 * (1 + np.abs(found).max()) ** 5


def carried(q, m, time):
    """The state after a short time, by eight steps of Kutta's method."""

    def rate(y):
        q, m = y[:4], y[4:]
        omega = m / INERTIA
        turning = [float(x) / 2 for x in hamilton(tuple(q), (0.0, *omega))]
        return np.array([*turning, *(np.cross(m, omega) + PUSH)])

    y, h = np.array([*q, *m]), time / 8
    for _ in range(8):
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))
    q = y[:4] / np.linalg.norm(y[:4])
    return tuple(q.tolist()), tuple(y[4:].tolist())


@EACH_DEFINED
def test_slopes_against_derivatives_with_many_digits(record, rng):
    """d/dt of the definitions along the motion of a body with a torque of order 1."""
    slope = bind(record.slope, {torque: lambda t, q, m, body, params: PUSH})
    for _ in range(12):
        body, q0, m0 = started(record, rng, body_of())
        q, m = random_state(rng)
        t = 0.3 + rng.uniform(-2.0, 2.0)
        y = record.enter(t, q, m, body)
        found = slope(t, y, body, ((), ()))
        with mp.workdps(DIGITS):
            right = derivative(record, t, q, m, (mp.mpf(0.3), q0, m0), body, labels_of(q, m))
            size = max(1, *map(abs, right))
            assert max(abs(a - b) for a, b in zip(found, right, strict=False)) < 1e-13 * size
        assert not any(found[len(right) :])  # labels


def derivative(record, t, q, m, begin, body, labels):
    """By a difference of second order with a step of 1e-20."""
    h = mp.mpf(10) ** -20
    q, m = tuple(map(mp.mpf, q)), tuple(map(mp.mpf, m))
    omega = [x * mp.mpf(i) for x, i in zip(m, body[1], strict=True)]
    dq = [x / 2 for x in hamilton(q, (0, *omega))]
    dm = cross(m, omega) + mp.matrix(list(map(mp.mpf, PUSH)))
    ends = [
        definition(
            record, t + s * h, tuple(x + s * h * d for x, d in zip(q, dq, strict=True)),
            tuple(x + s * h * d for x, d in zip(m, dm, strict=True)), begin, body, labels,
        )
        for s in (1, -1)
    ]  # fmt: skip
    return [x / (2 * h) for x in modulo_turns(record, *ends)]


def test_the_printed_signs_are_wrong(rng):
    """(2) of Fukushima 1995 with either of the torque's terms as printed."""
    record = ph.COORDINATES["fukushima"]
    body = body_of()
    for _ in range(5):
        q, m = random_state(rng)
        y = record.enter(0.0, q, m, body)
        whole, a, x = y[0], y[3], y[1]
        inner, outer = fukushima.components(y)
        n = _labels.labelled(y[6], PUSH)
        o = _labels.labelled(y[7], to_inertial(q, PUSH))
        back = a * (inner[2] * n[1] - inner[1] * n[2]) / (whole * (whole**2 - a**2))
        ahead = x * (outer[2] * o[1] - outer[1] * o[2]) / (whole * (whole**2 - x**2))
        i = _labels.ordered(y[6], body[1])
        free = whole * i[2] + (i[1] - i[2]) * whole * y[4] ** 2 / (whole**2 - a**2)
        with mp.workdps(DIGITS):
            right = derivative(record, 0.0, q, m, (0, q, m), body, labels_of(q, m))[5]
        assert abs(free - back + ahead - right) < 1e-13
        assert abs(free + back + ahead - right) > 1e-4
        assert abs(free - back - ahead - right) > 1e-4
        assert abs(free + back - ahead - right) > 1e-4


@pytest.mark.parametrize("name", ["fukushima", "fukushima-departures"])
def test_what_holds_between_resets(name, rng):
    """Slopes with numbers made beforehand, to rounding; ``stays`` is the rule of resets."""
    record = ph.COORDINATES[name]
    pieces = {torque: lambda t, q, m, body, params: (q[0], m[1], q[2] - m[2])}
    whole, moving = bind(record.slope, pieces), bind(record.settled.slope, pieces)
    seen, named = set(), set()
    for _, state in itertools.product(range(40), (None, NAMED)):
        body, q0, m0 = started(record, rng, body_of(), state=state)
        y = record.enter(0.3, q0, m0, body)
        named.add(y[6:] == (0.0, 0.0))
        here = record.settled.numbers(y, body)
        y = *(x + 0.1 * d for x, d in zip(y[:6], rng.normal(size=6).tolist(), strict=True)), *y[6:]
        rates = moving(0.7, y[:6], here, body, ()), whole(0.7, y, body, ())[:6]
        assert np.allclose(*rates, rtol=1e-13, atol=1e-13, equal_nan=True)
        stays = record.settled.stays(y[:6], here)
        assert stays == (not record.reset(0.7, y, body)[1])
        seen.add(stays)
    assert seen == named == {True, False}


@pytest.mark.parametrize("name", ["fukushima", "fukushima-departures"])
def test_what_depends_on_time_alone_first_changes_no_bit(name):
    """``ahead`` is about the order of instructions, not about results."""
    record = ph.COORDINATES[name]
    slope = bind(record.settled.slope, {ahead: lambda t, body, params: (0.0, 0.0, 0.0)})
    later = replace(record, settled=replace(record.settled, slope=slope))
    earth = ph.celestial.rigid_earth_model()
    plan = {"method": "adams", "dt": 1 / 128, "save_every": 16}
    runs = [ph.solve(earth, (0, 2), formulation=form, **plan) for form in (name, later)]
    assert runs[0].q.tobytes() == runs[1].q.tobytes()
    assert runs[0].omega.tobytes() == runs[1].omega.tobytes()


@pytest.mark.usefixtures("plain")
def test_functions_of_users_are_not_called_ahead():
    """They may have a reason to raise at a state that is not that of the body."""
    calls = []

    def own(t, q, omega, params):
        calls.append(t)
        return 0.0, 0.0, 0.1

    mine = ph.models.torque(own)
    problem = ph.Problem(ph.RigidBody(INERTIA), mine, omega=OMEGA)
    run = ph.solve(
        problem, (0, 0.4), method="adams", dt=0.01, formulation="fukushima", options={"order": 4}
    )
    assert run.nfev <= len(calls) <= run.nfev + 2  # one call to see what it returns
    assert ahead not in model_pieces(mine, True)
    assert ahead not in model_pieces(ph.models.heavy_top(1.0) + mine, True)
    assert ahead in model_pieces(ph.models.heavy_top(1.0), True)


# ---- attitudes
def turn_about(axis, angle):
    c, s = mp.cos(angle), mp.sin(angle)
    if axis == 3:
        return mp.matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return mp.matrix([[1, 0, 0], [0, c, -s], [0, s, c]])


def q12(x, y):
    """As printed."""
    w, z = mp.sqrt(1 - x * x), mp.sqrt(1 - x * x - y * y)
    return mp.matrix([[w, 0, x], [-x * y / w, z / w, y], [-x * z / w, -y / w, z]])


def test_attitudes_with_many_digits(rng):
    """E from the variables, with the matrices of the definitions."""
    for name in ("euler-angles", "serret-andoyer", "fukushima", "fukushima-canonical"):
        record, body = ph.COORDINATES[name], body_of()
        for _ in range(20):
            q, m = random_state(rng)
            y = record.enter(0.0, q, m, body)
            found, _ = record.leave(0.0, y, body)
            with mp.workdps(DIGITS):
                v = list(map(mp.mpf, y))
                if name == "euler-angles":
                    right = turn_about(3, v[0]) * turn_about(1, v[1]) * turn_about(3, v[2])
                elif name == "serret-andoyer":
                    i, j = mp.acos(v[5] / v[4]), mp.acos(v[3] / v[4])
                    right = turn_about(3, v[2]) * turn_about(1, i) * turn_about(3, v[1])
                    right = right * turn_about(1, j) * turn_about(3, v[0])
                elif name == "fukushima-canonical":
                    outer, inner = (q12(x / v[0], mp.mpf(0)) for x in v[1:3])
                    right = turn_about(1, v[4]) * outer * turn_about(3, v[3])
                    right = right * inner.T * turn_about(1, v[5])
                else:
                    inner, outer = labels_of(q, m)
                    whole, x, z, a, b, f = v[:6]
                    right = q12(x / whole, z / whole) * turn_about(3, f)
                    right = right * q12(a / whole, b / whole).T
                    right = outer.T * right * inner
                off = matrix(tuple(map(mp.mpf, found))) - right
                # J and I follow from cosines, the tilts of the canonical set from sines
                loose = name in ("serret-andoyer", "fukushima-canonical")
                assert max(abs(x) for x in off) < (1e-13 if loose else 2e-15)


# ---- labels
def test_labels_are_signed_permutations():
    """All twelve; exact there and back, right-handed, with their quaternion."""
    v = 0.1, -0.2, 0.3
    for k in map(float, range(12)):
        rows = np.array([_labels.labelled(k, e) for e in np.eye(3).tolist()]).T
        assert sorted(np.abs(rows).ravel()) == [0] * 6 + [1] * 3
        assert np.linalg.det(rows) == pytest.approx(1.0)
        assert _labels.unlabelled(k, _labels.labelled(k, v)) == v
        assert sorted(_labels.ordered(k, (1.0, 2.0, 3.0))) == [1.0, 2.0, 3.0]
        assert np.abs(_labels.labelled(k, v)).tolist() == np.abs(_labels.ordered(k, v)).tolist()
        g = _labels.attitude(k)
        assert np.allclose(to_inertial(g, _labels.labelled(k, v)), v, atol=1e-16)
        assert _labels.labelled(k + 1e-9, v) == _labels.labelled(k, v)


def test_labels_suit_the_vector(rng):
    special = [*np.eye(3), *-np.eye(3), (1, 1, 1), (-1, -1, -1), (1, -1, 0), (0, -1, 1)]
    seen = set()
    for v in [*rng.normal(size=(500, 3)), *special]:
        k = _labels.label_for(tuple(map(float, v)))
        a, b, c = _labels.labelled(k, tuple(map(float, v)))
        square = a * a + b * b + c * c
        assert c > 0.0
        assert a * a <= (1 + 1e-15) / 3 * square <= (1 + 1e-15) * c * c
        assert k == 0.0 or abs(a) <= abs(b) <= c
        assert (k == 0.0) == (axes_for(v) == mp.eye(3))
        assert _labels.suits(a, b, math.hypot(a, b, c))
        seen.add(k)
    assert seen == set(range(12))


# ---- runs
FREE = ph.Problem(
    ph.RigidBody(INERTIA),
    attitude=[0.8, 0.4, -0.2, 0.4],
    scalar_first=True,
    angular_momentum=[1e-2, 2.0, 2e-2],
)  # near the middle axis: the momentum wanders from one end of it to the other


def free_motion(times):
    x, y, z = FREE.attitude[1:]
    start = Rotation.from_quat([x, y, z, FREE.attitude[0]])
    omega = np.divide(FREE.angular_momentum, INERTIA)
    return ph.exact_free_motion(FREE.body, start, omega, times)


def labels_along(momenta):
    return {_labels.label_for(tuple(row)) for row in momenta.tolist()}


def test_the_free_body_wanders_through_labels():
    """From one end of the middle axis past the third one to the other end, and back."""
    labels = labels_along(free_motion(np.linspace(0.0, 40.0, 400)).angular_momentum)
    assert len(labels) >= 4
    assert {label % 6 for label in labels} == {0.0, 2.0, 5.0}


@pytest.mark.parametrize("name", ["fukushima", "fukushima-departures"])
@pytest.mark.parametrize("options", [{"method": "adams", "dt": 0.005}, {"method": "vern9"}])
def test_labels_of_the_body_change(name, options, plain):
    """A strong torque, against SciPy."""
    times = tuple(np.linspace(0.0, 6.0, 13).tolist())
    q, m = TIME.reference(times)
    assert len(labels_along(m)) >= 6
    run = ph.solve(TIME.problem, (0.0, 6.0), formulation=name, t_eval=times, **options)
    assert max(errors(run, q, m)) < (1e-12 if options["method"] == "adams" else 1e-9)


@pytest.mark.parametrize("name", ["fukushima", "fukushima-departures"])
def test_labels_of_space_change(name, plain):
    """A torque that is constant in inertial axes: the momentum there goes along a straight line."""
    push = 0.7, -2.0, -1.0

    def pushed(t, q, omega, params):
        return to_body(q, push)

    problem = ph.Problem(
        ph.RigidBody(INERTIA), ph.torque(pushed), attitude=ATTITUDE, scalar_first=True,
        omega=OMEGA,
    )  # fmt: skip
    options = {"method": "vern9", "rtol": 1e-12, "t_eval": np.linspace(0.0, 5.0, 21)}
    run = ph.solve(problem, (0.0, 5.0), formulation=name, **options)
    right = ph.solve(problem, (0.0, 5.0), **options)
    first = matrix_of(ATTITUDE) @ problem.angular_momentum
    line = first + run.t[:, None] * np.array(push)
    assert len(labels_along(line)) >= 5
    assert np.abs(run.angular_momentum_inertial - line).max() < 1e-11
    assert np.abs(run.q - right.q).max() < 1e-11


@pytest.mark.parametrize("name", ["fukushima", "fukushima-departures", "encke-quaternion"])
@pytest.mark.parametrize(
    ("options", "bound"),
    [
        ({"method": "rk4", "dt": 0.02}, 2e-6),
        ({"method": "gauss", "dt": 0.25}, 1e-11),
        ({"method": "dop853", "rtol": 1e-11}, 1e-8),
    ],
    ids=["rk4", "gauss", "dop853"],
)
def test_a_tumbling_body(name, options, bound, plain):
    """Through many labels; an error grows by a hundred on the way past the middle axis."""
    span = 40.0 if name.startswith("fukushima") else 20.0
    run = ph.solve(FREE, (0.0, span), formulation=name, **options)
    right = free_motion(run.t)
    assert run.status == Status.OK
    assert np.abs(run.q - right.q).max() < bound
    assert np.abs(run.angular_momentum - right.angular_momentum).max() < 4 * bound


@EACH
@pytest.mark.parametrize("method", OF_BODIES)
def test_every_integrator(record, method, plain):
    """A torque with everything in it, against SciPy."""
    integrator = ph.INTEGRATORS[method]
    fixed = {"dt": 0.1 if integrator.implicit else 0.01}
    options = {"rtol": 1e-9} if integrator.adaptive else fixed
    run = ph.solve(TIME.problem, (0.0, 0.6), method=method, formulation=record, **options)
    assert run.status == Status.OK
    assert max(errors(run[[0, -1]], *TIME.reference((0.0, 0.6)))) < 1e-8
    assert run.arguments["formulation"] == record.name


@EACH
def test_full_tensors_backward_and_other_starts(record, plain):
    """Axes that are not principal; there and back; a prepared solver from other states."""
    tensor = [[3.0, 0.3, -0.2], [0.3, 2.0, 0.4], [-0.2, 0.4, 4.0]]
    model = ph.torque(forced, DAMPED)
    problem = ph.Problem(
        ph.RigidBody(tensor), model, attitude=ATTITUDE, scalar_first=True, omega=OMEGA
    )
    solver = ph.prepare(problem, method="dop853", rtol=1e-11, formulation=record)
    there = solver((2.0, 3.5))
    right = ph.solve(problem, (2.0, 3.5), method="vern9", rtol=1e-12)
    assert np.abs(there.q[0] - ATTITUDE).max() < 1e-15
    assert np.abs(there.q[-1] - right.q[-1]).max() < 1e-9
    w, x, y, z = there.q[-1]
    start = {
        "attitude": Rotation.from_quat([x, y, z, w]),
        "angular_momentum": there.angular_momentum[-1],
    }
    back = solver((3.5, 2.0), **start)
    assert angle(back.q[-1], there.q[0]).max() < 1e-9
    assert np.abs(back.angular_momentum[-1] - there.angular_momentum[0]).max() < 1e-9


@EACH
@pytest.mark.parametrize("options", [{"method": "rk4", "dt": 0.01}, {"method": "dop853"}])
def test_dense_output_and_events(record, options, plain):
    """The time reaches ``leave``: between steps, in ``t_eval``, in ``save_every`` and in events."""
    options = {**options, "formulation": record}
    times = np.array([0.0, 0.123, 0.77, 1.0])
    q, m = TIME.reference(tuple(times))
    run = ph.solve(
        TIME.problem, (0.0, 1.0), **options, events=lambda t, q, omega: t - 0.77 + 0.0 * q[0]
    )
    assert run.t_events[0] == pytest.approx([0.77], abs=1e-12)
    for found in (
        run.sol(times),
        ph.solve(TIME.problem, (0.0, 1.0), **options, t_eval=times),
        ph.solve(TIME.problem, (0.0, 1.0), **options, save_every=1000)[[0, -1]],
    ):
        places = [0, -1] if len(found.t) == 2 else slice(None)
        assert max(errors(found, q[places], m[places])) < 1e-7


def test_events_see_attitudes(plain):
    """A zero of an attitude's component, in departures from a turn, at the same time as ever."""
    found = [
        ph.solve(
            TIME.problem, (0.0, 3.0), method="dop853", rtol=1e-11, formulation=name,
            events=lambda t, q, omega: q[0],
        ).t_events[0]
        for name in ("quaternion", "encke-quaternion", "fukushima-departures", "encke-euler")
    ]  # fmt: skip
    assert len(found[0]) > 0
    for others in found[1:]:
        assert others == pytest.approx(found[0], abs=1e-9)


@EACH
def test_six_degrees_of_freedom(record, plain):
    times = 0.0, 0.5, 1.0
    run = ph.solve(
        SPRUNG.problem, (0.0, 1.0), method="dop853", rtol=1e-10, formulation=record, t_eval=times
    )
    assert SPRUNG.errors(run, times).max() < 2e-9


@pytest.mark.parametrize(
    ("name", "method", "dt", "bound"),
    [("fukushima-departures", "adams", 0.025, 1e-12), ("encke-quaternion", "rk4", 0.05, 1e-11)],
)
def test_compiled_as_in_plain_python(name, method, dt, bound):
    """The same to rounding; compiled, sums are fused.  Labels change on the way."""
    runs = []
    for context in (given_motion.plain_python(), nothing()):
        with context:
            runs.append(ph.solve(FREE, (0.0, 30.0), method=method, dt=dt, formulation=name))
    assert np.abs(runs[0].q - runs[1].q).max() < bound
    if method == "adams":
        assert len(labels_along(runs[0].angular_momentum)) >= 3
        right = free_motion(runs[0].t)
        assert angle(runs[1].q, right.q).max() < bound


@contextlib.contextmanager
def nothing():
    yield


# ---- canonical variables
@pytest.mark.parametrize(
    ("name", "symplectic"),
    [*((name, True) for name in CANONICAL), ("serret-andoyer", True), ("quaternion", False),
     ("fukushima", False), ("euler-angles", False)],
)  # fmt: skip
def test_a_symplectic_integrator_is_so_in_canonical_variables(name, symplectic, plain):
    """The form of the cotangent bundle, of R and m, which uses none of these variables."""
    top = ph.Problem(
        ph.RigidBody(INERTIA), ph.models.heavy_top(2.0, (0.3, -0.2, 1.0)),
        attitude=ATTITUDE, scalar_first=True, angular_momentum=[0.4, -0.9, 2.0],
    )  # fmt: skip
    options = {"method": "gauss", "dt": 0.2, "options": {"order": 4}}
    solver = ph.prepare(top, formulation=name, **options)

    def move(state):
        r, m = state
        run = solver((0.0, 0.2), attitude=Rotation.from_matrix(r), angular_momentum=m)
        return run.rotation[-1].as_matrix(), run.angular_momentum[-1]

    found = symplectic_defect(move, (matrix_of(ATTITUDE), np.array([0.4, -0.9, 2.0])))
    assert found < 1e-10 if symplectic else found > 1e-6


# ---- singular states
UP = {"attitude": [1.0, 0.0, 0.0, 0.0], "scalar_first": True}
SINGULAR = {
    "euler-angles": (UP | {"omega": [0.1, 0.2, 1.0]}, "third axes of body and space"),
    "encke-euler": (UP | {"omega": [0.1, 0.2, 1.0]}, "'encke-quaternion'"),
    "serret-andoyer": (
        {"attitude": ATTITUDE, "scalar_first": True, "omega": [0.0, 0.0, 1.0]}, "(J = 0)",
    ),
    "fukushima": (UP | {"omega": [0.0, 0.0, 0.0]}, "no momentum"),
    "fukushima-departures": (UP | {"omega": [0.0, 0.0, 0.0]}, "'encke-quaternion'"),
    "fukushima-canonical": (
        {"attitude": ATTITUDE, "scalar_first": True, "omega": [1.0, 0.0, 0.0]}, "first axis",
    ),
    "fukushima-canonical-departures": (
        {"attitude": ATTITUDE, "scalar_first": True, "omega": [1.0, 0.0, 0.0]}, "first axis",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("options", [{"method": "rk4", "dt": 0.1}, {"method": "dop853"}])
def test_a_start_that_is_singular(name, options, plain):
    start, words = SINGULAR[name]
    problem = ph.Problem(ph.RigidBody(INERTIA), **start)
    with pytest.raises(ph.InputError, match="cannot describe the initial state") as caught:
        ph.solve(problem, (0.0, 1.0), formulation=name, **options)
    assert words in str(caught.value)
    assert name in str(caught.value)
    run = ph.solve(problem, (0.0, 1.0), formulation="encke-quaternion", **options)
    assert run.success


@pytest.mark.parametrize("name", ["euler-angles", "encke-euler"])
def test_a_run_into_a_singularity(name, plain):
    """θ falls to 0 at t = 1/2, after 32 steps: a status, with what to take instead."""

    def braked(t, q, omega, params):
        return (INERTIA[0] * 2.0, 0.0, 0.0)

    problem = ph.Problem(
        ph.RigidBody(INERTIA), ph.torque(braked), omega=[-1.0, 0.0, 0.0],
        attitude=[math.cos(0.125), math.sin(0.125), 0.0, 0.0], scalar_first=True,
    )  # fmt: skip
    run = ph.solve(problem, (0.0, 1.0), formulation=name, method="rk4", dt=1 / 64)
    assert run.status == Status.NOT_FINITE
    assert run.t[-1] == pytest.approx(0.5, abs=0.02)
    assert np.isfinite(run.q).all()
    assert "'encke-quaternion'" in run.message


@pytest.mark.parametrize("options", [{"method": "rk4", "dt": 1 / 64}, {"method": "dop853"}])
def test_a_momentum_that_comes_to_rest(options, plain):
    """Fukushima's variables where L becomes 0."""

    def braked(t, q, omega, params):
        return (-0.1, -0.2, -2.0)

    problem = ph.Problem(
        ph.RigidBody([2.0, 2.0, 2.0]), ph.torque(braked), attitude=ATTITUDE, scalar_first=True,
        angular_momentum=[0.05, 0.1, 1.0],
    )  # fmt: skip
    run = ph.solve(problem, (0.0, 1.0), formulation="fukushima", **options)
    assert run.status != Status.OK
    assert run.t[-1] == pytest.approx(0.5, abs=0.02)
    assert "no momentum" in run.message


def test_rates_alone_have_no_momentum():
    with pytest.raises(ph.MethodError, match="is for bodies"):
        ph.integrate_angular_velocity(
            lambda t: (0.0, 0.0, 1.0), (0, 1), frame="body", method="dop853",
            formulation="euler-angles",
        )  # fmt: skip
