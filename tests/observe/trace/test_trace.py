"""What a recorder notes of a run: spans, waits, phases, what is in flight, and who let whom go on."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from emulator.texts import kernel
from observe.sanitize.launches import LAUNCHES

import warploom as wl
from warploom.emulator.faults import Deadlock
from warploom.observe.trace import Kind, Trace
from warploom.observe.trace.data import WAITS

MARKS = (Kind.ISSUE, Kind.ARRIVE_BARRIER, Kind.ARRIVE_CLUSTER, Kind.ARRIVE_MBARRIER)
SUBJECTS = sorted(name for name in LAUNCHES if LAUNCHES[name].file.count("/") == 0)

# Warps 0 and 1 hand a phase each to the other; warp 2 has no part in it.
CROSSING = """
    .shared .align 8 .b8 bars[16];
    mov.u32 %r10, bars;
    shr.u32 %r1, %r0, 5;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared::cta.b64 [%r10], 1;
    @%p0 mbarrier.init.shared::cta.b64 [%r10+8], 1;
    bar.sync 0;
    setp.eq.u32 %p1, %r1, 1;
    setp.eq.u32 %p2, %r1, 2;
    and.b32 %r2, %r0, 31;
    setp.eq.u32 %p3, %r2, 0;
    @%p2 bra END;
    @%p1 bra SECOND;
    @%p3 mbarrier.arrive.shared::cta.b64 _, [%r10];
    A: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r10+8], 0;
    @!%p4 bra A;
    bra END;
    SECOND: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r10], 0;
    @!%p4 bra SECOND;
    @%p3 mbarrier.arrive.shared::cta.b64 _, [%r10+8];
    END: st.global.u32 [%rd1], %r1;
    ret;
