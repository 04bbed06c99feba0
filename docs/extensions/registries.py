"""A page for each entry of a registry: what its record declares, its scheme, an example.

The examples are run by the tests (``tests/docs/test_reference.py``).
"""

import inspect
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import tables

import methods
import polhode as ph
from extensions import writing
from polhode.contracts import MOTIONS
from polhode.contracts.registry import entry_files, makers
from polhode.ensembles.reductions import REDUCTIONS
from polhode.formulations.equations import IDENTITY
from polhode.problems import CATALOGUE, RATES
from polhode.references import citation

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = "reference/entries"


class Page(NamedTuple):
    """One entry of a registry."""

    title: str
    facts: list[tuple[str, str]]  # what the record declares
    tests: str  # the file of tests that checks them, and how to run those of this entry
    scheme: str  # the docstring of its file
    file: str
    example: str
    references: tuple[str, ...]
    words: str = ""  # a paragraph below the title


# ---- maps
def of_method(name: str, method: ph.Method) -> Page:
    problem = "krysl_free" if method.free_only else "fast_top"
    dt = 0.1 if method.free_only else 0.005
    example = (
        "import polhode as ph\n\n"
        f"run = ph.solve(ph.problems.{problem}(), (0, 1), method={quoted(name)}, dt={dt})\n"
        "print(run)\nassert run.success"
    )
    module = file_of("methods", "METHOD")[name]
    chosen = f"`pytest -k {name} tests/methods/test_methods.py`"
    return Page(method.title, method_facts(method), chosen, *scheme(module), example,
                method.references)  # fmt: skip


def method_facts(method: ph.Method) -> list[tuple[str, str]]:
    kind = "implicit, solved to rounding" if method.implicit else "explicit"
    return [
        ("order", methods.order(method)),
        ("kind", kind),
        ("torques a step", methods.cost(method)),
        ("symmetric", says(method.symmetric, "a step of −h takes back a step of h")),
        ("symplectic", says(method.symplectic, "the step preserves the symplectic form")),
        ("keeps the energy", motions(method.keeps_energy)),
        ("keeps the momentum in inertial axes", motions(method.keeps_momentum)),
        ("keeps the length of the momentum", says(method.keeps_norm, "without torque")),
        ("takes torques", methods.torques(method)),
        ("six degrees of freedom", methods.motion(method)),
        ("compensated sums", compensated(method)),
        ("SIMD lanes", f"{method.width} bodies" if method.width > 1 else "one body at a time"),
    ]


def says(value: bool, meaning: str) -> str:
    return f"yes: {meaning}" if value else "no"


def motions(kept: tuple[str, ...]) -> str:
    return "; ".join(f"{name}: {MOTIONS[name]}" for name in kept) or "no"


def compensated(method: ph.Method) -> str:
    if not method.compensates:
        return "no"
    return "by default" if method.compensated else "with `compensated=True`"


# ---- integrators, formulations, coordinates
def of_integrator(name: str, integrator: ph.Integrator) -> Page:
    step = "rtol=1e-9" if integrator.adaptive else "dt=0.01"
    if integrator.linear:
        example = (
            "import math\nimport polhode as ph\n\n"
            "def coning(t):\n    return 0.3 * math.cos(2 * t), 0.3 * math.sin(2 * t), 1.0\n\n"
            'run = ph.integrate_angular_velocity(coning, (0, 1), frame="body",'
            f" method={quoted(name)}, {step})\nprint(run)\nassert run.success"
        )
    else:
        problem = "celledoni_heavy_top"
        step = step.replace("0.01", "0.001")
        example = (
            "import polhode as ph\n\n"
            f"run = ph.solve(ph.problems.{problem}(), (0, 0.5), method={quoted(name)}, {step})\n"
            "print(run)\nassert run.success"
        )
    facts = [
        ("order", str(integrator.order)),
        ("dense output", f"order {integrator.dense_order} everywhere in a step"),
        ("steps", "adaptive (`rtol`, `atol`)" if integrator.adaptive else "fixed (`dt`)"),
        ("for", "a given ω(t)" if integrator.linear else "bodies, and any ω(t, q)"),
        ("kind", "implicit, solved to rounding" if integrator.implicit else "explicit"),
        ("symmetric", says(integrator.symmetric, "a step of −h takes back a step of h")),
        ("symplectic", says(integrator.symplectic, "in canonical variables")),
    ]
    if integrator.adaptive:
        facts.append(("tightest tolerance", f"{integrator.tightest:g}: below it is rounding"))
    module = file_of("integrators", "INTEGRATOR")[name]
    chosen = f"`pytest -k {name} tests/integrators/test_integrators.py`"
    return Page(integrator.title, facts, chosen, *scheme(module), example,
                integrator.references)  # fmt: skip


