"""One body: the compiled loop against the same algorithms in C; and many bodies in SIMD lanes.

    python benchmarks/single.py [--json FILE] [--repeats N]

``C, same operations`` is ``single.c`` compiled without liberties: it must give the library's result
to the last bit, and this is checked.  ``C, fastest`` is the same source with -Ofast, with and
without SLP vectors.  Ratios are C's time over ours, of the minima.

The body is Krysl's fast top.  In lanes there are 4096 random tops, each with its own inertia and
strength; ``one after another`` is the mean over some of the same tops, with the same results.
"""

import ctypes
import dataclasses
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import polhode as ph
from common import Times, c_library, compilers, conclude, parser, round_robin, table
from polhode import loops
from polhode._tree import flat
from polhode.contracts import OK
from polhode.lanes import fixed

STEPS, STEP, STRENGTH = 20_000, 1e-3, 20.0
INERTIA, TILT, MOMENTUM = (5.0, 5.0, 1.0), 0.3, (0.0, 0.0, 50.0)
BODIES, ALONE, LANE_STEPS, LANE_STEP = 4096, 64, 500, 5e-3
WIDTHS = 4, 8, 16

KINDS = {  # how single.c is compiled -> flags
    "C, same operations": ("-O3", "-march=native", "-ffp-contract=off"),
    "C, fastest": ("-Ofast", "-march=native"),
    "C, fastest, no SLP": ("-Ofast", "-march=native", "-fno-tree-slp-vectorize"),
}
SAME, *FASTEST = KINDS


def plain_torque(t, q, omega, params):
    """The heavy top as a user would write it."""
    w, x, y, z = q
    (strength,) = params
    return 2.0 * (y * z + w * x) * strength, -strength * (2.0 * (x * z - w * y)), 0.0


HEAVY, PLAIN = ph.models.heavy_top(STRENGTH), ph.torque(plain_torque, [STRENGTH])
CASES = {  # what -> method, model, name in single.c, least ratio to the same operations in C
    "imidm": ("imidm", HEAVY, "imidm", 0.95),
    "imidm, user's torque": ("imidm", PLAIN, "imidm_plain", 0.90),
    "mkrk:rk4": ("mkrk:rk4", HEAVY, "rk4", 0.95),
    "forward-euler-m": ("forward-euler-m", HEAVY, "forward_euler_m", 0.95),
}
LEAST_OF_FASTEST, LEAST_OF_LANES = 0.8, 3.5


# ---- one body
def body_of(inertia) -> tuple:
    inertia = tuple(map(float, inertia))
    return inertia, tuple(1.0 / moment for moment in inertia), (1.0, 0.0, 0.0, 0.0), 1.0, 1.0


def recorder(method: ph.Method, model: ph.Model) -> Callable:
    """A call of the compiled loop: (steps, h, state, body, params) -> (state, iterations)."""
    run = loops.build(loops.record, method, model)
    weights, offsets = loops.substeps(method)
    out, sides = np.empty((1, 7)), np.zeros(1)

    def go(steps, h, state, body, params):
        carry = method.start(0.0, h, state, body, params)
        grid = 0.0, h, 0, np.array([steps]), sides, weights, offsets
        state, _, status, *_, iterations, _ = run(*grid, True, state, carry, body, params, out)
        assert status == OK
        return state, iterations

    return go


def in_c(library: ctypes.CDLL, name: str, state) -> Callable:
    """A call of a loop of single.c, which returns the last state."""
    function = getattr(library, name)
    function.restype = ctypes.c_long
    array = np.ctypeslib.ndpointer(np.float64)
    function.argtypes = ctypes.c_long, ctypes.c_double, array, array, ctypes.c_double
    first, inverse, work = np.array(flat(state)), 1.0 / np.array(INERTIA), np.empty(7)

    def go():
        work[:] = first
        assert function(STEPS, STEP, work, inverse, STRENGTH) >= 0
        return work

    return go


