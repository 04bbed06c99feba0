"""The four problems of the overview: equations, runs and programs.  No test asserts a time."""

import ast
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from polhode.bench import overview
from polhode.bench.angles import angle
from polhode.bench.overview.cases import TOP, TURNING, cases
from polhode.bench.overview.ours import by_polhode
from polhode.bench.peers import PEERS


@pytest.fixture(scope="module")
def ends():
    """The attitudes at the ends by SciPy, from the equations that the peers are given."""
    return {
        case.name: solve_ivp(
            case.slope, (0.0, case.end), case.start, method="DOP853", rtol=1e-9, atol=1e-10
        ).y[:4, -1]
        for case in cases().values()
        if case.name != TURNING  # 60 000 evaluations
    }


def test_there_are_four_problems():
    assert len(cases()) == 4
    assert {*overview.MAKERS} <= {*PEERS}


@pytest.mark.parametrize("name", [name for name in cases() if name != TURNING])
def test_our_runs_are_of_the_same_motion(name, ends):
    runs = list(by_polhode(cases()[name], quick=True))
    off = [float(angle(np.asarray(run.attitude(run.call())), ends[name])) for run in runs]
    assert min(off) < 2e-6
    assert off[-1] < 2e-6


def test_the_given_rate_is_that_of_its_attitude():
    case = cases()[TURNING]
    run = list(by_polhode(case, quick=True))[-1]
    assert float(angle(np.asarray(run.attitude(run.call())), case.attitude)) < 1e-11


def test_the_programs_solve_the_top():
    seconds, q = overview.ran(overview.SCRIPTS / "with_polhode.py")
    assert seconds > 0
    (*_, run) = by_polhode(cases()[TOP], quick=True)
    assert float(angle(q, np.asarray(run.attitude(run.call())))) < 1e-9


@pytest.mark.parametrize("script", sorted(overview.SCRIPTS.glob("*.py")), ids=lambda s: s.stem)
def test_the_programs_are_of_known_libraries(script: Path):
    ast.parse(script.read_text(encoding="utf-8"))
    names = {f"with_{name.lower()}" for name in (overview.OURS, *overview.MAKERS)}
    assert script.stem in names


# ---- tables
def row(peer, error, us, problem=TOP):
    return {"peer": peer, "problem": problem, "error": error, "us_min": us, "us_median": us}


ROWS = [row("polhode", 1e-13, 10.0), row("a", 1e-7, 25.0), row("b", 1e-13, 40.0)]


def test_the_fastest_run_that_reaches_an_error_counts():
    rows = [row("a", 1e-7, 3.0), row("a", 1e-13, 5.0), row("a", 1e-9, 6.0), row("b", 1e-5, 1.0)]
    kept = [(each["peer"], each["us_min"]) for each in overview.front(rows)]
    assert kept == [("a", 3.0), ("a", 5.0), ("b", 1.0)]
    assert overview.fastest(rows, "a", TOP, 1e-6) == 3.0
    assert overview.fastest(rows, "b", TOP, 1e-6) is None


def test_the_table_has_ratios_and_words():
    table = overview.costs(ROWS)
    found = {each["peer"]: [each[f"{TOP} {e:.0e}"] for e in overview.ERRORS] for each in table.rows}
    assert found["polhode"] == ["10 µs"] * 3
    assert found["a"] == ["× 2.5", "not reached", "not reached"]
    assert found["b"] == ["× 4"] * 3
    assert {each[f"{TURNING} 1e-06"] for each in table.rows} == {"–"}


def test_the_claim_is_about_the_fastest_peer():
    (verdict,) = overview.claims(ROWS)
    assert verdict.measured == 2.5
    assert verdict.met
