"""Lifting PTX to MLIR: the lowered module has the same instructions, predicates, directives and results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("xdsl")

from runtime.kernels import INDEX, make

import warploom as wl
from warploom.isa.model.parameters import size_of
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.isa.model.types import TYPES
from warploom.nvvm import LowerError, lower
from warploom.ptx import (
    Address,
    Block,
    Float,
    Function,
    Instruction,
    Integer,
    Label,
    Module,
    Name,
    Negated,
    Operand,
    Pair,
    Symbol,
    Tuple,
    Variable,
    Vector,
    parse,
)
from warploom_lab.mlir.lifting import HEAD, kernel, lifted, modules, written_modules

TESTS = Path(__file__).parents[1]
CORPUS = sorted((TESTS / "corpus").glob("*.ptx"))
WRITTEN = written_modules(TESTS)
OTHERS = [name for name in modules(TESTS) if name not in WRITTEN and not name.startswith("corpus/")]


# Comparison ---------------------------------------------------------------------------------------------------


def constants(operand: Operand) -> object:
    """Return an operand without the names of registers and variables."""
    match operand:
        case Integer(value):
            return value % (1 << 32)
        case Float():
            return operand.bits
        case Name(text):
            return text if text == "_" or text in SPECIAL_REGISTERS else "name"
        case Vector(items):
            found = tuple(map(constants, items))
            # A vector of registers may be one register.
            return found if set(found) != {"name"} else "name"
        case Tuple(items):
            return tuple(map(constants, items))
        case Pair(first, second):
            return "pair", constants(first), constants(second)
        case Negated():
            return operand.sign
        case Address(base, offset, extra):
            return "address", base and constants(base), offset, tuple(map(constants, extra))
        case Symbol():
            return "symbol", operand.offset
        case _:
            return type(operand)


def flattened(block: Block) -> Iterator[Instruction | Label]:
    for statement in block.statements:
        if isinstance(statement, Block):
            yield from flattened(statement)
        elif isinstance(statement, Instruction | Label):
            yield statement


def sequence(function: Function) -> list[object]:
    """Return the instructions: guard, opcode and constants. Jumps to the next instruction are omitted."""
    assert function.body is not None
    items = list(flattened(function.body))
    named = {str(operand) for item in items if isinstance(item, Instruction) for operand in item.operands}
    while items and isinstance(last := items[-1], Label) and last.name not in named:
        items.pop()
    found: list[object] = []
    for number, item in enumerate(items):
        if isinstance(item, Label):
            continue
        guard = "" if item.guard is None else "!" if item.guard.negated else "@"
        jumps = item.opcode.startswith(("bra", "brx"))
        # LLVM states that all threads take a jump without a predicate.
        opcode = "bra.uni" if item.opcode == "bra" and not guard else item.opcode
        following = [""]
        for each in items[number + 1 :]:
            if not isinstance(each, Label):
                break
            following.append(each.name)
        if not (opcode == "bra.uni" and not guard and str(item.operands[0]) in following):
            found.append((guard, opcode, () if jumps else tuple(map(constants, item.operands))))
    # The end of a function is a return.
    if not items or isinstance(items[-1], Label) or items[-1].guard or items[-1].opcode[:4] not in ENDS:
        found.append(("", "ret", ()))
    return found


ENDS = ("ret", "ret.", "exit", "trap", "bra", "bra.", "brx.")


def heads(module: Module) -> set[object]:
    """Return the signatures and directives of functions, and the variables."""

    def shape(variable: Variable) -> object:
        natural = TYPES[variable.type].bytes * variable.vector if variable.type in TYPES else 0
        # The object of a pointer is aligned to 4 bytes by default.
        attributes = [
            f"{each} .align 4" if each == ".ptr" or (each[:5] == ".ptr " and ".align" not in each) else each
            for each in variable.attributes
        ]
        return size_of(variable), variable.align or natural, tuple(attributes)

    found: set[object] = set()
    for item in module.items:
        if isinstance(item, Function) and item.body is not None:
            directives = frozenset((each.name, each.ints) for each in item.directives)
            values = tuple(map(shape, item.params)), tuple(map(shape, item.returns))
            found.add((item.kind, item.name, item.linkage, values, directives))
        elif isinstance(item, Variable):
            found.add((item.space, item.name, item.linkage, shape(item)))
    return found


def without_moves(ptx: str) -> str:
    """Remove the moves that LLVM adds: those outside of inline assembly."""
    pieces = re.split(r"(// (?:begin|end) inline asm)", ptx)
    return "".join(
        piece if number % 4 == 2 else re.sub(r"(?m)^\s*mov\..*$", "", piece) for number, piece in enumerate(pieces)
    )


def lowered(mlir: str, like: Module) -> str:
    return lower(mlir, target=like.target[0], ptx_version=like.version)


def compared(ptx: str, mlir: str) -> list[str]:
    """Return the names of the functions that differ after lowering, and "module" for other differences."""
    source = parse(ptx)
    result = parse(without_moves(lowered(mlir, source)))
    names = [
        name
        for name, function in source.functions.items()
        if function.body is not None
        and (name not in result.functions or sequence(function) != sequence(result.functions[name]))
    ]
    return names + ["module"] * (heads(source) != heads(result))


# Kernels ------------------------------------------------------------------------------------------------------


@cache
def corpus(path: Path) -> tuple[str, str]:
    ptx = path.read_text(encoding="utf-8")
    return ptx, lifted(ptx)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_a_kernel_of_the_corpus_is_unchanged(path: Path) -> None:
    ptx, mlir = corpus(path)
    assert compared(ptx, mlir) == []


@pytest.mark.parametrize("name", OTHERS, ids=lambda name: Path(name).stem)
def test_another_kernel_is_unchanged(name: str) -> None:
    ptx = (TESTS / name).read_text(encoding="utf-8")
    assert compared(ptx, lifted(ptx)) == []


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r'    nvvm\.inline_ptx "st\.global.*\n', ""),
        (r'(nvvm\.inline_ptx "bar.*), predicate = %\w+', r"\1"),
        (r"    nvvm\.barrier0.*\n", ""),
        (r"nvvm\.reqntid = array<i32: 128>, ", ""),
        (r"@!\$(\d) ", r"@$\1 "),
        (r"  llvm\.mlir\.global.*@spare.*\n", ""),
    ],
)
def test_a_planted_loss_is_found(pattern: str, replacement: str) -> None:
    ptx = HEAD + (
        ".extern .shared .align 16 .b8 buffer[];\n.visible .global .b32 spare = 5;\n"
        ".visible .entry k(.param .u64 out) .reqntid 128 {\n"
        ".reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>;\nld.param.u64 %rd0, [out];\nsetp.ne.u64 %p0, %rd0, 0;\n"
        "mov.b32 %r0, 0;\n@!%p0 mov.b32 %r0, buffer;\n@%p0 bar.arrive 1, 64;\nbar.sync 0;\n"
        "st.global.b32 [%rd0], %r0;\nret;\n}\n"
    )
    mlir = lifted(ptx)
    assert compared(ptx, mlir) == []
    planted = re.sub(pattern, replacement, mlir, count=1)
    assert planted != mlir
    assert compared(ptx, planted) != []


@pytest.mark.parametrize(
    "file",
    [
        "vadd_f32_sm90.ptx",
        "softmax_bf16_sm90.ptx",
        "gemm_f16_nn_16x16_1w_sm80.ptx",
        "gluon_wgmma_ss_f16_64x8x64_sm90.ptx",
        "gluon_wgmma_rs_bf16_64x64x32_sm90.ptx",
    ],
)
def test_results_are_the_same_bits(file: str) -> None:
    ptx, mlir = corpus(TESTS / "corpus" / file)
    results: list[bytes] = []
    for text in (ptx, lowered(mlir, parse(ptx))):
        problem = make(file, 0)
        entry = INDEX[file]
        wl.launch(
            text, grid=problem.grid, block=entry["block"], shared=entry["shared"], args=problem.args, schedule="lazy"
        )
        results.append(problem.outside.tobytes())
    assert results[0] == results[1]


# Language -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITTEN)
def test_a_module_is_unchanged(name: str) -> None:
    ptx, can_run = WRITTEN[name]
    mlir = lifted(ptx)
    assert compared(ptx, mlir) == []
    if not can_run:
        return
    results = [np.zeros(256, np.uint32) for _ in range(2)]
    for text, result in zip((ptx, lowered(mlir, parse(ptx))), results, strict=True):
        wl.launch(text, "k", grid=1, block=32, args=[result], shared=256)
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize(
    ("ptx", "sentence", "hint"),
    [
        (kernel("t: .branchtargets end;\n@%p1 brx.idx %r0, t;\nend: ret;"), "with a predicate", "branch around it"),
        (kernel(".reg .b8 %c<2>;\nmov.b16 %h0, {%c0, %c1};\nret;"), "no registers of 8 bits", ".b16 registers"),
        (kernel("tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%rd0, {%r0}];"), "cannot lift 'tex.1d", "global memory"),
        (kernel("suld.b.1d.b32.trap {%r1}, [%rd0, {%r0}];"), "cannot lift 'suld.b.1d", "global memory"),
        (kernel("ret;", directives='.pragma "abc";'), "the directive .pragma", "in the body"),
        (kernel("ld.global.b32 %r1, [k_param_0];", ".global .b32 k_param_0;"), "the use of 'k_param_0'", "rename"),
        (f"{HEAD}.visible .entry k(.param .texref t) {{ ret; }}", "a parameter of the type .texref", ".u64"),
        (f"{HEAD}.visible .entry k(.param .u32 .ptr .const c) {{ ret; }}", "pointers of 64 bits only", ".u64"),
        (
            f"{HEAD}.entry k(.param .align 4 .b8 c[8]) {{ ret; }}",
            "without .visible to 16 bytes",
            "declare 'k' .visible",
        ),
    ],
)
def test_what_llvm_cannot_represent_is_refused(ptx: str, sentence: str, hint: str) -> None:
    with pytest.raises(LowerError, match=re.escape(sentence)) as refused:
        lifted(ptx)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "lower.lift"
    assert diagnostic.span is not None
    assert hint in diagnostic.hint


@pytest.mark.parametrize(
    ("ptx", "sentence"),
    [
        (kernel("bra.uni away;"), "'away' is not declared"),
        (kernel("@%guard ret;"), "'%guard' is not declared"),
        (kernel("mov.u32 %x, 1;"), "'%x' is not declared"),
        (kernel("foo.b32 %r1, %r2;"), "unknown instruction 'foo.b32'"),
        (kernel("add.u64 %r1, %r1, %r1;"), "operand d is the register '%r1' of .b32"),
        (kernel('.include "more.ptx"'), ".include does not belong in a body"),
        (kernel("L: L: ret;"), "'L' is declared twice"),
        (kernel("ret;", directives=".maxntid 1, 2, 3, 4"), ".maxntid has 4 numbers"),
        (kernel("ret;", ".visible .entry k() { ret; }"), "'k' is declared twice"),
        (kernel("ret;", ".global .u32 a[3] = {1, 2, 3, 4};"), "'a' has 4 initial values for 3 elements"),
        (kernel("wgmma.fence.sync.aligned;").replace("sm_90a", "sm_80"), "needs sm_90a"),
        (kernel("ret;").replace("_size 64", "_size 32"), "do not support 32-bit addresses"),
    ],
)
def test_illegal_ptx_is_refused_at_its_place(ptx: str, sentence: str) -> None:
    with pytest.raises(LowerError, match=re.escape(sentence)) as refused:
        lifted(ptx)
    assert all(each.span is not None for each in refused.value.diagnostics)


def test_operations_stand_for_instructions() -> None:
    _, mlir = corpus(TESTS / "corpus" / "gemm_f16_nn_sm80.ptx")
    assert len(re.findall(r"= nvvm\.mma\.sync ", mlir)) == 64
    assert "nvvm.cp.async.commit.group" in mlir
    assert 'ptx.target = ["sm_80"]' in mlir


def test_every_result_of_an_instruction_is_kept() -> None:
    mlir = lifted(kernel("mov.b32 %r2, -1;\nelect.sync %r1|%p0, %r2;\n@%p0 add.u32 %r1, %r1, 1;\nSTORE"))
    assert "nvvm.elect.sync" not in mlir
    assert re.search(r'%r1, %p0 = nvvm\.inline_ptx "elect\.sync', mlir)
