"""Special registers of PTX, with their values as functions of the launch geometry.

Source: PTX ISA 10.
"""

from collections.abc import Callable, Sequence

import numpy as np

from warploom.isa.model.semantics import Array, Geometry
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass

ValueOf = Callable[[Geometry], "Array | int"]

_MAX_WARPS_PER_SM = 64
RESERVED = 1024
"""Bytes at the start of a CTA's shared memory that the system reserves on sm_80 and later."""


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """Special register, or one member of a vector such as `%tid.x`.

    `dynamic` is True if the value changes while the kernel runs. `least` is the smallest width in bits with which the
    register may be read, or 0 for the width of its type.
    """

    name: str
    type: str
    value: ValueOf
    ptx: tuple[int, int] = (1, 0)
    target: str = ""
    dynamic: bool = False
    least: int = 0

    def holds(self, type_word: str) -> bool:
        """Return True if a move of type `type_word` may read the register."""
        read, own = TYPES[type_word], TYPES[self.type]
        if read.kind in ("float", "packed") or "predicate" in (read.kind, own.kind):
            return read.kind == own.kind
        return (self.least or own.bits) <= read.bits <= own.bits

    def read(self, geometry: Geometry) -> Array:
        """Return the register's value in every lane of a batch, in a shape that broadcasts to (warps, 32)."""
        return np.atleast_2d(np.asarray(self.value(geometry))).astype(TYPES[self.type].dtype)


def special(name: str) -> SpecialRegister | None:
    """Return the special register with a name such as `%tid.x`, or None for another name."""
    return SPECIAL_REGISTERS.get(name)


def _axis(axis: int, of: Callable[[Geometry], Sequence[Array | int]]) -> ValueOf:
    return lambda geometry: of(geometry)[axis]


def _linear(index: Sequence[Array | int], extent: Sequence[int]) -> Array:
    x, y, z = (np.asarray(part, dtype=np.uint64) for part in index)
    return x + np.uint64(extent[0]) * (y + np.uint64(extent[1]) * z)


def _cluster_ctaid(geometry: Geometry) -> list[Array]:
    return [cta % np.uint32(extent) for cta, extent in zip(geometry.cta, geometry.cluster, strict=True)]


def _this_lane(geometry: Geometry) -> Array:
    return np.left_shift(np.uint32(1), geometry.lane)


def _lanes_below(geometry: Geometry) -> Array:
    return np.subtract(_this_lane(geometry), np.uint32(1))


def _environment(index: int) -> ValueOf:
    """Return the value of a register %envreg.

    The registers 1 and 2 have the high and the low word of the address of a cooperative grid's workspace.
    """
    shift = {1: 32, 2: 0}.get(index)
    return lambda g: 0 if shift is None else g.workspace >> shift & 0xFFFF_FFFF


