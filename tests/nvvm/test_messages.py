"""Errors about operations, in MLIR's words if MLIR reports them."""

# ruff: noqa: E501 - an operation is a line
from __future__ import annotations

import pytest

pytest.importorskip("xdsl")

from warploom.nvvm import LowerError, lower

STRUCT = "!llvm.struct<({})>"


def accumulator(count: int, element: str = "f32") -> str:
    return STRUCT.format(", ".join([element] * count))


def wgmma(
    *, m: int = 64, n: int = 8, k: int = 16, a: str = "f16", b: str = "f16", d: str = "f32", struct: str = "",
    result: str = "", layouts: tuple[str, str] = ("row", "col"), scales: tuple[str, str] = ("one", "one"),
    over: str = "",
) -> str:  # fmt: skip
    element = "f32" if d == "f32" else "i32"
    struct = struct or accumulator(n * (16 if d == "f16" else 32) // 64, element)
    over = f", <{over}>" if over else ""
    return (
        f"%x = nvvm.wgmma.mma_async %d, %d, %c, <m = {m}, n = {n}, k = {k}>, D[<{d}>, <one>{over}],"
        f" A[<{a}>, <{scales[0]}>, <{layouts[0]}>], B[<{b}>, <{scales[1]}>, <{layouts[1]}>]"
        f" : {struct} -> {result or struct} // {struct}"
    )


def refusal(operation: str, arguments: str, target: str = "sm_90a") -> str:
    text = f"llvm.func @f({arguments}) {{\n  {operation}\n  llvm.return\n}}\n"
    with pytest.raises(LowerError) as caught:
        lower(text, target=target)
    (found, *_) = caught.value.diagnostics
    assert found.source is not None
    assert found.span is not None
    assert found.source.position(found.span.start)[0] == 2
    return found.message


def wgmma_refusal(**how: object) -> str:
    text, _, struct = wgmma(**how).partition(" // ")  # type: ignore[arg-type]
    return refusal(text, f"%d: i64, %c: {struct}")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"m": 32}, "shape 'm' must be 64"),
        ({"k": 8}, "shape 'k' must be 16 for input type f16"),
        ({"a": "tf32", "b": "tf32", "k": 16}, "shape 'k' must be 8 for input type tf32"),
        ({"a": "e4m3", "b": "e5m2", "k": 16}, "shape 'k' must be 32 for input type e4m3"),
        ({"n": 12, "struct": accumulator(6)}, "has input type f16 n is set to 12, it is not supported"),
        ({"a": "s8", "b": "s8", "d": "s32", "k": 32, "n": 40}, "has input type s8 n is set to 40, it is not supported"),
        ({"a": "b1", "b": "b1", "d": "s32", "k": 256, "n": 56}, "has input type b1 n is set to 56"),
        ({"struct": accumulator(7)}, "results 4, however output struct has 7 elements"),
        ({"n": 128, "struct": accumulator(32)}, "results 64, however output struct has 32 elements"),
        ({"d": "f16", "n": 64, "struct": accumulator(32, "i32")}, "results 16, however output struct has 32 elements"),
        ({"struct": STRUCT.format("f32, f32, i32, f32")}, "all elements in struct must be same type but there is i32"),
        ({"result": accumulator(8)}, "results are"),
        ({"a": "f16", "b": "bf16"}, "f32 += f16 * bf16, it is not supported."),
        ({"a": "bf16", "b": "bf16", "d": "f16"}, "f16 += bf16 * bf16, it is not supported."),
        ({"d": "bf16", "struct": accumulator(4)}, "does not support the given output type bf16"),
        (
            {"a": "s8", "b": "s8", "d": "s32", "k": 32, "scales": ("neg", "one")},
            "has s32 output, scaleA and scaleB cannot be neg",
        ),
        ({"a": "tf32", "b": "tf32", "k": 8, "layouts": ("col", "col")}, "given layouts layout_a = col and layout_b = col for input types tf32 and tf32 requires transpose."),
        ({"over": "satfinite"}, "`satfinite` can be only used with s32 accumulator"),
    ],
)  # fmt: skip
def test_wgmma(how: dict[str, object], message: str) -> None:
    assert f"'nvvm.wgmma.mma_async' op {message}" in wgmma_refusal(**how)


def test_wgmma_scale_out_is_constant() -> None:
    text, _, struct = wgmma().partition(" // ")
    assert "one of: zero, one" in refusal(text.replace("<f32>, <one>", "<f32>, <two>"), f"%d: i64, %c: {struct}")


def test_wgmma_descriptors_have_64_bits() -> None:
    text, _, struct = wgmma().partition(" // ")
    assert refusal(text, f"%d: i32, %c: {struct}")


def test_wgmma_wait_depth_is_not_negative() -> None:
    assert "-1" in refusal("nvvm.wgmma.wait.group.sync.aligned -1", "")


