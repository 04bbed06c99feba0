"""Surfaces of shapes: the solid inside their triangles is that of the closed form."""

import pickle
from importlib import import_module

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import shapes
from polhode.body.geometry import Geometry
from polhode.body.mesh import is_balanced

THIN = "shell", "disc", "cylinder_shell", "cone_shell", "torus_shell"
SYMBOLS = "rod", "point_mass"
EXAMPLES = [
    pytest.param(name, arguments, id=f"{name}-{k}")
    for name in shapes.SHAPES
    for k, arguments in enumerate(import_module(f"polhode.body.shapes.{name}").EXAMPLES)
]
OPEN = "disc", "cylinder_shell", "cone_shell"
TURN = Rotation.from_rotvec([0.3, -1.1, 0.7])


def made(name, arguments, **weight):
    weight = {"mass": 2.0} if name == "point_mass" else weight
    return shapes.SHAPES[name](**arguments, **weight)


def is_closed(geometry):
    return is_balanced(geometry.faces.T.astype(np.int64), len(geometry.vertices))


def solid(geometry, **weight):
    """The solid inside the triangles; it is closed, and not inside out, or this fails."""
    assert is_closed(geometry)
    return shapes.mesh(geometry, **weight)


def thin(geometry):
    """(area, centre, second moment about it) of a surface, by sums over its triangles."""
    corners = geometry.vertices[geometry.faces]
    edges = corners[:, 1:] - corners[:, :1]
    areas = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 2
    total = corners.sum(axis=1)
    centre = areas @ total / 3 / areas.sum()
    second = np.einsum("t,tki,tkj->ij", areas, corners, corners)
    second = (second + np.einsum("t,ti,tj->ij", areas, total, total)) / 12
    return areas.sum(), centre, second - areas.sum() * np.outer(centre, centre)


def compare(shape, mass, centre, inertia, within=0.02):
    size = np.sqrt(np.trace(shape.inertia) / shape.mass)
    assert mass == pytest.approx(shape.mass, rel=within)
    assert centre == pytest.approx(shape.centre, abs=within * size)
    assert inertia / mass == pytest.approx(shape.inertia / shape.mass, abs=within * size**2)


# ---- every shape of the registry
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("name", "arguments"), EXAMPLES)
def test_the_solid_inside_the_triangles_is_that_of_the_closed_form(name, arguments):
    shape = made(name, arguments, density=3.0)
    geometry = shape.geometry
    assert callable(import_module(f"polhode.body.shapes.{name}").surface)
    assert geometry.kind == ("mesh" if name == "mesh" else "shapes")
    assert len(geometry.faces) <= 2400
    assert np.array_equal(np.unique(geometry.faces), np.arange(len(geometry.vertices)))
    assert is_closed(geometry) == (name not in OPEN)
    if name in THIN:
        area, centre, second = thin(geometry)
        inertia = 3.0 * (np.trace(second) * np.eye(3) - second)
        compare(shape, 3.0 * area, centre, inertia)
    elif name in SYMBOLS:
        found = solid(geometry, mass=shape.mass)
        if name == "rod":
            compare(shape, *mass_properties(found))
        assert found.centre == pytest.approx(shape.centre, abs=1e-15)
    else:
        found = solid(geometry, density=3.0)
        compare(shape, found.mass, found.centre, found.inertia)


@pytest.mark.parametrize(("name", "arguments"), EXAMPLES)
def test_surfaces_are_moved_and_turned_with_the_shape(name, arguments):
    shape = made(name, arguments, density=3.0)
    by, back = np.array([0.4, -3.0, 2.0]), np.array([-1.0, 0.5, 0.0])
    there = shape.moved(back).turned(TURN).moved(by)
    expected = TURN.apply(shape.geometry.vertices + back) + by
    found = there.geometry
    if name in SYMBOLS:  # the box around a turned rod is another
        middle = found.vertices.mean(axis=0)
        assert middle == pytest.approx(expected.mean(axis=0), abs=1e-14)
    else:
        assert found.vertices == pytest.approx(expected, abs=1e-14)
    assert np.array_equal(found.faces, shape.geometry.faces)


