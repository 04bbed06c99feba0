"""Pictures of runs.  Every function draws into the axes it is given, and returns them."""

from polhode.plot.panels import axis_path, convergence, drift, rates, tilt
from polhode.plot.quantities import changes
from polhode.plot.sheet import overview, save

__all__ = ["axis_path", "changes", "convergence", "drift", "overview", "rates", "save", "tilt"]
