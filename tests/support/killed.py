"""Runs that are killed: ``python -m support.killed DIR SEED`` kills ``CASES`` until they finish.

A process that has compiled everything forks; the child starts or continues the run and is killed
(SIGKILL) at a random instant, or at one file operation after the other.  Nothing is flushed to the
disk: that guards against a loss of power, which is not tested here, and may take long.
"""

import math
import os
import random
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np

import polhode as ph
from polhode.files import checkpoint

TESTS = Path(__file__).parents[1]
LIVES = 100  # a run that takes more makes no progress
SHARE, LONGER = 0.1, 1.2  # of a whole run that a child has at most, at first and by each life


def push(t, q, omega, params):
    return params[0] * math.sin(t), -0.1 * omega[1], 0.2 * q[1]


TILTED = ph.RigidBody([[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]], mass=2.0)
TOP = ph.problems.fast_top()
PUSHED = ph.Problem(TILTED, ph.torque(push, 0.3), omega=[1.0, 2.0, 3.0], name="pushed")

CASES = {  # name: problem, end, steps between two checkpoints, arguments
    "map": (TOP, 20.0, 800, {"method": "mr2", "dt": 0.001, "save_every": 7}),
    "adaptive": (TOP, 20.0, 70, {"method": "dop853", "rtol": 1e-10}),
    "adams": (TOP, 2.0, 80, {"method": "adams", "dt": 0.001}),
    "user": (PUSHED, 4.0, 160, {"method": "imidm", "dt": 0.001}),
}
OPERATIONS = ("fsync", "replace", "close")


def model_of(case: str):
    return PUSHED.model if case == "user" else None


def live(case: str, file: Path) -> None:
    """Run, or continue a run, in one process."""
    problem, end, every, arguments = CASES[case]
    if file.exists():
        ph.resume(file, model=model_of(case))
    else:
        ph.solve(problem, (0.0, end), checkpoint=file, checkpoint_every=every, **arguments)


def child(case: str, file: Path, prepare=lambda: None) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            prepare()
            live(case, file)
        except BaseException as error:
            sys.stderr.write(f"{case}: {type(error).__name__}: {error}\n")
            os._exit(1)
        os._exit(0)
    return pid


def ended(pid: int) -> bool:
    """Return whether a child finished; one that failed is an error."""
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        return False
    if os.WEXITSTATUS(status) != 0:
        raise SystemExit("a life failed")
    return True


def undisturbed(run) -> float:
    """Return the seconds that a run takes."""
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def killed_at_random(case: str, file: Path, chance: random.Random, seconds: float) -> int:
    """Return how many lives a run took, each of a random length; a whole run takes ``seconds``."""
    for lives in range(1, LIVES):
        pid = child(case, file)
        time.sleep(chance.uniform(0.0, SHARE * seconds * LONGER**lives))
        os.kill(pid, signal.SIGKILL)
        if ended(pid):
            return lives
    raise SystemExit(f"{case} is not finished after {LIVES} lives")


def killed_at_operations(case: str, file: Path, stride: int = 1) -> int:
    """Return how many lives a run took; the k-th ended at its k-th operation.

    With ``stride`` it is the (stride k)-th, in case k operations do not get far.
    """

    def fatal(number: int):
        count = 0

        def tick():
            nonlocal count
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)

        def prepare():
            for name in OPERATIONS:
                real = getattr(os, name)

                def operation(*given, real=real):
                    tick()
                    value = real(*given)
                    tick()
                    return value

                setattr(checkpoint.os, name, operation)

        return prepare

    for lives in range(1, LIVES):
        if ended(child(case, file, fatal(stride * lives))):
            return lives
    raise SystemExit(f"{case} is not finished after {LIVES} lives")


def main(place: Path, seed: int) -> None:
    checkpoint.os.fsync = lambda handle: None
    chance = random.Random(seed)
    for case in CASES:
        warm = place / f"{case}.warm"
        live(case, warm)  # compiles
        warm.unlink()
        seconds = undisturbed(lambda case=case, warm=warm: live(case, warm))
        warm.unlink()
        lives = killed_at_random(case, place / f"{case}.random", chance, seconds)
        more = killed_at_operations(case, place / f"{case}.operations")
        sys.stdout.write(f"{case} {lives} {more}\n")


# ---- for tests
def kill(module: str, place: Path, seed: int = 20060420) -> dict[str, list[int]]:
    """Return how many lives each case took, for both ways of killing, in a process of its own."""
    command = [sys.executable, "-m", module, str(place), str(seed)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = map(str.split, done.stdout.splitlines())
    return {case: list(map(int, lives)) for case, *lives in found}


def compare(place: Path) -> None:
    """Check that all killed runs have the bits of whole ones."""
    for case in CASES:
        for how in ("random", "operations"):
            same(ph.resume(place / f"{case}.{how}", model=model_of(case)), whole(case))


@cache
def whole(case: str):
    problem, end, _, arguments = CASES[case]
    return ph.solve(problem, (0.0, end), **arguments)


def same(a, b):
    """Whether two runs are equal in every bit and every word."""
    for name in ("t", "q", "angular_momentum", "x", "v", "potential_energy"):
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None)
        if one is not None:
            assert one.shape == other.shape
            assert one.tobytes() == other.tobytes(), name
    for name in ("nsteps", "nfev", "niter", "rejected", "status", "message", "method", "reason"):
        assert getattr(a, name) == getattr(b, name), name
    assert dict(a.arguments) == dict(b.arguments)
    assert a.problem == b.problem
    assert [t.tobytes() for t in a.t_events] == [t.tobytes() for t in b.t_events]
    times = np.linspace(a.t[0], a.t[-1], 17)
    assert a.sol(times).q.tobytes() == b.sol(times).q.tobytes()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
