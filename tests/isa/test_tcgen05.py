# ruff: noqa: E501 - opcodes are as long as they are
from __future__ import annotations

import pytest
from isa.binding import binding, legality_tests

import warploom as wl
from warploom.isa.binding.nearest import fixes
from warploom.isa.model.form import forms

MMA = "tcgen05.mma.cta_group::1"
LEGAL = {
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%rd1], 512;": "tcgen05.alloc",
    "tcgen05.alloc.cta_group::2.sync.aligned.b32 [%r1], %r2;": "tcgen05.alloc",
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;": "tcgen05.dealloc",
    "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;": "tcgen05.relinquish",
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];": "tcgen05.ld",
    "tcgen05.ld.sync.aligned.16x256b.x1.pack::16b.b32 {%r1, %r2, %r3, %r4}, [%r5+8];": "tcgen05.ld",
    "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r1, %r2}, [%r3], 16;": "tcgen05.ld-split",
    "tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.NaN.f32 {%f1, %f2}, %f3, [%r3];": "tcgen05.ld-red",
    "tcgen05.ld.red.sync.aligned.16x32bx2.x2.u32.min {%r1, %r2}, %r4, [%r3], 16;": "tcgen05.ld-red-split",
    "tcgen05.st.sync.aligned.16x128b.x1.unpack::16b.b32 [%r1], {%r2, %r3};": "tcgen05.st",
    "tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r1], 16, {%r2};": "tcgen05.st-split",
    "tcgen05.wait::ld.sync.aligned;": "tcgen05.wait",
    "tcgen05.cp.cta_group::1.4x256b [%r1], %rd1;": "tcgen05.cp",
    "tcgen05.cp.cta_group::2.64x128b.warpx2::02_13.b8x16.b6x16_p32 [%r1], %rd1;": "tcgen05.cp",
    "tcgen05.shift.cta_group::1.down [%r1];": "tcgen05.shift",
    "tcgen05.fence::after_thread_sync;": "tcgen05.fence",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];": "tcgen05.commit",
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.multicast::cluster.b64 [%rd1], %h1;": "tcgen05.commit",
    f"{MMA}.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;": "tcgen05.mma",
    f"{MMA}.kind::tf32.collector::a::use [%r1], %rd1, %rd2, %r2, {{%r3, %r4, %r5, %r6}}, %p1, 15;": "tcgen05.mma",
    f"{MMA}.kind::i8.ashift.collector::a::lastuse [%r1], [%r2], %rd2, %r2, !%p1;": "tcgen05.mma-tensor",
    "tcgen05.mma.sp.cta_group::2.kind::f8f6f4 [%r1], [%r2], %rd2, [%r3], %r4, {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, 1;": "tcgen05.mma-tensor",
    f"{MMA}.kind::mxf8f6f4.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;": "tcgen05.block",
    "tcgen05.mma.sp.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X.collector::a::fill [%r1], [%r2], %rd2, [%r5], %r2, [%r3], [%r4], %p1;": "tcgen05.block-tensor",
    "tcgen05.mma.ws.cta_group::1.kind::f16.collector::b3::lastuse [%r1], %rd1, %rd2, %r2, %p1, %rd3;": "tcgen05.ws",
    "tcgen05.mma.ws.sp.cta_group::1.kind::i8 [%r1], [%r2], %rd2, [%r3], %r2, %p1;": "tcgen05.ws-tensor",
}

