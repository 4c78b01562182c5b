"""Search for the wrong field of a matrix descriptor, and for the value that agrees with the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from warploom.diagnostics import UsageError
from warploom.emulator.address_space import SHARED_START
from warploom.isa.model.multiplication import SharedMatrix
from warploom.layout import Descriptor
from warploom.lazy_dataclass import dataclass
from warploom.observe.provenance.alignment import Slot
from warploom.observe.provenance.chain import Chain, element_bytes, tile_bits
from warploom.observe.provenance.terms import Collector, Element, Regions
from warploom.observe.provenance.trace import Execution, Location

_OFFSETS = range(16, 1 << 14, 16)
_SWIZZLES = (0, 32, 64, 128)
_NAMES = {
    "leading_byte_offset": "leading byte offset", "stride_byte_offset": "stride byte offset", "swizzle": "swizzle",
    "base_offset": "base offset", "start_address": "start address",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WrongField:
    """Field of a descriptor of the matrix `matrix`, its value, and the value that agrees with the data."""

    matrix: str
    name: str
    value: int
    agrees: int


def find_field(
    chain: Chain,
    collector: Collector,
    regions: Regions,
    slots: list[Slot],
    matrix: SharedMatrix,
    steps: tuple[int, int],
) -> WrongField | None:
    """Return the field of a descriptor whose change makes a multiplication read the expected elements.

    `slots` are the products of one multiplication. `steps` are the axes along the rows of the tile and along K in the
    array. The rows around that of the result must agree as well.
    """
    node = slots[0].product.node
    assert node.writer is not None
    execution, product = node.writer.record, node.product
    assert isinstance(execution, Execution)
    assert product is not None
    position = execution.position(node.writer.warp)
    word = int(np.broadcast_to(execution.values[matrix.name], (1, len(execution.warps), 32))[0, position, 0])
    sides = [(each.product.k, each.a if _is_matrix(each, matrix, "a") else each.b) for each in slots]
    row = node.element[0] if matrix.name == "A" else node.element[1]
    along, _ = steps
    wanted: list[tuple[int, int, Element]] = []
    for k, side in (sides[0], sides[-1], *sides):
        if side.expected is None:
            return None
        wanted.append((row, k, side.expected))
    for other in _rows(row, matrix.rows):
        for k, side in (sides[0], sides[-1]):
            assert side.expected is not None
            index = list(side.expected.index)
            index[along] += other - row
            if 0 <= index[along] < regions.array(side.expected.array).contents.shape[along]:
                wanted.append((other, k, Element(side.expected.array, tuple(index))))
    owner = node.writer.warp // chain.launch.topology.warps_per_cta
    known: dict[int, Element | None] = {}

    def element_at(byte: int) -> Element | None:
        if byte not in known:
            at = Location("shared", owner, byte, 0, element_bytes(matrix.element))
            assert node.writer is not None
            known[byte] = regions.element(collector.resolve(chain.walk(at, node.writer.time))[-1])
        return known[byte]

    for name, value, changed in _changes(word):
        try:
            bits = tile_bits(changed.encode(), matrix.rows, matrix.k, matrix.element, matrix.major)
        except UsageError:
            continue
        if name == "start_address" and value >= SHARED_START + chain.launch.grid.total_shared:
            continue
        if all(element_at(int(bits[at, k]) // 8 - SHARED_START) == element for at, k, element in wanted):
            return WrongField(matrix.name, _NAMES[name], getattr(Descriptor.decode(word), name), value)
    return None


def _is_matrix(slot: Slot, matrix: SharedMatrix, side: str) -> bool:
    """Return True if a side of a slot is the operand `matrix` of its multiplication."""
    node = slot.product.a if matrix.name == "A" else slot.product.b
    return getattr(slot, side).path[0] is node


def _rows(row: int, rows: int) -> list[int]:
    spread = {*range(8), *(row // 8 * 8 + k for k in range(8)), *(8 << k for k in range(8)), rows - 1}
    return sorted(each for each in spread if each < rows and each != row)


def _changes(word: int) -> Iterator[tuple[str, int, Descriptor]]:
    found = Descriptor.decode(word)
    values: dict[str, Iterable[int]] = {
        "swizzle": _SWIZZLES, "leading_byte_offset": _OFFSETS, "stride_byte_offset": _OFFSETS, "base_offset": range(8),
    }  # fmt: skip
    start = found.start_address
    near = {start + step * 16 for step in range(-16, 17)} | {start + step * 1024 for step in range(-224, 225)}
    values["start_address"] = sorted(each for each in near if 0 <= each < 1 << 18)
    for name, options in values.items():
        for value in options:
            if value != getattr(found, name):
                yield name, value, replace(found, **{name: value})  # pyright: ignore[reportArgumentType]
