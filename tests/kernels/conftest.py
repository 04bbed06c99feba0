import mpmath as mp
import pytest

from polhode.compiler.machine import compiled


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


@pytest.fixture(params=["plain", "compiled"])
def at_speed(request):
    """What turns a kernel into the function that is tested."""
    return compiled if request.param == "compiled" else lambda kernel: kernel
