"""Sequences of kernels with programmatic dependent launches and with streams: correct ones and faulty ones.

All kernels run with 4 CTAs of 64 threads on arrays of 256 numbers: `a` and `w` are inputs, `b` is between kernels, and
`c` is the result. Thread i has the addresses of its elements in %a, %b, %c and %w.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint32]

_TRIGGER, _WAIT = "griddepcontrol.launch_dependents;", "griddepcontrol.wait;"
_LOAD_A, _LOAD_B, _LOAD_W = "ld.global.u32 %x, [%a];", "ld.global.u32 %y, [%b];", "ld.global.u32 %z, [%w];"
_STORE_B, _STORE_C = "st.global.u32 [%b], %x;", "st.global.u32 [%c], %x;"
_ADD = "add.u32 %x, %y, 5;"
_COUNT = "red.global.add.u32 [%first], %x;"
_RESET = "@%is_first st.global.u32 [%first], 0;"
_COPY = "cp.async.ca.shared.global [%s], [%b], 4;"
_BULK = (
    "@%is_leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], "
    "[%map, {0, %cta}], [%bar];"
)
_BEGIN_TENSOR = """
mov.b64 %map, map;
cvta.param.u64 %map, %map;
@%is_leader mbarrier.init.shared.b64 [%bar], 1;
@%is_leader fence.mbarrier_init.release.cluster;
bar.sync 0;
"""
_END_TENSOR = """
@%is_leader mbarrier.arrive.expect_tx.shared.b64 %state, [%bar], 256;
WAIT: mbarrier.try_wait.parity.shared.b64 %is_done, [%bar], 0;
@!%is_done bra WAIT;
mad.lo.u32 %t, %thread, 4, %s;
ld.shared.u32 %y, [%t];
"""
_PRODUCE = f"{_LOAD_A}\nmad.lo.u32 %x, %x, 3, 1;\n"

BODIES = {
    "produce": f"{_TRIGGER}\n{_PRODUCE}{_STORE_B}",
    "produce_twice_triggered": f"{_TRIGGER}\n{_PRODUCE}{_STORE_B}\n{_TRIGGER}",
    "produce_without_trigger": f"{_PRODUCE}{_STORE_B}",
    "consume": f"{_WAIT}\n{_LOAD_B}\n{_ADD}\n{_STORE_C}",
    "consume_before_wait": f"{_LOAD_B}\n{_WAIT}\n{_ADD}\n{_STORE_C}",
    "third_before_wait": f"{_LOAD_B}\n{_WAIT}\n{_ADD}\n{_STORE_C}",
    "consume_without_wait": f"{_LOAD_B}\n{_ADD}\n{_STORE_C}",
    "scale": f"{_LOAD_W}\n{_WAIT}\n{_LOAD_B}\nmad.lo.u32 %x, %y, %z, 5;\n{_STORE_C}",
    "one_warp_waits": f"@%is_later bra JOIN;\n{_WAIT}\nJOIN: bar.sync 0;\n{_LOAD_B}\n{_ADD}\n{_STORE_C}",
    "one_warp_waits_alone": f"@%is_later bra JOIN;\n{_WAIT}\nJOIN: {_LOAD_B}\n{_ADD}\n{_STORE_C}",
    "one_thread_waits": f"@!%is_leader bra JOIN;\n{_WAIT}\nJOIN: bar.sync 0;\n{_LOAD_B}\n{_ADD}\n{_STORE_C}",
    "load_tensor": f"prefetch.param.tensormap [map];\n{_BEGIN_TENSOR}{_WAIT}\n{_BULK}\n{_END_TENSOR}{_ADD}\n{_STORE_C}",
    "load_tensor_before_wait": f"{_BEGIN_TENSOR}{_BULK}\n{_WAIT}\n{_END_TENSOR}{_ADD}\n{_STORE_C}",
    "copy_before_wait": f"mad.lo.u32 %s, %thread, 4, %s;\n{_COPY}\ncp.async.wait_all;\n{_WAIT}\n"
    f"ld.shared.u32 %y, [%s];\n{_ADD}\n{_STORE_C}",
    "read_late": f"{_TRIGGER}\n{_LOAD_A}\n{_STORE_C}",
    "clear_input": f"{_WAIT}\nst.global.u32 [%a], 0;",
    "clear_input_before_wait": f"st.global.u32 [%a], 0;\n{_WAIT}",
    "replace_before_wait": f"mov.u32 %x, 7;\n{_STORE_B}\n{_WAIT}",
    "count": f"{_TRIGGER}\n{_LOAD_A}\n{_COUNT}",
    "reset_before_wait": f"{_RESET}\n{_WAIT}",
    "relay": f"{_WAIT}\n{_LOAD_B}\nadd.u32 %x, %y, 1;\nst.global.u32 [%a], %x;\n{_TRIGGER}",
    "relay_with_early_trigger": f"{_TRIGGER}\n{_WAIT}\n{_LOAD_B}\nadd.u32 %x, %y, 1;\nst.global.u32 [%a], %x;",
    "relay_without_wait": f"{_TRIGGER}\n{_LOAD_W}\nst.global.u32 [%w], %z;",
    "sum": f"{_TRIGGER}\n{_LOAD_A}\nred.global.add.u32 [%sum], %x;",
    "center": f"{_TRIGGER}\n{_LOAD_A}\n{_WAIT}\nld.global.u32 %y, [%sum];\nsub.u32 %x, %x, %y;\n{_STORE_B}",
    "finish": f"{_LOAD_W}\n{_WAIT}\n{_LOAD_B}\nmul.lo.u32 %x, %y, %z;\n{_STORE_C}",
    "partial": f"{_LOAD_A}\nred.global.add.u32 [%b], %x;",
}
"""Statements of the kernels by name."""

_KERNEL = """
.visible .entry {name}(
    .param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pw{map})
{{
    .reg .pred %is_first, %is_leader, %is_later, %is_done;
    .reg .b32 %thread, %cta, %i, %x, %y, %z, %t, %s, %bar;
    .reg .b64 %a, %b, %c, %w, %first, %sum, %offset, %state, %map;
    .shared .align 128 .b8 buffer[256];
    .shared .align 8 .b64 barrier;
    mov.u32 %thread, %tid.x;
    mov.u32 %cta, %ctaid.x;
    mad.lo.u32 %i, %cta, 64, %thread;
    setp.eq.u32 %is_first, %i, 0;
    setp.eq.u32 %is_leader, %thread, 0;
    setp.ge.u32 %is_later, %thread, 32;
    mov.u32 %s, buffer;
    mov.u32 %bar, barrier;
    mul.wide.u32 %offset, %i, 4;
    ld.param.u64 %a, [pa];
    ld.param.u64 %b, [pb];
    ld.param.u64 %first, [pc];
    ld.param.u64 %sum, [pw];
    add.u64 %a, %a, %offset;
    add.u64 %b, %b, %offset;
    add.u64 %c, %first, %offset;
    add.u64 %w, %sum, %offset;
    add.u64 %sum, %sum, 1024;
{body}
    ret;
}}
"""


def has_map(kernel: str) -> bool:
    """Return True if a kernel takes a tensor map of `b` as its last argument."""
    return "tensor" in kernel


def text() -> str:
    """Return the PTX text of all kernels."""
    kernels = (
        _KERNEL.format(
            name=name, map=", .param .align 64 .b8 map[128]" * has_map(name), body=body.strip().replace("\n", "\n    ")
        )
        for name, body in BODIES.items()
    )
    return ".version 8.6\n.target sm_90a\n.address_size 64\n" + "".join(kernels)


class Launch(NamedTuple):
    """Launch of a kernel on a stream. `programmatic` lets it start before the previous launch has ended."""

    kernel: str
    programmatic: bool = False
    stream: int = 0


class Wait(NamedTuple):
    """Wait of stream `stream` for the launches on stream `other` so far."""

    stream: int
    other: int


class Synchronize(NamedTuple):
    """Wait of the host for the launches on a stream."""

    stream: int


class Fault(NamedTuple):
    """Finding that a faulty sequence has: its rule, and the kernels and the instructions of the two accesses.

    `is_visible` is True if the schedule "lazy" returns wrong results.
    """

    rule: str
    kernel: str
    instruction: str
    other: str
    other_instruction: str
    is_visible: bool = True


class Program(NamedTuple):
    """Sequence of operations. `expected` returns the result `name` from copies of the inputs a and w."""

    steps: tuple[Launch | Wait | Synchronize, ...]
    expected: Callable[[Numbers, Numbers], Numbers]
    fault: Fault | None = None
    name: str = "c"


def _consumed(a: Numbers, _: Numbers) -> Numbers:
    return a * 3 + 6


def _pair(first: str, second: str, expected: Callable[[Any, Any], Any] = _consumed, **options: Any) -> Program:
    return Program((Launch(first), Launch(second, True)), expected, **options)


def _dependent(kernel: str, instruction: str, other: str = "produce", written: str = _STORE_B, **options: Any) -> Fault:
    return Fault("sanitize.launch/dependent", kernel, instruction, other, written, **options)


def _between(kernel: str, instruction: str, other: str, written: str) -> Fault:
    return Fault("sanitize.launch/streams", kernel, instruction, other, written, is_visible=False)


_SPLIT_K = (Launch("partial"), Launch("partial", stream=1), Launch("partial", stream=2))

CORRECT = {
    "trigger before the last store": _pair("produce", "consume"),
    "weights loaded before the wait": _pair("produce", "scale", lambda a, w: (a * 3 + 1) * w + 5),
    "one warp waits, and a barrier follows": _pair("produce", "one_warp_waits"),
    "one thread waits, and a barrier follows": _pair("produce", "one_thread_waits"),
    "two triggers": _pair("produce_twice_triggered", "consume"),
    "no trigger": _pair("produce_without_trigger", "consume"),
    "tensor map fetched before the wait": _pair("produce", "load_tensor"),
    "input cleared after the wait": _pair("read_late", "clear_input", lambda a, w: a),
    "wait without the attribute": Program((Launch("produce"), Launch("consume")), _consumed),
    "neither attribute nor wait": Program((Launch("produce"), Launch("consume_without_wait")), _consumed),
    "normalisation": Program(
        (Launch("sum"), Launch("center", True), Launch("finish", True)), lambda a, w: (a - a.sum(dtype=np.uint32)) * w
    ),
    "third kernel starts after the end of the first": Program(
        (Launch("produce"), Launch("relay", True), Launch("consume_before_wait", True)), _consumed
    ),
    "streams with an event": Program((Launch("produce", stream=1), Wait(0, 1), Launch("consume")), _consumed),
    "host between two streams": Program(
        (Launch("produce", stream=1), Synchronize(1), Launch("consume", stream=2)), _consumed
    ),
    "split K": Program((*_SPLIT_K, Wait(0, 1), Wait(0, 2), Launch("consume_without_wait")), lambda a, w: 3 * a + 5),
}

FAULTY = {
    "read before the wait": _pair(
        "produce", "consume_before_wait", fault=_dependent("consume_before_wait", _LOAD_B)
    ),
    "no wait": _pair("produce", "consume_without_wait", fault=_dependent("consume_without_wait", _LOAD_B)),
    "one warp waits without a barrier": _pair(
        "produce", "one_warp_waits_alone", fault=_dependent("one_warp_waits_alone", _LOAD_B)
    ),
    "tensor loaded before the wait": _pair(
        "produce", "load_tensor_before_wait", fault=_dependent("load_tensor_before_wait", _BULK)
    ),
    "copy before the wait": _pair("produce", "copy_before_wait", fault=_dependent("copy_before_wait", _COPY)),
    "input cleared too early": _pair(
        "read_late", "clear_input_before_wait", lambda a, w: a,
        fault=_dependent("clear_input_before_wait", "st.global.u32 [%a], 0;", "read_late", _LOAD_A),
    ),
    "written twice": _pair(
        "produce", "replace_before_wait", lambda a, w: 0 * a + 7, name="b",
        fault=_dependent("replace_before_wait", _STORE_B),
    ),
    "counter reset too early": _pair(
        "count", "reset_before_wait", lambda a, w: 0 * a,
        fault=_dependent("reset_before_wait", _RESET, "count", _COUNT),
    ),
    "middle kernel never waits": Program(
        (Launch("produce"), Launch("relay_without_wait", True), Launch("consume", True)), _consumed,
        _dependent("consume", _LOAD_B),
    ),
    "third kernel reads before its wait": Program(
        (Launch("produce"), Launch("relay_with_early_trigger", True), Launch("third_before_wait", True)), _consumed,
        _dependent("third_before_wait", _LOAD_B),
    ),
    "neither trigger nor wait": _pair(
        "produce_without_trigger", "consume_without_wait",
        fault=_dependent("consume_without_wait", _LOAD_B, "produce_without_trigger", is_visible=False),
    ),
    "streams without an event": Program(
        (Launch("produce", stream=1), Launch("consume")), _consumed, _between("consume", _LOAD_B, "produce", _STORE_B)
    ),
    "split K with one event": Program(
        (*_SPLIT_K, Wait(0, 1), Launch("consume_without_wait")), lambda a, w: 3 * a + 5,
        _between("consume_without_wait", _LOAD_B, "partial", "red.global.add.u32 [%b], %x;"),
    ),
}  # fmt: skip


def inputs() -> dict[str, Numbers]:
    """Return the arrays of a sequence by name. The last element of `w` is for a sum."""
    random = np.random.default_rng(1)
    a, w = (random.integers(1, 100, 256, np.uint32) for _ in range(2))
    return {"a": a, "b": np.zeros(256, np.uint32), "c": np.zeros(256, np.uint32), "w": np.append(w, np.uint32(0))}
