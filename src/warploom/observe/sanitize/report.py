"""Collector of what the checks of the sanitizer find, before findings with one cause are merged."""

from __future__ import annotations

from warploom.diagnostics import Diagnostic
from warploom.diagnostics.edits import Fix
from warploom.emulator.program import Program
from warploom.observe.sanitize.causes import Conflict
from warploom.observe.sanitize.findings import End, find_diagnostics
from warploom.observe.sanitize.rules import active_rules

LIMIT = 2000  # conflicts with a message; further ones are only counted


class Report:
    """Collector of conflicts.

    A conflict has a rule and a pair of instructions. Repeated conflicts are only counted. Conflicts are ignored unless
    their rule is in `active`. `untested` has the waits whose results no instruction tests.
    """

    def __init__(self, active: frozenset[str] | None = None) -> None:
        self._active = active_rules() if active is None else active
        self._found: dict[tuple[str, int, int], Conflict] = {}
        self._ended: list[End] = []
        self.untested: frozenset[int] = frozenset()
        self._block: tuple[int, int, range] | None = None  # wave, batch and instructions

    def __len__(self) -> int:
        return len(self._found)

    def is_active(self, code: str) -> bool:
        """Return True if the rule `code` is on."""
        return code in self._active

    def is_known(self, code: str, pc: int, other: int, count: int = 1) -> bool:
        """Return True if a conflict is recorded, the report is full, or the rule is off.

        A recorded conflict is counted. `pc` is the later instruction. `other` is the conflicting instruction, -1 for
        none. `count` is the number of new occurrences.
        """
        known = self._found.get((code, pc, other))
        if known is not None:
            known.count += count
            return True
        return len(self._found) >= LIMIT or not self.is_active(code)

    def add(
        self, code: str, pc: int, other: int, message: str, hint: str = "", count: int = 1, subject: str = "",
        two_sided: bool = False, fixes: tuple[Fix, ...] = (), insert: str = "",
    ) -> None:  # fmt: skip
        """Add a conflict, or count it if the report has one with this rule and pair of instructions.

        `Conflict` describes the arguments.
        """
        if not self.is_known(code, pc, other, count):
            self._found[code, pc, other] = Conflict(
                code, pc, other, message, hint, subject, two_sided, fixes, insert, count=count, moment=self.moment(pc)
            )

    def begin_block(self, wave: int, batch: int, block: range) -> None:
        """Record from now on that conflicts are found while a batch executes the instructions `block`."""
        self._block = wave, batch, block

    def moment(self, pc: int) -> tuple[int, int, int] | None:
        """Return the wave, the batch and the instruction of a present conflict, or None without blocks.

        The instruction is `pc` if the batch executes it, and otherwise the first one of the batch. An asynchronous
        operation may conflict after the batch that has issued it.
        """
        if self._block is None:
            return None
        wave, batch, block = self._block
        return wave, batch, pc if pc in block else block.start

    def merge(self, later: Report) -> None:
        """Add the conflicts of `later`, the report on CTAs that follow in launch order."""
        self.untested |= later.untested
        for key, each in later._found.items():
            if not self.is_known(*key, each.count):
                self._found[key] = each
        for each in later._ended:
            self.add_end(each.found, each.pc, each.fixes)

    def add_end(self, found: Diagnostic, pc: int = -1, fixes: tuple[Fix, ...] = ()) -> None:
        """Add the deadlock or the trap that ended the run. `pc` is the instruction of a trap, otherwise -1."""
        if (end := End(found, pc, fixes)) not in self._ended:
            self._ended.append(end)

    def finalise(self, code: str, pc: int) -> None:
        """Record that no other conflict can explain the conflict of the rule `code` at the instruction `pc`."""
        if (known := self._found.get((code, pc, -1))) is not None:
            known.is_final = True

    def diagnostics(self, program: Program) -> tuple[Diagnostic, ...]:
        """Return one diagnostic for each cause, in order of the first occurrences."""
        return tuple(find_diagnostics(list(self._found.values()), self._ended, program, self.untested))
