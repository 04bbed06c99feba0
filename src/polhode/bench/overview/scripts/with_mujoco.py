import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

mass, weight = 1e4, np.array([4.0, -3.0, 12.0])
centre = weight / mass
about_centre = np.diag([1.0, 1.6, 2.2]) - mass * (
    centre @ centre * np.eye(3) - np.outer(centre, centre)
)
(xx, xy, xz), (_, yy, yz), (_, _, zz) = about_centre
model = mujoco.MjModel.from_xml_string(f"""
<mujoco>
  <option gravity="0 0 -1" integrator="RK4" timestep="{8.0 / 12800}"/>
  <worldbody>
    <body>
      <joint type="ball"/>
      <inertial pos="{centre[0]} {centre[1]} {centre[2]}" mass="{mass}"
        fullinertia="{xx} {yy} {zz} {xy} {xz} {yz}"/>
    </body>
  </worldbody>
</mujoco>""")
data = mujoco.MjData(model)
data.qpos[:] = Rotation.from_rotvec((1.1, 0.4, -0.3)).as_quat(scalar_first=True)
data.qvel[:] = 1.0, 6.0, 2.0
mujoco.mj_step(model, data, 12800)
print(*data.qpos)
