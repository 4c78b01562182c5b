"""A stand-in for the machine: named registers, one shared memory for each warpgroup, one global memory.

It has of the `Warps` protocol what matrix instructions ask for, and every lane is active.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator import multiplications
from warploom.isa.binding.bind import Binding, bind
from warploom.isa.binding.operands import BoundOperand
from warploom.isa.model.form import Form
from warploom.isa.model.types import TYPES
from warploom.layout import Order
from warploom.layout import swizzle as swizzled
from warploom.ptx import Address, Instruction, Integer, Name, Negated, Vector, parse

Array = NDArray[Any]


def instruction(text: str) -> Instruction:
    """The one instruction of a text."""
    module = parse(f".version 9.1\n.target sm_90a\n.address_size 64\n.visible .entry k() {{\n{text}\n}}\n")
    found = [item for item in module.functions["k"].body.statements if isinstance(item, Instruction)]
    assert len(found) == 1
    return found[0]


@dataclass(frozen=True)
class Value:
    """A resolved operand: the operands of the tree that it is read from, and the type they are read as."""

    type: str
    items: tuple[Any, ...]
    offset: int = 0


def execute(warps: FakeWarps, form: Form, values: SimpleNamespace) -> None:
    """Execute a bound instruction as the emulator does."""
    if form.multiply is None:
        assert form.execution is not None
        form.execution(warps, values)
        return
    values.multiplication = form.multiply(values)
    (multiplications.issue if form.is_asynchronous else multiplications.multiply)(warps, values)


@dataclass
class FakeWarps:
    """A batch of warps; memories are bytes, (CTAs, size) for shared memory, where four warps make a CTA."""

    count: int
    arch: str = "sm_90a"
    registers: dict[str, Array] = field(default_factory=dict)
    shared: Array = field(default_factory=lambda: np.zeros((1, 0), np.uint8))
    memory: Array = field(default_factory=lambda: np.zeros((1, 0), np.uint8))
    macs: int = 0
    deferred: list[tuple[Callable[..., None], Mapping[str, Array]]] = field(default_factory=list)
    tiles: int = 0

    def run(self, text: str) -> Binding:
        """Bind and execute one instruction."""
        binding = bind(instruction(text))
        assert isinstance(binding, Binding), binding
        operands = {name: _resolve(bound) for name, bound in binding.operands.items()}
        absent = dict.fromkeys(set(binding.form.operands) - set(operands))
        execute(self, binding.form, SimpleNamespace(**binding.slots, **operands, **absent))
        return binding

    def complete(self) -> None:
        """Let every deferred action take effect, each in two batches where there are warpgroups for two."""
        for action, captured in self.deferred:
            middle = self.count // 8 * 4
            for part in (slice(0, middle), slice(middle, self.count)):
                if part.stop > part.start:
                    batch = self._part(part)
                    action(batch, {name: array[part] for name, array in captured.items()})
                    self.macs += batch.macs
        self.deferred.clear()

    def _part(self, part: slice) -> FakeWarps:
        registers = {name: array[part] for name, array in self.registers.items()}
        ctas = slice(part.start // 4, part.stop // 4)
        return FakeWarps(part.stop - part.start, self.arch, registers, self.shared[ctas], self.memory)

    def read(self, value: Value) -> Array:
        dtype = TYPES[value.type].dtype
        item = value.items[0]
        if isinstance(item, Integer):
            return np.array([[item.value]]).astype(dtype)
        held = self.registers[item.text if isinstance(item, Name) else item.name]
        held = held if held.dtype == dtype else held.view(dtype)
        return ~held if isinstance(item, Negated) else held

    def read_vector(self, value: Value) -> Array:
        return np.stack([self.read(Value(value.type, (item,))) for item in value.items])

    def read_first_lane(self, value: Any) -> Array:
        return np.stack([np.broadcast_to(self.read(item), (self.count, 32))[:, 0] for item in value.items], axis=1)

    def write(self, value: Value, result: Array) -> None:
        assert result.dtype == TYPES[value.type].dtype
        held = self.registers[value.items[0].text]
        held[...] = result.view(held.dtype)

    def write_vector(self, value: Value, results: Array) -> None:
        assert len(results) == len(value.items)
        for item, result in zip(value.items, results, strict=True):
            self.write(Value(value.type, (item,)), result)

    def read_fragment(self, value: Value, order: Order) -> Array:
        registers = np.ascontiguousarray(self.read_vector(value)[:, self._holders(order)]).view(order.dtype)
        units = np.empty((self.count, order.target.size), order.dtype)
        units[:, order.target] = registers.transpose(1, 0, 2)
        return units.reshape(self.count // order.warps, -1)

    def write_fragment(self, value: Value, order: Order, units: Array) -> None:
        assert units.dtype == order.dtype
        registers = units.reshape(self.count, -1)[:, order.target].transpose(1, 0, 2)
        held = np.empty((len(value.items), self.count, 32), TYPES[value.type].dtype)
        held[:, self._holders(order)] = np.ascontiguousarray(registers).view(held.dtype)
        self.write_vector(value, held)

    def each(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        return [work(item) for item in items]

    def update_fragment(self, value: Value, order: Order, change: Callable[..., Any], cleared: Array | None) -> None:
        units = self.read_fragment(value, order)
        if cleared is not None:
            units[cleared] = 0
        for work in change(units):
            work()
        self.write_fragment(value, order, units)

    def multiply_tiles(self, *operands: Any) -> bool:
        return False

    def _holders(self, order: Order) -> Array:
        return np.arange(self.count) if order.warps == 1 else self.warpgroups().reshape(-1)

    def addresses(self, value: Value) -> Array:
        base = self.registers[value.items[0].text].astype(np.uint64)
        return base + np.uint64(value.offset)

    def load(self, space: str, addresses: Array, type: str, count: int = 1, lanes: Array | None = None) -> Array:
        out = np.zeros((count, self.count, 32), TYPES[type].dtype)
        for warp, lane in self._lanes(lanes):
            start = self._check(addresses[warp, lane], out.itemsize * count)
            row = self._memory(space, warp)[start : start + out.itemsize * count]
            out[:, warp, lane] = row.copy().view(out.dtype)
        return out

    def store(self, space: str, addresses: Array, type: str, values: Array, lanes: Array | None = None) -> None:
        assert values.dtype == TYPES[type].dtype
        for warp, lane in self._lanes(lanes):
            data = np.ascontiguousarray(values[:, warp, lane]).view(np.uint8)
            start = self._check(addresses[warp, lane], len(data))
            self._memory(space, warp)[start : start + len(data)] = data

    def load_rows(self, space: str, addresses: Array, rows: int) -> Array:
        words = self.load(space, addresses, "b32", 4, lanes=np.arange(32)[None, :] < rows)
        return np.ascontiguousarray(words.transpose(1, 2, 0)[:, :rows]).view(np.uint8)

    def store_rows(self, space: str, addresses: Array, rows: Array) -> None:
        words = np.zeros((4, self.count, 32), np.uint32)
        words[:, :, : rows.shape[1]] = np.ascontiguousarray(rows).view(np.uint32).transpose(2, 0, 1)
        self.store(space, addresses, "b32", words, lanes=np.arange(32)[None, :] < rows.shape[1])

    def _lanes(self, lanes: Array | None) -> list[tuple[int, int]]:
        mask = np.broadcast_to(True if lanes is None else lanes, (self.count, 32))
        return [(int(warp), int(lane)) for warp, lane in np.argwhere(mask)]

    def _check(self, address: Any, size: int) -> int:
        assert int(address) % size == 0, "misaligned"
        return int(address)

    def _memory(self, space: str, warp: int) -> Array:
        return self.memory[warp] if space == "global" else self.shared[warp // 4]

    def warpgroups(self) -> NDArray[np.intp]:
        return np.arange(self.count).reshape(-1, 4)

    def shared_tile(
        self,
        descriptors: Array,
        offsets: Array,
        swizzle: int,
        base_offset: int,
        groups: NDArray[np.intp] | slice,
        transposed: bool,
    ) -> Array:
        self.tiles += 1
        lines, chunks = offsets.shape
        tiles = np.empty((*descriptors.shape, lines, chunks, 2), np.uint64)
        for at, group in enumerate(np.arange(self.count // 4)[groups]):
            for step, start in enumerate((descriptors[at] & np.uint64(0x3FFF)) << np.uint64(4)):
                where = swizzled(offsets.astype(np.int64) + int(start), swizzle, base_offset)
                tiles[at, step] = self.shared[group].view(tiles.dtype).reshape(-1, 2)[where // 16]
        if transposed:
            columns = tiles.view(np.uint16).reshape(*descriptors.shape, lines, 8 * chunks)
            tiles = np.ascontiguousarray(columns.swapaxes(2, 3)).view(np.uint64)
        return np.concatenate(list(tiles.reshape(*tiles.shape[:3], -1).swapaxes(0, 1)), axis=2)

    def defer(self, channel: str, action: Callable[..., None], captured: Mapping[str, Array]) -> None:
        assert channel == "multiplication"
        assert all(len(array) == self.count for array in captured.values())
        self.deferred.append((action, captured))

    def commit(self, channel: str) -> None:
        assert channel == "multiplication"

    def wait(self, channel: str, pending: int, read_only: bool = False) -> None:
        assert (channel, read_only) == ("multiplication", False)
        if pending == 0:
            self.complete()

    def pool(self) -> None:
        return None

    def count_macs(self, macs: int) -> None:
        self.macs += macs


def _resolve(bound: BoundOperand) -> Any:
    if bound.spec.kind == "immediate":
        return bound.operand.value
    if isinstance(bound.operand, Vector):
        return Value(bound.type, bound.operand.items)
    if isinstance(bound.operand, Address):
        return Value("b64", (bound.operand.base,), bound.operand.offset)
    return Value(bound.type, (bound.operand,))
