"""``integrate_angular_velocity``: the attitude that follows from a given angular velocity."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from polhode.compiler.dual import ON_DUAL, lifted
from polhode.compiler.tree import bind, flat, gather, spread
from polhode.contracts import OK, ORIGIN, Formulation, Integrator, Rate
from polhode.contracts import variables as variables_in
from polhode.contracts.checks import span
from polhode.contracts.company import company_of, named_variables, values_in, zeros
from polhode.errors import InputError, MethodError
from polhode.formulations.equations import IDENTITY
from polhode.kernels.quaternion import to_body
from polhode.kernels.rules import RULES
from polhode.kernels.trig import ELEMENTARY
from polhode.kernels.tuples import as_floats, strictly_floats
from polhode.loops.join import bind_integrator
from polhode.loops.tangents import form_of
from polhode.models.user import reads_argument, split_params
from polhode.problems.problem import quaternion
from polhode.results.details import Details
from polhode.results.trajectory import Trajectory
from polhode.solvers.adaptive_steps import (
    AdaptiveRun,
    Motion,
    StepsTaken,
    collect_steps,
    differentiated,
    row_at_break,
    run_adaptive,
    whole_run,
)
from polhode.solvers.arguments import (
    AUTO,
    RTOL,
    Arguments,
    answers_habits,
    breaks,
    find_integrator,
    find_kinematic,
    positive,
    step_limits,
    tolerance,
)
from polhode.solvers.events import Beside, Watch
from polhode.solvers.fixed_steps import plan, take_steps
from polhode.solvers.jumps import rows_at_event, with_jump
from polhode.solvers.progress import reporter
from polhode.solvers.sensitivities import rate_directions_of
from polhode.solvers.solver import Output

ROTOR = "rotor"
IN_LANES, ONE_BY_ONE = "extrapolation", "vern9"  # for omega(t, q), by measurement
FRAMES = "body", "inertial"
LONGER_STEPS = "all are needed for the attitude between them; take a larger dt"
SPACING = 1e-3  # of the differences for dω/dt, in steps


@answers_habits
def integrate_angular_velocity(
    omega: Callable,
    t_span: Sequence[float],
    *,
    frame: str,
    attitude: Any = None,
    scalar_first: bool | None = None,
    method: str | Integrator = AUTO,
    formulation: str | Formulation = ROTOR,
    dt: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    first_step: float | None = None,
    max_step: float | None = None,
    max_steps: float | None = None,
    breakpoints: Any = None,
    t_eval: Any = None,
    save_every: int = 1,
    events: Any = None,
    progress: bool | Callable[[float], None] = False,
    variables: Mapping[str, Any] | None = None,
    slope: Callable | None = None,
    params: Any = (),
    scale: Mapping[str, float] | None = None,
    sensitivities: Any = None,
) -> Trajectory:
    """Integrate a given angular velocity to attitudes.

    Parameters
    ----------
    omega : a function ``omega(t)`` or ``omega(t, q)``, q = (w, x, y, z) of unit length, that
        returns three numbers in rad/s; with ``params``, ``omega(t, q, params)``.  Compiled if
        possible
    t_span : (start, end); the end may be before the start
    frame : "body" (as a gyro fixed to the body measures it) or "inertial", the axes of omega.
        There is no default: the wrong one gives a wrong motion that looks right
    attitude : at the start: a SciPy ``Rotation`` or a 3×3 matrix, body to inertial, or four numbers
        with ``scalar_first``; by default the identity
    method : a name from ``ph.INTEGRATORS``, or "auto": "gauss-taylor" for ``omega(t)``, whose
        equation is linear, and for ``omega(t, q)`` "extrapolation", or "vern9" if omega does not
        take four numbers at once: if it branches on values of t or q, or cannot be compiled
    formulation : the variables, a name from ``ph.FORMULATIONS``; "gauss-taylor" and the Magnus
        methods use rotors
    dt : the step of "magnus4", "magnus6", "magnus8", "rk4" and "gauss"
    rtol, atol : of the other methods.  The variables are of size 1, so that both mean the same:
        their sum bounds the error of a step, of each component (of the whole turn for
        "gauss-taylor"); by default 1e-9
    first_step, max_step : omega with a short pulse needs ``max_step``
    max_steps : of an adaptive method, as in ``solve``
    breakpoints : times at which omega is not smooth; the run restarts there
    t_eval, save_every, events, progress : as in ``solve``
    variables : names and initial values of variables y that are integrated with the attitude, each
        a number or a sequence of numbers.  Then ``omega(t, q, y, params)`` is the rate and
        ``slope(t, q, y, params)`` is dy/dt, of the same form as y: with one variable its value,
        with several a tuple of their values.  Without ``slope``, omega returns (rate, dy/dt)
    params, scale : of ``omega`` and ``slope``, as in ``ph.coupled``
    sensitivities : names of what the motion is differentiated by: "attitude", variables and
        parameters by their names, or "state" for attitude and variables; or a
        ``ph.Sensitivities``.  ``run.stm`` is then (n, 3, 3), with variables larger

    Returns
    -------
    Trajectory, with ``omega`` in body axes and without a body

    Examples
    --------
    >>> import math, polhode as ph
    >>> coning = lambda t: (0.1 * math.cos(t), 0.1 * math.sin(t), 1.0)
    >>> run = ph.integrate_angular_velocity(coning, (0, 100), frame="body", rtol=1e-12)
    >>> run.method
    'gauss-taylor:12'
    """
    solver = prepare_angular_velocity(
        omega, frame=frame, method=method, formulation=formulation, dt=dt, rtol=rtol, atol=atol,
        first_step=first_step, max_step=max_step, max_steps=max_steps, breakpoints=breakpoints,
        t_eval=t_eval, save_every=save_every, events=events, progress=progress,
        variables=variables, slope=slope, params=params, scale=scale, sensitivities=sensitivities,
    )  # fmt: skip
    return solver(t_span, attitude=attitude, scalar_first=scalar_first)


def prepare_angular_velocity(
    omega: Callable,
    *,
    frame: str,
    method: str | Integrator = AUTO,
    formulation: str | Formulation = ROTOR,
    dt: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    first_step: float | None = None,
    max_step: float | None = None,
    max_steps: float | None = None,
    breakpoints: Any = None,
    t_eval: Any = None,
    save_every: int = 1,
    events: Any = None,
    progress: bool | Callable[[float], None] = False,
    variables: Mapping[str, Any] | None = None,
    slope: Callable | None = None,
    params: Any = (),
    scale: Mapping[str, float] | None = None,
    sensitivities: Any = None,
) -> "RateSolver":
    """Prepare a reusable compiled solver for one omega: ``solver(t_span, attitude=…)``.

    Examples
    --------
    >>> import math, polhode as ph
    >>> nodding = lambda t: (0.1 * math.cos(t), 0.0, 1.0)
    >>> solver = ph.prepare_angular_velocity(nodding, frame="body", rtol=1e-10)
    >>> solver((0, 10)).success, solver((0, -10)).success
    (True, True)
    """
    arguments = Arguments(
        method, formulation, dt, rtol, atol, first_step, max_step, max_steps, breakpoints, t_eval,
        save_every, events, progress=progress, sensitivities=sensitivities,
    )  # fmt: skip
    if variables is None:
        if slope is not None or scale is not None:
            raise InputError("slope= and scale= are for variables: give variables=, too")
        return RateSolver(_rate(omega, frame, params), arguments)
    rate = _coupled_rate(omega, frame, variables, slope, params, scale)
    return RateSolver(rate, arguments)


class RateSolver:
    """An integrator bound to an angular velocity; see ``prepare_angular_velocity``."""

    def __init__(self, rate: Rate, keywords: Arguments):
        self.rate, self.omega = rate, rate.user[0]
        self.name = ""  # of what turns so, in the facts of a run
        self.company = company_of(self.rate)
        place = None if self.company is None else Beside(7, self.company.pattern)
        self.keywords, self.output = keywords, Output(keywords, place)
        self.tolerances = 0.0, _tolerance(keywords)
        self.formulation = find_kinematic(keywords.formulation, ROTOR)
        given = keywords, self.rate, self.formulation, self.tolerances[1]
        found, self.reason = _find_integrator(*given)
        self.integrator = found.suited_for(self.tolerances[1])
        self.dt, self.arguments = _check(keywords, self.integrator, self.formulation, self.rate)
        self.limits = step_limits(keywords)
        self.directions = rate_directions_of(self.rate, keywords.sensitivities)
        self.params, wide = self.rate.params, {}
        if self.directions is not None:
            *_, self.params = self.directions.lifted(IDENTITY)
            self.output.size += self.directions.room
            wide = {"width": self.directions.width, "form": form_of(self.params[0])}
        self.loops = bind_integrator(self.integrator, self.formulation, self.rate, **wide)
        looked_at = self.output.watch is not None or keywords.progress
        simple = not looked_at and keywords.breakpoints is None
        self._plain = simple and self.integrator.adaptive
        self._start: tuple | None = None
        self._row: tuple[tuple, np.ndarray] | None = None  # variables, and the numbers of a run
        self._at_once: Callable

    def __call__(
        self, t_span: Sequence[float], *, attitude: Any = None, scalar_first: bool | None = None
    ) -> Trajectory:
        """Integrate over ``t_span``, from an attitude (default: the identity)."""
        t0, t1 = span(t_span)
        q, first = self._from(attitude, scalar_first, t0)
        if self._plain:
            return self._take_all_steps(t0, t1, first, q)
        points = breaks(self.keywords.breakpoints, t0, t1)
        watch = None if self.output.watch is None else self.output.watch.fresh()
        run = self._adapt if self.integrator.adaptive else self._step
        taken = run(points, first, watch)
        found = collect_steps(self, self.integrator.name, taken, watch, t0, t1, q)
        return self.trajectory(*found, q)

    def _from(self, attitude: Any, scalar_first: bool | None, t0: float) -> tuple[tuple, tuple]:
        """Return (q, variables) at the start; those of the last call if nothing has changed."""
        if self._start is not None:
            before, order, *known = self._start
            fixed = attitude is None or type(attitude) is tuple  # others may change inside
            if fixed and attitude is before and order == scalar_first:
                return known[0], known[1]
        q = quaternion(attitude, scalar_first)
        if self._start is None:
            _try(self.rate, t0, q)
        if self.directions is None:
            first = *self.formulation.enter(q), *flat(self.rate.variables)
        else:
            wide, variables, _ = self.directions.lifted(q)
            first = *bind(self.formulation.enter, ON_DUAL)(wide), *variables
        self._start = attitude, scalar_first, q, first
        return q, first

    # ---- steps
    def _take_all_steps(self, t0: float, t1: float, first: tuple, q: tuple) -> Trajectory:
        """Take all adaptive steps and do nothing else: prepared solvers are called in loops."""
        row = self._fill(t0, first)
        table, found = self._at_once(row, t0, t1, self.params[1])
        if table is None or not self.output.every_step:
            if table is None:
                run = self._run((t0, t1), row, first)
                run.begun = found
                taken = run_adaptive(run)
            else:
                taken = StepsTaken(self.loops, table, first, (), self.params, self.tolerances)
                _, taken.rejected, taken.evaluations = found
            name = self.integrator.name
            return self.trajectory(*collect_steps(self, name, taken, None, t0, t1, q), q)
        facts = {
            "method": self.integrator.name,
            "nsteps": found[0],
            "rejected": found[1],
            "nfev": found[2],
            "body": None,
            "angular_momentum": None,
            "arguments": self.arguments,
            "reason": self.reason,
            "_details": AllSteps(self, table, first, q),
        }
        return Trajectory.of(facts)

    def _fill(self, t0: float, first: tuple) -> np.ndarray:
        """Return the row of numbers for a run from these variables."""
        if self._row is None:
            loops, params = self.loops, self.params
            carry = self._carried(loops.start(t0, 1.0, first, (), params), first)
            others = carry, (), params[0]
            loops.packed(first, *others)
            row = np.array([spread(((first, *others), self.limits[1], self.tolerances))])
            self._row = first, row
            width = 2 + len(spread(first))
            self._at_once = whole_run(loops, width, self.limits[0], self.limits[2])
        known, row = self._row
        row = row.copy()
        if first is not known:
            numbers = spread(first)
            row[0, : len(numbers)] = numbers
            self._row = first, row.copy()
        return row

    def _carried(self, carry: tuple, first: tuple) -> tuple:
        """Return a carry with as many directions as the variables have."""
        return carry if self.directions is None else lifted(carry, first[0])

    def _run(self, points: Sequence[float], row: np.ndarray, first: tuple) -> AdaptiveRun:
        numbers = row, first, (), self.params, self.tolerances
        return AdaptiveRun(self.loops, points, *numbers, self.limits[0], self.limits[2])

    def _adapt(self, points: Sequence[float], first: tuple, watch: Watch | None) -> StepsTaken:
        run = self._run(points, self._fill(points[0], first), first)
        if watch is None and not self.output.progress:
            return run_adaptive(run)
        look = None if watch is None else lambda taken: watch.look(taken.times, self.see(taken))
        with reporter(self.output.progress) as report:
            return run_adaptive(run, report, look)

    def _step(self, points: Sequence[float], first: tuple, watch: Watch | None) -> StepsTaken:
        """Take all steps of a method with fixed steps, from each breakpoint to the next."""
        loops, params, integrator = self.loops, self.params, self.integrator
        weights = np.ones(1), np.zeros(1)
        pieces: list[np.ndarray] = []
        breakpoints: list[int] = []
        status, count, iterations, state, raised = OK, 0, 0, first, []
        length = points[-1] - points[0] or 1.0
        with reporter(self.output.progress) as report:
            for t0, t1 in pairwise(points):
                if pieces:  # at the breakpoint itself omega may be either one
                    breakpoints.append(sum(map(len, pieces)))
                    pieces.append(row_at_break(t0, pieces[-1]))
                    t0 = math.nextafter(t0, t1)
                end = t1 if t1 == points[-1] else math.nextafter(t1, t0)
                grid = plan(t0, end, self.dt, remedy=LONGER_STEPS, size=self.output.size)
                out = np.empty((len(grid.ends), len(spread(first))))
                carry = self._carried(loops.start(t0, grid.h, state, (), params), first)
                others = carry, (), params[0]
                row, run = np.array([spread((state, *others))]), loops.packed(state, *others)

                def part(done, begin=(t0 - points[0]) / length, share=(end - t0) / length):
                    report(begin + done * share)

                status, rows, steps, its, _, *raised = take_steps(
                    run, row, t0, grid, *weights, params[1], out, part
                )
                count, iterations = count + steps + int(grid.sides[-1] != 0.0), iterations + its
                state = gather(first, iter(out[rows - 1].tolist())) if rows else state
                table = np.column_stack([grid.times, np.zeros(len(grid.times)), out])
                pieces.append(table[:rows])
                if status != OK:
                    break
        taken = StepsTaken(loops, np.concatenate(pieces), first, (), params, weights)
        taken.status, taken.breaks, taken.next_step = status, breakpoints, self.dt
        taken.raised = "".join(raised)
        if status != OK:
            taken.keep_attitudes()
        taken.evaluations = (
            len(points[1:]) * integrator.evaluations_at_start
            + count * integrator.evaluations
            + iterations * integrator.evaluations_per_iteration
        )
        return taken

    # ---- results
    def body_rates(self, times: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return ω in body axes, at rows (attitude, variables)."""
        out = np.empty((len(times), 3))
        given = np.ascontiguousarray(times), np.ascontiguousarray(rows), self.rate.params
        self.loops.velocities(*given, out)
        if not self.rate.inertial:
            return out
        return np.stack(to_body(tuple(rows[:, :4].T), tuple(out.T)), axis=1)

    def see(self, motion: Motion) -> Callable:
        """Return a function of times: rows (q, omega) in body axes, and the variables."""

        def see(times):
            rows = motion.at(times)
            return np.hstack([rows[:, :4], self.body_rates(times, rows), rows[:, 4:]])

        return see

    def slopes(self, taken: StepsTaken, times: np.ndarray) -> np.ndarray:
        """Return dω/dt in body axes, by differences over five times inside the run (error h⁴)."""
        low, high = min(taken.times[0], taken.times[-1]), max(taken.times[0], taken.times[-1])
        if low == high:  # no time passes, and the slope is unknown
            return np.full((len(times), 3), np.nan)
        place = np.clip(taken.places(times), 0, len(taken.times) - 2)
        d = SPACING * np.abs(np.diff(taken.times))[place]
        d = np.maximum(d, 64 * np.spacing(np.abs(times) + 1e-300))
        return differentiated(lambda t: self.body_rates(t, taken.at(t)), times, d, low, high)

    # ---- derivatives at events
    def with_jump(
        self, motion: Motion, watch: Watch, times: np.ndarray, rows: np.ndarray, first: tuple
    ) -> np.ndarray:
        return with_jump(self, motion, watch, times, rows, first)

    def seen_on_duals(self, t: float, row: np.ndarray, first: tuple) -> tuple:
        """Return (x, v, q, omega, y) of a row as numbers with derivatives, for events."""
        assert self.directions is not None
        q, y, params = self.directions.seen(row)
        if self.company is None:
            omega = self._on_duals(self.rate.velocity)(t, q, params)
        else:
            omega, _ = self._on_duals(self.rate.companion)(t, q, (*params, y))
        return ORIGIN, ORIGIN, q, to_body(q, omega) if self.rate.inertial else omega, y

    @staticmethod
    def _on_duals(function: Any) -> Callable:
        return bind(bind(bind(function, ELEMENTARY), RULES), ON_DUAL)

    def trajectory(self, taken, times, rows, facts, q) -> Trajectory:
        """Make a trajectory of attitudes at ``times``; None: those of the steps."""
        facts["t"], facts["body"], facts["angular_momentum"] = times, None, None
        facts["arguments"], facts["reason"] = self.arguments, self.reason
        facts["_details"] = RateDetails(self, taken, times, rows, q)
        return Trajectory.of(facts)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={v!r}" for k, v in self.arguments.items())
        return f"<RateSolver {self.integrator.name}, {arguments}>"


