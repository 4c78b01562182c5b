"""What a call becomes: the compiler's checks of its arguments, in the compiler's words, and the Form it ends as.

choose(builtin, values, read_target("sm_90a"))     # what its Form is, its words, …
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from warploom.isa.binding.compose import compose, form_that_allows, slots_of
from warploom.isa.instructions.wgmma import FLOAT as GROUP_FLOAT
from warploom.isa.instructions.wgmma import FLOAT_REGISTERS as GROUP_FLOAT_REGISTERS
from warploom.isa.instructions.wgmma import HALF as GROUP_HALF
from warploom.isa.instructions.wgmma import HALF_REGISTERS as GROUP_HALF_REGISTERS
from warploom.isa.instructions.wmma import BIT, FLOAT, HALF, INTEGER, LOAD, STORE
from warploom.isa.model.availability import Target, lacking, latest_version
from warploom.isa.model.form import Form
from warploom.nvvm.builtins.ctypes import INT, CType, Value, wrap
from warploom.nvvm.builtins.registry import Builtin, Parameter
from warploom.ptx import Address, Integer, Name, Operand, Vector

_AFTER_TYPES = ("rnd",)
"""The compiler writes the rounding after the types."""
_LAYOUTS = ("row", "col")
_A_POINTS_TO = frozenset({"void", "int", "unsigned int"})
_DESCRIPTOR = CType("unsigned long long")

NOT_SM_90A = "__wgmma_mma_async builtins are only available for sm_90a"
NOT_CONSTANT = "Non-constant argument to __wgmma_mma_async call"
OVERFLOW = "unexpected constant overflow in __wgmma_mma_async operand"
"""Of constants of more than 64 bits, which operations may have; C text converts them to the parameter's type."""
MISSING = "The 'A' or 'B' argument to __wgmma_mma_async call is missing"
BAD_A = "'A' argument must have void* or unsigned long long type"
BAD_B = "'B' argument must be unsigned long long type"
BAD_SHAPE = "The shape m{m}n{n}k{k} is not supported for __wgmma_mma_async builtin"
NOT_A_POWER = "N only supported for powers of two"
ROWCOL_NOT_CONSTANT = "unexpected 'rowcol' operand"
ROWCOL_OF_ONE = "'rowcol' operand can be 0 or 1 only"
ROWCOL_OF_TWO = "'rowcol' operand can be 0, 1, 2, or 3 only"
SATF_NOT_CONSTANT = "unexpected 'satf' operand"
SATF = "'satf' operand can be 0, or 1 only"

Complaint = tuple[int | None, str, str]
"""The place of an argument, None for the call itself; what is wrong; the rule's code."""


class Refused(Exception):
    """What the compiler refuses, all of it."""

    def __init__(self, *complaints: Complaint) -> None:
        super().__init__(*complaints)
        self.complaints = complaints


@dataclass(frozen=True)
class Choice:
    """The instruction of a call: its form, words by slot, slots whose words stand last, and constants by place.

    `fragments` are the operand places of registers, each with the place of the argument that points to them;
    `values` those of single values. A descriptor is a value, A in registers a fragment. `offset` is what the
    instruction adds to its address.
    """

    form: Form
    words: dict[str, str]
    late: tuple[str, ...] = ()
    constants: dict[str, int] = field(default_factory=dict[str, int])
    fragments: dict[str, int] = field(default_factory=dict[str, int])
    values: dict[str, int] = field(default_factory=dict[str, int])
    address: dict[str, int] = field(default_factory=dict[str, int])
    offset: int = 0

    def registers(self, operand: str) -> int:
        """How many registers a fragment has."""
        return self.form.operands[operand].registers(slots_of(self.form, self.words))

    def register_type(self, operand: str) -> str:
        """The PTX type of a fragment's registers."""
        return self.form.operands[operand].type_word(slots_of(self.form, self.words))

    def text(self) -> str:
        """The instruction, its registers called after the operands they are of."""
        operands: dict[str, Operand] = {name: Integer(value) for name, value in self.constants.items()}
        for name in self.fragments:
            operands[name] = Vector(tuple(Name(f"%{name}{k}") for k in range(self.registers(name))))
        operands |= {name: Name(f"%{name}") for name in self.values}
        operands |= {name: Address(Name(f"%{name}"), self.offset) for name in self.address}
        return str(compose(self.form, self.words, operands, None, self.late))


def choose(builtin: Builtin, values: Sequence[Value], target: Target) -> Choice:
    """The instruction of a call on a target.

    Errors: Refused builtin.arguments (number and types), builtin.operand (constants, layouts, shapes),
        builtin.target
    """
    complaints = list(_types(builtin, values))
    if builtin.kind == "warpgroup":
        return _warpgroup(builtin, values, target, complaints)
    if complaints:
        raise Refused(*complaints)
    if target.number < _number(builtin.target):
        raise Refused((None, gate_message(builtin), "builtin.target"))
    choice = _multiply(builtin, values) if builtin.kind == "multiply" else _move(builtin, values)
    _exists(builtin, choice, target)
    return choice


# Numbers and types of arguments ---------------------------------------------------------------------------------


