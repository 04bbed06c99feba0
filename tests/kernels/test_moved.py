"""Attitude and momentum at the end of a step, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from polhode.kernels import moved
from polhode.kernels.so3 import exp1
from polhode.kernels.turns import KEPT

STEPS = 500


def turns(q, m, lost, psis):
    eq, em = lost
    for row in psis:
        c1, v = row[0], (row[1], row[2], row[3])
        q, eq = moved.rotated(q, eq, c1, v)
        m, em = moved.rotated_back(m, em, c1, v)
    return q, m, (eq, em)


def rotations(seed, alike):
    """Small rotations, random or all alike: rows (c1, v) of floats, not quite of length 1."""
    rng = np.random.default_rng(seed)
    psis = np.tile(rng.normal(size=3), (STEPS, 1)) if alike else rng.normal(size=(STEPS, 3))
    pairs = (exp1(tuple((0.05 * psi).tolist())) for psi in psis)
    return np.array([(c1, *v) for c1, v in pairs])


def exactly(q, m, psis):
    """The same product and rotations in numbers of 60 digits, each rotation of length 1."""
    import mpmath as mp

    with mp.workdps(60):
        q, m = [mp.mpf(x) for x in q], [mp.mpf(x) for x in m]
        for c1, *v in psis.tolist():
            a, (b, c, d) = 1 + mp.mpf(c1), [mp.mpf(x) for x in v]
            n = mp.sqrt(a * a + b * b + c * c + d * d)
            a, b, c, d = a / n, b / n, c / n, d / n
            w, x, y, z = q
            q = [
                w * a - x * b - y * c - z * d,
                w * b + x * a + y * d - z * c,
                w * c + y * a + z * b - x * d,
                w * d + z * a + x * c - y * b,
            ]
            k = [2 * (c * m[2] - d * m[1]), 2 * (d * m[0] - b * m[2]), 2 * (b * m[1] - c * m[0])]
            m = [
                m[0] - a * k[0] + c * k[2] - d * k[1],
                m[1] - a * k[1] + d * k[0] - b * k[2],
                m[2] - a * k[2] + b * k[1] - c * k[0],
            ]
        return q, m


@pytest.mark.parametrize("alike", [False, True], ids=["random", "alike"])
def test_compensated_turns_are_far_nearer_to_the_exact_ones(alike):
    import mpmath as mp

    off = {}
    for seed in range(3):
        psis = rotations(seed, alike)
        rng = np.random.default_rng(100 + seed)
        q = rng.normal(size=4)
        q, m = tuple((q / np.linalg.norm(q)).tolist()), tuple(rng.normal(size=3).tolist())
        true_q, true_m = exactly(q, m, psis)
        for kind, meanings in (("plain", {}), ("kept", moved.CARRIED)):
            lost = bind(moved.no_losses, meanings)(q, m)
            new, n, (eq, em) = compiled(bind(turns, meanings))(q, m, lost, psis)
            if kind == "plain":
                assert (eq, em) == ((), ())
                eq, em = (0.0,) * 4, (0.0,) * 3
            length = sum((Fraction(a) + Fraction(b)) ** 2 for a, b in zip(new, eq, strict=True))
            with mp.workdps(60):
                total = [mp.mpf(a) + mp.mpf(b) for a, b in zip(n, em, strict=True)]
                size = mp.sqrt(sum(x * x for x in true_m))
                wrong = mp.sqrt(sum((a - b) ** 2 for a, b in zip(total, true_m, strict=True)))
                off.setdefault((kind, "m"), []).append(float(wrong / size))
                total = [mp.mpf(a) + mp.mpf(b) for a, b in zip(new, eq, strict=True)]
                start = mp.sqrt(sum(mp.mpf(x) ** 2 for x in q))
                size = mp.sqrt(sum(x * x for x in total))
                apart = [a / size - b / start for a, b in zip(total, true_q, strict=True)]
                off.setdefault((kind, "q"), []).append(float(mp.sqrt(sum(x * x for x in apart))))
            if kind == "kept":
                assert abs(length - 1) < 4e-16
    off = {key: np.sqrt(np.mean(np.square(values))) for key, values in off.items()}
    assert off["plain", "m"] > 5e-16
    for what in "qm":
        assert off["kept", what] < 0.3 * off["plain", what]


def test_rows_of_any_length():
    z, d = (1.0, -2.0, 3.0, 0.5, 7.0), (1e-20, 1e-17, 0.1, -0.5, 1 / 3)
    assert moved.plus_scaled(z, (), 0.5, d)[1] == ()
    lost = bind(moved.no_loss, moved.CARRIED)(z)
    assert lost == (0.0,) * 5
    add = compiled(bind(moved.plus_scaled, moved.CARRIED))
    total, kept = z, lost
    for _ in range(1000):
        total, kept = add(total, kept, 0.5, d)
    for a, b, first, each in zip(total, kept, z, d, strict=True):
        exact = Fraction(first) + 500 * Fraction(each)
        assert abs(Fraction(a) + Fraction(b) - exact) < 1e-11 * abs(each)
    assert bind(moved.no_loss, moved.CARRIED)(()) == ()


def test_turns_about_the_axes_are_among_the_replacements():
    assert KEPT.items() <= moved.CARRIED.items()
