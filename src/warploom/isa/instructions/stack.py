"""Allocation on the stack of a thread in local memory, and access to the stack pointer.

Source: PTX ISA 9.7.17.
"""

import numpy as np

from warploom.isa.model.effects import Allocate
from warploom.isa.model.form import Form
from warploom.isa.model.operands import immediate, inout, inp, out
from warploom.isa.model.semantics import Bound, Warps

_ALIGN = 8
"""Alignment of the stack pointer. Units: bytes."""

ALLOCA = Form(
    name="stack.alloca",
    syntax="alloca.type  ptr, size{, immAlign};",
    rows="type ptx target\nu32,u64 7.3 sm_52",
    operands={"ptr": out("type"), "size": inp("type"), "immAlign": immediate(values=tuple(1 << k for k in range(24)))},
    effects=(Allocate("stack", amount="size"),),
    source="PTX ISA 9.7.17.3",
)
ALLOCA.describe(
    "Allocates bytes on the stack of the thread and returns their address in local memory. Use it for arrays"
    " whose size is known only at run time.",
    "alloca.u64 %rd0, 64;",
)


@ALLOCA.execute
def alloca(warps: Warps, i: Bound) -> None:
    size = warps.read(i.size).astype(np.uint64)
    align = np.uint64(max(i.immAlign or _ALIGN, _ALIGN))
    pointer = (warps.stack_pointer() - size) & ~(align - np.uint64(1))
    warps.move_stack(pointer)
    warps.write(i.ptr, pointer.astype(f"u{4 if i.type == 'u32' else 8}"))


STACKSAVE = Form(
    name="stack.stacksave",
    syntax="stacksave.type  d;",
    rows="type ptx target\nu32,u64 7.3 sm_52",
    operands={"d": out("type")},
    source="PTX ISA 9.7.17.1",
)
STACKSAVE.describe("Returns the stack pointer. Use it before `alloca` in a loop.", "stacksave.u64 %rd0;")


@STACKSAVE.execute
def stacksave(warps: Warps, i: Bound) -> None:
    warps.write(i.d, warps.stack_pointer().astype(f"u{4 if i.type == 'u32' else 8}"))


STACKRESTORE = Form(
    name="stack.stackrestore",
    syntax="stackrestore.type  a;",
    rows="type ptx target\nu32,u64 7.3 sm_52",
    operands={"a": inout("type")},
    effects=(Allocate("stack", "release"),),
    source="PTX ISA 9.7.17.2",
)
STACKRESTORE.describe(
    "Sets the stack pointer to a saved value, which releases later allocations. Use it after `alloca` in a loop.",
    "stackrestore.u64 %rd0;",
)


@STACKRESTORE.execute
def stackrestore(warps: Warps, i: Bound) -> None:
    warps.move_stack(warps.read(i.a).astype(np.uint64))
