"""Reductions of ensembles: the public name of ``polhode.ensembles.reductions``."""

import sys

from polhode.ensembles import reductions

sys.modules[__name__] = reductions
