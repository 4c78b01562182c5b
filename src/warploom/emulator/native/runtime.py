"""Native functions that all kernels share: the sequence of instructions, and the search for a memory segment."""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

import numpy as np
from llvmlite import ir

from warploom.emulator.access import DIRTY, LOCKED
from warploom.emulator.native.builder import I1, I8, I32, I64, POINTER, Builder
from warploom.emulator.native.context import Field
from warploom.emulator.native.functions import SIGNATURE

LANES = 32
INSTRUCTION = np.dtype(
    [
        ("function", np.uint64), ("records", np.uint64), ("guard", np.uint64), ("guard_stride", np.int64),
        ("negated", np.int64),
    ]
)  # fmt: skip
"""Instruction for `warploom.run`. A function of 0 stands for an instruction that the interpreter executes."""
_COLUMNS = len(INSTRUCTION.names or ())


def add_runtime(module: ir.Module) -> None:
    """Add the functions `warploom.find_segment`, `warploom.find_written` and `warploom.run` to a module."""
    _add_find(module, "warploom.find_segment", storing=False)
    _add_find(module, "warploom.find_written", storing=True)
    _add_run(module)


def _add_find(module: ir.Module, name: str, storing: bool) -> None:
    """Add the function that returns the segment of the virtual addresses [low, end), or -1 without one.

    If `storing` is set, the segment is marked as written, and a read-only segment counts as none.
    """
    b = Builder(module, name, ir.FunctionType(I64, [POINTER, I64, I64]))
    context, low, end = b.arguments
    starts, ends, states = (
        b.inttoptr(b.get(context, field), POINTER)
        for field in (Field.SEGMENT_STARTS, Field.SEGMENT_ENDS, Field.SEGMENT_STATES)
    )
    with b.loop(b.get(context, Field.SEGMENTS)) as index:
        inside = b.and_(
            b.icmp_unsigned(">=", low, b.get(starts, index)), b.icmp_unsigned("<=", end, b.get(ends, index))
        )
        with b.if_then(b.and_(inside, b.icmp_unsigned("<", low, end))):
            if storing:
                state = b.get(states, index, I8)
                with b.if_then(b.icmp_unsigned("==", state, I8(LOCKED))):
                    b.ret(I64(-1))
                b.put(I8(DIRTY), states, index, I8)
            b.ret(index)
    b.ret(I64(-1))


def _add_run(module: ir.Module) -> None:
    """Add the function that executes the instructions [first, end) for a batch of warps.

    The function returns the first program counter that it has not executed for all warps. If some warps have executed
    this instruction, the field EXECUTED of the context has their number.
    """
    kind = ir.FunctionType(I64, [POINTER, POINTER, I64, I64, I64, POINTER, POINTER, POINTER, POINTER])
    b = Builder(module, "warploom.run", kind)
    code, context, first, end, count, warps, masks, guarded, counts = b.arguments
    b.put(I64(0), context, Field.EXECUTED)
    with b.loop(b.sub(end, first)) as number:
        pc = b.add(first, number)
        entry = b.at(code, b.mul(pc, I64(_COLUMNS)))
        address, records, guard, stride, negated = (b.get(entry, column) for column in range(_COLUMNS))
        with b.if_then(b.icmp_unsigned("==", address, I64(0))):
            b.ret(pc)
        chosen = b.variable(masks)
        active = b.variable(I1(1))
        with b.if_then(b.icmp_unsigned("!=", guard, I64(0))):
            b.store(guarded, chosen)
            b.store(_add_guard(b, guard, stride, negated, count, warps, masks, guarded), active)
        with b.if_then(b.load(active, typ=I1)):
            b.put(b.add(b.get(counts, pc), count), counts, pc)
            function = b.inttoptr(address, SIGNATURE.as_pointer())
            operands = b.inttoptr(records, POINTER)
            done = b.call(function, [operands, context, count, warps, b.load(chosen, typ=POINTER)])
            with b.if_then(b.icmp_signed("<", done, count)):
                b.put(done, context, Field.EXECUTED)
                b.ret(pc)
    b.ret(end)


def _add_guard(
    b: Builder, guard: ir.Value, stride: ir.Value, negated: ir.Value, count: ir.Value, warps: ir.Value,
    masks: ir.Value, guarded: ir.Value,
) -> ir.Value:  # fmt: skip
    """Write the masks of the lanes whose guard is true to `guarded`. Return True if there is any."""
    flip = b.trunc(b.sub(I64(0), negated), I32)
    any_lane = b.variable(I32(0))
    octets = ir.VectorType(I8, LANES)
    with b.loop(count) as position:
        place = b.inttoptr(b.add(guard, b.mul(b.get(warps, position), stride)), POINTER)
        bits = b.bitcast(b.trunc(b.load(place, typ=octets, align=1), ir.VectorType(I1, LANES)), I32)
        lanes = b.and_(b.xor(bits, flip), b.get(masks, position, I32))
        b.put(lanes, guarded, position, I32)
        b.store(b.or_(b.load(any_lane, typ=I32), lanes), any_lane)
    return b.icmp_unsigned("!=", b.load(any_lane, typ=I32), I32(0))

