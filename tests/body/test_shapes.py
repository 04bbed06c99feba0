"""Shapes: closed forms against quadrature, sums and holes against exact fractions."""

from fractions import Fraction
from importlib import import_module

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import shapes
from support.exact_solids import ULPS, compare, exactly, of_tetrahedron


# ---- slices across z, integrated with 40 digits
def ring(outer, inner=lambda z: mp.mpf(0)):
    """(area, second moments of x and y) of a slice between two circles."""

    def moments(z):
        r, s = outer(z), inner(z)
        second = mp.pi / 4 * (r**4 - s**4)
        return mp.pi * (r**2 - s**2), second, second

    return moments


def circles(radius, slant):
    """The same of a thin wall, its length along the slope ``slant`` times that along z."""

    def moments(z):
        r, length = radius(z), slant(z)
        return 2 * mp.pi * r * length, *2 * (mp.pi * r**3 * length,)

    return moments


def ellipse(a, b, c):
    def moments(z):
        k = 1 - (z / c) ** 2
        return mp.pi * a * b * k, mp.pi / 4 * a**3 * b * k**2, mp.pi / 4 * a * b**3 * k**2

    return moments


def rectangle(a, b):
    return lambda z: (a * b, a**3 * b / 12, a * b**3 / 12)


def globe(r, middle=0):
    return lambda z: mp.sqrt(r**2 - (z - middle) ** 2)


def integrated(pieces):
    """(volume, height of the centre, moments about it) of slices [(sign, z0, z1, moments)]."""
    volume = first = square = x2 = y2 = mp.mpf(0)
    for sign, start, end, moments in pieces:
        span = [mp.mpf(start), mp.mpf(end)]
        volume += sign * mp.quad(lambda z, m=moments: m(z)[0], span)
        first += sign * mp.quad(lambda z, m=moments: m(z)[0] * z, span)
        square += sign * mp.quad(lambda z, m=moments: m(z)[0] * z * z, span)
        x2 += sign * mp.quad(lambda z, m=moments: m(z)[1], span)
        y2 += sign * mp.quad(lambda z, m=moments: m(z)[2], span)
    height = first / volume
    z2 = square - volume * height**2
    return volume, height, (y2 + z2, x2 + z2, x2 + y2)


