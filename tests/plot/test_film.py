"""Films: decoded again, and compared with projections that are computed here."""

import io
import re
import stat
import subprocess
import sys
from types import SimpleNamespace

import imageio_ffmpeg
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.textpath import TextPath
from PIL import Image, ImageSequence
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import plot
from polhode.plot import film, motion, solid, style, video
from polhode.plot.stage import Arrow

BODY = ph.RigidBody([1.0, 2.0, 2.5])
SMALL = 160, 120
SUFFIXES = ".mp4", ".webm", ".gif", ".webp", ".png"


@pytest.fixture(scope="module")
def free():
    return ph.exact_free_motion(BODY, None, [0.3, 1.0, 0.2], np.linspace(0, 2, 21))


def decoded(path):
    """The frames of a film, (n, height, width, 3), and how long it lasts."""
    if path.suffix in (".mp4", ".webm"):
        ask = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo"]
        done = subprocess.run([*ask, "-pix_fmt", "rgb24", "-"], capture_output=True, check=True)
        said = done.stderr.decode()
        hours, minutes, seconds = re.search(r"Duration: (\d+):(\d+):([\d.]+)", said).groups()
        wide, high = (int(n) for n in re.search(r"Video: .*?, (\d+)x(\d+)", said).groups())
        frames = np.frombuffer(done.stdout, np.uint8).reshape(-1, high, wide, 3)
        return frames, 3600 * int(hours) + 60 * int(minutes) + float(seconds)
    with Image.open(path) as picture:
        lasting, frames = 0, []
        for frame in ImageSequence.Iterator(picture):
            frames.append(np.asarray(frame.convert("RGB")))
            lasting += frame.info["duration"]
        return np.array(frames), lasting / 1000


# ---- files
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_film_decodes_to_its_frames(suffix, free, tmp_path):
    done = []
    path = free.animate(
        tmp_path / f"film{suffix}",
        fps=10,
        speed=2.0,
        views="body",
        size=SMALL,
        progress=done.append,
    )
    assert [file.name for file in tmp_path.iterdir()] == [f"film{suffix}"]
    found, lasting = decoded(path)
    assert found.shape == (11, 120, 160, 3)
    assert lasting == pytest.approx(1.1, abs=0.02)
    plan = film.make_plan(free, path, fps=10, speed=2.0, views="body", size=SMALL)
    frames = film.Frames(free, plan)
    for k in (0, 5, 10):
        expected = frames[k][:, :, :3].astype(float)
        off = np.abs(found[k] - expected)
        assert off.mean() < 6, k  # compressed, with half the colours of a video
        assert np.abs(found[k] - frames[(k + 5) % 11][:, :, :3]).mean() > 1.2 * off.mean(), k
    assert done == sorted(done)
    assert done[-1] == 1.0


def test_colours_survive_the_way_through_ffmpeg(free, tmp_path):
    plan = {"fps": 5, "speed": 2.0, "views": "body", "size": SMALL, "theme": "dark"}
    found, _ = decoded(free.animate(tmp_path / "film.mp4", **plan))
    ground = 255 * np.array(to_rgb(style.DARK.ground))
    assert np.abs(found[:, 60, 3] - ground).max() < 4


@pytest.mark.parametrize(("suffix", "size"), [(".mp4", (162, 122)), (".webp", (161, 121))])
def test_videos_have_even_sizes(suffix, size, free, tmp_path):
    path = free.animate(tmp_path / f"f{suffix}", fps=2, speed=2.0, views="body", size=(161, 121))
    assert decoded(path)[0].shape[1:3] == size[::-1]


def test_the_smallest_film_is_drawn(free, tmp_path):
    views = ("body", "poinsot", "body", "poinsot")
    path = free.animate(tmp_path / "f.webp", fps=2, speed=2.0, views=views, size=(32, 32))
    assert decoded(path)[0].shape == (3, 32, 32, 3)


