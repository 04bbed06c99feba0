"""What to solve and how: a problem of the catalogue or a run file, with changes by options."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from polhode.body.mesh import SUFFIXES
from polhode.cli import schema
from polhode.cli.schema import EnsembleFile, RunFile, did_you_mean
from polhode.contracts import Model
from polhode.ensembles.distributions import Distribution
from polhode.ensembles.members import member_array
from polhode.errors import FileError, InputError
from polhode.files.given import open_file
from polhode.integrators import INTEGRATORS, OF_BODIES
from polhode.models import MODELS
from polhode.problems import CATALOGUE
from polhode.problems.names import shapes_of
from polhode.problems.problem import Problem

Change = tuple[str, Any]
VARY = "vary"
MOST_BYTES, DEEPEST = 2**26, 16  # of a run file
BARE_WORD = re.compile(r"[A-Za-z][\w.:-]*")


@dataclass(frozen=True)
class Plan:
    """A problem, and how to run it."""

    name: str
    summary: str
    problem: Problem
    run: schema.RunTable
    ensemble: schema.EnsembleTable = field(default_factory=schema.EnsembleTable)
    vary: Mapping[str, Any] = field(default_factory=dict)


def make_plan(target: str, changes: Iterable[Change], kind: type[RunFile] = RunFile) -> Plan:
    """Plan the run of a catalogue name, a run file or a mesh, with ``changes`` by dotted keys."""
    path, name = Path(target), target.replace("_", "-")
    if path.suffix.lower() in SUFFIXES:
        data = {"body": {"mesh": target}, "initial": {}, "run": {}}
        return _build(Source(data, path.stem, str(path), path), changes, kind)
    if name not in CATALOGUE:
        if path.suffix == ".toml" or path.is_file():
            return _build(_read_file(path), changes, kind)
        raise InputError(
            f"{target!r} is neither a problem of the catalogue{did_you_mean(name, CATALOGUE)} nor a"
            f" file ending in .toml; the catalogue has {', '.join(CATALOGUE)}"
        )
    return _build(_from_catalogue(name), changes, kind)


@dataclass
class Source:
    """The tables of a run file, and where they come from.

    ``known`` is the problem of the catalogue that they describe, apart from the keys in ``own``;
    whatever is not changed is taken from it.
    """

    data: dict
    name: str
    summary: str
    path: Path | None
    known: Problem | None = None
    own: Mapping[str, Any] = field(default_factory=dict)


def _build(source: Source, changes: Iterable[Change], kind: type[RunFile]) -> Plan:
    """Apply the changes, check all tables, and build the problem."""
    data, known = source.data, source.known
    set_keys = _apply(changes, source, kind)
    tables = {key.partition(".")[0] for key in set_keys}
    if known is not None and "run.dt" not in set_keys and is_adaptive(data["run"]["method"]):
        del data["run"]["dt"]  # the catalogue's, for a method with fixed steps
    mistakes: list[str] = []
    file = schema.collect(mistakes, schema.validate, kind, data, ())
    vary = _sources(data, source.path, mistakes) if kind is EnsembleFile else {}
    if known is not None and "model" not in tables:
        model: Model | None = known.model
    else:
        table = data.get("model", {"name": "free"})
        model = schema.collect(mistakes, schema.make_model, table, ("model",))
    _refuse(mistakes, source.path)
    if known is not None and tables <= {"model", "run", "name", "ensemble", VARY}:
        problem = copy(known)
        problem.model = model if model is not None else known.model
    else:
        problem = Problem(file.body.rigid_body, model, scalar_first=True, **file.initial.arguments)
    problem.name = file.name or source.name
    summary = _summary(source.summary, set_keys)
    if kind is not EnsembleFile:
        return Plan(problem.name, summary, problem, file.run)
    _refuse(vary_mistakes(problem, vary), source.path)
    return Plan(problem.name, summary, problem, file.run, file.ensemble, vary)


def _apply(changes: Iterable[Change], source: Source, kind: type[RunFile]) -> dict[str, Any]:
    """Change the tables of ``source``; the full keys that were set there or in the file."""
    data, set_keys = source.data, dict(source.own)
    for key, value in changes:
        if kind is EnsembleFile and (key == VARY or key.startswith(f"{VARY}.")):
            set_keys[_change_vary(data, key, value)] = value
        else:
            set_keys[_change(data, key, value, settable_keys(data, kind))] = value
    return set_keys


def _summary(summary: str, set_keys: Mapping[str, Any]) -> str:
    """Return the summary of a problem with what was changed in it."""
    quiet = "run.", "ensemble."
    shown = [f"{key} = {value}" for key, value in set_keys.items() if not key.startswith(quiet)]
    return f"{summary.rstrip('.')}; changed: {', '.join(shown)}" if shown else summary


# ---- what is varied
def _sources(data: dict, path: Path | None, mistakes: list[str]) -> dict[str, Any]:
    table = data.get("vary", {})
    folder = Path() if path is None else path.parent
    return {
        name: schema.collect(mistakes, schema.make_source, name, value, ("vary", name), folder)
        for name, value in (_entries(table, "") if isinstance(table, dict) else ())
    }


def _entries(table: dict, prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield names and their tables; ``model.strength`` may be one quoted key or nested tables."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        is_table = isinstance(value, dict)
        if is_table and (name == "model" or (prefix and not {*value} & {*schema.KINDS})):
            yield from _entries(value, f"{name}.")
        else:
            yield name, value


def vary_mistakes(problem: Problem, vary: Mapping[str, Any]) -> list[str]:
    """What in [vary] does not fit the problem."""
    shapes, mistakes = shapes_of(problem), []
    if not vary:
        mistakes.append(
            "vary: missing; say what differs between members, for instance"
            " [vary] omega = { normal = { mean = [0, 0, 5], sigma = 0.1 } }"
        )
    for name, source in vary.items():
        if name not in shapes:
            hint = did_you_mean(name, shapes)
            mistakes.append(f"vary.{name}: unknown{hint}; allowed: {', '.join(shapes)}")
            continue
        try:
            if isinstance(source, Distribution):
                source.draw(np.random.default_rng(0), 1, shapes[name])
            else:
                member_array(name, getattr(source, "values", source), shapes[name])
        except InputError as error:
            text = str(error).removeprefix(f"vary[{name!r}]").strip()
            mistakes.append(f"vary.{name}: {text}")
    return mistakes


def _refuse(mistakes: list[str], path: Path | None) -> None:
    """Raise an error that lists the mistakes, if there are any."""
    if not mistakes:
        return
    prefix = "" if path is None else f"{path}: "
    if len(mistakes) > 1:
        mistakes = [f"{len(mistakes)} mistakes", *mistakes]
    raise InputError(prefix + "\n  ".join(mistakes))


def is_adaptive(method: Any) -> bool:
    """Return whether a name is that of an integrator with adaptive steps."""
    return method in OF_BODIES and INTEGRATORS[method].adaptive


# ---- where tables come from
def _read_file(path: Path) -> Source:
    data = _find_mesh(path, _read_toml(path))
    if "problem" not in data:
        return Source(data, path.stem, str(path), path)
    name = str(data.pop("problem")).replace("_", "-")
    if name not in CATALOGUE:
        hint = did_you_mean(name, CATALOGUE)
        raise InputError(
            f"{path}: problem = {name!r}: unknown{hint}; allowed: {', '.join(CATALOGUE)}"
        )
    source, own, mistakes = _from_catalogue(name), {}, []
    tables = source.data
    for table in ("model", "body", "initial", "run"):
        given = data.pop(table, {})
        if isinstance(given, list):
            tables[table] = own[table] = given
        for key, value in _dotted(given, f"{table}.") if isinstance(given, dict) else ():
            try:
                own[_change(tables, key, value, settable_keys(tables), "")] = value
            except InputError as error:
                mistakes.append(str(error))
    _refuse(mistakes, path)
    summary = f"{path}: {source.summary}"
    return Source({**tables, **data}, path.stem, summary, path, source.known, own)


def _dotted(table: dict, prefix: str) -> Iterator[Change]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _dotted(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _read_toml(path: Path) -> dict:
    with open_file(path) as file:
        text = file.read(MOST_BYTES + 1)
    try:
        if len(text) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES} bytes")
        return _parse(text.decode())
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path} is not TOML: {error}") from error


def _parse(text: str) -> dict:
    """Read TOML, with the numbers and the depth that a run file may have."""
    data = tomllib.loads(text)
    rest: list[tuple[str, Any, int]] = [(key, value, 1) for key, value in data.items()]
    while rest:
        key, value, depth = rest.pop()
        if depth > DEEPEST:
            raise ValueError(f"{key} is nested more than {DEEPEST} deep")
        if isinstance(value, int) and abs(value) >= 2**64:
            raise ValueError(f"{key} is a number of {len(hex(value)) - 2} hexadecimal digits")
        inner: Iterable[Any] = value if isinstance(value, list) else ()
        inner = value.values() if isinstance(value, dict) else inner
        rest += [(key, part, depth + 1) for part in inner]
    return data


def _find_mesh(path: Path, data: dict) -> dict:
    """Read the name of a mesh relative to the run file."""
    body = data.get("body")
    if isinstance(body, dict) and isinstance(body.get("mesh"), str):
        body["mesh"] = str(path.parent / body["mesh"])
    return data


def _from_catalogue(name: str) -> Source:
    """Describe a problem of the catalogue by the tables of a run file."""
    entry = CATALOGUE[name]
    problem = entry.make()
    model, place = problem.model, {}
    terms = [{"name": term.name, **term.parameters} for term in model.terms]
    if problem.position is not None and problem.velocity is not None:
        place = {"position": list(problem.position), "velocity": list(problem.velocity)}
    attitude = {"quaternion": list(problem.attitude), "scalar_first": True}
    tables = {
        "body": {"inertia": problem.body.inertia.tolist(), "mass": problem.body.mass},
        "model": terms or {"name": model.name, **model.parameters},
        "initial": {"attitude": attitude, "omega": list(problem.omega), **place},
        "run": {"method": entry.method, "dt": entry.dt, "t_end": entry.t_end},
    }
    return Source(tables, name, entry.summary, None, problem)


# ---- changes
def set_changes(texts: Iterable[str] | None) -> list[Change]:
    """Return the changes by ``--set`` options."""
    return [parse_change(text) for text in texts or ()]


def option_changes(table: str, **values: Any) -> list[Change]:
    """Return the changes of a table by options; None stands for an option that is absent."""
    return [(f"{table}.{key}", value) for key, value in values.items() if value is not None]


def parse_change(text: str) -> Change:
    """Return (key, value) of ``key=value``; the value is TOML, or a bare word."""
    key, sign, value = (part.strip() for part in text.partition("="))
    if not (key and sign and value):
        raise InputError(f"--set takes key=value, got {text!r}")
    try:
        data = _parse(f"value = {value}")
    except (ValueError, RecursionError):
        data = {"value": value} if BARE_WORD.fullmatch(value) else {}
    if set(data) != {"value"}:
        raise InputError(
            f"--set {key}: the value must be TOML, such as 30, [0, 0, 40] or true, got {value!r}"
        )
    return key, data["value"]


def _change(
    data: dict, key: str, value: Any, allowed: list[str], option: str = "--set key "
) -> str:
    """Set a key in ``data``, given in full or by its last parts; returns the full key."""
    found = [key] if key in allowed else [full for full in allowed if full.endswith(f".{key}")]
    if len(found) != 1:
        problem = f"is ambiguous: {' or '.join(found)}" if found else "is unknown"
        last = {full.rpartition(".")[2]: full for full in allowed}
        hint = did_you_mean(key, [*allowed, *last]) if not found else ""
        raise InputError(f"{option}{key!r} {problem}{hint}; allowed: {', '.join(allowed)}")
    *tables, last_part = found[0].split(".")
    place: Any = data
    for part in tables:
        place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
        if not isinstance(place, (dict, list)):
            raise InputError(f"{option}{key!r}: {part} = {place!r} is not a table")
    if tables and tables[0] == "model" and last_part == "name":
        place.clear()  # another model has other parameters
    if last_part == "mesh" and "inertia" in place:
        place.pop("mass", None)  # that of the body before
    if last_part == "inertia":
        place.pop("scale", None)
        place.pop("density", None)
    for group in schema.EXCLUSIVE:
        if last_part in group:
            for other in group:
                place.pop(other, None)
    if last_part in ("rotation_vector", "matrix"):
        place.pop("scalar_first", None)
    place[last_part] = value
    return found[0]


def _change_vary(data: dict, key: str, value: Any) -> str:
    """Set what differs between members, or a part of it: vary.omega, vary.omega.normal.sigma.

    A new kind (normal, uniform, …) replaces the one before.
    """
    parts = key.split(".")[1:]
    kinds = [k for k, part in enumerate(parts) if part in schema.KINDS]
    end = kinds[0] if kinds else len(parts)
    name, inner = ".".join(parts[:end]), parts[end:]
    if not all(parts) or not name:
        raise InputError(
            f"--set key {key!r}: say what is varied, vary.NAME or vary.NAME.KIND.KEY, for instance"
            " vary.omega='{ normal = { mean = [0, 0, 5], sigma = 0.1 } }' or"
            " vary.omega.normal.sigma=0.1"
        )
    table = data.setdefault(VARY, {})
    if not isinstance(table, dict):
        raise InputError(f"--set key {key!r}: vary = {table!r} is not a table")
    found: dict[str, Any] = dict(_entries(table, ""))
    if inner and not (isinstance(found.get(name), dict) and inner[0] in found[name]):
        found[name] = {}
    *path, last = name, *inner
    place = found
    for part in path:
        place = place.setdefault(part, {})
        if not isinstance(place, dict):
            raise InputError(f"--set key {key!r}: {part} = {place!r} is not a table")
    if inner == ["file"]:
        value = str(Path(str(value)).absolute())  # relative to here, not to the run file
    place[last] = value
    data[VARY] = found
    return key


def settable_keys(data: dict, kind: type[RunFile] = RunFile) -> list[str]:
    """List all keys that may be set, dotted."""
    model = data.get("model", {"name": "free"})
    parts = enumerate(model) if isinstance(model, list) else [("", model)]
    tables: dict[str, Any] = {"": ["name"], "body.": schema.BodyTable.model_fields}
    for place, table in parts:
        make = MODELS.get(table.get("name", "free")) if isinstance(table, dict) else None
        fields = schema.model_table(make).model_fields if make else ["name"]
        tables[f"model.{place}." if place != "" else "model."] = fields
    tables["initial.attitude."] = schema.AttitudeTable.model_fields
    tables["initial."] = [name for name in schema.InitialTable.model_fields if name != "attitude"]
    tables["run."] = schema.RunTable.model_fields
    if kind is EnsembleFile:
        tables["ensemble."] = schema.EnsembleTable.model_fields
    return [f"{prefix}{name}" for prefix, names in tables.items() for name in names]
