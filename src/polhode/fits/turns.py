"""Small turns of many attitudes at once: rows of quaternions (w, x, y, z) and rotation vectors.

For the rotation vector e of the turn that takes one attitude to another, and a further small turn δ
of the first one in its body axes,

    log(exp(-δ) exp(e)) = e - L⁻¹(e) δ,    L⁻¹(e) = 1 - [e]/2 + c [e]²                 (1)
    c = (1 - (a/2) cot(a/2))/a²,    a = |e|                                            (2)

and a rotation vector θ about a fixed attitude changes by dθ where the attitude turns by

    δ = R(θ) dθ,    R(θ) = 1 - (1 - cos a)/a² [θ] + (a - sin a)/a³ [θ]²                (3)
"""

import numpy as np

SIGNS = np.array([1.0, -1.0, -1.0, -1.0])
SMALL = 1e-4  # rad, below which series stand for (2) and (3)


def products(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return p q of rows of quaternions."""
    a, b, c, d = p[..., 0], p[..., 1], p[..., 2], p[..., 3]
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    out = np.empty(np.broadcast_shapes(p.shape, q.shape))
    out[..., 0] = a * w - b * x - c * y - d * z
    out[..., 1] = a * x + b * w + c * z - d * y
    out[..., 2] = a * y + c * w + d * x - b * z
    out[..., 3] = a * z + d * w + b * y - c * x
    return out


def conjugates(q: np.ndarray) -> np.ndarray:
    return q * SIGNS


def matrices(q: np.ndarray) -> np.ndarray:
    """Return the matrices of rows of unit quaternions, body to inertial."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def unit_rows(v: np.ndarray) -> np.ndarray:
    """Return rows divided by their lengths."""
    return v / np.sqrt(np.einsum("...i,...i", v, v))[..., None]


def rotation_vectors(q: np.ndarray) -> np.ndarray:
    """Return the rotation vectors, at most π long, of rows of unit quaternions."""
    w, v = q[..., 0], q[..., 1:]
    s = np.sqrt(np.einsum("...i,...i", v, v))
    angle = 2.0 * np.arctan2(s, np.abs(w))
    factor = np.divide(angle, s, out=np.full_like(s, 2.0), where=s > 0.0)
    return np.copysign(factor, w)[..., None] * v


def quaternions(turns: np.ndarray) -> np.ndarray:
    """Return the quaternions of rows of rotation vectors."""
    half = 0.5 * np.sqrt(np.einsum("...i,...i", turns, turns))[..., None]
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * turns], axis=-1)


def crosses(v: np.ndarray) -> np.ndarray:
    """Return the matrices [v] of rows of vectors, [v] x = v × x."""
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    out = np.zeros((*v.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -z, y, -x
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = z, -y, x
    return out


def left_inverses(turns: np.ndarray) -> np.ndarray:
    """Return L⁻¹ of (1) for rows of rotation vectors up to π long."""
    a = np.sqrt(np.einsum("...i,...i", turns, turns))
    near = a < SMALL
    safe = np.where(near, 1.0, a)
    c = np.where(near, 1.0 / 12.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)  # (2)
    k = crosses(turns)
    return np.eye(3) - 0.5 * k + c[..., None, None] * (k @ k)


def right_matrix(turn: np.ndarray) -> np.ndarray:
    """Return R of (3) for one rotation vector."""
    a = float(np.sqrt(turn @ turn))
    first, second = 0.5 - a * a / 24.0, 1.0 / 6.0 - a * a / 120.0
    if a >= SMALL:
        first, second = (1.0 - np.cos(a)) / a**2, (a - np.sin(a)) / a**3
    k = crosses(turn)
    return np.eye(3) - first * k + second * (k @ k)
