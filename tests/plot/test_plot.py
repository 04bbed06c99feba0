"""Pictures: a function draws into the axes it is given, returns them, and touches nothing else."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

import polhode as ph
from polhode import plot
from polhode.plot import ellipsoid, quantities, space, style
from polhode.plot.smooth import smooth

MOVING = "position", "path"  # panels that need a position
WITH_OPTIONS = "variables", "uncertainty"
ASYMMETRIC = ph.RigidBody([1.0, 2.0, 2.5])
TENSOR = ph.RigidBody([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.2]])


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


def labels(ax):
    """The labels at the ends of lines."""
    assert ax.get_legend() is None
    return [text.get_text() for text in ax.texts if text.get_text() != "rounding"]


def drawn(ax):
    return len(ax.lines) + len(ax.collections)


@pytest.fixture(scope="module")
def free():
    return ph.exact_free_motion(ASYMMETRIC, None, [0.3, 1.0, 0.2], np.linspace(0, 40, 2001))


@pytest.mark.parametrize(
    "panel",
    [*(p for p in plot.PANELS if p not in ("error", *WITH_OPTIONS, *MOVING)), "axis_path"],
)
def test_a_panel_draws_into_the_axes_it_is_given(panel, free, ax):
    assert getattr(plot, panel)(free, ax) is ax
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


def test_convergence_of_one_curve_omits_values_without_a_logarithm(ax):
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
    assert labels(axes[1, 1]) == ["momentum\nalong z"]
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


def test_a_trace_is_of_any_point_and_knows_what_a_point_is(top, ax):
    assert plot.trace(top, ax, point=(0, 2, 0)).get_title(loc="left") == "Path of body axis 2"
    assert "(0.6, 0, 0.8)" in top.plot("trace", point=[3, 0, 4]).get_title(loc="left")
    start = next(line for line in ax.lines if line.get_label() == "start")
    seen = top.rotation[0].apply([0, 1, 0]) @ space.eye(25.0, 35.0).T
    assert np.allclose([*start.get_xdata(), *start.get_ydata()], seen[:2], atol=1e-12)
    for bad in ([0, 0, 0], [1, 2], "axis", [1, np.nan, 0], None):
        with pytest.raises(ph.InputError, match=r"point must be three numbers.*\(0, 0, 1\)"):
            plot.trace(top, ax, point=bad)


def test_circles_of_tilt_are_drawn_where_the_axis_turns_back(top):
    ax = plot.trace(top, view=(90.0, -90.0), tilts=[np.degrees(0.3)])
    circle = next(line for line in ax.lines if line.get_color() == style.RED)
    assert np.allclose(np.hypot(*circle.get_data()), np.sin(0.3), atol=1e-14)


def test_a_panel_by_name_and_an_unknown_one(free, ax):
    assert free.plot("herpolhode", ax) is ax
    with pytest.raises(ph.InputError, match=r"panel must be one of tilt, .*, or None, got 'pole'"):
        free.plot("pole")
    with pytest.raises(ph.InputError, match="panel must be one of"):
        free.plot(view=(0, 0))


# ---- Poinsot
@pytest.mark.parametrize("moments", [(1, 2, 2.5), (5, 3, 4), (2, 2, 3), (3, 2, 2), (2, 2, 2)])
def test_polhodes_lie_on_both_ellipsoids(moments):
    moments = np.array(moments, dtype=float)
    low, high = ellipsoid.families(moments, 4)
    i1, i2, i3 = np.sort(moments)
    assert len(low) == (8 if i1 < i2 else 0)
    assert len(high) == (8 if i2 < i3 else 0)
    separatrix = ellipsoid.polhode(moments, i2)
    assert len(separatrix) == (0 if i1 == i3 else 2)
    for curve in (*low, *high, *separatrix):
        assert np.allclose((curve**2).sum(axis=1), 1, atol=1e-14)
        J = (curve**2) @ moments
        assert np.allclose(J, J[0], rtol=1e-14)
    assert all((curve**2) @ moments < i2 for curve in low for curve in curve[:1])
    assert all((curve**2) @ moments > i2 for curve in high for curve in curve[:1])


@pytest.mark.parametrize("body", [ASYMMETRIC, TENSOR, ph.RigidBody([3, 5, 4])])
@pytest.mark.parametrize("omega", [(1, 0.1, 0.2), (0.2, 1, 0.1), (0.1, 0.2, 1), (-0.5, 0.4, 0.7)])
def test_a_free_motion_keeps_to_its_polhode_and_its_herpolhode(body, omega):
    run = ph.exact_free_motion(body, None, omega, np.linspace(0, 300, 200_001))
    r = ellipsoid.on_ellipsoid(run)
    assert np.allclose(np.einsum("ij,jk,ik->i", r, body.inertia, r), 1, atol=1e-13)
    J = np.einsum("ij,ij->i", r @ body.inertia, r @ body.inertia)
    assert np.allclose(J, J[0], rtol=1e-13)
    seen = ellipsoid.rate_inertial(run) @ ellipsoid.invariable_plane(run).T
    assert np.allclose(seen[:, 2], seen[0, 2], rtol=1e-12)  # one plane
    found = np.hypot(*seen.T[:2])
    low, high = ellipsoid.radii(run)
    assert low - 1e-12 < found.min() < low + 1e-5  # samples miss the extreme by O(dt²)
    assert high - 1e-5 < found.max() < high + 1e-12


@pytest.mark.parametrize(
    ("moments", "omega", "expected"),
    [
        ((2, 2, 3), (0.3, 0.4, 1), None),  # a circle
        ((3, 2, 2), (0.3, 0.4, 1), None),
        ((2, 2, 2), (0.3, 0.4, 1), (0, 0)),
        ((1, 2, 2.5), (0, 1, 0), (0, 0)),
        ((1, 2, 2.5), (1, 0, 0), (0, 0)),
        ((0, 2, 2), (0, 1, 1), (0, 0)),  # a rod
        ((1, 2, 2.5), (0, 0, 0), (0, 0)),
    ],
)
def test_herpolhodes_that_are_circles_or_points(moments, omega, expected):
    run = ph.exact_free_motion(ph.RigidBody(moments), None, omega, [0, 1, 2])
    m, rate = run.angular_momentum[0], run.omega[0]
    if expected is None:
        expected = (np.linalg.norm(np.cross(rate, m)) / np.linalg.norm(m),) * 2
    assert np.allclose(ellipsoid.radii(run), expected, atol=1e-15)
    for panel in ("polhode", "herpolhode"):
        assert drawn(run.plot(panel)) > 0


def test_the_ellipsoid_touches_the_plane_at_the_tip_of_the_rate(free):
    along = ellipsoid.invariable_plane(free)[2]
    for k in (0, 700, 2000):
        surface = free.rotation[k].as_matrix() @ ellipsoid.matrix(free.body)
        height = np.linalg.norm(surface.T @ along)  # the largest x · along of the ellipsoid
        tip = ellipsoid.rate_inertial(free)[k] / np.sqrt(2 * free.kinetic_energy[k])
        assert np.isclose(tip @ along, height, rtol=1e-13)
        assert np.allclose(tip, surface @ (surface.T @ along) / height, atol=1e-13)


def test_poinsot_is_for_free_bodies_that_turn(top, free, ax):
    with pytest.raises(ph.InputError, match=r"has a torque.*'polhode' or 'herpolhode'"):
        plot.poinsot(top, ax)
    with pytest.raises(ph.InputError, match="is at rest"):
        plot.poinsot(ph.exact_free_motion(ASYMMETRIC, None, [0, 0, 0], [0, 1]), ax)
    with pytest.raises(ph.InputError, match=r"index of one of 2001 states, got 5000"):
        plot.poinsot(free, ax, at=5000)
    assert drawn(plot.poinsot(free, ax, at=-1, view=(30, 40))) > 0
    assert drawn(plot.polhode(top)) > 0
    assert drawn(plot.herpolhode(top)) > 0


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_files_are_complete(suffix, top, tmp_path):
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
    exact = ph.exact_free_motion(ASYMMETRIC, None, [1, 2, 3], [0, 1, 2])
    assert list(plot.changes(exact)) == ["energy", "momentum"]
    free = ph.solve(ph.problems.krysl_free(), (0, 1), method="imidm", dt=0.01)
    assert list(plot.changes(free)) == ["energy", "momentum"]
    assert plot.changes(free)["momentum"].max() < 1e-14


def test_tilt_is_the_angle_to_the_vertical(top):
    along = top.rotation.apply([0, 0, 1])
    assert np.allclose(quantities.direction(top, np.array([0, 0, 1.0])), along, atol=1e-14)
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


# ---- smooth curves
@pytest.fixture(scope="module")
def sparse():
    """Fewer states than the motion has turns."""
    problem = ph.Problem(ASYMMETRIC, omega=[0.3, 1.0, 0.2])
    return ph.solve(problem, (0, 300), t_eval=np.linspace(0, 300, 31))


def test_states_are_added_until_curves_are_smooth(sparse, ax):
    fine = smooth(sparse)
    assert 300 * 1.0 / 0.1 < len(fine) < 10_000
    turns = 4 * np.arcsin(0.5 * np.linalg.norm(np.diff(fine.q, axis=0), axis=1))
    assert turns.max() < 0.1
    assert set(sparse.t) <= set(fine.t)
    assert smooth(fine) is fine
    exact = sparse.sol(np.linspace(0, 300, 20_001))
    for k, line in enumerate(plot.rates(sparse, ax).lines):
        drawn = np.interp(exact.t, *line.get_data())
        assert np.abs(drawn - exact.omega[:, k]).max() < 0.002 * np.ptp(exact.omega)
    for panel in ("tilt", "trace", "polhode", "herpolhode", "poinsot"):
        sparse.plot(panel)
    assert len(sparse.plot("drift").lines[0].get_xdata()) == 31  # of the states themselves


def test_states_that_are_dense_or_have_no_more_between_them_stay(top, free, sparse, tmp_path):
    class Watched(SimpleNamespace):
        __hash__ = object.__hash__

        def sol(self, t):
            raise AssertionError("no more states are needed")

    dense = Watched(t=free.t, q=free.q, omega=free.omega)
    assert smooth(dense) is dense
    assert smooth(top) is top
    loaded = ph.load(sparse.save(tmp_path / "run.nc"))
    assert smooth(loaded) is loaded
    assert smooth(sparse[:1]).t.tolist() == [0.0]
    shuffled = sparse.sol([3.0, 1.0, 2.0])
    assert smooth(shuffled) is shuffled


def test_motions_that_are_too_fast_become_bands(sparse):
    long = ph.solve(ph.Problem(ASYMMETRIC, omega=[0.3, 1.0, 0.2]), (5e6, 0), t_eval=[5e6, 0])
    fine = smooth(long)
    assert len(fine) == quantities.POINTS
    assert (np.diff(fine.t) < 0).all()
    assert (fine.t[0], fine.t[-1]) == (5e6, 0)
    low, high = np.ptp(smooth(sparse).omega, axis=0), np.ptp(fine.omega, axis=0)
    assert np.allclose(low, high, rtol=0.01)


def test_few_states_of_a_curve_without_a_turn():
    """Three points of a parabola, and nothing turns."""
    start = {"omega": (0, 0, 0), "position": (0, 0, 1), "velocity": (1, 0, 4)}
    problem = ph.Problem(ASYMMETRIC, **start)
    straight = ph.solve(problem, (0, 1), t_eval=[0, 1])
    assert len(smooth(straight)) < 30
    t = np.linspace(0, 1, 3)
    made = []

    class Parabola(SimpleNamespace):
        __hash__ = object.__hash__

        def sol(self, t):
            made.append(
                Parabola(t=t, omega=np.zeros((len(t), 3)), x=np.outer(t * (1 - t), [1, 0, 0]))
            )
            return made[-1]

    fine = smooth(Parabola(t=t, omega=np.zeros((3, 3)), x=np.outer(t * (1 - t), [1, 0, 0])))
    assert fine is made[-1]
    assert 20 < len(fine.t) < 100


def test_axes_sizes_and_options(free, ax):
    assert free.plot("tilt", ax=ax) is ax
    assert free.plot("tilt", figsize=(3, 2)).figure.get_size_inches().tolist() == [3, 2]
    assert free.plot(figsize=(6, 5))[0, 0].figure.get_size_inches().tolist() == [6, 5]
    for options, message in (
        ({"panel": "tilt", "ax": ax, "axes": ax}, "give axes= or ax=, not both"),
        ({"panel": "tilt", "ax": ax, "figsize": (3, 2)}, "figsize= is the size of a new figure"),
        ({"panel": "trace", "colour": "red"}, "'trace' has no option 'colour'; it has point, view"),
        ({"panel": "tilt", "view": (0, 0)}, "'tilt' has no option 'view'; it has ax, figsize"),
        ({"ax": ax}, "draws into four axes, got 1; name a panel"),
        ({"dpi": 3}, "panel must be one of tilt.*with dpi="),
    ):
        with pytest.raises(ph.InputError, match=message):
            free.plot(**options)


def test_a_figure_is_the_same_whatever_shows_it(free, tmp_path):
    pictures = []
    for kind in (None, FigureCanvasSVG):
        ax = free.plot("rates")
        canvas = ax.figure.canvas if kind is None else kind(ax.figure)
        pictures.append(plot.save(ax, tmp_path / "rates.png").read_bytes())
        assert ax.figure.canvas is canvas
    assert pictures[0] == pictures[1]


# ---- with a position
@pytest.fixture(scope="module")
def thrown():
    start = {"omega": (0.1, 5.0, 0.1), "position": (0, 0, 1), "velocity": (1, 0, 4)}
    return ph.solve(ph.Problem(ASYMMETRIC, ph.models.uniform_gravity(), **start), (0, 1), rtol=1e-9)


@pytest.mark.parametrize("panel", MOVING)
def test_where_the_body_goes(panel, thrown, free, ax):
    assert thrown.plot(panel, ax) is ax
    assert drawn(ax) > 0
    assert ax.get_title(loc="left")
    with pytest.raises(ph.InputError, match=f"panel '{panel}' needs a body with a position"):
        free.plot(panel)


def test_the_path_has_a_scale_and_a_point(thrown, ax):
    thrown.plot("path", ax, point=(0, 0, 0.3), view=(0.0, 90.0))
    assert "0.2 m" in [text.get_text() for text in ax.texts]
    assert "point" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_overview_of_a_moving_body(thrown, tmp_path):
    axes = thrown.plot()
    assert axes[0, 0].get_ylabel() == "position (m)"
    assert labels(axes[1, 1]) == ["energy"]
    assert plot.save(axes, tmp_path / "run.png").stat().st_size > 10_000


def test_variables_are_drawn_by_name(ax):
    times, spin = np.linspace(0, 1, 50), np.zeros((50, 3))
    found = {"h": np.cos(times), "s": np.stack([times, times**2], axis=1)}
    attitudes = np.tile([1.0, 0.0, 0.0, 0.0], (50, 1))
    run = ph.Trajectory(times, attitudes, spin, ASYMMETRIC, method="", variables=found)
    assert plot.variables(run, ax) is ax
    assert [line.get_label() for line in ax.lines] == ["h", "s 1", "s 2"]
    assert ax.get_title(loc="left") == "Variables of the model"
    assert len(run.plot("variables", name="s").lines) == 2
    free = ph.exact_free_motion(ASYMMETRIC, None, [0.3, 1.0, 0.2], [0.0, 1.0])
    with pytest.raises(ph.InputError, match="needs variables of a model, and this run has none"):
        free.plot("variables")


# ---- uncertainty
UNCERTAIN = np.diag([1e-6, 1e-6, 4e-6, 1e-8, 1e-8, 0.0])


@pytest.fixture(scope="module")
def uncertain():
    problem = ph.Problem(ASYMMETRIC, ph.models.heavy_top(3.0), omega=[0.3, 1.0, 4.0])
    return ph.solve(problem, (0, 4), method="mr2", dt=0.02, sensitivities=["state"])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_uncertainties_are_drawn_by_component(theme, uncertain, ax):
    assert uncertain.plot("uncertainty", ax, covariance=UNCERTAIN, theme=theme) is ax
    assert ax.get_yscale() == "log"
    assert ax.get_ylabel() == "standard deviation (rad, relative)"
    first = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "-"]
    size = np.linalg.norm(uncertain.angular_momentum[0])
    expected = [1e-3, 1e-3, 2e-3, 1e-4 / size, 1e-4 / size, np.nan]
    np.testing.assert_allclose(first, expected, rtol=1e-6)


def test_uncertainties_of_a_position(ax):
    model = ph.models.spring(3.0, (0.2, 0.1, 0.0), (0.0, 0.0, 0.0))
    problem = ph.Problem(ASYMMETRIC, model, omega=[0.3, 1.0, 4.0], position=(0.3, 0.1, 0.0))
    run = ph.solve(problem, (0, 1), method="mr2", dt=0.02, sensitivities=["state"])
    run.plot("uncertainty", ax, covariance=1e-6 * np.eye(12), of="position")
    assert ax.get_ylabel() == "standard deviation (m)"
    assert labels(ax) == ["$x_1$", "$x_2$", "$x_3$"]


def test_what_uncertainties_need(uncertain, top):
    for run, options, message in (
        (uncertain, {}, "needs covariance="),
        (uncertain, {"covariance": np.eye(5)}, "must be a symmetric matrix"),
        (uncertain, {"covariance": UNCERTAIN, "of": "position"}, "of must be one of 'rotation' h"),
        (top, {"covariance": UNCERTAIN}, "the run has no derivatives"),
    ):
        with pytest.raises(ph.InputError, match=message):
            run.plot("uncertainty", **options)
    assert "uncertainty" not in plot.views.NAMES