def solids():
    """name -> (function, arguments, slices); made under 40 digits, from the same doubles."""
    f = mp.mpf
    r, s, h = f(0.7), f(0.3), f(1.9)
    a, b, c = f(0.7), f(0.4), f(1.3)
    u, v, w = f(0.6), f(0.1), f(1.2)
    hair = 0.7 - 1e-9
    thin = f(hair)
    near = [0.7 - 1e-9, 0.4 - 3e-9, 1.3 - 2e-9]
    d, e, g = (f(x) for x in near)

    def slope(bottom, top):
        return ring(lambda z: bottom + (top - bottom) * z / h)

    def bend(z):
        return s / globe(s)(z)

    return {
        "sphere": (shapes.sphere, (0.7,), [(1, -r, r, ring(globe(r)))]),
        "hollow_sphere": (
            shapes.hollow_sphere,
            (0.7, 0.3),
            [(1, -r, r, ring(globe(r))), (-1, -s, s, ring(globe(s)))],
        ),
        "thin hollow_sphere": (
            shapes.hollow_sphere,
            (0.7, hair),
            [(1, -r, r, ring(globe(r))), (-1, -thin, thin, ring(globe(thin)))],
        ),
        "ellipsoid": (shapes.ellipsoid, ([0.7, 0.4, 1.3],), [(1, -c, c, ellipse(a, b, c))]),
        "hollow_ellipsoid": (
            shapes.hollow_ellipsoid,
            ([0.7, 0.4, 1.3], [0.6, 0.1, 1.2]),
            [(1, -c, c, ellipse(a, b, c)), (-1, -w, w, ellipse(u, v, w))],
        ),
        "thin hollow_ellipsoid": (
            shapes.hollow_ellipsoid,
            ([0.7, 0.4, 1.3], near),
            [(1, -c, c, ellipse(a, b, c)), (-1, -g, g, ellipse(d, e, g))],
        ),
        "hemisphere": (shapes.hemisphere, (0.7,), [(1, 0, r, ring(globe(r)))]),
        "torus": (
            shapes.torus,
            (0.7, 0.3),
            [(1, -s, s, ring(lambda z: r + globe(s)(z), lambda z: r - globe(s)(z)))],
        ),
        "cylinder": (shapes.cylinder, (0.7, 1.9), [(1, -h / 2, h / 2, ring(lambda z: r))]),
        "tube": (
            shapes.tube,
            (0.7, 0.3, 1.9),
            [(1, -h / 2, h / 2, ring(lambda z: r, lambda z: s))],
        ),
        "thin tube": (
            shapes.tube,
            (0.7, hair, 1.9),
            [(1, -h / 2, h / 2, ring(lambda z: r, lambda z: thin))],
        ),
        "capsule": (
            shapes.capsule,
            (0.7, 1.9),
            [
                (1, -h / 2 - r, -h / 2, ring(globe(r, -h / 2))),
                (1, -h / 2, h / 2, ring(lambda z: r)),
                (1, h / 2, h / 2 + r, ring(globe(r, h / 2))),
            ],
        ),
        "cone": (shapes.cone, (0.7, 1.9), [(1, 0, h, slope(r, f(0)))]),
        "frustum": (shapes.frustum, (0.7, 0.3, 1.9), [(1, 0, h, slope(r, s))]),
        "widening frustum": (shapes.frustum, (0.3, 0.7, 1.9), [(1, 0, h, slope(s, r))]),
        "box": (shapes.box, ([0.7, 0.4, 1.3],), [(1, -c / 2, c / 2, rectangle(a, b))]),
        "hollow_box": (
            shapes.hollow_box,
            ([0.7, 0.4, 1.3], [0.6, 0.1, 1.2]),
            [(1, -c / 2, c / 2, rectangle(a, b)), (-1, -w / 2, w / 2, rectangle(u, v))],
        ),
        "open hollow_box": (
            shapes.hollow_box,
            ([0.7, 0.4, 1.3], [0.6, 0.1, 1.3]),
            [(1, -c / 2, c / 2, rectangle(a, b)), (-1, -c / 2, c / 2, rectangle(u, v))],
        ),
        "thin hollow_box": (
            shapes.hollow_box,
            ([0.7, 0.4, 1.3], near),
            [(1, -c / 2, c / 2, rectangle(a, b)), (-1, -g / 2, g / 2, rectangle(d, e))],
        ),
        # thin ones: the integrand is the mass in a slice, and its second moments
        "shell": (
            shapes.shell,
            (0.7,),
            [(1, -r, r, lambda z: (2 * mp.pi * r, *2 * (mp.pi * r * (r * r - z * z),)))],
        ),
        "rod": (shapes.rod, (1.9,), [(1, -h / 2, h / 2, lambda z: (f(1), f(0), f(0)))]),
        "cylinder_shell": (
            shapes.cylinder_shell,
            (0.7, 1.9),
            [(1, -h / 2, h / 2, circles(lambda z: r, lambda z: f(1)))],
        ),
        "cone_shell": (
            shapes.cone_shell,
            (0.7, 1.9),
            [(1, 0, h, circles(lambda z: r * (1 - z / h), lambda z: mp.sqrt(r * r + h * h) / h))],
        ),
        "torus_shell": (  # its outer half, and its inner half
            shapes.torus_shell,
            (0.7, 0.3),
            [(1, -s, s, circles(lambda z, k=k: r + k * globe(s)(z), bend)) for k in (1, -1)],
        ),
    }


NAMES = list(solids())


