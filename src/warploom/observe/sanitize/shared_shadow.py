# pyright: reportUnknownMemberType=false
"""Last accesses to shared memory, and findings on new accesses."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.access import uniform
from warploom.emulator.address_space import SHARED_START
from warploom.isa.model.effects import Access
from warploom.observe.sanitize import _shared_shadow
from warploom.observe.sanitize._shared_shadow import (
    BLOCK,
    READ_WRITE,
    UNFENCED,
    UNFENCED_READ,
    UNWRITTEN,
    WRITE_ASYNC_READ,
    WRITE_READ,
    WRITE_WRITE,
)
from warploom.observe.sanitize._tiles import Tiles, read_tiles
from warploom.observe.sanitize.clock_arrays import (
    BULK_READ,
    GENERIC,
    KNOWN,
    MULTIPLICATIONS,
    NEAR_STORE,
    OBJECT,
    REMOTE_STORE,
    STREAMS,
    THREAD_COPIES,
    THREAD_COPY,
    TOGETHER,
)
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.rules import rules
from warploom.observe.sanitize.stored_values import Store, harmful, stored_types
from warploom.observe.sanitize.tensor_uses import uses_tensor_memory

Array = NDArray[Any]

_COMPLETED = frozenset({"sanitize.wgmma/operand", "sanitize.tensor/operand", "sanitize.copy/source"})
_ORDER = (
    "let the warps that wait for the operation arrive at an mbarrier or a barrier afterwards, and wait for this "
    "arrival before the bytes are written"
)


class SharedShadow:
    """Last accesses to the shared memory of the resident CTAs.

    `asynchronous` is set if the kernel has bulk copies or asynchronous multiplications. `pairs` is set if operations on
    tensor memory may read the shared memory of the peer CTA. `granule` is the size in bytes of
    the smallest write, at most 16. `has_sources` is set if the global addresses of the data are recorded.
    `name_mbarrier` returns the name of an mbarrier for its number.
    """

    def __init__(
        self, context: Context, asynchronous: bool, pairs: bool, granule: int, has_sources: bool,
        name_mbarrier: Callable[[int], str],
    ) -> None:  # fmt: skip
        self.context = context
        self.has_sources = has_sources
        self.name_mbarrier = name_mbarrier
        self.topology = context.topology
        self.shared = context.shared
        self.clocks = context.clocks
        self.report = context.report
        self._types = stored_types(context.launch)
        self._has_tensor_memory = uses_tensor_memory(context.launch)
        self._unfenced: set[int] = set()  # granules whose readers need no proxy fence, either
        self._unwritten: dict[int, set[int]] = {}  # byte offsets of unwritten bytes that each instruction read
        size = len(self.shared.bytes)
        warps, others = self.topology.warps_per_cta, self.topology.cluster_size
        others = others if others > 1 else 0
        granules, readers = size // granule, 2 * warps if pairs else warps
        blocks = (granules >> BLOCK) + 1
        self.arrays = _shared_shadow.SharedArrays(
            fences_copies=self.report.is_active("sanitize.proxy/thread-copy"),
            records=np.zeros(granules, np.int64),
            sites=np.zeros(granules, np.int32),
            reads=np.zeros((blocks, warps, 1 << BLOCK), np.int64),
            last_reads=np.zeros((blocks, readers, 3), np.int64),
            async_reads=np.zeros((readers, size // 16 if asynchronous else 1), np.int64),
            asynchronous=asynchronous,
            remote_reads=np.zeros((others, granules), np.int64),
            remote_sites=np.zeros((others, granules), np.int32),
            copy_reads=np.zeros(size // 16 if asynchronous and others else 1, np.int64),
            copy_sites=np.zeros(size // 16 if asynchronous and others else 1, np.int32),
            origins=np.zeros(size // 16, np.int32),
            sources=np.zeros(size // 4, np.int64),
            cta_granules=self.shared.stride // granule,
            shift=granule.bit_length() - 1,
            out=np.zeros((_shared_shadow.ROOM, _shared_shadow.COLUMNS), np.int64),
        )

    def renumber(self, before: int, after: int) -> None:
        """Adapt the stored records to a CTA with `after` instead of `before` agents (see `clocks`)."""

        def moved(held: Array) -> Array:
            agent = held >> 44
            return held - (agent << 44) + ((agent // before * after + agent % before) << 44)

        arrays = self.arrays
        self.arrays = arrays._replace(
            records=moved(arrays.records), remote_reads=moved(arrays.remote_reads), copy_reads=moved(arrays.copy_reads)
        )

    # Accesses ---------------------------------------------------------------------------------------------

    def read(self, warps: Array, index: Array, lanes: Array, size: int, pc: int, strength: int, what: str = "") -> None:
        """Record reads of lanes, `size` bytes each. Report conflicts with earlier writes.

        `index` has byte offsets in shared memory, and `lanes` marks the reading lanes. `strength` is the strength of
        the reads (see `clocks`). `what` is "mbarrier" for reads of an mbarrier, otherwise "". Shapes: index and lanes
        (warps, 32).
        """
        whole = OBJECT if what else TOGETHER
        found = _shared_shadow.read_lanes(
            self.clocks.arrays, self.arrays, warps, index, uniform(lanes), size, pc, strength, whole
        )
        if found:
            self._explain(found, warps, pc, size, None, what)

    def write(
        self, warps: Array, index: Array, lanes: Array, size: int, pc: int, strength: int, values: Array | None,
        what: str = "", sources: Array | None = None, fenced: bool = True,
    ) -> None:  # fmt: skip
        """Record writes of lanes, `size` bytes each. Report conflicts with earlier accesses.

        `values` are the stored values, None if unknown. A store that leaves memory unchanged does not conflict with
        other writes. `sources` has the global addresses from which the lanes loaded the values, 0 if unknown. Without
        `fenced`, the asynchronous proxy needs no fence after the writes. The other
        arguments are as in `read`. Shapes: values (elements, warps, 32); sources (warps, 32).
        """
        c, kind = self.clocks, GENERIC if fenced else NEAR_STORE
        if not fenced:
            for start in index[lanes].tolist():
                self._unfenced.update(range(start >> self.arrays.shift, (start + size - 1 >> self.arrays.shift) + 1))
        self._write(warps, index, lanes, size, pc, kind, strength, c.own[warps], c.clock[warps], values, what, sources)

    def report_copies(self, found: int, warps: Array, pc: int, size: int) -> None:
        """Report the first `found` conflicts in `arrays.out` of thread copies of `size` bytes for each lane."""
        if found:
            self._explain(found, warps, pc, size, None, "")

    def remote(
        self, warps: Array, index: Array, lanes: Array, size: int, pc: int, strength: int, objects: Array, phases: Array
    ) -> None:
        """Record asynchronous stores or reductions of lanes, `size` bytes each. Report conflicts.

        `index` has byte offsets, and `lanes` marks the storing lanes. `strength` is 0 for stores, and the strength of
        the updates (see `clocks`) for reductions. Phase phases[i] of the mbarrier numbered
        objects[i] completes the stores of warps[i]. Shapes: index and lanes (warps, 32); objects and phases (warps,).
        """
        agents = self.clocks.phase_column(objects)
        near = objects // self.clocks.mbarriers == self.topology.cta_of[warps]
        for kind, which in ((NEAR_STORE, near), (REMOTE_STORE, ~near)):
            if which.any():
                reached = warps[which], index[which], lanes[which]
                self._write(*reached, size, pc, kind, strength, agents[which], phases[which], None, "")

    def _write(
        self, warps: Array, index: Array, lanes: Array, size: int, pc: int, kind: int, strength: int, agents: Array,
        clocks: Array, values: Array | None, what: str, sources: Array | None = None,
    ) -> None:  # fmt: skip
        if self.has_sources:
            unknown = np.zeros((1, 1), np.int64)
            known = np.broadcast_to(unknown if sources is None else sources, index.shape)
            _shared_shadow.set_sources(self.arrays, index, uniform(lanes), size, known)
        found = _shared_shadow.write_lanes(
            self.clocks.arrays, self.arrays, warps, index, uniform(lanes), size, pc, kind, strength,
            agents.astype(np.int64), clocks.astype(np.int64),
        )  # fmt: skip
        if found:
            store = None if values is None else Store(index, lanes, size, values, self._types.get(pc, ""))
            self._explain(found, warps, pc, size, store, what)

    def read_rows(
        self, warps: Array, lanes: Array, starts: Array, sizes: Array, pc: int, objects: Array, phases: Array
    ) -> None:
        """Record reads by bulk copies. Report conflicts.

        Lane lanes[i] of warps[i] reads sizes[i] bytes at offset starts[i]. Phase phases[i] of the mbarrier numbered
        objects[i] completes the copy. If objects[i] is -1, a bulk group completes the copy. Shapes: all arrays
        (copies,).
        """
        c = self.clocks
        known = objects >= 0
        clocks = np.where(known, phases, c.bulk_clock[warps]).astype(np.int64)
        agents = np.full(len(warps), -1)
        agents[known] = c.phase_column(objects[known])
        found = _shared_shadow.read_rows(c.arrays, self.arrays, warps, lanes, starts, sizes, pc, agents, clocks)
        if found:
            self._explain(found, warps, pc, 16, None, "")

    def check_initialised(self, warps: Array, lanes: Array, starts: Array, pc: int) -> None:
        """Report each use of an mbarrier that is not ordered after the mbarrier's initialisation.

        Lane lanes[i] of warps[i] uses the mbarrier at byte offset starts[i]. Shapes: all arrays (uses,).
        """
        found = _shared_shadow.check_initialised(self.clocks.arrays, self.arrays, warps, lanes, starts)
        if found:
            self._explain(found, warps, pc, 8, None, "mbarrier")

    def write_rows(
        self, warps: Array, lanes: Array, starts: Array, sizes: Array, pc: int, objects: Array, phases: Array,
        origins: Array, strength: int,
    ) -> None:  # fmt: skip
        """Record writes by bulk copies. Report conflicts.

        Lane lanes[i] of warps[i] writes sizes[i] bytes at offset starts[i]. Phase phases[i] of the mbarrier numbered
        objects[i] completes the write. origins[i] is the number of a tensor copy, 0 for another copy. `strength` is 0
        for copies, and the strength of the updates (see `clocks`) for reductions. Shapes: all arrays (copies,).
        """
        c = self.clocks
        found = _shared_shadow.write_rows(
            c.arrays, self.arrays, warps, lanes, starts, sizes, pc, c.phase_column(objects),
            phases.astype(np.int64), origins, strength,
        )  # fmt: skip
        if found:
            self._explain(found, warps, pc, 16, None, "")

    def read_tiles(
        self, groups: Array, origins: Array, starts: Array, tiles: Tiles, pcs: Array, clocks: Array
    ) -> int:  # fmt: skip
        """Record reads of matrices by warpgroup multiplications. Return the number of conflicts.

        starts[m, i] is the shared address of a matrix inside the shared memory, which the instruction pcs[m] reads.
        clocks[i] is the number of its wgmma group, and origins[i] the byte offset of the shared memory of the CTA. Row
        i of `groups` has the four warps of a warpgroup. A repeated call with the same arguments has no effect. Shapes:
        groups (warpgroups, 4); starts (tiles, warpgroups); pcs (tiles,); origins and clocks (warpgroups,).
        """
        return read_tiles(self.clocks.arrays, self.arrays, groups, origins, starts, tiles, SHARED_START, pcs, clocks)

    def report_tiles(self, found: int, groups: Array, pc: int) -> None:
        """Report the first `found` conflicts in `arrays.out` of a matrix that warpgroups read."""
        if found:
            self._explain(found, groups.reshape(-1), pc, 16, None, "matrix")

    # Findings -------------------------------------------------------------------------------------------

    def _explain(self, found: int, warps: Array, pc: int, size: int, store: Store | None, of: str) -> None:
        conflicts = self.arrays.out[:found]
        if store:
            conflicts = harmful(conflicts, WRITE_WRITE, self.shared.bytes, store, pc)
        for what, position, lane, granule, record, site in conflicts.tolist():
            warp = int(warps[position])
            is_by_lanes = what == WRITE_WRITE and site == pc and self._agent(granule, record >> 44)[0] == warp
            if of == "mbarrier" and (what == UNWRITTEN or is_by_lanes):
                continue  # the table of mbarriers reports these uses
            if what == UNFENCED_READ and granule in self._unfenced:
                continue
            code = self._rule(what, warp, granule, record, of)
            other = site if what != UNWRITTEN else -1
            if what == UNWRITTEN:
                self._unwritten.setdefault(pc, set()).add(granule << self.arrays.shift)
            if self.report.is_known(code, pc, other):
                continue
            verb = "reads" if what in (READ_WRITE, UNWRITTEN) else "writes"
            if what == UNFENCED:
                verb = "reads" if of == "matrix" or self._is_source(pc) else "writes"
            message = self._sentence(what, verb, warp, lane, granule, record, site)
            subject = self._mbarrier(granule, record >> 44) if code == "sanitize.copy/destination" else ""
            other_warp = self._agent(granule, record >> 44)[0]
            two_sided = code in _COMPLETED and other_warp >= 0 and self.clocks.knows(other_warp, record)
            hint = _ORDER if two_sided else ""
            if what == WRITE_ASYNC_READ and other_warp < 0:
                hint = "before the bytes are written, wait for the mbarrier phase that the copy completes"
            insert = ""
            if code == "sanitize.mbarrier/init" and granule // self.arrays.cta_granules != self.topology.cta_of[warp]:
                insert = rules()[code].template
            self.report.add(code, pc, other, message, hint, 1, subject, two_sided, insert=insert)

    def close(self) -> None:
        """Complete the reports on reads of unwritten bytes. Call this when the CTAs end.

        If a later instruction wrote the bytes, a missing order may be the cause of the read.
        """
        for pc, offsets in self._unwritten.items():
            if any(self.arrays.records[offset >> self.arrays.shift] == 0 for offset in offsets):
                self.report.finalise("sanitize.unwritten/shared", pc)

    def _is_source(self, pc: int) -> bool:
        binding = self.context.program.steps[pc].binding
        return not any(
            access.kind == "write"
            and binding.form.operands[access.address].space_word(binding.slots).startswith("shared")
            for access in binding.form.effects_of(Access)
        )

    def _agent(self, granule: int, agent: int) -> tuple[int, int, int]:
        # The warp is -1 for an mbarrier.
        c, topology = self.clocks, self.topology
        owner = granule // self.arrays.cta_granules
        rank, local = divmod(agent, c.agents)
        cta = owner - int(topology.rank[owner]) + rank
        stream, in_cta = divmod(local, c.per_cta)
        if stream >= STREAMS:
            return -1, stream, cta
        return in_cta * topology.ctas + cta, stream, cta

    def _mbarrier(self, granule: int, agent: int) -> str:
        c, cta = self.clocks, self._agent(granule, agent)[2]
        return self.name_mbarrier(cta * c.mbarriers + agent % c.agents - STREAMS * c.per_cta)

    def _rule(self, what: int, warp: int, granule: int, record: int, of: str) -> str:
        if of == "mbarrier" and what == READ_WRITE:
            return "sanitize.mbarrier/init"
        if of == "mbarrier" and what == WRITE_READ and int(self.shared.words[granule << self.arrays.shift >> 3]) >> 63:
            return "sanitize.mbarrier/invalidated"
        if what == UNWRITTEN:
            return "sanitize.unwritten/shared"
        if what == UNFENCED_READ:
            return "sanitize.proxy/refill"
        if what == UNFENCED:
            by_thread = of == "matrix" and record >> 10 & 63 == THREAD_COPY
            return "sanitize.proxy/thread-copy" if by_thread else "sanitize.proxy/async"
        other, stream, cta = self._agent(granule, record >> 44)
        if other < 0:
            return "sanitize.copy/source" if what == WRITE_ASYNC_READ else "sanitize.copy/destination"
        if what == WRITE_ASYNC_READ:
            multiplied = "sanitize.tensor/operand" if self._has_tensor_memory else "sanitize.wgmma/operand"
            return multiplied if stream == MULTIPLICATIONS else "sanitize.copy/source"
        if stream == THREAD_COPIES and not self.clocks.knows(other, record):
            return "sanitize.cp-async/wait"
        if other == warp:
            return "sanitize.race/lanes"
        if cta != int(self.topology.cta_of[warp]):
            return "sanitize.race/cluster"
        return "sanitize.race/shared"

    def _sentence(self, what: int, verb: str, warp: int, lane: int, granule: int, record: int, site: int) -> str:
        agent, clock, by = record >> 44, record >> 16 & 0xFFFFFFF, record >> 4 & 63
        where = (granule % self.arrays.cta_granules << self.arrays.shift) + SHARED_START
        place = f"shared memory at {where:#x} to {where + (1 << self.arrays.shift):#x}"
        here = self.context.describe(warp, lane)
        owner = granule // self.arrays.cta_granules
        if owner != int(self.topology.cta_of[warp]):
            place += f" of the CTA of rank {int(self.topology.rank[owner])}"
        if what == UNWRITTEN:
            return f"this reads {place}, which nothing wrote; {here}"
        line = self.context.program.place_of(site) if site >= 0 else ""
        other, stream, _ = self._agent(granule, agent)
        lanes = "" if by >= 32 or stream == MULTIPLICATIONS else f", lane {by}"
        whose = "" if other < 0 else f", {self.context.resident.placement.describe_warp(other)}{lanes},"
        did = "read" if what in (WRITE_READ, WRITE_ASYNC_READ, UNFENCED_READ) else "written"
        by_what = f"is {did} by {line}{whose}"
        if what in (UNFENCED, UNFENCED_READ):
            return f"this {verb} {place}, which {by_what} with no proxy fence between; {here}"
        if other < 0:
            why = "nothing waits for the phase of the copy"
            if self.clocks.vectors[warp, KNOWN, agent] >= clock:
                why = "the wait for the phase of the copy has CTA scope, but the bytes came from another CTA"
            copy = f"the copy of {line}, and {why}"
            return f"this {verb} {place}, which is {did} by {copy}; {here}"
        if stream in (MULTIPLICATIONS, BULK_READ, THREAD_COPIES) and not self.clocks.knows(other, record):
            return f"this {verb} {place}, which {by_what} and no wait covers that operation; {here}"
        return f"this {verb} {place}, which {by_what} and nothing orders the two; {here}"
