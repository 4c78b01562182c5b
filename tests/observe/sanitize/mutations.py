"""Mutations of kernels: each changes one place of a parsed kernel in one way that people get wrong.

A kind of mutation looks at the instructions of an entry and yields, for every place it applies to, the edits that
make the mutant. What a mutant must lead to is in `verdicts.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from observe.sanitize.edits import (
    Body,
    Found,
    added,
    deleted,
    edited,
    integer,
    moved_before,
    moved_behind,
    named,
    scoped,
    statements,
    with_opcode,
    with_operand,
    with_word,
)  # fmt: skip

from warploom.ptx import Address, Block, Instruction, Integer, Module, Name

KINDS: dict[str, Callable[[Body], Found]] = {}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed kernel: its kind, which of the kind's places in order, and the line of the change."""

    kind: str
    place: int
    line: int
    module: Module = field(repr=False)


def kind(function: Callable[[Body], Found]) -> Callable[[Body], Found]:
    """Register a kind of mutation under the function's name."""
    KINDS[function.__name__.replace("_", "-")] = function
    return function


def mutants(module: Module, entry: str | None = None, kinds: Sequence[str] = ()) -> Iterator[Mutant]:
    """Every mutant of an entry (the only one, where none is named), kind by kind, place by place."""
    functions = [f for f in module.functions.values() if f.kind == "entry" and entry in (None, f.name)]
    (function,) = functions
    body = Body(function)
    for name in kinds or KINDS:
        for number, (place, edits) in enumerate(KINDS[name](body)):
            changed = replace(function, body=edited(body.block, edits, ()))
            items = tuple(changed if item is function else item for item in module.items)
            yield Mutant(name, number, place.line, Module(items))


# Dropped ----------------------------------------------------------------------------------------------------


def _drop(name: str, *choices: tuple[str, ...], without: tuple[str, ...] = ()) -> None:
    """A kind that leaves out every instruction that has the words of one of the choices."""

    def found(body: Body) -> Found:
        for place in body.places:
            if any(place.has(*choice) for choice in choices) and not any(w in place.words for w in without):
                yield place, deleted(place)

    KINDS[f"drop-{name}"] = found


_drop("wgmma-fence", ("wgmma", "fence"))
_drop("wgmma-commit", ("wgmma", "commit_group"))
_drop("wgmma-wait", ("wgmma", "wait_group"))
_drop("cp-async-commit", ("cp", "async", "commit_group"), without=("bulk",))
_drop("cp-async-wait", ("cp", "async", "wait_group"), ("cp", "async", "wait_all"), without=("bulk",))
_drop("proxy-fence", ("fence", "proxy", "async"))
_drop("tensormap-fence", ("fence", "proxy", "tensormap::generic"))
_drop("mbarrier-init", ("mbarrier", "init"))
_drop("mbarrier-init-fence", ("fence", "mbarrier_init"))
_drop("arrive", ("mbarrier", "arrive"), ("cp", "async", "mbarrier", "arrive"), without=("expect_tx",))
_drop("expect-tx", ("mbarrier", "expect_tx"), without=("arrive",))
_drop("cta-barrier", ("bar", "sync"), ("barrier", "sync"), without=("warp",))
_drop("named-arrive", ("bar", "arrive"), ("barrier", "arrive"), without=("cluster",))
_drop("warp-sync", ("bar", "warp", "sync"))
_drop("cluster-wait", ("barrier", "cluster", "wait"))
_drop("bulk-commit", ("cp", "async", "bulk", "commit_group"))
_drop("bulk-wait", ("cp", "async", "bulk", "wait_group"))
_drop("memory-fence", ("fence", "acq_rel"), ("fence", "sc"), ("membar",))
_drop("setmaxnreg", ("setmaxnreg",))


