"""Table of the matrix units of all architectures, and the arithmetic of each matrix instruction.

`select` returns the `Model` of an instruction.
"""

import re
from dataclasses import field, replace
from enum import Enum
from typing import Literal

from warploom.lazy_dataclass import dataclass
from warploom.numerics.formats import F8F6F4, FP8, INTEGERS

UnitKind = Literal["warp", "warp tiles", "warpgroup", "tensor memory"]
"""Executor of a matrix instruction.

It is a warp, a warp on tiles of undefined layout (wmma), a warpgroup, or the tensor-memory unit (tcgen05).
"""
Scale = Literal["ue8m0", "ue4m3"]
BlockScaling = tuple[Literal["mxf8f6f4", "mxf4", "mxf4nvf4"], Scale]
"""Kind of a block-scaled instruction, and the type of its scales."""
Accumulator = Literal["f32", "e8m13"]


class Sum(Enum):
    """Method by which an instruction adds its products. The value is the name of a function of `spec`."""

    T_FDPA = "t_fdpa"
    T_FDPA_CONVERTED = "t_fdpa_converted"
    T_FDPA_SPLIT = "t_fdpa_split"
    T_FDPA_SCALED = "t_fdpa_scaled"
    T_FDPA_GROUPED = "t_fdpa_grouped"
    FMA_CHAIN = "fma_chain"
    FMA_CHAIN_PLUS_ADDEND = "fma_chain_plus_addend"
    PAIRED = "paired_sum"
    INTEGER = "integer_dot"
    XOR = "xor_popcount"
    AND = "and_popcount"


class Evidence(Enum):
    """Type of evidence for a numeric model. Each value is the type's letter in `docs/arithmetic.md`."""

    CAMPAIGN = "C"
    """Campaign of 5,566 experiments on an H200 (`tests/evidence/campaign/`)."""
    EXPERIMENT = "S"
    """Single experiments on an H200 (`tests/vectors/h200_mma.npz`)."""
    PUBLISHED_OUTPUTS = "V"
    """Outputs of eight GPUs published by Khattak and Mikaitis (`tests/vectors/published_mma.npz`)."""
    MACHINE_CODE = "M"
    """Machine code that ptxas generates."""
    PUBLISHED_MODEL = "P"
    """One published model, which no output of a GPU confirms."""
    INFERENCE = "I"
    """Measurement or model of another GPU or instruction, whose result is assumed for this one."""


_C, _S, _V, _M, _P, _I = Evidence

_ROUNDING = {
    Sum.T_FDPA_CONVERTED: "toward zero after each step; conversion of an f16 result to nearest even",
    Sum.FMA_CHAIN: "after each multiply-add, in the mode of the instruction",
    Sum.FMA_CHAIN_PLUS_ADDEND: "to nearest even after each operation",
    Sum.PAIRED: "to nearest even after each operation",
    Sum.INTEGER: "none: wraps to 32 bits, or clamps with .satfinite",
    Sum.XOR: "none",
    Sum.AND: "none",
}


@dataclass(frozen=True, slots=True)
class Model:
    """Arithmetic of one matrix instruction.

    `sum` names the function of `spec` that defines the result. `length` is L, the number of products in one fused step.
    `fraction` is F, the number of bits kept below the largest exponent of a step. Both are 0 if `sum` has no fused
    steps. `accumulator` is the format of f32 results: "f32", or "e8m13" if the unit keeps 13 mantissa bits. `emin` is
    the least exponent to which terms are aligned, None if no sum of the instruction is small enough to need one.
    `scale_type` is the type of the block scales, None if the instruction has none.
    """

    a_type: str
    b_type: str
    c_type: str
    d_type: str
    sum: Sum
    length: int = 0
    fraction: int = 0
    accumulator: Accumulator = "f32"
    emin: int | None = None
    scale_type: Scale | None = None
    evidence: tuple[Evidence, ...] = field(default=(), compare=False)

    @property
    def result(self) -> str:
        """Name of the format to which each fused step rounds: "f32", "f16" or "e8m13"."""
        return self.accumulator if self.d_type == "f32" else self.d_type

    @property
    def rounding(self) -> str:
        """Phrase that describes when and how the sum is rounded."""
        if self.sum in _ROUNDING:
            return _ROUNDING[self.sum]
        step = "to nearest even" if self.d_type == "f16" else "toward zero"
        more = "; sum with c to nearest even" if self.sum is Sum.T_FDPA_SPLIT else ""
        return f"{step} after each step{more}"

    @property
    def parameters(self) -> dict[str, int | str]:
        """Keyword arguments for the function of `spec`. Arguments with their default value are left out."""
        if not self.length:
            return {}
        found: dict[str, int | str] = {"length": self.length, "fraction": self.fraction}
        if self.result != "f32":
            found["result"] = self.result
        if self.emin is not None:
            found["emin"] = self.emin
        return found

    def formula(self) -> str:
        """Return the definition of the result as one line of Python over `spec`.

        For a sparse A, the line applies to the stored elements and to the elements of B that the metadata select.
        """
        operands = "a, b, c" if self.scale_type is None else "a, b, c, scale_a, scale_b"
        arguments = "".join(f", {name}={value!r}" for name, value in self.parameters.items())
        return f"d = {self.sum.value}({operands}{arguments})".replace("'", '"')


