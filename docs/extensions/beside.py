"""Two programs that follow each other on the pages of peers stand side by side, if there is room.

Programs begin with a comment that says in which library they are.  A block may name the package
that it needs, after the language; the tests run it where that is installed.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

FOLDER = "peers/"


class Beside(SphinxTransform):
    default_priority = 400

    def apply(self) -> None:
        if not self.env.docname.startswith(FOLDER):
            return
        second: list[nodes.Node] = []
        for block in list(self.document.findall(nodes.literal_block)):
            if any(block is other for other in second) or not titled(block):
                continue
            after = block.next_node(descend=False, siblings=True)
            if isinstance(after, nodes.literal_block) and titled(after):
                second.append(after)
                pair = nodes.container("", block.deepcopy(), after.deepcopy(), classes=["beside"])
                after.parent.remove(after)
                block.replace_self(pair)


def titled(block: nodes.literal_block) -> bool:
    """Whether a program begins with a comment that says in which library it is."""
    return block.astext().startswith("# ")


def make_room(app: Sphinx, name: str, template: str, context: dict, tree: nodes.Node) -> None:
    """Leave out the contents of a page on the right."""
    if name.startswith((FOLDER, "source/")):
        context["theme_secondary_sidebar_items"] = []


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", make_room, priority=100)
    app.add_transform(Beside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
