"""Plan of the Hopper attention kernel: the blocks of a CTA, its shared memory and its registers."""

from __future__ import annotations

from dataclasses import dataclass

from warploom.kernels.attention_plan import AttentionShape

DECODE_ROWS = 64
"""Rows of a tile of `decode`."""
_LONG = 4096  # keys from which wide blocks are faster than a second stage of Q, as measured on an H200


@dataclass(frozen=True, slots=True)
class AttentionPlan(AttentionShape):
    """Plan of one attention kernel.

    Shared memory has `stages` blocks of K and of V, and `q_stages` blocks of Q. If `takes_turns`, the consumers start
    their multiplications in turn. Only the kernel `decode` packs heads in a tile and has pages.
    """

    stages: int = 2
    q_stages: int = 1
    takes_turns: bool = True

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
        return 32 if self.consumers == 3 else 24

    @property
    def consumer_registers(self) -> int:
        """Registers of a thread of a consumer."""
        return 160 if self.consumers == 3 else 240


def plan_for(type: str, head: int, head_v: int, tokens: int, **masks: bool) -> AttentionPlan:
    """Return the plan for `tokens` keys. `masks` are fields of the plan from `right` to `lse`."""
    is_long, is_cut = tokens > _LONG, bool(masks.get("right") or masks.get("left"))
    widest = max(AttentionPlan(type, head, head_v).wide, AttentionPlan(type, head, head_v).wide_v)
    shape: dict[str, int]
    if widest == 64:
        shape = {"rows": 192, "q_stages": 2}
    elif widest == 128:
        shape = {"keys": 176} if is_long else {"keys": 128 if is_cut else 160, "q_stages": 2}
    else:
        shape = {"keys": 112 if widest == 192 else 80}
    takes_turns = is_cut or widest == 64 or (widest == 128 and is_long)
    return AttentionPlan(type, head, head_v, **shape, **masks, takes_turns=takes_turns)


def decode_plan(type: str, head: int, head_v: int, sharing: int, page: int, **masks: bool) -> AttentionPlan:
    """Return the plan of `decode`. `sharing` heads of Q share a head of K. Pages have `page` keys."""
    widest = max(AttentionPlan(type, head, head_v).wide, AttentionPlan(type, head, head_v).wide_v)
    keys = 128 if widest <= 128 else 64
    return AttentionPlan(
        type, head, head_v, DECODE_ROWS, keys, stages=3, takes_turns=False, sharing=sharing, page=page, **masks
    )
