"""Launch files that are written from a kernel's PTX.

A comment marks each value that is a guess. Where a guess is impossible, the value is a string that describes the
missing value. `warploom run` refuses a file with such strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from warploom.isa.model.capacity import SHARED_KIB, shared_bytes
from warploom.isa.model.parameters import Parameter, aligned, size_of
from warploom.isa.model.signature import Signature, read_signature
from warploom.layout.tensormap import TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES
from warploom.ptx import Block, Module, Variable
from warploom.runtime.dtypes import dtype_named
from warploom.runtime.toml import UNFILLED
from warploom.runtime.uses import Part, Use, Uses, uses_of

_BYTES = 1 << 20  # default size of a buffer
_SCRATCH = 1 << 16
_WARP, _WARPGROUP = 32, 128
_DTYPES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "tf32": "float32", "f64": "float64",
    "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2",
    **{f"{s}{bits}": f"{word}{bits}" for s, word in (("s", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)},
}  # fmt: skip
_STATED = "guess: the PTX states only"
_WIDTH, _LONGEST = 60, 120  # longest argument with a comment on the same line, and with the comment

Keys = dict[str, str]
"""Keys of a table of the launch file, with their values as TOML text."""


@dataclass(slots=True)
class _Entry:
    """Entry of an argument or a structure's field in the launch file.

    `keys` has TOML text. Only a structure has `fields`.
    """

    keys: Keys
    comment: str
    fields: list[_Entry] | None = None


def write(module: Module, kernel: str | None, path: str) -> str:
    """Return the text of a launch file for a kernel of a module.

    `kernel` may be None if the module has one kernel. `path` is the path of the PTX file, relative to the folder of the
    launch file.

    Errors: UsageError emulator.kernel.
    """
    signature = read_signature(module, kernel)
    draft = _Draft(module, signature, uses_of(signature.entry))
    draft.entries = [draft.argument(parameter) for parameter in signature.parameters]
    lines = [*draft.head(path), "", *draft.geometry(), "", *draft.arguments(), *draft.buffer_tables()]
    return "\n".join(lines).rstrip() + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text).replace("\x7f", "\\u007f")


def _unfilled(what: str) -> str:
    return _quoted(UNFILLED + what)


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _extents(extents: tuple[int, ...]) -> str:
    while len(extents) > 1 and extents[-1] == 1:
        extents = extents[:-1]
    return str(extents[0]) if len(extents) == 1 else f"[{', '.join(map(str, extents))}]"


@dataclass(slots=True)
class _Draft:
    """TOML launch file of one kernel. `buffers[name]` has the lines of the table `[buffer.name]`."""

    module: Module
    signature: Signature
    uses: Uses
    buffers: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    entries: list[_Entry] = field(default_factory=list[_Entry])

    # Arguments ------------------------------------------------------------------------------------------------

    def argument(self, parameter: Parameter) -> _Entry:
        """Return the entry of a parameter. Add the buffers of the entry."""
        parts = {
            part: use for part, use in self.uses.parts.items() if part.parameter == parameter.name and not part.is_entry
        }
        # The name of the kernel, which may be long, is left out of the declaration.
        declared = str(parameter).replace(f" {self.signature.entry.readable_name}_", " ")
        if parameter.is_array:
            return self._by_value(parameter, f".align {parameter.align} {declared}", parts)
        variable = next(each for each in self.signature.entry.params if each.name == parameter.name)
        declared = " ".join((declared, *variable.attributes))
        part = Part(parameter.name)
        return self._single(part, parameter.name, declared, parts.get(part, Use()), parameter.size)

    def _by_value(self, parameter: Parameter, declared: str, parts: dict[Part, Use]) -> _Entry:
        """Return the entry of a tensor map or a structure, passed by value.

        `declared` is the PTX declaration of the parameter, for the comment. `parts` describes how the kernel uses
        each value inside the parameter.
        """
        whole = parts.get(Part(parameter.name), Use())
        if parameter.size == TENSOR_MAP_BYTES and whole.ranks:
            return self._tensor_map(parameter.name, declared, whole)
        if parameter.size == TENSOR_MAP_BYTES and parameter.align >= TENSOR_MAP_ALIGN and not parts:
            return _Entry({}, f"{declared}: never read; its size and alignment are those of a tensor map", [])
        fields: list[_Entry] = []
        end = 0
        for part, use in sorted(parts.items(), key=lambda item: (item[0].offset, -item[1].bytes)):
            size = TENSOR_MAP_BYTES if use.ranks and not use.holds_maps else use.bytes
            if part.offset < end or not size or part.offset + size > parameter.size:
                continue
            end = part.offset + size
            name = f"{parameter.name}_{part.offset}"
            if size == TENSOR_MAP_BYTES:
                entry = self._tensor_map(name, "", use)
            else:
                entry = self._single(part, name, "", use, use.bytes)
                if "value" in entry.keys:
                    word = f"u{use.type[1:]}" if use.type.startswith("b") else use.type
                    entry.keys["type"] = _quoted(word)
            entry.comment = _field_comment(part.offset, size, use, entry)
            entry.keys = {"at": str(part.offset), **entry.keys}
            fields.append(entry)
        return _Entry({}, f"{declared}: a structure" if fields else f"{declared}: never read", fields)

    def _single(self, part: Part, name: str, declared: str, use: Use, size: int) -> _Entry:
        """Return the entry of an address or a number.

        `name` is the name of a buffer for the address. `declared` is the PTX declaration of the parameter, or "" for a
        structure's field. `size` is in bytes.
        """
        is_pointer = ".ptr" in declared
        if use.holds_maps and use.is_stored_to:
            comment = f"{declared}: guess, {_SCRATCH} zeroed bytes; the kernel writes tensor maps there"
            return _Entry({"scratch": str(_SCRATCH)}, comment)
        if use.holds_maps and not use.elements and not use.widths:
            entry = self._tensor_map(name, declared, use)
            keys = ", ".join(f"{key} = {value}" for key, value in entry.keys.items())
            comment = entry.comment.replace("a tensor map;", "the address of tensor maps, guess: one map;")
            return _Entry({"tensor_maps": f"[{{ {keys} }}]"}, comment)
        entries = self.uses.parts.get(part._replace(is_entry=True), Use())
        if use.is_address and entries.is_address and not use.written and size == 8:
            buffer = self._array(name, entries)
            return _Entry({"buffers": f"[{buffer}]"}, f"{declared}: a table of addresses, guess: one address")
        if use.is_address and size == 8:
            return _Entry({"buffer": self._array(name, use)}, declared)
        if not use.loaded:
            return _Entry({"null": "true"} if is_pointer else {"value": "0"}, f"{declared}: never read")
        if is_pointer:
            comment = f"{declared}: guess, {_SCRATCH} zeroed bytes; the use of the address is unknown"
            return _Entry({"scratch": str(_SCRATCH)}, comment)
        return _Entry({"value": _unfilled("a number" + _clue(use, size))}, declared)

    def _array(self, name: str, use: Use) -> str:
        """Add a buffer for an address with the use `use`, and return its name as TOML text."""
        dtype, comment = self._dtype(use)
        shape = f"[{_BYTES // dtype_named(dtype).itemsize}]  # guess: {_BYTES >> 20} MiB; the PTX states no size"
        return self._add_buffer(name, _quoted(dtype), shape, _distribution(use, dtype, comment), comment)

    def _add_buffer(self, parameter: str, dtype: str, shape: str, distribution: str, comment: str) -> str:
        numbered = re.fullmatch(rf"{re.escape(self.signature.name)}_param_(\d+(?:_\d+)?)", parameter)
        name = f"p{numbered[1]}" if numbered else re.sub(r"[^A-Za-z0-9_-]", "_", parameter)
        candidates = (name, *(f"{name}_{k}" for k in range(len(self.buffers) + 1)))
        name = next(each for each in candidates if each not in self.buffers)
        typed = f"dtype = {dtype}" + (f"  # {comment}" if comment else "")
        self.buffers[name] = (typed, f"shape = {shape}", f"distribution = {distribution}")
        return _quoted(name)

    def _dtype(self, use: Use) -> tuple[str, str]:
        """Return the element type of a buffer, and a comment if the type is a guess."""
        known = {_DTYPES.get(element, "") for element in use.elements}
        if len(known) == 1 and (dtype := next(iter(known))):
            return dtype, ""
        if not known and not use.written and len(self.uses.multiplicands) == 1:
            element = next(iter(self.uses.multiplicands))
            if element in _DTYPES:
                return _DTYPES[element], f"guess: the kernel multiplies .{element}"
        width = min((width for width in use.widths if 8 <= width <= 64), default=8)
        words = _listed(sorted(f".{element}" for element in use.elements)) if use.elements else ""
        return f"uint{width}", f"{_STATED} {words or f'{width} bits'}"

    def _tensor_map(self, name: str, declared: str, use: Use) -> _Entry:
        rank = max(use.ranks)
        sizes = "1 size" if rank == 1 else f"{rank} sizes, outermost first"
        dtype, comment = self._dtype(use)
        distribution = _distribution(use, dtype, comment)
        dtype = _quoted(dtype)
        if comment.startswith(_STATED):
            dtype, comment = _unfilled("the type of the tensor's elements"), ""
            distribution = '"normal"' if use.read else distribution
        shape = _unfilled(f"the tensor's {sizes}")
        buffer = self._add_buffer(name, dtype, shape, distribution, comment)
        actions = [word for word, is_set in (("loads", use.read), ("stores", use.written)) if is_set]
        keys = {
            "tensor_map": buffer,
            "box": _unfilled(f"{sizes} of one copy"),
            "swizzle": _unfilled("0, 32, 64 or 128 bytes, as in the host code"),
        }
        return _Entry(keys, f"{declared}: a tensor map; {_listed(actions or ['copies'])} of {rank} dimensions")

    # Geometry -------------------------------------------------------------------------------------------------

    def head(self, path: str) -> Iterator[str]:
        """Yield the first lines of the launch file. `path` is the path of the PTX file."""
        target = next(iter(self.module.target), "no target")
        yield f"# Launch of {self.signature.entry.readable_name}, compiled for {target}, as far as its PTX states it."
        yield '# A value marked "guess" may be wrong. The kernel does not run before every "fill in" is replaced.'
        if self.uses.calls:
            yield "# The kernel calls functions; their use of its parameters is unknown."
        if self.uses.unknown:
            yield f"# Unknown instructions: {', '.join(sorted(self.uses.unknown)[:5])}."
        yield f"kernel.file = {_quoted(path)}"
        yield f"kernel.name = {_quoted(self.signature.name)}"

    def geometry(self) -> Iterator[str]:
        cluster = self.signature.extents(".reqnctapercluster")
        ctaid = _listed(f"%ctaid.{axis}" for axis in axes) if (axes := self.uses.axes("%ctaid")) else ""
        reads = f"the kernel reads {ctaid}" if ctaid else "the kernel does not read %ctaid"
        smallest = "one cluster" if cluster else "one CTA"
        yield f"launch.grid = {_extents(cluster or (1,))}  # guess: {smallest}; {reads}"
        yield f"launch.block = {self._block()}"
        if cluster:
            yield f"launch.cluster = {_extents(cluster)}  # .reqnctapercluster"
        elif self.signature.directive(".explicitcluster") is not None:
            yield f"launch.cluster = {_unfilled('CTAs of a cluster; .explicitcluster requires a shape')}"
        yield from self._shared()

    def _block(self) -> str:
        uses = self.uses
        if required := self.signature.extents(".reqntid"):
            return f"{_extents(required)}  # .reqntid"
        if most := self.signature.extents(".maxntid"):
            return f"{_extents(most)}  # guess: the largest block that .maxntid allows"
        if uses.reads("%ntid"):
            return f"{_WARPGROUP}  # guess: the kernel reads %ntid, so it may support any block"
        if uses.warpgroups:
            return f"{_WARPGROUP}  # guess: a warpgroup, which the kernel's instructions need"
        if not uses.reads("%tid"):
            return f"{_WARP}  # guess: a warp; the kernel does not read %tid"
        return _unfilled("threads of a CTA; the kernel reads %tid, and no directive states their number")

    def _shared(self) -> Iterator[str]:
        """Yield the key for dynamic shared memory, if the kernel uses such memory."""
        variables = [v for v in self.module.variables.values() if v.space == "shared"]
        externs = [v for v in variables if "extern" in v.linkage and size_of(v) is None]
        used = [v for v in externs if v.name in self.uses.names or self.uses.calls]
        if not used:
            return
        reads_size = not {"%dynamic_smem_size", "%total_smem_size"}.isdisjoint(self.uses.special)
        number = int(re.sub(r"\D", "", next(iter(self.module.target), "")) or 0)
        if reads_size or number not in SHARED_KIB:
            yield f"launch.shared = {_unfilled('bytes of dynamic shared memory')}"
            return
        assert self.signature.entry.body is not None
        static = 0
        for variable in (*(v for v in variables if v not in externs), *_variables(self.signature.entry.body)):
            static = aligned(static, variable.align or 1) + (size_of(variable) or 0)
        most = shared_bytes(number) - aligned(static, 1024)
        yield f"launch.shared = {most}  # guess: the maximum of a CTA on sm_{number}; {used[0].name}[] has no size"

    # Text -----------------------------------------------------------------------------------------------------

    def arguments(self) -> Iterator[str]:
        # A structure needs a table of its own.
        if all(entry.fields is None for entry in self.entries):
            if self.entries:
                yield from (*_inline("argument", self.entries), "")
            return
        for entry in self.entries:
            yield f"[[argument]]  # {entry.comment}"
            if entry.fields is None:
                yield from (f"{key} = {value}" for key, value in entry.keys.items())
            else:
                yield from _inline("fields", entry.fields) if entry.fields else ("fields = []",)
            yield ""

    def buffer_tables(self) -> Iterator[str]:
        for name, lines in self.buffers.items():
            yield from (f"[buffer.{name}]", *lines, "")


def _clue(use: Use, size: int) -> str:
    """Describe the use of a number. The text continues "a number"."""
    if use.is_passed and size == 8:
        return ", or a buffer: it is passed to a function or stored"
    if use.is_coordinate:
        return " that is a coordinate of tensor copies"
    if use.is_compared and use.is_scale:
        return " that is compared and multiplied: perhaps a size"
    if use.is_compared:
        return " that is compared with other values: perhaps a size"
    return " that is multiplied: perhaps a stride" if use.is_scale else ""


def _field_comment(offset: int, size: int, use: Use, entry: _Entry) -> str:
    """Return the comment of a structure's field: its bytes, and its use in the kernel."""
    comment = entry.comment.removeprefix(": ")
    if not comment and use.is_address:
        actions = [word for word, is_set in (("read", use.read), ("written", use.written)) if is_set]
        comment = f"an address, {_listed(actions or ['used'])}"
    place = f"bytes {offset} to {offset + size - 1}" if size > 1 else f"byte {offset}"
    more = "; the kernel computes the offset, so further elements may follow" if use.is_indexed else ""
    return f"{place}: {comment or f'a number, .{use.type}'}{more}"


def _distribution(use: Use, dtype: str, comment: str) -> str:
    if use.written and not use.read:
        return '"zeros"  # only written'
    if "float" in dtype:
        return '"normal"'
    if comment.startswith(_STATED):
        return '"zeros"'
    return '"integers"\nlow = 0\nhigh = 8' if dtype.startswith("uint") else '"integers"\nlow = -8\nhigh = 8'


def _variables(block: Block) -> Iterator[Variable]:
    for statement in block.statements:
        if isinstance(statement, Block):
            yield from _variables(statement)
        elif isinstance(statement, Variable) and statement.space == "shared":
            yield statement


def _inline(name: str, entries: Iterable[_Entry]) -> Iterator[str]:
    yield f"{name} = ["
    for entry in entries:
        comment = f"# {entry.comment}" if entry.comment else ""
        text = f"{{ {', '.join(f'{key} = {value}' for key, value in entry.keys.items())} }},"
        if len(text) > _WIDTH or len(text) + len(comment) > _LONGEST:
            yield from (f"    {line}" for line in (comment, text) if line)
        else:
            yield f"    {text}  {comment}".rstrip()
    yield "]"
