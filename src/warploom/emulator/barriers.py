"""CTA barriers and cluster barriers."""

from typing import Any

import numpy as np

from warploom.emulator.batch import Batch
from warploom.emulator.events import Barrier, PhaseComplete
from warploom.emulator.faults import Awaited, Fault, refuse
from warploom.emulator.observers import Dispatcher
from warploom.emulator.state import State
from warploom.emulator.warp_splits import KINDS, Event, Status, unpack
from warploom.isa.model.semantics import Array

BARRIERS = 16  # barriers of a CTA (PTX ISA 9.7.13.1)


class Barriers:
    """Arrival counts and waiting warp splits of all CTA barriers and cluster barriers.

    The key of a CTA barrier is cta * BARRIERS + number. A barrier is complete when all expected threads have arrived,
    and then starts anew.
    """

    STATE = ("arrived", "expected", "cluster_phase", "cluster_joined", "_parts", "_votes", "uses_clusters")

    def __init__(self, state: State, events: Dispatcher) -> None:
        self.state = state
        self._on_barrier = events.handler(Barrier)
        self._on_complete = events.handler(PhaseComplete)
        self.splits = state.splits
        topology = state.topology
        self.arrived = np.zeros(topology.ctas * BARRIERS, np.int64)
        self.expected = np.zeros(topology.ctas * BARRIERS, np.int64)  # 0: every thread of the CTA
        self._all = topology.warps_per_cta * 32  # threads that an arrival without a thread count expects
        self.cluster_of = topology.cluster_of
        self.cluster_phase = np.zeros(topology.ctas // topology.cluster_size, np.int64)
        # For a thread that has arrived and not continued: twice the phase, plus 1 if the thread waits. Otherwise -1.
        self.cluster_joined = np.empty((topology.warps, 32), np.int64)
        self.start()

    def start(self) -> None:
        """Forget all arrivals before a new wave."""
        self.arrived.fill(0)
        self.expected.fill(0)
        # Arrived lanes of diverged warps, by barrier key and warp.
        self._parts: dict[tuple[int, int], Array] = {}
        # Mode, numbers of true and of all lanes, and the warps, lanes and destinations of each reduction.
        self._votes: dict[int, tuple[str, list[int], list[tuple[int, Array, Any]]]] = {}
        self.uses_clusters = False  # True once a thread has arrived at a cluster barrier
        self.cluster_phase.fill(0)
        self.cluster_joined.fill(-1)

    # CTA barriers -----------------------------------------------------------------------------------------

    def arrive(self, batch: Batch, number: Array, threads: Array | None, suspend: bool) -> None:
        """Arrive at CTA barrier `number` with the threads of a batch. With `suspend`, also wait there.

        `threads` is the number of expected threads; None stands for all threads of the CTA.

        Errors: Fault emulator.barrier if the number or the thread count is illegal.
        """
        keys = self._arrive(batch, number, threads)
        if self._on_barrier is not None:
            waits = np.full(batch.count, suspend)
            self._on_barrier(Barrier(self.state.pc, batch, "cta", True, keys, waits))
        self._complete(keys)
        if not suspend:
            return
        waits = self.arrived[keys] > 0
        if np.count_nonzero(waits):
            rows = batch.suspend(waits, self.state.pc + 1, Status.WAITING)
            self.splits.awaited[rows] = keys[waits] * KINDS + Event.BARRIER

    def report_complete(self, batch: Batch, keys: Array) -> None:
        """Create the events of CTA barriers that native code completes. The warps of the batch do not wait."""
        if self._on_barrier is not None:
            self._on_barrier(Barrier(self.state.pc, batch, "cta", True, keys, np.full(batch.count, True)))
        if self._on_complete is not None:
            self._on_complete(PhaseComplete(self.state.pc, "cta", np.array(sorted({*keys.tolist()}), keys.dtype)))

    def reduce(
        self, batch: Batch, number: Array, threads: Array | None, predicate: Array, mode: str, result: Any
    ) -> None:
        """Wait at a CTA barrier (see `arrive`), and reduce a predicate over its threads.

        `mode` is "popc", "and" or "or". The destination operand `result` of each thread receives the reduction.
        """
        active = batch.active()
        truth = np.broadcast_to(predicate, active.shape)
        keys = self._keys(batch, number)
        for position, key in enumerate(keys):
            _, votes, parts = self._votes.setdefault(int(key), (mode, [0, 0], []))
            lanes = active[position]
            votes[0] += int((truth[position] & lanes).sum())
            votes[1] += int(lanes.sum())
            parts.append((int(batch.warp_index[position]), lanes.copy(), result))
        self.arrive(batch, number, threads, suspend=True)

    def _keys(self, batch: Batch, number: Array) -> Array:
        first = _per_warp(batch, number)
        if np.count_nonzero((first >= BARRIERS) | (first < 0)):
            message = f"barrier {int(first.max())} does not exist; expected 0 to {BARRIERS - 1}"
            raise Fault("emulator.barrier", message, 0)
        return batch.location.cta * BARRIERS + first

    def _arrive(self, batch: Batch, number: Array, threads: Array | None) -> Array:
        keys = self._keys(batch, number)
        splits = self.splits
        # Per-warp rule of the PTX manual: a converged warp arrives with 32 threads, even if lanes are inactive.
        amounts = np.full(batch.count, 32, np.int64)
        if splits.diverged:
            masks = unpack(splits.bits[batch.rows])
            whole = splits.bits[batch.rows] == splits.live_bits[batch.warp_index]
            amounts = np.where(whole, 32, masks.sum(axis=1))
            for position in np.flatnonzero(~whole).tolist():
                warp = int(batch.warp_index[position])
                amounts[position] += self._add_part(int(keys[position]), warp, masks[position])
        if threads is None:
            self._check_agreement(keys, np.full(batch.count, self._all))
        else:
            counts = _per_warp(batch, threads)
            self._check_counts(counts)
            self._check_agreement(keys, counts)
            self.expected[keys] = counts
        np.add.at(self.arrived, keys, amounts)
        return keys

    def _add_part(self, key: int, warp: int, lanes: Array) -> int:
        """Record that some lanes of a warp arrive.

        Return 0, or after all live lanes have arrived the number of threads by which their sum falls short of 32.
        """
        came = self._parts.setdefault((key, warp), np.zeros(32, np.bool_))
        came |= lanes
        if (self.splits.live[warp] & ~came).any():
            return 0
        del self._parts[key, warp]
        return 32 - int(came.sum())

    def _check_counts(self, counts: Array) -> None:
        wrong = (counts % 32 != 0) | (counts == 0)
        if np.count_nonzero(wrong):
            found = int(counts[wrong][0])
            message = f"the thread count of a barrier is {found}; expected a multiple of 32 above 0"
            raise Fault("emulator.barrier", message, int(np.flatnonzero(wrong)[0]) * 32)

    def _check_agreement(self, keys: Array, counts: Array) -> None:
        """Refuse an arrival whose thread count differs from that of earlier arrivals in the same phase.

        Arrival i expects counts[i] threads at barrier keys[i].
        """
        expected = self.expected[keys]
        held = np.where(expected > 0, expected, self._all)
        differs = (self.arrived[keys] > 0) & (held != counts)
        if np.count_nonzero(differs):
            position = int(np.flatnonzero(differs)[0])
            number, count, earlier = int(keys[position]) % BARRIERS, int(counts[position]), int(held[position])
            message = f"an arrival at barrier {number} expects {count} threads, but an earlier one expects {earlier}"
            raise Fault("emulator.barrier", message, position * 32)

    def needed(self, keys: Array) -> Array:
        """Return the number of threads that must arrive at each CTA barrier in `keys`."""
        expected = self.expected[keys]
        return np.where(expected > 0, expected, self.state.live_warps[keys // BARRIERS] * 32)

    def _complete(self, keys: Array) -> None:
        arrived, needed = self.arrived[keys], self.needed(keys)
        over = arrived > needed
        if np.count_nonzero(over):
            key = int(keys[over].min())
            came, expected = int(self.arrived[key]), int(needed[keys == key][0])
            message = f"{came} threads arrived at barrier {key % BARRIERS}; expected {expected}"
            raise Fault("emulator.barrier", message, 0)
        done = keys[(arrived == needed) & (needed > 0)]
        self.arrived[done] = 0
        self.expected[done] = 0
        if not len(done):
            return
        # The first call of `np.unique` imports numpy.ma, which takes longer than many launches.
        done = np.array(sorted({*done.tolist()}), done.dtype)
        if self._on_complete is not None:
            self._on_complete(PhaseComplete(self.state.pc, "cta", done))
        self.splits.resume(self.splits.waiting_for(Event.BARRIER, done))
        if not self.permits_native:
            for key in done.tolist():
                self._parts = {part: lanes for part, lanes in self._parts.items() if part[0] != key}
                if key in self._votes:
                    self._publish(*self._votes.pop(key))

    @property
    def permits_native(self) -> bool:
        """True if native code may complete CTA barriers.

        No barrier has a pending reduction, and no warp has arrived with only some of its lanes.
        """
        return not (self._votes or self._parts)

    def _publish(self, mode: str, votes: list[int], parts: list[tuple[int, Array, Any]]) -> None:
        true, all_lanes = votes
        value: Array = np.array([[true == all_lanes if mode == "and" else true > 0]])
        if mode == "popc":
            value = np.array([[true]], np.uint32)
        for warp, lanes, result in parts:
            batch = Batch(self.state, np.zeros(0, np.intp), np.array([warp], np.intp), lanes[None])
            batch.write(result, value)

    # Cluster barrier --------------------------------------------------------------------------------------

    def cluster_arrive(self, batch: Batch) -> None:
        """Arrive at the cluster barrier with the active lanes.

        Errors: Fault emulator.cluster-barrier if a thread arrives twice without a wait.
        """
        self.uses_clusters = True
        clusters = self.cluster_of[batch.warp_index]
        active = batch.active()
        message = "a thread arrives at the cluster barrier again before it has waited for its last arrival"
        refuse("emulator.cluster-barrier", active & (self.cluster_joined[batch.warp_index] >= 0), message)
        phases = np.broadcast_to(2 * self.cluster_phase[clusters][:, None], active.shape)
        warps, lanes = np.nonzero(active)
        self.cluster_joined[batch.warp_index[warps], lanes] = phases[active]
        if self._on_barrier is not None:
            waits = np.zeros(batch.count, np.bool_)
            self._on_barrier(Barrier(self.state.pc, batch, "cluster", True, clusters, waits))
        self._complete_clusters(np.unique(clusters))

    def cluster_wait(self, batch: Batch) -> None:
        """Wait at the cluster barrier with the active lanes.

        Errors: Fault emulator.cluster-barrier if a thread has not arrived.
        """
        clusters = self.cluster_of[batch.warp_index]
        active = batch.active()
        joined = self.cluster_joined[batch.warp_index]
        message = "a thread waits at the cluster barrier without having arrived"
        refuse("emulator.cluster-barrier", active & (joined < 0), message)
        waits = (active & (joined == 2 * self.cluster_phase[clusters][:, None])).any(axis=1)
        if self._on_barrier is not None:
            self._on_barrier(Barrier(self.state.pc, batch, "cluster", False, clusters, waits))
        self.cluster_joined[batch.warp_index] = np.where(active, np.where(waits[:, None], joined | 1, -1), joined)
        if waits.any():
            rows = batch.suspend(waits, self.state.pc + 1, Status.WAITING)
            self.splits.awaited[rows] = clusters[waits] * KINDS + Event.CLUSTER

    def _missing(self) -> tuple[Array, Array]:
        clusters, of_warp = len(self.cluster_phase), self.cluster_of
        live = self.splits.live
        lacking = live & (self.cluster_joined >> 1 != self.cluster_phase[of_warp][:, None])
        missing, present = (np.bincount(of_warp, each.sum(axis=1), clusters) for each in (lacking, live))
        return missing.astype(np.int64), present.astype(np.int64)

    def _complete_clusters(self, clusters: Array) -> None:
        missing, live = self._missing()
        done = clusters[(missing[clusters] == 0) & (live[clusters] > 0)]
        if not len(done):
            return
        self.cluster_phase[done] += 1
        is_done = np.zeros(len(self.cluster_phase), np.bool_)
        is_done[done] = True
        self.cluster_joined[is_done[self.cluster_of][:, None] & (self.cluster_joined % 2 == 1)] = -1
        if self._on_complete is not None:
            for cluster in done.tolist():
                self._on_complete(PhaseComplete(self.state.pc, "cluster", np.array([cluster])))
        self.splits.resume(self.splits.waiting_for(Event.CLUSTER, done))

    def snapshot(self) -> object:
        """Return a value that is equal for two states with the same arrivals at incomplete barriers."""
        phases = self.cluster_phase[self.cluster_of][:, None]
        joined = np.where(self.cluster_joined < 0, -1, 2 * phases - self.cluster_joined)
        parts = {part: lanes.tobytes() for part, lanes in self._parts.items()}
        votes = {key: tuple(votes) for key, (_, votes, _) in self._votes.items()}
        return self.arrived.tobytes(), self.expected.tobytes(), joined.tobytes(), parts, votes

    # Exits ------------------------------------------------------------------------------------------------

    @property
    def depends_on_exits(self) -> bool:
        """True if the interpreter must execute exits.

        Native code cannot complete the arrival of a warp of which some lanes have arrived and the others exit. It also
        cannot create the event of a cluster barrier that an exit completes.
        """
        return bool(self._parts) or (self._on_complete is not None and self.uses_clusters)

    def on_exit(self) -> None:
        """Complete the barriers that waited only for threads that have left the kernel."""
        for key, warp in list(self._parts):
            if self.splits.live[warp].any():
                self.arrived[key] += self._add_part(key, warp, np.zeros(32, np.bool_))
        keys = np.flatnonzero(self.arrived)
        if len(keys):
            self._complete(keys)
        if self.uses_clusters:
            self._complete_clusters(np.arange(len(self.cluster_phase)))

    def awaited(self, slot: int) -> Awaited | None:
        """Return the barrier at which the warp split with index `slot` waits, or None."""
        index, kind = divmod(int(self.splits.awaited[slot]), KINDS)
        if index < 0 or kind == Event.MBARRIER:
            return None
        if kind == Event.BARRIER:
            number, arrived = index % BARRIERS, int(self.arrived[index])
            needed = int(self.needed(np.array([index]))[0])
            state = (("number", number), ("arrived", arrived), ("needed", needed))
            rest = f", where {arrived} of {needed} threads have arrived"
            return Awaited("barrier", f"barrier {number}", rest, state)
        missing, live = (int(each[index]) for each in self._missing())
        state = (("arrived", live - missing), ("needed", live))
        rest = f", where {live - missing} of {live} threads have arrived"
        return Awaited("cluster barrier", "the cluster barrier", rest, state)


def _per_warp(batch: Batch, value: Array) -> Array:
    wide = np.broadcast_to(value, (batch.count, 32))
    if batch.mask is None:
        return wide[:, 0].astype(np.int64)
    first = batch.active().argmax(axis=1)
    return wide[np.arange(batch.count), first].astype(np.int64)
