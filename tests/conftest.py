"""Options, seeded generators and the command line, shared by the tests."""

import gc
import sys

import numpy as np
import pytest


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the long reproductions")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    skip = pytest.mark.skip(reason="long reproduction: run with --slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="module", autouse=True)
def few_collections():
    """Leave what earlier modules made out of garbage collection: compilers keep millions."""
    gc.freeze()


@pytest.fixture
def rng():
    return np.random.default_rng(20060420)


@pytest.fixture
def plain(monkeypatch):
    """Run loops as plain Python: for tests that are not about machine code and take few steps."""
    from polhode.compiler.machine import CompiledOrPlain

    monkeypatch.setattr(CompiledOrPlain, "__call__", lambda self, *args: self.function(*args))


@pytest.fixture
def polhode(monkeypatch, capsys, tmp_path):
    """Call the console entry in an empty directory: (exit code, stdout, stderr)."""
    from polhode.cli import main as entry

    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["polhode", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            entry.main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call
