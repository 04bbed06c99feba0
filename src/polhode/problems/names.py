"""The quantities of a problem by name: ``attitude``, ``inertia``, ``model.strength`` and so on."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from polhode.compiler.tree import flat, like
from polhode.contracts import Model
from polhode.contracts.company import company_of
from polhode.problems.problem import Problem

ROTATION = {"attitude": (4,), "omega": (3,), "angular_momentum": (3,)}
TRANSLATION = {"position": (3,), "velocity": (3,)}
BODY = {"inertia": (3,), "mass": ()}


def shapes_of(problem: Problem) -> dict[str, tuple[int, ...]]:
    """Return what can differ from body to body, and the shape of its value for one of them."""
    model = problem.model
    return ROTATION | (TRANSLATION if problem.moves else {}) | BODY | shapes_in(model)


def shapes_in(model: Model) -> dict[str, tuple[int, ...]]:
    """Return the parameters and the variables of a model with their shapes."""
    own: dict[str, tuple[int, ...]] = {
        name: (len(flat(entry)),) if isinstance(entry, tuple) else ()
        for name, entry in parameters_of(model, model.numbers)
        if entry != ()  # an array, which all bodies share
    }
    if (company := None if model.coupled is None else company_of(model)) is not None:
        own |= {
            f"model.{name}": shape
            for name, shape in zip(company.names, company.shapes, strict=True)
        }
    return own


def parameters_of(model: Model, numbers: tuple) -> list[tuple[str, Any]]:
    """Return (dotted name, entry of ``numbers``) of every parameter.

    In a sum the names of the terms come in between.
    """
    if not model.terms:
        pairs = zip(model.names, numbers, strict=True)
        return [(f"model.{name}", entry) for name, entry in pairs]
    return [
        (f"model.{name}.{key}", x)
        for name, term, entry in zip(model.names, model.terms, numbers, strict=False)
        for key, x in zip(term.names, entry, strict=True)
    ]


def places_of_parameters(model: Model) -> dict[str, list[int]]:
    """Return the places of each parameter among the flat numbers of the model."""
    places = like(model.numbers, iter(range(len(flat(model.numbers)))))
    return {
        name: flat(found) if isinstance(found, tuple) else [found]
        for name, found in parameters_of(model, places)
        if found != ()
    }


def with_numbers(model: Model, numbers: tuple) -> Model:
    """Return the same model with other parameters."""
    terms = tuple(with_numbers(*pair) for pair in zip(model.terms, numbers, strict=False))
    return replace(model, numbers=numbers, terms=terms)


def with_variables(model: Model, numbers: Iterator[float]) -> Model:
    """Return the same model with the next numbers as initial values of its variables."""
    if not model.terms:
        values = model.variables if model.coupled is None else like(model.variables, numbers)
        return replace(model, variables=values)
    terms = tuple(with_variables(term, numbers) for term in model.terms)
    own = tuple(term.variables for term in terms if term.coupled is not None)
    return replace(model, terms=terms, variables=own[0] if len(own) == 1 else own)
