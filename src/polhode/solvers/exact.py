"""``exact_free_motion``: the closed form of the motion of a free body (``kernels/free_flow``)."""

import math
from functools import cache
from typing import Any

import numpy as np

from polhode import loops
from polhode.body import RigidBody
from polhode.compiler.tree import flat, spread
from polhode.contracts import inverse_moments
from polhode.errors import InputError
from polhode.kernels.trig import FARTHEST
from polhode.loops.join import built_on_duals
from polhode.loops.tangents import form_of, pattern_of, with_tangents
from polhode.problems.problem import Problem, inner_state, outer_states, quaternion, rates
from polhode.results.trajectory import Trajectory, list_of_times
from polhode.solvers.sensitivities import Directions, asked, directions_of

EXACT = "exact free motion"  # the name of the method
LOST = f"its attitude is lost in rounding errors beyond {FARTHEST:g} rad"


def exact_free_motion(
    body: RigidBody, attitude: Any, omega: Any, t: Any, *, sensitivities: Any = None
) -> Trajectory:
    """Return the motion of a free body at any times, in closed form.

    Parameters
    ----------
    body : any body: asymmetric, symmetric, a sphere, a disc, a rod; with any inertia tensor
    attitude : at t = 0: a SciPy ``Rotation`` or a 3×3 matrix, body to inertial; None: the identity
    omega : at t = 0, rad/s, in body axes
    t : a time or a list of times, of either sign, in any order
    sensitivities : as in ``ph.solve``: "state", "moments" and others; in closed form, too

    Returns
    -------
    Trajectory, one row for each time.  The sign of q is continuous from row to row.  The error is
    about 2 eps (1 + |angular momentum| |t| / smallest moment); near the separatrix it is what one
    rounding of the input does to the exact answer.

    Examples
    --------
    >>> import polhode as ph
    >>> run = ph.exact_free_motion(ph.RigidBody([1, 2, 2.5]), None, [0.1, 1, 0.1], [0, 1e3, -1e3])
    >>> bool(abs(run.energy / run.energy[0] - 1).max() < 1e-14)
    True
    """
    if not isinstance(body, RigidBody):
        raise InputError(f"body must be a RigidBody, got {body!r}")
    times = list_of_times(t)
    _, momentum = rates(body, omega, None)
    state = inner_state(body, quaternion(attitude), momentum)
    turned = turned_at_most(body.data, state[1], times)
    if (far := np.flatnonzero(~(turned < FARTHEST))).size:
        raise InputError(
            f"t[{far[0]}] = {float(times[far[0]])!r}: the body turns by up to"
            f" {turned[far[0]]:.3g} rad until then, and {LOST}; ask for earlier times"
        )
    q, m = free_states(body, state, times)
    found = None
    if (by := asked(sensitivities)) is not None:
        directions = directions_of(Problem(body, None, attitude, omega), by)
        rows = rows_with_tangents(directions, body.data, state, times)
        found = directions.derivatives(rows, state, body.data)
    potential, method = lambda: np.zeros(len(times)), EXACT
    return Trajectory(times, q, m, body, potential=potential, method=method, derivatives=found)


def turned_at_most(body: tuple, m: tuple, times: np.ndarray) -> np.ndarray:
    """Bound the angle by which a free body turns: |ω|² <= 2T/I for the smallest moment I."""
    inverse = inverse_moments(body)
    root = math.hypot(*(x * math.sqrt(i) for x, i in zip(m, inverse, strict=True)))
    return np.abs(times) * (root * math.sqrt(max(inverse)))


def free_states(body: RigidBody, state: tuple, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (attitudes, momenta) in the user's axes at ``times`` after the inner ``state``."""
    return outer_states(body, free_rows(body.data, state, times))


def free_rows(body: tuple, state: tuple, times: np.ndarray) -> np.ndarray:
    """Return rows (q, m) of the principal axes at ``times`` after the inner ``state``."""
    out = np.empty((len(times), 7))
    _loop()(times, state, body, out)
    turned = np.einsum("ij,ij->i", out[1:, :4], out[:-1, :4]) < 0
    out[1:, :4] *= np.where(np.cumsum(turned) % 2, -1.0, 1.0)[:, None]
    return out


def rows_with_tangents(
    directions: Directions, body: tuple, state: tuple, times: np.ndarray
) -> np.ndarray:
    """Return rows of states in principal axes, followed by their derivatives."""
    given = directions.lifted(state, body, ((), ()))[:2]
    out = np.empty((len(times), directions.width * len(flat(state))))
    wide_loop(form_of(given), pattern_of(given))(times, np.array([spread(given)]), out)
    return with_tangents(out, directions.width)


@cache
def _loop():
    return loops.build(loops.free_motion, None)


_wide_loops: dict[Any, Any] = {}


def wide_loop(form: Any, pattern: Any) -> Any:
    """Return the loop for states and bodies with derivatives of this form."""
    if form not in _wide_loops:
        _wide_loops[form] = built_on_duals(loops.packed_free_motion(pattern), EXACT)
    return _wide_loops[form]