@pytest.mark.parametrize("name", NAMES)
def test_closed_forms_are_the_integrals(name):
    with mp.workdps(40):
        make, arguments, pieces = solids()[name]
        volume, height, moments = integrated(pieces)
        expected = [float(3 * value) for value in (volume, *moments)]
        height = float(height)
    shape = make(*arguments, density=3.0)
    found = [shape.mass, *np.diag(shape.inertia)]
    assert found == pytest.approx(expected, rel=ULPS, abs=1e-25)
    assert shape.centre == pytest.approx([0, 0, height], rel=ULPS, abs=1e-25)
    assert np.array_equal(shape.inertia, np.diag(np.diag(shape.inertia)))
    same = make(*arguments, mass=shape.mass)
    assert np.diag(same.inertia) == pytest.approx(np.diag(shape.inertia), rel=ULPS)


# ---- the registry
EXACT = {make.__name__ for make, *_ in solids().values()}  # by 40 digits, above
OTHERWISE = {"disc", "tetrahedron", "point_mass", "mesh"}  # in tests of their own
EXAMPLES = [
    pytest.param(name, arguments, id=f"{name}-{k}")
    for name in shapes.SHAPES
    for k, arguments in enumerate(import_module(f"polhode.body.shapes.{name}").EXAMPLES)
]


def made(name, arguments, **weight):
    weight = {"mass": 2.0} if name == "point_mass" else weight
    return shapes.SHAPES[name](**arguments, **weight)


@pytest.mark.parametrize(("name", "arguments"), EXAMPLES)
def test_mass_and_density_give_the_same_shape(name, arguments):
    heavy = made(name, arguments, density=3.0)
    same = made(name, arguments, mass=heavy.mass)
    assert same.inertia == pytest.approx(heavy.inertia, rel=ULPS, abs=1e-25)
    assert same.centre == pytest.approx(heavy.centre, rel=ULPS, abs=1e-25)
    assert getattr(shapes, name) is shapes.SHAPES[name]
    assert shapes.SHAPES[name].__doc__


@pytest.mark.parametrize(("name", "arguments"), EXAMPLES)
def test_twice_the_size_is_four_times_the_inertia(name, arguments):
    def doubled(value):
        return tuple(map(doubled, value)) if isinstance(value, tuple) else 2 * value

    if name == "mesh":
        (points, faces) = arguments["mesh"]
        large = {"mesh": (doubled(points), faces)}
    else:
        large = {key: doubled(value) for key, value in arguments.items()}
    one, two = (made(name, given, mass=1.5) for given in (arguments, large))
    assert two.inertia == pytest.approx(4 * one.inertia, rel=1e-13, abs=1e-25)
    assert two.centre == pytest.approx(2 * one.centre, rel=1e-13, abs=1e-25)
    if name != "point_mass":
        one, two = (made(name, given, density=1.5) for given in (arguments, large))
        power = np.log2(two.mass / one.mass)
        assert power == pytest.approx(round(power), abs=1e-12)
        assert 1 <= round(power) <= 3


@pytest.mark.parametrize(("name", "arguments"), EXAMPLES)
def test_other_shapes_are_the_integrals_over_their_points(name, arguments):
    """A shape that is not in ``solids`` says which points are inside; a sum over a grid."""
    if name in EXACT | OTHERWISE:
        return
    inside = import_module(f"polhode.body.shapes.{name}").inside
    reach = sum(np.sum(value) for value in arguments.values())
    line = (np.arange(160) + 0.5) / 80 * reach - reach
    x, y, z = np.meshgrid(line, line, line, indexing="ij")
    points = np.stack([x, y, z], axis=-1)[inside(x, y, z, **arguments)]
    cell = (line[1] - line[0]) ** 3
    centre = points.mean(axis=0)
    r = points - centre
    second = r.T @ r * cell
    shape = made(name, arguments, density=1.0)
    assert shape.mass == pytest.approx(len(points) * cell, rel=0.03)
    assert shape.centre == pytest.approx(centre, abs=0.01 * reach)
    inertia = np.trace(second) * np.eye(3) - second
    assert shape.inertia == pytest.approx(inertia, rel=0.06, abs=0.01 * np.trace(inertia))