def _types(builtin: Builtin, values: Sequence[Value]) -> Iterator[Complaint]:
    parameters = builtin.parameters
    if len(values) < len(parameters):
        yield None, "too few arguments in function call", "builtin.arguments"
        if builtin.kind != "warpgroup":
            return
    if len(values) > len(parameters) and builtin.kind != "warpgroup":
        yield len(parameters), "too many arguments in function call", "builtin.arguments"
        return
    for place, (parameter, value) in enumerate(zip(parameters, values, strict=False)):
        if not accepts(parameter, value):
            message = f'argument of type "{value.type}" is incompatible with parameter of type "{parameter}"'
            yield place, message, "builtin.arguments"


def accepts(parameter: Parameter, value: Value) -> bool:
    """Whether C++ converts a value to a parameter's type."""
    if not parameter.pointer:
        return value.type.depth == 0 or parameter.base == "bool"
    if value.is_null:
        return value.type.depth == 0 or _points_alike(parameter, value.type)
    return value.type.depth > 0 and _points_alike(parameter, value.type)


def _points_alike(parameter: Parameter, type: CType) -> bool:
    if type.const and not parameter.const:
        return False
    return parameter.base == "void" or (type.depth == 1 and type.base == parameter.base)


# Warp-level matrices --------------------------------------------------------------------------------------------


def gate_message(builtin: Builtin) -> str:
    """What the compiler says where the target has no such builtin.

    Source: cicc, Architecture Gating; those that came with SM 80 have no gate of their own there.
    """
    if builtin.is_second_generation:
        return f"{builtin.name} is not supported on this architecture"
    part = {"load": "ldc" if builtin.matrix == "c" else "ldab", "store": "stc", "multiply": "mma"}[
        builtin.kind
    ]
    if builtin.unit == "hmma":
        return f"hmma{part} is not supported on this architecture"
    if builtin.unit == "bmma" and builtin.kind == "multiply":
        return "bmmamma is not supported on this architecture"
    return (
        "imma stc not supported on this architecture"
        if part == "stc"
        else f"imma{part} is not supported on this architecture"
    )


def _number(target: str) -> int:
    return int(target.removeprefix("sm_").rstrip("af"))


def _constant(value: Value, type: CType = INT) -> int | None:
    constant = None if value.constant is None else wrap(value.constant, type)
    return None if constant is None else int(constant)


def _rowcol(builtin: Builtin, values: Sequence[Value], place: int, most: int) -> int:
    rowcol = _constant(values[place])
    if rowcol is None:
        raise Refused((place, ROWCOL_NOT_CONSTANT, "builtin.operand"))
    if not 0 <= rowcol <= most:
        raise Refused((place, ROWCOL_OF_ONE if most == 1 else ROWCOL_OF_TWO, "builtin.operand"))
    return rowcol


def _move(builtin: Builtin, values: Sequence[Value]) -> Choice:
    layout = _LAYOUTS[_rowcol(builtin, values, 3, 1)]
    is_load = builtin.kind == "load"
    moved = 1 if is_load else 0
    space = values[moved].space
    if space in ("local", "const"):
        word = "local" if space == "local" else "constant"
        raise Refused(
            (moved, f"a matrix lies in {word} memory; expected global or shared memory", "builtin.operand")
        )
    words = {
        "aligned": "aligned",
        "layout": layout,
        "shape": builtin.shape,
        "ss": "" if builtin.is_second_generation else space,
        "type": builtin.types[builtin.matrix],
    }
    if is_load:
        words["matrix"] = builtin.matrix
    offset = values[moved].offset - values[moved].inside if builtin.is_second_generation else 0
    return Choice(
        LOAD if is_load else STORE, words, (), {}, {"r": 1 - moved}, {"stride": 2}, {"p": moved}, offset
    )


def _multiply(builtin: Builtin, values: Sequence[Value]) -> Choice:
    rowcol = _rowcol(builtin, values, 4, 3)
    satf = 0
    if builtin.unit != "bmma" and not builtin.is_second_generation:
        found = _constant(values[5])
        if found is None:
            raise Refused((5, SATF_NOT_CONSTANT, "builtin.operand"))
        if found not in (0, 1):
            raise Refused((5, SATF, "builtin.operand"))
        satf = found
    words = {"alayout": _LAYOUTS[rowcol >> 1], "blayout": _LAYOUTS[rowcol & 1], "shape": builtin.shape}
    types = builtin.types
    late: tuple[str, ...] = ()
    if builtin.unit == "hmma":
        form = HALF
        words |= {"aligned": "aligned", "dtype": types["d"], "ctype": types["c"]}
    else:
        words |= {f"{name}type": types[name] for name in "abcd"}
        form = INTEGER
        if builtin.unit == "bmma":
            form = BIT
            words["bitOp"] = builtin.bits
        elif builtin.is_second_generation:
            form, late = FLOAT, _AFTER_TYPES
            words["rnd"] = "rn" if builtin.unit == "dmma" else ""
        else:
            words["satfinite"] = "satfinite" if satf else ""
    return Choice(form, words, late, {}, {name: place for place, name in enumerate("dabc")})


