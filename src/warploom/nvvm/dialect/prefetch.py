"""Prefetch of cache lines and tensor maps."""

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr, i1
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def

from warploom.isa.instructions import memory
from warploom.nvvm.dialect.attributes import CacheLevel, EvictionPriority
from warploom.nvvm.dialect.intrinsic import IntrinsicOperation
from warploom.nvvm.dialect.lowering import InstructionTemplate, Lowering, Memory
from warploom.nvvm.dialect.operation import operation
from warploom.nvvm.dialect.types import ADDRESS_SPACES, pointer, space_of
from warploom.nvvm.llvm_builder import LlvmBuilder

_PARAMETERS = 101
"""Address space of kernel parameters in LLVM."""


@operation("nvvm.prefetch", memory.PREFETCH)
class Prefetch(IntrinsicOperation):
    """Prefetch of a cache line, or of a tensor map."""

    cacheLevel = opt_prop_def(CacheLevel)
    evictPriority = opt_prop_def(EvictionPriority)
    addr = operand_def(pointer(0, 1, 4, 5))
    predicate = opt_operand_def(i1)
    tensormap = opt_prop_def(UnitAttr)
    uniform = opt_prop_def(UnitAttr)
    in_param_space = opt_prop_def(UnitAttr)
    assembly_format = (
        "(`level` `=` $cacheLevel^ (`uniform` $uniform^)? `,`)?"
        " (`tensormap` $tensormap^ (`in_param_space` $in_param_space^)? `,`)?"
        " (`evict_priority` `=` $evictPriority^ `,`)? $addr (`,` `predicate` `=` $predicate^)?"
        " attr-dict `:` type(operands)"
    )

    def check(self) -> None:
        space, level = space_of(self.addr) or "generic", self.cacheLevel
        if (level is None) == (self.tensormap is None):
            raise self.error("expected either a level or tensormap")
        if level is None:
            allowed = ["generic"] if self.in_param_space is not None else ["generic", "const"]
            if self.evictPriority is not None:
                raise self.error("evict_priority has no effect on a tensor map")
        else:
            allowed = ["generic", "global", "local"]
            if self.predicate is not None:
                raise self.error("only a prefetch of a tensor map has a predicate")
            if self.uniform is not None:
                allowed = ["generic"]
                if level.data != "L1":
                    raise self.error(f"uniform requires level L1, got {level.data}")
            if (priority := self.evictPriority) is not None:
                allowed = ["global"]
                if level.data != "L2" or priority.data not in ("evict_normal", "evict_last"):
                    raise self.error(
                        f"{priority.data} with level {level.data}; expected evict_normal or evict_last, and L2"
                    )
        if space not in allowed:
            raise self.error(f"addr is in the {space} space; expected {' or '.join(allowed)}")

    def lower(self) -> Lowering:
        if self.cacheLevel is None:
            # A generic address may point to a parameter. Only the intrinsic has an address of the parameter space.
            in_parameters = self.in_param_space is not None and self.predicate is None
            space, level = "param" if in_parameters else space_of(self.addr), "tensormap"
        else:
            if self.uniform is not None:
                return Lowering([InstructionTemplate([memory.PREFETCHU], {}, {"a": Memory(self.addr)})])
            priority = self.evictPriority
            space = space_of(self.addr)
            level = self.cacheLevel.data + (f"::{priority.data}" if priority is not None else "")
        return Lowering([self.declared({"space": space, "level": level}, a=self.addr)])

    def to_llvm(self, build: LlvmBuilder) -> Sequence[SSAValue] | None:
        # A predicate requires inline PTX.
        return super().to_llvm(build) if self.predicate is None else None

    def arguments(self, build: LlvmBuilder) -> Sequence[SSAValue]:
        # As in MLIR, the parameter space has an effect only on tensor maps.
        is_parameter = self.tensormap is not None and self.in_param_space is not None
        return [build.in_space(self.addr, _PARAMETERS) if is_parameter else self.addr]

    def named(self, name: str) -> str:
        if self.tensormap is None:
            return name
        return f"{name}.p{_PARAMETERS if self.in_param_space is not None else ADDRESS_SPACES[space_of(self.addr)]}"
