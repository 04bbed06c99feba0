"""Models from user-defined torques, forces and potentials.

``torque(function)`` takes any ``function(t, q, omega, params)`` that returns three numbers, in body
or inertial axes.  ``force(function)`` takes ``function(t, x, v, q, omega, params)``, and the point
of the body at which it acts; so does ``torque``, if it depends on the position.
``potential(function)`` takes ``function(t, q, params)`` or ``function(t, x, q, params)`` alone; the
torque and the force are its derivatives along the turns and shifts of the body, by a complex step,
exact to rounding:

    T_k = -dV(q exp(a e_k)) / da = -Im V(q + i d q e_k / 2) / d,    d = 1e-100          (1)
    F_k = -dV(x + a e_k) / da = -Im V(x + i d e_k) / d                                  (2)

``coupled(function, variables)`` takes ``function(t, q, omega, y, params)``, which returns a torque
and the slope dy/dt of variables y that are integrated with the body.

The functions get the user's body axes, and positions and velocities in inertial axes.
``math.sin`` and ``math.cos`` in them become the library's own, so that one body, SIMD lanes and
plain Python agree to the last bit.
"""

import dis
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from polhode.compiler.dual import along, lifted, slopes_of, stripped, with_values
from polhode.compiler.machine import three_floats
from polhode.compiler.tables import as_table
from polhode.compiler.tree import flat
from polhode.contracts import (
    ORIGIN,
    Model,
    angular_velocity,
    attitude_of_body,
    inverse_mass,
    numbers,
    tables,
    to_body_axes,
    to_principal_axes,
)
from polhode.contracts import variables as variables_in
from polhode.contracts.checks import three
from polhode.contracts.company import named_variables, zeros
from polhode.errors import InputError
from polhode.kernels.quaternion import to_body, to_inertial
from polhode.kernels.tuples import as_floats
from polhode.kernels.vector import cross, multiply

RATES, MOVING_RATES = "(t, q, omega, params)", "(t, x, v, q, omega, params)"
COUPLED, MOVING_COUPLED = "(t, q, omega, y, params)", "(t, x, v, q, omega, y, params)"
PLACES, MOVING_PLACES = "(t, q, params)", "(t, x, q, params)"


def torque(
    function: Callable,
    params: Any = (),
    *,
    frame: str = "body",
    potential: Callable | None = None,
    depends_on_omega: bool | None = None,
    name: str | None = None,
) -> Model:
    """Make a model from a torque function.

    Parameters
    ----------
    function : ``function(t, q, omega, params)`` returning three numbers
        ``q`` is the attitude (w, x, y, z), body to inertial, ``omega`` the rate in body axes.  Or
        ``function(t, x, v, q, omega, params)``, with the position and velocity of the centre of
        mass in inertial axes: then the body has six degrees of freedom.
        It is compiled if possible; otherwise it runs as plain Python, with a warning.
    params : numbers, arrays, nested sequences of them, or a mapping of names to them, which the
        function gets by position, passed at run time.  An array with more than 16 numbers is a
        read-only array in the function, in machine code too: do not index it out of bounds
    frame : ``"body"`` or ``"inertial"``, the axes of what it returns
    potential : ``potential(t, q, params)``, or ``potential(t, x, q, params)`` for six degrees of
        freedom, if there is one; gives the trajectory its energy
    depends_on_omega : default: whether the code of ``function`` reads ``omega`` (or ``v``)

    Examples
    --------
    >>> import math, polhode as ph
    >>> def thruster(t, q, omega, params):
    ...     strength, damping = params
    ...     return strength * math.cos(t), -damping * omega[1], 0.0
    >>> model = ph.torque(thruster, {"strength": 0.1, "damping": 0.02})
    >>> problem = ph.Problem(ph.RigidBody([1, 2, 2.5]), model, omega=[0.1, 1, 0.2])
    >>> ph.solve(problem, (0, 1)).success
    True
    """
    _check_frame(frame)
    moving = _form(function, "function", RATES, MOVING_RATES)
    places = (2, 4) if moving else (2,)
    if depends_on_omega is None:
        depends_on_omega = any(reads_argument(function, place) for place in places)
    make = partial(_body_torque if frame == "body" else _inertial_torque, function)
    return _model(function, params, potential, moving, name, make, depends_on_omega)