"""


def traced(text: str, *, grid: Any = 1, block: int = 32, words: int = 32, **options: Any) -> Trace:
    """The trace of a kernel that has `out` alone for a parameter."""
    run = wl.launch(text, grid=grid, block=block, args=[np.zeros(words, np.uint32)], **{"trace": True, **options})
    assert run.trace is not None
    return run.trace


def joined(trace: Trace, source: Kind, target: Kind) -> list[tuple[Any, Any]]:
    """The pairs of events of these kinds that arrows join."""
    pairs = [(trace.events[a], trace.events[b]) for a, b in trace.arrows.tolist()]
    return [(a, b) for a, b in pairs if a["kind"] == source and b["kind"] == target]


@pytest.fixture(scope="module", params=[(n, s) for n in SUBJECTS for s in ("lazy", "random:3")], ids=str)
def subject(request: pytest.FixtureRequest) -> tuple[str, Trace]:
    name, schedule = request.param
    run, right = LAUNCHES[name].run(schedule=schedule, trace=True)
    assert right, "a trace changes no result"
    assert run.trace is not None
    return name, run.trace


def test_every_event_begins_before_it_ends(subject: tuple[str, Trace]) -> None:
    _, trace = subject
    events = trace.events
    assert len(events)
    assert (events["begin"] >= 0).all()
    assert (events["begin"] <= events["end"]).all()
    assert (events["begin"] < events["end"])[events["kind"] != Kind.PHASE].all()


def test_a_warp_split_does_one_thing_at_a_time(subject: tuple[str, Trace]) -> None:
    _, trace = subject
    spans = np.isin(trace.events["kind"], [Kind.RUN, *WAITS])
    marks = np.isin(trace.events["kind"], MARKS)
    own = ["cta", "warp", "split"]
    for split in np.unique(trace.events[own][spans | marks]):
        mine = trace.events[own] == split
        held = np.sort(trace.events[mine & spans], order="begin")
        assert all(before["end"] <= after["begin"] for before, after in pairwise(held))
        for mark in trace.events[mine & marks]:
            around = held[(held["begin"] <= mark["begin"]) & (mark["end"] <= held["end"])]
            assert around["kind"].tolist() == [Kind.RUN], "a warp split acts while it runs"


def test_phases_follow_one_another(subject: tuple[str, Trace]) -> None:
    _, trace = subject
    phases = trace.of(Kind.PHASE)
    for each in np.unique(phases[["cta", "number"]]):
        mine = phases[phases[["cta", "number"]] == each]
        mine = np.sort(mine, order=["begin", "phase"])
        assert mine["phase"].tolist() == list(range(len(mine)))
        assert all(before["end"] == after["begin"] for before, after in pairwise(mine))


def test_arrows_go_forward(subject: tuple[str, Trace]) -> None:
    _, trace = subject
    for a, b in trace.arrows.tolist():
        source, target = trace.events[a], trace.events[b]
        if target["kind"] in WAITS and source["kind"] in (Kind.COPY, Kind.MULTIPLICATION):
            assert source["end"] <= target["end"]
        elif target["kind"] in WAITS:
            assert source["begin"] < target["end"]
        else:
            assert (source["kind"], source["begin"]) == (Kind.ISSUE, target["begin"])


def test_everything_in_flight_was_issued(subject: tuple[str, Trace]) -> None:
    _, trace = subject
    reached = set(trace.arrows[:, 1].tolist())
    flights = np.flatnonzero(
        (trace.events["kind"] == Kind.COPY)
        | ((trace.events["kind"] == Kind.MULTIPLICATION) & np.char.startswith(_opcodes(trace), "wgmma"))
    )
    assert set(flights.tolist()) <= reached


def _opcodes(trace: Trace) -> Any:
    return np.array(trace.opcodes)[trace.events["step"]]


def test_copies_overlap_multiplications_when_they_are_late() -> None:
    run, _ = LAUNCHES["warp_specialised"].run(schedule="lazy", trace=True)
    assert run.trace is not None
    copies, products = run.trace.of(Kind.COPY), run.trace.of(Kind.MULTIPLICATION)
    overlaps = (copies["begin"][:, None] < products["begin"]) & (products["end"] < copies["end"][:, None])
    assert overlaps.any()
    consumers = joined(run.trace, Kind.COPY, Kind.WAIT_MBARRIER)
    assert {(bool(a["amount"] > 0), bool(a["warp"] != b["warp"])) for a, b in consumers} == {(True, True)}
    soon, _ = LAUNCHES["warp_specialised"].run(trace=True)
    assert soon.trace is not None
    assert np.unique(soon.trace.of(Kind.COPY)["end"] - soon.trace.of(Kind.COPY)["begin"]).tolist() == [1]


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:1", "random:2"])
def test_an_arrow_joins_the_arrival_with_the_wait_it_ends(schedule: str) -> None:
    trace = traced(kernel(CROSSING), block=96, words=96, schedule=schedule)
    pairs = joined(trace, Kind.ARRIVE_MBARRIER, Kind.WAIT_MBARRIER)
    found = {(int(a["warp"]), int(a["number"]), int(b["warp"])) for a, b in pairs}
    first = int(trace.of(Kind.PHASE)["number"].min())
    assert found == {(0, first, 1), (1, first + 8, 0)}
    assert all(a["number"] == b["number"] and a["phase"] == b["phase"] == 0 for a, b in pairs)
    lines = [line.partition(" ")[0] for line in kernel(CROSSING).splitlines()]
    assert {lines[trace.lines[b["step"]] - 1] for _, b in pairs} == {"A:", "SECOND:"}
    phases = trace.of(Kind.PHASE)
    assert phases["count"][np.argsort(phases["begin"], kind="stable")].tolist() == [1, 1, 0, 0]


def test_the_last_to_come_lets_the_others_leave_a_barrier() -> None:
    late = "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra MEET;\nmov.u32 %r5, 0;\nL: add.u32 %r5, %r5, 1;\n"
    late += "setp.lt.u32 %p2, %r5, 3;\n@%p2 bra L;\nbar.arrive 1, 64;\nMEET: bar.sync 0;\n"
    late += "@!%p1 bra END;\nbar.sync 1, 64;\nEND: st.global.u32 [%rd1], %r0;\nret;"
    trace = traced(kernel(late), block=64, words=64)
    assert [int(each["number"]) for each in trace.of(Kind.ARRIVE_BARRIER)] == [1]
    ((source, target),) = joined(trace, Kind.WAIT_BARRIER, Kind.WAIT_BARRIER)
    assert (source["number"], target["number"]) == (0, 0)
    assert source["begin"] + 1 == source["end"] == target["end"]
    assert source["warp"] != target["warp"]
    waits = trace.of(Kind.WAIT_BARRIER)
    assert waits["end"][waits["number"] == 1] - waits["begin"][waits["number"] == 1] == 1


def test_lanes_that_part_have_tracks_of_their_own() -> None:
    body = """
        .shared .align 8 .b8 bar[8];
        mov.u32 %r10, bar;
        setp.lt.u32 %p1, %r0, 16;
        setp.eq.u32 %p0, %r0, 0;
        @%p0 mbarrier.init.shared::cta.b64 [%r10], 16;
        bar.sync 0;
        @!%p1 bra OTHERS;
        W: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r10], 0;
        @!%p4 bra W;
        bra END;
        OTHERS: mbarrier.arrive.shared::cta.b64 _, [%r10];
        END: st.global.u32 [%rd1], %r0;\nret;"""
    trace = traced(kernel(body))
    assert np.unique(trace.events["split"]).tolist() == [0, 1]
    ((source, target),) = joined(trace, Kind.ARRIVE_MBARRIER, Kind.WAIT_MBARRIER)
    assert source["count"] == 16
    assert source["split"] != target["split"]
    assert target["end"] - target["begin"] > 1


def test_multiplications_of_warps_are_one_event_for_each_block() -> None:
    run, _ = LAUNCHES["cp_async_mma"].run(trace=True, schedule="lazy")
    assert run.trace is not None
    products = run.trace.of(Kind.MULTIPLICATION)
    assert products["count"].sum() == run.stats.instructions["mma"]
    assert (np.diff(np.sort(products, order="begin")["begin"]) > 0).all()
    covered = joined(run.trace, Kind.COPY, Kind.WAIT_COPIES)
    assert {a["end"] == b["end"] for a, b in covered} == {True}, "late copies land with the wait that covers them"


def test_ctas_are_chosen_by_number() -> None:
    text = kernel("bar.sync 0;\nst.global.u32 [%rd1], %r0;\nret;")
    trace = traced(text, grid=(3, 2), trace=(4, 1))
    assert [(cta.number, cta.coordinates) for cta in trace.ctas] == [(1, (1, 0, 0)), (4, (1, 1, 0))]
    assert np.unique(trace.events["cta"]).tolist() == [0, 1]
    assert [cta.number for cta in traced(text, grid=(3, 2)).ctas] == [0]
    pair = traced(text, grid=(4, 2), cluster=(2, 1), trace=(3, 2, 4))
    assert [(cta.number, cta.cluster, cta.rank) for cta in pair.ctas] == [(2, 1, 0), (3, 1, 1), (4, 2, 0)]


def test_time_counts_what_the_chosen_have_a_part_in() -> None:
    text = kernel("bar.sync 0;\nst.global.u32 [%rd1], %r0;\nret;")
    alone, among = traced(text), traced(text, grid=3000, trace=(2999,))
    assert among.events["begin"].tolist() == alone.events["begin"].tolist()
    assert among.events["end"].tolist() == alone.events["end"].tolist()


@pytest.mark.parametrize("wrong", [(6,), (-1,), (), (0.5,), "0", 3])
def test_a_cta_that_is_not_there_is_refused(wrong: object) -> None:
    with pytest.raises(wl.UsageError, match=r"^.*trace"):
        traced(kernel("bar.sync 0;\nret;"), grid=(3, 2), trace=wrong)


def test_a_gpu_is_refused() -> None:
    with pytest.raises(wl.UsageError, match="does not support trace"):
        traced(kernel("bar.sync 0;\nret;"), device="cuda")


def test_what_is_beyond_the_limit_is_counted() -> None:
    launch = LAUNCHES["warp_specialised"]

    def limited(limit: int) -> Trace:
        args, _ = launch.make()
        run = wl.launch(
            launch.text, grid=launch.grid, block=launch.block, args=args, schedule="lazy", trace=True,
            trace_events=limit,
        )  # fmt: skip
        assert run.trace is not None
        return run.trace

    whole, some = limited(10**6), limited(60)
    assert whole.total == len(whole)
    assert str(whole) == f"{len(whole):,} events in 1 CTA"
    assert len(some) == 60
    assert some.total == whole.total
    assert str(some) == f"the first {len(some)} events of {whole.total:,} in 1 CTA"
    names = ["kind", "warp", "begin", "step", "number"]
    assert some.events[names].tolist() == whole.events[names][:60].tolist()
    assert len(some.arrows)
    assert some.arrows.max() < 60


def test_a_deadlock_leaves_its_trace() -> None:
    body = kernel(
        """.shared .align 8 .b8 bar[8];
        mov.u32 %r10, bar;
        setp.eq.u32 %p0, %r0, 0;
        @%p0 mbarrier.init.shared::cta.b64 [%r10], 2;
        bar.sync 0;
        @%p0 mbarrier.arrive.shared::cta.b64 _, [%r10];
        W: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r10], 0;
        @!%p4 bra W;
        ret;"""
    )
    with pytest.raises(Deadlock) as caught:
        traced(body)
    trace = caught.value.trace
    assert isinstance(trace, Trace)
    assert trace.events["end"].max() == trace.of(Kind.WAIT_MBARRIER)["end"].max()
    assert trace.of(Kind.PHASE)["count"].tolist() == [1]
    run = wl.launch(body, grid=1, block=32, args=[np.zeros(32, np.uint32)], trace=True, sanitize=True, raises=False)
    assert "sanitize.deadlock" in [found.code for found in run.findings]
    assert run.trace is not None
    assert run.trace.events.tolist() == trace.events.tolist()


def test_a_sanitizer_and_a_recorder_see_one_run_each_as_if_alone() -> None:
    launch = next(each for name, each in LAUNCHES.items() if each.file.startswith("bugs/"))
    alone, _ = launch.run(launch.faulty, sanitize=True)
    both, _ = launch.run(launch.faulty, sanitize=True, trace=True)
    assert alone.findings
    assert [str(found) for found in both.findings] == [str(found) for found in alone.findings]
    right = LAUNCHES["warp_specialised"]
    traces = [right.run(schedule="lazy", trace=True, **more)[0].trace for more in ({}, {"sanitize": True})]
    events, arrows = ([getattr(trace, name).tolist() for trace in traces] for name in ("events", "arrows"))
    assert events[0] == events[1]
    assert arrows[0] == arrows[1]


def test_workers_change_no_trace() -> None:
    launch = LAUNCHES["warp_specialised"]
    traces = [launch.run(schedule="lazy", trace=True, workers=n)[0].trace for n in (1, 2)]
    one, two = (trace.events.tolist() for trace in traces if trace is not None)
    assert one == two


def test_nothing_is_recorded_unless_asked() -> None:
    run = wl.launch(kernel("bar.sync 0;\nret;"), grid=1, block=32, args=[np.zeros(32, np.uint32)])
    assert run.trace is None
