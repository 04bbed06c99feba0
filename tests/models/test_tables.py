"""Arrays in the parameters of a user's functions: read-only tables at run time."""

import numpy as np
import pytest

import polhode as ph
from polhode import loops

BODY = ph.RigidBody([2.0, 3.0, 4.5], mass=2.0)
START = {"omega": [0.3, 0.2, 0.9]}
STEP = 0.01


def samples(n):
    """Samples every ``STEP`` over n of them, two columns."""
    t = STEP * np.arange(n)
    return np.column_stack([np.sin(t), 0.3 * np.cos(3.0 * t)])


def looked_up(t, q, omega, params):
    scale, table, others = params
    x = min(max(t / STEP, 0.0), len(table) - 1.0)
    i = min(int(x), len(table) - 2)
    f = x - i
    return (
        scale * ((1.0 - f) * table[i, 0] + f * table[i + 1, 0]),
        scale * ((1.0 - f) * table[i, 1] + f * table[i + 1, 1]),
        others[0] * others[1][0],
    )


def model(n=1000, scale=1.0):
    return ph.torque(
        looked_up, {"scale": scale, "table": samples(n), "others": (0.1, np.linspace(1.0, 2.0, 50))}
    )


def problem(of):
    return ph.Problem(BODY, of, **START)


def test_machine_code_does_not_depend_on_the_size():
    """One loop for 200 numbers and for 200 000, single runs and SIMD lanes to the same bits."""
    small, large = (
        ph.prepare(problem(model(n)), method="forward-euler-m", dt=0.05) for n in (100, 100_000)
    )
    first, second = small((0.0, 0.9)), large((0.0, 0.9))
    machine = small.bound.loops.run.machine
    assert machine is large.bound.loops.run.machine
    assert len(machine.signatures) == 1
    assert np.array_equal(first.q, second.q)
    vary = {"model.scale": [0.5, 1.0, 1.5]}
    many = ph.solve_ensemble(
        problem(model()), (0.0, 0.9), method="forward-euler-m", dt=0.05, vary=vary
    )
    assert np.array_equal(many.q[-1, 1], first.q[-1])
    assert not np.array_equal(many.q[-1, 0], first.q[-1])


def as_function(t, q, omega, params):
    scale = params[0]
    return scale * np.sin(t), scale * 0.3 * np.cos(3.0 * t), 0.1


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    "solve",
    [
        lambda model: ph.solve(problem(model), (0.0, 1.0), method="imidm", dt=0.1).q[-1],
        lambda model: ph.solve(problem(model), (0.0, 1.0), rtol=1e-5).q[-1],
        lambda model: ph.solve(
            problem(ph.models.heavy_top(0.4) + model), (0.0, 1.0), method="mr2", dt=0.1
        ).q[-1],
        lambda model: simulated(model),
    ],
    ids=["implicit", "adaptive", "sum", "simulator"],
)
def test_every_solver_hands_tables_over(solve, monkeypatch):
    """Interpolated samples and the function that was sampled move the body alike."""
    monkeypatch.setattr(loops, "build", loops.joined)  # a Simulator takes machine code if it can
    assert solve(model()) == pytest.approx(solve(ph.torque(as_function, [1.0])), abs=2e-5)


def simulated(model):
    sim = ph.Simulator(BODY, model=model, **START)
    for _ in range(10):
        sim.step(0.1)
    return sim.state.q


def well(t, x, q, params):
    depth = params[int(t / STEP)]
    return depth * (x[0] ** 2 + x[1] ** 2 + q[1] ** 2)


@pytest.mark.usefixtures("plain")
def test_a_potential_and_its_energy_see_an_array_that_is_all_of_params():
    depths = 1.0 + STEP * np.arange(300)
    of = ph.potential(well, depths)
    start = ph.Problem(BODY, of, position=[1.0, 0, 0], velocity=[0, 0.2, 0], **START)
    run = ph.solve(start, (0.0, 0.3), method="mr2", dt=0.1, t_eval=[0.0, 0.3])
    expected = depths[int(0.3 / STEP)] * ((run.x[-1, :2] ** 2).sum() + run.q[-1, 1] ** 2)
    assert run.potential_energy[-1] == pytest.approx(expected, rel=1e-14)
    assert np.array_equal(of.parameters["params"], depths)
    assert run.problem["parameters"] == {"params": "array of shape (300,)"}


