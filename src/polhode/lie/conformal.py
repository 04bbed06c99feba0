"""The conformal group of spacetime, Spin(4,2), which has translations beside Lorentz's group.

An event x = (t, x, y, z) is the matrix X = t + x·σ of Pauli's matrices, with det X = t² - x·x.  The
rotors of Spin(4,2) are SU(2,2): 4×4 matrices in blocks of 2×2, with Y† J Y = J, J = (0 1; -1 0),
and det Y = 1.  They act as fractions,

    Y = (A B; C D):    X → (A X + B) (C X + D)⁻¹                                         (1)

A generator is 15 numbers a = (ω, b, v, s, c), the matrix

    a = (α β; γ -α†),    α = (b - i ω)·σ/2 + s/2,    β = v₀ + v·σ,    γ = c·σ - c₀       (2)

    ω    rate of rotation                   x' = ω × x
    b    rate of boost                      t' = b·x,  x' = b t
    v    rate of translation (v₀, v)        x' = v
    s    rate of dilation                   x' = s x
    c    rate of special conformal (c₀, c)  x' = 2 (c·x) x - (x·x) c,  x·x = t² - x²

Here p p of section V of Boyle 2017 is neither a scalar nor commutes with all bivectors, so that
there is no formula like his (18).  Instead dexpinv is a function of the 15×15 matrix ad_a, exact to
rounding as he asks, without a truncation: with φ(x) = (eˣ - 1)/x, from small x by doubling,

    dexpinv_a b = φ(ad_a)⁻¹ b,    φ(2x) = φ(x) (eˣ + 1)/2                                (3)

As a linear map, Y acts on (t, x, y, z, u, w) of the metric x² + y² + z² + w² - t² - u², in which an
event is the null vector with u = (1 - x·x)/2, w = (1 + x·x)/2.
"""

from dataclasses import dataclass
from math import factorial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.errors import InputError
from polhode.lie.groups import SIDES

