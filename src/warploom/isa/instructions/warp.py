"""Exchange of values between the lanes of a warp: shuffles, votes, matches, reductions and elections.

Source: PTX ISA 9.7.9.5, 9.7.9.6, 9.7.13.2, 9.7.13.8 to 9.7.13.14.
"""

from collections.abc import Callable

import numpy as np

from warploom.isa.model.effects import Barrier, Flow, Members
from warploom.isa.model.form import Form
from warploom.isa.model.operands import bits_as_unsigned, inp, out, pred_in, pred_out
from warploom.isa.model.semantics import Array, Bound, Lanes, Warps
from warploom.isa.model.types import TYPES
from warploom.numerics import floats

_LANE = np.arange(32, dtype=np.uint32)
_LANE_INDEX = _LANE.astype(np.intp)
_BIT = np.uint32(1) << _LANE
_ALL = np.full((1, 1), 0xFFFFFFFF, np.uint32)


def _gather_members(warps: Warps, i: Bound) -> Array:
    members = warps.read(i.membermask)
    warps.gather_members(members)
    return members


def _ballot(lanes: Lanes) -> Array:
    """Convert lane masks of shape (warps, 32) to 32-bit integers of shape (warps, 1)."""
    return np.packbits(lanes, axis=-1, bitorder="little").view(np.uint32)


def _shared_values(warps: Warps, i: Bound) -> tuple[Array, Lanes]:
    """Reconverge the member lanes. Return operand a, and the active lanes in the member mask of each lane.

    Shapes: a is (warps, 32). The masks are (warps, 32, 32), with the member lane last.
    """
    named = (_gather_members(warps, i)[:, :, np.newaxis] & _BIT) != 0
    members = np.broadcast_to(named & warps.active()[:, np.newaxis, :], (warps.count, 32, 32))
    return np.broadcast_to(warps.read(i.a), (warps.count, 32)), members


# Shuffles -------------------------------------------------------------------------------------------------


def _source_lane(mode: str, b: Array, c: Array) -> tuple[Array, Lanes]:
    """Return the source lane of each lane, and True where the source is within the bounds of c."""
    segment = (c >> np.uint32(8)) & np.uint32(31)
    step, clamp = b & np.uint32(31), c & np.uint32(31)
    first = _LANE & segment
    last = first | (clamp & ~segment)
    if mode == "up":
        source = (_LANE - step).view(np.int32)
        return source, source >= last.view(np.int32)
    if mode == "down":
        source = _LANE + step
    elif mode == "bfly":
        source = _LANE ^ step
    else:
        source = first | (step & ~segment)
    return source, source <= last


def shuffle(warps: Warps, i: Bound) -> None:
    a = np.broadcast_to(warps.read(i.a), (warps.count, 32))
    source, inside = _source_lane(i.mode, warps.read(i.b), warps.read(i.c))
    source = np.where(inside, source, _LANE_INDEX)
    warps.write(i.d, np.take_along_axis(a, np.broadcast_to(source, a.shape), axis=1))
    if i.p is not None:
        warps.write(i.p, np.broadcast_to(inside, a.shape))


_SHUFFLED = {"d": out("b32"), "p": pred_out(), "a": inp("b32"), "b": inp("b32"), "c": inp("b32")}

SHFL_SYNC = Form(
    name="warp.shfl_sync",
    syntax="shfl.sync.mode.b32  d{|p}, a, b, c, membermask;",
    rows="mode ptx target\nup,down,bfly,idx 6.0 sm_30",
    operands={**_SHUFFLED, "membermask": inp("u32")},
    effects=(Members(), Flow(elements=("a",), unwritten="ignore")),
    source="PTX ISA 9.7.9.6",
)
SHFL_SYNC.describe(
    "Returns the value of a in another lane, which the mode and b select; p is true if that lane is within the"
    " bounds of c. Use it for reductions and scans in a warp, with the mask of all participating lanes.",
    "shfl.sync.bfly.b32 %r0|%p0, %r1, 16, 31, 0xffffffff;",
)


@SHFL_SYNC.execute
def shuffle_sync(warps: Warps, i: Bound) -> None:
    _gather_members(warps, i)
    shuffle(warps, i)


SHFL = Form(
    name="warp.shfl",
    syntax="shfl.mode.b32  d{|p}, a, b, c;",
    rows="mode ptx target gone\nup,down,bfly,idx 3.0 sm_30 6.4@sm_70",
    operands=_SHUFFLED,
    effects=(Flow(elements=("a",), unwritten="ignore"),),
    source="PTX ISA 9.7.9.5",
)
SHFL.describe(
    "Returns the value of a in another lane, without a mask of lanes. Use `shfl.sync`: this form does not exist"
    " from sm_70 and PTX 6.4 on.",
    "shfl.bfly.b32 %r0, %r1, 16, 31;",
)

