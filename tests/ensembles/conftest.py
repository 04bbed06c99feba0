"""One large ensemble for all tests."""

import pytest

from support.ensembles import solve_many


@pytest.fixture(scope="session")
def many():
    return solve_many()
