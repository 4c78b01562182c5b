"""Shape of a launch, and the position of each resident warp in it."""

from collections.abc import Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.faults import Fault
from warploom.isa.model.capacity import PROCESSORS
from warploom.isa.model.semantics import Array
from warploom.lazy_dataclass import dataclass

Rows = NDArray[np.intp]
Extents = tuple[int, int, int]


def _zeros(lanes: int) -> tuple[Array, Array, Array]:
    zeros = np.zeros((1, lanes), np.uint32)
    return zeros, zeros, zeros


@dataclass(slots=True)
class Grid:
    """Shape of a launch, and values of the special registers that depend on it.

    Units: shared memory in bytes.
    """

    STATE = ("ticks",)

    grid: Extents
    block: Extents
    cluster: Extents
    dynamic_shared: int
    total_shared: int
    explicit_cluster: bool
    workspace: int = 0  # address of the workspace of a cooperative grid, or 0
    sm_count: int = PROCESSORS
    ticks: int = 0
    thread: tuple[Array, Array, Array] = field(default_factory=lambda: _zeros(32))
    cta: tuple[Array, Array, Array] = field(default_factory=lambda: _zeros(1))
    lane: Array = field(default_factory=lambda: np.arange(32, dtype=np.uint32)[None, :])
    warp: Array = field(default_factory=lambda: np.zeros((1, 1), np.uint32))

    @property
    def threads(self) -> int:
        """Number of threads in a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def ctas(self) -> int:
        """Number of CTAs in the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def cluster_size(self) -> int:
        """Number of CTAs in a cluster."""
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    def clusters(self, numbers: Sequence[int]) -> NDArray[np.int64]:
        """Return the coordinates of the CTAs of the clusters with these numbers in launch order.

        Shapes: (clusters, cluster size, 3), x first.
        """
        counts = [extent // size for extent, size in zip(self.grid, self.cluster, strict=True)]
        origins = np.stack(np.unravel_index(np.array(numbers, np.int64), counts[::-1])[::-1], axis=1)
        ranks = np.stack(np.unravel_index(np.arange(self.cluster_size), self.cluster[::-1])[::-1], axis=1)
        return origins[:, None, :] * np.array(self.cluster) + ranks[None, :, :]


class Topology:
    """Positions of the resident warps in their CTAs, warpgroups and clusters.

    Warp w of the resident CTA c has the index w * ctas + c. The CTAs of a cluster are adjacent and in order of rank.
    """

    def __init__(self, grid: Grid, ctas: int) -> None:
        self.ctas = ctas
        self.cluster_size = grid.cluster_size
        self.warps_per_cta = -(-grid.threads // 32)
        self.warps = self.warps_per_cta * ctas
        index = np.arange(self.warps)  # warps with one number in several CTAs have consecutive indices
        self.cta_of = (index % ctas).astype(np.int64)
        self.warp_in_cta = index // ctas
        self.cluster_of = self.cta_of // self.cluster_size
        first = self.warp_in_cta // 4 * 4
        group = np.where(first + 4 <= self.warps_per_cta, self.warp_in_cta // 4, -1)
        # A warp outside any whole warpgroup has a negative warpgroup number that no other warp shares.
        self.warpgroup_of = np.where(group < 0, -1 - index, group * ctas + self.cta_of)
        self._place_in_warpgroup = self.warpgroup_of * 4 + self.warp_in_cta % 4
        self.rank = np.arange(ctas, dtype=np.int64) % self.cluster_size
        linear = self.warp_in_cta[:, None] * 32 + np.arange(32)[None, :]
        x, y, _ = grid.block
        grid.thread = (
            (linear % x).astype(np.uint32),
            (linear // x % y).astype(np.uint32),
            (linear // (x * y)).astype(np.uint32),
        )
        grid.warp = self.warp_in_cta[:, None].astype(np.uint32)
        self.present = linear < grid.threads  # (warps, 32): lanes that are threads of the CTA

    def warpgroup_members(self) -> Rows:
        """Return the indices of the four warps of every whole warpgroup. Shapes: (warpgroups, 4)."""
        members = np.arange(self.warps_per_cta // 4 * 4 * self.ctas).reshape(-1, 4, self.ctas)
        return members.transpose(0, 2, 1).reshape(-1, 4)

    def warpgroups(self, warps: Rows) -> Rows:
        """Return the indices in `warps` of the four warps of each warpgroup.

        Shapes: (warpgroups, 4). Errors: Fault emulator.warpgroup if a warpgroup is incomplete.
        """
        places = self._place_in_warpgroup[warps]
        order = np.argsort(places)
        if len(order) % 4 or places[order[0]] < 0:
            raise Fault("emulator.warpgroup", "the warps at a warpgroup instruction are not whole warpgroups", 0)
        return order.reshape(-1, 4)


@dataclass(frozen=True, slots=True)
class Placement:
    """Grid coordinates of the resident CTAs of a kernel. Shapes: coordinates (CTAs, 3)."""

    kernel: str
    topology: Topology
    coordinates: NDArray[np.int64]

    def describe_cta(self, cta: int) -> str:
        """Return a phrase such as "CTA (0, 1, 0)" for a resident CTA."""
        x, y, z = (int(part) for part in self.coordinates[cta])
        return f"CTA ({x}, {y}, {z})"

    def describe_warp(self, warp: int) -> str:
        """Return a phrase such as "CTA (0, 1, 0), warp 2" for a resident warp."""
        cta = self.describe_cta(int(self.topology.cta_of[warp]))
        return f"{cta}, warp {int(self.topology.warp_in_cta[warp])}"

    def describe(self, warp: int, lane: int = -1) -> str:
        """Return a phrase that names the kernel, and optionally a warp and a lane.

        A negative `warp` or `lane` is left out.
        """
        kernel = f"kernel {self.kernel}"
        if warp < 0:
            return kernel
        found = f"{kernel}, {self.describe_warp(warp)}"
        return found if lane < 0 else f"{found}, lane {lane}"
