"""From what was typed to what is to be solved: a catalogue name or a run file, with changes."""

import re
import tomllib
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polhode.body.mesh import SUFFIXES
from polhode.cli.schema import (
    FORMS,
    RATES,
    SOURCES,
    WEIGHTS,
    AttitudeTable,
    BodyTable,
    InitialTable,
    RunFile,
    RunTable,
    arguments_of,
    checked,
    did_you_mean,
    model_of,
)
from polhode.contracts import Model
from polhode.errors import FileError, InputError
from polhode.integrators import INTEGRATORS, OF_BODIES
from polhode.models import MODELS
from polhode.problem import Problem
from polhode.problems import CATALOGUE, Entry

Change = tuple[str, Any]
BARE_WORD = re.compile(r"[A-Za-z][\w.:-]*")


@dataclass(frozen=True)
class Plan:
    """A problem, and how to run it."""

    name: str
    summary: str
    problem: Problem
    run: RunTable


def plan(target: str, changes: Iterable[Change]) -> Plan:
    """The plan of a catalogue name or a run file, with ``changes`` by dotted keys."""
    path, name = Path(target), target.replace("_", "-")
    if path.suffix.lower() in SUFFIXES:
        data = {"body": {"mesh": target}, "initial": {}, "run": {}}
        return _planned(data, changes, path.stem, str(path))
    if name not in CATALOGUE:
        if path.suffix == ".toml" or path.is_file():
            return _planned(_beside(path, _read(path)), changes, path.stem, str(path))
        raise InputError(
            f"{target!r} is neither a problem of the catalogue{did_you_mean(name, CATALOGUE)} nor a"
            f" file ending in .toml; the catalogue has {', '.join(CATALOGUE)}"
        )
    entry = CATALOGUE[name]
    problem = entry.make()
    return _planned(_tables(problem, entry), changes, name, entry.summary, problem)


def _planned(
    data: dict, changes: Iterable[Change], name: str, summary: str, known: Problem | None = None
) -> Plan:
    """``known`` is the problem that ``data`` describes: what is not changed is taken from it."""
    set_keys = {_change(data, key, value): value for key, value in changes}
    touched = {key.partition(".")[0] for key in set_keys}
    if known is not None and "run.dt" not in set_keys and adaptive(data["run"]["method"]):
        del data["run"]["dt"]  # the catalogue has one for a map
    mistakes: list[str] = []
    file = checked(RunFile, data, (), mistakes)
    if known is not None and "model" not in touched:
        model: Model | None = known.model
    else:
        model = model_of(data.get("model", {"name": "free"}), ("model",), mistakes)
    if mistakes:
        raise InputError(_told(mistakes, "" if known is not None else summary))
    if known is not None and touched <= {"model", "run", "name"}:
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
    shown = [f"{key} = {value}" for key, value in set_keys.items() if not key.startswith("run.")]
    if shown:
        summary = f"{summary.rstrip('.')}; changed: {', '.join(shown)}"
    return Plan(problem.name, summary, problem, file.run)


def _told(mistakes: list[str], where: str) -> str:
    prefix = f"{where}: " if where else ""
    if len(mistakes) == 1:
        return prefix + mistakes[0]
    return f"{prefix}{len(mistakes)} mistakes\n  " + "\n  ".join(mistakes)


def adaptive(method: Any) -> bool:
    return method in OF_BODIES and INTEGRATORS[method].adaptive


# ---- where data come from
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


def _change(data: dict, key: str, value: Any) -> str:
    """Set a key, full or shortened to its last parts, in ``data``; returns it in full."""
    allowed = _keys(data)
    found = [key] if key in allowed else [full for full in allowed if full.endswith(f".{key}")]
    if len(found) != 1:
        problem = f"is ambiguous: {' or '.join(found)}" if found else "is unknown"
        last = {full.rpartition(".")[2]: full for full in allowed}
        hint = did_you_mean(key, [*allowed, *last]) if not found else ""
        raise InputError(f"--set key {key!r} {problem}{hint}; allowed: {', '.join(allowed)}")
    *tables, last_part = found[0].split(".")
    place: Any = data
    for part in tables:
        place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
        if not isinstance(place, (dict, list)):
            raise InputError(f"--set key {key!r}: {part} = {place!r} is not a table")
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


def _keys(data: dict) -> list[str]:
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
    return keys + [f"run.{name}" for name in RunTable.model_fields]
