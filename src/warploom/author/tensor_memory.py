"""Tensor memory of Blackwell: allocations, accumulators, matrices A and scale factors."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, cast

from warploom.author import ptx
from warploom.author.control_flow import when
from warploom.author.errors import AuthorError, author_error, errors_at_caller
from warploom.author.instructions import new
from warploom.author.roles import cluster_sync
from warploom.author.roles import warp as warp_number
from warploom.author.tiles import Shared, Tile, TileDescriptor, element_bits, shared
from warploom.author.values import Location, Register
from warploom.layout import InstructionDescriptor, UmmaDescriptor
from warploom.layout.instruction import kind_of
from warploom.layout.tensor_memory import TENSOR_LANES, data_path

_ALL_LANES = -1
_ALL_CTAS = 0xFFFF  # mask of the largest cluster
_ALLOCATIONS = tuple(32 << power for power in range(5))  # numbers of columns
_ACCUMULATORS = ("f32", "f16", "s32")  # types
_OPERANDS = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8")  # types of a matrix A in tensor memory
_WORD_BITS = 32  # bits of a column of a lane
_STORES = tuple(1 << power for power in range(8))  # words that a thread can store with one instruction
_WARPS = 32  # most warps of a CTA
_LANES = 32  # lanes that a warp can access
_CORE_BYTES = 128  # bytes of 8 rows of 16 bytes
_ROWS = 128  # rows whose scale factors one copy moves
_FACTORS = 4  # scale factors of a row that one copy moves
_ATOM = 512  # bytes of the scale factors that one copy moves
_STEP_BYTES = 32  # bytes of a row that one multiplication reads
_REPEATS = {"32x32b": 1, "16x256b": 8}
"""Columns of one repetition of a shape."""
_FACTORS_OF = {"mxf8f6f4": 1, "mxf4": 2, "mxf4nvf4": 4}
"""Scale factors of a row for one multiplication."""
Fragment = Literal["32x32b", "16x256b"]


@dataclass(frozen=True, slots=True)
class TensorMemory:
    """Allocation of `columns` columns of tensor memory, from address `start` on.

    `ctas` is the number of CTAs that allocated together and multiply together, 1 or 2. All methods, and those of the
    accumulators and scale factors in it, belong in the `with` block of the allocation.
    """

    start: Register
    columns: int
    ctas: Literal[1, 2]
    _used: list[int] = field(default_factory=lambda: [0])

    @property
    def group(self) -> Literal["cta_group::1", "cta_group::2"]:
        """Modifier that states the number of CTAs."""
        return "cta_group::1" if self.ctas == 1 else "cta_group::2"

    def accumulator(self, columns: int, type: Literal["f32", "f16", "s32"] = "f32", *, stages: int = 1) -> Accumulator:
        """Reserve columns for `stages` accumulators of `columns` columns each.

        Each element has its own word, even an element of 16 bits. Errors: AuthorError author.tensor_memory.
        """
        if type not in _ACCUMULATORS:
            raise _error(f"an accumulator has the type {type!r}; expected {', '.join(_ACCUMULATORS)}")
        _require_integers(columns=columns, stages=stages)
        first = self._reserve(stages * columns, f"{stages} accumulators of {columns} columns")
        return Accumulator(self, first, columns, type, stages)

    def operand(self, columns: int, type: str) -> TensorOperand:
        """Reserve columns for a matrix A of `columns` elements of K. Errors: AuthorError author.tensor_memory."""
        if type not in _OPERANDS:
            raise _error(f"a matrix A in tensor memory has the type {type!r}; expected {', '.join(_OPERANDS)}")
        _require_integers(columns=columns)
        step = 8 * _STEP_BYTES // element_bits(type)
        if columns % step:
            raise _error(f"a matrix A of type {type} has {columns} columns; expected a multiple of {step}")
        words = columns * element_bits(type) // _WORD_BITS
        return TensorOperand(self, self._reserve(words, f"a matrix A in {words} columns"), columns, type)

    def scales(self, shared_scales: SharedScales) -> TensorScales:
        """Reserve columns for the scale factors of one stage. Errors: AuthorError author.tensor_memory."""
        given = cast("object", shared_scales)
        if not isinstance(given, SharedScales):
            raise _error(f"{_kind_name(given)} has no scale factors; expected a result of `shared_scales`")
        columns = given.atoms * _FACTORS
        return TensorScales(self, self._reserve(columns, f"scale factors in {columns} columns"), given)

    def commit(self, barrier: Location, *, multicast: int | Register | None = None) -> None:
        """Commit the earlier operations of this thread.

        When they are complete, an mbarrier receives an arrival. `barrier` is in shared::cluster. `multicast` is a mask
        of CTAs of the cluster: in each of them, the mbarrier at the same offset receives an arrival. Only one thread
        may execute this.

        Errors: AuthorError author.tensor_memory for a mask that is not in 1 to 0xffff.
        """
        self.require_open()
        words: dict[str, Any] = {}
        if multicast is not None:
            if not isinstance(multicast, Register) and multicast not in range(1, _ALL_CTAS + 1):
                raise _error(f"multicast is {multicast!r}; expected a mask of CTAs, from 1 to {_ALL_CTAS:#x}")
            mask = new("u16", multicast) if isinstance(multicast, int) else multicast
            words = {"multicast": "multicast::cluster", "ctaMask": mask}
        ptx.tcgen05_commit(barrier, cta_group=self.group, ss="shared::cluster", **words)

    def require_open(self) -> None:
        """Refuse a use after the `with` block. Errors: AuthorError author.tensor_memory."""
        if not self._used:
            raise _error("tensor memory is used after its `with` block, which frees it; expected all uses in the block")

    def close(self) -> None:
        """Refuse all further uses."""
        self._used.clear()

    def _reserve(self, columns: int, what: str) -> int:
        self.require_open()
        first = self._used[0]
        if first + columns > self.columns:
            raise _error(
                f"{what} do not fit into tensor memory: {first} of the {self.columns} allocated columns are in use;"
                f" expected at most {self.columns - first} columns"
            )
        self._used[0] += columns
        return first


@contextmanager
def tensor_memory(columns: int, *, warp: int = 0, ctas: Literal[1, 2] = 1) -> Generator[TensorMemory]:
    """Allocate columns of tensor memory for the `with` block, and free them at its end.

    The warp with the index `warp` allocates and frees the memory. With `ctas=2`, this warp in both CTAs of a pair does
    so, and both CTAs execute the multiplications of the block together. All threads must execute the beginning and the
    end of the block, which synchronise the CTA, or the cluster if `ctas` is 2. Writes before the block are visible to
    all threads in it. A kernel allocates once, because the allocation also relinquishes the permit to allocate.

    Errors: AuthorError author.tensor_memory for a number of columns that is no power of two from 32 to 512, for a warp
        that no CTA has, and for `ctas` other than 1 and 2.
    """
    if columns not in _ALLOCATIONS:
        raise _error(
            f"an allocation has {columns!r} columns of tensor memory; expected a power of two from {_ALLOCATIONS[0]} to"
            f" {_ALLOCATIONS[-1]}"
        )
    if warp not in range(_WARPS):
        raise _error(f"warp is {warp!r}; expected the index of a warp in the CTA, from 0 to {_WARPS - 1}")
    if ctas not in (1, 2):
        raise _error(f"ctas is {ctas!r}; expected 1, or 2 for a pair of CTAs")
    columns = int(columns)
    group: Any = f"cta_group::{ctas}"
    slot = shared(4, align=4)
    if ctas == 2:
        cluster_sync()  # the other CTA must have started
    allocates = warp_number() == warp
    with when(allocates, uniform=True):
        ptx.tcgen05_alloc(slot.at(), columns, cta_group=group)
        ptx.tcgen05_relinquish_alloc_permit(cta_group=group)
    _synchronise(ctas)
    start = ptx.ld(slot.at(), type="u32")
    memory = TensorMemory(start, columns, ctas)
    yield memory
    memory.close()
    _synchronise(ctas)
    with when(allocates, uniform=True):
        ptx.tcgen05_dealloc(start, columns, cta_group=group)


def _error(message: str) -> AuthorError:
    return author_error(message, "author.tensor_memory")


def _kind_name(value: object) -> str:
    """Return a phrase with the type of a value, for a message."""
    return f"{'an' if type(value).__name__[0] in 'AEIOU' else 'a'} {type(value).__name__}"


def _require_integers(**values: object) -> None:
    """Refuse values that are no positive integers. Errors: AuthorError author.tensor_memory."""
    for name, value in values.items():
        if not isinstance(value, int) or value < 1:
            raise _error(f"{name} is {value!r}; expected a positive integer")


def _require_index(name: str, value: Register | int, count: int) -> None:
    """Refuse an index outside 0 to `count` - 1. The value of a register is not known."""
    if not isinstance(value, Register) and value not in range(count):
        raise _error(f"{name} is {value!r}; expected {f'0 to {count - 1}' if count > 1 else '0'}")


def _synchronise(ctas: int) -> None:
    ptx.tcgen05_fence_before_thread_sync()
    ptx.bar_warp(_ALL_LANES)  # lanes may arrive here from different branches
    if ctas == 2:
        cluster_sync()
    else:
        ptx.bar(0)
    ptx.tcgen05_fence_after_thread_sync()


@dataclass(frozen=True, slots=True)
class Accumulator:
    """Accumulators in tensor memory, one for each of `stages` stages.

    If a CTA holds 128 rows of A, row r of its D is lane r. With 64 rows and one CTA, row r is lane
    32 (r // 16) + r % 16, and the other lanes are not written. With 64 rows in each CTA of a pair, lanes 0 to 63
    contain the first half of the columns, and lanes 64 to 127 the second half. `wl.layout` shows the lanes.
    """

    memory: TensorMemory
    first: int
    columns: int
    type: str
    stages: int

    def address(self, stage: Register | int = 0, *, lane: Register | int = 0, column: int = 0) -> Register:
        """Return the address of a lane and a column of a stage. Errors: AuthorError author.tensor_memory."""
        self.memory.require_open()
        _require_index("stage", stage, self.stages)
        _require_index("lane", lane, TENSOR_LANES)
        _require_index("column", column, self.columns)
        start = self.memory.start + (self.first + column) if self.first + column else self.memory.start
        if not isinstance(stage, int) or stage:
            start = start + stage * self.columns
        if not isinstance(lane, int) or lane:
            start = start + (lane << 16)
        return start

    def multiply(
        self,
        a: TileDescriptor | TensorOperand,
        b: TileDescriptor,
        *,
        accumulate: Register | bool,
        stage: Register | int = 0,
        scales: tuple[TensorScales, TensorScales] | None = None,
    ) -> None:
        """Issue the multiplications of A and B. Only one thread may execute this.

        `a` contains the rows of A, in shared or tensor memory, and `b` the columns of B, in the shared memory of this
        CTA. In a pair, each CTA has one half of both. If `accumulate` is false, the product replaces D. `scales` are
        the scale factors of A and B. The same thread must have copied them.

        Errors: AuthorError author.multiply for arguments of other types and tiles that do not fit together; the errors
            of an instruction descriptor.
        """
        _check_arguments(a, b, accumulate, scales)
        in_shared = isinstance(a, TileDescriptor)
        tiles, ctas = (a.tile if in_shared else a, b.tile), self.memory.ctas
        if tiles[0].columns != b.tile.columns or b.tile.rows * ctas > self.columns:
            raise author_error(
                f"A has {tiles[0].columns} and B {b.tile.columns} elements of K, and D has {self.columns} columns for"
                f" {b.tile.rows * ctas} columns of B; expected equal K, and at least as many columns",
                "author.multiply",
            )
        with errors_at_caller():
            kind = kind_of(tiles[0].type, b.tile.type, None if scales is None else scales[0].shared.type)
        words: dict[str, Any] = {"cta_group": self.memory.group, "kind": f"kind::{kind}"}
        d = self.address(stage)
        step = 8 * _STEP_BYTES // tiles[0].bits  # elements of K that one instruction multiplies
        if kind == "mxf4nvf4":
            words["scale_vectorsize"] = "block16"
        factors = 0 if scales is None else self._factors(kind, tiles, scales)
        for number, k in enumerate(range(0, b.tile.columns, step)):
            atom, byte = divmod(number * factors, _FACTORS)
            fields = self._instruction(kind, tiles, "" if scales is None else scales[0].shared.type, byte)
            keeps = ptx.setp(0, 0, CmpOp="eq", type="u32") if number else accumulate
            if isinstance(keeps, bool):
                keeps = ptx.setp(int(keeps), 0, CmpOp="ne", type="u32")
            places = [each.address(atom) for each in scales or ()]
            matrix_a = a.at(k) if in_shared else a.address(k).at()
            operands: list[Any] = [d.at(), matrix_a, b.at(k), fields.encode(), *(place.at() for place in places), keeps]
            ptx.tcgen05_mma(*operands, **words)

    def _factors(
        self, kind: str, tiles: Sequence[Tile | TensorOperand], scales: tuple[TensorScales, TensorScales]
    ) -> int:
        """Return the number of factors of a row for one multiplication, or refuse wrong factors."""
        expected = _FACTORS_OF[kind]
        for name, tile, each in zip("AB", tiles, scales, strict=True):
            rows = tile.rows if name == "A" else tile.rows * self.memory.ctas  # each CTA needs all factors of B
            blocks = expected * tile.columns * tile.bits // (8 * _STEP_BYTES)
            found = each.shared
            if (found.rows, found.blocks, found.type) != (rows, blocks, scales[0].shared.type):
                raise author_error(
                    f"scale factors of {name} are {found.rows} by {found.blocks} of type {found.type}; expected {rows}"
                    f" by {blocks} of type {scales[0].shared.type} for {tile.columns} elements of K",
                    "author.multiply",
                )
        return expected

    def _instruction(
        self, kind: str, tiles: Sequence[Tile | TensorOperand], scale_type: str, scale_id: int
    ) -> InstructionDescriptor:
        """Return the instruction descriptor for tiles of A and B."""
        a, b = tiles
        ctas = self.memory.ctas
        majors: Any = ["K" if each.major == "k" else "MN" for each in tiles]
        with errors_at_caller():
            fields = InstructionDescriptor(
                kind, a.rows * ctas, b.rows * ctas, a.type, b.type, self.type, a_major=majors[0], b_major=majors[1],
                scale_type=scale_type, scale_a_id=scale_id, scale_b_id=scale_id,
            )  # fmt: skip
            data_path(fields, ctas)  # raises UsageError for an illegal shape
        return fields

    def load(
        self,
        column: int,
        columns: int,
        *,
        stage: Register | int = 0,
        shape: Fragment = "32x32b",
        half: int = 0,
        wait: bool = True,
    ) -> list[Register]:
        """Load `columns` columns, from `column` on, of the 32 lanes that this warp can access.

        All lanes of the warp must execute this. The warp with the index i in the CTA accesses lanes from 32 (i % 4) on.
        With the shape "32x32b", a thread gets the elements of its lane. With "16x256b", it gets the elements that it
        would get from an accumulator of `mma` for 16 lanes: those from 16 `half` on. `wl.layout` shows the fragments.
        An element of f16 is in the lower half of its register. Without `wait`, the registers are undefined until
        `tcgen05_wait_ld`.

        Errors: AuthorError author.tensor_memory.
        """
        if shape not in _REPEATS:
            raise _error(f"the shape of a load is {shape!r}; expected {' or '.join(_REPEATS)}")
        unit = _REPEATS[shape]
        _require_index("half", half, 1 if unit == 1 else 2)
        legal = [unit << power for power in range(8 if unit == 1 else 6)]
        if columns not in legal or column not in range(self.columns - columns + 1):
            raise _error(
                f"a load of shape {shape} reads {columns!r} columns from column {column!r} on, of {self.columns};"
                f" expected a power of two from {legal[0]} to {legal[-1]} columns, inside the accumulator"
            )
        count = columns // unit
        lane = (warp_number() & 3) * _LANES
        place = self.address(stage, lane=lane + 16 * half if half else lane, column=column)
        name: Any = f"x{count}"
        found: Any = ptx.tcgen05_ld(place.at(), shape=shape, num=name)
        if wait:
            ptx.tcgen05_wait_ld()
        return [*cast("tuple[Register, ...]", found)] if isinstance(found, tuple) else [found]


def _check_arguments(a: object, b: object, accumulate: object, scales: object) -> None:
    """Refuse arguments of `Accumulator.multiply` with wrong types. Errors: AuthorError author.multiply."""
    for name, each in (("A", a), ("B", b)):
        if not (isinstance(each, TileDescriptor) or (name == "A" and isinstance(each, TensorOperand))):
            other = ", or a result of memory.operand" if name == "A" else ""
            raise author_error(
                f"{name} is {_kind_name(each)}; expected the descriptor of a tile, as in tile.descriptor(){other}",
                "author.multiply",
            )
    if not isinstance(accumulate, (Register, bool)):
        raise author_error(f"accumulate is {accumulate!r}; expected True, False or a predicate", "author.multiply")
    pair = cast("tuple[object, ...]", scales) if isinstance(scales, tuple) else ()
    if scales is not None and not (len(pair) == 2 and all(isinstance(each, TensorScales) for each in pair)):
        found = f"({', '.join(map(_kind_name, pair))})" if pair else _kind_name(cast("object", scales))
        raise author_error(
            f"scales is {found}; expected a tuple of the factors of A and of B, both from `memory.scales`",
            "author.multiply",
        )


# Matrices A -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TensorOperand:
    """Matrix A in tensor memory: 128 rows in each CTA, with `columns` elements of K.

    Row r is in lane r. Adjacent elements of a row share a column of tensor memory, the first one in the lowest bits.
    """

    memory: TensorMemory
    first: int
    columns: int
    type: str

    rows: ClassVar[int] = TENSOR_LANES
    major: ClassVar[Literal["k"]] = "k"

    @property
    def bits(self) -> int:
        """Size of an element. Units: bits."""
        return element_bits(self.type)

    def address(self, k: int = 0, *, lane: Register | int = 0) -> Register:
        """Return the address of element `k` of a row. Errors: AuthorError author.tensor_memory."""
        self.memory.require_open()
        _require_index("k", k, self.columns)
        _require_index("lane", lane, TENSOR_LANES)
        start = self.memory.start + (self.first + k * self.bits // _WORD_BITS)
        return start if isinstance(lane, int) and not lane else start + (lane << 16)

    def store(self, k: int, words: Sequence[Register]) -> None:
        """Store words of adjacent elements, from element `k` on, in the row that each thread can access.

        All lanes of the warp must execute this. The warp with the index i in the CTA stores rows from 32 (i % 4) on. A
        register has the bits of one word. The method waits for the store. Before another thread multiplies, the storing
        threads must execute `tcgen05_fence_before_thread_sync`, then all a barrier, and then that thread
        `tcgen05_fence_after_thread_sync`.

        Errors: AuthorError author.tensor_memory.
        """
        count, width = len(words), self.columns * self.bits // _WORD_BITS
        first, rest = divmod(k * self.bits, _WORD_BITS)
        if count not in _STORES or rest or first not in range(width - count + 1):
            raise _error(
                f"a store writes {count} words from element {k!r} on, of {self.columns} elements of {self.bits} bits;"
                f" expected a power of two from {_STORES[0]} to {_STORES[-1]} words, inside the matrix"
            )
        lane = (warp_number() & 3) * _LANES
        name: Any = f"x{count}"
        ptx.tcgen05_st(self.address(k, lane=lane).at(), [*words], shape="32x32b", num=name)
        ptx.tcgen05_wait_st()


# Scale factors --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SharedScales:
    """Scale factors of the rows of A, or of B transposed, in shared memory, for each of `stages` stages.

    A row has `blocks` factors of type `type`, "ue8m0" or "ue4m3". The layout is that of cuBLAS: atoms of 512 bytes for
    128 rows and 4 factors, in which row r, factor f is byte 16 (r % 32) + 4 (r // 32) + f. The atoms of 128 rows are
    neighbours. Shapes: (rows / 128, blocks / 4, 32, 16), with rows / 128 rounded up.
    """

    rows: int
    blocks: int
    type: str
    stages: int
    memory: Shared

    @property
    def atoms(self) -> int:
        """Number of atoms of a stage."""
        return -(-self.rows // _ROWS) * self.blocks // _FACTORS

    @property
    def bytes(self) -> int:
        """Size of a stage. Units: bytes."""
        return self.atoms * _ATOM

    def load(
        self,
        tensor: Register,
        origin: tuple[Register | int, ...],
        barrier: Location,
        stage: Register | int = 0,
        *,
        pair: bool = False,
    ) -> None:
        """Copy the factors from `origin` of a tensor into a stage.

        `origin` has the number of the atom along K, its number along the rows, and a coordinate for each further axis.
        The tensor has the shape (..., rows / 128, blocks / 4, 32, 16), and its box is one stage. `pair` is that of
        `Tile.load`.
        """
        _require_index("stage", stage, self.stages)
        target = self.memory.address() + stage * self.bytes
        words: dict[str, Any] = {"cta_group": "cta_group::2"} if pair else {}
        source = Location(tensor, coordinates=(0, 0, *origin))
        to = target.at(space="shared::cluster")
        words["dim"] = f"{len(origin) + 2}d"
        ptx.cp_async_bulk_tensor(to, source, barrier, dst="shared::cluster", **words)


def shared_scales(rows: int, blocks: int, type: str = "ue8m0", *, stages: int = 1) -> SharedScales:
    """Allocate shared memory for scale factors (see `SharedScales`). Errors: AuthorError author.tile."""
    if rows < 1 or blocks % _FACTORS or blocks < 1 or type not in ("ue8m0", "ue4m3"):
        raise author_error(
            f"{rows} rows have {blocks} scale factors of type {type}; expected a multiple of {_FACTORS} factors of type"
            " ue8m0 or ue4m3",
            "author.tile",
        )
    size = stages * -(-rows // _ROWS) * blocks // _FACTORS * _ATOM
    return SharedScales(rows, blocks, type, stages, shared(size, align=128))


@dataclass(frozen=True, slots=True)
class TensorScales:
    """Scale factors of one stage in tensor memory. Each 32 lanes have a copy.

    `skipped` is the number of columns of tensor memory before the first factors.
    """

    memory: TensorMemory
    first: int
    shared: SharedScales
    skipped: Register | None = None

    def address(self, atom: int) -> Register:
        """Return the address of the factors of all rows from factor 4 `atom` on."""
        self.memory.require_open()
        start = self.memory.start + (self.first + atom * (-(-self.shared.rows // _ROWS) * _FACTORS))
        return start if self.skipped is None else start + self.skipped

    def from_row(self, row: Register) -> TensorScales:
        """Return the factors from a row on. `row` must be a multiple of 32."""
        return replace(self, skipped=row >> 5)

    def copy(self, stage: Register | int = 0) -> None:
        """Copy the factors of a stage from shared memory. Only one thread may execute this.

        Later multiplications of the thread use the new factors, and earlier ones the previous factors. With a pair,
        each CTA copies the factors in its own shared memory.
        """
        given = self.shared
        _require_index("stage", stage, given.stages)
        whole, groups, along = replace(self, skipped=None), -(-given.rows // _ROWS), given.blocks // _FACTORS
        low, high = (UmmaDescriptor(0, 0, _CORE_BYTES).encode() >> shift & 0xFFFFFFFF for shift in (0, 32))
        start = (given.memory.address() & 0x3FFFF) >> 4
        base = (start | low if low else start) + stage * (given.bytes >> 4)
        for group in range(groups):
            for atom in range(along):
                number = group * along + atom
                place = base + number * (_ATOM >> 4) if number else base
                target = whole.address(atom) + group * _FACTORS if group else whole.address(atom)
                ptx.tcgen05_cp(
                    target.at(), ptx.mov((place, high), type="b64"), cta_group=self.memory.group, shape="32x128b",
                    multicast="warpx4",
                )  # fmt: skip
