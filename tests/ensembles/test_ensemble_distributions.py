"""Distributions, sweeps and samples: the variation from member to member."""

import numpy as np
import pytest
import xarray
from scipy import stats
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.ensembles.distributions import (
    Around,
    Attitudes,
    Boxes,
    Normal,
    OnSphere,
    Sweep,
    Uniform,
    draw_members,
)
from support.ensembles import DT, HEAVY, RATES, SPAN, SPINS, START


def drawn_of(distribution, shape, name="omega", count=20_000):
    return draw_members(distribution, 5, name, 0, count, shape)


def test_normal_and_uniform_distributions():
    covariance = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.2], [0.0, -0.2, 0.5]])
    for sigma, wanted in (
        (0.5, 0.25 * np.eye(3)),
        ([1.0, 2.0, 0.0], np.diag([1.0, 4.0, 0.0])),
        (covariance, covariance),
    ):
        x = drawn_of(Normal([1.0, 2.0, 3.0], sigma), (3,))
        scale = np.sqrt(np.abs(wanted).max() / len(x))
        assert np.abs(x.mean(axis=0) - [1, 2, 3]).max() < 5 * scale
        assert np.abs(np.cov(x.T) - wanted).max() < 8 * np.abs(wanted).max() / np.sqrt(len(x))
    x = drawn_of(Uniform(-1.0, [1.0, 2.0, 3.0]), (3,))
    for k in range(3):
        assert stats.kstest(x[:, k], stats.uniform(-1, k + 2).cdf).pvalue > 1e-3
    assert drawn_of(Normal(2.0, 1.0), ()).shape == (20_000,)


def test_directions_and_attitudes_are_uniform():
    x = drawn_of(OnSphere(Uniform(1.0, 2.0)), (3,))
    length = np.linalg.norm(x, axis=1)
    assert stats.kstest(length, stats.uniform(1, 1).cdf).pvalue > 1e-3
    for axis in (0, 1, 2):  # Archimedes: heights on a sphere are uniform
        assert stats.kstest(x[:, axis] / length, stats.uniform(-1, 2).cdf).pvalue > 1e-3
    q = drawn_of(Attitudes(), (4,), "attitude")
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=1e-15)
    turns = Rotation.from_quat(q, scalar_first=True)
    for fixed in (Rotation.identity(), Rotation.from_rotvec([1.0, -2.0, 0.5])):
        angle = (fixed * turns).magnitude()  # density (1 - cos θ)/π, from any attitude
        assert stats.kstest(angle, lambda t: (t - np.sin(t)) / np.pi).pvalue > 1e-3


def test_attitudes_around_that_of_the_problem():
    sigma = [0.1, 0.2, 0.3]
    vary = {"attitude": Around(sigma)}
    result = ph.solve_ensemble(
        HEAVY,
        (0.0, 0.0),
        members=5000,
        vary=vary,
        seed=3,
        method="mr2",
        dt=1,
    )
    turns = Rotation.from_quat(result.q[0], scalar_first=True)
    away = (START["attitude"].inv() * turns).as_rotvec()
    assert np.abs(away.mean(axis=0)).max() < 5 * 0.3 / np.sqrt(5000)
    np.testing.assert_allclose(away.std(axis=0), sigma, rtol=0.05)


def test_boxes_are_bodies():
    a, b, c = drawn_of(Boxes(1.0, [2.0, 2.0, 3.0], mass=6.0), (3,), "inertia", 2000).T
    edges = np.sqrt(np.array([b + c - a, c + a - b, a + b - c]))  # m/12 (y² + z²), … with m = 6
    assert edges.min() >= 1.0 - 1e-12
    assert (edges.max(axis=1) <= [2.0, 2.0, 3.0]).all()


def test_sweeps_make_a_grid_the_first_the_slowest():
    rates = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]])
    vary = {"model.strength": Sweep([1.0, 2.0, 3.0]), "omega": Sweep(rates)}
    result = ph.solve_ensemble(HEAVY, SPAN, vary=vary, method="mr2", dt=DT)
    assert len(result) == 6
    assert result.varied("model.strength").tolist() == [1, 1, 2, 2, 3, 3]
    assert result.varied("omega")[:, 2].tolist() == [1, 2] * 3
    vary["attitude"] = Around(0.1)
    assert len(ph.solve_ensemble(HEAVY, SPAN, vary=vary, seed=1, method="mr2", dt=DT)) == 6


def test_samples_from_xarray_and_back(many):
    data = xarray.Dataset(
        {
            "omega": (("component", "member"), RATES.T),
            "model.strength": ("member", [20.0, 0.0, 7.5]),
        }
    )
    asked = {"method": "mr2", "dt": DT}
    result = ph.solve_ensemble(HEAVY, SPAN, samples=data, **asked)
    np.testing.assert_array_equal(result.q, ph.solve_ensemble(HEAVY, SPAN, vary=SPINS, **asked).q)
    turns = Rotation.random(3, random_state=np.random.default_rng(1))
    by = [turns, turns.as_matrix(), list(turns)]
    found = [
        ph.solve_ensemble(HEAVY, SPAN, vary={"attitude": one}, save=[0.0], **asked).q for one in by
    ]
    np.testing.assert_array_equal(found[0][0], turns.as_quat(scalar_first=True))
    np.testing.assert_array_equal(found[2], found[0])
    np.testing.assert_allclose(np.abs((found[1] * found[0]).sum(axis=2)), 1.0, rtol=1e-14)


