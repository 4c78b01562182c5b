"""Commands that print registers, memory, matrices and decoded structures."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import counted, one_of
from warploom.emulator.address_space import SHARED_START
from warploom.emulator.blocks import names_in
from warploom.emulator.mbarriers import MbarrierState
from warploom.isa.model.types import TYPES
from warploom.observe.debug.conditions import evaluate
from warploom.observe.debug.memory import SPACES
from warploom.observe.debug.registers import RegisterValue
from warploom.observe.debug.values import Matrix, width_of
from warploom.observe.debug.values import numbers as numbers_of
from warploom.observe.debug.warps import describe_numbers
from warploom.runtime.debugging.locations import find_instructions
from warploom.view.debugger.command import Argument, Option, command, is_integer, read_integer
from warploom.view.debugger.context import Context
from warploom.view.debugger.results import Grid, Message, Result, Several, Table
from warploom.view.debugger.wording import lanes_text, line_of, value_text
from warploom.view.value_grid import number_text

if TYPE_CHECKING:
    from warploom.view.debugger.context import Array

_TYPES = tuple(each for each in TYPES if each != "pred")
_PER_LINE = 8  # numbers of a dump
_ELEMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?:\[(?P<index>[^\]]*)\])?")

AT = Option(
    "at", ("at",), "location of the instruction, such as 42 or kind multiply; the default is the next one", "WHERE", str
)
AS = Option("as_type", ("as",), "PTX type of the values", "TYPE", str)


def read_range(text: str) -> slice:
    """Return the slice for a text such as "0-3" or "5", with both ends included. Errors: ValueError."""
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if found is None:
        raise ValueError("expected a range such as 0-3")
    return slice(int(found[1]), int(found[2] or found[1]) + 1)


ROWS = Option("rows", ("rows",), "rows to show, such as 0-3", "A-B", read_range)
COLUMNS = Option("columns", ("columns", "cols"), "columns to show, such as 0-7", "A-B", read_range)


# Registers --------------------------------------------------------------------------------------------------------


@command(
    "registers", "reg", "info registers", "info register", group="values",
    args=(
        Argument("names", "names of registers; the default is all that later instructions may read", repeats=True),
        Option("lane", ("lane",), "lane in place of the one in focus", "N", read_integer),
        Option("all", ("all",), "show the values of all lanes"),
        AS,
    ),
    example="registers %r1 %p0 all",
)  # fmt: skip
def registers(
    context: Context, names: Sequence[str], *, lane: int | None, all: bool, as_type: str | None
) -> Result:  # fmt: skip
    """Print registers in the lane in focus.

    The lane is named only if the lanes of the warp have different values.
    """
    pc, thread = context.pc, context.thread
    shown = thread.lane if lane is None else lane
    if not 0 <= shown < 32:
        raise UsageError(f"the lane is {shown}; expected 0 to 31", code="debug.focus")
    present = np.flatnonzero(context.emulator.topology.present[thread.warp]).tolist()
    digits = context.settings.digits
    found: list[tuple[str, list[str]]] = []
    for name in names or sorted(context.registers.live(pc), key=_stem_and_number):
        value = context.registers.read(name, pc, thread.warp, type=as_type or "")
        lines = lanes_text(value, present, digits) if all else [_in_lane(context, value, shown, present)]
        found.append((name, lines))
    if not names:
        found = _merged(found)
    rows = [(name if k == 0 else "", line) for name, lines in found for k, line in enumerate(lines)]
    return Table(("register", "value"), tuple(rows), empty="no later instruction reads a register")


def _stem_and_number(name: str) -> tuple[str, int]:
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or -1)


def _merged(found: Sequence[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Return one entry for registers with consecutive numbers and the same value."""
    merged: list[tuple[str, list[str]]] = []
    last = ("", -1)
    for name, lines in found:
        stem, number = _stem_and_number(name)
        if merged and number >= 0 and last == (stem, number - 1) and merged[-1][1] == lines:
            merged[-1] = f"{merged[-1][0].partition(' ')[0]} to {name}", lines
        else:
            merged.append((name, lines))
        last = stem, number
    return merged


def _in_lane(context: Context, value: RegisterValue, lane: int, present: Sequence[int]) -> str:
    text = value_text(value.numbers[lane], value.type, context.settings.digits)
    return text if (value.bits[present] == value.bits[lane]).all() else f"{text} in lane {lane}"


