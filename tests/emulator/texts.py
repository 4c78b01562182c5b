"""Small PTX kernels written by hand, and a launch that runs them the same way under every schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

import warploom as wl

HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n"
MULTIPLICATIONS = {
    "m16n8k16.row.col.f32.f16.f16.f32": ("sm_80", 4, 2, 4),
    "m16n8k16.row.col.f16.f16.f16.f16": ("sm_90a", 4, 2, 2),
    "m16n8k8.row.col.f32.bf16.bf16.f32": ("sm_90a", 2, 1, 4),
    "m16n8k4.row.col.f32.tf32.tf32.f32": ("sm_80", 2, 1, 4),
    "m16n8k32.row.col.f32.e4m3.e5m2.f32": ("sm_89", 4, 2, 4),
    "m16n8k32.row.col.f32.e4m3.e4m3.f32": ("sm_120a", 4, 2, 4),
    "m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32": ("sm_120a", 4, 2, 4),
    "m16n8k32.row.col.kind::f8f6f4.f16.e2m3.e2m1.f16": ("sm_120a", 4, 2, 2),
    "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0": ("sm_120a", 4, 2, 4),
    "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0": ("sm_120a", 4, 2, 4),
    "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3": ("sm_120a", 4, 2, 4),
    "m16n8k32.row.col.satfinite.s32.s8.u8.s32": ("sm_80", 4, 2, 4),
    "m8n8k16.row.col.s32.u8.s8.s32": ("sm_80", 1, 1, 2),
    "m8n8k4.row.col.f64.f64.f64.f64": ("sm_90a", 1, 1, 2),
    "m16n8k16.row.col.f64.f64.f64.f64": ("sm_90a", 8, 4, 4),
}
"""Target, and the numbers of registers of A, B and C, for the end of the opcode of an `mma`."""


def scale_operands(opcode: str, a: str, b: str, number: int = 0) -> str:
    """The operands of a block-scaled `mma` after C, with scales in registers `a` and `b`; else an empty text."""
    if "block_scale" not in opcode:
        return ""
    byte = 0 if "4X" in opcode else 2
    return f", {a}, {{{byte}, {number % 2}}}, {b}, {{{byte}, {number % 4}}}"


def kernel(body: str, params: str = "", directives: str = "", before: str = "") -> str:
    """A module with one kernel `k`; `before` is declared ahead of it.

    Registers of every kind are there: %r 32 bits, %rd 64, %h 16, %f float32, %p predicates. With a parameter
    `out`, %rd0 holds its address and %rd1 that of this thread's word of it; %r0 is %tid.x.
    """
    lines = [line.strip() for line in body.strip().splitlines()]
    declared = ".reg .b16 %h<10>; .reg .b32 %r<50>; .reg .b64 %rd<50>; .reg .f32 %f<10>; .reg .pred %p<10>;"
    prologue = [declared, "mov.u32 %r0, %tid.x;"]
    names = params or ".param .u64 out"
    if "out" in names:
        prologue += ["ld.param.u64 %rd0, [out];", "mad.wide.u32 %rd1, %r0, 4, %rd0;"]
    return "\n".join([HEADER + before, f".visible .entry k({names}) {directives}", "{", *prologue, *lines, "}", ""])


def run(
    body: str,
    out: int | np.ndarray[Any, Any] = 32,
    *args: Any,
    params: str = "",
    directives: str = "",
    before: str = "",
    grid: Any = 1,
    block: Any = 32,
    schedules: tuple[str, ...] = ("eager", "lazy", "random:1", "random:2"),
    **options: Any,
) -> np.ndarray[Any, Any]:
    """What a kernel leaves in `out` (so many u32, or an array), the same under every schedule."""
    text = kernel(body, params, directives, before)
    results: list[np.ndarray[Any, Any]] = []
    for schedule in schedules:
        target = np.zeros(out, np.uint32) if isinstance(out, int) else out.copy()
        wl.launch(text, grid=grid, block=block, args=[*args, target], schedule=schedule, **options)
        results.append(target)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    return results[0]
