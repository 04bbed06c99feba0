"""The arguments of solvers: one record, and its checks before anything runs.

Error messages name the argument, its value and the remedy.
"""

import inspect
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

from polhode.contracts import Coordinates, Formulation, Integrator, Method, Model
from polhode.contracts.company import company_of
from polhode.errors import InputError, MethodError
from polhode.formulations import COORDINATES, FORMULATIONS
from polhode.integrators import INTEGRATORS
from polhode.loops.join import fixed
from polhode.methods import METHODS
from polhode.problems.problem import Problem
from polhode.solvers.auto import ACCURACY, BESIDE, INTEGRATOR, choose
from polhode.solvers.sensitivities import Directions, Sensitivities, asked, directions_of

AUTO = "auto"
INSTEAD = "mr2", "imidm", "mkrk:rk4"  # suggested when a method cannot take a model
QUATERNION = "quaternion"  # the default formulation of bodies
RTOL = 1e-9  # the default of adaptive integrators
MAX_STEPS = 10_000_000  # trial steps of an adaptive run, by default
MOST_STEPS = 2**62  # that can be counted


@dataclass(frozen=True)
class Arguments:
    """The keyword arguments of ``solve``, with its defaults."""

    method: str | Method | Integrator = AUTO
    formulation: str | Formulation | Coordinates | None = None
    dt: float | None = None
    rtol: float | None = None
    atol: float | None = None
    first_step: float | None = None
    max_step: float | None = None
    max_steps: float | None = None
    breakpoints: Any = None
    t_eval: Any = None
    save_every: int = 1
    events: Any = None
    compensated: bool | None = None
    progress: bool | Callable[[float], None] = False
    options: Mapping[str, Any] | None = None
    checkpoint: str | os.PathLike | None = None
    checkpoint_every: int | None = None
    sensitivities: Any = None

    def __post_init__(self) -> None:
        if self.compensated is not None:  # None leaves it to the method
            object.__setattr__(self, "compensated", bool(self.compensated))
        if self.sensitivities is not None:
            object.__setattr__(self, "sensitivities", asked(self.sensitivities))

    def directions(self, problem: Problem) -> Directions | None:
        """Return the directions in which a problem is differentiated; None if in none."""
        by: Sensitivities | None = self.sensitivities
        return None if by is None else directions_of(problem, by)

    def refuse(self, why: str, *names: str) -> None:
        """Raise an error if one of these arguments was given."""
        for name in names:
            if (value := getattr(self, name)) is not None and value is not False:
                raise MethodError(f"{why}: leave out {name}=")

    def shown(self) -> dict[str, Any]:
        """Return the arguments of any method that results mention."""
        found: dict[str, Any] = {} if self.save_every == 1 else {"save_every": int(self.save_every)}
        if self.sensitivities is not None:
            found["sensitivities"] = self.sensitivities.plain_data
        return {**found, "options": dict(self.options)} if self.options else found


# ---- methods
def find_method(method: Any) -> Method:
    """Return the map with this name."""
    return _find(method, METHODS, Method, "a Method")


def find_integrator(method: Any) -> Integrator:
    """Return the integrator with this name."""
    return _find(method, INTEGRATORS, Integrator, "an Integrator")


def _find(method: Any, registry: Mapping[str, Any], kind: type, what: str) -> Any:
    if isinstance(method, kind):
        return method
    if method in registry:
        return registry[method]
    names = ", ".join(registry)
    raise MethodError(f"method must be one of {names}, or {what}, got {method!r}{hint(method)}")


def is_integrator(method: Any) -> bool:
    """Whether this is an integrator, or the name of one."""
    return isinstance(method, Integrator) or (isinstance(method, str) and method in INTEGRATORS)


def find_formulation(
    formulation: str | Formulation | Coordinates | None, default: str
) -> Formulation | Coordinates:
    """Return the formulation or the coordinates with this name."""
    if isinstance(formulation, (Formulation, Coordinates)):
        return formulation
    name = default if formulation is None else formulation
    if name in COORDINATES:
        return COORDINATES[name]
    if name in FORMULATIONS:
        return FORMULATIONS[name]
    allowed = ", ".join((*FORMULATIONS, *COORDINATES))
    raise MethodError(
        f"formulation must be one of {allowed}, or a Formulation, got {formulation!r}"
    )


def find_kinematic(
    formulation: str | Formulation | Coordinates | None, default: str
) -> Formulation:
    """Return the formulation with this name, for a motion without a body."""
    found = find_formulation(formulation, default)
    if isinstance(found, Coordinates):
        raise MethodError(
            f"formulation {found.name!r} is for bodies, whose momentum it needs; use one of"
            f" {', '.join(FORMULATIONS)}"
        )
    return found


