"""Coefficients of the methods, as exact expressions with their sources."""
