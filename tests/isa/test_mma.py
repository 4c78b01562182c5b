"""Every shape and type of the dense warp-level multiplications against whole-number products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from isa.fake import FakeWarps
from isa.matrices import cases, decode, encode, hold, numbers, padded, product_of, registers_of, vector, wrapped

from warploom.isa.instructions import mma
from warploom.isa.instructions.fragments import register_type
from warploom.layout import warp_fragment

WARPS = 3
PARAMETERS = ("form", "opcode", "slots", "row")


def rng() -> np.random.Generator:
    return np.random.default_rng(2026)


@pytest.mark.parametrize(PARAMETERS, cases(mma.HALF, mma.FLOAT, mma.DOUBLE, mma.INTEGER, mma.BIT))
def test_dense_products(form: Any, opcode: str, slots: dict[str, str], row: Any) -> None:
    warps = FakeWarps(WARPS, row.targets[0])
    run_mma(warps, opcode, slots)


def run_mma(warps: FakeWarps, opcode: str, slots: dict[str, str]) -> None:
    shape, random = slots["shape"], rng()
    m, rest = shape[1:].split("n")
    m, n, k = int(m), *(int(part) for part in rest.split("k"))
    maps = {
        name: warp_fragment("mma", name.upper(), shape, slots[f"{name}type"], layout=slots.get(f"{name}layout", ""))
        for name in "abcd"
    }
    batch = warps.count * maps["a"].tiles
    a = numbers(random, (batch, m, k), slots["atype"])
    b = numbers(random, (batch, k, n), slots["btype"])
    c = numbers(random, (batch, m, n), slots["ctype"])
    b_bits = encode(b.swapaxes(1, 2), slots["btype"]).swapaxes(1, 2)
    for name, bits in (("a", encode(a, slots["atype"])), ("b", b_bits), ("c", encode(c, slots["ctype"]))):
        element = slots[f"{name}type"]
        values = registers_of(maps[name], padded(bits, slots, element), element)
        hold(warps.registers, name, values, register_type(element))
    d_type = register_type(slots["dtype"])
    bits = maps["d"].register_bits // 8
    hold(warps.registers, "d", np.zeros((maps["d"].registers, warps.count, 32), f"u{bits}"), d_type)
    operands = ", ".join(vector(name, maps[name].registers) for name in "dabc")
    warps.run(f"{opcode} {operands};")
    held = np.stack([warps.registers[f"%d{item}"] for item in range(maps["d"].registers)], axis=1)
    got = maps["d"].gather(held).reshape(batch, m, n)
    expected = product_of(a, b, c, slots.get("bitOp", ""))
    if slots["dtype"] == "s32":
        expected = wrapped(expected)
    np.testing.assert_array_equal(decode(got, slots["dtype"]), expected)
    assert warps.macs == batch * m * n * k


def test_saturation_clamps_where_wrapping_would_not() -> None:
    for opcode, top in (
        ("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.u8.s32", 2**31 - 1),
        ("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32", -(2**31) + 15),
        ("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32.satfinite", 2**31 - 1),
    ):
        warps = FakeWarps(1)
        ones = np.full((1, 1, 32), 0x01010101, np.uint32)
        for name in "ab":
            hold(warps.registers, name, ones, "b32")
        for name in "cd":
            hold(warps.registers, name, np.full((2, 1, 32), 2**31 - 1, np.int32), "s32")
        warps.run(f"{opcode} {{%d0, %d1}}, {{%a0}}, {{%b0}}, {{%c0, %c1}};")
        assert (warps.registers["%d0"] == top).all()


def test_double_rounding_follows_the_modifier() -> None:
    tiny = 2.0**-60
    for rounding, expected in (("", 1.0), (".rz", 1.0), (".rp", 1 + 2.0**-52), (".rm", 1.0)):
        warps = FakeWarps(1)
        hold(warps.registers, "a", np.full((1, 1, 32), tiny), "f64")
        hold(warps.registers, "b", np.ones((1, 1, 32)), "f64")
        for name in "cd":
            hold(warps.registers, name, np.ones((2, 1, 32)), "f64")
        opcode = f"mma.sync.aligned.m8n8k4.row.col{rounding}.f64.f64.f64.f64"
        warps.run(f"{opcode} {{%d0, %d1}}, {{%a0}}, {{%b0}}, {{%c0, %c1}};")
        if rounding != ".rp":
            assert (warps.registers["%d0"] == expected).all()
        else:
            assert (warps.registers["%d0"] > 1).all()


@pytest.mark.parametrize(PARAMETERS, cases(mma.SCALED))
@pytest.mark.parametrize("selector", ["last", "registers"])
def test_block_scaled_products(form: Any, opcode: str, slots: dict[str, str], row: Any, selector: str) -> None:
    random, shape = rng(), slots["shape"]
    k = int(shape.partition("k")[2])
    digit = slots["scale_vec"][-2:-1]
    vectors = int(digit) if digit else 1 if k == 32 else 2
    byte, thread_a, thread_b = 4 - vectors, 1, 3
    warps = FakeWarps(WARPS, row.targets[0])
    a, b = numbers(random, (WARPS, 16, k), slots["atype"]), numbers(random, (WARPS, k, 8), slots["btype"])
    c = numbers(random, (WARPS, 16, 8), "f32")
    for name, matrix in (("a", a), ("b", b), ("c", c)):
        element = slots[f"{name}type"]
        fragment = warp_fragment("mma", name.upper(), shape, element)
        values = registers_of(fragment, padded(encode(matrix, element), slots, element), element)
        hold(warps.registers, name, values, register_type(element))
    hold(warps.registers, "d", np.zeros((4, WARPS, 32), np.uint32), "f32")
    # Powers of two: ue8m0 counts them from 127, ue4m3 from 7 and over three mantissa bits.
    power_a, power_b = (random.integers(-2, 3, (WARPS, 16, vectors)), random.integers(-2, 3, (WARPS, 8, vectors)))
    words_a, words_b = random.integers(0, 2**32, (2, WARPS, 32), np.uint32)
    for power, words, is_a in ((power_a, words_a, True), (power_b, words_b, False)):
        bits = power + 127 if slots["stype"] == "ue8m0" else (power + 7) << 3
        view = words.view(np.uint8).reshape(WARPS, 32, 4)
        for line in range(power.shape[1]):
            lane = 4 * (line % 8) + (2 * thread_a + line // 8 if is_a else thread_b)
            view[:, lane, byte : byte + vectors] = bits[:, line]
    warps.registers |= {"%sa": words_a, "%sb": words_b}
    operands = "{%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, {%b0,%b1}, {%c0,%c1,%c2,%c3}"
    chosen = f"{{{byte}, {thread_a}}}", f"{{{byte}, {thread_b}}}"
    if selector == "registers":
        for name, value in (("byte", byte), ("ta", thread_a), ("tb", thread_b)):
            warps.registers[f"%{name}"] = np.full((WARPS, 32), value, np.uint16)
        chosen = "{%byte, %ta}", "{%byte, %tb}"
    warps.run(f"{opcode} {operands}, %sa, {chosen[0]}, %sb, {chosen[1]};")
    scaled_a = a * np.repeat(2.0**power_a, k // vectors, axis=2)
    scaled_b = b * np.repeat(2.0**power_b, k // vectors, axis=2).swapaxes(1, 2)
    fragment = warp_fragment("mma", "D", shape, "f32")
    got = fragment.gather(np.stack([warps.registers[f"%d{item}"] for item in range(4)], axis=1))
    np.testing.assert_array_equal(got, scaled_a @ scaled_b + c)
