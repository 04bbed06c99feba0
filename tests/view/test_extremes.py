"""What is out of the ordinary: sizes far from one, runs that fail, gravity that is not along z."""

import numpy as np
import pytest

import polhode as ph
from polhode.view.curves import span_text
from polhode.view.packing import Options, gravity_of, pack
from support.browser import picture, settle, show
from support.views import project

OMEGA = np.array([0.1, 3.0, 0.2])
BOX = ph.RigidBody.from_shapes(ph.shapes.box((0.6, 0.4, 0.3), mass=12.0))
SIZES = {"tiny": (1e-9, 1e-25), "huge": (1e9, 1e30)}  # m, kg


def scaled(name):
    """A box far from the size of a hand."""
    metre, mass = SIZES[name]
    shape = ph.shapes.box(tuple(metre * x for x in (0.6, 0.4, 0.3)), mass=12.0 * mass)
    return turning(ph.RigidBody.from_shapes(shape))


def turning(body, start=0.0, end=5.0):
    return ph.exact_free_motion(body, None, OMEGA, np.linspace(start, end, 301))


def thrown(gravity, position, velocity=(1.0, 0.0, 0.0)):
    model = ph.models.uniform_gravity(gravity)
    problem = ph.Problem(BOX, model, omega=OMEGA, position=position, velocity=velocity)
    return ph.solve(problem, (0, 1), dt=0.01)


# ---- sizes
@pytest.mark.parametrize("name", SIZES)
def test_curves_keep_their_numbers(name):
    run = scaled(name)
    header, data = pack(run, Options())
    (momentum,) = [s for s in header["runs"][0]["series"] if s["name"] == "momentum"]
    assert momentum["wide"]
    for (place, count), expected in zip(
        momentum["values"], run.angular_momentum_inertial[0], strict=True
    ):
        found = np.frombuffer(data, "<f8", count, place)
        np.testing.assert_allclose(found, expected, atol=1e-3 * abs(run.angular_momentum).max())


@pytest.mark.parametrize("name", SIZES)
def test_the_picture_is_that_of_any_box(page, tmp_path, name):
    show(page, turning(BOX).save_html(tmp_path / "box.html", show={"plots": False}))
    expected = picture(page).astype(int)
    show(page, scaled(name).save_html(tmp_path / "scaled.html", show={"plots": False}))
    apart = np.abs(picture(page).astype(int) - expected).max(axis=-1)
    assert (apart > 24).mean() < 2e-3  # lines of one pixel


def test_a_body_at_rest_has_curves_at_zero_of_ordinary_size(page, tmp_path):
    run = ph.exact_free_motion(BOX, None, np.zeros(3), np.linspace(0, 5, 11))
    show(page, run.save_html(tmp_path / "rest.html"))
    charts = page.evaluate("polhode.plots.charts.slice(0, 3).map(({ low, high }) => [low, high])")
    assert charts == [[-1, 1]] * 3


# ---- times
@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (0.0, 10.0, "0 to 10"),
        (0.0, 5184000.0, "0 to 5.184e+06"),
        (2451545.0, 2451550.0, "2451545 to 2451550"),
        (5.0, 5.0, "5 to 5"),
    ],
)
def test_times_are_told_apart(start, end, text):
    assert span_text(start, end) == text


def test_no_angle_is_printed_where_a_run_has_no_state(page, tmp_path):
    runs = [turning(BOX), turning(BOX, 0.0, 8.0)]
    show(page, ph.view.save_html(runs, tmp_path / "two.html", layout="ghosts"))
    texts = []
    for time in (4.0, 5.0, 5.5, 8.0):
        page.evaluate(f"polhode.seek({time})")
        settle(page)
        texts.append(page.locator(".ghosts div").nth(1).locator("span").text_content())
    assert [text.endswith("apart") for text in texts] == [True, True, False, False]


# ---- runs that fail
@pytest.mark.parametrize("size", [1e45, 1e160, 1e300, np.inf, np.nan])
def test_rows_beyond_all_measure_are_left_out(page, tmp_path, size):
    run = turning(BOX)
    omega = run.omega.copy()
    omega[-5:] *= size
    momentum = omega * np.diag(BOX.inertia)
    failed = ph.Trajectory(run.t, run.q, momentum, BOX, omega=omega, method="made", status=1)
    show(page, failed.save_html(tmp_path / "failed.html"))
    assert page.evaluate("polhode.end") == pytest.approx(run.t[-6])
    note = "5 of 301 states are not finite, and are left out"
    assert note in page.locator("details.corner").text_content()


