"""``EnsembleResult``: what ``solve_ensemble`` returns."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode._chunk import Quantities, Seen
from polhode._members import Members
from polhode.contracts import ADVICE, OK, Status
from polhode.errors import InputError
from polhode.problem import Problem

if TYPE_CHECKING:
    import xarray

SAVED = "q", "angular_momentum", "omega", "position", "velocity", "energy", "kinetic_energy"


class EnsembleResult:
    """The motion of many bodies: dimensions time, member, component.

    Attributes
    ----------
    t : (times,) of the states that were saved
    q : (times, members, 4) attitudes (w, x, y, z)
    omega, angular_momentum : (times, members, 3) in body axes
    x, v : (times, members, 3) of the centre of mass, None if the members do not move
    energy, kinetic_energy : (times, members)
    status, success : (members,) how each ended, and whether well
    t_reached, nsteps, niter : (members,) of the last good state; Newton iterations or trial steps
        that did not count
    reductions : what ``reduce=`` asked for, by name: the time first
    t_reduced : its times;  count : how many members were still going then
    seed : with which the members can be drawn again;  method, reason, arguments : as of a run

    Members are chosen by ``result[5]``, ``result[10:20]`` or ``result[result.success]``; ``len`` is
    their number.  ``result.problem(i)`` is the problem of one member, to look at it alone.
    """

    def __init__(
        self,
        members: Members,
        states: Any,
        arrays: Mapping[str, Any],
        reductions: Mapping[str, np.ndarray],
        facts: Mapping[str, Any],
        chosen: np.ndarray | None = None,
    ):
        self._members, self._states, self._facts = members, states, dict(facts)
        self._arrays, self.reductions = dict(arrays), dict(reductions)
        self._chosen = chosen
        self.t, self.t_reduced = facts["t"], facts["t_reduced"]
        self.count = facts["count"]
        self.seed = members.seed
        self.method, self.reason = facts["method"], facts["reason"]
        self.arguments: Mapping[str, Any] = facts["arguments"]
        self.status = arrays["status"]
        self.t_reached, self.nsteps = arrays["t"], arrays["nsteps"]
        self.niter = arrays["niter"]

    def __len__(self) -> int:
        return len(self.status)

    @property
    def members(self) -> np.ndarray:
        """Their numbers."""
        return np.arange(self._members.count) if self._chosen is None else self._chosen

    @property
    def success(self) -> np.ndarray:
        return self.status == OK

    def message(self, member: int) -> str:
        """How a member ended, if not well."""
        place = self._place(member)
        status = Status(int(self.status[place]))
        if status == Status.OK:
            return ""
        return (
            f"member {member} stopped at t = {self.t_reached[place]:.10g} after"
            f" {self.nsteps[place]} steps: {ADVICE[status]}"
        )

    def problem(self, member: int) -> Problem:
        """The problem of one member: its run alone has the same bits."""
        self._place(member)
        return self._members.of(int(member))

    def varied(self, name: str) -> np.ndarray:
        """What was varied, for every member."""
        if name not in self._members.vary:
            names = ", ".join(self._members.vary) or "nothing"
            raise InputError(f"{name!r} was not varied; varied was {names}")
        return self._members.values(name, 0, self._members.count)[self.members]

    def __getitem__(self, key: Any) -> "EnsembleResult":
        """Some members."""
        chosen = np.atleast_1d(np.arange(len(self))[key])
        arrays = {name: value[chosen] for name, value in self._arrays.items()}
        states = np.asarray(self._states)[:, chosen]
        return EnsembleResult(
            self._members, states, arrays, self.reductions, self._facts, self.members[chosen]
        )

    def _place(self, member: int) -> int:
        places = np.flatnonzero(self.members == member)
        if len(places) == 0:
            raise InputError(f"there is no member {member} among these {len(self)}")
        return int(places[0])

    # ---- quantities
    @cached_property
    def _about(self) -> Quantities:
        if self._chosen is None:
            return Quantities(self._members, self._members.rows(0, self._members.count))
        low, high = int(self._chosen.min()), int(self._chosen.max()) + 1
        return Quantities(self._members, self._members.rows(low, high)[self._chosen - low])

    def _seen(self, k: int) -> Seen:
        return self._about.at(float(self.t[k]), np.asarray(self._states[k]))

    def _all(self, name: str) -> np.ndarray:
        return np.array([self._seen(k)[name] for k in range(len(self.t))])

    @property
    def q(self) -> np.ndarray:
        return self._all("q")

    @property
    def omega(self) -> np.ndarray:
        return self._all("omega")

    @property
    def angular_momentum(self) -> np.ndarray:
        return self._all("angular_momentum")

    @property
    def angular_momentum_inertial(self) -> np.ndarray:
        return self._all("angular_momentum_inertial")

    @property
    def x(self) -> np.ndarray | None:
        return self._all("position") if self._members.problem.moves else None

    @property
    def v(self) -> np.ndarray | None:
        return self._all("velocity") if self._members.problem.moves else None

    @property
    def kinetic_energy(self) -> np.ndarray:
        return self._all("kinetic_energy")[..., 0]

    @property
    def energy(self) -> np.ndarray | None:
        if not self._members.problem.model.has_potential:
            return None
        return self._all("energy")[..., 0]

    # ---- elsewhere
    def to_xarray(self) -> "xarray.Dataset":
        """A data set with the dimensions time, member and component."""
        import xarray

        members = ("time", "member")
        data: dict[str, Any] = {
            "q": ((*members, "quaternion"), self.q),
            "omega": ((*members, "component"), self.omega),
            "angular_momentum": ((*members, "component"), self.angular_momentum),
            "status": (("member",), self.status),
            "t_reached": (("member",), self.t_reached),
            "nsteps": (("member",), self.nsteps),
        }
        if self._members.problem.moves:
            data["x"] = (*members, "component"), self.x
            data["v"] = (*members, "component"), self.v
        for name, values in self.reductions.items():
            if len(values) == self._members.count and values.ndim == 1 and "first" in name:
                data[name] = ("member",), values[self.members]
            else:
                others = (f"{name}_{k}" for k in range(1, values.ndim))
                data[name] = ("time_reduced", *others), values
        return xarray.Dataset(
            data,
            coords={
                "time": self.t,
                "member": self.members,
                "quaternion": list("wxyz"),
                "component": list("xyz"),
                "time_reduced": self.t_reduced,
            },
            attrs={"method": self.method, "seed": str(self.seed)},
        )

    def __repr__(self) -> str:
        bad = len(self) - int(self.success.sum())
        failed = f", {bad} of them failed" if bad else ""
        kept = f"{len(self.t)} times saved" if len(self.t) else "no states saved"
        reduced = f", {', '.join(self.reductions)}" if self.reductions else ""
        return f"<EnsembleResult {len(self)} members by {self.method}{failed}; {kept}{reduced}>"
