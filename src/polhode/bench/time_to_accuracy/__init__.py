"""Time to a given accuracy, against heyoka's Taylor integrator: one benchmark, several sets.

``race`` times the runs of a problem, ``heyoka`` sets up the peer, and every other file is a set of
problems with a record of its own.
"""