def test_a_disc_is_a_flat_cylinder():
    flat = shapes.cylinder(0.7, 1e-12, density=3.0 / 1e-12)
    disc = shapes.disc(0.7, density=3.0)
    assert disc.mass == pytest.approx(flat.mass, rel=ULPS)
    assert np.allclose(disc.inertia, flat.inertia, rtol=ULPS, atol=0)


# ---- thin walls a second and a third time: as limits of solids, and as surfaces of triangles
def walls(d):
    """name -> the wall 2d thick about a surface, a difference of two solids; d beside the sizes."""
    r, s, h = 0.7, 0.3, 1.9
    slant = np.hypot(r, h)  # the surfaces at a distance d from a cone are cones, too
    wide, high = d * slant / h, d * slant / r
    both = {"density": 3.0 / (2 * d)}
    return {
        "shell": shapes.sphere(r + d, **both) - shapes.sphere(r - d, **both),
        "cylinder_shell": shapes.cylinder(r + d, h, **both) - shapes.cylinder(r - d, h, **both),
        "cone_shell": shapes.cone(r + wide, h + high, **both)
        - shapes.cone(r - wide, h - high, **both),
        "torus_shell": shapes.torus(r, s + d, **both) - shapes.torus(r, s - d, **both),
    }


SURFACES = {  # points of u and v from 0 to 1
    "shell": lambda u, v: 0.7 * polar(np.sin(np.pi * u), v, np.cos(np.pi * u)),
    "disc": lambda u, v: polar(0.7 * u, v, 0 * u),
    "cylinder_shell": lambda u, v: polar(0.7, v, 1.9 * (u - 0.5)),
    "cone_shell": lambda u, v: polar(0.7 * (1 - u), v, 1.9 * u),
    "torus_shell": lambda u, v: polar(
        0.7 + 0.3 * np.cos(2 * np.pi * u), v, 0.3 * np.sin(2 * np.pi * u)
    ),
}


def polar(radius, v, z):
    angle = 2 * np.pi * v
    return np.stack(np.broadcast_arrays(radius * np.cos(angle), radius * np.sin(angle), z), axis=-1)


def triangulated(surface, n):
    """(area, height of the centre, moments about it) of a surface in 2n² triangles."""
    u, v = np.meshgrid(*2 * (np.linspace(0, 1, n + 1),), indexing="ij")
    p = surface(u, v)
    a, b, c, d = p[:-1, :-1], p[1:, :-1], p[1:, 1:], p[:-1, 1:]
    pairs = (np.stack(three, axis=-2).reshape(-1, 3, 3) for three in ((a, b, c), (a, c, d)))
    corners = np.concatenate(list(pairs))
    edges = corners[:, 1:] - corners[:, :1]
    areas = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 2
    total = corners.sum(axis=1)
    centre = areas @ total / 3 / areas.sum()
    second = np.einsum("t,tki,tkj->ij", areas, corners, corners)
    second = (second + np.einsum("t,ti,tj->ij", areas, total, total)) / 12
    second -= areas.sum() * np.outer(centre, centre)
    return np.array([areas.sum(), centre[2], *(np.trace(second) - np.diag(second))])


def numbers(shape):
    return np.array([shape.mass, shape.centre[2], *np.diag(shape.inertia)])


def test_thin_walls_are_the_limits_of_solids():
    """The difference falls as the square of the thickness: what is left at 0 is the shell."""
    coarse, fine = walls(0.01), walls(0.005)
    for name in coarse:
        (arguments,) = import_module(f"polhode.body.shapes.{name}").EXAMPLES
        limit = (4 * numbers(fine[name]) - numbers(coarse[name])) / 3
        shape = numbers(made(name, arguments, density=3.0))
        assert limit == pytest.approx(shape, rel=1e-7, abs=1e-13), name
        assert numbers(coarse[name]) != pytest.approx(shape, rel=1e-7, abs=1e-13), name


