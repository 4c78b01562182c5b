"""Runs of multiplications that native code executes.

Native code passes the records of a run to the function `warploom.multiply` for matrices in registers (see
`multiplications`), or to `warploom.multiply_tiles` for matrices in shared memory (see `tile_multiplications`).

The records for matrices in registers start with the numbers of `RunField`. Then come the numbers of `GroupField`, once
for each group. `tile_runs` describes the records for matrices in shared memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.batch import Batch
from warploom.emulator.multiplications import AsyncRun, Run
from warploom.emulator.native.code_table import WHOLE_WARPGROUPS, WHOLE_WARPS
from warploom.emulator.native.library import Library
from warploom.emulator.native.tile_runs import TileRun
from warploom.emulator.tile_products import TileProducts
from warploom.emulator.warps import Components
from warploom.lazy_dataclass import dataclass
from warploom.numerics import register_products
from warploom.numerics._compiled import words_of
from warploom.numerics.formats import Array

_SOME_WARP = np.zeros(1, np.intp)


class RunField(IntEnum):
    """Index of a 64-bit number in the records of a run of multiplications in registers."""

    MACS = 0  # multiply-accumulate operations of one warp
    GROUPS = 1


class GroupField(IntEnum):
    """Index of a 64-bit number in the record of a group."""

    ENTRY = 0  # address of the compiled function for native callers
    WORDS = 1  # address of its arguments
    WARPS = 2  # address of the first word of the argument `warps`


@dataclass(frozen=True, slots=True)
class _TileProductsOfRun:
    """Run of multiplications in shared memory, with the products of each of its groups."""

    run: AsyncRun
    products: Sequence[TileProducts]


class Runs:
    """Runs of multiplications of one launch, with their entries in the code table.

    `first[pc]` is the first instruction of the run with the instruction at `pc`, for the runs that native code
    executes. `probes` has the address of the probe of a run by its first instruction. A run in shared memory has none:
    for observers, the interpreter executes the run.
    """

    def __init__(self, library: Library, code: NDArray[Any], arch: str, *, is_eager: bool) -> None:
        self.first: dict[int, int] = {}
        self.probes: dict[int, int] = {}
        self._library = library
        self._code = code
        self._arch = arch
        self._is_eager = is_eager
        self._components: Components | None = None
        # All dictionaries have the first instruction of a run as key.
        self._uncompiled: dict[int, Run] = {}  # Numba has not compiled the arithmetic yet
        self._unlinked: dict[int, _TileProductsOfRun] = {}
        self._linked: dict[int, _TileProductsOfRun] = {}
        self._kept: dict[int, Any] = {}  # objects to whose addresses the records of a run refer
        self._scratch: dict[tuple[Any, ...], Array] = {}

    def add(self, pc: int, run: Run | AsyncRun) -> None:
        """Link the run that starts at `pc`, now or later.

        Numba compiles the arithmetic when the interpreter first executes a run. The descriptors of matrices in shared
        memory also have their values only then.
        """
        if isinstance(run, Run):
            if run.is_compiled and not self._link_register_run(pc, run):
                self._uncompiled[pc] = run
        elif self._is_eager and (products := run.tile_products(self._arch)) is not None:
            self._unlinked[pc] = _TileProductsOfRun(run, products)

    def link_executed(self, pc: int, batch: Batch) -> range:
        """Link the run at `pc` if its matrices are in shared memory. The interpreter has executed it for a batch.

        Return the instructions of the run if native code executes the run from now on, else an empty range.
        """
        found = self._unlinked.get(pc)
        if found is None or batch.mask is not None or not self._link_tile_run(pc, found, batch):
            return range(0)
        self._linked[pc] = self._unlinked.pop(pc)
        return range(pc, pc + len(found.run))

    def start(self, components: Components) -> list[range]:
        """Prepare for a wave of CTAs. Return the instructions of the runs whose table entries have changed.

        Link the runs whose arithmetic Numba has compiled in the meantime. The interpreter again executes the runs that
        refer to accumulators of other components.
        """
        uncompiled, self._uncompiled = self._uncompiled, {}
        for pc, run in uncompiled.items():
            self.add(pc, run)
        changed = [range(pc, pc + len(run)) for pc, run in uncompiled.items()]
        before, self._components = self._components, components
        if before is not None and before.accumulators is not components.accumulators:
            for pc, found in self._linked.items():
                self._code["function"][pc], self._code["length"][pc] = 0, 1
                changed.append(range(pc, pc + len(found.run)))
                for each in changed[-1]:
                    del self.first[each]
            self._unlinked |= self._linked
            self._linked.clear()
        return changed

    def _write(self, pc: int, length: int, function: str, requires: int, records: NDArray[np.uint64]) -> None:
        entry = self._code[pc]
        entry["function"], entry["records"] = self._library.address(function), records.ctypes.data
        entry["length"], entry["requires"] = length, requires
        self.first |= dict.fromkeys(range(pc, pc + length), pc)

    # Matrices in registers --------------------------------------------------------------------------------

    def _link_register_run(self, pc: int, run: Run) -> bool:
        """Write the table entry of a run. Return False if a group has no compiled function for native callers."""
        records = [sum(each.macs for each in run.groups), len(run.groups)]
        kept: list[Any] = []
        for each in run.groups:
            call = each.call
            assert call is not None, "the run is compiled"
            scratch = self._scratch.get(call.layout)
            if scratch is None:
                scratch = self._scratch[call.layout] = register_products.scratch(call.sizes, call.strip)
            arguments = call.arguments(_SOME_WARP, scratch)
            entry = call.function.native_entry(*arguments)
            if not entry:
                return False
            words = np.array(words_of(arguments), np.uint64)
            records += entry, words.ctypes.data, words[len(words_of(call.file)) :].ctypes.data
            kept += words, call
        table = np.array(records, np.uint64)
        self._kept[pc] = table, kept
        self.probes[pc] = self._library.address("warploom.can_multiply")
        self._write(pc, len(run), "warploom.multiply", WHOLE_WARPS, table)
        return True

    # Matrices in shared memory ----------------------------------------------------------------------------

    def _link_tile_run(self, pc: int, each: _TileProductsOfRun, batch: Batch) -> bool:
        """Write the table entry of a run. Return False if a group has no compiled function for native callers.

        Native code executes the run for descriptors that differ from those of `batch` only in their start addresses.
        """
        assert self._components is not None
        records = TileRun(each.run, batch, self._components)
        if not all(map(records.add_call, each.run.groups, each.products)):
            return False
        table = records.table()
        self._kept[pc] = table, records
        self._write(pc, len(each.run), "warploom.multiply_tiles", WHOLE_WARPGROUPS, table)
        return True