def _exists(builtin: Builtin, choice: Choice, target: Target) -> None:
    """What no row of the Form has, the assembler refuses, and so the compiler that asks it."""
    form = choice.form
    slots = slots_of(form, choice.words)
    rows = form.rows_of({column: slots[column] for column in form.columns})
    if not rows:
        raise Refused(*_illegal_layouts(builtin, choice, form))
    if lacking(rows, target, latest_version()) is not None:
        needed = " or ".join(rows[0].targets)
        raise Refused((None, f"{builtin.name} needs {needed}; the target is {target.name}", "builtin.target"))


def _illegal_layouts(builtin: Builtin, choice: Choice, form: Form) -> Iterator[Complaint]:
    """Types of fewer than 8 bits lie in one way each."""
    opcode = choice.text().partition(" ")[0].split(".")
    if builtin.kind == "multiply":
        wanted = {"alayout": "row", "blayout": "col"}
        name = ".".join(opcode[:2])
        place = 4
    else:
        wanted = {"layout": "row" if builtin.matrix == "a" else "col"}
        name = ".".join(opcode[:3])
        place = 3
    for slot, legal in wanted.items():
        if choice.words[slot] != legal:
            which = "alayout" if slot == "layout" else slot
            yield (
                place,
                f"Illegal {which} '.{choice.words[slot]}' for instruction '{name}'",
                "builtin.operand",
            )


# Warpgroups -----------------------------------------------------------------------------------------------------

_ROWS = 64
_IN_REGISTERS = {GROUP_HALF.name: GROUP_HALF_REGISTERS, GROUP_FLOAT.name: GROUP_FLOAT_REGISTERS}
_TYPES = {"f16": "f16", "bf16": "bf16", "tf32": "tf32"}


def _warpgroup(
    builtin: Builtin, values: Sequence[Value], target: Target, complaints: list[Complaint]
) -> Choice:
    if target.name != "sm_90a":
        complaints.append((None, NOT_SM_90A, "builtin.target"))
    count = len(builtin.parameters) - 1
    constants = [_argument(values, place, builtin, complaints) for place in range(count)]
    a, b = count + 1, count + 2
    if len(values) <= b:
        complaints.append((None, MISSING, "builtin.arguments"))
        raise Refused(*complaints)
    in_registers = values[a].type.depth == 1 and values[a].type.base in _A_POINTS_TO
    if not in_registers and _plain(values[a].type) != _DESCRIPTOR:
        complaints.append((a, BAD_A, "builtin.arguments"))
    if _plain(values[b].type) != _DESCRIPTOR:
        complaints.append((b, BAD_B, "builtin.arguments"))
    m, n, k = constants[:3]
    flags = dict(zip(builtin.booleans, constants[3:], strict=True))
    words = _warpgroup_words(builtin, n, k, flags)
    form = form_that_allows(tuple(_IN_REGISTERS), words)
    slots = slots_of(form, words)
    if m != _ROWS or not form.rows_of({column: slots[column] for column in form.columns}):
        complaints.append((0, BAD_SHAPE.format(m=m, n=n, k=k), "builtin.operand"))
    if complaints:
        raise Refused(*complaints)
    if n & (n - 1):
        raise Refused((1, NOT_A_POWER, "builtin.operand"))
    form = _IN_REGISTERS[form.name] if in_registers else form
    operands = {"scale_d": flags["scale_d"]}
    operands |= {f"imm_scale_{x}": -1 if flags[f"neg_{x}"] else 1 for x in "ab"}
    transposable = {"imm_trans_a": flags.get("trans_a", 0), "imm_trans_b": flags.get("trans_b", 0)}
    operands |= {place: value for place, value in transposable.items() if place in form.operands}
    fragments = {"d": count} | ({"a": a} if in_registers else {})
    return Choice(
        form, words, (), operands, fragments, {"b_desc": b} | ({} if in_registers else {"a_desc": a})
    )


def _plain(type: CType) -> CType:
    return CType(type.base, type.depth)


def _argument(values: Sequence[Value], place: int, builtin: Builtin, complaints: list[Complaint]) -> int:
    """A constant argument of a warpgroup multiplication; 0 where it is none, which is a complaint."""
    if place >= len(values):
        return 0
    parameter = builtin.parameters[place]
    value = values[place]
    if isinstance(value.constant, int) and not -(1 << 63) <= value.constant < 1 << 64:
        complaints.append((place, OVERFLOW, "builtin.operand"))
        return 0
    found = None if value.type.depth else _constant(value, CType(parameter.base))
    if found is None:
        complaints.append((place, NOT_CONSTANT, "builtin.operand"))
        return 0
    return found


def _warpgroup_words(builtin: Builtin, n: int, k: int, flags: dict[str, int]) -> dict[str, str]:
    a = b = _TYPES.get(builtin.operation, "")
    if builtin.operation == "f8":
        a, b = ("e4m3" if flags[f"{x}_e4m3"] else "e5m2" for x in "ab")
    d = "f16" if flags.get("d_f16") else "f32"
    return {"n": str(n), "k": str(k), "dtype": d, "atype": a, "btype": b}
