"""The command line through its real entry point: output, files and exit codes."""

import csv
import json
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import polhode as ph
from polhode.celestial import layered, precession
from polhode.cli import main as entry
from polhode.cli.plan import make_plan, parse_change, settable_keys
from polhode.models import MODELS
from polhode.papers import PAPERS
from polhode.problems import CATALOGUE, RATES
from polhode.references import bibliography, bibtex, citation, fields
from polhode.solvers import exact_torque

ROOT = Path(__file__).parents[2]
BOX = ROOT / "examples" / "spinning_box.toml"
COMMANDS = (
    "run",
    "film",
    "view",
    "resume",
    "compare",
    "gyro",
    "fit",
    "methods",
    "problems",
    "moon",
    "earth",
    "cite",
    "reproduce",
    "ensemble",
    "bench",
)


def files():
    return sorted(path.name for path in Path().iterdir())


# ---- help
def test_help_lists_every_command(polhode):
    code, out, _ = polhode("--help")
    assert code == 0
    for command in COMMANDS:
        assert command in out
    assert {c.callback.__name__ for c in entry.app.registered_commands} == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command, polhode):
    code, out, _ = polhode(command, "--help")
    assert code == 0
    assert f"polhode {command}" in out.split("xample")[1]


def test_version(polhode):
    assert polhode("--version") == (0, f"polhode {ph.__version__}\n", "")


def test_an_unknown_command_or_option_is_an_error(polhode):
    assert polhode("walk")[0] == 2
    assert polhode("run", "fast-top", "--steps", "3")[0] == 2


def test_installed_as_a_script():
    """In a separate process: no traceback for a user's mistake."""
    done = subprocess.run(
        [sys.executable, "-m", "polhode", "run", "fats-top"],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: 'fats-top'")
    assert "did you mean fast-top?" in done.stderr
    assert done.stdout == ""


# ---- run
def test_run_writes_both_files_and_a_summary(polhode):
    code, out, err = polhode("run", "fast-top", "--t-end", 0.1)
    assert (code, err) == (0, "")
    assert files() == ["fast-top.nc", "fast-top.png"]
    for word in ("fast-top", "imidm", "100", "per step", "energy", "momentum along z", "success"):
        assert word in out
    run = ph.load("fast-top.nc")
    same = ph.solve(ph.problems.fast_top(), (0, 0.1), method="imidm", dt=0.001)
    assert (run.q == same.q).all()
    assert (run.angular_momentum == same.angular_momentum).all()
    assert Path("fast-top.png").read_bytes().startswith(b"\x89PNG")


def test_run_to_another_place(polhode):
    common = "run", "fast_top", "--t-end", 0.01, "--quiet"
    assert polhode(*common, "--out", "deep/down") == (0, "", "")
    assert sorted(path.name for path in Path("deep/down").iterdir()) == [
        "fast-top.nc",
        "fast-top.png",
    ]
    assert polhode(*common, "--out", "a.nc", "--no-plot") == (0, "", "")
    assert files() == ["a.nc", "deep"]


def test_run_options_reach_the_solver(polhode):
    options = "--dt", 0.01, "--t-end", -0.1, "--save-every", 5, "--no-plot"
    assert polhode("run", "fast-top", *options)[0] == 0
    run = ph.load("fast-top.nc")
    assert run.t.tolist() == [0.0, -0.05, -0.1]
    assert run.arguments == {"dt": 0.01, "save_every": 5}


def test_run_of_a_file(polhode):
    code, out, _ = polhode("run", BOX, "--t-end", 1, "--no-plot")
    assert code == 0
    assert "spinning-box" in out
    run = ph.load("spinning-box.nc")
    given = tomllib.loads(BOX.read_text())
    assert np.diag(run.body.inertia).tolist() == given["body"]["inertia"]
    assert run.omega[0].tolist() == pytest.approx(given["initial"]["omega"])
    assert run.rotation[0].as_rotvec() == pytest.approx([0.2, 0, 0])


def test_a_failed_run_says_so_and_keeps_what_it_reached(polhode):
    code, out, err = polhode("run", "soft-wall-attractive", "--dt", 0.5, "--method", "imidm")
    assert code == 1
    assert "NOT_CONVERGED" in out
    assert err.startswith("error: NOT_CONVERGED: stopped at t = ")
    assert files() == ["soft-wall-attractive.nc", "soft-wall-attractive.png"]
    run = ph.load("soft-wall-attractive.nc")
    assert not run.success
    assert 1 < len(run) < 100


def test_a_run_that_keeps_too_much_is_refused(polhode):
    code, _, err = polhode("run", "fast-top", "--t-end", 1e6)
    assert code == 2
    assert "would keep 1e+09 states" in err
    assert "--save-every 20 or more" in err
    assert files() == []


# ---- changes
def test_set_changes_the_model_and_the_start(polhode):
    changes = "--set", "model.strength=30", "--set", "omega=[0, 0, 40]"
    code, out, _ = polhode("run", "fast-top", "--t-end", 0.01, "--no-plot", *changes)
    assert code == 0
    assert "changed: model.strength = 30, initial.omega = [0, 0, 40]" in out
    run = ph.load("fast-top.nc")
    assert run.problem["parameters"] == {"strength": 30.0}
    assert run.omega[0].tolist() == [0, 0, 40]


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("a=1", ("a", 1)),
        ("a.b = [1, 2.5]", ("a.b", [1, 2.5])),
        ("a=true", ("a", True)),
        ('a="two words"', ("a", "two words")),
        ("a=mkrk:rk4", ("a", "mkrk:rk4")),
    ],
)
def test_set_values_are_toml_or_a_bare_word(text, change):
    assert parse_change(text) == change