SHFL.execute(shuffle)


# Votes ----------------------------------------------------------------------------------------------------

_VOTES: dict[str, Callable[[Array, Array], Array]] = {
    "any": lambda ballot, voters: ballot != 0,
    "all": lambda ballot, voters: ballot == voters,
    "uni": lambda ballot, voters: (ballot == 0) | (ballot == voters),
    "ballot": lambda ballot, voters: ballot,
}


def _vote(warps: Warps, i: Bound, members: Array) -> None:
    a, active = warps.read(i.a), warps.active()
    ballot, voters = _ballot(a & active) & members, _ballot(active) & members
    warps.write(i.d, np.broadcast_to(_VOTES[i.mode](ballot, voters), (warps.count, 32)))


VOTE_SYNC = Form(
    name="warp.vote_sync",
    syntax="vote.sync.mode.type  d, {!}a, membermask;",
    rows="""
        mode         type  ptx target
        any,all,uni  pred  6.0 sm_30
        ballot       b32   6.0 sm_30
    """,
    operands={"d": out("type"), "a": pred_in(), "membermask": inp("u32")},
    effects=(Members(), Flow(unwritten="ignore")),
    source="PTX ISA 9.7.13.9",
)
VOTE_SYNC.describe(
    "Combines the predicates of the lanes in the mask: all true, any true, all equal, or a mask of the true ones"
    " (`ballot`). Use it for decisions of a warp.",
    "vote.sync.ballot.b32 %r0, %p0, 0xffffffff;",
)

VOTE_SYNC.execute(lambda warps, i: _vote(warps, i, _gather_members(warps, i)))

VOTE = Form(
    name="warp.vote",
    syntax="vote.mode.type  d, {!}a;",
    rows="""
        mode         type  ptx target gone
        any,all,uni  pred  1.2 sm_12  6.4@sm_70
        ballot       b32   2.0 sm_20  6.4@sm_70
    """,
    operands={"d": out("type"), "a": pred_in()},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.13.8",
)
VOTE.describe(
    "Combines the predicates of the active lanes, without a mask of lanes. Use `vote.sync`: this form does not"
    " exist from sm_70 and PTX 6.4 on.",
    "vote.all.pred %p0, %p1;",
)

VOTE.execute(lambda warps, i: _vote(warps, i, _ALL))

