"""One call of the library passes through few of its modules, and resuming is no exception."""

import runpy
from pathlib import Path

import pytest

HOPS = runpy.run_path(str(Path(__file__).parents[2] / "design" / "hops.py"))
COMPILED = "solve, adaptive", "solve, adaptive, t_eval", "solve, auto with dt"
SLOW = dict.fromkeys(COMPILED, pytest.mark.slow)  # seconds each, where nothing is cached


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    return HOPS["calls"](tmp_path_factory.mktemp("hops"))


@pytest.mark.parametrize("name", [pytest.param(n, marks=SLOW.get(n, ())) for n in HOPS["LIMITS"]])
def test_a_call_passes_through_few_modules(calls, name):
    calls[name]()  # what it compiles does not count
    found = HOPS["hops"](calls[name])
    assert len(found) <= HOPS["LIMITS"][name], "\n".join(found)