@command(
    "print", "p", "pp", "inspect", group="values",
    args=(
        Argument("what", "expression with registers, ARRAY[INDEX], or a variable", takes_rest=True),
        Option("all", ("all",), "show the values of all lanes"),
        AS,
    ),
    example="print %r1 + 1",
)  # fmt: skip
def print_(context: Context, what: str, *, all: bool, as_type: str | None) -> Result:
    """Print the value of an expression, of array elements or of a variable.

    The expression has the syntax of conditions, and is evaluated in the lane in focus. An index may be a slice.
    """
    found = _ELEMENT.fullmatch(what)
    if found is not None and found["name"] in context.arrays:
        return _elements(context, found["name"], found["index"])
    if found is not None and found["index"] is None and context.scope.variable(what) is not None:
        return memory(context, None, what, None, as_type)
    thread, digits = context.thread, context.settings.digits
    if what.startswith("%") and " " not in what:
        value = context.registers.read(what, context.pc, thread.warp, type=as_type or "")
    else:
        value = _evaluated(context, f"{as_type}({what})" if as_type else what)
    present = np.flatnonzero(context.emulator.topology.present[thread.warp]).tolist()
    lines = lanes_text(value, present, digits) if all else [_in_lane(context, value, thread.lane, present)]
    numbers = value.numbers.tolist()
    data = [numbers[lane] for lane in present] if all else numbers[thread.lane]
    return Message("\n".join([f"{what} = {lines[0]}", *lines[1:]]), {"expression": what, "value": data})


def _evaluated(context: Context, text: str) -> RegisterValue:
    """Return the values of an expression in the lanes of the warp in focus."""
    emulator = context.emulator
    emulator.accumulators.flush()
    batch = emulator.asynchronous.make_batch(np.array([context.thread.warp], np.intp), None)
    (numbers,) = evaluate(text, context.scope, batch)
    kind = "pred" if numbers.dtype == np.bool_ else "f64" if numbers.dtype.kind == "f" else "s64"
    return RegisterValue(text, kind, numbers, numbers)


def _elements(context: Context, name: str, index: str | None) -> Result:
    """Return the elements of an array. `index` is the text between the brackets."""
    array = context.arrays[name].read()
    found = array[_index(name, index or "...", array)] if array.ndim else array
    label = name if index is None else f"{name}[{index}]"
    element = array.dtype.name
    if found.ndim == 0:
        kind = "f64" if np.issubdtype(found.dtype, np.floating) or found.dtype.kind == "V" else "s64"
        number = float(found) if kind == "f64" else int(found)
        return Message(f"{label} = {value_text(number, kind, 9)}", {"element": label, "value": number})
    rows = found.reshape(1, -1) if found.ndim == 1 else found.reshape(-1, found.shape[-1])
    numbers = rows.astype(np.float64) if rows.dtype.kind not in "iufb" else rows
    settings = context.settings
    matrix = Matrix(f"{label}, {'x'.join(map(str, found.shape))} {element}", element, numbers)
    return Grid(matrix, settings.width, settings.rows, settings.digits)


def _index(name: str, text: str, array: Array) -> Any:
    """Return the index that a text such as "0:4, 5" denotes. Errors: UsageError debug.index."""
    parts: list[Any] = []
    for part in text.split(","):
        word = part.strip()
        found = re.fullmatch(r"(-?\d*)(?::(-?\d*))?", word)
        if word == "...":
            parts.append(...)
        elif found is None or not word:
            raise UsageError(f"the index of {name} is [{text}]; expected integers or slices", code="debug.index")
        elif ":" in word:
            parts.append(slice(*(int(each) if each else None for each in found.groups())))
        else:
            parts.append(int(word))
    try:
        array[tuple(parts)]
    except IndexError:
        shape = " x ".join(map(str, array.shape))
        raise UsageError(
            f"{name}[{text}] is outside of the array, which has {shape} elements", code="debug.index"
        ) from None
    return tuple(parts)


