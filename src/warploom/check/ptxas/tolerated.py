"""Tolerances: violations of the manual that ptxas accepts. The checker reports them as warnings."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from warploom.check.ptxas.ignored_words import MAY_STATE_LENGTH, without_ignored
from warploom.isa.binding.nearest import reordered
from warploom.isa.model.form import Form, Registry
from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.types import TYPES
from warploom.ptx import Instruction, Integer, Vector


class ExtensionForm(Form):
    """Form that ptxas accepts and the manual does not have. The emulator refuses such instructions.

    `reason` names the tolerance that explains the Form. `section` is the section of the PTX ISA on the instruction.
    """

    registry = Registry()

    def __init__(
        self, reason: str, name: str, section: str, syntax: str, rows: str,
        operands: Mapping[str, OperandSpec] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name=f"ptxas.{name}", syntax=syntax, operands=operands, rows=rows, source=f"PTX ISA {section}")
        self.reason = reason


@dataclass(frozen=True, slots=True, eq=False)
class Tolerance:
    """Reason why ptxas accepts instructions that violate the manual."""

    name: str
    reason: str
    evidence: str  # section of tests/evidence/ptxas/off-table.txt, or a change in the recorded verdicts
    # Yields the instructions that ptxas may read instead.
    rewrite: Callable[[Instruction], Iterator[Instruction]] | None = None
    extensions: str = ""  # kinds of syntax (see operands.py)

    def is_for(self, form: Form) -> bool:
        """Return True if this tolerance explains an extension Form."""
        return isinstance(form, ExtensionForm) and form.reason == self.name


def _in_order(instruction: Instruction) -> Iterator[Instruction]:
    for opcode, _ in reordered(instruction.opcode, ExtensionForm.registry.forms_of):
        yield replace(instruction, opcode=opcode)


def _without_ignored(instruction: Instruction) -> Iterator[Instruction]:
    for words in without_ignored(instruction.words):
        yield replace(instruction, opcode=".".join(words))


def _once(instruction: Instruction) -> Iterator[Instruction]:
    words = instruction.words
    left = [word for k, word in enumerate(words) if word not in _REPEATED or word not in words[:k]]
    if len(left) < len(words):
        yield replace(instruction, opcode=".".join(left))


def _aligned(instruction: Instruction) -> Iterator[Instruction]:
    words = instruction.words
    if words[0] == "wgmma" and "sync" in words and "aligned" not in words:
        position = words.index("sync") + 1
        yield replace(instruction, opcode=".".join((*words[:position], "aligned", *words[position:])))


def _vector(instruction: Instruction) -> Iterator[Instruction]:
    """Yield the instruction without the length `.v2`, `.v4` or `.v8`, if all vectors have this length."""
    words = instruction.words
    stated = [word for word in words if word in _VECTORS]
    if words[0] not in MAY_STATE_LENGTH or len(stated) != 1:
        return
    count = _VECTORS[stated[0]]
    lengths = {len(operand.items) for operand in instruction.operands if isinstance(operand, Vector)}
    bits = max((TYPES[word].bits for word in words if word in TYPES), default=0)
    if lengths == {count} and bits * count <= 128:
        yield replace(instruction, opcode=".".join(word for word in words if word != stated[0]))


def _selector(instruction: Instruction) -> Iterator[Instruction]:
    last = instruction.operands[-1] if instruction.operands else None
    half = instruction.opcode.endswith("f32.f16.f16.f32") and "m16n8k32" in instruction.words
    if half and isinstance(last, Integer) and last.value in (2, 3):
        yield replace(instruction, operands=(*instruction.operands[:-1], Integer(0)))


_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_REPEATED = ("sync", "satfinite", "sat", "uni", "NaN", "approx", "cc", "relu", "shiftamt")

_OTHER_KINDS = "vector vectors predicate packed base bare untyped"

TOLERATED = (
    Tolerance("aligned", "ptxas requires only .sync on wgmma", "off-table 45", _aligned),
    Tolerance("kind", "ptxas accepts any .kind with 8-bit floats and ignores it", "off-table 19"),
    Tolerance("bit-operation", "ptxas accepts bit operations with 4-bit integers", "record: and xor"),
    Tolerance("moved", "ptxas accepts .f32 or no type for this fragment", "record: type"),
    Tolerance("doubled", "ptxas counts a repeated word once", "record: doubled", _once),
    Tolerance("ignored", "ptxas ignores a word of another instruction", "record: and", _without_ignored),
    Tolerance("vector", "ptxas accepts a word with the number of registers", "record: and v4", _vector),
    Tolerance(
        "function", "ptxas accepts the address of a function as a value", "record: callee", extensions="function"
    ),
    Tolerance("sum", "ptxas ignores a number added to a register", "record: fresh", extensions="sum"),
    Tolerance("special", "ptxas accepts a special register here", "record: fresh", extensions="special"),
    Tolerance("operand", "ptxas accepts this kind of operand here", "record: of p", extensions=_OTHER_KINDS),
    Tolerance("selector", "ptxas accepts the selectors 2 and 3 here", "off-table 15", _selector),
    # This rewrite is the last one because it needs the other words in their places.
    Tolerance("order", "ptxas accepts the words after the name in any order", "off-table 37", _in_order),
    Tolerance("modifier", "ptxas accepts a modifier of another form", "record: and"),
    Tolerance("bf16-m8n8k4", "ptxas accepts bf16 and tf32 with m8n8k4", "off-table 46"),
    Tolerance("f64-wmma", "ptxas accepts f64 with m16n16k16 and m16n16k8", "off-table 46"),
    Tolerance("copy", "ptxas accepts the operands of another bulk copy", "record: %rd90 there"),
    Tolerance("row", "ptxas accepts this combination of words", "off-table: rows"),
    Tolerance("x8", "ptxas accepts .x8 and higher counts with 1, 2 or 4 registers", "off-table 33"),
    Tolerance("without", "ptxas accepts the instruction without a required part", "record"),
    Tolerance("with", "ptxas accepts an additional part", "record"),
    Tolerance("lanes", "ptxas accepts a predicate as the lane mask", "record: and %p95"),
    Tolerance("scale-input-d", "ptxas accepts scale-input-d with integers", "off-table 30"),
    Tolerance("free", "ptxas accepts any multiple of 32 columns", "record: nCols"),
)
