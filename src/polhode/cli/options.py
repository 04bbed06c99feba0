"""All options and arguments of the commands."""

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
        help="The body: a solid bounded by a closed mesh (STL, OBJ, PLY), with `--density`.",
    ),
]
Density = Annotated[
    float | None, typer.Option("--density", help="Density of the solid inside the mesh, in kg/m³.")
]
Scale = Annotated[
    float | None,
    typer.Option("--scale", help="Metres per unit of the mesh; 0.001 for millimetres."),
]
MethodName = Annotated[
    str | None, typer.Option("--method", help="The method; `polhode methods` lists them.")
]
Step = Annotated[float | None, typer.Option("--dt", help="The step, in seconds.")]
Tolerance = Annotated[
    float | None,
    typer.Option("--rtol", help="Relative tolerance per step, for methods with adaptive steps."),
]
End = Annotated[
    float | None,
    typer.Option("--t-end", help="The end time, in seconds; may lie before the start."),
]
SaveEvery = Annotated[
    int | None, typer.Option("--save-every", help="Keep every n-th step, and the last.")
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
        help="Save the state of the run to this file now and then, for `polhode resume`.",
    ),
]
CheckpointEvery = Annotated[
    int | None,
    typer.Option(
        "--checkpoint-every",
        metavar="STEPS",
        help="Steps between checkpoints. Default: one about every ten seconds.",
    ),
]
CheckpointFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A file written by `--checkpoint FILE`.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PATH",
        help="A directory (made if missing), or a file ending in .nc; the picture goes beside it."
        " Default: the current directory.",
    ),
]
NoPlot = Annotated[bool, typer.Option("--no-plot", help="Write no picture.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress bar, no summary; errors only.")
]
Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...", help="Keys of papers, or names of methods or problems. Default: all."
    ),
]
BibTeX = Annotated[bool, typer.Option("--bibtex", help="As BibTeX entries.")]
PaperName = Annotated[
    str, typer.Argument(metavar="PAPER", help="The key of a paper, such as krysl2006.")
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Shorter runs and fewer steps; the same claims.")
]
Methods = Annotated[
    str | None,
    typer.Option(
        "--methods",
        metavar="NAME,…",
        help="Methods, separated by commas, or `all` that can handle the torque. Default: those of"
        " order 2 or more, but of the implicit ones of order 2 only imidm.",
    ),
]
Steps = Annotated[
    str | None,
    typer.Option(
        "--dts",
        metavar="DT,…",
        help="Steps in seconds, separated by commas. Default: the problem's own step, doubled up to"
        " four times and halved up to three times.",
    ),
]
Errors = Annotated[
    str | None,
    typer.Option(
        "--errors",
        metavar="ERROR,…",
        help="Instead of --dts: for each method, find the longest steps that reach these attitude"
        " errors, in radians.",
    ),
]
Repeats = Annotated[
    int, typer.Option("--repeats", min=1, help="Repeats of each timing; the minimum counts.")
]
Rows = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PATH",
        help="A directory (made if missing), or a file ending in .csv or .json; the picture goes"
        " beside it. Default: the current directory.",
    ),
]
QuickCompare = Annotated[
    bool,
    typer.Option(
        "--quick", help="A tenth of the time span (without --t-end), three steps, two repeats."
    ),
]
Figures = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Directory for the figures. Default: one named after the paper.",
    ),
]
LogFile = Annotated[Path, typer.Argument(metavar="LOG", help="A text table: CSV or similar.")]
Frame = Annotated[
    str, typer.Option("--frame", help="The axes of the values: body (of the gyro) or inertial.")
]
Kind = Annotated[
    str,
    typer.Option(
        "--kind",
        help="rate, or increment: the angle turned since the line before (the first line only gives"
        " a time).",
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
Degrees = Annotated[
    bool, typer.Option("--degrees", help="The values are in degrees, or degrees per second.")
]
TimeUnit = Annotated[
    str, typer.Option("--time-unit", help="The unit of the times: s, ms, us or ns.")
]
Order = Annotated[int, typer.Option("--order", help="The order of the method: 2, 4, 6 or 8.")]
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
        help="The longest gap between samples to accept. Default: 10 median steps.",
    ),
]
AttitudeFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PATH",
        help="A directory (made if missing), or a file ending in .nc or .csv; the picture goes"
        " beside it. Default: the current directory.",
    ),
]
StartDate = Annotated[
    str,
    typer.Option(
        "--start",
        metavar="DATE",
        help="A date in TDB, 2000-01-01 or 2000-01-01T12:00, or a Julian date; 1900 to 2200.",
    ),
]
Years = Annotated[
    float,
    typer.Option(
        "--years",
        help="The length of the run in years of 365.25 days; negative: backwards in time.",
    ),
]
Variants = Annotated[
    str | None,
    typer.Option("--models", metavar="NAME,…", help="Models, separated by commas. Default: all."),
]
Planets = Annotated[
    bool, typer.Option("--planets", help="Include the torques of the planets in every model.")
]
MoonTolerance = Annotated[float, typer.Option("--rtol", help="Relative tolerance per step.")]
BenchName = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="A benchmark; without a name, all are listed."),
]
BenchRepeats = Annotated[
    int | None,
    typer.Option("--repeats", min=1, help="Repeats of each timing. Default: the benchmark's own."),
]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting of the benchmark; values separated by commas. May be repeated.",
    ),
]
QuickBench = Annotated[
    bool, typer.Option("--quick", help="Small cases and few repeats, for a first impression.")
]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Also write the results as JSON.")
]
PlotFile = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Also draw the results: .png, .pdf or .svg."),
]
EnsembleFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="A run file in TOML with the tables `[ensemble]` and `[vary]`."
    ),
]
Members = Annotated[
    int | None,
    typer.Option("--members", min=1, help="Number of members; `ensemble.members` of the file."),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", min=0, help="Seed of the random numbers; `ensemble.seed`. Default: a new one."
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        help="Threads, or workers of `--dask` without an address. Default: one per processor.",
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="[ADDRESS]",
        help="Run on the workers of a Dask scheduler, such as tcp://10.0.0.5:8786; without an"
        " address on a local cluster. Needs `pip install 'polhode[dask]'`.",
    ),
]
EnsembleOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PATH",
        help="A directory (made if missing), or a name ending in .zarr (written while it runs) or"
        " .nc; the picture goes beside it. Default: the current directory.",
    ),
]
