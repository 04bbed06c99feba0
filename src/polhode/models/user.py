"""A user's own torque or potential, and how it becomes a model.

``torque(function)`` takes any ``function(t, q, omega, params)`` that returns three numbers, in body
or inertial axes.  ``potential(function)`` takes ``function(t, q, params)`` alone; the torque is its
derivative along the three turns of the body, by a complex step, exact to rounding:

    T_k = -dV(q exp(a e_k)) / da = -Im V(q + i d q e_k / 2) / d,    d = 1e-100          (1)

What the functions see is in the user's own body axes.  ``math.sin`` and ``math.cos`` in them become
the library's own, so that one body, SIMD lanes and plain Python agree to the last bit.
"""

import dis
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from polhode.contracts import Model, attitude_of_body, to_body_axes, to_principal_axes
from polhode.errors import InputError
from polhode.kernels.quaternion import to_body
from polhode.kernels.vector import scale


def torque(
    function: Callable,
    params: Any = (),
    *,
    frame: str = "body",
    potential: Callable | None = None,
    depends_on_omega: bool | None = None,
    name: str | None = None,
) -> Model:
    """A model from a function of your own.

    Parameters
    ----------
    function : ``function(t, q, omega, params)`` returning three numbers
        ``q`` is the attitude (w, x, y, z), body to inertial, ``omega`` the rate in body axes.
        Compiled if it can be; otherwise it runs as plain Python, with a warning.
    params : numbers, a nesting of them, or a mapping of names to them; handed over at run time
    frame : ``"body"`` or ``"inertial"``, the axes of what it returns
    potential : ``potential(t, q, params)``, if there is one; gives the trajectory its energy
    depends_on_omega : default: whether the code of ``function`` reads its third argument
    """
    _check_call(function, 4, "function", "(t, q, omega, params)")
    if potential is not None:
        _check_call(potential, 3, "potential", "(t, q, params)")
    if frame not in ("body", "inertial"):
        raise InputError(f"frame must be 'body' or 'inertial', got {frame!r}")
    if depends_on_omega is None:
        depends_on_omega = _reads_argument(function, 2)
    names, numbers = _numbers(params)
    return Model(
        name=name or _name(function),
        torque=(_body_torque if frame == "body" else _inertial_torque)(function),
        potential=None if potential is None else _potential(potential),
        names=names,
        numbers=numbers,
        depends_on_omega=depends_on_omega,
        user=(function,) if potential is None else (function, potential),
    )


def potential(function: Callable, params: Any = (), *, name: str | None = None) -> Model:
    """A model from a potential energy ``function(t, q, params)`` alone, in joules.

    The torque is its exact derivative.  ``function`` must be analytic in ``q``: arithmetic and the
    functions of ``math`` are, ``abs``, ``min`` and comparisons of ``q`` are not.
    """
    _check_call(function, 3, "function", "(t, q, params)")
    names, numbers = _numbers(params)

    def on_complex(t, q, params):
        return function(t, q, params)

    return Model(
        name=name or _name(function),
        torque=_derived_torque(on_complex),
        analytic=(on_complex,),
        potential=_potential(function),
        names=names,
        numbers=numbers,
        user=(function,),
    )


# ---- the functions of the models
def _body_torque(function):
    def body_torque(t, q, m, body, params):
        omega = to_body_axes(scale(body[1], m), body)
        n = function(t, attitude_of_body(q, body), omega, params[0])
        return to_principal_axes((float(n[0]), float(n[1]), float(n[2])), body)

    return body_torque


def _inertial_torque(function):
    def inertial_torque(t, q, m, body, params):
        omega = to_body_axes(scale(body[1], m), body)
        n = function(t, attitude_of_body(q, body), omega, params[0])
        return to_body(q, (float(n[0]), float(n[1]), float(n[2])))

    return inertial_torque


def _potential(function):
    def user_potential(t, q, body, params):
        return float(function(t, attitude_of_body(q, body), params[0]))

    return user_potential


def _derived_torque(function):
    def derived_torque(t, q, m, body, params):
        w, x, y, z = attitude_of_body(q, body)
        d, numbers = 0.5e-100, params[0]
        q1 = complex(w, -d * x), complex(x, d * w), complex(y, d * z), complex(z, -d * y)
        q2 = complex(w, -d * y), complex(x, -d * z), complex(y, d * w), complex(z, d * x)
        q3 = complex(w, -d * z), complex(x, d * y), complex(y, -d * x), complex(z, d * w)
        v1, v2, v3 = function(t, q1, numbers), function(t, q2, numbers), function(t, q3, numbers)
        n = -1e100 * v1.imag, -1e100 * v2.imag, -1e100 * v3.imag  # (1)
        return to_principal_axes(n, body)

    return derived_torque


# ---- what was given
def _name(function: Callable) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _check_call(function: Callable, count: int, argument: str, form: str) -> None:
    if not callable(function):
        raise InputError(f"{argument} must be a function {argument}{form}, got {function!r}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*range(count))
    except TypeError:
        raise InputError(
            f"{argument} must take {count} arguments {form},"
            f" but {getattr(function, '__name__', function)!r} takes {signature}"
        ) from None


def _reads_argument(function: Callable, place: int) -> bool:
    """Whether the code of ``function`` reads its argument number ``place``."""
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


def _numbers(params: Any) -> tuple[tuple[str, ...], tuple]:
    """(names, numbers) of the parameters; every entry becomes a float, sequences become tuples."""

    def converted(value, where):
        if isinstance(value, (str, bytes)) or value is None:
            raise InputError(f"params must be numbers, got {value!r} at {where}")
        if hasattr(value, "__len__") or hasattr(value, "__iter__"):
            return tuple(converted(v, f"{where}[{i}]") for i, v in enumerate(value))
        try:
            return float(value)
        except (TypeError, ValueError):
            raise InputError(f"params must be numbers, got {value!r} at {where}") from None

    if isinstance(params, Mapping):
        return tuple(map(str, params)), tuple(
            converted(v, f"params[{k!r}]") for k, v in params.items()
        )
    if not hasattr(params, "__iter__"):
        params = (params,)
    numbers = converted(params, "params")
    return tuple(f"p{i}" for i in range(len(numbers))), numbers
