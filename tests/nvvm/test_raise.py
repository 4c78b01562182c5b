"""PTX raised to operations: lowered operations, and the kernels of the corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("xdsl")

from warploom_lab.mlir.record import Answer
from warploom_lab.mlir.record import read as recorded
from warploom_lab.pages.nvvm import ALIASES
from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.dialects.llvm import BitcastOp, IntToPtrOp
from xdsl.ir import Attribute, BlockArgument, SSAValue

from warploom.isa.binding.bind import Binding, bind
from warploom.nvvm import lower
from warploom.nvvm.dialect import OPERATIONS, InlinePtx, Operation
from warploom.nvvm.dialect.types import registers_of
from warploom.nvvm.forms import TENSOR_CORE
from warploom.nvvm.mlir_text import parse_mlir
from warploom.nvvm.raise_to_nvvm import raise_to_nvvm
from warploom.nvvm.to_ptx import to_ptx
from warploom.ptx import Address, Module, Name, parse

TESTS = Path(__file__).parents[1]
ANSWERS = list(recorded(TESTS / "evidence" / "mlir"))
CORPUS = sorted((TESTS / "corpus").glob("*.ptx"))
SPELLED = {"shared::cta": "shared", "tile": ""}
"""Synonyms and redundant words."""


def operations(module: ModuleOp) -> list[Operation]:
    return [each for each in module.walk() if isinstance(each, Operation)]


# What was lowered comes back ---------------------------------------------------------------------------------


def signature(operation: Operation) -> tuple[str, dict[str, Attribute], list[Attribute], list[Attribute]]:
    """Return the name, properties and types of an operation."""
    properties = {name: each for name, each in operation.properties.items() if name != "operandSegmentSizes"}
    types = [[value.type for value in values] for values in (operation.operands, operation.results)]
    return operation.name, properties, types[0], types[1]


def parameter_registers(ptx: Module) -> dict[int, str]:
    """Return the register of each parameter that has exactly one."""
    found: dict[int, list[str]] = {}
    (function,) = ptx.functions.values()
    for each in function.body.instructions():
        match each.operands:
            case [Name(register), Address(Name(parameter))] if each.opcode.startswith("ld.param"):
                found.setdefault(int(parameter.rpartition("_")[2]), []).append(register)
            case _:
                pass
    return {number: registers[0] for number, registers in found.items() if len(registers) == 1}


def source(value: SSAValue) -> str:
    """Return the register of a raised value."""
    while isinstance(value.owner, BitcastOp | IntToPtrOp):
        value = value.owner.operands[0]
    return value.name_hint or ""


def is_raised_again(answer: Answer) -> bool:
    reading = parse_mlir(answer.text)
    (first,) = [each for each in operations(reading.module) if each.name == answer.operation]
    ptx = to_ptx(reading, answer.target).module
    raised = [each for each in operations(raise_to_nvvm(ptx)) if signature(each) == signature(first)]
    if not raised:
        return False
    registers = parameter_registers(ptx)
    for before, after in zip(first.operands, raised[0].operands, strict=True):
        alone = before.type != i1 and len(registers_of(before.type)) == 1
        if isinstance(before, BlockArgument) and alone:
            assert source(after) == registers[before.index].strip("%")
    return True


@pytest.mark.parametrize("name", sorted(each.name for each in OPERATIONS))
def test_lowered_operation_is_raised_again(name: str) -> None:
    """Operations with the same PTX as another one are the exception."""
    answers = [each for each in ANSWERS if each.operation == name]
    back = [is_raised_again(each) for each in answers]
    if any(name in names for names, *_ in ALIASES):
        assert not all(back)
    else:
        assert all(back)


# Kernels -----------------------------------------------------------------------------------------------------


def tensor_core(ptx: Module) -> list[list[str]]:
    """Return the words of the instructions of the dialect's families, in order."""
    found: list[list[str]] = []
    for function in ptx.functions.values():
        for each in function.body.instructions() if function.body is not None else ():
            binding = bind(each)
            if isinstance(binding, Binding) and binding.form in TENSOR_CORE:
                words = [SPELLED.get(word, word) for word in each.words]
                found.append(sorted(filter(None, words)))
    return found


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_raised_kernel_lowers_to_the_same_instructions(path: Path) -> None:
    """The raised text parses to itself and lowers to the tensor-core instructions of the kernel."""
    module = parse(path.read_text())
    text = str(raise_to_nvvm(module)) + "\n"
    reading = parse_mlir(text)
    assert str(reading.module) + "\n" == text
    lowered = to_ptx(reading, module.target[0], module.version).module
    assert tensor_core(lowered) == tensor_core(module)


