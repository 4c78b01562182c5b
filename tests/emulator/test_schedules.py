"""What schedules are for: a kernel that forgets to wait shows it, one that waits gives the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.texts import kernel

import warploom as wl

SCHEDULES = ("eager", "lazy", *(f"random:{seed}" for seed in range(8)))
SHARED = """
    .shared .align 128 .b8 s[1024];
    .shared .align 8 .b8 bar[8];
    mov.u32 %r10, s;
    mov.u32 %r11, bar;
    mad.lo.u32 %r12, %r0, 4, %r10;
"""

# Each kernel adds one to the words of `out`, through shared memory; WAIT is what it waits by.
KERNELS = {
    "a barrier between warps": (
        """
        xor.b32 %r1, %r0, 32;
        mad.lo.u32 %r13, %r1, 4, %r10;
        mad.wide.u32 %rd2, %r1, 4, %rd0;
        ld.global.u32 %r2, [%rd1];
        st.shared.u32 [%r12], %r2;
        WAIT
        ld.shared.u32 %r3, [%r13];
        add.u32 %r3, %r3, 1;
        WAIT
        st.global.u32 [%rd2], %r3;""",
        "bar.sync 0;",
    ),
    "an asynchronous copy": (
        """
        cp.async.ca.shared.global [%r12], [%rd1], 4;
        cp.async.commit_group;
        WAIT
        ld.shared.u32 %r3, [%r12];
        add.u32 %r3, %r3, 1;
        st.global.u32 [%rd1], %r3;""",
        "cp.async.wait_group 0;",
    ),
    "a bulk copy": (
        """
        setp.eq.u32 %p1, %r0, 0;
        @%p1 mbarrier.init.shared::cta.b64 [%r11], 1;
        bar.sync 0;
        @!%p1 bra COPIED;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 256;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd0], 256, [%r11];
        COPIED:
        WAIT
        bar.sync 1;
        ld.shared.u32 %r3, [%r12];
        add.u32 %r3, %r3, 1;
        st.global.u32 [%rd1], %r3;""",
        "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r11], 0;\n@!%p2 bra W;",
    ),
    "a bulk group that is read": (
        """
        ld.global.u32 %r2, [%rd1];
        add.u32 %r2, %r2, 1;
        st.shared.u32 [%r12], %r2;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        setp.eq.u32 %p1, %r0, 0;
        @!%p1 bra STORED;
        cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r10], 256;
        cp.async.bulk.commit_group;
        WAIT
        STORED:
        bar.sync 0;
        st.shared.u32 [%r12], 0;""",
        "cp.async.bulk.wait_group.read 0;",
    ),
}


def _results(body: str) -> list[bytes]:
    found: list[bytes] = []
    for schedule in SCHEDULES:
        words = np.arange(1000, 1064, dtype=np.uint32)
        text = kernel(f"{SHARED}\n{body}\nret;")
        wl.launch(text, grid=1, block=64, args=[words], schedule=schedule)
        found.append(words.tobytes())
    return found


@pytest.mark.parametrize("name", KERNELS)
def test_with_its_wait_a_kernel_gives_the_same_bits_under_every_schedule(name: str) -> None:
    body, wait = KERNELS[name]
    labels = body.count("WAIT")
    assert labels == 1 or "W:" not in wait
    expected = np.arange(1001, 1065, dtype=np.uint32).tobytes()
    assert set(_results(body.replace("WAIT", wait))) == {expected}


@pytest.mark.parametrize("name", KERNELS)
def test_without_its_wait_it_does_not(name: str) -> None:
    body, _ = KERNELS[name]
    assert len(set(_results(body.replace("WAIT", "")))) > 1


def test_a_schedule_is_the_same_run_every_time() -> None:
    body, _ = KERNELS["a barrier between warps"]
    assert _results(body.replace("WAIT", "")) == _results(body.replace("WAIT", ""))


def test_wgmma_writes_its_registers_when_it_is_waited_for() -> None:
    text = """
        mov.u64 %rd2, 64;
        mov.f32 %f1, 0f3F800000;
        mov.f32 %f2, %f1;
        mov.f32 %f3, %f1;
        mov.f32 %f4, %f1;
        mov.b32 %r2, 0x40004000;
        st.shared.v4.u32 [s], {%r2, %r2, %r2, %r2};
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd2, %rd2, 0, 1, 1, 0, 0;
        wgmma.commit_group.sync.aligned;
        WAIT
        st.global.f32 [%rd1], %f1;"""

    def found(wait: str, schedule: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        out = np.zeros(128, np.float32)
        body = kernel(f".shared .align 128 .b8 s[2048];\n{text.replace('WAIT', wait)}\nret;")
        wl.launch(body, grid=1, block=128, args=[out], schedule=schedule)
        return out

    product = found("wgmma.wait_group.sync.aligned 0;", "eager")
    assert not (product == 1).all()
    for schedule in SCHEDULES:
        np.testing.assert_array_equal(found("wgmma.wait_group.sync.aligned 0;", schedule), product)
    np.testing.assert_array_equal(found("", "lazy"), np.ones(128))


def test_a_wait_in_a_loop_that_counts_returns_early_64_times_under_lazy() -> None:
    body, _ = KERNELS["a bulk copy"]
    loop = """
        mov.u32 %r4, 0;
        AGAIN:
        add.u32 %r4, %r4, 1;
        mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r11], 0;
        @!%p2 bra AGAIN;
        bar.sync 2;
        st.shared.u32 [%r12], %r4;"""

    def tries(schedule: str) -> list[int]:
        words = np.zeros(64, np.uint32)
        text = kernel(f"{SHARED}\n{body.replace('WAIT', loop)}\nret;")
        wl.launch(text, grid=1, block=64, args=[words], schedule=schedule)
        return np.unique(words - 1).tolist()

    assert tries("eager") == [1]
    assert tries("lazy") == [65]
