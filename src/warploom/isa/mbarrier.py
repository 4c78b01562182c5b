"""Memory barrier objects (PTX ISA 9.7.13.15)."""

from __future__ import annotations

from warploom.isa.kit import Form
from warploom.isa.operands import Slots, address, inp, out, pred_out, sink
from warploom.isa.protocol import Bound, Warps

_LOCAL = "-,shared,shared::cta"
_ANYWHERE = "-,shared,shared::cta,shared::cluster"

INIT = Form(
    name="mbarrier.init",
    syntax="mbarrier.init{.space}.b64  [addr], count;",
    rows=f"""
        space     ptx target
        {_LOCAL}  7.0 sm_80
    """,
    operands={"addr": address(), "count": inp("u32")},
    source="PTX ISA 9.7.13.15.9",
)


@INIT.meaning
def initialise(warps: Warps, i: Bound) -> None:
    # READ
    count = warps.read(i.count)
    # WRITE
    warps.mbarrier(i.space, warps.addresses(i.addr), "init", count)


INVAL = Form(
    name="mbarrier.inval",
    syntax="mbarrier.inval{.space}.b64  [addr];",
    rows=f"""
        space     ptx target
        {_LOCAL}  7.0 sm_80
    """,
    operands={"addr": address()},
    source="PTX ISA 9.7.13.15.10",
)


@INVAL.meaning
def invalidate(warps: Warps, i: Bound) -> None:
    warps.mbarrier(i.space, warps.addresses(i.addr), "inval")


TRANSACTIONS = Form(
    name="mbarrier.transactions",
    syntax="mbarrier.op{.sem}{.scope}{.space}.b64  [addr], txCount;",
    rows=f"""
        op                     sem      scope        space        ptx target
        expect_tx,complete_tx  -        -            {_ANYWHERE}  8.0 sm_90
        expect_tx,complete_tx  relaxed  cta,cluster  {_ANYWHERE}  8.0 sm_90
    """,
    operands={"addr": address(), "txCount": inp("u32")},
    source="PTX ISA 9.7.13.15.11",
)


@TRANSACTIONS.meaning
def count_transactions(warps: Warps, i: Bound) -> None:
    # READ
    transactions = warps.read(i.txCount)
    # WRITE
    warps.mbarrier(i.space, warps.addresses(i.addr), i.op, transactions=transactions)


# Arriving -------------------------------------------------------------------------------------------------


def _arrivals(space: str) -> str:
    return f"""
        op                   sem      scope        space    ptx target
        arrive,arrive_drop   -        -            {space}  7.0 sm_80
        arrive,arrive_drop   release  cta,cluster  {space}  8.0 sm_80
        arrive,arrive_drop   relaxed  cta,cluster  {space}  8.6 sm_90
    """


ARRIVE = Form(
    name="mbarrier.arrive",
    syntax="mbarrier.op{.sem}{.scope}{.space}.b64  state, [addr]{, count};",
    rows=_arrivals(_LOCAL),
    operands={"state": out("u64", also="sink"), "addr": address(), "count": inp("u32")},
    source="PTX ISA 9.7.13.15.13",
)

ARRIVE_REMOTE = Form(
    name="mbarrier.arrive_remote",
    syntax="mbarrier.op{.sem}{.scope}{.space}.b64  _, [addr]{, count};",
    rows=_arrivals("shared::cluster"),
    operands={"_": sink(), "addr": address(), "count": inp("u32")},
    source="PTX ISA 9.7.13.15.13",
)


@ARRIVE.meaning
@ARRIVE_REMOTE.meaning
def arrive(warps: Warps, i: Bound) -> None:
    # READ
    count = 1 if i.count is None else warps.read(i.count)
    # WRITE
    state = warps.mbarrier(i.space, warps.addresses(i.addr), i.op, count)
    if i.space != "shared::cluster":
        warps.write(i.state, state)


ARRIVE_NO_COMPLETE = Form(
    name="mbarrier.arrive_no_complete",
    syntax="mbarrier.op.noComplete{.sem}{.scope}{.space}.b64  state, [addr], count;",
    rows=f"""
        op                  sem      scope  space     ptx target
        arrive,arrive_drop  -        -      {_LOCAL}  7.0 sm_80
        arrive,arrive_drop  release  cta    {_LOCAL}  8.0 sm_80
    """,
    operands={"state": out("u64", also="sink"), "addr": address(), "count": inp("u32")},
    source="PTX ISA 9.7.13.15.13",
)


