"""Runs as the viewer gets them: what the header says, and what lies in the data."""

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.view import curves, packing, solids
from polhode.view.packing import Blob, Options, pack

KINDS = {"t": ("f8", 1), "q": ("f4", 4), "omega": ("f4", 3), "torque": ("f4", 3)}


def array(packed, ref, kind, width=1):
    offset, count = ref
    assert offset % 8 == 0
    values = np.frombuffer(packed.data, dtype=f"<{kind}", count=count, offset=offset)
    return values.astype(float).reshape(-1, width) if width > 1 else values


def field(packed, name, k=0):
    return array(packed, packed.header["runs"][k][name], *KINDS[name])


def series(packed, name, k=0):
    (found,) = [one for one in packed.header["runs"][k]["series"] if one["name"] == name]
    return found, array(packed, found["t"], "f8"), [array(packed, v, "f4") for v in found["values"]]


def facts(packed, k=0):
    return dict(packed.header["runs"][k]["facts"])


@pytest.fixture(scope="module")
def top():
    return ph.solve(ph.problems.fast_top(), (0, 3), dt=0.001)


@pytest.fixture(scope="module")
def racket():
    return ph.solve(ph.problems.tennis_racket(), (0, 2), dt=0.01)


# ---- the blob
def test_the_blob_aligns_its_arrays_and_keeps_each_once():
    blob = Blob()
    first, second = blob.put([1.0, 2.0, 3.0], "f4"), blob.put([7], "u4")
    again = blob.put(np.array([1.0, 2.0, 3.0]), "f4")
    assert (first, second, again) == ([0, 3], [16, 1], [0, 3])
    data = blob.data()
    assert len(data) == 24
    assert np.frombuffer(data, "<f4", 3).tolist() == [1, 2, 3]
    assert np.frombuffer(data, "<u4", 1, 16).tolist() == [7]


def test_rounding_is_to_powers_of_two():
    assert packing.rounded(np.array([0.3, 1.26]), 0.3).tolist() == [0.25, 1.25]
    values = np.array([0.1, 0.2])
    assert packing.rounded(values, 0.0) is values


# ---- the header
def test_the_header_is_plain_data_that_javascript_takes(top):
    packed = pack(top, Options())
    assert json.loads(json.dumps(packed.header, allow_nan=False)) == packed.header
    (run,) = packed.header["runs"]
    assert packed.header["format"] == 1
    assert packed.header["kind"] == "runs"
    assert packed.header["title"] == run["name"] == "fast-top"
    assert (run["failed"], run["free"], run["drawn"]) == (False, False, "box")
    assert run["inertia"] == [5, 0, 0, 0, 5, 0, 0, 0, 1]
    assert run["turns"] == pytest.approx(3 * 50 / (2 * np.pi), rel=1e-3)
    assert 0.25 < packed.header["speed"] * 50 / (2 * np.pi) <= 0.5  # turns a second
    assert run["trail"] == pytest.approx(8 * 2 * np.pi / 50, rel=1e-3)
    assert run["points"] == [[0, 0, 1.25 * run["reach"]]]
    t, q = field(packed, "t"), field(packed, "q")
    assert (t[0], t[-1]) == (0.0, 3.0)
    assert np.abs(np.linalg.norm(q, axis=1) - 1).max() < 1e-4
    assert len(t) == len(q) == len(field(packed, "omega")) == len(field(packed, "torque"))


def test_the_corner_says_what_was_solved_and_kept(top):
    said = facts(pack(top, Options()))
    assert said["problem"] == "fast-top"
    assert said["method"] == f"{top.method}, dt = 0.001 s"
    assert said["states"] == "3001, t = 0 to 3 s"
    assert said["ended"] == "success"
    change = np.abs(top.energy / top.energy[0] - 1).max()
    assert said["energy"] == f"kept to {change:.0e}"
    assert said["momentum along z"].startswith("kept to ")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (0.0, "kept exactly"),
        (3e-14, "kept to 3e-14"),
        (0.12, "changes by 12 %"),
        (3e29, "changes 3e+29-fold"),
        (np.nan, "not known"),
    ],
)
def test_what_is_kept_in_words(change, text):
    assert curves.kept(change) == text


