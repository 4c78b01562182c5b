"""What numbers in packed words stand for: shapes, element types, layouts and the rest.

The real availability of a shape is not here: it is that of the Forms (`first_targets`).
"""

from __future__ import annotations

from functools import cache

from warploom import isa
from warploom.isa.model.form import forms

SHAPES = {
    0x01: "m8n8k4",
    0x02: "m8n8k16",
    0x03: "m8n8k32",
    0x04: "m8n8k64",
    0x05: "m8n8k128",
    0x06: "m8n32k16",
    0x10: "m16n8k4",
    0x11: "m16n8k8",
    0x12: "m16n8k16",
    0x13: "m16n8k32",
    0x14: "m16n8k64",
    0x15: "m16n8k128",
    0x16: "m16n8k256",
    0x17: "m16n16k16",
    0x18: "m32n8k16",
    0x19: "m16n16k8",
}
TYPES = {
    1: "b1",
    2: "s4",
    3: "u4",
    4: "s8",
    5: "u8",
    6: "f16",
    7: "bf16",
    8: "tf32",
    9: "f64",
    10: "f32",
    11: "s32",
}
BITS = {
    "b1": 1, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "f16": 16, "bf16": 16, "tf32": 19, "f64": 64, "f32": 32, "s32": 32,
}  # fmt: skip
"""Bits of an element that count; a tf32 stands in 32 of which 19 do."""
MATRICES = {0: "a", 1: "b", 2: "c", 3: "d"}
OPERATIONS = {0: "", 1: "and.popc", 2: "xor.popc"}
ROUNDINGS = {0: "", 1: "rn", 2: "rm", 3: "rp", 4: "rz"}
LAYOUTS = {0: "row", 1: "col"}
MMA_LAYOUTS = {0: "", 1: "row", 2: "col"}


@cache
def first_targets(shape: str, *, sparse: bool = False) -> dict[str, str]:
    """Type of A -> the first target whose warps multiply a shape, as the Forms have it; empty where none does.

    Source: the rows of the Forms of families mma and wmma, or, of 2:4 sparse A, sparse.
    """
    found: dict[str, str] = {}
    for form in forms():
        if form.family not in (("sparse",) if sparse else ("mma", "wmma")) or "a" not in form.operands:
            continue
        for row in form.rows:
            if not row.allows("shape", shape):
                continue
            for element in row.cells.get("atype", ("f16",)):
                found[element] = min((*row.targets, found.get(element, row.targets[0])), key=_number)
    return found


def _number(target: str) -> int:
    return int(target.removeprefix("sm_").rstrip("af"))


_ = isa  # its import declares every form
