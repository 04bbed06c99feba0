"""The documentation runs: every Python block, the README's commands, tables of numbers."""

import pkgutil
import re
from pathlib import Path

import mpmath as mp
import pytest

from support.pages import is_continued, pages

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *pages()]
LINKED = [*PAGES, ROOT / "CHANGELOG.md"]
NAMING = [page for page in PAGES if page.name != "CONTRIBUTING.md"]  # it names files to be added
FOLDERS = "tests|docs|examples|design|src"
ROOMS = "|".join(sorted(path.parent.name for path in ROOT.glob("src/polhode/*/__init__.py")))
BLOCKS = [
    pytest.param(block, id=f"{page.relative_to(ROOT)}-{i}")
    for page in NAMING  # test_contributing.py has those of the other, docs/test_blocks.py of some
    if not is_continued(page)
    for i, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_every_python_block_runs(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "block", "exec"), {"__name__": "block"})


def test_the_readme_has_its_two_commands_and_ci_runs_them():
    commands = re.findall(r"^    (python3 -m venv .*)$", (ROOT / "README.md").read_text(), re.M)
    assert len(commands) == 2
    assert commands[0].endswith("polhode run fast-top")
    assert commands[1].endswith("pytest")
    assert "readme_command" in (ROOT / ".ci" / "run").read_text()


# ---- numbers that pages state
def table_below(page, words):
    """Return the head and the cells of the first table after some words of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    lines = text[text.index(words) :].splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("| ---")) - 1
    rows = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows[0], rows[2:]


HEAD, ROWS = table_below("guide/angular-velocity.md", "Measured on the precessing binary")


def test_the_table_of_given_rates_is_complete():
    assert HEAD == ["tolerance", "gauss-taylor", "dop853", "bulirsch-stoer"]
    assert [row[0] for row in ROWS] == ["1e-6", "1e-10", "1e-12"]


@pytest.mark.parametrize("method", HEAD[1:])
def test_the_table_of_given_rates_is_measured(method):
    """Errors agree within a factor of 2, evaluations within 2 %."""
    import polhode as ph

    binary = ph.problems.precessing_binary()
    for row in ROWS:
        error, evaluations = row[HEAD.index(method)].split(", ")
        run = ph.integrate_angular_velocity(
            binary.omega,
            (0, 1e5),
            frame="inertial",
            attitude=binary.attitude,
            scalar_first=True,
            method=method,
            atol=float(row[0]),
        )
        assert 0.5 < run.frame_error(binary.exact).max() / float(error) < 2.0, row[0]
        assert run.nfev == pytest.approx(int(evaluations.replace(" ", "")), rel=0.02), row[0]


def test_the_heavy_top_of_the_adaptive_page_is_right():
    """Its attitude after one second agrees with mpmath's Taylor series for Euler's equations."""
    text = (ROOT / "docs" / "guide" / "adaptive.md").read_text(encoding="utf-8")
    stated = [float(x) for x in re.search(r"truth = (.*?) +#", text)[1].split(", ")]
    moments = mp.mpf(1000), mp.mpf(5000), mp.mpf(6000)

    def rates(t, state):
        w, x, y, z, *m = state
        a, b, c = (p / i for p, i in zip(m, moments, strict=True))
        u1, u2 = 2 * (x * z - w * y), 2 * (y * z + w * x)  # the vertical in body axes
        turning = -x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c
        euler = m[1] * c - m[2] * b + u2, m[2] * a - m[0] * c - u1, m[0] * b - m[1] * a
        return [*(rate / 2 for rate in (*turning, w * c + x * b - y * a)), *euler]

    with mp.workdps(20):
        first = [1, 0, 0, 0, 10_000, 50_000, 60_000]
        end = mp.odefun(rates, 0, first, tol=mp.mpf(10) ** -17)(1)
        assert [float(x) for x in end[:4]] == stated


# ---- links
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")


def prose(page):
    """Return the text of a page without its code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page):
    """Return the anchors that GitHub makes of the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    heads = (re.sub(r"[^\w\- ]", "", head.lower()) for head in re.findall(r"^#+ (.*)$", text, re.M))
    return {head.strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", NAMING, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_name_files_and_objects_that_exist(page):
    text = page.read_text(encoding="utf-8")
    for name in set(re.findall(rf"(?<![\w/.])((?:{FOLDERS})/[\w./-]*\w)", text)):
        assert (ROOT / name).exists(), name
    for name in set(re.findall(rf"`((?:{ROOMS})/\w+\.py)`", text)):
        assert (ROOT / "src" / "polhode" / name).exists(), name
    for name in set(re.findall(r"`(?:ph|polhode)\.([a-zA-Z_][\w.]*\w)", text)):
        pkgutil.resolve_name(f"polhode.{name}")


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_point_to_existing_files_and_headings(page):
    for target, anchor in LINK.findall(prose(page)):
        file = page.parent / target if target else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), f"{target}#{anchor}"
