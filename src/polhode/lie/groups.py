"""Rotors over real, dual and complex numbers: one set of formulas for SO(3), SE(3) and SO⁺(3,1).

A rotor is a quaternion Y = (w, v) with Y Ȳ = 1, a generator is a vector a.  Over real numbers the
rotors are SO(3), over dual ones (ε² = 0) SE(3), over complex ones (i² = -1) SO⁺(3,1):

    SO3        a = ω          rate of rotation                    X = x
    SE3        a = ω + ε v    rate of rotation, velocity          X = 1 + ε x
    Lorentz    a = ω + i b    rate of rotation, rate of boost     X = t + i x

With z = a·a (never conjugated) and [a, b] = a × b,

    exp(a) = (C(z), S(z) a),    C = cos(√z/2),    S = sin(√z/2)/√z                       (1)
    dexpinv_a b = b - a × b/2 + G(z) a × (a × b),    G = (1 - (√z/2) cot(√z/2))/z        (2)
    log(Y) = T v,    T = 4 atan(n/(1 + w))/n,    n = √(v·v)                              (3)
    X → Y X conj(Ȳ)    (conj: ε → -ε, i → -i)                                            (4)

C, S and G are functions of z, so null vectors (z = 0) are not a special case, and a function of a
dual number is f(x + ε y) = f(x) + ε y f'(x).  (1) and (2) are Boyle 2017, (11) and (18), with
r = a/2; its section V shows that they also hold for so(3,1).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import factorial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.errors import InputError

SIDES = "left", "right"


class Group(Protocol):
    """The interface of a Lie group for ``integrate``.

    ``side`` is the side of A in the equation: "left" is Y' = A Y (A in the outer, inertial frame),
    "right" is Y' = Y A (A in the inner, body frame).  ``zero`` is the zero of the algebra, an array
    whose shape and type all generators share.  ``act`` moves a point; steps do not need it.
    """

    @property
    def side(self) -> str: ...
    @property
    def identity(self) -> NDArray: ...
    @property
    def zero(self) -> NDArray: ...
    def compose(self, y: Any, z: Any) -> NDArray:
        """Return the product y z."""

    def exp(self, a: Any) -> NDArray: ...
    def dexpinv(self, a: Any, b: Any) -> NDArray:
        """Return r' at r = a, where exp(r)' = b exp(r)."""

    def act(self, y: Any, x: Any) -> NDArray:
        """Return the point x moved by y."""


# ---- the power series of dexpinv, for any algebra
def _bernoulli(count: int) -> list[Fraction]:
    """B_k/k!, the coefficients of x/(eˣ - 1)."""
    values: list[Fraction] = []
    for k in range(count):
        total = sum((values[j] / factorial(k - j + 1) for j in range(k)), Fraction(0))
        values.append(Fraction(k == 0) - total)
    return values


BERNOULLI = _bernoulli(30)


def dexpinv_series(bracket: Callable, a: ArrayLike, b: ArrayLike, terms: int) -> NDArray:
    """Return dexpinv_a b = Σ_k (B_k/k!) ad_aᵏ b, to ``terms`` terms: for user-defined groups.

    Exact if ad_a is nilpotent and ``terms`` is large enough; otherwise the error is about the first
    omitted term, and |a| must be well below 2π.

    Examples
    --------
    >>> import numpy as np
    >>> from polhode import lie
    >>> a, b = np.array([0.1, 0.2, -0.1]), np.array([1.0, 0.0, 0.5])
    >>> summed = lie.dexpinv_series(np.cross, a, b, terms=10)
    >>> bool(np.allclose(summed, lie.SO3("left").dexpinv(a, b)))
    True
    """
    if not 1 <= terms <= len(BERNOULLI):
        raise InputError(f"terms must be between 1 and {len(BERNOULLI)}, got {terms!r}")
    power = np.asarray(b)
    total = 1.0 * power
    for coefficient in BERNOULLI[1:terms]:
        power = np.asarray(bracket(a, power))
        total = total + float(coefficient) * power
    return total


# ---- functions of z, and their derivatives
NEAR = 1.0  # the series below are used for smaller |z|, where the closed forms lose a few ulps of 1
S_SERIES = [Fraction((-1) ** k, 2 ** (2 * k + 1) * factorial(2 * k + 1)) for k in range(11)]
G_SERIES = [(-1) ** k * BERNOULLI[2 * k + 2] for k in range(14)]


def _horner(coefficients: list[Fraction]) -> Callable:
    *rest, last = map(float, coefficients)

    def polynomial(z):
        value = last
        for coefficient in rest[::-1]:
            value = value * z + coefficient
        return value

    return polynomial


def _near(series: list[Fraction], closed: Callable) -> tuple[Callable, Callable]:
    """Return the functions f and f': series for small z, otherwise ``closed``, which has both."""

    def choice(polynomial, which):
        def f(z):
            near = abs(z) < NEAR
            if near.all():
                return polynomial(z)
            far = closed(np.where(near, 1.0, z))[which]
            return np.where(near, polynomial(np.where(near, z, 0.0)), far) if near.any() else far

        return f

    slope = [k * coefficient for k, coefficient in enumerate(series)][1:]
    return choice(_horner(series), 0), choice(_horner(slope), 1)


