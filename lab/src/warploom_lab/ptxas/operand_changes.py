"""Operands of an instruction with one change: count, vector, register type, constant, address or name."""

from collections.abc import Iterator
from itertools import islice

from warploom.isa.model.form import Form
from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.syntax import OperandPattern
from warploom_lab.ptxas.instruction_text import ANY_LENGTH, Slots, Writer, prefix_of, present_operands, write_operands
from warploom_lab.ptxas.probe import TABLES

Change = tuple[str, str, list[str]]

_PREFIXES = ("p", "b", "h", "uh", "hf", "r", "u", "s", "f", "x", "rd", "ud", "sd", "d", "rq")
_CONSTANTS = (
    "0", "1", "-1", "2", "3", "4", "7", "8", "9", "15", "16", "17", "31", "32", "33", "63", "64", "100",
    "127", "128", "129", "255", "256", "257", "65535", "65536", "1048575", "1048576", "2147483647",
    "2147483648", "-2147483648", "4294967295", "4294967296", "0x10U", "1.0", "0f3F800000",
    "0d3FF0000000000000",
)  # fmt: skip
_CONSTANT_BITS = 64  # of the longest constant in PTX
_BASES = (
    "[%r90]", "[%u90]", "[%h90]", "[%f90]", "[%d90]", "[%p90]", "[%ud90]", "[%sd90]", "[%rd90+16]",
    "[%rd90+-16]", "[%rd90+1]", "[%rd90+%r90]", "[16]", "[0]", "[smem]", "[smem+16]", "[gmem]", "[cmem]",
    "[lmem]", "[kparam]", "[%nowhere]", "[nowhere]", "%rd90", "%r90", "smem", "[%rd90, %rd91]",
    "[%rd90, {%r90}]",
)  # fmt: skip
_UNANSWERABLE = "[%p90]"  # ptxas never stops allocating memory if a tensor address has this base
_COORDINATES = ("f", "rd", "h", "uh", "u", "s", "p")
_LISTS = ("()", "(%r90)", "(%r90, %r91)", "(_)", "(0)", "(1.0)", "(smem)", "(%p90)", "({%r90})", "([%rd90])")
_PARTS = ("b0", "b3", "b4", "h0", "h1", "h2", "h10", "h01", "h32", "b10", "b31", "b3210", "b7654", "x")
_NAMES = ("_", "%nowhere", "nowhere", "smem", "gmem", "kparam", "%tid.x", "%clock64", "callee", "L1")


def of(form: Form, slots: Slots, *, optional: bool) -> Iterator[Change]:
    """Yield (name of the changed operand, change, all operands as PTX) for every change of one operand.

    The name is "" if an operand is added. With `optional`, the instruction has its optional operands.
    """
    patterns = present_operands(form, slots, optional=optional)
    plain = write_operands(form, slots, optional=optional)
    if optional and len(plain) == len(write_operands(form, slots)):
        return
    for k, name in enumerate(patterns):
        label = name.names[0]
        rest, after = plain[:k], plain[k + 1 :]
        yield label, "missing", rest + after
        yield label, "doubled", [*rest, plain[k], plain[k], *after]
        if after:
            yield label, "after the next", [*rest, after[0], plain[k], *after[1:]]
        for change, text in _changed(form, name, slots, plain[k]):
            if text != plain[k]:
                yield label, change, [*rest, text, *after]
    for extra in ("%r95", "%rd95", "%p95", "0", "1", "[%rd95]", "{%r[95:97]}"):
        yield "", f"and {extra}", [*plain, extra]


