"""How far rounding takes the invariants of one body, for any number of steps.

The means of an invariant over windows of states, far apart, make a series; Kaiser's weights remove
what oscillates with the nutation.  Its growth over a lag is the root mean square of all its changes
over this lag.  That of a random walk, over n steps, is C 2⁻⁵³ √n: with C = 1 one rounding of the
invariant in every step, of a random sign, and nothing else (Brouwer's law; Rein & Spiegel 2015 aim
at this for the energy).  The trend is the mean change from window to window divided by its standard
error: about 1 for a random walk of any length; a steady drift makes it grow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode import loops
from polhode.bench.tops import body_of, part_of
from polhode.contracts import OK, Method, Model
from polhode.kernels.vector import scale

LAGS = 1, 2, 5, 10, 20, 50  # windows
WINDOWS, WIDTH = 200, 4096  # states in a window
WEIGHTS = np.kaiser(WIDTH, 40.0).astype(np.longdouble) / np.kaiser(WIDTH, 40.0).sum()
EPS = 2.0**-53


@dataclass(frozen=True)
class Course:
    """A run to follow: a method, its sums compensated or not, and a body that starts somewhere."""

    method: Method
    model: Model
    inertia: tuple[float, float, float]
    q: tuple[float, float, float, float]
    omega: tuple[float, float, float]
    h: float

    def followed(self, steps: int) -> "Walk":
        """Take the steps; return the changes of the invariants, relative to their size."""
        run = loops.build(loops.record, self.method, self.model)
        start = loops.joined(self.method.start, None, self.model)
        weights, offsets = loops.substeps(self.method)
        body, params = body_of(self.inertia), self.model.params
        state: Any = self.q, scale(self.inertia, self.omega)
        carry = start(0.0, part_of(weights, self.h), state, body, params)
        width = min(WIDTH, steps // WINDOWS)
        every = steps // WINDOWS
        ends, out, rows, k = np.arange(width) + every - width + 1, np.empty((width, 7)), [], 0
        first = self.invariants(np.array([[*state[0], *state[1]]]))[:, 0]
        for _ in range(WINDOWS):
            state, carry, status, *_ = run(
                0.0, self.h, k, ends, np.zeros(width), weights, offsets, False,
                state, carry, body, params, out,
            )  # fmt: skip
            assert status == OK
            k += every
            found = self.invariants(out)
            rows.append(found @ WEIGHTS if width == WIDTH else found.mean(axis=1))
        size = np.array([1.0, *2 * [np.sqrt(sum(a * a for a in state[1]))], first[-1]])
        return Walk(every, ((np.array(rows) - first) / size).astype(float))

    def invariants(self, rows: np.ndarray) -> np.ndarray:
        """Return |q|², the momentum about the vertical, |L| and the energy of rows of states."""
        w, x, y, z, *m = rows.T.astype(np.longdouble)
        square = w * w + x * x + y * y + z * z
        up = 2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z
        along = sum(a * b for a, b in zip(up, m, strict=True)) / square
        length = np.sqrt(sum(a * a for a in m))
        inverse = [np.longdouble(1.0 / moment) for moment in self.inertia]
        energy = sum(a * a * b for a, b in zip(m, inverse, strict=True)) / 2
        if not self.model.is_free:  # a heavy top
            energy = energy + self.model.params[0][0] * up[2] / square
        return np.array([square, along, length, energy])


@dataclass(frozen=True)
class Walk:
    """``changes`` of |q|², the momentum about the vertical, |L| and the energy every few steps."""

    every: int
    changes: np.ndarray

    def growth(self, place: int) -> dict[int, float]:
        """Return the root mean square of the changes over some numbers of steps."""
        series = self.changes[:, place]
        return {
            lag * self.every: float(np.sqrt(np.mean((series[lag:] - series[:-lag]) ** 2)))
            for lag in LAGS
        }

    def trend(self, place: int) -> float:
        change = np.diff(self.changes[:, place])
        return float(np.mean(change) / np.std(change, ddof=1) * np.sqrt(len(change)))


def constant(growth: Mapping[int, float]) -> float:
    """Return C of a random walk that grows like this."""
    return float(np.mean([error / np.sqrt(n) for n, error in growth.items()])) / EPS


# ---- the figure
def draw(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Draw the growth of every walk over the number of steps, and one rounding in each step."""
    from polhode.plot import style

    colours = style.BLUE, style.RED, style.GREEN, style.ORANGE
    sheet = style.figure((10.0, 4.6), "What rounding does to the invariants of one body")
    bodies = list(dict.fromkeys(row["what"].partition(", ")[0] for row in rows))
    axes = sheet.subplots(1, len(bodies), sharex=True, sharey=True, squeeze=False)[0]
    names = list(dict.fromkeys(row["what"].partition(", ")[2] for row in rows))
    for ax, body in zip(axes, bodies, strict=True):
        for row in rows:
            owner, _, name = row["what"].partition(", ")
            if owner != body:
                continue
            plain = row["sums"] == "plain"
            counts = [k * row["steps"] / WINDOWS for k in LAGS]
            look: dict[str, Any] = {"color": colours[names.index(name)], "linewidth": 1.0}
            look |= {"marker": "o", "markersize": 4.0, "linestyle": "-" if plain else "--"}
            look |= {} if plain else {"markerfacecolor": "white"}
            text = name if plain else f"{name}, compensated"
            ax.plot(counts, [row[f"lag_{k}"] for k in LAGS], label=text, **look)
            ax.plot(counts, [EPS * n**0.5 for n in counts], color=style.INK, linestyle=":")
        ax.plot([], [], color=style.INK, linestyle=":", label="one rounding in each step, 2⁻⁵³ √N")
        ax.set(xscale="log", yscale="log")
        style.dress(ax, f"{body.capitalize()} body", "steps N")
        ax.legend(fontsize=6.5, frameon=False, labelcolor=style.INK, loc=(0.3, 0.13))
    return sheet
