"""Registry of the tensor-core builtins of NVIDIA's compiler by number and by name.

Reference text: "Tensor Core / MMA Builtins", a description of NVIDIA's disassembled compiler cicc.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean
from warploom.nvvm.builtins.c_types import BOOL, DESCRIPTOR, FLOAT, INT, UNSIGNED, CType

# The operations of a row have consecutive numbers and one shape. Their names imply all types.
ROWS = """
    number  target  unit   shape      operations
    678     sm_70   hmma   m16n16k16  ld_a ld_b ld_c_f16 ld_c_f32 st_c_f16 st_c_f32 mma_f16f16 mma_f32f16 mma_f16f32 mma_f32f32
    688     sm_70   hmma   m32n8k16   ld_a ld_b ld_c_f16 ld_c_f32 st_c_f16 st_c_f32 mma_f16f16 mma_f32f16 mma_f16f32 mma_f32f32
    698     sm_70   hmma   m8n32k16   ld_a ld_b ld_c_f16 ld_c_f32 st_c_f16 st_c_f32 mma_f16f16 mma_f32f16 mma_f16f32 mma_f32f32
    708     sm_72   imma   m16n16k16  ld_a_s8 ld_a_u8 ld_b_s8 ld_b_u8 ld_c st_c_i32 mma_s8 mma_u8
    716     sm_72   imma   m32n8k16   ld_a_s8 ld_a_u8 ld_b_s8 ld_b_u8 ld_c st_c_i32 mma_s8 mma_u8
    724     sm_72   imma   m8n32k16   ld_a_s8 ld_a_u8 ld_b_s8 ld_b_u8 ld_c st_c_i32 mma_s8 mma_u8
    732     sm_75   imma   m8n8k32    ld_a_s4 ld_a_u4 ld_b_s4 ld_b_u4 ld_c st_c_i32 mma_s4 mma_u4
    740     sm_75   bmma   m8n8k128   ld_a_b1 ld_b_b1 ld_c st_c_i32 mma_xor_popc_b1
    745     sm_80   bmma   m8n8k128   mma_and_popc_b1
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
"""Table of the builtins.

In the reference text, the overview of the numbers 751 to 764 is off by one for the loads and stores of f64 and tf32.
The entries for the numbers 745 to 764 in that text agree with this table.
"""

BARRIERS = range(769, 771)
"""Numbers of the warpgroup barriers, which a program cannot call by name."""

_ELEMENT = {"hmma": "f16", "dmma": "f64", "tf32": "tf32", "bf16": "bf16", "bmma": "b1"}
_ACCUMULATOR = {"dmma": "f64", "tf32": "f32", "bf16": "f32", "imma": "s32", "bmma": "s32"}
_C_TYPES = {"f32": "float", "f64": "double"}
_SECOND_GENERATION = frozenset({"dmma", "tf32", "bf16"})
_UNSIGNED_ROWCOL = frozenset({"imma", "bmma", "dmma"})
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
"""Boolean parameters of each warpgroup builtin, in order.

The names state the observed effects, because the reference text names some parameters wrongly.
"""


class Parameter(NamedTuple):
    """Parameter of a builtin: its name and C type.

    A pointer to `const` is an input. Any other pointer is an output.
    """

    name: str
    type: CType


