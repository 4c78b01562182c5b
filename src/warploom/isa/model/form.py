"""Form: the syntax line of the manual for one instruction, and everything that derives from it.

A Form is declared once, in the file of its family, together with its semantics:

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

The *slots* of a Form are the modifiers of its syntax line, here `op` and `type`. Each column of `rows` lists the legal
words of a slot.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any, ClassVar, TypeVar

from warploom.display import Displayed
from warploom.isa.model.availability import Requirement, Target, Version, unmet_by_rows, unmet_by_words
from warploom.isa.model.effects import (
    Allocate,
    Arrive,
    Barrier,
    Cancellation,
    Collective,
    Commit,
    Control,
    Effect,
    Flow,
    GridDependency,
    Issue,
    Multiply,
    Wait,
)
from warploom.isa.model.lanewise import LaneFunction, evaluate_lanes
from warploom.isa.model.multiplication import Multiplication, select_model
from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.records import CopyRecord
from warploom.isa.model.semantics import Bound, Warps
from warploom.isa.model.syntax import Syntax, Word, match_words, read_syntax
from warploom.isa.model.table import FormError, Row, read_rows
from warploom.isa.model.tensor_memory import TensorRecord
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass
from warploom.numerics.models import Model, NoModelError

Execution = Callable[[Warps, Bound], None]
"""Function that executes an instruction, given warps and bound operands."""
MultiplicationFunction = Callable[[Any], Multiplication]
"""Function that returns the record of a matrix multiplication, given bound operands."""
CopyFunction = Callable[[Warps, Bound], CopyRecord]
"""Function that returns the record of asynchronous copies, given warps and bound operands."""
TensorFunction = Callable[[Warps, Bound], TensorRecord]
"""Function that returns the record of operations on tensor memory, given warps and bound operands."""
Limit = Callable[[Mapping[str, str]], str]
EffectType = TypeVar("EffectType", bound=Effect)

IMPLIED = frozenset({"sync", "aligned", "row", "col", "u32", "b32", "b64", "b1024"})
"""Words that a syntax line requires although they express no choice. The author API leaves them out."""
_QUALIFIERS = IMPLIED | frozenset(
    {
        "trans", "sp", "popc", "satfinite", "sat", "ftz", "rn", "rs", "f32", "f64", "f32x2", "relaxed", "release",
        "sys", "global", "shared::cta", "bulk_group", "mbarrier::complete_tx::bytes", "noComplete", "tile",
        "tensormap::generic", "clamp", "wrap", "any", "all", "approx", "volatile", "mmio", "L1", "L2",
        "mbarrier_init", "launch_dependents",
    }
)  # fmt: skip
"""Words of syntax lines that do not belong to the name of an instruction."""
OPTIONAL_NAME_WORDS = frozenset(["cta", "parity"])
"""Optional words that belong to an instruction's name, as `cta` does in `barrier.cta`."""
_OPTIONAL = re.compile(r"\{[^{}]*\}")
_NAMES = frozenset(["op", "mode", "action", "matrix", "dir", "side"])
"""Slots that choose an operation. Their words belong to the name of the instruction."""


