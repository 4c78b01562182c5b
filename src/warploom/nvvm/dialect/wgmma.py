"""Warpgroup multiplication: the operations whose names begin with nvvm.wgmma."""

import re
from collections.abc import Iterator

from xdsl.dialects.builtin import IntAttr, ModuleOp
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Block
from xdsl.ir import Operation as AnyOperation

from warploom.isa.binding.compose import rows_with, slots_of
from warploom.isa.instructions import compare, wgmma
from warploom.isa.model.table import Row
from warploom.nvvm.dialect.attributes import Layout, Overflow, ScaleIn, ScaleOut, Shape, WgmmaType
from warploom.nvvm.dialect.lowering import InstructionTemplate, Lowering, OperandTemplate, Registers, Temporary
from warploom.nvvm.dialect.mma import saturation_words
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.dialect.types import registers_of
from warploom.nvvm.forms import WGMMA_DESCRIPTORS, WGMMA_REGISTERS

_ROWS = 64

WgmmaFence = operation(
    "nvvm.wgmma.fence.aligned",
    "Fence for the registers of a warpgroup before the warpgroup's next multiplication.",
    wgmma.FENCE,
)
WgmmaCommitGroup = operation(
    "nvvm.wgmma.commit.group.sync.aligned", "Commit of the earlier multiplications to a group.", wgmma.COMMIT
)
WgmmaWaitGroup = operation(
    "nvvm.wgmma.wait.group.sync.aligned(group as N: int64)",
    "Wait until at most the latest `group` groups are pending.",
    wgmma.WAIT,
    syntax="attr-dict $group",
    rules="group<0: group is {group}; expected 0 or more",
)


def multiplication_properties(
    words: dict[str, str], *, adds: bool, negates: tuple[bool, bool], transposes: tuple[bool, bool]
) -> dict[str, Attribute]:
    """Return the properties of a `WgmmaMmaAsync` operation.

    `words` are the instruction's modifiers by name. `adds` is True if the product is added to the accumulator.
    `negates` and `transposes` have one element for A and one for B. A transposed matrix is contiguous along M or N.
    """
    signs = [ScaleIn("neg" if each else "one") for each in negates]
    properties: dict[str, Attribute] = {
        "shape": Shape(*(IntAttr(int(each)) for each in re.findall(r"\d+", words["shape"]))),
        "typeA": WgmmaType(words["atype"]),
        "typeB": WgmmaType(words["btype"]),
        "typeD": WgmmaType(words["dtype"]),
        "scaleD": ScaleOut("one" if adds else "zero"),
        "scaleA": signs[0],
        "scaleB": signs[1],
        "layoutA": Layout("col" if transposes[0] else "row"),
        "layoutB": Layout("row" if transposes[1] else "col"),
    }
    return properties | ({"satfinite": Overflow("satfinite")} if words.get("satfinite") else {})


def _words(op: Operation) -> dict[str, str]:
    """Return the modifiers of the multiplication by name."""
    _, n, k = op.extents("shape")
    words = {"n": str(n), "k": str(k), "dtype": op.text("typeD"), "atype": op.text("typeA"), "btype": op.text("typeB")}
    return words | ({"bitOp": "and"} if words["atype"] == "b1" else {}) | saturation_words(op, "satfinite")


def _multiplication(op: Operation) -> InstructionTemplate:
    """Return the template of the multiplication, with the operands of all its forms."""
    scales = {"one": 1, "neg": -1}
    forms = WGMMA_DESCRIPTORS if op.text("descriptorA") == "i64" else WGMMA_REGISTERS
    operands: dict[str, OperandTemplate] = {
        "d": Registers([op.value("results_")]),
        "a": Registers([op.value("descriptorA")]),
        "a_desc": op.value("descriptorA"),
        "b_desc": op.value("descriptorB"),
        "scale_d": Temporary("p"),
        "imm_scale_a": scales[op.text("scaleA")],
        "imm_scale_b": scales[op.text("scaleB")],
        "imm_trans_a": int(op.text("layoutA") == "col"),
        "imm_trans_b": int(op.text("layoutB") == "row"),
    }
    return InstructionTemplate(forms, _words(op), operands, late=("satfinite",))


def _lower(op: Operation) -> Lowering:
    compared: dict[str, OperandTemplate] = {"p": Temporary("p"), "a": int(op.text("scaleD") == "one"), "b": 0}
    adds = InstructionTemplate([compare.SETP], {"CmpOp": "ne", "type": "b32"}, compared)
    return Lowering([adds, _multiplication(op)], [(op.value("inouts"), op.value("results_"))])


def _struct_error(op: Operation) -> str:
    struct = op.value("results_").type
    assert isinstance(struct, LLVMStructType)
    elements = struct.types.data
    for element in elements:
        if element != elements[0]:
            return f"all elements in struct must be same type but there is {element}"
    expected = op.text("inouts")
    return "" if str(struct) == expected else f"results are {struct}; expected those of the accumulator: {expected}"


