"""The real Moon: the ephemeris against jplephem, torques against potentials, runs against DE421."""

import math
import sys

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode.cli import main as entry
from polhode.cli import moon
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from support.bits import bits_of, exactly

pytest.importorskip("jplephem", reason="needs jplephem and de421: pip install 'polhode[celestial]'")
pytest.importorskip("de421", reason="needs jplephem and de421: pip install 'polhode[celestial]'")

from polhode.celestial import ephemeris, layered, layers, libration
from polhode.celestial.ephemeris import DAY, de421, julian_date, series_at
from polhode.kernels.trig import ELEMENTARY

START = "2000-01-01"
YEAR = 365.25 * DAY
RNG = np.random.default_rng(421)


def rms(turns):
    return float(np.sqrt((turns**2).sum(axis=1).mean()))


# ---- the ephemeris
@pytest.mark.parametrize("name", ["moon", "earthmoon", "sun", *ephemeris.PLANETS, "librations"])
def test_series_are_those_of_jplephem(name):
    """To the rounding of the sum, and of the time: 1e-16 of 200 years is 1e-6 s."""
    import de421 as package
    from jplephem.ephem import Ephemeris

    begin = julian_date("1987-06-05T04:03")
    other, (clock, table) = Ephemeris(package), de421().series(name, begin)
    at, exact = compiled(series_at), exactly(series_at)
    days = [*RNG.uniform(2414993 - begin, 2524624 - begin, 200).tolist(), 0.0, 16.0]
    for day in days:
        there, speed = other.position_and_velocity(name, begin, day)
        bound = 1e-14 * np.abs(there).max() + 2e-6 / DAY * np.abs(speed).max()
        assert np.abs(there[:, 0] - at(day * DAY, clock, table)).max() < bound
        assert bits_of(exact(day * DAY, clock, table)) == bits_of(at(day * DAY, clock, table))


def test_series_end_where_the_ephemeris_ends():
    ours = de421()
    clock, table = ours.series("moon", ours.first)
    length = (ours.last - ours.first) * DAY
    assert np.isfinite(series_at(0.0, clock, table)).all()
    assert np.isfinite(series_at(length, clock, table)).all()
    assert np.isnan(series_at(-1.0, clock, table)).all()
    assert np.isnan(series_at(length + 1.0, clock, table)).all()


def test_dates():
    from datetime import date, datetime

    noon = 2451545.0
    assert julian_date("2000-01-01T12:00") == julian_date(datetime(2000, 1, 1, 12)) == noon
    assert julian_date("2000-01-01") == julian_date(date(2000, 1, 1)) == noon - 0.5
    assert julian_date(noon) == noon
    erfa = pytest.importorskip("erfa")
    for y, m, d in ((1900, 3, 1), (1969, 6, 28), (2024, 2, 29), (2199, 12, 31)):
        assert julian_date(date(y, m, d)) == sum(erfa.cal2jd(y, m, d))
    for bad in ("soon", None, math.nan, [1, 2]):
        with pytest.raises(ph.InputError, match="start must be a date of TDB"):
            julian_date(bad)
    with pytest.raises(ph.InputError, match="no time zone"):
        julian_date("2000-01-01T00:00+00:00")
    with pytest.raises(ph.InputError, match="1899-12-04 to 2200-02-01"):
        ph.celestial.moon("1850-01-01")


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "de421", None)
    with pytest.raises(ph.InputError, match=r"'de421'.*pip install 'polhode\[celestial\]'"):
        ephemeris.opened.__wrapped__("de421")


def test_masses_are_those_of_the_literature():
    """IERS Conventions 2010, table 1.1, and Folkner 2009: km³/s²."""
    ours = de421()
    assert ours.gravity("earth") == pytest.approx(398600.436, rel=1e-8)
    assert ours.gravity("moon") == pytest.approx(4902.80007, rel=1e-7)
    assert ours.gravity("sun") == pytest.approx(132712440040.9, rel=1e-9)
    with pytest.raises(ph.InputError, match="no mass of 'vulcan'"):
        ours.gravity("vulcan")


def test_moments_agree_with_c22_and_the_literature():
    """J2 gives C, C22 is then DE421's own; C/MR² is 0.3929 ± 0.0009 in LP150Q's time."""
    ours = de421()
    a, b, c = libration.moments(ours)
    size = libration.mass_area(ours)
    assert (b - a) / (4.0 * size) == pytest.approx(ours.constants["C22M"], rel=1e-12)
    assert (c - a) / b == pytest.approx(ours.constants["LBET"], rel=1e-12)
    assert abs(c / size - 0.3932) < 3e-4


