"""All options and arguments of the commands; their types stand in the commands."""

from typing import Any

import typer


def argument(word: str, text: str) -> Any:
    """Describe an argument, shown as ``word``."""
    return typer.Argument(metavar=word, help=text)


def option(flag: str, text: str, **limits: Any) -> Any:
    """Describe an option: its flag, with a word for the value where there is one, and its help."""
    name, _, word = flag.partition(" ")
    return typer.Option(name, metavar=word or None, help=text, **limits)


def out(kinds: str) -> Any:
    """Describe the option for the place to write to: a directory, or a file of some kinds."""
    return option(
        "--out PATH",
        f"A directory (made if missing), or {kinds}; the picture goes beside it. Default: the"
        " current directory.",
    )


TARGET = argument(
    "NAME_OR_FILE", "A problem of the catalogue (see `polhode problems`), or a run file in TOML."
)
MESH_OR_TARGET = argument(
    "[NAME_OR_FILE]",
    "A problem of the catalogue (see `polhode problems`), or a run file in TOML; not needed with"
    " `--mesh`.",
)
MESH = option(
    "--mesh FILE", "The body: a solid bounded by a closed mesh (STL, OBJ, PLY), with `--density`."
)
DENSITY = option("--density", "Density of the solid inside the mesh, in kg/m³.")
SCALE = option("--scale", "Metres per unit of the mesh; 0.001 for millimetres.")
METHOD_NAME = option("--method", "The method; `polhode methods` lists them.")
STEP = option("--dt", "The step, in seconds.")
TOLERANCE = option("--rtol", "Relative tolerance per step, for methods with adaptive steps.")
MAX_STEPS = option(
    "--max-steps",
    "Trial steps after which a run with adaptive steps ends. Default: 10 million.",
    min=1,
)
SENSITIVITIES = option(
    "--sensitivities NAME,…",
    "What to differentiate the motion by, separated by commas: state, moments, model.strength and"
    " others; the derivatives are in the file.",
)
END = option("--t-end", "The end time, in seconds; may lie before the start.")
SAVE_EVERY = option("--save-every", "Keep every n-th step, and the last.")
SET = option(
    "--set KEY=VALUE",
    "Change a key of the run, as in a run file; the value is TOML. May be repeated.",
)
CHECKPOINT = option(
    "--checkpoint FILE",
    "Save the state of the run to this file now and then, for `polhode resume`.",
)
CHECKPOINT_EVERY = option(
    "--checkpoint-every STEPS", "Steps between checkpoints. Default: one about every ten seconds."
)
CHECKPOINT_FILE = argument("FILE", "A file written by `--checkpoint FILE`.")
OUT = out("a file ending in .nc")
HTML = option(
    "--html", "Also write a moving picture (NAME.html), one file that needs nothing else."
)
NO_PLOT = option("--no-plot", "Write no picture.")
STRICT = option("--strict", "Exit with 1 if a claim is missed.")
QUIET = typer.Option("--quiet", "-q", help="No progress bar, no summary; errors only.")
JSON = option("--json", "As JSON.")
NAMES = argument("[NAME]...", "Keys of papers, or names of methods or problems. Default: all.")
BIBTEX = option("--bibtex", "As BibTeX entries.")
PAPER_NAME = argument("PAPER", "The key of a paper, such as krysl2006.")
QUICK = option("--quick", "Shorter runs and fewer steps; the same claims.")
METHODS = option(
    "--methods NAME,…",
    "Methods, separated by commas, or `all` that can handle the torque. Default: those of order 2"
    " or more, but of the implicit ones of order 2 only imidm.",
)
STEPS = option(
    "--dts DT,…",
    "Steps in seconds, separated by commas. Default: the problem's own step, doubled up to four"
    " times and halved up to three times.",
)
ERRORS = option(
    "--errors ERROR,…",
    "Instead of --dts: for each method, find the longest steps that reach these attitude errors,"
    " in radians.",
)
REPEATS = option("--repeats", "Repeats of each timing; the minimum counts.", min=1)
ROWS = out("a file ending in .csv or .json")
QUICK_COMPARE = option(
    "--quick", "A tenth of the time span (without --t-end), three steps, two repeats."
)
FIGURES = option("--out DIR", "Directory for the figures. Default: one named after the paper.")
LOG_FILE = argument("LOG", "A text table: CSV or similar.")
FRAME = option("--frame", "The axes of the values: body (of the gyro) or inertial.")
KIND = option(
    "--kind",
    "rate, or increment: the angle turned since the line before (the first line only gives a"
    " time).",
)
COLUMNS = option(
    "--columns T,X,Y,Z",
    "Names, or numbers from 1, of the columns of time and values. Default: found by their names.",
)
DEGREES = option(
    "--degrees",
    "The values are in degrees, or degrees per second. Default: as the names of the columns say,"
    " else radians.",
)
RADIANS = option("--radians", "The values are in radians, or radians per second.")
TIME_UNIT = option(
    "--time-unit",
    "The unit of the times: s, ms, us or ns. Default: as the name of the column says, else s. Dates"
    " (ISO 8601) need none.",
)
BIAS = option(
    "--bias X,Y,Z",
    "The rates at rest, in the units of the log, which are subtracted; or one number N: their mean"
    " over the first N seconds, in which the body is at rest.",
)
ORDER = option("--order", "The order of the method: 2, 4, 6 or 8.")
ATTITUDE = option(
    "--attitude W,X,Y,Z",
    "The attitude at the first time, a quaternion, scalar first, body to inertial. Default: the"
    " identity.",
)
BRIDGE = option("--bridge", "Bridge missing samples: empty cells, or nan.")
MAX_GAP = option(
    "--max-gap SECONDS", "The longest gap between samples to accept. Default: 10 median steps."
)
ATTITUDE_FILE = out("a file ending in .nc or .csv")
START_DATE = option(
    "--start DATE", "A date in TDB, 2000-01-01 or 2000-01-01T12:00, or a Julian date; 1900 to 2200."
)
YEARS = option(
    "--years", "The length of the run in years of 365.25 days; negative: backwards in time."
)
VARIANTS = option("--models NAME,…", "Models, separated by commas, or all. Default: de421.")
TERMS = option(
    "--terms", "Instead of models: the model de421 with each of its terms left out in turn."
)
EPHEMERIS = option(
    "--ephemeris", "de421, or a newer one whose package is installed: de422 or de423."
)
PLANETS = option("--planets", "Include the torques of the planets in every model.")
MOON_TOLERANCE = option("--rtol", "Relative tolerance per step.")
BENCH_NAME = argument("[NAME]", "A benchmark, or `all`; without a name, they are listed.")
BENCH_REPEATS = option("--repeats", "Repeats of each timing. Default: the benchmark's own.", min=1)
KEYS = option(
    "--set KEY=VALUE",
    "Change a setting of the benchmark; values separated by commas. May be repeated.",
)
QUICK_BENCH = option("--quick", "Small cases and few repeats, for a first impression.")
JSON_FILE = option("--json FILE", "Also write the results as JSON.")
STORE_FOLDER = option(
    "--store FOLDER",
    "Also write the results as JSON into a folder, one small file NAME.json for each benchmark; the"
    " quick form of those that take minutes.",
)
PLOT_FILE = option("--plot FILE", "Also draw the results: .png, .pdf or .svg.")
RUN_FILE = argument("RUN", "A motion that `polhode run` wrote: a file (.nc) or a store (.zarr).")
FILM_FILE = argument("FILM", "The film to write: .mp4, .webm, .gif, .webp or .png (APNG).")
FPS = option("--fps", "Frames per second of film.")
SPEED = option(
    "--speed",
    "Seconds of motion per second of film. Default: a turn takes two seconds, but the film lasts at"
    " least 4 and at most 10 seconds.",
)
VIEWS = option(
    "--views NAME,…",
    "What is shown side by side: `body`, `poinsot`, `rates`, `drift` and other panels. Default:"
    " body,rates.",
)
FILM_SIZE = option(
    "--size WIDTHxHEIGHT", "Size in pixels. Default: 480 high, and 480 wide for each view."
)
THEME = option("--theme", "light or dark. Default: light.")
ENSEMBLE_FILE = argument("FILE", "A run file in TOML with the tables `[ensemble]` and `[vary]`.")
MEMBERS = option("--members", "Number of members; `ensemble.members` of the file.", min=1)
SEED = option("--seed", "Seed of the random numbers; `ensemble.seed`. Default: a new one.", min=0)
THREADS = option(
    "--threads",
    "Threads, or workers of `--dask` without an address. Default: one per processor.",
    min=1,
)
DASK = option(
    "--dask [ADDRESS]",
    "Run on the workers of a Dask scheduler, such as tcp://10.0.0.5:8786; without an address on a"
    " local cluster. Needs `pip install 'polhode[dask]'`.",
)
RUN_FILES = argument(
    "FILE", "Files (.nc) or stores (.zarr): runs, which are shown together, or an ensemble."
)
PAGE = option("--html FILE", "Write the page to this file instead of opening it.")
GHOSTS = option("--ghosts", "Several runs on top of each other, not side by side.")
THEME = option("--theme", "auto (as the system has it), light or dark.")
NO_OPEN = option("--no-open", "Write a temporary page and print its path; open no browser.")
WHERE = option(
    "--where",
    "Of an ensemble: axis (the third body axis, on a sphere), momentum, omega, momentum_body,"
    " omega_body or space. Default: axis.",
)
COLOUR = option(
    "--colour NAME",
    "Colour the members by a varied quantity, tilt, speed, energy, kinetic_energy, status, …",
)
SHOWN_MEMBERS = option("--members", "Members of an ensemble to show, at most.", min=1)
FRAMES = option("--frames", "Times of an ensemble to show, at most.", min=1)
BUDGET = option("--budget BYTES", "Size of the page of an ensemble, at most. Default: 2e6.")
ENSEMBLE_OUT = out("a name ending in .zarr (written while it runs) or .nc")
FIT_PROBLEM = option(
    "--problem NAME_OR_FILE",
    "Where the fit starts: a problem of the catalogue, or a run file in TOML, whose [initial] state"
    " is that at the first time of the log.",
)
FREE = option(
    "--free NAME,…",
    "The unknowns: state, attitude, angular_momentum, omega, inertia, moments, mass,"
    " model.strength …",
)
HOLD = option(
    "--hold NAME",
    "A combination that stays: trace of inertia, largest moment, |angular momentum|, inertia.Ixx …"
    " May be repeated.",
)
RATES = option(
    "--rates X,Y,Z",
    "Names, or numbers from 1, of the columns of angular velocities. Default: found by their names,"
    " unless there is --attitudes.",
)
ATTITUDES = option(
    "--attitudes W,X,Y,Z",
    "The columns of attitudes, quaternions with the scalar first, body to inertial.",
)
SIGMA = option("--sigma", "Standard deviation of the angular velocities, in their unit.")
ATTITUDE_SIGMA = option(
    "--attitude-sigma", "Standard deviation of the attitudes about each axis, in the same angles."
)
WITH_BIAS = option("--bias", "The gyro has a constant bias, which is fitted, too.")
LOSS = option(
    "--loss", "linear, or for logs with outliers soft_l1, huber, cauchy or arctan. Default: linear."
)
MAX_ITERATIONS = option(
    "--max-iterations", "Steps after which the search ends. Default: 300.", min=1
)
FIT_FILE = out("a file ending in .json")
