"""The reference of the command line: a page for each command, from what ``--help`` prints."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import typer

from extensions import writing
from polhode.cli.main import app as program

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = "reference/commands"
VALUES = {int: "whole number", float: "number", str: "text", Path: "file or folder"}


def commands() -> dict[str, Any]:
    return dict(typer.main.get_command(program).commands)


def functions() -> dict[str, Any]:
    """The functions behind the commands."""
    made = [c.callback for c in program.registered_commands if c.callback]
    return {function.__name__: function for function in made}


def words(text: str) -> str:
    """Help text in a cell of a table."""
    return " ".join((text or "").split()).replace("|", "\\|")


def help_text(command: Any) -> str:
    """The text of a command; its examples are lines of a shell."""
    text = command.help or ""
    before, _, examples = text.partition("Examples:")
    lines = re.findall(r"^- `(.*)`$", examples, re.MULTILINE)
    rest = re.sub(r"^- `.*`$\n?", "", examples, flags=re.MULTILINE).strip()
    if not lines:
        return text
    shown = "\n".join(lines)
    return f"{before.strip()}\n\n```console\n{shown}\n```\n\n{rest}\n"


def usage(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    names = [argument(p) for p in arguments]
    return " ".join(["polhode", name, "[OPTIONS]", *names])


def argument(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name).upper()


def row(parameter: Any, hint: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    if parameter.param_type_name == "argument":
        names = f"`{argument(parameter)}`"
    said = words(getattr(parameter, "help", "") or "")
    return f"| {names} | {kind(parameter, hint)} | {said} |"


def kind(parameter: Any, hint: Any) -> str:
    """What an option takes, and its default if it has one to show."""
    found = [VALUES[part] for part in VALUES if part in (get_args(hint) or (hint,))]
    found += ["texts"] if list[str] in (get_args(hint) or (hint,)) else []
    shown = parameter.metavar if parameter.metavar and parameter.opts[0][0] == "-" else ""
    name = f"`{words(shown)}`" if shown else ", ".join(found)
    default = parameter.default
    if not name or default is None or callable(default) or str(default) in ("", "[]", "()"):
        return name
    return f"{name}, default {default}"


def page(name: str, command: Any) -> str:
    hints = get_type_hints(functions()[name])
    parameters = [p for p in command.params if p.name != "help"]
    lines = [f"# polhode {name}", "", help_text(command)]
    lines += ["", "```text", usage(name, command), "```", ""]
    lines += [":::{table}", ":class: options", "", "| option | value | meaning |"]
    lines += ["| --- | --- | --- |", *(row(p, hints[p.name]) for p in parameters), ":::", ""]
    return "\n".join(lines)


def index() -> str:
    lines = ["# Command line", "", "`polhode COMMAND --help` prints the same.", ""]
    lines += ["| command | |", "| --- | --- |"]
    for name, command in commands().items():
        first = words((command.help or "").split("\n\n")[0])
        lines.append(f"| [`polhode {name}`]({name}.md) | {first} |")
    lines += ["", "```{toctree}", ":hidden:", ":titlesonly:", "", *commands(), "```", ""]
    return "\n".join(lines)


def write(app: "Sphinx") -> None:
    made = {f"{FOLDER}/{name}.md": page(name, command) for name, command in commands().items()}
    writing.write({f"{FOLDER}/index.md": index(), **made}, FOLDER)


def setup(app: "Sphinx") -> dict[str, bool]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
