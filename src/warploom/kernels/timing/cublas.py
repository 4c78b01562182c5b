"""PyTorch and CuPy as references for the speed and the results of our GEMM."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from warploom.diagnostics import UsageError
from warploom.gpu.driver import first_sentence
from warploom.kernels.plan import ALIGNMENT, DTYPES
from warploom.kernels.sparse import Compressed, compress, prune
from warploom.kernels.timing.cases import KINDS, Case, Kind

Multiply = Callable[[Any, Any, Any], object]
"""Function that writes the product of its arguments A and B to its argument D."""

_SPREAD = 40  # standard deviation of integers, so that few exceed 127


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

    def choices(self, case: Case) -> Sequence[Multiply]:
        """Return the library's functions for a case, of which the fastest is the reference."""
        return [self.multiply(case.kind)]

    def matrices(self, case: Case, seed: int) -> Matrices:
        """Return random matrices with a normal distribution. Matrices of s8 contain rounded numbers."""
        normal, kind, batch = self._normal(seed), case.kind, (case.batch,) if case.batch else ()

        def matrix(lines: int, major: str) -> Any:
            shape = (*batch, lines, case.k) if major == "k" else (*batch, case.k, lines)
            drawn, made = normal(shape), self._empty(shape, _stored(kind.operand))
            made[...] = (drawn * _SPREAD).round().clip(-127, 127) if kind.operand == "s8" else drawn
            return made if major == "k" else made.swapaxes(-1, -2)

        a, b = matrix(case.m, case.a_major), matrix(case.n, case.b_major).swapaxes(-1, -2)
        d = self._empty((*batch, case.m, case.n), DTYPES[kind.result].name)
        if not kind.sparse:
            return Matrices(a, b, d)
        a[...] = prune(a)
        return Matrices(a, b, d, compress(a))

    def difference(self, first: Any, second: Any) -> float:
        """Return the largest difference of two elements over the root mean square of `second`, or NaN."""
        x, y = self._wide(first), self._wide(second)
        return float(abs(x - y).max() / (y * y).mean() ** 0.5)

    @abstractmethod
    def _normal(self, seed: int) -> Callable[[tuple[int, ...]], Any]:
        """Return a function from a shape to a random f32 array with a normal distribution."""

    @abstractmethod
    def _empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Return an uninitialised array whose rows start at multiples of 16 bytes."""

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
        return lambda a, b, d: torch.matmul(a, b, out=d)

    def _normal(self, seed: int) -> Callable[[tuple[int, ...]], Any]:
        generator = self._torch.Generator(device="cuda").manual_seed(seed)
        return lambda shape: self._torch.randn(shape, device="cuda", generator=generator)

    def _empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        torch_type = getattr(self._torch, dtype)
        whole = self._torch.empty(_padded(shape, torch_type.itemsize), dtype=torch_type, device="cuda")
        return whole[..., : shape[-1]]

    def _wide(self, matrix: Any) -> Any:
        return matrix.double() if matrix.dtype == self._torch.int32 else matrix.float()


class CuPy(Peer):
    """CuPy as the reference: `matmul` for f16 and tf32. It multiplies no other types by tensor cores."""

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
        return lambda a, b, d: self._cupy.matmul(a, b, out=d)

    def _normal(self, seed: int) -> Callable[[tuple[int, ...]], Any]:
        generator = self._cupy.random.RandomState(seed)
        f32 = self._cupy.dtype("float32")
        return lambda shape: generator.standard_normal(shape, dtype=f32)

    def _empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        itemsize = self._cupy.dtype(dtype).itemsize
        return self._cupy.empty(_padded(shape, itemsize), dtype)[..., : shape[-1]]

    def _wide(self, matrix: Any) -> Any:
        return matrix.astype(self._cupy.float32)


_HINT = "install a build for the CUDA version of this machine, or choose the other --peer"


def _stored(operand: str) -> str:
    return {"tf32": "float32", "s8": "int8"}.get(operand) or DTYPES[operand].name


def _padded(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Return the shape in memory of an array whose rows start at multiples of 16 bytes."""
    return *shape[:-1], pitch(shape[-1], size)


def pitch(columns: int, size: int) -> int:
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
