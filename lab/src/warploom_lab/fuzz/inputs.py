"""Mutated inputs for the fuzzer.

Most inputs are a module head with a few statements. Some are whole modules, and a few contain many copies of one text.
"""

import random
import re
from pathlib import Path

from warploom.isa.model.form import forms
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.isa.model.types import TYPES
from warploom.ptx import Block, Function, PtxSyntaxError, parse
from warploom_lab.ptxas.points import TARGETS, VERSIONS
from warploom_lab.ptxas.probe import REGISTERS

_TOKEN = re.compile(r"[\w$%]+|\s+|.", re.DOTALL)
_STATEMENT = re.compile(r"[^;{}]*[;{}]?")
_REGISTER = re.compile(r"%([a-z]+)\d")
_SMALL = 3_000  # characters; longer corpus files provide statements only

_NUMBERS = (
    *("0", "1", "-1", "7", "08", "0x", "0xFFFFFFFFFFFFFFFF", "18446744073709551616", "-9223372036854775809"),
    *("0b102", "1e999", "1e-999", ".5e", "0f7FC00000", "0d7FF8", "1.2.3", "2147483648U", "9" * 400, "00000"),
    *("(1 << 63)", "(1 / 0)", "(7 % 0)", "~0", "WARP_SZ", "3 ? 4 : 5", "1" + "0" * 4400),
)
_PUNCTUATION = (
    *("{", "}", "[", "]", "(", ")", ";", ",", ":", "::", "|", "!", "@", "+", "-", "<", ">", "=", ".", "..", "%"),
    *('"', "/*", "*/", "//", "\\", "#", "_", "$", "'", "?", "&", "\n", "\r", "\t", "\0", "\x7f", "\x1a"),
)
_UNUSUAL_CHARACTERS = ("é", "µ", "\ufeff", "\u2028", "\u200b", "\u0661", "\ud800", "\U0001f600", "％", "K", "ſ", "²")
_DIRECTIVES = (
    *(".reg", ".param", ".shared", ".global", ".const", ".local", ".align", ".ptr", ".v2", ".v4", ".entry"),
    *(".func", ".visible", ".extern", ".weak", ".common", ".maxntid", ".reqntid", ".maxnreg", ".minnctapersm"),
    *(".pragma", ".loc", ".file", ".section", ".branchtargets", ".callprototype", ".calltargets", ".alias"),
    *(".attribute", ".managed", ".version", ".target", ".address_size", ".noreturn", ".reqnctapercluster"),
)
_NESTED = (
    *(("(", ")"), ("{", "}"), ("[", "]"), ("-", ""), ("!", ""), ("~(", ")"), ("0 ? ", ": 1"), ("{a=", "}")),
    *(("{ ", " }"), ("<", ">"), ("0xFF(", ")"), ("(.s64)", ""), ("1 + (", ")"), ("{ L: ", " }"), ("@", "")),
)
_REPEATED = (
    *(" %r1,", "\n", "a: ", "%q; ", "1+", "0", "add.s32 %q, %r, 1;\n", '"a"', "1, ", ", x", "/* */", "{}", "x."),
    *(".b8 1\n", "mov.b32 %r1, %nowhere;\n", ".reg .b32 x;", ".param .b32 p, ", "bra L;\n", "L", "|%r1", "@%p "),
)
_TEMPLATES = (
    *("{}", ".global .b32 a[4] = {};", ".global .b32 a[{}];", ".entry e() {{ mov.b32 %r1, {}; }}", "// {}"),
    *(".entry e() {{ {} }}", ".entry e() {{ add{} %r1; }}", ".entry e({}) {{ ret; }}", ".entry {}() {{ }}"),
    *(".entry e() {{ .reg .b32 %r<9>; mma.sync.aligned.m16n8k16{} %r1; }}", ".section .x {{ {} }}", "/* {} */"),
    *(".entry e() {{ .reg .b32 {}; }}", ".entry e() {{ call {}; }}", '.file 1 "{}"', ".entry e() .maxntid {} {{ }}"),
    *(".entry e() {{ ld.global.b32 %r1, [{}]; }}", ".entry e() {{ {}add.s32 %r1; }}", ".target sm_90a{}"),
    *(".entry e() {{ L: .branchtargets {}; }}", ".entry e() {{ .reg .b32 %r<{}>; }}", ".version {}"),
)