def with_options(method: Any, options: Any) -> Any:
    """Return the map or integrator made with these options, if there are any."""
    if not options:
        return method
    if not isinstance(options, Mapping):
        raise InputError(f"options must be a mapping of names to values, got {options!r}")
    if method == AUTO:
        raise MethodError("method 'auto' has no options: name the method, or leave out options=")
    found = find_integrator(method) if is_integrator(method) else find_method(method)
    if found.options is None:
        raise MethodError(f"method {found.name!r} has no options: leave out options=")
    allowed = [
        name
        for name, parameter in inspect.signature(found.options).parameters.items()
        if parameter.kind != parameter.VAR_KEYWORD and name != "number"
    ]
    for name in options:
        if name not in allowed:
            close = get_close_matches(str(name), allowed, n=1)
            raise MethodError(
                f"options of method {found.name!r} are {', '.join(allowed)}, got {name!r}"
                + (f"; did you mean {close[0]}?" if close else "")
            )
    return found.options(**options)


SCIPY = {  # names of scipy.integrate.solve_ivp, and what to use here
    "rk45": "dopri5",
    "rk23": "dopri5",
    "dop853": "dop853",
    "radau": "extrapolation",
    "bdf": "extrapolation",
    "lsoda": "extrapolation",
}


HABITS = {  # arguments of solve_ivp and odeint, and what replaces them here
    "dense_output": "every run has run.sol(t), the state at any time; leave it out",
    "args": "give numbers and arrays as params= of ph.torque, ph.force or ph.potential; functions"
    " get them as their last argument",
    "vectorized": "functions take one state and are compiled; for many bodies use"
    " ph.solve_ensemble",
    "jac": "no method needs a Jacobian; for derivatives of the motion use sensitivities=",
    "jac_sparsity": "no method needs a Jacobian; leave it out",
    "lband": "no method needs a Jacobian; leave it out",
    "uband": "no method needs a Jacobian; leave it out",
    "Dfun": "no method needs a Jacobian; leave it out",
    "min_step": "steps have no smallest size; leave it out",
    "hmin": "steps have no smallest size; leave it out",
    "h0": "use first_step=",
    "hmax": "use max_step=",
    "tcrit": "use breakpoints=",
    "t_eval": "use save=, the times at which states are kept",
    "y0": "the initial state belongs to the Problem: attitude=, omega=, position=, velocity=",
    "fun": "make a model with ph.torque, ph.force or ph.potential, and give it to the Problem",
    "tfirst": "functions take the time first; leave it out",
    "full_output": "every run has nfev, nsteps, status and message; leave it out",
}
Function = TypeVar("Function", bound=Callable[..., Any])


def answers_habits(function: Function) -> Function:
    """Answer arguments that SciPy's solvers have, and this function has not."""
    known = frozenset(inspect.signature(function).parameters)

    @wraps(function)
    def answering(*args: Any, **keywords: Any) -> Any:
        for name in keywords.keys() - known:
            if name in HABITS:
                raise InputError(f"{function.__name__} has no argument {name}=: {HABITS[name]}")
        return function(*args, **keywords)

    return answering  # type: ignore[return-value]


def hint(name: Any) -> str:
    """Suggest methods with similar names, or in place of SciPy's."""
    if (asked := str(name).lower()) in SCIPY:
        return f"; in place of SciPy's {name} use {SCIPY[asked]!r} with rtol="
    close = get_close_matches(str(name), [*METHODS, *INTEGRATORS], n=3)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _freeing_option(method: Method) -> str:
    """Return the option that makes a method one for free bodies only, or "" if it always is."""
    make = method.options
    if make is None or make().free_only:
        return ""
    switches = (n for n, p in inspect.signature(make).parameters.items() if p.default is False)
    return next((name for name in switches if make(**{name: True}).free_only), "")


def check_model(method: Method, model: Model) -> None:
    """Raise an error unless the method can take the torque and force of the model."""
    if method.takes(model):
        return
    if method.free_only:
        need = f"is for free bodies, and model {model.name!r} has a torque"
        if option := _freeing_option(method):
            raise MethodError(
                f"option {option} of method {method.name!r} {need}: leave out {option}, and"
                f" {method.name!r} takes it"
            )
    elif model.is_coupled and isinstance(method.weights[0], tuple):
        need = f"merges its kicks, between which the variables of model {model.name!r} would change"
    elif not model.depends_on_omega:
        need = (
            "kicks with a force that must not depend on the velocity,"
            f" and the one of model {model.name!r} does"
        )
    else:
        need = (
            "kicks with a torque that must not depend on the rate,"
            f" and the one of model {model.name!r} does"
        )
    able = [other for other in INSTEAD if METHODS[other].takes(model)]
    raise MethodError(f"method {method.name!r} {need}; use for instance {', '.join(able)}")


