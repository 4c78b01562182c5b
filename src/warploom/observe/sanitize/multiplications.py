# pyright: reportUnknownMemberType=false
"""Asynchronous multiplications of warpgroups: their use of registers and of shared memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.access import uniform
from warploom.emulator.batch import Batch
from warploom.emulator.events import Execute, Launch
from warploom.emulator.values import VectorValue, registers_of
from warploom.isa.model.effects import Issue
from warploom.isa.model.multiplication import Metadata, SharedMatrix
from warploom.numerics._compile import njit
from warploom.numerics.tile_products import START_ADDRESS
from warploom.observe.sanitize._tiles import Tiles, tiles_of
from warploom.observe.sanitize.clock_arrays import KNOWN, MULTIPLICATIONS, ClockArrays
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.registers import NONE, Registers, guard_registers, once_per_program, used_registers
from warploom.observe.sanitize.shared_shadow import SharedShadow
from warploom.observe.sanitize.tile_layouts import TileLayouts, by_value

Array = NDArray[Any]

_START_BITS = np.uint64(START_ADDRESS.bit_length())  # of a matrix descriptor; the fields above describe the layout


@dataclass(frozen=True, slots=True)
class _Multiplication:
    """Instruction that issues a multiplication: its shape and registers.

    `reads_shared` is set if the multiplication reads matrices in shared memory.
    """

    pc: int
    shape: str
    accumulators: Registers
    sources: Registers
    metadata: Registers
    reads_shared: bool


@dataclass(frozen=True, slots=True)
class _Run:
    """Adjacent multiplications that execute together, with their `matrices` in shared memory.

    `indices` are the indices of the multiplications. `shares` is set if one of them shares registers with other
    multiplications. pcs[m] is the program counter of the multiplication that reads matrix m, and `descriptors` has the
    matrix descriptors. `tiles` has the tiles that descriptors select, by the fields of the descriptors above the start
    addresses.
    """

    indices: Array
    shares: bool
    pcs: Array
    matrices: list[SharedMatrix]
    descriptors: VectorValue
    tiles: dict[tuple[int, ...], Tiles] = field(default_factory=dict[tuple[int, ...], Tiles])


@dataclass(frozen=True, slots=True)
class _Uses:
    """Uses of the registers of multiplications by adjacent instructions that only compute.

    `awaited` has the indices of the multiplications that must be complete when the instructions execute. `fenced` has
    the indices of those that need a warpgroup fence before their next issue, because the instructions use their
    registers. users[k] is the program counter of the last instruction that uses registers of multiplication fenced[k].
    `parts` has the uses of each instruction if there are several.

    Shapes: fenced and users (multiplications,).
    """

    pc: int  # first instruction
    awaited: Array
    fenced: Array
    users: Array
    parts: tuple["_Uses", ...] = ()

    @classmethod
    def join(cls, parts: Sequence["_Uses"]) -> "_Uses":
        """Return the uses of adjacent instructions."""
        if len(parts) == 1:
            return parts[0]
        users = {index: part.pc for part in parts for index in part.fenced.tolist()}
        awaited = np.unique(np.concatenate([part.awaited for part in parts]))
        fenced, last = np.array([*users], np.intp), np.array([*users.values()], np.intp)
        return cls(parts[0].pc, awaited, fenced, last, tuple(parts))


class Multiplications:
    """Check of the instructions that issue warpgroup multiplications.

    The check finds uses of registers of a multiplication in flight, and missing fences, commits and waits.
    """

    context: Context
    shadow: SharedShadow

    def __init__(self, launch: Launch, layouts: TileLayouts) -> None:
        self.launch = launch
        self.topology = launch.topology
        self.layouts = layouts
        self.sites = _find_multiplications(launch)
        self._index = {each.pc: index for index, each in enumerate(self.sites)}
        self._uses = _find_uses(launch) if self.sites else {}
        self._sharing = _find_sharing(launch)
        self._runs: dict[tuple[int, int], _Run] = {}  # by first program counter and length
        self._is_recorded = False  # True if the current multiplications need no further check

    @property
    def read_shared(self) -> bool:
        """True if a multiplication reads matrices in shared memory."""
        return any(site.reads_shared for site in self.sites)

    def start(self, context: Context, shadow: SharedShadow) -> None:
        """Prepare for the CTAs that `context` describes. `shadow` records accesses to their shared memory."""
        self.context = context
        self.shadow = shadow
        shape = (len(self.sites), self.topology.warps)
        self.group = np.zeros(shape, np.int32)  # group of the last issue, counted from 1
        self.dirty = np.ones(shape, np.bool_)  # registers were used since the last fence
        self.user = np.full(shape, -1, np.int32)  # instruction that used them

    def handlers(self) -> Mapping[int, Callable[[Execute], None]]:
        """Return the handlers of multiplications, and of other users of their registers, by program counter."""
        return dict.fromkeys(self._index, self._issue) | dict.fromkeys(self._uses, self._use)

    # Registers --------------------------------------------------------------------------------------------

    def _use(self, event: Execute) -> None:
        warps, uses = event.batch.warp_index, self._uses[event.pc]
        if self._record(uses, warps) >= 0:
            for part in uses.parts or (uses,):
                if (found := self._record(part, warps)) >= 0:
                    k, position = divmod(found, len(warps))
                    index, warp = int(part.awaited[k]), int(warps[position])
                    self._report_use(part.pc, index, warp, int(self.group[index, warp]))

    def _record(self, uses: _Uses, warps: Array) -> int:
        """Record uses of registers of multiplications. Return the first conflict in the format of `_use`."""
        arrays = self.group, self.dirty, self.user, uses.awaited, uses.fenced, uses.users
        return _use(self.context.clocks.arrays, *arrays, uniform(warps))

    def _complete(self, warps: Array) -> Array:
        clocks, topology = self.context.clocks, self.topology
        leaders = warps // (4 * topology.ctas) * (4 * topology.ctas) + topology.cta_of[warps]
        column = clocks.own[leaders] + MULTIPLICATIONS * clocks.per_cta
        return clocks.vectors[warps, KNOWN, column]

    def _report_use(self, pc: int, index: int, warp: int, group: int) -> None:
        report, site = self.context.report, self.sites[index].pc
        if report.is_known("sanitize.wgmma/registers", pc, site):
            return
        committed = int(self.context.clocks.multiplication_groups[warp])
        if group > committed:
            state = "is in no committed group yet"
        else:
            newer = committed - group
            after = f"{newer} group{' was' if newer == 1 else 's were'} committed after its group"
            state = f"is in flight: {after}, and no wait covers its group"
        line = self.context.program.place_of(site)
        read, written = used_registers(self.launch, pc)
        operand = "registers of A" if written & self.sites[index].sources else "metadata"
        operand = "accumulators" if (read | written) & self.sites[index].accumulators else operand
        what = f"this accesses {operand} of the multiplication in {line}, which {state}"
        report.add("sanitize.wgmma/registers", pc, site, f"{what}; {self.context.describe(warp)}")

    def fence(self, warps: Array) -> None:
        """Record that warps execute a warpgroup fence."""
        self.dirty[:, warps] = False

    # Issue and exit ---------------------------------------------------------------------------------------

    def _issue(self, event: Execute) -> None:
        if event.pc == event.first:
            self._is_recorded = self._record_run(event)
        if not self._is_recorded:
            self._check(event.batch, event.pc)

    def _record_run(self, event: Execute) -> bool:
        """Record multiplications that execute together.

        Return False if there may be a conflict. The caller must then call `_check` for each multiplication, which
        records it again.
        """
        batch, key = event.batch, (event.first, event.length)
        run = self._runs.get(key)
        if run is None:
            run = self._runs[key] = self._run(*key)
        warps, numbers = batch.warp_index, self.context.clocks.multiplication_groups
        if run.shares or not _issue(self.group, self.dirty, run.indices, uniform(warps), numbers):
            return False
        members = batch.warpgroups()
        if not len(run.pcs) or not len(members):
            return True
        groups = warps[members]
        leaders = groups[:, 0]
        descriptors = np.ascontiguousarray(batch.read_first_lane(run.descriptors)[members[:, 0]].T).view(np.uint64)
        above = descriptors >> _START_BITS
        fields = tuple(above[:, 0].tolist())
        if (above != above[:, :1]).any():
            return False
        tiles = run.tiles.get(fields)
        if tiles is None:
            tiles = run.tiles[fields] = tiles_of(run.matrices, fields)
        origins, clocks = self._origins(leaders)
        starts = _starts(descriptors)
        if not self.layouts.agree(origins, fields, starts, tiles, run.pcs):
            return False
        return self.shadow.read_tiles(groups, origins, starts, tiles, run.pcs, clocks) == 0

    def _origins(self, leaders: Array) -> tuple[Array, Array]:
        """Return the byte offset of the CTA's shared memory, and the open wgmma group, of each warpgroup.

        `leaders` has the first warp of each warpgroup.
        """
        origins = self.topology.cta_of[leaders].astype(np.int64) * self.context.shared.stride
        return origins, (self.context.clocks.multiplication_groups[leaders] + 1).astype(np.int64)

    def _run(self, first: int, length: int) -> _Run:
        pcs = range(first, first + length)
        records = [self.launch.instructions[pc].multiplication for pc in pcs]
        matrices = [
            (pc, each) for pc, record in zip(pcs, records, strict=True) if record is not None for each in record.shared
        ]
        indices = [self._index[pc] for pc in pcs]
        return _Run(
            np.array(indices, np.intp),
            any(self._sharing[index].size for index in indices),
            np.array([pc for pc, _ in matrices], np.int64),
            [each for _, each in matrices],
            VectorValue("b64", tuple(each.descriptor for _, each in matrices)),
        )

    def _check(self, batch: Batch, pc: int) -> None:
        """Record one multiplication, and report its conflicts."""
        index, warps = self._index[pc], batch.warp_index
        if self.dirty[index, warps].any():
            position = int(np.flatnonzero(self.dirty[index, warps])[0])
            self._report_fence(pc, int(self.user[index, warps[position]]), int(warps[position]))
        if (sharing := self._sharing[index]).size:
            self._share(pc, index, sharing, warps)
        self.group[index, warps] = self.context.clocks.multiplication_groups[warps] + 1
        groups = warps[batch.warpgroups()].astype(np.int64)
        leaders = batch.warpgroups()[:, 0]
        record = self.launch.instructions[pc].multiplication
        matrices = () if record is None else record.shared
        if not matrices or not len(groups):
            return
        descriptors = np.empty((len(matrices), len(leaders)), np.uint64)
        for row, each in enumerate(matrices):
            values = batch.read(each.descriptor)
            descriptors[row] = values[leaders, 0] if len(values) == batch.count else values[0, 0]
        good = self.layouts.check(groups, matrices, descriptors, pc)
        for row, matrix in enumerate(matrices):
            if good[row].any():
                self._read(groups[good[row]], descriptors[row, good[row]], matrix, pc)

    def _share(self, pc: int, index: int, sharing: Array, warps: Array) -> None:
        """Report multiplications `sharing` in flight, and record the use of registers they share with `index`."""
        busy = ~self.dirty[index, warps] & (self.group[sharing[:, None], warps] > self._complete(warps))
        for k, position in np.argwhere(busy)[:1].tolist():
            other, warp = int(sharing[k]), int(warps[position])
            self._report_use(pc, other, warp, int(self.group[other, warp]))
        self.dirty[sharing[:, None], warps] = True
        self.user[sharing[:, None], warps] = pc

    def _read(self, groups: Array, descriptors: Array, matrix: SharedMatrix, pc: int) -> None:
        starts, (origins, clocks) = _starts(descriptors), self._origins(groups[:, 0])
        for fields, here in by_value(descriptors >> _START_BITS):
            found = self.shadow.read_tiles(
                groups[here], origins[here], starts[here][None], tiles_of([matrix], [fields]), np.array([pc]),
                clocks[here],
            )  # fmt: skip
            self.shadow.report_tiles(found, groups[here], pc)

    def _report_fence(self, pc: int, user: int, warp: int) -> None:
        report = self.context.report
        if report.is_known("sanitize.wgmma/fence", pc, user):
            return
        if user < 0:
            why = "no warpgroup fence precedes this multiplication, the first with these registers"
        else:
            line = self.context.program.place_of(user)
            why = f"{line} accesses registers of this multiplication, and no warpgroup fence follows the access"
        report.add("sanitize.wgmma/fence", pc, user, f"{why}; {self.context.describe(warp)}")

    def exit(self, warps: Array) -> None:
        """Report multiplications in flight when warps exit."""
        if not self.sites:
            return
        groups = self.group[:, warps]
        if not groups.any():
            return
        committed, complete = self.context.clocks.multiplication_groups[warps], self._complete(warps)
        report = self.context.report
        for index, position in zip(*np.nonzero(groups > complete), strict=True):
            pc, where = self.sites[int(index)].pc, self.context.describe(int(warps[position]))
            code, what = "sanitize.wgmma/wait", "no wait covers this multiplication"
            if groups[index, position] > committed[position]:
                code, what = "sanitize.wgmma/commit", "no group is committed for this multiplication"
            report.add(code, pc, -1, f"{what} before the warp exits; {where}")


@once_per_program
def _find_multiplications(launch: Launch) -> list[_Multiplication]:
    return [
        _multiplication(launch, pc)
        for pc, step in enumerate(launch.program.steps)
        if (issue := step.binding.form.effect(Issue)) is not None and issue.group == "multiplication"
    ]


def _multiplication(launch: Launch, pc: int) -> _Multiplication:
    form, each = launch.program.steps[pc].binding.form, launch.instructions[pc]
    operands, record = each.operands, each.multiplication
    assert record is not None
    used = [(spec.access, getattr(operands, name)) for name, spec in form.operands.items()]
    vectors = [value for access, value in used if access == "read" and isinstance(value, VectorValue)]
    accumulators = NONE.union(*(registers_of(value) for access, value in used if access != "read"))
    metadata = NONE if record.metadata is None else registers_of(record.metadata.registers)
    sources = NONE.union(*map(registers_of, vectors))
    return _Multiplication(pc, record.slots["shape"], accumulators, sources, metadata, bool(record.shared))


@once_per_program
def _find_uses(launch: Launch) -> dict[int, _Uses]:
    """Return the uses of the registers of multiplications, by the first program counter."""
    multiplications = _find_multiplications(launch)
    own = {each.pc for each in multiplications}
    by_register: dict[tuple[int, int], list[int]] = {}
    for index, each in enumerate(multiplications):
        for register in each.accumulators | each.sources | each.metadata:
            by_register.setdefault(register, []).append(index)
    program = launch.program
    found: list[list[_Uses]] = []
    end = 0  # of the adjacent instructions
    for pc in range(len(launch.instructions)):
        if pc in own:
            end = pc
            continue
        # Without a guard, all warps of the batch execute the instruction. It creates no event and raises no trap.
        joins = program.steps[pc].binding.form.is_lanewise and launch.instructions[pc].guard is None
        if not joins:
            end = pc
        read, written = used_registers(launch, pc)
        both = read | written | guard_registers(launch, pc)
        sites = [(k, multiplications[k]) for k in {k for register in both for k in by_register.get(register, ())}]
        if not sites:
            continue
        awaited = [k for k, at in sites if both & at.accumulators or written & (at.sources | at.metadata)]
        fenced = [k for k, at in sites if both & (at.accumulators | at.sources)]
        use = _Uses(pc, np.array(awaited, np.intp), np.array(fenced, np.intp), np.full(len(fenced), pc))
        if pc < end:
            found[-1].append(use)
            continue
        found.append([use])
        end = program.block_end[pc] if joins else pc
    return {uses[0].pc: _Uses.join(uses) for uses in found}


@once_per_program
def _find_sharing(launch: Launch) -> list[Array]:
    """Return, for each multiplication, the others that need a wait and a fence after it.

    They use its registers. Several multiplications may read the same registers. Multiplications of one shape may share
    accumulators.
    """
    sites = _find_multiplications(launch)
    by_accumulator: dict[tuple[int, int], dict[str, set[int]]] = {}
    by_source: dict[tuple[int, int], set[int]] = {}
    for index, each in enumerate(sites):
        for register in each.accumulators:
            by_accumulator.setdefault(register, {}).setdefault(each.shape, set()).add(index)
        for register in each.sources | each.metadata:
            by_source.setdefault(register, set()).add(index)
    found: list[Array] = []
    for index, each in enumerate(sites):
        others: set[int] = set()
        for register in each.accumulators:
            others |= by_source.get(register, set())
            for shape, sharing in by_accumulator[register].items():
                others |= sharing if shape != each.shape else set()
        for register in each.sources | each.metadata:
            others |= set().union(*by_accumulator.get(register, {}).values())
        found.append(np.array(sorted(others - {index}), np.intp))
    return found


def _starts(descriptors: Array) -> Array:
    """Return the start addresses of matrix descriptors."""
    return (descriptors.astype(np.int64) & START_ADDRESS) << 4


@njit
def _issue(group: Array, dirty: Array, indices: Array, warps: Array, numbers: Array) -> bool:
    """Record that warps issue the multiplications `indices`.

    Return False, without a record, if one of them needs a warpgroup fence. `group` and `dirty` are the attributes of
    `Multiplications`, and `numbers` is `Clocks.multiplication_groups`.
    """
    for index in indices:
        for w in warps:
            if dirty[index, w]:
                return False
    for index in indices:
        for w in warps:
            group[index, w] = numbers[w] + 1
    return True


@njit
def _use(
    c: ClockArrays, group: Array, dirty: Array, user: Array, awaited: Array, fenced: Array, users: Array, warps: Array
) -> int:  # fmt: skip
    """Record that instructions use registers of the multiplications `fenced`.

    Return the first conflict as k * len(warps) + i, or -1: multiplication awaited[k] is in flight when warps[i] uses
    its registers. users[k] is the last instruction that uses registers of multiplication fenced[k]. `group`, `dirty`
    and `user` are the attributes of `Multiplications`.
    """
    found = -1
    for k in range(len(awaited)):
        for i in range(len(warps)):
            w = warps[i]
            leader = w // (4 * c.ctas) * (4 * c.ctas) + c.cta_of[w]
            column = c.own[leader] + MULTIPLICATIONS * c.per_cta
            if found < 0 and group[awaited[k], w] > c.vectors[w, KNOWN, column]:
                found = k * len(warps) + i
    for k in range(len(fenced)):
        for i in range(len(warps)):
            dirty[fenced[k], warps[i]] = True
            user[fenced[k], warps[i]] = users[k]
    return found


@once_per_program
def _find_sparse(launch: Launch) -> list[int]:
    """Return the program counters of the multiplications with sparsity metadata."""
    records = [each.multiplication for each in launch.instructions]
    return [pc for pc, record in enumerate(records) if record is not None and record.metadata is not None]


class MetadataCheck:
    """Check for undefined metadata of sparse multiplications."""

    context: Context

    def __init__(self, launch: Launch) -> None:
        self.launch = launch

    def start(self, context: Context) -> None:
        """Prepare for the CTAs that `context` describes."""
        self.context = context

    def handlers(self) -> Mapping[int, Callable[[Execute], None]]:
        """Return the handlers of the instructions with sparsity metadata, by program counter."""
        return dict.fromkeys(_find_sparse(self.launch), self._check)

    def _check(self, event: Execute) -> None:
        batch, record = event.batch, self.launch.instructions[event.pc].multiplication
        assert record is not None
        # The emulator has refused illegal sparsity selectors before the run.
        metadata = record.metadata
        assert metadata is not None
        words = np.broadcast_to(batch.read(metadata.registers), (batch.count, 32))
        if record.unit == "warpgroup":
            groups = batch.warpgroups()
            words, warps = words[groups].reshape(-1, 128), batch.warp_index[groups]
        else:
            active = np.flatnonzero(batch.active().any(axis=1))
            words, warps = words[active], batch.warp_index[active, None]
        self._report(event.pc, metadata, words, warps)

    def _report(self, pc: int, metadata: Metadata, words: Array, warps: Array) -> None:
        """Report undefined metadata in the registers of each matrix.

        Shapes: words (matrices, 32 * warps of a matrix); warps (matrices, warps of a matrix).
        """
        faulty = metadata.map.undefined_lanes(words, ordered=metadata.ordered)
        if not faulty.any():
            return
        matrix, lane = (int(part[0]) for part in np.nonzero(faulty))
        lane = metadata.map.lanes[lane]
        word, defined = int(words[matrix, lane]), metadata.map.defined_nibbles(ordered=metadata.ordered)
        bit = next(bit for bit in range(0, 32, 4) if not defined[word >> bit & 15])
        expected = ", ".join(f"{value:#06b}" for value in np.flatnonzero(defined).tolist())
        warp = int(warps[matrix, lane // 32])
        message = (
            f"the metadata {word:#010x} of a sparse matrix have {word >> bit & 15:#06b} in bits {bit} to "
            f"{bit + 3}; expected {expected}; {self.context.describe(warp, lane % 32)}"
        )
        self.context.report.add("sanitize.sparse/metadata", pc, -1, message, count=int(faulty.sum()))
