"""``polhode ensemble`` through its entry point: files, tables, warnings, errors, exit codes."""

from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode import plot
from polhode.cli.ensemble import HERE, at_the_end, complete_dask
from polhode.cli.plan import make_plan, parse_change
from polhode.cli.schema import EnsembleFile
from polhode.ensembles.distributions import Around, Boxes, Normal, OnSphere, Sweep, Uniform
from support.run_files import TOPS

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "tumbling.toml"


def written(text, name="tops.toml"):
    Path(name).write_text(text)
    return name


def varied(text):
    """Return the variations of the [vary] section of a file."""
    head = TOPS[: TOPS.index("[vary]")]
    return make_plan(written(f"{head}\n[vary]\n{text}"), [], EnsembleFile).vary


def mistakes(*lines, text=TOPS):
    with pytest.raises(ph.InputError) as found:
        make_plan(written(text + "\n".join(lines)), [], EnsembleFile)
    return str(found.value)


# ---- runs
def test_a_store_a_picture_and_a_table(polhode):
    code, out, err = polhode("ensemble", written(TOPS))
    assert (code, err) == (0, "")
    for said in (
        "40, seed 3",
        "40 succeeded",
        "speed_quantiles",
        "95 %",
        "per step and body",
        "tops.png",
    ):
        assert said in out
    assert {path.name for path in Path().iterdir()} == {"tops.toml", "tops.zarr", "tops.png"}
    found = ph.load("tops.zarr")
    assert found.q.shape == (3, 40, 4)
    vary = {
        "omega": Normal([0, 0, 50], 0.5),
        "model.strength": Uniform(10, 30),
        "attitude": Around(0.1),
    }
    asked = {"members": 40, "seed": 3, "vary": vary, "save": [0.0, 0.25, 0.5]}
    same = ph.solve_ensemble(ph.problems.fast_top(), (0, 0.5), method="mr2", dt=0.01, **asked)
    assert (found.q == same.q).all()


def test_options_and_changes_replace_the_file(polhode):
    code, out, err = polhode(
        "ensemble", written(TOPS), "--members", 7, "--seed", 5, "--out", "some/few.nc", "--no-plot",
        "--set", "ensemble.save=final", "--set", "centre=[0, 0, 2]", "--quiet", "--t-end", 0.2,
        "--set", "vary.model.strength={ values = [1, 2, 3, 4, 5, 6, 7] }",
    )  # fmt: skip
    assert (code, out, err) == (0, "", "")
    assert [path.name for path in Path("some").iterdir()] == ["few.nc"]
    found = ph.load("some/few.nc")
    assert found.q.shape == (1, 7, 4)
    assert found.t.tolist() == [0.2]
    assert found.seed == 5
    assert found.varied("model.strength").tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_dask_alone_gives_the_same_bits(polhode):
    first = polhode("ensemble", written(TOPS), "--no-plot", "--out", "a.zarr")
    second = polhode("ensemble", "--dask", "tops.toml", "--threads", 1, "--out", "b.zarr", "-q")
    assert first[0] == second[0] == 0
    a, b = ph.load("a.zarr"), ph.load("b.zarr")
    assert (a.q == b.q).all()
    assert all((a.reductions[k] == b.reductions[k]).all() for k in a.reductions)


def test_the_example(polhode):
    code, out, err = polhode("ensemble", EXAMPLE, "--members", 30, "--t-end", 100, "--quiet")
    assert (code, out, err) == (0, "", "")
    assert {path.name for path in Path().iterdir()} == {"tumbling.zarr", "tumbling.png"}


# ---- members that fail
WILD = """
[body]
inertia = [1.0, 2.0, 2.5]

[initial]
omega = [1.0, 1.0, 1.0]

[run]
method = "imidm"
dt = 1.0
t_end = 3.0

[vary]
omega = { values = [[0.1, 0.1, 0.1], [LAST, 1e3, 1e3]] }
"""


def test_some_failed_members_are_a_warning(polhode):
    code, _, err = polhode("ensemble", written(WILD.replace("LAST", "1e3")), "--no-plot")
    assert code == 0
    assert "warning: 1 of 2 members failed; the first: member 1 stopped at t = 0" in err


def test_all_failed_members_are_a_failure(polhode):
    text = WILD.replace("LAST", "1e3").replace("[0.1, 0.1, 0.1]", "[1e3, 2e3, 1e3]")
    code, _, err = polhode("ensemble", written(text), "--no-plot", "--quiet")
    assert code == 1
    assert "all 2 members failed; member 0 stopped" in err


