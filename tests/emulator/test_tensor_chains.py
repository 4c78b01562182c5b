"""Adjacent multiplications in tensor memory have the result of the same multiplications one by one."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.tensor_texts import dump, fill, share, tensor_kernel

import warploom as wl

COLUMNS = {"shared": (), "adjacent": (256, 264, 272, 280), "equal": (256, 256, 256, 256), "apart": (280, 256, 300, 264)}
"""Columns of each matrix A in tensor memory. With "shared", A is in shared memory."""
TILE = wl.UmmaDescriptor(0, 16, 1024, 0, 128).encode()


def kernel(columns: tuple[int, ...], ctas: int, keeps: int) -> str:
    group = f"cta_group::{ctas}"
    idesc = wl.InstructionDescriptor("f16", 128 * ctas, 64, "f16", "f16", "f32").encode()
    products = ""
    for k in range(4):
        a = f"[%r{24 + k}]" if columns else "%rd3"
        products += f"@%p2 tcgen05.mma.{group}.kind::f16 [%t], {a}, %rd4, %r22, %p{3 if k else 4};\n"
        products += "add.u64 %rd3, %rd3, 2; add.u64 %rd4, %rd4, 2;\n"
    places = "".join(f"add.u32 %r{24 + k}, %t, {column};\n" for k, column in enumerate(columns))
    meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" if ctas == 2 else "bar.sync 0;"
    arrival = ".multicast::cluster.b64 [%b], %h0" if ctas == 2 else ".b64 [%b]"
    return tensor_kernel(
        f"""
        mov.u32 %r20, %ctaid.x; mul.wide.u32 %rd2, %r20, {128 * 512 * 4}; add.u64 %rd0, %rd0, %rd2;
        mul.wide.u32 %rd2, %r20, {128 * 128 * 4}; add.u64 %rd1, %rd1, %rd2;
        {share()}
        {fill()}
        tcgen05.fence::before_thread_sync;
        {meet}
        tcgen05.fence::after_thread_sync;
        mov.u32 %r21, %cluster_ctarank; or.b32 %r21, %r21, %r0; setp.eq.u32 %p2, %r21, 0; mov.u16 %h0, 3;
        setp.eq.u32 %p3, %r0, %r0; setp.ne.u32 %p4, {keeps}, 0; mov.u32 %r22, {idesc};
        mov.u32 %r23, area; shr.u32 %r23, %r23, 4; cvt.u64.u32 %rd3, %r23;
        add.u64 %rd4, %rd3, {TILE + (16384 >> 4)}; add.u64 %rd3, %rd3, {TILE};
        {places}
        {products}
        @%p2 tcgen05.commit.{group}.mbarrier::arrive::one.shared::cluster{arrival};
        WAIT:
        mbarrier.try_wait.parity.shared.b64 %p5, [%b], 0;
        @!%p5 bra WAIT;
        tcgen05.fence::after_thread_sync;
        {dump(128)}
        tcgen05.fence::before_thread_sync;
        """,
        group=ctas,
    )


def run(text: str, ctas: int, schedule: str) -> np.ndarray:
    data = np.random.default_rng(5).standard_normal((2, 128, 1024)).astype(np.float16).view(np.uint32)
    out = np.zeros((2, 128, 128), np.uint32)
    wl.launch(text, grid=2, block=128, cluster=(ctas, 1, 1), args=[data, out], schedule=schedule)
    return out


@pytest.mark.parametrize("keeps", [0, 1])
@pytest.mark.parametrize("ctas", [1, 2])
@pytest.mark.parametrize("a", COLUMNS)
def test_a_chain_has_the_result_of_its_items(a: str, ctas: int, keeps: int) -> None:
    text = kernel(COLUMNS[a], ctas, keeps)
    together = run(text, ctas, "eager")
    np.testing.assert_array_equal(together, run(text, ctas, "lazy"))  # `lazy` executes them one by one
    assert np.isfinite(together[:, :, :64].view(np.float32)).all()
    assert np.unique(together[:, :, :64]).size > 10_000


@pytest.mark.parametrize("ctas", [1, 2])
def test_a_fault_in_a_chain_names_its_instruction(ctas: int) -> None:
    text = kernel((256, 264, 508, 272), ctas, 1)
    line = [number for number, each in enumerate(text.splitlines(), 1) if "tcgen05.mma" in each][2]
    with pytest.raises(wl.WarploomError, match=rf"^<ptx>:{line}:1: A of a multiplication .* columns 508 to 515 "):
        run(text, ctas, "eager")
