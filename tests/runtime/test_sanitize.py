"""`wl.sanitize`: the findings of several schedules, each reported once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.texts import kernel
from observe.sanitize.launches import LAUNCHES

import warploom as wl


def sanitize(name: str, **options: Any) -> tuple[wl.Run, bool]:
    launch = LAUNCHES[name]
    args, expected = launch.make()
    run = wl.sanitize(launch.faulty, grid=launch.grid, block=launch.block, cluster=launch.cluster, args=args, **options)
    return run, all(array.tobytes() == right.tobytes() for array, right in expected)


def test_findings_of_all_schedules_are_merged_by_cause() -> None:
    alone, right = sanitize("transformer_engine_3417", schedules=("eager",))
    merged, still_right = sanitize("transformer_engine_3417")
    assert [found.code for found in alone.findings] == ["sanitize.copy/source"]
    causes = [(found.code, found.place) for found in merged.findings]
    assert causes[0] == (alone.findings[0].code, alone.findings[0].place)
    assert len(set(causes)) == len(causes)
    assert right
    assert still_right  # the arrays hold the results of the first schedule
    assert merged.stats.ctas == alone.stats.ctas


def test_a_finding_of_a_later_schedule_is_reported() -> None:
    body = """.shared .align 128 .b8 s[256];
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra L;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [s], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    st.global.u32 [%rd0+4096], %r0;
    L: ret;"""
    out = np.arange(32, dtype=np.uint32)
    codes = {
        schedules: {
            each.code
            for each in wl.sanitize(kernel(body), grid=1, block=32, args=[out.copy()], schedules=schedules).findings
        }
        for schedules in (("eager",), ("lazy",), ("eager", "lazy"))
    }
    assert codes["eager", "lazy"] == codes["eager",] | codes["lazy",]


def test_each_schedule_starts_from_the_arguments_as_they_were() -> None:
    out = np.zeros(32, np.uint32)
    body = "red.global.add.u32 [%rd1], 1;\nret;"
    assert wl.sanitize(kernel(body), grid=1, block=32, args=[out]).findings == ()
    assert out.tolist() == [1] * 32


def test_a_deadlock_is_a_finding_and_the_next_schedule_runs() -> None:
    (alone, _), (merged, _) = (sanitize("cutlass_2418", schedules=each) for each in (("eager",), ("eager", "lazy")))
    places = [[found.place for found in run.findings if found.code == "sanitize.deadlock"] for run in (alone, merged)]
    assert places[0]
    assert places[0] == places[1]


@pytest.mark.parametrize(
    ("schedules", "message"),
    [((), r"schedules is \(\)"), ("lazy", "schedules is 'lazy'"), (("eager", "later"), "unknown schedule 'later'")],
)
def test_schedules_are_checked_before_the_run(schedules: Any, message: str) -> None:
    out = np.zeros(32, np.uint32)
    with pytest.raises(wl.UsageError, match=message):
        wl.sanitize(kernel("st.global.u32 [%rd1], 7;\nret;"), grid=1, block=32, args=[out], schedules=schedules)
    assert not out.any()
