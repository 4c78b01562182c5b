"""Hypothesis strategies: one file for all."""

from __future__ import annotations

import random
import re

from hypothesis import strategies as st

# PTX text ---------------------------------------------------------------------------------------------------
#
# A text is drawn as lists of tokens; blanks and comments are put between them afterwards, so that every place
# where the language allows them is tried. `END_OF_LINE` marks a place where the line must end.

END_OF_LINE = "\n"
Tokens = list[str]

_BLANKS = (
    " ",
    "\t",
    "\n",
    "\r\n",
    "  ",
    "\n\n\t",
    ' // a {comment}; "here\n',
    "/* x; } */",
    "\t/* a\n * b **/ ",
    "\f",
    '\n# 1 "a.cu"\n',
)
_WORDISH = re.compile(r"[\w$%.\"]")
_NAMES = ("%r1", "%rd12", "%p3", "%f0", "foo", "$L__BB0_1", "_Z3addPf", "a$b", "WARP_SZ", "%tid.x", "%r7.b0", "x", "$1")
_OPCODES = (
    "add.s32",
    "ret",
    "mov.b64",
    "ld.global.L1::evict_last.v4.b32",
    "unknown.thing.16x256b::y.x1",
    "bra.uni",
    "call",
    "st.shared::cluster.u32",
)
_TYPES = ("b8", "b16", "b32", "b64", "u32", "s64", "f16x2", "f32", "f64", "pred", "bf16")
_SPACES = ("global", "shared", "const", "local", "reg", "param")

names = st.sampled_from(_NAMES)
plain_names = st.sampled_from([name for name in _NAMES if "." not in name and name != "WARP_SZ"])
integers = st.one_of(
    st.integers(0, 2**64 - 1).map(str),
    st.integers(1, 2**31).map(lambda value: f"-{value}"),
    st.integers(0, 2**64 - 1).map(lambda value: f"0x{value:x}"),
    st.integers(0, 2**32).map(lambda value: f"0X{value:X}U"),
    st.integers(0, 2**16).map(lambda value: f"0b{value:b}"),
    st.integers(0, 2**20).map(lambda value: f"0{value:o}"),
)
floats = st.one_of(
    st.integers(0, 2**32 - 1).map(lambda bits: f"0f{bits:08X}"),
    st.integers(0, 2**64 - 1).map(lambda bits: f"0d{bits:016x}"),
    st.sampled_from(["1.5", "0.", "2e10", "3.25E-4", "-1.0"]),
)
_small = st.integers(0, 512).map(str)


def _listed(items: list[Tokens], opener: str, closer: str) -> Tokens:
    """Token lists between brackets, separated by commas."""
    found = [opener]
    for number, item in enumerate(items):
        found += [","] * (number > 0) + item
    return [*found, closer]


_expressions = st.one_of(
    st.tuples(_small, st.sampled_from(["+", "*", "<<", "|", "==", "-"]), _small).map(list),
    st.tuples(_small, _small).map(lambda pair: ["(", pair[0], "+", pair[1], ")", "*", "2"]),
    _small.map(lambda value: ["~", value]),
    st.tuples(_small, _small).map(lambda pair: [pair[0], "?", pair[1], ":", "7"]),
    _small.map(lambda value: ["(", ".u64", ")", value]),
)
_simple_operands = st.one_of(
    names.map(lambda name: [name]), integers.map(lambda text: [text]), floats.map(lambda text: [text]), st.just(["_"])
)
_vectors = st.lists(_simple_operands, min_size=1, max_size=4).map(lambda items: _listed(items, "{", "}"))
_offsets = st.one_of(
    st.just([]),
    st.tuples(st.just("+"), _small).map(list),
    st.tuples(st.just("+"), st.integers(-99, -1).map(str)).map(list),
)
_addresses = st.one_of(
    st.tuples(plain_names, _offsets).map(lambda parts: ["[", parts[0], *parts[1], "]"]),
    _small.map(lambda value: ["[", value, "]"]),
    st.tuples(plain_names, st.lists(_vectors, min_size=1, max_size=2)).map(
        lambda parts: _listed([[parts[0]], *parts[1]], "[", "]")
    ),
)
operands = st.one_of(
    _simple_operands,
    _simple_operands,
    _vectors,
    _addresses,
    _expressions,
    plain_names.map(lambda name: ["!", name]),
    st.tuples(plain_names, plain_names).map(lambda pair: [pair[0], "|", pair[1]]),
    st.lists(_simple_operands, max_size=3).map(lambda items: _listed(items, "(", ")")),
    st.tuples(st.just("foo"), st.just("+"), _small).map(list),
    st.just(["generic", "(", "foo", ")", "+", "4"]),
    st.tuples(st.just("foo"), _addresses).map(lambda pair: [pair[0], *pair[1]]),
)


