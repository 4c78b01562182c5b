"""Division of a grid into waves of resident CTAs."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.blocks import names_in
from warploom.emulator.grid import Grid
from warploom.emulator.program import Program, Step
from warploom.isa.model.effects import Access
from warploom.lazy_dataclass import dataclass

RESIDENT_WARPS = 1024
WAITING = 3  # times as many warps if CTAs may wait for each other, so that 132 CTAs of 512 threads are resident
_STOLEN = 4  # clusters for each resident cluster, if the program may cancel clusters
LEAST_WARPS = 512  # least resident warps of a wave if a grid is divided only to occupy two workers
REGISTER_BYTES = 1 << 30
SHARED_BYTES = 1 << 30
WITHIN_CLUSTER = frozenset({"shared", "shared::cta", "shared::cluster", "local"})


@dataclass(frozen=True, slots=True)
class Waves:
    """Division of a grid into waves of `resident` CTAs. The last wave has the remaining CTAs.

    `numbers` selects consecutive waves to run.
    """

    resident: int
    grid: Grid
    numbers: range

    def of(self, number: int) -> NDArray[np.int64]:
        """Return the coordinates of the CTAs of wave `number`. Shapes: (CTAs, 3)."""
        each = self.resident // self.grid.cluster_size
        clusters = self.grid.ctas // self.grid.cluster_size
        return self.grid.clusters(range(number * each, min((number + 1) * each, clusters))).reshape(-1, 3)

    @property
    def ctas(self) -> int:
        """Number of CTAs in the selected waves."""
        end = min(self.numbers.stop * self.resident, self.grid.ctas)
        return end - self.numbers.start * self.resident


def divide(program: Program, grid: Grid) -> Waves:
    """Divide a launch into waves. A wave consists of whole clusters that can be resident together.

    All CTAs of a cooperative grid form one wave. If a program may cancel clusters, the first wave leaves three quarters
    of them.
    """
    warps = -(-grid.threads // 32)
    per_cta = max(1, warps * (program.registers.bytes_per_warp() + 32 * program.local_bytes))
    size = grid.cluster_size
    clusters = grid.ctas // size
    if grid.workspace:
        return Waves(grid.ctas, grid, range(1))
    waits = any(program.analysis(inter_cta_communication))
    # CTAs that may wait for each other need large waves. Others form an even number of waves, for two workers.
    most = WAITING * RESIDENT_WARPS if waits else min(RESIDENT_WARPS, max(LEAST_WARPS, -(-grid.ctas * warps // 2)))
    fits = min(most // warps, REGISTER_BYTES // per_cta, SHARED_BYTES // max(1, grid.total_shared))
    each = min(max(fits // size, 1), clusters)
    if cancels_clusters(program):
        each = min(each, max(clusters // _STOLEN, 1))
    count = -(-clusters // each)
    if not waits and count > 1:
        each = -(-clusters // (count + count % 2))
        count = -(-clusters // each)
    return Waves(each * size, grid, range(count))


def cancels_clusters(program: Program) -> bool:
    """Return True if a program may cancel clusters that have not started."""
    return any(step.binding.form.cancels_cluster for step in program.steps)


# Communication between CTAs ------------------------------------------------------------------------------


def inter_cta_communication(program: Program) -> list[bool]:
    """Return, for each instruction, True if it may load a value that a CTA of another cluster wrote.

    Such instructions are ordered and volatile loads, and atomics whose result another instruction uses.
    """
    found = [_communicates(step) for step in program.steps]
    if not any(access is not None for access in found):
        return [False] * len(found)
    named = Counter(name for step in program.steps for name in names_in(*step.instruction.operands))
    named.update(guard.name for step in program.steps if (guard := step.instruction.guard))

    def is_used(step: Step, access: Access) -> bool:
        return any(named[name] > 1 for name in names_in(step.binding.operands[access.value].operand) if name != "_")

    return [
        access is not None and (access.kind != "update" or is_used(step, access))
        for step, access in zip(program.steps, found, strict=True)
    ]


def _communicates(step: Step) -> Access | None:
    form, slots = step.binding.form, step.binding.slots
    for access in form.effects_of(Access):
        loads = access.kind != "write" and access.value and form.operands[access.value].access != "read"
        space = form.operands[access.address].space_word(slots)
        if loads and access.is_ordered(slots) and space not in WITHIN_CLUSTER:
            return access
    return None
