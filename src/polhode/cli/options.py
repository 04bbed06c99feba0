"""Every option and argument of the commands, once."""

from pathlib import Path
from typing import Annotated

import typer

Target = Annotated[
    str,
    typer.Argument(
        metavar="NAME_OR_FILE",
        help="A problem of the catalogue (see `polhode problems`), or a run file in TOML.",
    ),
]
MethodName = Annotated[
    str | None, typer.Option("--method", help="The method; `polhode methods` lists them.")
]
Step = Annotated[float | None, typer.Option("--dt", help="The step, in seconds.")]
End = Annotated[
    float | None, typer.Option("--t-end", help="The end, in seconds; before the start works too.")
]
SaveEvery = Annotated[
    int | None, typer.Option("--save-every", help="Keep every so manyth step, and the last.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key of the run, as in a run file; the value is TOML. May be repeated.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PATH",
        help="A directory (made if missing), or a file ending in .nc; the picture lies beside it."
        " Default: the current directory.",
    ),
]
NoPlot = Annotated[bool, typer.Option("--no-plot", help="Write no picture.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary; errors only.")]
Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...", help="Keys of papers, names of methods or problems; default: all."
    ),
]
BibTeX = Annotated[bool, typer.Option("--bibtex", help="As BibTeX entries.")]
PaperName = Annotated[str, typer.Argument(metavar="PAPER", help="Its key, such as krysl2006.")]
Quick = Annotated[
    bool, typer.Option("--quick", help="Shorter runs and fewer steps; the same claims.")
]
Methods = Annotated[
    str | None,
    typer.Option(
        "--methods",
        metavar="NAME,…",
        help="Methods, separated by commas, or `all` that take the torque. Default: those of order"
        " 2 or more, but of the implicit ones of order 2 only imidm.",
    ),
]
Steps = Annotated[
    str | None,
    typer.Option(
        "--dts",
        metavar="DT,…",
        help="Steps in seconds, separated by commas. Default: the problem's own, and four"
        " doublings and three halvings of it.",
    ),
]
Errors = Annotated[
    str | None,
    typer.Option(
        "--errors",
        metavar="ERROR,…",
        help="In place of --dts: find for each method the longest steps that reach these attitude"
        " errors, in radians.",
    ),
]
Repeats = Annotated[
    int, typer.Option("--repeats", min=1, help="Of every timing; the least counts.")
]
Rows = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PATH",
        help="A directory (made if missing), or a file ending in .csv or .json; the picture lies"
        " beside it. Default: the current directory.",
    ),
]
QuickCompare = Annotated[
    bool,
    typer.Option(
        "--quick", help="A tenth of the span (without --t-end), three steps, two repeats."
    ),
]
Figures = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Where the figures go; default: a directory named like PAPER."
    ),
]