def test_durations_of_a_gif_do_not_drift(free, tmp_path):
    """Its unit is 10 ms, and a frame of 30 per second is no multiple of it."""
    path = free.animate(tmp_path / "f.gif", fps=30, speed=2.0, views="body", size=(48, 36))
    assert decoded(path)[1] == pytest.approx(31 / 30, abs=0.006)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_film_that_fails_leaves_nothing(suffix, error, free, tmp_path, monkeypatch):
    target = tmp_path / f"film{suffix}"
    target.write_text("the old one")
    drawn = film.Frames.__getitem__

    def broken(self, place):
        if place == 7:
            raise error("in the middle")
        return drawn(self, place)

    monkeypatch.setattr(film.Frames, "__getitem__", broken)
    with pytest.raises(error, match="in the middle"):
        free.animate(target, fps=10, speed=2.0, views="body", size=SMALL)
    assert [file.name for file in tmp_path.iterdir()] == [target.name]
    assert target.read_text() == "the old one"


def test_ffmpeg_is_that_on_the_path_or_that_of_the_extra(free, tmp_path, monkeypatch):
    monkeypatch.setattr(video.shutil, "which", lambda name: f"/somewhere/{name}")
    assert video.ffmpeg() == "/somewhere/ffmpeg"
    monkeypatch.setattr(video.shutil, "which", lambda name: None)
    assert video.ffmpeg() == imageio_ffmpeg.get_ffmpeg_exe()
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    message = r"need ffmpeg.*on PATH, or pip install 'polhode\[video\]'; .gif, .webp and .png"
    with pytest.raises(ph.InputError, match=message):
        free.animate(tmp_path / "film.mp4")
    assert list(tmp_path.iterdir()) == []
    assert free.animate(tmp_path / "f.webp", fps=2, speed=2.0, views="tilt", size=SMALL).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for ffmpeg")
