"""Problems to fit, with observations of known truth; all share the code of one model."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

METHOD = {"method": "mr2", "dt": 0.05}
TIMES = np.arange(1, 41) * 0.05
SPAN = 0.0, 2.0


def top(moments=(2.0, 3.0, 4.5), strength=1.5, omega=(2.0, 3.0, 4.0), attitude=None):
    """A heavy top, or with a tensor of inertia the same in other axes."""
    return ph.Problem(
        ph.RigidBody(moments), ph.models.heavy_top(strength), attitude=attitude, omega=omega
    )


@dataclass
class Observed:
    """A motion, and noisy observations of it."""

    truth: ph.Problem
    run: ph.Trajectory
    rng: np.random.Generator

    def attitudes(self, sigma=1e-3, **options):
        noise = Rotation.from_rotvec(sigma * self.rng.normal(size=(len(self.run), 3)))
        return ph.observe.attitudes(self.run.t, self.run.rotation * noise, sigma=sigma, **options)

    def rates(self, sigma=1e-3, offset=0.0, **options):
        noise = sigma * self.rng.normal(size=self.run.omega.shape)
        return ph.observe.rates(self.run.t, self.run.omega + offset + noise, sigma=sigma, **options)


def observed(truth, rng, times=TIMES, span=SPAN, **method):
    run = ph.solve(truth, span, t_eval=times, **(method or METHOD))
    return Observed(truth, run, rng)


def disturbed(truth, rng, size=0.01):
    """The same problem with all its numbers a little off."""

    def off(values):
        values = np.asarray(values)
        return values * (1 + size * rng.normal(size=values.shape))

    turn = Rotation.from_rotvec(size * rng.normal(size=3))
    attitude = Rotation.from_quat(truth.attitude, scalar_first=True) * turn
    model = ph.models.heavy_top(float(off(truth.model.numbers[0])))
    body = ph.RigidBody(off(truth.body.principal_moments), truth.body.mass)
    return ph.Problem(body, model, attitude=attitude, omega=off(truth.omega))


def distance(fit, truth):
    """(true numbers less fitted ones) in the order of ``fit.names``, attitudes as turns."""
    from polhode.fits.bodies import COMPONENTS

    found = []
    for name, value in fit.values.items():
        if name == "attitude":
            there = Rotation.from_quat(truth.attitude, scalar_first=True)
            found += (value.inv() * there).as_rotvec().tolist()
        elif name == "inertia":
            found += [truth.body.inertia[pair] - value[pair] for pair in COMPONENTS]
        else:
            own = {
                "moments": truth.body.principal_moments,
                "mass": truth.body.mass,
                "model.strength": truth.model.numbers[0],
            }.get(name)
            own = getattr(truth, name) if own is None else own
            found += np.ravel(np.asarray(own) - value).tolist()
    return np.array(found)
