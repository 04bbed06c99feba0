"""The real Earth: initial state and pole against IAU 2006/2000A, fits against synthetic data."""

import math
import sys

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode.cli import main as entry
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from support.bits import bits_of, exactly

pytest.importorskip("jplephem", reason="needs polhode[celestial]")
pytest.importorskip("de421", reason="needs polhode[celestial]")
pytest.importorskip("erfa", reason="needs polhode[celestial]")

import erfa

from polhode.celestial import field, nutation, precession
from polhode.celestial.ephemeris import DAY, J2000, PLANETS, de421, julian_date
from polhode.kernels.trig import ELEMENTARY

START = "1975-01-01"


def daily(days, start=START, rtol=1e-12, formulation=None, **switches):
    problem = ph.celestial.earth(start, **switches)
    times = np.arange(abs(days) + 1) * math.copysign(DAY, days)
    run = ph.solve(
        problem,
        (0.0, float(times[-1])),
        method="extrapolation",
        formulation=formulation,
        rtol=rtol,
        t_eval=times,
    )
    assert run.success
    return run


def rms(columns):
    return np.sqrt((columns**2).mean(axis=0))


@pytest.fixture(scope="module")
def year():
    return daily(365)


# ---- constants and start
def test_moments_are_those_of_the_literature():
    """C is 8.0365e37 kg m² and C/MR² 0.3307 (Chen & Shen 2010; IERS Conventions 2010)."""
    ours = de421()
    a, b, c = precession.moments(ours)
    assert (c - 0.5 * (a + b)) / c == pytest.approx(precession.ELLIPTICITY, rel=1e-12)
    assert (b - a) / c == pytest.approx(2.1961e-5, rel=1e-9)
    assert c == pytest.approx(8.0365e37, rel=1e-3)
    assert c / (field.mass(ours, "earth") * 6378136.6**2) == pytest.approx(0.3307, abs=2e-4)
    c22, s22 = 2.43938357e-6, -1.40027370e-6  # EGM2008, normalised
    size = (b - a) / (4.0 * field.mass(ours, "earth") * 6378136.6**2)
    assert size == pytest.approx(math.sqrt(5.0 / 12.0) * math.hypot(c22, s22), rel=1e-3)
    assert pytest.approx(0.5 * math.atan2(s22, c22), abs=1e-3) == precession.LONGITUDE


def test_the_start_is_that_of_iau():
    """The pole and the Earth rotation angle, and the derivative of the whole matrix."""
    problem = ph.celestial.earth(START, delta_t=45.5)
    begin = julian_date(START)

    def frame(t):
        utc = -45.5 / DAY + t / DAY
        matrix = erfa.c2t06a(begin, t / DAY, begin, utc, 0.0, 0.0).T
        angle = precession.LONGITUDE
        turn = [[math.cos(angle), -math.sin(angle), 0.0], [math.sin(angle), math.cos(angle), 0.0]]
        return matrix @ np.array([*turn, [0.0, 0.0, 1.0]])

    from scipy.spatial.transform import Rotation

    ours = Rotation.from_quat(problem.attitude, scalar_first=True).as_matrix()
    assert np.abs(ours - frame(0.0)).max() < 1e-14
    x, y, _ = erfa.xys06a(begin, 0.0)
    assert ours[:2, 2] == pytest.approx([x, y], abs=1e-15)
    h = 20.0
    change = frame(0.0).T @ (8 * (frame(h) - frame(-h)) - (frame(2 * h) - frame(-2 * h))) / (12 * h)
    # dates of 2.4e6 days are exact here, times to 1e-11 days; n is known to 1e-12
    assert problem.omega == pytest.approx([change[2, 1], change[0, 2], change[1, 0]], abs=3e-15)