def test_the_words_of_ffmpeg_reach_the_user(free, tmp_path, monkeypatch):
    fake = tmp_path / "ffmpeg"
    fake.write_text("#!/bin/sh\necho 'Unknown encoder libx264' >&2\nexit 8\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(video.shutil, "which", lambda name: str(fake))
    with pytest.raises(ph.FileError, match=r"ffmpeg .* exit code 8: Unknown encoder libx264"):
        free.animate(tmp_path / "film.mp4", size=SMALL, views="body")
    assert [file.name for file in tmp_path.iterdir()] == ["ffmpeg"]


def test_a_webp_draws_each_frame_once_and_keeps_none(free, tmp_path, monkeypatch):
    drawn = []
    original = film.Frames.__getitem__
    monkeypatch.setattr(
        film.Frames, "__getitem__", lambda self, k: drawn.append(k) or original(self, k)
    )
    free.animate(tmp_path / "f.webp", fps=10, speed=2.0, views="body", size=SMALL)
    assert drawn == list(range(11)) or drawn == [*range(11), 0]  # Pillow ends where it began


# ---- arguments
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fps": 0}, "fps must be a positive number, at most 240, got 0"),
        ({"fps": "fast"}, "fps must be a positive number.*got 'fast'"),
        ({"speed": -1}, "speed must be a positive number, got -1"),
        ({"speed": np.nan}, "speed must be a positive number, got nan"),
        ({"speed": 1e-9}, r"5e\+10 frames, more than 20000.*give speed=0.0025 or more"),
        ({"speed": 1e9}, "2 s of motion in less than a frame; give a smaller one, such as speed=0"),
        ({"views": "head"}, "views must be some of body, tilt, .*got 'head'"),
        ({"views": ()}, "views must be one to 4 names, got 0"),
        ({"views": ("body",) * 5}, "views must be one to 4 names, got 5"),
        ({"size": (10, 100)}, r"size must be a width and a height .* got \(10, 100\)"),
        ({"size": 480}, "size must be a width and a height"),
        ({"size": (1e5, 1e5)}, "size must be a width and a height"),
        ({"dpi": 0}, "dpi must be a positive number, at most 2000, got 0"),
        ({"dpi": 1}, "dpi must be 12 or more, .*got 1"),
        ({"theme": "noir"}, "theme must be 'light' or 'dark'"),
        ({"path": "film.avi"}, r"path must end in one of \.mp4, .*got 'film.avi'"),
        ({"path": "film.gif", "fps": 60}, "fps must be a positive number, at most 50, got 60"),
        ({"path": "f.png", "size": (2000, 2000)}, "would take 1.6 GB of memory.*write .webp"),
        ({"views": "position"}, "needs a body with a position"),
    ],
)
def test_bad_arguments_are_named(options, message, free, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = {"path": "film.webp", **options}
    with pytest.raises(ph.InputError, match=message):
        free.animate(**options)
    assert list(tmp_path.iterdir()) == []


def test_runs_that_cannot_be_filmed(free, tmp_path):
    for run in (free[:1], free[[3, 1, 2]]):
        with pytest.raises(ph.InputError, match="two or more states, in the order of their times"):
            run.animate(tmp_path / "film.webp")
    with pytest.raises(ph.FileError, match="no directory"):
        free.animate(tmp_path / "nowhere" / "film.webp")
    (tmp_path / "taken.webp").mkdir()
    with pytest.raises(ph.FileError, match="cannot write the film"):
        free.animate(tmp_path / "taken.webp", fps=2, speed=2.0, views="tilt", size=SMALL)
    still = ph.exact_free_motion(BODY, None, [0, 0, 0], [0, 1])
    with pytest.raises(ph.InputError, match=r"'poinsot' is for a rotating body, .* at rest"):
        still.animate(tmp_path / "film.webp", views="poinsot")


@pytest.mark.parametrize(
    ("rate", "span", "lasting"), [(1.0, 6 * np.pi, 6.0), (0.01, 10, 4.0), (50.0, 100, 10.0)]
)
def test_the_usual_speed(rate, span, lasting, tmp_path):
    """Three turns at two seconds each; hardly any; far too many."""
    run = ph.exact_free_motion(BODY, None, [rate, 0, 0], np.linspace(0, span, 11))
    plan = film.make_plan(run, tmp_path / "f.webp")
    assert span / plan.speed == pytest.approx(lasting)
    assert len(plan.times) == round(25 * lasting) + 1
    assert (plan.times[0], plan.times[-1]) == (0, pytest.approx(span))
    assert plan.views == ("body", "rates")
    assert plan.size == (960, 480)


# ---- what is seen
def camera(elevation=20.0, azimuth=35.0):
    """The axes of the eye by rotations: about z to the azimuth, then up; x looks at the eye."""
    turned = Rotation.from_euler("ZY", [azimuth, -elevation], degrees=True).as_matrix()
    return turned[:, [1, 2]]  # to the right, and up


def pixel(place, half, size):
    """Where a point in inertial axes is seen, (row, column), from the middle of the frame."""
    wide, high = size
    right, up = np.asarray(place) @ camera()
    scale = 0.5 * min(wide, high) / half
    return 0.5 * high - scale * up, 0.5 * wide + scale * right


def has_colour(frame, place, colour, within=60):
    row, column = (round(float(x)) for x in place)
    patch = frame[row - 1 : row + 2, column - 1 : column + 2, :3].reshape(-1, 3)
    return np.abs(patch - 255 * np.array(to_rgb(colour))).sum(axis=1).min() < within


def test_the_tip_of_an_axis_is_where_it_must_be(tmp_path):
    size, half = (320, 240), np.sqrt(1.5**2 + 1.0**2 + 0.5**2)
    body = ph.RigidBody.from_shapes(ph.shapes.box((3.0, 2.0, 1.0), mass=2.0))
    run = ph.exact_free_motion(body, None, [0, 0, 1.0], np.linspace(0, 6, 7))
    frames = film.Frames(
        run, film.make_plan(run, tmp_path / "f.webp", fps=4, speed=1.0, views="body", size=size)
    )
    seen = 0
    for k in range(len(frames)):
        frame, angle = frames[k].astype(float), 0.25 * k
        direction = np.array([np.cos(angle), np.sin(angle), 0.0])
        towards = direction @ (np.cos(np.radians(35)), np.sin(np.radians(35)), 0)
        if not 0.0 < towards < 0.85:  # turned away, or seen from its tip
            continue
        seen += 1
        assert has_colour(frame, pixel(1.2 * half * direction, 1.8 * half, size), style.SKY), k
        beyond = pixel(1.30 * half * direction, 1.8 * half, size)
        assert not has_colour(frame, beyond, style.SKY), k
    assert seen >= 4


def test_a_body_in_flight_is_where_it_must_be(tmp_path):
    """The middle of the body's outline, which is symmetric, follows the centre of mass."""
    size, velocity = (320, 240), np.array([1.0, 2.0, 0.5])
    start = {"omega": (0.0, 0.4, 0.0), "position": (0, 0, 0), "velocity": velocity}
    body = ph.RigidBody.from_shapes(ph.shapes.box((1.6, 1.4, 1.2), mass=2.0))
    run = ph.solve(ph.Problem(body, **start), (0, 2), rtol=1e-9)
    plan = film.make_plan(run, tmp_path / "f.webp", fps=4, speed=1.0, views="body", size=size)
    with style.drawn_in("dark"):
        frames = film.Frames(run, plan)
    ends = np.array([[0, 0, 0], 2 * velocity]) @ camera()
    extent = np.abs(ends[1] - ends[0]).max()
    half = 0.5 * extent + 0.9 * 1.8 * np.sqrt(0.8**2 + 0.7**2 + 0.6**2)
    for k, t in enumerate(plan.times):
        with style.drawn_in("dark"):
            frame = frames[k][..., :3].astype(float)
        grey = (np.ptp(frame, axis=2) < 32) & (frame.mean(axis=2) > 100)
        grey[:30] = grey[-40:] = False  # the texts
        rows, columns = np.nonzero(grey)
        found = (rows.min() + rows.max()) / 2, (columns.min() + columns.max()) / 2
        expected = pixel(
            velocity * (t - 1.0), half, size
        )  # the middle of the path is in the middle
        assert np.abs(np.subtract(found, expected)).max() < 2.5, k


def test_dense_output_and_rows_show_the_same_film(tmp_path):
    run = ph.solve(ph.Problem(BODY, omega=[0.3, 1.0, 0.2]), (0, 8), t_eval=np.linspace(0, 8, 41))
    loaded = ph.load(run.save(tmp_path / "run.nc"))
    shown = [
        film.Frames(
            one,
            film.make_plan(one, tmp_path / "f.webp", fps=3, speed=2.0, views="body", size=SMALL),
        )[7].copy()
        for one in (run, loaded)
    ]
    assert np.abs(shown[0].astype(float) - shown[1]).mean() < 0.2


@pytest.mark.parametrize("theme", style.THEMES)
@pytest.mark.parametrize(
    "views", ["poinsot", ("trace", "rates"), ("polhode", "herpolhode", "drift")]
)
def test_every_view_moves_something(views, theme, free, tmp_path):
    with style.drawn_in(theme):
        plan = film.make_plan(free, tmp_path / "f.webp", views=views, size=(240, 120))
        frames = film.Frames(free, plan)
        first, last = frames[0].copy(), frames[len(frames) - 1].copy()
    assert np.abs(first.astype(float) - last).max() > 50
    corner = 255 * np.array(to_rgb(style.THEMES[theme].ground))
    assert np.array_equal(first[0, -1, :3], corner.round())


def test_the_cursor_is_at_the_present_time(free, tmp_path):
    plan = film.make_plan(free, tmp_path / "f.webp", views="tilt", size=(320, 240), speed=1.0)
    frames = film.Frames(free, plan)
    (view,) = frames.views
    for k in (0, 20, 50):
        frame = frames[k]
        column = round(view.ax.transData.transform((plan.times[k], 0))[0])
        middle = frame[60:180, column - 1 : column + 2, :3].astype(int).sum(axis=2).min(axis=1)
        assert np.median(middle) < 350  # dark all the way


def test_views_of_bodies_without_inertia_position_or_turns(tmp_path):
    given = ph.integrate_angular_velocity(lambda t: (0.1, t, 0.2), (0, 1), frame="body", atol=1e-6)
    still = ph.exact_free_motion(BODY, None, [0, 0, 0], [0, 1])
    rod = ph.exact_free_motion(ph.RigidBody([0, 1, 1]), None, [0, 1, 0.5], np.linspace(0, 1, 5))
    back = ph.exact_free_motion(BODY, None, [0.3, 1, 0.2], np.linspace(3, 0, 5))
    for run in (given, still, rod, back):
        path = run.animate(tmp_path / "f.webp", fps=2, speed=0.5, views="body", size=SMALL)
        assert decoded(path)[0].shape[0] > 1
    with pytest.raises(ph.InputError, match="'poinsot' needs a body"):
        given.animate(tmp_path / "g.webp", views="poinsot")


def test_a_film_without_a_body_has_no_momentum(tmp_path):
    """An orphaned letter L would stand in the middle of the picture."""
    run = ph.integrate_angular_velocity(lambda t: (0.1, t, 0.2), (0, 1), frame="body", atol=1e-6)
    frames = film.Frames(run, film.make_plan(run, tmp_path / "f.webp", views="body", size=SMALL))
    (view,) = frames.views
    assert "L" not in [part.get_text() for part in view.artists if hasattr(part, "get_text")]


@pytest.mark.parametrize("place", [20.0, 20.3, 20.5, 20.8])
def test_a_small_letter_keeps_its_stem(place):
    """An L of 7 pixels in a small frame has the ink of its outline, and is higher than wide."""
    sheet = Figure(figsize=(1, 1), dpi=54)
    canvas = FigureCanvasAgg(sheet)
    arrow = Arrow(sheet.add_axes((0, 0, 1, 1)), "L", "#000000", 0.03)
    sheet.axes[0].set(xlim=(0, 54), ylim=(0, 54))
    sheet.axes[0].set_axis_off()
    arrow.name.set_animated(False)
    arrow.name.set_position((place, 20.0))
    canvas.draw()
    ink = 1 - np.asarray(canvas.buffer_rgba())[..., 0] / 255
    rows, columns = np.nonzero(ink > 0.1)
    assert np.ptp(rows) > np.ptp(columns)
    x, y = TextPath((0, 0), "L", size=10 * 54 / 72).to_polygons()[0].T
    area = 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    assert ink.sum() == pytest.approx(area, rel=0.05)


def test_under_a_torque_the_plane_is_across_the_momentum_of_the_moment(tmp_path):
    """The plane stays below, the ellipsoid touches it, and the caption says which plane it is."""
    top = ph.solve(ph.problems.fast_top(), (0, 2), method="imidm", dt=1e-3)
    plan = film.make_plan(top, tmp_path / "f.webp", fps=5, speed=1.0, views="poinsot", size=SMALL)
    frames = film.Frames(top, plan)
    (view,) = frames.views
    assert "instantaneous plane" in [text.get_text() for text in view.ax.texts]
    there = top.sol(plan.times)
    scale = np.sqrt(top.body.principal_moments.min())
    for k in (0, 4, 10):
        frames[k]
        momentum = there.angular_momentum_inertial[k]
        down = view.eyes[k] @ momentum / np.linalg.norm(momentum) / scale
        assert np.allclose(down, view.camera @ [0, 0, -1] / scale, atol=1e-9)
        touch = there.rotation[k].apply(there.omega[k]) @ momentum / np.linalg.norm(momentum)
        depth = touch / np.sqrt(there.omega[k] @ there.angular_momentum[k])
        middle = view.plane.get_xy()[:4].mean(axis=0)
        assert np.allclose(middle, (view.camera @ [0, 0, -depth])[:2], atol=1e-9)
        outline = view.outline.get_ydata()
        assert outline.min() >= (view.camera @ [0, 0, -depth])[1] - 0.5 * view.half * scale


def test_a_body_at_rest_that_a_torque_turns_has_no_plane_at_first(tmp_path):
    pushed = ph.Problem(
        BODY, ph.models.torque(lambda t, q, omega, p: (1.0, 0.1, 0.2)), omega=[0, 0, 0]
    )
    run = ph.solve(pushed, (0, 2), method="mkrk:rk4", dt=0.01)
    plan = film.make_plan(run, tmp_path / "f.webp", fps=5, speed=1.0, views="poinsot", size=SMALL)
    frames = film.Frames(run, plan)
    (view,) = frames.views
    frames[0]
    assert not view.plane.get_visible()
    frames[10]
    assert view.plane.get_visible()


# ---- states between rows
@pytest.mark.parametrize(("rows", "most"), [(41, 5e-4), (21, 8e-3)])
def test_attitudes_between_rows(rows, most, tmp_path):
    """Against the closed form; with 21 rows the body makes 0.4 turns in a step."""
    omega = [0.3, 5.0, 0.8]
    t = np.linspace(0, 10, rows)
    loaded = ph.load(ph.exact_free_motion(BODY, None, omega, t).save(tmp_path / "run.nc"))
    times = np.linspace(0, 10, 333)
    found = motion.states(loaded, times)
    exact = ph.exact_free_motion(BODY, None, omega, times)
    turned = Rotation.from_quat(found.q, scalar_first=True).inv() * exact.rotation
    assert turned.magnitude().max() < 10 * most
    assert np.median(turned.magnitude()) < most
    assert np.allclose(found.momentum, exact.angular_momentum_inertial, rtol=1e-12)
    assert np.abs(found.omega - exact.omega).max() < 25 * most


def test_rows_that_are_turns_apart(tmp_path):
    t = np.linspace(0, 10, 5)
    run = ph.exact_free_motion(BODY, None, [0, 0, 7.0], t)  # 2.8 turns in a step
    loaded = ph.load(run.save(tmp_path / "run.nc"))
    times = np.linspace(0, 10, 101)
    turned = Rotation.from_quat(motion.states(loaded, times).q, scalar_first=True)
    expected = Rotation.from_rotvec(np.outer(7.0 * times, [0, 0, 1]))
    assert (turned.inv() * expected).magnitude().max() < 1e-12


def test_positions_between_rows(tmp_path):
    start = {"omega": (0, 1, 0), "position": (0, 0, 1), "velocity": (1, 0, 4)}
    problem = ph.Problem(BODY, ph.models.uniform_gravity(), **start)
    run = ph.solve(problem, (0, 1), t_eval=[0, 0.5, 1], rtol=1e-9)
    loaded = ph.load(run.save(tmp_path / "run.nc"))
    times = np.linspace(0, 1, 11)
    fall = np.stack([times, 0 * times, 1 + 4 * times - 0.5 * 9.80665 * times**2], axis=1)
    assert np.allclose(motion.states(loaded, times).x, fall, atol=0.01 * 0.25)


# ---- solids
def sphere_mesh(n=60):
    u, v = np.meshgrid(
        np.linspace(0, np.pi, n + 1)[1:-1], np.arange(n) * 2 * np.pi / n, indexing="ij"
    )
    rings = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], axis=-1)
    vertices = np.vstack([rings.reshape(-1, 3), [[0, 0, 1], [0, 0, -1]]])
    place = np.arange((n - 1) * n).reshape(n - 1, n)
    a, b, c, d = place[:-1], place[1:], np.roll(place[1:], -1, 1), np.roll(place[:-1], -1, 1)
    faces = [np.stack(three, axis=-1).reshape(-1, 3) for three in ((a, b, c), (a, c, d))]
    top, bottom = len(vertices) - 2, len(vertices) - 1
    first, last = place[0], place[-1]
    faces.append(np.stack([np.full(n, top), first, np.roll(first, -1)], axis=1))
    faces.append(np.stack([last, np.full(n, bottom), np.roll(last, -1)], axis=1))
    return vertices, np.concatenate(faces)


