"""Enumerations of the packed words of matrix builtins."""

from __future__ import annotations


def _numbered(words: str, first: int = 0) -> dict[int, str]:
    """Return words by consecutive numbers; `-` is the empty word."""
    return {number: word.strip("-") for number, word in enumerate(words.split(), first)}


SHAPES = _numbered("m8n8k4 m8n8k16 m8n8k32 m8n8k64 m8n8k128 m8n32k16", 0x01) | _numbered(
    "m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128 m16n8k256 m16n16k16 m32n8k16 m16n16k8", 0x10
)
TYPES = _numbered("b1 s4 u4 s8 u8 f16 bf16 tf32 f64 f32 s32", 1)
MATRICES = _numbered("a b c d")
OPERATIONS = _numbered("- and.popc xor.popc")
ROUNDINGS = _numbered("- rn rm rp rz")
LAYOUTS = _numbered("row col")
MMA_LAYOUTS = _numbered("- row col")