def force(
    function: Callable,
    params: Any = (),
    *,
    at: Sequence[float] = ORIGIN,
    frame: str = "inertial",
    potential: Callable | None = None,
    depends_on_velocity: bool | None = None,
    depends_on_omega: bool | None = None,
    name: str | None = None,
) -> Model:
    """Make a model from a force function; its torque about the centre of mass follows.

    Parameters
    ----------
    function : ``function(t, x, v, q, omega, params)`` returning three numbers, in newtons
        ``x`` and ``v`` are position and velocity of the centre of mass in inertial axes, ``q`` the
        attitude (w, x, y, z), body to inertial, ``omega`` the rate in body axes
    params : as in ``torque``
    at : the point of the body at which it acts, in body axes, from the centre of mass
    frame : ``"inertial"`` or ``"body"``, the axes of what it returns
    potential : ``potential(t, x, q, params)``, if there is one; gives the trajectory its energy
    depends_on_velocity, depends_on_omega : default: whether the code of ``function`` reads them

    Examples
    --------
    >>> import polhode as ph
    >>> thruster = ph.force(lambda t, x, v, q, omega, p: (p[0], 0.0, 0.0), 2.0, at=(0, 0.1, 0),
    ...                     frame="body")
    >>> problem = ph.Problem(ph.RigidBody([1, 2, 3], mass=4), thruster, omega=[0, 0, 0])
    >>> run = ph.solve(problem, (0, 1), rtol=1e-9)
    >>> run.x.shape == run.omega.shape
    True
    """
    _check_frame(frame)
    if not _form(function, "function", RATES, MOVING_RATES):
        raise InputError(
            f"function must take 6 arguments {MOVING_RATES}, but {_name(function)!r} takes four"
        )
    reads_v = reads_argument(function, 2) if depends_on_velocity is None else depends_on_velocity
    reads_omega = reads_argument(function, 4) if depends_on_omega is None else depends_on_omega
    arm = three(at, "at")
    make = partial(_body_force if frame == "body" else _inertial_force, function, arm=arm)
    turned = any(arm)
    return _model(
        function, params, potential, True, name, make, turned and (reads_v or reads_omega),
        depends_on_velocity=reads_v, turns=turned,
    )  # fmt: skip


def potential(function: Callable, params: Any = (), *, name: str | None = None) -> Model:
    """Make a model from a potential energy, in joules.

    ``function(t, q, params)``; with six degrees of freedom ``function(t, x, q, params)``, ``x`` the
    centre of mass in inertial axes.  Torque and force are its exact derivatives.  ``function`` must
    be analytic in ``x`` and ``q``: arithmetic and the functions of ``math`` are, ``abs``, ``min``
    and comparisons are not.

    Examples
    --------
    >>> import polhode as ph
    >>> def magnet(t, q, params):
    ...     w, x, y, z = q
    ...     return -params[0] * (w * w + x * x - y * y - z * z)
    >>> needle = ph.potential(magnet, [0.5])
    >>> problem = ph.Problem(ph.RigidBody([1, 2, 2.5]), needle, omega=[0, 0, 1])
    >>> run = ph.solve(problem, (0, 1), method="strang", dt=0.01)
    >>> bool(abs(run.energy / run.energy[0] - 1).max() < 1e-4)
    True
    """
    moving = _form(function, "function", PLACES, MOVING_PLACES)
    on_complex, on_duals = _called(function, moving), _called(function, moving)
    by_step = (_moving_slopes if moving else _turning_slopes)(on_complex)
    by_duals = (_moving_dual_slopes if moving else _turning_dual_slopes)(by_step, on_duals)
    make = partial(_derived_wrench if moving else _derived_torque, by_step)
    model = _model(function, params, function, moving, name, make, False)
    return replace(model, analytic=(on_complex,), on_duals=((by_step, by_duals),), user=(function,))


