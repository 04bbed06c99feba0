"""The tables of a run file, and messages about mistakes in them.

See docs/reference/run-files.md.
"""

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Annotated, Any, get_args

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from polhode.body import RigidBody
from polhode.cli.columns import attitudes, column
from polhode.contracts import Model
from polhode.ensembles import distributions
from polhode.ensembles.reductions import reductions_of
from polhode.errors import InputError, PolhodeError
from polhode.files.given import shortage
from polhode.formulations import COORDINATES, FORMULATIONS
from polhode.integrators import OF_BODIES
from polhode.methods import METHODS
from polhode.models import MODELS
from polhode.problems.problem import quaternion, rates

Path = tuple[str | int, ...]


# ---- values
def one_of(*groups: Iterable[str]) -> AfterValidator:
    """Check that a word is a name of one of the groups."""

    def check(value: str) -> str:
        allowed = [name for group in groups for name in group]
        if value not in allowed:
            raise ValueError(_unknown(value, allowed))
        return value

    return AfterValidator(check)


def readable_by(make: Callable[[Any], Any]) -> AfterValidator:
    """Check a value by making of it what it stands for."""

    def check(value: Any) -> Any:
        make(value)
        return value

    return AfterValidator(check)


def _are_numbers(value: Any) -> bool:
    """Return whether a value is a list of finite numbers, or of such lists of equal length."""
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError):
        return False
    return isinstance(value, list) and found.size > 0 and bool(np.isfinite(found).all())


def _numbers(value: Any) -> Any:
    alone = isinstance(value, (int, float)) and not isinstance(value, bool)
    if (alone and math.isfinite(value)) or _are_numbers(value):
        return value
    raise ValueError("must be a number, or a list of numbers")


def _times(value: Any, others: str = "a whole number") -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if whole or _are_numbers(value):
        return value
    raise ValueError(f"must be {others}, or a list of times")


def _selection(value: Any) -> Any:
    words = "final", "all", "none"
    text = '"final", "all", "none", a whole number of steps'
    return value if value in words else _times(value, text)


Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Numbers = Annotated[Any, AfterValidator(_numbers)]
Vector = Annotated[list[float], Field(min_length=3, max_length=3)]


# ---- tables
class Table(BaseModel):
    """A table without unknown keys, text in place of numbers, or infinities."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


class BodyTable(Table):
    inertia: Annotated[Any, readable_by(RigidBody)] = None
    mass: Positive | None = None
    mesh: str | None = None
    density: Positive | None = None
    scale: Positive | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "BodyTable":
        if (self.inertia is None) == (self.mesh is None):
            got = "neither" if self.mesh is None else "both"
            raise ValueError(f"give inertia, or mesh with mass or density; got {got}")
        for name in ("density", "scale"):
            if self.mesh is None and getattr(self, name) is not None:
                raise ValueError(f"{name} goes with mesh only")
        _ = self.rigid_body  # so that its mistakes are listed with all others
        return self

    @cached_property
    def rigid_body(self) -> RigidBody:
        if self.mesh is None:
            return RigidBody(self.inertia, self.mass or 1.0)
        weight = {"mass": self.mass, "density": self.density}
        return RigidBody.from_mesh(self.mesh, **weight, scale=self.scale or 1.0)


class AttitudeTable(Table):
    rotation_vector: Vector | None = None
    quaternion: Annotated[list[float], Field(min_length=4, max_length=4)] | None = None
    scalar_first: bool | None = None
    matrix: Annotated[list[Vector], Field(min_length=3, max_length=3)] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> "AttitudeTable":
        given = [name for name in FORMS if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"give one of {', '.join(FORMS)}; got {' and '.join(given)}")
        if self.quaternion is not None and self.scalar_first is None:
            raise ValueError(
                "a quaternion needs scalar_first = true for (w, x, y, z), or false for (x, y, z, w)"
            )
        if self.quaternion is None and self.scalar_first is not None:
            raise ValueError("scalar_first goes with quaternion only")
        self.build()
        return self

    def build(self) -> tuple[float, ...]:
        """Return the unit quaternion (w, x, y, z)."""
        if self.rotation_vector is not None:
            from scipy.spatial.transform import Rotation

            return quaternion(Rotation.from_rotvec(self.rotation_vector))
        return quaternion(self.quaternion or self.matrix, self.scalar_first)


SOURCES = "inertia", "mesh"
WEIGHTS = "mass", "density"
FORMS = "rotation_vector", "quaternion", "matrix"
RATES = "omega", "angular_momentum"
EXCLUSIVE = SOURCES, WEIGHTS, FORMS, RATES  # groups of keys, of which only one may be given


class InitialTable(Table):
    attitude: AttitudeTable = Field(default_factory=AttitudeTable)
    omega: Vector | None = None
    angular_momentum: Vector | None = None
    position: Vector | None = None
    velocity: Vector | None = None

    @model_validator(mode="after")
    def _one_rate(self) -> "InitialTable":
        rates(RigidBody([1, 1, 1]), self.omega, self.angular_momentum)
        return self

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments for ``Problem``."""
        return self.model_dump() | {"attitude": self.attitude.build()}


