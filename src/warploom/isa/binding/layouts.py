"""Layouts of matrix operands, found by opcode and operand name."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import SupportsIndex

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import similar_name
from warploom.isa.binding.nearest import fixes, spell
from warploom.isa.binding.partial import completions
from warploom.isa.model.form import LONGEST_OPCODE, Match, forms, forms_of, heads, match_opcode
from warploom.isa.model.operand_layout import LayoutInputs, LayoutMap, OperandLayout
from warploom.layout import Descriptor, InstructionDescriptor, TensorMapFields

_LONGEST = 8 * LONGEST_OPCODE  # characters, with the operands: some have 128 registers


@dataclass(frozen=True, slots=True)
class Operand:
    """Matrix operand of an opcode, with its layout.

    `key` is the operand's name in the syntax line. `slots` maps the instruction's modifiers to their words.
    """

    opcode: str
    key: str
    slots: Mapping[str, str]
    layout: OperandLayout

    @property
    def name(self) -> str:
        """Name of the matrix: A, B, C, D, metadata, scale A, scale B, R or box (see `layout`)."""
        return self.layout.operand

    def map(self, given: LayoutInputs) -> LayoutMap:
        """Return the map between the matrix elements and their positions, for the inputs `given`.

        Errors: UsageError if the inputs do not fit the instruction, or if a required input is missing.
        """
        return self.layout.map(self.slots, given)


def layout(
    instruction: str, operand: str, *, selector: int = 0, byte_id: int = 0, thread_id: int = 0,
    descriptor: Descriptor | int | None = None, swizzle: int = 0, major: str = "K",
    tensor_map: TensorMapFields | None = None, idesc: InstructionDescriptor | int | None = None,
) -> LayoutMap:  # fmt: skip
    """Return the layout of a matrix operand in registers, shared memory or tensor memory.

    A map of registers is (lane, item) -> (row, col). A map of shared memory is (row, col) -> byte. A map of tensor
    memory is (row, col) -> CTA, lane, column and bit.

    - `instruction`: opcode, with or without operands
    - `operand`: "A", "B", "C", "D", "metadata", "scale A", "scale B", "R" (the registers of a matrix load, store or
      move), "box" (the shared memory of a tensor copy), or the operand's name in the syntax line ("a-desc")
    - `selector`: sparsity selector of metadata
    - `byte_id`, `thread_id`: selectors of the bytes and lanes with scale factors
    - `descriptor`: matrix descriptor of an operand in shared memory
    - `swizzle`, `major`: without `descriptor`, the swizzle in bytes (0, 32, 64 or 128) and the contiguous dimension
      ("K" or "MN") of an operand that is packed from address 0 of shared memory
    - `tensor_map`: fields of the tensor map of a box
    - `idesc`: instruction descriptor of a multiplication in tensor memory

    If an instruction allows A in several places, `descriptor`, `swizzle` or `major` selects shared memory.

    Errors: UsageError for an unknown instruction or operand, and for an input that the layout does not depend on.
    """
    for name, value in (("instruction", instruction), ("operand", operand)):
        if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- any object
            raise UsageError(f"{name} is {value!r}; expected a text")
    for name, value, kind, noun in (
        ("descriptor", descriptor, Descriptor, "matrix descriptor"),
        ("idesc", idesc, InstructionDescriptor, "instruction descriptor"),
    ):
        if not isinstance(value, (kind, SupportsIndex, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"{name} is {value!r}; expected the {noun} or its integer")
    given = LayoutInputs(selector, byte_id, thread_id, descriptor, swizzle, major, tensor_map, idesc)
    return find_operand(operands_of(instruction), operand, given).map(given)


def complete(instruction: str) -> tuple[str, ...]:
    """Return legal opcodes with operands of a known layout that a partial opcode may stand for.

    The result is empty for a legal opcode, and for an instruction with operands. An operation of MLIR's nvvm dialect,
    such as `nvvm.wgmma.mma_async`, stands for the instruction with the same name.
    """
    opcode, values = _split(instruction)
    if values is not None or match_opcode(opcode):
        return ()
    found = completions(opcode.removeprefix("nvvm."))
    return tuple(each for form, each in found.items() if any(spec.layout for spec in form.operands.values()))


def operands_of(instruction: str) -> tuple[Operand, ...]:
    """Return the operands that have a layout, in the order of the syntax line.

    Errors: UsageError for an unknown opcode, and for an opcode without such operands.
    """
    opcode, values = _split(instruction)
    matches = match_opcode(opcode)
    if not matches:
        raise UsageError(f"unknown instruction {opcode!r}", hint=_nearest(opcode))
    fitting = [match for match in matches if values is None or _fits(match, values)] or matches
    found = {
        (name, spec.layout.operand): Operand(opcode, name, match.slots, spec.layout)
        for match in fitting
        for named in match.form.syntax.operands
        for name in named.names
        if (spec := match.form.operands[name]).layout is not None and (not spec.when or match.slots.get(spec.when))
    }
    if not found:
        with_layouts = ", ".join(
            sorted({form.family for form in forms() for spec in form.operands.values() if spec.layout})
        )
        raise UsageError(f"no operand of {opcode} has a known layout; expected an instruction of {with_layouts}")
    return tuple(found.values())


def find_operand(operands: Iterable[Operand], name: str, given: LayoutInputs) -> Operand:
    """Return the operand named `name`, such as "A". Its layout must depend on all given inputs.

    Errors: UsageError for an unknown name, and for an input that the layout does not depend on.
    """
    operands = tuple(operands)
    wanted = _normalized(name)
    called = [each for each in operands if _normalized(each.name) == wanted] or [
        each for each in operands if _normalized(each.key) == wanted
    ]
    if not called:
        legal = ", ".join(dict.fromkeys(each.name for each in operands))
        raise UsageError(f"{operands[0].opcode} has no operand {name!r}; expected {legal}")
    changed = given.changed()
    fitting = [each for each in called if set(changed) <= set(each.layout.needs)]
    if not fitting:
        unused = next(field for field in changed if field not in called[0].layout.needs)
        raise UsageError(f"{called[0].name} of {called[0].opcode} does not depend on {_input_name(unused)}")
    return max(fitting, key=lambda each: _relevance(each, changed))


def select_operands(operands: Iterable[Operand], given: LayoutInputs) -> tuple[Operand, ...]:
    """Return for each name the operand whose layout depends on the largest number of given inputs.

    Errors: UsageError for an input that no layout depends on.
    """
    operands = tuple(operands)
    for field in given.changed():
        if not any(field in each.layout.needs for each in operands):
            raise UsageError(f"no operand of {operands[0].opcode} depends on {_input_name(field)}")
    changed = given.changed()
    chosen: dict[str, Operand] = {}
    for each in operands:
        before = chosen.get(each.name)
        if before is None or _relevance(each, changed) > _relevance(before, changed):
            chosen[each.name] = each
    return tuple(chosen.values())


def _relevance(operand: Operand, changed: Iterable[str]) -> tuple[int, int]:
    needs = operand.layout.needs
    return len(set(changed) & set(needs)), -len(needs)  # among equals, prefer the layout with fewer inputs


def _input_name(field: str) -> str:
    names = {"selector": "a sparsity selector", "idesc": "an instruction descriptor"}
    return names.get(field) or f"a {field.replace('_', ' ')}"


def _normalized(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()


def _split(instruction: str) -> tuple[str, list[str] | None]:
    """Return the opcode and the operand texts of an instruction. Without operands, the texts are None."""
    if not instruction.strip(" ;"):
        raise UsageError("no instruction was given; expected an opcode")
    if len(instruction) > _LONGEST:
        raise UsageError(f"an instruction has {len(instruction)} characters; expected at most {_LONGEST}")
    text = re.sub(r"^@!?[%\w$]+\s+", "", instruction.strip().rstrip(";").strip())
    opcode, *rest = text.split(maxsplit=1)
    if not rest:
        return opcode, None
    return opcode, [part.strip() for part in re.split(r",(?![^{\[(]*[}\])])", rest[0])]


def _fits(match: Match, values: list[str]) -> bool:
    for named, value in zip(match.form.syntax.operands, values):
        spec = match.form.operands[named.names[0]]
        if spec.kind == "register" and value.startswith("{") != (bool(named.parts) or spec.registers(match.slots) > 0):
            return False
    return True


def _nearest(opcode: str) -> str:
    if len(opcode) > LONGEST_OPCODE:
        return ""
    head = opcode.split(".", maxsplit=1)[0]
    if not forms_of(head):
        similar = similar_name(head, heads(), 0.5)
        return f"did you mean {similar}?" if similar else ""
    near = list(completions(opcode).values())[:1] or [fix.nearest or spell(fix.match) for fix in fixes(opcode)[:2]]
    return f"did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""
