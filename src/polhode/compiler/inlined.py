"""Compile functions that are only ever inlined, without machine code of their own.

Numba turns every function of a tree into machine code and optimises it three times: by itself,
cheaply with what it calls, then in full.  Below the root machine code is never run: callers inline
the LLVM code as it is, and the root optimises everything once.
"""

from functools import cache
from types import CodeType
from typing import Any

from numba import types as nt
from numba.core import typed_passes, untyped_passes
from numba.core.cgutils import alloca_once
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.core.untyped_passes import FixupArgs


class InlinedLibrary(JITCodeLibrary):
    """The LLVM code of a function, for its callers alone."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave functions as they are; the root optimises them."""

    def _optimize_final_module(self) -> None:
        """Leave that to the root."""

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

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Make room for a variable, without looking up its size, which only debuggers ask for."""
        return alloca_once(self.builder, lltype, name=name, zfill=False)

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


SPARED = (  # for functions without inner functions, ``with``, literals to unroll, array expressions
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.InlineInlinables,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.NoPythonSupportedFeatureValidation,
    typed_passes.DumpParforDiagnostics,
)


class LeanCompiler(CompilerBase):
    """Numba's compiler with ``LeanLowering`` instead of its own."""

    def define_pipelines(self) -> list:
        """Return the pipeline of nopython mode."""
        return [self.finalized(DefaultPassBuilder.define_nopython_pipeline(self.state))]

    spared: tuple = SPARED

    def finalized(self, passes: Any) -> Any:
        """Exchange the pass that lowers, leave out those that find nothing, close the pipeline."""
        inner = any(isinstance(each, CodeType) for each in self.state.func_id.code.co_consts)
        spared = () if inner else self.spared
        passes.passes = [
            (LeanLowering if p is NativeLowering else p, why)
            for p, why in passes.passes
            if p not in spared
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
    """The same for a user's function: an index outside of an array that it gets is an error.

    It may hold anything, so that all passes are made.
    """

    spared = ()

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
