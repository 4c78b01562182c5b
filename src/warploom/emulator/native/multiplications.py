"""Machine code that executes runs of multiplications of matrices in registers."""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from llvmlite import ir

from warploom.emulator.native.builder import I32, I64, POINTER, Builder
from warploom.emulator.native.context import Field
from warploom.emulator.native.functions import SIGNATURE
from warploom.emulator.native.register_runs import GroupField, RunField

_MACS_OF_BATCH_BITS = 18
"""Binary logarithm of the number of multiply-accumulate operations that count as one batch."""


def add_multiply(module: ir.Module) -> None:
    """Add the native function that executes a run of multiplications, and its probe.

    Both functions read the records that `RegisterRuns.records` returns. If the compiled arithmetic raises an exception,
    the interpreter executes the run again and reports the exception.
    """
    _add_can_multiply(module)
    b = Builder(module, "warploom.multiply", SIGNATURE)
    records, context, count, warps, _ = b.arguments
    possible = b.call(module.globals["warploom.can_multiply"], b.arguments)
    with b.if_then(b.icmp_signed("!=", possible, count)):
        b.ret(I64(0))
    with b.loop(b.get(records, RunField.GROUPS)) as number:
        group = b.at(records, b.add(I64(len(RunField)), b.mul(number, I64(len(GroupField)))))
        argument = b.inttoptr(b.get(group, GroupField.WARPS), POINTER)
        b.put(b.ptrtoint(warps, I64), argument, 0)
        b.put(count, argument, 1)
        entry = b.inttoptr(b.get(group, GroupField.ENTRY), ir.FunctionType(I64, [I64]).as_pointer())
        found = b.call(entry, [b.get(group, GroupField.WORDS)])
        with b.if_then(b.icmp_signed("!=", found, I64(0))):
            b.ret(I64(0))
    count_macs(b, context, b.mul(count, b.get(records, RunField.MACS)))
    b.ret(count)


def count_macs(b: Builder, context: ir.Value, macs: ir.Value) -> None:
    """Add multiply-accumulate operations to the statistics.

    They also count as batches, so that native code returns at intervals and the emulator reports its progress.
    """
    b.count(context, Field.MACS, macs)
    b.count(context, Field.LAST_BATCH, b.sub(I64(0), b.ashr(macs, I64(_MACS_OF_BATCH_BITS))))


def _add_can_multiply(module: ir.Module) -> None:
    """Add the probe of a run of multiplications (see `probe`).

    The interpreter executes the run if native code may not multiply, or if a lane is inactive.
    """
    b = Builder(module, "warploom.can_multiply", SIGNATURE)
    _, context, count, _, masks = b.arguments
    with b.if_then(b.icmp_signed("==", b.get(context, Field.MULTIPLIES), I64(0))):
        b.ret(I64(0))
    with b.loop(count) as position, b.if_then(b.icmp_signed("!=", b.get(masks, position, I32), I32(-1))):
        b.ret(I64(0))
    b.ret(count)