def one_body(repeats: int, folder: Path) -> tuple[list[dict], list[str]]:
    """(rows, verdicts) of one body against C; asserts that the bits agree."""
    c, s = np.cos(0.5 * TILT).item(), np.sin(0.5 * TILT).item()
    state, body = ((c, s, 0.0, 0.0), MOMENTUM), body_of(INERTIA)
    source, found = Path(__file__).with_suffix(".c"), compilers()
    libraries = {
        (kind, compiler): c_library(compiler, flags, source, folder)
        for kind, flags in KINDS.items()
        for compiler in found
    }
    variants: dict = {}
    for what, (method, model, name, _) in CASES.items():
        go = recorder(ph.METHODS[method], model)
        args = STEPS, STEP, state, body, model.params
        variants[what, None, None] = lambda go=go, args=args: go(*args)
        for (kind, compiler), library in libraries.items():
            call = variants[what, kind, compiler] = in_c(library, name, state)
            same = np.array_equal(call(), flat(go(*args)[0]))
            assert same or kind != SAME, f"{what}: {compiler} gives other bits"
    if found:
        print(f"After {STEPS} steps all results equal those of C, same operations, bit for bit.\n")
    else:
        print("No C compiler found: only the times of the library.\n")

    times = round_robin({key: (call, STEPS) for key, call in variants.items()}, repeats)
    rows, verdicts = [], []
    for what, (*_, least) in CASES.items():
        ours = times[what, None, None]
        rows.append(row(what, ours))
        ratios = {}
        for kind, compiler in libraries:
            in_this = times[what, kind, compiler]
            ratios[kind, compiler] = in_this.minimum / ours.minimum
            rows.append(row(f"  {kind}, {compiler}", in_this, ratios[kind, compiler]))
        for title, kinds, limit in (
            ("the same operations in C", [SAME], least),
            ("the fastest C", FASTEST, LEAST_OF_FASTEST),
        ):
            if found:
                ratio = min(ratios[kind, compiler] for kind in kinds for compiler in found)
                verdicts.append(verdict(f"{what}: speed over {title}", ratio, limit))
    return rows, verdicts


# ---- many bodies
def random_tops(method: ph.Method) -> list:
    """(state, carry, body, params) of each."""
    random = np.random.default_rng(1)
    tops = []
    for _ in range(BODIES):
        a, b, c = random.uniform(0.5, 2.0, 3)
        body = body_of((b + c, c + a, a + b))
        q = random.normal(size=4)
        m = np.array(body[0]) * random.normal(scale=10.0, size=3)
        state = tuple((q / np.linalg.norm(q)).tolist()), tuple(m.tolist())
        params = (random.uniform(5.0, 50.0),), ()
        carry = method.start(0.0, LANE_STEP, state, body, params)
        tops.append((state, carry, body, params))
    return tops


def in_lanes(method: ph.Method, tops: list) -> Callable:
    """A call of the compiled lane loop: (status, iterations, state, carry) of each top, as rows."""
    blocks, slots = fixed.packed(method, tops)
    run, work = fixed.build(fixed.advance_lanes, method, HEAVY), np.empty_like(blocks)
    grid = 0.0, LANE_STEP, LANE_STEP, 0, LANE_STEPS, *loops.substeps(method)
    room, ends = np.empty_like(blocks[0]), fixed.places(slots)[:2]

    def go():
        work[:] = blocks
        run(work, room, ends, *grid, (), slots)
        return fixed.results(work, slots, len(tops))

    return go


def many_bodies(repeats: int) -> tuple[list[dict], list[str]]:
    """(rows, verdicts) of IMIDM in lanes against the same bodies one after another."""
    method = ph.METHODS["imidm"]
    tops = random_tops(method)
    record = recorder(method, HEAVY)

    def alone():
        return [
            record(LANE_STEPS, LANE_STEP, state, body, params)
            for state, _, body, params in tops[:ALONE]
        ]

    calls = {w: in_lanes(dataclasses.replace(method, width=w), tops) for w in WIDTHS}
    expected = np.array([flat(state) for state, _ in alone()])
    for width, call in calls.items():
        assert np.array_equal(call()[:ALONE, 2:9], expected), f"width {width}: other bits"
    iterations = calls[method.width]()[:, 1].mean() / LANE_STEPS
    print(f"Lanes equal single bodies bit for bit; {iterations:.2f} iterations a step.\n")

    variants: dict = {w: (call, BODIES * LANE_STEPS) for w, call in calls.items()}
    times = round_robin({"alone": (alone, ALONE * LANE_STEPS), **variants}, repeats)
    gains = {w: times["alone"].minimum / times[w].minimum for w in WIDTHS}
    rows = [row("imidm, tops one after another", times["alone"])]
    rows += [row(f"  in lanes, width {w}", times[w], gains[w]) for w in WIDTHS]
    what = f"imidm: speed in lanes, width {method.width}, over one body"
    return rows, [verdict(what, gains[method.width], LEAST_OF_LANES)]


# ---- results
def row(what: str, times: Times, ratio: float | None = None) -> dict:
    return {"what": what, "ns_min": times.minimum, "ns_median": times.median, "ratio": ratio}


def verdict(what: str, value: float, least: float) -> str:
    return f"{what}: {value:.2f}, at least {least:.2f}: {'met' if value >= least else 'MISSED'}"


def main() -> None:
    options = parser(__doc__).parse_args()
    repeats = options.repeats

    with tempfile.TemporaryDirectory() as folder:
        single, verdicts = one_body(repeats, Path(folder))
    print(table(("one body, a step", "ns min", "ns median", "C / ours"), single), end="\n\n")
    many, gains = many_bodies(repeats)
    print(table(("many bodies, a body-step", "ns min", "ns median", "gain"), many), end="\n\n")
    verdicts += gains
    conclude(options, {"single": single, "lanes": many}, verdicts)


if __name__ == "__main__":
    main()
