"""From what was typed to what is to be solved: a catalogue name or a run file, with changes."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from polhode.body.mesh import SUFFIXES
from polhode.cli.schema import (
    FORMS,
    KINDS,
    RATES,
    SOURCES,
    WEIGHTS,
    AttitudeTable,
    BodyTable,
    EnsembleFile,
    EnsembleTable,
    InitialTable,
    RunFile,
    RunTable,
    arguments_of,
    checked,
    did_you_mean,
    model_of,
    source_of,
)
from polhode.contracts import Model
from polhode.ensembles.distributions import Distribution
from polhode.ensembles.members import member_array, shapes_of
from polhode.errors import FileError, InputError
from polhode.integrators import INTEGRATORS, OF_BODIES
from polhode.models import MODELS
from polhode.problems import CATALOGUE, Entry
from polhode.problems.problem import Problem

Change = tuple[str, Any]
VARY = "vary"
BARE_WORD = re.compile(r"[A-Za-z][\w.:-]*")


@dataclass(frozen=True)
class Plan:
    """A problem, and how to run it."""

    name: str
    summary: str
    problem: Problem
    run: RunTable
    ensemble: EnsembleTable = field(default_factory=EnsembleTable)
    vary: Mapping[str, Any] = field(default_factory=dict)


def plan(target: str, changes: Iterable[Change], kind: type[RunFile] = RunFile) -> Plan:
    """The plan of a catalogue name or a run file, with ``changes`` by dotted keys."""
    path, name = Path(target), target.replace("_", "-")
    if path.suffix.lower() in SUFFIXES:
        data = {"body": {"mesh": target}, "initial": {}, "run": {}}
        return _planned(Source(data, path.stem, str(path), path), changes, kind)
    if name not in CATALOGUE:
        if path.suffix == ".toml" or path.is_file():
            return _planned(_from_file(path), changes, kind)
        raise InputError(
            f"{target!r} is neither a problem of the catalogue{did_you_mean(name, CATALOGUE)} nor a"
            f" file ending in .toml; the catalogue has {', '.join(CATALOGUE)}"
        )
    entry = CATALOGUE[name]
    problem = entry.make()
    source = Source(_tables(problem, entry), name, entry.summary, None, problem)
    return _planned(source, changes, kind)


@dataclass
class Source:
    """The tables of a run file, and where they come from.

    ``known`` is the problem that they describe, but for the keys in ``own``: what is not changed is
    taken from it.
    """

    data: dict
    name: str
    summary: str
    path: Path | None
    known: Problem | None = None
    own: Mapping[str, Any] = field(default_factory=dict)


def _planned(source: Source, changes: Iterable[Change], kind: type[RunFile]) -> Plan:
    data, name, summary, known = source.data, source.name, source.summary, source.known
    where = "" if source.path is None else str(source.path)
    set_keys = dict(source.own)
    for key, value in changes:
        if kind is EnsembleFile and (key == VARY or key.startswith(f"{VARY}.")):
            set_keys[_vary(data, key, value)] = value
        else:
            set_keys[_change(data, key, value, _keys(data, kind))] = value
    touched = {key.partition(".")[0] for key in set_keys}
    if known is not None and "run.dt" not in set_keys and adaptive(data["run"]["method"]):
        del data["run"]["dt"]  # the catalogue has one for a map
    mistakes: list[str] = []
    file = checked(kind, data, (), mistakes)
    vary = _sources(data, source.path, mistakes) if kind is EnsembleFile else {}
    if known is not None and "model" not in touched:
        model: Model | None = known.model
    else:
        model = model_of(data.get("model", {"name": "free"}), ("model",), mistakes)
    if mistakes:
        raise InputError(_told(mistakes, where))
    if known is not None and touched <= {"model", "run", "name", "ensemble", VARY}:
        problem = copy(known)
        problem.model = model if model is not None else known.model
    else:
        start = file.initial
        problem = Problem(
            file.body.build(),
            model,
            attitude=start.attitude.build(),
            scalar_first=True,
            omega=start.omega,
            angular_momentum=start.angular_momentum,
            position=start.position,
            velocity=start.velocity,
        )
    problem.name = file.name or name
    quiet = "run.", "ensemble."
    shown = [f"{key} = {value}" for key, value in set_keys.items() if not key.startswith(quiet)]
    if shown:
        summary = f"{summary.rstrip('.')}; changed: {', '.join(shown)}"
    if kind is not EnsembleFile:
        return Plan(problem.name, summary, problem, file.run)
    if mistakes := unfit(problem, vary):
        raise InputError(_told(mistakes, where))
    return Plan(problem.name, summary, problem, file.run, file.ensemble, vary)


# ---- what is varied
def _sources(data: dict, path: Path | None, mistakes: list[str]) -> dict[str, Any]:
    table = data.get("vary", {})
    folder = Path() if path is None else path.parent
    return {
        name: source_of(name, value, ("vary", name), mistakes, folder)
        for name, value in (_entries(table, "") if isinstance(table, dict) else ())
    }


def _entries(table: dict, prefix: str) -> Iterator[tuple[str, Any]]:
    """Names and what is said of them; ``model.strength`` may be written with quotes or without."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        nested = name == "model" or (prefix and isinstance(value, dict) and not {*value} & {*KINDS})
        if nested and isinstance(value, dict):
            yield from _entries(value, f"{name}.")
        else:
            yield name, value