@st.composite
def _instructions(draw: st.DrawFn) -> Tokens:
    guard = draw(st.sampled_from(([], [], ["@", "%p1"], ["@", "!", "%p2"], ["@%p3"])))
    items = draw(st.lists(operands, max_size=5))
    return [*guard, draw(st.sampled_from(_OPCODES)), *_listed(items, "", "")[1:-1], ";"]


@st.composite
def _initializers(draw: st.DrawFn, depth: int = 2) -> Tokens:
    if depth and draw(st.booleans()):
        return _listed(draw(st.lists(_initializers(depth - 1), max_size=3)), "{", "}")
    symbols = (["foo"], ["foo", "+", "4"], ["generic", "(", "foo", ")"], ["0xFF00", "(", "generic", "(", "x", ")", ")"])
    return draw(st.one_of(_simple_operands.filter(lambda item: item != ["_"]), st.sampled_from(symbols), _expressions))


@st.composite
def _shapes(draw: st.DrawFn, space: str) -> Tokens:
    shape = [f".{space}"]
    if draw(st.booleans()):
        shape += [".align", draw(st.sampled_from(["1", "4", "16"]))]
    if draw(st.booleans()):
        shape += [draw(st.sampled_from([".v2", ".v4"]))]
    return [*shape, f".{draw(st.sampled_from(_TYPES))}"]


@st.composite
def _variables(draw: st.DrawFn, spaces: tuple[str, ...] = _SPACES) -> Tokens:
    space = draw(st.sampled_from(spaces))
    found = draw(_shapes(space))
    for number in range(draw(st.integers(1, 3))):
        found += [","] * (number > 0) + [draw(plain_names)]
        if space == "reg" and draw(st.booleans()):
            found += ["<", draw(_small), ">"]
        elif space != "reg":
            for size in draw(st.lists(_small, max_size=2)):
                found += ["[", size, "]"]
            if draw(st.booleans()):
                found += ["=", *draw(_initializers())]
    return [*found, ";"]


@st.composite
def _parameters(draw: st.DrawFn, space: str = "param") -> Tokens:
    items: list[Tokens] = []
    for _ in range(draw(st.integers(0, 3))):
        pointer = draw(st.sampled_from(([], [".ptr", ".global", ".align", "1"])))
        size = draw(st.sampled_from(([], ["[", "16", "]"], ["[", "]"])))
        items.append([*draw(_shapes(space)), *pointer, draw(plain_names), *size])
    return _listed(items, "(", ")")


_locations = st.tuples(_small, _small, _small).map(lambda numbers: [".loc", *numbers, END_OF_LINE])
_inlined = st.just([".loc", "1", "2", "3", ",", "function_name", "$L", "+", "4", ",", "inlined_at", "1", "2", "3"])
_statement_directives = st.one_of(
    _locations,
    _inlined,
    st.just([".pragma", '"nounroll"', ";"]),
    st.just(["$tab", ":", ".branchtargets", "$L1", ",", "$L2", ";"]),
    st.just(
        ["proto", ":", ".callprototype", "(", ".param", ".b32", "_", ")", "_", "(", ".param", ".b64", "_", ")", ";"]
    ),
)
_labels = plain_names.map(lambda name: [name, ":"])


@st.composite
def _blocks(draw: st.DrawFn, depth: int = 2) -> Tokens:
    kinds = [_instructions(), _instructions(), _instructions(), _labels, _variables(), _statement_directives]
    if depth:
        kinds.append(_blocks(depth - 1))
    statements = draw(st.lists(st.one_of(kinds), max_size=6))
    return ["{", *(token for statement in statements for token in statement), "}"]


