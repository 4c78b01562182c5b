"""CTAs that speak to each other through global memory: what commutes is put together, the rest runs on one worker."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.texts import kernel
from hypothesis import given, settings
from hypothesis import strategies as st
from integrations.dask.shuffled import shuffled

import warploom as wl

CTAS = 6
MINE = """
    mov.u32 %r1, %ctaid.x;
    mad.wide.u32 %rd2, %r1, 4, %rd0;
    mad.lo.u32 %r2, %r1, 7, %r0;
    mul.lo.u32 %r2, %r2, 2654435761;
"""  # %rd2: a word for each CTA; %r2: a number for each thread


def launched(body: str, sanitize: bool = False, seed: int = 0, before: str = "") -> str:
    """Run a kernel alone and in parts; why it ran together."""
    text = kernel(MINE + body, before=before)
    start = np.random.default_rng(seed).integers(0, 2**32, 64, dtype=np.uint32)

    def launch(workers: Any) -> tuple[Any, list[str]]:
        out = start.copy()
        done = wl.launch(text, grid=CTAS, block=32, args=[out], sanitize=sanitize, workers=workers)
        return out, [str(found) for found in done.findings]

    with shuffled(seed, 1) as spread:
        alone, said = launch(1)
        parted, said_by_parts = launch("dask")
    assert spread.parts == [CTAS]
    assert parted.tolist() == alone.tolist()
    assert said_by_parts == said
    return spread.reasons[0]


APART = {
    "a word for each CTA": "st.global.u32 [%rd2], %r2;",
    "in place": "ld.global.u32 %r3, [%rd2]; bar.warp.sync -1; add.u32 %r3, %r3, 5; st.global.u32 [%rd2], %r3;",
    "the last one wins": "st.global.u32 [%rd0], %r1;",
    "read before it is written": """
        ld.global.u32 %r3, [%rd2+4];
        st.global.u32 [%rd2], %r3;
    """,
    "an atomic whose result nobody reads": "atom.global.add.u32 %r9, [%rd0], %r2;",
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
TOGETHER = {
    "a ticket": (
        "atom.global.add.u32 %r9, [%rd0], 1; st.global.u32 [%rd2+64], %r9;",
        "atom.global.add.u32 in line 15 returns what other CTAs may have left",
    ),
    "a sum of floats": (
        "red.global.add.f32 [%rd0], 0f3F800000;",
        "depends on the order in which CTAs come to it",
    ),
    "an exchange": ("atom.global.exch.b32 %r9, [%rd0], %r2;", "depends on the order"),
    "a counter that wraps": ("red.global.inc.u32 [%rd0], 9;", "depends on the order"),
    "a flag that is waited for": (
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
        "ld.acquire.gpu.global.u32 in line 19 returns what other CTAs may have left",
    ),
    "what an earlier CTA wrote": (
        "st.global.u32 [%rd2+4], %r1; ld.global.u32 %r4, [%rd2]; st.global.u32 [%rd2+64], %r4;",
        "CTAs read what other CTAs write: argument 0 (out), byte 4",
    ),
    "two kinds of atomics": (
        "red.global.add.u32 [%rd0], %r2; red.global.max.u32 [%rd0], 77;",
        "CTAs read what other CTAs write",
    ),
    "two kinds, each of some CTAs": (
        """
        and.b32 %r3, %r1, 1;
        setp.eq.u32 %p1, %r3, 0;
        @%p1 red.global.add.u32 [%rd0], %r2;
        @!%p1 red.global.xor.b32 [%rd0], %r2;
        """,
        "change by atomics of one kind what other CTAs change by another",
    ),
    "an atomic over a store": (
        """
        setp.eq.u32 %p1, %r1, 0;
        @%p1 st.global.u32 [%rd0], 5;
        @!%p1 red.global.add.u32 [%rd0], %r2;
        """,
        "change by atomics what other CTAs write",
    ),
    "a look at what is added up": (
        "red.global.add.u32 [%rd0], %r2; ld.global.u32 %r4, [%rd0]; st.global.u32 [%rd2+64], %r4;",
        "CTAs read what other CTAs write",
    ),
    "part of an element": (
        "red.global.add.u32 [%rd0], %r2; ld.global.u8 %r4, [%rd0];",
        "parts are read or written",
    ),
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


@pytest.mark.parametrize("body", APART.values(), ids=APART)
def test_what_is_put_together(body: str) -> None:
    assert launched(body) == ""


@pytest.mark.parametrize(("body", "why"), TOGETHER.values(), ids=TOGETHER)
def test_what_runs_together_and_why(body: str, why: str) -> None:
    assert why in launched(body)


def test_a_race_between_ctas_is_found_where_both_are() -> None:
    assert "CTAs write what other CTAs write: argument 0 (out), byte 0" in launched(
        "st.global.u32 [%rd0], %r1;", sanitize=True
    )
    assert launched("st.global.u32 [%rd2], %r1;", sanitize=True) == ""
    assert launched("red.global.add.u32 [%rd0], %r1;", sanitize=True) == ""


def test_a_trap_ends_a_launch_in_parts_with_the_words_of_one_alone() -> None:
    body = "mul.wide.u32 %rd3, %r1, 100; add.u64 %rd3, %rd3, %rd2; st.global.u32 [%rd3], %r1;"
    text = kernel(MINE + body)
    said: list[str] = []
    for workers in (1, "dask"):
        with shuffled(3, 1), pytest.raises(wl.WarploomError) as ended:
            wl.launch(text, grid=CTAS, block=32, args=[np.zeros(64, np.uint32)], workers=workers)  # type: ignore[arg-type]
        said.append(str(ended.value))
    assert said[0] == said[1]
    assert "CTA (3, 0, 0)" in said[0]
    assert launched(body, sanitize=True) == ""  # to the sanitizer it is a finding, the last one


@pytest.mark.parametrize("sanitize", [False, True])
def test_the_step_budget_is_for_all_parts_together(sanitize: bool) -> None:
    text = kernel("mov.u32 %r3, 40; LOOP: sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra LOOP;")
    said: list[str] = []
    for workers in (1, "dask"):
        with shuffled(3, 1) as spread:
            try:
                done = wl.launch(
                    text, grid=CTAS, block=32, args=[np.zeros(64, np.uint32)], workers=workers, step_budget=6000,
                    sanitize=sanitize,
                )  # fmt: skip
                said.append("".join(map(str, done.findings)))
            except wl.WarploomError as ended:
                said.append(str(ended))
    assert said[0] == said[1]
    assert "the limit of this run" in said[0]
    assert "step budget" in spread.reasons[0]


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
@given(operation=st.sampled_from(OPERATIONS), seed=st.integers(0, 2**16), spread=st.integers(0, 31))
def test_reductions_that_commute_are_put_together_exactly(
    operation: tuple[str, int], seed: int, spread: int
) -> None:
    word, size = operation
    value = "%r2" if size == 4 else "%rd5"
    body = f"""
        and.b32 %r3, %r2, {spread};
        mul.wide.u32 %rd4, %r3, {size};
        add.u64 %rd4, %rd0, %rd4;
        mul.wide.u32 %rd5, %r2, %r2;
        red.global.{word} [%rd4], {value};
    """
    assert launched(body, seed=seed) == ""