@pytest.mark.parametrize(
    "text", ["a", "=1", "a=", "a=[1", "a=1\nb=2", "a=__import__('os')", "a=1+1", "a=x y"]
)
def test_set_refuses_what_is_neither(text):
    with pytest.raises(ph.InputError, match="--set"):
        parse_change(text)


def test_nothing_changed_is_the_problem_of_the_catalogue():
    for name, entry_ in CATALOGUE.items():
        made, todo = entry_.make(), make_plan(name, [("run.dt", 0.5)])
        assert todo.problem.attitude == made.attitude
        assert todo.problem.angular_momentum == made.angular_momentum
        assert todo.problem.model.params == made.model.params
        assert todo.run.dt == 0.5


def test_a_change_replaces_what_it_excludes():
    changes = [("rotation_vector", [0.0, 0.0, 1.0]), ("angular_momentum", [1.0, 2.0, 3.0])]
    problem = make_plan("fast-top", changes).problem
    assert problem.angular_momentum == (1.0, 2.0, 3.0)
    assert problem.attitude == pytest.approx((np.cos(0.5), 0, 0, np.sin(0.5)))
    other = make_plan("krysl-free", [("model.name", "heavy_top"), ("strength", 3.0)]).problem.model
    assert (other.name, other.params) == ("heavy_top", ((3.0,), ()))
    assert make_plan("soft-wall", [("sign", "attractive")]).problem.model.params == ((-1.0,), ())


def test_models_take_vectors_and_words():
    top = make_plan("fast-top", [("centre", [1, 0, 2])]).problem.model
    assert top.params == ((20.0, (1.0, 0.0, 2.0)), ())
    changes = [("model.name", "gravity_gradient"), ("mu", 2.0), ("r", 3)]
    fixed, turning = (
        make_plan("celledoni-free", [*changes, *more]).problem.model
        for more in ([], [("direction", "orbit")])
    )
    assert fixed.params == ((2.0, 3.0, (0.0, 0.0, 1.0)), ())
    assert turning.params == ((2.0, 3.0), ())
    other = make_plan("satellite", [("r", 7e6)]).problem.model
    assert other.parameters == {"mu": 3.986e14, "r": 7e6, "direction": (0.0, 0.0, 1.0)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("model.strenght", 3), ["'model.strenght' is unknown", "did you mean model.strength?"]),
        (("omgea", [0, 0, 1]), ["did you mean omega?", "initial.omega, initial.angular_momentum"]),
        (("model.strength", "strong"), ["model.strength = 'strong'", "number"]),
        (("omega", [0, 1]), ["initial.omega = [0, 1]", "3 entries"]),
        (("model.centre", [0, 1]), ["model: centre must be three numbers"]),
        (("run.dt", -1.0), ["run.dt = -1.0", "greater than 0"]),
        (("run.method", "imidn"), ["run.method = 'imidn'", "did you mean imid", "allowed:"]),
        (("body.inertia", [1, 1, 3]), ["body.inertia = [1, 1, 3]", "I3 = 3 is larger than"]),
        (("model.name", "heavy_pot"), ["did you mean heavy_top?", "allowed: free, heavy_top"]),
        (("name", "../up"), ["name = '../up'"]),
    ],
)
def test_a_bad_change_is_reported_with_its_key(change, words):
    with pytest.raises(ph.InputError) as told:
        make_plan("fast-top", [change])
    for word in words:
        assert word in str(told.value)


