"""Plan of the Hopper kernels for the gradients of attention: tiles, shared memory and registers."""

from __future__ import annotations

from dataclasses import dataclass

HEADS = (64, 128)
"""Head sizes that the kernels support."""
GROUP_KEYS = 64
"""Keys of a consumer warpgroup."""


@dataclass(frozen=True, slots=True)
class BackwardPlan:
    """Plan of the kernels for dQ, dK and dV.

    A CTA computes dK and dV of `keys` keys. It visits blocks of `rows` rows of Q and dO, for which shared memory has
    `stages` stages.

    `right` and `left` limit the keys after and before the diagonal. If `packed`, the sequences of a batch are packed in
    one array. If `lengths`, each sequence of K has its own length. If `deterministic`, the CTAs add to dQ in a fixed
    order.
    """

    type: str
    head: int
    rows: int = 64
    keys: int = 128
    stages: int = 2
    right: bool = False
    left: bool = False
    packed: bool = False
    lengths: bool = False
    deterministic: bool = False

    @property
    def consumers(self) -> int:
        """Number of consumer warpgroups. Each computes dK and dV of 64 keys."""
        return self.keys // GROUP_KEYS

    @property
    def threads(self) -> int:
        """Number of threads of a CTA, including the producer warpgroup."""
        return 128 * (1 + self.consumers)

    @property
    def producer_registers(self) -> int:
        """Registers of a thread of the producer."""
        return 24

    @property
    def consumer_registers(self) -> int:
        """Registers of a thread of a consumer."""
        return 240

    @property
    def block_elements(self) -> int:
        """Number of elements of a block of dQ."""
        return self.rows * self.head

    @property
    def splits_rows(self) -> bool:
        """True if each consumer multiplies 64 rows of a block of dQ, and not some of its columns."""
        return self.rows > GROUP_KEYS

    @property
    def sums(self) -> int:
        """Number of sums of dQ of a thread."""
        return self.block_elements // (128 * self.consumers)


def plan_for(type: str, head: int, **options: bool) -> BackwardPlan:
    """Return the plan for a head size. `options` are fields of the plan from `right` on."""
    return BackwardPlan(type, head, rows=128 if head == HEADS[0] else 64, **options)
