"""Native execution of sequences of instructions for the warps of a batch."""

import os
from collections.abc import Sequence
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from warploom.emulator.batch import Batch
from warploom.emulator.link import Linked
from warploom.emulator.memory import Memory
from warploom.emulator.native.context import Field
from warploom.emulator.native.functions import translate
from warploom.emulator.native.library import library
from warploom.emulator.native.operands import RECORD, OperandTable, Records, UnsupportedOperand, varying
from warploom.emulator.native.runtime import INSTRUCTION
from warploom.emulator.program import Program
from warploom.emulator.state import State
from warploom.isa.model.form import Form
from warploom.numerics.tracing.values import TraceError

_BITS = np.uint32(1) << np.arange(32, dtype=np.uint32)


class NativeEngine:
    """Native functions for the instructions of one launch.

    `functions[pc]` is False for an instruction that the interpreter executes.
    """

    def __init__(self, program: Program, linked: Sequence[Linked], state: State, arch: str) -> None:
        self.state = state
        self.linked = linked
        self.library = library()
        self.code = np.zeros(len(linked), INSTRUCTION)
        self.counts = np.zeros(len(linked), np.int64)
        self.context = np.zeros(len(Field), np.int64)
        self._guarded = np.zeros(len(state.splits.status), np.uint32)
        self._tables: list[tuple[int, Any]] = []
        self._link(program, linked, arch)
        self.is_native = (self.code["function"] != 0).tolist()

    def _link(self, program: Program, linked: Sequence[Linked], arch: str) -> None:
        tables: dict[int, OperandTable] = {}
        names: dict[int, str] = {}
        module = ir.Module()
        missing: list[str] = []
        known, failed = self.library.addresses, self.library.failed
        for pc, each in enumerate(linked):
            form = program.steps[pc].binding.form
            if each.reconverges or form.execution is None or each.act is not form.execution:
                continue
            try:
                table = OperandTable.of(each.operands)
                name = _name(form, table.names, arch)
                if name in failed:
                    continue
                if name not in known and name not in missing:
                    failed.add(name)
                    translate(module, name, form, table.names, arch)
                    failed.remove(name)
                    missing.append(name)
            except (UnsupportedOperand, TraceError) as e:
                if os.environ.get("TRACE_DEBUG"): print(form.name, e)
                continue
            tables[pc], names[pc] = table, name
        if missing:
            self.library.add(module, missing)
        self.records = Records(np.zeros(sum(len(t.values) for t in tables.values()), RECORD))
        start = self.records.table.__array_interface__["data"][0]
        first = 0
        for pc, table in tables.items():
            self.records.fill(first, table.values)
            self._tables += [(first + k, table.values[k]) for k in varying(table.values)]
            entry = self.code[pc]
            entry["function"] = known[names[pc]]
            entry["records"] = start + first * RECORD.itemsize
            guard = linked[pc].guard
            if guard is not None:
                row = guard.file[guard.index]
                entry["guard"], entry["guard_stride"] = row.__array_interface__["data"][0], row.strides[0]
                entry["negated"] = linked[pc].negated
            first += len(table.values)

    def start(self, memory: Memory) -> None:
        """Prepare for the CTAs that have become resident."""
        arena, shared = memory.arena, memory.shared
        for number, value in self._tables:
            self.records.fill(number, [value])
        topology = self.state.topology
        rank = topology.rank[topology.cta_of]
        low = (rank << 24) + (shared.end - shared.size)
        origin = shared.bytes.__array_interface__["data"][0] + topology.cta_of * shared.stride
        self._windows = np.stack([low, low + shared.size, origin - low], axis=1).astype(np.int64)
        self._kept = [arena.bytes, arena.starts, arena.ends, arena.state, memory.local]
        pointers = [array.__array_interface__["data"][0] for array in self._kept]
        context = self.context
        context[Field.ARENA], context[Field.SEGMENTS] = pointers[0], len(arena.starts)
        context[Field.SEGMENT_STARTS : Field.SEGMENT_STATES + 1] = pointers[1:4]
        context[Field.SHARED_WINDOWS] = self._windows.__array_interface__["data"][0]
        context[Field.LOCAL_START], context[Field.LOCAL_STRIDE] = pointers[4], memory.local_stride
        context[Field.LOCAL_BYTES] = memory.local_bytes

    def run(self, batch: Batch, first: int, end: int) -> tuple[int, int]:
        """Execute the instructions [first, end) for the warps of a batch, up to one that needs the interpreter.

        Return the program counter of this instruction, and the number of warps that have already executed it.
        """
        warps = np.ascontiguousarray(batch.warp_index)
        count = batch.count
        masks = np.full(count, 0xFFFFFFFF, np.uint32) if batch.mask is None else np.bitwise_or.reduce(np.where(batch.mask, _BITS, np.uint32(0)), axis=1)
        if len(self._guarded) < count:
            self._guarded = np.zeros(count, np.uint32)
        pc = self.library.run(
            self.code.ctypes.data, self.context.ctypes.data, first, end, count, warps.ctypes.data, masks.ctypes.data,
            self._guarded.ctypes.data, self.counts.ctypes.data,
        )  # fmt: skip
        return pc, int(self.context[Field.EXECUTED])


def _name(form: Form, operands: SimpleNamespace, arch: str) -> str:
    text = f"{form.name} {arch} {sorted(vars(operands).items(), key=lambda pair: pair[0])}"
    return f"{form.name}.{sha256(text.encode()).hexdigest()[:16]}"

