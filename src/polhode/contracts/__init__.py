"""What methods, models and loops agree on.  The docstrings of the stubs are the contract.

``state``   the nested tuple of a kind of problem: rotation ``(q, m)``, six degrees of freedom
            ``(q, m, x, p)``; m is the angular momentum in body axes, x the position of the centre
            of mass and p the momentum in inertial axes.  Variables y of a model, if it has any,
            come last: ``(q, m, y)`` and ``(q, m, x, p, y)``
``carry``   what a method hands from one step to the next: the torque at the end, a predictor, a
            history, compensations.  ``start`` makes the first one
``body``    ``(moments, inverse moments, axes, mass, 1/mass)``: principal moments, their inverses,
            the quaternion that takes principal axes to the user's body axes; then the numbers of a
            nominal motion, if ``Coordinates`` have one.  Read it with ``moments(body)`` etc.
``params``  ``(numbers, tables)``: the model's own floats, nested as its author likes, and its
            read-only arrays, both passed at run time.  Read it with ``numbers(params)`` etc.
            Where a model with variables is evaluated, they follow: ``(numbers, tables, y)``

All but the tables are nested tuples of floats that loops never open; a lane block stores them in
order.  So a new kind of problem, a method with memory or a model with data needs no new loop.

A function here is a *stub*: methods call ``torque``, loops call ``step``, and ``loops.joined``
puts the real ones in their place.  Unbound, they are the free body and the method that does not
move.

All computations use principal axes.  What a user gives in other body axes passes through the three
functions ``attitude_of_body``, ``to_body_axes`` and ``to_principal_axes``; for a body whose axes
are principal they return their argument, and cost nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from math import sqrt
from typing import Any

from polhode.compiler.four import each
from polhode.compiler.machine import fma
from polhode.compiler.tree import bind
from polhode.contracts.described import described
from polhode.kernels.quaternion import conjugate, product, to_body, to_inertial
from polhode.kernels.vector import scale


class Status(IntEnum):
    """How a loop ended.  Compiled code returns one of these and never raises.

    Examples
    --------
    >>> import polhode as ph
    >>> wall = ph.problems.soft_wall_attractive()
    >>> run = ph.solve(wall, (0, 100), method="imidm", dt=0.5)
    >>> run.status == ph.Status.NOT_CONVERGED, run.success
    (True, False)
    """

    OK = 0
    NOT_CONVERGED = 1
    NOT_FINITE = 2
    STEP_TOO_SMALL = 3
    TOO_MANY_STEPS = 4
    NO_ATTITUDE = 5


# as compiled code sees them
OK, NOT_CONVERGED, NOT_FINITE, STEP_TOO_SMALL, TOO_MANY_STEPS, NO_ATTITUDE = map(int, Status)

ADVICE = {
    Status.NOT_CONVERGED: "the implicit equations of the step have no solution near the last"
    " state; try a smaller dt, or an explicit method",
    Status.NOT_FINITE: "the state overflowed, the torque returned NaN, or a step turns the body"
    " by more than 1e14 radians; try a smaller dt, and check the torque at this time",
    Status.STEP_TOO_SMALL: "the step size fell to the rounding of the time; loosen the tolerance,"
    " or look for a discontinuity of the torque at this time",
    Status.TOO_MANY_STEPS: "these and the rejected ones are max_steps; loosen the tolerance, look"
    " at the torque at this time, or give a larger max_steps",
    Status.NO_ATTITUDE: "the next state is no attitude, because its variables overflowed, vanished"
    " or lost their length; try a smaller dt, or another method or formulation",
}


ORIGIN = 0.0, 0.0, 0.0


def whole(state: tuple) -> tuple:
    """(q, m, x, p) of a state; one of rotation alone is at the origin and at rest."""
    return state[:4] if len(state) > 3 else (*state[:2], ORIGIN, ORIGIN)


# ---- what is in body and params; the compiler inlines these
def moments(body):
    """The principal moments of inertia."""
    return body[0]


def inverse_moments(body):
    """The inverses of the principal moments of inertia."""
    return body[1]


def principal_axes(body):
    """The quaternion that takes principal axes to the user's body axes."""
    return body[2]


