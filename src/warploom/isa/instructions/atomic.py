"""Atomic operations in memory, synchronous and asynchronous.

Memory order and scope have no effect in the emulator. An atomic operation takes effect at once, and lanes with equal
addresses act one after the other.

Source: PTX ISA 9.7.13.5 to 9.7.13.7.
"""

import re
from collections.abc import Mapping
from itertools import permutations

import numpy as np

from warploom.isa.instructions.lanes import defer_with_completion, spread
from warploom.isa.model.effects import Access, Issue, slot_or
from warploom.isa.model.form import Form
from warploom.isa.model.operands import address, bits_as_unsigned, inp, out
from warploom.isa.model.semantics import Array, Bound, Warps
from warploom.isa.model.types import TYPES

_WITHIN = "-,cta,cluster,gpu"
_SCOPES = f"{_WITHIN},sys"
_GLOBAL = "-,global"
_SHARED = "shared,shared::cta,shared::cluster"
_HINT = "-,L2::cache_hint"
_ARITHMETIC = """
    and,or,xor  -      b32,b64          3.1 sm_32
    add         -      u32,s32,u64,f32  1.1 sm_20
    add         -      f64              5.0 sm_60
    add         noftz  f16              6.3 sm_70
    add         noftz  f16x2            6.2 sm_70
    add         noftz  bf16,bf16x2      7.8 sm_90
    inc,dec     -      u32              1.1 sm_20
    min,max     -      u32,s32,u64,s64  3.1 sm_32
"""
_VECTOR = f"""
        sem    scope      op           noftz  level::cache_hint  vec       type          space    ptx target
        {{sem}}  {_SCOPES}  add          -      {_HINT}            v2,v4     f32           -,global  8.1 sm_90
        {{sem}}  {_SCOPES}  add,min,max  noftz  {_HINT}            v2,v4,v8  f16,bf16      -,global  8.1 sm_90
        {{sem}}  {_SCOPES}  add,min,max  noftz  {_HINT}            v2,v4     f16x2,bf16x2  -,global  8.1 sm_90
"""


_UNIFIED = address(allows=("unified",))
_POLICY = inp("u64", when="level::cache_hint")


def _spellings(line: str) -> tuple[str, ...]:
    """Return the opcode pattern `line` with sem, scope, space and operation in every other order."""
    head, *words, rest = re.split(r"(\{\.sem\})(\{\.scope\})(\{\.space\})(\.\w+)", line)
    return tuple(f"{head}{''.join(order)}{rest}" for order in permutations(words))[1:]


def _table(sem: str, more: str = "") -> str:
    """Return the table of the operations in `_ARITHMETIC` and `more`, with the memory orders `sem`."""
    rows = [
        f"{sem} {scope} {op} {noftz} {kind} {space} {hint} {since} {target}"
        for op, noftz, kind, ptx, target in (line.split() for line in (_ARITHMETIC + more).splitlines() if line.strip())
        for scope, since in (((_WITHIN, ptx), ("sys", "8.4")) if kind == "b128" else ((_SCOPES, ptx),))
        for space, hint in ((_GLOBAL, _HINT), (_SHARED, "-"))
    ]
    return "\n".join(("sem scope op noftz type space level::cache_hint ptx target", *rows))


ATOM = Form(
    name="atomic.atom",
    syntax="atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  d, [a], b{, cache-policy};",
    spellings=_spellings("atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type"),
    rows=_table("-,relaxed,acquire,release,acq_rel", "exch - b32,b64 1.1 sm_20\nexch - b128 8.3 sm_90"),
    operands={"d": out("type", allows=("sink",)), "a": _UNIFIED, "b": inp("type"), "cache_policy": _POLICY},
    effects=(Access("update", "a", "d", order=slot_or("sem", "relaxed"), scope=slot_or("scope", "gpu")),),
    source="PTX ISA 9.7.13.5",
)
ATOM.describe(
    "Reads a value in memory, combines it with b, writes the result, and returns the old value, as one"
    " indivisible operation. Use it for counters, locks and work queues.",
    "atom.relaxed.gpu.global.add.u32 %r0, [%rd0], %r1;",
)


