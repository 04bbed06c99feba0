"""Ensembles packed for the viewer: sizes, errors of the packing, what is left out and said."""

import gzip
import json
import shutil
import subprocess
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.ensembles import store
from polhode.errors import InputError
from polhode.view import crowd
from polhode.view.colours import LEVELS, MISSING, palette, scale
from support.ensembles import FREE, HEAVY, solve_many

d = ph.distributions
CLOUD = Path(crowd.__file__).with_name("web") / "cloud.js"
TYPES = {
    "t": np.float64, "points": np.int16, "members": np.uint32, "values": np.uint8,
    "palette": np.uint8, "bodies": np.uint32,
}  # fmt: skip


def unpacked(packed, name, of=None):
    """The array that a header names."""
    offset, size = (packed.header["crowd"] if of is None else of)[name]
    assert offset % 8 == 0
    return np.frombuffer(packed.data, TYPES[name], size, offset)


def members_of(packed):
    return np.cumsum(unpacked(packed, "members"), dtype=np.uint32)


def points_of(packed):
    """The directions or positions of a packed ensemble, decoded by other formulas than its own."""
    about = packed.header["crowd"]
    width = 3 if about["box"] else 2
    shape = len(unpacked(packed, "t")), len(unpacked(packed, "members")), width
    code = unpacked(packed, "points").reshape(shape) / 32767.0
    if about["box"]:
        low, high = (np.array(about["box"][k]) for k in ("low", "high"))
        return low + (code + 1.0) * (high - low) / 2.0
    x, y = code[..., 0], code[..., 1]
    outside = np.abs(x) + np.abs(y) > 1.0
    a = np.where(outside, np.copysign(1.0 - np.abs(y), x), x)
    b = np.where(outside, np.copysign(1.0 - np.abs(x), y), y)
    v = np.stack([a, b, 1.0 - np.abs(x) - np.abs(y)], axis=-1)
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def angle(a, b):
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1))


@pytest.fixture(scope="module")
def tops():
    return solve_many()


@pytest.fixture(scope="module")
def flying():
    return ph.solve_ensemble(
        _thrown(), (0, 1), members=300,
        vary={"velocity": d.Normal([3.0, 0.0, 5.0], 0.5), "omega": d.OnSphere(2.0)},
        seed=3, method="mr2", dt=0.01, save=10,
    )  # fmt: skip


def _thrown():
    body = ph.RigidBody([1.0, 2.0, 2.5], mass=2.0)
    return ph.Problem(
        body, ph.models.uniform_gravity([0.0, 0.0, -9.81]), omega=[0.1, 0.2, 3.0],
        position=[10.0, 0.0, 1.0], velocity=[3.0, 0.0, 5.0], name="thrown",
    )  # fmt: skip


# ---- the code of directions and positions
def test_octahedral_error():
    v = np.random.default_rng(1).normal(size=(200_000, 3))
    corners = np.array(np.meshgrid([-1, 0, 1], [-1, 0, 1], [-1, 0, 1])).reshape(3, -1).T
    v = np.concatenate([v, corners[np.any(corners, axis=1)], v * 1e-200, v * 1e200])
    code = crowd.to_octahedron(v)
    assert code.dtype == np.int16
    size = np.abs(v).max(axis=1, keepdims=True)
    assert angle(v / size, crowd.from_octahedron(code)).max() < 1e-4


def test_octahedral_axes_are_exact():
    v = np.concatenate([np.eye(3), -np.eye(3)])
    np.testing.assert_array_equal(crowd.from_octahedron(crowd.to_octahedron(v)), v)


def test_no_direction():
    bad = np.array([[0, 0, 0], [np.nan, 0, 1], [np.inf, 0, 0]])
    assert (crowd.to_octahedron(bad) == crowd.NOTHING).all()
    assert np.isnan(crowd.from_octahedron(crowd.to_octahedron(bad))).all()