P, S, C, G, T = "!llvm.ptr", "!llvm.ptr<3>", "!llvm.ptr<7>", "!llvm.ptr<1>", "!llvm.ptr<6>"
MMA = "{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = %d>%s}"
I4 = accumulator(4, "i32")


@pytest.mark.parametrize(
    ("operation", "arguments", "message"),
    [
        (f"%0 = nvvm.mma.sync A[%i, %i] B[%i] C[%i, %i, %i, %i] {MMA % (16, ', multiplicandAPtxType = #nvvm.mma_type<s8>, multiplicandBPtxType = #nvvm.mma_type<s8>')} : (i32, i32, i32) -> {I4}", "%i: i32", "requires 'intOverflowBehavior' attribute"),
        (f"%0 = nvvm.mma.sync A[%i, %i] B[%i] C[%i, %i, %i, %i] {MMA % (128, ', multiplicandAPtxType = #nvvm.mma_type<b1>, multiplicandBPtxType = #nvvm.mma_type<b1>')} : (i32, i32, i32) -> {I4}", "%i: i32", "requires 'b1Op' attribute"),
        (f"%0 = nvvm.mma.sync A[%i, %i] B[%i] C[%i, %i, %i, %i] {MMA % (16, '')} : (i32, i32, i32) -> {I4}", "%i: i32", "attribute multiplicandAPtxType is not provided explicitly and cannot be inferred"),
        (f"%0 = nvvm.mma.sync A[%h, %h] B[%h] C[%h, %h] {MMA % (32, '')} : (vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>", "%h: vector<2xf16>", "unimplemented variant for MMA shape <16, 8, 32>"),
        (f"%0 = nvvm.mma.sync A[%h] B[%h] C[%h, %h] {MMA % (8, '')} : (vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>", "%h: vector<2xf16>", "Could not match types for the A operands; expected 2 of type vector<2xf16> but got vector<2xf16>"),
        (f"%0 = nvvm.mma.sync A[%h, %h] B[%h] C[%h, %h] {MMA % (8, '')} : (vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>)>", "%h: vector<2xf16>", "Could not match types for the result; expected 2 of type vector<2xf16> but got vector<2xf16>"),
        ("%0 = nvvm.mma.sync A[%h, %h] B[%h] C[%h, %h] {layoutA = #nvvm.mma_layout<col>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>} : (vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>", "%h: vector<2xf16>", "'.col' for alayout"),
        ("%0 = nvvm.ldmatrix %p {num = 3 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32", f"%p: {S}", "expected num attribute to be 1, 2 or 4 for 8x8 matrix"),
        ("%0 = nvvm.ldmatrix %p {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b8>} : (!llvm.ptr<3>) -> i32", f"%p: {S}", "expected element type to be b16 for 8x8 matrix"),
        ("%0 = nvvm.ldmatrix %p {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 16>, eltType = #nvvm.ld_st_matrix_elt_type<b8>} : (!llvm.ptr<3>) -> i32", f"%p: {S}", "expected layout to be col for 16x16 matrix"),
        ("%0 = nvvm.ldmatrix %p {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 4, n = 4>, eltType = #nvvm.ld_st_matrix_elt_type<b8>} : (!llvm.ptr<3>) -> i32", f"%p: {S}", "expected shape to be 8x8, 16x16 or 8x16"),
        ("%0 = nvvm.ldmatrix %p {num = 2 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32", f"%p: {S}", "expected destination type is a structure of 2 elements of type i32"),
        ("nvvm.cp.async.shared.global %s, %g, 32, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>", f"%s: {S}, %g: {G}", "expected byte size to be either 4, 8 or 16."),
        ("nvvm.cp.async.shared.global %s, %g, 8, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>", f"%s: {S}, %g: {G}", "CG cache modifier is only support for 16 bytes copy."),
        ("nvvm.cp.async.shared.global %s, %g, 16, cache = cv : !llvm.ptr<3>, !llvm.ptr<1>", f"%s: {S}, %g: {G}", "Only CG and CA cache modifiers are supported."),
        ("nvvm.cp.async.bulk.shared.cluster.global %s, %g, %s, %i multicast_mask = %m : !llvm.ptr<3>, <1>", f"%s: {S}, %g: {G}, %i: i32, %m: i16", "Multicast is not supported with shared::cta mode."),
        ("nvvm.cp.async.bulk.tensor.shared.cluster.global %c, %p, %s, box[] : !llvm.ptr<7>, !llvm.ptr", f"%c: {C}, %p: {P}, %s: {S}", "expects coordinates between 1 to 5 dimension"),
        ("nvvm.cp.async.bulk.tensor.shared.cluster.global %c, %p, %s, box[%i, %i] {mode = #nvvm.tma_load_mode<im2col>} : !llvm.ptr<7>, !llvm.ptr", f"%c: {C}, %p: {P}, %s: {S}, %i: i32", "to use im2col mode, the tensor has to be at least 3-dimensional"),
        ("nvvm.cp.async.bulk.tensor.shared.cluster.global %c, %p, %s, box[%i, %i, %i, %i] im2col[%m] {mode = #nvvm.tma_load_mode<im2col>} : !llvm.ptr<7>, !llvm.ptr", f"%c: {C}, %p: {P}, %s: {S}, %i: i32, %m: i16", "im2col offsets expected 2 (provided 1)"),
        ("nvvm.cp.async.bulk.tensor.shared.cluster.global %s, %p, %s, box[%i] : !llvm.ptr<3>, !llvm.ptr", f"%p: {P}, %s: {S}, %i: i32", "Shared::cluster destination requires address-space 7."),
        ("nvvm.cp.async.bulk.tensor.reduce %p, %s, box[%i] {redKind = #nvvm.tma_redux_kind<add>, mode = #nvvm.tma_store_mode<tile_scatter4>} : !llvm.ptr, <3>", f"%p: {P}, %s: {S}, %i: i32", "Scatter mode not supported for CpAsyncBulkTensorReduceOp"),
        ("nvvm.mbarrier.expect_tx %s, %i {scope = #nvvm.mem_scope<gpu>} : !llvm.ptr<3>, i32", f"%s: {S}, %i: i32", "mbarrier scope must be either CTA or Cluster"),
        ("%0 = nvvm.mbarrier.arrive %c : !llvm.ptr<7> -> i64", f"%c: {C}", "mbarrier in shared_cluster space cannot return any value"),
        ("%0 = nvvm.mbarrier.arrive.expect_tx %s, %i, predicate = %b : !llvm.ptr<3>, i32, i1 -> i64", f"%s: {S}, %i: i32, %b: i1", "return-value is not supported when predicate is used"),
        ("nvvm.setmaxregister increase 100", "", "new register size must be multiple of 8"),
        ("nvvm.setmaxregister decrease 16", "", "new register size must be in between 24 to 256"),
        ("nvvm.fence.proxy {kind = #nvvm.proxy_kind<tensormap>}", "", "tensormap proxy is not a supported proxy kind"),
        ("nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>}", "", "async_shared fence requires space attribute"),
        ("nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>, space = #nvvm.shared_space<cta>}", "", "only async_shared fence can have space attribute"),
        ("nvvm.fence.sync_restrict {order = #nvvm.mem_order<relaxed>}", "", "only acquire and release semantics are supported"),
        ("nvvm.tcgen05.cp %t, %h {shape = #nvvm.tcgen05_cp_shape<shape_64x128b>}", f"%t: {T}, %h: i64", "Shape 64x128b requires multicast warpx2_01_23 or warpx2_02_13 for tcgen05.cp Op"),
        ("nvvm.tcgen05.cp %t, %h {shape = #nvvm.tcgen05_cp_shape<shape_4x256b>, multicast = #nvvm.tcgen05_cp_multicast<warpx4>}", f"%t: {T}, %h: i64", "Invalid multicast type for tcgen05.cp Op"),
        ("%0 = nvvm.tcgen05.ld %t {shape = #nvvm.tcgen05_ldst_shape<shape_16x32bx2>} : i32", f"%t: {T}", "shape 16x32bx2 requires offset argument"),
        ("nvvm.tcgen05.mma %t, %h, %h, %i, %b {aShift, kind = #nvvm.tcgen05_mma_kind<f16>, ctaGroup = #nvvm.cta_group<cta_1>} : (!llvm.ptr<6>, i64, i64, i32, i1)", f"%t: {T}, %h: i64, %i: i32, %b: i1", "A-shift can be applied only when matrix A is in tensor memory"),
        ("nvvm.tcgen05.mma.block_scale %t, %h, %h, %i, %b, %t, %t {kind = #nvvm.block_scale_kind<mxf4nvf4>, ctaGroup = #nvvm.cta_group<cta_1>} : (!llvm.ptr<6>, i64, i64, i32, i1, !llvm.ptr<6>, !llvm.ptr<6>)", f"%t: {T}, %h: i64, %i: i32, %b: i1", "mxf4nvf4 requires block scale attribute"),
        ("nvvm.fence.proxy.acquire <gpu> %p, %i", f"%p: {P}, %i: i32", "size"),
        ("nvvm.nonsense", "", "nonsense"),
    ],
)  # fmt: skip
def test_operation(operation: str, arguments: str, message: str) -> None:
    assert message in refusal(operation, arguments, "sm_100a")


def test_missing_target_feature_is_reported_at_the_operation() -> None:
    assert refusal("nvvm.wgmma.fence.aligned", "", "sm_90").endswith("for sm_90: expected sm_90a")
