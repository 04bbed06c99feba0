"""polhode: the motion of rigid bodies, at native speed from plain Python.

The public names are listed once, in ``__init__.pyi``; each is imported when it is first used.
"""

import ast
from importlib import import_module
from pathlib import Path


def _public_names() -> tuple[list[str], dict[str, tuple[str, str]]]:
    """Read the stub file: ``__all__``, and for each name its module and its name there."""
    names, places = [], {}
    for statement in ast.parse(Path(__file__).with_suffix(".pyi").read_bytes()).body:
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                places[alias.asname or alias.name] = statement.module, alias.name
        elif isinstance(statement, ast.Assign):
            names = ast.literal_eval(statement.value)
    return names, places


__all__, _PLACES = _public_names()


def __getattr__(name: str) -> object:
    """Import a public name, or a module of the package, when it is first used."""
    module, original = _PLACES.get(name, (__name__, name))
    if module != __name__:
        source = import_module(module)
        if module == f"{__name__}.{name}":
            return source  # a room with the name of its function, which can be called as that
        if not hasattr(source, original):
            import_module(f"{module}.{original}")  # which makes it an attribute of ``source``
        globals()[name] = value = getattr(source, original)
        return value
    if not name.startswith("_"):
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names only."""
    return __all__