class RateDetails(Details):
    """What a trajectory of a given angular velocity computes on demand."""

    __slots__ = ("first", "rows", "solver", "source", "times")

    def __init__(self, solver, source, times, rows, first):
        self.solver, self.source, self.times, self.rows = solver, source, times, rows
        self.first = first

    def states(self):
        return self.source.states if self.rows is None else self.rows

    def motion(self):
        return self.states()[:, :4], None

    def variables(self):
        company = self.solver.company
        return {} if company is None else company.apart(self.states()[:, 4:])

    def omega(self):
        return self.solver.body_rates(self.times, self.states())

    def derivatives(self):
        directions = self.solver.directions
        return None if directions is None else directions.derivatives(self.states())

    def accelerations(self):
        return self.solver.slopes(self.source, self.times), None

    def sol(self, times, facts):
        rows = self.source.at(times)
        return self.solver.trajectory(self.source, times, rows, facts, self.first)

    def at_event(self, k, times, facts):
        solver = self.solver
        rows = rows_at_event(solver, self.source, k, times, self.first)
        return solver.trajectory(self.source, times, rows, facts, self.first)

    def problem(self):
        frame = "inertial" if self.solver.rate.inertial else "body"
        name = getattr(self.solver.omega, "__name__", "omega")
        facts: dict[str, Any] = {
            "name": self.solver.name,
            "model": f"{name} ({frame})",
            "attitude": list(self.first),
        }
        if self.solver.company is not None:
            facts["variables"] = values_in(self.solver.company, self.solver.rate.variables)
        return facts


