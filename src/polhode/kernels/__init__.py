"""Scalars and tuples: the algebra that methods and models are written in.

Plain functions with no decorator, no array and no branch that a SIMD lane could not take.
"""
