"""Memory barriers in shared memory, which count arrivals and the bytes of asynchronous copies.

Source: PTX ISA 9.7.13.15.
"""

from warploom.isa.model.effects import Arrive, Wait, slot_or
from warploom.isa.model.form import Form
from warploom.isa.model.operands import address, inp, out, pred_out, sink
from warploom.isa.model.semantics import Bound, Warps

_LOCAL = "-,shared,shared::cta"
_ANYWHERE = "-,shared,shared::cta,shared::cluster"
_OBJECT = address(space="shared")
_COUNT = inp("u32", values=range(1, 1 << 63))
_STATE = out("u64", allows=("sink",))

INIT = Form(
    name="mbarrier.init",
    syntax="mbarrier.init{.space}.b64  [addr], count;",
    rows=f"space ptx target\n{_LOCAL} 7.0 sm_80",
    operands={"addr": _OBJECT, "count": inp("u32", values=range(1, 1 << 20), bits=32)},
    effects=(Arrive("addr", "init", order="weak", count="count"),),
    source="PTX ISA 9.7.13.15.9",
)
INIT.describe(
    "Initialises an mbarrier with the number of arrivals per phase. Use it in one thread, followed by a fence and"
    " a barrier before other threads use the mbarrier.",
    "mbarrier.init.shared.b64 [%r0], 1;",
)


@INIT.execute
def initialise(warps: Warps, i: Bound) -> None:
    warps.mbarrier(i.space, warps.addresses(i.addr), "init", warps.read(i.count))


INVAL = Form(
    name="mbarrier.inval",
    syntax="mbarrier.inval{.space}.b64  [addr];",
    rows=f"space ptx target\n{_LOCAL} 7.0 sm_80",
    operands={"addr": _OBJECT},
    effects=(Arrive("addr", "inval", order="weak"),),
    source="PTX ISA 9.7.13.15.10",
)
INVAL.describe(
    "Ends the use of an mbarrier, so that its memory may hold other data. Use it before shared memory is reused.",
    "@%p0 mbarrier.inval.shared.b64 [%r0];",
)


@INVAL.execute
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
    operands={"addr": _OBJECT, "txCount": inp("u32")},
    effects=(Arrive("addr", "op", order="relaxed", scope="scope", transactions="txCount"),),
    source="PTX ISA 9.7.13.15.11",
)
TRANSACTIONS.describe(
    "Increases (`expect_tx`) or decreases (`complete_tx`) the number of bytes that the current phase expects. Use"
    " `mbarrier.arrive.expect_tx` if the thread also arrives.",
    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r0], 4096;",
)


@TRANSACTIONS.execute
def count_transactions(warps: Warps, i: Bound) -> None:
    warps.mbarrier(i.space, warps.addresses(i.addr), i.op, transactions=warps.read(i.txCount))


_ORDERED = """
        arrive,arrive_drop  release  cta          {space}  8.0  {target}
        arrive,arrive_drop  release  cluster      {space}  8.0  sm_90
        arrive,arrive_drop  relaxed  cta,cluster  {space}  8.6  sm_90
"""


def _arrivals(space: str, target: str, arrive: str, drop: str) -> str:
    """Return the table of arrive and arrive_drop, given the first PTX version of each."""
    return f"""
        op           sem  scope  space    ptx       target
        arrive       -    -      {space}  {arrive}  {target}
        arrive_drop  -    -      {space}  {drop}    {target}
    """ + _ORDERED.format(space=space, target=target)


_COUNTED = {"addr": _OBJECT, "count": _COUNT}

