"""Errors of attitudes, which are columns of quaternions or single ones."""

import numpy as np


def angle(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the angles between attitudes, accurate also where they are small."""
    p, q = p / np.linalg.norm(p, axis=0), q / np.linalg.norm(q, axis=0)
    chord = np.minimum(np.linalg.norm(p - q, axis=0), np.linalg.norm(p + q, axis=0))
    return np.asarray(4.0 * np.arcsin(np.minimum(1.0, chord / 2.0)))


def rms_angle(p: np.ndarray, q: np.ndarray) -> float:
    """Return the root mean square of the angles between attitudes."""
    return float(np.sqrt(np.mean(angle(p, q) ** 2)))
