"""cuBLASLt as a reference: the fastest of the algorithms that it proposes for a multiplication."""

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any

from warploom.diagnostics import UsageError
from warploom.gpu.driver import package
from warploom.kernels.plan import size_of
from warploom.kernels.timing.cases import Case
from warploom.kernels.timing.cublas import CuPy, Multiply, Torch, library_errors, pitch

_WORKSPACE = 64 << 20  # bytes
_MOST_ALGORITHMS = 24
# Values of enumerations of library_types.h, cublas_api.h and cublasLt.h.
_TYPES = {"f16": 2, "bf16": 14, "tf32": 0, "f32": 0, "e4m3": 28, "s8": 3, "s32": 10}
_SUMS = {"tf32": 77, "s8": 72}  # cublasComputeType_t
_SUMS_F32 = 68
_TRANSPOSE_A, _TRANSPOSE_B, _FAST_SUMS = 3, 4, 25  # cublasLtMatmulDescAttributes_t
_BATCH_COUNT, _BATCH_STRIDE = 5, 6  # cublasLtMatrixLayoutAttribute_t
_MAX_WORKSPACE = 1  # cublasLtMatmulPreferenceAttributes_t


class _Algorithm(ctypes.Structure):
    """Algorithm that cuBLASLt proposes (cublasLtMatmulHeuristicResult_t)."""

    _fields_ = (
        ("algorithm", ctypes.c_uint64 * 8),
        ("workspace", ctypes.c_size_t),
        ("status", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    )


class CublasLt(Torch):
    """cuBLASLt as the reference, with matrices of PyTorch."""

    name = "cuBLASLt"

    def __init__(self) -> None:
        super().__init__()
        with library_errors(self.name, "to be loaded"):
            path = package("cuda.pathfinder").load_nvidia_dynamic_lib("cublasLt").abs_path
            self._library = ctypes.CDLL(path)
        self._library.cublasLtGetVersion.restype = ctypes.c_size_t
        self.version = str(self._library.cublasLtGetVersion())
        self._handle = self._create("cublasLt")
        self._space = self._torch.empty(_WORKSPACE, dtype=self._torch.uint8, device="cuda")

    def choices(self, case: Case) -> Sequence[Multiply]:
        """Return a function for each algorithm that cuBLASLt proposes for a case.

        cuBLASLt multiplies matrices with contiguous columns, so it computes the transpose of D from those of B and A.

        Errors: UsageError bench.peer if there is none.
        """
        kind = case.kind
        if kind.sparse:
            return super().choices(case)
        operand, result = kind.operand, kind.result
        scale = _TYPES["s32" if operand == "s8" else "f32"]
        operation = self._create("cublasLtMatmulDesc", _SUMS.get(operand, _SUMS_F32), scale)
        attributes = [(_TRANSPOSE_A, int(case.b_major == "k")), (_TRANSPOSE_B, int(case.a_major != "k"))]
        for name, value in attributes:
            self._set("cublasLtMatmulDesc", operation, name, ctypes.c_int32(value))
        if kind.fast:
            self._set("cublasLtMatmulDesc", operation, _FAST_SUMS, ctypes.c_int8(1))
        layouts = [
            self._layout(case, operand, *((case.k, case.n) if case.b_major == "k" else (case.n, case.k))),
            self._layout(case, operand, *((case.k, case.m) if case.a_major == "k" else (case.m, case.k))),
            self._layout(case, result, case.n, case.m),
        ]
        preference = self._create("cublasLtMatmulPreference")
        self._set("cublasLtMatmulPreference", preference, _MAX_WORKSPACE, ctypes.c_size_t(_WORKSPACE))
        found, count = (_Algorithm * _MOST_ALGORITHMS)(), ctypes.c_int()
        wanted = (self._handle, operation, *layouts, layouts[2], preference)
        with library_errors(self.name, case):
            self._call("cublasLtMatmulAlgoGetHeuristic", *wanted, len(found), found, ctypes.byref(count))
        if not count.value:
            raise UsageError(f"cuBLASLt has no algorithm for {case}", code="bench.peer")
        number = ctypes.c_int32 if operand == "s8" else ctypes.c_float
        factors = ctypes.byref(number(1)), ctypes.byref(number(0))
        return [self._multiply(operation, layouts, factors, each) for each in found[: count.value] if each.status == 0]

    def _multiply(
        self, operation: Any, layouts: Sequence[Any], factors: tuple[Any, Any], chosen: _Algorithm
    ) -> Multiply:
        b_layout, a_layout, d_layout = layouts
        alpha, beta = factors
        space = ctypes.c_void_p(self._space.data_ptr())

        def multiply(a: Any, b: Any, d: Any) -> None:
            to = ctypes.c_void_p(d.data_ptr())
            self._call(
                "cublasLtMatmul", self._handle, operation,
                alpha, ctypes.c_void_p(b.data_ptr()), b_layout, ctypes.c_void_p(a.data_ptr()), a_layout,
                beta, to, d_layout, to, d_layout, ctypes.byref(chosen), space, ctypes.c_size_t(_WORKSPACE),
                ctypes.c_void_p(self._torch.cuda.current_stream().cuda_stream),
            )  # fmt: skip

        return multiply

    # Objects of the library -------------------------------------------------------------------------------------

    def _layout(self, case: Case, type_word: str, rows: int, columns: int) -> ctypes.c_void_p:
        """Return the layout of a matrix with contiguous columns, or of a batch of such matrices."""
        step = pitch(rows, size_of(type_word))
        sizes = ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(step)
        made = self._create("cublasLtMatrixLayout", _TYPES[type_word], *sizes)
        if case.batch:
            self._set("cublasLtMatrixLayout", made, _BATCH_COUNT, ctypes.c_int32(case.batch))
            self._set("cublasLtMatrixLayout", made, _BATCH_STRIDE, ctypes.c_int64(step * columns))
        return made

    def _create(self, name: str, *words: Any) -> ctypes.c_void_p:
        """Return a new object of the library, which is destroyed with the result."""
        made = ctypes.c_void_p()
        self._call(f"{name}Create", ctypes.byref(made), *words)
        weakref.finalize(made, getattr(self._library, f"{name}Destroy"), ctypes.c_void_p(made.value))
        return made

    def _set(self, name: str, of: ctypes.c_void_p, attribute: int, value: Any) -> None:
        self._call(f"{name}SetAttribute", of, attribute, ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value)))

    def _call(self, name: str, *words: Any) -> None:
        status = getattr(self._library, name)(*words)
        if status:
            raise RuntimeError(f"{name} returns status {status}")


PEERS: dict[str, type[Torch] | type[CuPy]] = {"torch": Torch, "cublaslt": CublasLt, "cupy": CuPy}
"""Libraries by name. Errors: UsageError bench.peer if the library is not installed or finds no GPU."""
