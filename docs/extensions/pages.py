"""The pages of the gallery, from stored results: text, viewers and pictures of cards."""

import json
from pathlib import Path
from typing import Any

from entries import THEMES, Entry
from PIL import Image

from polhode.view.page import page_of

STATIC = "_static/gallery"  # of the site
CARD = 480, 320  # pixels
PAGE = """\
# {title}

{text}

{pictures}

```{{raw}} html
<iframe class="gallery-viewer" src="../{static}/{name}.html#time={time}" allow="fullscreen"
 title="{title}, in the viewer" loading="lazy"></iframe>
```

The moving picture is that of `{call}` ([keys and pointer](../guide/viewer.md)).

## Code

```{{code-block}} python
{code}
```

## Checked against

{table}

```{{raw}} html
<details class="gallery-checks"><summary>The code of the checks</summary>
```

```{{code-block}} python
{checks}
```

```{{raw}} html
</details>
```

{{download}}`{name}.py` is all of it, a script that runs as it is.
"""
PICTURE = """\
```{{image}} results/{name}/{theme}.png
:alt: {alt}
:class: only-{theme} gallery-picture
```
"""
CARD_PICTURE = (  # dark-light: the theme does not change it
    '<img class="gallery-{theme} dark-light" src="../{static}/{name}-{theme}.png" alt=""'
    ' loading="lazy">'
)


def page(entry: Entry) -> str:
    """Return the page of an entry in MyST Markdown."""
    code, checks = entry.shown
    pictures = [
        PICTURE.format(name=entry.name, theme=theme, alt=entry.description) for theme in THEMES
    ]
    return PAGE.format(
        title=entry.title,
        name=entry.name,
        static=STATIC,
        text=entry.filled,
        pictures="\n".join(pictures),
        time=f"{entry.stored['time']:.12f}".rstrip("0").rstrip("."),  # without an exponent
        call=f"run.view({entry.stored['view']})",
        code=code,
        table=table(entry.stored["checks"]),
        checks=checks,
    )


def table(checks: list[dict[str, Any]]) -> str:
    """Return the table of deviations."""
    rows = [
        " | ".join((x["what"].replace("|", r"\|"), number(x["deviation"]), number(x["bound"])))
        for x in checks
    ]
    head = ["| | deviation | must stay below |", "| --- | --- | --- |"]
    return "\n".join([*head, *(f"| {row} |" for row in rows)])


def number(x: float) -> str:
    """Return a number with two digits, such as 3.1e-12, or more in front of the point."""
    if abs(x) >= 100:
        return f"{x:.0f}"
    return f"{x:.2g}".replace("e-0", "e-")


def linked(entry: Entry) -> str:
    """Return the card of an entry in HTML."""
    name = entry.name
    pictures = (CARD_PICTURE.format(name=name, theme=theme, static=STATIC) for theme in THEMES)
    return f'<a href="{name}.html">{"".join(pictures)}<span>{entry.title}</span></a>'


def cards(chosen: list[Entry]) -> str:
    """Return cards of entries in HTML."""
    return f'<div class="gallery-cards">{"".join(linked(entry) for entry in chosen)}</div>'


def write_static(entry: Entry, folder: Path) -> None:
    """Write the viewer and the pictures of the card."""
    shown = json.loads((entry.results / "viewer.json").read_text(encoding="utf-8"))
    text = page_of(shown["header"], shown["data"])
    (folder / f"{entry.name}.html").write_text(text, encoding="utf-8")
    for theme in THEMES:
        with Image.open(entry.results / f"{theme}.png") as whole:
            card(whole.convert("RGB"), entry.stored["thumbnail"]).save(
                folder / f"{entry.name}-{theme}.png", optimize=True
            )


def card(whole: Image.Image, part: list[float]) -> Image.Image:
    """Return a part of a picture in the size of a card, on its own ground."""
    width, height = whole.size
    left, top, right, bottom = part
    small = whole.crop(
        (round(left * width), round(top * height), round(right * width), round(bottom * height))
    )
    small.thumbnail(CARD, Image.Resampling.LANCZOS)
    sheet = Image.new("RGB", CARD, whole.getpixel((0, 0)))
    sheet.paste(small, ((CARD[0] - small.width) // 2, (CARD[1] - small.height) // 2))
    return sheet.quantize(64)