class AllSteps(RateDetails):
    """Details of a run that returns all its adaptive steps, whose rows are in a ``table``."""

    __slots__ = ("_taken", "pattern", "table")
    _taken: StepsTaken
    rows = None

    def __init__(self, solver, table, pattern, first):
        self.solver, self.table, self.pattern, self.first = solver, table, pattern, first

    @property
    def times(self):
        return self.table[:, 0]

    @property
    def source(self):
        try:
            return self._taken
        except AttributeError:
            solver = self.solver
            known = self.pattern, (), solver.params, solver.tolerances
            self._taken = StepsTaken(solver.loops, self.table, *known)
            return self._taken


# ---- checks
def _find_integrator(
    keywords: Arguments, rate: Rate, formulation: Formulation, tolerance: float
) -> tuple[Integrator, str]:
    """Return the integrator, and why "auto" chose it."""
    method = keywords.method
    if method == "gauss-taylor" or (
        method == AUTO and not rate.takes_attitude and keywords.dt is None
    ):
        from polhode.integrators.gauss_taylor import choose

        return choose(tolerance), "the equation is linear in the attitude" if method == AUTO else ""
    if method != AUTO:
        return find_integrator(method), ""
    if keywords.dt is not None:
        return find_integrator("rk4" if rate.takes_attitude else "magnus6"), "dt was given"
    why = "omega depends on the attitude" if rate.companion is None else "there are variables"
    in_lanes, y = find_integrator(IN_LANES), (*formulation.enter(IDENTITY), *flat(rate.variables))
    if bind_integrator(in_lanes, formulation, rate).takes_fours(y, (), rate.params):
        return in_lanes, why
    return find_integrator(ONE_BY_ONE), f"{why}, and omega does not take four numbers at once"


