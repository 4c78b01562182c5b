"""Properties of a plan that all attention kernels have."""

from dataclasses import dataclass

from warploom.kernels.plan import size_of

SPAN = 64
"""Number of 16-bit elements in 128 bytes of shared memory.

Head sizes in shared memory are rounded up to a multiple of it.
"""
_SHIFT = 8  # 2^8 is the largest power of two in e4m3


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """Sizes and masks of one attention kernel.

    A tile has `rows` rows of Q, which attend to blocks of `keys` keys. `head` is the head size of Q and K, and `head_v`
    that of V. O has the type `result`.

    `right` and `left` limit the keys after and before the diagonal. If `packed`, the sequences of a batch are packed in
    one array. If `lengths`, each sequence of K has its own length. If `lse`, the kernel stores logarithms of sums.

    A tile has `sharing` heads of Q: all heads that share a head of K, or only one. Row r of the tile is token
    r // sharing and head r % sharing. Pages of K and V have `page` keys; 0 is no pages.
    """

    type: str
    head: int
    head_v: int
    rows: int = 128
    keys: int = 128
    right: bool = False
    left: bool = False
    packed: bool = False
    lengths: bool = False
    lse: bool = False
    result: str = "bf16"
    sharing: int = 1
    page: int = 0

    @property
    def size(self) -> int:
        """Size of an element of Q, K and V. Units: bytes."""
        return size_of(self.type)

    @property
    def shift(self) -> int:
        """Base-2 logarithm of the largest weight. A shift keeps more of the small weights in 8 bits."""
        return _SHIFT if self.size == 1 else 0

    @property
    def wide(self) -> int:
        """Head size of Q and K in shared memory."""
        return -(-self.head // SPAN) * SPAN

    @property
    def wide_v(self) -> int:
        """Head size of V in shared memory."""
        return -(-self.head_v // SPAN) * SPAN

    @property
    def wide_q(self) -> int:
        """Number of columns of the buffer for Q, which later holds O.

        A row of the buffer has the bytes of a row of Q or of O, whichever is larger, rounded up to a multiple of 128.
        """
        return -(-max(self.wide * self.size, self.wide_v * size_of(self.result)) // 128) * 128 // self.size
