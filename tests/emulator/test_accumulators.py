"""Accumulators of warpgroups stand for registers, whoever looks at them and whenever."""

from __future__ import annotations

import numpy as np
import pytest

import warploom as wl

# A and B are ones, so each multiplication adds its k, 16, to every accumulator.
PRODUCT = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%s}, %%rd2, %%rd3, %%p%d, 1, 1, 0, 0;"


PRODUCT_OF_REGISTERS = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, {%h0, %h0, %h0, %h0}, %rd3, %p1, 1, 1, 0;"
)


def product(registers: str, keeps: bool = True) -> str:
    return PRODUCT % (", ".join(f"%f{number}" for number in registers.split()), keeps)


def after(statements: list[str], schedule: str = "eager", workers: int = 1) -> list[float]:
    """Registers f0 to f7 of a thread after statements; they are the same in all of them."""
    text = f"""
    .version 8.0
    .target sm_90a
    .address_size 64
    .visible .entry k(.param .u64 out)
    {{
        .reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .f32 %f<8>; .reg .b32 %h<2>; .reg .pred %p<2>;
        .shared .align 128 .b8 tiles[2304];
        ld.param.u64 %rd0, [out];
        mov.u32 %r0, %tid.x;
        mov.u32 %r1, tiles;
        mad.lo.s32 %r2, %r0, 4, %r1;
        mov.b32 %r3, 0x3c003c00;
        mov.u32 %r4, 0;
    fill:
        st.shared.b32 [%r2], %r3;
        add.s32 %r2, %r2, 512;
        add.s32 %r4, %r4, 1;
        setp.lt.u32 %p0, %r4, 4;
        @%p0 bra fill;
        setp.lt.u32 %p0, %r0, 64;
        @%p0 st.shared.b32 [%r2], %r3;
        fence.proxy.async;
        bar.sync 0;
        shr.u32 %r1, %r1, 4;
        cvt.u64.u32 %rd2, %r1;
        or.b64 %rd2, %rd2, 0x0000000800080000;
        add.s64 %rd3, %rd2, 128;
        mov.pred %p0, 0;
        mov.pred %p1, -1;
        {" ".join(f"mov.f32 %f{i}, 0f00000000;" for i in range(8))}
        wgmma.fence.sync.aligned;
        {" ".join(statements)}
        mad.wide.u32 %rd0, %r0, 32, %rd0;
        {" ".join(f"st.global.f32 [%rd0+{4 * i}], %f{i};" for i in range(8))}
        ret;
    }}
    """
    found = np.full((128, 8), -1, np.float32)
    wl.launch(text, grid=1, block=128, args=[found], schedule=schedule, workers=workers)
    assert (found == found[0]).all()
    return found[0].tolist()


DONE = ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"]
FENCE = "wgmma.fence.sync.aligned;"
everywhere = pytest.mark.parametrize("schedule", ["eager", "lazy", "random:1", "random:2"])


@everywhere
def test_several_products_go_on_with_one_sum(schedule: str) -> None:
    found = after([product("0 1 2 3", keeps=False), product("0 1 2 3"), product("0 1 2 3"), *DONE], schedule)
    assert found == [48] * 4 + [0] * 4


@everywhere
def test_a_product_that_keeps_nothing_begins_again(schedule: str) -> None:
    found = after([product("0 1 2 3"), product("0 1 2 3", keeps=False), product("0 1 2 3"), *DONE], schedule)
    assert found == [32] * 4 + [0] * 4


@everywhere
def test_what_is_written_between_products_counts(schedule: str) -> None:
    first = [product("0 1 2 3"), *DONE, "add.f32 %f0, %f0, 0f3f800000;", FENCE]
    assert after([*first, product("0 1 2 3"), *DONE], schedule) == [33, 32, 32, 32, 0, 0, 0, 0]


@everywhere
def test_vectors_may_share_registers(schedule: str) -> None:
    statements = [product("0 1 2 3"), *DONE, FENCE, product("2 3 4 5"), *DONE, FENCE, product("5 2 1 7"), *DONE]
    assert after(statements, schedule) == [16, 32, 48, 32, 16, 32, 0, 16]


@everywhere
def test_accumulators_may_become_a(schedule: str) -> None:
    """Two registers of ones as pairs of f16 are A of the next product."""
    statements = [
        *(product("0 1 2 3"), *DONE),
        *("mul.f32 %f0, %f0, 0f3d800000;", "cvt.rn.f16x2.f32 %h0, %f0, %f0;", FENCE),
        PRODUCT_OF_REGISTERS,
        *DONE,
    ]
    assert after(statements, schedule) == [1, 16, 16, 16, 16, 16, 16, 16]


@everywhere
@pytest.mark.parametrize(("keeps", "expected"), [("%p1", 16 + 16 * 3 * 2), ("%p0", 16 * 3 * 2)])
def test_products_with_a_in_registers_add_up(schedule: str, keeps: str, expected: float) -> None:
    """A is 1 and B is 1 in the first product. A is 3 and B is 2 in the second product."""
    second = PRODUCT_OF_REGISTERS.replace("%h0", "%h1").replace("%rd3", "%rd4").replace("%p1", keeps)
    statements = [
        *("mov.u32 %r1, tiles;", "mad.lo.s32 %r1, %r0, 4, %r1;", "mov.b32 %r3, 0x40004000;"),
        *("setp.lt.u32 %p0, %r0, 64;", "@%p0 st.shared.b32 [%r1+1792], %r3;", "fence.proxy.async;", "bar.sync 0;"),
        *("mov.pred %p0, 0;", "sub.s64 %rd4, %rd3, 16;", "mov.b32 %h0, 0x3c003c00;", "mov.b32 %h1, 0x42004200;"),
        *(FENCE, PRODUCT_OF_REGISTERS, second, *DONE),
    ]
    assert after(statements, schedule) == [0] * 4 + [expected] * 4


def test_what_stands_between_products_is_computed_before_them() -> None:
    """The second product's B starts 128 bytes below where it is computed to be before the product."""
    statements = [
        product("0 1 2 3"),
        "sub.s64 %rd4, %rd3, 8;",
        "add.s64 %rd3, %rd4, 8;",
        product("0 1 2 3"),
        "mov.b64 %rd5, %rd3;",
        *DONE,
    ]
    assert after(statements) == [32] * 4 + [0] * 4


def test_workers_do_not_change_sums() -> None:
    statements = [product("0 1 2 3"), product("4 5 6 7"), product("0 1 2 3"), *DONE]
    assert after(statements, workers=2) == after(statements) == [32] * 4 + [16] * 4