def watched_value(context: Context, what: str) -> tuple[str, int | str, int, Callable[[bytes], str]]:
    """Return the space, the location and the size of a value, and a function that prints its bytes.

    Units: bytes for the size.

    Errors: UsageError debug.watch, debug.index, debug.memory, debug.register.
    """
    digits = context.settings.digits

    def text_as(kind: str) -> Callable[[bytes], str]:
        width = width_of(kind)
        dtype = "?" if kind == "pred" else "V16" if width == 16 else f"u{width}"
        return lambda held: ", ".join(value_text(n, kind, digits) for n in numbers_of(np.frombuffer(held, dtype), kind))

    if what.startswith("%"):
        value = context.registers.read(what, context.pc, context.thread.warp)
        return "register", what, value.bits.itemsize, text_as(value.type)
    found = _ELEMENT.fullmatch(what)
    if found is not None and found["name"] in context.arrays and found["index"] is not None:
        named = context.arrays[found["name"]]
        array = named.read()
        index = _index(named.name, found["index"], array)
        element = array[(*index, ...)]
        if element.ndim:
            raise UsageError(f"{what} has {element.size} elements; expected one", code="debug.watch")
        start = named.address + element.__array_interface__["data"][0] - array.__array_interface__["data"][0]
        return "global", start, array.itemsize, lambda held: number_text(np.frombuffer(held, array.dtype)[0], digits)
    kind, _, rest = what.partition(" ")
    if kind == "tensor" and (lane := re.fullmatch(r"(\d+):(\d+)", rest.strip())):
        return "tensor", int(lane[1]) << 16 | int(lane[2]), 4, text_as("b32")
    if kind == "mbarrier" and rest:
        return "shared", _shared_address(context, rest.strip()), 8, _mbarrier_text
    if kind in SPACES and is_integer(rest.strip()):
        return kind, read_integer(rest.strip()), 4, text_as("b32")
    space, start, size = context.memory.variable(what, context.pc, context.thread)
    return space, start, size or 4, text_as("b32") if size in (0, 4) else bytes.hex


def _shared_address(context: Context, text: str) -> int:
    """Return the shared address that a text denotes.

    It is an integer, or a variable with an index of 8-byte elements (`full[1]`) or an offset in bytes (`full+8`).
    """
    if is_integer(text):
        return read_integer(text)
    found = re.fullmatch(r"(\w+)(?:\[(\d+)\]|\+(\d+))?", text)
    if found is None:
        raise UsageError(
            f"'{text}' is no mbarrier; expected an address, NAME, NAME[INDEX] or NAME+OFFSET", code="debug.watch"
        )
    _, start, _ = context.memory.variable(found[1], context.pc, context.thread)
    return start + 8 * int(found[2] or 0) + int(found[3] or 0)


def _mbarrier_text(held: bytes) -> str:
    state = MbarrierState.decode(int.from_bytes(held, "little"))
    return f"phase {state.phase}, {_lacks(state)}"


def _lacks(state: MbarrierState) -> str:
    """Return a phrase for what the phase in progress lacks."""
    return f"lacks {counted(state.arrivals, 'arrival')}, {state.bytes:,} bytes"


# Memory -----------------------------------------------------------------------------------------------------------


