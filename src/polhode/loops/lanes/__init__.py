"""Many bodies at once: blocks in SIMD lanes, with the same functions as for one body.

``blocks``    the layout of bodies in memory, and how blocks are distributed over threads
``fixed``     loops of maps, and of integrators with fixed steps
``adaptive``  loops of integrators in which every body has its own time and step

Each body goes through the operations it would go through alone, whatever its neighbours do: results
equal those of single runs to the last bit, and do not depend on blocks or threads.
"""
