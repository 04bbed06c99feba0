"""Meshes: mass properties against exact fractions and closed forms; refused meshes."""

import builtins

import numpy as np
import pytest
from scipy.spatial import Delaunay
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import shapes
from polhode.bench.mesh import wavy
from support.exact_solids import (
    CUBE,
    SIDES,
    block,
    compare,
    hull,
    of_tetrahedron,
    over,
    surface,
    together,
)


def near(one, other, tolerance=1e-14):
    size = np.sqrt(np.trace(other.inertia) / other.mass)
    assert one.mass == pytest.approx(other.mass, rel=tolerance)
    assert one.centre == pytest.approx(other.centre, rel=tolerance, abs=tolerance * size)
    assert np.abs(one.inertia - other.inertia).max() <= tolerance * other.inertia.max()


# ---- exact
def test_random_tetrahedra_and_polyhedra_are_exact():
    rng = np.random.default_rng(5)
    for n in (4, 4, 4, 5, 8, 30):
        points = rng.normal(size=(n, 3))
        solid = [p for t in Delaunay(points).simplices for p in of_tetrahedron(points[t])]
        # flat tetrahedra: rounding is relative to edges, not to the volume
        compare(shapes.mesh(hull(points), density=1.0), solid, 1e-13)


def test_boxes():
    size, centre = [0.7, 0.4, 1.3], [0.3, -2.0, 5.0]
    for density in (1.0, 2700.0):
        box = shapes.box(size, density=density).moved(centre)
        near(shapes.mesh(block(size, centre), density=density), box, 1e-14)
    near(shapes.mesh(block(size), mass=3.0), shapes.box(size, mass=3.0))


def test_a_mesh_is_moved_and_turned_as_a_shape_is():
    vertices, faces = wavy(40)
    shape = shapes.mesh((vertices, faces), density=2.0)
    turn = Rotation.from_rotvec([0.3, 1.0, -0.4])
    moved = shapes.mesh((turn.apply(vertices) + np.array([1, 2, 3]), faces), density=2.0)
    near(moved, shape.turned(turn).moved([1, 2, 3]))


def test_not_convex_and_full_of_holes():
    rng = np.random.default_rng(6)
    for part in (0.9, 0.7, 0.5, 0.2):
        points = rng.normal(size=(60, 3))
        tetrahedra = Delaunay(points).simplices
        tetrahedra = tetrahedra[rng.random(len(tetrahedra)) < part]
        solid = [p for t in tetrahedra for p in of_tetrahedron(points[t])]
        compare(shapes.mesh(surface(points, tetrahedra), density=1.0), solid, 1e-13)


def test_an_l_of_cubes():
    # 3 unit cubes, the faces between them left out: not convex, exact in integers
    bottom, side, top = (block([1, 1, 1], [x, 0, z]) for x, z in ((0, 0), (1, 0), (0, 1)))
    vertices, faces = together(bottom, side, top)
    middle = vertices[faces].mean(axis=1)
    inside = np.isclose(middle[:, 0], 0.5) & (middle[:, 2] < 0.5)
    inside |= np.isclose(middle[:, 2], 0.5) & (middle[:, 0] < 0.5)
    parts = sum(
        shapes.box([1, 1, 1], density=2.0).moved([x, 0, z]) for x, z in ((0, 0), (1, 0), (0, 1))
    )
    near(shapes.mesh((vertices, faces[~inside]), density=2.0), parts)
    near(shapes.mesh((vertices, faces), density=2.0), parts)  # or left in: they cancel


def test_hollow():
    size, inner = [0.7, 0.4, 1.3], [0.6, 0.1, 1.2]
    mesh = together(block(size), over(block(inner)))
    near(shapes.mesh(mesh, density=3.0), shapes.hollow_box(size, inner, density=3.0), 1e-13)
    kernel = block([0.2, 0.05, 0.5])
    near(
        shapes.mesh(together(*[block(size), over(block(inner)), kernel]), density=3.0),
        shapes.hollow_box(size, inner, density=3.0) + shapes.box([0.2, 0.05, 0.5], density=3.0),
        1e-13,
    )