def test_mistakes_are_named(year):
    with pytest.raises(ph.InputError, match="1899-12-04 to 2200-02-01"):
        ph.celestial.earth("1850-01-01")
    with pytest.raises(ph.InputError, match=r"UTC begins in 1960.*give delta_t"):
        ph.celestial.earth("1950-01-01")
    with pytest.raises(ph.InputError, match="delta_t must be a number of seconds"):
        ph.celestial.earth(START, delta_t=math.nan)
    assert ph.celestial.earth("1950-01-01", delta_t=29.1).omega[2] > 7.29e-5
    with pytest.raises(ph.InputError, match=r"at most 2 days apart.*t_eval once a day"):
        ph.celestial.earth_residuals(year[::5], START)
    with pytest.raises(ph.InputError, match="8 rows or more"):
        ph.celestial.earth_residuals(year[:5], START)
    with pytest.raises(ph.InputError, match="18 years or more"):
        ph.celestial.earth_nutations(year, START)


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "erfa", None)
    with pytest.raises(ph.InputError, match=r"'pyerfa': pip install 'polhode\[celestial\]'"):
        precession.erfa()


# ---- the torque
def test_torque_is_the_derivative_of_the_potential():
    """V = Σ μ (3 u·I u - tr I)/(2 r³), places by jplephem, differences with 40 digits."""
    import de421 as package
    from jplephem.ephem import Ephemeris

    problem, other, t = ph.celestial.earth(START, planets=True), Ephemeris(package), 77.3 * DAY
    names = ("moon", "sun", *PLANETS)
    begin, ours = julian_date(START), de421()
    place = {n: other.position(n, begin, t / DAY)[:, 0] for n in (*names, "earthmoon")}
    earth = place["earthmoon"] - place["moon"] / (1.0 + ours.constants["EMRAT"])
    q = np.array([0.9, -0.2, 0.3, 0.1]) / np.sqrt(0.95)
    from scipy.spatial.transform import Rotation

    back = Rotation.from_quat(q, scalar_first=True).as_matrix().T
    inertia = precession.moments(ours)

    def potential(angle, axis):
        total = mp.mpf(0)
        for name in names:
            s = back @ (place[name] - (0.0 if name == "moon" else earth))
            v = [mp.mpf(float(x)) for x in s]
            j, k = (axis + 1) % 3, (axis + 2) % 3  # the body turns by +angle, the mass by -angle
            c, d = mp.cos(angle), mp.sin(angle)
            v[j], v[k] = c * v[j] + d * v[k], c * v[k] - d * v[j]
            r = mp.sqrt(sum(x * x for x in v))
            twice = sum(mp.mpf(i) * x * x for i, x in zip(inertia, v, strict=True)) / r**2
            total += ours.gravity(name) * (3 * twice - sum(map(mp.mpf, inertia))) / (2 * r**3)
        return total

    with mp.workdps(40):
        h = mp.mpf(10) ** -12
        expected = [float(-(potential(h, k) - potential(-h, k)) / (2 * h)) for k in range(3)]
    found = problem.model.torque(
        t, tuple(q), problem.angular_momentum, problem.body.data, problem.model.params
    )
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("switches", [{}, {"planets": True, "geodetic": True}, {"sun": False}])
def test_compiled_is_plain_python_with_an_exact_fma(switches):
    problem = ph.celestial.earth(START, **switches)
    torque = bind(precession.torque, ELEMENTARY)
    machine, plain, body = compiled(torque), exactly(torque), problem.body.data
    for t in (0.0, 1e6, -3.3e8):
        arguments = t, problem.attitude, problem.angular_momentum, body, problem.model.params
        assert bits_of(plain(*arguments)) == bits_of(machine(*arguments))


# ---- the run
def test_one_year_against_iau(year):
    """A rigid Earth lacks the core's resonance, about 10 mas; a wrong torque means arcseconds."""
    gaps = ph.celestial.earth_residuals(year, START)
    assert np.all((rms(gaps) > 6.0) & (rms(gaps) < 20.0))
    raw = ph.celestial.earth_residuals(year, START, detrend=False)
    assert np.abs(raw[0]).max() < 1.0  # starts there
    assert rms(precession.detrended(year.t, raw)) == pytest.approx(rms(gaps), rel=1e-12)


