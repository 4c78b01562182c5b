"""Gradients of attention for Hopper: dQ, dK and dV.

With the weights P = exp(scale Q K^T - lse), the gradients are dV = P^T dO, dS = P (dO V^T - D), dK = scale dS^T Q and
dQ = scale dS K, where D is the sum of dO O over a row. A CTA owns a block of keys, and visits the blocks of rows of Q
and dO that attend to it. Each consumer warpgroup owns 64 of the keys, and multiplies the transposed scores K Q^T. Its
threads therefore hold P^T and dS^T in the order of operand A of the multiplications for dV and dK. Only dS is written
to shared memory, for dQ. Each CTA adds its part of dQ to sums in global memory. The structure is that of the backward
pass of "FlashAttention-3" (Shah et al., 2024).
"""

# Annotations of a kernel's parameters are PTX types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from collections.abc import Sequence as Items
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from warploom.author import (
    Location,
    Register,
    RingState,
    Shared,
    Tile,
    TileDescriptor,
    barrier,
    bounds,
    f32,
    forever,
    guarded,
    kernel,
    new,
    otherwise,
    pointer,
    ring,
    s32,
    shared,
    shared_tile,
    special,
    tensor_map,
    u32,
    u64,
    warpgroup,
    when,
    while_,
)
from warploom.kernels.epilogue import pack, unpack
from warploom.kernels.hopper.attention_tiles import clear_rows
from warploom.kernels.hopper.backward_blocks import Sequence, Sizes, Visits
from warploom.kernels.hopper.backward_plan import GROUP_KEYS, BackwardPlan
from warploom.kernels.hopper.plan import HOPPER
from warploom.kernels.ptx import ptx

_ALL, _GROUP = 1, 2  # named barriers of all consumers, and first one of those of each consumer
_PART = 64  # columns of a row that one tensor copy writes
_ROW = 128  # bytes of these columns


@dataclass(frozen=True, slots=True)
class Memory:
    """Shared memory of a CTA.

    `terms` has the two terms of each row, for each stage of Q.
    """

    q: Tile
    do: Tile
    k: Tile
    v: Tile
    ds: Tile
    terms: Shared


@dataclass(frozen=True, slots=True)
class States:
    """States of the rings of a producer or a consumer. K and V have one stage."""

    q: RingState
    do: RingState
    k: RingState
    v: RingState


@kernel(target=HOPPER)
def attention_backward(
    q: tensor_map, k: tensor_map, v: tensor_map, do: tensor_map, dk: tensor_map, dv: tensor_map,
    dk_start: pointer("b8"), dv_start: pointer("b8"), terms: pointer("f32"), sums: pointer("f32"),
    turns: pointer("u32"), q_ends: pointer("u32"), k_ends: pointer("u32"), dk_token: u64, dk_head: u64, dv_token: u64,
    dv_head: u64, scale: f32, power: f32, batch: u32, q_tokens: s32, k_tokens: s32, heads: u32, row_blocks: u32,
    sharing: u32, blocks: u32, left: s32, right: s32, *, plan: BackwardPlan,
) -> None:  # fmt: skip
    """Compute dK and dV, and add dQ / scale to `sums`.

    `power` is log2(e) scale. `terms` are those of `prepare`. `blocks` is the number of blocks of keys of a head of one
    sequence or, if the sequences are packed, of a head. The strides are in bytes. `sharing` heads of Q share a head of
    K and V. `Sizes` describes the other parameters.
    """
    bounds(threads=plan.threads, ctas_per_sm=1)
    q_tile, do_tile = (shared_tile(plan.rows, plan.head, plan.type, stages=plan.stages) for _ in range(2))
    k_tile, v_tile = (shared_tile(plan.keys, plan.head, plan.type) for _ in range(2))
    ds_tile = shared_tile(plan.rows, plan.keys, plan.type, stages=2)
    memory = Memory(q_tile, do_tile, k_tile, v_tile, ds_tile, shared(8 * plan.rows * plan.stages))
    rings = [ring(stages, consumers=plan.consumers) for stages in (plan.stages, plan.stages, 1, 1)]
    with when(special("tid.x") == 0):
        for tensor in (q, k, v, do, dk, dv):
            ptx.prefetch(Location(tensor), level="tensormap")
        for each in rings:
            each.start()
        ptx.fence_proxy(proxykind="async")
    ptx.bar(0)
    ptx.griddepcontrol_launch_dependents()
    ptx.griddepcontrol_wait()
    states = States(*(each.state() for each in rings))
    number = special("ctaid.x")
    line = number // blocks
    inside = number - line * blocks
    # In the fixed order, later keys add to dQ first. Otherwise, the keys with the most rows come first.
    position = blocks - 1 - inside if plan.deterministic else inside
    sizes = Sizes(q_ends, k_ends, batch, q_tokens, k_tokens, heads, row_blocks)
    heads_kv = heads // sharing
    index = line // heads_kv
    head_kv = line - index * heads_kv
    sequence = Sequence(plan, sizes, position, index, of_keys=True)
    visits = Visits(plan, sequence, left, right)
    task = Task(plan, sequence, visits, memory, states, head_kv, sharing)
    exists = visits.key < sequence.k_count if plan.packed else visits.key < k_tokens
    group = warpgroup()
    with when(group == 0):
        ptx.setmaxnreg_dec(plan.producer_registers)
        with when((special("tid.x") == 0) & exists):
            produce(task, (q, k, v, do), terms)
    with otherwise():
        ptx.setmaxnreg_inc(plan.consumer_registers)
        with when(exists):
            consumer = Consumer(task, group - 1, power, sums, turns)
            consumer.compute()
            consumer.store((dk, dv), (dk_start, dv_start), ((dk_token, dk_head), (dv_token, dv_head)), scale)


