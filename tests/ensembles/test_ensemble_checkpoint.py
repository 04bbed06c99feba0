"""Checkpoints of ensembles: killed at any instant, they resume to the same bits."""

import os
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.cli import main as command_line
from polhode.ensembles import checkpoint, entry, resume, run
from polhode.ensembles.chunk import Chunk, make_mover
from polhode.ensembles.distributions import GROUP, Attitudes, Boxes, Distribution, Normal
from polhode.ensembles.durable import DurableStore
from polhode.ensembles.reductions import Extremes, FirstTime, Histogram, Mean, Reduction
from polhode.files.checkpoint import head, kind_of, read, write
from support.killed import kill
from support.killed_ensembles import (
    CASES,
    MAP,
    SPINS,
    TOP,
    compare,
    same,
    same_files,
    turned,
)
from support.run_files import TOPS

TESTS = Path(__file__).parents[1]
FREE = ph.Problem(ph.RigidBody([2.0, 3.0, 4.5]), omega=[0.4, 1.3, 5.0])
SPRING = ph.problems.off_centre_spring()


class Killed(Exception):
    pass


def raised_at(number, patch):
    """Raise ``Killed`` instead of writing the n-th checkpoint."""
    count = 0

    def flaky(*given):
        nonlocal count
        count += 1
        if count == number:
            raise Killed
        write(*given)

    patch.setattr(checkpoint, "write", flaky)


@pytest.fixture
def broken(monkeypatch):
    """Call something that is interrupted before its n-th checkpoint."""

    def call(number, function, *given, **named):
        with monkeypatch.context() as patch:
            raised_at(number, patch)
            with pytest.raises(Killed):
                function(*given, **named)

    return call


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """Run to the end, interrupted before every fourth checkpoint: (result, interruptions)."""

    def run(problem, span, every, again=None, **arguments):
        path, again = tmp_path / "many.ckpt", again or {}
        for times in range(1000):
            with monkeypatch.context() as patch:
                raised_at(4, patch)
                try:
                    if path.exists():
                        result = ph.resume(path, **again)
                    else:
                        keep = {"checkpoint": path, "checkpoint_every": every}
                        result = ph.solve_ensemble(problem, span, **keep, **arguments)
                except Killed:
                    continue
            same(ph.resume(path, **again), result)  # a finished one is returned as it is
            return result, times
        raise AssertionError("no progress")

    return run


# ---- resuming
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_killed_ensembles_resume(tmp_path):
    lives = kill("support.killed_ensembles", tmp_path)
    assert set(lives) == set(CASES)
    assert all(int(more) > 3 for _, more in lives.values()), lives
    assert all(int(number) > 1 for number, _ in lives.values()), lives
    assert not list(tmp_path.rglob("*.part*"))  # nothing half-written
    compare(tmp_path)


RATES = {"omega": np.array([[0.4, 1.3, 5.0], [-2.0, 0.1, 1.0], [0.0, 3.0, -0.5]])}


@pytest.mark.parametrize(
    ("problem", "end", "every", "arguments"),
    [
        (TOP, -0.2, 30, {**MAP, "vary": SPINS, "save": None, "reduce": "extremes(energy)"}),
        (TOP, 0.2003, 30, {**MAP, "vary": SPINS, "save": [0.0, 0.10007, 0.2003]}),
        (TOP, 0.1, 9, {"vary": RATES, "seed": 1, "method": "mr2", "dt": 1e-3, "compensated": True}),
        (FREE, 40.0, 9, {"vary": {"attitude": Attitudes()}, "members": 5, "seed": 1, "reduce": [
            "attitude", "histogram(speed, 1, 2)"], "save": [3.0, 40.0]}),
        (SPRING, 0.3, 20, {"method": "mr2", "dt": 1e-2, "save": "all", "seed": 1,
            "vary": {"mass": [1.0, 2.0], "position": [[0, -0.1, 0.4], [0.1, 0, 0.5]]}}),
    ],
    ids=["back", "side steps", "compensated", "closed form", "moving"],
)  # fmt: skip
def test_every_kind_resumes(interrupted, problem, end, every, arguments):
    result, times = interrupted(problem, (0.0, end), every, **arguments)
    assert times > 0
    same(result, ph.solve_ensemble(problem, (0.0, end), **arguments))


