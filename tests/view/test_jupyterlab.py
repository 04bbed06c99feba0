"""``run.view()`` in JupyterLab: the widget draws, and its time moves it; a frame without it."""

import importlib.util
import time

import numpy as np
import pytest

import polhode as ph
from support import browser as web
from support.jupyter import jupyterlab, write_notebook

NEEDED = "jupyterlab", "ipykernel", "anywidget"
NOW = (  # what the widget says
    "[...document.querySelectorAll('.jp-OutputArea-output *')]"
    ".find(part => part.shadowRoot)?.shadowRoot.querySelector('output.now')?.textContent"
)
CELLS = [
    "import polhode as ph\nwidget = ph.load('run.nc').view()\nwidget",
    "widget.time = 3.2",
    "print('time is', widget.time)",
    "import sys\nfrom polhode.view import notebook\n"
    "sys.modules['anywidget'] = None  # as where it is not installed\n"
    "notebook.widget_class.cache_clear()\nph.load('run.nc').view()",
]


@pytest.fixture
def lab(tmp_path):
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        reason = f"{', '.join(missing)} missing: pip install -e '.[notebook-test]'"
        if web.required():
            pytest.fail(reason)
        pytest.skip(reason)
    run = ph.exact_free_motion(
        ph.RigidBody([1.0, 2.0, 2.5]), None, [0.1, 1.0, 0.2], np.linspace(0, 8, 201)
    )
    run.save(tmp_path / "run.nc")
    write_notebook(tmp_path / "view.ipynb", CELLS)
    with jupyterlab(tmp_path) as server:
        yield server


def test_the_widget_in_jupyterlab(lab, new_page):
    begin = time.perf_counter()
    page = new_page()
    page.watch.origins = (lab.origin,)
    page.goto(lab.address("view.ipynb"))
    run_cell(page, 0)
    scene = page.locator("canvas.scene")
    scene.wait_for()
    web.wait(page, f"/t = 0[.0]* s/.test({NOW})")
    page.wait_for_timeout(300)
    assert len(web.colours(web.decode(scene.screenshot()))) > 100
    run_cell(page, 1)
    web.wait(page, f"/t = 3[.]20* s/.test({NOW})")
    scene.click()  # and the other way
    page.keyboard.press("End")
    web.wait(page, f"/t = 8[.]0* s/.test({NOW})")
    page.wait_for_timeout(500)  # it tells its time ten times a second
    run_cell(page, 2)
    page.get_by_text("time is 8.0").wait_for()
    run_cell(page, 3)
    page.locator("iframe[srcdoc]").wait_for()
    frame = page.locator("iframe[srcdoc]").element_handle().content_frame()
    web.wait(frame, "window.polhode && polhode.frames > 0")
    print(f"JupyterLab: {time.perf_counter() - begin:.1f} s")  # noqa: T201


def run_cell(page, number):
    """Run a cell; again, if the notebook was not ready to hear it."""
    cell = page.locator(".jp-Notebook .jp-Cell").nth(number)
    prompt = cell.locator(".jp-InputPrompt")
    for _ in range(10):
        cell.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(1000)
        if prompt.inner_text() != "[ ]:":
            return
    pytest.fail(f"cell {number} did not run: {prompt.inner_text()!r}")