# ---- the torque
def legendre(n, m, z):
    """P_nm without (-1)ᵐ, by mpmath's own."""
    return (-1) ** m * mp.legenp(n, m, z)


def potential(n, c, s):
    """Rⁿ⁺¹/rⁿ⁺¹ Σ P_nm (C_nm cos mλ + S_nm sin mλ) at s, lengths in units of R, 40 digits."""
    x, y, z = s
    r = mp.sqrt(x * x + y * y + z * z)
    longitude = mp.atan2(y, x)
    rows = [(c[0], 0), *c[1:]]
    return sum(
        legendre(n, m, z / r) * (a * mp.cos(m * longitude) + b * mp.sin(m * longitude))
        for m, (a, b) in enumerate(rows[: n + 1])
    ) / r ** (n + 1)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("place", [(60.1, 3.2, -5.5), (-20.0, 40.0, 30.0), (3.0, -50.0, 14.0)])
def test_torques_of_a_degree_are_slopes_of_the_potential(n, place):
    """-s × ∇V by differences of 40-digit numbers."""
    ours = de421()
    if n == 2:
        c = (-ours.constants["J2M"], (0.0, 0.0), (ours.constants["C22M"], 0.0))
    else:
        c = libration.harmonics(ours, n)
    with mp.workdps(40):
        s = [mp.mpf(x) for x in place]
        slopes = []
        for k in range(3):
            step = [mp.mpf("1e-12") if k == i else 0 for i in range(3)]
            ahead = potential(n, c, [a + d for a, d in zip(s, step, strict=True)])
            behind = potential(n, c, [a - d for a, d in zip(s, step, strict=True)])
            slopes.append((ahead - behind) / mp.mpf("2e-12"))
        r = mp.sqrt(sum(x * x for x in s))
        expected = np.array(
            [float(s[(k + 1) % 3] * slopes[(k + 2) % 3] - s[(k + 2) % 3] * slopes[(k + 1) % 3])
             for k in range(3)]
        )  # fmt: skip
        expected *= float(r ** (n + 1))
        u = tuple(float(x / r) for x in s)
    if n == 2:
        differences = libration.differences(libration.moments(ours))
        found = -3.0 * np.array(libration.turned_by_moments(differences, u))
        found /= libration.mass_area(ours)
    else:
        found = np.array({3: libration.turned_by3, 4: libration.turned_by4}[n](c, u))
    assert np.abs(found - expected).max() < 1e-14 * max(map(abs, libration_sizes(c)))


def libration_sizes(c):
    """Numbers of the size of the terms: derivatives of Legendre polynomials reach some 100."""
    return [100.0 * x for row in c for x in (row if isinstance(row, tuple) else (row,))]


def test_the_whole_torque_is_the_sum_of_what_its_switches_say():
    """Against places by jplephem and plain NumPy, at a few attitudes and dates."""
    import de421 as package
    from jplephem.ephem import Ephemeris

    ours, other, begin = de421(), Ephemeris(package), julian_date(START)
    inertia = np.array(libration.moments(ours))
    size, radius = libration.mass_area(ours), ours.constants["AM"]
    problems = {
        switch: ph.celestial.moon(START, **{"degree": 2, "sun": False, switch: True})
        for switch in ("sun", "planets", "oblateness", "geodetic")
    }
    plain = ph.celestial.moon(START, degree=2, sun=False)
    full = ph.celestial.moon(START, sun=False)
    for day in (0.0, 1234.5, -9876.5):
        q = RNG.normal(size=4)
        q = tuple(q / np.linalg.norm(q))
        m = tuple(RNG.normal(size=3) * 2e29)
        turn = _matrix(q)

        def value(problem, day=day, q=q, m=m):
            model = problem.model
            return np.array(model.torque(day * DAY, q, m, problem.body.data, model.params))

        def place(name, day=day):
            return other.position(name, begin, day)[:, 0]

        def gradient(s, mu, turn=turn):
            r = np.linalg.norm(s)
            u = turn.T @ s / r
            return 3.0 * mu / r**3 * np.cross(u, inertia * u)

        moon = place("moon")
        base = gradient(-moon, ours.gravity("earth"))
        assert value(plain) == pytest.approx(base, rel=1e-9, abs=1e-11 * np.abs(base).max())
        here = place("earthmoon") + moon * ours.earth_share
        for switch, names in (("sun", ["sun"]), ("planets", ephemeris.PLANETS)):
            expected = sum(gradient(place(x) - here, ours.gravity(x)) for x in names)
            found = value(problems[switch]) - value(plain)
            assert found == pytest.approx(expected, abs=3e-11 * np.abs(base).max())
        r = np.linalg.norm(moon)
        u = -turn.T @ moon / r
        higher = sum(
            -ours.gravity("earth") / r**3 * size * (radius / r) ** (n - 2)
            * np.array(f(libration.harmonics(ours, n), tuple(u)))
            for n, f in ((3, libration.turned_by3), (4, libration.turned_by4))
        )  # fmt: skip
        assert value(full) - value(plain) == pytest.approx(higher, abs=1e-10 * np.abs(base).max())
        found = value(problems["geodetic"]) - value(plain)
        angle = np.radians(84381.406 / 3600.0)
        pole = np.array([0.0, -np.sin(angle), np.cos(angle)])
        rate = 1.919 / 100.0 * np.radians(1.0 / 3600.0) / YEAR
        spun = np.cross(turn.T @ (rate * pole), m)
        assert found == pytest.approx(spun, abs=1e-10 * np.abs(base).max())