def _s_closed(z):
    x = np.sqrt(z)
    s, c = np.sin(x / 2) / x, np.cos(x / 2)
    return s, (c / 4 - s / 2) / z


def _g_closed(z):
    (s, ds), c = _s_closed(z), np.cos(np.sqrt(z) / 2)
    h, dh = c / (2 * s), -(s / 4 + c * ds / s) / (2 * s)  # h = (√z/2) cot(√z/2)
    g = (1 - h) / z
    return g, -(dh + g) / z


S = _near(S_SERIES, _s_closed)
C = (lambda z: np.cos(np.sqrt(z) / 2)), (lambda z: -S[0](z) / 4)
G = _near(G_SERIES, _g_closed)


def _angle(w, z):
    """Return T of (3) for Re w ≥ 0; for large n from eⁱˣ = w + i n, x = n T/2."""
    n = np.sqrt(z)
    far = abs(n) > 2.0
    safe = np.where((n == 0) | far, 1.0, n)
    near = np.where(n == 0, 4.0 / (1 + w), 4 * np.arctan(safe / np.where(far, 2.0, 1 + w)) / safe)
    if not far.any():
        return near
    m = np.where(abs(w + 1j * n) >= abs(w - 1j * n), n, -n)
    return np.where(far, -2j * np.log(w + 1j * m) / np.where(far, m, 1.0), near)


# ---- quaternions; the last axis holds the components
NEXT, LAST = np.array([1, 2, 0]), np.array([2, 0, 1])


def _dot(a, b):
    return (a * b).sum(-1, keepdims=True)


def _cross(a, b):
    return a[..., NEXT] * b[..., LAST] - a[..., LAST] * b[..., NEXT]


def _product(p, q):
    (s, u), (t, v) = (p[..., :1], p[..., 1:]), (q[..., :1], q[..., 1:])
    return np.concatenate([s * t - _dot(u, v), s * v + t * u + _cross(u, v)], -1)


def _halves(x):
    n = x.shape[-1] // 2
    return x[..., :n], x[..., n:]


def _points(x, first):
    """Quaternions with the vectors x and the scalar ``first``."""
    return np.concatenate([np.full_like(x[..., :1], first), x], -1)


