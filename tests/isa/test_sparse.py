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
            element = slots[f"{name}type"]
            fragment = warp_fragment("mma", name.upper(), shape, element, sparse=True)
            values = registers_of(fragment, padded(encode(matrix, element), slots, element), element)
            hold(warps.registers, name, values, register_type(element))
            counts[name] = fragment.registers
        accumulator = warp_fragment("mma", "D", shape, slots["dtype"])
        counts["d"] = accumulator.registers
        empty = np.zeros((accumulator.registers, WARPS, 32), np.uint32)
        hold(warps.registers, "d", empty, register_type(slots["dtype"]))
        where = metadata_map("mma", shape, slots["atype"], selector)
        metadata = random.integers(0, 2**32, (WARPS, 32), np.uint32)
        metadata[:, np.unique(where.lane)] = 0
        for line, at in np.ndindex(where.lane.shape):
            metadata[:, where.lane[line, at]] |= nibbles[:, line, at].astype(np.uint32) << np.uint32(
                where.bit[line, at]
            )
        warps.registers["%e"] = metadata
        operands = ", ".join(vector(name, counts[name]) for name in "dabc")
        warps.run(f"{opcode} {operands}, %e, {selector};")
        held = np.stack([warps.registers[f"%d{item}"] for item in range(counts["d"])], axis=1)
        expected = product_of(dense, b, c)
        if slots["dtype"] == "s32":
            expected = wrapped(expected)
        np.testing.assert_array_equal(decode(accumulator.gather(held), slots["dtype"]), expected)
