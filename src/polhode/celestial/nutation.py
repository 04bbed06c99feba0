"""Circular nutations of a pole, and the free core nutation from ratios of nutations.

With arguments φ_k of the motions of Moon and Sun and a polynomial P for the precession,

    X + i Y = P(t) + Σ (a_k exp(i φ_k) + b_k exp(-i φ_k))                              (1)

is fitted by least squares; φ_k increases, so that a_k are prograde and b_k retrograde.  For a
torque of the frequency ν in space (cycles per sidereal day, negative if retrograde), the amplitude
of the Earth with a fluid core over that of the rigid Earth is

    R(ν) = 1 + ν (Q_0 + Q_1/(ν - f))                                                   (2)

with the free core nutation at ν = f, of the period 1/f (after Mathews et al. 2002).
"""

from typing import Any, NamedTuple

import numpy as np

from polhode.celestial.ephemeris import DAY, J2000, julian_date
from polhode.celestial.precession import MAS, SPIN, erfa, figure_poles, poles
from polhode.errors import InputError

CENTURY = 36525.0  # days
DEGREE = 3  # of the polynomial in (1)
# of l, l', F, D, Ω: arcseconds a century
RATES = np.array([1717915923.2178, 129596581.0481, 1739527262.8478, 1602961601.2090, -6962890.5431])
# multiples of these for which the argument increases; terms that differ only by the motion of the
# perihelion, such as l' and 2F - 2D + 2Ω - l', are one
MAIN = {
    "18.6 yr": (0, 0, 0, 0, -1),
    "9.3 yr": (0, 0, 0, 0, -2),
    "1 yr": (0, 1, 0, 0, 0),
    "1/2 yr": (0, 0, 2, -2, 2),
    "13.66 d": (0, 0, 2, 0, 2),
}
OTHERS = (
    (0, 1, 2, -2, 2),
    (0, 0, 2, -2, 1),
    (1, 0, 0, 0, 0),
    (1, 0, 0, 0, 1),
    (1, 0, 0, 0, -1),
    (-1, 0, 2, 0, 2),
    (-1, 0, 2, 0, 1),
    (-1, 0, 0, 2, 0),
    (0, 0, 2, 0, 1),
    (0, 0, 0, 2, 0),
    (-1, 0, 2, 2, 2),
    (1, 0, 2, 0, 2),
    (1, 0, 2, 0, 1),
    (0, 0, 2, 2, 2),
    (2, 0, 0, 0, 0),
    (2, 0, 2, 0, 2),
)


class Nutation(NamedTuple):
    """A circular term: complex amplitudes in mas, and the signed period in days."""

    name: str
    period: float
    rigid: complex
    iau: complex

    @property
    def ratio(self) -> complex:
        """Return the amplitude of IAU 2006/2000A over the rigid one."""
        return self.iau / self.rigid


class Resonance(NamedTuple):
    """The resonance (2): the period 1/f in days, negative because retrograde, and Q_0, Q_1."""

    period: float
    q0: float
    q1: float

    def ratio(self, period: Any) -> Any:
        """Return R at a signed period in days."""
        nu = in_space(period)
        return 1.0 + nu * (self.q0 + self.q1 / (nu - in_space(self.period)))


def arguments(multiples: Any, centuries: np.ndarray) -> np.ndarray:
    """Return columns of φ_k (IERS Conventions 2010, 5.43)."""
    e = erfa()
    delaunay = [f(centuries) for f in (e.fal03, e.falp03, e.faf03, e.fad03, e.faom03)]
    return np.stack(delaunay, axis=1) @ np.transpose(np.asarray(multiples, dtype=float))


def frequencies(multiples: Any) -> np.ndarray:
    """Return the frequencies of φ_k at J2000, in cycles per day."""
    return np.asarray(multiples, dtype=float) @ RATES / (1296000.0 * CENTURY)


def circular_terms(start: Any, t: Any, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the amplitudes (a_k, b_k) of (1) for MAIN, from rows p of the pole."""
    days = np.asarray(t, dtype=float) / DAY
    if np.ptp(days) < 18.0 * 365.25:
        raise InputError(
            "nutations of 18.6 and 9.3 years cannot be distinguished from a trend in"
            f" {np.ptp(days) / 365.25:.3g} years; give a run of 18 years or more"
        )
    centuries = (julian_date(start) - J2000 + days) / CENTURY
    phases = np.exp(1j * arguments([*MAIN.values(), *OTHERS], centuries))
    x = 2.0 * (days - days.mean()) / np.ptp(days)
    basis = np.hstack([np.polynomial.legendre.legvander(x, DEGREE), phases, phases.conj()])
    found = np.linalg.lstsq(basis, p[:, 0] + 1j * p[:, 1], rcond=None)[0][DEGREE + 1 :]
    a, b = np.split(found, 2)
    return a[: len(MAIN)], b[: len(MAIN)]


def nutations(start: Any, t: Any, rigid: np.ndarray, iau: np.ndarray) -> list[Nutation]:
    """Return the main nutations of two poles in rows, retrograde and prograde, longest first."""
    of_rigid, of_iau = circular_terms(start, t, rigid), circular_terms(start, t, iau)
    rows = []
    for k, (name, rate) in enumerate(zip(MAIN, frequencies(list(MAIN.values())), strict=True)):
        for sign, way in ((-1, 1), (1, 0)):
            ours, theirs = complex(of_rigid[way][k]) / MAS, complex(of_iau[way][k]) / MAS
            rows.append(Nutation("-+"[sign > 0] + name, sign / float(rate), ours, theirs))
    return rows


def earth_nutations(run: Any, start: Any) -> list[Nutation]:
    """Return the main nutations of a run of ``earth`` of 18 years or more, and IAU 2006/2000A's."""
    return nutations(start, run.t, figure_poles(run), poles(julian_date(start), run.t))


def in_space(period: Any) -> Any:
    """Return ν in cycles per sidereal day, from a period in days."""
    return 2.0 * np.pi / (np.asarray(period) * SPIN * DAY)


def core_resonance(terms: list[Nutation]) -> Resonance:
    """Fit (2) to the real parts of the ratios, weighted by the rigid amplitudes."""
    from scipy.optimize import least_squares

    nu = in_space([term.period for term in terms])
    ratios = np.array([term.ratio.real for term in terms])
    weights = np.array([abs(term.rigid) for term in terms])

    def fitted(period: float) -> tuple[np.ndarray, np.ndarray]:
        """Return (Q, weighted residuals) at a period."""
        basis = np.stack([nu, nu / (nu - in_space(period))], axis=1)
        q = np.linalg.lstsq(basis * weights[:, None], (ratios - 1.0) * weights, rcond=None)[0]
        return q, (basis @ q + 1.0 - ratios) * weights

    tried = -np.linspace(370.0, 600.0, 116)  # slower than the year
    best = tried[np.argmin([np.sum(fitted(period)[1] ** 2) for period in tried])]
    found = least_squares(lambda x: fitted(x[0])[1], [best], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    period = float(found.x[0])
    q0, q1 = map(float, fitted(period)[0])
    return Resonance(period, q0, q1)