ACTIVEMASK = Form(
    name="warp.activemask",
    syntax="activemask.b32  d;",
    rows="ptx target\n6.2 sm_30",
    operands={"d": out("b32")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.13.11",
)
ACTIVEMASK.describe(
    "Returns the mask of the lanes that execute the instruction together. Use it with care: lanes of one branch"
    " need not execute together.",
    "activemask.b32 %r0;",
)


@ACTIVEMASK.execute
def active_mask(warps: Warps, i: Bound) -> None:
    warps.write(i.d, np.broadcast_to(_ballot(warps.active()), (warps.count, 32)))


# Matches and reductions -----------------------------------------------------------------------------------

MATCH_ANY = Form(
    name="warp.match_any",
    syntax="match.any.sync.type  d, a, membermask;",
    rows="type ptx target\nb32,b64 6.0 sm_70",
    operands={"d": out("u32"), "a": inp("type"), "membermask": inp("u32")},
    effects=(Members(), Flow(unwritten="ignore")),
    source="PTX ISA 9.7.13.10",
)
MATCH_ANY.describe(
    "Returns the mask of the lanes whose value equals the value of this lane. Use it to group lanes by key before"
    " atomic operations.",
    "match.any.sync.b32 %r0, %r1, 0xffffffff;",
)


@MATCH_ANY.execute
def match_any(warps: Warps, i: Bound) -> None:
    a, members = _shared_values(warps, i)
    same = members & (a[:, :, np.newaxis] == a[:, np.newaxis, :])
    warps.write(i.d, _ballot(same)[..., 0])


MATCH_ALL = Form(
    name="warp.match_all",
    syntax="match.all.sync.type  d{|p}, a, membermask;",
    rows="type ptx target\nb32,b64 6.0 sm_70",
    operands={"d": out("u32", allows=("sink",)), "p": pred_out(), "a": inp("type"), "membermask": inp("u32")},
    effects=(Members(), Flow(unwritten="ignore")),
    source="PTX ISA 9.7.13.10",
)
MATCH_ALL.describe(
    "Returns the mask if all lanes in the mask have the same value, else 0. Use it to find out whether a value is"
    " uniform.",
    "match.all.sync.b32 %r0|%p0, %r1, 0xffffffff;",
)


@MATCH_ALL.execute
def match_all(warps: Warps, i: Bound) -> None:
    a, members = _shared_values(warps, i)
    differing = members & (a[:, :, np.newaxis] != a[:, np.newaxis, :])
    same = np.logical_not(np.logical_or.reduce(differing, axis=-1))
    warps.write(i.d, np.where(same, _ballot(members)[..., 0], np.uint32(0)))
    if i.p is not None:
        warps.write(i.p, same)


REDUX = Form(
    name="warp.redux",
    syntax="redux.sync.op.type  d, a, membermask;",
    rows="""
        op           type     ptx target
        add,min,max  u32,s32  7.0 sm_80
        and,or,xor   b32      7.0 sm_80
    """,
    operands={
        "d": out(bits_as_unsigned, accepts="own"),
        "a": inp(bits_as_unsigned, accepts="own"),
        "membermask": inp("u32"),
    },
    effects=(Members(), Flow(unwritten="ignore")),
    source="PTX ISA 9.7.13.12",
)
REDUX.describe(
    "Combines the integers of the lanes in the mask: sum, minimum, maximum or bitwise operation. Use it instead"
    " of five shuffles.",
    "redux.sync.add.s32 %r0, %r1, 0xffffffff;",
)

REDUX_FLOAT = Form(
    name="warp.redux_float",
    syntax="redux.sync.op{.abs}{.NaN}.type  d, a, membermask;",
    rows="""
        op       abs    NaN    type  ptx target
        min,max  -,abs  -,NaN  f32   8.6 sm_100a
        min,max  -,abs  -,NaN  f32   8.8 sm_100f
    """,
    operands={"d": out("type"), "a": inp("type"), "membermask": inp("u32")},
    effects=(Members(), Flow(unwritten="ignore")),
    source="PTX ISA 9.7.13.12",
)
REDUX_FLOAT.describe(
    "Returns the smallest or largest f32 number of the lanes in the mask. Use it for maxima, such as block scales.",
    "redux.sync.max.f32 %f0, %f1, 0xffffffff;",
)

_REDUCE = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip


@REDUX.execute
def reduce(warps: Warps, i: Bound) -> None:
    a, members = _shared_values(warps, i)
    # Other lanes contribute zero, or the lane's own value if zero would change the result.
    idle = np.zeros((1, 1), a.dtype) if i.op in ("add", "or", "xor") else a[:, :, np.newaxis]
    values = np.where(members, a[:, np.newaxis, :], idle)
    warps.write(i.d, _REDUCE[i.op].reduce(values, axis=-1, dtype=TYPES[i.type].dtype))


@REDUX_FLOAT.execute
def reduce_float(warps: Warps, i: Bound) -> None:
    a, members = _shared_values(warps, i)
    values = np.where(members, a[:, np.newaxis, :], a[:, :, np.newaxis])
    if i.abs:
        values = np.abs(values)
    extreme = floats.minimum if i.op == "min" else floats.maximum
    d = values[..., 0]
    for lane in range(1, 32):
        d = extreme(d, values[..., lane], nan=i.NaN == "NaN")
    warps.write(i.d, d)


ELECT = Form(
    name="warp.elect",
    syntax="elect.sync  d|p, membermask;",
    rows="ptx target\n8.0 sm_90",
    operands={"d": out("u32", allows=("sink",)), "p": pred_out(sink=False), "membermask": inp("u32")},
    effects=(Members(), Flow(unwritten="ignore")),
    source="PTX ISA 9.7.13.14",
)
ELECT.describe(
    "Selects one lane of the mask: p is true in this lane only. Use it to let one lane issue a tensor copy or a"
    " tcgen05 multiplication.",
    "elect.sync %r0|%p0, 0xffffffff;",
)


@ELECT.execute
def elect(warps: Warps, i: Bound) -> None:
    members = _gather_members(warps, i)
    lowest = members & (~members + np.uint32(1))
    leader = np.broadcast_to(np.bitwise_count(lowest - np.uint32(1)).astype(np.uint32), (warps.count, 32))
    warps.write(i.d, leader)
    warps.write(i.p, leader == _LANE)


WARP_SYNC = Form(
    name="warp.bar",
    syntax="bar.warp.sync  membermask;",
    rows="ptx target\n6.0 sm_30",
    operands={"membermask": inp("u32")},
    effects=(Members(), Barrier("warp", aligned=""), Flow(unwritten="ignore")),
    source="PTX ISA 9.7.13.2",
)
WARP_SYNC.describe(
    "Waits for the lanes in the mask and makes their earlier memory accesses visible to each other. Use it"
    " between writes and reads of shared memory by lanes of one warp.",
    "bar.warp.sync 0xffffffff;",
)

WARP_SYNC.execute(lambda warps, i: warps.warp_barrier(warps.read(i.membermask)))
