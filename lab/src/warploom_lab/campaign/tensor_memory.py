"""Multiplications in tensor memory: one kernel around each, compared with the arithmetic of `numerics`.

A GPU of the Blackwell generation or the emulator runs the kernels. The inputs are those of `arithmetic.cases`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from warploom.layout import InstructionDescriptor, SharedMap, UmmaDescriptor
from warploom.layout.tensor_memory import accumulator, scales
from warploom.numerics import fused
from warploom.numerics.formats import F8F6F4
from warploom.runtime.api import launch
from warploom_lab.arithmetic.cases import Array, Case, Inputs, case, inputs, with_one_nan

ARCH = "sm_100a"
_M, _N = 128, 32
_DIVISORS = (0, 1, 7, 15)
"""Values of scale-input-d for the kinds that have this operand."""
_TILE = 1024
"""Alignment of the matrices in shared memory. Units: bytes."""
_BYTE = 0xFF
_SCALE_COLUMNS = 4
"""Number of columns of tensor memory for the scales of A, and for those of B."""


@dataclass(frozen=True, slots=True)
class TensorExperiment:
    """Kernel around one multiplication. `divisor` is the operand scale-input-d, and `block` the modifier of scales."""

    case: Case
    fields: InstructionDescriptor
    divisor: int
    block: str

    @property
    def name(self) -> str:
        """Name of the case, with scale-input-d."""
        return f"{self.case.opcode}{f', scale-input-d {self.divisor}' if self.divisor else ''}"

    @property
    def tiles(self) -> tuple[SharedMap, SharedMap]:
        """Maps of A and B in shared memory."""
        return self._tile(_M, self.fields.atype), self._tile(_N, self.fields.btype)

    def _tile(self, rows: int, element: str) -> SharedMap:
        k = self.case.k
        tile = UmmaDescriptor.packed(rows, k, element).tile(rows, k, element, padded=not self.fields.is_packed_4bit)
        assert isinstance(tile, SharedMap)
        return tile

    @property
    def kernel(self) -> str:
        """PTX module of the kernel, with the entry `apply`."""
        fields = self.fields
        a, b = (
            UmmaDescriptor.packed(rows, self.case.k, element).encode()
            for rows, element in ((_M, fields.atype), (_N, fields.btype))
        )
        sizes = [_size(tile) for tile in self.tiles]
        scaled = f".block_scale{self.block}" if fields.is_scaled else ""
        last = f", {self.divisor}" if self.divisor else ""
        more = "[%scale_a], [%scale_b], " if fields.is_scaled else ""
        text = f"tcgen05.mma.cta_group::1.kind::{fields.kind}{scaled} [%tmem], %adesc, %bdesc, %idesc, {more}%keeps"
        groups = [(f"%x{4 * i}, %x{4 * i + 1}, %x{4 * i + 2}, %x{4 * i + 3}", 16 * i) for i in range(_N // 4)]
        halves = [f"%s{i}, %s{i + 1}, %s{i + 2}, %s{i + 3}" for i in (0, 4)]
        return _template().substitute(
            extent=sum(sizes),
            a_descriptor=a,
            b_descriptor=b + (sizes[0] >> 4),
            instruction_descriptor=fields.encode(),
            multiply=f"{text}{last};",
            x=", ".join(f"%x{i}" for i in range(_N)),
            s=", ".join(f"%s{i}" for i in range(2 * _SCALE_COLUMNS)),
            loads="\n".join(
                [f"    ld.global.v4.b32 {{{words}}}, [%c+{at}];" for words, at in groups]
                + [f"    ld.global.v4.b32 {{{words}}}, [%scales+{16 * i}];" for i, words in enumerate(halves)]
            ),
            stores="\n".join(f"    st.global.v4.b32 [%d+{at}], {{{words}}};" for words, at in groups),
        )

    def run(self, given: Inputs, device: str) -> Array:
        """Return the words of D that a GPU ("cuda") or the emulator ("cpu") computes. Shapes: (G, M, N)."""
        count = len(given["a"])
        memory = np.concatenate(
            [_in_shared_memory(tile, given[name]) for tile, name in zip(self.tiles, "ab", strict=True)], axis=1
        )
        accumulators = accumulator(self.fields, 1)
        c, d = np.zeros((2, count, _M, _N), np.uint32)
        c[:, accumulators.lane[0], accumulators.column[0]] = given["c"]
        words = np.zeros((count, _M, 2 * _SCALE_COLUMNS), np.uint32)
        for number, name in enumerate(("scale_a", "scale_b") if self.fields.is_scaled else ()):
            found = scales(self.fields, name[-1].upper(), self.case.scales, 1)
            factors = given[name] if name == "scale_a" else given[name].swapaxes(1, 2)
            for lane, column, bit in zip(found.lane, found.column, found.bit, strict=True):
                shifted = factors.astype(np.uint32) << bit.astype(np.uint32)
                at = (np.arange(count)[:, None, None], lane, column + _SCALE_COLUMNS * number)
                np.bitwise_or.at(words, at, shifted)
        options: dict[str, Any] = {} if device == "cuda" else {"arch": ARCH}
        launch(self.kernel, grid=count, block=_M, args=[memory, c, words, d], device=device, **options)  # pyright: ignore[reportArgumentType]
        found = d[:, accumulators.lane[0], accumulators.column[0]]
        return found.astype(given["c"].dtype)

    def different(self, kind: str, seed: int, cases: int, device: str) -> tuple[int, int]:
        """Return the number of outputs that differ from those of `numerics`, and the number of all outputs."""
        given = inputs(self.case, kind, seed, cases)
        a, b, c, scale_a, scale_b = (given.get(name) for name in ("a", "b", "c", "scale_a", "scale_b"))
        assert a is not None
        assert b is not None
        by = fused.multiplier(self.case.model, divisor=self.divisor)
        want = by(a, b, c, scale_a=scale_a, scale_b=scale_b)
        found = self.run(given, device)
        return int(np.count_nonzero(found != with_one_nan(want))), found.size


def _size(tile: SharedMap) -> int:
    """Return the bytes of a tile, rounded up to the alignment of the next one."""
    return -(-(int(tile.at.max()) + tile.bits) // (8 * _TILE)) * _TILE


def _in_shared_memory(tile: SharedMap, elements: Array) -> Array:
    """Return the bytes of shared memory with matrices of raw elements. Shapes: elements (G, rows, K)."""
    found = np.zeros((len(elements), _size(tile)), np.uint8)
    octets = elements[..., None].view(np.uint8)
    groups = np.arange(len(elements))[:, None, None]
    for number in range(octets.shape[-1]):
        shifted = octets[..., number].astype(np.uint16) << (tile.at & 7).astype(np.uint16)
        np.bitwise_or.at(found, (groups, tile.byte + number), shifted.astype(np.uint8))
        if (shifted > _BYTE).any():  # an element of 6 bits may begin in one byte and end in the next
            np.bitwise_or.at(found, (groups, tile.byte + number + 1), (shifted >> np.uint16(8)).astype(np.uint8))
    return found


@cache
def _template() -> Template:
    return Template((files("warploom_lab.campaign") / "tensor_memory.ptx").read_text(encoding="utf-8"))


def tensor_experiments() -> Iterator[TensorExperiment]:
    """Yield an experiment for each kind, combination of types and scale-input-d."""
    narrow = sorted(F8F6F4)
    for kind, k, types in (
        ("tf32", 8, [("f32", "tf32", "tf32")]),
        ("f16", 16, [("f32", "f16", "f16"), ("f32", "bf16", "bf16"), ("f16", "f16", "f16")]),
        ("f8f6f4", 32, [(d, a, b) for d in ("f32", "f16") for a in narrow for b in narrow]),
    ):
        for d, a, b in types:
            for divisor in _DIVISORS if kind != "f8f6f4" else (0,):
                yield _experiment(kind, k, d, a, b, divisor=divisor)
    for a in narrow:
        for b in narrow:
            yield _experiment("mxf8f6f4", 32, "f32", a, b, scale="ue8m0", block=32)
    for kind, block, scale in (
        ("mxf4", 32, "ue8m0"), ("mxf4nvf4", 32, "ue8m0"), ("mxf4nvf4", 16, "ue8m0"), ("mxf4nvf4", 16, "ue4m3")
    ):  # fmt: skip
        yield _experiment(kind, 64, "f32", "e2m1", "e2m1", scale=scale, block=block)


def _experiment(
    kind: str, k: int, d: str, a: str, b: str, *, divisor: int = 0, scale: str = "", block: int = 0
) -> TensorExperiment:
    parts = ["tcgen05.mma", f"kind::{kind}", f"m{_M}n{_N}k{k}", f"block{block}" * bool(block), d, a, b, scale]
    found = case(ARCH, ".".join(filter(None, parts)))
    assert found is not None
    fields = InstructionDescriptor(kind, _M, _N, a, b, d, scale_type=scale)
    return TensorExperiment(found, fields, divisor, f".block{block}" if block else "")
