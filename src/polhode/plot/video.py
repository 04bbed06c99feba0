"""Frames to files: .mp4 and .webm through ffmpeg, .gif, .webp and .png (APNG) by Pillow.

A film is written under another name and moved into place when it is complete.  ffmpeg takes the
frames one by one through a pipe, and Pillow draws those of a WebP when it needs them; of a GIF and
an APNG it keeps all of them, at ``KEPT`` bytes a pixel.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from polhode.errors import FileError, InputError

H264 = ("-c:v", "libx264", "-crf", "20", "-preset", "medium", "-movflags", "+faststart")
VP9 = ("-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0", "-deadline", "good", "-cpu-used", "4")
BT709 = ("-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709")
THROUGH_FFMPEG = {".mp4": (*H264, "-f", "mp4"), ".webm": (*VP9, "-row-mt", "1", "-f", "webm")}
BY_PILLOW: dict[str, dict[str, Any]] = {
    ".gif": {"format": "GIF", "optimize": False},
    ".webp": {"format": "WEBP", "quality": 80, "method": 3, "kmin": 60, "kmax": 120},
    ".png": {"format": "PNG", "compress_level": 6},
}
SUFFIXES = (*THROUGH_FFMPEG, *BY_PILLOW)
KEPT = {".gif": 1, ".png": 4}  # bytes of memory a pixel
FASTEST = {".gif": 50.0}  # frames a second; the others take any
COLOURS = 127
SAMPLES = 6  # frames that determine the palette of a GIF
LAST_WORDS = 600  # letters of ffmpeg's own message


class Frames(Protocol):
    """A film: the number of its frames, their size in pixels, and each as (height, width, 4)."""

    size: tuple[int, int]

    def __len__(self) -> int: ...

    def __getitem__(self, place: int) -> np.ndarray: ...


def write(frames: Frames, path: Path, fps: float, progress: Callable[[float], None]) -> None:
    """Write a film, completely or not at all; the suffix of ``path`` determines the format."""
    kind = path.suffix.lower()
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as place:
            draft = Path(place) / path.name
            if kind in THROUGH_FFMPEG:
                _pipe(frames, draft, fps, THROUGH_FFMPEG[kind], progress)
            else:
                _save(frames, draft, fps, BY_PILLOW[kind], progress)
            os.replace(draft, path)
    except OSError as error:
        reason = error.strerror or error
        raise FileError(
            f"cannot write the film {str(path)!r}: {reason}; its directory must exist, be writable"
            " and have room for it"
        ) from error


def ffmpeg() -> str:
    """Return the program: that on PATH, or that of the package imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found is not None:
        return found
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise InputError(
            "films in .mp4 and .webm need ffmpeg: install it so that it is on PATH, or"
            " pip install 'polhode[video]'; .gif, .webp and .png need neither"
        ) from None


# ---- through ffmpeg
def _pipe(
    frames: Frames,
    draft: Path,
    fps: float,
    options: tuple[str, ...],
    progress: Callable[[float], None],
) -> None:
    wide, high = frames.size
    given = ("-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{wide}x{high}", "-r", f"{fps!r}")
    colours = ("-vf", "scale=out_color_matrix=bt709:out_range=tv", "-pix_fmt", "yuv420p", *BT709)
    quiet = ("-hide_banner", "-loglevel", "error", "-nostdin")
    command = [ffmpeg(), *quiet, *given, "-i", "-", "-an", *colours, *options, str(draft)]
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=messages)
        try:
            assert process.stdin is not None
            _feed(frames, process.stdin, progress)
            code = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            with suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
            raise
        if code != 0:
            messages.seek(0)
            said = messages.read().decode(errors="replace").strip()[-LAST_WORDS:]
            raise FileError(f"ffmpeg ({command[0]}) failed with exit code {code}: {said}")


def _feed(frames: Frames, pipe: IO[bytes], progress: Callable[[float], None]) -> None:
    """Write all frames; one that ffmpeg no longer takes ends it, and its exit code tells why."""
    try:
        for k in range(len(frames)):
            pipe.write(np.ascontiguousarray(frames[k]).data)
            progress((k + 1) / len(frames))
        pipe.close()
    except BrokenPipeError:
        with suppress(BrokenPipeError):
            pipe.close()


# ---- by Pillow
def _save(
    frames: Frames,
    draft: Path,
    fps: float,
    options: dict[str, Any],
    progress: Callable[[float], None],
) -> None:
    unit = 10 if options["format"] == "GIF" else 1  # milliseconds that a duration can resolve
    ends = np.round(np.arange(len(frames) + 1) * 1000 / (unit * fps)) * unit
    film = _lazy_film(frames, _palette(frames) if unit == 10 else None, progress)
    lasting = np.diff(ends).astype(int).tolist()
    with draft.open("wb") as file:
        film.save(file, save_all=True, duration=lasting, loop=0, **options)


def _palette(frames: Frames) -> Any:
    """Return colours for all frames, so that nothing flickers: those of some of them."""
    from PIL import Image

    places = np.unique(np.linspace(0, len(frames) - 1, SAMPLES).astype(int))
    several = np.concatenate([frames[int(k)][::2, ::2, :3] for k in places])
    return Image.fromarray(several).quantize(COLOURS, method=Image.Quantize.MEDIANCUT)


def _lazy_film(frames: Frames, palette: Any, progress: Callable[[float], None]) -> Any:
    """Return a Pillow image of many frames, which draws the one that is sought."""
    from PIL import Image

    class Film(Image.Image):
        n_frames = len(frames)
        is_animated = True
        place = latest = -1

        def seek(self, frame: int) -> None:
            if frame == self.place:
                return
            if not 0 <= frame < self.n_frames:
                raise EOFError(f"no frame {frame}")
            picture = Image.fromarray(np.ascontiguousarray(frames[frame][:, :, :3]))
            if palette is not None:
                picture = picture.quantize(palette=palette, dither=Image.Dither.NONE)
            vars(self).update(vars(picture))
            self.place = frame
            if frame > self.latest:  # Pillow goes back to the first one when it is done
                self.latest = frame
                progress((frame + 1) / self.n_frames)

        def tell(self) -> int:
            return self.place

    film = Film()
    film.seek(0)
    return film
