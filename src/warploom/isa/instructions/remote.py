"""Asynchronous stores and reductions of single threads in shared memory of the cluster.

The operations are unordered. Each counts its bytes as completed transactions of an mbarrier in the same CTA.

Source: PTX ISA 9.7.9.12, 9.7.13.7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from warploom.isa.instructions.lanes import spread
from warploom.isa.model.semantics import Array, Bound, Warps

Effect = Callable[[Warps, Array, Mapping[str, Array]], None]
"""Function that performs the operation at addresses, with arrays captured when it was issued."""


def defer_with_completion(warps: Warps, i: Bound, size: int, effect: Effect, captured: Mapping[str, Array]) -> None:
    """Defer an operation of `size` bytes per active lane at the addresses `i.a`, and its completion.

    Shapes: the first axis of captured arrays is the warps.
    """
    where = {"where": spread(warps, warps.addresses(i.a)), "mbarrier": spread(warps, warps.addresses(i.mbar))}
    warps.defer("remote", partial(_take_effect, i.ss, size, effect), {**where, **captured})


def _take_effect(space: str, size: int, effect: Effect, warps: Warps, captured: Mapping[str, Array]) -> None:
    effect(warps, captured["where"], captured)
    warps.mbarrier(space, captured["mbarrier"], "complete_tx", transactions=size)
