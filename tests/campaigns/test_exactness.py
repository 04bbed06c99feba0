"""The closed form of the free motion keeps its bound, in every regime.

The ordinary tests take 25 bodies of each: ``tests/solvers/test_exact.py``.
"""

import pytest

from support.campaigns import SEED
from support.exact_motion import BOUND, REGIMES, worst_ratio

PERCENT = "largest error in % of the bound"


@pytest.mark.slow
def test_the_bound_holds(campaign):
    made = campaign("exactness", 0, 34_000)
    each = -(-made.size // len(REGIMES))
    for regime in REGIMES:
        ratio = worst_ratio(regime, each, SEED)
        made.counts["bodies"] += each
        made.counts[PERCENT] = max(made.counts[PERCENT], round(100 * ratio / BOUND))
        if not ratio < BOUND:
            made.fail(f"{regime}: {ratio:.3g} eps, and {BOUND} are allowed")
    made.close()
