"""Compare the speed of multiplications in tensor memory with the sums of `wgmma`, on one thread.

    python bench/tcgen05.py [--repeat 5]

A kernel of 32 CTAs multiplies 128 rows by 256 columns, four times along K for each stage, as compiled kernels do. The
speed is the number of products divided by the time that the stages take: the difference between a launch with many
stages and a launch with one. It includes the access to shared and tensor memory, and the loop. The fastest of several
launches counts. The last two columns compare the speed with the rows "m64n256k16 f16 f32" and "m64n256k32 e4m3 f32" of
bench/mma.py, which measure the sums alone. They are measured between the launches.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent))

import mma  # pyright: ignore[reportMissingImports]

import warploom as wl

CTAS = 32
STAGES = 8


@dataclass(frozen=True)
class Row:
    """Multiplication with its modifiers, the K of one instruction, and the number of CTAs that multiply together."""

    name: str
    kind: str
    element: str
    dtype: str
    k: int
    ctas: int = 1
    suffix: str = ""
    in_tensor: bool = False

    @property
    def products(self) -> int:
        """Number of products of a stage in all CTAs."""
        return 4 * 128 * 256 * self.k * CTAS


ROWS = (
    Row("f16 f32", "f16", "f16", "f32", 16),
    Row("bf16 f32", "f16", "bf16", "f32", 16),
    Row("f16 f32, A in tensor memory", "f16", "f16", "f32", 16, in_tensor=True),
    Row("f16 f32, pair", "f16", "f16", "f32", 16, ctas=2),
    Row("tf32 f32", "tf32", "tf32", "f32", 8),
    Row("e4m3 f32", "f8f6f4", "e4m3", "f32", 32),
    Row("e2m1 f32", "f8f6f4", "e2m1", "f32", 32),
    Row("s8 s32", "i8", "s8", "s32", 32),
    Row("mxf8f6f4 e4m3", "mxf8f6f4", "e4m3", "f32", 32, suffix=".block_scale"),
    Row("mxf4", "mxf4", "e2m1", "f32", 64, suffix=".block_scale"),
    Row("mxf4nvf4 ue4m3", "mxf4nvf4", "e2m1", "f32", 64, suffix=".block_scale.scale_vec::4X"),
)


def text(row: Row) -> str:
    """Return the kernel of a row. Its parameter is the number of stages."""
    group, scaled = f"cta_group::{row.ctas}", ".block_scale" in row.suffix
    scale = "ue4m3" if "ue4m3" in row.name else "ue8m0" if scaled else ""
    idesc = wl.InstructionDescriptor(
        row.kind, 128 * row.ctas, 256, row.element, row.element, row.dtype, scale_type=scale
    )
    tile = wl.UmmaDescriptor(0, 16, 1024, 0, 128).encode()
    a = "[%r5]" if row.in_tensor else "%rd1"
    scales = ", [%r6], [%r6]" if scaled else ""
    opcode = f"tcgen05.mma.{group}.kind::{row.kind}{row.suffix}"
    mmas = "".join(
        f"@%p0 {opcode} [%r1], {a}, %rd2, %r3{scales}, %p{2 if k == 0 else 3};\n"
        "add.u64 %rd1, %rd1, 2; add.u64 %rd2, %rd2, 2;\n"
        for k in range(4)
    )
    meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" if row.ctas == 2 else "bar.sync 0;"
    return f"""
.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u32 stages)
{{
.shared .align 1024 .b8 area[65536];
.shared .align 4 .b32 slot;
.reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p<6>;
mov.u32 %r0, slot; mov.u32 %r7, %cluster_ctarank; or.b32 %r7, %r7, %tid.x; setp.eq.u32 %p0, %r7, 0;
tcgen05.alloc.{group}.sync.aligned.shared::cta.b32 [%r0], 512;
{meet}
ld.shared.u32 %r1, [%r0]; add.u32 %r5, %r1, 256; add.u32 %r6, %r1, 300; mov.u32 %r3, {idesc.encode()};
mov.u32 %r8, 0; ld.param.u32 %r9, [stages]; setp.eq.u32 %p3, %r8, 0;
mov.u32 %r4, area; shr.u32 %r4, %r4, 4;
LOOP:
cvt.u64.u32 %rd1, %r4; add.u64 %rd2, %rd1, {tile + (16384 >> 4)}; add.u64 %rd1, %rd1, {tile};
setp.ne.u32 %p2, %r8, 0;
{mmas}
add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, %r9; @%p1 bra LOOP;
{meet}
tcgen05.dealloc.{group}.sync.aligned.b32 %r1, 512;
ret;
}}
"""


def seconds(kernel: str, row: Row, stages: int) -> float:
    """Return the processor time of a launch, which other programs of the machine change less than its duration."""
    began = time.process_time()
    wl.launch(kernel, grid=CTAS, block=32, cluster=(row.ctas, 1, 1), args=[np.uint32(stages)])
    return time.process_time() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat: int = parser.parse_args().repeat
    table = Table(title=f"Millions of products a second on one thread ({mma.processor()})")
    for heading in ("multiplication", "Warploom", "of wgmma f16", "of wgmma e4m3"):
        table.add_column(heading, justify="left" if heading == "multiplication" else "right")
    named = {case.name: case for case in mma.cases()[:5]}
    references = [named["m64n256k16 f16 f32"], named["m64n256k32 e4m3 f32"]]
    for row in ROWS:
        kernel = text(row)
        seconds(kernel, row, 2)
        best, others = 0.0, [0.0, 0.0]
        for _ in range(repeat):
            spent = seconds(kernel, row, 1 + STAGES) - seconds(kernel, row, 1)
            best = max(best, row.products * STAGES / spent / 1e6)
            others = [max(old, mma.speed(case, 3)) for old, case in zip(others, references, strict=True)]
        table.add_row(row.name, f"{best:,.0f}", *(f"{best / each:.0%}" for each in others))
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
