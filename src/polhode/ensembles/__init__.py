"""Ensembles: many bodies at once, in chunks, on many machines, stored and resumed."""
