"""Helpers for operations that take effect after their instruction."""

from collections.abc import Callable, Mapping

import numpy as np

from warploom.isa.model.semantics import Array, Bound, Warps

Effect = Callable[[Warps, Array, Mapping[str, Array]], None]
"""Function that performs an operation on a batch of warps, at addresses, with the captured arrays."""


def spread(warps: Warps, operand: Array) -> Array:
    """Return a copy of an operand, broadcast to shape (warps, 32). Register writes do not change the copy."""
    shape = (warps.count, 32)
    return operand.copy() if operand.shape == shape else np.broadcast_to(operand, shape).copy()


def defer_with_completion(warps: Warps, i: Bound, size: int, effect: Effect, captured: Mapping[str, Array]) -> None:
    """Queue the operation `effect` at the addresses `i.a`, with completion at the mbarrier `i.mbar`.

    The completion subtracts `size` bytes for each active lane from the pending transactions of the mbarrier.

    Shapes: the first axis of each captured array is the warp.
    """
    where = {"where": spread(warps, warps.addresses(i.a)), "mbarrier": spread(warps, warps.addresses(i.mbar))}

    def take_effect(warps: Warps, captured: Mapping[str, Array]) -> None:
        effect(warps, captured["where"], captured)
        warps.mbarrier(i.ss, captured["mbarrier"], "complete_tx", transactions=size)

    warps.defer("remote", take_effect, {**where, **captured})