def test_directions_of_an_ensemble(tops):
    from scipy.spatial.transform import Rotation

    packed = crowd.pack(tops, where="axis", axis=(1.0, 2.0, 2.0))
    places = members_of(packed)
    assert len(places) == len(tops)
    np.testing.assert_array_equal(unpacked(packed, "t"), tops.t)
    turned = Rotation.from_quat(tops.q.reshape(-1, 4), scalar_first=True).apply(
        [1 / 3, 2 / 3, 2 / 3]
    )
    assert angle(points_of(packed).reshape(-1, 3), turned).max() < 1e-4
    for where, vectors in (
        ("momentum", tops.angular_momentum_inertial),
        ("momentum_body", tops.angular_momentum),
        ("omega_body", tops.omega),
    ):
        assert angle(points_of(crowd.pack(tops, where=where)), vectors).max() < 1e-4
    omega = Rotation.from_quat(tops.q.reshape(-1, 4), scalar_first=True).apply(
        tops.omega.reshape(-1, 3)
    )
    assert angle(points_of(crowd.pack(tops, where="omega")).reshape(-1, 3), omega).max() < 1e-4


def test_positions_of_an_ensemble(flying):
    packed = crowd.pack(flying, where="space")
    box = packed.header["crowd"]["box"]
    size = np.array(box["high"]) - np.array(box["low"])
    assert (np.abs(points_of(packed) - flying.x) <= 0.51 * size / 65534).all()
    assert packed.header["crowd"]["between"] == "linear"


def test_positions_that_stray_are_left_out_and_counted():
    x = np.random.default_rng(1).normal(size=(1, 1000, 3))
    x[0, 17] = 1e6
    low, high = crowd.box_around(x)
    assert (high < 10).all()
    assert (low > -10).all()
    code = crowd.to_box(x, low, high)
    assert (code[0, 17] == crowd.NOTHING).all()
    flat = np.zeros((1, 5, 3))
    flat[0, :, 0] = np.arange(5)
    low, high = crowd.box_around(flat)
    assert (high > low).all()
    assert (crowd.to_box(flat, low, high) != crowd.NOTHING).all()


# ---- how much is shown
def test_thinning():
    room = 0.75 * (2e6 - crowd.PAGE)
    assert crowd.thin(1000, 50, room, (4, 2)) == (1000, 50)  # all
    assert crowd.thin(100_000, 1, room, (4, 2)) == (100_000, 1)  # all members, one time
    members, frames = crowd.thin(100_000, 100, room, (4, 2))
    assert frames == 24
    assert members * (frames * 4 + 2) <= room < (members + 1) * (frames * 4 + 2)
    assert crowd.thin(500, 100_000, room, (4, 2))[0] == 500  # few members: many times
    assert crowd.thin(100_000, 100, room, (4, 2), (100_000, None)) == (100_000, 2)
    assert crowd.thin(100_000, 100, room, (4, 2), (None, 100))[1] == 100
    assert crowd.thin(100_000, 100, room, (4, 2), (2000, 5)) == (2000, 5)
    with pytest.raises(InputError, match=r"100000 members at 100 times take about .*budget=2e\+06"):
        crowd.thin(100_000, 100, room, (4, 2), (100_000, 100))


@pytest.mark.parametrize(("total", "some"), [(10, 10), (100_000, 14_230), (7, 2), (1, 1), (9, 1)])
def test_evenly_spaced(total, some):
    found = crowd.spread(total, some)
    assert len(np.unique(found)) == some
    assert found[-1] == total - 1
    assert some == 1 or found[0] == 0
    assert some < 3 or np.ptp(np.diff(found)) <= 1


class Many:
    """A result of 100 000 members at 100 times that are made when they are read."""

    labelled, t_reduced, problem_data = {}, np.empty(0), {"name": "many", "model": "free"}
    varied_names, x = (), None

    def __init__(self, t=None, members=None):
        self.t = np.linspace(0.0, 9.9, 100) if t is None else t
        self.members = members = np.arange(100_000) if members is None else members
        self.status = (members % 1000 == 7).astype(int)
        self.t_reached = np.where(self.status, 5.0, 9.9)
        self.nsteps = self.niter = members

    def __len__(self):
        return len(self.members)

    def summary(self):
        return {"members": str(len(self))}

    def select(self, times, members):
        return Many(self.t[times], self.members[members])

    @property
    def q(self):
        noise = self.noise(4)
        noise[..., 0] += 8.0
        noise[self.t > 5.0, :, 0] = np.where(self.status, np.nan, noise[self.t > 5.0, :, 0])
        return noise / np.linalg.norm(noise, axis=-1, keepdims=True)

    @property
    def omega(self):
        return self.noise(3)

    def noise(self, width):
        """The same numbers for the same times, however they are read."""
        rows = [np.random.default_rng(int(1000 * t)) for t in self.t]
        return np.array([row.normal(size=(len(self), width)) for row in rows])


