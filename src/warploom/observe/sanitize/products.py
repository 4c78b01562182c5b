# pyright: reportUnknownMemberType=false
"""Warpgroup multiplications: the registers and the shared memory that those in flight still use."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.link import Linked
from warploom.emulator.values import AddressValue, NotPredicate, Register, VectorValue
from warploom.isa.instructions.fragments import k_of
from warploom.isa.instructions.wgmma import tile_offsets
from warploom.observe.sanitize._compiled import KNOWN
from warploom.observe.sanitize.clocks import MULTIPLICATIONS

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.observe.sanitize.watcher import Sanitizer

Array = NDArray[Any]
Registers = frozenset[tuple[int, int]]


class Products:
    """Every place in the program that issues a multiplication, and what of it is in flight."""

    def __init__(self, sanitizer: Sanitizer) -> None:
        self.sanitizer = sanitizer
        self.machine = sanitizer.machine
        program, linked = self.machine.program, self.machine.linked
        self.sites = [
            pc
            for pc, step in enumerate(program.steps)
            if step.binding.form.multiplies and step.binding.form.collective == "warpgroup"
        ]
        self.number = {pc: number for number, pc in enumerate(self.sites)}
        self.results = [registers_of(linked[pc].operands.d) for pc in self.sites]
        self.sources = [registers_of(getattr(linked[pc].operands, "a", None)) for pc in self.sites]
        self.metadata = [registers_of(getattr(linked[pc].operands, "sp_meta", None)) for pc in self.sites]
        self._hazards = self._find_hazards() if self.sites else {}

    def _find_hazards(self) -> dict[int, tuple[Array, Array]]:
        """For each other instruction: places whose registers it must leave alone in flight, and those whose
        registers it touches.
        """
        by_register: dict[tuple[int, int], list[int]] = {}
        for number, result in enumerate(self.results):
            for register in result | self.sources[number] | self.metadata[number]:
                by_register.setdefault(register, []).append(number)
        found: dict[int, tuple[Array, Array]] = {}
        for pc, each in enumerate(self.machine.linked):
            if pc in self.number:
                continue
            read, written = self._touched(pc, each)
            touched = {number for register in read | written for number in by_register.get(register, ())}
            if touched:
                busy = [
                    number
                    for number in touched
                    if (read | written) & self.results[number]
                    or written & (self.sources[number] | self.metadata[number])
                ]
                changed = [n for n in touched if (read | written) & (self.results[n] | self.sources[n])]
                found[pc] = (np.array(busy, np.intp), np.array(changed, np.intp))
        return found

    def _touched(self, pc: int, each: Linked) -> tuple[Registers, Registers]:
        places = self.machine.program.steps[pc].binding.form.operands
        read: set[tuple[int, int]] = set()
        written: set[tuple[int, int]] = set()
        for name, place in places.items():
            registers = registers_of(getattr(each.operands, name))
            if place.access != "write":
                read |= registers
            if place.access != "read":
                written |= registers
        if each.guard is not None:
            read |= registers_of(each.guard)
        return frozenset(read), frozenset(written)

    def start(self) -> None:
        """New CTAs: nothing is in flight, and no fence has been run."""
        shape = (len(self.sites), self.machine.warps)
        self.group = np.zeros(shape, np.int32)  # that a place was last issued in, from 1 on
        self.dirty = np.ones(shape, np.bool_)  # registers were touched since the last fence
        self.toucher = np.full(shape, -1, np.int32)

    def sees(self, pc: int) -> Callable[[Batch, Any], None] | None:
        """What looks at an instruction that is a multiplication or touches registers of one; None for others."""
        if pc in self.number:
            return self.issue
        hazards = self._hazards.get(pc)
        return None if hazards is None else lambda batch, _: self._touch(batch, pc, *hazards)

    # In flight --------------------------------------------------------------------------------------------

    def _touch(self, batch: Batch, pc: int, busy: Array, changed: Array) -> None:
        warps = batch.warp_index
        if len(busy):
            groups = self.group[np.ix_(busy, warps)]
            flying = groups > self._done(warps)
            if flying.any():
                k, position = (int(part[0]) for part in np.nonzero(flying))
                self._tell_touched(pc, int(busy[k]), int(warps[position]), int(groups[k, position]))
        where = np.ix_(changed, warps)
        self.dirty[where] = True
        self.toucher[where] = pc

    def _done(self, warps: Array) -> Array:
        """The last group of each warp's warpgroup that it knows to be complete."""
        clocks = self.sanitizer.clocks
        leaders = warps // (4 * self.machine.ctas) * (4 * self.machine.ctas) + self.machine.cta_of[warps]
        column = clocks.own[leaders] + MULTIPLICATIONS * clocks.per_cta
        return clocks.vectors[warps, KNOWN, column]

    def _tell_touched(self, pc: int, number: int, warp: int, group: int) -> None:
        report, site = self.sanitizer.report, self.sites[number]
        if report.again("sanitize.wgmma/registers", pc, site):
            return
        committed = int(self.sanitizer.clocks.product_groups[warp])
        if group > committed:
            state = "is in no committed group yet"
        else:
            newer = committed - group
            after = f"{newer} group{' was' if newer == 1 else 's were'} committed after its own"
            state = f"is in flight: {after} and no wait covers it"
        line = self.sanitizer.shadow.line(site)
        kind = self._operand(pc, number)
        what = f"this touches {kind} of the multiplication in line {line}, which {state}"
        message = f"{what}; {self.machine.describe(warp)}"
        report.add("sanitize.wgmma/registers", pc, site, message)

    def _operand(self, pc: int, number: int) -> str:
        read, written = self._touched(pc, self.machine.linked[pc])
        if (read | written) & self.results[number]:
            return "accumulators"
        return "registers of A" if written & self.sources[number] else "metadata"

    def fence(self, batch: Batch) -> None:
        """Accesses to registers before come before multiplications after."""
        self.dirty[:, batch.warp_index] = False

    def issue(self, batch: Batch, operands: Any) -> None:
        """Warpgroups issue a multiplication."""
        pc = self.machine.pc
        number = self.number[pc]
        warps = batch.warp_index
        if self.dirty[number, warps].any():
            position = int(np.flatnonzero(self.dirty[number, warps])[0])
            self._tell_fence(pc, int(self.toucher[number, warps[position]]), int(warps[position]))
        clocks = self.sanitizer.clocks
        self.group[number, warps] = clocks.product_groups[warps] + 1
        groups = warps[batch.warpgroups()].astype(np.int64)
        leaders = batch.warpgroups()[:, 0]
        sparse = getattr(operands, "sp_meta", None) is not None
        k = k_of(operands.shape)
        for name, rows, stored, kind, transposed in (
            ("a_desc", 64, k // 2 if sparse else k, operands.atype, "imm_trans_a"),
            ("b_desc", int(operands.n), k, operands.btype, "imm_trans_b"),
        ):
            if getattr(operands, name, None) is None:
                continue
            descriptors = np.broadcast_to(batch.read(getattr(operands, name)), (batch.count, 32))[leaders, 0]
            self._read(groups, descriptors, rows, stored, kind, bool(getattr(operands, transposed, 0)), pc)

    def _read(
        self, groups: Array, descriptors: Array, rows: int, k: int, kind: str, transposed: bool, pc: int
    ) -> None:
        fields = descriptors >> np.uint64(14)
        starts = (descriptors.astype(np.int64) & 0x3FFF) << 4
        clocks = self.sanitizer.clocks.product_groups[groups[:, 0]] + 1
        for each in np.unique(fields).tolist():
            here = np.flatnonzero(fields == each)
            chunks, swizzle, base_offset = _chunks(int(each), rows, k, kind, transposed)
            self.sanitizer.shadow.read_tiles(
                groups[here], starts[here], chunks, swizzle, base_offset, pc, clocks[here]
            )

    def _tell_fence(self, pc: int, toucher: int, warp: int) -> None:
        report = self.sanitizer.report
        if report.again("sanitize.wgmma/fence", pc, toucher):
            return
        if toucher < 0:
            why = "no warpgroup fence precedes this multiplication, the first with these registers"
        else:
            line = self.sanitizer.shadow.line(toucher)
            why = f"line {line} touches registers of this multiplication, and no warpgroup fence follows it"
        report.add("sanitize.wgmma/fence", pc, toucher, f"{why}; {self.machine.describe(warp)}")

    def left(self, warps: Array) -> None:
        """Warps have left the kernel: nothing of theirs may be in flight."""
        if not self.sites:
            return
        groups = self.group[:, warps]
        if not groups.any():
            return
        committed, done = self.sanitizer.clocks.product_groups[warps], self._done(warps)
        report = self.sanitizer.report
        for number, position in zip(*np.nonzero(groups > done), strict=True):
            pc, warp = self.sites[int(number)], int(warps[position])
            if groups[number, position] > committed[position]:
                message = "no group is committed for this multiplication before the warp exits"
                report.add("sanitize.wgmma/commit", pc, -1, f"{message}; {self.machine.describe(warp)}")
            else:
                message = "no wait covers this multiplication before the warp exits"
                report.add("sanitize.wgmma/wait", pc, -1, f"{message}; {self.machine.describe(warp)}")


def registers_of(value: Any) -> Registers:
    """The registers of an operand: width in bytes and index."""
    match value:
        case VectorValue():
            return frozenset[tuple[int, int]]().union(*map(registers_of, value.items))
        case Register():
            return frozenset({(value.raw.dtype.itemsize, value.index)})
        case NotPredicate():
            return registers_of(value.register)
        case AddressValue():
            return registers_of(value.base).union(*map(registers_of, value.extra))
        case _:
            return frozenset()


@lru_cache(maxsize=256)
def _chunks(fields: int, rows: int, k: int, kind: str, transposed: bool) -> tuple[Array, int, int]:
    """Offsets of the chunks of 16 bytes of a tile from its start, the swizzle and the base offset."""
    table, swizzle, base_offset = tile_offsets(fields, rows, k, kind, transposed)
    return np.unique(table.astype(np.int64) >> 4) << 4, swizzle, base_offset
