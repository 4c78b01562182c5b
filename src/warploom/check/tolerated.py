"""What only the manual forbids and assemblers take.

An instruction that breaks a rule is tolerated where an assembler takes it all the same: because one of its
words is as good as absent or in its place, or because a lenient form has it. Each is a warning, never an
error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from warploom.isa.nearest import reordered
from warploom.ptx import Instruction, Integer


@dataclass(frozen=True, slots=True)
class Tolerance:
    """`eased` gives what the assembler reads instead; `form` begins the name of the lenient forms that
    have it.
    """

    name: str
    reason: str
    evidence: str
    eased: Callable[[Instruction], Iterator[Instruction]] | None = None
    form: str = ""


def _in_order(instruction: Instruction) -> Iterator[Instruction]:
    for opcode, _ in reordered(instruction.opcode):
        yield replace(instruction, opcode=opcode)


def _without(*words: str) -> Callable[[Instruction], Iterator[Instruction]]:
    def eased(instruction: Instruction) -> Iterator[Instruction]:
        left = [word for word in instruction.words if not any(word.startswith(prefix) for prefix in words)]
        if len(left) < len(instruction.words):
            yield replace(instruction, opcode=".".join(left))

    return eased


def _aligned(instruction: Instruction) -> Iterator[Instruction]:
    words = instruction.words
    if words[0] == "wgmma" and "sync" in words and "aligned" not in words:
        place = words.index("sync") + 1
        yield replace(instruction, opcode=".".join((*words[:place], "aligned", *words[place:])))


def _selector(instruction: Instruction) -> Iterator[Instruction]:
    last = instruction.operands[-1] if instruction.operands else None
    half = instruction.opcode.endswith("f32.f16.f16.f32") and "m16n8k32" in instruction.words
    if half and isinstance(last, Integer) and last.value in (2, 3):
        yield replace(instruction, operands=(*instruction.operands[:-1], Integer(0)))


TOLERATED = (
    Tolerance(
        "order",
        "words after an instruction's name are taken in any order",
        "ptxas 13.1: quarrel 37",
        _in_order,
    ),
    Tolerance("aligned", "wgmma needs .sync alone", "ptxas 13.1: quarrel 45", _aligned),
    Tolerance(
        "layout", "wgmma has one layout, and .row.col says it again", "ptxas 13.1", _without("row", "col")
    ),
    Tolerance(
        "kind", "a .kind changes nothing for fp8 operands", "ptxas 13.1: quarrel 19", _without("kind::")
    ),
    Tolerance(
        "selector",
        "selectors 2 and 3 of f32.f16 m16n8k32 reach the chip",
        "ptxas 13.1: quarrel 15",
        _selector,
    ),
    Tolerance(
        "bf16-m8n8k4",
        "bf16 and tf32 are assembled as m8n8k4",
        "ptxas 13.1: quarrel 46",
        form="lenient.eight_by",
    ),
    Tolerance(
        "f64-wmma", "f64 is assembled as m16n16k16 and k8", "ptxas 13.1: quarrel 46", form="lenient.wide"
    ),
    Tolerance(
        "x8", ".x8 moves as many matrices as registers", "ptxas 12.9 to 13.5: quarrel 33", form="lenient.load"
    ),
    Tolerance(
        "x8",
        ".x8 moves as many matrices as registers",
        "ptxas 12.9 to 13.5: quarrel 33",
        form="lenient.store",
    ),
)