def of_formulation(name: str, formulation: ph.Formulation) -> Page:
    example = (
        "import polhode as ph\n\n"
        f"run = ph.solve(ph.problems.celledoni_heavy_top(), (0, 0.5), formulation={quoted(name)})\n"
        "print(run)\nassert run.success"
    )
    facts = [
        ("numbers", str(len(formulation.enter(IDENTITY)))),
        ("reset between steps", says(formulation.resets, "the same attitude in better variables")),
        ("sign of q", "continuous" if formulation.continuous else "followed from row to row"),
        ("an error d is a turn by", f"{formulation.angle:g} |d|"),
    ]
    module = file_of("formulations", "FORMULATION", "COORDINATES")[name]
    chosen = f"`pytest -k {name} tests/formulations/test_formulations.py`"
    return Page(formulation.title, facts, chosen, *scheme(module), example, formulation.references)


def of_coordinates(name: str, variables: ph.Coordinates) -> Page:
    example = (
        "import polhode as ph\n\n"
        "body = ph.RigidBody([2.0, 3.0, 4.5])\n"
        "problem = ph.Problem(body, ph.models.heavy_top(0.5), attitude=[0.9, 0.3, -0.1, 0.3],\n"
        "                     scalar_first=True, omega=[0.4, -0.3, 3.0])\n"
        f"run = ph.solve(problem, (0, 1), formulation={quoted(name)})\n"
        "print(run)\nassert run.success"
    )
    facts = [
        ("numbers", str(variables.numbers)),
        (
            "departures from a nominal motion",
            says(variables.nominal is not None, "made at the start"),
        ),
        ("reset between steps", says(variables.resets, "the same motion in better variables")),
        ("singular", variables.singular.replace("'", "`")),
    ]
    module = file_of("formulations", "FORMULATION", "COORDINATES")[name]
    chosen = f"`pytest -k {name} tests/formulations/test_coordinates.py`"
    return Page(variables.title, facts, chosen, *scheme(module), example, variables.references)


# ---- models, problems, shapes, reductions
def of_model(name: str, make: Callable[..., ph.Model]) -> Page:
    module = import_module(f"polhode.models.{name}")
    given = max(module.EXAMPLES, key=len)
    made = make(**given)
    body = "ph.RigidBody([1.0, 2.0, 2.5], mass=2.0)"
    start = "omega=[0.1, 0.2, 1.0]"
    if made.moves:
        start += ", position=[2.0, 1.0, 4.0]"
    example = (
        "import polhode as ph\n\n"
        f"model = ph.models.{name}({written(given)})\n"
        f"problem = ph.Problem({body}, model, {start})\n"
        'run = ph.solve(problem, (0, 1))\nprint(model, run.energy, sep="\\n")\nassert run.success'
    )
    facts = [
        ("parameters", tables.arguments(make)),
        ("acts by", tables.acting(name, make)),
        ("potential", says(made.has_potential, "runs have an energy")),
        ("depends on the rate", methods.yes(made.depends_on_omega)),
        ("variables of its own", ", ".join(f"`{v}`" for v in made.variable_names) or "none"),
    ]
    chosen = f"`pytest -k {name} tests/models/test_model_examples.py`"
    return Page(name, facts, chosen, *scheme(module.__name__), example, made.references,
                docstring(make))  # fmt: skip