@command(
    "memory", "x", "mem", group="values",
    args=(
        Argument("space", one_of(SPACES), is_required=False, accepts=SPACES.__contains__, words=SPACES),
        Argument("address", "integer, register, variable or array"),
        Argument("count", "number of elements", read_integer, is_required=False, accepts=is_integer),
        Argument("type", "PTX type of the elements", is_required=False, accepts=TYPES.__contains__, words=_TYPES),
    ),
    example="memory shared_memory 4 f32",
)  # fmt: skip
def memory(context: Context, space: str | None, address: str, count: int | None, type: str | None) -> Result:
    """Print memory as numbers.

    Without a space, the value of a register is a generic address.
    """
    thread, size = context.thread, 0
    if is_integer(address):
        start, space = read_integer(address), space or "generic"
    elif address.startswith("%"):
        value = context.registers.read(address, context.pc, thread.warp)
        start, space = int(value.bits[thread.lane]), space or "generic"
    elif address in context.arrays:
        start, space = context.arrays[address].address, "global"
    else:
        space, start, size = context.memory.variable(address, context.pc, thread)
    chosen = type or "b32"
    number = count or max(min(size // width_of(chosen), 64), 1) if size else count or 16
    found = context.memory.elements(space, start, chosen, number, thread)
    texts = [value_text(each, chosen, context.settings.digits) for each in found]
    widest = max(map(len, texts), default=0)
    rows = [
        (f"{start + k * width_of(chosen):#x}", *(text.rjust(widest) for text in _padded(texts[k : k + _PER_LINE])))
        for k in range(0, number, _PER_LINE)
    ]
    columns = ("address", *(f"+{k}" for k in range(len(rows[0]) - 1)))
    return Table(columns, tuple(rows), f"{space} memory, {counted(number, 'element')} of .{chosen}")


def _padded(texts: Sequence[str]) -> list[str]:
    return [*texts, *[""] * (_PER_LINE - len(texts))]


@command(
    "mbarriers", "info mbarriers", group="values",
    example="mbarriers",
)  # fmt: skip
def mbarriers(context: Context) -> Result:
    """Print the mbarriers of the CTA in focus at which a warp has arrived or waits.

    Each line has the number of the phase in progress, and the arrivals and bytes that it lacks.
    """
    emulator = context.emulator
    cta = int(emulator.topology.cta_of[context.thread.warp])
    rows: list[tuple[Any, ...]] = []
    for each in context.memory.mbarriers(cta):
        state, splits = each.state, emulator.state.splits
        numbers = sorted({int(emulator.topology.warp_in_cta[splits.warp[slot]]) for slot in each.waiting})
        waiting = f"waiting: {describe_numbers('warp', numbers)}" if numbers else ""
        name = shared_name(context, each.address)
        rows.append((name, f"address {each.address:#x}", f"phase {state.phase}", _lacks(state), waiting))
    columns = ("mbarrier", "address", "phase", "lacks", "waiting")
    return Table(columns, tuple(rows), empty="the CTA has used no mbarrier")


def shared_name(context: Context, address: int) -> str:
    """Return the variable, or the element of 8 bytes in it, at a shared address, or else the address."""
    offset, dynamic = (address & 0xFFFFFF) - SHARED_START, context.program.dynamic_start
    for scope in context.scope.enclosing():
        for name, storage in scope.variables.items():
            if storage.space == "shared" and storage.offset <= offset < storage.offset + storage.size:
                return name if storage.size <= 8 else f"{name}[{(offset - storage.offset) // 8}]"
            if storage.space == "dynamic" and offset >= dynamic:
                return f"{name}+{offset - dynamic}"
    return f"{address:#x}"


# Matrices ---------------------------------------------------------------------------------------------------------


@command(
    "fragment", "frag", group="values",
    args=(Argument("operand", "matrix of the instruction, such as A or D, or one of its registers"), AT, ROWS, COLUMNS),
    example="fragment D at kind multiply rows 0-3",
)  # fmt: skip
def fragment(
    context: Context, operand: str, *, at: str | None, rows: slice | None, columns: slice | None
) -> Result:  # fmt: skip
    """Print a matrix that an instruction has in registers.

    The registers of the warp in focus, or of its warpgroup, contain the matrix.
    """
    pc = instruction(context, at)
    matrix = context.registers.fragment(pc, _operand(context, pc, operand), context.thread.warp)
    return _grid(context, matrix, rows, columns)


@command(
    "tile", group="values",
    args=(Argument("operand", "matrix of the instruction, such as A, or its descriptor's register"), AT, ROWS, COLUMNS),
    example="tile A at kind multiply rows 0-3",
)  # fmt: skip
def tile(context: Context, operand: str, *, at: str | None, rows: slice | None, columns: slice | None) -> Result:
    """Print a matrix that an instruction has in shared or tensor memory.

    The descriptor in the lane in focus, or the tensor map of a copy, locates the matrix.
    """
    pc = instruction(context, at)
    matrix = context.memory.operand(pc, _operand(context, pc, operand), context.thread)
    return _grid(context, matrix, rows, columns)


def instruction(context: Context, at: str | None) -> int:
    """Return the first instruction at a location, or the next instruction of the lane in focus for None."""
    return context.pc if at is None else min(find_instructions(context.program, at))


def _operand(context: Context, pc: int, text: str) -> str:
    """Return the operand of an instruction that contains a register, or the text if it is no register."""
    binding = context.program.steps[pc].binding
    for key, bound in binding.operands.items():
        if bound.spec.layout is not None and text in names_in(bound.operand):
            return key
    if text.startswith("%"):
        line = line_of(context.program, pc)
        raise UsageError(
            f"{text} is no matrix operand of `{line}`",
            code="debug.operand",
            hint="`at LINE` selects another instruction",
        )
    return text


def _grid(context: Context, matrix: Matrix, rows: slice | None, columns: slice | None) -> Result:
    settings, whole = context.settings, slice(None)
    shown = matrix.part(rows or whole, columns or whole)
    size = f"{matrix.numbers.shape[0]} x {matrix.numbers.shape[1]} {matrix.element}"
    named = Matrix(f"{matrix.name}, {size}", shown.element, shown.numbers, shown.first_row, shown.first_col)
    return Grid(named, settings.width, settings.rows, settings.digits)


@command(
    "tensor", group="values",
    args=(
        Argument("address", "address in tensor memory: LANE:COLUMN, integer or register"),
        Option("lanes", ("lanes",), "number of lanes; the default is 32", "N", read_integer),
        Option("columns", ("columns", "cols"), "number of columns; the default is 8", "N", read_integer),
        AS,
    ),
    example="tensor 0:0 lanes 4 columns 4 as f32",
)  # fmt: skip
def tensor(
    context: Context, address: str, *, lanes: int | None, columns: int | None, as_type: str | None
) -> Result:  # fmt: skip
    """Print tensor memory.

    Tensor memory has 128 lanes, and columns of 32 bits.
    """
    found = re.fullmatch(r"(\d+):(\d+)", address)
    start = int(found[1]) << 16 | int(found[2]) if found else _value(context, address)
    matrix = context.memory.tensor(start, lanes or 32, columns or 8, as_type or "b32", context.thread)
    return _grid(context, matrix, None, None)


# Structures -------------------------------------------------------------------------------------------------------


def _value(context: Context, text: str) -> int:
    """Return an integer, or the value of a register in the lane in focus."""
    if is_integer(text):
        return read_integer(text)
    thread = context.thread
    return int(context.registers.read(text, context.pc, thread.warp).bits[thread.lane])


@command(
    "descriptor", "desc", group="values",
    args=(
        Argument("value", "register or integer"),
        Option("kind", ("kind",), "kind of multiplication, such as f16, for an instruction descriptor", "KIND", str),
    ),
    example="descriptor 0x4000004000010040",
)  # fmt: skip
def descriptor(context: Context, value: str, *, kind: str | None) -> Result:
    """Print the fields of a matrix descriptor or of an instruction descriptor.

    The register is read in the lane in focus.
    """
    bits = _value(context, value)
    view = context.memory
    found = view.descriptor(bits) if kind is None else view.instruction(bits, kind)
    facts = asdict(found)
    start = f"{value} = {bits:#x}" if value.startswith("%") else f"{bits:#x}"
    return Message(f"{start}: {_fields(facts)}", {"value": bits} | facts)


def _fields(facts: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in facts.items())


@command(
    "tensormap", "tmap", group="values",
    args=(Argument("address", "kernel parameter, register with a generic address, or integer"),),
    example="tensormap hopper_gemm_a",
)  # fmt: skip
def tensormap(context: Context, address: str) -> Result:
    """Print the fields of a tensor map.

    The dimensions are listed from the innermost to the outermost.
    """
    if address.startswith("%") or is_integer(address):
        start = _value(context, address)
    else:
        space, offset, _ = context.memory.variable(address, context.program.entry, context.thread)
        start = offset + (context.emulator.parameters if space == "param" else 0)
    found = context.memory.tensor_map(start)
    rows = [
        (k, found.global_dim[k], found.global_stride[k - 1] if k else max(found.element_bits // 8, 1), found.box[k],
         found.element_stride[k])
        for k in range(found.rank)
    ]  # fmt: skip
    swizzle = f", swizzle of {found.swizzle_span} bytes" if found.swizzle_span else ""
    name = next((each.name for each in context.arrays.values() if each.address == found.global_address), "")
    what = name or f"{found.global_address:#x}"
    title = Message(
        f"tensor map of {what}: {found.rank} dimensions of {found.element_type}{swizzle}", asdict(found)
    )  # fmt: skip
    return Several((title, Table(("dimension", "size", "stride", "box", "step"), tuple(rows), has_heads=True)))