@dataclass(frozen=True)
class Rotors:
    """A group of rotors over real, dual or complex numbers; made by ``SO3``, ``SE3``, ``Lorentz``.

    Elements and generators are arrays whose last axis holds the components, w before v; the dual
    parts follow the real parts.  Every function also takes stacks of them.
    """

    name: str
    side: str
    dtype: type
    dual: bool
    dimension: int  # of the points
    point: Callable = field(repr=False)  # X of x
    coordinates: Callable = field(repr=False)  # x of X

    def __post_init__(self):
        if self.side not in SIDES:
            raise InputError(
                f"side must be 'left' (Y' = A Y, A in inertial axes) or 'right' (Y' = Y A, A in"
                f" body axes), got {self.side!r}"
            )

    @property
    def identity(self) -> NDArray:
        return np.array([1, 0, 0, 0, 0, 0, 0, 0][: 8 if self.dual else 4], self.dtype)

    @property
    def zero(self) -> NDArray:
        return np.zeros(6 if self.dual else 3, self.dtype)

    def compose(self, y: ArrayLike, z: ArrayLike) -> NDArray:
        """Return the product y z: first z, then y."""
        return self._bilinear(_product, self._element(y), self._element(z))

    def inverse(self, y: ArrayLike) -> NDArray:
        """Return the inverse y⁻¹ = ȳ."""
        return self._element(y) * self._signs

    def exp(self, a: ArrayLike) -> NDArray:
        """Return the rotor exp(a) of a generator, (1)."""
        a = self._generator(a)
        z = self._bilinear(_dot, a, a)
        return self._joined(
            self._function(C, z), self._bilinear(np.multiply, self._function(S, z), a)
        )

    def log(self, y: ArrayLike) -> NDArray:
        """Return the shortest generator of y or -y, which are the same motion, (3)."""
        y = self._element(y)
        y = np.where(y[..., :1].real < 0, -y, y)
        w, v = self._parted(y)
        z = self._bilinear(_dot, v, v)
        if not self.dual:
            return _angle(w, z) * v
        (w, dw), (z, _) = _halves(w), _halves(z)
        t = _angle(w, z)
        # T' (2 v·dv), with v·dv = -w dw
        dt = np.where(z == 0, 0.0, dw * (t * w - 2) / np.where(z == 0, 1.0, z))
        return self._bilinear(np.multiply, np.concatenate([t, dt], -1), v)

    def dexpinv(self, a: ArrayLike, b: ArrayLike) -> NDArray:
        """Return r' at r = a, where exp(r)' = b exp(r), (2); singular at a full turn."""
        a, b = self._generator(a), self._generator(b)
        k = self.bracket(a, b)
        g = self._function(G, self._bilinear(_dot, a, a))
        return b - k / 2 + self._bilinear(np.multiply, g, self.bracket(a, k))

    def bracket(self, a: ArrayLike, b: ArrayLike) -> NDArray:
        """Return the Lie bracket [a, b] = a × b."""
        return self._bilinear(_cross, self._generator(a), self._generator(b))

    def adjoint(self, y: ArrayLike, a: ArrayLike) -> NDArray:
        """Return Ad_y a = y a ȳ: the generator a in the outer frame."""
        a = self._generator(a)
        scalar = np.zeros_like(self._bilinear(_dot, a, a))
        y = self._element(y)
        turned = self.compose(self.compose(y, self._joined(scalar, a)), self.inverse(y))
        return self._parted(turned)[1]

    def act(self, y: ArrayLike, x: ArrayLike) -> NDArray:
        """Return the points x moved by y, (4)."""
        x = np.asarray(x, float)
        if x.shape[-1:] != (self.dimension,):
            raise InputError(
                f"x must have {self.dimension} coordinates on its last axis for {self.name}, got"
                f" an array of shape {x.shape}"
            )
        bar = self.inverse(y).conj()
        if self.dual:
            bar = bar * np.repeat([1.0, -1.0], 4)
        return self.coordinates(self.compose(self.compose(y, self.point(x)), bar))

    def matrix(self, y: ArrayLike) -> NDArray:
        """Return the matrix of y: 3×3, homogeneous 4×4, or 4×4 on (t, x, y, z)."""
        y = self._element(y)[..., None, :]
        if not self.dual:
            return np.swapaxes(self.act(y, np.eye(self.dimension)), -1, -2)
        moved = self.act(y, np.vstack([np.eye(3), np.zeros(3)]))
        rows = np.concatenate([moved[..., :3, :] - moved[..., 3:, :], moved[..., 3:, :]], -2)
        last = np.zeros((*rows.shape[:-2], 4, 1))
        last[..., 3, 0] = 1.0
        return np.swapaxes(np.concatenate([rows, last], -1), -1, -2)

    def defect(self, y: ArrayLike) -> float:
        """Return the largest component of y ȳ - 1, relative to the square of y's largest."""
        y = self._element(y)
        return float(
            abs(self.compose(y, self.inverse(y)) - self.identity).max() / abs(y).max() ** 2
        )

    # ---- arithmetic of numbers that may be dual
    def _bilinear(self, product: Callable, x: NDArray, y: NDArray) -> NDArray:
        if not self.dual:
            return product(x, y)
        (x, dx), (y, dy) = _halves(x), _halves(y)
        return np.concatenate([product(x, y), product(x, dy) + product(dx, y)], -1)

    def _function(self, pair: tuple[Callable, Callable], z: NDArray) -> NDArray:
        f, slope = pair
        if not self.dual:
            return f(z)
        z, dz = _halves(z)
        return np.concatenate([f(z), slope(z) * dz], -1)

    def _joined(self, w: NDArray, v: NDArray) -> NDArray:
        if not self.dual:
            return np.concatenate([w, v], -1)
        (w, dw), (v, dv) = _halves(w), _halves(v)
        return np.concatenate([w, v, dw, dv], -1)

    def _parted(self, y: NDArray) -> tuple[NDArray, NDArray]:
        if not self.dual:
            return y[..., :1], y[..., 1:]
        return y[..., [0, 4]], y[..., [1, 2, 3, 5, 6, 7]]

    @property
    def _signs(self) -> NDArray:
        return np.array([1, -1, -1, -1] * (2 if self.dual else 1))

    def _element(self, y: ArrayLike) -> NDArray:
        return self._array(y, "y", 8 if self.dual else 4, "exp makes elements of the group")

    def _generator(self, a: ArrayLike) -> NDArray:
        return self._array(a, "a", 6 if self.dual else 3, "a generator is " + GENERATORS[self.name])

    def _array(self, value: ArrayLike, what: str, size: int, remedy: str) -> NDArray:
        array = np.asarray(value)
        if array.dtype == self.dtype and array.shape[-1:] == (size,):
            return array
        if array.shape[-1:] != (size,) or not np.can_cast(array.dtype, self.dtype, "same_kind"):
            raise InputError(
                f"{what} must have {size} {self.dtype.__name__} components on its last axis for"
                f" {self.name}, got {array.dtype} of shape {array.shape}; {remedy}"
            )
        return array.astype(self.dtype, copy=False)


