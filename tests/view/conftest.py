"""A browser for the tests of the viewer, and pages of which every error is an error."""

import pytest

from support import browser as web


@pytest.fixture(scope="module")  # not longer: an event loop runs while it is open
def browser():
    opened = web.launched()
    try:
        started = opened.__enter__()
    except web.NoBrowser as reason:
        if web.required():
            pytest.fail(f"no browser: {reason}")
        pytest.skip(f"no browser: {reason}")
    yield started
    opened.__exit__(None, None, None)


@pytest.fixture
def new_page(browser):
    """Open pages with options of playwright's contexts; none may have errors or ask the outside."""
    contexts = []

    def new(**options):
        context = browser.new_context(**{"viewport": web.SIZE, **options})
        context.set_default_timeout(web.PATIENCE)
        watch = web.Watch(context)
        contexts.append((context, watch))
        page = context.new_page()
        page.watch = watch
        return page

    yield new
    for context, watch in contexts:
        context.close()
        assert watch.errors == []
        assert watch.outside == []


@pytest.fixture
def page(new_page):
    return new_page()


def pytest_collection_modifyitems(items):
    """Try tests in a browser again, up to twice: on a busy machine a page may be late."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.flaky(reruns=2))
