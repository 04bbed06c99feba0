"""Derivatives of runs by differences: of the same run from problems that are moved a little.

Everything here is in the axes and quantities of the user, and knows no dual number.
"""

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.compiler.tree import flat, like
from polhode.problems.names import (
    places_of_parameters,
    with_numbers,
    with_variables,
)

TENSOR = {"Ixx": (0, 0), "Iyy": (1, 1), "Izz": (2, 2), "Ixy": (0, 1), "Ixz": (0, 2), "Iyz": (1, 2)}
STEP = 1e-3  # differences of fourth order leave its fourth power, and 1e-16 over it


def names_of(problem):
    """Return all names of quantities, and how many numbers they are."""
    sizes = {"attitude": 3, "angular_momentum": 3, "omega": 3, "inertia": 6, "moments": 3}
    if problem.moves:
        sizes |= {"position": 3, "velocity": 3, "mass": 1}
    model = problem.model
    sizes |= {name: len(places) for name, places in places_of_parameters(model).items()}
    for name, value in variables_of(model).items():
        sizes[f"model.{name}"] = len(flat(value))
    return sizes


def variables_of(model):
    """Return the initial values of the variables of a model, or of the terms of a sum."""
    terms = [term for term in model.terms if term.is_coupled]
    if terms:
        return {name: value for term in terms for name, value in variables_of(term).items()}
    if not model.is_coupled:
        return {}
    single = len(model.variable_names) == 1
    values = (model.variables,) if single else model.variables
    return dict(zip(model.variable_names, values, strict=True))


def moved(problem, name, k, d, frame="body", at_constant="momentum"):
    """Return the problem with the k-th number of a quantity moved by d."""
    body, model = problem.body, problem.model
    turn = Rotation.from_quat(problem.attitude, scalar_first=True)
    m, omega = np.array(problem.angular_momentum), np.array(problem.omega)
    place = None
    if problem.moves:
        place = np.array(problem.position), body.mass * np.array(problem.velocity)
    step = np.zeros(6)
    step[k % 6] = d
    step = step[:3]
    tensor, mass, kept = np.array(body.inertia), body.mass, at_constant
    if name == "attitude" and frame == "body":
        turn = turn * Rotation.from_rotvec(step)
    elif name == "attitude":
        outside = turn.apply(m)
        turn = Rotation.from_rotvec(step) * turn
        m = turn.inv().apply(outside)
    elif name in ("angular_momentum", "omega"):
        step = step if frame == "body" else turn.inv().apply(step)
        m = m + (step if name == "angular_momentum" else tensor @ step)
    elif name == "inertia":
        i, j = [*TENSOR.values()][k]
        tensor[i, j] += d
        tensor[j, i] = tensor[i, j]
    elif name == "moments":
        axes = body.principal_axes
        tensor = tensor + axes @ np.diag(step) @ axes.T
    elif name == "mass":
        mass = mass + d
        if kept == "omega":
            place = place[0], place[1] * mass / body.mass
    elif name == "position":
        place = place[0] + step, place[1]
    elif name == "velocity":
        place = place[0], place[1] + mass * step
    elif name in (places := places_of_parameters(model)):
        numbers = flat(model.numbers)
        numbers[places[name][k]] += d
        model = with_numbers(model, like(model.numbers, iter(numbers)))
    else:
        numbers, first = [], 0
        for own, value in variables_of(model).items():
            numbers += flat(value)
            if f"model.{own}" == name:
                numbers[first + k] += d
            first = len(numbers)
        model = with_variables(model, iter(numbers))
    if name in ("inertia", "moments") and kept == "omega":
        m = tensor @ omega
    start = {"attitude": turn, "angular_momentum": m}
    if place is not None:
        start |= {"position": place[0], "velocity": place[1] / mass}
    return ph.Problem(ph.RigidBody(tensor, mass), model, **start)


def numbers_at(run, base, frame="body"):
    """Return rows (θ, m, x, p, y) of a run, θ the turn from ``base``."""
    if frame == "body":
        parts = [(base.rotation.inv() * run.rotation).as_rotvec(), run.angular_momentum]
    else:
        parts = [(run.rotation * base.rotation.inv()).as_rotvec(), run.angular_momentum_inertial]
    if run.x is not None:
        parts += [run.x, run.linear_momentum]
    for values in run.variables.values():
        parts.append(values.reshape(len(run), -1))
    return np.hstack(parts)


def differences(solve, problem, name, frame="body", at_constant="momentum", step=STEP):
    """Return derivatives (times, outputs, numbers) of ``solve(problem)`` by a quantity."""
    base, columns = solve(problem), []
    for k in range(names_of(problem)[name]):
        near, far = (
            numbers_at(solve(moved(problem, name, k, d, frame, at_constant)), base, frame)
            - numbers_at(solve(moved(problem, name, k, -d, frame, at_constant)), base, frame)
            for d in (step, 2.0 * step)
        )
        columns.append((8.0 * near - far) / (12.0 * step))
    return np.stack(columns, axis=2)
