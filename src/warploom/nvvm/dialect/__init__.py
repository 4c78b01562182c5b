"""The nvvm dialect in xDSL: one file a family, each operation with MLIR's text, its legality and its PTX."""

from __future__ import annotations

from types import ModuleType
from typing import TypeVar

from xdsl.ir import Attribute, Dialect

from warploom.nvvm.dialect import (
    copies,
    fences,
    matrix,
    mbarrier,
    mma,
    tcgen05,
    tcgen05_mma,
    tensor_copies,
    threads,
    vocabulary,
    wgmma,
    wmma,
    words,
)
from warploom.nvvm.dialect.inline import InlinePtx
from warploom.nvvm.dialect.operation import Operation

FAMILIES: dict[str, ModuleType] = {
    family.__name__.rpartition(".")[2]: family
    for family in (
        wgmma,
        mma,
        wmma,
        matrix,
        copies,
        tensor_copies,
        mbarrier,
        threads,
        fences,
        tcgen05,
        tcgen05_mma,
    )
}
"""The files of the dialect's operations."""

_Class = TypeVar("_Class")


def _declared(module: ModuleType, base: type[_Class]) -> list[type[_Class]]:
    """The classes of a module that xDSL has a definition of."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, base)
        and value.__module__ == module.__name__
        and "name" in vars(value)
    ]


def operations_of(family: ModuleType) -> list[type[Operation]]:
    """The operations of a family, in the order of their declaration."""
    return _declared(family, Operation)


OPERATIONS: tuple[type[Operation], ...] = tuple(
    operation for family in FAMILIES.values() for operation in operations_of(family)
)
ATTRIBUTES: tuple[type[Attribute], ...] = tuple(
    attribute for module in (words, vocabulary) for attribute in _declared(module, Attribute)
)

NVVM = Dialect("nvvm", [*OPERATIONS, InlinePtx], list(ATTRIBUTES))
"""The dialect."""

__all__ = ["ATTRIBUTES", "FAMILIES", "NVVM", "OPERATIONS", "InlinePtx", "Operation", "operations_of"]
