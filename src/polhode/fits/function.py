"""``Function``: a user's function of time and attitude, and its exact derivatives.

A turn by θ about body axis k changes the attitude by dq = q (0, e_k)/2 dθ.  The function runs on
dual numbers whose directions are the three turns, three shifts if it takes a position, and those of
its parameters that are unknown.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from polhode.compiler.dual import Dual
from polhode.compiler.machine import put, take
from polhode.compiler.tree import bind, flat, like
from polhode.errors import InputError
from polhode.fits.turns import products
from polhode.kernels.trig import ELEMENTARY
from polhode.loops.join import built_on_duals
from polhode.models.user import split_params

STILL, MOVING = "(t, q, params)", "(t, x, q, params)"
WIDTH = 4  # directions in a vector


class Found(NamedTuple):
    """Values (n,) and their derivatives: by turns (n, 3), shifts (n, 3), and own values (n, k)."""

    values: np.ndarray
    by_turn: np.ndarray
    by_shift: np.ndarray
    by_own: dict[str, np.ndarray]


class Function:
    """``function(t, q, params)``, or ``function(t, x, q, params)``: then it ``moves``.

    ``start`` are its parameters by name, those that are numbers.
    """

    def __init__(self, function: Callable, params: Any):
        self.function = function
        self.name = str(getattr(function, "__name__", type(function).__name__))
        self.moves = _moves(function, self.name)
        names, self.numbers, self.tables, self._given = split_params(params)
        self._kept: dict[int, Callable] = {}
        self.start: dict[str, np.ndarray] = {}
        self._places: dict[str, list[int]] = {}
        counted = like(self.numbers, iter(range(len(flat(self.numbers)))))
        for name, entry in zip(names, counted, strict=True):
            if entry != ():
                self._places[name] = flat(entry)
                values = np.array([flat(self.numbers)[k] for k in self._places[name]])
                self.start[name] = values if isinstance(entry, tuple) else values.reshape(())

    def along(
        self,
        times: np.ndarray,
        q: np.ndarray,
        x: np.ndarray | None,
        own: Mapping[str, np.ndarray],
        free: tuple[str, ...],
    ) -> Found:
        """Evaluate it and differentiate it; parameters have the values ``own``."""
        sizes = {name: len(self._places[name]) for name in free}
        first = 6 if self.moves else 3
        count = -(-(first + sum(sizes.values())) // WIDTH) * WIDTH
        values = np.concatenate([q if x is None else np.hstack([q, x]), self._tile(own, len(q))], 1)
        rows = np.zeros((*values.shape, 1 + count))
        rows[:, :, 0] = values
        for k in range(3):
            rows[:, :4, 1 + k] = 0.5 * products(q, np.eye(4)[1 + k])
            if self.moves:
                rows[:, 4 + k, 4 + k] = 1.0
        places, place = {}, first
        for name in free:
            places[name] = slice(place, place + sizes[name])
            for number in self._places[name]:
                rows[:, values.shape[1] - len(flat(self.numbers)) + number, 1 + place] = 1.0
                place += 1
        out = np.empty((len(q), 1 + count))
        self._try(times[0], values[0])
        try:
            self._loop(count)(times, rows.reshape(len(q), -1), self.tables, out)
        except Exception as error:
            when = f"at one of t = {times.min():g} to {times.max():g}"
            raise self._failed(when, error) from error
        if not np.isfinite(out).all():
            bad = int(np.argmin(np.isfinite(out).all(axis=1)))
            raise InputError(
                f"function {self.name!r} must return finite numbers with derivatives, returned"
                f" {out[bad, 0]!r} at t = {times[bad]:g}"
            )
        slopes = out[:, 1:]
        by_own = {name: slopes[:, place] for name, place in places.items()}
        return Found(out[:, 0], slopes[:, :3], slopes[:, 3:6], by_own)

    def _tile(self, own: Mapping[str, np.ndarray], count: int) -> np.ndarray:
        numbers = np.array(flat(self.numbers), dtype=float)
        for name, value in own.items():
            numbers[self._places[name]] = np.ravel(value)
        return np.tile(numbers, (count, 1))

    def _loop(self, count: int) -> Callable:
        """Return the compiled loop for numbers with this many directions."""
        if count not in self._kept:
            number = Dual(0.0, (0.0,) * count)
            pattern = (number,) * 4, (number,) * 3 * self.moves, _duals(self.numbers, number)
            function = bind(self.function, ELEMENTARY)
            template = (_moving if self.moves else _still)(function, self._given, pattern)
            self._kept[count] = built_on_duals(template, f"the function {self.name!r}")
        return self._kept[count]

    def _try(self, t: float, row: np.ndarray) -> None:
        """Call it once in plain Python, and look at what it returns."""
        numbers = row.tolist()
        q, rest = tuple(numbers[:4]), numbers[4:]
        x, rest = (tuple(rest[:3]), rest[3:]) if self.moves else ((), rest)
        given = self._given((like(self.numbers, iter(rest)), self.tables))
        try:
            found = self.function(float(t), *((x,) if self.moves else ()), q, given)
        except Exception as error:
            raise self._failed(f"at t = {t:g}", error) from error
        try:
            float(found)
        except (TypeError, ValueError):
            raise InputError(
                f"function {self.name!r} must return one number, returned {found!r}"
            ) from None

    def _failed(self, when: str, error: Exception) -> InputError:
        return InputError(f"function {self.name!r} fails {when}: {type(error).__name__}: {error}")


def _duals(numbers: Any, number: Dual) -> Any:
    """Return the number, nested like a tuple."""
    return tuple(_duals(n, number) for n in numbers) if isinstance(numbers, tuple) else number


def _still(function: Callable, given: Callable, pattern: tuple) -> Callable:
    def values(times, rows, tables, out):
        for i in range(len(times)):
            q, _, numbers = take(rows, i, 0, pattern)
            found = float(function(times[i], q, given((numbers, tables))))
            put(out, i, (found + 0.0 * q[0],))  # dual, whatever it depends on

    return values


def _moving(function: Callable, given: Callable, pattern: tuple) -> Callable:
    def values(times, rows, tables, out):
        for i in range(len(times)):
            q, x, numbers = take(rows, i, 0, pattern)
            found = float(function(times[i], x, q, given((numbers, tables))))
            put(out, i, (found + 0.0 * q[0],))

    return values


def _moves(function: Any, name: str) -> bool:
    """Whether a function takes a position."""
    if not callable(function):
        raise InputError(f"f must be a function f{STILL}, got {function!r}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    for form, answer in ((STILL, False), (MOVING, True)):
        try:
            signature.bind(*form.split(","))
        except TypeError:
            continue
        return answer
    raise InputError(
        f"f must take 3 arguments {STILL}, or {MOVING} with a position, but {name!r} takes"
        f" {signature}"
    )