def _matrix(q):
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(q, scalar_first=True).as_matrix()


def test_an_oblate_earth_is_many_points():
    """The torque of an oblate Earth against that of points: J2 is a ring less its mass in a point.

    Two points at ±a on the pole, each of -J2 μ R²/(2 a²), and twice that in the centre, have this
    J2 and, as a goes to 0, nothing else; differences of a and 2 a take out the next term.
    """
    ours = de421()
    problem = ph.celestial.moon(START, degree=2, sun=False, oblateness=True)
    plain = ph.celestial.moon(START, degree=2, sun=False)
    begun = (julian_date(START) - ephemeris.J2000) * DAY
    inertia = np.array(libration.moments(ours))
    q, t = problem.attitude, 100.0 * DAY
    q = tuple(np.array([0.9, -0.2, 0.3, 0.1]) / np.sqrt(0.95))
    turn = _matrix(q)
    clock, table = ours.series("moon", julian_date(START))
    s = -np.array(series_at(t, clock, table))
    pole = np.array([libration.PRECESSION * (begun + t), 0.0, 1.0])

    def gradient(s):
        with mp.workdps(40):
            v = [mp.mpf(float(x)) for x in turn.T @ s]
            r = mp.sqrt(sum(x * x for x in v))
            iv = [mp.mpf(i) * x for i, x in zip(inertia, v, strict=True)]
            return [3 * (v[k - 2] * iv[k - 1] - v[k - 1] * iv[k - 2]) / r**5 for k in range(3)]

    def pair(a):
        strength = -ours.constants["J2E"] * ours.constants["AE"] ** 2 * ours.gravity("earth")
        sides, middle = [gradient(s + a * pole), gradient(s - a * pole)], gradient(s)
        return (
            np.array(
                [
                    float((x + y - 2 * z) / (2 * a * a))
                    for x, y, z in zip(*sides, middle, strict=True)
                ]
            )
            * strength
        )

    expected = (4.0 * pair(1000.0) - pair(2000.0)) / 3.0
    found = [
        np.array(p.model.torque(t, q, (0.0, 0.0, 0.0), p.body.data, p.model.params))
        for p in (problem, plain)
    ]
    # the difference of two torques 1e6 times larger
    assert found[0] - found[1] == pytest.approx(expected, abs=2e-5 * np.abs(expected).max())


@pytest.mark.parametrize("switches", [{}, {"planets": True, "oblateness": True, "geodetic": True}])
def test_compiled_is_plain_python_with_an_exact_fma(switches):
    problem = ph.celestial.moon(START, **switches)
    torque = bind(libration.torque, ELEMENTARY)
    machine, plain, body = compiled(torque), exactly(torque), problem.body.data
    for t in (0.0, 1e6, -3.3e8):
        arguments = t, problem.attitude, problem.angular_momentum, body, problem.model.params
        assert bits_of(plain(*arguments)) == bits_of(machine(*arguments))


def test_switches_that_do_not_exist():
    with pytest.raises(ph.InputError, match="degree must be 2, 3 or 4, got 5"):
        ph.celestial.moon(START, degree=5)


# ---- the run, against DE421
def departure(years, start=START, **switches):
    problem = ph.celestial.moon(start, **switches)
    run = ph.solve(problem, (0, years * YEAR), method="extrapolation", rtol=1e-12)
    assert run.success
    return ph.celestial.moon_residuals(run, start)


