"""Sanitizer: races, missing fences and waits, and wrong uses of mbarriers in the run of a kernel.

These terms have the same meaning in all modules of this package:

- wave: the CTAs that are resident at the same time (see `warploom.emulator`)
- granule: smallest unit of memory whose accesses are recorded; a chunk has 16 bytes
- vector clock, agent, time: they represent which accesses happen before others (`clocks`)
- record: the last access to a granule, as an integer with agent, time, kind, lane and strength (`clock_arrays`)
- shadow: the records of a memory (`shared_shadow`, `global_shadow`)
- strength: 0 for a weak access, otherwise a code of the scope and the size of a strong access (PTX ISA 8.5)
- conflict: two instructions that break a rule, or one instruction
- cause: conflicts that one edit of the kernel removes; each cause becomes one finding (`causes`)
- mbarrier number: `cta * mbarriers + k` for mbarrier k of a CTA, -1 for none; `found` and `objects` contain numbers
- word: a byte offset in shared memory divided by 8, which identifies an mbarrier
"""
