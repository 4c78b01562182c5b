"""Effects of an instruction, declared on its Form as typed data.

A *slot* is a named modifier of the instruction's syntax line, such as `.sem`. Its *word* is the text that an opcode has
there, or "".
"""

from collections.abc import Callable, Mapping
from typing import Literal

from warploom.lazy_dataclass import dataclass
from warploom.numerics.models import UnitKind

Slots = Mapping[str, str]
Rule = str | Callable[[Slots], str]
"""PTX word, name of the slot that contains it, or function that computes the word from all slots."""

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
    """Return a rule that yields the word of the modifier `slot`, or `default` if the modifier is absent."""
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
class Members:
    """Effect of an instruction that all lanes of a member mask execute together. `mask` names the operand."""

    mask: str = "membermask"


@dataclass(frozen=True, slots=True)
class Access:
    """Effect of an instruction that accesses memory at an address operand.

    - `address`: operand with the address, which determines the state space
    - `value`: operand that is loaded or stored
    - `compared`: operand with the value that a compare-and-swap expects
    - `proxy`: "generic", or "async" for accesses by asynchronous copies
    - `size`: operand with the number of bytes per lane, for instructions without `value`
    - `limit`: operand with the maximum number of bytes read, or a predicate that suppresses the read
    - `read_only`: True if no thread may write the memory during the kernel
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
    read_only: bool = False

    def is_ordered(self, slots: Slots) -> bool:
        """Return True if the access can synchronise with accesses of other threads."""
        return word(self.order, slots) not in UNORDERED


@dataclass(frozen=True, slots=True)
class Fence:
    """Effect of an instruction that orders earlier accesses with later accesses.

    - A "memory" fence orders accesses of the thread as other threads observe them.
    - A "proxy" fence orders accesses through the generic proxy with accesses through the proxy `proxy`.
    - A "registers" fence orders register accesses with asynchronous multiplications.

    `space` limits the fence to a state space. `address` names the operand with an address, and limits the fence to the
    range at this address.
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

    `group` is the kind of group that the operation joins. `mbarrier` names the address operand of the mbarrier that
    counts the completion. Without both, the operation completes at an unspecified time.
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
    must be complete. If `reads_only` gives a word, the wait covers only the reads of the operations. `suspends` is True
    if the instruction may suspend the warp. `order` and `scope` apply to a wait for a phase. `phase` names the operand
    with its parity or state, and `result` the predicate that is true if the phase is complete.
    """

    on: Group | Literal["mbarrier", "tensor memory"]
    pending: str = ""
    reads_only: Rule = ""
    address: str = ""
    suspends: bool = False
    order: Rule = "acquire"
    scope: Rule = ""
    phase: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True)
class Arrive:
    """Effect of an instruction that changes an mbarrier, for example by an arrival.

    `action` is init, inval, arrive, arrive_drop, expect_tx or complete_tx. If `after` is a kind of group, the arrival
    happens when all earlier operations of the thread in groups of this kind are complete. `count` names the operand
    with the arrivals of an initialisation, and `transactions` the operand with the bytes.
    """

    address: str
    action: Rule = "arrive"
    after: Group | None = None
    order: Rule = "release"
    scope: Rule = "cta"
    count: str = ""
    transactions: str = ""


@dataclass(frozen=True, slots=True)
class Barrier:
    """Effect of an instruction that synchronises the threads of a warp, CTA or cluster.

    If `aligned` gives a word, all threads of a warp must execute the barrier together. `number` and `threads` name the
    operands with the number of a CTA barrier and with its thread count.
    """

    level: Literal["warp", "cta", "cluster"]
    arrives: bool = True
    waits: bool = True
    aligned: Rule = "aligned"
    order: Rule = "acq_rel"
    number: str = ""
    threads: str = ""


@dataclass(frozen=True, slots=True)
class Multiply:
    """Effect of an instruction that multiplies matrices on a matrix unit.

    The product is added to the accumulators. `keeps` names a predicate operand. If the predicate is false, the product
    replaces the accumulators.
    """

    unit: UnitKind
    keeps: str = ""


@dataclass(frozen=True, slots=True)
class Allocate:
    """Effect of an instruction that takes or releases registers, tensor memory or memory of the stack.

    `action` gives "take" or "release". `amount` names the operand with the number of registers, columns or bytes. The
    resource "permit" is the right to allocate tensor memory.
    """

    resource: Literal["registers", "tensor memory", "permit", "stack"]
    action: Rule = "take"
    amount: str = ""


@dataclass(frozen=True, slots=True)
class Cancellation:
    """Effect of an instruction that cancels a cluster which has not started."""


@dataclass(frozen=True, slots=True)
class GridDependency:
    """Effect of an instruction that orders this grid with dependent grids or with its prerequisites.

    `kind` gives "trigger" if the instruction lets dependent grids start, and "wait" if it waits for prerequisites.
    """

    kind: Rule


@dataclass(frozen=True, slots=True)
class Flow:
    """Effect that declares how values pass from source registers to results.

    - `elements`: operands whose elements are copied unchanged to the results
    - `address`: operands that may be addresses; the result then points into the same buffer
    - `offset`: True if the other operands are added to the address
    - `space`: state space that the `address` operands certainly point to, or ""
    - `numbers`: "scaled" for integer sources that are multiplied or shifted, and "compared" for compared ones
    - `unwritten`: "propagate" if an unwritten source makes the result unwritten, "ignore" if the result counts as
      written, and "use" if the read of an unwritten source is an error
    - `selects`: predicate that chooses between the operands a and b
    """

    elements: tuple[str, ...] = ()
    address: tuple[str, ...] = ()
    offset: bool = False
    space: Rule = ""
    numbers: frozenset[Literal["scaled", "compared"]] = frozenset()
    unwritten: Literal["propagate", "ignore", "use"] = "propagate"
    selects: str = ""


Effect = (
    Control
    | Collective
    | Members
    | Access
    | Fence
    | Issue
    | Commit
    | Wait
    | Arrive
    | Barrier
    | Multiply
    | Allocate
    | GridDependency
    | Cancellation
    | Flow
)
