"""The page docs/reference/methods.md, from the registries; ``records.py`` writes it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import polhode as ph
from polhode.contracts import MOTIONS
from polhode.contracts.registry import entry_files, makers
from polhode.formulations.equations import IDENTITY
from polhode.methods.translation import with_translation

PAGE = Path(__file__).parents[1] / "reference" / "methods.md"


def yes(value: bool) -> str:
    return "yes" if value else "–"


def order(method: ph.Method) -> str:
    notes = []
    if method.momentum_order:
        notes.append(f"m: {method.momentum_order}")
    if method.order_when_free:
        notes.append(f"free: {method.order_when_free}")
    if method.exact_when_free:
        notes.append("free: exact")
    if method.exact_momentum_when_free:
        notes.append("m, free: exact")
    return f"{method.order}" + (f" ({', '.join(notes)})" if notes else "")


def torques(method: ph.Method) -> str:
    if method.free_only:
        return "none"
    return "any" if method.takes_rate else "not of the rate"


def cost(method: ph.Method) -> str:
    if not method.implicit:
        return str(method.torques_per_step * len(method.weights))
    each = method.torques_per_iteration
    return f"{method.torques_per_step} + {each} an iteration"


def motion(method: ph.Method) -> str:
    """How the map becomes one of (q, m, x, p)."""
    if method.motion is not None:
        return "own scheme"
    parts, raised = (len(m.weights) for m in (method, with_translation(method, False)))
    return "wrapper" if raised == parts else f"wrapper, {raised} parts"


def table(head: str, rows: Iterable[Sequence[str]]) -> list[str]:
    """A table, its columns named in ``head`` and separated by |."""
    columns = len(head.replace("\\|", "").split("|"))
    return [f"| {head} |", f"| {' | '.join(['---'] * columns)} |"] + [
        f"| {' | '.join(cells)} |" for cells in rows
    ]


def listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "–"


def maps() -> list[str]:
    head = (
        "name | order | kind | symmetric | symplectic | keeps energy | keeps momentum"
        " | keeps \\|m\\| | takes torques | torques a step | six degrees of freedom"
    )
    rows = [
        (
            f"`{method.name}`",
            order(method),
            "implicit" if method.implicit else "explicit",
            yes(method.symmetric),
            yes(method.symplectic),
            listed(method.keeps_energy),
            listed(method.keeps_momentum),
            yes(method.keeps_norm),
            torques(method),
            cost(method),
            motion(method),
        )
        for method in ph.METHODS.values()
    ]
    return [
        "",
        "## Maps",
        "",
        "The whole table is tested, what it denies as well as what it claims"
        " (`tests/methods/test_methods.py`).",
        "",
        "The order is that of the state. *m: 4* means that the momentum in body axes has order 4,",
        "*free: 4* that the state has order 4 without torque, and *m, free: exact* that without",
        "torque the momentum in body axes is exact to rounding for any step.",
        "With [six degrees of freedom](../guide/motion.md#methods) a map has the same order, in",
        "position and velocity, too, by a scheme of its own or by a wrapper; *3 parts* means that",
        "the wrapped step is composed of three.",
        "Energy and momentum (in inertial axes) are *kept* if they stay within rounding. Motions:",
        "",
        *(f"- *{name}*: {text}" for name, text in MOTIONS.items()),
        "",
        *table(head, rows),
    ]


def integrators() -> list[str]:
    head = "name | title | order | dense output | steps | for | symmetric | references"
    rows = [
        (
            f"`{integrator.name}`",
            integrator.title,
            str(integrator.order),
            str(integrator.dense_order),
            "adaptive" if integrator.adaptive else "fixed",
            "ω(t)" if integrator.linear else "any",
            yes(integrator.symmetric),
            listed(integrator.references),
        )
        for integrator in ph.INTEGRATORS.values()
    ]
    return [
        "",
        "## Integrators",
        "",
        "For `ph.solve(problem, …, method=…)` and `ph.integrate_angular_velocity`. Those for a",
        "given ω(t) make use of the fact that its equation is linear. The error of dense output",
        "has the stated order everywhere in a step.",
        "",
        *table(head, rows),
    ]


def formulations() -> list[str]:
    rows = [
        (
            f"`{formulation.name}`",
            formulation.title,
            str(len(formulation.enter(IDENTITY))),
            yes(formulation.resets),
            listed(formulation.references),
        )
        for formulation in ph.FORMULATIONS.values()
    ]
    return [
        "",
        "## Formulations",
        "",
        "The variables that an integrator sees, `formulation=`; for a body, its momentum is",
        "appended. [Boyle 2017, reproduced](../papers/boyle2017.md) shows what each is good for.",
        "",
        *table("name | title | numbers | reset between steps | references", rows),
    ]


def coordinates() -> list[str]:
    head = "name | title | numbers | departures | reset between steps | singular | references"
    rows = [
        (
            f"`{variables.name}`",
            variables.title,
            str(variables.numbers),
            yes(variables.nominal is not None),
            yes(variables.resets),
            variables.singular.replace("'", "`"),
            listed(variables.references),
        )
        for variables in ph.COORDINATES.values()
    ]
    return [
        "",
        "## Coordinates",
        "",
        "Variables for the attitude and the momentum of a body together, also chosen with",
        "`formulation=`. *Departures* are measured from a uniform rotation found at the start of a",
        "run: for a body that spins steadily under small torques they gain many digits over a long",
        "time.",
        "",
        *table(head, rows),
    ]


def documented(package: str, *kinds: str) -> list[str]:
    """The docstrings of the files of a package."""
    lines: list[str] = []
    for kind in kinds:
        for module in entry_files(f"polhode.{package}"):
            names = list(makers(module, kind))
            if names:
                common = names[0] if len(names) == 1 else heading(names)
                lines += ["", f"## {common}", "", "```text", (module.__doc__ or "").strip(), "```"]
    return lines


def heading(names: Sequence[str]) -> str:
    """The heading of a file with several records."""
    stems = {name.partition(":")[0] for name in names}
    return f"{stems.pop()}:NAME" if len(stems) == 1 else ", ".join(names)


def page() -> str:
    lines = [
        "# Methods",
        "",
        "Generated by `docs/make/records.py` from the registries; `polhode methods --json` prints",
        "the same. [Maps](#maps) are methods for rotation, with fixed steps;",
        "[integrators](#integrators) are general-purpose and work in any",
        "[formulation](#formulations) and, for bodies, in any [coordinates](#coordinates).",
    ]
    lines += maps() + integrators() + formulations() + coordinates()
    lines += documented("methods", "METHOD") + documented("integrators", "INTEGRATOR")
    lines += documented("formulations", "FORMULATION", "COORDINATES")
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    return {PAGE: page()}