ARRIVE, ARRIVE_DISCARD, ARRIVE_COUNT, ARRIVE_REMOTE = (
    Form(
        name=f"mbarrier.arrive{suffix}",
        syntax="mbarrier.op{.sem}{.scope}{.space}.b64" + f"  {written};",
        rows=_arrivals(space, target, arrive, drop),
        operands=operands,
        effects=(Arrive("addr", "op", order=slot_or("sem", "release"), scope=slot_or("scope", "cta")),),
        source="PTX ISA 9.7.13.15.13",
    )
    for suffix, written, space, target, arrive, drop, operands in (
        ("", "state, [addr]", _LOCAL, "sm_80", "7.0", "7.0", {"state": out("u64"), "addr": _OBJECT}),
        ("_discard", "_, [addr]", _LOCAL, "sm_80", "7.1", "7.0", {"_": sink(), "addr": _OBJECT}),
        ("_count", "state, [addr], count", _LOCAL, "sm_90", "7.8", "7.8", {"state": _STATE} | _COUNTED),
        ("_remote", "_, [addr]{, count}", "shared::cluster", "sm_90", "8.0", "8.0", {"_": sink()} | _COUNTED),
    )
)
ARRIVE.describe(
    "Arrives at an mbarrier of this CTA and returns the state of the current phase. Use it to tell a producer"
    " that a stage is free; `arrive_drop` also reduces the expected count of later phases.",
    "mbarrier.arrive.shared.b64 %rd0, [%r0];",
)
ARRIVE_DISCARD.describe(
    "Arrives at an mbarrier of this CTA. Use it if the thread waits by parity and needs no state.",
    "mbarrier.arrive.shared.b64 _, [%r0];",
)
ARRIVE_COUNT.describe(
    "Arrives count times at an mbarrier of this CTA and returns the state of the phase. Use it if one thread"
    " arrives for several threads.",
    "mbarrier.arrive.shared.b64 %rd0, [%r0], 32;",
)
ARRIVE_REMOTE.describe(
    "Arrives at an mbarrier of any CTA of the cluster. Use it to tell the producer CTA of a multicast that a"
    " stage is free.",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r0];",
)


@ARRIVE.execute
@ARRIVE_DISCARD.execute
@ARRIVE_COUNT.execute
@ARRIVE_REMOTE.execute
def arrive(warps: Warps, i: Bound) -> None:
    _arrive(warps, i, i.op)


def _arrive(warps: Warps, i: Bound, action: str) -> None:
    given, kept = getattr(i, "count", None), getattr(i, "state", None)
    state = warps.mbarrier(i.space, warps.addresses(i.addr), action, 1 if given is None else warps.read(given))
    if kept is not None:
        warps.write(kept, state)


ARRIVE_NO_COMPLETE, ARRIVE_NO_COMPLETE_DISCARD = (
    Form(
        name=f"mbarrier.arrive_no_complete{suffix}",
        syntax="mbarrier.op.noComplete{.sem}{.scope}{.space}.b64" + f"  {result}, [addr], count;",
        rows=f"""
            op                  sem      scope  space     ptx    target
            arrive              -        -      {_LOCAL}  {ptx}  sm_80
            arrive_drop         -        -      {_LOCAL}  7.0    sm_80
            arrive,arrive_drop  release  cta    {_LOCAL}  8.0    sm_80
        """,
        operands={result: spec, "addr": _OBJECT, "count": _COUNT},
        effects=(Arrive("addr", "op", order=slot_or("sem", "release"), scope=slot_or("scope", "cta")),),
        source="PTX ISA 9.7.13.15.13",
    )
    for suffix, result, spec, ptx in (("", "state", out("u64"), "7.0"), ("_discard", "_", sink(), "7.1"))
)
ARRIVE_NO_COMPLETE.describe(
    "Arrives count times without completing the phase, and returns the state. Use it if other arrivals must"
    " follow in any case.",
    "mbarrier.arrive.noComplete.shared.b64 %rd0, [%r0], 1;",
)
ARRIVE_NO_COMPLETE_DISCARD.describe(
    "Arrives count times without completing the phase. Use it if other arrivals must follow in any case.",
    "mbarrier.arrive_drop.noComplete.shared.b64 _, [%r0], 1;",
)


@ARRIVE_NO_COMPLETE.execute
@ARRIVE_NO_COMPLETE_DISCARD.execute
def arrive_no_complete(warps: Warps, i: Bound) -> None:
    _arrive(warps, i, f"{i.op}_no_complete")


ARRIVE_EXPECT, ARRIVE_EXPECT_REMOTE = (
    Form(
        name=f"mbarrier.arrive_expect_tx{suffix}",
        syntax="mbarrier.op.expect_tx{.sem}{.scope}{.space}.b64" + f"  {result}, [addr], txCount;",
        rows=f"""
            op                  sem      scope        space    ptx target
            arrive,arrive_drop  -        -            {space}  8.0 sm_90
            arrive,arrive_drop  release  cta,cluster  {space}  8.0 sm_90
            arrive,arrive_drop  relaxed  cta,cluster  {space}  8.6 sm_90
        """,
        operands={result: spec, "addr": _OBJECT, "txCount": inp("u32")},
        effects=(
            Arrive(
                "addr", "op", order=slot_or("sem", "release"), scope=slot_or("scope", "cta"), transactions="txCount"
            ),
        ),
        source="PTX ISA 9.7.13.15.13",
    )
    for suffix, result, spec, space in (("", "state", _STATE, _LOCAL), ("_remote", "_", sink(), "shared::cluster"))
)
ARRIVE_EXPECT.describe(
    "Adds bytes to the transaction count of the phase, and arrives. Use it in the thread that starts the copies"
    " of a stage, before the copies.",
    "mbarrier.arrive.expect_tx.shared.b64 %rd0, [%r0], 4096;",
)
ARRIVE_EXPECT_REMOTE.describe(
    "Adds bytes to the transaction count of an mbarrier of any CTA of the cluster, and arrives there. Use it if"
    " one CTA starts the copies of another CTA.",
    "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%r0], 4096;",
)


