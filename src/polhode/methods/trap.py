"""Trapezoidal rule TRAP (Krysl 2006, eq. 14): half a forward, then half a backward Euler step.

With k = h/2 and (q₁, m₁) the forward Euler step of size k from (q, m),

    m' = m + k (m x I⁻¹ m + T + m' x I⁻¹ m' + T'),    q' = q exp(k I⁻¹ m) exp(k I⁻¹ m')  (1)
    (q', m') = backward Euler step of size k from (q₁, m₁)                               (2)

Second order, symmetric, implicit.  Without torque it conserves the energy at the middle of the
step, not at its ends: it is conjugate to ``imid``.
"""

from typing import Any

from polhode.contracts import Method
from polhode.methods import backward_euler, forward_euler


def halves(first: Any, last: Any) -> dict[str, Any]:
    """Make half a step of an explicit method, then half a step of an implicit one."""
    forward, begin, correct, end = first.step, last.guess, last.improve, last.finish

    def guess(t, h, state, carry, body, params):
        k = h / 2
        middle, lost = forward(t, k, state, carry[1], body, params)
        x, size = begin(t + k, k, middle, carry, body, params)
        return x, middle, lost, size

    def improve(t, h, unknown, state, body, params):
        x, middle, lost, size = unknown
        k = h / 2
        (x, size), done = correct(t + k, k, (x, size), middle, body, params)  # (2)
        return (x, middle, lost, size), done

    def finish(t, h, unknown, state, carry, body, params):
        x, middle, lost, size = unknown
        k = h / 2
        return end(t + k, k, (x, size), middle, (carry[0], lost), body, params)

    return {"start": last.start, "guess": guess, "improve": improve, "finish": finish}


PLACE = 50
METHOD = Method(
    name="trap",
    title="trapezoidal rule TRAP",
    order=2,
    symmetric=True,
    compensates=True,
    torques_at_start=1,
    torques_per_step=1,
    torques_per_iteration=1,
    references=("krysl2006",),
    **halves(forward_euler.METHOD, backward_euler.METHOD),
)
