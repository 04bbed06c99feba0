"""Ensembles in Zarr stores, written while they run, and the saved states of a result.

The states of a chunk go into the store a few times at once, so that never all of them are in
memory.  The attribute ``complete`` is false until everything is written; until then members that
have not run have the status ``NOT_RUN``.
"""

import json
import os
import time
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode._version import __version__
from polhode.ensembles import contents, places
from polhode.ensembles.members import AXES, MASS, Members, Rows
from polhode.ensembles.quantities import (
    BESIDE,
    COMPONENTS,
    QUANTITIES,
    Labelled,
    Snapshot,
    caption,
    label,
    label_varied,
)
from polhode.ensembles.tangents import derivatives_of
from polhode.errors import FileError, InputError, PolhodeError, PolhodeWarning
from polhode.files.given import has_form, memory
from polhode.files.netcdf import SENSITIVITY, VARIABLES
from polhode.kernels.quaternion import product, to_body, to_inertial
from polhode.results.derivatives import Derivatives
from polhode.solvers.sensitivities import Directions

if TYPE_CHECKING:
    from polhode.ensembles.task import Task
    from polhode.files.netcdf import Data

FORMAT = "polhode ensemble 1"
PIECE_BYTES = 2**24  # of an array, at most, that lie together in a store
NOT_RUN = -1
RETRIES, PAUSE, QUIET = 40, 0.02, 3  # to remove what an interrupted run has begun to write
ROTATION = {"q": "q", "omega": "omega", "angular_momentum": "angular_momentum"}
TRANSLATION = {"x": "position", "v": "velocity"}  # names in files, and of quantities
STATES = {*ROTATION, *TRANSLATION, "energy"}  # arrays that are read on demand
REACHED = {"status": "status", "t_reached": "t", "nsteps": "nsteps", "niter": "niter"}
VARIED = "varied_"
JSON_TEXTS = "problem", "arguments", "reductions"  # attributes
RESERVED = {
    *ROTATION, *TRANSLATION, *REACHED, *COMPONENTS, "energy", "count", "time", "member",
    "time_reduced",
}  # fmt: skip


def is_state(name: str) -> bool:
    """Whether an array of a file holds states, which are read on demand."""
    return name in STATES or name.startswith((BESIDE, SENSITIVITY))


