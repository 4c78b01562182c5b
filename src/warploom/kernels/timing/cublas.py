"""Libraries that multiply matrices by NVIDIA's cuBLAS, as peers: PyTorch and CuPy, with data for both sides."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from warploom.diagnostics import UsageError
from warploom.gpu.driver import first_sentence
from warploom.kernels.hopper.plan import DTYPES, PROMOTED, SMALL, Plan, size_of
from warploom.kernels.problem import Problem
from warploom.kernels.sparse import Compressed, compress, prune

Multiply = Callable[[Any, Any, Any], object]
"""Puts A times B into D."""

_ROW = 16  # bytes: what rows are a multiple of apart, for TMA
_SPREAD = 40  # of whole numbers, so that few are cut off at 127


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of multiplication: the types of A and B, and of D; whether 8-bit floats are summed the `fast` way.

    Where A is `sparse`, half of its elements are zeros as the tensor cores want them, and our kernel takes what is
    stored of it. Its result is compared with the library's, its time with that of our kernel for a dense A.
    `tolerance` is how far elements of two right results may be apart: a share of the root mean square of them all,
    well above roundings and well below the products of one instruction.
    """

    name: str
    operand: str
    result: str
    fast: bool = False
    tolerance: float = 0.1
    sparse: bool = False

    @property
    def beside(self) -> str:
        """What is timed beside it: "" for the library."""
        return "our dense" if self.sparse else ""

    @property
    def title(self) -> str:
        """Its name, and what is timed beside it where that is not the library."""
        return f"{self.name} beside {self.beside}" if self.beside else self.name

    def problem(self, m: int, n: int, k: int) -> Problem:
        """A multiplication of this kind, both matrices stored along K."""
        return Problem(m, n, k, 1, self.operand, self.operand, "k", "k", sparse=self.sparse)

    def plan(self, problem: Problem) -> Plan:
        """The plan that `gemm` makes for it, with the smallest tile."""
        promoted = PROMOTED if self.operand == "e4m3" and not self.fast else 0
        return Plan(
            self.operand, self.operand, problem.sums(), self.result,
            promoted=promoted, ragged=problem.is_ragged(self.result), sparse=self.sparse, tile=SMALL,
        )  # fmt: skip

    def bytes(self, m: int, n: int, k: int) -> int:
        """What A, B and D take."""
        return size_of(self.operand) * (m + n) * k + size_of(self.result) * m * n


KINDS = {
    kind.name: kind
    for kind in (
        Kind("bf16", "bf16", "bf16"),
        Kind("f16", "f16", "f16"),
        Kind("tf32", "tf32", "f32"),
        Kind("e4m3", "e4m3", "bf16", fast=True, tolerance=0.25),
        Kind("e4m3-accurate", "e4m3", "bf16"),
        Kind("s8", "s8", "s32", tolerance=0.0),
        Kind("f16-sparse", "f16", "f16", sparse=True),
    )
}
"""Kinds by their names."""


def usual(names: Iterable[str]) -> list[str]:
    """Those of the names that are taken where none is asked for: the kinds that stand beside a library."""
    return [name for name in names if not KINDS[name].beside]


@dataclass(frozen=True, slots=True)
class Matrices:
    """A of (M, K), B of (K, N) and room for D, K side by side in A and B. Of a sparse A also what is stored of it."""

    a: Any
    b: Any
    d: Any
    compressed: Compressed | None = None

    @property
    def ours(self) -> Any:
        """A as our kernel takes it."""
        return self.a if self.compressed is None else self.compressed


class Peer(Protocol):
    """A library to stand beside: it makes the matrices, multiplies them, and compares results."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def version(self) -> str: ...  # noqa: D102
    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of the kinds that it has."""
        ...

    def at_work(self) -> AbstractContextManager[None]:
        """Its settings for the comparison, put back afterwards."""
        ...

    def matrices(self, kind: Kind, m: int, n: int, k: int, seed: int) -> Matrices:
        """Normally distributed data; whole numbers of a normal distribution for s8; a sparse A keeps the largest."""
        ...

    def multiply(self, kind: Kind) -> Multiply:
        """Its own multiplication."""
        ...

    def copy(self, matrix: Any) -> Any:
        """The same elsewhere."""
        ...

    def clear(self, matrix: Any) -> None:
        """Fill it with zeros."""
        ...

    def difference(self, first: Any, second: Any) -> float:
        """The largest distance of elements over the root mean square of the second; NaN where one is NaN."""
        ...


