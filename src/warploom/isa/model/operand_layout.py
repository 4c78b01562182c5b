"""Layouts of matrix operands in registers, shared memory and tensor memory."""

from collections.abc import Callable, Mapping
from dataclasses import fields

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
from warploom.lazy_dataclass import dataclass

LayoutMap = FragmentMap | SharedMap | TensorMemoryMap
"""Map from the elements of an operand to registers, shared memory or tensor memory."""


@dataclass(frozen=True, slots=True)
class LayoutInputs:
    """Values outside the opcode that layouts depend on.

    - `selector`: sparsity selector
    - `byte_id`, `thread_id`: selectors of block scales
    - `descriptor`: matrix descriptor of a tile in shared memory, or its encoding as an integer
    - `swizzle`, `major`: without `descriptor`, the swizzle in bytes and the contiguous dimension ("K" or "MN") of a
      tile that is packed from address 0
    - `tensor_map`: tensor map of a copy, with the box at address 0
    - `idesc`: instruction descriptor of a multiplication in tensor memory, or its encoding as an integer
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
    """Layout of one matrix operand.

    `operand` is the name of the matrix. `map` returns the layout for the modifiers of an instruction and the inputs.
    `needs` lists the fields of `LayoutInputs` that `map` depends on.
    """

    operand: str
    map: Callable[[Mapping[str, str], LayoutInputs], LayoutMap]
    needs: tuple[str, ...] = ()
