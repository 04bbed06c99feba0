"""Rigid bodies: inertia, mass and principal axes, given or from shapes and meshes."""

from polhode.body.geometry import Geometry
from polhode.body.rigid_body import RigidBody
from polhode.body.shape import Shape

__all__ = ["Geometry", "RigidBody", "Shape"]
