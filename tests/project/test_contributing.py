"""The examples of CONTRIBUTING.md, exactly as printed, in a copy of the repository.

Every example becomes the file whose path stands above it; then the tests of the registries run for
what it adds, in one process, and everything that is generated is made again.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"`((?:src|tests)/[\w/]+\.\w+)`:\n\n```\w+\n(.*?)```", re.DOTALL)
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = EXAMPLE.findall(TEXT)

# chapter -> (name, tests of the registry, which of them, how many they are)
SWEEPS = {
    "method": (
        "kick-turn",
        "methods/test_methods.py",
        "test_record or opens_with or test_one_step or order_of_one_step or test_symplectic",
        6,
    ),
    "model": ("magnetic_dipole", "models/test_model_examples.py", "not nothing", 8),
    "formulation": (
        "rodrigues",
        "formulations/test_formulations.py",
        "not compiled and not claim",  # there is a claim of this name
        12,
    ),
    "coordinates": (
        "inertial-momentum",
        "formulations/test_coordinates.py",
        "whole or there_and_back or slopes or tensors or (every_integrator and (rk4 or dop853))",
        6,
    ),
    "integrator": ("kutta38", "integrators/test_integrators.py", "not compiled", 16),
    "problem": ("sleeping-top", "problems/test_problem.py", "not nothing", 1),
    "shape": ("pyramid", "body/test_shapes.py body/test_geometry.py", "not nothing", 5),
    "benchmark": ("exponential", "bench/test_bench.py", "well_formed", 1),
    "paper": ("wisdom1984", "papers/test_papers.py", "claim and synchronous or statements", 2),
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A copy of the repository with the files of all examples."""
    copy = tmp_path_factory.mktemp("repository")
    for name in ("src", "tests", "docs"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("*.nb[ci]"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    for path, text in EXAMPLES:
        file = copy / path
        file.parent.mkdir(exist_ok=True)
        known = file.read_text(encoding="utf-8") + "\n\n" if file.exists() else ""
        file.write_text(known + text, encoding="utf-8")
    return copy


def run(repository, *command):
    environment = {**os.environ, "PYTHONPATH": str(repository / "src")}
    return subprocess.run(
        [sys.executable, *command],
        cwd=repository,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_chapter_has_an_example():
    chapters = re.findall(r"^## Add (?:a |an )?(.*)$", TEXT, re.MULTILINE)
    assert chapters == [*list(SWEEPS)[:-2], "reduction", *list(SWEEPS)[-2:]]
    new = [path for path, _ in EXAMPLES if not (ROOT / path).exists()]
    assert len(new) == 8 + 1 + 5  # a file each, and the package of a paper
    assert [path for path, _ in EXAMPLES if (ROOT / path).exists()] == [
        "tests/support/krysl_schemes.py"
    ]


def test_every_field_of_the_records_is_explained():
    from dataclasses import fields

    from polhode.contracts import Coordinates, Formulation, Integrator, Method, Model

    inner = {
        "start",
        "user",
        "analytic",
        "on_duals",
        "terms",
        "trial",
    }  # made by the library, or under carry
    for record in (Method, Model, Formulation, Coordinates, Integrator):
        table = TEXT[TEXT.index(f"| field of `{record.__name__}` |") :].split("\n\n")[0]
        chapter = table + TEXT[: TEXT.index(table)].rpartition("\n## ")[2]
        for field in fields(record):
            known = field.name in inner or re.search(rf"\b{field.name}\b", chapter)
            assert known, f"{record.__name__}.{field.name}"


def test_the_examples_pass_the_tests_of_their_registries(repository):
    files = dict.fromkeys(f"tests/{f}" for _, some, _, _ in SWEEPS.values() for f in some.split())
    chosen = [f"({name} and ({which}))" for name, _, which, _ in SWEEPS.values()]
    done = run(
        repository, "-m", "pytest", "-q", "-n", "0", "-rA", "-p", "no:cacheprovider",
        *files, "-k", " or ".join(chosen),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
    for chapter, (name, some, _, count) in SWEEPS.items():
        file = "|".join(some.split())
        passed = re.findall(rf"^PASSED tests/(?:{file})::.*{name}.*$", done.stdout, re.MULTILINE)
        assert len(passed) >= count, (chapter, passed)


REDUCED = """
import numpy as np
import polhode as ph
from polhode.ensembles.reductions import reductions_of

(kind,) = reductions_of("rms(omega)")
assert type(kind) is ph.reductions.RootMeanSquare
values = np.random.default_rng(1).normal(size=(50, 3))
row = kind.join(kind.part(values[:20]), kind.join(kind.part(values[:0]), kind.part(values[20:])))
assert np.allclose(kind.end(row)["omega_rms"], np.sqrt((values**2).mean(axis=0)))
assert kind.trial(values)
"""


def test_the_reduction_reduces(repository):
    done = run(repository, "-c", REDUCED)
    assert done.returncode == 0, done.stderr


def test_generated_files_follow(repository):
    script = "docs/make/records.py"
    stale = run(repository, script, "--check")
    assert stale.returncode == 1
    assert "run python docs/make/records.py" in stale.stdout
    assert run(repository, script).returncode == 0
    assert run(repository, script, "--check").returncode == 0
    pages = {
        "docs/reference/methods.md": ("kick-turn", "rodrigues", "inertial-momentum", "kutta38"),
        "docs/reference/run-files.md": ("magnetic_dipole", "sleeping-top"),
        "docs/guide/bodies.md": ("pyramid",),
        "src/polhode/models/__init__.pyi": ("magnetic_dipole",),
    }
    for page, names in pages.items():
        text = (repository / page).read_text(encoding="utf-8")
        assert [name for name in names if name not in text] == []


def test_the_method_runs_before_any_registration():
    import polhode as ph

    scope = {"__name__": "kick_turn"}
    (text,) = [text for path, text in EXAMPLES if path.endswith("kick_turn.py")]
    exec(compile(text, "kick_turn", "exec"), scope)
    run = ph.solve(ph.problems.krysl_free(), (0, 1), method=scope["METHOD"], dt=0.01)
    assert abs(run.angular_momentum_inertial - run.angular_momentum_inertial[0]).max() < 1e-14
