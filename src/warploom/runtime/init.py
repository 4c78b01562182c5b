"""A launch file from a kernel's text: what the text says is written, and what it cannot say is a marked line.

A line that begins with a guess says so in its comment; what nobody can guess is a string that says what to put
there, and `warploom run` refuses the file until it is filled in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from warploom.isa.model.capacity import SHARED_KIB, shared_bytes
from warploom.isa.model.parameters import Parameter, aligned, place, size_of
from warploom.isa.model.signature import read_signature
from warploom.ptx import Block, Function, Module, Variable
from warploom.runtime.buffers import DTYPES
from warploom.runtime.toml import UNFILLED
from warploom.runtime.uses import Part, Use, Uses, uses_of

_BYTES = 1 << 20  # of a buffer whose size the text does not say
_SCRATCH = 1 << 16
_MAP_BYTES, _MAP_ALIGN = 128, 64
_WARP, _WARPGROUP = 32, 128
_DTYPES = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "tf32": "float32",
    "f64": "float64",
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
} | {
    f"{sign}{bits}": f"{word}{bits}"
    for sign, word in (("s", "int"), ("u", "uint"))
    for bits in (8, 16, 32, 64)
}
_UNSAID = "guess: the text says no more than"
_WIDE = 60  # of an argument that what is said of it stands behind

Keys = dict[str, str]
"""Keys of a table with their values, written as TOML has them."""


@dataclass(slots=True)
class _Buffer:
    name: str
    dtype: str
    shape: str
    distribution: str
    said: str


@dataclass(slots=True)
class _Entry:
    """An argument, or the fields of a structure, and what is said of it."""

    keys: Keys
    said: str
    fields: list[_Entry] | None = None


@dataclass(slots=True)
class _Draft:
    module: Module
    kernel: Function
    uses: Uses
    buffers: list[_Buffer] = field(default_factory=list[_Buffer])
    entries: list[_Entry] = field(default_factory=list[_Entry])


def write(module: Module, kernel: str | None, path: str) -> str:
    """The text of a launch file for a kernel of a module; `path` is that of the PTX, from the launch file's folder.

    Errors: emulator.kernel where it is not clear which kernel is meant, or there is no such.
    """
    function = read_signature(module, kernel).entry
    draft = _Draft(module, function, uses_of(function))
    for parameter in place(function.params):
        draft.entries.append(_argument(draft, parameter, _attributes(function, parameter)))
    lines = [*_head(draft, path), "", *_geometry(draft), "", *_arguments(draft), *_buffers(draft)]
    return "\n".join(lines).rstrip() + "\n"


def _attributes(kernel: Function, parameter: Parameter) -> str:
    """What the declaration of a pointer says of it."""
    declared = next(variable for variable in kernel.params if variable.name == parameter.name)
    return " ".join(declared.attributes)


# Words ------------------------------------------------------------------------------------------------------------


def _quoted(text: str) -> str:
    return json.dumps(text).replace("\x7f", "\\u007f")


def _unfilled(what: str) -> str:
    return _quoted(UNFILLED + what)


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _declared(draft: _Draft, parameter: Parameter) -> str:
    """A parameter as it is declared, its name without that of the kernel, which may be long."""
    return str(parameter).replace(f" {draft.kernel.name}_", " ")


def _short(draft: _Draft, parameter: str) -> str:
    """What a parameter is called in the file: `p3` for the third that a compiler numbered."""
    numbered = re.fullmatch(rf"{re.escape(draft.kernel.name)}_param_(\d+(?:_\d+)?)", parameter)
    name = f"p{numbered[1]}" if numbered else re.sub(r"[^A-Za-z0-9_-]", "_", parameter)
    taken = {buffer.name for buffer in draft.buffers}
    return next(each for each in (name, *(f"{name}_{k}" for k in range(len(taken) + 1))) if each not in taken)


# Arguments --------------------------------------------------------------------------------------------------------


def _argument(draft: _Draft, parameter: Parameter, attributes: str) -> _Entry:
    parts = {part: use for part, use in draft.uses.parts.items() if part.parameter == parameter.name}
    if parameter.is_array:
        return _by_value(draft, parameter, parts)
    use = parts.get(Part(parameter.name), Use())
    return _single(
        draft, parameter.name, f"{_declared(draft, parameter)} {attributes}".strip(), use, parameter.size
    )


def _by_value(draft: _Draft, parameter: Parameter, parts: dict[Part, Use]) -> _Entry:
    """A structure by value, which is a tensor map alone or has what is loaded of it as its fields."""
    declared = f".align {parameter.align} {_declared(draft, parameter)}"
    whole = parts.get(Part(parameter.name), Use())
    if parameter.size == _MAP_BYTES and whole.ranks:
        return _tensor_map(draft, parameter.name, declared, whole)
    if parameter.size == _MAP_BYTES and parameter.align >= _MAP_ALIGN and not parts:
        return _Entry({}, f"{declared}: never read; a tensor map by its size and alignment", [])
    fields: list[_Entry] = []
    end = 0
    for part, use in sorted(parts.items(), key=lambda item: (item[0].offset, -item[1].bytes)):
        size = _MAP_BYTES if use.ranks and not use.holds_maps else use.bytes
        if part.offset < end or not size or part.offset + size > parameter.size:
            continue
        end = part.offset + size
        called = f"{parameter.name}_{part.offset}"
        if size == _MAP_BYTES:
            entry = _tensor_map(draft, called, "", use)
        else:
            entry = _single(draft, called, "", use, use.bytes)
            if "value" in entry.keys:
                entry.keys["type"] = _quoted(_typed(use.type))
        entry.said = entry.said.removeprefix(": ")
        entry.keys = {"at": str(part.offset), **entry.keys}
        fields.append(entry)
    return _Entry({}, f"{declared}: a structure" if fields else f"{declared}: never read", fields)


def _typed(word: str) -> str:
    return f"u{word[1:]}" if word.startswith("b") else word


def _single(draft: _Draft, name: str, declared: str, use: Use, size: int) -> _Entry:
    """An address or a number."""
    is_pointer = ".ptr" in declared
    if use.holds_maps and not use.elements and not use.widths:
        said = f"{declared}: guess, {_SCRATCH} zeroed bytes; the kernel makes tensor maps there"
        return _Entry({"scratch": str(_SCRATCH)}, said)
    if use.is_address and size == 8:
        return _Entry({"buffer": _quoted(_add_buffer(draft, name, use))}, declared)
    if not use.loaded:
        return _Entry({"null": "true"} if is_pointer else {"value": "0"}, f"{declared}: never read")
    if is_pointer:
        said = f"{declared}: guess, {_SCRATCH} zeroed bytes; what is done with the address is not seen"
        return _Entry({"scratch": str(_SCRATCH)}, said)
    return _Entry({"value": _unfilled("a number" + _clue(use, size))}, declared)


def _clue(use: Use, size: int) -> str:
    if use.is_passed and size == 8:
        return ", or a buffer: it is handed to a function or stored"
    if use.is_coordinate:
        return " that is a coordinate of tensor copies"
    if use.is_compared and use.is_scale:
        return " that bounds and scales: a size, perhaps"
    if use.is_compared:
        return " that others are compared with: a size, perhaps"
    return " that is multiplied: a stride, perhaps" if use.is_scale else ""


def _add_buffer(draft: _Draft, parameter: str, use: Use) -> str:
    dtype, said = _dtype(use, draft.uses)
    count, size = _BYTES // DTYPES[dtype].itemsize, f"{_BYTES >> 20} MiB"
    shape = f"[{count}]  # guess: {size}; the text does not say how far it reaches"
    buffer = _Buffer(_short(draft, parameter), _quoted(dtype), shape, _distribution(use, dtype, said), said)
    draft.buffers.append(buffer)
    return buffer.name


def _dtype(use: Use, uses: Uses) -> tuple[str, str]:
    """The element type of a buffer, and why it is a guess; "" where it is none."""
    known = {_DTYPES.get(element, "") for element in use.elements}
    if len(known) == 1 and (dtype := next(iter(known))):
        return dtype, ""
    if not known and not use.written and len(uses.multiplicands) == 1:
        element = next(iter(uses.multiplicands))
        if element in _DTYPES:
            return _DTYPES[element], f"guess: what the kernel multiplies is .{element}"
    width = min((width for width in use.widths if 8 <= width <= 64), default=8)
    words = _listed(sorted(f".{element}" for element in use.elements)) if use.elements else ""
    return f"uint{width}", f"{_UNSAID} {words or f'{width} bits'}"


def _distribution(use: Use, dtype: str, said: str) -> str:
    if use.written and not use.read:
        return '"zeros"  # only written'
    if "float" in dtype:
        return '"normal"'
    if said.startswith(_UNSAID):
        return '"zeros"'
    return '"integers"\nlow = 0\nhigh = 8' if dtype.startswith("uint") else '"integers"\nlow = -8\nhigh = 8'


def _tensor_map(draft: _Draft, name: str, declared: str, use: Use) -> _Entry:
    rank = max(use.ranks)
    sizes = "1 size" if rank == 1 else f"{rank} sizes, outermost first"
    dtype, said = _dtype(use, draft.uses)
    distribution = _distribution(use, dtype, said)
    dtype = _quoted(dtype)
    if said.startswith(_UNSAID):
        dtype, said = _unfilled("the type of the tensor's elements"), ""
        distribution = '"normal"' if use.read else distribution
    shape = _unfilled(f"the tensor's {sizes}")
    buffer = _Buffer(_short(draft, name), dtype, shape, distribution, said)
    draft.buffers.append(buffer)
    did = [word for word, is_so in (("loads", use.read), ("stores", use.written)) if is_so]
    keys = {
        "tensor_map": _quoted(buffer.name),
        "box": _unfilled(f"{sizes}: what one copy takes"),
        "swizzle": _unfilled("0, 32, 64 or 128 bytes, as whoever made the map had it"),
    }
    return _Entry(keys, f"{declared}: a tensor map; {_listed(did or ['copies'])} of {rank} dimensions")


# Text -------------------------------------------------------------------------------------------------------------


def _head(draft: _Draft, path: str) -> Iterator[str]:
    target = next(iter(draft.module.target), "no target")
    yield f"# How to launch {draft.kernel.name}, compiled for {target}, as far as its PTX says."
    yield '# A "guess" may be wrong; what has to be filled in says so, and nothing runs before it is.'
    if draft.uses.calls:
        yield "# The kernel calls functions; what they do with parameters was not looked into."
    if draft.uses.unknown:
        yield f"# Not known, and not looked into: {', '.join(sorted(draft.uses.unknown)[:5])}."
    yield f"kernel.file = {_quoted(path)}"
    yield f"kernel.name = {_quoted(draft.kernel.name)}"


def _ints(draft: _Draft, name: str) -> tuple[int, ...] | None:
    found = next((d.ints for d in draft.kernel.directives if d.name == name), None)
    return found if found is None else (*found, 1, 1)[:3]


def _extents(extents: tuple[int, ...]) -> str:
    while len(extents) > 1 and extents[-1] == 1:
        extents = extents[:-1]
    return str(extents[0]) if len(extents) == 1 else f"[{', '.join(map(str, extents))}]"


def _geometry(draft: _Draft) -> Iterator[str]:
    uses = draft.uses
    cluster = _ints(draft, ".reqnctapercluster")
    explicit = any(d.name == ".explicitcluster" for d in draft.kernel.directives)
    axes = _listed(f"%ctaid.{axis}" for axis in uses.axes("%ctaid")) if uses.axes("%ctaid") else ""
    reads = f"the kernel reads {axes}" if axes else "the kernel does not read which CTA it is in"
    smallest = "one cluster" if cluster else "one CTA"
    yield f"launch.grid = {_extents(cluster or (1,))}  # guess: {smallest}; {reads}"
    yield f"launch.block = {_block(draft)}"
    if cluster:
        yield f"launch.cluster = {_extents(cluster)}  # .reqnctapercluster"
    elif explicit:
        yield f"launch.cluster = {_unfilled('CTAs of a cluster; .explicitcluster asks for a shape')}"
    yield from _shared(draft)


def _block(draft: _Draft) -> str:
    if required := _ints(draft, ".reqntid"):
        return f"{_extents(required)}  # .reqntid"
    if most := _ints(draft, ".maxntid"):
        return f"{_extents(most)}  # guess: the most that .maxntid allows"
    if draft.uses.asks("%ntid"):
        return f"{_WARPGROUP}  # guess: the kernel reads %ntid, so that it may take any"
    if draft.uses.warpgroups:
        return f"{_WARPGROUP}  # guess: a warpgroup, which the kernel's instructions ask for"
    if not draft.uses.asks("%tid"):
        return f"{_WARP}  # guess: a warp; the kernel does not read which thread it is"
    return _unfilled("threads of a CTA; the kernel reads %tid, and no directive says how many there are")


def _shared(draft: _Draft) -> Iterator[str]:
    everywhere = [v for v in draft.module.variables.values() if v.space == "shared"]
    externs = [v for v in everywhere if "extern" in v.linkage and size_of(v) is None]
    named = [v for v in externs if v.name in draft.uses.names or draft.uses.calls]
    if not named:
        return
    asked = [name for name in ("%dynamic_smem_size", "%total_smem_size") if name in draft.uses.special]
    number = int(re.sub(r"\D", "", next(iter(draft.module.target), "")) or 0)
    if asked or number not in SHARED_KIB:
        yield f"launch.shared = {_unfilled('bytes of dynamic shared memory')}"
        return
    assert draft.kernel.body is not None
    static = 0
    for variable in (*(v for v in everywhere if v not in externs), *_variables(draft.kernel.body)):
        static = aligned(static, variable.align or 1) + (size_of(variable) or 0)
    most = shared_bytes(number) - aligned(static, 1024)
    yield f"launch.shared = {most}  # guess: all that a CTA of sm_{number} can have; {named[0].name}[] has no size"


def _variables(block: Block) -> Iterator[Variable]:
    for statement in block.statements:
        if isinstance(statement, Block):
            yield from _variables(statement)
        elif isinstance(statement, Variable) and statement.space == "shared":
            yield statement


def _arguments(draft: _Draft) -> Iterator[str]:
    if any(entry.fields is not None for entry in draft.entries):
        for entry in draft.entries:
            yield f"[[argument]]  # {entry.said}"
            if entry.fields is None:
                yield from (f"{key} = {value}" for key, value in entry.keys.items())
            elif entry.fields:
                yield from _inline("fields", entry.fields)
            else:
                yield "fields = []"
            yield ""
    elif draft.entries:
        yield from _inline("argument", draft.entries)
        yield ""


def _inline(name: str, entries: Iterable[_Entry]) -> Iterator[str]:
    yield f"{name} = ["
    for entry in entries:
        said = f"# {entry.said}" if entry.said else ""
        text = f"{{ {', '.join(f'{key} = {value}' for key, value in entry.keys.items())} }},"
        if len(text) > _WIDE:
            yield from (f"    {line}" for line in (said, text) if line)
        else:
            yield f"    {text}  {said}".rstrip()
    yield "]"


def _buffers(draft: _Draft) -> Iterator[str]:
    for buffer in draft.buffers:
        yield f"[buffer.{buffer.name}]"
        yield f"dtype = {buffer.dtype}" + (f"  # {buffer.said}" if buffer.said else "")
        yield f"shape = {buffer.shape}"
        yield f"distribution = {buffer.distribution}"
        yield ""
