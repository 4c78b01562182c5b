"""Every shape, type and selector of the sparse warp-level multiplications against whole-number products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from isa.fake import FakeWarps
from isa.matrices import (
    cases,
    decode,
    encode,
    hold,
    numbers,
    padded,
    product_of,
    registers_of,
    stored_and_dense,
    vector,
    wrapped,
)

from warploom.isa.instructions import sparse
from warploom.isa.instructions.fragments import register_type, selectors
from warploom.layout import metadata as metadata_map
from warploom.layout import warp_fragment

WARPS = 3
PARAMETERS = ("form", "opcode", "slots", "row")


def rng() -> np.random.Generator:
    return np.random.default_rng(2026)


def _hold_matrix(warps: FakeWarps, name: str, matrix: np.ndarray, slots: dict[str, str]) -> int:
    """Write a matrix to the registers of its operand, and return the number of registers."""
    element = slots[f"{name}type"]
    fragment = warp_fragment("mma", name.upper(), slots["shape"], element, sparse=True)
    values = registers_of(fragment, padded(encode(matrix, element), slots, element), element)
    hold(warps.registers, name, values, register_type(element))
    return fragment.registers


def _metadata(
    random: np.random.Generator, nibbles: np.ndarray, slots: dict[str, str], selector: int
) -> np.ndarray:  # fmt: skip
    where = metadata_map("mma", slots["shape"], slots["atype"], selector)
    metadata = random.integers(0, 2**32, (WARPS, 32), np.uint32)
    metadata[:, np.unique(where.lane)] = 0
    for line, at in np.ndindex(where.lane.shape):
        metadata[:, where.lane[line, at]] |= nibbles[:, line, at].astype(np.uint32) << np.uint32(where.bit[line, at])
    return metadata


@pytest.mark.parametrize(PARAMETERS, cases(sparse.FLOAT, sparse.INTEGER))
def test_sparse_products(form: Any, opcode: str, slots: dict[str, str], row: Any) -> None:
    random, shape = rng(), slots["shape"]
    k = int(shape.partition("k")[2])
    stored, dense, nibbles = stored_and_dense(random, slots["atype"], (WARPS, 16, k))
    b, c = numbers(random, (WARPS, k, 8), slots["btype"]), numbers(random, (WARPS, 16, 8), slots["ctype"])
    for selector in selectors(slots):
        warps = FakeWarps(WARPS, row.targets[0])
        counts = {}
        for name, matrix in (("a", stored), ("b", b), ("c", c)):
            counts[name] = _hold_matrix(warps, name, matrix, slots)
        accumulator = warp_fragment("mma", "D", shape, slots["dtype"])
        counts["d"] = accumulator.registers
        empty = np.zeros((accumulator.registers, WARPS, 32), np.uint32)
        hold(warps.registers, "d", empty, register_type(slots["dtype"]))
        warps.registers["%e"] = _metadata(random, nibbles, slots, selector)
        operands = ", ".join(vector(name, counts[name]) for name in "dabc")
        warps.run(f"{opcode} {operands}, %e, {selector};")
        held = np.stack([warps.registers[f"%d{item}"] for item in range(counts["d"])], axis=1)
        expected = product_of(dense, b, c)
        if slots["dtype"] == "s32":
            expected = wrapped(expected)
        np.testing.assert_array_equal(decode(accumulator.gather(held), slots["dtype"]), expected)


@pytest.mark.parametrize(PARAMETERS, cases(sparse.SCALED))
def test_block_scaled_sparse_products(form: Any, opcode: str, slots: dict[str, str], row: Any) -> None:
    random, shape = rng(), slots["shape"]
    k = int(shape.partition("k")[2])
    digit = slots["scale_vec"][-2:-1]
    vectors = int(digit) if digit else 1 if k == 64 else 2
    byte, thread_a, thread_b = 4 - vectors, 1, 3
    warps = FakeWarps(WARPS, row.targets[0])
    stored, dense, nibbles = stored_and_dense(random, slots["atype"], (WARPS, 16, k), pairs_of_4_bits=k == 128)
    b, c = numbers(random, (WARPS, k, 8), slots["btype"]), numbers(random, (WARPS, 16, 8), "f32")
    counts = {name: _hold_matrix(warps, name, matrix, slots) for name, matrix in (("a", stored), ("b", b), ("c", c))}
    hold(warps.registers, "d", np.zeros((4, WARPS, 32), np.uint32), "f32")
    warps.registers["%e"] = _metadata(random, nibbles, slots, 0)
    powers = random.integers(-2, 3, (WARPS, 16, vectors)), random.integers(-2, 3, (WARPS, 8, vectors))
    for name, power in zip("ab", powers, strict=True):
        words = random.integers(0, 2**32, (WARPS, 32), np.uint32)
        bits = power + 127 if slots["stype"] == "ue8m0" else (power + 7) << 3
        for line in range(power.shape[1]):
            lane = 4 * (line % 8) + (2 * thread_a + line // 8 if name == "a" else thread_b)
            words.view(np.uint8).reshape(WARPS, 32, 4)[:, lane, byte : byte + vectors] = bits[:, line]
        warps.registers[f"%s{name}"] = words
    operands = ", ".join(vector(name, count) for name, count in (("d", 4), *counts.items()))
    warps.run(f"{opcode} {operands}, %e, 0, %sa, {{{byte}, {thread_a}}}, %sb, {{{byte}, {thread_b}}};")
    scaled_a = dense * np.repeat(2.0 ** powers[0], k // vectors, axis=2)
    scaled_b = b * np.repeat(2.0 ** powers[1], k // vectors, axis=2).swapaxes(1, 2)
    accumulator = warp_fragment("mma", "D", shape, "f32")
    got = accumulator.gather(np.stack([warps.registers[f"%d{item}"] for item in range(4)], axis=1))
    np.testing.assert_array_equal(got, scaled_a @ scaled_b + c)
