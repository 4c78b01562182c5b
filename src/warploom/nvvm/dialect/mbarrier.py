"""Barriers in shared memory: the operations whose names begin with nvvm.mbarrier.

Some of MLIR's go through intrinsics that know shared addresses alone: a generic address is converted first. And
those intrinsics have a count where the text has none, which is one.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i1, i32, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrConstraint,
    eq,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_result_def,
    prop_def,
    result_def,
)

from warploom.nvvm.dialect.operation import Operation
from warploom.nvvm.dialect.pieces import At, Code, Local, Mark, Piece, Sink, Statement, pointer, space_of
from warploom.nvvm.dialect.vocabulary import Scope

_FALSE = IntegerAttr.from_bool(False)
_SCOPES = ("cta", "cluster")


def _check_scope(operation: Operation, scope: Scope) -> None:
    if scope.data not in _SCOPES:
        raise operation.refuse("mbarrier scope must be either CTA or Cluster")


def _order(scope: Scope, *, relaxed: bool, plain: str) -> dict[str, str]:
    """The words of an order: none for the `plain` one, of the CTA."""
    if relaxed:
        return {"sem": "relaxed", "scope": scope.data}
    return {} if scope.data == "cta" else {"sem": plain, "scope": scope.data}


def _shared(address: SSAValue) -> tuple[list[Statement], At, str]:
    """An address of shared memory: what makes it from a generic one, the address, and its space."""
    space = space_of(address)
    if space:
        return [], At(address), space
    found = Local("shared", "b64")
    convert = Statement(("memory.cvta_to",), {"space": "shared", "size": "u64"}, {"p": found, "a": address})
    return [convert], At(found), "shared"


@irdl_op_definition
class MbarrierInit(Operation):
    """Makes a barrier that expects so many arrivals in each phase."""

    name = "nvvm.mbarrier.init"
    FORMS: ClassVar[tuple[str, ...]] = ("mbarrier.init",)
    addr = operand_def(pointer(0, 3))
    count = operand_def(i32)
    predicate = opt_operand_def(i1)
    assembly_format = "$addr `,` $count (`,` `predicate` `=` $predicate^)? attr-dict `:` type(operands)"

    def code(self) -> Code:
        operands: dict[str, Piece] = {"addr": At(self.addr), "count": self.count}
        return Code([Statement(self.FORMS, {"space": space_of(self.addr)}, operands, self.predicate)])


@irdl_op_definition
class MbarrierInval(Operation):
    """Gives the memory of a barrier back."""

    name = "nvvm.mbarrier.inval"
    FORMS: ClassVar[tuple[str, ...]] = ("mbarrier.inval",)
    addr = operand_def(pointer(0, 3))
    assembly_format = "$addr attr-dict `:` type(operands)"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, {"space": space_of(self.addr)}, {"addr": At(self.addr)})])


class _Transactions(Operation):
    """What adds to the bytes that a phase waits for, or takes from them."""

    FORMS: ClassVar[tuple[str, ...]] = ("mbarrier.transactions",)

    addr = operand_def(pointer(3, 7))
    txcount = operand_def(i32)
    scope = prop_def(Scope, default_value=Scope("cta"))
    assembly_format = "$addr `,` $txcount attr-dict `:` type(operands)"

    def check(self) -> None:
        _check_scope(self, self.scope)

    def code(self) -> Code:
        words = {
            "op": self.name.rpartition(".")[2],
            "sem": "relaxed",
            "scope": self.scope.data,
            "space": space_of(self.addr),
        }
        operands: dict[str, Piece] = {"addr": At(self.addr), "txCount": self.txcount}
        return Code([Statement(self.FORMS, words, operands)])


@irdl_op_definition
class MbarrierExpectTx(_Transactions):
    """Adds to the bytes that the phase waits for."""

    name = "nvvm.mbarrier.expect_tx"


@irdl_op_definition
class MbarrierCompleteTx(_Transactions):
    """Takes from the bytes that the phase waits for."""

    name = "nvvm.mbarrier.complete_tx"


# Arriving ---------------------------------------------------------------------------------------------------


class _Arrival(Operation):
    """What counts the thread as arrived. In another CTA's memory it returns no state."""

    FORMS: ClassVar[tuple[str, ...]] = ("mbarrier.arrive", "mbarrier.arrive_count", "mbarrier.arrive_remote")

    addr = operand_def(pointer(0, 3, 7))
    count = opt_operand_def(i32)
    scope = prop_def(Scope, default_value=Scope("cta"))
    relaxed = prop_def(BoolAttr, default_value=_FALSE)
    res = opt_result_def(i64)
    assembly_format = "$addr (`,` $count^)? attr-dict `:` type($addr) (`->` type($res)^)?"

    OP: ClassVar[str]

    def check(self) -> None:
        _check_scope(self, self.scope)
        _check_state(self, self.addr, self.res)

    @property
    @abstractmethod
    def _is_plain(self) -> bool:
        """Whether MLIR has an intrinsic for it that takes no count."""

    def code(self) -> Code:
        words = {"op": self.OP, **_order(self.scope, relaxed=bool(self.relaxed.value.data), plain="release")}
        before, address, words["space"] = _shared(self.addr)
        state: Piece = Local("state", "b64") if self.res is None else self.res
        if self._is_plain:
            return Code([*before, Statement(("mbarrier.arrive",), words, {"state": state, "addr": address})])
        count: Piece | None = self.count
        if count is None:
            count = Local("count", "b32")
            before.append(Statement(("move.mov",), {"type": "b32"}, {"d": count, "a": 1}))
        operands: dict[str, Piece] = {"addr": address, "count": count}
        if words["space"] == "shared::cluster":
            return Code([*before, Statement(("mbarrier.arrive_remote",), words, {"_": Sink(), **operands})])
        return Code([*before, Statement(("mbarrier.arrive_count",), words, {"state": state, **operands})])


