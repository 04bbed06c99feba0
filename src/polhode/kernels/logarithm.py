"""The natural logarithm without branches, the same operations for one body and for SIMD lanes.

    x = 2^e (1 + f),    √½ <= 1 + f < √2,    s = f / (2 + f)                            (1)
    log(1 + f) = 2 artanh s = f - f²/2 + s (f²/2 + R(s²))                              (2)

R(z) = 2 z/3 + 2 z²/5 + … is a polynomial with the least error, 2^-58 (the C library fdlibm).
"""

from polhode.compiler.machine import blend, exponent, fma, mask, power_of_two

ROOT = 2.0**0.5
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
L1, L2, L3 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01
L4, L5, L6 = 2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01
L7 = 1.479819860511658591e-01


def log(x):
    """Return the logarithm of a positive normal number, within 1 unit in the last place."""
    e = exponent(x)
    x = x * power_of_two(-e)
    large = mask(x >= ROOT)
    e, x = blend(large, e + 1.0, e), blend(large, 0.5 * x, x)
    f = x - 1.0
    s = f / (2.0 + f)
    z = s * s
    rest = z * fma(z, fma(z, fma(z, fma(z, fma(z, fma(z, L7, L6), L5), L4), L3), L2), L1)
    half = 0.5 * f * f
    low = fma(s, half + rest, e * LN2_LOW)
    return fma(e, LN2_HIGH, f - (half - low))  # (2)