SIZE, EVENT, TERMS = 15, 4, 18
PAULI = np.array([np.eye(2), [[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]], complex)
TURN = np.array([[0, 1], [-1, 0]], complex)  # ε of the linear map
J = np.kron(TURN, np.eye(2))
COEFFICIENTS = [1 / factorial(k) for k in range(TERMS + 2)]


# ---- generators and their matrices
def _basis() -> NDArray:
    """Return the matrices of the 15 unit generators, (2)."""
    found = np.zeros((SIZE, 4, 4), complex)
    along = [-0.5j * p for p in PAULI[1:]] + [0.5 * p for p in PAULI[1:]]  # ω, b
    for k, alpha in zip((0, 1, 2, 3, 4, 5, 10), [*along, 0.5 * PAULI[0]], strict=True):
        found[k, :2, :2], found[k, 2:, 2:] = alpha, -alpha.conj().T
    for k, sign in enumerate((-1, 1, 1, 1)):
        found[6 + k, :2, 2:], found[11 + k, 2:, :2] = PAULI[k], sign * PAULI[k]
    return found


BASIS = _basis()


def _matrix_of(a: NDArray) -> NDArray:
    return np.tensordot(a, BASIS, 1)


def _generator_of(m: NDArray) -> NDArray:
    """Return the 15 numbers of a matrix of the algebra."""

    def parts(block):  # of 1 and σ
        return np.einsum("kij,...ji->...k", PAULI, block) / 2

    alpha, shift, special = parts(m[..., :2, :2]), parts(m[..., :2, 2:]), parts(m[..., 2:, :2])
    turn, boost, scale = -2 * alpha[..., 1:].imag, 2 * alpha[..., 1:].real, 2 * alpha[..., :1].real
    bend = special.real * [-1, 1, 1, 1]
    return np.concatenate([turn, boost, shift.real, scale, bend], -1)


def _commutator(m: NDArray, n: NDArray) -> NDArray:
    return m @ n - n @ m


def _ad(a: NDArray) -> NDArray:
    """Return the matrix of ad_a on the 15 numbers."""
    rows = _generator_of(_commutator(_matrix_of(a)[..., None, :, :], BASIS))
    return np.swapaxes(rows, -1, -2)


# ---- functions of matrices
def _exp_and_phi(m: NDArray) -> tuple[NDArray, NDArray]:
    """Return e^m and φ(m) of matrices, by their series for a small part of m and doubling, (3)."""
    one = np.eye(m.shape[-1])
    size = np.abs(m).sum(-1).max(-1)[..., None, None]
    count = np.ceil(np.log2(np.where((size > 0.5) & (size < np.inf), 2 * size, 1.0)))
    small = m / 2.0**count
    phi = COEFFICIENTS[-1] * one + 0 * small
    for coefficient in COEFFICIENTS[-2:0:-1]:
        phi = phi @ small + coefficient * one
    less = small @ phi  # e^m - 1, which doubles without loss
    for k in range(int(count.max(initial=0.0))):
        doubled = phi + phi @ less / 2, 2 * less + less @ less
        phi, less = (np.where(k < count, *pair) for pair in zip(doubled, (phi, less), strict=True))
    return less + one, phi


# ---- the group
@dataclass(frozen=True)
class Conformal:
    """The conformal group of spacetime, Spin(4,2): 4×4 complex matrices; points are events, c = 1.

    A generator is (ω, b, v, s, c): 3 rates of rotation, 3 of boost, 4 of translation, 1 of
    dilation, 4 of special conformal transformations.  Every function also takes stacks.

    Examples
    --------
    >>> import numpy as np
    >>> from polhode import lie
    >>> group = lie.Conformal("left")
    >>> twice = group.exp(group.generator(scale=np.log(2)))
    >>> group.act(twice, [0.0, 1.0, 2.0, 3.0]).round(6)
    array([0., 2., 4., 6.])
    """

    side: str
    name: ClassVar[str] = "Conformal"
    dtype: ClassVar[type] = float  # of generators
    dimension: ClassVar[int] = EVENT

    def __post_init__(self):
        if self.side not in SIDES:
            raise InputError(
                f"side must be 'left' (Y' = A Y, A in the outer frame) or 'right' (Y' = Y A, A in"
                f" the inner frame), got {self.side!r}"
            )

    @property
    def identity(self) -> NDArray:
        return np.eye(4, dtype=complex)

    @property
    def zero(self) -> NDArray:
        return np.zeros(SIZE)

    def generator(
        self,
        omega: ArrayLike = (0.0, 0.0, 0.0),
        boost: ArrayLike = (0.0, 0.0, 0.0),
        shift: ArrayLike = (0.0, 0.0, 0.0, 0.0),
        scale: float = 0.0,
        bend: ArrayLike = (0.0, 0.0, 0.0, 0.0),
    ) -> NDArray:
        """Return the generator of rates of rotation, boost, translation, dilation, and special."""
        return self._generator(np.concatenate([omega, boost, shift, [scale], bend]))

    def compose(self, y: ArrayLike, z: ArrayLike) -> NDArray:
        """Return the product y z: first z, then y."""
        return self._element(y) @ self._element(z)

    def inverse(self, y: ArrayLike) -> NDArray:
        """Return the inverse y⁻¹ = -J y† J."""
        return -J @ np.swapaxes(self._element(y), -1, -2).conj() @ J

    def exp(self, a: ArrayLike) -> NDArray:
        """Return the rotor exp(a) of a generator."""
        return _exp_and_phi(_matrix_of(self._generator(a)))[0]

    def log(self, y: ArrayLike) -> NDArray:
        """Return the generator of y or -y, which are the same motion, near the identity.

        Far from it there may be none: exp does not reach all of this group, and that is an error.
        """
        from scipy.linalg import logm

        y = self._element(y)
        y = np.where(np.trace(y, axis1=-2, axis2=-1).real[..., None, None] < 0, -y, y)
        each = np.array([logm(m) for m in y.reshape(-1, 4, 4)])
        found = _generator_of(each).reshape(*y.shape[:-2], SIZE)
        off = np.abs(self.exp(found) - y).max(initial=0.0)
        if not off <= 1e-9 * np.abs(y).max(initial=1.0):
            raise InputError(
                f"y must be the exponential of a generator near the identity, got {y!r}; take the"
                " logarithms of parts of the motion"
            )
        return found

    def dexpinv(self, a: ArrayLike, b: ArrayLike) -> NDArray:
        """Return r' at r = a, where exp(r)' = b exp(r), (3); singular at a full turn."""
        a, b = np.broadcast_arrays(self._generator(a), self._generator(b))
        phi = _exp_and_phi(_ad(a))[1]
        try:
            return np.linalg.solve(phi, b[..., None])[..., 0]
        except np.linalg.LinAlgError:
            return np.full_like(b, np.nan)

    def bracket(self, a: ArrayLike, b: ArrayLike) -> NDArray:
        """Return the Lie bracket [a, b], that of the matrices."""
        return _generator_of(
            _commutator(_matrix_of(self._generator(a)), _matrix_of(self._generator(b)))
        )

    def adjoint(self, y: ArrayLike, a: ArrayLike) -> NDArray:
        """Return Ad_y a = y a y⁻¹: the generator a in the outer frame."""
        return _generator_of(self._element(y) @ _matrix_of(self._generator(a)) @ self.inverse(y))

    def act(self, y: ArrayLike, x: ArrayLike) -> NDArray:
        """Return the events x moved by y, (1); infinite or NaN where y moves them to infinity."""
        x = np.asarray(x, float)
        if x.shape[-1:] != (EVENT,):
            raise InputError(
                f"x must have {EVENT} coordinates (t, x, y, z) on its last axis for {self.name},"
                f" got an array of shape {x.shape}"
            )
        y, event = self._element(y), np.tensordot(x, PAULI, 1)
        top, below = (y[..., k : k + 2, :2] @ event + y[..., k : k + 2, 2:] for k in (0, 2))
        (a, b), (c, d) = (below[..., 0, 0], below[..., 0, 1]), (below[..., 1, 0], below[..., 1, 1])
        adjugate = np.stack([np.stack([d, -b], -1), np.stack([-c, a], -1)], -2)
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = top @ adjugate / (a * d - b * c)[..., None, None]
        return np.einsum("kij,...ji->...k", PAULI, moved).real / 2

    def matrix(self, y: ArrayLike) -> NDArray:
        """Return the 6×6 matrix of y on (t, x, y, z, u, w)."""
        y = self._element(y)[..., None, :, :]
        w = y @ VECTORS @ np.swapaxes(y, -1, -2)
        event = np.einsum("kij,...ji->...k", PAULI, -w[..., :2, 2:] @ TURN).real / 2
        p, q = w[..., :1, 1].real, w[..., 2, 3:].real
        return np.swapaxes(np.concatenate([event, (q - p) / 2, (q + p) / 2], -1), -1, -2)

    def defect(self, y: ArrayLike) -> float:
        """Return the largest component of y y⁻¹ - 1, relative to the square of y's largest."""
        y = self._element(y)
        return float(abs(y @ self.inverse(y) - self.identity).max() / abs(y).max() ** 2)

    # ---- checks
    def _element(self, y: ArrayLike) -> NDArray:
        y = np.asarray(y)
        if y.shape[-2:] != (4, 4) or not np.can_cast(y.dtype, complex, "same_kind"):
            raise InputError(
                f"y must be 4×4 complex matrices for {self.name}, got {y.dtype} of shape {y.shape};"
                " exp makes elements of the group"
            )
        return y.astype(complex, copy=False)

    def _generator(self, a: ArrayLike) -> NDArray:
        a = np.asarray(a)
        if a.shape[-1:] != (SIZE,) or not np.can_cast(a.dtype, float, "same_kind"):
            raise InputError(
                f"a must have {SIZE} float components on its last axis for {self.name}, got"
                f" {a.dtype} of shape {a.shape}; group.generator(omega=…, boost=…, shift=…,"
                " scale=…, bend=…) makes generators"
            )
        return a.astype(float, copy=False)


def _vectors() -> NDArray:
    """Return the antisymmetric 4×4 matrices of (t, x, y, z, u, w), which move as Y W Yᵀ."""
    found = np.zeros((6, 4, 4), complex)
    for k, event in enumerate(PAULI):
        found[k, :2, 2:] = event @ TURN
        found[k, 2:, :2] = -found[k, :2, 2:].T
    for k, p in ((4, -1.0), (5, 1.0)):  # w - u = x·x, w + u = 1
        found[k, :2, :2], found[k, 2:, 2:] = p * TURN, TURN
    return found


VECTORS = _vectors()
