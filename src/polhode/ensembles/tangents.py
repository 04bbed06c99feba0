"""Tangents of members: their gauges, and rows of dual numbers to and from the loops."""

from collections.abc import Sequence

import numpy as np

from polhode.compiler.dual import ON_DUAL, Dual, lifted
from polhode.compiler.tree import bind, gather, spread
from polhode.ensembles.members import Rows
from polhode.errors import InputError
from polhode.loops.lanes.tangents import gauge_slots
from polhode.results.derivatives import Derivatives
from polhode.solvers.bound import Bound, enter
from polhode.solvers.sensitivities import Directions


class Gauge:
    """How tangents are measured: every so many steps, by the squares of numbers of the state.

    ``weights`` are those of the squares, of all numbers but the attitude.
    """

    def __init__(self, every: int, tangents: int, weights: np.ndarray):
        self.every, self.tangents, self.weights = every, tangents, weights

    def slots(self) -> np.ndarray:
        """What a body has in the slots of its gauge at the start."""
        rest = gauge_slots(len(self.weights) + 4, self.tangents) - len(self.weights)
        return np.concatenate([self.weights, np.zeros(rest)])


def tangents_of(given: int | Sequence[Sequence[float]], scales: np.ndarray) -> np.ndarray:
    """Columns of initial tangents of length 1 in units of the scales; of a number, as many.

    The directions of these have no meaning, so that none is special for a motion.
    """
    if isinstance(given, int):
        places = np.outer(1.0 + np.arange(len(scales)), 1.0 + np.arange(given))
        columns = np.cos(places) * scales[:, None]
    else:
        columns = np.array(given, dtype=float)
        if columns.ndim != 2 or len(columns) != len(scales) or not np.isfinite(columns).all():
            raise InputError(
                f"reduce: tangents must be columns of {len(scales)} finite numbers, one row for"
                f" each of them, got the shape {columns.shape}"
            )
    lengths = np.linalg.norm(columns / scales[:, None], axis=0)
    if not (lengths > 0).all():
        raise InputError("reduce: tangents must not be 0")
    return columns / lengths


# ---- members as dual numbers
def interleaved(values: np.ndarray, slopes: np.ndarray, width: int) -> np.ndarray:
    """Rows of numbers of this width: each value with its derivatives, and zeros."""
    rows, numbers, count = slopes.shape
    out = np.zeros((rows, numbers, width))
    out[..., 0], out[..., 1 : 1 + count] = values, slopes
    return out.reshape(rows, -1)


def wide_constants(
    directions: Directions, rows: Rows, slopes: np.ndarray, width: int
) -> np.ndarray:
    """Rows of the numbers of bodies and of parameters, those that are dual with derivatives.

    ``slopes`` are the derivatives of ``rows.bodies``.
    """
    dual, count = set(directions.dual_in_body), directions.count
    columns = [
        interleaved(rows.bodies[:, k : k + 1], slopes[:, k : k + 1], width)
        if k in dual
        else rows.bodies[:, k : k + 1]
        for k in range(rows.bodies.shape[1])
    ]
    named = directions.dual_in_numbers
    for k in range(rows.numbers.shape[1]):
        column = rows.numbers[:, k : k + 1]
        if k in named:
            unit = np.zeros((len(column), 1, count))
            unit[:, :, named[k]] = 1.0
            column = interleaved(column, unit, width)
        columns.append(column)
    return np.hstack(columns)


def wide_variables(
    bound: Bound, t0: float, rows: Rows, slopes: np.ndarray, width: int, kind: type[Dual]
) -> np.ndarray:
    """What the loops integrate, at the start: rows of numbers of this width."""
    variables = bound.variables
    table = interleaved(rows.states, slopes, width)
    if variables is None or variables.name == "quaternion":
        return table
    change, body = bind(bound.change, ON_DUAL), bound.body
    number = kind(0.0, (0.0,) * (width - 1))
    pattern = lifted(bound.state, number)
    found = []
    for row in table.tolist():
        found.append(spread(enter(variables, change, body, t0, gather(pattern, iter(row)))[0]))
    return np.array(found)


def user_rows(directions: Directions, rows: Rows, states: np.ndarray, width: int) -> np.ndarray:
    """Rows of states, each followed by the matrix of its derivatives in the user's axes.

    ``states`` are rows of states in principal axes, as ``loops.tangents.with_tangents`` makes them
    of numbers of this width.
    """
    outputs = directions.outputs
    values, slopes = states[:, : outputs + 1], states[:, outputs + 1 :]
    slopes = slopes.reshape(len(states), outputs, width - 1)[:, :, : directions.count]
    found = directions.matrices(values, slopes, rows.states, rows.bodies)
    return np.hstack([values, found.reshape(len(found), -1)])


def derivatives_of(directions: Directions, rows: Rows, states: np.ndarray) -> Derivatives:
    """Derivatives (times, members, …) from such rows at several times."""
    outputs, count = directions.outputs, directions.count
    array = states[..., outputs + 1 :].reshape(*states.shape[:-1], outputs, count)
    return Derivatives(array, *directions.layout(rows.states, rows.bodies))
