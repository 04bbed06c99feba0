"""Time to a given accuracy of many unlike tops with adaptive steps, against heyoka's batch mode.

    python benchmarks/adaptive_ensemble.py [--json FILE] [--repeats N] [--methods NAME,…] [--tops N]

1024 tops, each with moments, a weight, a centre of mass, an attitude and a momentum of its own, for
10 seconds on one thread.  For each attitude error (radians, root of the mean square over all tops):
of all tolerances that reach it the fastest, per top.

heyoka is taken in its best form: batches of 4 and of 8, equations reduced by hand, the attitude as
a quaternion or as two inertial axes in the body, ``fast_math=True``, the state and the parameters
copied into a prepared integrator and out again.  Every top of ours has steps of its own, and the
bits of a run of its own.  The truth is heyoka in extended precision.  All variants take turns in
one process; ratios are of least times.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

import polhode as ph
from common import conclude, installed, listed, need, parser, round_robin, table
from polhode._tree import flat
from polhode.formulations import FORMULATIONS
from polhode.integrators import INTEGRATORS
from polhode.lanes import adaptive
from polhode.lanes.blocks import pack, unpack

heyoka = installed("heyoka")
END = 10.0
ERRORS = {1e-8: None, 1e-11: 3.0, 3e-14: 2.0}  # and the least ratio that is promised
TOLERANCES = np.append(10.0 ** -np.arange(7.0, 14.51, 0.5), 2e-15)
THEIRS = 10.0 ** -np.arange(5.0, 16.01, 0.5)
SHOWN = 3  # of each kind are timed well


# ---- the tops
@dataclass(frozen=True)
class Tops:
    """Rows of numbers, a column for each top."""

    inertia: np.ndarray
    weight: np.ndarray  # times centre of mass, in body axes
    q: np.ndarray
    m: np.ndarray

    @property
    def count(self) -> int:
        return self.q.shape[1]


def tops(count: int) -> Tops:
    rng = np.random.default_rng(1)
    q = rng.normal(size=(4, count))
    return Tops(
        inertia=rng.uniform(1.0, 2.0, (3, count)),
        weight=rng.normal(size=(3, count)),
        q=q / np.linalg.norm(q, axis=0),
        m=rng.normal(size=(3, count)),
    )


def error(q: np.ndarray, right: np.ndarray) -> float:
    """The root of the mean square of the angle between attitudes, which are columns."""
    q = q / np.linalg.norm(q, axis=0)
    sign = np.sign(np.sum(q * right, axis=0))
    return float(np.sqrt(np.mean(np.sum((2.0 * (q * sign - right)) ** 2, axis=0))))


@dataclass(frozen=True)
class Variant:
    kind: str
    name: str
    error: float
    call: Callable


# ---- heyoka
FORMS = "quaternion", "axes"


def equations(form: str) -> list:
    """p' = p x ω + γ x weight; the parameters are 1/I, the weight, and differences of 1/I."""
    p1, p2, p3 = heyoka.make_vars("p1", "p2", "p3")
    a, b, c, w1, w2, w3, d1, d2, d3 = (heyoka.par[i] for i in range(9))
    o1, o2, o3 = p1 * a, p2 * b, p3 * c
    if form == "quaternion":
        w, x, y, z = heyoka.make_vars("w", "x", "y", "z")
        g1, g2, g3 = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y
    else:
        g1, g2, g3 = heyoka.make_vars("g1", "g2", "g3")
    system = [
        (p1, d1 * (p2 * p3) + (g2 * w3 - g3 * w2)),
        (p2, d2 * (p3 * p1) + (g3 * w1 - g1 * w3)),
        (p3, d3 * (p1 * p2) + (g1 * w2 - g2 * w1)),
    ]
    if form == "quaternion":
        return [
            *system,
            (w, -0.5 * (x * o1 + y * o2 + z * o3)),
            (x, 0.5 * (w * o1 + y * o3 - z * o2)),
            (y, 0.5 * (w * o2 + z * o1 - x * o3)),
            (z, 0.5 * (w * o3 + x * o2 - y * o1)),
        ]
    for v1, v2, v3 in ((g1, g2, g3), heyoka.make_vars("h1", "h2", "h3")):
        system += [
            (v1, v2 * o3 - v3 * o2),
            (v2, v3 * o1 - v1 * o3),
            (v3, v1 * o2 - v2 * o1),
        ]
    return system