@pytest.mark.parametrize("options", [{}, {"members": 100_000}, {"budget": 1e6, "colour": "speed"}])
def test_budget_and_notes(options):
    packed = crowd.pack(Many(), **options)
    page = crowd.PAGE + len(gzip.compress(packed.data, 6)) / 0.75 + len(json.dumps(packed.header))
    assert page < options.get("budget", 2e6)
    shown = f"{crowd.count(len(members_of(packed)))} of 100 000 members"
    if "members" in options:
        shown = "100 000 members"
    frames = len(unpacked(packed, "t"))
    assert packed.header["notes"][0] == f"{shown}, {frames} of 100 times"
    assert page > 0.7 * options.get("budget", 2e6)  # the room is used


def test_members_that_failed():
    many = Many()
    packed = crowd.pack(many, members=2000)
    failed = packed.header["crowd"]["failed"]
    numbers = members_of(packed)
    bodies = unpacked(packed, "bodies", failed)
    np.testing.assert_array_equal(np.flatnonzero(many.status[numbers]), bodies)
    assert len(bodies) > 0
    assert (unpacked(packed, "t", failed) == 5.0).all()
    assert any(f"{len(bodies)} of those shown failed" in note for note in packed.header["notes"])
    code = unpacked(packed, "points").reshape(-1, 2000, 2)
    late = unpacked(packed, "t") > 5.0
    assert (code[late][:, bodies] == crowd.NOTHING).all()  # NaN in the states
    assert (code[~late] != crowd.NOTHING).all()


def test_deterministic():
    a, b = (crowd.pack(Many()) for _ in range(2))
    assert a.data == b.data
    assert a.header == b.header


def test_interrupted_runs():
    many = Many()
    many.status[50_000:] = -1
    packed = crowd.pack(many)
    assert members_of(packed).max() < 50_000
    assert "50 000 members were not run" in packed.header["notes"]
    many.status[:] = -1
    with pytest.raises(InputError, match="no members that were run"):
        crowd.pack(many)


# ---- between frames
def test_fast_points_jump():
    t = np.linspace(0.0, 1.0, 20)[:, None] + np.zeros(50)
    for turns, jumps in ((1.0, False), (5.0, True), (9.3, True)):
        at = 2 * np.pi * turns * t
        points = np.stack([np.cos(at), np.sin(at), 0 * at], axis=-1)
        assert crowd.moves_too_far(points, "axis") == jumps
        assert crowd.moves_too_far(points, "space") == jumps
    assert not crowd.moves_too_far(points[:1], "axis")
    assert not crowd.moves_too_far(np.full((3, 2, 3), np.nan), "axis")
    fast = ph.solve_ensemble(
        FREE, (0, 10), members=20, vary={"omega": d.OnSphere(9.0)}, seed=1, method="mr2", dt=0.01,
        save=[0.0, 5.0, 10.0],
    )  # fmt: skip
    packed = crowd.pack(fast)
    assert packed.header["crowd"]["between"] == "jump"
    assert any("jump from frame to frame" in note for note in packed.header["notes"])


# ---- colours
def lightness(rgb):
    """L* of CIELAB."""
    c = rgb / 255.0
    c = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    y = c @ [0.2126, 0.7152, 0.0722]
    return np.where(y > 216 / 24389, 116 * np.cbrt(y) - 16, 24389 / 27 * y)


def test_map_of_colours():
    rgb = palette().astype(float)
    assert rgb.shape == (LEVELS, 3)
    smooth = np.convolve(np.diff(lightness(rgb)), np.ones(16) / 16, "valid")
    assert smooth.min() > 0.5 * smooth.mean()
    assert smooth.max() < 1.5 * smooth.mean()
    # without green cones, after Machado, Oliveira and Fernandes (2009)
    blind = np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    )  # fmt: skip
    seen = np.clip(rgb / 255.0, 0, 1) ** 2.2 @ blind.T
    assert (np.diff(lightness(255 * np.clip(seen, 0, 1) ** (1 / 2.2))[::8]) > 0).all()


def test_scale():
    values = np.array([1.0, np.nan, 3.0, 2.0])
    found = scale(values)
    assert found[:2] == (1.0, 3.0)
    np.testing.assert_array_equal(found.levels(values), [0, MISSING, LEVELS - 1, 126])
    rng = np.random.default_rng(1)
    stray = np.append(rng.normal(size=1000), 1e22)
    found = scale(stray)
    assert -4 < found.low < found.high < 4
    assert found.beyond > 0
    assert scale(np.full(3, 2.0)).high > 2.0
    assert scale(np.zeros(3)).high > scale(np.zeros(3)).low
    assert scale(np.full(3, np.nan)) == (0.0, 1.0, 0)
    assert scale(values, (0.0, 2.0)) == (0.0, 2.0, 1)


