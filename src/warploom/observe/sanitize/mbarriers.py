# pyright: reportUnknownMemberType=false
"""Locations and phases of mbarriers, and findings on wrong uses of mbarriers."""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics.edits import Fix
from warploom.emulator.access import uniform
from warploom.emulator.batch import Batch
from warploom.emulator.events import Arrive
from warploom.numerics._compile import njit
from warploom.observe.sanitize.clock_arrays import KNOWN, WIDE, join
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.mbarrier_fixes import Initialisation, MbarrierFixes
from warploom.observe.sanitize.phase_aliasing import Ambiguity, PhaseAliasing
from warploom.observe.sanitize.shared_shadow import SharedShadow

Array = NDArray[Any]
FIRST = 32  # slots for mbarriers of a CTA at the start
_HIGHEST = 0xFFFFF
_OVERWRITTEN = "is overwritten while it is valid"
_NO_ORDER, _NO_COLUMNS = np.zeros((0, 0), np.int32), np.zeros(0, np.int64)


class Mbarriers:
    """Table of the mbarriers of the resident CTAs.

    Mbarrier k of a CTA has the number `cta * clocks.mbarriers + k`; -1 stands for none. A word is a byte offset in
    shared memory / 8. `waits` is set if the kernel waits for phases.
    """

    def __init__(self, context: Context, shadow: SharedShadow, waits: bool) -> None:
        self.context = context
        self.topology = context.topology
        self.shared = context.shared
        self.clocks = clocks = context.clocks
        self.shadow = shadow
        self.report = context.report
        self.at = np.full(len(self.shared.words), -1, np.int64)
        self._words: Array | None = None  # words of valid objects in order, None after a change
        self.used = np.zeros(self.topology.ctas, np.int64)
        room = self.topology.ctas * clocks.mbarriers
        self.phase: Array = np.zeros(room, np.int64)  # complete phases of each object
        self.site: Array = np.full(room, -1, np.int64)  # instruction that last expected bytes
        self.copy_site: Array = np.full(room, -1, np.int64)  # instruction of the last copy whose bytes are counted
        self.arrival_site: Array = np.full(room, -1, np.int64)  # instruction of the last arrival without bytes
        self._free: dict[int, list[int]] = {}
        self.aliasing = PhaseAliasing(self.topology, clocks.mbarriers) if waits else None
        self.fixes = MbarrierFixes(context.launch)

    # Initialisation ----------------------------------------------------------------------------------

    def initialise(self, words: Array, counts: Array, pc: int, warps: Array, lanes: Array) -> None:
        """Add the mbarriers at `words` (byte offset / 8), which expect `counts` arrivals.

        Lane lanes[i] of warps[i] initialises words[i] with counts[i].
        """
        now: set[tuple[int, int, int]] = set()
        for word, count, warp, lane in zip(*(each.tolist() for each in (words, counts, warps, lanes)), strict=True):
            if (word, count, warp) in now:
                text, fixes = "is initialised by several lanes of a warp", self.fixes.single_initialisation
                self.report_at("sanitize.mbarrier/lanes", pc, word, text, warp, lane, fixes=partial(fixes, word, pc))
                continue
            now.add((word, count, warp))
            if int(self.at[word]) >= 0:
                text, fixes = "is initialised while it is valid", partial(self.fixes.single_initialisation, word, pc)
                self.report_at("sanitize.mbarrier/reinitialised", pc, word, text, warp, lane, fixes=fixes)
                continue
            thread = int(self.topology.warp_in_cta[warp]) * 32 + lane
            self.fixes.initialised[word] = Initialisation(pc, count, thread)
            self._words = None
            self.at[word] = self._take(word * 8 // self.shared.stride)

    def _take(self, cta: int) -> int:
        free = self._free.get(cta)
        if free:
            found = free.pop()
        else:
            if self.used[cta] == self.clocks.mbarriers:
                self._grow()
            found = cta * self.clocks.mbarriers + int(self.used[cta])
            self.used[cta] += 1
        objects = np.array([found])
        for rows in self._rows(objects):
            self.clocks.clear(rows)
        if self.aliasing is not None:
            self.aliasing.renew(found)
        return found

    def _rows(self, objects: Array) -> list[Array]:
        clocks = self.clocks
        sorts = (False,) if clocks.kinds == 2 else (False, True)
        return [rows(objects, local) for local in sorts for rows in (clocks.arriving, clocks.arrived)]

    def _grow(self) -> None:
        before = self.clocks.mbarriers
        self.shadow.renumber(*self.clocks.grow(2 * before))
        if self.aliasing is not None:
            self.aliasing.grow(2 * before)

        def moved(objects: Any) -> Any:
            return objects // before * 2 * before + objects % before

        self.at = np.where(self.at < 0, -1, moved(self.at))
        self._free = {cta: [moved(found) for found in free] for cta, free in self._free.items()}
        tables = (self.phase, self.site, self.copy_site, self.arrival_site)
        wide = [np.full((self.topology.ctas, 2 * before), fill, np.int64) for fill in (0, -1, -1, -1)]
        for new, table in zip(wide, tables, strict=True):
            new[:, :before] = table.reshape(-1, before)
        self.phase, self.site, self.copy_site, self.arrival_site = (array.reshape(-1) for array in wide)

    def invalidate(self, words: Array, pc: int, warps: Array, lanes: Array) -> None:
        """Remove the mbarriers at `words` (byte offset / 8). Lane lanes[i] of warps[i] invalidates words[i]."""
        memory = self.shared.words
        for word, warp, lane in zip(words.tolist(), warps.tolist(), lanes.tolist(), strict=True):
            found = int(self.at[word])
            if found < 0:
                continue
            state = int(memory[word])
            if state & _HIGHEST != state >> 20 & _HIGHEST or state >> 40 & 0x1FFFFF:
                text = (
                    f"is invalidated in a phase that lacks {state >> 20 & _HIGHEST} of {state & _HIGHEST} arrivals and "
                    f"{_signed(state >> 40 & 0x1FFFFF)} bytes"
                )
                fixes = partial(self._bytes, word) if state >> 40 & 0x1FFFFF else tuple
                self.report_at("sanitize.mbarrier/invalidated", pc, word, text, warp, lane, fixes=fixes)
            self._words = None
            self.at[word] = -1
            self._free.setdefault(found // self.clocks.mbarriers, []).append(found)

    # Phases -----------------------------------------------------------------------------------------------

    def of(self, index: Array) -> Array:
        """Return the numbers of the mbarriers at byte offsets of shared memory, -1 for none."""
        return self.at[index >> 3]

    def complete(self, words: Array) -> None:
        """Complete the open phases of the mbarriers at `words` (byte offset / 8)."""
        objects = self.at[words]
        if objects.min() < 0:
            objects = objects[objects >= 0]
        if self.aliasing is not None:
            self._report_ambiguities(self.aliasing.complete(objects))
        clocks = self.clocks
        _complete_phases(
            clocks.vectors, self.phase, objects, clocks.phase_column(objects), clocks.first_mbarrier, clocks.kinds
        )

    # Waits for the right phase ------------------------------------------------------------------------------

    def test(self, warps: Array, found: Array, lanes: Array, parity: Array, by_parity: bool, pc: int) -> None:
        """Report tests that may mistake a phase for another.

        If `by_parity` is set, `parity` has the phase parities that the lanes pass to the test. Otherwise it has the
        phase parities of their state tokens. found[i, l] is the mbarrier number for lane l of warps[i]. Shapes: found,
        lanes and parity (warps, 32).
        """
        if self.aliasing is not None:
            test = self.aliasing.test if by_parity else self.aliasing.test_tokens
            self._report_ambiguities(test(warps, found, lanes, parity, pc))

    def join(self, warps: Array, found: Array, lanes: Array, drops: bool) -> None:
        """Record arrivals of lanes at mbarriers. With `drops`, the lanes take no part in later phases.

        found[i, l] is the mbarrier number for lane l of warps[i]. Shapes: found and lanes (warps, 32).
        """
        if self.aliasing is not None:
            self.aliasing.join(warps, found, lanes, drops)

    def arrive(self, warps: Array, found: Array, lanes: Array, pc: int) -> None:
        """Record operations of lanes that arrive at mbarriers, or that expect or complete bytes there.

        found[i, l] is the mbarrier number for lane l of warps[i]. Shapes: found and lanes (warps, 32).
        """
        if self.aliasing is not None:
            self.aliasing.arrive(warps, found, lanes, pc, copies=False)

    def expect(self, warps: Array, found: Array, pc: int) -> None:
        """Record copies whose bytes mbarriers count.

        A lane of warps[i] issues copy i, and the mbarrier numbered found[i] counts its bytes. Shapes: (copies,).
        """
        self.copy_site[found] = pc
        if self.aliasing is not None:
            lanes = np.ones((len(found), 1), np.bool_)
            self.aliasing.arrive(warps, found[:, None], lanes, pc, copies=True)

    def commit(self, warp: int, found: Array, pc: int) -> None:
        """Record that a warp commits operations on tensor memory to the mbarriers `found`."""
        self.arrival_site[found] = pc
        if self.aliasing is not None:
            warps = np.full(len(found), warp)
            self.aliasing.arrive(warps, found[:, None], np.ones((len(found), 1), np.bool_), pc, copies=True)

    def _report_ambiguities(self, found: list[Ambiguity]) -> None:
        for each in found:
            word = int(np.flatnonzero(self.at == each.object)[0])
            if each.is_excess:
                text = f"{each.text} in {self.context.program.place_of(each.pc)}"
                self.report_at("sanitize.mbarrier/arrivals", each.site, word, text, each.warp, each.lane)
                continue
            line = f" ({self.context.program.place_of(each.site)})" if each.site >= 0 else ""
            text = each.text.replace("{site}", line)
            fixes = partial(self.fixes.parity, each.pc)
            self.report_at("sanitize.mbarrier/parity", each.pc, word, text, each.warp, each.lane, each.site, fixes)

    # Checks -------------------------------------------------------------------------------------------------

    def check_use(self, batch: Batch, index: Array, lanes: Array, pc: int, what: str) -> None:
        """Report operations of `lanes` on byte offsets without a valid mbarrier.

        `what` names the operations in the message.
        """
        missing = lanes & (self.of(index) < 0)
        if np.count_nonzero(missing):
            position, lane = (int(part[0]) for part in np.nonzero(missing))
            word = int(index[position, lane]) >> 3
            warp, text = int(batch.warp_index[position]), f"is not initialised: {what}"
            fixes = partial(self._missing_initialisation, word)
            self.report_at("sanitize.mbarrier/uninitialised", pc, word, text, warp, lane, fixes=fixes)

    def _missing_initialisation(self, word: int) -> tuple[Fix, ...]:
        stride = self.shared.stride // 8
        first = word // stride * stride
        valid = np.flatnonzero(self.at[first : first + stride] >= 0) + first
        return self.fixes.missing_initialisation(word, set(valid.tolist()))

    def allows(self, event: Arrive) -> bool:
        """Return True if `check_use` and `check_counts` surely report nothing about an event."""
        happened, columns = (_NO_ORDER, _NO_COLUMNS) if self.aliasing is None else self.aliasing.order()
        clocks = self.clocks
        return _are_allowed(
            clocks.vectors, self.topology.warps, self.shared.words, self.at, self.phase, clocks.phase_columns, happened,
            columns, event.batch.location.warp, event.index, uniform(event.lanes), event.amounts, event.transactions,
            event.action.startswith("arrive"), event.action == "complete_tx",
        )  # fmt: skip

    def check_counts(self, event: Arrive) -> None:
        """Report excess arrivals, arrivals that may count in a wrong phase, and illegal byte counts."""
        batch, index, lanes, pc = event.batch, event.index, event.lanes, event.pc
        known = lanes & (self.of(index) >= 0)
        positions, at = np.nonzero(known)
        if not len(positions):
            return
        words, place = np.unique(index[positions, at] >> 3, return_inverse=True)
        states = self.shared.words[words].astype(np.int64)

        def who(k: int) -> tuple[int, int]:
            first = int(np.flatnonzero(place == k)[0])
            return int(batch.warp_index[positions[first]]), int(at[first])

        count = np.broadcast_to(event.transactions, lanes.shape)[positions, at]
        bytes_now = np.array([_signed(state >> 40 & 0x1FFFFF) for state in states.tolist()])
        bytes_now += np.bincount(place, -count if event.action == "complete_tx" else count, len(words)).astype(np.int64)
        for k in np.flatnonzero(np.abs(bytes_now) > _HIGHEST).tolist():
            text = f"reaches a transaction count of {int(bytes_now[k])} bytes, which is out of range"
            self.report_at("sanitize.mbarrier/overflow", pc, int(words[k]), text, *who(k))
        if not event.action.startswith("arrive"):
            return
        arrivals = np.bincount(place, np.broadcast_to(event.amounts, lanes.shape)[positions, at], len(words))
        pending = states >> 20 & _HIGHEST
        for k in np.flatnonzero(arrivals > pending).tolist():
            text = f"expects {int(pending[k])} more arrivals in this phase, but receives {int(arrivals[k])}"
            warp, lane = who(k)
            thread, more = int(self.topology.warp_in_cta[warp]) * 32 + lane, int(arrivals[k] - pending[k])
            fixes = partial(self.fixes.excess_arrivals, int(words[k]), more, pc, thread)
            self.report_at("sanitize.mbarrier/arrivals", pc, int(words[k]), text, warp, lane, fixes=fixes)
        self._check_phase(batch, index, positions, at, pc)

    def _check_phase(self, batch: Batch, index: Array, positions: Array, at: Array, pc: int) -> None:
        """Report arrivals that may count in the mbarrier's previous phase."""
        objects = self.of(index[positions, at])
        complete = self.phase[objects]
        later = np.flatnonzero(complete > 0)
        if not len(later):
            return
        clocks = self.clocks
        warps = batch.warp_index[positions[later]]
        columns = clocks.phase_column(objects[later])
        known = np.maximum(
            clocks.vectors[warps, KNOWN, columns], clocks.vectors[warps + self.topology.warps, KNOWN, columns]
        )
        if self.aliasing is not None:
            known = np.maximum(known, self.aliasing.known(warps, objects[later]))
        for k in np.flatnonzero(known < complete[later]).tolist():
            if self.aliasing is not None and self.aliasing.knows_arrivals(int(warps[k]), int(objects[later[k]])):
                continue
            word = int(index[positions[later[k]], at[later[k]]]) >> 3
            text = "receives an arrival that may count in the previous phase: no wait shows that this phase is complete"
            self.report_at("sanitize.mbarrier/arrivals", pc, word, text, int(warps[k]), int(at[later[k]]))

    def report_missing(
        self, words: Array, found: Array, warps: Array, lanes: Array, pc: int, use: str = "a copy counts its bytes"
    ) -> None:
        """Report the first asynchronous operation without a valid mbarrier. `use` describes the operation.

        Operation i expects an mbarrier at byte offset words[i]. The number found[i] is -1 if there is none.
        """
        k = int(np.flatnonzero(found < 0)[0])
        text = f"is not initialised, and {use} there"
        word, warp = int(words[k]) >> 3, int(warps[k])
        fixes = partial(self._missing_initialisation, word)
        self.report_at("sanitize.mbarrier/uninitialised", pc, word, text, warp, int(lanes[k]), fixes=fixes)

    def check_stores(self, index: Array, lanes: Array, size: int, warps: Array, pc: int) -> None:
        """Report stores of lanes that overwrite valid mbarriers.

        Each lane in `lanes` stores `size` bytes at its byte offset in `index`. Shapes: index and lanes (warps, 32).
        """
        if not np.count_nonzero(self.used):
            return
        hit = lanes & (self.at[index >> 3] >= 0)
        if size > 8:
            hit |= lanes & (self.at[index + size - 1 >> 3] >= 0)
        if np.count_nonzero(hit):
            position, lane = (int(part[0]) for part in np.nonzero(hit))
            word = int(index[position, lane]) >> 3
            word += int(self.at[word] < 0)
            self.report_at("sanitize.mbarrier/overwritten", pc, word, _OVERWRITTEN, int(warps[position]), lane)

    def check_overwritten(self, starts: Array, sizes: Array, warps: Array, lanes: Array, pc: int) -> None:
        """Report bulk copies that overwrite valid mbarriers. Copy i writes sizes[i] bytes at starts[i]."""
        if self._words is None:
            self._words = np.flatnonzero(self.at >= 0)
        words = self._words
        if not len(words) or not len(starts):
            return
        first, last = words.searchsorted(starts >> 3), words.searchsorted(starts + sizes + 7 >> 3)
        hit = first < last
        if np.count_nonzero(hit):
            k = int(np.flatnonzero(hit)[0])
            word, warp = int(words[first[k]]), int(warps[k])
            self.report_at("sanitize.mbarrier/overwritten", pc, word, _OVERWRITTEN, warp, int(lanes[k]))

    def name(self, word: int) -> str:
        """Return a phrase that names the mbarrier at byte offset 8 * `word`."""
        return f"mbarrier at shared address {self.shared.address(word * 8):#x}"

    def name_of(self, object: int) -> str:
        """Return a phrase that names an mbarrier by its number, or "" if it is no longer valid."""
        words = np.flatnonzero(self.at == object)
        return self.name(int(words[0])) if len(words) else ""

    def close(self, awaited: Collection[int] | None = None) -> None:
        """Report mbarriers that have received too few or too many bytes. Call this when the CTAs end.

        After a deadlock, `awaited` has the shared addresses of the mbarriers for which warps wait. The other mbarriers
        are not reported, because the deadlock may have left their phases incomplete.
        """
        words = np.flatnonzero(self.at >= 0)
        for word, state in zip(words.tolist(), self.shared.words[words].tolist(), strict=True):
            if awaited is not None and self.shared.address(word * 8) not in awaited:
                continue
            count, found = _signed(int(state) >> 40 & 0x1FFFFF), self.at[word]
            expected, copied = int(self.site[found]), int(self.copy_site[found])
            pc, other = (expected, copied) if expected >= 0 else (copied, -1)
            if count:
                fixes = partial(self._bytes, word)
                code, text = "sanitize.mbarrier/short", f"still expects {count} bytes when its CTA ends"
                if count < 0:
                    code, text = "sanitize.mbarrier/excess", f"received {-count} bytes more than its phases expected"
                self.report_at(code, pc, word, text, other=other, fixes=fixes)

    def _bytes(self, word: int) -> tuple[Fix, ...]:
        found = self.at[word]
        return self.fixes.bytes(word, int(self.site[found]), int(self.arrival_site[found]))

    def initialised_at(self, address: int) -> int:
        """Return a word (byte offset / 8) with an mbarrier at a shared address of any CTA, or -1."""
        words = (word for word in self.fixes.initialised if self.shared.address(word * 8) == address)
        return next(words, -1)

    def report_at(
        self, code: str, pc: int, word: int, text: str, warp: int = -1, lane: int = -1, other: int = -1,
        fixes: Callable[[], tuple[Fix, ...]] = tuple,
    ) -> None:  # fmt: skip
        """Report rule `code` for the mbarrier at byte offset 8 * `word`.

        `text` continues "the mbarrier at …". `fixes` returns alternative fixes.
        """
        if self.report.is_known(code, pc, other):
            return
        context, byte = self.context, word * 8
        where = context.describe(warp, lane) if warp >= 0 else context.describe_cta(byte // self.shared.stride)
        message = f"the {self.name(word)} {text}; {where}"
        self.report.add(code, pc, other, message, subject=self.name(word), fixes=fixes())


def _signed(count: int) -> int:
    return count - 0x200000 if count >= 0x100000 else count


@njit
def _complete_phases(V: Array, phase: Array, objects: Array, columns: Array, first: int, kinds: int) -> None:
    """Complete the open phases of the mbarriers `objects`.

    `phase` has the number of complete phases of each mbarrier. Component columns[k] of the vector clocks `V` counts the
    phases of objects[k]. `first` is the row of the first mbarrier, and `kinds` the number of rows of an mbarrier.
    """
    for k in range(len(objects)):
        which, column = objects[k], columns[k]
        phase[which] += 1
        for kind in range(0, kinds, 2):
            arriving = first + kind * len(phase) + which
            arrived = arriving + len(phase)
            join(V, arrived, arriving)
            V[arrived, KNOWN, column] = phase[which]
            if kind == 0:
                V[arrived, WIDE, column] = phase[which]


@njit
def _are_allowed(
    V: Array, total: int, words: Array, at: Array, phase: Array, columns: Array, happened: Array, places: Array,
    warps: Array, index: Array, lanes: Array, amounts: Array, transactions: Array, arrives: bool, completes: bool,
) -> bool:  # fmt: skip
    """Return the result of `Mbarriers.allows`.

    `V` has the vector clocks of `total` warps, and column columns[k] counts the phases of mbarrier k. `happened` and
    `places` are the clocks and columns of `PhaseAliasing`, or empty.
    """
    arrivals, counts = np.zeros(len(phase), np.int64), np.zeros(len(phase), np.int64)
    for i in range(len(warps)):
        w = warps[i]
        row, value_row = (i if amounts.shape[0] > 1 else 0), (i if transactions.shape[0] > 1 else 0)
        for lane in range(32):
            if not lanes[i, lane]:
                continue
            word = index[i, lane] >> 3
            which, state = at[word], np.int64(words[word])
            if which < 0:
                return False
            count = transactions[value_row, lane if transactions.shape[1] > 1 else 0]
            counts[which] += -count if completes else count
            held = state >> 40 & 0x1FFFFF
            if abs((held ^ 0x100000) - 0x100000 + counts[which]) > _HIGHEST:
                return False
            if not arrives:
                continue
            arrivals[which] += amounts[row, lane if amounts.shape[1] > 1 else 0]
            if arrivals[which] > state >> 20 & _HIGHEST:
                return False
            known = max(V[w, KNOWN, columns[which]], V[w + total, KNOWN, columns[which]])
            if len(happened):
                known = max(known, happened[w, places[which]])
            if known < phase[which]:
                return False
    return True