class Torch:
    """PyTorch: `mm`, `_scaled_mm` for 8-bit floats with and without fast accumulation, `_int_mm`."""

    name = "PyTorch"
    kinds = tuple(KINDS)

    def __init__(self) -> None:
        self._torch = _library("torch", self.name)
        if not self._torch.cuda.is_available():
            raise UsageError("PyTorch is here without CUDA, or sees no GPU", code="bench.peer", hint=_HINT)
        self.version = str(self._torch.__version__)
        self._one = self._torch.ones((), dtype=self._torch.float32, device="cuda")

    @contextmanager
    def at_work(self) -> Generator[None]:
        """As Peer says: tf32 for f32 matrices."""
        settings = self._torch.backends.cuda.matmul
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer releases would rather have another name for it
            before = settings.allow_tf32
            settings.allow_tf32 = True
        try:
            yield
        finally:
            settings.allow_tf32 = before

    def matrices(self, kind: Kind, m: int, n: int, k: int, seed: int) -> Matrices:
        """As Peer says."""
        torch = self._torch
        dice = torch.Generator(device="cuda").manual_seed(seed)
        operand, result = getattr(torch, _stored(kind.operand)), getattr(torch, DTYPES[kind.result].name)

        def room(rows: int, columns: int, dtype: Any) -> Any:
            return torch.empty(rows, _padded(columns, dtype.itemsize), dtype=dtype, device="cuda")[
                :, :columns
            ]

        def matrix(rows: int) -> Any:
            drawn = torch.randn(rows, k, dtype=torch.float32, device="cuda", generator=dice)
            if kind.operand == "s8":
                drawn = (drawn * _SPREAD).round_().clamp_(-127, 127)
            return room(rows, k, operand).copy_(drawn)

        a, b, d = matrix(m), matrix(n).t(), room(m, n, result)
        if not kind.sparse:
            return Matrices(a, b, d)
        a.copy_(prune(a))
        return Matrices(a, b, d, compress(a))

    def multiply(self, kind: Kind) -> Multiply:
        """As Peer says."""
        torch, one = self._torch, self._one
        if kind.operand == "s8":
            return lambda a, b, d: torch._int_mm(a, b, out=d)
        if kind.operand == "e4m3":
            return lambda a, b, d: torch._scaled_mm(
                a, b, scale_a=one, scale_b=one, out_dtype=d.dtype, use_fast_accum=kind.fast, out=d
            )
        return lambda a, b, d: torch.mm(a, b, out=d)

    def copy(self, matrix: Any) -> Any:
        """As Peer says."""
        return matrix.clone()

    def clear(self, matrix: Any) -> None:
        """As Peer says."""
        matrix.zero_()

    def difference(self, first: Any, second: Any) -> float:
        """As Peer says."""
        torch = self._torch
        wide = torch.float64 if second.dtype == torch.int32 else torch.float32
        x, y = first.to(wide), second.to(wide)
        return float((x - y).abs().max() / y.square().mean().sqrt())


class CuPy:
    """CuPy: `dot`, for f16 and tf32; it has no other multiplication by tensor cores."""

    name = "CuPy"
    kinds = ("f16", "tf32", "f16-sparse")

    def __init__(self) -> None:
        self._cupy = _library("cupy", self.name)
        if not self._cupy.cuda.is_available():
            raise UsageError("CuPy sees no GPU", code="bench.peer", hint=_HINT)
        self.version = str(self._cupy.__version__)

    @contextmanager
    def at_work(self) -> Generator[None]:
        """As Peer says: tf32 for f32 matrices."""
        products = import_module("cupy._core._routines_linalg")
        f32 = self._cupy.dtype("float32")
        before = products.get_compute_type(f32)
        products.set_compute_type(f32, products.COMPUTE_TYPE_TF32)
        try:
            yield
        finally:
            products.set_compute_type(f32, before)

    def matrices(self, kind: Kind, m: int, n: int, k: int, seed: int) -> Matrices:
        """As Peer says."""
        cupy = self._cupy
        dice = cupy.random.RandomState(seed)
        operand, result = cupy.dtype(_stored(kind.operand)), cupy.dtype(DTYPES[kind.result].name)

        def room(rows: int, columns: int, dtype: Any) -> Any:
            return cupy.empty((rows, _padded(columns, dtype.itemsize)), dtype)[:, :columns]

        def matrix(rows: int) -> Any:
            made = room(rows, k, operand)
            made[...] = dice.standard_normal((rows, k), dtype=cupy.float32)
            return made

        a, b, d = matrix(m), matrix(n).T, room(m, n, result)
        if not kind.sparse:
            return Matrices(a, b, d)
        a[...] = prune(a)
        return Matrices(a, b, d, compress(a))

    def multiply(self, kind: Kind) -> Multiply:
        """As Peer says."""
        cupy = self._cupy
        return lambda a, b, d: cupy.dot(a, b, out=d)

    def copy(self, matrix: Any) -> Any:
        """As Peer says."""
        return matrix.copy()

    def clear(self, matrix: Any) -> None:
        """As Peer says."""
        matrix.fill(0)

    def difference(self, first: Any, second: Any) -> float:
        """As Peer says."""
        cupy = self._cupy
        x, y = first.astype(cupy.float32), second.astype(cupy.float32)
        return float(cupy.abs(x - y).max() / cupy.sqrt(cupy.square(y).mean()))


PEERS: dict[str, type[Torch] | type[CuPy]] = {"torch": Torch, "cupy": CuPy}
"""Libraries by their names. Errors: UsageError bench.peer where one is not there, or has no GPU."""

_HINT = "install one that is made for the CUDA that is here, or choose the other --peer"


def _stored(operand: str) -> str:
    """What libraries call the type of A and B in memory."""
    return {"tf32": "float32", "s8": "int8"}.get(operand) or DTYPES[operand].name


def _padded(columns: int, size: int) -> int:
    """Elements from one row to the next."""
    return -(-columns * size // _ROW) * _ROW // size


def _library(module: str, name: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise UsageError(
            f"{name} is not installed; it is what is compared with", code="bench.peer", hint=_HINT
        ) from None
    except (ImportError, OSError) as error:
        raise UsageError(
            f"{name} is installed and does not load: {first_sentence(error)}", code="bench.peer", hint=_HINT
        ) from None


@contextmanager
def refusals(name: str, what: object) -> Generator[None]:
    """Turn what a library raises, asked for `what`, into a sentence. Errors: UsageError bench.peer."""
    try:
        yield
    except (RuntimeError, ValueError, TypeError, MemoryError) as error:
        raise UsageError(f"{name} refuses {what}: {first_sentence(error)}", code="bench.peer") from None