def coloured(result, **options):
    packed = crowd.pack(result, **options)
    about = packed.header["crowd"]["colour"]
    level = unpacked(packed, "values", about).astype(float)
    step = (about["high"] - about["low"]) / (LEVELS - 1)
    return about, about["low"] + step * level, 0.51 * step


@pytest.mark.parametrize(
    ("colour", "unit", "expected"),
    [
        (None, "rad/s", lambda r: np.linalg.norm(r.varied("omega"), axis=1)),
        ("model.strength", "", lambda r: r.varied("model.strength")),
        ("omega_z", "rad/s", lambda r: r.varied("omega")[:, 2]),
        ("varied_inertia_y", "kg m²", lambda r: r.varied("inertia")[:, 1]),
        ("speed", "rad/s", lambda r: np.linalg.norm(r.omega, axis=-1)),
        ("|omega|", "rad/s", lambda r: np.linalg.norm(r.omega, axis=-1)),
        ("energy", "J", lambda r: r.energy),
        ("kinetic_energy", "J", lambda r: r.kinetic_energy),
        ("nsteps", "", lambda r: r.nsteps),
        ("tilt", "°", lambda r: np.degrees(2 * np.arcsin(np.hypot(r.q[..., 1], r.q[..., 2])))),
    ],
)  # fmt: skip
def test_colours_by_name(tops, colour, unit, expected):
    limits = None if colour is None else (-1000.0, 1000.0)
    about, values, error = coloured(tops, colour=colour, colour_range=limits)
    wanted = expected(tops)
    assert about["unit"] == unit
    assert about["each"] == ("frame" if wanted.ndim == 2 else "member")
    np.testing.assert_allclose(values, wanted.ravel(), atol=error, rtol=0)


def test_colours_by_reductions_and_arrays(tops):
    name = next(n for n, one in tops.labelled.items() if one.dims == ("member",))
    about, values, error = coloured(tops, colour=name)
    never = np.isnan(tops.reductions[name])
    np.testing.assert_allclose(values[~never], tops.reductions[name][~never], atol=error, rtol=0)
    own = np.arange(len(tops)) % 17
    about, values, error = coloured(tops, colour=own, colour_label="remainder")
    assert about["name"] == "remainder"
    np.testing.assert_allclose(values, own, atol=error, rtol=0)
    both = own * np.array([[1.0], [2.0], [3.0]])
    about, values, error = coloured(tops, colour=both)
    assert about["each"] == "frame"
    np.testing.assert_allclose(values, both.ravel(), atol=error, rtol=0)
    data = tops.to_xarray()["nsteps"]
    assert coloured(tops, colour=data)[0]["name"] == "nsteps"


def test_status_has_names():
    about, values, _ = coloured(Many(), colour="status", members=3000)
    assert about["ticks"][0] == [0.0, "ok"]
    assert len(about["ticks"]) == 2
    assert set(np.rint(values)) == {0.0, 1.0}


def test_series_of_reductions(tops):
    packed = crowd.pack(tops)
    series = {one["name"]: one for one in packed.header["crowd"]["series"]}
    assert {"speed", "energy", "speed quantiles", "omega mean"} <= set(series)
    one = series["speed"]
    assert one["labels"] == ["mean", "− σ", "+ σ"]
    offset, size = one["values"][0]
    line = np.frombuffer(packed.data, np.float32, size, offset)
    np.testing.assert_allclose(line, tops.reductions["speed_mean"], rtol=1e-6)