def test_the_box_with_the_inertia_of_a_box():
    sides = np.array([3.0, 2.0, 1.0])
    body = ph.RigidBody.from_shapes(ph.shapes.box(sides, mass=2.0))
    assert np.allclose(solid.half_sides(body), sides / 2)
    made = solid.solid_of(body)
    assert made.reach == pytest.approx(np.linalg.norm(sides) / 2)
    for k in range(3):
        assert solid.exits(made, np.eye(3)[k]) == pytest.approx(sides[k] / 2)
    assert solid.exits(made, np.array([0.1, 0.1, -1.0])) == pytest.approx(0.5)


def test_long_triangles_are_split_and_cover_the_same_area():
    box = ph.RigidBody.from_shapes(ph.shapes.box((1.0, 0.6, 0.3), mass=1.0))
    made = solid.solid_of(box)
    sides = np.roll(made.polygons, -1, axis=1) - made.polygons
    assert np.linalg.norm(sides, axis=2).max() <= solid.LONGEST * made.reach
    assert len(made.polygons) <= solid.MOST_FACES
    normals = np.cross(sides[:, 0], sides[:, 1])
    assert 0.5 * np.linalg.norm(normals, axis=1).sum() == pytest.approx(2 * (0.6 + 0.3 + 0.18))
    assert np.einsum("ni,ni->n", made.polygons[:, 0], normals).sum() / 6 == pytest.approx(0.18)


