"""Weights of symmetric compositions, which raise a symmetric method of order 2 to a higher order.

One step of size h is w_1 h, w_2 h, …, w_s h of the method, w_i = w_(s+1-i).  Order 4 requires

    Σ w = 1,    Σ w³ = 0                                                               (1)

and higher orders more (Σ w⁵ = 0, …, and conditions on commutators).  Weights are exact expressions,
or the digits of their source; the weight in the middle is always 1 minus the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from types import MappingProxyType

DIGITS = 50


@dataclass(frozen=True, kw_only=True)
class Composition:
    """Weights as decimal numbers, and the order they give."""

    name: str
    weights: tuple[Decimal, ...]
    order: int
    references: tuple[str, ...]

    @property
    def floats(self) -> tuple[float, ...]:
        return tuple(map(float, self.weights))


def _symmetric(name: str, half: tuple[Decimal, ...], order: int, *references: str) -> Composition:
    """Make a composition from its first weights; the one in the middle makes the sum 1."""
    with localcontext(prec=DIGITS):
        middle = 1 - 2 * sum(half, Decimal(0))
    weights = *half, middle, *half[::-1]
    return Composition(name=name, weights=weights, order=order, references=references)


def _decimals(text: str) -> tuple[Decimal, ...]:
    return tuple(map(Decimal, text.split()))


def _jumps(order: int, count: int) -> tuple[Decimal, ...]:
    """Return ``count`` equal weights 1/(2 count - (2 count)^(1/(order - 1))) before the middle."""
    with localcontext(prec=DIGITS + 10):
        whole = Decimal(2 * count)
        weight = 1 / (whole - (whole.ln() / (order - 1)).exp())
    with localcontext(prec=DIGITS):
        return (+weight,) * count


TRIPLE_JUMP = _symmetric("triple-jump", _jumps(4, 1), 4, "yoshida1990", "suzuki1990")
SUZUKI4 = _symmetric("suzuki4", _jumps(4, 2), 4, "suzuki1990")
YOSHIDA6 = _symmetric(  # solution A
    "yoshida6",
    _decimals(
        """0.784513610477557263819497633866349876
           0.235573213359358133684793182978534602
           -1.17767998417887100694641568096431573"""
    ),
    6,
    "yoshida1990",
)
KAHAN_LI6 = _symmetric(
    "kahan-li6",
    _decimals(
        """0.39216144400731413927925056 0.33259913678935943859974864
           -0.70624617255763935980996482 0.08221359629355080023149045"""
    ),
    6,
    "kahan1997",
)
KAHAN_LI8 = _symmetric(
    "kahan-li8",
    _decimals(
        """0.13020248308889008087881763 0.56116298177510838456196441
           -0.38947496264484728640807860 0.15884190655515560089621075
           -0.39590389413323757733623154 0.18453964097831570709183254
           0.25837438768632204729397911 0.29501172360931029887096624"""
    ),
    8,
    "kahan1997",
)

COMPOSITIONS: Mapping[str, Composition] = MappingProxyType(
    {c.name: c for c in (TRIPLE_JUMP, SUZUKI4, YOSHIDA6, KAHAN_LI6, KAHAN_LI8)}
)
"""All compositions by name.

Examples
--------
>>> import polhode as ph
>>> suzuki = ph.COMPOSITIONS["suzuki4"].floats
>>> bool(abs(sum(w**3 for w in suzuki)) < 1e-15), round(max(map(abs, suzuki)), 2)
(True, 0.66)
"""