@kind
def drop_expected_bytes(body: Body) -> Found:
    """An arrival that no longer announces its bytes."""
    for place in body.all("mbarrier", "arrive", "expect_tx"):
        opcode = ".".join(word for word in place.words if word != "expect_tx")
        yield (
            place,
            {place.path: (replace(place.instruction, opcode=opcode, operands=place.instruction.operands[:-1]),)},
        )


@kind
def drop_mbarrier_wait(body: Body) -> Found:
    """A wait that finds its phase complete whatever it is."""
    for place in body.places:
        if place.has("mbarrier", "try_wait") or place.has("mbarrier", "test_wait"):
            done = place.instruction.operands[0]
            always = Instruction(None, "setp.eq.u32", (done, Integer(0), Integer(0)))
            yield place, {place.path: (always,)}


@kind
def drop_cluster_barrier(body: Body) -> Found:
    """An arrival at the cluster's barrier and the wait that follows it."""
    for place in body.all("barrier", "cluster", "arrive"):
        wait = next((other for other in body.after(place) if other.has("barrier", "cluster", "wait")), None)
        if wait is not None:
            yield place, {place.path: (), wait.path: ()}


# Wrong numbers ----------------------------------------------------------------------------------------------


def _bytes(change: int) -> Callable[[Body], Found]:
    def found(body: Body) -> Found:
        for place in body.all("mbarrier", "expect_tx"):
            if integer(place, -1) is not None:
                yield place, added(place, -1, change)

    return found


KINDS["expect-fewer-bytes"] = _bytes(-16)
KINDS["expect-more-bytes"] = _bytes(16)


@kind
def copy_fewer_bytes(body: Body) -> Found:
    """A bulk copy that moves 16 bytes less than before."""
    for place in body.all("cp", "async", "bulk"):
        if "tensor" not in place.words and (integer(place, 2) or 0) > 16:
            yield place, added(place, 2, -16)


@kind
def wrong_parity(body: Body) -> Found:
    """A wait for the other phase."""
    for place in body.all("mbarrier", "parity"):
        value = integer(place, 2)
        if value is not None:
            yield place, with_operand(place, 2, Integer(value ^ 1))
        else:
            parity = place.instruction.operands[2]
            assert isinstance(parity, Name)
            operands = (*place.instruction.operands[:2], Name("%other"), *place.instruction.operands[3:])
            changed = replace(place.instruction, operands=operands)
            flipped = f".reg .b32 %other; xor.b32 %other, {parity.text}, 1;"
            yield place, {place.path: (scoped(flipped, changed),)}


@kind
def constant_parity(body: Body) -> Found:
    """A wait whose parity never changes."""
    for place in body.all("mbarrier", "parity"):
        if integer(place, 2) is None:
            yield place, with_operand(place, 2, Integer(0))


@kind
def drop_parameter(body: Body) -> Found:
    """The first parameter that is loaded is not: its register has no value."""
    for place in list(body.all("ld", "param"))[:1]:
        yield place, deleted(place)


def _deeper(*words: str, without: str = "") -> Callable[[Body], Found]:
    def found(body: Body) -> Found:
        for place in body.all(*words):
            if without not in place.words and integer(place, 0) is not None:
                yield place, added(place, 0, 1)

    return found


KINDS["wgmma-wait-too-deep"] = _deeper("wgmma", "wait_group")
KINDS["cp-async-wait-too-deep"] = _deeper("cp", "async", "wait_group", without="bulk")
KINDS["bulk-wait-too-deep"] = _deeper("cp", "async", "bulk", "wait_group")


@kind
def bulk_wait_for_reads_only(body: Body) -> Found:
    """A wait that no longer waits for the writes."""
    for place in body.all("cp", "async", "bulk", "wait_group"):
        if "read" not in place.words:
            yield place, with_opcode(place, place.instruction.opcode + ".read")


def _arrivals(change: int) -> Callable[[Body], Found]:
    def found(body: Body) -> Found:
        for place in body.all("mbarrier", "init"):
            if (integer(place, 1) or 0) + change > 0:
                yield place, added(place, 1, change)

    return found