# ---- run files
def written(text):
    Path("bad.toml").write_text(text)
    return "bad.toml"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("dt = 0.002", "dtt = 0.002", ["run.dtt = 0.002: unknown key"]),
        ("dt = 0.002", "dtt = 0.002", ["(did you mean dt?)", "allowed: method, dt, rtol"]),
        ("dt = 0.002", 'dt = "0.002"', ["run.dt = '0.002': must be a valid number"]),
        ("dt = 0.002", "dt = inf", ["run.dt = inf", "finite"]),
        ("dt = 0.002", "", ["run: method 'imidm' takes fixed steps and needs dt"]),
        ("dt = 0.002", "formulation = 'rotors'", ["run.formulation = 'rotors'", "mean rotor?"]),
        ("t_end = 10.0", "", ["run.t_end: missing"]),
        ('method = "imidm"', 'method = "rk45"', ["run.method = 'rk45': unknown", "imidm, swc1"]),
        ('name = "free"', 'name = "fre"', ["model.name = 'fre'", "did you mean free?"]),
        ('name = "free"', 'name = "free"\nx = 1', ["model.x = 1: unknown key; allowed: name"]),
        ('name = "free"', 'name = "heavy_top"', ["model.strength: missing"]),
        ('name = "free"', 'name = "soft_wall"\nsign = "odd"', ["model: sign must be 'printed'"]),
        ('[model]\nname = "free"', "[[model]]\nname = 3", ["model.0.name = 3: unknown; allowed:"]),
        ("attitude.rotation_vector", "attitude", ["initial.attitude = [0.2,", "must be a table"]),
        ("mass = 0.8", "mass = -0.8", ["body.mass = -0.8: must be greater than 0"]),
        ("inertia = [0.0019867, ", "inertia = [", ["body.inertia", "shape (2,)"]),
        ("rotation_vector", "rotation_vektor", ["did you mean rotation_vector?", "scalar_first"]),
        ("attitude.rotation_vector = [0.2, 0.0, 0.0]", "attitude.quaternion = [1, 0, 0, 0]",
         ["initial.attitude: a quaternion needs scalar_first"]),
        ("omega = [0.05, 8.0, 0.0]", "", ["initial: give omega= or angular_momentum=", "neither"]),
        ("[body]", "[body]\n[body]", ["bad.toml is not TOML"]),
    ],
)  # fmt: skip
def test_a_bad_file_is_reported_with_its_keys(old, new, words, polhode):
    text = BOX.read_text()
    assert old in text
    code, out, err = polhode("run", written(text.replace(old, new, 1)))
    assert (code, out) == (2, "")
    assert err.startswith("error: bad.toml")
    assert "Traceback" not in err
    for word in words:
        assert word in err
    assert files() == ["bad.toml"]


def test_a_model_that_is_not_a_table(polhode):
    text = "model = 3\n" + BOX.read_text().replace('[model]\nname = "free"', "")
    assert polhode("run", written(text))[::2] == (
        2,
        "error: bad.toml: model = 3: must be a table [model]\n",
    )


def test_a_missing_file(polhode):
    assert polhode("run", "none.toml")[::2] == (
        2,
        "error: cannot read 'none.toml': No such file or directory\n",
    )


def test_a_directory_that_cannot_be_made(polhode):
    Path("taken").write_text("")
    code, _, err = polhode("run", "fast-top", "--out", "taken/below")
    assert code == 2
    assert err.startswith("error: cannot make 'taken/below'")


