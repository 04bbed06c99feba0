"""Solvers: arguments are checked here, bound to compiled loops, and run."""
