"""Compile functions that are only ever inlined, without machine code of their own.

Numba turns every function of a tree into machine code and optimises it three times: by itself,
cheaply with what it calls, then in full.  Below the root machine code is never run, and the last
time is enough: callers inline the LLVM code.  This saves a quarter of the time to compile a tree.
"""

from functools import cache
from typing import Any

from numba import types as nt
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.core.untyped_passes import FixupArgs


class InlinedLibrary(JITCodeLibrary):
    """The optimised LLVM code of a function, for its callers alone."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave functions as they are: ``_optimize_final_module`` follows."""

    def _optimize_final_module(self) -> None:
        """Optimise in full."""
        manager, builder = self._codegen._module_pass_manager()
        manager.run(self._final_module, builder)

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


@cache
def _counted(model: Any) -> bool:
    return model.contains_nrt_meminfo()


class LeanLower(Lower):
    """Numba's lowering, which would take tuples of floats apart to count no references in them."""

    def counted(self, typ: Any) -> bool:
        """Whether values of a type hold memory whose references Numba counts."""
        return _counted(self.context.data_model_manager[typ])

    def incref(self, typ: Any, val: Any) -> None:
        """Count one reference more."""
        if self.counted(typ):
            super().incref(typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        """Count one reference less."""
        if self.counted(typ):
            super().decref(typ, val)


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanLowering(NativeLowering):
    """The pass that lowers by ``LeanLower``."""

    _name = "polhode_lean_lowering"

    @property
    def lowering_class(self) -> type:
        """Return the class that lowers."""
        return LeanLower


class LeanCompiler(CompilerBase):
    """Numba's compiler with ``LeanLowering`` instead of its own."""

    def define_pipelines(self) -> list:
        """Return the pipeline of nopython mode."""
        return [self.finalized(DefaultPassBuilder.define_nopython_pipeline(self.state))]

    def finalized(self, passes: Any) -> Any:
        """Exchange the pass that lowers, and close the pipeline."""
        passes.passes = [
            (LeanLowering if p is NativeLowering else p, why) for p, why in passes.passes
        ]
        passes.finalize()
        return passes


class InlinedCompiler(LeanCompiler):
    """The same with ``ChooseLibrary`` among its passes."""

    def finalized(self, passes: Any) -> Any:
        """Choose the library first."""
        passes.add_pass_after(ChooseLibrary, FixupArgs)
        return super().finalized(passes)


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
