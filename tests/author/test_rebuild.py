"""PTX as author code: what it builds is the module it was made from, but for the names of registers."""

from __future__ import annotations

import linecache
from dataclasses import replace
from pathlib import Path

import pytest

import warploom as wl
from warploom.author import Program, from_ptx
from warploom.cli import main
from warploom.ptx import (
    Address,
    Block,
    Directive,
    Function,
    Guard,
    Instruction,
    Name,
    Negated,
    Pair,
    Symbol,
    Tuple,
    Variable,
    Vector,
    parse,
    read,
)

CORPUS = sorted((Path(__file__).resolve().parents[1] / "corpus").glob("*.ptx"))


def built(text, kernel=None):
    """What the code of a text builds."""
    code, names = from_ptx(text, kernel), {}
    linecache.cache["made.py"] = len(code), None, code.splitlines(keepends=True), "made.py"
    exec(compile(code, "made.py", "exec"), names)
    program = names["program"]
    assert isinstance(program, Program)
    return program.module


class Renamed:
    """A function with its registers numbered as they are met, each with the kind it is declared of."""

    def __init__(self):
        self.numbers = {}

    def statements(self, statements, outer):
        scope = {**outer}
        for each in statements:
            if isinstance(each, Variable) and each.space == "reg":
                scope[each.name] = each.type, each.count
        for each in statements:
            if isinstance(each, Block):
                yield Block(tuple(self.statements(each.statements, scope)))
            elif isinstance(each, Instruction):
                guard = each.guard and Guard(self.name(each.guard.name, scope), each.guard.negated)
                yield Instruction(guard, each.opcode, tuple(self.operand(o, scope) for o in each.operands))
            elif not (isinstance(each, Variable) and each.space == "reg"):
                yield each

    def name(self, name, scope):
        stem = name.rstrip("0123456789")
        kind, _ = scope.get(name) or scope.get(stem) or ("", 0)
        return f"#{self.numbers.setdefault((name, kind), len(self.numbers))}:{kind}" if kind else name

    def operand(self, operand, scope):
        match operand:
            case Name(text):
                return Name(self.name(text, scope))
            case Negated(name, sign):
                return Negated(self.name(name, scope), sign)
            case Symbol(name):
                return replace(operand, name=self.name(name, scope))
            case Address(base, offset, extra, unified):
                base = base and self.operand(base, scope)
                return Address(base, offset, tuple(self.operand(e, scope) for e in extra), unified)
            case Vector(items) | Tuple(items):
                return type(operand)(tuple(self.operand(item, scope) for item in items))
            case Pair(first, second):
                return Pair(self.operand(first, scope), self.operand(second, scope))
            case _:
                return operand


def plain(module, lines=True):
    """A module without what may differ; `lines` keeps the line information."""
    items = []
    for item in module.items:
        if isinstance(item, Function) and item.body is not None:
            body = [each for each in Renamed().statements(item.body.statements, {}) if lines or not is_line(each)]
            item = replace(item, body=Block(tuple(body)))
        if lines or not is_line(item):
            items.append(item)
    return items


def is_line(node):
    return isinstance(node, Directive) and (node.name in (".loc", ".file") or node.names == (".debug_str",))


def findings(module):
    return [(found.code, found.severity) for found in wl.check(str(module))]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_a_file_is_built_again(path):
    module = read(path)
    again = built(path.read_text())
    lines = ".loc" in str(module)
    assert plain(again, lines) == plain(module, lines)
    assert findings(again) == findings(module)


def test_a_kernel_of_many_is_chosen():
    text = (CORPUS[0].parent / "micro_sm90a.ptx").read_text()
    names = list(parse(text).functions)
    assert list(built(text, names[3]).functions) == [names[3]]
    with pytest.raises(wl.UsageError, match=r"unknown kernel 'gone'; expected "):
        from_ptx(text, "gone")


def test_the_code_is_calls_with_few_words():
    code = from_ptx((CORPUS[0].parent / "vadd_f32_sm90.ptx").read_text())
    assert "    r26 = ptx.shl(r25, 10)\n" in code
    assert '    p1 = ptx.setp(r31, r27, CmpOp="lt", type="s32")\n' in code
    assert 'ptx.inline("@{p1} ld.global.b32 {{r1}}, [{rd1}];", p1=p1, r1=r1, rd1=rd1)' in code


HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
WHOLE = {
    "a branch table": ".reg .b32 r; mov.u32 r, 0; t: .branchtargets a, b; brx.idx r, t; a: ret; b: ret;",
    "no return": ".reg .b32 r; mov.u32 r, 0;",
    "vector registers": ".reg .v2 .f32 v; mov.f32 v.x, 0f00000000; ret;",
}


@pytest.mark.parametrize("case", WHOLE)
def test_what_author_has_no_word_for_stays_as_it_is(case):
    text = f"{HEAD}.visible .entry k() {{ {WHOLE[case]} }}\n"
    assert "program.declare(" in from_ptx(text)
    assert plain(built(text)) == plain(parse(text))


def test_labels_loops_and_odd_constants():
    text = f"""{HEAD}.weak .entry k$1(.param .u64 k$1_param_0, .param .align 8 .b8 other[24]) .maxnreg 64 {{
        .reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
        ld.param.u64 %rd1, [k$1_param_0+0]; ld.param.u32 %r1, [other+16]; mov.u32 %r2, 0;
        LOOP: add.s32 %r2, %r2, 1; setp.lt.s32 %p1|%p2, %r2, %r1;
        mov.f32 %f1, 0f7FC00000; fma.rn.f32 %f2, %f1, 0f3F000000, 0fBF800000;
        @!%p2 ld.global.v2.f32 {{%f3, %f4}}, [%rd1+8]; elect.sync _|%p2, -1;
        mov.b64 {{%r3, %r4}}, %rd1; mov.b64 %rd2, {{%r4, %r3}};
        @%p1 bra LOOP; bra.uni OUT; OUT: st.global.f32 [%rd1], %f2; ret; }}
    """
    assert plain(built(text), lines=False) == plain(parse(text))
    assert "program.declare(" not in from_ptx(text)


def test_the_command_line(tmp_path, capsys):
    path = tmp_path / "k.ptx"
    path.write_text(f"{HEAD}.entry k() {{ ret; }}\n")
    assert main(["author", str(path)]) == 0
    assert capsys.readouterr().out == from_ptx(path.read_text())
    assert main(["author", str(path), "--kernel", "q"]) == 2
    assert "unknown kernel 'q'; expected k" in capsys.readouterr().err
