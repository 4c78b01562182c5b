"""What the tree says of a text: kinds of nodes, values, places."""

from __future__ import annotations

import dataclasses
import math

import pytest

from warploom.diagnostics import Span
from warploom.ptx import (
    Address,
    Block,
    Directive,
    Element,
    Float,
    Function,
    Guard,
    Instruction,
    Integer,
    Label,
    Module,
    Name,
    Negated,
    Node,
    Operand,
    Pair,
    Property,
    Prototype,
    PtxSyntaxError,
    Statement,
    Symbol,
    Text,
    Tuple,
    Variable,
    Vector,
    parse,
)

HEAD = ".version 8.7\n.target sm_90a, debug\n.address_size 64\n"


def statements(text: str) -> tuple[Statement, ...]:
    function = parse(f"{HEAD}.func f() {{ {text} }}").functions["f"]
    assert function.body is not None
    return function.body.statements


def operand(text: str) -> Operand:
    (instruction,) = statements(f"x {text};")
    assert isinstance(instruction, Instruction)
    (only,) = instruction.operands
    return only


def variable(text: str) -> Variable:
    item = parse(HEAD + text).items[-1]
    assert isinstance(item, Variable)
    return item


A, B = Name("%r1"), Name("%r2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%tid.x", Name("%tid.x")),
        ("_", Name("_")),
        ("0x10U", Integer(16)),
        ("0b101", Integer(5)),
        ("017", Integer(15)),
        ("-1", Integer(-1)),
        ("-9223372036854775808", Integer(-(2**63))),
        ("(4+8)*2", Integer(24)),
        ("1<<3|1", Integer(9)),
        ("-7/2", Integer(-3)),
        ("-7 % 3", Integer(-1)),
        ("-1 >> 60", Integer(-1)),
        ("(.u64)-1 >> 60", Integer(15)),
        ("-1 < 0U", Integer(0)),
        ("1 ? 2 : 3", Integer(2)),
        ("!0 + ~0", Integer(0)),
        ("0x7fffffffffffffff + 1", Integer(-(2**63))),
        ("WARP_SZ*4", Integer(128)),
        ("1.5", Float.decimal(1.5)),
        ("0f3F800000", Float(0x3F800000, 32)),
        ("0dBFF0000000000000", Float(0xBFF0000000000000, 64)),
        ("-1.5", Float.decimal(-1.5)),
        ("!%r1", Negated("%r1")),
        ("-%r1", Negated("%r1", "-")),
        ("%r1|%r2", Pair(A, B)),
        ("{%r1,%r2}|%r2", Pair(Vector((A, B)), B)),
        ("{ %r1 , _, 3 }", Vector((A, Name("_"), Integer(3)))),
        ("(%r1, %r2)", Tuple((A, B))),
        ("()", Tuple(())),
        ("[%r1]", Address(A)),
        ("[%r1+-16]", Address(A, -16)),
        ("[%r1 + 4 - 8]", Address(A, -4)),
        ("[16]", Address(None, 16)),
        ("[sym+4*2]", Address(Name("sym"), 8)),
        ("[%r1, {%r1, %r2}]", Address(A, 0, (Vector((A, B)),))),
        ("[%r1+4, %r2, {%r1}, {%r2}]", Address(A, 4, (B, Vector((A,)), Vector((B,))))),
        ("[%r1+4].unified", Address(A, 4, unified=True)),
        ("a[4]", Element("a", Address(None, 4))),
        ("a[%r1+4]", Element("a", Address(A, 4))),
        ("sym+4", Symbol("sym", 4)),
        ("sym+-4", Symbol("sym", -4)),
        ("generic(sym)+8", Symbol("sym", 8, generic=True)),
        ("0xFF00(sym)", Symbol("sym", mask=0xFF00)),
    ],
)
def test_operand(text: str, expected: Operand) -> None:
    assert operand(text) == expected
    assert operand(f"/**/ {text} /**/") == expected
    assert operand(str(expected)) == expected


