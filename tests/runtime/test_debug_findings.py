"""Stops of a debugger session at findings of the sanitizer."""

from __future__ import annotations

import re

import numpy as np
import pytest
from emulator.texts import kernel
from runtime.debug_sessions import session_of

import warploom as wl
from warploom.runtime.debugging.focus import Moment
from warploom.runtime.debugging.session import DebugSession

ENGINES = ("interpreter", "auto")
SCHEDULES = ("eager", "lazy", "random:1")
RACES = """
.shared .b32 words[128];
mov.u32 %r1, words;
shl.b32 %r2, %r0, 2;
add.u32 %r1, %r1, %r2;
xor.b32 %r3, %r2, 128;
mov.u32 %r4, words;
add.u32 %r3, %r4, %r3;
mov.u32 %r5, 0;
st.shared.u32 [%r1], %r0;
bar.sync 0;
L:
add.u32 %r5, %r5, 1;
setp.lt.u32 %p1, %r5, 4;
@%p1 bra L;
ld.shared.u32 %r6, [%r3];
bra N;
N:
mov.u32 %r7, 1;
bra M;
M:
add.u32 %r6, %r6, %r7;
st.shared.u32 [%r1], %r6;
bar.sync 0;
st.shared.u32 [%r1+256], %r6;
ld.shared.u32 %r6, [%r3+256];
st.global.u32 [%rd1], %r6;
ret;
"""


def threads(message: str) -> set[tuple[int, int]]:
    """Return the warps and lanes that a message names."""
    return {(int(warp), int(lane)) for warp, lane in re.findall(r"warp (\d+), lane (\d+)", message)}


def at_finding(session: DebugSession) -> None:
    """Check that the launch is before the access of a thread that the message names."""
    stop = session.stop
    assert stop is not None
    assert stop.reason == "finding"
    for each in stop.findings:
        assert each.moment == stop.moment
        assert each.span == session.program.span_of(stop.pc)
        named = threads(each.message.split(";")[-1])
        assert named
        assert named <= {(part.warp, lane) for part in stop.batch for lane in range(32)}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_launch_stops_at_each_finding(schedule: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    expected = wl.launch(kernel(RACES), grid=1, block=64, args=[np.zeros(64, np.uint32)], sanitize=True,
                         schedule=schedule).findings  # fmt: skip
    session, out = session_of(RACES, schedule=schedule)
    assert session.findings == expected
    assert len(expected) > 1
    session.break_at("finding")
    found: list[Moment] = []
    while (stop := session.resume()).reason == "finding":
        at_finding(session)
        found.append(stop.moment)
    assert stop.reason == "end"
    assert found == sorted({Moment(*each.moment) for each in session.findings if each.moment is not None})
    assert not out.any()
    assert session.reverse_resume().reason == "finding"
    assert session.moment == found[-1]
    session.close()
    assert out.any()


def test_moments_of_both_engines_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[list[object]] = []
    for engine in ENGINES:
        monkeypatch.setenv("WARPLOOM_ENGINE", engine)
        found.append([each.moment for each in session_of(RACES)[0].findings])
    assert found[0] == found[1]


@pytest.mark.parametrize("place", ["kind exit", "end"])
def test_findings_of_a_launch_that_has_moved(place: str) -> None:
    """The sanitized copy begins with the memory at the start, and the launch is at the same moment afterwards."""
    expected = session_of(RACES)[0].findings
    session, _ = session_of(RACES)
    before = session.goto("end") if place == "end" else session.until(place)
    assert session.findings == expected
    assert session.moment == before.moment
    assert session.waves.is_over == (place == "end")
    assert session.stop is before


def test_one_finding_is_chosen_by_rule_or_number() -> None:
    session, _ = session_of(RACES)
    first, second = session.findings[:2]
    assert session.break_at("#2").findings == (second,)
    assert first in session.break_at("finding race/shared").findings
    assert session.break_at(f"finding {first.code}", condition="lane == 0").findings
    assert session.resume().reason == "finding"


@pytest.mark.parametrize(
    ("body", "where", "message"),
    [
        (RACES, "finding race/sharde", "no finding of the rule race/sharde; found: race/shared"),
        (RACES, "#9", "there is no finding #9; there are 2 findings"),
        ("ret;", "finding", "the sanitizer finds nothing in this launch"),
    ],
)
def test_an_unknown_finding_is_refused(body: str, where: str, message: str) -> None:
    session, _ = session_of(body)
    with pytest.raises(wl.UsageError, match=message) as error:
        session.break_at(where)
    assert error.value.diagnostics[0].code == "debug.finding"
