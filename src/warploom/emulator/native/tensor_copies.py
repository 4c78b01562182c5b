"""Native code for tensor copies of whole boxes between global memory and the CTA's shared memory."""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from llvmlite import ir

from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.known_maps import MAP, MAP_BYTES, MOST_DIMENSIONS
from warploom.emulator.native.builder import I1, I64, POINTER, Builder
from warploom.emulator.native.context import Field

ARGUMENTS = ("warp", "map", "shared", "mbarrier", "rank", "loads")
"""Arguments of a copy, before its coordinates.

`loads` is 1 for a load, and 0 for a store, which has no mbarrier.
"""
_COLUMN = {name: field[1] // 8 for name, field in (MAP.fields or {}).items()}
_CHUNK = ir.VectorType(I64, 2)


def add_tensor_copy(module: ir.Module) -> None:
    """Add the function that executes the tensor copy of one lane.

    The arguments are the context, and an array with ARGUMENTS and the coordinates. The function returns 0 without an
    effect if the interpreter must execute the copy.
    """
    b = Builder(module, "warploom.tensor_copy", ir.FunctionType(I1, [POINTER, POINTER]))
    context, arguments = b.arguments
    warp, address, shared, mbarrier, rank, direction = (b.get(arguments, number) for number in range(len(ARGUMENTS)))
    loads = b.icmp_signed("!=", direction, I64(0))

    def refuse_if(condition: ir.Value) -> None:
        with b.if_then(condition):
            b.ret(I1(0))

    entry = _find(b, context, address)
    refuse_if(b.icmp_signed("!=", rank, b.get(entry, _COLUMN["rank"])))
    coordinates = [b.get(arguments, len(ARGUMENTS) + axis) for axis in range(MOST_DIMENSIONS)]
    offset = I64(0)
    for axis, coordinate in enumerate(coordinates):
        # A negative coordinate is a large unsigned number.
        refuse_if(b.icmp_unsigned(">", coordinate, b.get(entry, _COLUMN["last"] + axis)))
        refuse_if(b.icmp_signed("<", b.get(entry, _COLUMN["last"] + axis), I64(0)))
        offset = b.add(offset, b.mul(coordinate, b.get(entry, _COLUMN["strides"] + axis)))
    bits = b.mul(coordinates[0], b.get(entry, _COLUMN["element_bits"]))
    refuse_if(b.icmp_signed("!=", b.and_(b.or_(bits, shared), I64(127)), I64(0)))
    windows, window = b.array(context, Field.SHARED_WINDOWS), b.mul(warp, I64(3))
    low, end, shift = (b.get(windows, b.add(window, I64(k))) for k in range(3))
    refuse_if(b.icmp_signed("<", shared, low))
    refuse_if(b.icmp_signed(">", b.get(entry, _COLUMN["covered"]), b.sub(end, shared)))
    first = b.add(b.get(entry, _COLUMN["start"]), b.lshr(offset, I64(3)))
    last = b.add(first, b.get(entry, _COLUMN["reach"]))
    with b.if_else(loads) as (load, store):
        with load:
            found = b.call(module.globals["warploom.find_segment"], [context, first, last])
            refuse_if(b.icmp_signed("<", found, I64(0)))
            refuse_if(b.icmp_signed("<", mbarrier, low))
            refuse_if(b.icmp_signed(">", mbarrier, b.sub(end, I64(8))))
            refuse_if(b.icmp_signed("!=", b.and_(mbarrier, I64(7)), I64(0)))
            # The interpreter writes the box before it counts the bytes, which matters if the box covers the mbarrier.
            distance = b.sub(mbarrier, shared)
            covers = b.icmp_signed("<", distance, b.get(entry, _COLUMN["covered"]))
            refuse_if(b.and_(covers, b.icmp_signed(">", distance, I64(-8))))
            received = b.sub(I64(0), b.get(entry, _COLUMN["bytes"]))
            place = b.add(mbarrier, shift)
            refuse_if(b.not_(b.call(module.globals["warploom.mbarrier"], [context, place, I64(0), received])))
        with store:
            found = b.call(module.globals["warploom.find_written"], [context, first, last])
            refuse_if(b.icmp_signed("<", found, I64(0)))
    far = b.add(b.sub(first, I64(GLOBAL_BASE)), b.get(context, Field.ARENA))
    _copy_rows(b, entry, far, shared, shift, loads)
    b.ret(I1(1))


def _find(b: Builder, context: ir.Value, address: ir.Value) -> ir.Value:
    """Return a pointer to the known map at an address.

    If the table has no map for the address, or the map in memory has changed, the generated function returns 0.
    """
    table, size = b.array(context, Field.KNOWN_MAPS), I64(MAP.itemsize // 8)
    entry = b.variable(I64(0))
    with b.loop(b.get(context, Field.KNOWN_MAP_COUNT)) as number:
        here = b.at(table, b.mul(number, size))
        with b.if_then(b.icmp_signed("==", b.get(here, _COLUMN["address"]), address)):
            b.store(b.ptrtoint(here, I64), entry)
    found = b.load(entry, typ=I64)
    segment = b.call(b.module.globals["warploom.find_segment"], [context, address, b.add(address, I64(MAP_BYTES))])
    with b.if_then(b.or_(b.icmp_signed("==", found, I64(0)), b.icmp_signed("<", segment, I64(0)))):
        b.ret(I1(0))
    place = b.inttoptr(found, POINTER)
    map_ = b.inttoptr(b.add(b.sub(address, I64(GLOBAL_BASE)), b.get(context, Field.ARENA)), POINTER)
    differs = b.variable(I64(0))
    with b.loop(I64(MAP_BYTES // 8)) as word:
        changed = b.xor(b.get(map_, word), b.get(b.at(place, _COLUMN["content"]), word))
        b.store(b.or_(b.load(differs, typ=I64), changed), differs)
    with b.if_then(b.icmp_signed("!=", b.load(differs, typ=I64), I64(0))):
        b.ret(I1(0))
    return place


def _copy_rows(b: Builder, entry: ir.Value, far: ir.Value, shared: ir.Value, shift: ir.Value, loads: ir.Value) -> None:
    """Generate the copy of the rows of a box: to shared memory if `loads` is true, otherwise from it.

    `far` is the host address of the box in global memory, and `shared` its shared address. `shift` is the distance from
    shared addresses to host addresses.
    """
    rows, near_rows = (b.inttoptr(b.get(entry, _COLUMN[name]), POINTER) for name in ("row_offsets", "shared_offsets"))
    mask, chunks = b.get(entry, _COLUMN["chunk_mask"]), b.lshr(b.get(entry, _COLUMN["row_bytes"]), I64(4))
    with b.loop(b.get(entry, _COLUMN["rows"])) as row:
        far_row, near_row = b.add(far, b.get(rows, row)), b.add(shared, b.get(near_rows, row))
        with b.loop(chunks) as chunk:
            step = b.shl(chunk, I64(4))
            at = b.add(near_row, step)
            swizzled = b.xor(at, b.shl(b.and_(b.lshr(at, I64(7)), mask), I64(4)))
            one, other = b.add(far_row, step), b.add(swizzled, shift)
            source, target = b.select(loads, one, other), b.select(loads, other, one)
            value = b.load(b.inttoptr(source, POINTER), typ=_CHUNK, align=8)
            b.store(value, b.inttoptr(target, POINTER), align=8)
