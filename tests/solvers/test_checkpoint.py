"""Checkpoints: complete files or none, and killed runs that continue to the same bits."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.files import checkpoint as files_checkpoint
from polhode.files.checkpoint import Journal, Mark, head, kind_of, read, write
from polhode.solvers import checkpoint as solver_checkpoint
from polhode.solvers.plain_data import STORED
from support.killed import CASES, PUSHED, TOP, compare, kill, same

TESTS = Path(__file__).parents[1]
ARRAYS = {
    "rows": np.arange(6.0).reshape(2, 3),
    "none": np.empty((0, 7)),
    "special": np.array([np.nan, -0.0, np.inf, 5e-324]),
    "flags": np.array([True, False, True]),
    "counts": np.array([1, 2**62]),
    "one": np.array(3.0),
}


# ---- files
@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.ckpt"
    write(path, "kind", {"text": "ü", "number": 0.1, "list": [1, None]}, ARRAYS)
    return path


def test_a_file_comes_back(file):
    data, arrays = read(file, "kind")
    assert data == {"text": "ü", "number": 0.1, "list": [1, None]} == head(file)
    assert kind_of(file) == "kind"
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()
        arrays[name][...] = 0  # can be written
    assert file.read_bytes().startswith(b"polhode checkpoint 1\n")
    assert [path.name for path in file.parent.iterdir()] == ["some.ckpt"]


def test_a_cut_file_is_refused(file):
    whole = file.read_bytes()
    for size in (*range(40), *range(40, len(whole), 9), len(whole) - 1):
        file.write_bytes(whole[:size])
        with pytest.raises(ph.FileError, match=r"some\.ckpt.*cut off"):
            read(file)
    file.write_bytes(whole + b"\0")
    with pytest.raises(ph.FileError, match="edited or damaged"):
        read(file)


def test_an_edited_file_is_refused(file):
    whole = file.read_bytes()
    for bit in range(0, 8 * len(whole), 5):
        edited = bytearray(whole)
        edited[bit // 8] ^= 1 << bit % 8
        file.write_bytes(edited)
        with pytest.raises(ph.FileError, match=r"some\.ckpt"):
            read(file)


def test_other_files_are_refused(file, tmp_path):
    with pytest.raises(ph.FileError, match="of kind 'kind', and 'run' is needed"):
        read(file, "run")
    newer = file.read_bytes().replace(b"checkpoint 1\n", b"checkpoint 2\n", 1)
    file.write_bytes(newer)
    for look in (read, head):
        with pytest.raises(ph.FileError, match=r"version 2 of the format, newer than 1.*update"):
            look(file)
    file.write_text("t,x\n1,2\n")
    with pytest.raises(ph.FileError, match="is not a checkpoint of this library"):
        read(file)
    with pytest.raises(ph.FileError, match=r"cannot read .*No such file"):
        read(tmp_path / "missing")


def test_nothing_is_left_of_a_write_that_fails(file, monkeypatch):
    before = file.read_bytes()
    with pytest.raises(ph.FileError, match="cannot write the checkpoint"):
        write(file.parent / "no" / "such.ckpt", "kind", {}, {})
    for name, error, raised in (
        ("fsync", OSError(28, "No space left on device"), ph.FileError),
        ("replace", PermissionError(13, "Permission denied"), ph.FileError),
        ("fsync", KeyboardInterrupt(), KeyboardInterrupt),
    ):

        def fails(*_, error=error):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(files_checkpoint.os, name, fails)
            with pytest.raises(raised):
                write(file, "kind", {}, {})
        assert file.read_bytes() == before
        assert [path.name for path in file.parent.iterdir()] == ["some.ckpt"]
    with pytest.raises(ValueError, match="not JSON compliant"):
        write(file, "kind", {"number": float("nan")}, {})
    with pytest.raises(TypeError, match="'texts' is of type"):
        write(file, "kind", {}, {"texts": np.array(["a"])})


def test_a_file_made_elsewhere_is_reported(file, monkeypatch):
    other = {**files_checkpoint.made_by(), "numba": "0.1", "processor": "abacus"}
    monkeypatch.setattr(files_checkpoint, "made_by", lambda: other)
    with pytest.warns(ph.PolhodeWarning, match=r"made elsewhere \(numba .*here 0.1; processor .*"):
        read(file)


def test_a_journal_counts_up_to_its_mark(tmp_path):
    path = tmp_path / "rows"
    with Journal(path) as journal:
        assert journal.append(np.empty((0, 3))) == Mark()
        journal.append(np.arange(6.0).reshape(2, 3))
        mark = journal.append(np.arange(3.0))
        with pytest.raises(ph.FileError, match="another process is writing"):
            Journal(path, mark)
        journal.append(np.ones(9))  # not counted
    whole = path.read_bytes()
    with Journal(path, mark) as journal:
        assert journal.rows.tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2]
        assert path.stat().st_size == mark.size < len(whole)
        assert journal.append(np.ones(9)).size == len(whole)
    assert path.read_bytes() == whole
    for bit in range(0, 8 * mark.size, 7):
        edited = bytearray(whole)
        edited[bit // 8] ^= 1 << bit % 8
        path.write_bytes(edited)
        with pytest.raises(ph.FileError, match=r"rows.*edited or damaged at byte"):
            Journal(path, mark)
    path.write_bytes(whole[: mark.size - 1])
    with pytest.raises(ph.FileError, match="is cut off or missing: it has"):
        Journal(path, mark)
    with Journal(path) as journal:
        assert path.stat().st_size == 0
        journal.remove()
    assert not path.exists()


# ---- runs
class Killed(Exception):
    pass


@pytest.fixture
def broken_off(tmp_path, monkeypatch):
    """Run to the end, broken off before every third checkpoint: (the run, how often)."""

    def run(problem, span, every, again=None, **arguments):
        path, again = tmp_path / "run.ckpt", again or {}
        for times in range(1000):
            count = 0

            def flaky(*given):
                nonlocal count
                count += 1
                if count == 3:
                    raise Killed
                write(*given)

            monkeypatch.setattr(solver_checkpoint, "write", flaky)
            try:
                if path.exists():
                    result = ph.resume(path, **again)
                else:
                    result = ph.solve(
                        problem, span, checkpoint=path, checkpoint_every=every, **arguments
                    )
            except Killed:
                continue
            monkeypatch.setattr(solver_checkpoint, "write", write)
            assert [found.name for found in tmp_path.iterdir()] == ["run.ckpt"]
            same(ph.resume(path, **again), result)  # as it is, once it is finished
            return result, times
        raise AssertionError("no progress")

    return run


@pytest.mark.parametrize(
    ("end", "every", "arguments"),
    [
        (1.0, 170, {}),
        (-0.5, 100, {}),
        (0.7003, 100, {"save_every": 30}),
        (0.7003, 90, {"t_eval": np.linspace(0.0, 0.7, 23)}),
        (0.7, 90, {"compensated": True, "method": "strang"}),
        (0.7, 90, {"compensated": True, "method": "trapm"}),
        (0.7, 90, {"method": "imidm"}),
        (0.7, 90, {"method": "imidm", "compensated": False}),
        (0.7, 90, {"method": "mkrk:rk4"}),
    ],
    ids=["all", "back", "some", "times", "strang", "trapm", "imidm", "imidm plain", "mkrk:rk4"],
)
def test_maps_go_on(broken_off, end, every, arguments):
    given = {"method": "mr2", "dt": 0.001, **arguments}
    run, times = broken_off(TOP, (0.0, end), every, **given)
    assert times > 1
    same(run, ph.solve(TOP, (0.0, end), **given))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"t_eval": np.linspace(0.0, 8.0, 99)},
        {"breakpoints": [3.0, 7.7], "max_step": 0.1, "save_every": 3},
        {"formulation": "generator-reset"},
    ],
    ids=["all", "times", "breaks", "resets"],
)
@pytest.mark.usefixtures("plain")
def test_adaptive_runs_go_on(broken_off, arguments):
    given = {"method": "dop853", "rtol": 1e-10, **arguments}
    run, times = broken_off(TOP, (0.0, 8.0), 67, **given)
    assert times > 1
    same(run, ph.solve(TOP, (0.0, 8.0), **given))


@pytest.mark.usefixtures("plain")
def test_integrators_with_a_history_go_on(broken_off):
    given = {"method": "adams", "dt": 0.001}
    run, times = broken_off(TOP, (0.0, 2.0), 170, **given)
    assert times > 1
    same(run, ph.solve(TOP, (0.0, 2.0), **given))


@pytest.mark.usefixtures("plain")
def test_six_degrees_of_freedom_go_on(broken_off):
    model = ph.models.spring(3.0, point=(0.1, 0.0, 0.2)) + ph.models.uniform_gravity()
    body = ph.RigidBody([1.0, 2.0, 3.0], mass=4.0)
    flight = ph.Problem(body, model, omega=[0.1, 2.0, 0.1], position=[1, 0, 0], velocity=[0, 1, 0])
    run, times = broken_off(flight, (0.0, 1.0), 100, method="mr2", dt=0.002)
    assert times > 1
    assert run.x is not None
    same(run, ph.solve(flight, (0.0, 1.0), method="mr2", dt=0.002))


def test_other_starts_and_parameters_go_on(tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    asked = {"method": "mr2", "dt": 0.001, "checkpoint": path, "checkpoint_every": 100}
    solver = ph.prepare(TOP, **asked)
    start = {"omega": [1.0, 2.0, 30.0], "params": [25.0]}

    def stops(fraction):
        if fraction > 0.5:
            raise Killed

    with pytest.raises(Killed):
        solver.replace(progress=stops)((1.0, 2.0), **start)
    assert head(path)["counts"]["steps"] == 500
    same(ph.resume(path), ph.prepare(TOP, method="mr2", dt=0.001)((1.0, 2.0), **start))


def rising(t, q, omega):
    return q[1]


def third(t, q, omega):
    return q[2] - 0.05


third.terminal, third.direction = 3, 1


@pytest.mark.parametrize(
    "given", [{"method": "dop853", "rtol": 1e-12}, {"method": "mr2", "dt": 0.001}], ids=str
)
def test_events_go_on(broken_off, given):
    events = [rising, third]
    span = 0.0, 20.0 if "rtol" in given else 3.0
    run, times = broken_off(TOP, span, 97, {"events": events}, events=events, **given)
    assert times > 1
    assert "by events[1]" in run.message
    same(run, ph.solve(TOP, span, events=events, **given))
    assert len(run.events[1].t) == 3


@pytest.mark.usefixtures("plain")
def test_failures_go_on(broken_off):
    def late(t, q, omega, params):
        return (1.0 / (1.0 - t) if t < 1.0 else float("nan")), 0.0, 0.0

    problem = ph.Problem(ph.RigidBody([1, 2, 3]), ph.torque(late), omega=[1, 2, 3])
    given = {"method": "mr2", "dt": 0.001}
    run, times = broken_off(problem, (0.0, 2.0), 170, {"model": problem.model}, **given)
    assert times > 1
    assert not run.success
    same(run, ph.solve(problem, (0.0, 2.0), **given))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_killed_runs_go_on(tmp_path):
    lives = kill("support.killed", tmp_path)
    assert set(lives) == set(CASES)
    assert all(int(number) > 1 for numbers in lives.values() for number in numbers), lives
    expected = {f"{case}.{how}" for case in CASES for how in ("random", "operations")}
    assert {path.name for path in tmp_path.iterdir()} == expected  # nothing half-written
    compare(tmp_path)


# ---- what is refused
@pytest.fixture
def unfinished(tmp_path):
    """A run of a user's torque, broken off."""

    def stops(fraction):
        if fraction > 0.5:
            raise Killed

    path = tmp_path / "run.ckpt"
    with pytest.raises(Killed):
        ph.solve(
            PUSHED,
            (0.0, 1.0),
            method="imidm",
            dt=0.001,
            checkpoint=path,
            checkpoint_every=100,
            progress=stops,
        )
    return path


