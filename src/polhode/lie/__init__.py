"""Integration in Lie groups by their generators: ``integrate(SO3("right"), omega, (0, 10))``.

A group is anything with a side, identity, zero, compose, exp, dexpinv and act (``Group``); ``SO3``,
``SE3`` and ``Lorentz`` come with the library.
"""

from polhode.lie.groups import SE3, SO3, Group, Lorentz, Rotors, dexpinv_series
from polhode.lie.rkmk import Path, integrate

__all__ = ["SE3", "SO3", "Group", "Lorentz", "Path", "Rotors", "dexpinv_series", "integrate"]
