"""Layout of the matrix that an operand holds in registers, shared memory or tensor memory."""

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
"""Map from the elements of an operand to registers, shared memory or tensor memory."""


@dataclass(frozen=True, slots=True)
class LayoutInputs:
    """Values outside the opcode that layouts depend on, such as descriptors and tensor maps.

    `selector` is the sparsity selector. `byte_id` and `thread_id` select block scales. `descriptor` describes a tile in
    shared memory. Without a descriptor, the tile is packed without gaps from address 0, with a swizzle of `swizzle`
    bytes, and its contiguous dimension is `major`, "K" or "MN". `tensor_map` describes a tensor copy, whose box starts
    at address 0. `idesc` is the instruction descriptor of a multiplication in tensor memory. Descriptors may be given
    as integers.
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
        """Return the names of the fields whose values differ from their defaults."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) != field.default)

    def descriptor_of_warpgroup(self) -> Descriptor | None:
        """Return the decoded descriptor of a `wgmma` operand, or None if no descriptor was given.

        Errors: UsageError for a descriptor of `tcgen05.mma`.
        """
        if isinstance(self.descriptor, int):
            return Descriptor.decode(self.descriptor)
        if isinstance(self.descriptor, UmmaDescriptor):
            raise UsageError("wgmma cannot use a UmmaDescriptor; expected a Descriptor")
        return self.descriptor

    def descriptor_of_umma(self) -> UmmaDescriptor | None:
        """Return the decoded descriptor of a `tcgen05.mma` operand, or None if no descriptor was given.

        A descriptor of `wgmma` is converted.
        """
        found = self.descriptor
        if isinstance(found, int):
            return UmmaDescriptor.decode(found)
        if found is None or isinstance(found, UmmaDescriptor):
            return found
        return UmmaDescriptor(**{field.name: getattr(found, field.name) for field in fields(found)})


DEFAULT_INPUTS = LayoutInputs()


@dataclass(frozen=True, slots=True)
class OperandLayout:
    """Layout of one operand.

    `operand` is the name of the matrix. `map` computes the positions of its elements from the instruction's modifiers
    and the `LayoutInputs`. `needs` lists the fields of `LayoutInputs` that `map` depends on.
    """

    operand: str
    map: Callable[[Mapping[str, str], LayoutInputs], LayoutMap]
    needs: tuple[str, ...] = ()
