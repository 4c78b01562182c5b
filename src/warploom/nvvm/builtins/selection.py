"""Instruction selection for a builtin's call, with the checks and messages of the compiler."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from warploom.isa.binding.compose import compose, form_that_allows, rows_with, slots_of
from warploom.isa.instructions import wmma
from warploom.isa.model.availability import Target, latest_version, read_target, unmet_by_rows
from warploom.isa.model.form import Form
from warploom.nvvm.builtins.c_types import DESCRIPTOR, INT, CType, Value, wrap
from warploom.nvvm.builtins.registry import Builtin
from warploom.nvvm.forms import WGMMA_DESCRIPTORS, WGMMA_REGISTERS, WMMA

_LAYOUTS = ("row", "col")
_BASES_OF_A = frozenset({"void", "int", "unsigned int"})


class ArgumentError(NamedTuple):
    """Error at the argument with the index `position`, or at the whole call if `position` is None."""

    position: int | None
    message: str
    code: str = "builtin.operand"


class RefusedCall(Exception):
    """Refusal of a call, with an ArgumentError for each wrong argument."""

    def __init__(self, *errors: ArgumentError) -> None:
        super().__init__(*errors)
        self.errors = errors


@dataclass(frozen=True)
class Selection:
    """Instruction of a builtin's call: its form, its modifiers by name, and the origin of each operand."""

    form: Form
    words: dict[str, str]
    # Constant operands by name.
    constants: dict[str, int] = field(default_factory=dict[str, int])
    # Index of the argument that points to the elements, by vector operand.
    fragments: dict[str, int] = field(default_factory=dict[str, int])
    # Index of the argument, by scalar operand. A descriptor of A is a scalar.
    values: dict[str, int] = field(default_factory=dict[str, int])
    # Index of the argument, by address operand.
    address: dict[str, int] = field(default_factory=dict[str, int])

    def registers(self, operand: str) -> int:
        """Return the number of registers of a vector operand."""
        return self.form.operands[operand].registers(slots_of(self.form, self.words))


def select(builtin: Builtin, values: Sequence[Value], target: Target) -> Selection:
    """Select the instruction for a call of a builtin with the given argument values on a target.

    Errors: RefusedCall builtin.arguments (number and types), builtin.operand (constants, layouts, shapes, sizes of
        arrays), builtin.target
    """
    errors = list(_type_errors(builtin, values))
    if builtin.kind == "warpgroup":
        selection = _warpgroup(builtin, values, target, errors)
    elif errors:
        raise RefusedCall(*errors)
    else:
        if (first := read_target(builtin.target)) is not None and target.number < first.number:
            raise RefusedCall(ArgumentError(None, gate_message(builtin), "builtin.target"))
        selection = _multiply(builtin, values) if builtin.kind == "multiply" else _move(builtin, values)
        _check_rows(builtin, selection, target)
    size = 8 if builtin.unit == "dmma" else 4
    for operand, position in selection.fragments.items():
        value, count = values[position], selection.registers(operand)
        if value.room and value.offset + count * size > value.room:
            found = (value.room - value.offset) // size
            name = builtin.parameters[position].name
            message = f"expected an array with at least {count} registers for '{name}', got {found}"
            raise RefusedCall(ArgumentError(position, message))
    return selection


# Numbers and types of arguments ---------------------------------------------------------------------------------


def _type_errors(builtin: Builtin, values: Sequence[Value]) -> Iterator[ArgumentError]:
    parameters = builtin.parameters
    if len(values) < len(parameters):
        yield ArgumentError(None, "too few arguments in function call", "builtin.arguments")
    elif len(values) > len(parameters) and builtin.kind != "warpgroup":
        yield ArgumentError(len(parameters), "too many arguments in function call", "builtin.arguments")
    if len(values) == len(parameters) or builtin.kind == "warpgroup":
        for position, (parameter, value) in enumerate(zip(parameters, values, strict=False)):
            if not _accepts(parameter.type, value):
                kinds = f'argument of type "{value.type}" is incompatible with parameter of type "{parameter.type}"'
                yield ArgumentError(position, kinds, "builtin.arguments")


def _accepts(parameter: CType, value: Value) -> bool:
    """Return True if nvcc accepts a value for a parameter, for example any pointer for a bool."""
    if not parameter.depth:
        return value.type.depth == 0 or parameter.base == "bool"
    if not value.type.depth:
        return value.is_null
    if value.type.const and not parameter.const:
        return False
    return parameter.base == "void" or (value.type.depth == 1 and value.type.base == parameter.base)


