"""Numbers of the intrinsics of NVIDIA's compiler cicc.

    describe(5332)          # Identifier("warpgroup", (("n", "16"), ...))

The reference text of `builtins.registry` gives some numbers. The others are inferred: cicc numbers its intrinsics in
the order of their names.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

from warploom.diagnostics import UsageError

N_FIRST, N_LAST, N_STRIDE = 10654, 10779, 4
GRID_FIRST, GRID_LAST, GRID_STRIDE = 5304, 5447, 24
TENSOR_MEMORY = range(4905, 4941)
IMMA_FIRST, BMMA_FIRST = 0x22B3, 8276

_SINGLE = {9062: "multiply", 9067: "load", 9145: "store"}
"""Families of three intrinsics of SM 80 by number. The text wrongly names warpgroup operations."""

_ALL = sorted(range(8, 257, 8), key="{}k".format)
"""Extents N in the order of the intrinsics' names. In a name, the letter k follows N."""
_DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32}
_SHAPES = {"m16n16k16": "s8 u8", "m32n8k16": "s8 u8", "m8n32k16": "s8 u8", "m8n8k32": "s4 u4"}


@dataclass(frozen=True, slots=True)
class Identifier:
    """Intrinsic: a family such as "warpgroup", and pairs of a modifier's name and the modifier."""

    family: str
    words: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return " ".join([self.family, *(f"{name}={word}" for name, word in self.words)])


def _named(family: str, **words: object) -> Identifier:
    return Identifier(family, tuple((name, str(word)) for name, word in words.items()))


def _n_table() -> Iterator[tuple[int, Identifier]]:
    """Yield (number, intrinsic) for each extent N: one intrinsic for integers and one for floats."""
    # Each N has four numbers. The reference text names two of them.
    for rank, n in enumerate(_ALL):
        for variant, element in enumerate(("integer", "float")):
            yield N_FIRST + N_STRIDE * rank + variant, _named("n", n=n, element=element)


def _grid() -> Iterator[tuple[int, Identifier]]:
    """Yield (number, warpgroup multiplication) for each N, types, and location of A, in number order."""
    kinds = [("f16", "f16", "f16"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32")]
    kinds += product(("f16", "f32"), ("e4m3", "e5m2"), ("e4m3", "e5m2"))
    number = GRID_FIRST
    for n in (128, 16, 256, 32, 64, 8):
        for d, a, b in sorted(kinds, key=lambda kind: (f"{_DEPTHS[kind[1]]}.", kind)):
            for where in ("descriptor", "registers"):
                yield number, _named("warpgroup", n=n, d=d, a=a, b=b, where=where)
                number += 1


def _warp() -> Iterator[tuple[int, Identifier]]:
    """Yield (number, intrinsic) for warp-level matrix instructions with elements of 8, 4 or 1 bits."""
    number = IMMA_FIRST
    for shape, types in _SHAPES.items():
        operations = [f"ld_{matrix}_{word}" for matrix in "ab" for word in types.split()]
        operations += ["ld_c", *(f"mma_{word}" for word in types.split()), "st_c_i32"]
        for operation in operations:
            yield number, _named("imma", shape=shape, operation=operation)
            number += 1
    for offset, operation in enumerate(("ld_a_b1", "ld_b_b1", "ld_c", "mma_xor_popc_b1", "st_c_i32")):
        yield BMMA_FIRST + offset, _named("bmma", shape="m8n8k128", operation=operation)


@cache
def identifiers() -> dict[int, Identifier]:
    """Return the known intrinsics by number."""
    found = dict([*_n_table(), *_grid(), *_warp()])
    return found | {number: _named(family, generation="second") for number, family in _SINGLE.items()}


def describe(number: int) -> Identifier:
    """Return the intrinsic number `number`. Errors: UsageError for a number without a known intrinsic."""
    if number in identifiers():
        return identifiers()[number]
    if number in TENSOR_MEMORY:
        raise UsageError(
            f"intrinsic {number} is one of the 36 tcgen05 multiplications 4905-4940; the text does not state which"
        )
    if N_FIRST <= number <= N_LAST:
        raise UsageError(
            f"the name of intrinsic {number} is unknown: only the first two intrinsics of each N are known"
        )
    raise UsageError(f"unknown intrinsic {number}")