GENERATORS = {
    "SO3": "the rate ω",
    "SE3": "(ω, v), the rate of rotation and the velocity at the origin",
    "Lorentz": "ω + 1j b, the rate of rotation and the rate of boost",
}


def SO3(side: str) -> Rotors:
    """Return the group of rotations: quaternions (w, x, y, z), generators ω, points x.

    Examples
    --------
    >>> import math
    >>> from polhode import lie
    >>> group = lie.SO3("right")
    >>> quarter = group.exp([0, 0, math.pi / 2])
    >>> group.act(quarter, [1.0, 0, 0]).round(6)
    array([0., 1., 0.])
    """
    return Rotors(
        "SO3",
        side,
        float,
        False,
        3,
        lambda x: _points(x, 0.0),
        lambda quaternion: quaternion[..., 1:],
    )


def SE3(side: str) -> Rotors:
    """Return the group of rigid motions: dual quaternions q + ε p q/2, generators (ω, v).

    An element rotates by q, then translates by p.  From a rotation vector psi and a translation p
    it is ``compose(exp((0, 0, 0, *p)), exp((*psi, 0, 0, 0)))``.

    Examples
    --------
    >>> from polhode import lie
    >>> group = lie.SE3("left")
    >>> shift = group.exp([0, 0, 0, 1, 2, 3])
    >>> group.act(shift, [1.0, 0, 0])
    array([2., 2., 3.])
    """

    def point(x):
        return np.concatenate([_points(0 * x, 1.0), _points(x, 0.0)], -1)

    return Rotors("SE3", side, float, True, 3, point, lambda dual: dual[..., 5:])


def Lorentz(side: str) -> Rotors:
    """Return SO⁺(3,1): complex quaternions, generators ω + 1j b, points (t, x, y, z), c = 1.

    exp(1j b) is the boost of rapidity |b| to the velocity b/|b| tanh|b|.

    Examples
    --------
    >>> from polhode import lie
    >>> group = lie.Lorentz("left")
    >>> group.act(group.exp([0, 0, 0.5j]), [1.0, 0, 0, 0]).round(4)
    array([1.1276, 0.    , 0.    , 0.5211])
    """

    def point(x):
        return x * [1, 1j, 1j, 1j]

    def coordinates(quaternion):
        return np.concatenate([quaternion[..., :1].real, quaternion[..., 1:].imag], -1)

    return Rotors("Lorentz", side, complex, False, 4, point, coordinates)