# ---- what can be varied
def test_every_kind_of_source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert varied("inertia = { boxes = { low = 0.5, high = [1, 1, 2] } }") == {
        "inertia": Boxes(0.5, [1, 1, 2])
    }
    sphere = "omega = { on_sphere = { length = { uniform = { low = 1, high = 2 } } } }"
    assert varied(sphere) == {"omega": OnSphere(Uniform(1, 2))}
    assert varied("attitude = { attitudes = {} }") == {"attitude": ph.distributions.Attitudes()}
    swept = varied("model.strength = { sweep = { from = 1.0, to = 3.0, count = 5 } }")
    assert isinstance(swept["model.strength"], Sweep)
    assert swept["model.strength"].values.tolist() == [1.0, 1.5, 2.0, 2.5, 3.0]
    given = varied("omega = { sweep = [[0, 0, 1], [0, 0, 2]] }\nmass = { values = [1, 2] }")
    assert given["omega"].values.shape == (2, 3)
    assert given["mass"].tolist() == [1, 2]
    turned = varied("attitude = { sweep = [[0, 0, 0], [0, 0, 1]] }")["attitude"].values
    assert np.allclose(turned.as_rotvec(), [[0, 0, 0], [0, 0, 1]])


def changed(*changes, text=TOPS):
    """Return the variations with ``--set``."""
    return make_plan(written(text), [parse_change(change) for change in changes], EnsembleFile).vary


def test_what_is_varied_can_be_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    same = {"attitude": Around(0.1), "model.strength": Uniform(10.0, 30.0)}
    assert changed("vary.omega.normal.sigma=[1, 2, 3]") == {
        **same, "omega": Normal([0, 0, 50], [1, 2, 3])
    }  # fmt: skip
    assert changed("vary.omega={ on_sphere = { length = 3.0 } }") == {
        **same,
        "omega": OnSphere(3.0),
    }
    found = changed("vary.omega.uniform.low=1", "vary.omega.uniform.high=2")
    assert found == {**same, "omega": Uniform(1, 2)}
    for text in (TOPS, TOPS.replace('"model.strength"', "model.strength")):
        found = changed("vary.model.strength.uniform.high=40", text=text)
        assert found["model.strength"] == Uniform(10.0, 40.0)
    assert changed("vary.mass={ uniform = { low = 1, high = 2 } }")["mass"] == Uniform(1, 2)
    Path("here").mkdir()
    Path("here/spins.csv").write_text("omega_x, omega_y, omega_z\n0,0,50\n")
    Path("there").mkdir()
    table = "vary.omega.file='here/spins.csv'"
    todo = make_plan(written(TOPS, "there/tops.toml"), [parse_change(table)], EnsembleFile)
    assert todo.vary["omega"].tolist() == [[0, 0, 50]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("vary=3", "'vary': say what is varied, vary.NAME or vary.NAME.KIND.KEY"),
        ("vary.normal.sigma=1", "'vary.normal.sigma': say what is varied"),
        ("vary.omega..sigma=1", "say what is varied"),
        ("vary.omgea.normal={ mean = 1, sigma = 1 }", "vary.omgea: unknown (did you mean omega?)"),
        ("vary.omega.normal.sgima=1", "vary.omega.normal.sgima = 1: unknown key (did you mean sig"),
        ("vary.omega.nromal.sigma=1", "vary.omega.nromal.sigma"),
        ("vary.omega=[0, 0, 5]", "must be a table with one key of normal, uniform"),
        ("vary.omega.uniform.low=1", "vary.omega.uniform.high: missing"),
        ("vary.omega.normal.mean.x=1", "mean = [0, 0, 50] is not a table"),
        ("ensemble.membres=1", "--set key 'ensemble.membres' is unknown"),
    ],
)
def test_mistakes_in_what_is_set(tmp_path, monkeypatch, change, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ph.InputError) as found:
        changed(change)
    assert said in str(found.value)


def test_values_from_files(polhode):
    Path("spins.csv").write_text("omega_x, omega_y, omega_z, model.strength\n0,0,50,1\n0,1,50,2\n")
    columns = varied('omega = { file = "spins.csv" }\nmodel.strength = { file = "spins.csv" }')
    assert columns["omega"].tolist() == [[0, 0, 50], [0, 1, 50]]
    assert columns["model.strength"].tolist() == [1, 2]
    assert polhode("ensemble", written(TOPS), "--no-plot", "-q", "--out", "a.nc")[0] == 0
    assert polhode("ensemble", "tops.toml", "--no-plot", "-q", "--out", "a.zarr")[0] == 0
    for name in ("a.nc", "a.zarr"):
        again = varied(f'omega = {{ file = "{name}" }}\nattitude = {{ file = "{name}" }}')
        before = ph.load("a.zarr")
        assert (again["omega"] == before.varied("omega")).all()
        assert np.allclose(
            again["attitude"].as_quat(scalar_first=True), before.varied("attitude"), atol=1e-15
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("t, omega_x\n1,2\n", "has neither a column omega nor omega_x, omega_y, omega_z"),
        ("omega_x,omega_y,omega_z\n1,2,3\n1,2\n", "line 3 has no number for omega_x"),
        ("", "has no header"),
    ],
)
def test_bad_columns(tmp_path, monkeypatch, text, said):
    monkeypatch.chdir(tmp_path)
    Path("bad.csv").write_text(text)
    assert said in mistakes('omega = { file = "bad.csv" }', text=TOPS[: TOPS.index("omega = {")])


