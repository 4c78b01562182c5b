"""Basic blocks of a function, and the registers for which a block needs arguments."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from warploom.isa.instructions import control
from warploom.nvvm.lifting.flatten import Register, Step
from warploom.ptx.flow import EXIT, postdominators, postorder


@dataclass(slots=True)
class BasicBlock:
    """Steps, and then `jump` (a branch) or `leave` (a return or exit without a guard), or neither.

    `targets` are the numbers of the blocks to which the jump leads. `next` is the number of the block after this one in
    the text if control may continue there, else None.
    """

    steps: list[Step] = field(default_factory=list[Step])
    jump: Step | None = None
    leave: Step | None = None
    targets: tuple[int, ...] = ()
    next: int | None = None

    @property
    def successors(self) -> list[int]:
        """Numbers of the blocks that may follow, each once."""
        return list(dict.fromkeys([*self.targets, *(() if self.next is None else (self.next,))]))

    def all_steps(self) -> Iterator[Step]:
        """Yield the steps, then the jump."""
        yield from self.steps
        if self.jump is not None:
            yield self.jump


def basic_blocks(items: Sequence[Step | str]) -> list[BasicBlock]:
    """Return the basic blocks of a function in the order of the text.

    The first block has no predecessor: it is an empty block if a jump leads to the first label. A block that no path
    reaches becomes the `next` of the block before it, so that LLVM keeps it.
    """
    blocks = [BasicBlock(), BasicBlock()]
    numbers: dict[str, int] = {}
    for item in items:
        block = blocks[-1]
        is_closed = block.jump is not None or block.leave is not None
        if is_closed or (isinstance(item, str) and block.steps):
            blocks.append(block := BasicBlock())
        if isinstance(item, str):
            numbers[item] = len(blocks) - 1
        elif item.targets:
            block.jump = item
        elif item.binding is not None and item.binding.form in (control.RET, control.EXIT) and item.guard is None:
            block.leave = item
        else:
            block.steps.append(item)
    for number, block in enumerate(blocks, 1):
        if block.jump is not None:
            block.targets = tuple(numbers[label] for label in block.jump.targets)
        ends = block.leave is not None or (block.jump is not None and block.jump.guard is None)
        block.next = None if ends or number == len(blocks) else number
    if 1 not in {target for block in blocks for target in block.targets}:
        # The function needs no block before the first one.
        del blocks[0]
        for block in blocks:
            block.targets = tuple(target - 1 for target in block.targets)
            block.next = None if block.next is None else block.next - 1
    _connect(blocks)
    return blocks


def _connect(blocks: list[BasicBlock]) -> None:
    reached = _reachable(blocks, 0, set())
    last = blocks[-1]
    if len(blocks) - 1 not in reached and not (last.steps or last.jump or last.leave):
        blocks.pop()
    for number in range(len(blocks)):
        if number not in reached:
            blocks[number - 1].next = number
            reached = _reachable(blocks, number, reached)


def _reachable(blocks: Sequence[BasicBlock], start: int, reached: set[int]) -> set[int]:
    pending = [start]
    while pending:
        if (number := pending.pop()) not in reached:
            reached.add(number)
            pending += blocks[number].successors
    return reached


def block_order(blocks: Sequence[BasicBlock]) -> list[int]:
    """Return the numbers of the blocks in reverse postorder."""
    return postorder([block.successors for block in blocks], 0)[::-1]


def block_arguments(blocks: Sequence[BasicBlock]) -> tuple[list[int], list[list[Register]], list[set[Register]]]:
    """Return the immediate dominator, the arguments and the registers live after the steps, by block.

    The dominator of the first block is EXIT.

    A block has an argument if several values of a register reach the block, and the block or a later one reads the
    register. Source: Cytron et al., "Efficiently computing static single assignment form", 1991.
    """
    before: list[list[int]] = [[] for _ in blocks]
    for number, block in enumerate(blocks):
        for target in block.successors:
            before[target].append(number)
    # In the reversed graph, the dominators are the post-dominators.
    dominators = postdominators([[EXIT], *before[1:]])
    frontiers: list[set[int]] = [set() for _ in blocks]
    for number, previous in enumerate(before):
        for each in previous if len(previous) > 1 else ():
            while each not in (dominators[number], EXIT):
                frontiers[each].add(number)
                each = dominators[each]
    live = _live_registers(blocks, before)
    arguments: list[list[Register]] = [[] for _ in blocks]
    defined: dict[Register, list[int]] = {}
    for number, block in enumerate(blocks):
        for step in block.steps:
            for register in (*step.change, *step.write):
                defined.setdefault(register, []).append(number)
    for register, pending in defined.items():
        while pending:
            for number in frontiers[pending.pop()]:
                if register in live[number] and register not in arguments[number]:
                    arguments[number].append(register)
                    pending.append(number)
    after = [
        {each for target in block.successors for each in live[target]}.union(
            *(() if block.jump is None else (block.jump.sources(),))
        )
        for block in blocks
    ]
    return dominators, arguments, after


def _live_registers(blocks: Sequence[BasicBlock], before: Sequence[Sequence[int]]) -> list[set[Register]]:
    """Return the registers that are live at the start of each block."""
    reads: list[set[Register]] = []
    writes: list[set[Register]] = []
    for block in blocks:
        read: set[Register] = set()
        written: set[Register] = set()
        for step in block.all_steps():
            read.update(each for each in step.sources() if each not in written)
            written.update(step.change, step.write)
        reads.append(read)
        writes.append(written)
    live = [set(each) for each in reads]
    pending = list(range(len(blocks)))
    while pending:
        number = pending.pop()
        for previous in before[number]:
            added = live[number] - writes[previous] - live[previous]
            if added:
                live[previous] |= added
                pending.append(previous)
    return live
