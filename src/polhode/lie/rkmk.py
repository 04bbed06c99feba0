"""Runge-Kutta-Munthe-Kaas methods for the generator in any Lie group, from a movable base point.

    left:   Y' = A(t, Y) Y,    Y = exp(r) Y₀,    r' = dexpinv_r A                        (1)
    right:  Y' = Y A(t, Y),    Y = Y₀ exp(r),    r' = dexpinv_{-r} A                     (2)

The generator r lives in a vector space, where any Runge-Kutta method applies and Y cannot leave the
group.  A step from r at t, with the upper sign for the left side and Y_i the element of r_i,

    r_i = r + h Σ_j a_ij k_j,    k_i = dexpinv_{±r_i} A(t + c_i h, Y_i)                  (3)
    r' = r + h Σ_i b_i k_i,    error  e = h Σ_i (b_i - b̂_i) k_i                          (4)

When |r| reaches ``restart`` after a step, Y becomes the new base point Y₀ and r = 0.  With
restart=0 that happens in every step (Munthe-Kaas 1998); π is the reset of Boyle 2017, (20), but
needs no period; infinity is the naive generator, which runs into the singularities of dexpinv.
Since A is stored rather than k, a stage shared by two steps stays valid after a restart.

A step is accepted if max |e| ≤ atol + rtol |r' - r|: ``rtol`` is the error per unit of generator.
Implicit tableaus solve (3) by fixed-point iteration to rounding.  If A depends on time alone, it is
evaluated once per stage.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.contracts import Status, checks
from polhode.errors import InputError, MethodError
from polhode.lie.groups import SIDES, Group
from polhode.tableaus.embedded import PAIRS
from polhode.tableaus.runge_kutta import TABLEAUS, Tableau

RTOL, ATOL = 1e-9, 1e-12
MAX_STEPS = 10_000_000  # trial steps of an adaptive run
SAFETY, SLOWEST, FASTEST = 0.9, 0.2, 5.0
SWEEPS = 200  # limit of the fixed-point iteration, which needs far fewer if it converges
EPS = float(np.finfo(float).eps)
FINEST = 20 * EPS  # the smallest rtol that steps can meet

ADVICE = {
    Status.NOT_CONVERGED: "the implicit equations of the step did not converge; try a smaller dt,"
    " or an explicit method",
    Status.NOT_FINITE: "the generator or a is not finite; try a smaller dt, and check a at this"
    " time",
    Status.STEP_TOO_SMALL: "the step size fell to the rounding of the time; loosen rtol or atol,"
    " check that a is finite here, or end t_span where a jumps and go on from there",
    Status.TOO_MANY_STEPS: "these and the rejected ones are max_steps; loosen the tolerance, look"
    " at the generator at this time, or give a larger max_steps",
}


@dataclass(frozen=True)
class Path:
    """Elements ``y[i]`` of the group at the times ``t[i]``, and the work done.

    Examples
    --------
    >>> from polhode import lie
    >>> path = lie.integrate(lie.SO3("right"), lambda t: [0.0, 0.0, 1.0], (0.0, 2.0), dt=0.5)
    >>> path.t.tolist(), path.success
    ([0.0, 0.5, 1.0, 1.5, 2.0], True)
    """

    group: Any
    t: NDArray
    y: NDArray
    nfev: int
    nsteps: int
    nrejected: int
    nrestarts: int
    status: Status
    message: str
    method: str = field(kw_only=True)

    @property
    def success(self) -> bool:
        return self.status == Status.OK

    def act(self, x: ArrayLike) -> NDArray:
        """Return the points moved by each element; x is one point, or one for each time."""
        return self.group.act(self.y, x)

    def __repr__(self) -> str:
        ended = "success" if self.success else "failed"
        return (
            f"Path in {getattr(self.group, 'name', type(self.group).__name__)} by {self.method}:"
            f" {ended}, {self.message}; {self.nsteps} steps, {self.nrejected} rejected,"
            f" {self.nrestarts} restarts, {self.nfev} evaluations"
        )


def integrate(
    group: Group,
    a: Callable[..., ArrayLike],
    t_span: Sequence[float],
    y0: ArrayLike | None = None,
    *,
    method: str | Tableau = "dopri5",
    dt: float | None = None,
    rtol: float | None = None,
    atol: ArrayLike | None = None,
    first_step: float | None = None,
    max_step: float | None = None,
    t_eval: ArrayLike | None = None,
    restart: float = 0.0,
    max_steps: int = MAX_STEPS,
) -> Path:
    """Integrate Y' = A Y (``group.side`` "left") or Y' = Y A ("right").

    Parameters
    ----------
    group : ``SO3(side)``, ``SE3(side)``, ``Lorentz(side)``, or a user-defined ``Group``
    a : ``a(t)`` or ``a(t, y)``, the generator A
    t_span : (start, end); the end may be before the start
    y0 : the initial element, by default the identity
    method : a name from ``ph.TABLEAUS``, "dopri5" or "bosh3", or a ``Tableau``
    dt : a fixed step; without it steps are adaptive, which needs "dopri5" or "bosh3"
    rtol, atol : the error of a step is at most atol + rtol times the length of its generator, by
        default 1e-9 and 1e-12; atol may have one value for each component
    first_step, max_step : first and largest adaptive step
    t_eval : times at which to return Y, reached by side steps that are never fed back; by default
        all steps
    restart : the length of the generator at which the base point moves; 0 moves it in every step
    max_steps : trial steps of an adaptive run, at most; then it ends with ``TOO_MANY_STEPS``

    Examples
    --------
    >>> from polhode import lie
    >>> path = lie.integrate(lie.SO3("right"), lambda t: [0.0, 0.0, 1.0], (0.0, 2.0), dt=0.5)
    >>> path.act([1.0, 0.0, 0.0])[-1].round(3)
    array([-0.416,  0.909,  0.   ])
    """
    tableau, low = _tableaus(method)
    t0, t1 = checks.span(t_span)
    if getattr(group, "side", None) not in SIDES:
        raise InputError(
            f"group must be a lie.Group with a side, such as SO3('left'), got {group!r}"
        )
    equation = _Equation(group, a, tableau)
    start = _first(group, y0)
    restart = _number("restart", restart, least=0.0)
    if dt is not None:
        given = {"rtol": rtol, "atol": atol, "first_step": first_step, "max_step": max_step}
        for name, value in given.items():
            if value is not None:
                raise MethodError(
                    f"{name}={value!r} is for adaptive steps and dt={dt!r} fixes them; leave out"
                    " one of them"
                )
        steps: Any = _Fixed(t0, t1, _number("dt", dt))
    elif low is None:
        raise MethodError(
            f"method {tableau.name!r} has no error estimate: give dt=, or use one of"
            f" {', '.join(PAIRS)}"
        )
    else:
        steps = _Adaptive(
            t0,
            t1,
            tableau,
            low,
            rtol=_relative(RTOL if rtol is None else rtol),
            atol=_tolerances(ATOL if atol is None else atol, group.zero, rtol),
            first_step=None if first_step is None else _number("first_step", first_step),
            max_step=math.inf if max_step is None else _number("max_step", max_step),
        )
    times = None if t_eval is None else _times(t_eval, t0, t1)
    most = checks.whole(max_steps, "max_steps", 1)
    return _run(equation, steps, t0, t1, start, times, restart, most)


def _run(equation, steps, t0, t1, y, times, restart, most) -> Path:
    """Step from t0 to t1 with base point and generator (base, r); y is their element."""
    group, output = equation.group, _Output(times, t0, y)
    t, base, r, first = t0, y, group.zero, None
    count = rejected = restarts = 0
    status = Status.OK
    while t != t1:
        if first is None and equation.begins:
            first = equation.value(t, y)
        end = steps.end(t, first)
        if end == t or (steps.retries and count + rejected == most):
            status = Status.STEP_TOO_SMALL if end == t else Status.TOO_MANY_STEPS
            break
        h = end - t
        ks, last, converged = equation.stages(t, h, base, r, first)
        change = h * np.tensordot(equation.b, ks, 1)  # (4)
        if not converged or not np.isfinite(change).all():
            if steps.retries:
                steps.reject(h)
                rejected += 1
                continue
            status = Status.NOT_FINITE if converged else Status.NOT_CONVERGED
            break
        if not steps.accepts(h, ks, change):
            rejected += 1
            continue
        output.add_inside(equation, t, end, base, r, first)
        count += 1
        t, r = end, r + change
        y = equation.moved(base, r)
        if np.linalg.norm(r) >= restart:
            base, r = y, group.zero
            restarts += 1
        first = last if equation.shares else None
        output.add(t, y)
    message = f"reached t = {t:.9g}"
    if status != Status.OK:
        message = f"stopped at t = {t!r} after {count} steps: {ADVICE[status]}"
    return Path(
        group,
        np.array(output.ts),
        np.array(output.ys).reshape(len(output.ts), *np.shape(group.identity)),
        equation.nfev,
        count,
        rejected,
        restarts,
        status,
        message,
        method=equation.tableau.name,
    )


class _Output:
    """The elements at the ends of steps, or at given ``times``."""

    def __init__(self, times: NDArray | None, t0: float, y: Any):
        self.at_steps = times is None
        self.pending = [] if times is None else list(times[::-1])
        self.ts: list[float] = []
        self.ys: list[Any] = []
        self.add(t0, y)

    def add(self, t: float, y: Any) -> None:
        """Add the element at the end of a step, if it is an output."""
        if self.at_steps or (self.pending and self.pending[-1] == t):
            self.ts.append(self.pending.pop() if self.pending else t)
            self.ys.append(y)

    def add_inside(self, equation: "_Equation", t: float, end: float, base, r, first) -> None:
        """Add the elements at the times inside a step, by shorter steps from its start."""
        while self.pending and (self.pending[-1] - end) * (end - t) < 0:
            side = self.pending[-1] - t
            some, _, _ = equation.stages(t, side, base, r, first)
            self.ts.append(self.pending.pop())
            self.ys.append(equation.moved(base, r + side * np.tensordot(equation.b, some, 1)))


class _Equation:
    """The right-hand side (3) for a group, tableau and function; counts evaluations."""

    def __init__(self, group: Group, a: Callable, tableau: Tableau):
        rows, b, c = tableau.converted(float)
        self.group, self.tableau, self.nfev = group, tableau, 0
        self.a, self.b, self.c = np.array(rows), np.array(b), c
        self.sign = 1.0 if group.side == "left" else -1.0
        self.begins = not any(rows[0])  # the first stage is at the start of the step
        self.shares = self.begins and tableau.explicit and rows[-1] == b  # and the last at its end
        self.given, self.of_time = a, _takes_time_only(a)

    def value(self, t: float, y: Any) -> NDArray:
        """Return A(t, Y), checked."""
        self.nfev += 1
        given = self.given(t) if self.of_time else self.given(t, y)
        value, zero = np.asarray(given), self.group.zero
        if value.shape != zero.shape or not np.can_cast(value.dtype, zero.dtype, "same_kind"):
            raise InputError(
                f"a must return {zero.dtype} of shape {zero.shape} for this group, but at t = {t!r}"
                f" it returned {given!r}"
            )
        return value.astype(zero.dtype)

    def moved(self, base: Any, r: NDArray) -> NDArray:
        """Return exp(r) Y₀ or Y₀ exp(r)."""
        with np.errstate(all="ignore"):
            turn = self.group.exp(r)
            pair = (turn, base) if self.sign > 0 else (base, turn)
            return self.group.compose(*pair)

    def rate(self, r: NDArray, value: NDArray) -> NDArray:
        """Return dexpinv_{±r} A."""
        with np.errstate(all="ignore"):
            return self.group.dexpinv(self.sign * r, value)

    def stages(self, t, h, base, r, first):
        """The k_i of (3), A at the last stage, and whether the iteration converged."""
        size = len(self.b)
        values: list[Any] = [first, *[None] * (size - 1)]
        ks = np.zeros((size, *r.shape), r.dtype)

        def sweep():
            for i in range(size):
                r_i = r + h * np.tensordot(self.a[i], ks, 1)  # (3)
                if values[i] is None or not (self.of_time or (i == 0 and self.begins)):
                    y = None if self.of_time else self.moved(base, r_i)
                    values[i] = self.value(t + self.c[i] * h, y)
                ks[i] = self.rate(r_i, values[i])

        sweep()
        if self.tableau.explicit:
            return ks, values[-1], True
        before = math.inf
        for _ in range(SWEEPS):
            old = ks.copy()
            sweep()
            change, scale = abs(ks - old).max(), abs(ks).max()
            if change <= 2 * EPS * scale or before <= change <= 100 * EPS * scale:
                return ks, values[-1], True
            if not math.isfinite(change):
                return ks, values[-1], not np.isfinite(np.array(values)).all()
            before = change
        return ks, values[-1], False


# ---- the lengths of steps
class _Fixed:
    """Steps at t₀ + k dt; the last is shorter unless the span is a multiple of dt within 1e-9."""

    retries = False

    def __init__(self, t0: float, t1: float, dt: float):
        span = abs(t1 - t0)
        if span / dt > 1e9:
            raise InputError(f"dt={dt!r} means {span / dt:.3g} steps; use a larger one")
        self.count = round(span / dt)
        whole = self.count > 0 and abs(span / dt - self.count) <= max(1e-9, 4 * self.count * EPS)
        self.count = self.count if whole else math.ceil(span / dt)
        self.t0, self.t1, self.k = t0, t1, 0
        self.dt = (t1 - t0) / self.count if whole else math.copysign(dt, t1 - t0)

    def end(self, t, first):
        self.k += 1
        return self.t1 if self.k == self.count else self.t0 + self.k * self.dt

    def accepts(self, h, ks, change):
        return True


class _Adaptive:
    """Adaptive steps, controlled by the error (4); h = (t + h) - t exactly."""

    retries = True

    def __init__(self, t0, t1, tableau, low, *, rtol, atol, first_step, max_step):
        self.t1, self.sign = t1, math.copysign(1.0, t1 - t0)
        self.rtol, self.atol, self.h, self.max_step = rtol, atol, first_step, max_step
        self.weights = np.array([float(x - y) for x, y in zip(tableau.b, low.b, strict=True)])
        self.power, self.grows = 1 / (low.order + 1), True

    def end(self, t, first):
        rest = abs(self.t1 - t)
        if self.h is None:
            rate, tolerance = np.linalg.norm(first), self.rtol + self.atol.max()
            self.h = 0.5 * tolerance**self.power / rate if 0 < rate < math.inf else 1e-3 * rest
        h = min(self.h, self.max_step)
        if h >= rest * (1 - 1e-12):
            return self.t1
        if h <= 4 * EPS * max(abs(t), EPS * rest):
            return t
        return t + self.sign * min(h, 0.5 * rest)  # no sliver at the end

    def accepts(self, h, ks, change):
        e = abs(h * np.tensordot(self.weights, ks, 1))  # (4)
        allowed = self.atol + self.rtol * float(np.linalg.norm(change))
        error = (e[e > 0] / allowed[e > 0]).max(initial=0.0)
        best = SAFETY * error**-self.power if error > 0 else FASTEST
        factor = max(SLOWEST, min(FASTEST if self.grows else 1.0, best))
        self.grows = bool(error <= 1)
        self.h = abs(h) * factor
        return self.grows

    def reject(self, h):
        """Shorten the next step after one whose result is not finite."""
        self.h, self.grows = SLOWEST * abs(h), False


# ---- checks of the arguments
def _tableaus(method: str | Tableau) -> tuple[Tableau, Tableau | None]:
    if isinstance(method, Tableau):
        return method, None
    if isinstance(method, str) and method in PAIRS:
        return PAIRS[method]
    if isinstance(method, str) and method in TABLEAUS:
        return TABLEAUS[method], None
    raise MethodError(
        f"method must be a Tableau or one of {', '.join([*PAIRS, *TABLEAUS])}, got {method!r}"
    )


def _takes_time_only(a: Callable) -> bool:
    if not callable(a):
        raise InputError(f"a must be a function a(t) or a(t, y), got {a!r}; constant: lambda t: A")
    try:
        parameters = inspect.signature(a).parameters.values()
    except (TypeError, ValueError):
        return True
    given = [p for p in parameters if p.default is p.empty and p.kind <= p.POSITIONAL_OR_KEYWORD]
    if len(given) not in (1, 2):
        names = ", ".join(p.name for p in given)
        raise InputError(f"a must take (t) or (t, y), got a function of ({names})")
    return len(given) == 1


def _first(group: Any, y0: ArrayLike | None) -> NDArray:
    identity = np.asarray(group.identity)
    if y0 is None:
        return identity
    try:
        y = np.array(y0, identity.dtype)
    except (TypeError, ValueError):
        raise InputError(f"y0 must be {identity.dtype} numbers, got {y0!r}") from None
    if y.shape != identity.shape or not np.isfinite(y).all():
        raise InputError(
            f"y0 must be {identity.shape} finite numbers like group.identity, got {y0!r}"
        )
    if hasattr(group, "defect") and not group.defect(y) < 1e-9:
        raise InputError(
            f"y0 is not in the group, got {y0!r}, where y ȳ departs from 1 by"
            f" {group.defect(y):.1e}; make it by group.exp and group.compose, or normalise it"
        )
    return y


def _number(name: str, value: Any, least: float | None = None) -> float:
    number = checks.number(value, name)
    if least is None and not 0 < number < math.inf:
        raise InputError(
            f"{name} must be positive and finite, got {value!r}; to go back in time let t_span end"
            " before it starts"
        )
    if least is not None and not number >= least:
        raise InputError(f"{name} must be at least {least:g}, got {value!r}")
    return number


def _relative(rtol: Any) -> float:
    number = _number("rtol", rtol, least=0.0)
    if 0 < number < FINEST:
        raise InputError(
            f"rtol must be 0 or at least {FINEST:.1e}, the rounding of a step, got {rtol!r}"
        )
    return number


def _tolerances(atol: ArrayLike, zero: NDArray, rtol: float | None) -> NDArray:
    try:
        values = np.broadcast_to(np.asarray(atol, float), zero.shape)
    except (TypeError, ValueError):
        raise InputError(
            f"atol must be one number or one for each component {zero.shape}, got {atol!r}"
        ) from None
    if not (values >= 0).all() or (rtol == 0 and not (values > 0).all()):
        raise InputError(f"atol must not be negative, nor 0 together with rtol, got {atol!r}")
    return values


def _times(t_eval: ArrayLike, t0: float, t1: float) -> NDArray:
    try:
        times = np.array(t_eval, float)
    except (TypeError, ValueError):
        raise InputError(f"t_eval must be times, got {t_eval!r}") from None
    if times.ndim != 1 or len(times) == 0:
        raise InputError(f"t_eval must be a list of times, got an array of shape {times.shape}")
    sign = math.copysign(1.0, t1 - t0)
    inside = (sign * times >= sign * t0) & (sign * times <= sign * t1)
    if not inside.all():
        i = int(np.argmin(inside))
        raise InputError(f"t_eval[{i}] = {times[i]!r} is outside t_span ({t0!r}, {t1!r})")
    if (sign * np.diff(times) <= 0).any():
        i = int(np.argmax(sign * np.diff(times) <= 0))
        raise InputError(
            f"t_eval must go from start to end, but t_eval[{i + 1}] = {times[i + 1]!r} follows"
            f" {times[i]!r}; sort it and drop repeated times"
        )
    return times
