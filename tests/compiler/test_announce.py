"""The line that says that something is being compiled."""

import io
import sys
import threading
import time

import pytest
from numba.core import event

from polhode.compiler import announce
from polhode.compiler.machine import CompiledOrPlain


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def stream(monkeypatch):
    """A terminal instead of stderr, and a process that has not announced anything."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(announce, "_done", threading.Event())
    monkeypatch.setattr(announce, "PATIENCE", 0.02)
    monkeypatch.delenv("POLHODE_MESSAGES", raising=False)
    return terminal


def compile_for(seconds: float) -> None:
    """What Numba reports when it compiles a function, and another one within it."""
    with (
        announce.announced("compiling"),
        event.trigger_event("numba:compile"),
        event.trigger_event("numba:compile"),
    ):
        time.sleep(seconds)


def test_long_compilation_is_announced_once(stream):
    compile_for(0.3)
    compile_for(0.3)
    assert stream.getvalue() == "compiling\n"


def test_short_compilation_is_not_announced(stream, monkeypatch):
    monkeypatch.setattr(announce, "PATIENCE", 5.0)
    compile_for(0.0)
    assert stream.getvalue() == ""


def test_long_runs_are_not_announced(stream):
    with announce.announced("compiling"):
        time.sleep(0.2)  # found on disk: nothing is reported
    assert stream.getvalue() == ""


def test_environment_variable_silences(stream, monkeypatch):
    monkeypatch.setenv("POLHODE_MESSAGES", "0")
    compile_for(0.2)
    assert stream.getvalue() == ""


def test_pipes_are_silent(stream, monkeypatch):
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    compile_for(0.2)
    assert pipe.getvalue() == ""


def test_compiled_functions_announce(stream, monkeypatch):
    monkeypatch.setattr(announce, "PATIENCE", 0.0)
    monkeypatch.setenv("POLHODE_CACHE", "0")

    def triple(x):
        return 3.0 * x + 0.125

    assert CompiledOrPlain(triple, "a function")(1.0) == 3.125
    assert stream.getvalue() == "polhode: compiling …\n"
