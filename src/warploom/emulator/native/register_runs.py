"""Records of the runs of multiplications by warps that native code executes.

The records of a run start with the numbers of `RunField`. Then come the numbers of `GroupField`, once for each group.
"""

from __future__ import annotations

from dataclasses import field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.multiplications import Run
from warploom.lazy_dataclass import dataclass
from warploom.numerics import register_products
from warploom.numerics._compiled import words_of
from warploom.numerics.formats import Array

_SOME_WARP = np.zeros(1, np.intp)


class RunField(IntEnum):
    """Index of a 64-bit number in the records of a run."""

    MACS = 0  # multiply-accumulate operations of one warp
    GROUPS = 1


class GroupField(IntEnum):
    """Index of a 64-bit number in the record of a group."""

    ENTRY = 0  # address of the compiled function for native callers
    WORDS = 1  # address of its arguments
    WARPS = 2  # address of the first word of the argument `warps`


@dataclass(slots=True)
class RegisterRuns:
    """Records of the runs of one launch, and the arrays to which they refer."""

    _kept: list[Any] = field(default_factory=list[Any])
    _scratch: dict[tuple[Any, ...], Array] = field(default_factory=dict[tuple[Any, ...], Array])

    def records(self, run: Run) -> NDArray[np.uint64] | None:
        """Return the records of a run, or None if a group has no compiled function for native callers."""
        records = [sum(each.macs for each in run.groups), len(run.groups)]
        for each in run.groups:
            call = each.call
            if call is None:
                return None
            scratch = self._scratch.get(call.layout)
            if scratch is None:
                scratch = self._scratch[call.layout] = register_products.scratch(call.sizes, call.strip)
            arguments = call.arguments(_SOME_WARP, scratch)
            entry = call.function.native_entry(*arguments)
            if not entry:
                return None
            words = np.array(words_of(arguments), np.uint64)
            records += entry, words.ctypes.data, words[len(words_of(call.file)) :].ctypes.data
            self._kept += words, call
        table = np.array(records, np.uint64)
        self._kept.append(table)
        return table