def _changed(form: Form, name: OperandPattern, slots: Slots, plain: str) -> Iterator[tuple[str, str]]:
    if name.parts:
        for part in name.parts:
            for prefix in _PREFIXES:
                yield f"{part} of {prefix}", _with_part(form, name, slots, part, f"%{prefix}90")
            for constant in _CONSTANTS[:14]:
                yield f"{part} {constant}", _with_part(form, name, slots, part, constant)
        yield "shorter", "{" + plain.strip("{}").rpartition(",")[0] + "}"
        yield "longer", plain[:-1] + ", %h90}"
        yield "bare", plain.strip("{}").partition(",")[0]
        return
    spec = form.operands[name.first]
    if spec.kind == "symbol":
        yield from ((f"{text} there", text) for text in (*TABLES, "callee1"))
    if spec.kind == "tuple":
        yield from ((f"{text} there", text) for text in _LISTS)
    if name.second:
        yield "without its pair", plain.partition("|")[0]
        first, second = form.operands[name.first], form.operands[name.second]
        for prefix in _PREFIXES:
            yield f"of {prefix}", f"%{prefix}90|{Writer().operand(second, slots)}"
            yield f"pair of {prefix}", f"{Writer().operand(first, slots)}|%{prefix}91"
        for sunk in ("_|%p90", "%r90|_", "_|_"):
            yield sunk, sunk
        return
    if spec.kind == "address":
        yield from _addresses(spec, slots)
        return
    yield from _lengths(spec, slots)
    yield from _types(spec, slots)
    yield from _values(spec, slots)
    yield from ((f"{text} there", text) for text in _NAMES)
    if spec.constraint.selector:
        yield from ((f"part {part}", f"{plain}.{part}") for part in _PARTS)
    if spec.access == "write":
        yield "paired", f"{plain}|%p90"
    yield "address there", "[%rd90]"
    yield "negated", "!%p90"
    yield "minus", "-%r90"


def _with_part(form: Form, name: OperandPattern, slots: Slots, part: str, text: str) -> str:
    writer = Writer()
    parts = (text if other == part else writer.operand(form.operands[other], slots) for other in name.parts)
    return "{" + ", ".join(parts) + "}"


def _addresses(spec: OperandSpec, slots: Slots) -> Iterator[tuple[str, str]]:
    count = spec.registers(slots)
    coordinates = f", {Writer().registers('r', count)}" if count else ""
    for base in _BASES:
        if count and base == _UNANSWERABLE:
            continue
        change = base if "," in base or not base.startswith("[") else f"{base[:-1]}{coordinates}]"
        yield f"{base} there", change
    if not count:
        return
    for length in dict.fromkeys((count - 1, count + 1, count * 2, count // 2)):
        if length > 0:
            yield f"{length} coordinates", f"[%rd90, {Writer().registers('r', length)}]"
    for prefix in _COORDINATES:
        yield f"coordinates of {prefix}", f"[%rd90, {Writer().registers(prefix, count)}]"
    yield "no coordinates", "[%rd90]"
    yield "constant coordinates", f"[%rd90, {{{', '.join(['0'] * count)}}}]"
    yield "bare coordinate", "[%rd90, %r90]"
    yield "offset", f"[%rd90+16, {Writer().registers('r', count)}]"


def _lengths(spec: OperandSpec, slots: Slots) -> Iterator[tuple[str, str]]:
    if spec.kind not in {"register", "any"}:
        return
    count = spec.registers(slots)
    plain = ANY_LENGTH if count == -1 else count
    prefix = prefix_of(spec.type_word(slots))
    for length in dict.fromkeys((0, 1, 2, 4, 8, plain - 1, plain + 1, plain * 2, plain // 2)):
        if 0 <= length != count:
            yield f"{length} registers", Writer().registers(prefix, length)


def _types(spec: OperandSpec, slots: Slots) -> Iterator[tuple[str, str]]:
    count = max(spec.registers(slots), 0) if spec.kind in {"register", "any"} else 0
    for prefix in _PREFIXES:
        yield f"of {prefix}", Writer().registers(prefix, count)
    if count > 1:
        plain = prefix_of(spec.type_word(slots))
        items = [f"%{plain}{k}" for k in range(count)]
        for prefix in ("rd", "h", "p", "f", "r", "d"):
            yield f"last of {prefix}", "{" + ", ".join([*items[:-1], f"%{prefix}90"]) + "}"
        yield "sink within", "{" + ", ".join([*items[:-1], "_"]) + "}"
        yield "constant within", "{" + ", ".join([*items[:-1], "0"]) + "}"
        yield "one register twice", "{" + ", ".join([*items[:-1], items[0]]) + "}"


def _values(spec: OperandSpec, slots: Slots) -> Iterator[tuple[str, str]]:
    constants = spec.constants(slots)
    edges: set[int] = set()
    if constants:
        ends = (constants[0], constants[-1]) if isinstance(constants, range) else constants
        low, high = min(ends), max(ends)
        edges = {low - 1, low, low + 1, high - 1, high, high + 1, high * 2}
        few = list(islice(constants, 9))
        if len(few) <= 8:
            edges |= {edge + step for edge in few for step in (-1, 0, 1)}
    written = (str(edge) for edge in sorted(edges) if edge.bit_length() <= _CONSTANT_BITS)
    for text in dict.fromkeys((*_CONSTANTS, *written)):
        yield f"constant {text}", text
