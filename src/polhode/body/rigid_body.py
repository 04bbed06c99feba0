"""``RigidBody``: checked inertia and mass; principal axes inside, the user's axes outside."""

import math
from functools import cached_property
from typing import Any

import numpy as np

from polhode.body.geometry import Geometry, Part, assemble, geometry_of
from polhode.body.inertia import checked, is_diagonal, principal, settled, tensor_of
from polhode.body.mesh import mesh as mesh_shape
from polhode.body.shape import Shape, combined, parts_of, three
from polhode.errors import InputError
from polhode.kernels.quaternion import to_body, to_inertial

NOISE = 8  # times the estimated rounding of shapes and meshes


class RigidBody:
    """A rigid body: its inertia about the centre of mass (or the fixed point), and its mass.

    Parameters
    ----------
    inertia : three moments, or a symmetric 3×3 tensor, in the user's body axes (kg m²)
        Three moments and diagonal tensors keep their order and axes; a tensor with off-diagonal
        terms is diagonalised internally; all input and output stays in the user's axes.
        Moments must be positive and obey the triangle inequality; equality is allowed (discs), and
        one moment may be zero if the two others are equal (a rod, which cannot spin about itself).
    mass : kg
    centre : the centre of mass in the coordinates in which the body was described, for points on
        it: ``run.point_position(point - body.centre)``; nothing else depends on it
    geometry : what it looks like, in the same coordinates: a ``Geometry``, a pair (vertices,
        faces), or an object with these attributes; ``from_mesh`` and ``from_shapes`` have it

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.RigidBody([1.0, 2.0, 2.5], mass=3.0)
    >>> disc = ph.RigidBody.from_shapes(ph.shapes.cylinder(0.5, 0.1, density=2700.0))
    >>> print(f"{disc.mass:.3f} kg, {disc.principal_moments[2]:.3f} kg m²")
    212.058 kg, 26.507 kg m²
    """

    _geometry: Geometry | tuple[Part, ...] | None = None  # parts, until somebody asks

    def __init__(
        self,
        inertia: Any,
        mass: float = 1.0,
        *,
        centre: Any = (0.0, 0.0, 0.0),
        geometry: Any = None,
    ):
        self.inertia = tensor_of(inertia)
        self.mass = float(mass)
        if not (math.isfinite(self.mass) and self.mass > 0):
            raise InputError(f"mass must be a positive number of kilograms, got {mass!r}")
        self.centre = three(centre, "centre")
        self.is_aligned = is_diagonal(self.inertia)
        moments, self.principal_axes = principal(self.inertia)  # columns, in the user's body axes
        self.principal_moments = checked(moments)
        for array in (self.inertia, self.principal_moments, self.principal_axes, self.centre):
            array.setflags(write=False)
        if geometry is not None:
            self._geometry = geometry_of(geometry)

    @classmethod
    def from_shapes(cls, *shapes: Shape) -> "RigidBody":
        """Combine shapes into a body, in their axes: ``from_shapes(box, wheel)``.

        Entries and differences of moments below the rounding of the sum count as 0, so that
        symmetric bodies keep their axes.
        """
        for shape in shapes:
            if not isinstance(shape, Shape):
                raise InputError(f"shapes must be shapes of ph.shapes, got {shape!r}")
        if not shapes:
            raise InputError("from_shapes needs at least one shape of ph.shapes")
        whole = combined(shapes, (1.0,) * len(shapes))
        inertia = settled(whole.inertia, NOISE * whole.rounding)
        body = cls(inertia, whole.mass, centre=whole.centre)
        body._geometry = parts_of(whole)
        return body

    @classmethod
    def from_mesh(
        cls,
        mesh: Any,
        *,
        mass: float | None = None,
        density: float | None = None,
        scale: float = 1.0,
    ) -> "RigidBody":
        """Make a body from the solid inside a closed triangle mesh; see ``ph.shapes.mesh``.

        Parameters
        ----------
        mesh : a file (STL, OBJ, PLY), a pair (vertices, faces), or an object with these attributes
        mass, density : kg, or kg/m³; give one of them
        scale : metres per unit of the mesh: 1e-3 for a mesh in millimetres
        """
        return cls.from_shapes(mesh_shape(mesh, mass=mass, density=density, scale=scale))

    def replace(self, *, inertia: Any = None, mass: float | None = None) -> "RigidBody":
        """Return this body with another inertia or mass; what it looks like stays."""
        tensor = self.inertia if inertia is None else inertia
        other = RigidBody(tensor, self.mass if mass is None else mass, centre=self.centre)
        other._geometry = self._geometry
        return other

    @property
    def geometry(self) -> Geometry | None:
        """Triangles of its surface in the coordinates in which it was described, for pictures.

        The centre of mass is at ``centre`` there.  None if only numbers were given.  Points and
        rods, which have no thickness, are small balls and thin cylinders.
        """
        if isinstance(known := self._geometry, tuple):
            self._geometry = known = assemble(known)
        return known

    @cached_property
    def data(self) -> tuple:
        """(inertia, inverse, axes, mass, 1/mass): the body as compiled code sees it."""
        moments = tuple(self.principal_moments.tolist())
        inverse = tuple(1.0 / i if i > 0 else 0.0 for i in moments)
        return moments, inverse, self._axes, self.mass, 1.0 / self.mass

    @cached_property
    def symmetry_axis(self) -> int | None:
        """The principal axis (0, 1 or 2) about which the other two moments are equal, or None."""
        a, b, c = self.data[0]
        return 2 if a == b else 0 if b == c else 1 if a == c else None

    @cached_property
    def _axes(self) -> tuple[float, ...]:
        """The quaternion that takes principal axes to the user's body axes."""
        if self.is_aligned:
            return 1.0, 0.0, 0.0, 0.0
        from scipy.spatial.transform import Rotation

        return tuple(Rotation.from_matrix(self.principal_axes).as_quat(scalar_first=True).tolist())

    def __repr__(self) -> str:
        given = self.principal_moments if self.is_aligned else self.inertia
        return f"RigidBody({np.array2string(given, separator=', ')}, mass={self.mass!r})"


def angular_velocities(momenta: np.ndarray, axes: tuple, inverse: tuple) -> np.ndarray:
    """Return ω = I⁻¹ L of rows L in the user's body axes, with the same bits for one row or many.

    ``axes`` and ``inverse`` are those of ``data``: numbers, or one for each row.
    """
    principal = to_body(axes, tuple(momenta.T))
    return np.stack(to_inertial(axes, tuple(map(np.multiply, principal, inverse))), axis=1)