def _check(
    keywords: Arguments, integrator: Integrator, formulation: Formulation, rate: Rate
) -> tuple[float, dict[str, Any]]:
    """Check that the arguments fit; return dt, and the arguments that results mention."""
    name, tolerance = integrator.name, _tolerance(keywords)
    if integrator.linear and rate.takes_attitude:
        raise MethodError(
            f"method {name!r} is for omega(t): with omega(t, q) or variables use extrapolation,"
            " vern9 or rk4"
        )
    if integrator.linear and formulation.name != ROTOR:
        raise MethodError(f"method {name!r} uses rotors: leave out formulation=")
    if integrator.adaptive:
        if keywords.dt is not None:
            raise MethodError(
                f"method {name!r} finds its steps itself: give rtol= (and max_step= to bound"
                " them), not dt="
            )
        if tolerance < integrator.tightest:
            raise InputError(
                f"rtol + atol = {tolerance!r} asks method {name!r} for more than rounding"
                f" allows: give {integrator.tightest:g} or more"
            )
        dt, arguments = 0.0, {"rtol": tolerance, **keywords.shown()}
    else:
        if keywords.rtol is not None or keywords.atol is not None:
            raise MethodError(f"method {name!r} takes fixed steps: give dt=, not rtol= or atol=")
        keywords.refuse(f"method {name!r} takes fixed steps", "first_step", "max_step", "max_steps")
        dt = positive(keywords.dt, name)
        arguments = {"dt": dt, **keywords.shown()}
    if formulation.name != ROTOR:
        arguments["formulation"] = formulation.name
    return dt, arguments


