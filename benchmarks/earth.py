"""How many torques of the real Earth a second, and what 50 years take and leave, by switches."""

import time

import numpy as np

import polhode as ph
from moon import COUNT, least
from polhode._compile import compiled
from polhode._tree import bind
from polhode.celestial import precession
from polhode.kernels.trig import ELEMENTARY

START, DAY, STEP = "1975-01-01", 86400.0, 1500.0
DAYS = np.arange(18263) * DAY
torque = bind(precession.torque, ELEMENTARY)


def summed(n, h, q, m, body, params):
    total = 0.0
    for i in range(n):
        total += torque(i * h, q, m, body, params)[0]
    return total


def main():
    loop = compiled(summed)
    for name, switches in (
        ("Moon and Sun", {}),
        ("with geodetic precession", {"geodetic": True}),
        ("with planets too", {"planets": True, "geodetic": True}),
    ):
        p = ph.celestial.earth(START, **switches)
        arguments = p.attitude, p.angular_momentum, p.body.data, p.model.params
        loop(1, STEP, *arguments)
        took = least(lambda arguments=arguments: loop(COUNT, STEP, *arguments))
        solver = ph.prepare(p, method="extrapolation", rtol=1e-12, t_eval=DAYS)
        run = solver((0.0, float(DAYS[-1])))
        begun = time.perf_counter()
        solver((0.0, float(DAYS[-1])))
        whole = time.perf_counter() - begun
        gaps = ph.celestial.earth_residuals(run, START)
        raw = ph.celestial.earth_residuals(run, START, detrend=False)
        trend = (raw - gaps)[-1] - (raw - gaps)[0]
        core = ph.celestial.core_resonance(ph.celestial.earth_nutations(run, START))
        print(f"{name}: {COUNT / took / 1e6:.2f} million torques a second; 50 years {whole:.2f} s")
        print(
            f"  {run.nsteps} steps, {run.nfev} torques, rms {np.sqrt((gaps**2).mean(axis=0))} mas"
        )
        print(f"  trend {trend / 50.0} mas a year, free core nutation {-core.period:.1f} d")


if __name__ == "__main__":
    main()
