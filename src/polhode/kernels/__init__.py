"""Arithmetic of scalars and tuples, in which methods and models are written.

Plain functions without decorators, arrays, or branches that a SIMD lane could not take.
"""
