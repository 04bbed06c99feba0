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
MeshOrTarget = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME_OR_FILE]",
        help="A problem of the catalogue (see `polhode problems`), or a run file in TOML; not"
        " needed with `--mesh`.",
    ),
]
Mesh = Annotated[
    str | None,
    typer.Option(
        "--mesh",
        metavar="FILE",
        help="The body: the solid inside a closed mesh (STL, OBJ, PLY), with `--density`.",
    ),
]
Density = Annotated[
    float | None, typer.Option("--density", help="Of the solid inside the mesh, in kg/m³.")
]
Scale = Annotated[
    float | None,
    typer.Option("--scale", help="Metres for each unit of the mesh; 0.001 for millimetres."),
]
MethodName = Annotated[
    str | None, typer.Option("--method", help="The method; `polhode methods` lists them.")
]
Step = Annotated[float | None, typer.Option("--dt", help="The step, in seconds.")]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--rtol", help="The error of a step, of methods that find their steps themselves."
    ),
]
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
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Keep the run in this file while it is under way, for `polhode resume`.",
    ),
]
CheckpointEvery = Annotated[
    int | None,
    typer.Option(
        "--checkpoint-every",
        metavar="STEPS",
        help="Steps between two checkpoints. Default: about ten seconds.",
    ),
]
CheckpointFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="What `--checkpoint FILE` wrote.")
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
LogFile = Annotated[Path, typer.Argument(metavar="LOG", help="A table in text: CSV or alike.")]
Frame = Annotated[
    str, typer.Option("--frame", help="The axes of the values: body (of the gyro) or inertial.")
]
Kind = Annotated[
    str,
    typer.Option(
        "--kind",
        help="rate, or increment: the angle turned since the line before (the first line then only"
        " gives a time).",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="T,X,Y,Z",
        help="Names, or numbers from 1, of the columns of time and values. Default: 1,2,3,4.",
    ),
]
Degrees = Annotated[bool, typer.Option("--degrees", help="The values are in degrees (a second).")]
TimeUnit = Annotated[
    str, typer.Option("--time-unit", help="The unit of the times: s, ms, us or ns.")
]
Order = Annotated[int, typer.Option("--order", help="Of the method: 2, 4, 6 or 8.")]
Attitude = Annotated[
    str | None,
    typer.Option(
        "--attitude",
        metavar="W,X,Y,Z",
        help="The attitude at the first time, a quaternion, scalar first, body to inertial."
        " Default: the identity.",
    ),
]
Bridge = Annotated[
    bool, typer.Option("--bridge", help="Bridge missing samples: empty cells, or nan.")
]
MaxGap = Annotated[
    float | None,
    typer.Option(
        "--max-gap",
        metavar="SECONDS",
        help="Refuse a log with a longer gap between samples. Default: 10 median steps.",
    ),
]
AttitudeFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PATH",
        help="A directory (made if missing), or a file ending in .nc or .csv; the picture lies"
        " beside it. Default: the current directory.",
    ),
]
StartDate = Annotated[
    str,
    typer.Option(
        "--start",
        metavar="DATE",
        help="A date of TDB, 2000-01-01 or 2000-01-01T12:00, or a Julian date; 1900 to 2200.",
    ),
]
Years = Annotated[
    float,
    typer.Option("--years", help="How long, in years of 365.25 days; negative: back in time."),
]
Variants = Annotated[
    str | None,
    typer.Option(
        "--models", metavar="NAME,…", help="Some of the models, separated by commas. Default: all."
    ),
]
Planets = Annotated[
    bool, typer.Option("--planets", help="With the torques of the planets, in every model.")
]
MoonTolerance = Annotated[float, typer.Option("--rtol", help="The error of a step.")]
BenchName = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="A benchmark; without one, they are listed."),
]
BenchRepeats = Annotated[
    int | None,
    typer.Option("--repeats", min=1, help="Of every timing. Default: the benchmark's own."),
]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key of the benchmark; values separated by commas. May be repeated.",
    ),
]
QuickBench = Annotated[
    bool, typer.Option("--quick", help="Small cases and few repeats, for a first look.")
]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Also write what was found, as JSON.")
]
PlotFile = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Also draw it: .png, .pdf or .svg.")
]
EnsembleFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="A run file in TOML with the tables `[ensemble]` and `[vary]`."
    ),
]
Members = Annotated[
    int | None, typer.Option("--members", min=1, help="How many; `ensemble.members` of the file.")
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Of what is drawn; `ensemble.seed`. Default: a new one."),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        help="Threads, or workers of `--dask` without an address. Default: one for each processor.",
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="[ADDRESS]",
        help="Run on the workers of a Dask scheduler, such as tcp://10.0.0.5:8786; without an"
        " address on a cluster of this machine. Needs `pip install 'polhode[dask]'`.",
    ),
]
EnsembleOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PATH",
        help="A directory (made if missing), or a name ending in .zarr (written while it runs) or"
        " .nc; the picture lies beside it. Default: the current directory.",
    ),
]
