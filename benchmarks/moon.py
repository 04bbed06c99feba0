"""How many torques of the real Moon a second, ephemeris included, and how long 50 years take."""

import time

import polhode as ph
from polhode._compile import compiled
from polhode._tree import bind
from polhode.celestial import libration
from polhode.kernels.trig import ELEMENTARY

REPEATS, COUNT, STEP = 5, 1_000_000, 1500.0
YEARS = 50 * 365.25 * 86400.0
START = "1970-01-01"
torque = bind(libration.torque, ELEMENTARY)


def summed(n, h, q, m, body, params):
    total = 0.0
    for i in range(n):
        total += torque(i * h, q, m, body, params)[0]
    return total


def least(function):
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        function()
        times.append(time.perf_counter() - begun)
    return min(times)


def main():
    loop = compiled(summed)
    for name, switches in (
        ("Earth and Sun", {}),
        ("with planets and oblateness", {"planets": True, "oblateness": True}),
    ):
        p = ph.celestial.moon(START, **switches)
        arguments = p.attitude, p.angular_momentum, p.body.data, p.model.params
        loop(1, STEP, *arguments)
        took = least(lambda arguments=arguments: loop(COUNT, STEP, *arguments))
        print(f"torque, {name}: {COUNT / took / 1e6:.2f} million a second")
    layered, variables = ph.celestial.layered_moon(START)
    for name, problem, formulation in (
        ("rigid", ph.celestial.moon(START), None),
        ("tides and core", layered, variables),
    ):
        solver = ph.prepare(problem, method="extrapolation", formulation=formulation, rtol=1e-12)
        run = solver((0.0, YEARS))
        took = least(lambda solver=solver: solver((0.0, YEARS)))
        print(f"50 years, {name}: {took:.3f} s, {run.nsteps} steps, {run.nfev} torques")


if __name__ == "__main__":
    main()
