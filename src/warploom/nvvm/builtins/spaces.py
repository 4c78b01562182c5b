"""State spaces of pointers, found from the variables and parameters behind the pointers."""

from collections.abc import Iterable, Iterator

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntAttr
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from warploom.nvvm.dialect.types import ADDRESS_SPACES, STATE_SPACES, pointer_to

_KEEP = frozenset({"llvm.getelementptr", "llvm.addrspacecast", "llvm.inttoptr", "llvm.ptrtoint"})
"""Operations whose result has the space of their first operand."""
_NULL = frozenset({"llvm.mlir.zero", "llvm.mlir.undef"})


def space_of(pointer: SSAValue, *, is_kernel: bool) -> str:
    """Return "global", "shared", "local" or "const" for a pointer, or "" for an unknown space.

    A kernel receives addresses of global memory only.
    """
    found: set[str] = set()
    seen: set[SSAValue] = set()
    pending = [pointer]
    while pending:
        if (value := pending.pop()) in seen:
            continue
        seen.add(value)
        known = _known_space(value, is_kernel=is_kernel)
        if known is None:
            pending += _sources(value)
        else:
            found.add(known)
    return found.pop() if len(found) == 1 else ""


def is_constant_memory(pointer: SSAValue) -> bool:
    """Return True for the address of a variable in constant memory, or of a part of it."""
    while isinstance(pointer, OpResult) and pointer.op.name in _KEEP:
        pointer = pointer.op.operands[0]
    return pointer.type == pointer_to(ADDRESS_SPACES["const"])


def _known_space(value: SSAValue, *, is_kernel: bool) -> str | None:
    """Return the space of a value, or None if the space is that of the values from which it is computed."""
    if isinstance(value.type, LLVMPointerType) and isinstance(space := value.type.addr_space, IntAttr) and space.data:
        return STATE_SPACES.get(space.data, "")
    match value.owner:
        case llvm.AllocaOp():
            return "local"
        case llvm.LoadOp(ptr=variable):
            return None if _is_private(variable) else ""
        case Block() as block if block.parent is None or block is block.parent.first_block:
            return "global" if is_kernel else ""
        case Operation(name=name) if name not in _KEEP | _NULL:
            return ""
        case _:
            return None


def _is_private(variable: SSAValue) -> bool:
    """Return True if only loads and stores access a local variable."""
    return isinstance(variable.owner, llvm.AllocaOp) and all(
        isinstance(use.operation, llvm.LoadOp) or (isinstance(use.operation, llvm.StoreOp) and use.index == 1)
        for use in variable.uses
    )


def _sources(value: SSAValue) -> Iterable[SSAValue]:
    """Return the values from which a value is computed."""
    match value:
        case OpResult(op=llvm.LoadOp(ptr=variable)):
            return [use.operation.operands[0] for use in variable.uses if isinstance(use.operation, llvm.StoreOp)]
        case OpResult(op=operation):
            return operation.operands[:1]
        case BlockArgument(block=block, index=index):
            return [each for before in block.predecessors() for each in _passed(before.last_op, block, index)]
        case _:
            return ()


def _passed(branch: Operation | None, block: Block, index: int) -> Iterator[SSAValue]:
    """Yield the arguments with the number `index` that a branch passes to a block."""
    match branch:
        case llvm.CondBrOp():
            groups = [branch.then_arguments, branch.else_arguments]
        case llvm.BrOp():
            groups = [branch.operands]
        case _:
            groups = []
    for target, arguments in zip(branch.successors if branch else (), groups, strict=False):
        if target is block:
            yield arguments[index]
