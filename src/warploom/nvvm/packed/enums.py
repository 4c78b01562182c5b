"""Enumerations of the packed words of matrix builtins."""

from __future__ import annotations

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
MATRICES = {0: "a", 1: "b", 2: "c", 3: "d"}
OPERATIONS = {0: "", 1: "and.popc", 2: "xor.popc"}
ROUNDINGS = {0: "", 1: "rn", 2: "rm", 3: "rp", 4: "rz"}
LAYOUTS = {0: "row", 1: "col"}
MMA_LAYOUTS = {0: "", 1: "row", 2: "col"}