@pytest.mark.usefixtures("plain")
def test_a_run_with_tables_resumes(tmp_path):
    whole = ph.solve(problem(model()), (0.0, 1.0), method="mr2", dt=0.1)
    file = tmp_path / "run.ckpt"
    options = {"checkpoint": file, "checkpoint_every": 3, "progress": stop_after(0.5)}
    with pytest.raises(KeyboardInterrupt):
        ph.solve(problem(model()), (0.0, 1.0), method="mr2", dt=0.1, **options)
    with pytest.raises(ph.InputError, match=r"model= is not the one.*model\.tables\[1\]"):
        ph.resume(file, model=model(999))
    assert np.array_equal(ph.resume(file, model=model()).q, whole.q)


def stop_after(fraction):
    def report(done):
        if done >= fraction:
            raise KeyboardInterrupt

    return report


def test_what_the_function_sees():
    """Few numbers stay tuples; arrays are copies that nobody can write to."""
    given = np.arange(20.0)
    of = ph.torque(
        looked_up,
        {
            "few": np.arange(16.0).reshape(4, 4),
            "array": given,
            "plane": np.asfortranarray(np.ones((5, 4), dtype=np.float32)),
            "list": list(range(101)),
            "short": list(range(100)),
            "number": np.array(2.0),
        },
    )
    given[0] = 7.0
    seen = of.parameters
    assert seen["few"][1] == (4.0, 5.0, 6.0, 7.0)
    assert seen["short"] == tuple(map(float, range(100)))
    assert seen["number"] == 2.0
    assert seen["array"][0] == 0.0
    for name, shape in (("array", (20,)), ("plane", (5, 4)), ("list", (101,))):
        table = seen[name]
        assert table.shape == shape
        assert table.dtype == float
        assert table.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 1.0


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"a": np.array([{}] * 20)}, r"params\['a'\] must be an array of real numbers.*object"),
        ({"a": np.ones(20, dtype=complex)}, "real numbers, got one with dtype complex128"),
        ({"a": np.array(["x"] * 20)}, "real numbers"),
        ([np.ma.masked_less(np.arange(20.0), 3)], r"params\[0\].*masked entries"),
        (
            {"a": np.where(np.arange(40).reshape(20, 2) == 33, np.nan, 1.0)},
            r"params\['a'\] must be finite, but params\['a'\]\[16, 1\] is nan",
        ),
        ([*range(200), "x"], r"params must be numbers, got 'x' at params\[200\]"),
    ],
    ids=["object", "complex", "text", "masked", "nan", "list"],
)
def test_arrays_that_cannot_be_tables_are_refused(params, words):
    with pytest.raises(ph.InputError, match=words):
        ph.torque(looked_up, params)


@pytest.mark.usefixtures("plain")
def test_mistakes_with_tables_are_told():
    def writes(t, q, omega, params):
        params[0][0] = 1.0
        return 0.0, 0.0, 0.0

    with pytest.raises(ph.InputError, match=r"'writes' fails at the initial state.*read-only"):
        ph.solve(problem(ph.torque(writes, [np.ones(20)])), (0, 1), method="mr2", dt=0.1)
    solver = ph.prepare(problem(model()), method="mr2", dt=0.1)
    with pytest.raises(ph.InputError, match="its arrays stay: prepare a solver for others"):
        solver((0.0, 1.0), params=[1.0, samples(3), 0.1])
    with pytest.raises(ph.InputError, match="nothing of this name to vary"):
        ph.solve_ensemble(
            problem(model()), (0, 1), method="mr2", dt=0.1, vary={"model.table": np.ones((2, 3))}
        )
