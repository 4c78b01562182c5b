"""Analysis of the uses of a kernel's parameters: as addresses of elements of some type, or as numbers.

The analysis follows values through registers and ignores the order of the instructions.
"""

from collections.abc import Iterator
from dataclasses import field
from typing import NamedTuple

from warploom.isa.binding.bind import Binding, bind
from warploom.isa.binding.operands import BoundOperand
from warploom.isa.model.effects import Access, Flow, word
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass
from warploom.ptx import (
    Address,
    Block,
    Function,
    Instruction,
    Integer,
    Name,
    Negated,
    Operand,
    Pair,
    Symbol,
    Tuple,
    Variable,
    Vector,
)
from warploom.ptx.scopes import Scope

_MULTIPLICANDS = ("A", "B")
_BESIDE = ("metadata", "scale A", "scale B")

Key = tuple[int, str]


class Part(NamedTuple):
    """Kernel parameter, or the value at a byte offset in a by-value parameter.

    With `is_entry`, the part stands for the values in the table of addresses that the parameter points to.
    """

    parameter: str
    offset: int = 0
    is_entry: bool = False


@dataclass(slots=True)
class Use:
    """Use of a parameter, or of a value in a by-value parameter.

    `loaded` is set if the kernel loads the value from parameter space: `type` and `bytes` are the PTX type and the size
    of this load. `strong` is set if the value must be an address, and `weak` if it probably is one.

    For an address, `elements` are the element types of the memory, as far as known, and `widths` the sizes of the
    accesses in bits. `widest` is the size in bytes of the largest access of a lane, including vectors. `is_hidden` is
    set if there may be accesses of unknown size. `read` and `written` state the directions. `ranks` are the ranks of
    tensor copies that use the value as a tensor map, or as the address of tensor maps in memory if `holds_maps` is set.
    `is_stored_to` is set if an instruction stores at the address, without a tensor map.

    For a number, `is_compared`, `is_scale` (multiplied) and `is_coordinate` (of a tensor copy) state the use.
    `is_passed` is set if a function call or a store uses the value. `is_indexed` is set if the kernel computes the
    offset of the value in a by-value parameter.
    """

    type: str = ""
    bytes: int = 0
    elements: set[str] = field(default_factory=set[str])
    widths: set[int] = field(default_factory=set[int])
    widest: int = 0
    is_hidden: bool = False
    read: bool = False
    written: bool = False
    strong: bool = False
    weak: bool = False
    ranks: set[int] = field(default_factory=set[int])
    loaded: bool = False
    holds_maps: bool = False
    is_compared: bool = False
    is_scale: bool = False
    is_coordinate: bool = False
    is_passed: bool = False
    is_indexed: bool = False
    is_stored_to: bool = False

    @property
    def is_address(self) -> bool:
        """True if the value is certainly or probably an address."""
        return self.strong or self.weak


@dataclass(slots=True)
class Uses:
    """Uses of a kernel's parameters, and properties of the kernel that affect its launch.

    `multiplicands` has the types of A and B of matrix instructions, and the names of metadata and scale operands.
    `special` are the special registers that the kernel reads, and `names` the variables and labels. `warpgroups` is set
    if a warpgroup executes instructions together, and `calls` if the kernel calls functions. `unknown` are opcodes
    without a Form.
    """

    parts: dict[Part, Use] = field(default_factory=dict[Part, Use])
    multiplicands: set[str] = field(default_factory=set[str])
    special: set[str] = field(default_factory=set[str])
    names: set[str] = field(default_factory=set[str])
    warpgroups: bool = False
    calls: bool = False
    unknown: set[str] = field(default_factory=set[str])

    def reads(self, register: str) -> bool:
        """Return True if the kernel reads any axis of a special register such as `%ntid`."""
        return any(name.partition(".")[0] == register for name in self.special)

    def axes(self, register: str) -> str:
        """Return the axes of a special register that the kernel reads, such as "xy" for `%tid`."""
        return "".join(axis for axis in "xyz" if f"{register}.{axis}" in self.special)


@dataclass(slots=True)
class _Step:
    binding: Binding
    flow: Flow
    reads: list[tuple[str, BoundOperand, list[Key]]]
    writes: list[Key]
    coordinates: list[Key]


_Names = Scope[Variable, Variable, None]