# ---- stores
def test_stores_are_read_by_parts(tmp_path, monkeypatch):
    """Threads of Zarr may still hold two or three parts, so these are small."""
    monkeypatch.setattr(store, "PIECE_BYTES", 2**21)
    monkeypatch.setattr(crowd, "BLOCK", 2**21)
    path = tmp_path / "many.zarr"
    asked = {"vary": {"omega": d.OnSphere(3.0)}, "seed": 1, "method": "mr2", "dt": 0.005}
    whole = ph.solve_ensemble(FREE, (0, 1), members=20_000, save=1, **asked)
    whole.save(path)
    stored = ph.load(path)
    options = {"budget": 4e5, "colour": "tilt"}
    tracemalloc.start()
    packed = crowd.pack(stored, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.25 * whole.q.nbytes  # of the attitudes alone
    assert packed.data == crowd.pack(whole, **options).data


# ---- refusals
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"where": "moon"}, "where must be one of axis, momentum"),
        ({"where": "space"}, "members do not move"),
        ({"axis": (0, 0, 0)}, "axis must be three numbers"),
        ({"axis": "z"}, "axis must be three numbers"),
        ({"axis": (1, 2)}, "axis must be three numbers"),
        ({"axis": (np.nan, 0, 1)}, "axis must be three numbers"),
        ({"colour": "weight"}, "colour must be an array, or one of tilt, speed"),
        ({"colour": np.arange(3)}, r"colour must have the shape \(members,\)"),
        ({"colour": object()}, "colour must be numbers or a name"),
        ({"colour_range": (1, 1)}, "colour_range must be two finite numbers"),
        ({"colour_range": 3}, "colour_range must be two finite numbers"),
        ({"members": 0}, "members must be a positive whole number, got 0"),
        ({"members": 2.5}, "members must be a positive whole number, got 2.5"),
        ({"frames": True}, "frames must be a positive whole number, got True"),
        ({"budget": 1000}, "budget must be a number of bytes above"),
        ({"budget": "much"}, "budget must be a number of bytes above"),
        ({"theme": "blue"}, "theme must be"),
    ],
)
def test_refusals(tops, options, message):
    with pytest.raises(InputError, match=message):
        crowd.pack(tops, **options)


def test_nothing_to_show():
    none = ph.solve_ensemble(
        HEAVY, (0, 0.1), members=5, vary={"omega": d.OnSphere(1.0)}, method="mr2", dt=0.02,
        save=None, reduce="mean(speed)", reduce_times=2,
    )  # fmt: skip
    with pytest.raises(InputError, match="no states to show: pass save="):
        crowd.pack(none)


def test_energy_without_potential():
    free = ph.solve_ensemble(
        FREE, (0, 0.1), members=5, vary={"omega": d.OnSphere(1.0)}, method="mr2", dt=0.02
    )
    if free.energy is None:
        with pytest.raises(InputError, match="use 'kinetic_energy'"):
            crowd.pack(free, colour="energy")


# ---- pages and files
def test_pages_and_commands(tops, tmp_path):
    from typer.testing import CliRunner

    from polhode.cli.main import app

    page = tops.save_html(tmp_path / "tops.html", colour="tilt")
    assert page.stat().st_size < 2e6
    whole = ph.view(tops, browser=False, colour="tilt")
    assert whole.read_text(encoding="utf-8") == page.read_text(encoding="utf-8")
    tops.save(tmp_path / "tops.zarr")
    asked = ["--html", str(tmp_path / "again.html"), "--where", "omega", "--colour", "speed"]
    found = CliRunner().invoke(app, ["view", str(tmp_path / "tops.zarr"), *asked])
    assert found.exit_code == 0, found.output
    assert (tmp_path / "again.html").stat().st_size > 5e4


def test_options_of_runs_and_of_ensembles(tops):
    with pytest.raises(InputError, match="names is an option for runs"):
        tops.view(names=["a"], browser=False)
    with pytest.raises(InputError, match="one ensemble alone"):
        ph.view([tops, tops], browser=False)
    run = ph.exact_free_motion(FREE.body, None, [1.0, 2.0, 3.0], np.linspace(0, 1, 11))
    with pytest.raises(InputError, match="where is an option for ensembles"):
        run.view(where="axis", browser=False)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_javascript_unpacks_the_same_directions():
    v = np.random.default_rng(2).normal(size=(2000, 3))
    code = crowd.to_octahedron(v)
    script = (
        f"import {{ fromOctahedron }} from {json.dumps(CLOUD.as_uri())};"
        f"const code = {json.dumps(code.tolist())};"
        "console.log(JSON.stringify(code.map(([x, y]) => fromOctahedron([0, 0, 0], x, y))));"
    )
    asked = ["node", "--input-type=module", "-"]
    told = subprocess.run(asked, input=script, capture_output=True, text=True, check=True)
    found = np.array(json.loads(told.stdout))
    np.testing.assert_allclose(found, crowd.from_octahedron(code), rtol=0, atol=1e-15)
    assert angle(found, v).max() < 1e-4
