"""Directions that observations do not determine: found, named, with a remedy.

Columns of the Jacobian are divided by their lengths.  A direction whose singular value vanishes
leaves all residuals as they are; a basis of these directions with as many zeros as there can be is
described in the words of the fit.
"""

from collections.abc import Sequence

import numpy as np

from polhode.errors import InputError
from polhode.fits.bodies import MOMENTUM, has_inertia
from polhode.fits.holds import NAMED, Hold, named
from polhode.fits.search import without_noise
from polhode.fits.unknowns import ATTITUDE, Unknowns

LEAST = 1e-9  # singular values below this share of the largest are zero
ZERO = 1e-6  # of a direction, in units of the sizes of the unknowns
ALIKE = 1e-4  # relative, of factors
DECIDES = 0.05  # the share of a direction across which a hold lies, at least


def check_determined(
    unknowns: Unknowns, holds: Sequence[Hold], u: np.ndarray, slopes: np.ndarray, chart: np.ndarray
) -> None:
    """Raise an error that names what the observations leave free.

    ``slopes`` are those of the residuals by the unknowns, ``chart`` du/dx.
    """
    matrix = without_noise(slopes @ chart)
    sizes = np.linalg.norm(matrix, axis=0)
    sizes[sizes == 0.0] = 1.0
    triangle = np.linalg.qr(matrix / sizes, mode="r")  # with the same singular values and axes
    _, values, axes = np.linalg.svd(triangle)
    rank = int(np.count_nonzero(values > LEAST * max(values[0], np.finfo(float).tiny)))
    if rank == len(axes):
        return
    free = chart @ (axes[rank:] / sizes).T
    directions = _sparse((free / unknowns.sizes[:, None]).T)
    whole = _wholes(unknowns, directions)
    texts = [
        f"no observation depends on {name}: leave it out of free=, or observe more"
        for name in whole
    ]
    inside = _places(unknowns, whole)
    proposals: list[str] = []
    for direction in directions:
        if not set(np.flatnonzero(direction).tolist()) <= inside:
            texts.append(_described(unknowns, direction, u))
            proposals += _proposals(unknowns, direction)
    advice = f"; hold one of: {', '.join(dict.fromkeys(proposals))}" if proposals else ""
    kept = f" with {', '.join(repr(hold.name) for hold in holds)} held" if holds else ""
    raise InputError(
        f"the observations do not determine all unknowns{kept}: {'; '.join(texts)}{advice}"
    )


def _sparse(rows: np.ndarray) -> np.ndarray:
    """Return a basis of the same space with many zeros: its reduced echelon form."""
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    waiting = list(range(len(rows)))
    while waiting:
        place = int(np.argmax(np.abs(rows[waiting])))
        row, column = waiting.pop(place // rows.shape[1]), place % rows.shape[1]
        rows[row] /= rows[row, column]
        others = np.arange(len(rows)) != row
        rows[others] -= np.outer(rows[others, column], rows[row])
    rows[np.abs(rows) < ZERO * np.abs(rows).max(axis=1, keepdims=True)] = 0.0
    return rows


def _wholes(unknowns: Unknowns, directions: np.ndarray) -> list[str]:
    """Return the quantities all of whose numbers are free."""
    found = []
    for quantity in unknowns.quantities:
        inside = [d for d in directions if not np.delete(d, np.r_[quantity.place]).any()]
        if len(inside) == len(quantity):
            found.append(quantity.name)
    return found


def _described(unknowns: Unknowns, direction: np.ndarray, u: np.ndarray) -> str:
    """Describe one direction, in units of the sizes."""
    moved = direction * unknowns.sizes
    factors: dict[str, float] = {}
    for quantity in unknowns.quantities:
        part, value = moved[quantity.place], u[quantity.place]
        if not part.any():
            continue
        factor = float(part @ value / (value @ value)) if value.any() else 0.0
        if quantity.name == ATTITUDE or np.linalg.norm(part - factor * value) > ALIKE * float(
            np.linalg.norm(part)
        ):
            return _combination(unknowns, direction)
        factors[quantity.name] = factor
    first = next(iter(factors.values()))
    names = list(factors)
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    if len(factors) == 1:
        return f"{listed} is known only up to a factor"
    if all(abs(factor - first) <= ALIKE * abs(first) for factor in factors.values()):
        return f"{listed} are known only up to one common factor"
    powers = ", ".join(f"{name} by {factor / first:.3g} %" for name, factor in factors.items())
    return f"no observation changes if one changes {powers}"


def _combination(unknowns: Unknowns, direction: np.ndarray) -> str:
    """List what changes along a direction, in the unknowns' own units."""
    moved = direction * unknowns.sizes
    places = np.flatnonzero(direction)
    if len(places) == 1:
        return f"no observation depends on {unknowns.names[places[0]]}"
    terms = [
        f"{moved[k]:+.3g} {unknowns.names[k]}" for k in places[np.argsort(-abs(direction[places]))]
    ]
    return f"no observation changes along {' '.join(terms)}"


def _places(unknowns: Unknowns, names: Sequence[str]) -> set[int]:
    """Return where the numbers of some quantities stand."""
    places = [unknowns.by_name[name].place for name in names]
    return {k for place in places for k in range(place.start, place.stop)}


def _proposals(unknowns: Unknowns, direction: np.ndarray) -> list[str]:
    """Return what to hold, each of which decides a direction."""
    found = []
    for name in NAMED:
        if name in _possible(unknowns):
            gradient = named(name).gradient(unknowns, unknowns.start) * unknowns.sizes
            size = float(np.linalg.norm(gradient) * np.linalg.norm(direction))
            if abs(float(gradient @ direction)) > DECIDES * size:
                found.append(name)
    found.append(unknowns.names[int(np.argmax(np.abs(direction)))])
    return [repr(name) for name in found]


def _possible(unknowns: Unknowns) -> list[str]:
    """Return the holds by name that make sense for these unknowns."""
    if not unknowns.has_body:
        return []
    if has_inertia(unknowns.by_name):
        return [name for name in NAMED if name != "sum of moments"]
    return [name for name in NAMED if name.startswith("|") and MOMENTUM in unknowns.by_name]
