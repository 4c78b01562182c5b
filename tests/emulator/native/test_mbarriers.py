"""The interpreter and native code agree on mbarriers and on tensor copies."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.native.test_programs import quiet
from emulator.texts import kernel
from hypothesis import given, settings
from hypothesis import strategies as st

import warploom as wl

SCHEDULES = ("eager", "lazy", "random:1")


def agree(text: str, monkeypatch: pytest.MonkeyPatch, *arrays: np.ndarray, block: int) -> None:  # type: ignore[type-arg]
    """Check that both engines leave the same arrays, errors and counts."""
    for schedule in SCHEDULES:
        found: list[object] = []
        for engine in ("interpreter", "compiler"):
            monkeypatch.setenv("WARPLOOM_ENGINE", engine)
            copies = [array.copy() for array in arrays]
            run = wl.launch(text, grid=2, block=block, args=copies, schedule=schedule, raises=False)
            stats = run.stats
            counts = dict(stats.instructions), stats.batches, stats.spent
            notes = [] if run.error is None else [note.message for each in run.error.diagnostics for note in each.notes]
            found.append((*(each.tobytes() for each in copies), str(run.error), notes, counts))
        assert found[0] == found[1]


# Arrivals -------------------------------------------------------------------------------------------------

SHARED = ".shared .align 8 .b64 bars[2];\n"
OPERATIONS = {
    "arrive": "mbarrier.arrive.shared::cta.b64 %rd2, [bars+{at}];",
    "arrive, no state": "mbarrier.arrive.shared::cta.b64 _, [bars+{at}];",
    "arrive, counts": "mbarrier.arrive.shared::cta.b64 %rd2, [bars+{at}], %r4;",
    "arrive, expect": "mbarrier.arrive.expect_tx.shared::cta.b64 %rd2, [bars+{at}], %r4;",
    "drop": "mbarrier.arrive_drop.shared::cta.b64 %rd2, [bars+{at}];",
    "expect": "mbarrier.expect_tx.shared::cta.b64 [bars+{at}], 32;",
    "complete": "mbarrier.complete_tx.shared::cta.b64 [bars+{at}], 32;",
    "test": "mbarrier.test_wait.parity.shared::cta.b64 %p2, [bars+{at}], {parity};",
    "generic": "mbarrier.arrive.b64 %rd2, [%rd5];",
    "varying": "mbarrier.arrive.shared::cta.b64 %rd2, [%r7];",
}
"""Instructions on the mbarrier at offset `at`. %rd5 and %r7 are addresses, which differ between lanes for %r7."""
GUARDS = ("", "@%p1 ", "@!%p1 ", "@%p3 ")
OPERATION = st.tuples(st.sampled_from([*OPERATIONS]), st.sampled_from(GUARDS), st.sampled_from([0, 8]), st.booleans())
AFTER = """
    selp.u32 %r6, 1, 0, %p2;
    cvt.u32.u64 %r8, %rd2;
    shr.u64 %rd3, %rd2, 32;
    cvt.u32.u64 %r9, %rd3;
    xor.b32 %r8, %r8, %r9;
    mad.lo.u32 %r5, %r5, 31, %r6;
    mad.lo.u32 %r5, %r5, 31, %r8;
