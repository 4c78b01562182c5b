"""Lowering of the gpu and scf dialects to the nvvm, llvm and cf dialects.

Values of the type `index` have 64 bits.
"""

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    IntAttr,
    ModuleOp,
    UnitAttr,
    UnrealizedConversionCastOp,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.transforms.convert_scf_to_cf import ConvertScfToCf
from xdsl.utils.exceptions import VerifyException

from warploom.nvvm.dialect.attributes import ConstantRange, ShuffleMode
from warploom.nvvm.dialect.barriers import Barrier0
from warploom.nvvm.dialect.warp import Shuffle
from warploom.nvvm.errors import LowerError
from warploom.nvvm.llvm_builder import LlvmBuilder
from warploom.nvvm.mlir.llvm_syntax import operation_class
from warploom.nvvm.mlir.llvm_values import numbers_of
from warploom.nvvm.mlir.metadata import number_of
from warploom.nvvm.mlir_text import ParsedModule

_SREG = "read.ptx.sreg"
_DIMENSIONS = {
    "thread_id": "tid", "block_id": "ctaid", "block_dim": "ntid", "grid_dim": "nctaid", "cluster_id": "clusterid",
    "cluster_dim": "nclusterid", "cluster_block_id": "cluster.ctaid", "cluster_dim_blocks": "cluster.nctaid",
}  # fmt: skip
"""Special registers by operation of the gpu dialect."""
_SIZES = {
    "gpu.thread_id": "known_block_size", "gpu.block_dim": "known_block_size",
    "gpu.block_id": "known_grid_size", "gpu.grid_dim": "known_grid_size",
}  # fmt: skip
"""Attribute of a function that bounds the results of an operation."""
_NUMBERS = {"lane_id": "laneid", "subgroup_size": "warpsize"}
_SHUFFLES = {"xor": "bfly", "up": "up", "down": "down", "idx": "idx"}
_WARP = 32


def lower_gpu(parsed: ParsedModule) -> None:
    """Replace gpu operations for indices, barriers and shuffles, and the loops and conditions of scf.

    Other operations of the gpu dialect stay. Errors: LowerError lower.operation
    """
    module: ModuleOp = parsed.module
    found = list(module.walk())
    if any(isinstance(each, scf.ForOp | scf.IfOp | scf.IndexSwitchOp) for each in found):
        ConvertScfToCf().apply(Context(), module)
    for operation in found:
        if operation.attributes and operation.name.startswith("nvvm."):
            message = (
                f"'{operation.name}' has the attribute '{next(iter(operation.attributes))}', which cannot be lowered"
            )
            raise LowerError([parsed.diagnostic(operation, message)])
        if (lowering := _LOWERINGS.get(operation.name)) is not None:
            build = LlvmBuilder()
            try:
                results = lowering(operation, build)
            except VerifyException as error:
                raise LowerError([parsed.diagnostic(operation, str(error))]) from None
            for made in build.operations:
                parsed.sources[made] = operation
            Rewriter.replace_op(operation, build.operations, results)


def _register(name: str, build: LlvmBuilder) -> SSAValue:
    return build.value(name, (), i32)


def _wide(value: SSAValue, build: LlvmBuilder) -> SSAValue:
    """Return an i32 sign-extended to i64."""
    build.operations.append(wide := operation_class("llvm.sext").create(operands=[value], result_types=[i64]))
    return wide.results[0]


def _index(value: SSAValue, build: LlvmBuilder) -> SSAValue:
    """Return an integer as an index."""
    wide = value if value.type == i64 else _wide(value, build)
    build.operations.append(cast := UnrealizedConversionCastOp.get([wide], [IndexType()]))
    return cast.results[0]


def _word(operation: Operation, name: str) -> str:
    """Return the word of an enumeration attribute, such as x for `#gpu<dim x>`."""
    found = {**operation.attributes, **operation.properties}[name]
    return str(found).strip('"').rpartition(" ")[2].rstrip(">")


def _coordinate(operation: Operation, build: LlvmBuilder) -> list[SSAValue]:
    name, axis = _DIMENSIONS[operation.name.removeprefix("gpu.")], _word(operation, "dimension")
    register = _register(f"{_SREG}.{name}.{axis}", build)
    if most := _most(operation, "xyz".index(axis)):
        first = int("_dim" in operation.name)
        bounds = ConstantRange(i32, IntAttr(first), IntAttr(most + first))
        assert isinstance(register.owner, Operation)
        register.owner.attributes["res_attrs"] = ArrayAttr([DictionaryAttr({"llvm.range": bounds})])
    return [_index(register, build)]