def mass(body):
    """The mass."""
    return body[3]


def inverse_mass(body):
    """The inverse of the mass."""
    return body[4]


def nominal_motion(body):
    """The numbers of the nominal motion that ``Coordinates.nominal`` made at the start of a run."""
    return body[5]


def angular_velocity(m, body):
    """The angular velocity of the angular momentum m, both in principal axes."""
    return scale(inverse_moments(body), m)


def numbers(params):
    """The model's floats, nested as in ``Model.numbers``."""
    return params[0]


def tables(params):
    """The model's read-only arrays, as in ``Model.tables``."""
    return params[1]


def variables(params):
    """The variables y of a coupled model, nested as in ``Model.variables``."""
    return params[2]


# ---- what a model provides
def torque(t, q, m, body, params):
    """The torque in principal axes.  This stub is the free body."""
    return (0.0, 0.0, 0.0)


def ahead(t, body, params):
    """Compute what the torque needs of the time alone; this stub does nothing.

    For models of the library it is the torque at any state, whose result is not used: the compiler
    removes what depends on the state, and the rest is known before the attitude.  A processor then
    has it at hand while it waits for roots and sines.  A user's function is never called this way.
    """
    return (0.0, 0.0, 0.0)


def potential(t, q, body, params):
    """The potential energy.  This stub is the free body."""
    return 0.0


def wrench(t, q, m, x, p, body, params):
    """(torque in principal axes, force in inertial axes).  This stub has no force."""
    return torque(t, q, m, body, params), (0.0, 0.0, 0.0)


def coupled(t, q, m, x, p, body, params):
    """(torque, force, dy/dt) of a model with variables y of its own, ``variables(params)``."""
    return *wrench(t, q, m, x, p, body, params), ()


def potential_at(t, q, x, body, params):
    """The potential energy at the position x.  This stub does not depend on it."""
    return potential(t, q, body, params)


# ---- the user's body axes
def attitude_of_body(q, body):
    """The attitude of the user's body axes, from that of the principal axes."""
    return product(q, conjugate(principal_axes(body)))


def to_body_axes(v, body):
    """A vector in the user's body axes, from principal axes."""
    return to_inertial(principal_axes(body), v)


def to_principal_axes(v, body):
    """A vector in principal axes, from the user's body axes."""
    return to_body(principal_axes(body), v)


def same(value, body):
    """The three functions above for a body whose axes are principal."""
    return value


ALIGNED = {attitude_of_body: same, to_body_axes: same, to_principal_axes: same}


# ---- what a method provides
def start(t, h, state, body, params):
    """The carry before the first step."""
    return ()


def step(t, h, state, carry, body, params):
    """Explicit methods: (state, carry).  Cannot fail: what is undefined becomes NaN."""
    return state, carry


def guess(t, h, state, carry, body, params):
    """Implicit methods: the first ``unknown``, a tuple of tuples and floats.

    Its last entry is a float, the squared size of the last correction; 0 before the first.
    """
    return ((), 0.0)


def improve(t, h, unknown, state, body, params):
    """Implicit methods: one correction, (unknown, done)."""
    return unknown, True


def finish(t, h, unknown, state, carry, body, params):
    """Implicit methods: (state, carry) from the solved unknown."""
    return state, carry


def trial(t, h, state, carry, body, params, tolerances):
    """Adaptive methods: one trial step, (state, carry, error, factor, evaluations).

    ``error`` is relative to the tolerances: the step is accepted if ``error <= 1``.  ``factor``
    times h is the size of the next trial, whether or not this one was accepted.  A rejected trial
    leaves state and carry as they were.  In lanes every body has its own time and step.
    """
    return state, carry, 0.0, 1.0, 0


def first_step(t, span, state, carry, body, params, tolerances):
    """Adaptive methods: (the size of the first trial, evaluations), unless the user gave one."""
    return span, 0


