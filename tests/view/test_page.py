"""The page: one file, a strict policy, texts of runs that stay data; and its size."""

import base64
import gzip
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.view import notebook, page
from polhode.view.packing import Options, pack

ROOT = Path(__file__).parents[2]
EVIL = "</script><script>alert(1)</script><!-- ' \" & <img src=x onerror=alert(1)> ]]> \u2028"


class Reader(HTMLParser):
    """The elements of a page, with attributes and texts, by Python's parser."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.found, self.is_open = [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append([tag, dict(attrs), ""])
        self.is_open = True

    def handle_endtag(self, tag):
        self.is_open = False

    def handle_data(self, data):
        if self.is_open:
            self.found[-1][2] += data

    def all(self, tag):
        return [(attrs, text) for name, attrs, text in self.found if name == tag]

    def text(self, name):
        (found,) = [text for _, attrs, text in self.found if attrs.get("id") == name]
        return found


@pytest.fixture(scope="module")
def top():
    return ph.solve(ph.problems.fast_top(), (0, 1), dt=0.002)


@pytest.fixture(scope="module")
def text(top):
    return page.html_page(pack(top, Options()))


def unpacked(text):
    return gzip.decompress(base64.b64decode(text))


# ---- the policy
def sources(text):
    """The policy of a page: directive -> sources."""
    (policy,) = [a["content"] for a, _ in Reader(text).all("meta") if "http-equiv" in a]
    return {words[0]: words[1:] for part in policy.split(";") if (words := part.split())}


def sha256(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_allows_the_own_scripts_and_nothing_else(text):
    found = Reader(text)
    ((_, style),) = found.all("style")
    (loader,) = [body for attrs, body in found.all("script") if attrs["type"] == "module"]
    code = unpacked(found.text("code")).decode()
    assert sources(text) == {
        "default-src": ["'none'"],
        "script-src": [sha256(loader), sha256(code)],
        "style-src": [sha256(style)],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    order = [tag for tag, *_ in found.found]
    assert order.index("meta") < order.index("style") < order.index("script")
    assert found.all("meta")[0][0] == {"charset": "utf-8"}


def test_nothing_is_asked_from_outside(text):
    found = Reader(text)
    code = unpacked(found.text("code")).decode()
    for _, attrs, _ in found.found:
        assert not {"src", "href", "onload", "onerror", "style", "action"} & set(attrs)
    for word in ("eval(", "Function(", "innerHTML", "importScripts", "document.write"):
        assert word not in code, word
    assert not re.search(r"(?<!\{)import\(", code)  # types in comments have a brace before it
    addresses = set(re.findall(r"https?://[^\s\"'`)]+", text + code))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name, not an address


def test_the_code_is_all_modules_in_one(text):
    code = unpacked(Reader(text).text("code")).decode()
    assert not re.search(r"^(import|export)\b", code, re.M)
    for name in page.WEB.glob("*.js"):
        for function in re.findall(r"^export (?:async )?function (\w+)", name.read_text(), re.M):
            assert len(re.findall(rf"^(?:async )?function {function}\(", code, re.M)) <= 1
    assert "function mount(" in code
    assert code.index("function between(") < code.index("function mount(")
    assert "export default" in page.module(True)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_code_is_javascript(tmp_path):
    for name, with_default in (("page.mjs", False), ("widget.mjs", True)):
        (tmp_path / name).write_text(page.module(with_default), encoding="utf-8")
        subprocess.run(["node", "--check", tmp_path / name], check=True, timeout=60)


def test_modules_that_import_each_other_are_refused(tmp_path, monkeypatch):
    (tmp_path / "viewer.js").write_text('import { a } from "./other.js";\nexport const b = 1;\n')
    (tmp_path / "other.js").write_text(
        'import {\n  b,\n} from "./viewer.js";\nexport const a = 1;\n'
    )
    monkeypatch.setattr(page, "WEB", tmp_path)
    with pytest.raises(ValueError, match=r"viewer\.js -> other\.js -> viewer\.js"):
        page.module.__wrapped__(False)


def test_modules_are_joined_in_the_order_of_imports(tmp_path, monkeypatch):
    (tmp_path / "viewer.js").write_text(
        '// first\nimport { a } from "./a.js";\nimport {\n  c,\n} from "./c.js";\n'
        "/** what\n * it is */\nexport function mount() {\n  return a + c; // sum\n}\n"
        "export default { render };\n"
    )
    (tmp_path / "a.js").write_text('import { c } from "./c.js";\nexport const a = c;\n')
    (tmp_path / "c.js").write_text("export const c = `\n//`;\n")
    monkeypatch.setattr(page, "WEB", tmp_path)
    body = "const a = c;\n\nfunction mount() {\n  return a + c; // sum\n}\n"
    assert page.module.__wrapped__(False).endswith(body)
    assert page.module.__wrapped__(True).endswith(body + "export default { render };\n")
    assert page.module.__wrapped__(False).startswith("const c = `")


# ---- texts of runs
def evil_run(top):
    run = top[:]
    run.__dict__["problem"] = {**top.problem, "name": EVIL, "model": EVIL}
    run.method, run.message, run.arguments = EVIL, EVIL, {"dt": 0.1, EVIL: EVIL}
    return run


def test_malicious_texts_stay_data(top, text):
    packed = pack([evil_run(top)] * 2, Options(names=[EVIL, EVIL + "2"], title=EVIL))
    packed.header["notes"].append(EVIL)
    found, plain = Reader(page.html_page(packed)), Reader(text)
    assert [tag for tag, *_ in found.found] == [tag for tag, *_ in plain.found]
    ((_, title),) = found.all("title")
    assert title == EVIL
    header = json.loads(found.text("header"))
    assert header == packed.header
    assert header["runs"][0]["name"] == EVIL
    assert ["problem", EVIL] in header["runs"][0]["facts"]
    for attrs, body in found.all("script"):
        assert "<" not in body or attrs["type"] == "module"


def test_a_name_from_a_file_stays_data(top, tmp_path, polhode):
    path = ph.load(evil_run(top).save(tmp_path / "evil.nc"))
    path.save(tmp_path / "a<script>alert(1)<!--.nc")
    path.save(tmp_path / "b.nc")
    code, out, err = polhode(
        "view", *sorted(map(str, tmp_path.glob("[ab]*.nc"))), "--html", "p.html"
    )
    assert (code, out.strip(), err) == (0, "p.html", "")
    found = Reader((tmp_path / "p.html").read_text(encoding="utf-8"))
    names = [run["name"] for run in json.loads(found.text("header"))["runs"]]
    assert names == ["a<script>alert(1)<!--", "b"]


def test_pages_are_the_same_every_time(top, text):
    assert page.html_page(pack(top, Options())) == text


# ---- files
def test_a_page_is_written_completely_or_not_at_all(top, tmp_path, monkeypatch):
    path = tmp_path / "top.html"
    assert top.save_html(path) == path
    before = path.read_bytes()
    assert before.startswith(b"<!doctype html>")
    assert os.listdir(tmp_path) == ["top.html"]

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ph.FileError, match=r"cannot write the page .*top\.html.*No space left"):
        top.save_html(path, title="other")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["top.html"]


@pytest.mark.parametrize("name", ["top.png", "top", "top.html.gz"])
def test_other_suffixes_are_refused(top, tmp_path, name):
    with pytest.raises(ph.FileError, match=r"path must end in \.html or \.htm, got '.*top"):
        top.save_html(tmp_path / name)


def test_a_missing_directory_is_named(top, tmp_path):
    with pytest.raises(ph.FileError, match=r"cannot write the page.*nowhere.*its directory must"):
        top.save_html(tmp_path / "nowhere" / "top.html")


def test_view_writes_a_private_page_and_opens_it(top, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    path = top.view(theme="dark")
    assert opened == [path.as_uri()]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.parent.parent == tmp_path
    assert json.loads(Reader(path.read_text()).text("header"))["theme"] == "dark"
    assert ph.view([top, top], layout="ghosts", browser=False) != path
    assert len(opened) == 1


def test_without_a_browser_the_path_is_told(top, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    with pytest.warns(ph.PolhodeWarning, match=r"no browser could be opened: open '.*view\.html'"):
        path = top.view()
    assert path.exists()


@pytest.mark.parametrize("first", ["ph.view", "import polhode.view", "import polhode.view.page"])
def test_the_room_is_callable_whatever_was_imported_first(first):
    code = f"import polhode as ph\n{first}\ntry:\n    ph.view([])\nexcept ph.InputError as e:\n"
    command = [sys.executable, "-c", f"{code}    print(e)"]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "one to 16 trajectories" in out


# ---- notebooks
def test_a_widget_where_anywidget_is(top):
    pytest.importorskip("anywidget")
    packed = pack(top, Options())
    widget = notebook.cell(packed, 400)
    assert json.loads(widget.header) == packed.header
    assert widget.data == packed.data
    assert (widget.time, widget.height, widget.picked) == (0.0, "400px", None)
    widget.time = 0.7
    assert widget.get_state()["time"] == 0.7
    assert widget.get_state()["_esm"].rstrip().endswith("export default { render };")
    with pytest.raises(Exception, match="time"):
        widget.time = "soon"


def test_the_widget_starts_with_the_run():
    pytest.importorskip("anywidget")
    run = ph.solve(ph.problems.fast_top(), (3.0, 2.5), dt=0.01)
    assert notebook.cell(pack(run, Options()), 400).time == 2.5


def test_a_frame_where_anywidget_is_not(top, monkeypatch, text):
    monkeypatch.setattr(notebook, "widget_class", lambda: None)
    cell = notebook.cell(pack(top, Options()), 400)
    ((attrs, _),) = Reader(cell._repr_html_()).all("iframe")
    assert attrs["srcdoc"] == text
    assert attrs["sandbox"] == "allow-scripts allow-downloads"
    assert "height:400px" in attrs["style"]
    for act in (lambda: cell.time, lambda: setattr(cell, "time", 3.2)):
        with pytest.raises(ph.InputError, match=r"anywidget: pip install 'polhode\[notebook\]'"):
            act()


def test_a_notebook_shows_the_cell(top, monkeypatch):
    class Shell:
        kernel = object()

    class Interactive:
        get_ipython = staticmethod(lambda: Shell())

    monkeypatch.setitem(sys.modules, "IPython", Interactive)
    monkeypatch.setattr(notebook, "widget_class", lambda: None)
    assert isinstance(top.view(height=300), notebook.Frame)
    del Shell.kernel  # IPython in a terminal
    assert not notebook.in_notebook()


@pytest.mark.parametrize("height", [50, 3.5, "tall"])
def test_a_bad_height_is_named(top, height):
    with pytest.raises(ph.InputError, match="height must be a whole number, 100 or more"):
        top.view(height=height)


# ---- the command line
def test_view_writes_a_page_from_files(top, tmp_path, polhode):
    top.save(tmp_path / "a.nc")
    ph.solve(ph.problems.fast_top(), (0, 1), dt=0.002, method="akw").save(tmp_path / "b.nc")
    code, out, err = polhode(
        "view", "a.nc", "b.nc", "--html", "p.html", "--ghosts", "--theme", "dark"
    )
    assert (code, out, err) == (0, "p.html\n", "")
    header = json.loads(Reader((tmp_path / "p.html").read_text()).text("header"))
    assert (header["layout"], header["theme"]) == ("ghosts", "dark")
    assert [run["name"] for run in header["runs"]] == ["a", "b"]


def test_view_opens_a_temporary_page(top, tmp_path, polhode, monkeypatch):
    opened = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda address: bool(opened.append(address)))
    top.save(tmp_path / "a.nc")
    code, out, err = polhode("view", "a.nc")
    assert code == 0
    assert Path(out.strip()).as_uri() == opened[0]
    assert "no browser could be opened" in err
    code, out, err = polhode("view", "a.nc", "--no-open")
    assert (code, err, len(opened)) == (0, "", 1)
    assert Path(out.strip()).exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.nc"], ["none.nc"]),
        (["a.nc", "--theme", "blue"], ["theme must be one of", "'blue'"]),
        (["a.nc", "--html", "a.txt"], ["must end in .html", "'a.txt'"]),
        (["a.nc", "--html", "no/a.html"], ["its directory must exist"]),
    ],
)
def test_bad_input_of_view_is_named(top, tmp_path, polhode, arguments, words):
    top.save(tmp_path / "a.nc")
    code, out, err = polhode("view", *arguments)
    assert (code, out) == (2, "")
    for word in words:
        assert word in err


def test_run_also_writes_a_page(tmp_path, polhode):
    code, out, _ = polhode("run", "fast-top", "--t-end", "1", "--no-plot", "--html", "--out", "x")
    assert code == 0
    assert sorted(os.listdir(tmp_path / "x")) == ["fast-top.html", "fast-top.nc"]
    assert "fast-top.html" in out
    header = json.loads(Reader((tmp_path / "x" / "fast-top.html").read_text()).text("header"))
    assert header["title"] == "fast-top"


def test_resume_also_writes_a_page(tmp_path, polhode):
    polhode("run", "fast-top", "--t-end", "1", "--no-plot", "--checkpoint", "a.ckpt", "-q")
    assert polhode("resume", "a.ckpt", "--html", "--no-plot", "--out", "x")[0] == 0
    assert (tmp_path / "x" / "fast-top.html").exists()


# ---- sizes and times
def test_a_hundred_thousand_rows_fit_into_150_kb(tmp_path):
    run = ph.solve(ph.problems.fast_top(), (0, 100), dt=1e-3)
    assert len(run) == 100_001
    begun = time.process_time()
    path = run.save_html(tmp_path / "top.html")
    assert time.process_time() - begun < 2.0
    assert path.stat().st_size <= 150_000


def bumpy_sphere(n):
    """A closed surface of 2 n² - 2 n faces, none of them flat."""
    around, down = np.meshgrid(np.arange(n) * 2 * np.pi / n, np.arange(1, n) * np.pi / n)
    size = 1.0 + 0.02 * np.sin(40 * around) * np.sin(40 * down)
    ring = np.stack([np.sin(down) * np.cos(around), 2 * np.sin(down) * np.sin(around)], axis=-1)
    rows = np.concatenate([ring, 3 * np.cos(down)[..., None]], axis=-1) * size[..., None]
    vertices = np.concatenate([rows.reshape(-1, 3), [[0, 0, 3.0], [0, 0, -3.0]]])
    k, j = np.meshgrid(np.arange(n - 2) * n, np.arange(n), indexing="ij")
    a, b = (k + j).ravel(), (k + (j + 1) % n).ravel()
    j, last = np.arange(n), (n - 2) * n
    top, bottom = np.full(n, len(vertices) - 2), np.full(n, len(vertices) - 1)
    corners = [(a, a + n, b + n), (a, b + n, b), (top, j, (j + 1) % n)]
    corners.append((bottom, last + (j + 1) % n, last + j))
    return vertices, np.concatenate([np.stack(three, axis=1) for three in corners])


def test_any_default_view_fits_into_2_mb(tmp_path, monkeypatch):
    """Sixteen long runs, each of more turns than fit, with a mesh of a million faces."""
    vertices, faces = bumpy_sphere(708)
    body = ph.RigidBody.from_mesh((vertices, faces), density=1000.0)
    problem = ph.Problem(
        body, ph.models.uniform_gravity(), omega=[3.0, 7.0, 30.0], position=(0, 0, 9)
    )
    run = ph.solve(problem, (0, 2000), dt=0.02)
    path = ph.view.save_html([run[k:] for k in range(16)], tmp_path / "many.html")
    header = json.loads(Reader(path.read_text()).text("header"))
    assert any("triangles" in note for note in header["notes"])
    assert any("is shown" in note for note in header["notes"])
    assert path.stat().st_size <= 2_000_000
    alone = run.save_html(tmp_path / "one.html")
    assert alone.stat().st_size <= 2_000_000


def test_the_benchmark_finds_its_claims_met():
    from polhode.bench import benches, run

    bench = benches()["viewer"]
    found = run(bench, bench.settings(repeats=1, quick=True))
    assert next(row["rows"] for row in found.tables[0].rows) == 2001
    assert all(verdict.met for verdict in found.verdicts if "time" not in verdict.what)


# ---- the wheel
def test_the_wheel_contains_the_modules():
    """It holds all of the package that git does not ignore, whatever the suffix."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        targets = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"] == {"packages": ["src/polhode"]}
    ignored = (ROOT / ".gitignore").read_text().split()
    assert not [line for line in ignored if line.rstrip("/").endswith(("js", "web", "view"))]
    assert (ROOT / "src" / "polhode" / "view" / "web" / "viewer.js").exists()
