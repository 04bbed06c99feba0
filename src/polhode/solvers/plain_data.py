"""Problems and arguments as plain data, and back: what a checkpoint stores about a run.

Functions of this library are stored by name.  User-defined functions and large tables are stored
only as a digest of their content: to continue a run they must be given again, and are compared.
"""

import hashlib
import importlib
import inspect
import json
import math
import platform
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from polhode import contracts
from polhode.body import Geometry, RigidBody
from polhode.body.geometry import KINDS
from polhode.compiler.tree import Uncacheable, bind, digest, flat
from polhode.contracts import ORIGIN, Coordinates, Formulation, Integrator, Method, Model
from polhode.contracts.company import named_variables
from polhode.contracts.registry import file_names
from polhode.contracts.sums import total
from polhode.errors import FileError, InputError, PolhodeWarning
from polhode.files.checkpoint import TYPES
from polhode.formulations import COORDINATES, FORMULATIONS
from polhode.integrators import INTEGRATORS
from polhode.kernels.trig import ELEMENTARY
from polhode.methods import METHODS
from polhode.problems.problem import Problem
from polhode.solvers.arguments import Arguments

STORED = 1_000_000  # bytes of tables in a file; larger ones are only compared
FUNCTIONS = "torque", "potential", "wrench", "potential_at"
FLAGS = "depends_on_omega", "depends_on_velocity", "turns"
VARIABLES = "variable_names", "variables", "scales"  # fields of a model
UNSEEN = "<unseen>"  # in place of a digest
UNCOUNTED = "options", "keeps_unit"  # fields of a record that its digest leaves out
NUMBERS = "dt", "rtol", "atol", "first_step", "max_step", "max_steps"
TIMES = "t_eval", "breakpoints"
PACKAGE = __name__.partition(".")[0]
ROOMS = f"{PACKAGE}.models", f"{PACKAGE}.celestial"  # whose files have functions of models

Arrays = dict[str, np.ndarray]
known_files = cache(file_names)  # a checkpoint is written many times

# ---- forms of what follows, see ``check_form``
TERM = {
    "name": str,
    "parameters": [str],
    "numbers": list,
    "functions": dict.fromkeys(FUNCTIONS, (None, str)),
    "user": [str],
    "tables": list,
    "references": [str],
    **dict.fromkeys(FLAGS, bool),
    "coupled": (
        ...,
        {"function": str, "names": [str], "variables": (float, list), "scales": [float]},
    ),
}
PROBLEM = {
    "name": (None, str),
    "body": {
        "inertia": [[float]],
        "mass": float,
        **{key: [float] for key in ("centre", "moments", "turn")},
        "axes": [[float]],
    },
    "model": ({"name": str, "terms": [TERM]}, TERM),
    **{key: [float] for key in ("attitude", "omega", "angular_momentum")},
    **dict.fromkeys(("position", "velocity"), (None, [float])),
}
RECORD = {"name": str, "digest": (None, str)}
ASKED = {
    "method": RECORD,
    "formulation": (None, RECORD),
    "options": (None, dict),
    "events": [{"function": str, "terminal": float, "direction": (float, str)}],
    **dict.fromkeys(NUMBERS, (None, float, str)),
    "max_steps": (..., None, float, str),  # files of 0.1.0 have none
    "save_every": int,
    "compensated": (None, bool),
    "sensitivities": (..., None, {"names": [str], "frame": str, "at_constant": str}),
}
ABOUT = {"problem": PROBLEM, "asked": ASKED}


def describe_run(
    problem: Problem, arguments: Arguments, geometry: bool = False
) -> tuple[dict[str, Any], Arrays]:
    """Return (plain data, arrays) of everything that a new process needs to continue a run.

    With ``geometry``, the triangles of the body, too.
    """
    about, tables = describe_problem(problem)
    asked, times = describe_arguments(arguments)
    shape = _describe_geometry(problem.body) if geometry else {}
    return {"problem": about, "asked": asked}, {**tables, **times, **shape}


