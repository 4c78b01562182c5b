"""Loads, stores, copies and shifts of tensor memory, compared with the manual's figures in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.tensor_texts import (
    COMMIT,
    WAIT,
    WORDS,
    by_thread_0,
    dump,
    fill,
    launch,
    load_registers,
    registers,
    share,
    store_registers,
    tensor_kernel,
)

import warploom as wl

SIZES = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}
REPEATS = [(shape, num) for shape, size in SIZES.items() for num in (1, 2, 8, 32, 128) if num * size <= 128]


def place(shape: str, num: int, thread: int, register: int) -> tuple[int, int]:
    """Return the lane and the column of a register, counted from the address, as the manual's figures show them.

    The second half of 16x32bx2 has columns from 1000 on.
    """
    if shape == "32x32b":
        return thread, register
    if shape == "16x32bx2":
        return thread % 16, register + 1000 * (thread // 16)
    quad, within = divmod(thread, 4)
    if shape == "16x64b":
        return quad + 8 * (within % 2), within // 2 + 2 * register
    if shape == "16x128b":
        return quad + 8 * (register % 2), within + 4 * (register // 2)
    part, at = divmod(register, 4)
    return quad + 8 * (at // 2), 8 * part + 2 * within + at % 2


@pytest.mark.parametrize("packed", [False, True], ids=["words", "packed"])
@pytest.mark.parametrize(("shape", "num"), REPEATS)
def test_loads_and_stores_follow_the_figures(shape: str, num: int, packed: bool) -> None:
    if packed and num * SIZES[shape] == 128:
        num //= 2  # so that the columns fit
    count, column, split = num * SIZES[shape], 3, 260
    lane = 16 if shape.startswith("16") else 0
    half = f", {split}" if shape == "16x32bx2" else ""
    address = f"[%w+{column + (lane << 16)}]"
    opcode = f"sync.aligned.{shape}.x{num}"
    load = f"tcgen05.ld.{opcode}{'.pack::16b' * packed}.b32 {registers(count)}, {address}{half};\n"
    store = f"tcgen05.st.{opcode}{'.unpack::16b' * packed}.b32 {address}{half}, {registers(count)};\n"
    places = np.zeros((128, count, 2 if packed else 1), np.int64)
    for thread in range(128):
        for register in range(count):
            for part in range(places.shape[2]):
                row, col = place(shape, num, thread % 32, register)
                beyond, col = divmod(col, 1000)
                if packed:
                    # Adjacent columns share a register: the columns are twice as many.
                    col = 2 * col + part
                places[thread, register, part] = (thread // 32 * 32 + lane + row) * 512 + column + col + beyond * split
    words = WORDS.reshape(-1)[places]
    expected = words[..., 0] if not packed else words[..., 0] & 0xFFFF | words[..., 1] << 16
    text = tensor_kernel(fill() + load + "tcgen05.wait::ld.sync.aligned;\n" + store_registers(count))
    found = launch(text, WORDS, np.zeros((128, count), np.uint32), "lazy")
    np.testing.assert_array_equal(found, expected)
    values = np.arange(128 * count, dtype=np.uint32).reshape(128, count) * np.uint32(40503)
    zero = tensor_kernel(
        fill().replace("ld.global", "//") + load_registers(count) + store + "tcgen05.wait::st.sync.aligned;\n" + dump()
    )
    found = launch(zero, values, np.zeros((128, 512), np.uint32), "lazy").reshape(-1)
    after = np.zeros(128 * 512, np.uint32)
    for part in range(places.shape[2]):
        after[places[..., part]] = values >> 16 * part & 0xFFFF if packed else values
    np.testing.assert_array_equal(found, after)


@pytest.mark.parametrize("kind", ["f32", "u32", "s32"])
@pytest.mark.parametrize("operation", ["min", "max"])
@pytest.mark.parametrize("modifiers", ["", ".abs", ".NaN"])
def test_reductions(kind: str, operation: str, modifiers: str) -> None:
    if kind != "f32" and modifiers:
        return
    rng = np.random.default_rng(5)
    data = rng.integers(0, 1 << 32, (128, 8), dtype=np.uint64).astype(np.uint32)
    if kind == "f32":
        values = rng.standard_normal((128, 8)).astype(np.float32)
        values[3, 2], values[4] = np.nan, np.nan
        data = values.view(np.uint32)
    vector = ", ".join(f"%f{i}" for i in range(8)) if kind == "f32" else registers(8)[1:-1]
    result = "%f9" if kind == "f32" else "%v9"
    body = fill(32).replace("ld.global.u32", "ld.global.u32") + (
        f"tcgen05.ld.red.sync.aligned.32x32b.x8.{operation}{modifiers}.{kind} {{{vector}}}, {result}, [%w];\n"
        "tcgen05.wait::ld.sync.aligned;\n" + f"mov.b32 %v0, {result};\n" + store_registers(1)
    )
    wide = np.zeros((128, 32), np.uint32)
    wide[:, :8] = data
    found = launch(tensor_kernel(body, columns=32, target="sm_103a"), wide, np.zeros((128, 1), np.uint32))[:, 0]
    if kind != "f32":
        typed = data.view(np.int32 if kind == "s32" else np.uint32)
        expected = (typed.min(axis=1) if operation == "min" else typed.max(axis=1)).view(np.uint32)
    else:
        values = np.abs(values) if "abs" in modifiers else values
        if "NaN" in modifiers:
            reduced = values.min(axis=1) if operation == "min" else values.max(axis=1)
        else:
            reduced = np.fmin.reduce(values, axis=1) if operation == "min" else np.fmax.reduce(values, axis=1)
        expected = np.where(np.isnan(reduced), np.uint32(0x7FFFFFFF), reduced.view(np.uint32))
    np.testing.assert_array_equal(found, expected)


# Copies from shared memory --------------------------------------------------------------------------------

SHAPES = [
    ("128x256b", "", (0, 32, 64, 96)),
    ("128x128b", "", (0, 32, 64, 96)),
    ("64x128b", ".warpx2::02_13", (0, 32, 0, 32)),
    ("64x128b", ".warpx2::01_23", (0, 0, 32, 32)),
    ("32x128b", ".warpx4", (0, 0, 0, 0)),
    ("4x256b", "", ()),
]


def decompressed(chunks: np.ndarray, format: str) -> np.ndarray:
    """Return the bytes that 16-byte chunks become. Elements of 4 bits are in the middle of their bytes."""
    if not format:
        return chunks
    bits = np.unpackbits(chunks, axis=-1, bitorder="little")
    size = 4 if format.startswith("b4") else 6
    elements = bits[..., : 16 * size].reshape(*chunks.shape[:-1], 16, size)
    values = (elements << np.arange(size, dtype=np.uint8)).sum(axis=-1).astype(np.uint8)
    return values << 2 if size == 4 else values


@pytest.mark.parametrize("format", ["", "b4x16_p64", "b6x16_p32"])
@pytest.mark.parametrize("swizzle", [0, 32, 128])
@pytest.mark.parametrize(("shape", "multicast", "sources"), SHAPES)
def test_copies(shape: str, multicast: str, sources: tuple[int, ...], swizzle: int, format: str) -> None:
    rows, bits = (int(word) for word in shape.removesuffix("b").split("x"))
    data = np.random.default_rng(6).integers(0, 256, 32768).astype(np.uint8)
    descriptor = wl.UmmaDescriptor.packed(128, 32, "u8", swizzle=swizzle)
    addresses = descriptor.addresses(rows, bits // 8, 1)
    source = data[addresses].reshape(rows, -1, 16)
    words = np.ascontiguousarray(decompressed(source, format)).view(np.uint32).reshape(rows, bits // 32)
    expected = np.zeros((128, 32), np.uint32)
    lane = 31 if rows == 4 else 0
    for target in range(128):
        if rows == 4:
            if target % 32 == 31:
                expected[target, 5 : 5 + bits // 32] = words[target // 32]
        else:
            expected[target, 5 : 5 + bits // 32] = words[sources[target // 32] + target % 32]
    suffix = f".b8x16.{format}" if format else ""
    copy = f"""
    mov.u32 %r2, area; shr.u32 %r2, %r2, 4; cvt.u64.u32 %rd2, %r2; add.u64 %rd2, %rd2, {descriptor.encode()};
    tcgen05.cp.cta_group::1.{shape}{multicast}{suffix} [%t+{5 + (lane << 16)}], %rd2;
    {COMMIT}
    """
    zero = "".join(f"mov.u32 %v{i}, 0;\n" for i in range(32))
    zero += (
        f"tcgen05.st.sync.aligned.32x32b.x32.b32 [%w], {registers(32)};\ntcgen05.wait::st.sync.aligned;\nbar.sync 0;\n"
    )
    text = tensor_kernel(share() + zero + by_thread_0(copy) + WAIT + dump(32), columns=32)
    for schedule in ("eager", "lazy", "random:3"):
        found = launch(text, data, np.zeros((128, 32), np.uint32), schedule)
        np.testing.assert_array_equal(found, expected)


def test_a_shift_moves_31_rows_and_a_copy_refills_the_last() -> None:
    body = (
        fill(32) + "bar.sync 0;\n" + by_thread_0(f"tcgen05.shift.cta_group::1.down [%t+{(32 << 16) + 2}];\n" + COMMIT)
    )
    found = launch(
        tensor_kernel(body + WAIT + dump(32), columns=32), WORDS[:, :32].copy(), np.zeros((128, 32), np.uint32)
    )
    expected = WORDS[:, :32].copy()
    expected[32:63, 2:10] = WORDS[33:64, 2:10]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("schedule", ["eager", "lazy"])
def test_a_warp_that_the_guard_excludes_stores_and_loads_nothing(schedule: str) -> None:
    """Only warp 1 stores, at an address that is legal for no other warp, and only warp 1 loads."""
    body = """
    add.u32 %r2, %t, 0x200000; setp.eq.u32 %p1, %r1, 1; mov.u32 %v0, 5; mov.u32 %v1, 7;
    @%p1 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%v0};
    @%p1 tcgen05.wait::st.sync.aligned;
    @%p1 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v1}, [%r2];
    @%p1 tcgen05.wait::ld.sync.aligned;
    mov.u32 %v0, %v1;
    """
    text = tensor_kernel(body + store_registers(1), columns=32)
    found = launch(text, WORDS[:1].copy(), np.zeros((128, 1), np.uint32), schedule)
    np.testing.assert_array_equal(found[:, 0], [7] * 32 + [5] * 32 + [7] * 64)