@pytest.mark.parametrize("name", ["sphere", "torus", "capsule", "cylinder", "cone", "hemisphere"])
def test_errors_fall_with_the_square_of_the_number_of_segments(name):
    (arguments,) = import_module(f"polhode.body.shapes.{name}").EXAMPLES
    surface = import_module(f"polhode.body.shapes.{name}").surface
    shape = made(name, arguments, density=1.0)
    errors = []
    for segments in (40, 80, 160):
        found = solid(Geometry(*surface(**arguments, segments=segments)), density=1.0)
        errors.append([found.mass - shape.mass, found.inertia[2, 2] - shape.inertia[2, 2]])
    ratios = np.divide(errors[:-1], errors[1:])
    assert ratios == pytest.approx(np.full((2, 2), 4.0), rel=0.02)


def test_open_shells_face_outwards_and_a_disc_upwards():
    """With its ends, a wall is closed: the volume is positive, as that of no other orientation."""
    wall, end = shapes.cylinder_shell(0.7, 1.9, mass=1), shapes.disc(0.7, mass=1)
    flip = Rotation.from_rotvec([np.pi, 0, 0])
    can = wall + end.moved([0, 0, 0.95]) + end.turned(flip).moved([0, 0, -0.95])
    volume = shapes.mesh(rounded(can.geometry), density=1.0).mass
    assert volume == pytest.approx(np.pi * 0.7**2 * 1.9, rel=0.02)
    tent = shapes.cone_shell(0.7, 1.9, mass=1) + end.turned(flip)
    volume = shapes.mesh(rounded(tent.geometry), density=1.0).mass
    assert volume == pytest.approx(np.pi * 0.7**2 * 1.9 / 3, rel=0.02)


def rounded(geometry):
    """Rims that nearly coincide are merged."""
    return geometry.vertices.round(12), geometry.faces


@pytest.mark.parametrize("inner", [(0.6, 0.4, 1.3), (0.7, 0.4, 1.2), (0.7, 0.1, 1.3)])
def test_a_hollow_box_may_be_open(inner):
    shape = shapes.hollow_box([0.7, 0.4, 1.3], inner, density=3.0)
    found = solid(shape.geometry, density=3.0)
    compare(shape, found.mass, found.centre, found.inertia, 1e-12)


def test_a_torus_may_have_no_hole():
    shape = shapes.torus(0.7, 0.7, density=3.0)
    found = solid(shape.geometry, density=3.0)
    compare(shape, found.mass, found.centre, found.inertia)


def test_corners_in_any_order_make_the_same_tetrahedron():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0.2, 1, 0], [0.1, 0.3, 0.9]])
    for order in ([0, 1, 2, 3], [0, 2, 1, 3], [3, 1, 0, 2]):
        shape = shapes.tetrahedron(points[order], density=2.0)
        compare(shape, *mass_properties(solid(shape.geometry, density=2.0)), 1e-12)


def mass_properties(shape):
    return shape.mass, shape.centre, shape.inertia


# ---- sums and holes
def test_sums_and_holes_have_the_surfaces_of_their_parts():
    box = shapes.box([2.0, 1.0, 1.0], density=3.0)
    wheel = shapes.cylinder(0.3, 0.2, density=3.0).turned(TURN).moved([5, 0, 0])
    hole = shapes.sphere(0.4, density=3.0).moved([0.3, 0, 0])
    whole = (box - hole + wheel).moved([1, 2, 3])
    counts = [len(part.geometry.faces) for part in (box, hole, wheel)]
    assert len(whole.geometry.faces) == sum(counts)
    compare(whole, *mass_properties(solid(whole.geometry, density=3.0)))
    assert ph.RigidBody.from_shapes(box - hole, wheel).geometry.kind == "shapes"


def test_a_hole_in_a_hole_is_solid_again():
    box, ball = shapes.box([2.0, 2.0, 2.0], density=3.0), shapes.sphere(0.8, density=3.0)
    stone = shapes.sphere(0.3, density=3.0)
    whole = box - (ball - stone)
    compare(whole, *mass_properties(solid(whole.geometry, density=3.0)))


