"""Sums of models: torques and forces add up; numbers, tables and variables are kept apart."""

from collections.abc import Callable
from typing import Any

from polhode.compiler.tree import bind
from polhode.contracts import ORIGIN, Model, numbers, potential, tables, torque, variables


def total(*groups: tuple[Model, ...]) -> Model:
    """The sum of models; numbers and tables are nested, one entry for each term.

    Variables are those of the only term that has any, or one entry for each term that has some.
    """
    terms = tuple(term for group in groups for term in group)
    names = [term.name for term in terms]
    unique = [n if names.count(n) == 1 else f"{n}{i + 1}" for i, n in enumerate(names)]
    while len(set(unique)) < len(unique):  # one has the name that another was given
        unique = [f"{n}{i + 1}" if unique.count(n) > 1 else n for i, n in enumerate(unique)]
    force, energy = _summed_wrench(terms), None
    if all(term.has_potential for term in terms):
        energy = _summed_potential(terms)
    functions: dict[str, Any] = {"wrench": force, "potential_at": energy}
    if not any(term.moves for term in terms):  # then the position does not matter
        functions = {
            "torque": lambda t, q, m, body, params: force(t, q, m, ORIGIN, ORIGIN, body, params)[0],
            "potential": energy and (lambda t, q, body, params: energy(t, q, ORIGIN, body, params)),
        }
    return Model(
        name=" + ".join(names),
        **functions,
        names=tuple(unique),
        numbers=tuple(term.numbers for term in terms),
        tables=tuple(term.tables for term in terms),
        depends_on_omega=any(term.depends_on_omega for term in terms),
        depends_on_velocity=any(term.depends_on_velocity for term in terms),
        **_summed_variables(terms, unique),
        user=tuple(function for term in terms for function in term.user),
        analytic=tuple(function for term in terms for function in term.analytic),
        on_duals=tuple(forms for term in terms for forms in term.on_duals),
        terms=terms,
        references=tuple(dict.fromkeys(key for term in terms for key in term.references)),
    )


def _summed_variables(terms: tuple[Model, ...], names: list[str]) -> dict[str, Any]:
    """The fields of a sum about variables; those of the same name are told apart by their terms."""
    own = [(name, term) for name, term in zip(names, terms, strict=True) if term.is_coupled]
    if not own:
        return {}
    called = [key for _, term in own for key in term.variable_names]
    return {
        "coupled": _summed_coupled(terms),
        "variables": own[0][1].variables if len(own) == 1 else tuple(t.variables for _, t in own),
        "variable_names": tuple(
            key if called.count(key) == 1 else f"{name}.{key}"
            for name, term in own
            for key in term.variable_names
        ),
        "scales": tuple(scale for _, term in own for scale in term.scales),
    }


def _part_of(terms: tuple[Model, ...], place: int) -> Callable:
    """The function that takes the params of one term out of those of the sum."""
    if not terms[place].is_coupled:
        return lambda params: (numbers(params)[place], tables(params)[place])
    if sum(term.is_coupled for term in terms) == 1:
        return lambda params: (numbers(params)[place], tables(params)[place], variables(params))
    own = sum(term.is_coupled for term in terms[:place])
    return lambda params: (numbers(params)[place], tables(params)[place], variables(params)[own])


def _summed_wrench(terms: tuple[Model, ...], count: int | None = None) -> Callable:
    """The sum of torques and forces of the first ``count`` terms; each takes its own params."""
    place = (len(terms) if count is None else count) - 1
    last, part = terms[place], _part_of(terms, place)
    function = bind(last.wrench, {torque: last.torque})

    def alone(t, q, m, x, p, body, params):
        return function(t, q, m, x, p, body, part(params))

    if place == 0:
        return alone
    before = _summed_wrench(terms, place)

    def summed(t, q, m, x, p, body, params):
        n, f = before(t, q, m, x, p, body, params)
        a, b = alone(t, q, m, x, p, body, params)
        return (n[0] + a[0], n[1] + a[1], n[2] + a[2]), (f[0] + b[0], f[1] + b[1], f[2] + b[2])

    return summed


def _summed_coupled(terms: tuple[Model, ...]) -> Callable:
    """The sum of torques and forces, and the slopes of all variables."""
    slopes = _slopes(terms, len(terms))
    if sum(term.is_coupled for term in terms) > 1:
        return slopes

    def of_one(t, q, m, x, p, body, params):
        n, f, slope = slopes(t, q, m, x, p, body, params)
        return n, f, slope[0]

    return of_one


def _slopes(terms: tuple[Model, ...], count: int) -> Callable:
    """(torque, force, slopes of the terms with variables) of the first ``count`` terms."""
    place = count - 1
    last, part = terms[place], _part_of(terms, place)
    if last.coupled is None:
        plain = bind(last.wrench, {torque: last.torque})

        def alone(t, q, m, x, p, body, params):
            return *plain(t, q, m, x, p, body, part(params)), ()
    else:
        function = last.coupled

        def alone(t, q, m, x, p, body, params):
            n, f, slope = function(t, q, m, x, p, body, part(params))
            return n, f, (slope,)

    if place == 0:
        return alone
    before = _slopes(terms, place)

    def summed(t, q, m, x, p, body, params):
        n, f, slopes = before(t, q, m, x, p, body, params)
        a, b, slope = alone(t, q, m, x, p, body, params)
        torques = n[0] + a[0], n[1] + a[1], n[2] + a[2]
        return torques, (f[0] + b[0], f[1] + b[1], f[2] + b[2]), (*slopes, *slope)

    return summed


def _summed_potential(terms: tuple[Model, ...]) -> Callable:
    place, last = len(terms) - 1, terms[-1]
    energy: Any = last.potential_at
    function = bind(energy, {potential: last.potential})

    def alone(t, q, x, body, params):
        return function(t, q, x, body, (numbers(params)[place], tables(params)[place]))

    if place == 0:
        return alone
    before = _summed_potential(terms[:-1])

    def summed(t, q, x, body, params):
        return before(t, q, x, body, params) + alone(t, q, x, body, params)

    return summed