def check_body(integrator: Integrator) -> None:
    """Raise an error for an integrator that only takes a given angular velocity."""
    if integrator.linear:
        raise MethodError(
            f"method {integrator.name!r} is for a given angular velocity: use"
            " ph.integrate_angular_velocity, or dop853 for a body"
        )


def check_sums(method: Method) -> None:
    """Raise an error for a map without compensated sums."""
    if not method.compensates:
        able = ", ".join(name for name, other in METHODS.items() if other.compensates)
        raise MethodError(
            f"method {method.name!r} has no compensated sums; leave compensated= out, or use {able}"
        )


# ---- what a solver runs with
class FixedSteps(NamedTuple):
    """A method with fixed steps, its variables (None: the state itself), and why it was chosen.

    ``arguments`` are those that results mention.
    """

    method: Method
    variables: Formulation | Coordinates | None
    dt: float
    reason: str
    arguments: dict[str, Any]


class AdaptiveSteps(NamedTuple):
    """An adaptive integrator, its variables and limits, and why it was chosen."""

    integrator: Integrator
    variables: Formulation | Coordinates
    tolerances: tuple[float, float]
    limits: tuple[float, float, int]
    reason: str
    arguments: dict[str, Any]


def find_fixed_steps(problem: Problem, arguments: Arguments, method: Any) -> FixedSteps:
    """Find the map, or the integrator with fixed steps; ``method`` is made with its options."""
    variables, reason = None, ""
    if method == AUTO and problem.model.coupled is not None:
        method, reason = BESIDE
    arguments.refuse("maps take fixed steps", "first_step", "max_step", "max_steps", "breakpoints")
    if method == AUTO:
        dt = positive(arguments.dt, AUTO)
        aim = accuracy(arguments.rtol, arguments.atol)
        found, reason = choose(problem, dt, aim, arguments.compensated)
    else:
        if is_integrator(method):
            integrator = find_integrator(method)
            check_body(integrator)
            variables = find_formulation(arguments.formulation, QUATERNION)
            model = problem.model
            company = None if model.coupled is None else company_of(model)
            wide = arguments.sensitivities is not None
            found = fixed(integrator, variables, problem.moves, company, wide)
        else:
            found = find_method(method)
            check_model(found, problem.model)
        if arguments.rtol is not None or arguments.atol is not None:
            raise MethodError(
                f"method {found.name!r} takes fixed steps: give dt=, not rtol= or atol="
            )
        dt = positive(arguments.dt, found.name)
    if variables is None:
        arguments.refuse(f"method {found.name!r} is a map of its own variables", "formulation")
    shown = {"dt": dt, **arguments.shown()}
    if variables is not None and variables.name != QUATERNION:
        shown["formulation"] = variables.name
    if arguments.compensated:
        check_sums(found)
        if problem.model.coupled is not None:
            raise MethodError(
                f"no sums are compensated beside the variables of model {problem.model.name!r};"
                " leave compensated= out"
            )
    if arguments.compensated not in (None, found.compensated):
        shown["compensated"] = bool(arguments.compensated)
    return FixedSteps(found, variables, dt, reason, shown)


def find_adaptive_steps(arguments: Arguments, method: Any) -> AdaptiveSteps:
    """Find the adaptive integrator; ``method`` is made with its options."""
    reason = ""
    if method == AUTO:
        method, reason = INTEGRATOR
    integrator = find_integrator(method)
    check_body(integrator)
    if arguments.dt is not None:
        raise MethodError(
            f"method {integrator.name!r} finds its steps itself: give rtol= (and max_step= to bound"
            " them), not dt="
        )
    arguments.refuse(f"method {integrator.name!r} always carries what its sums lose", "compensated")
    variables = find_formulation(arguments.formulation, QUATERNION)
    both = tolerances(arguments.rtol, arguments.atol, integrator)
    limits = step_limits(arguments)
    shown = {"rtol": both[0], **({"atol": both[1]} if both[1] else {}), **arguments.shown()}
    for key in ("first_step", "max_step"):
        if (value := getattr(arguments, key)) is not None:
            shown[key] = float(value)
    if arguments.max_steps is not None:
        shown["max_steps"] = limits[2]
    if variables.name != QUATERNION:
        shown["formulation"] = variables.name
    return AdaptiveSteps(integrator, variables, both, limits, reason, shown)