def fit(t, h, state, carry, new, body, params):
    """Dense output: (what ``read`` needs inside the step from t to t + h, evaluations).

    ``new`` is the state at the end of the step.  Without ``fit``, dense output takes shorter steps
    from t; see ``loops.sampled``.
    """
    return (), 0


def read(x, h, state, fitted):
    """Dense output: the state at t + x h, 0 <= x <= 1, from what ``fit`` returned."""
    return state


# ---- what a formulation provides
def slope(t, y, body, params):
    """dy/dt of the variables y, a flat tuple of floats: all that integrators see of a problem."""
    return y


def leap(t, y, before, step, pace, body, params):
    """``before`` plus ``step`` times the slope at y: a substep of the midpoint rule.

    A formulation may have the sum inside its own products, which takes fewer of them; ``pace`` is
    then what depends on the step and the body alone.  All numbers may be four at once.
    """
    return each(fma, (step, slope(t, y, body, params), before))


def pace(step, body):
    """What ``leap`` needs of the step and the body, computed once for many substeps."""
    return ()


def reset(t, y, body):
    """Between steps: (y, changed), the same motion in better variables; integrators restart."""
    return y, False


def unchanged(y):
    """The reset of a formulation that needs none."""
    return y, False


def square_size(d, y, new, body, tolerances):
    """The squared length of an error d of a step from y to ``new``, relative to (rtol, atol)."""
    return 0.0


def size(d, y, new, body, tolerances):
    """The length of such an error; no stub, its square is."""
    return sqrt(square_size(d, y, new, body, tolerances))


# ---- what a given angular velocity provides
def velocity(t, q, params):
    """The angular velocity, in the frame in which it is given; q is the unit attitude."""
    return (0.0, 0.0, 0.0)


def companion(t, q, params):
    """(angular velocity, dy/dt) with variables y beside the attitude, ``variables(params)``."""
    return velocity(t, q, params), ()


# ---- records
FREE, LINEAR, AXIAL = "free", "linear", "axial"
MOTIONS = {
    FREE: "no torque",
    LINEAR: "a potential linear in the attitude matrix (heavy top)",
    AXIAL: "any potential symmetric about an inertial axis; momentum: its component along it",
}


@dataclass(frozen=True, kw_only=True)
class Method:
    """A map: one file, one record.

    Explicit: ``step``.  Implicit: ``guess``, ``improve``, ``finish``.  Adaptive: ``trial``.
    Everything declared here is tested, what is denied as well as what is claimed.
    ``keeps_energy`` and ``keeps_momentum`` list the motions (``MOTIONS``) in which the quantity is
    constant to rounding.
    A composition has the same functions with other ``weights``, which are data at run time: one
    for each part of the step, or a row of several, the first of which is the time that passes; then
    h is a tuple, the row times the step.  ``takes`` says which models it can be used with.

    With six degrees of freedom a map of rotations becomes one of (q, m, x, p) by the wrapper in
    ``methods.translation``; ``motion`` is for methods with a scheme of their own.

    Examples
    --------
    >>> import polhode as ph
    >>> strang = ph.METHODS["strang"]
    >>> strang.order, strang.symplectic, strang.implicit, strang.exact_when_free
    (2, True, False, True)
    >>> strang.takes(ph.models.drag(rotational=0.1))  # it depends on the rate
    False
    """

    name: str
    title: str
    order: int
    momentum_order: int | None = None  # of the momentum in body axes, if it is higher
    order_when_free: int | None = None  # without torque, if it is higher
    symmetric: bool
    symplectic: bool = False
    keeps_energy: tuple[str, ...] = ()
    keeps_momentum: tuple[str, ...] = ()
    keeps_norm: bool = False  # |m|, without torque
    keeps_unit: bool = True  # |q| = 1 to rounding; if not, no run fails because of it
    takes_rate: bool = True  # the torque may depend on omega
    free_only: bool = False  # there may be no torque at all
    exact_when_free: bool = False  # then any step is exact to rounding
    exact_momentum_when_free: bool = False  # the momentum in body axes is, the attitude is not
    compensates: bool = False  # its sums can carry what rounding loses (``kernels/sums``)
    compensated: bool = False  # and do so by default, since that costs at most a tenth
    torques_at_start: int = 0
    torques_per_step: int = 0
    torques_per_iteration: int = 0
    references: tuple[str, ...]
    start: Callable = start
    step: Callable | None = None
    guess: Callable | None = None
    improve: Callable | None = None
    finish: Callable | None = None
    trial: Callable | None = None
    weights: tuple[float, ...] | tuple[tuple[float, ...], ...] = (1.0,)
    width: int = 8  # the SIMD width that was fastest
    leave: Callable | None = None  # (t, y, body) -> state, if it has other variables
    continuous: bool = True  # the sign of q does not jump along a motion
    motion: "Method | None" = None  # for states (q, m, x, p)
    further: Callable | None = None  # (methods.further.Further) -> functions for further variables
    evaluations: Callable | None = None  # carry -> number of torques, if it varies
    options: "Callable[..., Method] | None" = None  # makes the method with options

    @property
    def fractions(self) -> tuple[float, ...]:
        """The time that each part of a step takes."""
        return tuple(w[0] if isinstance(w, tuple) else w for w in self.weights)

    @property
    def implicit(self) -> bool:
        return self.improve is not None

    def takes(self, model: "Model") -> bool:
        """Whether the method can integrate the torque of ``model``."""
        if self.free_only:
            return model.is_free
        if model.is_coupled and isinstance(self.weights[0], tuple):
            return False  # neighbouring kicks are merged, and y would change in between
        if model.depends_on_velocity and isinstance(self.weights[0], tuple):
            return False  # neighbouring kicks are merged, which is no longer a flow
        return self.takes_rate or not model.depends_on_omega


