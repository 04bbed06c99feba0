"""The compiler's types of numbers that take several floats in a row."""

from collections.abc import Iterator

from numba import types as nt


class WideType(nt.Type):
    """The compiled form of ``tree.Wide``: a struct of parts, doubles or vectors of them."""

    def part_kinds(self) -> list:
        """List the LLVM types of the parts."""
        raise NotImplementedError

    def taken_apart(self, builder, value) -> list:
        """List the parts of a value."""
        raise NotImplementedError

    def put_together(self, context, builder, parts: Iterator):
        """Return the value that consists of the next parts."""
        raise NotImplementedError
