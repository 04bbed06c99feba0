"""Signatures are explicit for people and editors; here they are compared with one record."""

import inspect
from dataclasses import fields

import pytest

import polhode as ph
from polhode.solvers.arguments import Arguments

RECORD = {field.name: field.default for field in fields(Arguments)}
OWN = {  # arguments of a function that are not in the record
    ph.solve: {"problem", "t_span"},
    ph.prepare: {"problem"},
    ph.integrate_angular_velocity: {
        *("omega", "t_span", "frame", "attitude", "scalar_first"),
        *("variables", "slope", "params", "scale"),
    },
    ph.prepare_angular_velocity: {"omega", "frame", "variables", "slope", "params", "scale"},
    ph.solve_ensemble: {
        *(
            "problem",
            "t_span",
            "vary",
            "samples",
            "members",
            "seed",
            "save",
            "reduce",
            "reduce_times",
        ),
        *("out", "threads", "client", "chunk"),
    },
}
BODIES_ONLY = {"compensated", "options", "checkpoint", "checkpoint_every"}
MISSING = {  # of the record
    ph.solve: set(),
    ph.prepare: set(),
    ph.integrate_angular_velocity: BODIES_ONLY,
    ph.prepare_angular_velocity: BODIES_ONLY,
    ph.solve_ensemble: {"breakpoints", "t_eval", "save_every", "events"},
}
OTHER_DEFAULTS = {"formulation": "rotor"}  # without a body


def shared(function):
    """The defaults of the arguments that are in the record, in the order of the signature."""
    parameters = inspect.signature(function).parameters
    return {name: p.default for name, p in parameters.items() if name not in OWN[function]}


BY = ph.Sensitivities(["state"])


@pytest.mark.parametrize("function", OWN, ids=lambda function: function.__name__)
def test_a_signature_is_that_of_the_record(function):
    wanted = {name: value for name, value in RECORD.items() if name not in MISSING[function]}
    if "omega" in OWN[function]:
        wanted |= OTHER_DEFAULTS
    assert shared(function) == wanted
    assert OWN[function] <= set(inspect.signature(function).parameters)


@pytest.mark.parametrize("function", [ph.solve, ph.prepare])
def test_arguments_reach_the_record_in_their_places(function, monkeypatch):
    """Records are made by position: a mistake would exchange two arguments."""
    made = []

    def stop(problem, arguments):
        made.append(arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr("polhode.solvers.entry.prepare_from", stop)
    given = {name: name for name in RECORD} | {"compensated": True, "sensitivities": BY}
    span = ((0, 1),) if function is ph.solve else ()
    with pytest.raises(KeyboardInterrupt):
        function(None, *span, **given)
    assert {name: getattr(made[0], name) for name in RECORD} == given


@pytest.mark.parametrize("function", [ph.integrate_angular_velocity, ph.prepare_angular_velocity])
def test_arguments_of_rates_reach_the_record_in_their_places(function, monkeypatch):
    made = []

    def stop(rate, arguments):
        made.append(arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr("polhode.solvers.angular_velocity.RateSolver", stop)
    given = {name: name for name in RECORD if name not in BODIES_ONLY} | {"sensitivities": BY}
    span = ((0, 1),) if function is ph.integrate_angular_velocity else ()
    with pytest.raises(KeyboardInterrupt):
        function(lambda t: (0.0, 0.0, 1.0), *span, frame="body", **given)
    assert {name: getattr(made[0], name) for name in given} == given


def test_a_solver_is_replaced_with_another_output():
    solver = ph.prepare(ph.problems.krysl_free(), dt=0.1)
    done = []
    other = solver.replace(progress=done.append)
    assert other.bound is solver.bound
    assert other.output.progress == done.append
    assert not solver.output.progress
    with pytest.raises(ph.InputError, match="can be replaced, got 'dt'; prepare another solver"):
        solver.replace(dt=0.2)
    with pytest.raises(ph.MethodError, match="takes no steps to store: leave out checkpoint="):
        solver.replace(checkpoint="run.ckpt")
