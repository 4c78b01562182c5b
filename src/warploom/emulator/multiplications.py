"""Execution of matrix multiplications, as described by the records in `isa.model.multiplication`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.batch import Batch, Rows
from warploom.emulator.register_products import Group, group
from warploom.isa.instructions.fragments import Matrix, gather, scatter
from warploom.isa.model.multiplication import BlockScales, Metadata, Multiplication, RegisterMatrix, SharedMatrix
from warploom.isa.model.semantics import Array, Bound, Warps
from warploom.layout import scale_factors
from warploom.numerics.formats import STORAGE
from warploom.numerics.fused import Multiplier, multiplier, shares

_SIX_BITS = frozenset({"e3m2", "e2m3"})

# Synchronous multiplications --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """Adjacent multiplications of matrices in registers, which do not read results of each other.

    `groups` contains all multiplications, and `length` is their number.
    """

    groups: tuple[Group, ...]
    length: int

    def __len__(self) -> int:
        return self.length


def run_of(products: Sequence[Multiplication], arch: str) -> Run:
    """Return the run of adjacent multiplications. `arch` selects the numerics."""
    return Run(group(products, arch), len(products))


def multiply(warps: Warps, i: Bound) -> None:
    """Execute one multiplication of matrices in registers."""
    _multiply_all(warps, (i.multiplication,))


def multiply_run(warps: Warps, run: Run) -> None:
    """Execute adjacent multiplications of matrices in registers, on the worker threads."""
    batch = cast("Batch", warps)
    for each in run.groups:
        if each.call is None or batch.mask is not None:
            _multiply_all(warps, each.products)
        else:
            _call(warps, batch.warp_index, each.call, warps.count * each.macs)


def _call(warps: Warps, index: Rows, call: Callable[[Rows], object], macs: int) -> None:
    warps.each(lambda part: call(index[part]), shares(warps.pool(), warps.count, macs))
    warps.count_macs(macs)


def _multiply_all(warps: Warps, products: Sequence[Multiplication]) -> None:
    """Execute independent multiplications one by one."""
    workers = warps.pool() if len(products) == 1 else None
    results = warps.each(lambda product: _result(warps, product, workers), products)
    for product, result in zip(products, results, strict=True):
        _write(warps, product, result)


def _result(warps: Warps, product: Multiplication, workers: Any = None) -> Matrix:
    a, b, c = product.a, product.b, product.c
    assert isinstance(a, RegisterMatrix)
    assert isinstance(b, RegisterMatrix)
    scale_a, scale_b = (None, None) if product.scales is None else (_scales(warps, each) for each in product.scales)
    return _multiplier(product, warps.arch)(
        _read(warps, a), _read(warps, b, transposed=True), _read(warps, c),
        index=None if product.metadata is None else _index(warps, product.metadata),
        scale_a=scale_a, scale_b=scale_b, workers=workers,
    )  # fmt: skip


@lru_cache(maxsize=1024)
def _multiplier(product: Multiplication, arch: str) -> Multiplier:
    return multiplier(product.model(arch), product.negate_a, product.negate_b, product.satfinite, product.rounding)


def _read(warps: Warps, matrix: RegisterMatrix, *, transposed: bool = False) -> Matrix:
    """Return the matrices in the registers of a batch.

    Narrow elements are extracted from their 8-bit containers. Source: PTX ISA 9.7.14.5.14.
    """
    found = gather(warps, matrix.registers, matrix.map, matrix.element, transposed=transposed)
    if matrix.padded and matrix.element == "e2m1":
        return found >> 2 & 15  # the middle four bits of the container
    return found & 63 if matrix.padded and matrix.element in _SIX_BITS else found


def _write(warps: Warps, product: Multiplication, d: Matrix) -> None:
    scatter(warps, product.d.registers, product.d.map, product.d.element, d)
    warps.count_macs(d.size * product.k)


def _index(warps: Warps, metadata: Metadata) -> NDArray[np.int16]:
    words = np.broadcast_to(warps.read(metadata.registers), (warps.count, 32))
    if metadata.map.rows == 64:
        words = words[warps.warpgroups()].reshape(-1, 128)
    return metadata.map.decode(words)


def _scales(warps: Warps, scales: BlockScales) -> Matrix:
    """Return the block scale factors of A or B. Shapes: (warps, M or N, factors of a row)."""
    registers = np.broadcast_to(warps.read(scales.registers), (warps.count, 32))
    bytes_, threads = (
        np.broadcast_to(warps.read(selector), (warps.count, 32))[:, 0]
        for selector in (scales.byte_id, scales.thread_id)
    )
    if (bytes_ == bytes_[0]).all() and (threads == threads[0]).all():  # the usual case: compilers write constants
        return scale_factors(scales.operand, scales.vectors, int(bytes_[0]), int(threads[0])).gather(registers)
    factors = np.empty((warps.count, 16 if scales.operand == "A" else 8, scales.vectors), np.uint8)
    for byte, thread in np.unique(np.stack([bytes_, threads], axis=1), axis=0).tolist():
        chosen = (bytes_ == byte) & (threads == thread)
        factors[chosen] = scale_factors(scales.operand, scales.vectors, byte, thread).gather(registers[chosen])
    return factors


# Asynchronous multiplications -------------------------------------------------------------------------------


def issue(warps: Warps, i: Bound) -> None:
    """Issue one asynchronous warpgroup multiplication."""
    issue_run(warps, (i,))


def issue_run(warps: Warps, run: Sequence[Bound]) -> None:
    """Issue adjacent warpgroup multiplications as one asynchronous operation."""
    products: list[Multiplication] = [i.multiplication for i in run]
    captured = {
        matrix.name: _captured(warps, [each.shared[number].descriptor for each in products])
        for number, matrix in enumerate(products[0].shared)
    }
    captured["keeps"] = _captured(warps, [each.keeps for each in products])  # read at issue, unlike the matrices
    warps.defer("multiplication", lambda batch, values: _execute(batch, products, values), captured)


def _captured(warps: Warps, operands: Sequence[Any]) -> Array:
    return np.stack([np.broadcast_to(warps.read(each), (warps.count, 32)) for each in operands], axis=2)


def _execute(warps: Warps, products: Sequence[Multiplication], captured: Mapping[str, Array]) -> None:
    """Execute multiplications that have been issued.

    `captured` contains the operands that were read at issue. Shapes: each array (warps, 32, products).
    """
    leaders = warps.warpgroups()[:, 0]
    values = {name: array[leaders, 0] for name, array in captured.items()}
    keeps = values.pop("keeps").astype(np.bool_)
    first = 0
    while first < len(products):
        end = first + 1
        while end < len(products) and products[end].continues(products[end - 1]) and keeps[:, end].all():
            end += 1
        descriptors = {name: array[:, first:end] for name, array in values.items()}
        _accumulate(warps, products[first], descriptors, keeps[:, first])
        first = end


def _accumulate(
    warps: Warps, product: Multiplication, descriptors: Mapping[str, Array], keeps: NDArray[np.bool_]
) -> None:
    """Add A B to the accumulators. Accumulators with `keeps` False are first set to zero.

    `descriptors` contains the matrix descriptors of A and B by the name of the matrix.

    Shapes: descriptors (warpgroups, steps along K); keeps (warpgroups,).
    """
    groups = warps.warpgroups()
    a, d = product.a, product.d
    registers = None if isinstance(a, SharedMatrix) else _read(warps, a)
    index = None if product.metadata is None else _index(warps, product.metadata)
    macs = len(groups) * d.map.rows * d.map.cols * product.k * descriptors["B"].shape[1]
    parts = shares(warps.pool(), len(groups), macs)

    def operands(part: slice) -> tuple[Matrix, Matrix]:
        found = {each.name: _read_tiles(warps, each, descriptors[each.name][part], part) for each in product.shared}
        return found["A"] if registers is None else registers[part], found["B"]

    matrices = warps.each(operands, parts)

    def change(units: Matrix) -> list[Callable[[], object]]:
        accumulators = units.view(STORAGE[d.element]).reshape(-1, *d.map.matrix_shape)
        if not keeps.all():
            accumulators[~keeps] = 0
        addends = accumulators if keeps.any() else None
        return [
            partial(
                _multiplier(product, warps.arch), part_a, part_b, None if addends is None else addends[part],
                index=None if index is None else index[part], out=accumulators[part],
                workers=warps.pool() if len(parts) == 1 else None,
            )
            for part, (part_a, part_b) in zip(parts, matrices, strict=True)
        ]  # fmt: skip

    order = d.map.order()
    assert order is not None, "accumulators have whole elements, each in one register"
    warps.update_fragment(d.registers, order, change)
    warps.count_macs(macs)


def _read_tiles(warps: Warps, matrix: SharedMatrix, descriptors: NDArray[np.uint64], part: slice) -> Matrix:
    """Return a matrix for each warpgroup in `part`, joined from the tiles of its descriptors.

    Shapes: descriptors (warpgroups, steps), result (warpgroups, rows, steps * K of a tile).
    """
    fields = descriptors >> np.uint64(14)
    starts = (descriptors.astype(np.int64) & 0x3FFF) << 4
    transposed = matrix.major == "MN"
    if (fields == fields[0, 0]).all():  # descriptors seldom differ in more than their start addresses
        words = warps.shared_tile(starts, *matrix.offsets(int(fields[0, 0])), part, transposed)
    else:
        words = _read_each(warps, matrix, fields, starts, part)
    elements = words.view(STORAGE[matrix.element])
    return np.ascontiguousarray(elements.swapaxes(1, 2)) if transposed else elements


def _read_each(warps: Warps, matrix: SharedMatrix, fields: Array, starts: Array, part: slice) -> Array:
    numbers = np.arange(len(warps.warpgroups()))[part]
    steps: list[Array] = []
    for step in range(fields.shape[1]):
        words: Array | None = None
        for kind in np.unique(fields[:, step]):
            some = np.flatnonzero(fields[:, step] == kind)
            tile = warps.shared_tile(starts[some, step, None], *matrix.offsets(int(kind)), numbers[some], False)
            if words is None:
                words = np.empty((len(fields), *tile.shape[1:]), np.uint64)
            words[some] = tile
        assert words is not None
        steps.append(words)
    return np.concatenate(steps, axis=1 if matrix.major == "MN" else 2)