# Warp-level matrices --------------------------------------------------------------------------------------------


def gate_message(builtin: Builtin) -> str:
    """Return the message for a builtin that the target lacks: that of the compiler up to builtin 744.

    Source: cicc, Architecture Gating
    """
    if builtin.is_second_generation or builtin.bits == "and":
        # The reference text has no message for builtins of SM 80.
        return f"{builtin.name} is not supported on this architecture"
    if builtin.kind == "multiply":
        return f"{builtin.unit}mma is not supported on this architecture"
    unit = "hmma" if builtin.unit == "hmma" else "imma"
    if builtin.kind == "load":
        return f"{unit}{'ldc' if builtin.matrix == 'c' else 'ldab'} is not supported on this architecture"
    return f"{'hmmastc is' if unit == 'hmma' else 'imma stc'} not supported on this architecture"


def _constant(value: Value, type: CType) -> int | None:
    constant = None if value.constant is None else wrap(value.constant, type)
    return None if constant is None else int(constant)


def _code(values: Sequence[Value], position: int, name: str, expected: str) -> int:
    """Return the constant argument at `position`.

    `expected` is the list of the legal values in the compiler's message, such as "0 or 1".
    """
    code = _constant(values[position], INT)
    if code is None:
        raise RefusedCall(ArgumentError(position, f"unexpected '{name}' operand"))
    if str(code) not in expected.replace(",", "").split():
        raise RefusedCall(ArgumentError(position, f"'{name}' operand can be {expected} only"))
    return code


def _move(builtin: Builtin, values: Sequence[Value]) -> Selection:
    layout = _LAYOUTS[_code(values, 3, "rowcol", "0 or 1")]
    is_load = builtin.kind == "load"
    position = 1 if is_load else 0
    pointer = values[position]
    if pointer.space in ("local", "const"):
        word = "local" if pointer.space == "local" else "constant"
        message = f"expected a matrix in global or shared memory, got one in {word} memory"
        raise RefusedCall(ArgumentError(position, message))
    words = {
        "aligned": "aligned",
        "layout": layout,
        "shape": builtin.shape,
        # Builtins of SM 80 use generic addresses.
        "ss": "" if builtin.is_second_generation else pointer.space,
        "type": builtin.types[builtin.matrix],
    }
    if is_load:
        words["matrix"] = builtin.matrix
    return Selection(
        wmma.LOAD if is_load else wmma.STORE,
        words,
        fragments={"r": 1 - position},
        values={"stride": 2},
        address={"p": position},
    )


def _multiply(builtin: Builtin, values: Sequence[Value]) -> Selection:
    rowcol = _code(values, 4, "rowcol", "0, 1, 2, or 3")
    types = builtin.types
    words = {
        "alayout": _LAYOUTS[rowcol >> 1],
        "blayout": _LAYOUTS[rowcol & 1],
        "shape": builtin.shape,
        "dtype": types["d"],
        "ctype": types["c"],
    }
    # The compiler ignores `satf` in builtins of SM 80.
    has_satf = builtin.unit != "bmma" and not builtin.is_second_generation
    saturation = "satfinite" if has_satf and _code(values, 5, "satf", "0, or 1") else ""
    if builtin.unit == "hmma":
        words["aligned"] = "aligned"
    else:
        words |= {"atype": types["a"], "btype": types["b"], "bitOp": builtin.bits, "satfinite": saturation}
    if builtin.unit == "dmma":
        words["rnd"] = "rn"
    present = {slot: word for slot, word in words.items() if word}
    fragments = {name: position for position, name in enumerate("dabc")}
    return Selection(form_that_allows(WMMA, present), present, fragments=fragments)


def _check_rows(builtin: Builtin, selection: Selection, target: Target) -> None:
    """Raise RefusedCall if the table of the form does not allow the instruction on the target."""
    form = selection.form
    slots = slots_of(form, selection.words)
    rows = form.rows_of({column: slots[column] for column in form.columns})
    if not rows:
        raise RefusedCall(*_illegal_layouts(builtin, selection))
    if unmet_by_rows(rows, target, latest_version()) is not None:
        needed = " or ".join(rows[0].targets)
        message = f"{builtin.name} needs {needed}; the target is {target.name}"
        raise RefusedCall(ArgumentError(None, message, "builtin.target"))


