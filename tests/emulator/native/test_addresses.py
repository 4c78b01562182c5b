"""Native code refuses addresses whose end exceeds 2**64, and traps as the interpreter does."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.texts import kernel

import warploom as wl

ACCESSES = {
    "generic load": ("mov.u64 %rd2, buf; cvta.shared.u64 %rd2, %rd2;", "ld.u32 %r2, [%rd2];", 4),
    "shared load": ("mov.u64 %rd2, buf;", "ld.shared.u32 %r2, [%rd2];", 4),
    "shared store": ("mov.u64 %rd2, buf;", "st.shared.u32 [%rd2], %r0;", 4),
    "local load": ("mov.u64 %rd2, loc;", "ld.local.u32 %r2, [%rd2];", 4),
    "global load": ("mov.u64 %rd2, %rd0;", "ld.global.u32 %r2, [%rd2];", 4),
    "atomic": ("mov.u64 %rd2, buf;", "atom.shared.add.u32 %r2, [%rd2], 1;", 4),
    "ldmatrix": (
        "mov.u64 %rd2, buf;", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%rd2];", 16,
    ),
    "stmatrix": (
        "mov.u64 %rd2, buf;", "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%rd2], {%r2, %r3, %r4, %r5};", 16,
    ),
    "thread copy": ("mov.u64 %rd2, buf;", "cp.async.ca.shared.global [%rd2], [%rd0], 4;", 4),
}  # fmt: skip
"""Address in memory, an access to %rd2, and the number of bytes of the access."""


@pytest.mark.parametrize("name", ACCESSES)
@pytest.mark.parametrize("others", ["inside", "outside"])
def test_the_last_bytes_of_the_address_space(name: str, others: str, monkeypatch: pytest.MonkeyPatch) -> None:
    base, access, size = ACCESSES[name]
    far = "add.u64 %rd2, %rd2, 1048576;" if others == "outside" else ""
    body = f"""
        .local .align 16 .b8 loc[64];
        setp.eq.u32 %p1, %r0, 31;
        {base} {far}
        @%p1 mov.u64 %rd2, {-size};
        {access}
        ret;"""
    text = kernel(body, before=".shared .align 16 .b8 buf[1024];\n")
    errors: list[str] = []
    for engine in ("interpreter", "compiler"):
        monkeypatch.setenv("WARPLOOM_ENGINE", engine)
        run = wl.launch(text, grid=1, block=32, args=[np.zeros(64, np.uint32)], raises=False)
        errors.append(str(run.error))
    assert errors[0] == errors[1] != "None"


COPIES = {
    "shared memory above 2**63": ("%rd13", 0x7FFF_FFFF_FFFF_FF80),
    "mbarrier above 2**63": ("%rd14", 0x7FFF_FFFF_FFFF_FFF8),
    "negative mbarrier": ("%rd14", 0xFFFF_FFFF_FFFF_FFFF),
    "upper bits of an mbarrier": ("%rd14", 0xFFFF_FFFF_FF00_0400),
    "box over the mbarrier": ("%rd13", 0x400),
}
"""Register with an operand of a tensor copy, and its value."""


@pytest.mark.parametrize("name", COPIES)
def test_operands_of_a_tensor_copy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    register, value = COPIES[name]
    copy = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
    body = f"""
        setp.eq.u32 %p1, %r0, 0;
        mov.u64 %rd14, bars; mov.u64 %rd2, bars; mov.u64 %rd13, data;
        ld.param.u64 %rd4, [map]; ld.param.u64 %rd11, [tensor]; st.global.u64 [%rd4], %rd11;
        @%p1 mbarrier.init.shared::cta.b64 [%rd2], 1;
        bar.sync 0;
        mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, 0;
        AGAIN:
        setp.eq.u32 %p5, %r3, 1;
        @%p5 mov.u64 {register}, {value};
        @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%rd2], 1024;
        @%p1 {copy} [%rd13], [%rd4, {{%r4, %r5}}], [%rd14];
        and.b32 %r9, %r3, 1;
        WAIT:
        mbarrier.try_wait.parity.shared::cta.b64 %p3, [%rd2], %r9;
        @!%p3 bra WAIT;
        add.u32 %r3, %r3, 1;
        setp.lt.u32 %p4, %r3, 3;
        @%p4 bra AGAIN;
        st.global.u32 [%rd1], %r3;
        ret;"""
    declarations = ".shared .align 8 .b64 bars[2];\n.shared .align 1024 .b8 data[4096];\n"
    text = kernel(body, params=".param .u64 map, .param .u64 tensor, .param .u64 out", before=declarations)
    tensor = np.arange(64 * 96, dtype=np.uint16).reshape(64, 96)
    fields = wl.TensorMap.tiled(tensor, (16, 32), swizzle=0).fields(1024)
    found: list[object] = []
    for engine in ("interpreter", "compiler"):
        monkeypatch.setenv("WARPLOOM_ENGINE", engine)
        arrays = [np.frombuffer(fields.pack(), np.uint8).copy(), tensor.copy(), np.zeros(32, np.uint32)]
        run = wl.launch(text, grid=1, block=32, args=arrays, raises=False)
        found.append((str(run.error), [array.tobytes() for array in arrays]))
    assert found[0] == found[1]


def test_a_tensor_map_of_an_earlier_launch_is_out_of_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The buffer of the second launch ends before the tensor map that the first launch has used."""
    copy = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
    body = f"""
        setp.eq.u32 %p1, %r0, 0;
        mov.u64 %rd2, bars; mov.u64 %rd13, data;
        ld.param.u64 %rd11, [tensor]; ld.param.u64 %rd5, [offset]; ld.param.u32 %r6, [writes];
        add.u64 %rd4, %rd11, %rd5;
        setp.ne.u32 %p2, %r6, 0;
        @%p2 st.global.u64 [%rd4], %rd11;
        @%p1 mbarrier.init.shared::cta.b64 [%rd2], 1;
        bar.sync 0;
        mov.u32 %r4, 0;
        @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%rd2], 1024;
        @%p1 {copy} [%rd13], [%rd4, {{%r4, %r4}}], [%rd2];
        WAIT:
        mbarrier.try_wait.parity.shared::cta.b64 %p3, [%rd2], 0;
        @!%p3 bra WAIT;
        ret;"""
    declarations = ".shared .align 8 .b64 bars[2];\n.shared .align 1024 .b8 data[4096];\n"
    text = kernel(body, params=".param .u64 tensor, .param .u64 offset, .param .u32 writes", before=declarations)
    tensor = np.zeros((64, 512), np.uint16)
    fields = wl.TensorMap.tiled(tensor, (16, 32), swizzle=0).fields(1024)
    offset = tensor.nbytes - 128
    tensor.reshape(-1).view(np.uint8)[offset:] = np.frombuffer(fields.pack(), np.uint8)
    messages: list[str] = []
    for engine in ("interpreter", "compiler"):
        monkeypatch.setenv("WARPLOOM_ENGINE", engine)
        for _ in range(2):
            wl.launch(text, grid=1, block=32, args=[tensor.copy(), np.uint64(offset), np.uint32(1)])
        small = np.zeros(1024, np.uint8)
        run = wl.launch(text, grid=1, block=32, args=[small, np.uint64(offset), np.uint32(0)], raises=False)
        messages.append(str(run.error))
    assert "out of bounds" in messages[0]
    assert messages[0] == messages[1]
