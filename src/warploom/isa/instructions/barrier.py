"""Barriers of CTAs and clusters, memory fences and proxy fences.

Fences have no effect in the emulator. All threads see all writes, through any proxy, in the order in which the writes
take effect.

Source: PTX ISA 9.7.13.1 to 9.7.13.4.
"""

from warploom.isa.model.effects import Barrier, Fence, Slots, slot_or
from warploom.isa.model.form import Form, no_effect
from warploom.isa.model.operands import address, immediate, inp, out, pred_in
from warploom.isa.model.semantics import Bound, Warps


def _aligned(slots: Slots) -> str:
    return slots["aligned"] or ("aligned" if slots["barrier"] == "bar" else "")  # bar is always aligned


def _proxy_ordered(slots: Slots) -> str:
    """Return the proxy that the fence orders with the generic proxy."""
    return slots["to_proxykind::from_proxykind"].partition("::")[0]


_SPELLINGS = """
        barrier  cta  aligned    ptx
        bar      -    -          1.0
        bar      cta  -          7.8
        barrier  -    -,aligned  6.0
        barrier  cta  -,aligned  7.8
"""
_NUMBER = inp("u32", values=range(16), bits=32)
_THREADS = inp("u32", values=range(0, 1 << 32, 32), bits=32)

BARRIER_SYNC = Form(
    name="barrier.sync",
    syntax="barrier{.cta}.sync{.aligned}  a{, b};",
    rows=_SPELLINGS,
    operands={"a": _NUMBER, "b": _THREADS},
    effects=(Barrier("cta", aligned=_aligned, number="a", threads="b"),),
    source="PTX ISA 9.7.13.1",
)
BARRIER_SYNC.describe(
    "Waits until the expected threads of the CTA have arrived at barrier a, and makes their earlier memory"
    " accesses visible. Use it between writes and reads of shared memory by different threads; b restricts the"
    " barrier to a part of the warps.",
    "bar.sync 0;",
)


def _meet(warps: Warps, i: Bound) -> None:
    """Reconverge each warp if the barrier is aligned."""
    if i.aligned or getattr(i, "barrier", "") == "bar":
        warps.gather_warp()


@BARRIER_SYNC.execute
def synchronise(warps: Warps, i: Bound) -> None:
    _meet(warps, i)
    warps.cta_barrier(warps.read(i.a), None if i.b is None else warps.read(i.b), "sync")


BARRIER_ARRIVE = Form(
    name="barrier.arrive",
    syntax="barrier{.cta}.arrive{.aligned}  a, b;",
    rows=_SPELLINGS,
    operands={"a": _NUMBER, "b": inp("u32", values=range(32, 1 << 64, 32), bits=64)},
    effects=(Barrier("cta", waits=False, aligned=_aligned, number="a", threads="b"),),
    source="PTX ISA 9.7.13.1",
)
BARRIER_ARRIVE.describe(
    "Arrives at barrier a of the CTA without waiting. Use it in producer warps, while consumer warps wait with"
    " `bar.sync` for the same count.",
    "bar.arrive 1, 256;",
)


@BARRIER_ARRIVE.execute
def arrive(warps: Warps, i: Bound) -> None:
    _meet(warps, i)
    warps.cta_barrier(warps.read(i.a), warps.read(i.b), "arrive")


BARRIER_RED = Form(
    name="barrier.red",
    syntax="barrier{.cta}.red.op{.aligned}.type  d, a{, b}, {!}c;",
    rows="""
        barrier  cta  op      aligned    type  ptx
        bar      -    popc    -          u32   2.0
        bar      -    and,or  -          pred  2.0
        bar      cta  popc    -          u32   7.8
        bar      cta  and,or  -          pred  7.8
        barrier  -    popc    -,aligned  u32   6.0
        barrier  -    and,or  -,aligned  pred  6.0
        barrier  cta  popc    -,aligned  u32   7.8
        barrier  cta  and,or  -,aligned  pred  7.8
    """,
    operands={"d": out("type"), "a": _NUMBER, "b": _THREADS, "c": pred_in()},
    effects=(Barrier("cta", aligned=_aligned, number="a", threads="b"),),
    source="PTX ISA 9.7.13.1",
)
BARRIER_RED.describe(
    "Waits at a barrier of the CTA and combines the predicates of all threads: their count, conjunction or"
    " disjunction. Use it to decide together whether an iteration has finished.",
    "bar.red.popc.u32 %r0, 0, %p0;",
)


