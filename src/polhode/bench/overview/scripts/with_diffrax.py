import diffrax
import jax
import jax.numpy as jnp
from scipy.spatial.transform import Rotation

jax.config.update("jax_enable_x64", True)
i1, i2, i3 = 1.0, 1.6, 2.2
c1, c2, c3 = 4.0, -3.0, 12.0


def slope(t, state, args):
    w, x, y, z, a, b, c = state
    g1, g2 = 2 * (x * z - w * y), 2 * (y * z + w * x)
    g3 = w * w + z * z - x * x - y * y
    return jnp.array(
        [
            -0.5 * (x * a + y * b + z * c),
            0.5 * (w * a + y * c - z * b),
            0.5 * (w * b + z * a - x * c),
            0.5 * (w * c + x * b - y * a),
            ((i2 - i3) * b * c + c3 * g2 - c2 * g3) / i1,
            ((i3 - i1) * c * a + c1 * g3 - c3 * g1) / i2,
            ((i1 - i2) * a * b + c2 * g1 - c1 * g2) / i3,
        ]
    )


q = Rotation.from_rotvec((1.1, 0.4, -0.3)).as_quat(scalar_first=True)
start = jnp.array([*q, 1.0, 6.0, 2.0])
controller = diffrax.PIDController(rtol=1e-12, atol=1e-12)
term, method = diffrax.ODETerm(slope), diffrax.Dopri8()
run = diffrax.diffeqsolve(
    term, method, 0.0, 8.0, 0.01, start, stepsize_controller=controller, max_steps=100_000
)
print(*run.ys[0, :4])
