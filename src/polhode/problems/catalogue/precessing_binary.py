"""Boyle's precessing and nutating black-hole binary."""

from polhode.problems.catalogue import GivenRate
from polhode.problems.given_motions import PRECESSING_BINARY


def precessing_binary() -> GivenRate:
    """Boyle 2017, section VI.B: 1000 orbits of a precessing and nutating black-hole binary."""
    return GivenRate("precessing-binary", PRECESSING_BINARY, (0.0, 1e6))


PLACE = 140
RATES = {"precessing-binary": precessing_binary}