def test_failed_members_resume(interrupted):
    def late(t, q, omega, params):
        return (1.0 / (params[0] - t) if t < params[0] else float("nan")), 0.0, 0.0

    problem = ph.Problem(ph.RigidBody([1, 2, 3]), ph.torque(late, 1.0), omega=[1, 2, 3])
    asked = {
        "seed": 1,
        "method": "mr2",
        "dt": 1e-2,
        "vary": {"model.p0": [0.3, 5.0, 0.7]},
        "save": 10,
    }
    result, times = interrupted(problem, (0.0, 1.0), 9, {"model": problem.model}, **asked)
    assert times > 1
    assert result.success.tolist() == [False, True, False]
    same(result, ph.solve_ensemble(problem, (0.0, 1.0), **asked))


def test_members_are_drawn_again_without_a_seed(interrupted):
    asked = {"vary": {"inertia": Boxes(0.2, 1.0)}, "members": 6, "method": "mr2", "dt": 0.01}
    result, times = interrupted(TOP, (0.0, 0.1), 2, **asked)
    assert times > 0
    same(result, ph.solve_ensemble(TOP, (0.0, 0.1), seed=result.seed, **asked))


def test_a_checkpoint_does_not_grow(tmp_path, monkeypatch):
    path, sizes, rows = tmp_path / "many.ckpt", [], []

    def noted(*given):
        write(*given)
        sizes.append(path.stat().st_size)
        rows.append(path.with_name("many.ckpt.rows").stat().st_size)

    monkeypatch.setattr(checkpoint, "write", noted)
    asked = {**MAP, "save": 2, "checkpoint": path, "checkpoint_every": 10}
    result = ph.solve_ensemble(TOP, (0.0, 0.2), **asked)
    assert len(sizes) > 40
    assert max(sizes) - sizes[1] < 1.2 * (max(sizes[2:12]) - sizes[1])
    assert rows == sorted(rows)
    kept = result.q.nbytes // 4 * 7 + SPINS["model.strength"].nbytes
    assert rows[-1] < kept + 100_000  # once


def test_checkpoints_are_timed_by_default(tmp_path, monkeypatch):
    path, marks = tmp_path / "many.ckpt", []
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)  # due whenever it is looked
    monkeypatch.setattr(checkpoint, "write", lambda *given: (write(*given), marks.append(given[3])))
    for asked in ({"method": "mr2", "dt": 1e-3}, {"rtol": 1e-9, "method": "dop853"}):
        marks.clear()
        ph.solve_ensemble(TOP, (0.0, 0.5), vary=RATES, checkpoint=path, **asked)
        places = [arrays["chunk place"].tolist() for arrays in marks if "chunk place" in arrays]
        assert len(places) > 2
        assert places == sorted(places)
        assert all(row == 1 for row, _ in places[1:])  # between the first row and the last


def test_a_store_whose_end_was_half_written_is_continued(tmp_path, monkeypatch):
    """Killed before any of the files that are written at the end."""
    fatal, written = None, []

    async def set(store, key, value, real=DurableStore.set):
        if key == fatal:
            raise Killed
        written.append(key)
        await real(store, key, value)

    def run(path):
        keep = {"checkpoint": path, "out": path.with_suffix(".zarr")}
        return ph.solve_ensemble(TOP, (0.0, 0.2), **keep, **asked)

    asked = {**MAP, "dt": 0.05, "save": 2, "reduce": "mean(omega)", "reduce_times": 3}
    monkeypatch.setattr(DurableStore, "set", set)
    whole = run(tmp_path / "whole.ckpt")
    first = next(k for k, key in enumerate(written) if key.endswith(".zarray"))
    keys = list(dict.fromkeys(written[first:]))
    assert len(keys) > 6
    for k, key in enumerate(keys):
        path, fatal = tmp_path / f"{k}.ckpt", key
        with pytest.raises(Killed):
            run(path)
        fatal = None
        same(ph.resume(path), whole)