class Form(Displayed):
    """Instruction form: syntax line, table of valid combinations, operands, effects and semantics.

    - `words`: spellings of composite modifiers, such as `{"shape": "m{m}n{n}k{k}"}` with the table columns m, n and k
    - `spellings`: opcode patterns with the same words in another order, which assemblers also accept
    - `early`: words that assemblers accept before the PTX version that introduced them
    - `limit`: function that returns the reason why the emulator cannot execute an opcode, or ""

    Errors: FormError for a contradictory declaration, at the first use of the syntax line.
    """

    display_kind: ClassVar[str] = "form"
    registry: ClassVar[Registry]

    def __init__(
        self, *, name: str, syntax: str, operands: Mapping[str, OperandSpec] | None = None, rows: str = "",
        words: Mapping[str, str] | None = None, effects: tuple[Effect, ...] = (), limit: Limit | None = None,
        spellings: tuple[str, ...] = (), early: str = "", source: str,
    ) -> None:  # fmt: skip
        self.name = name
        self.early = frozenset(early.split())
        self.source = source
        self.syntax_line = syntax
        self.composites = dict(words or {})
        self._rows = rows
        self._spellings = spellings
        self.operands = dict(operands or {})
        self.effects = effects
        self._effects_by_type: dict[type[Any], tuple[Any, ...]] = {
            type(each): tuple(other for other in effects if type(other) is type(each)) for each in effects
        }
        self.execution: Execution | None = None
        self.lane_function: LaneFunction | None = None
        self.multiply: MultiplicationFunction | None = None
        self.about = ""
        self.example = ""
        self._limit = limit
        self.registry.add(self)

    # Syntax line and table, which are parsed on first use -------------------------------------------------

    @cached_property
    def _table(self) -> tuple[tuple[str, ...], tuple[Row, ...]]:
        return read_rows(self.name, self._rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the table, without those of the availability."""
        return self._table[0]

    @property
    def rows(self) -> tuple[Row, ...]:
        """Rows of the table."""
        return self._table[1]

    @cached_property
    def vocabulary(self) -> dict[str, frozenset[str]]:
        """Words of each column."""
        return {
            column: frozenset(word for row in self.rows for word in row.cells[column] if word)
            for column in self.columns
        }

    @cached_property
    def syntax(self) -> Syntax:
        """Parsed syntax line."""
        syntax = read_syntax(self.name, self.syntax_line, self.columns, self.composites)
        self._check(syntax)
        return syntax

    @cached_property
    def orders(self) -> tuple[tuple[Word, ...], ...]:
        """Opcode words of the syntax line and of the other spellings."""
        words = self.syntax.words
        others = [read_syntax(self.name, each, self.columns, self.composites).words for each in self._spellings]
        if any(Counter(order) != Counter(words) for order in others):
            raise FormError(f"form {self.name}: a spelling has other words than its syntax line")
        return (words, *others)

    # Description ------------------------------------------------------------------------------------------

    def describe(self, about: str, example: str) -> None:
        """State what the instruction computes and when to use it, with an example in PTX.

        The first sentence of `about` states what the instruction computes.
        """
        self.about = about
        self.example = example

    @property
    def summary(self) -> str:
        """First sentence of the description, without its period."""
        return self.about.partition(". ")[0].removesuffix(".")

    # Semantics --------------------------------------------------------------------------------------------

    def semantics(self, function: LaneFunction) -> LaneFunction:
        """Decorate a pure function that computes the results from lane values.

        The parameters of the function are names of modifiers and operands. The function returns the value of the
        destination operand, or a tuple with the values of several destinations in the order of the syntax line.
        """
        self.lane_function = function
        self.execute(evaluate_lanes(self.name, function, self.operands))
        return function

    def execute(self, function: Execution) -> Execution:
        """Decorate the function that executes the instruction on a batch of warps.

        Errors: FormError if the form already has semantics.
        """
        if self.is_executable:
            raise FormError(f"form {self.name}: semantics are declared twice")
        self.execution = function
        return function

    def multiplication(self, function: MultiplicationFunction) -> MultiplicationFunction:
        """Decorate the function that returns the record of a matrix multiplication.

        Errors: FormError if the form already has semantics or lacks the effect `Multiply`.
        """
        if self.is_executable or not self.multiplies:
            raise FormError(f"form {self.name}: semantics are declared twice, or it lacks the effect Multiply")
        self.multiply = function
        return function

    def copy(self, function: CopyFunction) -> CopyFunction:
        """Decorate the function that returns a record of asynchronous copies by all active lanes."""
        self.execute(lambda warps, i: warps.issue(function(warps, i)))
        return function

    def tensor_operation(self, function: TensorFunction) -> TensorFunction:
        """Decorate a function that returns a record of operations on tensor memory."""
        self.execute(lambda warps, i: warps.operate_on_tensor_memory(function(warps, i)))
        return function

    @property
    def is_executable(self) -> bool:
        """True if the emulator can execute the form."""
        return self.execution is not None or self.multiply is not None

    def unsupported(self, arch: str, slots: Mapping[str, str]) -> str:
        """Return the reason why the emulator cannot execute these modifiers for `arch`, or "" if it can."""
        reason = "" if self._limit is None else self._limit(slots)
        if reason or self.multiply is None:
            return reason
        try:
            self.model(arch, slots)
        except NoModelError as error:
            return str(error)
        return ""

    def model(self, arch: str, slots: Mapping[str, str]) -> Model:
        """Return the arithmetic of `arch` for a matrix multiplication with these modifiers.

        Errors: NoModelError if the arithmetic is not known.
        """
        effect = self.effect(Multiply)
        assert effect is not None
        return select_model(effect.unit, arch, slots)

    # Effects ----------------------------------------------------------------------------------------------

    def effect(self, kind: type[EffectType]) -> EffectType | None:
        """Return the first declared effect of the class `kind`, such as `Wait`, or None."""
        found = self._effects_by_type.get(kind)
        return found[0] if found else None

    def effects_of(self, kind: type[EffectType]) -> tuple[EffectType, ...]:
        """Return all declared effects of the class `kind`, such as `Access`."""
        return self._effects_by_type.get(kind, ())

    @cached_property
    def flow(self) -> Flow:
        """Declaration of how values pass from sources to results."""
        # By default, lane-wise results propagate unwritten sources, and other forms must not read them.
        return self.effect(Flow) or Flow(unwritten="use" if self.lane_function is None else "propagate")

    @cached_property
    def collective(self) -> str:
        """Group of threads that executes the form together: "warp", "warpgroup", or "" for single lanes."""
        found = self.effect(Collective)
        return "" if found is None else found.level

    @cached_property
    def control(self) -> str:
        """Change of control flow: "jump", "call", "return", "exit", "trap", or "" for none."""
        found = self.effect(Control)
        return "" if found is None else found.kind

    @cached_property
    def ends_thread(self) -> bool:
        """True if the active lanes leave the function or the kernel at the instruction."""
        return self.control in ("return", "exit", "trap")

    @cached_property
    def suspends(self) -> bool:
        """True if a warp may have to wait at the instruction, or another grid may start there."""
        barrier, wait, allocation = self.effect(Barrier), self.effect(Wait), self.effect(Allocate)
        return (
            (barrier is not None and barrier.waits)
            or (wait is not None and wait.suspends)
            or (allocation is not None and allocation.resource in ("registers", "tensor memory"))
            or self.effect(GridDependency) is not None
        )

    @cached_property
    def cancels_cluster(self) -> bool:
        """True if the instruction cancels a cluster that has not started."""
        return self.effect(Cancellation) is not None

    @cached_property
    def moves_stack(self) -> bool:
        """True if the instruction changes the stack pointer of the thread."""
        allocation = self.effect(Allocate)
        return allocation is not None and allocation.resource == "stack"

    @cached_property
    def arrives(self) -> bool:
        """True for a barrier of a CTA or cluster."""
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
            or (isinstance(each, Wait) and each.on in ("copy", "bulk", "multiplication", "tensor memory"))
            or (isinstance(each, Arrive) and each.after is not None)
            for each in self.effects
        )

    # Matching ---------------------------------------------------------------------------------------------

    @property
    def family(self) -> str:
        """First part of the form's name, such as "wgmma", by which statistics are grouped."""
        return self.name.partition(".")[0]

    @property
    def operand_line(self) -> str:
        """Operands of the syntax line, such as "d, a, b{, c}"."""
        return self.syntax_line.partition(" ")[2].strip().removesuffix(";")

    @property
    def heads(self) -> frozenset[str]:
        """Words that can be the first word of an opcode of this form."""
        first = re.split(r"[.{ ;]", self.syntax_line.strip(), maxsplit=1)[0]
        return self.vocabulary[first] if first in self._header else frozenset({first})

    @cached_property
    def literals(self) -> frozenset[str]:
        """Words that all opcodes of this form have. The syntax line is not parsed."""
        opcode = self.syntax_line.strip().removesuffix(";").partition(" ")[0]
        return frozenset(_OPTIONAL.sub("", opcode).split(".")).difference(self.composites, self._header)

    @property
    def _header(self) -> list[str]:
        return self._rows.strip().partition("\n")[0].split()

    def match(self, words: tuple[str, ...]) -> dict[str, str] | None:
        """Return the word of each modifier if the opcode words follow the syntax line, else None.

        The combination of the words may be illegal (see `rows_of`).
        """
        for order in self.orders:
            slots = match_words(order, words, self.vocabulary)
            if slots is not None:
                return slots
        return None

    @property
    def name_words(self) -> int:
        """Number of leading opcode words that name the instruction."""
        count = 1  # the name ends before the first optional word, qualifier or modifier that chooses no operation
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
        """Required words that identify the instruction: its name, and the modifiers that choose an operation."""
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
        """Names of modifiers and literal words in diagnostic codes."""
        return frozenset({*self.columns, *(word.slot or word.literal for word in self.syntax.words)})

    @property
    def parts(self) -> frozenset[str]:
        """Table columns that are parts of a composite modifier, such as m, n and k of a shape."""
        return _parts(self.syntax)

    @cached_property
    def limits_constants(self) -> bool:
        """True if an operand has a smaller range of integer constants than its type."""
        return any(spec.legal.values is not None or spec.legal.upto for spec in self.operands.values())

    def rows_of(self, slots: Mapping[str, str]) -> tuple[Row, ...]:
        """Return the table rows that allow this combination of words.

        If there are several rows, they give the PTX versions for different targets.
        """
        return tuple([row for row in self.rows if row.holds(slots)])

    def _check(self, syntax: Syntax) -> None:
        slots = {word.slot for word in syntax.words if word.slot}
        for column in self.columns:
            if column not in slots | _parts(syntax):
                raise FormError(f"form {self.name}: column {column!r} is not in its syntax line")
        patterns = {name for pattern in syntax.operands for name in pattern.names}
        if patterns != set(self.operands):
            declared, written = sorted(self.operands), sorted(patterns)
            raise FormError(f"form {self.name}: its operands are {declared}; expected {written}, as in its syntax line")
        for spec in self.operands.values():
            if isinstance(spec.type, str) and spec.type not in TYPES and spec.type not in slots:
                raise FormError(f"form {self.name}: {spec.type!r} is neither a type nor a slot")
            if spec.when and spec.when not in slots:
                raise FormError(f"form {self.name}: operand requires {spec.when!r}, which is not a slot")

    def __repr__(self) -> str:
        return f"<Form {self.name}: {self.syntax_line}>"


def _parts(syntax: Syntax) -> frozenset[str]:
    return frozenset(part for word in syntax.words if word.composite for part in word.composite.groupindex)


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Opcode of a Form: the word of each modifier, and the table rows that allow these words."""

    form: Form
    slots: Mapping[str, str]
    rows: tuple[Row, ...]

    def unmet(self, words: Iterable[str], target: Target, ptx: Version) -> Requirement | None:
        """Return what an instruction needs and a target or a PTX version lacks, or None.

        `words` are the words of its opcode.
        """
        gated = [word for word in words if word not in self.form.early]
        return unmet_by_rows(self.rows, target, ptx) or unmet_by_words(gated, target, ptx)


LONGEST_OPCODE = 500
"""Maximum number of characters of an opcode. No form has a longer opcode."""


class Registry:
    """All declared forms, indexed by name and by the first word of their opcodes."""

    def __init__(self) -> None:
        self.by_name: dict[str, Form] = {}
        self._by_head: dict[str, list[Form]] = {}

    def add(self, form: Form) -> None:
        """Add a form.

        Errors: FormError if another form has the same name.
        """
        if form.name in self.by_name:
            raise FormError(f"form {form.name}: declared twice")
        self.by_name[form.name] = form
        for head in form.heads:
            self._by_head.setdefault(head, []).append(form)

    def heads(self) -> Iterable[str]:
        """Return every word that can be the first word of an opcode."""
        return self._by_head.keys()

    def forms_of(self, head: str) -> tuple[Form, ...]:
        """Return the forms whose opcodes can begin with the word `head`."""
        return tuple(self._by_head.get(head, ()))

    def match(self, opcode: str) -> tuple[Match, ...]:
        """Return a match for every form that allows an opcode. Without a match, the opcode is illegal."""
        if len(opcode) > LONGEST_OPCODE:
            return ()
        words = tuple(opcode.split("."))
        return tuple(
            Match(form, slots, rows)
            for form in self._by_head.get(words[0], ())
            if form.literals.issubset(words)
            and (slots := form.match(words)) is not None
            and (rows := form.rows_of(slots))
        )


Form.registry = Registry()


def forms() -> Iterable[Form]:
    """Return every declared form, in the order of declaration."""
    return Form.registry.by_name.values()


heads = Form.registry.heads
forms_of = Form.registry.forms_of
match_opcode = lru_cache(maxsize=8192)(Form.registry.match)


def no_effect(warps: Warps, i: Bound) -> None:
    """Do nothing, as for a hint or a fence that the emulator does not need."""