def test_the_start_is_that_of_de421():
    problem = ph.celestial.moon(START)
    ours = de421()
    angles, _ = ours.librations(julian_date(START), [-200.0, 0.0, 200.0])
    before, now, after = libration.attitudes(angles)
    turn = (before.inv() * after).as_rotvec() / 400.0
    # ψ, of 4000 rad, is rounded to 5e-13; the difference errs by 7e-8 (2.7e-6 · 200)²/6
    assert problem.omega == pytest.approx(turn, abs=2e-14)
    assert np.abs(now.as_quat(scalar_first=True) - problem.attitude).max() < 1e-15


def test_thirty_days_and_one_year():
    """Sizes to expect for each model; a wrong sign anywhere is far outside of them."""
    assert rms(departure(30 / 365.25)) < 0.1
    assert rms(departure(1.0)) < 1.5
    assert rms(departure(1.0)) > 0.5  # the core is missing
    assert rms(departure(1.0, mantle=True)) < 0.3
    assert 30.0 < rms(departure(1.0, degree=2)) < 80.0
    assert rms(departure(1.0, degree=3)) < 2.0


def test_fifty_years():
    assert 6.0 < rms(departure(50.0, start="1970-01-01")) < 9.0
    assert rms(departure(50.0, start="1970-01-01", mantle=True)) < 1.3
    assert 6.0 < rms(departure(-50.0)) < 9.0


def test_another_integrator_finds_the_same_motion():
    from scipy.integrate import solve_ivp

    problem = ph.celestial.moon(START)
    run = ph.solve(problem, (0, 60 * DAY), method="extrapolation", rtol=1e-13)
    body, model = problem.body.data, problem.model

    def slope(t, y):
        q, m = y[:4], y[4:] * 1e29
        omega = m / body[0]
        w, v = q[0], q[1:]
        dq = 0.5 * np.array([-v @ omega, *(w * omega + np.cross(v, omega))])
        n = np.array(model.torque(t, tuple(q), tuple(m), body, model.params))
        return np.array([*dq, *((np.cross(m, omega) + n) / 1e29)])

    y0 = [*problem.attitude, *(np.array(problem.angular_momentum) / 1e29)]
    other = solve_ivp(slope, (0, 60 * DAY), y0, method="DOP853", rtol=1e-12, atol=1e-13)
    gap = np.abs(other.y[:4, -1] / np.linalg.norm(other.y[:4, -1]) - run.q[-1]).max()
    assert gap < 1e-10


def test_outside_of_the_ephemeris_a_run_stops():
    problem = ph.celestial.moon("2199-12-01")
    run = ph.solve(problem, (0, YEAR), method="extrapolation", rtol=1e-12)
    assert not run.success


# ---- tides and core
def test_tides_make_the_moon_longer_and_flatter():
    """Towards the Earth the moment is smaller, along the spin larger, and the trace is the same."""
    moon = ph.celestial.layered_moon(de421().constants["JDEPOC"])
    tide = (-1.0, (0.6, 0.0, 0.8), 0.0, (0.0, 0.0, 1.0), 0.0)
    spin = (0.0, (1.0, 0.0, 0.0), 1.0, (0.0, 0.6, 0.8), 0.0)
    mean = (0.0, (1.0, 0.0, 0.0), 1.0, (0.0, 0.0, 2.0), 2.0)
    axes = np.eye(3)

    def tensor(distortion):
        return np.array([layered.distorted(distortion, tuple(e)) for e in axes])

    u, w = np.array([0.6, 0.0, 0.8]), np.array([0.0, 0.6, 0.8])
    assert tensor(tide) == pytest.approx(-(np.outer(u, u) - axes / 3.0), abs=1e-15)
    assert tensor(spin) == pytest.approx(np.outer(w, w) - axes / 3.0, abs=1e-15)
    assert tensor(mean) == pytest.approx(0.0 * axes, abs=1e-15)
    omega, *_ = layered.motion(0.0, moon.attitude, moon.mantle, moon.core, moon.body, moon.params)
    assert np.array(omega) * moon.body[0] != pytest.approx(np.array(moon.mantle), rel=1e-9)


