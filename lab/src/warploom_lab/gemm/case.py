"""Random multiplications: what each is follows from a seed and its number alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from random import Random
from typing import Any

from warploom.kernels.plan import ACCUMULATORS, ACTIVATIONS, RESULTS

_LARGEST = 1536  # along M, N and K
_MOST = 1_500_000_000  # products of a case: float64 takes a second for them
_MOST_ON_MACHINE = 12_000_000  # and of one that the machine does in a few
_WIDEST_ON_MACHINE = 300_000  # elements of its D
_TWO_BYTES = ("f16", "bf16")
_INTEGERS = ("s8", "u8")
_SHARED = ("", "", "a", "b")  # whose matrix is the same for a whole batch
_OUTS = ("", "", "rows", "wide", "between")


@dataclass(frozen=True, slots=True)
class Case:
    """One multiplication with everything that `gemm`, or with `groups` `grouped_gemm`, is asked for.

    `ends` are the ends of the groups. A `sparse` A is given as `compress` has it.

    `common` are the operands that all of a batch share. `row_scales` are "", "row"
    (one factor for each) or "block"; `column_scales` "", "column", "block" (of 128 columns) or "blocks" (of one).
    `a_lies`, `b_lies`, `c_lies` and `out_lies` say how a matrix is cut from memory: "" as tight as may be; "rows" with
    more bytes between rows; "wide" from the middle of a larger one; "between" with the rows of a batch in turn. No
    `out_lies` means no `out`. `tile` and `share` choose among the tiles of the cost model, and the ways to deal them
    out, 0 the first and almost 1 the last; below 0 the model's choice stands.
    """

    seed: int
    number: int
    a: str
    b: str
    sums: str
    result: str
    m: int
    n: int
    k: int
    batch: int = 0
    common: str = ""
    ends: tuple[int, ...] = ()
    a_major: str = "k"
    b_major: str = "k"
    alpha: float = 1.0
    beta: float = 1.0
    added: bool = False
    row_scales: str = ""
    column_scales: str = ""
    scales_batched: bool = False
    bias: str = ""
    activation: str = ""
    fast: bool = False
    sparse: bool = False
    a_lies: str = ""
    b_lies: str = ""
    c_lies: str = ""
    out_lies: str = ""
    tile: float = -1.0
    share: float = -1.0

    def __str__(self) -> str:
        sizes = f"{self.m}x{self.n}x{self.k}" + (f" times {self.batch}" if self.batch else "")
        return f"number {self.number}, {sizes}: {'; '.join(self.features)}"

    @property
    def groups(self) -> int:
        """How many groups its rows go by; 0 for none."""
        return len(self.ends)

    @property
    def kind(self) -> str:
        """Its types: `e4m3 by e5m2, sums f32`."""
        return f"{self.a} by {self.b}, sums {self.sums}"

    @property
    def blocked(self) -> bool:
        """Whether it has factors of blocks of K."""
        return self.row_scales == "block" or self.column_scales.startswith("block")

    @property
    def work(self) -> int:
        """Products."""
        return self.m * self.n * self.k * max(self.batch, 1)

    @property
    def small(self) -> bool:
        """Whether the abstract machine has it in a few seconds."""
        return self.work <= _MOST_ON_MACHINE and self.work <= self.k * _WIDEST_ON_MACHINE

    @property
    def features(self) -> tuple[str, ...]:
        """What it has, in words that summaries count."""
        sizes = self.ends and [end - begin for begin, end in pairwise((0, *self.ends))]
        lies = (("A", self.a_lies), ("B", self.b_lies), ("C", self.c_lies), ("out", self.out_lies))
        said = {
            self.kind: True,
            f"result {self.result}": True,
            f"majors {self.a_major}{self.b_major}": True,
            "fast": self.fast,
            "sparse A": self.sparse,
            "batch": bool(self.batch),
            **{f"{name.upper()} for all of a batch": name in self.common for name in "abc"},
            "groups": bool(self.ends),
            "an empty group": 0 in sizes if sizes else False,
            "rows of no group": bool(self.ends) and self.ends[-1] < self.m,
            "alpha": self.alpha != 1.0,
            "C": self.added,
            "beta": self.added and self.beta != 1.0,
            f"row scales by {self.row_scales}": bool(self.row_scales),
            f"column scales by {self.column_scales}": bool(self.column_scales),
            "scales of each batch": self.scales_batched,
            f"bias along {self.bias}": bool(self.bias),
            f"activation {self.activation}": bool(self.activation),
            **{f"{name} lies {how}": bool(how) for name, how in lies},
            "out": bool(self.out_lies),
            "a chosen tile": self.tile >= 0,
            "a chosen share": self.share >= 0,
            "a size of 1": 1 in (self.m, self.n, self.k),
            "odd sizes": bool(self.m % 2 and self.n % 2 and self.k % 2),
            "more than a tile": self.m > 192 and self.n > 256,
        }
        return tuple(name for name, there in said.items() if there)


def case(seed: int, number: int) -> Case:
    """The case of a number: the same on every machine."""
    draw = Random(f"gemm {seed} {number}")
    maker = draw.choices((_plain, _batched, _grouped), (5, 3, 2))[0]
    return maker(draw, seed, number)


def cases(seed: int, count: int) -> Iterator[Case]:
    """The cases from number 0 on."""
    return (case(seed, number) for number in range(count))


def _size(draw: Random) -> int:
    which = draw.choices(("one", "few", "some", "even", "many"), (1, 2, 2, 2, 3))[0]
    if which == "one":
        return 1
    if which == "even":
        return 64 * draw.randint(1, _LARGEST // 64)
    low, high = {"few": (2, 16), "some": (2, 300), "many": (100, _LARGEST)}[which]
    return draw.randint(low, high)


def _sizes(draw: Random, batch: int) -> tuple[int, int, int]:
    m, n, k = (_size(draw) for _ in range(3))
    while m * n * k * max(batch, 1) > _MOST:
        m, n = ceil(m / 2), ceil(n / 2)
    return m, n, k


def _types(draw: Random) -> tuple[str, str, str]:
    """A, B and the sums: each wider type as often as all pairs of 8-bit ones."""
    family = draw.choice([("bf16",), ("f16",), ("tf32",), ("e4m3", "e5m2"), _INTEGERS])
    pairs = [pair for pair in ACCUMULATORS if pair[0] in family]
    a, b = draw.choice(pairs)
    return a, b, draw.choice(ACCUMULATORS[a, b])


def _plain(draw: Random, seed: int, number: int, batch: int = 0) -> Case:
    m, n, k = _sizes(draw, batch)
    a, b, sums = _types(draw)
    common = draw.choice(_SHARED) if batch else ""
    result = draw.choice(RESULTS[sums])
    free = a in _TWO_BYTES
    rows, columns, by_block = _scales(draw, sums, result)
    bias = draw.choice(("", "row", "column")) if result != "s32" else ""
    added = result != "s32" and draw.random() < 0.3
    if batch and added and draw.random() < 0.4:
        common += "c"
    lies = ("", "", "rows", "wide", "between") if batch else ("", "", "rows", "wide")
    sparse = draw.random() < 0.15
    return Case(
        seed, number, a, b, sums, result, m, n, k, batch, common, sparse=sparse,
        a_major=draw.choice("km") if free and not sparse else "k",
        b_major=draw.choice("kn") if free else "k",
        row_scales=rows, column_scales=columns,
        scales_batched=bool(batch) and by_block and draw.random() < 0.5,
        bias=bias, added=added,
        a_lies="" if sparse else draw.choice(lies if "a" not in common else lies[:4]),
        b_lies=draw.choice(lies if "b" not in common else lies[:4]),
        c_lies=draw.choice(lies if "c" not in common else lies[:4]) if added else "",
        out_lies=draw.choice(_OUTS if batch else _OUTS[:4]),
        **_rest(draw, a, result, added),
    )  # fmt: skip


def _batched(draw: Random, seed: int, number: int) -> Case:
    return _plain(draw, seed, number, draw.randint(1, 5))


def _grouped(draw: Random, seed: int, number: int) -> Case:
    m, n, k = _sizes(draw, 0)
    groups = draw.choice((1, draw.randint(2, 9), draw.randint(2, 40)))
    a, b, sums = _types(draw)
    result = draw.choice(RESULTS[sums])
    ends = sorted(draw.choice((0, m, draw.randint(0, m), draw.randint(0, m))) for _ in range(groups))
    free, epilogue = a in _TWO_BYTES, result != "s32"
    added = epilogue and draw.random() < 0.3
    lies = ("", "", "rows", "wide")
    return Case(
        seed, number, a, b, sums, result, m, n, k,
        ends=tuple(ends),
        b_major=draw.choice("kn") if free else "k",
        row_scales="row" if epilogue and draw.random() < 0.3 else "",
        column_scales="column" if epilogue and draw.random() < 0.3 else "",
        bias="column" if epilogue and draw.random() < 0.4 else "",
        added=added,
        a_lies=draw.choice(lies), b_lies=draw.choice((*lies, "between")),
        c_lies=draw.choice(lies) if added else "",
        out_lies=draw.choice(_OUTS[:4]),
        **_rest(draw, a, result, added),
    )  # fmt: skip


def _scales(draw: Random, sums: str, result: str) -> tuple[str, str, bool]:
    """Which factors rows and columns have, and whether some are of blocks."""
    if result == "s32":
        return "", "", False
    by_block = ("block", "blocks") if sums == "f32" else ()
    rows = draw.choice(("", "", "", "row", *by_block[:1]))
    columns = draw.choice(("", "", "", "column", *by_block))
    return rows, columns, "block" in rows or "block" in columns


def _rest(draw: Random, a: str, result: str, added: bool) -> dict[str, Any]:
    """What every case may have."""
    epilogue = result != "s32"
    chosen = draw.random() < 0.4
    alpha = draw.choice((1.0, 1.0, 0.5, -1.25, 0.3)) if epilogue else 1.0
    if a in _INTEGERS and result == "f16":
        alpha = 2.0**-14  # so that f16 has them
    return {
        "alpha": alpha,
        "beta": draw.choice((1.0, 0.5, -2.0)) if added else 1.0,
        "activation": draw.choice((*ACTIVATIONS, "", "")) if epilogue else "",
        "fast": a in ("e4m3", "e5m2") and draw.random() < 0.5,
        "tile": draw.random() if chosen else -1.0,
        "share": draw.random() if chosen else -1.0,
    }