def rebuild_run(
    file: str,
    data: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    model: Model | None,
    *given: Any,
    **others: Any,
) -> tuple[Problem, Arguments]:
    """Rebuild a problem and the arguments of ``prepare`` from data of the form ``ABOUT``."""
    problem = rebuild_problem(file, data["problem"], arrays, model)
    return problem, rebuild_arguments(file, data["asked"], arrays, *given, **others)


# ---- problems
def describe_problem(problem: Problem) -> tuple[dict[str, Any], Arrays]:
    """Return (plain data, tables that are small enough) of a problem."""
    body = problem.body
    tables = {_digest_table(table): table for table in flat(problem.model.tables)}
    kinds = {table.dtype.newbyteorder("<").str for table in tables.values()}
    if sum(table.nbytes for table in tables.values()) > STORED or not kinds <= set(TYPES):
        tables = {}
    data = {
        "name": problem.name,
        "body": {
            "inertia": body.inertia.tolist(),
            "mass": body.mass,
            "centre": body.centre.tolist(),
            "moments": body.principal_moments.tolist(),
            "axes": body.principal_axes.tolist(),
            "turn": list(body.data[2]),
        },
        "model": _describe_model(problem.model),
        **{
            key: None if (value := getattr(problem, key)) is None else list(value)
            for key in ("attitude", "omega", "angular_momentum", "position", "velocity")
        },
    }
    return data, tables


def rebuild_problem(
    file: str, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray], model: Model | None
) -> Problem:
    """Rebuild a problem from its description; ``model`` if the file holds only its digest."""
    shape, known = _rebuild_body(data["body"], arrays), data["model"]
    if model is None:
        if not _is_complete(known, arrays):
            raise InputError(
                f"model= is needed to continue {file!r}: it holds only a digest of what acts on"
                f" the body, {known['name']!r}; give the same model again"
            )
        model = _rebuild_model(known, arrays)
    else:
        if not isinstance(model, Model):
            raise InputError(f"model must be a Model, got {model!r}, to continue {file!r}")
        refuse_differences(file, "model", known, _describe_model(model))
    made = Problem(
        shape,
        model,
        data["attitude"],
        angular_momentum=data["angular_momentum"],
        position=data["position"],
        velocity=data["velocity"],
        scalar_first=True,
        name=data["name"],
    )
    for key, width in (("attitude", 4), ("omega", 3), ("angular_momentum", 3)):
        setattr(made, key, tuple(np.array(data[key], dtype=float).reshape(width).tolist()))
    if not model.user:
        _try_model(made)
    return made


def _try_model(problem: Problem) -> None:
    """Call the functions of a model once: their numbers must be as many as they take."""
    here: dict[str, Any] = {"t": 0.0, "q": problem.attitude, "m": problem.angular_momentum}
    here |= {"x": problem.position or ORIGIN, "p": problem.velocity or ORIGIN}
    here["body"] = problem.body.data
    for term in problem.model.terms or (problem.model,):
        here["params"] = term.numbers, term.tables, term.variables
        for kind in (*FUNCTIONS, "coupled"):
            function, stub = getattr(term, kind), getattr(contracts, kind)
            if function not in (None, stub):
                with suppress(ArithmeticError):  # what a run meets, too
                    bind(function, ELEMENTARY)(*map(here.get, inspect.signature(stub).parameters))


def _describe_geometry(body: RigidBody) -> Arrays:
    """Return the triangles of a body, if they are known, and small enough to be written often."""
    known = body.geometry
    if known is None or known.vertices.nbytes + 2 * known.faces.nbytes > STORED:
        return {}
    faces = known.faces.astype(np.int64)  # as checkpoints have them
    return {f"{known.kind} vertices": known.vertices, f"{known.kind} faces": faces}


def _rebuild_geometry(arrays: Mapping[str, np.ndarray]) -> Geometry | None:
    for kind in KINDS:
        if f"{kind} vertices" in arrays:
            return Geometry(arrays[f"{kind} vertices"], arrays[f"{kind} faces"], kind)
    return None


