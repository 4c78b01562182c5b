"""Bit-exact execution of whole grids on the CPU, in batches of warps.

These terms have the same meaning in all modules of this package:

- wave: the CTAs that are resident at the same time. Each wave starts with empty queues, caches and barriers.
- warp split: lanes of one warp that execute together with one program counter (`warp_splits`)
- slot: index of a warp split in the arrays of `WarpSplits`; `Batch.rows` contains slots
- epoch: number of backward jumps of a warp split; the warp splits with the smallest epoch execute first
- batch: warp splits of different warps that execute one instruction together (`batch`)
- position: index of a warp split in its batch; the axis "warps" in a shape counts positions
- run: adjacent multiplications that execute together (`multiplications`)
- chain: multiplications of a run that add to the same D, one after the other

A commit group contains the asynchronous operations that one instruction commits. A warpgroup contains four warps. A CTA
group consists of the one or two CTAs that execute an operation on tensor memory together.
"""
