"""Repeated launches of one program: what a launch keeps for the next one must not affect its results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.texts import kernel

import warploom as wl

# Each thread adds 1 to its element, which the coordinates of the CTA select, if its register and its shared word are 0.
BODY = """
    .shared .b32 word;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r2, %r3, %r1;
    mad.lo.u32 %r5, %r5, %r4, %r0;
    mad.wide.u32 %rd1, %r5, 4, %rd0;
    ld.shared.u32 %r6, [word];
    st.shared.u32 [word], 7;
    add.u32 %r7, %r7, 1;
    ld.global.u32 %r8, [%rd1];
    add.u32 %r8, %r8, %r7;
    add.u32 %r8, %r8, %r6;
    st.global.u32 [%rd1], %r8;
    ret;
"""
TEXT = kernel(BODY.replace("\n    .shared", "\n.shared", 1))
SHAPES = [((3, 1), 32), ((1, 3), 32), ((700, 1), 32), ((3, 1), 32), ((700, 1), 32), ((5, 2), 40), ((3, 1), 32)]


def launch(grid: tuple[int, int], block: int, **options: Any) -> wl.Run:
    out = np.arange(grid[0] * grid[1] * block, dtype=np.uint32)
    run = wl.launch(TEXT, grid=grid, block=block, args=[out], **options)
    np.testing.assert_array_equal(out, np.arange(len(out)) + 1)
    return run


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:3"])
def test_each_launch_has_its_own_grid(schedule: str) -> None:
    for grid, block in SHAPES:
        first, second = (launch(grid, block, schedule=schedule) for _ in range(2))
        assert first.stats.ctas == second.stats.ctas == grid[0] * grid[1]
        assert first.stats.instructions == second.stats.instructions
        assert first.stats.batches == second.stats.batches


def test_random_schedules_repeat() -> None:
    batches = [launch((4, 1), 96, schedule=f"random:{seed}").stats.batches for seed in (1, 2, 1, 2)]
    assert batches[:2] == batches[2:]


def test_a_profile_counts_the_instructions_of_its_launch_only() -> None:
    plain = launch((3, 1), 32)
    profiled = launch((3, 1), 32, profile=True)
    assert profiled.profile is not None
    assert launch((3, 1), 32).stats.instructions == profiled.stats.instructions == plain.stats.instructions
    assert launch((3, 1), 32, sanitize=True).findings


def test_a_launch_follows_a_trap() -> None:
    launch((3, 1), 32)
    with pytest.raises(wl.Trap):
        wl.launch(TEXT, grid=(3, 1), block=32, args=[np.zeros(40, np.uint32)])
    launch((3, 1), 32)


def test_variables_select_their_values_for_each_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    launch((3, 1), 32)
    monkeypatch.setenv("WARPLOOM_STEP_BUDGET", "5")
    with pytest.raises(wl.Trap, match="step budget"):
        launch((3, 1), 32)
    monkeypatch.delenv("WARPLOOM_STEP_BUDGET")
    monkeypatch.setenv("WARPLOOM_ENGINE", "unknown")
    with pytest.raises(wl.UsageError, match="WARPLOOM_ENGINE"):
        launch((3, 1), 32)
    monkeypatch.setenv("WARPLOOM_ENGINE", "interpreter")
    launch((3, 1), 32)


# Warp 0 waits for a phase that never completes, and warp 1 at a CTA barrier. The kernel exits if its argument is 0.
WAITING = kernel(
    """
    mov.u32 %r1, %tid.x;
    mov.u64 %rd2, bar;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared::cta.b64 [%rd2], 2;
    bar.sync 0;
    @%p1 mbarrier.arrive.shared::cta.b64 %rd3, [%rd2];
    ld.global.u32 %r2, [%rd0];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 ret;
    setp.ge.u32 %p3, %r1, 32;
    @%p3 bra BARRIER;
    WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p4, [%rd2], 0;
    @!%p4 bra WAIT;
    BARRIER:
    bar.sync 1, 64;
    ret;
    """,
    before=".shared .align 8 .b64 bar;\n",
)


@pytest.mark.parametrize("engine", ["interpreter", "compiler"])
def test_a_deadlock_leaves_no_waiting_warps(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    messages: list[str] = []
    for waits in (1, 1, 0, 1, 0):
        run = wl.launch(WAITING, grid=2, block=64, args=[np.array([waits], np.uint32)], raises=False)
        messages.append(str(run.error))
    assert "deadlock" in messages[0]
    assert messages == [messages[0], messages[0], "None", messages[0], "None"]
