"""polhode: the motion of rigid bodies, at native speed from plain Python."""

from polhode import celestial, distributions, lie, models, problems, reductions
from polhode._compare import Comparison, compare
from polhode._ensemble import solve_ensemble
from polhode._log import read_samples
from polhode._rates import integrate_angular_velocity, prepare_angular_velocity
from polhode._resume import resume
from polhode._samples import integrate_samples
from polhode._simulator import Simulator, State
from polhode._solve import prepare, solve
from polhode._solvers import Solver
from polhode._version import __version__
from polhode.body import RigidBody, shapes
from polhode.contracts import Coordinates, Formulation, Integrator, Method, Model, Status
from polhode.ensemble import EnsembleResult, load
from polhode.errors import (
    FileError,
    InputError,
    MethodError,
    PolhodeError,
    PolhodeWarning,
    StepError,
)
from polhode.exact import exact_free_motion
from polhode.exact_torque import constant_torque_rates, exact_constant_torque
from polhode.formulations import COORDINATES, FORMULATIONS
from polhode.integrators import INTEGRATORS
from polhode.kernels.angles import reduced_angle
from polhode.methods import METHODS, methods_table
from polhode.methods.mkrk import method as mkrk
from polhode.models import MODELS, force, potential, torque
from polhode.problem import Problem
from polhode.tableaus.composition import COMPOSITIONS
from polhode.tableaus.runge_kutta import TABLEAUS, Tableau
from polhode.trajectory import Trajectory

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
    "Formulation",
    "InputError",
    "Integrator",
    "Method",
    "MethodError",
    "Model",
    "PolhodeError",
    "PolhodeWarning",
    "Problem",
    "RigidBody",
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
    "distributions",
    "exact_constant_torque",
    "exact_free_motion",
    "force",
    "integrate_angular_velocity",
    "integrate_samples",
    "lie",
    "load",
    "methods_table",
    "mkrk",
    "models",
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
]
