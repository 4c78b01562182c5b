"""Descriptors and metadata of multiplications in tensor memory for which the manual defines no result."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from emulator.tensor_texts import COMMIT, WAIT, by_thread_0, fill, launch, tensor_kernel

import warploom as wl

DATA = np.zeros((128, 64), np.uint32)


def multiply(
    idesc: int, kind: str = "f16", *, b: int = 0, sparse: bool = False, scales: str = "", target: str = "sm_100a"
) -> None:
    """Multiply zeros. The bits of `b` are added to those of the descriptor of B. `DATA` has the metadata and scales."""
    whole = wl.UmmaDescriptor.packed(128, 8 * 16, "u8").encode()
    operands = ["[%t+32]", "%rd4", "%rd5", *["[%t+16]"] * sparse, f"{idesc:#x}", *[scales] * 2 * bool(scales), "%p0"]
    opcode = f"tcgen05.mma{'.sp' * sparse}.cta_group::1.kind::{kind}{'.block_scale.block16' * bool(scales)}"
    body = f"""
    {fill(64)}
    mov.u32 %r5, area; shr.u32 %r5, %r5, 4; cvt.u64.u32 %rd4, %r5; or.b64 %rd4, %rd4, {whole:#x};
    or.b64 %rd5, %rd4, {b:#x};
    tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;
    """ + by_thread_0(f"{opcode} {', '.join(operands)};\n{COMMIT}")
    launch(tensor_kernel(body + WAIT, columns=64, target=target), DATA, DATA)


def idesc(kind: str = "f16", element: str = "f16", d: str = "f32", **options: bool) -> int:
    return wl.InstructionDescriptor(kind, 128, 16, element, element, d, **options).encode()


def refused(message: str) -> pytest.RaisesExc[wl.Trap]:
    return pytest.raises(wl.Trap, match=message)


@pytest.mark.parametrize(
    ("kind", "element", "d", "bit", "legal"),
    [
        ("f16", "f16", "f32", 3, False),
        ("f16", "f16", "f32", 13, True),  # the manual's table of kind::f16 has the negation of A and of B
        ("f16", "bf16", "f32", 14, True),
        ("tf32", "tf32", "f32", 3, False),
        ("f8f6f4", "e4m3", "f32", 3, False),
        ("i8", "s8", "s32", 3, True),
        ("i8", "s8", "s32", 13, False),
        ("i8", "u8", "s32", 14, False),
    ],
)
def test_bits_of_other_kinds_are_refused(kind: str, element: str, d: str, bit: int, legal: bool) -> None:
    word = idesc(kind, element, d) | 1 << bit
    if legal:
        multiply(word, kind)
        return
    with refused(f"bit {bit} is reserved in an instruction descriptor of kind {kind}; expected 0"):
        multiply(word, kind)


@pytest.mark.parametrize("bit", [14, 15, 30, 31])
def test_bits_of_no_field_of_a_matrix_descriptor_are_refused(bit: int) -> None:
    # The message has the value in the register, with its start address.
    with refused(r"0x[0-9a-f]+40 is no tcgen05 matrix descriptor; expected 0 in bits 15-14 and 31-30"):
        multiply(idesc(), b=1 << bit)


def test_a_wrong_constant_is_reported_with_the_value_of_the_register() -> None:
    with refused(r"0x[0-9a-f]+40 is no tcgen05 matrix descriptor; expected 0b001 in bits 48-46"):
        multiply(idesc(), b=1 << 47)


@pytest.mark.parametrize("target", ["sm_100a", "sm_100f", "sm_103f"])
def test_k_of_96_is_for_one_architecture(target: str) -> None:
    with refused(rf"K is 96 in the instruction descriptor \(bit 31\) on {target}; expected K = 64, or .* sm_103a"):
        multiply(idesc("mxf4nvf4", "e2m1", k96=True), "mxf4nvf4", scales="[%t]", target=target)


@pytest.mark.parametrize(
    ("kind", "element", "nibble", "legal"),
    [
        ("f16", "f16", 0b0000, False),
        ("f16", "f16", 0b0001, False),  # two indices in descending order
        ("f16", "f16", 0b1010, False),
        ("f16", "f16", 0b0110, True),  # the only such pair that the manual lists
        ("f16", "f16", 0b1110, True),
        ("tf32", "tf32", 0b1110, True),
        ("tf32", "tf32", 0b1100, False),
        ("f8f6f4", "e4m3", 0b1011, False),
    ],
)
def test_metadata_without_a_result_are_refused(
    monkeypatch: pytest.MonkeyPatch, kind: str, element: str, nibble: int, legal: bool
) -> None:
    data = np.full_like(DATA, 0x44444444)
    data[0, 16] = 0x44444404 | nibble << 4  # row 0, second chunk
    monkeypatch.setattr(sys.modules[__name__], "DATA", data)
    word = idesc(kind, element, sparse=True)
    if legal:
        multiply(word, kind, sparse=True)
        return
    chunk, last = ("2 to 3", "0b0100 or 0b1110") if kind == "tf32" else ("4 to 7", "0b0100, 0b0110, 0b1000, 0b1001")
    with refused(f"the metadata of A have {nibble:#06b} for row 0, elements {chunk}; expected {last}"):
        multiply(word, kind, sparse=True)


def test_scale_factors_outside_the_allocation_are_reported() -> None:
    with refused("the matrix of scale factors of A uses column 64 of tensor memory, which is not allocated"):
        multiply(idesc("mxf4nvf4", "e2m1"), "mxf4nvf4", scales="[%t+64]")
