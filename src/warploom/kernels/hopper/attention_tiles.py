"""Distribution of the tiles of the Hopper attention kernel to CTAs."""

from collections.abc import Callable
from typing import Any

from warploom.author import Location, Register, RingState, guarded, loop, new, special, u32, when, while_
from warploom.kernels.attention_plan import SPAN
from warploom.kernels.attention_tiles import Sizes, TilePosition
from warploom.kernels.hopper.attention_plan import AttentionPlan
from warploom.kernels.ptx import ptx


class Tiles(TilePosition):
    """Tiles of one CTA. The producer takes the tiles, and passes their numbers to the consumers with Q.

    `counter` is the address of a zero, which the CTAs count up to distribute the tiles.
    """

    plan: AttentionPlan

    def __init__(self, plan: AttentionPlan, ring: RingState, slots: Register, counter: Any, sizes: Sizes) -> None:
        super().__init__(plan, sizes)
        self.ring, self.slots, self.counter = ring, slots, counter
        self.next = new(u32, special("ctaid.x"))

    def each(self, take: Callable[[], None]) -> Any:
        """Return a loop over the tiles. `take` makes the next tile the current one: `fetch` or `receive`."""

        def has_tile() -> Register:
            take()
            return self.number < self.count

        return while_(has_tile)

    def fetch(self) -> None:
        """Take the next tile of the grid that has rows."""
        self._fetch()
        if self.plan.packed:
            with while_(lambda: (self.number < self.count) & (self.row >= self.q_count)):
                self._fetch()

    def _fetch(self) -> None:
        self.number.set(self.next)
        with when(self.number < self.count):
            place = self.counter.element(0)
            taken = ptx.atom_add(place, 1, type=u32, sem="relaxed", scope="gpu")
            self.next.set(taken + special("nctaid.x"))
            # A CTA takes a number for each tile. The last one resets the counter for the next launch.
            with guarded(taken == self.count - 1):
                ptx.st(place, 0, type=u32)
        self.locate()

    def publish(self) -> None:
        """Write the number of the tile to the current stage of Q."""
        ptx.st(self._slot(), self.number, type=u32)

    def receive(self) -> None:
        """Wait for the current stage of Q, and read the number of its tile."""
        self.ring.wait_full()
        ptx.ld(self._slot(), type=u32, out=self.number)
        self.locate()

    def _slot(self) -> Location:
        return (self.slots + self.ring.stage * 4).at(0, "shared::cta")


def clear_rows(start: Register, first: Register, shape: tuple[int, int], group: Any, groups: int) -> None:
    """Set the rows of a tile in shared memory from row `first` on to zero.

    `start` is the address of the tile, and `shape` its rows and columns of 16 bits. `groups` warpgroups clear the rows
    together, and this thread belongs to number `group`.
    """
    rows, columns = shape
    thread, row_bytes = special("tid.x") & 127, 2 * SPAN
    row = first.view("u32") + group * 16 + (thread >> 3)
    start = start + (thread & 7) * 16
    for each in loop(row, rows, 16 * groups):
        place = start + each * row_bytes
        for part in range(columns // SPAN):
            where = place.at(part * rows * row_bytes, "shared::cta")
            ptx.st(where, [0, 0, 0, 0], vec="v4", type="b32")