# ---- numbers
def number_or_nan(value: Any) -> float:
    """Return a number as a float, and NaN for anything else."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def accuracy(rtol: Any, atol: Any) -> float:
    """Return the accuracy that "auto" aims at."""
    if atol is not None:
        raise MethodError("method 'auto' takes the accuracy to aim at as rtol=, not atol=")
    if rtol is None:
        return ACCURACY
    value = number_or_nan(rtol)
    if not 0.0 < value < 1.0:
        raise InputError(f"rtol must be a number between 0 and 1, for instance 1e-6, got {rtol!r}")
    return value


def tolerance(name: str, value: Any, default: float) -> float:
    """Return a tolerance, from 0 to 1."""
    number = number_or_nan(default if value is None else value)
    if not 0.0 <= number < 1.0:
        raise InputError(
            f"{name} must be a number from 0 to 1, for instance {RTOL:g}, got {value!r}"
        )
    return number


def tolerances(rtol: Any, atol: Any, integrator: Integrator) -> tuple[float, float]:
    """Return (rtol, atol) of an adaptive run."""
    relative = tolerance("rtol", rtol, RTOL if atol is None else 0.0)
    absolute = tolerance("atol", atol, 0.0)
    if relative + absolute < integrator.tightest:
        raise InputError(
            f"rtol={relative!r} and atol={absolute!r} ask method {integrator.name!r} for more than"
            f" rounding allows: give rtol={integrator.tightest:g} or more"
        )
    return relative, absolute


def step_limits(arguments: Arguments) -> tuple[float, float, int]:
    """Return (first step, largest step, most trial steps), by default 0, infinity, 10 million."""
    found = []
    for name, default in (("first_step", 0.0), ("max_step", math.inf)):
        value = getattr(arguments, name)
        number = number_or_nan(default if value is None else value)
        if not (number > 0.0 or value is None) or math.isnan(number):
            raise InputError(f"{name} must be a positive number of seconds, got {value!r}")
        found.append(number)
    given = arguments.max_steps
    most = number_or_nan(MAX_STEPS if given is None else given)
    if not (most >= 1.0 and most == np.floor(most)):
        raise InputError(
            f"max_steps must be a whole number of trial steps, or math.inf, got {given!r}"
        )
    return min(found), found[1], int(min(most, MOST_STEPS))


def breaks(breakpoints: Any, t0: float, t1: float) -> list[float]:
    """Return t0, the times at which a run stops and restarts, and t1."""
    if breakpoints is None:
        return [t0, t1]
    times = np.unique(times_of(breakpoints, "breakpoints"))
    inside = times[(times > min(t0, t1)) & (times < max(t0, t1))].tolist()
    return [t0, *(inside if t1 >= t0 else inside[::-1]), t1]


def positive(dt: Any, method: str) -> float:
    """Return the step of a method with fixed steps."""
    if dt is None:
        why = " when there is a torque" if method == AUTO else ""
        raise MethodError(f"method {method!r} takes fixed steps{why}: give dt=")
    try:
        value = float(dt)
    except (TypeError, ValueError):
        raise InputError(f"dt must be a number of seconds, got {dt!r}") from None
    if not (math.isfinite(value) and value > 0):
        raise InputError(
            f"dt must be positive and finite, got {dt!r}; to go back in time let t_span end before"
            " it starts"
        )
    return value


def times_of(values: Any, argument: str = "t_eval") -> np.ndarray:
    """Return the times of an argument as an array."""
    try:
        times = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{argument} must be times, got {values!r}") from None
    if times.ndim != 1 or len(times) == 0:
        raise InputError(f"{argument} must be a list of times, got an array of shape {times.shape}")
    if not np.isfinite(times).all():
        raise InputError(
            f"{argument} must be finite, but {argument}[{np.argmin(np.isfinite(times))}] is not"
        )
    return times


def times_within(values: Any, t0: float, t1: float, argument: str) -> np.ndarray:
    """Return the times of an argument, which lie inside the span and in the order of the motion."""
    return in_order(times_of(values, argument), t0, t1, argument)


def in_order(times: np.ndarray, t0: float, t1: float, name: str = "t_eval") -> np.ndarray:
    """Check that times lie inside the span and in the order of the motion; return them."""
    forward = t1 >= t0
    wrong = np.flatnonzero((times < min(t0, t1)) | (times > max(t0, t1)))
    if len(wrong):
        value = float(times[wrong[0]])
        raise InputError(f"{name}[{wrong[0]}] = {value!r} is outside t_span ({t0}, {t1})")
    order = np.diff(times) if forward else -np.diff(times)
    if (order < 0).any():
        place = int(np.argmax(order < 0)) + 1
        raise InputError(
            f"{name} must go from start to end of t_span, but {name}[{place}] ="
            f" {float(times[place])!r} comes after {float(times[place - 1])!r}"
        )
    return times
