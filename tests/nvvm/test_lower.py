"""`wl.lower` and `warploom lower`: functions, LLVM IR, the wgmma protocol, and errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("xdsl")

import warploom as wl
from warploom.cli import main
from warploom.nvvm import LowerError, protocol_warnings

STRUCT = "!llvm.struct<(f32, f32, f32, f32)>"
MULTIPLY = (
    "nvvm.wgmma.mma_async %d, %d, {}, <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>],"
    f" B[<f16>, <one>, <col>] : {STRUCT} -> {STRUCT}"
)
COMMIT, WAIT = "nvvm.wgmma.commit.group.sync.aligned", "nvvm.wgmma.wait.group.sync.aligned 0"
FENCE = "nvvm.wgmma.fence.aligned"


def function(*lines: str, result: str = "") -> str:
    body = "\n".join(f"  {line}" for line in lines)
    arrow = f" -> {STRUCT}" if result else ""
    end = f"  llvm.return {result} : {STRUCT}" if result else "  llvm.return"
    return f"llvm.func @f(%d: i64, %c: {STRUCT}, %i: i32){arrow} {{\n{body}\n{end}\n}}\n"


WHOLE = function(FENCE, f"%0 = {MULTIPLY.format('%c')}", f"%1 = {MULTIPLY.format('%0')}", COMMIT, WAIT, result="%1")


def test_ptx_is_legal() -> None:
    ptx = wl.lower(WHOLE)
    assert wl.check(ptx).ok
    assert ".version 8.0\n.target sm_90a" in ptx


def test_kernel_becomes_an_entry() -> None:
    text = "llvm.func @k(%i: i32) attributes {nvvm.kernel} {\n  nvvm.griddepcontrol wait\n  llvm.return\n}\n"
    assert ".visible .entry k(" in wl.lower(text)
    with pytest.raises(LowerError, match="returns a value"):
        wl.lower("llvm.func @k(%i: i32) -> i32 attributes {nvvm.kernel} {\n  llvm.return %i : i32\n}\n")


def test_to_llvm() -> None:
    text = wl.lower(WHOLE, to="llvm")
    assert "call void @llvm.nvvm.wgmma.fence.sync.aligned()" in text
    assert "call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 0)" in text
    assert "asm sideeffect" in text
    assert wl.lower(text, "llvm") == wl.lower(WHOLE)


def test_lowering_to_nvvm_prints_canonical_text() -> None:
    once = wl.lower(WHOLE, to="nvvm")
    assert wl.lower(once, to="nvvm") == once


def test_inline_ptx() -> None:
    text = function('%0 = nvvm.inline_ptx "add.u32 {$w0}, {$r0}, 1;" ro (%i : i32) -> i32')
    assert re.search(r"add\.u32 %r\d, %r\d, 1;", wl.lower(text))


@pytest.mark.parametrize(
    ("lines", "missing"),
    [
        (
            [f"%0 = {MULTIPLY.format('%c')}", COMMIT, WAIT],
            "needs a 'nvvm.wgmma.fence.aligned' after the writes of its accumulator",
        ),
        (
            [FENCE, f"%0 = {MULTIPLY.format('%c')}"],
            "before its multiplication is complete: add 'nvvm.wgmma.commit.group.sync.aligned'",
        ),
        (
            [FENCE, f"%0 = {MULTIPLY.format('%c')}", COMMIT],
            "before its multiplication is complete: add 'nvvm.wgmma.wait.group.sync.aligned'",
        ),
        ([FENCE, f"%0 = {MULTIPLY.format('%c')}", WAIT, COMMIT], "add 'nvvm.wgmma.wait.group.sync.aligned'"),
    ],
)
def test_protocol_warnings(lines: list[str], missing: str) -> None:
    (found,) = protocol_warnings(function(*lines, result="%0"))
    assert missing in found.message
    assert found.span is not None


def test_legal_protocol_has_no_warnings() -> None:
    assert not protocol_warnings(WHOLE)


@pytest.mark.parametrize(
    ("text", "message"), [("llvm.func @f(", "<text>:1"), ("func.func @f() {\n  nvvm.mbarrier.init\n}\n", "<text>:")]
)
def test_illegal_text_is_an_error(text: str, message: str) -> None:
    with pytest.raises(LowerError) as caught:
        wl.lower(text)
    assert message in str(caught.value)


def test_unknown_targets_and_levels_are_usage_errors() -> None:
    with pytest.raises(wl.UsageError, match="unknown target 'sm_1'"):
        wl.lower(WHOLE, target="sm_1")
    with pytest.raises(wl.UsageError, match="cannot lower ptx to llvm"):
        wl.lower(WHOLE, "ptx", "llvm")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.mlir"
    path.write_text(WHOLE)
    assert main(["lower", str(path)]) == 0
    ptx = capsys.readouterr().out
    assert "wgmma.mma_async" in ptx
    (tmp_path / "k.ptx").write_text(ptx)
    assert main(["lower", str(tmp_path / "k.ptx"), "--to", "nvvm"]) == 0
    assert capsys.readouterr().out.count("wgmma.mma_async") == 2
    assert main(["lower", str(path), "--arch", "sm_80"]) == 1
    assert (
        "k.mlir:6:3: error[lower.llvm]: 'nvvm.wgmma.wait.group.sync.aligned' cannot lower the call"
        in capsys.readouterr().err
    )
    path.write_text(WHOLE.replace(FENCE, ""))
    assert main(["lower", str(path)]) == 0
    assert "warning[lower.protocol]" in capsys.readouterr().err
    assert main(["lower", str(tmp_path / "none.mlir")]) == 2
