"""Keyframes: the motion between them is that of the run, within the tolerance."""

import json
import shutil
import subprocess
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.view import keyframes, packing

WEB = Path(keyframes.__file__).with_name("web")


def array(packed, ref, kind):
    offset, count = ref
    return np.frombuffer(packed.data, dtype=f"<{kind}", count=count, offset=offset)


def shown(packed, k=0):
    """The keyframes of a run, from the packed bytes."""
    entry = packed.header["runs"][k]
    q, omega = array(packed, entry["q"], "f4"), array(packed, entry["omega"], "f4")
    t = array(packed, entry["t"], "f8")
    return t, q.reshape(-1, 4).astype(float), omega.reshape(-1, 3).astype(float)


def angles(p, q):
    """Angles between attitudes, by SciPy."""
    p, q = (Rotation.from_quat(x, scalar_first=True) for x in (p, q))
    return (p.inv() * q).magnitude()


def assert_met(packed, t, q, omega, tolerance=1e-3, k=0):
    there, rates = keyframes.between(*shown(packed, k), t)
    assert angles(there, q).max() <= tolerance * 1.001
    assert (
        np.linalg.norm(rates - omega, axis=1).max() <= 0.0101 * np.linalg.norm(omega, axis=1).max()
    )


# ---- the formulas
def test_between_is_the_exponential_of_a_cubic():
    """Against 40 digits: matrix exponentials, and the rate by differentiating them."""
    t = np.array([0.3, 1.1])
    q = Rotation.from_rotvec([[0.3, -0.2, 0.9], [1.1, 0.4, -0.6]]).as_quat(scalar_first=True)
    omega = np.array([[0.4, -1.3, 0.8], [1.0, 0.2, -0.5]])
    x = np.array([0.3, 0.35, 0.7, 1.0, 1.1])
    found, rates = keyframes.between(t, q, omega, x)

    with mp.workdps(40):

        def skew(v):
            return mp.matrix([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])

        def unskew(m):
            return mp.matrix([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / 2

        def matrix(p):
            w, a, b, c = (mp.mpf(float(z)) for z in p)
            s = skew([a, b, c])
            return mp.eye(3) + 2 * w * s + 2 * s * s

        h = mp.mpf(t[1]) - mp.mpf(t[0])
        r0, r1 = matrix(q[0]), matrix(q[1])
        psi1 = unskew(mp.logm(r0.T * r1).apply(mp.re))
        a = h * mp.matrix(omega[0].tolist())
        # the rate of ψ at the end follows from d/ds exp(ψ1 + s c) = exp(ψ1) skew(h ω1)
        columns = []
        for k in range(3):

            def turned(s, k=k):
                v = psi1.copy()
                v[k] += s
                return unskew(r1.T * r0 * mp.expm(skew(v)))

            columns.append([mp.diff(lambda s, i=i, f=turned: f(s)[i], 0) for i in range(3)])
        dexp = mp.matrix(columns).T
        b = mp.lu_solve(dexp, h * mp.matrix(omega[1].tolist()))

        def psi(s):
            return (s**3 - 2 * s**2 + s) * a + (3 * s**2 - 2 * s**3) * psi1 + (s**3 - s**2) * b

        for k, when in enumerate(x):
            s = (mp.mpf(when) - mp.mpf(t[0])) / h
            r = r0 * mp.expm(skew(psi(s)))
            got = matrix(found[k])
            assert mp.norm(got - r, mp.inf) < 1e-14

            def at(u, r=r, i=0):
                return unskew(r.T * r0 * mp.expm(skew(psi(u))))[i]

            rate = [mp.diff(lambda u, i=i: at(u, i=i), s) / h for i in range(3)]
            assert max(abs(p - float(z)) for p, z in zip(rate, rates[k], strict=True)) < 1e-13


def test_between_counts_whole_turns():
    """A body that spins evenly for 7.3 turns between two keyframes."""
    t, omega = np.array([0.0, 1.0]), np.array([[0.0, 0.0, 2 * np.pi * 7.3]] * 2)
    x = np.linspace(0.0, 1.0, 50)
    q = Rotation.from_rotvec(np.outer(x, omega[0])).as_quat(scalar_first=True)
    found, rates = keyframes.between(t, q[[0, -1]], omega, x)
    assert angles(found, q).max() < 1e-13
    assert np.abs(rates - omega[0]).max() < 1e-12


def test_between_stays_at_the_ends_and_takes_one_keyframe():
    q, omega = np.array([[1.0, 0, 0, 0]]), np.array([[1.0, 2.0, 3.0]])
    found, rates = keyframes.between(np.array([2.0]), q, omega, np.array([-1.0, 5.0]))
    assert found.tolist() == [[1, 0, 0, 0]] * 2
    assert rates.tolist() == [[1, 2, 3]] * 2
    q2, omega2 = np.repeat(q, 2, axis=0), np.zeros((2, 3))
    found, rates = keyframes.between(np.array([0.0, 1.0]), q2, omega2, np.array([-9.0, 0.5, 9.0]))
    assert found.tolist() == [[1, 0, 0, 0]] * 3
    assert not rates.any()


def node():
    if (found := shutil.which("node")) is not None:
        return found
    try:
        import playwright
    except ImportError:
        return None
    bundled = Path(playwright.__file__).parent / "driver" / "node"
    return str(bundled) if bundled.exists() else None


@pytest.mark.skipif(node() is None, reason="node is not installed")
def test_javascript_agrees_to_rounding(tmp_path):
    run = ph.solve(ph.problems.tennis_racket(), (0, 20), dt=0.01)
    t, q, omega = shown(packing.pack(run, packing.Options(tolerance=1e-4)))
    x = np.random.default_rng(1).uniform(t[0] - 0.1, t[-1] + 0.1, 2000)
    given = {"t": t.tolist(), "q": q.ravel().tolist(), "omega": omega.ravel().tolist()}
    (tmp_path / "given.json").write_text(json.dumps({**given, "x": x.tolist()}))
    (tmp_path / "ask.mjs").write_text(
        f"""import {{ between }} from {json.dumps((WEB / "keyframes.js").as_uri())};
        import {{ readFileSync }} from "node:fs";
        const {{ t, q, omega, x }} = JSON.parse(readFileSync(process.argv[2]));
        const motion = {{ t: Float64Array.from(t), q: Float32Array.from(q) }};
        motion.omega = Float32Array.from(omega);
        console.log(JSON.stringify(x.map((s) => {{
          const a = new Float64Array(4), b = new Float64Array(3);
          between(motion, s, a, b);
          return [...a, ...b];
        }})));"""
    )
    command = [node(), tmp_path / "ask.mjs", tmp_path / "given.json"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    attitudes, rates = keyframes.between(t, q, omega, x)
    rows = np.array(json.loads(answer))
    assert np.abs(rows[:, :4] - attitudes).max() < 1e-12
    assert np.abs(rows[:, 4:] - rates).max() < 1e-12 * np.abs(omega).max()


# ---- the choice
def test_the_exact_free_motion_is_met_at_and_between_rows():
    body, omega = ph.RigidBody([1.0, 2.0, 2.5]), [0.1, 3.0, 0.2]
    run = ph.exact_free_motion(body, None, omega, np.linspace(0.0, 60.0, 2001))
    packed = packing.pack(run, packing.Options())
    assert len(shown(packed)[0]) < 400
    assert_met(packed, run.t, run.q, run.omega)
    finer = ph.exact_free_motion(body, None, omega, np.linspace(0.0, 60.0, 17777))
    assert_met(packed, finer.t, finer.q, finer.omega)


@pytest.mark.parametrize("name", ph.problems.CATALOGUE)
def test_the_catalogue_is_met_at_rows_and_between(name):
    entry = ph.problems.CATALOGUE[name]
    dt = 0.25 * entry.dt  # own steps may be a radian, in which q and ω of a method do not agree
    run = ph.solve(entry.make(), (0, 200 * dt), method=entry.method, dt=dt)
    packed = packing.pack(run, packing.Options())
    assert_met(packed, run.t, run.q, run.omega)
    between = run.sol(np.linspace(0.0, run.t[-1], 2001))
    assert_met(packed, between.t, between.q, between.omega)


def test_adaptive_steps_of_turns_are_met_between():
    run = ph.solve(ph.problems.fast_top(), (0, 10), method="extrapolation", rtol=1e-10)
    assert np.linalg.norm(run.omega, axis=1).max() * np.diff(run.t).max() > 3
    packed = packing.pack(run, packing.Options())
    assert not packed.header["notes"]
    between = run.sol(np.linspace(0.0, 10.0, 20001))
    assert_met(packed, between.t, between.q, between.omega)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
def test_the_tolerance_is_kept(tolerance):
    run = ph.solve(ph.problems.fast_top(), (0, 2), dt=0.001)
    packed = packing.pack(run, packing.Options(tolerance=tolerance))
    assert_met(packed, run.t, run.q, run.omega, tolerance)


def test_a_run_backward_in_time_is_shown_forward():
    run = ph.solve(ph.problems.tennis_racket(), (0, -5), dt=0.01)
    packed = packing.pack(run, packing.Options())
    t = shown(packed)[0]
    assert (t[0], t[-1]) == (-5.0, 0.0)
    assert (np.diff(t) > 0).all()
    assert_met(packed, run.t, run.q, run.omega)


@pytest.mark.parametrize("rows", [[0], [0, 1], [0, 500], [0, 7, 7, 7, 20], [30, 10, 20]])
def test_few_repeated_and_unordered_rows(rows):
    run = ph.solve(ph.problems.tennis_racket(), (0, 10), dt=0.01)[rows]
    packed = packing.pack(run, packing.Options())
    t = shown(packed)[0]
    assert (np.diff(t) > 0).all()
    assert (t[0], t[-1]) == (run.t.min(), run.t.max())
    assert_met(packed, run.t, run.q, run.omega)


def test_rows_that_are_not_finite_are_left_out():
    t = np.arange(5.0)
    q, omega = np.tile([1.0, 0, 0, 0], (5, 1)), np.zeros((5, 3))
    q[1] = np.nan
    omega[2, 1] = np.inf
    q[3] = 0.0
    assert keyframes.in_order(t, q, omega).tolist() == [0, 4]


def test_a_run_that_does_not_fit_is_cut_and_says_so(monkeypatch):
    monkeypatch.setattr(packing, "MOST_KEYFRAMES", 40)
    run = ph.solve(ph.problems.fast_top(), (0, 10), dt=0.001)
    packed = packing.pack(run, packing.Options())
    t, *_ = shown(packed)
    assert len(t) == 40
    assert t[-1] < 10
    (note,) = packed.header["notes"]
    assert f"t = 0 to {t[-1]:.6g} s is shown" in note
    part = run[run.t <= t[-1]]
    assert_met(packed, part.t, part.q, part.omega)
    for series in packed.header["runs"][0]["series"]:
        assert array(packed, series["t"], "f8")[-1] <= t[-1] + 1e-9


def test_rows_far_apart_without_dense_output_are_noted(tmp_path):
    run = ph.solve(ph.problems.fast_top(), (0, 10), dt=0.001, save_every=500)
    loaded = ph.load(run.save(tmp_path / "top.nc"))
    packed = packing.pack(loaded, packing.Options())
    assert any("half a turn apart" in note for note in packed.header["notes"])
    assert not packing.pack(run, packing.Options()).header["notes"]


def test_blocks_join(monkeypatch):
    monkeypatch.setattr(keyframes, "BLOCK", 100)
    run = ph.solve(ph.problems.tennis_racket(), (0, 10), dt=0.01)
    assert_met(packing.pack(run, packing.Options()), run.t, run.q, run.omega)


def test_a_path_is_met():
    t = np.linspace(0.0, 5.0, 4001)
    x = np.stack([3 * t, np.sin(7 * t), 10 * t - 4.9 * t * t], axis=1)
    v = np.stack([3 + 0 * t, 7 * np.cos(7 * t), 10 - 9.8 * t], axis=1)
    keys = keyframes.choose_path(t, x, v, 1e-3, 10_000)
    assert len(keys) < 200
    assert np.abs(CubicHermiteSpline(t[keys], x[keys], v[keys])(t) - x).max() <= 1e-3