KINDS["fewer-arrivals"] = _arrivals(-1)
KINDS["more-arrivals"] = _arrivals(1)


@kind
def wrong_barrier(body: Body) -> Found:
    """A barrier of the CTA with another number."""
    for place in body.places:
        if place.words[0] in ("bar", "barrier") and "warp" not in place.words and "cluster" not in place.words:
            index = 1 if "red" in place.words else 0
            value = integer(place, index)
            if value is not None:
                yield place, with_operand(place, index, Integer(value ^ 8))
            else:
                number = place.instruction.operands[index]
                assert isinstance(number, Name)
                operands = list(place.instruction.operands)
                operands[index] = Name("%other")
                changed = replace(place.instruction, operands=tuple(operands))
                text = f".reg .b32 %other; xor.b32 %other, {number.text}, 8;"
                yield place, {place.path: (scoped(text, changed),)}


@kind
def wrong_barrier_count(body: Body) -> Found:
    """A barrier that counts a warp more."""
    for place in body.places:
        of_the_cta = place.words[0] in ("bar", "barrier") and {"warp", "cluster", "red"}.isdisjoint(place.words)
        if of_the_cta and integer(place, 1) is not None:
            yield place, added(place, 1, 32)


@kind
def wrong_multicast_mask(body: Body) -> Found:
    """A multicast to CTA 0 alone."""
    for place in body.all("cp", "async", "bulk", "multicast::cluster"):
        operands = (*place.instruction.operands[:-1], Name("%mask"))
        if "L2::cache_hint" not in place.words:
            changed = replace(place.instruction, operands=operands)
            yield place, {place.path: (scoped(".reg .b16 %mask; mov.b16 %mask, 1;", changed),)}


@kind
def wrong_descriptor_swizzle(body: Body) -> Found:
    """A matrix descriptor whose constant says another swizzle."""
    for place in body.places:
        if place.words[0] in ("or", "add") and place.words[-1] in ("b64", "s64", "u64"):
            value = (integer(place, 2) or 0) % 2**64
            if value >> 62 in (1, 2, 3) and value & 1 << 16 | value >> 32 & 0x3FFF:
                other = {1: 2, 2: 3, 3: 1}[value >> 62]
                yield place, with_operand(place, 2, Integer(value & ~(3 << 62) | other << 62))


# Wrong order ------------------------------------------------------------------------------------------------


@kind
def store_behind_fence(body: Body) -> Found:
    """The last generic store ahead of a proxy fence, behind it."""
    for place in body.all("fence", "proxy", "async"):
        for other in body.straight_before(place):
            if other.words[0] in ("st", "stmatrix") and "global" not in other.words:
                yield place, moved_before(place, other)
                break


@kind
def fence_behind_barrier(body: Body) -> Found:
    """A proxy fence behind the barrier or arrival that it should stand ahead of."""
    for place in body.all("fence", "proxy", "async"):
        for other in body.straight_after(place):
            meets = other.words[0] in ("bar", "barrier") and "sync" in other.words and "warp" not in other.words
            if meets or other.has("mbarrier", "arrive"):
                yield place, moved_behind(place, other)
                break


@kind
def swap_wgmma_fence(body: Body) -> Found:
    """wgmma.fence behind the first multiplication that it should stand ahead of."""
    for place in body.all("wgmma", "fence"):
        for other in body.straight_after(place):
            if other.has("wgmma", "mma_async"):
                yield place, moved_behind(place, other)
                break


