"""The protocol of warpgroup multiplication: fence, multiply, commit, wait.

A multiplication reads its accumulator when it executes, which is later than it stands: what wrote the registers
must be fenced before, and what it writes is there once its group was committed and waited for.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from warploom.nvvm.dialect.wgmma import WgmmaCommitGroup, WgmmaFence, WgmmaMmaAsync, WgmmaWaitGroup


def breaches(module: ModuleOp) -> Iterator[tuple[Operation, str]]:
    """Operations that break the protocol, each with what is missing, block by block."""
    for operation in module.walk():
        for region in operation.regions:
            for block in region.blocks:
                yield from _of_block(block)


def _of_block(block: Block) -> Iterator[tuple[Operation, str]]:
    fenced = False
    committed = complete = 0
    group: dict[Operation, int] = {}
    for operation in block.ops:
        match operation:
            case WgmmaFence():
                fenced = True
            case WgmmaMmaAsync():
                if not fenced and not isinstance(operation.inouts.owner, WgmmaMmaAsync):
                    yield (
                        operation,
                        f"no '{WgmmaFence.name}' stands before it, and its accumulator was written",
                    )
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
                yield operation, f"reads an accumulator in flight: no '{missing}' stands between"
