"""Allocation on the stack of a thread in local memory, and access to the stack pointer.

Source: PTX ISA 9.7.17.
"""

from warploom.isa.model.form import Form
from warploom.isa.model.operands import immediate, inout, inp, out

ALLOCA = Form(
    name="stack.alloca",
    syntax="alloca.type  ptr, size{, immAlign};",
    rows="type ptx target\nu32,u64 7.3 sm_52",
    operands={"ptr": out("type"), "size": inp("type"), "immAlign": immediate(values=tuple(1 << k for k in range(24)))},
    source="PTX ISA 9.7.17.3",
)

STACKSAVE = Form(
    name="stack.stacksave",
    syntax="stacksave.type  d;",
    rows="type ptx target\nu32,u64 7.3 sm_52",
    operands={"d": out("type")},
    source="PTX ISA 9.7.17.1",
)

STACKRESTORE = Form(
    name="stack.stackrestore",
    syntax="stackrestore.type  a;",
    rows="type ptx target\nu32,u64 7.3 sm_52",
    operands={"a": inout("type")},
    source="PTX ISA 9.7.17.2",
)
