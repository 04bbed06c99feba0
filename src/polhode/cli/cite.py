"""``polhode cite``: list the papers to cite."""

from typing import Annotated

from polhode.cli import options
from polhode.cli.output import stdout
from polhode.errors import InputError


def cite(
    names: Annotated[list[str] | None, options.NAMES] = None,
    bibtex: Annotated[bool, options.BIBTEX] = False,
) -> None:
    """List the papers to cite for methods, integrators, formulations or problems.

    Without names: how to cite polhode itself, and all papers.

    Examples:

    - `polhode cite`
    - `polhode cite imidm fast-top`
    - `polhode cite dop853 rotor precessing-binary`
    - `polhode cite krysl2006 --bibtex`
    """
    from polhode import references

    keys = (key for name in names or references.bibliography() for key in _keys_of(name))
    entries = {key: references.bibtex(key) for key in keys}
    console = stdout()
    if bibtex:
        texts = [*([] if names else [references.SOFTWARE]), *entries.values()]
        console.print("\n\n".join(texts), markup=False, soft_wrap=True)
        return
    if not names:
        console.print("polhode itself, with the papers of the methods and problems you used:\n")
        console.print(f"  {references.software_citation()}\n", markup=False, soft_wrap=True)
    if not entries:
        console.print("only polhode itself: polhode cite")
    width = max(map(len, entries), default=0)
    for key in entries:
        console.print(f"{key:<{width}}  {references.citation(key)}", markup=False, soft_wrap=True)


def _keys_of(name: str) -> tuple[str, ...]:
    """Return the keys of the papers to cite for a name."""
    from polhode.cli.schema import did_you_mean
    from polhode.formulations import COORDINATES, FORMULATIONS
    from polhode.integrators import INTEGRATORS
    from polhode.methods import METHODS
    from polhode.problems import CATALOGUE, RATES
    from polhode.references import bibliography

    if name in bibliography():
        return (name,)
    for registry in (METHODS, INTEGRATORS, FORMULATIONS, COORDINATES):
        if name in registry:
            return registry[name].references
    problem = name.replace("_", "-")
    if problem in CATALOGUE:
        entry = CATALOGUE[problem]
        return entry.references + entry.make().model.references
    if problem in RATES:
        return RATES[problem]().references
    known = [*bibliography(), *METHODS, *INTEGRATORS, *FORMULATIONS, *COORDINATES]
    known += [*CATALOGUE, *RATES]
    raise InputError(
        f"{name!r} is not the key of a paper, nor a method, integrator, formulation or problem"
        f"{did_you_mean(name, known)}; see polhode cite, polhode methods and polhode problems"
    )
