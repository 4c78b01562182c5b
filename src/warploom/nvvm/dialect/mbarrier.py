"""Operations on mbarriers: all operations whose names begin with nvvm.mbarrier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i1, i32, i64
from xdsl.ir import SSAValue
from xdsl.irdl import eq, operand_def, opt_operand_def, opt_result_def, prop_def, result_def

from warploom.isa.instructions import control, mbarrier, memory
from warploom.nvvm.dialect.attributes import Scope
from warploom.nvvm.dialect.lowering import (
    Discarded,
    InstructionTemplate,
    LabelTemplate,
    Lowering,
    Memory,
    OperandTemplate,
    Temporary,
)
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.dialect.types import SHARED_SPACE, pointer, space_of
from warploom.nvvm.llvm_builder import LlvmBuilder

_REMOTE = "shared::cluster"


@operation("nvvm.mbarrier.init", mbarrier.INIT, spaces={"space": "addr"})
class MbarrierInit(Operation):
    """Initialisation of an mbarrier with the number of arrivals of each phase."""

    addr = operand_def(pointer(0, 3))
    count = operand_def(i32)
    predicate = opt_operand_def(i1)
    assembly_format = "$addr `,` $count (`,` `predicate` `=` $predicate^)? attr-dict `:` type(operands)"


@operation("nvvm.mbarrier.inval", mbarrier.INVAL, spaces={"space": "addr"})
class MbarrierInval(Operation):
    """Invalidation of an mbarrier, which frees its memory for other data."""

    addr = operand_def(pointer(0, 3))
    assembly_format = "$addr attr-dict `:` type(operands)"


class _Scoped(Operation):
    """Base class of operations that state the scope of their memory order."""

    scope = prop_def(Scope, default_value=Scope("cta"))

    def check(self) -> None:
        if self.scope.data not in {"cta", "cluster"}:
            raise self.error("mbarrier scope must be either CTA or Cluster")


class _Transactions(_Scoped):
    """Base class of operations that change the number of bytes that the current phase waits for."""

    addr = operand_def(pointer(3, 7))
    txcount = operand_def(i32)
    SPACES: ClassVar[Mapping[str, str]] = {"space": "addr"}
    assembly_format = "$addr `,` $txcount attr-dict `:` type(operands)"


@operation("nvvm.mbarrier.expect_tx", mbarrier.TRANSACTIONS, words={"op": "expect_tx", "sem": "relaxed"})
class MbarrierExpectTx(_Transactions):
    """Increase of the number of bytes that the current phase waits for."""


@operation("nvvm.mbarrier.complete_tx", mbarrier.TRANSACTIONS, words={"op": "complete_tx", "sem": "relaxed"})
class MbarrierCompleteTx(_Transactions):
    """Decrease of the number of bytes that the current phase waits for."""


class _Ordered(_Scoped):
    """Base class of operations with a memory order."""

    relaxed = prop_def(BoolAttr, default_value=IntegerAttr.from_bool(False))

    @property
    def is_relaxed(self) -> bool:
        """True if the operation orders no other memory accesses."""
        return bool(self.relaxed.value.data)

    def order_words(self, default: str) -> dict[str, str]:
        """Return the modifiers of the memory order by name. `default` is the order of a non-relaxed operation."""
        if self.is_relaxed:
            return {"sem": "relaxed", "scope": self.scope.data}
        # As in MLIR, the PTX does not state the default order and scope.
        return {} if self.scope.data == "cta" else {"sem": default, "scope": self.scope.data}

    def at(self, address: SSAValue | Temporary, space: str) -> InstructionTemplate:
        """Return the instruction on the mbarrier at an address in a state space."""
        raise NotImplementedError

    def called(self, build: LlvmBuilder) -> InstructionTemplate | None:
        # The intrinsics accept only addresses in shared memory.
        address, space = self.operands[0], space_of(self.operands[0])
        return self.at(address if space else build.in_space(address, SHARED_SPACE), space or "shared")

    def lower(self) -> Lowering:
        address = self.operands[0]
        if space := space_of(address):
            return Lowering([self.at(address, space)])
        base, words = Temporary("shared", "b64"), {"space": "shared", "size": "u64"}
        conversion = InstructionTemplate([memory.CVTA_TO], words, {"p": base, "a": address})
        return Lowering([conversion, self.at(base, "shared")])


# Arrivals ---------------------------------------------------------------------------------------------------


class _Arrival(_Ordered):
    """Arrival that returns the state of the phase, unless the mbarrier is in another CTA."""

    res = opt_result_def(i64)

    def check(self) -> None:
        super().check()
        if space_of(self.operands[0]) == _REMOTE and self.res is not None:
            raise self.error("mbarrier in shared_cluster space cannot return any value")

    @property
    def results_by_name(self) -> dict[str, OperandTemplate]:
        """Result operands by name: the state of the phase, or `_` for an mbarrier of another CTA."""
        state = Temporary("state", "b64") if self.res is None else self.res
        return {"state": state, "_": Discarded()}


class _CountedArrival(_Arrival):
    """Arrival that decreases the number of pending arrivals by 1, or by `count`."""

    addr = operand_def(pointer(0, 3, 7))
    count = opt_operand_def(i32)
    assembly_format = "$addr (`,` $count^)? attr-dict `:` type($addr) (`->` type($res)^)?"

    @property
    def has_intrinsic_without_count(self) -> bool:
        """True if MLIR lowers the operation to an intrinsic that has no count operand."""
        return False

    def at(self, address: SSAValue | Temporary, space: str) -> InstructionTemplate:
        count = None if self.has_intrinsic_without_count else self.count or 1
        words = self.order_words("release") | {"space": space}
        return self.template(words, addr=Memory(address), count=count, **self.results_by_name)


_ARRIVALS = (mbarrier.ARRIVE, mbarrier.ARRIVE_COUNT, mbarrier.ARRIVE_REMOTE)


@operation("nvvm.mbarrier.arrive", *_ARRIVALS, words={"op": "arrive"})
class MbarrierArrive(_CountedArrival):
    """Arrival at an mbarrier."""

    @property
    def has_intrinsic_without_count(self) -> bool:
        is_local = self.scope.data == "cta" and space_of(self.addr) != _REMOTE
        return self.count is None and not self.is_relaxed and is_local


@operation("nvvm.mbarrier.arrive_drop", *_ARRIVALS, words={"op": "arrive_drop"})
class MbarrierArriveDrop(_CountedArrival):
    """Arrival that also decreases the number of arrivals that each later phase expects."""


class _NoComplete(Operation):
    """Base class of arrivals that must not complete the phase."""

    addr = operand_def(pointer(0, 3))
    count = operand_def(i32)
    res = result_def(i64)
    NAMES: ClassVar[Mapping[str, str]] = {"res": "state"}
    SPACES: ClassVar[Mapping[str, str]] = {"space": "addr"}
    assembly_format = "$addr `,` $count attr-dict `:` type(operands) `->` type($res)"


@operation("nvvm.mbarrier.arrive.nocomplete", mbarrier.ARRIVE_NO_COMPLETE, words={"op": "arrive"})
class MbarrierArriveNocomplete(_NoComplete):
    """Arrival that must not complete the phase."""


@operation("nvvm.mbarrier.arrive_drop.nocomplete", mbarrier.ARRIVE_NO_COMPLETE, words={"op": "arrive_drop"})
class MbarrierArriveDropNocomplete(_NoComplete):
    """Arrival that must not complete the phase. It also decreases the arrivals that later phases expect."""


class _ExpectingArrival(_Arrival):
    """Base class of arrivals that first increase the number of bytes that the phase waits for."""

    def at(self, address: SSAValue | Temporary, space: str) -> InstructionTemplate:
        words = self.order_words("release") | {"space": space}
        return self.template(words, addr=Memory(address), txCount=self.operands[1], **self.results_by_name)


_EXPECTING = (mbarrier.ARRIVE_EXPECT, mbarrier.ARRIVE_EXPECT_REMOTE)


@operation("nvvm.mbarrier.arrive.expect_tx", *_EXPECTING, words={"op": "arrive"})
class MbarrierArriveExpectTx(_ExpectingArrival):
    """Arrival that first increases the number of bytes that the phase waits for."""

    addr = operand_def(pointer(0, 3, 7))
    txcount = operand_def(i32)
    predicate = opt_operand_def(i1)
    assembly_format = (
        "$addr `,` $txcount (`,` `predicate` `=` $predicate^)? attr-dict `:` type(operands) (`->` type($res)^)?"
    )

    def check(self) -> None:
        super().check()
        if self.predicate is None:
            return
        if self.res is not None:
            raise self.error("return-value is not supported when predicate is used")
        if self.scope.data != "cta":
            raise self.error("mbarrier scope must be CTA when using predicate")
        if space_of(self.addr) == _REMOTE:
            raise self.error("mbarrier in shared_cluster space is not supported when using predicate")
        if self.is_relaxed:
            raise self.error("mbarrier with relaxed semantics is not supported when using predicate")

    def called(self, build: LlvmBuilder) -> InstructionTemplate | None:
        return super().called(build) if self.predicate is None else None

    def lower(self) -> Lowering:
        if self.predicate is None:
            return super().lower()
        words = {**self.order_words("release"), "space": space_of(self.addr)}
        sink = Discarded()
        return self.instruction(words, self.predicate, _=sink, state=sink, addr=self.addr, txCount=self.txcount)


@operation("nvvm.mbarrier.arrive_drop.expect_tx", *_EXPECTING, words={"op": "arrive_drop"})
class MbarrierArriveDropExpectTx(_ExpectingArrival):
    """Arrival that increases the expected bytes and decreases the arrivals that later phases expect."""

    addr = operand_def(pointer(0, 3, 7))
    txcount = operand_def(i32)
    assembly_format = "$addr `,` $txcount attr-dict `:` type(operands) (`->` type($res)^)?"


# Waits ------------------------------------------------------------------------------------------------------


class _Test(_Ordered):
    """Base class of tests for the completion of a phase.

    The operands are the address, the state or parity of the phase, and an optional time limit.
    """

    def at(self, address: SSAValue | Temporary, space: str) -> InstructionTemplate:
        _, phase, *ticks = self.operands
        timeout = ticks[0] if ticks else None
        parity = {"parity": "parity" if phase.type == i32 else "", "space": space}
        words, (res,) = self.order_words("acquire") | parity, self.results
        return self.template(words, addr=Memory(address), waitComplete=res, phase=phase, suspendTimeHint=timeout)


@operation("nvvm.mbarrier.test.wait", mbarrier.TEST_WAIT, words={"op": "test_wait"})
class MbarrierTestWait(_Test):
    """Test whether a phase is complete."""

    addr = operand_def(pointer(0, 3))
    stateOrPhase = operand_def(eq(i64) | eq(i32))
    res = result_def(i1)
    assembly_format = "$addr `,` $stateOrPhase attr-dict `:` type(operands) `->` type($res)"


@operation("nvvm.mbarrier.try_wait", mbarrier.TRY_WAIT, words={"op": "try_wait"})
class MbarrierTryWait(_Test):
    """Test whether a phase is complete, after a wait of limited time."""

    addr = operand_def(pointer(0, 3))
    stateOrPhase = operand_def(eq(i64) | eq(i32))
    ticks = opt_operand_def(i32)
    res = result_def(i1)
    assembly_format = "$addr `,` $stateOrPhase (`,` $ticks^)? attr-dict `:` type(operands) `->` type($res)"


@operation(
    "nvvm.mbarrier.try_wait.parity",
    mbarrier.TRY_WAIT,
    words={"op": "try_wait", "parity": "parity"},
    names={"ticks": "suspendTimeHint"},
    spaces={"space": "addr"},
)
class MbarrierTryWaitParity(Operation):
    """Wait until the phase with a given parity is complete. The PTX is a loop around the test."""

    addr = operand_def(pointer(0, 3))
    phase = operand_def(i32)
    ticks = operand_def(i32)
    assembly_format = "$addr `,` $phase `,` $ticks attr-dict `:` type(operands)"

    def lower(self) -> Lowering:
        complete, again, done = Temporary("complete"), Temporary("again", "label"), Temporary("done", "label")
        uniform = {"uni": "uni"}
        return Lowering(
            [
                LabelTemplate(again.name),
                self.declared(waitComplete=complete),
                InstructionTemplate([control.BRA], uniform, {"tgt": done}, complete),
                InstructionTemplate([control.BRA], uniform, {"tgt": again}),
                LabelTemplate(done.name),
            ]
        )