def _rebuild_body(data: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> RigidBody:
    geometry = _rebuild_geometry(arrays)
    body = RigidBody(data["inertia"], data["mass"], centre=data["centre"], geometry=geometry)
    body.principal_moments = np.array(data["moments"], dtype=float).reshape(3)
    body.principal_axes = np.array(data["axes"], dtype=float).reshape(3, 3)
    w, x, y, z = data["turn"]  # to the last bit, whatever computes eigenvectors here
    vars(body)["_axes"] = w, x, y, z
    return body


# ---- models
def _describe_model(model: Model) -> dict[str, Any]:
    """Return plain data about a model."""
    if model.terms:
        return {"name": model.name, "terms": list(map(_describe_model, model.terms))}
    functions = {key: getattr(model, key) for key in FUNCTIONS}
    describe = _describe_use if model.user else _name_or_digest
    beside: dict[str, Any] = {}
    if model.coupled is not None:
        beside["coupled"] = {
            "function": describe(model.coupled, "coupled"),
            "names": list(model.variable_names),
            "variables": _lists(model.variables),
            "scales": list(model.scales),
        }
    return {
        "name": model.name,
        "parameters": list(model.names),
        "numbers": _lists(model.numbers),
        "functions": {k: None if f is None else describe(f, k) for k, f in functions.items()},
        "user": list(map(digest_function, model.user)),
        **{flag: getattr(model, flag) for flag in FLAGS},
        "tables": _lists(model.tables, _digest_table),
        "references": list(model.references),
        **beside,
    }


def _is_complete(data: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether a model can be rebuilt from its description alone."""
    if "terms" in data:
        return all(_is_complete(term, arrays) for term in data["terms"])
    named = all(f is None or ":" in f for f in data["functions"].values())
    named = named and ("coupled" not in data or ":" in data["coupled"]["function"])
    return named and not data["user"] and all(key in arrays for key in _leaves(data["tables"]))


def _rebuild_model(data: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Model:
    if "terms" in data:
        return total(tuple(_rebuild_model(term, arrays) for term in data["terms"]))
    functions: dict[str, Any] = {
        key: None if text is None else _find_function(text, key)
        for key, text in data["functions"].items()
    }
    names, numbers = tuple(data["parameters"]), tuples(data["numbers"])
    if len(names) != len(numbers):
        raise ValueError(f"the model {data['name']!r} has {len(numbers)} numbers for {list(names)}")
    return Model(
        name=data["name"],
        **functions,
        names=names,
        numbers=numbers,
        tables=tuples(data["tables"], arrays.__getitem__),
        **{flag: data[flag] for flag in FLAGS},
        references=tuple(data["references"]),
        **_rebuild_variables(data.get("coupled")),
    )


def _rebuild_variables(data: Mapping[str, Any] | None) -> dict[str, Any]:
    """The fields of a model about its variables."""
    if data is None:
        return {}
    names, values = tuple(data["names"]), tuples(data["variables"])
    if len(names) > 1 and (not isinstance(values, tuple) or len(values) != len(names)):
        raise ValueError(f"there are {values!r} for the variables {list(names)}")
    one = values if len(names) > 1 else (values,)
    found = named_variables(
        dict(zip(names, one, strict=True)), dict(zip(names, data["scales"], strict=True))
    )
    coupled = _find_function(data["function"], "coupled")
    if coupled is contracts.coupled or len(found[0]) != len(names):
        raise ValueError(f"the variables {list(names)} have no function, or the same name")
    return {"coupled": coupled, **dict(zip(VARIABLES, found, strict=True))}


def _digest_table(table: np.ndarray) -> str:
    kind = f"{table.dtype.str}{table.shape}".encode()
    return hashlib.sha256(kind + np.ascontiguousarray(table).tobytes()).hexdigest()[:32]


# ---- functions
def _name_or_digest(function: Callable, kind: str) -> str:
    """Return ``module:name`` of a function of this library's models, a digest of any other."""
    text = f"{function.__module__}:{function.__qualname__}"
    return text if _look_up(text, kind) is function else digest_function(function)


def _find_function(text: str, kind: str) -> Callable:
    """Return the function of this library's models with this name."""
    found = _look_up(text, kind)
    if found is None:
        raise FileError(
            f"this version of polhode has no {kind} {text!r}, which the run needs; continue it with"
            " the version that began it, or give model="
        )
    return found


def _look_up(text: str, kind: str) -> Callable | None:
    """Return the function of a model with this name, if there is one.

    A file may come from anywhere.  It can name what its own module defines, with the arguments of
    ``kind``, in the rooms of models; nothing else of them, and no other module is imported.
    """
    module, _, name = text.partition(":")
    room, _, file = module.rpartition(".")
    if module != contracts.__name__ and (room not in ROOMS or file not in known_files(room)):
        return None
    found: Any = vars(importlib.import_module(module)).get(name)
    like = getattr(contracts, kind)
    own = inspect.isfunction(found) and found.__module__ == module
    return found if own and inspect.signature(found) == inspect.signature(like) else None


def _describe_use(function: Callable, kind: str) -> str:
    """Describe how a user's function is used: in which axes, at which point."""
    if (known := _name_or_digest(function, kind)).startswith(f"{PACKAGE}."):
        return known
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    numbers = [cell for cell in cells if not callable(cell)]
    return f"{getattr(function, '__qualname__', '')} {numbers}"


def digest_function(function: Any) -> str:
    """Return a digest of the content of a function."""
    try:
        return digest(function)
    except Uncacheable:
        return UNSEEN


# ---- arguments
def describe_arguments(arguments: Arguments) -> tuple[dict[str, Any], Arrays]:
    """Return (plain data, times) of the arguments of ``prepare``."""
    options, formulation = arguments.options, arguments.formulation
    numbers = {key: getattr(arguments, key) for key in NUMBERS}
    times = {key: getattr(arguments, key) for key in TIMES}
    if options and json.loads(json.dumps(dict(options), default=str)) != dict(options):
        raise InputError(
            f"checkpoint= cannot store options={options!r}: only numbers, texts and lists; make the"
            " method with them and give it as method="
        )
    data = {
        "method": _describe_record(arguments.method),
        "formulation": None if formulation is None else _describe_record(formulation),
        "options": dict(options) if options else None,
        "events": _describe_events(arguments.events),
        **{key: None if v is None else plain_number(float(v)) for key, v in numbers.items()},
        "save_every": int(arguments.save_every),
        "compensated": arguments.compensated,
    }
    if arguments.sensitivities is not None:
        data["sensitivities"] = arguments.sensitivities.plain_data
    return data, {k: np.array(v, dtype=float) for k, v in times.items() if v is not None}


def _describe_events(events: Any) -> list[dict[str, Any]]:
    functions = () if events is None else (events,) if callable(events) else tuple(events)
    return [
        {
            "function": digest_function(event),
            "terminal": float(getattr(event, "terminal", 0)),
            "direction": plain_number(float(getattr(event, "direction", 0))),
        }
        for event in functions
    ]


def rebuild_arguments(
    file: str,
    data: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    method: Any,
    formulation: Any,
    events: Any,
    **others: Any,
) -> Arguments:
    """Rebuild the arguments of ``prepare``, from their description and what is given again."""
    given: dict[str, Any] = {"method": method, "formulation": formulation}
    for name in given:
        known = data[name]
        if given[name] is not None:
            refuse_differences(file, name, known, _describe_record(given[name]))
        elif known is not None and known["digest"] is not None:
            raise InputError(
                f"{name}= is needed to continue {file!r}: {known['name']!r} is not part of this"
                " library; give the same record again"
            )
        elif known is not None:
            given[name] = known["name"]
    if events is not None or data["events"]:
        if events is None:
            raise InputError(
                f"events= is needed to continue {file!r}: it holds only digests of"
                f" {len(data['events'])} of them; give the same functions again"
            )
        refuse_differences(file, "events", data["events"], _describe_events(events))
    found = {k: data.get(k) for k in NUMBERS}  # files of 0.1.0 have no max_steps
    others |= {k: None if v is None else read_number(v) for k, v in found.items()}
    others |= {key: arrays.get(key) for key in TIMES}
    others |= {key: data[key] for key in ("save_every", "compensated", "options")}
    others["sensitivities"] = data.get("sensitivities")
    return Arguments(**given, events=events, **others)


def _describe_record(value: Any) -> dict[str, Any]:
    """Return the name of a record, and a digest if it is not one of this library."""
    if not isinstance(value, (Method, Integrator, Formulation, Coordinates)):
        return {"name": value, "digest": None}
    for registry in (METHODS, INTEGRATORS, FORMULATIONS, COORDINATES):
        if registry.get(value.name) is value:
            return {"name": value.name, "digest": None}
    return {"name": value.name, "digest": digest_function(_contents(value))}


def _contents(value: Any) -> Any:
    """Return a record as a dictionary, for a digest, without fields that change no number."""
    if not is_dataclass(value):
        return value
    kept = (field.name for field in fields(value) if field.name not in UNCOUNTED)
    return {name: _contents(getattr(value, name)) for name in kept}


# ---- comparing
def refuse_differences(file: str, what: str, known: Any, given: Any) -> None:
    """Raise an error that says how something differs from what a file holds, if it does."""
    found = list(_differences(known, given, what))
    if found:
        text = "; ".join(found[:4]) + (f"; and {len(found) - 4} more" if len(found) > 4 else "")
        raise InputError(
            f"{what}= is not the one with which {file!r} was begun: {text}. Give the same again"
            f" (functions are compared as Python {platform.python_version()} compiles them)"
        )
    if UNSEEN in json.dumps(known):
        warnings.warn(
            f"{what}=: cannot check that a function is the one with which {file!r} was begun,"
            " because it uses objects without plain content",
            PolhodeWarning,
            stacklevel=4,
        )


def _differences(known: Any, given: Any, where: str) -> Iterator[str]:
    if isinstance(known, dict) and isinstance(given, dict) and set(known) == set(given):
        names: Any = known.get("parameters")
        for key in known:
            named = key == "numbers" and names == given["parameters"]
            if named and len(names) == len(known[key]) == len(given[key]):
                for name, old, new in zip(names, known[key], given[key], strict=True):
                    yield from _differences(old, new, f"{where}.{name}")
            elif key != "references":
                yield from _differences(known[key], given[key], f"{where}.{key}")
    elif isinstance(known, list) and isinstance(given, list) and len(known) == len(given):
        for k, (old, new) in enumerate(zip(known, given, strict=True)):
            yield from _differences(old, new, f"{where}[{k}]")
    elif known != given:
        yield f"{where} is {_short(given)}, the file has {_short(known)}"


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return _short(value.get("name"))
    return f"{len(value)} of them" if isinstance(value, list) else repr(value)


# ---- nested tuples of numbers, which JSON does not have
def plain_number(number: Any) -> Any:
    """Return a number as JSON can hold it."""
    if isinstance(number, (bool, int)):
        return number
    number = float(number)
    return number if math.isfinite(number) else repr(number)


def read_number(value: Any) -> Any:
    """Return the number that ``plain_number`` wrote."""
    if not isinstance(value, (bool, int, float, str)):
        raise ValueError(f"{value!r} is not a number")
    return float(value) if isinstance(value, str) else value


def _lists(value: Any, leaf: Callable = plain_number) -> Any:
    return [_lists(part, leaf) for part in value] if isinstance(value, tuple) else leaf(value)


def tuples(value: Any, leaf: Callable = read_number) -> Any:
    """Return nested lists as tuples; ``leaf`` reads an entry."""
    return tuple(tuples(v, leaf) for v in value) if isinstance(value, list) else leaf(value)


def _leaves(value: Any) -> Sequence[Any]:
    return (
        [leaf for part in value for leaf in _leaves(part)] if isinstance(value, list) else [value]
    )
