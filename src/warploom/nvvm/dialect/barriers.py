"""Barriers of the CTA, and ends, pauses and events of a thread."""

from collections.abc import Sequence

from xdsl.dialects.builtin import i1, i32
from xdsl.dialects.llvm import CallIntrinsicOp
from xdsl.ir import SSAValue

from warploom.isa.instructions import barrier, compare, control
from warploom.nvvm.dialect.lowering import InstructionTemplate, Lowering, Temporary
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.intrinsics import PREFIX, name_of
from warploom.nvvm.llvm_builder import LlvmBuilder

_BAR = {"barrier": "bar"}

Barrier0 = operation(
    "nvvm.barrier0",
    "Barrier 0 of all threads of the CTA.",
    barrier.BARRIER_SYNC,
    words=_BAR,
    lower=lambda op: op.instruction(a=0),
)


def _lower_barrier(op: Operation) -> Lowering:
    if not op.has("reductionOp"):
        return op.instruction(a=op.optional("barrierId") or 0)
    reduction, result = op.text("reductionOp"), op.optional("res")
    counts = reduction == "popc"
    flag, combined = Temporary("p"), Temporary("q", "b32" if counts else "pred")
    reduced = result if counts and result is not None else combined
    words = {**_BAR, "op": reduction, "type": "u32" if counts else "pred"}
    compared = {"p": flag, "a": op.value("reductionPredicate"), "b": 0}
    statements = [
        InstructionTemplate([compare.SETP], {"CmpOp": "ne", "type": "b32"}, compared),
        InstructionTemplate([barrier.BARRIER_RED], words, {"d": reduced, "a": 0, "c": flag}),
    ]
    if result is not None and not counts:
        selected = {"d": result, "a": 1, "b": 0, "c": combined}
        statements.append(InstructionTemplate([compare.SELP], {"type": "b32"}, selected))
    return Lowering(statements)


def _call_reduction(op: Operation, build: LlvmBuilder) -> Sequence[SSAValue] | None:
    if not op.has("reductionOp"):
        return None
    word = op.text("reductionOp")
    name = name_of(barrier.BARRIER_RED, {**_BAR, "op": word}).removeprefix(PREFIX)
    args = [build.constant(0, i32), build.is_not_zero(op.value("reductionPredicate"))]
    combined = build.value(name, args, i32 if word == "popc" else i1)
    return [build.resized(combined, i32)] * op.has("res")


def _number_error(op: Operation) -> str:
    number = op.constant("barrierId")
    return "" if number is None or number in range(16) else f"id is {number}; expected 0 to 15"


Barrier = operation(
    "nvvm.barrier(barrierId as a?: i32, numberOfThreads as b?: i32, reductionPredicate?: i32, reductionOp?: reduction)"
    " -> res?: i32",
    "Barrier `id` for all threads of the CTA, or for `number_of_threads` of them."
    " With a reduction, barrier 0 also combines the predicates of the threads.",
    barrier.BARRIER_SYNC,
    syntax="(`id` `=` $barrierId^)? (`number_of_threads` `=` $numberOfThreads^)?"
    " (qualified($reductionOp)^ $reductionPredicate)? (`->` type($res)^)? attr-dict",
    words=_BAR,
    rules=[
        _number_error,
        """
        reductionOp !reductionPredicate: expected a reduction together with a predicate, got only the reduction
        !reductionOp reductionPredicate: expected a reduction together with a predicate, got only the predicate
        numberOfThreads !barrierId: number_of_threads requires an id
        reductionOp barrierId: a reduction uses barrier 0; expected no id, or no reduction
        res !reductionOp: only a reduction has a result
        """,
    ],
    lower=_lower_barrier,
    to_llvm=_call_reduction,
)
BarrierArrive = operation(
    "nvvm.barrier.arrive(barrierId as a?: i32, numberOfThreads as b: i32)",
    "Arrival at a barrier of the CTA without a wait.",
    barrier.BARRIER_ARRIVE,
    syntax="(`id` `=` $barrierId^)? `number_of_threads` `=` $numberOfThreads attr-dict",
    words=_BAR,
    rules=[_number_error],
    lower=lambda op: op.instruction(a=op.optional("barrierId") or 0),
)
Exit = operation("nvvm.exit", "End of the thread.", control.EXIT)


def _call_trap(op: Operation, build: LlvmBuilder) -> Sequence[SSAValue]:
    build.operations.append(CallIntrinsicOp("llvm.debugtrap", [], []))
    return ()


Breakpoint = operation("nvvm.breakpoint", "Stop in a debugger.", control.BRKPT, to_llvm=_call_trap)
Nanosleep = operation(
    "nvvm.nanosleep(duration as t: i32)",
    "Pause of about the given number of nanoseconds.",
    control.NANOSLEEP,
    syntax="attr-dict $duration",
)


class _PerformanceEvent(Operation):
    @property
    def events(self) -> int:
        """Mask of the events: bit k triggers event k."""
        return 1 << self.number("eventId") if self.has("eventId") else self.number("maskedEventId") % (1 << 16)

    def lower(self) -> Lowering:
        return self.instruction({"mask": "mask"}, a=self.events)

    def called(self, build: LlvmBuilder) -> InstructionTemplate | None:
        # LLVM prints a mask with the highest bit as a negative number, which ptxas refuses.
        return None if self.events >> 15 else super().called(build)


PerformanceEvent = operation(
    "nvvm.pmevent(maskedEventId?: int16, eventId?: int32)",
    "Performance monitor events, by number or as a mask.",
    control.PMEVENT,
    syntax="attr-dict (`id` `=` $eventId^)? (`mask` `=` $maskedEventId^)?",
    rules="""
        eventId maskedEventId: expected id or mask, got both
        !eventId !maskedEventId: expected id or mask, got neither
        eventId<0: id is {eventId}; expected 0 to 15
        eventId>15: id is {eventId}; expected 0 to 15
    """,
    base=_PerformanceEvent,
)
