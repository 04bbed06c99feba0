"""Names that ensembles still import."""

from polhode.solvers.solver import Solver as Solver


class AdaptiveSolver: ...


class FreeSolver: ...
