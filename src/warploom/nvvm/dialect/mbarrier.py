"""Operations on mbarriers: all operations whose names begin with nvvm.mbarrier."""

from xdsl.ir import SSAValue

from warploom.isa.instructions import control, mbarrier, memory
from warploom.nvvm.dialect.lowering import Discarded, InstructionTemplate, Lowering, Memory, OperandTemplate, Temporary
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.dialect.types import SHARED_SPACE
from warploom.nvvm.llvm_builder import LlvmBuilder

_REMOTE = "shared::cluster"
_SCOPE = "scope: mem_scope = cta"
_ORDER = f"relaxed: bool = 0, {_SCOPE}"
_SCOPE_RULE = "scope!=cta|cluster: mbarrier scope must be either CTA or Cluster"

MbarrierInit = operation(
    "nvvm.mbarrier.init(addr in space: ptr0|ptr3, count: i32, predicate?: i1)",
    "Initialisation of an mbarrier with the number of arrivals of each phase.",
    mbarrier.INIT,
    syntax="$addr `,` $count (`,` `predicate` `=` $predicate^)? attr-dict `:` type(operands)",
)
MbarrierInval = operation(
    "nvvm.mbarrier.inval(addr in space: ptr0|ptr3)",
    "Invalidation of an mbarrier, which frees its memory for other data.",
    mbarrier.INVAL,
    syntax="$addr attr-dict `:` type(operands)",
)


def _change_transactions(word: str, description: str) -> type[Operation]:
    return operation(
        f"nvvm.mbarrier.{word}(addr in space: ptr3|ptr7, txcount: i32, {_SCOPE})",
        description,
        mbarrier.TRANSACTIONS,
        syntax="$addr `,` $txcount attr-dict `:` type(operands)",
        words={"op": word, "sem": "relaxed"},
        rules=_SCOPE_RULE,
    )


MbarrierExpectTx = _change_transactions(
    "expect_tx", "Increase of the number of bytes that the current phase waits for."
)
MbarrierCompleteTx = _change_transactions(
    "complete_tx", "Decrease of the number of bytes that the current phase waits for."
)


class _Ordered(Operation):
    """Base class of operations with a memory order."""

    def order_words(self, default: str) -> dict[str, str]:
        """Return the modifiers of the memory order and scope by name.

        `default` is the order of a non-relaxed operation, "acquire" or "release".
        """
        if self.has("relaxed"):
            return {"sem": "relaxed", "scope": self.text("scope")}
        # As in MLIR, the PTX does not state the default order and scope.
        return (
            {"sem": "", "scope": ""} if self.text("scope") == "cta" else {"sem": default, "scope": self.text("scope")}
        )

    def at(self, address: SSAValue | Temporary, space: str) -> InstructionTemplate:
        """Return the instruction on the mbarrier at an address in a state space."""
        return self.template({"space": space}, addr=Memory(address))

    def called(self, build: LlvmBuilder) -> InstructionTemplate | None:
        # The intrinsics accept only addresses in shared memory, and no predicate.
        if self.has("predicate"):
            return None
        address, space = self.value("addr"), self.address_space("addr")
        return self.at(address if space else build.in_space(address, SHARED_SPACE), space or "shared")

    def lower(self) -> Lowering:
        address, space = self.value("addr"), self.address_space("addr")
        if space or self.has("predicate"):
            return Lowering([self.at(address, space)])
        base, words = Temporary("shared", "b64"), {"space": "shared", "size": "u64"}
        conversion = InstructionTemplate([memory.CVTA_TO], words, {"p": base, "a": address})
        return Lowering([conversion, self.at(base, "shared")])


# Arrivals ---------------------------------------------------------------------------------------------------


class _Arrival(_Ordered):
    """Arrival that returns the state of the phase, unless the mbarrier is in another CTA."""

    def at(self, address: SSAValue | Temporary, space: str) -> InstructionTemplate:
        words = self.order_words("release") | {"space": space}
        unused = Discarded() if self.has("predicate") else Temporary("state", "b64")
        results: dict[str, OperandTemplate] = {"state": self.optional("res") or unused, "_": Discarded()}
        return self.template(words, addr=Memory(address), **results, **self.arrivals())

    def arrivals(self) -> dict[str, OperandTemplate]:
        """Return the number of arrivals, by the name of the operand."""
        return {}


class _CountedArrival(_Arrival):
    """Arrival that decreases the number of pending arrivals by 1, or by `count`."""

    def arrivals(self) -> dict[str, OperandTemplate]:
        # MLIR calls an intrinsic without a count for an arrival at the CTA's mbarrier with the default order.
        is_local = self.text("scope") == "cta" and self.address_space("addr") != _REMOTE
        has_default_order = is_local and not self.has("relaxed")
        if not self.has("count") and self.WORDS["op"] == "arrive" and has_default_order:
            return {}
        return {"count": self.optional("count") or 1}


_RESULT_RULE = f"addr={_REMOTE} res: mbarrier in shared_cluster space cannot return any value"


def _arrive(word: str, description: str) -> type[Operation]:
    return operation(
        f"nvvm.mbarrier.{word}(addr: ptr0|ptr3|ptr7, count?: i32, {_ORDER}) -> res?: i64",
        description,
        *(mbarrier.ARRIVE, mbarrier.ARRIVE_COUNT, mbarrier.ARRIVE_REMOTE),
        syntax="$addr (`,` $count^)? attr-dict `:` type($addr) (`->` type($res)^)?",
        words={"op": word},
        rules=[_SCOPE_RULE, _RESULT_RULE],
        base=_CountedArrival,
    )


