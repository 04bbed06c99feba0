"""The triangles of a body in files: they come back bit for bit, or the file is refused."""

import json
import pickle

import h5py
import numpy as np
import pytest
import xarray
import zarr

import polhode as ph
from polhode.cli.plan import make_plan
from polhode.ensembles.members import make_members
from polhode.files import zarr_folder
from polhode.solvers.plain_data import STORED
from support.forged_checkpoints import Stopped, parts_of, sign
from support.forged_netcdf import forge_netcdf, seal

VERTICES = np.array([[0.1, 0, 0], [120, 1 / 3, 0], [0, 80, 0], [0, 0, 40]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
MESH = ph.RigidBody.from_mesh((VERTICES, FACES), density=2700, scale=1e-3)
SHAPES = ph.RigidBody.from_shapes(
    ph.shapes.box([1, 2, 3], mass=1) - ph.shapes.sphere(0.3, mass=0.1),
    ph.shapes.point_mass(0.2, [0, 3, 0]),
    ph.shapes.rod(2.0, mass=0.1),
)
BODIES = {"mesh": MESH, "shapes": SHAPES}
FILES = "run.nc", "run.zarr"

pytestmark = pytest.mark.usefixtures("plain")


def solve(body, **others):
    given = {"method": "mr2", "dt": 0.01, **others}
    return ph.solve(ph.Problem(body, omega=[0.1, 2.0, 0.3]), (0.0, 0.05), **given)


def same(a, b):
    """Whether two geometries have the same bits."""
    return (
        a.kind == b.kind
        and (a.faces.dtype, b.faces.dtype) == (np.int32, np.int32)
        and a.vertices.tobytes() == b.vertices.tobytes()
        and a.faces.tobytes() == b.faces.tobytes()
    )


# ---- round trips
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("kind", BODIES)
def test_a_geometry_comes_back(tmp_path, kind, file):
    body = BODIES[kind]
    again = ph.load(solve(body).save(tmp_path / file)).body
    assert body.geometry.kind == kind
    assert same(again.geometry, body.geometry)
    assert not again.geometry.vertices.flags.writeable
    assert np.array_equal(again.centre, body.centre)
    twice = ph.load(solve(again).save(tmp_path / f"again-{file}")).body
    assert same(twice.geometry, body.geometry)


@pytest.mark.parametrize("file", FILES)
def test_a_body_of_numbers_has_none(tmp_path, file):
    run = solve(ph.RigidBody([1.0, 2.0, 2.5]))
    assert not [name for name in run.to_xarray().sizes if name in ("vertex", "face", "corner")]
    assert ph.load(run.save(tmp_path / file)).body.geometry is None


def test_other_programs_read_them(tmp_path):
    run, known = solve(SHAPES), SHAPES.geometry
    with h5py.File(run.save(tmp_path / "run.nc")) as file:
        assert np.array_equal(file["geometry_faces"], known.faces)
        assert file["geometry_vertices"].compression == "gzip"
        assert file["geometry_vertices"].id.get_storage_size() < known.vertices.nbytes / 1.5
        assert file.attrs["geometry"] == "shapes"
    folder = run.save(tmp_path / "run.zarr")
    assert np.array_equal(zarr.open_group(folder, mode="r")["geometry_faces"][:], known.faces)
    for data in (xarray.open_zarr(folder, consolidated=False, chunks=None), run.to_xarray()):
        assert data["geometry_vertices"].dims == ("vertex", "component")
        assert data["geometry_faces"].dims == ("face", "corner")
        assert data["geometry_faces"].dtype == np.int32


def test_files_are_as_xarray_writes_them(tmp_path):
    run = solve(SHAPES)
    ours = run.save(tmp_path / "run.nc").read_bytes()
    run.to_xarray().to_netcdf(tmp_path / "xarray.nc", engine="h5netcdf")
    theirs = (tmp_path / "xarray.nc").read_bytes()
    assert ours[48 : len(theirs)] == theirs[48:]


def test_parts_of_a_run_and_its_dense_output_have_the_body(tmp_path):
    run = solve(MESH)
    for part in (run[2:4], run.sol([0.01, 0.02]), run[:0]):
        assert same(ph.load(part.save(tmp_path / f"{len(part)}.nc")).body.geometry, MESH.geometry)


def test_tables_leave_it_out(tmp_path):
    """A table is the same with and without a geometry."""
    bare = ph.RigidBody(MESH.inertia, MESH.mass, centre=MESH.centre)
    for name in ("run.csv", "run.parquet"):
        files = [solve(body).save(tmp_path / f"{k}{name}") for k, body in enumerate((MESH, bare))]
        assert files[0].read_bytes() == files[1].read_bytes()
    assert solve(MESH).to_dataframe().equals(solve(bare).to_dataframe())


def test_a_mesh_file_on_the_command_line(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    part = tmp_path / "part.stl"
    trimesh.Trimesh(VERTICES, FACES, process=False).export(part)
    changes = [("body.mesh", str(part)), ("body.scale", 1e-3), ("body.mass", 2.7)]
    body = make_plan("krysl-free", changes).problem.body
    corners = body.geometry.vertices[body.geometry.faces]
    assert corners == pytest.approx(MESH.geometry.vertices[FACES], rel=1e-6)  # STL has 24 bits


# ---- forged files
def without(*names):
    return lambda file: [file.__delitem__(name) for name in names]


def instead(name, values, *dimensions):
    def forge(file):
        del file[name]
        file[name] = values
        for place, dimension in enumerate(dimensions):
            file[name].dims[place].attach_scale(file[dimension])

    return forge


def entry(name, row, column, value):
    def forge(file):
        file[name][row, column] = value

    return forge


def attribute(name, value):
    return lambda file: file.attrs.__setitem__(name, value)


FORGERIES = {
    "a face too far": (entry("geometry_faces", 2, 1, 4), r"0 to 3, got \[0, 4, 2\] in row 2"),
    "a negative face": (entry("geometry_faces", 0, 0, -1), r"got \[-1, 2, 1\] in row 0"),
    "no number": (
        entry("geometry_vertices", 1, 2, np.nan),
        "must be finite, got .* row 1",
    ),
    "infinite": (entry("geometry_vertices", 3, 0, np.inf), "must be finite, got .* row 3"),
    "no faces": (without("geometry_faces"), "only geometry and geometry_vertices"),
    "no vertices": (without("geometry_vertices"), "only geometry and geometry_faces"),
    "neither": (without("geometry_vertices", "geometry_faces"), "of its geometry it has only geom"),
    "no kind": (lambda file: file.attrs.__delitem__("geometry"), "only geometry_vertices and"),
    "another kind": (attribute("geometry", "box"), "kind must be one of mesh, shapes, got 'box'"),
    "a number for the kind": (attribute("geometry", 7.5), "kind must be one of"),
    "a list for the kind": (attribute("geometry", ["mesh", "mesh"]), "damaged"),
    "flat": (instead("geometry_faces", np.zeros(4, "i4"), "face"), r"got int32 of shape \(4,\)"),
    "fractions": (instead("geometry_faces", np.ones((4, 3)), "face", "corner"), "got float64"),
    "text": (instead("geometry_faces", list("abcd"), "face"), "faces must be rows of three"),
    "text for points": (instead("geometry_vertices", list("abcd"), "vertex"), "vertices must be"),
    "large": (instead("geometry_faces", np.full((4, 3), 2**40), "face", "corner"), "0 to 3, got"),
    "columns": (
        instead("geometry_vertices", np.ones((4, 4)), "vertex", "quaternion"),
        r"shape \(4, 4\)",
    ),
    "no dimensions": (instead("geometry_faces", np.ones((4, 3), "i4")), "has no dimensions"),
}


@pytest.mark.parametrize("case", FORGERIES)
def test_forged_geometries_are_refused_with_one_error(tmp_path, case):
    forge, words = FORGERIES[case]
    path = solve(MESH).save(tmp_path / "run.nc")
    with h5py.File(path, "r+") as file:
        forge(file)
    seal(path)
    with pytest.raises(ph.FileError, match=words) as refused:
        ph.load(path)
    assert str(refused.value).startswith(f"{str(path)!r} was edited or damaged: ")
    assert "\n" not in str(refused.value)


def test_a_bomb_of_triangles_is_refused(tmp_path):
    path = solve(MESH).save(tmp_path / "run.nc")
    with h5py.File(path, "r+") as file:
        del file["geometry_faces"]
        given = {"shape": (10**9, 3), "dtype": "i4", "chunks": (10**6, 3), "compression": "gzip"}
        file.create_dataset("geometry_faces", **given)
    seal(path)
    with pytest.raises(ph.FileError, match="geometry_faces declares 12000000000 bytes, and has 0"):
        ph.load(path)


def test_anything_forged_is_refused_or_leaves_a_geometry(tmp_path):
    rng, path = np.random.default_rng(16), tmp_path / "run.nc"
    whole = solve(MESH).save(path).read_bytes()
    for _ in range(150):
        path.write_bytes(whole)
        forge_netcdf(path, rng)
        try:
            geometry = ph.load(path).body.geometry
        except ph.FileError:
            continue
        assert geometry.faces.max() < len(geometry.vertices)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("geometry_faces", lambda a: a.__setitem__((1, 2), 9), r"0 to 3, got \[0, 1, 9\] in row 1"),
        ("geometry_vertices", lambda a: a.__setitem__((1, 2), np.nan), "vertices must be finite"),
    ],
)
def test_forged_numbers_in_a_store_are_refused(tmp_path, name, change, words):
    from numcodecs import CRC32C

    folder = solve(MESH).save(tmp_path / "run.zarr")
    file = folder / name / "c" / "0" / "0"
    kind = "<i4" if name == "geometry_faces" else "<f8"
    array = np.frombuffer(file.read_bytes()[:-4], kind).reshape(4, 3).copy()
    change(array)
    file.write_bytes(array.tobytes() + CRC32C.checksum(array.tobytes()).to_bytes(4, "little"))
    with pytest.raises(ph.FileError, match=words):
        ph.load(folder)


@pytest.mark.parametrize(
    "arrays",
    [
        {"geometry_faces": None},
        {"geometry_vertices": None},
        {"geometry_faces": [4]},
        {"geometry_faces": [12, 1]},
        {"geometry_faces": [4, 3, 1]},
        {"geometry_faces": [0, 3]},
        {"geometry_faces": [10**12, 3]},
        {"geometry_vertices": [3, 4]},
    ],
)
def test_forged_shapes_in_a_store_are_refused(tmp_path, arrays):
    from numcodecs import CRC32C

    folder = solve(MESH).save(tmp_path / "run.zarr")
    file = folder / zarr_folder.GROUP
    group = json.loads(file.read_bytes())
    facts = {k: v for k, v in group["attributes"].items() if k != "crc32c"}
    facts["arrays"] = {k: v for k, v in {**facts["arrays"], **arrays}.items() if v is not None}
    forged = json.dumps(facts, sort_keys=True).encode()
    facts["crc32c"] = CRC32C.checksum(forged).to_bytes(4, "little").hex()
    file.write_text(json.dumps(group | {"attributes": facts}))
    with pytest.raises(ph.FileError):
        ph.load(folder)


# ---- checkpoints
def stopped(place, body):
    """The checkpoint of a run that was stopped on its way."""

    def stop(fraction):
        if fraction > 0.4:
            raise Stopped

    with pytest.raises(Stopped):
        solve(body, checkpoint=place, checkpoint_every=1, progress=stop)
    return place


@pytest.mark.parametrize("kind", BODIES)
def test_a_resumed_run_has_the_geometry(tmp_path, kind):
    again = ph.resume(stopped(tmp_path / "run.ckpt", BODIES[kind]))
    assert same(again.body.geometry, BODIES[kind].geometry)
    assert np.array_equal(again.q, solve(BODIES[kind]).q)


def test_a_forged_checkpoint_is_refused(tmp_path):
    path = stopped(tmp_path / "run.ckpt", MESH)
    text, arrays = parts_of(path)
    faces = FACES.astype("<i8").tobytes()
    assert arrays.count(faces) == 1
    forged = FACES.copy()
    forged[2, 0] = 17
    sign(path, json.dumps(text).encode(), arrays.replace(faces, forged.astype("<i8").tobytes()))
    with pytest.raises(ph.FileError, match=r"damaged: faces must be .* got \[17, 3, 2\] in row 2"):
        ph.resume(path)
    text["arrays"] = [[a.replace("mesh faces", "other"), *b] for a, *b in text["arrays"]]
    sign(path, json.dumps(text).encode(), arrays)
    with pytest.raises(ph.FileError, match="damaged: KeyError: 'mesh faces'"):
        ph.resume(path)


def test_checkpoints_do_not_hold_large_meshes(tmp_path):
    """What is written every few seconds stays small; the run itself is the same."""
    n = 1 + STORED // 24
    vertices = np.vstack([VERTICES, np.zeros((n, 3))])
    body = ph.RigidBody([1.0, 2.0, 2.5], geometry=(vertices, FACES))
    bare = ph.RigidBody([1.0, 2.0, 2.5])
    files = [stopped(tmp_path / f"{k}.ckpt", one) for k, one in enumerate((body, bare))]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert ph.resume(files[0]).body.geometry is None


# ---- ensembles
VARY = {"omega": ph.distributions.Normal([0, 0, 5], 0.1)}
ASKED = {"vary": VARY, "members": 3, "seed": 1, "method": "mr2", "dt": 0.01, "save": [0.02]}


def test_ensembles_are_the_same_with_and_without(tmp_path):
    """Files, checkpoints and stores have the same bytes: triangles are of no concern to them."""
    bare = ph.RigidBody(MESH.inertia, MESH.mass, centre=MESH.centre)
    found = []
    for body in (MESH, bare):
        problem = ph.Problem(body, omega=[0.1, 2.0, 0.3])
        place = tmp_path / str(len(found))
        place.mkdir()
        result = ph.solve_ensemble(
            problem, (0.0, 0.02), **ASKED, threads=1, checkpoint=place / "many.ckpt"
        )
        result.save(place / "many.nc")
        found.append([(place / name).read_bytes() for name in ("many.ckpt", "many.nc")])
        assert b"geometry" not in found[-1][0]
    assert found[0] == found[1]


def test_members_share_the_geometry_of_their_body():
    problem = ph.Problem(MESH, omega=[0.1, 2.0, 0.3])
    members = make_members(problem, 10**6, VARY, 1)
    assert members.of(7).body is MESH
    heavy = make_members(problem, 10**6, {"mass": ph.distributions.Uniform(1, 2)}, 1)
    assert heavy.of(7).body.geometry is None  # another body
    again = pickle.loads(pickle.dumps(members))
    assert same(again.of(7).body.geometry, MESH.geometry)
    assert len(pickle.dumps(members)) < 10_000