# ---- chunks of workers
class Elsewhere:
    """Stand in for the workers of a cluster: chunks of one group, the last ones first."""

    def __init__(self, client, task, size, threads, gaps):
        client.append(gaps)
        self.task, self.threads, self.gaps = task, threads, gaps

    def run(self, put, report):
        for first, last in reversed(self.gaps):
            for a in reversed(range(first, last, GROUP)):
                mover = make_mover(self.task, self.threads)
                chunk = Chunk(self.task, mover, a, min(a + GROUP, last))
                put(a, chunk.last, chunk.run())


@pytest.mark.parametrize("out", [None, "many.zarr"])
def test_chunks_of_workers_are_kept(tmp_path, monkeypatch, broken, out):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(entry, "connect", nullcontext)
    monkeypatch.setattr(resume, "connect", nullcontext)
    monkeypatch.setattr(run, "Dispatch", Elsewhere)
    asked = {"members": 4 * GROUP, "vary": {"omega": Normal([0, 0, 50], 1.0)}, "seed": 2}
    asked |= {"method": "mr2", "dt": 1e-2, "save": 5, "reduce": ["mean(omega)", "quantiles(speed)"]}
    whole = ph.solve_ensemble(TOP, (0.0, 0.2), **asked)
    keep, calls = {"checkpoint": "many.ckpt", "checkpoint_every": 2, "out": out}, []
    elsewhere = {"chunk": 2 * GROUP, "client": calls}
    broken(5, ph.solve_ensemble, TOP, (0.0, 0.2), **elsewhere, **keep, **asked)
    assert head("many.ckpt")["counts"]["done"] == [[3 * GROUP, 4 * GROUP], [2 * GROUP, 3 * GROUP]]
    broken(4, ph.resume, "many.ckpt")  # here, inside a chunk
    assert head("many.ckpt")["counts"]["chunk"] == [0, 2 * GROUP]
    broken(3, ph.resume, "many.ckpt", client=calls)
    assert head("many.ckpt")["counts"]["chunk"] is None
    same(ph.resume("many.ckpt"), whole)
    assert calls == [[(0, 4 * GROUP)], [(0, 2 * GROUP)]]
    same(ph.resume("many.ckpt", client=calls), whole)  # it is finished: no worker is needed
    assert len(calls) == 2


# ---- refusals
@pytest.fixture
def unfinished(tmp_path, broken):
    """An interrupted ensemble with a user-defined torque and reductions."""
    path = tmp_path / "many.ckpt"
    keep = {"checkpoint": path, "checkpoint_every": 10}
    broken(5, ph.solve_ensemble, PUSHED, (0.0, 0.1), **ASKED, reduce=REDUCED, **keep)
    return path


def push(t, q, omega, params):
    return params[0], -0.1 * q[2], 0.2 * q[1]


PUSHED = ph.Problem(ph.RigidBody([2.0, 3.0, 4.0]), ph.torque(push, 0.3), omega=[1.0, 2.0, 3.0])
ASKED = {"vary": RATES, "seed": 1, "method": "mr2", "dt": 1e-3, "save": 10, "reduce_times": 5}
REDUCED = [Mean("omega"), FirstTime(turned)]


