"""The public names of polhode and where they come from: the only list of them.

``__init__.py`` reads this file and imports each name when it is first used; type checkers and
editors read it as it is.
"""

from polhode import celestial, lie, models, problems
from polhode._version import __version__
from polhode.body import Geometry, RigidBody, shapes
from polhode.comparison.compare import Comparison, compare
from polhode.contracts import Coordinates, Formulation, Integrator, Method, Model, Status
from polhode.ensembles import distributions, reductions
from polhode.ensembles.entry import solve_ensemble
from polhode.ensembles.result import EnsembleResult, load
from polhode.ensembles.resume import resume
from polhode.errors import (
    FileError,
    InputError,
    MethodError,
    PolhodeError,
    PolhodeWarning,
    StepError,
)
from polhode.files.samples import read_samples
from polhode.fits import observe
from polhode.fits.entry import fit
from polhode.fits.lyapunov import LyapunovExponents, lyapunov
from polhode.fits.result import Fit
from polhode.formulations import COORDINATES, FORMULATIONS
from polhode.integrators import INTEGRATORS
from polhode.kernels.angles import reduced_angle
from polhode.methods import METHODS, methods_table
from polhode.methods.mkrk import method as mkrk
from polhode.models import MODELS, coupled, force, potential, torque
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.angular_velocity import integrate_angular_velocity, prepare_angular_velocity
from polhode.solvers.entry import prepare, solve
from polhode.solvers.exact import exact_free_motion
from polhode.solvers.exact_torque import constant_torque_rates, exact_constant_torque
from polhode.solvers.rate_problem import RateProblem
from polhode.solvers.samples import integrate_samples
from polhode.solvers.sensitivities import Sensitivities
from polhode.solvers.simulator import Simulator, State
from polhode.solvers.solver import Solver
from polhode.tableaus.composition import COMPOSITIONS
from polhode.tableaus.runge_kutta import TABLEAUS, Tableau
from polhode.view import view

__all__ = [
    "COMPOSITIONS",
    "COORDINATES",
    "FORMULATIONS",
    "INTEGRATORS",
    "METHODS",
    "MODELS",
    "TABLEAUS",
    "Comparison",
    "Coordinates",
    "EnsembleResult",
    "FileError",
    "Fit",
    "Formulation",
    "Geometry",
    "InputError",
    "Integrator",
    "LyapunovExponents",
    "Method",
    "MethodError",
    "Model",
    "PolhodeError",
    "PolhodeWarning",
    "Problem",
    "RateProblem",
    "RigidBody",
    "Sensitivities",
    "Simulator",
    "Solver",
    "State",
    "Status",
    "StepError",
    "Tableau",
    "Trajectory",
    "__version__",
    "celestial",
    "compare",
    "constant_torque_rates",
    "coupled",
    "distributions",
    "exact_constant_torque",
    "exact_free_motion",
    "fit",
    "force",
    "integrate_angular_velocity",
    "integrate_samples",
    "lie",
    "load",
    "lyapunov",
    "methods_table",
    "mkrk",
    "models",
    "observe",
    "potential",
    "prepare",
    "prepare_angular_velocity",
    "problems",
    "read_samples",
    "reduced_angle",
    "reductions",
    "resume",
    "shapes",
    "solve",
    "solve_ensemble",
    "torque",
    "view",
]
