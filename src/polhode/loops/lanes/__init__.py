"""Many bodies at once: blocks in SIMD lanes, the very functions of one body.

``blocks``    how bodies lie in memory, and how blocks are shared out to threads
``fixed``     loops of maps, and of integrators with fixed steps
``adaptive``  loops of integrators in which every body has a time and a step of its own

A body sees the operations that it would see alone, whatever its neighbours do: results are equal to
single runs to the last bit, and do not depend on blocks or threads.
"""
