"""Fetch KaTeX, which sets the formulas of the site: ``python docs/make/katex.py``.

The build does so by itself, with npm, when ``docs/.katex`` is missing.  Without npm or a
connection, put the package ``katex-VERSION.tgz`` anywhere and name it in ``POLHODE_KATEX``.
"""

import base64
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "0.19.1"
SHA512 = "jG8uKntjSEcm2EpQOh0XturpPuuC9r3Sq5HLHdsFdWZT27E672SF19QEi+of0/YeOy15lDgRhKvr5614uRrEfA=="
FOLDER = Path(__file__).parents[1] / ".katex" / VERSION
WANTED = ("katex.min.js", "katex.min.css", "fonts/")


def fetched() -> Path:
    """Return the folder with KaTeX's script, style and fonts; fetch it if it is missing."""
    if not (FOLDER / "katex.min.js").exists():
        unpack(package())
    return FOLDER


def package() -> bytes:
    """Return the package as npm has it."""
    place = os.environ.get("POLHODE_KATEX")
    name = place or f"katex@{VERSION} of npm"
    try:
        found = Path(place).read_bytes() if place else packed()
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"KaTeX, which sets the formulas, cannot be fetched: {name}: {error}\n"
            f"Get katex-{VERSION}.tgz (npm pack katex@{VERSION}), and name it in POLHODE_KATEX."
        ) from error
    if base64.b64encode(hashlib.sha512(found).digest()).decode() != SHA512:
        raise SystemExit(f"{name} is not KaTeX {VERSION}: its SHA-512 is another one")
    return found


def packed() -> bytes:
    """Return the package, fetched by npm."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", "--pack-destination", folder, f"katex@{VERSION}"]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        return (Path(folder) / f"katex-{VERSION}.tgz").read_bytes()


def unpack(found: bytes) -> None:
    """Write what pages need; of the fonts only those of today's browsers."""
    with tarfile.open(fileobj=io.BytesIO(found)) as archive:
        for member in archive:
            name = member.name.removeprefix("package/dist/")
            content = archive.extractfile(member)
            if content is None or not name.startswith(WANTED) or name.endswith((".ttf", ".woff")):
                continue
            target = FOLDER / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())


if __name__ == "__main__":
    sys.stdout.write(f"{fetched()}\n")
