"""Protocol of warpgroup multiplication: fence, multiply, commit, wait.

A multiplication reads its accumulator when it executes, after its issue. A fence must therefore follow earlier writes
of the accumulator's registers, and the result is ready only after a commit and a wait.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from warploom.nvvm.dialect.wgmma import WgmmaCommitGroup, WgmmaFence, WgmmaMmaAsync, WgmmaWaitGroup


def violations(module: ModuleOp) -> Iterator[tuple[Operation, str]]:
    """Yield the operations that violate the protocol within their block, each with the error message."""
    for operation in module.walk():
        for region in operation.regions:
            for block in region.blocks:
                yield from _block_violations(block)


def _block_violations(block: Block) -> Iterator[tuple[Operation, str]]:
    fenced = False
    committed = complete = 0
    group: dict[Operation, int] = {}
    for operation in block.ops:
        match operation:
            case WgmmaFence():
                fenced = True
            case WgmmaMmaAsync():
                if not fenced and not isinstance(operation.inouts.owner, WgmmaMmaAsync):
                    yield operation, f"needs a '{WgmmaFence.name}' after the writes of its accumulator"
                group[operation] = committed + 1
            case WgmmaCommitGroup():
                committed += 1
            case WgmmaWaitGroup():
                complete = max(complete, committed - operation.group.value.data)
                fenced = False
            case _:
                pass
        for value in operation.operands:
            writer = value.owner
            if not isinstance(writer, WgmmaMmaAsync) or isinstance(operation, WgmmaMmaAsync):
                continue
            if group.get(writer, 0) > complete:
                missing = WgmmaWaitGroup.name if group[writer] <= committed else WgmmaCommitGroup.name
                yield (operation, f"reads an accumulator before its multiplication is complete: add '{missing}'")