class RunTable(Table):
    method: Annotated[str, one_of(("auto",), METHODS, OF_BODIES)] = "auto"
    dt: Positive | None = None
    rtol: Annotated[float, Field(ge=0, lt=1)] | None = None
    atol: Annotated[float, Field(ge=0, lt=1)] | None = None
    formulation: Annotated[str, one_of(FORMULATIONS, COORDINATES)] | None = None
    first_step: Positive | None = None
    max_step: Positive | None = None
    max_steps: Count | None = None
    sensitivities: list[str] | None = None
    t_end: float
    t_start: float = 0.0
    save_every: Count = 1

    @model_validator(mode="after")
    def _steps(self) -> "RunTable":
        if self.dt is None and self.method in METHODS:
            raise ValueError(f"method {self.method!r} takes fixed steps and needs dt")
        return self

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments for ``solve``."""
        return self.model_dump(exclude={"t_end", "t_start"})


class RunFile(Table):
    """A run file, except for [model], whose keys depend on its name."""

    name: Annotated[str, Field(pattern=r"^\w[\w .+-]*$")] | None = None
    model: Any = None
    body: BodyTable
    initial: InitialTable
    run: RunTable


# ---- ensembles
class EnsembleTable(Table):
    members: Count | None = None
    seed: Annotated[int, Field(ge=0)] | None = None
    save: Annotated[Any, AfterValidator(_selection)] = "final"
    reduce: Annotated[list[str], readable_by(reductions_of)] = []
    reduce_times: Annotated[Any, AfterValidator(_times)] = None
    threads: Count | None = None
    chunk: Count | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments for ``solve_ensemble``."""
        save = None if self.save == "none" else self.save
        return self.model_dump() | {"save": save, "reduce": self.reduce or None}


class EnsembleFile(RunFile):
    """A run file of an ensemble; ``make_source`` reads the entries of [vary]."""

    ensemble: EnsembleTable = Field(default_factory=EnsembleTable)
    vary: dict[str, Any] = {}


class SweepTable(Table):
    start: Numbers = Field(alias="from")
    to: Numbers
    count: Count

    @model_validator(mode="after")
    def _alike(self) -> "SweepTable":
        if np.shape(self.start) != np.shape(self.to):
            raise ValueError("from and to must be numbers, or lists of the same length")
        if short := shortage(8.0 * self.count * max(np.size(self.start), 1)):
            raise ValueError(f"count = {self.count} needs {short}")
        return self

    def values(self) -> np.ndarray:
        return np.linspace(self.start, self.to, self.count)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


DRAWN = {_snake_case(name): kind for name, kind in distributions.DISTRIBUTIONS.items()}
TYPES = {Any: Numbers, float: Positive, float | distributions.Distribution: Any}
KINDS = *DRAWN, "sweep", "values", "file"


def make_source(name: str, table: Any, where: Path, folder: Any, allowed: Any = KINDS) -> Any:
    """Make the values or the distribution of one key of [vary]."""
    if not isinstance(table, dict) or len(table) != 1:
        kinds = ", ".join(allowed)
        raise Mistakes(f"{dotted(where)} = {table!r}: must be a table with one key of {kinds}")
    ((kind, inner),) = table.items()
    inside = (*where, kind)
    if kind not in allowed:
        raise Mistakes(f"{dotted(inside)}: {_unknown(kind, allowed)}")
    if kind in DRAWN:
        return _distribution(kind, inner, inside)
    if kind == "file":
        try:
            return column(name, folder / str(inner))
        except PolhodeError as error:
            raise Mistakes(f"{dotted(inside)} = {inner!r}: {error}") from None
    if kind == "sweep" and isinstance(inner, dict):
        found = validate(SweepTable, inner, inside).values()
    elif _are_numbers(inner):
        found = np.array(inner, dtype=float)
    else:
        text = "must be a list of numbers, or of vectors"
        raise Mistakes(f"{dotted(inside)} = {inner!r}: {text}")
    given = attitudes(found) if name == "attitude" else found
    return distributions.Sweep(given) if kind == "sweep" else given


