import numba
import rebound
from numba import types
from scipy.spatial.transform import Rotation

i1, i2, i3 = 1.0, 1.6, 2.2
c1, c2, c3 = 4.0, -3.0, 12.0
numbers = types.CPointer(types.double)


@numba.cfunc(types.void(types.voidptr, numbers, numbers, types.double))
def slope(ode, out, state, t):
    w, x, y, z = state[0], state[1], state[2], state[3]
    a, b, c = state[4], state[5], state[6]
    g1, g2 = 2 * (x * z - w * y), 2 * (y * z + w * x)
    g3 = w * w + z * z - x * x - y * y
    out[0] = -0.5 * (x * a + y * b + z * c)
    out[1] = 0.5 * (w * a + y * c - z * b)
    out[2] = 0.5 * (w * b + z * a - x * c)
    out[3] = 0.5 * (w * c + x * b - y * a)
    out[4] = ((i2 - i3) * b * c + c3 * g2 - c2 * g3) / i1
    out[5] = ((i3 - i1) * c * a + c1 * g3 - c3 * g1) / i2
    out[6] = ((i1 - i2) * a * b + c2 * g1 - c1 * g2) / i3


sim = rebound.Simulation()
sim.integrator = "bs"
sim.integrator.eps_abs = sim.integrator.eps_rel = 1e-12
sim.dt = 0.1
ode = sim.create_ode(length=7, needs_nbody=False)
ode._derivatives = rebound.ode.ODEDER(slope.address)
q = Rotation.from_rotvec((1.1, 0.4, -0.3)).as_quat(scalar_first=True)
for k, value in enumerate([*q, 1.0, 6.0, 2.0]):
    ode.y[k] = value
sim.integrate(8.0)
print(*ode.y[:4])
