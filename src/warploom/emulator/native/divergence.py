"""Native functions that divide warp splits and let them reconverge, as `warp_splits.WarpSplits` does."""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from llvmlite import ir

from warploom.emulator.native.builder import I1, I8, I32, I64, POINTER, Builder
from warploom.emulator.native.context import Field
from warploom.emulator.warp_splits import NONE, POINT, Status

_VOID = ir.VoidType()
_POINT = {name: number for number, name in enumerate(POINT.names or ())}


def add_divergence(module: ir.Module) -> None:
    """Add the functions of this file to a module."""
    _add_free(module)
    _add_place(module)
    _add_arrive(module)
    _add_split(module)


def _point(b: Builder, context: ir.Value, point: ir.Value) -> ir.Value:
    """Return a pointer to a reconvergence point."""
    return b.at(b.array(context, Field.POINTS), b.mul(point, I64(len(_POINT))))


def _is_at(b: Builder, context: ir.Value, point: ir.Value, pc: ir.Value, calls: ir.Value) -> ir.Value:
    """Return True if a program counter and a call stack are those of a reconvergence point."""
    result = b.variable(I1(0))
    with b.if_then(b.icmp_signed("!=", point, I64(NONE))):
        where = _point(b, context, point)
        same_pc = b.icmp_signed("==", b.get(where, _POINT["pc"]), pc)
        same_calls = b.icmp_signed("==", b.get(where, _POINT["calls"]), calls)
        b.store(b.and_(same_pc, same_calls), result)
    return b.load(result, typ=I1)


def _add_free(module: ir.Module) -> None:
    """Add the function that frees a slot."""
    b = Builder(module, "warploom.free", ir.FunctionType(_VOID, [POINTER, I64]))
    context, slot = b.arguments
    b.put(I8(Status.DONE), b.array(context, Field.STATUS), slot, I8)
    b.put(I32(0), b.array(context, Field.BITS), slot, I32)
    for field, value in ((Field.EPOCH, 0), (Field.CALLS, 0), (Field.POINT, NONE)):
        b.put(I64(value), b.array(context, field), slot)
    with b.if_then(b.icmp_signed(">=", slot, b.get(context, Field.WARP_SLOTS))):
        b.count(context, Field.EXTRA_SLOTS, -1)
        b.lower(context, Field.FIRST_FREE_SLOT, slot)
    b.ret_void()


def _add_place(module: ir.Module) -> None:
    """Add the function that adds a warp split.

    If the lanes are at their reconvergence point, they wait there instead. The arguments after the context are the
    warp, the lanes as bits, the program counter, the epoch, the reconvergence point and the call stack.
    """
    b = Builder(module, "warploom.place", ir.FunctionType(_VOID, [POINTER, I64, I64, I64, I64, I64, I64]))
    context, warp, *first, calls = b.arguments
    first_lanes, pc, *first = first
    lanes, epoch, point = map(b.variable, (first_lanes, *first))
    again = b.append_basic_block("again")
    b.branch(again)
    b.position_at_end(again)
    index = b.load(point, typ=I64)
    with b.if_then(_is_at(b, context, index, pc, calls)):
        where = _point(b, context, index)
        arrived = b.or_(b.get(where, _POINT["arrived"]), b.load(lanes, typ=I64))
        latest = b.larger(b.get(where, _POINT["epoch"]), b.load(epoch, typ=I64))
        b.put(arrived, where, _POINT["arrived"])
        b.put(latest, where, _POINT["epoch"])
        with b.if_then(b.icmp_signed("!=", arrived, b.get(where, _POINT["expected"]))):
            b.ret_void()
        # All lanes are there. They continue, perhaps at the enclosing reconvergence point.
        b.put(I64(NONE), where, _POINT["warp"])
        b.count(context, Field.OPEN_POINTS, -1)
        b.lower(context, Field.FIRST_FREE_POINT, index)
        b.store(arrived, lanes)
        b.store(latest, epoch)
        b.store(b.get(where, _POINT["parent"]), point)
        b.branch(again)
    status = b.array(context, Field.STATUS)
    slot = b.variable(warp)
    with b.if_then(b.icmp_unsigned("!=", b.get(status, warp, I8), I8(Status.DONE))):
        free = b.search(
            b.get(context, Field.FIRST_FREE_SLOT),
            lambda each: b.icmp_unsigned("==", b.get(status, each, I8), I8(Status.DONE)),
        )
        b.store(free, slot)
        b.put(b.add(free, I64(1)), context, Field.FIRST_FREE_SLOT)
        b.count(context, Field.EXTRA_SLOTS, 1)
    chosen = b.load(slot, typ=I64)
    b.put(I8(Status.READY), status, chosen, I8)
    b.put(b.trunc(b.load(lanes, typ=I64), I32), b.array(context, Field.BITS), chosen, I32)
    values = (warp, pc, b.load(epoch, typ=I64), b.load(point, typ=I64), calls)
    fields = (Field.WARP, Field.PC, Field.EPOCH, Field.POINT, Field.CALLS)
    for field, value in zip(fields, values, strict=True):
        b.put(value, b.array(context, field), chosen)
    b.ret_void()