def start(group: Tops, form: str) -> tuple[np.ndarray, np.ndarray]:
    """(state, parameters)."""
    a = 1.0 / group.inertia
    parameters = np.vstack([a, group.weight, a[2] - a[1], a[0] - a[2], a[1] - a[0]])
    if form == "quaternion":
        return np.vstack([group.m, group.q]), parameters
    w, x, y, z = group.q
    vertical = 2 * (x * z - w * y), 2 * (y * z + w * x), w * w + z * z - x * x - y * y
    first = w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)
    return np.vstack([group.m, *vertical, *first]), parameters


def attitudes(state: np.ndarray, form: str) -> np.ndarray:
    if form == "quaternion":
        return state[3:]
    vertical, first = state[3:6], state[6:9]
    vertical = vertical / np.linalg.norm(vertical, axis=0)
    first = first - vertical * np.sum(vertical * first, axis=0)
    first = first / np.linalg.norm(first, axis=0)
    matrix = np.stack([first, np.cross(vertical.T, first.T).T, vertical])
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(np.moveaxis(matrix, 2, 0)).as_quat(scalar_first=True).T


def propagate(solver, batch: int, first: np.ndarray, parameters: np.ndarray, out: np.ndarray):
    for k in range(0, first.shape[1], batch):
        solver.set_time(0.0)
        solver.state[:] = first[:, k : k + batch]
        solver.pars[:] = parameters[:, k : k + batch]
        solver.propagate_until(END)
        out[:, k : k + batch] = solver.state


def heyoka_variants(group: Tops, right: np.ndarray) -> list[Variant]:
    found = []
    for form in FORMS:
        first, parameters = start(group, form)
        for batch in (4, 8):
            for tolerance in THEIRS:
                solver = heyoka.taylor_adaptive_batch(
                    equations(form),
                    first[:, :batch].copy(),
                    pars=parameters[:, :batch].copy(),
                    tol=float(tolerance),
                    fast_math=True,
                )
                out = np.empty_like(first)
                call = partial(propagate, solver, batch, first, parameters, out)
                call()
                name = f"heyoka, {form}, batch {batch}, tol {tolerance:.0e}"
                off = error(attitudes(out, form), right)
                found.append(Variant(f"{form} {batch}", name, off, call))
    return found


def extended(group: Tops) -> np.ndarray:
    """The attitudes at the end by heyoka in extended precision."""
    kind = np.longdouble
    first, parameters = (x.astype(kind) for x in start(group, "quaternion"))
    a = kind(1.0) / group.inertia.astype(kind)
    parameters[:3] = a
    parameters[6:] = a[2] - a[1], a[0] - a[2], a[1] - a[0]
    solver = heyoka.taylor_adaptive(
        equations("quaternion"), first[:, 0], pars=parameters[:, 0], tol=kind(1e-20), fp_type=kind
    )
    right = np.empty((4, group.count))
    for k in range(group.count):
        solver.time = kind(0.0)
        solver.state[:], solver.pars[:] = first[:, k], parameters[:, k]
        solver.propagate_until(kind(END))
        right[:, k] = solver.state[3:]
    return right


