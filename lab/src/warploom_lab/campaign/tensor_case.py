"""Input of one tensor copy for a comparison: the tensor map, the action and the initial memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

import numpy as np

from warploom.layout import TensorMapFields
from warploom_lab.campaign import patterns
from warploom_lab.campaign.experiment import Array

Action = Literal["verdict", "load", "store", "reduce", "prefetch"]

_SPECIAL = ("ties", "infinite")
_MANTISSA_BITS = {"f16": 10, "bf16": 7, "f32": 23, "tf32": 23, "f64": 52}
_GLOBAL_TAG = 0x4000_0000
_SHARED_TAG = 0x8000_0000


@dataclass(frozen=True, slots=True)
class TensorCase:
    """One copy through a tensor map. If the action is "verdict", the map is only encoded.

    `map.global_address` is an offset into the global memory, and `start` an offset into the shared memory. `memory` is
    the size of the global memory, and `extent` the size of the shared memory of a CTA. `expected` is the transaction
    count of the mbarrier. If `mask` is not 0, the copy is a multicast to the CTAs in `mask`. `kind` selects the values
    of the elements. If `kind` is "", each word of both memories contains its own index.

    Units: bytes.
    """

    number: int
    action: Action
    map: TensorMapFields
    memory: int = 0
    coordinates: tuple[int, ...] = ()
    offsets: tuple[int, ...] = ()
    start: int = 0
    extent: int = 0
    expected: int = 0
    cluster: int = 1
    mask: int = 0
    reduction: str = ""
    kind: str = ""

    def __str__(self) -> str:
        name = " ".join(filter(None, (self.action, self.reduction)))
        spread = f" to {self.mask:#x} of {self.cluster}" if self.mask else ""
        return f"case {self.number}: {name}{spread} at {self.coordinates} {self.offsets or ''} through {self.map}"

    def record(self) -> dict[str, Any]:
        """Return the case as JSON data."""
        return asdict(self)

    @classmethod
    def of(cls, record: dict[str, Any]) -> TensorCase:
        """Return the case from a result of `record`."""
        values = {name: _frozen(value) for name, value in record.items()}
        values["map"] = TensorMapFields(**{name: _frozen(value) for name, value in record["map"].items()})
        return cls(**values)

    def global_memory(self) -> Array:
        """Return the initial global memory as bytes."""
        return self._contents(self.memory, 0, _GLOBAL_TAG)

    def shared_memory(self) -> Array:
        """Return the initial shared memory of one CTA as bytes."""
        return self._contents(self.extent, 1, _SHARED_TAG)

    def _contents(self, size: int, salt: int, tag: int) -> Array:
        count = -(-size // 8)
        if not self.kind:
            words = np.arange(2 * count, dtype=np.uint32)
            return (words | np.uint32(tag)).view(np.uint8)[:size]
        bits = self.map.element_bits
        word = self.map.element_type.removesuffix(".ftz")
        raw = patterns.draw(2 * self.number + salt, 8 * count * 8 // bits)
        if self.kind in _SPECIAL:
            return _special(self.kind, bits, word, raw).view(np.uint8)[:size].copy()
        return patterns.registers(word, self.kind, bits, raw[:, np.newaxis]).view(np.uint8)[:size].copy()


def _special(kind: str, bits: int, word: str, raw: patterns.Raw) -> Array:
    """Return one special value for each random word. `word` is the element type, and `bits` its width.

    With kind "ties", the values are f32 near a tie of two tf32. Otherwise some are infinities or NaNs.
    """
    found = patterns.patterns(word, "normal", raw)
    if kind == "ties":
        found = found & np.uint64(0xFFFF_E000) | np.uint64(0x0FFF) + raw % np.uint64(3)
    else:
        mantissa = _MANTISSA_BITS[word]
        top = np.uint64((1 << (bits - 1 - mantissa)) - 1 << mantissa)
        choice = raw >> np.uint64(40) & np.uint64(7)
        sign = raw >> np.uint64(63) << np.uint64(bits - 1)
        small = np.uint64(1) + (raw & np.uint64((1 << mantissa) - 2))
        found = np.where(choice < 3, sign | top, np.where(choice < 5, sign | top | small, found))
    return found.astype(f"u{bits // 8}")


def _frozen(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value