def test_a_failed_run_is_shown_as_far_as_it_came():
    asked = {"method": "extrapolation", "rtol": 1e-10, "max_steps": 5}
    run = ph.solve(ph.problems.fast_top(), (0, 10), **asked)
    packed = pack(run, Options())
    assert not run.success
    assert packed.header["runs"][0]["failed"]
    assert facts(packed)["ended"] == f"{run.status.name}: {run.message}"
    assert facts(packed)["method"] == "extrapolation, rtol = 1e-10"
    assert field(packed, "t")[-1] == run.t[-1] < 1


# ---- torque
def test_the_torque_is_that_of_gravity(top):
    """About the fixed point: -20 e_3 × e_z in inertial axes, with body axis 3."""
    packed = pack(top, Options())
    t, torque = field(packed, "t"), field(packed, "torque")
    rows = np.abs(top.t[:, None] - t).argmin(axis=0)
    axis = Rotation.from_quat(top.q[rows], scalar_first=True).apply([0.0, 0.0, 1.0])
    exact = 20.0 * np.cross(axis, [0.0, 0.0, -1.0])
    assert np.abs(torque - exact).max() < 2e-3 * np.abs(exact).max()


def test_the_torque_of_a_run_from_a_file_is_that_of_the_momentum(top, tmp_path):
    loaded = ph.load(top.save(tmp_path / "top.nc"))
    assert loaded.angular_acceleration is None
    here, there = pack(top, Options()), pack(loaded, Options())
    assert field(here, "t").tolist() == field(there, "t").tolist()
    own, found = field(here, "torque"), field(there, "torque")
    assert np.abs(own - found)[1:-1].max() < 2e-3 * np.abs(own).max()


def test_a_falling_body_without_torque_is_free(racket):
    packed = pack(racket, Options())
    (run,) = packed.header["runs"]
    assert run["free"]
    assert run["torque"] is None
    assert run["ground"]["height"] == pytest.approx(racket.x[:, 2].min() - run["reach"])


# ---- the path
def test_the_path_is_that_of_a_thrown_body(racket):
    packed = pack(racket, Options())
    path = packed.header["runs"][0]["path"]
    t, x = array(packed, path["t"], "f8"), array(packed, path["x"], "f4", 3)
    v = array(packed, path["v"], "f4", 3)
    start, speed = racket.x[0], racket.v[0]
    exact = start + np.outer(t, speed) + np.outer(t**2, [0, 0, -9.80665 / 2])
    extent = np.ptp(racket.x, axis=0).max()
    assert np.abs(path["origin"] + x - exact).max() < 1e-4 * extent
    assert np.abs(v - speed - np.outer(t, [0, 0, -9.80665])).max() < 1e-3 * np.abs(v).max()


def test_a_body_at_a_fixed_point_has_no_path_and_no_ground(top):
    (run,) = pack(top, Options()).header["runs"]
    assert run["path"] is None
    assert run["ground"] is None


# ---- curves
def test_curves_keep_the_least_and_largest_of_each_bucket(top):
    packed = pack(top, Options())
    names = [one["name"] for one in packed.header["runs"][0]["series"]]
    assert names == ["rates", "energy", "momentum", "drift"]
    about, t, lines = series(packed, "rates")
    assert (about["unit"], about["labels"]) == ("rad/s", ["ω1", "ω2", "ω3"])
    assert len(t) == 2 * curves.BUCKETS
    assert (t[0], t[-1]) == (0.0, 3.0)
    assert (np.diff(t) >= 0).all()
    for k, line in enumerate(lines[:2]):
        size = np.ptp(top.omega[:, k])
        assert line.max() == pytest.approx(top.omega[:, k].max(), abs=1e-3 * size)
        assert line.min() == pytest.approx(top.omega[:, k].min(), abs=1e-3 * size)


def test_a_peak_of_one_row_survives():
    t = np.linspace(0.0, 1.0, 100_000)
    values = np.zeros_like(t)
    values[70_123] = 1.0
    times, (line,) = curves.Curve("a", "", ["a"], t, [values]).thinned()
    assert line.max() == 1.0
    assert abs(times[line.argmax()] - t[70_123]) < 1 / curves.BUCKETS


