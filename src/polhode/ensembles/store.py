"""Ensembles in files: a Zarr store that is written while they run, and what its arrays are called.

The states of a chunk of members go into the store some times at once, so that never all of them are
in memory.  The attribute ``complete`` is false until everything is there; until then members that
have not been run have the status ``NOT_RUN``.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode._version import __version__
from polhode.ensembles.chunk import Quantities, Task
from polhode.ensembles.members import Members, Rows
from polhode.ensembles.reductions import (
    OURS,
    FirstTime,
    Histogram,
    MeanAttitude,
    Quantiles,
    Reduction,
)
from polhode.errors import FileError, InputError
from polhode.kernels.quaternion import product, to_body, to_inertial

FORMAT = "polhode ensemble 1"
PIECE = 2**24  # bytes of an array that lie together in a store, at most
NOT_RUN = -1

XYZ, WXYZ = "component", "quaternion"
AXES = {WXYZ: list("wxyz"), XYZ: list("xyz")}
ATTITUDE = "attitude, body to inertial, Hamilton, scalar first"
CAPTIONS: dict[str, tuple[tuple[str, ...], str, str]] = {  # last dimension, units, description
    "q": ((WXYZ,), "", ATTITUDE),
    "omega": ((XYZ,), "rad/s", "angular velocity, body axes"),
    "angular_momentum": ((XYZ,), "kg m2/s", "angular momentum, body axes"),
    "omega_inertial": ((XYZ,), "rad/s", "angular velocity, inertial axes"),
    "angular_momentum_inertial": ((XYZ,), "kg m2/s", "angular momentum, inertial axes"),
    "speed": ((), "rad/s", "size of the angular velocity"),
    "kinetic_energy": ((), "J", "kinetic energy"),
    "energy": ((), "J", "kinetic and potential energy"),
    "position": ((XYZ,), "m", "position of the centre of mass, inertial axes"),
    "velocity": ((XYZ,), "m/s", "velocity of the centre of mass, inertial axes"),
    "attitude": ((WXYZ,), "", ATTITUDE),
    "inertia": ((XYZ,), "kg m2", "moments of inertia, body axes"),
    "mass": ((), "kg", "mass"),
    "status": ((), "", "how the member ended; 0: well"),
    "t_reached": ((), "s", "time of the last good state"),
    "nsteps": ((), "", "steps"),
    "niter": ((), "", "Newton iterations, or trial steps that did not count"),
    "count": ((), "", "members that were still going"),
    "time": ((), "s", "time"),
    "time_reduced": ((), "s", "time of what was reduced"),
}
STATES = {"q": "q", "omega": "omega", "angular_momentum": "angular_momentum"}
PLACES = {"x": "position", "v": "velocity"}  # in files, and among quantities
REACHED = {"status": "status", "t_reached": "t", "nsteps": "nsteps", "niter": "niter"}
VARIED = "varied_"
TAKEN = {*STATES, *PLACES, *REACHED, *AXES, "energy", "count", "time", "member", "time_reduced"}
WORDS = {"mean": "mean", "std": "standard deviation", "min": "least", "max": "greatest"}


class Labelled(NamedTuple):
    """Values with the names of their dimensions, units and coordinates, as xarray wants them."""

    dims: tuple[str, ...]
    values: Any
    attrs: dict[str, Any]
    coords: dict[str, Any]


def captioned(name: str, before: tuple[str, ...], values: Any) -> Labelled:
    """Something of ``CAPTIONS``; ``before`` are the dimensions before the last one."""
    last, units, text = CAPTIONS[name]
    attrs = {"long_name": text} | ({"units": units} if units else {})
    return Labelled((*before, *last), values, attrs, {})


def reduced(one: Reduction, name: str, values: np.ndarray) -> Labelled:
    """One result of a reduction, (times, …), or that of a ``FirstTime``, (members,)."""
    if isinstance(one, FirstTime):
        about = {"long_name": f"time of the first zero of {one.label}", "units": "s"}
        return Labelled(("member",), values, about, {})
    known = isinstance(one.of, str)
    last, units, text = CAPTIONS[one.of] if known else ((), "", one.label)  # type: ignore[index]
    before, about = ("time_reduced",), {"units": units} if units else {}
    if type(one) is Quantiles:
        level = f"{one.label}_level"
        about |= {"long_name": f"quantiles of: {text}"}
        return Labelled((*before, level), values, about, {level: list(map(float, one.levels))})
    if type(one) is Histogram:
        edge = f"{one.label}_edge"
        about = {"long_name": f"members from this edge to the next: {text}"}
        return Labelled((*before, edge), values, about, {edge: [-np.inf, *map(float, one.edges)]})
    if type(one) is MeanAttitude and name.endswith("spread"):
        about = {"long_name": "root mean square of 2 sin(angle/2) from the mean attitude"}
    elif type(one) in OURS:
        about |= {"long_name": f"{WORDS[name.rpartition('_')[2]]} of: {text}"}
    else:  # whose units nobody knows
        about = {"long_name": f"{name}, of: {text}"}
    if values.ndim == 1 or values.shape[1:] == (1,):
        return Labelled(before, values.reshape(len(values)), about, {})
    if values.shape[1:] != tuple(len(AXES[dim]) for dim in last):
        last = tuple(f"{name}_{k}" for k in range(1, values.ndim))
    return Labelled((*before, *last), values, about, {})


def varied(name: str, values: np.ndarray) -> Labelled:
    """What was varied, (members, …)."""
    last, units, text = CAPTIONS.get(name, ((), "", f"parameter {name} of the model"))
    if name == "inertia" and values.ndim == 3:
        last, text = (XYZ, "component_2"), "tensor of inertia, body axes"
    elif name not in CAPTIONS and values.ndim > 1:
        last = (XYZ,) if values.shape[1] == 3 else (f"{name}_part",)
    about = {"long_name": f"varied: {text}"} | ({"units": units} if units else {})
    return Labelled(("member", *last), values, about, {})


def attributes(facts: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Where a result came from."""
    return {
        "format": FORMAT,
        "polhode_version": __version__,
        "method": facts["method"],
        "reason": facts["reason"],
        "arguments": json.dumps(dict(facts["arguments"])),
        "problem": json.dumps(facts["problem"]),
        "seed": str(seed),
    }


