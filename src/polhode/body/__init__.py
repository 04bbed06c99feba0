"""Rigid bodies: their inertia, their mass, their principal axes; shapes and meshes they consist of."""

from polhode.body.rigid_body import RigidBody
from polhode.body.shape import Shape

__all__ = ["RigidBody", "Shape"]
