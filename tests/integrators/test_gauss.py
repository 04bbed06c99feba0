"""Gauss nodes and tables against mpmath, and the Runge-Kutta methods built from them."""

from decimal import localcontext

import mpmath as mp
import numpy as np
import pytest

from polhode.errors import InputError
from polhode.tableaus import gauss
from polhode.tableaus.runge_kutta import GAUSS4, GAUSS6
from support.precise import to_mp

SIZES = 1, 2, 3, 4, 8, 12, 24
FIFTY_DIGITS = mp.mpf(10) ** -48


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(60):
        yield


@pytest.mark.parametrize("s", SIZES)
def test_nodes_are_the_roots_of_legendre(s):
    y = to_mp(gauss.nodes(s))
    assert max(abs(mp.legendre(s, x)) for x in y) < FIFTY_DIGITS
    assert np.allclose(np.array(y, float), np.polynomial.legendre.leggauss(s)[0], atol=1e-14)
    assert [x.copy_negate() for x in reversed(gauss.nodes(s)) if x] == [
        x for x in gauss.nodes(s) if x
    ]


@pytest.mark.parametrize("s", SIZES)
def test_weights_integrate_polynomials_of_degree_2s_less_1(s):
    y, w = to_mp(gauss.nodes(s)), to_mp(gauss.weights(s))
    for k in range(2 * s):
        exact = mp.mpf(2) / (k + 1) if k % 2 == 0 else 0
        assert abs(mp.fdot(w, [x**k for x in y]) - exact) < FIFTY_DIGITS
    assert abs(mp.fdot(w, [x ** (2 * s) for x in y]) - mp.mpf(2) / (2 * s + 1)) > 1e-20


@pytest.mark.parametrize("s", SIZES)
def test_interpolants_of_legendre_polynomials_are_themselves(s):
    rows, powers = to_mp(gauss.to_legendre(s)), gauss.to_powers(s)
    for k in range(s):
        values = [mp.legendre(k, y) for y in to_mp(gauss.nodes(s))]
        found = [mp.fdot(row, values) for row in rows]
        assert max(abs(x - (i == k)) for i, x in enumerate(found)) < FIFTY_DIGITS
        column = [mp.mpf(row[k].numerator) / row[k].denominator for row in powers]
        x = mp.mpf("0.37")
        value = mp.fdot(column, [x**i for i in range(s)])
        assert abs(value - mp.legendre(k, x)) < FIFTY_DIGITS


@pytest.mark.parametrize("s", SIZES)
def test_the_tableau_is_collocation(s):
    """C(s): Σ a_ij c_j^k = c_i^(k+1)/(k+1); with B(2s) that is order 2s (Butcher)."""
    a, b, c = gauss.tableau(s).converted(to_mp)
    for k in range(s):
        powers = [x**k for x in c]
        for row, x in zip(a, c, strict=True):
            assert abs(mp.fdot(row, powers) - x ** (k + 1) / (k + 1)) < FIFTY_DIGITS
    for k in range(2 * s):
        assert abs(mp.fdot(b, [x**k for x in c]) - mp.mpf(1) / (k + 1)) < FIFTY_DIGITS
    assert gauss.tableau(s).symmetric
    assert gauss.tableau(s).order == 2 * s


@pytest.mark.parametrize(("s", "known"), [(2, GAUSS4), (3, GAUSS6)])
def test_the_smallest_are_the_known_ones(s, known):
    with localcontext(prec=60):
        for found, right in zip(gauss.tableau(s).a, known.a, strict=True):
            assert max(abs(x - y) for x, y in zip(found, right, strict=True)) < 1e-48


def test_no_nodes_are_refused():
    with pytest.raises(InputError, match="at least 1"):
        gauss.nodes(0)
