"""Pictures of runs.  Every function draws into the axes that it is given and returns them."""

from polhode.contracts.conserved import changes
from polhode.plot.benchmark import benchmark
from polhode.plot.ensemble import ensemble
from polhode.plot.film import animate
from polhode.plot.fits import fit
from polhode.plot.flight import path, position
from polhode.plot.panels import convergence, drift, error, rates, tilt, variables
from polhode.plot.poinsot import herpolhode, poinsot, polhode
from polhode.plot.residuals import nutation, residuals
from polhode.plot.sheet import PANELS, draw, overview, save
from polhode.plot.sphere import axis_path, trace
from polhode.plot.uncertainty import exponents, uncertainty
from polhode.plot.work import work_precision

__all__ = [
    "PANELS",
    "animate",
    "axis_path",
    "benchmark",
    "changes",
    "convergence",
    "draw",
    "drift",
    "ensemble",
    "error",
    "exponents",
    "fit",
    "herpolhode",
    "nutation",
    "overview",
    "path",
    "poinsot",
    "polhode",
    "position",
    "rates",
    "residuals",
    "save",
    "tilt",
    "trace",
    "uncertainty",
    "variables",
    "work_precision",
]