def _illegal_layouts(builtin: Builtin, selection: Selection) -> Iterator[ArgumentError]:
    # Elements of fewer than 8 bits allow one layout per matrix.
    opcode = compose(selection.form, selection.words, {}).opcode.split(".")
    if builtin.kind == "multiply":
        legal = {"alayout": "row", "blayout": "col"}
        name, position = ".".join(opcode[:2]), 4
    else:
        legal = {"layout": "row" if builtin.matrix == "a" else "col"}
        name, position = ".".join(opcode[:3]), 3
    for slot, word in legal.items():
        if (found := selection.words[slot]) != word:
            shown = "alayout" if slot == "layout" else slot
            yield ArgumentError(position, f"Illegal {shown} '.{found}' for instruction '{name}'")


# Warpgroups -----------------------------------------------------------------------------------------------------


def _warpgroup(builtin: Builtin, values: Sequence[Value], target: Target, errors: list[ArgumentError]) -> Selection:
    if target.name != "sm_90a":
        errors.append(ArgumentError(None, "__wgmma_mma_async builtins are only available for sm_90a", "builtin.target"))
    count = len(builtin.parameters) - 1
    constants = [_argument(values, position, builtin, errors) for position in range(count)]
    a, b = count + 1, count + 2
    if len(values) <= b:
        missing = "The 'A' or 'B' argument to __wgmma_mma_async call is missing"
        errors.append(ArgumentError(None, missing, "builtin.arguments"))
        raise RefusedCall(*errors)
    in_registers = values[a].type.depth == 1 and values[a].type.base in _BASES_OF_A
    if not in_registers and values[a].type.plain != DESCRIPTOR:
        errors.append(ArgumentError(a, "'A' argument must have void* or unsigned long long type", "builtin.arguments"))
    if values[b].type.plain != DESCRIPTOR:
        errors.append(ArgumentError(b, "'B' argument must be unsigned long long type", "builtin.arguments"))
    m, n, k = constants[:3]
    flags = dict(zip(builtin.booleans, constants[3:], strict=True))
    words = _warpgroup_words(builtin, n, k, flags)
    forms = WGMMA_REGISTERS if in_registers else WGMMA_DESCRIPTORS
    if m != 64 or not rows_with(forms, words):
        errors.append(ArgumentError(0, f"The shape m{m}n{n}k{k} is not supported for __wgmma_mma_async builtin"))
    if errors:
        raise RefusedCall(*errors)
    if n & (n - 1):
        raise RefusedCall(ArgumentError(1, "N only supported for powers of two"))
    form = form_that_allows(forms, words)
    operands = {"scale_d": flags["scale_d"]}
    operands |= {f"imm_scale_{x}": -1 if flags[f"neg_{x}"] else 1 for x in "ab"}
    operands |= {f"imm_trans_{x}": flags.get(f"trans_{x}", 0) for x in "ab"}
    return Selection(
        form,
        words,
        constants={name: value for name, value in operands.items() if name in form.operands},
        fragments={"d": count} | ({"a": a} if in_registers else {}),
        values={"b_desc": b} | ({} if in_registers else {"a_desc": a}),
    )


def _argument(values: Sequence[Value], position: int, builtin: Builtin, errors: list[ArgumentError]) -> int:
    """Return a constant argument of a warpgroup call. On error, append to `errors` and return 0."""
    if position >= len(values):
        return 0
    value = values[position]
    if isinstance(value.constant, int) and not -(1 << 63) <= value.constant < 1 << 64:
        errors.append(ArgumentError(position, "unexpected constant overflow in __wgmma_mma_async operand"))
        return 0
    found = None if value.type.depth else _constant(value, builtin.parameters[position].type)
    if found is None:
        errors.append(ArgumentError(position, "Non-constant argument to __wgmma_mma_async call"))
    return found or 0


def _warpgroup_words(builtin: Builtin, n: int, k: int, flags: dict[str, int]) -> dict[str, str]:
    a = b = builtin.operation
    if builtin.operation == "f8":
        a, b = ("e4m3" if flags[f"{x}_e4m3"] else "e5m2" for x in "ab")
    d = "f16" if flags.get("d_f16") else "f32"
    return {"n": str(n), "k": str(k), "dtype": d, "atype": a, "btype": b}
