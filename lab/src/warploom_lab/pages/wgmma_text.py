"""Tables of the reference text on NVVM's wgmma operations, with corrections.

The corrections come from MLIR 22 and ptxas 13.1.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a table: subject, statement of the reference text, correction and evidence."""

    subject: str
    statement: str
    correction: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Table of statements of the reference text."""

    title: str
    rows: tuple[Row, ...]


_MLIR = "MLIR 22's declaration of the operation"
_PTXAS = "ptxas 13.1"
_N = "N is a multiple of 8 from 8 to 256"
_CORRECT_N = f"{_N}; for s8, u8 and b1, N is 8, 24, or a multiple of 16 up to 256"

TABLES = (
    Table(
        "Operations and their properties",
        (
            Row("nvvm.wgmma.fence.aligned", "none"),
            Row(
                "nvvm.wgmma.mma_async",
                "typeA, b1Op, typeB, shape, typeC, scaleIn, scaleOut, layoutA, layoutB",
                "shape, typeA, typeB, typeD, scaleD, scaleA, scaleB, layoutA, layoutB, satfinite",
                _MLIR,
            ),
            Row("nvvm.wgmma.commit.group.sync.aligned", "wgmma_type, wgmma_layout", "none", _MLIR),
            Row("nvvm.wgmma.wait.group.sync.aligned", "wgmma_type, wgmma_layout, shape-N", "group", _MLIR),
        ),
    ),
    Table(
        "Operands, properties and result of nvvm.wgmma.mma_async",
        (
            Row("descA", "operand 0: i64, or a struct of registers", "descriptorA, operand 1", _MLIR),
            Row("descB", "operand 1: i64", "descriptorB, operand 2", _MLIR),
            Row("accumIn", "operand 2: a struct", "inouts, operand 0", _MLIR),
            Row(
                "typeA",
                "f16 bf16 tf32 e4m3 e5m2 s8 u8 s4 u4 b1",
                "f16 bf16 tf32 e4m3 e5m2 s8 u8 b1",
                f"{_PTXAS}: s4 and u4 are unexpected types",
            ),
            Row(
                "typeB",
                "as typeA",
                "as typeA; two fp8 types may differ, and two 8-bit integer types may differ",
                _PTXAS,
            ),
            Row("typeC", "f32; f16 if A and B are f16", "typeD: f32, s32, or f16 if A and B are f16 or fp8", _PTXAS),
            Row("shape", _N, _CORRECT_N, _PTXAS),
            Row("scaleIn", "+1 or -1 for A and B", "scaleA and scaleB: each is one or neg", _MLIR),
            Row("scaleOut", "0 or 1", "scaleD: zero or one", _MLIR),
            Row("layoutA", "row or col"),
            Row("layoutB", "row or col"),
            Row("b1Op", "xor_popc, and_popc or none", "no property: wgmma has only and.popc", _PTXAS),
            Row("accumOut", "result 0: a struct like accumIn"),
        ),
    ),
    Table(
        "nvvm.wgmma.commit.group.sync.aligned",
        (
            Row("wgmma_type", "repeats the types of the multiplication", "no property", _MLIR),
            Row("wgmma_layout", "repeats the layouts of the multiplication", "no property", _MLIR),
        ),
    ),
    Table(
        "nvvm.wgmma.wait.group.sync.aligned",
        (
            Row("groupDepth", "operand 0: i32", "group, a property of 64 bits", _MLIR),
            Row(
                "wgmma_type / wgmma_layout / shape-N",
                "are modifiers of the PTX instruction",
                "the PTX instruction has no modifiers for them",
                _PTXAS,
            ),
        ),
    ),
    Table(
        "LLVM intrinsics",
        (
            Row("nvvm.wgmma.fence.aligned", "llvm.nvvm.wgmma.fence.sync.aligned"),
            Row(
                "nvvm.wgmma.mma_async",
                "llvm.nvvm.wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16",
                "inline PTX",
                "LLVM 22 has no such intrinsic; the name is that of NVIDIA's own compiler",
            ),
            Row(
                "nvvm.wgmma.commit.group.sync.aligned",
                "llvm.nvvm.wgmma.commit.group.sync.aligned",
                "llvm.nvvm.wgmma.commit_group.sync.aligned",
                "mlir-translate 22",
            ),
            Row(
                "nvvm.wgmma.wait.group.sync.aligned",
                "llvm.nvvm.wgmma.wait.group.sync.aligned",
                "llvm.nvvm.wgmma.wait_group.sync.aligned",
                "mlir-translate 22",
            ),
        ),
    ),
    Table(
        "Availability",
        (
            Row("nvvm.wgmma.fence.aligned", "sm_90a, PTX 8.0"),
            Row("nvvm.wgmma.mma_async", "sm_90a, PTX 8.0"),
            Row("nvvm.wgmma.commit.group.sync.aligned", "sm_90a, PTX 8.0"),
            Row("nvvm.wgmma.wait.group.sync.aligned", "sm_90a, PTX 8.0"),
        ),
    ),
    Table(
        "Checks of the verifier",
        (
            Row("K", "256 / bits of typeA; 16 for tf32", "256 / bits of typeA; 8 for tf32", _PTXAS),
            Row("N", _N, _CORRECT_N, _PTXAS),
            Row("descA", "i64 if A is in shared memory, otherwise a struct"),
            Row("descB", "i64"),
            Row(
                "accumulator",
                "N * bits of typeC / 32 registers",
                "N * bits of typeD / 64 registers",
                f"{_PTXAS}, and examples in the reference text",
            ),
            Row("scaleOut", "a constant"),
            Row("commit and wait", "have the type and layout of the multiplications in flight", "have neither", _MLIR),
            Row("wait depth", "0 to 2^6 - 1", "0 to 2^63 - 1", _PTXAS),
        ),
    ),
)
"""Tables in the order of the reference text."""
