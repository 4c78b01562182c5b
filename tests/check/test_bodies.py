"""Whole bodies: the order of asynchronous multiplications along every path, and register counts."""

from __future__ import annotations

import tracemalloc

import pytest

import warploom as wl

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
REGISTERS = ".reg .f32 %f<16>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;"
MMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, 1, 1, 1, 0, 0;\n"
OTHER = MMA.replace("{%f0, %f1, %f2, %f3}", "{%f4, %f5, %f6, %f7}")
FROM_REGISTERS = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, %rd1, 1, 1, 1, 0;\n"
)
FENCE = "wgmma.fence.sync.aligned;\n"
COMMIT = "wgmma.commit_group.sync.aligned;\n"
WAIT = "wgmma.wait_group.sync.aligned {};\n"
WHOLE = FENCE + MMA + COMMIT + WAIT.format(0)
USE = "add.f32 %f8, %f0, %f1;\n"


def findings(body: str, directives: str = "") -> list[str]:
    text = f"{HEAD}.entry k() {directives} {{ {REGISTERS}\n{body}ret;\n}}\n"
    return [f"{found.place.removeprefix('<ptx>:')} {found.code}" for found in wl.check(text)]


@pytest.mark.parametrize(
    "body",
    [
        WHOLE,
        WHOLE + USE,
        FENCE + MMA + MMA + COMMIT + WAIT.format(0),
        WHOLE + MMA + COMMIT + WAIT.format(0),
        FENCE + MMA + COMMIT + OTHER + COMMIT + WAIT.format(1) + USE + WAIT.format(0),
        "add.f32 %f0, %f0, %f1;\n" + WHOLE,
        WHOLE + "add.f32 %f0, %f0, %f1;\n" + WHOLE,
        # A pipeline: the wait of each turn covers the turn before.
        (
            f"{FENCE}mov.b32 %r4, 0;\nLOOP:\n{FENCE}{MMA}{COMMIT}{WAIT.format(0)}"
            f"add.s32 %r4, %r4, 1;\nsetp.lt.s32 %p0, %r4, 8;\n@%p0 bra LOOP;\n{USE}"
        ),
        f"@%p0 bra SKIP;\n{WHOLE}SKIP:\n{USE}",
        FENCE + FROM_REGISTERS + COMMIT + "mov.b32 %r4, %r0;\n" + WAIT.format(0),
        "{ .reg .f32 %f0; mov.f32 %f0, 0f00000000; }\n" + WHOLE,
        FENCE + MMA + COMMIT + "{ .reg .f32 %f0; mov.f32 %f0, 0f00000000; }\n" + WAIT.format(0),
    ],
)
def test_the_right_order_is_silent(body: str) -> None:
    assert findings(body) == []


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (MMA + COMMIT + WAIT.format(0), ["5:1 warpgroup/fence"]),
        (FENCE + MMA + WAIT.format(0), ["6:1 warpgroup/commit"]),
        (FENCE + MMA + COMMIT, ["6:1 warpgroup/wait"]),
        (FENCE + MMA + COMMIT + WAIT.format(1), ["6:1 warpgroup/wait"]),
        (FENCE + MMA + COMMIT + USE + WAIT.format(0), ["8:14 warpgroup/in-flight"]),
        (FENCE + MMA + COMMIT + "mov.f32 %f1, 0f00000000;\n" + WAIT.format(0), ["8:9 warpgroup/in-flight"]),
        (FENCE + FROM_REGISTERS + COMMIT + "mov.b32 %r0, 0;\n" + WAIT.format(0), ["8:9 warpgroup/in-flight"]),
        (FENCE + "mov.f32 %f1, 0f00000000;\n" + MMA + COMMIT + WAIT.format(0), ["7:1 warpgroup/fence"]),
        (f"@%p0 bra SKIP;\n{FENCE}SKIP:\n{MMA}{COMMIT}{WAIT.format(0)}", ["8:1 warpgroup/fence"]),
        (
            f"{FENCE}{MMA}{COMMIT}@%p0 bra SKIP;\n{WAIT.format(0)}SKIP:\n{USE}",
            ["6:1 warpgroup/wait", "11:14 warpgroup/in-flight"],
        ),
        (
            f"{FENCE}{MMA}{COMMIT}@%p0 {WAIT.format(0)}",
            [],  # a guarded wait is taken for one: all warps of a warpgroup must agree on it
        ),
        (
            (
                f"{FENCE}mov.b32 %r4, 0;\nLOOP:\n{MMA}{COMMIT}{WAIT.format(1)}{USE}"
                f"add.s32 %r4, %r4, 1;\nsetp.lt.s32 %p0, %r4, 8;\n@%p0 bra LOOP;\n{WAIT.format(0)}"
            ),
            ["11:14 warpgroup/in-flight"],
        ),
        (
            f"{FENCE}{MMA}{COMMIT}T: .branchtargets A, B;\nbrx.idx %r0, T;\nA:\n{WAIT.format(0)}B:\n",
            ["6:1 warpgroup/wait"],
        ),
    ],
)
def test_the_wrong_order_is_found_on_its_path(body: str, found: list[str]) -> None:
    assert findings(body) == found


DECREASE = "setmaxnreg.dec.sync.aligned.u32 40;\n"
INCREASE = "setmaxnreg.inc.sync.aligned.u32 232;\n"


@pytest.mark.parametrize(
    ("body", "directives", "found"),
    [
        (DECREASE, "", ["5:1 registers/entry"]),
        (DECREASE, ".maxntid 384", ["5:1 registers/entry"]),
        (DECREASE, ".reqntid 384", ["5:1 registers/entry"]),
        (DECREASE, ".maxntid 384 .minnctapersm 1", []),
        (DECREASE, ".reqntid 384 .minnctapersm 1", []),
        (DECREASE, ".maxnreg 128", []),
        (DECREASE, ".maxnreg 32", ["5:33 registers/count"]),
        (INCREASE + DECREASE, ".maxnreg 32", []),
        ("@%p0 " + DECREASE, ".maxnreg 128", ["5:1 registers/uniform"]),
    ],
)
def test_register_counts(body: str, directives: str, found: list[str]) -> None:
    assert findings(body, directives) == found


def test_thousands_of_multiplications_in_flight_take_little_memory() -> None:
    one = "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, 1, 1;"
    text = HEAD + ".entry e() { .reg .f32 %f<4>; .reg .b64 %rd<2>; .reg .pred %p<1>;" + one * 4000 + "}"
    tracemalloc.start()
    try:
        report = wl.check(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert report.ok
    assert peak < 64 << 20