@dataclass(frozen=True, kw_only=True)
class Integrator:
    """A general-purpose integrator of y' = slope(t, y): one file, one record.

    It knows nothing of bodies: a ``Formulation`` says what y is.  Adaptive: ``trial``, and ``dt``
    is refused.  Fixed steps: ``step``, or ``guess``, ``improve`` and ``finish``.  Those that are
    ``linear`` are only for a given angular velocity ω(t): y is a quaternion, and they call
    ``velocity`` instead of ``slope``.

    Examples
    --------
    >>> import polhode as ph
    >>> vern9 = ph.INTEGRATORS["vern9"]
    >>> vern9.order, vern9.adaptive, vern9.dense_order
    (9, True, 9)
    """

    name: str
    title: str
    order: int
    dense_order: int  # of dense output, anywhere in the step
    symmetric: bool = False
    symplectic: bool = False
    linear: bool = False
    evaluations: int = 0  # of one fixed step
    evaluations_at_start: int = 0
    evaluations_per_iteration: int = 0
    tightest: float = 0.0  # below this tolerance only rounding is left
    references: tuple[str, ...]
    suited: "Callable[[float], Integrator] | None" = None  # makes the one for rtol + atol
    start: Callable = start
    again: Callable | None = None  # (t, h, y, carry, body, params) -> carry: restarts after a reset
    step: Callable | None = None
    ready: Callable | None = None  # (h, carry) -> whether ``quick`` may replace ``step``
    quick: Callable | None = None
    guess: Callable | None = None
    improve: Callable | None = None
    finish: Callable | None = None
    trial: Callable | None = None
    trial_in_lanes: Callable | None = None  # ``trial`` with bodies in the lanes of every number
    trial_on_duals: Callable | None = None  # for numbers with derivatives, if ``trial`` is not
    first_step: Callable = first_step
    fit: Callable | None = None
    read: Callable | None = None
    options: "Callable[..., Integrator] | None" = None  # makes the integrator with options
    apart: "Integrator | None" = None  # the same without lanes, for numbers with derivatives

    def for_duals(self) -> "Integrator":
        """Return the integrator for numbers with derivatives; its values have the same bits."""
        return self if self.apart is None else self.apart

    def suited_for(self, tolerance: float) -> "Integrator":
        """Return the integrator for this sum of rtol and atol, itself unless it has others."""
        return self if self.suited is None else self.suited(tolerance)

    @property
    def adaptive(self) -> bool:
        return self.trial is not None

    @property
    def implicit(self) -> bool:
        return self.improve is not None


