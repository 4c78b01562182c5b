"""The older matrix instructions through memory: every shape, type, layout and stride."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from isa.fake import FakeWarps
from isa.matrices import Array, cases, decode, encode, hold, numbers, product_of, vector, wrapped

from warploom.isa.instructions import wmma
from warploom.isa.instructions.fragments import register_type
from warploom.isa.model.types import bits_of
from warploom.layout import tiled_fragment

WARPS = 2
PARAMETERS = ("form", "opcode", "slots", "row")


def in_memory(matrix: Array, element: str, by: str, stride: int) -> Array:
    """The bytes of matrices, lines `stride` elements apart. Shapes: (warps, rows, cols) to (warps, bytes)."""
    lines = matrix if by == "row" else matrix.swapaxes(1, 2)
    full = np.zeros((*lines.shape[:2], stride), lines.dtype)
    full[:, :, : lines.shape[2]] = lines
    bits = encode(full, element)
    if element in ("s4", "u4"):
        bits = (bits[..., ::2] & 15 | bits[..., 1::2] << 4).view(np.uint8)
    return np.ascontiguousarray(bits).reshape(len(matrix), -1).view(np.uint8)


@pytest.mark.parametrize(PARAMETERS, cases(wmma.HALF, wmma.FLOAT, wmma.INTEGER, wmma.BIT))
@pytest.mark.parametrize("gap", [0, 16, 32])  # bytes between lines: only 16 need be aligned
def test_products_through_memory(form: Any, opcode: str, slots: dict[str, str], row: Any, gap: int) -> None:
    random = np.random.default_rng(2026)
    shape = slots["shape"]
    m, rest = shape[1:].split("n")
    m, n, k = int(m), *(int(part) for part in rest.split("k"))
    extents = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}
    types = {name: slots.get(f"{name}type", "f16") for name in "abcd"}
    by = {"a": slots["alayout"], "b": slots["blayout"], "c": "col", "d": "col"}
    matrices = {name: numbers(random, (WARPS, *extents[name]), types[name]) for name in "abc"}
    warps = FakeWarps(WARPS, row.targets[0])
    warps.registers["%start"] = np.zeros((WARPS, 32), np.uint64)
    counts = {}
    for name in "abc":
        stride = extents[name][1 if by[name] == "row" else 0] + gap * 8 // bits_of(types[name])
        warps.memory = in_memory(matrices[name], types[name], by[name], stride)
        warps.registers["%stride"] = np.full((WARPS, 32), stride, np.uint32)
        fragment = tiled_fragment("wmma", name.upper(), shape, types[name])
        counts[name] = fragment.registers
        empty = np.zeros((counts[name], WARPS, 32), f"u{fragment.register_bits // 8}")
        hold(warps.registers, name, empty, register_type(types[name]))
        load = f"wmma.load.{name}.sync.aligned.{by[name]}.{shape}.global.{types[name]}"
        warps.run(f"{load} {vector(name, counts[name])}, [%start]{', %stride' if gap else ''};")
    fragment = tiled_fragment("wmma", "D", shape, types["d"])
    counts["d"] = fragment.registers
    empty = np.zeros((counts["d"], WARPS, 32), f"u{fragment.register_bits // 8}")
    hold(warps.registers, "d", empty, register_type(types["d"]))
    warps.run(f"{opcode} {', '.join(vector(name, counts[name]) for name in 'dabc')};")
    stride = m + gap * 8 // bits_of(types["d"])
    width = np.dtype(np.float64).itemsize if types["d"] == "f64" else fragment.bits // 8
    warps.memory = np.full((WARPS, n * stride * width), 0xAA, np.uint8)
    warps.registers["%stride"] = np.full((WARPS, 32), stride, np.uint32)
    store = f"wmma.store.d.sync.aligned.col.{shape}.global.{types['d']}"
    warps.run(f"{store} [%start], {vector('d', counts['d'])}{', %stride' if gap else ''};")
    lines = warps.memory.reshape(WARPS, n, stride * width)
    assert (lines[:, :, m * width :] == 0xAA).all()
    found = np.ascontiguousarray(lines[:, :, : m * width]).view(f"u{width}")
    expected = product_of(matrices["a"], matrices["b"], matrices["c"], slots.get("bitOp", ""))
    if types["d"] == "s32":
        expected = wrapped(expected)
    np.testing.assert_array_equal(decode(found, types["d"]).swapaxes(1, 2), expected)
    assert warps.macs == WARPS * m * n * k


@pytest.mark.parametrize("opcode", ["row.m16n16k16.shared", "m16n16k16.row.shared", "m16n16k16.shared.row"])
def test_words_come_in_the_orders_that_are_written(opcode: str) -> None:
    warps = FakeWarps(4)
    warps.shared = np.arange(512, dtype=np.uint16).view(np.uint8)[None, :].copy()
    warps.registers["%start"] = np.full((4, 32), 64, np.uint32)
    hold(warps.registers, "r", np.zeros((8, 4, 32), np.uint32), "b32")
    warps.run(f"wmma.load.a.sync.aligned.{opcode}.f16 {vector('r', 8)}, [%start+32], 16;")
    fragment = tiled_fragment("wmma", "A", "m16n16k16", "f16")
    held = np.stack([warps.registers[f"%r{item}"] for item in range(8)], axis=1)
    np.testing.assert_array_equal(fragment.gather(held)[0], np.arange(48, 304).reshape(16, 16))
