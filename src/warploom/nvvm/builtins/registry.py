"""The registry: every builtin by number and by name, and all that its name says.

A row of ROWS is one shape of one unit; its operations are numbered in their order. What an operation is follows
from its name by rule: which matrix it moves or multiplies, the element types, the C types of its parameters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from warploom.diagnostics import UsageError

ROWS = """
    number  target  unit   shape      operations
    678     sm_70   hmma   m16n16k16  ld_a ld_b ld_c_f16 ld_c_f32 st_c_f16 st_c_f32 mma_f16f16 mma_f32f16 mma_f16f32 mma_f32f32
    688     sm_70   hmma   m32n8k16   ld_a ld_b ld_c_f16 ld_c_f32 st_c_f16 st_c_f32 mma_f16f16 mma_f32f16 mma_f16f32 mma_f32f32
    698     sm_70   hmma   m8n32k16   ld_a ld_b ld_c_f16 ld_c_f32 st_c_f16 st_c_f32 mma_f16f16 mma_f32f16 mma_f16f32 mma_f32f32
    708     sm_72   imma   m16n16k16  ld_a_s8 ld_a_u8 ld_b_s8 ld_b_u8 ld_c st_c_i32 mma_s8 mma_u8
    716     sm_72   imma   m32n8k16   ld_a_s8 ld_a_u8 ld_b_s8 ld_b_u8 ld_c st_c_i32 mma_s8 mma_u8
    724     sm_72   imma   m8n32k16   ld_a_s8 ld_a_u8 ld_b_s8 ld_b_u8 ld_c st_c_i32 mma_s8 mma_u8
    732     sm_75   imma   m8n8k32    ld_a_s4 ld_a_u4 ld_b_s4 ld_b_u4 ld_c st_c_i32 mma_s4 mma_u4
    740     sm_75   bmma   m8n8k128   ld_a_b1 ld_b_b1 ld_c st_c_i32 mma_xor_popc_b1 mma_and_popc_b1
    746     sm_80   dmma   m8n8k4     mma_f64
    747     sm_80   tf32   m16n16k8   mma_f32
    748     sm_80   bf16   m16n16k16  mma_f32
    749     sm_80   bf16   m32n8k16   mma_f32
    750     sm_80   bf16   m8n32k16   mma_f32
    751     sm_80   dmma   m8n8k4     st_c_f64
    752     sm_80   tf32   m16n16k8   st_c_f32
    753     sm_80   dmma   m8n8k4     ld_a ld_b ld_c
    756     sm_80   tf32   m16n16k8   ld_a ld_b ld_c
    759     sm_80   bf16   m16n16k16  ld_a ld_b
    761     sm_80   bf16   m32n8k16   ld_a ld_b
    763     sm_80   bf16   m8n32k16   ld_a ld_b
    765     sm_90a  wgmma  -          f16 bf16 tf32 f8
"""  # noqa: E501
"""Of 751 to 764 the text has the stores and loads of f64 and tf32 one number off; its own entries of 745 to 764
have them as here."""

BARRIERS = range(769, 771)
"""Numbers of the warpgroup's barriers, which are no functions that a program can call."""

_ELEMENT = {"hmma": "f16", "dmma": "f64", "tf32": "tf32", "bf16": "bf16", "bmma": "b1"}
_ACCUMULATOR = {"dmma": "f64", "tf32": "f32", "bf16": "f32", "imma": "s32", "bmma": "s32"}
_C_TYPES = {"f32": "float", "f64": "double"}
_SECOND = frozenset({"dmma", "tf32", "bf16"})
_UNSIGNED = frozenset({"imma", "bmma", "dmma"})
_OPERATION = re.compile(
    r"(?P<kind>ld|st)_(?P<matrix>[abc])(?:_(?P<type>\w+))?"
    r"|mma_(?:(?P<d>f16|f32)(?P<c>f16|f32)|(?P<bits>xor|and)_popc_b1|(?P<one>\w+))"
)
_BOOLEANS = {
    "f16": ("trans_a", "neg_a", "trans_b", "neg_b", "scale_d", "d_f16"),
    "bf16": ("trans_a", "neg_a", "trans_b", "neg_b", "scale_d"),
    "tf32": ("neg_a", "neg_b", "scale_d"),
    "f8": ("neg_a", "neg_b", "a_e4m3", "b_e4m3", "scale_d", "d_f16"),
}
"""The booleans of a warpgroup multiplication, in order, called what the compiler does with each."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its name and C type. Pointers to `const` are read, others are written."""

    name: str
    base: str
    pointer: bool = False
    const: bool = False

    def __str__(self) -> str:
        return f"{'const ' * self.const}{self.base}{' *' * self.pointer}"


