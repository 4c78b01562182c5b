"""GEMM kernel for few rows of A, which computes the transpose of D.

The rows of wgmma are columns of B. Without clusters, the CTAs are persistent and may share tiles along K (see
`tile_scheduler`). Otherwise each cluster computes one tile: its CTAs multiply different parts of K and exchange the
sums through distributed shared memory. The threads store the elements of D one by one. The plan is that of the
exchanged problem (see `Plan`).
"""

# Annotations of a kernel's parameters are PTX types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from collections.abc import Sequence
from typing import Any

from warploom.author import (
    Location,
    Register,
    RingState,
    Shared,
    bounds,
    f32,
    forever,
    guarded,
    kernel,
    loop,
    new,
    otherwise,
    pointer,
    ring,
    shared,
    special,
    tensor_map,
    u32,
    u64,
    when,
    while_,
)
from warploom.kernels.epilogue import EpilogueArguments, EpilogueMath, unpack
from warploom.kernels.hopper.gemm import load_lines
from warploom.kernels.hopper.mainloop import MainLoop
from warploom.kernels.hopper.plan import HOPPER, SPAN, Plan, Tile
from warploom.kernels.hopper.tile_scheduler import PartialSums, Sizes, TileScheduler
from warploom.kernels.plan import BLOCK, size_of, tile_position
from warploom.kernels.ptx import ptx

_DEFAULT = Plan(tile=Tile(64, 8, exchanged=True))


_PREFETCHED = 2  # stages that a CTA copies to L2 before the previous grid ends


class Part:
    """Part of one tile along K, the only work item of a CTA in a cluster.

    The interface is that of `TileScheduler`.
    """

    def __init__(self, sizes: Sizes, shape: Tile, rank: Any) -> None:
        self.sizes, self.shape = sizes, shape
        self.first = rank * sizes.k_tiles // shape.cluster
        self.last = (rank + 1) * sizes.k_tiles // shape.cluster
        self.left = new(u32, 1)

    def has_next(self) -> Any:
        """Return a predicate that is true before `take`."""
        return self.left != 0

    def take(self) -> None:
        """Make the part the current work item."""
        self.left.set(0)

    def origin(self) -> tuple[Any, Any, Any]:
        """Return the first row, the first column and the batch of the tile."""
        return tile_origin(special("clusterid.x"), self.sizes, self.shape)


