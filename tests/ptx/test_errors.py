"""Texts that are not PTX: whole messages, all of them, and nothing but PtxSyntaxError."""

# A message stands on one line; `attempt` takes a text that may or may not be PTX.
# ruff: noqa: E501, PT017

from __future__ import annotations

import pickle
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warploom.ptx import PtxSyntaxError, parse

HEAD = ".version 8.7\n.target sm_90a\n.address_size 64\n"
CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.ptx"))


def faults(text: str) -> list[str]:
    """`line:column: rule: message` of every diagnostic; lines count from the text, not from the header."""
    with pytest.raises(PtxSyntaxError) as caught:
        parse(HEAD + text, "k.ptx")
    found: list[str] = []
    for diagnostic in caught.value.diagnostics:
        assert diagnostic.source is not None
        assert diagnostic.span is not None
        line, column = diagnostic.source.position(diagnostic.span.start)
        rule = diagnostic.code.removeprefix("ptx.syntax/")
        hint = f" ({diagnostic.hint})" if diagnostic.hint else ""
        found.append(f"{line - 3}:{column}: {rule}: {diagnostic.message}{hint}")
    return found


def body(text: str) -> list[str]:
    return faults(f".entry k() {{\n{text}\n}}\n")


NO_END = " (the statement before this line has no ';')"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mul.lo %r1 %r2;", "2:12: expected: found '%r2'; expected ',' or ';'"),
        ("add %r1, %r2\nsub %r3;", f"3:1: expected: found 'sub'; expected ',' or ';'{NO_END}"),
        ("ret\nsub.s32 %r3, 1;", f"3:1: expected: found 'sub.s32'; expected ',' or ';'{NO_END}"),
        ("ret\n.loc 1 2 3", f"3:1: expected: found '.loc'; expected an operand or ';'{NO_END}"),
        ("ret", "3:1: expected: found '}'; expected an operand or ';'"),
        ("mov.b64 {%r1, %r2, %rd1;", "2:24: expected: found ';'; expected ',' or '}'"),
        ("ld.b32 %r1, [%rd1+%rd2];", "2:19: constant: found '%rd2'; expected an integer constant"),
        ("ld.b32 %r1, [%rd1 - 4];", "2:19: expected: found '-'; expected '+', ',' or ']'"),
        ("ld.b32 %r1, [%rd1, 4;", "2:21: expected: found ';'; expected ',' or ']'"),
        ("ld.b32 %r1, [1.5];", "2:14: expected: found '1.5'; expected an address"),
        ("add %r1, , %r2;", "2:10: expected: found ','; expected an operand"),
        ("add %r1, %r2,;", "2:14: expected: found ';'; expected an operand"),
        ("@%p1;", "2:5: expected: found ';'; expected an instruction"),
        ("@1 bra L;", "2:2: expected: found '1'; expected a predicate"),
        (")", "2:1: expected: found ')'; expected an instruction, a label, a directive or '}'"),
        ("12;", "2:1: expected: found '12'; expected an instruction, a label, a directive or '}'"),
        ("mov %r1, 0f12;", "2:10: number: found '0f12', which is not a number; expected 8 hexadecimal digits after 0f"),
        ("mov %r1, 0d1;", "2:10: number: found '0d1', which is not a number; expected 16 hexadecimal digits after 0d"),
        ("mov %r1, 0xg;", "2:10: number: found '0xg', which is not a number; expected hexadecimal digits after 0x"),
        ("mov %r1, 0b2;", "2:10: number: found '0b2', which is not a number; expected binary digits after 0b"),
        ("mov %r1, 12ab;", "2:10: number: found '12ab', which is not a number; expected digits, 0x, 0b, 0f or 0d"),
        ("mov %r1, 089;", "2:10: number: found '089', which is not a number; expected octal digits after 0"),
        (
            "mov %r1, 18446744073709551616;",
            "2:10: number: found '18446744073709551616', which does not fit in 64 bits",
        ),
        ("mov %r1, 1/0;", "2:10: constant: division by zero in a constant expression"),
        ("mov %r1, ~1.5;", "2:11: constant: found '1.5'; expected an integer constant"),
        ("mov %r1, -0f3F800000;", "2:11: constant: found '0f3F800000'; expected an integer constant"),
        (".shared .u32 x = {1, };", "2:22: expected: found '}'; expected a constant"),
        ("ret;;", "2:5: expected: found ';'; expected an instruction, a label, a directive or '}'"),
        ("mov %r1, 4 + foo*2;", "2:14: constant: found 'foo*2'; expected an integer constant"),
        ("mov %r1, 0xFF(3);", "2:15: constant: only the address of a variable can be masked"),
        ("mov %r1, é;", "2:10: character: found 'é' (U+00E9), which is not allowed in PTX"),
        ("mov %r1, \x00;", "2:10: character: found U+0000, which is not allowed in PTX"),
        ('.pragma "open;', "2:9: string: found a string that does not end on its line; expected '\"'"),
        ('.pragma "nounroll"', "3:1: expected: found '}'; expected ',' or ';'"),
        (".loc 1 2;", "2:9: expected: found ';'; expected an integer"),
        (".file 1 name", "2:9: expected: found 'name'; expected a file name in quotes"),
        (".reg %r<4>;", "2:6: expected: found '%r'; expected a type such as .b32"),
        (".reg .b32 %r<n>;", "2:14: expected: found 'n'; expected a register count"),
        (".reg .b32 %r<4;", "2:15: expected: found ';'; expected '>'"),
        (".reg .b32 .f32 %r<4>;", "2:11: expected: found '.f32' after the type .b32; expected a name"),
        (".shared .align 4 .b8 x[4;", "2:25: expected: found ';'; expected ']'"),
        ("p: .callprototype (.param .b32 _) (.b32 _);", "2:35: expected: found '('; expected '_'"),
    ],
)  # fmt: skip
def test_one_fault_in_a_body(text: str, expected: str) -> None:
    assert body(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ret;", "1:1: expected: found 'ret'; expected a directive, a function or a variable"),
        (".visible .reg_32 x;", "1:10: expected: found '.reg_32'; expected '.entry', '.func' or a state space such as .global"),
        (".global .u32 x = {1, 2 3};", "1:24: expected: found '3'; expected ',' or '}'"),
        (".global .u32 x", "1:15: expected: found the end of the text; expected ',' or ';'"),
        (".entry (.param .b32 a) { }", "1:8: expected: found '('; expected a function's name"),
        (".entry k(.b32 a) { }", "1:10: expected: found '.b32'; expected a state space such as .param or .reg"),
        (".entry k(.param .b32 a, ) { }", "1:25: expected: found ')'; expected a state space such as .param or .reg"),
        (".entry k() ret; }", "1:12: expected: found 'ret'; expected a directive, '{' or ';'"),
        (".entry k() {", "1:13: expected: found the end of the text; expected '}' to close the '{' of line 4"),
        (".section .debug { .b8 1,\n.u8 2 }", "2:5: expected: found '2'; expected data such as .b8, a label or '}'"),
        ("/* open", "1:1: comment: found a comment that does not end; expected '*/'"),
        (".version 8.0", "1:1: header: found a second .version; expected it once, at the head of the module"),
    ],
)  # fmt: skip
def test_one_fault_at_module_scope(text: str, expected: str) -> None:
    assert faults(text)[0] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "<ptx>:1:1: found the end of the text; expected .version as the first directive"),
        ("// x\n.entry k() { }", "<ptx>:2:1: found '.entry'; expected .version as the first directive"),
        (".version 8.7\n.entry k() { }", "<ptx>:2:1: found '.entry'; expected .target as the directive after .version"),
        (".version 8\n.target sm_90", "<ptx>:1:10: found '8'; expected a version such as 8.7"),
        (".version 1e5\n.target sm_90", "<ptx>:1:10: found '1e5'; expected a version such as 8.7"),
        (".version 8.7\n.target 90", "<ptx>:2:9: found '90'; expected a target such as sm_90a"),
        (".version 8.7\n.target sm_90\n.address_size 63", "<ptx>:3:15: found '63'; expected 32 or 64"),
    ],
)
def test_header(text: str, expected: str) -> None:
    with pytest.raises(PtxSyntaxError) as caught:
        parse(text)
    assert str(caught.value).splitlines()[0] == expected