def unfit(problem: Problem, vary: Mapping[str, Any]) -> list[str]:
    """What of [vary] does not fit the problem."""
    shapes, mistakes = shapes_of(problem), []
    if not vary:
        mistakes.append(
            "vary: missing; say what differs from member to member, for instance"
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


def _told(mistakes: list[str], where: str) -> str:
    prefix = f"{where}: " if where else ""
    if len(mistakes) == 1:
        return prefix + mistakes[0]
    return f"{prefix}{len(mistakes)} mistakes\n  " + "\n  ".join(mistakes)


def adaptive(method: Any) -> bool:
    return method in OF_BODIES and INTEGRATORS[method].adaptive


# ---- where data come from
def _from_file(path: Path) -> Source:
    data = _beside(path, _read(path))
    if "problem" not in data:
        return Source(data, path.stem, str(path), path)
    name = str(data.pop("problem")).replace("_", "-")
    if name not in CATALOGUE:
        hint = did_you_mean(name, CATALOGUE)
        raise InputError(
            f"{path}: problem = {name!r}: unknown{hint}; allowed: {', '.join(CATALOGUE)}"
        )
    entry = CATALOGUE[name]
    problem = entry.make()
    tables, own, mistakes = _tables(problem, entry), {}, []
    for table in ("model", "body", "initial", "run"):
        given = data.pop(table, {})
        if isinstance(given, list):
            tables[table] = own[table] = given
        for key, value in _dotted(given, f"{table}.") if isinstance(given, dict) else ():
            try:
                own[_change(tables, key, value, _keys(tables), "")] = value
            except InputError as error:
                mistakes.append(str(error))
    if mistakes:
        raise InputError(_told(mistakes, str(path)))
    return Source({**tables, **data}, path.stem, f"{path}: {entry.summary}", path, problem, own)


def _dotted(table: dict, prefix: str) -> Iterator[Change]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _dotted(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _read(path: Path) -> dict:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"cannot read {str(path)!r}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{path} is not TOML: {error}") from error


def _beside(path: Path, data: dict) -> dict:
    """A mesh that a run file names lies beside it."""
    body = data.get("body")
    if isinstance(body, dict) and isinstance(body.get("mesh"), str):
        body["mesh"] = str(path.parent / body["mesh"])
    return data


def _tables(problem: Problem, entry: Entry) -> dict:
    """A problem of the catalogue as the tables of a run file."""
    terms = [{"name": term.name, **term.parameters} for term in problem.model.terms]
    model, place = problem.model, {}
    if problem.position is not None and problem.velocity is not None:
        place = {"position": list(problem.position), "velocity": list(problem.velocity)}
    return {
        "body": {"inertia": problem.body.inertia.tolist(), "mass": problem.body.mass},
        "model": terms or {"name": model.name, **model.parameters},
        "initial": {
            "attitude": {"quaternion": list(problem.attitude), "scalar_first": True},
            "omega": list(problem.omega),
            **place,
        },
        "run": {"method": entry.method, "dt": entry.dt, "t_end": entry.t_end},
    }


# ---- changes
def parsed(text: str) -> Change:
    """(key, value) of ``key=value``; the value is TOML, or a bare word."""
    key, sign, value = (part.strip() for part in text.partition("="))
    if not (key and sign and value):
        raise InputError(f"--set takes key=value, got {text!r}")
    try:
        data = tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        data = {"value": value} if BARE_WORD.fullmatch(value) else {}
    if set(data) != {"value"}:
        raise InputError(
            f"--set {key}: the value must be TOML, such as 30, [0, 0, 40] or true, got {value!r}"
        )
    return key, data["value"]


def _change(
    data: dict, key: str, value: Any, allowed: list[str], option: str = "--set key "
) -> str:
    """Set a key, full or shortened to its last parts, in ``data``; returns it in full."""
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
        place.pop("mass", None)  # of another body
    if last_part == "inertia":
        place.pop("scale", None)
        place.pop("density", None)
    for group in (SOURCES, WEIGHTS, FORMS, RATES):  # of which one can stand
        if last_part in group:
            for other in group:
                place.pop(other, None)
    if last_part in ("rotation_vector", "matrix"):
        place.pop("scalar_first", None)
    place[last_part] = value
    return found[0]


def _vary(data: dict, key: str, value: Any) -> str:
    """Set what differs from member to member, or a part of it: vary.omega, vary.omega.normal.sigma.

    Of normal, uniform, … one can stand.
    """
    parts = key.split(".")[1:]
    kinds = [k for k, part in enumerate(parts) if part in KINDS]
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
        value = str(Path(str(value)).absolute())  # not beside the run file, but seen from here
    place[last] = value
    data[VARY] = found
    return key


def _keys(data: dict, kind: type[RunFile] = RunFile) -> list[str]:
    """Every key that may be set, dotted."""
    keys = ["name", *(f"body.{name}" for name in BodyTable.model_fields)]
    model = data.get("model", {"name": "free"})
    tables = enumerate(model) if isinstance(model, list) else [("", model)]
    for place, table in tables:
        prefix = f"model.{place}." if place != "" else "model."
        make = MODELS.get(table.get("name", "free")) if isinstance(table, dict) else None
        keys += [prefix + name for name in (arguments_of(make).model_fields if make else ["name"])]
    keys += [f"initial.attitude.{name}" for name in AttitudeTable.model_fields]
    keys += [f"initial.{name}" for name in InitialTable.model_fields if name != "attitude"]
    keys += [f"run.{name}" for name in RunTable.model_fields]
    more = EnsembleTable.model_fields if kind is EnsembleFile else ()
    return keys + [f"ensemble.{name}" for name in more]
