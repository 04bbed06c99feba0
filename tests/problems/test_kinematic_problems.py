"""Given angular velocities of the catalogue, and the error norm of Boyle 2017, (25)."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.problems import CATALOGUE, RATES, GivenRate
from polhode.references import bibliography


def integrated(problem, end=None, **options):
    span = problem.span if end is None else (problem.span[0], end)
    return ph.integrate_angular_velocity(
        problem.omega,
        span,
        frame=problem.frame,
        attitude=problem.attitude,
        scalar_first=True,
        **options,
    )


# ---- the catalogue
def test_names():
    assert list(RATES) == [
        "precessing-binary",
        "zupan-saje-regular",
        "zupan-saje-vibrational",
        "zupan-saje-strongly-vibrational",
        "zupan-saje-unbounded",
    ]
    assert not set(RATES) & set(CATALOGUE)
    for name, make in RATES.items():
        problem = make()
        assert isinstance(problem, GivenRate)
        assert problem.name == name
        assert getattr(ph.problems, name.replace("-", "_")) is make
        assert "Boyle 2017" in make.__doc__
        assert set(problem.references) <= set(bibliography())


@pytest.mark.parametrize("name", RATES)
def test_exact_at_one_time_and_at_many(name):
    problem = RATES[name]()
    times = np.linspace(*problem.span, 7)
    rows = problem.exact(times)
    assert rows.shape == (7, 4)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, rtol=0, atol=1e-15)
    assert problem.exact(times[3]).tolist() == rows[3].tolist()
    assert rows[0].tolist() == list(problem.attitude)


@pytest.mark.parametrize("name", RATES)
def test_rates_lead_to_the_attitudes(name):
    """SciPy's DOP853 on q' = ω q/2, which knows nothing of the library."""
    problem = RATES[name]()
    end = 3000.0 if name == "precessing-binary" else problem.span[1] / 10

    def slope(t, q):
        w, (x, y, z) = q[0], q[1:]
        a, b, c = problem.omega(t)
        return 0.5 * np.array(
            [
                -a * x - b * y - c * z,
                a * w + b * z - c * y,
                b * w + c * x - a * z,
                c * w + a * y - b * x,
            ]
        )

    found = solve_ivp(slope, (0, end), problem.attitude, "DOP853", rtol=1e-12, atol=1e-13)
    assert np.abs(found.y[:, -1] - problem.exact(end)).max() < 1e-10


# ---- the error norm
def run_of(attitudes):
    times = np.arange(float(len(attitudes)))
    return ph.Trajectory(times, np.array(attitudes), None, None, potential=None, method="made")


def test_frame_error_is_the_distance_of_the_frames():
    rng = np.random.default_rng(1)
    p, q = rng.normal(size=(2, 20, 4))
    p /= np.linalg.norm(p, axis=1, keepdims=True)
    run = run_of(p)
    a, b = (Rotation.from_quat(x, scalar_first=True).as_matrix() for x in (p, q))
    columns = np.sqrt(((a - b) ** 2).sum(axis=(1, 2)))  # Σ over axes of |e_i - a_i|²
    assert np.allclose(run.frame_error(q), columns, rtol=1e-14, atol=1e-14)
    assert np.allclose(run.frame_error(-3 * q), columns, rtol=1e-14, atol=1e-14)
    assert np.allclose(run.frame_error(lambda t: q[int(t)]), columns, rtol=1e-14, atol=1e-14)
    assert run.frame_error(-p).max() == 0.0
    assert run.frame_error(run).max() == 0.0


def test_small_frame_errors_have_all_their_digits():
    angle = 1e-12
    p = Rotation.from_rotvec([0.3, -0.2, 0.9]).as_quat(scalar_first=True)
    q = (Rotation.from_rotvec([angle, 0, 0]) * Rotation.from_rotvec([0.3, -0.2, 0.9])).as_quat(
        scalar_first=True
    )
    error = run_of([p]).frame_error([q])[0]
    assert error == pytest.approx(np.sqrt(2) * angle, rel=1e-3)  # q itself is rounded to 1e-16


@pytest.mark.usefixtures("plain")
def test_frame_error_against_another_run():
    binary = ph.problems.precessing_binary()
    rough = integrated(binary, 3000.0, method="dop853", atol=1e-6)
    fine = integrated(binary, 3000.0, method="dop853", atol=1e-13)
    found, right = rough.frame_error(fine), rough.frame_error(binary.exact)
    assert len(fine) != len(rough)
    assert np.abs(found - right).max() < 1e-10
    assert right.max() > 1e-8


def test_frame_error_refuses_what_does_not_fit():
    run = run_of([[1.0, 0, 0, 0], [1.0, 0, 0, 0]])
    for wrong in ([[1.0, 0, 0, 0]], [[1.0, 0, 0]] * 2, [[0.0] * 4] * 2, [[np.nan, 0, 0, 1]] * 2):
        with pytest.raises(ph.InputError, match=r"exact must give four finite numbers.*2 times"):
            run.frame_error(wrong)


# ---- accuracy
def test_a_thousand_orbits():
    """T = 1e6 by Dormand-Prince with the rotor."""
    binary = ph.problems.precessing_binary()
    run = integrated(binary, method="dop853", atol=1e-10)
    assert run.t[-1] == 1e6
    assert run.nfev <= 200_000
    assert run.frame_error(binary.exact).max() <= 1e-7
    tight = integrated(binary, method="dop853", atol=1e-14)
    assert tight.frame_error(binary.exact).max() <= 2e-10


@pytest.mark.usefixtures("plain")
def test_a_thousand_orbits_in_large_steps():
    binary = ph.problems.precessing_binary()
    run = integrated(binary, method="bulirsch-stoer", atol=1e-12)
    assert run.nsteps <= 3000
    assert run.frame_error(binary.exact).max() <= 1e-9


@pytest.mark.parametrize("name", [name for name in RATES if name != "precessing-binary"])
@pytest.mark.usefixtures("plain")
def test_stand_ins(name):
    problem = RATES[name]()
    run = integrated(problem, rtol=1e-11)
    assert run.frame_error(problem.exact).max() < 1e-10
