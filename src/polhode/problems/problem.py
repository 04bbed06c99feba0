"""``Problem``: a body, what acts on it, and how it starts."""

from typing import Any

import numpy as np

from polhode.body import RigidBody
from polhode.body.shape import check_proper
from polhode.contracts import ORIGIN, Model
from polhode.contracts.checks import three
from polhode.errors import InputError
from polhode.kernels.quaternion import conjugate, product, to_body, to_inertial
from polhode.kernels.vector import scale
from polhode.models import free


class Problem:
    """An initial-value problem of rotation, or of the motion with six degrees of freedom.

    Parameters
    ----------
    body : RigidBody
    model : what acts on it, from ``ph.models``, ``ph.torque``, ``ph.force``, ``ph.potential``, or a
        sum of these
    attitude : a SciPy ``Rotation`` or a 3×3 matrix, body to inertial; by default the identity.
        Four numbers are a quaternion, whose order ``scalar_first`` tells
    omega, angular_momentum : three numbers in body axes, one of the two
    position, velocity : of the centre of mass, three numbers in inertial axes (m, m/s).  If one of
        them is given, or the model has a force, the body moves as well as turns; the other is then
        zero by default
    name : for results and files

    Examples
    --------
    >>> import polhode as ph
    >>> from scipy.spatial.transform import Rotation
    >>> top = ph.Problem(
    ...     ph.RigidBody([5.0, 5.0, 1.0]),
    ...     ph.models.heavy_top(20.0),
    ...     attitude=Rotation.from_euler("x", 20, degrees=True),
    ...     omega=[0, 0, 50],
    ... )
    >>> ph.solve(top, (0, 1)).success
    True
    """

    moves = False  # whether the body has a position: six degrees of freedom

    def __init__(
        self,
        body: RigidBody,
        model: Model | None = None,
        attitude: Any = None,
        omega: Any = None,
        angular_momentum: Any = None,
        position: Any = None,
        velocity: Any = None,
        *,
        scalar_first: bool | None = None,
        name: str = "",
    ):
        if not isinstance(body, RigidBody):
            raise InputError(
                f"body must be a RigidBody, got {body!r}; write ph.RigidBody([I1, I2, I3])"
            )
        if model is not None and not isinstance(model, Model):
            raise InputError(
                f"model must be a Model, got {model!r}; make one with ph.models,"
                " ph.torque(function), ph.force(function) or ph.potential(function)"
            )
        self.body = body
        self.model = free() if model is None else model
        self.name = name
        self.attitude = quaternion(attitude, scalar_first)
        self.omega, self.angular_momentum = rates(body, omega, angular_momentum)
        self.position = self.velocity = None
        if self.model.moves or position is not None or velocity is not None:
            self.position = three(ORIGIN if position is None else position, "position")
            self.velocity = three(ORIGIN if velocity is None else velocity, "velocity")
        self.moves = self.position is not None

    @property
    def state(self) -> tuple:
        """(q, m) of the principal axes, (x, p) if the body moves, and the model's variables."""
        state = inner_state(
            self.body, self.attitude, self.angular_momentum, self.position, self.velocity
        )
        return state if self.model.coupled is None else (*state, self.model.variables)

    def __repr__(self) -> str:
        title = f"{self.name}: " if self.name else ""
        place = ""
        if self.position is not None and self.velocity is not None:
            place = f", position {list(self.position)}, velocity {list(self.velocity)}"
        return (
            f"<Problem {title}{self.body!r}, model {self.model.name}, attitude"
            f" {list(self.attitude)} (w, x, y, z), omega {list(self.omega)}{place}>"
        )


def quaternion(attitude: Any, scalar_first: bool | None = None) -> tuple[float, ...]:
    """Return the unit quaternion (w, x, y, z) of an attitude in any of its forms."""
    if attitude is None:
        return 1.0, 0.0, 0.0, 0.0
    if hasattr(attitude, "as_quat"):
        q = attitude.as_quat(scalar_first=True)
        if q.shape != (4,):
            raise InputError(f"attitude must be one rotation, got {len(q)} of them")
        return tuple(q.tolist())
    try:
        array = np.array(attitude, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"attitude must be a SciPy Rotation or a 3×3 matrix, got {attitude!r}"
        ) from None
    if not np.isfinite(array).all():
        raise InputError(f"attitude must be finite, got {array.tolist()}")
    if array.shape == (3, 3):
        check_proper(array, "attitude")
        from scipy.spatial.transform import Rotation

        return tuple(Rotation.from_matrix(array).as_quat(scalar_first=True).tolist())
    if array.shape == (4,):
        if scalar_first is None:
            raise InputError(
                "attitude has four numbers: give scalar_first=True for (w, x, y, z) or"
                " scalar_first=False for (x, y, z, w), or pass a SciPy Rotation"
            )
        norm = float(np.linalg.norm(array))
        if abs(norm - 1) > 1e-6:
            raise InputError(
                f"attitude must be a unit quaternion, but its norm is {norm!r}; divide it by its"
                " norm, as scipy.spatial.transform.Rotation.from_quat does"
            )
        if abs(norm - 1) > 4 * np.finfo(float).eps:  # a unit quaternion keeps its bits
            array = array / norm
        return tuple((array if scalar_first else np.roll(array, 1)).tolist())
    raise InputError(
        f"attitude must be a SciPy Rotation, a 3×3 matrix, or a quaternion with scalar_first=,"
        f" got an array of shape {array.shape}"
    )


def rates(body: RigidBody, omega: Any, angular_momentum: Any) -> tuple[tuple, tuple]:
    """Return (omega, angular_momentum) in body axes, from the one that is given."""
    if (omega is None) == (angular_momentum is None):
        got = "neither" if omega is None else "both"
        raise InputError(f"give omega= or angular_momentum=, in body axes; got {got}")
    inertia, inverse, axes, _, _ = body.data
    if omega is not None:
        omega = three(omega, "omega")
        inside = omega if body.is_aligned else to_body(axes, omega)
        m = scale(inertia, inside)
        return omega, m if body.is_aligned else to_inertial(axes, m)
    m = three(angular_momentum, "angular_momentum")
    inside = m if body.is_aligned else to_body(axes, m)
    omega = scale(inverse, inside)
    return omega if body.is_aligned else to_inertial(axes, omega), m


def inner_state(
    body: RigidBody, q: tuple, m: tuple, x: tuple | None = None, v: tuple | None = None
) -> tuple:
    """Return (q, m) of the principal axes, from those of the user's body axes, and (x, p)."""
    place = () if x is None or v is None else (x, tuple(body.mass * u for u in v))
    if body.is_aligned:
        return q, m, *place
    axes = body.data[2]
    return product(q, axes), to_body(axes, m), *place


def outer_states(body: RigidBody, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (q, m) of the user's body axes, from rows of states in principal axes."""
    q, m = states[:, :4], states[:, 4:7]
    if body.is_aligned:
        return q, m
    axes = body.data[2]
    turned = np.stack(product(tuple(q.T), conjugate(axes)), axis=1)
    return turned, np.stack(to_inertial(axes, tuple(m.T)), axis=1)


def translation(body: RigidBody, states: np.ndarray, moves: bool) -> tuple[np.ndarray, ...]:
    """Return (positions, velocities) from rows of states, () if the body has none."""
    return (states[:, 7:10], states[:, 10:13] * body.data[4]) if moves else ()
