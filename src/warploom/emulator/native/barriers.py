"""Native code that counts arrivals at the barriers of CTAs.

The interpreter executes arrivals of diverged warps and barriers with votes. `emulator.barriers` describes the rules.
"""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from enum import IntEnum

from llvmlite import ir

from warploom.emulator.barriers import BARRIERS
from warploom.emulator.native.builder import I1, I32, I64, POINTER, Builder
from warploom.emulator.native.context import Field
from warploom.emulator.native.mbarriers import event_number
from warploom.emulator.warp_splits import NONE, Event
from warploom.numerics.tracing.values import LANES


class Mode(IntEnum):
    """Effect of an arrival at a barrier."""

    ARRIVE = 0
    WAIT = 1
    PROBE = 2  # none: only test that the batch completes all barriers at which its warps arrive


def add_barrier(module: ir.Module) -> None:
    """Add the function with which each warp of a batch arrives at a CTA barrier.

    The arguments are the context, the position of the warp in the batch, the number of the barrier, the number of
    expected threads, or -1 for all threads of the CTA, and a value of `Mode`. The arrivals take effect in the call for
    the last warp. If this call returns 0, it has no effect, and the interpreter must execute the instruction.
    """
    b = Builder(module, "warploom.barrier", ir.FunctionType(I1, [POINTER, I64, I32, I64, I64]))
    context, position, number, threads, mode = b.arguments
    warps, cta_of, arrived, expected, tally, keys, events = (
        b.array(context, field)
        for field in (
            Field.WARPS, Field.CTA_OF, Field.ARRIVED, Field.EXPECTED, Field.TALLY, Field.KEYS, Field.EVENTS,
        )
    )  # fmt: skip
    exists = b.icmp_unsigned("<", number, I32(BARRIERS))
    cta = b.get(cta_of, b.get(warps, position))
    key = b.add(b.mul(cta, I64(BARRIERS)), b.zext(b.select(exists, number, I32(0)), I64))
    b.put(b.add(b.get(tally, key), I64(LANES)), tally, key)
    b.put(key, keys, position)
    b.put(b.select(exists, threads, I64(0)), events, position)  # 0 threads are illegal
    count = b.get(context, Field.COUNT)
    with b.if_then(b.icmp_signed("<", b.add(position, I64(1)), count)):
        b.ret(I1(1))

    is_counted = b.icmp_signed(">=", threads, I64(0))
    refused = b.variable(b.icmp_signed("==", b.get(context, Field.PLAIN_BARRIERS), I64(0)))
    illegal = b.or_(b.icmp_signed("==", threads, I64(0)), b.icmp_signed("!=", b.and_(threads, I64(LANES - 1)), I64(0)))
    _set_if(b, refused, b.and_(is_counted, illegal))
    waits = b.icmp_signed("==", mode, I64(Mode.WAIT))
    may_suspend = b.and_(waits, b.icmp_signed("!=", b.get(context, Field.SUSPENDS), I64(0)))
    may_leave = b.or_(may_suspend, b.icmp_signed("==", mode, I64(Mode.ARRIVE)))
    everyone = b.get(context, Field.CTA_THREADS)
    with b.loop(count) as other:
        key, given = b.get(keys, other), b.get(events, other)
        earlier, held = b.get(arrived, key), b.get(expected, key)
        agreed = b.select(b.icmp_signed(">", held, I64(0)), held, everyone)
        differs = b.icmp_signed("!=", agreed, b.select(is_counted, threads, everyone))
        total, needed = b.add(earlier, b.get(tally, key)), _needed(b, context, key, threads)
        _set_if(b, refused, b.icmp_signed("!=", given, threads))
        _set_if(b, refused, b.and_(b.icmp_signed(">", earlier, I64(0)), differs))
        _set_if(b, refused, b.icmp_signed(">", total, needed))
        _set_if(b, refused, b.and_(b.not_(may_leave), b.icmp_signed("!=", total, needed)))
    fails = b.load(refused, typ=I1)
    with b.if_then(b.or_(fails, b.icmp_signed("==", mode, I64(Mode.PROBE)))):
        with b.loop(count) as other:
            b.put(I64(0), tally, b.get(keys, other))
        b.ret(b.not_(fails))

    with b.loop(count) as other:
        key = b.get(keys, other)
        came, earlier = b.get(tally, key), b.get(arrived, key)
        with b.if_then(b.icmp_signed("!=", came, I64(0))):  # the first warp that arrives at this barrier
            total = b.add(earlier, came)
            completes = b.icmp_signed("==", total, _needed(b, context, key, threads))
            left = b.select(is_counted, threads, b.get(expected, key))
            b.put(b.select(completes, I64(0), total), arrived, key)
            b.put(b.select(completes, I64(0), left), expected, key)
            b.put(I64(0), tally, key)
            with b.if_then(b.and_(completes, b.icmp_signed("!=", earlier, I64(0)))):
                b.call(module.globals["warploom.wake"], [context, event_number(b, key, Event.BARRIER)])
    with b.if_then(waits), b.loop(count) as other:
        key = b.get(keys, other)
        stays = b.icmp_signed(">", b.get(arrived, key), I64(0))
        b.put(b.select(stays, event_number(b, key, Event.BARRIER), I64(NONE)), events, other)
        b.count(context, Field.SUSPENDED, b.zext(stays, I64))
    b.ret(I1(1))


def _set_if(b: Builder, flag: ir.Value, condition: ir.Value) -> None:
    b.store(b.or_(b.load(flag, typ=I1), condition), flag)


def _needed(b: Builder, context: ir.Value, key: ir.Value, threads: ir.Value) -> ir.Value:
    """Return the number of threads that complete a barrier."""
    held = b.get(b.array(context, Field.EXPECTED), key)
    live = b.get(b.array(context, Field.LIVE_WARPS), b.udiv(key, I64(BARRIERS)))
    uncounted = b.select(b.icmp_signed(">", held, I64(0)), held, b.mul(live, I64(LANES)))
    return b.select(b.icmp_signed(">=", threads, I64(0)), threads, uncounted)