def test_gaps_stay_gaps_and_short_curves_stay_whole():
    values = np.array([1.0, np.nan, 2.0, np.inf])
    times, (line,) = curves.Curve("a", "", ["a"], [3.0, 2.0, 1.0, 0.0], [values]).thinned()
    assert times.tolist() == [0, 1, 2, 3]
    assert np.isnan(line[[0, 2]]).all()
    assert line[[1, 3]].tolist() == pytest.approx([2, 1], abs=1e-3)


def test_a_thinned_line_has_no_teeth():
    t = np.linspace(0, 2 * np.pi, 20_001)
    times, (line,) = curves.Curve("a", "", ["a"], t, [np.cos(t)]).thinned()
    assert len(line) < 5000
    falling, rising = line[times < 3.1], line[times > 3.2]
    assert (np.diff(falling) <= 0).all()
    assert (np.diff(rising) >= 0).all()


def test_the_drift_is_relative_and_has_a_floor(top):
    about, _, (energy, _) = series(pack(top, Options()), "drift")
    assert about["log"]
    exact = np.abs(top.energy / top.energy[0] - 1).max()
    assert energy.max() == pytest.approx(exact, rel=0.01)
    assert energy.min() == pytest.approx(1e-17, rel=0.01)


# ---- several runs
def test_runs_are_named_by_what_tells_them_apart(top):
    problem = ph.problems.fast_top()
    a, b = (ph.solve(problem, (0, 1), dt=dt, method="strang") for dt in (0.01, 0.001))
    c = ph.solve(problem, (0, 1), dt=0.01, method="akw")

    def names(*runs):
        return [run["name"] for run in pack(list(runs), Options()).header["runs"]]

    assert names(a) == ["fast-top"]
    assert names(a, b) == ["dt = 0.01", "dt = 0.001"]
    assert names(a, c) == ["strang", "akw"]
    assert names(a, a) == ["1: fast-top", "2: fast-top"]
    assert names(b, c) == ["strang, dt = 0.001", "akw, dt = 0.01"]


def test_the_angle_apart_is_that_of_the_runs():
    problem = ph.problems.fast_top()
    a = ph.solve(problem, (0, 1), dt=0.002, method="strang")
    b = ph.solve(problem, (0, 1), dt=0.002, method="akw")
    c = ph.solve(problem, (0, 2), dt=0.003, method="akw")
    packed = pack([a, b, c], Options(layout="ghosts"))
    assert packed.header["layout"] == "ghosts"
    exact = (a.rotation.inv() * b.rotation).magnitude()
    _, t, (angle,) = series(packed, "angle apart", 1)
    assert angle[-1] == pytest.approx(exact[-1], rel=0.01)
    assert t[-1] == 1.0
    _, t, (angle,) = series(packed, "angle apart", 2)
    assert t[-1] <= 1.0
    exact = (a.rotation[-1].inv() * c.sol(1.0).rotation[0]).magnitude()
    assert angle[-1] == pytest.approx(exact, rel=0.01)


def test_runs_of_one_body_share_its_surface():
    body = ph.RigidBody.from_shapes(ph.shapes.sphere(1.0, mass=1.0))
    runs = [ph.solve(ph.Problem(body, omega=[0, w, 1]), (0, 1), dt=0.1) for w in (1, 2)]
    packed = pack(runs, Options())
    first, second = (run["geometry"] for run in packed.header["runs"])
    assert first == second
    assert packed.header["runs"][0]["drawn"] == "shapes"