"""


@settings(quiet, max_examples=120)
@given(
    count=st.sampled_from([1, 2, 3, 4, 32, 33, 64, 96]),
    loops=st.integers(1, 6),
    lane=st.integers(0, 31),
    steps=st.lists(OPERATION, min_size=1, max_size=3),
)
def test_operations_on_mbarriers(
    monkeypatch: pytest.MonkeyPatch, count: int, loops: int, lane: int, steps: list[tuple[str, str, int, bool]]
) -> None:
    lines = [guard + OPERATIONS[name].format(at=at, parity=int(parity)) + AFTER for name, guard, at, parity in steps]
    text = kernel(
        f"""
        mov.u64 %rd4, bars;
        cvta.shared.u64 %rd5, %rd4;
        cvt.u32.u64 %r7, %rd4;
        and.b32 %r10, %r0, 31;
        setp.eq.u32 %p1, %r10, {lane};
        setp.lt.u32 %p3, %r0, 32;
        and.b32 %r11, %r10, 8;
        add.u32 %r7, %r7, %r11;
        shr.u32 %r4, %r0, 4;
        mov.u32 %r5, 0;
        mov.u64 %rd2, 0;
        setp.eq.u32 %p2, %r0, 0;
        @%p2 mbarrier.init.shared::cta.b64 [bars], {count};
        @%p2 mbarrier.init.shared::cta.b64 [bars+8], 2;
        bar.sync 0;
        mov.u32 %r3, 0;
        AGAIN:
        {" ".join(lines)}
        add.u32 %r3, %r3, 1;
        setp.lt.u32 %p4, %r3, {loops};
        @%p4 bra AGAIN;
        st.global.u32 [%rd1], %r5;
        ret;""",
        before=SHARED,
    )
    agree(text, monkeypatch, np.zeros(64, np.uint32), block=64)


def test_a_ring_of_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    text = kernel(
        """
        setp.eq.u32 %p1, %r0, 0;
        @%p1 mbarrier.init.shared::cta.b64 [bars], 32;
        @%p1 mbarrier.init.shared::cta.b64 [bars+8], 64;
        bar.sync 0;
        setp.lt.u32 %p2, %r0, 32;
        mov.u32 %r3, 0;
        mov.u32 %r5, 0;
        AGAIN:
        and.b32 %r4, %r3, 1;
        @%p2 bra PRODUCER;
        FULL:
        mbarrier.try_wait.parity.shared::cta.b64 %p3, [bars], %r4;
        @!%p3 bra FULL;
        add.u32 %r5, %r5, %r3;
        mbarrier.arrive.shared::cta.b64 _, [bars+8];
        bra NEXT;
        PRODUCER:
        mbarrier.arrive.shared::cta.b64 _, [bars];
        EMPTY:
        mbarrier.try_wait.parity.shared::cta.b64 %p3, [bars+8], %r4;
        @!%p3 bra EMPTY;
        NEXT:
        bar.warp.sync -1;
        add.u32 %r3, %r3, 1;
        setp.lt.u32 %p4, %r3, 6;
        @%p4 bra AGAIN;
        st.global.u32 [%rd1], %r5;
        ret;""",
        before=SHARED,
    )
    agree(text, monkeypatch, np.zeros(96, np.uint32), block=96)


# Tensor copies --------------------------------------------------------------------------------------------

COPIES = """
    setp.eq.u32 %p1, %r0, 0;
    mov.u64 %rd2, bars;
    cvt.u32.u64 %r1, %rd2;
    mov.u64 %rd3, data;
    cvt.u32.u64 %r2, %rd3;
    ld.param.u64 %rd4, [map];
    ld.param.u64 %rd5, [places];
    ld.param.u64 %rd11, [tensor];
    st.global.u64 [%rd4], %rd11;
    @%p1 mbarrier.init.shared::cta.b64 [%r1], 1;
    bar.sync 0;
    mov.u32 %r3, 0;
    AGAIN:
    mul.wide.u32 %rd6, %r3, 16;
    add.u64 %rd6, %rd5, %rd6;
    ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd6];
    add.u32 %r8, %r2, %r6;
    cvt.u64.u32 %rd7, %r7;
    setp.ne.u32 %p2, %r7, 0;
    ld.global.u64 %rd8, [%rd4];
    add.u64 %rd8, %rd8, %rd7;
    @%p2 st.global.u64 [%rd4], %rd8;
    bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024;
    @%p1 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd4, {%r4, %r5}], [%r1];
    and.b32 %r9, %r3, 1;
    WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1], %r9;
    @!%p3 bra WAIT;
    @%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd4, {%r5, %r4}], [%r8];
    bar.sync 0;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p4, %r3, 12;
    @%p4 bra AGAIN;
    mov.u32 %r10, 0;
    mul.wide.u32 %rd9, %r0, 32;
    add.u64 %rd10, %rd3, %rd9;
    cvt.u32.u64 %r11, %rd10;
    ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r11];
    xor.b32 %r12, %r12, %r13;
    xor.b32 %r14, %r14, %r15;
    xor.b32 %r12, %r12, %r14;
    st.global.u32 [%rd1], %r12;
    ret;"""
"""Loads and stores of boxes of 16 x 32 elements of 2 bytes. `places` has x, y, the offset in shared memory and the
change of the tensor's address for each copy."""


@settings(quiet, max_examples=40)
@given(seed=st.integers(0, 1 << 20), span=st.sampled_from([0, 64, 128]), wild=st.booleans())
def test_tensor_copies(monkeypatch: pytest.MonkeyPatch, seed: int, span: int, wild: bool) -> None:
    random = np.random.default_rng(seed)
    places = np.zeros((12, 4), np.int32)
    places[:, :2] = random.integers(-1 if wild else 0, 5, (12, 2)) * 8
    places[:, 2] = random.integers(0, 3, 12) * (64 if wild and seed % 5 == 0 else 1024)
    places[:, 3] = np.where(random.random(12) < 0.2, 128, 0)
    tensor = random.integers(0, 1 << 16, (64, 96)).astype(np.uint16)
    params = ".param .u64 map, .param .u64 tensor, .param .u64 places, .param .u64 out"
    text = kernel(COPIES, params, before=SHARED + ".shared .align 1024 .b8 data[4096];\n")
    fields = wl.TensorMap.tiled(tensor, (16, 32), swizzle=span).fields(1024)  # the kernel replaces the address
    agree(text, monkeypatch, np.frombuffer(fields.pack(), np.uint8), tensor, places, np.zeros(64, np.uint32), block=64)
