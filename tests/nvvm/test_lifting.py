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

TESTS = Path(__file__).parents[1]
CORPUS = sorted((TESTS / "corpus").glob("*.ptx"))
OTHERS = sorted(
    path
    for folder in ("kernels", "kernels/bugs", "pairs", "protocol/kernels")
    for path in (TESTS / "observe" / "sanitize" / folder).glob("*.ptx")
)


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
        case Vector(items) | Tuple(items):
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
        return size_of(variable), variable.align or TYPES[variable.type].bytes, variable.attributes

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


def lifted(ptx: str) -> str:
    return lower(ptx, "ptx", "nvvm")


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


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_another_kernel_is_unchanged(path: Path) -> None:
    ptx = path.read_text(encoding="utf-8")
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

HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
DECLARED = ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<4>; .reg .b128 %q<2>;"


def kernel(*lines: str, before: str = "", directives: str = "", name: str = "k") -> str:
    prologue = ["ld.param.u64 %rd0, [out];", "mov.u32 %r0, %tid.x;", "mad.wide.u32 %rd1, %r0, 4, %rd0;"]
    body = "\n".join((DECLARED, *prologue, *lines))
    return f"{HEAD}{before}.visible .entry {name}(.param .u64 out) {directives} {{\n{body}\n}}\n"


