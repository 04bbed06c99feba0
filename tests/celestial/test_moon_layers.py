"""The Moon with tides and core: equations against 40 digits, runs against DE421 to 0.03 mas."""

import sys

import mpmath as mp
import numpy as np
import pytest

import polhode as ph

pytest.importorskip("jplephem", reason="needs jplephem and de421: pip install 'polhode[celestial]'")
pytest.importorskip("de421", reason="needs jplephem and de421: pip install 'polhode[celestial]'")

from polhode.celestial import layered, layers, libration
from polhode.celestial.ephemeris import DAY, PLANETS, de421, opened
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from polhode.kernels.trig import ELEMENTARY
from support.bits import bits_of, exactly

EPOCH = 2440400.5
YEAR = 365.25 * DAY
MAS = 1e3
RNG = np.random.default_rng(423)


def rms(gaps):
    return float(np.sqrt((gaps**2).sum(axis=1).mean()))


# ---- the equations a second time, with matrices and 40 digits
def vector(values):
    return mp.matrix([mp.mpf(x) for x in values])


def outer(a, b):
    return a * b.T


def crossed(a, b):
    return mp.matrix(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def hat(w):
    return mp.matrix([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def length(v):
    return mp.sqrt(sum(x * x for x in v))


def attitude(q):
    """The matrix of a quaternion, not of length 1 to 40 digits."""
    w, v = mp.mpf(q[0]), vector(q[1:])
    plain = (w * w - sum(x * x for x in v)) * mp.eye(3) + 2 * outer(v, v) + 2 * w * hat(v)
    return plain / (w * w + sum(x * x for x in v))


def place(name, date):
    """A sum of Chebyshev polynomials by their definition, at a date with 40 digits."""
    ours = de421()
    table = ours.table(name)
    x = (date - mp.mpf(ours.first)) / mp.mpf(ours.interval(name))
    k = int(mp.floor(x))
    angle = mp.acos(2 * (x - k) - 1)
    return mp.matrix(
        [sum(mp.mpf(float(c)) * mp.cos(j * angle) for j, c in enumerate(row)) for row in table[k]]
    )


def gravity(name):
    """GM in km³/s²."""
    c = {key: mp.mpf(value) for key, value in de421().constants.items()}
    unit = c["AU"] ** 3 / mp.mpf(86400) ** 2
    if name == "earth":
        return c["GMB"] * c["EMRAT"] / (1 + c["EMRAT"]) * unit
    keys = dict(zip(PLANETS, (1, 2, 4, 5, 6, 7, 8), strict=True))
    return (c["GMS"] if name == "sun" else c[f"GM{keys[name]}"]) * unit


def seen(name, date):
    """The place of a body as seen from the Moon, in km."""
    c = de421().constants
    moon = place("moon", date)
    if name == "earth":
        return -moon
    share = mp.mpf(c["EMRAT"]) / (1 + mp.mpf(c["EMRAT"]))
    return place(name, date) - place("earthmoon", date) - share * moon


def potential(name, pole):
    """The potential of a body at a vector from the Moon's centre; the body is at ``s``."""
    c = de421().constants
    flat = mp.mpf(c["J2E"]) * mp.mpf(c["AE"]) ** 2 if name == "earth" else mp.mpf(0)

    def at(s, x):
        d = x - s
        r = length(d)
        z = (d.T * pole)[0] / r
        return gravity(name) / r * (1 - flat / r**2 * (3 * z * z - 1) / 2)

    return at


def hessian(f):
    """Second derivatives at 0 by differences over 1e-6 km."""
    h, found = mp.mpf("1e-6"), mp.zeros(3)
    axes = [h * mp.matrix([int(i == k) for i in range(3)]) for k in range(3)]
    for i in range(3):
        for j in range(3):
            a, b = axes[i], axes[j]
            found[i, j] = (f(a + b) - f(a - b) - f(b - a) + f(-a - b)) / (4 * h * h)
    return found


def turned_by(second, moments):
    """The torque -dV/dθ of V = tr(H J)/2, the energy of moments J in second derivatives H."""
    found = []
    for k in range(3):
        e = mp.matrix([int(i == k) for i in range(3)])
        turned = hat(e) * moments - moments * hat(e)
        found.append(-(second * turned)[0, 0] / 2 - (second * turned)[1, 1] / 2)
        found[-1] -= (second * turned)[2, 2] / 2
    return mp.matrix(found)


def turned_by_higher(n, s, mu):
    """The torque on degree n by differences of the potential, of a point at s in body axes."""
    c, radius = libration.harmonics(de421(), n), mp.mpf(de421().constants["AM"])
    size = mp.mpf(libration.mass_area(de421()))

    def value(x):
        r = length(x)
        longitude = mp.atan2(x[1], x[0])
        rows = [(c[0], 0), *c[1 : n + 1]]
        total = sum(
            (-1) ** m * mp.legenp(n, m, x[2] / r)
            * (a * mp.cos(m * longitude) + b * mp.sin(m * longitude))
            for m, (a, b) in enumerate(rows)
        )  # fmt: skip
        return mu * size / radius**2 * (radius / r) ** n / r * total

    h = mp.mpf("1e-6") * length(s) * mp.mpf("1e-8")
    axes = [h * mp.matrix([int(i == k) for i in range(3)]) for k in range(3)]
    slope = mp.matrix([(value(s + a) - value(s - a)) / (2 * h) for a in axes])
    return -crossed(s, slope)


def rates_with_40_digits(begin, t, q, m, mc, moon):
    """(ω, m', m_c', D) of (1) to (5) with matrices: D is the torque on the distorted part."""
    c = {key: mp.mpf(value) for key, value in de421().constants.items()}
    day, newton = mp.mpf(86400), mp.mpf(6.67430e-11)
    date, r = mp.mpf(begin) + mp.mpf(t) / day, attitude(q)
    whole = mp.diag([mp.mpf(x) for x in libration.moments(de421())])
    inner = mp.diag([mp.mpf(x) for x in libration.core_moments(de421())])
    outside = mp.diag([mp.mpf(x) for x in moon.body[0]])
    m, mc = vector(m), vector(mc)
    tilt = mp.mpf(libration.PRECESSION) * (mp.mpf(begin) - 2451545) * day
    pole = vector([tilt + mp.mpf(libration.PRECESSION) * mp.mpf(t), 0, 1])
    second, n = mp.zeros(3), mp.zeros(3, 1)
    for name in ("earth", "sun", *PLANETS):
        s, at = seen(name, date), potential(name, pole)
        second += r.T * hessian(lambda x, s=s, at=at: at(s, x)) * r
        if name in ("earth", "sun"):
            for degree in (3, 4):
                n += turned_by_higher(degree, r.T * s, gravity(name))
    n += turned_by(second, whole)
    omega = mp.lu_solve(outside, m)
    change = mp.lu_solve(outside, crossed(m, omega) + n)
    delay = c["TAUM"] * day
    before = r * mp.expm(-delay * hat(omega))  # the attitude at t - τ
    s = before.T * seen("earth", date - delay / day)
    u, spin = s / length(s), omega - delay * change
    radius5 = (1000 * c["AM"]) ** 5
    mass = gravity("earth") * mp.mpf(10) ** 9 / newton
    tide = -c["K2M"] * mass * radius5 / (1000 * length(s)) ** 3 * (outer(u, u) - mp.eye(3) / 3)
    mean, z = mp.mpf(layers.MEAN_MOTION), mp.matrix([0, 0, 1])
    bulge = outer(spin, spin) - (spin.T * spin)[0] * mp.eye(3) / 3
    bulge -= mean**2 * (outer(z, z) - mp.eye(3) / 3)
    added = tide + c["K2M"] * radius5 / (3 * newton) * bulge
    omega = mp.lu_solve(outside + added, m)
    inside = mp.lu_solve(inner, mc)
    friction = c["KVC"] / day * outside[2, 2]
    between = friction * (inside - omega)
    between += (inner[2, 2] - inner[0, 0]) * inside[2] * crossed(z, inside)
    torque = turned_by(second, added)
    moved = crossed(m, omega) + n + torque + between
    return omega, moved, crossed(mc, omega) - between, torque


def floats(*vectors):
    return [np.array([float(x) for x in v]) for v in vectors]


@pytest.mark.parametrize("t", [0.0, 12.3 * DAY, -4321.0 * DAY])
def test_the_motion_is_that_of_matrices_with_40_digits(t):
    """All terms, and what acts on the distorted part alone, which is a millionth of the rest."""
    moon = ph.celestial.layered_moon(EPOCH)
    body, params = moon.body, moon.params
    rng = np.random.default_rng(int(abs(t)))
    q = rng.normal(size=4)
    q = tuple(q / np.linalg.norm(q))
    m, mc = tuple(np.array(moon.mantle) + rng.normal(size=3) * 1e27), moon.core
    found = np.array(layered.motion(t, q, m, mc, body, params))
    with mp.workdps(40):
        omega, moved, core, torque = floats(*rates_with_40_digits(EPOCH, t, q, m, mc, moon))
    (numbers, more), tables = params
    n, gradient = libration.pull(t, q, (numbers, tables), *more[3])
    turning = np.array(m) * body[1]
    change = np.array(body[1]) * (np.cross(m, turning) + n)
    distortion = layered.distortion_of(t, q, tuple(turning), tuple(change), params)
    alone = np.array(layered.turned_by_gradient(gradient, distortion))
    assert alone == pytest.approx(torque, abs=1e-10 * np.linalg.norm(torque))
    size = np.linalg.norm(n)
    assert np.linalg.norm(torque) < 1e-2 * size
    assert found[0] == pytest.approx(omega, abs=1e-14 * np.linalg.norm(omega))
    assert found[1] == pytest.approx(moved, abs=1e-11 * size)
    assert found[2] == pytest.approx(core, abs=1e-13 * np.linalg.norm(core))


def test_compiled_is_plain_python_with_an_exact_fma():
    moon = ph.celestial.layered_moon(EPOCH)
    motion = bind(layered.motion, ELEMENTARY)
    machine, plain = compiled(motion), exactly(motion)
    for t in (0.0, 1e6, -3.3e8):
        arguments = t, moon.attitude, moon.mantle, moon.core, moon.body, moon.params
        assert bits_of(plain(*arguments)) == bits_of(machine(*arguments))


# ---- switches
def test_a_term_left_out_is_zero_in_the_numbers():
    _, more = ph.celestial.layered_moon(EPOCH).numbers
    reach, rate, on_tides, strength = more[3]
    assert rate == libration.PRECESSION
    assert reach == 2
    assert len(on_tides) == 10
    assert strength > 0.0

    def without(*names):
        return ph.celestial.layered_moon(EPOCH, without=names).numbers

    assert without("sun-on-tides")[1][3][2][2] == 0.0
    assert without("sun-on-tides")[0][1][2] > 0.0
    assert set(without("planets-on-tides")[1][3][2][3:]) == {0.0}
    assert without("planets")[0][1][3:] == (0.0,) * 7
    assert without("oblateness-on-tides")[1][3][3] == 0.0
    assert without("oblateness")[0][4][0] == 0.0
    assert without("sun-on-degree-3")[1][3][0] == 0
    assert without("pole")[1][3][1] == 0.0
    assert without("tides", "spin", "delay")[1][0][:3] == (0.0, 0.0, 0.0)
    assert without("friction", "boundary")[1][1] == (0.0, 0.0)
    share = without("mantle-friction")[1][1][0] / more[1][0]
    assert share == pytest.approx(1.0 / (1.0 - de421().constants["IFAC"]), rel=1e-14)
    for name in layers.TERMS:
        assert without(name) != ph.celestial.layered_moon(EPOCH).numbers


def test_models_are_sets_of_switches():
    (_, gravities, *_, rate), _ = ph.celestial.layered_moon(EPOCH).numbers
    assert len(gravities) == 10
    assert rate == (0.0, 0.0, 0.0)
    numbers, more = ph.celestial.layered_moon(EPOCH, model="layered").numbers
    assert len(numbers[1]) == 3
    assert numbers[5] != (0.0, 0.0, 0.0)
    assert more[3] == (0, libration.PRECESSION, (numbers[1][0], 0.0, 0.0), 0.0)
    turned = ph.celestial.layered_moon(EPOCH, geodetic=True, planets=False).numbers
    assert len(turned[0][1]) == 3
    assert turned[0][5] == numbers[5]


def test_switches_that_do_not_exist():
    with pytest.raises(ph.InputError, match="model must be one of de421, layered, got 'de440'"):
        ph.celestial.layered_moon(EPOCH, model="de440")
    with pytest.raises(ph.InputError, match=r"without takes names of degree-3.*got 'cheese'"):
        ph.celestial.layered_moon(EPOCH, without=["cheese"])
    with pytest.raises(ph.InputError, match="ephemeris must be one of de421, de422, de423, got"):
        ph.celestial.moon(EPOCH, ephemeris="de430")


def test_a_missing_newer_ephemeris_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "de422", None)
    with pytest.raises(ph.InputError, match=r"DE422.*pip install 'polhode\[celestial\]' de422"):
        opened.__wrapped__("de422")


# ---- runs, against DE421
def at_ends(start, years, **switches):
    """Residuals in mas at the ends of the intervals of DE421's librations."""
    moon = ph.celestial.layered_moon(start, **switches)
    name = switches.get("ephemeris", "de421")
    first = opened(name).latest_end("librations", start) - start
    days = np.arange(first, years * 365.25, np.copysign(8.0, years))
    times = days[days * years >= 0.0] * DAY
    run = moon.solve((0.0, times[-1]), rtol=1e-13, t_eval=times)
    assert run.success
    return MAS * ph.celestial.moon_residuals(run, start, name)


def test_series_of_librations_are_smooth_at_the_ends_of_intervals():
    """Angles and rates of neighbours agree there to rounding: JPL's fits hold both fixed."""
    from numpy.polynomial import chebyshev

    table = de421().table("librations")
    days = de421().interval("librations")
    assert days == 8.0
    ends = np.array([-1.0, 1.0])
    for k in RNG.integers(0, len(table) - 1, 50):
        left, right = table[k].T, table[k + 1].T
        value = [chebyshev.chebval(ends, c)[:, j] for c, j in ((left, 1), (right, 0))]
        rate = [
            chebyshev.chebval(ends, chebyshev.chebder(c))[:, j] / (days / 2)
            for c, j in ((left, 1), (right, 0))
        ]
        assert value[0] == pytest.approx(value[1], abs=1e-11)  # ψ has thousands of radians
        assert rate[0] == pytest.approx(rate[1], abs=1e-14)


@pytest.mark.parametrize(
    ("start", "years"), [(EPOCH, 50.0), (EPOCH + 187.0, 50.0), (2451544.5, -50.0)]
)
def test_fifty_years_are_within_three_hundredths_of_a_mas(start, years):
    gaps = at_ends(start, years)
    assert rms(gaps) < 0.035
    assert rms(gaps[:, 2:]) < 0.006


def test_each_new_term_is_needed():
    """Bounds on both sides of what docs/guide/moon.md says."""
    for names, least, most in (
        (["sun-on-tides"], 10.0, 20.0),
        (["mantle-friction"], 0.15, 0.21),
        (["oblateness-on-tides"], 0.05, 0.1),
        (["planets"], 1.0, 2.0),
        (["pole"], 0.3, 0.7),
    ):
        assert least < rms(at_ends(EPOCH, 50.0, without=names)) < most, names
    assert rms(at_ends(EPOCH, 50.0, without=["sun-on-degree-3"])[:, 2:]) > 0.02
    assert 2.0 < rms(at_ends(EPOCH, 50.0, geodetic=True)) < 4.0


def test_inside_an_interval_rates_of_the_series_would_not_do():
    """A start a day after the epoch: DE421's own rates there would mean 2.6 mas in 50 years."""
    start = EPOCH + 1.0
    moon = ph.celestial.layered_moon(start)
    rigid = libration.moon(start, mantle=True)
    omega, *_ = layered.motion(0.0, moon.attitude, moon.mantle, moon.core, moon.body, moon.params)
    assert np.abs(np.array(omega) - rigid.omega).max() > 1e-16
    turn = np.array(moon.attitude) - rigid.attitude
    assert 1e-11 < np.linalg.norm(turn) < 1e-9  # 0.2 mas: the series is no better inside
    assert rms(at_ends(start, 20.0)) < 0.035


def test_a_newer_ephemeris():
    """DE423 has DE421's constants of the Moon; its librations differ by some mas."""
    pytest.importorskip("de423", reason="needs de423: pip install de423")
    ours, other = de421().constants, opened("de423").constants
    for name in ("LBET", "LGAM", "J2M", "K2M", "TAUM", "KVC", "COBLAT", "IFAC", "OMGCX"):
        assert ours[name] == pytest.approx(other[name], rel=1e-14)
    assert 1.0 < rms(at_ends(EPOCH, 50.0, ephemeris="de423")) < 4.0
