"""Matrix multiplications that are timed: types, sizes and layouts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log
from random import Random

from warploom.gpu import Timing
from warploom.kernels.hopper.plan import Plan, plan_for
from warploom.kernels.plan import ALIGNMENT, size_of
from warploom.kernels.problem import Problem

_MOST_BYTES = 2_000_000_000
_MOST_OPERATIONS = 6e12


@dataclass(frozen=True, slots=True)
class Kind:
    """Combination of types of A, B and D that is timed.

    `operand` is the type of A and B, and `result` the type of D. If `fast`, 8-bit floats are summed in the tensor
    cores. If `sparse`, our kernel multiplies a compressed A, and its time is compared with our kernel for a dense A.
    `tolerance` is the largest accepted difference of two elements, as a fraction of the root mean square.
    """

    name: str
    operand: str
    result: str
    fast: bool = False
    # The default is far above rounding errors, and far below the error of one missing instruction.
    tolerance: float = 0.1
    sparse: bool = False

    @property
    def reference(self) -> str:
        """Name of our kernel if it is the reference, or "" if the library is the reference."""
        return "our dense" if self.sparse else ""

    @property
    def title(self) -> str:
        """Name of the combination, followed by the reference if our own kernel is the reference."""
        return f"{self.name} beside {self.reference}" if self.reference else self.name


KINDS = {
    kind.name: kind
    for kind in (
        Kind("bf16", "bf16", "bf16"),
        Kind("f16", "f16", "f16"),
        Kind("tf32", "tf32", "f32"),
        Kind("e4m3", "e4m3", "bf16", fast=True, tolerance=0.25),
        Kind("e4m3-accurate", "e4m3", "bf16"),
        Kind("s8", "s8", "s32", tolerance=0.0),
        Kind("f16-sparse", "f16", "f16", sparse=True),
    )
}
"""Timed combinations of types, by name."""


def default_kinds(names: Iterable[str]) -> list[str]:
    """Return the names of the kinds for which a library is the reference."""
    return [name for name in names if not KINDS[name].reference]


Size = tuple[int, int, int]

SIZES: tuple[Size, ...] = (
    (4096, 4096, 4096),
    (8192, 8192, 8192),
    (16384, 8192, 4096),
    (2048, 7168, 4096),
    (128, 7168, 16384),
    (64, 24576, 1536),
    (4096, 2112, 7168),
    (4096, 32768, 512),
)
"""Sizes (M, N, K) that common models use."""


@dataclass(frozen=True, slots=True)
class Case:
    """Multiplication to compare, such as `bf16 4096x4096x4096` for M, N and K.

    `a_major` ("k" or "m") and `b_major` ("k" or "n") name the axis along which elements are contiguous. With a `batch`,
    all matrices have a batch axis.
    """

    kind: Kind
    m: int
    n: int
    k: int
    a_major: str = "k"
    b_major: str = "k"
    batch: int = 0

    def __str__(self) -> str:
        return f"{self.kind.name} {self.size}"

    @property
    def size(self) -> str:
        """Sizes as text, followed by the batch and by layouts other than along K: `64x128x256x4 mn`."""
        batch = f"x{self.batch}" if self.batch else ""
        majors = "" if self.a_major == self.b_major == "k" else f" {self.a_major}{self.b_major}"
        return f"{self.m}x{self.n}x{self.k}{batch}{majors}"

    @property
    def problem(self) -> Problem:
        """Problem of our kernel."""
        operand, count = self.kind.operand, max(self.batch, 1)
        return Problem(
            self.m, self.n, self.k, count, operand, operand, self.a_major, self.b_major, self.batch > 0,
            sparse=self.kind.sparse,
        )  # fmt: skip

    @property
    def plan(self) -> Plan:
        """Plan of our kernel, with the smallest tile."""
        problem, kind = self.problem, self.kind
        promoted = kind.operand == "e4m3" and not kind.fast
        return plan_for(problem, accumulator=problem.accumulator(), result=kind.result, promoted=promoted)

    @property
    def bytes(self) -> int:
        """Size of A, B and D together. Units: bytes."""
        operands = size_of(self.kind.operand) * (self.m + self.n) * self.k
        return max(self.batch, 1) * (operands + size_of(self.kind.result) * self.m * self.n)

    def teraflops(self, timing: Timing) -> float:
        """Return the rate of 2 M N K operations in the median time. Units: 10^12 operations per second."""
        return 2e-6 * self.m * self.n * self.k * max(self.batch, 1) / timing.median


def draw(seed: int, count: int, kinds: Sequence[Kind]) -> list[Case]:
    """Return random cases of the kinds, in turn.

    They are layers of models, powers of two, irregular sizes, and batches.
    """
    dice = Random(f"gemm {seed}")
    return [_draw(dice, kinds[number % len(kinds)]) for number in range(count)]


def _draw(dice: Random, kind: Kind) -> Case:
    maker = dice.choices((_layer, _powers, _irregular, _batches), (4, 2, 3, 1))[0]
    while (case := maker(dice, kind)).bytes > _MOST_BYTES or 2.0 * case.m * case.n * case.k > _MOST_OPERATIONS:
        pass
    return case


def _majors(dice: Random, kind: Kind) -> tuple[str, str]:
    """Return random layouts.

    In half of the cases and for other types than 16 bits, K is contiguous in A and B.
    """
    free = size_of(kind.operand) == 2 and not kind.sparse and dice.random() < 0.5
    return (dice.choice("km"), dice.choice("kn")) if free else ("k", "k")


def _layer(dice: Random, kind: Kind) -> Case:
    """Return a projection of a model with 1 to 32,768 tokens. B is a matrix of weights."""
    hidden = dice.choice((768, 1024, 2048, 2560, 3072, 4096, 5120, 6144, 7168, 8192))
    wide = dice.choice((hidden, hidden * 3 // 2, 3 * hidden, 4 * hidden, hidden // 4, hidden * 7 // 2))
    k, n = (hidden, wide) if dice.random() < 0.6 else (wide, hidden)
    tokens = 1 << dice.randint(0, 15)
    m = tokens if dice.random() < 0.5 else dice.randint(max(1, tokens // 2), tokens)
    return Case(kind, m, n, k, "k", dice.choice("kkkn") if size_of(kind.operand) == 2 else "k")


def _powers(dice: Random, kind: Kind) -> Case:
    m, n, k = (1 << dice.randint(low, 14) for low in (5, 7, 6))
    return Case(kind, m, n, k, *_majors(dice, kind))


def _irregular(dice: Random, kind: Kind) -> Case:
    m, n, k = (round(exp(dice.uniform(log(low), log(12000)))) for low in (16, 64, 64))
    step = ALIGNMENT // size_of(kind.operand)  # rows start at multiples of 16 bytes
    m, n, k = (-(-each // step) * step for each in (m, n, k))
    return Case(kind, m, n, k, *_majors(dice, kind))


def _batches(dice: Random, kind: Kind) -> Case:
    m, n, k = (64 * dice.randint(1, 32) for _ in range(3))
    return Case(kind, m, n, k, *_majors(dice, kind), batch=dice.choice((2, 4, 8, 16, 32)))
