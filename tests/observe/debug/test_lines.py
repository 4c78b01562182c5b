"""Instructions of a program by line, source line, label, function and kind."""

from __future__ import annotations

import pytest
from emulator.tensor_texts import tensor_kernel
from observe.debug.stopped import CORPUS

from warploom.diagnostics import UsageError
from warploom.emulator.loader import load
from warploom.emulator.program import Program
from warploom.observe.debug.lines import KINDS, LineIndex
from warploom.ptx import parse

TEXT = """\
.version 8.6
.target sm_90a
.address_size 64
.func (.reg .b32 %out) twice(.reg .b32 %in)
{
    add.u32 %out, %in, %in;
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    .shared .align 16 .b8 area[256]; .shared .b64 bar;
    .loc 1 10 0
    mov.u32 %r0, %tid.x; mov.u32 %r1, 0;

    .loc 1 12 0
LOOP:
    add.u32 %r1, %r1, 1;
    .loc 1 10 0
    setp.lt.u32 %p0, %r1, 3;
    .loc 2 5 0
    @%p0 bra LOOP;
    ld.param.u64 %rd0, [out];
    atom.global.add.u32 %r2, [%rd0], 1;
    st.global.u32 [%rd0], %r1;
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.shared.b64 _, [bar];
    mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
    cp.async.ca.shared.global [area], [%rd0], 16;
    cp.async.wait_all;
    fence.proxy.async;
    bar.sync 0;
    call (%r2), twice, (%r1);
    ret;
}
.file 1 "/home/me/kernels/gemm.py"
.file 2 "/home/me/other/gemm.py"
"""


def program(text: str = TEXT) -> Program:
    return load(parse(text))


def index(text: str = TEXT) -> LineIndex:
    return program(text).analysis(LineIndex)


def lines(found: tuple[int, ...], of: LineIndex) -> list[int]:
    return [of.program.line_of(pc) for pc in found]


def opcodes(found: tuple[int, ...], of: LineIndex) -> set[str]:
    return {of.program.steps[pc].instruction.opcode.partition(".")[0] for pc in found}


def test_a_line_has_all_its_instructions() -> None:
    of = index()
    assert of.at_line(14) == (0, 1)


@pytest.mark.parametrize("line", [15, 16, 17])
def test_a_line_without_instructions_stands_for_the_next_one(line: int) -> None:
    of = index()
    assert lines(of.at_line(line), of) == [18]


@pytest.mark.parametrize("line", [35, 1000])
def test_a_line_behind_the_last_instruction_is_refused(line: int) -> None:
    with pytest.raises(UsageError, match=f"from line {line} on; the last line with an instruction is 34") as caught:
        index().at_line(line)
    assert caught.value.diagnostics[0].code == "debug.location"


def test_lines_begin_at_1() -> None:
    with pytest.raises(UsageError, match="the line is 0; expected at least 1"):
        index().at_line(0)


def test_a_source_line_has_the_first_instruction_of_each_place() -> None:
    of = index()
    assert lines(of.at_source("kernels/gemm.py", 10), of) == [14, 20]
    assert lines(of.at_source("/home/me/kernels/gemm.py", 11), of) == [18]


def test_an_ambiguous_file_is_refused() -> None:
    with pytest.raises(UsageError, match=r"several files are called 'gemm\.py'"):
        index().at_source("gemm.py", 10)


def test_an_unknown_file_is_refused_with_a_similar_one() -> None:
    with pytest.raises(UsageError) as caught:
        index().at_source("gem.py", 10)
    assert caught.value.diagnostics[0].hint == "did you mean 'gemm.py'?"
    with pytest.raises(UsageError):
        index().at_source("emm.py", 10)  # not the end of a name, but a whole name


def test_inlined_functions_belong_to_the_line_of_the_call() -> None:
    text = TEXT.replace(".loc 2 5 0", ".loc 2 5 0, function_name name0, inlined_at 1 77 4")
    text += ".section .debug_str { name0: .b8 102, 0 }\n"
    of = index(text)
    assert lines(of.at_source("kernels/gemm.py", 77), of)[:1] == [22]


def test_labels_and_functions() -> None:
    of = index()
    assert lines(of.at_label("LOOP"), of) == [18]
    assert lines(of.at_function("twice"), of) == [6]
    assert lines(of.at_function("k"), of) == [14]
    with pytest.raises(UsageError) as caught:
        of.at_label("LOP")
    assert caught.value.diagnostics[0].hint == "did you mean 'LOOP'?"
    with pytest.raises(UsageError) as caught:
        of.at_function("twic")
    assert caught.value.diagnostics[0].hint == "did you mean 'twice'?"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("load", {"ld", "atom"}), ("store", {"st", "atom"}), ("copy", {"cp"}), ("barrier", {"bar"}),
        ("wait", {"mbarrier", "cp"}), ("arrive", {"mbarrier"}), ("fence", {"fence"}), ("exit", {"ret"}),
        ("atom", {"atom"}), ("mbarrier.arrive", {"mbarrier"}),
    ],
)  # fmt: skip
def test_the_effects_decide_the_kind(kind: str, expected: set[str]) -> None:
    of = index()
    assert opcodes(of.of_kind(kind), of) == expected


def test_only_the_return_of_the_kernel_is_an_exit() -> None:
    of = index()
    assert lines(of.of_kind("exit"), of) == [34]


def test_an_absent_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="no instruction of the kind 'multiply'"):
        index().of_kind("multiply")
    with pytest.raises(UsageError) as caught:
        index().of_kind("stor")
    assert caught.value.diagnostics[0].hint == "did you mean 'store'?"


def test_a_multiplication_in_tensor_memory_is_no_copy() -> None:
    shift = "tcgen05.shift.cta_group::1.down [%t];"
    of = index(tensor_kernel(f"tcgen05.mma.cta_group::1.kind::f16 [%t], %rd2, %rd3, %r4, %p1;\n{shift}"))
    product, moved = of.of_kind("multiply"), of.of_kind("copy")
    assert [of.program.line_of(pc) for pc in moved] == [of.program.line_of(product[0]) + 1]
    assert set(product).isdisjoint({*of.of_kind("load"), *of.of_kind("store")})


@pytest.mark.parametrize(
    ("file", "kinds"),
    [
        ("gluon_gemm_f16_ws_128x128_sm90.ptx", KINDS),
        ("gemm_f16_nn_sm80.ptx", ("load", "store", "copy", "multiply", "barrier", "wait", "exit")),
        ("vadd_f32_sm90.ptx", ("load", "store", "exit")),
    ],
)
def test_kinds_of_compiled_kernels(file: str, kinds: tuple[str, ...]) -> None:
    of = index((CORPUS / file).read_text())
    assert {kind for kind in KINDS if _has(of, kind)} == set(kinds)


def _has(of: LineIndex, kind: str) -> bool:
    try:
        return len(of.of_kind(kind)) > 0
    except UsageError:
        return False


def test_every_instruction_of_a_compiled_kernel_is_found_by_its_line() -> None:
    of = index((CORPUS / "gluon_gemm_f16_ws_128x128_sm90.ptx").read_text())
    sources: dict[tuple[str, int], list[int]] = {}
    for pc in range(len(of.program.steps)):
        if line := of.program.line_of(pc):
            assert pc in of.at_line(line)
        if (source := of.program.source_line(pc)) is not None:
            sources.setdefault((source.file, source.line), []).append(pc)
    for (file, line), pcs in sources.items():
        assert pcs[0] in of.at_source(file, line)
