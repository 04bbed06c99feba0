"""A body that you can push: a box hovers in a browser while the simulation runs.

``sim.view()`` opens a page that follows the simulator.  Take the box with the mouse and pull it: a
spring holds it, and it returns to its place when you let go.  ``python examples/live.py 60`` runs
for a minute, Ctrl-C ends it; without a number it runs for a second and opens no page.
"""

import math
import sys

import polhode as ph

MASS, GRAVITY, HEIGHT = 12.0, 9.80665, 1.0  # kg, m/s², m

box = ph.RigidBody.from_shapes(ph.shapes.box((0.6, 0.4, 0.3), mass=MASS))
sim = ph.Simulator(
    box,
    model=ph.models.uniform_gravity(),
    attitude=[math.cos(0.3), math.sin(0.3), 0.0, 0.0],  # tilted by 0.6 rad
    scalar_first=True,
    omega=(0.0, 0.5, 1.0),
    position=(0.0, 0.0, HEIGHT),
    record=True,
)


def hover(sim):
    """Apply a thrust that carries the box to its place, and torques that level it."""
    state = sim.state
    away = state.x - (0.0, 0.0, HEIGHT)
    sim.apply_force(MASS * (-4.0 * away - 2.5 * state.v + (0.0, 0.0, GRAVITY)))
    up = state.to_body((0.0, 0.0, 1.0))
    sim.apply_torque((-2.0 * up[1] - 0.6 * state.omega[0], 2.0 * up[0] - 0.6 * state.omega[1], 0.0))


seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
with sim.view(title="Push the box", browser=len(sys.argv) > 1) as live:
    print("the page is at", live.address)
    state = live.run(seconds, before=hover)

print(sim.trajectory())
if len(sys.argv) == 1:  # nobody has pushed it
    assert abs(state.x - (0.0, 0.0, HEIGHT)).max() < 1e-9
    assert state.to_inertial((0.0, 0.0, 1.0))[2] > math.cos(0.6)