def _most(operation: Operation, axis: int) -> int:
    """Return the known size of the block or grid that an index belongs to, or 0."""
    if (stated := operation.attributes.get("upper_bound", operation.properties.get("upper_bound"))) is not None:
        return number_of(stated)
    function = operation.parent_op()
    while function is not None and not function.name.endswith(".func"):
        function = function.parent_op()
    if function is None or operation.name not in _SIZES:
        return 0
    found = {**function.attributes, **function.properties}
    name = _SIZES[operation.name]
    numbers = numbers_of(found.get(name, found.get(f"gpu.{name}")))
    return numbers[axis] if axis < len(numbers) else 0


def _number(operation: Operation, build: LlvmBuilder) -> list[SSAValue]:
    return [_index(_register(f"{_SREG}.{_NUMBERS[operation.name.removeprefix('gpu.')]}", build), build)]


def _arithmetic(name: str, a: SSAValue, b: SSAValue, build: LlvmBuilder) -> SSAValue:
    build.operations.append(made := operation_class(f"llvm.{name}").create(operands=[a, b], result_types=[a.type]))
    return made.results[0]


def _global_id(operation: Operation, build: LlvmBuilder) -> list[SSAValue]:
    letter = _word(operation, "dimension")
    registers = (_register(f"{_SREG}.{name}.{letter}", build) for name in ("ctaid", "ntid", "tid"))
    block, size, thread = (_wide(register, build) for register in registers)
    return [_index(_arithmetic("add", _arithmetic("mul", block, size, build), thread, build), build)]


def _subgroup(operation: Operation, build: LlvmBuilder) -> list[SSAValue]:
    """Return the number of the warp in the CTA, or the number of warps."""
    x, y, z = (_register(f"{_SREG}.ntid.{letter}", build) for letter in "xyz")
    shift = build.constant(5, i32)
    if operation.name == "gpu.num_subgroups":
        threads = _arithmetic("mul", _arithmetic("mul", x, y, build), z, build)
        whole = _arithmetic("add", threads, build.constant(_WARP - 1, i32), build)
        return [_index(_arithmetic("lshr", whole, shift, build), build)]
    a, b, c = (_register(f"{_SREG}.tid.{letter}", build) for letter in "xyz")
    row = _arithmetic("add", _arithmetic("mul", c, y, build), b, build)
    linear = _arithmetic("add", _arithmetic("mul", row, x, build), a, build)
    return [_index(_arithmetic("lshr", linear, shift, build), build)]


def _barrier(operation: Operation, build: LlvmBuilder) -> list[SSAValue]:
    build.operations.append(Barrier0.build())
    return []


def _shuffle(operation: Operation, build: LlvmBuilder) -> list[SSAValue]:
    value, offset, width = operation.operands
    kind = value.type
    if kind not in (i32, f32):
        raise VerifyException(f"'gpu.shuffle' value has the type {kind}; expected i32 or f32")
    mode = _SHUFFLES[_word(operation, "mode")]
    unused = _arithmetic("sub", build.constant(_WARP, i32), width, build)
    lanes = _arithmetic("lshr", build.constant(-1, i32), unused, build)
    clamp = unused if mode == "up" else _arithmetic("sub", width, build.constant(1, i32), build)
    properties: dict[str, Attribute] = {"kind": ShuffleMode(mode)}
    result: Attribute = kind
    if is_tested := bool(operation.results[1].uses):
        properties["return_value_and_is_valid"] = UnitAttr()
        result = LLVMStructType.from_type_list([kind, i1])
    made = Shuffle.build(operands=[lanes, value, offset, clamp], properties=properties, result_types=[result])
    build.operations.append(made)
    if not is_tested:
        return [made.results[0], build.flag(condition=True)]
    return [build.element(made.results[0], 0), build.element(made.results[0], 1)]


_LOWERINGS: dict[str, Callable[[Operation, LlvmBuilder], list[SSAValue]]] = {
    **dict.fromkeys((f"gpu.{name}" for name in _DIMENSIONS), _coordinate),
    **dict.fromkeys((f"gpu.{name}" for name in _NUMBERS), _number),
    **dict.fromkeys(("gpu.subgroup_id", "gpu.num_subgroups"), _subgroup),
    "gpu.global_id": _global_id,
    "gpu.barrier": _barrier,
    "gpu.shuffle": _shuffle,
}
