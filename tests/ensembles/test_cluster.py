"""Ensembles on the workers of a Dask cluster have the bits of a local run."""

import logging
import os
import signal
import sys
import time

import numpy as np
import pytest
from distributed import LocalCluster

import polhode as ph
from polhode.ensembles.dask_cluster import ClusterError, local
from polhode.ensembles.distributions import GROUP, Around, Boxes, Normal, OnSphere, Uniform

SPAN = 0.0, 1.0
VARY = {
    "omega": Normal([0, 0, 50], 0.5),
    "model.strength": Uniform(10, 30),
    "attitude": Around(0.1),
}
ASKED = {"vary": VARY, "seed": 4, "method": "mr2", "dt": 1e-2}
KEPT = {
    "save": [0.0, 0.105, 1.0],
    "reduce": ["mean(omega)", "attitude", "quantiles(speed, 0.1, 0.9)", "extremes(energy)"],
    "reduce_times": 5,
}


@pytest.fixture(scope="module")
def client():
    with local(2, logging.CRITICAL) as made:
        yield made


def same(a, b):
    """Whether two results have the same bits."""
    assert set(a.reductions) == set(b.reductions)
    names = "q", "omega", "status", "nsteps", "count", "t_reached"
    pairs = {name: (getattr(a, name), getattr(b, name)) for name in names}
    pairs |= {name: (a.reductions[name], b.reductions[name]) for name in a.reductions}
    differ = [name for name, (x, y) in pairs.items() if x.tobytes() != y.tobytes()]
    assert not differ
    return True


def idle(client):
    """Whether the workers are idle, now or soon."""
    for _ in range(100):
        if not any(client.processing().values()):
            return True
        time.sleep(0.1)
    return False


@pytest.fixture(scope="module")
def top():
    return ph.problems.fast_top()


# ---- the same bits
@pytest.mark.parametrize("chunk", [None, GROUP])
def test_states_and_reductions_are_those_of_the_local_run(client, top, chunk):
    said = []
    here = ph.solve_ensemble(top, SPAN, members=5 * GROUP - 3, **ASKED, **KEPT)
    there = ph.solve_ensemble(
        top, SPAN, members=5 * GROUP - 3, **ASKED, **KEPT, chunk=chunk, client=client,
        progress=said.append,
    )  # fmt: skip
    assert same(here, there)
    assert said == sorted(said)
    assert said[-1] == 1.0


def test_arrays_and_sweeps_are_divided_correctly(client, top, rng):
    spins = rng.normal([0, 0, 50], 0.5, (2 * GROUP + 100, 3))
    given = {"vary": {"omega": spins}, "method": "mr2", "dt": 1e-2}
    here = ph.solve_ensemble(top, SPAN, **given)
    assert same(here, ph.solve_ensemble(top, SPAN, **given, chunk=GROUP, client=client))
    grid = {
        "omega": ph.distributions.Sweep(spins[:40]),
        "model.strength": ph.distributions.Sweep(np.linspace(10, 30, 40)),
    }
    given = {"vary": grid, "method": "mr2", "dt": 1e-2}
    here = ph.solve_ensemble(top, SPAN, **given)
    assert same(here, ph.solve_ensemble(top, SPAN, **given, chunk=GROUP, client=client))


def test_free_bodies_by_the_address_of_the_scheduler(client):
    box = ph.Problem(ph.RigidBody([1, 2, 2.5]), omega=[1, 1, 1])
    given = {"members": 1500, "vary": {"omega": OnSphere(2.0), "inertia": Boxes(1, 2)}, "seed": 1}
    here = ph.solve_ensemble(box, SPAN, **given)
    address = client.scheduler.address
    assert same(here, ph.solve_ensemble(box, SPAN, **given, chunk=GROUP, client=address))


def test_bodies_with_a_geometry(client):
    """Its triangles go along, and change nothing."""
    shape = ph.shapes.box([1, 2, 3], mass=1.0) + ph.shapes.point_mass(0.2, [1, 1, 1])
    body = ph.RigidBody.from_shapes(shape)
    given = {"members": 1500, "vary": {"omega": OnSphere(2.0)}, "seed": 1}
    bare = ph.RigidBody(body.inertia, body.mass, centre=body.centre)
    here = ph.solve_ensemble(ph.Problem(bare, omega=[1, 1, 1]), SPAN, **given)
    for asked in (False, True):  # the triangles are made in between
        assert asked is False or len(body.geometry.faces) == 292
        problem = ph.Problem(body, omega=[1, 1, 1])
        assert same(here, ph.solve_ensemble(problem, SPAN, **given, chunk=GROUP, client=client))


def test_a_store_is_filled_in_any_order(client, top, tmp_path):
    given = {"members": 3 * GROUP + 5, **ASKED, **KEPT}
    here = ph.solve_ensemble(top, SPAN, **given)
    there = ph.solve_ensemble(
        top, SPAN, **given, chunk=GROUP, client=client, out=tmp_path / "tops.zarr"
    )
    assert there.path == tmp_path / "tops.zarr"
    assert same(here, there)
    assert same(here, ph.load(there.path))


