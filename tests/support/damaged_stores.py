"""Stores of ensembles that were damaged, or forged with a list of files that is right."""

import json
import os
import shutil

import numpy as np
import pytest

import polhode as ph
from polhode.ensembles import contents, places, store

SPINS = {"omega": np.column_stack([np.zeros((6, 2)), np.linspace(40.0, 60.0, 6)])}
ASKED = {"vary": SPINS, "method": "mr2", "dt": 0.01, "save": "all", "seed": 3}
ASKED |= {"reduce": ["mean(omega)", "quantiles(speed, 0.1, 0.9)"], "reduce_times": 3}


def solve(**others):
    return ph.solve_ensemble(ph.problems.fast_top(), (0.0, 0.05), **ASKED, **others)


def make_store(place):
    """Make a store with three chunks of states for each quantity, in plain Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "PIECE_BYTES", 2 * 6 * 32)
        patch.setattr(
            "polhode.compiler.machine.CompiledOrPlain.__call__", lambda f, *x: f.function(*x)
        )
        solve(out=place)


def numbers_in(place):
    """All that a store loads as."""
    run = ph.load(place)
    names = (
        "t",
        "q",
        "omega",
        "angular_momentum",
        "status",
        "t_reached",
        "nsteps",
        "niter",
        "members",
    )
    found = [getattr(run, name) for name in names]
    found += [run.t_reduced, run.count, run.varied("omega"), *run.reductions.values()]
    return [repr(run).replace(str(place), ""), run.seed, *(x.tobytes() for x in found)]


def renew_list(place):
    """Write the list again, as a stranger could."""
    sums = {}
    for file in sorted(place.rglob("*")):
        if file.is_file() and file.name != places.LIST:
            data = file.read_bytes()
            chunk = file.name[0] != "."
            value = int.from_bytes(data[-4:], "little") if chunk else contents.crc32c(data)
            sums[file.relative_to(place).as_posix()] = value
    lines = "".join(f"{value:08x} {name}\n" for name, value in sums.items()).encode()
    (place / places.LIST).write_bytes(lines + b"%08x\n" % contents.crc32c(lines))


def change(file, **news):
    file.write_text(json.dumps(json.loads(file.read_text()) | news))


# ---- damage
def flip(file, rng):
    data = bytearray(file.read_bytes())
    data[rng.integers(len(data))] ^= 1 << rng.integers(8)
    file.write_bytes(data)


def truncate(file, rng):
    os.truncate(file, rng.integers(file.stat().st_size))


def lengthen(file, rng):
    file.write_bytes(file.read_bytes() + b"\0")


def delete(file, rng):
    file.unlink()


def make_folder(file, rng):
    file.unlink()
    file.mkdir()


def link(file, rng):
    outside = file.parents[2] / "outside"
    shutil.move(file, outside)
    file.symlink_to(outside)


def fill(file, rng):
    file.write_bytes(rng.bytes(file.stat().st_size))


def repair(file, right):
    file.rmdir() if file.is_dir() else file.unlink(missing_ok=True)
    shutil.copy(right, file)


DAMAGES = [flip, truncate, lengthen, delete, make_folder, link, fill]


# ---- forgery
STRANGE = [
    None, True, -1, 0, 1, 3, 1.5, 10**12, 10**40, "", "x", "NaN", "|O", "<f8", "<i8", "{",
    "9" * 5000, [], {}, [1], [10**12] * 3, ["x"] * 2, "\ud800", "/etc",
    {"id": "pickle"}, {"id": "zlib"}, [{"id": "pickle"}],
]  # fmt: skip


def forge(value, rng):
    """Replace, remove or add one value, at any depth."""
    if rng.random() < 0.3 or not value or not isinstance(value, dict | list):
        return STRANGE[rng.integers(len(STRANGE))]
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = keys[rng.integers(len(keys))]
    if rng.random() < 0.2:
        del value[key]
    else:
        value[key] = forge(value[key], rng)
    return value


def forge_text(file, rng):
    if rng.random() < 0.05:
        return rng.choice(["", "[" * 100_000, "\xff", "null", '{"a": NaN}', '{"a": 1, "a": 2}'])
    about = json.loads(file.read_text())
    nested = [name for name in about if name in ("problem", "arguments", "reductions")]
    if nested and rng.random() < 0.5:
        name = nested[rng.integers(len(nested))]
        return json.dumps(about | {name: json.dumps(forge(json.loads(about[name]), rng))})
    return json.dumps(forge(about, rng))