def coupled(
    function: Callable,
    variables: Mapping[str, Any],
    params: Any = (),
    *,
    scale: Mapping[str, float] | None = None,
    depends_on_omega: bool | None = None,
    depends_on_velocity: bool | None = None,
    name: str | None = None,
) -> Model:
    """Make a model with variables of its own, which are integrated together with the body.

    A damper, a filter, a temperature, a mass of fuel, an orbit: anything with an equation
    y' = f(t, q, ω, y), whose variables the torque may read.

    Parameters
    ----------
    function : ``function(t, q, omega, y, params)`` returning (torque, dy)
        The torque is three numbers in body axes, ``dy`` the slope of y, of the same form as y.
        With one variable y is its value, with several a tuple of their values.  Or
        ``function(t, x, v, q, omega, y, params)`` returning (torque, force, dy), the force in
        inertial axes: then the body has six degrees of freedom
    variables : names and initial values, each a number or a sequence of numbers
    params : as in ``torque``
    scale : sizes of variables, by name.  Adaptive integrators bound the error of a variable
        relative to its length or this, whichever is larger; by default a power of two near the
        length of its initial value, or 1 if that is zero
    depends_on_omega, depends_on_velocity : whether the torque depends on the rate or velocity, and
        the force on the velocity; by default whether the code of ``function`` reads them at all

    Examples
    --------
    >>> import polhode as ph
    >>> def ring(t, q, omega, h, params):  # a ring of fluid about the first axis, h its momentum
    ...     drag = params[0] * (omega[0] - h / params[1])
    ...     return (-drag, -h * omega[2], h * omega[1]), drag
    >>> numbers = {"drag": 0.02, "inertia": 0.1}
    >>> damper = ph.coupled(ring, {"ring": 0.0}, numbers, scale={"ring": 0.1})
    >>> body = ph.RigidBody([2.0, 2.2, 3.0])
    >>> run = ph.solve(ph.Problem(body, damper, omega=[0.3, 0.0, 1.0]), (0, 100), rtol=1e-9)
    >>> run.variables["ring"].shape == run.t.shape
    True
    """
    moving = _form(function, "function", COUPLED, MOVING_COUPLED)
    names, start, scales = named_variables(variables, scale)
    reads_omega = any(reads_argument(function, k) for k in ((2, 4) if moving else (2,)))
    reads_v = moving and reads_argument(function, 2)
    make = partial(_coupled_functions, function, start, moving)
    made = _model(
        function, params, None, moving, name, make,
        reads_omega if depends_on_omega is None else depends_on_omega,
        depends_on_velocity=reads_v if depends_on_velocity is None else depends_on_velocity,
        variables=start, variable_names=names, scales=scales,
    )  # fmt: skip
    if shared := [name for name in names if name in made.names]:
        raise InputError(f"{shared[0]!r} is in variables and in params: give one another name")
    return replace(made, coupled=make(split_params(params)[3])[2])


def _model(
    function: Callable,
    params: Any,
    potential: Callable | None,
    moving: bool,
    name: str | None,
    make: Callable[[Callable], tuple[Any, Any]],
    depends_on_omega: bool,
    **others: Any,
) -> Model:
    """Make the record; ``make`` makes its functions for rotation and six degrees of freedom."""
    names, values, arrays, given = split_params(params)
    made = make(given)
    functions: dict[str, Any] = {"wrench": made[1]} if moving else {"torque": made[0]}
    kind = "potential_at" if moving else "potential"
    functions[kind] = None
    if potential is not None:
        if _form(potential, "potential", PLACES, MOVING_PLACES) != moving:
            form = MOVING_PLACES if moving else PLACES
            raise InputError(f"potential must take {form}, as the function takes x or does not")
        functions[kind] = (_potential_at if moving else _potential)(potential, given)
    return Model(
        name=name or _name(function),
        **functions,
        names=names,
        numbers=values,
        tables=arrays,
        depends_on_omega=depends_on_omega,
        user=(function,) if potential is None else (function, potential),
        **others,
    )


