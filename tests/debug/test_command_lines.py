"""Lines of the debugger's console: their division into arguments and options, and the refusal of wrong ones."""

from __future__ import annotations

from typing import Any

import pytest
from debug.consoles import GEMM

from warploom.diagnostics import UsageError
from warploom.runtime.debugging.focus import Filter
from warploom.view.debugger.api import debug
from warploom.view.debugger.command import GROUPS, TABLE, completions, names, parse


def read(line: str) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    call = parse(line)
    return call.command.name, call.arguments, {name: value for name, value in call.options.items() if value}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("step", ("step", (None, None), {})),
        ("s 3 line", ("step", (3, "line"), {})),
        ("step barrier", ("step", (None, "barrier"), {})),
        ("c 1,000", ("continue", (1000,), {})),
        ("info registers %r1 %p0 all", ("registers", (("%r1", "%p0"),), {"all": True})),
        ("reg %r2 lane 0x1f as s32", ("registers", (("%r2",),), {"lane": 31, "as_type": "s32"})),
        ("print %r1 * (2 + 3) as s32", ("print", ("%r1 * (2 + 3)",), {"as_type": "s32"})),
        ("p c[5, 7]", ("print", ("c[5, 7]",), {})),
        ("x shared 0x400 16 f16", ("memory", ("shared", "0x400", 16, "f16"), {})),
        ("x %rd4 f32", ("memory", (None, "%rd4", None, "f32"), {})),
        ("b kind multiply", ("break", ("kind multiply",), {})),
        (
            "break end_1 in cta 0,1 (2, 3, 4) warp 0-2,5 lane 7 if lane < 3 and warp == 1",
            (
                "break", ("end_1",),
                {
                    "within": Filter(((0, 1, 0), (2, 3, 4)), (0, 1, 2, 5), (7,)),
                    "condition": "lane < 3 and warp == 1",
                },
            ),
        ),
        ("sel lane 3 cta (1, 2)", ("select", (), {"cta": (1, 2, 0), "lane": 3})),
        ("tile A at kind multiply rows 0-3 columns 5", (
            "tile", ("A",), {"at": "kind multiply", "rows": slice(0, 4), "columns": slice(5, 6)}
        )),
        ("cont", ("continue", (None,), {})),
        ("fini", ("finish", (), {})),
    ],
)  # fmt: skip
def test_a_line_is_divided(line: str, expected: tuple[str, tuple[Any, ...], dict[str, Any]]) -> None:
    assert read(line) == expected


@pytest.mark.parametrize(
    ("line", "code", "sentence", "hint"),
    [
        ("", "debug.command", "the line has no command", "`help` lists the commands"),
        ("brek 42", "debug.command", "unknown command 'brek'", "did you mean 'break'?"),
        ("f", "debug.command", "'f' is ambiguous: findings, finish, focus or fragment", ""),
        ("break", "debug.argument", "break needs an argument: line, FILE:LINE, label", "usage: break WHERE"),
        ("step 3 lines", "debug.argument", "step does not take 'lines'", "did you mean 'line'?"),
        ("focus 3", "debug.argument", "focus does not take '3'", "usage: focus"),
        ("select wrap 3", "debug.argument", "select does not take 'wrap'", "did you mean 'warp'?"),
        ("select warp", "debug.argument", "'warp' needs a value", "usage: select"),
        ("select warp x", "debug.argument", "select: warp is 'x'", "usage: select"),
        ("delete x", "debug.argument", "delete: numbers is 'x'", "usage: delete"),
        ("break 42 in row 3", "debug.argument", "break: in is 'row 3'; expected parts such as", "usage: break"),
        ("tile A rows 3-x", "debug.argument", "tile: rows is '3-x'; expected a range such as 0-3", "usage: tile"),
    ],
)
def test_a_wrong_line_is_refused(line: str, code: str, sentence: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(line)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert found.message.startswith(sentence)
    assert found.hint.startswith(hint)


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("print %r1 +", "debug.condition", "the condition is not an expression"),
        ("registers %q1", "debug.register", "unknown register '%q1'"),
        ("registers %r1 lane 32", "debug.focus", "the lane is 32"),
        ("print a[128, 0]", "debug.index", "a[128, 0] is outside of the array, which has 128 x 256 elements"),
        ("print a[x]", "debug.index", "the index of a is [x]"),
        ("tile %rd5 at kind multiply", "debug.operand", "%rd5 is no matrix operand of `wgmma"),
        ("warps cta 9", "debug.focus", "there is no CTA (9, 0, 0)"),
        ("set widht 3", "debug.setting", "unknown setting 'widht'"),
        ("set width 0", "debug.setting", "width is 0"),
        ("help brek", "debug.command", "unknown command 'brek'"),
        ("source", "debug.text", "line 19 has no source line"),
        ("watch c[0]", "debug.watch", "c[0] has 256 elements; expected one"),
        ("watch mbarrier *", "debug.watch", "'*' is no mbarrier"),
        ("goto middle", "debug.goto", "cannot go to 'middle'"),
        ("delete 7", "debug.breakpoint", "there is no breakpoint 7"),
        ("memory nothing", "debug.memory", "unknown variable 'nothing'"),
    ],
)
def test_a_command_that_cannot_run_is_refused(line: str, code: str, sentence: str) -> None:
    kernel = GEMM.parent / "softmax.toml" if line == "source" else GEMM
    debugger = debug(kernel)
    if line == "source":
        debugger("step")
    with pytest.raises(UsageError) as caught:
        debugger(line)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert found.message.startswith(sentence)


def test_every_command_has_a_group_and_names_of_its_own() -> None:
    assert {each.group for each in TABLE.values()} == {*GROUPS}
    all_names = [name for each in TABLE.values() for name in (each.name, *each.aliases)]
    assert sorted(all_names) == sorted(names())


def test_a_summary_is_a_sentence_that_fits_into_a_line() -> None:
    assert [each.name for each in TABLE.values() if not each.summary.endswith(".") or len(each.summary) > 100] == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("quit", ["quit"]), ("step l", ["line"]), ("break 42 i", ["if", "in"]), ("print sha", ["shared_memory"]),
        ("nothing x", []),
    ],
)  # fmt: skip
def test_words_are_completed(line: str, words: list[str]) -> None:
    assert completions(line, lambda: ["shared_memory", "%r1"]) == words


def test_names_of_the_program_are_completed() -> None:
    assert debug(GEMM).complete("print %rd1") == [f"%rd{number}" for number in (1, *range(10, 20))]
