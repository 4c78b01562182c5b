"""Execution of the matrix multiplications that records of `isa.model.multiplication` describe.

The multiplications of a run are adjacent in the program and execute together. Those of matrices in registers are
independent of each other. Those of a warpgroup (wgmma) form chains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.batch import Batch, Rows
from warploom.emulator.register_products import Group, group
from warploom.emulator.tile_products import TileProducts
from warploom.emulator.values import Constant, NotPredicate, Register, VectorValue, registers_of
from warploom.isa.instructions.fragments import Matrix, gather, scatter
from warploom.isa.model.multiplication import BlockScales, Metadata, Multiplication, RegisterMatrix, SharedMatrix
from warploom.isa.model.semantics import Array, Bound, Value, Warps
from warploom.layout import Order, scale_factors
from warploom.lazy_dataclass import dataclass
from warploom.numerics.formats import STORAGE
from warploom.numerics.fused import Multiplier, multiplier, shares

_SIX_BITS = frozenset({"e3m2", "e2m3"})

# Synchronous multiplications --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """Adjacent multiplications of matrices in registers, none of which reads a result of another.

    One compiled call executes all multiplications of a group in `groups`. `length` is the number of multiplications.
    """

    groups: tuple[Group, ...]
    length: int

    def __len__(self) -> int:
        return self.length

    @property
    def is_compiled(self) -> bool:
        """True if compiled functions exist for all groups."""
        return all(each.call is not None for each in self.groups)

    @classmethod
    def of(cls, products: Sequence[Multiplication], arch: str) -> Run:
        """Group adjacent multiplications. `arch` selects the numerics."""
        return cls(group(products, arch), len(products))

    def execute(self, warps: Warps) -> None:
        """Execute the multiplications, on the worker threads if there are any."""
        batch = cast("Batch", warps)
        for each in self.groups:
            if each.call is None or batch.mask is not None:
                _multiply_all(warps, each.products)
            else:
                _call(warps, batch.warp_index, each.call, warps.count * each.macs)


def multiply(warps: Warps, i: Bound) -> None:
    """Execute one multiplication of matrices in registers."""
    _multiply_all(warps, (i.multiplication,))


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
    AsyncRun.of([i.multiplication]).execute(warps)


@dataclass(frozen=True, slots=True)
class Chain:
    """Warpgroup multiplications of a run that add to the same accumulators, one after the other.

    They are executed as one multiplication of their matrices A and B, joined along K. `steps` selects them in the run.
    If there are several with A in registers, `a` has the registers of the joined A, and the order of its elements in
    them. `order` is the order of the accumulators in their registers.
    """

    products: Sequence[Multiplication]
    steps: slice
    a: tuple[VectorValue, Order] | None
    order: Order

    @classmethod
    def of(cls, products: Sequence[Multiplication], start: int) -> Chain:
        """Return the chain of `products`, which begins at index `start` of its run."""
        matrices = [each.a for each in products if isinstance(each.a, RegisterMatrix)]
        a = _join_along_k(matrices) if len(matrices) > 1 else None
        order = products[0].d.map.order()
        assert order is not None, "accumulators have whole elements, each in one register"
        return cls(products, slice(start, start + len(products)), a, order)

    @property
    def macs(self) -> int:
        """Number of multiply-accumulate operations of a warpgroup."""
        first = self.products[0]
        return len(self.products) * first.d.map.rows * first.d.map.cols * first.k

    @property
    def registers(self) -> list[tuple[VectorValue, Order]] | None:
        """Registers of D and of an A in registers, each with the order of the elements in them.

        None if an item of a vector is not a register of full width, or if a matrix has no order.
        """
        a = self.products[0].a
        found: list[tuple[Value, Order | None]] = [(self.products[0].d.registers, self.order)]
        if isinstance(a, RegisterMatrix):
            found.append(self.a or (a.registers, a.map.order()))
        vectors = [(value, order) for value, order in found if isinstance(value, VectorValue) and order is not None]
        return vectors if len(vectors) == len(found) and all(value.file is not None for value, _ in vectors) else None

    def can_execute_with(self, other: Chain) -> bool:
        """Return True if the accumulators of both chains are the same registers, or have no common register."""
        own, others = (each.products[0].d.registers for each in (self, other))
        return own == others or registers_of(own).isdisjoint(registers_of(others))

    def has_form_of(self, other: Chain) -> bool:
        """Return True if both chains read A and B from shared memory, and differ in operands only."""
        one, before = self.products[0], other.products[0]
        return (
            len(self.products) == len(other.products)
            and len(one.shared) == len(before.shared) == 2
            and [each.major for each in one.shared] == [each.major for each in before.shared]
            and one.arithmetic == before.arithmetic
            and (one.negate_a, one.negate_b) == (before.negate_a, before.negate_b)
        )

    def parts(self) -> list[Chain]:
        """Return a chain for each multiplication."""
        return [Chain.of([product], number) for number, product in enumerate(self.products, self.steps.start)]


def _join_along_k(matrices: Sequence[RegisterMatrix]) -> tuple[VectorValue, Order]:
    """Join matrices along K. Return the registers of the joined matrix, and the order of its elements."""
    first, count = matrices[0], len(matrices)
    one = first.map.order()
    assert one is not None
    row = np.uint64(one.target.size * one.warps // first.map.matrix_shape[0])  # units in a row of one matrix
    number = np.arange(count, dtype=np.uint64)[:, None, None]
    target = one.target // row * (count * row) + number * row + one.target % row
    vectors = [matrix.registers for matrix in matrices]
    items = tuple(item for vector in vectors if isinstance(vector, VectorValue) for item in vector.items)
    order = Order(one.dtype, one.warps, np.ascontiguousarray(target.reshape(-1, one.target.shape[1])))
    return VectorValue(first.registers.type, items), order


@dataclass(frozen=True, slots=True)
class AsyncRun:
    """Adjacent warpgroup multiplications, which are issued together.

    `groups` has all chains in program order. One compiled call may execute all chains of a group. `operands` has the
    matrix descriptors of all multiplications as "A" and "B", and their predicates scale-d as "keeps". `length` is the
    number of multiplications.
    """

    groups: list[list[Chain]]
    operands: dict[str, VectorValue]
    length: int

    def __len__(self) -> int:
        return self.length

    @classmethod
    def of(cls, products: Sequence[Multiplication]) -> AsyncRun:
        """Divide adjacent multiplications into chains and groups."""
        edges = [number for number in range(1, len(products)) if not _continues(products[number], products[number - 1])]
        operands = {
            matrix.name: VectorValue("b64", tuple(each.shared[number].descriptor for each in products))
            for number, matrix in enumerate(products[0].shared)
        }
        operands["keeps"] = VectorValue("pred", tuple(each.keeps for each in products))
        chains = [Chain.of(products[start:end], start) for start, end in pairwise([0, *edges, len(products)])]
        groups = [[chains[0]]]
        for chain in chains[1:]:
            if chain.has_form_of(groups[-1][0]) and all(map(chain.can_execute_with, groups[-1])):
                groups[-1].append(chain)
            else:
                groups.append([chain])
        return cls(groups, operands, len(products))

    @property
    def macs(self) -> int:
        """Number of multiply-accumulate operations of a warpgroup."""
        return sum(chain.macs for chains in self.groups for chain in chains)

    def tile_products(self, arch: str) -> list[TileProducts] | None:
        """Return the compiled call for each group, or None if native code cannot execute the run.

        `arch` selects the numerics.
        """
        operands = [item for vector in self.operands.values() for item in vector.items]
        if not all(isinstance(each, (Register, NotPredicate, Constant)) for each in operands):
            return None
        if any(chain.registers is None for group in self.groups for chain in group):
            return None
        found: list[TileProducts] = []
        for first, *_ in self.groups:
            products = _tile_products(first.products[0], len(first.products), arch)
            if products is None:
                return None
            found.append(products)
        return found

    def execute(self, warps: Warps) -> None:
        """Issue the multiplications as one asynchronous operation."""
        # The descriptors and predicates are read at issue, unlike the matrices.
        captured = {name: warps.read_first_lane(vector) for name, vector in self.operands.items()}
        warps.defer("multiplication", lambda batch, values: _execute(batch, self.groups, values), captured)


def _continues(product: Multiplication, before: Multiplication) -> bool:
    """Return True if a multiplication belongs to the chain of the multiplication before it."""
    a = product.a
    if isinstance(a, RegisterMatrix) and (a.map.order() is None or getattr(a.registers, "file", None) is None):
        return False
    return product.continues(before)


def _execute(warps: Warps, groups: Sequence[Sequence[Chain]], captured: Mapping[str, Array]) -> None:
    """Execute multiplications that have been issued.

    `captured` contains the operands that were read at issue. Shapes: each array (warps, multiplications).
    """
    leaders = warps.warpgroups()[:, 0]
    values = {name: array[leaders] for name, array in captured.items()}
    keeps = values.pop("keeps")
    all_keep: list[bool] = np.logical_and.reduce(keeps).tolist()
    for chains in groups:
        add = all(all(all_keep[chain.steps][1:]) for chain in chains)
        if add and _accumulate_together(warps, chains, values, keeps):
            continue
        for chain in chains:
            for each in [chain] if all(all_keep[chain.steps][1:]) else chain.parts():
                descriptors = {name: array[:, each.steps] for name, array in values.items()}
                first = each.steps.start
                _accumulate(warps, each, descriptors, None if all_keep[first] else ~keeps[:, first])


def _accumulate_together(warps: Warps, chains: Sequence[Chain], values: Mapping[str, Array], keeps: Array) -> bool:
    """Add A B to the accumulators of several chains with one compiled call.

    Return False if there is no such call. `values` contains the matrix descriptors of all multiplications by the name
    of the matrix, and `keeps` a predicate for each of them. Shapes: each array (warpgroups, multiplications).
    """
    # With workers, the operands are read here, and the arithmetic runs while the emulator continues.
    first, steps = chains[0].products[0], len(chains[0].products)
    products = None if warps.pool() is not None else _tile_products(first, steps, warps.arch)
    if products is None:
        return False
    part = slice(chains[0].steps.start, chains[-1].steps.stop)
    shape = len(keeps), len(chains), steps
    descriptors = {name: np.ascontiguousarray(array[:, part]).reshape(shape) for name, array in values.items()}
    targets = [(chain.products[0].d.registers, chain.order) for chain in chains]
    registers = _registers_of_a(warps, chains[0])
    kept = np.ascontiguousarray(keeps[:, part][:, ::steps])
    if not warps.multiply_tiles(products, targets, descriptors, registers, kept):
        return False
    warps.count_macs(len(keeps) * len(chains) * chains[0].macs)
    return True


_tile_products = lru_cache(maxsize=1024)(TileProducts.of)


def _accumulate(
    warps: Warps, chain: Chain, descriptors: Mapping[str, Array], cleared: NDArray[np.bool_] | None
) -> None:
    """Add A B to the accumulators of a chain.

    The accumulators in the mask `cleared` are first set to zero. `descriptors` contains the matrix descriptors of A and
    B by the name of the matrix.

    Shapes: descriptors (warpgroups, steps along K); cleared (warpgroups,).
    """
    product = chain.products[0]
    d, groups = product.d, len(descriptors["B"])
    registers = _registers_of_a(warps, chain)
    index = None if product.metadata is None else _index(warps, product.metadata)
    macs = groups * chain.macs
    parts = shares(warps.pool(), groups, macs)

    def operands(part: slice) -> tuple[Matrix, Matrix]:
        found = {each.name: _read_tiles(warps, each, descriptors[each.name][part], part) for each in product.shared}
        return found["A"] if registers is None else registers[part], found["B"]

    matrices = warps.each(operands, parts)

    def change(matrices_d: Matrix) -> list[Callable[[], object]]:
        accumulators = matrices_d.view(STORAGE[d.element]).reshape(-1, *d.map.matrix_shape)
        return [
            partial(
                _multiplier(product, warps.arch), part_a, part_b, accumulators[part],
                index=None if index is None else index[part], out=accumulators[part],
                workers=warps.pool() if len(parts) == 1 else None,
            )
            for part, (part_a, part_b) in zip(parts, matrices, strict=True)
        ]  # fmt: skip

    warps.update_fragment(d.registers, chain.order, change, cleared)
    warps.count_macs(macs)


def _registers_of_a(warps: Warps, chain: Chain) -> Matrix | None:
    """Return the joined matrix A of each warpgroup if it is in registers, else None."""
    a = chain.products[0].a
    if isinstance(a, SharedMatrix):
        return None
    if chain.a is None:
        return _read(warps, a)
    units = warps.read_fragment(*chain.a)
    return units.view(STORAGE[a.element]).reshape(len(units), a.map.matrix_shape[0], -1)


def _read_tiles(warps: Warps, matrix: SharedMatrix, descriptors: NDArray[np.uint64], part: slice) -> Matrix:
    """Return a matrix for each warpgroup in `part`, joined from the tiles of its descriptors.

    Shapes: descriptors (warpgroups, steps), result (warpgroups, rows, steps * K of a tile).
    """
    fields = descriptors >> np.uint64(14)
    transposed = matrix.major == "MN"
    if (fields == fields[0, 0]).all():  # descriptors seldom differ in more than their start addresses
        words = warps.shared_tile(descriptors, *matrix.chunks(int(fields[0, 0])), part, transposed)
    else:
        words = _read_each(warps, matrix, descriptors, fields, part)
    return words.view(STORAGE[matrix.element])


def _read_each(warps: Warps, matrix: SharedMatrix, descriptors: Array, fields: Array, part: slice) -> Array:
    numbers = np.arange(len(warps.warpgroups()))[part]
    steps: list[Array] = []
    for step in range(fields.shape[1]):
        words: Array | None = None
        for kind in np.unique(fields[:, step]):
            some = np.flatnonzero(fields[:, step] == kind)
            found = matrix.chunks(int(kind))
            tile = warps.shared_tile(descriptors[some, step, None], *found, numbers[some], matrix.major == "MN")
            if words is None:
                words = np.empty((len(fields), *tile.shape[1:]), np.uint64)
            words[some] = tile
        assert words is not None
        steps.append(words)
    return np.concatenate(steps, axis=2)
