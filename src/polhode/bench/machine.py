"""General facts about the machine: the CPU and its features, how busy it is, versions."""

import os
import platform
from typing import Any

SIMD = "avx2", "fma", "avx512f", "neon", "sve"


def load() -> float | None:
    """Return the mean number of processes that want a core over some minutes, ours included."""
    return round(os.getloadavg()[1], 1) if hasattr(os, "getloadavg") else None


def machine() -> dict[str, Any]:
    """Return the facts, without anything that identifies the machine."""
    import llvmlite.binding
    import numba
    import numpy as np
    import scipy

    from polhode._version import __version__
    from polhode.bench.in_c import compilers

    features = llvmlite.binding.get_host_cpu_features()
    return {
        "cpu": llvmlite.binding.get_host_cpu_name(),
        "cores": os.cpu_count(),
        "load": load(),
        "features": [name for name in SIMD if features.get(name)],
        "system": platform.system(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        "llvm": ".".join(map(str, llvmlite.binding.llvm_version_info)),
        "polhode": __version__,
        "compilers": compilers(),
    }
