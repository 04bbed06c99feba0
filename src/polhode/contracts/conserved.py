"""What a motion may conserve, and by how much a run changes it."""

from typing import Any


def is_free(run: Any) -> bool:
    """Return whether the problem has no torque at all."""
    exact = getattr(run, "method", "") == "exact free motion"
    return exact or getattr(run, "problem", {}).get("model") == "free"


def changes(run: Any) -> dict[str, Any]:
    """Relative changes since the start of what the motion may conserve, by name.

    The energy, if a potential is known.  The angular momentum in inertial axes if there is no
    torque; otherwise its component along z, which any torque symmetric about z conserves.  With a
    position only the energy, if it is known.  Nothing without a body.
    """
    result: dict[str, Any] = {}
    if run.angular_momentum_inertial is None:
        return result
    if run.energy is not None:
        result["energy"] = abs(run.energy - run.energy[0]) / _size(run.energy)
    if result and getattr(run, "x", None) is not None and not is_free(run):
        return result
    m = run.angular_momentum_inertial
    size = float((m[0] ** 2).sum()) ** 0.5 or 1.0
    if is_free(run):
        result["momentum"] = ((m - m[0]) ** 2).sum(axis=1) ** 0.5 / size
    else:
        result["momentum along z"] = abs(m[:, 2] - m[0, 2]) / size
    return result


def _size(values: Any) -> float:
    return float(abs(values[0]) or abs(values).max() or 1.0)
