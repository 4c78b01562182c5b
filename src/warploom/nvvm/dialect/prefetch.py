"""Prefetch of cache lines and tensor maps."""

from dataclasses import replace

from warploom.isa.instructions import memory
from warploom.nvvm.dialect.lowering import InstructionTemplate, Lowering, Memory
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.llvm_builder import LlvmBuilder

_PARAMETERS = 101
"""Address space of kernel parameters in LLVM."""


class _Prefetch(Operation):
    def lower(self) -> Lowering:
        if self.has("tensormap"):
            # A generic address may point to a parameter. Only the intrinsic has an address of the parameter space.
            in_parameters = self.has("in_param_space") and not self.has("predicate")
            space = "param" if in_parameters else self.address_space("addr")
            return self.instruction({"space": space, "level": "tensormap", "tensormap": ""})
        if self.has("uniform"):
            return Lowering([InstructionTemplate([memory.PREFETCHU], {}, {"a": Memory(self.value("addr"))})])
        level = self.text("cacheLevel") + (f"::{self.text('evictPriority')}" if self.has("evictPriority") else "")
        return self.instruction({"space": self.address_space("addr"), "level": level})

    def called(self, build: LlvmBuilder) -> InstructionTemplate | None:
        template = super().called(build)
        # As in MLIR, the parameter space has an effect only on tensor maps.
        is_parameter = self.has("in_param_space") and self.has("tensormap") and not self.has("predicate")
        if template is None or not is_parameter:
            return template
        return replace(template, operands={"a": Memory(build.in_space(self.value("addr"), _PARAMETERS))})


_IN_SPACE = "addr is in the {addr} space; expected"
_PRIORITY = (
    "evict_priority is {evictPriority} with level {cacheLevel}; expected evict_normal or evict_last with level L2"
)
Prefetch = operation(
    "nvvm.prefetch(addr as a: ptr0|ptr1|ptr4|ptr5, predicate?: i1, cacheLevel?: prefetch_cache_level,"
    " evictPriority?: cache_eviction_priority, tensormap?: unit, uniform?: unit, in_param_space?: unit)",
    "Prefetch of the cache line at `addr` to the level `L1` or `L2`, or of a tensor map."
    " With `uniform`, the instruction is `prefetchu`.",
    memory.PREFETCH,
    syntax="(`level` `=` $cacheLevel^ (`uniform` $uniform^)? `,`)?"
    " (`tensormap` $tensormap^ (`in_param_space` $in_param_space^)? `,`)?"
    " (`evict_priority` `=` $evictPriority^ `,`)? $addr (`,` `predicate` `=` $predicate^)?"
    " attr-dict `:` type(operands)",
    rules=f"""
        cacheLevel tensormap: expected level or tensormap, got both
        !cacheLevel !tensormap: expected level or tensormap, got neither
        tensormap evictPriority: evict_priority has no effect on a tensor map
        tensormap in_param_space addr!=generic: {_IN_SPACE} generic
        tensormap addr!=generic|const: {_IN_SPACE} generic or const
        cacheLevel predicate: only a prefetch of a tensor map has a predicate
        cacheLevel=L2 uniform: uniform requires level L1, got {{cacheLevel}}
        cacheLevel=L1 evictPriority: {_PRIORITY}
        cacheLevel=L2 evictPriority evictPriority!=evict_normal|evict_last: {_PRIORITY}
        cacheLevel evictPriority addr!=global: {_IN_SPACE} global
        cacheLevel uniform addr!=generic: {_IN_SPACE} generic
        cacheLevel addr!=generic|global|local: {_IN_SPACE} generic or global or local
    """,
    base=_Prefetch,
)
