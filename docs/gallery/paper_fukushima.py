r"""Fukushima's departures.

Figure 1 of Fukushima (1995): a rigid Earth, turned by Sun and Moon, and how the error of its
orientation grows. Each step rounds the momentum, which so walks at random, and the angle of rotation sums
its errors once more: after $N$ revolutions the error of Euler's angles is about

$$
\varepsilon \propto u\,N^{3/2} , \qquad u = 2^{-53} .
$$

The variables of Serret and Andoyer begin with a larger one, since two of their angles are hardly defined
while the axis of rotation is so close to that of the figure. Fukushima integrates small
*departures* from a uniform rotation instead, and adds the rotation at the end. After {{turns}}
revolutions its error is still {{departures}} rad; that of Euler's angles is {{euler}} rad. The
method is Adams's of order 12 with 128 steps a revolution, as in the paper, and the errors are those
against references with 113 bits. The [page of the paper](../papers/fukushima1995.md) says where the rounding errors
arise, and how other variables avoid them.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph
from polhode.celestial.model_orbits import orientation_error, truth

TURNS, A_TURN = 32768, 128  # quick: 128, 128
earth = ph.celestial.rigid_earth_model()
labels = {
    "serret-andoyer": "Serret–Andoyer",
    "euler-angles": "Euler's angles",
    "fukushima": "new variables as such",
    "fukushima-departures": "new variables as departures",
}
FORMULATIONS = list(labels)  # quick: ["euler-angles", "fukushima-departures"]


def integrated(formulation):
    """The attitude after each revolution."""
    return ph.solve(
        earth, (0, TURNS), method="adams", dt=1 / A_TURN, save_every=A_TURN,
        formulation=formulation, options={"compensated": False},
    )  # fmt: skip


known = {n: q for n, (q, _) in truth(earth.name).items() if n in 2 ** np.arange(16) and n <= TURNS}
errors = {}
for name in FORMULATIONS:
    ends = integrated(name).q
    errors[name] = np.array([orientation_error(ends[n], q) for n, q in known.items()])
run = ph.solve(earth, (0, 2), rtol=1e-9)
view = {"show": {"poinsot": False}}

# ---- picture
# Errors over revolutions, both logarithmic: two lines rise with a slope of about 3/2 from 1e-15 to 1e-8 and
# above, that of Serret and Andoyer from 1e-10 to 1e-7; the departures stay near 1e-16.
fig, ax = plt.subplots(figsize=(6.6, 4.2))
turns = np.array(list(known))
for name, mark in zip(FORMULATIONS, "vsDo", strict=False):
    ax.loglog(turns, np.maximum(errors[name], 1e-17), marker=mark, markersize=4, label=labels[name])
ax.set(title="A rigid Earth", xlabel="revolutions", ylabel="error (rad)", ylim=(1e-17, 1e-5))
ax.legend()
plt.show()

# ---- checks
late = turns >= TURNS / 256
growth = np.polyfit(np.log(turns[late]), np.log(errors["euler-angles"][late]), 1)[0]
checks = {
    "departures, rad, against 113 bits": (errors["fukushima-departures"].max(), 1e-15),
    "exponent of the growth of Euler's angles, against 3/2": (abs(growth - 1.5), 0.5),
    "departures over Euler's angles at the end": (
        errors["fukushima-departures"][-1] / errors["euler-angles"][-1],
        1e-3,
    ),
}
measured = {
    "turns": f"{TURNS:,}".replace(",", " "),
    "departures": f"{errors['fukushima-departures'][-1]:.0e}",
    "euler": f"{errors['euler-angles'][-1]:.0e}",
}
