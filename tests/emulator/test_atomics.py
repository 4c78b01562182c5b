"""Atomics where lanes, warps and CTAs meet at one address."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.texts import kernel, run
from hypothesis import given, settings
from hypothesis import strategies as st

import warploom as wl


@settings(max_examples=25)
@given(st.lists(st.integers(0, 5), min_size=64, max_size=64), st.sampled_from(["eager", "random:1"]))
def test_counters_hand_out_every_number_once(places: list[int], schedule: str) -> None:
    # Each thread takes a ticket from one of six counters.
    which = np.array(places, np.uint32)
    counters, tickets = np.zeros(6, np.uint32), np.zeros(64, np.uint32)
    text = kernel("""
        ld.param.u64 %rd2, [which];
        ld.param.u64 %rd3, [counters];
        mov.u32 %r1, %ctaid.x;
        mad.lo.u32 %r2, %r1, 32, %r0;
        mul.wide.u32 %rd4, %r2, 4;
        add.u64 %rd5, %rd2, %rd4;
        ld.global.u32 %r3, [%rd5];
        mad.wide.u32 %rd3, %r3, 4, %rd3;
        atom.global.add.u32 %r4, [%rd3], 1;
        add.u64 %rd5, %rd0, %rd4;
        st.global.u32 [%rd5], %r4;
        ret;""", ".param .u64 which, .param .u64 counters, .param .u64 out")  # fmt: skip
    wl.launch(text, grid=2, block=32, args=[which, counters, tickets], schedule=schedule)
    np.testing.assert_array_equal(counters, np.bincount(which, minlength=6))
    for number in range(6):
        np.testing.assert_array_equal(np.sort(tickets[which == number]), np.arange(counters[number]))


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("add.u32", 496 + 5),
        ("min.u32", 0),
        ("max.u32", 31),
        ("and.b32", 0),
        ("or.b32", 31),
        ("xor.b32", 5),
        ("max.s32", 31),
        ("inc.u32", None),
        ("exch.b32", None),
    ],
)
@pytest.mark.parametrize("space", ["global", "shared"])
def test_operations_see_each_other(operation: str, expected: int | None, space: str) -> None:
    place = "%rd0+128" if space == "global" else "s"
    found = run(f"""
        .shared .b32 s[1];
        setp.eq.u32 %p1, %r0, 0;
        @%p1 st.{space}.u32 [{place}], 5;
        bar.warp.sync -1;
        atom.{space}.{operation} %r1, [{place}], %r0;
        st.global.u32 [%rd1], %r1;
        bar.warp.sync -1;
        ld.{space}.u32 %r2, [{place}];
        @%p1 st.global.u32 [%rd0+128], %r2;
        ret;""", 33, schedules=("eager",))  # fmt: skip
    old, last = found[:32].tolist(), int(found[32])
    if operation == "exch.b32":
        # What was stored comes out again once, but for the last.
        assert sorted([*old, last]) == sorted([5, *range(32)])
    elif operation == "inc.u32":
        value = 5
        for lane, seen in enumerate(old):
            assert seen == value
            value = 0 if value >= lane else value + 1
        assert last == value
    else:
        assert last == expected
        assert 5 in old


def test_compare_and_swap_lets_one_thread_through() -> None:
    found = run("""
        add.u32 %r2, %r0, 1;
        atom.global.cas.b32 %r1, [%rd0+256], 0, %r2;
        setp.eq.u32 %p1, %r1, 0;
        selp.u32 %r3, 1, 0, %p1;
        st.global.u32 [%rd1], %r3;
        ret;""", 65, block=64)  # fmt: skip
    assert found[:64].sum() == 1
    assert found[64] == np.flatnonzero(found[:64])[0] + 1


def test_reductions_of_other_types_add_up() -> None:
    found = run("""
        mov.f32 %f1, 0f3F800000;
        red.global.add.f32 [%rd0], %f1;
        mov.u64 %rd2, 0x100000001;
        red.global.add.u64 [%rd0+8], %rd2;
        mov.b32 %r1, 0x3c003c00;
        red.global.add.noftz.f16x2 [%rd0+16], %r1;
        ret;""", 5, block=96, grid=2)  # fmt: skip
    f32, half = found[:1].view(np.float32), found[4:].view(np.float16)
    assert (f32[0], int(found[2]), int(found[3]), *half) == (192.0, 192, 192, 192.0, 192.0)