def test_the_free_wobble_is_small_and_is_taken_out():
    """The axis of figure circles the slow pole once a day; averages over whole days do not."""
    problem = ph.celestial.earth(START)
    turn = DAY / 1.00273781191135448
    times = 60.0 * DAY + np.arange(-8 * 16, 8 * 16 + 1) * turn / 16
    run = ph.solve(
        problem,
        (0.0, 80.0 * DAY),
        method="extrapolation",
        rtol=1e-12,
        t_eval=np.concatenate([[0.0], times]),
    )[1:]
    axis, slow = run.to_inertial([0.0, 0.0, 1.0]), precession.figure_poles(run)
    apart = (axis - slow)[:, :2] / precession.MAS
    assert np.abs(apart).max() < 0.5
    middle = apart[48:-48]
    means = np.array([middle[k : k + 16].mean(axis=0) for k in range(len(middle) - 16)])
    assert np.abs(means).max() < 0.02
    momentum = run.angular_momentum_inertial
    momentum = momentum / np.linalg.norm(momentum, axis=1)[:, None]
    assert np.abs((momentum - slow)[:, :2]).max() / precession.MAS > 5.0  # not the same axis


@pytest.mark.slow
def test_other_variables_and_tolerances_find_the_same_pole(year):
    for settings in ({}, {"formulation": "encke-quaternion"}):
        other = daily(365, rtol=1e-14, **settings)
        gap = precession.figure_poles(other) - precession.figure_poles(year)
        assert np.abs(gap).max() < 1e-4 * precession.MAS


def test_rows_of_any_density_give_the_same_pole(year):
    """Steps of an adaptive run, some 16 hours each, and rows of every two days."""
    problem = ph.celestial.earth(START)
    steps = ph.solve(problem, (0.0, 100.0 * DAY), method="extrapolation", rtol=1e-12)
    from scipy.interpolate import CubicSpline

    gap = precession.figure_poles(steps) - CubicSpline(year.t, precession.figure_poles(year))(
        steps.t
    )
    assert np.abs(gap[10:-10]).max() < 0.06 * precession.MAS  # as the spline between days
    sparse = precession.figure_poles(year[::2]) - precession.figure_poles(year)[::2]
    assert np.abs(sparse[10:-10]).max() < 0.05 * precession.MAS


def test_the_pole_does_not_feel_a_minute_of_delta_t():
    early, late = (precession.figure_poles(daily(100, delta_t=d)) for d in (0.0, 60.0))
    assert np.abs(early - late).max() < 1e-3 * precession.MAS


def test_back_in_time():
    gaps = ph.celestial.earth_residuals(daily(-200), START)
    assert np.all(rms(gaps) < 20.0)


def test_geodetic_precession_turns_the_pole_in_x():
    """19.2 mas a year about the ecliptic's pole, times sin ε: -7.6 mas a year."""
    with_it, without = daily(365, geodetic=True), daily(365)
    gap = (precession.figure_poles(with_it) - precession.figure_poles(without))[-1, :2]
    years = 365 / 365.25
    expected = -19.19 * math.sin(field.OBLIQUITY) * years
    assert gap[0] / precession.MAS == pytest.approx(expected, rel=0.01)
    assert abs(gap[1]) / precession.MAS < 0.1


# ---- fits
def synthetic(resonance, start=START, years=50):
    """Return two poles: the amplitudes of the rigid one, and these times the resonance ratio."""
    t = np.arange(int(years * 365.25)) * DAY
    centuries = (julian_date(start) - J2000 + t / DAY) / 36525.0
    args = nutation.arguments(list(nutation.MAIN.values()), centuries)
    rates = nutation.frequencies(list(nutation.MAIN.values()))
    sizes = np.array([[8050, 1176], [-87, -4], [25, -17], [22, 531], [3.4, 91.5]]) * 1j
    poles = []
    for ratio in (lambda period: 1.0, resonance.ratio):
        z = (0.3 + 2004e3 * centuries - 0.4e3 * centuries**2) + 0j
        for k, (back, forth) in enumerate(sizes):
            z += back * ratio(-1 / rates[k]) * np.exp(-1j * args[:, k])
            z += forth * ratio(1 / rates[k]) * np.exp(1j * args[:, k])
        poles.append(np.stack([z.real, z.imag], axis=1) * precession.MAS)
    return t, *poles


