"""Machine code that tests the conditions under which native code may execute an instruction for a batch."""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from llvmlite import ir

from warploom.emulator.native.builder import I1, I64, POINTER, Builder
from warploom.emulator.native.code_table import FLUSHED, WHOLE_WARPGROUPS, WHOLE_WARPS
from warploom.emulator.native.context import Field

WARPS = 4  # of a warpgroup


def add_requirements(module: ir.Module) -> None:
    """Add the function that returns True if the conditions in a field `requires` of the code table are met.

    The arguments are the context and the value of the field.
    """
    _add_has_warpgroups(module)
    b = Builder(module, "warploom.meets", ir.FunctionType(I1, [POINTER, I64]))
    context, requires = b.arguments

    def includes(bits: int) -> ir.Value:
        return b.icmp_signed("!=", b.and_(requires, I64(bits)), I64(0))

    is_divided = b.icmp_signed("==", b.get(context, Field.WHOLE), I64(0))
    is_cached = b.icmp_signed("!=", b.get(context, Field.KEEPS_MATRICES), I64(0))
    lacks_warps = b.and_(includes(WHOLE_WARPS | WHOLE_WARPGROUPS), is_divided)
    with b.if_then(b.or_(lacks_warps, b.and_(includes(FLUSHED), is_cached))):
        b.ret(I1(0))
    with b.if_then(includes(WHOLE_WARPGROUPS)):
        b.ret(b.call(module.globals["warploom.has_warpgroups"], [context]))
    b.ret(I1(1))


def _add_has_warpgroups(module: ir.Module) -> None:
    """Add the function that returns True if the batch consists of whole warpgroups.

    `TALLY` counts the warps of each warpgroup in the batch. It has 0 before and after the call.
    """
    b = Builder(module, "warploom.has_warpgroups", ir.FunctionType(I1, [POINTER]))
    (context,) = b.arguments
    warps, groups, tally = (b.array(context, field) for field in (Field.WARPS, Field.WARPGROUP_OF, Field.TALLY))
    count, missing = b.get(context, Field.COUNT), b.variable(I64(0))

    def group_of(position: ir.Value) -> ir.Value:
        group = b.get(groups, b.get(warps, position))
        is_outside = b.icmp_signed("<", group, I64(0))
        with b.if_then(is_outside):
            b.store(I64(1), missing)
        return b.select(is_outside, I64(0), group)

    with b.loop(count) as position:
        group = group_of(position)
        b.put(b.add(b.get(tally, group), I64(1)), tally, group)
    with b.loop(count) as position:
        others = b.xor(b.get(tally, group_of(position)), I64(WARPS))
        b.store(b.or_(b.load(missing, typ=I64), others), missing)
    with b.loop(count) as position:
        b.put(I64(0), tally, group_of(position))
    b.ret(b.icmp_signed("==", b.load(missing, typ=I64), I64(0)))
