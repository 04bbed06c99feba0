"""The size of a campaign: small and in plain Python, unless ``--slow`` is given."""

import os

import pytest

from support.campaigns import Campaign


@pytest.fixture
def campaign(request):
    """Make a campaign of ``quick`` or, with --slow, of POLHODE_CAMPAIGN (``default``) things."""

    def begin(name, quick, default):
        if request.config.getoption("--slow"):
            return Campaign(name, int(os.environ.get("POLHODE_CAMPAIGN", default)))
        request.getfixturevalue("plain")
        return Campaign(name, quick)

    return begin
