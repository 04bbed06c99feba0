"""The version, once."""

__version__ = "0.2.0"
"""The version of the library, which files and citations mention.

Examples
--------
>>> import polhode as ph
>>> len(ph.__version__.split("."))
3
"""
