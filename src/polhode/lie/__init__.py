"""Integration in Lie groups by generators: ``integrate(SO3("right"), omega, (0, 10))``.

A group is any object with side, identity, zero, compose, exp, dexpinv and act (``Group``); the
library has ``SO3``, ``SE3``, ``Lorentz`` and ``Conformal``.

Examples
--------
>>> import polhode as ph
>>> group = ph.lie.Lorentz("left")
>>> boost = group.exp([0, 0, 0.5j])  # to the speed tanh(0.5) along z
>>> group.act(boost, [1.0, 0, 0, 0]).round(4)
array([1.1276, 0.    , 0.    , 0.5211])
"""

from polhode.lie.conformal import Conformal
from polhode.lie.groups import SE3, SO3, Group, Lorentz, Rotors, dexpinv_series
from polhode.lie.rkmk import Path, integrate

__all__ = [
    "SE3",
    "SO3",
    "Conformal",
    "Group",
    "Lorentz",
    "Path",
    "Rotors",
    "dexpinv_series",
    "integrate",
]