@ATOM.execute
def atom(warps: Warps, i: Bound) -> None:
    warps.write(i.d, warps.atomic(i.space, warps.addresses(i.a), i.op, i.type, warps.read(i.b)))


CAS = Form(
    name="atomic.cas",
    syntax="atom{.sem}{.scope}{.space}.cas.type  d, [a], b, c;",
    spellings=_spellings("atom{.sem}{.scope}{.space}.cas.type"),
    rows=f"""
        sem                                scope      space                type     ptx target
        -,relaxed,acquire,release,acq_rel  {_SCOPES}  {_GLOBAL},{_SHARED}  b32,b64  1.1 sm_20
        -,relaxed,acquire,release,acq_rel  {_SCOPES}  {_GLOBAL},{_SHARED}  b16      6.3 sm_70
        -,relaxed,acquire,release,acq_rel  {_WITHIN}  {_GLOBAL},{_SHARED}  b128     8.3 sm_90
        -,relaxed,acquire,release,acq_rel  sys        {_GLOBAL},{_SHARED}  b128     8.4 sm_90
    """,
    operands={"d": out("type", allows=("sink",)), "a": _UNIFIED, "b": inp("type"), "c": inp("type")},
    effects=(Access("update", "a", "d", order=slot_or("sem", "relaxed"), scope=slot_or("scope", "gpu"), compared="b"),),
    source="PTX ISA 9.7.13.5",
)
CAS.describe(
    "Writes c to memory if the value there equals b, and returns the old value, as one indivisible operation. Use"
    " it for locks and for atomic operations that the hardware lacks.",
    "atom.acquire.gpu.global.cas.b32 %r0, [%rd0], %r1, %r2;",
)


@CAS.execute
def compare_and_swap(warps: Warps, i: Bound) -> None:
    b, c = warps.read(i.b), warps.read(i.c)
    warps.write(i.d, warps.atomic(i.space, warps.addresses(i.a), "cas", i.type, c, b))


RED = Form(
    name="atomic.red",
    syntax="red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  [a], b{, cache-policy};",
    spellings=_spellings("red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type"),
    rows=_table("-,relaxed,release"),
    operands={"a": address(), "b": inp("type"), "cache_policy": _POLICY},
    effects=(Access("update", "a", order=slot_or("sem", "relaxed"), scope=slot_or("scope", "gpu")),),
    source="PTX ISA 9.7.13.6",
)
RED.describe(
    "Combines a value in memory with b as one indivisible operation and returns nothing. Use it instead of `atom`"
    " if the old value is not needed.",
    "red.relaxed.gpu.global.add.f32 [%rd0], %f0;",
)


@RED.execute
def red(warps: Warps, i: Bound) -> None:
    warps.atomic(i.space, warps.addresses(i.a), i.op, i.type, warps.read(i.b))


ATOM_VECTOR = Form(
    name="atomic.atom_vector",
    syntax="atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.vec.type  d, [a], b{, cache-policy};",
    spellings=_spellings("atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.vec.type"),
    rows=_VECTOR.format(sem="-,relaxed,acquire,release,acq_rel"),
    operands={
        "d": out("type", "vec", allows=("sink", "integers")),
        "a": _UNIFIED,
        "b": inp("type", "vec", allows=("integers",)),
        "cache_policy": _POLICY,
    },
    effects=(Access("update", "a", "d", order=slot_or("sem", "relaxed"), scope=slot_or("scope", "gpu")),),
    source="PTX ISA 9.7.13.5",
)
ATOM_VECTOR.describe(
    "Combines two to eight neighbouring values in memory with b, each indivisibly, and returns the old values."
    " Use it to reduce the number of atomic operations on vectors.",
    "atom.global.add.v2.f32 {%f0, %f1}, [%rd0], {%f2, %f3};",
)

