"""Random calls of `gemm` and `grouped_gemm`."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from random import Random
from typing import Any

from warploom.kernels.ampere.plan import BLOCK_TARGETS
from warploom.kernels.blackwell import plan as blackwell
from warploom.kernels.hopper.plan import HOPPER
from warploom.kernels.plan import ACCUMULATORS, ACTIVATIONS, BLOCK_FORMATS, RESULTS

_LARGEST = 1536  # of M, N and K
_MOST = 1_500_000_000  # products in a case, for which float64 takes about a second
_MOST_EMULATED = 12_000_000  # products of a case that the emulator runs in a few seconds
_LARGEST_EMULATED = 300_000  # elements of D in a case that the emulator runs
_LARGEST_ON_TARGET = (520, 400, 900)  # M, N and K of a case that the sanitizer watches
_TWO_BYTES = ("f16", "bf16")
_INTEGERS = ("s8", "u8")
_SHARED = ("", "", "a", "b")  # operands that all matrices of a batch share
_OUTS = ("", "", "rows", "wide", "between")


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments of one call of `gemm`, or of `grouped_gemm` if the case has groups.

    `row_scales` is "", "row" (one factor for each row) or "block" (one for each row and block of 128 elements along K).
    `column_scales` is "", "column" (one factor for each column), "block" (one for each 128 columns and each block) or
    "blocks" (one for each column and each block).

    The storage of a matrix is "" (dense), "rows" (padding between rows), "wide" (the middle of a larger matrix) or
    "between" (the rows of the matrices of a batch are interleaved). An empty `out_storage` means that no `out` is
    passed.

    `target` is the target of the kernel. If `scaling` is the name of a block format, the operands have scale factors.

    `tile` selects one of the tiles of the cost model and `share` one of its schedules: 0 is the first and almost 1 the
    last. A negative value keeps the choice of the cost model.
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
    common: str = ""  # operands that all matrices of a batch share
    ends: tuple[int, ...] = ()  # row numbers at which the groups end
    a_major: str = "k"
    b_major: str = "k"
    alpha: float = 1.0
    beta: float = 1.0
    added: bool = False
    row_scales: str = ""
    column_scales: str = ""
    scales_batched: bool = False  # each matrix of a batch has its own factors
    bias: str = ""
    activation: str = ""
    fast: bool = False
    sparse: bool = False
    a_storage: str = ""
    b_storage: str = ""
    c_storage: str = ""
    out_storage: str = ""
    tile: float = -1.0
    share: float = -1.0
    target: str = HOPPER
    scaling: str = ""

    def __str__(self) -> str:
        sizes = f"{self.m}x{self.n}x{self.k}" + (f" times {self.batch}" if self.batch else "")
        return f"number {self.number}, {sizes}: {'; '.join(self.features)}"

    @property
    def groups(self) -> int:
        """Number of groups of rows, or 0 for a call of `gemm`."""
        return len(self.ends)

    @property
    def kind(self) -> str:
        """Operand and accumulator types, such as `e4m3 by e5m2, sums f32`."""
        return f"{self.scaling}{' of ' if self.scaling else ''}{self.a} by {self.b}, sums {self.sums}"

    @property
    def blocked(self) -> bool:
        """True if some scale factors belong to blocks along K."""
        return self.row_scales == "block" or self.column_scales.startswith("block")

    @property
    def work(self) -> int:
        """Number of products of two elements."""
        return self.m * self.n * self.k * max(self.batch, 1)

    @property
    def small(self) -> bool:
        """True if the emulator runs the case in a few seconds."""
        return self.work <= _MOST_EMULATED and self.work <= self.k * _LARGEST_EMULATED

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that the case uses."""
        sizes = self.ends and [end - begin for begin, end in pairwise((0, *self.ends))]
        storages = (("A", self.a_storage), ("B", self.b_storage), ("C", self.c_storage), ("out", self.out_storage))
        features = {
            self.kind: True,
            f"result {self.result}": True,
            f"majors {self.a_major}{self.b_major}": True,
            "fast": self.fast,
            "sparse A": self.sparse,
            "batch": bool(self.batch),
            **{f"{name.upper()} shared by the batch": name in self.common for name in "abc"},
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
            **{f"{name} stored {how}": bool(how) for name, how in storages},
            "out": bool(self.out_storage),
            "a chosen tile": self.tile >= 0,
            "a chosen share": self.share >= 0,
            "a size of 1": 1 in (self.m, self.n, self.k),
            "odd sizes": bool(self.m % 2 and self.n % 2 and self.k % 2),
            "more than a tile": self.m > 192 and self.n > 256,
        }
        return tuple(name for name, present in features.items() if present)