@pytest.mark.parametrize("name", SURFACES)
def test_thin_walls_are_sums_over_triangles(name):
    (arguments,) = import_module(f"polhode.body.shapes.{name}").EXAMPLES
    coarse, fine = (triangulated(SURFACES[name], n) for n in (60, 120))
    limit = (4 * fine - coarse) / 3
    shape = numbers(made(name, arguments, density=1.0))
    assert limit == pytest.approx(shape, rel=3e-6, abs=1e-12)


def test_every_thin_wall_has_its_second_and_third_reference():
    said = {name: make.__doc__.lower() for name, make in shapes.SHAPES.items()}
    thin = {name for name, text in said.items() if "density in kg/m²" in text}
    assert thin == set(SURFACES)
    assert thin == {*walls(0.01), "disc"}, "the disc is compared with a flat cylinder"


def test_a_closed_shell_is_a_wall_and_its_ends():
    skin = {"density": 2.0}
    end = shapes.disc(0.7, **skin)
    can = shapes.cylinder_shell(0.7, 1.9, **skin) + end.moved([0, 0, 0.95])
    can += end.moved([0, 0, -0.95])
    assert can.mass == pytest.approx(2 * 2 * np.pi * 0.7 * (1.9 + 0.7), rel=ULPS)
    along = 2 * (2 * np.pi * 0.7 * 1.9 * 0.49 + np.pi * 0.49 * 0.49)
    assert can.inertia[2, 2] == pytest.approx(along, rel=ULPS)
    closed = shapes.cone_shell(0.7, 1.9, **skin) + end
    slant = np.hypot(0.7, 1.9)
    assert closed.mass == pytest.approx(2 * np.pi * 0.7 * (slant + 0.7), rel=ULPS)
    assert closed.centre[2] == pytest.approx(1.9 / 3 * slant / (slant + 0.7), rel=ULPS)


def test_tetrahedra_are_exact():
    rng = np.random.default_rng(1)
    for far in (0, 1, 1e6):
        for _ in range(20):
            corners = rng.normal(size=(4, 3)) + far
            # the volume is the smaller the flatter: its rounding is relative to the edges
            compare(shapes.tetrahedron(corners, density=1.0), of_tetrahedron(corners), 1e-12)


coordinates = st.floats(-5, 5).map(lambda x: round(x, 3))
places = st.tuples(coordinates, coordinates, coordinates)
masses = st.floats(0.1, 10)


@given(st.lists(st.tuples(masses, places), min_size=1, max_size=6))
def test_point_masses_add_up_exactly(parts):
    body = sum(shapes.point_mass(m, at) for m, at in parts)
    assert isinstance(body, shapes.Shape)
    points = [(Fraction(m), [Fraction(x) for x in at]) for m, at in parts]
    mass, _, second = exactly(points)
    # where all coincide nothing is left but the rounding of the sums
    if max(second[k][k] for k in range(3)) > mass * Fraction(1e-6):
        compare(body, points, 1e-14 * max(1.0, float(50 * mass / max(map(max, second)))))


def parts():
    turn = Rotation.from_rotvec([0.3, -1.0, 0.4])
    return [
        shapes.box([1.0, 2.0, 0.5], mass=3.0).turned(turn).moved([0.125, 0.5, -0.25]),
        shapes.cone(0.5, 1.0, density=2.0).moved([1.0, 0.0, 0.75]),
        shapes.torus(0.5, 0.125, mass=0.3).turned(turn.inv()).moved([-1.0, 0.375, 0.0]),
        shapes.sphere(0.25, mass=1.0).moved([0.0, 0.0, 2.0]),
    ]


def near(one, other, tolerance=ULPS):
    size = np.abs(other.inertia).max()
    return (
        abs(one.mass - other.mass) <= tolerance * other.mass
        and np.abs(one.centre - other.centre).max() <= tolerance * (1 + np.abs(other.centre).max())
        and np.abs(one.inertia - other.inertia).max() <= tolerance * size
    )