def test_only_the_faces_towards_the_eye_are_seen_and_the_near_ones_last():
    cube = solid.solid_of(ph.RigidBody((1 / 6, 1 / 6, 1 / 6), mass=1.0))
    turn = Rotation.align_vectors([[0, 0, 1]], [[1, 1, 1]])[0].as_matrix()
    polygons, light = solid.seen(cube, turn)
    assert len(polygons) == 3
    assert ((light > 0) & (light <= 1)).all()
    x, y = polygons[..., 0], polygons[..., 1]
    areas = 0.5 * np.abs(np.sum(x * np.roll(y, -1, 1) - y * np.roll(x, -1, 1), axis=1))
    assert areas.sum() == pytest.approx(np.sqrt(3))  # of a hexagon
    shell = cube._replace(is_closed=False)
    polygons, _ = solid.seen(shell, np.eye(3))
    assert len(polygons) == 6
    square = np.abs(polygons[-1]).max(axis=1)
    assert np.allclose(square, 0.5)
    depths = [np.ptp(p[:, 0]) * np.ptp(p[:, 1]) for p in (polygons[0], polygons[-1])]
    assert np.allclose(depths, 1.0)  # the far face first, the near face last


def test_large_meshes_are_thinned_and_stay_closed():
    vertices, faces = sphere_mesh()
    assert len(faces) > 6000
    few_vertices, few = solid.fewer(vertices, faces, 1000)
    assert 300 < len(few) <= 1000
    assert np.abs(np.linalg.norm(few_vertices, axis=1) - 1).max() < 0.05
    whole, thin = solid.of_mesh(vertices, faces, 10_000), solid.of_mesh(vertices, faces, 1000)
    assert whole.is_closed
    assert thin.is_closed
    assert len(whole.polygons) == len(faces)
    inside_out = solid.of_mesh(vertices, faces[:, ::-1], 10_000)
    for made in (whole, inside_out):
        middle = made.polygons.mean(axis=1)
        assert (np.sum(middle * made.normals, axis=1) > 0.9).all()
    assert not solid.of_mesh(vertices, faces[1:], 10_000).is_closed


