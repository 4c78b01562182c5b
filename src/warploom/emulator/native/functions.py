"""Native functions of instructions: one function executes an instruction for a batch of warps.

A native function has the C signature `int64_t f(const record *operands, int64_t *context, int64_t count, const int64_t
*warps, const uint32_t *masks)`. It returns the number of warps that have executed the instruction. If this number is
below `count`, the interpreter must execute the instruction for the other warps.
"""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from typing import Any

import numpy as np
from llvmlite import ir

from warploom.emulator.native.builder import I32, I64, POINTER, Builder
from warploom.emulator.native.probe import Probe
from warploom.emulator.native.synchronisation import SynchronisedWarp
from warploom.emulator.native.wanted import Wanted
from warploom.numerics.tracing.kernels import evaluate
from warploom.numerics.tracing.values import TracedLanes, TraceError

TracedLanes.evaluator = staticmethod(evaluate)  # `values` cannot import `kernels`, which imports `values`
SIGNATURE = ir.FunctionType(I64, [POINTER, POINTER, I64, POINTER, POINTER])


def translate(module: ir.Module, wanted: Wanted) -> str:
    """Add a native function to a module, and return its kind (see `compiler.compile_functions`).

    Errors: TraceError if the semantics cannot be translated.
    """
    b = Builder(module, wanted.name, SIGNATURE)
    records, context, count, warps, masks = b.arguments
    leave, refuse = b.append_basic_block("leave"), b.append_basic_block("refuse")
    with b.loop(count) as position:
        with b.goto_block(leave):
            b.ret(position)
        with b.goto_block(refuse):
            b.ret(I64(0))
        warp, mask = b.get(warps, position), b.get(masks, position, I32)
        kind = Probe if wanted.is_probe else SynchronisedWarp
        traced = kind(b, records, context, position, warp, mask, leave, refuse, wanted.arch)
        execution: Any = wanted.form.execution
        try:
            with np.errstate(all="ignore"):  # for arithmetic on constants
                execution(traced, wanted.operands)
        except Exception as error:
            # Semantics may use any function of arrays, so the translation can fail in many ways.
            del module.globals[wanted.name]
            raise TraceError(f"{wanted.form.name}: {error}") from error
    b.ret(count)
    return traced.kind