class Inputs:
    """Sequence of the inputs of a seed. `inputs[n]` is the same text every time."""

    def __init__(self, corpus: Path, seed: int) -> None:
        self._seed = seed
        self._texts: list[str] = []
        self._statements: list[str] = []
        self._declarations: list[str] = []
        for path in sorted(corpus.rglob("*.ptx")):
            self._add(path.read_bytes().decode(errors="surrogatepass"))
        self._operands = sorted({part for text in self._statements for part in _operands(text)})
        words = {word for form in forms() for known in form.vocabulary.values() for word in known}
        words |= {word.literal for form in forms() for word in form.syntax.words}
        self._words = sorted(words | TYPES.keys() | {"", "sync", "aligned", "x" * 300})
        self._names = sorted({*SPECIAL_REGISTERS, "smem", "%r0", "%nowhere", "L0", "_", "WARP_SZ", "generic"})

    def __getitem__(self, number: int) -> str:
        chance = random.Random(self._seed << 40 | number)
        kind = chance.random()
        if kind < 0.80:
            text = self._few_statements(chance)
        elif kind < 0.92:
            text = self._with_declarations(chance)
        elif kind < 0.995:
            text = self._mutate_characters(chance, chance.choice(self._texts))
        else:
            text = self._huge(chance)
        # `parse` and `check` take a text without a newline for a path.
        return text if text.endswith("\n") else text + "\n"

    # Material -------------------------------------------------------------------------------------------

    def _add(self, text: str) -> None:
        """Add the statements and declarations of a corpus file to the material for inputs."""
        if len(text) < _SMALL:
            self._texts.append(text)
        try:
            module = parse(text)
        except PtxSyntaxError:
            self._statements += [part.strip() for part in _STATEMENT.findall(text) if part.strip()][:20]
            return
        self._declarations += [_text_of(item, text) for item in module.items[3:] if not isinstance(item, Function)]
        for item in module.items:
            if isinstance(item, Function):
                self._declarations.append(_text_of(item, text).partition("{")[0] + "{ ret; }")
                if item.body is not None:
                    self._statements += [part for part in _statements(item.body, text) if len(part) < _SMALL]

    def _head(self, chance: random.Random) -> str:
        version = chance.choice(VERSIONS) if chance.random() < 0.2 else (9, 1)
        target = chance.choice(TARGETS) if chance.random() < 0.4 else "sm_90a"
        size = ".address_size 64\n" if chance.random() < 0.9 else ""
        return f".version {version[0]}.{version[1]}\n.target {target}\n{size}"

    # Kinds of inputs ------------------------------------------------------------------------------------

    def _few_statements(self, chance: random.Random) -> str:
        """Return a kernel of a few statements with one or more mutations."""
        found = [chance.choice(self._statements) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
        declared = "".join(
            f".reg .{REGISTERS[prefix]} %{prefix}<99>;"
            for prefix in dict.fromkeys(_prefixes(found))
            if prefix in REGISTERS
        )
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            at = chance.randrange(len(found))
            found[at] = self._mutate_statement(chance, found[at])
        text = f"{self._head(chance)}.entry e(){{{declared}\n{chr(10).join(found)}\nL0: ret; }}"
        return self._mutate_characters(chance, text) if chance.random() < 0.1 else text

    def _with_declarations(self, chance: random.Random) -> str:
        """Return a module with declarations, one of them mutated, and a kernel of one statement."""
        found = [chance.choice(self._declarations) for _ in range(chance.randint(1, 3))]
        at = chance.randrange(len(found))
        for _ in range(chance.randint(1, 3)):
            found[at] = chance.choice((Inputs._mutate_tokens, Inputs._mutate_tokens, Inputs._splice))(
                self, chance, found[at]
            )
        body = chance.choice(self._statements)
        return f"{self._head(chance)}{chr(10).join(found)}\n.entry e() {{ {body} }}"

    def _huge(self, chance: random.Random) -> str:
        """Return many copies of a short text, nested or in sequence."""
        count = chance.choice((65, 100, 1000, 5000))
        if chance.random() < 0.5:
            opener, closer = chance.choice(_NESTED)
            filling = opener * count + "1" + closer * count
        else:
            known = (
                self._statements,
                self._declarations,
                self._words,
                _PUNCTUATION,
                _UNUSUAL_CHARACTERS,
                _NUMBERS,
                _REPEATED,
            )
            piece = chance.choice(("", ".", " ", "x")) + chance.choice(chance.choice(known))
            numbered = chance.random() < 0.3
            filling = "".join(f"{piece}{k}" for k in range(count)) if numbered else piece * count
        return self._head(chance) + chance.choice(_TEMPLATES).format(filling)

    # Mutations of a statement ---------------------------------------------------------------------------

    def _mutate_statement(self, chance: random.Random, text: str) -> str:
        mutations = (
            *(self._mutate_word, self._mutate_word, self._mutate_word),
            *(self._mutate_operand, self._mutate_operand, self._mutate_operand),
            *(self._mutate_tokens, self._mutate_tokens),
            *(self._rearrange, self._splice, self._mutate_characters),
        )
        return chance.choice(mutations)(chance, text)

    def _mutate_word(self, chance: random.Random, text: str) -> str:
        """Replace, insert, remove, repeat or move one word of the opcode of a statement."""
        opcode, blank, rest = text.partition(" ")
        words = opcode.split(".")
        at = chance.randrange(len(words))
        match chance.randrange(6):
            case 0 | 1:
                words[at] = chance.choice(self._words)
            case 2:
                words.insert(at + 1, chance.choice(self._words))
            case 3:
                del words[at]
            case 4:
                words.insert(at, words[at])
            case _:
                other = chance.randrange(len(words))
                words[at], words[other] = words[other], words[at]
        return ".".join(words) + blank + rest

    def _mutate_operand(self, chance: random.Random, text: str) -> str:
        """Replace, insert, remove, repeat or move one operand of a statement."""
        opcode, _, rest = text.rstrip(";").partition(" ")
        parts = rest.split(", ") if rest else [""]
        at = chance.randrange(len(parts))
        match chance.randrange(7):
            case 0 | 1:
                parts[at] = chance.choice(self._operands)
            case 2:
                parts.insert(at, chance.choice(self._operands))
            case 3:
                del parts[at]
            case 4:
                parts.insert(at, parts[at])
            case 5:
                parts[at] = chance.choice(chance.choice((_NUMBERS, self._names)))
            case _:
                other = chance.randrange(len(parts))
                parts[at], parts[other] = parts[other], parts[at]
        return f"{opcode} {', '.join(parts)};"

    def _mutate_tokens(self, chance: random.Random, text: str) -> str:
        """Remove, repeat, exchange, replace or insert tokens of a text."""
        tokens = _TOKEN.findall(text) or [""]
        at, other = chance.randrange(len(tokens)), chance.randrange(len(tokens))
        match chance.randrange(6):
            case 0:
                del tokens[at : at + chance.choice((1, 1, 2, 5))]
            case 1:
                tokens.insert(at, tokens[at])
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at] = self._random_token(chance)
            case 4:
                tokens.insert(at, self._random_token(chance))
            case _:
                tokens[at] = tokens[other]
        return "".join(tokens)

    def _random_token(self, chance: random.Random) -> str:
        return chance.choice(
            chance.choice(
                (self._words, self._names, self._operands, _NUMBERS, _PUNCTUATION, _DIRECTIVES, _UNUSUAL_CHARACTERS)
            )
        )

    def _splice(self, chance: random.Random, text: str) -> str:
        other = chance.choice(chance.choice((self._statements, self._declarations)))
        return text[: chance.randint(0, len(text))] + other[chance.randint(0, len(other)) :]

    def _rearrange(self, chance: random.Random, text: str) -> str:
        other = chance.choice(self._statements)
        made = (
            f"{text}\n{other}",
            f"{text} {text}",
            f"{{ {text} }}",
            f"@%p1 {text}",
            f"@!%r1 {text}",
            f"L0: {text}",
            "",
        )
        return chance.choice((*made, f"{{ {text}", f"{text} }}", f"{text[:-1]}\n{other}", f".reg .b32 x; {text}"))

    def _mutate_characters(self, chance: random.Random, text: str) -> str:
        """Remove, repeat, replace or insert a few characters, or truncate the text."""
        for _ in range(chance.choice((1, 1, 2, 3, 8))):
            at = chance.randint(0, len(text))
            match chance.randrange(5):
                case 0:
                    text = text[:at] + text[at + chance.choice((1, 1, 3, 20)) :]
                case 1:
                    text = text[:at] + text[at : at + chance.choice((1, 10, 80))] * 2 + text[at:]
                case 2:
                    text = text[:at] + chr(chance.randrange(128)) + text[at + 1 :]
                case 3:
                    text = text[:at] + self._random_token(chance) + text[at:]
                case _:
                    text = (
                        text[:at] if chance.random() < 0.3 else text[:at] + chance.choice(_PUNCTUATION) + text[at + 1 :]
                    )
        return text


def _text_of(item: object, text: str) -> str:
    span = getattr(item, "span", None)
    return "" if span is None else text[span.start : span.end]


def _statements(block: Block, text: str) -> list[str]:
    found: list[str] = []
    for statement in block.statements:
        if isinstance(statement, Block):
            found += _statements(statement, text)
        found.append(_text_of(statement, text))
    return found


def _operands(statement: str) -> list[str]:
    return [part.strip() for part in statement.rstrip(";").partition(" ")[2].split(", ")][:12]


def _prefixes(statements: list[str]) -> list[str]:
    return [prefix for text in statements for prefix in _REGISTER.findall(text)]
