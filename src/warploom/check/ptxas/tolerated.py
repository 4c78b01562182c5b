"""What only the manual forbids and assemblers take.

An instruction that breaks a rule is tolerated where an assembler takes it all the same: because one of its
words is as good as absent or in its place, or because a lenient form has it. Each is a warning, never an
error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from warploom.check.ptxas.extension import ExtensionForm, extensions_of
from warploom.check.ptxas.ignored_words import SAYS_LENGTH, without_spare
from warploom.isa.binding.nearest import reordered
from warploom.isa.model.form import Form
from warploom.isa.model.types import TYPES
from warploom.ptx import Instruction, Integer, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Tolerance:
    """`eased` gives what the assembler reads instead; `form` begins the name of the lenient forms that
    have it; `place` has the words of the places that ease what may stand there.
    """

    name: str
    reason: str
    evidence: str
    eased: Callable[[Instruction], Iterator[Instruction]] | None = None
    place: str = ""
    targets: tuple[str, ...] = ()

    def is_for(self, form: Form) -> bool:
        """Return True if the tolerance explains a form beyond the manual."""
        return isinstance(form, ExtensionForm) and form.reason == self.name


def _in_order(instruction: Instruction) -> Iterator[Instruction]:
    for opcode, _ in reordered(instruction.opcode, extensions_of):
        yield replace(instruction, opcode=opcode)


def _without_spare(instruction: Instruction) -> Iterator[Instruction]:
    for words in without_spare(instruction.words):
        yield replace(instruction, opcode=".".join(words))


def _once(instruction: Instruction) -> Iterator[Instruction]:
    words = instruction.words
    left = [word for k, word in enumerate(words) if word not in _REPEATED or word not in words[:k]]
    if len(left) < len(words):
        yield replace(instruction, opcode=".".join(left))


def _aligned(instruction: Instruction) -> Iterator[Instruction]:
    words = instruction.words
    if words[0] == "wgmma" and "sync" in words and "aligned" not in words:
        place = words.index("sync") + 1
        yield replace(instruction, opcode=".".join((*words[:place], "aligned", *words[place:])))


def _vector(instruction: Instruction) -> Iterator[Instruction]:
    """`.v4` says that vectors have four registers, where they do."""
    words = instruction.words
    said = [word for word in words if word in _VECTORS]
    lengths = {len(operand.items) for operand in instruction.operands if isinstance(operand, Vector)}
    bits = max((TYPES[word].bits for word in words if word in TYPES), default=0)
    if words[0] not in SAYS_LENGTH:
        return
    if len(said) == 1 and lengths == {_VECTORS[said[0]]} and bits * _VECTORS[said[0]] <= 128:
        yield replace(instruction, opcode=".".join(word for word in words if word != said[0]))


def _selector(instruction: Instruction) -> Iterator[Instruction]:
    last = instruction.operands[-1] if instruction.operands else None
    half = instruction.opcode.endswith("f32.f16.f16.f32") and "m16n8k32" in instruction.words
    if half and isinstance(last, Integer) and last.value in (2, 3):
        yield replace(instruction, operands=(*instruction.operands[:-1], Integer(0)))


_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_REPEATED = ("sync", "satfinite", "sat", "uni", "NaN", "approx", "cc", "relu", "shiftamt")

_OTHER_KINDS = "vector vectors predicate packed base bare untyped"

# Evidence: sections of tests/evidence/ptxas/off-table.txt, or the record's probes of that change.
TOLERATED = (
    Tolerance("aligned", "wgmma needs .sync alone", "off-table 45", _aligned),
    Tolerance("kind", "a .kind changes nothing for fp8", "off-table 19"),
    Tolerance(
        "bit-operation",
        "four bits have the words of single bits",
        "record: and xor",
    ),
    Tolerance("moved", "fragments are moved as f32, or without a type", "record: type"),
    Tolerance("doubled", "a word that is said twice counts once", "record: doubled", _once),
    Tolerance("ignored", "some words of other instructions are passed over", "record: and", _without_spare),
    Tolerance("vector", "a matrix may say its number of registers", "record: and v4", _vector),
    Tolerance("function", "a function's address stands for a value", "record: callee", place="function"),
    Tolerance("sum", "a number added to a register is passed over", "record: fresh", place="sum"),
    Tolerance("special", "a special register stands in a vector", "record: fresh", place="special"),
    Tolerance("operand", "an operand of another kind is taken there", "record: of p", place=_OTHER_KINDS),
    Tolerance("selector", "selectors 2 and 3 of f32.f16 m16n8k32 are taken", "off-table 15", _selector),
    # Last of those that ease, for it needs every word in its place.
    Tolerance("order", "words after the name are taken in any order", "off-table 37", _in_order),
    Tolerance("modifier", "modifiers are taken that it has not", "record: and"),
    Tolerance("bf16-m8n8k4", "bf16 and tf32 are taken as m8n8k4", "off-table 46"),
    Tolerance("f64-wmma", "f64 is taken as m16n16k16 and m16n16k8", "off-table 46"),
    Tolerance("copy", "a copy takes the operands of another", "record: %rd90 there"),
    Tolerance("row", "a row that the manual does not have", "off-table: rows"),
    Tolerance("x8", ".x8 and more are taken with 1, 2 or 4 registers", "off-table 33"),
    Tolerance("without", "a part that the manual needs may be left out", "record"),
    Tolerance("with", "a part that it has not may be added", "record"),
    Tolerance("lanes", "a predicate stands for the masks of lanes", "record: and %p95"),
    Tolerance("scale-input-d", "scaling D is taken with integers", "off-table 30"),
    Tolerance("free", "any multiple of 32 columns is freed", "record: nCols"),
)
