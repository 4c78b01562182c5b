"""Cooperative grids: all CTAs are resident together and can wait for each other."""

from __future__ import annotations

import numpy as np
import pytest

import warploom as wl

SYNCHRONIZE = """
.version 8.0
.target sm_90
.address_size 64

.visible .entry exchange(.param .u64 values, .param .u64 results)
{
    .reg .b64 %values, %results, %space, %offset;
    .reg .b32 %high, %low, %thread, %cta, %ctas, %old, %count, %other, %value;
    .reg .pred %first, %waits;
    ld.param.u64 %values, [values];
    ld.param.u64 %results, [results];
    mov.u32 %high, %envreg1;
    mov.u32 %low, %envreg2;
    mov.b64 %space, {%low, %high};
    mov.u32 %thread, %tid.x;
    mov.u32 %cta, %ctaid.x;
    mov.u32 %ctas, %nctaid.x;
    setp.ne.u32 %first, %thread, 0;
    @%first bra ARRIVED;
    mul.wide.u32 %offset, %cta, 4;
    add.u64 %values, %values, %offset;
    st.global.u32 [%values], %cta;
    sub.u64 %values, %values, %offset;
    fence.acq_rel.gpu;
    atom.global.add.u32 %old, [%space+4], 1;
WAIT:
    ld.acquire.gpu.global.u32 %count, [%space+4];
    setp.lt.u32 %waits, %count, %ctas;
    @%waits bra WAIT;
ARRIVED:
    bar.sync 0;
    @%first bra END;
    add.u32 %other, %cta, 1;
    rem.u32 %other, %other, %ctas;
    mul.wide.u32 %offset, %other, 4;
    add.u64 %values, %values, %offset;
    ld.global.u32 %value, [%values];
    mul.wide.u32 %offset, %cta, 4;
    add.u64 %results, %results, %offset;
    st.global.u32 [%results], %value;
END:
    ret;
}
"""
CTAS = 96  # with 16 warps each, more than one wave of a grid that is not cooperative


@pytest.mark.parametrize("engine", ["interpreter", "compiler"])
def test_all_ctas_wait_for_each_other(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    values, results = np.zeros((2, CTAS), np.uint32)
    run = wl.launch(SYNCHRONIZE, grid=CTAS, block=512, args=[values, results], cooperative=True, sanitize=True)
    assert results.tolist() == [(i + 1) % CTAS for i in range(CTAS)]
    assert run.findings == ()


def test_a_grid_without_a_workspace_cannot_synchronize() -> None:
    with pytest.raises(wl.Trap, match="out of bounds"):
        wl.launch(SYNCHRONIZE, grid=CTAS, block=512, args=[*np.zeros((2, CTAS), np.uint32)])


def test_the_sanitizer_refuses_more_warps_than_it_can_follow() -> None:
    ctas = 129  # with 16 warps each
    values, results = np.zeros((2, ctas), np.uint32)
    with pytest.raises(wl.UsageError, match="can follow 2048 warps that run at the same time; all 2064 warps"):
        wl.launch(SYNCHRONIZE, grid=ctas, block=512, args=[values, results], cooperative=True, sanitize=True)
