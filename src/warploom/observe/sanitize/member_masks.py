# pyright: reportUnknownMemberType=false
"""Check that lanes execute `.sync` instructions only with member masks that contain them."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import Execute, Launch
from warploom.emulator.values import Constant
from warploom.isa.model.effects import Members
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.edits import replace_operand
from warploom.observe.sanitize.registers import once_per_program

_LANES = np.arange(32, dtype=np.uint32)
_ALL = 0xFFFFFFFF


class MemberMasks:
    """Check of the member masks of one launch."""

    context: Context

    def __init__(self, launch: Launch) -> None:
        self.launch = launch

    def start(self, context: Context) -> None:
        """Prepare for the CTAs that `context` describes."""
        self.context = context

    def handlers(self) -> Mapping[int, Callable[[Execute], None]]:
        """Return the handlers of the instructions whose member mask may lack a lane, by program counter."""
        return dict.fromkeys(_find_partial_masks(self.launch), self._check)

    def _check(self, event: Execute) -> None:
        batch, report = event.batch, self.context.report
        named = self.launch.program.steps[event.pc].binding.form.effect(Members)
        assert named is not None
        operand = getattr(event.operands, named.mask)
        masks: NDArray[np.uint32] = np.broadcast_to(batch.read(operand), (batch.count, 32)).astype(np.uint32)
        outside = batch.active() & (masks >> _LANES & 1 == 0)
        if not outside.any():
            return
        position, lane = (int(part[0]) for part in np.nonzero(outside))
        where = self.context.describe(int(batch.warp_index[position]), lane)
        message = f"lane {lane} executes this instruction, and its member mask {int(masks[position, lane]):#x} lacks it"
        executing = int(np.bitwise_or.reduce(batch.active()[position] << _LANES))
        fix = replace_operand(self.context.program, event.pc, named.mask, f"{executing:#x}")
        report.add("sanitize.warp/mask", event.pc, -1, f"{message}; {where}", count=int(outside.sum()), fixes=(fix,))


@once_per_program
def _find_partial_masks(launch: Launch) -> list[int]:
    """Return the program counters of the instructions whose member mask may lack a lane."""
    found: list[int] = []
    for pc, step in enumerate(launch.program.steps):
        if (members := step.binding.form.effect(Members)) is not None:
            mask = getattr(launch.instructions[pc].operands, members.mask)
            if not isinstance(mask, Constant) or int(mask.array[0, 0]) & _ALL != _ALL:
                found.append(pc)
    return found