def _rate(omega: Any, frame: Any, params: Any) -> Rate:
    """Check omega and its frame, and describe them."""
    if frame not in FRAMES:
        raise InputError(f"frame must be 'body' or 'inertial', the axes of omega, got {frame!r}")
    if not callable(omega):
        raise InputError(
            f"omega must be a function omega(t) or omega(t, q), got {omega!r}; for a table of"
            " values there is ph.integrate_samples"
        )
    if not (isinstance(params, tuple) and not params):
        return _rate_with_params(omega, frame, params)
    try:
        needed = [
            p
            for p in inspect.signature(omega).parameters.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        count = len(needed)
    except (TypeError, ValueError):
        count = 1
    if count not in (1, 2):
        raise InputError(f"omega must take (t) or (t, q), but it takes {count} arguments")
    with_attitude = count == 2
    return Rate(
        velocity=_of_both(omega) if with_attitude else _of_time(omega),
        inertial=frame == "inertial",
        takes_attitude=with_attitude,
        user=(omega,),
    )


def _rate_with_params(omega: Callable, frame: str, params: Any) -> Rate:
    """Describe an omega that takes parameters."""
    try:
        inspect.signature(omega).bind(*range(3))
    except TypeError:
        raise InputError(
            "with params=, omega must be a function omega(t, q, params), but it takes"
            f" {inspect.signature(omega)}"
        ) from None
    except ValueError:
        pass
    names, values, arrays, given = split_params(params)

    def velocity(t, q, params):
        x, y, z = omega(t, q, given(params))
        return 1.0 * x, 1.0 * y, 1.0 * z

    return Rate(
        velocity=velocity,
        inertial=frame == "inertial",
        takes_attitude=reads_argument(omega, 1),
        user=(omega,),
        names=names,
        params=(values, arrays),
    )


def _coupled_rate(
    omega: Any, frame: Any, variables: Any, slope: Any, params: Any, scale: Any
) -> Rate:
    """Check omega and the slope of variables beside the attitude, and describe them."""
    if frame not in FRAMES:
        raise InputError(f"frame must be 'body' or 'inertial', the axes of omega, got {frame!r}")
    given_functions = {"omega": omega} if slope is None else {"omega": omega, "slope": slope}
    for name, function in given_functions.items():
        if not callable(function):
            raise InputError(
                f"with variables=, {name} must be a function {name}(t, q, y, params), got"
                f" {function!r}"
            )
        try:
            inspect.signature(function).bind(*range(4))
        except TypeError:
            raise InputError(
                f"with variables=, {name} must take (t, q, y, params), but it takes"
                f" {inspect.signature(function)}"
            ) from None
        except ValueError:
            pass
    names, start, scales = named_variables(variables, scale)
    called, values, arrays, given = split_params(params)
    as_slope = as_floats(zeros(start))

    def both(t, q, params):
        now = variables_in(params), given(params)
        return omega(t, q, *now), slope(t, q, *now)

    def together(t, q, params):
        return omega(t, q, variables_in(params), given(params))

    value = together if slope is None else both

    def companion(t, q, params):
        (x, y, z), rates = value(t, q, params)
        return (1.0 * x, 1.0 * y, 1.0 * z), as_slope(rates)

    def velocity(t, q, params):
        return companion(t, q, params)[0]

    return Rate(
        velocity=velocity,
        inertial=frame == "inertial",
        takes_attitude=True,
        user=tuple(given_functions.values()),
        names=called,
        params=(values, arrays),
        companion=companion,
        variables=start,
        variable_names=names,
        scales=scales,
    )


def _of_time(omega: Callable) -> Callable:
    def velocity(t, q, params):
        x, y, z = omega(t)
        return 1.0 * x, 1.0 * y, 1.0 * z

    return velocity


def _of_both(omega: Callable) -> Callable:
    def velocity(t, q, params):
        x, y, z = omega(t, q)
        return 1.0 * x, 1.0 * y, 1.0 * z

    return velocity


def _try(rate: Rate, t: float, q: tuple) -> None:
    """Call omega, and the slope if there is one, once in plain Python: their errors are shown."""
    function, params, name, what = rate.velocity, rate.params, "omega", "three numbers, rad/s"
    if rate.companion is not None:
        form, params = zeros(rate.variables), (*params, rate.variables)
        function = bind(rate.companion, {as_floats(form): strictly_floats(form)})
        name = "omega or slope" if len(rate.user) == 2 else name
        what += f", and dy/dt of the form of y, which is {rate.variables!r} at the start"
    try:
        value = flat(function(t, q, params))
    except Exception as error:
        raise InputError(
            f"{name} fails at t = {t!r}: {type(error).__name__}: {error}; it must return {what}"
        ) from error
    if not all(math.isfinite(x) for x in value):
        raise InputError(f"{name} is not finite at t = {t!r}: {value}")


def _tolerance(keywords: Arguments) -> float:
    """Return the error that a step may have, rtol + atol."""
    if keywords.rtol is None and keywords.atol is None:
        return RTOL
    total = tolerance("rtol", keywords.rtol, 0.0) + tolerance("atol", keywords.atol, 0.0)
    if total == 0.0:
        raise InputError("rtol and atol must not both be 0: give the error of a step, say 1e-9")
    return total
