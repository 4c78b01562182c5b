# pyright: reportUnknownMemberType=false
"""Phase aliasing: waits that may mistake a phase of an mbarrier for another with the same parity.

Phases count from 0. A warp that waits by parity, and knows that k phases of an mbarrier are complete, expects the end
of phase k if the parity of its wait is that of k. Otherwise it expects the end of phase k - 1. The wait is correct if
the phase after the expected one cannot end before the warp tests the mbarrier.

The vector clocks of this module represent which warp follows which in time. Unlike those of `clocks`, they do not
represent which accesses are visible. Each warp and each CTA barrier has one clock. Each mbarrier has two: arrivals
release to the first, and waits acquire the second.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.grid import Topology
from warploom.numerics._compile import njit
from warploom.observe.sanitize.clock_arrays import GROUPS
from warploom.observe.sanitize.clocks import BARRIERS

Array = NDArray[Any]
_COLUMNS = 5  # of an ambiguous test: position or column of the warp, lane or pc, mbarrier, phase, complete phases
_ROOM = 64  # ambiguous tests of one event that are kept
_NEVER = -9  # in place of a phase: the warp has not tested the mbarrier


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Wait at `pc` that may mistake a phase for the phase that it expects.

    `site` is the instruction that completes the other phase, -1 if unknown. `object` is the number of the mbarrier.
    "{site}" in `text` stands for the line of `site`. `is_excess` is set if the other phase is complete without an
    arrival of the waiting thread, which takes part in that phase.
    """

    pc: int
    site: int
    object: int
    text: str
    warp: int
    lane: int = -1
    is_excess: bool = False


class MbarrierState(NamedTuple):
    """State of every mbarrier, for compiled functions.

    `complete` is the number of complete phases, and `start` its value at the initialisation. `site` is the program
    counter of the last arrival. `seen_phase`, `seen_tick` and `seen_site` describe the last test by each warp: the
    expected phase, the warp's time, and the program counter. `arrived` is the time of each warp's last arrival, and
    `counted` the time of its last arrival in a complete phase. `counts_bytes` is 1 if the mbarrier counts bytes of
    copies. `joined` is the phase of each thread's last arrival, unless the thread dropped out with it. Shapes:
    complete, start, site and counts_bytes (mbarriers,); joined (mbarriers, threads of a CTA); the others (mbarriers,
    warps of a cluster).
    """

    complete: Array
    start: Array
    site: Array
    seen_phase: Array
    seen_tick: Array
    seen_site: Array
    arrived: Array
    counted: Array
    counts_bytes: Array
    joined: Array


_UNUSED = (0, 0, -1, _NEVER, 0, -1, 0, 0, 0, _NEVER)  # state of an mbarrier that is not initialised


