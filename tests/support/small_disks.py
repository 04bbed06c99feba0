"""A file system in memory with little room, where one can be mounted."""

import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def small_disk(place, kilobytes):
    """Mount one at ``place``; yields a function that changes its size.  Skips the test without."""
    place.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(options, capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")

    def resize(kilobytes):
        size = f"remount,size={kilobytes}k"
        subprocess.run(["mount", "-o", size, str(place)], check=True, capture_output=True)

    try:
        yield resize
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True, capture_output=True)