# ---- the functions of the models: (torque, wrench) of each kind
def _body_torque(function, given):
    def body_torque(t, q, m, body, params):
        omega = to_body_axes(angular_velocity(m, body), body)
        n = function(t, attitude_of_body(q, body), omega, given(params))
        return to_principal_axes(three_floats(n), body)

    def body_wrench(t, q, m, x, p, body, params):
        n = _seen(function, given, t, q, m, x, p, body, params)
        return to_principal_axes(n, body), ORIGIN

    return body_torque, body_wrench


def _inertial_torque(function, given):
    def inertial_torque(t, q, m, body, params):
        omega = to_body_axes(angular_velocity(m, body), body)
        n = function(t, attitude_of_body(q, body), omega, given(params))
        return to_body(q, three_floats(n))

    def inertial_wrench(t, q, m, x, p, body, params):
        return to_body(q, _seen(function, given, t, q, m, x, p, body, params)), ORIGIN

    return inertial_torque, inertial_wrench


def _body_force(function, given, arm):
    def body_wrench(t, q, m, x, p, body, params):
        f = to_principal_axes(_seen(function, given, t, q, m, x, p, body, params), body)
        return cross(to_principal_axes(arm, body), f), to_inertial(q, f)

    return None, body_wrench


def _inertial_force(function, given, arm):
    def inertial_wrench(t, q, m, x, p, body, params):
        f = _seen(function, given, t, q, m, x, p, body, params)
        return cross(to_principal_axes(arm, body), to_body(q, f)), f

    return None, inertial_wrench


def _seen(function, given, t, q, m, x, p, body, params):
    """What a function of position and velocities returns, three floats."""
    omega = to_body_axes(angular_velocity(m, body), body)
    v = multiply(inverse_mass(body), p)
    return three_floats(function(t, x, v, attitude_of_body(q, body), omega, given(params)))


def _coupled_functions(function, start, moving, given):
    """(torque, wrench, coupled) of a function with variables nested like ``start``."""
    as_slope = as_floats(zeros(start))

    def still_function(t, q, m, x, p, body, params):
        omega = to_body_axes(angular_velocity(m, body), body)
        n, slope = function(
            t, attitude_of_body(q, body), omega, variables_in(params), given(params)
        )
        return to_principal_axes(three_floats(n), body), ORIGIN, as_slope(slope)

    def moving_function(t, q, m, x, p, body, params):
        omega = to_body_axes(angular_velocity(m, body), body)
        q, v, y = attitude_of_body(q, body), multiply(inverse_mass(body), p), variables_in(params)
        n, f, slope = function(t, x, v, q, omega, y, given(params))
        return to_principal_axes(three_floats(n), body), three_floats(f), as_slope(slope)

    whole = moving_function if moving else still_function

    def coupled_torque(t, q, m, body, params):
        return whole(t, q, m, ORIGIN, ORIGIN, body, params)[0]

    def coupled_wrench(t, q, m, x, p, body, params):
        n, f, _ = whole(t, q, m, x, p, body, params)
        return n, f

    return coupled_torque, coupled_wrench, whole


def _potential(function, given):
    def user_potential(t, q, body, params):
        return float(function(t, attitude_of_body(q, body), given(params)))

    return user_potential


def _potential_at(function, given):
    def user_potential(t, q, x, body, params):
        return float(function(t, x, attitude_of_body(q, body), given(params)))

    return user_potential


STEP = 1e-100  # of (1) and (2)