@ARRIVE_EXPECT.execute
@ARRIVE_EXPECT_REMOTE.execute
def arrive_expect(warps: Warps, i: Bound) -> None:
    state = warps.mbarrier(i.space, warps.addresses(i.addr), i.op, 1, warps.read(i.txCount))
    if i.space != "shared::cluster":
        warps.write(i.state, state)


def _waits(op: str, ptx: str, parity_ptx: str, target: str) -> str:
    return f"""
        op    parity         sem      scope        space     ptx           target
        {op}  -              -        -            {_LOCAL}  {ptx}         {target}
        {op}  parity         -        -            {_LOCAL}  {parity_ptx}  {target}
        {op}  -,parity       acquire  cta          {_LOCAL}  8.0           {target}
        {op}  -,parity       acquire  cluster      {_LOCAL}  8.0           sm_90
        {op}  -,parity       relaxed  cta,cluster  {_LOCAL}  8.6           sm_90
    """


_PHASE = inp(
    lambda slots: "u32" if slots["parity"] else "u64",
    values=lambda slots: (0, 1) if slots["parity"] else None,
    accepts="own",
)

TEST_WAIT = Form(
    name="mbarrier.test_wait",
    syntax="mbarrier.op{.parity}{.sem}{.scope}{.space}.b64  waitComplete, [addr], phase;",
    rows=_waits("test_wait", "7.0", "7.1", "sm_80"),
    operands={"waitComplete": pred_out(sink=False), "addr": _OBJECT, "phase": _PHASE},
    effects=(
        Wait(
            "mbarrier",
            address="addr",
            order=slot_or("sem", "acquire"),
            scope=slot_or("scope", ""),
            phase="phase",
            result="waitComplete",
        ),
    ),
    source="PTX ISA 9.7.13.15.16",
)
TEST_WAIT.describe(
    "Returns whether a phase has completed, without waiting. Use it to do other work meanwhile.",
    "mbarrier.test_wait.parity.shared.b64 %p0, [%r0], 0;",
)

TRY_WAIT = Form(
    name="mbarrier.try_wait",
    syntax="mbarrier.op{.parity}{.sem}{.scope}{.space}.b64  waitComplete, [addr], phase{, suspendTimeHint};",
    rows=_waits("try_wait", "7.8", "7.8", "sm_90"),
    operands={"waitComplete": pred_out(sink=False), "addr": _OBJECT, "phase": _PHASE, "suspendTimeHint": inp("u32")},
    effects=(
        Wait(
            "mbarrier",
            address="addr",
            suspends=True,
            order=slot_or("sem", "acquire"),
            scope=slot_or("scope", ""),
            phase="phase",
            result="waitComplete",
        ),
    ),
    source="PTX ISA 9.7.13.15.16",
)
TRY_WAIT.describe(
    "Waits for a limited time and returns whether a phase has completed. Use it in a loop until the result is"
    " true; with `.parity`, the phase is 0 or 1.",
    "mbarrier.try_wait.parity.shared.b64 %p0, [%r0], 0;",
)


@TEST_WAIT.execute
@TRY_WAIT.execute
def wait(warps: Warps, i: Bound) -> None:
    where, phase, parity = warps.addresses(i.addr), warps.read(i.phase), i.parity != ""
    warps.mbarrier_wait(i.space, where, phase, parity=parity, blocking=i.op == "try_wait", result=i.waitComplete)


PENDING_COUNT = Form(
    name="mbarrier.pending_count",
    syntax="mbarrier.pending_count.b64  count, state;",
    rows="ptx target\n7.0 sm_80",
    operands={"count": out("u32"), "state": inp("u64")},
    source="PTX ISA 9.7.13.15.17",
)
PENDING_COUNT.describe(
    "Returns the number of pending arrivals in a state. Use it to find the thread that arrived last.",
    "mbarrier.pending_count.b64 %r0, %rd0;",
)

PENDING_COUNT.execute(lambda warps, i: warps.write(i.count, warps.pending_count(warps.read(i.state))))
