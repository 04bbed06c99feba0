import heyoka as hy
from scipy.spatial.transform import Rotation

i1, i2, i3 = 1.0, 1.6, 2.2
c1, c2, c3 = 4.0, -3.0, 12.0
w, x, y, z, a, b, c = hy.make_vars("w", "x", "y", "z", "a", "b", "c")
g1, g2 = 2 * (x * z - w * y), 2 * (y * z + w * x)
g3 = w * w + z * z - x * x - y * y
system = [
    (w, -0.5 * (x * a + y * b + z * c)),
    (x, 0.5 * (w * a + y * c - z * b)),
    (y, 0.5 * (w * b + z * a - x * c)),
    (z, 0.5 * (w * c + x * b - y * a)),
    (a, ((i2 - i3) * b * c + c3 * g2 - c2 * g3) / i1),
    (b, ((i3 - i1) * c * a + c1 * g3 - c3 * g1) / i2),
    (c, ((i1 - i2) * a * b + c2 * g1 - c1 * g2) / i3),
]
q = Rotation.from_rotvec((1.1, 0.4, -0.3)).as_quat(scalar_first=True)
solver = hy.taylor_adaptive(system, [*q, 1.0, 6.0, 2.0], tol=1e-11, fast_math=True)
solver.propagate_until(8.0)
print(*solver.state[:4])
