"""Files written by an earlier version: checkpoints resume, results load, to the same bits.

``version_0_1.zip`` holds runs and ensembles cut short, and finished results, as version 0.1.0 wrote
them before its modules were moved into rooms.
"""

import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.solvers import plain_data

FILES = Path(__file__).with_name("version_0_1.zip")
TOP, SPRING = ph.problems.fast_top(), ph.problems.off_centre_spring()
BOTH = ph.Problem(
    ph.RigidBody([1.0, 2.0, 2.5]),
    ph.models.heavy_top(1.5) + ph.models.gravity_gradient(0.1, 1.0),
    omega=[0.3, -0.7, 1.1],
)
RUNS = {
    "map.cut": (TOP, 1.0, {"method": "mr2", "dt": 0.001, "save_every": 7}),
    "adaptive.cut": (BOTH, 5.0, {"method": "dop853", "rtol": 1e-10}),
    "adaptive.finished": (BOTH, 5.0, {"method": "dop853", "rtol": 1e-10}),
    "adams.cut": (TOP, 0.5, {"method": "adams", "dt": 0.001}),
    "spring.cut": (SPRING, 1.0, {"method": "imidm", "dt": 0.002}),
}
OTHER_BITS = {"adaptive.cut": 1e-9, "adaptive.finished": 1e-9, "spring.cut": 1e-12}
MANY = {
    "members": 203,
    "vary": {"omega": ph.distributions.Normal([0.3, -0.7, 1.1], 0.2)},
    "seed": 7,
    "save": [5.0, 10.0],
    "chunk": 80,
    "method": "mr2",
    "dt": 0.01,
    "reduce": ["mean(omega)", "quantiles(speed, 0.1, 0.9)"],
    "reduce_times": 5,
}
MODEL_FUNCTIONS = [  # as checkpoints of version 0.1.0 name them
    "polhode.celestial.layered:torque",
    "polhode.celestial.libration:torque",
    "polhode.celestial.model_orbits:potential",
    "polhode.celestial.model_orbits:torque",
    "polhode.celestial.precession:torque",
    "polhode.contracts:potential",
    "polhode.contracts:potential_at",
    "polhode.contracts:torque",
    "polhode.contracts:wrench",
    "polhode.models.drag:torque",
    "polhode.models.drag:wrench",
    "polhode.models.gravity_gradient:ellipse_potential",
    "polhode.models.gravity_gradient:ellipse_torque",
    "polhode.models.gravity_gradient:orbit_potential",
    "polhode.models.gravity_gradient:orbit_torque",
    "polhode.models.gravity_gradient:potential",
    "polhode.models.gravity_gradient:torque",
    "polhode.models.heavy_top:any_potential",
    "polhode.models.heavy_top:any_torque",
    "polhode.models.heavy_top:potential",
    "polhode.models.heavy_top:torque",
    "polhode.models.lorentz:potential_at",
    "polhode.models.lorentz:wrench",
    "polhode.models.point_gravity:potential_at",
    "polhode.models.point_gravity:wrench",
    "polhode.models.soft_wall:potential",
    "polhode.models.soft_wall:torque",
    "polhode.models.spring:any_potential_at",
    "polhode.models.spring:any_wrench",
    "polhode.models.spring:potential_at",
    "polhode.models.spring:wrench",
    "polhode.models.uniform_gravity:potential_at",
    "polhode.models.uniform_gravity:wrench",
]


# the files were made on one machine, and the tests run on any
ELSEWHERE = pytest.mark.filterwarnings("ignore:.*was made elsewhere")


@pytest.fixture
def place(tmp_path):
    with zipfile.ZipFile(FILES) as files:
        files.extractall(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def many():
    return ph.solve_ensemble(BOTH, (0, 10), **MANY)


def same(a, b):
    np.testing.assert_array_equal(a.t, b.t)
    np.testing.assert_array_equal(a.q, b.q)
    np.testing.assert_array_equal(a.omega, b.omega)


def same_reductions(a, b):
    assert list(a.reductions) == list(b.reductions)
    for name, values in b.reductions.items():
        np.testing.assert_array_equal(a.reductions[name], values)


@ELSEWHERE
@pytest.mark.parametrize("name", RUNS)
def test_checkpoints_of_runs_resume(place, name):
    """To the same bits, unless the method has others since then."""
    problem, end, arguments = RUNS[name]
    found, right = ph.resume(place / f"{name}.ckpt"), ph.solve(problem, (0, end), **arguments)
    if name not in OTHER_BITS:
        same(found, right)
    assert found.success
    assert found.t[-1] == right.t[-1]
    assert np.abs(found.q[-1] - right.q[-1]).max() < OTHER_BITS.get(name, 1e-300)


def test_checkpoints_of_another_version_say_so(place):
    with pytest.warns(ph.PolhodeWarning, match=r"made elsewhere \(polhode 0\.1\.0, here"):
        ph.resume(place / "map.cut.ckpt")


@ELSEWHERE
@pytest.mark.parametrize("name", ["memory", "stored"])
def test_checkpoints_of_ensembles_resume_to_the_same_bits(place, name, many):
    result = ph.resume(place / f"{name}.ckpt")
    same(result, many)
    same_reductions(result, many)


@pytest.mark.parametrize("name", ["whole.zarr", "whole.nc"])
def test_results_of_ensembles_load(place, name, many):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = ph.load(place / name)
    same(result, many)
    same_reductions(result, many)
    assert [one.category for one in told] == [ph.PolhodeWarning] * name.endswith("zarr")


def test_stores_are_not_replaced(place):
    """They do not carry the number of a run."""
    before = (place / "whole.zarr" / "q" / "0.0.0").read_bytes()
    with pytest.raises(ph.FileError, match="not a store that this version of polhode made"):
        ph.solve_ensemble(TOP, (0, 1), method="mr2", dt=0.1, members=2, out=place / "whole.zarr")
    assert (place / "whole.zarr" / "q" / "0.0.0").read_bytes() == before


def test_trajectories_load(place):
    for name, problem, arguments in (
        ("top.nc", TOP, {"method": "mr2", "dt": 0.01}),
        ("spring.nc", SPRING, {"method": "rkn4", "dt": 0.02}),
    ):
        same(ph.load(place / name), ph.solve(problem, (0, 1), **arguments))


@pytest.mark.parametrize("name", MODEL_FUNCTIONS)
def test_functions_of_models_are_found_by_their_names_in_checkpoints(name):
    kind = max((kind for kind in plain_data.FUNCTIONS if name.endswith(kind)), key=len)
    found = plain_data._find_function(name, kind)
    assert f"{found.__module__}:{found.__name__}" == name
