"""Operations of the dialect that are one in PTX, so that lifting gives another than was lowered."""

from __future__ import annotations

from dataclasses import dataclass

_ARRIVALS = (
    "nvvm.mbarrier.arrive",
    "nvvm.mbarrier.arrive_drop",
    "nvvm.mbarrier.arrive.expect_tx",
    "nvvm.mbarrier.arrive_drop.expect_tx",
)


@dataclass(frozen=True, slots=True)
class Alike:
    """Operations, what tells them from what they are lifted as, that, and why PTX does not tell."""

    operations: tuple[str, ...]
    told: str
    lifted: str
    why: str


ALIKE = (
    Alike(
        ("nvvm.wgmma.mma_async",),
        "`satfinite` that is `wrapped`",
        "one without",
        "to wrap has no word in PTX",
    ),
    Alike(
        (*_ARRIVALS, "nvvm.mbarrier.test.wait", "nvvm.mbarrier.try_wait"),
        "a generic address",
        "one with an address of shared memory",
        "MLIR's intrinsics know shared addresses alone, so that a generic one is converted first",
    ),
    Alike(
        _ARRIVALS[:2],
        "no count, in an order that is not the usual one, or for the cluster",
        "one with a count of one",
        "MLIR's intrinsics have a count there, which a register is set to",
    ),
    Alike(
        _ARRIVALS,
        "a state that it does not return",
        "one that returns it",
        "MLIR's PTX names a register for it, which nothing reads",
    ),
    Alike(
        ("nvvm.mbarrier.try_wait.parity",),
        "the loop around it",
        "`nvvm.mbarrier.try_wait`, or inline PTX where its address is generic",
        "it is several instructions, and branches are left out",
    ),
    Alike(
        ("nvvm.tcgen05.commit",),
        "a generic address",
        "one with an address of shared memory",
        "MLIR writes `.shared::cluster` for both",
    ),
    Alike(("nvvm.memory.barrier",), "the scope `cluster`", "`nvvm.fence.sc.cluster`", "both are that fence"),
)
"""Each kind of them."""