def _check_state(operation: Operation, address: SSAValue, state: SSAValue | None) -> None:
    if space_of(address) == "shared::cluster" and state is not None:
        raise operation.refuse("mbarrier in shared_cluster space cannot return any value")


@irdl_op_definition
class MbarrierArrive(_Arrival):
    """Counts the thread as arrived."""

    name = "nvvm.mbarrier.arrive"
    OP: ClassVar[str] = "arrive"

    @property
    def _is_plain(self) -> bool:
        return (
            self.count is None
            and not self.relaxed.value.data
            and self.scope.data == "cta"
            and space_of(self.addr) != "shared::cluster"
        )


@irdl_op_definition
class MbarrierArriveDrop(_Arrival):
    """Counts the thread as arrived, now and in every later phase."""

    name = "nvvm.mbarrier.arrive_drop"
    OP: ClassVar[str] = "arrive_drop"

    @property
    def _is_plain(self) -> bool:
        return False


class _NoComplete(Operation):
    """What counts arrivals that do not complete the phase."""

    FORMS: ClassVar[tuple[str, ...]] = ("mbarrier.arrive_no_complete",)

    addr = operand_def(pointer(0, 3))
    count = operand_def(i32)
    res = result_def(i64)
    assembly_format = "$addr `,` $count attr-dict `:` type(operands) `->` type($res)"

    OP: ClassVar[str]

    def code(self) -> Code:
        operands: dict[str, Piece] = {"state": self.res, "addr": At(self.addr), "count": self.count}
        words = {"op": self.OP, "space": space_of(self.addr)}
        return Code([Statement(self.FORMS, words, operands)])


@irdl_op_definition
class MbarrierArriveNocomplete(_NoComplete):
    """Counts arrivals that do not complete the phase."""

    name = "nvvm.mbarrier.arrive.nocomplete"
    OP: ClassVar[str] = "arrive"


@irdl_op_definition
class MbarrierArriveDropNocomplete(_NoComplete):
    """Counts arrivals, now and in every later phase, that do not complete the phase."""

    name = "nvvm.mbarrier.arrive_drop.nocomplete"
    OP: ClassVar[str] = "arrive_drop"


_EXPECTING = ("mbarrier.arrive_expect_tx", "mbarrier.arrive_expect_tx_remote")


def _expecting(
    operation: MbarrierArriveExpectTx | MbarrierArriveDropExpectTx, op: str, predicate: SSAValue | None
) -> Code:
    words = {
        "op": op,
        **_order(operation.scope, relaxed=bool(operation.relaxed.value.data), plain="release"),
    }
    if predicate is not None:
        words["space"] = space_of(operation.addr)
        guarded: dict[str, Piece] = {
            "_": Sink(),
            "state": Sink(),
            "addr": At(operation.addr),
            "txCount": operation.txcount,
        }
        return Code([Statement(_EXPECTING, words, guarded, predicate)])
    before, address, words["space"] = _shared(operation.addr)
    operands: dict[str, Piece] = {"addr": address, "txCount": operation.txcount}
    if words["space"] == "shared::cluster":
        remote = Statement(("mbarrier.arrive_expect_tx_remote",), words, {"_": Sink(), **operands})
        return Code([*before, remote])
    state: Piece = Local("state", "b64") if operation.res is None else operation.res
    return Code([*before, Statement(("mbarrier.arrive_expect_tx",), words, {"state": state, **operands})])


@irdl_op_definition
class MbarrierArriveExpectTx(Operation):
    """Adds to the bytes that the phase waits for, and counts the thread as arrived."""

    name = "nvvm.mbarrier.arrive.expect_tx"
    FORMS: ClassVar[tuple[str, ...]] = _EXPECTING
    addr = operand_def(pointer(0, 3, 7))
    txcount = operand_def(i32)
    scope = prop_def(Scope, default_value=Scope("cta"))
    relaxed = prop_def(BoolAttr, default_value=_FALSE)
    predicate = opt_operand_def(i1)
    res = opt_result_def(i64)
    assembly_format = (
        "$addr `,` $txcount (`,` `predicate` `=` $predicate^)? attr-dict"
        " `:` type(operands) (`->` type($res)^)?"
    )

    def check(self) -> None:
        _check_scope(self, self.scope)
        _check_state(self, self.addr, self.res)
        if self.predicate is not None and self.res is not None:
            raise self.refuse("return-value is not supported when predicate is used")
        if self.predicate is not None and self.scope.data != "cta":
            raise self.refuse("mbarrier scope must be CTA when using predicate")
        if self.predicate is not None and space_of(self.addr) == "shared::cluster":
            raise self.refuse("mbarrier in shared_cluster space is not supported when using predicate")
        if self.predicate is not None and self.relaxed.value.data:
            raise self.refuse("mbarrier with relaxed semantics is not supported when using predicate")

    def code(self) -> Code:
        return _expecting(self, "arrive", self.predicate)