class PhaseAliasing:
    """Check for waits that may mistake a phase of an mbarrier for another phase.

    The class `Mbarriers` assigns the numbers of mbarriers, `found` and `objects`; -1 is no mbarrier. The key of a CTA
    barrier is `cta * BARRIERS + barrier`.
    """

    def __init__(self, topology: Topology, mbarriers: int) -> None:
        self.topology = topology
        per_cta, size = topology.warps_per_cta, topology.cluster_size
        self._place = topology.rank[topology.cta_of] * per_cta + topology.warp_in_cta
        # Time of each warp; each release advances it.
        self._tick = np.ones(topology.warps, np.int32)
        self._fenced = topology.warps + topology.ctas * BARRIERS  # row of the first warp's last tensor memory fence
        self._first = self._fenced + topology.warps  # row of the first mbarrier
        self._room = 0
        self._happened = np.zeros((self._first, size * per_cta), np.int32)
        none, tests = np.zeros(0, np.int64), np.zeros((0, size * per_cta), np.int32)
        sites, phases = none.astype(np.int32), tests.astype(np.int64)
        threads = np.zeros((0, 32 * per_cta), np.int32)
        self._state = MbarrierState(none, none, sites, phases, tests, tests, tests, tests, none, threads)
        self._ends = np.zeros((topology.warps, GROUPS), np.int32)  # ticks at the commits of multiplication groups
        self._out = np.zeros((_ROOM, _COLUMNS), np.int64)
        self.grow(mbarriers)

    def grow(self, mbarriers: int) -> None:
        """Make room for `mbarriers` mbarriers in each CTA."""
        topology, before = self.topology, self._room
        per_cta, ctas, size = (topology.warps_per_cta, topology.ctas, topology.cluster_size)
        old, wide = per_cta + before, per_cta + mbarriers
        objects = np.arange(ctas * before)
        moved = objects // max(before, 1) * mbarriers + objects % max(before, 1)
        rows = np.concatenate([np.arange(self._first), *(self._first + k * ctas * mbarriers + moved for k in (0, 1))])
        columns = np.arange(size * old)
        V = np.zeros((self._first + 2 * ctas * mbarriers, size * wide), np.int32)
        V[rows[:, None], columns // old * wide + columns % old] = self._happened
        self._happened = V

        state: list[Array] = []
        for held, fill in zip(self._state, _UNUSED, strict=True):
            state.append(np.full((ctas * mbarriers, *held.shape[1:]), fill, held.dtype))
            state[-1][moved] = held
        self._state = MbarrierState(*state)
        self._room = mbarriers
        every = np.arange(ctas * mbarriers)
        self._agents = wide
        self._column = topology.rank[every // mbarriers] * wide + per_cta + every % mbarriers
        self._own = topology.rank[topology.cta_of] * wide + topology.warp_in_cta

    def renew(self, found: int) -> None:
        """Record that mbarrier `found` is initialised: its phases count from 0 again."""
        self._state.start[found] = self._state.complete[found]
        self._state.seen_phase[found] = self._state.joined[found] = _NEVER
        self._state.arrived[found] = self._state.counted[found] = self._state.counts_bytes[found] = 0
        self._happened[[self._first + found, self._first + len(self._column) + found]] = 0

    # Order of warps ------------------------------------------------------------------------------------

    def join_barriers(self, warps: Array, keys: Array) -> None:
        """Record that warps[i] arrives at the CTA barrier with key keys[i]."""
        _join_barriers(self._happened, self._tick, self._own, warps, keys)

    def leave_barriers(self, warps: Array, waited: Array, keys: Array) -> None:
        """Complete the CTA barriers with the given keys.

        warps[i] has waited for the barrier with key waited[i]. Shapes: warps and waited (warps,).
        """
        _leave_barriers(self._happened, self.topology.warps, warps, waited, keys)

    def pass_cluster(self, cluster: int) -> None:
        """Synchronise the warps of a cluster at its barrier."""
        topology = self.topology
        warps = np.flatnonzero(topology.cluster_of == cluster)
        met = self._happened[warps].max(axis=0)
        met[self._own[warps]] = self._tick[warps]
        self._tick[warps] += 1
        self._happened[warps] = met

    def acquire_all(self, warps: Array) -> None:
        """Record that each warp may have received a message from every warp of its cluster."""
        topology = self.topology
        clusters = topology.cluster_of
        width = topology.cluster_size * self._room
        # The warps have loaded from a location where others may have stored a message.
        for cluster in np.unique(clusters[warps]).tolist():
            of = np.flatnonzero(clusters == cluster)
            here = warps[clusters[warps] == cluster, None]
            objects = slice(cluster * width, (cluster + 1) * width)
            self._happened[here, self._own[of]] = self._tick[of]
            self._happened[here, self._column[objects]] = self._state.complete[objects]
            self._tick[of] += 1

    def commit_multiplications(self, groups: Array, number: Array) -> None:
        """Record that warpgroup i commits the wgmma commit group number[i], counted from 0.

        groups[i] contains the four warps of warpgroup i. Shapes: groups (warpgroups, 4); number (warpgroups,).
        """
        _commit_multiplications(self._tick, self._ends, groups, number)

    def complete_multiplications(self, groups: Array, number: Array) -> None:
        """Record that the first number[i] wgmma commit groups of warpgroup i are complete.

        groups[i] contains the four warps of warpgroup i. Shapes: groups (warpgroups, 4); number (warpgroups,).
        """
        _complete_multiplications(self._happened, self._own, self._ends, groups, number)

    # mbarriers --------------------------------------------------------------------------------------------

    def arrive(self, warps: Array, found: Array, lanes: Array, pc: int, copies: bool) -> None:
        """Record operations of lanes that arrive at mbarriers, or that expect or complete bytes there.

        found[i, l] is the mbarrier number for lane l of warps[i]. If `copies`, the operations are copies whose bytes
        the mbarriers count. Shapes: found and lanes (warps, 32).
        """
        _arrive(
            self._happened, self._tick, self._own, self._place, self._first, self._state, warps, found, lanes, pc,
            copies,
        )  # fmt: skip

    def join(self, warps: Array, found: Array, lanes: Array, drops: bool) -> None:
        """Record arrivals of lanes at mbarriers of their own CTA.

        With `drops`, the lanes take no part in later phases. found[i, l] is the mbarrier number for lane l of warps[i].
        Shapes: found and lanes (warps, 32).
        """
        topology = self.topology
        _join_phase(self._state, self._room, topology.cta_of, topology.warp_in_cta, warps, found, lanes, drops)

    def test(self, warps: Array, found: Array, lanes: Array, parity: Array, pc: int) -> list[Ambiguity]:
        """Record tests of mbarriers by parity. Return the tests that mistake a phase for the expected one.

        found[i, l] is the mbarrier number for lane l of warps[i]. Shapes: found, lanes and parity (warps, 32).
        """
        wrong = _look(
            self._happened, self._tick, self._place, self._column, self._state, warps, found, lanes, parity, pc,
            self._out,
        )  # fmt: skip
        return [
            self._ambiguity(int(warps[position]), lane, which, phase, complete, pc)
            for position, lane, which, phase, complete in self._out[: min(wrong, len(self._out))].tolist()
        ]

    def test_tokens(self, warps: Array, found: Array, lanes: Array, parity: Array, pc: int) -> list[Ambiguity]:
        """Return the tests by state token that mistake a phase for that of the lane's last arrival.

        `parity` is that of the tokens. The other arguments are as in `test`.
        """
        positions, at = np.nonzero(lanes & (found >= 0))
        reached, by = found[positions, at], warps[positions]
        phase = self._state.joined[reached, self._thread(by, at)]
        complete = self._state.complete[reached] - self._state.start[reached]
        wrong = (phase >= 0) & (complete > phase + 1) & (phase & 1 == parity[positions, at].astype(np.int64) & 1)
        rows = np.stack([by, at, reached, phase, complete], axis=1)[wrong].tolist()
        return [self._ambiguity(warp, lane, which, ended, complete, pc) for warp, lane, which, ended, complete in rows]

    def _ambiguity(self, warp: int, lane: int, which: int, phase: int, complete: int, pc: int) -> Ambiguity:
        if phase >= 0 and self._state.joined[which, self._thread(warp, lane)] == phase:
            text = (
                f"receives more arrivals than phase {phase + 1} expects: this phase is complete, but a thread that "
                f"arrived in phase {phase} and did not drop out still waits for phase {phase}"
            )
            return Ambiguity(pc, int(self._state.site[which]), which, text, warp, lane, is_excess=True)
        means = f"phase {phase}" if phase >= 0 else "the phase before the first"
        text = (
            f"is tested with the parity of {means}, and {complete} phases are complete: the test applies to "
            f"phase {complete - 1 if (complete - phase) % 2 else complete}"
        )
        return Ambiguity(pc, -1, which, text, warp, lane)

    def _thread(self, warps: Any, lanes: Any) -> Any:
        return 32 * self.topology.warp_in_cta[warps] + lanes

    def know(self, warps: Array, found: Array, lanes: Array) -> None:
        """Record that lanes have waited for a phase of the mbarriers `found`.

        Shapes: found and lanes (warps, 32).
        """
        first = self._first + len(self._column)
        _know(self._happened, first, self._column, self._state.complete, warps, found, lanes)

    # Tensor memory ----------------------------------------------------------------------------------------

    def fence(self, warps: Array) -> None:
        """Record that later operations of warps on tensor memory follow everything that the warps follow now."""
        self._happened[self._fenced + warps] = self._happened[warps]

    def time(self, warp: int) -> int:
        """Return the time of a warp."""
        return int(self._tick[warp])

    def follows(self, warp: int, other: int, time: int, *, fenced: bool) -> bool:
        """Return True if `warp` follows the step of warp `other` at `time`.

        With `fenced`, only what precedes the last fence of `warp` counts.
        """
        return bool(self._happened[warp + self._fenced * fenced, self._own[other]] >= time)

    def phases(self, warp: int, found: int, *, fenced: bool) -> int:
        """Return the number of phases of mbarrier `found` that `warp` knows to be complete, as `follows` does."""
        return int(self._happened[warp + self._fenced * fenced, self._column[found]])

    def next_phase(self, found: int) -> int:
        """Return the number of phases of mbarrier `found` after the completion of the current phase."""
        return int(self._state.complete[found]) + 1

    def order(self) -> tuple[Array, Array]:
        """Return the clocks, row w for warp w, and the column that counts the phases of each mbarrier."""
        return self._happened, self._column

    def known(self, warps: Array, found: Array) -> Array:
        """Return the number of phases of mbarrier found[i] that warps[i] knows to be complete."""
        return self._happened[warps, self._column[found]]

    def knows_arrivals(self, warp: int, found: int) -> bool:
        """Return True if all arrivals of complete phases of mbarrier `found` precede a warp's next step.

        The phases are then complete, unless they also count bytes.
        """
        place = np.arange(len(self._state.counted[found]))
        per_cta = self.topology.warps_per_cta
        happened = self._happened[warp, place // per_cta * self._agents + place % per_cta]
        unknown = np.flatnonzero(happened < self._state.counted[found])
        return not self._state.counts_bytes[found] and set(unknown.tolist()) <= {int(self._place[warp])}

    def complete(self, objects: Array) -> list[Ambiguity]:
        """Complete the open phases of mbarriers. Return the waits that may miss the phase that they expect.

        `objects` lists an mbarrier once for each phase to complete.
        """
        topology = self.topology
        wrong = _complete(
            self._happened, self._first, self._column, self._state, objects, topology.warps_per_cta, self._agents,
            self._out,
        )  # fmt: skip
        ambiguities: list[Ambiguity] = []
        for column, pc, which, phase, _ in self._out[: min(wrong, len(self._out))].tolist():
            rank, in_cta = divmod(column, topology.warps_per_cta)
            cta = which // self._room
            warp = in_cta * topology.ctas + cta - int(topology.rank[cta]) + rank
            means = f"phase {phase}" if phase >= 0 else "the phase before the first"
            text = (
                f"is tested with the parity of {means}, and nothing orders the arrivals that complete phase "
                f"{phase + 1}{{site}} after this test: the parity may change twice before the test"
            )
            ambiguities.append(Ambiguity(pc, int(self._state.site[which]), which, text, warp))
        return ambiguities


@njit
def _join(V: Array, target: int, source: int) -> None:
    for column in range(V.shape[1]):
        V[target, column] = max(V[target, column], V[source, column])


@njit
def _join_barriers(V: Array, tick: Array, own: Array, warps: Array, keys: Array) -> None:
    for i in range(len(warps)):
        w, row = warps[i], len(tick) + keys[i]
        _join(V, row, w)
        V[row, own[w]] = tick[w]
    for w in warps:
        tick[w] += 1


@njit
def _leave_barriers(V: Array, first: int, warps: Array, waited: Array, keys: Array) -> None:
    for i in range(len(warps)):
        _join(V, warps[i], first + waited[i])
    for key in keys:
        V[first + key] = 0


@njit
def _commit_multiplications(tick: Array, ends: Array, groups: Array, number: Array) -> None:
    for i in range(len(groups)):
        for w in groups[i]:
            ends[w, number[i] % GROUPS] = tick[w]
            tick[w] += 1


@njit
def _complete_multiplications(V: Array, own: Array, ends: Array, groups: Array, number: Array) -> None:
    for i in range(len(groups)):
        if number[i] > 0:
            for w in groups[i]:
                for other in groups[i]:
                    column = own[other]
                    V[w, column] = max(V[w, column], ends[other, (number[i] - 1) % GROUPS])


@njit
def _arrive(
    V: Array, tick: Array, own: Array, place: Array, first: int, s: MbarrierState, warps: Array, found: Array,
    lanes: Array, pc: int, copies: bool,
) -> None:  # fmt: skip
    """Record arrivals of lanes. See `PhaseAliasing.arrive`."""
    for i in range(len(warps)):
        w, last = warps[i], np.int64(-1)
        for lane in range(lanes.shape[1]):
            which = found[i, lane]
            if lanes[i, lane] and which >= 0 and which != last:
                last = which
                s.arrived[which, place[w]] = tick[w]
                s.site[which] = pc
                if copies:
                    s.counts_bytes[which] = 1
                _join(V, first + which, w)
                V[first + which, own[w]] = tick[w]
    for i in range(len(warps)):
        tick[warps[i]] += 1


@njit
def _join_phase(
    s: MbarrierState, mbarriers: int, cta_of: Array, warp_in_cta: Array, warps: Array, found: Array, lanes: Array,
    drops: bool,
) -> None:  # fmt: skip
    """Record the phases in which lanes arrive. See `PhaseAliasing.join`.

    `mbarriers` is the number of mbarriers in a CTA.
    """
    for i in range(len(warps)):
        w = warps[i]
        for lane in range(32):
            which = found[i, lane]
            if lanes[i, lane] and which >= 0 and which // mbarriers == cta_of[w]:
                phase = _NEVER if drops else s.complete[which] - s.start[which]
                s.joined[which, 32 * warp_in_cta[w] + lane] = phase


@njit
def _look(
    V: Array, tick: Array, place: Array, column: Array, s: MbarrierState, warps: Array, found: Array, lanes: Array,
    asked: Array, pc: int, out: Array,
) -> int:  # fmt: skip
    """Record tests of mbarriers by parity. Return the number of tests that mistake a phase for another.

    Lane l of warps[i] tests mbarrier found[i, l] for the parity asked[i, l] if lanes[i, l]. The other arrays are those
    of `PhaseAliasing`. The first wrong tests are stored in `out`.
    """
    found_wrong = 0
    for i in range(len(warps)):
        w, last = warps[i], np.int64(-1)
        for lane in range(32):
            which = found[i, lane]
            if not lanes[i, lane] or which < 0 or which == last:
                continue
            last = which
            complete = s.complete[which] - s.start[which]
            known = max(V[w, column[which]] - s.start[which], 0)
            parity = np.int64(asked[i, lane]) & 1
            phase = known if (known & 1) == parity else known - 1
            if complete > phase + 1:
                if found_wrong < len(out):
                    out[found_wrong, 0] = i
                    out[found_wrong, 1] = lane
                    out[found_wrong, 2] = which
                    out[found_wrong, 3] = phase
                    out[found_wrong, 4] = complete
                found_wrong += 1
            if (complete & 1) != parity:
                s.seen_phase[which, place[w]] = complete - 1
                s.seen_tick[which, place[w]] = tick[w]
                s.seen_site[which, place[w]] = pc
    return found_wrong


@njit
def _know(V: Array, first: int, column: Array, count: Array, warps: Array, found: Array, lanes: Array) -> None:
    for i in range(len(warps)):
        w, last = warps[i], np.int64(-1)
        for lane in range(32):
            which = found[i, lane]
            if lanes[i, lane] and which >= 0 and which != last:
                last = which
                _join(V, w, first + which)
                V[w, column[which]] = max(V[w, column[which]], count[which])


@njit
def _complete(
    V: Array, arriving: int, column: Array, s: MbarrierState, objects: Array, per_cta: int, agents: int, out: Array
) -> int:  # fmt: skip
    """Complete the open phases of mbarriers. Return the number of tests that may miss their phase.

    The first of these tests are stored in `out`. `arriving` is the row of `V` of the first mbarrier. `per_cta` is the
    number of warps in a CTA, and `agents` the number of warps and mbarriers.
    """
    found, arrived = 0, arriving + len(column)
    for k in range(len(objects)):
        which = objects[k]
        phase = s.complete[which] - s.start[which]
        for c in range(s.seen_phase.shape[1]):
            s.counted[which, c] = s.arrived[which, c]
            at = c // per_cta * agents + c % per_cta
            # Nothing orders this test before the completion.
            if s.seen_phase[which, c] == phase - 1 and V[arriving + which, at] < s.seen_tick[which, c]:
                if found < len(out):
                    out[found, 0] = c
                    out[found, 1] = s.seen_site[which, c]
                    out[found, 2] = which
                    out[found, 3] = phase - 1
                    out[found, 4] = phase
                found += 1
        s.complete[which] += 1
        _join(V, arrived + which, arriving + which)
        V[arrived + which, column[which]] = s.complete[which]
    return found
