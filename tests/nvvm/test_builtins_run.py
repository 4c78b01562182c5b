"""Builtins lowered to PTX and executed: matrices loaded to fragments, multiplied, and stored."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from isa.matrices import Array, decode, encode, numbers, product_of, registers_of, wrapped

import warploom as wl
from warploom.isa.model.availability import read_target
from warploom.isa.model.types import bits_of
from warploom.layout import Descriptor, tiled_fragment, warpgroup_fragment
from warploom.nvvm import lower
from warploom.nvvm.builtins import BUILTINS, Builtin
from warploom.nvvm.builtins.lowering import translate
from warploom_lab.nvcc.record import instruction_text

SM_90A = read_target("sm_90a")
MULTIPLICATIONS = [each for each in BUILTINS if each.kind == "multiply"]
WORDS = {"f32": np.float32, "f64": np.float64}


def mover(kind: str, matrix: str, shape: str, element: str) -> Builtin:
    """Return the builtin that moves a matrix; bf16 uses the accumulators of f16."""
    return next(
        each
        for each in BUILTINS
        if (each.kind, each.matrix, each.shape) == (kind, matrix, shape) and each.types[matrix] == element
    )


def lowered(text: str) -> str:
    """Return the PTX of a call, which must pass `check`."""
    ptx = lower(text, source="builtin", to="ptx")
    assert not list(wl.check(ptx))
    return ptx


def bytes_of(matrix: Array, element: str, by: str) -> Array:
    """Return the memory of a matrix with contiguous lines."""
    lines = matrix if by == "row" else matrix.T
    bits = encode(np.ascontiguousarray(lines), element)
    if bits_of(element) == 4:
        bits = (bits[..., ::2] & 15 | bits[..., 1::2] << 4).view(np.uint8)
    return np.ascontiguousarray(bits).view(np.uint8).reshape(-1).copy()


def fragment_words(builtin: Builtin, element: str) -> tuple[int, Any]:
    """Return the number and type of a lane's registers of a matrix."""
    matrix = builtin.matrix.upper()
    return tiled_fragment("wmma", matrix, builtin.shape, element).registers, WORDS.get(element, np.int32)


def run_load(builtin: Builtin, matrix: Array, by: str) -> Array:
    """Return the fragments of all lanes."""
    element = builtin.types[builtin.matrix]
    count, word = fragment_words(builtin, element)
    found = np.zeros(32 * count, word)
    stride = matrix.shape[1 if by == "row" else 0]
    text = f"{builtin.name}(&d[threadIdx.x * {count}], s, {stride}, {int(by == 'col')});"
    wl.launch(lowered(text), grid=1, block=32, args=[found, bytes_of(matrix, element, by)])
    return found


def run_store(builtin: Builtin, fragments: Array, extents: tuple[int, int]) -> Array:
    """Return the matrix in memory after a store by rows."""
    element = builtin.types["d"]
    count, word = fragment_words(builtin, element)
    width = bits_of(element) // 8
    found = np.zeros(extents[0] * extents[1] * width, np.uint8)
    text = f"{builtin.name}(d, s + {count} * threadIdx.x, ldm, 0);"
    wl.launch(lowered(text), grid=1, block=32, args=[found, fragments.view(word), np.uint32(extents[1])])
    return decode(found.view(f"u{width}").reshape(extents), element)


def layouts_of(builtin: Builtin) -> set[int]:
    """Return the layouts to run: all for units of few builtins, two for others, one below 8 bits."""
    if builtin.shape in ("m8n8k32", "m8n8k128"):
        return {1}
    return {0, 1, 2, 3} if builtin.unit in ("dmma", "tf32") else {1, builtin.number % 4}


