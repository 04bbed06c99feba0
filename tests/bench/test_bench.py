"""Benchmarks: the records, and a small one from end to end.  No test asserts a time."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polhode.bench import (
    Bench,
    Missing,
    Note,
    Result,
    Table,
    Verdict,
    benches,
    compile,
    roundoff,
    run,
)
from polhode.bench.machine import machine
from polhode.bench.peers import COMPILER, PEERS, missing
from polhode.bench.records import Key, Settings, at_least, at_most, format_cell
from polhode.bench.timing import round_robin
from polhode.bench.tops import HEAVY, Lanes, Tops, recorder
from polhode.errors import InputError
from polhode.loops.join import variant
from polhode.methods import METHODS
from polhode.plot import benchmark

FOLDER = Path(__file__).parents[2] / "src" / "polhode" / "bench"


# ---- records
@pytest.mark.parametrize("bench", benches().values(), ids=lambda b: b.name)
def test_every_record_is_well_formed(bench):
    assert isinstance(bench, Bench)
    assert sys.modules[bench.measure.__module__].__doc__
    assert bench.summary
    assert bench.summary[0].islower() or bench.summary.startswith("ph.")
    assert not bench.summary.endswith(".")
    assert bench.repeats >= 1
    assert {*bench.needs} <= {*PEERS, COMPILER}
    assert all(key.text for key in bench.keys.values())


def test_a_record_in_any_file_is_found_and_listed_at_its_place():
    """A new benchmark is one new file."""
    known = benches()
    text = "\n".join(file.read_text(encoding="utf-8") for file in FOLDER.rglob("*.py"))
    assert sorted(re.findall(r"Bench\(\n    name=\"(\w+)\",", text)) == sorted(known)
    places = [bench.place for bench in known.values()]
    assert places == sorted({*places})
    assert [*known][:4] == ["single", "compile", "ensemble", "cluster"]
    assert {"precision", "adaptive", "highorder", "kinematics", "moon", "earth"} <= {*known}


def test_keys_are_checked():
    bench = benches()["roundoff"]
    assert bench.settings(changes={"steps": "1e5"}).count("steps") == 100_000
    with pytest.raises(InputError, match="has no key 'stairs'; its keys: method, steps, tops"):
        bench.settings(changes={"stairs": "3"})
    with pytest.raises(InputError, match="steps must be a positive number, got 'many'"):
        bench.settings(changes={"steps": "many"}).count("steps")
    with pytest.raises(InputError, match="steps must be an integer"):
        bench.settings(changes={"steps": "1.5"}).count("steps")
    settings = Settings(1, values={"only": "a, b", "n": "100"})
    assert settings.choose("only", ["a", "b", "c"]) == ["a", "b"]
    with pytest.raises(InputError, match="only must be of a; got b"):
        settings.choose("only", ["a"])
    assert settings.count("n", quick=10) == 100
    assert replace(settings, quick=True).count("n", quick=10) == 10


def test_verdicts_and_words():
    assert at_least("speed", 2.0, 1.5) == Verdict("speed", "at least 1.5", 2.0, True)
    assert at_most("error", 2.0, 1.5).text == "error: 2.00, at most 1.5: MISSED"
    words = [format_cell(x) for x in (None, 3, 0.0, 12.345, 1234.5, 3e-9, "no")]
    assert words == ["", "3", "0", "12.35", "1234", "3.0e-09", "no"]


def test_a_result_holds_everything():
    table = Table("times", {"what": "what", "ns_min": "ns"}, [{"what": "polhode", "ns_min": 3.0}])

    def measure(settings):
        settings.report("working")
        yield table
        yield at_least("speed", 1.0, 2.0)
        yield Note("done")

    said, seen = [], []
    keys = {"n": Key("1", "size")}
    bench = Bench("tiny", 1, "nothing much", measure, needs=("heyoka",), keys=keys)
    result = run(bench, bench.settings(quick=True, report=said.append), seen.append)
    assert isinstance(result, Result)
    assert said == ["working"]
    assert [each for each in seen if not isinstance(each, Missing)] == list(result.findings)
    assert result.settings.repeats == 3
    data = json.loads(json.dumps(result.data()))
    assert data["tables"][0]["rows"] == [{"what": "polhode", "ns_min": 3.0}]
    assert data["verdicts"][0]["met"] is False
    assert data["keys"] == {"n": "1"}
    assert data["machine"]["cores"] >= 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", data["date"])
    assert data["seconds"] >= 0.0
    assert Result.of(bench, data).data() == data
    figure = benchmark(result)
    assert len(figure.axes) == 1


def test_the_machine_is_described_in_general_terms():
    facts = json.dumps(machine())
    assert "/" not in facts.replace("GNU/Linux", "")
    assert {"cpu", "cores", "features", "compilers", "llvm"} <= {*machine()}


def test_variants_take_turns():
    order, ticks = [], iter(range(100))
    calls = {name: (lambda name=name: order.append(name), 2) for name in "ab"}
    times = round_robin(calls, 2, clock=lambda: next(ticks))
    assert "".join(order) == "ababab"
    assert times["a"].ns == (0.5, 0.5)
    assert times["a"].minimum == times["a"].median == 0.5


# ---- peers
def test_a_missing_peer_is_reported(monkeypatch, polhode):
    monkeypatch.setitem(sys.modules, "heyoka", None)
    assert missing(["heyoka", "SciPy"]) == [Missing("heyoka", "pip install 'heyoka'")]
    code, out, err = polhode("bench", "precision", "--quick")
    assert code == 0
    assert "heyoka is missing and left out; get it with: pip install 'heyoka'" in err
    assert out == ""
    code, _, err = polhode("bench")
    assert code == 0
    assert "heyoka is missing" in err


def test_a_missing_compiler_is_reported(monkeypatch):
    from polhode.bench import in_c

    monkeypatch.setattr(in_c.shutil, "which", lambda name: None)
    in_c.compilers.cache_clear()
    try:
        (absent,) = missing([COMPILER])
    finally:
        in_c.compilers.cache_clear()
    assert "gcc or clang" in absent.install


# ---- command
def test_the_list(polhode):
    code, out, _ = polhode("bench")
    assert code == 0
    for name in benches():
        assert any(line.startswith(f"{name} ") for line in out.splitlines())


def test_a_benchmark_end_to_end(polhode):
    code, out, _ = polhode(
        "bench", "mesh", "--quick", "--repeats", 1, "--set", "triangles=200",
        "--json", "mesh.json", "--plot", "mesh.png",
    )  # fmt: skip
    assert code == 0
    assert "Mass properties" in out
    assert "integrals" in out
    found = json.loads(Path("mesh.json").read_text())
    assert found["benchmark"] == "mesh"
    assert found["repeats"] == 1
    assert found["keys"] == {"triangles": "200"}
    assert found["tables"][0]["rows"][0]["what"] == "shared vertices"
    assert Path("mesh.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["unheard"], "benchmark must be one of single"),
        (["mesh", "--set", "triangles"], "--set takes KEY=VALUE, got 'triangles'"),
        (["mesh", "--set", "faces=3"], "its keys: triangles"),
        (["mesh", "--plot", "mesh.txt"], "--plot must end in .png"),
        (["mesh", "--store", "nowhere"], "--store must be a folder that exists, got 'nowhere'"),
        (["all", "--json", "all.json"], "--json is for one benchmark; with all, use --store"),
    ],
)
def test_mistakes(arguments, message, polhode):
    code, _, err = polhode("bench", *arguments)
    assert code == 2
    assert message in err


@pytest.mark.parametrize(("met", "code"), [(True, 0), (False, 1)])
def test_strict_runs_exit_with_1_if_a_claim_is_missed(polhode, monkeypatch, met, code):
    def measure(settings):
        yield Verdict("speed", "at least 2", 1.5, met)

    known = benches()["mesh"]
    monkeypatch.setattr("polhode.bench.benches", lambda: {"mesh": replace(known, measure=measure)})
    assert polhode("bench", "mesh", "--quick")[0] == 0
    ended, _, err = polhode("bench", "mesh", "--quick", "--strict")
    assert ended == code
    assert ("missed: speed" in err) == (not met)


def test_all_run_by_one_command_even_if_one_fails(polhode, monkeypatch, tmp_path):
    from polhode.cli import bench as command

    known = benches()["mesh"]
    made = {"unheard": replace(known, name="unheard"), "mesh": known}
    monkeypatch.setattr("polhode.bench.benches", lambda: made)
    asked = []

    def apart(arguments):
        asked.append(arguments)
        return apart_indeed(arguments)

    apart_indeed = command._apart
    monkeypatch.setattr(command, "_apart", apart)
    code, out, err = polhode("bench", "all", "--quick", "--repeats", 1, "--store", tmp_path)
    assert code == 1
    assert "unheard failed with exit code 2" in err  # the other process does not know it
    assert re.search(r"unheard +\d+ +failed", out)
    assert re.search(r"mesh +\d+ +–", out)  # it makes no claim
    assert [words[0] for words in asked] == ["unheard", "mesh"]
    stored = json.loads((tmp_path / "mesh.json").read_text())
    assert stored["quick"] is True
    assert stored["repeats"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["mesh.json"]


@pytest.mark.parametrize(("long", "quick"), [(True, True), (False, False)])
def test_the_quick_form_is_stored_of_those_that_take_minutes(
    polhode, monkeypatch, tmp_path, long, quick
):
    def measure(settings):
        yield Table("t", {"what": "what", "x": "x"}, [{"what": str(settings.quick), "x": 1 / 3}])

    bench = replace(benches()["mesh"], measure=measure, long=long)
    monkeypatch.setattr("polhode.bench.benches", lambda: {"mesh": bench})
    assert polhode("bench", "mesh", "--store", tmp_path)[0] == 0
    stored = json.loads((tmp_path / "mesh.json").read_text())
    assert stored["quick"] is quick
    assert stored["tables"][0]["rows"] == [{"what": str(quick), "x": 0.33333}]


# ---- correctness of what is timed
def test_tops_in_lanes_are_tops_alone():
    tops = Tops.random(3)
    lanes = Lanes(METHODS["mr2"], HEAVY, tops, 5e-3)
    lanes.advance(4)
    record = recorder(METHODS["mr2"], HEAVY)
    for state, member in zip(lanes.states().T, tops.members(), strict=True):
        (q, m), _ = record(4, 5e-3, *member)
        assert np.array_equal(state, [*q, *m])


def test_compensated_sums_drift_less():
    """The remainders of compensated sums count as part of the state."""
    found = {}
    for sums, compensated in roundoff.SUMS.items():
        method = variant(METHODS["mr2"], None, compensated)
        lanes = Lanes(method, roundoff.MODELS["free"], Tops.random(roundoff.BODIES), roundoff.H)
        found[sums] = dict(roundoff.growth(lanes, compensated, 2000))
    assert [*found["plain"]] == [*found["compensated"]] == [1000, 2000]
    assert (found["plain"][1000] > 1e-15).all()
    assert (found["compensated"][1000] < 0.05 * found["plain"][1000]).all()
    assert roundoff.slope([10, 1000], [1.0, 10.0]) == pytest.approx(0.5)


def test_cold_starts_of_integrators_for_a_given_rate(tmp_path):
    found = compile.started("magnus4", str(tmp_path))
    assert found["total"] > found["imports"] > 0 == found["binding"]
