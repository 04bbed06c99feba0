"""The gallery: entries run in their short form, checks hold, and what is stored is their own."""

import re

import pytest

from support.pages import DOCS


@pytest.fixture(scope="module")
def gallery():
    """The script ``docs/make/gallery.py``, as a module."""
    with pytest.MonkeyPatch.context() as patch:
        for folder in ("extensions", "make"):  # each has a gallery.py
            patch.syspath_prepend(DOCS / folder)
        import gallery

        yield gallery


NAMES = sorted(path.stem for path in (DOCS / "gallery").glob("*.py"))


def test_every_entry_has_one_card():
    text = (DOCS / "gallery" / "index.md").read_text(encoding="utf-8")
    named = [name for block in re.findall(r"```\{gallery\}\n(.*?)```", text, re.S)
             for name in block.split()]  # fmt: skip
    assert sorted(named) == NAMES
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_what_is_stored_is_of_this_code_and_its_checks_hold(gallery, name):
    entry = gallery.entries()[name]
    assert entry.is_current, f"run python docs/make/gallery.py {name}"
    assert {file.name for file in entry.results.iterdir()} == set(gallery.LARGEST)
    for file, limit in gallery.LARGEST.items():
        assert (entry.results / file).stat().st_size <= limit
    assert entry.stored["checks"]
    for check in entry.stored["checks"]:
        assert 0.0 <= check["deviation"] < check["bound"], check["what"]
    assert "{{" not in entry.filled


def test_nothing_is_stored_of_entries_that_are_gone(gallery):
    assert sorted(folder.name for folder in gallery.RESULTS.iterdir()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_runs_in_its_short_form(gallery, name):
    """Code, picture, checks and viewer; the bounds of the checks are those of the long form."""
    assert gallery.execute(gallery.entries()[name], quick=True)


# ---- what the script refuses
BEFORE = '"""A title.\n\nA text.\n"""\nimport polhode as ph\n\n'
START = "run = ph.solve(ph.problems.fast_top(), (0, 0.1))\n"
CODE = BEFORE + START + "import matplotlib.pyplot as plt\n"
DRAWS = "\n# ---- picture\n# A line.\nplt.plot(run.t, run.energy)\nplt.show()\n"


@pytest.fixture
def written(gallery, tmp_path, monkeypatch):
    """An entry with some text, in a gallery of its own."""
    monkeypatch.setattr("entries.GALLERY", tmp_path)
    monkeypatch.setattr("entries.RESULTS", tmp_path / "results")
    monkeypatch.setattr(gallery, "RESULTS", tmp_path / "results")

    def write(text):
        (tmp_path / "entry.py").write_text(text, encoding="utf-8")
        return gallery.entries()["entry"]

    return write


def test_a_check_that_fails_is_named_and_nothing_is_stored(gallery, written):
    entry = written(f'{CODE}{DRAWS}\n# ---- checks\nchecks = {{"energy": (2.0, 1.0)}}\n')
    with pytest.raises(gallery.Failed, match="energy: 2, not below 1"):
        gallery.store(entry)
    assert not entry.results.exists()


@pytest.mark.parametrize("deviation", ["float('nan')", "-1.0"])
def test_a_deviation_is_a_number_that_is_not_negative(gallery, written, deviation):
    entry = written(f'{CODE}{DRAWS}\n# ---- checks\nchecks = {{"energy": ({deviation}, 1.0)}}\n')
    with pytest.raises(gallery.Failed, match="energy"):
        gallery.execute(entry)


def test_an_entry_draws_one_picture(gallery, written):
    entry = written(f"{CODE}{DRAWS}plt.figure()\n\n# ---- checks\nchecks = {{}}\n")
    with pytest.raises(gallery.Failed, match="draws 2 pictures"):
        gallery.execute(entry)


def test_an_entry_without_its_parts_is_refused(gallery, written):
    with pytest.raises(ValueError, match=r"entry\.py needs one '# ---- picture"):
        gallery.execute(written(CODE))


def test_a_number_in_the_text_is_measured(gallery, written):
    entry = written(
        f"{CODE.replace('A text.', 'It is {{speed}}.')}{DRAWS}"
        '\n# ---- checks\nchecks = {"energy": (0.0, 1.0)}\nmeasured = {"spin": "3"}\n'
    )
    with pytest.raises(ValueError, match=r"\{\{speed\}\} is not measured; there are spin"):
        gallery.store(entry)


def test_code_that_changed_is_not_current(gallery, written):
    checks = '\n# ---- checks\nchecks = {"energy": (0.0, 1.0)}\n'
    gallery.store(written(CODE + DRAWS + checks))
    assert written(CODE + DRAWS + checks).is_current
    assert written(CODE.replace("A text.", "Better.") + DRAWS + checks).is_current
    assert not written(CODE.replace("0.1", "0.2") + DRAWS + checks).is_current
