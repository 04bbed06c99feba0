"""``EnsembleResult``: what ``solve_ensemble`` returns."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.contracts import ADVICE, OK, Status
from polhode.ensembles import places, store
from polhode.ensembles.distributions import Sweep
from polhode.ensembles.members import Members
from polhode.ensembles.quantities import BESIDE, COMPONENTS, Labelled, label, label_varied
from polhode.ensembles.store import REACHED, ROTATION, TRANSLATION, MemoryStates, StoredStates
from polhode.errors import FileError, InputError
from polhode.files import netcdf as storage
from polhode.files import tables, zarr_folder
from polhode.files.given import damage_refused, memory
from polhode.problems.problem import Problem
from polhode.results import trajectory
from polhode.results.derivatives import Derivatives, known
from polhode.results.export import CHOICES, as_html, as_text
from polhode.results.trajectory import Trajectory

if TYPE_CHECKING:
    import pandas
    import xarray


def _quantity(name: str) -> Any:
    """Make a property that reads a saved quantity; None if there is none."""
    return property(lambda self: self._saved[name] if self._saved.has(name) else None)


class EnsembleResult:
    """The motion of many bodies: dimensions time, member, component.

    Attributes
    ----------
    t : (times,) of the saved states
    q : (times, members, 4) attitudes (w, x, y, z), body to inertial
    omega, angular_momentum : (times, members, 3) in body axes
    angular_momentum_inertial : (times, members, 3)
    x, v : (times, members, 3) of the centre of mass, None if the members do not move
    kinetic_energy, energy : (times, members); energy is None without a potential
    stm : (times, members, 6, 6) state transition matrices, with ``sensitivities=["state"]``
    sensitivity : the same matrices by name, for all that the solver was asked for
    status, success : (members,) how each ended; ``message(i)`` says what went wrong and what to try
    t_reached, nsteps, niter : (members,) time of the last good state, steps, and Newton iterations
        or rejected trial steps
    reductions : the results of ``reduce=`` by name: over all members, the time first; first times,
        FLI and MEGNO are (members,)
    labelled : the same by name as (dims, values, attrs, coords): the names of the dimensions, units
        and a long name, and the levels or edges along a dimension
    t_reduced : the times of the reductions;  count : the members that had not failed by then
    members : (members,) their numbers;  seed : that of the random draws
    method, reason, arguments : as in a ``Trajectory``;  problem_data : what the members share
    path : the store that holds the states, if any;  complete : False if its run was interrupted

    Select members by ``result[5]``, ``result[10:20]`` or ``result[result.success]``, times by
    ``result.select(times=…)``; ``len`` is the number of members.  States in a store are read on
    demand: select first, then read.  ``result.problem(i)`` is the problem of one member, to study
    it alone.

    Examples
    --------
    >>> import polhode as ph
    >>> spins = ph.distributions.Normal([0, 0, 50], 0.5)
    >>> result = ph.solve_ensemble(
    ...     ph.problems.fast_top(), (0, 1), members=20, vary={"omega": spins}, seed=1, method="mr2",
    ...     dt=0.01, reduce="mean(omega)", reduce_times=3,
    ... )
    >>> len(result), result.q.shape, sorted(result.reductions)
    (20, (1, 20, 4), ['omega_mean', 'omega_std'])
    >>> result[5].members
    array([5])
    """

    def __init__(
        self,
        members: "Members | RecordedMembers",
        saved: MemoryStates | StoredStates,
        reached: Mapping[str, np.ndarray],
        reductions: Mapping[str, Labelled],
        facts: Mapping[str, Any],
    ):
        self._members, self._saved, self._facts = members, saved, dict(facts)
        self._reached = dict(reached)
        self.labelled: Mapping[str, Labelled] = dict(reductions)
        self.t, self.members = saved.t, saved.numbers
        self.t_reduced, self.count = facts["t_reduced"], facts["count"]
        self.method, self.reason = facts["method"], facts["reason"]
        self.arguments: Mapping[str, Any] = facts["arguments"]
        self.path: Path | None = facts.get("path")
        self.complete: bool = facts.get("complete", True)
        self.seed = members.seed
        self.status, self.t_reached = reached["status"], reached["t"]
        self.nsteps, self.niter = reached["nsteps"], reached["niter"]

    def __len__(self) -> int:
        return len(self.status)

    @property
    def success(self) -> np.ndarray:
        return self.status == OK

    @property
    def problem_data(self) -> Mapping[str, Any]:
        return self._members.problem_data

    def message(self, member: int) -> str:
        """Why a member stopped early, and what to try; "" if it did not."""
        place = self._place(member)
        if self.status[place] == store.NOT_RUN:
            return f"member {member} was not run: the run was interrupted first"
        status = Status(int(self.status[place]))
        if status == Status.OK:
            return ""
        return (
            f"member {member} stopped at t = {self.t_reached[place]:.10g} after"
            f" {self.nsteps[place]} steps: {ADVICE[status]}"
        )

    def problem(self, member: int) -> Problem:
        """The problem of one member; solving it alone gives the same bits."""
        self._place(member)
        return self._members.of(int(member))

    @property
    def varied_names(self) -> tuple[str, ...]:
        """The names of the varied quantities."""
        return tuple(self._members.vary)

    def varied(self, name: str) -> np.ndarray:
        """The values of a varied quantity, one for each member."""
        if name not in self._members.vary:
            names = ", ".join(self._members.vary) or "none"
            raise InputError(f"{name!r} was not varied; varied quantities: {names}")
        first = int(self.members.min(initial=self._members.count - 1))
        last = int(self.members.max(initial=first)) + 1
        return self._members.values(name, first, last)[self.members - first]

    @property
    def grid(self) -> dict[str, np.ndarray]:
        """The swept quantities and their values, if these members are the whole grid of them.

        Numbers of members take its shape by ``values.reshape([len(v) for v in grid.values()])``.
        """
        whole = np.array_equal(self.members, np.arange(self._members.count))
        vary = self._members.vary if whole else {}
        return {name: one.values for name, one in vary.items() if isinstance(one, Sweep)}

    @property
    def reductions(self) -> dict[str, np.ndarray]:
        return {name: one.values for name, one in self.labelled.items()}

    # ---- selection
    def __getitem__(self, key: Any) -> "EnsembleResult":
        """Select members by an index, a slice, a mask or a list of indices."""
        return self.select(members=key)

    def select(self, times: Any = slice(None), members: Any = slice(None)) -> "EnsembleResult":
        """Select saved times and members, each by an index, a slice, a mask or a list."""
        rows, places = (
            _indices(times, len(self.t), "times"),
            _indices(members, len(self), "members"),
        )
        reached = {name: value[places] for name, value in self._reached.items()}
        reductions = {
            name: one._replace(values=one.values[places]) if "member" in one.dims else one
            for name, one in self.labelled.items()
        }
        saved = self._saved.select(rows, places)
        return EnsembleResult(self._members, saved, reached, reductions, self._facts)

    def __iter__(self) -> Iterator["EnsembleResult"]:
        """One member after another."""
        return (self[place] for place in range(len(self)))

    def _place(self, member: int) -> int:
        places = np.flatnonzero(self.members == member)
        if len(places) == 0:
            raise InputError(f"there is no member {member} among these {len(self)}")
        return int(places[0])

    # ---- quantities
    q = _quantity("q")
    omega = _quantity("omega")
    angular_momentum = _quantity("angular_momentum")
    angular_momentum_inertial = _quantity("angular_momentum_inertial")
    x = _quantity("position")
    v = _quantity("velocity")

    @property
    def variables(self) -> dict[str, np.ndarray]:
        """The variables of the model by name, (times, members) or (times, members, k) each."""
        size = len(self.t), len(self)
        return {
            name: np.reshape(self._saved[name], (*size, *shape))
            if all(size)
            else np.empty((*size, *shape))
            for name, shape in store.variable_shapes(self.problem_data).items()
        }

    @property
    def kinetic_energy(self) -> np.ndarray:
        """Kinetic energy of rotation, and of the centre of mass if it moves."""
        return self._saved["kinetic_energy"][..., 0]

    @property
    def energy(self) -> np.ndarray | None:
        """Kinetic and potential energy; None without a potential."""
        return self._saved["energy"][..., 0] if self._saved.has("energy") else None

    # ---- derivatives
    @property
    def sensitivity(self) -> Derivatives:
        """Derivatives by name, (times, members, 6, k) each, or (times, members, 6) by one number.

        With a position there are 12 rows; see ``Trajectory.sensitivity``.
        """
        return known(self._saved.derivatives())

    @property
    def stm(self) -> np.ndarray:
        return self.sensitivity.stm

    def covariance(self, initial: Any) -> np.ndarray:
        """Covariance matrices (times, members, 6, 6), M P Mᵀ; see ``Trajectory.covariance``."""
        return self.sensitivity.covariance(initial)

    # ---- text
    def summary(self) -> dict[str, str]:
        """What ``print`` shows: a few facts by name."""
        ended = f"{int(self.success.sum())} succeeded"
        for status in np.unique(self.status[~self.success]).tolist():
            name = "not run" if status == store.NOT_RUN else Status(status).name
            ended += f", {int((self.status == status).sum())} {name}"
        states = f"{len(self.t)} times saved" if len(self.t) else "none saved"
        if len(self.t):
            states += f", t = {self.t[0]:g}" + (f" to {self.t[-1]:g}" if len(self.t) > 1 else "")
        facts = {
            "members": f"{len(self)}, seed {self.seed}",
            "varied": ", ".join(self._members.vary) or "nothing",
            "method": ", ".join([self.method, *(f"{k}={v!r}" for k, v in self.arguments.items())]),
            **({"chosen": self.reason} if self.reason else {}),
            "ended": ended,
            "states": states,
        }
        if self.labelled:
            at = f" at {len(self.t_reduced)} times" if len(self.t_reduced) else ""
            facts["reduced"] = ", ".join(self.labelled) + at
        if self.path is not None:
            facts["store"] = f"{self.path}{'' if self.complete else ' (its run was interrupted)'}"
        title = self.problem_data["name"] or self.problem_data["model"]
        return {"problem": f"{title}", **facts}

    def __repr__(self) -> str:
        return as_text("EnsembleResult", self.summary())

    def _repr_html_(self) -> str:
        return as_html("EnsembleResult", self.summary())

    # ---- other forms
    def plot(
        self,
        axes: Any = None,
        *,
        figsize: tuple[float, float] | None = None,
        theme: str | None = None,
    ) -> np.ndarray:
        """Draw a panel for every reduction, and two for the last saved states.

        ``axes``: matplotlib axes to draw into; the axes are returned.  ``figsize`` is the size of
        a new figure in inches, ``theme`` "light" (the default) or "dark".
        """
        from polhode import plot

        return plot.ensemble(self, axes, figsize, theme=theme)

    def view(self, **options: Any) -> Any:
        """Show the members as moving points in the browser, or in the cell of a notebook.

        Parameters
        ----------
        where : on a unit sphere: "axis" (the default), "momentum" or "omega" in inertial axes,
            "momentum_body" or "omega_body" in body axes; "space": the positions in a box
        axis : the axis of the body that ``where="axis"`` shows, by default (0, 0, 1)
        colour : what colours the points: the name of a varied quantity or one of its components
            ("omega", "omega_x", "model.strength"), "tilt", "speed", "energy", "kinetic_energy",
            "status", "t_reached", "nsteps", "niter", a first time; or an array (members,) or
            (times, members)
        colour_label, colour_range : the name at the colour bar, and the values at its ends
        members, frames : how many members and times to show, at most; evenly spaced ones are
        budget : bytes that the page may have, by default 2e6.  What does not fit is left out, and
            the page says how much: members first, but not below 24 times
        theme, title, height, browser : as in ``ph.view``

        In the page, shift and drag picks members in a rectangle; the widget of a notebook has their
        numbers as ``picked``.
        """
        from polhode.view import view

        return view(self, **options)

    def save_html(self, path: str | os.PathLike, **options: Any) -> Path:
        """Write the moving points as one HTML file that needs nothing else.

        The options are those of ``view``, without ``height`` and ``browser``.
        """
        from polhode.view import save_html

        return save_html(self, path, **options)

    def to_xarray(self) -> "xarray.Dataset":
        """A data set with dimensions time, member, component (x, y, z), quaternion (w, x, y, z).

        Varied quantities are named ``varied_omega``, …; reductions have ``time_reduced`` as their
        first dimension.
        """
        import xarray

        return xarray.Dataset(*self._data())

    def _data(self) -> storage.Data:
        """Return the variables, coordinates and attributes of the data set."""
        found: dict[str, Labelled] = {}
        for name, quantity in (ROTATION | TRANSLATION | {"energy": "energy"}).items():
            if self._saved.has(quantity):
                found[name] = label(quantity, ("time", "member"), getattr(self, name))
        for name, values in self.variables.items():
            found[BESIDE + name] = label(name, ("time", "member"), values, values.shape[2:])
        for name, key in REACHED.items():
            found[name] = label(name, ("member",), self._reached[key])
        if (derivatives := self._saved.derivatives()) is not None:
            for name, values in derivatives.items():
                single = not derivatives.shapes[name]
                found[store.SENSITIVITY + name] = store.label_sensitivity(name, values, single)
        for name in self._members.vary:
            found[store.VARIED + name] = label_varied(name, self.varied(name))
        found |= store.with_coordinates(self.labelled, self._facts)
        found["time"] = label("time", ("time",), self.t)
        found["member"] = Labelled(("member",), self.members, {}, {})
        variables: dict[str, Any] = {name: one[:3] for name, one in found.items()}
        names = [name for name in variables if found[name].dims == (name,)]
        coordinates = {name: variables.pop(name) for name in names}
        about = store.attributes(self._facts, self._members) | store.list_names(self.labelled)
        return storage.Data(variables, {**coordinates, **COMPONENTS}, about)

    def to_dataframe(self) -> "pandas.DataFrame":
        """A table of the last saved states, indexed by member, with a column for each component."""
        import pandas

        return pandas.DataFrame(self._table(), index=pandas.Index(self.members, name="member"))

    def _table(self) -> dict[str, Any]:
        columns: dict[str, Any] = {}
        for name in self._members.vary:
            values = self.varied(name)
            columns |= _columns(
                store.VARIED + name, values.reshape(len(self), -1), values.shape[1:]
            )
        if len(self.t):
            last = self.select(times=-1)
            for name, quantity in (ROTATION | TRANSLATION).items():
                if self._saved.has(quantity):
                    values = getattr(last, name)[0]
                    columns |= _columns(name, values, values.shape[1:])
            for name, values in last.variables.items():
                shape = values.shape[2:]
                columns |= _columns(name, values[0].reshape(len(self), -1), shape)
            if (energy := last.energy) is not None:
                columns["energy"] = energy[0]
        columns |= {n: one.values for n, one in self.labelled.items() if "member" in one.dims}
        return columns | {name: self._reached[key] for name, key in REACHED.items()}

    def save(self, path: str | os.PathLike) -> Path:
        """Write everything to a NetCDF file (.nc) or a Zarr store (.zarr), for ``ph.load``.

        .csv and .parquet are the table of ``to_dataframe``, for other programs.
        """
        if Path(path).suffix in tables.SUFFIXES:
            about = store.attributes(self._facts, self._members)
            return tables.write(path, {"member": self.members, **self._table()}, about)
        if Path(path).suffix not in (".nc", ".zarr"):
            raise FileError(f"path must end in {CHOICES}, got {str(path)!r}")
        if Path(path).suffix != ".zarr":
            return storage.write(path, self._data())
        if self.path is not None and Path(path).resolve() == self.path.resolve():
            raise FileError(f"{str(path)!r} is the store that this result is read from")
        place, run, data = places.check_place(path), places.new_run(), self._data()
        attrs = {**data.attributes, "complete": True, places.MARK: run}
        store.write_store(place, run, data._replace(attributes=attrs))
        return place


def _indices(key: Any, count: int, argument: str) -> np.ndarray:
    """The indices, out of ``count``, that a key selects."""
    try:
        return np.atleast_1d(np.arange(count)[key])
    except IndexError as error:
        raise InputError(f"{argument}={key!r} does not fit {count}: {error}") from None


def _columns(name: str, values: np.ndarray, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """One column for each component."""
    letters = {(): [""], (3,): list("xyz"), (4,): list("wxyz")}
    letters[3, 3] = [a + b for a in "xyz" for b in "xyz"]
    ends = letters.get(shape, [str(k) for k in range(values.shape[-1])])
    ends = [f"_{end}" if end else "" for end in ends]
    return {name + end: values[..., k] for k, end in enumerate(ends)}


# ---- from files
class RecordedMembers:
    """What a file knows about members: the varied values, but not the model that acts on them."""

    def __init__(
        self, values: Mapping[str, Any], count: int, seed: int, problem_data: Mapping[str, Any]
    ):
        self.vary, self.count, self.seed = values, count, seed
        self.problem_data = problem_data

    def values(self, name: str, first: int, last: int) -> np.ndarray:
        return np.asarray(self.vary[name][first:last])

    def of(self, member: int) -> Problem:
        raise InputError(
            "this result was read from a file, which does not hold the problem itself: define the"
            " problem again, with the values of result.varied(name)"
        )


def load(path: str | os.PathLike) -> "Trajectory | EnsembleResult":
    """Load what ``Trajectory.save``, ``EnsembleResult.save`` or ``solve_ensemble(out=…)`` wrote.

    The states of an ensemble in a Zarr store are read on demand.  A file does not hold the model,
    so ``result.problem(i)`` works only on the result of the run itself.

    Examples
    --------
    >>> import polhode as ph
    >>> run = ph.solve(ph.problems.fast_top(), (0, 1), method="mr2", dt=0.01)
    >>> path = run.save("top.nc")
    >>> bool((ph.load("top.nc").q == run.q).all())
    True
    """
    if Path(path).is_dir() and zarr_folder.is_store(path):
        return trajectory.load(path)
    if Path(path).is_dir():
        found, arrays = store.open_store(path)
        dims = {name: one.dims for name, one in found.arrays.items()}
        about = {name: one.attrs for name, one in found.arrays.items()}
        with store.reading(path):
            return _rebuild(arrays, dims, about, found.attrs, Path(path))
    data = storage.read(path, (storage.FORMAT, store.FORMAT))
    if data.attrs["format"] == storage.FORMAT:
        return trajectory.rebuild(path, data)
    with damage_refused(path):
        dims = {str(name): tuple(map(str, data[name].dims)) for name in data.variables}
        about = {name: dict(data[name].attrs) for name in dims}
        arrays = {name: data[name].values for name in dims}
        _check_layout(arrays, dims)
        attributes = {"complete": True, **data.attrs}
        for name in ("method", "reason", "arguments"):
            if not isinstance(attributes.get(name), str):
                raise ValueError(f"its attribute {name!r} is no text")
        if not store.attributes_fit(attributes):
            raise ValueError("its attributes are not those of a run")
        for name, shape in store.variable_shapes(json.loads(attributes["problem"])).items():
            if np.shape(arrays[BESIDE + name])[2:] != shape:
                raise ValueError(f"its variable {name!r} is not of the shape {shape}")
        return _rebuild(arrays, dims, about, attributes, None)


def _check_layout(arrays: Mapping[str, np.ndarray], dims: Mapping[str, tuple[str, ...]]) -> None:
    """Raise an error unless the arrays of a file are numbers over the dimensions they must have."""
    if lacking := {*ROTATION, *REACHED, "time", "member"} - set(arrays):
        raise ValueError(f"it lacks {min(lacking)!r}")
    for name in arrays:
        is_state = store.is_state(name)
        wanted = ("time", "member")[: 2 if is_state else 0] or ("member",)
        if (is_state or name in REACHED or name == "member") and (
            dims[name][: len(wanted)] != wanted or arrays[name].dtype.kind not in "fiub"
        ):
            raise ValueError(f"{name} is {arrays[name].dtype} over {dims[name]}")
    numbers = arrays["member"]
    unique = len(np.unique(numbers)) == len(numbers)
    if numbers.dtype.kind != "i" or not unique or (numbers < 0).any() or (numbers >= 2**31).any():
        raise ValueError(f"its members are {numbers[:4].tolist()} …")


def _rebuild(
    arrays: dict[str, Any],
    dims: dict[str, tuple[str, ...]],
    about: dict[str, dict],
    attrs: dict[str, Any],
    path: Path | None,
) -> EnsembleResult:
    """The result in a file: arrays, their dimensions and attributes, and its own attributes."""
    members = np.asarray(arrays["member"][:])
    count = int(members.max()) + 1 if len(members) else 0
    given = {
        name.removeprefix(store.VARIED): _by_number(arrays[name], members, count)
        for name in arrays
        if name.startswith(store.VARIED)
    }
    problem, none = json.loads(attrs["problem"]), np.empty(0)
    mass = given["mass"][members] if "mass" in given else problem["mass"]
    reductions = {}
    for name, array in arrays.items():
        own = name in store.RESERVED or name.startswith((store.VARIED, BESIDE, store.SENSITIVITY))
        if own or dims[name] == (name,):
            continue
        others = {d: arrays[d][:] for d in dims[name] if d in arrays and d not in store.RESERVED}
        text = {k: v for k, v in about[name].items() if not k.startswith("_")}
        reductions[name] = Labelled(dims[name], np.asarray(array[:]), text, others)
    order = json.loads(attrs.get("reductions", "[]"))
    reductions = {name: reductions[name] for name in (*order, *reductions) if name in reductions}
    facts = {
        "t_reduced": np.asarray(arrays["time_reduced"][:]) if "time_reduced" in arrays else none,
        "count": np.asarray(arrays["count"][:]) if "count" in arrays else none,
        **{name: attrs[name] for name in ("method", "reason", "complete")},
        "arguments": dict(json.loads(attrs["arguments"])),
        "path": path,
    }
    reached = {key: np.asarray(arrays[name][:]) for name, key in REACHED.items()}
    if set(reached["status"].tolist()) - {*Status, store.NOT_RUN}:
        raise ValueError("some members have an unknown status")
    derivatives = [name for name in arrays if name.startswith(store.SENSITIVITY)]
    times = np.asarray(arrays["time"][:])
    saved = StoredStates(arrays, times, None, mass, members, derivatives=derivatives)
    recorded = RecordedMembers(given, count, int(attrs["seed"]), problem)
    return EnsembleResult(recorded, saved, reached, reductions, facts)


def _by_number(array: Any, members: np.ndarray, count: int) -> np.ndarray:
    """The values of members, each at the index of its number."""
    values = np.asarray(array[:])
    if members.min(initial=0) < 0 or count * values[:1].nbytes > memory():
        raise ValueError(f"the numbers of members go from {members.min()} to {members.max()}")
    found = np.full((count, *values.shape[1:]), np.nan)
    found[members] = values
    return found