def test_constants_keep_their_spelling_and_their_value() -> None:
    one = operand("0f3F800000")
    assert isinstance(one, Float)
    assert (one.value, one.width, one.text) == (1.0, 32, "0f3F800000")
    assert math.isnan(Float(0x7FFFFFFF, 32).value)
    assert str(Float(0x3FF, 64)) == "0d00000000000003FF"
    assert str(Float.decimal(0.1)) == "0.1"
    sixteen = operand("0x10")
    assert isinstance(sixteen, Integer)
    assert (sixteen.value, sixteen.text) == (16, "0x10")
    # A changed constant is not printed with the spelling of the old one.
    assert str(dataclasses.replace(sixteen, value=3)) == "3"


def test_instruction() -> None:
    (node,) = statements("@!%p1 ld.global.L1::evict_last.v2.b32 {%r1, %r2}, [%rd1+16], foo|_;")
    assert isinstance(node, Instruction)
    assert node.guard == Guard("%p1", negated=True)
    assert node.words == ("ld", "global", "L1::evict_last", "v2", "b32")
    assert len(node.operands) == 3


@pytest.mark.parametrize("pad", ["", " ", " /* , */ "])
def test_places_of_words_and_operands(pad: str) -> None:
    (node,) = statements(f"@!%p1 ld.a::b.c{pad}\t{{%r1,{pad}%r2}}{pad},[x+1, {{y, z}}],{pad}%r3{pad}| _;")
    assert isinstance(node, Instruction)
    source = node.source
    assert source is not None

    def texts(spans: tuple[Span, ...]) -> list[str]:
        return [source.text[span.start : span.end] for span in spans]

    assert texts(node.word_spans) == ["ld", "a::b", "c"]
    assert texts(node.operand_spans) == [f"{{%r1,{pad}%r2}}", "[x+1, {y, z}]", f"%r3{pad}| _"]
    assert texts(node.item_spans(0)) == ["%r1", "%r2"]
    assert texts(node.item_spans(1)) == ["x+1", "{y, z}"]
    assert node.item_spans(2) == ()
    made = dataclasses.replace(node)
    assert made.word_spans == made.operand_spans == made.item_spans(0) == ()
    assert made.span is None


def test_calls_tables_and_labels() -> None:
    found = statements(
        "call.uni (retval0), fn, (param0, 4), proto;"
        " L: brx.idx %r1, tab; tab: .branchtargets L, M;"
        " proto: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[16]) .noreturn;"
        " c: .calltargets f, g;"
    )
    assert found[0] == Instruction(
        None, "call.uni", (Tuple((Name("retval0"),)), Name("fn"), Tuple((Name("param0"), Integer(4))), Name("proto"))
    )
    assert found[1] == Label("L")
    assert found[4] == Directive(".branchtargets", (Name("L"), Name("M")))
    assert found[6] == Directive(
        ".callprototype",
        (
            Prototype(
                (Variable("param", "b32", "_"),),
                (Variable("param", "b8", "_", align=8, shape=(16,)),),
                directives=(Directive(".noreturn"),),
            ),
        ),
    )
    assert found[8] == Directive(".calltargets", (Name("f"), Name("g")))


