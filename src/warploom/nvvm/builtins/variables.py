"""Variables of CUDA C: their scopes, their addresses, and the functions and variables of the module."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects import llvm
from xdsl.ir import Block, Operation, Region

from warploom.diagnostics import Span
from warploom.nvvm.builtins.c_types import CType, Value
from warploom.nvvm.builtins.emitter import AnyOperation, Emitter, memory_type
from warploom.nvvm.builtins.source import BuiltinError, CudaText
from warploom.nvvm.dialect.types import ADDRESS_SPACES, pointer_to

ALIGN = 16
"""Least alignment of an array or a variable of the module, in bytes."""
_NODES = {"Label": "a label", "CompoundLiteral": "a compound literal", "InitList": "a list of initializers here"}


@dataclass(frozen=True, slots=True)
class Place:
    """Variable in memory: its address and C type."""

    address: Value
    type: CType


@dataclass(frozen=True, slots=True)
class Global:
    """Variable of the module."""

    name: str
    space: str
    type: CType


class Variables(Emitter):
    """Emitter with the variables of a text. `operations` are the functions and variables of the module.

    The blocks of a function are in `region`. `entry` is its first block, which has the local variables. `scopes` has
    the names of the module, then those of the function and of each statement around the current one.
    """

    def __init__(self, text: CudaText) -> None:
        super().__init__()
        self.text = text
        self.scopes: list[dict[str, Value | Place | Global | CType]] = [{}]
        self.operations: list[Operation] = []
        self.region = Region()
        self.entry = Block()
        # Names of the functions and variables in `operations`.
        self.names: set[str] = set()
        # Span of the expression or statement that is translated, and that of each operation.
        self.position = Span(0, 1)
        self.spans: dict[Operation, Span] = {}

    def add(self, operation: AnyOperation) -> AnyOperation:
        """Add an operation to the block and return it."""
        self.spans[operation] = self.position
        return super().add(operation)

    def error(self, message: str, node: Any, hint: str = "") -> BuiltinError:
        """Return an error at the token at which a node begins."""
        return self.text.error(message, self.text.span(node), hint)

    def refused(self, node: Any) -> BuiltinError:
        """Return the error for a node that cannot be lowered."""
        name = type(node).__name__
        return self.error(f"cannot lower {_NODES.get(name, name)}", node)

    def start(self, *blocks: Block) -> None:
        """Add blocks to the function and continue at the last one."""
        for block in blocks:
            self.region.add_block(block)
            self.block = block

    @contextmanager
    def scope(self) -> Generator[None]:
        """Open a scope for names."""
        self.scopes.append({})
        yield
        self.scopes.pop()

    @contextmanager
    def inside(self, block: Block, region: Region | None = None) -> Generator[None]:
        """Emit operations to the end of another block. `region` receives the blocks that they need."""
        kept = self.block, self.region
        self.block, self.region = block, region or self.region
        yield
        self.block, self.region = kept

    # Variables ----------------------------------------------------------------------------------------------

    def find(self, name: str) -> Value | Place | None:
        """Return the innermost variable or constant with a name."""
        found = next((scope[name] for scope in reversed(self.scopes) if name in scope), None)
        if isinstance(found, Global):
            return self.place_of(found)
        return None if isinstance(found, CType) else found

    def place_of(self, variable: Global) -> Place:
        """Return the location of a variable of the module."""
        address = self.result(llvm.AddressOfOp(variable.name, pointer_to(ADDRESS_SPACES[variable.space])))
        generic = self.cast("addrspacecast", address, pointer_to(0))
        return Place(Value(variable.type.element.pointer, None, generic, 0, variable.type.size), variable.type)

    def local(self, name: str, ctype: CType, scope: int = -1) -> Place:
        """Declare a local variable."""
        with self.inside(self.entry):
            alignment = ALIGN if ctype.extents else max(4, ctype.size)
            pointer = self.result(llvm.AllocaOp(self.integer(1), memory_type(ctype), alignment))
        place = Place(Value(ctype.element.pointer, None, pointer, 0, ctype.size), ctype)
        self.scopes[scope][name] = place
        return place

    def parameter(self, name: str, ctype: CType, scope: int = -1) -> Place:
        """Declare a parameter of the function."""
        place = self.local(name, ctype, scope)
        argument = self.entry.insert_arg(memory_type(ctype), len(self.entry.args))
        with self.inside(self.entry):
            self.add(llvm.StoreOp(argument, self.ssa(place.address), ctype.size))
        return place

    def variable(self, name: str, ctype: CType, space: str, linkage: str, **more: Any) -> Global:
        """Add a variable to the module. A name that the module already has gets a number.

        `more` are arguments of the operation, such as the initial value.
        """
        found, number = name, 0
        while found in self.names:
            number += 1
            found = f"{name}_{number}"
        self.names.add(found)
        self.operations.append(llvm.GlobalOp(memory_type(ctype), found, linkage, ADDRESS_SPACES[space], **more))
        return Global(found, space, ctype)

    def read(self, place: Place) -> Value:
        """Return the value of a variable. An array becomes a pointer to its first element."""
        if place.type.extents:
            return replace(place.address, type=place.type.pointer)
        loaded = llvm.LoadOp(self.ssa(place.address), memory_type(place.type), place.type.size)
        return self.from_memory(self.result(loaded), place.type)

    def write(self, value: Value, place: Place) -> None:
        """Store a value in a variable."""
        # LLVM's default alignment of 64-bit integers is 4 bytes.
        self.add(llvm.StoreOp(self.in_memory(value), self.ssa(place.address), value.type.size))
