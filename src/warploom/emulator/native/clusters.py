"""Native code for the barriers of clusters. `emulator.barriers` describes the rules."""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from llvmlite import ir

from warploom.emulator.native.builder import I1, I32, I64, POINTER, Builder
from warploom.emulator.native.context import Field
from warploom.emulator.native.mbarriers import event_number
from warploom.emulator.native.warps import broadcast
from warploom.emulator.warp_splits import NONE, Event
from warploom.numerics.tracing.values import LANES

_NUMBERS = ir.VectorType(I64, LANES)


def add_cluster_barriers(module: ir.Module) -> None:
    """Add the functions of the barriers of clusters to a module.

    `cluster_arrive` and `cluster_wait` have the arguments context and position of a warp in the batch. They take effect
    for all warps in the call for the last warp. If this call returns 0, it has no effect, and the interpreter must
    execute the instruction.
    """
    _add_complete(module)
    _add_arrive(module)
    _add_wait(module)


def _all(value: ir.Value | int) -> ir.Constant:
    return ir.Constant(_NUMBERS, [value] * LANES)


def _any(b: Builder, lanes: ir.Value) -> ir.Value:
    return b.icmp_unsigned("!=", b.bitcast(lanes, I32), I32(0))


def _lanes(b: Builder, bits: ir.Value) -> ir.Value:
    return b.bitcast(bits, ir.VectorType(I1, LANES))


def _joined(b: Builder, context: ir.Value, warp: ir.Value) -> ir.Value:
    """Return a pointer to the 32 elements of a warp in `Barriers.cluster_joined`, one for each lane."""
    return b.at(b.array(context, Field.CLUSTER_JOINED), b.mul(warp, I64(LANES)))


def _phase(b: Builder, context: ir.Value, warp: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Return the cluster index of a warp, and 2 * phase of its cluster barrier in each lane."""
    cluster = b.get(b.array(context, Field.CLUSTER_OF), warp)
    phase = b.get(b.array(context, Field.CLUSTER_PHASE), cluster)
    return cluster, broadcast(b, b.shl(phase, I64(1)))


def _ret_before_last(b: Builder, context: ir.Value, position: ir.Value) -> ir.Value:
    count = b.get(context, Field.COUNT)
    with b.if_then(b.icmp_signed("<", b.add(position, I64(1)), count)):
        b.ret(I1(1))
    return count


def _add_complete(module: ir.Module) -> None:
    """Add the function that completes the barrier of a warp's cluster if all live threads have arrived."""
    b = Builder(module, "warploom.complete_cluster", ir.FunctionType(ir.VoidType(), [POINTER, I64]))
    context, one = b.arguments
    cluster_of, live = b.array(context, Field.CLUSTER_OF), b.array(context, Field.LIVE)
    phases = b.array(context, Field.CLUSTER_PHASE)
    cluster, phase = _phase(b, context, one)
    warps, present = b.get(context, Field.WARP_SLOTS), b.variable(I32(0))
    with b.loop(warps) as warp, b.if_then(b.icmp_signed("==", b.get(cluster_of, warp), cluster)):
        lanes = b.get(live, warp, I32)
        joined = b.load(_joined(b, context, warp), typ=_NUMBERS, align=8)
        lacking = b.icmp_signed("!=", b.and_(joined, _all(-2)), phase)
        with b.if_then(_any(b, b.and_(lacking, _lanes(b, lanes)))):
            b.ret_void()
        b.store(b.or_(b.load(present, typ=I32), lanes), present)
    with b.if_then(b.icmp_unsigned("==", b.load(present, typ=I32), I32(0))):
        b.ret_void()
    b.count(b.at(phases, cluster), 0, 1)
    with b.loop(warps) as warp, b.if_then(b.icmp_signed("==", b.get(cluster_of, warp), cluster)):
        place = _joined(b, context, warp)
        joined = b.load(place, typ=_NUMBERS, align=8)
        waits = b.icmp_signed("!=", b.and_(joined, _all(1)), _all(0))
        b.store(b.select(waits, _all(-1), joined), place, align=8)
    b.call(module.globals["warploom.wake"], [context, event_number(b, cluster, Event.CLUSTER)])
    b.ret_void()


def _add_arrive(module: ir.Module) -> None:
    b = Builder(module, "warploom.cluster_arrive", ir.FunctionType(I1, [POINTER, I64]))
    context, position = b.arguments
    count = _ret_before_last(b, context, position)
    warps, masks = b.array(context, Field.WARPS), b.array(context, Field.MASKS)
    with b.loop(count) as other:
        joined = b.load(_joined(b, context, b.get(warps, other)), typ=_NUMBERS, align=8)
        repeated = b.icmp_signed(">=", joined, _all(0))
        with b.if_then(_any(b, b.and_(repeated, _lanes(b, b.get(masks, other, I32))))):
            b.ret(I1(0))
    with b.loop(count) as other:
        warp = b.get(warps, other)
        place, (_, phase) = _joined(b, context, warp), _phase(b, context, warp)
        joined = b.load(place, typ=_NUMBERS, align=8)
        b.store(b.select(_lanes(b, b.get(masks, other, I32)), phase, joined), place, align=8)
    b.put(I64(1), context, Field.USES_CLUSTERS)
    with b.loop(count) as other:
        b.call(module.globals["warploom.complete_cluster"], [context, b.get(warps, other)])
    b.ret(I1(1))


def _add_wait(module: ir.Module) -> None:
    b = Builder(module, "warploom.cluster_wait", ir.FunctionType(I1, [POINTER, I64]))
    context, position = b.arguments
    count = _ret_before_last(b, context, position)
    warps, masks, events = (b.array(context, field) for field in (Field.WARPS, Field.MASKS, Field.EVENTS))
    may_suspend = b.icmp_signed("!=", b.get(context, Field.SUSPENDS), I64(0))
    with b.loop(count) as other:
        warp, lanes = b.get(warps, other), _lanes(b, b.get(masks, other, I32))
        joined = b.load(_joined(b, context, warp), typ=_NUMBERS, align=8)
        cluster, phase = _phase(b, context, warp)
        absent = _any(b, b.and_(lanes, b.icmp_signed("<", joined, _all(0))))
        waits = _any(b, b.and_(lanes, b.icmp_signed("==", joined, phase)))
        with b.if_then(b.or_(absent, b.and_(waits, b.not_(may_suspend)))):
            b.ret(I1(0))
        b.put(b.select(waits, event_number(b, cluster, Event.CLUSTER), I64(NONE)), events, other)
    with b.loop(count) as other:
        place, lanes = _joined(b, context, b.get(warps, other)), _lanes(b, b.get(masks, other, I32))
        joined = b.load(place, typ=_NUMBERS, align=8)
        waits = b.icmp_signed(">=", b.get(events, other), I64(0))
        left = b.select(waits, b.or_(joined, _all(1)), _all(-1))
        b.store(b.select(lanes, left, joined), place, align=8)
        b.count(context, Field.SUSPENDED, b.zext(waits, I64))
    b.ret(I1(1))
