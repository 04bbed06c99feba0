"""Draw the pictures of the five-minute pages: ``python docs/make/start.py``.

The blocks of a page are run one after another, as a reader would, and save the pictures.
"""

import os
import re
import tempfile
from pathlib import Path

import pictures

DOCS = Path(__file__).parents[1]
PICTURES = {"top": ("top-trace",), "satellite": ("satellite",), "compare": ("compare",)}


def main() -> None:
    for page, names in PICTURES.items():
        text = (DOCS / "start" / f"{page}.md").read_text(encoding="utf-8")
        space = {"__name__": page}
        with tempfile.TemporaryDirectory() as place:
            os.chdir(place)
            for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
                exec(compile(block, page, "exec"), space)
            for name in names:
                pictures.keep(Path(f"{name}.png"), DOCS / "images" / f"start-{name}.png")
            os.chdir(DOCS)


if __name__ == "__main__":
    main()
