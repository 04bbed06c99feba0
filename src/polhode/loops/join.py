"""Bind a method and a model into compiled loops, once for each content."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from polhode import contracts, loops
from polhode.compiler.dual import ON_DUAL, Dual, lifted
from polhode.compiler.machine import CompiledOrPlain, NotThree
from polhode.compiler.tree import Uncacheable, bind, digest, flat, spread
from polhode.contracts import ORIGIN, Coordinates, Formulation, Integrator, Method, Model, reset
from polhode.contracts.company import Company, company_of, zeros
from polhode.errors import InputError
from polhode.formulations.equations import equations_of, given
from polhode.kernels.free_flow import free_drift
from polhode.kernels.moved import CARRIED
from polhode.kernels.quaternion import product
from polhode.kernels.rules import RULES
from polhode.kernels.so3 import exp
from polhode.kernels.symmetric_flow import SYMMETRIC_DRIFTS
from polhode.kernels.trig import ELEMENTARY
from polhode.kernels.tuples import as_floats, nested, strictly_floats
from polhode.loops.tangents import (
    by_reading_and_trial,
    equations_with_derivatives,
    form_of,
    functions_with_derivatives,
    pattern_of,
    solved_step_with_derivatives,
    with_tangents,
)

KEPT_WIDTH = 8  # SIMD: compensated sums need twice the registers


def variant(method: Method, axis: int | None, compensated: bool) -> Method:
    """Return the method for bodies symmetric about a principal axis, its sums compensated or not.

    Only methods over the exact free motion differ for symmetric bodies: it is cheaper there.
    """
    symmetric = axis is not None and method.exact_when_free
    if not (symmetric or compensated):
        return method
    return _variant(method, axis if symmetric else None, compensated)


@cache
def _variant(method: Method, axis: int | None, compensated: bool) -> Method:
    meanings: dict[Callable, Callable] = dict(CARRIED) if compensated else {}
    if axis is not None:
        meanings[free_drift] = SYMMETRIC_DRIFTS[axis]
    own: dict[str, Any] = {
        stub.__name__: bind(function, meanings)
        for stub, function in loops.functions_of(method, *loops.STEPPING).items()
    }
    width = min(method.width, KEPT_WIDTH) if compensated else method.width
    return replace(method, **own, width=width)


class BoundMethod:
    """A method bound to a model: its compiled loops.

    ``width`` is the number of floats of a number in a row: more than 1 with derivatives.
    """

    def __init__(
        self,
        method: Method,
        model: Model,
        aligned: bool,
        moving: bool = False,
        plain: bool = False,
        width: int = 1,
    ):
        pieces = loops.model_pieces(model, aligned)
        self.wrench = pieces[contracts.wrench]
        self.coupled = pieces.get(contracts.coupled)
        self.width = width
        if width > 1:
            model = model.for_duals()
            pieces = loops.model_pieces(model, aligned)
        self.start = in_plain_python(loops.joined(method.start, None, numbers=pieces), width)
        self.continuous, self.keeps_unit = method.continuous, method.keeps_unit
        self.plain = plain
        self.along = Along(model, aligned, moving)
        self.tried = not model.analytic  # whether the potentials are known to be analytic
        self.fit = None
        self.run: Any = None
        self.forms: tuple | None = None  # of what ``sampled`` takes, as examples
        self.method, self.model, self.aligned = method, model, aligned
        self.weights, self.offsets = loops.substeps(method)

    def packed(self, *numbers: Any) -> Callable:
        """Return the loop for a state, carry, body and numbers of this form."""
        if self.run is None:
            template = bind(loops.packed_record(pattern_of(numbers)), self._attitudes)
            if self.method.leave is not None:  # an integrator
                template = bind(template, {loops.whole_step: loops.only_step})
            elif self.width > 1 and len(self.method.weights) == 1:
                template = bind(template, {loops.whole_step: loops.only_part})
            self.run = self._built(template, self.plain)
        return self.run

    def _built(self, template: Callable, plain: bool = False) -> Callable:
        given = template, self.method, self.model, self.aligned
        if self.width == 1:
            return loops.build(*given, plain)
        function = loops.joined(*given, solved=solved_step_with_derivatives)
        return built_on_duals(function, f"the torque of {self.model.name!r}", plain)

    @property
    def _attitudes(self) -> dict[Callable, Callable]:
        """How loops look at attitudes: what replaces which stub."""
        parts: dict[Callable, Callable] = {}
        if self.method.leave is not None:
            parts[loops.attitude_of] = _first_of(self.method.leave)
        if not self.method.keeps_unit:
            parts[loops.is_attitude] = loops.is_any
        return parts

    @cached_property
    def sampled(self) -> Callable:
        parts = {loops.between: loops.by_step, **self._attitudes}
        if self.width > 1:
            return sampled_from_rows(lambda template: self._built(bind(template, parts)))
        return self._built(bind(loops.sampled, parts))

    @cached_property
    def states(self) -> Callable:
        """The function of (times, rows of the variables, body) that returns rows of states."""
        leave = self.method.leave
        if leave is None:
            return _as_they_are if self.width == 1 else _wide(self.width)
        return _states(leave, self.width)


def own_functions(integrator: Integrator) -> dict[Callable, Callable]:
    """Return the functions of an integrator by the stubs that they replace."""
    others = contracts.trial, contracts.first_step, contracts.fit, contracts.read
    return loops.functions_of(integrator, *loops.STEPPING, *others)


def beginning(integrator: Integrator) -> Callable:
    """Return the function that makes the carry after a reset."""
    start = integrator.start
    return integrator.again or (lambda t, h, y, carry, body, params: start(t, h, y, body, params))


def resetting(integrator: Integrator) -> Integrator:
    """Make an integrator with fixed steps reset the variables after each step."""
    begin = beginning(integrator)
    step: Any = integrator.step
    finish: Any = integrator.finish

    def again(t, h, y, carry, body, params):
        y, changed = reset(t + h, y, body)
        return y, begin(t + h, h, y, carry, body, params) if changed else carry

    def stepped(t, h, y, carry, body, params):
        y, carry = step(t, h, y, carry, body, params)
        return again(t, h, y, carry, body, params)

    def finished(t, h, unknown, y, carry, body, params):
        y, carry = finish(t, h, unknown, y, carry, body, params)
        return again(t, h, y, carry, body, params)

    return replace(
        integrator,
        step=None if step is None else stepped,
        finish=None if finish is None else finished,
    )


def settling(integrator: Integrator, settled: contracts.Settled) -> Integrator:
    """Do the same where some variables change only in a reset: integrate the others alone.

    The carry is (the last variables at the start, the numbers that follow from them, the carry of
    the integrator).  Quick steps are taken as long as these numbers hold, which then cost nothing.
    After that they are computed in every step.
    """
    rate, numbers, stays, moving = settled.slope, settled.numbers, settled.stays, settled.moving
    ready: Any = integrator.ready

    def moving_slope(t, y, body, params):
        itself, here = body
        return rate(t, y, here, itself, params)

    own: tuple[Any, ...] = (
        integrator.start,
        beginning(integrator),
        integrator.step,
        integrator.quick,
    )
    start, again, step, quick = (
        bind(function, {contracts.slope: moving_slope}) for function in own
    )

    def started(t, h, y, body, params):
        here = numbers(y, body)
        return y[moving:], here, start(t, h, y[:moving], (body, here), params)

    def stepped(t, h, y, carry, body, params):
        first, here, inner = carry
        labels = y[moving:]
        if labels == first and ready(h, inner):
            new, inner = quick(t, h, y[:moving], inner, (body, here), params)
            if stays(new, here):
                return (*new, *labels), (first, here, inner)
        else:
            new, inner = step(t, h, y[:moving], inner, (body, numbers(y, body)), params)
        better, changed = reset(t + h, (*new, *labels), body)
        if changed:
            now = body, numbers(better, body)
            inner = again(t + h, h, better[:moving], inner, now, params)
        return better, (first, here, inner)

    return replace(integrator, start=started, step=stepped)


class BoundIntegrator:
    """An integrator bound to a formulation and a force: its compiled loops.

    ``force`` is the model of a body, or a given angular velocity.
    """

    def __init__(
        self,
        integrator: Integrator,
        formulation: Formulation | Coordinates,
        force: Model | contracts.Rate,
        aligned: bool,
        moving: bool = False,
        plain: bool = False,
        width: int = 1,
    ):
        self.width = width
        if width > 1:
            integrator = integrator.for_duals()
        if formulation.resets and not integrator.adaptive:
            integrator = resetting(integrator)
        self.integrator, self.formulation, self.force = integrator, formulation, force
        self.plain = plain
        self.run: Any = None
        self.forms: tuple | None = None  # of what ``sampled`` takes, as examples
        if isinstance(force, contracts.Rate):
            assert isinstance(formulation, Formulation)
            self.pieces: dict = {contracts.velocity: bind(force.velocity, ELEMENTARY)}
            company = company_of(force)
            equations = given(formulation, force.inertial, company)
            self._leave: Callable = _attitude_of(formulation)
            if force.companion is not None and company is not None:
                self.pieces[contracts.companion] = bind(force.companion, ELEMENTARY)
                self._leave = _attitude_and_company(formulation, company)
            if integrator.linear:
                from polhode.kernels.gauss_taylor import on_the_left, on_the_right, side

                equations[side] = on_the_left if force.inertial else on_the_right
        else:
            self.pieces = loops.model_pieces(force, aligned)
            company = None if force.coupled is None else company_of(force)
            whole_equations = equations_of(formulation, moving, company)
            equations, self._leave = whole_equations.pieces, whole_equations.leave
            self.enter = whole_equations.enter
            self.along = Along(force, aligned, moving)
        own = own_functions(integrator)
        if width > 1:
            own = functions_with_derivatives(integrator, own)
            equations = equations_with_derivatives(equations)
        inner = self.pieces
        if width > 1 and isinstance(force, Model):
            inner = loops.model_pieces(force.for_duals(), aligned)
        self.layers = own, equations, inner
        self.wrench: Any = self.pieces.get(contracts.wrench)
        self.coupled = self.pieces.get(contracts.coupled)
        self.start = in_plain_python(loops.bound(integrator.start, equations, inner), width)
        self.continuous, self.keeps_unit = formulation.continuous, True
        self.in_fours: bool | None = None
        self.fit = None
        if integrator.fit is not None:
            own_fit = loops.bound(own[contracts.fit], equations, inner)
            self.fit = in_plain_python(own_fit, width)
        self.tried = isinstance(force, contracts.Rate) or not force.analytic

    def built(self, template: Callable) -> Callable:
        """Compile a template; plain Python if the force could not be compiled before."""
        function = loops.bound(template, *self.layers)
        plain = self.plain or getattr(self.run, "machine", True) is None
        what = (
            "omega"
            if isinstance(self.force, contracts.Rate)
            else f"the torque of {self.force.name!r}"
        )
        if self.width > 1:
            return built_on_duals(function, what, plain)
        return CompiledOrPlain(function, what, plain)

    def packed(self, *numbers: Any) -> Callable:
        """Return the loop for a state, carry, body and numbers of this form."""
        if self.run is None:
            parts = self._attitudes
            if self.integrator.adaptive:
                template = loops.packed_adapt(pattern_of((*numbers, 0.0, (0.0, 0.0))))
            else:
                template = loops.packed_record(pattern_of(numbers))
                parts[loops.whole_step] = bind(loops.only_step, {loops.attempt: self.attempt})
            self.run = self.built(bind(template, parts))
        return self.run

    def takes_fours(self, y: tuple, body: tuple, params: tuple) -> bool:
        """Whether the slope takes four numbers at once; False if it cannot be compiled."""
        if self.in_fours is None:
            self.in_fours = bool(self.built(loops.slope_takes_fours)(y, body, params))
        return self.in_fours

    @property
    def _attitudes(self) -> dict[Callable, Callable]:
        """How loops look at attitudes: what replaces which stub."""
        alone = isinstance(self.force, contracts.Rate) and self.force.companion is None
        return {loops.attitude_of: self._leave if alone else _first_of(self._leave)}

    @property
    def attempt(self) -> Callable:
        if self.integrator.improve is None:
            return loops.sure_step
        return loops.solved_step if self.width == 1 else solved_step_with_derivatives

    @cached_property
    def sampled(self) -> Callable:
        if not self.integrator.adaptive:
            between = bind(loops.by_step, {loops.attempt: self.attempt})
        else:
            between = loops.by_trial if self.integrator.fit is None else loops.by_reading
        parts = {loops.between: between, **self._attitudes}
        if self.width > 1:
            if self.integrator.trial_on_duals is not None:
                parts[loops.between] = by_reading_and_trial
            return sampled_from_rows(lambda template: self.built(bind(template, parts)))
        return self.built(bind(loops.sampled, parts))

    @cached_property
    def states(self) -> Callable:
        """The function of (times, rows of variables, body) that returns rows of states.

        Without a body they are attitudes.
        """
        return _states(self._leave, self.width)

    @cached_property
    def velocities(self) -> Callable:
        company = company_of(self.force)
        parts = {} if company is None else loops.reads_variables(4, company.pattern)
        return self.built(bind(loops.velocities, parts))


@cache
def _attitude_and_company(formulation: Formulation, company: Company) -> Callable:
    attitude, n = formulation.attitude, len(formulation.enter((1.0, 0.0, 0.0, 0.0)))
    nest = nested(company.pattern, n)
    return lambda t, y, body: (attitude(y[:n]), nest(y))


@cache
def _attitude_of(formulation: Formulation) -> Callable:
    attitude = formulation.attitude
    return lambda t, y, body: attitude(y)


@cache
def _first_of(leave: Callable) -> Callable:
    return lambda t, y, body: leave(t, y, body)[0]


def _as_they_are(times: np.ndarray, rows: np.ndarray, body: tuple) -> np.ndarray:
    return np.array(rows)


@cache
def _wide(width: int) -> Callable:
    return lambda times, rows, body: with_tangents(rows, width)


@cache
def _states(leave: Callable, width: int) -> Callable:
    """Return the function of (times, rows of variables, body) that returns rows of states.

    With derivatives it gets those of the variables, and appends those of the states.
    """
    if width > 1:
        return _states_with_tangents(leave, width)
    run = CompiledOrPlain(bind(loops.states_of, {loops.left: leave}), "the attitude")

    def states(times, rows, body):
        pattern = (0.0,) * rows.shape[1]
        out = np.empty((len(rows), len(flat(leave(0.0, (1.0,) * rows.shape[1], body)))))
        run(np.ascontiguousarray(times), np.ascontiguousarray(rows), pattern, body, out)
        return out

    return states


def _states_with_tangents(leave: Callable, width: int) -> Callable:
    """Return the same function for dual numbers, which are not passed to compiled code."""
    number = Dual(1.0, (0.0,) * (width - 1))
    plain_leave = in_plain_python(leave, width)
    known: dict[tuple, tuple[Callable, int]] = {}  # by the length of rows and the form of the body

    def made(length: int, body: tuple) -> tuple[Callable, int]:
        example = (number,) * (length // width)
        template = loops.packed_states(*map(pattern_of, (example, body)))
        run = built_on_duals(bind(template, {loops.left: leave}), "the attitude")
        return run, len(spread(plain_leave(0.0, example, body)))

    def states(times, rows, body):
        form = rows.shape[1], form_of(body)
        if form not in known:
            known[form] = made(rows.shape[1], body)
        run, new = known[form]
        out, data = np.empty((len(rows), new)), np.array([spread(body)])
        run(np.ascontiguousarray(times), np.ascontiguousarray(rows), data, out)
        return with_tangents(out, width)

    return states


def sampled_from_rows(build: Callable) -> Callable:
    """Return ``loops.sampled`` for dual numbers, which it puts into a row."""
    known: dict[Any, Callable] = {}  # by the form of what is in the row
    last: tuple[Any, ...] = (None,)  # examples, of which only the form matters, and their numbers

    def sampled(knots, places, times, settings, state, carry, fitted, body, params, out):
        nonlocal last
        if last[0] is not state or last[1] is not carry or last[2] is not fitted:
            examples = state, carry, fitted
            last = *examples, form_of(examples), np.array(spread(examples))
        beside = body, params[0]
        form = last[3], form_of(beside)
        if form not in known:
            pattern = pattern_of((state, carry, fitted, *beside))
            known[form] = build(loops.packed_sampled(pattern))
        data = np.concatenate([last[4], spread(beside)])[None]
        return known[form](knots, places, times, settings, data, params[1], out)

    return sampled


def in_plain_python(function: Callable, width: int) -> Callable:
    """Return a function that plain Python calls on numbers of this width."""
    return function if width == 1 else bind(bind(function, RULES), ON_DUAL)


def built_on_duals(function: Callable, what: str, plain: bool = False) -> CompiledOrPlain:
    """Compile a function for dual numbers, or for plain Python."""
    with_rules = bind(function, {loops.alike: lifted, **RULES})
    return CompiledOrPlain(with_rules, what, plain, bind(with_rules, ON_DUAL))


@cache
def fixed(
    integrator: Integrator,
    formulation: Formulation | Coordinates,
    moving: bool = False,
    company: Company | None = None,
    wide: bool = False,
) -> Method:
    """Return an integrator with fixed steps as a method whose state is its variables.

    If ``wide``, these have derivatives.
    """
    equations = equations_of(formulation, moving, company)
    pieces = equations.pieces
    if wide:
        integrator, pieces = integrator.for_duals(), equations_with_derivatives(pieces)
    alone = not moving and company is None
    settled = getattr(formulation, "settled", None) if alone else None
    if settled is not None and integrator.quick is not None:
        integrator = settling(integrator, settled)
    elif formulation.resets:
        integrator = resetting(integrator)
    own: dict[str, Any] = {
        stub.__name__: loops.bound(function, pieces)
        for stub, function in loops.functions_of(integrator, *loops.STEPPING).items()
    }
    return Method(
        name=integrator.name,
        title=integrator.title,
        order=integrator.order,
        symmetric=integrator.symmetric,
        symplectic=False,
        torques_at_start=integrator.evaluations_at_start,
        torques_per_step=integrator.evaluations,
        torques_per_iteration=integrator.evaluations_per_iteration,
        references=integrator.references,
        leave=equations.leave,
        continuous=formulation.continuous,
        **own,
    )


_known: dict = {}
MOST_KNOWN = 256


def bind_method(
    method: Method,
    model: Model,
    aligned: bool,
    moving: bool = False,
    axis: int | None = None,
    compensated: bool = False,
    width: int = 1,
    form: Any = (),
) -> BoundMethod:
    """Bind a method to a model, or return what was bound before if the machine code is the same.

    ``axis`` and ``compensated`` choose the ``variant`` of the method.  With derivatives, ``width``
    is the number of floats of a dual number, and ``form`` tells which numbers are dual.
    """
    method = variant(method, axis, compensated)
    key = method, *_functions(model), aligned, moving, _forms(model.numbers, model.tables)
    return _found(
        (*key, width, form),
        model.user,
        lambda plain: BoundMethod(method, model, aligned, moving, plain, width),
    )


def bind_integrator(
    integrator: Integrator,
    formulation: Formulation | Coordinates,
    force: Model | contracts.Rate,
    aligned: bool = True,
    moving: bool = False,
    width: int = 1,
    form: Any = (),
) -> BoundIntegrator:
    """Do the same for an integrator and a formulation."""
    if isinstance(force, contracts.Rate):
        what: tuple = force.inertial, force.takes_attitude, () if force.user else force.velocity
        what = *what, company_of(force), _forms(*force.params), _form(force.params[1])
    else:
        what = *_functions(force), _forms(force.numbers, force.tables)
        if force.coupled is not None:
            what = *what, company_of(force)
    key = integrator, formulation, what, aligned, moving, width, form
    return _found(
        key,
        force.user,
        lambda p: BoundIntegrator(integrator, formulation, force, aligned, moving, p, width),
    )


def _functions(model: Model) -> tuple:
    return model.torque, model.potential, model.wrench, model.potential_at, model.coupled


def _found(key: tuple, user: tuple[Callable, ...], make: Callable[[bool], Any]) -> Any:
    """Return the cached object for this key and functions of this content, or make it.

    A user's functions count by content, each time, since a constant in them may have changed.
    Functions whose content cannot be read are bound each time, and no longer compiled once this
    has failed.
    """
    try:
        content = tuple(digest(function) for function in user)
    except Uncacheable:
        content = None
    key = content, *key
    found = _known.get(key)
    if content is None:
        run = getattr(found, "run", None)
        refused = run is not None and getattr(run, "machine", None) is None
        found = make(refused)
    elif found is None:
        found = make(False)
    else:
        return found
    if len(_known) >= MOST_KNOWN:
        del _known[next(iter(_known))]
    _known[key] = found
    return found


def _forms(numbers: tuple, tables: tuple) -> tuple:
    """Return the part of numbers and tables that determines the machine code."""
    kinds = tuple((table.dtype.str, table.ndim) for table in flat(tables))
    return _form(numbers), kinds


def _form(numbers):
    return tuple(map(_form, numbers)) if isinstance(numbers, tuple) else 0


class Along:
    """Quantities of a model along rows of states; compiled on first use."""

    def __init__(self, model: Model, aligned: bool, moving: bool):
        self._model, self._aligned, self._moving = model, aligned, moving

    def _built(self, template: Callable) -> Callable:
        if self._moving:
            template = bind(template, {loops.state_in: loops.whole_state_in})
        if (company := company_of(self._model)) is not None:
            place = 13 if self._moving else 7
            template = bind(template, loops.reads_variables(place, company.pattern))
        return loops.build(template, None, self._model, self._aligned)

    @cached_property
    def _potentials(self) -> Callable:
        return self._built(loops.potentials)

    @cached_property
    def _accelerations(self) -> Callable:
        return self._built(loops.accelerations)

    def potentials(self, times, states, body, params) -> np.ndarray | None:
        """Return the potential energies, None if there is no potential."""
        if not self._model.has_potential:
            return None
        out = np.empty(len(times))
        self._potentials(times, np.ascontiguousarray(states), body, params, out)
        return out

    def accelerations(self, times, states, body, params) -> np.ndarray:
        """Return rows (angular acceleration in principal axes, acceleration)."""
        out = np.empty((len(times), 6))
        self._accelerations(times, np.ascontiguousarray(states), body, params, out)
        return out


def try_potentials(
    parts: BoundMethod | BoundIntegrator, model: Model, state: tuple, body: tuple, aligned: bool
) -> None:
    """Check, once, that the complex step differentiates a potential; for ``abs`` it does not.

    Differences over a turn of 1e-4 are wrong by some 1e-8 of the torque, and by the rounding of the
    energy; so are those over 1e-4 of the distance from the origin.
    """
    q, m, x, p = contracts.whole(state)
    reach = 1e-4 * (math.hypot(*x) or 1.0)
    for term in () if parts.tried else model.terms or (model,):
        if not term.analytic:
            continue
        pieces = loops.model_pieces(term, aligned)

        def energy(turn, shift, value=pieces[contracts.potential_at], params=term.params):
            there = tuple(a + b for a, b in zip(x, shift, strict=True))
            return value(0.0, product(q, exp(turn)), there, body, params)

        def along(k, size):
            return tuple(size if k == axis else 0.0 for axis in range(3))

        turning, pushing = pieces[contracts.wrench](0.0, q, m, x, p, body, term.params)
        back = [
            (energy(along(k, -1e-4), ORIGIN) - energy(along(k, 1e-4), ORIGIN)) / 2e-4
            for k in range(3)
        ]
        fall = [
            (energy(ORIGIN, along(k, -reach)) - energy(ORIGIN, along(k, reach))) / (2.0 * reach)
            for k in range(3)
        ]
        rounding = 1e-9 * abs(energy(ORIGIN, ORIGIN))
        for what, variable, found, slopes, noise in (
            ("torque", "q", turning, back, rounding),
            ("force", "x", pushing, fall, rounding * 1e-4 / reach),
        ):
            size = max(map(abs, (*found, *slopes)))
            gap = max(abs(a - b) for a, b in zip(found, slopes, strict=True))
            if gap > 1e-5 * size + noise:
                raise InputError(
                    f"the potential of model {term.name!r} is not analytic in {variable}: by a"
                    f" complex step its {what} would be {list(found)}, by differences it is"
                    f" {slopes}; do without abs, min, max and comparisons of {variable}, or give"
                    f" the {what} with ph.{what}"
                )
    parts.tried = True


def try_wrench(wrench: Callable, model: Model, params: tuple, state: tuple, body: tuple) -> None:
    """Call a user's force once in plain Python, so that its own error is shown."""
    here = contracts.whole(state)
    if model.coupled is not None:
        params = (*params, state[-1])
        _try_coupled(model, here, body)
    try:
        value = flat(wrench(0.0, *here, body, params))
    except Exception as error:
        raise InputError(_mistake(model, here, body, error)) from error
    if not all(math.isfinite(x) for x in value):
        shown = value if model.moves else value[:3]
        raise InputError(
            f"the {_kind(model)} of model {model.name!r} is not finite at the initial state:"
            f" {shown}"
        )


