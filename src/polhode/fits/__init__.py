"""Fits: the state, the body and the parameters of a model from observations of the motion."""
