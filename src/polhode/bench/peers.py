"""The peers we compare with: their modules, and how to install them."""

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
    """A package; ``extra`` is our own extra that installs it, if there is one."""

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
    "REBOUND": Peer("rebound", "rebound"),
    "Orekit": Peer("orekit_jpype", "orekit-jpype", "orekit"),
    "SciPy": Peer("scipy", "scipy"),
    "numpy-quaternion": Peer("quaternion", "numpy-quaternion"),
    "trimesh": Peer("trimesh", "trimesh"),
    "Dask": Peer("distributed", "distributed", "dask"),
    "mpmath": Peer("mpmath", "mpmath"),
    "de421": Peer("de421", "de421", "celestial"),
    "erfa": Peer("erfa", "pyerfa", "celestial"),
}


def peer(name: str) -> Any:
    """Return the module of a peer, or None where it is not installed."""
    return installed(PEERS[name].module)


def installed(module: str) -> Any:
    """Return the module, or None where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def missing(names: Iterable[str]) -> list[Missing]:
    """Return the peers that are not installed."""
    absent = []
    for name in names:
        if name == COMPILER:
            if not compilers():
                absent.append(Missing(name, "install gcc or clang with your system's packages"))
        elif peer(name) is None:
            absent.append(Missing(name, PEERS[name].install))
    return absent


def versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of the peers that are installed."""
    found = {}
    for name in names:
        if name != COMPILER and peer(name) is not None:
            found[name] = importlib.metadata.version(PEERS[name].package)
    return found