RED_VECTOR = Form(
    name="atomic.red_vector",
    syntax="red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.vec.type  [a], b{, cache-policy};",
    spellings=_spellings("red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.vec.type"),
    rows=_VECTOR.format(sem="-,relaxed,release"),
    operands={"a": address(), "b": inp("type", "vec", allows=("integers",)), "cache_policy": _POLICY},
    effects=(Access("update", "a", order=slot_or("sem", "relaxed"), scope=slot_or("scope", "gpu")),),
    source="PTX ISA 9.7.13.6",
)
RED_VECTOR.describe(
    "Combines two to eight neighbouring values in memory with b, each indivisibly. Use it for split-K reductions"
    " of vectors in global memory.",
    "red.global.add.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};",
)


def each_element(warps: Warps, i: Bound, space: str) -> Array:
    """Update the elements of a vector in memory one after the other. Return the old elements."""
    where, b = warps.addresses(i.a), warps.read_vector(i.b)
    step = TYPES[i.type].bytes
    return np.stack(
        [warps.atomic(space, where + np.uint64(n * step), i.op, i.type, values) for n, values in enumerate(b)]
    )


ATOM_VECTOR.execute(lambda warps, i: warps.write_vector(i.d, each_element(warps, i, i.space)))


@RED_VECTOR.execute
def red_vector(warps: Warps, i: Bound) -> None:
    each_element(warps, i, i.space)


_ASYNC = """
    inc,dec      u32
    min,max,add  u32,s32
    add          u64,s64
    and,or,xor   b32
"""


def _async_table(columns: str, *cells: str) -> str:
    rows = [
        f"{before} {row} {after}"
        for row in (" ".join(line.split()) for line in _ASYNC.splitlines() if line.strip())
        for before, _, after in (cell.partition(" | ") for cell in cells)
    ]
    return "\n".join((f"{columns} op type ptx target", *rows))


RED_ASYNC = Form(
    name="atomic.red_async",
    syntax="red.async.relaxed.cluster{.ss}.mbarrier::complete_tx::bytes.op.type  [a], b, [mbar];",
    rows=_async_table("ss", "-,shared::cluster | 8.1 sm_90"),
    operands={"a": address(), "b": inp("type"), "mbar": address()},
    effects=(Issue(mbarrier="mbar"), Access("update", "a", "b", order="relaxed", scope="cluster", proxy="async")),
    source="PTX ISA 9.7.13.7",
)
RED_ASYNC.describe(
    "Starts an atomic operation in the shared memory of a CTA of the cluster and reports its bytes to an mbarrier"
    " there. Use it for reductions between the CTAs of a cluster.",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r0], %r1, [%r2];",
)

RED_ASYNC_RELEASE = Form(
    name="atomic.red_async_release",
    syntax="red.async{.mmio}.release.scope{.space}.op.type  [a], b;",
    rows=_async_table("mmio scope space", "- gpu,sys -,global | 8.7 sm_100", "mmio sys -,global | 8.7 sm_100"),
    operands={"a": address(), "b": inp(bits_as_unsigned)},
    effects=(Issue(), Access("update", "a", "b", order="release", scope="scope", proxy="async")),
    source="PTX ISA 9.7.13.7",
)
RED_ASYNC_RELEASE.describe(
    "Starts an atomic operation in global memory that is ordered after the earlier accesses of the thread. Use it"
    " to signal other GPUs or CTAs without waiting.",
    "red.async.release.gpu.global.add.u32 [%rd0], %r0;",
)

RED_ASYNC_RELEASE.execute(red)


@RED_ASYNC.execute
def red_async(warps: Warps, i: Bound) -> None:
    captured = {"b": spread(warps, warps.read(i.b))}

    def take_effect(warps: Warps, where: Array, captured: Mapping[str, Array]) -> None:
        warps.atomic(i.ss, where, i.op, i.type, captured["b"])

    defer_with_completion(warps, i, TYPES[i.type].bytes, take_effect, captured)
