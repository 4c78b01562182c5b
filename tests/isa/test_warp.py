from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isa.binding import legality_tests
from isa.recorder import Recorder, bound, lanes

from warploom.isa.instructions import warp

LEGAL = {
    "shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;": "warp.shfl_sync",
    "shfl.sync.idx.b32 %r1|%p1, %r2, %r3, 0x1f, %r4;": "warp.shfl_sync",
    "shfl.up.b32 %r1|%p1, %r2, 1, 0;": "warp.shfl",
    "vote.sync.ballot.b32 %r1, !%p1, -1;": "warp.vote_sync",
    "vote.sync.uni.pred %p2, %p1, %r1;": "warp.vote_sync",
    "vote.all.pred %p2, %p1;": "warp.vote",
    "match.any.sync.b64 %r1, %rd1, -1;": "warp.match_any",
    "match.all.sync.b32 %r1|%p1, %r2, -1;": "warp.match_all",
    "redux.sync.add.s32 %r1, %r2, -1;": "warp.redux",
    "redux.sync.max.abs.NaN.f32 %f1, %f2, -1;": "warp.redux_float",
    "activemask.b32 %r1;": "warp.activemask",
    "elect.sync _|%p1, -1;": "warp.elect",
    "bar.warp.sync -1;": "warp.bar",
}

REFUSED = {
    "shfl.sync.bfly.b64 %rd1, %rd2, 16, 31, -1;": "warp.shfl_sync/b32",
    "shfl.sync.bfly.b32 %r1, %r2, 16, 31;": "warp.shfl_sync/operands",
    "vote.sync.ballot.pred %p1, %p2, -1;": "warp.vote_sync/type",
    "redux.sync.and.u32 %r1, %r2, -1;": "warp.redux/type",
    "redux.sync.add.f32 %f1, %f2, -1;": "warp.redux/type",
    "match.any.sync.b32 %r1|%p1, %r2, -1;": "warp.match_any/d",
    "elect.sync %r1, -1;": "warp.elect/d",
}

test_legal, test_refused = legality_tests(LEGAL, REFUSED)


