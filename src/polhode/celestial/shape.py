"""The layered Moon as a function of its β and γ, for fits.

The moments of the whole Moon, of its core and of its mantle, and the friction between these two in
units of the mantle's, follow from β, γ and J2 M R² as in ``libration`` and ``layered``.
"""

from typing import Any

from polhode.celestial.ephemeris import DAY, opened
from polhode.celestial.layered import motion
from polhode.celestial.layers import layered_moon
from polhode.celestial.libration import mass_area
from polhode.solvers.rate_problem import RateProblem


def rates(t, q, y, params):
    """Return what ``layered.rates`` does, for β and γ in the place of what depends on them."""
    beta, gamma, (area, share, flatness, friction), (numbers, layers), body, tables = params
    clocks, gravities, pair, (radius, _, area4, c3, c4), (strength, begun, _), turn = numbers
    tide, _, _, others = layers
    c = 2.0 * area * (1.0 + beta) / (2.0 * beta - gamma + beta * gamma)
    a = c * (1.0 - beta * gamma) / (1.0 + beta)
    b = c * (1.0 + gamma) / (1.0 + beta)
    polar = share * c
    level = polar * (1.0 - flatness)
    mantle = a - level, b - level, c - polar
    inverse = 1.0 / mantle[0], 1.0 / mantle[1], 1.0 / mantle[2]
    figure = radius, (c - b, a - c, b - a), area4, c3, c4
    numbers = clocks, gravities, pair, figure, (strength, begun, (a, b, c)), turn
    between = friction * mantle[2], polar - level
    layers = tide, between, (1.0 / level, 1.0 / level, 1.0 / polar), others
    body = mantle, inverse, *body[2:]
    omega, moved, core = motion(t, q, y[0], y[1], body, ((numbers, layers), tables))
    return omega, (moved, core)


def moon_by_shape(start: Any, **switches: Any) -> RateProblem:
    """Return ``layered_moon`` as a problem whose β and γ can be fitted.

    Its parameters "beta" and "gamma" are those of the ephemeris, its variables "mantle" and "core"
    the angular momenta.  ``switches`` are those of ``layered_moon``, but for ``without``.
    """
    moon = layered_moon(start, **switches)
    source = opened(switches.get("ephemeris", "de421"))
    c = source.constants
    figure = c["J2M"] * mass_area(source), c["IFAC"], c["COBLAT"], c["KVC"] / DAY
    return RateProblem(
        omega=rates,
        frame="body",
        attitude=moon.attitude,
        scalar_first=True,
        variables={"mantle": moon.mantle, "core": moon.core},
        params={
            "beta": c["LBET"],
            "gamma": c["LGAM"],
            "figure": figure,
            "numbers": moon.numbers,
            "body": moon.body,
            "tables": moon.tables,
        },
        name=f"{moon.name}, by shape",
    )
