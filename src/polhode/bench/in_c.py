"""Sources in C beside the benchmarks, compiled on the spot."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

COMPILERS = ("gcc", "clang")


@cache
def compilers() -> dict[str, str]:
    """The C compilers found, each with the first line it says about itself."""
    found = {}
    for name in COMPILERS:
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True)
            found[name] = said.stdout.splitlines()[0]
    return found


class Workshop:
    """Compiles sources that lie beside this file, and loads them."""

    def __init__(self, folder: Path):
        self.folder, self.made = folder, 0

    def library(self, compiler: str, flags: Sequence[str], name: str) -> ctypes.CDLL:
        """The source ``name`` compiled and loaded.

        Linked apart from compiling: a link with -Ofast would flush subnormals of the whole process.
        """
        self.made += 1
        source = Path(__file__).with_name(name)  # a library of the same name would be the same
        made, library = (self.folder / f"{source.stem}{self.made}{end}" for end in (".o", ".so"))
        subprocess.run([compiler, *flags, "-fPIC", "-c", source, "-o", made], check=True)
        subprocess.run([compiler, "-shared", made, "-lm", "-o", library], check=True)
        return ctypes.CDLL(str(library))


@contextmanager
def workshop() -> Iterator[Workshop]:
    """A folder to compile in, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield Workshop(Path(folder))