def test_the_order_of_sums_does_not_matter():
    a, b, c, d = parts()
    assert near(a + b + c + d, d + (c + (b + a)))
    assert near(sum([a, b, c, d]), (a + c) + (d + b))
    assert near((a + b) - b, a)
    assert near((a + b + c) - (c + b), a)


@given(vector=st.tuples(*[st.floats(-3, 3)] * 3), by=places)
def test_moving_and_turning_the_whole_is_moving_and_turning_its_parts(vector, by):
    turn = Rotation.from_rotvec(vector)
    whole = sum(parts())
    pieces = sum(part.turned(turn).moved(by) for part in parts())
    assert near(whole.turned(turn).moved(by), pieces)
    matrix = turn.as_matrix()
    expected = matrix @ whole.inertia @ matrix.T
    assert np.allclose(whole.turned(turn).inertia, expected, rtol=0, atol=ULPS * expected.max())
    assert near(whole.turned(matrix).turned(turn.inv()), whole)


@pytest.mark.parametrize("far", [[1e6, 0, 0], [-1e6, 3e6, 1e3], [1e6 + 0.1, 1e6 / 3, 1e9]])
def test_a_body_far_from_the_origin_loses_no_digits(far):
    whole = sum(parts())
    moved = [part.moved(far) for part in parts()]
    for there in (sum(moved), (moved[0] + moved[3]) + (moved[2] + moved[1]), whole.moved(far)):
        assert np.abs(there.inertia - whole.inertia).max() < ULPS * whole.inertia.max()
        assert there.centre == pytest.approx(whole.centre + far, rel=1e-15)
        back = there.moved([-x for x in far])
        assert back.centre == pytest.approx(whole.centre, abs=1e-15)
    turn = Rotation.from_rotvec([0.3, -1.0, 0.4])
    turned = sum(part.turned(turn) for part in moved)
    expected = whole.turned(turn).inertia
    assert np.abs(turned.inertia - expected).max() < ULPS * expected.max()
    body = ph.RigidBody.from_shapes(*moved)
    assert np.abs(body.inertia - whole.inertia).max() < ULPS * whole.inertia.max()


def test_holes():
    steel = 7800.0
    ring = shapes.cylinder(0.5, 0.2, density=steel) - shapes.cylinder(0.25, 0.2, density=steel)
    assert near(ring, shapes.tube(0.5, 0.25, 0.2, density=steel))
    ball = shapes.sphere(0.5, density=steel) - shapes.sphere(0.25, density=steel)
    assert near(ball, shapes.hollow_sphere(0.5, 0.25, density=steel))
    # a hole off the centre, put back
    hole = shapes.sphere(0.25, density=steel).moved([0.2, 0, 0.0625])
    block = shapes.box([1, 1, 1], density=steel)
    assert near((block - hole) + hole, block)
    assert (block - hole).centre[0] < 0


def test_known_shapes_from_their_parts():
    half = shapes.hemisphere(0.5, density=2.0)
    assert near(half + half.turned(np.diag([1.0, -1, -1])), shapes.sphere(0.5, density=2.0))
    top = half.moved([0, 0, 0.75])
    bottom = top.turned(np.diag([1.0, -1, -1]))
    pill = shapes.cylinder(0.5, 1.5, density=2.0) + top + bottom
    assert near(pill, shapes.capsule(0.5, 1.5, density=2.0))
    tip = shapes.cone(0.25, 1.0, density=2.0).moved([0, 0, 1.0])
    cut = shapes.cone(0.5, 2.0, density=2.0) - tip
    assert near(cut, shapes.frustum(0.5, 0.25, 1.0, density=2.0))


def test_a_ball_keeps_its_tensor_however_it_is_turned():
    turn = Rotation.from_rotvec([0.3, -1.0, 0.4])
    ball = shapes.sphere(0.3, mass=1.7)
    assert np.array_equal(ball.turned(turn).inertia, ball.inertia)
    top = shapes.cone(0.3, 1.0, mass=1.7)
    assert np.array_equal(top.turned(Rotation.from_rotvec([0, 0, 1.0])).inertia, top.inertia)