def test_attitudes_and_sums_of_models(tmp_path):
    text = BOX.read_text().replace("[0.05, 8.0, 0.0]", "[0.0, 0.0, 1.0]")
    turned = "attitude.quaternion = [0, 0, 0.6, 0.8]\nattitude.scalar_first = false"
    models = (
        '[[model]]\nname = "heavy_top"\nstrength = 2\n[[model]]\nname = "heavy_top"\nstrength = 3'
    )
    text = text.replace("attitude.rotation_vector = [0.2, 0.0, 0.0]", turned)
    text = text.replace('[model]\nname = "free"', models)
    path = tmp_path / "sum.toml"
    path.write_text(text)
    problem = make_plan(str(path), [("model.1.strength", 5)]).problem
    assert problem.attitude == (0.8, 0.0, 0.0, 0.6)
    assert problem.model.numbers == ((2.0,), (5.0,))
    matrix = make_plan(str(path), [("matrix", [[0, -1, 0], [1, 0, 0], [0, 0, 1]])]).problem.attitude
    assert matrix == pytest.approx((np.sqrt(0.5), 0, 0, np.sqrt(0.5)))
    with pytest.raises(ph.InputError, match=r"ambiguous: model\.0\.strength or model\.1\.strength"):
        make_plan(str(path), [("strength", 5)])


# ---- meshes
def part(path):
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box([100, 200, 50]).export(path)  # mm
    return ph.RigidBody.from_shapes(ph.shapes.box([0.1, 0.2, 0.05], density=2700.0))


def test_a_mesh_is_a_body(polhode):
    body = part("part.stl")
    options = "--scale", 0.001, "--density", 2700, "--set", "omega=[0.1, 5, 0]", "--t-end", 2
    code, out, err = polhode("run", "--mesh", "part.stl", *options)
    assert code == 0, err
    assert "success" in out
    assert files() == ["part.nc", "part.png", "part.stl"]
    run = ph.load("part.nc")
    assert np.allclose(run.body.inertia, body.inertia, rtol=1e-6, atol=0)  # STL has 24 bits
    assert run.omega[0] == pytest.approx([0.1, 5, 0])
    assert (run.body.geometry.kind, len(run.body.geometry.faces)) == ("mesh", 12)
    assert np.ptp(run.body.geometry.vertices, axis=0) == pytest.approx([0.1, 0.2, 0.05])
    assert polhode("run", "part.stl", *options, "-q") == (0, "", "")


def test_a_mesh_takes_the_place_of_a_body(polhode):
    body = part("part.stl")
    changes = [("body.mesh", "part.stl"), ("body.scale", 1e-3)]
    with pytest.raises(ph.InputError, match="body: give mass= in kg or density="):
        make_plan("fast-top", changes)  # the mass of another body does not count
    todo = make_plan("fast-top", [*changes, ("body.mass", 2.7)])
    assert np.allclose(todo.problem.body.inertia, body.inertia, rtol=1e-6, atol=0)
    assert todo.problem.model.name == "heavy_top"
    again = make_plan("part.stl", [("omega", [1, 0, 0]), ("t_end", 1.0), ("inertia", [1, 2, 2.5])])
    assert again.problem.body.principal_moments.tolist() == [1, 2, 2.5]


def test_the_mesh_of_a_run_file_lies_beside_it(polhode):
    Path("there").mkdir()
    body = part("there/part.stl")
    table = '[body]\nmesh = "part.stl"\ndensity = 2700.0\nscale = 0.001'
    Path("there/run.toml").write_text(
        f"{table}\n[initial]\nomega = [0.1, 5.0, 0.0]\n[run]\nt_end = 1.0"
    )
    assert np.allclose(
        make_plan("there/run.toml", []).problem.body.inertia, body.inertia, rtol=1e-6
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([("body.mesh", "nowhere.stl"), ("body.density", 1.0)], "there is no file 'nowhere.stl'"),
        ([("body.mesh", "part.step"), ("body.density", 1.0)], "ending in .stl"),
        ([("body.density", 1.0)], "density goes with mesh only"),
        ([("body.scale", 1.0)], "scale goes with mesh only"),
    ],
)
def test_a_bad_mesh_is_reported(changes, words):
    with pytest.raises(ph.InputError, match="body: ") as told:
        make_plan("fast-top", changes)
    assert words in str(told.value)


def test_run_needs_a_target(polhode):
    code, _, err = polhode("run")
    assert code == 2
    assert "--mesh" in err


