"""The functions of ``math`` on duals, in plain Python, each with its slopes.

A slope is a function of the arguments and of the value.  It calls these functions again, so that
it runs on what duals are made of, which may be duals.
"""

import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.compiler.dual.plain import (
    Dual,
    as_float,
    bare,
    chain,
    chained,
    combination,
    exponent_of,
    level,
    parts,
    power_of,
    product_sum,
    rounded,
    swapped,
    value_beside,
)
from polhode.compiler.machine import (
    NotThree,
    combined,
    exponent,
    fma,
    power_of_two,
    rint,
    three_floats,
)

SLOPES: dict[Callable, Callable] = {}  # function -> slope(x, y) of y = function(x)
SLOPES2: dict[Callable, tuple[Callable, Callable]] = {}  # of y = function(a, b): slope(a, b, y)
ON_DUAL: dict[Callable, Callable] = {}


LARGEST = sys.float_info.max


def ratio(a, b):
    """Return a / b, where b is 0 the largest float times a.

    Slopes are such ratios where they may be infinite.  At the root of 0, a derivative that is 0
    stays 0, as that of √(x² + y²) at the origin is in the mean; others get as large as they can.
    """
    return a / b if bare(b) != 0 else a * LARGEST


def _of_one(function: Callable, slope: Callable) -> Callable:
    def on_dual(x):
        if not isinstance(x, Dual):
            return function(x)
        y = on_dual(x.x)
        return chain(y, slope(x.x, y), x)

    SLOPES[function], ON_DUAL[function] = slope, on_dual
    return on_dual


def _of_two(function: Callable, slope_a: Callable, slope_b: Callable) -> Callable:
    def on_dual(a, b):
        highest = max(level(a), level(b))
        if highest == 0:
            return function(a, b)
        (x, dx), (y, dy) = parts(a, highest), parts(b, highest)
        z = on_dual(x, y)
        p = 0.0 if dx is None else slope_a(x, y, z)
        return chained(z, (p, 0.0 if dy is None else slope_b(x, y, z)), (a, b))

    SLOPES2[function], ON_DUAL[function] = (slope_a, slope_b), on_dual
    return on_dual


# ---- slopes with cases
def sign(x):
    return -1.0 if x < 0.0 else 1.0


def same_sign(a, b, y):
    return 1.0 if (a < 0.0) == (y < 0.0) else -1.0


def power_slope(a, b, y):
    """Return the slope of a to the power b, in a: 0 where b is."""
    return b * a ** (b - 1.0) if b != 0.0 and a != 0.0 else _slope_at_zero(a, b)


def _slope_at_zero(a, b):
    if b == 0.0:
        return 0.0 * a
    return b * a + (1.0 if b == 1.0 else 0.0 if b > 1.0 else LARGEST)


def exponent_slope(a, b, y):
    """Return the slope of a to the power b, in b: 0 where a is."""
    return y * log(a) if a > 0.0 else 0.0 * y if a == 0.0 else y * math.nan


def whole_quotient(a, b, y):
    return -rounded((a - y) / b)


def digamma(x):
    """Return the logarithmic derivative of the gamma function."""
    if x < 0.5:
        return digamma_right(1.0 - x) - math.pi / tan(math.pi * x)
    return digamma_right(x)


def digamma_right(x):
    """Return the same for x >= 1/2, by the asymptotic series after steps to the right."""
    total = 0.0 * x
    while x < 9.0:
        total = total - 1.0 / x
        x = x + 1.0
    z = 1.0 / (x * x)
    series = 1 / 132 - z * (691 / 32760 - z * (1 / 12 - z * (3617 / 8160)))
    series = 1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * series)))
    return total + (log(x) - 0.5 / x - z * series)


ERF = 2.0 / math.sqrt(math.pi)
LN2, LN10 = math.log(2.0), math.log(10.0)