@kind
def commit_too_early(body: Body) -> Found:
    """A commit ahead of the last asynchronous operation that it should cover."""
    pairs = (
        (("wgmma", "commit_group"), ("wgmma", "mma_async")),
        (("cp", "async", "bulk", "commit_group"), ("cp", "async", "bulk", "bulk_group")),
        (("cp", "async", "commit_group"), ("cp", "async", "global")),
    )
    for place in body.places:
        for commit, operation in pairs:
            if place.has(*commit) and ("bulk" in place.words) == ("bulk" in commit):
                for other in body.straight_before(place):
                    if other.has(*operation) and ("bulk" in other.words) == ("bulk" in operation):
                        yield place, moved_before(place, other)
                        break


@kind
def accumulator_early(body: Body) -> Found:
    """An accumulator read ahead of the wait for the multiplication."""
    for place in body.all("wgmma", "wait_group"):
        for other in body.before(place):
            if other.has("wgmma", "mma_async"):
                match = re.search(r"[%$\w]+", str(other.instruction).split("{")[1])
                assert match is not None
                early = scoped(f".reg .b32 %early; mov.b32 %early, {match[0]};")
                yield place, {place.path: (early, place.instruction)}
                break


@kind
def release_too_early(body: Body) -> Found:
    """A stage given back before the multiplication has read it: the wait behind the arrival."""
    for place in body.all("mbarrier", "arrive"):
        if "expect_tx" not in place.words:
            for other in body.straight_before(place):
                if other.has("wgmma", "wait_group"):
                    yield place, moved_behind(other, place)
                    break


@kind
def read_behind_release(body: Body) -> Found:
    """A stage given back before it is read: the load behind the arrival or the barrier."""
    for place in body.places:
        arrives = place.has("mbarrier", "arrive") and "expect_tx" not in place.words
        if arrives or place.has("bar", "arrive") or place.has("barrier", "cluster", "arrive"):
            passed: set[str] = set()
            for other in body.straight_before(place):
                if other.words[0] in ("ld", "ldmatrix") and any(w.startswith("shared") for w in other.words):
                    result, address = other.instruction.operands[:2]
                    held = address.base.text if isinstance(address, Address) and isinstance(address.base, Name) else ""
                    if named(result) not in passed and held not in passed:
                        yield place, moved_behind(other, place)
                    break
                passed |= set(re.findall(r"%\w+", str(other.instruction)))


@kind
def exit_early(body: Body) -> Found:
    """CTA 0 leaves ahead of the last meeting of its cluster."""
    meetings = list(body.all("barrier", "cluster", "arrive"))
    for place in meetings[-1:]:
        leave = scoped(
            ".reg .pred %leaves; .reg .b32 %who; mov.u32 %who, %cluster_ctarank;"
            " setp.eq.u32 %leaves, %who, 0; @%leaves exit;"
        )
        yield place, {place.path: (leave, place.instruction)}


@kind
def exit_in_flight(body: Body) -> Found:
    """The end ahead of the last wait for multiplications or bulk copies."""
    for words in (("wgmma", "wait_group"), ("cp", "async", "bulk", "wait_group")):
        for place in list(body.all(*words))[-1:]:
            yield place, {place.path: (Instruction(place.instruction.guard, "exit"), place.instruction)}


@kind
def barrier_in_divergence(body: Body) -> Found:
    """A CTA barrier that half a warp executes."""
    for place in body.places:
        if (place.has("bar", "sync") and "warp" not in place.words) and place.instruction.guard is None:
            *front, guarded = statements(
                ".reg .pred %half; .reg .b32 %number; mov.u32 %number, %laneid;"
                " setp.lt.u32 %half, %number, 16; @%half bar.sync 0;"
            )
            assert isinstance(guarded, Instruction)
            yield place, {place.path: (Block((*front, replace(place.instruction, guard=guarded.guard))),)}


@kind
def arrive_twice(body: Body) -> Found:
    """An arrival done twice."""
    for place in body.all("mbarrier", "arrive"):
        if "expect_tx" not in place.words:
            yield place, {place.path: (place.instruction, place.instruction)}