def _add_arrive(module: ir.Module) -> None:
    """Add the function that lets a warp split wait at its reconvergence point for the other lanes."""
    b = Builder(module, "warploom.arrive", ir.FunctionType(_VOID, [POINTER, I64]))
    context, row = b.arguments
    warp, pc, epoch, point, calls = (
        b.get(b.array(context, field), row) for field in (Field.WARP, Field.PC, Field.EPOCH, Field.POINT, Field.CALLS)
    )
    with b.if_then(_is_at(b, context, point, pc, calls)):
        lanes = b.zext(b.get(b.array(context, Field.BITS), row, I32), I64)
        b.call(module.globals["warploom.free"], [context, row])
        b.call(module.globals["warploom.place"], [context, warp, lanes, pc, epoch, point, calls])
    b.ret_void()


def _add_split(module: ir.Module) -> None:
    """Add the function that divides a warp split at a branch.

    The arguments after the context are the slot, the lanes that take the branch, the target, the next program counter,
    and the program counter of the reconvergence point.
    """
    b = Builder(module, "warploom.split", ir.FunctionType(_VOID, [POINTER, I64, I32, I64, I64, I64]))
    context, row, taken, target, following, point_pc = b.arguments
    warp, origin, epoch, parent, calls = (
        b.get(b.array(context, field), row) for field in (Field.WARP, Field.PC, Field.EPOCH, Field.POINT, Field.CALLS)
    )
    present = b.zext(b.get(b.array(context, Field.BITS), row, I32), I64)
    point = b.variable(parent)
    never = b.icmp_signed("<", point_pc, I64(0))
    with b.if_then(b.not_(b.or_(never, _is_at(b, context, parent, point_pc, calls)))):
        index = b.search(
            b.get(context, Field.FIRST_FREE_POINT),
            lambda each: b.icmp_signed("==", b.get(_point(b, context, each), _POINT["warp"]), I64(NONE)),
        )
        b.put(b.add(index, I64(1)), context, Field.FIRST_FREE_POINT)
        b.count(context, Field.OPEN_POINTS, 1)
        where = _point(b, context, index)
        for number, value in enumerate((warp, point_pc, calls, parent, present, I64(0), I64(0))):
            b.put(value, where, number)
        b.store(index, point)
    b.call(module.globals["warploom.free"], [context, row])
    lanes = b.zext(taken, I64)
    others = b.and_(present, b.not_(lanes))
    # The lanes with the lower program counter get the first free slot.
    is_ahead = b.icmp_signed("<", target, following)
    parts = (target, lanes), (following, others)
    for one, other in (parts, parts[::-1]):
        pc, here = (b.select(is_ahead, *each) for each in zip(one, other, strict=True))
        back = b.zext(b.icmp_signed(">=", origin, pc), I64)
        arguments = [context, warp, here, pc, b.add(epoch, back), b.load(point, typ=I64), calls]
        b.call(module.globals["warploom.place"], arguments)
    b.ret_void()