STORE = ("st.global.b32 [%rd1], %r1;", "ret;")
CASES = {
    "a nested register": kernel("mov.b32 %r1, 1;", "{ .reg .b32 %r<3>; mov.b32 %r1, 7; add.u32 %r2, %r1, 1; }", *STORE),
    "a predicated write": kernel(
        "setp.lt.u32 %p1, %r0, 9;", "mov.b32 %r1, 5;", "@%p1 add.u32 %r1, %r0, 20;", "@!%p1 mov.b32 %r1, %r0;", *STORE
    ),
    "an undefined register": kernel("setp.eq.u32 %p1, %r0, %r0;", "@%p1 mov.b32 %r1, 3;", *STORE),
    "a loop": kernel(
        "mov.b32 %r1, 0;", "mov.b32 %r2, 0;", "again:", "add.u32 %r1, %r1, %r2;", "add.u32 %r2, %r2, 1;",
        "setp.le.u32 %p1, %r2, %r0;", "@%p1 bra again;", *STORE,
    ),
    "exchanged registers": kernel(
        "mov.b32 %r1, 1;", "mov.b32 %r2, 2;", "mov.b32 %r3, %r0;", "again:", "mov.b32 %r4, %r1;", "mov.b32 %r1, %r2;",
        "mov.b32 %r2, %r4;", "sub.s32 %r3, %r3, 1;", "setp.ge.s32 %p1, %r3, 0;", "@%p1 bra.uni again;", *STORE,
    ),
    "negated jumps": kernel(
        "mov.b32 %r1, 4;", "setp.lt.u32 %p1, %r0, 9;", "@!%p1 bra other;", "add.u32 %r1, %r1, %r0;", "bra.uni end;",
        "other:", "add.u32 %r1, %r1, 100;", "@!%p1 bra.uni end;", "trap;", "end:", *STORE,
    ),
    "a jump to the first instruction": f"{HEAD}.visible .entry k(.param .u64 out) {{\n{DECLARED}\nagain:\n"
    "mov.u32 %r0, %tid.x;\nsetp.gt.u32 %p1, %r0, 999;\n@%p1 bra again;\nret;\n}\n",
    "a branch table": kernel(
        "and.b32 %r2, %r0, 3;", "table: .branchtargets a, b, a, c;", "brx.idx %r2, table;", "a:", "mov.b32 %r1, 1;",
        "bra.uni end;", "b:", "mov.b32 %r1, 2;", "bra.uni end;", "c:", "mov.b32 %r1, 3;", "end:", *STORE,
    ),
    "a short branch table": kernel(
        "and.b32 %r2, %r0, 1;", "mov.b32 %r1, 1;", "table: .branchtargets end, other;", "brx.idx %r2, table;",
        "other:", "mov.b32 %r1, 2;", "end:", *STORE,
    ),
    "instructions that no path reaches": kernel(
        "mov.b32 %r1, 1;", "bra.uni end;", "mov.b32 %r1, 2;", "end:", *STORE, "mov.b32 %r1, 3;", "exit;"
    ),
    "an exit in the middle": kernel("mov.b32 %r1, %r0;", "setp.lt.u32 %p1, %r0, 9;", "@!%p1 exit;", *STORE),
    "no return": kernel("mov.b32 %r1, 6;", STORE[0]),
    "vectors and pairs": kernel(
        ".reg .v2 .b32 %v;", "mov.b64 {%r2, %r3}, %rd1;", "setp.lt.u32 %p1|%p2, %r2, %r0;", "mov.b32 %v.x, %r3;",
        "mov.b32 %v.y, 4;", "mov.b64 %rd2, {%v.x, %v.y};", "cvt.u32.u64 %r1, %rd2;", "@%p2 mov.b32 %r1, 5;", *STORE,
    ),
    "wide registers": kernel(
        "mov.b64 %rd2, 7;", "mov.b128 %q0, {%rd2, %rd2};", "mov.b128 {%rd3, %rd4}, %q0;", "cvt.u32.u64 %r1, %rd4;",
        "cvt.u16.u32 %h1, %r1;", "cvt.u32.u16 %r1, %h1;", *STORE,
    ),
    "variables": kernel(
        ".shared .align 8 .b8 own[64];", "mov.u32 %r2, own;", "st.shared.b32 [%r2+4], %r0;",
        "ld.const.b32 %r1, [table+8];", "ld.global.b32 %r3, [far];", "add.u32 %r1, %r1, %r3;", *STORE,
        before=".const .align 4 .b32 table[3] = {1, 2, -3};\n.visible .global .f32 far = 0f3F800000;\n"
        ".shared .align 128 .b8 tile[2][64];\n.extern .shared .align 16 .b8 rest[];\n.global .b64 here = table;\n",
    ),
    "a call": kernel(
        "{ .param .b32 in; .param .b32 back; st.param.b32 [in], %r0;", "call.uni (back), twice, (in);",
        "ld.param.b32 %r1, [back]; }", "{ .param .b32 in; .param .b32 back; st.param.b32 [in], %r1;",
        "call.uni (back), twice, (in);", "ld.param.b32 %r1, [back]; }", *STORE,
        before=".func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, %a;"
        " st.param.b32 [r], %a; ret; }\n",
    ),
    "a call with registers": kernel(
        "call (%r1), next, (%r0);", *STORE, before=".func (.reg .b32 y) next(.reg .b32 x) { add.u32 y, x, 1; ret; }\n"
    ),
    "directives": kernel(
        "mov.b32 %r1, 1;", *STORE, directives=".maxntid 64, 2, 1 .minnctapersm 2 .maxnreg 40 .reqnctapercluster 2, 1, 1"
    ),
    "an explicit cluster": kernel("mov.b32 %r1, 1;", *STORE, directives=".explicitcluster .maxclusterrank 4"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_module_is_unchanged(name: str) -> None:
    ptx = CASES[name]
    mlir = lifted(ptx)
    assert compared(ptx, mlir) == []
    if "cluster" in ptx or name == "no return":
        return
    results = [np.zeros(32, np.uint32) for _ in range(2)]
    for text, result in zip((ptx, lowered(mlir, parse(ptx))), results, strict=True):
        wl.launch(text, "k", grid=1, block=32, args=[result], shared=64)
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize(
    ("ptx", "sentence"),
    [
        (kernel("bra.uni away;"), "the label 'away' is not declared"),
        (kernel("@%guard ret;"), "the predicate '%guard' is not declared"),
        (kernel("foo.b32 %r1, %r2;"), "unknown instruction 'foo.b32'"),
        (kernel("ret;", directives='.pragma "abc";'), "LLVM has no function attribute for the directive '.pragma'"),
        (kernel("t: .branchtargets end;", "@%p1 brx.idx %r0, t;", "end: ret;"), "no branch table with a predicate"),
        (f"{HEAD}.visible .entry k(.param .texref t) {{ ret; }}", "no parameter of the type '.texref'"),
    ],
)
def test_what_llvm_cannot_represent_is_refused(ptx: str, sentence: str) -> None:
    with pytest.raises(LowerError, match=re.escape(sentence)) as refused:
        lifted(ptx)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.span is not None


def test_operations_stand_for_instructions() -> None:
    _, mlir = corpus(TESTS / "corpus" / "gemm_f16_nn_sm80.ptx")
    assert len(re.findall(r"= nvvm\.mma\.sync ", mlir)) == 64
    assert "nvvm.cp.async.commit.group" in mlir
    assert 'ptx.target = ["sm_80"]' in mlir
