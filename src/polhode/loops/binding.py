"""Bind a method and a model into a loop template, and compile the result.

A template is a plain function that calls the stubs of ``contracts``.  ``joined`` returns a plain
copy of it in which the stubs are the functions of a method and a model; ``build`` compiles it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from polhode import contracts
from polhode.compiler.four import if_it_can
from polhode.compiler.machine import CompiledOrPlain
from polhode.compiler.tree import bind
from polhode.contracts import Method, Model, torque
from polhode.kernels.trig import ELEMENTARY, ON_COMPLEX
from polhode.loops.fixed import attempt, part, part_of_three, solved_step, sure_step

# stubs of fixed steps
STEPPING = contracts.start, contracts.step, contracts.guess, contracts.improve, contracts.finish


def anywhere(t, body, params):
    """Return the torque at some state, for ``contracts.ahead``; in plain Python do nothing."""
    return if_it_can(torque, nowhere, (t, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0), body, params))


def nowhere(t, q, m, body, params):
    return (0.0, 0.0, 0.0)


def model_pieces(model: Model, aligned: bool) -> dict:
    """Return a model's functions by the stubs they replace, bound to our elementary functions."""
    meanings = {f: bind(f, ON_COMPLEX) for f in model.analytic} | ELEMENTARY
    if aligned:
        meanings |= contracts.ALIGNED
    own: dict[Callable, Callable] = {contracts.torque: bind(model.torque, meanings)}
    pieces: dict[Callable, Callable] = dict(own)
    if not model.user:
        pieces[contracts.ahead] = bind(anywhere, own)
    pieces[contracts.wrench] = bind(model.wrench, meanings | own)
    if model.coupled is not None:
        pieces[contracts.coupled] = bind(model.coupled, meanings)
    if model.potential is not None and model.potential_at is not None:
        energy: dict[Callable, Callable] = {contracts.potential: bind(model.potential, meanings)}
        pieces |= energy
        pieces[contracts.potential_at] = bind(model.potential_at, meanings | energy)
    return pieces


def functions_of(record: Any, *stubs: Callable) -> dict[Callable, Callable]:
    """Return the functions that a method or integrator has, by the stubs that they replace."""
    found = {stub: getattr(record, stub.__name__) for stub in stubs}
    return {stub: function for stub, function in found.items() if function is not None}


def bound(template: Callable, *layers: Mapping[Callable, Callable]) -> Callable:
    """Bind layers of functions into a copy of ``template``, each layer into the one before it."""
    inner: dict[Callable, Callable] = {}
    for layer in reversed(layers):
        inner |= {stub: bind(function, inner) for stub, function in layer.items()}
    return bind(template, inner)


def joined(
    template: Callable,
    method: Method | None,
    model: Model | None = None,
    aligned: bool = True,
    numbers: Mapping | None = None,
    solved: Callable = solved_step,
) -> Callable:
    """Bind a model's functions into a method's, and these into a plain copy of ``template``.

    ``aligned``: the user's body axes are principal axes.  ``numbers`` replaces elementary functions
    everywhere, for instance by those of mpmath; ``solved`` takes the steps of implicit methods.
    """
    inner = {} if model is None else model_pieces(model, aligned)
    pieces = dict(inner)
    if method is not None:
        own = functions_of(method, *STEPPING, contracts.trial)
        pieces |= {stub: bind(function, inner) for stub, function in own.items()}
        pieces[attempt] = bind(solved if method.implicit else sure_step, pieces)
        if isinstance(method.weights[0], tuple):
            pieces[part] = part_of_three
    return bind(bind(template, pieces), numbers or {})


def build(
    template: Callable,
    method: Method | None,
    model: Model | None = None,
    aligned: bool = True,
    plain: bool = False,
) -> CompiledOrPlain:
    """Compile ``joined``; falls back to plain Python if the model cannot be compiled."""
    what = f"the torque of {model.name!r}" if model is not None else template.__name__
    return CompiledOrPlain(joined(template, method, model, aligned), what, plain)
