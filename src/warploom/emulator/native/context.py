"""Context array of 64-bit fields that native functions and the emulator share."""

from enum import IntEnum


class Field(IntEnum):
    """Index of a 64-bit number in the context of native functions.

    Addresses are host addresses of arrays.
    """

    # Memories
    ARENA = 0  # address of the bytes of global memory
    SEGMENTS = 1  # number of segments
    SEGMENT_STARTS = 2  # address of their first virtual addresses
    SEGMENT_ENDS = 3
    SEGMENT_STATES = 4
    SHARED_WINDOWS = 5  # address of three numbers for each warp: first address, end, distance to pointers
    LOCAL_START = 6
    LOCAL_STRIDE = 7  # bytes of local memory for each thread
    LOCAL_BYTES = 8
    SHARED_STRIDE = 9  # distance between the shared memories of two CTAs of a cluster, in bytes
    CLUSTER_SIZE = 10
    PARAMETERS = 11  # virtual address of the kernel's parameters
    # Code
    CODE = 12  # address of the instructions
    COUNTS = 13  # address of the number of warps that have executed each instruction
    EXECUTED = 14  # number of warps that have executed the instruction at which `warploom.run` stopped
    # Batch
    ROWS = 15  # address of the indices of the batch's warp splits
    WARPS = 16  # address of the indices of their warps
    MASKS = 17  # address of their active lanes, as bits
    GUARDED = 18  # address of the lanes that a guard leaves active, as bits
    COUNT = 19  # number of warp splits in the batch
    FIRST_COUNT = 20  # number of its warp splits before native code suspended some of them
    EVENTS = 21  # address of the event for which each warp split of the batch must wait, or `warp_splits.NONE`
    SUSPENDED = 22  # number of warp splits that the executing instruction suspends
    SUSPENDS = 23  # 1 if native code may suspend warp splits
    # Warp splits
    SPLITS = 24  # number of slots
    WARP_SLOTS = 25  # number of slots of the warps, which come first
    STATUS = 26
    PC = 27
    EPOCH = 28
    WARP = 29
    BITS = 30  # address of the lanes of each warp split, as bits
    POINT = 31  # address of the indices of the reconvergence points
    CALLS = 32  # address of the numbers of the call stacks
    AWAITED = 33
    POINTS = 34  # address of the reconvergence points
    POINT_COUNT = 35  # number of reconvergence points that POINTS has space for
    EXTRA_SLOTS = 36  # number of slots after WARP_SLOTS that are in use
    OPEN_POINTS = 37  # number of reconvergence points in use
    FIRST_FREE_SLOT = 38  # all slots from WARP_SLOTS up to this one are in use
    FIRST_FREE_POINT = 39
    LIVE = 40  # address of the lanes of each warp that have not left the kernel, as bits
    SEEN = 41  # address of the number of the last batch of each warp
    CARRY = 42  # address of the carry flags of all lanes
    # Schedule
    BATCHES = 43
    LAST_BATCH = 44  # number of batches at which `warploom.schedule` returns; multiplications reduce it
    DUE = 45  # number of batches from which a batch at WATCHED is not executed (see `watch.Watch`)
    WATCHED = 46  # program counter, or -1 for any
    UNWATCHED_LIMIT = 47  # number of batches from which no batch is executed
    COMPARED = 48  # address of the table of registers to compare
    COMPARED_FILES = 49  # number of its rows
    STEPS = 50  # number of batches of the wave
    SPENT = 51
    BUDGET = 52
    TICKS = 53
    RECENT = 54  # address of the first program counters of the last batches
    WHOLE = 55  # 1 if each warp split of the batch has all live lanes of its warp
    KEEPS_MATRICES = 56  # 1 if accumulators are cached as matrices, or loads of tensor memory are queued
    # Barriers
    CTA_OF = 57  # address of the CTA of each warp
    LIVE_WARPS = 58  # address of the number of live warps of each CTA
    ARRIVED = 59  # address of the number of threads that have arrived at each barrier
    EXPECTED = 60  # address of the number of threads that each barrier expects, or 0
    CTA_THREADS = 61  # number of threads of a CTA, in whole warps
    PLAIN_BARRIERS = 62  # 1 if no barrier has votes, or a partly arrived warp
    TALLY = 63  # address of a zero for each barrier, where a function counts threads or warps of the batch
    KEYS = 64  # address of the barrier of each warp of the batch
    CLUSTER_OF = 65  # address of the cluster of each warp
    CLUSTER_PHASE = 66  # address of the phase of each cluster's barrier
    CLUSTER_JOINED = 67  # address of `Barriers.cluster_joined`
    USES_CLUSTERS = 68  # 1 once a thread has arrived at a cluster barrier
    WARPGROUP_OF = 69  # address of the warpgroup of each warp; negative for a warp without a whole warpgroup
    # Exits
    ALLOWS_EXITS = 70  # 1 if no part of the emulator except native code must act when a warp exits
    EXITED_CTAS = 71  # number of CTAs whose last warp has exited
    # Observers
    EXECUTIONS = 72  # address of the executions of each instruction by warps and by lanes, or 0
    REPORT = 73  # address of the function that passes events to observers (see `Moment`)
    REPORTS_BLOCKS = 74  # 1 if an observer needs the start and the end of basic blocks
    SHARED = 75  # address of the bytes of shared memory
    ACCESS_SPACES = 76  # address of the recorded accesses of an instruction (see `probe`)
    ACCESS_INDEX = 77
    ACCESS_LANES = 78
    ACCESS_VALUES = 79
    ACCESS_WARPS = 80
    RECORDED = 81  # number of recorded accesses of warps that belong to reads in READS
    READS = 82  # address of the reads that observers have not handled: program counter and number of warps
    READ_COUNT = 83
    # mbarriers and tensor copies
    INSTRUCTION = 84  # program counter of the executing instruction
    ARRIVAL_SITES = 85  # address of `Mbarriers.sites`
    ARRIVAL_LOG = 86  # address of `Mbarriers.log`
    PLAIN_WAITS = 87  # 1 if no wait has returned early, and none is for several mbarriers
    BLOCKING_WAITS = 88  # 1 if a blocking wait suspends its warp splits without early returns
    KNOWN_MAPS = 89  # address of the table of tensor maps (see `known_maps`)
    KNOWN_MAP_COUNT = 90
    # Multiplications
    MULTIPLIES = 91  # 1 if native code may execute multiplications
    MACS = 92  # number of multiply-accumulate operations that native code has executed
    WARPGROUP_MEMBERS = 93  # address of the four warps of each warpgroup
    # Selection
    ALONE = 94  # 1 if the batch has all warp splits that have not exited


class Moment(IntEnum):
    """Moment at which native code calls the function REPORT with a program counter and this value."""

    GUARD = 0  # before the evaluation of a guard
    EXECUTE = 1  # before an instruction has an effect
    BEGIN = 2  # before a basic block
    END = 3  # after a basic block
    READS = 4  # when there is no more space for recorded reads, or before a probe if the guard has an event


class Stop(IntEnum):
    """Reason why `warploom.schedule` returned."""

    SELECT = 0  # the next batch must be selected by the emulator
    RESUME = 1  # the batch continues in the interpreter, at the returned program counter
    PAUSE = 2  # the emulator must check its limits before the next batch
