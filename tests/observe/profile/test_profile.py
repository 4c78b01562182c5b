"""What a profile counts: executions, lanes, and what accesses cost, in kernels whose answers are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.texts import kernel
from observe.sanitize.launches import LAUNCHES

import warploom as wl
from warploom.observe.profile import Profile

SCHEDULES = ["eager", "lazy", "random:1"]
POLLING = {"message_passing"}  # how often it looks is the schedule's choice


def profiled(body: str, *, block: int = 32, words: int = 4096, **options: Any) -> Profile:
    """The profile of a kernel that has `out` alone for a parameter."""
    run = wl.launch(
        kernel(body), grid=1, block=block, args=[np.zeros(words, np.uint32)], **{"profile": True, **options}
    )
    assert run.profile is not None
    return run.profile


def rows(profile: Profile, opcode: str, *columns: str) -> list[tuple[int, ...]]:
    """Columns of the instructions whose opcode begins so, in order."""
    return [
        tuple(int(row[name]) for name in columns)
        for row, each in zip(profile.rows, profile.opcodes, strict=True)
        if each.startswith(opcode)
    ]


def opcode(instruction: str) -> str:
    return instruction.partition(" ")[0]


SHARED = ("shared", "ideal_wavefronts", "wavefronts", "ways")
GLOBAL = ("global", "ideal_sectors", "sectors", "lines")


@pytest.mark.parametrize(
    ("stride", "access", "expected"),
    [
        (4, "st.shared.u32 [%r2], %r0;", (1, 1, 1, 1)),
        (8, "st.shared.u32 [%r2], %r0;", (1, 1, 2, 2)),
        (128, "ld.shared.u32 %r3, [%r2];", (1, 1, 32, 32)),
        (0, "ld.shared.u32 %r3, [%r2];", (1, 1, 1, 1)),
        (16, "st.shared.v4.u32 [%r2], {%r0, %r0, %r0, %r0};", (1, 4, 4, 1)),
        (64, "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];", (1, 4, 16, 4)),
        (128, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r2];", (1, 4, 32, 8)),
        (128, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r2];", (1, 1, 8, 8)),
        (128, "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r2], {%r3, %r4};", (1, 2, 16, 8)),
        (128, "atom.shared.add.u32 %r3, [%r2], 1;", (1, 1, 32, 32)),
    ],
)
def test_bank_conflicts(stride: int, access: str, expected: tuple[int, ...]) -> None:
    text = f"mov.u32 %r1, tile;\nmad.lo.u32 %r2, %r0, {stride}, %r1;\n{access}\nret;"
    text = f".shared .align 128 .b8 tile[4096];\n{text}"
    assert rows(profiled(text), opcode(access), *SHARED) == [expected]
    generic = access.replace(".shared", "").replace("[%r2]", "[%rd3]")
    text = text.replace(access, f"cvt.u64.u32 %rd2, %r2;\ncvta.shared.u64 %rd3, %rd2;\n{generic}")
    assert rows(profiled(text), opcode(generic), *SHARED) == [expected]


def test_a_swizzle_takes_conflicts_away() -> None:
    swizzled = """
        .shared .align 1024 .b8 tile[4096];
        mov.u32 %r1, tile;
        mad.lo.u32 %r2, %r0, 128, %r1;
        and.b32 %r3, %r0, 7;
        shl.b32 %r3, %r3, 4;
        xor.b32 %r2, %r2, %r3;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r2];
        ret;"""
    assert rows(profiled(swizzled), "ldmatrix", *SHARED) == [(1, 4, 4, 1)]


@pytest.mark.parametrize(
    ("stride", "access", "expected"),
    [
        (4, "ld.global.u32 %r3, [%rd3];", (1, 4, 4, 1)),
        (4, "ld.global.u32 %r3, [%rd3+4];", (1, 4, 5, 2)),
        (8, "st.global.u32 [%rd3], %r0;", (1, 4, 8, 2)),
        (128, "ld.global.u32 %r3, [%rd3];", (1, 4, 32, 32)),
        (0, "ld.global.u32 %r3, [%rd3];", (1, 1, 1, 1)),
        (16, "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd3];", (1, 16, 16, 4)),
        (4, "red.global.add.u32 [%rd3], 1;", (1, 4, 4, 1)),
    ],
)
def test_coalescing(stride: int, access: str, expected: tuple[int, ...]) -> None:
    profile = profiled(f"mad.wide.u32 %rd3, %r0, {stride}, %rd0;\n{access}\nret;")
    assert rows(profile, opcode(access), *GLOBAL) == [expected]
    assert rows(profile, "ld.param", *GLOBAL) == [(0, 0, 0, 0)]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_copies_of_threads_are_counted_where_they_are_issued(schedule: str) -> None:
    body = """
        .shared .align 128 .b8 tile[2048];
        mov.u32 %r1, tile;
        mad.lo.u32 %r2, %r0, 32, %r1;
        mad.wide.u32 %rd3, %r0, 16, %rd0;
        mov.u32 %r4, 5;
        cp.async.ca.shared.global [%r2], [%rd3], 16;
        cp.async.ca.shared.global [%r2+16], [%rd3], 16, %r4;
        setp.lt.u32 %p1, %r0, 16;
        selp.u32 %r5, 0, 16, %p1;
        cp.async.cg.shared.global [%r2], [%rd3], 16, %r5;
        cp.async.commit_group;
        cp.async.wait_group 0;
        ret;"""
    profile = profiled(body, schedule=schedule)
    assert rows(profile, "cp.async.ca", *SHARED) == [(1, 4, 8, 2)] * 2
    assert rows(profile, "cp.async.ca", *GLOBAL) == [(1, 16, 16, 4)] * 2
    assert rows(profile, "cp.async.cg", *SHARED) == [(1, 4, 8, 2)]
    assert rows(profile, "cp.async.cg", *GLOBAL) == [(1, 8, 8, 2)]  # half the lanes read nothing


@pytest.mark.parametrize("engine", ["interpreter", "compiler"])
def test_executions_and_lanes(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    body = """
        mov.u32 %r2, 0;
        LOOP: add.u32 %r2, %r2, 1;
        setp.le.u32 %p1, %r2, %r0;
        @%p1 bra LOOP;
        setp.eq.u32 %p2, %r0, 40;
        @%p2 mov.u32 %r3, 7;
        setp.gt.u32 %p3, %r0, 99;
        @%p3 mov.u16 %h1, 7;
        ret;"""
    profile = profiled(body, block=48)
    counts = ("executions", "lanes")
    # Lane n of the block goes n + 1 times round; the second warp has 16 lanes.
    assert rows(profile, "add.u32", *counts) == [(32 + 48, 48 * 49 // 2)]
    assert rows(profile, "bra", *counts) == [(31 + 47, 48 * 49 // 2 - 48)]
    assert rows(profile, "mov.u32", *counts)[-1] == (1, 1)
    assert rows(profile, "mov.u16", *counts) == [(0, 0)]
    assert rows(profile, "ret", *counts)[-1][1] == 48


@pytest.mark.parametrize("name", sorted(n for n in LAUNCHES if LAUNCHES[n].file.count("/") == 0 and n not in POLLING))
def test_only_repeated_waits_depend_on_the_schedule(name: str) -> None:
    (eager, right), (lazy, _) = (LAUNCHES[name].run(schedule=each, profile=True) for each in ("eager", "lazy"))
    assert right, "a profile changes no result"
    assert eager.profile is not None
    assert lazy.profile is not None
    # Under "lazy", a wait for an incomplete phase executes twice, and so does the branch of its loop.
    repeated = lazy.profile.rows["executions"] > eager.profile.rows["executions"]
    others = [column for column in lazy.profile.rows.dtype.names if column not in ("executions", "lanes")]
    np.testing.assert_array_equal(eager.profile.rows[others], lazy.profile.rows[others])
    np.testing.assert_array_equal(eager.profile.rows[~repeated], lazy.profile.rows[~repeated])
    assert not lazy.profile.rows[repeated]["bytes"].any(), "only waits and branches are repeated"
    assert eager.profile.tiles == lazy.profile.tiles
    assert (eager.profile.rows["lanes"] <= 32 * eager.profile.rows["executions"]).all()
    assert (eager.profile.rows["wavefronts"] >= eager.profile.rows["ideal_wavefronts"]).all()
    assert (eager.profile.rows["sectors"] >= eager.profile.rows["ideal_sectors"]).all()


def test_tiles_and_bytes() -> None:
    run, _ = LAUNCHES["warp_specialised"].run(profile=True)
    profile = run.profile
    assert profile is not None
    boxes = {"128 × 32 of f16": 128 * 32 * 2, "16 × 32 of f16": 16 * 32 * 2}
    used = {(profile.opcodes[tile.step].split(".")[0], tile.what, tile.swizzle) for tile in profile.tiles}
    assert used == {("wgmma", "A", 64), ("wgmma", "B", 64), *(("cp", box, 64) for box in boxes)}
    for tile in profile.tiles:
        row = profile.rows[tile.step]
        assert row["bytes"] == row["lanes"] * boxes.get(tile.what, 0)


def test_a_gpu_does_not_profile() -> None:
    with pytest.raises(wl.UsageError, match="does not support profile"):
        profiled("ret;", device="cuda")
