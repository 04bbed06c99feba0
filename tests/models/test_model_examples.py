"""Every model of the registry, by its ``EXAMPLES``: no list of models here.

Torque and force are derivatives of the potential where they depend on the place alone, dissipate
energy or do no work where they depend on velocities, and change the kinetic energy by their power;
machine code and lanes give the bits of plain Python.
"""

import inspect
from importlib import import_module

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import loops
from polhode.cli.schema import make_model
from polhode.compiler.machine import LANES, compiled, lanes, over_lanes
from polhode.compiler.tree import bind, flat, like
from polhode.contracts import coupled, potential_at, wrench
from polhode.problems.problem import inner_state
from polhode.references import bibliography
from support.bits import bits_of, exactly
from support.given_motion import plain_python

BODIES = {
    "aligned": ph.RigidBody([2.0, 3.0, 4.5], mass=1.3),
    "tensor": ph.RigidBody([[2.5, 0.3, 0.1], [0.3, 3.0, -0.2], [0.1, -0.2, 4.0]], mass=1.3),
}
OF_BODIES = pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)


def examples_of(name):
    return getattr(import_module(f"polhode.models.{name}"), "EXAMPLES", ())


def examples():
    """(name, arguments) of every example of every model."""
    for name in ph.MODELS:
        for k, arguments in enumerate(examples_of(name)):
            yield pytest.param(name, arguments, id=f"{name}-{k}")


def has_potential(example):
    name, arguments = example.values
    return ph.MODELS[name](**arguments).has_potential


EACH = pytest.mark.parametrize(("name", "arguments"), list(examples()))
WITH_POTENTIAL = pytest.mark.parametrize(
    ("name", "arguments"), list(filter(has_potential, examples()))
)
T = 0.7


# ---- templates
def acting(t, q, m, x, p, body, params):
    """(torque, force, potential energy)."""
    torque, force = wrench(t, q, m, x, p, body, params)
    return torque, force, potential_at(t, q, x, body, params)


def slopes(t, q, m, x, p, body, params):
    return coupled(t, q, m, x, p, body, params)[2]


def acting_in_lane(shared, slots):
    t, tables = shared
    q, m, x, p, body, numbers, y = slots
    return acting(t, q, m, x, p, body, (numbers, tables, y))


def acting_in_lanes(block, t, tables, slots):
    over_lanes(acting_in_lane, block, (t, tables), slots)


def somewhere(rng):
    """A random state (q, m, x, p) in the user's axes, far enough from the origin."""
    q = rng.normal(size=4)
    return q / np.linalg.norm(q), rng.normal(size=3), rng.normal(size=3) + 3.0, rng.normal(size=3)


def acted_by(model, body):
    """(q, m, x, p, t) -> (torque in the user's body axes, force, potential energy), in Python."""
    function = loops.joined(acting, None, model, body.is_aligned)

    def acted(q, m, x, p, t=T, y=model.variables):
        state = inner_state(body, tuple(q), tuple(m), tuple(x), tuple(np.asarray(p) / body.mass))
        torque, force, energy = function(t, *state, body.data, (*model.params, y))
        return body.principal_axes @ np.array(torque), np.array(force), energy

    return acted


def slope_of(model, body):
    """(t, q, m, x, p, y) -> the slope of the model's variables, a list."""
    function = loops.joined(slopes, None, model, body.is_aligned)

    def slope(t, q, m, x, p, y):
        state = inner_state(body, tuple(q), tuple(m), tuple(x), tuple(np.asarray(p) / body.mass))
        return flat(function(t, *state, body.data, (*model.params, y)))

    return slope


# ---- records
def test_every_model_has_examples():
    for name in ph.MODELS:
        assert examples_of(name), f"models/{name}.py needs EXAMPLES, see CONTRIBUTING.md"


@EACH
def test_records_are_complete(name, arguments):
    model = ph.MODELS[name](**arguments)
    assert model.name == name
    assert inspect.getdoc(ph.MODELS[name])
    assert set(model.references) <= set(bibliography())
    assert len(model.names) == len(model.numbers)
    assert model.parameters == dict(zip(model.names, model.numbers, strict=True))
    assert (ph.models.free() + model).has_potential == model.has_potential


@EACH
def test_run_files_make_the_same_model(name, arguments):
    """The keys of [model] are the arguments of the function, checked by their annotations."""
    table = {k: list(v) if isinstance(v, tuple) else v for k, v in arguments.items()}
    assert make_model({"name": name, **table}, ("model",)) == ph.MODELS[name](**arguments)


# ---- mechanics
@OF_BODIES
@WITH_POTENTIAL
def test_at_rest_torque_and_force_are_derivatives_of_the_potential(name, arguments, body, rng):
    """Central differences of fourth order, h = 1e-3: error 1e-12 times fifth derivatives."""
    model, h, still = ph.MODELS[name](**arguments), 1e-3, np.zeros(3)
    acted = acted_by(model, body)
    states = (somewhere(rng) for _ in range(100))
    tame = [s for s in states if abs(acted(s[0], still, s[2], still)[2]) < 30.0]
    assert len(tame) >= 3
    for q, _, x, _ in tame[:3]:  # far from walls, where high derivatives are huge
        torque, force, _ = acted(q, still, x, still)
        here = Rotation.from_quat(q, scalar_first=True)

        def turned(k, a, here=here, x=x):
            turn = here * Rotation.from_rotvec(a * np.eye(3)[k])
            return acted(turn.as_quat(scalar_first=True), still, x, still)[2]

        def shifted(k, a, q=q, x=x):
            return acted(q, still, x + a * np.eye(3)[k], still)[2]

        for value, found in ((turned, torque), (shifted, force)):
            slopes = [
                (8 * (value(k, h) - value(k, -h)) - value(k, 2 * h) + value(k, -2 * h)) / (12 * h)
                for k in range(3)
            ]
            assert found == pytest.approx(-np.array(slopes), rel=1e-8, abs=1e-9)


