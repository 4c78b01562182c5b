"""Communication of CTAs through global memory: commutative updates are merged, all else runs on one worker."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.texts import kernel
from hypothesis import given, settings
from hypothesis import strategies as st
from integrations.dask.parts_in_process import in_process_parts

import warploom as wl

CTAS = 6
PROLOGUE = """
    mov.u32 %r1, %ctaid.x;
    mad.wide.u32 %rd2, %r1, 4, %rd0;
    mad.lo.u32 %r2, %r1, 7, %r0;
    mul.lo.u32 %r2, %r2, 2654435761;
"""  # %rd2: a word for each CTA; %r2: a number for each thread


def run_in_parts(body: str, sanitize: bool = False, seed: int = 0, before: str = "") -> str:
    """Run a kernel in one process and in parts, compare the results, and return the single-worker reason."""
    text = kernel(PROLOGUE + body, before=before)
    start = np.random.default_rng(seed).integers(0, 2**32, 64, dtype=np.uint32)

    def launch(workers: Any) -> tuple[Any, list[str]]:
        out = start.copy()
        done = wl.launch(text, grid=CTAS, block=32, args=[out], sanitize=sanitize, raises=False, workers=workers)
        if done.error is not None:
            assert out.tolist() == start.tolist()
            out = done.error.arrays[0]
        return out, [str(found) for found in done.findings]

    with in_process_parts(seed, 1) as distributor:
        alone, findings = launch(1)
        parted, part_findings = launch("dask")
    assert distributor.parts == [CTAS]
    assert parted.tolist() == alone.tolist()
    assert part_findings == findings
    return distributor.reasons[0]


MERGED = {
    "a word for each CTA": "st.global.u32 [%rd2], %r2;",
    "in place": "ld.global.u32 %r3, [%rd2]; bar.warp.sync -1; add.u32 %r3, %r3, 5; st.global.u32 [%rd2], %r3;",
    "the last one wins": "st.global.u32 [%rd0], %r1;",
    "read before it is written": """
        ld.global.u32 %r3, [%rd2+4];
        st.global.u32 [%rd2], %r3;
    """,
    "an atomic with an unused result": "atom.global.add.u32 %r9, [%rd0], %r2;",
    "an atomic of shared memory": """
        .shared .b32 s[1];
        st.shared.u32 [s], %r1;
        bar.sync 0;
        atom.shared.add.u32 %r9, [s], 1;
        ld.volatile.shared.u32 %r8, [s];
        st.global.u32 [%rd2], %r8;
        st.global.u32 [%rd2+64], %r9;
    """,
    "added by a bulk copy": """
        .shared .align 16 .b32 s[4];
        st.shared.v4.u32 [s], {%r1, %r1, 3, 4};
        fence.proxy.async;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0], [s], 16;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
    """,
}
SINGLE_WORKER = {
    "a ticket": (
        "atom.global.add.u32 %r9, [%rd0], 1; st.global.u32 [%rd2+64], %r9;",
        "atom.global.add.u32 in line 15 may return values that other CTAs wrote",
    ),
    "a sum of floats": ("red.global.add.f32 [%rd0], 0f3F800000;", "depends on the order of the CTAs"),
    "an exchange": ("atom.global.exch.b32 %r9, [%rd0], %r2;", "depends on the order"),
    "a counter that wraps": ("red.global.inc.u32 [%rd0], 9;", "depends on the order"),
    "a wait for a flag": (
        """
        setp.eq.u32 %p1, %r1, 0;
        @%p1 bra GO;
        WAIT:
        ld.acquire.gpu.global.u32 %r9, [%rd0];
        setp.ne.u32 %p2, %r9, %r1;
        @%p2 bra WAIT;
        GO:
        add.u32 %r10, %r1, 1;
        st.release.gpu.global.u32 [%rd0], %r10;
        """,
        "ld.acquire.gpu.global.u32 in line 19 may return values that other CTAs wrote",
    ),
    "a read of another CTA's write": (
        "st.global.u32 [%rd2+4], %r1; ld.global.u32 %r4, [%rd2]; st.global.u32 [%rd2+64], %r4;",
        "CTAs read bytes that other CTAs write: argument 0 (out), byte 4",
    ),
    "two kinds of atomics": (
        "red.global.add.u32 [%rd0], %r2; red.global.max.u32 [%rd0], 77;",
        "CTAs read bytes that other CTAs write",
    ),
    "two kinds in different CTAs": (
        """
        and.b32 %r3, %r1, 1;
        setp.eq.u32 %p1, %r3, 0;
        @%p1 red.global.add.u32 [%rd0], %r2;
        @!%p1 red.global.xor.b32 [%rd0], %r2;
        """,
        "apply atomics of one kind to bytes that other CTAs change by another kind",
    ),
    "an atomic over a store": (
        """
        setp.eq.u32 %p1, %r1, 0;
        @%p1 st.global.u32 [%rd0], 5;
        @!%p1 red.global.add.u32 [%rd0], %r2;
        """,
        "apply atomics to bytes that other CTAs write",
    ),
    "a read of a reduction": (
        "red.global.add.u32 [%rd0], %r2; ld.global.u32 %r4, [%rd0]; st.global.u32 [%rd2+64], %r4;",
        "CTAs read bytes that other CTAs write",
    ),
    "part of an element": ("red.global.add.u32 [%rd0], %r2; ld.global.u8 %r4, [%rd0];", "access parts of elements"),
    "halves of floats added by a bulk copy": (
        """
        .shared .align 16 .b32 s[4];
        st.shared.v4.u32 [s], {%r1, %r1, 3, 4};
        fence.proxy.async;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd0], [s], 16;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        """,
        "a bulk reduction by add of f16 depends on the order",
    ),
}


@pytest.mark.parametrize("body", MERGED.values(), ids=MERGED)
def test_results_that_are_merged(body: str) -> None:
    assert run_in_parts(body) == ""


@pytest.mark.parametrize(("body", "reason"), SINGLE_WORKER.values(), ids=SINGLE_WORKER)
def test_launches_on_a_single_worker_state_the_reason(body: str, reason: str) -> None:
    assert reason in run_in_parts(body)


def test_a_race_between_ctas_runs_on_a_single_worker() -> None:
    assert "CTAs write bytes that other CTAs write: argument 0 (out), byte 0" in run_in_parts(
        "st.global.u32 [%rd0], %r1;", sanitize=True
    )
    assert run_in_parts("st.global.u32 [%rd2], %r1;", sanitize=True) == ""
    assert run_in_parts("red.global.add.u32 [%rd0], %r1;", sanitize=True) == ""


def test_a_trap_in_parts_has_the_message_of_one_process() -> None:
    body = "mul.wide.u32 %rd3, %r1, 100; add.u64 %rd3, %rd3, %rd2; st.global.u32 [%rd3], %r1;"
    text = kernel(PROLOGUE + body)
    messages: list[str] = []
    for workers in (1, "dask"):
        with in_process_parts(3, 1), pytest.raises(wl.WarploomError) as ended:
            wl.launch(text, grid=CTAS, block=32, args=[np.zeros(64, np.uint32)], workers=workers)  # type: ignore[arg-type]
        messages.append(str(ended.value))
    assert messages[0] == messages[1]
    assert "CTA (3, 0, 0)" in messages[0]
    assert run_in_parts(body, sanitize=True) == ""  # the sanitizer reports the trap as its last finding


@pytest.mark.parametrize("sanitize", [False, True])
def test_the_step_budget_holds_for_all_parts_together(sanitize: bool) -> None:
    text = kernel("mov.u32 %r3, 40; LOOP: sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra LOOP;")
    messages: list[str] = []
    for workers in (1, "dask"):
        with in_process_parts(3, 1) as distributor:
            try:
                done = wl.launch(
                    text, grid=CTAS, block=32, args=[np.zeros(64, np.uint32)], workers=workers, step_budget=6000,
                    sanitize=sanitize,
                )  # fmt: skip
                messages.append("".join(map(str, done.findings)))
            except wl.WarploomError as ended:
                messages.append(str(ended))
    assert messages[0] == messages[1]
    assert "exceeded the step budget" in messages[0]
    assert "step budget" in distributor.reasons[0]


OPERATIONS = [
    (f"{op}.{word}", size)
    for op, words in {
        "add": ("u32", "s32", "u64"), "and": ("b32", "b64"), "or": ("b32", "b64"), "xor": ("b32", "b64"),
        "min": ("u32", "s32", "u64", "s64"), "max": ("u32", "s32", "u64", "s64"),
    }.items()
    for word in words
    for size in [int(word[1:]) // 8]
]  # fmt: skip


@settings(max_examples=12)
@given(operation=st.sampled_from(OPERATIONS), seed=st.integers(0, 2**16), mask=st.integers(0, 31))
def test_commutative_reductions_are_merged_exactly(operation: tuple[str, int], seed: int, mask: int) -> None:
    word, size = operation
    value = "%r2" if size == 4 else "%rd5"
    body = f"""
        and.b32 %r3, %r2, {mask};
        mul.wide.u32 %rd4, %r3, {size};
        add.u64 %rd4, %rd0, %rd4;
        mul.wide.u32 %rd5, %r2, %r2;
        red.global.{word} [%rd4], {value};
    """
    assert run_in_parts(body, seed=seed) == ""