@pytest.mark.usefixtures("plain")
def test_another_model_is_refused(unfinished):
    def other(t, q, omega, params):
        return 2.0 * params[0], -0.1 * omega[1], 0.2 * q[1]

    with pytest.raises(ph.InputError, match=r"model= is needed .*run\.ckpt.*'push'"):
        ph.resume(unfinished)
    push = PUSHED.model.user[0]
    for model, what in (
        (
            ph.torque(other, 0.3, name="push"),
            r"model\.user\[0\] is '\w{16}', the file has '\w{16}'",
        ),
        (ph.torque(push, 0.4), r"model\.p0 is 0\.4, the file has 0\.3"),
        (ph.torque(push, 0.3, frame="inertial"), r"model\.functions\.torque is .*inertial_torque"),
        (PUSHED.model + ph.models.heavy_top(2.0), r"model is 'push \+ heavy_top', the file has 'p"),
    ):
        with pytest.raises(ph.InputError, match=f"is not the one with which .*{what}"):
            ph.resume(unfinished, model=model)
    with pytest.raises(ph.InputError, match="model must be a Model, got 3"):
        ph.resume(unfinished, model=3)
    same(
        ph.resume(unfinished, model=ph.torque(push, 0.3)),
        ph.solve(PUSHED, (0.0, 1.0), method="imidm", dt=0.001),
    )