# ---- ours
def our_variants(group: Tops, names: list[str], right: np.ndarray) -> list[Variant]:
    found = []
    for name in names:
        model = ph.models.heavy_top(1.0, centre=(1.0, 2.0, 5.0))
        runs = adaptive.Pursuits(INTEGRATORS[name], FORMULATIONS["quaternion"], model)
        body = ph.RigidBody((1.0, 2.0, 2.5)).data
        slots = runs.slots_of((1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), body, model.params)
        places = adaptive.places(slots)
        columns = np.tile(np.array(flat(slots))[:, None], group.count)
        columns[places.state] = np.vstack([group.q, group.m])
        columns[places.body][:6] = np.vstack([group.inertia, 1.0 / group.inertia])
        columns[places.numbers][1:] = group.weight
        first = pack(columns, group.count)
        for tolerance in TOLERANCES:
            blocks = first.copy()

            def call(runs=runs, blocks=blocks, first=first, slots=slots, tol=(tolerance, 0.0)):
                blocks[:] = first
                runs.begin(blocks, 0.0, END, 0.0, np.inf, tol, (), slots)
                runs.advance(blocks, END, END, np.inf, tol, (), slots)

            call()
            rows = unpack(blocks, group.count)
            assert not rows[places.status].any()
            trials = (rows[places.accepted] + rows[places.rejected]).mean()
            text = f"{name}, tol {tolerance:.1e}, {trials:.1f} trials"
            found.append(Variant(name, text, error(rows[places.state][:4], right), call))
    return found


# ---- results
def best(variants: list[Variant], limit: float, quick: dict) -> list[Variant]:
    """Of each kind the few fastest, by a first look."""
    chosen = []
    for kind in dict.fromkeys(v.kind for v in variants):
        good = [v for v in variants if v.kind == kind and v.error <= limit]
        chosen += sorted(good, key=lambda v: quick[v].minimum)[:SHOWN]
    return chosen


def measured(group: Tops, names: list[str], repeats: int) -> tuple[list, list]:
    right = extended(group)
    theirs = heyoka_variants(group, right)
    mine = our_variants(group, names, right)
    quick = round_robin({v: (v.call, group.count) for v in (*theirs, *mine)}, 3)
    chosen = {e: (best(theirs, e, quick), best(mine, e, quick)) for e in ERRORS}
    variants = dict.fromkeys(v for a, b in chosen.values() for v in (*a, *b))
    times = round_robin({v: (v.call, group.count) for v in variants}, repeats)
    rows, verdicts = [], []
    for limit, least in ERRORS.items():
        fastest: dict[str, Variant] = {}
        peers, good = (sorted(x, key=lambda v: times[v].minimum) for x in chosen[limit])
        if not peers:
            print(f"heyoka does not reach {limit:.0e}")
            continue
        peer = peers[0]
        for variant in good:
            fastest.setdefault(variant.kind, variant)
        for variant in (peer, *fastest.values()):
            ratio = variant is not peer
            rows.append(
                {
                    "what": f"{limit:.0e}  {variant.name}",
                    "error": f"{variant.error:.1e}",
                    "us_min": times[variant].minimum / 1e3,
                    "us_median": times[variant].median / 1e3,
                    "ratio_min": times[peer].minimum / times[variant].minimum if ratio else None,
                    "ratio_median": times[peer].median / times[variant].median if ratio else None,
                }
            )
        if least is not None and names[0] in fastest:
            ratio = times[peer].minimum / times[fastest[names[0]]].minimum
            met = "met" if ratio >= least else "MISSED"
            verdicts.append(f"{limit:.0e}: {ratio:.1f}, at least {least}: {met}")
        elif least is not None:
            verdicts.append(f"{limit:.0e}: not reached by {names[0]}")
    return rows, verdicts


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument(
        "--methods", type=listed, default=["extrapolation"], help="names, the first is judged"
    )
    asked.add_argument("--tops", type=int, default=1024, help="how many; default 1024")
    options = asked.parse_args()
    need(heyoka, "heyoka")
    print(f"{options.tops} tops, t = {END:g} s, {options.repeats} repeats, per top", flush=True)
    rows, verdicts = measured(tops(options.tops), options.methods, options.repeats)
    head = ("error and variant", "error", "µs min", "µs median", "heyoka / ours, min", "median")
    print(table(head, rows), end="\n\n")
    conclude(options, {"heyoka": heyoka.__version__, "tops": rows}, verdicts)


if __name__ == "__main__":
    main()
