"""Options and seeded generators shared by the tests."""

import numpy as np
import pytest


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the long reproductions")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    skip = pytest.mark.skip(reason="long reproduction: run with --slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def rng():
    return np.random.default_rng(20060420)
