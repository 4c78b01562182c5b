"""The formulas of the manual's fragments, as it gives them."""

from __future__ import annotations

# The manual's own formulas, word for word in g = groupID, t = threadID_in_group and i (section 9.7.14.5).
# (shape, types, operand): (items, row, col)
ACCUMULATOR_16 = (4, lambda g, t, i: g if i < 2 else g + 8, lambda g, t, i: t * 2 + (i & 1))
ACCUMULATOR_8 = (2, lambda g, t, i: g, lambda g, t, i: t * 2 + (i & 1))
MANUAL = {
    ("m8n8k4", "f64", "A"): (1, lambda g, t, i: g, lambda g, t, i: t),
    ("m8n8k4", "f64", "B"): (1, lambda g, t, i: t, lambda g, t, i: g),
    ("m8n8k4", "f64", "C"): ACCUMULATOR_8,
    ("m8n8k16", "s8 u8", "A"): (4, lambda g, t, i: g, lambda g, t, i: t * 4 + i),
    ("m8n8k16", "s8 u8", "B"): (4, lambda g, t, i: t * 4 + i, lambda g, t, i: g),
    ("m8n8k16", "s32", "C"): ACCUMULATOR_8,
    ("m8n8k32", "s4 u4", "A"): (8, lambda g, t, i: g, lambda g, t, i: t * 8 + i),
    ("m8n8k32", "s4 u4", "B"): (8, lambda g, t, i: t * 8 + i, lambda g, t, i: g),
    ("m8n8k32", "s32", "D"): ACCUMULATOR_8,
    ("m8n8k128", "b1", "A"): (32, lambda g, t, i: g, lambda g, t, i: t * 32 + i),
    ("m8n8k128", "b1", "B"): (32, lambda g, t, i: t * 32 + i, lambda g, t, i: g),
    ("m8n8k128", "s32", "D"): ACCUMULATOR_8,
    ("m16n8k4", "tf32 f64", "A"): (2, lambda g, t, i: g if i == 0 else g + 8, lambda g, t, i: t),
    ("m16n8k4", "tf32 f64", "B"): (1, lambda g, t, i: t, lambda g, t, i: g),
    ("m16n8k4", "f32 f64", "C"): ACCUMULATOR_16,
    ("m16n8k8", "f16 bf16", "A"): (4, lambda g, t, i: g if i in (0, 1) else g + 8, lambda g, t, i: t * 2 + (i & 1)),
    ("m16n8k8", "tf32 f64", "A"): (
        4,
        lambda g, t, i: g if i in (0, 2) else g + 8,
        lambda g, t, i: t if i in (0, 1) else t + 4,
    ),
    ("m16n8k8", "f16 bf16", "B"): (2, lambda g, t, i: t * 2 + i, lambda g, t, i: g),
    ("m16n8k8", "tf32 f64", "B"): (2, lambda g, t, i: t if i == 0 else t + 4, lambda g, t, i: g),
    ("m16n8k8", "f16 f32 f64", "D"): ACCUMULATOR_16,
    ("m16n8k16", "f16 bf16", "A"): (
        8,
        lambda g, t, i: g if 0 <= i < 2 or 4 <= i < 6 else g + 8,
        lambda g, t, i: t * 2 + (i & 1) if i < 4 else t * 2 + (i & 1) + 8,
    ),
    ("m16n8k16", "f64", "A"): (
        8,
        lambda g, t, i: g if i % 2 == 0 else g + 8,
        lambda g, t, i: i * 2 + t if i % 2 == 0 else i * 2 - 2 + t,
    ),
    ("m16n8k16", "f16 bf16", "B"): (
        4,
        lambda g, t, i: t * 2 + (i & 1) if i < 2 else t * 2 + (i & 1) + 8,
        lambda g, t, i: g,
    ),
    ("m16n8k16", "f64", "B"): (4, lambda g, t, i: t + i * 4, lambda g, t, i: g),
    ("m16n8k16", "f16 f32 f64 s32", "D"): ACCUMULATOR_16,
    ("m16n8k16", "s8 u8 e4m3 e5m2", "A"): (8, lambda g, t, i: g if i < 4 else g + 8, lambda g, t, i: t * 4 + (i & 3)),
    ("m16n8k16", "s8 u8 e4m3 e5m2", "B"): (4, lambda g, t, i: t * 4 + i, lambda g, t, i: g),
    ("m16n8k32", "s4 u4", "A"): (16, lambda g, t, i: g if i < 8 else g + 8, lambda g, t, i: t * 8 + (i & 7)),
    ("m16n8k32", "s8 u8 e4m3 e5m2 e3m2 e2m3 e2m1", "A"): (
        16,
        lambda g, t, i: g if 0 <= i < 4 or 8 <= i < 12 else g + 8,
        lambda g, t, i: t * 4 + (i & 3) if i < 8 else t * 4 + (i & 3) + 16,
    ),
    ("m16n8k32", "s4 u4", "B"): (8, lambda g, t, i: t * 8 + (i & 7), lambda g, t, i: g),
    ("m16n8k32", "s8 u8 e4m3 e5m2 e3m2 e2m3 e2m1", "B"): (
        8,
        lambda g, t, i: t * 4 + (i & 3) if i < 4 else t * 4 + (i & 3) + 16,
        lambda g, t, i: g,
    ),
    ("m16n8k32", "s32 f32 f16", "D"): ACCUMULATOR_16,
    ("m16n8k64", "s4 u4 e2m1", "A"): (
        32,
        lambda g, t, i: g if 0 <= i < 8 or 16 <= i < 24 else g + 8,
        lambda g, t, i: t * 8 + (i & 7) if i < 16 else t * 8 + (i & 7) + 32,
    ),
    ("m16n8k64", "s4 u4 e2m1", "B"): (
        16,
        lambda g, t, i: t * 8 + (i & 7) if i < 8 else t * 8 + (i & 7) + 32,
        lambda g, t, i: g,
    ),
    ("m16n8k64", "s32 f32", "D"): ACCUMULATOR_16,
    ("m16n8k128", "b1", "A"): (64, lambda g, t, i: g if i < 32 else g + 8, lambda g, t, i: t * 32 + (i & 0x1F)),
    ("m16n8k128", "b1", "B"): (32, lambda g, t, i: t * 32 + i, lambda g, t, i: g),
    ("m16n8k256", "b1", "A"): (
        128,
        lambda g, t, i: g if 0 <= i < 32 or 64 <= i < 96 else g + 8,
        lambda g, t, i: t * 32 + (i & 0x1F) if i < 64 else t * 32 + (i & 0x1F) + 128,
    ),
    ("m16n8k256", "b1", "B"): (
        64,
        lambda g, t, i: t * 32 + (i & 0x1F) if i < 32 else t * 32 + (i & 0x1F) + 128,
        lambda g, t, i: g,
    ),
    ("m16n8k256", "s32", "D"): ACCUMULATOR_16,
}