def case(seed: int, number: int, target: str = HOPPER) -> Case:
    """Return the case with a number for a target. The case is equal on every computer."""
    if target != HOPPER:
        return _on_target(Random(f"gemm {seed} {number} {target}"), seed, number, target)
    draw = Random(f"gemm {seed} {number}")
    maker = draw.choices((_plain, _batched, _grouped), (5, 3, 2))[0]
    return maker(draw, seed, number)


def cases(seed: int, count: int) -> Iterator[Case]:
    """Return an iterator over the first `count` cases of a seed."""
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
    """Return random types of A, B and the accumulator."""
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
    storages = ("", "", "rows", "wide", "between") if batch else ("", "", "rows", "wide")
    sparse = draw.random() < 0.15
    return Case(
        seed, number, a, b, sums, result, m, n, k, batch, common, sparse=sparse,
        a_major=draw.choice("km") if free and not sparse else "k",
        b_major=draw.choice("kn") if free else "k",
        row_scales=rows, column_scales=columns,
        scales_batched=bool(batch) and by_block and draw.random() < 0.5,
        bias=bias, added=added,
        a_storage="" if sparse else draw.choice(storages if "a" not in common else storages[:4]),
        b_storage=draw.choice(storages if "b" not in common else storages[:4]),
        c_storage=draw.choice(storages if "c" not in common else storages[:4]) if added else "",
        out_storage=draw.choice(_OUTS if batch else _OUTS[:4]),
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
    storages = ("", "", "rows", "wide")
    return Case(
        seed, number, a, b, sums, result, m, n, k,
        ends=tuple(ends),
        b_major=draw.choice("kn") if free else "k",
        row_scales="row" if epilogue and draw.random() < 0.3 else "",
        column_scales="column" if epilogue and draw.random() < 0.3 else "",
        bias="column" if epilogue and draw.random() < 0.4 else "",
        added=added,
        a_storage=draw.choice(storages), b_storage=draw.choice((*storages, "between")),
        c_storage=draw.choice(storages) if added else "",
        out_storage=draw.choice(_OUTS[:4]),
        **_rest(draw, a, result, added),
    )  # fmt: skip


def _on_target(draw: Random, seed: int, number: int, target: str) -> Case:
    """Return a case for a kernel without the features that only the Hopper kernel has."""
    one = draw.choice((_plain, _plain, _batched))(draw, seed, number)
    while one.a in _INTEGERS and target == blackwell.TARGETS[1]:  # sm_103a has no integer multiplications
        one = _plain(draw, seed, number)
    m, n, k = (1 + size % most for size, most in zip((one.m, one.n, one.k), _LARGEST_ON_TARGET, strict=True))
    one = replace(
        one, m=m, n=n, k=k, batch=min(one.batch, 2), sparse=False, scales_batched=False, fast=False, target=target,
        row_scales=one.row_scales.replace("block", ""), share=-1.0,
        column_scales=one.column_scales if one.column_scales == "column" else "",
    )  # fmt: skip
    if target not in (*blackwell.TARGETS, *BLOCK_TARGETS) or draw.random() < 0.5:
        return one
    scaling = draw.choice(tuple(BLOCK_FORMATS))
    a, b = (draw.choice(BLOCK_FORMATS[scaling].elements) for _ in "ab")
    return replace(
        one, a=a, b=b, sums="f32", result=one.result if one.result in RESULTS["f32"] and one.sums != "s32" else "bf16",
        a_major="k", b_major="k", row_scales="", column_scales="", scaling=scaling,
    )  # fmt: skip


def _scales(draw: Random, sums: str, result: str) -> tuple[str, str, bool]:
    """Return random values of `row_scales` and `column_scales`, and True if a factor belongs to a block."""
    if result == "s32":
        return "", "", False
    by_block = ("block", "blocks") if sums == "f32" else ()
    rows = draw.choice(("", "", "", "row", *by_block[:1]))
    columns = draw.choice(("", "", "", "column", *by_block))
    return rows, columns, "block" in rows or "block" in columns


def _rest(draw: Random, a: str, result: str, added: bool) -> dict[str, Any]:
    """Return random values of the fields that all kinds of cases have.

    `a` and `result` are the types of A and D. `added` is True if C is added.
    """
    epilogue = result != "s32"
    chosen = draw.random() < 0.4
    alpha = draw.choice((1.0, 1.0, 0.5, -1.25, 0.3)) if epilogue else 1.0
    if a in _INTEGERS and result == "f16":
        alpha = 2.0**-14  # keeps the results in the range of f16
    return {
        "alpha": alpha,
        "beta": draw.choice((1.0, 0.5, -2.0)) if added else 1.0,
        "activation": draw.choice((*ACTIVATIONS, "", "")) if epilogue else "",
        "fast": a in ("e4m3", "e5m2") and draw.random() < 0.5,
        "tile": draw.random() if chosen else -1.0,
        "share": draw.random() if chosen else -1.0,
    }
