"""Plan of the attention kernel for sm_80 and later: the blocks of a CTA and its shared memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warploom.check.header import find_target
from warploom.diagnostics import UsageError
from warploom.isa.model.capacity import SHARED_KIB
from warploom.kernels.ampere.plan import OLDEST
from warploom.kernels.attention_plan import AttentionShape

STAGES = 2
"""Blocks of K and of V in shared memory."""
WARP_ROWS = 16
"""Rows of a tile that a warp computes."""
_FEW_TOKENS = 16  # tokens up to which the heads that share a head of K are packed in the rows of a tile
_ROWS = 64  # of a tile
_NARROW = 64  # head size up to which a block has 128 keys
_WIDEST_IN_REGISTERS = 128  # head size up to which fragments of Q remain in registers


@dataclass(frozen=True, slots=True)
class WarpAttentionPlan(AttentionShape):
    """Plan of one attention kernel for the target `target`."""

    target: str = "sm_80"

    @property
    def threads(self) -> int:
        """Number of threads of a CTA."""
        return 32 * self.rows // WARP_ROWS

    @property
    def keeps_queries(self) -> bool:
        """True if the fragments of Q remain in registers. Otherwise, each block of keys loads them again."""
        return self.wide_q <= _WIDEST_IN_REGISTERS

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a CTA. Units: bytes."""
        return 2 * (self.rows * self.wide_q + STAGES * self.keys * (self.wide + self.wide_v))


def plan_for(
    type: str, head: int, head_v: int, target: str, *, rows: int, sharing: int, page: int, **fields: Any
) -> WarpAttentionPlan:
    """Return the plan for `rows` tokens of Q in the longest sequence.

    `sharing` heads of Q share a head of K. `page` and `fields` are fields of the plan.

    Errors: UsageError kernels.target, check.target.
    """
    number = find_target(target).number
    if number < OLDEST or number not in SHARED_KIB:
        known = ", ".join(f"sm_{each}" for each in SHARED_KIB if each >= OLDEST)
        raise UsageError(f"no attention kernel for {target}; expected one of {known}", code="kernels.target")
    packed_heads = sharing if rows <= _FEW_TOKENS else 1
    words: dict[str, Any] = {**fields, "sharing": packed_heads, "page": page, "target": target}
    # The fastest tiles of those with 64 or 128 rows, as measured on an H200 with code for sm_80.
    keys = 128 if max(head, head_v) <= _NARROW else 32
    return WarpAttentionPlan(type, head, head_v, _ROWS, keys, **words)