def of_problem(name: str, entry: Any) -> Page:
    make = entry.make.__name__
    end = min(entry.t_end, 200 * entry.dt)
    problem = entry.make()
    method = f"method={quoted(entry.method)}, dt={entry.dt:g}"
    example = (
        "import polhode as ph\n\n"
        f"problem = ph.problems.{make}()\n"
        f"run = ph.solve(problem, (0, {end:g}), {method})\nprint(run)\nassert run.success"
    )
    inertia = " ".join(f"{x:.6g}" for x in problem.body.principal_moments)
    facts = [
        ("principal moments", f"{inertia} kg m²"),
        ("mass", f"{problem.body.mass:g} kg"),
        ("what acts", ", ".join(term.name for term in (problem.model.terms or (problem.model,)))),
        ("angular velocity at the start", f"{vector(problem.omega)} rad/s, body axes"),
        ("run by the paper", f"`method={entry.method}`, dt = {entry.dt:g} s, to {entry.t_end:g} s"),
        ("command line", f"`polhode run {name}`"),
    ]
    if problem.moves:
        facts.insert(2, ("position, velocity", f"{vector(problem.position)} m,"
                         f" {vector(problem.velocity)} m/s"))  # fmt: skip
    chosen = "`pytest tests/problems`"
    return Page(name, facts, chosen, *scheme(entry.make.__module__), example, entry.references,
                docstring(entry.make))  # fmt: skip


def of_rate(name: str, make: Callable) -> Page:
    rate = make()
    example = (
        "import polhode as ph\n\n"
        f"given = ph.problems.{make.__name__}()\n"
        "run = ph.integrate_angular_velocity(\n"
        "    given.omega, given.span, frame=given.frame, attitude=given.attitude,"
        " scalar_first=True\n"
        ")\nprint(run.frame_error(given.exact).max())\nassert run.success"
    )
    facts = [("span", f"{rate.span[0]:g} to {rate.span[1]:g} s"), ("frame", f"`{rate.frame}`")]
    chosen = "`pytest tests/problems/test_kinematic_problems.py`"
    return Page(make.__name__, facts, chosen, *scheme(make.__module__), example, rate.references,
                docstring(make))  # fmt: skip


def of_shape(name: str, make: Callable) -> Page:
    module = import_module(make.__module__)
    given = getattr(module, "EXAMPLES", ({},))[0]
    if name == "mesh":
        given = {}
    shape = make(**given, mass=2.0) if given else None
    example = (
        "import polhode as ph\n\n"
        f"shape = ph.shapes.{name}({written(given)}, mass=2.0)\n"
        'print(shape.centre, shape.inertia, sep="\\n")\nassert abs(shape.mass - 2.0) < 1e-15'
    )
    if name == "mesh":
        example = (
            "import numpy as np\nimport polhode as ph\n\n"
            "vertices = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)\n"
            "faces = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])\n"
            "shape = ph.shapes.mesh((vertices, faces), density=6.0)\n"
            "print(shape.centre, shape.mass)\nassert abs(shape.mass - 1.0) < 1e-15"
        )
    facts = [("arguments", tables.arguments(make))]
    if shape is not None:
        moments = vector(shape.inertia.diagonal())
        facts.append(("in the example below", f"moments {moments} kg m² about its centre of mass,"
                      f" which is at {vector(shape.centre)} m"))  # fmt: skip
    chosen = f"`pytest -k {name} tests/body`"
    return Page(name, facts, chosen, *scheme(make.__module__), example, (), docstring(make))