REFUSED = {
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cluster.b32 [%rd1], 512;": "tcgen05.alloc/ss",
    "tcgen05.alloc.cta_group::1.sync.aligned.b32 [%rd1], 48;": "tcgen05.alloc/nCols",
    "tcgen05.alloc.sync.aligned.b32 [%rd1], 64;": "tcgen05.alloc/cta_group",
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 [%r1], 32;": "tcgen05.dealloc/taddr",
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync;": "tcgen05.relinquish/aligned",
    "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1}, [%r2];": "tcgen05.ld/r",
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 %r1, [%r2];": "tcgen05.ld/r",
    "tcgen05.ld.sync.aligned.32x32b.x256.b32 {%r1}, [%r2];": "tcgen05.ld/num",
    "tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32 {%r1}, [%r2];": "tcgen05.ld/pack",
    "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r1, %r2}, [%r3];": "tcgen05.ld-split/operands",
    "tcgen05.ld.red.sync.aligned.32x32b.x1.max.f32 {%f1}, %f3, [%r3];": "tcgen05.ld-red/num",
    "tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.s32 {%r1, %r2}, %r4, [%r3];": "tcgen05.ld-red/type",
    "tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r1], {%r2}, 16;": "tcgen05.st-split/immHalfSplitoff",
    "tcgen05.wait::cp.sync.aligned;": "tcgen05.wait/op",
    "tcgen05.cp.cta_group::1.64x128b [%r1], %rd1;": "tcgen05.cp/multicast",
    "tcgen05.cp.cta_group::1.128x128b.b8x16 [%r1], %rd1;": "tcgen05.cp/src_fmt",
    "tcgen05.shift.cta_group::1.up [%r1];": "tcgen05.shift/down",
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.multicast::cluster.b64 [%rd1];": "tcgen05.commit/ctaMask",
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.multicast::cluster.b64 [%rd1], 3;": "tcgen05.commit/ctaMask",
    f"{MMA} [%r1], %rd1, %rd2, %r2, %p1;": "tcgen05.mma/kind",
    f"{MMA}.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, 16;": "tcgen05.mma/scale_input_d",
    f"{MMA}.kind::f8f6f4 [%r1], %rd1, %rd2, %r2, %p1, 1;": "tcgen05.mma/scale_input_d",
    f"{MMA}.kind::f16 [%r1], %rd1, %rd2, %r2, {{%r1, %r2}}, %p1;": "tcgen05.mma/disable_output_lane",
    f"{MMA}.kind::f16.ashift [%r1], %rd1, %rd2, %r2, %p1;": "tcgen05.mma-tensor/a_tmem",
    f"{MMA}.kind::f16.ashift.collector::a::fill [%r1], [%r2], %rd2, %r2, %p1;": "tcgen05.mma-tensor/collector_usage",
    f"{MMA}.kind::mxf4 [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;": "tcgen05.block/block_scale",
    f"{MMA}.kind::mxf8f6f4.block_scale.scale_vec::2X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;": "tcgen05.block/scale_vectorsize",
    f"{MMA}.kind::mxf4nvf4.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;": "tcgen05.block/scale_vectorsize",
    "tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;": "tcgen05.mma/sp_meta_tmem",
    "tcgen05.mma.ws.cta_group::2.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;": "tcgen05.ws/cta_group",
    "tcgen05.mma.ws.cta_group::1.kind::f16.collector::a::use [%r1], %rd1, %rd2, %r2, %p1;": "tcgen05.ws/collector_usage",
}

AVAILABLE = {
    ("sm_100", "tcgen05.wait::ld.sync.aligned;"): "tcgen05.wait/target",
    ("sm_120a", "tcgen05.wait::ld.sync.aligned;"): "tcgen05.wait/target",
    ("sm_103f", "tcgen05.wait::ld.sync.aligned;"): "",
    ("sm_110f", "tcgen05.shift.cta_group::1.down [%r1];"): "tcgen05.shift/target",
    ("sm_110a", "tcgen05.shift.cta_group::1.down [%r1];"): "",
    ("sm_103a", f"{MMA}.kind::i8 [%r1], %rd1, %rd2, %r2, %p1;"): "tcgen05.mma/target",
    ("sm_110a", f"{MMA}.kind::i8 [%r1], %rd1, %rd2, %r2, %p1;"): "",
    ("sm_103a", f"{MMA}.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, 1;"): "",
    ("sm_110a", f"{MMA}.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, 1;"): "tcgen05.mma/scale_input_d",
    ("sm_100a", "tcgen05.ld.red.sync.aligned.32x32b.x2.max.u32 {%r1, %r2}, %r3, [%r3];"): "tcgen05.ld-red/target",
    ("sm_103a", "tcgen05.ld.red.sync.aligned.32x32b.x2.max.u32 {%r1, %r2}, %r3, [%r3];"): "",
    ("sm_100a", "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%rd1];"): "tcgen05.ld/taddr",
    ("sm_100a", "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, _}, [%r1];"): "tcgen05.ld/r",
    ("sm_100a", f"{MMA}.kind::f16 [%u1], %rd1, %rd2, %r2, %p1;"): "tcgen05.mma/d_tmem",
    ("sm_100a", "tcgen05.shift.cta_group::1.down [%u1];"): "",
}  # fmt: skip

