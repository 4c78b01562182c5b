"""Operands, resolved: registers, constants, special registers, symbols, vectors and addresses.

A value is read for a batch by `fetch`, in the NumPy dtype of its PTX type, with shape (warps, 32) or one that
broadcasts to it. Reading a register of a converged batch is a view; a meaning must compute before it writes.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.types import TYPES, Type
from warploom.layout import Order
from warploom.numerics import permute

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch

Array = NDArray[Any]
Rows = NDArray[np.intp]


class Constant:
    """An immediate, or a symbol whose address is the same for all threads. `array` has shape (1, 1)."""

    __slots__ = ("array", "type")

    def __init__(self, type: str, array: Array) -> None:
        self.type = type
        self.array = array

    def fetch(self, batch: Batch) -> Array:
        """The constant, to be broadcast."""
        return self.array


class PerWarp:
    """A value that was computed once for every warp of the machine: special registers, shared symbols."""

    __slots__ = ("table", "type")

    def __init__(self, type: str, table: Array) -> None:
        self.type = type
        self.table = table

    def fetch(self, batch: Batch) -> Array:
        """Rows of the table for the batch's warps."""
        return self.table if len(self.table) == 1 else self.table[batch.warps]


class Dynamic:
    """A special register whose value changes while the kernel runs."""

    __slots__ = ("read", "type")

    def __init__(self, type: str, read: Any) -> None:
        self.type = type
        self.read = read

    def fetch(self, batch: Batch) -> Array:
        """Its value now; a clock that is read goes on."""
        batch.machine.grid.ticks += 1
        return self.read()


