"""Reads the Markdown suites of `tests/cases` and wraps their snippets in kernels; their README rules."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np

from warploom.isa.model.types import TYPES

PAGES = Path(__file__).parent / "cases"

_FENCE = re.compile(r"^```ptx +(?P<verb>\w+)(?P<words>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_POOLS = {"p": ("pred", 16), "h": ("b16", 16), "r": ("b32", 64), "f": ("f32", 64), "d": ("f64", 16), "rd": ("b64", 64)}
_FLOATS: dict[str, np.dtype] = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
_CANONICAL_NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0xFFF8 << 48}
ANYTHING = "*"
ANY_NAN = "nan"


@dataclass(frozen=True)
class Column:
    """A register of the table's head."""

    register: str
    type: str

    @property
    def bits(self) -> int:
        return TYPES[self.type].bits

    def pattern(self, word: str) -> int:
        """The bits of a value."""
        if word.startswith("0x") and "p" not in word:
            value = int(word, 16)
            assert value < 1 << self.bits, f"{word} has more than {self.bits} bits"
            return value
        if self.type in _FLOATS:
            return self._float_pattern(word)
        value = int(word)
        low, high = (-(1 << self.bits - 1), 1 << self.bits - 1) if self.type[0] == "s" else (0, 1 << self.bits)
        assert low <= value < high, f"{word} is not in {self.type}"
        return value % (1 << self.bits)

    def _float_pattern(self, word: str) -> int:
        dtype = _FLOATS[self.type]
        if word == ANY_NAN:
            return _CANONICAL_NAN[self.type]
        exact = float.fromhex(word) if "0x" in word else float(word)
        number = np.array([exact]).astype(dtype)
        if np.isfinite(exact):
            written = Fraction(exact) if "0x" in word else Fraction(word)
            assert Fraction(float(number[0])) == written, f"{word} is not exact in {self.type}"
        return int(number.view(f"u{dtype.itemsize}")[0])

    def holds(self, word: str, pattern: int) -> bool:
        """Whether a result is what a word of a row says."""
        if word == ANYTHING:
            return True
        if word == ANY_NAN:
            dtype = _FLOATS[self.type]
            return bool(np.isnan(np.array([pattern], f"u{dtype.itemsize}").view(dtype).astype(np.float64))[0])
        return self.pattern(word) == pattern


@dataclass(frozen=True)
class Case:
    """One fence of a page."""

    page: str
    heading: str
    line: int
    verb: str
    words: tuple[str, ...]
    text: str
    options: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.page}:{self.line}: {self.heading}"

    @property
    def target(self) -> str:
        return self.options.get("target", "sm_90a")

    @property
    def block(self) -> int:
        return int(self.options.get("block", "32"))

    @property
    def shared(self) -> int:
        return int(self.options.get("shared", "0"))

    @property
    def comments(self) -> list[str]:
        return [line.partition("//")[2].strip() for line in self.text.splitlines() if line.startswith("//")]

    def table(self) -> tuple[list[Column], list[Column], list[tuple[list[str], list[str]]]]:
        """Input columns, result columns, and the rows of words under them."""
        head = next(k for k, comment in enumerate(self.comments) if "=>" in comment)
        left, _, right = self.comments[head].partition("=>")
        inputs, results = ([_column(word) for word in side.split()] for side in (left, right))
        rows: list[tuple[list[str], list[str]]] = []
        for comment in self.comments[head + 1 :]:
            words = comment.replace("=>", " ").split()
            assert len(words) == len(inputs) + len(results), f"{self.id}: row {comment!r} does not fit the head"
            rows.append((words[: len(inputs)], words[len(inputs) :]))
        assert 0 < len(rows) <= self.block, f"{self.id}: {len(rows)} rows for {self.block} threads"
        return inputs, results, rows

    def module(self, inputs: list[Column] = [], results: list[Column] = []) -> str:  # noqa: B006
        """The text as a module: taken whole, or wrapped in an entry that loads inputs and stores results."""
        if ".version" in self.text:
            return self.text
        return "\n".join(
            [
                f".version {self.options.get('ptx', '9.0')}",
                f".target {self.target}",
                ".address_size 64",
                ".visible .entry snippet(.param .u64 inputs, .param .u64 results)",
                "{",
                *_declarations([*inputs, *results]),
                *(line for k, column in enumerate(inputs) for line in _load(column, k * self.block * 8)),
                self.text.rstrip("\n"),
                *(line for k, column in enumerate(results) for line in _store(column, k * self.block * 8)),
                "ret;",
                "}",
                "",
            ]
        )


def _column(word: str) -> Column:
    register, _, type_word = word.partition(":")
    return Column(register, type_word)


def _register_type(column: Column) -> str:
    bits = TYPES[column.type].bits
    return column.type if column.type in ("pred", "f32", "f64") else f"b{bits}"


def _declarations(columns: list[Column]) -> list[str]:
    lines = [f".reg .{type_word} %{name}<{count}>;" for name, (type_word, count) in _POOLS.items()]
    pools = re.compile(rf"%({'|'.join(_POOLS)})\d+")
    declared: set[str] = set()
    for column in columns:
        if column.register not in declared and not pools.fullmatch(column.register):
            lines.append(f".reg .{_register_type(column)} {column.register};")
            declared.add(column.register)
    return [
        *lines,
        ".reg .b64 %inputs, %results;",
        ".reg .b32 %thread, %truth;",
        "ld.param.u64 %inputs, [inputs];",
        "ld.param.u64 %results, [results];",
        "mov.u32 %thread, %tid.x;",
        "mad.wide.u32 %inputs, %thread, 8, %inputs;",
        "mad.wide.u32 %results, %thread, 8, %results;",
    ]


def _load(column: Column, offset: int) -> list[str]:
    if column.type == "pred":
        return [f"ld.global.b32 %truth, [%inputs+{offset}];", f"setp.ne.u32 {column.register}, %truth, 0;"]
    return [f"ld.global.{_register_type(column)} {column.register}, [%inputs+{offset}];"]


def _store(column: Column, offset: int) -> list[str]:
    if column.type == "pred":
        return [f"selp.b32 %truth, 1, 0, {column.register};", f"st.global.b32 [%results+{offset}], %truth;"]
    return [f"st.global.{_register_type(column)} [%results+{offset}], {column.register};"]


def read_page(path: Path) -> list[Case]:
    """The cases of a page, in order."""
    text = path.read_text(encoding="utf-8")
    headings = [
        (found.start(), found[1]) for found in _HEADING.finditer(re.sub(r"```.*?```", _blanks, text, flags=re.DOTALL))
    ]
    cases: list[Case] = []
    for fence in _FENCE.finditer(text):
        heading = next((name for start, name in reversed(headings) if start < fence.start()), path.stem)
        words = fence["words"].split()
        options = dict(word.split("=", 1) for word in words if "=" in word)
        plain = tuple(word for word in words if "=" not in word)
        line = text.count("\n", 0, fence.start()) + 1
        cases.append(Case(path.stem, heading, line, fence["verb"], plain, fence["text"], options))
    return cases


def _blanks(fence: re.Match[str]) -> str:
    return " " * len(fence[0])


def all_cases() -> list[Case]:
    """The cases of every page in the folder."""
    return [case for path in sorted(PAGES.glob("*.md")) for case in read_page(path)]