@pytest.mark.parametrize("period", [-405.0, -430.3, -470.0])
def test_fits_return_what_was_put_in(period):
    resonance = nutation.Resonance(period, -0.24, 0.049)
    t, rigid, iau = synthetic(resonance)
    terms = nutation.nutations(START, t, rigid, iau)
    by_name = {term.name: term for term in terms}
    assert by_name["-18.6 yr"].period == pytest.approx(-6798.38, abs=0.01)
    assert by_name["+13.66 d"].period == pytest.approx(13.6608, abs=1e-4)
    assert by_name["-18.6 yr"].rigid == pytest.approx(8050j, abs=1e-3)
    for term in terms:
        assert term.ratio == pytest.approx(resonance.ratio(term.period), abs=1e-5)
    found = ph.celestial.core_resonance(terms)
    assert found == pytest.approx(resonance, rel=1e-4)


def test_frequencies_are_those_of_the_arguments():
    multiples = [*nutation.MAIN.values(), *nutation.OTHERS]
    day = np.array([-0.5, 0.5]) / 36525.0
    early, late = np.exp(1j * nutation.arguments(multiples, day))
    found = np.angle(late / early) / (2.0 * np.pi)
    assert nutation.frequencies(multiples) == pytest.approx(found, abs=1e-8)
    assert np.all(found > 0)


def test_detrended():
    t = np.linspace(0.0, 1e9, 50)
    wave = np.stack([np.cos(7 * t / 1e8), np.sin(9 * t / 1e8)], axis=1)
    line = np.stack([3.0 + 2e-9 * t, 5.0 - 1e-8 * t], axis=1)
    once = precession.detrended(t, wave)
    assert precession.detrended(t, wave + line) == pytest.approx(once, abs=1e-12)
    assert precession.detrended(t, once) == pytest.approx(once, abs=1e-12)


@pytest.mark.slow
def test_fifty_years():
    """Errors of a rigid Earth, ratios and the free core nutation (Mathews et al. 2002: 430 d)."""
    run = daily(18262)
    x, y = rms(ph.celestial.earth_residuals(run, START))
    assert 20.0 < x < 28.0
    assert 20.0 < y < 28.0
    terms = ph.celestial.earth_nutations(run, START)
    ratios = {term.name: term.ratio.real for term in terms}
    assert ratios["-18.6 yr"] == pytest.approx(0.9967, abs=0.0005)
    assert ratios["+1/2 yr"] == pytest.approx(1.033, abs=0.001)
    assert -435.0 < ph.celestial.core_resonance(terms).period < -425.0


# ---- the command
def call(monkeypatch, capsys, tmp_path, *arguments):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["polhode", "earth", *arguments])
    with pytest.raises(SystemExit) as ended:
        entry.main()
    printed = capsys.readouterr()
    return ended.value.code or 0, printed.out, printed.err


def test_the_command_prints_and_writes(monkeypatch, capsys, tmp_path):
    code, out, _ = call(monkeypatch, capsys, tmp_path, "--years", "0.5")
    assert code == 0
    assert "mas in X" in out
    assert "nutations need a run of 18 years" in out
    rows = (tmp_path / "earth.csv").read_text().splitlines()
    assert rows[0] == "years,x_mas,y_mas"
    assert len(rows) == 1 + 183
    assert (tmp_path / "earth.png").stat().st_size > 10_000


def test_the_command_starts_before_utc(monkeypatch, capsys, tmp_path):
    code, out, _ = call(
        monkeypatch, capsys, tmp_path, "--start", "1950-01-01", "--years", "0.1", "--no-plot"
    )
    assert code == 0
    assert "mas in X" in out


@pytest.mark.slow
def test_the_command_prints_nutations(monkeypatch, capsys, tmp_path):
    code, out, _ = call(monkeypatch, capsys, tmp_path)
    assert code == 0
    rows = {tuple(line.split()[:2]): line.split() for line in out.splitlines() if line}
    assert float(rows["-18.6", "yr"][5]) == pytest.approx(0.9967, abs=0.0005)
    days = next(line for line in out.splitlines() if "free core nutation" in line)
    assert 425.0 < float(days.split()[3]) < 435.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--start", "1850-01-01"], "covers the Julian dates"),
        (["--start", "soon"], "date of TDB"),
        (["--years", "0"], "--years must be"),
        (["--rtol", "1"], "--rtol must be"),
    ],
)
def test_the_command_names_mistakes(monkeypatch, capsys, tmp_path, arguments, words):
    code, _, err = call(monkeypatch, capsys, tmp_path, *arguments)
    assert code == 2
    assert words in err
