"""One multiplication: sizes, types and majors of its matrices, read from arrays of any library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warploom.check.module import asked_target
from warploom.diag import UsageError
from warploom.isa.types import TYPES
from warploom.kernels.plan import RESULTS, SUMS, Epilogue, Plan, Tile, size_of
from warploom.kernels.warp_level import plan as warp_level
from warploom.launch.limits import shared_bytes

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
    """`batch` times D (M, N) = A (M, K) by B (K, N). Strides are in bytes."""

    m: int
    n: int
    k: int
    batch: int
    a: str
    b: str
    a_major: str
    b_major: str

    def plan(
        self, *, sums: str = "", d: str = "", promoted: bool = False, tile: Tile, epilogue: Epilogue
    ) -> Plan:
        """A plan for it. Errors: UsageError kernels.plan."""
        chosen, result = self._results(sums, d)
        return Plan(
            self.a, self.b, chosen, result, self.a_major, self.b_major, self.batch > 1, promoted,
            self._ragged(result), tile, epilogue,
        )  # fmt: skip

    def warp_level(
        self,
        target: str,
        *,
        sums: str = "",
        d: str = "",
        epilogue: Epilogue,
        tile: warp_level.Tile | None = None,
        processors: int = 108,
    ) -> warp_level.Plan:
        """A plan for it on a target without warpgroup multiplication: every one from sm_80 on but sm_90a.

        Where no tile is given, it is the one that so many processors (SMs) should be done with first.
        Errors: UsageError kernels.plan.
        """
        chosen, result = self._results(sums, d)
        if self.k * size_of(self.a) > _LONGEST:
            raise UsageError(
                f"rows of {self.k * size_of(self.a)} bytes along K; expected {_LONGEST} at most", code="kernels.plan"
            )
        ragged = self._ragged(result) or (bool(epilogue.addend) and self._ragged(epilogue.addend))
        most = shared_bytes(asked_target(target).number)
        wanted = tile or warp_level.tile_for(self.m, self.n, self.batch, processors, most)
        return warp_level.Plan(
            target, self.a, self.b, chosen, result, self.a_major, self.b_major, ragged, wanted, epilogue
        )

    def _results(self, sums: str, d: str) -> tuple[str, str]:
        """The types of the sums and of D, where the caller leaves them open."""
        chosen = sums or next(iter(SUMS.get((self.a, self.b), ("",))))
        return chosen, d or (_RESULT.get(self.a, self.a) if chosen in ("f32", "s32") else chosen)

    def _ragged(self, type_word: str) -> bool:
        """Whether rows of N elements do not end with whole 16 bytes."""
        return type_word in TYPES and self.n * size_of(type_word) % _ROW != 0


def type_word(array: Any, name: str) -> str:
    """The type of an array's elements, as instructions call it. Errors: UsageError kernels.type."""
    word = str(array.dtype).rpartition(".")[2]
    if word not in _WORDS:
        raise UsageError(
            f"{name} has elements of type {word}; expected one of {', '.join(_WORDS)}", code="kernels.type"
        )
    return _WORDS[word]


def strides_of(array: Any) -> tuple[int, ...]:
    """The strides of an array of NumPy or torch, in elements."""
    strides: Any = getattr(array, "strides", None)
    if strides is None or callable(getattr(array, "stride", None)):
        return tuple(array.stride())
    return tuple(stride // array.dtype.itemsize for stride in strides)


def major_of(array: Any, name: str, across: str) -> str:
    """ "k" or `across`, as one of the last two axes, (`across`, K), has its elements side by side.

    Errors: UsageError kernels.layout.
    """
    extents, strides = tuple(array.shape)[-2:], strides_of(array)[-2:]
    size = size_of(type_word(array, name))
    for axis, major in ((1, "k"), (0, across)):
        other = 1 - axis
        if (strides[axis] == 1 or extents[axis] == 1) and _steps(strides[other], extents[other], size):
            return major
    raise UsageError(
        f"{name} of shape {tuple(array.shape)} has strides of {strides} elements; expected elements side by side"
        f" along one axis, and along the other a multiple of {_ROW} bytes",
        code="kernels.layout",
    )


def _steps(stride: int, extent: int, size: int) -> bool:
    return extent == 1 or (stride > 0 and stride * size % _ROW == 0)


def read(a: Any, b: Any) -> Problem:
    """The problem that two arrays are: A of (M, K) or (batch, M, K), B of (K, N) or (batch, K, N).

    Errors: UsageError kernels.shape, kernels.type, kernels.layout.
    """
    shape_a, shape_b = tuple(a.shape), tuple(b.shape)
    if len(shape_a) not in (2, 3) or len(shape_b) not in (2, 3) or shape_a[-1] != shape_b[-2]:
        raise UsageError(
            f"A of shape {shape_a} and B of shape {shape_b}; expected (M, K) and (K, N), each with a batch before"
            " it or none",
            code="kernels.shape",
        )
    batches = {shape[0] for shape in (shape_a, shape_b) if len(shape) == 3}
    if len(batches) > 1 or 0 in (*shape_a, *shape_b):
        raise UsageError(f"A of shape {shape_a} and B of shape {shape_b} do not go together", code="kernels.shape")
    m, k = shape_a[-2:]
    return Problem(
        m, shape_b[-1], k, next(iter(batches), 1),
        type_word(a, "A"), type_word(b, "B"),
        major_of(a, "A", "m"), major_of(swapped(b), "B", "n"),
    )  # fmt: skip


def swapped(array: Any) -> Any:
    """The array with its last two axes exchanged, in place."""
    return array.swapaxes(-1, -2)


def result_types(sums: str) -> Sequence[str]:
    """What D may be made of."""
    return RESULTS[sums]
