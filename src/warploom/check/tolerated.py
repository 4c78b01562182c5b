"""What only the manual forbids and assemblers take.

An instruction that breaks a rule is tolerated where an assembler takes it all the same: because one of its
words is as good as absent or in its place, or because a lenient form has it. Each is a warning, never an
error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from warploom.isa.kit import Form, forms_of, match_opcode
from warploom.isa.nearest import reordered
from warploom.ptx import Instruction, Integer


@dataclass(frozen=True, slots=True)
class Tolerance:
    """`eased` gives what the assembler reads instead; `form` begins the name of the lenient forms that
    have it; `place` is the word of the places that ease what may stand there.
    """

    name: str
    reason: str
    evidence: str
    eased: Callable[[Instruction], Iterator[Instruction]] | None = None
    form: str = ""
    place: str = ""
    targets: tuple[str, ...] = ()

    def is_for(self, form: Form) -> bool:
        """Whether it is what a lenient form stands for."""
        return form.lenient and self.form != "" and form.name.startswith(self.form)


def _in_order(instruction: Instruction) -> Iterator[Instruction]:
    for opcode, _ in reordered(instruction.opcode):
        yield replace(instruction, opcode=opcode)


def _without(*prefixes: str) -> Callable[[Instruction], Iterator[Instruction]]:
    def eased(instruction: Instruction) -> Iterator[Instruction]:
        left = [word for word in instruction.words if not word.startswith(prefixes)]
        if len(left) < len(instruction.words):
            yield replace(instruction, opcode=".".join(left))

    return eased


def _ignored(instruction: Instruction) -> Iterator[Instruction]:
    for words in (_FORMATS, (*_FORMATS, *_FIELDS)):
        yield from _without(*words)(instruction)


def _passed_over(instruction: Instruction) -> Iterator[Instruction]:
    words = instruction.words
    known = frozenset[str]().union(*(form.ignores for form in forms_of(words[0])))
    for k, word in enumerate(words):
        if word not in known:
            continue
        opcode = ".".join((*words[:k], *words[k + 1 :]))
        matches = match_opcode(opcode) or tuple(match for _, match in reordered(opcode))
        if any(word in match.form.ignores for match in matches):
            yield replace(instruction, opcode=opcode)


def _layoutless(instruction: Instruction) -> Iterator[Instruction]:
    layouts = sum(word in ("row", "col") for word in instruction.words)
    if layouts <= 2 and _ONE_LAYOUT & {*instruction.words[:2]}:
        yield from _without("row", "col")(instruction)


def _kindless(instruction: Instruction) -> Iterator[Instruction]:
    if {"e4m3", "e5m2"} & set(instruction.words):
        yield from _without("kind::")(instruction)


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


def _selector(instruction: Instruction) -> Iterator[Instruction]:
    last = instruction.operands[-1] if instruction.operands else None
    half = instruction.opcode.endswith("f32.f16.f16.f32") and "m16n8k32" in instruction.words
    if half and isinstance(last, Integer) and last.value in (2, 3):
        yield replace(instruction, operands=(*instruction.operands[:-1], Integer(0)))


_KINDS = ("sm_100f", "sm_110f", "sm_120f")
_REPEATED = ("sync", "satfinite", "sat", "uni", "NaN", "approx", "cc", "relu", "shiftamt")
_ONE_LAYOUT = {"mma_async", "ldmatrix", "stmatrix"}
_FORMATS = (
    *("b8x16", "b6x16_p32", "b4x16_p64"),
    *("finite", "infinite", "number", "notanumber", "normal", "subnormal"),
)
_FIELDS = (
    *("global_address", "global_dim", "global_stride", "box_dim", "rank", "element_stride", "elemtype"),
    *("fill_mode", "interleave_layout", "swizzle_mode", "swizzle_atomicity"),
)

# Evidence: sections of tests/evidence/ptxas/off-table.txt, or the record's probes of that change.
TOLERATED = (
    Tolerance("aligned", "wgmma needs .sync alone", "off-table 45", _aligned),
    Tolerance("layout", "one layout, and .row.col says it again", "off-table 45", _layoutless),
    Tolerance("kind", "a .kind changes nothing for fp8", "off-table 19", _kindless, targets=_KINDS),
    Tolerance("doubled", "a word that is said twice counts once", "record: doubled", _once),
    Tolerance("ignored", "words of other instructions are passed over", "record: and", _ignored),
    Tolerance("scope", "a copy passes over a scope", "record: and cluster", _passed_over),
    Tolerance("function", "a function's address stands for a value", "record: callee", place="function"),
    Tolerance("brackets", "a tensor's address goes without brackets", "record: %rd90 there", place="bare"),
    Tolerance("base", "a tensor map's address is of any type", "record: [%f90] there", place="untyped"),
    Tolerance("mask", "a vector stands for a mask", "record: 2 registers", place="vector"),
    Tolerance("selector", "selectors 2 and 3 of f32.f16 m16n8k32 are taken", "off-table 15", _selector),
    # Last of those that ease, for it needs every word in its place.
    Tolerance("order", "words after the name are taken in any order", "off-table 37", _in_order),
    Tolerance("bf16-m8n8k4", "bf16 and tf32 are taken as m8n8k4", "off-table 46", form="lenient.eight_by"),
    Tolerance("f64-wmma", "f64 is taken as m16n16k16 and m16n16k8", "off-table 46", form="lenient.wide"),
    Tolerance("copy", "a copy takes the operands of another", "record: %rd90 there", form="lenient.copy"),
    Tolerance("row", "a row that the manual does not have", "off-table: rows", form="lenient.row"),
    Tolerance("x8", ".x8 is taken with 1, 2 or 4 registers", "off-table 33", form="lenient.load"),
    Tolerance("x8", ".x8 is taken with 1, 2 or 4 registers", "off-table 33", form="lenient.store"),
)