fabs = _of_one(math.fabs, lambda x, y: sign(x))
degrees = _of_one(math.degrees, lambda x, y: 180.0 / math.pi)
radians = _of_one(math.radians, lambda x, y: math.pi / 180.0)
sqrt = _of_one(math.sqrt, lambda x, y: ratio(0.5, y))
cbrt = _of_one(math.cbrt, lambda x, y: ratio(y, 3.0 * x))
exp = _of_one(math.exp, lambda x, y: y)
exp2 = _of_one(math.exp2, lambda x, y: LN2 * y)
expm1 = _of_one(math.expm1, lambda x, y: 1.0 + y)
log = _of_one(math.log, lambda x, y: 1.0 / x)
log1p = _of_one(math.log1p, lambda x, y: 1.0 / (1.0 + x))
log2 = _of_one(math.log2, lambda x, y: 1.0 / (LN2 * x))
log10 = _of_one(math.log10, lambda x, y: 1.0 / (LN10 * x))
sin = _of_one(math.sin, lambda x, y: cos(x))
cos: Callable = _of_one(math.cos, lambda x, y: -sin(x))
tan = _of_one(math.tan, lambda x, y: 1.0 + y * y)
asin = _of_one(math.asin, lambda x, y: ratio(1.0, sqrt((1.0 - x) * (1.0 + x))))
acos = _of_one(math.acos, lambda x, y: ratio(-1.0, sqrt((1.0 - x) * (1.0 + x))))
atan = _of_one(math.atan, lambda x, y: 1.0 / (1.0 + x * x))
sinh = _of_one(math.sinh, lambda x, y: cosh(x))
cosh: Callable = _of_one(math.cosh, lambda x, y: sinh(x))
tanh = _of_one(math.tanh, lambda x, y: (1.0 - y) * (1.0 + y))
asinh = _of_one(math.asinh, lambda x, y: 1.0 / hypot(1.0, x))
acosh = _of_one(math.acosh, lambda x, y: ratio(1.0, sqrt((x - 1.0) * (x + 1.0))))
atanh = _of_one(math.atanh, lambda x, y: 1.0 / ((1.0 - x) * (1.0 + x)))
erf = _of_one(math.erf, lambda x, y: ERF * exp(-x * x))
erfc = _of_one(math.erfc, lambda x, y: -ERF * exp(-x * x))
gamma = _of_one(math.gamma, lambda x, y: y * digamma(x))
lgamma = _of_one(math.lgamma, lambda x, y: digamma(x))
hypot: Callable = _of_two(math.hypot, lambda a, b, y: ratio(a, y), lambda a, b, y: ratio(b, y))
atan2 = _of_two(
    math.atan2,
    lambda a, b, y: ratio(ratio(b, hypot(a, b)), hypot(a, b)),
    lambda a, b, y: -ratio(ratio(a, hypot(a, b)), hypot(a, b)),
)
copysign = _of_two(math.copysign, same_sign, lambda a, b, y: 0.0)
power = _of_two(math.pow, power_slope, exponent_slope)
fmod = _of_two(math.fmod, lambda a, b, y: 1.0, whole_quotient)


# ---- the same functions of NumPy, on single numbers
_ARC = {name: f"arc{name[1:]}" for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")}
_IN_NUMPY = {**_ARC, "atan2": "arctan2", "pow": "power"}


def _of_numpy(function: Callable) -> Any:
    """Return NumPy's function of the same meaning, None if there is none."""
    return getattr(np, _IN_NUMPY.get(function.__name__, function.__name__), None)


for _function, _slope in list(SLOPES.items()):
    if _of_numpy(_function):
        _of_one(_of_numpy(_function), _slope)
for _function, _slopes in list(SLOPES2.items()):
    if _of_numpy(_function):
        _of_two(_of_numpy(_function), *_slopes)
_of_one(np.absolute, SLOPES[math.fabs])


# ---- powers: of floats as Python raises them, whole exponents first
def raised(a, b):
    """Return a ** b of duals."""
    if level(b) < level(a) and not isinstance(b, Dual):
        y = a.x**b
        return chain(y, whole_slope(a.x, b) if isinstance(b, int) else power_slope(a.x, b, y), a)
    return _general(a, b)


def whole_slope(x, n):
    return 0.0 if n == 0 else n * x ** (n - 1)


_general = _of_two(operator.pow, power_slope, exponent_slope)
del ON_DUAL[operator.pow]


def remainder(a, b):
    """Return a % b of duals."""
    x, y = value_beside(a, b), value_beside(b, a)
    return chained(x % y, (1.0, -1.0 * math.floor(bare(x) / bare(y))), (a, b))


def floor_division(a, b):
    """Return a // b of duals, a number without derivatives."""
    return bare(a) // bare(b)


for _name, _operation in (("pow", raised), ("mod", remainder), ("floordiv", floor_division)):
    setattr(Dual, f"__{_name}__", _operation)
    setattr(Dual, f"__r{_name}__", swapped(_operation))


def _of_value(function: Callable) -> Callable:
    return lambda x: function(bare(x))


def three_numbers(value):
    """Return the three numbers that a user's function returned, checked."""
    try:
        x, y, z = value
        return as_float(x), as_float(y), as_float(z)
    except (TypeError, ValueError):
        raise NotThree(f"must return three numbers, returned {value!r}") from None


_OTHERS: dict[Callable, Callable] = {
    fma: product_sum,
    rint: rounded,
    exponent: exponent_of,
    power_of_two: power_of,
    combined: combination,
    float: as_float,
    three_floats: three_numbers,
}
ON_DUAL |= _OTHERS
ON_DUAL |= {test: _of_value(test) for test in (math.isfinite, math.isinf, math.isnan)}
