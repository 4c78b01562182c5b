"""Descriptions of Forms: each has a text and an example that is legal, and that the emulator executes."""

from __future__ import annotations

import re

import numpy as np
import pytest

import warploom as wl
from warploom.isa.binding.bind import Binding, bind
from warploom.isa.model.form import Form, forms, match_opcode
from warploom.ptx import Function, Instruction

FORMS = list(forms())
NEWEST = "9.3"
TARGETS = dict.fromkeys(("sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_120f"), NEWEST) | {"sm_70": "6.0"}
DECLARED = ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<20>; .reg .f32 %f<8>; .reg .f64 %d<8>; .reg .b64 %rd<4>;"
BEFORE = {
    "barrier.cluster_wait": "barrier.cluster.arrive.aligned;",
    "bulk.zero": "cvt.u64.u32 %rd0, %r0;",
    "control.brx": "mov.b32 %r0, 1;",
    "stack.stackrestore": "stacksave.u64 %rd0;",
}
"""Instructions that must precede an example."""
DESCRIPTOR = wl.Descriptor(0x400, 128, 256).encode()
TENSOR_DESCRIPTOR = wl.UmmaDescriptor(0x400, 16, 1024, 0, 128).encode()
ALLOCATION = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sm], 128;"


def uses_tensor_memory(form: Form) -> bool:
    return bool(form.operands.keys() & {"taddr", "d_tmem"})


def tensor_values(form: Form) -> list[str]:
    """Instructions that allocate tensor memory, and that set addresses to 0 and descriptors to legal values."""
    kind = re.search(r"kind::(\w+)", form.example)
    values = [f"mov.b32 %r{k}, 0;" for k in range(20)] + [f"mov.b64 %rd{k}, {TENSOR_DESCRIPTOR};" for k in range(4)]
    if kind is not None:
        fields = ("f16", "f16", "f32") if kind[1] == "f16" else ("e4m3", "e4m3", "f32")
        code = wl.InstructionDescriptor(kind[1], 128, 64, *fields).encode()
        register = re.findall(r", (%r\d+),", form.example)[0]
        values.append(f"mov.b32 {register}, {code};")
    return [*values, ALLOCATION]


def module(form: Form, target: str, version: str) -> str:
    """A kernel with the example of a Form. The registers hold addresses of memory, mbarriers or descriptors."""
    wide = ".reg .b128 %rq<1>;" if "%rq" in form.example else ""
    values = [f"mov.b64 %rd{k}, {DESCRIPTOR if 'b_desc' in form.operands else 'start'};" for k in range(4)]
    values += [f"mov.b32 %r{k}, sm+{k * 1024};" for k in range(20)]
    barriers = [f"@%p3 mbarrier.init.shared.b64 [%r{k}], 1024;" for k in range(6)]
    if "mbar" not in form.operands and ("addr" not in form.operands or form.operands.keys() & {"new_val", "size"}):
        barriers = []
    thread = ["mov.b32 %r19, %tid.x;", "setp.eq.b32 %p3, %r19, 0;", *barriers, "bar.sync 0;", "setp.ne.b32 %p3, 0, 0;"]
    if uses_tensor_memory(form):
        values = tensor_values(form)
    lines = [*values, *(thread if barriers else ()), BEFORE.get(form.name, ""), form.example, "ret;"]
    return (
        f".version {version}\n.target {target}\n.address_size 64\n.func helper() {{ ret; }}\n"
        f".visible .entry k(.param .u64 buffer) .maxnreg 128 {{ {DECLARED} {wide} .reg .b64 start;\n"
        f".shared .align 1024 .b8 sm[32768];\nld.param.u64 start, [buffer];\n{chr(10).join(lines)}\n}}\n"
    )


def legal_module(form: Form) -> tuple[str, str]:
    """The module for the first target on which the example is legal, and the target."""
    found = ""
    for target, version in TARGETS.items():
        text = module(form, target, version)
        report = wl.check(text)
        if all(each.code.startswith(("warpgroup/", "registers/")) for each in report):
            return text, target
        found = found or str(report)
    raise AssertionError(f"{form.name}: {form.example}\n{found}")


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_form_is_described_with_a_legal_example(form: Form) -> None:
    assert re.fullmatch(r"[A-Z].*\. (.* )?(Use|Write) .*\.", form.about), form.about
    text, target = legal_module(form)
    (kernel,) = (item for item in wl.parse(text).items if isinstance(item, Function) and item.kind == "entry")
    assert kernel.body is not None
    instructions = [each for each in kernel.body.statements if isinstance(each, Instruction)]
    slots = next(match.slots for each in instructions for match in match_opcode(each.opcode) if match.form is form)
    bound = [bind(each) for each in instructions]
    executed = any(isinstance(each, Binding) and each.form is form for each in bound)
    if not executed or not form.is_executable or form.unsupported(target, slots) or "tensorMap" in form.operands:
        return
    cluster = 2 if "cluster" in form.example else 1
    wl.launch(
        text, "k", grid=cluster, cluster=(cluster, 1, 1), block=32 if uses_tensor_memory(form) else 128,
        args=[np.zeros(1 << 17, np.uint8)], arch=target,
    )  # fmt: skip


def test_pages_show_the_description() -> None:
    page = wl.explain("floating.fma")
    assert "with one rounding" in page
    assert "```ptx\nfma.rn.f32 %f0, %f1, %f2, %f3;\n```" in page