@dataclass(frozen=True, slots=True)
class Task:
    """Block of keys of a CTA.

    It is shared by `sharing` heads of Q, from head_kv * sharing on.
    """

    plan: BackwardPlan
    sequence: Sequence
    visits: Visits
    memory: Memory
    states: States
    head_kv: Register
    sharing: Any

    @property
    def plane(self) -> Any:
        """Index of the sequence in arrays, for tensor copies."""
        return 0 if self.plan.packed else self.sequence.index

    def first_head(self) -> Register:
        """Return a new register with the first head of Q."""
        return new(u32, self.head_kv * self.sharing)


def produce(task: Task, maps: Items[Any], terms: Any) -> None:
    """Copy K, V, and all blocks of Q, dO and terms to shared memory."""
    plan, sequence, visits, states, memory = task.plan, task.sequence, task.visits, task.states, task.memory
    key = sequence.k_first + visits.key

    def load(number: int, tile: Tile, state: RingState, row: Any, head: Any, block: Register | None = None) -> None:
        state.wait_empty()
        more = 0 if block is None else 8 * plan.rows
        ptx.mbarrier_arrive_expect_tx(state.barrier(), tile.bytes + more)
        tile.load(maps[number], (0, row, head, task.plane), state.barrier("shared::cluster"), state.stage)
        if block is not None:
            source = Location(terms + ptx.mul_wide(block, more, type=u32), 0, "global")
            target = (memory.terms.address() + state.stage * more).at(0, "shared::cluster")
            ptx.cp_async_bulk(target, source, more, state.barrier("shared::cluster"), dst="shared::cluster")
        state.advance()

    load(1, memory.k, states.k, key, task.head_kv)
    load(2, memory.v, states.v, key, task.head_kv)
    head = task.first_head()
    last = head + task.sharing
    with while_(lambda: head < last):
        block = new(s32, visits.first)
        with while_(lambda: block < visits.end):
            row = sequence.q_first + block * plan.rows
            load(0, memory.q, states.q, row, head, sequence.block_of(head, block))
            load(3, memory.do, states.do, row, head)
            block += 1
        head += 1