def test_different_functions_are_refused(unfinished):
    def turned(t, q, omega):
        return q[1] - 0.06

    def pushed(t, q, omega, params):
        return 2.0 * params[0], -0.1 * q[2], 0.2 * q[1]

    model = {"model": PUSHED.model}
    with pytest.raises(ph.InputError, match=r"model= is needed .*many\.ckpt.*'push'"):
        ph.resume(unfinished, reduce=REDUCED)
    with pytest.raises(ph.InputError, match=r"model\.user\[0\] is '\w{16}', the file has '\w{16}'"):
        ph.resume(unfinished, model=ph.torque(pushed, 0.3, name="push"), reduce=REDUCED)
    with pytest.raises(ph.InputError, match=r"reduce= is needed .* of FirstTime\(turned\); give"):
        ph.resume(unfinished, **model)
    for reduce, what in (
        ([Mean("omega"), FirstTime(turned)], r"reduce\[1\]\.of\.function is '\w{16}', the file"),
        (
            [Mean("q"), REDUCED[1]],
            r"reduce\[0\]\.name is 'Mean\(q\)', the file has 'Mean\(omega\)'",
        ),
        (REDUCED[:1], "reduce is 1 of them, the file has 2 of them"),
        ([REDUCED[0], FirstTime(REDUCED[1].of, every=0.1)], r"reduce\[1\]\.every is 0\.1, the fil"),
    ):
        with pytest.raises(ph.InputError, match=f"reduce= is not the one with which .*{what}"):
            ph.resume(unfinished, reduce=reduce, **model)
    with pytest.raises(ph.InputError, match="of an ensemble, and events= is for runs"):
        ph.resume(unfinished, events=turned, reduce=REDUCED, **model)
    result = ph.resume(unfinished, reduce=REDUCED, **model)
    same(result, ph.solve_ensemble(PUSHED, (0.0, 0.1), **ASKED, reduce=REDUCED))


class Steadiest(Reduction):
    """The least speed, and the number of members."""

    def __init__(self, of="speed", unit=1.0):
        super().__init__(of)
        object.__setattr__(self, "unit", unit)

    def part(self, values):
        return np.array([len(values), values.min(initial=np.inf) / self.unit])

    def join(self, a, b):
        return np.array([a[0] + b[0], min(a[1], b[1])])

    def end(self, row):
        return {"steadiest": row[1], "of_these": int(row[0])}


@pytest.mark.parametrize("out", [None, "many.zarr"])
def test_a_user_defined_reduction_resumes(tmp_path, broken, out):
    path, asked = tmp_path / "many.ckpt", {**ASKED, "reduce": Steadiest()}
    stored = {} if out is None else {"out": tmp_path / out}
    keep = {"checkpoint": path, "checkpoint_every": 10, **stored}
    broken(5, ph.solve_ensemble, PUSHED, (0.0, 0.1), **asked, **keep)
    model = {"model": PUSHED.model}
    with pytest.raises(ph.InputError, match=r"reduce= is needed .* class of Steadiest\(speed\)"):
        ph.resume(path, **model)
    with pytest.raises(ph.InputError, match=r"reduce\[0\]\.class is '\w{16}', the file has"):
        ph.resume(path, reduce=Steadiest(unit=2.0), **model)
    result = ph.resume(path, reduce=Steadiest(), **model)
    same(result, ph.solve_ensemble(PUSHED, (0.0, 0.1), **asked))
    if out is not None:
        same(ph.load(tmp_path / out), result)