def _type_error(op: Operation) -> str:
    words = _words(op)

    def rows(*columns: str) -> list[Row]:
        return rows_with(WGMMA_DESCRIPTORS, {column: words[column] for column in columns})

    d, a, b = words["dtype"], words["atype"], words["btype"]
    if not rows("dtype"):
        return f"does not support the given output type {d}"
    if d == "s32" and "neg" in (op.text("scaleA"), op.text("scaleB")):
        return "has s32 output, scaleA and scaleB cannot be neg"
    if not (of_types := rows("dtype", "atype", "btype")):
        return f"{d} += {a} * {b}, it is not supported."
    if op.extents("shape")[0] != _ROWS:
        return f"shape 'm' must be {_ROWS}"
    if not (of_k := rows("dtype", "atype", "btype", "k")):
        return f"shape 'k' must be {of_types[0].cells['k'][0]} for input type {a}"
    if not rows("dtype", "atype", "btype", "k", "n"):
        expected = ", ".join(of_k[0].cells["n"])
        return f"has input type {a} n is set to {words['n']}, it is not supported. Expected {expected}."
    return ""


def _count_error(op: Operation) -> str:
    template = _multiplication(op)
    expected = template.form.operands["d"].registers(slots_of(template.form, template.present_words))
    count = len(registers_of(op.value("results_").type))
    return "" if count == expected else f"results {expected}, however output struct has {count} elements"


_TRANSPOSED = (
    "given layouts layout_a = {layoutA} and layout_b = {layoutB} for input types {typeA} and {typeB}"
    " requires transpose. However, this is only supported for: f16 and bf16"
)
_SATURATED = "`satfinite` can be only used with s32 accumulator, however the current accumulator is {typeD}"
WgmmaMmaAsync = operation(
    "nvvm.wgmma.mma_async(inouts: struct, descriptorA: i64|struct, descriptorB: i64, shape: shape, typeA: wgmma_type,"
    " typeB: wgmma_type, typeD: wgmma_type, scaleD: wgmma_scale_out, scaleA: wgmma_scale_in, scaleB: wgmma_scale_in,"
    " layoutA: mma_layout, layoutB: mma_layout, satfinite?: mma_int_overflow) -> results_: struct",
    "Multiplication by a warpgroup. The accumulator is an operand and the result."
    " Warploom extends MLIR: A may also be a struct of registers."
    " The type of this struct then stands before the type of the accumulator.",
    *(*WGMMA_DESCRIPTORS, *WGMMA_REGISTERS),
    syntax="$descriptorA `,` $descriptorB `,` $inouts `,` $shape `,`"
    " `D` `[` $typeD `,` $scaleD (`,` $satfinite^)? `]` `,`"
    " `A` `[` $typeA `,` $scaleA `,` $layoutA `]` `,`"
    " `B` `[` $typeB `,` $scaleB `,` $layoutB `]`"
    " attr-dict `:` custom<WgmmaTypes>(type($descriptorA), type($inouts)) `->` type($results_)",
    rules=[
        _struct_error,
        _type_error,
        f"""
        typeA!=f16|bf16 layoutA=col: {_TRANSPOSED}
        typeA!=f16|bf16 layoutB=row: {_TRANSPOSED}
        descriptorA!=i64 layoutA=col: expected layout_a to be row for A in registers
        satfinite=satfinite typeD!=s32: {_SATURATED}
        """,
        _count_error,
    ],
    lower=_lower,
)

# Protocol --------------------------------------------------------------------------------------------------


def protocol_violations(module: ModuleOp) -> Iterator[tuple[AnyOperation, str]]:
    """Yield each operation that lacks a wgmma fence, commit or wait before it, with the error message.

    Each MLIR block is checked separately.
    """
    for each in module.walk():
        for region in each.regions:
            for block in region.blocks:
                yield from _block_violations(block)


def _block_violations(block: Block) -> Iterator[tuple[AnyOperation, str]]:
    fenced = False
    committed = complete = 0
    group: dict[AnyOperation, int] = {}
    for each in block.ops:
        if isinstance(each, WgmmaFence):
            fenced = True
        elif isinstance(each, WgmmaMmaAsync):
            # A multiplication reads its accumulator after its issue, when it executes.
            if not fenced and not isinstance(each.value("inouts").owner, WgmmaMmaAsync):
                yield each, f"needs a '{WgmmaFence.name}' after the writes of its accumulator"
            group[each] = committed + 1
        elif isinstance(each, WgmmaCommitGroup):
            committed += 1
        elif isinstance(each, WgmmaWaitGroup):
            complete = max(complete, committed - each.number("group"))
            fenced = False
        for value in each.operands:
            writer = value.owner
            if not isinstance(writer, WgmmaMmaAsync) or isinstance(each, WgmmaMmaAsync):
                continue
            if group.get(writer, 0) > complete:
                missing = WgmmaWaitGroup.name if group[writer] <= committed else WgmmaCommitGroup.name
                yield (each, f"reads an accumulator before its multiplication is complete: add '{missing}'")
