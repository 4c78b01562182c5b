"""Which sum each architecture's matrix units form.

The float model T-FDPA(L, F): the exact products of up to L elements and the addend are aligned to the
largest exponent among them, truncated toward zero F bits below it, summed exactly and rounded once.
Longer dot products chain such steps in ascending k, each rounded to the type of D.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from warploom.numerics.elements import F8F6F4, FP8, INTEGERS

Engine = Literal["mma", "wmma", "wgmma", "tcgen05"]
Scale = Literal["ue8m0", "ue4m3"]


class Sum(Enum):
    """How the products of one instruction become one result."""

    FUSED = "fused steps of L products, chained"
    CONVERTED = "as fused steps from f32 to f32: an f16 addend widened before, an f16 result rounded after"
    HALVES = "f16 steps over k%4 in {0,1}, then {2,3}, from zero; the addend by an IEEE addition"
    MULTIPLY_ADD = "f32 multiply-adds from zero in ascending k; the addend by an IEEE addition"
    PAIRS = "in f32, the addend plus the first two products, plus the last two; then rounded to f16"
    GROUPS = "four exact sums of 16 products, each times its scales, then one fused step"
    DOUBLE = "f64 multiply-adds from the addend in ascending k"
    INTEGER = "exact integers, wrapped or clamped to 32 bits"
    XOR = "population count of exclusive or"
    AND = "population count of bitwise and"


@dataclass(frozen=True, slots=True)
class Model:
    """The arithmetic of one matrix instruction.

    `length` is L, the most products in one fused step; `fraction` is F, the bits kept below the largest
    exponent. `kept` counts the mantissa bits of an f32 result (23, or 13 where accumulators are E8M13).
    `emin`, where one is known, is the least exponent that terms are aligned to. `scale_type` is the type
    of the block scales, None where the instruction takes none.
    """

    a_type: str
    b_type: str
    c_type: str
    d_type: str
    sum: Sum
    length: int = 0
    fraction: int = 0
    kept: int = 23
    emin: int | None = None
    scale_type: Scale | None = None


class NoModelError(LookupError):
    """No arithmetic is known for what was asked; the sentence says what was, and what would be."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class Unit:
    """One kind of matrix unit: L by element type (0: not there), F, and what fp8 has.

    `fp8` is (L, F, mantissa bits kept in an f32 result), "f16" where fp8 is unpacked to f16, or None;
    `narrow` are the element types of eight bits and fewer that it takes; `emins` are the least exponents
    of f16, bf16 and tf32 sums with f32 and with f16 results, where they have been measured.
    """

    name: str
    f16: int
    bf16: int
    tf32: int
    fraction: int
    fp8: tuple[int, int, int] | Literal["f16"] | None = None
    narrow: frozenset[str] = FP8
    emins: tuple[int | None, int | None] = (None, None)

    def emin(self, d_type: str) -> int | None:
        """The least exponent of a sum with results of `d_type`."""
        return self.emins[d_type == "f16"]


_HOPPER_EMINS = (-133, -21)
_WARP_UNITS = {
    "Volta": Unit("Volta", f16=4, bf16=0, tf32=0, fraction=23),
    "Turing": Unit("Turing", f16=8, bf16=0, tf32=0, fraction=24),
    "Ampere": Unit("Ampere", f16=8, bf16=8, tf32=4, fraction=24),
    "Ada": Unit("Ada", f16=8, bf16=8, tf32=4, fraction=24, fp8=(16, 13, 13)),
    "Hopper": Unit("Hopper", f16=16, bf16=16, tf32=8, fraction=25, fp8="f16", emins=_HOPPER_EMINS),
    "Blackwell": Unit("Blackwell", f16=16, bf16=16, tf32=8, fraction=25, fp8="f16"),
    "RTX Blackwell": Unit(
        "RTX Blackwell",
        f16=16,
        bf16=16,
        tf32=8,
        fraction=25,
        fp8=(32, 25, 23),
        narrow=F8F6F4,
    ),
}
_WGMMA_UNIT = Unit(
    "Hopper warpgroup", f16=16, bf16=16, tf32=8, fraction=25, fp8=(32, 13, 13), emins=_HOPPER_EMINS
)
_TCGEN05_UNIT = Unit(
    "Blackwell tensor memory",
    f16=16,
    bf16=16,
    tf32=8,
    fraction=25,
    fp8=(32, 25, 23),
    narrow=F8F6F4,
)

_GENERATIONS: dict[int, str] = {
    70: "Volta", 72: "Volta", 75: "Turing", 80: "Ampere", 86: "Ampere", 87: "Ampere", 88: "Ampere",
    89: "Ada", 90: "Hopper", 100: "Blackwell", 101: "Blackwell", 103: "Blackwell", 110: "Blackwell",
    120: "RTX Blackwell", 121: "RTX Blackwell",
}  # fmt: skip