def _distribution(kind: str, inner: Any, where: Path) -> Any:
    arguments = validate(table_of(DRAWN[kind], TYPES), inner, where).model_dump()
    if isinstance(arguments.get("length"), dict):
        inside, drawn = (*where, "length"), ("normal", "uniform")
        arguments["length"] = make_source("length", arguments["length"], inside, None, drawn)
    return DRAWN[kind](**arguments)


# ---- tables that are the arguments of a function
def table_of(make: Callable[..., Any], types: Mapping[Any, Any], **more: Any) -> type[Table]:
    """Derive a table from the arguments of ``make``, with other ``types``, and ``more`` keys."""
    for name, parameter in inspect.signature(make, eval_str=True).parameters.items():
        default = ... if parameter.default is parameter.empty else parameter.default
        more[name] = types.get(parameter.annotation, parameter.annotation), default
    return create_model(f"{make.__name__}_table", __base__=Table, **more)


def model_table(make: Callable[..., Model]) -> type[Table]:
    """Derive the table of a model."""
    return table_of(make, {}, name=(str, ...))


def make_model(table: Any, where: Path) -> Model:
    """Make the model of a table, or of an array of tables."""
    if isinstance(table, list) and table:
        mistakes: list[str] = []
        places = [(part, (*where, k)) for k, part in enumerate(table)]
        first, *others = (collect(mistakes, make_model, *place) for place in places)
        if mistakes:
            raise Mistakes(*mistakes)
        return sum(others, first)
    if not isinstance(table, dict):
        raise Mistakes(f"{dotted(where)} = {table!r}: must be a table [model]")
    name = table.get("name")
    if not isinstance(name, str) or name not in MODELS:
        problem = "missing" if name is None else f"unknown{did_you_mean(name, MODELS)}"
        text = dotted((*where, "name")) + ("" if name is None else f" = {name!r}")
        raise Mistakes(f"{text}: {problem}; allowed: {', '.join(MODELS)}")
    arguments = validate(model_table(MODELS[name]), table, where)
    try:
        return MODELS[name](**arguments.model_dump(exclude={"name"}))
    except InputError as error:
        raise Mistakes(f"{dotted(where)}: {error}") from None


# ---- messages
class Mistakes(Exception):
    """What is wrong in a run file: a line for each mistake."""


def collect(mistakes: list[str], make: Callable[..., Any], *arguments: Any) -> Any:
    """Make something of a table; None, with new ``mistakes``, if it has any."""
    try:
        return make(*arguments)
    except Mistakes as found:
        mistakes += found.args
        return None


def validate(kind: type[Table], data: Any, where: Path) -> Any:
    """Read the data as a table of this kind."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        lines = (_sentence(kind, fault, where) for fault in error.errors())
        raise Mistakes(*lines) from None


def _sentence(kind: type[Table], fault: Any, where: Path) -> str:
    key, value = dotted(where + fault["loc"]), fault["input"]
    if fault["type"] == "missing":
        return f"{key}: missing"
    if fault["type"] == "extra_forbidden":
        fields = _table_at(kind, fault["loc"][:-1]).model_fields
        allowed = [field.alias or name for name, field in fields.items()]
        hint = did_you_mean(fault["loc"][-1], allowed)
        return f"{key} = {value!r}: unknown key{hint}; allowed: {', '.join(allowed)}"
    text = fault["msg"].replace("Input should", "must")
    about = fault.get("ctx", {})
    if isinstance(about.get("error"), Exception):
        text = str(about["error"])
    elif fault["type"] == "model_type":
        text = "must be a table"
    elif fault["type"] in ("too_short", "too_long"):
        text = f"must have {about.get('min_length') or about['max_length']} entries"
    return f"{key}: {text}" if isinstance(value, (dict, Table)) else f"{key} = {value!r}: {text}"


def _table_at(kind: type[Table], place: Path) -> type[Table]:
    for part in place:
        annotation = kind.model_fields[str(part)].annotation
        kind = next(k for k in (annotation, *get_args(annotation)) if issubclass(k, Table))
    return kind


def dotted(path: Path) -> str:
    """Return the key of a place in nested tables, as in model.0.strength."""
    return ".".join(map(str, path))


def _unknown(word: Any, allowed: Any) -> str:
    return f"unknown{did_you_mean(word, allowed)}; allowed: {', '.join(allowed)}"


def did_you_mean(word: Any, words: Any) -> str:
    """Return a hint at the most similar of ``words``, or nothing."""
    close = get_close_matches(str(word), list(words), n=1)
    return f" (did you mean {close[0]}?)" if close else ""
