"""Draw the pictures of the docs: ``python docs/make/pictures.py [NAME …]``.

Examples draw theirs when they run; those of benchmarks are of the stored runs.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

DOCS = Path(__file__).parents[1]
EXAMPLES = {
    "dzhanibekov": "",
    "film": "",
    "poinsot": "",
    "tops": "",
    "beams": "",
    "gyro_log": "",
    "nutation_damper": "",
    "precessing_binary": "",
    "normalisation": "",
    "hyperion": "--starts 260 --orbits 1000",
    "hyperion_chaos": "--starts 300 --orbits 100",
    "uncertainty": "",
    "debris": "--members 1000000",
}  # example: arguments
BENCHMARKS = {"what-to-expect": "overview"}  # picture: benchmark
COLOURS = 96  # a palette makes a picture a third of the size


def main() -> None:
    for name in sys.argv[1:] or (*EXAMPLES, *BENCHMARKS):
        if name in BENCHMARKS:
            _draw_stored(name)
            continue
        with tempfile.TemporaryDirectory() as place:
            example = DOCS.parent / "examples" / f"{name}.py"
            command = [sys.executable, str(example), *EXAMPLES[name].split()]
            subprocess.run(command, cwd=place, check=True)
            for picture in sorted(Path(place).glob("*.png")):
                keep(picture, DOCS / "images" / picture.name)
            for film in Path(place).glob("*.webp"):
                target = DOCS / "images" / film.name
                shutil.copyfile(film, target)
                _report(target)


def _draw_stored(name: str) -> None:
    """Draw the stored run of a benchmark."""
    from polhode.bench import Result, benches

    bench = benches()[BENCHMARKS[name]]
    file = DOCS / "reference" / "benchmarks" / f"{bench.name}.json"
    result = Result.of(bench, json.loads(file.read_text(encoding="utf-8")))
    assert bench.draw is not None
    with tempfile.TemporaryDirectory() as place:
        picture = Path(place) / "picture.png"
        bench.draw(result).savefig(picture, dpi=110)
        keep(picture, DOCS / "images" / f"{name}.png")


def keep(picture: Path, target: Path) -> None:
    """Store a picture with few colours."""
    with Image.open(picture) as full:
        full.convert("RGB").quantize(COLOURS).save(target, optimize=True)
    _report(target)


def _report(target: Path) -> None:
    sys.stdout.write(f"wrote {target.name}, {target.stat().st_size / 1000:.0f} kB\n")


if __name__ == "__main__":
    main()
