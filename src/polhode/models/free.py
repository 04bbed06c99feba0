"""No torque at all: V = 0, T = 0."""

from polhode.contracts import Model


def free() -> Model:
    """The free body: nothing acts on it."""
    return Model(name="free")


PLACE = 10
EXAMPLES: tuple[dict, ...] = ({},)