def test_faults_do_not_hide_each_other() -> None:
    text = (
        ".entry a(.param .u32 x .param .u32 y) {\n"
        "  add %r1 %r2;\n"
        "  mov %r1, {%r2;\n"
        "  { ld %r1, [%r2; ret; }\n"
        "  good %r1;\n"
        "  st [%r1], é, %r2 %r3;\n"
        "}\n"
        ".global .u32 x = {1 2};\n"
        ".global .u32 y = 3\n"
        ".entry b() {\n"
        "  setp %p1|, %r1;\n"
        ".entry c() { bra L }\n"
    )
    assert faults(text) == [
        "1:24: expected: found '.param'; expected ',' or ')'",
        "2:11: expected: found '%r2'; expected ',' or ';'",
        "3:16: expected: found ';'; expected ',' or '}'",
        "4:17: expected: found ';'; expected '+', ',' or ']'",
        "6:13: character: found 'é' (U+00E9), which is not allowed in PTX",
        "8:21: expected: found '2'; expected ',' or '}'",
        "10:1: expected: found '.entry'; expected ',' or ';' (the statement before this line has no ';')",
        "11:12: expected: found ','; expected an operand",
        "12:1: expected: found '.entry'; expected '}' to close the '{' of line 13",
        "12:20: expected: found '}'; expected ',' or ';'",
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{" * 100_000, "blocks"),
        ("mov %r1, " + "{" * 100_000, "vectors"),
        ("mov %r1, " + "[a," * 100_000, "addresses"),
        ("mov %r1, " + "(" * 100_000, "parentheses"),
        ("mov %r1, 1+" + "(" * 100_000, "expressions"),
        ("mov %r1, 1+" + "-" * 100_000, "signs"),
        ("mov %r1, " + "1?" * 100_000, "expressions"),
        (".shared .b32 x = " + "{" * 100_000, "initializers"),
        (".shared .b32 x = " + "a=" * 100_000, "initializers"),
        (".shared .b32 x = " + "1(" * 100_000, "expressions"),
    ],
)
def test_runaway_nesting(text: str, what: str) -> None:
    assert [fault.split(": ", 1)[1] for fault in body(text)] == [f"nesting: {what} are nested more than 64 deep"]


