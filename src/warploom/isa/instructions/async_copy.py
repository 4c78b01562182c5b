"""Asynchronous copies from global to shared memory by single threads (`cp.async`), and their groups.

Source: PTX ISA 9.7.9.25.3.
"""

from collections.abc import Mapping

import numpy as np

from warploom.isa.instructions.lanes import spread
from warploom.isa.model.effects import Access, Arrive, Commit, Issue, Wait
from warploom.isa.model.form import Form
from warploom.isa.model.operands import ConstantConstraint, OperandSpec, address, immediate, inp
from warploom.isa.model.records import ThreadCopy
from warploom.isa.model.semantics import Array, Bound, Warps

CP_ASYNC = Form(
    name="async_copy.cp_async",
    syntax="cp.async.cop.shared_space.global{.level::cache_hint}{.level::prefetch_size}"
    "  [dst], [src], cp-size{, src-size}{, cache-policy};",
    rows="""
        cop    shared_space        level::cache_hint  level::prefetch_size         ptx target
        ca,cg  shared,shared::cta  -                  -                            7.0 sm_80
        ca,cg  shared,shared::cta  -,L2::cache_hint   -,L2::64B,L2::128B,L2::256B  7.4 sm_80
    """,
    operands={
        "dst": address(space="shared"),
        "src": address(space="global"),
        "cp_size": immediate(values=lambda slots: (4, 8, 16) if slots["cop"] == "ca" else (16,)),
        # number of bytes to read, or predicate that is true to read none
        "src_size": OperandSpec("any", "read", "u32", legal=ConstantConstraint(upto="cp_size")),
        "cache_policy": inp("u64", when="level::cache_hint"),
    },
    early="shared::cta",
    effects=(
        Issue("copy"),
        Access("read", "src", proxy="copy", size="cp_size", limit="src_size"),
        Access("write", "dst", proxy="copy", size="cp_size"),
    ),
    source="PTX ISA 9.7.9.25.3.1",
)
CP_ASYNC.describe(
    "Starts a copy of 4, 8 or 16 bytes from global to shared memory by each thread, and fills the bytes after"
    " `src-size` with zeros. Use it for pipelines on sm_80, and where addresses or bounds differ between threads.",
    "cp.async.cg.shared.global [%r0], [%rd0], 16;",
)


@CP_ASYNC.copy
def copy(warps: Warps, i: Bound) -> ThreadCopy:
    """Copy from global to shared memory. The copy joins the open copy group of its thread."""
    amount = np.uint32(i.cp_size)
    if i.src_size is not None:
        amount = warps.read(i.src_size)
        if amount.dtype == np.bool_:
            amount = np.where(amount, 0, i.cp_size)
    return ThreadCopy(
        source=spread(warps, warps.addresses(i.src)),
        destination=spread(warps, warps.addresses(i.dst)),
        amount=spread(warps, np.minimum(amount, np.uint32(i.cp_size))),
        size=i.cp_size,
    )


COMMIT = Form(
    name="async_copy.commit_group",
    syntax="cp.async.commit_group;",
    rows="ptx target\n7.0 sm_80",
    effects=(Commit("copy"),),
    source="PTX ISA 9.7.9.25.3.2",
)
COMMIT.describe(
    "Closes a group with all copies that the thread has started since the previous group. Use it once per"
    " pipeline stage, before `cp.async.wait_group`.",
    "cp.async.commit_group;",
)

COMMIT.execute(lambda warps, i: warps.commit("copy"))

WAIT_GROUP = Form(
    name="async_copy.wait_group",
    syntax="cp.async.wait_group  N;",
    rows="ptx target\n7.0 sm_80",
    operands={"N": immediate("u32")},
    effects=(Wait("copy", pending="N"),),
    source="PTX ISA 9.7.9.25.3.3",
)
WAIT_GROUP.describe(
    "Waits until at most the N newest groups of the thread are unfinished. Use it before the data of the oldest"
    " stage is read, followed by a barrier if other threads read it.",
    "cp.async.wait_group 1;",
)

WAIT_GROUP.execute(lambda warps, i: warps.wait("copy", i.N))

WAIT_ALL = Form(
    name="async_copy.wait_all",
    syntax="cp.async.wait_all;",
    rows="ptx target\n7.0 sm_80",
    effects=(Commit("copy"), Wait("copy")),
    source="PTX ISA 9.7.9.25.3.3",
)
WAIT_ALL.describe("Waits for all copies of the thread. Use it at the end of a pipeline.", "cp.async.wait_all;")


@WAIT_ALL.execute
def wait_all(warps: Warps, i: Bound) -> None:
    warps.commit("copy")
    warps.wait("copy", 0)


ARRIVE = Form(
    name="async_copy.mbarrier_arrive",
    syntax="cp.async.mbarrier.arrive{.noinc}{.space}.b64  [addr];",
    rows="space ptx target\n-,shared,shared::cta 7.0 sm_80",
    operands={"addr": address()},
    effects=(Arrive("addr", after="copy"),),
    source="PTX ISA 9.7.13.15.14",
)
ARRIVE.describe(
    "Makes an mbarrier receive an arrival of the thread when all its earlier copies have finished. Use it if"
    " consumers wait on an mbarrier instead of a barrier of the CTA; with `.noinc`, the expected count must"
    " include these arrivals.",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [%r0];",
)


@ARRIVE.execute
def arrive(warps: Warps, i: Bound) -> None:
    where = spread(warps, warps.addresses(i.addr))
    # The arrival follows the lane's earlier copies. Without .noinc, the phase also waits for the arrival.
    if not i.noinc:
        warps.mbarrier(i.space, where, "increment", 1)

    def take_effect(warps: Warps, captured: Mapping[str, Array]) -> None:
        warps.mbarrier(i.space, captured["where"], "arrive", 1)

    warps.defer("copy", take_effect, {"where": where})