def of_reduction(name: str, kind: type) -> Page:
    text = getattr(kind, "text", "")
    what = repr(text).replace("'", '"') if text else "ph.reductions.FirstTime(over)"
    before = (
        ""
        if text
        else (
            "def over(t, q, omega):  # the first time when axis 3 is horizontal\n"
            "    return q[0] ** 2 - q[1] ** 2 - q[2] ** 2 + q[3] ** 2\n\n"
        )
    )
    example = (
        f"import polhode as ph\n\n{before}"
        "spins = ph.distributions.Normal([0, 0, 50], 0.5)\n"
        "result = ph.solve_ensemble(\n"
        '    ph.problems.fast_top(), (0, 0.5), members=50, vary={"omega": spins}, seed=1,\n'
        f'    method="mr2", dt=0.01, reduce={what},\n'
        ")\nprint(result.reductions)\nassert result.success.all()"
    )
    facts = [("arguments", tables.arguments(kind)), ("as text", f"`{text}`" if text else "–")]
    chosen = "`pytest tests/ensembles/test_ensemble_reductions.py`"
    return Page(name, facts, chosen, *scheme(kind.__module__), example, (), docstring(kind))


# ---- tableaus
def of_tableau(name: str, tableau: ph.Tableau) -> Page:
    example = (
        "import polhode as ph\n\n"
        f"tableau = ph.TABLEAUS[{quoted(name)}]\n"
        "run = ph.solve(ph.problems.fast_top(), (0, 1),"
        f" method={quoted(f'mkrk:{name}')}, dt=0.002)\n"
        "print(tableau.order, tableau.stages, run)\nassert run.success"
    )
    facts = [
        ("order", str(tableau.order)),
        ("stages", str(tableau.stages)),
        ("kind", "explicit" if tableau.explicit else "implicit"),
        ("symmetric", says(tableau.symmetric, "self-adjoint in a vector space")),
        ("first same as last", methods.yes(tableau.first_same_as_last)),
        ("as a method", f"[`mkrk:{name}`](../methods/mkrk-{name}.md)"),
    ]
    chosen = "`pytest tests/tableaus`"
    _, file = scheme("polhode.tableaus.runge_kutta")
    return Page(f"the tableau {name}", facts, chosen, butcher(tableau), file, example,
                tableau.references)  # fmt: skip


def butcher(tableau: ph.Tableau) -> str:
    """The tableau as a formula."""
    rows = [
        f"{number(c)} & {' & '.join(map(number, row))}"
        for c, row in zip(tableau.c, tableau.a, strict=True)
    ]
    last = " & ".join(["", *map(number, tableau.b)])
    body = " \\\\[.3em] ".join(rows)
    columns = "c|" + "c" * tableau.stages
    return f"$$\n\\begin{{array}}{{{columns}}} {body} \\\\[.3em] \\hline {last} \\end{{array}}\n$$"


def number(x: Any) -> str:
    """An entry: a fraction as it is, a root with five digits."""
    if isinstance(x, (int, Fraction)):
        f = Fraction(x)
        sign = "-" if f < 0 else ""
        top, bottom = abs(f.numerator), f.denominator
        return f"{sign}{top}" if bottom == 1 else f"{sign}\\tfrac{{{top}}}{{{bottom}}}"
    return f"{float(x):.5g}"


# ---- what they share
@cache
def file_of(package: str, *kinds: str) -> dict[str, str]:
    """Name of an entry -> module that has it."""
    return {
        name: module.__name__
        for module in entry_files(f"polhode.{package}")
        for kind in kinds
        for name in makers(module, kind)
    }


def scheme(module: str) -> tuple[str, str]:
    """The docstring of a module, and its file below the package."""
    made = import_module(module)
    folder = Path(ph.__file__).parent
    return inspect.getdoc(made) or "", str(Path(str(made.__file__)).relative_to(folder))


def docstring(made: Any) -> str:
    return tables.text(made).replace("\\|", "|")