def _registers() -> list[SpecialRegister]:
    found = [
        SpecialRegister("%laneid", "u32", lambda g: g.lane, (1, 3)),
        SpecialRegister("%warpid", "u32", lambda g: g.warp, (1, 3)),
        SpecialRegister("%nwarpid", "u32", lambda g: _MAX_WARPS_PER_SM, (2, 0)),
        SpecialRegister("%smid", "u32", lambda g: _linear(g.cta, g.grid) % np.uint64(g.sm_count), (1, 3)),
        SpecialRegister("%nsmid", "u32", lambda g: g.sm_count, (2, 0)),
        SpecialRegister("%gridid", "u64", lambda g: 1, (1, 0), least=16),
        SpecialRegister("%is_explicit_cluster", "pred", lambda g: g.explicit_cluster, (7, 8), "sm_90"),
        SpecialRegister("%cluster_ctarank", "u32", lambda g: _linear(_cluster_ctaid(g), g.cluster), (7, 8), "sm_90"),
        SpecialRegister("%cluster_nctarank", "u32", lambda g: int(np.prod(g.cluster)), (7, 8), "sm_90"),
        SpecialRegister("%lanemask_eq", "u32", _this_lane, (2, 0)),
        SpecialRegister("%lanemask_lt", "u32", _lanes_below, (2, 0)),
        SpecialRegister("%lanemask_le", "u32", lambda g: _lanes_below(g) | _this_lane(g), (2, 0)),
        SpecialRegister("%lanemask_ge", "u32", lambda g: ~_lanes_below(g), (2, 0)),
        SpecialRegister("%lanemask_gt", "u32", lambda g: ~(_lanes_below(g) | _this_lane(g)), (2, 0)),
        SpecialRegister("%clock", "u32", lambda g: g.ticks & 0xFFFFFFFF, dynamic=True),
        SpecialRegister("%clock_hi", "u32", lambda g: g.ticks >> 32, (5, 0), dynamic=True),
        SpecialRegister("%clock64", "u64", lambda g: g.ticks, (2, 0), dynamic=True),
        SpecialRegister("%globaltimer", "u64", lambda g: g.ticks, (3, 1), dynamic=True),
        SpecialRegister("%globaltimer_lo", "u32", lambda g: g.ticks & 0xFFFFFFFF, (3, 1), dynamic=True),
        SpecialRegister("%globaltimer_hi", "u32", lambda g: g.ticks >> 32, (3, 1), dynamic=True),
        SpecialRegister("%dynamic_smem_size", "u32", lambda g: g.dynamic_shared, (4, 1)),
        SpecialRegister("%total_smem_size", "u32", lambda g: -(-g.total_shared // 128) * 128, (4, 1)),
        SpecialRegister("%aggr_smem_size", "u32", lambda g: g.total_shared + RESERVED, (8, 1), "sm_90"),
        SpecialRegister("%current_graph_exec", "u64", lambda g: 0, (8, 0), "sm_50"),
    ]
    vectors: list[tuple[str, Callable[[Geometry], Sequence[Array | int]], tuple[int, int], str]] = [
        ("%tid", lambda g: g.thread, (1, 0), ""),
        ("%ntid", lambda g: g.block, (1, 0), ""),
        ("%ctaid", lambda g: g.cta, (1, 0), ""),
        ("%nctaid", lambda g: g.grid, (1, 0), ""),
        ("%clusterid", lambda g: [c // np.uint32(n) for c, n in zip(g.cta, g.cluster, strict=True)], (7, 8), "sm_90"),
        ("%nclusterid", lambda g: [grid // n for grid, n in zip(g.grid, g.cluster, strict=True)], (7, 8), "sm_90"),
        ("%cluster_ctaid", _cluster_ctaid, (7, 8), "sm_90"),
        ("%cluster_nctaid", lambda g: g.cluster, (7, 8), "sm_90"),
    ]
    for name, of, ptx, target in vectors:
        members: list[ValueOf] = [*(_axis(axis, of) for axis in range(3)), lambda g: 0]
        least = 0 if target else 16
        found.extend(
            SpecialRegister(f"{name}.{member}", "u32", value, ptx, target, least=least)
            for member, value in zip("xyzw", members, strict=True)
        )
    # The emulator counts no events.
    counters = [(f"%pm{index}", "u32", (1, 3) if index < 4 else (3, 0)) for index in range(8)]
    counters += [(f"%pm{index}_64", "u64", (4, 0)) for index in range(8)]
    found.extend(SpecialRegister(name, type_word, lambda g: 0, ptx) for name, type_word, ptx in counters)
    # The emulator has no driver that sets environment registers or reserves shared memory.
    found.extend(SpecialRegister(f"%envreg{index}", "b32", _environment(index), (2, 1)) for index in range(32))
    found.extend(
        SpecialRegister(f"%reserved_smem_offset_{part}", "b32", lambda g: 0, (7, 6), "sm_80")
        for part in ("begin", "end", "cap", "0", "1")
    )
    return found


SPECIAL_REGISTERS: dict[str, SpecialRegister] = {entry.name: entry for entry in _registers()}
