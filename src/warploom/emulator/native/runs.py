"""Runs of multiplications that native code executes.

Native code passes the records of a run to the function `warploom.multiply` for multiplications by warps (see
`multiplications`), or to `warploom.multiply_tiles` for multiplications by warpgroups (see `tile_multiplications`).

`register_runs` and `tile_runs` describe the records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.batch import Batch
from warploom.emulator.multiplications import AsyncRun, Run
from warploom.emulator.native.code_table import WHOLE_WARPGROUPS, WHOLE_WARPS
from warploom.emulator.native.library import Library
from warploom.emulator.native.register_runs import RegisterRuns
from warploom.emulator.native.tile_runs import TileRun
from warploom.emulator.warps import Components


class Runs:
    """Runs of multiplications of one launch, with their entries in the code table.

    `first[pc]` is the first instruction of the run with the instruction at `pc`, for the runs that native code
    executes. `probes` has the address of the probe of a run by its first instruction. A run of warpgroup
    multiplications has none: for observers, the interpreter executes the run.
    """

    def __init__(self, library: Library, code: NDArray[Any], arch: str, *, is_eager: bool) -> None:
        self.first: dict[int, int] = {}
        self.probes: dict[int, int] = {}
        self._library = library
        self._code = code
        self._arch = arch
        self._is_eager = is_eager
        self._components: Components | None = None
        self._register_runs = RegisterRuns()
        # All dictionaries have the first instruction of a run as key.
        self._uncompiled: dict[int, Run] = {}  # Numba has not compiled the arithmetic yet
        self._unlinked: dict[int, AsyncRun] = {}
        self._linked: dict[int, AsyncRun] = {}
        self._kept: dict[int, TileRun] = {}  # records of the linked runs

    def add(self, pc: int, run: Run | AsyncRun) -> None:
        """Write the entry of the run that starts at `pc` in the code table (link it), now or later.

        Numba compiles the arithmetic when the interpreter first executes a run. A run of warpgroup multiplications is
        linked after its first execution, because the values of its descriptors are not known earlier.
        """
        if isinstance(run, Run):
            if run.is_compiled and not self._link_register_run(pc, run):
                self._uncompiled[pc] = run
        elif self._is_eager:
            self._unlinked[pc] = run

    def link_executed(self, pc: int, batch: Batch) -> range:
        """Link the run at `pc` if it consists of warpgroup multiplications.

        The interpreter has executed the run for a batch. Return the instructions of the run if native code executes the
        run from now on, else an empty range. Native code executes the run if its descriptors are those of this batch,
        apart from the start addresses. For other descriptors, the interpreter executes the run.
        """
        run = self._unlinked.get(pc)
        if run is None or batch.mask is not None:
            return range(0)
        products = run.tile_products(self._arch)
        if products is None:
            del self._unlinked[pc]
            return range(0)
        assert self._components is not None
        records = TileRun(run, batch, self._components)
        if not all(map(records.add_call, run.groups, products)):
            return range(0)  # there is no compiled function for native callers yet
        self._linked[pc], self._kept[pc] = self._unlinked.pop(pc), records
        self._write(pc, len(run), "warploom.multiply_tiles", WHOLE_WARPGROUPS, records.table())
        return range(pc, pc + len(run))

    def start(self, components: Components) -> list[range]:
        """Prepare for a wave of CTAs. Return the instructions of the runs whose table entries have changed.

        Link the runs whose arithmetic Numba has compiled in the meantime. Remove the table entries of runs that refer
        to the accumulators of earlier components. The interpreter executes such a run until it is linked again.
        """
        uncompiled, self._uncompiled = self._uncompiled, {}
        for pc, run in uncompiled.items():
            self.add(pc, run)
        changed = [range(pc, pc + len(run)) for pc, run in uncompiled.items()]
        before, self._components = self._components, components
        if before is not None and before.accumulators is not components.accumulators:
            for pc, run in self._linked.items():
                self._code["function"][pc], self._code["length"][pc] = 0, 1
                changed.append(range(pc, pc + len(run)))
                for each in changed[-1]:
                    del self.first[each]
            self._unlinked |= self._linked
            self._linked.clear()
        return changed

    def _write(self, pc: int, length: int, function: str, requires: int, records: NDArray[np.uint64]) -> None:
        entry = self._code[pc]
        entry["function"], entry["records"] = self._library.address(function), records.ctypes.data
        entry["length"], entry["requires"] = length, entry["requires"] | requires
        self.first |= dict.fromkeys(range(pc, pc + length), pc)

    def _link_register_run(self, pc: int, run: Run) -> bool:
        """Write the table entry of a run. Return False if a group has no compiled function for native callers."""
        table = self._register_runs.records(run)
        if table is None:
            return False
        self.probes[pc] = self._library.address("warploom.can_multiply")
        self._write(pc, len(run), "warploom.multiply", WHOLE_WARPS, table)
        return True