def test_friction_and_boundary_keep_the_whole_momentum():
    """Without the Earth, Sun and tides the momenta of mantle and core add up to a constant."""
    moon = ph.celestial.layered_moon(de421().constants["JDEPOC"])
    (rigid, layers), tables = moon.params
    quiet = (rigid[0], (0.0,) * len(rigid[1]), rigid[2], rigid[3], (0.0, *rigid[4][1:]), (0.0,) * 3)
    quiet = (*quiet[:3], (0.0, (0.0,) * 3, 0.0, *(libration.NO_HARMONICS,) * 2), *quiet[4:])
    still = ((0.0, 0.0, *layers[0][2:]), *layers[1:])
    m, mc, params = np.array(moon.mantle), np.array(moon.core), ((quiet, still), tables)
    _, moved, core = layered.motion(0.0, moon.attitude, moon.mantle, moon.core, moon.body, params)
    omega = m * moon.body[1]
    # seen from turning axes a constant vector turns back
    size = np.linalg.norm(np.cross(mc, omega))
    assert np.add(moved, core) == pytest.approx(np.cross(m + mc, omega), abs=1e-9 * size)
    assert np.linalg.norm(core - np.cross(mc, omega)) > 1e-4 * size


@pytest.mark.parametrize(("start", "years"), [("1969-06-28", 50.0), (START, 50.0), (START, -50.0)])
def test_with_tides_and_core_fifty_years_are_within_a_few_hundredths(start, years):
    run = ph.celestial.layered_moon(start, model="layered").solve((0, years * YEAR))
    assert run.success
    assert rms(ph.celestial.moon_residuals(run, start)) < 0.03


# ---- the command
def call(monkeypatch, capsys, tmp_path, *arguments):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["polhode", "moon", *arguments])
    with pytest.raises(SystemExit) as ended:
        entry.main()
    printed = capsys.readouterr()
    return ended.value.code or 0, printed.out, printed.err


def test_the_command_prints_and_writes(monkeypatch, capsys, tmp_path):
    code, out, _ = call(monkeypatch, capsys, tmp_path, "--years", "0.2", "--models", "rigid,mantle")
    assert code == 0
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line}
    assert float(rows["mantle"][4]) < float(rows["rigid"][4]) < 1000.0
    assert (tmp_path / "moon.csv").read_text().startswith("model,years,x_arcsec")
    assert (tmp_path / "moon.png").stat().st_size > 10_000


def test_the_command_takes_the_model_of_de421(monkeypatch, capsys, tmp_path):
    """Unless others are asked for; 'all' are all."""
    code, out, _ = call(monkeypatch, capsys, tmp_path, "--years", "0.2")
    assert code == 0
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line}
    assert float(rows["de421"][6]) < 0.01  # mas at ends
    written = (tmp_path / "moon.csv").read_text().splitlines()[1:]
    assert {line.split(",")[0] for line in written} == {"de421"}
    assert (tmp_path / "moon.png").stat().st_size > 10_000
    assert set(moon._variants("all")) == set(moon.VARIANTS)
    assert set(moon._variants(None)) == {"de421"}


def test_the_command_leaves_out_terms(monkeypatch, capsys, tmp_path):
    code, out, _ = call(monkeypatch, capsys, tmp_path, "--years", "0.2", "--terms")
    assert code == 0
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line}
    assert {"de421", "geodetic", *layers.TERMS} < set(rows)
    assert float(rows["de421"][6]) < 0.01 < float(rows["tides"][6])
    assert (tmp_path / "moon.csv").read_text().startswith("model,x_mas,y_mas,z_mas,total_mas")
    assert not (tmp_path / "moon.png").exists()


@pytest.mark.parametrize("years", [0.1, -0.1])
def test_samples_of_the_command_meet_the_ends_of_intervals(years):
    begin = julian_date("2000-01-03T05:00")
    times, ends = moon._times(begin, years, "de421")
    days = times / DAY
    assert days[0] == 0.0
    assert days[-1] == years * 365.25
    assert (np.diff(days) * years > 0.0).all()
    assert np.abs(np.diff(days)).max() <= 1.0 + 1e-9
    since = begin - de421().first + days
    assert ends.sum() in (4, 5)
    assert since[ends] / 8.0 == pytest.approx(np.round(since[ends] / 8.0), abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--terms", "--models", "rigid"], "leave out --models, or --terms"),
        (["--ephemeris", "de440"], "ephemeris must be one of de421, de422, de423"),
        (["--start", "1850-01-01"], "covers the Julian dates"),
        (["--start", "soon"], "date of TDB"),
        (["--years", "0"], "--years must be"),
        (["--models", "cheese"], "--models takes some of"),
        (["--rtol", "1"], "--rtol must be"),
    ],
)
def test_the_command_names_mistakes(monkeypatch, capsys, tmp_path, arguments, words):
    code, _, err = call(monkeypatch, capsys, tmp_path, *arguments)
    assert code == 2
    assert words in err
