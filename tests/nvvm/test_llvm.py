"""The llvm dialect: calls of intrinsics and inline PTX from nvvm, lowered to PTX, and errors in both."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("xdsl")

import warploom as wl
from warploom.nvvm import LowerError
from warploom.nvvm.dialect import OPERATIONS
from warploom.ptx import parse
from warploom_lab.mlir.normalized import instructions
from warploom_lab.mlir.record import Answer
from warploom_lab.mlir.record import read as recorded

ANSWERS = list(recorded(Path(__file__).parents[1] / "evidence" / "mlir"))
CALLED = {
    "nvvm.mma.sync", "nvvm.mma.sp.sync", "nvvm.mma.block_scale", "nvvm.mma.sp.block_scale",
    "nvvm.wmma.load", "nvvm.wmma.mma", "nvvm.wmma.store", "nvvm.ldmatrix", "nvvm.stmatrix",
    "nvvm.wgmma.fence.aligned", "nvvm.wgmma.commit.group.sync.aligned", "nvvm.wgmma.wait.group.sync.aligned",
    "nvvm.cp.async.commit.group", "nvvm.cp.async.wait.group",
    "nvvm.cp.async.bulk.commit.group", "nvvm.cp.async.bulk.wait_group",
    "nvvm.cluster.arrive", "nvvm.cluster.arrive.relaxed", "nvvm.cluster.wait",
    "nvvm.elect.sync", "nvvm.griddepcontrol", "nvvm.setmaxregister",
    "nvvm.fence.mbarrier.init", "nvvm.fence.sc.cluster", "nvvm.fence.sync_restrict", "nvvm.fence.proxy",
    "nvvm.fence.proxy.acquire", "nvvm.fence.proxy.release", "nvvm.fence.proxy.sync_restrict",
    "nvvm.tcgen05.alloc", "nvvm.tcgen05.dealloc", "nvvm.tcgen05.relinquish_alloc_permit",
    "nvvm.tcgen05.fence", "nvvm.tcgen05.wait", "nvvm.tcgen05.shift", "nvvm.tcgen05.commit", "nvvm.tcgen05.cp",
    "nvvm.tcgen05.ld", "nvvm.tcgen05.st",
}  # fmt: skip
"""Operations that lower to an intrinsic; the others lower to inline PTX."""
NAMES = sorted(operation.name for operation in OPERATIONS)
STRUCT = "!llvm.struct<(f32, f32, f32, f32)>"


def sample(name: str) -> Answer:
    """Return one answer about an operation, without a mask, which inline PTX does not support."""
    found = [each for each in ANSWERS if each.operation == name and not masked(each)]
    return found[len(found) // 2]


def masked(answer: Answer) -> bool:
    return answer.operation.startswith("nvvm.tcgen05.mma") and "vector<" in answer.text


@pytest.mark.parametrize("name", [name for name in NAMES if name != "nvvm.inline_ptx"])
def test_lowering_through_llvm_gives_the_same_ptx(name: str) -> None:
    answer = sample(name)
    llvm = wl.lower(answer.text, to="llvm")
    assert f"{name} " not in llvm
    if name in CALLED:
        assert "llvm.call_intrinsic" in llvm
    elif "wgmma" not in name:
        assert "llvm.call_intrinsic" not in llvm
    over = wl.lower(llvm, "llvm", "ptx", target=answer.target)
    straight = wl.lower(answer.text, to="ptx", target=answer.target)
    assert tuple(instructions(parse(over))) == tuple(instructions(parse(straight)))


def test_mask_has_no_lowering_to_llvm() -> None:
    with pytest.raises(LowerError, match=r"cannot lower 'nvvm\.tcgen05\.mma.*' to LLVM: .* a value of type vector<"):
        wl.lower(next(each for each in ANSWERS if masked(each)).text, to="llvm")


def function(*lines: str, params: str = "%i: i32, %l: i64, %f: f32, %p: !llvm.ptr<3>") -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"llvm.func @f({params}) {{\n{body}\n  llvm.return\n}}\n"


def ptx(*lines: str, target: str = "sm_90a") -> str:
    return wl.lower(function(*lines), "llvm", "ptx", target)


def test_call_has_name_types_and_constants() -> None:
    wait = function("nvvm.wgmma.wait.group.sync.aligned 2")
    assert '"llvm.nvvm.wgmma.wait_group.sync.aligned"(%0) : (i64) -> ()' in wl.lower(wait, to="llvm")
    load = function("%0 = nvvm.ldmatrix %p {num = 2 : i32, layout = #nvvm.mma_layout<row>,"
                    " shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}"
                    " : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>")  # fmt: skip
    call = '"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3"(%p) : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>'
    assert call in wl.lower(load, to="llvm")


def test_accumulator_stays_in_its_registers() -> None:
    """A struct between two inline PTX texts is not copied, because the registers are still being written."""
    multiply = (
        "nvvm.wgmma.mma_async %d, %d, {}, <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>],"
        f" B[<f16>, <one>, <col>] : {STRUCT} -> {STRUCT}"
    )
    lines = ("nvvm.wgmma.fence.aligned", f"%0 = {multiply.format('%c')}", f"%1 = {multiply.format('%0')}")
    text = function(*lines, "nvvm.wgmma.commit.group.sync.aligned", params=f"%c: {STRUCT}, %d: i64")
    over = wl.lower(wl.lower(text, to="llvm"), "llvm", "ptx")
    assert "mov" not in over
    multiplies = [line.strip() for line in over.splitlines() if "mma_async" in line]
    assert len(multiplies) == 2
    assert multiplies[0].partition("}")[0] == multiplies[1].partition("}")[0]


def test_reused_element_is_copied() -> None:
    again = 'llvm.inline_asm "add.f32 $0, $0, $2;", "=f,0,f" %x, %x : (f32, f32) -> f32'
    text = function(f"%x = llvm.extractvalue %c[1] : {STRUCT}", f"%y = {again}", params=f"%c: {STRUCT}")
    assert "mov.f32" in wl.lower(text, "llvm", "ptx")
    whole = function(
        f"%x = llvm.extractvalue %c[1] : {STRUCT}",
        f"%z = llvm.extractvalue %c[1] : {STRUCT}",
        '%y = llvm.inline_asm "neg.f32 $0, $0;", "=f,0" %x : (f32) -> f32',
        '%w = llvm.inline_asm "neg.f32 $0, $0;", "=f,0" %z : (f32) -> f32',
        params=f"%c: {STRUCT}",
    )
    assert wl.lower(whole, "llvm", "ptx").count("mov.f32") == 2


def test_inline_ptx_of_mlir() -> None:
    wait = (
        r"llvm.inline_asm has_side_effects asm_dialect = att"
        r' "{\0A\09.reg .pred       P1; \0A\09LAB_WAIT: \0A\09mbarrier.try_wait.parity.shared.b64 P1, [$0], $1, $2; '
        r'\0A\09@P1 bra.uni DONE; \0A\09bra.uni     LAB_WAIT; \0A\09DONE: \0A\09}", "r,r,r" %p, %i, %i'
        r" : (!llvm.ptr<3>, i32, i32) -> ()"
    )
    twice = ptx(wait, wait)
    assert twice.count("LAB_WAIT:") == 2
    assert wl.check(twice).ok


def test_constants_are_immediates() -> None:
    lines = ("%c = llvm.mlir.constant(7 : i32) : i32", '%x = llvm.inline_asm "add.u32 $0, ${1}, $2", "=r,r,n" %i, %c')
    assert "add.u32 %r1, %r0, 7;" in ptx(lines[0], f"{lines[1]} : (i32, i32) -> i32")


def test_several_results_form_a_struct() -> None:
    lines = (
        '%s = llvm.inline_asm "mov.b64 {$0, $1}, $2;", "=r,=r,l" %l : (i64) -> !llvm.struct<(i32, i32)>',
        "%x = llvm.extractvalue %s[1] : !llvm.struct<(i32, i32)>",
        '%y = llvm.inline_asm "not.b32 $0, $0;", "=r,0" %x : (i32) -> i32',
    )
    assert "mov.b64 {%r0, %r1}, %rd0;" in ptx(*lines)
    assert "not.b32 %r1, %r1;" in ptx(*lines)


CALL = "llvm.call_intrinsic"
MISTAKES = [
    ('llvm.inline_asm "add.u32 $0, $1, 1;", "=x,r" %i : (i32) -> i32', "has the unknown constraint 'x'"),
    ('llvm.inline_asm "neg.f32 $0, $1;", "=f,f" %i : (i32) -> f32', "operand 0 in a register of type .b32"),
    ('llvm.inline_asm "neg.f32 $0, $1;", "=r,f" %f : (f32) -> f32', "result 0 in a register of type .f32"),
    ('llvm.inline_asm "not.b32 $0, $2;", "=r,r" %i : (i32) -> i32', "has no operand for '$2;'"),
    ('llvm.inline_asm "not.b32 $0, ${1:x};", "=r,r" %i : (i32) -> i32', "has no operand for '${1:x};'"),
    ('llvm.inline_asm "not.b32 $0, $1;", "=r,r,r" %i : (i32) -> i32', "1 operands and constraints for 2"),
    ('llvm.inline_asm "not.b32 $0, $1;", "r" %i : (i32) -> i32', "results in 1 registers and constraints for 0"),
    ('llvm.inline_asm "not.b32 $0, $0;", "=r,4" %i : (i32) -> i32', "tied to a missing result"),
    (
        'llvm.inline_asm "add.u32 $0, $0, $1;", "=r,n" %i : (i32) -> i32',
        "has a computed operand 0; expected a constant",
    ),
    ('llvm.inline_asm "%%%", "" : () -> ()', "contains illegal PTX"),
    ('llvm.inline_asm "ret; } .func g() { ret;", "" : () -> ()', "has a text with unbalanced braces"),
    ('llvm.inline_asm "not.b33 $0, $1;", "=r,r" %i : (i32) -> i32', "not.b33"),
    (f'{CALL} "llvm.nvvm.mma.m9n9k9"() : () -> ()', "unknown intrinsic 'llvm.nvvm.mma.m9n9k9'"),
    (f'{CALL} "llvm.nvvm.wgmma.fence.sync.aligned"(%i) : (i32) -> ()', "expects the type () -> ()"),
    (f'{CALL} "llvm.nvvm.wgmma.wait_group.sync.aligned"(%l) : (i64) -> ()', "expects a constant for N"),
    (f'{CALL} "llvm.nvvm.wgmma.wait_group.sync.aligned"() : () -> ()', "expects the type (i64) -> ()"),
    (
        f'{CALL} "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p0"(%p) : (!llvm.ptr<3>) -> i32',
        "expects pointers to address spaces [0], got [3]",
    ),
    (
        f'{CALL} "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16"(%i) : (i32) -> i32',
        "expected a pointer as an argument of an intrinsic, got i32",
    ),
    (
        f'{CALL} "llvm.nvvm.wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"() : () -> ()',
        "no public compiler calls it",
    ),
]


@pytest.mark.parametrize(("line", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_errors_have_positions(line: str, message: str) -> None:
    shown = f"%r = {line}" if "-> ()" not in line else line
    with pytest.raises(LowerError) as caught:
        ptx(shown)
    (found, *_) = caught.value.diagnostics
    assert message in found.message
    assert found.span is not None
    assert found.source is not None
    assert found.source.text[found.span.start : found.span.end] == shown


def test_check_errors_of_calls_are_reported() -> None:
    with pytest.raises(LowerError) as caught:
        ptx(f'{CALL} "llvm.nvvm.wgmma.fence.sync.aligned"() : () -> ()', target="sm_80")
    assert caught.value.diagnostics[0].code == "wgmma.fence/target"


F4, I4 = ", ".join(["f32"] * 4), ", ".join(["i32"] * 4)
IN_ORDER = [
    (
        "%a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %f: i32, %w: f32, %x: f32, %y: f32, %z: f32",
        (
            '"llvm.nvvm.mma.m16n8k16.row.col.bf16"(%a, %b, %c, %d, %e, %f, %w, %x, %y, %z)'
            f" : ({I4}, i32, i32, {F4}) -> {STRUCT}"
        ),
        "{%f4, %f5, %f6, %f7}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};",
        "sm_80",
    ),
    (
        "%a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %w: f32, %x: f32, %y: f32, %z: f32",
        ('"llvm.nvvm.mma.sp.ordered.metadata.m16n8k16.row.col.bf16"(%a, %b, %c, %d, %w, %x, %y, %z, %e, %k)'
        f" : (i32, i32, i32, i32, {F4}, i32, i32) -> {STRUCT}"),
        "{%f4, %f5, %f6, %f7}, {%r0, %r1}, {%r2, %r3}, {%f0, %f1, %f2, %f3}, %r4, 1;",
        "sm_80",
    ),
    (
        "%p: !llvm.ptr<3>, %s: i32, %w: f32, %x: f32, %y: f32, %z: f32",
        ('"llvm.nvvm.wmma.m16n16k8.store.d.row.stride.f32.p3"(%p, %w, %x, %y, %z, %w, %x, %y, %z, %s)'
        f" : (!llvm.ptr<3>, {F4}, {F4}, i32) -> ()"),
        "[%rd0], {%f0, %f1, %f2, %f3, %f0, %f1, %f2, %f3}, %r0;",
        "sm_80",
    ),
    (
        "%t: !llvm.ptr<6>, %v: vector<2xi32>",
        '"llvm.nvvm.tcgen05.st.16x32bx2.x2"(%t, %o, %v, %one) : (!llvm.ptr<6>, i64, vector<2xi32>, i1) -> ()',
        "st.sync.aligned.16x32bx2.x2.unpack::16b.b32 [%r0], 2, {%r1, %r2};",
        "sm_100a",
    ),
]  # fmt: skip
"""Calls of LLVM's intrinsics, and the operands in the PTX of llc 22."""


@pytest.mark.parametrize(("params", "call", "operands", "target"), IN_ORDER, ids=[f"{row[1][:45]}" for row in IN_ORDER])
def test_arguments_have_the_order_of_llvm(params: str, call: str, operands: str, target: str) -> None:
    text = function(
        "%k = llvm.mlir.constant(1 : i32) : i32",
        "%o = llvm.mlir.constant(2 : i64) : i64",
        "%one = llvm.mlir.constant(1 : i1) : i1",
        f"{'' if '-> ()' in call else '%r = '}{CALL} {call}",
        params=params,
    )
    assert operands in wl.lower(text, "llvm", "ptx", target)
