"""Effects of an instruction, declared on its Form as typed data.

The emulator, the observers, the checker and the author API derive their knowledge of an instruction from its effects.
A field of type `Rule` holds a PTX word, the name of a slot whose word applies, or a function of the slots.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from warploom.numerics.models import UnitKind

Slots = Mapping[str, str]
Rule = str | Callable[[Slots], str]

Group = Literal["copy", "bulk", "multiplication"]
"""Kind of asynchronous operation that is committed and awaited in groups.

"copy" is `cp.async`, "bulk" are bulk copies, and "multiplication" is `wgmma`.
"""

UNORDERED = frozenset({"", "weak"})
"""Memory orders of accesses that synchronise with no other access."""


def word(rule: Rule, slots: Slots) -> str:
    """Return the PTX word that a rule yields for the slots of an instruction."""
    return rule(slots) if callable(rule) else slots.get(rule, rule)


def slot_or(slot: str, default: str) -> Rule:
    """Return the rule that yields the word of a slot, or a default if the slot is empty."""
    return lambda slots: slots.get(slot) or default


@dataclass(frozen=True, slots=True)
class Control:
    """Change of the program counter, or the end of a thread."""

    kind: Literal["jump", "call", "return", "exit", "trap"]


@dataclass(frozen=True, slots=True)
class Collective:
    """Execution by all lanes of a warp, or all four warps of a warpgroup, together."""

    level: Literal["warp", "warpgroup"]


@dataclass(frozen=True, slots=True)
class Access:
    """Access to memory at an address operand, by the executing lanes or by the operation that they issue.

    `value` names the operand whose registers are loaded or stored. `compared` names the operand that a
    compare-and-swap compares with memory. `proxy` is "async" for the accesses of asynchronous copies. The state space
    is that of the address operand. `size` names the operand with the bytes per lane if there is no value, and `limit`
    an operand that reduces the bytes read: their number, or a predicate that is true if none are read.
    """

    kind: Literal["read", "write", "update"]
    address: str
    value: str = ""
    order: Rule = "weak"
    scope: Rule = "gpu"
    compared: str = ""
    proxy: Rule = "generic"
    size: str = ""
    limit: str = ""

    def is_ordered(self, slots: Slots) -> bool:
        """Return True if the access can synchronise with accesses of other threads."""
        return word(self.order, slots) not in UNORDERED


@dataclass(frozen=True, slots=True)
class Fence:
    """Ordering of accesses before the fence with accesses after it.

    A "memory" fence orders accesses of the thread as other threads observe them. A "proxy" fence orders accesses of
    the generic proxy with those of `proxy` (async, tensormap, alias) in the state space `space` ("" for all); `address`
    names the operand that limits it to a range. A "registers" fence orders register accesses with asynchronous
    multiplications.
    """

    kind: Literal["memory", "proxy", "registers"]
    order: Rule = "acq_rel"
    scope: Rule = "gpu"
    proxy: Rule = ""
    space: Rule = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Issue:
    """Start of an asynchronous operation, which takes effect when the schedule decides.

    `group` is the kind of group that the operation joins. `mbarrier` names the address operand of the mbarrier that
    counts its completion. An operation with neither completes at an unspecified time.
    """

    group: Group | None = None
    mbarrier: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """End of the open group of asynchronous operations."""

    group: Group


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for the completion of asynchronous operations, or of a phase of an mbarrier.

    `pending` names the operand with the number of newest groups that may stay incomplete; without it all must be
    complete. `reads_only` is a rule whose word is not empty if the wait covers the reads of the operations alone.
    `order` and `scope` are those of a wait for a phase; the scope is empty if the instruction names none.
    """

    on: Group | Literal["mbarrier", "tensor memory"]
    pending: str = ""
    reads_only: Rule = ""
    address: str = ""
    suspends: bool = False
    order: Rule = "acquire"
    scope: Rule = ""


@dataclass(frozen=True, slots=True)
class Arrive:
    """Arrival at an mbarrier, or another action on it.

    `action` is init, inval, arrive, arrive_drop, expect_tx or complete_tx. `after` names the group of asynchronous
    operations whose completion triggers the arrival.
    """

    address: str
    action: Rule = "arrive"
    after: Group | None = None
    order: Rule = "release"
    scope: Rule = "cta"


@dataclass(frozen=True, slots=True)
class Barrier:
    """Barrier of the threads of a warp, CTA or cluster.

    `aligned` is not empty if whole warps must execute it.
    """

    level: Literal["warp", "cta", "cluster"]
    arrives: bool = True
    waits: bool = True
    aligned: Rule = "aligned"
    order: Rule = "acq_rel"


@dataclass(frozen=True, slots=True)
class Multiply:
    """Matrix multiplication by a matrix unit.

    It adds to its accumulators, unless the predicate operand `keeps` is false.
    """

    unit: UnitKind
    keeps: str = ""


@dataclass(frozen=True, slots=True)
class Allocate:
    """Change of the share that a warp or CTA holds of a resource.

    The word of `action` is "take" or "release". `amount` names the operand with the number of registers or columns.
    """

    resource: Literal["registers", "tensor memory", "permit"]
    action: Rule = "take"
    amount: str = ""


@dataclass(frozen=True, slots=True)
class Flow:
    """Passage of values from source registers to the results.

    `elements` are the operands whose elements the results repeat unchanged. `address` are the operands that may be
    addresses, which the result then points into. `offset` is True if the other operands are added to the address.
    `space` is the state space of memory that the `address` operands certainly point to, or "". `numbers` tells that
    source numbers are "scaled" (multiplied, shifted) or "compared". `unwritten` decides what an unwritten source
    register means: the result is unwritten as well ("propagate"), nothing ("ignore"), or an error ("use"). `selects`
    names the predicate that chooses between the operands a and b.
    """

    elements: tuple[str, ...] = ()
    address: tuple[str, ...] = ()
    offset: bool = False
    space: Rule = ""
    numbers: frozenset[Literal["scaled", "compared"]] = frozenset()
    unwritten: Literal["propagate", "ignore", "use"] = "propagate"
    selects: str = ""


Effect = Control | Collective | Access | Fence | Issue | Commit | Wait | Arrive | Barrier | Multiply | Allocate | Flow