@OF_BODIES
@EACH
def test_what_velocities_add_is_declared_and_takes_energy_or_none(name, arguments, body, rng):
    model, still = ph.MODELS[name](**arguments), np.zeros(3)
    acted = acted_by(model, body)
    for _ in range(5):
        q, m, x, p = somewhere(rng)
        at_rest = acted(q, still, x, still)
        spinning, moving = acted(q, m, x, still), acted(q, still, x, p)
        if not model.depends_on_omega:
            assert (spinning[0] == at_rest[0]).all()
            assert (moving[0] == at_rest[0]).all()
        if not model.depends_on_velocity:
            assert (moving[1] == at_rest[1]).all()
        torque, force, energy = acted(q, m, x, p)
        assert energy == at_rest[2]
        if model.has_potential:
            omega, v = np.linalg.solve(body.inertia, m), p / body.mass
            assert (torque - at_rest[0]) @ omega + (force - at_rest[1]) @ v < 1e-13
    if not model.moves:
        assert (force == 0).all()
    assert model.is_free == (np.linalg.norm(torque) < 1e-3)


@EACH
def test_power_balance(name, arguments, rng):
    """The kinetic energy changes by the power of torque and force, along SciPy's motion."""
    model, body = ph.MODELS[name](**arguments), BODIES["tensor"]
    acted, slope = acted_by(model, body), slope_of(model, body)
    q, m, x, p = somewhere(rng)
    while np.linalg.norm(acted(q, m, x, p)[0]) > 30:  # close to the wall: stiff
        q, m, x, p = somewhere(rng)

    def rate(t, y):
        q, m, x, p = y[:4], y[4:7], y[7:10], y[10:13]
        omega = np.linalg.solve(body.inertia, m)
        z = like(model.variables, iter(y[14:].tolist()))
        torque, force, _ = acted(q, m, x, p, t, z)
        w, v = q[0], q[1:]
        dq = 0.5 * np.array([-v @ omega, *(w * omega + np.cross(v, omega))])
        v = p / body.mass
        power = torque @ omega + force @ v
        motion = [*dq, *(np.cross(m, omega) + torque), *v, *force, power]
        return [*motion, *slope(t, q, m, x, p, z)]

    first = [*q, *m, *x, *p, 0.0, *flat(model.variables)]
    run = solve_ivp(rate, (0, 0.5), first, "DOP853", rtol=1e-11, atol=1e-12)
    start = {"attitude": q, "scalar_first": True, "angular_momentum": m}
    moving = {"position": x, "velocity": p / body.mass}
    problem = ph.Problem(body, model, **start, **moving)
    with plain_python():
        ours = ph.solve(problem, (0, 0.5), method="dop853", rtol=1e-10)
    kinetic = ours.kinetic_energy
    assert ours.success
    assert kinetic[-1] - kinetic[0] == pytest.approx(run.y[13, -1], abs=1e-8)
    assert ours.x[-1] == pytest.approx(run.y[7:10, -1], abs=1e-8)
    ends = [values[-1] for values in ours.variables.values()]
    assert np.hstack([*ends, 0.0]) == pytest.approx([*run.y[14:, -1], 0.0], abs=1e-8)


# ---- bits
def branches():
    """The first example of each set of functions, which the parameters do not change."""
    found = {}
    for example in examples():
        model = ph.MODELS[example.values[0]](**example.values[1])
        functions = model.torque, model.wrench, model.potential, model.potential_at
        found.setdefault(functions, example)
    return list(found.values())


@pytest.mark.parametrize(("name", "arguments"), branches())
def test_machine_code_and_lanes_do_what_plain_python_does(name, arguments, rng):
    model, body = ph.MODELS[name](**arguments), BODIES["aligned"]
    joined = loops.joined(acting, None, model)
    plain, machine = exactly(joined), compiled(joined)
    rest, params = (body.data, model.numbers, model.variables), (*model.params, model.variables)
    states = [inner(body, rng) for _ in range(LANES)]
    block = np.array([flat((*state, *rest)) for state in states]).T.ravel()
    many = compiled(loops.joined(bind(acting_in_lanes, {over_lanes: lanes(4)}), None, model))
    many(block, T, model.tables, (*states[0], *rest))
    for lane, state in enumerate(states):
        expected = machine(T, *state, body.data, params)
        found = like(expected, iter(block[lane::LANES].tolist()))
        assert bits_of(found) == bits_of(expected)
        if lane < 3:
            assert bits_of(expected) == bits_of(plain(T, *state, body.data, params))


def inner(body, rng):
    """A random state in principal axes."""
    q, m, x, p = somewhere(rng)
    return inner_state(body, tuple(q), tuple(m), tuple(x), tuple(p / body.mass))