@pytest.mark.parametrize(
    ("builtin", "rowcol"),
    [(builtin, rowcol) for builtin in MULTIPLICATIONS for rowcol in sorted(layouts_of(builtin))],
    ids=lambda each: each.name if isinstance(each, Builtin) else str(each),
)
def test_load_multiply_store(builtin: Builtin, rowcol: int) -> None:
    random = np.random.default_rng(builtin.number)
    m, n, k = map(int, re.findall(r"\d+", builtin.shape))
    types = builtin.types
    extents = {"a": (m, k), "b": (k, n), "c": (m, n)}
    matrices = {name: numbers(random, extents[name], types[name]) for name in "abc"}
    by = {"a": ("row", "col")[rowcol >> 1], "b": ("row", "col")[rowcol & 1], "c": "row"}
    held = {name: run_load(mover("load", name, builtin.shape, types[name]), matrices[name], by[name]) for name in "abc"}
    saturate = "" if builtin.unit == "bmma" else ", 0"
    counts = {name: len(fragments) // 32 for name, fragments in held.items()}
    store = mover("store", "d", builtin.shape, types["d"])
    counts["d"], word = fragment_words(store, types["d"])
    pointers = ", ".join(f"&{name}[threadIdx.x * {counts[name]}]" for name in "dabc")
    found = np.zeros(32 * counts["d"], word)
    ptx = lowered(f"{builtin.name}({pointers}, {rowcol}{saturate});")
    wl.launch(ptx, grid=1, block=32, args=[found, *(held[name] for name in "abc")])
    expected = product_of(*(matrices[name][None] for name in "abc"), builtin.bits)[0]
    if types["d"] == "s32":
        expected = wrapped(expected)
    np.testing.assert_array_equal(run_store(store, found, (m, n)), expected)


@pytest.mark.parametrize(("unit", "largest"), [("s8", 127), ("u8", 255)])
def test_saturation(unit: str, largest: int) -> None:
    name = f"__imma_m16n16k16_mma_{unit}"
    full = np.full(32 * 2, int.from_bytes(bytes([largest] * 4), "little"), np.uint32).view(np.int32)
    c = np.full(32 * 8, 2**31 - 1, np.int32)
    found = np.zeros(32 * 8, np.int32)
    at = "d + 8 * threadIdx.x, a + 2 * threadIdx.x, b + 2 * threadIdx.x, c + 8 * threadIdx.x"
    wl.launch(lowered(f"{name}({at}, 1, 1);"), grid=1, block=32, args=[found, full, full, c])
    assert (found == 2**31 - 1).all()


# Warpgroups -----------------------------------------------------------------------------------------------------

TILE = "tile"
FIRST = 1024  # where the shared memory of a CTA begins
PROLOGUE = f"""
	.shared .align 1024 .b8 {TILE}[8192];
	.reg .b64 %at<4>;
	.reg .b32 %word<4>;
	.reg .pred %more;
	mov.u32 %word0, %tid.x;
	shl.b32 %word0, %word0, 2;
	mov.u32 %word2, {TILE};
	ld.param.u64 %at0, [kernel_param_tile];
$copy:
	cvt.u64.u32 %at1, %word0;
	add.s64 %at1, %at1, %at0;
	ld.global.b32 %word1, [%at1];
	add.u32 %word3, %word2, %word0;
	st.shared.b32 [%word3], %word1;
	add.u32 %word0, %word0, 512;
	setp.lt.u32 %more, %word0, 8192;
	@%more bra $copy;
	fence.proxy.async.shared::cta;
	bar.sync 0;
"""  # Fills shared memory with 8192 bytes before the call.


def with_tiles(ptx: str) -> str:
    """Return the kernel with a last parameter: 8192 bytes to copy to shared memory before the call."""
    head, body = ptx.split("\n)\n{", 1)
    return f"{head},\n\t.param .u64 kernel_param_tile\n)\n{{{PROLOGUE}{body}"


WARPGROUP = [
    # builtin, booleans, A in registers
    ("f16", "000000", False), ("f16", "000010", False), ("f16", "000001", False), ("f16", "101010", False),
    ("f16", "010110", False), ("f16", "000010", True), ("f16", "010101", True), ("bf16", "00000", False),
    ("bf16", "01001", False), ("bf16", "10101", False), ("bf16", "00011", True), ("tf32", "000", False),
    ("tf32", "101", False), ("tf32", "011", True), ("f8", "000010", False), ("f8", "101011", False),
    ("f8", "011100", True), ("f8", "110010", True), ("f8", "001101", False),
]  # fmt: skip


@pytest.mark.parametrize("n", [8, 64])
@pytest.mark.parametrize(("operation", "booleans", "in_registers"), WARPGROUP)
def test_warpgroup_multiplication(operation: str, booleans: str, in_registers: bool, n: int) -> None:
    random = np.random.default_rng(n)
    k = {"tf32": 8, "f8": 32}.get(operation, 16)
    a_argument = "&a[threadIdx.x * 4]" if in_registers else "a"
    kind = "const int *" if in_registers else "unsigned long long "
    flags = ", ".join(booleans)
    text = (
        f"__global__ void kernel(float *d, {kind}a, unsigned long long b) {{"
        f" __wgmma_mma_async_{operation}(64, {n}, {k}, {flags}, &d[threadIdx.x * {n // 2}], {a_argument}, b); }}"
    )
    (call,) = translate(text, SM_90A).calls
    choice = call.selection
    given = dict(zip(call.builtin.booleans, map(int, booleans), strict=True))
    types = {name: choice.words[f"{name}type"] for name in "abd"}
    a, b = numbers(random, (64, k), types["a"]), numbers(random, (k, n), types["b"])
    c = numbers(random, (64, n), types["d"])
    shared = np.zeros(8192, np.uint8)
    descriptors = {}
    transposed = {"a": given.get("trans_a", 0) and not in_registers, "b": given.get("trans_b", 0)}
    for name, matrix, start in (("a", a, 0), ("b", b.T, 4096)):
        bits = encode(np.ascontiguousarray(matrix), types[name])
        rows, width = len(bits), bits.itemsize
        major = "MN" if transposed[name] else "K"
        leading, stride = (16 * rows, 128) if major == "MN" else (128, 8 * k * width)
        descriptor = Descriptor(FIRST + start, leading, stride)
        shared.view(bits.dtype)[(descriptor.addresses(rows, k, width, major) - FIRST) // width] = bits
        descriptors[name] = np.uint64(descriptor.encode())
    fragment = warpgroup_fragment("wgmma", "D", f"m64n{n}k{k}", types["d"])
    words = registers_of(fragment, encode(c, types["d"])[None], types["d"])
    count = len(words)
    held = np.zeros((128, n // 2), np.uint32)
    held[:, :count] = words.view(np.uint32)[:, 0, :].T
    d = held.reshape(-1).view(np.float32).copy()
    first: Any = descriptors["a"]
    if in_registers:
        fragment_a = warpgroup_fragment("wgmma", "A", f"m64n{n}k{k}", types["a"])
        registers = registers_of(fragment_a, encode(a, types["a"])[None], types["a"])
        first = np.ascontiguousarray(registers.view(np.uint32)[:, 0, :].T).reshape(-1).view(np.int32)
    ptx = with_tiles(lower(text, source="builtin"))
    wl.launch(ptx, grid=1, block=128, args=[d, first, descriptors["b"], shared], schedule="lazy")
    signs = (-1) ** (given["neg_a"] + given["neg_b"])
    expected = signs * (a @ b) + given["scale_d"] * c
    found = np.ascontiguousarray(d.view(np.uint32).reshape(128, n // 2)[:, :count].T)[None]
    matrix = fragment.gather(found.view(words.dtype))
    np.testing.assert_array_equal(decode(matrix.reshape(64, n), types["d"]), expected)


def test_selected_instruction_equals_the_instruction_of_the_kernel() -> None:
    for text in (
        "__hmma_m8n32k16_ld_c_f32(d, s, 32, 1);",
        "__wgmma_mma_async_bf16(64, 8, 16, 1, 0, 0, 1, 0, d, a, b);",
    ):
        (call,) = translate(text, SM_90A).calls
        opcode = instruction_text(call).partition(" ")[0]
        assert f"{opcode} " in lower(text, source="builtin")