def generation(arch: str) -> str:
    """The generation of `arch` ("sm_90a" gives "Hopper").

    Errors: NoModelError where the architecture is not one of the table's.
    """
    found = re.fullmatch(r"(?:sm|compute)_(\d+)[af]?", arch)
    name = _GENERATIONS.get(int(found[1])) if found else None
    if name is None:
        known = ", ".join(f"sm_{number}" for number in _GENERATIONS)
        raise NoModelError(f"no matrix arithmetic is known for architecture {arch!r}; known: {known}")
    return name


def unit(arch: str, engine: Engine) -> Unit:
    """The matrix unit that runs `engine` on `arch`.

    Errors: NoModelError where that architecture has no such unit.
    """
    name = generation(arch)
    if engine == "wgmma":
        if name != "Hopper":
            raise NoModelError(f"{arch} has no warpgroup matrix unit; sm_90a has")
        return _WGMMA_UNIT
    if engine == "tcgen05":
        if name != "Blackwell":
            raise NoModelError(f"{arch} has no tensor-memory matrix unit; sm_100a has")
        return _TCGEN05_UNIT
    return _WARP_UNITS[name]


def select(
    arch: str,
    engine: Engine,
    a_type: str,
    b_type: str,
    d_type: str,
    *,
    c_type: str | None = None,
    k: int = 0,
    scale_type: Scale | None = None,
    operation: Literal["xor", "and"] = "xor",
) -> Model:
    """The arithmetic of the matrix instruction with these types on `arch`.

    `k` is the instruction's own k, needed where a shape has arithmetic of its own (f16 at k = 4);
    `scale_type` names the block scales of a scaled instruction; `operation` is that of b1 elements.
    A sparse instruction has the model of the dense one, L counting stored elements.

    Errors: NoModelError, saying which types the unit has arithmetic for.
    """
    c_type = c_type or d_type
    types = (a_type, b_type, c_type, d_type)
    if a_type == b_type == "f64":
        return Model(*types, Sum.DOUBLE)
    if a_type == b_type == "b1":
        return Model(*types, Sum.XOR if operation == "xor" else Sum.AND)
    if a_type in INTEGERS and b_type in INTEGERS:
        return Model(*types, Sum.INTEGER)
    matrix_unit = unit(arch, engine)
    if scale_type is not None:
        return _scaled(matrix_unit, types, scale_type, k)
    if a_type == b_type and a_type in ("f16", "bf16", "tf32"):
        length: int = getattr(matrix_unit, a_type)
        if length:
            return _half_or_tf32(matrix_unit, types, engine, k, length)
    if matrix_unit.fp8 is not None and a_type in matrix_unit.narrow and b_type in matrix_unit.narrow:
        if matrix_unit.fp8 == "f16":
            return Model(*types, Sum.HALVES, 16, matrix_unit.fraction, emin=matrix_unit.emin(d_type))
        length, fraction, kept = matrix_unit.fp8
        return Model(*types, Sum.FUSED, length, fraction, kept)
    raise NoModelError(
        f"{matrix_unit.name} matrix units have no sum of {a_type} by {b_type}; "
        f"of float types they have {_has(matrix_unit)}"
    )


def _half_or_tf32(unit: Unit, types: tuple[str, str, str, str], engine: Engine, k: int, length: int) -> Model:
    if types[0] == "f16" and k == 4 and unit.name in ("Hopper", "Blackwell"):
        return Model(*types, Sum.MULTIPLY_ADD if types[3] == "f32" else Sum.PAIRS)
    if types[0] == "tf32" and engine == "wmma" and unit.fraction == 25:
        length = 4
    if types[2] != types[3]:
        return Model(*types, Sum.CONVERTED, length, unit.fraction, emin=unit.emin("f32"))
    return Model(*types, Sum.FUSED, length, unit.fraction, emin=unit.emin(types[3]))


def _scaled(unit: Unit, types: tuple[str, str, str, str], scale_type: Scale, k: int) -> Model:
    if unit.name not in ("RTX Blackwell", "Blackwell tensor memory"):
        raise NoModelError(f"{unit.name} matrix units take no block scales; those of sm_120a and sm_100a do")
    if types[0] == types[1] == "e2m1" and k != 32:
        return Model(*types, Sum.GROUPS, 64, 35, scale_type=scale_type)
    return Model(*types, Sum.FUSED, 32, 25, scale_type=scale_type)


def _has(unit: Unit) -> str:
    names = [name for name in ("f16", "bf16", "tf32") if getattr(unit, name)]
    if unit.fp8 is not None:
        names += sorted(unit.narrow)
    return ", ".join(names)
