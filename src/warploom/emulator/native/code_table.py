"""Table with one entry for each program counter, which native code reads."""

import numpy as np

BATCH_COST = 32  # a batch of fewer warps counts as this many against the step budget
OVERDUE_STEPS = 64  # number of batches after which diverged warps are searched for lanes that have waited too long
PART = 16
"""Number of warps for which adjacent lane-wise instructions execute before those of the other warps.

Their registers fit into the first-level cache of the CPU.
"""
BRANCH, EXIT = 1, 2
"""Values of the field `function` of branches and exits, which `warploom.schedule` executes itself.

The addresses of functions are larger.
"""
GUARD_EVENT, EXECUTE_EVENT, READ_EVENT = 1, 2, 4
"""Values of the field `events`: for `Guard`, for the events of the execution, and for `Reads`."""
WHOLE_WARPS, WHOLE_WARPGROUPS, FLUSHED = 1, 2, 4
"""Bits of the field `requires`."""
INSTRUCTION = np.dtype(
    [
        ("function", np.uint64), ("records", np.uint64), ("guard", np.uint64), ("guard_stride", np.int64),
        ("negated", np.int64), ("target", np.int64), ("block_end", np.int64), ("requires", np.int64),
        ("point", np.int64), ("events", np.int64), ("probe", np.uint64), ("length", np.int64),
        ("accesses", np.int64), ("lanewise", np.int64),
    ]
)  # fmt: skip
"""Instruction for native execution.

- `function`: address of the native function, or 0 for an instruction that the interpreter executes
- `records`: address of the operand records
- `guard`, `guard_stride`, `negated`: address of the guard predicate of warp 0, or 0; the distance to the next warp; 1
  for a negated guard
- `target`: program counter to which a branch jumps
- `block_end`: end of the basic block that starts at the instruction
- `requires`: conditions without which the interpreter must execute the instruction. `WHOLE_WARPS`: no warp of the
  batch is diverged. `WHOLE_WARPGROUPS`: in addition, the batch has all warps of its warpgroups. `FLUSHED`: no
  accumulators are cached as matrices.
- `point`: program counter at which lanes that a branch divides reconverge, or -1
- `events`: sum of `GUARD_EVENT` and `EXECUTE_EVENT`, for the events that observers need, or `READ_EVENT`
- `probe`: address of the probe of the instruction (see `probe`), or 0 if the native function always executes it
- `length`: number of adjacent instructions that the native function executes, from this instruction on
- `accesses`: number of accesses that the probe records for each warp
- `lanewise`: number of adjacent instructions of the block, from this one on, that native code always executes and that
  only compute results from registers
"""
COLUMN = {name: number for number, name in enumerate(INSTRUCTION.names or ())}
"""Index of each field among the 64-bit numbers of an instruction."""
