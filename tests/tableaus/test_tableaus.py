"""Order conditions by rooted trees (Butcher; Hairer, Nørsett, Wanner, theorem II.2.13).

A tree is the sorted tuple of its branches: () is a leaf, ((), ()) a root with two leaves.
"""

from fractions import Fraction
from functools import cache
from math import prod

import mpmath as mp
import pytest

from polhode.errors import InputError
from polhode.tableaus.embedded import PAIRS
from polhode.tableaus.runge_kutta import TABLEAUS, Tableau

TABLEAU = pytest.mark.parametrize("tableau", TABLEAUS.values(), ids=TABLEAUS)
HALF = Fraction(1, 2)


# ---- trees
@cache
def trees(order):
    """All rooted trees with ``order`` nodes."""
    return sorted(set(forests(order - 1, order - 1)))


def forests(nodes, largest):
    """All sorted tuples of trees with ``nodes`` nodes together, none larger than ``largest``."""
    if nodes == 0:
        return [()]
    return [
        tuple(sorted((tree, *rest)))
        for size in range(1, min(nodes, largest) + 1)
        for tree in trees(size)
        for rest in forests(nodes - size, size)
    ]


def nodes(tree):
    return 1 + sum(map(nodes, tree))


def density(tree):
    return nodes(tree) * prod(map(density, tree))


def inner_weights(tree, a):
    """For each stage i, the product over branches of Σ_j a_ij (inner weight of the branch)_j."""
    branches = [inner_weights(branch, a) for branch in tree]
    return [
        prod(sum(x * y for x, y in zip(row, branch, strict=True)) for branch in branches)
        for row in a
    ]


def defects(tableau, order):
    """Σ_i b_i (inner weight)_i - 1/density for each tree of an order."""
    a, b, _ = tableau.converted(Fraction)
    return [
        sum(x * y for x, y in zip(b, inner_weights(tree, a), strict=True))
        - Fraction(1, density(tree))
        for tree in trees(order)
    ]


def rational(tableau):
    return all(
        isinstance(x, Fraction) for x in (*tableau.b, *(x for row in tableau.a for x in row))
    )


def test_only_the_gauss_tableaus_have_square_roots():
    assert [name for name in TABLEAUS if not rational(TABLEAUS[name])] == ["gauss4", "gauss6"]


def test_there_are_as_many_trees_as_cayley_counted():
    assert [len(trees(n)) for n in range(1, 8)] == [1, 1, 2, 4, 9, 20, 48]
    assert all(nodes(tree) == n for n in range(1, 8) for tree in trees(n))


@TABLEAU
def test_the_declared_order_is_reached_and_not_exceeded(tableau):
    # square roots have 50 digits; after a dozen operations 45 are left
    allowed = 0 if rational(tableau) else Fraction(1, 10**45)
    for order in range(1, tableau.order + 1):
        assert max(map(abs, defects(tableau, order))) <= allowed
    # a condition that fails does so by a fraction with a small denominator, not by rounding
    assert max(map(abs, defects(tableau, tableau.order + 1))) > 1e-6


@TABLEAU
def test_stage_times_are_row_sums(tableau):
    a, _, c = tableau.converted(Fraction)
    allowed = 0 if rational(tableau) else Fraction(1, 10**48)
    assert all(abs(sum(row) - node) <= allowed for row, node in zip(a, c, strict=True))


# ---- what a tableau works out
def stability(tableau, z):
    """R(z) = 1 + z bᵀ (1 - z A)⁻¹ (1 … 1): one step of y' = y."""
    a, b, _ = tableau.converted(lambda x: mp.mpf(Fraction(x).numerator) / Fraction(x).denominator)
    stages = mp.lu_solve(mp.eye(len(b)) - z * mp.matrix(a), mp.ones(len(b), 1))
    return 1 + z * mp.fdot(b, stages)


@TABLEAU
def test_symmetric_methods_undo_a_step(tableau):
    """R(z) R(-z) = 1 for the symmetric, and for none of the others here."""
    with mp.workdps(50):
        back_and_forth = stability(tableau, mp.mpf(0.3)) * stability(tableau, mp.mpf(-0.3))
        assert tableau.symmetric is bool(abs(back_and_forth - 1) < mp.mpf(10) ** -45)


@TABLEAU
def test_explicit_ones_have_a_nilpotent_matrix(tableau):
    power = mp.matrix(tableau.converted(float)[0]) ** tableau.stages
    assert tableau.explicit is bool(mp.mnorm(power) == 0)


@TABLEAU
def test_stages_are_counted_and_names_are_keys(tableau):
    assert tableau.stages == len(tableau.b)
    assert TABLEAUS[tableau.name] is tableau


def test_converted_passes_every_entry_through():
    assert TABLEAUS["heun2"].converted(str) == (
        (("0", "0"), ("1", "0")),
        ("1/2", "1/2"),
        ("0", "1"),
    )


# ---- what a tableau refuses
GOOD = {"name": "x", "a": ((0, 0), (1, 0)), "b": (HALF, HALF), "c": (0, 1), "order": 2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"b": ()}, "'x': a must be 0 rows of 0 numbers"),
        ({"a": ((0, 0),)}, r"2 rows of 2 numbers.*got 1 rows of lengths \[2\]"),
        ({"a": ((0, 0), (1,))}, r"got 2 rows of lengths \[2, 1\]"),
        ({"c": (0, 1, 1)}, "c has 3 entries, b has 2"),
        (
            {"c": (0, HALF)},
            "row 2 of a sums to 1.0, but c is 0.5; stage times must be the row sums",
        ),
        ({"b": (HALF, 0)}, "b sums to 0.5, not 1"),
        ({"order": 0}, "order must be at least 1, got 0"),
        ({"c": (0, 1 + 1e-12)}, "row 2"),
    ],
)
def test_errors_say_what_is_wrong(change, message):
    with pytest.raises(InputError, match=message):
        Tableau(**{**GOOD, **change})


def test_rounding_is_forgiven():
    assert Tableau(**{**GOOD, "c": (0, 1 + 1e-15)}).stages == 2


# ---- embedded pairs
PAIR = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)


@PAIR
def test_both_of_a_pair_have_their_orders(pair):
    high, low = pair
    assert (high.a, high.c) == (low.a, low.c)
    assert low.order < high.order
    for tableau in pair:
        assert rational(tableau)
        for order in range(1, tableau.order + 1):
            assert not any(defects(tableau, order))
        assert max(map(abs, defects(tableau, tableau.order + 1))) > 1e-6


@PAIR
def test_pairs_share_a_stage_between_steps(pair):
    high, _ = pair
    assert high.explicit
    assert high.a[-1] == high.b
    assert PAIRS[high.name] is pair