def test_reading_stops_after_a_hundred_faults() -> None:
    reported = body("a b c;\n" * 500)
    assert len(reported) == 101
    assert reported[-1] == "102:5: limit: more than 100 syntax errors; parsing stops here"


def test_error_survives_pickling() -> None:
    with pytest.raises(PtxSyntaxError) as caught:
        parse("x")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is PtxSyntaxError
    assert str(again) == "<ptx>:1:1: found 'x'; expected .version as the first directive"


# No text raises anything else -------------------------------------------------------------------------------------


def attempt(text: str) -> None:
    try:
        module = parse(text)
    except PtxSyntaxError as error:
        assert error.diagnostics
        assert all(found.span is not None and found.source is not None for found in error.diagnostics)
        assert str(error)
    else:
        assert str(module) == text


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_truncated(path: Path) -> None:
    text = path.read_bytes().decode()
    choose = random.Random(path.stem)
    for _ in range(12):
        attempt(text[: choose.randrange(len(text))])


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_mutated(path: Path) -> None:
    tokens = re.split(r"([\w%$.]+|\s+|.)", path.read_bytes().decode()[:9000])
    noise = (*"{}[]();:,@|!<>=\"'/*\\+-~?#", "/*", "*/", "//", ".reg", ".entry", "09", "0f1", "é", "\x00", "%", "")
    choose = random.Random(path.stem)
    for _ in range(12):
        mutated = list(tokens)
        for _ in range(choose.randrange(1, 6)):
            place = choose.randrange(len(mutated))
            mutated[place] = choose.choice((*noise, choose.choice(tokens), mutated[place] * 2))
        attempt("".join(mutated))


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_any_text(text: str) -> None:
    attempt(text)
    attempt(HEAD + text)
    attempt(f"{HEAD}.entry k() {{ {text} }}")


_WORDS = st.sampled_from([*'{}[]();:,@|!<>="/*+-~?. \n', "/*", "*/", "//", ".reg", ".b32", "%r1", "7", "a.b", "\\"])


@settings(max_examples=500, deadline=None)
@given(st.lists(_WORDS, max_size=40))
def test_any_tokens(words: list[str]) -> None:
    attempt(f"{HEAD}.entry k() {{ {''.join(words)} }}")
    attempt(HEAD + " ".join(words))
