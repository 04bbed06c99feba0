"""The public API is stable: names and signatures of ``ph``, commands and options.

``python tests/project/test_public_api.py`` writes the snapshot again, for changes that are meant.
"""

import inspect
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import polhode as ph

SNAPSHOT = Path(__file__).with_name("public_api.json")
MADE_BY_THE_LIBRARY = "Solver", "EnsembleResult", "Comparison", "State"
PLAIN = (int, float, str, bool, tuple, type(None))


def parameters(function: Any) -> list[str]:
    """``name``, ``name=default``, ``*name`` … of a function, without annotations."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ["?"]
    found = []
    for p in signature.parameters.values():
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**", p.KEYWORD_ONLY: "kw:"}.get(p.kind, "")
        default = "" if p.default is p.empty else f"={plain(p.default)}"
        found.append(f"{star}{p.name}{default}")
    return found


def plain(value: Any) -> str:
    return repr(value) if isinstance(value, PLAIN) else re.sub(r"\W.*", "", repr(value).strip("<"))


def of_class(kind: type) -> dict[str, Any]:
    members = {}
    for name, value in inspect.getmembers(kind):
        if name.startswith("_") or type(kind).__dict__.get(name) is not None:
            continue
        members[name] = parameters(value) if callable(value) else "value"
    made = kind.__name__ in MADE_BY_THE_LIBRARY or issubclass(kind, (Exception, Warning))
    return {"call": [] if made else parameters(kind), "members": members}


def of_value(name: str, value: Any) -> Any:
    if isinstance(value, ModuleType):
        return {n: of_value(n, v) for n, v in public(value).items()}
    if isinstance(value, type):
        return of_class(value)
    if callable(value):
        return parameters(value)
    return list(value) if hasattr(value, "keys") else "value"


def public(module: ModuleType) -> dict[str, Any]:
    """The public names of a module that are defined in the library, without its submodules."""
    names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    found = {name: getattr(module, name) for name in sorted(names)}
    return {
        name: value
        for name, value in found.items()
        if not isinstance(value, ModuleType)
        and str(getattr(value, "__module__", "polhode")).startswith("polhode")
    }


def commands() -> dict[str, list[str]]:
    from typer.main import get_command

    from polhode.cli.main import app

    return {
        name: sorted(
            "/".join([*p.opts, *p.secondary_opts]) for p in command.params if p.name != "help"
        )
        for name, command in get_command(app).commands.items()
    }


def face() -> dict[str, Any]:
    names = {name: of_value(name, getattr(ph, name)) for name in sorted(ph.__all__)}
    return {"names": names, "commands": commands()}


def lost(before: Any, now: Any, where: str = "ph") -> list[str]:
    """What was there before and is not, or differs; additions are fine."""
    if isinstance(before, dict):
        if not isinstance(now, dict):
            return [f"{where} was {before}, is {now}"]
        return [
            text
            for key, value in before.items()
            for text in (
                lost(value, now[key], f"{where}.{key}") if key in now else [f"{where}.{key}"]
            )
        ]
    if isinstance(before, list) and isinstance(now, list):  # more optional parameters are fine
        rest = [p for p in now if p not in before]
        if [p for p in now if p in before] == before and all("=" in p or "*" in p for p in rest):
            return []
        if all("=" not in p for p in before) and [p for p in now if p in before] == before:
            return []  # more names in a registry
    return [] if before == now else [f"{where} was {before}, is {now}"]


def test_public_names_and_signatures_stay():
    before = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    assert lost(before, json.loads(json.dumps(face()))) == []


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(face(), indent=0, sort_keys=True) + "\n", encoding="utf-8")
