"""Damaged and forged files: the same numbers or one ``FileError``, and nothing else is touched.

Damage: bits and bytes changed, files cut off, lengthened, emptied, replaced by links and folders.
They must load as the same numbers, or not at all.  Forgery: metadata of any content under
checksums that are right.  It may load as something else, but no error may be any other.
"""

import json
import shutil
import warnings

import numpy as np
import pytest

import polhode as ph
from polhode.cli.plan import EnsembleFile, RunFile, make_plan
from polhode.compiler.machine import CompiledOrPlain
from polhode.errors import FileError, InputError
from polhode.files import zarr_folder
from support import damaged_stores, forged_checkpoints, forged_run_files
from support.campaigns import SEED
from support.forged_netcdf import forge_netcdf

RUN = ("t", "q", "angular_momentum", "omega")


# ---- the files
def make_files(place):
    """Make files of all kinds, in plain Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CompiledOrPlain, "__call__", lambda self, *args: self.function(*args))
        forged_checkpoints.make_checkpoints(place)
        damaged_stores.make_store(place / "many.zarr")
        run = ph.solve(ph.problems.krysl_free(), (0.0, 0.2), t_eval=[0.0, 0.1, 0.2])
        run.save(place / "run.nc")
        run.save(place / "run.zarr")
        damaged_stores.solve().save(place / "many.nc")


def numbers_of(path):
    """All numbers that a file holds; a checkpoint is resumed to its end."""
    if path.suffix:
        found = ph.load(path)
    else:
        found = ph.resume(path)
    if path.name == "many.zarr":
        return damaged_stores.numbers_in(path)
    values = [np.asarray(getattr(found, name)).tobytes() for name in RUN]
    if hasattr(found, "reductions"):
        values += [value.tobytes() for value in found.reductions.values()]
    return [*values, str(found.status), str(getattr(found, "message", ""))]


NAMES = (*forged_checkpoints.NAMES, "run.nc", "many.nc", "run.zarr", "many.zarr")


def restore(made, place, name):
    """Put a file, or a checkpoint and its journal, into an empty directory."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for path in (made / name, made / f"{name}.rows"):
        if path.is_dir():
            shutil.copytree(path, place / path.name)
        elif path.exists():
            shutil.copy(path, place / path.name)
    return place / name


# ---- what is done to them
def zero(file, rng):
    """A block of a disk is lost."""
    data = bytearray(file.read_bytes())
    first = int(rng.integers(len(data)))
    length = len(data[first : first + 512])
    data[first : first + length] = bytes(length)
    file.write_bytes(data)


def scatter(file, rng):
    data = bytearray(file.read_bytes())
    for place in rng.integers(len(data), size=rng.integers(2, 9)):
        data[place] = rng.integers(256)
    file.write_bytes(data)


DAMAGES = [*damaged_stores.DAMAGES, *[damaged_stores.flip] * 3, zero, scatter]


def damage(path, rng):
    """Damage one file of what belongs together."""
    files = [x for x in path.parent.rglob("*") if x.is_file() and x.stat().st_size]
    file = sorted(files)[rng.integers(len(files))]
    how = DAMAGES[rng.integers(len(DAMAGES))]
    if how is damaged_stores.link:  # within the directory of the trial
        outside = path.parent / "outside"
        shutil.move(file, outside)
        file.symlink_to(outside)
    else:
        how(file, rng)
    return f"{how.__name__} {file.relative_to(path.parent)}"


def forge(path, rng):
    """Forge the metadata of one file; its checksums are right."""
    if path.name == "many.zarr":
        file = rng.choice(sorted(path.rglob(".z*")))
        forged = damaged_stores.forge_text(file, rng)
        file.write_text(forged, errors="surrogatepass")
        damaged_stores.renew_list(path)
    elif path.name == "run.zarr":
        forged = forge_group(path / zarr_folder.GROUP, rng)
    elif path.suffix == ".nc":
        forged = forge_netcdf(path, rng)
    else:
        text, arrays = forged_checkpoints.parts_of(path)
        forged = json.dumps(forged_checkpoints.forged(text, rng))
        forged_checkpoints.sign(path, forged.encode(), arrays)
    return f"forged: {str(forged)[:2000]}"


