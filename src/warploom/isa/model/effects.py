"""Effects of an instruction, declared on its Form as typed data.

The emulator, the observers, the checker and the author API learn from the effects what an instruction does.

A *slot* is a named modifier of the instruction's syntax line, such as `.sem`. Its *word* is the text that an opcode has
there, or "". A field of type `Rule` holds a PTX word, the name of a slot whose word applies, or a function that
computes the word from all slots.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from warploom.numerics.models import UnitKind

Slots = Mapping[str, str]
Rule = str | Callable[[Slots], str]

Group = Literal["copy", "bulk", "multiplication"]
"""Kind of asynchronous operations that are committed and awaited in groups.

"copy" stands for `cp.async`, "bulk" for bulk copies, and "multiplication" for `wgmma`.
"""

UNORDERED = frozenset({"", "weak"})
"""Memory orders of accesses that do not synchronise with other accesses."""


def word(rule: Rule, slots: Slots) -> str:
    """Return the PTX word that a rule yields for an instruction with the modifiers `slots`."""
    return rule(slots) if callable(rule) else slots.get(rule, rule)


def slot_or(slot: str, default: str) -> Rule:
    """Return a rule that yields the word of the modifier `slot`, or `default` if the opcode omits it."""
    return lambda slots: slots.get(slot) or default


@dataclass(frozen=True, slots=True)
class Control:
    """Effect of an instruction that changes the program counter or ends a thread."""

    kind: Literal["jump", "call", "return", "exit", "trap"]


@dataclass(frozen=True, slots=True)
class Collective:
    """Effect of an instruction that a warp or a warpgroup executes as a whole."""

    level: Literal["warp", "warpgroup"]


@dataclass(frozen=True, slots=True)
class Access:
    """Effect of an instruction that accesses memory at an address operand.

    The executing lanes access memory, or issue an asynchronous operation that accesses memory. All fields but
    `kind`, `order`, `scope` and `proxy` are names of operands.

    `value` names the registers that are loaded or stored. `compared` is the value that a compare-and-swap expects in
    memory. `proxy` is "async" for accesses by asynchronous copies. The address operand determines the state space.

    `size` is the number of bytes per lane, for instructions without `value`. At most `limit` of these bytes are read.
    If `limit` names a predicate instead of a number, nothing is read where the predicate is true.
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
    """Effect of an instruction that orders earlier accesses with later accesses.

    A "memory" fence orders accesses of the thread as other threads observe them. A "proxy" fence orders accesses
    through the generic proxy with accesses through `proxy` (async, tensormap or alias). The fence applies to the state
    space `space`, or to all spaces if `space` is "". If `address` names an operand, the fence applies only to the range
    at this address. A "registers" fence orders register accesses with asynchronous multiplications.
    """

    kind: Literal["memory", "proxy", "registers"]
    order: Rule = "acq_rel"
    scope: Rule = "gpu"
    proxy: Rule = ""
    space: Rule = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Issue:
    """Effect of an instruction that starts an asynchronous operation.

    The emulator's schedule decides when the operation takes effect. `group` is the kind of group that the operation
    joins. `mbarrier` names the address operand of the mbarrier that counts the completion. Without `group` and
    `mbarrier`, the operation completes at an unspecified time.
    """

    group: Group | None = None
    mbarrier: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """Effect of an instruction that closes the open group of asynchronous operations."""

    group: Group


@dataclass(frozen=True, slots=True)
class Wait:
    """Effect of an instruction that waits for asynchronous operations, or for a phase of an mbarrier.

    `pending` names the operand with the number of newest groups that may stay incomplete. Without `pending`, all groups
    must be complete. If the word of `reads_only` is not empty, the wait covers only the reads of the operations.
    `order` and `scope` apply to a wait for a phase. The scope is "" if the instruction does not name a scope.
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
    """Effect of an instruction that arrives at an mbarrier or changes the mbarrier in another way.

    `action` is init, inval, arrive, arrive_drop, expect_tx or complete_tx. If `after` names a kind of group, the
    arrival happens when all earlier operations of the thread in groups of this kind are complete.
    """

    address: str
    action: Rule = "arrive"
    after: Group | None = None
    order: Rule = "release"
    scope: Rule = "cta"


@dataclass(frozen=True, slots=True)
class Barrier:
    """Effect of an instruction that synchronises the threads of a warp, CTA or cluster.

    If the word of `aligned` is not empty, whole warps must execute the barrier.
    """

    level: Literal["warp", "cta", "cluster"]
    arrives: bool = True
    waits: bool = True
    aligned: Rule = "aligned"
    order: Rule = "acq_rel"


@dataclass(frozen=True, slots=True)
class Multiply:
    """Effect of an instruction that multiplies matrices on a matrix unit.

    The product is added to the accumulators. If the predicate operand that `keeps` names is false, the product replaces
    them.
    """

    unit: UnitKind
    keeps: str = ""


@dataclass(frozen=True, slots=True)
class Allocate:
    """Effect of an instruction that takes or releases registers or tensor memory.

    The resource "permit" is the right to allocate tensor memory. The word of `action` is "take" or "release". `amount`
    names the operand with the number of registers or columns.
    """

    resource: Literal["registers", "tensor memory", "permit"]
    action: Rule = "take"
    amount: str = ""


@dataclass(frozen=True, slots=True)
class Flow:
    """Effect that declares how values pass from source registers to results.

    - `elements` are the operands whose elements are copied unchanged to the results.
    - `address` are the operands that may be addresses. The result then points into the buffer of the operand.
    - `offset` is True if the other operands are added to the address.
    - `space` is the state space that the `address` operands certainly point to, or "".
    - `numbers` tells whether integer sources are "scaled" (multiplied or shifted) or "compared".
    - `unwritten` is the effect of a source register that was never written. With "propagate" the result counts as
      unwritten too, with "ignore" the result counts as written, and with "use" the read is an error.
    - `selects` names the predicate that chooses between the operands a and b.
    """

    elements: tuple[str, ...] = ()
    address: tuple[str, ...] = ()
    offset: bool = False
    space: Rule = ""
    numbers: frozenset[Literal["scaled", "compared"]] = frozenset()
    unwritten: Literal["propagate", "ignore", "use"] = "propagate"
    selects: str = ""


Effect = Control | Collective | Access | Fence | Issue | Commit | Wait | Arrive | Barrier | Multiply | Allocate | Flow
