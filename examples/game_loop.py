"""A loop of your own: a box on four thrusters levels itself, is hit, and levels itself again.

The frames of the loop are uneven, as in a game.  Each frame computes the thrust from the state,
applies it and makes a step.  Gravity is a model, so it is evaluated within the step.
From t = 3 s to 4 s, somebody pushes a corner, and at t = 6 s a ball hits the box: both are jumps,
across which no force must be extrapolated.
"""

import math

import numpy as np

import polhode as ph

MASS, SIZE, GRAVITY = 12.0, (0.6, 0.4, 0.3), 9.80665  # kg, m, m/s²
STRONGEST, HEIGHT = 60.0, 2.0  # N per thruster, m to hover at
KICK, SPIN = np.array([1.0, 0.0, 0.0]), np.array([1.0, 2.0, 0.0])  # from the ball: m/s, rad/s
CORNERS = [(x, y, -0.15) for x in (-0.3, 0.3) for y in (-0.2, 0.2)]

box = ph.RigidBody.from_shapes(ph.shapes.box(SIZE, mass=MASS))
sim = ph.Simulator(
    box,
    model=ph.models.uniform_gravity(),
    attitude=[math.cos(0.3), math.sin(0.3), 0.0, 0.0],  # tilted by 0.6 rad
    scalar_first=True,
    omega=(0.0, 0.5, 1.0),
    position=(0.0, 0.0, 1.0),
    extrapolation=1,
)


def thrusts(state):
    """Return the thrust of each thruster, from height and tilt."""
    up = state.to_body((0.0, 0.0, 1.0))
    lift = MASS * (GRAVITY + 4.0 * (HEIGHT - state.x[2]) - 4.0 * state.v[2]) / max(up[2], 0.5)
    turn_x, turn_y, _ = 12.0 * np.cross((0.0, 0.0, 1.0), up) - 4.0 * state.omega
    found = (lift / 4 + turn_x * y / 0.16 - turn_y * x / 0.36 for x, y, _ in CORNERS)
    return [min(max(f, 0.0), STRONGEST) for f in found]


def tilt(state):
    """Return the angle between the axis of the box and the vertical in degrees."""
    return math.degrees(math.acos(min(1.0, state.to_inertial((0.0, 0.0, 1.0))[2])))


frames = np.random.default_rng(7)
pushed, hit, state, line = False, False, sim.state, 0.0
print("  time   height  tilt    thrust of each")
while sim.t < 10.0:
    if sim.t >= 6.0 and not hit:
        hit = True
        state = sim.set_state(velocity=state.v + KICK, omega=state.omega + SPIN)
    if (3.0 <= sim.t < 4.0) != pushed:
        pushed = not pushed
        sim.break_history()
    if pushed:
        sim.apply_force((0.0, 15.0, 0.0), at=(0.3, 0.2, 0.15))
    given = thrusts(state)
    for force, corner in zip(given, CORNERS, strict=True):
        sim.apply_force((0.0, 0.0, force), at=corner, frame="body")
    sim.apply_torque((0.0, 0.0, -2.0 * state.omega[2]))  # a reaction wheel that stops the yaw
    if sim.t >= line:
        line += 0.5
        words = "  ".join(f"{force:4.1f}" for force in given)
        print(f"{sim.t:6.2f} {state.x[2]:6.3f} m {tilt(state):5.1f}°  {words} N")
    state = sim.step(frames.uniform(0.7, 1.3) / 60)

print(sim.trajectory())  # the last second or so, which rewind() could still undo
assert abs(state.x[2] - HEIGHT) < 0.01
assert tilt(state) < 0.5