# ---- bodies
def test_a_body_of_shapes():
    box, wheel = shapes.box([0.4, 0.2, 0.1], mass=2.0), shapes.disc(0.1, mass=0.5)
    body = ph.RigidBody.from_shapes(box, wheel.moved([0, 0.3, 0]))
    assert body.mass == 2.5
    assert body.is_aligned
    assert body.centre == pytest.approx([0, 0.06, 0])
    assert body.inertia == pytest.approx((box + wheel.moved([0, 0.3, 0])).inertia)
    with pytest.raises(ValueError, match="read-only"):
        body.centre[0] = 1.0
    assert ph.RigidBody([1, 2, 2.5]).centre.tolist() == [0, 0, 0]


turns = st.tuples(*[st.floats(-3, 3)] * 3).map(Rotation.from_rotvec)


@given(turn=turns)
def test_three_equal_moments_keep_the_axes(turn):
    cube = shapes.box([0.3, 0.3, 0.3], mass=0.7).turned(turn)
    body = ph.RigidBody.from_shapes(cube)
    assert body.is_aligned
    assert len(set(body.principal_moments.tolist())) == 1
    assert np.array_equal(body.principal_axes, np.eye(3))


@given(turn=turns)
def test_two_equal_moments_have_an_axis_whatever_the_rounding(turn):
    top = shapes.cone(0.3, 1.0, mass=1.7).turned(turn) + shapes.sphere(0.2, mass=0.3)
    axis = turn.as_matrix()[:, 2]
    bodies = [ph.RigidBody.from_shapes(top)]
    bodies.append(ph.RigidBody(bodies[0].inertia))
    if not bodies[0].is_aligned:  # moments that are given on the diagonal are left alone
        noise = np.random.default_rng(3).normal(size=(3, 3)) * 1e-16 * bodies[0].inertia.max()
        bodies.append(ph.RigidBody(bodies[0].inertia + noise + noise.T))
    for body in bodies:
        k = body.symmetry_axis
        assert k is not None
        found = body.principal_axes[:, k]
        assert abs(found @ axis) == pytest.approx(1, abs=1e-14)
        assert np.linalg.norm(np.cross(found, axis)) < 1e-14
        assert np.allclose(body.principal_axes.T @ body.principal_axes, np.eye(3), atol=1e-15)
        assert np.linalg.det(body.principal_axes) == pytest.approx(1)
        assert np.allclose(body.principal_axes, bodies[0].principal_axes, rtol=0, atol=1e-14)
        rebuilt = body.principal_axes @ np.diag(body.principal_moments) @ body.principal_axes.T
        assert np.allclose(rebuilt, body.inertia, rtol=0, atol=1e-15)


@given(turn=turns)
def test_a_rod_has_no_inertia_about_itself_however_it_lies(turn):
    body = ph.RigidBody.from_shapes(shapes.rod(2.0, mass=3.0).turned(turn))
    assert sorted(body.principal_moments) == pytest.approx([0, 1, 1], abs=1e-14)
    assert min(body.principal_moments) == 0
    assert max(body.data[1]) == pytest.approx(1)


def test_a_quarter_turn_keeps_the_body_aligned():
    turn = Rotation.from_rotvec([np.pi / 2, 0, 0])
    body = ph.RigidBody.from_shapes(shapes.cylinder(0.1, 1.0, mass=1.0).turned(turn))
    assert body.is_aligned
    assert body.symmetry_axis == 1


def test_a_small_but_real_product_of_inertia_stays():
    box = shapes.box([1.0, 2.0, 0.5], mass=3.0) + shapes.point_mass(1e-10, [0.3, 0.4, 0.0])
    body = ph.RigidBody.from_shapes(box)
    assert not body.is_aligned
    assert body.inertia[0, 1] == pytest.approx(-1e-10 * 0.12, rel=1e-5)


