"""Form: one instruction form as the manual writes it, and everything that derives from it.

A Form is declared once, in the file of its family, beside its semantics:

    BITWISE = Form(
        name="logic.bitwise",
        syntax="op.type  d, a, b;",
        rows='''
            op          type              ptx
            and,or,xor  pred,b16,b32,b64  1.0
        ''',
        operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
        source="PTX ISA 9.7.8.1",
    )

    @BITWISE.semantics
    def bitwise(op, a, b):
        return {"and": a & b, "or": a | b, "xor": a ^ b}[op]

A declaration that contradicts itself stops the import: a row that does not fit its columns, a slot without vocabulary,
an operand that the syntax line does not have, or a second Form of the same name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, TypeVar, cast

from warploom.display import Displayed
from warploom.isa.model.effects import (
    Allocate,
    Arrive,
    Barrier,
    Collective,
    Commit,
    Control,
    Effect,
    Flow,
    Issue,
    Multiply,
    Wait,
)
from warploom.isa.model.lanewise import LaneFunction, evaluate_lanes
from warploom.isa.model.multiplication import Multiplication, select_model
from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.records import CopyRecord
from warploom.isa.model.syntax import Syntax, Word, match_words, read_syntax
from warploom.isa.model.table import FormError, Row, read_rows
from warploom.isa.model.types import TYPES
from warploom.numerics.models import Model, NoModelError

Execution = Callable[[Any, Any], Any]
"""Execution of an instruction: a function of a batch of warps and the bound operands."""
MultiplicationFunction = Callable[[Any], Multiplication]
"""Function of the bound operands of a matrix multiplication that returns its record."""
CopyFunction = Callable[[Any, Any], CopyRecord]
"""Function of a batch of warps and the bound operands that returns the record of bulk copies."""
Limit = Callable[[str, Mapping[str, str]], str]
EffectType = TypeVar("EffectType", bound=Effect)

IMPLIED = frozenset({"sync", "aligned", "row", "col", "u32", "b32", "b64", "b1024"})
"""Words that syntax lines require and that express no choice."""
_QUALIFIERS = IMPLIED | frozenset(
    {
        "trans", "sp", "popc", "satfinite", "sat", "ftz", "rn", "rs", "f32", "f64", "f32x2", "relaxed", "release",
        "sys", "global", "shared::cta", "bulk_group", "mbarrier::complete_tx::bytes", "noComplete", "tile",
        "tensormap::generic", "clamp", "wrap", "any", "all", "approx", "volatile", "mmio", "L1", "L2",
        "mbarrier_init", "launch_dependents",
    }
)  # fmt: skip
"""Words of syntax lines that qualify an instruction and do not belong to its name."""
OPTIONAL_NAME_WORDS = frozenset(["cta", "parity"])
"""Optional words that belong to the name of the instructions that have them."""
_NAMES = frozenset(["op", "mode", "action", "matrix", "dir", "side"])
"""Slots that choose an operation, so that their words belong to its name."""


class Form(Displayed):
    """Instruction form: syntax line, rows of valid combinations, operands, effects and semantics.

    `words` spells composite slots (`{"shape": "m{m}n{n}k{k}"}`), whose parts are columns. `spellings` are further
    orders of the same opcode words that assemblers accept and compilers write. `early` are words that assemblers accept
    before the PTX version that introduced them. `limit` returns the reason why an architecture cannot execute the form
    with some slots, or "".
    """

    display_kind: ClassVar[str] = "form"
    registry: ClassVar[Registry]

    def __init__(
        self,
        *,
        name: str,
        syntax: str,
        operands: Mapping[str, OperandSpec],
        rows: str = "",
        words: Mapping[str, str] | None = None,
        effects: tuple[Effect, ...] = (),
        limit: Limit | None = None,
        spellings: tuple[str, ...] = (),
        early: str = "",
        source: str,
    ) -> None:
        self.name = name
        self.early = frozenset(early.split())
        self.source = source
        self.syntax_line = syntax
        self.columns, self.rows = read_rows(name, rows)
        self.composites = dict(words or {})
        self.syntax: Syntax = read_syntax(name, syntax, self.columns, self.composites)
        others = (read_syntax(name, opcode, self.columns, self.composites).words for opcode in spellings)
        self.orders = (self.syntax.words, *others)
        self.operands = dict(operands)
        self.effects = effects
        self._effects_by_type: dict[type[Effect], tuple[Effect, ...]] = {
            type(each): tuple(other for other in effects if type(other) is type(each)) for each in effects
        }
        self.vocabulary = self._vocabulary()
        self.execution: Execution | None = None
        self.lane_function: LaneFunction | None = None
        self.multiply: MultiplicationFunction | None = None
        self._limit = limit
        self._check()
        self.registry.add(self)

    # Semantics --------------------------------------------------------------------------------------------

    def semantics(self, function: LaneFunction) -> LaneFunction:
        """Decorate the pure function of lane values that defines the results.

        Its parameters are names of slots and operands. It returns the value of the destination operand, or a tuple with
        one value for each destination in the order of the syntax line.
        """
        self.lane_function = function
        self.execute(evaluate_lanes(self.name, function, self.operands))
        return function

    def execute(self, function: Execution) -> Execution:
        """Decorate the function that executes the form on a batch of warps, through the `Warps` protocol."""
        if self.is_executable:
            raise FormError(f"form {self.name}: semantics are declared twice")
        self.execution = function
        return function

    def multiplication(self, function: MultiplicationFunction) -> MultiplicationFunction:
        """Decorate the function that returns the record of a matrix multiplication, given the bound operands."""
        if self.is_executable or not self.multiplies:
            raise FormError(f"form {self.name}: semantics are declared twice, or the effect Multiply is missing")
        self.multiply = function
        return function

    def copy(self, function: CopyFunction) -> CopyFunction:
        """Decorate the function that returns the record of one bulk copy per active lane.

        The function receives a batch of warps.
        """
        self.execute(lambda warps, i: warps.issue(function(warps, i)))
        return function

    @property
    def is_executable(self) -> bool:
        """True if the form has semantics."""
        return self.execution is not None or self.multiply is not None

    def unsupported(self, arch: str, slots: Mapping[str, str]) -> str:
        """Return the reason why `arch` cannot execute the form with these slots, or "" if it can."""
        reason = "" if self._limit is None else self._limit(arch, slots)
        if reason or self.multiply is None:
            return reason
        try:
            self.model(arch, slots)
        except NoModelError as error:
            return str(error)
        return ""

    def model(self, arch: str, slots: Mapping[str, str]) -> Model:
        """Return the arithmetic of a multiplication with these slots on an architecture. Errors: NoModelError."""
        effect = self.effect(Multiply)
        assert effect is not None
        return select_model(effect.unit, arch, slots)

    # Effects ----------------------------------------------------------------------------------------------

    def effect(self, kind: type[EffectType]) -> EffectType | None:
        """Return the first declared effect of a type, or None."""
        found = self.effects_of(kind)
        return found[0] if found else None

    def effects_of(self, kind: type[EffectType]) -> tuple[EffectType, ...]:
        """Return the declared effects of a type."""
        return cast("tuple[EffectType, ...]", self._effects_by_type.get(kind, ()))

    @cached_property
    def flow(self) -> Flow:
        """Passage of values from sources to results.

        Without a declaration, lane-wise results depend on all sources.
        """
        return self.effect(Flow) or Flow(unwritten="use" if self.lane_function is None else "propagate")

    @cached_property
    def collective(self) -> str:
        """Group of threads that executes the form together: "warp", "warpgroup", or "" for single lanes."""
        found = self.effect(Collective)
        return "" if found is None else found.level

    @cached_property
    def control(self) -> str:
        """Change of control flow: jump, call, return, exit, trap, or "" for none."""
        found = self.effect(Control)
        return "" if found is None else found.kind

    @cached_property
    def ends_thread(self) -> bool:
        """True if active lanes leave the function or the kernel."""
        return self.control in ("return", "exit", "trap")

    @cached_property
    def suspends(self) -> bool:
        """True if a warp may be suspended at the instruction and resumed there."""
        barrier, wait, allocation = self.effect(Barrier), self.effect(Wait), self.effect(Allocate)
        return (
            (barrier is not None and barrier.waits)
            or (wait is not None and wait.suspends)
            or (allocation is not None and allocation.resource != "permit")
        )

    @cached_property
    def arrives(self) -> bool:
        """True if each warp with an active lane counts once at a barrier."""
        barrier = self.effect(Barrier)
        return barrier is not None and barrier.level != "warp"

    @cached_property
    def is_lanewise(self) -> bool:
        """True if the instruction only computes results from registers, lane by lane."""
        return all(isinstance(each, Flow) for each in self.effects)

    @cached_property
    def multiplies(self) -> bool:
        """True for matrix multiplications."""
        return self.effect(Multiply) is not None

    @cached_property
    def is_asynchronous(self) -> bool:
        """True if the instruction issues, commits or awaits asynchronous operations."""
        return any(
            isinstance(each, (Issue, Commit))
            or (isinstance(each, Wait) and each.on in ("copy", "bulk", "multiplication"))
            or (isinstance(each, Arrive) and each.after is not None)
            for each in self.effects
        )

    # Matching ---------------------------------------------------------------------------------------------

    @property
    def family(self) -> str:
        """Family that dynamic counts are grouped by: the first part of the name."""
        return self.name.partition(".")[0]

    @property
    def heads(self) -> frozenset[str]:
        """Words that may be the first of its opcode."""
        first = self.syntax.words[0]
        return frozenset({first.literal}) if first.literal else self.vocabulary[first.slot]

    def match(self, words: tuple[str, ...]) -> dict[str, str] | None:
        """Return the slot values if the opcode words follow the syntax line, else None.

        The rows are not considered.
        """
        for order in self.orders:
            slots = match_words(order, words, self.vocabulary)
            if slots is not None:
                return slots
        return None

    @property
    def name_words(self) -> int:
        """Number of words that name the instruction. Assemblers accept the words after them in any order.

        The name consists of the literal words up to the first qualifier, and the slots that choose an operation.
        """
        count = 1
        for word in self.syntax.words[1:]:
            if word.optional and word.slot in OPTIONAL_NAME_WORDS:
                continue
            choices = {word.literal} if word.literal else self.vocabulary.get(word.slot, frozenset[str]())
            if word.optional or choices & _QUALIFIERS or (word.slot and word.slot not in _NAMES):
                break
            count += 1
        return count

    @property
    def common_name(self) -> tuple[Word, ...]:
        """Words that people call the instruction by: its name, and later slots that choose an operation."""
        found: list[Word] = []
        named = True
        for word in self.syntax.words:
            if word.optional:
                named = named and word.slot in OPTIONAL_NAME_WORDS
            elif word.slot in _NAMES or (named and word.literal and word.literal not in _QUALIFIERS) or not found:
                found.append(word)
            else:
                named = False
        return tuple(found)

    @property
    def slot_names(self) -> frozenset[str]:
        """Names of its words in diagnostic codes: slots, literal words, parts of composite words."""
        return frozenset({*self.columns, *(word.slot or word.literal for word in self.syntax.words)})

    @property
    def parts(self) -> frozenset[str]:
        """Columns that are parts of a composite word."""
        return frozenset(part for word in self.syntax.words if word.composite for part in word.composite.groupindex)

    def rows_of(self, slots: Mapping[str, str]) -> tuple[Row, ...]:
        """Return the rows that allow all slot values. There are several if availability differs."""
        return tuple(
            row for row in self.rows if all(slots.get(column, "") in words for column, words in row.cells.items())
        )

    def _vocabulary(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {column: set() for column in self.columns}
        for row in self.rows:
            for column, words in row.cells.items():
                found[column].update(word for word in words if word)
        return {column: frozenset(words) for column, words in found.items()}

    def _check(self) -> None:
        slots = {word.slot for word in self.syntax.words if word.slot}
        for column in self.columns:
            if column not in slots | self.parts:
                raise FormError(f"form {self.name}: column {column!r} is not in its syntax line")
        if any(Counter(order) != Counter(self.syntax.words) for order in self.orders[1:]):
            raise FormError(f"form {self.name}: a spelling has other words than its syntax line")
        patterns = {name for pattern in self.syntax.operands for name in pattern.names}
        if patterns != set(self.operands):
            declared, written = sorted(self.operands), sorted(patterns)
            raise FormError(f"form {self.name}: operands {declared} do not cover its syntax line's {written}")
        for spec in self.operands.values():
            if isinstance(spec.type, str) and spec.type not in TYPES and spec.type not in slots:
                raise FormError(f"form {self.name}: {spec.type!r} is neither a type nor a slot")
            if spec.when and spec.when not in slots:
                raise FormError(f"form {self.name}: operand requires {spec.when!r}, which is not a slot")

    def __repr__(self) -> str:
        return f"<Form {self.name}: {self.syntax_line}>"


@dataclass(frozen=True, slots=True)
class Match:
    """Opcode bound to a form: the slot values and the rows that allow them."""

    form: Form
    slots: Mapping[str, str]
    rows: tuple[Row, ...]


LONGEST_OPCODE = 500
"""Maximum length of an opcode in characters. No form has a longer one."""


class Registry:
    """Forms by name and by the first word of their opcodes."""

    def __init__(self) -> None:
        self.by_name: dict[str, Form] = {}
        self._by_head: dict[str, list[Form]] = {}

    def add(self, form: Form) -> None:
        """Add a form. Errors: FormError if its name is taken."""
        if form.name in self.by_name:
            raise FormError(f"form {form.name}: declared twice")
        self.by_name[form.name] = form
        for head in form.heads:
            self._by_head.setdefault(head, []).append(form)

    def heads(self) -> Iterable[str]:
        """Return every word that may be the first of an opcode."""
        return self._by_head.keys()

    def forms_of(self, head: str) -> tuple[Form, ...]:
        """Return the forms whose opcode begins with the word `head`."""
        return tuple(self._by_head.get(head, ()))

    def match(self, opcode: str) -> tuple[Match, ...]:
        """Return every form and row that an opcode follows."""
        if len(opcode) > LONGEST_OPCODE:
            return ()
        words = tuple(opcode.split("."))
        return tuple(
            Match(form, slots, rows)
            for form in self._by_head.get(words[0], ())
            if (slots := form.match(words)) is not None and (rows := form.rows_of(slots))
        )


Form.registry = Registry()


def forms() -> Iterable[Form]:
    """Return every declared form, in order of declaration."""
    return Form.registry.by_name.values()


heads = Form.registry.heads
forms_of = Form.registry.forms_of
match_opcode = lru_cache(maxsize=8192)(Form.registry.match)


def no_effect(warps: Any, i: Any) -> None:
    """Execute a hint, or an ordering that the emulator always guarantees, by doing nothing."""
