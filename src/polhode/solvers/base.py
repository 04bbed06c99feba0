"""Names that ensembles still import."""

from polhode.solvers.progress import reporter as reporter
