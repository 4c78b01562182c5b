"""Native functions that all kernels share. They select batches and execute their instructions."""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from llvmlite import ir

from warploom.emulator.access import DIRTY, LOCKED
from warploom.emulator.barriers import BARRIERS
from warploom.emulator.native.actions import READS
from warploom.emulator.native.barriers import add_barrier
from warploom.emulator.native.builder import I1, I8, I32, I64, POINTER, Builder
from warploom.emulator.native.clusters import add_cluster_barriers
from warploom.emulator.native.code_table import (
    BATCH_COST,
    BRANCH,
    COLUMN,
    EXECUTE_EVENT,
    EXIT,
    GUARD_EVENT,
    OVERDUE_STEPS,
    PART,
    READ_EVENT,
)
from warploom.emulator.native.context import Field, Moment, Stop
from warploom.emulator.native.divergence import add_divergence
from warploom.emulator.native.functions import SIGNATURE
from warploom.emulator.native.mbarriers import add_arrivals
from warploom.emulator.native.multiplications import add_multiply
from warploom.emulator.native.requirements import add_requirements
from warploom.emulator.native.tensor_copies import add_tensor_copy
from warploom.emulator.native.tile_multiplications import add_multiply_tiles
from warploom.emulator.native.watch import COLUMNS, SPACING
from warploom.emulator.state import RECENT
from warploom.emulator.warp_splits import KINDS, NONE, Event, Status
from warploom.numerics.tracing.values import LANES, declare


def add_runtime(module: ir.Module) -> None:
    """Add the functions that native functions and the emulator call to a module."""
    _add_find(module, "warploom.find_segment", storing=False)
    _add_find(module, "warploom.find_written", storing=True)
    add_arrivals(module)
    add_barrier(module)
    add_cluster_barriers(module)
    _add_suspend(module)
    add_tensor_copy(module)
    add_multiply(module)
    add_multiply_tiles(module)
    add_requirements(module)
    _add_guard(module)
    _add_count(module)
    _add_report(module)
    _add_record(module)
    _add_announce(module)
    _add_run_lanewise(module)
    _add_run(module)
    _add_select(module)
    add_divergence(module)
    _add_branch(module)
    _add_advance(module)
    _add_exit(module)
    _add_differ(module)
    _add_schedule(module)


