"""Compilation of native functions to machine code."""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from collections.abc import Iterable

import llvmlite.binding as llvm
from llvmlite import ir

from warploom.emulator.native.functions import translate
from warploom.emulator.native.runtime import add_runtime
from warploom.emulator.native.wanted import Wanted
from warploom.numerics._stored import target_machine
from warploom.numerics.tracing.values import TraceError


def compile_functions(wanted: Iterable[Wanted]) -> tuple[bytes, dict[str, str]]:
    """Return the machine code of functions as an object file, and the kind of each function by name.

    The kind "any" stands for a function that may always be called, "converged" for one that may only be called while no
    warp is diverged, and "none" for semantics that cannot be translated. The kind of a probe lists its actions (see
    `actions.Action`).
    """
    module = ir.Module()
    kinds: dict[str, str] = {}
    for each in wanted:
        try:
            kinds[each.name] = translate(module, each)
        except TraceError:
            kinds[each.name] = "none"
    return _compile(module), kinds


def compile_runtime() -> bytes:
    """Return the machine code of the functions of `runtime` as an object file."""
    module = ir.Module()
    add_runtime(module)
    return _compile(module)


def _compile(module: ir.Module) -> bytes:
    """Return the object file of a module.

    The function runs three passes. The standard pipelines of LLVM take longer, and the code of `runtime` does not
    become faster.
    """
    machine = target_machine(1)
    module.triple = machine.triple
    parsed = llvm.parse_assembly(str(module))
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(parsed, builder)
    return machine.emit_object(parsed)
