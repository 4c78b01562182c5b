"""How the matrix of an operand lies in registers or in shared memory, and what it depends on beside the opcode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

from warploom.layout import Descriptor, FragmentMap, SharedMap, TensorMapFields


@dataclass(frozen=True, slots=True)
class Given:
    """What layouts depend on that no word of an opcode says: the values of other operands, and what is in memory.

    `selector` is the sparsity selector, `byte_id` and `thread_id` those of block scales. `descriptor` is that of
    a tile in shared memory; without one the tile is packed without gaps from address 0, with `swizzle` bytes
    and `major` "K" or "MN". `tensor_map` is that of a tensor copy, whose box begins at address 0.
    """

    selector: int = 0
    byte_id: int = 0
    thread_id: int = 0
    descriptor: Descriptor | None = None
    swizzle: int = 0
    major: str = "K"
    tensor_map: TensorMapFields | None = None

    def changed(self) -> tuple[str, ...]:
        """The names of what is not as it is by itself."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) != field.default)


NOTHING_GIVEN = Given()


@dataclass(frozen=True, slots=True)
class Lying:
    """The layout of an operand: what the operand is called, its map, and the fields of `Given` that it asks for."""

    operand: str
    map: Callable[[Mapping[str, str], Given], FragmentMap | SharedMap]
    asks: tuple[str, ...] = ()