def test_fine_meshes_approach_closed_forms():
    errors = []
    for n in (20, 40, 80):
        u, v = (k.ravel() for k in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
        a, b = 2 * np.pi * u / n, 2 * np.pi * v / n
        r = 3 + np.cos(b)
        _, faces = wavy(n)
        mesh = np.stack([r * np.cos(a), r * np.sin(a), np.sin(b)], axis=1), faces
        found, exact = shapes.mesh(mesh, density=1.0), shapes.torus(3, 1, density=1.0)
        errors.append([found.mass / exact.mass - 1, *np.diag(found.inertia / exact.inertia.max())])
    errors = np.diff(errors, axis=0)
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)


# ---- far away, far from the middle
@pytest.mark.parametrize("far", [[1e6, -1e6, 1e6], [0, 3e6 + 1 / 3, 0]])
def test_a_mesh_far_from_the_origin(far):
    vertices, faces = wavy(50)
    here = shapes.mesh((vertices, faces), density=1.0)
    there = shapes.mesh((vertices + far, faces), density=1.0)  # its vertices are rounded to 1e-10
    assert there.mass == pytest.approx(here.mass, rel=1e-8)
    assert np.abs(there.inertia - here.inertia).max() < 1e-9 * here.inertia.max()
    assert there.centre - far == pytest.approx(here.centre, abs=1e-8)
    # where nothing is rounded, nothing is lost
    vertices = np.round(vertices * 1024) / 1024
    here = shapes.mesh((vertices, faces), density=1.0)
    there = shapes.mesh((vertices + 2.0**20, faces), density=1.0)
    assert np.abs(there.inertia - here.inertia).max() < 1e-14 * here.inertia.max()


def test_a_heavy_end_far_from_the_middle():
    # a cube with a long needle: the mass is far from the middle of the box around it
    tip = np.array([[1000.0, 0.5, 0.5]])
    faces = np.concatenate(
        [SIDES[[0, 1, 4, 5, 6, 7, 8, 9, 10, 11]], [[4, 6, 8], [6, 7, 8], [7, 5, 8], [5, 4, 8]]]
    )
    base = np.concatenate([CUBE, tip])
    base[4:8, 1:] = 0.5 + (base[4:8, 1:] - 0.5) * 0.01  # a truncated pyramid below the needle
    mesh = base, faces
    points = [p for t in _fan(base, faces) for p in t]
    compare(shapes.mesh(mesh, density=1.0), points, 1e-14)


def _fan(vertices, faces):
    """Return tetrahedra from an inner point; the solid is star-shaped around it."""
    inner = np.array([0.25, 0.5, 0.5])
    return [of_tetrahedron([inner, *vertices[face]]) for face in faces]


# ---- what it takes
def test_vertices_of_equal_coordinates_are_one():
    vertices, faces = wavy(20)
    soup = vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)
    near(shapes.mesh(soup, density=1.0), shapes.mesh((vertices, faces), density=1.0), 1e-15)
    zero = np.where(CUBE == 0, -0.0, CUBE)
    mixed = np.concatenate([CUBE, zero]), np.concatenate([SIDES[:6], SIDES[6:] + 8])
    near(shapes.mesh(mixed, density=1.0), shapes.box([1, 1, 1], density=1.0).moved([0.5] * 3))


def test_vertices_are_distinguished_whatever_their_keys(monkeypatch):
    monkeypatch.setattr("polhode.body.mesh._mixed", lambda rows, salt: np.zeros(len(rows), "u8"))
    test_vertices_of_equal_coordinates_are_one()