def test_gemm_is_raised_to_ir() -> None:
    module = raise_to_nvvm((TESTS / "corpus" / "gemm_f16_nn_sm80.ptx").read_text())
    names = [each.name for each in operations(module)]
    assert names.count("nvvm.mma.sync") == 64
    assert names.count("nvvm.ldmatrix") == 16
    assert not any(isinstance(each, InlinePtx) for each in operations(module))


def test_instruction_without_an_operation_becomes_inline_ptx() -> None:
    text = """.version 8.0\n.target sm_90a\n.address_size 64
.visible .entry k(.param .u64 p) {
	.reg .f32 %f<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p1, 1, 1, 0, 0;
	ret;
}"""
    (found,) = operations(raise_to_nvvm(text))
    assert isinstance(found, InlinePtx)
    assert found.ptxCode.data.startswith("wgmma.mma_async")


def test_constant_scale_is_found_through_its_predicate() -> None:
    struct = "!llvm.struct<(f32, f32, f32, f32)>"
    text = f"""llvm.func @f(%d: i64, %c: {struct}) -> {struct} {{
  nvvm.wgmma.fence.aligned
  %0 = nvvm.wgmma.mma_async %d, %d, %c, <m = 64, n = 8, k = 16>, D[<f32>, <zero>], A[<f16>, <neg>, <row>],
       B[<f16>, <one>, <row>] : {struct} -> {struct}
  llvm.return %0 : {struct}
}}"""
    printed = str(raise_to_nvvm(lower(text)))
    assert "D[<f32>, <zero>], A[<f16>, <neg>, <row>], B[<f16>, <one>, <row>]" in printed


# What registers hold -----------------------------------------------------------------------------------------

HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
REGISTERS = (
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<8>; .shared .align 8 .b64 barrier;"
)
MULTIPLY = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p1, 1, 1, 0, 0;"
)


def raised(*lines: str) -> str:
    body = "\n".join(lines)
    return str(raise_to_nvvm(f"{HEAD}.visible .entry k(.param .u64 p) {{\n{REGISTERS}\n{body}\nret;\n}}"))


def test_variables_are_addresses_and_constants_are_constants() -> None:
    text = raised("mov.b32 %r0, 3;", "mbarrier.init.shared::cta.b64 [barrier], %r0;")
    assert "@k(%barrier: !llvm.ptr<3>)" in text
    assert "llvm.mlir.constant(3 : i32)" in text
    assert "nvvm.mbarrier.init %barrier" in text


def test_chain_passes_its_accumulator_on() -> None:
    text = raised("mov.pred %p1, -1;", MULTIPLY, MULTIPLY, "wgmma.commit_group.sync.aligned;")
    assert text.count("nvvm.wgmma.mma_async") == 2
    assert "D[<f32>, <one>]" in text
    assert "llvm.extractvalue" not in text


@pytest.mark.parametrize(
    ("after", "known"), [((), True), (("mov.pred %p1, 0;", "bra again;"), False)], ids=["once", "twice"]
)
def test_constant_stays_known_after_a_label_without_other_writes(after: tuple[str, ...], known: bool) -> None:
    text = raised("mov.pred %p1, -1;", "again:", MULTIPLY, *after)
    assert ("nvvm.inline_ptx" not in text) == known


def test_inline_ptx_has_values() -> None:
    """A predicated instruction reads its result. A negated predicate stays in the text."""
    text = raised(
        "@%p0 mbarrier.arrive.shared::cta.b64 %rd2, [%r1+8];",
        "@!%p0 mbarrier.inval.shared.b64 [barrier];",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r2;",
        "mbarrier.arrive.shared.b64 %rd3, [%r2];",
    )
    assert '"@!{$r1} mbarrier.inval.shared.b64 [{$r0}];" ro(%barrier, %p0 : !llvm.ptr<3>, i1)' in text
    assert (
        '"mbarrier.arrive.shared::cta.b64 {$rw0}, [{$r0}+8];" ro(%r1 : i32) rw(%rd2 : i64), predicate = %p0'
        in text
    )
    assert (
        '%0 = nvvm.inline_ptx "movmatrix.sync.aligned.m8n8.trans.b16 {$w0}, {$r0};" ro(%r2 : i32) -> i32'
        in text
    )
    assert "llvm.inttoptr %0 : i32 to !llvm.ptr<3>" in text
    ptx = lower(text, target="sm_90a")
    assert "mbarrier.arrive.shared::cta.b64 %rd" in ptx
    assert "@!%p0 mbarrier.inval.shared.b64 [%rd" in ptx