@BARRIER_RED.execute
def reduce(warps: Warps, i: Bound) -> None:
    _meet(warps, i)
    threads = None if i.b is None else warps.read(i.b)
    warps.cta_reduce(warps.read(i.a), threads, warps.read(i.c), i.op, i.d)


CLUSTER_ARRIVE = Form(
    name="barrier.cluster_arrive",
    syntax="barrier.cluster.arrive{.sem}{.aligned};",
    rows="""
        sem              ptx target
        -                7.8 sm_90
        release,relaxed  8.0 sm_90
    """,
    effects=(Barrier("cluster", waits=False, order=slot_or("sem", "release")),),
    source="PTX ISA 9.7.13.3",
)
CLUSTER_ARRIVE.describe(
    "Arrives at the barrier of the cluster without waiting. Use it with `barrier.cluster.wait`, with independent"
    " work between the two.",
    "barrier.cluster.arrive.release.aligned;",
)


@CLUSTER_ARRIVE.execute
def arrive_in_cluster(warps: Warps, i: Bound) -> None:
    _meet(warps, i)
    warps.cluster_arrive()


CLUSTER_WAIT = Form(
    name="barrier.cluster_wait",
    syntax="barrier.cluster.wait{.acquire}{.aligned};",
    rows="""
        acquire  ptx target
        -        7.8 sm_90
        acquire  8.0 sm_90
    """,
    effects=(Barrier("cluster", arrives=False, order="acquire"),),
    source="PTX ISA 9.7.13.3",
)
CLUSTER_WAIT.describe(
    "Waits until all threads of the cluster have arrived. Use it after the initialisation of mbarriers and before"
    " a CTA exits whose shared memory other CTAs still access.",
    "barrier.cluster.wait.acquire.aligned;",
)


@CLUSTER_WAIT.execute
def wait_for_cluster(warps: Warps, i: Bound) -> None:
    _meet(warps, i)
    warps.cluster_wait()


# Fences ---------------------------------------------------------------------------------------------------

FENCE = Form(
    name="barrier.fence",
    syntax="fence{.sem}.scope;",
    rows="""
        sem              scope                ptx target
        -,sc,acq_rel     cta,gpu,sys          6.0 sm_70
        -,sc,acq_rel     cluster              7.8 sm_90
        acquire,release  cta,cluster,gpu,sys  8.6 sm_90
    """,
    effects=(Fence("memory", order=slot_or("sem", "acq_rel"), scope="scope"),),
    source="PTX ISA 9.7.13.4",
)
FENCE.describe(
    "Orders the memory accesses of the thread before the fence and after the fence, for the threads of a scope."
    " Use it between data and a flag that another thread polls.",
    "fence.acq_rel.gpu;",
)

FENCE_RESTRICTED = Form(
    name="barrier.fence_restricted",
    syntax="fence{.op_restrict}.sem{.sync_restrict}.scope;",
    rows="""
        op_restrict    sem      sync_restrict                   scope    ptx target
        mbarrier_init  release  -                               cluster  8.0 sm_90
        -              acquire  sync_restrict::shared::cluster  cluster  8.6 sm_90
        -              release  sync_restrict::shared::cta      cluster  8.6 sm_90
    """,
    effects=(Fence("memory", order="sem", scope="scope"),),
    source="PTX ISA 9.7.13.4",
)
FENCE_RESTRICTED.describe(
    "Orders only some accesses: the initialisation of mbarriers, or accesses to shared memory of the cluster. Use"
    " it after `mbarrier.init`, before other CTAs or the async proxy use the barriers.",
    "fence.mbarrier_init.release.cluster;",
)

