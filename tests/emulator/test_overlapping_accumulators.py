"""Adjacent wgmma with common accumulator registers give the same bits together as one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.texts import kernel

import warploom as wl

WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{}}}, %q0, %q1, {}, 1, 1, 0, 0;"
SECOND = {
    "same registers": ("%d0, %d1, %d2, %d3", "%p4"),
    "other registers": ("%d4, %d5, %d6, %d7", "%p4"),
    "two common registers": ("%d2, %d3, %d4, %d5", "%p4"),
    "two common registers, set to zero": ("%d2, %d3, %d4, %d5", "%p3"),
    "permuted registers": ("%d3, %d2, %d1, %d0", "%p4"),
}
"""Accumulators of the second multiplication, and the predicate that keeps them."""


@pytest.mark.parametrize("name", SECOND)
def test_two_multiplications(name: str) -> None:
    registers, keeps = SECOND[name]
    values = "".join(f"mov.f32 %d{i}, 0f{0x3F800000 + i * 0x10000:08x};\n" for i in range(8))
    stores = "".join(f"st.global.f32 [%rd8+{4 * i}], %d{i};\n" for i in range(8))
    body = f"""
        .reg .f32 %d<8>; .reg .b64 %q<2>;
        mov.u32 %r1, data; ld.param.u64 %rd5, [src]; mov.u32 %r3, %r0;
        FILL:
        mul.wide.u32 %rd6, %r3, 4; add.u64 %rd6, %rd5, %rd6; ld.global.u32 %r4, [%rd6];
        mad.lo.u32 %r6, %r3, 4, %r1; st.shared.u32 [%r6], %r4;
        add.u32 %r3, %r3, 128; setp.lt.u32 %p1, %r3, 2048; @%p1 bra FILL;
        {values}
        setp.eq.u32 %p3, %r0, 999; setp.ne.u32 %p4, %r0, 999;
        mov.u64 %q0, {64 | 8 << 16 | 16 << 32}; mov.u64 %q1, {(64 + 128) | 8 << 16 | 16 << 32};
        fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;
        {WGMMA.format("%d0, %d1, %d2, %d3", "%p4")}
        {WGMMA.format(registers, keeps)}
        wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
        mul.wide.u32 %rd8, %r0, 32; add.u64 %rd8, %rd0, %rd8;
        {stores}
        ret;"""
    declarations = ".shared .align 1024 .b8 data[8192];\n"
    text = kernel(body, params=".param .u64 src, .param .u64 out", before=declarations)
    source = np.random.default_rng(0).standard_normal(4096).astype(np.float16).view(np.uint32)
    found: list[np.ndarray] = []  # type: ignore[type-arg]
    for workers in (1, 2):  # several workers execute each multiplication on its own
        out = np.zeros(128 * 8, np.float32)
        wl.launch(text, grid=1, block=128, args=[source, out], workers=workers)
        found.append(out)
    np.testing.assert_array_equal(found[1], found[0])
