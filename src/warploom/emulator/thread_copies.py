"""Execution of asynchronous copies of single threads (cp.async)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warploom.isa.model.semantics import Array, Warps

_ELEMENTS = {4: ("b32", 1), 8: ("b64", 1), 16: ("b64", 2)}
"""Element type and element count of one access that copies this number of bytes."""


def execute_thread_copy(size: int, warps: Warps, captured: Mapping[str, Array]) -> None:
    """Copy `size` bytes in each active lane. The captured arrays are those of `records.ThreadCopy`."""
    source, destination, amount = captured["source"], captured["destination"], captured["amount"]
    if ((amount == 0) | (amount == size)).all():
        element, count = _ELEMENTS[size]
        values = warps.load("global", source, element, count, lanes=amount > 0)
        warps.store("shared", destination, element, values)
        return
    loaded = [warps.load("global", source + np.uint64(n), "b8", lanes=amount > n) for n in range(size)]
    warps.store("shared", destination, "b8", np.concatenate(loaded))
