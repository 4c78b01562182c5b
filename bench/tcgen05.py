"""Compare the speed of multiplications in tensor memory with the sums of `wgmma`, on one thread.

    python bench/tcgen05.py [--rounds 15]

A kernel of 32 CTAs multiplies 128 rows by 256 columns, four times along K for each stage, as compiled kernels do. The
speed is the number of products divided by the time that the stages take: the difference between a launch with many
stages and a launch with one. It includes the access to shared and tensor memory, and the loop. The last two columns
compare it with the rows "m64n256k16 f16 f32" and "m64n256k32 e4m3 f32" of bench/mma.py, which measure the sums alone.
Both have random operands of the same distribution. A round measures the kernel and each of the two rows in turn, with
about the same number of products, in processor time. The table shows the medians of the speeds and of the ratios of
all rounds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent))

import mma  # pyright: ignore[reportMissingImports]

import warploom as wl
from warploom.numerics.formats import FORMATS

CTAS = 32
STAGES = 8
AREA = 1 << 16
"""Size of the matrices and scale factors of a CTA in shared memory. Units: bytes."""
SCALES = 48 << 10
"""Offset of the scale factors. Units: bytes."""


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
    """Return the kernel of a row. Its parameters are the number of stages and the contents of the shared memory."""
    group, scaled = f"cta_group::{row.ctas}", ".block_scale" in row.suffix
    idesc = wl.InstructionDescriptor(
        row.kind, 128 * row.ctas, 256, row.element, row.element, row.dtype, scale_type=scale_type(row)
    )
    tile, scales = wl.UmmaDescriptor(0, 16, 1024, 0, 128).encode(), wl.UmmaDescriptor(0, 128, 128, 0, 0).encode()
    a = "[%r5]" if row.in_tensor else "%rd1"
    opcode = f"tcgen05.mma.{group}.kind::{row.kind}{row.suffix}"
    mmas = "".join(
        f"@%p0 {opcode} [%r1], {a}, %rd2, %r3{', [%r6], [%r6]' if scaled else ''}, %p{2 if k == 0 else 3};\n"
        "add.u64 %rd1, %rd1, 2; add.u64 %rd2, %rd2, 2; add.u32 %r5, %r5, 8;\n"
        for k in range(4)
    )
    meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" if row.ctas == 2 else "bar.sync 0;"
    fill = ""
    if scaled:
        fill = (
            f"add.u64 %rd1, %rd1, {scales + (SCALES >> 4)};\n"
            f"@%p0 tcgen05.cp.{group}.32x128b.warpx4 [%r6], %rd1;\n"
        )  # fmt: skip
    if row.in_tensor:
        part = wl.UmmaDescriptor(0, 128, 256, 0, 0).encode()
        fill = f"add.u64 %rd1, %rd1, {part};\n" + "".join(
            f"@%p0 tcgen05.cp.{group}.128x256b [%r5], %rd1; add.u64 %rd1, %rd1, 256; add.u32 %r5, %r5, 8;\n"
            for _ in range(4)
        )
    return f"""
.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u32 stages, .param .u64 data)
{{
.shared .align 1024 .b8 area[{AREA}];
.shared .align 8 .b64 full;
.shared .align 4 .b32 slot;
.reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p<6>;
mov.u32 %r0, slot; mov.u32 %r7, %cluster_ctarank; or.b32 %r7, %r7, %tid.x; setp.eq.u32 %p0, %r7, 0;
tcgen05.alloc.{group}.sync.aligned.shared::cta.b32 [%r0], 512;
{meet}
ld.shared.u32 %r1, [%r0]; add.u32 %r5, %r1, 256; add.u32 %r6, %r1, 300; mov.u32 %r3, {idesc.encode()};
mov.u32 %r8, 0; ld.param.u32 %r9, [stages]; setp.eq.u32 %p3, %r8, 0;
mov.u32 %r4, area; mov.u32 %r10, full; ld.param.u64 %rd3, [data]; setp.eq.u32 %p4, %tid.x, 0;
@%p4 mbarrier.init.shared::cta.b64 [%r10], 1;
fence.proxy.async;
@%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], {AREA};
@%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd3], {AREA}, [%r10];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r10], 0;
@!%p5 bra WAIT;
shr.u32 %r4, %r4, 4; cvt.u64.u32 %rd1, %r4;
{fill}
LOOP:
add.u32 %r5, %r1, 256;
cvt.u64.u32 %rd1, %r4; add.u64 %rd2, %rd1, {tile + (16384 >> 4)}; add.u64 %rd1, %rd1, {tile};
setp.ne.u32 %p2, %r8, 0;
{mmas}
add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, %r9; @%p1 bra LOOP;
{meet}
tcgen05.dealloc.{group}.sync.aligned.b32 %r1, 512;
ret;
}}
"""


def scale_type(row: Row) -> str:
    """Return the type of the scale factors of a row, or an empty string."""
    return "" if ".block_scale" not in row.suffix else "ue4m3" if "ue4m3" in row.name else "ue8m0"


def contents(row: Row) -> np.ndarray[Any, Any]:
    """Return the matrices and scale factors of a CTA. Each scale factor is 1."""
    rng = np.random.default_rng(1)
    if row.element in mma.DTYPES:
        found = mma.floats(rng, row.element, (AREA // np.dtype(mma.DTYPES[row.element]).itemsize,), "normal")
    else:
        found = rng.integers(0, 256, AREA).astype(np.uint8)
    found = found.view(np.uint8)
    if scale := scale_type(row):
        form = FORMATS[scale]
        found[SCALES:] = form.bias << form.mantissa_bits
    return found


def seconds(call: Callable[[], Any], count: int = 1) -> float:
    """Return the processor time of `count` calls, which other programs of the machine change less than their duration.

    The results are not kept, so that each call can use the memory of the last one.
    """
    began = time.process_time()
    for _ in range(count):
        call()
    return time.process_time() - began


def measure(row: Row, references: list[mma.Case], rounds: int) -> list[str]:
    """Return a row of the table."""
    kernel, data = text(row), contents(row)

    def launch(stages: int) -> None:
        wl.launch(kernel, grid=CTAS, block=32, cluster=(row.ctas, 1, 1), args=[np.uint32(stages), data])

    def reference(case: mma.Case, call: Callable[[], Any]) -> float:
        count = max(1, row.products * STAGES // case.products)
        return case.products * count / seconds(call, count)

    calls = [(case, mma.multiplication(case)) for case in references]
    for call in (lambda: launch(2), *(call for _, call in calls)):
        call()  # the first call compiles
    speeds: list[float] = []
    ratios: list[list[float]] = []
    for _ in range(rounds):
        taken = seconds(lambda: launch(1 + STAGES)) - seconds(lambda: launch(1))
        speeds.append(row.products * STAGES / taken)
        ratios.append([speeds[-1] / reference(*each) for each in calls])
    middle = [median(column) for column in zip(*ratios, strict=True)]
    return [row.name, f"{median(speeds) / 1e6:,.0f}", *(f"{each:.0%}" for each in middle)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds: int = parser.parse_args().rounds
    table = Table(title=f"Millions of products a second on one thread ({mma.processor()})")
    for heading in ("multiplication", "Warploom", "of wgmma f16", "of wgmma e4m3"):
        table.add_column(heading, justify="left" if heading == "multiplication" else "right")
    named = {case.name: case for case in mma.cases()[:5]}
    references = [named["m64n256k16 f16 f32"], named["m64n256k32 e4m3 f32"]]
    for row in ROWS:
        table.add_row(*measure(row, references, rounds))
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
