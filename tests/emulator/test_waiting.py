"""What the report of a deadlock says of who waits on what: its notes, and its data for programs to read."""

from __future__ import annotations

import json

import pytest
from emulator.texts import run

from warploom.diagnostics import Diagnostic, render_json, render_sarif
from warploom.emulator.faults import Deadlock

CROSSED = """
    .shared .b64 bars[2];
    .reg .pred %first, %done;
    setp.eq.u32 %first, %r0, 0;
    @%first mbarrier.init.shared::cta.b64 [bars], 1;
    @%first mbarrier.init.shared::cta.b64 [bars+8], 1;
    bar.sync 0;
    setp.lt.u32 %p1, %r0, 32;
    @%p1 bra ONE;
    TWO:
    mbarrier.try_wait.parity.shared::cta.b64 %done, [bars], 0;
    @!%done bra TWO;
    mbarrier.arrive.shared::cta.b64 _, [bars+8];
    ret;
    ONE:
    mbarrier.try_wait.parity.shared::cta.b64 %done, [bars+8], 0;
    @!%done bra ONE;
    @%first mbarrier.arrive.shared::cta.b64 _, [bars];
    ret;"""


def found_in(body: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(Deadlock) as caught:
        run(body, block=64)
    return caught.value.diagnostics


def test_warps_that_wait_for_each_other_are_a_cycle() -> None:
    two, one = sorted(found_in(CROSSED), key=lambda each: each.span.start if each.span else 0)
    assert two.data is not None
    assert one.data is not None
    assert two.data["for"] == {
        "kind": "mbarrier", "name": "the mbarrier at shared offset 0x400", "offset": 0x400, "phase": 0, "arrivals": 1,
        "bytes": 0,
    }  # fmt: skip
    (edge,) = [edge for edge in two.data["released_by"] if edge["by"] == one.data["waits"]]
    assert edge["line"] == one.data["waits"]["line"] + 2
    assert one.data["waits"]["warps"] == [{"cta": [0, 0, 0], "warp": 0}]
    lines = {each.data["waits"]["line"] for each in (one, two) if each.data is not None}
    assert [set(each.data["cycle"]) for each in (one, two) if each.data and each.data["cycle"]] == [lines]
    notes = [note.message for each in (one, two) for note in each.notes]
    assert sum(note.startswith("these lines wait for each other: ") for note in notes) == 1
    there = f"waits at line {one.data['waits']['line']} for the mbarrier at shared offset 0x408"
    assert any(
        f"line {edge['line']} arrives there: CTA (0, 0, 0), warp 0 can reach it, but {there}" == n for n in notes
    )


def test_an_arrival_that_has_no_instruction() -> None:
    body = CROSSED.replace("@%first mbarrier.arrive.shared::cta.b64 _, [bars];", "")
    body = body.replace("mbarrier.arrive.shared::cta.b64 _, [bars+8];", "")
    for each in found_in(body):
        assert [note.message for note in each.notes] == ["no instruction of the kernel arrives there"]


def test_programs_can_read_notes_and_data() -> None:
    found = found_in(CROSSED)
    records = json.loads(render_json(found))
    assert [record["data"] for record in records] == [each.data for each in found]
    assert records[0]["notes"][0]["message"] == found[0].notes[0].message
    assert records[0]["notes"][0]["start"]["line"] == found[0].data["released_by"][0]["line"]  # type: ignore[index]
    for result, each in zip(json.loads(render_sarif(found))["runs"][0]["results"], found, strict=True):
        assert result["properties"] == each.data
        assert [note["message"]["text"] for note in result["relatedLocations"]] == [n.message for n in each.notes]
