"""MLIR's nvvm dialect in xDSL: operations with their MLIR syntax, their legality rules and their PTX."""

from types import ModuleType
from typing import TypeVar

from xdsl.ir import Attribute, Dialect

from warploom.nvvm.dialect import (
    arithmetic,
    attributes,
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
from warploom.nvvm.dialect.operation import InlinePtx, Operation

_MODULES = (
    *(wgmma, mma, wmma, matrix, copies, tensor_copies, prefetch, mbarrier, threads, barriers, warp, fences),
    *(tcgen05, tcgen05_mma, conversions, arithmetic, special_registers),
)
FAMILIES: dict[str, ModuleType] = {module.__name__.rpartition(".")[2]: module for module in _MODULES}
"""Modules that define the operations of an instruction family, by name."""

_Class = TypeVar("_Class")


def _defined(module: ModuleType, base: type[_Class]) -> list[type[_Class]]:
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, base)
        and value.__module__ == module.__name__
        and "name" in vars(value)
    ]


def operations_of(family: ModuleType) -> list[type[Operation]]:
    """Return the operations that a module defines, in the order of their definition."""
    return [*_defined(family, Operation), *getattr(family, "GENERATED", ())]


OPERATIONS: tuple[type[Operation], ...] = tuple(
    defined for family in FAMILIES.values() for defined in operations_of(family)
)
"""Operations of all families."""
NVVM = Dialect("nvvm", [*OPERATIONS, InlinePtx], _defined(attributes, Attribute))
"""Dialect to load into an xDSL context."""

__all__ = ["FAMILIES", "NVVM", "OPERATIONS", "InlinePtx", "Operation", "operations_of"]
