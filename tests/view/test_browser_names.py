"""Names in files are text: no markup in a page, and nothing foreign runs."""

import re

import pytest

import polhode as ph
from support.browser import settle, show
from support.views import Blob, header, save_page, still_run

EVIL = (
    "<script>window.hurt = 1</script>",
    '"><img src=x onerror="window.hurt = 2">',
    "</script><script>window.hurt = 3</script>",
    "<!--<script>",
    "]]><svg onload=window.hurt=4>",
    "&lt;b&gt; \u2028 \\u003c \x00",
    "${window.hurt = 5}",
)


def evil_page(path, name):
    blob = Blob()
    run = still_run(blob, name, [0.0, 1.0], [[1, 0, 0, 0]] * 2, [[0.1, 0, 0]] * 2)
    run["facts"] = [[name, name]]
    run["globe"] = None
    run["drawn"] = name
    run["series"][0].update(name=name, unit=name, labels=[name] * 3)
    other = still_run(blob, name, [0.0, 1.0], [[1, 0, 0, 0]] * 2, [[0.2, 0, 0]] * 2)
    unit = {"unit": name, "label": name}
    told = header([run, other], title=name, notes=[name], time=unit)
    save_page(path, told, blob)
    return path


def looks_unhurt(page):
    page.wait_for_timeout(100)
    assert page.evaluate("window.hurt") is None
    assert page.evaluate("document.querySelectorAll('img, svg, iframe').length") == 0
    root = "document.getElementById('polhode').shadowRoot"
    assert page.evaluate(f"{root}.querySelectorAll('img, script, iframe').length") == 0


@pytest.mark.parametrize("name", EVIL)
def test_names_in_a_header_stay_text(page, tmp_path, name):
    show(page, evil_page(tmp_path / "evil.html", name))
    for layout in ("side", "ghosts"):
        page.evaluate(f"polhode.setLayout({layout!r})")
        page.evaluate("polhode.seek(0.5)")
        settle(page)
        looks_unhurt(page)
    visible = name.replace("\x00", "\ufffd")
    seen = page.evaluate("document.getElementById('polhode').shadowRoot.textContent")
    assert name in seen or visible in seen
    assert page.title() in (name.strip(), visible.strip(), re.sub(r"\s+", " ", visible).strip())


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("name", EVIL[:3])
def test_names_in_a_run_file_stay_text(page, tmp_path, name):
    """A problem of that name, saved, loaded and shown under a path with markup in it."""
    problem = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), omega=[0.1, 1.0, 0.2], name=name)
    run = ph.solve(problem, (0, 1), method="imidm", dt=0.05)
    folder = tmp_path / name.replace("/", "")
    folder.mkdir()
    run.save(folder / "run.nc")
    file = folder / "run.html"
    ph.load(folder / "run.nc").save_html(file)
    show(page, file)
    looks_unhurt(page)
    seen = page.evaluate("document.getElementById('polhode').shadowRoot.textContent")
    assert name in seen


# ---- the content-security policy
def test_the_page_has_a_policy(tmp_path):
    text = evil_page(tmp_path / "x.html", "x").read_text(encoding="utf-8")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";") if part.strip())
    assert rules["default-src"] == "'none'"
    for rule in rules.values():
        assert "unsafe-inline" not in rule
        assert "unsafe-eval" not in rule
        assert "http" not in rule
        assert "*" not in rule
    assert text.index("Content-Security-Policy") < text.index("<script")


@pytest.mark.parametrize(
    "attempt",
    [
        "const s = document.createElement('script'); s.textContent = 'window.hurt = 1';"
        " document.body.append(s)",
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hurt = 2\">')",
        "const s = document.createElement('script'); s.src = 'data:text/javascript,window.hurt=3';"
        " document.body.append(s)",
        "setTimeout(() => eval('window.hurt = 4'), 10)",
        "setTimeout('window.hurt = 5', 10)",
        "fetch('http://127.0.0.1:9/').catch(() => 0)",
        "new Image().src = 'http://127.0.0.1:9/'",
        "try { new WebSocket('ws://127.0.0.1:9/') } catch {}",
    ],
)
def test_the_policy_holds(page, tmp_path, attempt):
    show(page, evil_page(tmp_path / "x.html", "x"))
    failures = []
    page.on("requestfailed", lambda request: failures.append((request.url, request.failure)))
    page.evaluate(f"() => {{ {attempt} }}")
    page.wait_for_timeout(200)
    assert page.evaluate("window.hurt") is None
    watch = page.watch
    assert watch.errors != []
    assert [error for error in watch.errors if "Content Security Policy" not in error] == []
    for url in watch.outside:  # told before it is refused
        assert (url, "csp") in failures
    watch.errors.clear()
    watch.outside.clear()
