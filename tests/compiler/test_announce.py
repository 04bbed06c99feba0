"""The message that something is being compiled."""

import io
import threading
import time
from contextlib import redirect_stderr

import pytest
from numba.core import event

from polhode.compiler import announce
from polhode.compiler.machine import CompiledOrPlain


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def new_process(monkeypatch):
    """A process that has not announced anything, and little patience."""
    monkeypatch.setattr(announce, "_done", threading.Event())
    monkeypatch.setattr(announce, "PATIENCE", 0.02)
    monkeypatch.delenv("POLHODE_MESSAGES", raising=False)


def announcement(seconds: float, stream: io.StringIO | None = None) -> str:
    """What is printed while Numba compiles a function, and another one within it."""
    stream = Terminal() if stream is None else stream
    with (
        redirect_stderr(stream),
        announce.announced("compiling"),
        event.trigger_event("numba:compile"),
        event.trigger_event("numba:compile"),
    ):
        time.sleep(seconds)
    return stream.getvalue()


def test_long_compilation_is_announced_once():
    assert announcement(0.3) == "compiling\n"
    assert announcement(0.3) == ""


def test_short_compilation_is_not_announced(monkeypatch):
    monkeypatch.setattr(announce, "PATIENCE", 5.0)
    assert announcement(0.0) == ""


def test_long_runs_are_not_announced():
    with redirect_stderr(Terminal()) as stream, announce.announced("compiling"):
        time.sleep(0.2)  # found on disk: Numba reports nothing
    assert stream.getvalue() == ""


def test_environment_variable_silences(monkeypatch):
    monkeypatch.setenv("POLHODE_MESSAGES", "0")
    assert announcement(0.2) == ""


def test_pipes_are_silent():
    assert announcement(0.2, io.StringIO()) == ""


def test_compiled_functions_announce(monkeypatch):
    monkeypatch.setattr(announce, "PATIENCE", 0.0)
    monkeypatch.setenv("POLHODE_CACHE", "0")

    def triple(x):
        return 3.0 * x + 0.125

    with redirect_stderr(Terminal()) as stream:
        assert CompiledOrPlain(triple, "a function")(1.0) == 3.125
    assert stream.getvalue() == "polhode: compiling …\n"
