"""Special registers: the operations whose names begin with nvvm.read.ptx.sreg."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, i32, i64
from xdsl.dialects.llvm import CallIntrinsicOp
from xdsl.ir import SSAValue
from xdsl.irdl import opt_prop_def, result_def

from warploom.isa.instructions import move
from warploom.isa.model.special_registers import SPECIAL_REGISTERS, SpecialRegister
from warploom.nvvm.dialect.attributes import ConstantRange
from warploom.nvvm.dialect.lowering import Lowering
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.llvm_builder import LlvmBuilder
from warploom.ptx.constants import WARP_SIZE

_PREFIX = "nvvm.read.ptx.sreg."
_VECTORS = "tid ntid ctaid nctaid clusterid nclusterid cluster.ctaid cluster.nctaid"
_RANGED = "laneid warpid nwarpid smid nsmid gridid warpsize cluster.ctarank cluster.nctarank"
_OTHERS = (
    "lanemask.eq lanemask.le lanemask.lt lanemask.ge lanemask.gt clock globaltimer.lo"
    " total.smem.size dynamic.smem.size aggr.smem.size"
)


class SpecialRegisterOperation(Operation):
    """Value of a special register."""

    REGISTER: ClassVar[SpecialRegister | int]
    """The register, or its value if PTX has a constant."""
    assembly_format = "attr-dict `:` type($res)"

    def lower(self) -> Lowering:
        (value,) = self.results
        return self.instruction({"type": "u64" if value.type == i64 else "u32"}, d=value, a=self.REGISTER)

    def to_llvm(self, build: LlvmBuilder) -> Sequence[SSAValue]:
        name = self.name.removeprefix("nvvm.").replace(".smem.size", "_smem_size")
        value = build.value(name, (), self.results[0].type)
        if (stated := self.properties.get("range")) is not None and isinstance(value.owner, CallIntrinsicOp):
            value.owner.attributes["res_attrs"] = ArrayAttr([DictionaryAttr({"llvm.range": stated})])
        return [value]


class _Register(SpecialRegisterOperation):
    res = result_def(i32)


class _WideRegister(SpecialRegisterOperation):
    res = result_def(i64)


class _RangedRegister(SpecialRegisterOperation):
    """Value of a special register whose range may be stated."""

    range = opt_prop_def(ConstantRange)
    res = result_def(i32)
    assembly_format = "(`range` $range^)? attr-dict `:` type($res)"

    def check(self) -> None:
        if (stated := self.range) is None:
            return
        lower, upper = (each.data % 2**32 for each in (stated.lower, stated.upper))
        if stated.type != i32:
            raise self.error(f"range has the type {stated.type}; expected {i32}")
        if lower == upper and lower not in (0, 2**32 - 1):
            raise self.error(f"range begins and ends at {lower}; expected an upper end that differs from the lower end")


def _define(name: str, base: type[SpecialRegisterOperation]) -> type[SpecialRegisterOperation]:
    stem, _, axis = name.rpartition(".")
    is_member = axis in ("x", "y", "z")
    register = f"%{stem.replace('.', '_')}.{axis}" if is_member else f"%{name.replace('.', '_')}"
    members = {"__doc__": f"Value of the special register `{register}`.", "__module__": __name__}
    defined = operation(f"{_PREFIX}{name}", move.MOV)(type(name, (base,), members))
    defined.REGISTER = WARP_SIZE if name == "warpsize" else SPECIAL_REGISTERS[register]
    return defined


_NAMES: dict[type[SpecialRegisterOperation], list[str]] = {
    _RangedRegister: [*(f"{vector}.{axis}" for vector in _VECTORS.split() for axis in "xyz"), *_RANGED.split()],
    _Register: [*_OTHERS.split(), *(f"envreg{number}" for number in range(32))],
    _WideRegister: ["clock64", "globaltimer"],
}
GENERATED = tuple(_define(name, base) for base, names in _NAMES.items() for name in names)
"""Operations of all special registers."""
