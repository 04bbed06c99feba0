r"""Fukushima's departures.

Figure 1 of Fukushima (1995): a rigid Earth, turned by Sun and Moon, and how the error of its
orientation grows. Euler's angles and the variables of Serret and Andoyer contain the angle of rotation,
which grows without bound, so each step rounds it off: after $N$ revolutions the error is about

$$
\varepsilon \propto u\,N^{3/2} , \qquad u = 2^{-53} ,
$$

because errors of the momentum are summed once more by the angle. Fukushima integrates small
*departures* from a uniform rotation instead, and adds the rotation at the end. After {{turns}}
revolutions its error is still {{departures}} rad; that of Euler's angles is {{euler}} rad. The
method is Adams's of order 12 with 128 steps a revolution, as in the paper, and the errors are those
against references with 113 bits. The [page of the paper](../papers/fukushima1995.md) goes to 33 000 revolutions.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph
from polhode.celestial.model_orbits import orientation_error, truth

TURNS, A_TURN = 2048, 128  # quick: 32, 128
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
        formulation=formulation, compensated=False,
    )  # fmt: skip


known = {n: q for n, (q, _) in truth(earth.name).items() if 0 < n <= TURNS}
errors = {}
for name in FORMULATIONS:
    ends = integrated(name).q
    errors[name] = np.array([orientation_error(ends[n], q) for n, q in known.items()])
run = ph.solve(earth, (0, 2), rtol=1e-9)
view = {"show": {"poinsot": False}}

# ---- picture
# Errors over revolutions, both logarithmic: three lines rise with a slope of about 3/2, to 1e-10; the
# departures stay near 1e-16.
fig, ax = plt.subplots(figsize=(6.6, 4.2))
turns = np.array(list(known))
for name, mark in zip(FORMULATIONS, "vsDo", strict=False):
    ax.loglog(turns, np.maximum(errors[name], 1e-17), marker=mark, markersize=4, label=labels[name])
ax.set(title="A rigid Earth", xlabel="revolutions", ylabel="error (rad)", ylim=(1e-17, 1e-8))
ax.legend()
plt.show()

# ---- checks
late = turns >= TURNS / 16
growth = np.polyfit(np.log(turns[late]), np.log(errors["euler-angles"][late]), 1)[0]
checks = {
    "departures, rad, against 113 bits": (errors["fukushima-departures"].max(), 1e-15),
    "growth of Euler's angles, against 3/2": (abs(growth - 1.5), 0.7),
    "departures over Euler's angles at the end": (
        errors["fukushima-departures"][-1] / errors["euler-angles"][-1],
        0.3,
    ),
}
measured = {
    "turns": f"{TURNS}",
    "departures": f"{errors['fukushima-departures'][-1]:.0e}",
    "euler": f"{errors['euler-angles'][-1]:.0e}",
}