class Register:
    """A register, seen as a type: `view` is the register file in the type's dtype, narrowed where it is wider.

    Shapes: view (registers, warps, 32).
    """

    __slots__ = ("extend", "index", "name", "raw", "type", "view")

    def __init__(self, name: str, file: Array, index: int, type: str) -> None:
        kind: Type = TYPES[type]
        self.name = name
        self.index = index
        self.type = type
        self.raw = file
        width = file.dtype.itemsize
        size = kind.dtype.itemsize
        self.view = file if file.dtype == kind.dtype else file.view(kind.dtype)[..., :: width // size]
        self.extend: np.dtype[Any] | None = None
        if size < width:
            self.extend = np.dtype(f"{'i' if kind.kind == 'signed' else 'u'}{width}")

    def fetch(self, batch: Batch) -> Array:
        """The register's lanes; a view of the file when the batch is a run of warps."""
        return self.view[self.index, batch.warps]

    def put(self, batch: Batch, result: Array) -> None:
        """Write the active lanes; a narrow result fills the register by the sign of its type."""
        if self.extend is not None:
            target = self.raw
            result = result.astype(self.view.dtype, copy=False).astype(self.extend).view(target.dtype)
        else:
            target = self.view
            if result.dtype != target.dtype and result.dtype.itemsize == target.dtype.itemsize:
                result = result.view(target.dtype)
        mask = batch.mask
        if mask is None:
            target[self.index, batch.warps] = result
        elif batch.is_run:
            np.copyto(target[self.index, batch.warps], result, where=mask)
        else:
            held = target[self.index, batch.warps]
            np.copyto(held, result, where=mask)
            target[self.index, batch.warps] = held


class NotPredicate:
    """A negated predicate."""

    __slots__ = ("register", "type")

    def __init__(self, register: Register) -> None:
        self.register = register
        self.type = "pred"

    def fetch(self, batch: Batch) -> Array:
        """The complement of the predicate."""
        return ~self.register.fetch(batch)


class VectorValue:
    """Registers or constants in braces; None stands for the sink `_`. `run` is their file when all are registers."""

    __slots__ = ("indices", "items", "numbers", "run", "type")

    def __init__(self, type: str, items: tuple[Any, ...]) -> None:
        self.type = type
        self.items = items
        self.run: Array | None = None
        self.indices: Array | slice = slice(0, 0)
        self.numbers: NDArray[np.uint64] = np.zeros(0, np.uint64)
        registers = [item for item in items if isinstance(item, Register) and item.extend is None]
        if items and len(registers) == len(items):
            self.run = registers[0].view
            indices = [item.index for item in registers]
            self.numbers = np.array(indices, np.uint64)
            first = indices[0]
            in_order = indices == list(range(first, first + len(indices)))
            self.indices = slice(first, first + len(indices)) if in_order else np.array(indices, np.intp)

    def fetch_all(self, batch: Batch) -> Array:
        """All registers. Shapes: (registers, warps, 32); never a view."""
        if self.run is not None:
            if isinstance(self.indices, slice) or isinstance(batch.warps, slice):
                got = (
                    self.run[self.indices][:, batch.warps]
                    if isinstance(self.indices, slice)
                    else self.run[self.indices, batch.warps]
                )
                return got.copy() if got.base is not None else got
            return self.run[self.indices[:, None], batch.warps[None, :]]
        return np.stack([np.broadcast_to(item.fetch(batch), (batch.count, 32)) for item in self.items])

    def put_all(self, batch: Batch, results: Array) -> None:
        """Write all registers. Shapes: (registers, warps, 32)."""
        if self.run is not None and batch.mask is None and isinstance(self.indices, slice):
            if results.dtype != self.run.dtype:
                results = results.view(self.run.dtype)
            self.run[self.indices, batch.warps] = results
            return
        for item, result in zip(self.items, results, strict=True):
            if item is not None:
                item.put(batch, result)

    def gather(self, batch: Batch, order: Order, chosen: Rows | slice) -> Array:
        """The matrix that each chosen warp of the batch holds. Shapes: (warps, units)."""
        if self.run is not None:
            file, registers, warps = self.run, self.numbers, batch.warp_index
        else:
            file = self.fetch_all(batch)
            registers, warps = np.arange(len(file), dtype=np.uint64), np.arange(batch.count)
        matrices = np.empty((batch.count, order.target.size), order.dtype)
        permute.gather(file.view(order.dtype), registers, warps[chosen], order.target, matrices)
        return matrices

    def scatter(self, batch: Batch, order: Order, chosen: Rows | slice, matrices: Array) -> None:
        """Write the matrix that each warp of the batch holds; `chosen` says in which order they come."""
        if self.run is not None and batch.mask is None:
            warps = batch.warp_index[chosen]
            permute.scatter(matrices, order.target, self.run.view(order.dtype), self.numbers, warps)
        else:
            results = np.empty((len(self.items), batch.count, 32), TYPES[self.type].dtype)
            registers = np.arange(len(results), dtype=np.uint64)
            warps = np.arange(batch.count)[chosen]
            permute.scatter(matrices, order.target, results.view(order.dtype), registers, warps)
            self.put_all(batch, results)


class AddressValue:
    """`[base + offset]`; `extra` holds the coordinate vectors of tensor operands."""

    __slots__ = ("base", "extra", "offset", "type")

    def __init__(self, base: Any, offset: int, extra: tuple[Any, ...]) -> None:
        self.type = "b64"
        self.base = base
        self.offset = np.uint64(offset % 2**64)
        self.extra = extra

    def effective(self, batch: Batch) -> NDArray[np.uint64]:
        """Base plus offset. Shapes: (warps, 32), or (1, 1) when absolute; never a view of a register."""
        if self.base is None:
            return np.full((1, 1), self.offset, np.uint64)
        base = self.base.fetch(batch)
        if base.dtype == np.uint64:
            return base + self.offset
        # A 32-bit base wraps in 32 bits, as the address registers of the shared window do.
        return (base + np.uint32(int(self.offset) & 0xFFFF_FFFF)).astype(np.uint64)


def integer_constant(value: int, type: str) -> Constant:
    """An integer immediate in a type: floats take its value, packed and bit types its low bits."""
    kind = TYPES[type]
    if kind.kind == "predicate":
        return Constant(type, np.full((1, 1), value != 0, np.bool_))
    if kind.kind == "float" and kind.dtype.kind == "f":
        return Constant(type, np.full((1, 1), value, kind.dtype))
    size = kind.dtype.itemsize
    bits = (value % 2 ** (8 * size)).to_bytes(size, "little")
    return Constant(type, np.frombuffer(bits, kind.dtype).reshape(1, 1).copy())


def float_constant(bits: int, width: int | None, value: float, type: str) -> Constant:
    """A floating immediate in a type; in a bit type it stands for its pattern."""
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