def test_run_files_are_documented():
    page = (ROOT / "docs" / "reference" / "run-files.md").read_text()
    shown = page.split("```toml\n")[1].split("```")[0]
    assert tomllib.loads(shown) == tomllib.loads(BOX.read_text())
    for key in settable_keys({}):
        assert f"`{key}`" in page
    for name in MODELS:
        assert f"| `{name}` |" in page


# ---- lists
def test_methods(polhode):
    code, out, _ = polhode("methods")
    assert code == 0
    for row in ph.methods_table():
        assert row["name"] in out
        assert row["title"] in out
    registries = {
        "integrators": ph.INTEGRATORS,
        "formulations": ph.FORMULATIONS,
        "coordinates": ph.COORDINATES,
    }
    for record in (record for registry in registries.values() for record in registry.values()):
        assert record.name in out
        assert record.title in out
    code, out, _ = polhode("methods", "--json")
    assert code == 0
    tables = json.loads(out)
    assert tables["methods"] == ph.methods_table()
    for kind, registry in registries.items():
        assert [row["name"] for row in tables[kind]] == list(registry)


def test_problems(polhode):
    code, out, _ = polhode("problems")
    assert code == 0
    for name, entry_ in CATALOGUE.items():
        assert name in out
        assert entry_.summary in out


# ---- compare
def test_compare_writes_rows_and_a_diagram(polhode):
    common = "--methods", "imidm,mr2", "--t-end", 0.1, "--repeats", 1
    code, out, err = polhode("compare", "fast-top", *common, "--dts", "0.01,0.005")
    assert (code, err) == (0, "")
    assert files() == ["fast-top-compare.csv", "fast-top-compare.png"]
    for word in ("imidm", "mr2", "0.005", "reference: order 8", "cheapest", "torques", "attitude"):
        assert word in out
    rows = list(csv.DictReader(Path("fast-top-compare.csv").read_text().splitlines()))
    assert [(row["method"], row["dt"]) for row in rows] == [
        (method, dt) for method in ("imidm", "mr2") for dt in ("0.01", "0.005")
    ]
    out = "--out", "deep/a.json", "--no-plot", "--quiet"
    assert polhode("compare", "fast_top", *common, "--errors", "1e-4", *out) == (0, "", "")
    assert [path.name for path in Path("deep").iterdir()] == ["a.json"]
    found = json.loads(Path("deep/a.json").read_text())
    assert found["t_span"] == [0.0, 0.1]
    assert all(row["attitude_error"] <= 1e-4 for row in found["rows"])


def test_compare_with_six_degrees_of_freedom(polhode):
    given = "--methods", "rkn4,mkrk:rk4", "--t-end", 0.1, "--repeats", 1, "--dts", "0.01,0.005"
    code, out, err = polhode("compare", "off-centre-spring", *given)
    assert (code, err) == (0, "")
    for word in (
        "Newton's",
        "position",
        "velocity",
        "cheapest for errors of attitude and position",
    ):
        assert word in out
    rows = list(csv.DictReader(Path("off-centre-spring-compare.csv").read_text().splitlines()))
    assert all(0 < float(row["position_error"]) < 1e-3 for row in rows)


def test_compare_of_a_file_with_changes(polhode):
    code, out, err = polhode("compare", BOX, "--quick", "--methods", "dmv2,mr2", "--no-plot")
    assert (code, err) == (0, "")
    assert "closed form" in out
    assert "torques" not in out
    rows = list(csv.DictReader(Path("spinning-box-compare.csv").read_text().splitlines()))
    assert [float(row["dt"]) for row in rows] == [0.008, 0.004, 0.002] * 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--methods", "imidn"], ["method must be one of", "did you mean imid"]),
        (["--methods", "dmv4"], ["'dmv4' is for free bodies", "use for instance mr2"]),
        (["--methods", ","], ["--methods takes names separated by commas, or all, got ','"]),
        (["--dts", "0.1,x"], ["--dts takes positive numbers separated by commas, got '0.1,x'"]),
        (["--errors", "-1"], ["--errors takes positive numbers", "'-1'"]),
        (["--dts", "1", "--errors", "1"], ["dts or errors, not both"]),
    ],
)
def test_compare_tells_mistakes(arguments, words, polhode):
    code, out, err = polhode("compare", "fast-top", *arguments)
    assert (code, out) == (2, "")
    assert all(word in err for word in words), err
    assert files() == []


