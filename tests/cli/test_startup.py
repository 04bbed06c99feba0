"""Which modules are imported when: in new processes, since this one has imported everything."""

import json
import os
import subprocess
import sys

import pytest

import polhode as ph

HEAVY = {"numba", "scipy", "xarray", "matplotlib", "pandas", "h5py", "zarr", "dask"}
RUN = "sys.argv[1:] = {}; from polhode.cli.main import main\ntry: main()\nexcept SystemExit: pass"


def imported(code: str, **environment: str) -> set[str]:
    """Return the names of the modules that a new process has imported after ``code``."""
    script = f"import sys\n{code}\nimport json; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(result.stdout.splitlines()[-1]))


def test_the_package_imports_nothing_before_it_is_used():
    modules = imported("import polhode")
    assert not modules & (HEAVY | {"numpy"})
    assert not {name for name in modules if name.startswith("polhode.")}


def test_solving_imports_neither_celestial_nor_linear_algebra_nor_xarray():
    code = """
import polhode as ph
ph.solve(ph.problems.fast_top(), (0, 0.01), dt=0.001, method="imidm").q
"""
    modules = imported(code)
    assert "numba" in modules
    assert not modules & {"polhode.celestial", "scipy.linalg", "xarray", "pandas", "matplotlib"}


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["ensemble", "--help"]])
def test_help_is_light(arguments):
    assert not imported(RUN.format(arguments)) & (HEAVY | {"numpy"})


@pytest.mark.parametrize("words", ["polhode r", "polhode run --m"])
def test_completion_is_light(words):
    place = str(len(words.split()) - 1)
    modules = imported(
        RUN.format([]), _POLHODE_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=place
    )
    assert "polhode.cli.main" in modules
    assert not modules & (HEAVY | {"numpy"})


def test_a_run_is_saved_without_xarray(tmp_path):
    arguments = ["run", "fast-top", "--t-end", "0.1", "--out", str(tmp_path), "--no-plot"]
    modules = imported(RUN.format(arguments))
    assert "h5netcdf" in modules
    assert not modules & {"xarray", "pandas", "matplotlib", "dask", "zarr", "scipy.linalg"}
    assert ph.load(tmp_path / "fast-top.nc").success


def test_python_dash_m():
    result = subprocess.run(
        [sys.executable, "-m", "polhode", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == f"polhode {ph.__version__}"


def test_public_names():
    assert dir(ph) == sorted(ph.__all__)
    for name in ph.__all__:
        assert getattr(ph, name) is not None
    import polhode.celestial
    import polhode.distributions

    assert ph.celestial is polhode.celestial
    assert ph.distributions is polhode.distributions
    assert ph.kernels.__name__ == "polhode.kernels"  # modules of the package need no import
    assert ph.models.heavy_top(1.0).name == "heavy_top"
    with pytest.raises(AttributeError, match="module 'polhode' has no attribute 'nothing'"):
        ph.nothing  # noqa: B018


@pytest.mark.parametrize(
    ("words", "found"), [("polhode r", ["run", "reproduce", "resume"]), ("polhode run --m", None)]
)
def test_completion(words, found):
    environment = {"_POLHODE_COMPLETE": "complete_bash", "COMP_WORDS": words}
    environment["COMP_CWORD"] = str(len(words.split()) - 1)
    result = subprocess.run(
        [sys.executable, "-m", "polhode"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert sorted(result.stdout.split()) == sorted(found or ["--method", "--mesh", "--max-steps"])
