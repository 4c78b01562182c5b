"""Kernels that allocate tensor memory, and references for the copies to and from it."""

from __future__ import annotations

from typing import Any

import numpy as np

import warploom as wl

SCHEDULES = ("eager", "lazy", "random:1", "random:2")
WORDS = np.arange(128 * 512, dtype=np.uint32).reshape(128, 512) * np.uint32(2654435761)
"""Contents that `fill` gives to tensor memory."""


def tensor_kernel(
    body: str, *, columns: int = 512, group: int = 1, target: str = "sm_100a", shared: int = 32768
) -> str:
    """Return a kernel with the parameters `data` and `out` that allocates columns, and releases them at its end.

    `%r0` is the index of the thread, `%r1` its warp, `%t` the address of the columns, and `%w` the address of the lanes
    of the warp. `%rd0` is the address of `data`, and `%rd1` that of `out`. `%p0` is true in thread 0. Shared memory has
    an mbarrier `bar` with one arrival, and an area `area`.
    """
    name = f"cta_group::{group}"
    meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" if group == 2 else "bar.sync 0;"
    return f"""
.version 8.8
.target {target}
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out)
{{
.shared .align 1024 .b8 area[{shared}];
.shared .align 8 .b64 bar;
.shared .align 4 .b32 slot;
.reg .b16 %h<4>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<40>; .reg .pred %p<10>; .reg .b32 %v<128>;
.reg .b32 %t, %w, %s, %b; .reg .pred %first;
mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; mov.u32 %s, slot; mov.u32 %b, bar;
setp.ne.u32 %first, %r1, 0; setp.eq.u32 %p0, %r0, 0;
@!%p0 bra ALLOCATE;
mbarrier.init.shared.b64 [%b], 1;
fence.mbarrier_init.release.cluster;
ALLOCATE:
@%first bra MEET;
tcgen05.alloc.{name}.sync.aligned.shared::cta.b32 [%s], {columns};
MEET:
{meet}
ld.shared.u32 %t, [%s]; shl.b32 %w, %r1, 21; and.b32 %w, %w, 0x600000; add.u32 %w, %w, %t;
ld.param.u64 %rd0, [data]; ld.param.u64 %rd1, [out];
{body}
{meet}
@%first bra END;
tcgen05.dealloc.{name}.sync.aligned.b32 %t, {columns};
END:
ret;
}}
"""


def registers(count: int, first: int = 0) -> str:
    """Return a vector of `count` registers."""
    return "{" + ", ".join(f"%v{first + i}" for i in range(count)) + "}"


def fill(columns: int = 512) -> str:
    """Return instructions that copy `data`, an array (lanes, columns) of words, to tensor memory."""
    text = f"mul.lo.u32 %r39, %r0, {4 * columns}; cvt.u64.u32 %rd19, %r39; add.u64 %rd19, %rd0, %rd19;\n"
    step = min(columns, 128)
    for first in range(0, columns, step):
        text += "".join(f"ld.global.u32 %v{i}, [%rd19+{4 * (first + i)}];\n" for i in range(step))
        text += f"tcgen05.st.sync.aligned.32x32b.x{step}.b32 [%w+{first}], {registers(step)};\n"
    return text + "tcgen05.wait::st.sync.aligned;\n"


def dump(columns: int = 512) -> str:
    """Return instructions that copy tensor memory to `out`, an array (lanes, columns) of words."""
    text = f"mul.lo.u32 %r39, %r0, {4 * columns}; cvt.u64.u32 %rd19, %r39; add.u64 %rd19, %rd1, %rd19;\n"
    step = min(columns, 128)
    for first in range(0, columns, step):
        text += f"tcgen05.ld.sync.aligned.32x32b.x{step}.b32 {registers(step)}, [%w+{first}];\n"
        text += "tcgen05.wait::ld.sync.aligned;\n"
        text += "".join(f"st.global.u32 [%rd19+{4 * (first + i)}], %v{i};\n" for i in range(step))
    return text


def store_registers(count: int) -> str:
    """Return instructions that store `count` registers of each thread to `out`, an array (threads, count)."""
    return f"mul.lo.u32 %r39, %r0, {4 * count}; cvt.u64.u32 %rd19, %r39; add.u64 %rd19, %rd1, %rd19;\n" + "".join(
        f"st.global.u32 [%rd19+{4 * i}], %v{i};\n" for i in range(count)
    )


def load_registers(count: int) -> str:
    """Return instructions that load `count` registers of each thread from `data`, an array (threads, count)."""
    return f"mul.lo.u32 %r39, %r0, {4 * count}; cvt.u64.u32 %rd19, %r39; add.u64 %rd19, %rd0, %rd19;\n" + "".join(
        f"ld.global.u32 %v{i}, [%rd19+{4 * i}];\n" for i in range(count)
    )


def share(size: int = 32768) -> str:
    """Return instructions that copy `size` bytes of `data` to the area in shared memory."""
    return f"""
    mov.u32 %r38, area; shl.b32 %r37, %r0, 4; add.u32 %r38, %r38, %r37; cvt.u64.u32 %rd18, %r37;
    add.u64 %rd18, %rd0, %rd18; mov.u32 %r36, 0;
    SHARE:
    ld.global.v4.u32 {{%v0, %v1, %v2, %v3}}, [%rd18]; st.shared.v4.u32 [%r38], {{%v0, %v1, %v2, %v3}};
    add.u64 %rd18, %rd18, 2048; add.u32 %r38, %r38, 2048; add.u32 %r36, %r36, 2048;
    setp.lt.u32 %p9, %r36, {size}; @%p9 bra SHARE;
    fence.proxy.async; bar.sync 0;
    """


COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%b];\n"
WAIT = """
AGAIN:
mbarrier.try_wait.parity.shared.b64 %p8, [%b], 0;
@!%p8 bra AGAIN;
tcgen05.fence::after_thread_sync;
"""


def by_thread_0(text: str, label: str = "SKIP") -> str:
    """Return instructions that only thread 0 executes."""
    return f"@!%p0 bra {label};\n{text}\n{label}:\n"


def launch(
    text: str, data: np.ndarray, out: np.ndarray, schedule: str = "eager", *, cluster: int = 1, block: int = 128,
    **options: Any,
) -> np.ndarray:  # fmt: skip
    """Run a kernel of one cluster. Return what it leaves in `out`."""
    found = out.copy()
    wl.launch(
        text, grid=cluster, block=block, cluster=(cluster, 1, 1), args=[data, found], schedule=schedule, **options
    )
    return found
