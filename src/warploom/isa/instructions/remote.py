"""What asynchronous stores and reductions of single threads share (PTX ISA 9.7.9.12, 9.7.13.7).

They reach shared memory of the cluster, in no order among each other, and count their bytes off the transactions
of an mbarrier in the same CTA.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from warploom.isa.instructions.lanes import spread
from warploom.isa.model.semantics import Array, Bound, Warps

Effect = Callable[[Warps, Array, Mapping[str, Array]], None]
"""Does what the instruction does at addresses, with arrays that were captured when it was issued."""


def later(warps: Warps, i: Bound, size: int, effect: Effect, captured: Mapping[str, Array]) -> None:
    """Let an effect of `size` bytes for each active lane, at the addresses `i.a`, happen when the schedule says.

    Shapes: captured arrays have the warps as their first axis.
    """
    where = {"where": spread(warps, warps.addresses(i.a)), "mbarrier": spread(warps, warps.addresses(i.mbar))}
    warps.defer("remote", partial(_take_effect, i.ss, size, effect), {**where, **captured})


def _take_effect(space: str, size: int, effect: Effect, warps: Warps, captured: Mapping[str, Array]) -> None:
    effect(warps, captured["where"], captured)
    warps.mbarrier(space, captured["mbarrier"], "complete_tx", transactions=size)
