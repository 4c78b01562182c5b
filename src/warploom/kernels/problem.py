"""Sizes, types and layouts of one matrix multiplication, which its arrays determine."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import one_of
from warploom.isa.model.types import TYPES
from warploom.kernels.plan import ACCUMULATORS, ALIGNMENT, DTYPES, size_of
from warploom.layout import Strided, strided

_MAX_STRIDE = 2**32 - ALIGNMENT  # largest distance of two rows in bytes
_RESULTS = {dtype.name: word for word, dtype in DTYPES.items()}
_ELEMENTS = {name: word for name, word in _RESULTS.items() if word not in ("f32", "s32")} | {
    "float32": "tf32", "int8": "s8", "uint8": "u8"
}  # fmt: skip
"""PTX types of elements of A and B, by name of the type."""
_DEFAULT_RESULTS = {"tf32": "f32", "s8": "s32", "u8": "s32", "e4m3": "bf16", "e5m2": "bf16", "e2m1": "bf16"}


@dataclass(frozen=True, slots=True)
class Problem:
    """Sizes, types and layouts of `batch` multiplications D (M, N) = A (M, K) by B (K, N).

    `broadcast` names the operands without a batch axis. If `groups` is not 0, the rows of A and D form this number of
    groups. Each group has its own B, and M counts the rows of all groups. If `sparse`, A is compressed. `scaling` is
    the name of a block format ("mxfp8", "mxfp4" or "nvfp4"), or "".
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
    broadcast: str = ""
    groups: int = 0
    sparse: bool = False
    scaling: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of D."""
        return (self.batch, self.m, self.n) if self.batched else (self.m, self.n)

    def accumulator(self, wanted: str = "") -> str:
        """Return `wanted`, or the widest accumulator type if `wanted` is "". Errors: UsageError kernels.type."""
        legal = ("f32",) if self.scaling else ACCUMULATORS.get((self.a, self.b))
        if legal is None:
            pairs: dict[str, list[str]] = {}
            for a, b in ACCUMULATORS:
                pairs.setdefault(a, []).append(b)
            legal_pairs = ", ".join(f"{a} by {one_of(each)}" for a, each in pairs.items())
            message = (
                f"cannot multiply {self.a} by {self.b}; expected {legal_pairs}, or e2m1 by e2m1 with scale factors"
            )
            raise UsageError(message, code="kernels.type")
        return wanted or legal[0]

    def result(self, accumulator: str) -> str:
        """Return the type that D has by default for this type of accumulators."""
        return accumulator if accumulator == "f16" else _DEFAULT_RESULTS.get(self.a, self.a)

    def pitch(self, type_word: str) -> int:
        """Return the number of elements from row to row of a new D. Rows start at multiples of 16 bytes."""
        per_row = ALIGNMENT // size_of(type_word)
        return -(-self.n // per_row) * per_row

    def is_unaligned(self, type_word: str) -> bool:
        """Return True if a row of N elements of this type does not end at a multiple of 16 bytes."""
        return type_word in TYPES and self.n * size_of(type_word) % ALIGNMENT != 0


class Operands(NamedTuple):
    """Arrays of a multiplication. An absent array is None."""

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
        """Return those of the names whose arrays are None."""
        return tuple(name for name in names if getattr(self, name) is None)


def element_type(array: Any, name: str) -> str:
    """Return the PTX type of the elements of A or B. Errors: UsageError kernels.type."""
    word = strided(array).dtype.name
    if word not in _ELEMENTS:
        expected = f"one of {', '.join(_ELEMENTS)}, or float4_e2m1fn with scale factors"
        raise UsageError(f"{name} has elements of type {word}; expected {expected}", code="kernels.type")
    return _ELEMENTS[word]


def result_type(array: Any) -> str:
    """Return the PTX type of the elements of the array for D. Errors: UsageError kernels.type."""
    word = strided(array).dtype.name
    if word not in _RESULTS:
        message = f"out has elements of type {word}; expected one of {', '.join(_RESULTS)}"
        raise UsageError(message, code="kernels.type")
    return _RESULTS[word]


def major_of(array: Any, name: str, across: str) -> str:
    """Return the axis along which the elements of an array are contiguous: "k", or `across`.

    The last two axes of the array are `across` ("m" or "n") and K. Errors: UsageError kernels.layout.
    """
    layout = strided(array)
    extents, strides = layout.shape[-2:], layout.strides[-2:]
    for axis, major in ((1, "k"), (0, across)):
        stride, extent = strides[1 - axis], extents[1 - axis]
        is_contiguous = strides[axis] == layout.itemsize or extents[axis] == 1
        if is_contiguous and (extent == 1 or (stride > 0 and stride % ALIGNMENT == 0)):
            return major
    raise array_error(
        name,
        layout,
        f"contiguous elements along one axis, and along the other a stride above 0, a multiple of {ALIGNMENT}",
    )


def problem_of(a: Any, b: Any, columns: int = 0) -> Problem:
    """Return the problem of arrays A (M, K) or (batch, M, K) and B (K, N) or (batch, K, N).

    If A holds the values of a compressed matrix, `columns` is K. Errors: UsageError kernels.shape, kernels.type,
    kernels.layout.
    """
    for name, array in (("A", a), ("B", b)):
        if not hasattr(array, "shape"):
            raise UsageError(f"{name} is {array!r}; expected an array", code="kernels.type")
    shape_a, shape_b = tuple(a.shape), tuple(b.shape)
    if columns:
        shape_a = (*shape_a[:-1], columns)
    fits = len(shape_a) in (2, 3) and len(shape_b) in (2, 3) and shape_a[-1] == shape_b[-2]
    batches = {shape[0] for shape in (shape_a, shape_b) if len(shape) == 3}
    if not fits or len(batches) > 1 or 0 in (*shape_a, *shape_b):
        raise UsageError(
            f"A has shape {shape_a} and B has shape {shape_b}; expected (M, K) and (K, N), all above 0, and the same"
            " batch if both have a batch in front",
            code="kernels.shape",
        )
    m, k = shape_a[-2:]
    return Problem(
        m, shape_b[-1], k, next(iter(batches), 1), element_type(a, "A"), element_type(b, "B"),
        major_of(a, "A", "m"), major_of(transposed(b), "B", "n"), bool(batches),
        ("a" * (len(shape_a) == 2) + "b" * (len(shape_b) == 2)) * bool(batches), sparse=columns > 0,
    )  # fmt: skip


def grouped_problem(a: Any, b: Any) -> Problem:
    """Return the problem of arrays A (M, K) and B (groups, K, N). The rows of A form groups.

    Errors: UsageError kernels.shape, kernels.type, kernels.layout.
    """
    found = problem_of(a, b)
    return replace(found, batch=1, groups=found.batch, batched=False, broadcast="")


def transposed(array: Any) -> Any:
    """Return a view of an array with its last two axes swapped."""
    return array.swapaxes(-1, -2)


# Checks of further operands ---------------------------------------------------------------------------------


def array_error(name: str, found: Strided, expected: str, code: str = "kernels.layout") -> UsageError:
    """Return an error for the array `found` with this name. `expected` says what is expected instead."""
    return UsageError(
        f"{name} is an array of {found.dtype} of shape {found.shape} with strides of {found.strides} bytes;"
        f" expected {expected}",
        code=code,
    )


def check_vector(name: str, value: Any, shape: tuple[int, ...], dtype: Any = np.float32) -> None:
    """Refuse an array of wrong shape or type, or with gaps. Errors: UsageError kernels.shape."""
    if value is None:
        return
    layout = strided(value)
    if layout.shape != shape or layout.dtype != dtype or not layout.is_contiguous:
        expected = f"{' by '.join(map(str, shape))} of {np.dtype(dtype)}"
        raise array_error(name, layout, expected, "kernels.shape")


def check_results(problem: Problem, operands: Operands, type_word: str) -> None:
    """Refuse C or `out` unless its shape, type and layout fit D. Errors: UsageError kernels.layout."""
    shape_c = problem.shape[-2:] if "c" in problem.broadcast else problem.shape
    for name, array, shape in (("C", operands.c, shape_c), ("out", operands.out, problem.shape)):
        if array is None:
            continue
        layout, dtype = strided(array), DTYPES[type_word]
        aligned = all(step % ALIGNMENT == 0 for step in layout.strides[:-1])
        is_contiguous = layout.strides[-1] == layout.itemsize
        if layout.shape != shape or layout.dtype != dtype or not aligned or not is_contiguous:
            expected = f"{dtype} of shape {shape} with contiguous rows a multiple of {ALIGNMENT} bytes apart"
            raise array_error(name, layout, expected)


# Arrays that kernels access by address ------------------------------------------------------------------------


def line_strides(name: str, array: Any, contiguous: int) -> tuple[int, int]:
    """Return the byte stride of the axis that is not contiguous, and the byte stride of the batch axis.

    `contiguous` is the contiguous one of the last two axes, 0 or 1.
    """
    layout = strided(array)
    lines, across = layout.shape[-2:][1 - contiguous], layout.strides[-2:][1 - contiguous]
    plane = layout.strides[0] if len(layout.shape) == 3 and layout.shape[0] > 1 else 0
    stride = across if lines > 1 else 0
    if stride > _MAX_STRIDE or plane < 0 or plane % ALIGNMENT:
        expected = f"rows at most {_MAX_STRIDE} bytes apart, and batches a multiple of {ALIGNMENT}"
        raise array_error(name, layout, expected)
    return stride, plane


def aligned(array: Any) -> Any:
    """Return a copy of an array. Its rows start at multiples of 16 bytes."""
    per_row = ALIGNMENT // array.dtype.itemsize
    wide = -(-array.shape[-1] // per_row) * per_row
    made = np.zeros((*array.shape[:-1], wide), array.dtype)[..., : array.shape[-1]]
    made[...] = array
    return made
