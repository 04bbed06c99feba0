"""One step by a given angular velocity: ω at s Gauss nodes, and the rotor equation as a series.

A step from t to t + h is y = -1 … 1, and with c(y) = (h/4) ω the rotor equation q' = ω q/2 becomes

    dR/dy = c(y) R,    q(t + h) = R(1) R(-1)* q(t)                                     (1)

c is replaced by its interpolant on the roots of P_s, in Legendre's polynomials and then in powers,

    c_j = (h/4) ω(t + (1 + y_j) h/2),    p_k = Σ_j W_kj c_j,    c(y) = Σ_k p_k P_k(y)   (2)

and the resulting equation is solved to rounding by its power series from the middle of the step,
(1) of ``compiler.simd.taylor``.  The interpolation error is orthogonal to polynomials of degree
< s, so the step is of order 2s; it is its own adjoint.

Two things keep the rounding error small.  W acts on differences from a value r in the middle, and r
itself is added to p_0: rounded weights do not have exactly the right sum, and would turn all steps
a little too far.  And the conversion to powers goes via Legendre polynomials: one matrix for both
would lose two digits at s = 12.

Dropping p_(s-1) P_(s-1) gives a method of order 2s - 2.  The two differ by the angle

    e_1 = κ |Σ_(i+j=s-1) vec(R_i* p_(s-1) R_j)|,    κ = 2 2^s (s-1)!²/(2s-1)!           (3)

to leading order, which needs no more values of ω.  It does not see the error of ∫ω itself, for
which both have the same Gauss sum.  That is estimated from the decay ρ of the last coefficients,

    e_2 = 4 A ρ^s,    A² = |p_(s-1)|² + |p_(s-2)|²,    ρ^4 = A²/(|p_(s-3)|² + |p_(s-4)|²)   (4)

with ρ <= 1 (s = 4: ρ² = A²/|p_1|², and ρ^5, for p_0 says nothing about decay).
"""

from collections.abc import Callable
from math import factorial, sqrt

from polhode.compiler.machine import fma
from polhode.kernels.vector import add

TINY = 1e-300  # keeps ρ finite, and changes nothing elsewhere


# ---- the frame: a body rate ω is the inertial rate -ω of q*, since q' = q ω/2 means q*' = -ω q*/2
def side(x):
    """Return a component of the rate or of the vector part of q for (1); replaced for body axes."""
    return x


def on_the_left(x):
    """Replace ``side`` for rates in inertial axes, which are to the left of q."""
    return x


def on_the_right(x):
    """Replace ``side`` for rates in body axes."""
    return -x


def seen(q):
    """Convert q to the quaternion of (1), q or q*, and back."""
    return q[0], side(q[1]), side(q[2]), side(q[3])


# ---- quaternions
def product(p, q):
    """Return p q, of any two quaternions."""
    return (
        fma(p[0], q[0], -fma(p[1], q[1], fma(p[2], q[2], p[3] * q[3]))),
        fma(p[0], q[1], fma(p[1], q[0], fma(p[2], q[3], -(p[3] * q[2])))),
        fma(p[0], q[2], fma(p[2], q[0], fma(p[3], q[1], -(p[1] * q[3])))),
        fma(p[0], q[3], fma(p[3], q[0], fma(p[1], q[2], -(p[2] * q[1])))),
    )


def square(q):
    """Return |q|²."""
    return fma(q[0], q[0], fma(q[1], q[1], fma(q[2], q[2], q[3] * q[3])))


# ---- the error


def kappa(s: int) -> float:
    return 2 * 2**s * factorial(s - 1) ** 2 / factorial(2 * s - 1)


def sandwich(a, p, b):
    """Return vec(a* p b) of a pure quaternion p = (0, x, y, z)."""
    _, x, y, z = p
    w = -fma(x, b[1], fma(y, b[2], z * b[3]))
    u = fma(x, b[0], fma(y, b[3], -(z * b[2])))
    v = fma(y, b[0], fma(z, b[1], -(x * b[3])))
    t = fma(z, b[0], fma(x, b[2], -(y * b[1])))
    return (
        fma(a[0], u, fma(a[3], v, -fma(a[1], w, a[2] * t))),
        fma(a[0], v, fma(a[1], t, -fma(a[2], w, a[3] * u))),
        fma(a[0], t, fma(a[2], u, -fma(a[3], w, a[1] * v))),
    )


def embedded(s: int) -> Callable:
    """Make e_1 of (3), from p_(s-1) and the first s terms; the sum is twice that over i < j."""
    factor, last = 2.0 * kappa(s), s - 1

    def total(count):
        i, j = count - 1, last - (count - 1)
        if count == 1:
            return lambda p, terms: sandwich(terms[i], p, terms[j])
        before = total(count - 1)
        return lambda p, terms: add(before(p, terms), sandwich(terms[i], p, terms[j]))

    half = total(s // 2)

    def e1(p, terms):
        v = half(p, terms)
        return factor * sqrt(fma(v[0], v[0], fma(v[1], v[1], v[2] * v[2])))

    return e1


def tail(s: int) -> Callable:
    """Make e_2 of (4), from p_(s-1), p_(s-2), …"""
    power = s // 2 if s > 4 else s + 1

    def before(p):
        return square(p[2]) + square(p[3])

    def before4(p):
        return square(p[2])

    others = before if s > 4 else before4

    def e2(p):
        a = square(p[0]) + square(p[1])
        u = a / (others(p) + TINY)
        u = u if u < 1.0 else 1.0
        for _ in range(power):
            a = a * u
        return 4.0 * sqrt(a)

    return e2
