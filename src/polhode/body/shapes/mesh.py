"""The solid inside a closed triangle mesh: see ``polhode.body.mesh``."""

from polhode.body.mesh import mesh, surface

__all__ = ["mesh", "surface"]

PLACE = 190
EXAMPLES = (
    {
        "mesh": (
            ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.2, 1.0, 0.0), (0.1, 0.3, 0.9)),
            ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)),
        )
    },
)
