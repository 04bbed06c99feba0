"""Two black holes with spins, and the frame that precesses with them (Boyle 2017, section I).

The frame has its third axis along the orbital angular momentum ℓ, and follows the motion of the
holes.  Its angular velocity depends on the orbit and on the spins, which precess about ℓ: attitude,
orbital speed v and spins are one system of equations.  With the total mass as the unit, the
reduced mass ν and the difference of the masses δ, to leading post-Newtonian order,

    S1' = v⁵ (3/4 + ν/2 - 3δ/4) ℓ × S1,    S2' = v⁵ (3/4 + ν/2 + 3δ/4) ℓ × S2        (1)
    L = ν/v,    L ℓ' = -(S1' + S2'),    ω = v³ ℓ + ℓ × ℓ',    v' = 32/5 ν v⁹          (2)

(Kidder 1995).  Without radiation, v' = 0, J = L ℓ + S1 + S2 is constant.
"""

import numpy as np
from matplotlib.figure import Figure

import polhode as ph
from polhode import plot
from polhode.kernels.quaternion import to_inertial
from polhode.kernels.vector import add, add_scaled, cross, multiply
from polhode.plot import style

NU, DELTA = 0.24, 0.2
START = {"v": 0.2, "S1": (0.1, 0.05, 0.08), "S2": (-0.04, 0.06, 0.02)}
END = 2e4  # times the total mass


def precession(q, y, params):
    """Return ℓ, S1', S2' of (1)."""
    nu, delta, _ = params
    v, s1, s2 = y
    axis, rate = to_inertial(q, (0.0, 0.0, 1.0)), v**5
    d1 = multiply(rate * (0.75 + 0.5 * nu - 0.75 * delta), cross(axis, s1))
    d2 = multiply(rate * (0.75 + 0.5 * nu + 0.75 * delta), cross(axis, s2))
    return axis, d1, d2


def omega(t, q, y, params):
    axis, d1, d2 = precession(q, y, params)
    v = y[0]
    change = multiply(-v / params[0], add(d1, d2))
    return add_scaled(cross(axis, change), v * v * v, axis)  # (2)


def slope(t, q, y, params):
    _, d1, d2 = precession(q, y, params)
    return params[2] * 6.4 * params[0] * y[0] ** 9, d1, d2


def inspiral(radiates, method, rtol):
    return ph.integrate_angular_velocity(
        omega, (0, END), frame="inertial", variables=START, slope=slope,
        params=(NU, DELTA, radiates), method=method, rtol=rtol,
    )  # fmt: skip


def momentum(run):
    """Return (L ℓ, J)."""
    orbital = NU / run.variables["v"][:, None] * run.to_inertial([0.0, 0.0, 1.0])
    return orbital, orbital + run.variables["S1"] + run.variables["S2"]


for method in ("vern9", "extrapolation"):
    run = inspiral(0.0, method, 1e-13)
    _, total = momentum(run)
    kept = np.abs(total - total[0]).max()
    print(f"without radiation, {method}: {run.nsteps} steps, J kept to {kept:.0e}")
    assert kept < 1e-12

run, other = inspiral(1.0, "extrapolation", 1e-13), inspiral(1.0, "vern9", 1e-13)
print(run)
apart = run[-1].frame_error(other[-1])[0]
print(f"with radiation: v from {START['v']} to {run.variables['v'][-1]:.6f}", end="; ")
print(f"two integrators agree to {apart:.0e}")
assert apart < 1e-12
run.save("precessing_binary.nc")

fine = run.sol(np.linspace(0, END, 4001))
orbital, total = momentum(fine)
sheet = Figure(figsize=(10, 3.6), layout="constrained")
left, right = sheet.subplots(1, 2)
style.dress(left, "Direction of the orbital momentum", "x", "y")
axis = orbital / np.linalg.norm(orbital, axis=1, keepdims=True)
left.plot(axis[:, 0], axis[:, 1], color=style.BLUE, linewidth=1, label="ℓ")
direction = total / np.linalg.norm(total, axis=1, keepdims=True)
left.plot(direction[:, 0], direction[:, 1], color=style.RED, linewidth=2, label="J / |J|")
left.set_aspect("equal")
style.legend(left, "inside")
style.dress(right, "Spins, inertial axes", "time (total mass)")
for name, colour in (("S1", style.GREEN), ("S2", style.ORANGE)):
    for k, line in enumerate(("-", "--", ":")):
        right.plot(
            fine.t, fine.variables[name][:, k], line, color=colour, linewidth=1,
            label=f"{name} {'xyz'[k]}",
        )  # fmt: skip
style.legend(right, "beside the axes")
plot.save(left, "precessing_binary.png", dpi=130)