# ---- mistakes
def test_all_mistakes_at_once(polhode):
    text = TOPS.replace("members = 40", "members = 0").replace("mean = [0, 0, 50]", "maen = 1")
    text = text.replace('"attitude", ', '"altitude", ').replace("low = 10.0", 'low = "a"')
    text = text.replace("uniform = {", "unifrom = {").replace("save =", "safe =")
    code, out, err = polhode("ensemble", written(text))
    assert (code, out) == (2, "")
    assert "tops.toml: 6 mistakes" in err
    for said in (
        "ensemble.members = 0: must be greater than or equal to 1",
        "ensemble.safe = [0.0, 0.25, 0.5]: unknown key (did you mean save?)",
        "ensemble.reduce = ['quantiles(speed",
        "'altitude' is not understood",
        "vary.omega.normal.mean: missing",
        "vary.omega.normal.maen = 1: unknown key (did you mean mean?); allowed: mean, sigma",
        "vary.model.strength.unifrom: unknown (did you mean uniform?); allowed: normal, uniform",
    ):
        assert said in err
    assert [path.name for path in Path().iterdir()] == ["tops.toml"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("omgea = { around = { sigma = 1.0 } }", "vary.omgea: unknown (did you mean omega?)"),
        (
            "mass = { normal = { mean = [1, 2], sigma = 1 } }",
            "vary.mass: mean must be a finite number",
        ),
        ("mass = { around = { sigma = 1 } }", "vary.mass: Around draws attitudes"),
        ("mass = { sweep = [[1, 2]] }", "vary.mass: must be of shape (members,), got"),
        ("mass = 3", "vary.mass = 3: must be a table with one key of normal, uniform"),
        ("mass = { values = ['a'] }", "vary.mass.values = ['a']: must be a list of numbers"),
        ("mass = { sweep = { from = 1, to = [2, 3], count = 3 } }", "must be numbers, or lists"),
        ("mass = { sweep = { form = 1, to = 2, count = 3 } }", "(did you mean from?)"),
        ("mass = { file = 'none.nc' }", "vary.mass.file = 'none.nc': there is no such file"),
    ],
)
def test_mistakes_in_what_is_varied(tmp_path, monkeypatch, line, said):
    monkeypatch.chdir(tmp_path)
    assert said in mistakes(line)


def test_mistakes_of_the_problem(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "problem = 'fats-top': unknown (did you mean fast-top?)" in mistakes(
        text=TOPS.replace("fast-top", "fats-top")
    )
    assert "'run.dtt' is unknown (did you mean run.dt?)" in mistakes(
        text=TOPS.replace("dt = 0.01", "dtt = 0.01")
    )
    assert "vary: missing; say what differs" in mistakes(text=TOPS[: TOPS.index("[vary]")])


def test_a_file_is_refused_where_a_directory_is_expected(polhode):
    asked = "ensemble", written(TOPS), "--no-plot", "-q", "--out"
    code, _, err = polhode(*asked, "a.h5")
    assert code == 2
    assert "--out 'a.h5' must end in .zarr or .nc, or be a directory" in err
    assert [path.name for path in Path().iterdir()] == ["tops.toml"]
    Path("a.h5").mkdir()
    assert polhode(*asked, "a.h5")[0] == 0
    assert polhode(*asked, "version.2")[0] == 0
    assert Path("a.h5/tops.zarr").is_dir()
    assert Path("version.2/tops.zarr").is_dir()


def test_an_impossible_body_writes_nothing(polhode):
    line = "inertia = { uniform = { low = 0.1, high = 3.0 } }"
    code, _, err = polhode("ensemble", written(TOPS + line))
    assert code == 2
    assert "member" in err
    assert "inertia" in err
    assert [path.name for path in Path().iterdir()] == ["tops.toml"]


def test_the_number_of_members_must_be_clear(polhode):
    text = TOPS.replace("members = 40\n", "")
    code, _, err = polhode("ensemble", written(text))
    assert code == 2
    assert "the number of members is missing" in err


# ---- small parts
@pytest.mark.parametrize("command", ["ensemble", "resume"])
def test_without_a_file_it_says_what_is_missing(polhode, command):
    code, _, told = polhode(command)
    assert code == 2
    assert "Missing argument" in told


def test_dask_with_and_without_an_address():
    assert complete_dask([]) == []
    assert complete_dask(["a.toml", "--dask"]) == ["a.toml", "--dask", HERE]
    assert complete_dask(["--dask", "a.toml"]) == ["--dask", HERE, "a.toml"]
    assert complete_dask(["--dask", "--quiet"]) == ["--dask", HERE, "--quiet"]
    assert complete_dask(["--dask", "tcp://a:1", "b"]) == ["--dask", "tcp://a:1", "b"]


def test_first_times_in_words_and_in_a_picture():
    def level(t, q, omega):
        return q[0] - 0.99

    result = ph.solve_ensemble(
        ph.problems.fast_top(), (0, 0.5), members=20, vary={"attitude": Around(0.1)}, seed=1,
        method="mr2", dt=0.01, reduce=ph.reductions.FirstTime(level), save=None,
    )  # fmt: skip
    (text,) = at_the_end(result.labelled).values()
    assert "of 20 members" in text
    (ax,) = plot.ensemble(result)
    assert "Level first time" in ax.get_title(loc="left")
