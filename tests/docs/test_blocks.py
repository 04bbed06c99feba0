"""Blocks that continue each other, commands, and run files, as the pages show them."""

import shlex
import tomllib

import pytest

from support import pages

CONTINUED = [page for page in pages.pages() if pages.is_continued(page)]
COMMANDS = sorted(
    {
        line
        for page in [pages.ROOT / "README.md", *pages.pages()]
        for line in pages.commands(page)
        if "…" not in line and "COMMAND" not in line and " FILE" not in line
    }
)
RUN_FILES = [
    pytest.param(text, id=f"{page.relative_to(pages.DOCS)}-{k}")
    for page in pages.pages()
    for k, (language, _, text) in enumerate(pages.blocks(page))
    if language == "toml"
]


@pytest.mark.parametrize("page", CONTINUED, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_the_blocks_of_a_page_run_one_after_another(page, polhode):
    """Commands, too; blocks that need another library run where it is installed."""
    space = {"__name__": "block"}
    for language, needed, text in pages.blocks(page):
        if language == "python" and pages.is_installed(needed):
            exec(compile(text, page.name, "exec"), space)
        elif language == "console":
            for line in text.splitlines():
                code, _, error = polhode(*shlex.split(line, comments=True)[1:])
                assert code == 0, error


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_and_its_options_exist(line):
    from typer.main import get_command

    from polhode.cli.main import app

    name, *arguments = shlex.split(line, comments=True)[1:]
    known = get_command(app).commands
    assert name in known
    known[name].make_context(name, [word for word in arguments if word != "&&"])


@pytest.mark.parametrize("text", RUN_FILES)
def test_a_run_file_is_valid(text, tmp_path):
    """Parts of one, such as the models alone, stand before a problem of the catalogue."""
    from polhode.cli.plan import make_plan

    whole = {"body", "problem"} & set(tomllib.loads(text))
    file = tmp_path / "page.toml"
    file.write_text(text if whole else f'problem = "fast-top"\n{text}', encoding="utf-8")
    if "ensemble" not in tomllib.loads(text):
        assert make_plan(str(file), []).problem is not None
