"""A disk that forgets what was not flushed to it."""

import os
import stat
from pathlib import Path
from threading import Lock


class Disk:
    """Records what a power failure would leave of a folder after each ``os.fsync``.

    A file has the content, and a folder the names, of its last flush; ``states`` are trees.
    """

    def __init__(self, folder, monkeypatch):
        self.root, self.lock, self.states = os.stat(folder).st_ino, Lock(), []
        self.files, self.folders = {}, {self.root: {}}
        fsync = os.fsync

        def record(handle):
            with self.lock:
                fsync(handle)
                self._flush(handle)
                self.states.append(self._tree(self.root))

        monkeypatch.setattr(os, "fsync", record)

    def _flush(self, handle):
        about, path = os.fstat(handle), f"/proc/self/fd/{handle}"
        if stat.S_ISDIR(about.st_mode):
            with os.scandir(path) as entries:
                self.folders[about.st_ino] = {e.name: (e.inode(), e.is_dir()) for e in entries}
        else:
            self.files[about.st_ino] = Path(path).read_bytes()

    def _tree(self, folder):
        return {
            name: self._tree(inode) if is_folder else self.files.get(inode, b"")
            for name, (inode, is_folder) in self.folders.get(folder, {}).items()
        }

    @staticmethod
    def restore(tree, folder):
        """Make a folder as it was left."""
        folder.mkdir()
        for name, content in tree.items():
            if isinstance(content, dict):
                Disk.restore(content, folder / name)
            else:
                (folder / name).write_bytes(content)
