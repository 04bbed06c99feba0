"""Registries find their files: places, helpers, and what is wrong with a file."""

import sys
from itertools import pairwise

import pytest

from polhode.contracts.registry import entry_files, file_names, functions, makers, records

PACKAGES = (
    "polhode.methods",
    "polhode.models",
    "polhode.formulations",
    "polhode.integrators",
    "polhode.problems.catalogue",
    "polhode.body.shapes",
)


@pytest.mark.parametrize("package", PACKAGES)
def test_places_are_unique_and_in_order(package):
    places = [module.PLACE for module in entry_files(package)]
    assert all(a < b for a, b in pairwise(places))


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write files into a new package; returns its name."""

    def made(**files):
        folder = tmp_path / "things"
        folder.mkdir()
        for name, text in {"__init__": "", **files}.items():
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        for name in [name for name in sys.modules if name.split(".")[0] == "things"]:
            monkeypatch.delitem(sys.modules, name)
        return "things"

    return made


RECORD = "from types import SimpleNamespace\nPLACE = {}\nTHING = SimpleNamespace(name={!r})\n"


def test_records_come_in_the_order_of_their_places(package):
    name = package(
        late=RECORD.format(30, "late"),
        early=RECORD.format(10, "early"),
        several="PLACE = 20\nTHINGS = {'a': lambda: 1, 'b': lambda: 2}\n",
        helper="OTHER = 'without a place'\n",
        _private="PLACE = 5\n",
    )
    (found,) = records(name, "THING")
    assert list(found) == ["early", "a", "b", "late"]
    assert found["b"] == 2
    assert file_names(name) == ["early", "helper", "late", "several"]


def test_kinds_are_kept_apart(package):
    name = package(
        one=RECORD.format(1, "one"), other=RECORD.format(2, "other").replace("THING", "OTHER")
    )
    things, others = records(name, "THING", "OTHER")
    assert (list(things), list(others)) == (["one"], ["other"])
    assert list(makers(sys.modules["things.one"], "OTHER")) == []


def test_functions_have_the_names_of_their_files(package):
    name = package(cube="PLACE = 2\ndef cube(x): return x**3\n", half="PLACE = 1\nhalf = float\n")
    found = functions(name)
    assert list(found) == ["half", "cube"]
    assert found["cube"](2) == 8


def test_a_file_with_a_place_needs_an_entry(package):
    name = package(empty="PLACE = 1\n")
    with pytest.raises(ImportError, match=r"things\.empty has PLACE, but no THING or OTHER"):
        records(name, "THING", "OTHER")
    with pytest.raises(ImportError, match=r"things\.empty has PLACE, but no function empty"):
        functions(name)


def test_a_record_needs_a_place(package):
    name = package(lost="from types import SimpleNamespace\nTHING = SimpleNamespace(name='lost')\n")
    with pytest.raises(ImportError, match=r"things\.lost has a record, but no PLACE; add a line"):
        records(name, "THING")


def test_a_function_needs_a_place(package):
    name = package(cube="def cube(x): return x**3\n", helper="def other(x): return x\n")
    with pytest.raises(ImportError, match=r"things\.cube has a function cube, but no PLACE; add"):
        functions(name)


def test_names_are_unique(package):
    name = package(one=RECORD.format(1, "same"), two=RECORD.format(2, "same"))
    words = r"things\.one and things\.two have the same name 'same'; rename one of them"
    with pytest.raises(ImportError, match=words):
        records(name, "THING")
