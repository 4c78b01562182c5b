"""Multiplication in tensor memory: the operations whose names begin with nvvm.tcgen05.mma."""

from warploom.isa.instructions import tcgen05_mma
from warploom.nvvm.dialect.lowering import Lowering, Registers
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.dialect.types import registers_of

_LANE_WORDS = {"cta_1": 4, "cta_2": 8}
"""Number of 32-bit registers in the mask of disabled lanes, which has one bit for each lane."""
_FIELDS = (
    "matrixD as d_tmem: ptr6, matrixA as a_desc: i64|ptr6, matrixB as b_desc: i64, idesc: i32,"
    " enableInputD as enable_input_d: i1"
)
"""Operands of all multiplications. A is a descriptor (shared memory) or a pointer (tensor memory)."""
_NAMES = ("matrixD", "matrixA", "matrixB", "idesc", "enableInputD")
_COLLECTOR = "collectorOp: tcgen05_mma_collectorop = discard"


def _lower(op: Operation) -> Lowering:
    a = {} if op.text("matrixA") == "i64" else {"a_desc": None, "a_tmem": op.value("matrixA")}
    mask = op.value("disableOutputLane") if op.has("disableOutputLane") else None
    lanes = None if mask is None else Registers([mask])
    late = ("ashift",) if mask is None else ()
    buffer = op.text("collectorBBuffer") or "a"
    words = {"collector_usage": f"collector::{buffer}::{op.text('collectorOp')}"}
    return op.instruction(words, late, disable_output_lane=lanes, **a)


def _operands(*, sparse: bool) -> tuple[str, str, str]:
    """Return the fields of the operands, their syntax, and the syntax of their types."""
    names = (*_NAMES, *(["sparseMetadata"] if sparse else []))
    metadata = ", sparseMetadata as sp_meta_tmem: ptr6" if sparse else ""
    return (
        f"{_FIELDS}{metadata}",
        " `,` ".join(f"${name}" for name in names),
        " `,` ".join(f"type(${name})" for name in names),
    )


def _lanes_error(op: Operation) -> str:
    if not op.has("disableOutputLane"):
        return ""
    length = len(registers_of(op.value("disableOutputLane").type))
    is_legal = length == _LANE_WORDS[op.text("ctaGroup")]
    return "" if is_legal else f"Disable Output Lane of length {length} is incompatible with CtaGroupAttr"


def _unscaled(name: str, description: str, *, sparse: bool = False) -> type[Operation]:
    """Define a multiplication without block scales."""
    fields, operands, types = _operands(sparse=sparse)
    return operation(
        f"nvvm.tcgen05.mma{name}({fields}, scaleInputD as scale_input_d?: i64, disableOutputLane?: vector,"
        f" {_COLLECTOR}, kind: tcgen05_mma_kind, ctaGroup as cta_group: cta_group, aShift as ashift?: unit)",
        description,
        *(tcgen05_mma.MMA, tcgen05_mma.MMA_TENSOR),
        syntax=f"{operands} (`scale` `=` $scaleInputD^)? (`mask` `=` $disableOutputLane^)? attr-dict `:` `(` {types}"
        " custom<OptionalTypes>(type($scaleInputD), type($disableOutputLane)) `)`",
        rules=[
            _lanes_error,
            """
            aShift matrixA=i64: A-shift can be applied only when matrix A is in tensor memory
            aShift collectorOp=fill|use: Cannot use collector buffer operation fill or use with ashift
            """,
        ],
        lower=_lower,
    )


def _scaled(name: str, description: str, *, sparse: bool = False) -> type[Operation]:
    """Define a multiplication with block scales."""
    fields, operands, _ = _operands(sparse=sparse)
    return operation(
        f"nvvm.tcgen05.mma{name}({fields}, scaleA as scale_A_tmem: ptr6, scaleB as scale_B_tmem: ptr6, {_COLLECTOR},"
        " kind: block_scale_kind, ctaGroup as cta_group: cta_group,"
        " blockScale as scale_vectorsize: tcgen05_mma_block_scale = default)",
        description,
        *(tcgen05_mma.BLOCK, tcgen05_mma.BLOCK_TENSOR),
        syntax=f"{operands} `,` $scaleA `,` $scaleB attr-dict `:` `(` type(operands) `)`",
        rules="""
            kind=mxf4nvf4 blockScale=default: mxf4nvf4 requires block scale attribute
            kind!=mxf4nvf4 blockScale=block16: {kind} kind does not support block16 attribute
        """,
        lower=_lower,
    )


def _stationary(name: str, description: str, *, sparse: bool = False) -> type[Operation]:
    """Define a one-CTA multiplication that keeps B in a collector buffer."""
    fields, operands, _ = _operands(sparse=sparse)
    return operation(
        f"nvvm.tcgen05.mma{name}({fields}, zeroColMask as zero_column_mask_desc?: i64, {_COLLECTOR},"
        " kind: tcgen05_mma_kind, collectorBBuffer: tcgen05_mma_collectorb = b0)",
        description,
        *(tcgen05_mma.STATIONARY, tcgen05_mma.STATIONARY_TENSOR),
        syntax=f"{operands} (`,` $zeroColMask^)? attr-dict `:` `(` type(operands) `)`",
        words={"cta_group": "cta_group::1"},
        lower=_lower,
    )


_SPARSE = "Multiplication of a sparse A"
Mma = _unscaled(
    "", "Multiplication of matrices into tensor memory: D = A * B + D, or D = A * B if `enableInputD` is false."
)
MmaSp = _unscaled(".sp", f"{_SPARSE} and a dense B into tensor memory.", sparse=True)
MmaBlockScale = _scaled(".block_scale", "Multiplication of matrices with block scales into tensor memory.")
MmaSpBlockScale = _scaled(
    ".sp.block_scale", f"{_SPARSE} and a dense B with block scales into tensor memory.", sparse=True
)
MmaWs = _stationary(".ws", "Weight-stationary multiplication: B stays in a collector buffer.")
MmaWsSp = _stationary(
    ".ws.sp", "Weight-stationary multiplication of a sparse A: B stays in a collector buffer.", sparse=True
)