@dataclass(frozen=True)
class Builtin:
    """Builtin function of the compiler.

    `target` is the first target that has the builtin. `kind` is "load", "store", "multiply" or "warpgroup". `types` are
    the element types of the operands a, b, c and d.
    """

    number: int
    target: str
    unit: str
    shape: str
    operation: str
    kind: str
    matrix: str
    # A load or store has only the type of its matrix.
    types: dict[str, str]
    # Operation on single bits: "xor" or "and".
    bits: str = ""

    @cached_property
    def name(self) -> str:
        """Name of the function in CUDA C."""
        if self.kind == "warpgroup":
            return f"__wgmma_mma_async_{self.operation}"
        unit = self.unit
        if unit in ("tf32", "bf16"):
            unit = "mma" if self.kind == "store" else f"mma_{unit}"
        return f"__{unit}_{self.shape}_{self.operation}"

    @property
    def is_second_generation(self) -> bool:
        """True for the builtins of f64, tf32 and bf16, which use generic addresses and ignore `satf`."""
        return self.unit in _SECOND_GENERATION

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters in order, without A and B of a warpgroup multiplication."""
        if self.kind == "warpgroup":
            # The types of A and B depend on the call.
            sizes = (Parameter(name, UNSIGNED) for name in ("m", "n", "k"))
            flags = (Parameter(name, BOOL) for name in self.booleans)
            return (*sizes, *flags, Parameter("d", CType("void", 1)))
        if self.kind == "multiply":
            d, *sources = (self._pointer(name, name) for name in "dabc")
            rowcol = Parameter("rowcol", UNSIGNED if self.unit in _UNSIGNED_ROWCOL else INT)
            satf = () if self.unit == "bmma" else (Parameter("satf", INT),)
            return (d, *sources, rowcol, *satf)
        pointers = (self._pointer("dst", self.matrix), self._pointer("src", self.matrix))
        return (*pointers, Parameter("ldm", UNSIGNED), Parameter("layout", INT))

    def _pointer(self, name: str, operand: str) -> Parameter:
        base = _C_TYPES.get(self.types[operand], "int")
        return Parameter(name, CType(base, 1, const=name not in ("d", "dst")))

    def expected_type(self, position: int) -> CType:
        """Return the C type that an undeclared name has as the argument with the index `position`."""
        if position >= len(self.parameters):
            return DESCRIPTOR
        found = self.parameters[position].type
        return FLOAT.pointer if found.base == "void" else found

    @property
    def booleans(self) -> tuple[str, ...]:
        """Names of the boolean parameters of a warpgroup multiplication. Empty for other builtins."""
        return _BOOLEANS.get(self.operation, ()) if self.kind == "warpgroup" else ()

    @property
    def prototype(self) -> str:
        """Type of the C function, such as `void (int *, const int *, unsigned int, int)`."""
        types = [str(parameter.type) for parameter in self.parameters]
        return f"void ({', '.join([*types, *(['...'] * (self.kind == 'warpgroup'))])})"


def _read(text: str) -> Iterator[Builtin]:
    for line in text.strip().splitlines()[1:]:
        number, target, unit, shape, *operations = line.split()
        for offset, operation in enumerate(operations):
            yield Builtin(int(number) + offset, target, unit, shape, operation, *_parts(unit, operation))


def _parts(unit: str, operation: str) -> tuple[str, str, dict[str, str], str]:
    """Return the kind of an operation, its matrix, its types, and its operation on single bits."""
    if unit == "wgmma":
        return "warpgroup", "", {}, ""
    parts = _OPERATION.fullmatch(operation)
    assert parts is not None, operation
    accumulator = _ACCUMULATOR.get(unit, "")
    if parts["kind"]:
        matrix = "d" if parts["kind"] == "st" else parts["matrix"]
        word = (parts["type"] or "").replace("i32", "s32")
        default = _ELEMENT.get(unit, "") if matrix in "ab" else accumulator
        return "store" if matrix == "d" else "load", matrix, {matrix: word or default}, ""
    element = _ELEMENT.get(unit) or parts["one"]
    types = {"a": element, "b": element, "c": parts["c"] or accumulator, "d": parts["d"] or accumulator}
    return "multiply", "", types, parts["bits"] or ""


BUILTINS = tuple(_read(ROWS))
"""Builtins in the order of their numbers."""
BY_NAME = {each.name: each for each in BUILTINS}
"""Builtins by name."""
_BY_NUMBER = {each.number: each for each in BUILTINS}


def builtin_named(name: str) -> Builtin:
    """Return the builtin with a name. Errors: UsageError for an unknown name."""
    if name in BY_NAME:
        return BY_NAME[name]
    raise UsageError(f"unknown builtin {name!r}", hint=did_you_mean(name, BY_NAME))


def builtin_numbered(number: int) -> Builtin:
    """Return the builtin with a number. Errors: UsageError for another number or a barrier."""
    if number in _BY_NUMBER:
        return _BY_NUMBER[number]
    if number in BARRIERS:
        raise UsageError(f"builtin {number} is a warpgroup barrier, which a program cannot call by name")
    first, last = BUILTINS[0].number, BUILTINS[-1].number
    raise UsageError(f"unknown builtin {number}; expected {first} to {last}")
