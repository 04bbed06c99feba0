"""DOP853: Dormand and Prince's Runge-Kutta method of order 8 in Hairer's form.

Twelve slopes per step; two error estimates, of order 5 and 3, together fall as h to the 8.  Dense
output: with the slopes k, the slope k13 at the end of the step and three more, at x = (s - t)/h,

    y(x) = y + x (F1 + (1-x) (F2 + x (F3 + (1-x) (F4 + x (F5 + (1-x) (F6 + x F7))))))  (1)
    F1 = y' - y,  F2 = h k1 - F1,  F3 = 2 F1 - h (k13 + k1),  F4 … F7 = h Σ d_ij k_j

of order 7, with four more evaluations for each step with output inside.
"""

from polhode.compiler.machine import combined
from polhode.contracts import Integrator, slope
from polhode.integrators._runge_kutta import combination, explicit, moved, of_two, stages_of
from polhode.tableaus.dop853 import DENSE, DOP853, ERROR3, ERROR5, MORE, MORE_NODES


def _floats(row):
    return tuple(map(float, row))


_A, _B, _C = DOP853.converted(float)
_STAGES, _TOTAL = stages_of(_A, _C), combination(_B)
_MORE = tuple(combination(_floats(row)) for row in MORE)
_M1, _M2, _M3 = _MORE
_C1, _C2, _C3 = _floats(MORE_NODES)
_D4, _D5, _D6, _D7 = (combination(_floats(row)) for row in DENSE)


def fit(t, h, state, carry, new, body, params):
    ks = _STAGES(t, h, state, slope(t, state, body, params), body, params)
    end = moved(state, h, _TOTAL(ks))  # not ``new``, which may have been reset
    ks = (*ks, slope(t + h, end, body, params))
    ks = (*ks, slope(t + _C1 * h, moved(state, h, _M1(ks)), body, params))
    ks = (*ks, slope(t + _C2 * h, moved(state, h, _M2(ks)), body, params))
    ks = (*ks, slope(t + _C3 * h, moved(state, h, _M3(ks)), body, params))
    f1 = combined((1.0, -1.0), (end, state))
    f2 = combined((h, -1.0), (ks[0], f1))
    f3 = combined((2.0, -h, -h), (f1, ks[12], ks[0]))
    f4, f5 = combined((h,), (_D4(ks),)), combined((h,), (_D5(ks),))
    f6, f7 = combined((h,), (_D6(ks),)), combined((h,), (_D7(ks),))
    return (f1, f2, f3, f4, f5, f6, f7), 16


def read(x, h, state, fitted):
    f1, f2, f3, f4, f5, f6, f7 = fitted
    z = 1.0 - x
    f = combined((1.0, x), (f6, f7))  # (1), from the inside
    f = combined((1.0, z), (f5, f))
    f = combined((1.0, x), (f4, f))
    f = combined((1.0, z), (f3, f))
    f = combined((1.0, x), (f2, f))
    f = combined((1.0, z), (f1, f))
    return combined((1.0, x), (state, f))


PLACE = 30
INTEGRATOR = Integrator(
    name="dop853",
    title="Dormand-Prince 8(5,3)",
    order=8,
    dense_order=7,
    tightest=1e-15,
    references=("hairer1993",),
    fit=fit,
    read=read,
    **explicit(DOP853, of_two(_floats(ERROR5), _floats(ERROR3)), 8),
)