class NoModelError(LookupError):
    """Error for an instruction without known arithmetic on an architecture."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class Unit:
    """Matrix unit of one generation of GPUs.

    `f16`, `bf16` and `tf32` are `Model.length` for these element types, 0 if the unit lacks the type. `fraction` is
    `Model.fraction` for these types. `fp8` is (length, fraction, accumulator), "f16" if the unit converts fp8 elements
    to f16, or None without fp8. `narrow` contains the element types of at most 8 bits. `emins` contains `Model.emin`
    for f32 results and for f16 results.
    """

    name: str
    f16: int
    bf16: int
    tf32: int
    fraction: int
    evidence: tuple[Evidence, ...]
    emins: tuple[int, int]
    fp8: tuple[int, int, Accumulator] | Literal["f16"] | None = None
    narrow: frozenset[str] = FP8

    def emin(self, d_type: str) -> int:
        """Return `Model.emin` for results of type `d_type`."""
        return self.emins[d_type == "f16"]

    @property
    def is_measured(self) -> bool:
        """True if every instruction of the unit was measured on a GPU of its generation."""
        return _C in self.evidence

    @property
    def float_types(self) -> list[str]:
        """Floating-point element types that the unit multiplies."""
        wide = [name for name in ("f16", "bf16", "tf32") if getattr(self, name)]
        return wide + (sorted(self.narrow) if self.fp8 is not None else [])


_UNITS = {
    unit.name: unit
    for unit in (
        Unit("Volta", 4, 0, 0, 23, (_V,), (-131, -19)),
        Unit("Turing", 8, 0, 0, 24, (_P,), (-132, -20)),
        Unit("Ampere", 8, 8, 4, 24, (_V,), (-132, -20)),
        Unit("Ada", 8, 8, 4, 24, (_V,), (-132, -20), fp8=(16, 13, "e8m13")),
        Unit("Hopper", 16, 16, 8, 25, (_C, _V), (-133, -21), fp8="f16"),
        Unit("Hopper warpgroup", 16, 16, 8, 25, (_C, _V), (-133, -21), fp8=(32, 13, "e8m13")),
        Unit("Blackwell", 16, 16, 8, 25, (_V,), (-133, -21), fp8="f16"),
        Unit("Blackwell tensor memory", 16, 16, 8, 25, (_P,), (-133, -21), fp8=(32, 25, "f32"), narrow=F8F6F4),
        Unit("RTX Blackwell", 16, 16, 8, 25, (_P,), (-133, -21), fp8=(32, 25, "f32"), narrow=F8F6F4),
    )
}
_SPECIAL_UNITS = {
    "warpgroup": ("Hopper", "Hopper warpgroup", "sm_90a"),
    "tensor memory": ("Blackwell", "Blackwell tensor memory", "sm_100a"),
}
"""Generation, name of the unit, and an example architecture, for kinds that one generation has."""

_LONG = 96
"""K of the dense fp4 instructions that only sm_103 has. One step adds all products of an instruction."""
_ASSUMED = frozenset({101, 103, 110, 121})
"""Architectures that no source describes. Their arithmetic is assumed to be that of their generation."""

_GENERATIONS: dict[int, str] = {
    70: "Volta", 72: "Volta", 75: "Turing", 80: "Ampere", 86: "Ampere", 87: "Ampere", 88: "Ampere",
    89: "Ada", 90: "Hopper", 100: "Blackwell", 101: "Blackwell", 103: "Blackwell", 110: "Blackwell",
    120: "RTX Blackwell", 121: "RTX Blackwell",
}  # fmt: skip


def generation(arch: str) -> str:
    """Return the generation of `arch`, such as "Hopper". Errors: NoModelError for an unknown `arch`."""
    found = re.fullmatch(r"(?:sm|compute)_(\d+)[af]?", arch)
    name = _GENERATIONS.get(int(found[1])) if found else None
    if name is None:
        known = ", ".join(f"sm_{number}" for number in _GENERATIONS)
        raise NoModelError(f"no matrix arithmetic is known for architecture {arch!r}; known: {known}")
    return name


def unit(arch: str, kind: UnitKind) -> Unit:
    """Return the matrix unit of `arch` for instructions of `kind`. Errors: NoModelError if there is none."""
    name = family = generation(arch)
    if kind in _SPECIAL_UNITS:
        only_generation, name, example = _SPECIAL_UNITS[kind]
        if family != only_generation:
            raise NoModelError(f"{arch} has no {kind} matrix unit; {example} has one")
    number = int("".join(filter(str.isdigit, arch)))
    return replace(_UNITS[name], evidence=(_I,)) if number in _ASSUMED else _UNITS[name]


def select(
    arch: str, kind: UnitKind, a_type: str, b_type: str, d_type: str,
    *,
    c_type: str | None = None, k: int = 0, operation: Literal["xor", "and"] = "xor",
    scaling: BlockScaling | None = None,
) -> Model:  # fmt: skip
    """Return the arithmetic of the matrix instruction with these types on `arch`.

    `k` is the K of the instruction. `scaling` has the kind and the scale type of a block-scaled instruction.
    `operation` combines b1 elements. Sparse and dense instructions have the same model. For a sparse A, L counts stored
    elements. Errors: NoModelError, which lists the types that the unit multiplies.
    """
    types = (a_type, b_type, c_type or d_type, d_type)
    measured = (_C,) if re.match(r"(sm|compute)_90", arch) else (_I,)
    if a_type == b_type == "f64":
        return Model(*types, Sum.FMA_CHAIN, evidence=measured)
    if a_type == b_type == "b1":
        return Model(*types, Sum.XOR if operation == "xor" else Sum.AND, evidence=measured)
    if a_type in INTEGERS and b_type in INTEGERS:
        return Model(*types, Sum.INTEGER, evidence=measured)
    matrix_unit = unit(arch, kind)
    if scaling is not None:
        return _scaled(matrix_unit, types, *scaling, k)
    if a_type == b_type and a_type in ("f16", "bf16", "tf32"):
        length: int = getattr(matrix_unit, a_type)
        if length:
            return _half_or_tf32(matrix_unit, types, kind, k, length)
    if matrix_unit.fp8 is not None and a_type in matrix_unit.narrow and b_type in matrix_unit.narrow:
        if matrix_unit.fp8 == "f16":
            evidence = (_C, _M) if matrix_unit.is_measured else matrix_unit.evidence
            emin = matrix_unit.emin(d_type)
            return Model(*types, Sum.T_FDPA_SPLIT, 16, matrix_unit.fraction, emin=emin, evidence=evidence)
        return Model(*types, Sum.T_FDPA, *matrix_unit.fp8, evidence=matrix_unit.evidence)
    raise NoModelError(
        f"{matrix_unit.name} matrix units have no sum of {a_type} by {b_type}; "
        f"their float types are {', '.join(matrix_unit.float_types)}"
    )


def _half_or_tf32(unit: Unit, types: tuple[str, str, str, str], kind: UnitKind, k: int, length: int) -> Model:
    evidence = unit.evidence
    in_software = (_C, _M) if unit.is_measured else (_I,)
    if types[0] == "f16" and k == 4:
        if unit.name not in ("Volta", "Turing"):
            method = Sum.FMA_CHAIN_PLUS_ADDEND if types[3] == "f32" else Sum.PAIRED
            return Model(*types, method, evidence=(_C, _M) if unit.is_measured else (_M,))
        if unit.name == "Turing":
            unit, length, evidence = _UNITS["Volta"], 4, (_P, _M)
    if types[0] == "tf32" and kind == "warp tiles" and unit.fraction == 25:
        length, evidence = 4, in_software
    if types[2] != types[3] and not (unit.name == "Volta" and types[3] == "f32"):
        return Model(*types, Sum.T_FDPA_CONVERTED, length, unit.fraction, emin=unit.emin("f32"), evidence=in_software)
    return Model(*types, Sum.T_FDPA, length, unit.fraction, emin=unit.emin(types[3]), evidence=evidence)


def _scaled(unit: Unit, types: tuple[str, str, str, str], kind: str, scale_type: Scale, k: int) -> Model:
    if unit.name not in ("RTX Blackwell", "Blackwell tensor memory"):
        raise NoModelError(f"{unit.name} matrix units take no block scales; those of sm_120a and sm_100a do")
    if kind == "mxf8f6f4":
        return Model(*types, Sum.T_FDPA_SCALED, 32, 25, emin=-133, scale_type=scale_type, evidence=unit.evidence)
    length, evidence = (_LONG, (_I,)) if k == _LONG else (64, unit.evidence)
    return Model(*types, Sum.T_FDPA_GROUPED, length, 35, emin=-139, scale_type=scale_type, evidence=evidence)