def _turns(q):
    """q of the user's body axes, turned by i d about each of them."""
    w, x, y, z = q
    d = 0.5 * STEP
    return (
        (complex(w, -d * x), complex(x, d * w), complex(y, d * z), complex(z, -d * y)),
        (complex(w, -d * y), complex(x, -d * z), complex(y, d * w), complex(z, d * x)),
        (complex(w, -d * z), complex(x, d * y), complex(y, -d * x), complex(z, d * w)),
    )


def _slopes(v1, v2, v3):
    f = -1.0 / STEP
    return f * v1.imag, f * v2.imag, f * v3.imag


def _called(function: Callable, moving: bool) -> Callable:
    """Return a function that calls another, and can be replaced without it."""
    if moving:
        return lambda t, x, q, params: function(t, x, q, params)
    return lambda t, q, params: function(t, q, params)


def _turning_slopes(function):
    def slopes(t, q, seen):
        q1, q2, q3 = _turns(q)
        return _slopes(function(t, q1, seen), function(t, q2, seen), function(t, q3, seen))  # (1)

    return slopes


def _derived_torque(slopes, given):
    def derived_torque(t, q, m, body, params):
        n = slopes(t, attitude_of_body(q, body), given(params))
        return to_principal_axes(n, body)

    return derived_torque, None


def _moving_slopes(function):
    def slopes(t, x, q, seen):
        q1, q2, q3 = _turns(q)
        here = complex(x[0], 0.0), complex(x[1], 0.0), complex(x[2], 0.0)
        v1, v2, v3 = (
            function(t, here, q1, seen),
            function(t, here, q2, seen),
            function(t, here, q3, seen),
        )
        still = complex(q[0], 0.0), complex(q[1], 0.0), complex(q[2], 0.0), complex(q[3], 0.0)
        f1, f2, f3 = (
            function(t, (complex(x[0], STEP), here[1], here[2]), still, seen),
            function(t, (here[0], complex(x[1], STEP), here[2]), still, seen),
            function(t, (here[0], here[1], complex(x[2], STEP)), still, seen),
        )
        return _slopes(v1, v2, v3), _slopes(f1, f2, f3)  # (1), (2)

    return slopes


def _derived_wrench(slopes, given):
    def derived_wrench(t, q, m, x, p, body, params):
        n, f = slopes(t, x, attitude_of_body(q, body), given(params))
        return to_principal_axes(n, body), f

    return None, derived_wrench


# ---- the same with derivatives: complex numbers carry none
def _turning_dual_slopes(slopes, function):
    """Return ``slopes`` for duals: the same values, and derivatives of second order."""

    def dual_slopes(t, q, seen):
        w, x, y, z = lifted(q, (q, seen))
        w, x, y, z = 0.5 * w, 0.5 * x, 0.5 * y, 0.5 * z
        turned = (
            along(w + w, (-x, -y, -z)),
            along(x + x, (w, -z, y)),
            along(y + y, (z, w, -x)),
            along(z + z, (-y, x, w)),
        )
        a, b, c = slopes_of(function(t, turned, seen), turned[0])
        return with_values((-a, -b, -c), slopes(t, stripped(q), stripped(seen)))

    return dual_slopes


def _moving_dual_slopes(slopes, function):
    def dual_slopes(t, place, q, seen):
        (w, x, y, z), (a, b, c) = lifted((q, place), (q, place, seen))
        w, x, y, z, o = 0.5 * w, 0.5 * x, 0.5 * y, 0.5 * z, 0.0
        turned = (
            along(w + w, (-x, -y, -z, o, o, o)),
            along(x + x, (w, -z, y, o, o, o)),
            along(y + y, (z, w, -x, o, o, o)),
            along(z + z, (-y, x, w, o, o, o)),
        )
        shifted = (
            along(a, (o, o, o, 1.0, o, o)),
            along(b, (o, o, o, o, 1.0, o)),
            along(c, (o, o, o, o, o, 1.0)),
        )
        n1, n2, n3, f1, f2, f3 = slopes_of(function(t, shifted, turned, seen), turned[0])
        values = slopes(t, stripped(place), stripped(q), stripped(seen))
        return with_values(((-n1, -n2, -n3), (-f1, -f2, -f3)), values)

    return dual_slopes