FENCE_PROXY = Form(
    name="barrier.fence_proxy",
    syntax="fence.proxy.proxykind{.space};",
    rows="""
        proxykind  space                                       ptx target
        alias      -                                           7.5 sm_70
        async      -,global,shared::cta,shared::cluster        8.0 sm_90
    """,
    effects=(Fence("proxy", scope="cta", proxy="proxykind", space="space"),),
    source="PTX ISA 9.7.13.4",
)
FENCE_PROXY.describe(
    "Orders accesses by the generic proxy and accesses by another proxy to the same memory. Use it between stores"
    " to shared memory and a tensor copy or multiplication that reads them.",
    "fence.proxy.async.shared::cta;",
)

FENCE_PROXY_TO = Form(
    name="barrier.fence_proxy_release",
    syntax="fence.proxy.to_proxykind::from_proxykind.sem{.sync_restrict}.scope;",
    rows="""
        to_proxykind::from_proxykind  sem      sync_restrict                   scope                ptx target
        tensormap::generic            release  -                               cta,cluster,gpu,sys  8.3 sm_90
        async::generic                release  sync_restrict::shared::cta      cluster              8.6 sm_90
        async::generic                acquire  sync_restrict::shared::cluster  cluster              8.6 sm_90
    """,
    effects=(Fence("proxy", order="sem", scope="scope", proxy=_proxy_ordered),),
    source="PTX ISA 9.7.13.4",
)
FENCE_PROXY_TO.describe(
    "Makes the thread's earlier changes of a tensor map visible to a later acquire fence of the tensormap proxy."
    " Use it after `tensormap.replace` or after the copy of a tensor map.",
    "fence.proxy.tensormap::generic.release.gpu;",
)

FENCE_PROXY_TENSORMAP = Form(
    name="barrier.fence_proxy_acquire",
    syntax="fence.proxy.tensormap::generic.acquire.scope  [addr], size;",
    rows="scope ptx target\ncta,cluster,gpu,sys 8.3 sm_90",
    operands={"addr": address(), "size": immediate(values=(128,), bits=32)},
    effects=(Fence("proxy", order="acquire", scope="scope", proxy="tensormap", address="addr"),),
    source="PTX ISA 9.7.13.4",
)
FENCE_PROXY_TENSORMAP.describe(
    "Makes released changes of the 128 bytes of a tensor map visible to the tensor copies of the thread. Use it"
    " before the first copy with a tensor map that the kernel has changed.",
    "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;",
)

MEMBAR = Form(
    name="barrier.membar",
    syntax="membar.level;",
    rows="level ptx\ncta,gl,sys 1.4",
    effects=(Fence("memory", scope=lambda slots: "gpu" if slots["level"] == "gl" else slots["level"]),),
    source="PTX ISA 9.7.13.4",
)
MEMBAR.describe(
    "Orders the memory accesses of the thread, like `fence.sc`, at the level of the CTA, the GPU or the system."
    " Use `fence` in new code.",
    "membar.gl;",
)

MEMBAR_PROXY = Form(
    name="barrier.membar_proxy",
    syntax="membar.proxy.proxykind;",
    rows="proxykind ptx target\nalias 7.5 sm_70",
    effects=(Fence("proxy", proxy="proxykind"),),
    source="PTX ISA 9.7.13.4",
)
MEMBAR_PROXY.describe(
    "Orders accesses by the generic proxy and another proxy. Use `fence.proxy` in new code.", "membar.proxy.alias;"
)

for _fence in (FENCE, FENCE_RESTRICTED, FENCE_PROXY, FENCE_PROXY_TO, FENCE_PROXY_TENSORMAP, MEMBAR, MEMBAR_PROXY):
    _fence.execute(no_effect)