def forge_group(file, rng):
    from numcodecs import CRC32C

    group = json.loads(file.read_bytes())
    facts = damaged_stores.forge(group["attributes"], rng)
    if isinstance(facts, dict):
        facts.pop("crc32c", None)
        text = json.dumps(facts, sort_keys=True).encode(errors="surrogatepass")
        facts["crc32c"] = CRC32C.checksum(text).to_bytes(4, "little").hex()
    forged = json.dumps(group | {"attributes": facts})
    file.write_text(forged)
    return forged


def read_run_file(place, rng):
    """Plan what a forged run file asks for."""
    file, text = place / "box.toml", forged_run_files.forged(rng)
    file.write_text(text)
    return text, lambda: make_plan(str(file), [], EnsembleFile if rng.random() < 0.75 else RunFile)


# ---- the campaign
def listing(place, apart):
    """What a directory holds, apart from one of its folders."""
    found = {}
    for path in sorted(place.rglob("*")):
        if apart not in (path, *path.parents):
            about = path.lstat()
            found[str(path)] = about.st_mode, about.st_size, about.st_mtime_ns, about.st_ino
    return found


def guard(place):
    """Make (directory of the trials, precious files around it)."""
    work = place / "guard" / "a" / "work"
    work.mkdir(parents=True)
    for folder in (place / "guard", place / "guard" / "a"):
        (folder / "x").write_text("precious")
        (folder / "victim").mkdir()
        (folder / "victim" / "x.ckpt").write_text("precious")
    return work


def judge(action, allowed=FileError):
    """(what came of it, value); errors that are not allowed are raised."""
    try:
        with forged_checkpoints.time_limit():
            return "loaded", action()
    except allowed as error:
        return "in several lines" if "\n" in str(error) else "refused", None


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("made")
    make_files(place)
    return place


@pytest.fixture
def work(tmp_path, monkeypatch):
    place = guard(tmp_path)
    monkeypatch.chdir(place)
    return place


@pytest.mark.usefixtures("plain")
def test_damaged_files(campaign, made, work):
    campaign = campaign("damaged files", 60, 2000)
    rights = {name: numbers_of(restore(made, work / "good", name)) for name in NAMES}
    shutil.rmtree(work / "good")
    before = listing(work.parents[1], work)
    for trial in range(campaign.size):
        rng, name = np.random.default_rng([SEED, trial]), NAMES[trial % len(NAMES)]
        path = restore(made, work / "trial", name)
        told = f"{name}, trial {trial}: {damage(path, rng)}"
        campaign.counts["files"] += 1
        try:
            what, found = judge(lambda path=path: numbers_of(path))
        except Exception as error:
            campaign.fail(f"{told}: {type(error).__name__}: {error}")
            continue
        campaign.counts[what] += 1
        if what == "in several lines" or (what == "loaded" and found != rights[name]):
            campaign.fail(f"{told}: {what}")
        if listing(work.parents[1], work) != before:
            campaign.fail(f"{told}: something outside was touched")
    campaign.close()


@pytest.mark.usefixtures("plain")
def test_forged_files(campaign, made, work):
    campaign = campaign("forged files", 60, 2000)
    before = listing(work.parents[1], work)
    kinds = (*NAMES, "box.toml")
    for trial in range(campaign.size):
        rng, name = np.random.default_rng([SEED, trial, 1]), kinds[trial % len(kinds)]
        campaign.counts["files"] += 1
        told = f"{name}, trial {trial}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                if name == "box.toml":
                    text, action = read_run_file(work, rng)
                    what, _ = judge(action, (FileError, InputError))
                else:
                    path = restore(made, work / "trial", name)
                    text = forge(path, rng)
                    what, _ = load_forged(path)
            except Exception as error:
                campaign.fail(f"{told}: {type(error).__name__}: {error}: {text}")
                continue
        campaign.counts[what] += 1
        if what == "in several lines" and name != "box.toml":  # which has a line for each key
            campaign.fail(f"{told}: {what}: {text}")
        if listing(work.parents[1], work) != before:
            campaign.fail(f"{told}: something outside was touched: {text}")
            before = listing(work.parents[1], work)
    campaign.close()


def load_forged(path):
    if path.suffix:
        return judge(lambda: numbers_of(path))
    return forged_checkpoints.outcome(path), None
