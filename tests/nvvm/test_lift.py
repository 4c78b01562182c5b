"""PTX up to operations: what was lowered comes back, and every kernel of the corpus has a skeleton."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("xdsl")

from warploom.nvvm import lower
from warploom.nvvm.dialect import InlinePtx, Operation
from warploom.nvvm.lift import lift
from warploom.nvvm.reading import read
from warploom.oracle.mlir.record import read as recorded

TESTS = Path(__file__).parents[1]
CORPUS = [
    TESTS / "corpus" / f"{name}.ptx"
    for name in (
        "cluster_tma_sm90a",
        "gemm_bf16_tn_sm90",
        "gemm_f16_tma_persistent_ws0_sm90",
        "gluon_wgmma_rs_bf16_64x64x32_sm90",
        "gluon_wgmma_ss_f16_64x64x64_sm90",
        "micro_sm90a",
        "wgmma_raw_sm90a",
    )
]
BACK = (
    "nvvm.wgmma.mma_async", "nvvm.wgmma.wait.group.sync.aligned", "nvvm.mma.sync", "nvvm.ldmatrix", "nvvm.stmatrix",
    "nvvm.cp.async.shared.global", "nvvm.cp.async.wait.group", "nvvm.cp.async.bulk.wait_group",
    "nvvm.mbarrier.init", "nvvm.cluster.arrive", "nvvm.cluster.wait", "nvvm.setmaxregister",
    "nvvm.griddepcontrol", "nvvm.fence.mbarrier.init",
)  # fmt: skip
SAMPLE = 6


def operations(module: object) -> list[Operation]:
    return [each for each in module.walk() if isinstance(each, Operation)]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", BACK)
def test_what_was_lowered_comes_back(name: str) -> None:
    for answer in [each for each in recorded(TESTS / "evidence" / "mlir") if each.operation == name][:SAMPLE]:
        (first,) = [each for each in operations(read(answer.text).module) if each.name == name]
        lifted = lift(lower(answer.text, target=answer.target))
        (again,) = [each for each in operations(lifted) if each.name == name]
        assert str(again.properties.get("satfinite", "wrapped")).count("satfinite") == str(
            first.properties.get("satfinite", "wrapped")
        ).count("satfinite")
        compared = first.properties.keys() - {"satfinite", "operandSegmentSizes"}
        assert {key: again.properties[key] for key in compared} == {
            key: first.properties[key] for key in compared
        }
        assert [result.type for result in again.results] == [result.type for result in first.results]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_kernels_have_skeletons(path: Path) -> None:
    """The skeleton is text that reads as what it is."""
    text = lower(path.read_text(), "ptx", "nvvm")
    assert lower(text, "nvvm", "nvvm") == text
    assert "nvvm." in text


def test_a_gemm_reads_as_ir() -> None:
    module = lift((TESTS / "corpus" / "gemm_f16_nn_sm80.ptx").read_text())
    names = [each.name for each in operations(module)]
    assert names.count("nvvm.mma.sync") == 64
    assert names.count("nvvm.ldmatrix") == 16
    assert not any(isinstance(each, InlinePtx) for each in operations(module))


def test_what_no_operation_expresses_stands_as_it_is() -> None:
    text = """.version 8.0\n.target sm_90a\n.address_size 64
.visible .entry k(.param .u64 p) {
	.reg .f32 %f<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p1, 1, 1, 0, 0;
	ret;
}"""
    (found,) = operations(lift(text))
    assert isinstance(found, InlinePtx)
    assert found.ptxCode.data.startswith("wgmma.mma_async")


def test_a_constant_scale_is_seen_through_its_predicate() -> None:
    struct = "!llvm.struct<(f32, f32, f32, f32)>"
    text = f"""llvm.func @f(%d: i64, %c: {struct}) -> {struct} {{
  nvvm.wgmma.fence.aligned
  %0 = nvvm.wgmma.mma_async %d, %d, %c, <m = 64, n = 8, k = 16>, D[<f32>, <zero>], A[<f16>, <neg>, <row>],
       B[<f16>, <one>, <row>] : {struct} -> {struct}
  llvm.return %0 : {struct}
}}"""
    printed = str(lift(lower(text)))
    assert "D[<f32>, <zero>], A[<f16>, <neg>, <row>], B[<f16>, <one>, <row>]" in printed