def _arrive_without_completion(word: str, description: str) -> type[Operation]:
    return operation(
        f"nvvm.mbarrier.{word}.nocomplete(addr in space: ptr0|ptr3, count: i32) -> res as state: i64",
        description,
        mbarrier.ARRIVE_NO_COMPLETE,
        syntax="$addr `,` $count attr-dict `:` type(operands) `->` type($res)",
        words={"op": word},
    )


MbarrierArrive = _arrive("arrive", "Arrival at an mbarrier.")
MbarrierArriveDrop = _arrive(
    "arrive_drop", "Arrival that also decreases the number of arrivals that each later phase expects."
)
MbarrierArriveNocomplete = _arrive_without_completion("arrive", "Arrival that must not complete the phase.")
MbarrierArriveDropNocomplete = _arrive_without_completion(
    "arrive_drop", "Arrival that must not complete the phase. It also decreases the arrivals that later phases expect."
)
MbarrierArriveExpectTx = operation(
    f"nvvm.mbarrier.arrive.expect_tx(addr: ptr0|ptr3|ptr7, txcount: i32, predicate?: i1, {_ORDER}) -> res?: i64",
    "Arrival that first increases the number of bytes that the phase waits for.",
    *(mbarrier.ARRIVE_EXPECT, mbarrier.ARRIVE_EXPECT_REMOTE),
    syntax="$addr `,` $txcount (`,` `predicate` `=` $predicate^)? attr-dict `:` type(operands) (`->` type($res)^)?",
    words={"op": "arrive"},
    rules=f"""
        {_SCOPE_RULE}
        {_RESULT_RULE}
        predicate res: return-value is not supported when predicate is used
        predicate scope!=cta: mbarrier scope must be CTA when using predicate
        predicate addr={_REMOTE}: mbarrier in shared_cluster space is not supported when using predicate
        predicate relaxed: mbarrier with relaxed semantics is not supported when using predicate
    """,
    base=_Arrival,
)
MbarrierArriveDropExpectTx = operation(
    f"nvvm.mbarrier.arrive_drop.expect_tx(addr: ptr0|ptr3|ptr7, txcount: i32, {_ORDER}) -> res?: i64",
    "Arrival that increases the expected bytes and decreases the arrivals that later phases expect.",
    *(mbarrier.ARRIVE_EXPECT, mbarrier.ARRIVE_EXPECT_REMOTE),
    syntax="$addr `,` $txcount attr-dict `:` type(operands) (`->` type($res)^)?",
    words={"op": "arrive_drop"},
    rules=[_SCOPE_RULE, _RESULT_RULE],
    base=_Arrival,
)

# Waits ------------------------------------------------------------------------------------------------------


class _Test(_Ordered):
    """Base class of tests for the completion of a phase, given by its state (i64) or parity (i32)."""

    def at(self, address: SSAValue | Temporary, space: str) -> InstructionTemplate:
        parity = "parity" if self.text("stateOrPhase") == "i32" else ""
        return self.template(self.order_words("acquire") | {"parity": parity, "space": space}, addr=Memory(address))


_TESTED = "addr: ptr0|ptr3, stateOrPhase as phase: i64|i32"
MbarrierTestWait = operation(
    f"nvvm.mbarrier.test.wait({_TESTED}, {_ORDER}) -> res as waitComplete: i1",
    "Test whether a phase is complete.",
    mbarrier.TEST_WAIT,
    syntax="$addr `,` $stateOrPhase attr-dict `:` type(operands) `->` type($res)",
    words={"op": "test_wait"},
    rules=_SCOPE_RULE,
    base=_Test,
)
MbarrierTryWait = operation(
    f"nvvm.mbarrier.try_wait({_TESTED}, ticks as suspendTimeHint?: i32, {_ORDER}) -> res as waitComplete: i1",
    "Test whether a phase is complete, after a wait of at most `ticks` nanoseconds.",
    mbarrier.TRY_WAIT,
    syntax="$addr `,` $stateOrPhase (`,` $ticks^)? attr-dict `:` type(operands) `->` type($res)",
    words={"op": "try_wait"},
    rules=_SCOPE_RULE,
    base=_Test,
)


def _lower_wait(op: Operation) -> Lowering:
    complete, again, done = Temporary("complete"), Temporary("again", "label"), Temporary("done", "label")
    uniform = {"uni": "uni"}
    return Lowering(
        [
            again,
            op.template(waitComplete=complete),
            InstructionTemplate([control.BRA], uniform, {"tgt": done}, complete),
            InstructionTemplate([control.BRA], uniform, {"tgt": again}),
            done,
        ]
    )


MbarrierTryWaitParity = operation(
    "nvvm.mbarrier.try_wait.parity(addr in space: ptr0|ptr3, phase: i32, ticks as suspendTimeHint: i32)",
    "Wait until the phase with a given parity is complete. The PTX is a loop around the test.",
    mbarrier.TRY_WAIT,
    syntax="$addr `,` $phase `,` $ticks attr-dict `:` type(operands)",
    words={"op": "try_wait", "parity": "parity"},
    lower=_lower_wait,
)