def test_an_unfinished_run_is_not_lost_by_mistake(unfinished, tmp_path):
    again = {"method": "imidm", "dt": 0.001, "checkpoint": unfinished}
    before = unfinished.read_bytes()
    with pytest.raises(ph.FileError, match=r"after 500 steps: continue it with ph\.resume"):
        ph.solve(PUSHED, (0.0, 1.0), **again)
    assert unfinished.read_bytes() == before
    rows = unfinished.with_name("run.ckpt.rows")
    whole = rows.read_bytes()
    rows.write_bytes(whole[:-1])
    with pytest.raises(ph.FileError, match=r"run\.ckpt\.rows' is cut off or missing"):
        ph.resume(unfinished, model=PUSHED.model)
    rows.unlink()
    with pytest.raises(ph.FileError, match="the two files belong together"):
        ph.resume(unfinished, model=PUSHED.model)
    assert not rows.exists()
    rows.write_bytes(whole)
    ph.resume(unfinished, model=PUSHED.model)
    assert not rows.exists()
    ph.solve(PUSHED, (0.0, 0.5), **again)  # a finished one is replaced
    assert head(unfinished)["span"] == [0.0, 0.5]
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    with pytest.raises(ph.FileError, match="would replace a file that is not a checkpoint"):
        ph.solve(PUSHED, (0.0, 0.5), **{**again, "checkpoint": notes})
    assert notes.read_text() == "mine"