@dataclass(frozen=True, kw_only=True)
class Formulation:
    """Variables for the attitude and their rate of change: one file, one record.

    ``enter(q) -> y``, ``attitude(y) -> q`` (of length 1), ``rate(y, omega) -> dy/dt`` with omega in
    inertial axes, ``reset(y) -> (y, changed)``, after which a second reset changes nothing.
    ``rate_right(y, omega)`` is the same with omega in body axes, for variables that need no turning
    of it.  For a body the momentum is appended to y, and omega follows from it; ``moved(t, y, body,
    params) -> dy/dt`` is for variables with a better slope of (y, m), and ``leap`` and ``pace``
    (see the stubs) for those whose slope and sum can be one.

    Examples
    --------
    >>> import polhode as ph
    >>> rotor = ph.FORMULATIONS["rotor"]
    >>> rotor.attitude((2.0, 0.0, 0.0, 0.0))  # of any length
    (1.0, 0.0, 0.0, 0.0)
    """

    name: str
    title: str
    enter: Callable
    attitude: Callable
    rate: Callable
    rate_right: Callable | None = None
    reset: Callable = unchanged
    moved: Callable | None = None
    leap: Callable | None = None
    pace: Callable | None = None
    angle: float  # at the identity a small error d of y is a rotation by at least this times |d|
    continuous: bool = True  # the sign of ``attitude`` never jumps, along a motion or in a reset
    references: tuple[str, ...]

    @property
    def resets(self) -> bool:
        return self.reset is not unchanged


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What follows from variables that change only in a ``reset``, the last of ``Coordinates``.

    ``numbers(y, body)`` are valid until the next reset.  ``slope(t, y, numbers, body, params)`` is
    that of the first ``moving`` variables, y here being these alone, and ``stays(y, numbers)`` says
    that a reset would change nothing.
    """

    moving: int
    numbers: Callable
    slope: Callable
    stays: Callable


@dataclass(frozen=True, kw_only=True)
class Coordinates:
    """Variables for attitude and momentum of a body together: one file, one record.

    ``enter(t, q, m, body) -> y``, ``leave(t, y, body) -> (q, m)``, ``slope(t, y, body, params) ->
    dy/dt``, which calls ``torque``, and ``reset`` as above.  ``error(d, y, body) -> (turn, change,
    momentum)``: the lengths of what a small change d of y does to the attitude and to the momentum
    in body axes, and a momentum of the size at y.  Variables that are departures from a nominal
    motion have ``nominal(t, q, m, body)``: numbers made at the start of a run, in plain Python,
    which all these functions read with ``nominal_motion(body)``.  With ``settled`` quick steps cost
    less.

    Examples
    --------
    >>> import polhode as ph
    >>> angles = ph.COORDINATES["euler-angles"]
    >>> angles.numbers, angles.resets
    (6, False)
    >>> top = ph.problems.celledoni_heavy_top()
    >>> ph.solve(top, (0, 0.1), formulation="fukushima").success
    True
    """

    name: str
    title: str
    numbers: int  # how many variables
    enter: Callable
    leave: Callable
    slope: Callable
    error: Callable
    reset: Callable = reset
    nominal: Callable | None = None
    settled: Settled | None = None
    continuous: bool = False  # the sign of q never jumps, along a motion or in a reset
    singular: str  # where they are singular, and what to use instead
    references: tuple[str, ...]

    @property
    def resets(self) -> bool:
        return self.reset is not reset


@dataclass(frozen=True, kw_only=True)
class Model:
    """What acts on the body: torque and force, their potential if there is one, run-time data.

    A model of rotation has ``torque`` and ``potential``.  One that depends on the position, or has
    a force, has ``wrench`` and ``potential_at`` instead.

    ``depends_on_omega``: whether the torque depends on m or p, which matters to methods that carry
    a torque from step to step, or kick with it.  ``depends_on_velocity``: whether the force depends
    on p.  ``user`` holds the functions that a user gave, if any: they may change between two calls,
    so solvers compare their content each time.

    A model with variables of its own has ``coupled``, and a torque or wrench that reads them.
    ``variables`` are their initial values, nested as ``coupled`` gets them: a number or a tuple.
    ``variable_names`` and ``scales`` have an entry for each.

    Examples
    --------
    >>> import polhode as ph
    >>> model = ph.models.heavy_top(20.0) + ph.models.drag(rotational=0.1)
    >>> model.name, model.depends_on_omega, model.has_potential
    ('heavy_top + drag', True, True)
    """

    name: str
    torque: Callable = torque
    potential: Callable | None = potential
    wrench: Callable = wrench
    potential_at: Callable | None = potential_at
    names: tuple[str, ...] = ()
    numbers: tuple = ()
    tables: tuple = ()
    depends_on_omega: bool = False
    depends_on_velocity: bool = False
    turns: bool = True  # False: there is a force and no torque, by construction
    coupled: Callable | None = None
    variables: Any = ()
    variable_names: tuple[str, ...] = ()
    scales: tuple[float, ...] = ()  # sizes below which errors of the variables do not matter
    user: tuple[Callable, ...] = ()
    analytic: tuple[Callable, ...] = ()  # functions in the torque that get complex numbers
    on_duals: tuple[tuple[Callable, Callable], ...] = ()  # functions, and their forms for duals
    terms: tuple["Model", ...] = field(default=(), repr=False)
    references: tuple[str, ...] = ()

    @property
    def params(self) -> tuple:
        return self.numbers, self.tables

    def for_duals(self) -> "Model":
        """Return the model for numbers with derivatives; without them it has the same values."""
        forms: dict[Callable, Callable] = dict(self.on_duals)
        return replace(
            self,
            torque=bind(self.torque, forms),
            wrench=bind(self.wrench, forms),
            coupled=self.coupled and bind(self.coupled, forms),
        )

    @property
    def moves(self) -> bool:
        """Whether it depends on the position, or has a force."""
        return any(term.moves for term in self.terms) if self.terms else self.wrench is not wrench

    @property
    def is_coupled(self) -> bool:
        """Whether it has variables of its own."""
        return self.coupled is not None

    @property
    def is_free(self) -> bool:
        """Whether there is no torque, by construction."""
        if self.terms:
            return all(term.is_free for term in self.terms)
        return not self.turns if self.moves else self.torque is torque

    @property
    def has_potential(self) -> bool:
        return self.potential is not None and self.potential_at is not None

    def __add__(self, other: "Model") -> "Model":
        if not isinstance(other, Model):
            return NotImplemented
        from polhode.contracts.sums import total

        return total(self.terms or (self,), other.terms or (other,))

    @property
    def parameters(self) -> Mapping[str, Any]:
        return dict(zip(self.names, self.joined(self.params), strict=True))

    def __str__(self) -> str:
        return described(self)

    def joined(self, params: tuple) -> tuple:
        """Return its numbers, with a user's arrays in their places."""
        values, arrays = params
        if self.terms:
            parts = zip(self.terms, values, arrays, strict=True)
            return tuple(term.joined((value, array)) for term, value, array in parts)
        return _placed(values, arrays) if self.user else values


def _placed(values: Any, arrays: Any) -> Any:
    if not isinstance(arrays, tuple):
        return arrays
    return tuple(map(_placed, values, arrays)) if arrays else values


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A given angular velocity: ``velocity(t, q, params)``, in inertial or body axes."""

    velocity: Callable
    inertial: bool
    takes_attitude: bool = False
    user: tuple[Callable, ...] = ()
    names: tuple[str, ...] = ()  # of the parameters
    params: tuple = ((), ())
    companion: Callable | None = None  # of variables beside the attitude, as in ``Model``
    variables: Any = ()
    variable_names: tuple[str, ...] = ()
    scales: tuple[float, ...] = ()

    @property
    def is_coupled(self) -> bool:
        return self.companion is not None
