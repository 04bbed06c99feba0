"""Docstrings of the package, as numpydoc wants them.

In the code an entry of a section is ``name, other : text``, and types are annotations.  Here the
text moves below the names, and the types of the annotations stand beside them.  Attributes become
entries of their own, that can be found and linked to.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import polhode as ph

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*|\w+\(\w+\)) : (.*)$")
INLINE = re.compile(r";\s{2,}(?=\w+(?:, \w+)* : )")
LITERAL = re.compile(r"(``.*?``|:\w+:`[^`]*`)", re.DOTALL)
PLACES = {"Shape": "polhode.shapes.Shape", "Distribution": "polhode.distributions.Distribution"}


@dataclass
class Docstring:
    """The text before the sections, and these by name."""

    lead: list[str]
    sections: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, lines: list[str]) -> "Docstring":
        found, name = cls([]), ""
        place = 0
        while place < len(lines):
            below = lines[place + 1] if place + 1 < len(lines) else ""
            if re.fullmatch(r"-{4,}", below) and len(below) >= len(lines[place]) > 0:
                name, place = lines[place], place + 2
                found.sections[name] = []
                continue
            (found.sections[name] if name else found.lead).append(lines[place])
            place += 1
        return found


def entries(lines: list[str]) -> tuple[list[tuple[list[str], list[str]]], list[str]]:
    """Return (names, lines of text) of a section, and what follows the last entry."""
    found: list[tuple[list[str], list[str]]] = []
    rest: list[str] = []
    for whole in lines:
        for line in [whole] if whole.startswith(" ") else INLINE.split(whole):
            start = ENTRY.match(line)
            if start and not rest:
                found.append((start[1].split(", "), [start[2]]))
            elif line.startswith("    ") and found and not rest:
                found[-1][1].append(line.strip())
            elif line.strip() or rest:
                rest.append(line)
    return found, rest


# ---- markup
def escaped(text: str) -> str:
    """Escape what docutils would read as markup, outside of literals."""
    parts = LITERAL.split(text)
    for place in range(0, len(parts), 2):
        parts[place] = re.sub(r"([|*\\]|(?<=\w)_(?!\w)|(?<!`)`(?!`))", r"\\\1", parts[place])
    return "".join(parts)


def prose(lines: list[str]) -> list[str]:
    """Return text in which indented paragraphs, which are formulas, keep their lines."""
    found: list[str] = []
    inside = False
    for paragraph in "\n".join(lines).split("\n\n"):
        if paragraph.startswith("    "):
            if not inside:
                found += [".. code-block:: text", ""]
            found += [*paragraph.splitlines(), ""]
            inside = True
        elif paragraph.lstrip().startswith(">>>"):
            found += [*paragraph.splitlines(), ""]
        else:
            found += [*escaped(paragraph).splitlines(), ""]
            inside = False
    return found


# ---- types
@cache
def annotations(made: Any) -> dict[str, str]:
    """Name -> annotation as it is written, of the arguments or attributes."""
    try:
        node = ast.parse(textwrap.dedent(inspect.getsource(made))).body[0]
    except (OSError, TypeError, IndentationError, SyntaxError):
        return {}
    if isinstance(node, ast.FunctionDef):
        return of_arguments(node)
    found: dict[str, str] = {}
    for part in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            found[part.target.id] = ast.unparse(part.annotation)
        elif isinstance(part, ast.FunctionDef):
            if part.name == "__init__":
                found |= of_arguments(part)
            elif part.decorator_list and part.returns:
                found.setdefault(part.name, ast.unparse(part.returns))
    return found


def of_arguments(node: ast.FunctionDef) -> dict[str, str]:
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {a.arg: ast.unparse(a.annotation) for a in every if a and a.annotation}


def linked(annotation: str) -> str:
    """Return an annotation with links to the classes of the package."""
    text = annotation.strip("'\"")
    text = re.sub(r"'([\w.]+)'", r"\1", re.sub(r"\b(?:np|ph|typing)\.", "", text))

    def link(found: re.Match) -> str:
        name = found[0]
        public = isinstance(getattr(ph, name, None), type) and name in ph.__all__
        place = f"polhode.{name}" if public else PLACES.get(name)
        return f":py:class:`~{place}`" if place else name

    parts = re.sub(r"\b[A-Z]\w+\b", link, text)
    return re.sub(r"(?<=`)(?=[\[\],\w])|(?<=[\[(])(?=:)", r"\\ ", parts)


def described(names: list[str], lines: list[str], types: dict[str, str]) -> list[str]:
    """Return an entry as numpydoc has it: names and type, the text below."""
    kinds = list(dict.fromkeys(types[n.strip("*")] for n in names if n.strip("*") in types))
    kind = f" : {linked(kinds[0])}" if len(kinds) == 1 else ""
    first, *more = lines
    if first == "" or first in kinds or re.fullmatch(r"[A-Z]\w+", first):
        first = ""
    elif more and not first.endswith((".", ",", ";", ":")) and more[0][:1].isupper():
        first += "."
    text = escaped("\n".join(filter(None, [first, *more])))
    return [", ".join(names) + kind, *textwrap.indent(text, "    ").splitlines()]


# ---- what autodoc hands over
def prepare(app: "Sphinx", what: str, name: str, made: Any, options: Any, lines: list[str]) -> None:
    """Rewrite a docstring before numpydoc reads it."""
    found = Docstring.of(lines)
    types = annotations(made)
    new = prose(found.lead)
    for title, text in found.sections.items():
        if title == "Attributes":
            continue
        new += ["", title, "-" * len(title)]
        if title == "Parameters":
            given, rest = entries(text)
            for names, words in given:
                new += described(names, words, types)
            if rest:
                new += ["", "Notes", "-----", *prose(rest)]
        elif title == "Returns":
            new += returned(text)
        else:
            new += text
    lines[:] = new


def returned(lines: list[str]) -> list[str]:
    """Return what a function returns, its type first if the text begins with one."""
    text = " ".join(line.strip() for line in lines if line.strip())
    start = re.match(r"([A-Z]\w+)(?:[;,.]? (.*))?$", text)
    if start and start[1] in ph.__all__:
        rest = [f"    {escaped(start[2])}"] if start[2] else []
        return [f":py:class:`~polhode.{start[1]}`", *rest]
    return [escaped(text)]


def attributes(
    app: "Sphinx", what: str, name: str, made: Any, options: Any, lines: list[str]
) -> None:
    """Append the attributes of a class, after numpydoc has rewritten the rest."""
    if what != "class":
        return
    found = Docstring.of((inspect.getdoc(made) or "").splitlines())
    given, rest = entries(found.sections.get("Attributes", []))
    given = [(names, words) for names, words in given if "(" not in names[0]]  # has its own text
    if not given:
        return
    types = annotations(made)
    new = ["", ".. rubric:: Attributes", ""]
    for names, words in given:
        kinds = [types[n] for n in names if n in types]
        new.append(f".. py:attribute:: {names[0]}")
        new += [f"                   {other}" for other in names[1:]]
        if len(set(kinds)) == 1 and re.fullmatch(r"[\w.| ]+", kinds[0]):
            new.append(f"   :type: {kinds[0].replace('np.', '')}")
        text = escaped("\n".join(filter(None, words)))
        new += ["", *textwrap.indent(text, "   ").splitlines(), ""]
    new += prose(rest)
    lines += new


def listed_attributes(made: type) -> set[str]:
    """The names that the section Attributes describes."""
    found = Docstring.of((inspect.getdoc(made) or "").splitlines())
    given, _ = entries(found.sections.get("Attributes", []))
    return {name for names, _ in given for name in names}


def members(made: type) -> Iterator[str]:
    """The public methods and properties of a class that have a docstring of their own."""
    listed = listed_attributes(made)
    for owner in made.__mro__:
        if not owner.__module__.startswith("polhode"):
            continue
        for name, value in vars(owner).items():
            function = getattr(value, "fget", None) or getattr(value, "func", None) or value
            function = getattr(function, "__func__", function)
            documented = isinstance(function, Callable) and getattr(function, "__doc__", None)
            plain = isinstance(function, type) or getattr(function, "__name__", name) != name
            if not name.startswith("_") and name not in listed and documented and not plain:
                yield name


def signature(
    app: "Sphinx", what: str, name: str, made: Any, options: Any, given: str, returned: str
) -> tuple[str, str] | None:
    """Hide the signature of classes that the library makes itself."""
    if what == "class" and "Parameters" not in (inspect.getdoc(made) or ""):
        return "", ""
    return None


def setup(app: "Sphinx") -> dict[str, bool]:
    app.connect("autodoc-process-docstring", prepare, priority=400)
    app.connect("autodoc-process-docstring", attributes, priority=600)
    app.connect("autodoc-process-signature", signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
