"""Runs of multiplications that native code executes: same registers and statistics as in the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.texts import MULTIPLICATIONS, scale_operands
from numpy.typing import NDArray

import warploom as wl
from warploom.emulator.stats import Stats

F16, S8 = "m16n8k16.row.col.f32.f16.f16.f32", "m16n8k32.row.col.satfinite.s32.s8.u8.s32"
THREADS = 96
ROUNDS = 3
WARMUPS = 2
"""Launches after which Numba has compiled the arithmetic, and native code is linked to it."""


def text(opcodes: list[str], *, guard: str = "", skip: str = "", overwrites: bool = False) -> str:
    """A kernel with a loop over one run of the multiplications `opcodes`.

    `skip` is a predicate register. Its lanes jump over the loop. If `overwrites` is set, another multiplication of the
    run overwrites the matrix A of the first one, and therefore belongs to another group.
    """
    target = max((MULTIPLICATIONS[each][0] for each in opcodes), key=lambda name: int(name[3:5]))
    size = 8 if "f64" in opcodes[0] else 4
    count = 0

    def vector(length: int) -> str:
        nonlocal count
        count += length
        return "{" + ", ".join(f"%x{number}" for number in range(count - length, count)) + "}"

    def product(opcode: str, d: str = "") -> tuple[str, str]:
        a, b, c = (vector(length) for length in MULTIPLICATIONS[opcode][1:])
        scales = scale_operands(opcode, "%x0", "%x1")
        return a, f"{guard} mma.sync.aligned.{opcode} {d or c}, {a}, {b}, {c}{scales};"

    first, *_ = found = [product(each) for each in opcodes]
    if overwrites:
        found.append(product(opcodes[0], d=first[0]))
    products = [line for _, line in found]
    places = [(f"%x{n}", f"[%rd1+{n * THREADS * size}]") for n in range(count)]
    return "\n".join(
        [
            f".version 8.8\n.target {target}\n.address_size 64",
            ".visible .entry k(.param .u64 p) {",
            f".reg .b{8 * size} %x<{count}>; .reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .pred %p<4>;",
            "ld.param.u64 %rd0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, 0;",
            "setp.lt.u32 %p0, %r0, 1024; setp.lt.u32 %p1, %r0, 32; setp.lt.u32 %p2, %r0, 16;",
            f"mul.wide.u32 %rd1, %r0, {size}; add.u64 %rd1, %rd1, %rd0;",
            *(f"ld.global.b{8 * size} {register}, {place};" for register, place in places),
            f"@{skip} bra END;" if skip else "",
            "LOOP:",
            *products,
            f"add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, {ROUNDS}; @%p3 bra LOOP;",
            "END:",
            *(f"st.global.b{8 * size} {place}, {register};" for register, place in places),
            "ret; }",
        ]
    )


def launch(ptx: str, threads: int = THREADS, grid: int = 1, **options: Any) -> tuple[NDArray[np.uint32], wl.Run]:
    data = np.random.default_rng(1).integers(0, 1 << 14, (200, THREADS), np.uint32) * np.uint32(0x10001)
    run = wl.launch(ptx, grid=grid, block=threads, args=[data], **options)
    return data, run


def counts(stats: Stats) -> dict[str, Any]:
    return {"macs": stats.macs, "instructions": stats.instructions, "batches": stats.batches, "spent": stats.spent}


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Function that launches a kernel with both engines, and returns the run of native code."""

    def compare(ptx: str, threads: int = THREADS, **options: Any) -> wl.Run:
        monkeypatch.setenv("WARPLOOM_ENGINE", "interpreter")
        want, interpreted = launch(ptx, threads, **options)
        monkeypatch.setenv("WARPLOOM_ENGINE", "auto")
        for _ in range(WARMUPS):
            launch(ptx, threads, **options)
        found, native = launch(ptx, threads, **options)
        np.testing.assert_array_equal(found, want)
        assert counts(native.stats) == counts(interpreted.stats)
        return native

    return compare


def interpreted(run: wl.Run) -> list[str]:
    return [each.opcode for each in run.stats.times.instructions if each.multiplies]


@pytest.mark.parametrize("opcode", MULTIPLICATIONS)
@pytest.mark.parametrize("length", [1, 3])
def test_native_code_executes_a_run(opcode: str, length: int, both: Any) -> None:
    assert interpreted(both(text([opcode] * length))) == []


def test_a_run_of_several_kinds_and_groups(both: Any) -> None:
    assert interpreted(both(text([F16, S8, F16, S8], overwrites=True))) == []


def test_a_kernel_with_several_waves(both: Any) -> None:
    assert interpreted(both(text([F16, F16]), grid=5)) == []


@pytest.mark.parametrize("options", [{"threads": 80}, {"guard": "@%p0"}], ids=str)
def test_the_interpreter_executes_incomplete_warps_and_guarded_runs(options: dict[str, Any], both: Any) -> None:
    threads = options.pop("threads", THREADS)
    assert interpreted(both(text([F16, F16], **options), threads)) != []


def test_warps_that_skip_a_run(both: Any) -> None:
    assert interpreted(both(text([F16, S8], skip="%p1"))) == []


@pytest.mark.parametrize("schedule", ["lazy", "random:1", "random:2", "random:3"])
def test_a_random_schedule_stops_within_a_run(schedule: str, both: Any) -> None:
    both(text([F16] * 4), schedule=schedule)


@pytest.mark.parametrize("options", [{"profile": True}, {"trace": True}, {"sanitize": True}], ids=str)
def test_observers_see_the_same_run(options: dict[str, Any], both: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ptx = text([F16, F16])
    native = both(ptx, **options)
    assert interpreted(native) == []
    monkeypatch.setenv("WARPLOOM_ENGINE", "interpreter")
    _, other = launch(ptx, **options)
    assert native.findings == other.findings
    assert str(native.profile) == str(other.profile)
    assert str(native.trace) == str(other.trace)


def test_workers_share_a_run(both: Any) -> None:
    """Global memory that the grid updates atomically lets one thread run the grid, and workers the multiplications."""
    ptx = text([F16, F16]).replace("ret; }", "red.global.add.u32 [%rd0], 1; ret; }")
    assert interpreted(both(ptx, workers=2)) != []
