"""The catalogue: examples of the papers by name.  On the command line with dashes.

``CATALOGUE`` holds bodies, for ``solve``; ``RATES`` given angular velocities with their exact
attitudes, for ``integrate_angular_velocity``.  Each problem is a file in ``catalogue/``.

Examples
--------
>>> import polhode as ph
>>> top = ph.problems.fast_top()
>>> top.name, ph.problems.CATALOGUE["fast-top"].method
('fast-top', 'imidm')
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from polhode.contracts.registry import all_makers
from polhode.problems.catalogue import Entry, GivenRate
from polhode.problems.problem import Problem

_bodies, _rates = all_makers(f"{__name__}.catalogue", "PROBLEM", "RATE")

CATALOGUE: Mapping[str, Entry] = MappingProxyType({name: make() for name, make in _bodies.items()})
RATES: Mapping[str, Callable[[], GivenRate]] = MappingProxyType(_rates)

_functions = [*(entry.make for entry in CATALOGUE.values()), *RATES.values()]
globals().update({function.__name__: function for function in _functions})

__all__ = ["CATALOGUE", "RATES", "Entry", "GivenRate", "Problem"]
__all__ += [function.__name__ for function in _functions]
