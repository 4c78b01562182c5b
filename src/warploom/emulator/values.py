"""Resolved operands: registers, constants, special registers, vectors and addresses.

`fetch` returns the values of an operand for a batch. Shapes: (warps, 32) or broadcastable.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.batch import Batch
from warploom.isa.model.semantics import Array
from warploom.isa.model.types import TYPES, Type
from warploom.layout import Order
from warploom.lazy_dataclass import dataclass
from warploom.numerics import permute

Rows = NDArray[np.intp]


@dataclass(slots=True, eq=False)
class Constant:
    """Immediate, or an address that is the same for all threads. Shapes: array (1, 1)."""

    type: str
    array: Array

    def fetch(self, batch: Batch) -> Array:
        """Return the value of the constant. Shapes: (1, 1)."""
        return self.array


@dataclass(slots=True, eq=False)
class PerWarp:
    """Special register or shared address with a table of its values for all resident warps."""

    type: str
    table: Array

    def fetch(self, batch: Batch) -> Array:
        """Return the values of the batch's warps."""
        return self.table if len(self.table) == 1 else self.table[batch.warps]


@dataclass(slots=True, eq=False)
class Dynamic:
    """Special register that changes during the run. `read` returns its present value for all lanes."""

    type: str
    read: Callable[[], Array]

    def fetch(self, batch: Batch) -> Array:
        """Return the present value of the special register."""
        return self.read()


