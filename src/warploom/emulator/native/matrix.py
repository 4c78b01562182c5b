"""Traced matrix of one warp, in the stack frame of a native function."""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from warploom.emulator.native.builder import I8, I32, I64, POINTER
from warploom.numerics.tracing.values import LANES, TracedLanes, splat

ROW_BYTES = 16
ROW = ir.VectorType(I32, 4)
_WORD = np.dtype(np.uint32)


class TracedMatrix:
    """Matrix of one warp, as bytes in the stack frame. It has no shape."""

    def __init__(self, builder: ir.IRBuilder, size: int) -> None:
        self.builder = builder
        self.size = size
        with builder.goto_entry_block():
            frame = builder.alloca(ir.ArrayType(I8, size))
            frame.align = 64
            frame.type = POINTER
            self._start = frame

    def view(self, dtype: Any) -> TracedMatrix:
        """Return this matrix. The orders of fragments state the type of its elements."""
        return self

    def reshape(self, *shape: int) -> TracedMatrix:
        """Return this matrix."""
        return self

    def _at(self, offset: int) -> ir.Value:
        return self.builder.gep(self._start, [I64(offset)], source_etype=I8)

    def put_row(self, number: int, value: ir.Value) -> None:
        """Store the 16 bytes of a row."""
        self.builder.store(value, self._at(number * ROW_BYTES), align=ROW_BYTES)

    def row(self, number: int) -> ir.Value:
        """Return the 16 bytes of a row."""
        return self.builder.load(self._at(number * ROW_BYTES), typ=ROW, align=ROW_BYTES)

    def gather(self, target: NDArray[np.int64], dtype: np.dtype[Any]) -> TracedLanes:
        """Return a register of 32 bits. `target` has the positions of its elements (see `Order`)."""
        count = len(target) // LANES
        found: TracedLanes | None = None
        for item in range(count):
            offset = target[item::count] * dtype.itemsize
            word = self._words(offset & ~3)
            if count > 1:  # the element is a part of the word
                word = (word >> (8 * (offset & 3)).astype(np.uint32)) & np.uint32((1 << 8 * dtype.itemsize) - 1)
                word = word << np.uint32(8 * dtype.itemsize * item)
            found = word if found is None else found | word
        assert found is not None
        return found

    def scatter(self, register: TracedLanes, target: NDArray[np.int64], dtype: np.dtype[Any]) -> None:
        """Store a register of 32 bits. `target` has the positions of its elements in the matrix."""
        count = len(target) // LANES
        bits = register.view(_WORD)
        for item in range(count):
            part = (bits >> np.uint32(8 * dtype.itemsize * item)).astype(dtype)
            for lane, position in enumerate(target[item::count].tolist()):
                element = self.builder.extract_element(part.value, I32(lane))
                self.builder.store(element, self._at(position * dtype.itemsize), align=dtype.itemsize)

    def _words(self, offsets: NDArray[np.int64]) -> TracedLanes:
        zero = TracedLanes(self.builder, splat(0, _WORD), _WORD)
        return zero.constant(offsets // 4, _WORD).gather(self._start, _WORD)
