"""How a kernel uses its parameters, as far as its text says it: which are addresses, of what, and which are numbers.

Registers are followed from the parameters on, without regard to the order of instructions: an address stays one
through moves, additions and conversions of address spaces, a number through everything. What a Form says of its
operands says what is made of them; nothing here knows an instruction by its spelling.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from warploom.isa.binding.bind import Binding, bind
from warploom.isa.binding.operands import BoundOperand
from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.types import TYPES
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

_MOVES = {
    "move.mov": "a",
    "memory.cvta": "a",
    "memory.cvta_to": "a",
    "integer.add": "ab",
    "integer.addc": "ab",
    "integer.mad": "c",
    "integer.madc": "c",
    "integer.min": "ab",
    "compare.selp": "ab",
    "convert.integer": "a",
    "logic.bitwise": "ab",
}
"""The forms whose result may be the address that one of these operands is, or a place near it."""

_CARRIES = frozenset(
    {
        "move.mov", "move.pack1", "move.pack2", "move.pack4", "move.unpack1", "move.unpack2", "move.unpack4",
        "compare.selp", "warp.shfl_sync", "warp.shfl", "bits.prmt",
    }
)  # fmt: skip
"""The forms that hand elements on as they are, whatever these are."""

_SCALES = frozenset(["integer.mul", "integer.mad", "integer.madc", "bits.shift"])
_COMPARES = frozenset(["compare.setp", "compare.set", "integer.min"])
_MULTIPLICANDS = ("A", "B")
_BESIDE = ("metadata", "scale A", "scale B")

Key = tuple[int, str]


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """A parameter, or what stands at an offset in one."""

    parameter: str
    offset: int = 0


@dataclass(slots=True)
class Use:
    """What is made of a part. `type` and `bytes` are as it is loaded.

    `elements` are the types that its elements are known by, `widths` the bits of the accesses; `read` and `written`
    say whether memory behind it is. `ranks` are those of the tensor copies whose map it is, or, where
    `holds_maps`, points at. `strong` is whether it is surely an address.
    """

    type: str = ""
    bytes: int = 0
    elements: set[str] = field(default_factory=set[str])
    widths: set[int] = field(default_factory=set[int])
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

    @property
    def is_address(self) -> bool:
        """Whether memory is behind it."""
        return self.strong or self.weak


@dataclass(slots=True)
class Uses:
    """What a kernel makes of its parameters, and what else its text says about a launch.

    `parts` has what is loaded or pointed at; `multiplicands` the element types of what its matrix instructions
    multiply, and what else they take; `special` are the special registers that it reads, `names` what else it
    calls by name; `warpgroups` is whether four warps act together, `calls` whether functions are called,
    `unknown` are opcodes without a Form.
    """

    parts: dict[Part, Use] = field(default_factory=dict[Part, Use])
    multiplicands: set[str] = field(default_factory=set[str])
    special: set[str] = field(default_factory=set[str])
    names: set[str] = field(default_factory=set[str])
    warpgroups: bool = False
    calls: bool = False
    unknown: set[str] = field(default_factory=set[str])

    def asks(self, register: str) -> bool:
        """Whether a special register, `%ntid` or another with axes, is read."""
        return any(name.partition(".")[0] == register for name in self.special)

    def axes(self, register: str) -> str:
        """The axes of a special register that are read: "x", "xy", "xyz"."""
        return "".join(axis for axis in "xyz" if f"{register}.{axis}" in self.special)


@dataclass(slots=True)
class _Step:
    binding: Binding
    reads: list[tuple[str, BoundOperand, list[Key]]]
    writes: list[Key]
    coordinates: list[Key]


_Names = Scope[Variable, Variable, None]


def uses_of(kernel: Function) -> Uses:
    """What a kernel makes of its parameters. Functions that it calls are not looked into."""
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
        self.waiting: list[tuple[Use, Key]] = []
        self.steps = list(self._walk(kernel.body, None))
        self._settle()
        for step in self.steps:
            self._convert(step)
        for step in self.steps:
            self._judge(step)
        self._name_elements()

    # What stands in the text ----------------------------------------------------------------------------------

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
        step = _Step(binding, [], [], [])
        for name, bound in binding.operands.items():
            keys = list(self._keys(bound.operand, scope))
            if bound.place.access in ("write", "both"):
                step.writes += keys
            if bound.place.access != "write":
                step.reads.append((name, bound, keys))
            if isinstance(bound.operand, Address):
                step.coordinates += (key for extra in bound.operand.extra for key in self._keys(extra, scope))
            self._element(binding, bound, keys)
        self._remark(step)
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

    def _remark(self, step: _Step) -> None:
        binding = step.binding
        self.uses.warpgroups |= binding.form.collective == "warpgroup"
        self.uses.calls |= binding.form.control == "call"
        if binding.form.name in _CARRIES:
            keys = [*step.writes, *(key for _, _, found in step.reads for key in found)]
            for key in keys[1:]:
                self._join(keys[0], key)
        for bound in binding.operands.values():
            lying = bound.place.layout
            if lying is None or not binding.form.multiplies:
                continue
            if lying.operand in _MULTIPLICANDS:
                element = binding.slots.get(f"{lying.operand.lower()}type", "") or bound.type
                self.uses.multiplicands.add(element.removesuffix("x2"))
            elif lying.operand in _BESIDE:
                self.uses.multiplicands.add(lying.operand)

    # Elements ---------------------------------------------------------------------------------------------------

    def _element(self, binding: Binding, bound: BoundOperand, keys: list[Key]) -> None:
        """Note the type that an operand is known to have by what stands at it."""
        if bound.place.kind not in ("register", "any"):
            return
        element = _element_of(bound.type, bound.place, binding)
        if element:
            for key in keys:
                self.types.setdefault(key, set()).add(element)

    def _find(self, key: Key) -> Key:
        while (above := self.same.get(key, key)) != key:
            self.same[key] = self.same.get(above, above)
            key = above
        return key

    def _join(self, one: Key, other: Key) -> None:
        one, other = self._find(one), self._find(other)
        if one != other:
            self.same[other] = one

    # Where values go --------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Follow addresses and numbers until nothing new is learnt."""
        changed = True
        while changed:
            changed = False
            for step in self.steps:
                changed |= self._follow(step)

    def _follow(self, step: _Step) -> bool:
        if (loaded := self._loaded(step)) is not None:
            found = [
                _add(table, key, {part})
                for table in (self.points, self.numbers)
                for key, part in zip(step.writes, loaded)
            ]
            return any(found)
        if any(bound.place.kind == "address" for _, bound, _ in step.reads):
            return False  # what is loaded from memory is no parameter
        points: set[Part] = set()
        holds: set[Part] = set()
        numbers: set[Part] = set()
        moved = _MOVES.get(step.binding.form.name, "")
        for name, bound, keys in step.reads:
            numbers.update(*(self.numbers.get(key, ()) for key in keys))
            if name in moved:
                points.update(*(self.points.get(key, ()) for key in keys))
                holds.update(self._named(bound.operand), *(self.holds.get(key, ()) for key in keys))
        holds = {_moved(part, step.binding) for part in holds}
        found = [
            _add(table, key, parts)
            for table, parts in ((self.points, points), (self.holds, holds), (self.numbers, numbers))
            for key in step.writes
        ]
        return any(found)

    def _named(self, operand: Operand | None) -> Iterator[Part]:
        """The parameter whose own address an operand is."""
        match operand:
            case Name(text) if text in self.parameters:
                yield Part(text)
            case Symbol(name, offset) if name in self.parameters:
                yield Part(name, offset)
            case _:
                return

    def _parameter(self, step: _Step) -> Part | None:
        """The part of a parameter that an instruction loads."""
        for _, bound, keys in step.reads:
            address = bound.operand
            if bound.place.kind != "address" or not isinstance(address, Address):
                continue
            if bound.place.space_word(step.binding.slots).partition("::")[0] != "param":
                continue
            named = [*self._named(address.base), *(part for key in keys for part in self.holds.get(key, ()))]
            if len(named) == 1:
                return Part(named[0].parameter, named[0].offset + address.offset)
        return None

    def _loaded(self, step: _Step) -> list[Part] | None:
        """The parts that an instruction loads into its registers, one after another."""
        first = self._parameter(step)
        if first is None:
            return None
        size = TYPES[step.binding.slots["type"]].bytes
        return [Part(first.parameter, first.offset + k * size) for k in range(max(len(step.writes), 1))]

    # What that says ---------------------------------------------------------------------------------------------

    def _use(self, part: Part) -> Use:
        return self.uses.parts.setdefault(part, Use())

    def _convert(self, step: _Step) -> None:
        """What is said to be an address in global memory is one."""
        form, slots = step.binding.form.name, step.binding.slots
        asked = {"memory.cvta_to": ("space", "global"), "tensormap.replace": ("field", "global_address")}
        if form not in asked or slots.get(asked[form][0]) != asked[form][1]:
            return
        for _, bound, keys in step.reads:
            pointed = {part for key in keys for part in self.points.get(key, ())}
            if bound.place.kind != "address" and len(pointed) == 1:
                self._use(pointed.pop()).strong = True

    def _judge(self, step: _Step) -> None:
        word = step.binding.slots.get("type", "")
        for part in self._loaded(step) or ():
            use = self._use(part)
            use.type, use.bytes, use.loaded = word, TYPES[word].bytes, True
        for part in (part for key in step.coordinates for part in self.numbers.get(key, ())):
            self._use(part).is_coordinate = True
        form = step.binding.form
        for name, bound, keys in step.reads:
            if bound.place.kind == "address":
                self._access(step, name, bound, keys)
            elif form.name in _SCALES or form.name in _COMPARES:
                for part in (part for key in keys for part in self.numbers.get(key, ())):
                    self._use(part).is_scale |= form.name in _SCALES
                    self._use(part).is_compared |= form.name in _COMPARES
            elif form.control == "call":
                for key in keys:
                    for part in self.points.get(key, ()):
                        self._use(part).is_passed = True

    def _access(self, step: _Step, name: str, bound: BoundOperand, keys: list[Key]) -> None:
        binding = step.binding
        space = bound.place.space_word(binding.slots).partition("::")[0]
        if space not in ("", "global"):
            if space == "param":
                self._passed(step, name)
            return
        held = {part for key in keys for part in self.holds.get(key, ())}
        pointed = {part for key in keys for part in self.points.get(key, ())}
        if name == "tensorMap":
            rank = int(binding.slots["dim"][0])
            for part in held or pointed:
                use = self._use(part)
                use.ranks.add(rank)
                use.holds_maps |= not held
                use.weak |= not held
                use.read |= binding.form.name.startswith(("tensor.load", "tensor.gather", "tensor.prefetch"))
                use.written |= binding.form.name.startswith(
                    ("tensor.store", "tensor.scatter", "tensor.reduce")
                )
            return
        sure = {part for part in pointed if self._use(part).strong}
        for part in sure or pointed:
            use = self._use(part)
            use.weak = True
            self._describe(use, step, name)

    def _passed(self, step: _Step, name: str) -> None:
        for other, _, keys in step.reads:
            if other != name:
                for part in (part for key in keys for part in self.points.get(key, ())):
                    self._use(part).is_passed = True

    def _describe(self, use: Use, step: _Step, name: str) -> None:
        """What an access of global memory says of what lies there."""
        binding = step.binding
        others = [(bound, keys) for other, bound, keys in step.reads if other != name]
        copied = sum(bound.place.kind == "address" for bound, _ in others) > 0
        stored = any(bound.place.kind == "register" and keys for bound, keys in others)
        use.read |= bool(step.writes) or (copied and name in ("src", "srcMem"))
        use.written |= (stored and not copied) or (copied and name in ("dst", "dstMem"))
        word = binding.slots.get("type", "")
        if word not in TYPES or copied:
            return
        use.widths.add(TYPES[word].bits)
        if TYPES[word].kind not in ("bits", "unsigned"):  # compilers load halves as unsigned
            use.elements.add(word)
            return
        self.waiting += [(use, key) for key in (*step.writes, *(key for _, keys in others for key in keys))]

    def _name_elements(self) -> None:
        """Give what is accessed as bits the types that its registers are known by."""
        known: dict[Key, set[str]] = {}
        for key, types in self.types.items():
            known.setdefault(self._find(key), set()).update(types)
        for use, key in self.waiting:
            use.elements |= known.get(self._find(key), set())


def _add(table: dict[Key, set[Part]], key: Key, parts: set[Part]) -> bool:
    held = table.setdefault(key, set())
    before = len(held)
    held |= parts
    return len(held) > before


def _moved(part: Part, binding: Binding) -> Part:
    """A place in a parameter after a constant was added to it."""
    if binding.form.name != "integer.add":
        return part
    constants = [bound.operand for bound in binding.operands.values() if isinstance(bound.operand, Integer)]
    return Part(part.parameter, part.offset + sum(constant.value for constant in constants))


def _element_of(word: str, place: OperandSpec, binding: Binding) -> str:
    """The type of elements that an operand of a type holds; "" where its type says nothing of them."""
    if place.layout is not None and place.is_fragment:
        return binding.slots.get(f"{place.layout.operand.lower()}type", "")
    if word not in TYPES or TYPES[word].kind not in ("float", "packed") or binding.form.name in _CARRIES:
        return ""
    return word.removesuffix("x2").removesuffix("x4")