@dataclass(frozen=True)
class Builtin:
    """A builtin function of the compiler.

    `kind` is "load", "store", "multiply" or "warpgroup". `types` are the element types by operand: a, b, c, d;
    of a load or a store only that of its `matrix`.
    """

    number: int
    target: str
    unit: str
    shape: str
    operation: str
    kind: str
    matrix: str
    types: dict[str, str]
    bits: str = ""

    @cached_property
    def name(self) -> str:
        """The name that a program calls it by."""
        if self.unit == "wgmma":
            return f"__wgmma_mma_async_{self.operation}"
        if self.unit in ("tf32", "bf16"):
            unit = "mma" if self.kind == "store" else f"mma_{self.unit}"
            return f"__{unit}_{self.shape}_{self.operation}"
        return f"__{self.unit}_{self.shape}_{self.operation}"

    @property
    def is_second_generation(self) -> bool:
        """Whether it came with SM 80: its loads and stores take generic addresses, and nobody looks at `satf`."""
        return self.unit in _SECOND

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in order; a warpgroup multiplication has A and B after them, of types of their own."""
        match self.kind:
            case "load":
                word = _c_type(self.types[self.matrix])
                moved = (
                    Parameter("dst", word, pointer=True),
                    Parameter("src", word, pointer=True, const=True),
                )
                return (*moved, Parameter("ldm", "unsigned int"), Parameter("layout", "int"))
            case "store":
                word = _c_type(self.types["d"])
                moved = (
                    Parameter("dst", word, pointer=True),
                    Parameter("src", word, pointer=True, const=True),
                )
                return (*moved, Parameter("ldm", "unsigned int"), Parameter("layout", "int"))
            case "multiply":
                d = Parameter("d", _c_type(self.types["d"]), pointer=True)
                rest = [
                    Parameter(name, _c_type(self.types[name]), pointer=True, const=True)
                    for name in ("a", "b", "c")
                ]
                rowcol = Parameter("rowcol", "unsigned int" if self.unit in _UNSIGNED else "int")
                satf = () if self.unit == "bmma" else (Parameter("satf", "int"),)
                return (d, *rest, rowcol, *satf)
            case _:
                sizes = (Parameter(name, "unsigned int") for name in ("m", "n", "k"))
                flags = (Parameter(name, "bool") for name in self.booleans)
                return (*sizes, *flags, Parameter("d", "void", pointer=True))

    @property
    def booleans(self) -> tuple[str, ...]:
        """What the booleans of a warpgroup multiplication are, in order."""
        return _BOOLEANS.get(self.operation, ()) if self.unit == "wgmma" else ()

    @property
    def prototype(self) -> str:
        """The function's type, as the compiler's front end has it."""
        types = [str(parameter) for parameter in self.parameters]
        return f"void ({', '.join([*types, *(['...'] * (self.unit == 'wgmma'))])})"


def _c_type(element: str) -> str:
    """The C type of a register that holds elements."""
    return _C_TYPES.get(element, "int")


def _read(text: str) -> tuple[Builtin, ...]:
    found: list[Builtin] = []
    for line in text.strip().splitlines()[1:]:
        number, target, unit, shape, *operations = line.split()
        for offset, operation in enumerate(operations):
            shape_word = "" if shape == "-" else shape
            found.append(_builtin(int(number) + offset, target, unit, shape_word, operation))
    return tuple(found)


def _builtin(number: int, target: str, unit: str, shape: str, operation: str) -> Builtin:
    if unit == "wgmma":
        return Builtin(number, target, unit, shape, operation, "warpgroup", "", {})
    said = _OPERATION.fullmatch(operation)
    assert said is not None, operation
    accumulator = _ACCUMULATOR.get(unit, "")
    if said["kind"]:
        matrix = "d" if said["kind"] == "st" else said["matrix"]
        word = (said["type"] or "").replace("i32", "s32")
        default = _ELEMENT.get(unit, "") if matrix in "ab" else accumulator
        kind = "store" if matrix == "d" else "load"
        return Builtin(number, target, unit, shape, operation, kind, matrix, {matrix: word or default})
    element = _ELEMENT.get(unit) or said["one"]
    types = {"a": element, "b": element, "c": said["c"] or accumulator, "d": said["d"] or accumulator}
    return Builtin(number, target, unit, shape, operation, "multiply", "", types, said["bits"] or "")


BUILTINS = _read(ROWS)
"""Every builtin, in the order of their numbers."""

_BY_NAME = {each.name: each for each in BUILTINS}
_BY_NUMBER = {each.number: each for each in BUILTINS}


def builtin_named(name: str) -> Builtin:
    """The builtin of a name. Errors: UsageError where there is none."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    from difflib import get_close_matches

    like = get_close_matches(name, _BY_NAME, 1, 0.6)
    raise UsageError(f"there is no builtin {name!r}", hint=f"did you mean {like[0]}?" if like else "")


def builtin_numbered(number: int) -> Builtin:
    """The builtin of a number. Errors: UsageError where there is none."""
    if number in _BY_NUMBER:
        return _BY_NUMBER[number]
    if number in BARRIERS:
        raise UsageError(f"{number} is a barrier of the warpgroup, which no program calls by name")
    first, last = BUILTINS[0].number, BUILTINS[-1].number
    raise UsageError(f"there is no builtin {number}; expected {first} to {last}")


TABLES = (
    ("dword_3F14840", range(678, 708)),
    ("dword_3F147E0", range(708, 732)),
    ("dword_3F147A0", range(732, 745)),
)
"""The compiler's three tables from builtins to intrinsics, by the numbers that each has."""


def table_of(number: int) -> tuple[str, int]:
    """Which of the three tables a builtin is looked up in, and its entry there.

    Those after the tables are looked up in trees of their own, by their descriptor words (`words.warp`).

    Errors: UsageError for a number that is in none.
    """
    for name, numbers in TABLES:
        if number in numbers:
            return name, number - numbers.start
    first, last = TABLES[0][1].start, TABLES[-1][1].stop - 1
    raise UsageError(f"builtin {number} is in none of the three tables; expected {first} to {last}")