def test_symbols_are_sized_by_the_whole_body():
    ends = [shapes.point_mass(1.0, at) for at in ([0, 0, 3.0], [0, 0, -3.0])]
    body = ph.RigidBody.from_shapes(*ends, shapes.rod(6.0, mass=1e-3))
    vertices, faces = body.geometry.vertices, body.geometry.faces
    assert vertices[:, 2].max() == pytest.approx(3.0 + 6.0 / 20)
    assert np.abs(vertices[:, 0]).max() == pytest.approx(6.0 / 20)
    rod = vertices[faces[-48:]].reshape(-1, 3)
    assert np.hypot(rod[:, 0], rod[:, 1]).max() == pytest.approx(6.0 / 100)
    assert np.ptp(rod[:, 2]) == 6.0
    large = ph.RigidBody.from_shapes(*ends, shapes.box([80.0, 1.0, 1.0], mass=1.0))
    ball = large.geometry.vertices[: len(ends[0].geometry.vertices)]
    assert np.ptp(ball[:, 0]) == pytest.approx(2 * np.sqrt(80**2 + 1 + 36) / 20)
    assert ends[0].moved([0, 0, -3]).geometry.vertices.max() == pytest.approx(1 / 20)


def test_bare_numbers_have_no_surface():
    bare = shapes.Shape(1.0, [0, 0, 0], [1.0, 2.0, 2.5])
    assert bare.geometry is None
    assert (bare + bare.moved([1, 0, 0])).geometry is None
    assert ph.RigidBody.from_shapes(bare).geometry is None
    assert ph.RigidBody([1.0, 2.0, 2.5]).geometry is None
    box = shapes.box([1, 1, 1], mass=1.0)
    assert len((box + bare).geometry.faces) == 12  # what is known


def test_sizes_that_change_afterwards_change_nothing():
    size, points = np.array([1.0, 2.0, 3.0]), np.eye(4, 3)
    at = np.array([1.0, 2.0, 3.0])
    known = shapes.box(size, mass=1.0), shapes.tetrahedron(points, mass=1.0)
    known += (shapes.point_mass(1.0, at), shapes.box([1, 1, 1], mass=1).moved(at))
    before = [shape.geometry.vertices for shape in known]
    for array in (size, points, at):
        array *= 7.0
    for shape, vertices in zip(known, before, strict=True):
        assert np.array_equal(shape.geometry.vertices, vertices)


# ---- bodies
TETRAHEDRON = (
    np.array([[0.0, 0, 0], [120, 0, 0], [0, 80, 0], [0, 0, 40]]),
    np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
)


def test_a_body_remembers_its_mesh():
    vertices, faces = TETRAHEDRON
    body = ph.RigidBody.from_mesh(TETRAHEDRON, density=2700)
    assert body.geometry.kind == "mesh"
    assert np.array_equal(body.geometry.vertices, vertices)
    assert np.array_equal(body.geometry.faces, faces)
    assert body.geometry is body.geometry
    assert body.geometry.vertices is not vertices
    assert (body.geometry.vertices.dtype, body.geometry.faces.dtype) == (np.float64, np.int32)
    small = ph.RigidBody.from_mesh(TETRAHEDRON, density=2700, scale=1e-3)
    assert np.array_equal(small.geometry.vertices, vertices * 1e-3)
    assert small.centre == pytest.approx(small.geometry.vertices.mean(axis=0), rel=1e-15)
    with pytest.warns(ph.PolhodeWarning, match="turned over"):
        over = ph.RigidBody.from_mesh((vertices, faces[:, ::-1]), density=2700)
    assert np.array_equal(over.geometry.faces, faces)


def test_triangles_of_their_own_are_merged():
    vertices, faces = TETRAHEDRON
    body = ph.RigidBody.from_mesh(
        (vertices[faces].reshape(-1, 3), np.arange(12).reshape(4, 3)), mass=1
    )
    assert len(body.geometry.vertices) == 4
    assert np.array_equal(body.geometry.vertices[body.geometry.faces], vertices[faces])