def test_a_member_can_be_studied_alone(many):
    problem = many.problem(7)
    np.testing.assert_array_equal(problem.omega, many.varied("omega")[7])
    np.testing.assert_array_equal(np.diag(problem.body.inertia), many.varied("inertia")[7])
    assert problem.model.parameters["strength"] == many.varied("model.strength")[7]
    assert problem.name == "heavy 7"
    with pytest.raises(ph.InputError, match="there is no member 9999"):
        many.problem(9999)
    with pytest.raises(ph.InputError, match="'mass' was not varied; varied quantities: omega"):
        many.varied("mass")


# ---- arguments that are refused
NAN = [[0.0, 0.0, np.nan]]
VARY_ERRORS = {
    "omga": ({"vary": {"omga": RATES}}, "did you mean 'omega'"),
    "parameter": ({"vary": {"model.strengh": [1.0]}}, "did you mean 'model.strength'"),
    "place": ({"vary": {"position": RATES}}, "there is nothing of this name to vary"),
    "shape": ({"vary": {"omega": [1.0, 2.0]}}, r"of shape \(members, 3\), got shape \(2,\)"),
    "number": ({"vary": {"mass": 2.0}}, r"of shape \(members,\), got 2.0"),
    "text": ({"vary": {"mass": "heavy"}}, "must be of shape"),
    "finite": ({"vary": {"omega": NAN}}, r"must be finite, but \[0, 2\] is not"),
    "both": ({"vary": {"omega": RATES, "angular_momentum": RATES}}, "not both"),
    "counts": ({"vary": {"omega": RATES, "mass": [1.0, 2.0]}}, r"vary\['omega'\] has 3, .* has 2"),
    "members": ({"members": 4, "vary": {"omega": RATES}}, "members has 4"),
    "grid": ({"members": 4, "vary": {"mass": Sweep([1.0, 2.0])}}, "grid of sweeps has 2"),
    "none": ({"vary": {"omega": Normal(0, 1)}}, "the number of members is missing: give members="),
    "no members": ({"members": 0}, "members must be a whole number, 1 or more, got 0"),
    "moments": ({"vary": {"inertia": [[1, 2, 3], [1, 1, 3]]}}, "member 1: no body has the moments"),
    "tensor": ({"vary": {"inertia": [np.diag([1, 1, 3])]}}, "member 0: no body has the moments"),
    "mass": ({"vary": {"mass": [1.0, -1.0]}}, "member 1: mass must be positive"),
    "words": ({"vary": {"attitude": "upright"}}, "must be a SciPy Rotation of all members"),
    "mirror": ({"vary": {"attitude": [np.eye(3), -np.eye(3)]}}, "member 1 must be a proper"),
    "quaternions": ({"vary": {"attitude": np.ones((2, 4))}}, r"SciPy Rotation.*got shape \(2, 4\)"),
    "drawn": ({"members": 2, "vary": {"omega": Attitudes()}}, r"vary\['omega'\]: Attitudes draws"),
    "sigma": ({"members": 2, "vary": {"omega": Normal(0, -1)}}, "sigma must not be negative"),
    "covariance": (
        {"members": 2, "vary": {"omega": Normal(0, [[1, 2, 0], [0, 1, 0], [0, 0, 1]])}},
        "symmetric covariance",
    ),
    "low": ({"members": 2, "vary": {"mass": Uniform(2, 1)}}, "low must not be above high"),
    "length": ({"members": 2, "vary": {"omega": Normal([1, 2], 1)}}, "mean must be a finite"),
    "mapping": ({"vary": RATES}, "vary must map names"),
    "dimension": (
        {"vary": {"omega": xarray.DataArray(RATES, dims=("run", "component"))}},
        "must have the dimension 'member'",
    ),
    "seed": ({"members": 2, "seed": 1.5}, "seed must be a whole number"),
    "samples": ({"samples": {"omega": NAN}}, r"samples\['omega'\] must be finite, but \[0, 2\] is"),
    "twice": ({"samples": {"omega": RATES}, "vary": {"omega": RATES}}, "in samples= and in vary="),
    "complex": ({"vary": {"mass": [1j]}}, r"of shape \(members,\), got \[1j\]"),
    "direction": ({"members": 2, "vary": {"omega": OnSphere([1, 2])}}, "must be a finite number"),
    "edges": ({"members": 2, "vary": {"inertia": Boxes(-1, 1)}}, "edges of Boxes must not be neg"),
    "too many": ({"members": 10**13, "save": None}, "make several ensembles of them"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "text"), VARY_ERRORS.values(), ids=VARY_ERRORS)
def test_bad_members_are_refused(given, text):
    with pytest.raises(ph.InputError, match=text):
        ph.solve_ensemble(HEAVY, SPAN, **given, method="mr2", dt=DT)
