"""A Zarr store whose files reach the disk in order: a power failure loses none of them."""

import asyncio
from pathlib import Path
from typing import Any

from zarr.storage import LocalStore

from polhode.ensembles.places import settle_files
from polhode.files import whole


class DurableStore(LocalStore):
    """A store on disk that remembers which files are new, until ``settle``.

    A file that may be on the disk already is only replaced by one that is: it is flushed before it
    gets its name.
    """

    def __init__(self, root: str | Path, *, read_only: bool = False):
        super().__init__(root, read_only=read_only)
        self.new: set[Path] = set()

    async def set(self, key: str, value: Any) -> None:
        path = self.root / key
        if path.exists() and path not in self.new:
            await asyncio.to_thread(whole.replace, path, [value.to_bytes()], "the chunk")
            return
        await super().set(key, value)
        self.new.add(path)

    def settle(self) -> None:
        """Flush all new files, and the names of all files."""
        files = [path for path in self.new if path.exists()]
        if files:
            settle_files(files, self.root)
        self.new.clear()
