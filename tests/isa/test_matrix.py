"""Matrix loads, stores and transposes against the manual's pictures of which lane holds what."""

from __future__ import annotations

import numpy as np
import pytest
from isa.fake import FakeWarps
from isa.matrices import Array, hold, vector

WARPS = 8
NOWHERE = 0xDEAD_BEEF


def prepared(rows: int, seed: int = 1) -> tuple[FakeWarps, Array]:
    """Warps whose first `rows` lanes hold addresses of rows in no order; other lanes hold none.

    No two warps of a CTA have a row in common.
    """
    random = np.random.default_rng(seed)
    shared = random.integers(0, 256, (WARPS // 4, 4096), np.uint8)
    addresses = np.full((WARPS, 32), NOWHERE, np.uint64)
    for cta in range(WARPS // 4):
        chosen = random.permutation(256)[: 4 * rows]
        addresses[4 * cta : 4 * cta + 4, :rows] = 16 * chosen.reshape(4, rows)
    warps = FakeWarps(WARPS, shared=shared)
    warps.registers["%p"] = addresses
    return warps, addresses


def rows_of(warps: FakeWarps, addresses: Array, rows: int) -> Array:
    """Shapes: (warps, rows, 16) bytes."""
    memory = warps.shared[np.arange(WARPS) // 4]
    where = addresses[:, :rows, None].astype(np.int64) + np.arange(16)
    return memory[np.arange(WARPS)[:, None, None], where]


@pytest.mark.parametrize("num", [1, 2, 4])
@pytest.mark.parametrize("words", ["", ".trans", ".shared", ".trans.shared::cta", ".shared.trans"])
def test_ldmatrix_gives_four_lanes_a_row(num: int, words: str) -> None:
    warps, addresses = prepared(8 * num)
    hold(warps.registers, "r", np.zeros((num, WARPS, 32), np.uint32), "b32")
    warps.run(f"ldmatrix.sync.aligned.m8n8.x{num}{words}.b16 {vector('r', num)}, [%p];")
    matrices = rows_of(warps, addresses, 8 * num).view(np.uint16).reshape(WARPS, num, 8, 8)
    if "trans" in words:
        matrices = matrices.swapaxes(2, 3)
    for item in range(num):
        for lane in range(32):
            low, high = (matrices[:, item, lane // 4, 2 * (lane % 4) + half].astype(np.uint32) for half in (0, 1))
            np.testing.assert_array_equal(warps.registers[f"%r{item}"][:, lane], low | high << np.uint32(16))


@pytest.mark.parametrize("num", [1, 2])
def test_ldmatrix_transposes_bytes(num: int) -> None:
    warps, addresses = prepared(16 * num)
    hold(warps.registers, "r", np.zeros((2 * num, WARPS, 32), np.uint32), "b32")
    warps.run(f"ldmatrix.sync.aligned.m16n16.x{num}.trans.shared.b8 {vector('r', 2 * num)}, [%p];")
    rows = rows_of(warps, addresses, 16 * num).reshape(WARPS, num, 16, 16)
    for register in range(2 * num):
        held = warps.registers[f"%r{register}"].view(np.uint8).reshape(WARPS, 32, 4)
        for lane in range(32):
            for byte in range(4):
                row = 4 * (lane % 4) + byte % 2 + 2 * (register % 2)
                expected = rows[:, register // 2, row, lane // 4 + 8 * (byte // 2)]
                np.testing.assert_array_equal(held[:, lane, byte], expected)


@pytest.mark.parametrize("num", [1, 2, 4])
@pytest.mark.parametrize(("source", "bits"), [("b4x16_p64", 4), ("b6x16_p32", 6)])
def test_ldmatrix_widens_narrow_elements(num: int, source: str, bits: int) -> None:
    warps, addresses = prepared(8 * num)
    hold(warps.registers, "r", np.zeros((num, WARPS, 32), np.uint32), "b32")
    warps.run(f"ldmatrix.sync.aligned.m8n16.x{num}.shared.b8x16.{source} {vector('r', num)}, [%p];")
    stream = np.unpackbits(rows_of(warps, addresses, 8 * num), axis=2, bitorder="little")
    elements = stream[:, :, : 16 * bits].reshape(WARPS, num, 8, 16, bits) @ (1 << np.arange(bits))
    for item in range(num):
        held = warps.registers[f"%r{item}"].view(np.uint8).reshape(WARPS, 32, 4)
        np.testing.assert_array_equal(held, elements[:, item].reshape(WARPS, 32, 4))


def test_ldmatrix_widens_and_transposes() -> None:
    plain, addresses = prepared(16)
    packed = rows_of(plain, addresses, 16) & 0x0F
    narrow, _ = prepared(16)
    for warp in range(WARPS):
        for row in range(16):
            at = int(addresses[warp, row])
            plain.shared[warp // 4, at : at + 16] = packed[warp, row]
            narrow.shared[warp // 4, at : at + 8] = packed[warp, row, ::2] | packed[warp, row, 1::2] << 4
    for warps, words in ((plain, "b8"), (narrow, "b8x16.b4x16_p64")):
        hold(warps.registers, "r", np.zeros((2, WARPS, 32), np.uint32), "b32")
        warps.run(f"ldmatrix.sync.aligned.m16n16.x1.trans.shared.{words} {{%r0, %r1}}, [%p];")
    np.testing.assert_array_equal(plain.registers["%r1"], narrow.registers["%r1"])


@pytest.mark.parametrize("num", [1, 2, 4])
@pytest.mark.parametrize(
    ("shape", "words", "element"), [("m8n8", "", "b16"), ("m8n8", ".trans", "b16"), ("m16n8", ".trans", "b8")]
)
def test_stmatrix_writes_its_rows_and_nothing_else(num: int, shape: str, words: str, element: str) -> None:
    warps, addresses = prepared(8 * num)
    registers = np.random.default_rng(3).integers(0, 2**32, (num, WARPS, 32), np.uint32)
    warps.shared[...] = 0
    hold(warps.registers, "r", registers, "b32")
    warps.run(f"stmatrix.sync.aligned.{shape}.x{num}{words}.shared.{element} [%p], {vector('r', num)};")
    rows = rows_of(warps, addresses, 8 * num).reshape(WARPS, num, 8, 16)
    for item in range(num):
        if element == "b16":
            fragments = registers[item].view(np.uint16).reshape(WARPS, 8, 8)
            expected = fragments.swapaxes(1, 2) if words else fragments
            np.testing.assert_array_equal(rows[:, item].view(np.uint16), expected)
        else:
            parts = registers[item].view(np.uint8).reshape(WARPS, 8, 4, 2, 2)
            # (g, t, high row, low column) to (column 2t + low, row g + 8 * high)
            expected = parts.transpose(0, 2, 4, 3, 1).reshape(WARPS, 8, 16)
            np.testing.assert_array_equal(rows[:, item], expected)
    assert np.count_nonzero(warps.shared.reshape(WARPS // 4, -1, 16).any(axis=2)) == 8 * num * WARPS


def test_movmatrix_transposes_across_lanes() -> None:
    warps = FakeWarps(2)
    a = np.random.default_rng(4).integers(0, 2**32, (2, 32), np.uint32)
    warps.registers |= {"%a": a, "%d": np.zeros_like(a)}
    warps.run("movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;")
    matrix, turned = (part.view(np.uint16).reshape(2, 8, 8) for part in (a, warps.registers["%d"]))
    np.testing.assert_array_equal(turned, matrix.swapaxes(1, 2))
