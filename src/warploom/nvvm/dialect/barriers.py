"""Barriers of the CTA, and ends, pauses and events of a thread."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I16, I32, IntegerAttr, i1, i16, i32
from xdsl.dialects.llvm import CallIntrinsicOp
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, opt_result_def

from warploom.isa.instructions import barrier, compare, control
from warploom.nvvm.dialect.attributes import BarrierReduction
from warploom.nvvm.dialect.intrinsic import IntrinsicOperation
from warploom.nvvm.dialect.lowering import InstructionTemplate, Lowering, Temporary
from warploom.nvvm.dialect.operation import SEGMENTED, Operation, operation
from warploom.nvvm.intrinsics import PREFIX, name_of
from warploom.nvvm.llvm_builder import LlvmBuilder

_BAR = {"barrier": "bar"}


@operation("nvvm.barrier0", barrier.BARRIER_SYNC, words=_BAR)
class Barrier0(IntrinsicOperation):
    """Barrier 0 of all threads of the CTA."""

    def lower(self) -> Lowering:
        return self.instruction(a=0)

    def arguments(self, build: LlvmBuilder) -> Sequence[SSAValue]:
        return [build.constant(0, i32)]


@operation("nvvm.barrier", barrier.BARRIER_SYNC, words=_BAR)
class Barrier(IntrinsicOperation):
    """Barrier of the threads of the CTA, optionally with a combination of their predicates."""

    irdl_options = SEGMENTED
    barrierId = opt_operand_def(i32)
    numberOfThreads = opt_operand_def(i32)
    reductionPredicate = opt_operand_def(i32)
    reductionOp = opt_prop_def(BarrierReduction)
    res = opt_result_def(i32)
    assembly_format = (
        "(`id` `=` $barrierId^)? (`number_of_threads` `=` $numberOfThreads^)?"
        " (qualified($reductionOp)^ $reductionPredicate)? (`->` type($res)^)? attr-dict"
    )

    def check(self) -> None:
        if (self.reductionOp is None) != (self.reductionPredicate is None):
            raise self.error("a reduction and its predicate require each other")
        if self.numberOfThreads is not None and self.barrierId is None:
            raise self.error("number_of_threads requires an id")
        if self.reductionOp is not None and self.barrierId is not None:
            raise self.error("a reduction uses barrier 0; expected no id")
        if self.res is not None and self.reductionOp is None:
            raise self.error("only a reduction has a result")

    def lower(self) -> Lowering:
        if self.reductionOp is None or self.reductionPredicate is None:
            return self.instruction(a=0 if self.barrierId is None else self.barrierId, b=self.numberOfThreads)
        counts = self.reductionOp.data == "popc"
        flag, combined = Temporary("p"), Temporary("q", "b32" if counts else "pred")
        reduced = self.res if counts and self.res is not None else combined
        words = {**_BAR, "op": self.reductionOp.data, "type": "u32" if counts else "pred"}
        statements = [
            InstructionTemplate(
                [compare.SETP], {"CmpOp": "ne", "type": "b32"}, {"p": flag, "a": self.reductionPredicate, "b": 0}
            ),
            InstructionTemplate([barrier.BARRIER_RED], words, {"d": reduced, "a": 0, "c": flag}),
        ]
        if self.res is not None and not counts:
            operands = {"d": self.res, "a": 1, "b": 0, "c": combined}
            statements.append(InstructionTemplate([compare.SELP], {"type": "b32"}, operands))
        return Lowering(statements)

    def arguments(self, build: LlvmBuilder) -> Sequence[SSAValue]:
        number = build.constant(0, i32) if self.barrierId is None else self.barrierId
        return [number] if self.numberOfThreads is None else [number, self.numberOfThreads]

    def to_llvm(self, build: LlvmBuilder) -> Sequence[SSAValue] | None:
        if self.reductionOp is None or self.reductionPredicate is None:
            return super().to_llvm(build)
        word = self.reductionOp.data
        args = [*self.arguments(build), build.is_not_zero(self.reductionPredicate)]
        name = name_of(barrier.BARRIER_RED, {**_BAR, "op": word}).removeprefix(PREFIX)
        combined = build.value(name, args, i32 if word == "popc" else i1)
        return [build.resized(combined, i32)] * (self.res is not None)


@operation("nvvm.barrier.arrive", barrier.BARRIER_ARRIVE, words=_BAR)
class BarrierArrive(Operation):
    """Arrival at a barrier of the CTA without a wait."""

    barrierId = opt_operand_def(i32)
    numberOfThreads = operand_def(i32)
    assembly_format = "(`id` `=` $barrierId^)? `number_of_threads` `=` $numberOfThreads attr-dict"

    def lower(self) -> Lowering:
        return self.instruction(a=0 if self.barrierId is None else self.barrierId, b=self.numberOfThreads)


@operation("nvvm.exit", control.EXIT)
class Exit(IntrinsicOperation):
    """End of the thread."""


@operation("nvvm.breakpoint", control.BRKPT)
class Breakpoint(Operation):
    """Stop in a debugger."""

    def to_llvm(self, build: LlvmBuilder) -> Sequence[SSAValue]:
        build.operations.append(CallIntrinsicOp("llvm.debugtrap", [], []))
        return ()


@operation("nvvm.nanosleep", control.NANOSLEEP, names={"duration": "t"})
class Nanosleep(IntrinsicOperation):
    """Pause of about the given number of nanoseconds."""

    duration = operand_def(i32)
    assembly_format = "attr-dict $duration"


@operation("nvvm.pmevent", control.PMEVENT)
class PerformanceEvent(IntrinsicOperation):
    """Performance monitor events, by number or as a mask."""

    maskedEventId = opt_prop_def(IntegerAttr[I16])
    eventId = opt_prop_def(IntegerAttr[I32])
    assembly_format = "attr-dict (`id` `=` $eventId^)? (`mask` `=` $maskedEventId^)?"

    @property
    def events(self) -> int:
        """Mask of the events."""
        if self.eventId is not None:
            return 1 << self.eventId.value.data
        return 0 if self.maskedEventId is None else self.maskedEventId.value.data % (1 << 16)

    def check(self) -> None:
        if (self.eventId is None) == (self.maskedEventId is None):
            raise self.error("expected either id or mask")
        if self.eventId is not None and self.eventId.value.data not in range(16):
            raise self.error(f"id is {self.eventId.value.data}; expected 0 to 15")

    def lower(self) -> Lowering:
        return self.instruction({"mask": "mask"}, a=self.events)

    def to_llvm(self, build: LlvmBuilder) -> Sequence[SSAValue] | None:
        # LLVM prints a mask with the highest bit as a negative number, which ptxas refuses.
        return None if self.events >> 15 else super().to_llvm(build)

    def called(self, build: LlvmBuilder) -> InstructionTemplate | None:
        return None

    def arguments(self, build: LlvmBuilder) -> Sequence[SSAValue]:
        return [build.constant(self.events, i16)]
