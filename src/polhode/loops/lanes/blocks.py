"""Blocks of bodies: slot c of body l of a block is ``block[c * LANES + l]``."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache

import numpy as np

from polhode.compiler.machine import LANES


def pack(columns: Sequence | np.ndarray, bodies: int) -> np.ndarray:
    """Make blocks from one array (or number) per slot; the last body pads the last block."""
    count = -(-bodies // LANES)
    table = np.empty((len(columns), count * LANES))
    for row, column in zip(table, columns, strict=True):
        row[:bodies], row[bodies:] = column, np.broadcast_to(column, bodies)[-1]
    blocks = table.reshape(len(columns), count, LANES).swapaxes(0, 1)
    return np.ascontiguousarray(blocks).reshape(count, -1)


def fill(constants: np.ndarray, tables: Sequence[tuple[slice, np.ndarray]]) -> np.ndarray:
    """Make blocks whose slots are ``constants``, but for the slots of ``tables``.

    A table has one row per body, written straight to its slots; the last body pads the last block.
    """
    bodies = len(tables[0][1])
    whole, rest = divmod(bodies, LANES)
    blocks = np.empty((whole + (rest > 0), len(constants), LANES))
    blocks[...] = constants[:, None]
    for place, table in tables:
        columns = table[: whole * LANES].reshape(whole, LANES, table.shape[1])
        blocks[:whole, place] = columns.swapaxes(1, 2)
        if rest:
            blocks[whole, place, :rest] = table[-rest:].T
            blocks[whole, place, rest:] = table[-1][:, None]
    return blocks.reshape(len(blocks), -1)


def unpack(blocks: np.ndarray, bodies: int, first: int = 0, last: int | None = None) -> np.ndarray:
    """Return the slots from ``first`` to ``last`` as rows, the bodies as columns."""
    table = blocks.reshape(len(blocks), -1, LANES)[:, first:last].swapaxes(0, 1)
    return table.reshape(len(table), -1)[:, :bodies]


@lru_cache(4)
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Return a pool of threads; keyed by process, because threads do not survive a fork."""
    return ThreadPoolExecutor(threads, "polhode")


def in_threads(run: Callable[[np.ndarray], None], blocks: np.ndarray, threads: int) -> None:
    """Distribute the blocks over threads, the calling one included.

    Bodies are independent, so results do not depend on the number of threads.
    """
    threads = min(threads, len(blocks))
    if threads <= 1:
        run(blocks)
        return
    first, *others = np.array_split(blocks, threads)
    waiting = [_pool(os.getpid(), threads - 1).submit(run, some) for some in others]
    try:
        run(first)
    finally:
        wait(waiting)
    for each in waiting:
        each.result()