def written(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items()).replace("'", '"')


def quoted(name: str) -> str:
    return f'"{name}"'


def vector(numbers: Any) -> str:
    return f"({', '.join(f'{x:.6g}' for x in numbers)})"


KINDS: dict[str, tuple[str, str, Mapping[str, Any], Callable[[str, Any], Page]]] = {
    "methods": ("Methods", "maps with fixed steps, `method=`", ph.METHODS, of_method),
    "integrators": ("Integrators", "general-purpose, `method=`", ph.INTEGRATORS, of_integrator),
    "formulations": ("Formulations", "variables of the attitude, `formulation=`",
                     ph.FORMULATIONS, of_formulation),
    "coordinates": ("Coordinates", "variables of attitude and momentum, `formulation=`",
                    ph.COORDINATES, of_coordinates),
    "models": ("Models", "what acts on a body, `ph.models`", ph.MODELS, of_model),
    "problems": ("Problems", "the catalogue, `ph.problems`", CATALOGUE, of_problem),
    "rates": ("Given angular velocities", "with exact attitudes, `ph.problems`", RATES, of_rate),
    "shapes": ("Shapes", "with closed forms, `ph.shapes`", ph.shapes.SHAPES, of_shape),
    "tableaus": ("Tableaus", "of Runge-Kutta methods, `ph.TABLEAUS`", ph.TABLEAUS, of_tableau),
    "reductions": ("Reductions", "of ensembles, `ph.reductions`", REDUCTIONS, of_reduction),
}  # fmt: skip


def page_name(kind: str, name: str) -> str:
    return f"{FOLDER}/{kind}/{name.replace(':', '-')}.md"


@cache
def every() -> dict[tuple[str, str], Page]:
    """All entries, by kind and name."""
    return {
        (kind, name): of(name, made)
        for kind, (_, _, registry, of) in KINDS.items()
        for name, made in registry.items()
    }


def text(name: str, page: Page) -> str:
    lines = [f"# {name}", ""]
    if page.title not in (name, ""):
        lines += [f"{page.title[0].upper()}{page.title[1:]}.", ""]
    if page.words:
        lines += [page.words, ""]
    lines += [":::{table}", ":class: facts", "", "| | |", "| --- | --- |"]
    lines += [f"| {what} | {said.replace('|', chr(92) + '|')} |" for what, said in page.facts]
    lines += [":::", "", f"Checked by {page.tests}.", ""]
    lines += ["## Example", "", "```python", page.example, "```", ""]
    lines += ["## In the source", "", f"{{source}}`{page.file}`", ""]
    lines += [page.scheme] if page.scheme.startswith("$$") else ["```text", page.scheme, "```"]
    lines.append("")
    if page.references:
        lines += ["## References", ""]
        lines += [f"- {citation(key)}" for key in dict.fromkeys(page.references)]
        lines.append("")
    return "\n".join(lines)


def index(kind: str) -> str:
    title, what, registry, _ = KINDS[kind]
    lines = [f"# {title}", "", f"{what[0].upper()}{what[1:]}.", "", "| name | |", "| --- | --- |"]
    for name in registry:
        page = every()[kind, name]
        said = page.title if page.title != name else page.words
        said = said.split(". ")[0].rstrip(".").replace("|", "\\|")
        lines.append(f"| [`{name}`]({name.replace(':', '-')}.md) | {said} |")
    lines += ["", "```{toctree}", ":hidden:", ":titlesonly:", ""]
    lines += [name.replace(":", "-") for name in registry]
    return "\n".join([*lines, "```", ""])


def write(app: "Sphinx") -> None:
    made = {page_name(kind, name): text(name, page) for (kind, name), page in every().items()}
    made |= {f"{FOLDER}/{kind}/index.md": index(kind) for kind in KINDS}
    writing.write(made, FOLDER)


def setup(app: "Sphinx") -> dict[str, bool]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
