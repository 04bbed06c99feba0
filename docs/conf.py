"""The site: ``sphinx-build -W -n docs site`` from the root of the repository.

Pages are Markdown that is readable on GitHub as well.  ``extensions/`` makes what follows from the
package: the reference of Python names, the entries of the registries, the commands, and the pages
of source code to which formulas are linked.
"""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS / "extensions"), str(DOCS / "make"), str(DOCS.parent / "src")]

import polhode  # noqa: E402

project = "polhode"
author = "The polhode developers"
project_copyright = "the polhode developers, MIT licence"
version = release = polhode.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "extensions.formulas",
    "extensions.sources",
    "extensions.outside",
    "extensions.docstrings",
    "extensions.python_names",
    "extensions.registries",
    "extensions.commands",
    "extensions.beside",
    "extensions.names",
    "extensions.cells",
    "gallery",
]
exclude_patterns = ["make", "extensions", "static", ".katex", "README.md"]
suppress_warnings: list[str] = []

# ---- Markdown
myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist"]
myst_enable_extensions += ["dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

# ---- Python
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # they stand in the tables of parameters
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"
nitpick_ignore_regex = [(r"py:.*", r"(?!polhode).*")]  # other packages: no inventory is fetched

# ---- the page
html_math_renderer = "katex"
html_theme = "pydata_sphinx_theme"
html_title = "polhode"
html_logo = "static/logo.svg"
html_favicon = "static/logo.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_sidebars = {"papers/*[0-9]": []}  # room for their tables
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "polhode"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "github-dark",
}
