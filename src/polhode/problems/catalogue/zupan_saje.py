"""Stand-ins for the four examples of Zupan & Saje that Boyle used."""

from polhode.problems.catalogue import GivenRate
from polhode.problems.given_motions import ZUPAN_SAJE


def _stand_in(key: str) -> GivenRate:
    motion, span = ZUPAN_SAJE[key]
    name = f"zupan-saje-{key.replace(' ', '-')}"
    return GivenRate(name, motion, span, ("boyle2017", "zupan2011"))


def zupan_saje_regular() -> GivenRate:
    """Boyle 2017, appendix: a stand-in for the first example of Zupan & Saje."""
    return _stand_in("regular")


def zupan_saje_vibrational() -> GivenRate:
    """Boyle 2017, appendix: a stand-in for the second, whose rate varies faster than its frame."""
    return _stand_in("vibrational")


def zupan_saje_strongly_vibrational() -> GivenRate:
    """Boyle 2017, appendix: a stand-in for the third, which does so much more."""
    return _stand_in("strongly vibrational")


def zupan_saje_unbounded() -> GivenRate:
    """Boyle 2017, appendix: a stand-in for the fourth, with an unbounded rotation vector."""
    return _stand_in("unbounded")


PLACE = 150
RATES = {
    "zupan-saje-regular": zupan_saje_regular,
    "zupan-saje-vibrational": zupan_saje_vibrational,
    "zupan-saje-strongly-vibrational": zupan_saje_strongly_vibrational,
    "zupan-saje-unbounded": zupan_saje_unbounded,
}