def test_a_geometry_can_be_given():
    for given in (TETRAHEDRON, Geometry(*TETRAHEDRON), [x.tolist() for x in TETRAHEDRON]):
        body = ph.RigidBody([1.0, 2.0, 2.5], 3.0, geometry=given)
        assert np.array_equal(body.geometry.vertices, TETRAHEDRON[0])
        assert np.array_equal(body.geometry.faces, TETRAHEDRON[1])
        assert body.geometry.kind == "mesh"
        assert repr(body) == "RigidBody([1. , 2. , 2.5], mass=3.0)"
    assert repr(body.geometry) == "Geometry(mesh: 4 vertices, 4 faces)"
    assert ph.Geometry is Geometry


def test_arrays_are_copied_and_cannot_be_written():
    vertices, faces = (array.copy() for array in TETRAHEDRON)
    body = ph.RigidBody([1.0, 2.0, 2.5], geometry=(vertices, faces))
    mesh = ph.RigidBody.from_mesh((vertices, np.asfortranarray(faces)), mass=1.0)
    vertices += 1.0
    faces[:] = 0
    for one in (body, mesh, pickle.loads(pickle.dumps(body))):
        assert np.array_equal(one.geometry.vertices, TETRAHEDRON[0])
        assert np.array_equal(one.geometry.faces, TETRAHEDRON[1])
        for array in (one.geometry.vertices, one.geometry.faces):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (3, "geometry must be a Geometry, a pair"),
        ("part.stl", "RigidBody.from_mesh reads files"),
        (([[0, 0]], [[0, 0, 0]]), r"rows of three numbers, got shape \(1, 2\)"),
        (([["a", 0, 0]], [[0, 0, 0]]), "vertices must be rows of three numbers"),
        (([[0, 0, 1]], []), r"faces must be rows of three whole numbers.*\(0,\)"),
        (([[0, 0, 1]], np.zeros((0, 3), int)), r"faces must be rows.*\(0, 3\)"),
        (([[0, 0, 1]], [[0.0, 0, 0]]), "whole numbers, the indices of vertices, got float64"),
        (([[0, 0, np.inf]], [[0, 0, 0]]), r"must be finite, got \[0.0, 0.0, inf\] in row 0"),
        (([[0, 0, 1]], [[0, 0, 0], [0, 1, 0]]), r"0 to 0, got \[0, 1, 0\] in row 1"),
        (([[0, 0, 1]], [[0, -1, 0]]), r"0 to 0, got \[0, -1, 0\] in row 0"),
        (([[0, 0, 1]], [[0, 2**40, 0]]), r"got \[0, 1099511627776, 0\] in row 0"),
    ],
)
def test_bad_geometries_are_refused(given, words):
    with pytest.raises(ph.InputError, match=words):
        ph.RigidBody([1.0, 2.0, 2.5], geometry=given)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ph.InputError, match="kind must be one of mesh, shapes, got 'box'"):
        Geometry(*TETRAHEDRON, kind="box")


# ---- elsewhere
def test_triangles_are_made_when_they_are_asked_for(monkeypatch):
    """Building a body, and pickling it, takes the sizes of its shapes alone."""
    calls = []
    module = import_module("polhode.body.shapes._surfaces")
    make = module.revolved
    monkeypatch.setattr(module, "revolved", lambda *args: calls.append(1) or make(*args))
    body = ph.RigidBody.from_shapes(shapes.sphere(0.7, mass=1.0), shapes.sphere(0.1, mass=2.0))
    again = pickle.loads(pickle.dumps(body))
    assert len(pickle.dumps(body)) < 3000
    assert calls == []
    assert np.array_equal(body.geometry.vertices, again.geometry.vertices)
    assert len(calls) == 4
    assert np.array_equal(pickle.loads(pickle.dumps(body)).geometry.faces, body.geometry.faces)


def test_many_parts_are_a_flat_list():
    """Sums of thousands of parts neither recurse nor forget."""
    ring = sum(shapes.point_mass(1.0, [np.cos(a), np.sin(a), 0]) for a in range(1500))
    body = pickle.loads(pickle.dumps(ph.RigidBody.from_shapes(ring.moved([1, 0, 0]).turned(TURN))))
    assert len(body.geometry.faces) == 1500 * 280
