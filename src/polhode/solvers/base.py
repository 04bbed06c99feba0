"""Names that ensembles still import."""

from polhode.solvers import bound
from polhode.solvers.progress import reporter as reporter

plain_data = bound.problem_facts
