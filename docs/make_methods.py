"""Write docs/reference/methods.md from the registries: ``python docs/make_methods.py``."""

import inspect
import sys
from importlib import import_module
from pathlib import Path

import polhode as ph
from polhode.contracts import MOTIONS
from polhode.formulations.equations import IDENTITY

PAGE = Path(__file__).parent / "reference" / "methods.md"


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


def integrators() -> list[str]:
    lines = [
        "",
        "## Integrators",
        "",
        "For `ph.solve(problem, …, method=…)` and `ph.integrate_angular_velocity`. Those for a",
        "given ω(t) use that its equation is linear. The error of dense output falls with its",
        "order all over a step.",
        "",
        "| name | title | order | dense output | steps | for | symmetric | references |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for integrator in ph.INTEGRATORS.values():
        cells = [
            f"`{integrator.name}`",
            integrator.title,
            str(integrator.order),
            str(integrator.dense_order),
            "adaptive" if integrator.adaptive else "fixed",
            "ω(t)" if integrator.linear else "any",
            yes(integrator.symmetric),
            ", ".join(integrator.references),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def formulations() -> list[str]:
    lines = [
        "",
        "## Formulations",
        "",
        "The variables that an integrator sees, `formulation=`; with a body its momentum is",
        "appended. What each is good for is in [Boyle 2017, reproduced](../papers/boyle2017.md).",
        "",
        "| name | title | numbers | reset between steps | references |",
        "| --- | --- | --- | --- | --- |",
    ]
    for formulation in ph.FORMULATIONS.values():
        cells = [
            f"`{formulation.name}`",
            formulation.title,
            str(len(formulation.enter(IDENTITY))),
            yes(formulation.resets),
            ", ".join(formulation.references) or "–",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def coordinates() -> list[str]:
    lines = [
        "",
        "## Coordinates",
        "",
        "Formulations for bodies alone, of attitude and momentum together, with `formulation=`,",
        "too. *Departures* are those from a uniform rotation, found at the start of a run: for a",
        "body that spins steadily under small torques they gain many digits over a long time.",
        "",
        "| name | title | numbers | departures | reset between steps | singular | references |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for variables in ph.COORDINATES.values():
        cells = [
            f"`{variables.name}`",
            variables.title,
            str(variables.numbers),
            yes(variables.nominal is not None),
            yes(variables.resets),
            variables.singular.replace("'", "`"),
            ", ".join(variables.references) or "–",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def documented() -> list[str]:
    """The docstrings of the files of integrators and formulations."""
    lines: list[str] = []
    seen: set[str] = set()
    registries = ph.INTEGRATORS, ph.FORMULATIONS, ph.COORDINATES
    for record in (record for registry in registries for record in registry.values()):
        name = record.name.split(":")[0]
        folder = "integrators" if isinstance(record, ph.Integrator) else "formulations"
        stem = name.replace("-", "_")
        stem = "magnus" if stem.startswith("magnus") else stem
        module = import_module(f"polhode.{folder}.{stem}")
        if module.__name__ in seen:
            continue
        seen.add(module.__name__)
        heading = "magnus4, magnus6, magnus8" if stem == "magnus" else name
        lines += ["", f"## {heading}", "", "```text", (module.__doc__ or "").strip(), "```"]
    return lines


def page() -> str:
    lines = [
        "# Methods",
        "",
        "Generated from the registries by `docs/make_methods.py`; `polhode methods --json` prints",
        "the same. [Maps](#maps) are methods for rotation with a step of their own;",
        "[integrators](#integrators) are general, and run in any [formulation](#formulations), for",
        "bodies in any [coordinates](#coordinates), too.",
        "",
        "## Maps",
        "",
        "All of this table is tested, true and false alike (`tests/test_methods.py`).",
        "",
        "The order is that of the state; *m: 4* says that the momentum in body axes has order 4,",
        "*free: 4* that without torque the state has, *m, free: exact* that the momentum in body",
        "axes is then right to rounding for any step.",
        "Energy and momentum (in inertial axes) are *kept* if they stay within rounding. Motions:",
        "",
        *(f"- *{name}*: {text}" for name, text in MOTIONS.items()),
        "",
        "| name | order | kind | symmetric | symplectic | keeps energy | keeps momentum"
        " | keeps \\|m\\| | takes torques | torques a step |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for method in ph.METHODS.values():
        cells = [
            f"`{method.name}`",
            order(method),
            "implicit" if method.implicit else "explicit",
            yes(method.symmetric),
            yes(method.symplectic),
            ", ".join(method.keeps_energy) or "–",
            ", ".join(method.keeps_momentum) or "–",
            yes(method.keeps_norm),
            torques(method),
            cost(method),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += integrators() + formulations() + coordinates()
    seen: set[str] = set()
    for method in ph.METHODS.values():
        file = f"polhode.methods.{method.name.replace('-', '_')}"
        module = sys.modules.get(file) or inspect.getmodule(method.step or method.improve)
        assert module is not None
        if module.__name__ in seen:
            continue
        seen.add(module.__name__)
        name = "mkrk:NAME" if method.name.startswith("mkrk:") else method.name
        lines += ["", f"## {name}", "", "```text", (module.__doc__ or "").strip(), "```"]
    return "\n".join(lines + documented()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.name}\n")