def test_damaged_files_are_refused(unfinished):
    given = {"model": PUSHED.model, "reduce": REDUCED}
    rows = unfinished.with_name("many.ckpt.rows")
    counted, _ = head(unfinished)["mark"]  # the rest was not yet counted
    for file, end in ((unfinished, None), (rows, counted)):
        whole = file.read_bytes()[:end]
        for size in (0, 10, len(whole) // 2, len(whole) - 1):
            file.write_bytes(whole[:size])
            with pytest.raises(ph.FileError, match=rf"{file.name}' is cut off"):
                ph.resume(unfinished, **given)
        for byte in range(0, len(whole), len(whole) // 23):
            edited = bytearray(whole)
            edited[byte] ^= 4
            file.write_bytes(edited)
            with pytest.raises(ph.FileError, match=f"{file.name}"):
                ph.resume(unfinished, **given)
        file.write_bytes(whole)
    data, arrays = read(unfinished)
    write(unfinished, checkpoint.KIND, {**data, "chosen": "akw"}, arrays)
    with pytest.raises(ph.FileError, match="begun with method 'akw', and 'auto' now chooses 'mr2'"):
        ph.resume(unfinished, **given)
    other = {**arrays, "chunk blocks 0": arrays["chunk blocks 0"][:, 1:]}
    write(unfinished, checkpoint.KIND, data, other)
    with pytest.raises(ph.FileError, match="does not hold the numbers of members that this versio"):
        ph.resume(unfinished, **given)
    write(unfinished, checkpoint.KIND, {**data, "counts": {"done": [], "chunk": None}}, arrays)
    with pytest.raises(ph.FileError, match=r"many\.ckpt\.rows' has \d+ numbers, not those that"):
        ph.resume(unfinished, **given)


def test_an_unfinished_ensemble_is_not_overwritten(unfinished, tmp_path):
    asked = {"vary": RATES, "seed": 1, "method": "mr2", "dt": 1e-3, "checkpoint": unfinished}
    before = unfinished.read_bytes()
    with pytest.raises(ph.FileError, match=r"after 0 of 3 members: continue it with ph"):
        ph.solve_ensemble(TOP, (0.0, 0.1), **asked)
    with pytest.raises(ph.FileError, match=r"not a checkpoint of a run .*kind 'ensemble'"):
        ph.solve(TOP, (0.0, 0.1), method="mr2", dt=1e-3, checkpoint=unfinished)
    assert unfinished.read_bytes() == before
    ph.resume(unfinished, model=PUSHED.model, reduce=REDUCED)
    result = ph.solve_ensemble(TOP, (0.0, 0.1), **asked)  # a finished one is replaced
    same(ph.resume(unfinished), result)
    run = tmp_path / "run.ckpt"
    ph.solve(TOP, (0.0, 0.1), method="mr2", dt=1e-3, checkpoint=run)
    with pytest.raises(ph.FileError, match=r"not a checkpoint of an ensemble .*kind 'run'"):
        ph.solve_ensemble(TOP, (0.0, 0.1), **{**asked, "checkpoint": run})
    with pytest.raises(ph.InputError, match="of a run, and reduce= is for ensembles: leave it"):
        ph.resume(run, reduce="attitude")
    assert kind_of(run) == "run"


def test_a_store_and_its_checkpoint_belong_together(tmp_path, monkeypatch, broken):
    monkeypatch.chdir(tmp_path)
    asked = {"vary": RATES, "seed": 1, "method": "mr2", "dt": 1e-3, "save": 10, "out": "a.zarr"}
    whole = ph.solve_ensemble(TOP, (0.0, 0.1), **{**asked, "out": None})
    keep = {"checkpoint": "a.ckpt", "checkpoint_every": 10}
    broken(5, ph.solve_ensemble, TOP, (0.0, 0.1), **keep, **asked)
    Path("a.zarr").rename("b.zarr")
    with pytest.raises(ph.FileError, match=r"a\.zarr' is not a Zarr store"):
        ph.resume("a.ckpt")
    ph.solve_ensemble(TOP, (0.0, 0.2), **asked)
    with pytest.raises(ph.FileError, match=r"a\.zarr' is the store of another run"):
        ph.resume("a.ckpt")
    place = Path("moved")  # together
    place.mkdir()
    for old in ("a.ckpt", "a.ckpt.rows"):
        Path(old).rename(place / old)
    Path("b.zarr").rename(place / "a.zarr")
    result = ph.resume(place / "a.ckpt")
    assert result.path == place / "a.zarr"
    same(result, whole)
    same(ph.load(place / "a.zarr"), whole)


class Mine(Distribution):
    def draw(self, random, count, shape):
        return np.zeros((count, *shape))


LATE = [[1, 1, 1]] * (GROUP + 2) + [[1, 1, 5]]  # not checked before the run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"checkpoint": None}, "checkpoint_every=10 needs a file: give checkpoint="),
        ({"checkpoint_every": 1.5}, "must be a whole number of steps, got 1.5"),
        (
            {"vary": {"omega": Mine()}, "members": 2},
            r"cannot keep vary\['omega'\]: Mine is not one",
        ),
        ({"vary": {"omega": Normal("x", 1)}, "members": 2}, "mean must be a finite number, or 3 "),
        ({"reduce": Reduction("q")}, "a trial of Reduction failed with NotImplementedError"),
        ({"vary": {"inertia": [[1, 1, 1], [1, 1, 5]]}}, "member 1: "),
        ({"vary": {"inertia": LATE}, "out": "a.zarr"}, f"member {GROUP + 2}: "),
        (
            {
                "vary": {"inertia": LATE},
                "out": "a.zarr",
                "checkpoint": None,
                "checkpoint_every": None,
            },
            f"member {GROUP + 2}: ",
        ),
        ({"threads": 0, "out": "a.zarr"}, "threads must be a whole number, 1 or more, got 0"),
        ({"out": "a.nc"}, r"out must be the name of a Zarr store"),
        ({"checkpoint": "no/such"}, "there is no directory 'no' to write"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_bad_arguments_leave_nothing(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {
        "vary": RATES,
        "seed": 1,
        "method": "mr2",
        "dt": 1e-3,
        "checkpoint": "x",
        "checkpoint_every": 10,
    }
    with pytest.raises(ph.PolhodeError, match=message):
        ph.solve_ensemble(TOP, (0.0, 0.1), **{**asked, **arguments})
    assert list(tmp_path.iterdir()) == []


def test_distributions_and_reductions_are_rebuilt(tmp_path):
    path = tmp_path / "many.ckpt"
    reduce = [Histogram("speed", np.array([1, 2]), name="pace"), Extremes("q"), "quantiles(speed)"]
    result = ph.solve_ensemble(
        TOP, (0.0, 0.1), members=3, seed=10**30, vary={"omega": Normal(0, np.eye(3))},
        method="mr2", dt=1e-2, reduce=reduce, checkpoint=path,
    )  # fmt: skip
    same(ph.resume(path), result)
    same(ph.resume(path, reduce=reduce), result)
    vary = head(path)["members"]["vary"]
    assert vary == {
        "omega": {"kind": "Normal", "fields": {"mean": 0.0, "sigma": np.eye(3).tolist()}}
    }
    data, arrays = read(path)
    data["members"]["vary"]["omega"]["kind"] = "Cauchy"
    write(path, checkpoint.KIND, data, arrays)
    with pytest.raises(ph.FileError, match="has the distribution 'Cauchy', which this version"):
        ph.resume(path)


# ---- the command line
@pytest.mark.parametrize("suffix", ["zarr", "nc"])
def test_the_command_line_resumes(monkeypatch, polhode, broken, suffix):
    Path("tops.toml").write_text(TOPS)

    asked = ["ensemble", "tops.toml", "--no-plot", "-q"]
    assert polhode(*asked, "--out", f"whole.{suffix}")[0] == 0
    keep = ["--checkpoint", "tops.ckpt", "--checkpoint-every", "5"]
    out = ["--out", f"tops.{suffix}"] if suffix == "nc" else []
    monkeypatch.setattr(sys, "argv", ["polhode", *asked, *keep, *out])
    broken(5, command_line.main)
    code, out_text, wrong = polhode("resume", "tops.ckpt", "--no-plot", "--threads", "1")
    assert code == 0
    assert "resumed after 0 of 40 members, from tops.ckpt" in out_text
    whole, again = ph.load(f"whole.{suffix}"), ph.load(f"tops.{suffix}")
    same(again, whole)
    if suffix == "zarr":
        assert same_files(Path("whole.zarr"), Path("tops.zarr"))
        code, out_text, wrong = polhode("resume", "tops.ckpt", "--out", "other.nc")
        assert code == 2
        assert "must keep its states in a .zarr store, not 'other.nc'" in wrong
    code, out_text, wrong = polhode("resume", "tops.ckpt", "--no-plot")
    assert "finished before" in out_text
    code, out_text, wrong = polhode(
        "run", "fast-top", "--t-end", "0.1", "-q", "--no-plot", "--checkpoint", "r"
    )
    assert polhode("resume", "r", "--dask")[0] == 2