def test_a_run_of_another_shape_is_refused(unfinished):
    data, arrays = read(unfinished)
    write(unfinished, solver_checkpoint.KIND, data, {**arrays, "row": arrays["row"][:, 1:]})
    with pytest.raises(ph.FileError, match="numbers of its run, and this version of polhode needs"):
        ph.resume(unfinished, model=PUSHED.model)
    write(unfinished, solver_checkpoint.KIND, {**data, "chosen": "akw"}, arrays)
    with pytest.raises(ph.FileError, match="begun with method 'akw', and 'auto' now chooses"):
        ph.resume(unfinished, model=PUSHED.model)


def test_functions_outside_the_library_must_be_given_again(tmp_path):
    path = tmp_path / "run.ckpt"
    mine = replace(ph.METHODS["mr2"], name="mine")
    given = {"method": mine, "dt": 0.001, "events": rising}
    run = ph.solve(TOP, (0.0, 0.3), checkpoint=path, **given)
    with pytest.raises(ph.InputError, match=r"method= is needed .*'mine' is not part of this"):
        ph.resume(path)
    with pytest.raises(ph.InputError, match=r"events= is needed .* digests of 1 of them"):
        ph.resume(path, method=mine)
    with pytest.raises(ph.InputError, match=r"events= is not the .*events\[0\]\.function is '\w"):
        ph.resume(path, method=mine, events=third)
    with pytest.raises(ph.InputError, match=r"method= is not the one .*method\.digest is '\w{16}'"):
        ph.resume(path, method=replace(mine, order=3), events=rising)
    same(ph.resume(path, method=mine, events=rising), run)


def test_functions_that_cannot_be_read_are_reported(tmp_path):
    class Motor:
        force = 0.3

    motor = Motor()

    def push(t, q, omega, params):
        return motor.force, 0.0, 0.0

    problem = ph.Problem(ph.RigidBody([1, 2, 3]), ph.torque(push), omega=[1, 2, 3])
    path = tmp_path / "run.ckpt"
    with pytest.warns(ph.PolhodeWarning, match="plain Python"):
        run = ph.solve(problem, (0.0, 0.1), method="mr2", dt=0.01, checkpoint=path)
    with pytest.warns(ph.PolhodeWarning, match=r"model=: cannot check .*run\.ckpt"):
        again = ph.resume(path, model=problem.model)
    assert again.q.tobytes() == run.q.tobytes()


