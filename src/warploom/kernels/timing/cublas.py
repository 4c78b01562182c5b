"""PyTorch and CuPy as references for the speed and the results of our GEMM."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from warploom.diagnostics import UsageError
from warploom.gpu.driver import first_sentence
from warploom.kernels.hopper.plan import Plan, plan_for
from warploom.kernels.plan import ALIGNMENT, DTYPES, size_of
from warploom.kernels.problem import Problem
from warploom.kernels.sparse import Compressed, compress, prune

Multiply = Callable[[Any, Any, Any], object]
"""Function that writes the product of its arguments A and B to its argument D."""

_SPREAD = 40  # standard deviation of integers, so that few exceed 127


@dataclass(frozen=True, slots=True)
class Kind:
    """Combination of types of A, B and D that is timed.

    `operand` is the type of A and B, and `result` the type of D. If `fast`, 8-bit floats are summed in the tensor
    cores. If `sparse`, our kernel multiplies a compressed A, and its time is compared with our kernel for a dense A.
    `tolerance` is the largest accepted difference of two elements, as a fraction of the root mean square.
    """

    name: str
    operand: str
    result: str
    fast: bool = False
    # The default is far above rounding errors, and far below the error of one missing instruction.
    tolerance: float = 0.1
    sparse: bool = False

    @property
    def reference(self) -> str:
        """Name of our kernel if it is the reference, or "" if the library is the reference."""
        return "our dense" if self.sparse else ""

    @property
    def title(self) -> str:
        """Name of the combination, followed by the reference if our own kernel is the reference."""
        return f"{self.name} beside {self.reference}" if self.reference else self.name

    def problem(self, m: int, n: int, k: int) -> Problem:
        """Return the problem of these sizes. A and B are contiguous along K."""
        return Problem(m, n, k, 1, self.operand, self.operand, "k", "k", sparse=self.sparse)

    def plan(self, problem: Problem) -> Plan:
        """Return the plan of our kernel, with the smallest tile."""
        promoted = self.operand == "e4m3" and not self.fast
        return plan_for(problem, accumulator=problem.accumulator(), result=self.result, promoted=promoted)

    def bytes(self, m: int, n: int, k: int) -> int:
        """Return the size of A, B and D together. Units: bytes."""
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
"""Timed combinations of types, by name."""


def default_kinds(names: Iterable[str]) -> list[str]:
    """Return the names of the kinds for which a library is the reference."""
    return [name for name in names if not KINDS[name].reference]


@dataclass(frozen=True, slots=True)
class Matrices:
    """Matrices A (M, K), B (K, N) and D. A and B are contiguous along K.

    If A is sparse, `compressed` is its compressed form.
    """

    a: Any
    b: Any
    d: Any
    compressed: Compressed | None = None

    @property
    def ours(self) -> Any:
        """A as our kernel takes it: compressed if A is sparse."""
        return self.a if self.compressed is None else self.compressed


class Peer(ABC):
    """Library with which our kernel is compared."""

    name: str
    version: str
    kinds: tuple[str, ...]
    """Names of the kinds that the library can multiply."""

    @abstractmethod
    def settings(self) -> AbstractContextManager[None]:
        """Return a context in which the library multiplies f32 matrices as tf32."""

    @abstractmethod
    def multiply(self, kind: Kind) -> Multiply:
        """Return the library's function that multiplies matrices of a kind."""

    def matrices(self, kind: Kind, m: int, n: int, k: int, seed: int) -> Matrices:
        """Return random matrices with a normal distribution. Matrices of s8 contain rounded numbers."""
        normal = self._normal(seed)

        def matrix(rows: int) -> Any:
            drawn, made = normal(rows, k), self._empty(rows, k, _stored(kind.operand))
            made[...] = (drawn * _SPREAD).round().clip(-127, 127) if kind.operand == "s8" else drawn
            return made

        a, b, d = matrix(m), matrix(n).T, self._empty(m, n, DTYPES[kind.result].name)
        if not kind.sparse:
            return Matrices(a, b, d)
        a[...] = prune(a)
        return Matrices(a, b, d, compress(a))

    def difference(self, first: Any, second: Any) -> float:
        """Return the largest difference of two elements over the root mean square of `second`, or NaN."""
        x, y = self._wide(first), self._wide(second)
        return float(abs(x - y).max() / (y * y).mean() ** 0.5)

    @abstractmethod
    def _normal(self, seed: int) -> Callable[[int, int], Any]:
        """Return a function from (rows, columns) to a random f32 matrix with a normal distribution."""

    @abstractmethod
    def _empty(self, rows: int, columns: int, dtype: str) -> Any:
        """Return an uninitialised matrix whose rows start at multiples of 16 bytes."""

    @abstractmethod
    def _wide(self, matrix: Any) -> Any:
        """Return a matrix as f32, or as f64 if it contains 32-bit integers."""