def test_a_mesh_turned_inside_out_is_turned_over():
    with pytest.warns(ph.PolhodeWarning, match="clockwise from outside"):
        shape = shapes.mesh(over(block([1, 2, 3])), density=1.0)
    near(shape, shapes.box([1, 2, 3], density=1.0))
    hollow = over(together(block([2, 2, 2]), over(block([1, 1, 1]))))
    with pytest.warns(ph.PolhodeWarning):
        shape = shapes.mesh(hollow, density=1.0)
    near(shape, shapes.hollow_box([2, 2, 2], [1, 1, 1], density=1.0))


def test_scale():
    vertices, faces = block([700, 400, 1300], [100, 200, 300])
    shape = shapes.mesh((vertices, faces), density=2.0, scale=1e-3)
    near(shape, shapes.box([0.7, 0.4, 1.3], density=2.0).moved([0.1, 0.2, 0.3]))


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply"])
def test_files(suffix, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    vertices, faces = wavy(20)
    vertices = vertices.astype(np.float32).astype(float)  # what STL and PLY can hold
    path = tmp_path / f"part.{suffix}"
    options = {"digits": 17} if suffix == "obj" else {}
    trimesh.Trimesh(vertices, faces, process=False).export(path, **options)
    here = shapes.mesh((vertices, faces), density=1.0)
    near(shapes.mesh(path, density=1.0), here, 1e-14)
    near(shapes.mesh(str(path), density=1.0), here, 1e-14)
    near(shapes.mesh(trimesh.load_mesh(path), density=1.0), here, 1e-6)
    body = ph.RigidBody.from_mesh(path, mass=2.0)
    assert body.mass == 2.0


def test_text_stl(tmp_path):
    pytest.importorskip("trimesh")
    vertices, faces = block([1, 2, 3])
    lines = ["solid box"]
    for face in faces:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += ["vertex {} {} {}".format(*vertices[k]) for k in face]
        lines += ["endloop", "endfacet"]
    path = tmp_path / "BOX.STL"
    path.write_text("\n".join([*lines, "endsolid box"]))
    near(shapes.mesh(path, density=1.0), shapes.box([1, 2, 3], density=1.0))


# ---- bodies
def test_a_body_of_a_mesh():
    body = ph.RigidBody.from_mesh(block([0.7, 0.4, 1.3], [1, 2, 3]), density=2700)
    assert body.is_aligned
    assert body.centre == pytest.approx([1, 2, 3], rel=1e-15)
    assert body.principal_moments == pytest.approx(
        np.diag(shapes.box([0.7, 0.4, 1.3], density=2700).inertia), rel=1e-14
    )


@pytest.mark.parametrize("far", [0.0, 1.0 / 3, 1e6 / 3])
def test_a_cube_stays_aligned_however_it_is_rounded(far):
    rng = np.random.default_rng(2)
    vertices, faces = block([0.1, 0.1, 0.1], rng.normal(size=3) * far)
    body = ph.RigidBody.from_mesh((vertices, faces), mass=3.0)
    assert body.is_aligned
    assert np.array_equal(body.principal_axes, np.eye(3))
    assert len(set(body.principal_moments.tolist())) == 1
    turn = Rotation.from_rotvec([0.3, 1.0, -0.4])
    body = ph.RigidBody.from_mesh((turn.apply(vertices), faces), mass=3.0)
    assert body.is_aligned


@pytest.mark.parametrize("far", [0.0, 1e6 / 3])
def test_a_turned_prism_has_an_axis(far):
    turn = Rotation.from_rotvec([0.3, 1.0, -0.4])
    vertices, faces = block([0.1, 0.1, 0.3])
    body = ph.RigidBody.from_mesh((turn.apply(vertices) + far, faces), mass=3.0)
    k = body.symmetry_axis
    assert k is not None
    axis = turn.as_matrix()[:, 2]
    assert abs(body.principal_axes[:, k] @ axis) == pytest.approx(1, abs=1e-12)


def test_a_small_but_real_product_of_inertia_stays():
    vertices, faces = block([0.1, 0.2, 0.3])
    vertices[0] += 1e-11
    assert not ph.RigidBody.from_mesh((vertices, faces), mass=1.0).is_aligned


# ---- what is refused
def without_a_face():
    return CUBE, SIDES[1:]


def one_turned():
    faces = SIDES.copy()
    faces[0] = faces[0, ::-1]
    return CUBE, faces


def klein(n=30):
    """Return a Klein bottle: closed, but one-sided."""
    u, v = (k.ravel() for k in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))

    def index(u, v):
        return u % n * n + np.where(u >= n, -v, v) % n

    a, b = 2 * np.pi * u / n, 2 * np.pi * v / n
    r = 3 + np.cos(a / 2) * np.sin(b) - np.sin(a / 2) * np.sin(2 * b)
    z = np.sin(a / 2) * np.sin(b) + np.cos(a / 2) * np.sin(2 * b)
    vertices = np.stack([r * np.cos(a), r * np.sin(a), z], axis=1)
    i, j, k, m = (index(u + du, v + dv) for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1)))
    return vertices, np.concatenate([np.stack((i, j, k), 1), np.stack((i, k, m), 1)])


