"""Pictures: a function draws into the axes it is given, returns them, and touches nothing else."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

import polhode as ph
from polhode import plot
from polhode.plot import quantities


@pytest.fixture(scope="module")
def top():
    return ph.solve(ph.problems.fast_top(), (0, 1), method="imidm", dt=1e-3)


@pytest.fixture
def ax():
    return Figure().add_subplot()


def without_energy(run):
    """The same run as if no potential were known."""
    names = "t", "q", "omega", "angular_momentum", "angular_momentum_inertial", "body"
    return SimpleNamespace(**{name: getattr(run, name) for name in names}, energy=None)


def drawn(ax):
    return len(ax.lines) + len(ax.collections)


@pytest.mark.parametrize("draw", [plot.tilt, plot.rates, plot.axis_path, plot.drift])
def test_a_panel_draws_into_the_axes_it_is_given(draw, top, ax):
    assert draw(top, ax) is ax
    assert drawn(ax) > 0
    assert ax.get_title(loc="left")


@pytest.mark.parametrize("draw", [plot.tilt, plot.rates, plot.drift])
def test_a_panel_over_time_names_its_units(draw, top):
    ax = draw(top)
    assert ax.get_xlabel() == "time (s)"
    assert ax.get_ylabel() in ("angle (degrees)", "rate (rad/s)", "relative change")


def test_convergence_gives_the_slope(ax):
    steps = 0.5 ** np.arange(1, 8)
    assert plot.convergence({"second": 3 * steps**2, "fourth": steps**4}, steps, ax) is ax
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["second, slope 2.00", "fourth, slope 4.00"]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_convergence_of_one_curve_leaves_out_what_has_no_logarithm(ax):
    plot.convergence([1e-2, 1e-4, 0.0, np.nan], [1.0, 0.1, 0.01, 0.001], ax)
    (line,) = ax.lines
    assert line.get_xdata().tolist() == [1.0, 0.1]


def test_overview_fills_new_or_given_axes(top):
    axes = top.plot()
    assert axes.shape == (2, 2)
    assert all(drawn(ax) for ax in axes.flat)
    assert "fast-top" in axes[0, 0].figure.get_suptitle()
    given = Figure().subplots(2, 2)
    assert plot.overview(top, given)[1, 1] is given[1, 1]
    assert all(drawn(ax) for ax in given.flat)


def test_overview_without_energy_shows_the_momentum_alone(top, tmp_path):
    axes = plot.overview(without_energy(top))
    labels = [text.get_text() for text in axes[1, 1].get_legend().get_texts()]
    assert labels == ["momentum along z"]
    assert plot.save(axes, tmp_path / "run.png").stat().st_size > 10_000


@pytest.mark.parametrize("rows", [slice(0, 1), slice(0, 2)])
def test_overview_of_hardly_any_states(rows, top, tmp_path):
    assert plot.save(plot.overview(top[rows]), tmp_path / "run.png").stat().st_size > 10_000


def test_axis_path_seen_from_anywhere_and_with_far_states(top, ax):
    plot.axis_path(top, ax, view=(10.0, 45.0))
    assert not ax.axison
    rng = np.random.default_rng(1)
    q = rng.normal(size=(300, 4))
    far = SimpleNamespace(t=np.arange(300.0), q=q / np.linalg.norm(q, axis=1)[:, None])
    dots = plot.axis_path(far).collections
    assert any(len(part.get_offsets()) == 300 for part in dots)  # dots, since lines would be chords


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_files_are_whole(suffix, top, tmp_path):
    path = plot.save(plot.rates(top), tmp_path / f"rates.{suffix}")
    assert path.stat().st_size > 1000
    assert [file.name for file in tmp_path.iterdir()] == [f"rates.{suffix}"]


def test_a_picture_that_fails_leaves_nothing(top, tmp_path, monkeypatch):
    ax = plot.rates(top)
    (tmp_path / "rates.png").write_text("the old one")

    def broken(path, **_):
        path.write_bytes(b"half")
        raise RuntimeError("disk full")

    monkeypatch.setattr(ax.figure, "savefig", broken)
    with pytest.raises(RuntimeError, match="disk full"):
        plot.save(ax, tmp_path / "rates.png")
    assert (tmp_path / "rates.png").read_text() == "the old one"
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(ph.FileError, match="no directory"):
        plot.save(ax, tmp_path / "nowhere" / "rates.png")


def test_changes_are_relative_and_know_what_is_kept(top):
    changes = plot.changes(top)
    assert list(changes) == ["energy", "momentum along z"]
    assert changes["energy"].max() > 1e-9
    assert np.allclose(changes["energy"], np.abs(top.energy / top.energy[0] - 1), atol=1e-15)
    free = ph.solve(ph.problems.krysl_free(), (0, 1), method="imidm", dt=0.01)
    assert list(plot.changes(free)) == ["energy", "momentum"]
    assert plot.changes(free)["momentum"].max() < 1e-14


def test_tilt_is_the_angle_to_the_vertical(top):
    along = top.rotation.apply([0, 0, 1])
    assert np.allclose(quantities.axis_3(top), along, atol=1e-14)
    assert np.allclose(np.cos(np.radians(quantities.tilt_angle(top))), along[:, 2], atol=1e-14)
    assert np.isclose(quantities.tilt_angle(top)[0], np.degrees(0.3))


def test_thinning_keeps_the_extremes():
    t = np.arange(100_001.0)
    values = np.sin(t)
    values[77_777] = 5.0
    few_t, few = quantities.thinned(t, values)
    assert len(few) <= quantities.POINTS + 2
    assert few.max() == 5.0
    assert few.min() == values.min()
    assert (np.diff(few_t) > 0).all()
    assert np.array_equal(quantities.thinned(t[:10], values[:10])[1], values[:10])


def test_nothing_global_is_touched_and_importing_the_library_draws_nothing():
    code = (
        "import sys, polhode as ph\n"
        "assert 'matplotlib' not in sys.modules\n"
        "run = ph.solve(ph.problems.fast_top(), (0, 0.01), method='imidm', dt=1e-3)\n"
        "run.plot()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "import matplotlib; matplotlib.use('Agg')\n"
        "import matplotlib.pyplot as plt\n"
        "assert run.plot()[0, 0].figure.number in plt.get_fignums()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
