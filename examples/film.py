"""A film of a tumbling body, beside Poinsot's ellipsoid that rolls on the invariable plane.

The body spins about its middle axis and turns over again and again.  The film is a WebP, which
browsers and README files show without a player; run.animate("film.mp4") takes ffmpeg.
"""

import numpy as np
from PIL import Image

import polhode as ph

body = ph.RigidBody([1.0, 2.0, 2.5])
run = ph.solve(ph.Problem(body, omega=[0.1, 1.0, 0.2], name="tumbling body"), (0, 24))
print(run)

path = run.animate("film.webp", fps=12, speed=4.0, views=("body", "poinsot"), size=(560, 280))

with Image.open(path) as film:
    print(
        f"{path}: {film.n_frames} frames of {film.size} pixels, {path.stat().st_size / 1e3:.0f} kB"
    )
    assert film.n_frames == 24 / 4.0 * 12 + 1
    film.seek(36)
    middle = np.asarray(film.convert("RGB"))
assert middle.std() > 5  # something is seen
