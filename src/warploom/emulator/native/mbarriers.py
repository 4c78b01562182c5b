"""Native code that initialises and invalidates mbarriers, and counts arrivals.

The interpreter executes the other operations that change an mbarrier. `emulator.mbarriers` describes the bits of an
mbarrier.
"""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from typing import NamedTuple

from llvmlite import ir

from warploom.emulator.mbarriers import LOGGED, MAX_COUNT, PENDING, PHASE, TRANSACTION_MASK, TRANSACTIONS
from warploom.emulator.native.builder import I1, I8, I64, POINTER, Builder
from warploom.emulator.native.context import Field
from warploom.emulator.warp_splits import KINDS, NONE, Event, Status


def event_number(b: Builder, index: ir.Value, kind: int) -> ir.Value:
    """Return the number of an event for which warp splits wait (see `warp_splits.KINDS`)."""
    return b.add(b.mul(index, I64(KINDS)), I64(kind))


def add_arrivals(module: ir.Module) -> None:
    """Add the functions that update mbarriers to a module."""
    _add_initialise(module)
    _add_invalidate(module)
    _add_log(module)
    _add_wake(module)
    _add_arrive(module)


def _add_initialise(module: ir.Module) -> None:
    """Add the function that initialises an mbarrier.

    It has the parameters of the function of `_add_arrive`. The number of arrivals is the expected count, and the number
    of bytes is ignored.
    """
    b = Builder(module, "warploom.mbarrier_init", ir.FunctionType(I1, [POINTER, I64, I64, I64]))
    _, place, count, _ = b.arguments
    with b.if_then(b.icmp_unsigned(">=", b.sub(count, I64(1)), I64(MAX_COUNT))):
        b.ret(I1(0))
    b.put(_Word(count, count, I64(0), I64(0)).pack(b), b.inttoptr(place, POINTER), 0)
    b.ret(I1(1))


def _add_invalidate(module: ir.Module) -> None:
    """Add the function that ends the use of an mbarrier.

    It has the parameters of the function of `_add_arrive`.
    """
    b = Builder(module, "warploom.mbarrier_inval", ir.FunctionType(I1, [POINTER, I64, I64, I64]))
    word = b.inttoptr(b.arguments[1], POINTER)
    with b.if_then(b.icmp_signed(">=", b.get(word, 0), I64(0))):  # not initialised
        b.ret(I1(0))
    b.put(I64(0), word, 0)
    b.ret(I1(1))


def _add_log(module: ir.Module) -> None:
    """Add the function that records which instruction arrives at an mbarrier.

    The arguments are the context and the index of the mbarrier. If the log is full, the function returns 0 without an
    effect.
    """
    b = Builder(module, "warploom.log_arrival", ir.FunctionType(I1, [POINTER, I64]))
    context, number = b.arguments
    sites, log, pc = (
        b.array(context, Field.ARRIVAL_SITES),
        b.array(context, Field.ARRIVAL_LOG),
        b.get(context, Field.INSTRUCTION),
    )
    with b.if_then(b.icmp_signed("==", b.get(sites, number), b.add(pc, I64(1)))):
        b.ret(I1(1))
    entries = b.get(log, 0)
    with b.if_then(b.icmp_signed("==", entries, I64(LOGGED))):
        b.ret(I1(0))
    entry = b.at(log, b.shl(entries, I64(1)))
    b.put(number, entry, 1)
    b.put(pc, entry, 2)
    b.count(log, 0, 1)
    b.put(b.add(pc, I64(1)), sites, number)
    b.ret(I1(1))


class _Word(NamedTuple):
    """Fields of an mbarrier. `transactions` is negative if bytes have arrived before they were expected."""

    expected: ir.Value
    pending: ir.Value
    transactions: ir.Value
    phase: ir.Value

    @classmethod
    def unpack(cls, b: Builder, word: ir.Value) -> _Word:
        signed = b.ashr(b.shl(word, I64(64 - PHASE)), I64(64 - PHASE + TRANSACTIONS))
        pending, phase = b.lshr(word, I64(PENDING)), b.and_(b.lshr(word, I64(PHASE)), I64(1))
        return cls(b.and_(word, I64(MAX_COUNT)), b.and_(pending, I64(MAX_COUNT)), signed, phase)

    def pack(self, b: Builder) -> ir.Value:
        counts = b.or_(self.expected, b.shl(self.pending, I64(PENDING)))
        transactions = b.shl(b.and_(self.transactions, I64(TRANSACTION_MASK)), I64(TRANSACTIONS))
        rest = b.or_(transactions, b.shl(self.phase, I64(PHASE)))
        return b.or_(b.or_(counts, rest), I64(-1 << 63))


def _add_arrive(module: ir.Module) -> None:
    """Add the function that counts arrivals at an mbarrier and expected bytes.

    The arguments are the context, the host address of the mbarrier, and the numbers of arrivals and of expected bytes.
    The number of bytes is negative if bytes have arrived. The function returns 0 without an effect if the interpreter
    must execute the instruction.
    """
    b = Builder(module, "warploom.mbarrier", ir.FunctionType(I1, [POINTER, I64, I64, I64]))
    context, place, arrivals, expected = b.arguments
    number = b.lshr(b.sub(place, b.get(context, Field.SHARED)), I64(3))
    word = b.inttoptr(place, POINTER)
    held = _Word.unpack(b, b.get(word, 0))
    transactions = b.add(held.transactions, expected)
    refused = [
        b.icmp_signed("==", b.get(context, Field.PLAIN_WAITS), I64(0)),
        b.icmp_signed(">=", b.get(word, 0), I64(0)),  # not initialised
        b.icmp_signed(">", arrivals, held.pending),
        b.icmp_signed(">", transactions, I64(MAX_COUNT)),
        b.icmp_signed("<", transactions, I64(-MAX_COUNT)),
    ]
    for each in refused:
        with b.if_then(each):
            b.ret(I1(0))
    with (
        b.if_then(b.icmp_signed(">", arrivals, I64(0))),
        b.if_then(b.not_(b.call(module.globals["warploom.log_arrival"], [context, number]))),
    ):
        b.ret(I1(0))
    pending = b.sub(held.pending, arrivals)
    complete = b.icmp_signed("==", b.or_(pending, transactions), I64(0))
    phase = b.xor(held.phase, b.zext(complete, I64))
    new = _Word(held.expected, b.select(complete, held.expected, pending), transactions, phase)
    b.put(new.pack(b), word, 0)
    with b.if_then(complete):
        b.call(module.globals["warploom.wake"], [context, event_number(b, number, Event.MBARRIER)])
    b.ret(I1(1))


def _add_wake(module: ir.Module) -> None:
    """Add the function that resumes the warp splits that wait for an event."""
    b = Builder(module, "warploom.wake", ir.FunctionType(ir.VoidType(), [POINTER, I64]))
    context, event = b.arguments
    awaited, status = b.array(context, Field.AWAITED), b.array(context, Field.STATUS)
    with b.loop(b.get(context, Field.SPLITS)) as row, b.if_then(b.icmp_signed("==", b.get(awaited, row), event)):
        b.put(I64(NONE), awaited, row)
        b.put(I8(Status.READY), status, row, I8)
    b.ret_void()
