"""The profiler: watches a run of the machine and counts, for each instruction, executions and accesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.boxes import chosen
from warploom.emulator.memory import GLOBAL_BASE
from warploom.emulator.watch import Watcher
from warploom.isa.instructions.bulk import BulkCopy, TensorCopy
from warploom.layout import Descriptor
from warploom.layout.tensormap import TensorMapFields
from warploom.layout.tile import shared_bytes
from warploom.observe.profile.accesses import sectors, wavefronts
from warploom.observe.profile.data import ROW, Profile, Tile

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.emulator import Machine
    from warploom.emulator.memory import Place

Array = NDArray[Any]
Act = Callable[[Any, Any], None]
See = Callable[["Batch", Any], None]

_NO_MEMORY_OF_THREADS = frozenset({"param", "const"})


class Profiler(Watcher):
    """A watcher (machine.watch) for one launch.

    What it counts does not depend on how the machine batches warps, and on the schedule only as far as the
    kernel's own path does: an instruction that a strand comes back to is counted once.
    """

    machine: Machine

    def attach(self, machine: Machine) -> None:
        """The machine is made."""
        self.machine = machine
        steps = machine.program.steps
        self._executions = [0] * len(steps)
        self._lanes = [0] * len(steps)
        self._inside = False  # an instruction that was counted is being executed
        self.rows = np.zeros(len(steps), ROW)
        self._tiles: dict[Tile, None] = {}
        self._atomic = [step.binding.form.family == "atomic" for step in steps]
        # What is asynchronous is counted where it is issued, parameters and constants nowhere.
        self._aside = [
            step.binding.form.is_asynchronous
            or not _NO_MEMORY_OF_THREADS.isdisjoint(
                word.partition("::")[0] for word in step.instruction.opcode.split(".")
            )
            for step in steps
        ]

    # Executions -------------------------------------------------------------------------------------------

    def wrap(self, pc: int, act: Act, operands: Any) -> Act:
        """Count an instruction."""
        see = self._sees(pc)

        def counted(batch: Batch, operands: Any) -> None:
            self._count(batch, (pc,))
            if see is not None:
                see(batch, operands)
            self._inside = True
            act(batch, operands)
            self._inside = False

        return counted

    def wrap_run(self, pc: int, together: Act) -> Act:
        """Count every instruction of a run."""
        places = range(pc, pc + len(self.machine.linked[pc].run))
        sees = [self._sees(at) for at in places]

        def counted(batch: Batch, run: Any) -> None:
            self._count(batch, places)
            for see, operands in zip(sees, run, strict=True):
                if see is not None:
                    see(batch, operands)
            together(batch, run)

        return counted

    def suspended(self, batch: Batch, which: Array, state: int, again: bool) -> None:
        """What strands come back to has not been executed."""
        if self._inside and again:
            warps, lanes = _active(batch.active()[which])
            self._executions[self.machine.pc] -= warps
            self._lanes[self.machine.pc] -= lanes

    def _count(self, batch: Batch, places: range | tuple[int, ...]) -> None:
        warps, lanes = (batch.count, 32 * batch.count) if batch.mask is None else _active(batch.mask)
        for pc in places:
            self._executions[pc] += warps
            self._lanes[pc] += lanes

    def _sees(self, pc: int) -> See | None:
        """What looks at the operands of an instruction; None for most."""
        form = self.machine.program.steps[pc].binding.form
        if form.name == "async_copy.cp_async":
            return lambda batch, operands: self._copy(pc, batch, operands)
        if form.multiplies and form.collective == "warpgroup":
            return lambda batch, operands: self._multiply(pc, batch, operands)
        return None

    # Accesses ---------------------------------------------------------------------------------------------

    def access(
        self, kind: str, place: Place, index: Array, lanes: Array, size: int, values: Array | None
    ) -> None:
        """Threads load or store."""
        pc = self.machine.pc
        if place is not self.machine.batch.place or self._aside[pc] or (self._atomic[pc] and values is None):
            return
        if kind == "shared":
            self._shared(pc, index, lanes, size)
        elif kind == "global":
            self._global(pc, index, lanes, size)

    def _shared(self, pc: int, index: Array, lanes: Array, size: int) -> None:
        least, taken, ways = wavefronts(index, lanes, size)
        row = self.rows[pc]
        row["shared"] += np.count_nonzero(least)
        row["ideal_wavefronts"] += least.sum()
        row["wavefronts"] += taken.sum()
        row["ways"] = max(row["ways"], ways.max(initial=0))

    def _global(self, pc: int, index: Array, lanes: Array, size: int) -> None:
        least, touched, lines = sectors(index, lanes, size)
        row = self.rows[pc]
        row["global"] += np.count_nonzero(least)
        row["ideal_sectors"] += least.sum()
        row["sectors"] += touched.sum()
        row["lines"] += lines.sum()

    def _copy(self, pc: int, batch: Batch, operands: Any) -> None:
        """Lanes issue copies of a few bytes; those that read nothing fill with zeros."""
        active, size = batch.active(), operands.cp_size
        target, source = (
            np.broadcast_to(batch.addresses(each), active.shape).astype(np.int64)
            for each in (operands.dst, operands.src)
        )
        reads = active
        if operands.src_size is not None:
            amount = batch.read(operands.src_size)
            reads = active & ~amount if amount.dtype == np.bool_ else active & (amount > 0)
        self._shared(pc, target, active, size)
        self._global(pc, source - GLOBAL_BASE, reads, size)

    # Tiles ------------------------------------------------------------------------------------------------

    def _multiply(self, pc: int, batch: Batch, operands: Any) -> None:
        for name, what in (("a_desc", "A"), ("b_desc", "B")):
            value = getattr(operands, name, None)
            if value is not None:
                for field in np.unique(batch.read(value)[:, 0] >> np.uint64(62)).tolist():
                    self._tiles[Tile(pc, what, Descriptor.decode(field << 62).swizzle)] = None

    def bulk(self, batch: Batch, request: BulkCopy | TensorCopy) -> None:
        """Lanes issue bulk copies."""
        pc = self.machine.pc
        positions, lanes = np.nonzero(batch.active())
        if isinstance(request, BulkCopy):
            self.rows[pc]["bytes"] += int(chosen(request.bytes, positions, lanes).sum(dtype=np.int64))
            return
        # Maps that cannot be read are left out: the machine is about to refuse those copies.
        for fields, of in self.machine.engines.copier.alike(chosen(request.tensor_map, positions, lanes)):
            self.rows[pc]["bytes"] += shared_bytes(fields) * len(of)
            self._tiles[Tile(pc, _box(fields, request), fields.swizzle_span)] = None

    # The end ----------------------------------------------------------------------------------------------

    def profile(self) -> Profile:
        """What was counted until now."""
        machine, grid = self.machine, self.machine.grid
        self.rows["executions"], self.rows["lanes"] = self._executions, self._lanes
        schedule = machine.schedule
        return Profile(
            program=machine.program,
            arch=machine.arch,
            schedule=f"random:{schedule.seed}" if schedule.kind == "random" else schedule.kind,
            grid=grid.grid,
            block=grid.block,
            cluster=grid.cluster,
            dynamic_shared=grid.dynamic_shared,
            total_shared=grid.total_shared,
            rows=self.rows.copy(),
            tiles=tuple(sorted(self._tiles, key=lambda tile: (tile.step, tile.what, tile.swizzle))),
        )


def _active(lanes: Array) -> tuple[int, int]:
    """Warps of which a lane takes part, and such lanes. Shapes: (warps, 32)."""
    return int(np.count_nonzero(lanes.any(axis=1))), int(np.count_nonzero(lanes))


def _box(fields: TensorMapFields, request: TensorCopy) -> str:
    """The box of a tensor map in words, outermost dimension first."""
    if request.is_im2col:
        return f"{fields.pixels_per_column} pixels × {fields.channels_per_pixel} channels of {fields.element_type}"
    sizes = " × ".join(str(size) for size in reversed(fields.box[: fields.rank]))
    return f"{sizes} of {fields.element_type}"
