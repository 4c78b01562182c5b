"""How the matrix of an operand lies in registers or in shared memory, and what it depends on beside the opcode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

from warploom.diagnostics import UsageError
from warploom.layout import (
    Descriptor,
    FragmentMap,
    InstructionDescriptor,
    SharedMap,
    TensorMapFields,
    TensorMemoryMap,
    UmmaDescriptor,
)

LayoutMap = FragmentMap | SharedMap | TensorMemoryMap
"""Where the elements of an operand lie: in registers, in shared memory or in tensor memory."""


@dataclass(frozen=True, slots=True)
class Given:
    """What layouts depend on that no word of an opcode says: the values of other operands, and what is in memory.

    `selector` is the sparsity selector, `byte_id` and `thread_id` those of block scales. `descriptor` is that of
    a tile in shared memory; without one the tile is packed without gaps from address 0, with `swizzle` bytes
    and `major` "K" or "MN". `tensor_map` is that of a tensor copy, whose box begins at address 0. `idesc` is the
    instruction descriptor of a multiplication in tensor memory. Descriptors may be numbers.
    """

    selector: int = 0
    byte_id: int = 0
    thread_id: int = 0
    descriptor: Descriptor | int | None = None
    swizzle: int = 0
    major: str = "K"
    tensor_map: TensorMapFields | None = None
    idesc: InstructionDescriptor | int | None = None

    def changed(self) -> tuple[str, ...]:
        """The names of what is not as it is by itself."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) != field.default)

    def descriptor_of_warpgroup(self) -> Descriptor | None:
        """The descriptor as a warpgroup multiplication reads it. Errors: UsageError for one of the fifth generation."""
        if isinstance(self.descriptor, int):
            return Descriptor.decode(self.descriptor)
        if isinstance(self.descriptor, UmmaDescriptor):
            raise UsageError("a descriptor of the fifth generation does not fit a warpgroup multiplication")
        return self.descriptor

    def descriptor_of_umma(self) -> UmmaDescriptor | None:
        """The descriptor as a multiplication of the fifth generation reads it, or one with the same fields."""
        found = self.descriptor
        if isinstance(found, int):
            return UmmaDescriptor.decode(found)
        if found is None or isinstance(found, UmmaDescriptor):
            return found
        return UmmaDescriptor(**{field.name: getattr(found, field.name) for field in fields(found)})


NOTHING_GIVEN = Given()


@dataclass(frozen=True, slots=True)
class Lying:
    """The layout of an operand: what the operand is called, its map, and the fields of `Given` that it asks for."""

    operand: str
    map: Callable[[Mapping[str, str], Given], LayoutMap]
    asks: tuple[str, ...] = ()
