"""Native functions of instructions: one function executes an instruction for a batch of warps.

A native function has the C signature `int64_t f(const record *operands, int64_t *context, int64_t count, const int64_t
*warps, const uint32_t *masks)`. It returns the number of warps that have executed the instruction. If this number is
below `count`, the interpreter must execute the instruction for the other warps.
"""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir

from warploom.emulator.native.warps import I32, I64, POINTER, TracedWarp
from warploom.isa.model.form import Form
from warploom.numerics.tracing.kernels import TraceError

SIGNATURE = ir.FunctionType(I64, [POINTER, POINTER, I64, POINTER, POINTER])


def translate(module: ir.Module, name: str, form: Form, operands: SimpleNamespace, arch: str) -> bool:
    """Add the native function of an instruction to a module.

    `operands` contains the modifiers and the operand descriptions of the instruction. Return True if the function may
    only be called while no warp is diverged.

    Errors: TraceError if the semantics cannot be translated.
    """
    function = ir.Function(module, SIGNATURE, name)
    records, context, count, warps, masks = function.args
    entry, head, body, end, leave, refuse = (
        function.append_basic_block(name) for name in ("entry", "head", "body", "end", "leave", "refuse")
    )
    builder = ir.IRBuilder(entry)
    builder.branch(head)
    builder.position_at_end(head)
    position = builder.phi(I64)
    position.add_incoming(I64(0), entry)
    builder.cbranch(builder.icmp_signed("<", position, count), body, end)
    builder.position_at_end(leave)
    builder.ret(position)
    builder.position_at_end(refuse)
    builder.ret(I64(0))
    builder.position_at_end(end)
    builder.ret(count)
    builder.position_at_end(body)
    warp = builder.load(builder.gep(warps, [position], source_etype=I64), typ=I64)
    mask = builder.load(builder.gep(masks, [position], source_etype=I32), typ=I32)
    traced = TracedWarp(builder, records, context, position, warp, mask, leave, refuse, arch)
    execution: Any = form.execution
    try:
        with np.errstate(all="ignore"):  # for arithmetic on constants
            execution(traced, operands)
    except Exception as error:
        # Semantics may use any function of arrays, so the translation can fail in many ways.
        del module.globals[name]
        raise TraceError(f"{form.name}: {error}") from error
    following = builder.add(position, I64(1))
    position.add_incoming(following, builder.block)
    builder.branch(head)
    return traced.converged_only
