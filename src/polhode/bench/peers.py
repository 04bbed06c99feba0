"""Those we compare with: which module it is, and how to get it."""

import importlib
import importlib.metadata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from polhode.bench.in_c import compilers
from polhode.bench.records import Missing

COMPILER = "a C compiler"


@dataclass(frozen=True)
class Peer:
    """A package of others; ``extra`` is that of ours with which it comes, if not by its name."""

    module: str
    package: str
    extra: str = ""

    @property
    def install(self) -> str:
        return f"pip install '{f'polhode[{self.extra}]' if self.extra else self.package}'"


PEERS = {
    "heyoka": Peer("heyoka", "heyoka"),
    "JAX": Peer("jax", "jax"),
    "diffrax": Peer("diffrax", "diffrax"),
    "MuJoCo": Peer("mujoco", "mujoco"),
    "Basilisk": Peer("Basilisk.simulation.spacecraft", "bsk"),
    "SciPy": Peer("scipy", "scipy"),
    "numpy-quaternion": Peer("quaternion", "numpy-quaternion"),
    "trimesh": Peer("trimesh", "trimesh"),
    "Dask": Peer("distributed", "distributed", "dask"),
    "mpmath": Peer("mpmath", "mpmath"),
    "de421": Peer("de421", "de421", "celestial"),
    "erfa": Peer("erfa", "pyerfa", "celestial"),
}


def peer(name: str) -> Any:
    """The module of a peer, or None where it is not installed."""
    return installed(PEERS[name].module)


def installed(module: str) -> Any:
    """The module, or None where there is none."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def missing(names: Iterable[str]) -> list[Missing]:
    """Those of the peers that are not there."""
    absent = []
    for name in names:
        if name == COMPILER:
            if not compilers():
                absent.append(Missing(name, "install gcc or clang with your system's packages"))
        elif peer(name) is None:
            absent.append(Missing(name, PEERS[name].install))
    return absent


def versions(names: Iterable[str]) -> dict[str, str]:
    """Of those that are there."""
    found = {}
    for name in names:
        if name != COMPILER and peer(name) is not None:
            found[name] = importlib.metadata.version(PEERS[name].package)
    return found
