"""Every type of the warpgroup multiplications, through descriptors and registers, against whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from isa.fake import FakeWarps
from isa.matrices import Array, cases, decode, encode, hold, numbers, product_of, stored_and_dense, vector, wrapped

from warploom.isa.instructions import wgmma
from warploom.isa.instructions.fragments import register_type, selectors
from warploom.isa.model.form import Form
from warploom.layout import Descriptor, warpgroup_fragment
from warploom.layout import metadata as metadata_map

GROUPS = 4
PARAMETERS = ("form", "opcode", "slots", "row")
FORMS = (
    wgmma.HALF, wgmma.HALF_REGISTERS, wgmma.FLOAT, wgmma.FLOAT_REGISTERS, wgmma.INTEGER,
    wgmma.INTEGER_REGISTERS, wgmma.BIT, wgmma.BIT_REGISTERS, wgmma.SPARSE_HALF, wgmma.SPARSE_HALF_REGISTERS,
    wgmma.SPARSE_FLOAT, wgmma.SPARSE_FLOAT_REGISTERS, wgmma.SPARSE_INTEGER, wgmma.SPARSE_INTEGER_REGISTERS,
)  # fmt: skip


def place(warps: FakeWarps, matrix: Array, element: str, start: int, swizzle: int, major: str) -> Array:
    """Put (groups, rows, K) bits into shared memory and return each group's descriptor.

    Groups 1 and 3 have an operand that starts 2048 bytes later, and the last group a swizzle of its own.
    """
    descriptors = np.zeros(GROUPS, np.uint64)
    _, rows, k = matrix.shape
    width = matrix.itemsize
    for group in range(GROUPS):
        span = (0 if swizzle else 32) if group == GROUPS - 1 else swizzle
        if major == "K" and span == 0:
            leading, stride = 128, 8 * k * width
        elif major == "K":
            leading, stride = rows * span, 8 * span
        elif span == 0:
            leading, stride = 16 * rows, 128
        else:
            leading, stride = k * span, 8 * span
        at = start + 2048 * (group % 2)
        descriptor = Descriptor(at, leading, stride, 0, span)
        addresses = descriptor.addresses(rows, k, width, major)
        assert len(np.unique(addresses)) == addresses.size
        warps.shared[group].view(matrix.dtype)[addresses // width] = matrix[group]
        descriptors[group] = descriptor.encode()
    return np.repeat(descriptors, 4)[:, None] + np.zeros((1, 32), np.uint64)


def signs_of(form: Form) -> tuple[int, int]:
    return (-1, 1) if "imm_scale_a" in form.operands else (1, 1)


@pytest.mark.parametrize(PARAMETERS, cases(*FORMS))
def test_products(form: Form, opcode: str, slots: dict[str, str], row: Any) -> None:
    check(form, opcode, slots, swizzle=128, transposed=False)


@pytest.mark.parametrize(
    ("form", "opcode", "slots", "row"),
    [case for case in cases(*FORMS) if case.values[2]["n"] == "24" and "half" in case.values[0].name],
)
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_transposed_products(form: Form, opcode: str, slots: dict[str, str], row: Any, swizzle: int) -> None:
    slots = slots | {"n": "64", "shape": slots["shape"].replace("n24", "n64")}
    check(form, opcode.replace("n24", "n64"), slots, swizzle=swizzle, transposed=True)


def check(form: Form, opcode: str, slots: dict[str, str], *, swizzle: int, transposed: bool) -> None:
    random = np.random.default_rng(2026)
    n, k, shape = int(slots["n"]), int(slots["k"]), slots["shape"]
    is_sparse, from_registers = "sp_meta" in form.operands, "a" in form.operands
    major_b = "MN" if transposed else "K"
    major_a = major_b
    warps = FakeWarps(4 * GROUPS, shared=np.zeros((GROUPS, 1 << 17), np.uint8))
    stored, a, nibbles = stored_and_dense(random, slots["atype"], (GROUPS, 64, k))
    if not is_sparse:
        stored = a = numbers(random, (GROUPS, 64, k), slots["atype"])
    b = numbers(random, (GROUPS, k, n), slots["btype"])
    c = numbers(random, (GROUPS, 64, n), "f16" if slots["dtype"] == "f16" else slots["dtype"])
    accumulator = warpgroup_fragment("wgmma", "D", shape, slots["dtype"])
    by_warp = accumulator.scatter(encode(c, slots["dtype"]))
    hold(warps.registers, "d", _to_warps(by_warp), register_type(slots["dtype"]))
    operands = [vector("d", accumulator.registers)]
    if from_registers:
        fragment = warpgroup_fragment("wgmma", "A", shape, slots["atype"], sparse=is_sparse)
        hold(warps.registers, "a", _to_warps(fragment.scatter(encode(stored, slots["atype"]))), "b32")
        operands.append(vector("a", fragment.registers))
    else:
        bits = encode(stored, slots["atype"])
        warps.registers["%ad"] = place(warps, bits, slots["atype"], 1 << 16, swizzle, major_a)
        operands.append("%ad")
    b_bits = encode(np.ascontiguousarray(b.swapaxes(1, 2)), slots["btype"])
    warps.registers["%bd"] = place(warps, b_bits, slots["btype"], 0, swizzle, major_b)
    operands.append("%bd")
    if is_sparse:
        selector = selectors(slots)[-1]
        where = metadata_map("wgmma", shape, slots["atype"], selector)
        metadata = np.zeros((GROUPS, 128), np.uint32)
        for line, at in np.ndindex(where.lane.shape):
            shift = np.uint32(where.bit[line, at])
            metadata[:, where.lane[line, at]] |= nibbles[:, line, at].astype(np.uint32) << shift
        warps.registers["%e"] = metadata.reshape(-1, 32)
        operands += ["%e", str(selector)]
    keeps = np.array([True, False, True, True])
    warps.registers["%p"] = np.repeat(~keeps, 4)[:, None] & np.ones((1, 32), np.bool_)
    operands.append("!%p")
    sign_a, sign_b = signs_of(form)
    if "imm_scale_a" in form.operands:
        operands += [str(sign_a), str(sign_b)]
    for name in ("imm_trans_a", "imm_trans_b"):
        if name in form.operands:
            operands.append(str(int(transposed)))
    warps.run(f"{opcode} {', '.join(operands)};")
    for name in ("%ad", "%bd", "%p"):
        if name in warps.registers:
            warps.registers[name][...] = 0
    warps.run("wgmma.commit_group.sync.aligned;")
    warps.run("wgmma.wait_group.sync.aligned 0;")
    held = np.stack([warps.registers[f"%d{item}"] for item in range(accumulator.registers)], axis=1)
    held = held.reshape(GROUPS, 4, -1, 32).swapaxes(1, 2).reshape(GROUPS, -1, 128)
    got = decode(accumulator.gather(np.ascontiguousarray(held)), slots["dtype"])
    expected = product_of(a * sign_a, b * sign_b, c * keeps[:, None, None], slots.get("bitOp", ""))
    if slots["dtype"] == "s32":
        expected = wrapped(expected)
    np.testing.assert_array_equal(got, expected)
    assert warps.macs == GROUPS * 64 * n * k


def _to_warps(registers: Array) -> Array:
    """(groups, registers, 128) to (registers, warps, 32)."""
    return np.ascontiguousarray(registers.transpose(1, 0, 2)).reshape(registers.shape[1], -1, 32)


def test_groups_with_one_layout_read_their_tiles_in_one_piece() -> None:
    warps = FakeWarps(8, shared=np.zeros((2, 1 << 15), np.uint8))
    starts = np.repeat(np.array([0, 1024 >> 4], np.uint64), 4)[:, None] + np.zeros((1, 32), np.uint64)
    descriptor = Descriptor(0, 16, 1024, 0, 128).encode()
    warps.registers |= {"%ad": starts + np.uint64(descriptor), "%bd": starts + np.uint64(descriptor)}
    hold(warps.registers, "d", np.ones((4, 8, 32), np.float32), "f32")
    opcode = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
    warps.run(f"{opcode} {vector('d', 4)}, %ad, %bd, 0, 1, 1, 0, 0;")
    action, captured = warps.deferred[0]
    action(warps, captured)
    assert warps.tiles == 2
    assert (warps.registers["%d0"] == 0).all()


class Shuffled(FakeWarps):
    """A batch whose warps stand in no order."""

    def warpgroups(self) -> Array:
        return np.array([[6, 1, 4, 3], [7, 2, 0, 5]])


def test_warps_of_a_batch_may_stand_in_any_order() -> None:
    random = np.random.default_rng(7)
    shared = encode(numbers(random, (2, 1024), "f16"), "f16").view(np.uint8)
    c, a = numbers(random, (4, 8, 32), "f32"), numbers(random, (4, 8, 64), "f16")
    descriptor = Descriptor(0, 128, 256, 0, 0).encode()
    results = []
    for warps in (FakeWarps(8, shared=shared), Shuffled(8, shared=shared)):
        place = np.argsort(warps.warpgroups(), axis=None)
        hold(warps.registers, "d", c.astype(np.float32)[:, place], "f32")
        hold(warps.registers, "a", encode(a, "f16").view(np.uint32)[:, place], "b32")
        warps.registers["%bd"] = np.full((8, 32), descriptor, np.uint64)
        opcode = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
        warps.run(f"{opcode} {vector('d', 4)}, {vector('a', 4)}, %bd, 1, 1, 1, 0;")
        action, captured = warps.deferred[0]
        action(warps, captured)
        order = warps.warpgroups().reshape(-1)
        results.append(np.stack([warps.registers[f"%d{item}"][order] for item in range(4)]))
    np.testing.assert_array_equal(*results)
    assert (results[0] != c).any()
