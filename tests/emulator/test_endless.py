"""Endless loops are reported with their location and the awaited value; loops that end are never reported."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest
from emulator.texts import kernel, run

import warploom as wl
from warploom.diagnostics import Diagnostic
from warploom.emulator import repetition
from warploom.emulator.faults import Deadlock, Trap
from warploom.runtime.api import Progress

SCHEDULES = ("eager", "lazy", "random:1")
BUDGET = 8_000_000  # bounds the time of a test that fails
INIT = """
    .shared .align 8 .b64 bars[2];
    setp.eq.u32 %p5, %r0, 0;
    @%p5 mbarrier.init.shared::cta.b64 [bars], 1;
    @%p5 mbarrier.init.shared::cta.b64 [bars+8], 1;
    bar.sync 0;"""

# name -> (body, options of the launch, code, parts of the first message)
ENDLESS: dict[str, tuple[str, dict[str, Any], str, tuple[str, ...]]] = {
    "a branch to itself": ("L:\nbra L;", {}, "endless", ("CTA (0, 0, 0), warp 0 repeats line 12",)),
    "a loop that computes the same": (
        "L:\nadd.u32 %r1, %r0, 1;\nsub.u32 %r2, %r1, %r0;\nbra L;", {}, "endless", ("repeats lines 12 to 14",),
    ),
    "a counter that has no end": ("L:\nadd.u32 %r1, %r1, 1;\nbra L;", {}, "endless", ("no branch leaves",)),
    "a clock that nothing compares": ("L:\nmov.u32 %r1, %clock;\nbra L;", {}, "endless", ("no branch leaves",)),
    "a counter that stays below its bound": (
        "L:\nadd.u32 %r1, %r1, 1;\nand.b32 %r1, %r1, 7;\nsetp.lt.u32 %p1, %r1, 100;\n@%p1 bra L;", {}, "endless",
        ("repeats lines 12 to 15",),
    ),
    "a flag that is never set": (
        "L:\nld.acquire.gpu.global.u32 %r1, [%rd0+4];\nsetp.ne.u32 %p1, %r1, 7;\n@%p1 bra L;", {"grid": 3}, "endless",
        ("warp 0 and 2 more warps poll the 4 bytes at offset 4 of argument 0 (out)", "their value is 0", "value 7"),
    ),
    "a flag with a sleep": (
        "L:\nnanosleep.u32 100;\nld.volatile.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;", {},
        "endless", ("polls the 4 bytes at offset 0", "value 1"),
    ),
    "a flag in one bit": (
        "L:\nld.volatile.global.u32 %r1, [%rd0];\nand.b32 %r1, %r1, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;", {},
        "endless", ("value 1",),
    ),
    "a flag in shared memory": (
        ".shared .b32 flag;\nL:\nld.volatile.shared.u32 %r1, [flag];\nsetp.ne.u32 %p1, %r1, 3;\n@%p1 bra L;", {},
        "endless", ("the 4 bytes at shared offset 0x400", "value 3"),
    ),
    "a lock that is never free": (
        "L:\natom.global.cas.b32 %r1, [%rd0+8], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;", {},
        "endless", ("offset 8", "their value is 1", "value 0"),
    ),
    "an atomic that adds nothing": (
        "L:\natom.global.add.u32 %r1, [%rd0], 0;\nsetp.lt.u32 %p1, %r1, 2;\n@%p1 bra L;", {}, "endless", ("value 2",),
    ),
    "a test of a phase": (
        f"{INIT}\nL:\nmbarrier.test_wait.parity.shared::cta.b64 %p1, [bars+8], 0;\n@!%p1 bra L;", {}, "deadlock",
        ("waits for the mbarrier at shared offset 0x408, whose phase 0 lacks 1 arrivals",),
    ),
    "an attempt to wait beside a loop": (
        f"""{INIT}
        setp.lt.u32 %p2, %r0, 32;
        @%p2 bra M;
        L:
        mbarrier.try_wait.parity.shared::cta.b64 %p1, [bars], 0;
        @!%p1 bra L;
        ret;
        M:
        bra M;""", {"block": 64}, "endless", ("repeats line 23",),
    ),
    "a barrier in a loop": ("L:\nbar.sync 0;\nbra L;", {"block": 64}, "endless", ("repeat lines 12 to 13",)),
    "warps that hand a token over": (
        """
        setp.lt.u32 %p3, %r0, 32;
        selp.u32 %r5, 1, 0, %p3;
        xor.b32 %r6, %r5, 1;
        L:
        ld.volatile.global.u32 %r1, [%rd0];
        setp.ne.u32 %p1, %r1, %r5;
        @%p1 bra L;
        st.volatile.global.u32 [%rd0], %r6;
        bra L;""", {"block": 64}, "endless", ("1 more warp repeat lines 15 to 19",),
    ),
    "a store of the same value": ("L:\nst.volatile.global.u32 [%rd0], 5;\nbra L;", {}, "endless", ("lines 12 to 13",)),
    "a variable in local memory": (
        (".local .b32 x;\nL:\nld.local.u32 %r1, [x];\nadd.u32 %r1, %r1, 1;\nand.b32 %r1, %r1, 3;\n"
        "st.local.u32 [x], %r1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;"), {}, "endless", ("repeats lines 13 to 18",),
    ),
    "some lanes of a warp": (
        ("setp.gt.u32 %p1, %r0, 4;\n@%p1 bra E;\nL:\nld.volatile.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p2, %r1, 0;\n"
        "@%p2 bra L;\nE:\nbar.warp.sync -1;"), {}, "endless", ("polls the 4 bytes",),
    ),
    "a vote": (
        ("L:\nld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\nvote.sync.any.pred %p2, %p1, -1;\n"
        "@%p2 bra L;"), {}, "endless", ("polls the 4 bytes",),
    ),
    "a flag for warps at a barrier": (
        ("setp.lt.u32 %p1, %r0, 32;\n@%p1 bra L;\nbar.sync 1, 64;\nret;\nL:\nld.volatile.global.u32 %r1, [%rd0];\n"
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nbar.sync 1, 64;"), {"block": 64}, "endless", ("polls the 4 bytes",),
    ),
}  # fmt: skip


def found_in(body: str, schedule: str, out: np.ndarray[Any, Any], **options: Any) -> tuple[Diagnostic, ...]:
    shape = {"grid": 1, "block": 32, **options}
    with pytest.raises(Deadlock) as caught:
        wl.launch(kernel(body), args=[out], schedule=schedule, step_budget=BUDGET, **shape)
    return caught.value.diagnostics


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_loop_is_reported(name: str, schedule: str) -> None:
    body, options, code, parts = ENDLESS[name]
    out = np.zeros(64, np.uint32)
    out[2] = 1
    first = found_in(body, schedule, out, **options)[0]
    assert first.code == f"emulator.{code}"
    for part in parts:
        if "repeat" not in part or "no branch leaves" not in first.message:
            assert part in first.message


def test_waiting_warps_are_reported_after_the_loop() -> None:
    body, options, _, _ = ENDLESS["a flag for warps at a barrier"]
    loop, barrier = found_in(body, "eager", np.zeros(64, np.uint32), **options)
    assert (loop.code, barrier.code) == ("emulator.endless", "emulator.deadlock")
    assert loop.data is not None
    assert loop.data["for"] | {"name": ""} == {
        "kind": "memory",
        "name": "",
        "value": 0,
        "size": 4,
        "lane": 0,
        "ends": 1,
    }
    assert "warp 1 waits for barrier 1" in barrier.message


def test_ctas_that_have_not_started_are_a_note() -> None:
    body = """
    mov.u32 %r2, %ctaid.x;
    setp.eq.u32 %p2, %r2, 99;
    @%p2 st.release.gpu.global.u32 [%rd0], 1;
    L:
    ld.acquire.gpu.global.u32 %r1, [%rd0];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra L;"""
    (found,) = found_in(body, "eager", np.zeros(1, np.uint32), grid=100, block=1024)
    assert [note.message for note in found.notes] == [
        "the emulator runs 96 of 100 CTAs at a time; no CTA of a later wave has started"
    ]


def test_the_step_budget_names_the_lines_that_ran() -> None:
    body = "L:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 1000000000;\n@%p1 bra L;"
    with pytest.raises(Trap) as caught:
        wl.launch(kernel(body), grid=1, block=64, args=[np.zeros(64, np.uint32)], step_budget=100_000)
    (found,) = caught.value.diagnostics
    assert found.code == "emulator.runaway"
    assert "CTA (0, 0, 0), warp 0; the last 256 batches executed lines 12 to 14, most often line 12" in found.message


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_names_the_lines_that_ran(workers: int) -> None:
    body = "L:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 1000000000;\n@%p1 bra L;"

    def interrupt(now: Progress) -> None:
        if now.instructions:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as caught:
        wl.launch(
            kernel(body), grid=2, block=32, args=[np.zeros(32, np.uint32)], progress=interrupt, workers=workers,
            step_budget=BUDGET,
        )  # fmt: skip
    (note,) = caught.value.__notes__
    assert note.startswith("the run stopped in kernel k, CTA (0, 0, 0), warp 0; the last 256 batches executed lines")


# Loops that end ---------------------------------------------------------------------------------------------


def test_a_flag_that_is_set_after_long_work() -> None:
    body = """
    mov.u32 %r2, %ctaid.x;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra POLL;
    W:
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 900;
    @%p1 bra W;
    st.release.gpu.global.u32 [%rd0], 1;
    ret;
    POLL:
    nanosleep.u32 20;
    ld.acquire.gpu.global.u32 %r1, [%rd0];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra POLL;
    st.global.u32 [%rd1], 7;"""
    assert run(body, grid=2, step_budget=BUDGET)[1:].tolist() == [7] * 31


def test_work_whose_state_almost_repeats() -> None:
    # One warp polls; the registers of the other warp differ only in a counter, which is far ahead in iterations.
    body = """
    setp.lt.u32 %p1, %r0, 32;
    @%p1 bra POLL;
    W:
    add.u32 %r4, %r4, 1;
    and.b32 %r5, %r4, 1;
    setp.lt.u32 %p1, %r4, 900;
    @%p1 bra W;
    st.volatile.global.u32 [%rd0+128], 1;
    ret;
    POLL:
    ld.volatile.global.u32 %r1, [%rd0+128];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra POLL;
    st.global.u32 [%rd1], 3;"""
    assert run(body, 64, block=64, step_budget=BUDGET)[:32].tolist() == [3] * 32


def test_a_counter_in_memory() -> None:
    for space, declared, address in (
        ("global", "", "%rd0"), ("shared", ".shared .b32 x;", "x"), ("local", ".local .b32 x;", "x"),
    ):  # fmt: skip
        body = f"""
        {declared}
        setp.gt.u32 %p1, %r0, 0;
        @%p1 bra E;
        L:
        ld.{space}.u32 %r1, [{address}];
        add.u32 %r1, %r1, 1;
        st.{space}.u32 [{address}], %r1;
        setp.lt.u32 %p1, %r1, 900;
        mov.u32 %r1, 0;
        @%p1 bra L;
        E:
        st.global.u32 [%rd0+4], 9;"""
        assert run(body)[1] == 9


def test_a_lock_under_contention() -> None:
    body = """
    and.b32 %r2, %r0, 31;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra E;
    mov.u32 %r4, 0;
    AGAIN:
    L:
    atom.acquire.gpu.global.cas.b32 %r1, [%rd0], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra L;
    ld.volatile.global.u32 %r3, [%rd0+4];
    add.u32 %r3, %r3, 1;
    st.volatile.global.u32 [%rd0+4], %r3;
    atom.release.gpu.global.exch.b32 %r1, [%rd0], 0;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 20;
    @%p1 bra AGAIN;
    E:"""
    assert run(body, grid=2, block=128)[1] == 2 * 4 * 20


def test_a_timeout_by_the_clock() -> None:
    body = """
    mov.u64 %rd2, %clock64;
    L:
    mov.u64 %rd3, %clock64;
    sub.u64 %rd3, %rd3, %rd2;
    setp.lt.u64 %p1, %rd3, 6000;
    mov.u64 %rd3, 0;
    @%p1 bra L;
    st.global.u32 [%rd1], 1;"""
    assert run(body, step_budget=BUDGET).tolist() == [1] * 32


def test_an_early_return_of_a_wait_ends_a_loop() -> None:
    # A wait may return before its phase completes. The warp then sets the flag that ends the other loop.
    body = f"""{INIT}
    setp.lt.u32 %p2, %r0, 32;
    @%p2 bra POLL;
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [bars], 0;
    st.volatile.global.u32 [%rd0], 1;
    ret;
    POLL:
    ld.volatile.global.u32 %r1, [%rd0];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra POLL;"""
    assert run(body, 64, block=64)[0] == 1


def test_a_copy_in_flight_ends_a_loop() -> None:
    body = """
    .shared .align 16 .b32 to[4];
    mov.u32 %r2, to;
    st.shared.u32 [%r2], 0;
    setp.eq.u32 %p2, %r0, 0;
    bar.warp.sync -1;
    st.global.u32 [%rd0], 6;
    bar.warp.sync -1;
    @%p2 cp.async.ca.shared.global [%r2], [%rd0], 4;
    L:
    ld.volatile.shared.u32 %r1, [%r2];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra L;
    st.global.u32 [%rd1], 6;"""
    assert run(body).tolist() == [6] * 32


def test_lanes_that_wait_for_a_lock_of_their_warp() -> None:
    body = """
    setp.gt.u32 %p1, %r0, 5;
    @%p1 bra E;
    L:
    atom.global.cas.b32 %r1, [%rd0+124], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra L;
    ld.volatile.global.u32 %r3, [%rd0];
    add.u32 %r3, %r3, 1;
    st.volatile.global.u32 [%rd0], %r3;
    atom.global.exch.b32 %r1, [%rd0+124], 0;
    E:"""
    assert run(body, step_budget=BUDGET)[0] == 6


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_lanes_that_wait_for_a_lock_and_then_at_an_aligned_barrier(schedule: str) -> None:
    # The lane with the lock waits where the lanes meet, while earlier lanes wait for it at the barrier.
    body = """
    L:
    atom.global.cas.b32 %r1, [%rd0], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra L;
    ld.volatile.global.u32 %r3, [%rd0+4];
    add.u32 %r3, %r3, 1;
    st.volatile.global.u32 [%rd0+4], %r3;
    atom.global.exch.b32 %r1, [%rd0], 0;
    bar.sync 0;"""
    out = np.zeros(2, np.uint32)
    stats = wl.launch(
        kernel(body), grid=1, block=12, args=[out], schedule=schedule, step_budget=BUDGET
    ).stats  # fmt: skip
    assert out.tolist() == [0, 12]
    assert stats.batches < 12 * 340  # each lane waits for a shorter time than the lane before it


def test_a_short_run_does_not_search_its_program_for_exits(monkeypatch: pytest.MonkeyPatch) -> None:
    # The search takes a tenth of the first launch of a long kernel.
    searches: list[object] = []
    monkeypatch.setattr(repetition, "leads_to", lambda *searched: searches.append(searched))
    run("L:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 20;\n@%p1 bra L;")
    assert not searches
