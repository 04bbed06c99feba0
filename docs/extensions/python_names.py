"""The reference of Python names: a page for each public name, and an index by what they are for."""

import ast
import inspect
import re
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import polhode as ph
from extensions import docstrings, registries, writing

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = "reference/python"
GROUPS = {
    "Bodies and problems": "RigidBody shapes Geometry Problem problems",
    "What acts on a body": "models torque force potential coupled Model reduced_angle",
    "Solving": "solve prepare Solver resume compare Comparison Status",
    "Results": "Trajectory load view",
    "Closed forms": "exact_free_motion exact_constant_torque constant_torque_rates",
    "Angular velocities and logs": "integrate_angular_velocity prepare_angular_velocity"
    " integrate_samples read_samples",
    "In a loop of your own": "Simulator State StepError",
    "Many bodies": "solve_ensemble EnsembleResult distributions reductions",
    "Derivatives, fits, chaos": "Sensitivities fit observe Fit RateProblem lyapunov"
    " LyapunovExponents",
    "Moon and Earth, Lie groups": "celestial lie",
    "Methods and their records": "METHODS methods_table Method INTEGRATORS Integrator FORMULATIONS"
    " Formulation COORDINATES Coordinates MODELS TABLEAUS Tableau mkrk COMPOSITIONS",
    "Errors and version": "PolhodeError InputError MethodError FileError PolhodeWarning"
    " __version__",
}


def names() -> list[str]:
    return [name for group in GROUPS.values() for name in group.split()]


@cache
def places() -> dict[str, tuple[str, str]]:
    """Public name -> the module of the package that has it, and its name there."""
    found = {}
    stub = Path(ph.__file__).with_suffix(".pyi")
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            found |= {(a.asname or a.name): (str(node.module), a.name) for a in node.names}
    return found


def file_of(name: str) -> Path:
    """The file in which a public name is defined."""
    made = getattr(ph, name)
    module = made if isinstance(made, ModuleType) else import_module(places()[name][0])
    if isinstance(made, type):
        module = import_module(made.__module__)
    return Path(str(module.__file__))


def described(name: str) -> list[str]:
    """What stands above the docstring: where it is defined, and where it is explained."""
    found = []
    links = [f":doc:`{writing.title(p)} </{p.removesuffix('.md')}>`" for p in guides(name)]
    if links:
        found.append(f":Explained in: {' · '.join(links)}")
    file = file_of(name).relative_to(Path(ph.__file__).parent)
    return [*found, f":Source: :source:`{file}`", ""]


def guides(name: str) -> list[str]:
    return writing.mentioning(rf"\bph\.{re.escape(name)}\b", 4)


def page(name: str) -> str:
    """The page of one name."""
    made = getattr(ph, name)
    lines = [*writing.heading(name if name.startswith("__") else f"ph.{name}"), *described(name)]
    if isinstance(made, ModuleType):
        lines += module(name, made)
    elif isinstance(made, type):
        lines += class_page(f"polhode.{name}", made)
    elif callable(made):
        lines += [f".. autofunction:: polhode.{name}", ""]
    else:
        lines += value(name)
    return "\n".join(lines)


def class_page(name: str, made: type) -> list[str]:
    found = list(docstrings.members(made))
    directive = "autoexception" if issubclass(made, Exception) else "autoclass"
    lines = [f".. {directive}:: {name}"]
    if found and not issubclass(made, Exception):
        lines.append(f"   :members: {', '.join(found)}")
    return [*lines, ""]


def module(name: str, made: ModuleType) -> list[str]:
    """A module of the package: its text, and all that it offers."""
    lines = [f".. automodule:: polhode.{name}", "   :no-index:", ""]
    if callable(made):
        lines += [f".. autofunction:: polhode.{name}.{name}", ""]
    for part in public(made):
        if callable(made) and part == name:
            continue
        lines += [*writing.heading(f"{name}.{part}", "-")]
        lines += entry(name, part)
        value = getattr(made, part)
        if isinstance(value, type):
            lines += class_page(f"polhode.{name}.{part}", value)
        else:
            lines += [f".. autofunction:: polhode.{name}.{part}", ""]
    return lines


def entry(module: str, part: str) -> list[str]:
    """A link to the page of an entry of a registry."""
    names = {"problems": part.replace("_", "-")}
    for kind in (module, "rates") if module == "problems" else (module,):
        key = kind, names.get(module, part)
        if key in registries.every():
            page = registries.page_name(*key).removesuffix(".md")
            return [f":Facts and an example: :doc:`{key[1]} </{page}>`", ""]
    return []


def public(made: ModuleType) -> list[str]:
    """The classes and functions of a module that users call."""
    names = getattr(made, "__all__", None) or [n for n in vars(made) if not n.startswith("_")]
    return [n for n in names if is_public(n, getattr(made, n))]


def is_public(name: str, value: Any) -> bool:
    """Whether a member has a section: not registries, nor what has a page of its own."""
    own = str(getattr(value, "__module__", "")).startswith("polhode")
    elsewhere = getattr(ph, name, None) is value
    return own and callable(value) and not elsewhere and not name.isupper()


def value(name: str) -> list[str]:
    """A registry, or another value, with the text below its definition."""
    lines = []
    if name.lower() in registries.KINDS:
        kind = name.lower()
        lines += [f"A page for each: :doc:`{kind} </{registries.FOLDER}/{kind}/index>`.", ""]
    lines += [f".. py:data:: polhode.{name}", ""]
    text = ph_text(name)
    new = docstrings.Docstring.of(text.splitlines())
    lines += [f"   {line}" for line in docstrings.prose(new.lead)]
    for title, words in new.sections.items():
        lines += ["", f"   .. rubric:: {title}", "", *(f"   {line}" for line in words), ""]
    return lines


def ph_text(name: str) -> str:
    """The docstring below the definition of a value."""
    own = places()[name][1]
    body = ast.parse(file_of(name).read_text(encoding="utf-8")).body
    for node, following in pairwise(body):
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        is_it = any(isinstance(t, ast.Name) and t.id == own for t in targets)
        text = following.value if isinstance(following, ast.Expr) else None
        if is_it and isinstance(text, ast.Constant):
            return inspect.cleandoc(str(text.value))
    return ""


def summary(name: str) -> str:
    """The first sentence of a docstring."""
    made = getattr(ph, name)
    plain = not (callable(made) or isinstance(made, ModuleType))
    text = ph_text(name) if plain else inspect.getdoc(made) or ""
    first = " ".join(text.split("\n\n")[0].split())
    return docstrings.escaped(re.split(r"(?<=[.:])\s", first)[0].rstrip(":."))


def index() -> str:
    lines = [*writing.heading("Python")]
    lines += ["All public names. ``import polhode as ph`` is assumed everywhere.", ""]
    for group, words in GROUPS.items():
        lines += [*writing.heading(group, "-"), ".. list-table::", "   :class: names", ""]
        for name in words.split():
            lines += [f"   * - :doc:`{name} <{name.strip('_')}>`", f"     - {summary(name)}"]
        lines.append("")
    lines += writing.toctree([f"{name} <{name.strip('_')}>" for name in names()], "titlesonly")
    return "\n".join(lines)


def write(app: "Sphinx") -> None:
    missing = set(ph.__all__) ^ set(names())
    if missing:
        raise ValueError(f"in one of GROUPS and __init__.pyi only: {sorted(missing)}")
    made = {f"{FOLDER}/{name.strip('_')}.rst": page(name) for name in names()}
    writing.write({f"{FOLDER}/index.rst": index(), **made}, FOLDER)


def setup(app: "Sphinx") -> dict[str, bool]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