# ---- citations
def used_keys():
    keys = {key for method in ph.METHODS.values() for key in method.references}
    for tableau in (*ph.TABLEAUS.values(), *ph.COMPOSITIONS.values()):
        keys |= set(tableau.references)
    for entry_ in CATALOGUE.values():
        keys |= {*entry_.references, *entry_.make().model.references}
    records = *ph.INTEGRATORS.values(), *ph.FORMULATIONS.values(), *ph.COORDINATES.values()
    for record in records:
        keys |= set(record.references)
    for name, model in MODELS.items():
        for arguments in import_module(f"polhode.models.{name}").EXAMPLES:
            keys |= set(model(**arguments).references)
    for file in (exact_torque, layered, precession):
        keys |= set(file.REFERENCES)
    return keys | {key for make in RATES.values() for key in make().references} | set(PAPERS)


def test_every_key_resolves_and_every_entry_is_used():
    assert set(bibliography()) == used_keys()


@pytest.mark.parametrize("key", bibliography())
def test_entries_are_complete(key):
    kind, of = bibtex(key).partition("{")[0], fields(bibtex(key))
    rest = {
        "@article": {"journal", "volume", "pages"},
        "@book": {"edition", "publisher"},
        "@misc": {"howpublished"},
    }
    assert {"author", "title", "year"} | rest[kind] <= set(of)
    assert ("series" in of) <= ("volume" in of)
    line = citation(key)
    assert f"({of['year']})" in line
    assert not set("{}\\@") & set(line)


def test_cite(polhode):
    code, out, _ = polhode("cite")
    assert code == 0
    assert f"Version {ph.__version__}" in out
    for key in bibliography():
        assert citation(key) in out
    code, out, _ = polhode("cite", "imidm", "fast-top")
    assert [line.split()[0] for line in out.splitlines()] == ["krysl2006", "krysl2005", "simo1991"]
    for name in (*ph.METHODS, *ph.INTEGRATORS, *ph.FORMULATIONS, *CATALOGUE, *RATES):
        assert polhode("cite", name)[0] == 0


def test_cite_as_bibtex(polhode):
    assert polhode("cite", "krysl2006", "--bibtex")[1] == bibtex("krysl2006") + "\n"
    code, out, _ = polhode("cite", "--bibtex")
    assert code == 0
    assert out.startswith("@software{polhode,")
    assert sum(out.count(f"@{kind}{{") for kind in ("article", "book", "misc")) == len(
        bibliography()
    )


def test_cite_refuses_an_unknown_name(polhode):
    code, out, err = polhode("cite", "krysl206")
    assert (code, out) == (2, "")
    assert "did you mean krysl2006?" in err


# ---- reproduce
@pytest.fixture
def papers(monkeypatch):
    """One made-up paper; the real ones have their own tests."""
    claim = SimpleNamespace(
        section="5.3",
        statement="[b]it[/b] turns",
        claimed="1",
        measured="1.0",
        verdict="holds",
        note="",
    )

    def reproduce(quick, out, progress):
        progress("measuring [x]")
        (out / "figure.png").write_bytes(b"")
        files = {"claims": [claim], "figures": [out / "figure.png"]}
        return SimpleNamespace(**files, tables=["| a table [y] |\n"], ok=quick)

    module = ModuleType("polhode.papers")
    module.PAPERS = {"some2001": SimpleNamespace(reproduce=reproduce)}
    monkeypatch.setitem(sys.modules, "polhode.papers", module)


@pytest.mark.usefixtures("papers")
def test_reproduce_prints_claims_and_reports_failure(polhode):
    code, out, err = polhode("reproduce", "some2001", "--quick")
    assert code == 0
    for word in ("5.3", "[b]it[/b] turns", "1.0", "1 claims; holds: 1", "| a table [y] |"):
        assert word in out
    assert "measuring [x]" in err
    assert Path("some2001/figure.png").is_file()
    code, out, err = polhode("reproduce", "some2001", "--out", "figures")
    assert code == 1
    assert "error:" in err
    assert Path("figures/figure.png").is_file()
    code, _, err = polhode("reproduce", "other2001")
    assert (code, err) == (2, "error: paper must be one of some2001, got 'other2001'\n")
