"""Write ``src/polhode/celestial/model_orbits.csv``: the model Earth and Moon with 113 bits.

Run ``python design/model_orbits.py [REVOLUTIONS [STEPS]]`` with a C compiler that has libquadmath.
33000 revolutions of 16 steps each take ten minutes for each body.  With 24 steps a revolution the
result after 8 revolutions changes by 2e-23.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from polhode.celestial import rigid_earth_model, rigid_moon_model
from polhode.celestial.model_orbits import TRUTH
from polhode.compiler.tree import flat

SOURCE = Path(__file__).with_suffix(".c")


def numbers(name: str, values) -> str:
    """An array of exact floats in C."""
    return f"static const real {name}[] = {{{', '.join(float(x).hex() for x in values)}}};\n"


def compute(problem, revolutions: str, steps: str) -> list[str]:
    """The lines of a problem, by the program in C."""
    sun, moon = problem.model.numbers
    header = numbers("MOMENT", problem.body.data[0])
    header += numbers("SUN", flat(sun)) + numbers("MOON", flat(moon))
    header += numbers("START", (*problem.attitude, *problem.angular_momentum))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "numbers.h").write_text(header)
        program = str(path / "model_orbits")
        options = ["-O2", f"-I{folder}", '-DHEADER="numbers.h"', "-lquadmath", "-lm"]
        subprocess.run(["gcc", str(SOURCE), "-o", program, *options], check=True)
        command = [program, revolutions, steps]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [f"{problem.name},{line}" for line in out.split()]


if __name__ == "__main__":
    revolutions, steps = [*sys.argv[1:], *("33000", "16")[len(sys.argv) - 1 :]]
    lines = ["problem,revolutions,w,x,y,z,m1,m2,m3"]
    for problem in (rigid_earth_model(), rigid_moon_model()):
        lines += compute(problem, revolutions, steps)
    TRUTH.write_text("\n".join(lines) + "\n")
    print(f"wrote {TRUTH.name}")
