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
        self._waiting: dict[int, Run | tuple[AsyncRun, list[TileProducts]]] = {}  # by the first instruction
        self._tile_runs: dict[int, tuple[AsyncRun, list[TileProducts]]] = {}  # those that native code executes
        self._kept: dict[int, Any] = {}  # objects to whose addresses the records of a run refer
        self._scratch: dict[tuple[Any, ...], Array] = {}

    def add(self, pc: int, run: Run | AsyncRun) -> None:
        """Link the run that starts at `pc`, now or after the interpreter has executed it.

        Numba compiles the arithmetic when the interpreter first executes the run. The descriptors of matrices in shared
        memory also have their values only then.
        """
        if isinstance(run, AsyncRun):
            products = run.tile_products(self._arch) if self._is_eager else None
            if products is not None:
                self._waiting[pc] = run, products
        elif run.is_compiled and not self._link_register_run(pc, run):
            self._waiting[pc] = run

    def link_executed(self, pc: int, batch: Batch) -> range:
        """Link the run at `pc`, which the interpreter has executed for a batch.

        Return the instructions of the run if native code executes the run from now on, else an empty range.
        """
        found = self._waiting.get(pc)
        if found is None or batch.mask is not None:
            return range(0)
        if isinstance(found, Run):
            is_linked, length = self._link_register_run(pc, found), len(found)
        else:
            is_linked, length = self._link_tile_run(pc, *found, batch), len(found[0])
        if not is_linked:
            return range(0)
        del self._waiting[pc]
        return range(pc, pc + length)

    def start(self, components: Components) -> list[range]:
        """Prepare for other components.

        Return the instructions of the runs which native code no longer executes because they refer to other
        accumulators.
        """
        before, self._components = self._components, components
        if before is None or before.accumulators is components.accumulators:
            return []
        dropped, self._tile_runs = self._tile_runs, {}
        self._waiting |= dropped
        parts = [range(pc, pc + len(run)) for pc, (run, _) in dropped.items()]
        for part in parts:
            self._code["function"][part.start], self._code["length"][part.start] = 0, 1
            for pc in part:
                del self.first[pc]
        return parts

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

    def _link_tile_run(self, pc: int, run: AsyncRun, products: Sequence[TileProducts], batch: Batch) -> bool:
        """Write the table entry of a run. Return False if a group has no compiled function for native callers.

        Native code executes the run for descriptors that differ from those of `batch` only in their start addresses.
        """
        assert self._components is not None
        found = TileRun(run, batch, self._components)
        if not all(found.add_call(chains, each) for chains, each in zip(run.groups, products, strict=True)):
            return False
        table = found.records()
        self._kept[pc] = table, found
        self._tile_runs[pc] = run, list(products)
        self._write(pc, len(run), "warploom.multiply_tiles", WHOLE_WARPGROUPS, table)
        return True
