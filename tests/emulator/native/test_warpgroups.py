"""Warpgroup instructions in native code: warps wait for their whole warpgroup, as in the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.texts import kernel

import warploom as wl
from warploom.emulator.faults import Deadlock

ORDER = "wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
LATE = """
    .reg .pred %late, %again;
    mov.u32 %r1, 0;
    setp.ge.u32 %late, %r0, 96;
    @!%late bra ORDER;
SPIN:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %again, %r1, 4;
    @%again bra SPIN;
ORDER:
"""
STORE = "st.global.u32 [%rd1], %r0;\nret;"


def launch(body: str, threads: int, grid: int = 3) -> wl.Run:
    out = np.zeros(threads, np.uint32)
    run = wl.launch(kernel(body), grid=grid, block=threads, args=[out])
    assert (out == np.arange(threads)).all()
    return run


@pytest.mark.parametrize("prefix", ["", LATE], ids=["together", "late"])
@pytest.mark.parametrize("threads", [128, 256])
def test_both_engines_execute_the_same_batches(prefix: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    body = prefix + ORDER + STORE
    monkeypatch.setenv("WARPLOOM_ENGINE", "interpreter")
    want = launch(body, threads).stats
    monkeypatch.setenv("WARPLOOM_ENGINE", "auto")
    found = launch(body, threads).stats
    assert (found.batches, found.spent, found.instructions) == (want.batches, want.spent, want.instructions)
    if not prefix:
        assert not any(each.opcode.startswith("wgmma") for each in found.times.instructions)


@pytest.mark.parametrize("engine", ["auto", "interpreter"])
def test_a_warp_outside_any_warpgroup_waits_forever(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    with pytest.raises(Deadlock, match="warp 4"):
        launch(ORDER + STORE, 160)


@pytest.mark.parametrize("options", [{"trace": True}, {"profile": True}, {"sanitize": True}], ids=str)
def test_observers_see_commits_and_waits(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[Any, ...]] = []
    for engine in ("interpreter", "auto"):
        monkeypatch.setenv("WARPLOOM_ENGINE", engine)
        out = np.zeros(128, np.uint32)
        run = wl.launch(kernel(LATE + ORDER + STORE), grid=2, block=128, args=[out], **options)
        found.append((run.findings, str(run.trace), str(run.profile)))
    assert found[0] == found[1]
