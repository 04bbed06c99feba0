"""``fit``: the state, the body and the parameters of a model from observations."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from polhode.contracts import Coordinates, Formulation, Integrator, Method
from polhode.contracts.checks import positive, whole
from polhode.errors import InputError
from polhode.fits.bodies import BodyUnknowns
from polhode.fits.holds import holds_of
from polhode.fits.motion import Motion, span_of
from polhode.fits.observe import Observation
from polhode.fits.rates import RateUnknowns
from polhode.fits.result import Fit
from polhode.fits.search import LOSSES, search
from polhode.fits.undetermined import check_determined
from polhode.fits.unknowns import unknowns_of
from polhode.problems.problem import Problem
from polhode.solvers.angular_velocity import prepare_angular_velocity
from polhode.solvers.arguments import AUTO
from polhode.solvers.entry import prepare
from polhode.solvers.rate_problem import RateProblem

OURS = frozenset(  # arguments of solvers that a fit decides
    {"problem", "t_eval", "save_every", "events", "progress", "checkpoint", "checkpoint_every"}
    | {"sensitivities"}
)


def fit(
    problem: Problem | RateProblem,
    observations: Observation | Iterable[Observation],
    *,
    free: str | Iterable[str],
    hold: str | Mapping[str, float] | Callable | Iterable[Any] = (),
    t_span: Any = None,
    method: str | Method | Integrator = AUTO,
    formulation: str | Formulation | Coordinates | None = None,
    dt: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    loss: str = "linear",
    loss_scale: float = 1.5,
    max_iterations: int = 300,
    **arguments: Any,
) -> Fit:
    """Fit a problem to observations: least squares with the exact derivatives of the motion.

    Parameters
    ----------
    problem : where the search starts; what is not free stays as it is there.  A ``Problem``, or a
        ``RateProblem`` whose angular velocity is given
    observations : one set or several, made by ``ph.observe``
    free : names of the unknowns.  "state" is all of the initial state: "attitude",
        "angular_momentum", with a position "position" and "velocity", and the model's variables;
        "omega" may take the place of the momentum.  "inertia" is the whole tensor in body axes,
        "moments" the principal moments about fixed axes, "mass" the mass; "model.strength" and
        others are parameters of the model, "function.albedo" one of an observed function.  Where
        the inertia is free and no momentum is, the angular velocity stays.  Of a ``RateProblem``
        "attitude", and variables and parameters by their own names
    hold : combinations that keep the values of ``problem``: "trace of inertia", "sum of moments",
        "largest moment", "|angular momentum|", a quantity, a single number such as "inertia.Ixx", a
        mapping of such numbers to coefficients of a sum, or a function of the values by name (an
        attitude is there (w, x, y, z))
    t_span : (start, end); the state of the problem is that at the start.  By default from the first
        observation to the last
    method, formulation, dt, rtol, atol, arguments : as in ``ph.solve``; "auto" chooses once, by the
        problem as it was given
    loss : "linear", the sum of squares, or a loss of SciPy's ``least_squares`` for observations
        with outliers: "soft_l1", "huber", "cauchy", "arctan"
    loss_scale : standard deviations from which on such a loss counts less than the square
    max_iterations : steps tried, in all

    Returns
    -------
    Fit; ``success`` is False if the search did not converge, and ``message`` says why.  Unknowns
    that the observations do not determine are an error that names them.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> truth = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), omega=[0.3, 1.0, 0.2])
    >>> run = ph.solve(truth, (0, 20))
    >>> noise = np.random.default_rng(1).normal(0, 1e-3, run.omega.shape)
    >>> guess = ph.Problem(ph.RigidBody([1.1, 1.9, 2.5]), omega=[0.3, 1.0, 0.2])
    >>> gyro = ph.observe.rates(run.t, run.omega + noise, sigma=1e-3)
    >>> fit = ph.fit(guess, gyro, free=["angular_momentum", "moments"], hold="largest moment")
    >>> bool(abs(fit.values["moments"] / [1.0, 2.0, 2.5] - 1).max() < 0.01)
    True
    """
    if not isinstance(problem, (Problem, RateProblem)):
        raise InputError(f"problem must be a Problem, from which the fit starts, got {problem!r}")
    sets = _sets(observations, problem)
    if loss not in LOSSES:
        raise InputError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
    scale = positive(loss_scale, "loss_scale")
    most = whole(max_iterations, "max_iterations", 1)
    kind = BodyUnknowns if isinstance(problem, Problem) else RateUnknowns
    unknowns = unknowns_of(kind, problem, sets, free)
    if not len(unknowns):
        raise InputError("free names nothing, so there is nothing to fit")
    holds = holds_of(unknowns, hold)
    motion = Motion(unknowns, span_of(sets, t_span), {
        "method": method, "formulation": formulation, "dt": dt, "rtol": rtol, "atol": atol,
        **_checked(arguments, problem),
    })  # fmt: skip
    reached = search(motion, holds, loss, scale, most)
    check_determined(reached.unknowns, holds, reached.u, reached.here.slopes, reached.slopes)
    return Fit(reached, holds, loss, scale)


def _sets(observations: Any, problem: Problem | RateProblem) -> tuple[Observation, ...]:
    """Return the sets of observations, with different names."""
    try:
        given = (observations,) if isinstance(observations, Observation) else tuple(observations)
    except TypeError:
        given = ()
    if not given or not all(isinstance(one, Observation) for one in given):
        raise InputError(
            "observations must be made by ph.observe: ph.observe.attitudes(t, R, sigma=…),"
            f" got {observations!r}"
        )
    names: set[str] = set()
    for one in given:
        if one.moves and not problem.moves:
            raise InputError(
                f"{one.name}: a position was observed, and the problem has none: give position= to"
                " the Problem"
            )
        if one.has_rates and isinstance(problem, RateProblem):
            raise InputError(
                f"{one.name}: the angular velocity of a RateProblem is given; observe attitudes or"
                " directions"
            )
        if one.name in names:
            raise InputError(f"two sets of observations are called {one.name!r}: give name= to one")
        names.add(one.name)
    return given


def _checked(arguments: Mapping[str, Any], problem: Problem | RateProblem) -> Mapping[str, Any]:
    """Return further arguments of solvers, which must be some that a fit passes on."""
    for name in arguments:
        if name not in (known := _known(isinstance(problem, Problem))):
            raise InputError(
                f"fit has no argument {name}=; those of solvers are {', '.join(sorted(known))}"
            )
    return arguments


@cache
def _known(has_body: bool) -> set[str]:
    """Return the arguments of solvers that a fit passes on."""
    solver = prepare if has_body else prepare_angular_velocity
    return (
        inspect.signature(solver).parameters.keys() - OURS - {f.name for f in fields(RateProblem)}
    )