@irdl_op_definition
class MbarrierArriveDropExpectTx(Operation):
    """Adds to the bytes that the phase waits for, and counts the thread as arrived, now and later."""

    name = "nvvm.mbarrier.arrive_drop.expect_tx"
    FORMS: ClassVar[tuple[str, ...]] = _EXPECTING
    addr = operand_def(pointer(0, 3, 7))
    txcount = operand_def(i32)
    scope = prop_def(Scope, default_value=Scope("cta"))
    relaxed = prop_def(BoolAttr, default_value=_FALSE)
    res = opt_result_def(i64)
    assembly_format = "$addr `,` $txcount attr-dict `:` type(operands) (`->` type($res)^)?"

    def check(self) -> None:
        _check_scope(self, self.scope)
        _check_state(self, self.addr, self.res)

    def code(self) -> Code:
        return _expecting(self, "arrive_drop", None)


# Waiting ----------------------------------------------------------------------------------------------------


def _waiting(operation: MbarrierTestWait | MbarrierTryWait, op: str, ticks: SSAValue | None) -> Code:
    words = {
        "op": op,
        "parity": "parity" if operation.stateOrPhase.type == i32 else "",
        **_order(operation.scope, relaxed=bool(operation.relaxed.value.data), plain="acquire"),
    }
    before, address, words["space"] = _shared(operation.addr)
    operands: dict[str, Piece] = {
        "waitComplete": operation.res,
        "addr": address,
        "phase": operation.stateOrPhase,
    }
    if ticks is not None:
        operands["suspendTimeHint"] = ticks
    return Code([*before, Statement(operation.FORMS, words, operands)])


def _state_or_phase() -> AttrConstraint:
    return eq(i64) | eq(i32)


@irdl_op_definition
class MbarrierTestWait(Operation):
    """Asks whether a phase, told by its state or by its parity, is complete."""

    name = "nvvm.mbarrier.test.wait"
    FORMS: ClassVar[tuple[str, ...]] = ("mbarrier.test_wait",)
    addr = operand_def(pointer(0, 3))
    stateOrPhase = operand_def(_state_or_phase())
    scope = prop_def(Scope, default_value=Scope("cta"))
    relaxed = prop_def(BoolAttr, default_value=_FALSE)
    res = result_def(i1)
    assembly_format = "$addr `,` $stateOrPhase attr-dict `:` type(operands) `->` type($res)"

    def check(self) -> None:
        _check_scope(self, self.scope)

    def code(self) -> Code:
        return _waiting(self, "test_wait", None)


@irdl_op_definition
class MbarrierTryWait(Operation):
    """Asks whether a phase is complete, and may wait a while first."""

    name = "nvvm.mbarrier.try_wait"
    FORMS: ClassVar[tuple[str, ...]] = ("mbarrier.try_wait",)
    addr = operand_def(pointer(0, 3))
    stateOrPhase = operand_def(_state_or_phase())
    ticks = opt_operand_def(i32)
    scope = prop_def(Scope, default_value=Scope("cta"))
    relaxed = prop_def(BoolAttr, default_value=_FALSE)
    res = result_def(i1)
    assembly_format = "$addr `,` $stateOrPhase (`,` $ticks^)? attr-dict `:` type(operands) `->` type($res)"

    def check(self) -> None:
        _check_scope(self, self.scope)

    def code(self) -> Code:
        return _waiting(self, "try_wait", self.ticks)


@irdl_op_definition
class MbarrierTryWaitParity(Operation):
    """Waits until the phase of a parity is complete: a loop around the instruction."""

    name = "nvvm.mbarrier.try_wait.parity"
    FORMS: ClassVar[tuple[str, ...]] = ("mbarrier.try_wait",)
    addr = operand_def(pointer(0, 3))
    phase = operand_def(i32)
    ticks = operand_def(i32)
    assembly_format = "$addr `,` $phase `,` $ticks attr-dict `:` type(operands)"

    def code(self) -> Code:
        complete, again, done = Local("complete"), Local("again", "label"), Local("done", "label")
        words = {"op": "try_wait", "parity": "parity", "space": space_of(self.addr)}
        operands: dict[str, Piece] = {
            "waitComplete": complete,
            "addr": At(self.addr),
            "phase": self.phase,
            "suspendTimeHint": self.ticks,
        }
        branch = ("control.bra",)
        return Code(
            [
                Mark(again.name),
                Statement(self.FORMS, words, operands),
                Statement(branch, {"uni": "uni"}, {"tgt": done}, complete),
                Statement(branch, {"uni": "uni"}, {"tgt": again}),
                Mark(done.name),
            ]
        )
