"""Killed runs, ensembles, stores and workers: they end with the bits of those left alone.

The ordinary tests kill each of these once: ``tests/solvers/test_checkpoint.py``,
``tests/ensembles/test_ensemble_checkpoint.py`` and ``test_cluster.py``.
"""

import logging
import os
import random
import shutil
import signal

import pytest

import polhode as ph
from polhode.ensembles.dask_cluster import local
from polhode.ensembles.distributions import GROUP
from support import killed, killed_ensembles
from support.campaigns import SEED

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "helper"), [("killed runs", killed), ("killed ensembles", killed_ensembles)]
)
def test_kills(campaign, tmp_path, name, helper):
    """Rounds of all cases, killed at random and at operations; a round is one process."""
    made, number = campaign(name, 0, 200), 0
    while made.counts["kills"] < made.size:
        place, number = tmp_path / str(number), number + 1
        place.mkdir()
        lives = killed.kill(helper.__name__, place, 1_000_000 * SEED + number)
        for case, found in lives.items():
            made.counts["kills"] += sum(found) - len(found)
            made.counts[f"kills of {case}"] += sum(found) - len(found)
            made.counts["resumed"] += len(found)
        try:
            helper.compare(place)
        except AssertionError as error:
            made.fail(f"{name}, round {number}: {error}")
        shutil.rmtree(place)
    made.close()


def test_killed_workers(campaign, tmp_path):
    """One worker of two dies in each ensemble, at a random report; states go to a store."""
    made, chance = campaign("killed workers", 0, 10), random.Random(SEED)
    given = {**killed_ensembles.MAP, "save": 30, "reduce": "mean(omega)", "reduce_times": 4}
    given |= {"vary": {"omega": killed_ensembles.SPINS["omega"]}, "members": 6 * GROUP}
    here = ph.solve_ensemble(killed_ensembles.TOP, (0.0, 4.0), **given)
    while made.counts["kills"] < made.size:
        with local(2, logging.CRITICAL) as client:  # Dask does not restart workers for ever
            for _ in range(5):
                kill_one(made, client, chance, tmp_path / "tops.zarr", given, here)
                client.wait_for_workers(2, timeout=120)
    made.close()


def kill_one(made, client, chance, place, given, here):
    """Run an ensemble, and kill one of its workers at a random report."""
    ready, done = chance.randrange(3), []

    def kill(fraction):
        done.append(fraction)
        busy = [worker for worker, keys in client.processing().items() if keys]
        if len(done) > ready and done.count(None) == 0 and busy:
            os.kill(client.run(os.getpid)[chance.choice(busy)], signal.SIGKILL)
            done.append(None)
            made.counts["kills"] += 1

    asked = {**given, "client": client, "progress": kill, "out": place}
    there = ph.solve_ensemble(killed_ensembles.TOP, (0.0, 4.0), **asked)
    made.counts["ensembles"] += 1
    for result in (there, ph.load(place)):
        try:
            killed_ensembles.same(result, here)
        except AssertionError as error:
            made.fail(f"ensemble {made.counts['ensembles']}: {error}")
    shutil.rmtree(place)