def listed(reductions: Mapping[str, Labelled]) -> dict[str, str]:
    """The order of what was reduced, which files do not keep."""
    return {"reductions": json.dumps(list(reductions))}


# ---- writing
def free_place(path: str | os.PathLike) -> Path:
    """A path for a new store: an older one, or an empty directory, is removed."""
    place = checked_place(path)
    if place.exists():
        shutil.rmtree(place)
    return place


def checked_place(path: str | os.PathLike) -> Path:
    """A path for a new store, where there is nothing that is not to be replaced."""
    import zarr

    try:
        place = Path(path)
    except TypeError:
        raise InputError(f"out must be the name of a Zarr store, got {path!r}") from None
    if place.suffix != ".zarr":
        raise FileError(f"out must be the name of a Zarr store, ending in .zarr, got {str(path)!r}")
    if not place.parent.is_dir():
        raise FileError(f"there is no directory {str(place.parent)!r} to write {place.name!r} into")
    if not place.exists():
        return place
    known = None
    if place.is_dir() and any(place.iterdir()):
        try:
            known = zarr.open_group(place, mode="r").attrs.get("format")
        except (OSError, ValueError, KeyError):
            known = None
    elif place.is_dir():
        known = FORMAT
    if not str(known).startswith("polhode ensemble"):
        raise FileError(
            f"{str(path)!r} exists and is no ensemble of this library: give another name, or remove"
            " it"
        )
    return place


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What the system refuses is told in our words."""
    try:
        yield
    except OSError as error:
        raise FileError(
            f"cannot write {str(path)!r}: {error.strerror or error}; its directory must exist, be"
            " writable and have room for it"
        ) from error


def clear_remains(path: Path) -> None:
    """Remove what is left of a store that was killed while it was made."""
    if not path.exists():
        return
    if not path.is_dir() or any(x.is_file() and x.name[:2] != ".z" for x in path.iterdir()):
        raise FileError(f"{str(path)!r} is no store of this run: remove it, or move it away")
    shutil.rmtree(path)


class Store:
    """A store that is being written.

    ``rows`` is the number of times that lie together in it; ``write`` is best given that many.
    ``again``: it was made before, by a run that goes on or is finished.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        task: Task,
        size: int,
        facts: Mapping[str, Any],
        again: bool = False,
    ):
        import zarr

        self.path, self.task, self.again = Path(path), task, again
        self.count, self.times = task.members.count, task.times[task.saved]
        self.size = min(size, self.count)
        self.rows = max(1, min(PIECE // (self.size * 32), len(self.times)))
        self.names = STATES | (PLACES if task.members.problem.moves else {})
        about = {**attributes(facts, task.members.seed), "complete": False}
        self._about: tuple[int, Quantities] | None = None
        if again:
            self.group = self._reopened(about)
            return
        with writing(self.path):
            free_place(path)
            self.group = zarr.open_group(self.path, mode="w-", zarr_format=2, attributes=about)
            self._begin()

    def _begin(self) -> None:
        """All that is known at the start, and room for the rest."""
        task = self.task
        self._whole("time", captioned("time", ("time",), self.times))
        self._whole("member", Labelled(("member",), np.arange(self.count), {}, {}))
        for name, letters in AXES.items():
            self._whole(name, Labelled((name,), np.array(letters), {}, {}))
        for name, quantity in self.names.items():
            label = captioned(quantity, ("time", "member"), None)
            self._create(name, label, (len(self.times), self.count, len(AXES[label.dims[-1]])))
        for name in REACHED:
            some = np.full(self.count, NOT_RUN)
            values = np.full(self.count, np.nan) if name == "t_reached" else some
            self._whole(name, captioned(name, ("member",), values))
        for name in task.members.vary:
            label = varied(name, task.members.values(name, 0, 1))
            self._create(VARIED + name, label, (self.count, *label.values.shape[1:]))
        self._consolidate()

    def _reopened(self, about: Mapping[str, Any]) -> Any:
        """The group that was made before, if it is that of this run."""
        import zarr

        open_store(self.path)
        for remains in self.path.rglob("*.partial"):  # a kill leaves them
            remains.unlink()
        group: Any = zarr.open_group(self.path, mode="r+", use_consolidated=False)
        shape = len(self.times), self.count, 4
        same = all(group.attrs.get(k) == v for k, v in about.items() if k != "complete")
        if not same or "q" not in group or group["q"].shape != shape:
            raise FileError(
                f"{str(self.path)!r} is the store of another run: the checkpoint and the store"
                " belong together"
            )
        return group

    def _create(self, name: str, label: Labelled, shape: Sequence[int], dtype: Any = float) -> Any:
        pieces = {"time": self.rows, "member": self.size}
        chunks = [max(1, pieces.get(d, n)) for d, n in zip(label.dims, shape, strict=True)]
        return self.group.create_array(
            name,
            shape=tuple(shape),
            chunks=tuple(chunks),
            dtype=dtype,
            fill_value=np.nan if dtype is float else None,
            attributes={**label.attrs, "_ARRAY_DIMENSIONS": list(label.dims)},
            overwrite=self.again,
        )

    def _whole(self, name: str, label: Labelled) -> None:
        values = np.asarray(label.values)
        dtype = float if values.dtype.kind == "f" else values.dtype
        array = self._create(name, label, values.shape, dtype)
        if values.size:
            array[...] = values

    def _consolidate(self) -> None:
        import zarr

        zarr.consolidate_metadata(self.group.store, zarr_format=2)

    def write(self, first: int, place: int, states: np.ndarray) -> None:
        """States (times, members, …) from the ``place``-th time and the member ``first`` on."""
        members, last = self.task.members, first + states.shape[1]
        if self._about is None or self._about[0] != first:
            self._about = first, Quantities(members, members.rows(first, last))
        seen = [self._about[1].at(0.0, some) for some in states]
        for name, quantity in self.names.items():
            values = np.array([some[quantity] for some in seen])
            with writing(self.path):
                self.group[name][place : place + len(states), first:last] = values

    def put(self, first: int, last: int, arrays: Mapping[str, np.ndarray]) -> None:
        """A chunk that is done; its states unless they were written on the way."""
        if "states" in arrays:
            for place in range(0, len(self.times), self.rows):
                self.write(first, place, arrays["states"][place : place + self.rows])
        group: Any = self.group
        with writing(self.path):
            for name in self.task.members.vary:
                group[VARIED + name][first:last] = self.task.members.values(name, first, last)
            for name, key in REACHED.items():
                group[name][first:last] = arrays[f"reached {key}"]

    def finish(self, reductions: Mapping[str, Labelled], facts: Mapping[str, Any]) -> "Stored":
        """What is known at the end, and that it is all."""
        with writing(self.path):
            for name, label in of_reductions(reductions, facts).items():
                self._whole(name, label)
            self.group.attrs.update({**listed(reductions), "complete": True})
            self._consolidate()
        return self.stored()

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def stored(self) -> "Stored":
        """What was written, to be read."""
        members = self.task.members
        mass: Any = members.problem.body.mass
        if "mass" in members.vary:
            mass = members.values("mass", 0, self.count)
        return Stored(self.group, self.times, members, mass)


def of_reductions(
    reductions: Mapping[str, Labelled], facts: Mapping[str, Any]
) -> dict[str, Labelled]:
    """All that belongs to reductions in a file: their times, counts and coordinates, too."""
    found = dict(reductions)
    for label in reductions.values():
        for name, values in label.coords.items():
            found[name] = Labelled((name,), np.array(values), {}, {})
    if len(facts["t_reduced"]):
        before = ("time_reduced",)
        found["time_reduced"] = captioned("time_reduced", before, facts["t_reduced"])
        found["count"] = captioned("count", before, facts["count"])
    return found


# ---- reading
def open_store(path: str | os.PathLike) -> Any:
    """The group of a store that this library wrote; anything else is refused."""
    import zarr

    try:
        group = zarr.open_group(path, mode="r")
    except (OSError, ValueError, KeyError) as error:
        raise FileError(f"{str(path)!r} is not a Zarr store: {error}") from None
    if group.attrs.get("format") != FORMAT:
        raise FileError(
            f"{str(path)!r} is not an ensemble of this library: its attribute 'format' is"
            f" {group.attrs.get('format')!r}, not {FORMAT!r}"
        )
    return group


class Kept:
    """Saved states in memory: (times, members, …) in principal axes."""

    def __init__(self, members: Members, t: np.ndarray, states: np.ndarray, numbers: Any = None):
        self.members, self.t, self.states = members, t, states
        self.numbers = np.arange(members.count) if numbers is None else numbers

    def has(self, name: str) -> bool:
        problem = self.members.problem
        if name in PLACES.values():
            return problem.moves
        return name != "energy" or problem.model.has_potential

    def select(self, times: Any, places: Any) -> "Kept":
        states = self.states[times][:, places]
        return Kept(self.members, self.t[times], states, self.numbers[places])

    def __getitem__(self, name: str) -> np.ndarray:
        """A quantity, (times, members, components)."""
        if not len(self.t) or not len(self.numbers):
            return np.empty((len(self.t), len(self.numbers), *_width(name)))
        about = Quantities(self.members, _rows(self.members, self.numbers))
        pairs = zip(self.t.tolist(), self.states, strict=True)
        return np.array([about.at(t, states)[name] for t, states in pairs])


class Stored:
    """Saved states in a store or a data set, read when they are asked for, and no others.

    ``arrays`` maps names to arrays; ``times`` and ``places`` are those that count, ``numbers`` the
    members there.  Without ``members`` there is no energy, unless it is stored.
    """

    def __init__(
        self,
        arrays: Any,
        t: np.ndarray,
        members: Members | None = None,
        mass: Any = 1.0,
        numbers: np.ndarray | None = None,
        times: np.ndarray | None = None,
        places: np.ndarray | None = None,
    ):
        self.arrays, self.t, self.members, self.mass = arrays, t, members, mass
        self.times = np.arange(len(t)) if times is None else times
        self.places = np.arange(arrays["q"].shape[1]) if places is None else places
        self.numbers = self.places if numbers is None else numbers

    def has(self, name: str) -> bool:
        if name in PLACES.values():
            return "x" in self.arrays
        known = "energy" in self.arrays
        if self.members is not None:
            known = known or self.members.problem.model.has_potential
        return name != "energy" or known

    def select(self, times: Any, places: Any) -> "Stored":
        mass = self.mass if np.ndim(self.mass) == 0 else self.mass[places]
        chosen = self.numbers[places], self.times[times], self.places[places]
        return Stored(self.arrays, self.t[times], self.members, mass, *chosen)

    def _read(self, name: str) -> np.ndarray:
        array, key = self.arrays[name], (_slice(self.times), _slice(self.places))
        if isinstance(array, np.ndarray):
            return array[key[0]][:, key[1]]
        return array.oindex[key]

    def __getitem__(self, name: str) -> np.ndarray:
        """A quantity, (times, members, components)."""
        if not len(self.t) or not len(self.numbers):
            return np.empty((len(self.t), len(self.numbers), *_width(name)))
        own = {quantity: name for name, quantity in (STATES | PLACES).items()}
        if name in own:
            return self._read(own[name])
        if name == "energy":
            if name in self.arrays or self.members is None:
                return self._read(name)[..., None]
            return Kept(self.members, self.t, self._inner(self.members), self.numbers)[name]
        m = self._read("angular_momentum")
        if name == "angular_momentum_inertial":
            q = np.moveaxis(self._read("q"), -1, 0)
            return np.stack(to_inertial(tuple(q), tuple(np.moveaxis(m, -1, 0))), axis=-1)
        assert name == "kinetic_energy"
        turning = 0.5 * (m * self._read("omega")).sum(axis=-1, keepdims=True)
        if not self.has("velocity"):
            return turning
        v, mass = self._read("v"), np.reshape(self.mass, (-1, 1))
        return turning + 0.5 * mass * (v * v).sum(axis=-1, keepdims=True)

    def _inner(self, members: Members) -> np.ndarray:
        """The states in principal axes."""
        q, m = self._read("q"), self._read("angular_momentum")
        bodies = _rows(members, self.numbers).bodies
        if not members.is_aligned:
            axes, parts = tuple(bodies[:, 6:10].T), (np.moveaxis(x, -1, 0) for x in (q, m))
            q, m = (np.stack(x, axis=-1) for x in _inside(axes, *map(tuple, parts)))
        if not self.has("position"):
            return np.concatenate([q, m], axis=-1)
        p = self._read("v") * bodies[:, 10:11]
        return np.concatenate([q, m, self._read("x"), p], axis=-1)


def _inside(axes: tuple, q: tuple, m: tuple) -> tuple[tuple, tuple]:
    return product(q, axes), to_body(axes, m)


def _rows(members: Members, numbers: np.ndarray) -> Rows:
    low, high = int(numbers.min()), int(numbers.max()) + 1
    return members.rows(low, high)[numbers - low]


def _width(name: str) -> tuple[int, ...]:
    last, _, _ = CAPTIONS[name]
    return tuple(len(AXES[dim]) for dim in last) or (1,)


def _slice(places: np.ndarray) -> Any:
    """The same places as a slice, if they follow each other."""
    if len(places) and (np.diff(places) == 1).all():
        return slice(int(places[0]), int(places[-1]) + 1)
    return places