def test_debug_directives() -> None:
    first, second = statements(".loc 1 20 3\n.loc 1 2 3, function_name $L+4, inlined_at 1 9 5\n")
    assert isinstance(first, Directive)
    assert isinstance(second, Directive)
    assert first.ints == (1, 20, 3)
    assert second.args == (
        *map(Integer, (1, 2, 3)),
        Name("function_name"),
        Symbol("$L", 4),
        Name("inlined_at"),
        *map(Integer, (1, 9, 5)),
    )
    module = parse(f'{HEAD}.file 1 "a.cu", 12, 34\n.section .debug_str\n{{\nL:\n.b8 1,2\n.b32 .debug_info+4, L-M\n}}')
    assert module.items[-2:] == (
        Directive(".file", (Integer(1), Text("a.cu"), Integer(12), Integer(34))),
        Directive(
            ".section",
            (Name(".debug_str"),),
            (
                Label("L"),
                Directive(".b8", (Integer(1), Integer(2))),
                Directive(".b32", (Symbol(".debug_info", 4), Symbol("L", minus="M"))),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".reg .b32 %r<100>;", Variable("reg", "b32", "%r", count=100)),
        (".reg .v4 .f32 v;", Variable("reg", "f32", "v", vector=4)),
        (".shared .align 8 .b8 x[4][2];", Variable("shared", "b8", "x", align=8, shape=(4, 2))),
        (".extern .shared .align 16 .b8 x[];", Variable("shared", "b8", "x", 16, shape=(None,), linkage=("extern",))),
        (
            ".visible .global .align 4 .u32 x[2][2] = {{1, 2}, {-3}};",
            Variable(
                "global",
                "u32",
                "x",
                4,
                shape=(2, 2),
                initializer=((Integer(1), Integer(2)), (Integer(-3),)),
                linkage=("visible",),
            ),
        ),
        (
            ".const .u64 t[3] = {f, generic(x)+8, 0xFF(generic(y))};",
            Variable(
                "const",
                "u64",
                "t",
                shape=(3,),
                initializer=(Name("f"), Symbol("x", 8, generic=True), Symbol("y", generic=True, mask=255)),
            ),
        ),
        (
            ".global .attribute(.managed) .f32 x = 1.0;",
            Variable("global", "f32", "x", initializer=Float.decimal(1.0), attributes=(".attribute(.managed)",)),
        ),
        (
            ".global .attribute( .managed , .unified(1, 2)) .f32 x;",
            Variable("global", "f32", "x", attributes=(".attribute(.managed, .unified(1, 2))",)),
        ),
        (".const[2] .b32 x;", Variable("const", "b32", "x", attributes=("[2]",))),
        (
            ".global .samplerref s = { addr_mode_0 = wrap, force_unnormalized_coords = 1 };",
            Variable(
                "global",
                "samplerref",
                "s",
                initializer=(Property("addr_mode_0", Name("wrap")), Property("force_unnormalized_coords", Integer(1))),
            ),
        ),
    ],
)
def test_variable(text: str, expected: Variable) -> None:
    assert variable(text) == expected
    assert str(expected) == str(dataclasses.replace(variable(text)))
    assert variable(str(expected)) == expected


@pytest.mark.parametrize("numbers", ["1, 2, 3", "0", "1,2,\n\t3 ", " 255, 0, 123456789012345678"])
def test_plain_lists_of_integers_are_equal_to_lists_with_a_comment(numbers: str) -> None:
    plain, other = (
        parse(f".version 8.0\n.target sm_90\n.global .u64 v[4] = {{{text}}};").variables["v"].initializer
        for text in (numbers, f"/* */{numbers}")
    )
    assert plain == other
    assert isinstance(plain, tuple)
    assert isinstance(other, tuple)
    assert [str(each) for each in plain] == [str(each) for each in other]


@pytest.mark.parametrize("numbers", ["08", "1 2", "1,", ",1", "18446744073709551616", "1; 2"])
def test_malformed_lists_of_integers(numbers: str) -> None:
    with pytest.raises(PtxSyntaxError):
        parse(f".version 8.0\n.target sm_90\n.global .u64 v[4] = {{{numbers}}};")


@pytest.mark.parametrize(
    "line",
    [
        ".loc 1 20 3",
        ".loc\t1 0 0",
        ".loc 1 20 3, function_name $L__info_string0, inlined_at 2 5 1",
        ".loc\t1 20 3 , function_name\t$L__info_string0+120,inlined_at 2 5 1",
        ".loc 1 20 3, function_name $name+0, inlined_at 2 5 1",
    ],
)
def test_usual_locations_are_equal_to_locations_with_a_comment(line: str) -> None:
    body = "\n.entry k()\n{{\n{}\nret;\n}}"
    plain, other = (
        parse(".version 8.0\n.target sm_90" + body.format(text)).functions["k"].body
        for text in (line, line.replace(".loc", ".loc /* */"))
    )
    assert plain == other
    assert plain is not None
    assert other is not None
    first, second = plain.statements[0], other.statements[0]
    assert isinstance(first, Directive)
    assert isinstance(second, Directive)
    assert list(map(str, first.args)) == list(map(str, second.args))
    assert first.source_text == line


