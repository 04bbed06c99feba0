"""Comparison of methods on one problem."""