# ---- six degrees of freedom
def test_ghosts_stand_where_they_are(page, tmp_path):
    runs = [thrown((0.0, 0.0, -9.81), (0.0, y, 5.0)) for y in (0.0, 2.0)]
    show(page, ph.view.save_html(runs, tmp_path / "two.html", layout="ghosts", theme="light"))
    page.evaluate("polhode.seek(0.5)")
    settle(page)
    places = page.evaluate("polhode.current[0].actors.map(({ mover }) => [...mover.place])")
    for place, run in zip(places, runs, strict=True):
        np.testing.assert_allclose(place, run.x[50] - runs[0].x[0], atol=1e-3)
    pane, camera = page.evaluate("[polhode.panes()[0], polhode.camera()]")
    seen = project(np.array(places), camera, pane)
    assert np.hypot(*(seen[1] - seen[0])) > 50
    corner, size = np.array([[pane["x"], pane["y"]], [pane["width"], pane["height"]]])
    assert ((seen > corner) & (seen < corner + size)).all()
    page.evaluate("polhode.setLayout('side')")  # each from its own origin again
    settle(page)
    places = page.evaluate(
        "polhode.current.flatMap(({ actors }) => actors ?? []).map(({ mover }) => [...mover.place])"
    )
    for place, run in zip(places, runs, strict=True):
        np.testing.assert_allclose(place, run.x[50] - run.x[0], atol=1e-3)


@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (9.81, 0, 0), (0, 0, 2.0), (0.1, -0.3, -2.0)])
def test_the_ground_lies_across_gravity(gravity):
    run = thrown(gravity, (0.0, 0.0, 5.0))
    (entry,) = pack(run, Options()).header["runs"]
    up = -np.array(gravity) / np.linalg.norm(gravity)
    np.testing.assert_allclose(entry["up"], up, atol=1e-15)
    lowest = (run.x @ up).min() - entry["reach"]
    assert entry["ground"]["height"] == pytest.approx(lowest, abs=1e-9)


def test_without_weight_there_is_no_ground():
    (entry,) = pack(thrown((0.0, 0.0, 0.0), (0.0, 0.0, 5.0)), Options()).header["runs"]
    assert entry["ground"] is None
    assert entry["up"] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"g": [0.0, -3.0, 0.0]}, [0.0, -3.0, 0.0]),
        ({"spring": [150.0], "uniform_gravity": [[1, 2, 3]]}, [1.0, 2.0, 3.0]),
        *((told, None) for told in (None, "g", {}, {"g": "down"}, {"g": [1.0, "x", 0.0]})),
    ],
)
def test_gravity_is_found_in_what_a_run_tells(told, expected):
    found = gravity_of(told)
    assert (found if found is None else found.tolist()) == expected


def test_gravity_among_other_models_is_found():
    run = ph.solve(ph.problems.charged_top(), (0, 0.05), dt=0.001)
    np.testing.assert_array_equal(gravity_of(run.problem["parameters"]), [0.0, 0.0, -9.80665])


# ---- names
def test_names_that_are_no_text_do_not_stop_the_page(page, tmp_path):
    name = "run\udcff"  # a file whose name is not UTF-8
    file = ph.view.save_html(turning(BOX), tmp_path / "named.html", names=[name], title=name)
    show(page, file)
    assert page.title() == "run?"


def test_an_ensemble_back_in_time_is_drawn(page, tmp_path):
    rates = np.random.default_rng(0).normal(size=(20, 3))
    problem = ph.Problem(BOX, omega=OMEGA)
    asked = {"vary": {"omega": rates}, "dt": 0.02, "save": [1.0, 0.5, 0.0]}
    result = ph.solve_ensemble(problem, (1.0, 0.0), **asked)
    show(page, result.save_html(tmp_path / "back.html"))
    assert page.evaluate("[polhode.start, polhode.end]") == [0.0, 1.0]