def shuffled_by_the_manual(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The manual's pseudo-code for one lane."""
    bval, cval, segmask = b & 31, c & 31, (c >> 8) & 31
    max_lane = (lane & segmask) | (cval & ~segmask & 31)
    min_lane = lane & segmask
    if mode == "up":
        source = lane - bval
        inside = source >= max_lane
    elif mode == "down":
        source = lane + bval
        inside = source <= max_lane
    elif mode == "bfly":
        source = lane ^ bval
        inside = source <= max_lane
    else:
        source = min_lane | (bval & ~segmask & 31)
        inside = source <= max_lane
    return (source if inside else lane), inside


@given(
    st.sampled_from(["up", "down", "bfly", "idx"]),
    st.lists(st.integers(0, 63), min_size=32, max_size=32),
    st.integers(0, 2**13 - 1),
)
def test_shuffle_follows_the_manuals_pseudocode(mode: str, b: list[int], c: int) -> None:
    warps = Recorder()
    i = bound(mode=mode, a=lanes(np.arange(100, 132)), b=lanes(b), c=lanes([c] * 32), membermask=lanes(2**32 - 1))
    i.d, i.p = "d", "p"
    warp.shuffle_sync(warps, i)
    expected = [shuffled_by_the_manual(mode, lane, b[lane], c) for lane in range(32)]
    assert warps.results["d"][1].tolist() == [100 + source for source, _ in expected]
    assert warps.results["p"][1].tolist() == [inside for _, inside in expected]
    assert warps.events == [("gather",)]


active_lanes = st.lists(st.booleans(), min_size=32, max_size=32).filter(any).map(np.array)


@given(active_lanes, st.lists(st.booleans(), min_size=32, max_size=32), st.integers(1, 2**32 - 1))
def test_votes_count_the_active_members(active: np.ndarray, truth: list[bool], members: int) -> None:
    found = {}
    vote_sync = warp.VOTE_SYNC.execution
    assert vote_sync is not None
    for mode in ("any", "all", "uni", "ballot"):
        warps = Recorder(np.stack([active, active]))
        vote_sync(warps, bound(mode=mode, a=lanes(truth, np.bool_), membermask=lanes(members), d="d"))
        found[mode] = warps.results["d"][0, 0]
    voters = [truth[lane] for lane in range(32) if active[lane] and members >> lane & 1]
    assert found["any"] == any(voters)
    assert found["all"] == all(voters)
    assert found["uni"] == (len(set(voters)) <= 1)
    assert found["ballot"] == sum(
        1 << lane for lane in range(32) if active[lane] and members >> lane & 1 and truth[lane]
    )


@given(active_lanes, st.lists(st.integers(0, 3), min_size=32, max_size=32))
def test_matches_are_the_lanes_of_equal_value(active: np.ndarray, values: list[int]) -> None:
    warps = Recorder(np.stack([active, active]))
    i = bound(a=lanes(values), membermask=lanes(2**32 - 1), d="d", p="p")
    warp.match_any(warps, i)
    for lane in np.flatnonzero(active):
        same = sum(1 << other for other in np.flatnonzero(active).tolist() if values[other] == values[lane])
        assert warps.results["d"][0, lane] == same
    warp.match_all(warps, i)
    alike = len({values[lane] for lane in np.flatnonzero(active)}) == 1
    everyone = sum(1 << lane for lane in np.flatnonzero(active).tolist())
    assert (warps.results["p"][0, active] == alike).all()
    assert (warps.results["d"][0, active] == (everyone if alike else 0)).all()


@pytest.mark.parametrize(
    ("op", "type", "dtype", "expected"),
    [
        ("add", "s32", np.int32, lambda v: np.int32(v.sum())),
        ("min", "s32", np.int32, np.min),
        ("max", "u32", np.uint32, np.max),
        ("and", "b32", np.uint32, np.bitwise_and.reduce),
        ("or", "b32", np.uint32, np.bitwise_or.reduce),
        ("xor", "b32", np.uint32, np.bitwise_xor.reduce),
    ],
)
def test_reductions_leave_other_lanes_out(op: str, type: str, dtype: type, expected: object) -> None:
    rng = np.random.default_rng(7)
    a = rng.integers(0, 2**31, (2, 32)).astype(dtype)
    members = 0b1011_0110_1100
    warps = Recorder()
    warp.reduce(warps, bound(op=op, type=type, abs="", NaN="", a=a, membermask=lanes(members), d="d"))
    inside = [lane for lane in range(32) if members >> lane & 1]
    for row in range(2):
        assert warps.results["d"][row, inside].tolist() == [expected(a[row, inside])] * len(inside)  # type: ignore[operator]


def test_float_reduction_by_magnitude() -> None:
    a = lanes(np.where(np.arange(32) == 9, -50.0, 3.0), np.float32)
    warps = Recorder()
    warp.reduce_float(warps, bound(op="max", type="f32", abs="abs", NaN="", a=a, membermask=lanes(2**32 - 1), d="d"))
    assert (warps.results["d"] == 50).all()


def test_the_lowest_member_is_elected() -> None:
    warps = Recorder()
    warp.elect(warps, bound(membermask=lanes(0b11000), d="d", p="p"))
    assert (warps.results["d"] == 3).all()
    assert np.flatnonzero(warps.results["p"][0]).tolist() == [3]


def test_active_mask_names_the_active_lanes() -> None:
    active = np.zeros((2, 32), np.bool_)
    active[:, [0, 5, 31]] = True
    warps = Recorder(active)
    warp.active_mask(warps, bound(d="d"))
    assert (warps.results["d"] == (1 | 1 << 5 | 1 << 31)).all()
