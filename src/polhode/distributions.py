"""Distributions to draw ensembles from: the public name of ``polhode.ensembles.distributions``."""

import sys

from polhode.ensembles import distributions

sys.modules[__name__] = distributions
