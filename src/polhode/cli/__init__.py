"""The command line: one file for each command, assembled in ``main``."""
