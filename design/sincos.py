"""The coefficients P and Q of ``polhode.kernels.trig``, and how good they are.

    2 sin(r/2) = r + r z P(z),    cos(r/2) - 1 = z (z Q(z) - 1/8),    z = r², |r| <= pi

P and Q are interpolated at the eight Chebyshev nodes of 0 <= z <= MARGIN pi², with 60 digits, and
rounded to double: their error lies below rounding.  The margin: the reduced angle may exceed pi
by its rounding.

Run ``python design/sincos.py``; it prints the coefficients beside those in the library.
"""

import mpmath as mp

from polhode.kernels import trig

DIGITS = 60
COUNT = 8  # coefficients of P and of Q
MARGIN = "1.0001"


def p(z):
    r = mp.sqrt(z)
    return (2 * mp.sin(r / 2) / r - 1) / z


def q(z):
    return ((mp.cos(mp.sqrt(z) / 2) - 1) / z + mp.mpf(1) / 8) / z


def interpolated(function):
    """The coefficients, constant first, of the polynomial through ``function`` at the nodes."""
    top = mp.mpf(MARGIN) * mp.pi**2
    nodes = [top / 2 * (1 + mp.cos(mp.pi * (2 * k + 1) / (2 * COUNT))) for k in range(COUNT)]
    matrix = mp.matrix([[z**j for j in range(COUNT)] for z in nodes])
    return [float(c) for c in mp.lu_solve(matrix, mp.matrix([function(z) for z in nodes]))]


def value(coefficients, z):
    return mp.polyval(coefficients[::-1], z)


def errors(ps, qs, samples=4000):
    """The largest relative errors of 2 sin(r/2) and cos(r/2) - 1, coefficients as rounded."""
    worst = [mp.mpf(0), mp.mpf(0)]
    for k in range(1, samples + 1):
        r = mp.pi * k / samples
        z = r * r
        found = r + r * z * value(ps, z), z * (z * value(qs, z) - mp.mpf(1) / 8)
        right = 2 * mp.sin(r / 2), mp.cos(r / 2) - 1
        worst = [max(w, abs(f / x - 1)) for w, f, x in zip(worst, found, right, strict=True)]
    return worst


def main():
    ps, qs = interpolated(p), interpolated(q)
    for name, coefficients in (("P", ps), ("Q", qs)):
        for j, made in enumerate(coefficients):
            kept = getattr(trig, f"{name}{j}")
            print(f"{name}{j}  {made!r:>25}  {kept!r:>25}  {'same' if made == kept else 'DIFFERS'}")
    turn = 2 * mp.pi
    for name, made in (
        ("TURN", float(turn)),
        ("TURN_REST", float(turn - float(turn))),
        ("TURNS", float(1 / turn)),
    ):
        kept = getattr(trig, name)
        print(f"{name:9} {made!r}  {kept!r}  {'same' if made == kept else 'DIFFERS'}")
    for name, error in zip(("2 sin(r/2)", "cos(r/2) - 1"), errors(ps, qs), strict=True):
        print(f"{name}: relative error at most {mp.nstr(error, 2)}; rounding is 1.1e-16")


if __name__ == "__main__":
    with mp.workdps(DIGITS):
        main()
