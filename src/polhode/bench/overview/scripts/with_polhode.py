from scipy.spatial.transform import Rotation

import polhode as ph

problem = ph.Problem(
    ph.RigidBody((1.0, 1.6, 2.2)),
    ph.models.heavy_top(1.0, centre=(4.0, -3.0, 12.0)),
    attitude=Rotation.from_rotvec((1.1, 0.4, -0.3)),
    omega=(1.0, 6.0, 2.0),
)
run = ph.solve(problem, (0.0, 8.0), rtol=1e-11)
print(*run.q[-1])