class Consumer:
    """Computation of dK and dV of 64 keys, and of a part of dQ, by the warpgroup `number`."""

    def __init__(self, task: Task, number: Register, power: Any, sums: Any, turns: Any) -> None:
        plan, memory = task.plan, task.memory
        self.plan, self.task, self.number, self.power = plan, task, number, power
        self.turns = turns
        self.thread = special("tid.x") & 127
        lane = self.thread & 31
        self.first_key = number * GROUP_KEYS + (self.thread >> 5) * 16  # of the warp in the block
        self.column = (lane & 3) * 2  # the thread's first row in a block of Q
        self.from_k, self.from_v = (each.descriptor(row=number * GROUP_KEYS) for each in (memory.k, memory.v))
        self.from_q, self.from_do = memory.q.descriptor(), memory.do.descriptor()
        self.from_q_mn, self.from_do_mn = (_transposed(each).descriptor() for each in (memory.q, memory.do))
        self.ds_operand, self.k_operand = self._dq_operands()
        key = task.visits.key + (self.first_key + (lane >> 2)).view("s32")
        column = self.column.view("s32")
        self.limits = [
            tuple(None if each is None else each - column for each in task.visits.limits(key + 8 * below))
            for below in (0, 1)
        ]
        self.scores, self.slopes = ([new(f32) for _ in range(plan.rows // 2)] for _ in range(2))
        self.weights, self.changes = ([new("b32") for _ in range(plan.rows // 4)] for _ in range(2))
        self.dq = [new(f32) for _ in range(plan.sums)]
        self.dk, self.dv = ([new(f32, 0.0) for _ in range(plan.head // 2)] for _ in range(2))
        self.terms = memory.terms.address() + self.column * 4
        # Each thread provides the address of one of 8 rows of a matrix, whose 16 bytes are 8 keys.
        row, chunk = (lane & 7) | (lane >> 4) * 8, (self.thread >> 5) * 2 | (lane >> 3 & 1)
        place: Any = memory.ds.row(row).chunk(chunk).base
        self.ds_place: Register = place + number * (plan.rows * _ROW)
        self.ds_stage = new(u32, 0)
        within = number * (plan.sums * 512) + self.thread * 16  # after the bytes of other consumers
        self.sums = sums + ptx.mul_wide(within, 1, type=u32)
        self.block, self.head = new(s32, task.visits.first), task.first_head()
        self.left = new(u32, task.visits.count.view("u32") * task.sharing)  # steps

    def _dq_operands(self) -> tuple[TileDescriptor, TileDescriptor]:
        """Return the consumer's operands dS and K of the multiplication for dQ."""
        plan, memory = self.plan, self.task.memory
        keys = _transposed(memory.k).descriptor()
        if plan.splits_rows:
            return memory.ds.descriptor(row=self.number * 64), keys
        return memory.ds.descriptor(), replace(keys, low=keys.low + self.number * (plan.keys * _ROW // 16))

    # Main loop ----------------------------------------------------------------------------------------------

    def compute(self) -> None:
        """Compute dK and dV, and add to dQ."""
        states = self.task.states
        states.k.wait_full()
        states.v.wait_full()
        with when(self.left > 0):
            if self.plan.packed or self.plan.lengths:
                self._clear_keys()
            states.q.wait_full()
            self._multiply_scores()
            ptx.wgmma_wait_group(0)
            with while_(lambda: self.left > 0):
                self._step()

    def _clear_keys(self) -> None:
        """Set the rows of K and V after the end of the sequence to zero. Memory there may contain NaN."""
        plan, memory, key = self.plan, self.task.memory, self.task.visits.key
        count = self.task.sequence.k_count - key
        with when(count < plan.keys):
            for tile in (memory.k, memory.v):
                clear_rows(tile.address(), count, (plan.keys, plan.head), self.number, plan.consumers)
            ptx.fence_proxy(proxykind="async", space="shared::cta")
            barrier(_ALL, 128 * plan.consumers).wait()

    def _step(self) -> None:
        """Add the products of one block of rows."""
        plan, states = self.plan, self.task.states
        self.left -= 1
        states.do.wait_full()
        self._multiply(self.slopes, self.from_v, self.from_do.stage(states.do.stage), plan.head, start=True)
        self._exponentiate()
        self._multiply(self.dv, self.weights, self.from_do_mn.stage(states.do.stage), plan.rows, mn=True)
        ptx.wgmma_wait_group(1)
        self._differentiate()
        self._write_changes()
        ptx.fence_proxy(proxykind="async", space="shared::cta")
        barrier(_ALL, 128 * plan.consumers).wait()
        self._multiply_dq()
        self._multiply(self.dk, self.changes, self.from_q_mn.stage(states.q.stage), plan.rows, mn=True)
        ptx.wgmma_wait_group(2)
        states.do.release(states.do.stage, self.thread)
        states.do.advance()
        used = new(u32, states.q.stage)
        with when(self.left > 0):
            states.q.advance()
            states.q.wait_full()
        self._multiply_scores()  # after the last block, the scores of this block again, which nothing uses
        ptx.wgmma_wait_group(2)
        self._add_dq()
        ptx.wgmma_wait_group(0)
        states.q.release(used, self.thread)
        self._advance()

    def _advance(self) -> None:
        """Go to the next block of rows."""
        visits = self.task.visits
        self.block += 1
        self.ds_stage.set(self.ds_stage ^ 1)
        ends = self.block == visits.end
        with guarded(ends):
            self.block.set(visits.first)
        with guarded(ends):
            ptx.add(self.head, 1, type=u32, out=self.head)

    def _multiply(
        self, sums: Items[Register], a: Any, b: TileDescriptor, depth: int, *, start: bool = False, mn: bool = False
    ) -> None:
        """Start sums = A B^T or, unless `start`, sums += A B^T. `mn`: A is in registers and B is MN-major."""
        words = {"dtype": "f32", "atype": self.plan.type, "btype": self.plan.type, "n": 2 * len(sums)}
        ptx.wgmma_fence()
        for k in range(0, depth, 16):
            if mn:
                ptx.wgmma_mma_async(sums, a[k // 4 : k // 4 + 4], b.at(k), 1, 1, 1, 1, **words)
            else:
                ptx.wgmma_mma_async(sums, a.at(k), b.at(k), int(k > 0 or not start), 1, 1, 0, 0, **words)
        ptx.wgmma_commit_group()

    def _multiply_scores(self) -> None:
        """Start scores = K Q^T for the current stage of Q."""
        queries = self.from_q.stage(self.task.states.q.stage)
        self._multiply(self.scores, self.from_k, queries, self.plan.head, start=True)

    def _multiply_dq(self) -> None:
        """Start dq = dS K for the consumer's part of the block."""
        plan = self.plan
        words = {"dtype": "f32", "atype": plan.type, "btype": plan.type, "n": 2 * len(self.dq)}
        changes, keys = self.ds_operand.stage(self.ds_stage), self.k_operand
        ptx.wgmma_fence()
        for k in range(0, plan.keys, 16):
            ptx.wgmma_mma_async(self.dq, changes.at(k), keys.at(k), int(k > 0), 1, 1, 0, 1, **words)
        ptx.wgmma_commit_group()

    # Weights ------------------------------------------------------------------------------------------------

    def _load_terms(self, which: int) -> list[Register]:
        """Return a term of each of the thread's rows of Q."""
        plan = self.plan
        place = self.terms + self.task.states.q.stage * (8 * plan.rows)
        pairs = [
            ptx.ld(place.at(4 * (which * plan.rows + row), "shared::cta"), vec="v2", type=f32)
            for row in range(0, plan.rows, 8)
        ]
        return [each for pair in pairs for each in pair]

    def _exponentiate(self) -> None:
        """Compute the weights P from the scores. The weights of a key to which a row does not attend are 0."""
        shifts = self._load_terms(0)
        for number, each in enumerate(self.scores):
            power = ptx.fma(each, self.power, shifts[_row_of(number)], rnd="rn", type=f32)
            ptx.ex2(power, approx=True, ftz=True, type=f32, out=each)
        start = self.block * self.plan.rows
        with when(self.task.visits.needs_mask(start)):
            for below, (first, last) in enumerate(self.limits):
                low, high = first - start, None if last is None else last - start
                for number, each in enumerate(self.scores):
                    if number >> 1 & 1 != below:
                        continue
                    row = number // 4 * 8 + number % 2
                    inside = ptx.setp(low, row, CmpOp="le", type=s32)
                    if high is not None:
                        inside = ptx.setp(high, row, inside, CmpOp="ge", BoolOp="and", type=s32)
                    ptx.selp(each, 0.0, inside, type=f32, out=each)
        for number, weight in enumerate(self.weights):
            weight.set(pack(self.plan.type, *self.scores[2 * number : 2 * number + 2]))

    def _differentiate(self) -> None:
        """Compute dS = P (dP - D) as fragments of A.

        P is rounded, because its f32 values need too many registers.
        """
        totals = self._load_terms(1)
        for number, (change, weight) in enumerate(zip(self.changes, self.weights, strict=True)):
            slopes = [self.slopes[at] - totals[_row_of(at)] for at in (2 * number, 2 * number + 1)]
            pair = (p * slope for p, slope in zip(unpack(self.plan.type, weight), slopes, strict=True))
            change.set(pack(self.plan.type, *pair))

    def _write_changes(self) -> None:
        """Write dS to shared memory, with contiguous keys."""
        place = self.ds_place + self.ds_stage * self.task.memory.ds.bytes
        for row in range(0, self.plan.rows, 16):
            words = self.changes[row // 4 : row // 4 + 4]
            ptx.stmatrix(place.at(row * _ROW, "shared::cta"), words, shape="m8n8", num="x4", trans=True, type="b16")

    def _add_dq(self) -> None:
        """Add the consumer's part of dQ to the sums of the block."""
        plan, sequence = self.plan, self.task.sequence
        block = sequence.block_of(self.head, self.block)
        place = self.sums + ptx.mul_wide(block, 4 * plan.block_elements, type=u32)
        if plan.deterministic:
            self._add_in_turn(place, block)
        else:
            self._add_from_registers(place)

    def _add_from_registers(self, place: Register) -> None:
        for first in range(0, self.plan.sums, 4):
            at = place.at(512 * first, "global")
            ptx.red_add(at, self.dq[first : first + 4], sem="relaxed", scope="gpu", vec="v4", type=f32)

    def _add_in_turn(self, place: Register, block: Register) -> None:
        """Add the consumer's part after the CTAs with later keys have added theirs."""
        own = barrier(self.number + _GROUP, 128)
        turn = self.turns.element(block * self.plan.consumers + self.number)
        before = self.task.visits.turn(self.block)
        with when(self.thread == 0), forever() as waiting:
            waiting.leave(ptx.ld(turn, sem="acquire", scope="gpu", type=s32) == before)
        own.wait()
        self._add_from_registers(place)
        own.wait()
        with when(self.thread == 0):
            ptx.fence(sem="acq_rel", scope="gpu")
            ptx.red_add(turn, 1, sem="release", scope="gpu", type=u32)

    # Results ------------------------------------------------------------------------------------------------

    def store(self, maps: Items[Any], starts: Items[Any], strides: Items[tuple[Any, Any]], scale: Any) -> None:
        """Store dK and dV. Their blocks in shared memory replace K and V."""
        memory = self.task.memory
        own = barrier(self.number + _GROUP, 128)
        # The other consumers multiply by the keys of this consumer, until they arrive here.
        barrier(_ALL, 128 * self.plan.consumers).wait()
        for tile, sums, factor in ((memory.k, self.dk, scale), (memory.v, self.dv, None)):
            self._write(tile, sums, factor)
        ptx.fence_proxy(proxykind="async", space="shared::cta")
        own.wait()
        sequence = self.task.sequence
        first = self.task.visits.key + (self.number * GROUP_KEYS).view("s32")
        row = sequence.k_first + first
        whole = when(first + GROUP_KEYS <= sequence.k_count) if self.plan.packed else nullcontext()
        with whole, when(self.thread == 0):
            for tensor, tile in zip(maps, (memory.k, memory.v), strict=True):
                start = tile.address() + self.number * (GROUP_KEYS * _ROW)
                for part in range(self.plan.head // _PART):
                    at = (part * _PART, row, self.task.head_kv, self.task.plane)
                    source = start.at(part * self.plan.keys * _ROW, "shared::cta")
                    ptx.cp_async_bulk_tensor(Location(tensor, coordinates=at), source, dim="4d", src="shared::cta")
            ptx.cp_async_bulk_commit_group()
        if self.plan.packed:
            with otherwise():
                for tile, start, steps in zip((memory.k, memory.v), starts, strides, strict=True):
                    self._store_last_rows(tile, start, steps, first)
        with guarded(self.thread == 0):
            ptx.cp_async_bulk_wait_group(0)

    def _write(self, tile: Tile, sums: Items[Register], factor: Any) -> None:
        """Write sums to the consumer's rows of a tile."""
        lane = self.thread & 31
        row = tile.row(self.first_key + (lane & 15))
        places = [row.chunk((lane >> 4) | chunk) for chunk in range(0, _ROW // 16, 2)]
        for first in range(0, len(sums), 8):
            values = [each if factor is None else each * factor for each in sums[first : first + 8]]
            words = [pack(self.plan.type, *values[at : at + 2]) for at in range(0, 8, 2)]
            part, inside = divmod(2 * first, _PART)
            place = places[inside // 16] + part * self.plan.keys * _ROW
            ptx.stmatrix(place, words, shape="m8n8", num="x4", type="b16")

    def _store_last_rows(self, tile: Tile, start: Any, strides: tuple[Any, Any], first: Register) -> None:
        """Store the last keys of a packed sequence. A tensor copy would also write keys of the next sequence."""
        sequence, plan = self.task.sequence, self.plan
        line, chunk = self.thread >> 3, self.thread & 7
        source = tile.row(self.number * GROUP_KEYS + line).chunk(chunk)
        token = sequence.k_first + first + line.view("s32")
        target = start + ptx.cvt(self.task.head_kv, dtype="u64") * strides[1] + ptx.mul_wide(chunk, 16, type=u32)
        target = target + ptx.cvt(token, dtype="s64").view("u64") * strides[0]
        for below in range(0, GROUP_KEYS, 16):
            with when(first + line.view("s32") + below < sequence.k_count):
                for part in range(plan.head // _PART):
                    words = ptx.ld(source + (below + part * plan.keys) * _ROW, vec="v4", type="b32")
                    ptx.st(target.at(part * _ROW, "global"), words, vec="v4", type="b32")
            target = target + strides[0] * 16


def _transposed(tile: Tile) -> Tile:
    """Return the same memory as the transposed matrix."""
    return replace(tile, rows=tile.columns, columns=tile.rows, major="mn")


def _row_of(number: int) -> int:
    """Return the index of the row of Q of a score among the rows of a thread."""
    return number // 4 * 2 + number % 2
