"""Special registers: the operations whose names begin with nvvm.read.ptx.sreg."""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, i32
from xdsl.dialects.llvm import CallIntrinsicOp
from xdsl.ir import SSAValue

from warploom.isa.instructions import move
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.nvvm.dialect.attributes import ConstantRange
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.llvm_builder import LlvmBuilder
from warploom.ptx.constants import WARP_SIZE

_VECTORS = "tid ntid ctaid nctaid clusterid nclusterid cluster.ctaid cluster.nctaid"
_RANGED = "laneid warpid nwarpid smid nsmid gridid warpsize cluster.ctarank cluster.nctarank"
"""Registers whose range may be stated. The vectors are such registers, too."""
_OTHERS = (
    "lanemask.eq lanemask.le lanemask.lt lanemask.ge lanemask.gt clock globaltimer.lo"
    " total.smem.size dynamic.smem.size aggr.smem.size"
)
_WIDE = "clock64 globaltimer"


def _range_error(op: Operation) -> str:
    """Return the message for an illegal range, or "" if the range is legal or absent."""
    stated = op.properties.get("range")
    if not isinstance(stated, ConstantRange):
        return ""
    lower, upper = (each.data % 2**32 for each in (stated.lower, stated.upper))
    if stated.type != i32:
        return f"range has the type {stated.type}; expected {i32}"
    if lower == upper and lower not in (0, 2**32 - 1):
        return f"range is [{lower}, {lower}); expected an upper end other than {lower}"
    return ""


def _call(op: Operation, build: LlvmBuilder) -> Sequence[SSAValue]:
    name = op.name.removeprefix("nvvm.").replace(".smem.size", "_smem_size")
    value = build.value(name, (), op.results[0].type)
    if (stated := op.properties.get("range")) is not None and isinstance(value.owner, CallIntrinsicOp):
        value.owner.attributes["res_attrs"] = ArrayAttr([DictionaryAttr({"llvm.range": stated})])
    return [value]


def _read(name: str, width: int = 32, *, is_ranged: bool = False) -> type[Operation]:
    stem, _, axis = name.rpartition(".")
    is_member = axis in ("x", "y", "z")
    register = f"%{stem.replace('.', '_')}.{axis}" if is_member else f"%{name.replace('.', '_')}"
    value = WARP_SIZE if name == "warpsize" else SPECIAL_REGISTERS[register]
    return operation(
        f"nvvm.read.ptx.sreg.{name}({'range?: constant_range' if is_ranged else ''}) -> res as d: i{width}",
        f"Value of the special register `{register}`.",
        move.MOV,
        syntax=f"{'(`range` $range^)?' if is_ranged else ''} attr-dict `:` type($res)",
        words={"type": f"u{width}"},
        rules=[_range_error],
        lower=lambda op: op.instruction(a=value),
        to_llvm=_call,
    )


def _operations() -> Iterator[type[Operation]]:
    for vector in _VECTORS.split():
        yield from (_read(f"{vector}.{axis}", is_ranged=True) for axis in "xyz")
    yield from (_read(name, is_ranged=True) for name in _RANGED.split())
    yield from (_read(name) for name in (*_OTHERS.split(), *(f"envreg{number}" for number in range(32))))
    yield from (_read(name, 64) for name in _WIDE.split())


GENERATED = tuple(_operations())
"""Operations of all special registers."""