def uses_of(kernel: Function) -> Uses:
    """Return the uses of a kernel's parameters. Called functions are not followed."""
    return _Reading(kernel).uses if kernel.body is not None else Uses()


class _Reading:
    def __init__(self, kernel: Function) -> None:
        assert kernel.body is not None
        self.parameters = {variable.name for variable in kernel.params}
        self.uses = Uses()
        self.same: dict[Key, Key] = {}
        self.types: dict[Key, set[str]] = {}
        self.points: dict[Key, set[Part]] = {}
        self.holds: dict[Key, set[Part]] = {}
        self.numbers: dict[Key, set[Part]] = {}
        self.indexed: set[Key] = set()  # addresses of parameters plus computed offsets
        self.waiting: list[tuple[Use, Key]] = []
        self.steps = list(self._walk(kernel.body, None))
        while sum(self._follow(step) for step in self.steps):
            pass
        for step in self.steps:
            self._convert(step)
        for step in self.steps:
            self._note_uses(step)
        self._name_elements()

    # Instructions ---------------------------------------------------------------------------------------------

    def _walk(self, block: Block, outer: _Names | None) -> Iterator[_Step]:
        scope: _Names = Scope(outer)
        for variable in block.statements:
            if isinstance(variable, Variable) and variable.space == "reg":
                if variable.count is None:
                    scope.registers[variable.name] = variable
                else:
                    scope.ranges[variable.name] = variable.count, variable
        for statement in block.statements:
            if isinstance(statement, Block):
                yield from self._walk(statement, scope)
            elif isinstance(statement, Instruction):
                bound = bind(statement)
                if isinstance(bound, Binding):
                    yield self._step(bound, scope)
                else:
                    self.uses.unknown.add(statement.opcode)

    def _step(self, binding: Binding, scope: _Names) -> _Step:
        step = _Step(binding, binding.form.flow, [], [], [])
        for name, bound in binding.operands.items():
            keys = list(self._keys(bound.operand, scope))
            if bound.spec.access in ("write", "both"):
                step.writes += keys
            if bound.spec.access != "write":
                step.reads.append((name, bound, keys))
            if isinstance(bound.operand, Address):
                step.coordinates += (key for extra in bound.operand.extra for key in self._keys(extra, scope))
            self._element(step, bound, keys)
        self._note_instruction(step)
        return step

    def _keys(self, operand: Operand | None, scope: _Names) -> Iterator[Key]:
        match operand:
            case Name(text) | Negated(text):
                if (found := scope.register(text)) is not None:
                    yield id(found[0]), text
                elif text.startswith("%"):
                    self.uses.special.add(text)
                else:
                    self.uses.names.add(text)
            case Symbol(name):
                self.uses.names.add(name)
            case Vector(items) | Tuple(items):
                for item in items:
                    yield from self._keys(item, scope)
            case Pair(first, second):
                yield from self._keys(first, scope)
                yield from self._keys(second, scope)
            case Address(base):
                yield from self._keys(base, scope)
            case _:
                return

    def _note_instruction(self, step: _Step) -> None:
        binding = step.binding
        self.uses.warpgroups |= binding.form.collective == "warpgroup"
        self.uses.calls |= binding.form.control == "call"
        if step.flow.elements:
            copied = (found for name, _, found in step.reads if name in step.flow.elements)
            keys = [*step.writes, *(key for found in copied for key in found)]
            for key in keys[1:]:
                if (one := self._find(keys[0])) != (other := self._find(key)):
                    self.same[other] = one
        for bound in binding.operands.values():
            layout = bound.spec.layout
            if layout is None or not binding.form.multiplies:
                continue
            if layout.operand in _MULTIPLICANDS:
                element = binding.slots.get(f"{layout.operand.lower()}type", "") or bound.type
                self.uses.multiplicands.add(element.removesuffix("x2"))
            elif layout.operand in _BESIDE:
                self.uses.multiplicands.add(layout.operand)

    # Elements ---------------------------------------------------------------------------------------------------

    def _element(self, step: _Step, bound: BoundOperand, keys: list[Key]) -> None:
        """Record the element type of the registers `keys`, if the type of their operand states it."""
        spec, element = bound.spec, ""
        if spec.kind not in ("register", "any"):
            return
        if spec.layout is not None and spec.is_fragment:
            element = step.binding.slots.get(f"{spec.layout.operand.lower()}type", "")
        elif bound.type in TYPES and TYPES[bound.type].kind in ("float", "packed") and not step.flow.elements:
            element = bound.type.removesuffix("x2").removesuffix("x4")
        for key in keys if element else ():
            self.types.setdefault(key, set()).add(element)

    def _find(self, key: Key) -> Key:
        while (above := self.same.get(key, key)) != key:
            self.same[key] = self.same.get(above, above)
            key = above
        return key

    # Flow of values -------------------------------------------------------------------------------------------

    def _follow(self, step: _Step) -> bool:
        """Record that the results of an instruction depend on the parameters of its operands.

        Return True if any of these dependences is new.
        """
        if (loaded := self._loaded(step)) is not None:
            found = [
                _add(table, key, {part})
                for table in (self.points, self.numbers)
                for key, part in zip(step.writes, loaded)
            ]
            return any(found)
        if any(bound.spec.kind == "address" for _, bound, _ in step.reads):
            # A value from memory is not a parameter. It may be an address in a table.
            entries = self._entries(step)
            found = [_add(self.points, key, entries) for key in step.writes if entries]
            return any(found)
        points: set[Part] = set()
        holds: set[Part] = set()
        numbers: set[Part] = set()
        for name, bound, keys in step.reads:
            numbers |= _parts(self.numbers, keys)
            if name in step.flow.address:
                points |= _parts(self.points, keys)
                holds |= {*self._named(bound.operand), *_parts(self.holds, keys)}
        if step.flow.offset:
            constants = [bound.operand for _, bound, _ in step.reads if isinstance(bound.operand, Integer)]
            change = sum(constant.value for constant in constants)
            holds = {Part(part.parameter, part.offset + change) for part in holds}
            computed = [key for _, _, keys in step.reads for key in keys if not self.holds.get(key)]
        else:
            computed = []
        if holds and (computed or any(key in self.indexed for _, _, keys in step.reads for key in keys)):
            self.indexed.update(step.writes)
        found = [
            _add(table, key, parts)
            for table, parts in ((self.points, points), (self.holds, holds), (self.numbers, numbers))
            for key in step.writes
        ]
        return any(found)

    def _entries(self, step: _Step) -> set[Part]:
        """Return the parts for the 64-bit values that an instruction loads through parameters."""
        loaded = TYPES.get(step.binding.slots.get("type", ""))
        if loaded is None or loaded.bytes != 8 or loaded.kind == "float":
            return set()
        keys = [key for _, bound, keys in step.reads if bound.spec.kind == "address" for key in keys]
        return {part._replace(is_entry=True) for part in _parts(self.points, keys) if not part.is_entry}

    def _named(self, operand: Operand | None) -> Iterator[Part]:
        """Yield the parameter that an operand names, with the offset."""
        match operand:
            case Name(text) if text in self.parameters:
                yield Part(text)
            case Symbol(name, offset) if name in self.parameters:
                yield Part(name, offset)
            case _:
                return

    def _loaded(self, step: _Step) -> list[Part] | None:
        """Return the part that a load from a parameter writes to each register, None for other instructions."""
        for _, bound, keys in step.reads:
            address = bound.operand
            if bound.spec.kind != "address" or not isinstance(address, Address):
                continue
            if bound.spec.space_word(step.binding.slots).partition("::")[0] != "param":
                continue
            named = [*self._named(address.base), *_parts(self.holds, keys)]
            if len(named) == 1:
                first, size = named[0].offset + address.offset, TYPES[step.binding.slots["type"]].bytes
                return [Part(named[0].parameter, first + k * size) for k in range(max(len(step.writes), 1))]
        return None

    # Conclusions ----------------------------------------------------------------------------------------------

    def _use(self, part: Part) -> Use:
        return self.uses.parts.setdefault(part, Use())

    def _convert(self, step: _Step) -> None:
        """Mark values that an instruction requires to be addresses in global memory."""
        if word(step.flow.space, step.binding.slots) != "global":
            return
        for name, _, keys in step.reads:
            pointed = _parts(self.points, keys)
            if name in step.flow.address and len(pointed) == 1:
                self._use(pointed.pop()).strong = True

    def _note_uses(self, step: _Step) -> None:
        loaded = step.binding.slots.get("type", "")
        is_indexed = any(key in self.indexed for _, _, keys in step.reads for key in keys)
        for part in self._loaded(step) or ():
            use = self._use(part)
            use.is_indexed |= is_indexed
            use.type, use.bytes, use.loaded = loaded, TYPES[loaded].bytes, True
        for part in _parts(self.numbers, step.coordinates):
            self._use(part).is_coordinate = True
        for name, bound, keys in step.reads:
            if bound.spec.kind == "address":
                self._access(step, name, bound, keys)
            elif step.flow.numbers:
                for part in _parts(self.numbers, keys):
                    self._use(part).is_scale |= "scaled" in step.flow.numbers
                    self._use(part).is_compared |= "compared" in step.flow.numbers
            elif step.binding.form.control == "call":
                self._note_passed(keys)

    def _access(self, step: _Step, name: str, bound: BoundOperand, keys: list[Key]) -> None:
        binding = step.binding
        # A stored parameter may be loaded and used as an address elsewhere.
        stored = (keys for other, _, found in step.reads if other != name for keys in found)
        for part in _parts(self.numbers, [*stored]):
            self._use(part).is_hidden = True
        space = bound.spec.space_word(binding.slots).partition("::")[0]
        if space not in ("", "global"):
            for _, _, passed in (read for read in step.reads if space == "param" and read[0] != name):
                self._note_passed(passed)
            return
        held, pointed = _parts(self.holds, keys), _parts(self.points, keys)
        # A value from memory that is added to an address is an index.
        pointed = {part for part in pointed if not part.is_entry} or pointed
        accesses = [access for access in binding.form.effects_of(Access) if access.address == name]
        read = any(access.kind == "read" for access in accesses)
        written = any(access.kind != "read" for access in accesses)
        if any(access.proxy == "tensormap" for access in accesses):
            rank = int(binding.slots["dim"][0])
            for part in held or pointed:
                use = self._use(part)
                use.ranks.add(rank)
                use.holds_maps |= not held
                use.weak |= not held
                use.read |= read
                use.written |= written
            return
        sure = {part for part in pointed if self._use(part).strong}
        for part in _parts(self.numbers, keys) - (sure or pointed):
            self._use(part).is_hidden = True
        for part in sure or pointed:
            use = self._use(part)
            use.weak = True
            use.read |= read or (written and bool(step.writes))
            use.written |= written
            use.is_stored_to |= written
            use.is_hidden |= bool(accesses) and not self._describe(use, step, name)

    def _note_passed(self, keys: list[Key]) -> None:
        for part in _parts(self.points, keys):
            self._use(part).is_passed = True

    def _describe(self, use: Use, step: _Step, name: str) -> bool:
        """Record in `use` the type of the elements that an instruction accesses.

        Return False if the type is unknown. `name` is the name of the address operand.
        """
        others = [(bound, keys) for other, bound, keys in step.reads if other != name]
        accessed = step.binding.slots.get("type", "")
        if accessed not in TYPES or any(bound.spec.kind == "address" for bound, _ in others):
            return False
        operands = (each.operand for each in step.binding.operands.values())
        count = max((len(each.items) for each in operands if isinstance(each, Vector)), default=1)
        use.widths.add(TYPES[accessed].bits)
        use.widest = max(use.widest, TYPES[accessed].bytes * count)
        if TYPES[accessed].kind not in ("bits", "unsigned"):  # compilers load halves as unsigned
            use.elements.add(accessed)
        else:
            self.waiting += [(use, key) for key in (*step.writes, *(key for _, keys in others for key in keys))]
        return True

    def _name_elements(self) -> None:
        """Infer element types of untyped accesses from the types of their registers."""
        known: dict[Key, set[str]] = {}
        for key, types in self.types.items():
            known.setdefault(self._find(key), set()).update(types)
        for use, key in self.waiting:
            use.elements |= known.get(self._find(key), set())


def _parts(table: dict[Key, set[Part]], keys: list[Key]) -> set[Part]:
    return {part for key in keys for part in table.get(key, ())}


def _add(table: dict[Key, set[Part]], key: Key, parts: set[Part]) -> bool:
    held = table.setdefault(key, set())
    before = len(held)
    held |= parts
    return len(held) > before
