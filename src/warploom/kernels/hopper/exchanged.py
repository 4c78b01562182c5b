"""GEMM kernel for few rows of A: it computes the transpose of D, so that columns of B are the rows of wgmma.

Each cluster computes one tile. Its CTAs multiply different parts of K, exchange the sums through distributed shared
memory, and store the elements of D one by one. The plan is that of the exchanged problem (see `Plan`).
"""

# Annotations of a kernel's parameters are PTX types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
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
from warploom.kernels.plan import BLOCK, size_of
from warploom.kernels.ptx import ptx

_DEFAULT = Plan(tile=Tile(64, 8, exchanged=True))


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a tile along K: the stages from `first` to below `last`."""

    first: Any
    last: Any


@kernel(target=HOPPER)
def exchanged_gemm(
    a: tensor_map, b: tensor_map, c: pointer("b8"), d: pointer("b8"), row_scales: pointer("f32"),
    column_scales: pointer("f32"), bias: pointer("f32"), alpha: f32, beta: f32,
    c_stride: u32, d_stride: u32, c_plane: u64, d_plane: u64, m: u32, n: u32, m_tiles: u32, n_tiles: u32, k_tiles: u32,
    *, plan: Plan = _DEFAULT,
) -> None:  # fmt: skip
    """Compute D = epilogue(A B). The grid has a cluster for each tile of each batch.

    The parameters are those of the caller's problem. `m_tiles` and `n_tiles` are the numbers of tiles along M and N,
    and `k_tiles` is the number of stages. `Epilogue` describes the scales, `bias`, `alpha` and `beta`.

    Units: bytes for strides and planes.
    """
    tile = plan.tile
    bounds(threads=tile.threads, cluster=(tile.cluster, 1, 1), ctas_per_sm=plan.ctas_per_sm)
    weights = shared(tile.stages * tile.rows * SPAN, align=1024)
    tokens = shared(tile.stages * tile.columns * SPAN, align=1024)
    exchange = Exchange(plan, shared(plan.received_bytes, align=16), shared(8, align=8))
    stages = ring(tile.stages, consumers=tile.tile_consumers)

    thread = special("tid.x")
    group = ptx.shfl_idx(thread >> 7, 0, 31, -1)
    produces = thread == 128 * tile.consumers
    number = special("clusterid.x")
    row = number // m_tiles
    column = (number - row * m_tiles) * tile.columns
    batch = new(u32, 0)
    if plan.batched:
        batch.set(row // n_tiles)
        row = row - batch * n_tiles
    row = row * tile.rows
    rank = exchange.rank
    part = Part(rank * k_tiles // tile.cluster, (rank + 1) * k_tiles // tile.cluster)
    with when(produces):
        for tensor in (a, b):
            ptx.prefetch(Location(tensor), level="tensormap")
        prefetch_weights(plan, b, part, row, batch)
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
    ptx.griddepcontrol_launch_dependents()
    ptx.griddepcontrol_wait()
    state = stages.state()
    start_of_weights, start_of_tokens = weights.address(), tokens.address()
    with when(group == tile.consumers):
        with when(produces):
            produce(plan, part, state, (b, start_of_weights), (a, start_of_tokens), (row, column, batch))
    with otherwise():
        mine = thread & 127
        sums = [new(plan.register_type, 0) for _ in range(plan.accumulators)]
        multiply = MainLoop(plan, state, group, mine, start_of_weights, start_of_tokens, None, None)
        # A part is empty if the tile has fewer stages than the cluster has CTAs.
        with when(part.first != part.last) if tile.cluster > 1 else nullcontext():
            multiply(part, sums, lambda: None)
        # Rows of the kernel are columns of D.
        arguments = EpilogueArguments(alpha, beta, column_scales, row_scales, bias, n, m, d, d_stride, d_plane)
        store = Store(plan, arguments, (c, c_stride, c_plane), row + group * 64, column, batch, mine)
        exchange.send(sums, thread)
        exchange.wait()
        for quad in range(tile.columns // 8):
            with exchange.owns(quad):
                exchange.add(sums, quad, thread)
                store(sums, quad)


def prefetch_weights(plan: Plan, weights: Any, part: Part, row: Any, batch: Any) -> None:
    """Copy the first stages of the weights to L2, while the previous grid of the stream still runs."""
    # A prefetch returns no data, and L2 keeps the data that the previous grid writes later.
    end = ptx.min(part.last, part.first + plan.tile.stages, type=u32)
    blocks = 1 if plan.a_major == "k" else plan.tile.rows // BLOCK
    for k_tile in loop(part.first, end):
        k = k_tile * plan.stage_k
        for block in range(blocks):
            line = row + block * BLOCK if block else row
            coordinates = ((k, line) if plan.a_major == "k" else (line, k)) + (batch,)
            source = Location(weights, coordinates=coordinates[: plan.rank("a")])
            ptx.cp_async_bulk_prefetch_tensor(source, dim=f"{plan.rank('a')}d")


def produce(
    plan: Plan, part: Part, ring: RingState, weights: tuple[Any, Any], tokens: tuple[Any, Any], origin: tuple[Any, ...]
) -> None:
    """Copy the stages of a part to shared memory. `weights` and `tokens` are (tensor map, address of first stage)."""
    tile, (row, column, batch) = plan.tile, origin
    k_tile, k = new(u32, part.first), new(u32, part.first * plan.stage_k)
    with while_(lambda: k_tile < part.last):
        ring.wait_empty()
        ptx.mbarrier_arrive_expect_tx(ring.barrier(), plan.stage_bytes)
        of_weights = weights[1] + ring.stage * (tile.rows * SPAN)
        of_tokens = tokens[1] + ring.stage * (tile.columns * SPAN)
        load_lines(weights[0], plan.a_major, of_weights, ring, (k, row, batch)[: plan.rank("a")], tile.rows, None)
        load_lines(tokens[0], plan.b_major, of_tokens, ring, (k, column, batch)[: plan.rank("b")], tile.columns, None)
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

    def owns(self, quad: int) -> Any:
        """Return a context whose code runs only in the CTA to which a quad belongs."""
        return nullcontext() if self.cluster == 1 else when(self.rank == quad % self.cluster)

    def _place(self, quad: int, sender: Any, thread: Any) -> Register:
        """Return the address of the sums that the CTA `sender` sends for a quad. The owner of the quad sends none."""
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
        for quad in range(self.quads if self.cluster > 1 else 0):
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
        if self.cluster == 1:
            return
        with when(self.rank < self.quads), forever() as waiting:
            done = ptx.mbarrier_try_wait(self.barrier.at(0), 0, parity=True, sem="acquire", scope="cluster")
            waiting.leave(done)

    def add(self, sums: Sequence[Register], quad: int, thread: Any) -> None:
        """Add the received sums of a quad to its sums, in the order of the parts of K."""
        if self.cluster == 1:
            return
        mine = self._registers(sums, quad)
        vector = {"vec": f"v{len(mine)}", "type": self.plan.register_type}
        parts = [
            mine if sender == quad % self.cluster else ptx.ld(self._place(quad, sender, thread).at(0, "shared::cta"), **vector)
            for sender in range(self.cluster)
        ]  # fmt: skip
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
