"""Coefficients of splittings: their order conditions, and their effect on bodies.

A product of exponentials of h A and h B, which do not commute, is a sum of words in A and B.  Its
logarithm should be h (A + B): all longer words are errors, sorted by length and by number of Bs.
"""

import itertools

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode.tableaus.splitting import SPLITTINGS
from support.convergence import estimate_order

SPLITTING = pytest.mark.parametrize("splitting", SPLITTINGS.values(), ids=SPLITTINGS)


# ---- words
def product(p, q, keeps):
    """Return the product of sums of words; only words that ``keeps`` accepts are kept."""
    result = {}
    for (u, x), (v, y) in itertools.product(p.items(), q.items()):
        if keeps(u + v):
            result[u + v] = result.get(u + v, mp.mpf(0)) + x * y
    return result


def exponential(letter, factor, longest, keeps):
    words = (letter * k for k in range(longest + 1))
    return {word: factor ** len(word) / mp.factorial(len(word)) for word in words if keeps(word)}


def logarithm(p, longest, keeps):
    rest = {word: x for word, x in p.items() if word}
    result, power = {}, {"": mp.mpf(1)}
    for k in range(1, longest + 1):
        power = product(power, rest, keeps)
        for word, x in power.items():
            result[word] = result.get(word, mp.mpf(0)) - (-1) ** k * x / k
    return result


def commutator(p, q):
    def keeps(word):
        return True

    result = product(p, q, keeps)
    for word, x in product(q, p, keeps).items():
        result[word] = result.get(word, mp.mpf(0)) - x
    return result


def errors(splitting, orders):
    """The words of the logarithm but A and B, up to the ``orders`` by number of Bs."""
    longest = max(orders)

    def keeps(word):
        kicks = word.count("B")
        return len(word) <= (orders[min(kicks, len(orders)) - 1] if kicks else longest)

    total = {"": mp.mpf(1)}
    for a, b, c in splitting.parts:
        for letter, factor in (("B", b), ("A", a), ("B", c)):
            if factor:
                factor = mp.mpf(str(factor))
                total = product(total, exponential(letter, factor, longest, keeps), keeps)
    found = logarithm(total, longest, keeps)
    assert abs(found.pop("A") - 1) < DIGITS[splitting.name]
    assert abs(found.pop("B") - 1) < DIGITS[splitting.name]
    return found


DIGITS = {name: mp.mpf(10) ** -36 for name in SPLITTINGS}
DIGITS |= {f"strang kahan-li{p}": mp.mpf(10) ** -23 for p in (6, 8)}  # the source has 26


def vanishing(length):
    """Brackets of so many letters that vanish for tops: [B, [B, [B, A]]] and brackets with it."""
    a, b = {"A": mp.mpf(1)}, {"B": mp.mpf(1)}
    found = [commutator(b, commutator(b, commutator(b, a)))]
    for _ in range(length - 4):
        found = [commutator(letter, bracket) for letter in (a, b) for bracket in found]
    return found


def without_vanishing(words, length):
    """Fit the words of so many letters by brackets that vanish: (size of the fit, rest)."""
    names = ["".join(letters) for letters in itertools.product("AB", repeat=length)]
    columns = mp.matrix([[p.get(name, 0) for p in vanishing(length)] for name in names])
    given = mp.matrix([words.get(name, 0) for name in names])
    fit = mp.lu_solve(columns.T * columns, columns.T * given)
    return mp.norm(fit), mp.norm(columns * fit - given)


DIGITS = {name: mp.mpf(10) ** -36 for name in SPLITTINGS}
DIGITS |= {f"strang kahan-li{p}": mp.mpf(10) ** -23 for p in (6, 8)}  # the source has 26


@SPLITTING
def test_conditions(splitting):
    with mp.workdps(60):
        left = errors(splitting, splitting.orders)
        for length in range(5, splitting.order + 1, 2) if splitting.nystrom else ():
            needed, rest = without_vanishing(left, length)
            assert needed > 1e-8  # or it would be of that order for everything
            assert rest < DIGITS[splitting.name]
            left = {word: x for word, x in left.items() if len(word) != length}
        assert max(map(abs, left.values()), default=0) < DIGITS[splitting.name]


@SPLITTING
def test_the_next_conditions_do_not_hold(splitting):
    with mp.workdps(60):
        for place, order in enumerate(splitting.orders):
            more = list(splitting.orders)
            more[place] = order + 1  # odd, as all error terms of a symmetric splitting
            assert max(map(abs, errors(splitting, more).values())) > 1e-12, more


@SPLITTING
def test_symmetric(splitting):
    assert splitting.drifts == splitting.drifts[::-1]
    assert splitting.kicks == splitting.kicks[::-1]
    assert len(splitting.kicks) == len(splitting.drifts) + 1
    assert [float(x) for part in splitting.parts for x in part] == list(sum(splitting.rows, ()))


# ---- bodies
def error_of(strength, method, dt):
    """In the attitude after ten seconds, of a tumbling body under a torque that is this weak."""
    model = ph.models.heavy_top(strength, centre=(0.2, -0.3, 1.0))
    problem = ph.Problem(ph.RigidBody([2, 3, 4.5]), model, omega=[1.0, 1.5, 2.0])
    run = ph.solve(problem, (0, 10), method=method, dt=dt, save_every=1000)
    right = ph.solve(problem, (0, 10), method="strang8", dt=0.02, save_every=1000)
    return (right.rotation[-1].inv() * run.rotation[-1]).magnitude()


@pytest.mark.parametrize(
    ("method", "dt", "strengths", "power"),
    [
        ("strang", 0.05, [0.02, 0.01, 0.005], 1),
        ("sbab5", 0.1, [0.1, 0.05, 0.025], 2),
        ("aba1064", 0.2, [0.5, 0.25, 0.125], 2),
    ],
)
def test_the_error_falls_with_the_torque(method, dt, strengths, power):
    """As its square where strang has the first power: ε h^10 is below ε² h² and ε² h^6."""
    found = [error_of(strength, method, dt) for strength in strengths]
    assert estimate_order(strengths, found, floor=1e-13) == pytest.approx(power, abs=0.1)


def test_the_order_with_a_weak_torque():
    """aba1064 is of order 6 until ε³ h⁴ is left."""
    steps = [0.4, 0.25, 0.2]
    found = [error_of(0.2, "aba1064", dt) for dt in steps]
    assert estimate_order(steps, found, floor=1e-12) == pytest.approx(6, abs=0.2)


def test_a_splitting_for_weak_torques_beats_strang():
    """At one cost, with a torque of a thousandth of the energy of rotation."""
    parts = {name: len(ph.METHODS[name].weights) for name in ("strang", "sbab5", "aba1064")}
    found = {name: error_of(0.01, name, 0.04 * count) for name, count in parts.items()}
    assert found["sbab5"] < 1e-2 * found["strang"]
    assert found["aba1064"] < 1e-2 * found["strang"]


def test_rows_are_data():
    """Another splitting of as many parts needs no other machine code."""
    assert np.array(ph.METHODS["srkn14"].weights).shape == (15, 3)
    assert ph.METHODS["srkn14"].step is ph.METHODS["strang"].step