# ---- arguments
def _name(function: Callable) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _check_frame(frame: str) -> None:
    if frame not in ("body", "inertial"):
        raise InputError(f"frame must be 'body' or 'inertial', got {frame!r}")


def _form(function: Callable, argument: str, still: str, moving: str) -> bool:
    """Whether a function takes the arguments in ``moving``, and not those in ``still``."""
    if not callable(function):
        raise InputError(f"{argument} must be a function {argument}{still}, got {function!r}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    for form, answer in ((still, False), (moving, True)):
        try:
            signature.bind(*form.split(","))
        except TypeError:
            continue
        return answer
    count = len(still.split(","))
    raise InputError(
        f"{argument} must take {count} arguments {still}, or {moving} for six degrees of freedom,"
        f" but {_name(function)!r} takes {signature}"
    )


def reads_argument(function: Callable, place: int) -> bool:
    """Whether the code of ``function`` reads the argument at index ``place``."""
    function = getattr(function, "py_func", function)
    code = getattr(function, "__code__", None)
    if code is None or code.co_argcount <= place:
        return True
    name = code.co_varnames[place]
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith("LOAD"):
            read = instruction.argval
            if read == name or (isinstance(read, tuple) and name in read):
                return True
    return name in code.co_cellvars


def split_params(params: Any) -> tuple[tuple[str, ...], tuple, tuple, Callable]:
    """(names, numbers, tables, given) of the parameters.

    Numbers become floats, sequences tuples, arrays tables.  Tables are nested like the numbers,
    which have () in their places; where there are none, the tables are ().  ``given`` makes the
    parameters of the user's function from those of the model.
    """
    if (table := as_table(params, "params")) is not None:
        return ("params",), ((),), (table,), lambda params: tables(params)[0]
    if isinstance(params, Mapping):
        names, entries = tuple(map(str, params)), list(params.items())
    else:
        if not hasattr(params, "__iter__") or getattr(params, "ndim", 1) == 0:
            params = (params,)
        entries = list(enumerate(params))
        names = tuple(f"p{i}" for i, _ in entries)
    values, arrays = _apart([_separated(v, f"params[{key!r}]") for key, v in entries])
    if not arrays:
        return names, values, (), numbers
    joined = _joined(arrays)
    return names, values, arrays, lambda params: joined(numbers(params), tables(params))


def _separated(value: Any, where: str) -> tuple[Any, Any]:
    """(numbers, tables) of one parameter."""
    if isinstance(value, (str, bytes)) or value is None:
        raise InputError(f"params must be numbers, got {value!r} at {where}")
    if (table := as_table(value, where)) is not None:
        return (), table
    if getattr(value, "ndim", 1) and (hasattr(value, "__len__") or hasattr(value, "__iter__")):
        return _apart([_separated(v, f"{where}[{i}]") for i, v in enumerate(value)])
    try:
        return float(value), ()
    except (TypeError, ValueError):
        raise InputError(f"params must be numbers, got {value!r} at {where}") from None


def _apart(pairs: list[tuple[Any, Any]]) -> tuple[tuple, tuple]:
    arrays = tuple(array for _, array in pairs)
    return tuple(number for number, _ in pairs), arrays if flat(arrays) else ()


def _joined(arrays: Any) -> Callable:
    """Return the function of numbers and tables that puts the tables into their places."""
    if not isinstance(arrays, tuple):
        return lambda values, tables: tables
    if not arrays:
        return lambda values, tables: values
    joined: Callable = lambda values, tables: ()  # noqa: E731
    for place, part in enumerate(map(_joined, arrays)):
        joined = _appended(joined, part, place)
    return joined


def _appended(before: Callable, part: Callable, place: int) -> Callable:
    return lambda values, tables: (*before(values, tables), part(values[place], tables[place]))
