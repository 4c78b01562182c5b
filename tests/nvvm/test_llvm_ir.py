"""LLVM IR lowered to PTX: functions, calls and their instructions, PTX versions, and errors with their place."""

from __future__ import annotations

import signal
from pathlib import Path

import llvmlite.binding as llvm
import pytest

import warploom as wl
from warploom.cli import main
from warploom.nvvm import LowerError
from warploom.nvvm.llvm import backend

KERNEL = """\
; a kernel as compilers print it
source_filename = "kernel"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@buffer = external addrspace(3) global [0 x i8], align 16

define ptx_kernel void @k(ptr addrspace(1) %out, i1 %flag, ptr byval([128 x i8]) align 64 %map) #0 {
entry:
  %tid = call range(i32 0, 128) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br i1 %flag, label %then, label %end

then:                                             ; preds = %entry
  %at = getelementptr inbounds nuw i32, ptr addrspace(1) %out, i32 %tid
  store i32 %tid, ptr addrspace(1) %at, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end

end:
  ret void
}

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind "nvvm.maxntid"="128,1,1" "nvvm.minctasm"="2" "nvvm.maxnreg"="64" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!llvm.module.flags = !{!0}
!0 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
"""


def test_module_of_a_compiler_keeps_its_attributes() -> None:
    ptx = wl.lower(KERNEL, "llvm")
    for text in (".maxntid 128, 1, 1", ".minnctapersm 2", ".maxnreg 64", ".param .align 64 .b8 k_param_2[128]"):
        assert text in ptx
    # An i1 parameter has only one significant bit.
    assert "and.b16" in ptx
    assert wl.check(ptx).ok


def test_each_call_is_followed_to_its_instructions() -> None:
    sreg, barrier = wl.lower(KERNEL, "llvm").calls()
    assert sreg.callee == "llvm.nvvm.read.ptx.sreg.tid.x"
    assert next(step.instruction for step in sreg.steps).startswith("mov.u32")
    assert barrier.arguments == "i32 0"
    (step,) = barrier.steps
    assert step.form is not None
    assert step.form.family == "barrier"
    assert step.ptx is not None


def test_an_unused_call_has_no_instructions() -> None:
    text = KERNEL.replace("  ret void", "  %unused = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n  ret void")
    assert wl.lower(text, "llvm").calls()[-1].steps == ()


def test_debug_information_does_not_change_the_calls() -> None:
    debug = KERNEL.replace("#0 {", "#0 !dbg !2 {").replace("i32 0)\n  br", "i32 0), !dbg !4\n  br")
    debug = debug.replace("= !{!0}", "= !{!0, !5}") + (
        "!llvm.dbg.cu = !{!1}\n!1 = distinct !DICompileUnit(language: DW_LANG_C, file: !3, emissionKind: LineTablesOnly)\n"  # noqa: E501
        '!2 = distinct !DISubprogram(name: "k", scope: !3, file: !3, line: 1, unit: !1, spFlags: DISPFlagDefinition)\n'
        '!3 = !DIFile(filename: "k.py", directory: "/")\n!4 = !DILocation(line: 7, scope: !2)\n'
        '!5 = !{i32 2, !"Debug Info Version", i32 3}\n'
    )
    assert ".loc" in wl.lower(debug, "llvm")
    plain = wl.lower(KERNEL, "llvm").calls()
    assert [call.steps for call in wl.lower(debug, "llvm").calls()] == [call.steps for call in plain]


ASM = 'define ptx_kernel void @k() {{\n  call void asm sideeffect "{}", ""()\n  ret void\n}}\n'


@pytest.mark.parametrize(
    ("text", "target", "version"),
    [
        (ASM.format("membar.gl;"), "sm_80", (7, 0)),
        (ASM.format("griddepcontrol.wait;"), "sm_90", (7, 8)),
        (ASM.format("fence.acquire.sync_restrict::shared::cluster.cluster;"), "sm_90", (8, 6)),
        # LLVM 22 does not know this PTX version.
        (ASM.format("nop; fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;")
         .replace("nop; ", ""), "sm_100a", (8, 8)),
        (KERNEL, "sm_90a", (8, 0)),
    ],
)  # fmt: skip
def test_the_default_version_is_the_first_with_all_instructions(
    text: str, target: str, version: tuple[int, int]
) -> None:
    ptx = wl.lower(text, "llvm", target=target)
    assert wl.parse(ptx).version == version
    assert wl.check(ptx).ok


def test_a_version_that_llvm_lacks_is_written() -> None:
    ptx = wl.lower(KERNEL, "llvm", ptx_version="9.2")
    assert wl.parse(ptx).version == (9, 2)
    assert wl.check(ptx).ok


CALL = "define void @k() {{\n  call void @llvm.nvvm.{}()\n  ret void\n}}\n"


@pytest.mark.parametrize(
    ("name", "target", "version", "message"),
    [
        ("wgmma.fence.sync.aligned", "sm_80", None, "for sm_80: expected sm_90a"),
        ("tcgen05.wait.ld", "sm_90a", None, "for sm_90a: expected sm_100f or sm_110f"),
        ("fence.acquire.sync_restrict.space.cluster.scope.cluster", "sm_90", "8.0", "and PTX 8.0: expected PTX 8.6"),
    ],
)
def test_a_call_that_the_target_lacks_names_what_it_needs(
    name: str, target: str, version: str | None, message: str
) -> None:
    with pytest.raises(LowerError) as found:
        wl.lower(CALL.format(name), "llvm", target=target, ptx_version=version, name="k.ll")
    assert str(found.value) == f"k.ll:2:3: cannot lower the call of 'llvm.nvvm.{name}' {message}".replace(
        "' for", "' for"
    ).replace("' and", f"' for {target} and")


def test_ptx_in_inline_assembly_is_checked() -> None:
    with pytest.raises(LowerError, match=r"k\.ll:2:3: unknown instruction 'foo'"):
        wl.lower(ASM.format("foo;"), "llvm", name="k.ll")


def test_the_worker_starts_again_after_its_end() -> None:
    first = wl.lower(KERNEL, "llvm")
    process = backend._WORKER.process
    assert process is not None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert wl.lower(KERNEL, "llvm") == first


def test_targets_of_newer_releases_are_refused() -> None:
    with pytest.raises(wl.UsageError, match=r"cannot lower to sm_107a; expected sm_70, .* or sm_121a"):
        wl.lower(KERNEL, "llvm", target="sm_107a")


def test_explain_prints_the_instructions_of_each_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ll"
    path.write_text(KERNEL)
    assert main(["lower", str(path), "--explain"]) == 0
    shown = capsys.readouterr().out
    assert "llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n    barrier.sync.aligned" in shown or "bar.sync" in shown
    assert "PTX ISA" in shown
    path.write_text(KERNEL.replace("store i32 %tid", "store i64 %tid"))
    assert main(["lower", str(path)]) == 1
    assert f"{path}:15:3: error[lower.llvm]: 'store i64 %tid" in capsys.readouterr().err


def test_the_data_layout_is_that_of_the_back_end() -> None:
    llvm.initialize_all_targets()
    machine = llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu="sm_90a")
    assert str(machine.target_data) == backend.DATA_LAYOUT


def test_omitted_alignments_are_those_of_the_target() -> None:
    text = "define void @f(ptr %p, ptr %q) {\n  %x = load i64, ptr %p\n  store i64 %x, ptr %q\n  ret void\n}\n"
    for layout in ("", 'target datalayout = "e-i64:32"\n'):
        ptx = wl.lower(layout + text, "llvm")
        assert "ld.b64" in ptx
        assert "st.b64" in ptx
