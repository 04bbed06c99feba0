"""Checkpoints that somebody edited and signed again."""

import copy
import hashlib
import json
import re
import signal
from contextlib import contextmanager

import pytest

import polhode as ph
from polhode.compiler.machine import CompiledOrPlain
from polhode.errors import FileError, InputError
from polhode.files import checkpoint


def parts_of(file):
    """(header, what follows it) of a checkpoint."""
    data = file.read_bytes()
    lead = len(checkpoint.MAGIC) + 2 + checkpoint.SIZES.size
    _, length = checkpoint.SIZES.unpack(data[lead - checkpoint.SIZES.size : lead])
    text = json.loads(data[lead : lead + length])
    return text, data[-(-(lead + length) // 8) * 8 : -checkpoint.DIGEST]


def sign(file, header: bytes, arrays: bytes):
    """Write a checkpoint whose sizes and checksum are right, whatever it says."""
    lead = len(checkpoint.MAGIC) + 2 + checkpoint.SIZES.size
    begin = -(-(lead + len(header)) // 8) * 8
    sizes = checkpoint.SIZES.pack(begin + len(arrays) + checkpoint.DIGEST, len(header))
    data = (checkpoint.MAGIC + b"1\n" + sizes + header).ljust(begin, b"\0") + arrays
    file.write_bytes(data + hashlib.sha256(data).digest())


class Stopped(BaseException):
    """A run that was stopped under way, or that would begin."""


NAMES = "map", "done", "adaptive", "spring", "many", "gone"


def make_checkpoints(place):
    """Make checkpoints of all kinds, finished or stopped half way, in plain Python."""
    top = ph.problems.fast_top()
    both = ph.models.heavy_top(1.5) + ph.models.gravity_gradient(0.1, 1.0)
    sum_of_two = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), both, omega=[0.3, -0.7, 1.1])
    spring = ph.problems.off_centre_spring()
    vary = {"omega": ph.distributions.Normal([0, 0, 50], 0.5)}
    many = {"members": 3, "vary": vary, "seed": 7, "method": "mr2", "dt": 0.01, "save": [0.1, 0.2]}
    many["reduce"] = ["mean(omega)", "quantiles(speed, 0.1, 0.9)"]

    def stop(fraction):
        if fraction > 0.4:
            raise Stopped

    def make(name, solve, *arguments, progress=stop, **others):
        given = {"checkpoint": place / name, "checkpoint_every": 2, "progress": progress}
        try:
            solve(*arguments, **given, **others)
        except Stopped:
            return

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CompiledOrPlain, "__call__", lambda self, *args: self.function(*args))
        patch.setattr("polhode.solvers.fixed_steps.FIRST_CHUNK", 2)
        make("map", ph.solve, top, (0, 0.2), method="mr2", dt=0.01)
        make("done", ph.solve, top, (0, 0.2), method="mr2", dt=0.01, progress=False)
        make(
            "adaptive", ph.solve, sum_of_two, (0, 9), rtol=1e-6, breakpoints=[0.1], method="dopri5"
        )
        make("spring", ph.solve, spring, (0, 0.2), method="imidm", dt=0.02, t_eval=[0.05, 0.2])
        make("many", ph.solve_ensemble, top, (0, 0.2), **many, threads=1)
        make("gone", ph.solve_ensemble, top, (0, 0.2), **many, threads=1, progress=False)


@contextmanager
def time_limit(seconds=20):
    """Nothing takes long: a ``TimeoutError``."""

    def late(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def loops_that_stop():
    """Loops are not begun: what is tested lies before them.  Nothing takes seconds."""

    def begin(self, *_):
        raise Stopped

    with time_limit(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(CompiledOrPlain, "__call__", begin)
        yield


def outcome(file) -> str:
    """What comes of a forged checkpoint; anything but the answers that are allowed is raised."""
    try:
        with loops_that_stop():
            ph.resume(file)
    except FileError as error:
        found, allowed = str(error), f"{re.escape(str(file))}|version of polhode"
    except InputError as error:
        found, allowed = str(error), "(model|method|formulation|events|reduce)= is needed to"
    except Stopped:
        return "begun"
    else:
        return "finished"
    assert re.search(allowed, found), found
    return "refused"


HOSTILE = [
    *(None, True, False, 0, -1, 1, 2, 7, 0.5, -0.0, 1e-320, 1e308, -1e308, 2**31, 2**53, 2**63),
    *(
        10**30,
        -(10**30),
        10**12,
        "",
        "x",
        "nan",
        "inf",
        "1e5",
        "\0",
        "../../x",
        "/etc/passwd",
        "é" * 999,
    ),
    *([], [[]], [None], [1, 2, 3], [1e308] * 3, {}, {"": None}, {"name": "x"}, ["a", "b"]),
    *("polhode.contracts:torque", "os:system", "auto", "dop853", "gauss", "mkrk:rk4"),
]


def places(value, path=()):
    """All places in plain data."""
    yield path
    for key in (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    ):
        yield from places(value[key], (*path, key))


def forged(text, random):
    """One or two places of a header changed: replaced, removed, doubled or swapped."""
    text = copy.deepcopy(text)
    for _ in range(1 + int(random.random() < 0.2)):
        found = [path for path in places(text) if path and path[0] != "made"]
        *path, last = found[random.integers(len(found))]
        place = text
        for key in path:
            place = place[key]
        how = random.random()
        if how < 0.7:
            place[last] = copy.deepcopy(HOSTILE[random.integers(len(HOSTILE))])
        elif how < 0.8:
            del place[last]
        elif isinstance(place, list):
            place.insert(last, copy.deepcopy(place[last]))
        else:
            place[f"{last}x"] = place[last]
    return text
