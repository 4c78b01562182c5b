# pyright: reportUnknownMemberType=false
"""Check of the accesses to tensor memory, and of its allocation.

Two operations that use the same words must be ordered if one of them writes. The hardware orders some pairs of
operations of one thread (see `tensor_order.is_pipelined`). Any other second operation must follow the completion of the
first: after `wait::ld` or `wait::st` for a transfer, otherwise after a wait for the mbarrier phase that a commit
completes. `TensorOrder` determines whether a thread has synchronised with this completion.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Note
from warploom.diagnostics.edits import Fix
from warploom.emulator.events import Fence, TensorAllocate, TensorIssue, TensorTransferIssue, Wait
from warploom.emulator.tensor_memory.operations import values_of
from warploom.isa.model import effects
from warploom.isa.model.tensor_memory import TensorCommit, TensorMemoryCopy, TensorMultiply, TensorTransfer
from warploom.isa.model.tensor_uses import Use, lanes_of, transfer_uses, uses_of
from warploom.layout.tensor_memory import TENSOR_COLUMNS, TENSOR_LANES
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.edits import insert_after, insert_before
from warploom.observe.sanitize.lifetimes import Lifetimes
from warploom.observe.sanitize.mbarriers import Mbarriers
from warploom.observe.sanitize.rules import rules
from warploom.observe.sanitize.tensor_operands import TensorOperands
from warploom.observe.sanitize.tensor_order import Operation, TensorOrder, is_pipelined
from warploom.observe.sanitize.tensor_uses import has_tensor_fences

Array = NDArray[Any]
_EVERY_LANE = (1 << TENSOR_LANES) - 1
_LOAD, _STORE = "tensor load", "tensor store"
_WRITTEN, _SUMS = 1, 2  # contents of a word: data, or sums of a multiplication; 0 if nothing wrote the word


@dataclass(frozen=True, slots=True, eq=False)
class _Access:
    """Use of the tensor memory of one CTA by an operation."""

    operation: Operation
    use: Use


@dataclass(frozen=True, slots=True)
class _Block:
    """Allocated columns of a CTA, and the instruction and the warp that allocated them."""

    end: int
    pc: int
    warp: int


class TensorMemory:
    """Check of the accesses to the tensor memory of one wave of CTAs."""

    def __init__(
        self, context: Context, mbarriers: Mbarriers, operands: TensorOperands, lifetimes: Lifetimes
    ) -> None:  # fmt: skip
        self.context = context
        self.topology = context.topology
        self.report = context.report
        self.operands = operands
        self.lifetimes = lifetimes
        self.order = TensorOrder(mbarriers)
        self.aliasing = self.order.aliasing
        self._fence_code = "sanitize.tensor/fence" if has_tensor_fences(context.launch) else "sanitize.tensor/no-fence"
        self._accesses: dict[int, dict[Any, _Access]] = {}  # CTA -> accesses that later ones may conflict with
        self._contents: dict[int, NDArray[np.int8]] = {}  # CTA -> contents of the words since their allocation
        self._blocks: dict[int, dict[int, _Block]] = {}  # CTA -> first column -> block
        self._released: dict[int, int] = {}  # CTA -> instruction of the last release
        self._numbers: dict[int, int] = {}  # warp -> number of operations
        self._open: dict[int, list[Operation]] = {}  # warp -> operations without a commit
        self._pending: dict[tuple[int, str], list[Operation]] = {}  # warp, group -> transfers without a wait
        self._multiplied: dict[tuple[int, int], int] = {}  # thread -> number of its last multiplication
        self._unfenced: dict[int, dict[tuple[int, int], Operation]] = {}  # warp -> operations without a fence
        self._unreleased: dict[int, list[Operation]] = {}  # warp -> operations since it last signalled other threads
        self._acquired: dict[int, int] = {}  # warp -> instruction of the last synchronisation

    # Synchronisation --------------------------------------------------------------------------------------

    def fence(self, event: Fence) -> None:
        """Record a fence of tensor memory, before or after a synchronisation of threads."""
        slots = self.context.program.steps[event.pc].binding.slots
        warps = event.batch.warp_index
        if effects.word(event.effect.order, slots) == "acquire":
            self.aliasing.fence(warps)
            return
        for warp in warps.tolist():
            left = self._unfenced.get(warp)
            if not left:
                continue
            now = self.aliasing.time(warp)
            for key, each in list(left.items()):
                if not each.is_transfer or each.done:
                    each.fenced = now
                    del left[key]

    def release(self, warps: Iterable[int], pc: int) -> None:
        """Record that warps signal other threads, for example by an arrival."""
        for warp in warps:
            for each in self._unreleased.pop(warp, ()):
                each.release = pc

    def acquire(self, warps: Iterable[int], pc: int) -> None:
        """Record that warps have synchronised with other threads, for example by a wait for an mbarrier."""
        for warp in warps:
            self._acquired[warp] = pc

    def wait(self, event: Wait) -> None:
        """Record that warps have waited for their loads or stores."""
        for warp in event.batch.warp_index.tolist():
            now = self.aliasing.time(warp)
            for each in self._pending.pop((warp, event.group), ()):
                each.done = now

    def is_loading(self, warp: int, pc: int) -> bool:
        """Return True if a load of a warp at `pc` is in progress."""
        return any(each.pc == pc for each in self._pending.get((warp, _LOAD), ()))

    # Operations -------------------------------------------------------------------------------------------

    def issue(self, event: TensorIssue) -> None:
        """Record operations of lanes, and report their conflicts."""
        record, pc = event.record, event.pc
        positions, lanes = event.positions.astype(np.int64), event.lanes.astype(np.int64)
        values = values_of(record, positions, lanes)
        if isinstance(record, TensorCommit):
            self._commit(event, values)
            return
        for k, (warp, lane) in enumerate(zip(event.warps.tolist(), lanes.tolist(), strict=True)):
            key = None
            if isinstance(record, TensorMultiply):
                fields = record.plan(int(values["idesc"][k])).fields
                key = (int(values["d"][k]), fields.m, fields.n, record.ctas)
            operation = self._operation(pc, warp, lane, record, key)
            if key is not None:
                self._multiplied[warp, lane] = operation.number
            self._open.setdefault(warp, []).append(operation)
            self.operands.read(record, values, k, warp, lane, pc, operation.number)
            cta = int(self.topology.cta_of[warp])
            for rank in range(record.ctas):
                of = cta if record.ctas == 1 else cta & ~1 | rank
                self._use(of, operation, uses_of(record, values, k, rank))

    def transfer(self, event: TensorTransferIssue) -> None:
        """Record a load or a store of each warp, and report conflicts."""
        record: TensorTransfer = event.record
        addresses = np.broadcast_to(record.address, (event.batch.count, 32))[:, 0].tolist()
        group = _LOAD if record.action == "load" else _STORE
        for warp, address in zip(event.batch.warp_index.tolist(), addresses, strict=True):
            operation = self._operation(event.pc, warp, -1, record, None)
            self._pending.setdefault((warp, group), []).append(operation)
            self._use(int(self.topology.cta_of[warp]), operation, transfer_uses(record, int(address)))

    def _operation(self, pc: int, warp: int, lane: int, record: Any, key: Any) -> Operation:
        number = self._numbers[warp] = self._numbers.get(warp, 0) + 1
        found = Operation(pc, (warp, lane), record, key, self.aliasing.time(warp), number)
        self._unfenced.setdefault(warp, {})[pc, lane] = found
        self._unreleased.setdefault(warp, []).append(found)
        return found

    def _commit(self, event: TensorIssue, values: dict[str, Array]) -> None:
        for warp, lane, words in self.operands.commit(event, values):
            left = self._open.get(warp, [])
            others = [each for each in left if each.thread[1] != lane]
            # A commit does not cover the operations of other lanes.
            number = min((each.number for each in others), default=self._numbers.get(warp, 0) + 1) - 1
            self._open[warp] = others
            for word in words:
                self.order.commit((warp, lane), number, word)
            self.operands.complete(warp, number, words)
            self.release([warp], event.pc)

    # Accesses ---------------------------------------------------------------------------------------------

    def _use(self, cta: int, operation: Operation, uses: list[Use]) -> None:
        table = self._accesses.setdefault(cta, {})
        for use in uses:
            self._check_written(cta, operation, use)
            covered = self._check(table, operation, use)
            for key in covered:
                del table[key]
        for use in uses:
            if use.writes:
                self._words(cta)[lanes_of(use.lanes), use.first : use.end] = _SUMS if use.what == "D" else _WRITTEN
            key = (operation.pc, operation.thread, use.lanes, use.first, use.end, use.writes)
            table.pop(key, None)
            table[key] = _Access(operation, use)

    def _words(self, cta: int) -> NDArray[np.int8]:
        found = self._contents.get(cta)
        if found is None:
            found = self._contents[cta] = np.zeros((TENSOR_LANES, TENSOR_COLUMNS), np.int8)
        return found

    def _check(self, table: dict[Any, _Access], operation: Operation, use: Use) -> list[Any]:
        """Report the conflicts of a use. Return the keys of the earlier accesses that it replaces."""
        covered: list[Any] = []
        for key, access in table.items():
            old = access.use
            if old.end <= use.first or use.end <= old.first or not old.lanes & use.lanes:
                continue
            if not (old.writes or use.writes) or access.operation is operation:
                continue
            self._compare(access, operation, use)
            if use.writes and use.first <= old.first and old.end <= use.end and not old.lanes & ~use.lanes:
                covered.append(key)
        return covered

    def _compare(self, access: _Access, operation: Operation, use: Use) -> None:
        """Report a conflict of an access with a later use of the same words."""
        old, order, warp = access.operation, self.order, operation.thread[0]
        if old.is_transfer and old.thread == operation.thread and access.use.writes and use.kind == "write":
            return  # the stores of a warp take effect in order
        pipelined = is_pipelined(old, access.use, operation, use)
        if (pipelined or self._multiplied_between(old, operation)) and old.thread == operation.thread:
            return
        if order.is_complete(warp, old):
            self._check_fences(access, operation, use)
        elif not pipelined:
            self._report_incomplete(access, operation, use)
        elif not order.follows(warp, old):
            self._report("sanitize.tensor/race", access, operation, use, "and nothing orders the two")
        elif not order.follows_fence(warp, old):
            self._report_fence_before(access, operation, use)
        elif old.thread[0] != warp and not order.follows(warp, old, fenced=True):
            self._report_fence_after(access, operation, use)

    def _multiplied_between(self, first: Operation, then: Operation) -> bool:
        """Return True if a thread multiplied between two copies, which orders the copies."""
        copies = isinstance(first.record, TensorMemoryCopy) and isinstance(then.record, TensorMemoryCopy)
        return copies and first.thread == then.thread and self._multiplied.get(first.thread, 0) > first.number

    def _check_fences(self, access: _Access, operation: Operation, use: Use) -> None:
        old, order, warp = access.operation, self.order, operation.thread[0]
        if operation.record is None or (old.is_transfer and old.thread[0] == warp):
            return  # a release of columns, or a wait of the warp itself
        if not self.report.is_active(self._fence_code):
            return
        if not order.is_complete(warp, old, fenced=True):
            self._report_fence_after(access, operation, use)
        elif old.is_transfer and not order.follows_fence(warp, old):
            self._report_fence_before(access, operation, use)

    def _report_fence_after(self, access: _Access, operation: Operation, use: Use) -> None:
        at = self._acquired.get(operation.thread[0], -1)
        where = f" after the synchronisation in {self.context.program.place_of(at)}" if at >= 0 else ""
        fix = insert_before(self.context.program, operation.pc, rules()[self._fence_code].insert)
        self._report(
            self._fence_code, access, operation, use, f"with no `fence::after_thread_sync`{where}",
            f"synchronisation {at}", (fix,),
        )  # fmt: skip

    def _report_fence_before(self, access: _Access, operation: Operation, use: Use) -> None:
        old = access.operation
        where, fixes = "", tuple[Fix, ...]()
        if old.release >= 0:
            where = f" before the synchronisation in {self.context.program.place_of(old.release)}"
            text = rules()[self._fence_code].template
            fixes = (insert_before(self.context.program, old.release, text),)
        why = f"with no `fence::before_thread_sync`{where}"
        self._report(self._fence_code, access, operation, use, why, f"release {old.release}", fixes)

    def _report_incomplete(self, access: _Access, operation: Operation, use: Use) -> None:
        old, order, warp = access.operation, self.order, operation.thread[0]
        program, follows = self.context.program, order.follows(warp, old)
        if old.is_transfer:
            if old.done or not follows:
                self._report("sanitize.tensor/race", access, operation, use, "and nothing orders the two")
                return
            code, name = "sanitize.tensor/load-wait", "wait::ld"
            if access.use.writes:
                code, name = "sanitize.tensor/store-wait", "wait::st"
            text = rules()[code].insert
            at = old.release if old.release >= 0 or old.thread[0] != warp else operation.pc
            fix = insert_after(program, old.pc, text)
            self._report(code, access, operation, use, f"with no `{name}` between", f"wait {at}", (fix,))
        elif order.is_committed(old):
            self._report(
                "sanitize.tensor/commit", access, operation, use, "and nothing waits for the phase of its commit"
            )
        elif follows:
            self._report(
                "sanitize.tensor/commit", access, operation, use, "and no commit of its thread covers that operation"
            )
        else:
            self._report("sanitize.tensor/race", access, operation, use, "and nothing orders the two")

    def _report(
        self, code: str, access: _Access, operation: Operation, use: Use, why: str, subject: str = "",
        fixes: tuple[Fix, ...] = (),
    ) -> None:  # fmt: skip
        if operation.record is None and code in ("sanitize.tensor/race", "sanitize.tensor/commit"):
            code = "sanitize.tensor/release"
        old = access.operation
        if self.report.is_known(code, operation.pc, old.pc):
            return
        verb = "releases" if operation.record is None else "writes" if use.writes else "reads"
        did = "written" if access.use.writes else "read"
        warp, lane = operation.thread
        whose = self.context.resident.placement.describe_warp(old.thread[0])
        line = self.context.program.place_of(old.pc)
        message = (
            f"this {verb} {use.describe()} of tensor memory, which are {did} by {line}, {whose}, "
            f"{why}; {self.context.describe(warp, lane)}"
        )
        self.report.add(code, operation.pc, old.pc, message, subject=subject, fixes=fixes)

    def _check_written(self, cta: int, operation: Operation, use: Use) -> None:
        """Report reads of words that nothing has written since their allocation.

        Scale factors and sparsity metadata are never the sums of a multiplication. For them, sums count as unwritten.
        A load may read words that its thread does not use, for example those of lanes that a D with M = 64 leaves
        free. A load is therefore reported only if none of its words has been written.
        """
        if use.kind == "write" or not use.lanes:
            return
        if use.words is not None:
            lanes, columns = use.words
            inside = (lanes < TENSOR_LANES) & (columns < TENSOR_COLUMNS)
            contents = self._words(cta)[lanes[inside], columns[inside]]
            written = contents == _WRITTEN
        else:
            contents = self._words(cta)[lanes_of(use.lanes), use.first : use.end]
            written = contents != 0
        if written.all() or (operation.is_transfer and written.any()):
            return
        code = "sanitize.unwritten/tensor"
        if self.report.is_known(code, operation.pc, -1):
            return
        warp, lane = operation.thread
        what = "the accumulators" if use.what == "D" else use.what or "words"
        unwritten, sums = np.count_nonzero(contents == 0), np.count_nonzero(~written & (contents != 0))
        why = f"{unwritten:,} words have not been written since their allocation" if unwritten else ""
        if sums:
            why += f"{' and ' * bool(why)}{sums:,} words contain results of a multiplication"
        message = (
            f"this reads {what} in {use.describe()} of tensor memory, of which {why}; "
            f"{self.context.describe(warp, lane)}"
        )
        self.report.add(code, operation.pc, -1, message, subject=f"tensor memory from {use.first} on")

    # Allocation -------------------------------------------------------------------------------------------

    def allocate(self, event: TensorAllocate) -> None:
        """Record allocations and releases of columns, and report releases of columns in use."""
        rows = zip(
            event.batch.warp_index.tolist(), event.first.tolist(), event.columns.tolist(), strict=True
        )  # fmt: skip
        for warp, first, columns in rows:
            cta = int(self.topology.cta_of[warp])
            if event.action == "take":
                self._take(cta, warp, first, columns, event)
            else:
                self._release(cta, warp, first, columns, event)

    def _take(self, cta: int, warp: int, first: int, columns: int, event: TensorAllocate) -> None:
        self._blocks.setdefault(cta, {})[first] = _Block(first + columns, event.pc, warp)
        self._words(cta)[:, first : first + columns] = 0
        if event.ctas == 2 and not self.lifetimes.knows(cta ^ 1, warp):
            message = "this allocates tensor memory together with the peer CTA, which may not have started"
            self.report.add("sanitize.cluster/start", event.pc, -1, f"{message}; {self.context.describe(warp)}")

    def _release(self, cta: int, warp: int, first: int, columns: int, event: TensorAllocate) -> None:
        self._released[cta] = event.pc
        self._blocks.get(cta, {}).pop(first, None)
        operation = Operation(event.pc, (warp, -1), None, None, self.aliasing.time(warp), 0)
        table = self._accesses.setdefault(cta, {})
        use = Use("write", "", _EVERY_LANE, first, first + columns)
        self._check(table, operation, use)
        for key in [key for key, each in table.items() if each.use.first < use.end and first < each.use.end]:
            del table[key]

    def exit(self, warps: Array) -> None:
        """Report columns that the exiting warps leave allocated."""
        for cta in np.unique(self.topology.cta_of[warps]).tolist():
            blocks = self._blocks.get(cta)
            if not blocks or self.context.splits.live_bits[self.topology.cta_of == cta].any():
                continue
            for first, block in blocks.items():
                message = (
                    f"columns {first} to {block.end - 1} of tensor memory are still allocated when the CTA exits; "
                    f"{self.context.describe(block.warp)}"
                )
                self.report.add("sanitize.tensor/leak", block.pc, -1, message)

    def notes(self) -> tuple[Note, ...]:
        """Return notes on the last releases of columns. They explain a trap at an access to tensor memory."""
        program = self.context.program
        return tuple(
            Note(f"{program.place_of(pc)} has released columns", program.span_of(pc))
            for pc in dict.fromkeys(self._released.values())
        )
