"""Draw the pictures of the docs by running examples: ``python docs/make/gallery.py [NAME …]``."""

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
    "debris": "--members 1000000",
}  # example: arguments
COLOURS = 96  # a palette makes a picture a third of the size


def main() -> None:
    for name in sys.argv[1:] or EXAMPLES:
        with tempfile.TemporaryDirectory() as place:
            example = DOCS.parent / "examples" / f"{name}.py"
            command = [sys.executable, str(example), *EXAMPLES[name].split()]
            subprocess.run(command, cwd=place, check=True)
            for picture in sorted(Path(place).glob("*.png")):
                target = DOCS / "images" / picture.name
                with Image.open(picture) as full:
                    full.convert("RGB").quantize(COLOURS).save(target, optimize=True)
                _report(target)
            for film in Path(place).glob("*.webp"):
                target = DOCS / "images" / film.name
                shutil.copyfile(film, target)
                _report(target)


def _report(target: Path) -> None:
    sys.stdout.write(f"wrote {target.name}, {target.stat().st_size / 1000:.0f} kB\n")


if __name__ == "__main__":
    main()
