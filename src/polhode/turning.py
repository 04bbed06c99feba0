"""Given motions: the public name of ``polhode.problems.given_motions``."""

import sys

from polhode.problems import given_motions

sys.modules[__name__] = given_motions