inside = together(block([2, 2, 2]), block([1, 1, 1]))
apart = together(block([2, 2, 2]), over(block([1, 1, 1], [5, 0, 0])))


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        (without_a_face(), r"not closed: 3 edges of 18 .* vertices 1 at \[0.0, 0.0, 1.0\] and 0"),
        (one_turned(), "not turned one way: 3 edges of 18 .* between vertices"),
        (klein(), "not turned one way: 30 edges"),
        (inside, "with vertex 8, one of 2, lies inside another and is turned the same way"),
        (apart, "with vertex 11, one of 2, is turned inside out, but no hollow of another"),
        ((CUBE * [1, 1, 0], SIDES), "encloses no volume"),
        ((CUBE, SIDES + 1), "indices from 0 to 7, got 1 to 8; some files count from 1"),
        ((CUBE, SIDES * 1.0), "three whole numbers"),
        ((CUBE[:, :2], SIDES), "rows of three numbers"),
        ((CUBE * np.nan, SIDES), "vertices must be finite, got .* in row 0"),
        ((CUBE, SIDES[:2]), "at least 4 faces"),
        ((CUBE, np.arange(8).reshape(2, 4)), "split faces with more corners"),
        (3, "mesh must be a file, a pair"),
    ],
)
def test_meshes_that_are_not_solids_are_refused_with_the_reason(mesh, words):
    with pytest.raises(ph.InputError, match=words):
        shapes.mesh(mesh, density=1.0)


def test_mass_density_and_scale():
    with pytest.raises(ph.InputError, match="give mass= in kg or density= in kg/m³; got neither"):
        ph.RigidBody.from_mesh((CUBE, SIDES))
    with pytest.raises(ph.InputError, match="scale must be positive"):
        ph.RigidBody.from_mesh((CUBE, SIDES), mass=1.0, scale=0)


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(ph.FileError, match="there is no file"):
        shapes.mesh(tmp_path / "part.stl", mass=1)
    with pytest.raises(ph.FileError, match=r"ending in \.stl, \.obj, \.ply"):
        shapes.mesh("part.step", mass=1)
    (tmp_path / "part.ply").write_text("no mesh")
    with pytest.raises(ph.FileError, match="cannot be read as a mesh"):
        shapes.mesh(tmp_path / "part.ply", mass=1)

    def refuse(name, *args, **kwargs):
        if name == "trimesh":
            raise ImportError(name)
        return find(name, *args, **kwargs)

    find = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ph.FileError, match=r"needs trimesh: pip install 'polhode\[mesh\]'"):
        shapes.mesh(tmp_path / "part.ply", mass=1)