# ---- what is refused
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shapes.sphere(-1, mass=1), "radius must be positive and finite, got -1"),
        (lambda: shapes.sphere("big", mass=1), "radius must be a number, got 'big'"),
        (lambda: shapes.sphere(1), "give mass= in kg or density= in kg/m³; got neither"),
        (lambda: shapes.sphere(1, mass=1, density=1), "got both"),
        (lambda: shapes.shell(1), "density= in kg/m²"),
        (lambda: shapes.rod(1), "density= in kg/m;"),
        (lambda: shapes.sphere(1, density=0), "density must be positive"),
        (lambda: shapes.box([1, 2], mass=1), "size must be three numbers"),
        (lambda: shapes.box([1, 2, 0], mass=1), "size must be three positive numbers"),
        (lambda: shapes.tube(1, 1, 2, mass=1), "inner must be less than radius = 1.0, got 1"),
        (lambda: shapes.hollow_box([1, 1, 1], [1, 2, 1], mass=1), "inner must be less than size"),
        (lambda: shapes.torus(1, 2, mass=1), "tube must be at most radius"),
        (lambda: shapes.torus_shell(1, 2, mass=1), "tube must be at most radius = 1.0, got 2"),
        (lambda: shapes.torus_shell(1, 0.5), "density= in kg/m²"),
        (lambda: shapes.cone_shell(1, -2, mass=1), "height must be positive and finite, got -2"),
        (lambda: shapes.cone_shell(1, 2), "density= in kg/m²"),
        (lambda: shapes.cylinder_shell(1, 0, mass=1), "length must be positive and finite, got 0"),
        (lambda: shapes.cylinder_shell(1, 2), "density= in kg/m²"),
        (lambda: shapes.tetrahedron(np.zeros((4, 3)), mass=1), "lie in one plane"),
        (lambda: shapes.tetrahedron([1, 2], mass=1), "four points"),
        (lambda: shapes.point_mass(0), "mass must be positive"),
        (lambda: shapes.point_mass(1, [1, 2, np.inf]), "at must be finite"),
        (lambda: shapes.sphere(1, mass=1).moved([1]), "by must be three numbers"),
        (lambda: shapes.sphere(1, mass=1).turned(np.eye(2)), "rotation must be one SciPy Rotation"),
        (lambda: shapes.sphere(1, mass=1).turned(-np.eye(3)), "its determinant is -1"),
        (
            lambda: shapes.sphere(1, mass=1) - shapes.sphere(0.5, mass=1),
            "a hole of 1 kg in a body of 1 kg leaves nothing",
        ),
        (
            lambda: shapes.sphere(1, mass=1) - shapes.sphere(2, mass=0.5),
            "not inside the body, or denser",
        ),
        (lambda: shapes.Shape(1.0, (0, 0, 0), (1, 2, 4)), "no body has the moments"),
        (lambda: ph.RigidBody.from_shapes(), "at least one shape"),
        (lambda: ph.RigidBody.from_shapes([1, 2, 3]), "must be shapes of ph.shapes"),
        (lambda: ph.RigidBody.from_shapes(shapes.point_mass(1)), "must be positive"),
        (lambda: ph.RigidBody([1, 1, 1], centre=[1, 2]), "centre must be three"),
    ],
)
def test_shapes_that_are_not_bodies_are_refused_with_the_reason(make, words):
    with pytest.raises(ph.InputError, match=words):
        make()


def test_only_shapes_add_up():
    with pytest.raises(TypeError):
        shapes.sphere(1, mass=1) + 1
    with pytest.raises(TypeError):
        1 + shapes.sphere(1, mass=1)
    with pytest.raises(TypeError):
        shapes.sphere(1, mass=1) - 1


def test_words():
    assert repr(shapes.point_mass(2)) == (
        "Shape(mass=2.0, centre=[0.0, 0.0, 0.0],"
        " inertia=[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])"
    )
