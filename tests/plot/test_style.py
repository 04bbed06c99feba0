"""Themes, bands in place of scribbles, and labels at the ends of lines."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

import polhode as ph
from polhode import plot
from polhode.plot import style
from polhode.plot.panels import curve
from polhode.plot.quantities import banded

BODY = ph.RigidBody([1.0, 2.0, 2.5])


@pytest.fixture(scope="module")
def free():
    return ph.exact_free_motion(BODY, None, [0.3, 1.0, 0.2], np.linspace(0, 40, 2001))


@pytest.fixture
def ax():
    return Figure(figsize=(5, 3.6)).add_subplot()


# ---- themes
def luminance(colour):
    """The relative luminance of the guidelines for web content."""
    c = np.array(to_rgb(colour))
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", style.THEMES.values(), ids=lambda theme: theme.name)
def test_texts_and_curves_stand_out_from_the_ground(theme):
    assert contrast(theme.ink, theme.ground) > 12
    assert contrast(theme.grey, theme.ground) > 3
    least = 4.5 if theme.name == "dark" else 2  # Okabe and Ito's orange on white has 2.2
    assert min(contrast(colour, theme.ground) for colour in theme.colours) > least


DEFICIENCIES = {  # of Machado, Oliveira and Fernandes (2009), complete
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def lab(colour, matrix):
    """CIE L*a*b* of a colour as it is seen with a deficiency."""
    c = np.array(to_rgb(colour))
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(matrix) @ linear, 0, 1)
    xyz = np.array([(0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)])
    part = xyz @ seen / (0.9505, 1.0, 1.089)
    f = np.where(part > 0.008856, np.cbrt(part), 7.787 * part + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", style.THEMES.values(), ids=lambda theme: theme.name)
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_curves_are_told_apart_by_all_kinds_of_colour_vision(theme, deficiency):
    seen = [lab(colour, DEFICIENCIES[deficiency]) for colour in theme.colours]
    apart = [np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)]
    assert min(apart) > 14  # 2 is a difference that can just be seen


def settings():
    """The settings of the session; asking for the backend would import pyplot."""
    return {name: mpl.rcParams[name] for name in mpl.rcParams if name != "backend"}


@pytest.mark.parametrize(
    "panel", [None, *(p for p in plot.PANELS if p not in ("error", "uncertainty"))]
)
def test_every_panel_has_a_dark_theme(panel, free, tmp_path):
    run = free
    if panel in ("position", "path"):
        start = {"omega": (0.1, 5.0, 0.1), "position": (0, 0, 1), "velocity": (1, 0, 4)}
        run = ph.solve(ph.Problem(BODY, **start), (0, 1), rtol=1e-6)
    if panel == "variables":
        data = free.t, free.q, free.angular_momentum, BODY
        run = ph.Trajectory(*data, method="", variables={"heat": free.t})
    before = settings()
    axes = run.plot(panel, theme="dark", figsize=(4, 3))
    file = plot.save(axes, tmp_path / "dark.png", dpi=40)
    with Image.open(file) as picture:
        pixels = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    ground = np.round(255 * np.array(to_rgb(style.DARK.ground)))
    assert np.array_equal(pixels[0], ground)
    assert np.mean((pixels == ground).all(axis=1)) > 0.25
    assert pixels.min(axis=1).mean() < 100  # nothing large is white
    assert settings() == before
    assert style.theme() is style.LIGHT


def test_a_theme_does_not_leak_and_is_named(free, ax, tmp_path):
    with pytest.raises(ph.InputError, match="theme must be 'light' or 'dark', or None, got 'noir'"):
        free.plot("tilt", theme="noir")
    light = free.plot("tilt", figsize=(3, 2)).figure
    assert light.get_facecolor() == Figure().get_facecolor()
    free.plot("tilt", ax, theme="dark")  # axes that are given, and their figure
    assert to_rgb(ax.get_facecolor()) == to_rgb(style.DARK.ground)
    assert to_rgb(ax.figure.get_facecolor()) == to_rgb(style.DARK.ground)
    assert {line.get_color() for line in ax.lines} == {style.DARK.blue}
    with mpl.rc_context({"savefig.facecolor": "white"}):
        file = plot.save(ax, tmp_path / "dark.png", dpi=30)
    with Image.open(file) as picture:
        corner = picture.convert("RGB").getpixel((0, 0))
    assert np.allclose(np.array(corner) / 255, to_rgb(style.DARK.ground), atol=0.003)
    assert free.plot("tilt").lines[0].get_color() == style.LIGHT.blue


# ---- bands
def test_bands_cover_the_extremes_and_lines_the_rest(ax):
    t = np.linspace(0, 100, 200_001)
    values = np.where(t < 60, np.sin(2 * np.pi * 20 * t), 0.3 * np.sin(0.2 * t))
    values[31_234], values[55_555] = 4.0, -3.0  # one row each
    curve(ax, t, values, "red", "curve")
    (band,) = (part for part in ax.collections if isinstance(part, PolyCollection))
    low, high = ax.lines[0], ax.lines[1]
    line = next(line for line in ax.lines if line.get_label() == "curve")
    x = low.get_xdata()
    assert x[0] == 0
    assert 59.5 < x[-1] < 60.5
    inside = (t >= x[0]) & (t <= x[-1])
    assert (np.interp(t, *low.get_data())[inside] <= values[inside]).all()
    assert (np.interp(t, *high.get_data())[inside] >= values[inside]).all()
    assert low.get_ydata().min() == -3.0
    assert high.get_ydata().max() == 4.0
    box = band.get_paths()[0].get_extents()
    assert (box.ymin, box.ymax) == (-3.0, 4.0)
    slow = t > 60.5
    assert np.allclose(np.interp(t[slow], *line.get_data()), values[slow], atol=1e-6)
    at = line.get_xdata() < 59
    within = [np.interp(line.get_xdata()[at], *edge.get_data()) for edge in (low, high)]
    assert (within[0] <= line.get_ydata()[at]).all()
    assert (within[1] >= line.get_ydata()[at]).all()
    middle = np.interp(np.linspace(5, 14, 50), *line.get_data())
    assert np.abs(middle).max() < 0.02  # the mean of the oscillation


def test_slow_curves_and_few_states_have_no_bands():
    t = np.linspace(0, 10, 5001)
    for times, values in (
        (t, np.sin(2 * np.pi * t)),
        (t[::100], np.sin(40 * t[::100])),
        (t[::-1], t),
        (np.zeros(5001), np.sin(300 * t)),
        (t, np.where(t > 5, np.nan, np.sin(300 * t))),
    ):
        bands, (x, y) = banded(times, values, 300)
        assert bands == []
        assert np.array_equal(x, times)
        assert np.array_equal(y, values, equal_nan=True)
    bands, _ = banded(t[::-1], np.sin(600 * t), 300)  # backwards in time
    assert len(bands) == 1


def test_bands_reach_the_ends_of_a_steady_oscillation():
    """Not every stretch has a whole period of it; no scribble may stay at its ends."""
    t = np.linspace(0, 1, 20_001)
    for frequency in np.arange(100.0, 200.0, 2.5):
        bands, (_, line) = banded(t, np.sin(2 * np.pi * frequency * t + 0.3), 250)
        assert [(edges[0], edges[-1]) for edges, _, _ in bands] in ([], [(0.0, 1.0)]), frequency
        assert frequency < 140 or (bands and np.abs(line).max() < 0.6), frequency


# ---- labels
def boxes(ax):
    FigureCanvasAgg(ax.figure).draw()
    return [text.get_window_extent() for text in ax.texts if text.get_text() != "rounding"]


@pytest.mark.parametrize("panel", ["rates", "drift", "position"])
def test_labels_are_apart_from_each_other_and_from_lines(panel):
    start = {"omega": (0.1, 5.0, 0.1), "position": (0, 0, 1), "velocity": (1, 0, 4)}
    run = ph.solve(ph.Problem(BODY, **start), (0, 3), method="imidm", dt=0.01)
    ax = run.plot(panel)
    assert ax.get_legend() is None
    found = boxes(ax)
    assert len(found) >= 2
    for one, other in itertools.combinations(found, 2):
        assert not one.overlaps(other)
    for box, line in itertools.product(found, ax.lines):
        points = ax.transData.transform(line.get_xydata())
        within = (points > (box.x0, box.y0)).all(axis=1) & (points < (box.x1, box.y1)).all(axis=1)
        assert not within.any()
    sheet = ax.figure.bbox
    assert all(box.x1 <= sheet.x1 and box.x0 >= ax.bbox.x1 for box in found)


def test_labels_have_the_colours_of_their_lines_and_their_heights(free):
    ax = free.plot("rates")
    found = boxes(ax)
    for line, text, box in zip(ax.lines, ax.texts, found, strict=True):
        assert text.get_color() == line.get_color()
        end = ax.transData.transform((line.get_xdata()[-1], line.get_ydata()[-1]))[1]
        assert abs(0.5 * (box.y0 + box.y1) - end) < 1.5 * (box.y1 - box.y0)


def test_a_legend_takes_over_where_labels_do_not_fit(free):
    names = {f"v{k}": np.ones(len(free)) for k in range(9)}
    data = free.t, free.q, free.angular_momentum, BODY
    crowded = ph.Trajectory(*data, method="", variables=names).plot("variables")
    assert len(crowded.get_legend().get_texts()) == 9
    long = ph.Trajectory(*data, method="", variables={"a very long name of it": free.t})
    assert long.plot("variables").get_legend() is not None