def test_one_variable_for_each_name_declared() -> None:
    assert statements(".reg .pred p, q<4>;") == (Variable("reg", "pred", "p"), Variable("reg", "pred", "q", count=4))


def test_function() -> None:
    text = (
        ".weak .entry k(.param .u64 .ptr .global .align 1 p, .param .align 64 .b8 map[128])\n"
        ".maxntid 128, 2, 1 .minnctapersm 2 .maxnreg 64 .explicitcluster .reqnctapercluster 2,1,1\n"
        '.pragma "nounroll"; .blocksareclusters { ret; }\n'
        ".extern .func (.param .b32 r) f(.reg .b32 a) .noreturn .abi_preserve 8;\n"
        ".func .attribute(.unified(1, 2)) g { ret; }\n"
        ".alias g2, g;\n"
    )
    module = parse(HEAD + text)
    kernel, declared, other = module.functions["k"], module.functions["f"], module.functions["g"]
    assert (kernel.kind, kernel.linkage, declared.linkage) == ("entry", ("weak",), ("extern",))
    assert kernel.params == (
        Variable("param", "u64", "p", attributes=(".ptr .global .align 1",)),
        Variable("param", "b8", "map", align=64, shape=(128,)),
    )
    assert [(directive.name, directive.ints) for directive in kernel.directives] == [
        (".maxntid", (128, 2, 1)),
        (".minnctapersm", (2,)),
        (".maxnreg", (64,)),
        (".explicitcluster", ()),
        (".reqnctapercluster", (2, 1, 1)),
        (".pragma", ()),
        (".blocksareclusters", ()),
    ]
    assert kernel.directives[5].args == (Text("nounroll"),)
    assert declared.body is None
    assert declared.returns == (Variable("param", "b32", "r"),)
    assert [directive.name for directive in declared.directives] == [".noreturn", ".abi_preserve"]
    assert other.attributes == (".attribute(.unified(1, 2))",)
    assert other.params == ()
    assert module.items[-1] == Directive(".alias", (Name("g2"), Name("g")))


def test_a_definition_stands_for_its_declarations() -> None:
    module = parse(f"{HEAD}.func f(); .func f() {{ ret; }} .func f();")
    assert module.functions["f"].body is not None


def test_module() -> None:
    module = parse(f"{HEAD}.global .u32 x;")
    assert (module.version, module.target, module.address_size) == ((8, 7), ("sm_90a", "debug"), 64)
    assert parse(".version 6.10\n.target sm_70").version == (6, 10)
    assert list(module.variables) == ["x"]
    assert Module.build((8, 7), ("sm_90a", "debug"), (Variable("global", "u32", "x"),)) == module


def test_nested_blocks() -> None:
    found = statements("a; { b; { c; } d; } e; .reg .b32 x;")
    block = Block(found)
    assert [instruction.opcode for instruction in block.instructions()] == ["a", "b", "c", "d", "e"]


def test_places_of_statements() -> None:
    text = f"{HEAD}.entry k() {{\n  L: /* c */ @p  add %r1 ; // d\n  .reg .b32 %r1 , %r2 ;\n}}\n"
    module = parse(text)
    kernel = module.functions["k"]
    assert kernel.body is not None
    nodes: tuple[Node, ...] = (*module.items, *kernel.body.statements)
    assert [node.source_text for node in nodes] == [
        ".version 8.7",
        ".target sm_90a, debug",
        ".address_size 64",
        text[len(HEAD) : -1],
        "L:",
        "@p  add %r1 ;",
        ".reg .b32 %r1",
        "%r2 ;",
    ]
    assert isinstance(kernel, Function)
    assert module.source is not None
    assert module.source.text == text


def test_nodes_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Label("L").name = "M"  # type: ignore[misc]
    assert not hasattr(Label("L"), "__dict__")
