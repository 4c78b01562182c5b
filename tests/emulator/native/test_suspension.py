"""The interpreter and native code agree on warps that wait at CTA barriers and mbarriers, and on deadlock reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.native.test_programs import quiet
from emulator.texts import kernel
from hypothesis import given, settings
from hypothesis import strategies as st

import warploom as wl
from warploom.diagnostics import WarploomError

WARPS = 4
OPERATIONS = (
    "bar.sync {number};",
    "bar.sync {number}, {threads};",
    "bar.arrive {number}, {threads};",
    "mov.u32 %r6, {number}; barrier.sync %r6;",
    "mov.u32 %r6, {number}; mov.u32 %r7, {threads}; barrier.sync %r6, %r7;",
    "bar.red.popc.u32 %r6, {number}, {threads}, %p1; add.u32 %r5, %r5, %r6;",
    "mbarrier.arrive.shared::cta.b64 _, [bars+{at}];",
    "mbarrier.arrive.shared::cta.b64 _, [bars+{at}], 32;",
    "W{label}: mbarrier.try_wait.parity.shared::cta.b64 %p3, [bars+{at}], {parity}; @!%p3 bra W{label};",
    (
        "mov.b64 %rd3, {at}; add.u64 %rd3, %rd3, %rd4;"
        " W{label}: mbarrier.try_wait.parity.b64 %p3, [%rd3], %r3; @!%p3 bra W{label};"
    ),
    (
        "mul.lo.u32 %r8, %r9, 8; add.u32 %r8, %r8, %r10;"
        " W{label}: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r3; @!%p3 bra W{label};"
    ),
    "@%p1 bra S{label}; add.u32 %r5, %r5, 3; S{label}:",
    "@%p1 bra S{label}; bar.sync {number}, {threads}; S{label}:",
    "@%p2 exit;",
    "ret;",
)
"""Operations of a warp. %r3 is the number of the iteration, %r9 is 0 in the lower half of a warp and 1 in the other."""
STEP = st.tuples(
    st.sampled_from(OPERATIONS), st.sampled_from([0, 1, 1, 15]), st.sampled_from([32, 64, 64, 96, 128]),
    st.sampled_from([0, 8]), st.integers(0, 1),
)  # fmt: skip
COMMON = st.lists(STEP.filter(lambda step: step[0] not in OPERATIONS[-2:]), min_size=1, max_size=4)
OWN = st.lists(st.tuples(st.integers(0, WARPS - 1), st.integers(0, 4), STEP), max_size=3)


def program(common: list[Any], own: list[Any], loops: int, counts: tuple[int, int]) -> str:
    """Return a kernel whose warps execute the common steps in a loop, each warp with its own additional steps."""
    lines: list[str] = []
    label = 0
    for warp in range(WARPS):
        steps = list(common)
        for owner, place, step in own:
            if owner == warp:
                steps.insert(min(place, len(steps)), step)
        lines.append(f"L{warp}:")
        for text, number, threads, at, parity in steps:
            lines.append(text.format(number=number, threads=threads, at=at, parity=parity, label=label))
            lines.append("mad.lo.u32 %r5, %r5, 31, %r3; atom.shared.inc.u32 %r6, [turn], 1000; add.u32 %r5, %r5, %r6;")
            label += 1
        lines.append(f"add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, {loops}; @%p4 bra L{warp}; bra END;")
    jumps = [f"setp.eq.u32 %p5, %r2, {warp}; @%p5 bra L{warp};" for warp in range(1, WARPS)]
    return kernel(
        f"""
        shr.u32 %r2, %r0, 5; and.b32 %r4, %r0, 31; shr.u32 %r9, %r4, 4;
        mov.u64 %rd2, bars; cvta.shared.u64 %rd4, %rd2; cvt.u32.u64 %r10, %rd2;
        setp.lt.u32 %p1, %r4, 7; setp.gt.u32 %p2, %r0, 110; setp.eq.u32 %p5, %r0, 0;
        mov.u32 %r3, 0; mov.u32 %r5, 1; mov.u32 %r6, 0;
        @%p5 mbarrier.init.shared::cta.b64 [bars], {counts[0]};
        @%p5 mbarrier.init.shared::cta.b64 [bars+8], {counts[1]};
        bar.sync 0;
        {" ".join(jumps)}
        {" ".join(lines)}
        END: st.global.u32 [%rd1], %r5; ret;""",
        before=".shared .align 8 .b64 bars[2];\n.shared .align 4 .b32 turn;\n",
    )


def outcome(text: str, schedule: str, threads: int, grid: int = 2, **options: Any) -> tuple[Any, ...]:
    """Run a kernel. Return its results, its counts, and its error with all notes."""
    out = np.zeros(256, np.uint32)
    run = wl.launch(text, grid=grid, block=threads, args=[out], schedule=schedule, raises=False, **options)
    error, stats = run.error, run.stats
    reports = error.diagnostics if isinstance(error, WarploomError) else error
    return out.tobytes(), repr(reports), dict(stats.instructions), stats.batches, stats.spent


def check(text: str, threads: int, monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[Any, ...]:
    """Check that both engines agree under all schedules. Return the outcome under the schedule `eager`."""
    found: list[tuple[Any, ...]] = []
    for schedule in ("random:1", "lazy", "eager"):
        for engine in ("interpreter", "compiler"):
            monkeypatch.setenv("WARPLOOM_ENGINE", engine)
            found.append(outcome(text, schedule, threads, **options))
        assert found[-1] == found[-2]
    return found[-1]


@settings(quiet, max_examples=60)
@given(
    common=COMMON, own=OWN, loops=st.integers(1, 3), threads=st.sampled_from([100, 128]),
    counts=st.tuples(st.sampled_from([32, 64, 100, 128]), st.sampled_from([1, 32, 128])),
)  # fmt: skip
def test_random_barriers(
    monkeypatch: pytest.MonkeyPatch, common: list[Any], own: list[Any], loops: int, threads: int,
    counts: tuple[int, int],
) -> None:  # fmt: skip
    check(program(common, own, loops, counts), threads, monkeypatch)


@pytest.mark.parametrize("counts", [(64, 96), (96, 64), (128, 64)])
def test_arrivals_that_expect_different_counts(counts: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    arrive, wait = "bar.arrive {number}, {threads};", "bar.sync {number}, {threads};"
    own = [(0, 0, (arrive, 1, counts[0], 0, 0)), (1, 0, (wait, 1, counts[1], 0, 0))]
    assert "an earlier one expects" in check(program([], own, 1, (32, 32)), 128, monkeypatch)[1]


RING = """
    setp.eq.u32 %p1, %r0, 0;
    @%p1 bra INIT;
    bra START;
    INIT:
    {inits}
    START:
    bar.sync 0;
    mov.u32 %r3, 0; mov.u32 %r5, 1; shr.u32 %r2, %r0, 5;
    mov.u64 %rd2, bars; cvt.u32.u64 %r10, %rd2;
    setp.lt.u32 %p2, %r0, 32;
    AGAIN:
    rem.u32 %r4, %r3, 3; div.u32 %r6, %r3, 3; and.b32 %r6, %r6, 1; xor.b32 %r7, %r6, 1;
    mad.lo.u32 %r8, %r4, 8, %r10;
    @%p2 bra PRODUCER;
    FULL: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r6; @!%p3 bra FULL;
    ld.shared.u32 %r9, [%r8+64]; mad.lo.u32 %r5, %r5, 7, %r9;
    mbarrier.arrive.shared::cta.b64 _, [%r8+24];
    bra NEXT;
    PRODUCER:
    EMPTY: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8+24], %r7; @!%p3 bra EMPTY;
    st.shared.u32 [%r8+64], %r3;
    mbarrier.arrive.shared::cta.b64 _, [%r8];
    NEXT:
    add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, {loops}; @%p4 bra AGAIN;
    {after}
    st.global.u32 [%rd1], %r5; ret;"""
"""Producer and consumers with three stages: bars[0:3] are full, bars[3:6] are empty. The data start at bars[8]."""


@pytest.mark.parametrize("full", [32, 33])
@pytest.mark.parametrize("after", ["", "bar.sync 1, 64;", "bar.arrive 1, 64;", "bar.sync 1;"])
def test_a_ring_of_several_stages(full: int, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [full] * 3 + [96] * 3
    inits = " ".join(f"mbarrier.init.shared::cta.b64 [bars+{8 * k}], {count};" for k, count in enumerate(counts))
    text = kernel(RING.format(inits=inits, loops=11, after=after), before=".shared .align 8 .b64 bars[32];\n")
    error = check(text, 128, monkeypatch)[1]
    assert ("deadlock" in error) == (full == 33)


def test_native_code_executes_a_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", "compiler")
    inits = " ".join(f"mbarrier.init.shared::cta.b64 [bars+{8 * k}], {32 if k < 3 else 96};" for k in range(6))
    text = kernel(RING.format(inits=inits, loops=20, after="bar.sync 1;"), before=".shared .align 8 .b64 bars[32];\n")
    run = wl.launch(text, grid=2, block=128, args=[np.zeros(128, np.uint32)])
    assert {each.opcode for each in run.stats.times.instructions} <= {"bra"}  # the first branch that diverges


# Clusters -------------------------------------------------------------------------------------------------

CLUSTER_OPERATIONS = (
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
    "barrier.cluster.arrive; add.u32 %r5, %r5, 9; barrier.cluster.wait;",
    "barrier.cluster.arrive.aligned; bar.sync 0; barrier.cluster.wait.aligned;",
    "barrier.cluster.wait;",
    "barrier.cluster.arrive;",
    "@%p1 barrier.cluster.arrive; @!%p1 barrier.cluster.arrive; barrier.cluster.wait;",
    "@%p2 exit;",
    "@%p6 exit;",
    "bar.sync 0;",
    "mapa.shared::cluster.u32 %r6, %r10, {rank}; ld.shared::cluster.u32 %r7, [%r6+{at}]; add.u32 %r5, %r5, %r7;",
    "mapa.shared::cluster.u32 %r6, %r10, {rank}; atom.shared::cluster.add.u32 %r7, [%r6+{at}], %r5;",
    "mapa.shared::cluster.u32 %r6, %r10, %r9; st.shared::cluster.u32 [%r6+{at}], %r5;",
    "mapa.u64 %rd3, %rd4, %r9; ld.u32 %r7, [%rd3+{at}]; add.u32 %r5, %r5, %r7;",
    "mapa.u64 %rd3, %rd4, %r9; mapa.u64 %rd5, %rd4, {rank}; @%p1 mov.u64 %rd3, %rd5; st.u32 [%rd3+{at}], %r5;",
    "mapa.shared::cluster.u32 %r6, %r10, {rank}; ld.shared.u32 %r7, [%r6+{at}];",
    "mapa.shared::cluster.u32 %r6, %r11, {rank}; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];",
    "W{label}: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r11], {parity}; @!%p3 bra W{label};",
)  # fmt: skip
"""Operations of a warp in a cluster of two CTAs. Most of them are legal; offset 252 + 8 is beyond shared memory."""
CLUSTER_STEP = st.tuples(
    st.sampled_from(CLUSTER_OPERATIONS), st.sampled_from([0, 1, 1, 0, 2]), st.sampled_from([0, 4, 40, 252, 258, 260]),
    st.integers(0, 1), st.sampled_from([True, True, True, False]),
)  # fmt: skip


@settings(quiet, max_examples=80)
@given(steps=st.lists(CLUSTER_STEP, min_size=1, max_size=5), loops=st.integers(1, 2), threads=st.sampled_from([50, 64]))
def test_random_clusters(monkeypatch: pytest.MonkeyPatch, steps: list[Any], loops: int, threads: int) -> None:
    lines: list[str] = []
    for label, (text, rank, at, parity, everywhere) in enumerate(steps):
        # Some steps are executed only by the CTAs of rank 0.
        start = "" if everywhere else f"@%p6 bra E{label};"
        lines.append(f"{start} {text.format(rank=rank, at=at, parity=parity, label=label)} E{label}:")
        lines.append("mad.lo.u32 %r5, %r5, 31, %r3;")
    text = kernel(
        f"""
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r4, %r1, %r2, %r0; mad.wide.u32 %rd1, %r4, 4, %rd0;
        mov.u32 %r9, %cluster_ctarank; setp.eq.u32 %p6, %r9, 1; xor.b32 %r9, %r9, 1;
        and.b32 %r12, %r0, 31; setp.lt.u32 %p1, %r12, 7; setp.lt.u32 %p2, %r0, 32; setp.eq.u32 %p5, %r0, 0;
        mov.u64 %rd2, data; cvta.shared.u64 %rd4, %rd2; cvt.u32.u64 %r10, %rd2; add.u32 %r11, %r10, 64;
        mov.u32 %r5, %r4; mov.u32 %r3, 0;
        @%p5 mbarrier.init.shared::cta.b64 [%r11], {threads};
        barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
        AGAIN: {" ".join(lines)}
        add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, {loops}; @%p4 bra AGAIN;
        st.global.u32 [%rd1], %r5; ret;""",
        before=".shared .align 8 .b8 data[256];\n",
    )
    check(text, threads, monkeypatch, grid=4, cluster=2)


def test_native_code_executes_cluster_barriers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", "compiler")
    text = kernel(
        """
        mov.u32 %r9, %cluster_ctarank; xor.b32 %r9, %r9, 1; mov.u64 %rd2, data; cvt.u32.u64 %r10, %rd2;
        mad.lo.u32 %r6, %r0, 4, %r10; st.shared.u32 [%r6], %r9;
        barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
        mapa.shared::cluster.u32 %r6, %r6, %r9; ld.shared::cluster.u32 %r7, [%r6]; st.global.u32 [%rd1], %r7;
        barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
        ret;""",
        before=".shared .align 8 .b8 data[256];\n",
    )
    run = wl.launch(text, grid=4, block=64, args=[np.zeros(64, np.uint32)], cluster=2)
    assert not run.stats.times.instructions