@kernel(target=HOPPER)
def exchanged_gemm(
    a: tensor_map, b: tensor_map, c: pointer("b8"), d: pointer("b8"), partial: pointer("b32"), flags: pointer("u32"),
    row_scales: pointer("f32"), column_scales: pointer("f32"), bias: pointer("f32"), alpha: f32, beta: f32,
    c_stride: u32, d_stride: u32, c_plane: u64, d_plane: u64, m: u32, n: u32, m_tiles: u32, n_tiles: u32, k_tiles: u32,
    split: u32, tiles: u32, *, plan: Plan = _DEFAULT,
) -> None:  # fmt: skip
    """Compute D = epilogue(A B).

    The parameters are those of the caller's problem. `m_tiles` and `n_tiles` are the numbers of tiles along M and N.
    `gemm` describes the other parameters.

    Units: bytes for strides and planes.
    """
    tile = plan.tile
    bounds(threads=tile.threads, cluster=(tile.cluster, 1, 1), ctas_per_sm=1)
    weights = shared(tile.stages * tile.rows * SPAN, align=1024)
    tokens = shared(tile.stages * tile.columns * SPAN, align=1024)
    exchange = Exchange(plan, shared(plan.received_bytes, align=16), shared(8, align=8))
    stages = ring(tile.stages, consumers=tile.tile_consumers)

    thread = special("tid.x")
    group = ptx.shfl_idx(thread >> 7, 0, 31, -1)
    produces = thread == 128 * tile.consumers
    # Rows of the kernel are columns of D.
    sizes = Sizes(n, n_tiles, m_tiles, k_tiles, split, tiles, 0)
    items = TileScheduler(sizes, tile) if tile.cluster == 1 else Part(sizes, tile, exchange.rank)
    with when(produces):
        for tensor in (a, b):
            ptx.prefetch(Location(tensor), level="tensormap")
        if plan.starts_late:
            prefetch_weights(plan, b, items)
    with when(thread == 0):
        stages.start()
        exchange.start()
        ptx.fence_proxy(proxykind="async")
    if tile.cluster > 1:
        ptx.barrier_cluster_arrive(aligned=True)
        ptx.barrier_cluster_wait(aligned=True)
    else:
        ptx.bar(0)
    # The previous grid of the stream may still write A or B until here.
    if not plan.starts_late:
        ptx.griddepcontrol_launch_dependents()
    ptx.griddepcontrol_wait()
    state = stages.state()
    start_of_weights, start_of_tokens = weights.address(), tokens.address()
    with when(group == tile.consumers), when(produces):
        produce(plan, items, state, (b, start_of_weights), (a, start_of_tokens))
        if plan.starts_late:
            ptx.griddepcontrol_launch_dependents()
    with otherwise():
        mine = thread & 127
        sums = [new(plan.register_type, 0) for _ in range(plan.accumulators)]
        multiply = MainLoop(plan, state, group, mine, start_of_weights, start_of_tokens, None, None)
        arguments = EpilogueArguments(alpha, beta, column_scales, row_scales, bias, n, m, d, d_stride, d_plane)

        def store() -> Store:
            row, column, batch = origin_of(items)
            return Store(plan, arguments, (c, c_stride, c_plane), row + group * 64, column, batch, mine)

        if isinstance(items, Part):
            # The part is empty if the tile has fewer stages than the cluster has CTAs.
            with when(items.first != items.last):
                multiply(items, sums, lambda: None)
            exchange.send(sums, thread)
            exchange.wait()
            stores = store()
            for quad in range(tile.columns // 8):
                with when(exchange.rank == quad % tile.cluster):
                    exchange.add(sums, quad, thread)
                    stores(sums, quad)
            return
        partial_sums = PartialSums(plan, items, partial, flags, group, mine)
        with while_(items.has_next):
            items.take()
            multiply(items, sums, lambda: None)
            with when(items.last != k_tiles):
                partial_sums.store(sums)
            with otherwise():
                with when(items.first != 0):
                    partial_sums.add(sums)
                stores = store()
                for quad in range(tile.columns // 8):
                    stores(sums, quad)


def tile_origin(number: Any, sizes: Sizes, shape: Tile) -> tuple[Any, Any, Any]:
    """Return the first row, the first column and the batch of a tile."""
    row, column, batch = tile_position(number, sizes.m_tiles, sizes.n_tiles, shape.group)
    return row * shape.rows, column * shape.columns, batch


def origin_of(items: TileScheduler | Part) -> tuple[Any, Any, Any]:
    """Return the first row, the first column and the batch of the current tile."""
    return items.origin(0) if isinstance(items, TileScheduler) else items.origin()


def prefetch_weights(plan: Plan, weights: Any, items: Any) -> None:
    """Copy the first stages of the weights to L2, while the previous grid of the stream still runs."""
    # A prefetch returns no data, and L2 keeps the data that the previous grid writes later.
    if isinstance(items, TileScheduler):
        items = TileScheduler(items.sizes, items.shape)
        items.take()
    row, _, batch = origin_of(items)
    end = ptx.min(items.last, items.first + _PREFETCHED, type=u32)
    blocks = 1 if plan.a_major == "k" else plan.tile.rows // BLOCK
    for k_tile in loop(items.first, end):
        k = k_tile * plan.stage_k
        for block in range(blocks):
            line = row + block * BLOCK if block else row
            coordinates = ((k, line) if plan.a_major == "k" else (line, k)) + (batch,)
            source = Location(weights, coordinates=coordinates[: plan.rank("a")])
            ptx.cp_async_bulk_prefetch_tensor(source, dim=f"{plan.rank('a')}d")


def produce(plan: Plan, items: Any, ring: RingState, weights: tuple[Any, Any], tokens: tuple[Any, Any]) -> None:
    """Copy all work items to shared memory.

    `weights` and `tokens` are (tensor map, address of the first stage).
    """
    tile = plan.tile
    with while_(items.has_next):
        items.take()
        row, column, batch = origin_of(items)
        k_tile, k = new(u32, items.first), new(u32, items.first * plan.stage_k)
        with while_(lambda: k_tile < items.last):
            ring.wait_empty()
            ptx.mbarrier_arrive_expect_tx(ring.barrier(), plan.stage_bytes)
            for (tensor, start), name, major, lines, line in (
                (weights, "a", plan.a_major, tile.rows, row), (tokens, "b", plan.b_major, tile.columns, column),
            ):  # fmt: skip
                target = start + ring.stage * (lines * SPAN)
                load_lines(tensor, major, target, ring, (k, line, batch)[: plan.rank(name)], lines, None)
            k += plan.stage_k
            k_tile += 1
            ring.advance()


class Exchange:
    """Sums of the CTAs of a cluster, which are sent through distributed shared memory.

    A quad consists of the sums of 8 columns. Quad q belongs to the CTA with rank q modulo the size of the cluster.
    `received` is shared memory for the sums that the other CTAs send to the owner of a quad.
    """

    def __init__(self, plan: Plan, received: Shared, barrier: Shared) -> None:
        self.plan, self.barrier, self.received = plan, barrier, received
        self.cluster, self.quads = plan.tile.cluster, plan.tile.columns // 8
        self.rank = special("cluster_ctarank") if self.cluster > 1 else new(u32, 0)
        self.bytes = 4 * plan.quad_registers
        self.threads = 128 * plan.tile.consumers

    def start(self) -> None:
        """Initialise the mbarrier. Only one thread may execute this, before a cluster barrier."""
        if self.cluster == 1:
            return
        ptx.mbarrier_init(self.barrier.at(0), 1)
        ptx.fence(op_restrict="mbarrier_init", sem="release", scope="cluster")
        mine = (self.quads - self.rank + (self.cluster - 1)) // self.cluster
        with when(self.rank < self.quads):
            each = (self.cluster - 1) * self.threads * self.bytes
            ptx.mbarrier_arrive_expect_tx(self.barrier.at(0), mine * each)

    def _place(self, quad: int, sender: Any, thread: Any) -> Register:
        """Return the address of the sums that the CTA `sender` sends for a quad.

        The owner of the quad sends none.
        """
        owner = quad % self.cluster
        index = sender - owner - 1 & self.cluster - 1
        slot = index + quad // self.cluster * (self.cluster - 1)
        start = self.received.address() + thread * self.bytes
        return start + slot * (self.threads * self.bytes)

    def _registers(self, sums: Sequence[Register], quad: int) -> list[Register]:
        count = self.plan.quad_registers
        return list(sums[quad * count : quad * count + count])

    def send(self, sums: Sequence[Register], thread: Any) -> None:
        """Send the sums of all quads to their owners."""
        for quad in range(self.quads):
            owner = quad % self.cluster
            with when(self.rank != owner):
                place, barrier = (
                    ptx.mapa(each, owner, space="shared::cluster", type=u32).at(0, "shared::cluster")
                    for each in (self._place(quad, self.rank, thread), self.barrier.address())
                )
                ptx.st_async(
                    place, self._registers(sums, quad), barrier, vec=f"v{self.plan.quad_registers}",
                    type=self.plan.register_type,
                )  # fmt: skip

    def wait(self) -> None:
        """Wait until all sums for this CTA have arrived."""
        with when(self.rank < self.quads), forever() as waiting:
            done = ptx.mbarrier_try_wait(self.barrier.at(0), 0, parity=True, sem="acquire", scope="cluster")
            waiting.leave(done)

    def add(self, sums: Sequence[Register], quad: int, thread: Any) -> None:
        """Add the received sums of a quad to its sums, in the order of the parts of K."""
        mine = self._registers(sums, quad)
        vector = {"vec": f"v{len(mine)}", "type": self.plan.register_type}
        parts = [
            mine
            if sender == quad % self.cluster
            else ptx.ld(self._place(quad, sender, thread).at(0, "shared::cta"), **vector)
            for sender in range(self.cluster)
        ]
        for register, (first, *others) in zip(mine, zip(*parts, strict=True), strict=True):
            total = first
            for other in others:
                total = ptx.add(total, other, type="f16x2") if self.plan.accumulator == "f16" else total + other
            register.set(total)


class Store:
    """Epilogue and store of one thread, for the 64 rows of a consumer from `row` on.

    `addend` is the address of C, and its strides. `thread` is the index of the thread in the consumer.
    """

    def __init__(
        self, plan: Plan, arguments: EpilogueArguments, addend: tuple[Any, Any, Any], row: Any, column: Any, batch: Any,
        thread: Any,
    ) -> None:  # fmt: skip
        self.plan, self.arguments, self.size = plan, arguments, size_of(plan.d)
        lane = thread & 31
        pair = (lane & 3) * 2
        self.line, self.column = row + (thread >> 5) * 16 + (lane >> 2), column + pair
        self.math = EpilogueMath(plan, arguments, pair)
        self.rows, self.columns = self.math.row_terms(self.line), self.math.column_terms(column)
        self.exists = [self.line + below < arguments.m for below in (0, 8)]
        self.step = arguments.stride
        self.d = self._start(arguments.start, arguments.stride, arguments.plane, batch, "d")
        self.addend_step = addend[1]
        self.c = self._start(*addend, batch, "c") if plan.epilogue.addend else None

    def _start(self, start: Any, stride: Any, plane: Any, batch: Any, name: str) -> Register:
        """Return the address of the thread's first element of C or D."""
        place = ptx.mad_wide(self.column, stride, start + ptx.mul_wide(self.line, self.size, type=u32), type=u32)
        return place + ptx.cvt(batch, dtype="u64") * plane if self.plan.rank(name) == 3 else place

    def __call__(self, sums: Sequence[Register], quad: int) -> None:
        """Apply the epilogue to the sums of a quad, and store them."""
        inside = [
            [ptx.setp(self.column + (8 * quad + across), self.arguments.n, row, CmpOp="lt", BoolOp="and", type=u32)
             for across in (0, 1)]
            for row in self.exists
        ]  # fmt: skip
        addend = None if self.c is None else self._addend(self.c, quad, inside)
        results = self.math.apply(sums, 8 * quad, addend, self.rows, self.columns)
        for below, row in enumerate(inside):
            for across, element in enumerate(self.math.elements(results, below)):
                place = self._element(self.d, self.step, 8 * quad + across, below)
                with guarded(row[across]):
                    ptx.st(place, element, type=f"b{8 * self.size}")

    def _element(self, start: Any, step: Any, columns: int, below: int) -> Location:
        place = start + ptx.mul_wide(step, columns, type=u32) if columns else start
        return place.at(8 * below * self.size, "global")

    def _addend(self, start: Any, quad: int, inside: list[list[Register]]) -> list[Register]:
        """Return four elements of C as f32. An element outside of C becomes 0."""
        found: list[Register] = []
        type_word = self.plan.epilogue.addend
        for below, row in enumerate(inside):
            parts: list[Register] = []
            for across, exists in enumerate(row):
                part = new("b32" if self.size == 4 else "b16", 0)
                with guarded(exists):
                    place = self._element(start, self.addend_step, 8 * quad + across, below)
                    ptx.ld(place, type=f"b{8 * self.size}", out=part)
                parts.append(part)
            if self.size == 4:
                found += [part.view(type_word) for part in parts]
            else:
                found += unpack(type_word, ptx.mov(parts, type="b32") if self.size == 2 else parts[1] << 8 | parts[0])
        return found