class Torch(Peer):
    """PyTorch as the reference: `mm`, `_int_mm` and `_scaled_mm`."""

    name = "PyTorch"
    kinds = tuple(KINDS)

    def __init__(self) -> None:
        self._torch = _library("torch", self.name)
        if not self._torch.cuda.is_available():
            message = "PyTorch is installed without CUDA, or finds no GPU"
            raise UsageError(message, code="bench.peer", hint=_HINT)
        self.version = str(self._torch.__version__)
        self._one = self._torch.ones((), dtype=self._torch.float32, device="cuda")

    @contextmanager
    def settings(self) -> Generator[None]:
        """Multiply f32 matrices as tf32 inside the context."""
        settings = self._torch.backends.cuda.matmul
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer releases warn that this attribute was renamed
            before = settings.allow_tf32
            settings.allow_tf32 = True
        try:
            yield
        finally:
            settings.allow_tf32 = before

    def multiply(self, kind: Kind) -> Multiply:
        """Return PyTorch's function that multiplies matrices of a kind."""
        torch, one = self._torch, self._one
        if kind.operand == "s8":
            return lambda a, b, d: torch._int_mm(a, b, out=d)
        if kind.operand == "e4m3":
            return lambda a, b, d: torch._scaled_mm(
                a, b, scale_a=one, scale_b=one, out_dtype=d.dtype, use_fast_accum=kind.fast, out=d
            )
        return lambda a, b, d: torch.mm(a, b, out=d)

    def _normal(self, seed: int) -> Callable[[int, int], Any]:
        generator = self._torch.Generator(device="cuda").manual_seed(seed)
        return lambda rows, columns: self._torch.randn(rows, columns, device="cuda", generator=generator)

    def _empty(self, rows: int, columns: int, dtype: str) -> Any:
        torch_type = getattr(self._torch, dtype)
        whole = self._torch.empty(rows, _padded(columns, torch_type.itemsize), dtype=torch_type, device="cuda")
        return whole[:, :columns]

    def _wide(self, matrix: Any) -> Any:
        return matrix.double() if matrix.dtype == self._torch.int32 else matrix.float()


class CuPy(Peer):
    """CuPy as the reference: `dot` for f16 and tf32. It multiplies no other types by tensor cores."""

    name = "CuPy"
    kinds = ("f16", "tf32", "f16-sparse")

    def __init__(self) -> None:
        self._cupy = _library("cupy", self.name)
        if not self._cupy.cuda.is_available():
            raise UsageError("CuPy finds no GPU", code="bench.peer", hint=_HINT)
        self.version = str(self._cupy.__version__)

    @contextmanager
    def settings(self) -> Generator[None]:
        """Multiply f32 matrices as tf32 inside the context."""
        products = import_module("cupy._core._routines_linalg")
        f32 = self._cupy.dtype("float32")
        before = products.get_compute_type(f32)
        products.set_compute_type(f32, products.COMPUTE_TYPE_TF32)
        try:
            yield
        finally:
            products.set_compute_type(f32, before)

    def multiply(self, kind: Kind) -> Multiply:
        """Return CuPy's function that multiplies matrices of a kind."""
        return lambda a, b, d: self._cupy.dot(a, b, out=d)

    def _normal(self, seed: int) -> Callable[[int, int], Any]:
        generator = self._cupy.random.RandomState(seed)
        f32 = self._cupy.float32
        return lambda rows, columns: generator.standard_normal((rows, columns), dtype=f32)

    def _empty(self, rows: int, columns: int, dtype: str) -> Any:
        itemsize = self._cupy.dtype(dtype).itemsize
        return self._cupy.empty((rows, _padded(columns, itemsize)), dtype)[:, :columns]

    def _wide(self, matrix: Any) -> Any:
        return matrix.astype(self._cupy.float32)


PEERS: dict[str, type[Torch] | type[CuPy]] = {"torch": Torch, "cupy": CuPy}
"""Libraries by name. Errors: UsageError bench.peer if the library is not installed or finds no GPU."""

_HINT = "install a build for the CUDA version of this machine, or choose the other --peer"


def _stored(operand: str) -> str:
    return {"tf32": "float32", "s8": "int8"}.get(operand) or DTYPES[operand].name


def _padded(columns: int, size: int) -> int:
    """Return the number of elements from row to row, if rows start at multiples of 16 bytes."""
    return -(-columns * size // ALIGNMENT) * ALIGNMENT // size


def _library(module: str, name: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError:
        message = f"{name} is not installed, and the comparison needs it"
        raise UsageError(message, code="bench.peer", hint=_HINT) from None
    except (ImportError, OSError) as error:
        message = f"cannot load {name}: {first_sentence(error)}"
        raise UsageError(message, code="bench.peer", hint=_HINT) from None


@contextmanager
def library_errors(name: str, what: object) -> Generator[None]:
    """Turn an exception of a library into a UsageError bench.peer. `what` is what the library refused."""
    try:
        yield
    except (RuntimeError, ValueError, TypeError, MemoryError) as error:
        raise UsageError(f"{name} refuses {what}: {first_sentence(error)}", code="bench.peer") from None
