"""Compile functions that are only ever inlined, without machine code of their own.

Numba turns every function of a tree into machine code, which takes a seventh of the time to compile
the tree.  Below the root it is never run: callers inline the optimised LLVM code.
"""

from typing import Any

from numba import types as nt
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.untyped_passes import FixupArgs


class InlinedLibrary(JITCodeLibrary):
    """The optimised LLVM code of a function, for its callers alone."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> "InlinedLibrary":
        """What Numba asks to connect the function to Python: itself, see ``set_env``."""
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Ignore the environment: it serves calls from Python."""


@register_pass(mutates_CFG=False, analysis_only=True)
class ChooseLibrary(FunctionPass):
    """Have the code of the function put into an ``InlinedLibrary``."""

    _name = "polhode_choose_library"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Make the library; lowering takes one that is there."""
        state.library = InlinedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return True


class InlinedCompiler(CompilerBase):
    """Numba's compiler with ``ChooseLibrary`` among its passes."""

    def define_pipelines(self) -> list:
        """Return the pipeline of nopython mode with one pass more."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(ChooseLibrary, FixupArgs)
        passes.finalize()
        return [passes]


class CheckedCompiler(InlinedCompiler):
    """The same for a user's function: an index outside of an array that it gets is an error."""

    def define_pipelines(self) -> list:
        """Return the same pipeline."""
        if _has_array(self.state.args):
            self.state.targetctx = self.state.targetctx.subtarget(enable_boundscheck=True)
        return super().define_pipelines()


def _has_array(kinds: Any) -> bool:
    return any(
        _has_array(kind) if isinstance(kind, nt.BaseTuple) else isinstance(kind, nt.Array)
        for kind in kinds
    )
