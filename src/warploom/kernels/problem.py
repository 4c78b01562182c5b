"""One multiplication: sizes, types and majors of its matrices, read from arrays of any library."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from warploom.check.header import find_target
from warploom.diagnostics import UsageError
from warploom.isa.model.capacity import shared_bytes
from warploom.isa.model.types import TYPES
from warploom.kernels.plan import SUMS, Epilogue, size_of
from warploom.kernels.warp_level import plan as warp_level
from warploom.layout import strided

_WORDS = {
    "float32": "tf32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
    "int8": "s8",
    "uint8": "u8",
    "int32": "s32",
}
_RESULT = {"tf32": "f32", "s8": "s32", "u8": "s32", "e4m3": "bf16", "e5m2": "bf16"}
_LONGEST = 2**31 - 256  # bytes along K that a kernel with counters of 32 bits goes through
_ROW = 16  # bytes: what the address and the strides of a tensor that TMA reads are multiples of


@dataclass(frozen=True, slots=True)
class Problem:
    """`batch` times D (M, N) = A (M, K) by B (K, N); the operands in `common` are the same each time.

    Where rows go by `groups`, each is that with its own rows of A and D; M is all of them. Of a sparse A half is
    stored.
    """

    m: int
    n: int
    k: int
    batch: int
    a: str
    b: str
    a_major: str
    b_major: str
    batched: bool = False
    common: str = ""
    groups: int = 0
    sparse: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of D."""
        return (self.batch, self.m, self.n) if self.batched else (self.m, self.n)

    def sums(self, wanted: str = "") -> str:
        """The type of the sums: the one that is wanted, or the widest. Errors: UsageError kernels.type."""
        there = SUMS.get((self.a, self.b))
        if there is None:
            raise UsageError(f"no products of {self.a} by {self.b}", code="kernels.type")
        return wanted or there[0]

    def result(self, sums: str) -> str:
        """The type that D has if nobody asks for one."""
        return sums if sums == "f16" else _RESULT.get(self.a, self.a)

    def pitch(self, type_word: str) -> int:
        """Elements from a row of a new D to the next: whole 16 bytes."""
        per_row = _ROW // size_of(type_word)
        return -(-self.n // per_row) * per_row

    def is_ragged(self, type_word: str) -> bool:
        """Whether rows of N elements do not end with whole 16 bytes."""
        return type_word in TYPES and self.n * size_of(type_word) % _ROW != 0

    def warp_level(
        self,
        target: str,
        *,
        sums: str = "",
        d: str = "",
        epilogue: Epilogue,
        promoted: bool = False,
        tile: warp_level.WarpTile | None = None,
        processors: int = warp_level.PROCESSORS,
    ) -> warp_level.Plan:
        """A plan for it on a target without warpgroup multiplication: every one from sm_80 on but sm_90a.

        Where no tile is given, it is the one that so many processors (SMs) should be done with first.
        Errors: UsageError kernels.plan, kernels.type.
        """
        chosen = self.sums(sums)
        result = d or self.result(chosen)
        if self.k * size_of(self.a) > _LONGEST:
            raise UsageError(
                f"rows of {self.k * size_of(self.a)} bytes along K; expected {_LONGEST} at most",
                code="kernels.plan",
            )
        ragged = self.is_ragged(result) or (bool(epilogue.addend) and self.is_ragged(epilogue.addend))
        number, wanted = find_target(target).number, tile or warp_level.WarpTile()
        if tile is None and number >= warp_level.OLDEST:
            most = shared_bytes(number)
            wanted = warp_level.tile_for(self.m, self.n, self.batch, processors, most)
        return warp_level.Plan(
            target,
            self.a,
            self.b,
            chosen,
            result,
            self.a_major,
            self.b_major,
            ragged,
            wanted,
            epilogue,
            promoted,
        )


class Arrays(NamedTuple):
    """What a multiplication is given; None for what is not there."""

    a: Any
    b: Any
    c: Any = None
    out: Any = None
    row_scales: Any = None
    column_scales: Any = None
    bias: Any = None
    metadata: Any = None
    ends: Any = None

    def missing(self, *names: str) -> tuple[str, ...]:
        """Those of the names that nothing is given for."""
        return tuple(name for name in names if getattr(self, name) is None)


def type_word(array: Any, name: str) -> str:
    """The type of an array's elements, as instructions call it. Errors: UsageError kernels.type."""
    word = strided(array).dtype.name
    if word not in _WORDS:
        raise UsageError(
            f"{name} has elements of type {word}; expected one of {', '.join(_WORDS)}", code="kernels.type"
        )
    return _WORDS[word]


def major_of(array: Any, name: str, across: str) -> str:
    """Say "k" or `across`, as one of the last two axes, (`across`, K), has its elements side by side.

    Errors: UsageError kernels.layout.
    """
    lies = strided(array)
    extents, strides = lies.shape[-2:], lies.strides[-2:]
    for axis, major in ((1, "k"), (0, across)):
        beside = strides[axis] == lies.itemsize or extents[axis] == 1
        if beside and _steps(strides[1 - axis], extents[1 - axis]):
            return major
    raise UsageError(
        f"{name} of shape {lies.shape} has strides of {lies.strides} bytes; expected elements side by side along one"
        f" axis, and along the other a multiple of {_ROW} bytes",
        code="kernels.layout",
    )


def _steps(stride: int, extent: int) -> bool:
    return extent == 1 or (stride > 0 and stride % _ROW == 0)


def read(a: Any, b: Any, columns: int = 0) -> Problem:
    """The problem that two arrays are: A of (M, K) or (batch, M, K), B of (K, N) or (batch, K, N).

    With `columns`, which are K, A is what is stored of a sparse matrix.

    Errors: UsageError kernels.shape, kernels.type, kernels.layout.
    """
    shape_a, shape_b = tuple(a.shape), tuple(b.shape)
    if columns:
        shape_a = (*shape_a[:-1], columns)
    if len(shape_a) not in (2, 3) or len(shape_b) not in (2, 3) or shape_a[-1] != shape_b[-2]:
        raise UsageError(
            f"A of shape {shape_a} and B of shape {shape_b}; expected (M, K) and (K, N), each with a batch before"
            " it or none",
            code="kernels.shape",
        )
    batches = {shape[0] for shape in (shape_a, shape_b) if len(shape) == 3}
    if len(batches) > 1 or 0 in (*shape_a, *shape_b):
        raise UsageError(
            f"A of shape {shape_a} and B of shape {shape_b} do not go together", code="kernels.shape"
        )
    m, k = shape_a[-2:]
    common = "".join(name for name, shape in (("a", shape_a), ("b", shape_b)) if batches and len(shape) == 2)
    return Problem(
        m, shape_b[-1], k, next(iter(batches), 1),
        type_word(a, "A"), type_word(b, "B"),
        major_of(a, "A", "m"), major_of(swapped(b), "B", "n"), bool(batches), common,
        sparse=columns > 0,
    )  # fmt: skip


def grouped(a: Any, b: Any) -> Problem:
    """The problem that the rows of A (M, K) by groups and B of (groups, K, N) are. Errors: as `read`."""
    found = read(a, b)
    return replace(found, batch=1, groups=found.batch, batched=False, common="")


def result_word(array: Any) -> str:
    """The type of an array for results. Errors: UsageError kernels.type."""
    word = type_word(array, "out")
    return "f32" if word == "tf32" else word


def swapped(array: Any) -> Any:
    """The array with its last two axes exchanged, in place."""
    return array.swapaxes(-1, -2)