def variable_shapes(problem: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The shapes of the variables of the model, by name, from plain data about a problem."""
    return {name: np.shape(value) for name, value in problem.get("variables", {}).items()}


def attributes(facts: Mapping[str, Any], members: Any) -> dict[str, Any]:
    """The provenance of a result."""
    return {
        "format": FORMAT,
        "polhode_version": __version__,
        "method": facts["method"],
        "reason": facts["reason"],
        "arguments": json.dumps(dict(facts["arguments"])),
        "problem": json.dumps(members.problem_data),
        "seed": str(members.seed),
    }


def list_names(reductions: Mapping[str, Labelled]) -> dict[str, str]:
    """The order of the reductions, which files do not keep."""
    return {"reductions": json.dumps(list(reductions))}


def with_coordinates(
    reductions: Mapping[str, Labelled], facts: Mapping[str, Any]
) -> dict[str, Labelled]:
    """The reductions with their coordinates, times and counts, as they stand in a file."""
    found = dict(reductions)
    for one in reductions.values():
        for name, values in one.coords.items():
            found[name] = Labelled((name,), np.array(values), {}, {})
    if len(facts["t_reduced"]):
        before = ("time_reduced",)
        found["time_reduced"] = label("time_reduced", before, facts["t_reduced"])
        found["count"] = label("count", before, facts["count"])
    return found


def label_sensitivity(name: str, values: Any, single: bool) -> Labelled:
    """Label derivatives by a quantity, (times, members, outputs, numbers)."""
    dims = ("time", "member", "of") if single else ("time", "member", "of", f"by_{name}")
    return Labelled(dims, values, {"long_name": f"derivatives of (θ, m), … by {name}"}, {})


# ---- writing
@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into a ``FileError`` that says what to do."""
    try:
        yield
    except RuntimeError as error:  # of a chunk that is read to be completed
        raise FileError(f"{str(path)!r} is damaged: {error}") from error
    except OSError as error:
        raise FileError(
            f"cannot write {str(path)!r}: {error.strerror or error}; its directory must exist, be"
            " writable and have enough free space"
        ) from error


@contextmanager
def create_store(path: Path, run: str) -> Iterator[Path]:
    """A draft to be filled, which becomes the store at ``path``, or nothing after an error."""
    draft = places.draft_of(path, run)
    draft.mkdir()
    try:
        yield draft
        places.move_into_place(draft, path)
    except BaseException:
        _remove_for_good(path, run)
        raise


def _remove_for_good(path: Path, run: str) -> None:
    """Remove a draft until it stays away: threads of Zarr may still write, and make it anew."""
    looks = 0
    for _ in range(RETRIES):
        looks = 0 if os.path.lexists(places.draft_of(path, run)) else looks + 1
        if looks == QUIET:
            return
        with suppress(OSError, FileError):
            places.remove_draft(path, run)
        time.sleep(PAUSE)


def open_for_writing(path: Path, attrs: Mapping[str, Any] | None = None) -> Any:
    """The group of a store that exists, or of one that is made with these attributes."""
    import zarr

    from polhode.ensembles.durable import DurableStore

    if attrs is None:
        return zarr.open_group(DurableStore(path), mode="r+", use_consolidated=False)
    return zarr.open_group(path, mode="a", zarr_format=2, attributes=dict(attrs))


def create_array(
    group: Any,
    name: str,
    about: Labelled,
    shape: Sequence[int],
    chunks: Sequence[int],
    dtype: Any = float,
    overwrite: bool = False,
) -> Any:
    """Make room for an array; its chunks will have checksums, and all be there."""
    return group.create_array(
        name,
        shape=tuple(shape),
        chunks=tuple(max(1, n) for n in chunks),
        dtype=dtype,
        **contents.codecs(),
        fill_value=np.nan if dtype is float else None,
        attributes={**about.attrs, "_ARRAY_DIMENSIONS": list(about.dims)},
        overwrite=overwrite,
        config={"write_empty_chunks": True},
    )


def write_store(path: Path, run: str, data: "Data") -> None:
    """Write a whole store at once."""
    import zarr

    with translate_errors(path), create_store(path, run) as draft:
        group = open_for_writing(draft, data.attributes)
        for name, entry in {**data.variables, **data.coordinates}.items():
            dims, values, attrs = entry if isinstance(entry, tuple) else ((name,), entry, {})
            values = np.asarray(values)
            dtype = float if values.dtype.kind == "f" else values.dtype
            about = Labelled(dims, None, attrs, {})
            room = max(1, PIECE_BYTES // max(1, values[:1].nbytes))
            chunks = min(room, len(values)), *values.shape[1:]
            array = create_array(group, name, about, values.shape, chunks, dtype)
            if values.size:
                array[...] = values
        zarr.consolidate_metadata(group.store, zarr_format=2)
        contents.write_list(contents.survey(draft, compared=False))


class Store:
    """A store while it is written.

    ``rows`` is the number of times that lie together in it; ``write`` is best given that many.
    ``run`` is the number of the run that makes it.  ``reopen``: it was created by an earlier
    process, whose run continues or is finished.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        task: "Task",
        size: int,
        facts: Mapping[str, Any],
        run: str | None = None,
        reopen: bool = False,
    ):
        self.path, self.task, self.reopen = Path(path), task, reopen
        new = run or places.new_run()
        self.count, self.times = task.members.count, task.times[task.at_save]
        self.size = min(size, self.count)
        self.rows = max(1, min(PIECE_BYTES // (self.size * 32), len(self.times)))
        self.names = ROTATION | (TRANSLATION if task.members.moves else {})
        self.shapes = variable_shapes(task.members.problem_data)
        self.names |= {BESIDE + name: name for name in self.shapes}
        self.directions = None if task.growth else task.directions
        attrs = {
            **attributes(facts, task.members),
            "complete": False,
            places.MARK: run if reopen else new,
        }
        if reopen:
            self.group = self._open_again(attrs)
            return
        places.check_place(path)
        with translate_errors(self.path), create_store(self.path, new) as draft:
            self.group = open_for_writing(draft, attrs)
            self._begin()
        self.group = open_for_writing(self.path)

    def _begin(self) -> None:
        """Write all that is known at the start, and make room for the rest."""
        members = self.task.members
        self._write_whole("time", label("time", ("time",), self.times))
        self._write_whole("member", Labelled(("member",), np.arange(self.count), {}, {}))
        for name, letters in COMPONENTS.items():
            self._write_whole(name, Labelled((name,), np.array(letters), {}, {}))
        for name, quantity in self.names.items():
            own = self.shapes.get(quantity)
            about = label(quantity, ("time", "member"), None, own or ())
            each = QUANTITIES[quantity].shape if own is None else own
            self._create(name, about, (len(self.times), self.count, *each))
        for name, about in self._sensitivities(members.rows(0, 1)).items():
            self._create(name, about, (len(self.times), self.count, *about.values.shape[2:]))
        for name in REACHED:
            some = np.full(self.count, NOT_RUN)
            values = np.full(self.count, np.nan) if name == "t_reached" else some
            self._write_whole(name, label(name, ("member",), values))
        for name in members.vary:
            about = label_varied(name, members.values(name, 0, 1))
            self._create(VARIED + name, about, (self.count, *about.values.shape[1:]))
        self._consolidate()

    def _open_again(self, attrs: Mapping[str, Any]) -> Any:
        """The group that an earlier process created, if it belongs to this run."""
        varied = {VARIED + name for name in self.task.members.vary}
        varied |= set(self._sensitivities(self.task.members.rows(0, 1)))
        begun = {"time", "member", *COMPONENTS, *self.names, *REACHED, *varied}
        found = check_store(self.path, begun)
        places.remove_partial_files(self.path)
        shape = len(self.times), self.count, 4
        may_differ = "complete", "polhode_version"  # the checkpoint warns of another version
        same = all(found.attrs.get(k) == v for k, v in attrs.items() if k not in may_differ)
        if not same or found.arrays["q"].shape != shape or begun - set(found.arrays):
            raise FileError(
                f"{str(self.path)!r} is the store of another run: the checkpoint and the store"
                " belong together"
            )
        return open_for_writing(self.path)

    def _sensitivities(self, rows: Rows, states: np.ndarray | None = None) -> dict[str, Labelled]:
        """The derivatives by name, of states (times, members, …) or of one row of zeros."""
        if self.directions is None:
            return {}
        states = np.zeros((1, len(rows), self.task.width)) if states is None else states
        found = derivatives_of(self.directions, rows, states)
        return {
            SENSITIVITY + name: label_sensitivity(name, values, not found.shapes[name])
            for name, values in found.items()
        }

    def _create(self, name: str, about: Labelled, shape: Sequence[int], dtype: Any = float) -> Any:
        pieces = {"time": self.rows, "member": self.size}
        chunks = [pieces.get(d, n) for d, n in zip(about.dims, shape, strict=True)]
        return create_array(self.group, name, about, shape, chunks, dtype, self.reopen)

    def _write_whole(self, name: str, about: Labelled) -> None:
        values = np.asarray(about.values)
        dtype = float if values.dtype.kind == "f" else values.dtype
        array = self._create(name, about, values.shape, dtype)
        if values.size:
            array[...] = values

    def _consolidate(self) -> None:
        import zarr

        zarr.consolidate_metadata(self.group.store, zarr_format=2)

    def _array(self, name: str) -> Any:
        return self.group[name].with_config({"write_empty_chunks": True})

    def settle(self) -> None:
        """Bring to the disk what was written: before a checkpoint says that it is there."""
        with translate_errors(self.path):
            self.group.store.settle()

    def write(self, rows: Rows, first: int, place: int, states: np.ndarray) -> None:
        """Write states (times, members, …) from the ``place``-th time and member ``first`` on."""
        last = first + states.shape[1]
        members = self.task.members
        own = states[..., : members.width]
        snapshots = [Snapshot(members, rows, 0.0, some) for some in own]
        found = {n: about.values for n, about in self._sensitivities(rows, states).items()}
        for name, quantity in self.names.items():
            values = np.array([snapshot[quantity] for snapshot in snapshots])
            found[name] = values[..., 0] if self.shapes.get(quantity) == () else values
        for name, values in found.items():
            with translate_errors(self.path):
                self._array(name)[place : place + len(states), first:last] = values

    def put(self, first: int, last: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Write a finished chunk, with its states unless they were written while it ran."""
        members = self.task.members
        if "states" in arrays and len(self.times):
            rows = members.rows(first, last)
            for place in range(0, len(self.times), self.rows):
                self.write(rows, first, place, arrays["states"][place : place + self.rows])
        ends = {VARIED + name: members.values(name, first, last) for name in members.vary}
        ends |= {name: arrays[f"reached {key}"] for name, key in REACHED.items()}
        with translate_errors(self.path):
            for name, values in ends.items():
                self._array(name)[first:last] = values

    def finish(
        self, reductions: Mapping[str, Labelled], facts: Mapping[str, Any]
    ) -> "StoredStates":
        """Write what is known at the end, and that the store is complete."""
        with translate_errors(self.path):
            (self.path / places.LIST).unlink(missing_ok=True)
            for name, about in with_coordinates(reductions, facts).items():
                self._write_whole(name, about)
            self.group.attrs.update({**list_names(reductions), "complete": True})
            self._consolidate()
            self.settle()
            found = contents.survey(self.path, compared=False)
            if all(one.summed for one in found.arrays.values()):
                contents.write_list(found)
        return self.states()

    def remove(self) -> None:
        with translate_errors(self.path):
            places.remove(self.path)

    def states(self) -> "StoredStates":
        """The states that were written, to be read."""
        members = self.task.members
        mass: Any = members.problem.body.mass
        if "mass" in members.vary:
            mass = members.values("mass", 0, self.count)
        names = tuple(self._sensitivities(members.rows(0, 1)))
        return StoredStates(self.group, self.times, members, mass, derivatives=names)


# ---- reading
@contextmanager
def reading(path: str | os.PathLike) -> Iterator[None]:
    """Turn whatever a damaged or forged file leads to into a ``FileError``."""
    try:
        yield
    except (PolhodeError, PolhodeWarning):
        raise
    except Exception as error:
        why = (str(error).splitlines() or [""])[0]
        kind = "" if isinstance(error, ValueError | OSError) else f"{type(error).__name__}: "
        raise FileError(f"cannot read {str(path)!r}: {kind}{why}") from error


def open_store(path: str | os.PathLike) -> tuple[contents.Contents, dict[str, Any]]:
    """(contents, arrays by name) of a store that this library wrote; anything else is refused."""
    import zarr

    found = check_store(path)
    with reading(path):
        group = zarr.open_group(found.place, mode="r", use_consolidated=False)
        return found, {name: group[name] for name in found.arrays}


def check_store(path: str | os.PathLike, begun: Collection[str] | None = None) -> contents.Contents:
    """Return what a store holds, if that is what this library writes; nothing is decoded.

    ``begun``: the arrays that were made at the beginning of a run that continues.  Its list does
    not count then, nor do other arrays, which a killed process may have left half-written.
    """
    finished = begun is None
    with reading(path):
        found = _look_at_store(path, begun)
        summed = all(one.summed for one in found.arrays.values())
        complete, listed = found.attrs["complete"], (found.place / places.LIST).exists()
        states = set(filter(is_state, found.arrays)) if complete else set()
        contents.check_chunks(found, {"time"} | states)
        if finished and summed and listed:
            contents.check_list(found)
    if finished and summed and complete and not listed:
        raise FileError(
            f"{str(path)!r} is complete but has no list of its files, '{places.LIST}': the list was"
            " removed, or the run was killed as it ended; resume from the checkpoint, if there is"
            " one"
        )
    if finished and not summed:
        warnings.warn(
            f"{str(path)!r} was written by an earlier version, without checksums: damage is not"
            " noticed; load and save it to add them",
            PolhodeWarning,
            stacklevel=4,
        )
    return found


def _look_at_store(path: str | os.PathLike, names: Collection[str] | None) -> contents.Contents:
    """Return what a store holds, after a look at its attributes and at these (or all) arrays."""
    place = Path(path).resolve()
    if not (place / ".zgroup").is_file():
        raise FileError(f"{str(path)!r} is not a Zarr store: it has no file '.zgroup'")
    form = contents.read_json(place / places.ATTRIBUTES).get("format")
    if form != FORMAT:
        raise FileError(
            f"{str(path)!r} is not an ensemble of this library: its attribute 'format' is"
            f" {form!r}, not {FORMAT!r}"
        )
    found = contents.survey(place, names)
    _check_attributes(found)
    _check_layout(found)
    contents.check_size(found, [name for name in found.arrays if not is_state(name)])
    return found


def _check_attributes(found: contents.Contents) -> None:
    """Refuse attributes of other types than those of ``attributes``."""
    if not attributes_fit(found.attrs):
        raise FileError(f"{str(found.place)!r} is damaged: its attributes are not those of a run")


def attributes_fit(attributes: Mapping[str, Any]) -> bool:
    """Return whether attributes of a file have the types that a run gives them."""
    given = {"reductions": "[]", **attributes}
    texts: dict[str, Any] = {
        name: given.get(name) for name in ("method", "reason", "seed", *JSON_TEXTS)
    }
    good = all(type(text) is str for text in texts.values()) and type(given["complete"]) is bool
    if good:
        problem, arguments, order = (json.loads(texts[name]) for name in JSON_TEXTS)
        good = isinstance(problem, dict) and isinstance(arguments, dict)
        good = good and isinstance(problem["name"] or "", str) and type(problem["model"]) is str
        good = good and type(problem.get("mass")) in (int, float)
        good = good and has_form(problem.get("variables", {}), VARIABLES)
        good = good and isinstance(order, list) and all(type(name) is str for name in order)
    return good


def _check_layout(found: contents.Contents) -> None:
    """Refuse a store that lacks an array, or whose arrays do not fit together."""
    place, arrays = found.place, found.arrays
    wanted: dict[str, tuple[str, ...]] = {"time": ("time",), "member": ("member",)}
    wanted |= dict.fromkeys(REACHED, ("member",))
    moves = "x" in arrays or "v" in arrays
    for name, quantity in (ROTATION | (TRANSLATION if moves else {})).items():
        wanted[name] = "time", "member", *QUANTITIES[quantity].dims
    if "energy" in arrays:
        wanted["energy"] = "time", "member"
    for name, shape in variable_shapes(json.loads(found.attrs["problem"])).items():
        wanted[BESIDE + name] = "time", "member", *caption(name, shape).dims
    for name, dims in wanted.items():
        if name not in arrays:
            raise FileError(f"{str(place)!r} lacks the array {name!r}")
        kind = "i" if name in ("member", "status", "nsteps", "niter") else "f"
        if (arrays[name].dims, arrays[name].dtype.kind) != (dims, kind):
            raise FileError(
                f"{str(place)!r}: {name!r} must have the dimensions {', '.join(dims)}, not"
                f" {', '.join(arrays[name].dims)} with numbers of the type {arrays[name].dtype}"
            )
    lengths = {name: len(letters) for name, letters in COMPONENTS.items()}
    for name, one in arrays.items():
        for dim, n in zip(one.dims, one.shape, strict=True):
            if lengths.setdefault(dim, n) != n:
                raise FileError(
                    f"{str(place)!r}: {name!r} has the length {n} along {dim!r}, not {lengths[dim]}"
                )
        if name.startswith(VARIED) and (one.dims[0] != "member" or one.dtype.kind != "f"):
            raise FileError(f"{str(place)!r}: {name!r} must hold numbers of members")


class MemoryStates:
    """Saved states in memory: (times, members, …) in principal axes.

    With ``directions`` each is followed by its derivatives in the user's axes.
    """

    def __init__(
        self,
        members: Members,
        t: np.ndarray,
        states: np.ndarray,
        numbers: Any = None,
        directions: Directions | None = None,
    ):
        self.members, self.t, self.states, self.directions = members, t, states, directions
        self.numbers = np.arange(members.count) if numbers is None else numbers

    def has(self, name: str) -> bool:
        if name in TRANSLATION.values():
            return self.members.moves
        return name != "energy" or self.members.problem.model.has_potential

    def select(self, times: Any, places: Any) -> "MemoryStates":
        states = self.states[times][:, places]
        rest = self.numbers[places], self.directions
        return MemoryStates(self.members, self.t[times], states, *rest)

    def derivatives(self) -> Derivatives | None:
        """The derivatives of all saved states; None if there are none."""
        if self.directions is None:
            return None
        return derivatives_of(self.directions, _rows(self.members, self.numbers), self.states)

    def __getitem__(self, name: str) -> np.ndarray:
        """A quantity, (times, members, components)."""
        if not len(self.t) or not len(self.numbers):
            return _empty(name, self.t, self.numbers)
        rows = _rows(self.members, self.numbers)
        own = self.states[..., : self.members.width]
        pairs = zip(self.t.tolist(), own, strict=True)
        return np.array([Snapshot(self.members, rows, t, states)[name] for t, states in pairs])


class StoredStates:
    """Saved states in a store or a data set, read on demand.

    ``arrays`` maps names to arrays, ``derivatives`` are the names of those that are; ``times`` and
    ``places`` are the selected indices, ``numbers`` the members there.  Without ``members`` there
    is no energy, unless it is stored.
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
        derivatives: Sequence[str] = (),
    ):
        self.named = derivatives
        self.arrays, self.t, self.members, self.mass = arrays, t, members, mass
        self.times = np.arange(len(t)) if times is None else times
        self.places = np.arange(arrays["q"].shape[1]) if places is None else places
        self.numbers = self.places if numbers is None else numbers

    def has(self, name: str) -> bool:
        if name in TRANSLATION.values():
            return "x" in self.arrays
        known = "energy" in self.arrays
        if self.members is not None:
            known = known or self.members.problem.model.has_potential
        return name != "energy" or known

    def select(self, times: Any, places: Any) -> "StoredStates":
        mass = self.mass if np.ndim(self.mass) == 0 else self.mass[places]
        indices = self.numbers[places], self.times[times], self.places[places]
        rest = *indices, self.named
        return StoredStates(self.arrays, self.t[times], self.members, mass, *rest)

    def _read(self, name: str) -> np.ndarray:
        array, key = self.arrays[name], (_slice(self.times), _slice(self.places))
        if isinstance(array, np.ndarray):
            return array[key[0]][:, key[1]]
        size = 8 * len(self.times) * len(self.places) * int(np.prod(array.shape[2:]))
        if size > memory():
            raise InputError(
                f"{name} of {len(self.times)} times and {len(self.places)} members takes"
                f" {size / 1e9:.3g} GB, with {memory() / 1e9:.3g} GB of memory: select some first,"
                " result.select(times=…, members=…)"
            )
        try:
            return array.oindex[key]
        except Exception as error:
            raise contents.explain(array, error) from error

    def __getitem__(self, name: str) -> np.ndarray:
        """A quantity, (times, members, components)."""
        if not len(self.t) or not len(self.numbers):
            return _empty(name, self.t, self.numbers)
        own = {quantity: name for name, quantity in (ROTATION | TRANSLATION).items()}
        if name in own:
            return self._read(own[name])
        if BESIDE + name in self.arrays:
            values = self._read(BESIDE + name)
            return values if values.ndim == 3 else values[..., None]
        if name == "energy":
            if name in self.arrays or self.members is None:
                return self._read(name)[..., None]
            states = self._principal_states(self.members)
            return MemoryStates(self.members, self.t, states, self.numbers)[name]
        m = self._read("angular_momentum")
        if name == "angular_momentum_inertial":
            q = np.moveaxis(self._read("q"), -1, 0)
            return np.stack(to_inertial(tuple(q), tuple(np.moveaxis(m, -1, 0))), axis=-1)
        assert name == "kinetic_energy"
        rotation = 0.5 * (m * self._read("omega")).sum(axis=-1, keepdims=True)
        if not self.has("velocity"):
            return rotation
        v, mass = self._read("v"), np.reshape(self.mass, (-1, 1))
        return rotation + 0.5 * mass * (v * v).sum(axis=-1, keepdims=True)

    def derivatives(self) -> Derivatives | None:
        """The derivatives of all saved states; None if there are none."""
        if not self.named:
            return None
        places: dict[str, slice] = {}
        shapes: dict[str, tuple[int, ...]] = {}
        parts, first = [], 0
        for name in self.named:
            values, quantity = self._read(name), name.removeprefix(SENSITIVITY)
            shapes[quantity] = values.shape[3:]
            parts.append(values if values.ndim == 4 else values[..., None])
            places[quantity] = slice(first, first + parts[-1].shape[-1])
            first = places[quantity].stop
        return Derivatives(np.concatenate(parts, axis=-1), places, shapes, {})

    def _principal_states(self, members: Members) -> np.ndarray:
        """The states in principal axes."""
        q, m = self._read("q"), self._read("angular_momentum")
        bodies = _rows(members, self.numbers).bodies
        if not members.is_aligned:
            axes = tuple(bodies[:, AXES].T)
            inner, outer = (tuple(np.moveaxis(x, -1, 0)) for x in (q, m))
            q, m = (np.stack(x, axis=-1) for x in (product(inner, axes), to_body(axes, outer)))
        beside = [] if members.company is None else [self[name] for name in members.company.names]
        if not self.has("position"):
            return np.concatenate([q, m, *beside], axis=-1)
        p = self._read("v") * bodies[:, MASS]
        return np.concatenate([q, m, self._read("x"), p, *beside], axis=-1)


def _rows(members: Members, numbers: np.ndarray) -> Rows:
    low, high = int(numbers.min()), int(numbers.max()) + 1
    return members.rows(low, high)[numbers - low]


def _empty(name: str, t: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    shape = QUANTITIES[name].shape if name in QUANTITIES else ()
    return np.empty((len(t), len(numbers), *(shape or (1,))))


def _slice(places: np.ndarray) -> Any:
    """The same places as a slice, if they are consecutive."""
    if len(places) and (np.diff(places) == 1).all():
        return slice(int(places[0]), int(places[-1]) + 1)
    return places
