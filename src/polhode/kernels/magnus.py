"""The Magnus series: the rotation between two times, from the body rates in between.

With the body rate ω(t) the attitude obeys q' = q ω/2, and q(t + h) = q(t) exp(psi).  The rates at s
Gauss nodes of the interval give the first s coefficients of

    h ω = a₁ + a₂ x + a₃ x² + a₄ x³,    x = (time - middle) / h                        (1)

and, with the bracket [a, b] = b × a because a body rate is to the right of q,

    order 2, s = 1:  psi = a₁                                                          (2)
    order 4, s = 2:  psi = a₁ - [a₁, a₂]/12                                            (3)
    order 6, s = 3:  c₁ = [a₁, a₂],    c₂ = -[a₁, 2 a₃ + c₁]/60
                     psi = a₁ + a₃/12 + [c₁ - 20 a₁ - a₃, a₂ + c₂]/240                 (4)

and order 8, s = 4, with six brackets (5) (Blanes, Casas & Ros, BIT 40, 434, 2000).

An inertial rate ω is the body rate -ω of the conjugate, since q' = ω q/2 means q*' = q* (-ω)/2.  So
the frame changes the side of the product and the sign of the bracket together, and one set of
formulas is enough.
"""

from math import sqrt

from polhode.kernels.vector import add, add_scaled, cross, multiply, subtract

NODES4 = sqrt(3) / 6
NODES6 = sqrt(15) / 10
INNER8, OUTER8 = (sqrt(3 / 7 - s * 2 / 7 * sqrt(6 / 5)) / 2 for s in (1, -1))
SQUARES8 = sqrt(6 / 5) / 7  # OUTER8² - INNER8²


def bracket(a, b):
    return cross(b, a)


def magnus2(h, w):
    """Return the rotation vector psi of (2) from the rate in the middle."""
    return multiply(h, w)


def magnus4(h, w1, w2):
    """Return psi of (3) from the rates at -NODES4 and NODES4."""
    a1 = multiply(0.5 * h, add(w1, w2))
    a2 = multiply(h / (2.0 * NODES4), subtract(w2, w1))
    return add_scaled(a1, -1.0 / 12.0, bracket(a1, a2))


def magnus6(h, w1, w2, w3):
    """Return psi of (4) from the rates at -NODES6, 0 and NODES6."""
    a1 = multiply(h, w2)
    a2 = multiply(h / (2.0 * NODES6), subtract(w3, w1))
    a3 = multiply(h / (2.0 * NODES6 * NODES6), add(subtract(w3, w2), subtract(w1, w2)))
    c1 = bracket(a1, a2)
    c2 = multiply(-1.0 / 60.0, bracket(a1, add_scaled(c1, 2.0, a3)))
    left = add_scaled(subtract(c1, a3), -20.0, a1)
    last = bracket(left, add(a2, c2))
    return add_scaled(add_scaled(a1, 1.0 / 12.0, a3), 1.0 / 240.0, last)


def magnus8(h, w1, w2, w3, w4):
    """Return psi of order 8 from the rates at -OUTER8, -INNER8, INNER8 and OUTER8."""
    inner, outer = multiply(0.5 * h, add(w2, w3)), multiply(0.5 * h, add(w1, w4))
    a3 = multiply(1.0 / SQUARES8, subtract(outer, inner))
    a1 = add_scaled(inner, -INNER8 * INNER8, a3)
    inner = multiply(0.5 * h / INNER8, subtract(w3, w2))
    outer = multiply(0.5 * h / OUTER8, subtract(w4, w1))
    a4 = multiply(1.0 / SQUARES8, subtract(outer, inner))
    a2 = add_scaled(inner, -INNER8 * INNER8, a4)
    p = add_scaled(a1, 1.0 / 28.0, a3)
    q = add_scaled(a2, 3.0 / 28.0, a4)
    s1 = multiply(-1.0 / 28.0, bracket(p, q))  # (5), from here
    r1 = bracket(a1, add_scaled(multiply(-1.0 / 42.0, a3), 1.0 / 3.0, s1))
    s2 = bracket(add(p, s1), add(q, r1))
    half = multiply(0.5, bracket(a2, s1))
    r2 = bracket(add_scaled(a1, 1.25, s1), add_scaled(add(s2, half), 2.0, a3))
    left = add_scaled(add_scaled(a1, 1.0 / 12.0, a3), -7.0 / 3.0, s1)
    left = add_scaled(left, -1.0 / 6.0, s2)
    right = add_scaled(add_scaled(r2, -9.0, a2), -2.25, a4)
    s3 = bracket(left, add_scaled(right, 63.0, r1))
    psi = add_scaled(add_scaled(a1, 1.0 / 12.0, a3), -7.0 / 120.0, s2)
    return add_scaled(psi, 1.0 / 360.0, s3)
