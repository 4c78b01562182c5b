"""Operations of single lanes that take effect after their instruction, and copies of their operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from warploom.isa.model.semantics import Array, Bound, Warps

Effect = Callable[[Warps, Array, Mapping[str, Array]], None]
"""Function that performs the operation at addresses, with arrays captured when it was issued."""


def spread(warps: Warps, operand: Array) -> Array:
    """Return a copy of an operand with one element per lane, which later register writes do not change.

    Shapes: an array that broadcasts to (warps, 32), to (warps, 32).
    """
    return np.array(np.broadcast_to(operand, (warps.count, 32)))


def defer_with_completion(warps: Warps, i: Bound, size: int, effect: Effect, captured: Mapping[str, Array]) -> None:
    """Defer an operation of `size` bytes per active lane at the addresses `i.a`, and its completion.

    Shapes: the first axis of captured arrays is the warps.
    """
    where = {"where": spread(warps, warps.addresses(i.a)), "mbarrier": spread(warps, warps.addresses(i.mbar))}
    warps.defer("remote", partial(_take_effect, i.ss, size, effect), {**where, **captured})


def _take_effect(space: str, size: int, effect: Effect, warps: Warps, captured: Mapping[str, Array]) -> None:
    effect(warps, captured["where"], captured)
    warps.mbarrier(space, captured["mbarrier"], "complete_tx", transactions=size)
