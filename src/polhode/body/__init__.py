"""Rigid bodies: their inertia, their mass, their principal axes."""

from polhode.body.rigid_body import RigidBody

__all__ = ["RigidBody"]
