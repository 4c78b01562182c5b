"""Plan of the Hopper attention kernel: the blocks of a CTA, its shared memory and its registers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warploom.kernels.attention_plan import AttentionShape
from warploom.kernels.plan import size_of

DECODE_ROWS = 64
"""Rows of a tile of `decode`."""
_BYTES: dict[int, dict[str, Any]] = {
    64: {"rows": 192, "keys": 96, "q_stages": 2, "copies": 2, "promotes": True},
    128: {"keys": 128, "q_stages": 2, "copies": 2, "promotes": True},
    192: {"keys": 128, "takes_turns": False},
    256: {"keys": 96, "copies": 2, "takes_turns": False},
}
"""Fields of a plan for 8-bit elements, by the widest head size in shared memory."""
_LONG = 4096  # keys from which wide blocks are faster than a second stage of Q, as measured on an H200


@dataclass(frozen=True, slots=True)
class AttentionPlan(AttentionShape):
    """Plan of one attention kernel.

    Shared memory has `stages` blocks of K and of V, and `q_stages` blocks of Q. If `takes_turns`, the consumers start
    their multiplications in turn. Only the kernel `decode` packs heads in a tile and has pages.

    For 8-bit elements, shared memory also has `copies` blocks of V as they are in global memory. If `promotes`, the
    tensor cores add the products of the weights and V of one block only, and f32 additions add these sums. If `scaled`,
    each sequence and head of K has scales.
    """

    stages: int = 2
    q_stages: int = 1
    takes_turns: bool = True
    copies: int = 1
    promotes: bool = False
    scaled: bool = False

    @property
    def k_swizzle(self) -> int:
        """Swizzle span of K in shared memory. Units: bytes."""
        return swizzle_of(self.type, self.wide)

    @property
    def v_swizzle(self) -> int:
        """Swizzle span of V in shared memory, as tensor copies write it. Units: bytes."""
        return swizzle_of(self.type, self.wide_v)

    @property
    def depth(self) -> int:
        """Length of the inner dimension of one wgmma instruction: K of its shape M x N x K."""
        return 32 // self.size

    @property
    def q_box_rows(self) -> int:
        """Rows of Q that a tensor copy of `decode` copies: whole tokens."""
        return self.rows // self.sharing * self.sharing

    @property
    def consumers(self) -> int:
        """Number of consumer warpgroups. Each computes 64 rows."""
        return self.rows // 64

    @property
    def threads(self) -> int:
        """Number of threads of a CTA, including the producer warpgroup."""
        return 128 * (1 + self.consumers)

    @property
    def producer_registers(self) -> int:
        """Registers of a thread of the producer."""
        if self.size == 1:
            return 56 if self.consumers == 3 else 40
        return 32 if self.consumers == 3 else 24

    @property
    def consumer_registers(self) -> int:
        """Registers of a thread of a consumer."""
        if self.size == 1:
            return 152 if self.consumers == 3 else 232
        return 160 if self.consumers == 3 else 240


def swizzle_of(type: str, columns: int) -> int:
    """Return the widest swizzle span for rows of `columns` elements in shared memory. Units: bytes."""
    row = columns * size_of(type)
    return min(128, row & -row)


def plan_for(type: str, head: int, head_v: int, tokens: int, **fields: Any) -> AttentionPlan:
    """Return the plan for `tokens` keys. `fields` are other fields of the plan, such as masks."""
    is_long, is_cut = tokens > _LONG, bool(fields.get("right") or fields.get("left"))
    widest = max(AttentionPlan(type, head, head_v).wide, AttentionPlan(type, head, head_v).wide_v)
    shape: dict[str, Any]
    if size_of(type) == 1:
        return AttentionPlan(type, head, head_v, **_BYTES[widest], **fields)
    if widest == 64:
        shape = {"rows": 192, "q_stages": 2}
    elif widest == 128:
        shape = {"keys": 176} if is_long else {"keys": 128 if is_cut else 160, "q_stages": 2}
    else:
        shape = {"keys": 112 if widest == 192 else 80}
    takes_turns = is_cut or widest == 64 or (widest == 128 and is_long)
    return AttentionPlan(type, head, head_v, **shape, **fields, takes_turns=takes_turns)


def decode_plan(type: str, head: int, head_v: int, sharing: int, page: int, **fields: Any) -> AttentionPlan:
    """Return the plan of `decode`. `sharing` heads of Q share a head of K. Pages have `page` keys.

    `fields` are other fields of the plan, such as masks.
    """
    widest = max(AttentionPlan(type, head, head_v).wide, AttentionPlan(type, head, head_v).wide_v)
    keys = 128 if widest <= 128 else 64
    return AttentionPlan(
        type, head, head_v, DECODE_ROWS, keys, stages=3, takes_turns=False, sharing=sharing, page=page, **fields
    )