test_legal, test_refused = legality_tests(LEGAL, REFUSED)


def in_kernel(target: str, text: str) -> str:
    registers = ".reg .b16 %h<4>; .reg .b32 %r<8>; .reg .u32 %u<2>; .reg .b64 %rd<4>; .reg .pred %p<2>;"
    return f".version 9.1\n.target {target}\n.address_size 64\n.entry k() {{ {registers} {text} ret; }}\n"


@pytest.mark.parametrize(("case", "code"), AVAILABLE.items())
def test_where_it_is(case: tuple[str, str], code: str) -> None:
    assert [found.code for found in wl.check(in_kernel(*case))] == ([code] if code else [])


@pytest.mark.parametrize("num", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize(("shape", "words"), [("32x32b", 1), ("16x64b", 1), ("16x128b", 2), ("16x256b", 4)])
def test_a_lane_holds_its_share(shape: str, words: int, num: int) -> None:
    registers = ", ".join(f"%r{k}" for k in range(words * num))
    found = binding(f"tcgen05.ld.sync.aligned.{shape}.x{num}.b32 {{{registers}}}, [%r0];")
    assert found.operands["r"].registers == words * num


def test_two_granularities_in_one_kernel() -> None:
    one, two = (f"tcgen05.shift.cta_group::{n}.down [%r1];" for n in (1, 2))
    assert wl.check(in_kernel("sm_100a", one + one)).ok
    (found,) = wl.check(in_kernel("sm_100a", one + two))
    assert found.code == "kernel/granularity"


@pytest.mark.parametrize("caller", ["call f; call g;", "call h;"])
def test_granularities_of_functions_are_those_of_their_kernel(caller: str) -> None:
    head = ".version 9.1\n.target sm_100a\n.address_size 64\n"
    body = ".func {} {{ .reg .b32 %r<2>; {} tcgen05.shift.cta_group::{}.down [%r1]; ret; }}\n"
    functions = body.format("f()", "", 1) + body.format("g()", "", 2) + body.format("h()", "call f;", 2)
    assert wl.check(f"{head}{functions}.entry k() {{ ret; }}\n").ok
    found = wl.check(f"{head}{functions}.entry k() {{ {caller} ret; }}\n")
    assert [each.code for each in found] == ["kernel/granularity"]


def test_all_are_executed() -> None:
    family = [form for form in forms() if form.family == "tcgen05"]
    assert family
    assert all(form.is_executable for form in family)


@pytest.mark.parametrize(
    ("opcode", "form"),
    [
        ("tcgen05.mma", "tcgen05.mma"),
        ("tcgen05.mma.ws", "tcgen05.ws"),
        ("tcgen05.alloc", "tcgen05.alloc"),
        ("tcgen05.ld", "tcgen05.ld"),
        ("tcgen05.ld.sync.aligned.b32", "tcgen05.ld"),
        ("tcgen05.wait::ld", "tcgen05.wait"),
        ("tcgen05.fence::before_thread_sync.sync.aligned", "tcgen05.fence"),
        ("tcgen05.relinquish_alloc_permit", "tcgen05.relinquish"),
    ],
)
def test_the_nearest_opcode_of_an_incomplete_one_has_the_same_name(opcode: str, form: str) -> None:
    assert {fix.match.form.name for fix in fixes(opcode)} == {form}
