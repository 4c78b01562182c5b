"""Every tool on a bulk copy that ignores bytes at the ends of its source."""

from __future__ import annotations

import numpy as np
import pytest

import warploom as wl
from warploom.author import Location, kernel, new, pointer, ptx, shared, u32
from warploom.emulator.faults import Trap
from warploom.observe.trace import Kind

OPCODE = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob"
SCHEDULES = ("eager", "lazy", "random:1")
WAIT = "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra W;"


def text(wait: str = WAIT, right: int = 12) -> str:
    """Return a kernel that copies 112 bytes without the last, and stores word by word what it finds."""
    return f"""
.version 9.2
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 source, .param .u64 out)
{{
.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
.shared .align 16 .b8 stage[128];
.shared .align 8 .b64 bar;
ld.param.u64 %rd0, [source];
ld.param.u64 %rd1, [out];
mov.u32 %r0, %tid.x;
setp.eq.u32 %p0, %r0, 0;
@%p0 mbarrier.init.shared::cta.b64 [bar], 1;
fence.proxy.async.shared::cta;
bar.sync 0;
@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 112;
@%p0 {OPCODE} [stage], [%rd0], 112, 0, {right}, [bar];
{wait}
mov.u32 %r2, stage;
mad.lo.u32 %r2, %r0, 4, %r2;
ld.shared.u32 %r1, [%r2];
mad.wide.u32 %rd2, %r0, 4, %rd1;
st.global.u32 [%rd2], %r1;
ret;
}}
"""


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_source_may_end_before_the_copy(schedule: str) -> None:
    source, out = np.arange(25, dtype=np.uint32), np.zeros(25, np.uint32)
    run = wl.launch(text(), grid=1, block=25, args=[source, out], schedule=schedule, sanitize=True)
    assert (out == source).all()
    assert [str(each) for each in run.findings or ()] == []


def test_bytes_that_are_not_ignored_must_be_in_bounds() -> None:
    with pytest.raises(Trap) as caught:
        wl.launch(text(right=8), grid=1, block=25, args=[np.zeros(25, np.uint32), np.zeros(25, np.uint32)])
    assert caught.value.diagnostics[0].code == "emulator.out-of-bounds"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_early_read_is_found(schedule: str) -> None:
    run = wl.launch(
        text(wait=""), grid=1, block=25, args=[np.zeros(25, np.uint32), np.zeros(25, np.uint32)],
        schedule=schedule, sanitize=True,
    )  # fmt: skip
    assert {each.code for each in run.findings or ()} == {"sanitize.copy/destination"}


def test_the_trace_has_the_copy_and_the_bytes_that_it_counts() -> None:
    run = wl.launch(
        text(), grid=1, block=25, args=[np.zeros(25, np.uint32), np.zeros(25, np.uint32)], trace=True, schedule="lazy"
    )
    assert run.trace is not None
    copies = [each for each in run.trace.events if each["kind"] == Kind.COPY]
    assert [int(each["amount"]) for each in copies] == [112]


def test_the_text_is_printed_unchanged_and_needs_ptx_9_2() -> None:
    assert str(wl.parse(text())) == text()
    assert wl.check(text()).ok
    assert {each.code for each in wl.check(text().replace("9.2", "9.1"))} == {"bulk.load_part/ptx"}
    assert "bulk.load_part/target" in {each.code for each in wl.check(text(), target="sm_80")}


def test_a_call_writes_the_instruction() -> None:
    @kernel(target="sm_90a", ptx_version="9.2")
    def made(x: pointer(u32)):
        stage, bar = shared(128), shared(8)
        ptx.cp_async_bulk(stage.at(), Location(x, 0, "global"), 112, 0, new(u32), bar.at(), ignore_oob=True)

    assert f"{OPCODE} [" in made.text
    assert wl.check(made.text).ok


def test_explain_names_the_operands() -> None:
    assert "ignoreBytesRight" in wl.explain(OPCODE)