def _try_coupled(model: Model, here: tuple, body: tuple) -> None:
    """Call the functions with variables once, and look at the form of what they return."""
    for term in model.terms or (model,):
        if term.coupled is None or not term.user:
            continue
        form = zeros(term.variables)
        function = bind(term.coupled, {as_floats(form): strictly_floats(form)})
        returns = "(torque, force, dy)" if term.moves else "(torque, dy)"
        try:
            value = flat(function(0.0, *here, body, (*term.params, term.variables)))
            good = all(math.isfinite(x) for x in value)
        except Exception as error:
            raise InputError(
                f"the function of model {term.name!r} fails at the initial state:"
                f" {type(error).__name__}: {error}; it must return {returns}"
            ) from error
        if not good:
            raise InputError(
                f"the function of model {term.name!r} is not finite at the initial state: {value}"
            )


def _kind(model: Model) -> str:
    return "torque" if not model.moves else "force" if model.is_free else "torque or force"


def _mistake(model: Model, here: tuple, body: tuple, error: Exception) -> str:
    """Say which function of a model fails at the initial state, and how."""
    for term in model.terms:
        try:
            params = *term.params, term.variables
            loops.model_pieces(term, False)[contracts.wrench](0.0, *here, body, params)
        except Exception as its:
            return _mistake(term, here, body, its)
    if isinstance(error, NotThree):
        return f"the {_kind(model)} of model {model.name!r} {error}"
    if model.analytic:
        try:
            q, _, x, _ = here
            loops.model_pieces(model, False)[contracts.potential_at](0.0, q, x, body, model.params)
        except TypeError as its:
            return f"the potential of model {model.name!r} must return one number: {its}"
        except Exception as its:
            error = its
    return (
        f"the {_kind(model)} of model {model.name!r} fails at the initial state:"
        f" {type(error).__name__}: {error}"
    )