@pytest.mark.usefixtures("plain")
def test_large_tables_are_compared_only(tmp_path):
    from polhode.models.free import free

    path = tmp_path / "run.ckpt"
    for size in (1000, STORED // 8 + 1):
        model = replace(free(), name="table", tables=(np.arange(float(size)),))
        problem = ph.Problem(ph.RigidBody([1, 2, 3]), model, omega=[1, 2, 3])
        run = ph.solve(problem, (0.0, 0.1), method="mr2", dt=0.01, checkpoint=path)
        if size == 1000:
            same(ph.resume(path), run)
        else:
            assert path.stat().st_size < 10_000
            with pytest.raises(ph.InputError, match="model= is needed"):
                ph.resume(path)
            other = replace(model, tables=(np.ones(size),))
            with pytest.raises(ph.InputError, match=r"model\.tables\[0\] is "):
                ph.resume(path, model=other)
        same(ph.resume(path, model=model), run)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"checkpoint_every": 10}, "checkpoint_every=10 needs a file: give checkpoint="),
        ({"checkpoint": 3}, "checkpoint must be the name of a file, got 3"),
        ({"checkpoint": "x", "checkpoint_every": 0}, "must be a whole number of steps, got 0"),
        ({"checkpoint": "x", "checkpoint_every": 1.5}, "must be a whole number of steps, got 1.5"),
        ({"checkpoint": "x", "dt": "much"}, "dt must be a number of seconds, got 'much'"),
        ({"checkpoint": "no/such/x"}, "there is no directory 'no/such' to write"),
    ],
)
def test_bad_arguments_are_reported(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ph.PolhodeError, match=message):
        ph.solve(TOP, (0.0, 0.1), **{"method": "mr2", "dt": 0.001, **arguments})
    assert list(tmp_path.iterdir()) == []


def test_the_closed_form_needs_none(tmp_path):
    free = ph.Problem(ph.RigidBody([1, 2, 3]), omega=[1, 2, 3])
    with pytest.raises(ph.MethodError, match="takes no steps to store: leave out checkpoint="):
        ph.solve(free, (0.0, 1.0), checkpoint=tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_without_a_number_of_steps_time_decides(tmp_path, monkeypatch):
    path, clock, written = tmp_path / "run.ckpt", iter(range(0, 10**6, 20)), []
    monkeypatch.setattr(solver_checkpoint.time, "monotonic", lambda: next(clock))

    def noted(*given):
        written.append(given[2]["counts"])
        write(*given)

    monkeypatch.setattr(solver_checkpoint, "write", noted)
    ph.solve(TOP, (0.0, 100.0), method="mr2", dt=0.001, save_every=100, checkpoint=path)
    assert len(written) >= 3  # at the start, on the way, at the end
    assert written[0] is None
    assert written[-1]["steps"] == 100_000


# ---- the command line
def test_the_command_line_continues(polhode):
    asked = ["fast-top", "--method", "mr2", "--t-end", "20", "--no-plot"]
    assert polhode("run", *asked, "-q", "--out", "whole")[0] == 0
    keep = ["--checkpoint", "top.ckpt", "--checkpoint-every", "400"]
    command = [sys.executable, "-m", "polhode", "run", *asked, *keep]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not _under_way(Path("top.ckpt")):
            pass
        process.kill()
    assert polhode("resume", "top.ckpt", "--no-plot")[0] == 0
    code, told, wrong = polhode("resume", "top.ckpt", "--no-plot", "--out", "again.nc")
    assert code == 0
    assert "finished before, from top.ckpt" in told
    whole = Path("whole/fast-top.nc").read_bytes()
    assert Path("fast-top.nc").read_bytes() == whole == Path("again.nc").read_bytes()
    assert not Path("top.ckpt.rows").exists()
    Path("top.ckpt").write_bytes(Path("top.ckpt").read_bytes()[:-5])
    code, told, wrong = polhode("resume", "top.ckpt")
    assert code == 2
    assert "top.ckpt' is cut off" in wrong


def _under_way(path: Path) -> bool:
    try:
        return head(path)["counts"] is not None
    except ph.FileError:
        return False