def _add_find(module: ir.Module, name: str, storing: bool) -> None:
    """Add the function that returns the index of the segment with the addresses [low, end), or -1.

    If `storing` is set, the segment is marked as written, and a read-only segment counts as none.
    """
    b = Builder(module, name, ir.FunctionType(I64, [POINTER, I64, I64]))
    context, low, end = b.arguments
    starts, ends, states = (
        b.array(context, field) for field in (Field.SEGMENT_STARTS, Field.SEGMENT_ENDS, Field.SEGMENT_STATES)
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


def _add_suspend(module: ir.Module) -> None:
    """Add the function that suspends each warp split of the batch that must wait for an event.

    The arguments are the context and the program counter of the instruction. EVENTS has the number of the event for
    each warp split, or `NONE`. The suspended warp splits leave the batch. They repeat a wait for an mbarrier, and
    continue after a barrier.
    """
    b = Builder(module, "warploom.suspend", ir.FunctionType(ir.VoidType(), [POINTER, I64]))
    context, pc = b.arguments
    rows, warps, masks, events, status, pcs, awaited = (
        b.array(context, field)
        for field in (
            Field.ROWS, Field.WARPS, Field.MASKS, Field.EVENTS, Field.STATUS, Field.PC, Field.AWAITED,
        )
    )  # fmt: skip
    kept = b.variable(I64(0))
    with b.loop(b.get(context, Field.COUNT)) as position:
        row, event = b.get(rows, position), b.get(events, position)
        with b.if_else(b.icmp_signed(">=", event, I64(0))) as (waits, stays):
            with waits:
                repeats = b.icmp_signed("==", b.and_(event, I64(KINDS - 1)), I64(Event.MBARRIER))
                b.put(I8(Status.WAITING), status, row, I8)
                b.put(b.select(repeats, pc, b.add(pc, I64(1))), pcs, row)
                b.put(event, awaited, row)
            with stays:
                place = b.load(kept, typ=I64)
                b.put(row, rows, place)
                b.put(b.get(warps, position), warps, place)
                b.put(b.get(masks, position, I32), masks, place, I32)
                b.store(b.add(place, I64(1)), kept)
    b.put(b.load(kept, typ=I64), context, Field.COUNT)
    b.ret_void()


def _add_guard(module: ir.Module) -> None:
    """Add the function that writes the active lanes with a true guard to GUARDED.

    The function returns the bitwise OR of the masks. 0 means that no lane executes the instruction.
    """
    b = Builder(module, "warploom.guard", ir.FunctionType(I32, [POINTER, POINTER]))
    context, entry = b.arguments
    guard, stride = b.get(entry, COLUMN["guard"]), b.get(entry, COLUMN["guard_stride"])
    flip = b.trunc(b.sub(I64(0), b.get(entry, COLUMN["negated"])), I32)
    warps, masks, guarded = (b.array(context, field) for field in (Field.WARPS, Field.MASKS, Field.GUARDED))
    union = b.variable(I32(0))
    with b.loop(b.get(context, Field.COUNT)) as position:
        place = b.inttoptr(b.add(guard, b.mul(b.get(warps, position), stride)), POINTER)
        octets = b.load(place, typ=ir.VectorType(I8, LANES), align=1)
        bits = b.bitcast(b.trunc(octets, ir.VectorType(I1, LANES)), I32)
        lanes = b.and_(b.xor(bits, flip), b.get(masks, position, I32))
        b.put(lanes, guarded, position, I32)
        b.store(b.or_(b.load(union, typ=I32), lanes), union)
    b.ret(b.load(union, typ=I32))


def _add_count(module: ir.Module) -> None:
    """Add the function that counts an execution of instructions by the batch of the context.

    The arguments are the context, the program counter of the first instruction, the number of instructions, and the
    active lanes of each warp as bits. If the field EXECUTIONS is not 0, it is the address of counters for warps and for
    lanes, which the function also increases.
    """
    b = Builder(module, "warploom.count", ir.FunctionType(ir.VoidType(), [POINTER, I64, I64, POINTER]))
    context, first, length, masks = b.arguments
    count = b.get(context, Field.COUNT)
    counts, executions = b.array(context, Field.COUNTS), b.get(context, Field.EXECUTIONS)
    b.put(b.add(b.get(counts, first), b.mul(count, length)), counts, first)
    with b.if_then(b.icmp_unsigned("!=", executions, I64(0))), b.loop(length) as number:
        entry = b.at(b.inttoptr(executions, POINTER), b.mul(b.add(first, number), I64(2)))
        with b.loop(count) as position:
            lanes = b.get(masks, position, I32)
            b.count(entry, 0, b.zext(b.icmp_unsigned("!=", lanes, I32(0)), I64))
            b.count(entry, 1, b.zext(b.ctpop(lanes), I64))
    b.ret_void()


def _add_report(module: ir.Module) -> None:
    """Add the function that lets observers handle the events of the instruction at `pc`.

    The last argument is a value of `Moment`. The function returns False if the run must stop.
    """
    b = Builder(module, "warploom.report", ir.FunctionType(I1, [POINTER, I64, I64]))
    context, pc, moment = b.arguments
    report = b.inttoptr(b.get(context, Field.REPORT), ir.FunctionType(I64, [I64, I64]).as_pointer())
    b.ret(b.icmp_signed("==", b.call(report, [pc, moment]), I64(0)))


def _add_record(module: ir.Module) -> None:
    """Add the function that records that the instruction at `pc` reads memory, for the event `Reads`.

    The arguments are the context, the entry of the instruction in the code table, and `pc`. The probe of the
    instruction has recorded its accesses. The function returns False if the run must stop.
    """
    b = Builder(module, "warploom.record", ir.FunctionType(I1, [POINTER, POINTER, I64]))
    context, entry, pc = b.arguments
    count = b.get(context, Field.COUNT)
    read = b.at(b.array(context, Field.READS), b.mul(b.get(context, Field.READ_COUNT), I64(2)))
    b.put(pc, read, 0)
    b.put(count, read, 1)
    b.count(context, Field.READ_COUNT, 1)
    b.count(context, Field.RECORDED, b.mul(count, b.get(entry, COLUMN["accesses"])))
    with b.if_then(b.icmp_signed("<", b.get(context, Field.RECORDED), I64(READS))):
        b.ret(I1(1))
    b.ret(b.call(module.globals["warploom.report"], [context, pc, I64(Moment.READS)]))


def _add_announce(module: ir.Module) -> None:
    """Add the function that reports the events of an instruction before its execution.

    The arguments are the context, the entry of the instruction in the code table, `pc`, the active lanes of each warp
    as bits, and a number that is 0 if no lane is active. The function returns False if the interpreter must execute the
    instruction and create its events.
    """
    b = Builder(module, "warploom.announce", ir.FunctionType(I1, [POINTER, POINTER, I64, POINTER, I32]))
    context, entry, pc, masks, active = b.arguments
    events, probe = b.get(entry, COLUMN["events"]), b.get(entry, COLUMN["probe"])
    is_active, is_probed = b.icmp_unsigned("!=", active, I32(0)), b.icmp_unsigned("!=", probe, I64(0))
    # The event of the guard delivers the recorded reads. The probe must not add to their rows before.
    has_guard = b.icmp_unsigned("!=", b.and_(events, I64(GUARD_EVENT)), I64(0))
    with b.if_then(b.and_(has_guard, b.icmp_signed("!=", b.get(context, Field.READ_COUNT), I64(0)))):
        goes_on = b.call(module.globals["warploom.report"], [context, pc, I64(Moment.READS)])
        with b.if_then(b.not_(goes_on)):
            b.ret(I1(0))
    with b.if_then(b.and_(is_active, is_probed)):
        records, warps = b.inttoptr(b.get(entry, COLUMN["records"]), POINTER), b.array(context, Field.WARPS)
        count = b.get(context, Field.COUNT)
        done = b.call(b.inttoptr(probe, SIGNATURE.as_pointer()), [records, context, count, warps, masks])
        with b.if_then(b.icmp_signed("<", done, count)):
            b.ret(I1(0))
    for kind, moment in ((GUARD_EVENT, Moment.GUARD), (EXECUTE_EVENT, Moment.EXECUTE)):
        wanted = b.icmp_unsigned("!=", b.and_(events, I64(kind)), I64(0))
        with b.if_then(wanted if moment == Moment.GUARD else b.and_(wanted, is_active)):
            goes_on = b.call(module.globals["warploom.report"], [context, pc, I64(moment)])
            with b.if_then(b.not_(goes_on)):
                b.ret(I1(0))
    reads = b.icmp_unsigned("!=", b.and_(events, I64(READ_EVENT)), I64(0))
    with b.if_then(b.and_(reads, is_active)):
        b.ret(b.call(module.globals["warploom.record"], [context, entry, pc]))
    b.ret(I1(1))


def _add_run_lanewise(module: ir.Module) -> None:
    """Add the function that executes adjacent lane-wise instructions for a batch, `PART` warps at a time.

    The arguments are the context, the program counter of the first instruction, and the number of instructions.
    """
    b = Builder(module, "warploom.run_lanewise", ir.FunctionType(ir.VoidType(), [POINTER, I64, I64]))
    context, first, length = b.arguments
    code, warps, masks = (b.array(context, field) for field in (Field.CODE, Field.WARPS, Field.MASKS))
    count = b.get(context, Field.COUNT)
    with b.loop(b.udiv(b.add(count, I64(PART - 1)), I64(PART))) as part:
        start = b.mul(part, I64(PART))
        rest = b.sub(count, start)
        size = b.select(b.icmp_signed("<", rest, I64(PART)), rest, I64(PART))
        with b.loop(length) as number:
            entry = b.at(code, b.mul(b.add(first, number), I64(len(COLUMN))))
            function = b.inttoptr(b.get(entry, COLUMN["function"]), SIGNATURE.as_pointer())
            records = b.inttoptr(b.get(entry, COLUMN["records"]), POINTER)
            b.call(function, [records, context, size, b.at(warps, start), b.at(masks, start, I32)])
    with b.loop(length) as number:
        b.call(module.globals["warploom.count"], [context, b.add(first, number), I64(1), masks])
    b.ret_void()


def _add_run(module: ir.Module) -> None:
    """Add the function that executes the instructions [first, end) for the batch of the context.

    The function returns the first program counter that it has not executed for all warps. If some warps have executed
    this instruction, EXECUTED is their number. Suspended warps leave the batch; if no warp is left, the function
    returns the next program counter.
    """
    b = Builder(module, "warploom.run", ir.FunctionType(I64, [POINTER, I64, I64]))
    context, first, end = b.arguments
    code, warps, masks, guarded = (
        b.array(context, field) for field in (Field.CODE, Field.WARPS, Field.MASKS, Field.GUARDED)
    )
    b.put(I64(0), context, Field.EXECUTED)
    place = b.variable(first)
    again = b.append_basic_block("again")
    b.branch(again)
    b.position_at_end(again)
    pc = b.load(place, typ=I64)
    with b.if_then(b.icmp_signed("<", pc, end)):
        entry = b.at(code, b.mul(pc, I64(len(COLUMN))))
        lanewise, left = b.get(entry, COLUMN["lanewise"]), b.sub(end, pc)
        lanewise = b.select(b.icmp_signed("<", lanewise, left), lanewise, left)
        is_large = b.icmp_signed(">", b.get(context, Field.COUNT), I64(PART))
        with b.if_then(b.and_(is_large, b.icmp_signed(">", lanewise, I64(1)))):
            b.call(module.globals["warploom.run_lanewise"], [context, pc, lanewise])
            b.store(b.add(pc, lanewise), place)
            b.branch(again)
        following = b.add(pc, b.get(entry, COLUMN["length"]))
        address = b.get(entry, COLUMN["function"])
        requires = b.get(entry, COLUMN["requires"])
        is_native = b.icmp_unsigned(">", address, I64(EXIT))
        with b.if_then(b.or_(b.not_(is_native), b.icmp_signed(">", following, end))):
            b.ret(pc)
        is_restricted = b.icmp_signed("!=", requires, I64(0))
        meets = module.globals["warploom.meets"]
        with b.if_then(is_restricted), b.if_then(b.not_(b.call(meets, [context, requires]))):
            b.ret(pc)
        chosen = b.variable(masks)
        active = b.variable(I32(1))
        with b.if_then(b.icmp_unsigned("!=", b.get(entry, COLUMN["guard"]), I64(0))):
            b.store(guarded, chosen)
            b.store(b.call(module.globals["warploom.guard"], [context, entry]), active)
        with b.if_then(b.icmp_unsigned("!=", b.get(entry, COLUMN["events"]), I64(0))):
            arguments = [context, entry, pc, b.load(chosen, typ=POINTER), b.load(active, typ=I32)]
            with b.if_then(b.not_(b.call(module.globals["warploom.announce"], arguments))):
                b.ret(pc)
        with b.if_then(b.icmp_unsigned("!=", b.load(active, typ=I32), I32(0))):
            count = b.get(context, Field.COUNT)
            b.put(pc, context, Field.INSTRUCTION)
            b.put(I64(0), context, Field.SUSPENDED)
            function = b.inttoptr(address, SIGNATURE.as_pointer())
            records = b.inttoptr(b.get(entry, COLUMN["records"]), POINTER)
            done = b.call(function, [records, context, count, warps, b.load(chosen, typ=POINTER)])
            # The interpreter counts an instruction that no warp has executed.
            with b.if_then(b.icmp_signed(">", done, I64(0))):
                length = b.get(entry, COLUMN["length"])
                b.call(module.globals["warploom.count"], [context, pc, length, b.load(chosen, typ=POINTER)])
            with b.if_then(b.icmp_signed("<", done, count)):
                b.put(done, context, Field.EXECUTED)
                b.ret(pc)
            with b.if_then(b.icmp_signed("!=", b.get(context, Field.SUSPENDED), I64(0))):
                b.call(module.globals["warploom.suspend"], [context, pc])
                with b.if_then(b.icmp_signed("==", b.get(context, Field.COUNT), I64(0))):
                    b.ret(b.add(pc, I64(1)))
        b.store(following, place)
        b.branch(again)
    b.ret(end)


def _add_select(module: ir.Module) -> None:
    """Add the function that selects the next batch.

    The batch consists of the warp splits that can run at the program counter with least (epoch, program counter), at
    most one for each warp. The function returns this program counter, or -1 if no warp split can run.
    """
    b = Builder(module, "warploom.select", ir.FunctionType(I64, [POINTER]))
    (context,) = b.arguments
    status, pcs, epochs, warp_of, bits, seen = (
        b.array(context, field) for field in (Field.STATUS, Field.PC, Field.EPOCH, Field.WARP, Field.BITS, Field.SEEN)
    )
    rows, warps, masks, live = (b.array(context, field) for field in (Field.ROWS, Field.WARPS, Field.MASKS, Field.LIVE))
    missing, present = b.variable(I32(0)), b.variable(I64(0))
    splits, batch = b.get(context, Field.SPLITS), b.get(context, Field.BATCHES)
    least_epoch, least_pc, found = b.variable(I64(-1)), b.variable(I64(-1)), b.variable(I64(0))
    with b.loop(splits) as row:
        is_present = b.icmp_unsigned("!=", b.get(status, row, I8), I8(Status.DONE))
        b.store(b.add(b.load(present, typ=I64), b.zext(is_present, I64)), present)
    with b.loop(splits) as row, b.if_then(b.icmp_unsigned("==", b.get(status, row, I8), I8(Status.READY))):
        epoch, pc = b.get(epochs, row), b.get(pcs, row)
        earlier = b.icmp_unsigned("<", epoch, b.load(least_epoch, typ=I64))  # -1 is the largest number here
        same = b.icmp_unsigned("==", epoch, b.load(least_epoch, typ=I64))
        before = b.icmp_unsigned("<", pc, b.load(least_pc, typ=I64))
        with b.if_then(b.or_(earlier, b.and_(same, before))):
            b.store(epoch, least_epoch)
            b.store(pc, least_pc)
    chosen = b.load(least_pc, typ=I64)
    with b.loop(splits) as row:
        is_ready = b.icmp_unsigned("==", b.get(status, row, I8), I8(Status.READY))
        with b.if_then(b.and_(is_ready, b.icmp_signed("==", b.get(pcs, row), chosen))):
            warp = b.get(warp_of, row)
            with b.if_then(b.icmp_signed("!=", b.get(seen, warp), batch)):
                position = b.load(found, typ=I64)
                b.put(batch, seen, warp)
                b.put(row, rows, position)
                b.put(warp, warps, position)
                lanes = b.get(bits, row, I32)
                b.put(lanes, masks, position, I32)
                others = b.xor(lanes, b.get(live, warp, I32))
                b.store(b.or_(b.load(missing, typ=I32), others), missing)
                b.store(b.add(position, I64(1)), found)
    b.put(b.load(found, typ=I64), context, Field.COUNT)
    is_alone = b.icmp_signed("==", b.load(found, typ=I64), b.load(present, typ=I64))
    b.put(b.zext(is_alone, I64), context, Field.ALONE)
    b.put(b.zext(b.icmp_unsigned("==", b.load(missing, typ=I32), I32(0)), I64), context, Field.WHOLE)
    b.ret(chosen)


def _add_branch(module: ir.Module) -> None:
    """Add the function that stores in GUARDED which lanes take a branch.

    The function returns the number of warp splits that the branch divides. If there is no space for the new warp
    splits, or an observer has raised an error, it returns -1, and the interpreter continues.
    """
    b = Builder(module, "warploom.branch", ir.FunctionType(I64, [POINTER, POINTER, I64]))
    context, entry, pc = b.arguments
    masks, guarded = (b.array(context, field) for field in (Field.MASKS, Field.GUARDED))
    count = b.get(context, Field.COUNT)
    with b.if_then(b.icmp_unsigned("==", b.get(entry, COLUMN["guard"]), I64(0))):
        with b.loop(count) as position:
            b.put(b.get(masks, position, I32), guarded, position, I32)
        b.call(module.globals["warploom.count"], [context, pc, I64(1), guarded])
        b.ret(I64(0))
    union = b.call(module.globals["warploom.guard"], [context, entry])
    divided = b.variable(I64(0))
    with b.loop(count) as position:
        taken = b.get(guarded, position, I32)
        partly = _divides(b, taken, b.get(masks, position, I32))
        b.store(b.add(b.load(divided, typ=I64), b.zext(partly, I64)), divided)
    wanted = b.load(divided, typ=I64)
    slots = b.sub(b.get(context, Field.SPLITS), b.get(context, Field.WARP_SLOTS))
    no_slot = b.icmp_signed(">", b.add(b.get(context, Field.EXTRA_SLOTS), wanted), slots)
    points = b.add(b.get(context, Field.OPEN_POINTS), wanted)
    no_point = b.icmp_signed(">", points, b.get(context, Field.POINT_COUNT))
    with b.if_then(b.and_(b.icmp_signed(">", wanted, I64(0)), b.or_(no_slot, no_point))):
        b.ret(I64(-1))
    with b.if_then(b.icmp_unsigned("!=", b.get(entry, COLUMN["events"]), I64(0))):
        goes_on = b.call(module.globals["warploom.report"], [context, pc, I64(Moment.GUARD)])
        with b.if_then(b.not_(goes_on)):
            b.ret(I64(-1))
    with b.if_then(b.icmp_unsigned("!=", union, I32(0))):  # a branch that no lane takes is not counted
        b.call(module.globals["warploom.count"], [context, pc, I64(1), guarded])
    b.ret(wanted)


def _divides(b: Builder, taken: ir.Value, present: ir.Value) -> ir.Value:
    """Return True if some of the lanes that are present take a branch, and others do not."""
    return b.and_(b.icmp_unsigned("!=", taken, present), b.icmp_unsigned("!=", taken, I32(0)))


def _add_advance(module: ir.Module) -> None:
    """Add the function that moves the warp splits of a batch to their next basic blocks.

    The arguments after the context are the first program counter of the batch, the end of its block, the target of its
    branch, and the reconvergence point. The lanes in GUARDED continue at the target, and the others at the end.

    The function returns the program counter at which all warp splits continue, or -1 if they do not have the same one.
    """
    b = Builder(module, "warploom.advance", ir.FunctionType(I64, [POINTER, I64, I64, I64, I64]))
    context, first, end, target, point_pc = b.arguments
    takes, goes_on = b.variable(I64(0)), b.variable(I64(0))
    pcs, epochs, rows, masks, guarded = (
        b.array(context, field) for field in (Field.PC, Field.EPOCH, Field.ROWS, Field.MASKS, Field.GUARDED)
    )
    with b.loop(b.get(context, Field.COUNT)) as position:
        row, taken, present = b.get(rows, position), b.get(guarded, position, I32), b.get(masks, position, I32)
        divides = b.and_(_divides(b, taken, present), b.icmp_signed("!=", target, end))
        with b.if_else(divides) as (divided, uniform):
            with divided:
                b.call(module.globals["warploom.split"], [context, row, taken, target, end, point_pc])
                b.store(I64(1), takes)
                b.store(I64(1), goes_on)
            with uniform:
                is_at_end = b.icmp_unsigned("==", taken, I32(0))
                b.store(b.select(is_at_end, b.load(takes, typ=I64), I64(1)), takes)
                b.store(b.select(is_at_end, I64(1), b.load(goes_on, typ=I64)), goes_on)
                pc = b.select(is_at_end, end, target)
                back = b.zext(b.icmp_signed(">=", first, pc), I64)
                b.put(b.add(b.get(epochs, row), back), epochs, row)
                b.put(pc, pcs, row)
                with b.if_then(b.icmp_signed(">", b.get(context, Field.OPEN_POINTS), I64(0))):
                    b.call(module.globals["warploom.arrive"], [context, row])
    is_mixed = b.icmp_signed("!=", b.and_(b.load(takes, typ=I64), b.load(goes_on, typ=I64)), I64(0))
    at = b.select(b.icmp_signed("!=", b.load(takes, typ=I64), I64(0)), target, end)
    b.ret(b.select(is_mixed, I64(-1), at))


def _add_exit(module: ir.Module) -> None:
    """Add the function with which the warps of a batch leave the kernel.

    The function returns False, without an effect, if the interpreter must execute the exit.
    """
    b = Builder(module, "warploom.exit", ir.FunctionType(I1, [POINTER]))
    (context,) = b.arguments
    rows, warps, calls, points, live, cta_of, live_warps, arrived = (
        b.array(context, field)
        for field in (
            Field.ROWS, Field.WARPS, Field.CALLS, Field.POINT, Field.LIVE, Field.CTA_OF, Field.LIVE_WARPS,
            Field.ARRIVED,
        )
    )  # fmt: skip
    count = b.get(context, Field.COUNT)
    allowed = b.and_(b.get(context, Field.ALLOWS_EXITS), b.get(context, Field.WHOLE))
    with b.if_then(b.icmp_signed("==", allowed, I64(0))):
        b.ret(I1(0))
    with b.loop(count) as position:
        row = b.get(rows, position)
        is_inner = b.icmp_signed("!=", b.get(calls, row), I64(0))
        is_expected = b.icmp_signed("!=", b.get(points, row), I64(NONE))
        barriers = b.mul(b.get(cta_of, b.get(warps, position)), I64(BARRIERS))
        waiting = b.load(b.at(arrived, barriers), typ=ir.VectorType(I64, BARRIERS), align=8)
        reduce = declare(module, f"llvm.vector.reduce.or.v{BARRIERS}i64", I64, [waiting.type])
        is_awaited = b.icmp_signed("!=", b.call(reduce, [waiting]), I64(0))
        with b.if_then(b.or_(b.or_(is_inner, is_expected), is_awaited)):
            b.ret(I1(0))
    with b.loop(count) as position:
        warp = b.get(warps, position)
        b.call(module.globals["warploom.free"], [context, b.get(rows, position)])
        b.put(I32(0), live, warp, I32)
        cta = b.get(cta_of, warp)
        rest = b.sub(b.get(live_warps, cta), I64(1))
        b.put(rest, live_warps, cta)
        b.count(context, Field.EXITED_CTAS, b.zext(b.icmp_signed("==", rest, I64(0)), I64))
    with b.if_then(b.icmp_signed("!=", b.get(context, Field.USES_CLUSTERS), I64(0))), b.loop(count) as position:
        b.call(module.globals["warploom.complete_cluster"], [context, b.get(warps, position)])
    b.ret(I1(1))


def _add_differ(module: ir.Module) -> None:
    """Add the function that returns True if a register in the table COMPARED differs from its saved value."""
    b = Builder(module, "warploom.differ", ir.FunctionType(I1, [POINTER]))
    (context,) = b.arguments
    with b.loop(b.get(context, Field.COMPARED_FILES)) as file:
        row = b.at(b.array(context, Field.COMPARED), b.mul(file, I64(len(COLUMNS))))
        start, saved, count, stride, words = (b.get(row, number) for number in range(len(COLUMNS)))
        with b.loop(count) as register:
            offset = b.mul(register, stride)
            one, other = (b.inttoptr(b.add(each, offset), POINTER) for each in (start, saved))
            difference = b.variable(I64(0))
            with b.loop(words) as word:
                part = b.xor(b.get(one, word), b.get(other, word))
                b.store(b.or_(b.load(difference, typ=I64), part), difference)
            with b.if_then(b.icmp_signed("!=", b.load(difference, typ=I64), I64(0))):
                b.ret(I1(1))
    b.ret(I1(0))


def _add_schedule(module: ir.Module) -> None:
    """Add the function that selects and executes batches until the emulator is needed.

    The function returns a value of `Stop`, and the program counter in the higher bits.
    """
    b = Builder(module, "warploom.schedule", ir.FunctionType(I64, [POINTER]))
    (context,) = b.arguments
    code, recent = b.array(context, Field.CODE), b.array(context, Field.RECENT)
    place = b.variable(I64(-1))  # program counter at which the warp splits of the last batch are the next batch, or -1
    again = b.append_basic_block("again")
    b.branch(again)
    b.position_at_end(again)

    def stop_if(condition: ir.Value, reason: Stop, pc: ir.Value | None = None) -> None:
        with b.if_then(condition):
            b.ret(I64(reason) if pc is None else b.or_(b.shl(pc, I64(2)), I64(reason)))

    batches = b.get(context, Field.BATCHES)
    stop_if(b.icmp_signed(">=", batches, b.get(context, Field.LAST_BATCH)), Stop.PAUSE)
    stop_if(b.icmp_signed(">", b.get(context, Field.SPENT), b.get(context, Field.BUDGET)), Stop.SELECT)
    with b.if_then(b.icmp_signed("<", b.load(place, typ=I64), I64(0))):
        b.store(b.call(module.globals["warploom.select"], [context]), place)
    first = b.load(place, typ=I64)
    stop_if(b.icmp_signed("<", first, I64(0)), Stop.SELECT)
    stop_if(b.icmp_signed(">=", batches, b.get(context, Field.UNWATCHED_LIMIT)), Stop.SELECT)
    watched = b.get(context, Field.WATCHED)
    is_watched = b.or_(b.icmp_signed("==", watched, first), b.icmp_signed("<", watched, I64(0)))
    is_due = b.icmp_signed(">=", batches, b.get(context, Field.DUE))
    with b.if_then(b.and_(is_due, is_watched)):
        stop_if(b.not_(b.call(module.globals["warploom.differ"], [context])), Stop.SELECT)
        b.put(b.add(batches, I64(SPACING)), context, Field.DUE)
    entry = b.at(code, b.mul(first, I64(len(COLUMN))))
    end = b.get(entry, COLUMN["block_end"])

    count = b.get(context, Field.COUNT)
    b.put(count, context, Field.FIRST_COUNT)
    b.put(first, recent, b.and_(batches, I64(RECENT - 1)))
    b.put(b.add(batches, I64(1)), context, Field.BATCHES)
    last = b.at(code, b.mul(b.sub(end, I64(1)), I64(len(COLUMN))))
    function = b.get(last, COLUMN["function"])
    is_branch, is_exit = (b.icmp_signed("==", function, I64(kind)) for kind in (BRANCH, EXIT))
    straight = b.sub(end, b.zext(b.or_(is_branch, is_exit), I64))
    reports = b.icmp_signed("!=", b.get(context, Field.REPORTS_BLOCKS), I64(0))

    def report_block(moment: Moment, pc: ir.Value) -> None:
        with b.if_then(reports):
            goes_on = b.call(module.globals["warploom.report"], [context, pc, I64(moment)])
            stop_if(b.not_(goes_on), Stop.PAUSE)

    report_block(Moment.BEGIN, first)
    stopped = b.call(module.globals["warploom.run"], [context, first, straight])
    has_warps = b.icmp_signed("!=", b.get(context, Field.COUNT), I64(0))
    stop_if(b.and_(has_warps, b.icmp_signed("<", stopped, straight)), Stop.RESUME, stopped)
    is_branch, is_exit = b.and_(is_branch, has_warps), b.and_(is_exit, has_warps)
    target = b.variable(end)
    with b.if_then(is_branch):
        b.put(I64(0), context, Field.EXECUTED)
        divided = b.call(module.globals["warploom.branch"], [context, last, straight])
        stop_if(b.icmp_signed("<", divided, I64(0)), Stop.RESUME, straight)
        b.store(b.get(last, COLUMN["target"]), target)
    with b.if_then(is_exit):
        b.put(I64(0), context, Field.EXECUTED)
        may_exit = b.call(module.globals["warploom.meets"], [context, b.get(last, COLUMN["requires"])])
        stop_if(b.not_(may_exit), Stop.RESUME, straight)
        stop_if(b.not_(b.call(module.globals["warploom.exit"], [context])), Stop.RESUME, straight)
        b.call(module.globals["warploom.count"], [context, straight, I64(1), b.array(context, Field.MASKS)])
    b.count(context, Field.TICKS, b.sub(end, first))
    executed = b.sub(b.select(has_warps, end, stopped), first)
    b.count(context, Field.SPENT, b.mul(executed, b.larger(count, I64(BATCH_COST))))
    b.count(context, Field.STEPS, 1)
    b.store(I64(-1), place)
    with b.if_then(b.not_(is_exit)):
        point_pc = b.get(last, COLUMN["point"])
        arguments = [context, first, end, b.load(target, typ=I64), point_pc]
        # With other warp splits, or with lanes that may reconverge, the next batch may differ.
        has_no_points = b.icmp_signed("==", b.get(context, Field.OPEN_POINTS), I64(0))
        following = b.call(module.globals["warploom.advance"], arguments)
        is_same = b.icmp_signed("==", b.get(context, Field.COUNT), count)
        is_alone = b.icmp_signed("!=", b.get(context, Field.ALONE), I64(0))
        b.store(b.select(b.and_(b.and_(is_same, is_alone), has_no_points), following, I64(-1)), place)
    report_block(Moment.END, b.sub(end, I64(1)))
    diverged = b.add(b.get(context, Field.EXTRA_SLOTS), b.get(context, Field.OPEN_POINTS))
    is_overdue = b.icmp_signed("==", b.and_(b.get(context, Field.STEPS), I64(OVERDUE_STEPS - 1)), I64(0))
    stop_if(b.and_(is_overdue, b.and_(b.not_(is_exit), b.icmp_signed("!=", diverged, I64(0)))), Stop.PAUSE)
    b.branch(again)
