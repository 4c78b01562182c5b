"""GEMM kernel for few rows of A or few tiles, which computes the transpose of D.

The rows of wgmma are columns of B. The CTAs are persistent and may share tiles along K (see `tile_scheduler`), unless
CTAs of a cluster share a tile: then they multiply different parts of K and exchange the sums through distributed shared
memory. The tiles of a cluster have the same rows of A. The plan is that of the exchanged problem (see `Plan`).
"""

# Annotations of a kernel's parameters are PTX types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from collections.abc import Callable, Sequence
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
from warploom.kernels.hopper.gemm import OperandCopy, neighbors, wait_for_releases
from warploom.kernels.hopper.mainloop import MainLoop
from warploom.kernels.hopper.partial_sums import PartialSums
from warploom.kernels.hopper.plan import HOPPER, SPAN, Plan, Tile
from warploom.kernels.hopper.tile_scheduler import Sizes, TileScheduler, cluster_place, tile_corner
from warploom.kernels.plan import BLOCK, size_of, tile_position
from warploom.kernels.ptx import ptx

_DEFAULT = Plan(tile=Tile(64, 8, exchanged=True))
_PREFETCHED = 2  # stages that a CTA copies to L2 before the previous grid ends


class Part:
    """Part of one tile along K, the only work item of a CTA that shares a tile with others.

    `rank` is that of the CTA in its cluster. CTAs with consecutive ranks have the same part of neighbouring tiles.

    The interface is that of `TileScheduler`.
    """

    def __init__(self, sizes: Sizes, shape: Tile, rank: Any) -> None:
        self.sizes, self.shape = sizes, shape
        part = rank >> (shape.cluster.bit_length() - 1)
        self.first = part * sizes.k_tiles // shape.parts
        self.last = (part + 1) * sizes.k_tiles // shape.parts
        self.left = new(u32, 1)

    def has_next(self) -> Any:
        """Return a predicate that is true before `take`."""
        return self.left != 0

    def take(self) -> None:
        """Make the part the current work item."""
        self.left.set(0)

    def origin(self, rank: Any, tile: Any = None) -> tuple[Any, Any, Any]:
        """Return the first row, the first column and the batch of the tile of CTA `rank`. `tile` must be None."""
        assert tile is None
        sizes, shape = self.sizes, self.shape
        row, column, batch = tile_position(special("clusterid.x"), sizes.m_tiles, sizes.n_tiles, shape.group)
        return *tile_corner(row, column, rank, shape), batch


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
    bounds(threads=tile.threads, cluster=(tile.ctas, 1, 1), ctas_per_sm=max(plan.ctas_per_sm, 1))
    weights = shared(tile.stages * tile.rows * SPAN, align=1024)
    tokens = shared(tile.stages * plan.copied_columns * SPAN, align=1024)
    rank = special("cluster_ctarank") if tile.ctas > 1 else 0
    exchange = Exchange(plan, rank, shared(plan.received_bytes, align=16), shared(8, align=8))
    stages = ring(tile.stages, consumers=tile.tile_consumers, cluster=tile.cluster)

    thread = special("tid.x")
    group = ptx.shfl_idx(thread >> 7, 0, 31, -1)
    produces = thread == 128 * tile.consumers
    # Rows of the kernel are columns of D.
    sizes = Sizes(n, n_tiles, m_tiles, k_tiles, split, tiles, 0)
    items = TileScheduler(sizes, tile, plan.cut) if tile.parts == 1 else Part(sizes, tile, rank)
    with when(produces):
        for tensor in (a, b):
            ptx.prefetch(Location(tensor), level="tensormap")
        if plan.starts_late:
            prefetch_weights(plan, b, items, rank)
    with when(thread == 0):
        stages.start()
        exchange.start()
        ptx.fence_proxy(proxykind="async")
    if tile.ctas > 1:
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
        produce(plan, items, rank, state, (b, start_of_weights), (a, start_of_tokens))
        if plan.starts_late:
            ptx.griddepcontrol_launch_dependents()
    with otherwise():
        mine = thread & 127
        sums = [new(plan.register_type, 0) for _ in range(plan.accumulators)]
        multiply = MainLoop(plan, state, group, mine, start_of_weights, start_of_tokens, None, None)
        arguments = EpilogueArguments(alpha, beta, column_scales, row_scales, bias, n, m, d, d_stride, d_plane)

        def store(row: Any, column: Any, batch: Any) -> Store:
            addend, first = (c, c_stride, c_plane), (row + group * 64, column, batch)
            return Store(plan, arguments, addend, first, exchange.part, mine)

        if isinstance(items, Part):
            # The part is empty if the tile has fewer stages than the cluster has CTAs.
            with when(items.first != items.last):
                multiply(items, sums, lambda: None)
            exchange.send(sums, thread)
            exchange.wait()
            stores = store(*items.origin(rank))
            for quad in range(tile.columns // 8):
                with when(exchange.part == quad % tile.parts):
                    exchange.add(sums, quad, thread)
                    stores(sums, quad)
                stores.advance(quad)
            return
        partial_sums = PartialSums(plan, items, partial, flags, group, mine) if plan.cut else None

        def put_all() -> None:
            stores = store(*items.origin(rank))
            for quad in range(tile.columns // 8):
                stores(sums, quad)
                stores.advance(quad)

        with while_(items.has_next):
            items.take()
            multiply(items, sums, lambda: None)
            if partial_sums is None:
                put_all()
            else:
                with when(items.last - items.first != k_tiles):
                    partial_sums.store(sums)
                with otherwise():
                    put_all()

        def prepare(number: Any) -> Callable[[Sequence[Register], Any], None]:
            row, column, batch = items.origin(rank, number)
            return lambda totals, quad: store(row, column + quad * 8, batch)(totals, 0)

        if partial_sums is not None:
            partial_sums.finish(prepare)


def prefetch_weights(plan: Plan, weights: Any, items: Any, rank: Any) -> None:
    """Copy the first stages of the weights to L2, while the previous grid of the stream still runs."""
    # A prefetch returns no data, and L2 keeps the data that the previous grid writes later.
    if isinstance(items, TileScheduler):
        items = TileScheduler(items.sizes, items.shape, items.cut)
        items.take()
    row, _, batch = items.origin(rank)
    end = ptx.min(items.last, items.first + _PREFETCHED, type=u32)
    blocks = 1 if plan.a_major == "k" else plan.tile.rows // BLOCK
    for k_tile in loop(items.first, end):
        k = k_tile * plan.stage_k
        for block in range(blocks):
            line = row + block * BLOCK if block else row
            coordinates = ((k, line) if plan.a_major == "k" else (line, k)) + (batch,)
            source = Location(weights, coordinates=coordinates[: plan.rank("a")])
            ptx.cp_async_bulk_prefetch_tensor(source, dim=f"{plan.rank('a')}d")


def produce(
    plan: Plan, items: Any, rank: Any, ring: RingState, weights: tuple[Any, Any], tokens: tuple[Any, Any]
) -> None:
    """Copy all work items of CTA `rank` of a cluster to shared memory.

    `weights` and `tokens` are (tensor map, address of the first stage). Each CTA copies a part of the tokens for the
    CTAs with the same part of K.
    """
    tile = plan.tile
    place, _ = cluster_place(rank, tile)
    copy_weights = OperandCopy(plan, "a", *weights, 0, None)
    copy_tokens = OperandCopy(plan, "b", *tokens, place, neighbors(rank - place, range(tile.cluster)))
    with while_(items.has_next):
        items.take()
        row, column, batch = items.origin(rank)
        column = copy_tokens.first_line(column)
        k_tile, k = new(u32, items.first), new(u32, items.first * plan.stage_k)
        with while_(lambda: k_tile < items.last):
            ring.wait_empty()
            ptx.mbarrier_arrive_expect_tx(ring.barrier(), plan.stage_bytes)
            copy_weights(ring, k, row, batch)
            copy_tokens(ring, k, column, batch)
            k += plan.stage_k
            k_tile += 1
            ring.advance()
    if tile.cluster > 1:
        wait_for_releases(ring)


class Exchange:
    """Sums of the CTAs that share a tile, which are sent through distributed shared memory.

    A quad consists of the sums of 8 columns. Quad q belongs to the CTA whose part of K has the index q modulo the
    number of parts. `received` is shared memory for the sums that the other CTAs send to the owner of a quad.
    """

    def __init__(self, plan: Plan, rank: Any, received: Shared, barrier: Shared) -> None:
        self.plan, self.barrier, self.received = plan, barrier, received
        self.parts, self.quads = plan.tile.parts, plan.tile.columns // 8
        self.neighbors = plan.tile.cluster
        self.place, _ = cluster_place(rank, plan.tile)
        self.part = rank >> (self.neighbors.bit_length() - 1) if self.parts > 1 else new(u32, 0)
        self.bytes = 4 * plan.quad_registers
        self.threads = 128 * plan.tile.consumers

    def start(self) -> None:
        """Initialise the mbarrier. Only one thread may execute this, before a cluster barrier."""
        if self.parts == 1:
            return
        ptx.mbarrier_init(self.barrier.at(0), 1)
        ptx.fence(op_restrict="mbarrier_init", sem="release", scope="cluster")
        mine = (self.quads - self.part + (self.parts - 1)) // self.parts
        with when(self.part < self.quads):
            each = (self.parts - 1) * self.threads * self.bytes
            ptx.mbarrier_arrive_expect_tx(self.barrier.at(0), mine * each)

    def _place(self, quad: int, sender: Any, thread: Any) -> Register:
        """Return the address of the sums that the CTA with part `sender` sends for a quad.

        The owner of the quad sends none.
        """
        owner = quad % self.parts
        index = sender - owner - 1 & self.parts - 1
        slot = index + quad // self.parts * (self.parts - 1)
        start = self.received.address() + thread * self.bytes
        return start + slot * (self.threads * self.bytes)

    def _registers(self, sums: Sequence[Register], quad: int) -> list[Register]:
        count = self.plan.quad_registers
        return list(sums[quad * count : quad * count + count])

    def send(self, sums: Sequence[Register], thread: Any) -> None:
        """Send the sums of all quads to their owners."""
        for quad in range(self.quads):
            owner = quad % self.parts
            with when(self.part != owner):
                to = self.place + owner * self.neighbors
                place, barrier = (
                    ptx.mapa(each, to, space="shared::cluster", type=u32).at(0, "shared::cluster")
                    for each in (self._place(quad, self.part, thread), self.barrier.address())
                )
                ptx.st_async(
                    place, self._registers(sums, quad), barrier, vec=f"v{self.plan.quad_registers}",
                    type=self.plan.register_type,
                )  # fmt: skip

    def wait(self) -> None:
        """Wait until all sums for this CTA have arrived."""
        with when(self.part < self.quads), forever() as waiting:
            done = ptx.mbarrier_try_wait(self.barrier.at(0), 0, parity=True, sem="acquire", scope="cluster")
            waiting.leave(done)

    def add(self, sums: Sequence[Register], quad: int, thread: Any) -> None:
        """Add the received sums of a quad to its sums, in the order of the parts of K."""
        mine = self._registers(sums, quad)
        vector = {"vec": f"v{len(mine)}", "type": self.plan.register_type}
        parts = [
            mine
            if sender == quad % self.parts
            else ptx.ld(self._place(quad, sender, thread).at(0, "shared::cta"), **vector)
            for sender in range(self.parts)
        ]
        for register, (first, *others) in zip(mine, zip(*parts, strict=True), strict=True):
            total = first
            for other in others:
                total = ptx.add(total, other, type="f16x2") if self.plan.accumulator == "f16" else total + other
            register.set(total)


class _Place:
    """Address of a thread's elements of C or D in the rows of the current quad.

    A quad is 8 columns of a block of 64 rows, of which a thread has four elements. `first` is the address in the first
    quad of the CTA, and `step` the distance of two rows. The CTA has every `parts`-th quad. The address advances in
    one register. Otherwise the assembler would keep an offset for each quad in a register of its own.
    """

    def __init__(self, first: Any, step: Any, parts: int) -> None:
        self.address, self.step = new(u64, first), step
        self.jump = ptx.mul_wide(step, 8 * parts, type=u32)

    def row(self, across: int) -> Register:
        """Return the address in the current row, or in the next row if `across` is 1."""
        return self.address + ptx.cvt(self.step, dtype="u64") if across else self.address

    def advance(self) -> None:
        """Go to the next quad of the CTA."""
        self.address += self.jump


class Store:
    """Epilogue and store of one thread, for the 64 rows of a consumer.

    `first` is the first row, the first column and the batch of the rows. If n CTAs share the tile, the CTA stores the
    quads `part`, `part` + n, `part` + 2n and so on. `addend` is the address of C, and its strides. `thread` is the
    index of the thread in the consumer. 16-bit elements of whole rows are transposed in registers, so that a thread
    stores two neighbours of D at once.
    """

    def __init__(
        self, plan: Plan, arguments: EpilogueArguments, addend: tuple[Any, Any, Any], first: tuple[Any, Any, Any],
        part: Any, thread: Any,
    ) -> None:  # fmt: skip
        self.plan, self.arguments, self.size = plan, arguments, size_of(plan.d)
        self.first, self.skipped = first, 8 * part if plan.tile.parts > 1 else 0
        row, column, _ = first
        lane, warp_row = thread & 31, row + (thread >> 5) * 16
        pair, line = (lane & 3) * 2, lane >> 2
        self.line, self.column = warp_row + line, column + pair
        self.math = EpilogueMath(plan, arguments, pair)
        self.rows, self.columns = self.math.row_terms(self.line), self.math.column_terms(column)
        self.exists = [self.line + below < arguments.m for below in (0, 8)]
        of_d = arguments.start, arguments.stride, arguments.plane
        self.c = self._place(*addend, self.line, self.column, "c") if plan.epilogue.addend else None
        self.turns = self.size == 2 and not plan.unaligned
        if self.turns:
            self.turned_row = column + line
            self.d = self._place(*of_d, warp_row + pair, self.turned_row, "d")
            self.fits = [warp_row + pair + below < arguments.m for below in (0, 8)]
        else:
            self.d = self._place(*of_d, self.line, self.column, "d")

    def _place(self, start: Any, stride: Any, plane: Any, line: Any, column: Any, name: str) -> _Place:
        """Return the place of the thread's elements in C or D, the first in column `line` and row `column`."""
        place = ptx.mad_wide(column + self.skipped, stride, start + ptx.mul_wide(line, self.size, type=u32), type=u32)
        if self.plan.rank(name) == 3:
            place = place + ptx.cvt(self.first[2], dtype="u64") * plane
        return _Place(place, stride, self.plan.tile.parts)

    def __call__(self, sums: Sequence[Register], quad: int) -> None:
        """Apply the epilogue to the sums of the current quad, and store them. `quad` is its index."""
        inside = [] if self.turns and self.c is None else [
            [ptx.setp(self.column + (8 * quad + across), self.arguments.n, row, CmpOp="lt", BoolOp="and", type=u32)
             for across in (0, 1)]
            for row in self.exists
        ]  # fmt: skip
        addend = None if self.c is None else self._addend(self.c, inside)
        results = self.math.apply(sums, 8 * quad, addend, self.rows, self.columns)
        if self.turns:
            self._store_turned(results, quad)
            return
        for below, row in enumerate(inside):
            for across, element in enumerate(self.math.elements(results, below)):
                with guarded(row[across]):
                    place = self.d.row(across).at(8 * below * self.size, "global")
                    ptx.st(place, element, type=f"b{8 * self.size}")

    def advance(self, quad: int) -> None:
        """Go to the next quads of the CTAs that share the tile, if `quad` is the last of its quads."""
        if (quad + 1) % self.plan.tile.parts == 0:
            for place in self._places():
                place.advance()

    def _places(self) -> list[_Place]:
        return [self.d] if self.c is None else [self.c, self.d]

    def _store_turned(self, results: list[Register], quad: int) -> None:
        """Transpose the results of a quad among the lanes of the warp, and store them."""
        row = self.turned_row + 8 * quad
        for below, word in enumerate(self.math.packed(results)):
            turned = ptx.movmatrix(word, shape="m8n8", type="b16")
            exists = ptx.setp(row, self.arguments.n, self.fits[below], CmpOp="lt", BoolOp="and", type=u32)
            with guarded(exists):
                ptx.st(self.d.row(0).at(8 * below * self.size, "global"), turned, type="b32")

    def _addend(self, place: _Place, inside: list[list[Register]]) -> list[Register]:
        """Return four elements of C as f32. An element outside of C becomes 0."""
        found: list[Register] = []
        type_word = self.plan.epilogue.addend
        for below, row in enumerate(inside):
            parts: list[Register] = []
            for across, exists in enumerate(row):
                part = new("b32" if self.size == 4 else "b16", 0)
                with guarded(exists):
                    ptx.ld(place.row(across).at(8 * below * self.size, "global"), type=f"b{8 * self.size}", out=part)
                parts.append(part)
            if self.size == 4:
                found += [part.view(type_word) for part in parts]
            else:
                found += unpack(type_word, ptx.mov(parts, type="b32") if self.size == 2 else parts[1] << 8 | parts[0])
        return found