@ARRIVE_NO_COMPLETE.meaning
def arrive_no_complete(warps: Warps, i: Bound) -> None:
    # READ
    count = warps.read(i.count)
    # WRITE
    state = warps.mbarrier(i.space, warps.addresses(i.addr), i.op, count)
    warps.write(i.state, state)


def _expecting(space: str) -> str:
    return f"""
        op                  sem              scope        space    ptx target
        arrive,arrive_drop  -                -            {space}  8.0 sm_90
        arrive,arrive_drop  release,relaxed  cta,cluster  {space}  8.0 sm_90
    """


ARRIVE_EXPECT = Form(
    name="mbarrier.arrive_expect_tx",
    syntax="mbarrier.op.expect_tx{.sem}{.scope}{.space}.b64  state, [addr], txCount;",
    rows=_expecting(_LOCAL),
    operands={"state": out("u64", also="sink"), "addr": address(), "txCount": inp("u32")},
    source="PTX ISA 9.7.13.15.13",
)

ARRIVE_EXPECT_REMOTE = Form(
    name="mbarrier.arrive_expect_tx_remote",
    syntax="mbarrier.op.expect_tx{.sem}{.scope}{.space}.b64  _, [addr], txCount;",
    rows=_expecting("shared::cluster"),
    operands={"_": sink(), "addr": address(), "txCount": inp("u32")},
    source="PTX ISA 9.7.13.15.13",
)


@ARRIVE_EXPECT.meaning
@ARRIVE_EXPECT_REMOTE.meaning
def arrive_expect(warps: Warps, i: Bound) -> None:
    # READ
    transactions = warps.read(i.txCount)
    # WRITE
    state = warps.mbarrier(i.space, warps.addresses(i.addr), i.op, 1, transactions)
    if i.space != "shared::cluster":
        warps.write(i.state, state)


# Waiting --------------------------------------------------------------------------------------------------


def _waits(op: str, ptx: str, target: str) -> str:
    return f"""
        op    sem      scope        space     ptx    target
        {op}  -        -            {_LOCAL}  {ptx}  {target}
        {op}  acquire  cta,cluster  {_LOCAL}  8.0    {target}
        {op}  relaxed  cta,cluster  {_LOCAL}  8.6    sm_90
    """


def _phase_type(slots: Slots) -> str:
    return "b32" if slots["parity"] else "b64"


TEST_WAIT = Form(
    name="mbarrier.test_wait",
    syntax="mbarrier.op{.parity}{.sem}{.scope}{.space}.b64  waitComplete, [addr], phase;",
    rows=_waits("test_wait", "7.0", "sm_80"),
    operands={"waitComplete": pred_out(), "addr": address(), "phase": inp(_phase_type)},
    source="PTX ISA 9.7.13.15.16",
)

TRY_WAIT = Form(
    name="mbarrier.try_wait",
    syntax="mbarrier.op{.parity}{.sem}{.scope}{.space}.b64  waitComplete, [addr], phase{, suspendTimeHint};",
    rows=_waits("try_wait", "7.8", "sm_90"),
    operands={
        "waitComplete": pred_out(),
        "addr": address(),
        "phase": inp(_phase_type),
        "suspendTimeHint": inp("u32"),
    },
    touches="waits",
    source="PTX ISA 9.7.13.15.16",
)


@TEST_WAIT.meaning
@TRY_WAIT.meaning
def wait(warps: Warps, i: Bound) -> None:
    # READ
    phase = warps.read(i.phase)
    # WRITE
    warps.mbarrier_wait(
        i.space,
        warps.addresses(i.addr),
        phase,
        parity=i.parity != "",
        blocking=i.op == "try_wait",
        result=i.waitComplete,
    )


PENDING_COUNT = Form(
    name="mbarrier.pending_count",
    syntax="mbarrier.pending_count.b64  count, state;",
    rows="ptx target\n7.0 sm_80",
    operands={"count": out("u32"), "state": inp("b64")},
    source="PTX ISA 9.7.13.15.17",
)


@PENDING_COUNT.meaning
def pending_count(warps: Warps, i: Bound) -> None:
    # READ
    state = warps.read(i.state)
    # COMPUTE
    count = warps.pending_count(state)
    # WRITE
    warps.write(i.count, count)