@kind
def init_twice(body: Body) -> Found:
    """An mbarrier that is made, made again."""
    for place in body.all("mbarrier", "init"):
        yield place, {place.path: (place.instruction, place.instruction)}


# Weak order -------------------------------------------------------------------------------------------------


@kind
def release_to_relaxed(body: Body) -> Found:
    """A release that is none."""
    for place in body.places:
        if place.has("st", "release") or place.has("atom", "release") or place.has("red", "release"):
            yield place, with_word(place, "release", "relaxed")
        elif place.has("mbarrier", "arrive") and "expect_tx" not in place.words and "relaxed" not in place.words:
            words = [word for word in place.words if word not in ("release", "cta", "cluster")]
            scope = "cluster" if "shared::cluster" in words else "cta"
            yield place, with_opcode(place, ".".join([*words[:2], "relaxed", scope, *words[2:]]))
        elif place.has("barrier", "cluster", "arrive") and "relaxed" not in place.words:
            words = [word for word in place.words if word != "release"]
            yield place, with_opcode(place, ".".join([*words[:3], "relaxed", *words[3:]]))


@kind
def acquire_to_relaxed(body: Body) -> Found:
    """An acquire that is none."""
    for place in body.places:
        if place.has("ld", "acquire"):
            yield place, with_word(place, "acquire", "relaxed")
        elif place.has("mbarrier", "try_wait") and "relaxed" not in place.words:
            cluster = "cluster" in place.words
            words = [word for word in place.words if word not in ("acquire", "cta", "cluster")]
            at = 3 if "parity" in words else 2
            order = ["relaxed", "cluster" if cluster else "cta"]
            yield place, with_opcode(place, ".".join([*words[:at], *order, *words[at:]]))


@kind
def scope_narrowed(body: Body) -> Found:
    """An order that reaches less far than those who meet."""
    for place in body.places:
        if place.words[0] in ("st", "ld", "atom", "red", "fence") and "gpu" in place.words:
            yield place, with_word(place, "gpu", "cta")
        elif place.words[0] == "mbarrier" and "cluster" in place.words:
            yield place, with_word(place, "cluster", "cta")


# Matrix descriptors -----------------------------------------------------------------------------------------


def _descriptors(statement: str) -> Callable[[Body], Found]:
    """A kind that changes `%d`, the descriptor of A or B of an entry's first or last multiplication, by a statement."""

    def found(body: Body) -> Found:
        multiplications = list(body.all("wgmma", "mma_async"))
        for place in multiplications[:1] + multiplications[1:][-1:]:
            for index in (1, 2):
                descriptor = place.instruction.operands[index]
                if isinstance(descriptor, Name):
                    operands = list(place.instruction.operands)
                    operands[index] = Name("%other")
                    changed = replace(place.instruction, operands=tuple(operands))
                    text = f".reg .b64 %other, %field; {statement}".replace("%d", descriptor.text)
                    yield place, {place.path: (scoped(text, changed),)}

    return found


_LEADING, _STRIDE = 0x3FFF << 16, 0x3FFF << 32
KINDS["wrong-descriptor-lbo"] = _descriptors(f"and.b64 %field, %d, {_LEADING}; add.s64 %other, %d, %field;")
KINDS["wrong-descriptor-sbo"] = _descriptors(f"and.b64 %field, %d, {_STRIDE}; add.s64 %other, %d, %field;")
KINDS["zero-descriptor-lbo"] = _descriptors(f"and.b64 %other, %d, {~_LEADING};")
KINDS["zero-descriptor-sbo"] = _descriptors(f"and.b64 %other, %d, {~_STRIDE};")
KINDS["wrong-descriptor-start"] = _descriptors("add.s64 %other, %d, 1;")
KINDS["wrong-descriptor-row"] = _descriptors("add.s64 %other, %d, 8;")
KINDS["wrong-descriptor-base-offset"] = _descriptors(f"xor.b64 %other, %d, {1 << 49};")