# ---- functions of the user
def test_lambdas_go_to_the_workers(client):
    """A torque with a closure, an event and a quantity, none of which a worker can import."""
    damping, level = 0.3, 1.2
    model = ph.torque(lambda t, q, omega, p: (-damping * omega[0], p[0] * omega[2], 0.0), (0.1,))
    problem = ph.Problem(ph.RigidBody([1, 2, 2.5]), model, omega=[1, 1, 1])
    slow = ph.reductions.FirstTime(lambda t, q, w: w[0] * w[0] - level, name="slow")
    along = ph.reductions.Mean(lambda t, q, w: q[0] * w[1] / level, name="along")
    given = {
        "members": 1300, "vary": {"omega": Normal(1.0, 0.3)}, "seed": 2, "method": "imidm",
        "dt": 0.05, "reduce": [slow, along], "reduce_times": 3,
    }  # fmt: skip
    here = ph.solve_ensemble(problem, SPAN, **given)
    there = ph.solve_ensemble(problem, SPAN, **given, chunk=GROUP, client=client)
    assert same(here, there)
    assert np.isfinite(here.reductions["slow_first_time"]).any()


def test_a_process_compiles_once(client, top):
    """The second run finds the task of the first, and its compiled loops, in every process."""
    given = {"members": 6 * GROUP, **ASKED, "seed": 77, "chunk": GROUP, "client": client}
    known = client.run(_compiled)
    ph.solve_ensemble(top, SPAN, **given)
    before = client.run(_compiled)
    ph.solve_ensemble(top, SPAN, **given)
    after = client.run(_compiled)
    took_part = [worker for worker, (tasks, _) in before.items() if tasks > known[worker][0]]
    assert took_part  # one process may have done everything
    assert all(after[worker] == before[worker] for worker in took_part)


def _compiled():
    from polhode.compiler import machine
    from polhode.ensembles import dask_cluster

    return dask_cluster._read.cache_info().misses, len(machine._dispatchers)


# ---- what can go wrong
def test_only_the_chunk_of_a_killed_worker_is_lost(client, top):
    given = ASKED | {
        "dt": 2.5e-4,
        "members": 8 * GROUP,
        "reduce": KEPT["reduce"],
        "reduce_times": 3,
    }
    killed = []

    def kill(fraction):
        """Kill a busy worker as soon as the first result has arrived."""
        if not killed:
            pids = client.run(os.getpid)
            busy = [worker for worker, keys in client.processing().items() if keys]
            killed.append(pids[busy[0]])
            os.kill(killed[0], signal.SIGKILL)

    there = ph.solve_ensemble(top, SPAN, **given, chunk=GROUP, client=client, progress=kill)
    assert killed
    assert same(ph.solve_ensemble(top, SPAN, **given), there)
    client.wait_for_workers(2, timeout=20)
    assert killed[0] not in client.run(os.getpid).values()


def test_an_error_in_a_chunk_names_its_members(client, top):
    moments = np.tile([5.0, 5.0, 1.0], (2 * GROUP, 1))
    moments[1500] = 1.0, 1.0, 9.0
    with pytest.raises(ph.InputError, match=r"members 1024 to 2047: member 1500: .*inertia"):
        ph.solve_ensemble(
            top, SPAN, vary={"inertia": moments}, method="mr2", dt=0.1, chunk=GROUP, client=client
        )
    assert idle(client)


def test_any_other_error_names_its_members(client, top, monkeypatch):
    monkeypatch.setattr("polhode.ensembles.dask_cluster.run_piece", lambda *args: 1 / 0)
    with pytest.raises(ClusterError, match="members 0 to 99: ZeroDivisionError"):
        ph.solve_ensemble(top, SPAN, members=100, **ASKED, client=client)


def test_another_version_is_refused(client, top, monkeypatch):
    monkeypatch.setattr("polhode.ensembles.dask_cluster.__version__", "0.0")
    with pytest.raises(ph.InputError, match=r"a worker has polhode .*, but the client has 0\.0"):
        ph.solve_ensemble(top, SPAN, members=100, **ASKED, client=client)


def test_an_interrupt_cancels_the_running_chunks(client, top):
    def stop(fraction):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ph.solve_ensemble(
            top, SPAN, members=20 * GROUP, **ASKED, chunk=GROUP, client=client, progress=stop
        )
    assert idle(client)


def test_a_client_is_a_client_or_an_address(top, monkeypatch, tmp_path):
    with pytest.raises(ph.InputError, match=r"client must be a dask.distributed.Client .* got 3"):
        ph.solve_ensemble(top, SPAN, members=10, **ASKED, client=3)
    monkeypatch.setattr("polhode.ensembles.dask_cluster.PATIENCE", 0.2)
    store = tmp_path / "a.zarr"
    with pytest.raises(ph.InputError, match="no scheduler answers there"):
        ph.solve_ensemble(top, SPAN, members=10, **ASKED, client="tcp://127.0.0.1:1", out=store)
    assert not store.exists()
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ph.InputError, match=r"pip install 'polhode\[dask\]'"):
        ph.solve_ensemble(top, SPAN, members=10, **ASKED, client="tcp://127.0.0.1:1")


def test_a_scheduler_without_workers_is_refused(top, monkeypatch):
    monkeypatch.setattr("polhode.ensembles.dask_cluster.PATIENCE", 0.2)
    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as empty,
        pytest.raises(ph.InputError, match="has no workers"),
    ):
        ph.solve_ensemble(top, SPAN, members=10, **ASKED, client=empty.scheduler_address)
