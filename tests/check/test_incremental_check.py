"""Judging again after an edit: what `check` finds in the same text, and no body twice without need."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from typed import edited, mended, one_body

from warploom.check import check
from warploom.check.incremental_check import IncrementalChecker
from warploom.check.instruction_checker import InstructionChecker
from warploom.check.module_checker import ModuleChecker
from warploom.ptx import Instruction
from warploom.ptx.incremental_parse import parse_incrementally

CORPUS = Path(__file__).parents[1] / "corpus"
HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n\n.extern .shared .b8 pool[];\n.global .b32 mark;\n"
FUNCTION = """
.func (.param .b32 out) f{n}(.param .b32 in)
{{
	.reg .b32 %r<4>;
	ld.param.b32 %r1, [in];
	add.s32 %r2, %r1, {n};
	st.param.b32 [out], %r2;
	ret;
}}
.visible .entry k{n}(.param .u64 p)
{{
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	.param .b32 a;
	.param .b32 b;
	mov.u32 %r1, pool;
	ld.global.b32 %r2, [mark];
	st.param.b32 [a], %r2;
	call (b), f{n}, (a);
	ld.param.b32 %r3, [b];
	st.shared.b32 [%r1], %r3;
	ret;
}}
"""
SMALL = HEAD + "".join(FUNCTION.format(n=n) for n in range(6))


def _told(report: object) -> list[tuple[object, ...]]:
    return [
        (found.code, found.severity, found.message, found.span, found.hint, found.section, found.source.text)
        if found.source
        else (found.code, found.message, found.hint)
        for found in report  # type: ignore[attr-defined]
    ]


@pytest.mark.parametrize(
    ("name", "edits"), [("wgmma_raw_sm90a", 10), ("micro_sm90a", 6), ("many", 40), ("one", 20), ("sound", 40)]
)
def test_random_edits_are_judged_as_the_whole_is(name: str, edits: int) -> None:
    made = {"many": SMALL, "one": one_body(6), "sound": one_body(6, sound=True)}
    whole = made.get(name) or (CORPUS / f"{name}.ptx").read_text(encoding="utf-8")[:20_000]
    rng = random.Random(3)
    text, parsed, checker = whole, None, IncrementalChecker()
    for _ in range(edits):
        parsed = parse_incrementally(text, parsed)
        assert _told(checker.report(parsed)) == _told(check(text))
        text = mended(text, whole, rng) if rng.random() < 0.3 else edited(text, rng)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of functions whose bodies are judged."""
    found: list[str] = []
    body = ModuleChecker.check_body

    def counted(self: ModuleChecker, function: object, *others: object) -> object:
        found.append(function.name)  # type: ignore[attr-defined]
        return body(self, function, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(ModuleChecker, "check_body", counted)
    return found


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [
        ("%r1, 3;", "%r1, 33;", ["f3"]),
        (".func (.param .b32 out) f3(.param .b32 in)", ".func (.param .b32 out) f3(.param .b64 in)", ["f3", "k3"]),
        ("mark;\n", "mark, more;\n", []),
        (".global .b32 mark;", ".global .b64 mark;", [f"k{n}" for n in range(6)]),
        (".target sm_90a", ".target sm_80", [f"{kind}{n}" for n in range(6) for kind in "fk"]),
    ],
)  # fmt: skip
def test_bodies_that_an_edit_does_not_concern_are_not_judged_again(
    judged: list[str], old: str, new: str, again: list[str]
) -> None:
    checker, parsed = IncrementalChecker(), parse_incrementally(SMALL)
    checker.report(parsed)
    judged.clear()
    text = SMALL.replace(old, new, 1)
    report = checker.report(parse_incrementally(text, parsed))
    assert judged == again
    assert _told(report) == _told(check(text))


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [
        ("add.s32 %r5, %r1, 5;", "add.s32 %r5, %r1, 55;", 1),
        ("\tbrx.idx %r1, T5;", "\tadd.s32 %r1,\n\tbrx.idx %r1, T5;", 0),
        ("{%f0, %f1, %f2, %f5}", "{%f0, %f1, %f2, %f6}", 1),
        (".param .u32 q", ".param .u32 q, .param .u32 other", 0),
        (".param .u64 p", ".param .u32 p", 70),
        ("%r<40>", "%r<39>", 70),
        (".reg .f32 x5, y5;", ".reg .f32 x5, z5;", 70),
        ("$L5:", "$M5:", 70),
        ("T5: ", "T5: ret; ", 70),
    ],
)
def test_instructions_that_an_edit_does_not_concern_are_not_judged_again(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str, again: int
) -> None:
    whole = one_body(8, sound=True)
    checker, parsed = IncrementalChecker(), parse_incrementally(whole)
    checker.report(parsed)
    judged: list[str] = []
    judge = InstructionChecker.check

    def counted(self: InstructionChecker, instruction: Instruction, *others: object) -> object:
        judged.append(instruction.opcode)
        return judge(self, instruction, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(InstructionChecker, "check", counted)
    text = whole.replace(old, new, 1)
    report = checker.report(parse_incrementally(text, parsed))
    assert len(judged) >= again if again > 1 else len(judged) == again
    assert _told(report) == _told(check(text))


def test_a_finding_that_tells_a_line_tells_the_right_one_after_lines_were_added() -> None:
    whole = (CORPUS / "wgmma_raw_sm90a.ptx").read_text(encoding="utf-8")
    broken = "\n".join(line for line in whole.splitlines() if "wait_group" not in line) + "\n"
    checker, parsed = IncrementalChecker(), parse_incrementally(broken)
    assert any("of line" in found.message for found in checker.report(parsed))
    text = broken.replace(".visible", "\n\n\n.visible", 1)
    assert _told(checker.report(parse_incrementally(text, parsed))) == _told(check(text))


@pytest.mark.parametrize(("right", "wrong"), [(("p16", ".param .b8 p16[16]"), ("p8", ".param .b8 p8[8]"))])
def test_an_argument_of_another_size_is_found_behind_one_that_fits(
    right: tuple[str, str], wrong: tuple[str, str]
) -> None:
    text = HEAD + (
        ".func f(.param .b8 in[16]) { ret; }\n.visible .entry k() {\n"
        f"\t{right[1]};\n\t{wrong[1]};\n\tcall f, ({right[0]});\n\tcall f, ({wrong[0]});\n\tret;\n}}\n"
    )
    (found,) = check(text).errors
    assert "argument 1 of the call is 'p8'" in found.message


def test_a_prototype_of_another_shape_is_found_behind_one_that_fits() -> None:
    text = HEAD + (
        ".visible .entry k() {\n\t.reg .b64 %rd<3>;\n\t.param .b32 a;\n"
        "\tone: .callprototype _ (.param .b32 _);\n\ttwo: .callprototype _ (.param .b64 _);\n"
        "\tcall %rd1, (a), one;\n\tcall %rd1, (a), two;\n\tret;\n}\n"
    )
    (found,) = check(text).errors
    assert "argument 1 of the call" in found.message
