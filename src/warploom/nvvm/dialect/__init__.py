"""MLIR's nvvm dialect in xDSL: operations with their MLIR syntax, their legality rules and their PTX."""

from types import ModuleType

from xdsl.ir import Dialect

from warploom.nvvm.dialect import (
    arithmetic,
    barriers,
    conversions,
    copies,
    fences,
    matrix,
    mbarrier,
    mma,
    prefetch,
    special_registers,
    tcgen05,
    tcgen05_mma,
    tensor_copies,
    threads,
    warp,
    wgmma,
    wmma,
)
from warploom.nvvm.dialect.attributes import ATTRIBUTES
from warploom.nvvm.dialect.operation import InlinePtx, Operation

_MODULES = (
    *(wgmma, mma, wmma, matrix, copies, tensor_copies, prefetch, mbarrier, threads, barriers, warp, fences),
    *(tcgen05, tcgen05_mma, conversions, arithmetic, special_registers),
)
FAMILIES: dict[str, ModuleType] = {module.__name__.rpartition(".")[2]: module for module in _MODULES}
"""Modules that define the operations of an instruction family, by name."""


def operations_of(family: ModuleType) -> list[type[Operation]]:
    """Return the operations that a module defines, in the order of their definition."""
    named = [
        each
        for each in vars(family).values()
        if isinstance(each, type) and issubclass(each, Operation) and "name" in vars(each)
    ]
    return [*named, *getattr(family, "GENERATED", ())]


OPERATIONS: tuple[type[Operation], ...] = tuple(
    defined for family in FAMILIES.values() for defined in operations_of(family)
)
"""Operations of all families."""
NVVM = Dialect("nvvm", [*OPERATIONS, InlinePtx], list(ATTRIBUTES.values()))
"""Dialect to load into an xDSL context."""

__all__ = ["FAMILIES", "NVVM", "OPERATIONS", "InlinePtx", "Operation", "operations_of"]