class Register:
    """Register that is read and written as a PTX type.

    `view` is the register file in the NumPy dtype of this type. Shapes: view (registers, warps, 32).
    """

    __slots__ = ("extend", "file", "index", "name", "type", "view")

    def __init__(self, name: str, file: Array, index: int, type: str) -> None:
        kind: Type = TYPES[type]
        self.name = name
        self.index = index
        self.type = type
        self.file = file
        width = file.dtype.itemsize
        size = kind.dtype.itemsize
        self.view = file if file.dtype == kind.dtype else file.view(kind.dtype)[..., :: width // size]
        # Dtype to which a result narrower than the register is extended.
        self.extend: np.dtype[Any] | None = None
        if size < width:
            self.extend = np.dtype(f"{'i' if kind.kind == 'signed' else 'u'}{width}")

    def at(self, name: str, index: int) -> Register:
        """Return a register of the same file and type with another name and index."""
        found = Register.__new__(Register)
        found.name, found.index, found.type = name, index, self.type
        found.file, found.view, found.extend = self.file, self.view, self.extend
        return found

    def fetch(self, batch: Batch) -> Array:
        """Return the register's values in the batch, as a view if the warps are consecutive."""
        return self.view[self.index, batch.warps]  # semantics must compute all results before they write

    def put(self, batch: Batch, result: Array) -> None:
        """Write a result to the active lanes. A narrow result is sign- or zero-extended."""
        if self.extend is not None:
            target = self.file
            result = result.astype(self.view.dtype, copy=False).astype(self.extend).view(target.dtype)
        else:
            target = self.view
            if result.dtype != target.dtype and result.dtype.itemsize == target.dtype.itemsize:
                result = result.view(target.dtype)
        mask = batch.mask
        if mask is None:
            target[self.index, batch.warps] = result
        elif batch.consecutive:
            np.copyto(target[self.index, batch.warps], result, where=mask)
        else:
            held = target[self.index, batch.warps]
            np.copyto(held, result, where=mask)
            target[self.index, batch.warps] = held


@dataclass(slots=True, eq=False)
class NotPredicate:
    """Negated predicate register."""

    register: Register
    type: str = "pred"

    def fetch(self, batch: Batch) -> Array:
        """Return the complement of the predicate register."""
        return ~self.register.fetch(batch)


class VectorValue:
    """Vector operand in braces. Each item is a register, a constant, or None for the sink `_`.

    `file` and `numbers` are the register file and the indices of the items. `file` is None unless all items are
    registers of the type's width.
    """

    __slots__ = ("file", "indices", "items", "numbers", "type")

    def __init__(self, type: str, items: tuple[Any, ...]) -> None:
        self.type = type
        self.items = items
        self.file: Array | None = None
        self.indices: Array | slice = slice(0, 0)
        self.numbers: NDArray[np.uint64] = np.zeros(0, np.uint64)
        registers = [item for item in items if isinstance(item, Register) and item.extend is None]
        if items and len(registers) == len(items):
            self.file = registers[0].view
            indices = [item.index for item in registers]
            self.numbers = np.array(indices, np.uint64)
            first = indices[0]
            in_order = indices == list(range(first, first + len(indices)))
            self.indices = slice(first, first + len(indices)) if in_order else np.array(indices, np.intp)

    def fetch_all(self, batch: Batch) -> Array:
        """Return a copy of the values of all items. Shapes: (items, warps, 32)."""
        if self.file is not None:
            if isinstance(self.indices, slice) or isinstance(batch.warps, slice):
                got = (
                    self.file[self.indices][:, batch.warps]
                    if isinstance(self.indices, slice)
                    else self.file[self.indices, batch.warps]
                )
                return got.copy() if got.base is not None else got
            return self.file[self.indices[:, None], batch.warps[None, :]]
        return np.stack([np.broadcast_to(item.fetch(batch), (batch.count, 32)) for item in self.items])

    def fetch_first_lane(self, batch: Batch) -> Array:
        """Return the values of all items in lane 0 of each warp. Shapes: (warps, items)."""
        if self.file is not None:
            return self.file[self.numbers, batch.warp_index[:, None], 0]
        values = np.empty((batch.count, len(self.items)), TYPES[self.type].dtype)
        for number, item in enumerate(self.items):
            values[:, number] = item.fetch(batch)[:, 0]
        return values

    def put_all(self, batch: Batch, results: Array) -> None:
        """Write one result to the active lanes of each register. Shapes: results (registers, warps, 32)."""
        if self.file is not None and batch.mask is None and isinstance(self.indices, slice):
            if results.dtype != self.file.dtype:
                results = results.view(self.file.dtype)
            self.file[self.indices, batch.warps] = results
            return
        for item, result in zip(self.items, results, strict=True):
            if item is not None:
                item.put(batch, result)

    def read_matrix(self, batch: Batch, order: Order, positions: Rows | slice) -> Array:
        """Return the matrix in the registers of each warp at `positions` in a batch.

        `order` maps registers and lanes to matrix elements. Shapes: (warps, elements of a matrix).
        """
        if self.file is not None:
            file, registers, warps = self.file, self.numbers, batch.warp_index
        else:
            file = self.fetch_all(batch)
            registers, warps = np.arange(len(file), dtype=np.uint64), np.arange(batch.count)
        matrices = np.empty((batch.count, order.target.size), order.dtype)
        permute.gather(file.view(order.dtype), registers, warps[positions], order.target, matrices)
        return matrices

    def write_matrix(self, batch: Batch, order: Order, positions: Rows | slice, matrices: Array) -> None:
        """Distribute matrix i over the registers of the warp at `positions[i]` (see `read_matrix`)."""
        if self.file is not None and batch.mask is None:
            warps = batch.warp_index[positions]
            permute.scatter(matrices, order.target, self.file.view(order.dtype), self.numbers, warps)
        else:
            results = np.empty((len(self.items), batch.count, 32), TYPES[self.type].dtype)
            registers = np.arange(len(results), dtype=np.uint64)
            warps = np.arange(batch.count)[positions]
            permute.scatter(matrices, order.target, results.view(order.dtype), registers, warps)
            self.put_all(batch, results)


class AddressValue:
    """Address operand `[base + offset]`."""

    __slots__ = ("_narrow", "base", "extra", "offset", "type")

    def __init__(self, base: Any, offset: int, extra: tuple[Any, ...]) -> None:
        self.type = "b64"
        self.base = base
        self.offset = np.uint64(offset % 2**64)
        self._narrow = np.uint32(offset % 2**32)
        self.extra = extra  # coordinate vectors of a tensor copy

    def effective(self, batch: Batch) -> NDArray[np.uint64]:
        """Return the sum of base and offset. Shapes: (warps, 32) or broadcastable."""
        if self.base is None:
            return np.full((1, 1), self.offset, np.uint64)
        base = self.base.fetch(batch)
        if base.dtype == np.uint64:
            return base + self.offset
        # The sum with a 32-bit base wraps to 32 bits, as shared addresses do.
        return (base + self._narrow).astype(np.uint64)


def integer_constant(value: int, type: str) -> Constant:
    """Return an integer immediate as a constant of a PTX type."""
    kind = TYPES[type]
    if kind.kind == "predicate":
        return Constant(type, np.full((1, 1), value != 0, np.bool_))
    if kind.kind == "float" and kind.dtype.kind == "f":  # the value; other types take the low bits
        return Constant(type, np.full((1, 1), value, kind.dtype))
    size = kind.dtype.itemsize
    bits = (value % 2 ** (8 * size)).to_bytes(size, "little")
    return Constant(type, np.frombuffer(bits, kind.dtype).reshape(1, 1).copy())


def float_constant(bits: int, width: int | None, value: float, type: str) -> Constant:
    """Return a floating-point immediate as a constant of a PTX type.

    The constant is the pattern `bits` if `type` is a bit type, else `value`.
    """
    kind = TYPES[type]
    if kind.dtype == np.float64:
        wide = struct.pack("<Q", bits) if width != 32 else struct.pack("<d", value)
        return Constant(type, np.frombuffer(wide, np.float64).reshape(1, 1).copy())
    if kind.dtype.itemsize == 8:
        return integer_constant(bits, type)
    pattern = struct.pack("<I", bits) if width == 32 else struct.pack("<f", value)
    if kind.dtype.itemsize == 4:
        return Constant(type, np.frombuffer(pattern, kind.dtype).reshape(1, 1).copy())
    return integer_constant(int.from_bytes(pattern, "little"), type)


def registers_of(value: Any) -> frozenset[tuple[int, int]]:
    """Return (width in bytes, index in the register file) for each register of an operand."""
    match value:
        case Register():
            return frozenset({(value.file.dtype.itemsize, value.index)})
        case NotPredicate():
            return registers_of(value.register)
        case VectorValue(file=file) if file is not None:
            return frozenset((file.dtype.itemsize, number) for number in value.numbers.tolist())
        case VectorValue(items=items):
            return registers_of(items)
        case tuple():
            return frozenset[tuple[int, int]]().union(*map(registers_of, cast("tuple[Any, ...]", value)))
        case AddressValue():
            return registers_of(value.base).union(*map(registers_of, value.extra))
        case _:
            return frozenset()
