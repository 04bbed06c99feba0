"""Pages of the viewer: of a short run, or made by hand, number by number; the camera in NumPy."""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.view.packing import Packed
from polhode.view.page import html_page

BOOK = ph.RigidBody([0.0019867, 0.0039, 0.0057667], mass=0.8)  # 24 cm × 17 cm × 3 cm
SPAN = 6.0  # seconds


def turning_over(tilt=0.02):
    """A book spun about its middle axis, in closed form: nothing is compiled."""
    omega = 8.0 * np.array([np.sin(tilt), np.cos(tilt), 0.0])
    return ph.exact_free_motion(BOOK, None, omega, np.linspace(0, SPAN, 1201))


def book_page(folder: Path) -> Path:
    turning_over().save_html(folder / "book.html")
    return folder / "book.html"


def save_page(path: Path, told: dict, blob: "Blob") -> Path:
    """Write a page with a header and data made by hand."""
    path.write_text(html_page(Packed(told, blob.data)), encoding="utf-8")
    return path


class Blob:
    """Arrays one after the other, each at a multiple of eight bytes."""

    def __init__(self):
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, values, kind="<f4") -> list[int]:
        array = np.ascontiguousarray(values, kind)
        raw = array.tobytes()
        place = self.size
        raw += bytes(-len(raw) % 8)
        self.parts.append(raw)
        self.size += len(raw)
        return [place, array.size]

    @property
    def data(self) -> bytes:
        return b"".join(self.parts)


def cuboid(sides):
    """Return the corners and the triangles of a box about the origin, seen from outside."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    quads = [0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]
    faces = [[a, b, c] for a, b, c, _ in quads] + [[a, c, d] for a, _, c, d in quads]
    return corners * np.asarray(sides) / 2, np.array(faces)


def still_run(blob, name, t, q, omega, inertia=(1.0, 2.0, 2.5), sides=(1.2, 0.9, 0.5), **more):
    """The record of a run with keyframes that are given."""
    vertices, faces = cuboid(sides)
    q = np.asarray(q) / np.linalg.norm(q, axis=-1, keepdims=True)
    reach = float(np.linalg.norm(vertices, axis=1).max())
    series = {
        "name": "rates",
        "unit": "rad/s",
        "labels": ["1", "2", "3"],
        "t": blob.add(t, "<f8"),
        "values": [blob.add(np.asarray(omega)[:, k]) for k in range(3)],
        "log": False,
    }
    return {
        "name": name,
        "facts": [["method", "by hand"]],
        "failed": False,
        "t": blob.add(t, "<f8"),
        "q": blob.add(q),
        "omega": blob.add(omega),
        "torque": None,
        "inertia": np.diag(inertia).ravel().tolist(),
        "path": None,
        "geometry": {"vertices": blob.add(vertices), "faces": blob.add(faces, "<u4")},
        "drawn": "box",
        "globe": None,
        "reach": reach,
        "points": [[0.0, 0.0, 1.25 * reach]],
        "trail": 1.0,
        "turns": 1.0,
        "free": True,
        "up": [0.0, 0.0, 1.0],
        "ground": None,
        "series": [series],
        **more,
    }


def header(runs, **more):
    return {
        "format": 1,
        "kind": "runs",
        "title": "by hand",
        "theme": "light",
        "layout": "side",
        "speed": 1.0,
        "time": {"unit": "s", "label": "t"},
        "show": {},
        "notes": [],
        "runs": runs,
        "crowd": None,
        **more,
    }


def matrix(q):
    """Return the rotation of a unit quaternion (w, x, y, z)."""
    w, x, y, z = np.asarray(q) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def project(points, camera, pane):
    """Return where points appear, in CSS pixels of the canvas: the camera as it is documented."""
    yaw, pitch = camera["yaw"], camera["pitch"]
    target = np.asarray(camera["target"], float)
    back = np.array([np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)])
    eye = target + camera["distance"] * back
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    from_eye = np.atleast_2d(points) - eye
    scale = pane["height"] / 2 / np.tan(camera["fov"] / 2) / -(from_eye @ back)
    x = pane["x"] + pane["width"] / 2 + scale * (from_eye @ right)
    y = pane["y"] + pane["height"] / 2 - scale * (from_eye @ np.cross(back, right))
    return np.stack([x, y], axis=-1)