@st.composite
def _functions(draw: st.DrawFn) -> Tokens:
    found: Tokens = list(draw(st.sampled_from(([], [".visible"], [".weak"], [".extern"]))))
    if draw(st.booleans()):
        found += [".entry"]
    else:
        found += [".func", *draw(st.one_of(st.just([]), _parameters("reg")))]
    found += [draw(plain_names), *draw(_parameters())]
    performance = (
        [".maxntid", "128", ",", "1", ",", "1"],
        [".reqntid", "64"],
        [".noreturn"],
        [".pragma", '"x"', ";"],
        [".explicitcluster"],
        [".reqnctapercluster", "2", ",", "1", ",", "1"],
    )
    for directive in draw(st.lists(st.sampled_from(performance), max_size=2)):
        found += directive
    return [*found, *draw(st.one_of(st.just([";"]), _blocks(), _blocks()))]


_SAMPLER = ".global .samplerref s = { addr_mode_0 = wrap , filter_mode = linear } ;"
_SECTION = ".section .debug_str { $L : .b8 1 , 2 \n .b32 .debug_info + 4 \n .b64 $L1 - $L0 \n }"
_module_directives = st.sampled_from(
    (
        [".file", "1", '"C:\\a // b\\"', END_OF_LINE],
        [".file", "2", '"c.cu"', ",", "123", ",", "456", END_OF_LINE],
        [".alias", "foo", ",", "bar", ";"],
        _SECTION.split(" "),
        _SAMPLER.split(" "),
        [".global", ".attribute", "(", ".managed", ")", ".align", "4", ".u32", "m", ";"],
    )
)


def spaced(tokens: Tokens, seed: int, commented: bool = False) -> str:
    """The tokens with blanks and comments: always between two that would run together, elsewhere sometimes.

    `commented` puts a comment before every comma and semicolon.
    """
    choose = random.Random(seed)
    parts: list[str] = []
    last = ""
    for token in tokens:
        if token == END_OF_LINE:
            parts.append(choose.choice(("\n", "\r\n", " // rest\n", "\t\n")))
            last = ""
            continue
        together = bool(last) and bool(_WORDISH.match(last[-1])) and bool(_WORDISH.match(token[0]))
        # A sign beside a comment opener, or beside its like, would be read as another sign.
        together = together or (bool(last) and last[-1] in "<>|&=!/*-+%" and token[0] in "<>|&=!/*-+%")
        if together or choose.random() < 0.4:
            parts.append(choose.choice(_BLANKS))
        if commented and token in (",", ";"):
            parts.append("/**/")
        parts.append(token)
        last = token
    parts.append(choose.choice(("", "\n", " // no newline at the end", "\r\n\r\n")))
    return "".join(parts)


@st.composite
def _modules(draw: st.DrawFn) -> Tokens:
    tokens = [
        ".version",
        draw(st.sampled_from(["8.7", "9.0", "6.10"])),
        ".target",
        draw(st.sampled_from(["sm_90a", "sm_80"])),
    ]
    if draw(st.booleans()):
        tokens += [",", "debug"]
    if draw(st.booleans()):
        tokens += [".address_size", "64"]
    items = st.one_of(_functions(), _functions(), _variables(("global", "const", "shared")), _module_directives)
    for item in draw(st.lists(items, max_size=4)):
        tokens += item
    return tokens


@st.composite
def modules(draw: st.DrawFn) -> str:
    """The text of a PTX module, whatever its blanks and comments."""
    lead = draw(st.sampled_from(("", "//\n// Generated\n//\n\n", "\r\n", "/* c */")))
    return lead + spaced(draw(_modules()), draw(st.integers(0, 2**32)))


@st.composite
def modules_in_two_hands(draw: st.DrawFn) -> tuple[str, str]:
    """One module in two texts that differ in blanks and comments alone; the second is full of comments."""
    tokens, seed = draw(_modules()), draw(st.integers(0, 2**32))
    return spaced(tokens, seed), spaced(tokens, seed + 1, commented=True)
