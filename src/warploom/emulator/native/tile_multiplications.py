"""Machine code that executes runs of warpgroup multiplications."""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from collections.abc import Generator
from contextlib import contextmanager

from llvmlite import ir

from warploom.emulator.accumulators import MatricesField
from warploom.emulator.native.builder import I1, I8, I64, POINTER, Builder
from warploom.emulator.native.context import Field
from warploom.emulator.native.functions import SIGNATURE
from warploom.emulator.native.multiplications import count_macs
from warploom.emulator.native.requirements import WARPS
from warploom.emulator.native.tile_runs import CallField, ChainField, OperandField, ReadField, TileRunField
from warploom.numerics.tile_products import COMPUTED


def add_multiply_tiles(module: ir.Module) -> None:
    """Add the native function that executes a run of warpgroup multiplications under the schedule "eager".

    The batch consists of whole warpgroups. The function reads the records that `TileRun.table` returns. It declines the
    run before any effect if the operands or the cached accumulators of a warpgroup do not allow it. If a tile is out of
    bounds, earlier calls, for other warpgroups or chains, may have computed. The interpreter then executes the run
    again and reports the fault.
    """
    _add_capture(module)
    b = Builder(module, "warploom.multiply_tiles", SIGNATURE)
    records, context, count, _, _ = b.arguments
    possible = b.call(module.globals["warploom.can_multiply"], b.arguments)
    with b.if_then(b.icmp_signed("!=", possible, count)):
        b.ret(I64(0))
    capture = module.globals["warploom.capture"]
    with _each_warpgroup(b) as (leader, _), b.if_then(b.not_(b.call(capture, [records, context, leader]))):
        b.ret(I64(0))
    with _each_warpgroup(b) as (leader, group):
        b.call(capture, [records, context, leader])
        warps = b.at(b.array(context, Field.WARPGROUP_MEMBERS), b.mul(group, I64(WARPS)))
        chains = _each_record(b, records, TileRunField.CHAINS, len(ChainField))
        with chains as chain, b.if_then(b.not_(_is_available(b, chain, group))):
            _read_matrix(b, b.array(chain, ChainField.READ), warps)
        cta = b.get(b.array(context, Field.CTA_OF), leader)
        memory = b.add(b.get(context, Field.SHARED), b.mul(cta, b.get(context, Field.SHARED_STRIDE)))
        with _each_record(b, records, TileRunField.CALLS, len(CallField)) as call:
            with b.if_then(b.icmp_unsigned("!=", b.get(call, CallField.READ), I64(0))):
                _read_matrix(b, b.array(call, CallField.READ), warps)
            b.put(memory, b.array(call, CallField.WORDS), 0)
            found = _call(b, call, CallField.ENTRY, CallField.WORDS)
            with b.if_then(b.icmp_signed("!=", found, I64(COMPUTED))):
                b.ret(I64(0))
        with _each_record(b, records, TileRunField.CHAINS, len(ChainField)) as chain:
            matrices = b.array(chain, ChainField.MATRICES)
            b.put(I8(1), b.array(matrices, MatricesField.CURRENT), group, I8)
            b.put(I64(1), matrices, MatricesField.CACHED)
    count_macs(b, context, b.mul(b.sdiv(count, I64(WARPS)), b.get(records, TileRunField.MACS)))
    b.put(I64(1), context, Field.KEEPS_MATRICES)
    b.ret(count)


def _add_capture(module: ir.Module) -> None:
    """Add the function that writes the operands of one warpgroup to the arguments of the calls of a run.

    The arguments are the records, the context, and the first warp of the warpgroup. The function returns False if
    native code cannot execute the run for this warpgroup.
    """
    b = Builder(module, "warploom.capture", ir.FunctionType(I1, [POINTER, POINTER, I64]))
    records, context, leader = b.arguments
    with _each_record(b, records, TileRunField.OPERANDS, len(OperandField)) as operand:
        place = b.add(b.get(operand, OperandField.START), b.mul(leader, b.get(operand, OperandField.STRIDE)))
        word = b.and_(b.get(b.inttoptr(place, POINTER), 0), b.get(operand, OperandField.MASK))
        value = b.xor(word, b.get(operand, OperandField.FLIP))
        with b.if_then(b.icmp_unsigned(">", value, b.get(operand, OperandField.LIMIT))):
            b.ret(I1(0))
        b.put(value, b.array(operand, OperandField.TARGET), 0)
    group = b.get(b.array(context, Field.WARPGROUP_OF), leader)
    with _each_record(b, records, TileRunField.CHAINS, len(ChainField)) as chain:
        matrices = b.array(chain, ChainField.MATRICES)
        overlaps = b.get(matrices, MatricesField.OVERLAPS)
        is_usable = b.icmp_signed(">=", b.get(matrices, MatricesField.CACHED), overlaps)
        is_readable = b.icmp_unsigned("!=", b.get(chain, ChainField.READ), I64(0))
        with b.if_then(b.not_(b.and_(is_usable, b.or_(is_readable, _is_available(b, chain, group))))):
            b.ret(I1(0))
        matrix = b.add(b.get(matrices, MatricesField.FIRST), b.mul(group, b.get(matrices, MatricesField.STRIDE)))
        for target in (ChainField.SUM, ChainField.MATRIX):
            b.put(matrix, b.array(chain, target), 0)
    b.ret(I1(1))


def _is_available(b: Builder, chain: ir.Value, group: ir.Value) -> ir.Value:
    """Add code that tests if a chain does not need the accumulators in registers.

    It does not need them if the matrix is cached, or if the first multiplication has a false `scale-d`.
    """
    is_cleared = b.icmp_signed("==", b.get(b.array(chain, ChainField.KEEPS), 0), I64(0))
    current = b.array(b.array(chain, ChainField.MATRICES), MatricesField.CURRENT)
    return b.or_(is_cleared, b.trunc(b.get(current, group, I8), I1))


def _read_matrix(b: Builder, read: ir.Value, warps: ir.Value) -> None:
    """Add code that reads a matrix from the registers of four warps, with a record of `ReadField`."""
    b.put(b.ptrtoint(warps, I64), b.array(read, ReadField.WARPS), 0)
    _call(b, read, ReadField.ENTRY, ReadField.WORDS)


def _call(b: Builder, record: ir.Value, entry: int, words: int) -> ir.Value:
    """Add a call of a compiled function.

    `entry` and `words` are the fields of its address and of its arguments.
    """
    function = b.inttoptr(b.get(record, entry), ir.FunctionType(I64, [I64]).as_pointer())
    return b.call(function, [b.get(record, words)])


@contextmanager
def _each_warpgroup(b: Builder) -> Generator[tuple[ir.Value, ir.Value]]:
    """Add a loop over the warpgroups of the batch.

    The body gets the first warp and the number of a warpgroup.
    """
    _, context, count, warps, _ = b.arguments
    groups, members = b.array(context, Field.WARPGROUP_OF), b.array(context, Field.WARPGROUP_MEMBERS)
    with b.loop(count) as position:
        warp = b.get(warps, position)
        group = b.get(groups, warp)
        with b.if_then(b.icmp_signed("==", warp, b.get(members, b.mul(group, I64(WARPS))))):
            yield warp, group


@contextmanager
def _each_record(b: Builder, records: ir.Value, count: TileRunField, size: int) -> Generator[ir.Value]:
    """Add a loop over the records of a table. `size` is the number of 64-bit numbers of a record."""
    table = b.array(records, count + 1)
    with b.loop(b.get(records, count)) as number:
        yield b.at(table, b.mul(number, I64(size)))