# ---- solids
def volume(vertices, faces):
    """The enclosed volume: positive if faces look outward."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


@pytest.mark.parametrize("inertia", [[5.0, 5.0, 1.0], [[2, 0.3, 0], [0.3, 3, -0.1], [0, -0.1, 4]]])
def test_the_box_has_the_inertia_of_the_body(inertia):
    body = ph.RigidBody(inertia, mass=2.5)
    run = ph.solve(ph.Problem(body, omega=[0, 0, 1]), (0, 1), dt=0.1)
    solid = solids.solid_of(run, None, 100)
    assert solid.drawn == "box"
    made = ph.RigidBody.from_mesh((solid.vertices, solid.faces), mass=2.5)
    assert volume(solid.vertices, solid.faces) > 0
    assert np.allclose(made.inertia, body.inertia, atol=1e-2 * body.inertia.max())


def test_a_disc_and_a_rod_get_thin_boxes():
    for inertia in ([1.0, 1.0, 2.0], [1.0, 1.0, 0.0]):
        run = ph.solve(ph.Problem(ph.RigidBody(inertia), omega=[1, 0, 0]), (0, 1), dt=0.1)
        solid = solids.solid_of(run, None, 100)
        assert volume(solid.vertices, solid.faces) > 0
        assert np.isfinite(solid.vertices).all()


def test_a_mesh_is_drawn_about_the_centre_of_mass():
    """A box of 1, 2 and 3 m whose coordinates have another origin."""
    corners = solids.CORNERS * [0.5, 1.0, 1.5] + [7.0, -2.0, 1.0]
    body = ph.RigidBody.from_mesh((corners, solids.SIDES), mass=6.0)
    run = ph.solve(ph.Problem(body, omega=[0, 0, 1]), (0, 1), dt=0.1)
    packed = pack(run, Options())
    (entry,) = packed.header["runs"]
    assert entry["drawn"] == "mesh"
    assert entry["reach"] == pytest.approx(14**0.5 / 2)
    vertices = array(packed, entry["geometry"]["vertices"], "f4", 3)
    assert np.abs(vertices).max(axis=0) == pytest.approx([0.5, 1.0, 1.5], abs=1e-3)


def sphere(n):
    """A fine sphere of 2 n² faces."""
    u, v = np.meshgrid(
        np.linspace(0, np.pi, n + 1), np.linspace(0, 2 * np.pi, n + 1), indexing="ij"
    )
    vertices = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], axis=-1)
    k = np.arange(n * (n + 1)).reshape(n, n + 1)[:, :-1].ravel()
    faces = np.concatenate(
        [np.stack([k, k + n + 1, k + n + 2], 1), np.stack([k, k + n + 2, k + 1], 1)]
    )
    return vertices.reshape(-1, 3), faces


def test_a_million_faces_are_thinned():
    vertices, faces = sphere(708)
    assert len(faces) > 1e6
    few, kept = solids.thinned(vertices, faces, 20_000)
    assert 8000 < len(kept) <= 20_000
    assert kept.max() < len(few)
    assert np.abs(np.linalg.norm(few, axis=1) - 1).max() < 0.01
    assert volume(few, kept) == pytest.approx(4 / 3 * np.pi, rel=0.02)
    same = solids.thinned(vertices, faces[:100], 20_000)
    assert same[1] is not None
    assert len(same[1]) == 100


def test_thinning_ends_even_for_faces_that_nothing_joins():
    random = np.random.default_rng(3)
    few, kept = solids.thinned(random.normal(size=(3000, 3)), np.arange(3000).reshape(-1, 3), 50)
    assert len(kept) <= 50
    assert len(few)
    assert len(solids.thinned(np.zeros((9, 3)), np.arange(9).reshape(3, 3), 2)[1]) == 0


@pytest.mark.parametrize(
    ("make", "name", "unit"),
    [
        ("rigid_earth_model", "Earth", "sidereal days"),
        ("rigid_moon_model", "Moon", "sidereal months"),
    ],
)
def test_celestial_runs_are_globes(make, name, unit):
    problem = getattr(ph.celestial, make)()
    run = ph.solve(problem, (0, 3), dt=0.01)
    packed = pack(run, Options())
    (entry,) = packed.header["runs"]
    assert entry["drawn"] == "globe"
    assert entry["globe"]["name"] == name
    assert entry["reach"] == pytest.approx(entry["globe"]["radius"])
    assert packed.header["time"]["unit"] == unit
    units = [one["unit"] for one in entry["series"]]
    assert units == [f"rad/{unit[:-1]}", "", "", "relative"]
    vertices = array(packed, entry["geometry"]["vertices"], "f4", 3)
    faces = array(packed, entry["geometry"]["faces"], "u4", 3).astype(int)
    assert 0.9 < volume(vertices, faces) / (4 / 3 * np.pi * entry["reach"] ** 3) < 1
    plain = pack(run, Options(globe=False)).header["runs"][0]
    assert (plain["drawn"], plain["globe"]) == ("box", None)


def test_the_real_moon_has_its_radius():
    pytest.importorskip("jplephem")
    run = ph.solve(ph.celestial.moon("2000-01-01"), (0, 86400.0), dt=3600.0)
    (entry,) = pack(run, Options()).header["runs"]
    assert entry["globe"] == {"name": "Moon", "radius": 1.7374e6}


def test_the_moon_in_layers_is_a_globe():
    pytest.importorskip("jplephem")
    moon = ph.celestial.layered_moon(2440400.5, model="layered")
    run = moon.solve((0, 86400.0))
    packed = pack(run, Options())
    assert packed.header["title"] == moon.name
    assert packed.header["runs"][0]["globe"] == {"name": "Moon", "radius": 1.7374e6}


def test_a_motion_without_a_body_is_a_brick():
    run = ph.integrate_angular_velocity(lambda t: (0.0, 0.3, 1.0), (0, 5), frame="body")
    packed = pack(run, Options())
    (entry,) = packed.header["runs"]
    assert entry["inertia"] is None
    assert entry["drawn"] == "box"
    assert "brick" in packed.header["notes"][0]
    assert [one["name"] for one in entry["series"]] == ["rates"]


# ---- options
def test_options_reach_the_header(top):
    options = Options(
        names="top", points=[[0, 0, 1], [1, 0, 0]], show={"trail": False, "torque": True},
        theme="dark", title="A top", globe="Earth",
    )  # fmt: skip
    packed = pack(top, options)
    (run,) = packed.header["runs"]
    assert (run["name"], packed.header["title"]) == ("top", "A top")
    assert run["points"] == [[0, 0, 1], [1, 0, 0]]
    assert packed.header["theme"] == "dark"
    assert packed.header["show"]["trail"] is False
    assert packed.header["show"]["torque"] is True
    assert packed.header["show"]["body"] is True
    assert run["globe"]["name"] == "Earth"
    assert pack(top, Options(points=[1, 2, 3])).header["runs"][0]["points"] == [[1, 2, 3]]
    assert pack(top, Options(points=[])).header["runs"][0]["points"] == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"theme": "blue"}, ["theme", "'blue'", "auto, light, dark"]),
        ({"layout": "grid"}, ["layout", "'grid'", "side, ghosts"]),
        ({"names": ["a", "b"]}, ["names", "1 texts", "['a', 'b']"]),
        ({"names": [3]}, ["names", "[3]"]),
        ({"tolerance": 0}, ["tolerance", "positive", "0"]),
        ({"tolerance": 1e-9}, ["tolerance", "1e-06 to 1 radian", "1e-09"]),
        ({"tolerance": "x"}, ["tolerance", "'x'"]),
        ({"show": ["body"]}, ["show", "switches", "['body']"]),
        ({"show": {"wheel": True}}, ["show", "'wheel'", "poinsot"]),
        ({"points": [[1, 2]]}, ["points", "three numbers", "[1, 2]"]),
        ({"points": 3}, ["points", "3"]),
        ({"points": [[1, 2, np.nan]]}, ["points", "finite"]),
        ({"title": 3}, ["title", "3"]),
        ({"globe": "Mars"}, ["globe", "'Mars'", "'Moon'"]),
        ({"globe": ["Moon"]}, ["globe", "['Moon']"]),
    ],
)
def test_bad_options_are_named(top, options, words):
    with pytest.raises(ph.InputError) as raised:
        pack(top, Options(**options))
    for word in words:
        assert word in str(raised.value)


@pytest.mark.parametrize("runs", [[], [None], "run.nc", 3])
def test_other_things_than_runs_are_refused(runs):
    with pytest.raises(ph.InputError, match="runs must be"):
        pack(runs, Options())


def test_too_many_runs_and_empty_runs_are_refused(top):
    with pytest.raises(ph.InputError, match=r"one to 16 trajectories, got 17.*solve_ensemble"):
        pack([top] * 17, Options())
    with pytest.raises(ph.InputError, match="a run of 0 states"):
        pack(top[:0], Options())