def test_the_geometry_of_a_body_is_drawn_about_its_centre_of_mass():
    vertices, faces = sphere_mesh(20)
    body = SimpleNamespace(
        geometry=SimpleNamespace(vertices=vertices + np.array([5, 0, 0]), faces=faces, kind="mesh"),
        centre=np.array([5.0, 0, 0]),
    )
    made = solid.solid_of(body)
    assert made.reach == pytest.approx(1.0)
    assert not made.has_edges


# ---- the command
def test_the_command_writes_a_film(polhode, tmp_path, free):
    free.save(tmp_path / "run.nc")
    options = ("--fps", 5, "--speed", 1.0, "--views", "body,tilt", "--size", "240x120")
    code, printed, error = polhode("film", "run.nc", "film.webp", *options, "--theme", "dark")
    assert code == 0, error
    found, lasting = decoded(tmp_path / "film.webp")
    assert found.shape == (11, 120, 240, 3)
    assert lasting == pytest.approx(2.2)
    assert found[0].mean() < 80
    assert "11 of 240 x 120 pixels, 5 per second" in printed
    code, printed, _ = polhode("film", "run.nc", "film.webp", *options, "--quiet")
    assert (code, printed) == (0, "")
    fast = ph.exact_free_motion(BODY, None, [0, 0, 900.0], np.linspace(0, 2, 21))
    fast.save(tmp_path / "fast.nc")
    _, printed, _ = polhode("film", "fast.nc", "fast.webp", *options)
    assert "turns from frame to frame" in " ".join(printed.split()) or "times from frame" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing.nc", "film.webp"), "nothing.nc"),
        (("run.nc", "film.avi"), "path must end in one of"),
        (("run.nc", "film.webp", "--size", "9"), "--size must be WIDTHxHEIGHT"),
        (("run.nc", "film.webp", "--views", "head"), "views must be some of"),
        (("run.nc", "film.webp", "--theme", "noir"), "theme must be 'light' or 'dark'"),
    ],
)
def test_bad_input_of_the_command(arguments, message, polhode, tmp_path, free):
    free.save(tmp_path / "run.nc")
    code, _, error = polhode("film", *arguments)
    assert code == 2
    assert message in error
    assert not (tmp_path / "film.webp").exists()


@pytest.mark.usefixtures("plain")
def test_films_of_all_problems_are_prepared(tmp_path):
    """A frame of every problem of the catalogue that starts without arguments."""
    shown = 0
    for name, entry in ph.problems.CATALOGUE.items():
        run = ph.solve(entry.make(), (0.0, 1e-3), method="mkrk:rk4", dt=2.5e-4)
        frames = film.Frames(run, film.make_plan(run, tmp_path / "f.webp", fps=2, size=(320, 120)))
        picture = Image.fromarray(frames[1][:, :, :3].copy())
        file = io.BytesIO()
        picture.save(file, "PNG")
        assert len(file.getvalue()) > 1000, name
        shown += 1
    assert shown > 5
    assert "body" in plot.views.NAMES
