"""``polhode``: all commands in one program; errors become one line and an exit code."""

import gc
import sys
from typing import Annotated

import typer

from polhode._version import __version__
from polhode.cli.bench import bench
from polhode.cli.cite import cite
from polhode.cli.compare import compare
from polhode.cli.earth import earth
from polhode.cli.ensemble import OptionalAddress, ensemble
from polhode.cli.film import film
from polhode.cli.fit import fit
from polhode.cli.gyro import gyro
from polhode.cli.lists import methods, problems
from polhode.cli.moon import moon
from polhode.cli.output import complain, stdout
from polhode.cli.reproduce import reproduce
from polhode.cli.resume import resume
from polhode.cli.run import run
from polhode.cli.view import view
from polhode.errors import PolhodeError

app = typer.Typer(
    name="polhode",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for command in (
    *(run, view, film, compare, gyro, fit, methods, problems, moon, earth, cite, reproduce, bench),
):
    app.command()(command)
app.command(cls=OptionalAddress)(ensemble)
app.command(cls=OptionalAddress)(resume)


def _version(wanted: bool) -> None:
    if wanted:
        stdout().print(f"polhode {__version__}")
        raise typer.Exit


@app.callback()
def _start(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """The motion of rigid bodies.

    Try `polhode run fast-top`; then `polhode COMMAND --help`.
    """


def main() -> None:
    """Run the command line; exit with 0, with 1 if a run failed, with 2 for bad input."""
    gc.set_threshold(1_000_000)  # imports create many objects, all of which stay
    try:
        app(prog_name="polhode")
    except PolhodeError as error:
        complain(str(error))
        sys.exit(2)
    except OSError as error:
        complain(f"{error.filename or 'file'}: {error.strerror}")
        sys.exit(2)
    except MemoryError as error:
        complain(f"not enough memory ({error}); keep fewer states with --save-every")
        sys.exit(2)
